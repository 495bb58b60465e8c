//! One test per rule between the members of a request, each on requests that break only that rule.

#[expect(dead_code, reason = "each test binary uses a part of the shared calls")]
mod common;

use common::{Change, new_request, pair, request, search, with};
use contract_sdk::testing::{assert_refused, pairs};
use serde_json::{Value, json};

/// Expects a refusal under a code for exactly one breach.
fn refuses(request: &Value, refusal_code: &str, pointer: &str, code: &str) {
    assert_refused(search(request), refusal_code, &[(pointer, code)]);
}

fn accepts(request: &Value) {
    let passed = search(request).unwrap();
    assert_eq!(pairs(&passed.notes), vec![]);
}

/// Expects the request to pass with exactly one note.
fn notes(request: &Value, pointer: &str, code: &str) {
    assert_eq!(pairs(&search(request).unwrap().notes), pair(pointer, code));
}

/// A newly purchased vehicle of a kind.
fn new(kind: &str, subtype: Option<&str>, years: i64, policy: &str) -> Value {
    let mut request = with(
        new_request(),
        &[
            ("/vehicle/type", json!(kind)),
            ("/buyer_preferences/long_term_tp_years", json!(years)),
            ("/buyer_preferences/target_policy_type", json!(policy)),
        ],
    );
    let vehicle = request["vehicle"].as_object_mut().unwrap();
    match subtype {
        Some(subtype) => vehicle.insert("subtype".to_owned(), json!(subtype)),
        None => vehicle.remove("subtype"),
    };
    request
}

#[test]
fn the_samples_pass() {
    accepts(&request());
    accepts(&new_request());
    let passed = search(&request()).unwrap();
    assert_eq!((passed.need.city.as_deref(), passed.need.postal_code.as_deref()), (Some("Pune"), Some("411001")));
    assert_eq!((passed.need.from_ms, passed.need.until_ms), (None, None));
}

#[test]
fn electric_vehicles_state_power_and_battery() {
    let electric = |kw: Value, kwh: Value| {
        let changes =
            [("/vehicle/fuel_type", json!("electric")), ("/vehicle/kw_rating", kw), ("/vehicle/battery_kwh", kwh)];
        with(request(), &changes)
    };
    accepts(&electric(json!(100), json!(40.5)));
    let code = "EV_KW_MISSING";
    refuses(&electric(Value::Null, json!(40.5)), code, "/vehicle/kw_rating", code);
    refuses(&electric(json!(100), Value::Null), code, "/vehicle/battery_kwh", code);
    let both = search(&electric(Value::Null, Value::Null)).unwrap_err();
    assert_eq!((both.code.as_str(), both.violations.len()), (code, 2));
    for fuel in ["petrol", "diesel", "cng", "lpg", "hybrid"] {
        accepts(&with(request(), &[("/vehicle/fuel_type", json!(fuel))]));
    }
}

/// Rules judge a request of sound shape alone, so what is left to them is told with the shape where that is broken.
#[test]
fn what_is_absent_is_told_beside_broken_shapes() {
    let mut request = with(request(), &[("/vehicle/type", json!("boat")), ("/vehicle/fuel_type", json!("electric"))]);
    for member in ["kw_rating", "battery_kwh", "invoice_value_inr"] {
        request["vehicle"].as_object_mut().unwrap().remove(member);
    }
    let found = search(&request).unwrap_err();
    let told: Vec<_> = found.violations.iter().map(|found| (found.pointer.as_str(), found.code.as_str())).collect();
    let expected = [
        ("/vehicle/type", "NOT_IN_VOCABULARY"),
        ("/vehicle/kw_rating", "REQUIRED"),
        ("/vehicle/battery_kwh", "REQUIRED"),
        ("/vehicle/invoice_value_inr", "REQUIRED"),
    ];
    assert_eq!((found.code.as_str(), told.as_slice()), ("INVALID_REQUEST", expected.as_slice()));
}

#[test]
fn a_new_vehicle_states_its_invoice() {
    let code = "INVOICE_VALUE_INVALID";
    let at = "/vehicle/invoice_value_inr";
    for value in [Value::Null, json!(0)] {
        refuses(&with(new_request(), &[(at, value.clone())]), code, at, code);
        accepts(&with(request(), &[(at, value)]));
    }
    accepts(&with(new_request(), &[(at, json!(1))]));
}

