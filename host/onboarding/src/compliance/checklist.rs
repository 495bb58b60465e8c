//! The checklist that the platform team goes through before a business goes into production (spec 1,
//! Authentication 6): what the machine can say of each item, and what is left for a person.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::gstin::Gstin;
use super::licence::{Evidence, Licence, LicenceKind, REQUIREMENTS, Requirement};
use super::profile::Profile;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::error::chain;

/// What is said of what is not in the profile.
const MISSING: &str = "missing in the profile";

/// The item that is judged by fetching a page.
pub(crate) const PRIVACY_POLICY: &str = "PRIVACY_POLICY";

/// One item of a review's checklist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ChecklistBody))]
pub struct ChecklistItem {
    /// Stable code.
    pub code: String,
    /// What must hold.
    pub text: String,
    /// `passed`, `failed`, `by_hand` for a person to look into, or `confirmed` by one.
    #[cfg_attr(feature = "schema", schema(value_type = String, example = "by_hand"))]
    pub state: CheckState,
    /// What was seen.
    pub detail: String,
}

/// How an item stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// The machine has found it in order.
    Passed,
    /// It is missing or wrong.
    Failed,
    /// A person has to look.
    ByHand,
    /// A person has looked and found it in order.
    Confirmed,
}

/// The outcome of fetching the privacy policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrivacyCheck {
    /// The address that was fetched.
    pub url: String,
    /// When, milliseconds since the epoch.
    pub checked_at_ms: Timestamp,
    /// Whether a page was there.
    pub live: bool,
    /// What was there, or what went wrong; one sentence.
    pub detail: String,
}

/// The items for a business that lists intents of these domains, in a fixed order. `now` decides what has expired.
#[must_use]
pub fn checklist<'a>(
    profile: &Profile,
    domains: impl IntoIterator<Item = &'a str>,
    privacy: Option<&PrivacyCheck>,
    now: Timestamp,
) -> Vec<ChecklistItem> {
    let domains: BTreeSet<&str> = domains.into_iter().collect();
    let gstin = Gstin::parse(&profile.gstin);
    let tax_number = match &gstin {
        Ok(gstin) => (CheckState::Passed, format!("{} is well-formed and its check character fits", gstin.as_str())),
        Err(error) => (CheckState::Failed, chain(error)),
    };
    let mut items = vec![
        legal_entity(profile, gstin.as_ref().ok()),
        item("TAX_NUMBER", "Tax registration number (GSTIN).", tax_number),
        privacy_policy(&profile.privacy_policy_url, privacy),
    ];
    let asked = REQUIREMENTS.iter().filter(|requirement| domains.contains(requirement.domain));
    items.extend(asked.map(|requirement| judge(requirement, profile, now)));
    items
}

fn item(code: &str, text: &str, (state, detail): (CheckState, String)) -> ChecklistItem {
    ChecklistItem { code: code.to_owned(), text: text.to_owned(), state, detail }
}

fn legal_entity(profile: &Profile, gstin: Option<&Gstin>) -> ChecklistItem {
    let form = profile.legal_entity_type;
    let found = match gstin.map(|gstin| gstin.pan().holder()) {
        _ if profile.legal_name.trim().is_empty() => (CheckState::Failed, "the legal name is missing".to_owned()),
        None => (CheckState::ByHand, format!("{} cannot be compared with the tax number", form.as_str())),
        Some(holder) if form.agrees_with(holder) => {
            (CheckState::Passed, format!("{} agrees with the tax number, which is of {holder}", form.as_str()))
        }
        Some(holder) => {
            (CheckState::ByHand, format!("{} is declared, but the tax number is of {holder}", form.as_str()))
        }
    };
    item("LEGAL_ENTITY", "Legal name and legal entity type.", found)
}

