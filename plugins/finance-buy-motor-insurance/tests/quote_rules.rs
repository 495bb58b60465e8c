//! One test per rule on quotes, each on quotes that break only that rule.

#[expect(dead_code, reason = "each test binary uses a part of the shared calls")]
mod common;

use common::{bundle, drops, evaluate, finds, new_request, pair, passes, quote, request, with, with_third_party};
use contract_sdk::sample;
use contract_sdk::testing::pairs;
use serde_json::{Value, json};

const TP: &str = "/premium_breakdown/third_party_premium_inr";
const BUNDLE_TP: &str = "/premium_breakdown/long_term_tp_premium_inr";
const BELOW: &str = "TP_BELOW_FLOOR";

#[test]
fn the_samples_pass() {
    passes(&request(), &quote());
    passes(&new_request(), &bundle());
    let payload = sample!("payload");
    let found = evaluate(&request(), payload["quotes"].as_array().unwrap());
    assert_eq!((found.ranked.len(), found.dropped.len(), found.findings.len()), (15, 0, 0), "{found:?}");
}

/// The request for a vehicle, with the bundle that it needs where it is new.
fn vehicle(new: bool, changes: &[(&str, Value)]) -> Value {
    let start = if new { new_request() } else { request() };
    let mut request = with(start, &[("/vehicle/type", json!("car")), ("/vehicle/kw_rating", json!(null))]);
    request["vehicle"].as_object_mut().unwrap().remove("subtype");
    for (name, value) in changes {
        request["vehicle"][*name] = value.clone();
    }
    request
}

/// Expects the floor to be this: one rupee less is dropped.
fn floor_is(request: &Value, years: i64, floor: i64) {
    let at = if years == 0 { TP } else { BUNDLE_TP };
    let base = if years == 0 { quote() } else { with(bundle(), &[("/long_term_tp_years", json!(years))]) };
    let with_premium = |premium: i64| {
        if years == 0 {
            with_third_party(base.clone(), premium, 0)
        } else {
            with_third_party(base.clone(), premium / 2, premium - premium / 2)
        }
    };
    passes(request, &with_premium(floor));
    drops(request, &with_premium(floor - 1), at, BELOW);
}

#[test]
fn annual_floors_of_private_vehicles() {
    for (cc, floor) in [(1, 2094), (1000, 2094), (1001, 3416), (1500, 3416), (1501, 7897), (6000, 7897)] {
        floor_is(&vehicle(false, &[("engine_cc", json!(cc))]), 0, floor);
    }
    let two = ("type", json!("two_wheeler"));
    for (cc, floor) in [(75, 538), (76, 714), (150, 714), (151, 1366), (350, 1366), (351, 2804)] {
        floor_is(&vehicle(false, &[two.clone(), ("engine_cc", json!(cc))]), 0, floor);
    }
    let electric = ("fuel_type", json!("electric"));
    for (kw, floor) in [(30, 1780), (31, 2904), (65, 2904), (66, 6712)] {
        floor_is(&vehicle(false, &[electric.clone(), ("kw_rating", json!(kw))]), 0, floor);
        let ev = [("type", json!("ev")), ("subtype", json!("e_car")), ("kw_rating", json!(kw))];
        floor_is(&vehicle(false, &ev), 0, floor);
    }
    for (kw, floor) in [(3, 457), (4, 607), (7, 607), (8, 1161), (16, 1161), (17, 2383)] {
        floor_is(&vehicle(false, &[electric.clone(), two.clone(), ("kw_rating", json!(kw))]), 0, floor);
    }
}

#[test]
fn floors_of_bundles() {
    for (cc, floor) in [(1000, 6521), (1500, 10_640), (1501, 24_596)] {
        floor_is(&vehicle(true, &[("engine_cc", json!(cc))]), 3, floor);
    }
    let two = ("type", json!("two_wheeler"));
    for (cc, floor) in [(75, 2901), (150, 3851), (350, 7365), (351, 15_117)] {
        floor_is(&vehicle(true, &[two.clone(), ("engine_cc", json!(cc))]), 5, floor);
    }
    for (kw, floor) in [(30, 5543), (65, 9044), (66, 20_907)] {
        floor_is(
            &vehicle(true, &[("type", json!("ev")), ("subtype", json!("e_car")), ("kw_rating", json!(kw))]),
            3,
            floor,
        );
    }
    for (kw, floor) in [(3, 2466), (7, 3273), (16, 6260), (17, 12_849)] {
        for subtype in ["e_scooter", "e_motorcycle"] {
            let ev = [("type", json!("ev")), ("subtype", json!(subtype)), ("kw_rating", json!(kw))];
            floor_is(&vehicle(true, &ev), 5, floor);
        }
    }
    // However the two parts are split, as long as the year's part is not below the year's rate.
    passes(&new_request(), &with_third_party(bundle(), 3416, 7224));
    passes(&new_request(), &with_third_party(bundle(), 10_640, 0));
    drops(&new_request(), &with_third_party(bundle(), 3415, 7225), TP, BELOW);
    drops(&new_request(), &with_third_party(bundle(), 0, 10_640), TP, BELOW);
}

