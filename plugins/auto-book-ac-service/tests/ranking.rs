//! Properties of the ranking.

use auto_book_ac_service::AcService;
use contract_sdk::bindings::{Axes, Evaluation, PastOrder};
use contract_sdk::example::{past_order, with};
use contract_sdk::sample;
use contract_sdk::testing::evaluate_after;
use contract_sdk::testing::properties::{self, Improvement, shift};
use proptest::prelude::*;
use serde_json::{Value, json};

fn request(bands: &Value) -> Value {
    let mut request = sample!("request");
    request["ttbs_user_band"] = bands.clone();
    request
}

fn sample_slots() -> Vec<Value> {
    sample!("payload")["slots"].as_array().unwrap().clone()
}

fn evaluate(request: &Value, payloads: &[Vec<Value>]) -> Evaluation {
    properties::evaluate::<AcService>(request, payloads)
}

fn bands() -> impl Strategy<Value = Value> {
    (
        prop::sample::select(vec!["fast", "balanced", "flexible", "odd"]),
        prop::sample::select(vec!["ok", "good", "great", "odd"]),
        prop::sample::select(vec!["fast", "balanced", "flexible", "good"]),
    )
        .prop_map(
            |(time, budget, safety)| json!({"time": time, "taste": "balanced", "budget": budget, "safety": safety}),
        )
}

/// A slot that passes every rule, with random signals.
fn slot(index: usize) -> impl Strategy<Value = Value> {
    let numbers = (0_u32..=200, 0_i64..=5, 100_i64..5000, 0_i64..=50, 0_i64..=24, 0_i64..=90, 0_i64..=100, 0_i64..=33);
    let flags = prop::array::uniform3(any::<bool>());
    let words = (
        prop::sample::select(vec!["oem_authorised", "multi_brand_garage", "ac_specialist", "doorstep_mobile"]),
        prop::sample::select(vec!["basic_check", "refrigerant_topup", "leak_diagnosis", "full_overhaul"]),
    );
    (numbers, flags, words).prop_map(move |(numbers, flags, words)| {
        let (distance, duration, total, cap, parts, cooling, resolution, hour) = numbers;
        let mut slot = sample_slots().swap_remove(0);
        slot["slot_id"] = json!(format!("slot-{index}"));
        slot["provider"]["distance_from_user_km"] = json!(f64::from(distance) / 10.0);
        slot["provider"]["provider_type"] = json!(words.0);
        slot["service_scope"]["code"] = json!(words.1);
        slot["logistics"]["doorstep_supported"] = json!(false);
        let (day, hour) = (4 + (9 + hour) / 24, (9 + hour) % 24);
        slot["slot_window"]["start"] = json!(format!("2026-05-{day:02}T{hour:02}:30:00+05:30"));
        slot["slot_window"]["end"] = json!("2026-05-06T09:00:00+05:30");
        slot["slot_window"]["typical_duration_hours"] = json!(duration as f64 + 0.5);
        slot["slot_window"]["same_day_completion_likely"] = json!(flags[0]);
        slot["estimated_price"] = json!({
            "diagnostic_fee_inr": 0, "labour_inr": total, "parts_estimate_inr": 0, "refrigerant_inr": 0,
            "gst_inr": 0, "diagnostic_fee_waived_if_repair": flags[1], "total_estimate_inr": total,
            "price_lock_guaranteed": flags[2], "price_lock_variance_cap_pct": cap,
        });
        slot["warranty"]["parts_warranty_months"] = json!(parts);
        slot["warranty"]["cooling_performance_warranty_days"] = json!(cooling);
        slot["ratings"]["cooling_complaint_resolution_pct"] = json!(resolution);
        slot
    })
}

fn slots() -> impl Strategy<Value = Vec<Value>> {
    let first = (slot(0), slot(1), slot(2), slot(3));
    let more = (slot(4), slot(5), slot(6), slot(7));
    (first, more, 2_usize..=8)
        .prop_map(|((a, b, c, d), (e, f, g, h), count)| [a, b, c, d, e, f, g, h].into_iter().take(count).collect())
}

