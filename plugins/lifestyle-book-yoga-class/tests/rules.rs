//! One test per rule of the spec, each on documents that break only that rule.

use contract_sdk::bindings::{CheckedResponse, Evaluation, PreparedRequest, Refusal};
use contract_sdk::example::with;
use contract_sdk::testing::{
    self, Pairs, assert_drops, assert_finds, assert_passes, assert_refused, assert_strikes, check_completion, expected,
    pairs,
};
use contract_sdk::{example, sample};
use lifestyle_book_yoga_class::YogaClass;
use serde_json::{Value, json};

/// An intermediate user without conditions, who asks for hatha, vinyasa or iyengar at seven.
fn request() -> Value {
    sample!("request")
}

/// One hatha class fit for everybody, one slot, one instructor with every certificate.
fn option() -> Value {
    sample!("option")
}

/// Hatha by Asha and Meera, advanced vinyasa by Vikram, a prenatal class by Meera.
fn classes() -> Value {
    sample!("classes")
}

/// The sample request of a user of whom this is known.
fn user(changes: &[(&str, Value)]) -> Value {
    let changes: Vec<_> =
        changes.iter().map(|(name, value)| (format!("/user_yoga_profile/{name}"), value.clone())).collect();
    let changes: Vec<_> = changes.iter().map(|(pointer, value)| (pointer.as_str(), value.clone())).collect();
    with(request(), &changes)
}

fn evaluate(request: &Value, options: &[Value]) -> Evaluation {
    testing::evaluate::<YogaClass>(request, options)
}

fn drops(request: &Value, option: &Value, violations: &[(&str, &str)]) {
    assert_drops::<YogaClass>(request, option, violations);
}

fn passes(request: &Value, option: &Value) {
    assert_passes::<YogaClass>(request, option);
}

fn finds(request: &Value, option: &Value, findings: &[(&str, &str)]) {
    assert_finds::<YogaClass>(request, option, findings);
}

/// The card of the one option that is left.
fn card(request: &Value, option: &Value) -> Value {
    example::parse(&evaluate(request, std::slice::from_ref(option)).ranked[0].card)
}

#[test]
fn the_samples_pass() {
    passes(&request(), &option());
    passes(&request(), &classes());
    let payload = sample!("payload");
    let found = evaluate(&request(), payload["options"].as_array().unwrap());
    assert_eq!((found.ranked.len(), found.dropped, found.findings), (15, vec![], vec![]));
}

#[test]
fn a_studio_has_a_first_aid_kit_and_fire_safety() {
    for (pointer, code) in [
        ("/yoga_studio/trust/first_aid_kit_present", "NO_FIRST_AID_KIT"),
        ("/yoga_studio/trust/fire_safety_compliant", "FIRE_SAFETY"),
    ] {
        drops(&request(), &with(option(), &[(pointer, json!(false))]), &[(pointer, code)]);
    }
}

#[test]
fn the_catalogue_has_an_asked_style() {
    let place = "/yoga_class_catalog/0/yoga_style";
    for other in ["ashtanga", "prenatal", "hot_yoga", "bhakti"] {
        drops(&request(), &with(option(), &[(place, json!(other))]), &[("/yoga_class_catalog", "STYLE_ABSENT")]);
    }
    for asked in ["hatha", "vinyasa", "iyengar"] {
        passes(&request(), &with(option(), &[(place, json!(asked))]));
    }
    // The preferred style is asked for, even if it is not said again.
    let preferred = with(request(), &[("/yoga_intent/yoga_style_preferred", json!("yin"))]);
    passes(&preferred, &with(option(), &[(place, json!("yin"))]));
}

#[test]
fn pregnancy_asks_for_a_prenatal_friendly_class() {
    let place = "/yoga_class_catalog/0/prenatal_friendly";
    let unfit = with(option(), &[(place, json!(false))]);
    for stage in ["pregnant_t1", "pregnant_t2"] {
        let user = user(&[("pregnant_or_postpartum", json!(stage))]);
        drops(&user, &unfit, &[(place, "NOT_PRENATAL_FRIENDLY")]);
        passes(&user, &option());
    }
    let disclosed = user(&[("medical_conditions_disclosed", json!(["hernia", "pregnancy"]))]);
    drops(&disclosed, &unfit, &[(place, "NOT_PRENATAL_FRIENDLY")]);
    for stage in ["none", "postpartum_under_6mo", "postpartum_over_6mo"] {
        passes(&user(&[("pregnant_or_postpartum", json!(stage))]), &unfit);
    }
}

