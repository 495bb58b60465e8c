//! What of a text may go into a dictionary. It outlives the receipts that it was made of, up to the end of their segment, so
//! nothing of one person alone may be in it.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};

/// What separates the fragments of a text. Where exactly does not matter, as long as it is the same places for the same texts.
const SEPARATOR: u8 = b',';
/// Fragments of a text that are looked at.
const FRAGMENTS_MAX: usize = 8_192;

/// The fragments of a text, each with the separator after it.
fn fragments(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == SEPARATOR).take(FRAGMENTS_MAX)
}

/// Marks of the fragments of a text.
pub(super) fn marks(hasher: &RandomState, text: &[u8]) -> HashSet<u64> {
    fragments(text).map(|fragment| hasher.hash_one(fragment)).collect()
}

/// The fragments of a text that have one of the marks, in their order.
pub(super) fn keep_marked(hasher: &RandomState, text: &[u8], marks: &HashSet<u64>) -> Vec<u8> {
    fragments(text).filter(|fragment| marks.contains(&hasher.hash_one(*fragment))).flatten().copied().collect()
}

/// The JSON of a person's request without what they asked for: names of members and punctuation, no values.
pub(crate) fn skeleton(json: &str) -> String {
    let mut kept = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find(['"', ':']) {
        let (before, found) = rest.split_at(at);
        keep_punctuation(before, &mut kept);
        let end = if found.starts_with('"') { end_of_string(found) } else { 1 };
        let (token, after) = found.split_at(end);
        let is_name = after.trim_start().starts_with(':');
        kept.push_str(if token == ":" || is_name { token } else { "\"\"" });
        rest = after;
    }
    keep_punctuation(rest, &mut kept);
    kept
}

/// Bytes of the string that the text begins with, quotation marks included.
fn end_of_string(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !is_escaped => return at + 1,
            b'\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    text.len()
}

/// What stands between strings, without numbers, `true`, `false` and `null`.
fn keep_punctuation(text: &str, kept: &mut String) {
    kept.extend(text.chars().filter(|one| matches!(one, '{' | '}' | '[' | ']' | ',' | ' ' | '\n' | '\t' | '\r')));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skeleton_has_no_values() {
        for (json, expected) in [
            (
                r#"{"a": "x", "b":[1, true, null, "y\"z"], "c" : {"d\"": -1.5e3}}"#,
                r#"{"a": "", "b":[, , , ""], "c" : {"d\"": }}"#,
            ),
            (r#"{"when":"09:00","n":"\\"}"#, r#"{"when":"","n":""}"#),
            (r#""only""#, r#""""#),
            ("12", ""),
            (r#"{"open":"#, r#"{"open":"#),
            (r#"["cut"#, r#"["""#),
        ] {
            assert_eq!(skeleton(json), expected, "{json}");
        }
    }

    #[test]
    fn marked_fragments_come_in_their_order() {
        let hasher = RandomState::new();
        let marks = marks(&hasher, b"a,b,c,last");
        assert_eq!(keep_marked(&hasher, b"x,c,a,y,a,last", &marks), b"c,a,a,last");
        assert_eq!(keep_marked(&hasher, b"", &marks), b"");
    }
}
