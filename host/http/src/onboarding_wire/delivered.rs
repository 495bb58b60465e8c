//! What partners deliver against what they declare, as the platform team reads it.

use std::collections::BTreeMap;

use intent_gateway_domain::contract::{Axes as Signals, Axis};
use intent_gateway_domain::id::IntentId;
use intent_gateway_onboarding::Compared;
use intent_gateway_onboarding::delivered::{Inflated, Measure};
use serde::Serialize;
use utoipa::ToSchema;

use crate::wire::Axes;

/// What was delivered, by partner and intent.
#[derive(Serialize, ToSchema)]
pub(crate) struct DeliveredList<'a> {
    /// Reports that were booked from then on are counted.
    pub(crate) since: String,
    /// One for each partner and intent of which there is a report, in the order of their identifiers.
    pub(crate) delivered: Vec<DeliveredBody<'a>>,
}

/// What a partner delivers of an intent, beside what it declares.
#[derive(Serialize, ToSchema)]
pub(crate) struct DeliveredBody<'a> {
    /// Who.
    partner: &'a str,
    /// Of which intent.
    intent: &'a str,
    /// Reports of any status.
    reports: u64,
    /// Reports of each status.
    #[schema(value_type = BTreeMap<String, u64>)]
    statuses: BTreeMap<&'a str, u64>,
    /// Cancelled orders, by status.
    #[schema(value_type = BTreeMap<String, u64>)]
    cancellations: BTreeMap<&'a str, u64>,
    /// Reports of a charged status; null while no contract of the intent is live.
    #[schema(required)]
    completed: Option<u64>,
    /// Share of the reported orders that were completed, 0 to 1; null while no contract of the intent is live.
    #[schema(required)]
    completion_rate: Option<f64>,
    /// Reports that tell how late the service began.
    timed: u64,
    /// By how many minutes it began late on average, below zero where early; null where no report tells.
    #[schema(required)]
    mean_late_minutes: Option<f64>,
    /// The signals in force; null where the partner does not list the intent any more.
    #[schema(required)]
    declared: Option<Axes>,
    /// Those that claim more than was delivered.
    inflated: Vec<InflatedBody>,
    /// The last review of that.
    #[schema(required)]
    review: Option<&'a str>,
}

impl<'a> From<&'a Compared> for DeliveredBody<'a> {
    fn from(Compared { delivered, declared, inflated, review }: &'a Compared) -> Self {
        Self {
            partner: delivered.partner.as_str(),
            intent: delivered.intent.as_str(),
            reports: delivered.reports(),
            statuses: delivered.statuses.iter().map(|(status, reports)| (status.as_str(), *reports)).collect(),
            cancellations: delivered.cancellations().collect(),
            completed: delivered.completed,
            completion_rate: delivered.completion_rate(),
            timed: delivered.timed,
            mean_late_minutes: delivered.mean_late_minutes(),
            declared: declared.map(Axes::from),
            inflated: inflated.iter().map(InflatedBody::from).collect(),
            review: review.as_deref(),
        }
    }
}

/// A declared signal that claims more than was delivered.
#[derive(Serialize, ToSchema)]
pub(crate) struct InflatedBody {
    /// Which.
    #[schema(value_type = AxisName)]
    axis: Axis,
    /// As declared, 0 to 1.
    declared: f64,
    /// What it was held against.
    #[schema(value_type = MeasureName)]
    measure: Measure,
    /// What that came to: a share of orders, or minutes.
    delivered: f64,
    /// The most that this bears out; null where all four signals are at the top together.
    #[schema(required)]
    at_most: Option<f64>,
    /// Reports that it is the result of.
    reports: u64,
}

impl From<&Inflated> for InflatedBody {
    fn from(inflated: &Inflated) -> Self {
        let Inflated { axis, declared, measure, delivered, at_most, reports } = *inflated;
        Self { axis, declared, measure, delivered, at_most, reports }
    }
}

/// What a signal is about.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "the document's shape of the domain's own enumeration")]
pub(crate) enum AxisName {
    /// Speed of fulfilment.
    Time,
    /// Quality and curation.
    Taste,
    /// Value for money.
    Budget,
    /// Trust and verification.
    Safety,
}

/// What a signal is held against.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "the document's shape of the domain's own enumeration")]
pub(crate) enum MeasureName {
    /// Share of the reported orders that were completed.
    CompletionRate,
    /// Minutes by which the service began late, on average.
    MeanLateMinutes,
}

/// What a review of declared signals is about, as it was when the review was opened.
#[derive(Serialize, ToSchema)]
pub(crate) struct InflationBody<'a> {
    /// Of which intent.
    intent: &'a str,
    /// The signals that were in force.
    declared: Axes,
    /// Those that claim more than was delivered.
    inflated: Vec<InflatedBody>,
}

impl<'a> InflationBody<'a> {
    pub(crate) fn new(intent: &'a IntentId, declared: Signals, inflated: &[Inflated]) -> Self {
        Self {
            intent: intent.as_str(),
            declared: Axes::from(declared),
            inflated: inflated.iter().map(InflatedBody::from).collect(),
        }
    }
}
