//! What is shown of the gateway's own watch over its store, its clock and its certificate.

use metrics::{counter, gauge};

use super::precise;
use crate::clock::Timestamp;

pub(super) const STORE_CHECKED: &str = "intent_gateway_store_check_last_good_timestamp_seconds";
pub(super) const STORE_PROBLEMS: &str = "intent_gateway_store_check_problems";
pub(super) const CLOCK_JUMPS: &str = "intent_gateway_clock_jumps_total";
pub(super) const CLOCK_OFFSET: &str = "intent_gateway_clock_offset_seconds";

pub(super) const CERTIFICATE_END: &str = "intent_gateway_certificate_not_after_timestamp_seconds";

/// A clock that the machine's is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherClock {
    Store,
    Partners,
}

impl OtherClock {
    /// As the label says it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Partners => "partners",
        }
    }
}

/// The machine's clock was set.
pub fn clock_jumped() {
    counter!(CLOCK_JUMPS).increment(1);
}

/// Another clock is so far ahead of the machine's, milliseconds.
pub fn clock_offset(clock: OtherClock, ahead_ms: i64) {
    let seconds = precise(ahead_ms.unsigned_abs()) / 1_000.0;
    gauge!(CLOCK_OFFSET, "clock" => clock.as_str()).set(if ahead_ms < 0 { -seconds } else { seconds });
}

/// Notes what a check of everything in the store has come to.
pub fn store_checked(last_good: Option<Timestamp>, problems: u64) {
    if let Some(last_good) = last_good {
        gauge!(STORE_CHECKED).set(precise(last_good.as_ms() / 1_000));
    }
    gauge!(STORE_PROBLEMS).set(precise(problems));
}

/// Until when the listener's certificate is valid.
pub fn show_certificate_end(ends_at: Timestamp) {
    gauge!(CERTIFICATE_END).set(precise(ends_at.as_ms() / 1_000));
}
