//! What a run showed: a row for each kind of fault, and a verdict for each thing that must hold.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::flat::{Look, growth, halves};
use crate::honesty::{Judged, RECOVERY_MAX_MS, judge};
use crate::plan::{GATEWAYS, Kind};
use crate::record::{Attempt, Injected};
use crate::recovery::{Recovery, recovery};

/// Breaches of one kind that are shown.
const SHOWN_MAX: usize = 10;
/// Faults that are named with a breach lie no further from it, milliseconds.
const NEAR_MS: u64 = 10_000;

/// What happened under one kind of fault.
#[derive(Debug, Serialize)]
pub struct Row {
    /// Its name.
    pub fault: &'static str,
    /// When it was injected, seconds since the load began.
    pub at_seconds: Vec<u64>,
    /// Requests that were under way during it, by what was asked and how it ended.
    pub requests: BTreeMap<String, usize>,
    /// The longest recovery, milliseconds; none where it was never told.
    pub longest_recovery_ms: Option<u64>,
}

/// Whether something holds.
#[derive(Debug, Serialize)]
pub struct Verdict {
    /// What must hold.
    pub what: &'static str,
    /// How much was looked at.
    pub looked_at: usize,
    /// How often it does not hold.
    pub breaches: usize,
    /// At most [`SHOWN_MAX`] of them, those that are alike counted, the most frequent first.
    pub shown: Vec<String>,
}

impl Verdict {
    /// Of what was looked at, and everything that breaks it.
    #[must_use]
    pub fn new(what: &'static str, looked_at: usize, breaches: Vec<String>) -> Self {
        let mut alike: BTreeMap<&str, usize> = BTreeMap::new();
        for breach in &breaches {
            *alike.entry(breach).or_default() += 1;
        }
        let show = |(breach, times): (&str, usize)| match times {
            1 => breach.to_owned(),
            times => format!("{times} times: {breach}"),
        };
        let mut alike: Vec<(&str, usize)> = alike.into_iter().collect();
        alike.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
        let shown = alike.into_iter().take(SHOWN_MAX).map(show).collect();
        Self { what, looked_at, breaches: breaches.len(), shown }
    }

    /// Whether it holds.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.breaches == 0
    }
}

/// What a run showed.
#[derive(Debug, Serialize)]
pub struct Summary {
    pub seed: u64,
    /// How long the load lasted, seconds.
    pub seconds: u64,
    /// Users begun in a second.
    pub rate: f64,
    pub requests: usize,
    pub rows: Vec<Row>,
    pub verdicts: Vec<Verdict>,
    /// What is told and not judged.
    pub notes: Vec<String>,
}

impl Summary {
    /// Whether everything holds.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.verdicts.iter().all(Verdict::holds)
    }
}

/// One row for each kind that was injected. `attempts` are in the order in which they began.
#[must_use]
pub fn rows(injected: &[Injected], attempts: &[Attempt]) -> Vec<Row> {
    let row = |kind: Kind| {
        let of_kind: Vec<&Injected> = injected.iter().filter(|one| one.kind == kind).collect();
        let mut requests: BTreeMap<String, usize> = BTreeMap::new();
        for attempt in attempts {
            let is_during = |one: &&&Injected| {
                one.concerns(attempt.gateway) && attempt.began_ms <= one.ended_ms && attempt.ended_ms >= one.began_ms
            };
            if of_kind.iter().any(|one| is_during(&one)) {
                *requests.entry(format!("{} {}", attempt.call, attempt.outcome)).or_default() += 1;
            }
        }
        let longest = of_kind.iter().filter_map(|one| match recovery(one, injected, attempts) {
            Recovery::After(ms) => Some(ms),
            Recovery::Never | Recovery::Unknown => None,
        });
        let longest_recovery_ms = longest.max();
        let at_seconds = of_kind.iter().map(|one| one.began_ms / 1_000).collect();
        Row { fault: kind.name(), at_seconds, requests, longest_recovery_ms }
    };
    Kind::ALL.into_iter().map(row).filter(|row| !row.at_seconds.is_empty()).collect()
}

