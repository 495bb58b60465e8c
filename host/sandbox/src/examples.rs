//! The examples that a contract brings: a version that breaks its own word never goes live.

use std::fmt;
use std::time::Duration;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{
    About, CallContext, Candidate, Exchange, PastOrder, Payload, SearchSample, Subject, Violation,
};
use intent_gateway_domain::error::{ContractError, ContractFault};

use crate::bindings as wit;
use crate::contract::LoadedContract;
use crate::convert;
use crate::engine::Lane;
use crate::failure::LoadError;

/// Examples that are run of one contract.
const EXAMPLES_MAX: usize = 1_000;
/// Time for all examples of a contract, seconds.
const EXAMPLES_MAX_S: u64 = 60;
/// The context of every example, as the interface states it.
const REQUEST_ID: &str = "example";
/// 2026-01-01T00:00:00Z, milliseconds since the Unix epoch.
const NOW_MS: u64 = 1_767_225_600_000;
/// The language of utterances in examples.
const LOCALE: &str = "en-IN";
/// From this score on a contract claims an utterance.
const CLAIMED_FROM: f64 = 0.5;
/// Places that the message on an example names, of those where something was found.
const FOUND_TOLD_MAX: usize = 20;
/// The functions each of which needs an example.
const FUNCTIONS: [&str; 5] = ["classify", "check-request", "evaluate", "check-response", "check-completion"];

/// A case that a contract brings with it, for authors' tools.
pub struct Example {
    stated: wit::Example,
    about: Subject,
    history: Vec<PastOrder>,
}

/// What an example calls, with its arguments.
#[derive(Clone, Debug)]
pub enum ExampleCall<'a> {
    /// Judges an utterance.
    Classify(&'a str),
    /// Judges the arguments of a tool.
    CheckRequest {
        tool: &'a str,
        /// Its arguments, JSON text.
        arguments: &'a str,
        /// What the call is about.
        about: About<'a>,
    },
    /// Ranks the options of all answers.
    Evaluate {
        /// The request, JSON text.
        request: &'a str,
        /// The answers.
        payloads: Vec<Payload<'a>>,
        /// The user's past orders.
        history: &'a [PastOrder],
    },
    /// Judges the answer of a tool that is not a search.
    CheckResponse(Exchange<'a>),
    /// Judges a completion report.
    CheckCompletion {
        /// The report, JSON text.
        report: &'a str,
        /// What it is about.
        about: About<'a>,
    },
}

impl Example {
    /// Takes over what a contract states.
    ///
    /// # Errors
    /// [`LoadError::ExampleFailed`] where a past order's attributes are no JSON object.
    pub(crate) fn new(example: wit::Example) -> Result<Self, LoadError> {
        let about = match &example.call {
            wit::ExampleCall::CheckRequest(call) => convert::kept_subject(&call.about),
            wit::ExampleCall::CheckResponse(call) => convert::kept_subject(&call.about),
            wit::ExampleCall::CheckCompletion(call) => convert::kept_subject(&call.about),
            wit::ExampleCall::Classify(_) | wit::ExampleCall::Evaluate(_) => Subject::default(),
        };
        let history = match &example.call {
            wit::ExampleCall::Evaluate(call) => {
                convert::kept_history(&call.history).map_err(|error| LoadError::ExampleFailed {
                    name: example.name.clone(),
                    expected: "attributes of past orders that are JSON objects".to_owned(),
                    got: error.to_string(),
                })?
            }
            _ => Vec::new(),
        };
        Ok(Self { stated: example, about, history })
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.stated.name
    }

    /// Whether it is expected to pass.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        self.stated.expect.accepted
    }

    /// What it calls.
    #[must_use]
    pub fn call(&self) -> ExampleCall<'_> {
        let about = self.about.about();
        match &self.stated.call {
            wit::ExampleCall::Classify(utterance) => ExampleCall::Classify(utterance),
            wit::ExampleCall::CheckRequest(example) => {
                ExampleCall::CheckRequest { tool: &example.tool, arguments: &example.arguments, about }
            }
            wit::ExampleCall::Evaluate(example) => ExampleCall::Evaluate {
                request: &example.request,
                payloads: example.payloads.iter().map(payload).collect(),
                history: &self.history,
            },
            wit::ExampleCall::CheckResponse(example) => ExampleCall::CheckResponse(Exchange {
                tool: &example.tool,
                arguments: &example.arguments,
                payload: &example.payload,
                about,
            }),
            wit::ExampleCall::CheckCompletion(example) => {
                ExampleCall::CheckCompletion { report: &example.report, about }
            }
        }
    }

    /// Index of the function it calls.
    fn function(&self) -> usize {
        match self.stated.call {
            wit::ExampleCall::Classify(_) => 0,
            wit::ExampleCall::CheckRequest(_) => 1,
            wit::ExampleCall::Evaluate(_) => 2,
            wit::ExampleCall::CheckResponse(_) => 3,
            wit::ExampleCall::CheckCompletion(_) => 4,
        }
    }
}

