//! One answer judged as a search would judge it, though nobody was called: for who wants to see what would come of it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;

use super::DroppedChoice;
use super::asking::{PartnerAnswer, open_payload};
use super::gathered::GatheredAnswers;
use intent_gateway_domain::contract::{CallContext, Payload, RankedOption, Violation};
use intent_gateway_domain::error::{CallFailure, ContractError};
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{Contract, ToolAnswer};
use intent_gateway_domain::receipt::ReceiptPayload;

/// What a search would make of one answer.
#[derive(Debug)]
pub(crate) struct JudgedSearch {
    /// Best first, each with what would be noted about it.
    pub(crate) ranked: Vec<(RankedOption, Vec<Violation>)>,
    pub(crate) dropped: Vec<DroppedChoice>,
    /// What is wrong with the answer as a whole without sinking it.
    pub(crate) notes: Vec<Violation>,
}

/// Judges an answer of the search tool. The inner error is the answer's own: it cannot be used at all.
pub(crate) async fn judge_answer(
    contract: &dyn Contract,
    context: &CallContext,
    arguments: &RawValue,
    partner: Arc<Partner>,
    answer: &ToolAnswer,
) -> Result<Result<JudgedSearch, CallFailure>, ContractError> {
    let descriptor = contract.descriptor();
    let (payload, flaws) = open_payload(&answer.text, descriptor);
    let payload = match payload {
        Ok(payload) => payload,
        Err(failure) => return Ok(Err(failure)),
    };
    let notes = [payload.notes.as_slice(), flaws.malformed.as_slice()].concat();
    let (result, unmapped) = (Ok(payload), answer.unmapped.clone());
    let mut gathered = GatheredAnswers::default();
    gathered.add(
        0,
        PartnerAnswer {
            partner,
            result,
            flaws,
            excerpts: BTreeMap::new(),
            unmapped,
            link: None,
            elapsed: Duration::ZERO,
        },
        descriptor,
    );
    let payloads = gathered.payloads(descriptor.intent.as_str());
    let evaluation = if payloads.is_empty() {
        Default::default()
    } else {
        let payloads: Vec<Payload<'_>> = payloads.iter().map(ReceiptPayload::for_contract).collect();
        contract.evaluate(context, arguments.get(), &payloads, &[]).await?
    };
    let dropped = gathered.dropped(evaluation.dropped);
    let noted = |number: u32| {
        let findings = evaluation.findings.iter().filter(|finding| finding.number == number);
        findings.map(|finding| finding.violation.clone()).collect()
    };
    let ranked = evaluation.ranked.into_iter().map(|option| {
        let noted = noted(option.number);
        (option, noted)
    });
    Ok(Ok(JudgedSearch { ranked: ranked.collect(), dropped, notes }))
}
