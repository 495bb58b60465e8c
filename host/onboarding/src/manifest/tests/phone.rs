//! A manifest written from the short form of a business that is reached by phone.

use super::*;

fn form() -> Value {
    json!({
        "business_name": "Asha's Car Care",
        "legal_name": "Asha Rao",
        "phone": "+91 80 4000-1234",
        "service_area": ["Bengaluru", "560001"],
        "availability": "Mon-Sat 09:00-19:00 IST",
        "services": [
            {"intent": "auto.book_ac_service", "pricing": {"min": 500, "max": 8000, "currency": "INR"},
             "description": "Car AC service at your door"},
            {"intent": "lifestyle.book_yoga_class", "pricing": {"min": 200, "max": 900, "currency": "INR"}},
        ],
    })
}

fn generate(form: &Value) -> Result<PhoneManifest, Refusal> {
    generate_by_phone(form, &Terms { catalogue: &catalogue(), partner: &partner(), base_url: BASE })
}

/// Pointers and codes of all that is wrong with a form.
fn wrong(form: &Value) -> Vec<(String, String)> {
    let refused = generate(form).expect_err("it is refused");
    refused.violations.into_iter().map(|violation| (violation.pointer, violation.code)).collect()
}

#[test]
fn a_form_becomes_a_manifest_that_every_check_passes() {
    let PhoneManifest { authoring, submission, warnings, flags } = generate(&form()).expect("sound");
    assert_eq!((warnings, flags), (vec![], vec![]));
    let business = json!({
        "name": "Asha's Car Care", "legal_name": "Asha Rao", "tier": "tier2", "partner_id": partner(),
    });
    assert_eq!((&authoring["manifest_version"], &authoring["business"]), (&json!("v0.1.0"), &business));
    assert_eq!(
        authoring["intents"][0],
        json!({
            "intent": "auto.book_ac_service",
            "domain": "auto",
            "intent_version": "v1.1.0",
            "description": "Car AC service at your door. By phone: +91 80 4000-1234.",
            "pricing": {"min": 500, "max": 8000, "currency": "INR"},
            "service_area": ["Bengaluru", "560001"],
            "ttbs_signals": {"time": 0.5, "taste": 0.5, "budget": 0.5, "safety": 0.5},
            "availability": "Mon-Sat 09:00-19:00 IST",
            "widget_type": "generic_listings",
            "completion_callback": "https://gateway.example/api/v1/cpc/mcp_provider/ptr_0123456789abcdef",
        })
    );
    assert_eq!(authoring["intents"][1]["description"], "By phone: +91 80 4000-1234.");
    let again = from_authoring(&authoring, Some(&partner())).expect("the file is a manifest like any other");
    assert_eq!(again, submission);
    assert!(!judge(&submission).expect("sound").submit_for_review, "it is a draft until somebody sends it");
}

#[test]
fn all_that_is_wrong_is_told_at_its_place_in_the_form() {
    let refused = |member: &str, value: Value| {
        let mut form = form();
        form[member] = value;
        wrong(&form)
    };
    let one = |pointer: &str, code: &str| vec![(pointer.to_owned(), code.to_owned())];
    for (member, value, code) in [
        ("business_name", json!(" "), "EMPTY"),
        ("legal_name", json!(5), "WRONG_TYPE"),
        ("phone", json!("call me"), "BAD_FORMAT"),
        ("services", json!([]), "TOO_FEW_ITEMS"),
        ("services", json!("all"), "WRONG_TYPE"),
        ("service_area", json!([]), "TOO_FEW_ITEMS"),
        ("fax", json!("1"), "UNKNOWN_MEMBER"),
    ] {
        assert_eq!(refused(member, value), one(&format!("/{member}"), code), "{member}");
    }
    assert_eq!(refused("service_area", json!(["Pune", 5])), one("/service_area/1", "WRONG_TYPE"), "told once");
    assert_eq!(generate(&json!([])).expect_err("refused").violations[0].code, "WRONG_TYPE");
    let mut all = form();
    all["phone"] = json!("12");
    all["services"][0]["intent"] = json!("auto.book_ac_services");
    all["services"][1]["pricing"]["min"] = json!(901);
    all["services"][1]["description"] = json!("x".repeat(190));
    all["services"][1]["vip"] = json!(true);
    let found = wrong(&all);
    for (pointer, code) in [
        ("/phone", "BAD_FORMAT"),
        ("/services/0/intent", "INVALID_INTENT"),
        ("/services/1/pricing/min", "MIN_ABOVE_MAX"),
        ("/services/1/description", "TOO_LONG"),
        ("/services/1/vip", "UNKNOWN_MEMBER"),
    ] {
        assert!(found.contains(&(pointer.to_owned(), code.to_owned())), "{pointer}: {found:?}");
    }
}

#[test]
fn an_empty_form_says_what_it_wants() {
    let found: Vec<String> = wrong(&json!({})).into_iter().map(|(pointer, _)| pointer).collect();
    assert_eq!(found, ["/business_name", "/legal_name", "/phone", "/services"]);
}

proptest! {
    /// Whatever stands in a form: it is refused with places in the form, or becomes a manifest that would be accepted.
    #[test]
    fn a_form_is_refused_with_reasons_or_becomes_sound(
        at in any::<prop::sample::Index>(),
        value in intent_gateway_testing::json::json_value(),
    ) {
        let mut form = form();
        intent_gateway_testing::json::replace_somewhere(&mut form, at, value);
        match generate(&form) {
            Ok(written) => prop_assert!(judge(&written.submission).is_ok()),
            Err(refusal) => {
                prop_assert!(!refusal.violations.is_empty());
                prop_assert!(refusal.violations.iter().all(|one| !one.pointer.starts_with("/intents")));
            }
        }
    }
}
