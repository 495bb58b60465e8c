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

pub use checklist::{CheckState, ChecklistItem, PrivacyCheck, checklist};
pub use email::{CorporateEmail, InvalidEmail};
pub use gstin::{Gstin, InvalidGstin, InvalidPan, Pan, PanHolder};
pub use licence::{Licence, LicenceKind};
pub use profile::{GrievanceOfficer, LegalEntityType, Profile};
