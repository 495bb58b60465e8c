//! Calls of tools that are not searches.

use intent_gateway_domain::contract::Violation;
use intent_gateway_routing::calling::{CallOutcome, OrderStanding};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::intents::ContractVersion;
use crate::read::{Body, Members};

/// About what an answer takes around its payload, bytes.
const FRAME_BYTES: usize = 1024;

/// What is to be called.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolRequest {
    /// The `reference` of an option of a search, or of an earlier call's answer.
    pub reference: String,
    /// The tool's arguments; their JSON Schema is the tool's `request_schema`. The identifier that the reference is about
    /// may be left out.
    #[schema(value_type = Object)]
    pub arguments: Box<RawValue>,
}

impl Body for ToolRequest {
    const CLOSED: bool = true;

    fn read(members: &mut Members<'_>) -> Option<Self> {
        let (reference, arguments) = (members.text_of_any_length("reference"), members.raw("arguments"));
        Some(Self { reference: reference?, arguments: arguments? })
    }
}

/// The order that a call has opened or gone on with.
#[derive(Serialize, ToSchema)]
pub struct OrderBrief<'a> {
    /// Its identifier.
    #[schema(example = "ord_019ab4c8f2000f1e2d3c4b5a6978")]
    id: &'a str,
    /// `pending`, or a state that the intent's contract declares (`order.states`).
    state: &'a str,
}

impl<'a> From<&'a OrderStanding> for OrderBrief<'a> {
    fn from(order: &'a OrderStanding) -> Self {
        Self { id: order.id.as_str(), state: &order.state }
    }
}

/// An answer that passed.
#[derive(Serialize, ToSchema)]
pub struct ToolAnswer<'a> {
    /// The `request_id` of the arguments, or the one given to the request.
    request_id: &'a str,
    /// The intent.
    intent: &'a str,
    /// The tool that answered: the one that was called, or, where its answer was lost and the order was found among the
    /// partner's, the one that lists these.
    tool: &'a str,
    /// The contract version that judged.
    contract: ContractVersion,
    /// Who answered.
    partner: &'a str,
    /// Signed; what later calls about it go by. Null where the answer carries no identifier.
    #[schema(required)]
    reference: Option<&'a str>,
    /// An advisory code of the intent's error table that is not a failure, for example `CANCELLATION_FEE_DUE`.
    #[schema(required)]
    advisory: Option<&'a str>,
    /// The answer as the partner wrote it.
    #[schema(value_type = Object)]
    payload: &'a RawValue,
    /// The order; null where the tool belongs to no order.
    #[schema(required)]
    order: Option<OrderBrief<'a>>,
    /// Advice on the arguments that refuses nothing.
    notes: &'a [Violation],
    /// How long the partner took, milliseconds.
    elapsed_ms: u64,
}

impl<'a> ToolAnswer<'a> {
    /// The outcome of a call.
    #[must_use]
    pub fn of(intent: &'a str, tool: &'a str, called: &'a CallOutcome) -> Self {
        let CallOutcome { request_id, contract, partner, payload, reference, advisory, by, order, notes, elapsed } =
            called;
        Self {
            request_id,
            intent,
            tool: by.as_deref().unwrap_or(tool),
            contract: ContractVersion::of(&*contract.0),
            partner: partner.id.as_str(),
            reference: reference.as_deref(),
            advisory: advisory.as_deref(),
            payload,
            order: order.as_ref().map(OrderBrief::from),
            notes,
            elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// About how long the answer is, bytes.
    #[must_use]
    pub fn estimate_bytes(&self) -> usize {
        self.payload.get().len() + FRAME_BYTES
    }
}
