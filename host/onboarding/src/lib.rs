//! The way of a business from nothing to live traffic: sign-up, credentials, manifest, review, connection, probe, test,
//! switch-on, and what the platform team does afterwards (spec 1, States and transitions).
//!
//! Each step reads the records that it needs, decides, and commits one change against the revisions that it read. When
//! somebody else was faster, it reads again and decides anew. The rules themselves are pure and live beside this
//! module: [`manifest`](crate::manifest), [`descriptors`](crate::descriptors), [`compliance`](crate::compliance),
//! [`connection`](crate::connection), `golive`.

mod accounts;
mod alarm;
mod assembly;
pub mod compliance;
mod confirmations;
pub mod connection;
mod connections;
mod credentials;
pub mod delivered;
pub mod descriptors;
mod documents;
mod error;
pub mod events;
mod golive_tests;
mod keeper;
mod live;
mod mail_texts;
pub mod manifest;
mod names;
mod next;
pub mod notices;
mod overview;
mod postman;
mod probes;
pub mod records;
mod results;
mod retests;
mod reviews;
mod sessions;
mod sign_in;
mod strikes;
mod submissions;
mod test_calls;
#[cfg(test)]
pub(crate) mod tests;
mod text;
mod undo;
mod unreported;
mod value_use;
mod webhooks;

pub use accounts::{Accounts, CodeSent, POLICY_URL, SignedIn};
pub use alarm::TeamAlarm;
pub use assembly::{Ports, Services};
pub use connections::{Connections, SwitchOn};
pub use credentials::SandboxCredentials;
pub use credentials::{Authenticated, IssuedCredentials};
pub use documents::{Document, Documents, Upload, check_documents, reseal_documents};
pub use error::OnboardingError;
pub use golive_tests::GoLiveTests;
pub use golive_tests::TestOrder;
pub use keeper::mail_context;
pub use live::LivePartners;
pub use names::AccountNames;
pub use next::{NextStep, STEP_CODES};
pub use overview::Overview;
pub use postman::Postman;
pub use probes::Probes;
pub use results::{DeliveredComparison, DeliveredResults};
pub use reviews::{DecisionOrder, ReviewVerdict, ReviewView, Reviews};
pub use sessions::{FRESH_SIGN_IN_MS, Requester, Session, Sessions};
pub use sign_in::{ConnectionSignIn, SignIns};
pub use strikes::{StrikeDesk, StrikeOrder, StrikeWatch};
pub use submissions::Submissions;
pub use submissions::Submitted;
pub use test_calls::TestCalls;
pub use test_calls::{IntentSample, TestCall};
pub use text::TEXT_MAX_CHARS;
pub use undo::{UNDO_TTL_MS, Undoing, Undone};
pub use unreported::{LookedThrough, OVERDUE_LISTED_MAX, OverdueAtPartner, UnreportedOrders};
pub use value_use::{PARTNERS_NAMED_MAX, UsedValue, ValueUse, find_value_use};
pub use webhooks::{IssuedWebhookKey, URL_MAX_BYTES, Webhooks};

use intent_gateway_domain::money::Rate;

/// Settings of onboarding.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `{base_url}` of the platform, without a slash at its end.
    pub base_url: String,
    /// Time between two scheduled probes of a live connection, milliseconds.
    pub reprobe_interval_ms: u64,
    /// The rate of the commission.
    pub rate: Rate,
    /// Where the platform team is told by mail of confirmations that end and of changed chains; nowhere if absent.
    pub team_email: Option<String>,
}
