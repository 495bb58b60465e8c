/**
 * The seven functions of the interface `contract`, under the names that WIT gives them in JavaScript. Everything else is
 * behind these; nothing here decides anything.
 *
 * A function whose WIT result is `result<T, refusal>` returns `T` or throws a `Refusal`.
 */

import { checkCompletion, checkResponse } from "./answers.js";
import { DESCRIPTOR } from "./descriptor.js";
import { EXAMPLES } from "./examples.js";
import { classified } from "./kit/lexicon.js";
import { checkRequest } from "./requests.js";
import { evaluate } from "./search.js";
import { WORDS } from "./words.js";

export const contract = {
  describe: () => DESCRIPTOR,
  /** The word list is one for all languages, so the locale is not looked at. */
  classify: (utterance, _locale) => classified(WORDS, utterance),
  checkRequest,
  evaluate,
  checkResponse,
  checkCompletion,
  examples: () => EXAMPLES,
};
