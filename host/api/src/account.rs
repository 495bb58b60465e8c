//! Sign-up, tokens, the account's overview, credentials, the webhook, the test call.

use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::signing_keys::{EventSending, SigningKey, StoppedEvents, Webhook};
use intent_gateway_onboarding::compliance::{GrievanceOfficer, Licence, Profile, WantedItem};
use intent_gateway_onboarding::records::{Account, Credentials, KeptSecret};
use intent_gateway_onboarding::{
    self as onboarding, IntentSample, IssuedCredentials, IssuedWebhookKey, NextStep, Overview,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::connection::ConnectionBody;
use crate::manifest::ManifestsBody;
use crate::read::{Body, Members};
use crate::time;

/// What stands in place of a secret that was shown before.
pub const REDACTED: &str = "(redacted)";

/// Writes a secret out: for the one body that shows it.
mod shown {
    use intent_gateway_domain::secret::Secret;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub(super) fn serialize<S: Serializer>(secret: &Secret, serializer: S) -> Result<S::Ok, S::Error> {
        secret.expose().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Secret, D::Error> {
        Secret::deserialize(deserializer)
    }
}

/// Asks for a code to open an account with.
#[derive(Debug, ToSchema)]
pub struct SignUpRequest {
    /// A corporate address; the code is sent to it.
    #[schema(example = "asha@coolcar.example", max_length = 254)]
    pub email: String,
    /// Display name of the business.
    #[schema(example = "CoolCar Service", max_length = 200)]
    pub business_name: String,
}

impl Body for SignUpRequest {
    fn read(members: &mut Members<'_>) -> Option<Self> {
        let (email, business_name) = (members.text("email"), members.text("business_name"));
        Some(Self { email: email?, business_name: business_name? })
    }
}

/// Asks for a code to enter an account with.
#[derive(Debug, ToSchema)]
pub struct SignInRequest {
    /// The account's address.
    #[schema(example = "asha@coolcar.example", max_length = 254)]
    pub email: String,
}

impl Body for SignInRequest {
    fn read(members: &mut Members<'_>) -> Option<Self> {
        Some(Self { email: members.text("email")? })
    }
}

/// Brings the code.
#[derive(Debug, ToSchema)]
pub struct VerifyRequest {
    /// The address that the code was sent to.
    #[schema(example = "asha@coolcar.example", max_length = 254)]
    pub email: String,
    /// Six digits.
    #[schema(value_type = String, example = "042137")]
    pub code: Secret,
}

impl Body for VerifyRequest {
    fn read(members: &mut Members<'_>) -> Option<Self> {
        let (email, code) = (members.text("email"), members.text("code"));
        Some(Self { email: email?, code: Secret::new(code?) })
    }
}

/// Brings credentials for a token.
#[derive(Debug, ToSchema)]
pub struct TokenRequest {
    /// `platform_sandbox_` and 24 hexadecimal digits.
    pub client_id: String,
    /// As it was shown when it was issued.
    #[schema(value_type = String)]
    pub client_secret: Secret,
}

impl Body for TokenRequest {
    fn read(members: &mut Members<'_>) -> Option<Self> {
        let (client_id, client_secret) = (members.text("client_id"), members.text("client_secret"));
        Some(Self { client_id: client_id?, client_secret: Secret::new(client_secret?) })
    }
}

/// Replaces a secret or a key.
#[derive(Debug, ToSchema)]
pub struct RotateRequest {
    /// Ends the one before at once instead of after 24 hours: for one that has leaked.
    #[schema(value_type = Option<bool>, default = false)]
    pub at_once: bool,
}

impl Body for RotateRequest {
    fn read(members: &mut Members<'_>) -> Option<Self> {
        Some(Self { at_once: members.flag("at_once") })
    }
}

/// Undoes a change that the owner of an account was told of by mail.
#[derive(Debug, ToSchema)]
pub struct UndoRequest {
    /// As the mail names it.
    pub account_id: String,
    /// As the mail names it; good once.
    #[schema(value_type = String)]
    pub code: Secret,
}

impl Body for UndoRequest {
    fn read(members: &mut Members<'_>) -> Option<Self> {
        let (account_id, code) = (members.text("account_id"), members.text("code"));
        Some(Self { account_id: account_id?, code: Secret::new(code?) })
    }
}

/// What was undone.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct UndoneBody {
    /// The account. All its sessions have ended.
    pub account_id: String,
    /// `client_secret`, `webhook` or `endpoint`.
    #[schema(example = "client_secret")]
    pub undone: String,
    /// The address that is called again, where the endpoint had moved.
    #[schema(required)]
    pub url: Option<String>,
}

impl From<onboarding::Undone> for UndoneBody {
    fn from(undone: onboarding::Undone) -> Self {
        Self {
            account_id: undone.account.to_string(),
            undone: undone.what.to_owned(),
            url: undone.endpoint.map(|endpoint| endpoint.url().to_owned()),
        }
    }
}

/// Saves the webhook's address.
#[derive(Debug, ToSchema)]
pub struct WebhookRequest {
    /// Where the partner receives; HTTPS.
    #[schema(example = "https://api.coolcar.example/platform", max_length = 2048)]
    pub webhook_url: String,
}

impl Body for WebhookRequest {
    fn read(members: &mut Members<'_>) -> Option<Self> {
        Some(Self { webhook_url: members.text("webhook_url")? })
    }
}

/// Tries a wish.
#[derive(Debug, ToSchema)]
pub struct TestCallRequest {
    /// In words, or an intent's identifier.
    #[schema(example = "my car AC blows warm air", min_length = 1)]
    pub user_intent: String,
}

impl Body for TestCallRequest {
    fn read(members: &mut Members<'_>) -> Option<Self> {
        Some(Self { user_intent: members.prose("user_intent")? })
    }
}

impl Body for Profile {
    const CLOSED: bool = true;

    fn read(members: &mut Members<'_>) -> Option<Self> {
        let (legal_name, gstin) = (members.text_of_any_length("legal_name"), members.text_of_any_length("gstin"));
        let legal_entity_type = members.word("legal_entity_type");
        let licences = members.objects("licences");
        let privacy_policy_url = members.text_of_any_length("privacy_policy_url");
        let grievance_officer = members.optional_object("grievance_officer");
        let form =
            Self::check_members(legal_name.as_deref(), gstin.as_deref(), licences.len(), privacy_policy_url.as_deref());
        members.judge(form);
        Some(Self {
            legal_name: legal_name?,
            legal_entity_type: legal_entity_type?,
            gstin: gstin?,
            licences,
            privacy_policy_url: privacy_policy_url?,
            grievance_officer,
        })
    }
}

impl Body for Licence {
    const CLOSED: bool = true;

    fn read(members: &mut Members<'_>) -> Option<Self> {
        let (kind, number) = (members.word("kind"), members.text_of_any_length("number"));
        let valid_until = members.optional_unbounded("valid_until");
        members.judge(Self::check_members(kind, number.as_deref(), valid_until.as_deref()));
        Some(Self { kind: kind?, number: number?, valid_until })
    }
}

impl Body for GrievanceOfficer {
    const CLOSED: bool = true;

    fn read(members: &mut Members<'_>) -> Option<Self> {
        let [name, email, phone] = ["name", "email", "phone"].map(|name| members.text_of_any_length(name));
        members.judge(Self::check_members(name.as_deref(), email.as_deref(), phone.as_deref()));
        Some(Self { name: name?, email: email?, phone: phone? })
    }
}

/// A code is on its way, if anybody waits for one.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct CodeSent {
    /// The address as it was understood.
    pub email: String,
    /// When the code is over.
    pub expires_at: String,
}

