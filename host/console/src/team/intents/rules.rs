//! What the live contract of an intent declares, as far as its page shows it.

use intent_gateway_domain::contract::{ForbiddenField, LatencyTargets, Ranking, Rule, ToolRole, Vocabulary};
use serde::Deserialize;

use crate::view::share;

/// The part of `GET /api/v1/intents/{intent}` that is shown.
#[derive(Deserialize)]
pub(super) struct LiveRules {
    pub(super) version: String,
    pub(super) title: String,
    pub(super) summary: String,
    pub(super) aliases: Vec<String>,
    pub(super) tools: Vec<LiveTool>,
    ranking: Ranking,
    pub(super) vocabularies: Vec<Vocabulary>,
    pub(super) forbidden_fields: Vec<ForbiddenField>,
    pub(super) rules: Vec<Rule>,
}

/// A tool without its schemas, which are long.
#[derive(Deserialize)]
pub(super) struct LiveTool {
    pub(super) name: String,
    pub(super) role: ToolRole,
    pub(super) purpose: String,
    pub(super) latency: LatencyTargets,
    pub(super) rate_per_minute: Option<u32>,
}

/// An axis with its weight and what is looked at on it.
pub(super) struct WeighedAxis {
    pub(super) name: &'static str,
    pub(super) weight: String,
    pub(super) signals: String,
}

impl LiveRules {
    pub(super) fn axes(&self) -> Vec<WeighedAxis> {
        let names = ["time", "taste", "budget", "safety"];
        let weighed = names.into_iter().zip(self.ranking.weights.values());
        let signals = |axis: &str| {
            let own = self.ranking.signals.iter().filter(|signal| signal.axis.as_str() == axis);
            own.map(|signal| format!("{} {}", signal.name, share(signal.weight))).collect::<Vec<_>>().join(", ")
        };
        weighed.map(|(name, weight)| WeighedAxis { name, weight: share(weight), signals: signals(name) }).collect()
    }

    /// What partners declare of themselves and how whole an option is, as shares of the rank.
    pub(super) fn shares(&self) -> String {
        let Ranking { declared_share, completeness_share, .. } = &self.ranking;
        format!(
            "Of each axis, {} is what the partner declares of itself. Of the total, {} is how complete the option is.",
            share(*declared_share),
            share(*completeness_share)
        )
    }
}
