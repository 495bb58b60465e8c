//! A partner that answers 429 to everything: it is left alone as it asks, or longer each time, and nobody else waits for it.
//!
//! The soak has the rates switched off; here they are as they are by default.

use std::time::{Duration, Instant};

use super::checks::{has_options_of, in_time};
use super::fleet::{Fleet, Rates};
use super::{GRACE, SEARCH_DEADLINE};
use chaos::proxy::Fault;

const WELL: [&str; 2] = ["well-1", "well-2"];
const STORMING: &str = "storming";
/// How long is searched: the first two waits of 1 s and 4 s are over, the third of 16 s is not.
const TIME: Duration = Duration::from_secs(8);
/// Searches; below the rate that the contract states for a partner, 60 a minute.
const SEARCHES: u32 = 40;
/// Requests that may reach the partner in this time: at once, after 1 s, after 4 s more.
const REQUESTS_MAX: usize = 3;
/// What another one asks for, seconds: longer than that lasts.
const RETRY_AFTER_S: u32 = 60;

/// Searches for a while; how many requests the partner got.
async fn searched(fleet: &Fleet, fault: Fault) -> usize {
    let start = Instant::now();
    fleet.proxy(STORMING).set(fault);
    for number in 0..SEARCHES {
        let (answer, took) = fleet.search().await;
        assert_eq!(has_options_of(&answer, &WELL), Vec::<String>::new());
        assert_eq!(in_time("a search", took, SEARCH_DEADLINE + GRACE), None);
        tokio::time::sleep_until((start + TIME * number / SEARCHES).into()).await;
    }
    fleet.proxy(STORMING).met().get(&fault).copied().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partner_that_asks_to_slow_down_is_left_alone() {
    let asked = async |fault| {
        let fleet = Fleet::start(&["well-1", "well-2", STORMING], Rates::Kept).await;
        searched(&fleet, fault).await
    };
    let (untold, told) = tokio::join!(asked(Fault::RateLimited(None)), asked(Fault::RateLimited(Some(RETRY_AFTER_S))));
    eprintln!("without a time to wait: {untold} of {SEARCHES} searches reached it");
    assert!((2..=REQUESTS_MAX).contains(&untold), "{untold}");
    eprintln!("asking for {RETRY_AFTER_S} s: {told} of {SEARCHES} searches reached it");
    assert_eq!(told, 1);
}
