//! One call of a contract, made on purpose: with what it is made, and its outcome.

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{
    CallContext, CheckedCompletion, CheckedResponse, Classification, Evaluation, Exchange, PreparedRequest, Refusal,
    Violation,
};
use intent_gateway_domain::error::{ContractError, ContractFault};
use intent_gateway_domain::faults::{Answer, Call, Input};
use intent_gateway_domain::ports::Contract;
use intent_gateway_sandbox::ExampleCall;

/// The request identifier of every example.
const REQUEST_ID: &str = "example";
/// 2026-01-01T00:00:00Z, milliseconds since the Unix epoch: the time of every example.
const NOW_MS: u64 = 1_767_225_600_000;
/// The language of utterances.
const LOCALE: &str = "en-IN";

/// A call in the context of a contract's examples.
pub(crate) fn put_in_example(call: Call) -> Input {
    Input { request_id: REQUEST_ID.to_owned(), now_ms: NOW_MS, call }
}

/// What an example calls.
pub(crate) fn read_example(call: &ExampleCall<'_>) -> Input {
    put_in_example(match call {
        ExampleCall::Classify(utterance) => {
            Call::Classify { utterance: (*utterance).to_owned(), locale: LOCALE.to_owned() }
        }
        ExampleCall::CheckRequest { tool, arguments, about } => Call::CheckRequest {
            tool: (*tool).to_owned(),
            arguments: (*arguments).to_owned(),
            about: about.to_subject(),
        },
        ExampleCall::Evaluate { request, payloads, history } => {
            let answers = payloads.iter().map(|payload| {
                let options = payload.candidates.iter().map(|candidate| candidate.json.to_owned());
                Answer::new(payload.declared, options.collect())
            });
            let (payloads, history) = (answers.collect(), history.to_vec());
            Call::Evaluate { request: (*request).to_owned(), payloads, history }
        }
        ExampleCall::CheckResponse(exchange) => Call::CheckResponse {
            tool: exchange.tool.to_owned(),
            arguments: exchange.arguments.to_owned(),
            payload: exchange.payload.to_owned(),
            about: exchange.about.to_subject(),
        },
        ExampleCall::CheckCompletion { report, about } => {
            Call::CheckCompletion { report: (*report).to_owned(), about: about.to_subject() }
        }
    })
}

/// Calls the contract.
pub(crate) async fn run(input: &Input, contract: &dyn Contract) -> Result<CallOutcome, ContractFault> {
    let context = CallContext { request_id: input.request_id.clone(), now: Timestamp::from_ms(input.now_ms) };
    match &input.call {
        Call::Classify { utterance, locale } => {
            contract.classify(utterance, locale).await.map(CallOutcome::Classification)
        }
        Call::CheckRequest { tool, arguments, about } => {
            judge(contract.check_request(&context, tool, arguments, about.about()).await, CallOutcome::Request)
        }
        Call::Evaluate { request, payloads, history } => {
            let evaluated = contract.evaluate(&context, request, &Answer::payloads(payloads), history).await;
            judge(evaluated, CallOutcome::Evaluation)
        }
        Call::CheckResponse { tool, arguments, payload, about } => {
            let exchange = Exchange { tool, arguments, payload, about: about.about() };
            judge(contract.check_response(&context, exchange).await, CallOutcome::Response)
        }
        Call::CheckCompletion { report, about } => {
            judge(contract.check_completion(&context, report, about.about()).await, CallOutcome::Completion)
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
                let texts = one.external_id.len() + one.request_id.len() + one.status.len();
                texts + violations(&one.findings) + violations(&one.strikes)
            }
            Self::Refused(refusal) => refusal.code.len() + violations(&refusal.violations),
        }
    }
}

fn violations(violations: &[Violation]) -> usize {
    violations.iter().map(|one| one.pointer.len() + one.code.len() + one.message.len()).sum()
}
