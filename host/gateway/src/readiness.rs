//! Looks after the gateway itself: whether its store takes reads and writes, its journal keeps what it is given, its work in the
//! background is done, and the intents are live that should be. `/ready` and the metrics show it.
//!
//! The store is looked at with a time of its own, and what was seen is kept for a moment: however often somebody asks, it costs
//! one look. Not here: what a load balancer is told of it ([`intent_gateway_http`]).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_catalogue::Catalogue;
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::readiness::{Readiness, Rounds, TaskBoard, Trouble, TroubleCode};
use intent_gateway_domain::store::{Store as _, StoreError};
use intent_gateway_domain::telemetry;
use intent_gateway_store::{Journal, SqlStore};
use tokio::time::Instant;

/// How long a look at the store may take. What takes longer is told as a store that is down.
const LOOK_MAX: Duration = Duration::from_secs(3);
/// How long whoever asks waits for a look that is under way; after that, what was seen before is told.
const ANSWER_MAX: Duration = Duration::from_millis(300);
/// How long what was seen of the store is good for.
const LOOK_KEPT: Duration = Duration::from_secs(1);
/// How often the store is looked at by writing to it, at most, while it is up: a disk may be full, or read alone.
const BETWEEN_WRITES: Duration = Duration::from_secs(5);
/// How often a look is taken where nobody asks, so that the metrics know.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// For how long losses of the journal are told after the last one.
const LOSS_TOLD: Duration = Duration::from_secs(60);

/// What is looked at.
pub(crate) struct ReadinessWatch {
    store: Arc<StoreLook>,
    journal: Arc<Journal>,
    catalogue: Arc<Catalogue>,
    board: Arc<TaskBoard>,
    clock: Arc<dyn Clock>,
    losses: Mutex<Losses>,
}

/// Looks at the store.
struct StoreLook {
    store: Arc<SqlStore>,
    journal: Arc<Journal>,
    /// Taken by whoever looks.
    looking: AtomicBool,
    seen: Mutex<Seen>,
}

/// What was seen last.
#[derive(Clone, Copy, Default)]
struct Seen {
    at: Option<Instant>,
    wrote_at: Option<Instant>,
    is_down: bool,
}

/// What the journal had lost when it was last looked at.
#[derive(Default)]
struct Losses {
    lost: u64,
    last_at: Option<Instant>,
}

impl ReadinessWatch {
    pub(crate) fn new(
        store: Arc<SqlStore>,
        journal: Arc<Journal>,
        catalogue: Arc<Catalogue>,
        board: Arc<TaskBoard>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let store = Arc::new(StoreLook {
            store,
            journal: journal.clone(),
            looking: AtomicBool::new(false),
            seen: Mutex::default(),
        });
        Self { store, journal, catalogue, board, clock, losses: Mutex::default() }
    }

