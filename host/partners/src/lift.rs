//! Takes the payload's text out of a tool result before the rest is parsed.
//!
//! The text makes up nearly all of an answer, and it is JSON within a JSON string: every few bytes there is an escaped
//! quote, which is where a general parser is slow. Here it is unescaped eight bytes at a time, and what is parsed is
//! the answer with a short stand-in in its place. Whenever that is not certain to give the same outcome, nothing is
//! lifted and the general parser reads the whole.

use intent_gateway_domain::json_string::special_bytes;
use memchr::memmem;

/// Stands in for a text that was lifted.
pub(crate) const STAND_IN: &str = "(the text was lifted)";
/// The key whose string is lifted. Within a string its quotes would be escaped, so in a JSON document these bytes are
/// a key, wherever they are found.
const KEY: &[u8] = b"\"text\":";

/// A body in two parts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LiftedText {
    /// The body, with [`STAND_IN`] in place of the text.
    pub(crate) rest: Vec<u8>,
    pub(crate) text: String,
}

/// Lifts the first string under the key `text`. `None` leaves the body to the general parser: there is no such
/// string, it holds an escape other than the two-character ones, or it is not valid.
pub(crate) fn lift(body: &[u8]) -> Option<LiftedText> {
    let after_key = memmem::find(body, KEY)? + KEY.len();
    let blanks = body[after_key..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
    let opening = after_key + blanks;
    if body.get(opening) != Some(&b'"') || memmem::find(body, STAND_IN.as_bytes()).is_some() {
        return None;
    }
    let string = &body[opening + 1..];
    let (text, length) = unescape(string)?;
    let mut rest = Vec::with_capacity(body.len() - length + STAND_IN.len());
    rest.extend_from_slice(&body[..=opening]);
    rest.extend_from_slice(STAND_IN.as_bytes());
    rest.extend_from_slice(&string[length..]);
    Some(LiftedText { rest, text: String::from_utf8(text).ok()? })
}

/// The unescaped content of a string that starts here, and how many bytes it has up to the closing quote.
fn unescape(string: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut text = Vec::with_capacity(string.len());
    let mut at = 0;
    loop {
        // Copy eight bytes whole, then take back what does not belong to the run: the copy has a fixed size this way.
        while let Some(chunk) = string[at..].first_chunk::<8>() {
            let marks = special_bytes(u64::from_le_bytes(*chunk));
            let run = (marks.trailing_zeros() / 8) as usize;
            text.extend_from_slice(chunk);
            at += run;
            if run < 8 {
                text.truncate(text.len() + run - 8);
                break;
            }
        }
        match *string.get(at)? {
            b'"' => return Some((text, at)),
            b'\\' => {
                text.push(match *string.get(at + 1)? {
                    byte @ (b'"' | b'\\' | b'/') => byte,
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    b'b' => 0x08,
                    b'f' => 0x0C,
                    _ => return None,
                });
                at += 2;
            }
            0..0x20 => return None,
            byte => {
                text.push(byte);
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn lift_text(body: &str) -> Option<(String, String)> {
        lift(body.as_bytes()).map(|found| (found.text, String::from_utf8(found.rest).expect("UTF-8")))
    }

    #[test]
    fn takes_the_first_text() {
        let rest = |before: &str, after: &str| format!("{before}\"{STAND_IN}\"{after}");
        assert_eq!(lift_text(r#"{"text":"a"}"#), Some(("a".into(), rest(r#"{"text":"#, "}"))));
        assert_eq!(lift_text("{\"text\": \n\"\" }"), Some((String::new(), rest("{\"text\": \n", " }"))));
        assert_eq!(
            lift_text(r#"{"x":"\"text\":\"no\"","text":"{\"a\":\"b\\\/\n\"}","text":"z"}"#),
            Some(("{\"a\":\"b\\/\n\"}".into(), rest(r#"{"x":"\"text\":\"no\"","text":"#, r#","text":"z"}"#)))
        );
    }

    #[test]
    fn leaves_what_it_is_not_sure_of() {
        let others = [
            "{}",
            r#"{"text":5}"#,
            r#"{"text":null}"#,
            r#"{"text":"#,
            r#"{"text":"never ended"#,
            r#"{"text":"never ended\"#,
            r#"{"text":"\u0041"}"#,
            r#"{"text":"\x"}"#,
            "{\"text\":\"a line\nbreak, and then some\"}",
            "{\"text\":\"\u{1}\"}",
            r#"{"x":"(the text was lifted)","text":"a"}"#,
        ];
        for body in others {
            assert_eq!(lift_text(body), None, "{body}");
        }
        assert_eq!(lift(b"{\"text\":\"\xFF\"}"), None);
    }

    proptest! {
        #[test]
        fn agrees_with_the_general_parser(text in r#"([ -~]|["\\/]|[\n\t\r]|\PC){0,60}"#, before in "[a-z\"\\\\]{0,9}") {
            let body = json!({"a": before, "text": text}).to_string();
            // A control character comes out as \u, which is left to the general parser.
            if let Some((found, rest)) = lift_text(&body) {
                prop_assert_eq!(&found, &text);
                let rest: Value = serde_json::from_str(&rest).expect("JSON");
                prop_assert_eq!(rest, json!({"a": before, "text": STAND_IN}));
            } else {
                prop_assert!(body.contains("\\u"), "{}", body);
            }
        }
    }
}
