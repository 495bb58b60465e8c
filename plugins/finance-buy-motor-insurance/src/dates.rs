//! Spans between calendar days.

use contract_sdk::shape::Date;

/// Whether two days are so many years apart, give or take a day: some count the last day of cover, some the day
/// after it. Leap days are allowed for.
pub(crate) fn is_years_apart(from: Date, to: Date, years: i64) -> bool {
    let days = i64::from(to.days) - i64::from(from.days);
    (years * 365 - 1..=years * 365 + years / 4 + 1).contains(&days)
}

const MS_PER_MINUTE: i64 = 60_000;
const MINUTES_PER_DAY: i64 = 24 * 60;

/// Indian Standard Time, minutes ahead of UTC.
const INDIA_OFFSET_MINUTES: i64 = 330;

/// The calendar day of an instant in India, in days since 1970-01-01. The instant is in milliseconds since the Unix epoch.
pub(crate) fn day_in_india(epoch_ms: u64) -> i64 {
    let minutes = i64::try_from(epoch_ms).unwrap_or(i64::MAX) / MS_PER_MINUTE;
    (minutes + INDIA_OFFSET_MINUTES) / MINUTES_PER_DAY
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract_sdk::shape::DateTime;

    fn apart(from: &str, to: &str, years: i64) -> bool {
        is_years_apart(Date::parse(from).unwrap(), Date::parse(to).unwrap(), years)
    }

    #[test]
    fn years_are_counted_with_and_without_leap_days() {
        for (from, to, years) in [
            ("2026-05-04", "2027-05-03", 1),
            ("2026-05-04", "2027-05-04", 1),
            ("2028-02-29", "2029-02-28", 1),
            ("2027-05-04", "2028-05-04", 1),
            ("2026-05-04", "2029-05-03", 3),
            ("2026-05-04", "2031-05-03", 5),
            ("2027-05-04", "2032-05-04", 5),
        ] {
            assert!(apart(from, to, years), "{from} {to}");
            assert!(!apart(from, to, years + 1) && !apart(from, to, years - 1), "{from} {to}");
        }
        assert!(!apart("2026-05-04", "2027-05-02", 1) && !apart("2026-05-04", "2027-05-06", 1));
    }

    #[test]
    fn a_day_in_india_begins_at_half_past_six_of_greenwich() {
        let day = |text: &str| day_in_india(DateTime::parse(text).unwrap().epoch_ms().unwrap());
        assert_eq!([day("1970-01-01T18:29:59.999Z"), day("1970-01-01T18:30:00Z")], [0, 1]);
        assert_eq!([day("1970-01-02T23:59:59+05:30"), day("1970-01-03T00:00:00+05:30")], [1, 2]);
        day_in_india(u64::MAX);
    }
}
