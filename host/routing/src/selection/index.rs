//! The index of the live partners, built once for each set of them and never changed.
//!
//! Under each intent its partners have positions, and every question is a set of positions: who serves a place, who is
//! open in a quarter of an hour of the week. A choice puts a few such sets together, 64 partners a machine word, so it
//! costs little more among ten thousand partners than among ten. Whoever is chosen or reported is looked at one by
//! one, and nobody else.

use std::collections::HashMap;
use std::sync::Arc;

use super::bits::Bits;
use intent_gateway_domain::availability::{Availability, DAY_MINUTES, WEEK_MINUTES, WeekWindow};
use intent_gateway_domain::contract::Need;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::limits::{FAN_OUT_MAX, LEFT_OUT_REPORTED_MAX};
use intent_gateway_domain::partner::{Listing, Partner};
use intent_gateway_domain::place::Place;
use intent_gateway_domain::place::WHOLE_COUNTRY;
use intent_gateway_domain::ports::{LeftOut, Selection};

/// Length of the stretches that the week is divided into, minutes. Most people open and close on a quarter.
const QUARTER_MINUTES: u16 = 15;
const DAY_QUARTERS: usize = (DAY_MINUTES / QUARTER_MINUTES) as usize;
const WEEK_QUARTERS: usize = (WEEK_MINUTES / QUARTER_MINUTES) as usize;
/// The golden ratio's part after the point, in 64 bits. Its multiples are spread evenly, and so is every second, third
/// or other regular choice of them: turns are fair for searches of every kind, however they take turns themselves.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// All live partners.
#[derive(Debug)]
pub(super) struct Index {
    /// Sorted by identifier.
    partners: Vec<Arc<Partner>>,
    intents: HashMap<IntentId, Listed>,
}

impl Index {
    pub(super) fn build(mut partners: Vec<Arc<Partner>>) -> Self {
        partners.sort_by(|a, b| a.id.cmp(&b.id));
        partners.dedup_by(|again, first| {
            let same = again.id == first.id;
            if same {
                tracing::error!(partner = %first.id, "two partners have one identifier; the second is not called");
            }
            same
        });
        let mut listings: HashMap<&IntentId, Vec<(&Arc<Partner>, &Listing)>> = HashMap::new();
        for partner in &partners {
            for listing in &partner.listings {
                let listed = listings.entry(&listing.intent).or_default();
                if listed.last().is_none_or(|(last, _)| last.id != partner.id) {
                    listed.push((partner, listing));
                }
            }
        }
        let mut texts = Texts::default();
        let intents =
            listings.into_iter().map(|(intent, listed)| (intent.clone(), Listed::build(&listed, &mut texts))).collect();
        texts.report();
        Self { partners, intents }
    }

    pub(super) fn partners(&self) -> &[Arc<Partner>] {
        &self.partners
    }

    /// Chooses. `turn` counts the searches that leave somebody out for their number.
    pub(super) fn select(
        &self,
        intent: &str,
        need: &Need,
        window: WeekWindow,
        turn: impl FnOnce() -> u64,
    ) -> Selection {
        self.intents.get(intent).map(|listed| listed.select(need, window, turn)).unwrap_or_default()
    }
}

/// The texts of hours, each read once.
#[derive(Default)]
struct Texts<'a> {
    read: HashMap<&'a str, Arc<Availability>>,
    unread: Vec<&'a Partner>,
}

impl<'a> Texts<'a> {
    /// Hours that cannot be read are taken for open always: a reviewer let them pass, so somebody understood them.
    fn read(&mut self, partner: &'a Partner, listing: &'a Listing) -> Arc<Availability> {
        let known = self.read.entry(&listing.availability).or_insert_with(|| {
            let availability = Availability::parse(&listing.availability).unwrap_or_else(|_| {
                self.unread.push(partner);
                Availability::always()
            });
            Arc::new(availability)
        });
        known.clone()
    }