    /// Looks again and again.
    pub(crate) async fn keep_looking(self: Arc<Self>, rounds: TaskRounds) {
        loop {
            self.troubles().await;
            rounds.note(true);
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Whether the journal loses what it is given, or has lost some a moment ago.
    fn journal_loses(&self) -> bool {
        let mut losses = lock(&self.losses);
        let lost = self.journal.lost();
        if lost > losses.lost {
            *losses = Losses { lost, last_at: Some(Instant::now()) };
        }
        losses.last_at.is_some_and(|at| at.elapsed() < LOSS_TOLD) || self.journal.is_in_trouble()
    }
}

impl StoreLook {
    /// Whether the store is down, as far as is known within [`ANSWER_MAX`]: a load balancer does not wait for a frozen one.
    async fn is_down(self: &Arc<Self>) -> bool {
        let is_stale = lock(&self.seen).at.is_none_or(|at| at.elapsed() >= LOOK_KEPT);
        if is_stale && !self.looking.swap(true, Ordering::AcqRel) {
            let looker = self.clone();
            let look = tokio::spawn(async move {
                // Given back whatever happens to the look.
                let _turn = Turn(&looker.looking);
                looker.look().await;
            });
            // It goes on where this does not wait for it, and a panic in it leaves what was seen before.
            let _ = tokio::time::timeout(ANSWER_MAX, look).await;
        }
        lock(&self.seen).is_down
    }

    async fn look(&self) {
        let before = *lock(&self.seen);
        let writes = before.is_down || before.wrote_at.is_none_or(|at| at.elapsed() >= BETWEEN_WRITES);
        let looked = tokio::time::timeout(LOOK_MAX, self.ask(writes)).await;
        let is_down = match looked {
            Ok(Ok(())) => false,
            Ok(Err(error)) => {
                tracing::debug!(error = %chain(&error), "the store was found down");
                true
            }
            Err(_elapsed) => true,
        };
        if writes || is_down {
            self.journal.note_store(!is_down);
        }
        match (before.is_down, is_down) {
            (false, true) => tracing::error!("the store is down: searches are served, and nothing is kept"),
            (true, false) => tracing::info!("the store is up again"),
            _ => {}
        }
        let now = Some(Instant::now());
        *lock(&self.seen) = Seen { at: now, wrote_at: if writes { now } else { before.wrote_at }, is_down };
        telemetry::store_available(!is_down);
    }

    async fn ask(&self, writes: bool) -> Result<(), StoreError> {
        if writes { self.store.check_writable().await } else { self.store.changes().await.map(drop) }
    }
}

/// The right to look, given back when it is dropped.
struct Turn<'a>(&'a AtomicBool);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Nothing panics while one is held.
fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Readiness for ReadinessWatch {
    fn troubles(&self) -> BoxFuture<'_, Vec<Trouble>> {
        async move {
            let (store_is_down, journal_loses) = (self.store.is_down().await, self.journal_loses());
            let mut troubles = Vec::new();
            let mut add = |code, subject, message: &str| {
                troubles.push(Trouble { code, subject, message: message.to_owned() });
            };
            if store_is_down {
                add(
                    TroubleCode::StoreUnavailable,
                    None,
                    "the store cannot be read or written: searches are served and not kept, whatever else needs it is refused",
                );
            }
            if journal_loses {
                let message = "findings and receipts of searches are lost; searches are served all the same";
                add(TroubleCode::JournalLosing, None, message);
            }
            for intent in self.catalogue.missing_intents() {
                let message = "the intent was live before, or lies in the contract folder, and is not live";
                add(TroubleCode::IntentMissing, Some(intent), message);
            }
            let of_tasks = self.board.troubles(self.clock.now());
            for name in self.board.names() {
                let is_in_order = of_tasks.iter().all(|trouble| trouble.subject.as_deref() != Some(name));
                telemetry::task_in_order(name, is_in_order);
            }
            troubles.extend(of_tasks);
            for code in TroubleCode::ALL {
                telemetry::ready_troubles(code, troubles.iter().filter(|trouble| trouble.code == code).count());
            }
            troubles
        }
        .boxed()
    }
}

/// Where work in the background of this process tells of its rounds.
#[derive(Clone)]
pub(crate) struct TaskRounds {
    pub(crate) rounds: Rounds,
    pub(crate) clock: Arc<dyn Clock>,
}

impl TaskRounds {
    /// Rounds that nobody looks at.
    pub(crate) fn untold(clock: Arc<dyn Clock>) -> Self {
        Self { rounds: Arc::new(TaskBoard::default()).enter("starting", None, clock.now()), clock }
    }

    /// A round has ended, well or not.
    pub(crate) fn note(&self, went_well: bool) {
        self.rounds.note(went_well, self.clock.now());
    }

    /// The work is another gateway's from now on.
    pub(crate) fn note_rest(&self) {
        self.rounds.note_rest();
    }

    /// The work is this gateway's.
    pub(crate) fn note_turn(&self) {
        self.rounds.note_turn(self.clock.now());
    }

    /// The same with what it gave, where it went well.
    pub(crate) fn note_result<T, E>(&self, result: &Result<T, E>) {
        self.note(result.is_ok());
    }
}