#[test]
fn floors_of_commercial_vehicles() {
    let commercial = |subtype: &str, more: &[(&str, Value)]| {
        let mut changes = vec![("type", json!("commercial")), ("subtype", json!(subtype))];
        changes.extend_from_slice(more);
        vehicle(false, &changes)
    };
    let tonnes = |tonnes: f64| ("carrying_capacity_tonnes", json!(tonnes));
    let goods = [(7.5, 16_049), (7.6, 27_186), (12.0, 27_186), (20.0, 35_313), (40.0, 43_950), (40.1, 44_242)];
    for (load, floor) in goods {
        floor_is(&commercial("goods_carrier_hcv", &[tonnes(load)]), 0, floor);
        floor_is(&commercial("goods_carrier_lcv", &[tonnes(load)]), 0, floor);
    }
    let electric = ("fuel_type", json!("electric"));
    let electric_goods = [(7.5, 13_642), (12.0, 23_108), (20.0, 30_016), (40.0, 37_357), (40.1, 37_606)];
    for (load, floor) in electric_goods {
        floor_is(&commercial("goods_carrier_hcv", &[tonnes(load), electric.clone()]), 0, floor);
    }
    // What may be a three-wheeler is held to the three-wheelers' rate.
    floor_is(&commercial("goods_carrier_lcv", &[tonnes(1.5)]), 0, 4492);
    floor_is(&commercial("goods_carrier_lcv", &[]), 0, 4492);
    floor_is(&commercial("goods_carrier_lcv", &[tonnes(1.6)]), 0, 16_049);
    floor_is(&commercial("goods_carrier_hcv", &[]), 0, 16_049);
    // Five seats are the driver and four passengers.
    for (cc, base, per_passenger) in [(1000, 6040, 1162), (1500, 7940, 978), (1501, 10_523, 1117)] {
        let taxi = |seats: i64| [("engine_cc", json!(cc)), ("carrying_capacity_persons", json!(seats))];
        floor_is(&commercial("taxi", &taxi(5)), 0, base + 4 * per_passenger);
        floor_is(&commercial("taxi", &taxi(0)), 0, base);
    }
    floor_is(&commercial("school_bus", &[("carrying_capacity_persons", json!(41))]), 0, 12_192 + 40 * 745);
    let nothing = with_third_party(quote(), 0, 0);
    for subtype in ["passenger_carrier", "e_bike_commercial"] {
        passes(&commercial(subtype, &[]), &nothing);
    }
    for subtype in ["taxi", "school_bus", "goods_carrier_lcv"] {
        passes(&commercial(subtype, std::slice::from_ref(&electric)), &nothing);
    }
}

#[test]
fn floors_where_the_request_leaves_something_out() {
    let mut unknown = vehicle(false, &[]);
    unknown["vehicle"].as_object_mut().unwrap().remove("engine_cc");
    floor_is(&unknown, 0, 2094);
    let electric = [("fuel_type", json!("electric"))];
    floor_is(&vehicle(false, &electric), 0, 1780);
    floor_is(&vehicle(false, &[("type", json!("ev"))]), 0, 457);
    // It may be a car or a two-wheeler: the lower rate of its power counts, and a bundle tells which it is.
    for (kw, floor) in [(3, 457), (16, 1161), (17, 1780), (30, 1780), (31, 2383), (100, 2383)] {
        floor_is(&vehicle(false, &[("type", json!("ev")), ("kw_rating", json!(kw))]), 0, floor);
    }
    let new_ev = |kw: Value, years: i64| {
        let vehicle = vehicle(true, &[("type", json!("ev")), ("kw_rating", kw)]);
        with(vehicle, &[("/buyer_preferences/long_term_tp_years", json!(years))])
    };
    for (kw, car, two_wheeler) in [(Value::Null, 5543, 2466), (json!(30), 5543, 12_849), (json!(66), 20_907, 12_849)] {
        floor_is(&new_ev(kw.clone(), 3), 3, car);
        floor_is(&new_ev(kw, 5), 5, two_wheeler);
    }
}

