//! Watches the wall clock ([`intent_gateway_domain::clock::watch`]) against the steady one, the store's and the partners', and
//! tells once what is wrong with it.

use std::sync::Arc;
use std::time::Duration;

use intent_gateway_domain::clock::peers::PeerClocks;
use intent_gateway_domain::clock::watch::{AGREE_MS, LOOK_EVERY, WatchedClock};
use intent_gateway_domain::error::chain;
use intent_gateway_domain::telemetry::{self, OtherClock};
use intent_gateway_store::SqlStore;

use crate::readiness::TaskRounds;

/// How often other clocks are asked.
const COMPARE_EVERY: Duration = Duration::from_secs(30);

/// The clock, and those that it is compared with.
#[derive(Clone)]
pub(crate) struct Clocks {
    pub(crate) own: Arc<WatchedClock>,
    pub(crate) store: Arc<SqlStore>,
    pub(crate) partners: Arc<PeerClocks>,
}

/// Watches, for ever.
pub(crate) async fn watch(clocks: Clocks, rounds: TaskRounds) {
    let (mut store, mut partners) = (Difference::new(OtherClock::Store), Difference::new(OtherClock::Partners));
    let mut compared_at: Option<tokio::time::Instant> = None;
    loop {
        let jump = clocks.own.look();
        if let Some(jump) = jump {
            telemetry::clock_jumped();
            tracing::error!(
                by_seconds = jump.by_ms / 1_000,
                "THE CLOCK WAS SET: what is kept for a time is not forgotten by it until another clock shows the same, or for an hour"
            );
        }
        if jump.is_some() || compared_at.is_none_or(|at| at.elapsed() >= COMPARE_EVERY) {
            compared_at = Some(tokio::time::Instant::now());
            match clocks.store.clock().await {
                Ok(Some(shown)) => store.tell(clocks.own.compare(shown)),
                // SQLite has no other clock than this machine's.
                Ok(None) => {}
                // That the store cannot be reached is told by whoever needs it.
                Err(error) => tracing::debug!(error = chain(&error), "the store's clock cannot be asked"),
            }
            if let Some(shown) = clocks.partners.middle() {
                partners.tell(clocks.own.compare(shown));
            }
        }
        rounds.note(true);
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// A difference from another clock, told when it comes and when it goes.
struct Difference {
    from: OtherClock,
    is_told: bool,
}

impl Difference {
    fn new(from: OtherClock) -> Self {
        Self { from, is_told: false }
    }

    fn tell(&mut self, ahead_ms: i64) {
        telemetry::clock_offset(self.from, ahead_ms);
        let is_large = ahead_ms.unsigned_abs() > AGREE_MS;
        if is_large != self.is_told {
            let (from, ahead_seconds) = (self.from.as_str(), ahead_ms / 1_000);
            match is_large {
                true => tracing::error!(from, ahead_seconds, "another clock shows another time than this machine's"),
                false => tracing::info!(from, "another clock shows the same time again"),
            }
        }
        self.is_told = is_large;
    }
}
