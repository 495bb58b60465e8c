//! Every field and bound of every shape, broken one at a time; and the contract as a whole.
//!
//! The cases are made from the shapes' own field lists, so a new field is tested as soon as it is declared. The
//! bounds and vocabularies are written out a second time from the spec, since such cases cannot miss a wrong one.

use contract_sdk::bindings::{Requirement, RequirementCheck};
use contract_sdk::shape::{Described, read_document};
use contract_sdk::testing::{assert_bounds, expected, pairs, problems};
use contract_sdk::{Report, assert_shape, docs, engine, sample, schema};
use lifestyle_book_yoga_class::YogaClass;
use lifestyle_book_yoga_class::booking::{
    BookArguments, BookingRef, CancelArguments, DetailArguments, ModifyArguments, RefundInfo, RevisedBookingInfo,
    SlotObject, SlotsArguments,
};
use lifestyle_book_yoga_class::completion::YogaClassReport;
use lifestyle_book_yoga_class::option::{Offer, YogaClassOption};
use lifestyle_book_yoga_class::request::YogaClassRequest;
use serde_json::{Value, json};

#[test]
fn the_contract_is_consistent() {
    assert_eq!(problems::<YogaClass>(), Vec::<String>::new());
}

#[test]
fn every_field_of_the_request() {
    let tried = assert_shape!(YogaClassRequest, &sample!("request"));
    assert!(tried > 600, "{tried}");
}

#[test]
fn every_field_of_an_option() {
    let tried = assert_shape!(YogaClassOption, &sample!("option"));
    assert!(tried > 1500, "{tried}");
    // An offer is read as the option in it.
    assert_eq!(tried, assert_shape!(Offer, &sample!("option")));
}

#[test]
fn every_field_of_the_other_tools() {
    assert_shape!(DetailArguments, &sample!("detail-arguments"));
    assert_shape!(SlotsArguments, &sample!("slots-arguments"));
    // As an array it is tried by `cases/slots-bare.json`.
    assert_shape!(SlotObject, &sample!("slots"));
    assert_shape!(BookArguments, &sample!("book-arguments"));
    assert_shape!(BookingRef, &sample!("booking"));
    assert_shape!(CancelArguments, &sample!("cancel-arguments"));
    assert_shape!(RefundInfo, &sample!("refund"));
    assert_shape!(ModifyArguments, &sample!("modify-arguments"));
    assert_shape!(RevisedBookingInfo, &sample!("revised"));
}

#[test]
fn every_field_of_a_report() {
    type YogaReport<'a> = Report<'a, YogaClassReport<'a>>;
    assert_shape!(YogaReport, &sample!("report"));
}

#[test]
fn every_sample_option_is_sound() {
    let payload = sample!("payload");
    let options = payload["options"].as_array().unwrap();
    assert_eq!(options.len(), 15);
    for option in options {
        assert_eq!(read_document::<Offer>(&option.to_string()).map(drop), Ok(()));
    }
}

#[test]
fn all_violations_are_told_at_once() {
    let mut option = sample!("option");
    option["yoga_studio"]["ratings"]["on_time_30day_pct"] = json!(1.01);
    option["yoga_studio"]["photos"]["ai_generated_photos"] = json!(true);
    option["yoga_class_catalog"][0]["description"] = json!("too short");
    option["yoga_class_catalog"][0]["recurring_schedule"] = json!([{"day_of_week": "monday"}]);
    option["available_slots"] = json!([]);
    option["instructors"][0]["languages_spoken"] = json!(["en-IN", "en_IN"]);
    option["session_pass"] = json!(null);
    let violations = read_document::<Offer>(&option.to_string()).map(drop).unwrap_err();
    let mut found = pairs(&violations);
    found.sort_unstable();
    assert_eq!(
        found,
        expected(&[
            ("/available_slots", "TOO_FEW_ITEMS"),
            ("/instructors/0/languages_spoken/1", "BAD_FORMAT"),
            ("/session_pass", "WRONG_TYPE"),
            ("/yoga_class_catalog/0/description", "TOO_SHORT"),
            ("/yoga_class_catalog/0/recurring_schedule/0/start_iso_time", "REQUIRED"),
            ("/yoga_studio/photos/ai_generated_photos", "UNEXPECTED_VALUE"),
            ("/yoga_studio/ratings/on_time_30day_pct", "OUT_OF_RANGE"),
        ])
    );
}

