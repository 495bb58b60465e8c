//! The quick pass over the bytes of an answer.

use intent_gateway_domain::forbidden::{ForbiddenFields, Kind};
use intent_gateway_domain::limits::{ANSWER_NAME_MAX_CHARS, ANSWER_TEXT_MAX_CHARS};

use super::text::{SHORT_NUMBER_CHARS, escape, is_unwanted, may_be_json, number_flaw};

/// Members of one object that are compared here; the names of larger ones are compared in the exact walk.
const NAMES_COMPARED_MAX: usize = 64;
const DELETE: u8 = 0x7f;

/// What the quick pass saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Structure {
    /// Deepest nesting of objects and arrays.
    pub(super) depth: usize,
    /// Whether something may be wrong: a forbidden field, or what a strict reader could not take.
    pub(super) is_suspect: bool,
}

/// Looks through a text that is valid JSON; on other text the result means nothing.
pub(super) fn inspect(json: &str, fields: &ForbiddenFields<'_>) -> Structure {
    let bytes = json.as_bytes();
    // Nearly every answer is in ASCII without the character 0x7f, and is asked once; 0xff, which would pass, is in no text.
    let is_ascii = bytes.iter().fold(0, |seen, byte| seen | byte.wrapping_add(1)) < 0x80;
    let mut names = OpenNames::default();
    let (mut at, mut depth, mut deepest) = (0, 0_usize, 0);
    let mut is_suspect = !is_ascii && memchr::memchr(DELETE, bytes).is_some();
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let Seen { end, has_escapes, is_odd } = string(bytes, at + 1);
                let content = &bytes[at + 1..end.min(bytes.len())];
                is_suspect |= match value_after(bytes, end + 1) {
                    Some(value) => {
                        has_escapes
                            || content.len() > ANSWER_NAME_MAX_CHARS
                            || !(is_ascii || content.is_ascii())
                            || names.is_repeated(content)
                            || fields.broken_by_ascii(content, || kind_of(value)).is_some()
                    }
                    None => {
                        is_odd
                            || content.len() > ANSWER_TEXT_MAX_CHARS
                            || may_be_json(content)
                            || !is_ascii && has_unwanted(&json[at + 1..end.min(bytes.len())])
                    }
                };
                at = end + 1;
            }
            b'-' | b'0'..=b'9' => {
                let (end, has_exponent) = number_end(bytes, at + 1);
                is_suspect |= (has_exponent || end - at > SHORT_NUMBER_CHARS) && number_flaw(&json[at..end]).is_some();
                at = end;
            }
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
                names.open();
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                names.close();
                at += 1;
            }
            _ => at += 1,
        }
    }
    Structure { depth: deepest, is_suspect }
}

/// A string, as far as the pass looks at it.
struct Seen {
    /// Position of the quote that ends it.
    end: usize,
    has_escapes: bool,
    /// Whether one of them stands for what no text may hold.
    is_odd: bool,
}

/// The string whose content starts at `from`.
fn string(bytes: &[u8], from: usize) -> Seen {
    let (mut at, mut has_escapes, mut is_odd) = (from, false, false);
    while let Some(found) = find_mark(bytes, at) {
        at = found;
        if bytes[at] == b'"' {
            return Seen { end: at, has_escapes, is_odd };
        }
        has_escapes = true;
        let (length, escaped) = escape(&bytes[at..]);
        is_odd |= escaped.is_none_or(is_unwanted);
        at += length;
    }
    Seen { end: bytes.len(), has_escapes, is_odd }
}

/// The next quote or backslash. Nearly every string is short, so that a search which is quick for long ones begins later.
#[inline]
fn find_mark(bytes: &[u8], from: usize) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    /// Words that are looked at one by one.
    const WORDS: usize = 4;
    // The highest bit of the first byte that is zero comes out set, and none below it.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    let mut rest = bytes.get(from..)?;
    for _ in 0..WORDS {
        let Some((word, after)) = rest.split_first_chunk::<8>() else { break };
        let word = u64::from_le_bytes(*word);
        let found = zeros(word ^ (ONES * u64::from(b'"'))) | zeros(word ^ (ONES * u64::from(b'\\')));
        if found != 0 {
            return Some(bytes.len() - rest.len() + (found.trailing_zeros() / u8::BITS) as usize);
        }
        rest = after;
    }
    Some(bytes.len() - rest.len() + memchr::memchr2(b'"', b'\\', rest)?)
}

