//! What is kept of rankings and findings. A receipt itself is the domain's own type.

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{Ranking, Violation};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::findings::{self, IST_AHEAD_MS, KeptFinding, RuleCount, Severity, Source};
use intent_gateway_domain::ports::Contract;
use intent_gateway_domain::receipt::{Receipt, ReceiptDrop, ReceiptScore};
use intent_gateway_ledger::completion::signature::SignatureError;
use intent_gateway_ledger::completion::unsigned::UnsignedCount;
use intent_gateway_outbound::health::{IntentView, PartnerView};
use intent_gateway_routing::replay::{Difference, Replay, Reranking};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::health::{StrikesBody, ToolHealthBody};
use crate::intents::ContractVersion;
use crate::time;

/// The findings against one partner.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct PartnerFindings {
    /// The partner.
    pub partner: String,
    /// Newest first.
    pub findings: Vec<Finding>,
    /// What to ask the next page with, as `before`; null when this was the last.
    #[schema(required)]
    pub next: Option<u64>,
}

/// One thing found in a partner's answer or completion report.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Finding {
    /// Its number: greater than that of any finding before it.
    pub number: u64,
    /// When, milliseconds since the epoch.
    #[schema(value_type = u64)]
    pub at_ms: Timestamp,
    /// Against whom.
    pub partner: String,
    /// The intent concerned.
    pub intent: String,
    /// The request in whose answer it was found, or that the reported order came from.
    pub request_id: String,
    /// Where it was found; null for what an earlier release has kept.
    #[schema(required)]
    pub source: Option<Source>,
    /// Place of the option in the answer, from 0, where the finding concerns an option of a search.
    #[schema(required)]
    pub option: Option<u32>,
    /// The option's identifier, where the finding concerns one and it can be read.
    #[schema(required)]
    pub option_id: Option<String>,
    /// The partner's identifier of the order, where the finding concerns one.
    #[schema(required)]
    pub external_id: Option<String>,
    /// How grave.
    pub severity: Severity,
    /// What; the pointer is into the option, the report, or the answer where neither is concerned.
    pub violation: Violation,
    /// What the partner sent at the pointer, as it wrote it, at most 200 characters; null where nothing is there.
    #[schema(required)]
    pub excerpt: Option<String>,
}

impl From<KeptFinding> for Finding {
    fn from(KeptFinding { number, finding }: KeptFinding) -> Self {
        let findings::Finding {
            at_ms,
            partner,
            intent,
            request_id,
            source,
            option_place: option,
            option_id,
            external_id,
            severity,
            violation,
            excerpt,
        } = finding;
        let partner = partner.to_string();
        Self {
            number,
            at_ms,
            partner,
            intent,
            request_id,
            source,
            option,
            option_id,
            external_id,
            severity,
            violation,
            excerpt,
        }
    }
}

/// How one partner has fared: which rules it broke and when, what is held against it, and how long it takes.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct FindingsSummary {
    /// The partner.
    pub partner: String,
    /// Findings are counted from then on.
    pub since: String,
    /// How often each rule was broken on each day, the latest day first; of the latest 100,000 findings.
    pub counts: Vec<RuleCountBody>,
    /// The strikes that have not expired, by code.
    pub strikes: Vec<StrikesBody>,
    /// How long its tools took within the last five minutes, beside their targets, by intent; calls are those of the
    /// gateway that answers.
    pub latency: Vec<IntentLatency>,
    /// Completion reports that came under its name and that no key of its has signed, whoever sent them; absent where none came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub unsigned_reports: Option<UnsignedReportsBody>,
}

/// Completion reports that nobody with a partner's key has signed, since the start of the gateway that answers. Nothing of them is kept.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct UnsignedReportsBody {
    /// What each was answered with.
    #[schema(example = "SIGNATURE_INVALID")]
    pub code: String,
    pub count: u64,
    /// When the last one came.
    pub last_at: String,
}

impl From<UnsignedCount> for UnsignedReportsBody {
    fn from(UnsignedCount { count, last_at }: UnsignedCount) -> Self {
        Self { code: SignatureError::Wrong.code().to_owned(), count, last_at: time(last_at) }
    }
}

impl FindingsSummary {
    /// Of a partner, whose findings were counted since a time.
    #[must_use]
    pub fn new(
        PartnerView { partner, strikes, intents, .. }: PartnerView,
        counts: Vec<RuleCount>,
        since: Timestamp,
        unsigned: Option<UnsignedCount>,
    ) -> Self {
        Self {
            partner: partner.to_string(),
            since: time(since),
            counts: counts.into_iter().map(RuleCountBody::from).collect(),
            strikes: strikes.into_iter().map(StrikesBody::from).collect(),
            latency: intents.into_iter().map(IntentLatency::from).collect(),
            unsigned_reports: unsigned.map(UnsignedReportsBody::from),
        }
    }
}

/// How often one rule was broken on one day.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RuleCountBody {
    /// The day, by Indian Standard Time.
    #[schema(example = "2026-05-20")]
    pub day: String,
    /// The intent concerned.
    pub intent: String,
    /// Code of the rule.
    pub code: String,
    /// How grave.
    pub severity: Severity,
    /// How often.
    pub count: u64,
}

