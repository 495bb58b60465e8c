//! A test for each rule, and random sets of partners against a model that asks every partner every question.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use intent_gateway_domain::availability::Availability;
use intent_gateway_domain::contract::Axes;
use intent_gateway_domain::endpoint::{Endpoint, Mappings};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::limits::{FAN_OUT_MAX, LEFT_OUT_REPORTED_MAX};
use intent_gateway_domain::partner::Listing;
use intent_gateway_domain::place::Place;
use intent_gateway_domain::place::WHOLE_COUNTRY;
use intent_gateway_domain::ports::LeftOut;

const INTENT: &str = "auto.fix";
/// Saturday, 21 November 2026, 12:00 in India.
const SATURDAY_NOON: Timestamp = Timestamp::from_ms(1_795_242_600_000);
const HOUR_MS: u64 = 60 * 60 * 1_000;

fn listing(intent: &str, area: &[&str], availability: &str) -> Listing {
    Listing {
        intent: IntentId::parse(intent).expect("well formed"),
        service_area: area.iter().map(ToString::to_string).collect(),
        availability: availability.to_owned(),
        declared: Axes::UNDECLARED,
        prices: None,
    }
}

fn partner(id: &str, listings: Vec<Listing>) -> Arc<Partner> {
    Arc::new(Partner {
        id: PartnerId::parse(id).expect("well formed"),
        name: id.to_owned(),
        endpoint: Endpoint::mcp("https://partner.example/mcp"),
        mappings: Mappings::new(),
        listings,
        token: None,
        sign_in: None,
    })
}

fn one(id: &str, area: &[&str], availability: &str) -> Arc<Partner> {
    partner(id, vec![listing(INTENT, area, availability)])
}

fn place(city: Option<&str>, postal_code: Option<&str>) -> Need {
    Need { city: city.map(str::to_owned), postal_code: postal_code.map(str::to_owned), ..Need::default() }
}

fn chosen(directory: &Directory, need: &Need) -> Vec<String> {
    let selection = directory.select(INTENT, need, SATURDAY_NOON);
    selection.chosen.iter().map(|partner| partner.id.to_string()).collect()
}

fn left_out(directory: &Directory, need: &Need) -> Vec<(String, LeftOut)> {
    let selection = directory.select(INTENT, need, SATURDAY_NOON);
    selection.left_out.iter().map(|(partner, why)| (partner.id.to_string(), *why)).collect()
}

#[test]
fn only_who_lists_the_intent() {
    let both = partner("both", vec![listing("auto.wash", &["IN_ALL"], ""), listing(INTENT, &["IN_ALL"], "")]);
    let twice = partner("twice", vec![listing(INTENT, &["Pune"], ""), listing(INTENT, &["Pune"], "")]);
    let other = partner("other", vec![listing("auto.wash", &["IN_ALL"], "")]);
    let directory = Directory::new(vec![twice, other, both]);
    assert_eq!(chosen(&directory, &Need::default()), ["both", "twice"]);
    assert!(left_out(&directory, &Need::default()).is_empty(), "who does not list it is not left out");
    assert!(directory.select("auto.none", &Need::default(), SATURDAY_NOON).chosen.is_empty());
    let ids: Vec<_> = directory.all().iter().map(|partner| partner.id.to_string()).collect();
    assert_eq!(ids, ["both", "other", "twice"]);
}

