//! Rounds over partners, connections, orders and calls, each by what is its own; what went wrong is logged.

use std::sync::Arc;
use std::time::Duration;

use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::error::chain;
use intent_gateway_onboarding::{DeliveredResults, GoLiveTests, LivePartners, LookedThrough, Probes, UnreportedOrders};
use intent_gateway_routing::calling::Caller;

use super::SharedParts;
use crate::readiness::TaskRounds;

/// How often gateways tell each other of partners that want to be left alone: twice this, and the store's time, is well within the second in
/// which they must know.
const BACK_OFF_POLL: Duration = Duration::from_millis(250);
/// How often the ends of calls are recorded that the store did not take.
const SETTLE_POLL: Duration = Duration::from_millis(250);
/// Tells what the dates of connections have ended, or end soon: the time after a failed test, what people have confirmed.
pub(super) async fn tell_ends(live: Arc<LivePartners>, tests: Arc<GoLiveTests>, rounds: TaskRounds) {
    if !live.is_due() {
        return rounds.note(true);
    }
    let (retests, confirmations) = (tests.tell_ended_retests().await, tests.tell_ending_confirmations().await);
    rounds.note(retests.is_ok() && confirmations.is_ok());
    if let Err(error) = retests {
        tracing::error!(error = %chain(&error), "partners could not be told that the time after a failed test is over");
    }
    match confirmations {
        Ok(0) => {}
        Ok(told) => tracing::info!(told, "partners were told of confirmations that end"),
        Err(error) => tracing::error!(error = %chain(&error), "partners could not be told of confirmations that end"),
    }
}

pub(super) async fn review_inflation(results: Arc<DeliveredResults>, rounds: TaskRounds) {
    let reviewed = results.review_inflation().await;
    rounds.note_result(&reviewed);
    match reviewed {
        Ok(0) => {}
        Ok(raised) => tracing::warn!(raised, "declared signals are far from what was delivered; see the reviews"),
        Err(error) => tracing::error!(error = %chain(&error), "delivered results could not be compared"),
    }
}

/// Tells the other gateways of partners that have asked this one to slow down, and hears of theirs.
pub(super) async fn exchange_back_offs(sharing: SharedParts, clock: Arc<dyn Clock>, rounds: TaskRounds) {
    let SharedParts { fleet, counts, pace } = sharing;
    let mut is_failing = false;
    loop {
        tokio::time::sleep(BACK_OFF_POLL).await;
        let Some(pace) = pace.as_ref().filter(|_| fleet.shares_counts()) else {
            rounds.note(true);
            continue;
        };
        let untold = pace.take_untold(clock.now());
        if !untold.is_empty()
            && let Err(error) = counts.tell_back_offs(&untold).await
        {
            pace.put_back_untold(untold);
            rounds.note(false);
            if !std::mem::replace(&mut is_failing, true) {
                tracing::warn!(error = %chain(&error), "the other gateways are not told which partners want to be left alone");
            }
            continue;
        }
        let heard = counts.back_offs().await;
        rounds.note_result(&heard);
        match heard {
            Ok(heard) => {
                let now = clock.now();
                heard.iter().for_each(|back_off| pace.hear_back_off(back_off, now));
                is_failing = false;
            }
            Err(error) => {
                if !std::mem::replace(&mut is_failing, true) {
                    tracing::warn!(error = %chain(&error), "it is not known which partners have asked other gateways to slow down");
                }
            }
        }
    }
}

pub(super) async fn probe(probes: Arc<Probes>, rounds: TaskRounds) {
    let probed = probes.run_due().await;
    rounds.note_result(&probed);
    match probed {
        Ok(0) => {}
        Ok(probed) => tracing::info!(probed, "live partners were probed"),
        Err(error) => tracing::error!(error = %chain(&error), "due probes could not be made"),
    }
}

pub(super) async fn look_after(unreported: Arc<UnreportedOrders>, rounds: TaskRounds) {
    let looked = unreported.look_through().await;
    rounds.note_result(&looked);
    match looked {
        Ok(LookedThrough { noted: 0, found: 0 }) => {}
        Ok(LookedThrough { noted, found }) => tracing::info!(noted, found, "orders were not reported in time"),
        Err(error) => tracing::error!(error = %chain(&error), "open orders could not be looked through"),
    }
}

/// Records ends of calls that the store did not take, and forgets rankings that were held for their time.
pub(super) async fn settle(caller: Arc<Caller>, rounds: TaskRounds) {
    loop {
        tokio::time::sleep(SETTLE_POLL).await;
        caller.settle_waiting().await;
        caller.shown_rankings.forget_old(caller.clock.now());
        rounds.note(caller.unsettled.is_empty());
    }
}
