//! Faults between the gateway and its partners: a soak under all of them in turn, and a search with a partner that hangs.
//!
//! Partners are real processes ([`fleet`]); what goes wrong is the doing of a proxy before each ([`chaos::proxy`]). What must
//! hold of every call is told by [`checks`], and [`sabotage`] shows that each of these checks can fail.
#![expect(clippy::print_stderr, reason = "the figures are for whoever asks with --nocapture")]

mod checks;
mod fleet;
mod hanging;
mod load;
mod sabotage;
mod soak;
mod storm;

use std::time::Duration;

/// The deadline of a search, set for these tests. Not below the p95 target of the search tool: whoever was given less
/// time has not failed by running out of it, and would be called for ever.
const SEARCH_DEADLINE: Duration = Duration::from_millis(2_000);
/// The deadline of a call (spec 1, Limits).
const CALL_DEADLINE: Duration = Duration::from_secs(30);
/// What a call may take beyond its deadline: the gateway's own work, and a machine that builds something else meanwhile.
const GRACE: Duration = Duration::from_millis(1_500);