#[test]
fn only_whose_area_holds_the_city_or_the_postal_code() {
    let directory = Directory::new(vec![
        one("by-code", &["560 001", "560002"], ""),
        one("by-city", &[" Bangalore", "Bengaluru"], ""),
        one("country", &["IN_ALL"], ""),
        one("mixed", &["Mysuru", "560001"], ""),
        // The value is the one of the specification, to the letter: it is what a reviewer is told of.
        one("near-miss", &["in_all", "IN ALL", "India"], ""),
    ]);
    for (need, expected) in [
        (place(Some("bengaluru "), None), &["by-city", "by-code", "country", "mixed"][..]),
        (place(Some("BANGALORE"), None), &["by-city", "by-code", "country", "mixed"]),
        (place(None, Some("560001")), &["by-city", "by-code", "country", "mixed"]),
        (place(None, Some("560002")), &["by-city", "by-code", "country"]),
        (place(Some("Bengaluru"), Some("560-001")), &["by-city", "by-code", "country", "mixed"]),
        (place(Some("Mysore"), Some("570001")), &["country", "mixed"]),
        (place(Some("Pune"), None), &["country"]),
        // A need without a place leaves nobody out.
        (place(None, None), &["by-city", "by-code", "country", "mixed", "near-miss"]),
        (place(Some(" "), None), &["by-city", "by-code", "country", "mixed", "near-miss"]),
    ] {
        assert_eq!(chosen(&directory, &need), expected, "{need:?}");
    }
    let outside = |id: &str| (id.to_owned(), LeftOut::OutsideServiceArea);
    assert_eq!(left_out(&directory, &place(Some("Mysuru"), None)), ["by-city", "by-code", "near-miss"].map(outside));
}

#[test]
fn only_who_is_open_at_the_hour() {
    let directory = Directory::new(vec![
        one("always", &["IN_ALL"], "24x7"),
        one("unsaid", &["IN_ALL"], ""),
        one("unread", &["IN_ALL"], "by appointment"),
        one("week", &["IN_ALL"], "Mon-Fri 09:00-18:00 IST"),
        one("saturday", &["IN_ALL"], "Mon-Fri 09:00-18:00; Sat 11:55-12:05 IST"),
        one("night", &["Pune"], "22:00-06:00"),
    ]);
    let closed = |id: &str| (id.to_owned(), LeftOut::ClosedAtHour);
    // No hour is asked for: now counts.
    let now = Need::default();
    assert_eq!(chosen(&directory, &now), ["always", "saturday", "unread", "unsaid"]);
    assert_eq!(left_out(&directory, &now), ["night", "week"].map(closed));
    // The hour asked for counts, and some of it is enough.
    let asked = |from_hours: u64, until_hours: u64| Need {
        from_ms: Some(SATURDAY_NOON.plus_ms(from_hours * HOUR_MS).as_ms()),
        until_ms: Some(SATURDAY_NOON.plus_ms(until_hours * HOUR_MS).as_ms()),
        ..Need::default()
    };
    assert_eq!(chosen(&directory, &asked(1, 4)), ["always", "unread", "unsaid"]);
    assert_eq!(chosen(&directory, &asked(9, 11)), ["always", "night", "unread", "unsaid"]);
    assert_eq!(chosen(&directory, &asked(40, 46)), ["always", "night", "saturday", "unread", "unsaid", "week"]);
    let start = Need { until_ms: None, ..asked(48, 0) };
    assert_eq!(chosen(&directory, &start), ["always", "saturday", "unread", "unsaid", "week"]);
    // Whoever is outside the area is so whatever the hour.
    let elsewhere = left_out(&directory, &place(Some("Goa"), None));
    assert_eq!(elsewhere, [closed("week"), ("night".to_owned(), LeftOut::OutsideServiceArea)]);
}

#[test]
fn beyond_the_fan_out_bound_everybody_gets_a_turn() {
    const PARTNERS: usize = 1_000;
    let area = |number: usize| if number.is_multiple_of(2) { "Pune" } else { "Goa" };
    let partners = (0..PARTNERS).map(|number| one(&format!("p{number:04}"), &[area(number)], "Sat")).collect();
    let directory = Directory::new(partners);
    // The searches of two cities take turns, and each city's partners still do.
    let mut calls = std::collections::BTreeMap::new();
    const SEARCHES: usize = 400;
    for _ in 0..SEARCHES {
        for city in ["Pune", "Goa"] {
            let selection = directory.select(INTENT, &place(Some(city), None), SATURDAY_NOON);
            assert_eq!(selection.chosen.len(), FAN_OUT_MAX);
            let ids: BTreeSet<_> = selection.chosen.iter().map(|partner| partner.id.clone()).collect();
            assert_eq!(ids.len(), FAN_OUT_MAX, "nobody twice");
            assert_eq!(selection.left_out.len() + selection.left_out_more, PARTNERS - FAN_OUT_MAX);
            assert!(selection.left_out.iter().all(|(partner, why)| {
                *why == LeftOut::FanOutLimit && !ids.contains(&partner.id) && partner.listings[0].service_area == [city]
            }));
            ids.into_iter().for_each(|id| *calls.entry(id).or_insert(0_usize) += 1);
        }
    }
    assert_eq!(calls.len(), PARTNERS, "everybody was called");
    let fair = SEARCHES * FAN_OUT_MAX / (PARTNERS / 2);
    let (least, most) = (calls.values().min().copied(), calls.values().max().copied());
    assert!(least >= Some(fair - 3) && most <= Some(fair + 3), "{least:?} to {most:?} calls, {fair} would be fair");
}