/// The verdict on all answers, and how many are known not to be honest. What was under way while the bench itself stood still
/// (`stalls`, from and to) is left out.
#[must_use]
pub fn honest(injected: &[Injected], attempts: &[Attempt], stalls: &[(u64, u64)]) -> (Verdict, Vec<String>) {
    let mut gaps: BTreeMap<String, usize> = BTreeMap::new();
    let mut breaches = Vec::new();
    let is_told =
        |one: &&Attempt| !stalls.iter().any(|(from_ms, to_ms)| one.began_ms <= *to_ms && one.ended_ms >= *from_ms);
    let told: Vec<&Attempt> = attempts.iter().filter(is_told).collect();
    for attempt in &told {
        match judge(attempt, injected) {
            Judged::Honest => {}
            Judged::Gap(gap) => *gaps.entry(gap).or_default() += 1,
            Judged::Breach(breach) => {
                let near = |one: &&Injected| {
                    attempt.began_ms <= one.ended_ms + NEAR_MS && attempt.ended_ms + NEAR_MS >= one.began_ms
                };
                let names: Vec<&str> = injected.iter().filter(near).map(|one| one.kind.name()).collect();
                let near = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
                let Attempt { gateway, began_ms, .. } = attempt;
                breaches.push(format!("{breach}, gateway {}, at {} s, near {near}", gateway + 1, began_ms / 1_000));
            }
        }
    }
    let gaps = gaps.into_iter().map(|(gap, times)| format!("known not to be honest, {times} times: {gap}"));
    let mut notes: Vec<String> = gaps.collect();
    if !stalls.is_empty() {
        let left_out = attempts.len() - told.len();
        notes.push(format!("the bench stood still {} times: {left_out} answers are left out", stalls.len()));
    }
    (Verdict::new("every answer is honest", told.len(), breaches), notes)
}

/// The verdict on recoveries.
#[must_use]
pub fn recovers(injected: &[Injected], attempts: &[Attempt]) -> Verdict {
    let breach = |one: &Injected| {
        let took = match recovery(one, injected, attempts) {
            Recovery::After(ms) if ms <= RECOVERY_MAX_MS => return None,
            Recovery::After(ms) => format!("after {ms} ms"),
            Recovery::Never => "not before the next one".to_owned(),
            Recovery::Unknown => return None,
        };
        Some(format!("{} at {:?}, {} s: {took}", one.kind.name(), one.place, one.began_ms / 1_000))
    };
    let breaches = injected.iter().filter_map(breach).collect();
    Verdict::new("everything recovers within 5 s of a fault's end", injected.len(), breaches)
}

/// The verdict on what gateways hold, and the figures.
#[must_use]
pub fn flat(looks: &[Vec<Look>; GATEWAYS], run_ms: u64) -> (Verdict, Vec<String>) {
    let (mut breaches, mut notes) = (Vec::new(), Vec::new());
    let mut looked_at = 0;
    for (number, looks) in (1..).zip(looks) {
        let Some(both) = halves(looks, run_ms) else {
            notes.push(format!("gateway {number} never ran for long enough to tell what it holds"));
            continue;
        };
        looked_at += looks.len();
        breaches.extend(growth(&both).into_iter().map(|what| format!("gateway {number}: {what}")));
        let [first, second] = both;
        notes.push(format!(
            "gateway {number}, first half and second: {} and {} MiB, {} and {} threads, {} and {} open files, {} and {} on disk",
            first.memory >> 20,
            second.memory >> 20,
            first.threads,
            second.threads,
            first.open,
            second.open,
            first.on_disk,
            second.on_disk
        ));
    }
    (Verdict::new("memory, threads and files stay as they are", looked_at, breaches), notes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Place;
    use crate::record::{Call, Outcome};

    fn attempt(began_ms: u64, outcome: Outcome) -> Attempt {
        let (gateway, faulty_partner, says_when, is_first, is_in_doubt) = (0, None, false, true, false);
        let (call, ended_ms) = (Call::Search, began_ms + 5);
        Attempt { call, gateway, faulty_partner, began_ms, ended_ms, outcome, says_when, is_first, is_in_doubt }
    }

    #[test]
    fn a_run_is_summed_up_by_kinds_and_judged() {
        let kill =
            |began_ms| Injected { kind: Kind::Kill, place: Place::Gateway(0), began_ms, ended_ms: began_ms + 1_000 };
        let injected = [kill(10_000), kill(40_000)];
        let is_down = |ms| (10_000..11_000).contains(&ms) || (40_000..48_500).contains(&ms);
        let outcome = |ms| if is_down(ms) { Outcome::NoConnection } else { Outcome::Full };
        let attempts: Vec<Attempt> = (0..600).map(|step| attempt(step * 100, outcome(step * 100))).collect();
        let rows = rows(&injected, &attempts);
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].fault, rows[0].longest_recovery_ms), ("kill", Some(7_500)));
        assert_eq!(rows[0].at_seconds, [10, 40]);
        assert_eq!(rows[0].requests["search no connection"], 21, "{:?}", rows[0].requests);
        let recovers = recovers(&injected, &attempts);
        assert_eq!((recovers.looked_at, recovers.breaches), (2, 1));
        let (judged, gaps) = honest(&injected, &attempts, &[]);
        assert_eq!((judged.breaches, gaps), (72, Vec::new()));
        assert_eq!(judged.shown[0], "10 times: search: no connection, gateway 1, at 42 s, near kill");
        assert!(honest(&injected, &attempts[..400], &[]).0.holds());
        assert!(honest(&injected, &attempts, &[(41_000, 49_000)]).0.holds(), "it stood still");
    }
}
