//! What a business says of itself for compliance, and the form that it must have.

use serde::{Deserialize, Serialize};
use url::Url;

use super::email::is_email_address;
use super::gstin::{Gstin, PanHolder};
use super::licence::{Licence, LicenceKind, parse_date};
use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::violations::{Violations, code, longer_than, quote};

/// Characters of a name.
const NAME_MAX_CHARS: usize = 200;
/// Licences of one business.
const LICENCES_MAX: usize = 50;
/// Characters of an address.
const URL_MAX_CHARS: usize = 2_048;
/// Digits of a telephone number (E.164).
const PHONE_DIGITS: std::ops::RangeInclusive<usize> = 8..=15;
/// Characters of a telephone number, separators included.
const PHONE_MAX_CHARS: usize = 30;

/// What the compliance review looks at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ProfileBody))]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Name in the register.
    #[cfg_attr(feature = "schema", schema(max_length = 200))]
    pub legal_name: String,
    /// Legal form: `private_limited`, `llp`, `partnership`, `proprietorship` or `individual`.
    #[cfg_attr(feature = "schema", schema(value_type = String, example = "private_limited"))]
    pub legal_entity_type: LegalEntityType,
    /// Tax registration number.
    #[cfg_attr(feature = "schema", schema(example = "27AAPFU0939F1ZV"))]
    pub gstin: String,
    /// Licences and certificates.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required = false, max_items = 50))]
    pub licences: Vec<Licence>,
    /// Where the privacy policy is published; HTTPS.
    #[cfg_attr(feature = "schema", schema(max_length = 2048))]
    pub privacy_policy_url: String,
    /// Who answers complaints, where a domain asks for somebody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(required = false))]
    pub grievance_officer: Option<GrievanceOfficer>,
}

/// Who answers complaints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = OfficerBody))]
#[serde(deny_unknown_fields)]
pub struct GrievanceOfficer {
    /// Name.
    pub name: String,
    /// E-mail address.
    pub email: String,
    /// Telephone number.
    pub phone: String,
}

/// Legal forms that may go into production (spec 1, Authentication 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LegalEntityType {
    /// Private limited company.
    PrivateLimited,
    /// Limited liability partnership.
    Llp,
    Partnership,
    /// Sole proprietorship.
    Proprietorship,
    /// A person.
    Individual,
}

impl LegalEntityType {
    /// Every form.
    pub const ALL: [Self; 5] =
        [Self::PrivateLimited, Self::Llp, Self::Partnership, Self::Proprietorship, Self::Individual];

    /// As it is written on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PrivateLimited => "private_limited",
            Self::Llp => "llp",
            Self::Partnership => "partnership",
            Self::Proprietorship => "proprietorship",
            Self::Individual => "individual",
        }
    }

    /// Whether such a business has an account number of that kind. A proprietor trades under his or her own.
    #[must_use]
    pub(crate) fn agrees_with(self, holder: PanHolder) -> bool {
        holder
            == match self {
                Self::PrivateLimited => PanHolder::Company,
                Self::Llp | Self::Partnership => PanHolder::Firm,
                Self::Proprietorship | Self::Individual => PanHolder::Person,
            }
    }
}

impl Profile {
    /// Every breach of form; pointers into the profile. Empty for one that can be kept.
    #[must_use]
    pub fn check(&self) -> Vec<Violation> {
        let (legal_name, gstin) = (Some(&*self.legal_name), Some(&*self.gstin));
        let licences = self.licences.len();
        let mut found = Self::check_members(legal_name, gstin, licences, Some(&self.privacy_policy_url));
        for (index, Licence { kind, number, valid_until }) in self.licences.iter().enumerate().take(LICENCES_MAX) {
            let inside = Licence::check_members(Some(*kind), Some(number), valid_until.as_deref());
            found.extend(inside.into_iter().map(|violation| violation.within(&format!("/licences/{index}"))));
        }
        if let Some(GrievanceOfficer { name, email, phone }) = &self.grievance_officer {
            let inside = GrievanceOfficer::check_members(Some(name), Some(email), Some(phone));
            found.extend(inside.into_iter().map(|violation| violation.within("/grievance_officer")));
        }
        found
    }

