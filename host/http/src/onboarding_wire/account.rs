//! Sign-up, tokens, the account's overview, credentials, the webhook, the test call.

use intent_gateway_domain::signing_keys::{SigningKey, Webhook};
use intent_gateway_onboarding::compliance::Profile;
use intent_gateway_onboarding::records::{Credentials, KeptSecret};
use intent_gateway_onboarding::{self, IssuedCredentials, IssuedWebhookKey, NextStep, Overview};
use serde::Serialize;
use utoipa::ToSchema;

use super::{ConnectionBody, ManifestsBody, REDACTED, time};

/// Asks for a code to open an account with.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the document's shape of a body that is read member by member")]
pub(crate) struct SignUpRequest {
    /// A corporate address; the code is sent to it.
    #[schema(example = "asha@coolcar.example", max_length = 254)]
    email: String,
    /// Display name of the business.
    #[schema(example = "CoolCar Service", max_length = 200)]
    business_name: String,
}

/// Asks for a code to enter an account with.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the document's shape of a body that is read member by member")]
pub(crate) struct SignInRequest {
    /// The account's address.
    #[schema(example = "asha@coolcar.example", max_length = 254)]
    email: String,
}

/// Brings the code.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the document's shape of a body that is read member by member")]
pub(crate) struct VerifyRequest {
    /// The address that the code was sent to.
    #[schema(example = "asha@coolcar.example", max_length = 254)]
    email: String,
    /// Six digits.
    #[schema(example = "042137")]
    code: String,
}

/// Brings credentials for a token.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the document's shape of a body that is read member by member")]
pub(crate) struct TokenRequest {
    /// `platform_sandbox_` and 24 hexadecimal digits.
    client_id: String,
    /// As it was shown when it was issued.
    client_secret: String,
}

/// Replaces a secret or a key.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the document's shape of a body that is read member by member")]
pub(crate) struct RotateRequest {
    /// Ends the one before at once instead of after 24 hours: for one that has leaked.
    #[schema(default = false)]
    at_once: Option<bool>,
}

/// Saves the webhook's address.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the document's shape of a body that is read member by member")]
pub(crate) struct WebhookRequest {
    /// Where the partner receives; HTTPS.
    #[schema(example = "https://api.coolcar.example/platform", max_length = 2048)]
    webhook_url: String,
}

/// Tries a wish.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the document's shape of a body that is read member by member")]
pub(crate) struct TestCallRequest {
    /// In words, or an intent's identifier.
    #[schema(example = "my car AC blows warm air", min_length = 1)]
    user_intent: String,
}

/// What the compliance review looks at.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the document's shape of the domain's own type")]
pub(crate) struct ProfileBody {
    /// Name in the register.
    #[schema(max_length = 200)]
    legal_name: String,
    /// Legal form: `private_limited`, `llp`, `partnership`, `proprietorship` or `individual`.
    #[schema(example = "private_limited")]
    legal_entity_type: String,
    /// Tax registration number.
    #[schema(example = "27AAPFU0939F1ZV")]
    gstin: String,
    /// Licences and certificates.
    #[schema(required = false, max_items = 50)]
    licences: Vec<LicenceBody>,
    /// Where the privacy policy is published; HTTPS.
    #[schema(max_length = 2048)]
    privacy_policy_url: String,
    /// Who answers complaints, where a domain asks for somebody.
    #[schema(required = false)]
    grievance_officer: Option<OfficerBody>,
}

/// A licence or certificate.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the document's shape of the domain's own type")]
pub(crate) struct LicenceBody {
    /// Which kind.
    #[schema(example = "fssai")]
    kind: String,
    /// Its number.
    number: String,
    /// Its last day, `2027-03-31`.
    #[schema(required = false)]
    valid_until: Option<String>,
}

/// Who answers complaints.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the document's shape of the domain's own type")]
pub(crate) struct OfficerBody {
    /// Name.
    name: String,
    /// E-mail address.
    email: String,
    /// Telephone number.
    phone: String,
}

/// A code is on its way, if anybody waits for one.
#[derive(Serialize, ToSchema)]
pub(crate) struct CodeSent {
    /// The address as it was understood.
    email: String,
    /// When the code is over.
    expires_at: String,
}

impl From<intent_gateway_onboarding::CodeSent> for CodeSent {
    fn from(sent: intent_gateway_onboarding::CodeSent) -> Self {
        Self { email: sent.email, expires_at: time(sent.expires_at_ms) }
    }
}

