//! Every form in a table, and random weeks against a model that knows nothing but minutes.

use jiff::ToSpan as _;
use jiff::civil::{Weekday, date};
use jiff::tz::{Offset, TimeZone};
use proptest::prelude::*;

use super::*;

const NAMES: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// What is open, in the form in which all texts of one meaning are alike: `Mon 08:00-22:00; …`.
fn told(text: &str) -> String {
    let availability = Availability::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    if availability.is_always() {
        return "always".to_owned();
    }
    let time = |minute: u16| format!("{:02}:{:02}", minute % DAY_MINUTES / 60, minute % 60);
    let day = |minute: u16| NAMES[usize::from(minute / DAY_MINUTES % 7)];
    let spans = availability.spans().map(|(start, end)| match end - start {
        length if length <= DAY_MINUTES && end % DAY_MINUTES == 0 => format!("{} {}-24:00", day(start), time(start)),
        length if length < DAY_MINUTES => format!("{} {}-{}", day(start), time(start), time(end)),
        _ => format!("{} {} to {} {}", day(start), time(start), day(end), time(end)),
    });
    spans.collect::<Vec<_>>().join("; ")
}

/// The same hours on each of these days.
fn on(days: &[usize], hours: &str) -> String {
    days.iter().map(|day| format!("{} {hours}", NAMES[*day])).collect::<Vec<_>>().join("; ")
}

#[test]
fn always() {
    let texts = [
        "",
        "  ",
        "24x7",
        "24X7",
        "24/7",
        "24 x 7",
        "24×7",
        "24*7",
        "24x7 IST",
        "24/7/365",
        "24x7x365",
        "24 hours",
        "24hrs",
        "Mon-Sun 24 hours",
        "Mon-Sun",
        "Daily",
        "every day",
        "00:00-24:00",
        "00:00-23:59",
        "Daily 00:00-00:00",
        "12am-12am",
        "Mon-Sun 24x7",
        "24 hours, 7 days a week",
        "Always open",
        "Round the clock",
        "Fri-Thu",
        "Tue 22:00-21:00; Mon-Sun 21:00-22:00; Mon-Sun 00:00-22:00; 22:00-24:00",
    ];
    for text in texts {
        assert_eq!(told(text), "always", "{text}");
    }
}

