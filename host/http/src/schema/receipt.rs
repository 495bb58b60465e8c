//! Shapes of receipts of rankings, as the domain serialises them.

use utoipa::ToSchema;

use crate::wire::{Axes, ContractVersion};

/// Receipts of one request.
#[derive(ToSchema)]
pub struct RankingReceipts {
    /// The request.
    pub request_id: String,
    /// Their identifiers, newest first.
    pub receipts: Vec<String>,
}

/// One ranking, whole. It holds what the user asked for.
#[derive(ToSchema)]
pub struct RankingReceipt {
    /// Its identifier.
    #[schema(example = "rank_0f1e2d3c4b5a69788796a5b4")]
    pub id: String,
    /// When the request came, milliseconds since the epoch.
    pub at_ms: u64,
    /// The request; also what breaks ties.
    pub request_id: String,
    /// The intent.
    pub intent: String,
    /// Version of the contract.
    pub version: String,
    /// SHA-256 of its component, 64 hexadecimal characters.
    pub contract: String,
    /// The arguments that were sent to partners, and that options were judged by.
    #[schema(value_type = Object)]
    pub arguments: serde_json::Value,
    /// What each partner answered, in the order in which the contract saw it.
    pub payloads: Vec<RankingPayload>,
    /// The options that were shown, best first.
    pub ranked: Vec<RankingScore>,
    /// The options that the contract took out.
    pub dropped: Vec<RankingDrop>,
    /// SHA-256 of the outcome, cards and findings included.
    pub outcome: String,
}

/// What one partner answered, as far as the contract saw it.
#[derive(ToSchema)]
pub struct RankingPayload {
    /// Who answered. The contract was not told.
    pub partner: String,
    /// The signals that it declared of itself.
    pub declared: Axes,
    /// Its options.
    pub candidates: Vec<RankingCandidate>,
}

/// One option.
#[derive(ToSchema)]
pub struct RankingCandidate {
    /// Its number in this ranking.
    pub number: u32,
    /// The option as the partner wrote it.
    #[schema(value_type = Object)]
    pub json: serde_json::Value,
}

/// Where an option came out.
#[derive(ToSchema)]
pub struct RankingScore {
    /// Its number.
    pub number: u32,
    /// Its own identifier.
    pub id: String,
    /// What the order follows, 0 to 1.
    pub total: f64,
    /// Scores by axis.
    pub axes: Axes,
    /// Share of the information that the intent asks for, 0 to 1.
    pub completeness: f64,
}

/// Why an option was taken out.
#[derive(ToSchema)]
pub struct RankingDrop {
    /// Its number.
    pub number: u32,
    /// Whether it counts towards the partner's suspension.
    pub strike: bool,
    /// Codes of the rules that it breaks.
    pub codes: Vec<String>,
}

/// What came of a replay.
#[derive(ToSchema)]
pub struct RankingReplay {
    /// The receipt.
    pub receipt: String,
    /// Its intent.
    pub intent: String,
    /// The contract version that ranked, then and now.
    pub contract: ContractVersion,
    /// Whether the outcome is the same: order, scores to the bit, cards, drops and findings.
    pub same: bool,
    /// Digest of the outcome, as the receipt holds it.
    pub expected: String,
    /// Digest of the outcome now; null where the contract refused to rank.
    #[schema(required)]
    pub found: Option<String>,
    /// Where the two part first; null where they are the same.
    #[schema(required)]
    pub difference: Option<RankingDifference>,
}

/// Where two outcomes part first.
#[derive(ToSchema)]
pub struct RankingDifference {
    /// In what.
    pub r#in: RankingPart,
    /// Code of the refusal, where the contract refuses the request now.
    #[schema(required = false, nullable = false)]
    pub code: Option<String>,
    /// Place in the list, from 0.
    #[schema(required = false, nullable = false)]
    pub place: Option<u64>,
    /// What the receipt has there: a `RankingScore` or a `RankingDrop`; null where its list has ended.
    #[schema(required = false, value_type = Option<Object>)]
    pub expected: Option<serde_json::Value>,
    /// What is there now, likewise.
    #[schema(required = false, value_type = Option<Object>)]
    pub found: Option<serde_json::Value>,
}

/// Parts of an outcome.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum RankingPart {
    /// The request is refused now.
    Request,
    /// The options that are shown.
    Ranked,
    /// The options that are taken out.
    Dropped,
    /// What a receipt holds the digest of alone: cards, findings, the wording of reasons.
    Remainder,
}