impl From<RuleCount> for RuleCountBody {
    fn from(RuleCount { day, intent, code, severity, count }: RuleCount) -> Self {
        // The date in India is that of the same moment, so much later, in UTC.
        let day = time(day.plus_ms(IST_AHEAD_MS)).chars().take_while(|c| *c != 'T').collect();
        Self { day, intent, code, severity, count }
    }
}

/// How long the tools of one intent took.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct IntentLatency {
    /// The intent.
    pub intent: String,
    /// Its tools that were called.
    pub tools: Vec<ToolHealthBody>,
}

impl From<IntentView> for IntentLatency {
    fn from(IntentView { intent, tools, .. }: IntentView) -> Self {
        Self { intent: intent.to_string(), tools: tools.into_iter().map(ToolHealthBody::from).collect() }
    }
}

/// Receipts of one request.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RankingReceipts {
    /// The request.
    pub request_id: String,
    /// Their identifiers, newest first.
    pub receipts: Vec<String>,
}

/// Rankings of one intent.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RankingList {
    /// The intent.
    pub intent: String,
    /// The one that was kept last first. A page may be empty and not the last one.
    pub rankings: Vec<RankingSummary>,
    /// What to ask the next page with, as `before`; null when this was the last.
    #[schema(required)]
    pub next: Option<u64>,
}

/// A ranking in short: nothing of what the user asked for, and nothing of what partners offered.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RankingSummary {
    /// Its receipt.
    #[schema(example = "rank_0f1e2d3c4b5a69788796a5b4")]
    pub receipt: String,
    /// When the request came (ISO 8601).
    pub at: String,
    /// The request.
    pub request_id: String,
    /// The contract version that ranked.
    pub contract: ContractVersion,
    /// Options that were shown.
    pub shown: usize,
    /// Options that the contract took out.
    pub dropped: usize,
    /// Of these, those that count towards a partner's suspension.
    pub strikes: usize,
    /// The partners whose answers were ranked, in the order in which the contract saw them.
    pub partners: Vec<String>,
    /// Whose option was first; null where none was shown.
    #[schema(required)]
    pub first: Option<String>,
}

impl RankingSummary {
    /// Of a receipt.
    #[must_use]
    pub fn of(receipt: &Receipt) -> Self {
        let Receipt { id, at_ms, request_id, version, contract, payloads, ranked, dropped, .. } = receipt;
        let has = |number: u32| {
            let mut payloads = payloads.iter();
            payloads.find(|payload| payload.candidates.iter().any(|candidate| candidate.number == number))
        };
        Self {
            receipt: id.clone(),
            at: time(*at_ms),
            request_id: request_id.clone(),
            contract: ContractVersion { version: version.clone(), digest: *contract },
            shown: ranked.len(),
            dropped: dropped.len(),
            strikes: dropped.iter().filter(|drop| drop.strike).count(),
            partners: payloads.iter().map(|payload| payload.partner.to_string()).collect(),
            first: ranked.first().and_then(|first| has(first.number)).map(|payload| payload.partner.to_string()),
        }
    }
}

/// A receipt as it is shown.
#[derive(Debug, Serialize, ToSchema)]
pub struct ShownReceipt {
    #[serde(flatten)]
    pub receipt: Receipt,
    /// Names of the trusted keys that have signed the component that ranked, as far as this gateway knows.
    pub signed_by: Vec<String>,
}

/// The outcome of a replay.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
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
    #[schema(value_type = String)]
    pub expected: Digest,
    /// Digest of the outcome now; null where the contract refused to rank.
    #[schema(value_type = Option<String>, required)]
    pub found: Option<Digest>,
    /// Where the two part first; null where they are the same.
    #[schema(value_type = Option<RankingDifference>, required)]
    pub difference: Option<Difference>,
    /// What another version makes of it, where one is named: the three members above are of that one then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under: Option<RankingUnder>,
}

/// What a version makes of a receipt.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RankingUnder {
    /// The version.
    pub contract: ContractVersion,
    /// How it ranks: its weights and bands.
    pub ranking: Ranking,
    /// The options that it shows, best first; none where it refuses to rank.
    pub ranked: Vec<ReceiptScore>,
    /// The options that it takes out.
    pub dropped: Vec<ReceiptDrop>,
}

impl RankingReplay {
    /// The replay of a receipt.
    #[must_use]
    pub fn new(receipt: Receipt, replay: Replay) -> Self {
        let Receipt { id, intent, version, contract, .. } = receipt;
        let Replay { same, expected, found, difference } = replay;
        let contract = ContractVersion { version, digest: contract };
        Self { receipt: id, intent: intent.to_string(), contract, same, expected, found, difference, under: None }
    }

    /// What a version makes of a receipt.
    #[must_use]
    pub fn under(receipt: Receipt, contract: &dyn Contract, reranking: Reranking) -> Self {
        let Reranking { replay, ranked, dropped } = reranking;
        let ranking = contract.descriptor().ranking.clone();
        let under = RankingUnder { contract: ContractVersion::of(contract), ranking, ranked, dropped };
        Self { under: Some(under), ..Self::new(receipt, replay) }
    }
}

/// Where two outcomes part first.
// How the document shows `Difference`: all variants as one object. Never built.
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