#[test]
fn days_and_hours() {
    let (six, five, all) = ([0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 5, 6]);
    let split_week = format!("{}; Sat 10:00-14:00", on(&five, "09:00-18:00"));
    for (text, expected) in [
        // The examples of the specification.
        ("Mon-Sat 08:00-22:00 IST", on(&six, "08:00-22:00")),
        ("Mon-Fri 09:00-18:00; Sat 10:00-14:00 IST", split_week.clone()),
        // Spelling.
        ("MONDAY – saturday  08:00 – 22:00", on(&six, "08:00-22:00")),
        ("Mon to Sat: 8am to 10pm (IST)", on(&six, "08:00-22:00")),
        ("Mon.-Sat. 8.00 a.m. - 10.00 p.m.", on(&six, "08:00-22:00")),
        ("Mon-Sat 0800-2200 hrs, Asia/Kolkata", on(&six, "08:00-22:00")),
        ("Mo-Sa 08:00-22:00 UTC+05:30", on(&six, "08:00-22:00")),
        ("Mon-Sat - 8 am - 10 pm", on(&six, "08:00-22:00")),
        ("open from 8am till 10pm on Mon-Sat", on(&six, "08:00-22:00")),
        ("weekdays 9am-6pm; weekends closed", on(&five, "09:00-18:00")),
        ("Mon-Fri 9AM-12 noon", on(&five, "09:00-12:00")),
        // Lists, single days, ranges over the end of the week.
        ("Mon,Wed,Fri 09:00-12:00", on(&[0, 2, 4], "09:00-12:00")),
        ("Mon, Wed & Fri 09:00-12:00", on(&[0, 2, 4], "09:00-12:00")),
        ("Mon/Wed and Fri, 09:00-12:00", on(&[0, 2, 4], "09:00-12:00")),
        ("Tue 09:00-12:00", on(&[1], "09:00-12:00")),
        ("Mon-Tue,Sat 09:00-12:00", on(&[0, 1, 5], "09:00-12:00")),
        ("Fri-Mon 09:00-12:00", on(&[0, 4, 5, 6], "09:00-12:00")),
        ("Wed", on(&[2], "00:00-24:00")),
        ("Sun; Tue 10:00-11:00", "Tue 10:00-11:00; Sun 00:00-24:00".to_owned()),
        // Hours without days, and before their days.
        ("08:00-20:00", on(&all, "08:00-20:00")),
        ("Daily 08:00-20:00", on(&all, "08:00-20:00")),
        ("9am-6pm", on(&all, "09:00-18:00")),
        ("09:00-18:00 Mon-Fri", on(&five, "09:00-18:00")),
        ("09:00-18:00 Mon-Fri, 10:00-14:00 Sat", split_week.clone()),
        // Groups without a semicolon, by commas, lines or nothing.
        ("Mon-Fri 09:00-18:00, Sat 10:00-14:00", split_week.clone()),
        ("Mon-Fri 09:00-18:00 IST\nSat 10:00-14:00 IST", split_week.clone()),
        ("Mon-Fri 09:00-18:00 Sat 10:00-14:00", split_week.clone()),
        (";; Mon-Fri 09:00-18:00;Sat 10:00-14:00;", split_week.clone()),
        // Several hours of a day.
        ("Mon 09:00-12:00, 16:00-20:00", "Mon 09:00-12:00; Mon 16:00-20:00".to_owned()),
        ("Mon 09:00-12:00 and 16:00-20:00", "Mon 09:00-12:00; Mon 16:00-20:00".to_owned()),
        ("Mon 09:00-12:00; Mon 11:00-13:00", "Mon 09:00-13:00".to_owned()),
        // Over midnight, and the end of the week.
        ("Fri 22:00-06:00", "Fri 22:00 to Sat 06:00".replace(" to Sat ", "-")),
        ("Sun 22:00-06:00", "Mon 00:00-06:00; Sun 22:00-24:00".to_owned()),
        ("Sat 18:00-24:00", "Sat 18:00-24:00".to_owned()),
        ("Sat 18:00-00:00", "Sat 18:00-24:00".to_owned()),
        ("Sat 6pm-midnight", "Sat 18:00-24:00".to_owned()),
        ("Sat 18:00-23:59", "Sat 18:00-24:00".to_owned()),
        ("Sat midnight-6am", "Sat 00:00-06:00".to_owned()),
        // Closed days.
        ("Sun closed", "Mon 00:00 to Sun 00:00".to_owned()),
        ("24x7; closed on Sundays", "Mon 00:00 to Sun 00:00".to_owned()),
        ("09:00-18:00, Sat & Sun closed", on(&five, "09:00-18:00")),
        ("09:00-18:00; Sat-Sun: closed", on(&five, "09:00-18:00")),
        ("Mon-Sun 09:00-18:00, closed Sat, Sun", on(&five, "09:00-18:00")),
        ("Sat 22:00-02:00; Sun off", "Sat 22:00 to Sun 02:00".replace(" to Sun ", "-")),
    ] {
        assert_eq!(told(text), expected, "{text}");
    }
}