#[test]
fn discounts_of_the_tariff() {
    let hybrid = ("fuel_type", json!("hybrid"));
    floor_is(&vehicle(false, &[hybrid.clone(), ("engine_cc", json!(1197))]), 0, 3159); // 3416 less 7.5 %, 3159.8
    let since = |year: i64| ("year_of_first_registration", json!(year));
    floor_is(&vehicle(false, &[since(1976), ("engine_cc", json!(1197))]), 0, 1708);
    floor_is(&vehicle(false, &[since(1977), ("engine_cc", json!(1197))]), 0, 3416);
    floor_is(&vehicle(false, &[since(1976), ("type", json!("two_wheeler")), ("engine_cc", json!(150))]), 0, 714);
}

#[test]
fn the_floor_is_for_policies_that_hold_third_party_cover() {
    let of = |policy: &str| {
        let request = with(request(), &[("/buyer_preferences/target_policy_type", json!(policy))]);
        let no_addons = [
            ("/policy_type", json!(policy)),
            ("/addons_included", json!([])),
            ("/premium_breakdown/addons_premium_inr", json!(0)),
            ("/premium_breakdown/total_payable_inr", json!(14_014 - 2400)),
        ];
        (request, with(quote(), &no_addons))
    };
    for policy in ["third_party_only", "comprehensive"] {
        let (request, quote) = of(policy);
        drops(&request, &with_third_party(quote, 0, 0), TP, BELOW);
    }
    let (request, quote) = of("own_damage_only");
    passes(&request, &with_third_party(quote, 0, 0));
    let (request, quote) = of("standalone_od_with_separate_tp");
    passes(&request, &with_third_party(quote.clone(), 0, 0));
    drops(&request, &with_third_party(quote, 1, 0), TP, BELOW);
}

#[test]
fn bundle_years_follow_the_vehicle() {
    let at = "/long_term_tp_years";
    for years in [0, 5] {
        drops(&new_request(), &with(bundle(), &[(at, json!(years))]), at, "LONG_TERM_TP_REQUIRED");
    }
    // Two-wheelers by their type and by the subtype of an electric vehicle.
    for (kind, subtype) in [("two_wheeler", "scooter"), ("ev", "e_scooter"), ("ev", "e_motorcycle")] {
        let request = vehicle(true, &[("type", json!(kind)), ("subtype", json!(subtype)), ("engine_cc", json!(75))]);
        passes(&request, &with(bundle(), &[(at, json!(5))]));
        drops(&request, &with(bundle(), &[(at, json!(3))]), at, "LONG_TERM_TP_REQUIRED");
    }
    let long = with_third_party(with(quote(), &[(at, json!(3))]), 3416, 7224);
    drops(&request(), &long, at, "LONG_TERM_TP_NOT_ALLOWED");
    let od = |years: i64| {
        with(with_third_party(bundle(), 0, 0), &[("/policy_type", json!("own_damage_only")), (at, json!(years))])
    };
    let od_request = with(new_request(), &[("/buyer_preferences/target_policy_type", json!("own_damage_only"))]);
    passes(&od_request, &od(0));
    drops(&od_request, &od(3), at, "LONG_TERM_TP_NOT_ALLOWED");
}

#[test]
fn the_policy_is_of_the_kind_asked_for() {
    let target = "/buyer_preferences/target_policy_type";
    let owned = with(request(), &[(target, json!("own_damage_only"))]);
    drops(&owned, &quote(), "/policy_type", "POLICY_TYPE_MISMATCH");
    // For a new car, a comprehensive policy with three years of third-party cover is a bundle by another name.
    passes(&new_request(), &with(bundle(), &[("/policy_type", json!("comprehensive"))]));
    passes(&with(new_request(), &[(target, json!("comprehensive"))]), &bundle());
    let third_party = with(new_request(), &[(target, json!("third_party_only"))]);
    drops(&third_party, &bundle(), "/policy_type", "POLICY_TYPE_MISMATCH");
}

