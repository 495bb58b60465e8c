//! A share of the traffic, and who is in it: whoever lies below it on a line of 10,000 places. A larger share has everybody in it
//! that a smaller one had.

use crate::digest::Digest;
use crate::vault::Mark;

/// Places there are.
const PLACES: u16 = 10_000;
/// Hexadecimal characters of a mark that make a place.
const MARK_CHARS: usize = 16;

/// A share of the traffic, in steps of a hundredth of a percent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share(u16);

impl Share {
    /// A share by its percentage; none outside 0 to 100.
    #[must_use]
    pub fn of_percent(percent: f64) -> Option<Self> {
        // At most 10,000 after the check.
        (0.0..=100.0).contains(&percent).then(|| Self((percent * 100.0).round() as u16))
    }

    #[must_use]
    pub fn is_nothing(self) -> bool {
        self.0 == 0
    }

    /// Whether a place lies in it.
    #[must_use]
    pub fn takes(self, place: Place) -> bool {
        place.0 < self.0
    }
}

/// A place on the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(u16);

impl Place {
    /// Where a mark lies: nobody without its key can tell, or choose.
    #[must_use]
    pub fn of_mark(mark: &Mark) -> Self {
        let text = mark.as_str().get(..MARK_CHARS).unwrap_or_default();
        Self::of_number(u64::from_str_radix(text, 16).unwrap_or_default())
    }

    /// Where a text lies.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        let mut first = [0; 8];
        first.copy_from_slice(&Digest::of(text.as_bytes()).as_bytes()[..8]);
        Self::of_number(u64::from_be_bytes(first))
    }

    fn of_number(number: u64) -> Self {
        // Below 10,000.
        Self((number % u64::from(PLACES)) as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vault::tests::vault;

    #[test]
    fn shares_are_percentages() {
        assert_eq!(Share::of_percent(12.345), Some(Share(1_235)));
        assert_eq!((Share::of_percent(0.0), Share::of_percent(100.0)), (Some(Share(0)), Some(Share(PLACES))));
        assert_eq!([-0.1, 100.1, f64::NAN].map(Share::of_percent), [None; 3]);
        assert!(Share::of_percent(0.0).is_some_and(Share::is_nothing));
    }

    #[test]
    fn a_share_has_its_part_of_all_and_keeps_whom_it_has() {
        let vault = vault("master key", &[]);
        let places: Vec<Place> =
            (0..20_000).map(|user| Place::of_mark(&vault.mark("side", &user.to_string()))).collect();
        let [small, large, all] = [5.0, 25.0, 100.0].map(|percent| Share::of_percent(percent).expect("a share"));
        let count = |share: Share| places.iter().filter(|place| share.takes(**place)).count();
        assert!((900..1_100).contains(&count(small)), "{}", count(small));
        assert!((4_750..5_250).contains(&count(large)), "{}", count(large));
        assert_eq!(count(all), places.len());
        assert!(places.iter().all(|place| !small.takes(*place) || large.takes(*place)));
        let texts = (0..20_000).filter(|text| large.takes(Place::of_text(&text.to_string()))).count();
        assert!((4_750..5_250).contains(&texts), "{texts}");
    }
}
