//! Months by Indian Standard Time, by which statements are drawn up.

use std::fmt;
use std::str::FromStr;

use intent_gateway_domain::clock::Timestamp;
use jiff::tz::Offset;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Indian Standard Time: five and a half hours ahead, all year.
const IST_AHEAD_SECONDS: i32 = (5 * 60 + 30) * 60;

/// A calendar month by Indian Standard Time; shown and parsed as `2026-05`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Month {
    year: i16,
    month: i8,
}

/// The text is not a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a month is written `YYYY-MM`, from 1970-01 on")]
pub struct InvalidMonth;

impl Month {
    /// The month that a time falls in. Times past the year 9999 count in its last month.
    #[must_use]
    pub fn at(time: Timestamp) -> Self {
        let local = ist().to_datetime(time.to_jiff().unwrap_or(jiff::Timestamp::MAX));
        Self { year: local.year(), month: local.month() }
    }

    /// The month that an order counts in: when it closed, or when its report came if that was earlier. So nobody can
    /// put an order off to a later statement by its `closed_at`.
    #[must_use]
    pub fn of_order(closed_at: Timestamp, posted_at: Timestamp) -> Self {
        Self::at(closed_at.min(posted_at))
    }

    #[must_use]
    pub fn year(self) -> i16 {
        self.year
    }

    /// Its number within the year, from 1.
    #[must_use]
    pub fn number(self) -> i8 {
        self.month
    }
}

fn ist() -> Offset {
    Offset::from_seconds(IST_AHEAD_SECONDS).unwrap_or(Offset::UTC)
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

impl FromStr for Month {
    type Err = InvalidMonth;

    fn from_str(text: &str) -> Result<Self, InvalidMonth> {
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let (year, month) = text.split_once('-').ok_or(InvalidMonth)?;
        if year.len() != 4 || month.len() != 2 || !digits(year) || !digits(month) {
            return Err(InvalidMonth);
        }
        let (year, month) = (year.parse().map_err(|_| InvalidMonth)?, month.parse().map_err(|_| InvalidMonth)?);
        if year < 1970 || !(1..=12).contains(&month) {
            return Err(InvalidMonth);
        }
        Ok(Self { year, month })
    }
}

impl Serialize for Month {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Month {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Timestamp {
        let instant: jiff::Timestamp = text.parse().expect("a timestamp");
        Timestamp::from_ms(u64::try_from(instant.as_millisecond()).expect("after 1970"))
    }

    #[test]
    fn begins_at_midnight_in_india() {
        let cases = [
            ("1970-01-01T00:00:00Z", "1970-01"),
            ("2026-04-30T18:29:59.999Z", "2026-04"),
            ("2026-04-30T18:30:00Z", "2026-05"),
            ("2026-05-01T00:00:00+05:30", "2026-05"),
            ("2024-02-29T23:59:59+05:30", "2024-02"),
            ("2026-12-31T18:30:00Z", "2027-01"),
        ];
        for (instant, month) in cases {
            assert_eq!(Month::at(time(instant)).to_string(), month, "{instant}");
        }
        assert_eq!(Month::at(Timestamp::MAX).to_string(), "9999-12");
        let month: Month = "2026-05".parse().expect("a month");
        assert_eq!((month.year(), month.number()), (2026, 5));
    }

    #[test]
    fn an_order_counts_no_later_than_its_report() {
        let (may, june) = (time("2026-05-31T12:00:00Z"), time("2026-06-01T12:00:00Z"));
        assert_eq!(Month::of_order(may, june).to_string(), "2026-05");
        assert_eq!(Month::of_order(june, may).to_string(), "2026-05");
    }

    #[test]
    fn is_written_one_way() {
        for bad in ["", "2026", "2026-5", "2026-13", "2026-00", "1969-12", "+026-05", "2026-05-01", "2026/05"] {
            assert_eq!(bad.parse::<Month>(), Err(InvalidMonth), "{bad}");
        }
        let month: Month = serde_json::from_str("\"2026-05\"").expect("a month");
        assert_eq!(serde_json::to_string(&month).ok().as_deref(), Some("\"2026-05\""));
    }
}
