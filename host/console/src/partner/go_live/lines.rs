//! In which line of a JSON text a problem is. Checks name the place by a pointer; whoever mends the text looks for a line.

use intent_gateway_domain::pointer::find_in;
use serde_json::value::RawValue;

/// The line, from 1, of what a pointer leads to; where nothing is there, that of what lies around it, and where the text is no JSON,
/// that of the error. None for the document as a whole.
pub(super) fn find_line(text: &str, pointer: &str) -> Option<usize> {
    let document = match serde_json::from_str::<&RawValue>(text) {
        Ok(document) => document,
        Err(error) => return Some(error.line().max(1)),
    };
    let mut at = pointer;
    while at.starts_with('/') {
        if let Some(found) = find_in(document, at) {
            return Some(count_lines_until(text, found.get()));
        }
        at = at.rfind('/').and_then(|end| at.get(..end)).unwrap_or_default();
    }
    None
}

/// The line in which a part of a text begins.
fn count_lines_until(text: &str, part: &str) -> usize {
    let offset = part.as_ptr().addr().saturating_sub(text.as_ptr().addr());
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{
  "businessName": "a { \" ] name",
  "intents": [
    {"intent": "auto.fix", "pricing": {"min": 5,
      "max": 4}},
    {
      "intent": "auto.wash",
      "a/b~c": [
        1,
        [2, 3]
      ]
    }
  ]
}"#;

    #[test]
    fn a_pointer_leads_to_its_line() {
        for (pointer, line) in [
            ("/businessName", 2),
            ("/intents", 3),
            ("/intents/0", 4),
            ("/intents/0/pricing/min", 4),
            ("/intents/0/pricing/max", 5),
            ("/intents/1", 6),
            ("/intents/1/intent", 7),
            ("/intents/1/a~1b~0c/0", 9),
            ("/intents/1/a~1b~0c/1/1", 10),
        ] {
            assert_eq!(find_line(TEXT, pointer), Some(line), "{pointer}");
        }
    }

    #[test]
    fn what_is_missing_is_where_it_should_be() {
        assert_eq!(find_line(TEXT, "/intents/1/pricing/min"), Some(6));
        assert_eq!(find_line(TEXT, "/intents/7"), Some(3));
        assert_eq!(find_line(TEXT, "/submitForReview"), None);
        assert_eq!(find_line(TEXT, ""), None);
        assert_eq!(find_line(TEXT, "no pointer"), None);
    }

    #[test]
    fn of_members_with_one_name_the_last_counts() {
        assert_eq!(find_line("{\"a\": 1,\n\"a\": 2}", "/a"), Some(2));
    }

    #[test]
    fn an_error_of_syntax_has_a_line_whatever_the_pointer() {
        assert_eq!(find_line("{\n\"a\": 1,\n}", ""), Some(3));
        assert_eq!(find_line("{\n\"a\" 1}", "/a"), Some(2));
        assert_eq!(find_line("", ""), Some(1));
        assert_eq!(find_line("{} {}", "/a"), Some(1));
    }
}
