//! Places as partners and requests name them: cities by their canonical English names and their common spellings, and
//! six-digit postal codes (spec 1, Manifest, `service_area`).
//!
//! Two names are one place when they are the same but for case, spaces, hyphens, dots and accents, or when `cities.txt`
//! has them on one line. Nothing is guessed: there is no matching by likeness. Which postal codes belong to a city stands
//! in a table of its own, the module `postal`.

mod postal;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The entry of a service area that stands for the whole country (spec 1, Manifest).
pub const WHOLE_COUNTRY: &str = "IN_ALL";

/// The names that are spelt in several ways.
static CITIES: LazyLock<HashMap<String, &'static str>> = LazyLock::new(|| {
    let lines = include_str!("cities.txt").lines().filter(|line| !line.starts_with('#'));
    let rows = lines.filter_map(|line| line.split_once(':'));
    rows.flat_map(|(canonical, others)| {
        std::iter::once(canonical).chain(others.split(',')).map(move |name| (fold(name), canonical))
    })
    .collect()
});

/// A city or a postal code; equal for all spellings of one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(Cow<'static, str>);

impl Place {
    /// Reads a name or a postal code. `None` when nothing is left of the text, so that it names no place.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let folded = fold(text);
        if folded.is_empty() {
            return None;
        }
        Some(Self(CITIES.get(&folded).map_or(Cow::Owned(folded), |canonical| Cow::Borrowed(*canonical))))
    }

    /// Whether it is a postal code.
    #[must_use]
    pub fn is_postal_code(&self) -> bool {
        postal::read_code(self).is_some()
    }

    /// The cities that a postal code belongs to: none for the name of a city, or for a code of no known city.
    #[must_use]
    pub fn cities(&self) -> Vec<Self> {
        postal::cities_of(self)
    }

    /// Whether it is a city, or a postal code of one, that the gateway knows. What it does not know is found only by
    /// who names it in the same way.
    #[must_use]
    pub fn is_known(&self) -> bool {
        matches!(self.0, Cow::Borrowed(_)) || postal::has_city(self) || !self.cities().is_empty()
    }
}

/// A name without what does not tell names apart.
fn fold(text: &str) -> String {
    text.chars().filter(|c| !divides(*c) && !is_mark(*c)).map(strip_accent).flat_map(char::to_lowercase).collect()
}

fn divides(c: char) -> bool {
    c.is_whitespace() || matches!(c, '-' | '.' | ',' | '_' | '\'' | '’' | '`' | '\u{200b}'..='\u{2015}')
}

/// Combining accents of Latin letters.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// The plain letter of one that transliterations of Indian names, and Portuguese ones, put an accent on.
fn strip_accent(c: char) -> char {
    match c {
        'à'..='å' | 'ā' | 'À'..='Å' | 'Ā' => 'a',
        'ç' | 'Ç' => 'c',
        'ḍ' | 'Ḍ' => 'd',
        'è'..='ë' | 'ē' | 'È'..='Ë' | 'Ē' => 'e',
        'ḥ' | 'Ḥ' => 'h',
        'ì'..='ï' | 'ī' | 'Ì'..='Ï' | 'Ī' => 'i',
        'ḷ' | 'ḻ' | 'Ḷ' | 'Ḻ' => 'l',
        'ṁ' | 'ṃ' | 'Ṁ' | 'Ṃ' => 'm',
        'ñ' | 'ṅ' | 'ṇ' | 'ṉ' | 'Ñ' | 'Ṅ' | 'Ṇ' | 'Ṉ' => 'n',
        'ò'..='ö' | 'ō' | 'Ò'..='Ö' | 'Ō' => 'o',
        'ṛ' | 'ṟ' | 'Ṛ' | 'Ṟ' => 'r',
        'ś' | 'ṣ' | 'Ś' | 'Ṣ' => 's',
        'ṭ' | 'Ṭ' => 't',
        'ù'..='ü' | 'ū' | 'Ù'..='Ü' | 'Ū' => 'u',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn same(one: &str, other: &str) -> bool {
        let place = |text| Place::parse(text).unwrap_or_else(|| panic!("`{text}` is a place"));
        place(one) == place(other)
    }

    #[test]
    fn spellings_of_one_city() {
        for (one, other) in [
            ("Bengaluru", "Bangalore"),
            ("Mumbai", "BOMBAY"),
            ("Chennai", " madras "),
            ("Kolkata", "Calcutta"),
            ("Gurugram", "Gurgaon"),
            ("Mysuru", "Mysore"),
            ("Thiruvananthapuram", "Trivandrum"),
            ("Kochi", "Cochin"),
            ("Puducherry", "Pondicherry"),
            ("Vadodara", "Baroda"),
            ("Banaras", "Benares"),
            ("Prayagraj", "Allahabad"),
            ("Vizag", "Visakhapatnam"),
            ("Trichy", "Tiruchirappalli"),
            ("Ooty", "Udhagamandalam"),
            ("Aurangabad", "Chhatrapati Sambhaji Nagar"),
            ("Delhi", "New-Delhi"),
            ("Dehra Dun", "Dehradun"),
            ("S.A.S. Nagar", "Mohali"),
            ("Bengalūru", "bengaluru"),
            ("Mahe\u{301}", "mahe"),
            ("Pānajī", "Panjim"),
            ("Vasco-da-Gama", "Vasco"),
            ("Port  Blair", "Sri Vijaya Puram"),
            // Not in the list: alike but for what does not count.
            ("Little-Town", "little town"),
            ("बेंगलुरु", " बेंगलुरु"),
        ] {
            assert!(same(one, other), "{one} and {other}");
        }
    }

    #[test]
    fn other_cities_stay_other_cities() {
        for (one, other) in [
            ("Mumbai", "Navi Mumbai"),
            ("Noida", "Greater Noida"),
            ("Amravati", "Amaravati"),
            ("Hyderabad", "Secunderabad"),
            ("Berhampore", "Berhampur"),
            ("Bengaluru", "Bengalur"),
            ("Bengaluru", "Bengaluru Rural"),
            ("560001", "560002"),
            ("560001", "56000"),
        ] {
            assert!(!same(one, other), "{one} and {other}");
        }
        for nothing in ["", "  ", "-", " . "] {
            assert_eq!(Place::parse(nothing), None, "`{nothing}`");
        }
    }

    #[test]
    fn postal_codes() {
        for code in ["560001", "560 001", " 560-001 "] {
            assert!(same(code, "560001"), "{code}");
        }
    }

    #[test]
    fn each_spelling_stands_on_one_line() {
        let lines = include_str!("cities.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut seen = std::collections::HashMap::new();
        for line in lines {
            let (canonical, others) = line.split_once(':').unwrap_or_else(|| panic!("no colon: {line}"));
            for name in std::iter::once(canonical).chain(others.split(',')) {
                assert!(!name.trim().is_empty(), "{line}");
                if let Some(before) = seen.insert(fold(name), line) {
                    panic!("`{name}` stands twice: {before} | {line}");
                }
            }
        }
        assert!(seen.len() > 250, "{}", seen.len());
    }

    proptest! {
        #[test]
        fn what_does_not_count_never_parts_a_name(name in "[A-Za-z]{1,12}", at in 0_usize..12, sign in "[-. _']") {
            let mut parted = name.to_uppercase();
            parted.insert_str(at.min(parted.len()), &sign);
            prop_assert!(same(&name, &parted));
        }
    }
}
