//! One test per rule on the answers of the tools that are not a search, and on completion reports.

#[expect(dead_code, reason = "each test binary uses a part of the shared calls")]
mod common;

use common::{bundle, pair, quote, with};
use contract_sdk::bindings::{CheckedResponse, Context, Refusal, Subject};
use contract_sdk::example;
use contract_sdk::sample;
use contract_sdk::testing::{
    Pairs, assert_refused, check_completion, check_request_about, check_response, context, pairs,
};
use finance_buy_motor_insurance::MotorInsurance;
use serde_json::{Value, json};

fn kyc() -> Value {
    sample!("kyc")
}

fn policy() -> Value {
    sample!("policy")
}

/// A bundle as [`bundle`] quotes it.
fn bundle_policy() -> Value {
    with(
        policy(),
        &[
            ("/policy_type", json!("long_term_tp_bundle")),
            ("/product_uin", json!("EXMOT0201V01202526")),
            ("/long_term_tp_end_date", json!("2029-05-10")),
            ("/total_paid_inr", json!(34_031)),
        ],
    )
}

fn inspection() -> Value {
    sample!("inspection")
}

fn cancellation() -> Value {
    sample!("cancellation")
}

fn report() -> Value {
    sample!("report")
}

fn confirm(result: &Value, quoted: Option<&Value>) -> Result<CheckedResponse, Refusal> {
    check_response::<MotorInsurance>("confirm_quote_and_kyc", &sample!("confirm-arguments"), result, quoted)
}

fn issue(policy: &Value, quoted: Option<&Value>) -> Result<CheckedResponse, Refusal> {
    check_response::<MotorInsurance>("issue_policy", &sample!("issue-arguments"), policy, quoted)
}

fn inspect(result: &Value) -> Result<CheckedResponse, Refusal> {
    check_response::<MotorInsurance>("schedule_inspection", &sample!("inspection-arguments"), result, None)
}

fn cancel(arguments: &Value, result: &Value) -> Result<CheckedResponse, Refusal> {
    check_response::<MotorInsurance>("cancel_or_freelook", arguments, result, None)
}

/// Expects a partner failure for exactly one breach.
fn refuses(found: Result<CheckedResponse, Refusal>, pointer: &str, code: &str) {
    assert_refused(found, "INTERNAL_ERROR", &[(pointer, code)]);
}

fn findings_of(passed: Result<CheckedResponse, Refusal>) -> Pairs {
    pairs(&passed.unwrap().findings)
}

#[test]
fn locking_a_quote() {
    let passed = confirm(&kyc(), Some(&quote())).unwrap();
    assert_eq!(
        (passed.reference.as_deref(), passed.advisory, passed.findings.len()),
        (Some("kyc_4c56ff4ce4aa"), None, 0)
    );
    refuses(confirm(&with(kyc(), &[("/quote_id", json!("other"))]), None), "/quote_id", "UNEXPECTED_VALUE");
    let inspected = with(quote(), &[("/inspection_required", json!(true))]);
    assert_eq!(confirm(&kyc(), Some(&inspected)).unwrap().advisory.as_deref(), Some("INSPECTION_REQUIRED"));
    for status in ["verified_aadhaar", "verified_pan", "verified_dl", "pending_manual", "failed"] {
        assert!(confirm(&with(kyc(), &[("/kyc_status", json!(status))]), None).is_ok());
    }
}

#[test]
fn issuing_a_policy_as_quoted() {
    for (policy, quote) in [(policy(), quote()), (bundle_policy(), bundle())] {
        let passed = issue(&policy, Some(&quote)).unwrap();
        assert_eq!(passed.reference.as_deref(), Some("pol_8f53295a73878494"));
        assert_eq!((passed.advisory, passed.findings), (None, vec![]));
        assert_eq!(findings_of(issue(&policy, None)), vec![]);
    }
}