#[test]
fn the_third_trimester_asks_for_a_prenatal_class() {
    let user = user(&[("pregnant_or_postpartum", json!("pregnant_t3"))]);
    drops(&user, &option(), &[("/yoga_class_catalog", "PRENATAL_CLASS_REQUIRED")]);
    let special = ("/yoga_class_catalog/0/class_kind", json!("prenatal_class"));
    passes(&user, &with(option(), std::slice::from_ref(&special)));
    // The kind alone is not enough.
    let place = "/yoga_class_catalog/0/prenatal_friendly";
    drops(&user, &with(option(), &[special, (place, json!(false))]), &[(place, "NOT_PRENATAL_FRIENDLY")]);
    // Where the studio has one, it is the class that is shown, however well another would do.
    let styles = with(user, &[("/yoga_intent/yoga_styles_acceptable", json!(["hatha", "prenatal"]))]);
    passes(&styles, &classes());
    assert_eq!(card(&styles, &classes())["class_id"], "class_prenatal");
}

#[test]
fn the_first_six_months_ask_for_a_postpartum_friendly_class() {
    let place = "/yoga_class_catalog/0/postpartum_friendly";
    let unfit = with(option(), &[(place, json!(false))]);
    let under = user(&[("pregnant_or_postpartum", json!("postpartum_under_6mo"))]);
    drops(&under, &unfit, &[(place, "NOT_POSTPARTUM_FRIENDLY")]);
    passes(&under, &option());
    for stage in ["none", "pregnant_t1", "postpartum_over_6mo"] {
        passes(&user(&[("pregnant_or_postpartum", json!(stage))]), &unfit);
    }
}

#[test]
fn difficulty_and_experience_go_together() {
    let place = "/yoga_class_catalog/0/difficulty_level";
    let (advanced, beginner) = (
        [
            with(option(), &[(place, json!("advanced"))]),
            with(option(), &[("/yoga_class_catalog/0/class_kind", json!("advanced_only"))]),
        ],
        [
            with(option(), &[(place, json!("beginner"))]),
            with(option(), &[("/yoga_class_catalog/0/class_kind", json!("beginners_only"))]),
        ],
    );
    for level in ["beginner", "novice", "intermediate", "advanced", "teacher_level"] {
        let user = user(&[("yoga_experience_level", json!(level))]);
        for option in &advanced {
            match level {
                "beginner" | "novice" => drops(&user, option, &[(place, "TOO_ADVANCED")]),
                _ => passes(&user, option),
            }
        }
        for option in &beginner {
            match level {
                "advanced" | "teacher_level" => drops(&user, option, &[(place, "TOO_EASY")]),
                _ => passes(&user, option),
            }
        }
        for easy in ["intermediate", "mixed"] {
            passes(&user, &with(option(), &[(place, json!(easy))]));
        }
    }
}

#[test]
fn back_pain_asks_for_a_fitting_class() {
    let place = "/yoga_class_catalog/0/back_pain_friendly";
    let unfit = with(option(), &[(place, json!(false))]);
    for pain in ["back_pain", "mild_back_pain"] {
        let user = user(&[("medical_conditions_disclosed", json!(["arthritis", pain]))]);
        drops(&user, &unfit, &[(place, "NOT_BACK_PAIN_FRIENDLY")]);
        passes(&user, &option());
    }
    let other = ["hypertension", "diabetes", "heart_condition", "knee_problem", "shoulder_problem", "hernia", "other"];
    passes(&user(&[("medical_conditions_disclosed", json!(other))]), &unfit);
    passes(&user(&[("medical_conditions_disclosed", json!([]))]), &unfit);
    // Wanting relief is no disclosure.
    passes(&user(&[("yoga_goals", json!(["back_pain_relief"]))]), &unfit);
}

#[test]
fn instructors_have_passed_the_background_check() {
    let place = "/instructors/0/kyc/background_check_passed";
    drops(&request(), &with(option(), &[(place, json!(false))]), &[(place, "INSTRUCTOR_UNCHECKED")]);
}