fn privacy_policy(url: &str, check: Option<&PrivacyCheck>) -> ChecklistItem {
    let found = match check.filter(|check| check.url == url) {
        Some(check) if check.live => (CheckState::Passed, check.detail.clone()),
        Some(check) => (CheckState::Failed, check.detail.clone()),
        None => (CheckState::ByHand, format!("{url} has not been fetched yet")),
    };
    item(PRIVACY_POLICY, "Privacy policy, published and live.", found)
}

fn judge(requirement: &Requirement, profile: &Profile, now: Timestamp) -> ChecklistItem {
    let found = match requirement.evidence {
        Evidence::Licence(kinds) => licence(kinds, &profile.licences, now),
        Evidence::GrievanceOfficer => match &profile.grievance_officer {
            Some(officer) => (CheckState::ByHand, format!("{} is named; write to {}", officer.name, officer.email)),
            None => (CheckState::Failed, MISSING.to_owned()),
        },
    };
    item(requirement.code, requirement.text, found)
}

/// The best that can be said of any licence of these kinds.
fn licence(kinds: &[LicenceKind], held: &[Licence], now: Timestamp) -> (CheckState, String) {
    let of_kind = held.iter().filter(|licence| kinds.contains(&licence.kind));
    let mut failed = (CheckState::Failed, MISSING.to_owned());
    let mut by_hand = None;
    for licence in of_kind {
        let number = &licence.number;
        if let Some(fault) = licence.kind.fault_of(number) {
            failed.1 = fault.to_owned();
        } else if let Some(end) = licence.ended_on(now) {
            failed.1 = format!("{number} ended on {end}");
        } else if licence.kind.has_known_structure() {
            return (CheckState::Passed, format!("{number} is well-formed"));
        } else {
            by_hand = Some((CheckState::ByHand, format!("look {number} up in the register, or ask for the document")));
        }
    }
    by_hand.unwrap_or(failed)
}

#[cfg(test)]
mod tests {
    use super::super::profile::{GrievanceOfficer, LegalEntityType, tests::valid};
    use super::*;

    /// 2027-03-31 at 18:30 UTC, midnight in India: the first instant after 31 March.
    const APRIL_IN_INDIA: Timestamp = Timestamp::from_ms(1_806_517_800_000);

    /// Where the valid profile has its privacy policy.
    const URL: &str = "https://coolcar.example/privacy";

    fn states(
        profile: &Profile,
        domains: &[&str],
        privacy: Option<&PrivacyCheck>,
        now: Timestamp,
    ) -> Vec<(String, CheckState)> {
        let items = checklist(profile, domains.iter().copied(), privacy, now);
        items.into_iter().map(|item| (item.code, item.state)).collect()
    }

    fn state_of(code: &str, profile: &Profile, domain: &str) -> CheckState {
        let states = states(profile, &[domain], None, Timestamp::EPOCH);
        states.into_iter().find(|(found, _)| found == code).expect("the item is there").1
    }

    fn fetched(live: bool) -> PrivacyCheck {
        PrivacyCheck { url: URL.to_owned(), checked_at_ms: Timestamp::from_ms(1), live, detail: "seen".to_owned() }
    }

    #[test]
    fn every_business_shows_three_things() {
        let items = states(&valid(), &["lifestyle", "travel"], Some(&fetched(true)), Timestamp::EPOCH);
        let passed = |code: &str| (code.to_owned(), CheckState::Passed);
        assert_eq!(items, [passed("LEGAL_ENTITY"), passed("TAX_NUMBER"), passed("PRIVACY_POLICY")]);
    }

    #[test]
    fn the_policy_must_be_live_at_its_present_address() {
        let state = |check: Option<&PrivacyCheck>| states(&valid(), &[], check, Timestamp::EPOCH)[2].1;
        assert_eq!(state(None), CheckState::ByHand);
        assert_eq!(state(Some(&fetched(false))), CheckState::Failed);
        let moved = PrivacyCheck { url: "https://other.example/".to_owned(), ..fetched(true) };
        assert_eq!(state(Some(&moved)), CheckState::ByHand);
    }

