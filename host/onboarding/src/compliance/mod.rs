//! What a business must show before it goes into production (spec 1, Authentication 6): legal entity, tax number,
//! licences by domain, privacy policy; and the corporate e-mail address with which it signs up.
//!
//! Everything here judges form. Whether a licence is genuine is for a person to find out; the [`checklist`] says so
//! where it is. Not here: fetching the privacy policy, and the decision itself.

mod checklist;
mod document;
mod email;
mod gstin;
mod licence;
mod profile;
mod wanted;

pub use checklist::CheckState;
pub(crate) use checklist::PRIVACY_POLICY;
pub use checklist::{ChecklistItem, PrivacyCheck, checklist};
pub(crate) use document::clean_file_name;
pub use document::{DOCUMENT_MAX_BYTES, DOCUMENTS_MAX, DocumentKind, FILE_NAME_MAX_CHARS, MediaType};
pub use email::is_email_address;
pub(crate) use email::{CorporateEmail, mailbox};
pub use licence::{Licence, LicenceKind};
pub(crate) use profile::is_phone;
pub use profile::{GrievanceOfficer, LegalEntityType, Profile};
pub use wanted::WantedItem;

/// What the domains ask for beyond what every business shows: domain, item of the checklist, the kinds of licences any of
/// which shows it.
#[cfg(test)]
pub(crate) fn requirements() -> impl Iterator<Item = (&'static str, &'static str, &'static [LicenceKind])> {
    licence::REQUIREMENTS.iter().map(|requirement| {
        let kinds: &[LicenceKind] = match requirement.evidence {
            licence::Evidence::Licence(kinds) => kinds,
            licence::Evidence::GrievanceOfficer => &[],
        };
        (requirement.domain, requirement.code, kinds)
    })
}