#[test]
fn advanced_classes_have_a_certified_instructor() {
    let place = "/instructors/0/certifications";
    let expected = [(place, "INSTRUCTOR_NOT_CERTIFIED")];
    let advanced = [
        ("/yoga_class_catalog/0/difficulty_level", json!("advanced")),
        ("/yoga_class_catalog/0/class_kind", json!("advanced_only")),
    ];
    for change in advanced {
        let option = with(option(), &[change]);
        for short in [json!([]), json!(["partner_internal_cert"])] {
            drops(&request(), &with(option.clone(), &[(place, short)]), &expected);
        }
        for enough in [
            "registry_200",
            "registry_500",
            "registry_eryt",
            "iyengar_introductory",
            "iyengar_intermediate",
            "iyengar_senior",
            "ashtanga_authorized",
            "ashtanga_certified",
            "sivananda_ttc",
            "org_yoga_program",
            "modern_lineage_institute",
            "state_yoga_council_cert",
        ] {
            passes(&request(), &with(option.clone(), &[(place, json!(["partner_internal_cert", enough]))]));
        }
    }
    // Other classes need none.
    passes(&request(), &with(option(), &[(place, json!([]))]));
}

#[test]
fn a_prenatal_class_without_the_certificate_is_a_severe_breach() {
    let place = "/instructors/0/specializations";
    let breach = [(place, "PRENATAL_NOT_CERTIFIED")];
    let uncertified = (place, json!(["hatha_specialist", "postpartum_certified"]));
    let prenatal_style = with(request(), &[("/yoga_intent/yoga_style_preferred", json!("prenatal"))]);
    for (request, change) in [
        (request(), ("/yoga_class_catalog/0/class_kind", json!("prenatal_class"))),
        (prenatal_style, ("/yoga_class_catalog/0/yoga_style", json!("prenatal"))),
    ] {
        let broken = with(option(), &[change.clone(), uncertified.clone()]);
        assert_strikes::<YogaClass>(&request, &broken, &breach);
        passes(&request, &with(option(), &[change]));
    }
    // A class that only suits pregnant users needs no certificate.
    passes(&request(), &with(option(), &[uncertified]));
    // Where another class serves the user, the option lives and the platform is told.
    let broken = with(classes(), &[("/instructors/2/specializations", json!(["hatha_specialist"]))]);
    finds(&request(), &broken, &[("/instructors/2/specializations", "PRENATAL_NOT_CERTIFIED")]);
    // Where the option falls for something else, it counts all the same.
    let unsafe_too = with(broken, &[("/yoga_studio/trust/fire_safety_compliant", json!(false))]);
    let both = [
        ("/yoga_studio/trust/fire_safety_compliant", "FIRE_SAFETY"),
        ("/instructors/2/specializations", "PRENATAL_NOT_CERTIFIED"),
    ];
    assert_strikes::<YogaClass>(&request(), &unsafe_too, &both);
}

#[test]
fn an_option_lives_while_one_class_does() {
    // Of three classes only hatha is for a user with back pain.
    let pain = user(&[("medical_conditions_disclosed", json!(["back_pain"]))]);
    passes(&pain, &classes());
    assert_eq!(card(&pain, &classes())["class_id"], "class_hatha");
    // Without it, every asked class says why it will not do; the prenatal class was not asked for.
    let unfit = with(classes(), &[("/yoga_class_catalog/0/back_pain_friendly", json!(false))]);
    drops(
        &pain,
        &unfit,
        &[
            ("/yoga_class_catalog/0/back_pain_friendly", "NOT_BACK_PAIN_FRIENDLY"),
            ("/yoga_class_catalog/1/back_pain_friendly", "NOT_BACK_PAIN_FRIENDLY"),
        ],
    );
    // One slot of an instructor who may not teach is no loss while there is another.
    let unchecked = with(classes(), &[("/instructors/0/kyc/background_check_passed", json!(false))]);
    passes(&pain, &unchecked);
    assert_eq!(card(&pain, &unchecked)["instructor_id"], "inst_meera");
    let both = with(unchecked, &[("/instructors/2/kyc/background_check_passed", json!(false))]);
    drops(
        &pain,
        &both,
        &[
            ("/yoga_class_catalog/1/back_pain_friendly", "NOT_BACK_PAIN_FRIENDLY"),
            ("/instructors/0/kyc/background_check_passed", "INSTRUCTOR_UNCHECKED"),
            ("/instructors/2/kyc/background_check_passed", "INSTRUCTOR_UNCHECKED"),
        ],
    );
}

