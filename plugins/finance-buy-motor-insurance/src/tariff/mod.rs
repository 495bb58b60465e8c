//! The third-party tariff: below which premium no quote may fall, and above which a bundle's is looked at (spec 2,
//! anti-fabrication preamble and rules).
//!
//! The rates are data, one table per notification; another notification is another table and a new version of the
//! contract. A floor is a lower bound that holds whatever the request leaves out, so that no sound quote is dropped
//! for want of a detail:
//!
//! - Where the engine's size, the motor's power or the weight is not known, the lowest band of the kind counts.
//! - Goods are banded by gross weight in the tariff; a request tells what the vehicle carries, which is less. The
//!   band of the load is never above that of the gross weight.
//! - A goods carrier that may be a three-wheeler (no load known, or at most [`THREE_WHEELER_MAX_TONNES`]) is held to
//!   the three-wheelers' rate, unless its subtype is heavy.
//! - A vehicle for hire pays per passenger on top; the driver is taken to be among `carrying_capacity_persons`.
//! - Hybrids and vintage private cars have the discounts of the notification.
//!
//! There is no row, and so no floor, for passenger carriers other than taxis and school buses (the tariff asks for
//! their wheels and seats, the request does not), commercial electric two-wheelers, electric vehicles for hire,
//! electric three-wheelers, and commercial vehicles without a subtype.
//!
//! A bundle's rate is fixed, so it is a ceiling as well. That one is an upper bound, likewise whatever the request leaves
//! out: of a size that is not known the highest band counts, and no discount is taken off. It leaves room for what insurers
//! book beside the rate ([`BESIDE_INR_A_YEAR`]) and for a premium that is stated with its tax ([`TAX_PCT`]).
//! A quote that counts the year's rate again beside the whole bundle's stays under it.

mod y2022;

use crate::vehicle::{FuelType, Vehicle, VehicleKind};
use contract_sdk::shape::Date;

/// The tariff that quotes are held to.
pub const IN_FORCE: &Tariff = &y2022::TARIFF;

/// Greatest load of a three-wheeled goods carrier, in tonnes: more than any is registered for.
const THREE_WHEELER_MAX_TONNES: f64 = 1.5;

/// What a bundle's third-party premium may hold beside the rate, in INR for each of its years. The sum is this project's
/// own. The breakdown of a quote has no member for these covers, so insurers state them where their policies do, with
/// the third-party premium: the owner's personal accident cover (750 by the regulator's circular of September 2018),
/// passengers' (some 500), the paid driver (50), a second fuel (60), cover abroad (100).
pub const BESIDE_INR_A_YEAR: i64 = 1500;

/// Tax on a motor premium, in percent.
pub const TAX_PCT: i64 = 18;

/// Age in calendar years from which a private car may be registered as vintage.
const VINTAGE_YEARS: i64 = 50;

/// Rates of one notification.
#[derive(Debug)]
pub struct Tariff {
    /// First day on which the rates hold, `YYYY-MM-DD`.
    pub effective_from: &'static str,
    /// The notification.
    pub source: &'static str,
    /// Private cars by engine size.
    pub car: PrivateRates,
    /// Private electric cars by motor power.
    pub electric_car: PrivateRates,
    /// Two-wheelers by engine size.
    pub two_wheeler: PrivateRates,
    /// Electric two-wheelers by motor power.
    pub electric_two_wheeler: PrivateRates,
    /// Goods carriers other than three-wheelers, by gross weight in kg.
    pub goods: &'static [Band],
    /// Electric goods carriers other than three-wheelers, by gross weight in kg.
    pub electric_goods: &'static [Band],
    /// Goods-carrying three-wheelers that are not electric, INR a year.
    pub goods_three_wheeler_inr: i64,
    /// Four-wheeled taxis of up to six passengers, by engine size.
    pub taxi: &'static [HireBand],
    /// Buses of educational institutions.
    pub school_bus: HireBand,
    /// What a hybrid pays, in thousandths of the rate.
    pub hybrid_permille: i64,
    /// What a vintage private car pays, in thousandths of the rate.
    pub vintage_permille: i64,
}

#[derive(Debug)]
pub struct PrivateRates {
    /// For one year.
    pub annual: &'static [Band],
    /// For the years of the bundle, paid at once.
    pub bundle: &'static [Band],
    /// How many years the bundle has.
    pub bundle_years: i64,
}

/// The rate of vehicles up to and including a size. The last band of a table has no upper end.
#[derive(Debug, Clone, Copy)]
pub struct Band {
    /// Engine size in cc, motor power in kW, or gross weight in kg.
    pub up_to: f64,
    pub inr: i64,
}

/// The rate of vehicles for hire.
#[derive(Debug, Clone, Copy)]
pub struct HireBand {
    /// Engine size in cc.
    pub up_to: f64,
    pub inr: i64,
    pub per_passenger_inr: i64,
}

const fn band(up_to: f64, inr: i64) -> Band {
    Band { up_to, inr }
}