#[test]
fn what_was_issued_is_compared_with_the_quote() {
    for (pointer, value, code) in [
        ("/insurer_id", json!("ins_other"), "INSURER_CHANGED"),
        ("/product_uin", json!("EX-OTHER"), "PRODUCT_CHANGED"),
        ("/policy_type", json!("own_damage_only"), "POLICY_TYPE_CHANGED"),
        ("/total_paid_inr", json!(14_016), "PREMIUM_CHANGED"),
        ("/total_paid_inr", json!(14_012), "PREMIUM_CHANGED"),
        ("/emergency_assistance_phone", Value::Null, "ASSISTANCE_PHONE_MISSING"),
    ] {
        let changed = with(policy(), &[(pointer, value)]);
        assert_eq!(findings_of(issue(&changed, Some(&quote()))), pair(pointer, code));
        assert_eq!(findings_of(issue(&changed, None)), vec![]);
    }
    assert_eq!(findings_of(issue(&with(policy(), &[("/total_paid_inr", json!(14_015))]), Some(&quote()))), vec![]);
    let unassisted = with(quote(), &[("/addons_included/1/code", json!("passenger_cover"))]);
    let no_phone = with(policy(), &[("/emergency_assistance_phone", Value::Null)]);
    assert_eq!(findings_of(issue(&no_phone, Some(&unassisted))), vec![]);
    assert_eq!(findings_of(issue(&policy(), Some(&json!({})))), pair("", "QUOTE_UNREADABLE"));
}

#[test]
fn the_dates_of_a_policy() {
    for end in ["2026-05-11", "2026-05-10"] {
        refuses(issue(&with(policy(), &[("/policy_end_date", json!(end))]), None), "/policy_end_date", "DATE_ORDER");
    }
    let at = "/long_term_tp_end_date";
    let missing = with(bundle_policy(), &[(at, Value::Null)]);
    refuses(issue(&missing, None), at, "LONG_TERM_TP_END_MISSING");
    let unnamed = with(missing, &[("/policy_type", json!("comprehensive"))]);
    assert!(issue(&unnamed, None).is_ok());
    refuses(issue(&unnamed, Some(&bundle())), at, "LONG_TERM_TP_END_MISSING");
    refuses(issue(&with(bundle_policy(), &[(at, json!("2026-05-11"))]), None), at, "DATE_ORDER");
    let five_years = with(bundle_policy(), &[(at, json!("2031-05-10"))]);
    assert_eq!(findings_of(issue(&five_years, None)), vec![]);
    assert_eq!(findings_of(issue(&five_years, Some(&bundle()))), pair(at, "LONG_TERM_TP_END_MISMATCH"));
    let two_years = with(bundle_policy(), &[(at, json!("2028-05-10"))]);
    assert_eq!(findings_of(issue(&two_years, None)), pair(at, "LONG_TERM_TP_END_MISMATCH"));
    let unasked = with(policy(), &[(at, json!("2029-05-10"))]);
    assert_eq!(findings_of(issue(&unasked, Some(&quote()))), pair(at, "LONG_TERM_TP_END_MISMATCH"));
}

#[test]
fn the_free_look_window_is_not_cut_short() {
    let ends = |day: &str| issue(&with(policy(), &[("/freelook_ends_at", json!(day))]), None);
    for day in ["2026-05-25", "2026-05-26", "2026-06-30"] {
        assert_eq!(findings_of(ends(day)), vec![]);
    }
    assert_eq!(findings_of(ends("2026-05-24")), pair("/freelook_ends_at", "FREELOOK_CUT_SHORT"));
}

