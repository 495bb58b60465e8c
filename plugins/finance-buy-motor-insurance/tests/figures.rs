//! The figures that quotes are held against: the band of the insured value, the ceiling of a bundle's third-party premium,
//! published rate cards. And that the docs show them.

#[expect(dead_code, reason = "each test binary uses a part of the shared calls")]
mod common;

use common::{bundle, finds, new_request, passes, quote, request, with, with_third_party};
use contract_sdk::shape::Date;
use finance_buy_motor_insurance::cover::AddonCode;
use finance_buy_motor_insurance::insured_value::{LEEWAY_PCT, SCHEDULE, SOURCE};
use finance_buy_motor_insurance::rate_cards::{AddonRow, AgeBand, KNOWN, Rate, RateCard, Sale, published_inr};
use finance_buy_motor_insurance::tariff::{BESIDE_INR_A_YEAR, TAX_PCT};
use finance_buy_motor_insurance::vehicle::VehicleKind;
use serde_json::{Value, json};

const IDV: &str = "/idv_inr";
const BUNDLE_TP: &str = "/premium_breakdown/long_term_tp_premium_inr";

/// Expects the band to be this: a rupee below and a rupee above are found; an end that is `None` is open.
fn band_is(request: &Value, quote: &Value, least: Option<i64>, most: Option<i64>) {
    let insured = |inr: i64| with(quote.clone(), &[(IDV, json!(inr))]);
    let found = |inr: i64| finds(request, &insured(inr), IDV, "IDV_OUT_OF_RANGE");
    match least {
        Some(least) => {
            passes(request, &insured(least));
            found(least - 1);
        }
        None => passes(request, &insured(0)),
    }
    match most {
        Some(most) => {
            passes(request, &insured(most));
            found(most + 1);
        }
        None => passes(request, &insured(i64::MAX)),
    }
}

/// The request for a vehicle of 2022 or of other years, with an invoice of 1,000,000 INR.
fn invoiced(manufactured: Value, registered: Value) -> Value {
    let changes = [
        ("/vehicle/invoice_value_inr", json!(1_000_000)),
        ("/vehicle/year_of_manufacture", manufactured),
        ("/vehicle/year_of_first_registration", registered),
    ];
    without_null_years(with(request(), &changes))
}

fn without_null_years(mut request: Value) -> Value {
    let vehicle = request["vehicle"].as_object_mut().unwrap();
    vehicle.retain(|name, value| !(name.starts_with("year_of_") && value.is_null()));
    request
}

#[test]
fn the_insured_value_follows_invoice_and_age() {
    // The quote starts on 2026-05-11. Of a calendar year, the last day may be it or the first.
    for (year, least, most) in [
        (2026, Some(712_500), Some(1_187_500)), // 5 % at 0 to 5 months
        (2025, Some(600_000), Some(1_187_500)), // 5 % at 5 months, 20 % at 17
        (2024, Some(525_000), Some(1_000_000)), // 20 % at 17 months, 30 % at 29
        (2023, Some(450_000), Some(875_000)),   // 30 % at 29 months, 40 % at 41
        (2022, Some(375_000), Some(750_000)),   // 40 % at 41 months, 50 % at 53
        (2021, None, Some(625_000)),            // 50 % at 53 months; at 65 the value is agreed
        (2020, None, None),
        (2027, Some(712_500), Some(1_187_500)),
        (i64::MIN + 1, None, None),
        (i64::MAX, Some(712_500), Some(1_187_500)),
    ] {
        band_is(&invoiced(json!(year), json!(year)), &quote(), least, most);
    }
    // Either year alone will do; of two, the earlier makes it old and the later young.
    band_is(&invoiced(json!(2022), json!(null)), &quote(), Some(375_000), Some(750_000));
    band_is(&invoiced(json!(null), json!(2022)), &quote(), Some(375_000), Some(750_000));
    band_is(&invoiced(json!(2022), json!(2023)), &quote(), Some(375_000), Some(875_000));
    let lapsed = with(invoiced(json!(2022), json!(2022)), &[("/purchase_context", json!("lapsed_fresh"))]);
    band_is(&lapsed, &quote(), Some(375_000), Some(750_000));
}

