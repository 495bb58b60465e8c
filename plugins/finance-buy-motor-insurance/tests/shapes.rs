//! Every field and bound of every shape, broken one at a time; and the contract as a whole.
//!
//! The cases are made from the shapes' own field lists, so a new field is tested as soon as it is declared.

use contract_sdk::bindings::{RequestTest, Requirement, RequirementCheck};
use contract_sdk::shape::{Described, ValueDesc, read_document};
use contract_sdk::testing::{assert_bounds, problems};
use contract_sdk::{Report, assert_shape, docs, engine, sample, schema};
use finance_buy_motor_insurance::MotorInsurance;
use finance_buy_motor_insurance::cancellation::{CancelArguments, CancellationResult};
use finance_buy_motor_insurance::completion::MotorInsuranceReport;
use finance_buy_motor_insurance::inspection::{InspectionArguments, InspectionResult};
use finance_buy_motor_insurance::issuance::{IssueArguments, IssuedPolicy};
use finance_buy_motor_insurance::kyc::{ConfirmArguments, KycResult};
use finance_buy_motor_insurance::quote::MotorQuote;
use finance_buy_motor_insurance::request::MotorInsuranceRequest;
use serde_json::{Value, json};

#[test]
fn the_contract_is_consistent() {
    assert_eq!(problems::<MotorInsurance>(), Vec::<String>::new());
}

#[test]
fn every_field_of_the_request() {
    for sound in [sample!("request"), sample!("request-new")] {
        let tried = assert_shape!(MotorInsuranceRequest, &sound);
        assert!(tried > 350, "{tried}");
    }
}

#[test]
fn every_field_of_a_quote() {
    for sound in [sample!("quote"), sample!("quote-bundle")] {
        let tried = assert_shape!(MotorQuote, &sound);
        assert!(tried > 350, "{tried}");
    }
}

#[test]
fn every_quote_of_the_payload_is_sound() {
    let payload = sample!("payload");
    let quotes = payload["quotes"].as_array().unwrap();
    assert_eq!(quotes.len(), 15);
    for quote in quotes {
        assert_eq!(read_document::<MotorQuote>(&quote.to_string()).map(drop), Ok(()));
    }
}

#[test]
fn every_field_of_the_other_tools() {
    assert_shape!(ConfirmArguments, &sample!("confirm-arguments"));
    assert_shape!(KycResult, &sample!("kyc"));
    assert_shape!(IssueArguments, &sample!("issue-arguments"));
    assert_shape!(IssuedPolicy, &sample!("policy"));
    assert_shape!(InspectionArguments, &sample!("inspection-arguments"));
    assert_shape!(InspectionResult, &sample!("inspection"));
    assert_shape!(CancelArguments, &sample!("cancel-arguments"));
    assert_shape!(CancellationResult, &sample!("cancellation"));
}

#[test]
fn every_field_of_a_report() {
    type MotorReport<'a> = Report<'a, MotorInsuranceReport<'a>>;
    assert_shape!(MotorReport, &sample!("report"));
}

/// Which members of the request must be there (spec 2): those that its table marks, and their blocks.
#[test]
fn the_request_requires_what_the_spec_marks() {
    let schema = schema::of(&MotorInsuranceRequest::DESC);
    let required = |pointer: &str| schema.pointer(&format!("{pointer}/required")).unwrap().clone();
    assert_eq!(required(""), json!(["intent", "purchase_context", "vehicle", "previous_policy", "buyer_preferences"]));
    assert_eq!(
        required("/properties/vehicle"),
        json!(["type", "fuel_type", "kw_rating", "battery_kwh", "registration_state", "invoice_value_inr"])
    );
    assert_eq!(required("/properties/previous_policy"), json!(["has_prior_policy"]));
    assert_eq!(
        required("/properties/buyer_preferences"),
        json!(["target_policy_type", "addons_required", "long_term_tp_years"])
    );
    for member in ["kw_rating", "battery_kwh", "invoice_value_inr", "carrying_capacity_tonnes"] {
        let kind = &schema["properties"]["vehicle"]["properties"][member]["type"];
        assert_eq!(kind[1], json!("null"), "{member}");
    }
}