    /// One line, however many there are: each manifest's own warning names its partner.
    fn report(&self) {
        if let Some(first) = self.unread.first() {
            let texts = self.unread.len();
            tracing::warn!(texts, partner = %first.id, "hours that cannot be read count as open always");
        }
    }
}

/// The partners that list one intent.
#[derive(Debug)]
struct Listed {
    /// By position; in the order of their identifiers.
    partners: Box<[Arc<Partner>]>,
    whole_country: Bits,
    /// By what they list, without those that serve the whole country.
    places: HashMap<Place, Posting>,
    /// By city, who lists a postal code of it.
    codes: HashMap<Place, Posting>,
    /// None where everybody is open always.
    hours: Option<Hours>,
}

/// The places of a need, as the index is asked for them.
#[derive(Default)]
struct WantedPlaces {
    /// Places that a partner may list.
    listed: Vec<Place>,
    /// Cities of which any listed code will do.
    any_code_of: Vec<Place>,
}

impl WantedPlaces {
    fn of(need: &Need) -> Self {
        let mut wanted = Self::default();
        for place in [&need.city, &need.postal_code].into_iter().flatten().filter_map(|place| Place::parse(place)) {
            wanted.listed.extend(place.cities());
            wanted.listed.push(place);
        }
        // A code says more closely where it is than the city does.
        if !wanted.listed.iter().any(Place::is_postal_code) {
            wanted.any_code_of.clone_from(&wanted.listed);
        }
        wanted
    }

    /// Whether no place is named. Then nobody is left out.
    fn is_anywhere(&self) -> bool {
        self.listed.is_empty()
    }
}

/// The positions under each place, while they are gathered in ascending order.
#[derive(Default)]
struct Gathered(HashMap<Place, Vec<usize>>);

impl Gathered {
    fn add(&mut self, place: Place, position: usize) {
        let positions = self.0.entry(place).or_default();
        if positions.last() != Some(&position) {
            positions.push(position);
        }
    }

    fn into_postings(self, length: usize) -> HashMap<Place, Posting> {
        self.0.into_iter().map(|(place, positions)| (place, Posting::of(positions, length))).collect()
    }
}

/// The partners that serve one place.
#[derive(Debug)]
enum Posting {
    Few(Box<[usize]>),
    Many(Bits),
}

impl Posting {
    /// In the form that takes less room.
    fn of(positions: Vec<usize>, length: usize) -> Self {
        if positions.len() * usize::BITS as usize <= length {
            return Self::Few(positions.into());
        }
        let mut bits = Bits::none(length);
        positions.into_iter().for_each(|position| bits.insert(position));
        Self::Many(bits)
    }

    fn add_to(&self, bits: &mut Bits) {
        match self {
            Self::Few(positions) => positions.iter().for_each(|position| bits.insert(*position)),
            Self::Many(many) => bits.add(many),
        }
    }
}