#[test]
fn a_class_has_a_slot_that_can_be_read() {
    let class = ("/available_slots/0/class_id", json!("class_nobody_knows"));
    let instructor = ("/available_slots/0/instructor_id_assigned", json!("inst_nobody_knows"));
    for change in [&class, &instructor] {
        let lost = with(option(), std::slice::from_ref(change));
        drops(&request(), &lost, &[("/yoga_class_catalog/0", "NO_SLOT")]);
    }
    // A slot that says nothing is left aside while another is there.
    finds(&request(), &with(classes(), &[class]), &[("/available_slots/0/class_id", "UNKNOWN_CLASS")]);
    finds(
        &request(),
        &with(classes(), &[instructor]),
        &[("/available_slots/0/instructor_id_assigned", "UNKNOWN_INSTRUCTOR")],
    );
}

#[test]
fn all_that_stands_in_the_way_is_told() {
    let user = user(&[
        ("pregnant_or_postpartum", json!("pregnant_t3")),
        ("yoga_experience_level", json!("novice")),
        ("medical_conditions_disclosed", json!(["back_pain"])),
    ]);
    let option = with(
        option(),
        &[
            ("/yoga_studio/trust/first_aid_kit_present", json!(false)),
            ("/yoga_class_catalog/0/prenatal_friendly", json!(false)),
            ("/yoga_class_catalog/0/difficulty_level", json!("advanced")),
            ("/yoga_class_catalog/0/back_pain_friendly", json!(false)),
        ],
    );
    drops(
        &user,
        &option,
        &[
            ("/yoga_studio/trust/first_aid_kit_present", "NO_FIRST_AID_KIT"),
            ("/yoga_class_catalog", "PRENATAL_CLASS_REQUIRED"),
            ("/yoga_class_catalog/0/prenatal_friendly", "NOT_PRENATAL_FRIENDLY"),
            ("/yoga_class_catalog/0/difficulty_level", "TOO_ADVANCED"),
            ("/yoga_class_catalog/0/back_pain_friendly", "NOT_BACK_PAIN_FRIENDLY"),
        ],
    );
}

#[test]
fn what_an_option_shows_to_be_wrong_is_found() {
    let place = "/yoga_class_catalog/0/class_size_typical";
    finds(&request(), &with(option(), &[(place, json!(17))]), &[(place, "CLASS_SIZE")]);
    passes(&request(), &with(option(), &[(place, json!(16))]));
    let place = "/instructors/0/certifying_authorities";
    let expected = [("/instructors/0/certifications", "REGISTRY_UNBACKED")];
    for held in ["registry_200", "registry_500", "registry_eryt"] {
        let certificate = ("/instructors/0/certifications", json!([held]));
        finds(&request(), &with(option(), &[certificate.clone(), (place, json!(["iyengar_body"]))]), &expected);
        passes(&request(), &with(option(), &[certificate, (place, json!(["iyengar_body", "registry_body"]))]));
    }
    let other = ("/instructors/0/certifications", json!(["iyengar_senior"]));
    passes(&request(), &with(option(), &[other, (place, json!([]))]));
}

#[test]
fn nobody_with_back_pain_comes_to_power_yoga_unwarned() {
    let pain = with(
        user(&[("medical_conditions_disclosed", json!(["mild_back_pain"]))]),
        &[("/yoga_intent/yoga_style_preferred", json!("power_yoga"))],
    );
    let power = with(option(), &[("/yoga_class_catalog/0/yoga_style", json!("power_yoga"))]);
    let place = "/yoga_class_catalog/0/description";
    finds(&pain, &power, &[(place, "POWER_YOGA_UNWARNED")]);
    let words =
        "A strong and sweaty hour of planks, lunges and jumps. Not for an aching Back: come and talk to us first.";
    passes(&pain, &with(power.clone(), &[(place, json!(words))]));
    // The platform warns in any case.
    assert!(card(&pain, &power)["notice"].is_string());
    assert_eq!(card(&request(), &option())["notice"], Value::Null);
    let healthy = with(request(), &[("/yoga_intent/yoga_style_preferred", json!("power_yoga"))]);
    passes(&healthy, &power);
    assert_eq!(card(&healthy, &power)["notice"], Value::Null);
    passes(&user(&[("medical_conditions_disclosed", json!(["back_pain"]))]), &option());
}

