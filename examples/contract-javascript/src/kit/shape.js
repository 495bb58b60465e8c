/**
 * Shapes: what a JSON value must be. One declaration gives the check and the JSON Schema, so they cannot differ.
 *
 * A shape has `label` (for messages), `schema` (JSON Schema 2020-12), and `check(value, at, judge)`, which records
 * every violation under the JSON Pointer `at`. Values are judged, not converted: rules work on the parsed JSON.
 */

import * as codes from "./codes.js";
import { daysOf, instantMs, isHttpsUrl, isLocaleTag, isPhone, isPincode, paiseOf } from "./formats.js";
import { parse, step } from "./json.js";
import { Violations, quoted } from "./violations.js";

/** Characters of a request, a booking or a report that are read: many times what any of them has. */
export const MAX_DOCUMENT_CHARS = 32_768;

/**
 * Judges a text. `{ value, document, violations }`; the value is sound if there are no violations. Reading takes time
 * in proportion to the text, so the bound on it is a bound on the time that its sender can take.
 */
export function judge(shape, text, maxChars = MAX_DOCUMENT_CHARS) {
  const found = new Violations();
  if (text.length > maxChars) {
    found.add("", codes.TOO_LONG, `Found ${text.length} characters; expected at most ${maxChars}.`);
    return { value: undefined, document: null, violations: found.list() };
  }
  const document = parse(text, found);
  if (document) shape.check(document.value, "", { found, document });
  return { value: document?.value, document, violations: found.list() };
}