impl From<onboarding::CodeSent> for CodeSent {
    fn from(sent: onboarding::CodeSent) -> Self {
        Self { email: sent.email, expires_at: time(sent.expires_at) }
    }
}

/// A bearer token.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct IssuedToken {
    /// For `Authorization`.
    #[serde(with = "shown")]
    #[schema(value_type = String)]
    pub token: Secret,
    /// Always `Bearer`.
    #[schema(example = "Bearer")]
    pub token_type: String,
    /// When it is over.
    pub expires_at: String,
}

/// A code was right.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct SignedIn {
    /// The account, in the paths of its routes.
    pub account_id: String,
    /// The same: the partner's identifier in manifests and on the completion address. Never changed.
    pub partner_id: String,
    /// Whether the account was opened just now.
    pub created: bool,
    /// A token of the account.
    #[serde(flatten)]
    pub token: IssuedToken,
}

/// An account with all that belongs to it, and what is next.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct OverviewBody {
    /// The account.
    pub account_id: String,
    /// The same.
    pub partner_id: String,
    /// Its address.
    pub email: String,
    /// Display name given at sign-up.
    pub business_name: String,
    /// When it was opened.
    pub created_at: String,
    /// What the compliance review looks at, once given.
    #[schema(required)]
    pub profile: Option<Profile>,
    /// Its credentials and its webhook, without a secret; null before credentials are issued.
    #[schema(required)]
    pub credentials: Option<CredentialsBody>,
    /// Its manifests.
    #[schema(required)]
    pub manifest: Option<ManifestsBody>,
    /// Its connection.
    #[schema(required)]
    pub connection: Option<ConnectionBody>,
    /// The checklist of the latest manifest: what the platform team looks at, and what is wanted for it.
    pub checklist: Vec<WantedItem>,
    /// What is left to do until requests are routed, in order.
    pub next: Vec<NextStep>,
}