/// What the spec names as a preference and not as a hard filter drops nothing and lowers the taste.
#[test]
fn preferences_lower_taste_and_drop_nothing() {
    let taste = |request: &Value, option: &Value| {
        let found = evaluate(request, std::slice::from_ref(option));
        assert_eq!((found.dropped, found.findings), (vec![], vec![]));
        found.ranked[0].axes.taste
    };
    let whole = taste(&request(), &option());
    for (pointer, value) in [
        ("/yoga_intent/yoga_style_preferred", json!("iyengar")),
        ("/yoga_intent/class_kind_preferred", json!("kids_class")),
        ("/yoga_intent/temperature_kind_acceptable", json!(["hot_yoga_40c"])),
        ("/yoga_intent/max_class_size", json!(15)),
        ("/yoga_intent/props_required", json!(["mat", "wheel"])),
        ("/preferences/studio_kind_preferred", json!("home_studio_certified")),
        ("/preferences/instructor_gender_preference", json!("male")),
        ("/preferences/instructor_min_experience_years", json!(13)),
        ("/preferences/instructor_certification_authority_acceptable", json!(["traditional_gurukul"])),
        ("/session_kind", json!("private_session")),
        ("/duration_minutes", json!(90)),
    ] {
        let picky = with(request(), &[(pointer, value)]);
        assert!(taste(&picky, &option()) < whole, "{pointer}");
    }
    for (wish, amenities) in [
        ("shower_required", vec!["/showers_count", "/showers_with_hot_water"]),
        ("locker_required", vec!["/lockers_count", "/locker_secure_lock"]),
        ("ac_or_fan_required", vec!["/air_conditioning", "/fan_only"]),
        ("parking_required", vec!["/parking_available"]),
        ("single_gender_class_required", vec!["/female_only_class_hours_available"]),
    ] {
        let picky = with(request(), &[(&format!("/preferences/{wish}"), json!(true))]);
        let set = |there: bool| {
            let mut option = option();
            for amenity in &amenities {
                let value = if amenity.ends_with("_count") { json!(i32::from(there)) } else { json!(there) };
                option["yoga_studio"]["amenities"][amenity.trim_start_matches('/')] = value;
            }
            option
        };
        assert!(taste(&picky, &set(false)) < taste(&picky, &set(true)), "{wish}");
    }
    for no_wish in ["any", "no_preference", "none"] {
        let easy = with(request(), &[("/preferences/instructor_gender_preference", json!(no_wish))]);
        assert_eq!(taste(&easy, &option()), whole, "{no_wish}");
    }
    let wanted = [("/yoga_intent/class_kind_preferred", json!("kids_class"))];
    let neither = [wanted[0].clone(), ("/yoga_intent/class_kind_acceptable", json!(["seniors_class"]))];
    let (second_best, unwanted) = (with(request(), &wanted), with(request(), &neither));
    assert!(taste(&unwanted, &option()) < taste(&second_best, &option()), "preferred, acceptable, neither");
    let skill = with(request(), &[("/yoga_intent/min_instructor_skill", json!(5))]);
    let unskilled = with(option(), &[("/yoga_studio/ratings/instructor_skill_score", json!(4.0))]);
    assert!(taste(&skill, &unskilled) < taste(&request(), &unskilled));
    let late = user(&[("pregnant_or_postpartum", json!("postpartum_over_6mo"))]);
    let unfit = with(option(), &[("/yoga_class_catalog/0/postpartum_friendly", json!(false))]);
    assert!(taste(&late, &unfit) < taste(&late, &option()));
}

