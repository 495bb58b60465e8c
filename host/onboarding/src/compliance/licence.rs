//! Licences and certificates, and which of them the domains ask for.

use jiff::civil::Date;
use jiff::tz::{Offset, TimeZone};
use serde::{Deserialize, Serialize};

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::violations::longer_than;

/// Indian Standard Time, UTC+05:30, in seconds: the day on which a licence ends is a day there.
const IST_OFFSET_SECONDS: i32 = 19_800;
/// Characters of a licence number.
const NUMBER_MAX_CHARS: usize = 60;
/// Fewest characters of one whose structure is not known.
const NUMBER_MIN_CHARS: usize = 4;
/// Highest state code in a food licence; 00 is the central authority's.
const FOOD_STATE_CODE_MAX: u8 = 38;

/// A licence or certificate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = LicenceBody))]
#[serde(deny_unknown_fields)]
pub struct Licence {
    /// Which kind.
    #[cfg_attr(feature = "schema", schema(value_type = String, example = "fssai"))]
    pub kind: LicenceKind,
    /// Its number.
    pub number: String,
    /// Its last day, `2027-03-31`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(required = false))]
    pub valid_until: Option<String>,
}

impl Licence {
    /// Its last day, where one is stated and has passed in India.
    pub(crate) fn ended_on(&self, now: Timestamp) -> Option<Date> {
        self.valid_until.as_deref().and_then(parse_date).filter(|end| day_in_india(now) > Some(*end))
    }
}

/// The day in India at an instant.
fn day_in_india(now: Timestamp) -> Option<Date> {
    let offset = Offset::from_seconds(IST_OFFSET_SECONDS).ok()?;
    Some(TimeZone::fixed(offset).to_datetime(now.to_jiff()?).date())
}

/// The kinds of licences that some domain asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LicenceKind {
    /// Food business, by the food safety authority.
    Fssai,
    /// Real-estate project or agent, by a state's regulator.
    Rera,
    /// Shop or establishment, by a state or municipality.
    Shop,
    /// Certificate for handling refrigerants.
    RefrigerantHandling,
    /// Insurance agent, by the insurance regulator.
    InsuranceAgent,
    /// Insurance broker, by the insurance regulator.
    InsuranceBroker,
}

impl LicenceKind {
    /// Every kind.
    pub const ALL: [Self; 6] =
        [Self::Fssai, Self::Rera, Self::Shop, Self::RefrigerantHandling, Self::InsuranceAgent, Self::InsuranceBroker];

    /// As it is written on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fssai => "fssai",
            Self::Rera => "rera",
            Self::Shop => "shop",
            Self::RefrigerantHandling => "refrigerant_handling",
            Self::InsuranceAgent => "insurance_agent",
            Self::InsuranceBroker => "insurance_broker",
        }
    }

    /// Whether the structure of its numbers says more than that there is one.
    #[must_use]
    pub(crate) fn has_known_structure(self) -> bool {
        self == Self::Fssai
    }

    /// Why a number cannot be one of this kind, if it cannot.
    #[must_use]
    pub fn fault_of(self, number: &str) -> Option<&'static str> {
        if longer_than(number, NUMBER_MAX_CHARS) {
            return Some("the number is longer than 60 characters");
        }
        match self {
            Self::Fssai => food_licence_fault(number),
            _ => other_licence_fault(number),
        }
    }
}

/// Fourteen digits: 1 for a licence or 2 for a registration, the state (2), the year (2), and the running numbers of
/// the registering office and of the licence.
fn food_licence_fault(number: &str) -> Option<&'static str> {
    if number.len() != 14 || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some("a food safety number has fourteen digits");
    }
    if !number.starts_with(['1', '2']) {
        return Some("a food safety number begins with 1 (licence) or 2 (registration)");
    }
    if number[1..3].parse::<u8>().is_ok_and(|state| state > FOOD_STATE_CODE_MAX) {
        return Some("digits 2 and 3 of a food safety number are a state code, 00 to 38");
    }
    // The law that the numbers come from is of 2006.
    if number[3..5].parse::<u8>().is_ok_and(|year| year < 6) {
        return Some("digits 4 and 5 of a food safety number are a year from 06");
    }
    None
}