/// A bearer token.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssuedToken {
    /// For `Authorization`.
    pub(crate) token: String,
    /// Always `Bearer`.
    #[schema(example = "Bearer")]
    pub(crate) token_type: &'static str,
    /// When it is over.
    pub(crate) expires_at: String,
}

/// A code was right.
#[derive(Serialize, ToSchema)]
pub(crate) struct SignedIn<'a> {
    /// The account, in the paths of its routes.
    pub(crate) account_id: &'a str,
    /// The same: the partner's identifier in manifests and on the completion address. Never changed.
    pub(crate) partner_id: &'a str,
    /// Whether the account was opened just now.
    pub(crate) created: bool,
    /// A token of the account.
    #[serde(flatten)]
    pub(crate) token: IssuedToken,
}

/// An account with all that belongs to it, and what is next.
#[derive(Serialize, ToSchema)]
pub(crate) struct OverviewBody<'a> {
    /// The account.
    account_id: &'a str,
    /// The same.
    partner_id: &'a str,
    /// Its address.
    email: &'a str,
    /// Display name given at sign-up.
    business_name: &'a str,
    /// When it was opened.
    created_at: String,
    /// What the compliance review looks at, once given.
    #[schema(value_type = Option<ProfileBody>, required)]
    profile: Option<&'a Profile>,
    /// Its credentials and its webhook, without a secret; null before credentials are issued.
    #[schema(required)]
    credentials: Option<CredentialsBody<'a>>,
    /// Its manifests.
    #[schema(required)]
    manifest: Option<ManifestsBody<'a>>,
    /// Its connection.
    #[schema(required)]
    connection: Option<ConnectionBody<'a>>,
    /// What is left to do until requests are routed, in order.
    next: Vec<NextStepBody<'a>>,
}

impl<'a> From<&'a Overview> for OverviewBody<'a> {
    fn from(overview: &'a Overview) -> Self {
        let Overview { account, credentials, webhook, manifests, connection, next } = overview;
        let credentials = credentials.as_ref();
        Self {
            account_id: account.id.as_str(),
            partner_id: account.id.as_str(),
            email: &account.email,
            business_name: &account.business_name,
            created_at: time(account.created_at_ms),
            profile: account.profile.as_ref(),
            credentials: credentials.map(|credentials| CredentialsBody::redacted(credentials, webhook.as_ref())),
            manifest: manifests.as_ref().map(ManifestsBody::from),
            connection: connection.as_ref().map(ConnectionBody::from),
            next: next.iter().map(NextStepBody::from).collect(),
        }
    }
}

/// One thing to do.
#[derive(Serialize, ToSchema)]
pub(crate) struct NextStepBody<'a> {
    /// Stable code.
    code: &'a str,
    /// `partner` or `platform`.
    who: &'a str,
    /// One sentence for a person.
    text: &'a str,
}

impl<'a> From<&'a NextStep> for NextStepBody<'a> {
    fn from(step: &'a NextStep) -> Self {
        Self { code: step.code, who: step.who, text: &step.text }
    }
}

/// Sandbox credentials. Secrets are shown once, when they are issued; `(redacted)` stands for them afterwards.
#[derive(Serialize, ToSchema)]
pub(crate) struct CredentialsBody<'a> {
    /// `platform_sandbox_` and 24 hexadecimal digits.
    client_id: &'a str,
    /// Shown once.
    client_secret: &'a str,
    /// `cust_` and 12 hexadecimal digits.
    customer_id: &'a str,
    /// Filled in by the partner.
    #[schema(required)]
    webhook_url: Option<&'a str>,
    /// Issued when the webhook's address is saved.
    #[schema(required)]
    webhook_signing_key: Option<&'a str>,
    /// The secrets that are accepted, the current one first.
    client_secrets: Vec<Validity>,
    /// The signing keys that are accepted, the current one first.
    webhook_signing_keys: Vec<Validity>,
}

/// When a secret is accepted.
#[derive(Serialize, ToSchema)]
pub(crate) struct Validity {
    /// Names a signing key; null for a client secret.
    #[schema(required)]
    key_id: Option<String>,
    /// When it was issued.
    issued_at: String,
    /// From then on it is refused; null for the current one.
    #[schema(required)]
    works_until: Option<String>,
}

