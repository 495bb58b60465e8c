/**
 * Classification by a word list: phrases for and against, declared as tables. A phrase matches whole words in a row,
 * whatever their case and punctuation.
 *
 * The score is `1 - product(1 - weight)` over the claims that match, times `1 - weight` of each referral that
 * matches. From 0.5 the contract claims the utterance.
 */

/** Words of an utterance that are looked at; people who ask for something use fewer. */
const MAX_WORDS = 200;
/** Runs of letters (with the vowel signs that Indian scripts put on them) and digits. */
const WORD = /[\p{L}\p{M}\p{N}]+/gu;

/** The text with one blank before and after each word, so that a phrase can be looked for as it is. */
const spaced = (text) => ` ${(text.toLowerCase().match(WORD) ?? []).slice(0, MAX_WORDS).join(" ")} `;

/** A lexicon made ready: phrases are spaced once, not with each utterance. */
export function lexicon({ claims, referrals, pairs }) {
  const phrases = (list) => list.map(spaced);
  const groups = (all) => all.map(phrases);
  return {
    claims: claims.map((claim) => ({ ...claim, all: groups(claim.all) })),
    referrals: referrals.map((one) => ({ ...one, all: groups(one.all), unless: phrases(one.unless ?? []) })),
    pairs: pairs.map((pair) => ({ ...pair, any: phrases(pair.any) })),
  };
}

const firstOf = (group, said) => group.find((phrase) => said.includes(phrase));

/** The phrase found for each group, or null if one group has none. */
function allFound(all, said) {
  const found = all.map((group) => firstOf(group, said));
  return found.includes(undefined) ? null : found.map((phrase) => phrase.trim()).join(" + ");
}

/** The WIT record `classification` of an utterance. */
export function classified(words, utterance) {
  const said = spaced(utterance);
  const evidence = [];
  const elsewhere = [];
  let doubt = 1;
  for (const { name, weight, all } of words.claims) {
    const found = allFound(all, said);
    if (found !== null) {
      doubt *= 1 - weight;
      evidence.push(`${name}: ${found}`);
    }
  }
  let score = 1 - doubt;
  for (const { intent, reason, weight, all, unless } of words.referrals) {
    const found = firstOf(unless, said) === undefined ? allFound(all, said) : null;
    if (found !== null) {
      score *= 1 - weight;
      evidence.push(`not here: ${found}`);
      if (intent) elsewhere.push({ intent, score: weight, reason });
    }
  }
  elsewhere.sort((left, right) => right.score - left.score);
  const also = words.pairs.filter(({ any }) => firstOf(any, said) !== undefined).map(({ intent }) => intent);
  return { score, evidence, elsewhere, also };
}
