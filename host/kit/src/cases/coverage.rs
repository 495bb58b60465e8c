//! Which part of a contract's own schemas no case breaks.
//!
//! Every member of every request, answer and report has to have a case in which it is absent, one in which it
//! has a wrong type, and one on the wrong side of each bound that its schema states, and every value of a vocabulary
//! has a case in which it passes. Every rule that the contract states has a case that breaks it, and every code of a
//! case is stated. So a rule of the shape that
//! a later change loses is noticed by a case, and a case that was never written by this.

use std::collections::{BTreeMap, BTreeSet};

use intent_gateway_domain::contract::{Consequence, Descriptor, Judged};
use intent_gateway_domain::pointer::child;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Suite;
use super::document::Documents;
use super::format::{Call, CaseFile, Found};

/// Codes of the shapes, which no contract states: the schemas do.
const CODES_OF_SHAPES: [&str; 18] = [
    "REQUIRED",
    "WRONG_TYPE",
    "OUT_OF_RANGE",
    "NOT_IN_VOCABULARY",
    "BAD_FORMAT",
    "EMPTY",
    "TOO_SHORT",
    "TOO_LONG",
    "WRONG_LENGTH",
    "TOO_FEW_ITEMS",
    "TOO_MANY_ITEMS",
    "DUPLICATE_KEY",
    "INVALID_JSON",
    "UNEXPECTED_VALUE",
    "DUPLICATE_OPTION",
    "UNKNOWN_TOOL",
    "UNKNOWN_BAND",
    "QUOTE_UNREADABLE",
];

/// A demand that no case meets.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Gap {
    /// The document: the call, and the tool where there are several.
    pub document: String,
    /// The place, `*` for any entry of an array.
    pub place: String,
    /// What no case shows.
    pub missing: String,
}

/// Everything in the descriptor's schemas that no case of the suite breaks.
#[must_use]
pub fn gaps(descriptor: &Descriptor, suite: &Suite) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let search = descriptor.search.tool.as_str();
    let mut examine = |call, tool: &str, schema: &RawValue| {
        let covered = Covered::by(suite, call, tool, search);
        let mut walk = Walk { document: document_name(call, tool), covered: &covered, gaps: &mut gaps };
        match serde_json::from_str::<Value>(schema.get()) {
            Ok(schema) => walk.members("", &schema),
            Err(error) => walk.gap("", format!("a schema that can be read ({error})")),
        }
    };
    for tool in &descriptor.tools {
        examine(Call::CheckRequest, &tool.name, &tool.request_schema);
        let call = if tool.name == search { Call::Evaluate } else { Call::CheckResponse };
        examine(call, &tool.name, &tool.response_schema);
    }
    examine(Call::CheckCompletion, search, &descriptor.completion.schema);
    gaps.extend(rules(descriptor, suite));
    gaps
}

/// A rule without its words: document, code and outcome.
type RuleKey<'a> = (Judged, &'a str, Consequence);

/// Rules that are stated and that no case breaks, and codes of cases that no rule states.
fn rules(descriptor: &Descriptor, suite: &Suite) -> Vec<Gap> {
    let broken: BTreeSet<RuleKey<'_>> = suite.files.iter().flat_map(|(_, file, _)| breaches(file)).collect();
    let stated: BTreeSet<RuleKey<'_>> =
        descriptor.rules.iter().map(|rule| (rule.judged, rule.code.as_str(), rule.consequence)).collect();
    let gap = |(judged, code, outcome): &RuleKey<'_>, missing: &str| Gap {
        document: format!("rules on the {judged:?}").to_lowercase(),
        place: (*code).to_owned(),
        missing: format!("{missing} ({})", format!("{outcome:?}").to_lowercase()),
    };
    let untried = stated.difference(&broken).map(|rule| gap(rule, "a case that breaks it"));
    let unstated = broken.difference(&stated).filter(|(_, code, _)| !CODES_OF_SHAPES.contains(code));
    untried.chain(unstated.map(|rule| gap(rule, "stated as a rule"))).collect()
}

