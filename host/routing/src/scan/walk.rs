//! The exact walk through an answer that may have flaws.

use std::borrow::Cow;
use std::collections::HashSet;

use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::findings::cut;
use intent_gateway_domain::forbidden::{FORBIDDEN_FIELD, ForbiddenFields, Kind, Rule};
use intent_gateway_domain::limits::{ANSWER_NAME_MAX_CHARS, ANSWER_TEXT_MAX_CHARS, FLAWS_REPORTED_MAX};
use intent_gateway_domain::pointer::child;
use intent_gateway_domain::violations::longer_than;

use super::quick::{kind_of, trim_start};
use super::text::{Text, TextFlaw, json_in, number_flaw, string_end};
use super::{DUPLICATE_MEMBER, Flaws, Scanned, TOO_LONG};

/// Finds every flaw of a text that is valid JSON and nests no deeper than an answer may. It recurses as deep as that.
pub(super) fn walk(json: &str, options_key: Option<&str>, fields: &ForbiddenFields<'_>) -> Scanned {
    let mut walk = Walk { json, at: 0, fields, options_key, path: Vec::new(), found: Scanned::default(), count: 0 };
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
                let end = number_end(self.json.as_bytes(), self.at + 1);
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
        let end = string_end(self.json.as_bytes(), from);
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
        self.look_into(name);
    }

    fn judge_text(&mut self, Text { content, flaw }: &Text<'_>) {
        if let Some(flaw) = flaw {
            self.note(MALFORMED, flaw.code(), flaw.describe());
        }
        if longer_than(content, ANSWER_TEXT_MAX_CHARS) {
            self.note(MALFORMED, TOO_LONG, format!("a text has at most {ANSWER_TEXT_MAX_CHARS} characters"));
        }
        self.look_into(content);
    }

    fn look_into(&mut self, text: &str) {
        if let Some(found) = forbidden_in(text, self.fields) {
            self.note(FORBIDDEN, FORBIDDEN_FIELD, format!("the text is JSON, and there {found}"));
        }
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

    /// The next byte that is not a blank; 0 at the end.
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

/// What is said of the first forbidden field in a text that begins as JSON does, or in texts of JSON within that. Brackets are not
/// looked at: what nests too deep, breaks off or goes on behind its end is read by somebody all the same. It ends, since
/// quotes in quotes take twice the room: a text of a megabyte holds twenty levels.
fn forbidden_in(text: &str, fields: &ForbiddenFields<'_>) -> Option<String> {
    let json = json_in(text)?;
    let bytes = json.as_bytes();
    let mut at = 0;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr(b'"', rest)) {
        let from = at + found + 1;
        let end = string_end(bytes, from);
        let Text { content, .. } = Text::read(json.get(from..end).unwrap_or_default());
        if let Some(value) = value_after(bytes, end + 1)
            && let Some(rule) = fields.broken_by(&content, kind_of(value))
        {
            return Some(describe(rule, &content));
        }
        if let Some(found) = forbidden_in(&content, fields) {
            return Some(found);
        }
        at = end + 1;
    }
    None
}

/// Where the number ends whose first character stands before `from`.
fn number_end(bytes: &[u8], from: usize) -> usize {
    let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'+' | b'-' | b'e' | b'E');
    bytes[from..].iter().position(|byte| !is_part(byte)).map_or(bytes.len(), |length| from + length)
}

/// What follows the text that ended before, if it is a member's name: the value, from its first byte on.
fn value_after(bytes: &[u8], at: usize) -> Option<&[u8]> {
    Some(trim_start(trim_start(bytes.get(at..)?).strip_prefix(b":")?))
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