#[test]
fn the_card_shows_what_was_chosen() {
    // At seven there is the advanced class; at half past, hatha.
    let card_at = |time: &str| {
        let request = with(
            request(),
            &[
                ("/scheduled_for_iso", json!(format!("2026-05-04T{time}:00+05:30"))),
                ("/yoga_intent/yoga_style_preferred", json!("iyengar")),
            ],
        );
        card(&request, &classes())
    };
    assert_eq!(card_at("18:00")["starts"], "Mon 4 May, 18:00");
    assert_eq!(card_at("18:00")["instructor_id"], "inst_meera");
    assert_eq!(card_at("07:30")["starts"], "Mon 4 May, 07:30");
    assert_eq!(card_at("07:30")["instructor_id"], "inst_asha");
    let mut silent = option();
    for start in ["start_iso", "start", "starts_at", "scheduled_for_iso"] {
        silent["available_slots"][0].as_object_mut().unwrap().remove(start);
    }
    assert_eq!(card(&request(), &silent)["starts"], Value::Null);
    for start in ["start_iso", "start", "starts_at", "scheduled_for_iso"] {
        let mut told = silent.clone();
        told["available_slots"][0][start] = json!("2026-05-04T07:15:00+05:30");
        assert_eq!(card(&request(), &told)["starts"], "Mon 4 May, 07:15");
    }
    let shown = card(&request(), &option());
    assert_eq!(
        shown,
        json!({
            "class_name": "Morning Hatha", "studio": "Anahata Yoga House", "distance_km": 1.8, "rating": 4.1,
            "style": "hatha", "class_kind": "group_drop_in", "level": "mixed", "duration_minutes": 60,
            "starts": "Mon 4 May, 07:30", "instructor": "Asha Rao", "price": {"amount_inr": 600, "currency": "INR"},
            "badges": ["Prenatal-friendly", "Postpartum-friendly", "Back-pain-friendly", "Certified instructor"],
            "notice": null, "photo_url": "https://cdn.partner.example/classes/class_hatha.jpg",
            "class_id": "class_hatha", "instructor_id": "inst_asha",
        })
    );
}

#[test]
fn completeness_is_the_share_of_inherited_blocks() {
    let mut option = option();
    let blocks = ["fare", "cancellation", "freshness", "provider"];
    let completeness = |option: &Value| evaluate(&request(), std::slice::from_ref(option)).ranked[0].completeness;
    assert_eq!(completeness(&option), 1.0);
    for (left, (block, empty)) in blocks.iter().zip([json!(null), json!({}), json!([]), json!("")]).enumerate() {
        let mut emptied = option.clone();
        emptied[block] = empty;
        option.as_object_mut().unwrap().remove(*block);
        let expected = (3 - left) as f64 / 4.0;
        assert_eq!((completeness(&emptied), completeness(&option)), (expected, expected));
    }
}

#[test]
fn the_second_option_of_a_studio_is_dropped() {
    let found = evaluate(&request(), &[option(), with(option(), &[("/session_pass/pass_inr", json!(1))])]);
    assert_eq!((found.ranked[0].number, found.dropped[0].number), (0, 1));
    let violation = &found.dropped[0].violations[0];
    assert_eq!((violation.code.as_str(), violation.pointer.as_str()), ("DUPLICATE_OPTION", "/yoga_studio/identity/id"));
}

fn check_request(tool: &str, arguments: &Value) -> Result<PreparedRequest, Refusal> {
    testing::check_request::<YogaClass>(tool, arguments)
}

#[test]
fn requests_say_where_and_when() {
    let passed = check_request("search_providers", &request()).unwrap();
    assert_eq!(passed.arguments, request().to_string());
    assert_eq!(passed.notes, vec![]);
    assert_eq!(passed.need.city.as_deref(), Some("Bengaluru"));
    assert_eq!(passed.need.postal_code.as_deref(), Some("560038"));
    // 2026-05-04T01:30:00Z, and an hour more.
    assert_eq!((passed.need.from_ms, passed.need.until_ms), (Some(1_777_858_200_000), Some(1_777_861_800_000)));
    let other = with(
        request(),
        &[("/search_area", json!({"postal_code": "560001", "city": 7})), ("/duration_minutes", json!(-5))],
    );
    let need = check_request("search_providers", &other).unwrap().need;
    assert_eq!((need.city, need.postal_code.as_deref(), need.until_ms), (None, Some("560001"), None));
    for odd in [json!({}), json!({"city": " ", "pincode": {"x": 1}})] {
        let need = check_request("search_providers", &with(request(), &[("/search_area", odd)])).unwrap().need;
        assert_eq!((need.city, need.postal_code), (None, None));
    }
}

#[test]
fn requests_break_one_rule_each() {
    for (pointer, value, code) in [
        ("/intent", json!("lifestyle.book_gym_session"), "UNEXPECTED_VALUE"),
        ("/intent_version", json!("1.0"), "BAD_FORMAT"),
        ("/intent_version", json!("latest"), "BAD_FORMAT"),
    ] {
        assert_refused(
            check_request("search_providers", &with(request(), &[(pointer, value)])),
            "INVALID_REQUEST",
            &[(pointer, code)],
        );
    }
    assert!(check_request("search_providers", &with(request(), &[("/intent_version", json!("v1.0.0"))])).is_ok());
    assert_refused(check_request("search_classes", &request()), "INVALID_REQUEST", &[("", "UNKNOWN_TOOL")]);
}