impl Tariff {
    /// The least premium in INR for the third-party cover of a vehicle: for one year, or for all the years of a
    /// bundle. `None` where the tariff has no row that the request could be matched with.
    pub fn floor_inr(&self, vehicle: &Vehicle<'_>, bundle_years: i64, starts: Date) -> Option<i64> {
        let electric = vehicle.is_electric();
        let rate = match vehicle.kind() {
            VehicleKind::Car => self.car_rates(electric).floor(vehicle.size(electric), bundle_years)?,
            VehicleKind::TwoWheeler => self.two_wheeler_rates(electric).floor(vehicle.size(electric), bundle_years)?,
            // The bundle tells a car from a two-wheeler. A year's cover does not, so the lower of the two rates counts.
            VehicleKind::ElectricUnspecified => {
                let rates = [&self.electric_car, &self.electric_two_wheeler];
                rates.into_iter().filter_map(|rates| rates.floor(vehicle.size(true), bundle_years)).min()?
            }
            _ if bundle_years > 0 => return None,
            VehicleKind::GoodsCarrier { heavy } => self.goods_floor(vehicle, heavy, electric)?,
            VehicleKind::Taxi if !electric => find(self.taxi, |band| band.up_to, vehicle.size(false))?.floor(vehicle),
            VehicleKind::SchoolBus if !electric => self.school_bus.floor(vehicle),
            VehicleKind::Taxi | VehicleKind::SchoolBus | VehicleKind::OtherCommercial => return None,
        };
        Some(rate * self.permille(vehicle, electric, starts) / 1000)
    }

    /// The greatest premium in INR that the third-party cover of a bundle of so many years can come to, with all that
    /// may stand beside the rate. `None` where the tariff has no such bundle for the vehicle.
    pub fn ceiling_inr(&self, vehicle: &Vehicle<'_>, bundle_years: i64) -> Option<i64> {
        let rate = |electric: bool| {
            let rates = match vehicle.kind() {
                VehicleKind::Car => self.car_rates(electric),
                VehicleKind::TwoWheeler => self.two_wheeler_rates(electric),
                // The bundle tells a car from a two-wheeler.
                VehicleKind::ElectricUnspecified if bundle_years == self.electric_car.bundle_years => {
                    self.car_rates(electric)
                }
                VehicleKind::ElectricUnspecified => self.two_wheeler_rates(electric),
                _ => return None,
            };
            rates.dearest_bundle(vehicle.size(electric), bundle_years)
        };
        // Where type and fuel disagree on what drives the vehicle, the dearer tariff counts.
        let fuelled = if vehicle.fuel_type == FuelType::Electric { None } else { rate(false) };
        let electric = if vehicle.is_electric() { rate(true) } else { None };
        let with_others = fuelled.max(electric)? + BESIDE_INR_A_YEAR * bundle_years;
        // In whole rupees, rounded up.
        Some((with_others * (100 + TAX_PCT) + 99) / 100)
    }

    fn car_rates(&self, electric: bool) -> &PrivateRates {
        if electric { &self.electric_car } else { &self.car }
    }

    fn two_wheeler_rates(&self, electric: bool) -> &PrivateRates {
        if electric { &self.electric_two_wheeler } else { &self.two_wheeler }
    }

    fn goods_floor(&self, vehicle: &Vehicle<'_>, heavy: bool, electric: bool) -> Option<i64> {
        let tonnes = vehicle.carrying_capacity_tonnes.and_then(|tonnes| tonnes.0);
        let may_have_three_wheels = !heavy && tonnes.is_none_or(|tonnes| tonnes <= THREE_WHEELER_MAX_TONNES);
        if may_have_three_wheels {
            return (!electric).then_some(self.goods_three_wheeler_inr);
        }
        let table = if electric { self.electric_goods } else { self.goods };
        find(table, |band| band.up_to, tonnes.map(|tonnes| tonnes * 1000.0)).map(|band| band.inr)
    }

    /// What the vehicle pays of its rate.
    fn permille(&self, vehicle: &Vehicle<'_>, electric: bool, starts: Date) -> i64 {
        let (year, _, _) = starts.civil();
        let first = vehicle.year_of_first_registration.or(vehicle.year_of_manufacture);
        let vintage = vehicle.kind() == VehicleKind::Car
            && first.is_some_and(|first| year.saturating_sub(first) >= VINTAGE_YEARS);
        let hybrid = !electric && vehicle.fuel_type == FuelType::Hybrid;
        match (vintage, hybrid) {
            (true, _) => self.vintage_permille,
            (false, true) => self.hybrid_permille,
            (false, false) => 1000,
        }
    }
}

impl PrivateRates {
    fn floor(&self, size: Option<f64>, bundle_years: i64) -> Option<i64> {
        let table = match bundle_years {
            0 => self.annual,
            years if years == self.bundle_years => self.bundle,
            _ => return None,
        };
        find(table, |band| band.up_to, size).map(|band| band.inr)
    }

    /// The rate of a bundle of so many years, by the highest band where the size is not known.
    fn dearest_bundle(&self, size: Option<f64>, years: i64) -> Option<i64> {
        let size = size.unwrap_or(f64::INFINITY);
        find(self.bundle, |band| band.up_to, Some(size)).filter(|_| years == self.bundle_years).map(|band| band.inr)
    }
}

impl HireBand {
    /// With the passengers, of whom one is taken to be the driver.
    fn floor(&self, vehicle: &Vehicle<'_>) -> i64 {
        /// More seats than any vehicle has; keeps the product in bounds.
        const MAX_PERSONS: i64 = 1000;
        let passengers = vehicle.carrying_capacity_persons.map_or(0, |persons| persons.clamp(1, MAX_PERSONS) - 1);
        self.inr + self.per_passenger_inr * passengers
    }
}

/// The band of a size; the lowest one where the size is not known.
fn find<B>(table: &[B], up_to: fn(&B) -> f64, size: Option<f64>) -> Option<&B> {
    table.iter().find(|band| size.is_none_or(|size| size <= up_to(band)))
}