#[test]
fn a_prior_policy_has_an_insurer_and_an_end() {
    for member in ["insurer_name", "expiry_date"] {
        let at = format!("/previous_policy/{member}");
        refuses(&with(request(), &[(&at, Value::Null)]), "INVALID_REQUEST", &at, "PRIOR_POLICY_INCOMPLETE");
        let mut without = request();
        without["previous_policy"].as_object_mut().unwrap().remove(member);
        refuses(&without, "INVALID_REQUEST", &at, "PRIOR_POLICY_INCOMPLETE");
        without["previous_policy"]["has_prior_policy"] = json!(false);
        assert!(search(&without).is_ok());
    }
}

#[test]
fn bundles_follow_the_vehicle() {
    let (years, policy) = ("/buyer_preferences/long_term_tp_years", "/buyer_preferences/target_policy_type");
    let bundle = "long_term_tp_bundle";
    let private = [
        ("car", Some("suv"), 3),
        ("car", None, 3),
        ("two_wheeler", Some("moped"), 5),
        ("two_wheeler", None, 5),
        ("ev", Some("e_scooter"), 5),
        ("ev", Some("e_motorcycle"), 5),
        ("ev", Some("e_car"), 3),
    ];
    for (kind, subtype, needed) in private {
        accepts(&new(kind, subtype, needed, bundle));
        for other in [0, 3, 5].into_iter().filter(|years| *years != needed) {
            let code = "LONG_TERM_TP_REQUIRED";
            refuses(&new(kind, subtype, other, bundle), code, years, code);
        }
    }
    // An electric vehicle that may be either: one of the two it must be.
    accepts(&new("ev", None, 3, bundle));
    accepts(&new("ev", None, 5, bundle));
    refuses(&new("ev", None, 0, bundle), "LONG_TERM_TP_REQUIRED", years, "LONG_TERM_TP_REQUIRED");
    let not_allowed = "LONG_TERM_TP_NOT_ALLOWED";
    // A private subtype makes no commercial vehicle private; that the two disagree is noted.
    for subtype in ["sedan", "scooter"] {
        assert!(search(&new("commercial", Some(subtype), 0, "comprehensive")).is_ok());
        refuses(&new("commercial", Some(subtype), 3, "comprehensive"), "INVALID_REQUEST", years, not_allowed);
    }
    for subtype in ["taxi", "goods_carrier_lcv", "e_bike_commercial"] {
        accepts(&new("commercial", Some(subtype), 0, "comprehensive"));
        refuses(&new("commercial", Some(subtype), 3, "comprehensive"), "INVALID_REQUEST", years, not_allowed);
    }
    for context in ["switching", "lapsed_fresh", "used_vehicle_first_policy"] {
        let old = with(request(), &[("/purchase_context", json!(context))]);
        accepts(&old);
        refuses(&with(old.clone(), &[(years, json!(3))]), "INVALID_REQUEST", years, not_allowed);
        notes(&with(old, &[(policy, json!(bundle))]), policy, not_allowed);
    }
}

#[test]
fn subtypes_belong_to_a_type() {
    let cars = ["private_car", "suv", "mpv", "hatchback", "sedan", "e_car"];
    let two_wheelers = ["scooter", "motorcycle", "moped", "e_scooter", "e_motorcycle"];
    let commercial =
        ["taxi", "school_bus", "goods_carrier_lcv", "goods_carrier_hcv", "passenger_carrier", "e_bike_commercial"];
    let check = |kind: &str, subtype: &str, belongs: bool| {
        let request = with(request(), &[("/vehicle/type", json!(kind)), ("/vehicle/subtype", json!(subtype))]);
        if belongs {
            accepts(&request);
        } else {
            notes(&request, "/vehicle/subtype", "SUBTYPE_MISMATCH");
        }
    };
    for subtype in cars.iter().chain(&two_wheelers).chain(&commercial) {
        check("car", subtype, cars.contains(subtype));
        check("two_wheeler", subtype, two_wheelers.contains(subtype));
        check("commercial", subtype, commercial.contains(subtype));
        check("ev", subtype, !commercial.contains(subtype) || *subtype == "e_bike_commercial");
    }
}

