//! What the API sends and takes, each type defined once: the server writes and reads it, the commands read and write it, and
//! the OpenAPI document describes it.
//!
//! A type of the rules that is sent as it is needs no second definition: it derives its schema where it stands, behind the
//! feature `schema` of its crate. These are
//!
//! - of `domain`: everything that a contract declares ([`Descriptor`](intent_gateway_domain::contract::Descriptor) and
//!   all that it holds), [`Violation`](intent_gateway_domain::contract::Violation),
//!   [`Axes`](intent_gateway_domain::contract::Axes), what a classification came to, a finding's severity, the receipt of a
//!   ranking, the call in which a contract failed, who acted, the steps of a probe, samples and items of a go-live check, the percentiles of calls;
//! - of `onboarding`: states of connections, manifests and reviews, a manifest's flags, a review's checklist and how the
//!   partner sees it, inflated signals, the profile of a business, the next steps of an account, what a notice is about;
//! - of `outbound`: the state of a breaker;
//! - of `ledger`: accounts, a statement's totals, the acknowledgement of a report.
//!
//! Everything else is defined here, beside the conversion from what it is made of. Times are ISO 8601 in UTC, amounts in
//! INR with two decimals. A secret is in a body once, when it is issued; afterwards [`REDACTED`](account::REDACTED) takes
//! its place.
//!
//! Not here: HTTP, statuses, routes. Bodies that contracts define themselves (requests of searches, manifests) have no
//! type here either.

pub mod account;
pub mod approvals;
pub mod audit;
pub mod classification;
pub mod connection;
pub mod contracts;
pub mod delivered;
pub mod documents;
pub mod error;
pub mod event;
pub mod evidence;
pub mod faults;
pub mod gateways;
pub mod health;
pub mod intents;
pub mod ledger;
pub mod links;
pub mod manifest;
pub mod notice;
pub mod operations;
pub mod orders;
pub mod overdue;
pub mod partners;
pub mod read;
pub mod report;
pub mod review;
pub mod rollouts;
pub mod search;
pub mod sent_events;
pub mod settings;
pub mod tool;
pub mod traffic;
pub mod trial;
pub mod user_data;

use intent_gateway_domain::clock::Timestamp;
use serde::Serialize;
use serde_json::Value;

/// A moment.
#[must_use]
pub fn time(at: Timestamp) -> String {
    // Only a corrupt record is that far in the future.
    at.to_jiff().unwrap_or(jiff::Timestamp::MAX).to_string()
}

/// The name of a variant without members, as it is sent.
#[must_use]
pub fn name(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(name)) => name,
        // Whatever has members is shown whole.
        other => format!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_iso_8601_in_utc() {
        assert_eq!(time(Timestamp::from_ms(1_800_000_000_000)), "2027-01-15T08:00:00Z");
        assert_eq!(time(Timestamp::from_ms(1_800_000_000_042)), "2027-01-15T08:00:00.042Z");
        assert_eq!(time(Timestamp::from_ms(0)), "1970-01-01T00:00:00Z");
        assert!(time(Timestamp::MAX).starts_with("9999-"));
    }

    #[test]
    fn variants_are_named_as_they_are_sent() {
        assert_eq!(name(&ledger::KindName::Memorandum), "memorandum");
        assert_eq!(name(&intent_gateway_domain::probe::Step::ListTools), "list_tools");
    }
}
