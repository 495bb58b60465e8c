//! Numbers and texts of JSON: what is wrong with one, shared by both steps of the scan.

use std::borrow::Cow;

use intent_gateway_domain::limits::ANSWER_NUMBER_MAX_CHARS;
use intent_gateway_domain::unseen::is_unseen;

use super::{CONTROL_CHARACTER, LONE_SURROGATE, NONCHARACTER, NUMBER_TOO_LARGE, TOO_LONG};

/// Characters of a number that is in range whatever they are, unless one of them is an exponent's.
pub(super) const SHORT_NUMBER_CHARS: usize = 20;

/// The first thing that is wrong with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextFlaw {
    /// A character that none may hold.
    Character(char),
    LoneSurrogate,
}

impl TextFlaw {
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Character(c) if c.is_control() => CONTROL_CHARACTER,
            Self::Character(_) => NONCHARACTER,
            Self::LoneSurrogate => LONE_SURROGATE,
        }
    }

    pub(super) fn describe(self) -> String {
        match self {
            Self::Character(c) if c.is_control() => {
                format!(
                    "holds the control character U+{:04X}; tabs and ends of lines are the only ones allowed",
                    u32::from(c)
                )
            }
            Self::Character(c) => format!("holds U+{:04X}, which is never a character", u32::from(c)),
            Self::LoneSurrogate => "holds one half of a surrogate pair".to_owned(),
        }
    }
}

/// Whether no text may hold this character.
pub(super) fn is_unwanted(c: char) -> bool {
    let is_noncharacter = || matches!(c, '\u{fdd0}'..='\u{fdef}') || u32::from(c) & 0xfffe == 0xfffe;
    c.is_control() && !matches!(c, '\t' | '\n' | '\r') || is_noncharacter()
}

/// A string of JSON as it is meant. A lone surrogate in it is replaced.
#[derive(Debug)]
pub(super) struct Text<'t> {
    pub(super) content: Cow<'t, str>,
    pub(super) flaw: Option<TextFlaw>,
}

impl<'t> Text<'t> {
    /// What stands between the quotes of a string of valid JSON.
    pub(super) fn read(written: &'t str) -> Self {
        let mut flaw = None;
        let content = if written.contains('\\') {
            let mut content = String::with_capacity(written.len());
            let mut rest = written;
            while let Some(at) = rest.find('\\') {
                content.push_str(&rest[..at]);
                let (length, escaped) = escape(&rest.as_bytes()[at..]);
                if escaped.is_none() {
                    flaw = Some(TextFlaw::LoneSurrogate);
                }
                content.push(escaped.unwrap_or(char::REPLACEMENT_CHARACTER));
                rest = rest.get(at + length..).unwrap_or_default();
            }
            content.push_str(rest);
            Cow::Owned(content)
        } else {
            Cow::Borrowed(written)
        };
        let flaw = flaw.or_else(|| content.chars().find(|c| is_unwanted(*c)).map(TextFlaw::Character));
        Self { content, flaw }
    }
}

/// How long the escape is that a text of valid JSON begins with, and what it stands for; none for a lone surrogate.
pub(super) fn escape(text: &[u8]) -> (usize, Option<char>) {
    let letter = match text.get(1) {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode_escape(text),
        Some(other) => char::from(*other),
        None => return (1, None),
    };
    (2, Some(letter))
}

fn unicode_escape(text: &[u8]) -> (usize, Option<char>) {
    let Some(unit) = unit(text) else { return (2, None) };
    let low = || unit_of_pair(&text[6..]);
    match unit {
        0xd800..0xdc00 => match low() {
            Some(low) => (12, char::from_u32(0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00))),
            None => (6, None),
        },
        _ => (6, char::from_u32(unit)),
    }
}

/// The second half of a pair.
fn unit_of_pair(text: &[u8]) -> Option<u32> {
    unit(text).filter(|unit| (0xdc00..0xe000).contains(unit))
}

/// The code unit of an escape of the form `\uXXXX`.
fn unit(text: &[u8]) -> Option<u32> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |unit, digit| Some(unit * 16 + char::from(*digit).to_digit(16)?))
}

/// Where the string ends whose content starts at `from`: the position of its quote, or the end of the text.
pub(super) fn string_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        if bytes[at] == b'"' {
            return at;
        }
        at += 2;
    }
    bytes.len()
}

/// Whether [`json_in`] may find something in a string; never false where it does. `written` is what stands between its quotes.
pub(super) fn may_be_json(written: &[u8]) -> bool {
    let mut rest = written;
    loop {
        rest = match rest {
            [b'{' | b'[', ..] | [b'\\', b'"', ..] => return true,
            // Escapes of signs, of blanks and of what is not seen, and of most of what is neither letter nor digit.
            [b'\\', b'u', b'0' | b'1', b'0' | b'1' | b'3' | b'6' | b'7' | b'8', ..]
            | [b'\\', b'u', b'2' | b'3' | b'f' | b'F', ..]
            | [b'\\', b'u', b'd' | b'D', b'8', b'2' | b'3', b'f' | b'F' | b'4', ..]
            | [b'\\', b'u', b'd' | b'D', b'b' | b'B', b'4', b'0'..=b'3', ..] => return true,
            [b' ', rest @ ..]
            | [b'\\', b'n' | b'r' | b't', rest @ ..]
            // In UTF-8 the same: U+0080 to U+00BF, U+0340 to U+037F, and what begins as blanks and unseen ones of three and four
            // bytes do.
            | [0xc2 | 0xcd, _, rest @ ..]
            | [0xe1, 0x85 | 0x9a | 0x9e | 0xa0, _, rest @ ..]
            | [0xe2, 0x80 | 0x81, _, rest @ ..]
            | [0xe3, 0x80 | 0x85, _, rest @ ..]
            | [0xef, 0xb8 | 0xbb | 0xbe | 0xbf, _, rest @ ..]
            | [0xd8, _, rest @ ..]
            | [0xf0, 0x9b | 0x9d, _, _, rest @ ..]
            | [0xf3, 0xa0, _, _, rest @ ..] => rest,
            _ => return false,
        };
    }
}

/// The text of a string that is JSON, or begins as an object, an array or a string of JSON does, without what may stand before
/// that. `[sic]` and `"so-called"` things are none.
pub(super) fn json_in(content: &str) -> Option<&str> {
    let json = content.trim_start_matches(|c: char| c.is_whitespace() || is_unseen(c));
    let after = |from: usize| json[from..].trim_start_matches([' ', '\t', '\n', '\r']).as_bytes().first().copied();
    let begins = match json.as_bytes().first()? {
        b'{' => matches!(after(1), Some(b'"' | b'}')),
        b'[' => matches!(after(1), Some(b'{' | b'[' | b']' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n')),
        b'"' => after((string_end(json.as_bytes(), 1) + 1).min(json.len())).is_none(),
        _ => false,
    };
    begins.then_some(json)
}

/// What is wrong with a number, by code and in words.
pub(super) fn number_flaw(number: &str) -> Option<(&'static str, String)> {
    let length = number.len();
    if length > ANSWER_NUMBER_MAX_CHARS {
        let message = format!("a number has at most {ANSWER_NUMBER_MAX_CHARS} characters; this one has {length}");
        return Some((TOO_LONG, message));
    }
    let is_plain = length <= SHORT_NUMBER_CHARS && !number.contains(['e', 'E']);
    // What is not a number of Rust's is none of JSON's.
    let is_finite = is_plain || number.parse().is_ok_and(f64::is_finite);
    (!is_finite).then(|| (NUMBER_TOO_LARGE, "is a number that a 64-bit float does not hold".to_owned()))
}
