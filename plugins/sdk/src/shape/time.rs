//! Datetimes and dates by ISO 8601, on the proleptic Gregorian calendar.
//!
//! Written by hand because it runs twice per option in the guest, and a calendar library would be a good
//! part of the component. A property test compares it with one.

use super::desc::{Kind, TextFormat, ValueDesc};
use super::leaf::text_within_bounds;
use super::read::{At, Described, Shape, wrong_type};
use crate::card::{Piece, push_digits};
use crate::code;
use crate::json::Parser;
use crate::violations::{Quoted, Violations};
use std::fmt::{self, Display};

const MS_PER_MINUTE: i64 = 60_000;
const MINUTES_PER_DAY: i64 = 24 * 60;
const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
/// 1970-01-01 was a Thursday.
const WEEKDAYS: &str = "ThuFriSatSunMonTueWed";

/// An instant with the offset that it was written in.
///
/// Accepted: `2026-05-04T10:00:00+05:30`, with or without seconds and a fraction of them, the offset as
/// `Z`, `+hh:mm` or `+hhmm`. Refused: a missing offset, a lower-case `t`, days that no calendar has,
/// leap seconds (no partner schedules at one).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateTime {
    /// Milliseconds since the Unix epoch; finer fractions are cut off.
    pub ms: i64,
    /// The offset from UTC in minutes.
    pub offset_minutes: i16,
}

impl DateTime {
    /// Reads a datetime; `None` if it is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let date = Date::parse_bytes(bytes.get(..10)?)?;
        let (b'T', Some(hour), b':', Some(minute)) =
            (*bytes.get(10)?, two_digits(bytes, 11), *bytes.get(13)?, two_digits(bytes, 14))
        else {
            return None;
        };
        let mut rest = bytes.get(16..)?;
        let mut second = 0;
        let mut fraction_ms = 0;
        if rest.first() == Some(&b':') {
            second = two_digits(rest, 1)?;
            rest = &rest[3..];
            if let Some((b'.' | b',', fraction)) = rest.split_first() {
                let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
                if digits == 0 || digits > 9 {
                    return None;
                }
                for place in 0..3 {
                    fraction_ms =
                        fraction_ms * 10 + fraction[..digits].get(place).map_or(0, |byte| i64::from(byte - b'0'));
                }
                rest = &fraction[digits..];
            }
        }
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let offset = offset_minutes(rest)?;
        let minutes = i64::from(date.days) * MINUTES_PER_DAY + hour * 60 + minute - offset;
        Some(Self {
            ms: minutes * MS_PER_MINUTE + second * 1000 + fraction_ms,
            offset_minutes: i16::try_from(offset).ok()?,
        })
    }

    /// Milliseconds since the Unix epoch, as the interface has them; `None` for an instant before it.
    pub fn epoch_ms(self) -> Option<u64> {
        u64::try_from(self.ms).ok()
    }

    /// The calendar day where it was written, in days since 1970-01-01.
    pub fn local_day(self) -> i64 {
        self.local_minutes().div_euclid(MINUTES_PER_DAY)
    }

    fn local_minutes(self) -> i64 {
        self.ms.div_euclid(MS_PER_MINUTE) + i64::from(self.offset_minutes)
    }

    /// Hours from an earlier instant to this one.
    pub fn hours_since(self, earlier: Self) -> f64 {
        (self.ms - earlier.ms) as f64 / (60 * MS_PER_MINUTE) as f64
    }

    /// Whole minutes from another instant to this one, rounded towards zero; below zero if the other is later.
    pub fn minutes_since(self, other: Self) -> i64 {
        (self.ms - other.ms) / MS_PER_MINUTE
    }
}

/// For cards: the local day and time as written, `Mon 4 May, 10:00`.
impl Piece for DateTime {
    fn push_to(&self, text: &mut String) {
        let minutes = self.local_minutes();
        let (days, minute) = (minutes.div_euclid(MINUTES_PER_DAY), minutes.rem_euclid(MINUTES_PER_DAY) as u32);
        let (_, month, day) = civil_from_days(days);
        text.push_str(word_of_three(WEEKDAYS, days.rem_euclid(7) as usize));
        text.push(' ');
        day.push_to(text);
        text.push(' ');
        text.push_str(word_of_three(MONTHS, month as usize - 1));
        text.push_str(", ");
        push_digits(minute / 60, 2, text);
        text.push(':');
        push_digits(minute % 60, 2, text);
    }
}

/// As on cards.
impl Display for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::text!("{self}"))
    }
}

/// One of several words of three letters each.
#[inline]
fn word_of_three(words: &str, index: usize) -> &str {
    words.get(3 * index..3 * index + 3).unwrap_or_default()
}

