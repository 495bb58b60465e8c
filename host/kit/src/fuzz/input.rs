//! One call of a contract: which function, with which arguments, and what came of it.

use fastrand::Rng;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{
    Axes, CallContext, CheckedCompletion, CheckedResponse, Classification, Evaluation, Exchange, Payload,
    PreparedRequest, Refusal, Violation,
};
use intent_gateway_domain::error::{ContractError, ContractFault};
use intent_gateway_domain::ports::Contract;
use intent_gateway_sandbox::ExampleCall;
use serde::Serialize;

use super::mutate;

/// The request identifier of every call, as in a contract's examples.
const REQUEST_ID: &str = "example";
/// 2026-01-01T00:00:00Z, milliseconds since the Unix epoch, as in a contract's examples.
const NOW_MS: u64 = 1_767_225_600_000;
/// The language of utterances.
const LOCALE: &str = "en-IN";
/// Options that a mutation may make of one.
const COPIES_MAX: usize = 15;

/// A call with its arguments, as it is written to a file when it brings a contract down.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Input {
    /// Identifier of the request.
    pub request_id: String,
    /// The time that the contract is told, milliseconds since the Unix epoch.
    pub now_ms: u64,
    /// The function and its arguments.
    #[serde(flatten)]
    pub call: Call,
}

/// A function with its arguments.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "function", rename_all = "kebab-case")]
pub enum Call {
    /// Judges an utterance.
    Classify {
        /// In the user's words.
        utterance: String,
        /// BCP 47 tag.
        locale: String,
    },
    /// Judges the arguments of a tool.
    CheckRequest { tool: String, arguments: String },
    /// Ranks the options of all answers.
    Evaluate {
        request: String,
        /// The answers.
        payloads: Vec<Answer>,
    },
    /// Judges the answer of a tool that is no search.
    CheckResponse {
        tool: String,
        /// The arguments that were sent.
        arguments: String,
        /// The answer.
        payload: String,
        /// The option that the call concerns.
        quoted: Option<String>,
    },
    /// Judges a completion report.
    CheckCompletion {
        report: String,
        /// The option that was booked.
        quoted: Option<String>,
    },
}

/// The options of one partner.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The signals that the partner declares.
    pub declared: Axes,
    pub options: Vec<String>,
}

impl Call {
    /// The interface's name of the function.
    #[must_use]
    pub fn function(&self) -> &'static str {
        match self {
            Self::Classify { .. } => "classify",
            Self::CheckRequest { .. } => "check-request",
            Self::Evaluate { .. } => "evaluate",
            Self::CheckResponse { .. } => "check-response",
            Self::CheckCompletion { .. } => "check-completion",
        }
    }

    /// The function, and the tool where it has one.
    #[must_use]
    pub fn entry(&self) -> String {
        match self {
            Self::CheckRequest { tool, .. } | Self::CheckResponse { tool, .. } => format!("{} {tool}", self.function()),
            _ => self.function().to_owned(),
        }
    }

    /// Bytes of all documents that go in.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let quoted_bytes = |quoted: &Option<String>| quoted.as_ref().map_or(0, String::len);
        match self {
            Self::Classify { utterance, .. } => utterance.len(),
            Self::CheckRequest { arguments, .. } => arguments.len(),
            Self::Evaluate { request, payloads } => {
                let options = payloads.iter().flat_map(|answer| &answer.options);
                request.len() + options.map(String::len).sum::<usize>()
            }
            Self::CheckResponse { arguments, payload, quoted, .. } => {
                arguments.len() + payload.len() + quoted_bytes(quoted)
            }
            Self::CheckCompletion { report, quoted } => report.len() + quoted_bytes(quoted),
        }
    }
}

impl Input {
    /// A call in the context of a contract's examples.
    #[must_use]
    pub fn new(call: Call) -> Self {
        Self { request_id: REQUEST_ID.to_owned(), now_ms: NOW_MS, call }
    }