#[test]
fn what_cannot_be_read_is_told() {
    let unknown = |text: &str| UnreadAvailability::Unknown(text.to_owned());
    let no_time = |text: &str| UnreadAvailability::NoTime(text.to_owned());
    for (text, expected) in [
        ("by appointment", unknown("by")),
        ("Mon-Sat 08:00-22:00 UTC", unknown("utc")),
        ("Mon-Sat 08:00-22:00 PST", unknown("pst")),
        ("Mon-Fri 09:00-18:00; public holidays closed", unknown("public")),
        ("Mon?", unknown("?")),
        ("सोम-शनि", unknown("सोम")),
        ("Mon 25:00-26:00", no_time("25:00")),
        ("Mon 09:60-10:00", no_time("09:60")),
        ("Mon 24:01-25:00", no_time("24:01")),
        ("13pm-2pm", no_time("13pm")),
        ("0am-2pm", no_time("0am")),
        ("9-18", no_time("9")),
        ("9-6pm", no_time("9")),
        ("24x71", no_time("24")),
        ("900-1800", no_time("900")),
        ("Mon 09:00", UnreadAvailability::TimeAlone),
        ("Mon 09:00 18:00", UnreadAvailability::TimeAlone),
        ("Mon 09:00-", UnreadAvailability::TimeAlone),
        ("Mon-", UnreadAvailability::LooseDash),
        ("-Fri", UnreadAvailability::LooseDash),
        ("Mon-Wed-Fri", UnreadAvailability::LooseDash),
        ("09:00-18:00-20:00", UnreadAvailability::LooseDash),
        ("09:00-09:00", UnreadAvailability::NoLength),
        ("24:00-06:00", UnreadAvailability::NoLength),
        ("09:00-18:00 Mon-Fri, Sat 10:00-14:00", UnreadAvailability::Unclear),
        ("Sun closed 09:00-18:00", UnreadAvailability::Unclear),
        ("closed", UnreadAvailability::ClosedWithoutDays),
        ("09:00-18:00 Sun closed", UnreadAvailability::ClosedWithoutDays),
        ("Mon-Sun closed", UnreadAvailability::NeverOpen),
        ("Mon 09:00-18:00; Mon closed", UnreadAvailability::NeverOpen),
        ("IST", UnreadAvailability::Nothing),
        (";", UnreadAvailability::Nothing),
    ] {
        assert_eq!(Availability::parse(text), Err(expected), "{text}");
    }
    let longest = format!("Mon{}", " ".repeat(AVAILABILITY_MAX_CHARS - 3));
    assert!(Availability::parse(&longest).is_ok());
    assert_eq!(Availability::parse(&format!("{longest} ")), Err(UnreadAvailability::TooLong));
    let word = UnreadAvailability::Unknown("z".repeat(24));
    assert_eq!(Availability::parse(&"z".repeat(400)), Err(word), "what is told back is bounded");
}

fn instant(text: &str) -> Timestamp {
    timestamp(text.parse().expect("an instant"))
}

fn timestamp(at: jiff::Timestamp) -> Timestamp {
    Timestamp::from_ms(u64::try_from(at.as_millisecond()).expect("after 1970"))
}

#[test]
fn hours_are_indian() {
    // 21 November 2026 is a Saturday.
    let hours = Availability::parse("Mon-Sat 08:00-22:00 IST").expect("read");
    for (at, open) in [
        ("2026-11-21T07:59:59.999+05:30", false),
        ("2026-11-21T08:00:00+05:30", true),
        ("2026-11-21T21:59:59.999+05:30", true),
        ("2026-11-21T22:00:00+05:30", false),
        ("2026-11-22T12:00:00+05:30", false),
        ("2026-11-23T12:00:00+05:30", true),
        ("2026-11-21T02:29:59Z", false),
        ("2026-11-21T02:30:00Z", true),
        ("1970-01-01T00:00:00Z", false),
        ("1970-01-01T02:30:00Z", true),
    ] {
        assert_eq!(hours.covers(instant(at)), open, "{at}");
    }
    assert!(Availability::always().covers(Timestamp::MAX));
}

#[test]
fn a_window_counts_by_any_of_its_minutes() {
    let hours = Availability::parse("Sat 10:00-14:00").expect("read");
    let open = |from: &str, until: &str| hours.opens_within(WeekWindow::between(instant(from), instant(until)));
    assert!(!open("2026-11-21T08:00:00+05:30", "2026-11-21T10:00:00+05:30"));
    assert!(open("2026-11-21T08:00:00+05:30", "2026-11-21T10:00:00.001+05:30"));
    assert!(open("2026-11-21T13:59:00+05:30", "2026-11-21T20:00:00+05:30"));
    assert!(!open("2026-11-21T14:00:00+05:30", "2026-11-28T10:00:00+05:30"));
    assert!(open("2026-11-21T14:00:00+05:30", "2026-11-28T14:00:00+05:30"), "a week is every hour");
    assert!(open("2026-11-21T14:00:00+05:30", "2027-11-21T14:00:00+05:30"));
    assert!(open("2026-11-21T11:00:00+05:30", "2026-11-21T09:00:00+05:30"), "a window that ends early is its start");
}

