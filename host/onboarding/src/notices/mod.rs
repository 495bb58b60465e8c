//! Notices: what will change for partners, told ahead of time (spec 1, Versioning 2: changes of the manifest's schema are announced 30
//! days ahead, with what partners have to do).
//!
//! The platform team publishes a notice and may withdraw it before it takes effect. Whom it concerns is told by mail and as an event,
//! again a week before it takes effect, and when it is withdrawn. Telling goes through the accounts piece by piece, and how far it has
//! come is kept with the notice: a gateway that ends in the middle leaves nobody untold, and nobody is told twice.

mod desk;
mod record;
mod telling;

pub use desk::{NoticeDraft, Notices};
pub use record::{
    INTERFACE_AHEAD_MS, NOTICE_AHEAD_MS, Notice, NoticeKind, NoticeStage, NoticeState, Telling, Withdrawal,
};