    /// What an example calls.
    #[must_use]
    pub(crate) fn of_example(call: &ExampleCall<'_>) -> Self {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Self::new(match call {
            ExampleCall::Classify(utterance) => {
                Call::Classify { utterance: (*utterance).to_owned(), locale: LOCALE.to_owned() }
            }
            ExampleCall::CheckRequest { tool, arguments } => {
                Call::CheckRequest { tool: (*tool).to_owned(), arguments: (*arguments).to_owned() }
            }
            ExampleCall::Evaluate { request, payloads } => {
                let answers = payloads.iter().map(|payload| Answer {
                    declared: payload.declared,
                    options: payload.candidates.iter().map(|candidate| candidate.json.to_owned()).collect(),
                });
                Call::Evaluate { request: (*request).to_owned(), payloads: answers.collect() }
            }
            ExampleCall::CheckResponse(exchange) => Call::CheckResponse {
                tool: exchange.tool.to_owned(),
                arguments: exchange.arguments.to_owned(),
                payload: exchange.payload.to_owned(),
                quoted: owned(exchange.quoted),
            },
            ExampleCall::CheckCompletion { report, quoted } => {
                Call::CheckCompletion { report: (*report).to_owned(), quoted: owned(*quoted) }
            }
        })
    }

    /// The same call with something wrong in it.
    pub(super) fn mutate(&self, rng: &mut Rng) -> Self {
        let mut input = self.clone();
        match rng.u8(0..24) {
            0 => input.now_ms = [0, 1, u64::MAX, 253_402_300_800_000][rng.usize(..4)],
            1 => input.request_id = mutate::plain(&input.request_id, rng),
            _ => {}
        }
        match &mut input.call {
            Call::Classify { utterance, locale } => {
                *utterance = mutate::plain(utterance, rng);
                if rng.u8(0..8) == 0 {
                    *locale = mutate::plain(locale, rng);
                }
            }
            Call::CheckRequest { tool, arguments } => {
                *arguments = mutate::document(arguments, rng);
                if rng.u8(0..32) == 0 {
                    *tool = mutate::plain(tool, rng);
                }
            }
            Call::Evaluate { request, payloads } => search(request, payloads, rng),
            Call::CheckResponse { tool, arguments, payload, quoted } => {
                match rng.u8(0..4) {
                    0 => *arguments = mutate::document(arguments, rng),
                    1 => odd_quote(quoted, rng),
                    _ => *payload = mutate::document(payload, rng),
                }
                if rng.u8(0..32) == 0 {
                    *tool = mutate::plain(tool, rng);
                }
            }
            Call::CheckCompletion { report, quoted } => {
                if rng.u8(0..4) == 0 {
                    odd_quote(quoted, rng);
                } else {
                    *report = mutate::document(report, rng);
                }
            }
        }
        input
    }

    /// Calls the contract.
    pub(crate) async fn run(&self, contract: &dyn Contract) -> Result<CallOutcome, ContractFault> {
        let context = CallContext { request_id: self.request_id.clone(), now: Timestamp::from_ms(self.now_ms) };
        match &self.call {
            Call::Classify { utterance, locale } => {
                contract.classify(utterance, locale).await.map(CallOutcome::Classification)
            }
            Call::CheckRequest { tool, arguments } => {
                judge(contract.check_request(&context, tool, arguments).await, CallOutcome::Request)
            }
            Call::Evaluate { request, payloads } => {
                judge(contract.evaluate(&context, request, &numbered(payloads)).await, CallOutcome::Evaluation)
            }
            Call::CheckResponse { tool, arguments, payload, quoted } => {
                let exchange = Exchange { tool, arguments, payload, quoted: quoted.as_deref() };
                judge(contract.check_response(&context, exchange).await, CallOutcome::Response)
            }
            Call::CheckCompletion { report, quoted } => {
                judge(contract.check_completion(&context, report, quoted.as_deref()).await, CallOutcome::Completion)
            }
        }
    }
}

/// What came out of a call. Its `Debug` text is the same for the same outcome, to the last bit of every score.
#[derive(Debug)]
pub(crate) enum CallOutcome {
    Classification(Classification),
    Request(PreparedRequest),
    Evaluation(Evaluation),
    Response(CheckedResponse),
    Completion(CheckedCompletion),
    Refused(Refusal),
}

/// A refusal is an answer like any other; a fault is not.
fn judge<T>(
    outcome: Result<T, ContractError>,
    passed: impl FnOnce(T) -> CallOutcome,
) -> Result<CallOutcome, ContractFault> {
    match outcome {
        Ok(outcome) => Ok(passed(outcome)),
        Err(ContractError::Refused(refusal)) => Ok(CallOutcome::Refused(refusal)),
        Err(ContractError::Fault(fault)) => Err(fault),
    }
}

impl CallOutcome {
    /// Bytes of all texts that came out.
    pub(crate) fn bytes(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        match self {
            Self::Classification(one) => {
                let elsewhere = one.elsewhere.iter().map(|other| other.intent.len() + other.reason.len());
                one.evidence.iter().chain(&one.also).map(String::len).chain(elsewhere).sum()
            }
            Self::Request(one) => one.arguments.get().len() + violations(&one.notes),
            Self::Evaluation(one) => {
                let ranked = one.ranked.iter().map(|option| option.id.len() + option.card.get().len());
                let dropped = one.dropped.iter().map(|option| text(&option.id) + violations(&option.violations));
                let findings = one.findings.iter().map(|finding| violations(std::slice::from_ref(&finding.violation)));
                ranked.chain(dropped).chain(findings).sum()
            }
            Self::Response(one) => text(&one.reference) + text(&one.advisory) + violations(&one.findings),
            Self::Completion(one) => {
                one.external_id.len() + one.request_id.len() + one.status.len() + violations(&one.findings)
            }
            Self::Refused(refusal) => refusal.code.len() + violations(&refusal.violations),
        }
    }
}

fn violations(violations: &[Violation]) -> usize {
    violations.iter().map(|one| one.pointer.len() + one.code.len() + one.message.len()).sum()
}

fn numbered(answers: &[Answer]) -> Vec<Payload<'_>> {
    Payload::numbered(answers.iter().map(|answer| (answer.declared, answer.options.as_slice())))
}

fn search(request: &mut String, payloads: &mut Vec<Answer>, rng: &mut Rng) {
    let options = payloads.iter().map(|answer| answer.options.len()).sum::<usize>();
    if options == 0 || rng.u8(0..4) == 0 {
        *request = mutate::document(request, rng);
        return;
    }
    let Some(answer) = rng.choice(payloads.iter_mut()) else { return };
    match rng.u8(0..12) {
        0 => answer.declared = Axes { time: 0.0, taste: 1.0, budget: 0.0, safety: 1.0 },
        1 => answer.options.clear(),
        2 => {
            // The same option again and again, as a partner's slip has it.
            if let Some(option) = rng.choice(&answer.options).cloned() {
                let copies = rng.usize(1..=COPIES_MAX);
                answer.options.extend(std::iter::repeat_n(option, copies));
            }
        }
        3 => {
            let copy = answer.clone();
            payloads.push(copy);
        }
        _ => {
            if let Some(option) = rng.choice(answer.options.iter_mut()) {
                *option = mutate::document(option, rng);
            }
        }
    }
}

fn odd_quote(quoted: &mut Option<String>, rng: &mut Rng) {
    *quoted = match quoted.take() {
        Some(_) if rng.u8(0..4) == 0 => None,
        Some(option) => Some(mutate::document(&option, rng)),
        None => Some(mutate::document("{}", rng)),
    };
}