#[test]
fn the_wanted_hour() {
    let (now, from, until) =
        (instant("2026-11-21T11:00:00Z"), instant("2026-11-21T12:00:00Z"), instant("2026-11-21T15:00:00Z"));
    let wanted = |from: Option<Timestamp>, until: Option<Timestamp>| {
        let (from_ms, until_ms) = (from.map(Timestamp::as_ms), until.map(Timestamp::as_ms));
        WeekWindow::wanted(&Need { from_ms, until_ms, ..Need::default() }, now)
    };
    assert_eq!(wanted(None, None), WeekWindow::at(now));
    assert_eq!(wanted(Some(from), None), WeekWindow::at(from));
    assert_eq!(wanted(None, Some(until)), WeekWindow::between(now, until));
    assert_eq!(wanted(None, Some(now.minus_ms(1))), WeekWindow::at(now));
    assert_eq!(wanted(Some(from), Some(until)), WeekWindow::between(from, until));
    let earlier = now.minus_ms(60 * MINUTE_MS);
    assert_eq!(wanted(Some(earlier), Some(until)), WeekWindow::between(now, until), "what has gone by does not count");
    assert_eq!(wanted(Some(earlier), Some(now)), WeekWindow::between(earlier, now), "unless all of it has");
}

/// One group as somebody might write it.
#[derive(Clone, Debug)]
struct Written {
    days: Vec<u8>,
    hours: Vec<(u16, u16)>,
    closed: bool,
}

fn written() -> impl Strategy<Value = Written> {
    let days = proptest::collection::vec(0_u8..7, 0..4);
    let hours = proptest::collection::vec((0_u16..1_440, 1_u16..=1_440), 0..3);
    (days, hours, proptest::bool::weighted(0.2)).prop_map(|(days, hours, closed)| Written { days, hours, closed })
}

impl Written {
    fn hours(&self) -> impl Iterator<Item = (u16, u16)> + '_ {
        // Times that the notation gives a meaning of its own are left to the tables above.
        let plain = |&&(start, end): &&(u16, u16)| start != end && end != 1_439;
        self.hours.iter().filter(plain).copied()
    }

    /// The text; `style` chooses among the spellings.
    fn text(&self, style: u8) -> String {
        let name = |day: &u8| {
            let name = ["monday", "TUE", "Wed", "thurs", "Fri", "SATURDAY", "su"][usize::from(*day)];
            name.to_owned()
        };
        let time = |minute: u16| match style % 3 {
            0 if minute < 1_440 => {
                let half = if minute < 720 { "am" } else { "PM" };
                format!("{}:{:02} {half}", (minute / 60 + 11) % 12 + 1, minute % 60)
            }
            1 => format!("{:02}{:02}", minute / 60, minute % 60),
            _ => format!("{:02}:{:02}", minute / 60, minute % 60),
        };
        let days = self.days.iter().map(name).collect::<Vec<_>>().join([", ", " & ", " "][usize::from(style / 3 % 3)]);
        let dash = ["-", " to ", " – "][usize::from(style / 9 % 3)];
        let hours = self.hours().map(|(start, end)| format!("{}{dash}{}", time(start), time(end)));
        let hours = if self.closed { "closed".to_owned() } else { hours.collect::<Vec<_>>().join(", ") };
        if (style / 27).is_multiple_of(2) { format!("{days} {hours}") } else { format!("{hours} {days}") }
    }

    fn says_nothing(&self) -> bool {
        if self.closed { self.days.is_empty() } else { self.days.is_empty() && self.hours().next().is_none() }
    }
}