#[test]
fn few_of_the_left_out_are_named_and_the_rest_is_counted() {
    let far = (0..100).map(|number| one(&format!("far{number:03}"), &["Goa"], ""));
    let near = [one("near", &["Pune"], ""), one("shut", &["Pune"], "Mon 09:00-18:00")];
    let directory = Directory::new(far.chain(near).collect());
    let selection = directory.select(INTENT, &place(Some("Pune"), None), SATURDAY_NOON);
    assert_eq!(selection.chosen.len(), 1);
    assert_eq!(selection.left_out.len(), LEFT_OUT_REPORTED_MAX);
    assert_eq!(selection.left_out_more, 101 - LEFT_OUT_REPORTED_MAX);
    let named: Vec<_> = selection.left_out.iter().map(|(partner, _)| partner.id.as_str()).collect();
    assert_eq!(named[..3], ["shut", "far000", "far001"], "who came nearest first");
}

#[test]
fn a_new_set_of_partners_counts_from_the_next_search_on() {
    let directory = Directory::new(Vec::new());
    assert!(chosen(&directory, &Need::default()).is_empty());
    directory.replace(vec![one("a", &["IN_ALL"], ""), one("b", &["IN_ALL"], "")], Vec::new());
    assert_eq!(chosen(&directory, &Need::default()), ["a", "b"]);
    let again = partner("b", vec![listing("auto.wash", &["IN_ALL"], "")]);
    directory.replace(vec![one("b", &["IN_ALL"], ""), one("c", &["IN_ALL"], ""), again], Vec::new());
    assert_eq!(chosen(&directory, &Need::default()), ["b", "c"], "the first of one identifier counts");
    assert_eq!(directory.all().len(), 2);
}

#[test]
fn a_city_and_its_postal_codes_find_each_other() {
    let partners = [
        ("city", "Bangalore"),
        ("code", "560034"),
        ("edge", "562129"),
        ("other", "Mysuru"),
        ("rural", "Bengaluru Rural"),
    ];
    let directory = Directory::new(partners.into_iter().map(|(id, area)| one(id, &[area], "")).collect());
    for (city, code, expected) in [
        (Some("Bengaluru"), None, &["city", "code"][..]),
        (None, Some("560 034"), &["city", "code"]),
        (None, Some("560001"), &["city"]),
        // A code says more closely where it is than its city.
        (Some("Bengaluru"), Some("560001"), &["city"]),
        (Some("Bengaluru Rural"), None, &["edge", "rural"]),
        (None, Some("570001"), &["other"]),
        (Some("Mysore"), None, &["other"]),
        (None, Some("999999"), &[]),
    ] {
        assert_eq!(chosen(&directory, &place(city, code)), expected, "{city:?} {code:?}");
    }
}

#[test]
fn no_search_sees_who_is_only_known() {
    let directory = Directory::new(Vec::new());
    directory.replace(vec![one("a", &["IN_ALL"], "")], vec![one("z", &["IN_ALL"], "")]);
    assert_eq!(chosen(&directory, &Need::default()), ["a"]);
    let find = |id: &str| {
        let id = PartnerId::parse(id).expect("sound");
        (directory.find(&id).is_some(), directory.find_known(&id).is_some())
    };
    assert_eq!([find("a"), find("z"), find("q")], [(true, true), (false, true), (false, false)]);
}

