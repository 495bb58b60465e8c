/** `evaluate`: validates, filters, scores and ranks all options of a search. */

import { cardOf } from "./card.js";
import { ID_KEY } from "./descriptor.js";
import { DUPLICATE_OPTION, INVALID_REQUEST } from "./kit/codes.js";
import { rank, total, weightsFor, withDeclared } from "./kit/ranking.js";
import { judge } from "./kit/shape.js";
import { soundOr } from "./requests.js";
import { optionRules } from "./rules.js";
import { BAND_FACTORS, WEIGHTS, scorer } from "./scoring.js";
import { MAX_OPTION_CHARS, PUC_CENTRE, REQUEST } from "./shapes.js";

/** Every field of an option is required, so an option that passed is complete. */
const COMPLETE = 1;

export function evaluate({ requestId }, requestJson, payloads, _history) {
  const { value: request } = soundOr(INVALID_REQUEST, REQUEST, requestJson);
  const sieve = { passed: [], dropped: [], findings: [] };
  for (const payload of payloads) pour(request, payload, sieve);
  const { passed, dropped, findings } = sieve;
  return { ranked: ranked(requestId, request, passed), dropped, findings };
}

/** Sorts the options of one answer into those that pass and those that are dropped. */
function pour(request, { declared, candidates }, { passed, dropped, findings }) {
  const known = new Set();
  for (const { number, json } of candidates) {
    const { value: centre, violations } = judge(PUC_CENTRE, json, MAX_OPTION_CHARS);
    const id = typeof centre?.[ID_KEY] === "string" ? centre[ID_KEY] : null;
    const drop = (why, strike = false) => dropped.push({ number, id, strike, violations: why });
    if (violations.length > 0) {
      drop(violations);
    } else if (known.has(id)) {
      const message = "An earlier option of the same answer has this identifier.";
      drop([{ pointer: `/${ID_KEY}`, code: DUPLICATE_OPTION, message }]);
    } else {
      const rules = optionRules(request, centre);
      if (rules.drops.length > 0) {
        drop(rules.drops, rules.strike);
      } else {
        passed.push({ number, json, centre, declared });
        for (const violation of rules.findings) findings.push({ number, violation });
      }
    }
    // A broken option, too, is the first of its identifier.
    if (id !== null) known.add(id);
  }
}

function ranked(requestId, request, passed) {
  const weights = weightsFor(WEIGHTS, BAND_FACTORS, request.ttbs_user_band);
  const scoreOf = scorer(request, passed.map(({ centre }) => centre));
  const scored = passed.map(({ number, json, centre, declared }) => {
    const axes = withDeclared(scoreOf(centre), declared);
    return { number, json, centre, axes, total: total(weights, axes, COMPLETE) };
  });
  rank(requestId, scored);
  return scored.map(({ number, centre, axes, total }) => ({
    number,
    id: centre[ID_KEY],
    total,
    axes,
    completeness: COMPLETE,
    card: JSON.stringify(cardOf(centre)),
  }));
}