#[test]
fn only_commercial_vehicles_carry_tonnes() {
    let at = "/vehicle/carrying_capacity_tonnes";
    notes(&with(request(), &[(at, json!(0.5))]), at, "COMMERCIAL_ONLY");
    let changes: [Change<'_>; 3] =
        [("/vehicle/type", json!("commercial")), ("/vehicle/subtype", json!("goods_carrier_lcv")), (at, json!(0.5))];
    accepts(&with(request(), &changes));
}

#[test]
fn addons_fit_policy_and_vehicle() {
    let wanted = |addon: &str, policy: &str, fuel: &str| {
        let changes = [
            ("/buyer_preferences/addons_required", json!(["rsa_24x7", addon])),
            ("/buyer_preferences/target_policy_type", json!(policy)),
            ("/vehicle/fuel_type", json!(fuel)),
            ("/vehicle/kw_rating", json!(100)),
            ("/vehicle/battery_kwh", json!(40)),
        ];
        with(request(), &changes)
    };
    let (code, at) = ("ADDON_INCOMPATIBLE", "/buyer_preferences/addons_required/1");
    for addon in ["battery_protect_ev", "charger_protect_ev", "ev_assistance"] {
        notes(&wanted(addon, "comprehensive", "petrol"), at, code);
        notes(&wanted(addon, "comprehensive", "hybrid"), at, code);
        accepts(&wanted(addon, "comprehensive", "electric"));
    }
    for addon in [
        "zero_dep",
        "engine_protect",
        "return_to_invoice",
        "consumables",
        "ncb_protect",
        "key_replacement",
        "tyre_protect",
        "daily_allowance",
        "battery_protect_ev",
        "charger_protect_ev",
    ] {
        notes(&wanted(addon, "third_party_only", "electric"), at, code);
        for policy in ["comprehensive", "own_damage_only", "standalone_od_with_separate_tp"] {
            accepts(&wanted(addon, policy, "electric"));
        }
    }
    for addon in ["rsa_24x7", "passenger_cover", "geo_extension_nepal_bhutan", "ev_assistance"] {
        accepts(&wanted(addon, "third_party_only", "electric"));
    }
}

#[test]
fn postal_codes_are_six_digits() {
    let at = "/user_location/pincode";
    for pincode in ["41100a", "011001", "४११००१"] {
        refuses(&with(request(), &[(at, json!(pincode))]), "INVALID_REQUEST", at, "BAD_FORMAT");
    }
    refuses(&with(request(), &[(at, json!("41100"))]), "INVALID_REQUEST", at, "WRONG_LENGTH");
}

#[test]
fn a_history_that_does_not_fit_is_noted_only() {
    let at = "/previous_policy/has_prior_policy";
    let noted = |request: &Value| pairs(&search(request).unwrap().notes);
    let mismatch = pair(at, "PURCHASE_CONTEXT_MISMATCH");
    assert_eq!(noted(&with(request(), &[(at, json!(false))])), mismatch);
    assert_eq!(noted(&with(request(), &[(at, json!(false)), ("/purchase_context", json!("lapsed_fresh"))])), mismatch);
    let used = [(at, json!(false)), ("/purchase_context", json!("used_vehicle_first_policy"))];
    assert_eq!(noted(&with(request(), &used)), vec![]);
    let mut new = new_request();
    new["previous_policy"] = request()["previous_policy"].clone();
    assert_eq!(noted(&new), mismatch);
}

#[test]
fn a_refusal_for_several_reasons() {
    let both = with(
        new_request(),
        &[("/vehicle/invoice_value_inr", Value::Null), ("/buyer_preferences/long_term_tp_years", json!(0))],
    );
    let refusal = search(&both).unwrap_err();
    assert_eq!((refusal.code.as_str(), refusal.violations.len()), ("INVOICE_VALUE_INVALID", 2));
    let refusal = search(&with(both, &[("/user_location/pincode", json!("000000"))])).unwrap_err();
    assert_eq!((refusal.code.as_str(), refusal.violations.len()), ("INVALID_REQUEST", 3));
    // Broken shapes are told first, and rules are not judged on them.
    let broken = with(new_request(), &[("/vehicle/invoice_value_inr", Value::Null), ("/vehicle/type", json!("bus"))]);
    refuses(&broken, "INVALID_REQUEST", "/vehicle/type", "NOT_IN_VOCABULARY");
}

#[test]
fn unknown_bands_are_noted() {
    for (axis, values) in [
        ("time", ["fast", "balanced", "flexible"].as_slice()),
        ("taste", &["balanced"]),
        ("budget", &["ok", "good", "great"]),
        ("safety", &["fast", "balanced", "flexible", "good", "great"]),
    ] {
        let at = format!("/ttbs_user_band/{axis}");
        for value in values {
            accepts(&with(request(), &[(&at, json!(value))]));
        }
        let passed = search(&with(request(), &[(&at, json!("odd"))])).unwrap();
        assert_eq!(pairs(&passed.notes), pair(&at, "UNKNOWN_BAND"));
    }
}