/// Members that a shape does not show, or shows only leniently, break nothing.
#[test]
fn inherited_parts_pass_as_they_come() {
    for odd in [json!(null), json!(7), json!("soon"), json!([1, {}]), json!({"start": {}})] {
        let mut option = sample!("option");
        for block in ["fare", "cancellation", "freshness", "provider"] {
            option[block] = odd.clone();
        }
        for start in ["start_iso", "start", "starts_at", "scheduled_for_iso"] {
            option["available_slots"][0][start] = odd.clone();
        }
        option["yoga_studio"]["operating_hours"]["hours_of_operation"] = json!(vec![odd.clone(); 7]);
        assert!(read_document::<Offer>(&option.to_string()).is_ok(), "{odd}");
        let mut request = sample!("request");
        for block in ["search_area", "context"] {
            request[block] = odd.clone();
            let is_ok = read_document::<YogaClassRequest>(&request.to_string()).is_ok();
            assert_eq!(is_ok, odd.is_object(), "{block}: {odd}");
            request[block] = json!({"odd": odd});
            assert!(read_document::<YogaClassRequest>(&request.to_string()).is_ok(), "{block}: {odd}");
        }
    }
}

#[test]
fn the_schema_says_what_the_reader_checks() {
    let option = schema::of(&Offer::DESC);
    assert_eq!(
        option["required"],
        json!(["yoga_studio", "yoga_class_catalog", "available_slots", "instructors", "session_pass"])
    );
    let slot = &option["properties"]["available_slots"]["items"];
    assert_eq!(slot["required"], json!(["class_id", "instructor_id_assigned"]));
    let photos = &option["properties"]["yoga_studio"]["properties"]["photos"]["properties"];
    assert_eq!(photos["ai_generated_photos"]["const"], json!(false));
    let request = schema::of(&YogaClassRequest::DESC);
    assert_eq!(
        request["required"],
        json!([
            "intent",
            "intent_version",
            "search_area",
            "context",
            "session_kind",
            "user_yoga_profile",
            "yoga_intent",
            "preferences"
        ])
    );
    assert_eq!(
        request["properties"]["user_yoga_profile"]["required"],
        json!([
            "yoga_experience_level",
            "years_of_practice",
            "medical_conditions_disclosed",
            "yoga_goals",
            "pregnant_or_postpartum"
        ])
    );
    assert_eq!(
        request["properties"]["yoga_intent"]["required"],
        json!([
            "yoga_styles_acceptable",
            "yoga_style_preferred",
            "class_kind_acceptable",
            "temperature_kind_acceptable",
            "max_class_size",
            "min_instructor_skill",
            "props_required"
        ])
    );
    assert_eq!(
        request["properties"]["preferences"]["required"],
        json!([
            "studio_kind_acceptable",
            "instructor_certifications_required",
            "instructor_certification_authority_acceptable",
            "music_during_class_kind",
            "trial_first_class_optional"
        ])
    );
}

/// Number of leaves, objects and arrays that the spec lists for an option.
#[test]
fn partners_read_a_row_for_every_field() {
    let rows = docs::rows(&Offer::DESC);
    let below = |start: &str| rows.iter().filter(|row| row.pointer.starts_with(start)).count();
    for (group, members) in [
        ("identity", 10),
        ("address", 8),
        ("ratings", 7),
        ("operating_hours", 5),
        ("amenities", 21),
        ("trust", 10),
        ("photos", 5),
    ] {
        assert_eq!(below(&format!("/yoga_studio/{group}/")), members, "{group}");
    }
    assert_eq!(below("/yoga_class_catalog/*/"), 17 + 2);
    assert_eq!(below("/instructors/*/"), 17 + 4 + 4);
    assert_eq!(below("/session_pass/"), 6);
    assert_eq!(below("/available_slots/*/"), 2 + 4);
}

#[test]
fn the_bounds_of_the_request_are_those_of_the_spec() {
    assert_bounds(
        &YogaClassRequest::DESC,
        &[
            ("/intent", "always \"lifestyle.book_yoga_class\""),
            ("/user_yoga_profile/years_of_practice", "at least 0"),
            ("/user_yoga_profile/yoga_goals", "at least 1 entries"),
            ("/yoga_intent/yoga_styles_acceptable", "at least 1 entries"),
            ("/yoga_intent/class_kind_acceptable", "at least 1 entries"),
            ("/yoga_intent/temperature_kind_acceptable", "at least 1 entries"),
            ("/yoga_intent/max_class_size", "at least 1"),
            ("/yoga_intent/min_instructor_skill", "at least 1, at most 5"),
            ("/preferences/studio_kind_acceptable", "at least 1 entries"),
            ("/preferences/instructor_certification_authority_acceptable", "at least 1 entries"),
        ],
    );
}

