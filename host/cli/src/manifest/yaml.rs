//! Reads YAML as JSON, and remembers on which line each value stands.
//!
//! A manifest is data: one document of mappings, sequences and plain values, as the core schema of YAML 1.2 reads
//! them. Anchors, aliases, tags, keys that are not strings, repeated keys and further documents are refused, so that
//! a small file cannot become a large value and nothing in it means something else to the next reader.

use std::collections::BTreeMap;

use intent_gateway_domain::limits::PAYLOAD_MAX_DEPTH;
use intent_gateway_domain::pointer::steps;
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span};
use serde_json::{Map, Number, Value};

/// The text is not YAML, or more than a manifest needs of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub(super) struct YamlError {
    /// From 1.
    pub(super) line: usize,
    /// In words.
    pub(super) problem: String,
}

/// The line on which each value stands; a member's is that of its key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lines {
    line: usize,
    /// By key, or by index.
    within: BTreeMap<String, Lines>,
}

impl Lines {
    /// The line of what a JSON Pointer names, or, where that is missing, of the nearest thing around it.
    pub(super) fn of(&self, pointer: &str) -> usize {
        let mut here = self;
        for name in steps(pointer) {
            let Some(next) = here.within.get(&name) else { break };
            here = next;
        }
        here.line
    }
}

/// Reads one document.
pub(super) fn parse(text: &str) -> Result<(Value, Lines), YamlError> {
    let mut parser = Parser::new_from_str(text);
    let mut tree = Tree::default();
    loop {
        let (event, span) = match parser.next_event() {
            None => break,
            Some(Ok(next)) => next,
            Some(Err(error)) => return Err(tree.explain(&error, text)),
        };
        let last = matches!(event, Event::StreamEnd);
        tree.take(event, span)?;
        if last {
            break;
        }
    }
    Ok((tree.root.unwrap_or(Value::Null), tree.lines))
}

/// A mapping or sequence that has begun.
struct Open {
    lines: Lines,
    filled: Filled,
}

enum Filled {
    Sequence(Vec<Value>),
    /// With the key whose value comes next, and its line.
    Mapping(Map<String, Value>, Option<(String, usize)>),
}

/// The value as far as it has been read.
#[derive(Default)]
struct Tree {
    root: Option<Value>,
    lines: Lines,
    open: Vec<Open>,
    documents: usize,
}

