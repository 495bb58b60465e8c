//! What a version makes of a receipt, in the form in which two are compared.

use intent_gateway_domain::contract::{CallContext, Payload};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::ContractError;
use intent_gateway_domain::ports::Contract;
use intent_gateway_domain::receipt::{Receipt, ReceiptDrop, ReceiptPayload, ReceiptScore, outcome};

/// What a version makes of a receipt.
#[derive(Clone, Debug, PartialEq)]
pub enum Judged {
    Ranked(Ranking),
    /// It refuses the request.
    Refused {
        code: String,
    },
    /// It fails.
    Failed {
        code: String,
    },
}

/// An outcome of a ranking.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// The options that are shown, best first.
    pub ranked: Vec<ReceiptScore>,
    /// The options that are taken out.
    pub dropped: Vec<ReceiptDrop>,
    /// Digest of all of it, cards included.
    pub outcome: Digest,
}

impl Judged {
    /// As the receipt has it.
    #[must_use]
    pub fn of_receipt(receipt: &Receipt) -> Self {
        let Receipt { ranked, dropped, outcome, .. } = receipt;
        // What an earlier snapshot of a streamed search had shown stands there as well, though this ranking takes it out.
        let is_kept = |score: &&ReceiptScore| !dropped.iter().any(|drop| drop.number == score.number);
        let ranked = ranked.iter().filter(is_kept).cloned().collect();
        Self::Ranked(Ranking { ranked, dropped: dropped.clone(), outcome: *outcome })
    }

    /// By a version that ranks it again: it is given what was given then.
    pub async fn anew(receipt: &Receipt, contract: &dyn Contract) -> Self {
        let context = CallContext { request_id: receipt.request_id.clone(), now: receipt.at_ms };
        let payloads: Vec<Payload<'_>> = receipt.payloads.iter().map(ReceiptPayload::for_contract).collect();
        match contract.evaluate(&context, receipt.arguments.get(), &payloads, &receipt.history).await {
            Ok(evaluation) => Self::Ranked(Ranking {
                ranked: evaluation.ranked.iter().map(ReceiptScore::from).collect(),
                dropped: evaluation.dropped.iter().map(ReceiptDrop::from).collect(),
                outcome: outcome(&evaluation),
            }),
            Err(error) => Self::of_error(error),
        }
    }

    pub(crate) fn of_error(error: ContractError) -> Self {
        match error {
            ContractError::Refused(refusal) => Self::Refused { code: refusal.code },
            ContractError::Fault(fault) => Self::Failed { code: fault.code().to_owned() },
        }
    }
}