/// Whether a text that is not in ASCII holds what none may hold.
fn has_unwanted(text: &str) -> bool {
    !text.is_ascii() && text.contains(is_unwanted)
}

/// Where the number ends whose first character stands before `from`, and whether it has an exponent.
pub(super) fn number_end(bytes: &[u8], from: usize) -> (usize, bool) {
    let (mut end, mut has_exponent) = (from, false);
    while let Some(byte) = bytes.get(end) {
        match byte {
            b'0'..=b'9' | b'.' | b'+' | b'-' => {}
            b'e' | b'E' => has_exponent = true,
            _ => break,
        }
        end += 1;
    }
    (end, has_exponent)
}

/// What follows the text that ended before, if it is a member's name: the value, from its first byte on.
pub(super) fn value_after(bytes: &[u8], at: usize) -> Option<&[u8]> {
    Some(trim_start(trim_start(bytes.get(at..)?).strip_prefix(b":")?))
}

/// Without the blanks of JSON in front.
fn trim_start(bytes: &[u8]) -> &[u8] {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    &bytes[bytes.iter().position(|byte| !blank(byte)).unwrap_or(bytes.len())..]
}

/// By the first bytes of a value of JSON.
pub(super) fn kind_of(value: &[u8]) -> Kind {
    if value.starts_with(b"false") {
        Kind::False
    } else if value.starts_with(b"null") {
        Kind::Null
    } else if value.starts_with(b"\"\"") {
        Kind::EmptyString
    } else {
        Kind::Other
    }
}

/// The names of the objects that the pass is in, by fingerprint.
#[derive(Default)]
struct OpenNames {
    prints: Vec<u32>,
    /// The names of the innermost object or array.
    own: Own,
    /// Those of the ones around it.
    outer: Vec<Own>,
}

/// The names of one object.
#[derive(Clone, Copy, Default)]
struct Own {
    /// Where they begin.
    start: usize,
    /// A bit of each: one that is not there yet is the name's own.
    bits: u64,
}

impl OpenNames {
    fn open(&mut self) {
        self.outer.push(self.own);
        self.own = Own { start: self.prints.len(), bits: 0 };
    }

    fn close(&mut self) {
        self.prints.truncate(self.own.start);
        self.own = self.outer.pop().unwrap_or_default();
    }

    /// Takes down a name. Whether its object may have it already.
    fn is_repeated(&mut self, name: &[u8]) -> bool {
        let print = fingerprint(name);
        let bit = 1 << (print % u64::BITS);
        if self.own.bits & bit != 0 {
            let own = self.prints.get(self.own.start..).unwrap_or_default();
            if own.len() >= NAMES_COMPARED_MAX || own.contains(&print) {
                return true;
            }
        }
        self.own.bits |= bit;
        self.prints.push(print);
        false
    }
}

/// The same for the same names, and nearly never for others.
fn fingerprint(name: &[u8]) -> u32 {
    /// An odd number without a pattern: the golden ratio as a fraction of 2^64.
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    let ends = match (name.first_chunk(), name.last_chunk()) {
        (Some(first), Some(last)) => word(first) ^ word(last).rotate_left(29),
        _ => name.iter().fold(0, |short, byte| short << 8 | u64::from(*byte)),
    };
    // Beyond two words a third one from the middle tells names apart well enough: to suspect too much costs a walk.
    let middle = name.get(name.len() / 2..).filter(|_| name.len() > 16).and_then(<[u8]>::first_chunk).map_or(0, word);
    let length = u64::try_from(name.len()).unwrap_or(u64::MAX);
    let hash = (ends ^ middle.rotate_left(13) ^ length).wrapping_mul(SPREAD);
    // The upper half, where the bits are mixed best.
    u32::try_from(hash >> 32).unwrap_or_default()
}
