//! What the environment sets: `INTENT_GATEWAY__SECTION__KEY`, and how the text of a variable becomes a value.
//!
//! A variable has no type, so its text is read as what it looks like: `true`, a number, a list, a table, a quoted
//! text, and otherwise as it stands. Lists and tables need no quotes inside: `[a, b]`, `{role = admin}`.

use std::ffi::OsString;

use serde_json::{Number, Value};

use super::layers::Table;

/// What the names of variables begin with, in any case.
const PREFIX: &str = "INTENT_GATEWAY__";
/// What sets off sections in the name of a variable.
const SEPARATOR: &str = "__";

/// A variable that sets something.
#[derive(Debug, PartialEq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    /// The key, section by section.
    pub(crate) path: Vec<String>,
    pub(crate) value: Value,
}

/// The variables that set something, by name, so that a section given as a whole stands below its single keys.
pub(crate) fn variables(environment: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<Variable> {
    let mut variables: Vec<Variable> =
        environment.into_iter().filter_map(|(name, text)| variable(&name, &text)).collect();
    variables.sort_by(|one, other| one.path.cmp(&other.path));
    variables
}

fn variable(name: &OsString, text: &OsString) -> Option<Variable> {
    let name = name.to_string_lossy();
    let (prefix, key) = name.trim().split_at_checked(PREFIX.len())?;
    if !prefix.eq_ignore_ascii_case(PREFIX) {
        return None;
    }
    let path: Vec<String> = key.to_ascii_lowercase().split(SEPARATOR).map(str::to_owned).collect();
    let named = path.iter().all(|part| !part.is_empty());
    named.then(|| Variable { name: name.trim().to_owned(), path, value: value(&text.to_string_lossy()) })
}

/// What a text looks like.
pub(crate) fn value(text: &str) -> Value {
    let mut reader = Reader { rest: text };
    let value = reader.value().filter(|_| reader.rest.is_empty());
    value.unwrap_or_else(|| text.into())
}

/// Reads one value; None for a text that is none, which is then taken as it stands.
struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn value(&mut self) -> Option<Value> {
        self.skip_space();
        let value = match self.rest.chars().next() {
            Some('{') => self.table()?,
            Some('[') => self.list()?,
            Some('"') => self.read_quoted()?.into(),
            Some('\'') => self.character()?.into(),
            _ if self.skip("true") => true.into(),
            _ if self.skip("false") => false.into(),
            _ => self.plain(),
        };
        self.skip_space();
        Some(value)
    }

    fn list(&mut self) -> Option<Value> {
        let mut values = Vec::new();
        self.members('[', ']', |reader| {
            values.push(reader.value()?);
            Some(())
        })?;
        Some(values.into())
    }

    fn table(&mut self) -> Option<Value> {
        let mut table = Table::new();
        self.members('{', '}', |reader| {
            let key = match reader.rest.starts_with('"') {
                true => reader.read_quoted()?,
                false => reader.bare_key()?,
            };
            reader.skip_space();
            reader.skip("=").then_some(())?;
            let value = reader.value()?;
            table.insert(key, value);
            Some(())
        })?;
        Some(table.into())
    }

    /// Members set off by commas, the last of which may have one after it.
    fn members(&mut self, open: char, close: char, mut member: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.rest = self.rest.strip_prefix(open)?;
        loop {
            self.skip_space();
            if let Some(rest) = self.rest.strip_prefix(close) {
                self.rest = rest;
                return Some(());
            }
            member(self)?;
            if !self.skip(",") && !self.rest.starts_with(close) {
                return None;
            }
        }
    }

    fn bare_key(&mut self) -> Option<String> {
        let key = self.take_while(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'));
        (!key.is_empty()).then(|| key.to_owned())
    }

    /// A text in double quotes, with TOML's escapes.
    fn read_quoted(&mut self) -> Option<String> {
        let mut escaped = false;
        let end = self.rest.char_indices().skip(1).find(|&(_, letter)| {
            let ends = letter == '"' && !escaped;
            escaped = letter == '\\' && !escaped;
            ends
        });
        let (text, rest) = self.rest.split_at(end?.0 + 1);
        self.rest = rest;
        let inner = &text[1..text.len() - 1];
        match inner.contains('\\') {
            true => Some(toml::de::DeValue::parse(text).ok()?.get_ref().as_str()?.to_owned()),
            false => Some(inner.to_owned()),
        }
    }

    /// One character in single quotes.
    fn character(&mut self) -> Option<String> {
        let inner = self.rest.strip_prefix('\'')?;
        let letter = inner.chars().next()?;
        self.rest = inner[letter.len_utf8()..].strip_prefix('\'')?;
        Some(letter.to_string())
    }

    /// A number, or else a text without quotes.
    fn plain(&mut self) -> Value {
        let text = self.take_while(|letter| !matches!(letter, ',' | '{' | '}' | '[' | ']')).trim();
        let float = || text.contains('.').then(|| text.parse().ok().and_then(Number::from_f64))?;
        let whole = || text.parse::<u64>().map(Number::from).or_else(|_| text.parse::<i64>().map(Number::from)).ok();
        float().or_else(whole).map_or_else(|| text.into(), Value::Number)
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &str {
        let end = self.rest.find(|letter| !wanted(letter)).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        text
    }

    fn skip(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches(|letter: char| letter.is_ascii_whitespace());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_is_read_as_what_it_looks_like() {
        for (text, expected) in [
            ("true", json!(true)),
            (" false ", json!(false)),
            ("8", json!(8)),
            (" -8 ", json!(-8)),
            ("18446744073709551615", json!(u64::MAX)),
            ("0.25", json!(0.25)),
            ("-1.5e3", json!(-1500.0)),
            ("\"8\"", json!("8")),
            ("\"true\"", json!("true")),
            ("\" a \"", json!(" a ")),
            (r#""a\tb\"c\\""#, json!("a\tb\"c\\")),
            ("\"two\nlines\"", json!("two\nlines")),
            ("'x'", json!("x")),
            (" text ", json!("text")),
            ("127.0.0.1:80", json!("127.0.0.1:80")),
            ("https://a.example/?b=c", json!("https://a.example/?b=c")),
            ("[]", json!([])),
            ("[a, \"b, c\", 3,]", json!(["a", "b, c", 3])),
            ("[[1], {a = b}]", json!([[1], { "a": "b" }])),
            ("{a=1, \"b c\" = [x], d-e_f = true}", json!({ "a": 1, "b c": ["x"], "d-e_f": true })),
            ("{ }", json!({})),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_nothing_else_is_a_text_as_it_stands() {
        for text in [
            "",
            "truer",
            "info,rmcp=warn",
            "1e3",
            "0x10",
            "1_000",
            "2024-01-01",
            "inf",
            "nan",
            "1.0e999",
            "[a",
            "[a]]",
            "{a}",
            "{=1}",
            "{a=1",
            "\"open",
            "\"a\" b",
            "'ab'",
            "''",
            "\"\\q\"",
            "]",
            "a]b",
            " [a",
        ] {
            assert_eq!(value(text), json!(text));
        }
    }

    #[test]
    fn variables_are_known_by_their_prefix() {
        let given = |name: &str| variables([(OsString::from(name), OsString::from("1"))]);
        let variable = Variable {
            name: "INTENT_GATEWAY__SERVER__MAX_CONNECTIONS".to_owned(),
            path: vec!["server".to_owned(), "max_connections".to_owned()],
            value: json!(1),
        };
        assert_eq!(given("INTENT_GATEWAY__SERVER__MAX_CONNECTIONS"), [variable]);
        assert_eq!(given("intent_gateway__state_dir")[0].path, ["state_dir"]);
        for other in ["INTENT_GATEWAY_CONFIG", "INTENT_GATEWAY__", "INTENT_GATEWAY__SERVER__", "PATH", "é"] {
            assert_eq!(given(other), [], "{other}");
        }
    }

    #[test]
    fn a_section_stands_before_its_keys() {
        let given = ["INTENT_GATEWAY__LOG__LEVEL", "INTENT_GATEWAY__LOG", "INTENT_GATEWAY__AUTH__AUDIENCE"];
        let variables = variables(given.map(|name| (OsString::from(name), OsString::from("x"))));
        let names: Vec<_> = variables.iter().map(|variable| variable.name.as_str()).collect();
        assert_eq!(names, ["INTENT_GATEWAY__AUTH__AUDIENCE", "INTENT_GATEWAY__LOG", "INTENT_GATEWAY__LOG__LEVEL"]);
    }
}
