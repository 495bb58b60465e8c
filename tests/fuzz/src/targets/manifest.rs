//! Manifests: what a partner submits, the authoring form, the form of a business that is reached by phone.
//!
//! A refusal says what and where. What is accepted keeps every rule, and is the same after it was kept and read again.
//!
//! Input: which of the three; a text of JSON.

use std::sync::LazyLock;

use intent_gateway_domain::contract::{Refusal, Violation};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_onboarding::manifest::{
    Accepted, Catalogue, LiveIntent, Manifest, Terms, from_authoring, generate_by_phone, submit,
};
use serde_json::Value;

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
    let intent = |text: &str| IntentId::parse(text).expect("well formed");
    let live = |name: &str, aliases: &[&str]| LiveIntent {
        intent: intent(name),
        aliases: aliases.iter().map(|alias| intent(alias)).collect(),
        version: semver::Version::new(1, 1, 0),
        widget_types: vec!["generic_listings".to_owned()],
        shape: None,
    };
    [live("auto.book_ac_service", &["car.cool"]), live("lifestyle.book_yoga_class", &[])].into_iter().collect()
});
static PARTNER: LazyLock<PartnerId> = LazyLock::new(|| PartnerId::parse("ptr_0123456789abcdef").expect("well formed"));

/// Judges one manifest.
///
/// # Panics
/// Where a refusal does not say what, or what is accepted breaks a rule.
pub(crate) fn run(data: &[u8]) {
    let [which, text @ ..] = data else { return };
    let Ok(body) = serde_json::from_slice::<Value>(text) else { return };
    let terms = Terms { catalogue: &CATALOGUE, partner: &PARTNER, base_url: "https://gateway.example/" };
    match which % 3 {
        0 => check_submission(&body, &terms),
        1 => match from_authoring(&body, Some(&PARTNER)) {
            Ok(submission) => check_submission(&submission, &terms),
            Err(refusal) => check_refusal(&refusal, &body),
        },
        _ => match generate_by_phone(&body, &terms) {
            Ok(written) => {
                let again = from_authoring(&written.authoring, Some(&PARTNER)).expect("what was written is taken");
                assert_eq!(again, written.submission);
                check_submission(&again, &terms);
            }
            Err(refusal) => check_refusal(&refusal, &body),
        },
    }
}

fn check_submission(body: &Value, terms: &Terms<'_>) {
    match submit(body, terms) {
        Ok(accepted) => {
            check_told(&accepted.warnings, body);
            check_accepted(&accepted);
        }
        Err(refusal) => check_refusal(&refusal, body),
    }
}

fn check_accepted(accepted: &Accepted) {
    let manifest = &accepted.manifest;
    assert!(!manifest.business_name.trim().is_empty() && manifest.business_name.chars().count() <= 200, "the name");
    assert!(!manifest.intents.is_empty(), "no intent");
    for (position, entry) in manifest.intents.iter().enumerate() {
        let live = CATALOGUE.live(entry.intent.as_str()).expect("the intent is live");
        assert_eq!(live.intent, entry.intent, "kept under its own name");
        assert_eq!(entry.domain, entry.intent.domain());
        assert!(manifest.intents[..position].iter().all(|other| other.intent != entry.intent), "listed twice");
        assert!(!entry.service_area.is_empty() && entry.service_area.iter().all(|place| !place.trim().is_empty()));
        let (min, max) = (entry.pricing.min.as_f64(), entry.pricing.max.as_f64());
        assert!(Some(0.0) <= min && min <= max, "prices from {min:?} to {max:?}");
        assert!(entry.ttbs_signals.values().iter().all(|signal| (0.0..=1.0).contains(signal)), "a signal out of range");
        let version = entry.intent_version.as_ref().map(|version| semver::Version::parse(version).expect("a version"));
        assert!(version.is_none_or(|version| version.cmp_precedence(&live.version).is_le()), "a version to come");
    }
    let kept = serde_json::to_string(manifest).expect("serialises");
    let read: Manifest = serde_json::from_str(&kept).expect("reads what it writes");
    assert_eq!(read, *manifest, "kept and read again");
}

fn check_refusal(refusal: &Refusal, body: &Value) {
    assert!(!refusal.violations.is_empty(), "refused without a reason");
    check_told(&refusal.violations, body);
}

fn check_told(told: &[Violation], body: &Value) {
    for Violation { pointer, code, message } in told {
        let owner = pointer.rsplit_once('/').map_or("", |(owner, _)| owner);
        assert!(body.pointer(owner).is_some(), "{pointer} points to nothing");
        assert!(!code.is_empty() && !message.is_empty() && message.len() < 2_000, "{message}");
    }
}