impl fmt::Debug for Example {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Example").field("name", &self.stated.name).finish_non_exhaustive()
    }
}

/// Runs all examples, in their order.
pub(crate) async fn run(contract: &LoadedContract, examples: Vec<Example>) -> Result<(), LoadError> {
    if examples.len() > EXAMPLES_MAX {
        return Err(LoadError::TooManyExamples { count: examples.len(), max: EXAMPLES_MAX });
    }
    let covered = |function: usize| examples.iter().any(|example| example.function() == function);
    if let Some((_, missing)) = (0..).zip(FUNCTIONS).find(|(function, _)| !covered(*function)) {
        return Err(LoadError::ExampleMissing(missing));
    }
    let all = async {
        for example in &examples {
            one(contract, example).await?;
        }
        Ok(())
    };
    let limit = Duration::from_secs(EXAMPLES_MAX_S);
    tokio::time::timeout(limit, all).await.unwrap_or(Err(LoadError::ExamplesTooSlow(EXAMPLES_MAX_S)))
}

/// The first search of the examples of which every option passes, as far as the examples say.
pub(crate) fn sample(examples: &[wit::Example]) -> Option<SearchSample> {
    let search = |example: &wit::Example| match &example.call {
        wit::ExampleCall::Evaluate(search) if example.expect.accepted => {
            let options = search.payloads.iter().flat_map(|payload| &payload.candidates);
            let options: Vec<String> = options.map(|candidate| candidate.json.clone()).collect();
            let passed = !options.is_empty() && example.expect.order.len() == options.len();
            passed.then(|| SearchSample { request: search.request.clone(), options })
        }
        _ => None,
    };
    examples.iter().find_map(search)
}

/// Runs one example.
pub(crate) async fn one(contract: &LoadedContract, example: &Example) -> Result<(), LoadError> {
    let expected = &example.stated.expect;
    let failed = |got: String| LoadError::ExampleFailed {
        name: example.stated.name.clone(),
        expected: Wording { accepted: expected.accepted, codes: &expected.codes, order: &expected.order }.to_string(),
        got,
    };
    let outcome = outcome(contract, example.call()).await.map_err(|fault| failed(fault.explain()))?;
    let holds = outcome.accepted == expected.accepted
        && expected.codes.iter().all(|code| outcome.found.iter().any(|found| found.code == *code))
        && (expected.order.is_empty() || outcome.order == expected.order);
    if holds { Ok(()) } else { Err(failed(outcome.to_string())) }
}

/// What came out of an example, in the terms of its expectation.
#[derive(Default)]
struct ExampleOutcome {
    accepted: bool,
    found: Vec<Found>,
    order: Vec<String>,
}

/// A code, and the place in the document that it was found at; none for codes of the whole.
struct Found {
    code: String,
    pointer: Option<String>,
}