#[test]
fn a_bonus_is_earned() {
    let at = "/ncb_applied_pct";
    let history = |changes: &[(&str, Value)]| with(request(), changes);
    passes(&request(), &with(quote(), &[(at, json!(25))]));
    drops(&request(), &with(quote(), &[(at, json!(26))]), at, "NCB_ABOVE_CARRY_FORWARD");
    let mut unstated = request();
    unstated["previous_policy"].as_object_mut().unwrap().remove("ncb_pct_carry_forward");
    passes(&unstated, &with(quote(), &[(at, json!(50))]));
    let inspected = with(quote(), &[("/inspection_required", json!(true))]);
    let without = with(
        inspected.clone(),
        &[
            (at, json!(0)),
            ("/premium_breakdown/ncb_discount_inr", json!(0)),
            ("/premium_breakdown/total_payable_inr", json!(14_014 + 1640)),
        ],
    );
    // A negative figure carries nothing forward, and refuses no quote that has no bonus.
    let negative = history(&[("/previous_policy/ncb_pct_carry_forward", json!(-5))]);
    passes(&negative, &without);
    drops(&negative, &with(quote(), &[(at, json!(1))]), at, "NCB_ABOVE_CARRY_FORWARD");
    let lapse = "/previous_policy/lapse_days";
    for reason in [
        history(&[("/previous_policy/has_prior_policy", json!(false))]),
        history(&[("/previous_policy/claims_filed_last_year", json!(1))]),
        history(&[(lapse, json!(91))]),
        history(&[("/previous_policy/expiry_date", json!("2026-02-08"))]),
    ] {
        drops(&reason, &inspected, at, "NCB_NOT_EARNED");
        passes(&reason, &without);
    }
    passes(&history(&[(lapse, json!(90))]), &quote());
    passes(&history(&[("/previous_policy/expiry_date", json!("2026-02-09"))]), &quote());
    // What the request states goes before what its dates say.
    passes(&history(&[(lapse, json!(0)), ("/previous_policy/expiry_date", json!("2020-01-01"))]), &quote());
    finds(
        &request(),
        &with(quote(), &[(at, json!(0))]),
        "/premium_breakdown/ncb_discount_inr",
        "NCB_DISCOUNT_WITHOUT_BONUS",
    );
}

#[test]
fn vehicles_are_inspected_where_they_must_be() {
    let (at, code) = ("/inspection_required", "INSPECTION_OMITTED");
    let no_bonus = with(
        quote(),
        &[
            ("/ncb_applied_pct", json!(0)),
            ("/premium_breakdown/ncb_discount_inr", json!(0)),
            ("/premium_breakdown/total_payable_inr", json!(14_014 + 1640)),
        ],
    );
    for (pointer, value) in [
        ("/purchase_context", json!("used_vehicle_first_policy")),
        ("/previous_policy/lapse_days", json!(91)),
        ("/previous_policy/expiry_date", json!("2026-02-08")),
        ("/previous_policy/claims_filed_last_year", json!(1)),
    ] {
        let request = with(request(), &[(pointer, value)]);
        drops(&request, &no_bonus, at, code);
        passes(&request, &with(no_bonus.clone(), &[(at, json!(true))]));
    }
    passes(&request(), &with(quote(), &[(at, json!(true))]));
    passes(&with(request(), &[("/previous_policy/lapse_days", json!(90))]), &no_bonus);
}

#[test]
fn the_safety_band_sets_the_floor_of_the_settlement_ratio() {
    let at = "/insurer/claim_settlement_ratio_pct";
    let with_band = |band: &str| with(request(), &[("/ttbs_user_band/safety", json!(band))]);
    for (band, floor, below) in
        [("fast", 90.0, 89.9), ("balanced", 92.0, 91.9), ("good", 92.0, 91.9), ("great", 92.0, 91.9)]
    {
        passes(&with_band(band), &with(quote(), &[(at, json!(floor))]));
        drops(&with_band(band), &with(quote(), &[(at, json!(below))]), at, "RATIO_BELOW_FLOOR");
    }
    let mut none = request();
    none.as_object_mut().unwrap().remove("ttbs_user_band");
    for request in [with_band("flexible"), with_band("odd"), none] {
        passes(&request, &with(quote(), &[(at, json!(0))]));
    }
}

