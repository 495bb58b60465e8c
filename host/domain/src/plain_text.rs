//! Text that others wrote and people or assistants read: which characters mislead whoever reads it, and how a text, a line of a
//! terminal or a card is made without them.
//!
//! Not here: which answers are refused for what they hold (`routing::scan`), and HTML. What is made here is plain text: a page
//! that shows it has to escape it.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::value::RawValue;

use crate::findings::cut;
use crate::limits::CARD_TEXT_MAX_CHARS;
use crate::unseen::{is_joiner, is_unseen, joins_behind};

/// Whether a character misleads: it is a control, it turns the direction of what is read, or it is not seen and says something
/// to machines alone: a whole text may be hidden in tags or in selectors of variants. What joins letters or emoji is none of
/// these.
#[must_use]
pub fn misleads(c: char) -> bool {
    // Besides what is not seen: ends of lines and paragraphs, annotations.
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}') || is_unseen(c) && !is_joiner(c)
}

/// A text without what misleads, on one line, at most so many characters long. What is longer is cut and ends with `…`. Joiners
/// stay where they join something: in a row, or between Latin letters, they could only hide what nobody sees.
#[must_use]
pub fn line(text: &str, max_chars: usize) -> String {
    let is_blank = |c: char| matches!(c, '\t' | '\n' | '\r' | '\u{2028}' | '\u{2029}');
    let mut before = ' ';
    let mut kept = String::with_capacity(text.len());
    for c in text.chars() {
        let shown = if is_blank(c) { ' ' } else { c };
        if misleads(shown) || is_joiner(shown) && !joins_behind(shown, before) {
            continue;
        }
        kept.push(shown);
        before = shown;
    }
    cut(&kept, max_chars)
}

/// A text in which what misleads is spelt out, fit for a line of a terminal.
#[must_use]
pub fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(misleads) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if misleads(c) { escaped.extend(c.escape_default()) } else { escaped.push(c) }
    }
    Cow::Owned(escaped)
}

