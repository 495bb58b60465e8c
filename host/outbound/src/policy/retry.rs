//! Whether and when a failed call is tried again.
//!
//! Three things limit it, and the least holds: the tool's own count for a 429 or for a 5xx, the count of the error table's
//! row for the code (a row without one forbids it; where there is no row the tool's count alone holds), and the time
//! left. A code of the table that is neither a 429 nor a 5xx follows its row, up to the larger count of the tool.
//! What got no answer, or one that breaks the protocol, is no 429 and no 5xx, so it is not tried again. A tool that
//! states no retry has none; in particular no write is repeated without its contract saying so.
//!
//! The exception is spec 1's: a failed call of one of [`READ_FIRST_TOOLS`] may be repeated, but only after a look at the
//! partner's orders has shown that none landed. Where the intent states more retries for it, each needs such a look.

use super::failure::{Column, FailureMeaning};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{Backoff, Descriptor, ErrorRetry, Tool};
use intent_gateway_domain::error::CallFailure;

/// First wait where no row of the error table states one, milliseconds; it doubles.
pub(crate) const WAIT_MS: u64 = 2_000;
/// Retries of one call, whatever the contract and the partner say.
pub(crate) const RETRIES_MAX: u32 = 5;
/// A try with less time than this left is not worth making, milliseconds.
pub(crate) const TRY_MIN_MS: u64 = 250;
/// The write tools that are repeated after a look at the partner's orders (spec 1, rule 6 for the partner-hosted
/// endpoint).
pub(crate) const READ_FIRST_TOOLS: [&str; 3] = ["checkout", "book_table", "place_food_order"];
/// Retries of such a tool where its intent states none.
const READ_FIRST_RETRIES: u32 = 1;

/// What follows a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Call again after so many milliseconds.
    After(u64),
    /// After so many milliseconds, read the partner's orders; call again only if none landed.
    ReadFirst(u64),
    /// The failure stands.
    GiveUp,
}

/// The tries of one call, all within one deadline.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    descriptor: &'a Descriptor,
    tool: &'a Tool,
    deadline: Timestamp,
    after_rate_limits: u32,
    after_server_errors: u32,
    after_others: u32,
    /// Codes of rows that were counted, with how often. At most [`RETRIES_MAX`].
    by_row: Vec<(&'a str, u32)>,
}

impl<'a> Plan<'a> {
    /// The plan of a call that must be over by a time.
    #[must_use]
    pub(crate) fn new(descriptor: &'a Descriptor, tool: &'a Tool, deadline: Timestamp) -> Self {
        Self {
            descriptor,
            tool,
            deadline,
            after_rate_limits: 0,
            after_server_errors: 0,
            after_others: 0,
            by_row: Vec::new(),
        }
    }

    /// Retries granted so far.
    #[must_use]
    pub(crate) fn retries(&self) -> u32 {
        self.after_rate_limits + self.after_server_errors + self.after_others
    }

    /// Judges a failure. A retry that is granted is counted; one that is not used is not given back.
    pub(crate) fn next(&mut self, failure: &CallFailure, now: Timestamp) -> Retry {
        let meaning = FailureMeaning::of(failure, self.descriptor);
        let read_first = READ_FIRST_TOOLS.contains(&self.tool.name.as_str());
        // A look costs the partner a call too, so these count together, whatever the failures were.
        let before = if read_first { self.retries() } else { self.count_granted(meaning.column()) };
        let allowed = if read_first { self.read_first_allows(&meaning) } else { self.tool_allows(&meaning) };
        let row_used = meaning.row.map_or(0, |row| self.of_row(&row.code));
        let row_allows = match meaning.row {
            Some(row) if !read_first => row.retry.map_or(0, |retry| retry.times),
            _ => u32::MAX,
        };
        if before >= allowed || row_used >= row_allows || self.retries() >= RETRIES_MAX {
            return Retry::GiveUp;
        }
        let wait_ms = wait_ms(meaning.row.and_then(|row| row.retry), before);
        let wait_ms = wait_ms.max(meaning.retry_after_ms.unwrap_or(0));
        let starts = now.plus_ms(wait_ms);
        if starts.plus_ms(TRY_MIN_MS) > self.deadline {
            return Retry::GiveUp;
        }
        self.count(&meaning);
        if read_first { Retry::ReadFirst(wait_ms) } else { Retry::After(wait_ms) }
    }

    fn tool_allows(&self, meaning: &FailureMeaning<'a>) -> u32 {
        let stated = self.tool.retry;
        match meaning.column() {
            Some(Column::RateLimited) => stated.on_rate_limited,
            Some(Column::ServerError) => stated.on_server_error,
            None if meaning.row.is_some() => stated.on_rate_limited.max(stated.on_server_error),
            None => 0,
        }
    }

    /// For a tool that is looked after first: any failure that leaves open what happened, and a request to slow down.
    /// A refusal that says what is wrong would only be repeated.
    fn read_first_allows(&self, meaning: &FailureMeaning<'a>) -> u32 {
        let stated = self.tool.retry;
        match meaning.column() {
            Some(Column::RateLimited) => stated.on_rate_limited.max(READ_FIRST_RETRIES),
            _ if meaning.may_have_landed => stated.on_server_error.max(READ_FIRST_RETRIES),
            _ => 0,
        }
    }

    fn count_granted(&self, column: Option<Column>) -> u32 {
        match column {
            Some(Column::RateLimited) => self.after_rate_limits,
            Some(Column::ServerError) => self.after_server_errors,
            None => self.after_others,
        }
    }

    fn of_row(&self, code: &str) -> u32 {
        self.by_row.iter().find(|(counted, _)| *counted == code).map_or(0, |(_, times)| *times)
    }

    fn count(&mut self, meaning: &FailureMeaning<'a>) {
        match meaning.column() {
            Some(Column::RateLimited) => self.after_rate_limits += 1,
            Some(Column::ServerError) => self.after_server_errors += 1,
            None => self.after_others += 1,
        }
        let Some(row) = meaning.row else { return };
        match self.by_row.iter_mut().find(|(counted, _)| *counted == row.code) {
            Some((_, times)) => *times += 1,
            None => self.by_row.push((&row.code, 1)),
        }
    }
}

/// The wait before a retry of its kind, of which there were so many.
fn wait_ms(stated: Option<ErrorRetry>, before: u32) -> u64 {
    let (first, backoff) =
        stated.map_or((WAIT_MS, Backoff::Exponential), |retry| (u64::from(retry.wait_ms), retry.backoff));
    match backoff {
        Backoff::Fixed => first,
        // `before` stays below RETRIES_MAX.
        Backoff::Exponential => first.saturating_mul(1 << before.min(RETRIES_MAX)),
    }
}

#[cfg(test)]
mod tests;
