/** Collecting violations: all of them, not the first. And what a refusal is. */

/** Violations kept per document: nobody reads more, and a hostile document could hold thousands. */
export const MAX_VIOLATIONS = 100;
/** Characters of a found value that a message repeats. */
const MAX_QUOTED_CHARS = 60;

/** The violations found in one document so far, in document order. */
export class Violations {
  #list = [];
  #more = 0;

  /** Records a violation. `pointer` is a JSON Pointer (RFC 6901), "" for the whole document. */
  add(pointer, code, message) {
    if (this.#list.length === MAX_VIOLATIONS) {
      this.#more += 1;
    } else {
      this.#list.push({ pointer, code, message });
    }
  }

  /** Records a violation if the rule is broken. */
  addIf(broken, pointer, code, message) {
    if (broken) this.add(pointer, code, message);
  }

  /** The list as it goes to the host. What was not kept is counted in the last message. */
  list() {
    if (this.#more === 0) return this.#list;
    const last = this.#list[MAX_VIOLATIONS - 1];
    const message = `${last.message} (${this.#more} more violations are not listed.)`;
    return [...this.#list.slice(0, -1), { ...last, message }];
  }
}

/**
 * What a function throws to answer the error case of its `result`. It has the members of the WIT record `refusal`.
 * Anything else that is thrown is a fault of the contract, which the host counts against the version.
 */
export class Refusal {
  constructor(code, violations) {
    this.code = code;
    this.violations = violations;
  }
}

/** A found text in a message: quoted, with its control characters escaped, and cut. */
export function quoted(text) {
  const letters = [...text.slice(0, 2 * (MAX_QUOTED_CHARS + 1))];
  if (letters.length <= MAX_QUOTED_CHARS) return JSON.stringify(text);
  return `${JSON.stringify(letters.slice(0, MAX_QUOTED_CHARS).join(""))}...`;
}