#[test]
fn the_bounds_of_an_option_are_those_of_the_spec() {
    let score = "at least 0, at most 5";
    assert_bounds(
        &Offer::DESC,
        &[
            ("/yoga_studio/identity/partner_account_age_days", "at least 0"),
            ("/yoga_studio/identity/total_classes_offered_30day", "at least 0"),
            ("/yoga_studio/identity/total_active_members", "at least 0"),
            ("/yoga_studio/ratings/overall_score", score),
            ("/yoga_studio/ratings/recent_30day_score", score),
            ("/yoga_studio/ratings/cleanliness_score", score),
            ("/yoga_studio/ratings/instructor_skill_score", score),
            ("/yoga_studio/ratings/ambience_score", score),
            ("/yoga_studio/ratings/overall_count", "at least 0"),
            ("/yoga_studio/ratings/on_time_30day_pct", "at least 0, at most 1"),
            ("/yoga_studio/operating_hours/hours_of_operation", "exactly 7 entries"),
            ("/yoga_studio/amenities/showers_count", "at least 0"),
            ("/yoga_studio/amenities/lockers_count", "at least 0"),
            ("/yoga_studio/amenities/changing_rooms_count", "at least 0"),
            ("/yoga_studio/trust/safety_audit_score", "at least 0, at most 100"),
            ("/yoga_studio/trust/employee_kyc_pct", "at least 0, at most 100"),
            ("/yoga_class_catalog", "at least 1 entries"),
            ("/yoga_class_catalog/*/description", "at least 80 characters"),
            ("/yoga_class_catalog/*/duration_minutes", "at least 30"),
            ("/yoga_class_catalog/*/class_size_max", "at least 1"),
            ("/yoga_class_catalog/*/class_size_typical", "at least 1"),
            ("/available_slots", "at least 1 entries"),
            ("/instructors", "at least 1 entries"),
            ("/instructors/*/experience_years", "at least 0"),
            ("/instructors/*/years_of_personal_practice", "at least 0"),
            ("/instructors/*/specializations", "at least 1 entries"),
            ("/instructors/*/languages_spoken", "at least 1 entries"),
            ("/instructors/*/ratings/rating_avg", score),
            ("/instructors/*/private_session_inr", "at least 0"),
            ("/session_pass/pass_inr", "at least 0"),
            ("/session_pass/pass_includes", "at least 1 entries"),
            ("/session_pass/validity_days", "at least 1"),
        ],
    );
}

#[test]
fn the_bounds_of_bookings_and_reports() {
    assert_bounds(&RefundInfo::DESC, &[("/refund_amount_inr", "at least 0")]);
    assert_bounds(
        &YogaClassReport::DESC,
        &[
            ("/currency", "always \"INR\""),
            ("/fare_breakdown_total_inr", "at least 0"),
            ("/rider_tip_inr", "at least 0"),
        ],
    );
}