#[test]
fn addons_fit_policy_and_vehicle() {
    let addon = |code: &str| with(quote(), &[("/addons_included/1/code", json!(code))]);
    let at = "/addons_included/1/code";
    let electric = [("/vehicle/fuel_type", json!("electric")), ("/vehicle/kw_rating", json!(60))];
    for code in ["battery_protect_ev", "charger_protect_ev", "ev_assistance"] {
        drops(&request(), &addon(code), at, "ADDON_INCOMPATIBLE");
        passes(&with(request(), &electric), &addon(code));
    }
    let third_party = with(request(), &[("/buyer_preferences/target_policy_type", json!("third_party_only"))]);
    let only = |code: &str| {
        let changes = [
            ("/policy_type", json!("third_party_only")),
            ("/addons_included/0/code", json!("passenger_cover")),
            ("/addons_included/1/code", json!(code)),
        ];
        with(quote(), &changes)
    };
    for code in ["zero_dep", "engine_protect", "return_to_invoice", "consumables", "ncb_protect", "daily_allowance"] {
        drops(&third_party, &only(code), at, "ADDON_INCOMPATIBLE");
    }
    for code in ["rsa_24x7", "geo_extension_nepal_bhutan"] {
        passes(&third_party, &only(code));
    }
    // One that was asked for and is not there costs nothing but score.
    let mut fewer = with_third_party(quote(), 3416 + 2400, 0);
    fewer["addons_included"] = json!([]);
    fewer["premium_breakdown"]["addons_premium_inr"] = json!(0);
    fewer["premium_breakdown"]["total_payable_inr"] = json!(14_014);
    passes(&request(), &fewer);
}

#[test]
fn policies_end_after_they_start_and_as_late_as_they_say() {
    let end = "/policy_end_date";
    let ends = |day: &str| with(quote(), &[(end, json!(day))]);
    for day in ["2026-05-11", "2026-05-10"] {
        drops(&request(), &ends(day), end, "DATE_ORDER");
    }
    for day in ["2027-05-10", "2027-05-11"] {
        passes(&request(), &ends(day));
    }
    for day in ["2026-05-12", "2027-05-01", "2028-05-10"] {
        finds(&request(), &ends(day), end, "TENURE_MISMATCH");
    }
    passes(&request(), &with(ends("2029-05-10"), &[("/tenure_years", json!(3))]));
    // A bundle may be dated by either of its two parts.
    passes(&new_request(), &with(bundle(), &[(end, json!("2029-05-10"))]));
    finds(&new_request(), &with(bundle(), &[(end, json!("2028-05-10"))]), end, "TENURE_MISMATCH");
}

#[test]
fn premiums_add_up_or_are_a_finding() {
    let total = "/premium_breakdown/total_payable_inr";
    for sound in [14_013, 14_014, 14_015] {
        passes(&request(), &with(quote(), &[(total, json!(sound))]));
    }
    for odd in [14_012, 14_016, 0] {
        finds(&request(), &with(quote(), &[(total, json!(odd))]), total, "PREMIUM_SUM");
    }
    // Each part counts, with its sign.
    for (part, sign) in [
        ("own_damage_premium_inr", 1),
        ("long_term_tp_premium_inr", 1),
        ("gst_inr", 1),
        ("ncb_discount_inr", -1),
        ("other_discount_inr", -1),
    ] {
        let at = format!("/premium_breakdown/{part}");
        let more = quote().pointer(&at).unwrap().as_i64().unwrap() + 70;
        passes(&request(), &with(quote(), &[(&at, json!(more)), (total, json!(14_014 + sign * 70))]));
    }
    let addon = "/addons_included/0/premium_inr";
    passes(&request(), &with(quote(), &[(addon, json!(1801))]));
    finds(&request(), &with(quote(), &[(addon, json!(1802))]), "/premium_breakdown/addons_premium_inr", "ADDONS_SUM");
    let huge =
        with(quote(), &[("/premium_breakdown/own_damage_premium_inr", json!(i64::MAX)), (total, json!(i64::MAX))]);
    assert_eq!(evaluate(&request(), &[huge]).ranked.len(), 1);
}

#[test]
fn several_breaches_are_told_together() {
    let many = with(
        quote(),
        &[
            (TP, json!(0)),
            ("/insurer/claim_settlement_ratio_pct", json!(50)),
            ("/ncb_applied_pct", json!(50)),
            ("/long_term_tp_years", json!(3)),
        ],
    );
    let found = evaluate(&request(), &[many, with(quote(), &[("/ncb_applied_pct", json!(20))])]);
    let codes: Vec<_> = pairs(&found.dropped[0].violations).into_iter().map(|(_, code)| code).collect();
    assert_eq!(codes, ["RATIO_BELOW_FLOOR", BELOW, BELOW, "NCB_ABOVE_CARRY_FORWARD", "LONG_TERM_TP_NOT_ALLOWED"]);
    // The second has the identifier of the first.
    assert_eq!(pairs(&found.dropped[1].violations), pair("/quote_id", "DUPLICATE_OPTION"));
}
