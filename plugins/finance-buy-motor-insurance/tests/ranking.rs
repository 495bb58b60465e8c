//! Properties of the ranking.

#[expect(dead_code, reason = "each test binary uses a part of the shared calls")]
mod common;

use common::{quote, request, with};
use contract_sdk::bindings::{Axes, Evaluation, PastOrder};
use contract_sdk::example::past_order;
use contract_sdk::testing::evaluate_after;
use contract_sdk::testing::properties::{self, Improvement, ids, shift};
use finance_buy_motor_insurance::MotorInsurance;
use proptest::prelude::*;
use serde_json::{Value, json};

fn evaluate(request: &Value, payloads: &[Vec<Value>]) -> Evaluation {
    properties::evaluate::<MotorInsurance>(request, payloads)
}

/// Requests that differ in all that the ranking looks at.
fn requests() -> impl Strategy<Value = Value> {
    let bands = (
        prop::sample::select(vec!["fast", "balanced", "flexible", "odd"]),
        prop::sample::select(vec!["ok", "good", "great", "odd"]),
        prop::sample::select(vec!["fast", "balanced", "flexible", "good", "great"]),
    );
    let wishes = (
        prop::sample::select(vec![json!([]), json!(["Sahyadri"]), json!(["ins_konkan", "Vindhya General"])]),
        prop::sample::select(vec![json!([]), json!(["zero_dep"]), json!(["zero_dep", "consumables", "rsa_24x7"])]),
        any::<bool>(),
    );
    (bands, wishes).prop_map(|((time, budget, safety), (insurers, addons, instant))| {
        let changes = [
            ("/ttbs_user_band", json!({"time": time, "taste": "balanced", "budget": budget, "safety": safety})),
            ("/buyer_preferences/preferred_insurers", insurers),
            ("/buyer_preferences/addons_required", addons),
            ("/buyer_preferences/instant_issuance_required", json!(instant)),
        ];
        with(request(), &changes)
    })
}

/// A quote that passes every rule, with random signals.
fn random_quote(index: usize) -> impl Strategy<Value = Value> {
    let numbers = (3416_i64..60_000, 1_i64..=2880, 0_i64..900, 0_i64..900, 0_u32..=80, 0_u32..=600, 10_u32..=50);
    let flags = prop::array::uniform2(any::<bool>());
    let insurer = prop::sample::select(vec!["Sahyadri General", "Konkan Assurance", "Vindhya General Insurance"]);
    let addons = prop::sample::subsequence(vec!["zero_dep", "consumables", "rsa_24x7"], 0..=3);
    (numbers, flags, insurer, addons).prop_map(move |(numbers, [instant, inspected], insurer, addons)| {
        let (total, minutes, in_state, in_city, ratio, days, solvency) = numbers;
        let addons: Vec<Value> =
            addons.iter().map(|code| json!({"code": code, "label": "x", "premium_inr": 0})).collect();
        let changes = [
            ("/quote_id", json!(format!("quote-{index}"))),
            ("/insurer/name", json!(insurer)),
            ("/insurer/insurer_id", json!(format!("ins_{}", insurer.split(' ').next().unwrap().to_lowercase()))),
            ("/insurer/claim_settlement_ratio_pct", json!(92.0 + f64::from(ratio) / 10.0)),
            ("/insurer/motor_claim_settlement_days_avg", json!(f64::from(days) / 10.0)),
            ("/insurer/solvency_ratio", json!(f64::from(solvency) / 10.0)),
            ("/premium_breakdown", premium(total)),
            ("/ncb_applied_pct", json!(0)),
            ("/addons_included", json!(addons)),
            ("/cashless_garage_count_in_state", json!(in_state)),
            ("/cashless_garage_count_in_city", json!(in_city)),
            ("/inspection_required", json!(inspected)),
            ("/instant_issuance_possible", json!(instant)),
            ("/estimated_issuance_minutes", json!(minutes)),
        ];
        with(quote(), &changes)
    })
}

/// A premium of third-party cover and own damage that adds up to a total.
fn premium(total: i64) -> Value {
    json!({
        "own_damage_premium_inr": total - 3416, "third_party_premium_inr": 3416, "long_term_tp_premium_inr": 0,
        "addons_premium_inr": 0, "ncb_discount_inr": 0, "other_discount_inr": 0, "gst_inr": 0,
        "total_payable_inr": total,
    })
}

