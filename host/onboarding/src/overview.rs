//! Where an account stands and what is next: what a partner sees first.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use intent_gateway_domain::signing_keys::Webhook;

use super::records::{Account, Connection, Credentials, Manifests};
use super::{Accounts, OnboardingError};
use crate::connection::ConnectionState;
use crate::manifest::Status;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::store::load;

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = NextStepBody))]
pub struct NextStep {
    /// Stable code.
    pub code: Cow<'static, str>,
    /// `partner` or `platform`.
    pub who: Cow<'static, str>,
    /// One sentence for a person.
    pub text: String,
}

/// An account with all that belongs to it.
#[derive(Clone, Debug)]
pub struct Overview {
    pub account: Account,
    /// Its credentials, without a secret.
    pub credentials: Option<Credentials>,
    /// Its webhook, without a key.
    pub webhook: Option<Webhook>,
    pub manifests: Option<Manifests>,
    pub connection: Option<Connection>,
    /// What is left to do until requests are routed, in order.
    pub next: Vec<NextStep>,
}

impl Accounts {
    /// Everything about an account, and what is next.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`].
    pub async fn overview(&self, account: &PartnerId) -> Result<Overview, OnboardingError> {
        let key = account.as_str();
        let store = &*self.keeper.store;
        let mut overview = Overview {
            account: self.get(account).await?,
            credentials: load(store, key).await?.map(|kept| kept.value),
            webhook: load(store, key).await?.map(|kept| kept.value),
            manifests: load(store, key).await?.map(|kept| kept.value),
            connection: load(store, key).await?.map(|kept| kept.value),
            next: Vec::new(),
        };
        overview.next = steps(&overview);
        Ok(overview)
    }
}

fn steps(overview: &Overview) -> Vec<NextStep> {
    let mut steps = Vec::new();
    let mut step = |code: &'static str, who: &'static str, text: &str| {
        steps.push(NextStep { code: code.into(), who: who.into(), text: text.to_owned() });
    };
    let (partner, platform) = ("partner", "platform");
    if overview.account.profile.is_none() {
        step("PROFILE", partner, "Give the business's profile: legal entity, tax number, licences, privacy policy.");
    }
    if overview.credentials.is_none() {
        step("CREDENTIALS", partner, "Have sandbox credentials issued.");
    }
    if overview.webhook.is_none() {
        step("WEBHOOK", partner, "Save the webhook's address; its signing key signs completion reports.");
    }
    match overview.manifests.as_ref().map(|manifests| (manifests.latest.status, manifests.approved.is_some())) {
        None => step("MANIFEST", partner, "Submit a manifest."),
        Some((Status::Draft, _)) => step("MANIFEST", partner, "Submit the manifest with submitForReview true."),
        Some((Status::Rejected, _)) => step("MANIFEST", partner, "Mend the manifest as the notes say, and submit it."),
        Some((Status::PendingReview, _)) => step("REVIEW", platform, "Review the manifest."),
        Some((Status::Approved, _)) => {}
    }
    match &overview.connection {
        None => step("CONNECTION", partner, "Register the endpoint of the MCP server, or of the API."),
        Some(connection) => match connection.state {
            ConnectionState::Suspended => step("LIFT", platform, "Lift the suspension, once its reason is gone."),
            ConnectionState::ProbeFailed => {
                step("PROBE", partner, "Mend what the probe found, and ask for another.");
            }
            ConnectionState::Sandbox if connection.probe.is_none() => step("PROBE", platform, "Probe the connection."),
            ConnectionState::Sandbox => {
                let tested = connection.tests.values().any(intent_gateway_domain::golive::GoLiveReport::passed);
                if !tested {
                    step("TEST", platform, "Test the connection against each intent's requirements.");
                }
                step("SWITCH_ON", platform, "Switch the connection on.");
            }
            ConnectionState::Live if !connection.quarantine.is_empty() => {
                step("DRIFT", platform, "Review the tools that have changed; their intents are out of service.");
            }
            ConnectionState::Live => {}
        },
    }
    steps
}
