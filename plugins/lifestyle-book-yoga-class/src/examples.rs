//! The cases that must hold before a version goes live: at least one accepted and one refused per function.
//!
//! They hold under any weights of the axes, so that a variant with another ranking keeps them: where an order
//! is expected, the first option is better on every axis.

use contract_sdk::bindings::Example;
use contract_sdk::example::{self, with};
use serde_json::{Value, json};

pub(crate) fn examples() -> Vec<Example> {
    [classification(), requests(), searches(), details(), bookings(), reports()].into_iter().flatten().collect()
}

fn classification() -> Vec<Example> {
    vec![
        example::classify("a yoga class at a time is this intent", "book a yoga class for tomorrow morning").accepts(),
        example::classify("yoga at home is not", "yoga teacher to come to my home").refuses(&[]),
        example::classify("a gym session is not", "book a gym session for this evening").refuses(&[]),
    ]
}

fn requests() -> Vec<Example> {
    let search = "search_providers";
    let broken = with(
        request(),
        &[
            ("/yoga_intent/yoga_style_preferred", json!("Hatha")),
            ("/yoga_intent/min_instructor_skill", json!(6)),
            ("/user_yoga_profile/yoga_goals", json!([])),
        ],
    );
    let unversioned = with(request(), &[("/intent_version", json!("latest"))]);
    vec![
        example::request("a sound request passes", search, request().to_string()).accepts(),
        example::request("every violation is told", search, broken.to_string()).refuses(&[
            "NOT_IN_VOCABULARY",
            "OUT_OF_RANGE",
            "TOO_FEW_ITEMS",
        ]),
        example::request("a version is a version", search, unversioned.to_string()).refuses(&["BAD_FORMAT"]),
        example::request("a detail can be asked for", "get_provider_detail", detail().to_string()).accepts(),
        example::request("slots can be asked for", "get_available_slots", detail().to_string()).accepts(),
        example::request("a slot can be booked", "book_slot", book().to_string()).accepts(),
        example::request("a booking is for a class", "book_slot", detail().to_string()).refuses(&["REQUIRED"]),
        example::request("a booking can be cancelled", "cancel_booking", booking_arguments().to_string()).accepts(),
        example::request("a booking can be changed", "modify_booking", booking_arguments().to_string()).accepts(),
    ]
}