#[test]
fn bands_are_noted_where_they_are_unknown() {
    let odd = with(request(), &[("/ttbs_user_band/time", json!("asap"))]);
    let notes = check_request("search_providers", &odd).unwrap().notes;
    assert_eq!((notes[0].pointer.as_str(), notes[0].code.as_str()), ("/ttbs_user_band/time", "UNKNOWN_BAND"));
    // The budget band of the preferences stands in for an absent one, and says nothing where it is none.
    let total = |band: &str, budget_band: Value| {
        let mut request = with(request(), &[("/preferences/budget_band", budget_band)]);
        request["ttbs_user_band"] = if band.is_empty() { json!({}) } else { json!({"budget": band}) };
        assert_eq!(check_request("search_providers", &request).unwrap().notes, vec![]);
        evaluate(&request, &[option(), classes()]).ranked[0].total
    };
    assert_eq!(total("", json!("ok")), total("ok", json!("good")));
    assert_ne!(total("", json!("ok")), total("", json!("good")));
    assert_eq!(total("", json!("premium")), total("good", json!("ok")));
}

fn exchange(
    tool: &str,
    arguments: &Value,
    payload: &Value,
    quoted: Option<&Value>,
) -> Result<CheckedResponse, Refusal> {
    testing::check_response::<YogaClass>(tool, arguments, payload, quoted)
}

fn findings(passed: &CheckedResponse) -> Pairs {
    pairs(&passed.findings)
}

#[test]
fn a_detail_is_of_the_studio_that_was_asked_for() {
    let arguments = sample!("detail-arguments");
    let passed = exchange("get_provider_detail", &arguments, &option(), None).unwrap();
    assert_eq!((passed.reference.as_deref(), findings(&passed)), (None, vec![]));
    let other = with(option(), &[("/yoga_studio/identity/id", json!("studio_other"))]);
    let refused = exchange("get_provider_detail", &arguments, &other, None);
    assert_refused(refused, "INTERNAL_ERROR", &[("/yoga_studio/identity/id", "UNEXPECTED_VALUE")]);
    let crowded = with(option(), &[("/yoga_class_catalog/0/class_size_typical", json!(99))]);
    let passed = exchange("get_provider_detail", &arguments, &crowded, None).unwrap();
    assert_eq!(findings(&passed), expected(&[("/yoga_class_catalog/0/class_size_typical", "CLASS_SIZE")]));
}

#[test]
fn slots_are_those_that_were_asked_for() {
    let arguments = sample!("slots-arguments");
    let slots = sample!("slots");
    let check = |slots: &Value, quoted: Option<&Value>| exchange("get_available_slots", &arguments, slots, quoted);
    assert_eq!(findings(&check(&slots, Some(&option())).unwrap()), vec![]);
    assert_eq!(findings(&check(&json!({"slots": []}), None).unwrap()), vec![]);
    for (pointer, value) in [("/slots/0/class_id", "class_x"), ("/slots/0/instructor_id_assigned", "inst_x")] {
        assert_refused(
            check(&with(slots.clone(), &[(pointer, json!(value))]), None),
            "INTERNAL_ERROR",
            &[(pointer, "UNEXPECTED_VALUE")],
        );
    }
    // Who asks for all slots gets all; those of nobody that was quoted are told.
    let all = sample!("detail-arguments");
    let other = json!({"slots": [{"class_id": "class_x", "instructor_id_assigned": "inst_x"}]});
    let passed = exchange("get_available_slots", &all, &other, Some(&option())).unwrap();
    assert_eq!(
        findings(&passed),
        expected(&[("/slots/0/class_id", "UNKNOWN_CLASS"), ("/slots/0/instructor_id_assigned", "UNKNOWN_INSTRUCTOR"),])
    );
    assert_eq!(findings(&exchange("get_available_slots", &all, &other, None).unwrap()), vec![]);
}