impl Tree {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), YamlError> {
        let line = span.start.line();
        let refuse = |problem: &str| Err(YamlError { line, problem: problem.to_owned() });
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) if self.documents > 0 => refuse("a second document begins; a manifest is one"),
            Event::DocumentStart(_) => {
                self.documents += 1;
                Ok(())
            }
            Event::Alias(_) => refuse("an alias (`*name`) is not taken; write the value out"),
            Event::Scalar(.., anchor, _) | Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _)
                if anchor != 0 =>
            {
                refuse("an anchor (`&name`) is not taken; write the value out where it is needed")
            }
            Event::Scalar(.., Some(_)) | Event::SequenceStart(_, Some(_)) | Event::MappingStart(_, Some(_)) => {
                refuse("a tag (`!name`) is not taken; put text in quotes instead")
            }
            Event::Scalar(text, style, ..) => self.scalar(&text, style, line),
            Event::SequenceStart(..) => self.begin(Filled::Sequence(Vec::new()), line),
            Event::MappingStart(..) => self.begin(Filled::Mapping(Map::new(), None), line),
            Event::SequenceEnd | Event::MappingEnd => {
                self.end();
                Ok(())
            }
        }
    }

    /// A key, or a value that stands alone.
    fn scalar(&mut self, text: &str, style: ScalarStyle, line: usize) -> Result<(), YamlError> {
        let Some(Open { filled: Filled::Mapping(members, key @ None), .. }) = self.open.last_mut() else {
            let value = plain(text, style).map_err(|problem| YamlError { line, problem })?;
            self.put(value, Lines { line, ..Lines::default() });
            return Ok(());
        };
        if members.contains_key(text) {
            return Err(YamlError { line, problem: format!("the key {text:?} stands here for a second time") });
        }
        *key = Some((text.to_owned(), line));
        Ok(())
    }

    fn begin(&mut self, filled: Filled, line: usize) -> Result<(), YamlError> {
        if matches!(self.open.last(), Some(Open { filled: Filled::Mapping(_, None), .. })) {
            return Err(YamlError { line, problem: "a key must be a text".to_owned() });
        }
        if self.open.len() >= PAYLOAD_MAX_DEPTH {
            let problem = format!("values nest more than {PAYLOAD_MAX_DEPTH} levels");
            return Err(YamlError { line, problem });
        }
        self.open.push(Open { lines: Lines { line, ..Lines::default() }, filled });
        Ok(())
    }

    fn end(&mut self) {
        let Some(Open { lines, filled }) = self.open.pop() else { return };
        let value = match filled {
            Filled::Sequence(items) => Value::Array(items),
            Filled::Mapping(members, _) => Value::Object(members),
        };
        self.put(value, lines);
    }

    /// Puts a finished value where it belongs.
    fn put(&mut self, value: Value, mut lines: Lines) {
        let Some(around) = self.open.last_mut() else {
            (self.root, self.lines) = (Some(value), lines);
            return;
        };
        match &mut around.filled {
            Filled::Sequence(items) => {
                around.lines.within.insert(items.len().to_string(), lines);
                items.push(value);
            }
            Filled::Mapping(members, key) => {
                let Some((key, line)) = key.take() else { return };
                lines.line = line;
                around.lines.within.insert(key.clone(), lines);
                members.insert(key, value);
            }
        }
    }

    /// The parser's words, and what is behind the errors that people make most.
    fn explain(&self, error: &ScanError, text: &str) -> YamlError {
        let line = error.marker().line();
        let tab =
            text.lines().nth(line.saturating_sub(1)).is_some_and(|line| line.trim_start_matches(' ').starts_with('\t'));
        let hint = if tab {
            "; the line is indented by a tab, which YAML does not allow"
        } else if error.info().contains("mapping values are not allowed") {
            "; a text with a colon and a blank in it needs quotes"
        } else {
            ""
        };
        YamlError { line, problem: format!("{}{hint}", error.info()) }
    }
}

/// A value that stands alone, by the core schema (YAML 1.2.2, 10.3.2).
fn plain(text: &str, style: ScalarStyle) -> Result<Value, String> {
    if style != ScalarStyle::Plain {
        return Ok(Value::String(text.to_owned()));
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null),
        "true" | "True" | "TRUE" => return Ok(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Ok(Value::Bool(false)),
        _ => {}
    }
    let unsigned = text.trim_start_matches(['+', '-']);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN") {
        return Err(format!("{text} is no number that JSON has"));
    }
    Ok(number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number))
}