    /// What is wrong with the form of those members that could be read, but for licences and officer, which judge their
    /// own; pointers into the profile. So that whoever sends a profile learns all that is wrong with it at once.
    #[must_use]
    pub fn check_members(
        legal_name: Option<&str>,
        gstin: Option<&str>,
        licences: usize,
        privacy_policy_url: Option<&str>,
    ) -> Vec<Violation> {
        let mut found = Violations::default();
        if let Some(written) = legal_name {
            name("/legal_name", "legal_name", written, &mut found);
        }
        if let Some(Err(error)) = gstin.map(Gstin::parse) {
            found.push("/gstin", error.code(), format!("gstin: {}", chain(&error)));
        }
        if licences > LICENCES_MAX {
            let message = format!("licences has {licences} entries, more than {LICENCES_MAX}");
            found.push("/licences", code::TOO_MANY_ITEMS, message);
        }
        if let Some(fault) = privacy_policy_url.and_then(policy_url_fault) {
            found.push("/privacy_policy_url", code::BAD_FORMAT, format!("privacy_policy_url {fault}"));
        }
        found.into_vec()
    }
}

impl Licence {
    /// What is wrong with the form of those members that could be read; pointers into the licence.
    #[must_use]
    pub fn check_members(kind: Option<LicenceKind>, number: Option<&str>, valid_until: Option<&str>) -> Vec<Violation> {
        let mut found = Violations::default();
        if let (Some(kind), Some(number)) = (kind, number)
            && let Some(fault) = kind.fault_of(number)
        {
            found.push("/number", code::BAD_FORMAT, format!("licence {}: {fault}", kind.as_str()));
        }
        if let Some(date) = valid_until.filter(|date| parse_date(date).is_none()) {
            let message = format!("valid_until must be a date, YYYY-MM-DD, found {}", quote(date));
            found.push("/valid_until", code::BAD_FORMAT, message);
        }
        found.into_vec()
    }
}

impl GrievanceOfficer {
    /// What is wrong with the form of those members that could be read; pointers into the officer.
    #[must_use]
    pub fn check_members(written: Option<&str>, email: Option<&str>, phone: Option<&str>) -> Vec<Violation> {
        let mut found = Violations::default();
        if let Some(written) = written {
            name("/name", "grievance_officer.name", written, &mut found);
        }
        if let Some(email) = email.filter(|email| !is_email_address(email)) {
            let message = format!("grievance_officer.email is no e-mail address: {}", quote(email));
            found.push("/email", code::BAD_FORMAT, message);
        }
        if let Some(phone) = phone.filter(|phone| !is_phone(phone)) {
            let message = format!("grievance_officer.phone is no telephone number: {}", quote(phone));
            found.push("/phone", code::BAD_FORMAT, message);
        }
        found.into_vec()
    }
}

fn name(at: &str, member: &str, written: &str, found: &mut Violations) {
    if written.trim().is_empty() {
        found.push(at, code::EMPTY, format!("{member} is empty"));
    } else if longer_than(written, NAME_MAX_CHARS) {
        found.push(at, code::TOO_LONG, format!("{member} is longer than {NAME_MAX_CHARS} characters"));
    } else if written.contains(char::is_control) {
        found.push(at, code::CONTROL_CHARACTER, format!("{member} holds control characters"));
    }
}

/// Whether a text is written as telephone numbers are.
pub(crate) fn is_phone(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let rest = text.strip_prefix('+').unwrap_or(text);
    let form = rest.chars().all(|c| c.is_ascii_digit() || matches!(c, ' ' | '-' | '(' | ')'));
    form && PHONE_DIGITS.contains(&digits) && !longer_than(text, PHONE_MAX_CHARS)
}