#[test]
fn inspections() {
    let passed = inspect(&inspection()).unwrap();
    assert_eq!((passed.reference.as_deref(), passed.findings.len()), (Some("insp_d9d4f495e875"), 0));
    refuses(inspect(&with(inspection(), &[("/quote_id", json!("other"))])), "/quote_id", "UNEXPECTED_VALUE");
    let at = "/expected_completion_at";
    refuses(inspect(&with(inspection(), &[(at, json!("2026-05-09T09:59:59+05:30"))])), at, "DATE_ORDER");
    let place = |mode: &str, address: Value, garage: Value| {
        let location = json!({"mode": mode, "address": address, "garage_name": garage});
        findings_of(inspect(&with(inspection(), &[("/location", location)])))
    };
    let missing = |member: &str| pair(&format!("/location/{member}"), "INSPECTION_PLACE_MISSING");
    assert_eq!(place("self_video", Value::Null, Value::Null), vec![]);
    assert_eq!(place("in_person_garage", Value::Null, json!("Example Garage")), vec![]);
    assert_eq!(place("in_person_garage", json!("1 Example Road"), Value::Null), missing("garage_name"));
    assert_eq!(place("surveyor_home_visit", Value::Null, json!("Example Garage")), missing("address"));
}

#[test]
fn giving_a_policy_back() {
    let arguments = sample!("cancel-arguments");
    let passed = cancel(&arguments, &cancellation()).unwrap();
    assert_eq!((passed.reference.as_deref(), passed.advisory), (Some("pol_8f53295a73878494"), None));
    let other = with(cancellation(), &[("/policy_id", json!("other"))]);
    refuses(cancel(&arguments, &other), "/policy_id", "UNEXPECTED_VALUE");
    let at = |instant: &str, free: bool| {
        with(cancellation(), &[("/cancelled_at", json!(instant)), ("/is_freelook_cancellation", json!(free))])
    };
    // The last day of the window is counted where the instant was written.
    assert!(cancel(&arguments, &at("2026-05-26T23:59:59+05:30", true)).is_ok());
    let late = at("2026-05-27T00:00:00+05:30", true);
    let refusal = cancel(&arguments, &late).unwrap_err();
    let code = "FREELOOK_WINDOW_EXPIRED";
    assert_eq!((refusal.code.as_str(), pairs(&refusal.violations)), (code, pair("/is_freelook_cancellation", code)));
    assert!(cancel(&arguments, &at("2026-05-27T00:00:00+05:30", false)).is_ok());
    let mut unstated = arguments;
    unstated.as_object_mut().unwrap().remove("freelook_ends_at");
    assert!(cancel(&unstated, &late).is_ok());
}

#[test]
fn a_vehicle_is_inspected_before_its_policy_is_issued() {
    let issue = |required: bool, kept: Option<Value>| {
        let quoted = with(quote(), &[("/inspection_required", json!(required))]).to_string();
        let order = kept.map(|kept| example::order("kyc_verified", kept.to_string(), &[]));
        let about = Subject { quoted: Some(quoted), order };
        check_request_about::<MotorInsurance>(&context(), "issue_policy", &sample!("issue-arguments"), &about)
    };
    assert_refused(issue(true, Some(json!({}))), "INVALID_REQUEST", &[("/quote_id", "INSPECTION_MISSING")]);
    assert!(issue(true, Some(json!({"inspection_id": "insp_1"}))).is_ok());
    assert!(issue(false, Some(json!({}))).is_ok());
    assert!(issue(true, None).is_ok());
}

#[test]
fn the_free_look_window_is_that_of_the_order() {
    const DAY_MS: u64 = 24 * 60 * 60 * 1000;
    // Half past five in the morning in India.
    let issued_at = 20_000 * DAY_MS;
    let cancel = |state: &str, day: u64| {
        let kept = json!({"freelook_period_days": 15}).to_string();
        let order = Some(example::order(state, kept, &[("issue_policy", issued_at)]));
        let context = Context { now_ms: issued_at + day * DAY_MS, ..context() };
        let about = Subject { quoted: None, order };
        check_request_about::<MotorInsurance>(&context, "cancel_or_freelook", &sample!("cancel-arguments"), &about)
    };
    let code = "FREELOOK_WINDOW_EXPIRED";
    assert!(cancel("issued", 15).is_ok());
    assert_refused(cancel("issued", 16), code, &[("/policy_id", code)]);
    assert!(cancel("kyc_verified", 16).is_ok());
}

