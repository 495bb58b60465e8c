//! What becomes of an option that passes: its taste, its card, its completeness.

use contract_sdk::example::with;
use serde_json::{Value, json};

use crate::{card, classes, evaluate, option, request, user};

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
