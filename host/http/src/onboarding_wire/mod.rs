//! The bodies of onboarding, as partners and the platform team read them.
//!
//! Times are ISO 8601 in UTC. A secret stands in a body once, when it is issued; afterwards [`REDACTED`] stands in its
//! place. What a partner or its server wrote is embedded as it is kept.

mod account;
mod connection;
mod delivered;
mod health;
mod manifest;
mod team;

use intent_gateway_domain::audit;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

pub(crate) use self::account::{
    CodeSent, CredentialsBody, IssuedToken, OverviewBody, ProfileBody, RotateRequest, SignInRequest, SignUpRequest,
    SignedIn, TestCallAnswer, TestCallRequest, TokenRequest, VerifyRequest, WebhookBody, WebhookRequest,
};
pub(crate) use self::connection::{
    ConnectionBody, ConnectionList, ConnectionStatus, EndpointRequest, ProbeAnswer, ReasonRequest, SwitchedOn,
    TestReport, TestRequest,
};
pub(crate) use self::delivered::{DeliveredBody, DeliveredList};
pub(crate) use self::health::{HealthBody, HealthList, StrikeRequest, StrikeTaken};
pub(crate) use self::manifest::{ManifestsBody, SubmittedBody};
pub(crate) use self::team::{
    AccountList, AccountSummary, AuditEntryBody, AuditPage, AuditVerified, DecisionRequest, ReviewBody, ReviewList,
    ReviewState, ReviewSummary,
};

/// What stands in place of a secret that was shown before.
pub(crate) const REDACTED: &str = "(redacted)";

/// A moment, given in milliseconds since the epoch.
pub(crate) fn time(ms: u64) -> String {
    let timestamp = i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    // Only a corrupt record is that far in the future.
    timestamp.unwrap_or(Timestamp::MAX).to_string()
}

/// Who acted.
#[derive(Serialize, ToSchema)]
pub(crate) struct ActorBody<'a> {
    /// `partner`, `admin`, or `gateway` for what it does of itself.
    role: &'a str,
    /// The account, or the name of the token's bearer.
    subject: &'a str,
}

impl<'a> From<&'a audit::Actor> for ActorBody<'a> {
    fn from(actor: &'a audit::Actor) -> Self {
        Self { role: &actor.role, subject: &actor.subject }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_iso_8601_in_utc() {
        assert_eq!(time(1_800_000_000_000), "2027-01-15T08:00:00Z");
        assert_eq!(time(1_800_000_000_042), "2027-01-15T08:00:00.042Z");
        assert_eq!(time(0), "1970-01-01T00:00:00Z");
        assert!(time(u64::MAX).starts_with("9999-"));
    }
}