fn quotes() -> impl Strategy<Value = Vec<Value>> {
    let first = (random_quote(0), random_quote(1), random_quote(2), random_quote(3));
    let more = (random_quote(4), random_quote(5), random_quote(6), random_quote(7));
    (first, more, 2_usize..=8)
        .prop_map(|((a, b, c, d), (e, f, g, h), count)| [a, b, c, d, e, f, g, h].into_iter().take(count).collect())
}

/// Ways to make one signal of a quote better and leave the others as they are.
fn improvements() -> Vec<Improvement> {
    vec![
        ("instant issuance", |quote| quote["instant_issuance_possible"] = json!(true)),
        ("issued sooner", |quote| shift(quote, "/estimated_issuance_minutes", -500.0, 1.0, 2880.0)),
        ("no inspection", |quote| quote["inspection_required"] = json!(false)),
        ("a preferred insurer", |quote| quote["insurer"]["name"] = json!("Sahyadri Vindhya General")),
        ("more garages in the city", |quote| shift(quote, "/cashless_garage_count_in_city", 90.0, 0.0, 1e6)),
        ("more garages in the state", |quote| shift(quote, "/cashless_garage_count_in_state", 90.0, 0.0, 1e6)),
        ("the maker's brand", |quote| quote["insurer"]["product_name"] = json!("Hyundai Assure")),
        ("cheaper", |quote| {
            let total = quote["premium_breakdown"]["total_payable_inr"].as_i64().unwrap();
            quote["premium_breakdown"] = premium((total - 3000).max(3416));
        }),
        ("every addon", |quote| {
            let addon = |code: &str| json!({"code": code, "label": "x", "premium_inr": 0});
            quote["addons_included"] = json!([addon("zero_dep"), addon("consumables"), addon("rsa_24x7")]);
        }),
        ("more claims settled", |quote| shift(quote, "/insurer/claim_settlement_ratio_pct", 2.0, 0.0, 100.0)),
        ("settled sooner", |quote| shift(quote, "/insurer/motor_claim_settlement_days_avg", -7.0, 0.0, 1e6)),
        ("more solvent", |quote| shift(quote, "/insurer/solvency_ratio", 0.5, 1.0, 5.0)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_better_signal_never_lowers_the_rank(quotes in quotes(), request in requests(), which in any::<prop::sample::Index>()) {
        let which = which.index(quotes.len());
        properties::better_never_ranks_lower::<MotorInsurance>(&request, &quotes, which, &improvements())
            .map_err(TestCaseError::fail)?;
    }

    #[test]
    fn order_and_grouping_do_not_matter(quotes in quotes(), request in requests(), shuffle in any::<u64>(), split in 0_usize..9) {
        properties::order_and_grouping_do_not_matter::<MotorInsurance>(&request, &quotes, shuffle, split)
            .map_err(TestCaseError::fail)?;
    }

    #[test]
    fn scores_are_shares_and_the_same_twice(quotes in quotes(), request in requests()) {
        properties::scores_are_shares_and_the_same_twice::<MotorInsurance>(&request, &quotes).map_err(TestCaseError::fail)?;
    }

    /// Whatever else a quote offers, what a hard filter names does not pass.
    #[test]
    fn hard_filters_hold(quotes in quotes(), request in requests(), third_party in 0_i64..3416, ratio in 0_u32..920) {
        let ratio = f64::from(ratio) / 10.0;
        let safety = request["ttbs_user_band"]["safety"].as_str().unwrap();
        let floor = match safety { "fast" => 90.0, "flexible" => 0.0, _ => 92.0 };
        let mut broken = quotes.clone();
        broken[0]["premium_breakdown"]["third_party_premium_inr"] = json!(third_party);
        broken[1]["insurer"]["claim_settlement_ratio_pct"] = json!(ratio);
        let kept = ids(&evaluate(&request, &[broken]));
        prop_assert!(!kept.contains(&"quote-0".to_owned()));
        prop_assert_eq!(kept.contains(&"quote-1".to_owned()), ratio >= floor);
    }
}

#[test]
fn equal_options_are_ordered_by_the_request_alone() {
    properties::ties_do_not_follow_the_place::<MotorInsurance>(&request(), &quote()).unwrap();
}

/// The axes of the quotes with these changes, in their order.
fn axes(request: &Value, options: &[&[(&str, Value)]]) -> Vec<Axes> {
    let quotes: Vec<Value> = options
        .iter()
        .enumerate()
        .map(|(index, changes)| with(with(quote(), changes), &[("/quote_id", json!(index.to_string()))]))
        .collect();
    let found = evaluate(request, &[quotes]);
    let of = |index: usize| found.ranked.iter().find(|option| option.id == index.to_string()).unwrap().axes;
    (0..options.len()).map(of).collect()
}

/// What the declared signals leave of a difference: 1 less the declared share.
const RULES_SHARE: f64 = 0.8;

fn near(found: f64, expected: f64) {
    assert!((found - expected * RULES_SHARE).abs() < 1e-9, "{found} {}", expected * RULES_SHARE);
}

/// The weights of the spec, seen in what one signal from worst to best does to its axis.
#[test]
fn signals_weigh_what_the_spec_says() {
    let two = |request: &Value, worst: &[(&str, Value)], best: &[(&str, Value)]| {
        let found = axes(request, &[worst, best]);
        (found[0], found[1])
    };
    let gap = |at: &str, worst: Value, best: Value, pick: fn(&Axes) -> f64| {
        let (worst, best) = two(&request(), &[(at, worst)], &[(at, best)]);
        pick(&best) - pick(&worst)
    };
    near(gap("/instant_issuance_possible", json!(false), json!(true), |axes| axes.time), 0.50);
    near(gap("/estimated_issuance_minutes", json!(2880), json!(1), |axes| axes.time), 0.30);
    near(gap("/inspection_required", json!(true), json!(false), |axes| axes.time), 0.20);
    near(gap("/insurer/name", json!("Other"), json!("Sahyadri General"), |axes| axes.taste), 0.40);
    near(gap("/cashless_garage_count_in_city", json!(1), json!(2), |axes| axes.taste), 0.20);
    near(gap("/insurer/product_name", json!("Any"), json!("Hyundai Any"), |axes| axes.taste), 0.15);
    near(gap("/premium_breakdown/total_payable_inr", json!(14_015), json!(14_014), |axes| axes.budget), 0.75);
    near(gap("/addons_included/0/code", json!("consumables"), json!("zero_dep"), |axes| axes.budget), 0.125);
    near(gap("/insurer/claim_settlement_ratio_pct", json!(95), json!(100), |axes| axes.safety), 0.30 / 4.0);
    near(gap("/insurer/motor_claim_settlement_days_avg", json!(21), json!(0), |axes| axes.safety), 0.25 / 2.0);
    near(gap("/insurer/solvency_ratio", json!(1), json!(5), |axes| axes.safety), 0.20);
    near(gap("/cashless_garage_count_in_state", json!(1), json!(2), |axes| axes.safety), 0.15);
}

#[test]
fn bands_and_wishes_prefer_what_the_spec_says() {
    let band = |safety: &str| with(request(), &[("/ttbs_user_band/safety", json!(safety))]);
    let (ratio, days) = ("/insurer/claim_settlement_ratio_pct", "/insurer/motor_claim_settlement_days_avg");
    let both = [(ratio, json!(95)), (days, json!(21))];
    let slow = [(ratio, json!(95)), (days, json!(21.1))];
    let few = [(ratio, json!(94.9)), (days, json!(21))];
    let found = axes(&band("great"), &[&both, &slow, &few]);
    assert!(found[0].safety - found[1].safety > 0.3 && found[0].safety - found[2].safety > 0.3, "{found:?}");
    let found = axes(&band("good"), &[&both, &slow, &few]);
    assert!(found[0].safety - found[1].safety < 0.01, "{found:?}");

    // The spec states one weight of instant issuance, whether it is required or not.
    let instant = "/instant_issuance_possible";
    for required in [true, false] {
        let request = with(request(), &[("/buyer_preferences/instant_issuance_required", json!(required))]);
        let found = axes(&request, &[&[(instant, json!(false))], &[(instant, json!(true))]]);
        near(found[1].time - found[0].time, 0.50);
    }

    // Who names no insurer and no addon is not served better by one than by another.
    let open = with(
        request(),
        &[("/buyer_preferences/preferred_insurers", json!([])), ("/buyer_preferences/addons_required", json!([]))],
    );
    let other = [("/insurer/name", json!("Other")), ("/addons_included/0/code", json!("consumables"))];
    let found = axes(&open, &[&[], &other]);
    assert_eq!((found[0].taste, found[0].budget), (found[1].taste, found[1].budget));
    // An insurer may be preferred by its identifier.
    let by_id = with(request(), &[("/buyer_preferences/preferred_insurers", json!(["ins_sahyadri"]))]);
    let found = axes(&by_id, &[&[], &[("/insurer/insurer_id", json!("ins_other"))]]);
    near(found[0].taste - found[1].taste, 0.40);
}

/// Cheaper comes first where all else is equal, whatever the budget band.
#[test]
fn cheaper_comes_first() {
    for budget in ["ok", "good", "great", "odd"] {
        let request = with(request(), &[("/ttbs_user_band/budget", json!(budget))]);
        let cheap = with(quote(), &[("/quote_id", json!("cheap")), ("/premium_breakdown", premium(9000))]);
        let dear = with(quote(), &[("/quote_id", json!("dear")), ("/premium_breakdown", premium(9100))]);
        assert_eq!(ids(&evaluate(&request, &[vec![dear, cheap]])), ["cheap", "dear"]);
    }
}

#[test]
fn the_card_is_mapped_as_the_spec_says() {
    let card = |quote: Value, request: &Value| -> Value {
        let found = evaluate(request, &[vec![quote]]);
        serde_json::from_str(&found.ranked[0].card).unwrap()
    };
    assert_eq!(
        card(quote(), &request()),
        json!({
            "header": "Sahyadri General Insurance", "subhead": "Sahyadri Motor Secure",
            "dual_pill": ["96.4 % of claims settled", "in 18.5 days"],
            "price": {"amount_inr": 14014, "currency": "INR"}, "pill": "IDV 620000 INR", "badge": null,
            "addon_count": 2, "cashless_garages_in_city": 148, "instant_badge": "Instant issuance",
            "wording_link": "https://partner.example/motor/wordings/EXMOT0101V01202526.pdf",
        })
    );
    let slow = with(common::bundle(), &[("/instant_issuance_possible", json!(false))]);
    let card = card(slow, &common::new_request());
    assert_eq!((&card["badge"], &card["instant_badge"]), (&json!("3-year third-party cover"), &Value::Null));
}

/// An order that a report of this status has closed, with this insurer.
fn past(status: &str, id: &str, registration: &str) -> PastOrder {
    let attributes = json!({"insurer_id": id, "insurer_registration_number": registration});
    past_order(status, attributes.to_string())
}

/// The taste of the sample's quote, of insurer `ins_sahyadri` with the number `IRDAI-EX-101`.
fn taste_after(history: &[PastOrder]) -> f64 {
    evaluate_after::<MotorInsurance>(&request(), &[quote()], history).ranked[0].axes.taste
}

#[test]
fn an_insurer_is_the_more_familiar_the_more_policies_there_were() {
    let neutral = taste_after(&[]);
    // A quarter of the rules' share of taste, which is four fifths of it.
    let signal = |history: &[PastOrder]| (taste_after(history) - neutral) / 0.2 + 0.5;
    let same = past("completed", "ins_sahyadri", "IRDAI-EX-101");
    for (policies, score) in [(0, 0.5), (1, 0.75), (2, 5.0 / 6.0), (4, 0.9), (20, 1.0 - 0.5 / 21.0)] {
        let found = signal(&vec![same.clone(); policies]);
        assert!((found - score).abs() < 1e-9, "{policies}: {found}, not {score}");
    }
    // Two partners may call one insurer differently; the regulator does not.
    for other_name in [past("completed", "sg-7", "IRDAI-EX-101"), past("completed", "ins_sahyadri", "EX/101")] {
        assert!((signal(&[other_name]) - 0.75).abs() < 1e-9);
    }
}

#[test]
fn past_orders_that_tell_nothing_change_no_bit() {
    let history = [
        past("cancelled", "ins_sahyadri", "IRDAI-EX-101"),
        past("completed", "ins_other", "IRDAI-EX-102"),
        past_order("completed", "{}"),
        past_order("completed", r#"{"insurer_id":7,"insurer_registration_number":null}"#),
    ];
    assert_eq!(taste_after(&history).to_bits(), taste_after(&[]).to_bits());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// One more policy never lowers its insurer, wherever in the history it stands, and leaves every other as it was.
    #[test]
    fn one_more_policy_never_lowers_its_insurer(
        history in prop::collection::vec((prop::sample::select(vec!["completed", "cancelled"]), any::<bool>()), 0..20),
        same in any::<bool>(),
        at in any::<prop::sample::Index>(),
    ) {
        let of = |status: &str, same: bool| match same {
            true => past(status, "ins_sahyadri", "IRDAI-EX-101"),
            false => past(status, "ins_other", "IRDAI-EX-102"),
        };
        let mut history: Vec<PastOrder> = history.iter().map(|(status, same)| of(status, *same)).collect();
        let before = taste_after(&history);
        history.insert(at.index(history.len() + 1), of("completed", same));
        let after = taste_after(&history);
        prop_assert!((0.0..=1.0).contains(&after));
        prop_assert!(if same { after > before } else { after.to_bits() == before.to_bits() }, "{} {}", before, after);
    }
}
