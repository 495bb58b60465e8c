//! How the words of a text of hours hang together.
//!
//! A text is groups, and a group is days and hours. `;` ends a group; without one, a group ends where the next
//! plainly begins.
//!
//! - Days are single ones, lists and ranges; a range may pass the end of the week (`Fri-Mon`).
//! - Hours are one range or several. Hours that end before they begin run into the next day; an end at 23:59 is
//!   meant as the end of the day.
//! - Hours without days are every day's, days without hours are whole days. Hours may stand before their days.
//! - What several groups say of a day adds up, except `closed`, which takes the day out whatever else is said. The
//!   hours of the night before still run into a closed day. Where nothing but closed days is said, the others are open.
//! - Whatever can be read in two ways is not read.

use super::tokens::{ALL_DAYS, Token};
use super::{Availability, DAY_MINUTES, Span, UnreadAvailability, WEEK_MINUTES};

/// Days of a week.
const DAYS: u8 = 7;
/// What people write for the last minute of a day, meaning all of it.
const LAST_MINUTE: u16 = DAY_MINUTES - 1;

/// Reads the words of a whole text.
pub(super) fn read(tokens: &[Token]) -> Result<Availability, UnreadAvailability> {
    let mut week = Week::default();
    let mut group = Group::default();
    let mut rest = tokens;
    while let [first, after @ ..] = rest {
        rest = after;
        let comma = *first == Token::Comma;
        match *first {
            Token::Separator => week.add(std::mem::take(&mut group))?,
            Token::Comma => {}
            Token::Dash => match (group.days_last, rest) {
                // As in `Mon-Fri - 09:00-18:00`.
                (true, [Token::Time(_) | Token::WholeDay | Token::Closed, ..]) => {}
                _ => return Err(UnreadAvailability::LooseDash),
            },
            Token::Days(days) => group.days(days, &mut week)?,
            Token::Day(day) => {
                let (days, after) = day_range(day, rest);
                rest = after;
                group.days(days, &mut week)?;
            }
            Token::WholeDay => group.hours((0, DAY_MINUTES), &mut week)?,
            Token::Closed => group.finish_day(&mut week)?,
            Token::Time(start) => {
                let [Token::Dash, Token::Time(end), after @ ..] = rest else {
                    return Err(UnreadAvailability::TimeAlone);
                };
                rest = after;
                group.hours(hours(start, *end)?, &mut week)?;
            }
        }
        group.comma = comma;
    }
    week.add(group)?;
    week.finish()
}

/// The days from one on, as bits, and what follows them.
fn day_range(first: u8, rest: &[Token]) -> (u8, &[Token]) {
    let [Token::Dash, Token::Day(last), after @ ..] = rest else { return (1 << first, rest) };
    let length = (last + DAYS - first) % DAYS;
    let days = (0..=length).fold(0, |days, step| days | 1 << ((first + step) % DAYS));
    (days, after)
}

/// Hours as minutes from the start of their day; the end may lie in the day after.
fn hours(start: u16, end: u16) -> Result<(u16, u16), UnreadAvailability> {
    let end = if end == LAST_MINUTE || end == 0 { DAY_MINUTES } else { end };
    match start {
        DAY_MINUTES => Err(UnreadAvailability::NoLength),
        _ if start == end => Err(UnreadAvailability::NoLength),
        _ if start < end => Ok((start, end)),
        _ => Ok((start, end + DAY_MINUTES)),
    }
}

/// Days and hours that belong together, as far as they have been read.
#[derive(Default)]
struct Group {
    /// As bits.
    days: u8,
    hours: Vec<(u16, u16)>,
    closed: bool,
    /// The hours stand before the days.
    hours_first: bool,
    /// The last word was a day.
    days_last: bool,
    /// The last sign was a comma.
    comma: bool,
    /// It began where the one before it ended without a sign.
    implied: bool,
}

impl Group {
    fn says_when(&self) -> bool {
        self.closed || !self.hours.is_empty()
    }

    /// Ends this group where the next begins of itself.
    fn next(&mut self, week: &mut Week) -> Result<(), UnreadAvailability> {
        week.add(std::mem::replace(self, Self { implied: true, ..Self::default() }))
    }

    fn days(&mut self, days: u8, week: &mut Week) -> Result<(), UnreadAvailability> {
        // After hours of their own days, or after hours and a comma, days are the next group's.
        let begins = self.says_when() && (!self.hours_first || (self.comma && self.days == 0));
        if begins {
            self.next(week)?;
        }
        self.days |= days;
        self.days_last = true;
        Ok(())
    }

    fn hours(&mut self, hours: (u16, u16), week: &mut Week) -> Result<(), UnreadAvailability> {
        if self.closed || (self.hours_first && self.days != 0) {
            self.next(week)?;
        }
        self.hours_first |= self.days == 0;
        self.hours.push(hours);
        self.days_last = false;
        Ok(())
    }

    fn finish_day(&mut self, week: &mut Week) -> Result<(), UnreadAvailability> {
        if self.says_when() {
            self.next(week)?;
        }
        self.hours_first = self.days == 0;
        self.closed = true;
        self.days_last = false;
        Ok(())
    }
}

/// A week as it is being put together.
#[derive(Default)]
struct Week {
    open: Vec<(u8, u16, u16)>,
    /// As bits.
    closed: u8,
}

impl Week {
    fn add(&mut self, group: Group) -> Result<(), UnreadAvailability> {
        let Group { days, hours, closed, implied, .. } = group;
        if closed {
            if days == 0 {
                return Err(UnreadAvailability::ClosedWithoutDays);
            }
            self.closed |= days;
            return Ok(());
        }
        let (days, hours) = match (days, hours.is_empty()) {
            (0, true) => return Ok(()),
            (0, false) if implied => return Err(UnreadAvailability::Unclear),
            (0, false) => (ALL_DAYS, hours),
            (days, true) => (days, vec![(0, DAY_MINUTES)]),
            (days, false) => (days, hours),
        };
        for (start, end) in hours {
            self.open.extend((0..DAYS).filter(|day| days >> day & 1 == 1).map(|day| (day, start, end)));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Availability, UnreadAvailability> {
        if self.open.is_empty() {
            if self.closed == 0 {
                return Err(UnreadAvailability::Nothing);
            }
            self.open.extend((0..DAYS).map(|day| (day, 0, DAY_MINUTES)));
        }
        let mut spans = Vec::with_capacity(self.open.len());
        for (day, start, end) in self.open.into_iter().filter(|(day, ..)| self.closed >> day & 1 == 0) {
            let midnight = u16::from(day) * DAY_MINUTES;
            let (start, end) = (midnight + start, midnight + end);
            spans.push(Span { start, end: end.min(WEEK_MINUTES) });
            if end > WEEK_MINUTES {
                // Sunday's hours run into Monday.
                spans.push(Span { start: 0, end: end - WEEK_MINUTES });
            }
        }
        Availability::of_spans(spans).ok_or(UnreadAvailability::NeverOpen)
    }
}