#[test]
fn bookings_carry_their_reference() {
    let book = sample!("book-arguments");
    let booking = sample!("booking");
    assert_eq!(exchange("book_slot", &book, &booking, None).unwrap().reference.as_deref(), Some("book_77120"));
    let change = sample!("modify-arguments");
    let revised = json!({"booking_ref": "book_77121"});
    assert_eq!(exchange("modify_booking", &change, &revised, None).unwrap().reference.as_deref(), Some("book_77121"));
    let cancel = sample!("cancel-arguments");
    let refund = sample!("refund");
    assert_eq!(exchange("cancel_booking", &cancel, &refund, None).unwrap().reference.as_deref(), Some("book_77120"));
    assert_eq!(exchange("cancel_booking", &cancel, &json!({}), None).unwrap().reference, None);
    let other = with(refund, &[("/booking_ref", json!("book_1"))]);
    assert_refused(
        exchange("cancel_booking", &cancel, &other, None),
        "INTERNAL_ERROR",
        &[("/booking_ref", "UNEXPECTED_VALUE")],
    );
}

#[test]
fn completion_reports() {
    let report = sample!("report");
    let check = check_completion::<YogaClass>;
    let passed = check(&report, Some(&option())).unwrap();
    assert_eq!((passed.amount_paise, passed.charged, passed.findings.len()), (50_847, true, 0));
    for status in [
        "cancelled_by_user",
        "cancelled_by_studio",
        "no_show",
        "failed",
        "partial_completion_user_left_early",
        "medical_event_class_halted",
    ] {
        assert!(!check(&with(report.clone(), &[("/status", json!(status))]), None).unwrap().charged, "{status}");
    }
    for (pointer, code) in [
        ("/yoga_studio_id", "STUDIO_MISMATCH"),
        ("/class_id", "CLASS_MISMATCH"),
        ("/instructor_id", "INSTRUCTOR_MISMATCH"),
    ] {
        let other = with(report.clone(), &[(pointer, json!("somebody_else"))]);
        let passed = check(&other, Some(&option())).unwrap();
        assert_eq!(pairs(&passed.findings), expected(&[(pointer, code)]));
        assert!(check(&other, None).unwrap().findings.is_empty());
    }
    for (pointer, value, code) in [
        ("/status", json!("cancelled"), "NOT_IN_VOCABULARY"),
        ("/intent", json!("lifestyle.book_gym_session"), "UNEXPECTED_VALUE"),
        ("/ended_at", json!("2026-05-04T07:29:59+05:30"), "WINDOW_ORDER"),
        ("/ended_at", json!("2026-05-04T07:30:00+05:30"), "WINDOW_ORDER"),
    ] {
        assert_refused(check(&with(report.clone(), &[(pointer, value)]), None), "INVALID_REQUEST", &[(pointer, code)]);
    }
}

/// Which slot counts, and when nothing is said, is told by `cases/completion-late.json`.
#[test]
fn lateness_is_told_against_the_quote() {
    let report = sample!("report");
    let late = |started: &str, quoted: Option<&Value>| {
        let report = with(report.clone(), &[("/started_at", json!(started))]);
        check_completion::<YogaClass>(&report, quoted).unwrap().late_minutes
    };
    let started = ["2026-05-04T07:30:00+05:30", "2026-05-04T02:12:00Z", "2026-05-04T07:25:00+05:30"];
    assert_eq!(started.map(|at| late(at, Some(&option()))), [Some(0), Some(12), Some(-5)]);
    assert_eq!(started.map(|at| late(at, None)), [None; 3]);
}

/// A class that did not take place has no duration; one that did, has one.
#[test]
fn times_of_a_report_are_in_order() {
    let report = sample!("report");
    let check = |status: &str, end: &str| {
        let report = with(report.clone(), &[("/status", json!(status)), ("/ended_at", json!(end))]);
        check_completion::<YogaClass>(&report, None).is_ok()
    };
    let (before, at, after) = ("2026-05-04T07:00:00+05:30", "2026-05-04T02:00:00Z", "2026-05-04T07:31:00+05:30");
    for status in ["completed", "partial_completion_user_left_early", "medical_event_class_halted"] {
        assert_eq!([before, at, after].map(|end| check(status, end)), [false, false, true], "{status}");
    }
    for status in ["cancelled_by_user", "cancelled_by_studio", "no_show", "failed"] {
        assert_eq!([before, at, after].map(|end| check(status, end)), [false, true, true], "{status}");
    }
}
