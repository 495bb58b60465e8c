//! The hours of operation that a partner writes as free text, and whether they cover the hour of a request (spec 1,
//! Manifest and `_meta.platform`, `availability`).
//!
//! [`Availability::parse`] reads what people write: `24x7`, `Mon-Sat 08:00-22:00 IST`, day ranges separated by
//! semicolons, lists of days, hours over midnight, twelve-hour times, `Sun closed`. `grammar` states how it is read.
//! Whatever is read becomes minutes of a week in Indian Standard Time, which knows no summer time.
//!
//! Which hour counts is [`WeekWindow::wanted`]'s to say: the window that the user asks for, and the present
//! where the user asks for none. A partner is available when it is open at *some* time inside that window, as the window
//! is where the user would take an appointment and not how long one lasts.
//!
//! Not here: holidays (nobody keeps a calendar of them here, so a text that names them is not read), and what to do
//! with a text that cannot be read. A manifest with such a text is shown to its reviewer; a partner that was approved
//! with one is called at every hour, since nobody should lose business to a sentence that a person understood.

mod grammar;
#[cfg(test)]
mod tests;
mod tokens;

use crate::clock::Timestamp;
use crate::contract::Need;

/// Characters of an availability text.
pub const AVAILABILITY_MAX_CHARS: usize = 500;

pub const DAY_MINUTES: u16 = 24 * 60;
pub const WEEK_MINUTES: u16 = 7 * DAY_MINUTES;
/// Milliseconds of a minute.
const MINUTE_MS: u64 = 60_000;
/// Indian Standard Time is this far ahead of UTC, minutes, all year.
const IST_AHEAD_MINUTES: u64 = 5 * 60 + 30;
/// The epoch began on a Thursday, three days into a week that begins on Monday; minutes.
const EPOCH_IN_WEEK_MINUTES: u64 = 3 * 24 * 60;

/// When somebody is open, by the minute of a week in Indian Standard Time. Never empty: nobody is never open.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Availability {
    /// Sorted; no two overlap or touch.
    open: Box<[Span]>,
}

/// Minutes of a week, counted from Monday 00:00.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Span {
    start: u16,
    /// The first minute after it; at most [`WEEK_MINUTES`].
    end: u16,
}

/// Why a text of hours cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnreadAvailability {
    /// Longer than anybody's hours.
    #[error("the hours are longer than {AVAILABILITY_MAX_CHARS} characters")]
    TooLong,
    /// A word or sign that the hours do not need.
    #[error("`{0}` is not understood; write for example `Mon-Sat 08:00-22:00 IST; Sun closed`")]
    Unknown(String),
    /// A number that is not a time of day.
    #[error("`{0}` is no time of day; write 09:00 or 9am")]
    NoTime(String),
    /// One time without its other.
    #[error("a time stands alone; write from when to when, for example 09:00-18:00")]
    TimeAlone,
    /// A dash between things that make no range.
    #[error("a dash does not lead from a day to a day or from a time to a time")]
    LooseDash,
    /// Hours that end when they begin, or begin when the day is over.
    #[error("hours that begin and end at the same time say nothing; the whole day is 00:00-24:00")]
    NoLength,
    /// Days and hours in an order that can be read in two ways.
    #[error("which hours belong to which days is unclear; write the days before the hours, and `;` between")]
    Unclear,
    #[error("`closed` needs the days, for example `Sun closed`")]
    ClosedWithoutDays,
    /// Every day is closed.
    #[error("the hours are never open")]
    NeverOpen,
    /// Nothing that tells a day or an hour.
    #[error("the text names neither days nor hours")]
    Nothing,
}

impl Availability {
    /// Open at every minute.
    #[must_use]
    pub fn always() -> Self {
        Self { open: Box::new([Span { start: 0, end: WEEK_MINUTES }]) }
    }