/// Every field of every response is required (spec 2).
#[test]
fn responses_require_every_field() {
    fn all_required(desc: &ValueDesc) {
        let rows = docs::rows(desc);
        assert!(rows.iter().all(|row| row.required), "{:?}", rows.iter().find(|row| !row.required).map(|r| &r.pointer));
    }
    all_required(&MotorQuote::DESC);
    all_required(&KycResult::DESC);
    all_required(&IssuedPolicy::DESC);
    all_required(&InspectionResult::DESC);
    all_required(&CancellationResult::DESC);
    all_required(&<Report<'_, MotorInsuranceReport<'_>>>::DESC);
    // The fields of the spec's tables, counted by hand, their blocks included.
    assert_eq!(docs::rows(&MotorQuote::DESC).len(), 41);
    assert_eq!(docs::rows(&KycResult::DESC).len(), 6);
    assert_eq!(docs::rows(&IssuedPolicy::DESC).len(), 15);
    assert_eq!(docs::rows(&InspectionResult::DESC).len(), 9);
    assert_eq!(docs::rows(&CancellationResult::DESC).len(), 6);
    assert_eq!(docs::rows(&<Report<'_, MotorInsuranceReport<'_>>>::DESC).len(), 14);
}

#[test]
fn the_descriptor_holds_the_tables_of_the_spec() {
    let descriptor = engine::describe::<MotorInsurance>();
    assert_eq!((descriptor.domain.as_str(), descriptor.version.as_str()), ("finance", "1.0.0"));
    assert_eq!(descriptor.agent, "FinanceAgent");
    let tools: Vec<_> = descriptor
        .tools
        .iter()
        .map(|tool| {
            let (latency, retry) = (&tool.latency, &tool.retry);
            let latency = (latency.p50_ms, latency.p95_ms, latency.p99_ms);
            let retry = (retry.on_rate_limited, retry.on_server_error);
            (
                tool.name.as_str(),
                latency,
                tool.rate_per_minute.unwrap_or_default(),
                tool.idempotency_key.as_deref(),
                retry,
                tool.cache_seconds,
            )
        })
        .collect();
    assert_eq!(
        tools,
        [
            ("search_motor_quotes", (800, 2500, Some(5000)), 60, Some("request_id"), (1, 2), Some(30)),
            ("confirm_quote_and_kyc", (1500, 4000, None), 30, Some("request_id"), (0, 0), None),
            ("issue_policy", (2500, 7000, Some(15_000)), 30, Some("request_id"), (0, 0), None),
            ("schedule_inspection", (1500, 4000, None), 30, Some("quote_id"), (0, 1), None),
            ("cancel_or_freelook", (1500, 4000, None), 30, Some("policy_id"), (0, 1), None),
        ]
    );
    let errors: Vec<_> = descriptor
        .errors
        .iter()
        .map(|row| (row.code.as_str(), row.http_status, row.retry.as_ref().map(|retry| (retry.times, retry.wait_ms))))
        .collect();
    assert_eq!(
        errors,
        [
            ("INVALID_REQUEST", 400, None),
            ("RATE_LIMITED", 429, Some((1, 2000))),
            ("INTERNAL_ERROR", 500, Some((2, 1000))),
            ("SIGNATURE_INVALID", 401, None),
            ("VEHICLE_NOT_FOUND_IN_VAHAN", 422, None),
            ("INVOICE_VALUE_INVALID", 422, None),
            ("LONG_TERM_TP_REQUIRED", 422, None),
            ("IDV_OUT_OF_RANGE", 422, None),
            ("ADDON_INCOMPATIBLE", 422, None),
            ("INSPECTION_REQUIRED", 200, None),
            ("KYC_FAILED", 422, None),
            ("PAYMENT_FAILED", 402, None),
            ("INSURER_DOWN", 503, Some((1, 2000))),
            ("FREELOOK_WINDOW_EXPIRED", 410, None),
            ("EV_KW_MISSING", 422, None),
        ]
    );
    assert_eq!(descriptor.aliases, ["auto.buy_new_insurance"]);
    let lifetimes: Vec<_> = descriptor.data_lifetimes.iter().map(|row| row.seconds).collect();
    assert_eq!(lifetimes, [86_400, 604_800, 86_400]);
    assert_eq!((descriptor.search.options_key.as_str(), descriptor.search.max_options), ("quotes", 15));
    assert_eq!(descriptor.widget.preferred.as_deref(), Some("MotorInsuranceWidget"));
    let weights = &descriptor.ranking.weights;
    assert_eq!((weights.time, weights.taste, weights.budget, weights.safety), (0.20, 0.20, 0.30, 0.30));
    assert_eq!((descriptor.ranking.declared_share, descriptor.ranking.completeness_share), (0.2, 0.1));
    for name in [
        "commission_padded_premium",
        "below_irdai_floor_premium",
        "inflated_claim_settlement_ratio",
        "editor_recommended",
        "platform_pick",
        "best_for_new_vehicle",
        "artificial_urgency_text",
        "ai_generated_logo",
    ] {
        assert!(descriptor.forbidden_fields.iter().any(|field| field.name == name), "{name}");
    }
    let report: Value = serde_json::from_str(&descriptor.completion.schema).unwrap();
    assert_eq!(report["properties"]["status"]["enum"], json!(["completed"]));
    assert_eq!(report["properties"]["intent"]["const"], json!("finance.buy_motor_insurance"));
    assert_eq!(report["required"].as_array().unwrap().len(), 14);
}