/// Minute by minute of a week, from the groups and not from the text.
fn model(groups: &[Written]) -> Vec<bool> {
    let mut open = vec![false; usize::from(WEEK_MINUTES)];
    let closed = |day: u8| groups.iter().any(|group| group.closed && group.days.contains(&day));
    for group in groups.iter().filter(|group| !group.closed) {
        for day in (0..7).filter(|day| (group.days.is_empty() || group.days.contains(day)) && !closed(*day)) {
            let hours: Vec<_> = group.hours().collect();
            for (start, end) in if hours.is_empty() { vec![(0, 1_440)] } else { hours } {
                let mut minute = usize::from(day) * 1_440 + usize::from(start);
                loop {
                    open[minute % usize::from(WEEK_MINUTES)] = true;
                    minute += 1;
                    if minute % 1_440 == usize::from(end) % 1_440 {
                        break;
                    }
                }
            }
        }
    }
    if groups.iter().all(|group| group.closed) {
        for day in (0..7).filter(|day| !closed(*day)) {
            open[usize::from(day) * 1_440..usize::from(day + 1) * 1_440].fill(true);
        }
    }
    open
}

/// The minute of the week by the calendar of a library.
fn calendar_minute(at: jiff::Timestamp) -> usize {
    let ist = TimeZone::fixed(Offset::from_seconds(19_800).expect("an offset"));
    let local = at.to_zoned(ist);
    let day = match local.weekday() {
        Weekday::Monday => 0,
        Weekday::Tuesday => 1,
        Weekday::Wednesday => 2,
        Weekday::Thursday => 3,
        Weekday::Friday => 4,
        Weekday::Saturday => 5,
        Weekday::Sunday => 6,
    };
    let minute = i32::from(local.hour()) * 60 + i32::from(local.minute());
    usize::try_from(day * 1_440 + minute).expect("not negative")
}

proptest! {
    #[test]
    fn agrees_with_the_model(
        groups in proptest::collection::vec(written(), 1..4),
        style in 0_u8..54,
        instants in proptest::collection::vec((0_i64..40_000_000, 0_i64..15_000), 8),
    ) {
        let groups: Vec<_> = groups.into_iter().filter(|group| !group.says_nothing()).collect();
        prop_assume!(!groups.is_empty());
        let text = groups.iter().map(|group| group.text(style)).collect::<Vec<_>>().join("; ");
        let model = model(&groups);
        let read = match Availability::parse(&text) {
            Ok(read) => read,
            Err(error) => {
                prop_assert_eq!(error, UnreadAvailability::NeverOpen, "{}", &text);
                prop_assert!(!model.contains(&true), "{}", &text);
                return Ok(());
            }
        };
        let epoch = date(1970, 1, 1).at(0, 0, 0, 0).to_zoned(TimeZone::UTC).expect("a date").timestamp();
        for (minutes, length) in instants {
            let at = epoch + minutes.minutes();
            let from = timestamp(at);
            let first = calendar_minute(at);
            prop_assert_eq!(read.covers(from), model[first], "{} at {}", &text, at);
            let until = from.plus_ms(u64::try_from(length).expect("not negative") * MINUTE_MS);
            let length = usize::try_from(length.max(1)).expect("not negative");
            let open = (0..length).any(|minute| model[(first + minute) % usize::from(WEEK_MINUTES)]);
            let window = WeekWindow::between(from, until);
            prop_assert_eq!(read.opens_within(window), open, "{} from {} for {} minutes", &text, at, length);
        }
    }

    #[test]
    fn no_text_is_too_odd(text in "\\PC{0,60}") {
        let _ = Availability::parse(&text);
    }

    #[test]
    fn no_order_of_words_is_too_odd(words in proptest::collection::vec(0_usize..22, 0..12)) {
        const WORDS: [&str; 22] = [
            "mon", "tue", "sun", "-", "to", ",", ";", "09:00", "9am", "24", "24:00", "x", "7", "closed", "daily", "noon",
            "midnight", "2359", "12", ":", "hours", ".",
        ];
        let text = words.into_iter().map(|word| WORDS[word]).collect::<Vec<_>>().join(" ");
        if let Ok(read) = Availability::parse(&text) {
            prop_assert!(read.spans().all(|(start, end)| start < end && end <= WEEK_MINUTES));
            prop_assert!(read.opens_within(WeekWindow::between(Timestamp::EPOCH, Timestamp::MAX)));
        }
    }
}
