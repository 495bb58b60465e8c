//! The exact walk through an answer that may have flaws.

use std::borrow::Cow;
use std::collections::HashSet;

use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::findings::cut;
use intent_gateway_domain::forbidden::{FORBIDDEN_FIELD, ForbiddenFields, Kind, Rule};
use intent_gateway_domain::limits::{
    ANSWER_NAME_MAX_CHARS, ANSWER_TEXT_MAX_CHARS, FLAWS_REPORTED_MAX, PAYLOAD_MAX_DEPTH,
};
use intent_gateway_domain::pointer::child;
use intent_gateway_domain::violations::longer_than;
use serde::de::IgnoredAny;

use super::inspect::{inspect, number_end};
use super::text::{Text, TextFlaw, json_in, number_flaw};
use super::{DUPLICATE_MEMBER, Flaws, Scanned, TOO_LONG};

/// How often JSON in a string of JSON is looked into.
const NESTED_TEXTS_MAX: u8 = 3;

/// Finds every flaw of a text that is valid JSON and nests no deeper than an answer may. It recurses as deep as that.
pub(super) fn walk(json: &str, options_key: Option<&str>, fields: &ForbiddenFields<'_>) -> Scanned {
    walk_nested(json, options_key, fields, NESTED_TEXTS_MAX)
}

fn walk_nested(json: &str, options_key: Option<&str>, fields: &ForbiddenFields<'_>, nested_max: u8) -> Scanned {
    let mut walk =
        Walk { json, at: 0, fields, options_key, nested_max, path: Vec::new(), found: Scanned::default(), count: 0 };
    walk.value();
    walk.found
}

enum Step<'t> {
    Name(Cow<'t, str>),
    Index(usize),
}

/// One of the two lists of [`Flaws`].
type List = fn(&mut Flaws) -> &mut Vec<Violation>;

const FORBIDDEN: List = |flaws| &mut flaws.forbidden;
const MALFORMED: List = |flaws| &mut flaws.malformed;

struct Walk<'t, 'f> {
    json: &'t str,
    /// Position of the next byte.
    at: usize,
    fields: &'f ForbiddenFields<'f>,
    options_key: Option<&'f str>,
    nested_max: u8,
    path: Vec<Step<'t>>,
    found: Scanned,
    /// How many are listed.
    count: usize,
}

