//! Building the cases that the host runs before a version goes live.
//!
//! ```
//! use contract_sdk::example;
//! let case = example::classify("cold air", "my car's AC blows warm air").accepts();
//! let other = example::request("no window", "search_slots", "{}").refuses(&["REQUIRED"]);
//! # assert!(case.expect.accepted && !other.expect.accepted);
//! ```

use crate::bindings::{
    AnsweredCall, Axes, Candidate, CompletionExample, Example, ExampleCall, Exchange, Expectation, OrderView,
    PastOrder, Payload, RequestExample, SearchExample, Subject,
};
use serde_json::Value;

/// The context of every example: its request identifier.
pub const REQUEST_ID: &str = "example";
/// The context of every example: its time, 2026-01-01T00:00:00Z in milliseconds.
pub const NOW_MS: u64 = 1_767_225_600_000;

/// What a manifest that declares nothing counts as (spec 1, `ttbs_signals`).
pub const UNDECLARED: Axes = Axes { time: 0.5, taste: 0.5, budget: 0.5, safety: 0.5 };

/// A document of the contract's folder `samples`, by its name without `.json`: its text.
///
/// For examples and tests, wherever in the crate they are.
#[macro_export]
macro_rules! sample_text {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/", $name, ".json"))
    };
}

/// As [`sample_text!`], read as a JSON value.
#[macro_export]
macro_rules! sample {
    ($name:literal) => {
        $crate::example::parse($crate::sample_text!($name))
    };
}

/// A document as a value.
///
/// # Panics
/// When it is no JSON; the tests of the contract run its examples.
pub fn parse(document: &str) -> Value {
    match serde_json::from_str(document) {
        Ok(value) => value,
        Err(_) => panic!("a sample is no JSON"),
    }
}

/// The document with other values in some places, each named by a JSON Pointer.
///
/// # Panics
/// When it has no such place: a case that changes nothing would show nothing.
pub fn with(mut document: Value, changes: &[(&str, Value)]) -> Value {
    for (pointer, value) in changes {
        match document.pointer_mut(pointer) {
            Some(place) => *place = value.clone(),
            None => panic!("the document has no {pointer}"),
        }
    }
    document
}

/// A case whose outcome is still to be said.
pub struct Case {
    name: &'static str,
    call: ExampleCall,
}

impl Case {
    /// It is about this option.
    pub fn quoting(mut self, option: impl Into<String>) -> Self {
        self.about().quoted = Some(option.into());
        self
    }

    /// It belongs to this order.
    pub fn in_order(mut self, order: OrderView) -> Self {
        self.about().order = Some(order);
        self
    }

    /// It is a search of a user with these past orders, the one that was opened last first.
    pub fn after(mut self, history: impl IntoIterator<Item = PastOrder>) -> Self {
        match &mut self.call {
            ExampleCall::Evaluate(search) => search.history = history.into_iter().collect(),
            _ => panic!("{:?} is no search", self.name),
        }
        self
    }

    fn about(&mut self) -> &mut Subject {
        match &mut self.call {
            ExampleCall::CheckRequest(RequestExample { about, .. })
            | ExampleCall::CheckResponse(Exchange { about, .. })
            | ExampleCall::CheckCompletion(CompletionExample { about, .. }) => about,
            ExampleCall::Classify(_) | ExampleCall::Evaluate(_) => {
                panic!("{:?} is about no option and no order", self.name)
            }
        }
    }

    /// It passes.
    pub fn accepts(self) -> Example {
        self.expect(true, &[], &[])
    }

    /// It passes, with these codes among the drops and findings.
    pub fn accepts_with(self, codes: &[&str]) -> Example {
        self.expect(true, codes, &[])
    }

    /// It is refused, with these codes among the violations.
    pub fn refuses(self, codes: &[&str]) -> Example {
        self.expect(false, codes, &[])
    }

    /// It passes and ranks these identifiers in this order, with these codes among the drops and findings.
    pub fn ranks(self, order: &[&str], codes: &[&str]) -> Example {
        self.expect(true, codes, order)
    }

    fn expect(self, accepted: bool, codes: &[&str], order: &[&str]) -> Example {
        let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        Example {
            name: self.name.to_owned(),
            call: self.call,
            expect: Expectation { accepted, codes: owned(codes), order: owned(order) },
        }
    }
}

/// An order in this state, opened when examples run, that keeps the members of a JSON object. Answered calls are a tool
/// and a time in milliseconds since the Unix epoch.
pub fn order(state: &str, kept: impl Into<String>, answered: &[(&str, u64)]) -> OrderView {
    let answered = answered.iter().map(|(tool, at_ms)| AnsweredCall { tool: (*tool).to_owned(), at_ms: *at_ms });
    OrderView { state: state.to_owned(), opened_at_ms: NOW_MS, kept: kept.into(), answered: answered.collect() }
}

/// An order that a report of this status closed when examples run, with the members of a JSON object as its attributes.
pub fn past_order(status: &str, attributes: impl Into<String>) -> PastOrder {
    PastOrder { status: status.to_owned(), closed_at_ms: NOW_MS, attributes: attributes.into() }
}

/// What a call is about that belongs to no order.
pub fn quote(quoted: Option<String>) -> Subject {
    Subject { quoted, order: None }
}

/// An utterance.
pub fn classify(name: &'static str, utterance: &str) -> Case {
    Case { name, call: ExampleCall::Classify(utterance.to_owned()) }
}

/// Arguments of a tool.
pub fn request(name: &'static str, tool: &str, arguments: impl Into<String>) -> Case {
    let call = RequestExample { tool: tool.to_owned(), arguments: arguments.into(), about: quote(None) };
    Case { name, call: ExampleCall::CheckRequest(call) }
}

/// A search whose options all come from one source that declares nothing; they are numbered from 0.
pub fn search(name: &'static str, request: impl Into<String>, options: impl IntoIterator<Item = String>) -> Case {
    let numbered = options.into_iter().zip(0..).map(|(json, number)| Candidate { number, json });
    let payload = Payload { declared: UNDECLARED, candidates: numbered.collect() };
    let call = SearchExample { request: request.into(), payloads: vec![payload], history: Vec::new() };
    Case { name, call: ExampleCall::Evaluate(call) }
}

/// A call of a tool that is not a search, with its answer.
pub fn exchange(
    name: &'static str,
    tool: &str,
    arguments: impl Into<String>,
    payload: impl Into<String>,
    quoted: Option<String>,
) -> Case {
    let (arguments, payload) = (arguments.into(), payload.into());
    let call = Exchange { tool: tool.to_owned(), arguments, payload, about: quote(quoted) };
    Case { name, call: ExampleCall::CheckResponse(call) }
}

/// A completion report.
pub fn completion(name: &'static str, report: impl Into<String>, quoted: Option<String>) -> Case {
    let call = CompletionExample { report: report.into(), about: quote(quoted) };
    Case { name, call: ExampleCall::CheckCompletion(call) }
}

#[cfg(test)]
mod tests {
    use super::with;
    use serde_json::json;

    #[test]
    fn values_are_replaced_where_they_are() {
        let document = json!({"a": [{"b": 1}], "c": null});
        assert_eq!(with(document, &[("/a/0/b", json!(2)), ("/c", json!("d"))]), json!({"a": [{"b": 2}], "c": "d"}));
    }

    #[test]
    #[should_panic(expected = "the document has no /a/b")]
    fn a_place_that_is_not_there_is_told() {
        with(json!({"a": {}}), &[("/a/b", json!(2))]);
    }
}
