//! What the journal holds, and what it has lost.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, TryLockError};
use std::time::{Duration, Instant};

/// Losses are told in the log no more often.
const TELL_EVERY: Duration = Duration::from_secs(5);

/// A batch that was begun longer ago than this is late. It gathers for 20 ms, and is written in a few.
const LATE_AFTER: Duration = Duration::from_millis(500);

/// Counters; nobody waits for them.
pub(super) struct Load {
    /// What the times below count from.
    pub(super) opened: Instant,
    /// Bytes that are held.
    held: AtomicUsize,
    lost: AtomicU64,
    /// Whether the last write failed.
    fails: AtomicBool,
    /// When the batch in hand was begun, milliseconds; [`NEVER`] where there is none.
    begun_ms: AtomicU64,
    /// When a write failed or a batch was late for the last time, milliseconds; [`NEVER`] where none was.
    late_ms: AtomicU64,
    told: Mutex<LogState>,
}

/// A time that has not come.
const NEVER: u64 = u64::MAX;

/// What the log says.
#[derive(Default)]
struct LogState {
    at: Option<Instant>,
    lost: u64,
}

impl Load {
    pub(super) fn new() -> Self {
        Self {
            opened: Instant::now(),
            held: AtomicUsize::default(),
            lost: AtomicU64::default(),
            fails: AtomicBool::default(),
            begun_ms: AtomicU64::new(NEVER),
            late_ms: AtomicU64::new(NEVER),
            told: Mutex::default(),
        }
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(NEVER)
    }

    /// The first of a batch was taken from the queue.
    pub(super) fn begin_batch(&self) {
        self.begun_ms.store(self.now_ms(), Ordering::Relaxed);
    }

    /// The batch is written, or lost.
    pub(super) fn end_batch(&self) {
        // It may have been late without anybody asking meanwhile.
        self.is_late();
        self.begun_ms.store(NEVER, Ordering::Relaxed);
    }

    /// Whether the batch in hand is late, and all that waits behind it.
    pub(super) fn is_late(&self) -> bool {
        let (begun, now) = (self.begun_ms.load(Ordering::Relaxed), self.now_ms());
        let is_late = begun != NEVER && Duration::from_millis(now.saturating_sub(begun)) >= LATE_AFTER;
        if is_late {
            self.late_ms.store(now, Ordering::Relaxed);
        }
        is_late
    }

    /// Whether a batch was late, or a write failed, within this long before now.
    pub(super) fn was_late_within(&self, span: Duration) -> bool {
        let late = self.late_ms.load(Ordering::Relaxed);
        self.is_late() || (late != NEVER && Duration::from_millis(self.now_ms().saturating_sub(late)) < span)
    }

    /// Makes room for some bytes, if there is any.
    pub(super) fn take(&self, bytes: usize, max_bytes: usize) -> bool {
        let room = |held: usize| held.checked_add(bytes).filter(|held| *held <= max_bytes);
        self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room).is_ok()
    }

    /// Gives the room back.
    pub(super) fn release(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Counts what is lost, and tells of it if the last time is long enough ago.
    pub(super) fn lose(&self, count: u64) {
        if count > 0 {
            self.lost.fetch_add(count, Ordering::Relaxed);
            self.tell_after(TELL_EVERY);
        }
    }

    /// How many are lost.
    pub(super) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// A write has ended, well or not.
    pub(super) fn note_write(&self, went_well: bool) {
        let has_failed = self.fails.swap(!went_well, Ordering::Relaxed);
        if has_failed || !went_well {
            self.late_ms.store(self.now_ms(), Ordering::Relaxed);
        }
    }

    /// Whether the last write failed.
    pub(super) fn is_failing(&self) -> bool {
        self.fails.load(Ordering::Relaxed)
    }

    /// Whether the last write failed, or nearly as much is held as may be.
    pub(super) fn is_in_trouble(&self, max_bytes: usize) -> bool {
        self.is_failing() || self.held.load(Ordering::Relaxed) > max_bytes / 10 * 9
    }

    /// Tells of what is lost and was not told.
    pub(super) fn tell(&self) {
        self.tell_after(Duration::ZERO);
    }

    fn tell_after(&self, quiet: Duration) {
        let mut told = match self.told.try_lock() {
            Ok(told) => told,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // Somebody else is telling.
            Err(TryLockError::WouldBlock) => return,
        };
        let lost = self.lost();
        if lost > told.lost && told.at.is_none_or(|at| at.elapsed() >= quiet) {
            tracing::warn!(
                since_last_told = lost - told.lost,
                in_all = lost,
                "the journal has lost findings or receipts"
            );
            *told = LogState { at: Some(Instant::now()), lost };
        }
    }
}
