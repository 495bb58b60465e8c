//! What must hold of every call, whatever partners do.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use crate::harness::Answer;

/// What was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Search,
    /// A booking at a partner that is well.
    Sound,
    /// A booking at a partner that something is wrong with.
    Faulty,
}

/// Calls, and whatever of them should not have been.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Times by kind, and how each ended: `200`, or a status and the code of the error.
    pub(super) calls: BTreeMap<(Kind, String), Vec<Duration>>,
    /// At most [`BREACHES_MAX`]: one that recurs says no more.
    pub(super) breaches: Vec<String>,
}

/// Breaches that are kept.
const BREACHES_MAX: usize = 20;

impl Tally {
    /// Takes a call down.
    pub(super) fn add(&mut self, kind: Kind, answer: &Answer, took: Duration, breaches: Vec<String>) {
        let ended = match answer.body["error"]["code"].as_str() {
            Some(code) => format!("{} {code}", answer.status),
            None => answer.status.to_string(),
        };
        self.calls.entry((kind, ended)).or_default().push(took);
        self.breaches.extend(breaches);
        self.breaches.truncate(BREACHES_MAX);
    }

    pub(super) fn merge(&mut self, other: Self) {
        for (way, times) in other.calls {
            self.calls.entry(way).or_default().extend(times);
        }
        self.breaches.extend(other.breaches);
        self.breaches.truncate(BREACHES_MAX);
    }
}

/// The time below which so many of the calls stayed; times come shortest first.
pub(super) fn quantile(times: &[Duration], share: f64) -> Duration {
    let last = times.len().checked_sub(1).expect("there are calls");
    times[(last as f64 * share) as usize]
}

/// A call is over within its deadline and what is granted beyond it.
pub(super) fn in_time(what: &str, took: Duration, most: Duration) -> Option<String> {
    (took > most).then(|| format!("{what} took {} ms of at most {}", took.as_millis(), most.as_millis()))
}

/// A search is answered, with options of each of these partners.
pub(super) fn has_options_of(answer: &Answer, partners: &[&str]) -> Vec<String> {
    if answer.status != 200 {
        return vec![format!("a search was answered with {}: {}", answer.status, answer.body)];
    }
    let options = answer.body["options"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_there = |partner: &&str| options.iter().any(|option| option["partner"] == **partner);
    let outcome = |partner: &str| -> Value {
        let outcomes = answer.body["partners"].as_array().map(Vec::as_slice).unwrap_or_default();
        outcomes.iter().find(|outcome| outcome["partner"] == partner).cloned().unwrap_or_default()
    };
    let missing = partners.iter().filter(|partner| !is_there(partner));
    missing.map(|partner| format!("{partner} has no option: {}", outcome(partner))).collect()
}

/// A booking at a partner that is well succeeds.
pub(super) fn is_booked(answer: &Answer) -> Option<String> {
    (answer.status != 200).then(|| format!("a booking was answered with {}: {}", answer.status, answer.body))
}

/// A booking at any partner succeeds, or is refused with a code and a message; the gateway itself does not fail.
pub(super) fn is_booked_or_refused(answer: &Answer) -> Option<String> {
    let error = &answer.body["error"];
    let has = |member: &str| error[member].as_str().is_some_and(|text| !text.is_empty());
    let is_sound = match answer.status {
        200 => answer.body["payload"].is_object(),
        500 => false,
        _ => has("code") && has("message"),
    };
    (!is_sound).then(|| format!("a booking was answered with {}: {}", answer.status, answer.body))
}
