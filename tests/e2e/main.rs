//! The one end-to-end binary: the real gateway process, real partners over HTTP, real contracts.
//!
//! `cargo xtask test` builds what these tests start; run alone, they say what is missing.

mod allocations;
#[path = "../attacks/mod.rs"]
mod attacks;
mod calls;
mod catalogue;
mod classify;
mod completion;
mod console;
mod contract_cases;
mod crate_graph;
mod dining;
mod documented_codes;
mod faults;
mod faulty_candidates;
mod fleet;
mod golive;
mod harness;
mod health;
mod hostile_guests;
mod hostile_partners;
mod intents;
mod javascript;
mod linking;
mod loaded;
mod observability;
mod onboarding;
mod outages;
mod overload;
mod partners;
mod ranking;
mod receipts;
mod rollouts;
mod scripted;
mod search;
mod security_doc;
mod signing;
mod sources;
mod spec_coverage;
mod streams;
mod swap;