function typeOf(value) {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function wrongType(shape, value, at, { found }) {
  found.add(at, codes.WRONG_TYPE, `Found: ${typeOf(value)}; expected: ${shape.label}.`);
}

const documented = (schema, doc) => (doc ? { ...schema, description: doc } : schema);

/** An object with these members. Others pass. */
export function object(members, doc) {
  const entries = Object.entries(members).map(([name, shape]) => ({ name, path: `/${step(name)}`, shape }));
  const required = entries.filter(({ shape }) => !shape.isOptional).map(({ name }) => name);
  const properties = Object.fromEntries(entries.map(({ name, shape }) => [name, shape.schema]));
  return {
    label: "object",
    schema: documented({ type: "object", required, properties }, doc),
    check(value, at, judging) {
      if (typeof value !== "object" || value === null || Array.isArray(value)) {
        wrongType(this, value, at, judging);
        return;
      }
      // This loop is most of the time of a search: an index is faster here than an iterator.
      for (let index = 0; index < entries.length; index += 1) {
        const entry = entries[index];
        const here = at + entry.path;
        if (Object.hasOwn(value, entry.name)) {
          entry.shape.check(value[entry.name], here, judging);
        } else if (!entry.shape.isOptional) {
          judging.found.add(here, codes.REQUIRED, `Missing; expected: ${entry.shape.label}.`);
        }
      }
    },
  };
}

/** A member that may be absent. If it is there, it is judged; `null` is of the wrong type. */
export const optional = (shape) => ({ ...shape, isOptional: true });

/** A member that must be there and may be `null`. */
export function nullable(shape) {
  return {
    label: `${shape.label} or null`,
    schema: { anyOf: [shape.schema, { type: "null" }] },
    check(value, at, judging) {
      if (value !== null) shape.check(value, at, judging);
    },
  };
}

/** An array of so many such entries. One that has too many is not looked into. */
export function array(entry, { minItems = 0, maxItems, doc }) {
  return {
    label: "array",
    schema: documented({ type: "array", minItems, maxItems, items: entry.schema }, doc),
    check(value, at, judging) {
      if (!Array.isArray(value)) {
        wrongType(this, value, at, judging);
      } else if (value.length < minItems || value.length > maxItems) {
        const code = value.length < minItems ? codes.TOO_FEW_ITEMS : codes.TOO_MANY_ITEMS;
        judging.found.add(at, code, `Found ${value.length} entries; expected ${minItems} to ${maxItems}.`);
      } else {
        value.forEach((one, index) => entry.check(one, `${at}/${index}`, judging));
      }
    },
  };
}

export function boolean(doc) {
  return {
    label: "boolean",
    schema: documented({ type: "boolean" }, doc),
    check(value, at, judging) {
      if (typeof value !== "boolean") wrongType(this, value, at, judging);
    },
  };
}

function bounded(value, { min, max }, at, { found }) {
  if (Number.isFinite(value) && !(value < min) && !(value > max)) return;
  const expected = [min === undefined ? "" : `at least ${min}`, max === undefined ? "" : `at most ${max}`];
  const both = expected.filter((part) => part !== "").join(" and ") || "a finite number";
  found.add(at, codes.OUT_OF_RANGE, `Found ${value}; expected ${both}.`);
}

/** A number, both bounds included. */
export function number({ min, max, doc } = {}) {
  return {
    label: "number",
    schema: documented({ type: "number", minimum: min, maximum: max }, doc),
    check(value, at, judging) {
      if (typeof value !== "number") wrongType(this, value, at, judging);
      else bounded(value, { min, max }, at, judging);
    },
  };
}

/** A number without a fraction, however it is written: 3.0 is one. */
export function integer({ min, max, doc } = {}) {
  return {
    label: "integer",
    schema: documented({ type: "integer", minimum: min, maximum: max }, doc),
    check(value, at, judging) {
      if (typeof value !== "number" || (Number.isFinite(value) && !Number.isInteger(value))) {
        wrongType(this, value, at, judging);
      } else if (!Number.isSafeInteger(value)) {
        judging.found.add(at, codes.OUT_OF_RANGE, `Found ${value}; integers of this size are not read.`);
      } else {
        bounded(value, { min, max }, at, judging);
      }
    },
  };
}

/** An integer out of a short list. */
export function integerOutOf(values, doc) {
  const plain = integer();
  return {
    label: "integer",
    schema: documented({ type: "integer", enum: values }, doc),
    check(value, at, judging) {
      if (values.includes(value)) return;
      if (!Number.isSafeInteger(value)) plain.check(value, at, judging);
      else {
        const message = `Found ${value}; expected one of: ${values.join(", ")}.`;
        judging.found.add(at, codes.NOT_IN_VOCABULARY, message);
      }
    },
  };
}

/** An amount of a report: INR with at most two decimals, at least 0. Its digits are read, not its float. */
export function amount(doc) {
  return {
    label: "number",
    schema: documented({ type: "number", minimum: 0 }, doc),
    check(value, at, judging) {
      if (typeof value !== "number") {
        wrongType(this, value, at, judging);
        return;
      }
      const digits = judging.document.digits(at, value);
      const { expected, outOfRange } = paiseOf(digits);
      const code = outOfRange ? codes.OUT_OF_RANGE : codes.BAD_FORMAT;
      judging.found.addIf(expected !== undefined, at, code, `Found ${quoted(digits)}; expected ${expected}.`);
    },
  };
}

/** A text that `judgeText(text)` accepts; it answers null, or the code and the end of the message. */
function textual(schema, doc, judgeText) {
  return {
    label: "string",
    schema: documented({ type: "string", ...schema }, doc),
    check(value, at, judging) {
      if (typeof value !== "string") {
        wrongType(this, value, at, judging);
        return;
      }
      const broken = judgeText(value);
      if (broken) judging.found.add(at, broken.code, broken.message);
    },
  };
}

const length = (value) => [...value].length;

/** Any text, empty or not, of at most `maxLength` characters. */
export function text({ maxLength, doc }) {
  return textual({ maxLength }, doc, (value) => {
    if (value.length <= maxLength || length(value) <= maxLength) return null;
    const message = `Found ${length(value)} characters; expected at most ${maxLength}.`;
    return { code: codes.TOO_LONG, message };
  });
}

/** A text in a format. Blank ones have a code of their own. */
function formatted(schema, expected, isSound, doc) {
  return textual(schema, doc, (value) => {
    if (isSound(value)) return null;
    const blank = value.trim() === "";
    const message = `Found ${blank ? "an empty text" : quoted(value)}; expected: ${expected}.`;
    return { code: blank ? codes.EMPTY : codes.BAD_FORMAT, message };
  });
}

/** A text that says something: identifiers, names. */
export const name = (doc) =>
  formatted({ minLength: 1, pattern: "\\S" }, "a text that is not blank", (value) => value.trim() !== "", doc);

/** A text of exactly so many characters. */
export function textOfLength(exact, doc) {
  return textual({ minLength: exact, maxLength: exact }, doc, (value) =>
    length(value) === exact
      ? null
      : { code: codes.WRONG_LENGTH, message: `Found ${length(value)} characters; expected exactly ${exact}.` },
  );
}

/** This very text. */
export function constant(expected, doc) {
  return textual({ const: expected }, doc, (value) =>
    value === expected
      ? null
      : { code: codes.UNEXPECTED_VALUE, message: `Found ${quoted(value)}; expected ${quoted(expected)}.` },
  );
}

/** One of a vocabulary's values. */
export function oneOf(values, doc) {
  return textual({ enum: values }, doc, (value) =>
    values.includes(value)
      ? null
      : { code: codes.NOT_IN_VOCABULARY, message: `Found ${quoted(value)}; expected one of: ${values.join(", ")}.` },
  );
}

export const dateTime = (doc) =>
  formatted({ format: "date-time" }, "an ISO 8601 datetime with an offset", (value) => instantMs(value) !== null, doc);

export const date = (doc) =>
  formatted({ format: "date" }, "an ISO 8601 date", (value) => daysOf(value) !== null, doc);

export const httpsUrl = (doc) =>
  formatted({ format: "uri", pattern: "^https://" }, "a URL with the scheme https", isHttpsUrl, doc);

export const phone = (doc) =>
  formatted({ pattern: "^\\+[1-9][0-9]{1,14}$" }, "a phone number by E.164", isPhone, doc);

export const pincode = (doc) => formatted({ pattern: "^[1-9][0-9]{5}$" }, "a postal code of 6 digits", isPincode, doc);

export const localeTag = (doc) => formatted({}, "a locale tag by BCP 47", isLocaleTag, doc);