/// Document, code and outcome of everything that the cases of a file break.
fn breaches<'f>(file: &'f CaseFile) -> Vec<RuleKey<'f>> {
    let (judged, refused) = match file.call {
        Call::CheckRequest => (Judged::Request, Consequence::Refused),
        Call::Evaluate => (Judged::Option, Consequence::Dropped),
        Call::CheckResponse => (Judged::Answer, Consequence::Refused),
        Call::CheckCompletion => (Judged::Report, Consequence::Refused),
        Call::Classify => return Vec::new(),
    };
    let named = |code: &'f String, outcome| (judged, code.as_str(), outcome);
    let mut found: Vec<RuleKey<'_>> =
        file.fields.values().flat_map(|row| row.refused.keys()).map(|code| named(code, refused)).collect();
    for rule in &file.rules {
        // An option with a strike may break other rules as well; which of them earned it, a case does not say.
        let alone = rule.refused.len() == 1;
        let refused = if rule.strike && alone { Consequence::Strike } else { refused };
        let codes = rule.refused.iter().filter(|_| alone || !rule.strike).map(|(_, code)| named(code, refused));
        found.extend(codes);
        found.extend(rule.findings.iter().map(|(_, code)| named(code, Consequence::Finding)));
        found.extend(rule.strikes.iter().map(|(_, code)| named(code, Consequence::Strike)));
        found.extend(rule.notes.iter().map(|(_, code)| named(code, Consequence::Note)));
    }
    found
}

fn document_name(call: Call, tool: &str) -> String {
    match call {
        Call::CheckRequest => format!("arguments of {tool}"),
        Call::Evaluate => format!("an option of {tool}"),
        Call::CheckResponse => format!("the answer of {tool}"),
        Call::CheckCompletion => "the completion report".to_owned(),
        Call::Classify => "an utterance".to_owned(),
    }
}

/// What the cases on one document try.
#[derive(Default)]
struct Covered {
    /// Codes by place; `absent:` and a code for the place without its value.
    tried: BTreeMap<String, BTreeSet<String>>,
    /// Values refused as out of range, by place.
    out_of_range: BTreeMap<String, Vec<f64>>,
    /// Places whose `null` is accepted or refused by a rule.
    null: BTreeSet<String>,
    /// Texts that pass, by place.
    accepted: BTreeMap<String, BTreeSet<String>>,
}

impl Covered {
    fn by(suite: &Suite, call: Call, tool: &str, search: &str) -> Self {
        let mut covered = Self::default();
        for (_, file, documents) in &suite.files {
            let tool_of_file = file.tool.as_deref().unwrap_or(search);
            if file.call == call && (tool_of_file == tool || call == Call::CheckCompletion) {
                covered.add(file, documents);
            }
        }
        covered
    }

    fn add(&mut self, file: &CaseFile, documents: &Documents) {
        self.accept("", &documents.sample);
        for (pointer, row) in &file.fields {
            let place = any_entry(pointer);
            if let Some(absent) = &row.absent {
                self.tried.entry(place.clone()).or_default().insert(format!("absent:{absent}"));
            }
            for (code, values) in row.refused.iter().filter(|(_, values)| !values.is_empty()) {
                self.tried.entry(place.clone()).or_default().insert(code.clone());
                if code == "OUT_OF_RANGE" {
                    let numbers = values.iter().filter_map(Value::as_f64);
                    self.out_of_range.entry(place.clone()).or_default().extend(numbers);
                }
            }
            for value in &row.accepted {
                self.accept(&place, value);
            }
            let mut values = row.accepted.iter().chain(row.refused.values().flatten());
            if values.any(Value::is_null) {
                self.null.insert(place);
            }
        }
        for rule in &file.rules {
            for (pointer, code) in &rule.refused {
                self.rule((pointer.clone(), code.clone()), &rule.set, &rule.remove);
            }
            if rule.refused.is_empty() {
                for (pointer, value) in &rule.set {
                    self.accept(&any_entry(pointer), value);
                }
            }
            let nulls = rule.set.iter().filter(|(_, value)| value.is_null());
            self.null.extend(nulls.map(|(pointer, _)| any_entry(pointer)));
        }
    }