fn number(text: &str) -> Option<Number> {
    let radix = |digits: &str, radix| u64::from_str_radix(digits, radix).ok().map(Number::from);
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    if let Ok(whole) = text.parse::<i64>() {
        return Some(whole.into());
    }
    if let Ok(whole) = text.parse::<u64>() {
        return Some(whole.into());
    }
    // Rust reads `inf` and `nan` too; those are words here.
    let digits = text.bytes().any(|byte| byte.is_ascii_digit());
    text.parse::<f64>().ok().filter(|_| digits).and_then(Number::from_f64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn value(text: &str) -> Value {
        parse(text).expect(text).0
    }

    fn problem(text: &str) -> (usize, String) {
        let error = parse(text).expect_err(text);
        (error.line, error.problem)
    }

    #[test]
    fn values_are_those_of_the_core_schema() {
        let text = "a: 1\nb: -2.5\nc: 1e3\nd: 0x1f\ne: 0o17\nf: yes\ng: true\nh: ~\ni:\nj: '12'\nk: \"tr\\u00fcb\"\n\
                    l: v1.0.0\nm: 560001\nn: 12:30\no: 2026-01-01\np: 18446744073709551615\nq: 1_000\nr: [x, 2, {y: z}]\n\
                    s: |\n  two\n  lines\nt: >-\n  one\n  line\nu: inf\nv: .5\n";
        let expected = json!({
            "a": 1, "b": -2.5, "c": 1000.0, "d": 31, "e": 15, "f": "yes", "g": true, "h": null, "i": null, "j": "12",
            "k": "trüb", "l": "v1.0.0", "m": 560_001, "n": "12:30", "o": "2026-01-01", "p": u64::MAX, "q": "1_000",
            "r": ["x", 2, {"y": "z"}], "s": "two\nlines\n", "t": "one line", "u": "inf", "v": 0.5
        });
        assert_eq!(value(text), expected);
        assert_eq!(value(""), Value::Null);
        assert_eq!(value("# nothing\n"), Value::Null);
        assert_eq!(value("--- [1]\n...\n"), json!([1]));
    }

    #[test]
    fn json_is_read_as_it_is() {
        let text = "{\"a\": [1, 2.5, null, true],\n \"b\\\"c\": {\"d/e\": \"f\\ng\"}\n}\n";
        let (value, lines) = parse(text).expect("JSON is YAML");
        assert_eq!(value, serde_json::from_str::<Value>(text).expect("JSON"));
        assert_eq!((lines.of("/a/3"), lines.of("/b\"c/d~1e")), (1, 2));
    }

    #[test]
    fn each_value_has_its_line() {
        let text = "# head\nbusiness:\n  name: x\nintents:\n  - intent: a.b\n    pricing:\n      min: 1\n\n  -\n    intent: c.d\n";
        let lines = parse(text).expect("YAML").1;
        for (pointer, line) in [
            ("", 2),
            ("/business", 2),
            ("/business/name", 3),
            ("/intents", 4),
            ("/intents/0", 5),
            ("/intents/0/intent", 5),
            ("/intents/0/pricing", 6),
            ("/intents/0/pricing/min", 7),
            ("/intents/0/pricing/max", 6),
            ("/intents/1", 10),
            ("/intents/1/domain", 10),
            ("/elsewhere/0", 2),
        ] {
            assert_eq!(lines.of(pointer), line, "{pointer}");
        }
    }

    #[test]
    fn what_a_manifest_does_not_need_is_refused() {
        for (text, line, words) in [
            ("a: &x 1\nb: 2\n", 1, "anchor"),
            ("a: &x [1]\n", 1, "anchor"),
            ("a:\n  &x b: 1\n", 2, "anchor"),
            ("a: !!str 1\n", 1, "tag"),
            ("a: !Thing {b: 1}\n", 1, "tag"),
            ("a: 1\nb: 2\na: 3\n", 3, "second time"),
            ("? [a]\n: 1\n", 1, "key must be a text"),
            ("a: 1\n---\nb: 2\n", 2, "second document"),
            ("a: .inf\n", 1, "no number"),
            ("a: -.INF\n", 1, "no number"),
            ("a: .nan\n", 1, "no number"),
        ] {
            let (found, problem) = problem(text);
            assert_eq!(found, line, "{text}: {problem}");
            assert!(problem.contains(words), "{text}: {problem}");
        }
        // An alias without its anchor is the parser's own to refuse.
        assert!(parse("a: *x\n").is_err());
        assert!(parse("a: [1\n").is_err());
        assert!(parse("a: 'x\n").is_err());
    }

    #[test]
    fn a_tab_is_named_as_what_is_wrong() {
        let (line, problem) = problem("a:\n\tb: 1\n");
        assert_eq!(line, 2, "{problem}");
        assert!(problem.contains("by a tab"), "{problem}");
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(parse(&nested(PAYLOAD_MAX_DEPTH)).is_ok());
        assert!(problem(&nested(PAYLOAD_MAX_DEPTH + 1)).1.contains("nest"));
        assert!(parse(&"- ".repeat(100_000)).is_err());
    }
}
