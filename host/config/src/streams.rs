//! `[streams]`: answers that come in pieces.

use std::num::NonZeroU32;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{COUNT_MAX, ServerSection, WAIT_MAX_MS};

/// Streams open at once, unless set otherwise: each holds a connection of those that the server takes.
const MAX_OPEN: NonZeroU32 = NonZeroU32::new(1_024).expect("1024 is not zero");

/// Streams of server-sent events.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct StreamsSection {
    /// A stream on which nothing else was sent for so long gets a comment.
    pub(crate) heartbeat_ms: u64,
    /// Streams open at once.
    pub max_open: NonZeroU32,
}

impl Default for StreamsSection {
    fn default() -> Self {
        Self { heartbeat_ms: 15_000, max_open: MAX_OPEN }
    }
}

impl StreamsSection {
    pub fn heartbeat(&self) -> Duration {
        Duration::from_millis(self.heartbeat_ms)
    }

    pub(crate) fn check(&self, server: &ServerSection, problems: &mut Vec<String>) {
        if !(1..=WAIT_MAX_MS).contains(&self.heartbeat_ms) {
            problems.push(format!("`streams.heartbeat_ms` is {}; expected 1 to {WAIT_MAX_MS}", self.heartbeat_ms));
        } else if self.heartbeat_ms.saturating_mul(2) > server.idle_timeout_ms {
            problems.push(format!(
                "`streams.heartbeat_ms` is {}; `server.idle_timeout_ms`, which is {}, must be twice as long at least, or \
                 streams on which little happens are cut off as idle connections",
                self.heartbeat_ms, server.idle_timeout_ms
            ));
        }
        if usize::try_from(self.max_open.get()).map_or(true, |count| count > COUNT_MAX) {
            problems.push(format!("`streams.max_open` is {}; expected 1 to {COUNT_MAX}", self.max_open));
        }
    }
}
