//! Properties of the ranking.

use contract_sdk::bindings::{Axes, Evaluation};
use contract_sdk::sample;
use contract_sdk::testing::properties::{self, Improvement, ids, shift};
use lifestyle_book_yoga_class::YogaClass;
use proptest::prelude::*;
use serde_json::{Value, json};

fn request(bands: &Value) -> Value {
    let mut request = sample!("request");
    request["ttbs_user_band"] = bands.clone();
    request
}

fn sample() -> Value {
    sample!("classes")
}

fn evaluate(request: &Value, payloads: &[Vec<Value>]) -> Evaluation {
    properties::evaluate::<YogaClass>(request, payloads)
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

/// Random signals of a studio.
fn studio() -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    let shares = (0_u32..=300, 0_u32..=50, 0_u32..=50, 0_u32..=100, 0_i64..=100);
    let flags = prop::array::uniform3(any::<bool>());
    let lineage = prop::sample::select(vec!["iyengar", "hatha_traditional", "vinyasa_modern", "mixed", "kundalini"]);
    let kind = prop::sample::select(vec!["dedicated_yoga_studio", "wellness_center", "celebrity_brand"]);
    (shares, flags, lineage, kind).prop_map(|((distance, skill, recent, on_time, audit), flags, lineage, kind)| {
        vec![
            ("/yoga_studio/distance_from_user_km", json!(f64::from(distance) / 10.0)),
            ("/yoga_studio/ratings/instructor_skill_score", json!(f64::from(skill) / 10.0)),
            ("/yoga_studio/ratings/recent_30day_score", json!(f64::from(recent) / 10.0)),
            ("/yoga_studio/ratings/on_time_30day_pct", json!(f64::from(on_time) / 100.0)),
            ("/yoga_studio/trust/safety_audit_score", json!(audit)),
            ("/yoga_studio/trust/aed_defibrillator_present", json!(flags[0])),
            ("/yoga_studio/amenities/cctv_in_premises", json!(flags[1])),
            ("/yoga_studio/amenities/panic_button_at_floor", json!(flags[2])),
            ("/yoga_studio/identity/yoga_lineage", json!(lineage)),
            ("/yoga_studio/identity/studio_kind", json!(kind)),
        ]
    })
}

/// An option that passes every rule, with random signals of studio, pass, classes, slots and instructors.
fn option(index: usize) -> impl Strategy<Value = Value> {
    let pass = (100_i64..2000, prop::sample::subsequence(vec!["props_use", "shower_access", "herbal_tea"], 0..=3));
    let class = (
        prop::sample::select(vec!["hatha", "vinyasa", "iyengar"]),
        prop::sample::select(vec!["group_drop_in", "silent_class", "seniors_class"]),
        prop::sample::select(vec!["room_temp", "warm_studio"]),
        1_i64..=30,
        prop::sample::subsequence(vec!["mat", "block", "strap"], 0..=3),
    );
    let teacher = (
        prop::sample::select(vec!["hatha_specialist", "vinyasa_specialist", "iyengar_certified"]),
        prop::sample::select(vec![json!(["registry_200"]), json!(["iyengar_senior"]), json!([])]),
        0_i64..=20,
    );
    let slots = prop::collection::vec((0_usize..3, 0_usize..3, 0_u32..24), 1..=6);
    let lists = (prop::collection::vec(class, 3), prop::collection::vec(teacher, 3), slots);
    (studio(), pass, lists).prop_map(move |(studio, (price, mut includes), (classes, teachers, slots))| {
        let mut option = sample();
        for (pointer, value) in studio {
            *option.pointer_mut(pointer).unwrap() = value;
        }
        option["yoga_studio"]["identity"]["id"] = json!(format!("studio-{index}"));
        includes.push("class_attendance");
        option["session_pass"] = json!({
            "pass_kind": "single_class", "pass_inr": price, "pass_includes": includes, "props_included": false,
            "shower_included": false, "validity_days": 1,
        });
        for (item, (style, kind, temperature, most, props)) in
            option["yoga_class_catalog"].as_array_mut().unwrap().iter_mut().zip(classes)
        {
            item["yoga_style"] = json!(style);
            item["class_kind"] = json!(kind);
            item["temperature_kind"] = json!(temperature);
            item["difficulty_level"] = json!("mixed");
            item["class_size_max"] = json!(most);
            item["class_size_typical"] = json!(1 + most / 2);
            item["props_provided"] = json!(props);
        }
        for (one, (specialization, certifications, years)) in
            option["instructors"].as_array_mut().unwrap().iter_mut().zip(teachers)
        {
            one["specializations"] = json!([specialization]);
            one["certifications"] = certifications;
            one["certifying_authorities"] = json!(["registry_body"]);
            one["experience_years"] = json!(years);
        }
        let names = (["class_hatha", "class_vinyasa", "class_prenatal"], ["inst_asha", "inst_vikram", "inst_meera"]);
        let slots: Vec<Value> = slots
            .into_iter()
            .map(|(class, teacher, hour)| {
                json!({
                    "class_id": names.0[class], "instructor_id_assigned": names.1[teacher],
                    "start_iso": format!("2026-05-04T{hour:02}:30:00+05:30"),
                })
            })
            .collect();
        option["available_slots"] = json!(slots);
        option
    })
}