    /// Notes every text of a value that passes, under its own place.
    fn accept(&mut self, place: &str, value: &Value) {
        match value {
            Value::String(text) => {
                self.accepted.entry(place.to_owned()).or_default().insert(text.clone());
            }
            Value::Array(entries) => {
                for entry in entries {
                    self.accept(&format!("{place}/*"), entry);
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    self.accept(&child(place, name), member);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// A rule breaks the place that it is refused at, by what it sets there or takes away.
    fn rule(&mut self, (pointer, code): Found, set: &BTreeMap<String, Value>, removed: &[String]) {
        let tried = self.tried.entry(any_entry(&pointer)).or_default();
        if removed.contains(&pointer) {
            tried.insert(format!("absent:{code}"));
            return;
        }
        tried.insert(code.clone());
        if let Some(number) = set.get(&pointer).and_then(Value::as_f64).filter(|_| code == "OUT_OF_RANGE") {
            self.out_of_range.entry(any_entry(&pointer)).or_default().push(number);
        }
    }

    fn has(&self, place: &str, codes: &[&str]) -> bool {
        self.tried.get(place).is_some_and(|tried| codes.iter().any(|code| tried.contains(*code)))
    }

    fn has_out_of_range(&self, place: &str, wrong: impl Fn(f64) -> bool) -> bool {
        self.out_of_range.get(place).is_some_and(|numbers| numbers.iter().any(|number| wrong(*number)))
    }
}

/// The pointer with `*` for the index of an array.
fn any_entry(pointer: &str) -> String {
    let is_index = |step: &str| !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit());
    let steps = pointer.split('/').map(|step| if is_index(step) { "*" } else { step });
    steps.collect::<Vec<_>>().join("/")
}

/// A walk over one schema.
struct Walk<'a> {
    document: String,
    covered: &'a Covered,
    gaps: &'a mut Vec<Gap>,
}

impl Walk<'_> {
    fn gap(&mut self, place: &str, missing: impl Into<String>) {
        let (document, place) = (self.document.clone(), place.to_owned());
        self.gaps.push(Gap { document, place, missing: missing.into() });
    }

    fn demand(&mut self, place: &str, codes: &[&str], missing: &str) {
        if !self.covered.has(place, codes) {
            self.gap(place, missing);
        }
    }

    /// The members of an object, and the entries of an array.
    fn members(&mut self, place: &str, schema: &Value) {
        if let Some(entry) = schema.get("items") {
            let place = format!("{place}/*");
            self.value(&place, entry);
            self.members(&place, entry);
        }
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, property) in properties {
            let place = child(place, name);
            let (absent, missing) = if required.contains(&name.as_str()) {
                (&["absent:REQUIRED"][..], "absent, refused as REQUIRED")
            } else {
                (&["absent:accepted"][..], "absent, accepted")
            };
            self.demand(&place, absent, missing);
            self.value(&place, property);
            self.members(&place, property);
        }
    }

    /// The bounds on one value.
    fn value(&mut self, place: &str, schema: &Value) {
        let has = |key: &str| schema.get(key).is_some();
        let kinds: Vec<&str> = match &schema["type"] {
            Value::String(kind) => vec![kind],
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        if !kinds.is_empty() {
            self.demand(place, &["WRONG_TYPE"], "a value of a wrong type");
        }
        if kinds.contains(&"null") && !self.covered.null.contains(place) {
            self.gap(place, "null");
        }
        if has("const") {
            self.demand(place, &["UNEXPECTED_VALUE"], "another value than the only one");
        }
        if has("enum") {
            self.demand(place, &["NOT_IN_VOCABULARY"], "a value outside the vocabulary");
            self.vocabulary(place, &schema["enum"]);
        }
        if has("format") || schema["pattern"].as_str().is_some_and(|pattern| pattern != "\\S") {
            self.demand(place, &["BAD_FORMAT"], "a value of a wrong format");
        } else if has("pattern") {
            self.demand(place, &["EMPTY", "WRONG_LENGTH"], "an empty text");
        }
        self.lengths(place, schema);
        self.range(place, schema);
    }

    /// Every value that the schema lists is accepted by some case: a list that the contract does not keep is noticed.
    fn vocabulary(&mut self, place: &str, values: &Value) {
        let none = BTreeSet::new();
        let accepted = self.covered.accepted.get(place).unwrap_or(&none);
        let values = values.as_array().into_iter().flatten().filter_map(Value::as_str);
        let missing: Vec<&str> = values.filter(|value| !accepted.contains(*value)).collect();
        if !missing.is_empty() {
            self.gap(place, format!("accepted: {}", missing.join(", ")));
        }
    }

    fn lengths(&mut self, place: &str, schema: &Value) {
        for (key, codes, missing) in [
            ("minLength", &["TOO_SHORT", "EMPTY", "WRONG_LENGTH"][..], "a text that is too short"),
            ("maxLength", &["TOO_LONG", "WRONG_LENGTH"], "a text that is too long"),
            ("minItems", &["TOO_FEW_ITEMS", "WRONG_LENGTH"], "too few entries"),
            ("maxItems", &["TOO_MANY_ITEMS", "WRONG_LENGTH"], "too many entries"),
        ] {
            let bounded = schema[key].as_u64().is_some_and(|bound| bound > 0 || key.starts_with("max"));
            if bounded {
                self.demand(place, codes, missing);
            }
        }
    }

    fn range(&mut self, place: &str, schema: &Value) {
        if let Some(least) = schema["minimum"].as_f64()
            && !self.covered.has_out_of_range(place, |number| number < least)
        {
            self.gap(place, format!("a number under {least}"));
        }
        if let Some(most) = schema["maximum"].as_f64()
            && !self.covered.has_out_of_range(place, |number| number > most)
        {
            self.gap(place, format!("a number over {most}"));
        }
    }
}