#[test]
fn ages_are_counted_in_months_that_have_begun() {
    let starts =
        |day: &str, end: &str| with(quote(), &[("/policy_start_date", json!(day)), ("/policy_end_date", json!(end))]);
    let of_2025 = with(invoiced(json!(2025), json!(2025)), &[("/previous_policy/lapse_days", json!(0))]);
    // From the first day of 2025 to 2026-01-01 it is 12 months and no more; a day later the thirteenth has begun.
    band_is(&of_2025, &starts("2026-01-01", "2026-12-31"), Some(637_500), Some(1_187_500));
    band_is(&of_2025, &starts("2026-01-02", "2027-01-01"), Some(600_000), Some(1_187_500));
    // From the last day of 2025 it is six months on 2026-06-30, and in July the seventh has begun.
    band_is(&of_2025, &starts("2026-06-30", "2027-06-29"), Some(600_000), Some(1_187_500));
    band_is(&of_2025, &starts("2026-07-01", "2027-06-30"), Some(600_000), Some(1_062_500));
}

#[test]
fn a_new_vehicle_is_insured_up_to_its_invoice() {
    // Of the sample's invoice of 980,000 INR: 95 % less a quarter.
    band_is(&new_request(), &bundle(), Some(698_250), Some(980_000));
    let years = |manufactured: Value| {
        let changes =
            [("/vehicle/year_of_manufacture", manufactured), ("/vehicle/year_of_first_registration", json!(null))];
        without_null_years(with(new_request(), &changes))
    };
    band_is(&years(json!(null)), &bundle(), Some(698_250), Some(980_000));
    // It stood at the dealer's since last year.
    band_is(&years(json!(2025)), &bundle(), Some(588_000), Some(980_000));
    band_is(&years(json!(2019)), &bundle(), None, Some(980_000));
}

#[test]
fn without_a_price_or_an_age_there_is_no_band() {
    let context = "/purchase_context";
    band_is(&request(), &quote(), None, None);
    band_is(&with(request(), &[("/vehicle/invoice_value_inr", json!(0))]), &quote(), None, None);
    band_is(&invoiced(json!(null), json!(null)), &quote(), None, None);
    // The invoice of a used vehicle is what it cost used.
    let used = with(invoiced(json!(2022), json!(2022)), &[(context, json!("used_vehicle_first_policy"))]);
    let inspected = [("/inspection_required", json!(true))];
    band_is(&used, &with(quote(), &inspected), None, None);
    // No amount of money overflows.
    let dear = with(invoiced(json!(2022), json!(2022)), &[("/vehicle/invoice_value_inr", json!(i64::MAX))]);
    passes(&dear, &with(quote(), &[(IDV, json!(i64::MAX / 2))]));
}

#[test]
fn third_party_cover_alone_insures_no_value() {
    let policy = json!("third_party_only");
    let request =
        with(invoiced(json!(2022), json!(2022)), &[("/buyer_preferences/target_policy_type", policy.clone())]);
    let changes = [
        ("/policy_type", policy),
        ("/addons_included", json!([])),
        ("/premium_breakdown/addons_premium_inr", json!(0)),
        ("/premium_breakdown/total_payable_inr", json!(14_014 - 2400)),
    ];
    band_is(&request, &with(quote(), &changes), None, Some(750_000));
}

/// A request for a new vehicle of a type, a subtype and a size, with the years of its bundle.
fn new_vehicle(kind: &str, subtype: &str, years: i64, size: &[(&str, Value)]) -> Value {
    let changes = [
        ("/vehicle/type", json!(kind)),
        ("/vehicle/subtype", json!(subtype)),
        ("/buyer_preferences/long_term_tp_years", json!(years)),
    ];
    let mut request = with(with(new_request(), &changes), size);
    request["vehicle"].as_object_mut().unwrap().retain(|name, value| name == "kw_rating" || !value.is_null());
    request
}