impl From<Overview> for OverviewBody {
    fn from(overview: Overview) -> Self {
        let Overview { account, credentials, webhook, manifests, connection, checklist, next, .. } = overview;
        Self {
            account_id: account.id.to_string(),
            partner_id: account.id.to_string(),
            email: account.email,
            business_name: account.business_name,
            created_at: time(account.created_at_ms),
            profile: account.profile,
            credentials: credentials.map(|credentials| CredentialsBody::hide_secret(credentials, webhook)),
            manifest: manifests.map(ManifestsBody::from),
            connection: connection.map(ConnectionBody::from),
            checklist,
            next,
        }
    }
}

/// Sandbox credentials. Secrets are shown once, when they are issued; `(redacted)` stands for them afterwards.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct CredentialsBody {
    /// `platform_sandbox_` and 24 hexadecimal digits.
    pub client_id: String,
    /// Shown once.
    #[serde(with = "shown")]
    #[schema(value_type = String)]
    pub client_secret: Secret,
    /// `cust_` and 12 hexadecimal digits.
    pub customer_id: String,
    /// Filled in by the partner.
    #[schema(required)]
    pub webhook_url: Option<String>,
    /// Issued when the webhook's address is saved.
    #[schema(required)]
    pub webhook_signing_key: Option<String>,
    /// The secrets that are accepted, the current one first.
    pub client_secrets: Vec<Validity>,
    /// The signing keys that are accepted, the current one first.
    pub webhook_signing_keys: Vec<Validity>,
}

/// When a secret is accepted.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Validity {
    /// Names a signing key; null for a client secret.
    #[schema(required)]
    pub key_id: Option<String>,
    /// When it was issued.
    pub issued_at: String,
    /// From then on it is refused; null for the current one.
    #[schema(required)]
    pub works_until: Option<String>,
}

impl From<&KeptSecret> for Validity {
    fn from(kept: &KeptSecret) -> Self {
        Self { key_id: None, issued_at: time(kept.issued_at_ms), works_until: kept.not_after_ms.map(time) }
    }
}

impl From<SigningKey> for Validity {
    fn from(SigningKey { id, not_before_ms, not_after_ms, sealed: _ }: SigningKey) -> Self {
        Self { key_id: Some(id), issued_at: time(not_before_ms), works_until: not_after_ms.map(time) }
    }
}

impl CredentialsBody {
    /// Without a secret.
    #[must_use]
    pub fn hide_secret(credentials: Credentials, webhook: Option<Webhook>) -> Self {
        let (webhook_url, keys) = webhook.map(|Webhook { url, keys, .. }| (url, keys)).unzip();
        Self {
            client_id: credentials.client_id,
            client_secret: Secret::new(REDACTED),
            customer_id: credentials.customer_id,
            webhook_signing_key: webhook_url.as_ref().map(|_| REDACTED.to_owned()),
            webhook_url,
            client_secrets: credentials.secrets.iter().map(Validity::from).collect(),
            webhook_signing_keys: keys.unwrap_or_default().into_iter().map(Validity::from).collect(),
        }
    }

    /// With the secret in plain: once.
    #[must_use]
    pub fn show_once(issued: IssuedCredentials, webhook: Option<Webhook>) -> Self {
        Self { client_secret: issued.client_secret, ..Self::hide_secret(issued.credentials, webhook) }
    }
}

/// A webhook. Its key is shown once, when it is issued; `(redacted)` stands for it afterwards.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct WebhookBody {
    /// Where the partner receives.
    pub webhook_url: String,
    /// Signs completion reports. Shown once: saving the address that is saved already brings no new key.
    #[serde(with = "shown")]
    #[schema(value_type = String)]
    pub webhook_signing_key: Secret,
    /// The signing keys that are accepted, the current one first.
    pub webhook_signing_keys: Vec<Validity>,
    /// What the gateway signs the events with that it posts there. Shown once, when it is made; null where there is none.
    #[schema(required)]
    pub webhook_event_secret: Option<String>,
    /// How events are sent there.
    pub events: EventSendingBody,
}

/// How events are sent to a webhook.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct EventSendingBody {
    /// The secrets that events are signed with, the current one first.
    pub secrets: Vec<Validity>,
    /// Why and since when none are sent; null where they are.
    #[schema(required)]
    pub stopped: Option<StoppedBody>,
}

/// That events are not sent any more.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct StoppedBody {
    pub at: String,
    /// One sentence.
    pub reason: String,
}

impl From<EventSending> for EventSendingBody {
    fn from(EventSending { secrets, stopped, .. }: EventSending) -> Self {
        Self {
            secrets: secrets.into_iter().map(Validity::from).collect(),
            stopped: stopped.map(|StoppedEvents { at_ms, reason }| StoppedBody { at: time(at_ms), reason }),
        }
    }
}