/// States and offices number as they like: letters, digits and separators, with a digit among them.
fn other_licence_fault(number: &str) -> Option<&'static str> {
    let permitted = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '.' | ' ' | '(' | ')' | '_');
    if number.trim().chars().count() < NUMBER_MIN_CHARS {
        return Some("the number is shorter than 4 characters");
    }
    if !number.chars().all(permitted) {
        return Some("the number holds other characters than letters, digits and separators");
    }
    (!number.contains(|c: char| c.is_ascii_digit())).then_some("the number has no digit")
}

/// Reads an ISO date, `YYYY-MM-DD` and nothing longer.
pub(super) fn parse_date(text: &str) -> Option<Date> {
    text.parse::<Date>().ok().filter(|date| date.to_string() == text)
}

/// What a domain asks for beyond what every business shows.
pub(super) struct Requirement {
    /// Namespace of the intents concerned.
    pub(super) domain: &'static str,
    /// Stable code of the item on the checklist.
    pub(super) code: &'static str,
    /// What must be there.
    pub(super) text: &'static str,
    /// What shows it.
    pub(super) evidence: Evidence,
}

/// What shows that a requirement is met.
pub(super) enum Evidence {
    /// A licence of one of these kinds.
    Licence(&'static [LicenceKind]),
    /// Somebody who answers complaints.
    GrievanceOfficer,
}

/// Spec 1, Authentication 6 (food, real estate); spec 2, Limits, go-live requirements (auto, finance). Domains that are
/// not listed ask for nothing more.
pub(super) const REQUIREMENTS: [Requirement; 6] = [
    Requirement {
        domain: "food",
        code: "FOOD_LICENCE",
        text: "Food safety licence or registration.",
        evidence: Evidence::Licence(&[LicenceKind::Fssai]),
    },
    Requirement {
        domain: "real_estate",
        code: "REAL_ESTATE_REGISTRATION",
        text: "Registration with the real-estate regulator.",
        evidence: Evidence::Licence(&[LicenceKind::Rera]),
    },
    Requirement {
        domain: "auto",
        code: "SHOP_LICENCE",
        text: "Shop or establishment licence.",
        evidence: Evidence::Licence(&[LicenceKind::Shop]),
    },
    Requirement {
        domain: "auto",
        code: "REFRIGERANT_CERTIFICATE",
        text: "Refrigerant handling certificate.",
        evidence: Evidence::Licence(&[LicenceKind::RefrigerantHandling]),
    },
    Requirement {
        domain: "finance",
        code: "INSURANCE_LICENCE",
        text: "Insurance agent or broker licence.",
        evidence: Evidence::Licence(&[LicenceKind::InsuranceAgent, LicenceKind::InsuranceBroker]),
    },
    Requirement {
        domain: "finance",
        code: "GRIEVANCE_OFFICER",
        text: "Grievance officer with name, e-mail address and telephone number.",
        evidence: Evidence::GrievanceOfficer,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn food_numbers() {
        for good in ["10012021000071", "11516012000123", "21220190001234"] {
            assert_eq!(LicenceKind::Fssai.fault_of(good), None, "{good}");
        }
        for bad in [
            "",
            "1001202100007",
            "100120210000711",
            "1001202100007A",
            "30012021000071",
            "13912021000071",
            "10005021000071",
        ] {
            assert!(LicenceKind::Fssai.fault_of(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn other_numbers() {
        for kind in LicenceKind::ALL {
            assert_eq!(serde_json::to_value(kind).expect("serialises"), kind.as_str());
        }
        for kind in LicenceKind::ALL.into_iter().filter(|kind| !kind.has_known_structure()) {
            for good in ["P51800012345", "PRM/KA/RERA/1251/309/PR/171014/000432", "CB 123-09"] {
                assert_eq!(kind.fault_of(good), None, "{good}");
            }
            for bad in ["", "  1 ", "A1B", "pending", "12<script>", &"1".repeat(61)] {
                assert!(kind.fault_of(bad).is_some(), "{bad}");
            }
        }
    }

    #[test]
    fn dates() {
        assert!(parse_date("2026-02-28").is_some());
        for bad in ["", "2026-02-30", "28-02-2026", "2026-2-8", "20260228", "2026-02-28T00:00:00"] {
            assert_eq!(parse_date(bad), None, "{bad}");
        }
    }
}