/// The vocabularies of the spec, written out.
#[test]
fn the_vocabularies_are_those_of_the_spec() {
    let descriptor = engine::describe::<MotorInsurance>();
    let found: Vec<_> =
        descriptor.vocabularies.iter().map(|found| (found.name.as_str(), found.values.join(" "))).collect();
    let expected = [
        ("purchase_context", "newly_purchased switching lapsed_fresh used_vehicle_first_policy"),
        ("vehicle_type", "car two_wheeler commercial ev"),
        (
            "vehicle_subtype",
            "private_car suv mpv hatchback sedan scooter motorcycle moped e_scooter e_motorcycle taxi school_bus \
             goods_carrier_lcv goods_carrier_hcv passenger_carrier e_car e_bike_commercial",
        ),
        ("fuel_type", "petrol diesel cng lpg electric hybrid"),
        (
            "registration_state",
            "AP AR AS BR CG GA GJ HR HP JH KA KL MP MH MN ML MZ NL OD PB RJ SK TN TS TR UP UK WB AN CH DN DD DL JK LA \
             LD PY",
        ),
        (
            "policy_type",
            "third_party_only comprehensive own_damage_only standalone_od_with_separate_tp long_term_tp_bundle",
        ),
        ("idv_basis", "invoice_value market_value declared_max custom"),
        (
            "addon_code",
            "zero_dep engine_protect rsa_24x7 return_to_invoice consumables ncb_protect key_replacement \
             passenger_cover tyre_protect daily_allowance geo_extension_nepal_bhutan battery_protect_ev \
             charger_protect_ev ev_assistance",
        ),
        ("kyc_status", "verified_aadhaar verified_pan verified_dl pending_manual failed"),
        ("inspection_mode", "self_video in_person_garage surveyor_home_visit"),
        ("refund_method", "original_payment bank_transfer cheque"),
    ];
    assert_eq!(found, expected.map(|(name, values)| (name, values.to_owned())));
}

