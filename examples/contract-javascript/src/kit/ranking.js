/**
 * Ranking on the four axes: signals within an axis, user bands, declared signals, completeness, ties.
 *
 * An axis is `(1 - d) x rules + d x declared`; the total is `(1 - c) x sum(weight x axis) + c x completeness`,
 * where `d` is the declared share and `c` the completeness share.
 */

import { UNKNOWN_BAND } from "./codes.js";
import { quoted } from "./violations.js";

export const AXES = ["time", "taste", "budget", "safety"];
/** Share of the partner's declared signals in an axis. */
export const DECLARED_SHARE = 0.2;
/** Share of information completeness in the total. */
export const COMPLETENESS_SHARE = 0.1;
/** How far a sum of weights may be from 1; decimal fractions have no exact binary form. */
const SUM_TOLERANCE = 1e-9;

/** A value cut to 0..=1; what is no number counts as 0. */
export const unit = (value) => (value > 0 ? Math.min(value, 1) : 0);

/** One number for each axis. */
const eachAxis = (value) => ({
  time: value("time"),
  taste: value("taste"),
  budget: value("budget"),
  safety: value("safety"),
});

/** Fails the build of the component if weights do not sum to 1: this runs while the module is loaded. */
export function weighted(weights) {
  const sum = Object.values(weights).reduce((total, weight) => total + weight, 0);
  if (Math.abs(sum - 1) > SUM_TOLERANCE) throw new Error(`weights sum to ${sum}: ${JSON.stringify(weights)}`);
  return Object.freeze(weights);
}

/** The weighted mean of signals: `weights` and `values` have the same names. */
export function blend(weights, values) {
  let sum = 0;
  for (const name in weights) sum += weights[name] * unit(values[name]);
  return unit(sum);
}

/** Where a value lies between the greatest (0) and the least (1) of the surviving options; 1 where all are equal. */
export function lowerIsBetter(values) {
  const least = Math.min(...values);
  const most = Math.max(...values);
  return (value) => (most > least ? unit((most - value) / (most - least)) : 1);
}

/** The axis weights of one user: multiplied by the factors of the bands, then normalised. */
export function weightsFor(weights, bandFactors, chosen = {}) {
  // A value is a user's text, so it may be the name of something that every object inherits.
  const factor = (axis) => (Object.hasOwn(bandFactors[axis], chosen[axis]) ? bandFactors[axis][chosen[axis]] : 1);
  const raw = eachAxis((axis) => weights[axis] * factor(axis));
  const sum = AXES.reduce((total, axis) => total + raw[axis], 0);
  return eachAxis((axis) => raw[axis] / sum);
}

/** Notes on band values that the table does not know. */
export function noteUnknownBands(bandFactors, chosen = {}, notes) {
  for (const axis of AXES) {
    const value = chosen[axis];
    const unknown = value !== undefined && !Object.hasOwn(bandFactors[axis], value);
    if (unknown) {
      const message = `${quoted(value)} is no band of this axis; it counts as neutral.`;
      notes.add(`/ttbs_user_band/${axis}`, UNKNOWN_BAND, message);
    }
  }
}

/** What the rules say of an option, blended with what its source declares of itself. */
export const withDeclared = (rules, declared) =>
  eachAxis((axis) => unit((1 - DECLARED_SHARE) * unit(rules[axis]) + DECLARED_SHARE * unit(declared[axis])));

/** What the order follows. */
export function total(weights, axes, completeness) {
  const scored =
    weights.time * axes.time + weights.taste * axes.taste + weights.budget * axes.budget + weights.safety * axes.safety;
  return unit((1 - COMPLETENESS_SHARE) * scored + COMPLETENESS_SHARE * unit(completeness));
}

/** FNV-1a over UTF-16 code units, 32 bits. It only has to scatter. */
export function tieHash(requestId, option) {
  const { imul } = Math;
  let hash = 0x811c9dc5;
  for (const text of [requestId, "\0", option]) {
    for (let index = 0; index < text.length; index += 1) {
      hash = imul(hash ^ text.charCodeAt(index), 0x01000193);
    }
  }
  // FNV leaves the last characters in the low bits; options often differ there only.
  hash = imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 12)) >>> 0;
}

/**
 * Sorts options `{ total, json, ... }` in place: the greater total first; between equal totals a hash of the request
 * and the option's text, and at last the text. Who sent an option, and in which place, never counts.
 */
export function rank(requestId, options) {
  // Hashed only where totals are equal, and once for each option: the texts are long.
  const hashes = new Map();
  const hashOf = ({ json }) => {
    if (!hashes.has(json)) hashes.set(json, tieHash(requestId, json));
    return hashes.get(json);
  };
  options.sort((left, right) => {
    if (left.total !== right.total) return right.total - left.total;
    const [leftHash, rightHash] = [hashOf(left), hashOf(right)];
    if (leftHash !== rightHash) return leftHash - rightHash;
    return left.json < right.json ? -1 : Number(left.json > right.json);
  });
}