impl From<Webhook> for WebhookBody {
    fn from(webhook: Webhook) -> Self {
        Self::from(IssuedWebhookKey { webhook, webhook_signing_key: None, webhook_event_secret: None })
    }
}

impl From<IssuedWebhookKey> for WebhookBody {
    fn from(issued: IssuedWebhookKey) -> Self {
        let IssuedWebhookKey { webhook, webhook_signing_key, webhook_event_secret } = issued;
        let shown = webhook_event_secret.map(|secret| secret.expose().to_owned());
        let hidden = (!webhook.events.secrets.is_empty()).then(|| REDACTED.to_owned());
        Self {
            webhook_event_secret: shown.or(hidden),
            events: EventSendingBody::from(webhook.events),
            webhook_url: webhook.url,
            webhook_signing_key: webhook_signing_key.unwrap_or_else(|| Secret::new(REDACTED)),
            webhook_signing_keys: webhook.keys.into_iter().map(Validity::from).collect(),
        }
    }
}

/// What a test call comes to. The options are a stub.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct TestCallAnswer {
    /// Whether the live contracts decide on an intent of theirs.
    pub ok: bool,
    /// That intent; empty when there is none.
    pub intent: String,
    /// Made up, in the form of a ride, whatever the intent.
    pub stub_response: StubResponse,
    /// What a search of the intent itself looks like; null where there is no intent, or its contract shows no example.
    #[schema(required)]
    pub sample: Option<SampleSearch>,
    /// One or two sentences for a person.
    pub note: String,
}

/// A search out of the examples of an intent's live contract.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct SampleSearch {
    /// The tool that a partner is called with.
    #[schema(example = "search_ac_service_slots")]
    pub tool: String,
    /// A request that the contract accepts.
    #[schema(value_type = Object)]
    pub request: Value,
    /// Options that pass; at most two.
    #[schema(value_type = Vec<Object>)]
    pub options: Vec<Value>,
}

impl SampleSearch {
    /// Nothing where it is no JSON, which a contract's examples always are.
    fn of(sample: &IntentSample) -> Option<Self> {
        let IntentSample { tool, search } = sample;
        let request = serde_json::from_str(&search.request).ok()?;
        let options = search.options.iter().map(|option| serde_json::from_str(option).ok()).collect::<Option<_>>()?;
        Some(Self { tool: tool.clone(), request, options })
    }
}

/// Options that nobody offers.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct StubResponse {
    /// Two of them, or none when no intent claims the wish.
    pub options: Vec<StubOption>,
}

/// An option that nobody offers.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct StubOption {
    /// Its identifier.
    pub id: String,
    /// A kind of vehicle.
    pub vehicle_kind: String,
    /// Its price.
    pub fare: StubFare,
    /// Its time.
    pub eta: StubEta,
}

/// A made-up price.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct StubFare {
    /// In INR.
    pub total_inr: u32,
}

/// A made-up time.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct StubEta {
    /// Until the pick-up.
    pub pickup_minutes: u32,
}

impl From<onboarding::TestCall> for TestCallAnswer {
    fn from(call: onboarding::TestCall) -> Self {
        let option = |id: &str, vehicle_kind: &str, total_inr, pickup_minutes| StubOption {
            id: id.to_owned(),
            vehicle_kind: vehicle_kind.to_owned(),
            fare: StubFare { total_inr },
            eta: StubEta { pickup_minutes },
        };
        let mut options = vec![option("stub-1", "hatchback", 249, 6), option("stub-2", "sedan", 329, 9)];
        if call.intent.is_none() {
            options.clear();
        }
        Self {
            sample: call.sample.as_ref().and_then(SampleSearch::of),
            ok: call.intent.is_some(),
            intent: call.intent.unwrap_or_default(),
            stub_response: StubResponse { options },
            note: call.note,
        }
    }
}

/// Accounts in order of their identifiers.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct AccountList {
    /// This page's.
    pub accounts: Vec<AccountSummary>,
    /// What to ask the next page with, as `after`; null when this was the last.
    #[schema(required)]
    pub next: Option<String>,
}

/// An account in a list.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct AccountSummary {
    /// The account.
    pub account_id: String,
    /// The same.
    pub partner_id: String,
    /// Its address.
    pub email: String,
    /// Display name given at sign-up.
    pub business_name: String,
    /// When it was opened.
    pub created_at: String,
    /// Whether it has given its profile.
    pub has_profile: bool,
}

impl From<&Account> for AccountSummary {
    fn from(account: &Account) -> Self {
        Self {
            account_id: account.id.to_string(),
            partner_id: account.id.to_string(),
            email: account.email.clone(),
            business_name: account.business_name.clone(),
            created_at: time(account.created_at_ms),
            has_profile: account.profile.is_some(),
        }
    }
}