fn searches() -> Vec<Example> {
    let best = option("best", &[]);
    let worse = option(
        "worse",
        &[
            ("/yoga_studio/distance_from_user_km", json!(9.5)),
            ("/yoga_studio/ratings/instructor_skill_score", json!(4.0)),
            ("/yoga_studio/trust/safety_audit_score", json!(70)),
            ("/session_pass/pass_inr", json!(601)),
        ],
    );
    let unsafe_studio = option("unsafe", &[("/yoga_studio/trust/fire_safety_compliant", json!(false))]);
    let unchecked = option("unchecked", &[("/instructors/0/kyc/background_check_passed", json!(false))]);
    let other_style = option("other", &[("/yoga_class_catalog/0/yoga_style", json!("ashtanga"))]);
    let crowded = option("crowded", &[("/yoga_class_catalog/0/class_size_typical", json!(17))]);
    let third_trimester = with(request(), &[("/user_yoga_profile/pregnant_or_postpartum", json!("pregnant_t3"))]);
    vec![
        example::search("the better studio comes first", request().to_string(), [worse, best.clone()])
            .ranks(&["best", "worse"], &[]),
        example::search(
            "fire safety, background check, style",
            request().to_string(),
            [unsafe_studio, best.clone(), unchecked, other_style],
        )
        .ranks(&["best"], &["FIRE_SAFETY", "INSTRUCTOR_UNCHECKED", "STYLE_ABSENT"]),
        example::search(
            "the third trimester needs a prenatal class",
            third_trimester.to_string(),
            [best, option("prenatal", &[("/yoga_class_catalog/0/class_kind", json!("prenatal_class"))])],
        )
        .ranks(&["prenatal"], &["PRENATAL_CLASS_REQUIRED"]),
        example::search("an attendance above the limit is a finding", request().to_string(), [crowded])
            .ranks(&["crowded"], &["CLASS_SIZE"]),
        example::search(
            "a broken option says all that is broken",
            request().to_string(),
            [r#"{"yoga_studio":{"identity":{"id":"half"}},"available_slots":[]}"#.to_owned()],
        )
        .accepts_with(&["REQUIRED", "TOO_FEW_ITEMS"]),
        example::search("a request that is none", "{}", []).refuses(&["REQUIRED"]),
    ]
}

fn details() -> Vec<Example> {
    let (tool, arguments) = ("get_provider_detail", detail().to_string());
    let slots = |class: &str| json!({"slots": [{"class_id": class, "instructor_id_assigned": "i-1"}]}).to_string();
    let quoted = || Some(option("s-1", &[]));
    vec![
        example::exchange("the studio that was asked for", tool, arguments.clone(), option("s-1", &[]), None).accepts(),
        example::exchange("another studio", tool, arguments.clone(), option("s-2", &[]), None)
            .refuses(&["UNEXPECTED_VALUE"]),
        example::exchange("its slots", "get_available_slots", arguments.clone(), slots("c-1"), quoted()).accepts(),
        example::exchange("a slot of no class", "get_available_slots", arguments, slots("c-9"), quoted())
            .accepts_with(&["UNKNOWN_CLASS"]),
    ]
}

fn bookings() -> Vec<Example> {
    let refund = |booking: &str| json!({"booking_ref": booking, "refund_amount_inr": 500}).to_string();
    let reference = json!({"booking_ref": "b-1"}).to_string();
    vec![
        example::exchange("a booking", "book_slot", book().to_string(), reference.clone(), None).accepts(),
        example::exchange("a booking without a name", "book_slot", book().to_string(), r#"{"booking_ref":" "}"#, None)
            .refuses(&["EMPTY"]),
        example::exchange("a refund", "cancel_booking", booking_arguments().to_string(), refund("b-1"), None).accepts(),
        example::exchange(
            "a refund of another booking",
            "cancel_booking",
            booking_arguments().to_string(),
            refund("b-2"),
            None,
        )
        .refuses(&["UNEXPECTED_VALUE"]),
        example::exchange("a changed booking", "modify_booking", booking_arguments().to_string(), reference, None)
            .accepts(),
    ]
}

fn reports() -> Vec<Example> {
    let quoted = || Some(option("s-1", &[]));
    let other = with(report(), &[("/class_id", json!("c-9"))]);
    let backwards = with(report(), &[("/ended_at", json!("2026-01-02T06:59:00+05:30"))]);
    let broken = with(report(), &[("/amount_inr", json!(10.005)), ("/props_used", json!(["towel"]))]);
    let unlisted = with(report(), &[("/status", json!("done"))]);
    let free = with(report(), &[("/amount_inr", json!(0))]);
    vec![
        example::completion("a sound report", report().to_string(), quoted()).accepts(),
        example::completion("another class than booked is a finding", other.to_string(), quoted())
            .accepts_with(&["CLASS_MISMATCH"]),
        example::completion("another day than booked is a finding", report().to_string(), quoted())
            .in_order(example::order("booked", r#"{"scheduled_for_iso":"2026-01-03T07:30:00+05:30"}"#, &[]))
            .accepts_with(&["SLOT_MISMATCH"]),
        example::completion("an amount that is no price is a finding", free.to_string(), quoted())
            .accepts_with(&["AMOUNT_MISMATCH"]),
        example::completion("a class ends after it starts", backwards.to_string(), None).refuses(&["WINDOW_ORDER"]),
        example::completion("finer than a paisa, an unknown prop", broken.to_string(), None)
            .refuses(&["BAD_FORMAT", "NOT_IN_VOCABULARY"]),
        example::completion("an unlisted status", unlisted.to_string(), None).refuses(&["NOT_IN_VOCABULARY"]),
    ]
}

fn request() -> Value {
    json!({
        "intent": "lifestyle.book_yoga_class",
        "intent_version": "1.0.0",
        "search_area": {"city": "Bengaluru"},
        "context": {},
        "scheduled_for_iso": "2026-01-02T07:00:00+05:30",
        "duration_minutes": 60,
        "session_kind": "drop_in_class",
        "user_yoga_profile": {
            "yoga_experience_level": "intermediate", "years_of_practice": 3, "medical_conditions_disclosed": [],
            "yoga_goals": ["flexibility"], "pregnant_or_postpartum": "none",
        },
        "yoga_intent": {
            "yoga_styles_acceptable": ["hatha", "iyengar"], "yoga_style_preferred": "hatha",
            "class_kind_acceptable": ["group_drop_in"], "temperature_kind_acceptable": ["room_temp"],
            "max_class_size": 20, "min_instructor_skill": 4, "props_required": ["mat"],
        },
        "preferences": {
            "studio_kind_acceptable": ["dedicated_yoga_studio"], "instructor_certifications_required": true,
            "instructor_certification_authority_acceptable": ["registry_200", "iyengar_body"],
            "music_during_class_kind": "silent", "trial_first_class_optional": true,
        },
    })
}

fn option(id: &str, changes: &[(&str, Value)]) -> String {
    let option = json!({
        "yoga_studio": studio(id),
        "yoga_class_catalog": [class()],
        "available_slots": [
            {"class_id": "c-1", "instructor_id_assigned": "i-1", "start_iso": "2026-01-02T07:30:00+05:30"},
        ],
        "instructors": [instructor()],
        "session_pass": {
            "pass_kind": "single_class", "pass_inr": 600, "pass_includes": ["class_attendance"],
            "props_included": true, "shower_included": false, "validity_days": 1,
        },
        "fare": {"total_inr": 600},
        "cancellation": {"fee_inr": 100},
        "freshness": {"ttl_seconds": 60},
        "provider": {"provider_id": "p-1"},
    });
    with(option, changes).to_string()
}

fn studio(id: &str) -> Value {
    let photo = "https://partner.example/photo.jpg";
    let flags = [
        "air_conditioning",
        "fan_only",
        "natural_lighting",
        "showers_with_hot_water",
        "locker_secure_lock",
        "parking_available",
        "drinking_water_filtered",
        "quiet_zone_strict",
        "silent_meditation_room",
        "floor_anti_slip",
        "cctv_in_premises",
        "panic_button_at_floor",
        "wheelchair_accessible",
        "childcare_available",
        "female_only_class_hours_available",
        "male_only_class_hours_available",
    ];
    let mut amenities = json!({
        "showers_count": 2, "lockers_count": 20, "changing_rooms_count": 2, "parking_kind": "street",
        "studio_floor_kind": "hardwood",
    });
    for flag in flags {
        amenities[flag] = json!(true);
    }
    json!({
        "identity": {
            "id": id, "merchant_id": "m-1", "name": "Example Yoga", "brand": "Example Yoga",
            "studio_kind": "dedicated_yoga_studio", "partner_account_age_days": 900,
            "total_classes_offered_30day": 120, "total_active_members": 300, "founded_year": 2012,
            "yoga_lineage": "hatha_traditional",
        },
        "address": {
            "line_1": "1 Example Road", "neighborhood": "Indiranagar", "city": "Bengaluru", "pincode": "560038",
            "landmark": "Metro station", "lat": 12.97, "lng": 77.64, "map_place_id": "m-1",
        },
        "distance_from_user_km": 1.5,
        "ratings": {
            "overall_score": 4.6, "recent_30day_score": 4.7, "cleanliness_score": 4.8,
            "instructor_skill_score": 4.7, "ambience_score": 4.5, "overall_count": 320, "on_time_30day_pct": 0.97,
        },
        "operating_hours": {
            "is_open_now": true, "next_open_iso": "2026-01-02T05:30:00+05:30",
            "next_close_iso": "2026-01-01T21:30:00+05:30", "is_24x7": false,
            "hours_of_operation": ["05:30", "05:30", "05:30", "05:30", "05:30", "05:30", "05:30"],
        },
        "amenities": amenities,
        "trust": {
            "municipal_license_number": "EX-1", "municipal_license_valid_until": "2027-03-31",
            "safety_audit_iso": "2025-11-10T10:00:00+05:30", "safety_audit_score": 92, "employee_kyc_pct": 100,
            "insurance_coverage_inr": 2500000, "aed_defibrillator_present": true, "first_aid_kit_present": true,
            "fire_safety_compliant": true, "platform_field_team_audited": true,
        },
        "photos": {
            "thumbnail_url": photo, "hero_url": photo, "studio_floor_photos_url": photo,
            "instructors_photos_url": photo, "ai_generated_photos": false,
        },
    })
}

fn class() -> Value {
    json!({
        "class_id": "c-1", "yoga_style": "hatha", "class_name": "Morning Hatha",
        "description": "Slow standing and seated postures with long holds and counted breath, \
                        and ten minutes of guided rest at the end.",
        "class_kind": "group_drop_in", "duration_minutes": 60, "difficulty_level": "mixed", "class_size_max": 16,
        "class_size_typical": 12, "temperature_kind": "room_temp", "props_provided": ["mat", "block"],
        "prenatal_friendly": true, "postpartum_friendly": true, "back_pain_friendly": true,
        "photo_url": "https://partner.example/class.jpg", "photo_ai_generated": false, "recurring_schedule": [],
    })
}

fn instructor() -> Value {
    json!({
        "instructor_id": "i-1", "display_name": "Asha", "photo_url": "https://partner.example/asha.jpg",
        "photo_ai_generated": false, "gender": "female", "age_band": "35_44", "employed_kind": "full_time",
        "experience_years": 12, "years_of_personal_practice": 18,
        "specializations": ["hatha_specialist", "prenatal_certified"], "certifications": ["registry_200"],
        "certifying_authorities": ["registry_body"], "trained_in_lineage": "hatha_traditional",
        "languages_spoken": ["en-IN"],
        "ratings": {
            "rating_avg": 4.8, "rating_count": 210, "classes_taught_total": 1900, "classes_taught_30day": 32,
        },
        "kyc": {
            "aadhaar_verified": true, "pan_verified": true, "background_check_passed": true,
            "background_check_iso": "2025-11-12T11:00:00+05:30",
        },
        "private_session_inr": 2200,
    })
}

/// Arguments that name the studio and nothing else.
fn detail() -> Value {
    json!({"request_id": "r-1", "yoga_studio_id": "s-1"})
}

fn book() -> Value {
    json!({"request_id": "r-1", "yoga_studio_id": "s-1", "class_id": "c-1", "instructor_id": "i-1"})
}

/// Arguments that name a booking and nothing else.
fn booking_arguments() -> Value {
    json!({"request_id": "r-1", "booking_ref": "b-1"})
}

fn report() -> Value {
    json!({
        "intent": "lifestyle.book_yoga_class",
        "external_id": "b-1",
        "request_id": "r-1",
        "amount_inr": 508.47,
        "gst_inr": 91.53,
        "tips_inr": 0,
        "pass_through_inr": 0,
        "closed_at": "2026-01-02T08:35:00+05:30",
        "status": "completed",
        "intent_version": "1.0.0",
        "appointment_ref": "a-1",
        "yoga_studio_id": "s-1",
        "instructor_id": "i-1",
        "class_id": "c-1",
        "started_at": "2026-01-02T07:30:00+05:30",
        "ended_at": "2026-01-02T08:30:00+05:30",
        "duration_actual_minutes": 60,
        "user_arrived_late_minutes": 0,
        "props_used": ["mat"],
        "currency": "INR",
        "fare_breakdown_total_inr": 600,
        "rider_tip_inr": 0,
        "ratings_pending": true,
        "notes": "",
    })
}