/// Why a privacy policy cannot be there. Which hosts may be called is asked when it is fetched.
fn policy_url_fault(written: &str) -> Option<String> {
    if longer_than(written, URL_MAX_CHARS) {
        return Some(format!("is longer than {URL_MAX_CHARS} characters"));
    }
    let Ok(url) = Url::parse(written) else {
        return Some(format!("is no URL: {}", quote(written)));
    };
    // Plain HTTP on the machine itself is for development: the guard of addresses refuses it anywhere else.
    let on_this_machine = matches!(url.host(), Some(url::Host::Ipv4(address)) if address.is_loopback());
    if url.scheme() != "https" && !(url.scheme() == "http" && on_this_machine) {
        return Some(format!("must begin with https://, found {}", quote(written)));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Some("must carry no user name or password".to_owned());
    }
    // `url` reads an empty host or one with blanks as no URL at all; a name without a dot is nobody's public site.
    (!url.host_str().is_some_and(|host| host.contains('.') || host.starts_with('[')))
        .then(|| "must name a public host".to_owned())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn valid() -> Profile {
        Profile {
            legal_name: "Cool Car Services Private Limited".to_owned(),
            legal_entity_type: LegalEntityType::PrivateLimited,
            gstin: "27AAACR5055K1Z7".to_owned(),
            licences: vec![Licence {
                kind: LicenceKind::Fssai,
                number: "10012021000071".to_owned(),
                valid_until: Some("2027-03-31".to_owned()),
            }],
            privacy_policy_url: "https://coolcar.example/privacy".to_owned(),
            grievance_officer: Some(GrievanceOfficer {
                name: "A. Rao".to_owned(),
                email: "grievance@coolcar.example".to_owned(),
                phone: "+91 80 4000-1234".to_owned(),
            }),
        }
    }

    #[test]
    fn a_valid_profile_passes_and_is_read_back() {
        let profile = valid();
        assert_eq!(profile.check(), vec![]);
        let written = serde_json::to_string(&profile).expect("serialises");
        assert_eq!(serde_json::from_str::<Profile>(&written).expect("reads what it writes"), profile);
        for form in LegalEntityType::ALL {
            assert_eq!(serde_json::to_value(form).expect("serialises"), form.as_str());
        }
    }

    #[test]
    fn each_rule_of_form_is_reported_at_its_place() {
        type Break = fn(&mut Profile);
        fn officer(profile: &mut Profile) -> &mut GrievanceOfficer {
            profile.grievance_officer.as_mut().expect("there is one")
        }
        let cases: [(Break, &str, &str); 17] = [
            (|p| p.legal_name = " ".into(), "/legal_name", "EMPTY"),
            (|p| p.legal_name = "x".repeat(201), "/legal_name", "TOO_LONG"),
            (|p| p.legal_name = "a\nb".into(), "/legal_name", "CONTROL_CHARACTER"),
            (|p| p.gstin = "27AAACR5055K1Z8".into(), "/gstin", "GSTIN_CHECKSUM"),
            (|p| p.gstin = String::new(), "/gstin", "GSTIN_LENGTH"),
            (|p| p.licences = vec![p.licences[0].clone(); 51], "/licences", "TOO_MANY_ITEMS"),
            (|p| p.licences[0].number = "1".into(), "/licences/0/number", "BAD_FORMAT"),
            (|p| p.licences[0].valid_until = Some("soon".into()), "/licences/0/valid_until", "BAD_FORMAT"),
            (|p| p.privacy_policy_url = "http://coolcar.example/".into(), "/privacy_policy_url", "BAD_FORMAT"),
            (|p| p.privacy_policy_url = "coolcar.example".into(), "/privacy_policy_url", "BAD_FORMAT"),
            (|p| p.privacy_policy_url = "https://a:b@coolcar.example/".into(), "/privacy_policy_url", "BAD_FORMAT"),
            (|p| p.privacy_policy_url = "https://localhost/".into(), "/privacy_policy_url", "BAD_FORMAT"),
            (
                |p| p.privacy_policy_url = format!("https://coolcar.example/{}", "x".repeat(2_048)),
                "/privacy_policy_url",
                "BAD_FORMAT",
            ),
            (|p| officer(p).name = String::new(), "/grievance_officer/name", "EMPTY"),
            (|p| officer(p).email = "rao".into(), "/grievance_officer/email", "BAD_FORMAT"),
            (|p| officer(p).phone = "12345".into(), "/grievance_officer/phone", "BAD_FORMAT"),
            (|p| officer(p).phone = "call 08040001234".into(), "/grievance_officer/phone", "BAD_FORMAT"),
        ];
        for (breaks, pointer, code) in cases {
            let mut profile = valid();
            breaks(&mut profile);
            let found = profile.check();
            let found: Vec<_> = found.iter().map(|v| (v.pointer.as_str(), v.code.as_str())).collect();
            assert_eq!(found, [(pointer, code)]);
        }
    }

    #[test]
    fn the_account_number_tells_the_legal_form() {
        let agree = |form: LegalEntityType| {
            [PanHolder::Company, PanHolder::Firm, PanHolder::Person, PanHolder::Trust]
                .map(|holder| form.agrees_with(holder))
        };
        assert_eq!(agree(LegalEntityType::PrivateLimited), [true, false, false, false]);
        assert_eq!(agree(LegalEntityType::Llp), [false, true, false, false]);
        assert_eq!(agree(LegalEntityType::Partnership), [false, true, false, false]);
        assert_eq!(agree(LegalEntityType::Proprietorship), [false, false, true, false]);
        assert_eq!(agree(LegalEntityType::Individual), [false, false, true, false]);
    }
}
