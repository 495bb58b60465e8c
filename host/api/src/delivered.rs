//! What partners deliver against what they declare, as the platform team reads it.

use std::collections::BTreeMap;

use intent_gateway_domain::contract::Axes;
use intent_gateway_onboarding::DeliveredComparison;
use intent_gateway_onboarding::delivered::Inflated;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What was delivered, by partner and intent.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct DeliveredList {
    /// Reports that were booked from then on are counted.
    pub since: String,
    /// One for each partner and intent of which there is a report, in the order of their identifiers.
    pub delivered: Vec<DeliveredBody>,
}

/// What a partner delivers of an intent, beside what it declares.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct DeliveredBody {
    /// Who.
    pub partner: String,
    /// Of which intent.
    pub intent: String,
    /// Reports of any status.
    pub reports: u64,
    /// Reports of each status.
    pub statuses: BTreeMap<String, u64>,
    /// Cancelled orders, by status.
    pub cancellations: BTreeMap<String, u64>,
    /// Reports of a charged status; null while no contract of the intent is live.
    #[schema(required)]
    pub completed: Option<u64>,
    /// Share of the reported orders that were completed, 0 to 1; null while no contract of the intent is live.
    #[schema(required)]
    pub completion_rate: Option<f64>,
    /// Reports that tell how late the service began.
    pub timed: u64,
    /// By how many minutes it began late on average, below zero where early; null where no report tells.
    #[schema(required)]
    pub mean_late_minutes: Option<f64>,
    /// The signals in force; null where the partner does not list the intent any more.
    #[schema(required)]
    pub declared: Option<Axes>,
    /// Those that claim more than was delivered.
    pub inflated: Vec<Inflated>,
    /// The last review of that.
    #[schema(required)]
    pub review: Option<String>,
}

impl From<DeliveredComparison> for DeliveredBody {
    fn from(DeliveredComparison { delivered, declared, inflated, review }: DeliveredComparison) -> Self {
        Self {
            partner: delivered.partner.to_string(),
            intent: delivered.intent.to_string(),
            reports: delivered.reports(),
            cancellations: delivered.cancellations().map(|(status, reports)| (status.to_owned(), reports)).collect(),
            completed: delivered.completed,
            completion_rate: delivered.completion_rate(),
            timed: delivered.timed,
            mean_late_minutes: delivered.mean_late_minutes(),
            statuses: delivered.statuses,
            declared,
            inflated,
            review,
        }
    }
}

/// What a review of declared signals is about, as it was when the review was opened.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct InflationBody {
    /// Of which intent.
    pub intent: String,
    /// The signals that were in force.
    pub declared: Axes,
    /// Those that claim more than was delivered.
    pub inflated: Vec<Inflated>,
}