impl Listed {
    fn build<'a>(listings: &[(&'a Arc<Partner>, &'a Listing)], texts: &mut Texts<'a>) -> Self {
        let length = listings.len();
        let mut whole_country = Bits::none(length);
        let mut places = Gathered::default();
        let mut codes = Gathered::default();
        for (position, (_, listing)) in listings.iter().enumerate() {
            if listing.service_area.iter().any(|place| place == WHOLE_COUNTRY) {
                whole_country.insert(position);
                continue;
            }
            for place in listing.service_area.iter().filter_map(|place| Place::parse(place)) {
                place.cities().into_iter().for_each(|city| codes.add(city, position));
                places.add(place, position);
            }
        }
        let availabilities = listings.iter().map(|(partner, listing)| texts.read(partner, listing)).collect();
        Self {
            partners: listings.iter().map(|(partner, _)| Arc::clone(partner)).collect(),
            whole_country,
            places: places.into_postings(length),
            codes: codes.into_postings(length),
            hours: Hours::build(availabilities),
        }
    }

    fn select(&self, need: &Need, window: WeekWindow, turn: impl FnOnce() -> u64) -> Selection {
        let serving = self.select_serving(need);
        let mut eligible = serving.clone();
        if let Some(hours) = &self.hours {
            eligible.keep(&hours.open(window));
        }
        let count = eligible.count();
        let chosen: Vec<usize> = if count > FAN_OUT_MAX {
            let first = first_of_turn(turn(), count);
            eligible.ones_after(first).chain(eligible.ones()).take(FAN_OUT_MAX).collect()
        } else {
            eligible.ones().collect()
        };
        let left_out = self.left_out(&serving, &eligible, &chosen);
        Selection {
            left_out_more: self.partners.len() - chosen.len() - left_out.len(),
            chosen: chosen.into_iter().map(|position| self.partners[position].clone()).collect(),
            left_out,
        }
    }

    /// Who serves the place: whoever lists the city, the postal code, or a city that the code belongs to. A city
    /// without a code is served as well by whoever lists a code of it.
    fn select_serving(&self, need: &Need) -> Bits {
        let wanted = WantedPlaces::of(need);
        if wanted.is_anywhere() {
            return Bits::all(self.partners.len());
        }
        let mut serving = self.whole_country.clone();
        let listed = wanted.listed.iter().filter_map(|place| self.places.get(place));
        let by_code = wanted.any_code_of.iter().filter_map(|city| self.codes.get(city));
        listed.chain(by_code).for_each(|posting| posting.add_to(&mut serving));
        serving
    }

    /// The first of those that are not called, who came nearest to it first.
    fn left_out(&self, serving: &Bits, eligible: &Bits, chosen: &[usize]) -> Vec<(Arc<Partner>, LeftOut)> {
        let mut beyond = eligible.clone();
        chosen.iter().for_each(|position| beyond.remove(*position));
        let mut closed = serving.clone();
        closed.subtract(eligible);
        let mut outside = Bits::all(self.partners.len());
        outside.subtract(serving);
        let beyond = beyond.ones().map(|position| (position, LeftOut::FanOutLimit));
        let closed = closed.ones().map(|position| (position, LeftOut::ClosedAtHour));
        let outside = outside.ones().map(|position| (position, LeftOut::OutsideServiceArea));
        let reported = beyond.chain(closed).chain(outside).take(LEFT_OUT_REPORTED_MAX);
        reported.map(|(position, why)| (self.partners[position].clone(), why)).collect()
    }
}

/// With whom a search begins that may not call all of so many; below the count.
fn first_of_turn(turn: u64, count: usize) -> usize {
    let spread = u128::from(turn.wrapping_mul(GOLDEN));
    // A share of the count: the product's upper half.
    usize::try_from((spread * count as u128) >> u64::BITS).unwrap_or(0)
}

/// Who is open when.
#[derive(Debug)]
struct Hours {
    /// By position.
    availabilities: Box<[Arc<Availability>]>,
    quarters: Box<[Quarter]>,
    /// Open at some minute of the day.
    days: Box<[Bits]>,
}

/// A quarter of an hour of the week.
#[derive(Debug)]
struct Quarter {
    /// Open at some minute of it.
    open: Bits,
    /// Those of them that are not open at every minute of it.
    partly: Vec<usize>,
}

impl Hours {
    fn build(availabilities: Vec<Arc<Availability>>) -> Option<Self> {
        if availabilities.iter().all(|availability| availability.is_always()) {
            return None;
        }
        let length = availabilities.len();
        let quarter = || Quarter { open: Bits::none(length), partly: Vec::new() };
        let mut quarters: Box<[Quarter]> = std::iter::repeat_with(quarter).take(WEEK_QUARTERS).collect();
        let mut days: Box<[Bits]> = vec![Bits::none(length); WEEK_QUARTERS / DAY_QUARTERS].into();
        for (position, availability) in availabilities.iter().enumerate() {
            for (start, end) in availability.spans() {
                for number in quarters_of(start, end) {
                    days[number / DAY_QUARTERS].insert(position);
                    let quarter = &mut quarters[number];
                    quarter.open.insert(position);
                    if !is_within(number, start, end) && quarter.partly.last() != Some(&position) {
                        quarter.partly.push(position);
                    }
                }
            }
        }
        Some(Self { availabilities: availabilities.into(), quarters, days })
    }

