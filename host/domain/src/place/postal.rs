//! Which postal codes belong to which city.
//!
//! `postal_codes.txt` has a line for each city: every district of India under its own name, and what `towns.txt` adds.
//! `cargo xtask postal-codes` makes it out of the Department of Posts' directory of post offices. A district is larger
//! than the city that it is named after, so a partner may be asked about a code at the city's edge that it does not
//! serve. It then has nothing to offer, which is better than not to be asked.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::Place;

/// Digits of a postal code (spec 1, Manifest, `service_area`).
const DIGITS: usize = 6;
/// Codes that share their first three digits: one sorting district.
const SORTING_DISTRICT: u32 = 1_000;

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::read(include_str!("postal_codes.txt")));

/// The cities of all codes.
struct Table {
    cities: HashSet<Place>,
    /// By the first three digits: first code, last code, city.
    stretches: HashMap<u32, Vec<(u32, u32, Place)>>,
}

impl Table {
    fn read(text: &str) -> Self {
        let mut table = Self { cities: HashSet::new(), stretches: HashMap::new() };
        for (name, stretches) in text.lines().filter_map(|line| line.split_once(':')) {
            let Some(city) = Place::parse(name) else { continue };
            for stretch in stretches.split(',').map(str::trim) {
                let (first, last) = stretch.split_once('-').unwrap_or((stretch, stretch));
                if let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) {
                    let district = sorting_district(first);
                    table.stretches.entry(district).or_default().push((first, last, city.clone()));
                }
            }
            table.cities.insert(city);
        }
        table
    }
}

fn sorting_district(code: u32) -> u32 {
    code / SORTING_DISTRICT
}

/// The cities that a postal code belongs to, without repetition: none for the name of a city, or for a code of no
/// known city.
pub(super) fn cities_of(place: &Place) -> Vec<Place> {
    let Some(code) = read_code(place) else { return Vec::new() };
    let stretches = TABLE.stretches.get(&sorting_district(code)).map(Vec::as_slice).unwrap_or_default();
    let mut cities = Vec::new();
    for (first, last, city) in stretches {
        if (first..=last).contains(&&code) && !cities.contains(city) {
            cities.push(city.clone());
        }
    }
    cities
}

/// Whether the table has the city.
pub(super) fn has_city(place: &Place) -> bool {
    TABLE.cities.contains(place)
}

/// A place's number, where it is a postal code.
pub(super) fn read_code(place: &Place) -> Option<u32> {
    let digits = place.0.as_ref();
    let is_code =
        digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    is_code.then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cities(code: &str) -> Vec<Place> {
        cities_of(&place(code))
    }

    fn place(name: &str) -> Place {
        Place::parse(name).unwrap_or_else(|| panic!("`{name}` is a place"))
    }

    #[test]
    fn a_code_belongs_to_its_city() {
        for (code, city) in [
            ("560001", "Bangalore"),
            ("560 103", "Bengaluru"),
            ("110001", "Delhi"),
            ("110092", "New Delhi"),
            ("400001", "Bombay"),
            ("400053", "Mumbai"),
            ("411001", "Pune"),
            ("600004", "Madras"),
            ("700091", "Kolkata"),
            ("500081", "Hyderabad"),
            ("122002", "Gurgaon"),
            ("201301", "Noida"),
            ("380015", "Ahmedabad"),
            ("580020", "Hubli"),
            ("682016", "Cochin"),
            ("530002", "Vizag"),
            ("751012", "Bhubaneswar"),
            ("781001", "Guwahati"),
            ("403001", "Panjim"),
            ("160017", "Chandigarh"),
            ("605001", "Pondicherry"),
            ("208001", "Kanpur"),
            ("302001", "Jaipur"),
            ("226010", "Lucknow"),
            ("641002", "Coimbatore"),
        ] {
            assert!(cities(code).contains(&place(city)), "{code} and {city}: {:?}", cities(code));
        }
    }

    #[test]
    fn a_code_belongs_to_no_other_city() {
        for (code, city) in [
            ("560001", "Mysuru"),
            ("110001", "Noida"),
            ("411001", "Mumbai"),
            ("400001", "Thane"),
            ("600004", "Bengaluru"),
        ] {
            assert!(!cities(code).contains(&place(city)), "{code} and {city}");
        }
    }

    #[test]
    fn what_is_no_code_has_no_city() {
        for name in ["Bengaluru", "56000", "5600011", "000000", "060001", "999999", "५६०००१"] {
            assert_eq!(cities(name), [], "{name}");
        }
    }

    #[test]
    fn every_line_of_the_table_is_read() {
        let mut stretches = 0;
        for line in include_str!("postal_codes.txt").lines() {
            let (name, codes) = line.split_once(':').unwrap_or_else(|| panic!("no colon: {line}"));
            let city = place(name);
            for stretch in codes.split(',').map(str::trim) {
                let (first, last) = stretch.split_once('-').unwrap_or((stretch, stretch));
                for end in [first, last] {
                    assert!(cities(end).contains(&city), "{end} and {name}");
                }
                assert_eq!(first.get(..3), last.get(..3), "{line}");
                stretches += 1;
            }
        }
        assert!(stretches > 4_000, "{stretches}");
        assert_eq!(TABLE.stretches.values().map(Vec::len).sum::<usize>(), stretches);
    }

    #[test]
    fn every_town_is_in_the_table() {
        let lines = include_str!("towns.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        for line in lines {
            let (name, _) = line.split_once(':').unwrap_or_else(|| panic!("no colon: {line}"));
            assert!(has_city(&place(name)), "{name}: run `cargo xtask postal-codes`");
        }
    }
}