/// What each rule says of one partner, asked apart from the index.
fn model(listing: &Listing, need: &Need, now: Timestamp) -> Option<LeftOut> {
    let wanted: Vec<_> =
        [&need.city, &need.postal_code].into_iter().flatten().filter_map(|p| Place::parse(p)).collect();
    let coded = wanted.iter().any(Place::is_postal_code);
    let serves = |listed: Place| {
        wanted.iter().any(|wanted| {
            *wanted == listed || wanted.cities().contains(&listed) || (!coded && listed.cities().contains(wanted))
        })
    };
    let holds = |area: &String| area == WHOLE_COUNTRY || Place::parse(area).is_some_and(serves);
    if !wanted.is_empty() && !listing.service_area.iter().any(holds) {
        return Some(LeftOut::OutsideServiceArea);
    }
    let availability = Availability::parse(&listing.availability).unwrap_or_else(|_| Availability::always());
    (!availability.opens_within(WeekWindow::wanted(need, now))).then_some(LeftOut::ClosedAtHour)
}

const AREAS: [&[&str]; 6] =
    [&["IN_ALL"], &["Pune"], &["Poona", "411001"], &["411001"], &["Goa", "403001"], &["Mumbai", "IN_ALL"]];
const PLACES: [Option<&str>; 5] = [None, Some("Pune"), Some("Panaji"), Some("Mumbai"), Some("411 001")];

fn hours() -> impl Strategy<Value = String> {
    let hours = (0_u8..7, 0_u8..7, 0_u16..1_440, 1_u16..1_440).prop_filter("a length", |(.., a, b)| a != b);
    let text = hours.prop_map(|(first, last, start, end)| {
        let day = |day: u8| ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][usize::from(day)];
        let time = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
        format!("{}-{} {}-{}", day(first), day(last), time(start), time(end))
    });
    prop_oneof![1 => Just(String::new()), 1 => Just("as you like".to_owned()), 4 => text]
}

proptest! {
    #[test]
    fn agrees_with_the_model(
        listings in proptest::collection::vec((0_usize..6, hours()), 1..150),
        city in 0_usize..5,
        postal_code in 0_usize..5,
        window in (proptest::option::of(0_u64..900), proptest::option::of(0_u64..900)),
        now in 0_u64..15_000,
    ) {
        let partners: Vec<_> = listings
            .iter()
            .enumerate()
            .map(|(number, (area, hours))| one(&format!("p{number:03}"), AREAS[*area], hours))
            .collect();
        let now = SATURDAY_NOON.plus_ms(now * 61_000);
        // In steps of 17 minutes over eleven days.
        let at = |steps: u64| SATURDAY_NOON.plus_ms(steps * 17 * 60_000).as_ms();
        let need = Need {
            from_ms: window.0.map(at),
            until_ms: window.1.map(at),
            ..place(PLACES[city], PLACES[postal_code])
        };
        let expected: Vec<_> =
            partners.iter().map(|partner| (partner.id.clone(), model(&partner.listings[0], &need, now))).collect();
        let eligible: Vec<_> = expected.iter().filter(|(_, why)| why.is_none()).map(|(id, _)| id.clone()).collect();
        let selection = Directory::new(partners).select(INTENT, &need, now);
        let chosen: Vec<_> = selection.chosen.iter().map(|partner| partner.id.clone()).collect();
        // The first search begins with the first partner.
        prop_assert_eq!(&chosen[..], &eligible[..eligible.len().min(FAN_OUT_MAX)]);
        prop_assert_eq!(chosen.len() + selection.left_out.len() + selection.left_out_more, expected.len());
        prop_assert_eq!(selection.left_out.len(), (expected.len() - chosen.len()).min(LEFT_OUT_REPORTED_MAX));
        for (partner, why) in &selection.left_out {
            let (_, modelled) = expected.iter().find(|(id, _)| *id == partner.id).expect("one of the partners");
            prop_assert_eq!(*why, modelled.unwrap_or(LeftOut::FanOutLimit));
            prop_assert!(!chosen.contains(&partner.id));
        }
    }
}
