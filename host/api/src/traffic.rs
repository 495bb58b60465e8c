//! What went on lately at one gateway: samples over the last hour, for whoever draws it.

use std::sync::Arc;

use intent_gateway_domain::contract::LatencyTargets;
use intent_gateway_domain::telemetry::Stage;
use intent_gateway_domain::telemetry::traffic::{IntentSample, SAMPLE_EVERY_MS, ToolSeries};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::health::TargetsBody;
use crate::time;

/// What went on at intents. It is of the gateway that answers, since its start and for an hour at most.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct TrafficBody {
    /// Milliseconds between two samples.
    pub every_ms: u64,
    /// Those that something was asked of in the last hour.
    pub intents: Vec<IntentTraffic>,
}

/// What went on at one intent: a column for each figure, a row for each sample, the oldest first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct IntentTraffic {
    /// The intent.
    pub intent: String,
    /// The ends of the spans that the samples are of.
    pub at: Vec<String>,
    /// Searches that found something.
    pub ok: Vec<u32>,
    /// Searches that found nothing.
    pub empty: Vec<u32>,
    /// Searches whose request was refused.
    pub refused: Vec<u32>,
    /// Searches in which every partner, or the contract, failed.
    pub failed: Vec<u32>,
    /// Searches for which there was no place.
    pub overloaded: Vec<u32>,
    /// How long each stage took; empty unless one intent is asked for.
    pub stages: Vec<StageTraffic>,
}

/// How long a stage took.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct StageTraffic {
    /// The stage.
    pub stage: String,
    /// The 99th percentile, milliseconds; null where the stage was not come to.
    pub p99_ms: Vec<Option<f64>>,
}

/// How the tools of one partner did. It is of the gateway that answers, since its start and for an hour at most.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct PartnerTraffic {
    /// Who.
    pub partner: String,
    /// Milliseconds between two samples.
    pub every_ms: u64,
    /// Those that were called in the last hour.
    pub tools: Vec<ToolTraffic>,
}

/// How one tool did: a column for each figure, a row for each sample, the oldest first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ToolTraffic {
    /// The intent.
    pub intent: String,
    /// The tool.
    pub tool: String,
    /// Its targets, by the contract that it was last called under; null where that is not known.
    #[schema(required)]
    pub targets: Option<TargetsBody>,
    /// The ends of the spans that the samples are of.
    pub at: Vec<String>,
    /// Calls; retries are calls of their own.
    pub calls: Vec<u32>,
    /// Those of them that failed.
    pub failed: Vec<u32>,
    /// Their median, milliseconds; null without a call.
    pub p50_ms: Vec<Option<f64>>,
    /// Their 95th percentile, likewise.
    pub p95_ms: Vec<Option<f64>>,
    /// Their 99th percentile, likewise.
    pub p99_ms: Vec<Option<f64>>,
}

impl TrafficBody {
    /// Of the samples of intents; with the stages where they are wanted.
    #[must_use]
    pub fn new(intents: Vec<(Arc<str>, Vec<IntentSample>)>, has_stages: bool) -> Self {
        let of = |(intent, samples): (Arc<str>, Vec<IntentSample>)| IntentTraffic::new(&intent, &samples, has_stages);
        Self { every_ms: SAMPLE_EVERY_MS, intents: intents.into_iter().map(of).collect() }
    }
}

impl IntentTraffic {
    fn new(intent: &str, samples: &[IntentSample], has_stages: bool) -> Self {
        let searches = |place: usize| samples.iter().map(|sample| sample.searches[place]).collect();
        let stage = |(place, stage): (usize, Stage)| StageTraffic {
            stage: stage.name().to_owned(),
            p99_ms: samples.iter().map(|sample| sample.p99_us[place].map(millis)).collect(),
        };
        let stages = Stage::ALL.into_iter().enumerate().filter(|_| has_stages);
        Self {
            intent: intent.to_owned(),
            at: samples.iter().map(|sample| time(sample.at)).collect(),
            ok: searches(0),
            empty: searches(1),
            refused: searches(2),
            failed: searches(3),
            overloaded: searches(4),
            stages: stages.map(stage).collect(),
        }
    }
}

impl PartnerTraffic {
    /// Of the samples of a partner's tools; `targets` knows those of an intent's tool.
    #[must_use]
    pub fn new(partner: &str, tools: &[ToolSeries], targets: impl Fn(&str, &str) -> Option<LatencyTargets>) -> Self {
        let tool = |ToolSeries { intent, tool, samples }: &ToolSeries| ToolTraffic {
            intent: intent.to_string(),
            tool: tool.to_string(),
            targets: targets(intent, tool).map(TargetsBody::from),
            at: samples.iter().map(|sample| time(sample.at)).collect(),
            calls: samples.iter().map(|sample| sample.calls).collect(),
            failed: samples.iter().map(|sample| sample.failed).collect(),
            p50_ms: samples.iter().map(|sample| sample.p50_us.map(millis)).collect(),
            p95_ms: samples.iter().map(|sample| sample.p95_us.map(millis)).collect(),
            p99_ms: samples.iter().map(|sample| sample.p99_us.map(millis)).collect(),
        };
        Self { partner: partner.to_owned(), every_ms: SAMPLE_EVERY_MS, tools: tools.iter().map(tool).collect() }
    }
}

fn millis(micros: u32) -> f64 {
    f64::from(micros) / 1_000.0
}
