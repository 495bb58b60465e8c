//! Rate cards: what insurers publish as the premiums of their addons (spec 2: addon premiums match published rate cards).
//!
//! The cards are data, one file for each insurer; another card, or a changed one, is a new version of the contract.
//! `docs/insurance-figures.md` has the format for who writes one. Only what is known is compared: an insurer without a card, an
//! addon, a kind of vehicle or an age that its card does not name, and a policy of more than a year (cards hold the premium of
//! one) pass. Where several rows fit, because insurers publish by model or zone or because the request states the vehicle's age
//! in years alone, the premium of any of them is right.
//!
//! No real insurer's card ships: the regulator publishes none of them in one place, and a figure must have its source.

mod example;

use crate::cover::AddonCode;
use crate::vehicle::VehicleKind;
use contract_sdk::shape::Date;
use std::ops::RangeInclusive;

/// The cards that quotes are held to.
pub const KNOWN: &[RateCard] = &[example::CARD];

/// What one insurer publishes.
#[derive(Debug)]
pub struct RateCard {
    /// The insurer's registration number at the regulator, as quotes write it (`insurer.irdai_registration_number`).
    pub irdai_registration_number: &'static str,
    /// First day of cover for which the rates hold, `YYYY-MM-DD`.
    pub effective_from: &'static str,
    /// Where the card is published.
    pub source: &'static str,
    pub rows: &'static [AddonRow],
}

/// The rates of one addon for some vehicles.
#[derive(Debug)]
pub struct AddonRow {
    pub addon: AddonCode,
    /// For which vehicles; for all where empty.
    pub vehicles: &'static [VehicleKind],
    /// By the vehicle's age, in ascending order. Beyond the last band nothing is published.
    pub ages: &'static [AgeBand],
}

/// The rate up to and including an age.
#[derive(Debug, Clone, Copy)]
pub struct AgeBand {
    /// Age of the vehicle in months, a month that has begun counting whole; [`AgeBand::ANY`] for all.
    pub up_to_months: i64,
    pub rate: Rate,
}

impl AgeBand {
    /// Every age.
    pub const ANY: i64 = i64::MAX;
}

/// The premium of one year, before tax.
#[derive(Debug, Clone, Copy)]
pub enum Rate {
    /// The same for every vehicle, in INR.
    Fixed { inr: i64 },
    /// A share of the insured value: INR for each lakh (100,000 INR) of it.
    OfIdv { inr_per_lakh: i64 },
}

/// An addon as a quote sells it, as far as cards tell addons apart.
#[derive(Debug, Clone)]
pub struct Sale<'q> {
    pub irdai_registration_number: &'q str,
    pub addon: AddonCode,
    pub vehicle: VehicleKind,
    /// The first day of cover.
    pub starts: Date,
    /// The least and the greatest age that the vehicle may have, in months; `None` where it is not known.
    pub age_months: Option<RangeInclusive<i64>>,
    pub idv_inr: i64,
}

/// The premiums in INR that the insurer's cards have for such a sale; empty where none is known.
pub fn published_inr(cards: &[RateCard], sale: &Sale<'_>) -> Vec<i64> {
    let cards = cards.iter().filter(|card| card.is_for(sale));
    let rows = cards.flat_map(|card| card.rows).filter(|row| row.is_for(sale));
    let age = sale.age_months.clone().unwrap_or(0..=AgeBand::ANY);
    rows.flat_map(|row| row.rates(&age)).map(|rate| rate.premium_inr(sale.idv_inr)).collect()
}

impl RateCard {
    fn is_for(&self, sale: &Sale<'_>) -> bool {
        self.irdai_registration_number == sale.irdai_registration_number
            && Date::parse(self.effective_from).is_some_and(|from| from.days <= sale.starts.days)
    }
}

impl AddonRow {
    fn is_for(&self, sale: &Sale<'_>) -> bool {
        self.addon == sale.addon && (self.vehicles.is_empty() || self.vehicles.contains(&sale.vehicle))
    }

    /// The rates of all bands in which a vehicle of such an age can be; none where it may be older than the last.
    fn rates(&self, age_months: &RangeInclusive<i64>) -> impl Iterator<Item = Rate> {
        let (least, greatest) = (*age_months.start(), *age_months.end());
        let known = self.ages.last().is_some_and(|last| greatest <= last.up_to_months);
        // Where the band before ends. A new vehicle has the age 0.
        let above = std::iter::once(-1).chain(self.ages.iter().map(|band| band.up_to_months));
        let bands = above.zip(self.ages).filter(move |(above, band)| least <= band.up_to_months && greatest > *above);
        bands.filter(move |_| known).map(|(_, band)| band.rate)
    }
}

impl Rate {
    /// Rounded down to whole rupees.
    fn premium_inr(self, idv_inr: i64) -> i64 {
        const LAKH: i128 = 100_000;
        match self {
            Self::Fixed { inr } => inr,
            Self::OfIdv { inr_per_lakh } => {
                i64::try_from(i128::from(idv_inr) * i128::from(inr_per_lakh) / LAKH).unwrap_or(i64::MAX)
            }
        }
    }
}
