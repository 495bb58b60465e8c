//! What is not as it should be with a gateway that serves: by code and in words, for load balancers, operators and metrics.
//!
//! Work in the background tells of each of its rounds on a [`TaskBoard`]; what has not gone well for longer than it should is a
//! [`Trouble`]. Time comes in as an argument.
//!
//! Not here: looking at the store, and what an answer is made of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;

use crate::clock::Timestamp;

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    pub code: TroubleCode,
    /// What it concerns: a task, an intent.
    pub subject: Option<String>,
    /// One sentence for a person. It reaches whoever asks, so it holds nothing that was read or written.
    pub message: String,
}

/// The kinds of troubles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TroubleCode {
    /// The store cannot be read or written.
    StoreUnavailable,
    /// Findings and receipts are lost.
    JournalLosing,
    /// Work in the background fails.
    TaskFailing,
    /// Work in the background has not been done for too long.
    TaskLate,
    /// Work in the background has ended.
    TaskStopped,
    /// An intent that should be served is not.
    IntentMissing,
}

impl TroubleCode {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 6] = [
        Self::StoreUnavailable,
        Self::JournalLosing,
        Self::TaskFailing,
        Self::TaskLate,
        Self::TaskStopped,
        Self::IntentMissing,
    ];

    /// As it is written on the wire, in metrics and in `docs/errors.md`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::StoreUnavailable => "STORE_UNAVAILABLE",
            Self::JournalLosing => "JOURNAL_LOSING",
            Self::TaskFailing => "TASK_FAILING",
            Self::TaskLate => "TASK_LATE",
            Self::TaskStopped => "TASK_STOPPED",
            Self::IntentMissing => "INTENT_MISSING",
        }
    }
}

/// Knows what is not as it should be.
pub trait Readiness: Send + Sync {
    /// Everything that is wrong now. Cheap to ask, however often: what takes a look at the store is kept for a moment.
    fn troubles(&self) -> BoxFuture<'_, Vec<Trouble>>;
}

/// How far work in the background is.
#[derive(Clone, Debug)]
struct Task {
    /// No good round for longer than this is too long, milliseconds; none where the work waits for something to happen.
    due_ms: Option<u64>,
    /// The last good round; the beginning, before there was one.
    good_at: Timestamp,
    /// Whether the last round failed.
    fails: bool,
    /// Whether it is not this process's to do at the moment.
    rests: bool,
    has_stopped: bool,
}

/// All work in the background, by the name that log and metrics know it by.
#[derive(Debug, Default)]
pub struct TaskBoard(Mutex<BTreeMap<&'static str, Task>>);

/// Where one piece of work tells of its rounds.
#[derive(Clone, Debug)]
pub struct Rounds {
    board: Arc<TaskBoard>,
    name: &'static str,
}

impl TaskBoard {
    /// Enters a piece of work that begins now. `due_ms` is how long it may go without a good round, milliseconds.
    pub fn enter(self: &Arc<Self>, name: &'static str, due_ms: Option<u64>, now: Timestamp) -> Rounds {
        self.tasks().insert(name, Task { due_ms, good_at: now, fails: false, rests: false, has_stopped: false });
        Rounds { board: self.clone(), name }
    }

    /// What is wrong with each, at most one trouble for each: the gravest.
    #[must_use]
    pub fn troubles(&self, now: Timestamp) -> Vec<Trouble> {
        let tasks = self.tasks();
        let troubles = tasks.iter().filter_map(|(name, task)| {
            let seconds = now.ms_since(task.good_at) / 1_000;
            let (code, message) = if task.has_stopped {
                (TroubleCode::TaskStopped, format!("the work `{name}` has ended, and should go on"))
            } else if task.rests {
                return None;
            } else if task.due_ms.is_some_and(|due_ms| now.ms_since(task.good_at) > due_ms) {
                (TroubleCode::TaskLate, format!("the work `{name}` was last done well {seconds} s ago"))
            } else if task.fails {
                (TroubleCode::TaskFailing, format!("the last round of the work `{name}` failed; the log says why"))
            } else {
                return None;
            };
            Some(Trouble { code, subject: Some((*name).to_owned()), message })
        });
        troubles.collect()
    }

    /// The names of all, in their order.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        self.tasks().keys().copied().collect()
    }

    /// It is whole after every step, so that one which a panic interrupted can be used.
    fn tasks(&self) -> MutexGuard<'_, BTreeMap<&'static str, Task>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rounds {
    /// A round has ended, well or not.
    pub fn note(&self, went_well: bool, now: Timestamp) {
        self.change(|task| {
            task.fails = !went_well;
            if went_well {
                task.good_at = now;
            }
        });
    }

    /// The work is another process's from now on.
    pub fn note_rest(&self) {
        self.change(|task| (task.fails, task.rests) = (false, true));
    }

    /// The work is this process's from now on, after a rest.
    pub fn note_turn(&self, now: Timestamp) {
        self.change(|task| {
            if std::mem::take(&mut task.rests) {
                task.good_at = now;
            }
        });
    }

    /// The work has ended.
    pub fn note_end(&self) {
        self.change(|task| task.has_stopped = true);
    }

    fn change(&self, change: impl FnOnce(&mut Task)) {
        if let Some(task) = self.board.tasks().get_mut(self.name) {
            change(task);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_ms(1_000_000);

    #[test]
    fn work_is_in_trouble_while_it_fails_and_once_it_is_late_or_over() {
        let board = Arc::new(TaskBoard::default());
        let (mail, events) = (board.enter("mail", Some(10_000), START), board.enter("events", None, START));
        let codes = |ms| {
            let found = board.troubles(START.plus_ms(ms)).into_iter();
            found.map(|trouble| (trouble.subject.expect("a task"), trouble.code.as_str())).collect::<Vec<_>>()
        };
        let of = |name: &str, code| vec![(name.to_owned(), code)];
        assert_eq!(codes(10_000), []);
        assert_eq!(codes(10_001), of("mail", "TASK_LATE"), "it was never done");
        mail.note(true, START.plus_ms(5_000));
        assert_eq!(codes(15_000), []);
        mail.note(false, START.plus_ms(6_000));
        assert_eq!(codes(6_000), of("mail", "TASK_FAILING"));
        assert_eq!(codes(15_001), of("mail", "TASK_LATE"), "a failed round is no good one");
        mail.note(true, START.plus_ms(16_000));
        assert_eq!(codes(16_000), []);
        events.note(false, START);
        assert_eq!(codes(16_000), of("events", "TASK_FAILING"));
        events.note(true, START);
        mail.note(false, START.plus_ms(16_000));
        mail.note_rest();
        assert_eq!(codes(60_000), [], "another does it");
        mail.note_turn(START.plus_ms(60_000));
        assert_eq!(codes(70_000), [], "it has just taken it over");
        assert_eq!(codes(70_001), of("mail", "TASK_LATE"));
        mail.note_end();
        assert_eq!(codes(16_000), of("mail", "TASK_STOPPED"));
    }
}
