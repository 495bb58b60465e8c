//! What happens often and stands in the audit log all the same: sign-ins, failures to sign in, refused changes, reads of what
//! was kept of users and businesses.
//!
//! Within a minute, what one actor does of one kind to one subject is folded: its first entry is written at once, and what
//! came after it is one entry more when the minute is over. So nobody makes the log grow by asking again and again, and who
//! did what from where can be read there all the same.
//!
//! What is read by somebody who is known is named, however much it is: an entry that can name no more is written, and another
//! begins. So such reads make the log grow by one entry for every [`NAMED_MAX`] of them at most. What anybody can make happen
//! without being known, as a failure to sign in, is counted beyond that.
//!
//! Not here: when the entries are written, which the gateway decides; what is lost with the process is a moment's.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::audit::{Actor, AuditDraft};
use crate::clock::Timestamp;

/// Time over which accesses are folded, milliseconds.
pub const FOLD_MS: u64 = 60 * 1_000;
/// Folds at once of what need not be named, of all actors together; what comes beyond is folded by its kind alone.
pub const FOLDS_MAX: usize = 4_096;
/// Things, or networks, that one entry names; of more it gives the number, or another entry begins.
pub const NAMED_MAX: usize = 20;
/// Subject and actor of what was folded by its kind alone.
const OTHERS: &str = "others";

/// Something that was done.
#[derive(Clone, Debug)]
pub struct Access {
    pub at: Timestamp,
    pub actor: Actor,
    /// As the audit log names it.
    pub action: &'static str,
    /// The account concerned, or whoever did it.
    pub subject: String,
    /// What was read, or why it failed; never a secret.
    pub what: Option<String>,
    /// Whether the log has to name all of it: what a known caller has read. The rest is counted beyond [`NAMED_MAX`], and beyond
    /// [`FOLDS_MAX`] without its actor.
    pub names_all: bool,
}

