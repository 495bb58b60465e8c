//! How well utterances find their intent, and what it costs to wake no more contracts than needed.
//!
//! The words of the shipped contracts are judged by the host's rules on the two labelled halves of
//! `tests/utterances`, natively: neither a sandbox nor an optimised build is needed.
//!
//! ```text
//! cargo bench --package intent-gateway-tests --bench classification --profile dev [-- [tuning] [mistakes] [cost]]
//! ```
//!
//! `tuning` leaves the held-out half alone and `mistakes` shows what went wrong in the tuning half; the held-out
//! half shows counts only, because the words of a contract must not be written from it. `cost` is all but the halves.

#![expect(clippy::print_stdout, reason = "a bench prints its results")]

mod cost;
mod native;

use std::collections::BTreeSet;

use intent_gateway_domain::classify::{Classified, Decision, classify};
use intent_gateway_domain::ports::Contracts as _;
use intent_gateway_tests::labelled::{Tally, label, read};

use crate::native::shipped;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let asked = |word: &str| arguments.iter().any(|argument| argument == word);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    if !asked("cost") {
        runtime.block_on(judge("tuning", asked("mistakes")));
        if !asked("tuning") {
            runtime.block_on(judge("held-out", false));
        }
    }
    if !asked("tuning") {
        cost::run(shipped().all().iter().map(|contract| contract.descriptor().cues.clone()).collect());
    }
}

async fn judge(half: &str, mistakes: bool) {
    let contracts = shipped();
    let mut tally = Tally::default();
    for asked in &read(half) {
        let classified = classify(&*contracts, &asked.utterance, "en-IN").await;
        let also: BTreeSet<String> = classified.also.iter().cloned().collect();
        let label = label(name(&classified), classified.intent.as_deref());
        let right = tally.add(asked, &label, &also);
        if mistakes && !(right && also == asked.also) {
            println!(
                "{}\n    expected {} {:?}\n    answered {label} {also:?}",
                asked.utterance, asked.expected, asked.also
            );
            for claim in &classified.candidates {
                println!("    {} {:.2} {:?}", claim.intent, claim.score, claim.evidence);
            }
            for pointer in &classified.elsewhere {
                println!("    elsewhere {} {:.2}", pointer.intent, pointer.score);
            }
        }
    }
    println!("{}", tally.report(half));
}

fn name(classified: &Classified) -> &'static str {
    match classified.decision {
        Decision::Intent => "intent",
        Decision::Elsewhere => "elsewhere",
        Decision::None => "none",
    }
}