/// Expects the ceiling to be this, however it is split: one rupee more is found.
fn ceiling_is(request: &Value, ceiling: i64) {
    let years = request["buyer_preferences"]["long_term_tp_years"].clone();
    let bundle = with(bundle(), &[("/long_term_tp_years", years)]);
    for annual in [ceiling / 2, ceiling] {
        passes(request, &with_third_party(bundle.clone(), annual, ceiling - annual));
        let more = with_third_party(bundle.clone(), annual, ceiling - annual + 1);
        finds(request, &more, BUNDLE_TP, "TP_ABOVE_CEILING");
    }
}

#[test]
fn ceilings_of_bundles() {
    // (rate + 1500 INR a year) with 18 % tax.
    for (cc, ceiling) in [(1000, 13_005), (1500, 17_866), (1501, 34_334)] {
        ceiling_is(&new_vehicle("car", "sedan", 3, &[("/vehicle/engine_cc", json!(cc))]), ceiling);
    }
    for (cc, ceiling) in [(75, 12_274), (150, 13_395), (350, 17_541), (351, 26_689)] {
        ceiling_is(&new_vehicle("two_wheeler", "scooter", 5, &[("/vehicle/engine_cc", json!(cc))]), ceiling);
    }
    let electric = |kw: i64| {
        [
            ("/vehicle/fuel_type", json!("electric")),
            ("/vehicle/kw_rating", json!(kw)),
            ("/vehicle/battery_kwh", json!(30)),
        ]
    };
    for (kw, ceiling) in [(30, 11_851), (65, 15_982), (66, 29_981)] {
        ceiling_is(&new_vehicle("ev", "e_car", 3, &electric(kw)), ceiling);
    }
    for (kw, ceiling) in [(3, 11_760), (7, 12_713), (16, 16_237), (17, 24_012)] {
        ceiling_is(&new_vehicle("ev", "e_scooter", 5, &electric(kw)), ceiling);
    }
}

#[test]
fn ceilings_where_the_request_leaves_something_out() {
    // The highest band, and no discount of the tariff.
    ceiling_is(&new_vehicle("car", "sedan", 3, &[("/vehicle/engine_cc", json!(null))]), 34_334);
    let hybrid = [("/vehicle/fuel_type", json!("hybrid")), ("/vehicle/engine_cc", json!(1197))];
    ceiling_is(&new_vehicle("car", "sedan", 3, &hybrid), 17_866);
    // An electric vehicle of no stated kind is what its bundle says.
    let ev = |years: i64, kw: i64| {
        let changes = [
            ("/vehicle/fuel_type", json!("electric")),
            ("/vehicle/kw_rating", json!(kw)),
            ("/vehicle/battery_kwh", json!(30)),
            ("/vehicle/subtype", json!(null)),
        ];
        new_vehicle("ev", "e_car", years, &changes)
    };
    ceiling_is(&ev(3, 30), 11_851);
    ceiling_is(&ev(5, 3), 11_760);
    // Type and fuel disagree: by the power it costs 5543, by the engine 10640.
    let both = [("/vehicle/kw_rating", json!(30)), ("/vehicle/engine_cc", json!(1197))];
    ceiling_is(&new_vehicle("ev", "e_car", 3, &both), 17_866);
}

#[test]
fn the_year_beside_the_whole_bundle_is_under_the_ceiling() {
    for (cc, annual, whole) in [(1000, 2094, 6521), (1500, 3416, 10_640), (1501, 7897, 24_596)] {
        let car = new_vehicle("car", "sedan", 3, &[("/vehicle/engine_cc", json!(cc))]);
        passes(&car, &with_third_party(bundle(), annual, whole));
    }
    // What is not a bundle has no ceiling.
    passes(&request(), &with_third_party(quote(), 1_000_000, 0));
}

