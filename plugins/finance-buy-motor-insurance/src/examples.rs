//! The cases that must hold before a version goes live: at least one accepted and one refused per function.
//!
//! They hold under any weights of the axes, so that a variant with another ranking keeps them: where an order is
//! expected, the first quote is at least as good on every axis.

use contract_sdk::bindings::Example;
use contract_sdk::example::{self, with};
use contract_sdk::{sample, sample_text};
use serde_json::{Value, json};

pub(crate) fn examples() -> Vec<Example> {
    [classification(), requests(), searches(), answers(), reports()].into_iter().flatten().collect()
}

fn classification() -> Vec<Example> {
    vec![
        example::classify("a car's insurance is this intent", "I want to buy car insurance").accepts(),
        example::classify("a life's insurance is not", "buy a term life insurance policy").refuses(&[]),
    ]
}

fn requests() -> Vec<Example> {
    let search = "search_motor_quotes";
    let broken =
        with(request(), &[("/vehicle/type", json!("bus")), ("/buyer_preferences/long_term_tp_years", json!(4))]);
    let electric = with(request(), &[("/vehicle/fuel_type", json!("electric"))]);
    let uninvoiced = with(new_request(), &[("/vehicle/invoice_value_inr", Value::Null)]);
    let unbundled = with(new_request(), &[("/buyer_preferences/long_term_tp_years", json!(0))]);
    vec![
        example::request("a sound request passes", search, request().to_string()).accepts(),
        example::request("a new car passes", search, new_request().to_string()).accepts(),
        example::request("every violation is told", search, broken.to_string()).refuses(&["NOT_IN_VOCABULARY"]),
        example::request("an electric car needs its power", search, electric.to_string()).refuses(&["EV_KW_MISSING"]),
        example::request("a new car needs its invoice", search, uninvoiced.to_string())
            .refuses(&["INVOICE_VALUE_INVALID"]),
        example::request("a new car needs three years", search, unbundled.to_string())
            .refuses(&["LONG_TERM_TP_REQUIRED"]),
        example::request("a quote can be locked", CONFIRM, CONFIRM_ARGUMENTS).accepts(),
        example::request("a policy can be issued", ISSUE, ISSUE_ARGUMENTS).accepts(),
        example::request("an inspection can be booked", INSPECT, INSPECT_ARGUMENTS).accepts(),
        example::request("a policy can be given back", CANCEL, CANCEL_ARGUMENTS).accepts(),
        example::request("an inspection comes before the policy", ISSUE, ISSUE_ARGUMENTS)
            .quoting(quote("quote_1f0e3dad99908345_01", &[("/inspection_required", json!(true))]))
            .in_order(example::order("kyc_verified", r#"{"kyc_id":"kyc_4c56ff4ce4aa"}"#, &[]))
            .refuses(&["INSPECTION_MISSING"]),
        example::request("the free-look window of an order ends", CANCEL, CANCEL_ARGUMENTS)
            .in_order(example::order(
                "issued",
                r#"{"freelook_period_days":15,"freelook_ends_at":"2025-12-31"}"#,
                &[("issue_policy", example::NOW_MS - 16 * 24 * 60 * 60 * 1000)],
            ))
            .refuses(&["FREELOOK_WINDOW_EXPIRED"]),
        example::request("issuing asks for a quote", ISSUE, r#"{"request_id":"r"}"#).refuses(&["REQUIRED"]),
    ]
}

fn searches() -> Vec<Example> {
    let best = quote("best", &[]);
    let worse = quote(
        "worse",
        &[
            ("/estimated_issuance_minutes", json!(600)),
            ("/cashless_garage_count_in_city", json!(40)),
            ("/premium_breakdown/other_discount_inr", json!(400)),
            ("/premium_breakdown/total_payable_inr", json!(14114)),
            ("/insurer/claim_settlement_ratio_pct", json!(92)),
        ],
    );
    let insurer = |id: &str, number: &str| {
        let changes = [("/insurer/insurer_id", json!(id)), ("/insurer/irdai_registration_number", json!(number))];
        quote(id, &changes)
    };
    let floor = "/premium_breakdown/third_party_premium_inr";
    let below = quote("below", &[(floor, json!(3415)), ("/premium_breakdown/total_payable_inr", json!(14013))]);
    let bonus = quote("bonus", &[("/ncb_applied_pct", json!(26))]);
    let slow = quote("slow", &[("/insurer/claim_settlement_ratio_pct", json!(91.9))]);
    let odd_sum = quote("odd", &[("/premium_breakdown/total_payable_inr", json!(14100))]);
    let claimed = with(request(), &[("/previous_policy/claims_filed_last_year", json!(1))]);
    let short = with(new_quote(), &[("/premium_breakdown/long_term_tp_premium_inr", json!(7223))]);
    vec![
        example::search("the better quote comes first", request().to_string(), [worse, best.clone()])
            .ranks(&["best", "worse"], &[]),
        example::search(
            "the insurer of before comes first",
            request().to_string(),
            [insurer("new", "IRDAI-EX-1"), insurer("known", "IRDAI-EX-2")],
        )
        .after([example::past_order("completed", r#"{"insurer_registration_number":"IRDAI-EX-2"}"#)])
        .ranks(&["known", "new"], &[]),
        example::search(
            "below the tariff, too large a bonus, too few claims settled",
            request().to_string(),
            [best.clone(), below, bonus, slow],
        )
        .ranks(&["best"], &["TP_BELOW_FLOOR", "NCB_ABOVE_CARRY_FORWARD", "RATIO_BELOW_FLOOR"]),
        example::search("after a claim: no bonus, and an inspection", claimed.to_string(), [best])
            .accepts_with(&["NCB_NOT_EARNED", "INSPECTION_OMITTED"]),
        example::search("a bundle is held to the bundle's rate", new_request().to_string(), [short.to_string()])
            .accepts_with(&["TP_BELOW_FLOOR"]),
        example::search("a premium that does not add up is a finding", request().to_string(), [odd_sum])
            .ranks(&["odd"], &["PREMIUM_SUM"]),
        example::search(
            "a broken quote says all that is broken",
            request().to_string(),
            [r#"{"quote_id":"half","insurer":{}}"#.to_owned()],
        )
        .accepts_with(&["REQUIRED"]),
        example::search("a request that is none", "{}", []).refuses(&["REQUIRED"]),
    ]
}

fn answers() -> Vec<Example> {
    let quoted = || Some(quote("quote_1f0e3dad99908345_01", &[]));
    let kyc = sample!("kyc");
    let policy = sample!("policy");
    let inspection = sample!("inspection");
    let cancellation = sample!("cancellation");
    let other_quote = with(kyc.clone(), &[("/quote_id", json!("another"))]);
    let dearer = with(policy.clone(), &[("/total_paid_inr", json!(15_000))]);
    let unbounded = with(policy.clone(), &[("/policy_type", json!("long_term_tp_bundle"))]);
    let late = with(cancellation.clone(), &[("/cancelled_at", json!("2026-05-27T00:10:00+05:30"))]);
    vec![
        example::exchange("a locked quote", CONFIRM, CONFIRM_ARGUMENTS, kyc.to_string(), quoted()).accepts(),
        example::exchange("another quote than asked for", CONFIRM, CONFIRM_ARGUMENTS, other_quote.to_string(), None)
            .refuses(&["UNEXPECTED_VALUE"]),
        example::exchange("a policy as quoted", ISSUE, ISSUE_ARGUMENTS, policy.to_string(), quoted()).accepts(),
        example::exchange("a dearer policy is a finding", ISSUE, ISSUE_ARGUMENTS, dearer.to_string(), quoted())
            .accepts_with(&["PREMIUM_CHANGED"]),
        example::exchange("a bundle has an end", ISSUE, ISSUE_ARGUMENTS, unbounded.to_string(), None)
            .refuses(&["LONG_TERM_TP_END_MISSING"]),
        example::exchange("a visit at home", INSPECT, INSPECT_ARGUMENTS, inspection.to_string(), quoted()).accepts(),
        example::exchange("a free-look cancellation", CANCEL, CANCEL_ARGUMENTS, cancellation.to_string(), None)
            .accepts(),
        example::exchange("the free-look window ends", CANCEL, CANCEL_ARGUMENTS, late.to_string(), None)
            .refuses(&["FREELOOK_WINDOW_EXPIRED"]),
    ]
}

fn reports() -> Vec<Example> {
    let quoted = || Some(quote("quote_1f0e3dad99908345_01", &[]));
    let report = sample!("report");
    let premium = with(report.clone(), &[("/amount_inr", json!(14_014))]);
    let other = with(report.clone(), &[("/addons_count", json!(3)), ("/product_uin", json!("EX-OTHER"))]);
    let broken = with(report.clone(), &[("/amount_inr", json!(10.005)), ("/policy_type", Value::Null)]);
    vec![
        example::completion("a sound report", report.to_string(), quoted()).accepts(),
        example::completion("the premium reported as the amount is a finding", premium.to_string(), quoted())
            .accepts_with(&["PREMIUM_AS_AMOUNT"]),
        example::completion("another product than quoted is a finding", other.to_string(), quoted())
            .accepts_with(&["PRODUCT_MISMATCH", "ADDONS_MISMATCH"]),
        example::completion("finer than a paisa, no policy type", broken.to_string(), None)
            .refuses(&["BAD_FORMAT", "WRONG_TYPE"]),
    ]
}

const CONFIRM: &str = "confirm_quote_and_kyc";
const ISSUE: &str = "issue_policy";
const INSPECT: &str = "schedule_inspection";
const CANCEL: &str = "cancel_or_freelook";

const CONFIRM_ARGUMENTS: &str = sample_text!("confirm-arguments");
const ISSUE_ARGUMENTS: &str = sample_text!("issue-arguments");
const INSPECT_ARGUMENTS: &str = sample_text!("inspection-arguments");
const CANCEL_ARGUMENTS: &str = sample_text!("cancel-arguments");

/// A car whose owner switches insurers.
fn request() -> Value {
    sample!("request")
}

/// A car that was just bought.
fn new_request() -> Value {
    sample!("request-new")
}

/// A quote for [`request`].
fn quote(id: &str, changes: &[(&str, Value)]) -> String {
    let quote = with(sample!("quote"), &[("/quote_id", json!(id))]);
    with(quote, changes).to_string()
}

/// A quote for [`new_request`].
fn new_quote() -> Value {
    sample!("quote-bundle")
}