/// The offset in minutes: `Z`, `+hh:mm` or `+hhmm`, and nothing after it.
fn offset_minutes(text: &[u8]) -> Option<i64> {
    let (sign, digits) = match text.split_first()? {
        (b'Z', []) => return Some(0),
        (b'+', digits) => (1, digits),
        (b'-', digits) => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match digits {
        [_, _, b':', _, _] => (two_digits(digits, 0)?, two_digits(digits, 3)?),
        [_, _, _, _] => (two_digits(digits, 0)?, two_digits(digits, 2)?),
        _ => return None,
    };
    (hours <= 23 && minutes <= 59).then_some(sign * (hours * 60 + minutes))
}

#[inline]
fn two_digits(bytes: &[u8], at: usize) -> Option<i64> {
    match bytes.get(at..at + 2)? {
        [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => Some(i64::from(tens - b'0') * 10 + i64::from(ones - b'0')),
        _ => None,
    }
}

/// A calendar date, `YYYY-MM-DD`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    /// Days since 1970-01-01.
    pub days: i32,
}

impl Date {
    /// Reads a date; `None` if it is not one.
    pub fn parse(text: &str) -> Option<Self> {
        Self::parse_bytes(text.as_bytes())
    }

    fn parse_bytes(text: &[u8]) -> Option<Self> {
        let [_, _, _, _, b'-', _, _, b'-', _, _] = text else {
            return None;
        };
        let year = two_digits(text, 0)? * 100 + two_digits(text, 2)?;
        let (month, day) = (two_digits(text, 5)?, two_digits(text, 8)?);
        if !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) {
            return None;
        }
        Some(Self { days: i32::try_from(days_from_civil(year, month, day)).ok()? })
    }

    pub fn civil(self) -> (i64, i64, i64) {
        civil_from_days(i64::from(self.days))
    }
}

const fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

const fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days of a 400-year cycle of the Gregorian calendar, and days from 0000-03-01 to 1970-01-01.
const DAYS_PER_CYCLE: i64 = 146_097;
const DAYS_TO_EPOCH: i64 = 719_468;

/// Counted in years that begin in March, so that the leap day is the last of its year.
const fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let cycle = year.div_euclid(400);
    let year_of_cycle = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_cycle = year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100 + day_of_year;
    cycle * DAYS_PER_CYCLE + day_of_cycle - DAYS_TO_EPOCH
}

const fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + DAYS_TO_EPOCH;
    let cycle = days.div_euclid(DAYS_PER_CYCLE);
    let day_of_cycle = days.rem_euclid(DAYS_PER_CYCLE);
    let year_of_cycle =
        (day_of_cycle - day_of_cycle / 1460 + day_of_cycle / 36_524 - day_of_cycle / (DAYS_PER_CYCLE - 1)) / 365;
    let day_of_year = day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = year_of_cycle + cycle * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

impl Described for DateTime {
    const DESC: ValueDesc = ValueDesc::of(Kind::Text(TextFormat::DateTime));
}

impl<'a> Shape<'a> for DateTime {
    fn read(from: &mut Parser<'a>, at: &At<'_>, out: &mut Violations) -> Option<Self> {
        read_time(Self::parse, from, at, out)
    }
}

impl Described for Date {
    const DESC: ValueDesc = ValueDesc::of(Kind::Text(TextFormat::Date));
}

impl<'a> Shape<'a> for Date {
    fn read(from: &mut Parser<'a>, at: &At<'_>, out: &mut Violations) -> Option<Self> {
        read_time(Self::parse, from, at, out)
    }
}

