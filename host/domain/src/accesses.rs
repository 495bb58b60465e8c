//! What happens often and stands in the audit log all the same: sign-ins, failures to sign in, refused changes, reads of what
//! was kept of users and businesses.
//!
//! Within a minute, what one actor does of one kind to one subject is folded: its first entry is written at once, and what
//! came after it is one entry more when the minute is over. So nobody makes the log grow by asking again and again, and who
//! did what from where can be read there all the same.
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
/// Folds at once, of all actors together; what comes beyond is folded by its kind alone.
pub const FOLDS_MAX: usize = 4_096;
/// Things, or networks, that one entry names; of more it gives the number.
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
}

/// Accesses that wait to be written.
#[derive(Debug, Default)]
pub struct Accesses(Mutex<BTreeMap<Key, Fold>>);

impl Accesses {
    /// Takes an access.
    pub fn note(&self, access: Access) {
        let Access { at, actor, action, subject, what } = access;
        let Actor { role, subject: by, from, scope } = actor;
        let mut folds = self.folds();
        let minute = at.as_ms() / FOLD_MS;
        let mut key = (minute, role, by, action, subject);
        if folds.len() >= FOLDS_MAX && !folds.contains_key(&key) {
            key = (minute, key.1, OTHERS.to_owned(), action, OTHERS.to_owned());
        }
        let fold = folds.entry(key).or_default();
        if fold.times == 0 {
            fold.first_at = at;
        }
        fold.times += 1;
        fold.what.add(what);
        fold.from.add(from);
        fold.scope.add(scope);
    }

    /// Takes out the entries that are due: of each fold the first, and the rest of those whose minute is over.
    #[must_use = "what is taken out is to be written"]
    pub fn take_due(&self, now: Timestamp) -> Vec<AuditDraft> {
        let minute = now.as_ms() / FOLD_MS;
        let mut due = Vec::new();
        self.folds().retain(|key, fold| {
            let over = key.0 != minute;
            if fold.times > 0 && (over || !fold.told) {
                due.push(fold.take(key));
            }
            !over
        });
        due
    }

    /// Takes out everything, before the process ends.
    #[must_use = "what is taken out is to be written"]
    pub fn take_all(&self) -> Vec<AuditDraft> {
        let folds = mem::take(&mut *self.folds());
        folds.into_iter().filter(|(_, fold)| fold.times > 0).map(|(key, mut fold)| fold.take(&key)).collect()
    }

    fn folds(&self) -> MutexGuard<'_, BTreeMap<Key, Fold>> {
        // A panic under it leaves a map that is whole.
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
        Access { at, actor, action: "receipt.read", subject: by.to_owned(), what: Some(what.to_owned()) }
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
}
