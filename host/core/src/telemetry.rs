//! What is counted and timed: names and labels stand here once, so that nothing of a caller's text becomes a label.

use std::time::Duration;

use metrics::histogram;

use crate::contract::Descriptor;

/// A stage of a search or of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The contract checks the request.
    Check,
    /// Partners are chosen.
    Select,
    /// Partners are called, retries and waits included.
    Call,
    /// Payloads are taken apart and scanned.
    Scan,
    /// The contract ranks, or judges an answer.
    Evaluate,
    /// The answer is put together.
    Respond,
}

impl Stage {
    /// As the label says it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Select => "select",
            Self::Call => "call",
            Self::Scan => "scan",
            Self::Evaluate => "evaluate",
            Self::Respond => "respond",
        }
    }
}

/// Takes down how long a stage took, for the contract that the request is pinned to.
pub fn stage(stage: Stage, descriptor: &Descriptor, took: Duration) {
    let labels = [
        ("stage", stage.name().to_owned()),
        ("intent", descriptor.intent.as_str().to_owned()),
        ("version", descriptor.version.to_string()),
    ];
    histogram!("intent_gateway_stage_seconds", &labels).record(took.as_secs_f64());
}