/// A JSON text that says the same and is fit for a terminal: what misleads is written as an escape of JSON. Blanks between
/// values stay as they are.
#[must_use]
pub fn escape_json(json: &str) -> Cow<'_, str> {
    // A control below U+0020 stands between values alone: within a string, JSON has it escaped.
    let is_harmful = |c: char| c >= '\u{7f}' && misleads(c);
    if !json.contains(is_harmful) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if is_harmful(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string never fails.
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

/// A card whose texts are plain: each as [`line`] makes it, at most [`CARD_TEXT_MAX_CHARS`] long. Nothing else changes.
#[must_use]
pub fn card(card: Box<RawValue>) -> Box<RawValue> {
    if is_plain_card(card.get()) {
        return card;
    }
    // What is made of a JSON text by replacing its strings is one again.
    RawValue::from_string(with_plain_strings(card.get())).unwrap_or(card)
}

/// Whether nothing is to be done, as of nearly every card: no escapes, nothing that may mislead, no text that may be too long.
fn is_plain_card(json: &str) -> bool {
    json.len() <= CARD_TEXT_MAX_CHARS
        && memchr::memchr2(b'\\', 0x7f, json.as_bytes()).is_none()
        && (json.is_ascii() || !json.contains(|c: char| !c.is_ascii() && (misleads(c) || is_joiner(c))))
}

fn with_plain_strings(json: &str) -> String {
    let mut plain = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(start) = rest.find('"') {
        let (between, from) = rest.split_at(start);
        let (written, after) = from.split_at(string_length(from));
        plain.push_str(between);
        // Half a surrogate pair makes a string that nobody can read.
        let text: String = serde_json::from_str(written).unwrap_or_default();
        plain.push_str(&serde_json::Value::String(line(&text, CARD_TEXT_MAX_CHARS)).to_string());
        rest = after;
    }
    plain.push_str(rest);
    plain
}

/// Bytes of the string that a JSON text begins with, its quotes included.
fn string_length(json: &str) -> usize {
    let bytes = json.as_bytes();
    let mut at = 1;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        if bytes[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    json.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is written in other scripts, joined emoji among it.
    const HONEST: &str = "योग · Café 👩‍👩‍👧 ₹ नि\u{200d}मा اردو\u{200c} שלום ❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3}";

    fn plain(json: &str) -> String {
        card(RawValue::from_string(json.to_owned()).expect("JSON")).get().to_owned()
    }

    #[test]
    fn a_line_holds_what_is_read_and_nothing_else() {
        assert_eq!(line(HONEST, 100), HONEST);
        let odd = "a\u{7}b\u{202e}c\u{2066}d\u{200f}e\u{feff}f\u{e0041}g\u{9b}h\u{7f}i\r\nj\u{2028}k\tl";
        assert_eq!(line(odd, 100), "abcdefghi  j k l");
        let hidden =
            "a\u{e0150}b\u{fe01}c\u{200b}d\u{2063}e\u{ad}f\u{3164}g\u{1d173}h\u{34f}i\u{206a}j\u{180e}k\u{115f}l";
        assert_eq!(line(hidden, 100), "abcdefghijkl");
        let row = "\u{200d}a\u{200d}\u{200c}\u{fe0f}b\u{fe0e} य\u{200d}\u{200c}\u{200d}\u{200c}ग";
        assert_eq!(line(row, 100), "ab य\u{200d}ग", "joiners say nothing in a row");
        assert_eq!((line("abc", 3), line("ab\u{7}c", 3), line("abcd", 3)), ("abc".into(), "abc".into(), "ab…".into()));
    }

    #[test]
    fn what_misleads_a_terminal_is_spelt_out() {
        assert_eq!(escape(HONEST), HONEST);
        assert_eq!(escape("a\u{1b}[2J\u{202e}\u{e0041}"), r"a\u{1b}[2J\u{202e}\u{e0041}");
        let json = "{\n\t\"a\": \"x\u{9b}31m\u{202e}\u{e0041}\u{7f} योग\"}";
        let escaped = escape_json(json);
        assert_eq!(escaped, "{\n\t\"a\": \"x\\u009b31m\\u202e\\udb40\\udc41\\u007f योग\"}");
        let read = |json: &str| serde_json::from_str::<serde_json::Value>(json).expect("JSON");
        assert_eq!(read(&escaped), read(json), "it says the same");
        assert!(matches!(escape_json("{\"a\": \"योग\"}"), Cow::Borrowed(_)));
    }

    #[test]
    fn texts_of_a_card_are_plain_and_all_else_stays() {
        let honest = format!(r#"{{"header": "{HONEST}", "price":{{"amount_inr":1.50}}, "a":[true,null]}}"#);
        assert_eq!(plain(&honest), honest);
        assert_eq!(
            plain(r#"{"n": 1.50, "a\u0007": ["\ud83d\ude00 \"q\"\\", {"b":"x\u202ey\nz\u007f"}], "half":"\ud800"}"#),
            r#"{"n": 1.50, "a": ["😀 \"q\"\\", {"b":"xy z"}], "half":""}"#
        );
        assert_eq!(plain("{\"a\":\"x\u{202e}y\u{7f}\"}"), r#"{"a":"xy"}"#);
        assert_eq!(plain(r#"{"a":"<b>bold</b>"}"#), r#"{"a":"<b>bold</b>"}"#, "plain text may speak of HTML");
    }

    #[test]
    fn a_text_of_a_card_is_no_longer_than_one_may_be() {
        let shown = |length: usize| {
            let card: serde_json::Value =
                serde_json::from_str(&plain(&format!(r#"{{"a":"{}"}}"#, "य".repeat(length)))).expect("JSON");
            card["a"].as_str().expect("a text").to_owned()
        };
        assert_eq!(shown(CARD_TEXT_MAX_CHARS), "य".repeat(CARD_TEXT_MAX_CHARS));
        assert_eq!(shown(CARD_TEXT_MAX_CHARS + 1), format!("{}…", "य".repeat(CARD_TEXT_MAX_CHARS - 1)));
    }
}
