//! Datetimes and dates in what partners write: those that the contracts' SDK accepts, no more and no less.
//!
//! `2026-05-04T10:00:00+05:30`, with or without seconds and a fraction of them (a point or a comma, up to nine digits),
//! the offset as `Z`, `+hh:mm` or `+hhmm`. jiff's own parser is wider (a blank for the `T`, leap seconds, zone names).

use jiff::ToSpan as _;
use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;

use crate::clock::Timestamp;

/// Indian Standard Time, seconds ahead of UTC.
const IST_SECONDS: i32 = (5 * 60 + 30) * 60;

/// Milliseconds since the epoch, finer fractions cut off; `None` where the text is no such datetime.
#[must_use]
pub fn instant_ms(text: &str) -> Option<i64> {
    let (year, rest) = number::<4>(text)?;
    let (month, rest) = number::<2>(rest.strip_prefix('-')?)?;
    let (day, rest) = number::<2>(rest.strip_prefix('-')?)?;
    let (hour, rest) = number::<2>(rest.strip_prefix('T')?)?;
    let (minute, rest) = number::<2>(rest.strip_prefix(':')?)?;
    let (second, fraction_ms, rest) = match rest.strip_prefix(':') {
        None => (0, 0, rest),
        Some(rest) => {
            let (second, rest) = number::<2>(rest)?;
            let (fraction_ms, rest) = fraction_ms(rest)?;
            (second, fraction_ms, rest)
        }
    };
    let offset = offset(rest)?;
    let small = |value: i16| i8::try_from(value).ok();
    let local =
        DateTime::new(year, small(month)?, small(day)?, small(hour)?, small(minute)?, small(second)?, 0).ok()?;
    Some(offset.to_timestamp(local).ok()?.as_millisecond() + i64::from(fraction_ms))
}

/// The end of what a text names: a datetime itself, or the end of a day in India where it is a date. `None` where it is
/// neither, or lies before 1970.
#[must_use]
pub fn end_of(text: &str) -> Option<Timestamp> {
    let ms = match instant_ms(text) {
        Some(ms) => ms,
        None => end_of_day_ms(text)?,
    };
    u64::try_from(ms).ok().map(Timestamp::from_ms)
}

/// `2026-05-04`, and nothing after it.
fn end_of_day_ms(text: &str) -> Option<i64> {
    let (year, rest) = number::<4>(text)?;
    let (month, rest) = number::<2>(rest.strip_prefix('-')?)?;
    let (day, rest) = number::<2>(rest.strip_prefix('-')?)?;
    let small = |value: i16| i8::try_from(value).ok();
    let date = Date::new(year, small(month)?, small(day)?).ok().filter(|_| rest.is_empty())?;
    let next = date.checked_add(1.day()).ok()?.at(0, 0, 0, 0);
    Some(Offset::from_seconds(IST_SECONDS).ok()?.to_timestamp(next).ok()?.as_millisecond())
}

/// Exactly so many digits, and what comes after them.
fn number<const DIGITS: usize>(text: &str) -> Option<(i16, &str)> {
    let (digits, rest) = text.split_at_checked(DIGITS)?;
    let all_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    Some((digits.parse().ok().filter(|_| all_digits)?, rest))
}

/// The milliseconds of a fraction of a second, 0 where there is none.
fn fraction_ms(text: &str) -> Option<(i16, &str)> {
    const DIGITS_MAX: usize = 9;
    let Some(fraction) = text.strip_prefix(['.', ',']) else {
        return Some((0, text));
    };
    let rest = fraction.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let digits = &fraction[..fraction.len() - rest.len()];
    if !(1..=DIGITS_MAX).contains(&digits.len()) {
        return None;
    }
    let ms = digits.bytes().chain([b'0'; 2]).take(3).fold(0, |ms, digit| ms * 10 + i16::from(digit - b'0'));
    Some((ms, rest))
}

/// `Z`, `+hh:mm` or `+hhmm`, and nothing after it.
fn offset(text: &str) -> Option<Offset> {
    if text == "Z" {
        return Some(Offset::UTC);
    }
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, rest) = number::<2>(rest)?;
    let (minutes, rest) = number::<2>(rest.strip_prefix(':').unwrap_or(rest))?;
    let fits = hours <= 23 && minutes <= 59 && rest.is_empty();
    fits.then(|| Offset::from_seconds(sign * (i32::from(hours) * 60 + i32::from(minutes)) * 60).ok())?
}
