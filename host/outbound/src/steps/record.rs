//! What a call says of its partner's health is recorded.

use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::{HealthGate, Next, Outcome, Outgoing, Step};
use crate::health::{self, Observation};
use intent_gateway_domain::progress::Progress;

/// Records how long each call took and how it came out.
pub(crate) struct RecordHealth {
    pub(crate) gate: Arc<HealthGate>,
    pub(crate) next: Next,
}

impl Step for RecordHealth {
    fn call<'a>(&'a self, outgoing: Outgoing<'a>) -> BoxFuture<'a, Outcome> {
        async move {
            let (call, progress) = (outgoing.call.clone(), outgoing.progress);
            let tool = call.tool()?;
            if let Some(progress) = progress {
                progress.begin();
            }
            let started = Instant::now();
            let outcome = self.next.call(outgoing).await;
            // A stream lasts as long as there is something to tell; that makes no partner slow. What counts is the first word.
            let first_word = progress.and_then(Progress::first_word);
            let elapsed = first_word.map_or_else(|| started.elapsed(), |at| at.saturating_duration_since(started));
            let seen = Observation {
                partner: &call.partner.id,
                intent: &call.descriptor().intent,
                tool: &call.tool,
                targets: tool.latency,
                outcome: health::Outcome::of(outcome.as_ref().err()),
                elapsed,
            };
            self.gate.record(&seen);
            outcome
        }
        .boxed()
    }
}