impl From<&KeptSecret> for Validity {
    fn from(kept: &KeptSecret) -> Self {
        Self { key_id: None, issued_at: time(kept.issued_at_ms), works_until: kept.not_after_ms.map(time) }
    }
}

impl From<&SigningKey> for Validity {
    fn from(key: &SigningKey) -> Self {
        let (issued_at, works_until) = (time(key.not_before_ms), key.not_after_ms.map(time));
        Self { key_id: Some(key.id.clone()), issued_at, works_until }
    }
}

impl<'a> CredentialsBody<'a> {
    pub(crate) fn redacted(credentials: &'a Credentials, webhook: Option<&'a Webhook>) -> Self {
        Self {
            client_id: &credentials.client_id,
            client_secret: REDACTED,
            customer_id: &credentials.customer_id,
            webhook_url: webhook.map(|webhook| webhook.url.as_str()),
            webhook_signing_key: webhook.map(|_| REDACTED),
            client_secrets: credentials.secrets.iter().map(Validity::from).collect(),
            webhook_signing_keys: webhook.into_iter().flat_map(|webhook| &webhook.keys).map(Validity::from).collect(),
        }
    }

    /// With the secret in plain: once.
    pub(crate) fn issued(issued: &'a IssuedCredentials, webhook: Option<&'a Webhook>) -> Self {
        Self { client_secret: issued.client_secret.expose(), ..Self::redacted(&issued.credentials, webhook) }
    }
}

/// A webhook. Its key is shown once, when it is issued; `(redacted)` stands for it afterwards.
#[derive(Serialize, ToSchema)]
pub(crate) struct WebhookBody<'a> {
    /// Where the partner receives.
    webhook_url: &'a str,
    /// Signs completion reports. Shown once: saving the address that is saved already brings no new key.
    webhook_signing_key: &'a str,
    /// The signing keys that are accepted, the current one first.
    webhook_signing_keys: Vec<Validity>,
}

impl<'a> From<&'a IssuedWebhookKey> for WebhookBody<'a> {
    fn from(issued: &'a IssuedWebhookKey) -> Self {
        let key = issued.webhook_signing_key.as_ref();
        Self {
            webhook_url: &issued.webhook.url,
            webhook_signing_key: key.map_or(REDACTED, |key| key.expose()),
            webhook_signing_keys: issued.webhook.keys.iter().map(Validity::from).collect(),
        }
    }
}

/// What a test call comes to (spec 1, Endpoints). The options are a stub.
#[derive(Serialize, ToSchema)]
pub(crate) struct TestCallAnswer {
    /// Whether a live intent claims the wish.
    ok: bool,
    /// That intent; empty when there is none.
    intent: String,
    /// Made up.
    stub_response: StubResponse,
    /// One or two sentences for a person.
    note: String,
}

/// Options that nobody offers.
#[derive(Serialize, ToSchema)]
pub(crate) struct StubResponse {
    /// Two of them, or none when no intent claims the wish.
    options: Vec<StubOption>,
}

/// An option that nobody offers.
#[derive(Serialize, ToSchema)]
pub(crate) struct StubOption {
    /// Its identifier.
    id: &'static str,
    /// A kind of vehicle.
    vehicle_kind: &'static str,
    /// Its price.
    fare: StubFare,
    /// Its time.
    eta: StubEta,
}

/// A made-up price.
#[derive(Serialize, ToSchema)]
pub(crate) struct StubFare {
    /// In INR.
    total_inr: u32,
}

/// A made-up time.
#[derive(Serialize, ToSchema)]
pub(crate) struct StubEta {
    /// Until the pick-up.
    pickup_minutes: u32,
}

impl From<intent_gateway_onboarding::TestCall> for TestCallAnswer {
    fn from(call: intent_gateway_onboarding::TestCall) -> Self {
        let option = |id, vehicle_kind, total_inr, pickup_minutes| StubOption {
            id,
            vehicle_kind,
            fare: StubFare { total_inr },
            eta: StubEta { pickup_minutes },
        };
        let mut options = vec![option("stub-1", "hatchback", 249, 6), option("stub-2", "sedan", 329, 9)];
        if call.intent.is_none() {
            options.clear();
        }
        Self {
            ok: call.intent.is_some(),
            intent: call.intent.unwrap_or_default(),
            stub_response: StubResponse { options },
            note: call.note,
        }
    }
}
