//! The one way in which time enters the domain.

pub mod peers;
pub mod watch;

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A point in time, milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The beginning of 1970.
    pub const EPOCH: Self = Self(0);
    /// The latest time there is: never.
    pub const MAX: Self = Self(u64::MAX);

    /// So many milliseconds after the epoch.
    #[must_use]
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms)
    }

    /// Milliseconds since the epoch.
    #[must_use]
    pub const fn as_ms(self) -> u64 {
        self.0
    }

    /// As calendars take it; `None` past the year 9999.
    #[must_use]
    pub fn to_jiff(self) -> Option<jiff::Timestamp> {
        i64::try_from(self.0).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok())
    }

    /// So many milliseconds later, at most [`MAX`](Self::MAX).
    #[must_use]
    pub const fn plus_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// So many milliseconds earlier, at least [`EPOCH`](Self::EPOCH).
    #[must_use]
    pub const fn minus_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_sub(ms))
    }

    /// Milliseconds between two times, whichever is the later.
    #[must_use]
    pub const fn ms_apart(self, other: Self) -> u64 {
        self.0.abs_diff(other.0)
    }

    /// Milliseconds that have passed since an earlier time; none where that is later.
    #[must_use]
    pub const fn ms_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// Tells the time of day. A port, so that tests run in virtual time.
pub trait Clock: Send + Sync {
    /// The time of day.
    fn now(&self) -> Timestamp;

    /// The time by which what is old may be forgotten: a clock that was just set forward is not believed at once ([`watch`]).
    fn settled(&self) -> Timestamp {
        self.now()
    }

    /// Whether it was set, and nothing has confirmed the time that it shows since ([`watch`]).
    fn is_in_doubt(&self) -> bool {
        false
    }

    /// The latest time that it has shown: later than [`now`](Self::now) where it was set back ([`watch`]).
    fn latest(&self) -> Timestamp {
        self.now()
    }
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        // A clock before 1970 reads as 1970: every deadline is then in the future, nothing panics.
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_ms(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_within_its_bounds() {
        let (first, last) = (Timestamp::EPOCH, Timestamp::MAX);
        assert_eq!((last.plus_ms(1), first.minus_ms(1)), (last, first));
        assert_eq!((first.plus_ms(5).ms_since(first), first.ms_since(last)), (5, 0));
        assert_eq!((first.ms_apart(last), last.ms_apart(first)), (u64::MAX, u64::MAX));
    }

    #[test]
    fn it_is_kept_as_a_number() {
        let time = Timestamp::from_ms(1_700_000_000_000);
        let text = serde_json::to_string(&time).expect("a number");
        assert_eq!(text, "1700000000000");
        assert_eq!(serde_json::from_str::<Timestamp>(&text).expect("a time"), time);
    }
}
