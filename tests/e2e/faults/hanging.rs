//! Ten partners, one of which hangs.
//!
//! The first searches wait for it until their deadline, and have the options of the other nine. Then its breaker is open,
//! and searches leave it out; now and then one is let through to see whether it answers again.

use std::time::Duration;

use chaos::proxy::Fault;
use futures_util::future::join_all;

use super::checks::{has_options_of, in_time, quantile};
use super::fleet::{Fleet, Rates};
use super::{GRACE, SEARCH_DEADLINE};
use crate::harness::Answer;

const WELL: [&str; 9] = ["well-1", "well-2", "well-3", "well-4", "well-5", "well-6", "well-7", "well-8", "well-9"];
const HANGS: &str = "hangs";
/// Searches that begin before anything is known of the partner.
const FIRST: usize = 20;
/// Searches after that, one after the other.
const LATER: usize = 100;
/// Of these, at most so many may be let through to the partner: its breaker's waits are 5 s, 10 s and so on.
const LET_THROUGH_MAX: usize = 3;

/// What the answer says of the partner that hangs: a status, and a code.
fn told(answer: &Answer) -> (String, String) {
    let outcomes = answer.body["partners"].as_array().expect("a list");
    let outcome = outcomes.iter().find(|outcome| outcome["partner"] == HANGS).expect("each is told of");
    let text = |member: &str| outcome[member].as_str().unwrap_or_default().to_owned();
    (text("status"), text("code"))
}

fn print(what: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let [p50, p99, max] = [0.5, 0.99, 1.0].map(|share| quantile(times, share).as_millis());
    eprintln!("{what}: {} searches, p50 {p50} ms, p99 {p99} ms, longest {max} ms", times.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_has_nine_partners_options_when_the_tenth_hangs() {
    let partners: Vec<&str> = WELL.into_iter().chain([HANGS]).collect();
    let fleet = Fleet::start(&partners, Rates::Off).await;
    let mut well = Vec::new();
    for _ in 0..FIRST {
        let (answer, took) = fleet.search().await;
        assert_eq!(has_options_of(&answer, &partners), Vec::<String>::new());
        well.push(took);
    }
    print("ten partners, all well", &mut well);

    fleet.proxy(HANGS).set(Fault::Silent);
    let mut first = Vec::new();
    for (answer, took) in join_all((0..FIRST).map(|_| fleet.search())).await {
        assert_eq!(has_options_of(&answer, &WELL), Vec::<String>::new());
        assert_eq!(told(&answer), ("failed".to_owned(), "PARTNER_TIMEOUT".to_owned()));
        assert!(took >= SEARCH_DEADLINE, "nobody knew yet: {took:?}");
        assert_eq!(in_time("a search", took, SEARCH_DEADLINE + GRACE), None);
        first.push(took);
    }
    print("one of them hangs, first searches", &mut first);

    let (mut later, mut let_through) = (Vec::new(), 0);
    for _ in 0..LATER {
        let (answer, took) = fleet.search().await;
        assert_eq!(has_options_of(&answer, &WELL), Vec::<String>::new());
        match told(&answer).0.as_str() {
            "left_out" => assert!(took < SEARCH_DEADLINE, "it was left out, and waited for: {took:?}"),
            _ => let_through += 1,
        }
        later.push(took);
    }
    print(&format!("one of them hangs, later searches, {let_through} let through to it"), &mut later);
    assert!(let_through <= LET_THROUGH_MAX, "{let_through} searches waited for it");
}
