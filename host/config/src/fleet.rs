//! `[fleet]`: this gateway among those that share its store.

use std::ops::RangeInclusive;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long a gateway that says nothing is held for alive, milliseconds.
const LEASE_MS: u64 = 10_000;
/// What may be set. A shorter lease would end while the store is slow, a longer one leave the work of the dead undone.
const LEASE_BOUNDS_MS: RangeInclusive<u64> = 1_000..=60_000;
/// Longest name, characters.
const NAME_MAX_CHARS: usize = 200;

/// The lease of this gateway.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct FleetSection {
    /// How long its lease in the store is.
    pub(crate) lease_ms: u64,
    /// What people know it by; host and address, unless set.
    pub name: Option<String>,
}

impl Default for FleetSection {
    fn default() -> Self {
        Self { lease_ms: LEASE_MS, name: None }
    }
}

impl FleetSection {
    pub fn lease(&self) -> Duration {
        Duration::from_millis(self.lease_ms)
    }

    pub(crate) fn check(&self, problems: &mut Vec<String>) {
        if !LEASE_BOUNDS_MS.contains(&self.lease_ms) {
            let (least, most) = (LEASE_BOUNDS_MS.start(), LEASE_BOUNDS_MS.end());
            problems.push(format!("`fleet.lease_ms` is {}; expected {least} to {most}", self.lease_ms));
        }
        let is_name = |name: &String| {
            !name.trim().is_empty() && name.chars().count() <= NAME_MAX_CHARS && !name.contains(char::is_control)
        };
        if !self.name.as_ref().is_none_or(is_name) {
            problems.push(format!("`fleet.name` must have 1 to {NAME_MAX_CHARS} characters in one line"));
        }
    }
}
