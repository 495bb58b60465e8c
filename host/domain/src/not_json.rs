//! What a text is that should have been JSON: people paste YAML, and servers answer with pages.

/// How far into a text it is looked, bytes: a page says what it is at its head.
const LOOKED_AT_BYTES: usize = 1_024;

/// Says of a text that is not JSON what it is instead, by its [`kind`]; where that is nothing known, what the parser said.
#[must_use]
pub fn describe(kind: Option<&str>, error: &dyn std::fmt::Display) -> String {
    match kind {
        Some(kind) => format!("it is {kind}, expected JSON"),
        None => format!("it is not valid JSON: {error}"),
    }
}

/// What a text is that is no JSON: `HTML`, `XML`, `YAML`, or `empty`.
#[must_use]
pub fn kind(text: &str) -> Option<&'static str> {
    let mut end = text.len().min(LOOKED_AT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = text[..end].trim_start_matches('\u{feff}').trim_start();
    if head.is_empty() {
        return (end == text.len()).then_some("empty");
    }
    if head.starts_with('<') {
        let lower = head.to_ascii_lowercase();
        let is_page = ["<!doctype html", "<html", "<head", "<body"].iter().any(|mark| lower.contains(mark));
        return Some(if is_page { "HTML" } else { "XML" });
    }
    let line = head.lines().find(|line| !line.trim_start().starts_with('#')).unwrap_or_default();
    is_yaml(line.trim_end()).then_some("YAML")
}

/// Whether a line that is no JSON begins a document of YAML: its mark, an item of a list, or a key with its value.
fn is_yaml(line: &str) -> bool {
    if line == "---" || line.starts_with("--- ") || line.starts_with("%YAML") || line.starts_with("- ") {
        return true;
    }
    let Some((key, value)) = line.split_once(':') else { return false };
    let is_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ' | '"' | '\'');
    !key.is_empty() && key.chars().all(is_key) && (value.is_empty() || value.starts_with(' '))
}

/// What a content type says that a body is, where that is no JSON.
#[must_use]
pub fn kind_of_type(essence: &str) -> Option<&'static str> {
    match essence {
        "text/html" | "application/xhtml+xml" => Some("HTML"),
        _ if essence.ends_with("/yaml") || essence.ends_with("/x-yaml") || essence.ends_with("+yaml") => Some("YAML"),
        _ if essence.ends_with("/xml") || essence.ends_with("+xml") => Some("XML"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_text_is() {
        for (text, expected) in [
            ("<!DOCTYPE html><html><body>down</body></html>", Some("HTML")),
            ("\n <html lang=en>", Some("HTML")),
            ("<?xml version=\"1.0\"?><offers/>", Some("XML")),
            ("---\noffers:\n", Some("YAML")),
            ("# offers of today\noffers:\n  - id: 1\n", Some("YAML")),
            ("- id: 1\n", Some("YAML")),
            ("offers: []\n", Some("YAML")),
            ("", Some("empty")),
            (" \n", Some("empty")),
            ("Service Unavailable", None),
            ("{\"offers\": [}", None),
            ("{offers: []}", None),
            ("https://partner.example/", None),
            ("12:30", None),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
        let long = format!("{}é", "x".repeat(LOOKED_AT_BYTES - 1));
        assert_eq!(kind(&long), None, "cut between two letters");
    }

    #[test]
    fn what_a_type_says() {
        let kinds = ["text/html", "application/yaml", "text/x-yaml", "application/soap+xml", "text/xml", "text/plain"];
        let expected = [Some("HTML"), Some("YAML"), Some("YAML"), Some("XML"), Some("XML"), None];
        assert_eq!(kinds.map(kind_of_type), expected);
    }

    #[test]
    fn what_is_nothing_known_keeps_the_parsers_words() {
        assert_eq!(describe(kind("a: 1"), &"x"), "it is YAML, expected JSON");
        assert_eq!(describe(kind("oops"), &"expected value"), "it is not valid JSON: expected value");
    }
}