    /// Who is open at some minute of a window.
    fn open(&self, window: WeekWindow) -> Bits {
        let mut open = Bits::none(self.availabilities.len());
        for (start, end) in window.parts() {
            let mut numbers = quarters_of(start, end);
            while let Some(number) = numbers.next() {
                if !is_within(number, start, end) {
                    open.add(&self.open_at_edge(number, window));
                } else if number % DAY_QUARTERS == 0 && is_within(number + DAY_QUARTERS - 1, start, end) {
                    open.add(&self.days[number / DAY_QUARTERS]);
                    // The rest of the day is done.
                    numbers.nth(DAY_QUARTERS - 2);
                } else {
                    open.add(&self.quarters[number].open);
                }
            }
        }
        open
    }

    /// Who is open in the minutes that a window has of a quarter, and perhaps some who are open elsewhere in the window.
    fn open_at_edge(&self, number: usize, window: WeekWindow) -> Bits {
        let Quarter { open, partly } = &self.quarters[number];
        let mut open = open.clone();
        for position in partly.iter().filter(|position| !self.availabilities[**position].opens_within(window)) {
            open.remove(*position);
        }
        open
    }
}

/// The quarters that a stretch of the week touches; none where it is empty.
fn quarters_of(start: u16, end: u16) -> std::ops::Range<usize> {
    usize::from(start / QUARTER_MINUTES)..usize::from(end.div_ceil(QUARTER_MINUTES))
}

/// Whether a stretch of the week holds every minute of a quarter that it touches.
fn is_within(number: usize, start: u16, end: u16) -> bool {
    let first = number * usize::from(QUARTER_MINUTES);
    usize::from(start) <= first && first + usize::from(QUARTER_MINUTES) <= usize::from(end)
}

#[cfg(test)]
mod tests {
    use intent_gateway_domain::clock::Timestamp;
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;

    /// Open for some minutes from one minute of the week on.
    fn open(start: u16, minutes: u16) -> Arc<Availability> {
        let day = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][usize::from(start / DAY_MINUTES)];
        let time = |minute: u16| format!("{:02}:{:02}", minute % DAY_MINUTES / 60, minute % 60);
        let text = format!("{day} {}-{}", time(start), time(start + minutes));
        Arc::new(Availability::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}")))
    }

    /// Each quarter of the week has partners that are open in nothing else, all through it or in a part of it.
    static HOURS: LazyLock<Hours> = LazyLock::new(|| {
        let quarters = (0..WEEK_MINUTES).step_by(usize::from(QUARTER_MINUTES));
        let availabilities = quarters.flat_map(|start| [open(start, QUARTER_MINUTES), open(start + 4, 6)]).collect();
        Hours::build(availabilities).expect("not all are open always")
    });

    proptest! {
        #[test]
        fn every_quarter_of_a_window_counts_and_no_other(
            quarter in 0_u64..672,
            past in 0_u64..15,
            // Windows that begin or end with a day are those that are put together from whole days.
            days in 0_u64..7,
            more in prop_oneof![Just(0), Just(15), 0_u64..1_440],
        ) {
            // Four days after the epoch's Thursday, less the five and a half hours, a week begins in India.
            let from = Timestamp::from_ms((3 * 1_440 + 18 * 60 + 30 + quarter * 15 + past) * 60_000);
            let window = WeekWindow::between(from, from.plus_ms((days * 1_440 + more) * 60_000));
            let all = HOURS.availabilities.iter().enumerate();
            let expected: Vec<_> =
                all.filter(|(_, hours)| hours.opens_within(window)).map(|(position, _)| position).collect();
            prop_assert_eq!(HOURS.open(window).ones().collect::<Vec<_>>(), expected);
        }
    }
}
