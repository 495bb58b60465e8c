/**
 * The stable codes of violations that the kit itself finds. They are the same as those of the Rust SDK, so that a
 * partner reads one set of codes whatever language a contract is written in. Codes of an intent's own rules are
 * named where the rule is.
 */

/** A member that must be there is absent. */
export const REQUIRED = "REQUIRED";
/** The value has another JSON type than declared, `null` included. */
export const WRONG_TYPE = "WRONG_TYPE";
/** A number lies outside its bounds. */
export const OUT_OF_RANGE = "OUT_OF_RANGE";
/** A value is none of those that the vocabulary lists. */
export const NOT_IN_VOCABULARY = "NOT_IN_VOCABULARY";
/** A text is not written as its format asks. */
export const BAD_FORMAT = "BAD_FORMAT";
/** A text that must say something is empty or blank. */
export const EMPTY = "EMPTY";
/** A text or a document has more characters than allowed. */
export const TOO_LONG = "TOO_LONG";
/** A text has not exactly the length that it must have. */
export const WRONG_LENGTH = "WRONG_LENGTH";
/** An array has fewer entries than allowed. */
export const TOO_FEW_ITEMS = "TOO_FEW_ITEMS";
/** An array has more entries than allowed. */
export const TOO_MANY_ITEMS = "TOO_MANY_ITEMS";
/** A member occurs twice in one object. */
export const DUPLICATE_KEY = "DUPLICATE_KEY";
/** The document is not JSON. */
export const INVALID_JSON = "INVALID_JSON";
/** The value has to be one certain value and is another. */
export const UNEXPECTED_VALUE = "UNEXPECTED_VALUE";
/** An option carries the identifier of an earlier option of the same answer. */
export const DUPLICATE_OPTION = "DUPLICATE_OPTION";
/** The intent has no tool of this name. */
export const UNKNOWN_TOOL = "UNKNOWN_TOOL";
/** A band value that the contract does not know; it counts as neutral. A note, never a refusal. */
export const UNKNOWN_BAND = "UNKNOWN_BAND";
/** The quoted option cannot be read, so nothing was compared with it. */
export const QUOTE_UNREADABLE = "QUOTE_UNREADABLE";

/** Refusal code for a request or a report that breaks its contract (spec 1, "Errors"). */
export const INVALID_REQUEST = "INVALID_REQUEST";
/** Refusal code for a partner's answer that breaks its contract (spec 1, "Errors"). */
export const INTERNAL_ERROR = "INTERNAL_ERROR";
