//! What a business must show before it goes into production (spec 1, Authentication 6): legal entity, tax number,
//! licences by domain, privacy policy; and the corporate e-mail address with which it signs up.
//!
//! Everything here judges form. Whether a licence is genuine is for a person to find out; the [`checklist`] says so
//! where it is. Not here: fetching the privacy policy, and the decision itself.

mod checklist;
mod email;
mod gstin;
mod licence;
mod profile;

pub(crate) use checklist::CheckState;
pub use checklist::{ChecklistItem, PrivacyCheck, checklist};
pub(crate) use email::CorporateEmail;
pub use licence::Licence;
pub use profile::{GrievanceOfficer, LegalEntityType, Profile};