/// Ways to make one signal of a slot better and leave the others as they are.
fn improvements() -> Vec<Improvement> {
    vec![
        ("nearer", |slot| shift(slot, "/provider/distance_from_user_km", -2.0, 0.0, 30.0)),
        ("shorter", |slot| shift(slot, "/slot_window/typical_duration_hours", -1.0, 0.5, 6.0)),
        ("same day", |slot| slot["slot_window"]["same_day_completion_likely"] = json!(true)),
        ("better scope", |slot| slot["service_scope"]["code"] = json!("refrigerant_topup")),
        ("cheaper", |slot| {
            shift(slot, "/estimated_price/total_estimate_inr", -300.0, 0.0, 1e9);
            slot["estimated_price"]["labour_inr"] = slot["estimated_price"]["total_estimate_inr"].clone();
        }),
        ("fee waived", |slot| slot["estimated_price"]["diagnostic_fee_waived_if_repair"] = json!(true)),
        ("price locked", |slot| slot["estimated_price"]["price_lock_guaranteed"] = json!(true)),
        ("tighter lock", |slot| shift(slot, "/estimated_price/price_lock_variance_cap_pct", -10.0, 0.0, 50.0)),
        ("longer parts warranty", |slot| shift(slot, "/warranty/parts_warranty_months", 6.0, 0.0, 24.0)),
        ("longer cooling warranty", |slot| shift(slot, "/warranty/cooling_performance_warranty_days", 20.0, 0.0, 90.0)),
        ("more complaints resolved", |slot| shift(slot, "/ratings/cooling_complaint_resolution_pct", 10.0, 0.0, 100.0)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_better_signal_never_lowers_the_rank(slots in slots(), bands in bands(), which in any::<prop::sample::Index>()) {
        let request = request(&bands);
        let which = which.index(slots.len());
        properties::better_never_ranks_lower::<AcService>(&request, &slots, which, &improvements())
            .map_err(TestCaseError::fail)?;
    }

    #[test]
    fn order_and_grouping_do_not_matter(slots in slots(), bands in bands(), shuffle in any::<u64>(), split in 0_usize..9) {
        let request = request(&bands);
        properties::order_and_grouping_do_not_matter::<AcService>(&request, &slots, shuffle, split)
            .map_err(TestCaseError::fail)?;
    }

    #[test]
    fn scores_are_shares_and_the_same_twice(slots in slots(), bands in bands()) {
        let request = request(&bands);
        properties::scores_are_shares_and_the_same_twice::<AcService>(&request, &slots).map_err(TestCaseError::fail)?;
    }
}

#[test]
fn equal_options_are_ordered_by_the_request_alone() {
    properties::ties_do_not_follow_the_place::<AcService>(&request(&json!({})), &sample_slots()[0]).unwrap();
}

/// What each band prefers, on two slots that differ in that alone.
#[test]
fn bands_prefer_what_the_spec_says() {
    let base = sample_slots().swap_remove(0);
    let change = |id: &str, changes: &[(&str, Value)]| with(properties::with_id::<AcService>(&base, id), changes);
    let axis = |bands: Value, id: &str, pool: &[Value], pick: fn(&Axes) -> f64| {
        let found = evaluate(&request(&bands), std::slice::from_ref(&pool.to_vec()));
        pick(&found.ranked.iter().find(|option| option.id == id).unwrap().axes)
    };
    let same_day = "/slot_window/same_day_completion_likely";
    let pool = [change("a", &[(same_day, json!(true))]), change("b", &[(same_day, json!(false))])];
    let gap = |time: &str| {
        let bands = json!({"time": time});
        axis(bands.clone(), "a", &pool, |axes| axes.time) - axis(bands, "b", &pool, |axes| axes.time)
    };
    assert!(gap("fast") > gap("balanced"), "fast prefers the same day");

    let start = "/slot_window/start";
    let edge = [change("edge", &[(start, json!("2026-05-04T09:00:00+05:30"))]), change("centre", &[])];
    let at_the_edge = |time: &str| axis(json!({"time": time}), "edge", &edge, |axes| axes.time);
    assert!(at_the_edge("flexible") > at_the_edge("balanced"), "flexible takes any slot in the window");

    let days = "/warranty/cooling_performance_warranty_days";
    let short = [change("short", &[(days, json!(20))])];
    let safety = |band: &str| axis(json!({"safety": band}), "short", &short, |axes| axes.safety);
    assert!(safety("fast") > safety("balanced"), "fast relaxes the floor of the cooling warranty");

    let rate = "/ratings/cooling_complaint_resolution_pct";
    let pool = [change("a", &[(rate, json!(100))]), change("b", &[(rate, json!(50))])];
    let gap = |safety: &str| {
        let bands = json!({"safety": safety});
        axis(bands.clone(), "a", &pool, |axes| axes.safety) - axis(bands, "b", &pool, |axes| axes.safety)
    };
    assert!(gap("flexible") > gap("balanced"), "flexible prefers the highest resolution rate");

    let oem = [change("oem", &[("/provider/provider_type", json!("oem_authorised")), (days, json!(30))])];
    let other = [change("oem", &[("/provider/provider_type", json!("oem_authorised")), (days, json!(29))])];
    let budget = |pool: &[Value]| axis(json!({"budget": "great"}), "oem", pool, |axes| axes.budget);
    assert!(budget(&oem) > budget(&other), "great prefers authorised workshops that stand by their work");
}

/// What an overhaul scores for each trouble, bit for bit, as it was before overhauls were noted.
const OVERHAULS: [(&str, u64); 8] = [
    ("not_cooling", 0x3fe6_b441_491f_e974),
    ("intermittent", 0x3fe6_b441_491f_e974),
    ("no_air", 0x3fe6_dc49_cfae_5860),
    ("smell", 0x3fe6_b441_491f_e974),
    ("noise", 0x3fe7_0452_563c_c74d),
    ("pre_summer_check", 0x3fe6_8c38_c291_7a87),
    ("leak_suspected", 0x3fe6_dc49_cfae_5860),
    ("electrical_fault", 0x3fe7_0452_563c_c74d),
];

#[test]
fn what_is_noted_of_an_overhaul_moves_no_score() {
    let overhaul = with(sample!("slot"), &[("/service_scope/code", json!("full_overhaul"))]);
    let score = |category: &str| {
        let request = with(sample!("request"), &[("/ac_issue/category", json!(category))]);
        evaluate(&request, &[vec![overhaul.clone()]]).ranked[0].total.to_bits()
    };
    let scores = OVERHAULS.map(|(category, _)| (category, score(category)));
    assert_eq!(scores, OVERHAULS);
}

const KINDS: [&str; 4] = ["oem_authorised", "multi_brand_garage", "ac_specialist", "doorstep_mobile"];

/// An order that a report of this status has closed, at a provider of this kind.
fn past(status: &str, kind: &str) -> PastOrder {
    past_order(status, json!({"provider_type": kind}).to_string())
}

/// The score of the provider's kind after this history, to the bit: what it adds to the taste of an otherwise equal slot.
fn taste_after(request: &Value, kind: &str, history: &[PastOrder]) -> f64 {
    let slot = with(sample!("slot"), &[("/provider/provider_type", json!(kind))]);
    evaluate_after::<AcService>(request, &[slot], history).ranked[0].axes.taste
}

#[test]
fn kinds_of_provider_count_by_their_share_of_the_past_orders() {
    let request = request(&json!({}));
    let taste = |kind: &str, history: &[&str]| {
        let history: Vec<PastOrder> = history.iter().map(|kind| past("completed", kind)).collect();
        taste_after(&request, kind, &history)
    };
    let (garage, oem) = ("multi_brand_garage", "oem_authorised");
    let neutral = taste(garage, &[]);
    // Half of the rules' share of taste, which is four fifths of it.
    let signal = |taste: f64| (taste - neutral) / 0.4 + 0.5;
    for (history, share) in [
        (&[][..], 0.5),
        (&[garage], 2.0 / 3.0),
        (&[garage, garage, garage], 0.8),
        (&[garage, oem], 0.5),
        (&[oem], 1.0 / 3.0),
        (&[oem, oem, oem], 0.2),
    ] {
        let found = signal(taste(garage, history));
        assert!((found - share).abs() < 1e-9, "{history:?}: {found}, not {share}");
    }
    assert!(taste(garage, &[garage, oem, garage]) > taste(oem, &[garage, oem, garage]));
}

#[test]
fn past_orders_that_tell_nothing_change_no_bit() {
    for kind in KINDS {
        let request = request(&json!({"taste": "balanced"}));
        let bits = |history: &[PastOrder]| taste_after(&request, kind, history).to_bits();
        let history = [
            past("cancelled", kind),
            past("no_show", kind),
            past("completed", "spaceship"),
            past_order("completed", "{}"),
            past_order("completed", r#"{"provider_type":7}"#),
        ];
        assert_eq!(bits(&history), bits(&[]), "{kind}");
    }
}

#[test]
fn a_mobile_provider_still_serves_nobody_who_wants_none_at_the_door() {
    let mut request = request(&json!({}));
    let mobile = "doorstep_mobile";
    let often = vec![past("completed", mobile); 20];
    request["service_preferences"]["doorstep_acceptable"] = json!(true);
    assert!(taste_after(&request, mobile, &often) > taste_after(&request, mobile, &[]));
    request["service_preferences"]["doorstep_acceptable"] = json!(false);
    assert_eq!(taste_after(&request, mobile, &often).to_bits(), taste_after(&request, mobile, &[]).to_bits());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// One more order of a kind never lowers the kind's slots, wherever in the history it stands.
    #[test]
    fn one_more_order_of_a_kind_never_lowers_it(
        history in prop::collection::vec((prop::sample::select(vec!["completed", "no_show"]), 0_usize..4), 0..20),
        kind in 0_usize..4,
        at in any::<prop::sample::Index>(),
    ) {
        let request = request(&json!({}));
        let mut history: Vec<PastOrder> = history.iter().map(|(status, kind)| past(status, KINDS[*kind])).collect();
        let before = taste_after(&request, KINDS[kind], &history);
        history.insert(at.index(history.len() + 1), past("completed", KINDS[kind]));
        let after = taste_after(&request, KINDS[kind], &history);
        prop_assert!(before <= after && (0.0..=1.0).contains(&after), "{before} {after}");
        history.reverse();
        prop_assert_eq!(taste_after(&request, KINDS[kind], &history).to_bits(), after.to_bits());
    }
}
