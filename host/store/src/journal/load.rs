//! What the journal holds, and what it has lost.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, TryLockError};
use std::time::{Duration, Instant};

/// Losses are told in the log no more often.
const TELL_EVERY: Duration = Duration::from_secs(5);

/// Counters; nobody waits for them.
#[derive(Default)]
pub(super) struct Load {
    /// Bytes that are held.
    held: AtomicUsize,
    lost: AtomicU64,
    /// Whether the last write failed.
    fails: AtomicBool,
    told: Mutex<LogState>,
}

/// What the log says.
#[derive(Default)]
struct LogState {
    at: Option<Instant>,
    lost: u64,
}

impl Load {
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
        self.fails.store(!went_well, Ordering::Relaxed);
    }

    /// Whether the last write failed, or nearly as much is held as may be.
    pub(super) fn is_in_trouble(&self, max_bytes: usize) -> bool {
        self.fails.load(Ordering::Relaxed) || self.held.load(Ordering::Relaxed) > max_bytes / 10 * 9
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