impl Found {
    fn whole(code: String) -> Self {
        Self { code, pointer: None }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pointer.as_deref() {
            None | Some("") => f.write_str(&self.code),
            Some(pointer) => write!(f, "{} at {pointer}", self.code),
        }
    }
}

impl ExampleOutcome {
    fn passed<'a>(findings: impl IntoIterator<Item = &'a Violation>) -> Self {
        Self { accepted: true, found: list_found(findings), order: Vec::new() }
    }

    /// A refusal is an outcome; a fault is not.
    fn of(outcome: Result<Self, ContractError>) -> Result<Self, ContractFault> {
        match outcome {
            Ok(outcome) => Ok(outcome),
            Err(ContractError::Fault(fault)) => Err(fault),
            Err(ContractError::Refused(refusal)) => {
                let mut found = list_found(&refusal.violations);
                found.push(Found::whole(refusal.code));
                Ok(Self { accepted: false, found, order: Vec::new() })
            }
        }
    }
}

fn list_found<'a>(violations: impl IntoIterator<Item = &'a Violation>) -> Vec<Found> {
    let found =
        |violation: &Violation| Found { code: violation.code.clone(), pointer: Some(violation.pointer.clone()) };
    violations.into_iter().map(found).collect()
}

async fn outcome(contract: &LoadedContract, call: ExampleCall<'_>) -> Result<ExampleOutcome, ContractFault> {
    let lane = Lane::Loading;
    let context = CallContext { request_id: REQUEST_ID.to_owned(), now: Timestamp::from_ms(NOW_MS) };
    match call {
        ExampleCall::Classify(utterance) => {
            let classification = contract.classify_in(lane, utterance, LOCALE).await?;
            Ok(ExampleOutcome { accepted: classification.score >= CLAIMED_FROM, ..ExampleOutcome::default() })
        }
        ExampleCall::CheckRequest { tool, arguments, about } => {
            let checked = contract.check_request_in(lane, &context, tool, arguments, about).await;
            ExampleOutcome::of(checked.map(|prepared| ExampleOutcome::passed(&prepared.notes)))
        }
        ExampleCall::Evaluate { request, payloads, history } => {
            let evaluated = contract.evaluate_in(lane, &context, request, &payloads, history).await;
            ExampleOutcome::of(evaluated.map(|evaluation| {
                let dropped = evaluation.dropped.iter().flat_map(|option| &option.violations);
                let findings = evaluation.findings.iter().map(|finding| &finding.violation);
                let order = evaluation.ranked.iter().map(|option| option.id.clone()).collect();
                ExampleOutcome { order, ..ExampleOutcome::passed(dropped.chain(findings)) }
            }))
        }
        ExampleCall::CheckResponse(exchange) => {
            let checked = contract.check_response_in(lane, &context, exchange).await;
            ExampleOutcome::of(checked.map(|response| {
                let mut outcome = ExampleOutcome::passed(&response.findings);
                outcome.found.extend(response.advisory.map(Found::whole));
                outcome
            }))
        }
        ExampleCall::CheckCompletion { report, about } => {
            let checked = contract.check_completion_in(lane, &context, report, about).await;
            ExampleOutcome::of(
                checked.map(|completion| ExampleOutcome::passed(completion.findings.iter().chain(&completion.strikes))),
            )
        }
    }
}

fn payload(payload: &wit::PayloadResult) -> Payload<'_> {
    let candidates = payload.candidates.iter();
    Payload {
        declared: convert::axes(payload.declared),
        candidates: candidates.map(|one| Candidate { number: one.number, json: &one.json }).collect(),
    }
}

/// How an expectation or an outcome reads in a failure.
struct Wording<'a> {
    accepted: bool,
    codes: &'a [String],
    order: &'a [String],
}

impl fmt::Display for Wording<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.accepted { "accepted" } else { "refused" })?;
        if !self.codes.is_empty() {
            write!(f, " with {}", self.codes.join(", "))?;
        }
        if !self.order.is_empty() {
            write!(f, " in the order {}", self.order.join(", "))?;
        }
        Ok(())
    }
}