#[test]
fn the_bounds_are_those_of_the_spec() {
    let none = "at least 0";
    assert_bounds(
        &MotorQuote::DESC,
        &[
            ("/insurer/claim_settlement_ratio_pct", "at least 0, at most 100"),
            ("/insurer/motor_claim_settlement_days_avg", none),
            ("/insurer/solvency_ratio", "at least 1, at most 5"),
            ("/idv_inr", none),
            ("/premium_breakdown/own_damage_premium_inr", none),
            ("/premium_breakdown/third_party_premium_inr", none),
            ("/premium_breakdown/long_term_tp_premium_inr", none),
            ("/premium_breakdown/addons_premium_inr", none),
            ("/premium_breakdown/ncb_discount_inr", none),
            ("/premium_breakdown/other_discount_inr", none),
            ("/premium_breakdown/gst_inr", none),
            ("/premium_breakdown/total_payable_inr", none),
            ("/ncb_applied_pct", "at least 0, at most 50"),
            ("/long_term_tp_years", "one of [0, 3, 5]"),
            ("/tenure_years", "at least 1, at most 3"),
            ("/addons_included/*/premium_inr", none),
            ("/cashless_garage_count_in_state", none),
            ("/cashless_garage_count_in_city", none),
            ("/estimated_issuance_minutes", "at least 1, at most 2880"),
        ],
    );
    assert_bounds(
        &MotorInsuranceRequest::DESC,
        &[
            ("/intent", "always \"finance.buy_motor_insurance\""),
            ("/user_currency", "always \"INR\""),
            ("/user_location/pincode", "exactly 6 characters"),
            ("/vehicle/chassis_number_last4", "exactly 4 characters"),
            ("/vehicle/engine_number_last4", "exactly 4 characters"),
            ("/vehicle/invoice_value_inr", none),
            ("/buyer_preferences/preferred_tenure_years", "one of [1, 3]"),
            ("/buyer_preferences/long_term_tp_years", "one of [0, 3, 5]"),
        ],
    );
    assert_bounds(&KycResult::DESC, &[]);
    assert_bounds(&InspectionResult::DESC, &[]);
    assert_bounds(
        &IssuedPolicy::DESC,
        &[("/total_paid_inr", none), ("/freelook_period_days", "at least 7, at most 30")],
    );
    assert_bounds(
        &CancellationResult::DESC,
        &[("/refund_amount_inr", none), ("/refund_eta_days", "at least 0, at most 30")],
    );
    assert_bounds(&MotorInsuranceReport::DESC, &[("/long_term_tp_years", "one of [0, 3, 5]"), ("/addons_count", none)]);
}

/// Spec 2, "Go-live requirements": all of the list but the tools, which the host looks for.
#[test]
fn the_go_live_requirements_are_those_of_the_spec() {
    let descriptor = engine::describe::<MotorInsurance>();
    let by_hand = |one: &Requirement| if one.check == RequirementCheck::ByHand { "by hand" } else { "seen" };
    let rows: Vec<_> = descriptor.go_live.iter().map(|one| (one.code.as_str(), by_hand(one))).collect();
    assert_eq!(
        rows,
        [
            ("INSURERS", "seen"),
            ("REGISTRATIONS_VERIFIED", "by hand"),
            ("WORDINGS_VERIFIED", "by hand"),
            ("RATIOS_CURRENT", "by hand"),
            ("TP_FLOOR_KEPT", "seen"),
            ("LONG_TERM_BUNDLES", "seen"),
            ("IDV_BOUNDS", "seen"),
            ("ELECTRIC_VEHICLES", "seen"),
            ("CASHLESS_COUNTS", "by hand"),
            ("GARAGE_DIRECTORY", "by hand"),
            ("FREELOOK_PERIOD", "by hand"),
            ("INSPECTIONS", "seen"),
            ("COMPLIANCE_DOCUMENTS", "by hand"),
            ("CLAIMS_SUPPORT", "by hand"),
        ]
    );
    let RequirementCheck::AtLeast(depth) = &descriptor.go_live[0].check else { panic!("it is counted") };
    assert_eq!(depth.minimums.iter().map(|one| one.count).collect::<Vec<_>>(), [5]);
    assert_eq!(depth.within, None);
    let RequirementCheck::Handles(inspections) = &descriptor.go_live[11].check else { panic!("samples show it") };
    assert_eq!(inspections.occasions[0].test, RequestTest::Above(90.0));
    let dated = descriptor.go_live.iter().filter_map(|one| Some((one.code.as_str(), one.valid_days?)));
    assert_eq!(
        dated.collect::<Vec<_>>(),
        [
            ("REGISTRATIONS_VERIFIED", 180),
            ("WORDINGS_VERIFIED", 180),
            ("RATIOS_CURRENT", 365),
            ("CASHLESS_COUNTS", 90),
            ("GARAGE_DIRECTORY", 90),
            ("COMPLIANCE_DOCUMENTS", 365),
            ("CLAIMS_SUPPORT", 365),
        ]
    );
}