fn options() -> impl Strategy<Value = Vec<Value>> {
    let all = (option(0), option(1), option(2), option(3), option(4), option(5), 2_usize..=6);
    all.prop_map(|(a, b, c, d, e, f, count)| [a, b, c, d, e, f].into_iter().take(count).collect())
}

/// Ways to make one signal of an option better and leave the others as they are.
fn improvements() -> Vec<Improvement> {
    vec![
        ("nearer", |option| shift(option, "/yoga_studio/distance_from_user_km", -2.0, 0.0, 30.0)),
        ("on time", |option| shift(option, "/yoga_studio/ratings/on_time_30day_pct", 0.1, 0.0, 1.0)),
        ("a slot at the right time", |option| {
            option["available_slots"][0]["start_iso"] = json!("2026-05-04T07:00:00+05:30");
        }),
        ("more skill", |option| shift(option, "/yoga_studio/ratings/instructor_skill_score", 0.5, 0.0, 5.0)),
        ("better of late", |option| shift(option, "/yoga_studio/ratings/recent_30day_score", 0.5, 0.0, 5.0)),
        ("another specialization", |option| {
            let list = option["instructors"][1]["specializations"].as_array_mut().unwrap();
            list.push(json!("hatha_specialist"));
        }),
        ("another certification", |option| {
            option["instructors"][2]["certifications"].as_array_mut().unwrap().push(json!("registry_500"));
        }),
        ("more experience", |option| shift(option, "/instructors/0/experience_years", 3.0, 0.0, 40.0)),
        ("more props", |option| {
            option["yoga_class_catalog"][0]["props_provided"].as_array_mut().unwrap().push(json!("block"));
        }),
        ("the right temperature", |option| {
            option["yoga_class_catalog"][1]["temperature_kind"] = json!("room_temp");
        }),
        ("a smaller class", |option| {
            shift(option, "/yoga_class_catalog/2/class_size_max", -4.0, 1.0, 40.0);
            shift(option, "/yoga_class_catalog/2/class_size_typical", -4.0, 1.0, 40.0);
        }),
        ("the preferred kind of class", |option| {
            option["yoga_class_catalog"][0]["class_kind"] = json!("group_drop_in");
        }),
        ("the preferred kind of studio", |option| {
            option["yoga_studio"]["identity"]["studio_kind"] = json!("dedicated_yoga_studio");
        }),
        ("cheaper", |option| shift(option, "/session_pass/pass_inr", -100.0, 0.0, 1e9)),
        ("more included", |option| option["session_pass"]["shower_included"] = json!(true)),
        ("a defibrillator", |option| option["yoga_studio"]["trust"]["aed_defibrillator_present"] = json!(true)),
        ("a better audit", |option| shift(option, "/yoga_studio/trust/safety_audit_score", 10.0, 0.0, 100.0)),
        ("cameras", |option| option["yoga_studio"]["amenities"]["cctv_in_premises"] = json!(true)),
        ("a panic button", |option| option["yoga_studio"]["amenities"]["panic_button_at_floor"] = json!(true)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_better_signal_never_lowers_the_rank(options in options(), bands in bands(), which in any::<prop::sample::Index>()) {
        let request = request(&bands);
        let which = which.index(options.len());
        properties::better_never_ranks_lower::<YogaClass>(&request, &options, which, &improvements())
            .map_err(TestCaseError::fail)?;
    }

    #[test]
    fn order_and_grouping_do_not_matter(options in options(), bands in bands(), shuffle in any::<u64>(), split in 0_usize..7) {
        let request = request(&bands);
        properties::order_and_grouping_do_not_matter::<YogaClass>(&request, &options, shuffle, split)
            .map_err(TestCaseError::fail)?;
    }

    #[test]
    fn scores_are_shares_and_the_same_twice(options in options(), bands in bands()) {
        let request = request(&bands);
        properties::scores_are_shares_and_the_same_twice::<YogaClass>(&request, &options).map_err(TestCaseError::fail)?;
    }

    /// Whatever else an option offers, what a user may not have is never shown.
    #[test]
    fn hard_filters_hold(
        options in options(),
        friendly in prop::collection::vec(prop::array::uniform4(any::<bool>()), 3),
        levels in prop::collection::vec(prop::sample::select(vec!["beginner", "intermediate", "advanced", "mixed"]), 3),
        checked in prop::array::uniform3(any::<bool>()),
        user in (
            prop::sample::select(vec!["beginner", "novice", "intermediate", "advanced", "teacher_level"]),
            prop::sample::select(vec!["none", "pregnant_t1", "pregnant_t2", "pregnant_t3", "postpartum_under_6mo"]),
            prop::sample::select(vec!["none", "back_pain", "mild_back_pain"]),
        ),
    ) {
        let mut request = request(&json!({}));
        let profile = &mut request["user_yoga_profile"];
        profile["yoga_experience_level"] = json!(user.0);
        profile["pregnant_or_postpartum"] = json!(user.1);
        profile["medical_conditions_disclosed"] = json!([user.2]);
        let mut options = options;
        for option in &mut options {
            for (index, (flags, level)) in friendly.iter().zip(&levels).enumerate() {
                let class = &mut option["yoga_class_catalog"][index];
                class["difficulty_level"] = json!(level);
                class["prenatal_friendly"] = json!(flags[0]);
                class["postpartum_friendly"] = json!(flags[1]);
                class["back_pain_friendly"] = json!(flags[2]);
                if flags[3] {
                    class["class_kind"] = json!("prenatal_class");
                }
            }
            for (index, passed) in checked.iter().enumerate() {
                option["instructors"][index]["kyc"]["background_check_passed"] = json!(passed);
            }
        }
        let found = evaluate(&request, std::slice::from_ref(&options));
        prop_assert_eq!(found.ranked.len() + found.dropped.len(), options.len());
        prop_assert!(found.dropped.iter().all(|dropped| !dropped.violations.is_empty()));
        for ranked in &found.ranked {
            let card: Value = serde_json::from_str(&ranked.card).unwrap();
            let option = &options[ranked.number as usize - 1];
            let pick = |list: &str, key: &str| {
                option[list].as_array().unwrap().iter().find(|entry| entry[key] == card[key]).unwrap()
            };
            let class = pick("yoga_class_catalog", "class_id");
            let instructor = pick("instructors", "instructor_id");
            prop_assert!(user.2 == "none" || class["back_pain_friendly"] == true);
            prop_assert!(!user.1.starts_with("pregnant") || class["prenatal_friendly"] == true);
            prop_assert!(user.1 != "postpartum_under_6mo" || class["postpartum_friendly"] == true);
            prop_assert!(!["beginner", "novice"].contains(&user.0) || class["difficulty_level"] != "advanced");
            prop_assert!(!["advanced", "teacher_level"].contains(&user.0) || class["difficulty_level"] != "beginner");
            prop_assert!(instructor["kyc"]["background_check_passed"] == true);
            prop_assert!(class["difficulty_level"] != "advanced" || instructor["certifications"] != json!([]));
            // No instructor here holds the prenatal certificate.
            prop_assert!(class["class_kind"] != "prenatal_class");
            let special = friendly.iter().any(|flags| flags[3]);
            prop_assert!(user.1 != "pregnant_t3" || special);
            let slot = option["available_slots"].as_array().unwrap().iter().any(|slot| {
                slot["class_id"] == card["class_id"] && slot["instructor_id_assigned"] == card["instructor_id"]
            });
            prop_assert!(slot);
        }
    }
}

/// Two options, the second with these changes. The first has to come first.
fn loses(changes: &[(&str, Value)]) {
    let mut options = [sample(), sample()];
    options[0]["yoga_studio"]["identity"]["id"] = json!("kept");
    options[1]["yoga_studio"]["identity"]["id"] = json!("changed");
    for (pointer, value) in changes {
        *options[1].pointer_mut(pointer).unwrap() = value.clone();
    }
    let found = evaluate(&request(&json!({})), &[options.to_vec()]);
    assert_eq!(ids(&found), ["kept", "changed"], "{changes:?}");
    assert!(found.ranked[0].total > found.ranked[1].total, "{changes:?}");
}

#[test]
fn each_signal_decides_where_nothing_else_does() {
    let ratings = |name: &str| format!("/yoga_studio/ratings/{name}");
    loses(&[("/yoga_studio/distance_from_user_km", json!(3.5))]);
    loses(&[(&ratings("on_time_30day_pct"), json!(0.5))]);
    loses(&[(&ratings("instructor_skill_score"), json!(2.0))]);
    loses(&[(&ratings("recent_30day_score"), json!(2.0))]);
    loses(&[("/yoga_studio/identity/yoga_lineage", json!("kundalini"))]);
    loses(&[("/yoga_studio/trust/safety_audit_score", json!(10))]);
    loses(&[("/session_pass/pass_inr", json!(701))]);
    // Both hatha slots.
    loses(&[
        ("/instructors/0/specializations", json!(["yin_specialist"])),
        ("/instructors/2/specializations", json!(["prenatal_certified"])),
        ("/yoga_class_catalog/1/yoga_style", json!("yin")),
    ]);
    loses(&[
        ("/yoga_class_catalog/0/props_provided", json!(["mat"])),
        ("/yoga_class_catalog/1/props_provided", json!(["mat"])),
    ]);
    loses(&[("/fare", json!(null))]);
}

#[test]
fn a_price_above_the_budget_counts_less() {
    let budget = |most: i64| {
        let mut request = request(&json!({}));
        request["preferences"]["budget_max_inr_total"] = json!(most);
        evaluate(&request, &[vec![sample()]]).ranked[0].axes.budget
    };
    assert_eq!(budget(700), budget(5000));
    assert!(budget(699) < budget(700));
}

/// The axes of one option, without what its source declares of itself.
fn rules_alone(request: &Value, option: &Value) -> Axes {
    let axes = &evaluate(request, &[vec![option.clone()]]).ranked[0].axes;
    let undo = |axis: f64, declared: f64| (axis - 0.2 * declared) / 0.8;
    Axes {
        time: undo(axes.time, 0.9),
        taste: undo(axes.taste, 0.4),
        budget: undo(axes.budget, 0.6),
        safety: undo(axes.safety, 0.7),
    }
}

fn is_close(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-9
}

/// With every preference met, taste is the weighted sum of the spec and nothing else; so are the other axes.
#[test]
fn each_signal_has_its_weight() {
    let mut best: Value = sample!("option");
    let ratings = "/yoga_studio/ratings/";
    for (pointer, value) in [
        (format!("{ratings}instructor_skill_score"), json!(5)),
        (format!("{ratings}recent_30day_score"), json!(5)),
        (format!("{ratings}on_time_30day_pct"), json!(1)),
        ("/yoga_studio/distance_from_user_km".to_owned(), json!(0)),
        ("/yoga_studio/trust/safety_audit_score".to_owned(), json!(100)),
        ("/yoga_studio/trust/aed_defibrillator_present".to_owned(), json!(true)),
        ("/yoga_studio/amenities/cctv_in_premises".to_owned(), json!(true)),
        ("/yoga_studio/amenities/panic_button_at_floor".to_owned(), json!(true)),
        ("/available_slots/0/start_iso".to_owned(), json!("2026-05-04T07:00:00+05:30")),
    ] {
        *best.pointer_mut(&pointer).unwrap() = value;
    }
    let request = request(&json!({}));
    let whole = rules_alone(&request, &best);
    assert!([whole.time, whole.taste, whole.safety].into_iter().all(|axis| is_close(axis, 1.0)), "{whole:?}");
    let lost = |pointer: &str, value: Value, pick: fn(&Axes) -> f64, expected: f64| {
        let mut worse = best.clone();
        *worse.pointer_mut(pointer).unwrap() = value;
        let lost = 1.0 - pick(&rules_alone(&request, &worse));
        assert!(is_close(lost, expected), "{pointer}: {lost}");
    };
    let taste = |axes: &Axes| axes.taste;
    lost("/yoga_studio/ratings/recent_30day_score", json!(0), taste, 0.15);
    lost("/yoga_studio/ratings/instructor_skill_score", json!(4), taste, 0.25 / 5.0);
    lost("/instructors/0/specializations", json!(["prenatal_certified"]), taste, 0.20);
    lost("/yoga_studio/identity/yoga_lineage", json!("kundalini"), taste, 0.10);
    lost("/yoga_studio/identity/yoga_lineage", json!("mixed"), taste, 0.05);
    lost("/yoga_class_catalog/0/props_provided", json!(["block"]), taste, 0.05);
    // Certifications are a preference of the sample's user as well, which is one of thirteen.
    let mut uncertified = best.clone();
    uncertified["instructors"][0]["certifications"] = json!([]);
    uncertified["instructors"][0]["certifying_authorities"] = json!([]);
    assert!(is_close(rules_alone(&request, &uncertified).taste, 0.8 * (1.0 - 0.3 / 13.0)));
    let time = |axes: &Axes| axes.time;
    lost("/yoga_studio/distance_from_user_km", json!(5), time, 0.4 * 0.5);
    lost("/available_slots/0/start_iso", json!("2026-05-04T04:00:00+05:30"), time, 0.4 * 0.5);
    lost("/available_slots/0/start_iso", json!("2026-05-06T07:00:00+05:30"), time, 0.4);
    lost("/yoga_studio/ratings/on_time_30day_pct", json!(0), time, 0.2);
    let safety = |axes: &Axes| axes.safety;
    lost("/yoga_studio/trust/aed_defibrillator_present", json!(false), safety, 0.2 / 0.6);
    lost("/yoga_studio/trust/safety_audit_score", json!(0), safety, 0.2 / 0.6);
    lost("/yoga_studio/amenities/cctv_in_premises", json!(false), safety, 0.1 / 0.6);
    lost("/yoga_studio/amenities/panic_button_at_floor", json!(false), safety, 0.1 / 0.6);
}

/// Seven things can be included; props and the shower may be said by either of two members, and count once.
#[test]
fn a_pass_is_worth_what_it_includes() {
    let all = [
        "class_attendance",
        "props_use",
        "shower_access",
        "locker_access",
        "post_class_meditation",
        "herbal_tea",
        "cooling_towel",
    ];
    let budget = |includes: &[&str], props: bool, shower: bool| {
        let mut option = sample();
        let pass = &mut option["session_pass"];
        pass["pass_includes"] = json!(includes);
        pass["props_included"] = json!(props);
        pass["shower_included"] = json!(shower);
        rules_alone(&request(&json!({})), &option).budget
    };
    for count in 1..=all.len() {
        assert!(is_close(budget(&all[..count], false, false), 0.8 + 0.2 * count as f64 / 7.0), "{count}");
    }
    assert!(is_close(budget(&all[..1], true, true), 0.8 + 0.2 * 3.0 / 7.0));
    assert!(is_close(budget(&all[..3], true, true), 0.8 + 0.2 * 3.0 / 7.0));
    assert!(is_close(budget(&[all[0], all[0]], false, false), 0.8 + 0.2 / 7.0));
}

#[test]
fn equal_options_are_ordered_by_the_request_alone() {
    properties::ties_do_not_follow_the_place::<YogaClass>(&request(&json!({})), &sample()).unwrap();
}

/// Thousands of slots and classes in one answer are judged in good time; a scan of the list for each slot is not.
#[test]
fn large_lists_are_no_burden() {
    let mut option = sample();
    let (class, slot) = (option["yoga_class_catalog"][0].clone(), option["available_slots"][0].clone());
    let many = 2_000;
    let classes: Vec<Value> = (0..many)
        .map(|index| {
            let mut class = class.clone();
            class["class_id"] = json!(format!("class-{index:05}"));
            class
        })
        .collect();
    let slots: Vec<Value> = (0..many * 5)
        .map(|index| {
            let mut slot = slot.clone();
            slot["class_id"] = json!(format!("class-{:05}", index % many));
            slot
        })
        .collect();
    option["yoga_class_catalog"] = json!(classes);
    option["available_slots"] = json!(slots);
    let found = evaluate(&request(&json!({})), &[vec![option]]);
    assert_eq!((found.ranked.len(), found.findings.len()), (1, 0));
}