    #[test]
    fn a_tax_number_of_another_legal_form_is_looked_at() {
        let mut profile = valid();
        profile.legal_entity_type = LegalEntityType::Llp;
        assert_eq!(state_of("LEGAL_ENTITY", &profile, "food"), CheckState::ByHand);
        profile.gstin = "x".to_owned();
        assert_eq!(state_of("TAX_NUMBER", &profile, "food"), CheckState::Failed);
        assert_eq!(state_of("LEGAL_ENTITY", &profile, "food"), CheckState::ByHand);
        profile.legal_name = " ".to_owned();
        assert_eq!(state_of("LEGAL_ENTITY", &profile, "food"), CheckState::Failed);
    }

    #[test]
    fn each_domain_asks_for_its_own() {
        let mut bare = valid();
        bare.licences.clear();
        bare.grievance_officer = None;
        for (domain, code) in [
            ("food", "FOOD_LICENCE"),
            ("real_estate", "REAL_ESTATE_REGISTRATION"),
            ("auto", "SHOP_LICENCE"),
            ("auto", "REFRIGERANT_CERTIFICATE"),
            ("finance", "INSURANCE_LICENCE"),
            ("finance", "GRIEVANCE_OFFICER"),
        ] {
            assert_eq!(state_of(code, &bare, domain), CheckState::Failed, "{code}");
        }
        let licence = |kind: LicenceKind, number: &str| Licence { kind, number: number.to_owned(), valid_until: None };
        let mut full = valid();
        for (kind, code, domain, state) in [
            (LicenceKind::Fssai, "FOOD_LICENCE", "food", CheckState::Passed),
            (LicenceKind::Rera, "REAL_ESTATE_REGISTRATION", "real_estate", CheckState::ByHand),
            (LicenceKind::Shop, "SHOP_LICENCE", "auto", CheckState::ByHand),
            (LicenceKind::RefrigerantHandling, "REFRIGERANT_CERTIFICATE", "auto", CheckState::ByHand),
            (LicenceKind::InsuranceAgent, "INSURANCE_LICENCE", "finance", CheckState::ByHand),
            (LicenceKind::InsuranceBroker, "INSURANCE_LICENCE", "finance", CheckState::ByHand),
        ] {
            full.licences = vec![licence(kind, "10012021000071")];
            assert_eq!(state_of(code, &full, domain), state, "{kind:?}");
            full.licences = vec![licence(kind, "x")];
            assert_eq!(state_of(code, &full, domain), CheckState::Failed, "{kind:?}");
        }
        full.grievance_officer = Some(GrievanceOfficer {
            name: "A".to_owned(),
            email: "a@b.in".to_owned(),
            phone: "08040001234".to_owned(),
        });
        assert_eq!(state_of("GRIEVANCE_OFFICER", &full, "finance"), CheckState::ByHand);
        // Asked for by the domain alone: nobody else needs it.
        assert_eq!(states(&bare, &["food", "food"], None, Timestamp::EPOCH).len(), 4);
    }

    #[test]
    fn a_licence_is_valid_through_its_last_day_in_india() {
        let state = |now: Timestamp| states(&valid(), &["food"], None, now)[3].1;
        assert_eq!(state(APRIL_IN_INDIA.minus_ms(1)), CheckState::Passed);
        assert_eq!(state(APRIL_IN_INDIA), CheckState::Failed);
    }

    #[test]
    fn the_best_licence_counts() {
        let mut profile = valid();
        let good = profile.licences[0].clone();
        let bad = Licence { number: "1".to_owned(), ..good.clone() };
        for licences in [vec![bad.clone(), good.clone()], vec![good, bad]] {
            profile.licences = licences;
            assert_eq!(state_of("FOOD_LICENCE", &profile, "food"), CheckState::Passed);
        }
    }
}