impl<'t> Walk<'t, '_> {
    /// Goes through the next value. What is not valid JSON is passed over in some way that ends.
    fn value(&mut self) -> Kind {
        match self.peek() {
            b'{' => self.object(),
            b'[' => self.array(),
            b'"' => {
                let text = self.string();
                self.judge_text(&text);
                return if text.content.is_empty() { Kind::EmptyString } else { Kind::Other };
            }
            b'-' | b'0'..=b'9' => {
                let (end, _) = number_end(self.json.as_bytes(), self.at + 1);
                let flaw = number_flaw(&self.json[self.at..end]);
                self.at = end;
                if let Some((code, message)) = flaw {
                    self.note(MALFORMED, code, message);
                }
            }
            b'f' => {
                self.at += "false".len();
                return Kind::False;
            }
            b'n' => {
                self.at += "null".len();
                return Kind::Null;
            }
            b't' => self.at += "true".len(),
            _ => self.at += 1,
        }
        Kind::Other
    }

    fn object(&mut self) {
        self.at += 1;
        let mut names = HashSet::new();
        while self.peek() == b'"' {
            let Text { content: name, flaw } = self.string();
            self.pass(b':');
            self.path.push(Step::Name(name.clone()));
            self.judge_name(&name, flaw);
            let kind = self.value();
            if let Some(rule) = self.fields.broken_by(&name, kind) {
                let message = describe(rule, &name);
                self.note(FORBIDDEN, FORBIDDEN_FIELD, message);
            }
            if !names.insert(name) {
                self.note(
                    MALFORMED,
                    DUPLICATE_MEMBER,
                    "an object has one member of a name; this is another".to_owned(),
                );
            }
            self.path.pop();
            self.pass(b',');
        }
        self.pass(b'}');
    }

    fn array(&mut self) {
        self.at += 1;
        let mut index = 0;
        while !matches!(self.peek(), b']' | 0) {
            self.path.push(Step::Index(index));
            self.value();
            self.path.pop();
            self.pass(b',');
            index += 1;
        }
        self.pass(b']');
    }

    /// Reads the string whose quote is next.
    fn string(&mut self) -> Text<'t> {
        let from = self.at + 1;
        let bytes = self.json.as_bytes();
        let mut at = from;
        while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
            at += found;
            if bytes[at] == b'"' {
                break;
            }
            at += 2;
        }
        let end = at.min(bytes.len());
        self.at = end + 1;
        Text::read(self.json.get(from..end).unwrap_or_default())
    }

    fn judge_name(&mut self, name: &str, flaw: Option<TextFlaw>) {
        if let Some(flaw) = flaw {
            self.note(MALFORMED, flaw.code(), format!("the name {}", flaw.describe()));
        }
        if longer_than(name, ANSWER_NAME_MAX_CHARS) {
            let message = format!("the name of a member has at most {ANSWER_NAME_MAX_CHARS} characters");
            self.note(MALFORMED, TOO_LONG, message);
        }
    }

    fn judge_text(&mut self, Text { content, flaw }: &Text<'_>) {
        if let Some(flaw) = flaw {
            self.note(MALFORMED, flaw.code(), flaw.describe());
        }
        if longer_than(content, ANSWER_TEXT_MAX_CHARS) {
            self.note(MALFORMED, TOO_LONG, format!("a text has at most {ANSWER_TEXT_MAX_CHARS} characters"));
        }
        if let Some(nested) = self.look_into(content) {
            let message = format!("the text is JSON, and there {}", nested.message);
            self.note(FORBIDDEN, FORBIDDEN_FIELD, message);
        }
    }

    /// The first forbidden field in a text that is JSON itself.
    fn look_into(&self, text: &str) -> Option<Violation> {
        let (nested_max, json) = (self.nested_max.checked_sub(1)?, json_in(text)?);
        serde_json::from_str::<IgnoredAny>(json).ok()?;
        let structure = inspect(json, self.fields);
        if structure.depth > PAYLOAD_MAX_DEPTH || !structure.is_suspect {
            return None;
        }
        walk_nested(json, None, self.fields, nested_max).outside.forbidden.into_iter().next()
    }

    /// Takes down a flaw at the place where the walk is.
    fn note(&mut self, list: List, code: &str, message: String) {
        let (option, own) = self.locate();
        let flaws = match option {
            Some(position) => self.found.options.entry(position).or_default(),
            None => &mut self.found.outside,
        };
        let listed = list(flaws);
        // The first flaw of each option always counts; beyond the bound the rest would only repeat it.
        if listed.is_empty() || self.count < FLAWS_REPORTED_MAX {
            listed.push(Violation { pointer: pointer(&self.path[own..]), code: code.to_owned(), message });
            self.count += 1;
        }
    }

    /// The option that the path leads into, and how many steps lead to it.
    fn locate(&self) -> (Option<usize>, usize) {
        match (self.options_key, self.path.as_slice()) {
            (Some(_), [Step::Index(position), ..]) => (Some(*position), 1),
            (Some(options), [Step::Name(name), Step::Index(position), ..]) if name == options => (Some(*position), 2),
            _ => (None, 0),
        }
    }

    /// The next byte that is no blank; 0 at the end.
    fn peek(&mut self) -> u8 {
        let bytes = self.json.as_bytes();
        while matches!(bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        bytes.get(self.at).copied().unwrap_or(0)
    }

    /// Goes on behind a sign, where it is next.
    fn pass(&mut self, sign: u8) {
        self.at += usize::from(self.peek() == sign);
    }
}

fn describe(rule: &Rule<'_>, name: &str) -> String {
    let listed = rule.name;
    let disguised = if name == listed { "" } else { ", however it is written" };
    format!("`{listed}` must not appear in an answer{disguised}: {}", rule.reason)
}

/// Renders a JSON Pointer (RFC 6901). Names that are themselves a flaw are shortened and on one line.
fn pointer(path: &[Step<'_>]) -> String {
    let mut text = String::new();
    for step in path {
        text = match step {
            Step::Name(name) => child(&text, &cut(name, ANSWER_NAME_MAX_CHARS)),
            Step::Index(index) => format!("{text}/{index}"),
        };
    }
    text
}