    /// Reads a text of hours. An empty one is open always (spec 1, `_meta.platform`).
    ///
    /// # Errors
    /// [`UnreadAvailability`] with what is not understood.
    pub fn parse(text: &str) -> Result<Self, UnreadAvailability> {
        if text.trim().is_empty() {
            return Ok(Self::always());
        }
        if text.chars().nth(AVAILABILITY_MAX_CHARS).is_some() {
            return Err(UnreadAvailability::TooLong);
        }
        grammar::read(&tokens::split(text)?)
    }

    /// Sorts and joins what is open. `None` when nothing is.
    fn of_spans(mut spans: Vec<Span>) -> Option<Self> {
        spans.sort_unstable();
        let mut open: Vec<Span> = Vec::with_capacity(spans.len());
        for span in spans {
            match open.last_mut() {
                Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
                _ => open.push(span),
            }
        }
        (!open.is_empty()).then(|| Self { open: open.into() })
    }

    /// Whether it is open at every minute.
    #[must_use]
    pub fn is_always(&self) -> bool {
        *self.open == [Span { start: 0, end: WEEK_MINUTES }]
    }

    /// Whether it is open at an instant.
    #[must_use]
    pub fn covers(&self, at: Timestamp) -> bool {
        self.opens_within(WeekWindow::at(at))
    }

    /// Whether it is open at some minute of a window.
    #[must_use]
    pub fn opens_within(&self, window: WeekWindow) -> bool {
        window.parts().into_iter().any(|(start, end)| {
            let first = self.open.partition_point(|span| span.end <= start);
            self.open.get(first).is_some_and(|span| span.start < end)
        })
    }

    /// What is open, as start and end in minutes of the week.
    pub fn spans(&self) -> impl Iterator<Item = (u16, u16)> + '_ {
        self.open.iter().map(|span| (span.start, span.end))
    }
}

/// A stretch of time as it lies in a week of Indian Standard Time. A stretch of a week or more is the whole week.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeekWindow {
    /// Minute of the week in which it begins.
    start: u16,
    /// 1 to [`WEEK_MINUTES`].
    minutes: u16,
}

impl WeekWindow {
    /// The minute that an instant lies in.
    #[must_use]
    pub fn at(at: Timestamp) -> Self {
        Self { start: minute_of_week(at.as_ms() / MINUTE_MS), minutes: 1 }
    }

    /// From one instant to before another; the minute of the first when the other is no later.
    #[must_use]
    pub fn between(from: Timestamp, until: Timestamp) -> Self {
        let (first, end) = (from.as_ms() / MINUTE_MS, until.as_ms().div_ceil(MINUTE_MS));
        let minutes = end.saturating_sub(first).clamp(1, u64::from(WEEK_MINUTES));
        Self { start: minute_of_week(first), minutes: u16::try_from(minutes).unwrap_or(WEEK_MINUTES) }
    }

    /// The time that counts for a request: the window that it asks for, without what of it has gone by; the asked
    /// start where it names no end; from now on where it names no start; now where it names neither.
    #[must_use]
    pub fn wanted(need: &Need, now: Timestamp) -> Self {
        match (need.from_ms.map(Timestamp::from_ms), need.until_ms.map(Timestamp::from_ms)) {
            (None, None) => Self::at(now),
            (Some(from), None) => Self::at(from),
            (None, Some(until)) => Self::between(now, until),
            (Some(from), Some(until)) if now < until => Self::between(from.max(now), until),
            (Some(from), Some(until)) => Self::between(from, until),
        }
    }

    /// The one or two stretches that it is within the week, as start and end; an empty one is both 0.
    pub fn parts(self) -> [(u16, u16); 2] {
        // At most twice a week's minutes, which a `u16` holds.
        let end = self.start + self.minutes;
        if end <= WEEK_MINUTES {
            [(self.start, end), (0, 0)]
        } else {
            [(self.start, WEEK_MINUTES), (0, end - WEEK_MINUTES)]
        }
    }
}

/// Minute of the week in India, of minutes since the epoch.
fn minute_of_week(epoch_minutes: u64) -> u16 {
    let minute = (epoch_minutes + IST_AHEAD_MINUTES + EPOCH_IN_WEEK_MINUTES) % u64::from(WEEK_MINUTES);
    u16::try_from(minute).unwrap_or(0)
}