/// A card of nobody.
const CARD: RateCard = RateCard {
    irdai_registration_number: "X-1",
    effective_from: "2026-01-01",
    source: "this test",
    rows: &[
        AddonRow {
            addon: AddonCode::ZeroDep,
            vehicles: &[VehicleKind::Car, VehicleKind::TwoWheeler],
            ages: &[
                AgeBand { up_to_months: 6, rate: Rate::OfIdv { inr_per_lakh: 250 } },
                AgeBand { up_to_months: 24, rate: Rate::OfIdv { inr_per_lakh: 405 } },
            ],
        },
        AddonRow {
            addon: AddonCode::Consumables,
            vehicles: &[],
            ages: &[AgeBand { up_to_months: AgeBand::ANY, rate: Rate::Fixed { inr: 499 } }],
        },
    ],
};

#[test]
fn a_card_says_what_an_addon_costs() {
    let sale = || Sale {
        irdai_registration_number: "X-1",
        addon: AddonCode::ZeroDep,
        vehicle: VehicleKind::Car,
        starts: Date::parse("2026-01-01").unwrap(),
        age_months: Some(0..=1),
        idv_inr: 620_000,
    };
    let published = |sale: &Sale<'_>| published_inr(&[CARD], sale);
    assert_eq!(published(&sale()), [1550]);
    for (age, expected) in [
        (0..=6, vec![1550]),
        (6..=7, vec![1550, 2511]),
        (7..=24, vec![2511]),
        // It may be older than all that is published.
        (7..=25, vec![]),
        (25..=36, vec![]),
    ] {
        assert_eq!(published(&Sale { age_months: Some(age.clone()), ..sale() }), expected, "{age:?}");
    }
    assert_eq!(published(&Sale { vehicle: VehicleKind::TwoWheeler, ..sale() }), [1550]);
    // Fixed, for whatever is insured, however old.
    let fixed =
        Sale { addon: AddonCode::Consumables, vehicle: VehicleKind::Taxi, age_months: None, idv_inr: 0, ..sale() };
    assert_eq!(published(&fixed), [499]);
    for unknown in [
        Sale { irdai_registration_number: "X-2", ..sale() },
        Sale { addon: AddonCode::TyreProtect, ..sale() },
        Sale { vehicle: VehicleKind::Taxi, ..sale() },
        Sale { age_months: None, ..sale() },
        Sale { starts: Date::parse("2025-12-31").unwrap(), ..sale() },
    ] {
        assert_eq!(published(&unknown), Vec::<i64>::new(), "{unknown:?}");
    }
    assert_eq!(published_inr(&[], &sale()), Vec::<i64>::new());
    // Two cards of an insurer: either is right.
    assert_eq!(published_inr(&[CARD, CARD], &sale()), [1550, 1550]);
    let dear = Sale { idv_inr: i64::MAX, age_months: Some(7..=8), ..sale() };
    assert_eq!(published(&dear), [37_354_656_749_261_842]);
}

#[test]
fn the_cards_that_ship_can_be_read() {
    for card in KNOWN {
        let name = card.irdai_registration_number;
        assert!(Date::parse(card.effective_from).is_some(), "{name}: {}", card.effective_from);
        assert!(!name.is_empty() && !card.source.is_empty() && !card.rows.is_empty(), "{name}");
        for row in card.rows {
            assert!(!row.ages.is_empty(), "{name}: {:?}", row.addon);
            assert!(row.ages.is_sorted_by(|one, next| one.up_to_months < next.up_to_months), "{name}: {:?}", row.addon);
        }
    }
}

#[test]
fn the_docs_show_the_figures() {
    let docs = include_str!("../../../docs/insurance-figures.md");
    let mut table = String::from("| age of the vehicle in months, up to | taken off |\n|---|---|\n");
    for row in SCHEDULE {
        table.push_str(&format!("| {} | {} % |\n", row.up_to_months, row.pct));
    }
    let rate = format!("(rate + {BESIDE_INR_A_YEAR} INR × years) × {}.{TAX_PCT}", 1);
    for shown in [table.as_str(), &format!("{LEEWAY_PCT} %"), SOURCE, &rate] {
        assert!(docs.contains(shown), "docs/insurance-figures.md should hold:\n{shown}");
    }
}