#[inline]
fn read_time<T: Described>(
    parse: fn(&str) -> Option<T>,
    from: &mut Parser<'_>,
    at: &At<'_>,
    out: &mut Violations,
) -> Option<T> {
    if from.peek() != b'"' {
        return wrong_type(from, at, out);
    }
    let text = text_within_bounds(from, at, out)?;
    let found = parse(&text);
    if found.is_none() {
        out.push(at, code::BAD_FORMAT, format_args!("Found {}; expected: {}.", Quoted(&text), T::DESC.kind.label()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_day_is_that_of_its_place() {
        let day = |text: &str| DateTime::parse(text).map(DateTime::local_day);
        assert_eq!(day("1970-01-02T00:30:00+05:30"), Some(1));
        assert_eq!(day("1970-01-01T23:30:00-05:00"), Some(0));
        assert_eq!(day("1970-01-01T00:00:00Z"), Some(0));
    }

    #[test]
    fn accepts_what_partners_write() {
        let at = |text| DateTime::parse(text).map(|time| (time.ms, time.offset_minutes));
        let noon = 1_777_876_200_000; // 2026-05-04T06:30:00Z
        for text in [
            "2026-05-04T12:00:00+05:30",
            "2026-05-04T12:00:00+0530",
            "2026-05-04T12:00+05:30",
            "2026-05-04T12:00:00.000+05:30",
            "2026-05-04T12:00:00,0009+05:30",
        ] {
            assert_eq!(at(text), Some((noon, 330)), "{text}");
        }
        assert_eq!(at("2026-05-04T06:30:00.25Z"), Some((noon + 250, 0)));
        assert_eq!(at("2026-05-03T22:30-08:00"), Some((noon, -480)));
        assert_eq!(at("2024-02-29T00:00Z"), Some((1_709_164_800_000, 0)));
        assert_eq!(at("2000-02-29T00:00Z"), Some((951_782_400_000, 0)));
    }

    #[test]
    fn refuses_what_is_no_instant() {
        for text in [
            "",
            "2026-05-04",
            "2026-05-04T10:00:00",
            "2026-05-04t10:00:00Z",
            "2026-05-04 10:00:00Z",
            "2026-05-04T10:00:00z",
            "2026-02-29T10:00:00Z",
            "2026-04-31T10:00:00Z",
            "1900-02-29T10:00:00Z",
            "2100-02-29T10:00:00Z",
            "2026-13-01T10:00:00Z",
            "2026-00-01T10:00:00Z",
            "2026-05-00T10:00:00Z",
            "2026-05-04T24:00:00Z",
            "2026-05-04T10:60:00Z",
            "2026-05-04T10:00:60Z",
            "2026-05-04T10:00:00.Z",
            "2026-05-04T10:00:00.1234567890Z",
            "2026-05-04T10:00:00+5:30",
            "2026-05-04T10:00:00+05",
            "2026-05-04T10:00:00+05:60",
            "2026-05-04T10:00:00+24:00",
            "2026-05-04T10:00:00Z[UTC]",
            "2026-05-04T10:00:00Z ",
            "2026-05-04T10Z",
            "20260504T100000Z",
            "+02026-05-04T10:00:00Z",
            "２０２６-05-04T10:00Z",
        ] {
            assert_eq!(DateTime::parse(text), None, "{text}");
        }
    }

    #[test]
    fn shows_the_local_time() {
        let shown = |text| DateTime::parse(text).map(|time| time.to_string());
        assert_eq!(shown("2026-05-04T09:05:00+05:30").as_deref(), Some("Mon 4 May, 09:05"));
        assert_eq!(shown("1969-12-31T23:59:00-01:00").as_deref(), Some("Wed 31 Dec, 23:59"));
        assert_eq!(shown("2000-02-29T00:00:00Z").as_deref(), Some("Tue 29 Feb, 00:00"));
    }

    #[test]
    fn minutes_are_whole_and_rounded_towards_zero() {
        let minutes = |from, until| {
            let at = |text| DateTime::parse(text).expect("a datetime");
            at(until).minutes_since(at(from))
        };
        let start = "2026-05-04T07:30:00+05:30";
        for (until, expected) in [
            ("2026-05-04T02:00:00Z", 0),
            ("2026-05-04T02:00:59.999Z", 0),
            ("2026-05-04T02:01:00Z", 1),
            ("2026-05-04T01:59:00.001Z", 0),
            ("2026-05-04T01:59:00Z", -1),
            ("2026-05-04T01:57:01Z", -2),
            ("2026-05-05T02:00:00Z", 24 * 60),
        ] {
            assert_eq!(minutes(start, until), expected, "{until}");
        }
        // The whole calendar is more than the interface's 32 bits; see `ReportRules::late_by_minutes`.
        assert_eq!(minutes("0000-01-01T00:00Z", "9999-12-31T23:59Z"), 3_652_425 * MINUTES_PER_DAY - 1);
    }

    proptest! {
        #[test]
        fn agrees_with_a_calendar_library(
            seconds in -62_000_000_000_i64..250_000_000_000,
            offset in -23 * 60_i32..=23 * 60,
        ) {
            let zone = jiff::tz::TimeZone::fixed(jiff::tz::Offset::from_seconds(offset * 60).unwrap());
            let local = jiff::Timestamp::from_second(seconds).unwrap().to_zoned(zone);
            prop_assume!((0..=9999).contains(&local.year()));
            let text = local.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
            let time = DateTime::parse(&text).expect("jiff writes ISO 8601");
            prop_assert_eq!((time.ms, i32::from(time.offset_minutes)), (seconds * 1000, offset));
            prop_assert_eq!(time.to_string(), local.strftime("%a %-d %b, %H:%M").to_string());
            let date = Date::parse(&text[..10]).expect("jiff writes ISO 8601");
            prop_assert_eq!(date.civil(), (i64::from(local.year()), i64::from(local.month()), i64::from(local.day())));
        }

        #[test]
        fn never_panics(text in "\\PC{0,40}", cut in 0_usize..30) {
            DateTime::parse(&text);
            Date::parse(&text);
            let almost = "2026-05-04T10:00:00.5+05:30";
            DateTime::parse(&almost[..cut.min(almost.len())]);
        }
    }
}