/// The vocabularies of the spec, word by word.
#[test]
fn the_vocabularies_are_those_of_the_spec() {
    let expected = [
        ("session_kind", "drop_in_class, trial_class, private_session, guest_pass, themed_workshop, retreat_intro"),
        ("yoga_experience_level", "beginner, novice, intermediate, advanced, teacher_level"),
        (
            "medical_condition",
            "hypertension, diabetes, heart_condition, back_pain, knee_problem, shoulder_problem, hernia, arthritis, \
             recent_surgery, pregnancy, postpartum, other, none, mild_back_pain",
        ),
        (
            "yoga_goal",
            "flexibility, strength, stress_reduction, meditation, weight_loss, posture, back_pain_relief, \
             better_sleep, spiritual, athletic_recovery, prenatal_wellness, postpartum_recovery",
        ),
        (
            "pregnant_or_postpartum",
            "none, pregnant_t1, pregnant_t2, pregnant_t3, postpartum_under_6mo, postpartum_over_6mo",
        ),
        (
            "yoga_style",
            "hatha, vinyasa, iyengar, ashtanga, kundalini, yin, restorative, power_yoga, hot_yoga, \
             hot_sequence_style, style_brand_a, sivananda, aerial_yoga, aqua_yoga, chair_yoga, prenatal, postpartum, \
             meditative, mantra, bhakti",
        ),
        (
            "class_kind",
            "group_drop_in, private_session, group_themed_workshop, silent_class, special_intro, beginners_only, \
             advanced_only, prenatal_class, postpartum_class, seniors_class, kids_class",
        ),
        ("temperature_kind", "room_temp, warm_studio, hot_yoga_40c, cool_studio"),
        ("prop", "mat, block, strap, bolster, blanket, wheel, chair, wall_ropes, suspension_strap, meditation_cushion"),
        (
            "studio_kind",
            "dedicated_yoga_studio, wellness_center, fitness_with_yoga_floor, ashram_or_traditional, \
             celebrity_brand, franchise_chain, home_studio_certified",
        ),
        ("music_during_class_kind", "silent, mantra, soft_instrumental, classical, nature_sounds, bowls"),
        (
            "yoga_lineage",
            "iyengar, ashtanga, iyengar_founder_lineage, sivananda, kundalini, hatha_traditional, vinyasa_modern, \
             modern_lineage, partner_method, mixed",
        ),
        ("studio_floor_kind", "hardwood, bamboo, sprung_floor, rubber_mat_carpet, concrete_with_mats"),
        ("difficulty_level", "beginner, intermediate, advanced, mixed"),
        (
            "instructor_specialization",
            "hatha_specialist, vinyasa_specialist, iyengar_certified, ashtanga_certified, kundalini_certified, \
             prenatal_certified, postpartum_certified, yin_specialist, meditation_teacher, mantra_chanting, \
             sanskrit_teacher, senior_yoga_specialist, back_pain_rehab_yoga",
        ),
        (
            "instructor_certification",
            "registry_200, registry_500, registry_eryt, iyengar_introductory, iyengar_intermediate, iyengar_senior, \
             ashtanga_authorized, ashtanga_certified, sivananda_ttc, org_yoga_program, modern_lineage_institute, \
             state_yoga_council_cert, partner_internal_cert",
        ),
        (
            "certifying_authority",
            "registry_body, iyengar_body, ashtanga_lineage_body, sivananda_lineage, org_program_body, \
             modern_lineage_body, state_yoga_council, aytm_authority, partner_internal",
        ),
        (
            "trained_in_lineage",
            "iyengar, ashtanga, sivananda, kundalini, hatha_traditional, vinyasa_modern, modern_lineage, \
             partner_method, mixed",
        ),
        (
            "pass_kind",
            "single_class, trial_class, guest_pass, private_with_instructor, weekly_unlimited, monthly_drop_in_pack",
        ),
        (
            "pass_includes",
            "class_attendance, props_use, shower_access, locker_access, post_class_meditation, herbal_tea, \
             cooling_towel",
        ),
    ];
    let found: Vec<_> = engine::describe::<YogaClass>()
        .vocabularies
        .into_iter()
        .map(|vocabulary| (vocabulary.name, vocabulary.values.join(", ")))
        .collect();
    let expected: Vec<_> = expected.iter().map(|(name, values)| ((*name).to_owned(), (*values).to_owned())).collect();
    assert_eq!(found, expected);
}

#[test]
fn the_descriptor_holds_the_tables_of_the_spec() {
    let descriptor = engine::describe::<YogaClass>();
    assert_eq!((descriptor.domain.as_str(), descriptor.version.as_str()), ("lifestyle", "1.0.0"));
    let tools: Vec<_> = descriptor
        .tools
        .iter()
        .map(|tool| (tool.name.as_str(), tool.latency.p50_ms, tool.latency.p95_ms, tool.latency.p99_ms))
        .collect();
    assert_eq!(
        tools,
        [
            ("search_providers", 600, 1500, Some(3000)),
            ("get_provider_detail", 300, 800, Some(1500)),
            ("get_available_slots", 300, 800, Some(1500)),
            ("book_slot", 2000, 5000, Some(10_000)),
            ("cancel_booking", 1000, 3000, Some(5000)),
            ("modify_booking", 2000, 5000, Some(10_000)),
        ]
    );
    assert!(descriptor.tools.iter().all(|tool| tool.retry.on_rate_limited == 0 && tool.retry.on_server_error == 0));
    // Rates of a user at a partner are the platform's; one for all users together the spec does not state.
    assert!(descriptor.tools.iter().all(|tool| tool.rate_per_minute.is_none()));
    let cached: Vec<_> = descriptor.tools.iter().filter_map(|tool| tool.cache_seconds).collect();
    assert_eq!(cached, [60]);
    let errors: Vec<_> = descriptor.errors.iter().map(|row| (row.code.as_str(), row.http_status)).collect();
    assert_eq!(errors.last(), Some(&("PRENATAL_CLASS_REQUIRED", 422)));
    assert_eq!(errors.len(), 10);
    assert_eq!(descriptor.widget.widget_type, "yoga_class_options");
    let forbidden: Vec<_> = descriptor.forbidden_fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(
        forbidden,
        [
            "fake_recent_class_text",
            "auto_inflate_class_count",
            "hidden_pass_fee",
            "fake_certifications",
            "fake_yoga_lineage_claim",
            "fake_partner_completion_rate_30d",
            "ai_generated_photos",
        ]
    );
    let report: Value = serde_json::from_str(&descriptor.completion.schema).unwrap();
    assert_eq!(
        report["properties"]["status"]["enum"],
        json!([
            "completed",
            "cancelled_by_user",
            "cancelled_by_studio",
            "no_show",
            "failed",
            "partial_completion_user_left_early",
            "medical_event_class_halted"
        ])
    );
    assert_eq!(descriptor.completion.charged_statuses, ["completed"]);
    assert_eq!(report["required"].as_array().unwrap().len(), 9 + 15);
}

