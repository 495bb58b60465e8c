//! Motor Vehicles (Third Party Insurance Base Premium and Liability) Rules, 2022. Amounts in INR, before tax.
//!
//! Compared with public reports of the notification: private cars, two-wheelers, electric cars and two-wheelers, the
//! bundles of all four, goods carriers and electric goods carriers, the school bus's base rate, the two discounts.

use super::{HireBand, PrivateRates, Tariff, band};

const ANY: f64 = f64::INFINITY;

pub(super) const TARIFF: Tariff = Tariff {
    effective_from: "2022-06-01",
    source: "Ministry of Road Transport and Highways, G.S.R. 394(E) of 25 May 2022, in consultation with IRDAI",
    car: PrivateRates {
        annual: &[band(1000.0, 2094), band(1500.0, 3416), band(ANY, 7897)],
        bundle: &[band(1000.0, 6521), band(1500.0, 10_640), band(ANY, 24_596)],
        bundle_years: 3,
    },
    electric_car: PrivateRates {
        annual: &[band(30.0, 1780), band(65.0, 2904), band(ANY, 6712)],
        bundle: &[band(30.0, 5543), band(65.0, 9044), band(ANY, 20_907)],
        bundle_years: 3,
    },
    two_wheeler: PrivateRates {
        annual: &[band(75.0, 538), band(150.0, 714), band(350.0, 1366), band(ANY, 2804)],
        bundle: &[band(75.0, 2901), band(150.0, 3851), band(350.0, 7365), band(ANY, 15_117)],
        bundle_years: 5,
    },
    electric_two_wheeler: PrivateRates {
        annual: &[band(3.0, 457), band(7.0, 607), band(16.0, 1161), band(ANY, 2383)],
        bundle: &[band(3.0, 2466), band(7.0, 3273), band(16.0, 6260), band(ANY, 12_849)],
        bundle_years: 5,
    },
    goods: &[
        band(7500.0, 16_049),
        band(12_000.0, 27_186),
        band(20_000.0, 35_313),
        band(40_000.0, 43_950),
        band(ANY, 44_242),
    ],
    electric_goods: &[
        band(7500.0, 13_642),
        band(12_000.0, 23_108),
        band(20_000.0, 30_016),
        band(40_000.0, 37_357),
        band(ANY, 37_606),
    ],
    goods_three_wheeler_inr: 4492,
    taxi: &[
        HireBand { up_to: 1000.0, inr: 6040, per_passenger_inr: 1162 },
        HireBand { up_to: 1500.0, inr: 7940, per_passenger_inr: 978 },
        HireBand { up_to: ANY, inr: 10_523, per_passenger_inr: 1117 },
    ],
    school_bus: HireBand { up_to: ANY, inr: 12_192, per_passenger_inr: 745 },
    hybrid_permille: 925,
    vintage_permille: 500,
};