impl fmt::Display for ExampleOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut codes: Vec<String> = self.found.iter().take(FOUND_TOLD_MAX).map(Found::to_string).collect();
        if let Some(more) = self.found.len().checked_sub(FOUND_TOLD_MAX).filter(|more| *more > 0) {
            codes.push(format!("and {more} more"));
        }
        Wording { accepted: self.accepted, codes: &codes, order: &self.order }.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(request: &str, options: &[&str], accepted: bool, order: &[&str]) -> wit::Example {
        let candidates = options.iter().zip(0..).map(|(json, number)| {
            let json = (*json).to_owned();
            wit::CandidateResult { number, json }
        });
        let declared = wit::Axes { time: 0.5, taste: 0.5, budget: 0.5, safety: 0.5 };
        let payloads = vec![wit::PayloadResult { declared, candidates: candidates.collect() }];
        let search = wit::SearchExample { request: request.to_owned(), payloads, history: Vec::new() };
        let order = order.iter().map(|id| (*id).to_owned()).collect();
        wit::Example {
            name: "a search".to_owned(),
            call: wit::ExampleCall::Evaluate(search),
            expect: wit::Expectation { accepted, codes: Vec::new(), order },
        }
    }

    #[test]
    fn past_orders_of_an_example_have_attributes_in_json() {
        let example = |attributes: &str| {
            let mut example = search("{}", &[], true, &[]);
            let wit::ExampleCall::Evaluate(call) = &mut example.call else { panic!() };
            call.history = vec![wit::PastOrderResult {
                status: "completed".to_owned(),
                closed_at_ms: 7,
                attributes: attributes.to_owned(),
            }];
            Example::new(example)
        };
        let sound = example(r#"{"kind":"a"}"#).expect("it is taken over");
        let ExampleCall::Evaluate { history: [past], .. } = sound.call() else { panic!("one past order") };
        assert_eq!((past.status.as_str(), past.closed_at_ms), ("completed", Timestamp::from_ms(7)));
        assert_eq!(past.attributes_json(), r#"{"kind":"a"}"#);
        for broken in ["", "[]", "{"] {
            assert!(matches!(example(broken), Err(LoadError::ExampleFailed { .. })), "{broken}");
        }
    }

    #[test]
    fn a_sample_is_a_search_of_which_every_option_passes() {
        let (none, refused) = (search("1", &[], true, &[]), search("2", &["a"], false, &["a"]));
        let some_dropped = search("3", &["a", "b"], true, &["b"]);
        assert_eq!(sample(&[]), None);
        let all = [none, refused, some_dropped, search("4", &["a", "b"], true, &["b", "a"])];
        assert_eq!(sample(&all[..3]), None);
        let options = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(sample(&all), Some(SearchSample { request: "4".to_owned(), options }));
    }

    #[test]
    fn what_came_out_is_told_with_its_places() {
        let violation = |pointer: &str, code: &str| Violation {
            pointer: pointer.to_owned(),
            code: code.to_owned(),
            message: "It is wrong.".to_owned(),
        };
        let found = [violation("/kind", "NOT_IN_VOCABULARY"), violation("", "WRONG_TYPE")];
        let outcome = ExampleOutcome { accepted: false, ..ExampleOutcome::passed(&found) };
        assert_eq!(outcome.to_string(), "refused with NOT_IN_VOCABULARY at /kind, WRONG_TYPE");
        let many: Vec<_> = (0..25).map(|number| violation(&format!("/{number}"), "COLD")).collect();
        let text = ExampleOutcome::passed(&many).to_string();
        assert!(text.starts_with("accepted with COLD at /0, ") && text.ends_with("/19, and 5 more"), "{text}");
        let ranked = ExampleOutcome { order: vec!["a".to_owned()], ..ExampleOutcome::passed(&[]) };
        assert_eq!(ranked.to_string(), "accepted in the order a");
    }
}
