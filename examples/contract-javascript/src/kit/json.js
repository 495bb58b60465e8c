/**
 * Reading JSON without losing what `JSON.parse` loses: members that occur twice, how a number was written, and
 * surrogates that stand alone. The engine's own parser and writer do nearly all the work: code of one's own is fifty
 * times slower here, and a hostile partner chooses what it runs on.
 */

import { DUPLICATE_KEY, INVALID_JSON } from "./codes.js";

/** The end of a key, or in a string something that looks like it; the same in both writings of a document. */
const KEY_END = /"[ \t\n\r]*:/g;
/** Escapes that could hide what `KEY_END` looks for, and what `JSON.stringify` writes for each. */
const HIDING_ESCAPES = { "\\u0020": " ", "\\u0022": '\\"', "\\u003a": ":", "\\u003A": ":" };
/** Stands for an escaped backslash; JSON has no such characters of its own. */
const BACKSLASH = "\u0001\u0001";
/** In what `JSON.stringify` wrote, only half of a surrogate pair is such an escape. */
const HALF_PAIR = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;
/** The tokens of a text that is known to be JSON. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

/** A JSON document: its value, and what its text says beyond the value. */
class Document {
  #text;
  #numbers = null;

  /** `text` is absent if it is what `JSON.stringify` writes. */
  constructor(value, text = null) {
    this.value = value;
    this.#text = text;
  }

  /** The number at a pointer as it was written, for amounts that no float may hold. */
  digits(pointer, value) {
    if (this.#text === null) return JSON.stringify(value);
    this.#numbers ??= numbersOf(this.#text);
    return this.#numbers.get(pointer);
  }
}

/** Parses a document; records what is wrong with it as JSON and returns null if anything is. */
export function parse(text, found) {
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    found.add("", INVALID_JSON, "The document is not JSON.");
    return null;
  }
  const rewritten = JSON.stringify(value);
  if (rewritten.includes("\\ud") && HALF_PAIR.test(rewritten)) {
    found.add("", INVALID_JSON, "The document is not JSON: it has half of a surrogate pair.");
    return null;
  }
  if (rewritten === text) return new Document(value);
  // The parser keeps one member of each name, so a member that occurs twice is a key that is lost.
  if (keyEnds(unhidden(text)) !== keyEnds(rewritten)) {
    found.add("", DUPLICATE_KEY, "A member occurs twice in its object; once is expected.");
    return null;
  }
  return new Document(value, text);
}

/** One step of a JSON Pointer. */
export function step(key) {
  return String(key).replaceAll("~", "~0").replaceAll("/", "~1");
}

const keyEnds = (text) => text.match(KEY_END)?.length ?? 0;

/** The text without hiding escapes. Escaped backslashes go first: what follows one is no escape. */
function unhidden(text) {
  if (!text.includes("\\u00")) return text;
  let plain = text.replaceAll("\\\\", BACKSLASH);
  for (const [escape, written] of Object.entries(HIDING_ESCAPES)) plain = plain.replaceAll(escape, written);
  return plain;
}

/** The numbers of a document as they are written, by JSON Pointer. Slow; for documents that carry amounts. */
function numbersOf(text) {
  const numbers = new Map();
  const outer = [];
  /** What the token stands in: its pointer, and the key or the index that comes next. */
  let inside = { pointer: "", isObject: false, key: null, index: null };
  for (const [token] of text.matchAll(TOKEN)) {
    const first = token[0];
    if (first === "}" || first === "]") {
      inside = outer.pop();
    } else if (first === ",") {
      inside.key = null;
      inside.index += 1;
    } else if (first === '"' && inside.isObject && inside.key === null) {
      inside.key = JSON.parse(token);
    } else if (first !== ":") {
      const last = inside.isObject ? step(inside.key) : inside.index;
      const pointer = last === null ? "" : `${inside.pointer}/${last}`;
      if (first === "{" || first === "[") {
        outer.push(inside);
        inside = { pointer, isObject: first === "{", key: null, index: 0 };
      } else if (first === "-" || (first >= "0" && first <= "9")) {
        numbers.set(pointer, token);
      }
    }
  }
  return numbers;
}