/// What is folded together: the minute, role and subject of the actor, action, subject.
type Key = (u64, String, String, &'static str, String);

/// What one entry will say.
#[derive(Debug, Default)]
struct Fold {
    /// Accesses that no entry has told of yet.
    times: u64,
    first_at: Timestamp,
    what: Names,
    from: Names,
    scope: Names,
    /// Whether an entry has told of some.
    told: bool,
}

/// Different texts, the first of them by name.
#[derive(Debug, Default)]
struct Names {
    named: Vec<String>,
    /// Further texts, counted as often as they come.
    more: u64,
}

impl Names {
    fn add(&mut self, text: Option<String>) {
        let Some(text) = text.filter(|text| !self.named.contains(text)) else { return };
        if self.named.len() < NAMED_MAX { self.named.push(text) } else { self.more += 1 }
    }

    /// Whether a text would be counted only.
    fn is_full_for(&self, text: Option<&str>) -> bool {
        text.is_some_and(|text| self.named.len() >= NAMED_MAX && !self.named.iter().any(|named| named == text))
    }
}

/// Accesses that wait to be written.
#[derive(Debug, Default)]
pub struct Accesses(Mutex<Waiting>);

/// What waits. Reads by known callers are apart, so that strangers cannot fill what those stand in.
#[derive(Debug, Default)]
struct Waiting {
    /// Entries that can name no more.
    full: Vec<AuditDraft>,
    /// What is named, all of it: as many folds as there are callers who read, and what they read about.
    named: BTreeMap<Key, Fold>,
    /// The rest, [`FOLDS_MAX`] at most and one for each kind.
    counted: BTreeMap<Key, Fold>,
}

impl Accesses {
    /// Takes an access.
    pub fn note(&self, access: Access) {
        let Access { at, actor, action, subject, what, names_all } = access;
        // An entry of its own tells who has approved something.
        let Actor { role, subject: by, from, scope, approved_by: _ } = actor;
        let mut waiting = self.waiting();
        let Waiting { full, named, counted } = &mut *waiting;
        let minute = at.as_ms() / FOLD_MS;
        let mut key = (minute, role, by, action, subject);
        if !names_all && counted.len() >= FOLDS_MAX && !counted.contains_key(&key) {
            key = (minute, key.1, OTHERS.to_owned(), action, OTHERS.to_owned());
        }
        let folds = if names_all { named } else { counted };
        let fold = folds.entry(key.clone()).or_default();
        let is_full = fold.what.is_full_for(what.as_deref())
            || fold.from.is_full_for(from.as_deref())
            || fold.scope.is_full_for(scope.as_deref());
        if names_all && is_full {
            full.push(fold.take(&key));
        }
        if fold.times == 0 {
            fold.first_at = at;
        }
        fold.times += 1;
        fold.what.add(what);
        fold.from.add(from);
        fold.scope.add(scope);
    }

    /// Takes out the entries that are due: those that can name no more, of each fold the first, and the rest of those whose
    /// minute is over.
    #[must_use = "what is taken out is to be written"]
    pub fn take_due(&self, now: Timestamp) -> Vec<AuditDraft> {
        let minute = now.as_ms() / FOLD_MS;
        let mut waiting = self.waiting();
        let Waiting { full, named, counted } = &mut *waiting;
        let mut due = mem::take(full);
        for folds in [named, counted] {
            folds.retain(|key, fold| {
                let over = key.0 != minute;
                if fold.times > 0 && (over || !fold.told) {
                    due.push(fold.take(key));
                }
                !over
            });
        }
        due
    }

    /// Takes out everything, before the process ends.
    #[must_use = "what is taken out is to be written"]
    pub fn take_all(&self) -> Vec<AuditDraft> {
        let Waiting { full, named, counted } = mem::take(&mut *self.waiting());
        let rest = named.into_iter().chain(counted).filter(|(_, fold)| fold.times > 0);
        full.into_iter().chain(rest.map(|(key, mut fold)| fold.take(&key))).collect()
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        // A panic under it leaves maps that are whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fold {
    fn take(&mut self, (_, role, by, action, subject): &Key) -> AuditDraft {
        let told = mem::replace(self, Self { told: true, ..Self::default() });
        let Self { times, first_at, what, from, scope, told: _ } = told;
        let mut detail = json!({ "times": times, "from": from.named });
        let names: [(&str, Value); 5] = [
            ("what", what.named.into()),
            ("what_more", what.more.into()),
            ("from_more", from.more.into()),
            ("scope", scope.named.into()),
            ("scope_more", scope.more.into()),
        ];
        for (name, value) in names {
            if value != json!([]) && value != json!(0) {
                detail[name] = value;
            }
        }
        AuditDraft {
            at_ms: first_at,
            actor: Actor::new(role, by),
            action: (*action).to_owned(),
            subject: subject.clone(),
            detail,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_ms(1_767_225_600_000);

    fn access(at: Timestamp, by: &str, what: &str) -> Access {
        let (from, scope) = (Some("192.0.2.1".to_owned()), Some("review".to_owned()));
        let actor = Actor { from, scope, ..Actor::new("admin", by) };
        let (subject, what) = (by.to_owned(), Some(what.to_owned()));
        Access { at, actor, action: "receipt.read", subject, what, names_all: false }
    }

    fn read(at: Timestamp, by: &str, what: &str) -> Access {
        Access { names_all: true, ..access(at, by, what) }
    }

    /// All that entries name of what was read.
    fn named(entries: &[AuditDraft]) -> Vec<&str> {
        entries.iter().flat_map(|entry| entry.detail["what"].as_array()).flatten().filter_map(Value::as_str).collect()
    }

    #[test]
    fn the_first_is_told_at_once_and_the_rest_when_the_minute_is_over() {
        let accesses = Accesses::default();
        accesses.note(access(START, "asha", "rank_0"));
        let [first] = accesses.take_due(START).try_into().expect("one");
        assert_eq!((first.action.as_str(), first.subject.as_str()), ("receipt.read", "asha"));
        assert_eq!(first.detail, json!({"times": 1, "what": ["rank_0"], "from": ["192.0.2.1"], "scope": ["review"]}));
        for number in 1..=1_000 {
            accesses.note(access(START.plus_ms(number), "asha", &format!("rank_{number}")));
        }
        assert!(accesses.take_due(START.plus_ms(FOLD_MS - 1)).is_empty());
        let [rest] = accesses.take_due(START.plus_ms(FOLD_MS)).try_into().expect("one");
        assert_eq!((rest.at_ms, &rest.detail["times"]), (START.plus_ms(1), &json!(1_000)));
        assert_eq!(rest.detail["what"].as_array().map(Vec::len), Some(NAMED_MAX));
        assert_eq!(rest.detail["what_more"], 1_000 - NAMED_MAX);
        assert!(accesses.take_all().is_empty(), "told once");
    }

    #[test]
    fn actors_kinds_and_minutes_are_told_apart() {
        let accesses = Accesses::default();
        accesses.note(access(START, "asha", "rank_0"));
        accesses.note(access(START, "ravi", "rank_0"));
        accesses.note(Access { action: "order.read", ..access(START, "asha", "ord_0") });
        accesses.note(access(START.plus_ms(FOLD_MS), "asha", "rank_0"));
        assert_eq!(accesses.take_all().len(), 4);
    }

    #[test]
    fn nobody_makes_it_grow() {
        let accesses = Accesses::default();
        for number in 0..3 * FOLDS_MAX {
            accesses.note(access(START, &format!("stranger-{number}"), "x"));
        }
        let told = accesses.take_all();
        assert_eq!(told.len(), FOLDS_MAX + 1);
        let others = told.iter().find(|draft| draft.subject == OTHERS).expect("the others");
        assert_eq!(others.detail["times"], 2 * FOLDS_MAX);
    }

    #[test]
    fn what_a_known_caller_reads_is_named_however_much_it_is() {
        let accesses = Accesses::default();
        let all: Vec<String> = (0..=2 * NAMED_MAX).map(|number| format!("rank_{number:02}")).collect();
        for what in &all[..=NAMED_MAX] {
            accesses.note(read(START, "asha", what));
        }
        // What is named already begins no other entry.
        accesses.note(read(START, "asha", &all[NAMED_MAX]));
        let mut told = accesses.take_due(START);
        assert_eq!((told.len(), &told[0].detail["times"]), (1, &json!(NAMED_MAX)), "the full one");
        for what in &all[NAMED_MAX + 1..] {
            accesses.note(read(START.plus_ms(1), "asha", what));
        }
        told.extend(accesses.take_due(START.plus_ms(FOLD_MS)));
        assert_eq!(named(&told), all);
        assert_eq!(told.len(), 3);
        assert!(told.iter().all(|entry| entry.detail["what_more"].is_null()), "{told:?}");
        assert_eq!(told.iter().filter_map(|entry| entry.detail["times"].as_u64()).sum::<u64>(), 42);
    }

    #[test]
    fn all_networks_of_a_reader_are_named() {
        let accesses = Accesses::default();
        for number in 0..=NAMED_MAX {
            let mut access = read(START, "asha", "rank_0");
            access.actor.from = Some(format!("192.0.2.{number}"));
            accesses.note(access);
        }
        let told = accesses.take_all();
        assert_eq!(told.len(), 2);
        assert!(told.iter().all(|entry| entry.detail["from_more"].is_null()), "{told:?}");
    }

    #[test]
    fn strangers_hide_no_read() {
        let accesses = Accesses::default();
        for number in 0..=FOLDS_MAX {
            accesses.note(access(START, &format!("stranger-{number}"), "x"));
        }
        accesses.note(read(START, "asha", "rank_0"));
        let told = accesses.take_all();
        let read = told.iter().find(|draft| draft.subject == "asha").expect("the read");
        assert_eq!((read.actor.subject.as_str(), &read.detail["what"]), ("asha", &json!(["rank_0"])));
    }

    #[test]
    fn readers_hide_no_stranger() {
        let accesses = Accesses::default();
        for number in 0..=FOLDS_MAX {
            accesses.note(read(START, &format!("reader-{number}"), "x"));
        }
        accesses.note(access(START, "stranger", "code"));
        assert!(accesses.take_all().iter().any(|draft| draft.subject == "stranger"));
    }
}
