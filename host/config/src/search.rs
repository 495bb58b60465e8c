//! `[search]`: searches of all partners that are asked.

use std::time::Duration;

use intent_gateway_domain::limits::TOOL_CALL_TIMEOUT;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ServerSection;

/// What `shown_max_bytes` may be at most: who wants to hold more wants a cache that processes share.
const SHOWN_MAX_BYTES: usize = 1024 * 1024 * 1024;

/// Searches.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchSection {
    /// One deadline for all partners of a search.
    pub timeout_ms: u64,
    /// Bytes of rankings that are held in memory after their searches, about. With 0, that of the last search alone.
    pub shown_max_bytes: usize,
}

impl Default for SearchSection {
    fn default() -> Self {
        Self { timeout_ms: longest_search_ms(), shown_max_bytes: 16 * 1024 * 1024 }
    }
}

fn longest_search_ms() -> u64 {
    u64::try_from(TOOL_CALL_TIMEOUT.as_millis()).unwrap_or(u64::MAX)
}

impl SearchSection {
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }

    pub(crate) fn check(&self, server: &ServerSection, problems: &mut Vec<String>) {
        let (value, most) = (self.timeout_ms, longest_search_ms());
        if !(1..=most).contains(&value) {
            problems.push(format!("`search.timeout_ms` is {value}; expected 1 to {most}"));
        } else if value >= server.request_timeout_ms {
            problems.push(format!(
                "`search.timeout_ms` is {value}; it must be below `server.request_timeout_ms`, which is {}, or a slow \
                 partner costs the whole answer",
                server.request_timeout_ms
            ));
        }
        if self.shown_max_bytes > SHOWN_MAX_BYTES {
            problems
                .push(format!("`search.shown_max_bytes` is {}; expected 0 to {SHOWN_MAX_BYTES}", self.shown_max_bytes));
        }
    }
}
