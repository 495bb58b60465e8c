//! What an option must hold, what drops it, and what is found in it.

use contract_sdk::example::with;
use contract_sdk::testing::assert_strikes;
use lifestyle_book_yoga_class::YogaClass;
use serde_json::{Value, json};

use crate::{card, classes, drops, finds, option, passes, request, user};

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
    // Wanting relief is not a disclosure.
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
    // One slot of an instructor who may not teach is not loss while there is another.
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
