//! What is told of a comparison.

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use semver::Version;
use serde::{Deserialize, Serialize};

use crate::budget::BudgetReport;
use crate::distribution::Distribution;

/// Shares that differ by less are the same.
const SHARE_CHANGE_MIN: f64 = 1e-9;

/// What a candidate would have made of what was ranked before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ComparisonReport {
    /// The intent.
    pub intent: String,
    /// The version that is not live yet.
    pub candidate: ComparedVersion,
    /// What it is compared with.
    pub baseline: BaselineName,
    /// When the earliest of the receipts was ranked, milliseconds since the epoch; null where there is none.
    #[cfg_attr(feature = "schema", schema(required, value_type = Option<u64>))]
    pub first_at_ms: Option<Timestamp>,
    /// When the latest was.
    #[cfg_attr(feature = "schema", schema(required, value_type = Option<u64>))]
    pub last_at_ms: Option<Timestamp>,
    /// Receipts that were compared.
    pub receipts: u64,
    /// Their options.
    pub options: u64,
    /// Receipts in which nothing differs.
    pub same: u64,
    /// Receipts in which something differs.
    pub different: u64,
    /// Receipts that the baseline itself does not rank any more. They are in none of the other figures.
    pub not_comparable: Vec<CodeCount>,
    /// Requests that the candidate refuses or fails on before anybody is asked, by code.
    pub requests_refused: Vec<CodeCount>,
    /// Requests for which it sends other arguments to partners. Their options were ranked as they came all the same.
    pub requests_changed: u64,
    /// Receipts that it refuses to rank, by code.
    pub refused: Vec<CodeCount>,
    /// Receipts on which it fails, by code.
    pub failed: Vec<CodeCount>,
    /// Receipts that both rank: in how many of them another option is first.
    pub first_changed: u64,
    /// In how many of them what both keep is in another order.
    pub reordered: u64,
    /// In how many of them nothing differs but cards, findings or the wording of reasons.
    pub only_wording: u64,
    /// In how many of them the candidate leaves no option where there was one.
    pub newly_empty: u64,
    /// Which options are taken out, or kept, otherwise, by the rule that does it.
    pub rules: Vec<RuleChange>,
    /// Overlap of the first three options, 0 to 1.
    pub overlap_of_three: Distribution,
    /// Rank-biased overlap (p = 0.9), 0 to 1.
    pub rank_biased_overlap: Distribution,
    /// Kendall's tau-b of the options that both keep, -1 to 1, where they have an order.
    pub kendall_tau_b: Distribution,
    /// By how much scores are higher under the candidate, of the options that both keep.
    pub scores: Vec<ScoreShift>,
    /// Each partner's share of the first three options, the greatest change first.
    pub partners: Vec<PartnerShare>,
    /// How long the candidate takes to rank a receipt.
    pub candidate_times: CallTimes,
    /// How long the baseline takes, where it has ranked anew.
    #[cfg_attr(feature = "schema", schema(required))]
    pub baseline_times: Option<CallTimes>,
    /// What was found outside the candidate's difference budget; null where it declares none.
    #[cfg_attr(feature = "schema", schema(required))]
    pub budget: Option<BudgetReport>,
    /// The receipts that differ most, side by side.
    pub worst: Vec<Example>,
}

impl ComparisonReport {
    /// Whether the candidate does what its author says: nothing fails, and nothing differs but what was announced.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.failed.is_empty() && self.budget.as_ref().is_none_or(|budget| budget.holds)
    }

    /// Partners whose share of the first three has changed.
    pub fn changed_partners(&self) -> impl Iterator<Item = &PartnerShare> {
        self.partners.iter().filter(|partner| (partner.share_after - partner.share_before).abs() > SHARE_CHANGE_MIN)
    }
}

/// A version in a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ComparedVersion {
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub version: Version,
    /// SHA-256 of its component, 64 hexadecimal characters.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub digest: Digest,
}

/// What a candidate is compared with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum BaselineName {
    /// What was shown, by whichever version.
    Shown,
    /// What this version makes of it.
    Version(ComparedVersion),
}

/// How often something was told under a code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CodeCount {
    pub code: String,
    pub count: u64,
}

/// Options that a rule takes out, or does not take out any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RuleChange {
    /// Code of the rule; empty for options that are gone without a reason.
    pub code: String,
    /// Options that were shown, and are taken out by it.
    pub newly_dropped: u64,
    /// Options that were taken out by it, and are shown.
    pub newly_kept: u64,
    /// Options that both take out, and by it in one of them alone.
    pub other_reasons: u64,
}

/// By how much a score is higher under the candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ScoreShift {
    /// `total`, an axis, or `completeness`.
    pub score: String,
    /// Options of receipts in which it has changed for at least one.
    pub shift: Distribution,
}

/// A partner's share of the first three options of all receipts, 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PartnerShare {
    pub partner: String,
    /// First three places that it had.
    pub places_before: u64,
    /// First three places that it has.
    pub places_after: u64,
    pub share_before: f64,
    pub share_after: f64,
}

/// How long calls took, microseconds of processor time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CallTimes {
    pub calls: u64,
    /// Median.
    pub p50_us: f64,
    /// 99th percentile.
    pub p99_us: f64,
    pub max_us: f64,
    /// Calls that took longer than a call may that serves somebody.
    pub too_slow: u64,
}

/// A receipt, side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Example {
    /// The receipt.
    pub receipt: String,
    /// When it was ranked, milliseconds since the epoch.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub at_ms: Timestamp,
    pub rank_biased_overlap: f64,
    /// Its options, the first ones of either ranking.
    pub options: Vec<ExampleRow>,
}

/// An option of a receipt, before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ExampleRow {
    pub partner: String,
    /// The option's own identifier, where one is known.
    pub option: String,
    /// Place in the ranking, from 1; null where it is taken out.
    #[cfg_attr(feature = "schema", schema(required))]
    pub place_before: Option<u64>,
    #[cfg_attr(feature = "schema", schema(required))]
    pub place_after: Option<u64>,
    #[cfg_attr(feature = "schema", schema(required))]
    pub total_before: Option<f64>,
    #[cfg_attr(feature = "schema", schema(required))]
    pub total_after: Option<f64>,
    /// Codes by which it was taken out.
    pub codes_before: Vec<String>,
    /// Codes by which it is taken out.
    pub codes_after: Vec<String>,
}
