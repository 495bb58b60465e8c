//! `plugin docs`: the partner-facing page of a component, with a sample that the component itself ranks first.

use intent_gateway_describe::partner_page::page;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::CallContext;
use intent_gateway_domain::ports::Contract as _;
use intent_gateway_sandbox::{ExampleCall, LoadError, LoadedContract};
use serde_json::Value;

use crate::subject::Subject;

/// The context of the call that finds a sample, as in a contract's examples: 2026-01-01T00:00:00Z in milliseconds.
const NOW_MS: u64 = 1_767_225_600_000;

/// The page of a component.
///
/// # Errors
/// [`LoadError`] when it is not a contract.
pub fn run(subject: &Subject) -> Result<String, LoadError> {
    let contract = subject.load()?;
    let sample = subject.wait(sample(&contract))?;
    Ok(page(contract.descriptor(), sample.as_ref()))
}

/// An option that the contract itself ranks first in one of its examples.
async fn sample(contract: &LoadedContract) -> Result<Option<Value>, LoadError> {
    let context = CallContext { request_id: "example".to_owned(), now: Timestamp::from_ms(NOW_MS) };
    for example in contract.examples().await? {
        let ExampleCall::Evaluate { request, payloads, history } = example.call() else { continue };
        let Ok(evaluation) = contract.evaluate(&context, request, &payloads, history).await else { continue };
        let Some(best) = evaluation.ranked.first() else { continue };
        let mut candidates = payloads.iter().flat_map(|payload| &payload.candidates);
        let found = candidates.find(|candidate| candidate.number == best.number);
        if let Some(option) = found.and_then(|candidate| serde_json::from_str(candidate.json).ok()) {
            return Ok(Some(option));
        }
    }
    Ok(None)
}
