//! Bursts of faults: of each kind the first is kept whole, and those that follow it within a minute are counted with it.
//! Of more kinds than are kept in that time the further ones are counted with the last that is.

use std::collections::HashMap;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::faults::{BURST_MS, FaultKind, KINDS_PER_BURST_MAX};
use intent_gateway_domain::id::IntentId;

use super::Repeats;

/// Names a fault that is to be kept, before it has its number.
pub(super) type Ticket = u64;

/// The outcome of late, by intent. A burst is over when it is handed out for the first time after its minute.
#[derive(Default)]
pub(super) struct Bursts {
    last_ticket: Ticket,
    intents: HashMap<IntentId, Burst>,
}

struct Burst {
    began: Timestamp,
    kinds: Vec<Seen>,
}

struct Seen {
    kind: FaultKind,
    ticket: Ticket,
    /// What was not handed out yet.
    repeats: Repeats,
}

/// What was counted with a fault since it was handed out last.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) ticket: Ticket,
    pub(super) repeats: Repeats,
    /// Whether nothing more will be counted with it.
    pub(super) is_over: bool,
}

impl Bursts {
    /// Takes a fault into account; a ticket where it is to be kept whole.
    pub(super) fn add(&mut self, intent: &IntentId, kind: FaultKind, now: Timestamp) -> Option<Ticket> {
        let begun = || Burst { began: now, kinds: Vec::new() };
        let burst = self.intents.entry(intent.clone()).or_insert_with(begun);
        if let Some(seen) = burst.kinds.iter_mut().find(|seen| seen.kind == kind) {
            seen.repeats.times += 1;
            seen.repeats.last_at = now;
            return None;
        }
        if burst.kinds.len() >= KINDS_PER_BURST_MAX {
            if let Some(last) = burst.kinds.last_mut() {
                last.repeats.others += 1;
            }
            return None;
        }
        self.last_ticket += 1;
        let ticket = self.last_ticket;
        burst.kinds.push(Seen { kind, ticket, repeats: Repeats { times: 0, others: 0, last_at: now } });
        Some(ticket)
    }

    /// Hands out what was counted with faults that are kept, and forgets what is over. What was counted with a fault that still
    /// waits to be kept stays until then.
    pub(super) fn drain(&mut self, now: Timestamp, is_kept: impl Fn(Ticket) -> bool) -> Vec<Counted> {
        let mut counted = Vec::new();
        self.intents.retain(|_, burst| {
            let is_over = burst.is_over(now);
            for Seen { ticket, repeats, .. } in &mut burst.kinds {
                if is_over || (repeats.is_any() && is_kept(*ticket)) {
                    counted.push(Counted { ticket: *ticket, repeats: *repeats, is_over });
                    (repeats.times, repeats.others) = (0, 0);
                }
            }
            !is_over
        });
        counted
    }

    /// Whether more may be counted with a fault.
    pub(super) fn holds(&self, ticket: Ticket) -> bool {
        self.intents.values().any(|burst| burst.kinds.iter().any(|seen| seen.ticket == ticket))
    }
}

impl Burst {
    fn is_over(&self, now: Timestamp) -> bool {
        now.ms_since(self.began) >= BURST_MS
    }
}

impl Repeats {
    pub(super) fn is_any(self) -> bool {
        self.times > 0 || self.others > 0
    }
}

#[cfg(test)]
mod tests {
    use intent_gateway_domain::digest::Digest;
    use intent_gateway_domain::error::ContractFault;
    use intent_gateway_domain::faults::{CallRef, FaultNote, Told};

    use super::*;

    fn intent(name: &str) -> IntentId {
        IntentId::parse(name).expect("well formed")
    }

    /// A trap at a line, of which something was said that differs with each input.
    fn kind(line: usize, said: &str) -> FaultKind {
        let told = Some(Box::new(Told::new(said, Some(&format!("src/tea.rs:{line}")))));
        let fault = ContractFault::Trap { cause: "unreachable".to_owned(), told };
        let (intent, version) = (intent("test.tea"), semver::Version::new(1, 0, 0));
        let (contract, call) = (Digest::of(b"tea"), CallRef::Classify("tea", "en-IN"));
        FaultNote { intent: &intent, version: &version, contract, fault: &fault, call }.kind()
    }

    #[test]
    fn of_each_kind_the_first_of_a_minute_is_kept_and_the_others_are_counted() {
        let (mut bursts, tea, at) = (Bursts::default(), intent("test.tea"), Timestamp::from_ms);
        assert_eq!(bursts.add(&tea, kind(1, "5 is no tea"), at(0)), Some(1));
        assert_eq!(bursts.add(&tea, kind(1, "6 is no tea"), at(10)), None);
        assert_eq!(bursts.add(&tea, kind(2, "x"), at(20)), Some(2));
        assert_eq!(bursts.add(&intent("test.cake"), kind(1, "x"), at(20)), Some(3), "each intent has its own");
        let repeats = |times, others, ms| Repeats { times, others, last_at: at(ms) };
        let first = Counted { ticket: 1, repeats: repeats(1, 0, 10), is_over: false };
        assert_eq!(bursts.drain(at(30), |_| true), [first]);
        assert_eq!(bursts.drain(at(30), |_| true), [], "once");
        assert_eq!(bursts.add(&tea, kind(1, "x"), at(40)), None);
        let mut over = bursts.drain(at(BURST_MS + 20), |_| true);
        over.sort_by_key(|counted| counted.ticket);
        let over: Vec<_> = over.iter().map(|one| (one.ticket, one.repeats.times, one.is_over)).collect();
        assert_eq!(over, [(1, 1, true), (2, 0, true), (3, 0, true)]);
        assert_eq!(bursts.add(&tea, kind(1, "x"), at(BURST_MS + 21)), Some(4), "a new minute");
    }

    #[test]
    fn what_is_counted_before_its_fault_is_kept_waits_for_it() {
        let (mut bursts, tea, at) = (Bursts::default(), intent("test.tea"), Timestamp::from_ms(5));
        assert_eq!(bursts.add(&tea, kind(1, "x"), at), Some(1));
        assert_eq!(bursts.add(&tea, kind(1, "x"), at), None);
        assert_eq!(bursts.drain(at, |_| false), []);
        let first = Counted { ticket: 1, repeats: Repeats { times: 1, others: 0, last_at: at }, is_over: false };
        assert_eq!(bursts.drain(at, |ticket| ticket == 1), [first]);
        assert!(bursts.holds(1) && !bursts.holds(2));
        bursts.drain(Timestamp::from_ms(5 + BURST_MS), |_| true);
        assert!(!bursts.holds(1), "its minute is over");
    }

    #[test]
    fn kinds_beyond_those_that_are_kept_are_counted_with_the_last() {
        let (mut bursts, tea, at) = (Bursts::default(), intent("test.tea"), Timestamp::from_ms(5));
        let tickets = (0..KINDS_PER_BURST_MAX + 3).filter_map(|line| bursts.add(&tea, kind(line, "x"), at)).count();
        assert_eq!(tickets, KINDS_PER_BURST_MAX);
        let last = Counted {
            ticket: KINDS_PER_BURST_MAX as u64,
            repeats: Repeats { times: 0, others: 3, last_at: at },
            is_over: false,
        };
        assert_eq!(bursts.drain(at, |_| true), [last]);
    }
}