#[test]
fn completion_reports() {
    let passed = check_completion::<MotorInsurance>(&report(), Some(&quote())).unwrap();
    assert_eq!((passed.amount_paise, passed.charged, passed.findings.len()), (178_140, true, 0));
    assert_eq!((passed.external_id.as_str(), passed.status.as_str()), ("pol_8f53295a73878494", "completed"));
    let found = |changes: &[(&str, Value)], quoted: Option<&Value>| {
        pairs(&check_completion::<MotorInsurance>(&with(report(), changes), quoted).unwrap().findings)
    };
    for (pointer, value, code) in [
        ("/insurer_id", json!("ins_other"), "INSURER_MISMATCH"),
        ("/product_uin", json!("EX-OTHER"), "PRODUCT_MISMATCH"),
        ("/policy_type", json!("third_party_only"), "POLICY_TYPE_MISMATCH"),
        ("/long_term_tp_years", json!(3), "LONG_TERM_TP_MISMATCH"),
        ("/addons_count", json!(1), "ADDONS_MISMATCH"),
    ] {
        assert_eq!(found(&[(pointer, value.clone())], Some(&quote())), pair(pointer, code));
        assert_eq!(found(&[(pointer, value)], None), vec![]);
    }
    for (pointer, value, code) in [
        ("/status", json!("issued"), "NOT_IN_VOCABULARY"),
        ("/intent", json!("auto.book_ac_service"), "UNEXPECTED_VALUE"),
        ("/amount_inr", json!(0.005), "BAD_FORMAT"),
    ] {
        let refused = check_completion::<MotorInsurance>(&with(report(), &[(pointer, value)]), None);
        assert_refused(refused, "INVALID_REQUEST", &[(pointer, code)]);
    }
}

#[test]
fn the_amount_is_the_commission_and_never_the_premium() {
    let (amount, passed) = ("/amount_inr", "/pass_through_inr");
    let found = |changes: &[(&str, Value)], quoted: Option<&Value>| {
        pairs(&check_completion::<MotorInsurance>(&with(report(), changes), quoted).unwrap().findings)
    };
    let premium = pair(amount, "PREMIUM_AS_AMOUNT");
    assert_eq!(found(&[(amount, json!(14_014))], Some(&quote())), premium);
    // The premium without tax is the premium as well.
    assert_eq!(found(&[(amount, json!(11_876))], Some(&quote())), premium);
    assert_eq!(found(&[(amount, json!(11_875.99))], Some(&quote())), vec![]);
    // Without a quote, what was passed through tells.
    assert_eq!(found(&[(amount, json!(14_014))], None), premium);
    assert_eq!(found(&[(amount, json!(9000)), (passed, json!(9000))], None), premium);
    assert_eq!(found(&[(amount, json!(9000)), (passed, json!(0))], None), vec![]);
    let mismatch = pair(passed, "PASS_THROUGH_MISMATCH");
    // From the premium without tax to all that the user pays.
    for sound in [json!(14_015), json!(14_014), json!(11_876), json!(11_875)] {
        assert_eq!(found(&[(passed, sound)], Some(&quote())), vec![]);
    }
    for odd in [json!(14_015.01), json!(11_874.99), json!(0)] {
        assert_eq!(found(&[(passed, odd)], Some(&quote())), mismatch);
    }
    // A bundle's later years may be left out: 34031 less 5191 of tax and 7224 for the later years.
    let of_bundle = [
        ("/product_uin", json!("EXMOT0201V01202526")),
        ("/policy_type", json!("long_term_tp_bundle")),
        ("/long_term_tp_years", json!(3)),
    ];
    for (paid, sound) in [(34_031, true), (21_616, true), (21_614, false)] {
        let mut changes = of_bundle.to_vec();
        changes.push((passed, json!(paid)));
        assert_eq!(found(&changes, Some(&bundle())), if sound { vec![] } else { mismatch.clone() });
    }
}