#[test]
fn the_weights_are_those_of_the_spec() {
    let ranking = engine::describe::<YogaClass>().ranking;
    let weights = ranking.weights;
    assert_eq!((weights.time, weights.taste, weights.budget, weights.safety), (0.30, 0.40, 0.20, 0.10));
    let signals: Vec<_> = ranking.signals.iter().map(|signal| (signal.name.as_str(), signal.weight)).collect();
    let expected = [
        ("distance", 0.40),
        ("slot_fit", 0.40),
        ("on_time_30day_pct", 0.20),
        ("instructor_skill_score", 0.25),
        ("recent_30day_score", 0.15),
        ("specialization_matches_style", 0.20),
        ("certification_acceptable", 0.20),
        ("lineage_matches_style", 0.10),
        ("props_satisfied", 0.10),
        ("pass_price", 0.80),
        ("pass_includes", 0.20),
        ("aed_defibrillator_present", 0.20 / 0.60),
        ("safety_audit_score", 0.20 / 0.60),
        ("cctv_in_premises", 0.10 / 0.60),
        ("panic_button_at_floor", 0.10 / 0.60),
    ];
    assert_eq!(signals.len(), expected.len());
    for ((name, weight), (expected_name, expected_weight)) in signals.into_iter().zip(expected) {
        assert!(name == expected_name && (weight - expected_weight).abs() < 1e-12, "{name} {weight}");
    }
    assert_eq!((ranking.declared_share, ranking.completeness_share), (0.2, 0.1));
}

/// The intent has no list of its own: its safety filters and its rules that must hold (spec 3), and what the platform
/// asks of every partner (spec 1).
#[test]
fn the_go_live_requirements_follow_from_the_rules() {
    let descriptor = engine::describe::<YogaClass>();
    let by_hand = |one: &Requirement| if one.check == RequirementCheck::ByHand { "by hand" } else { "seen" };
    let rows: Vec<_> = descriptor.go_live.iter().map(|one| (one.code.as_str(), by_hand(one))).collect();
    assert_eq!(
        rows,
        [
            ("STUDIOS_SAFE", "seen"),
            ("INSTRUCTORS_FIT", "seen"),
            ("CONDITIONS_HEEDED", "seen"),
            ("CATALOGUE_SOUND", "seen"),
            ("SEARCH_LATENCY", "seen"),
            ("BOOK_LATENCY", "seen"),
            ("IDEMPOTENCY_TESTED", "by hand"),
            ("LINEAGE_VERIFIED", "by hand"),
            ("REGISTRATIONS_ACTIVE", "by hand"),
            ("PRENATAL_CERTIFICATES", "by hand"),
            ("ATTENDANCE_TRUE", "by hand"),
            ("HOT_ROOMS_MEASURED", "by hand"),
            ("PROPS_SOUND", "by hand"),
            ("HEADLINE_INSTRUCTORS_TEACH", "by hand"),
            ("COMPLIANCE_DOCUMENTS", "by hand"),
        ]
    );
    let for_good = |one: &&Requirement| one.check == RequirementCheck::ByHand && one.valid_days.is_none();
    let for_good: Vec<_> = descriptor.go_live.iter().filter(for_good).map(|one| one.code.as_str()).collect();
    assert_eq!(for_good, ["IDEMPOTENCY_TESTED", "LINEAGE_VERIFIED"], "all else is looked at again");
}
