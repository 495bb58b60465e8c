//! Faults of contracts, for the platform team.

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::faults::{Function, Input, KeptFault, Told};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The faults of one intent's contracts.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ContractFaults {
    /// The intent.
    pub intent: String,
    /// Newest first.
    pub faults: Vec<ContractFault>,
    /// What to ask the next page with, as `before`; null when this was the last.
    #[schema(required)]
    pub next: Option<u64>,
}

/// A call in which a contract failed, and those like it that followed within a minute.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ContractFault {
    /// Its number: greater than that of any fault before it.
    pub number: u64,
    /// When it happened, milliseconds since the epoch.
    #[schema(value_type = u64)]
    pub at_ms: Timestamp,
    /// When it last happened within the minute, milliseconds since the epoch.
    #[schema(value_type = u64)]
    pub last_at_ms: Timestamp,
    /// How often it happened within the minute: the same component, function, code and place. Repetitions are added a few
    /// seconds later.
    pub times: u64,
    /// How many faults of yet other kinds happened within the minute and are not kept, for ten kinds are.
    pub others: u64,
    /// The intent.
    pub intent: String,
    /// Version of the contract.
    pub version: String,
    /// SHA-256 of the component, 64 hexadecimal characters.
    #[schema(value_type = String)]
    pub digest: Digest,
    /// The function that was called.
    pub function: Function,
    /// The request that it served; null for an utterance.
    #[schema(required)]
    pub request_id: Option<String>,
    /// Stable code, for example `CONTRACT_TRAP`.
    pub code: String,
    /// What went wrong, in the gateway's words.
    pub fault: String,
    /// What the contract said before it trapped, at most 2,000 characters; control characters are spelt out. Null where it
    /// said nothing.
    #[schema(required)]
    pub message: Option<String>,
    /// Where in the contract's source, as it named the place; null where it named none.
    #[schema(required)]
    pub place: Option<String>,
    /// Bytes of the call's input, as JSON.
    pub input_bytes: u64,
    /// Whether the input is kept: one of more than 1 MiB is not.
    pub has_input: bool,
}

/// A fault with the call that led to it: what `plugin replay` reads.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ContractFaultFile {
    #[serde(flatten)]
    pub fault: ContractFault,
    /// The call with all that it was given; null where it is not kept. Users' and partners' words are in it.
    #[schema(required)]
    pub input: Option<Input>,
}

impl From<KeptFault> for ContractFault {
    fn from(kept: KeptFault) -> Self {
        let KeptFault {
            number,
            at,
            last_at,
            times,
            others,
            intent,
            version,
            contract,
            function,
            request_id,
            code,
            fault,
            told,
            input_bytes,
            has_input,
        } = kept;
        let (message, place) = told.map(|Told { message, place }| (message, place)).unzip();
        Self {
            number,
            at_ms: at,
            last_at_ms: last_at,
            times,
            others,
            intent: intent.to_string(),
            version: version.to_string(),
            digest: contract,
            function,
            request_id,
            code,
            fault,
            message,
            place: place.flatten(),
            input_bytes,
            has_input,
        }
    }
}
