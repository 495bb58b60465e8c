//! What is kept of links: nothing secret in plain, and nobody's name.
//!
//! A user is a mark under the master key. Tokens, verifiers and client secrets are sealed for the record that they belong to.

use serde::{Deserialize, Serialize};

use super::{AuthMethod, Client, Provider};
use intent_gateway_domain::check::{self, CheckedPart, Inspect, check_sealed_records};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::reseal::{ResealStopped, Resealed, SealedRecord, Tell, reseal_all};
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::store::{Kind, Record, Store, StoreError};
use intent_gateway_domain::user::User;
use intent_gateway_domain::vault::{Mark, NoEntropy, OpenError, Sealed, Vault};

/// What a user's mark is made for.
const USER: &str = "linked-user";
/// What the mark of a request's state is made for.
const STATE: &str = "link-state";

/// Whose link it is, and where: what a link is kept under.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Owner {
    pub(super) user: String,
    pub(super) partner: PartnerId,
}

impl Owner {
    /// Under every master key, the current one first; what was kept under the pseudonym alone comes last.
    pub(super) fn all(vault: &Vault, partner: &PartnerId, user: &User) -> Vec<Self> {
        let owner = |user| Self { user, partner: partner.clone() };
        user_marks(vault, user).into_iter().map(owner).collect()
    }

    /// The key of the record. It begins with the user's mark, so that the links of one user stand together.
    pub(super) fn key(&self) -> String {
        format!("{}/{}", self.user, self.partner)
    }

    fn context(&self) -> String {
        format!("link/{}", self.key())
    }
}

/// The user's mark under the current master key.
pub(super) fn user_mark(vault: &Vault, user: &User) -> String {
    vault.mark(USER, user.key()).as_str().to_owned()
}

/// The user's marks under every master key, the current one first; those of the pseudonym alone come last, where what was
/// kept under it belongs to this user.
pub(super) fn user_marks(vault: &Vault, user: &User) -> Vec<String> {
    let marks = user.keys().flat_map(|key| vault.marks(USER, key));
    marks.map(|mark| mark.as_str().to_owned()).collect()
}

/// What divides a state: before it stands what names the ticket, behind it what nobody can guess.
const STATE_DIVIDER: char = '.';

/// The state of a request that begins with a ticket.
pub(super) fn state_of(ticket_id: &str, random: &Secret) -> Secret {
    Secret::new(format!("{ticket_id}{STATE_DIVIDER}{}", random.expose()))
}

/// What the link that a ticket begins is kept under, under every master key, the current one first. There is one for each
/// ticket, so that none is used twice.
pub(super) fn ticket_keys(vault: &Vault, ticket_id: &str) -> Vec<String> {
    vault.marks(STATE, ticket_id).iter().map(|mark| mark.as_str().to_owned()).collect()
}

/// What pending links are kept under that began with this state, likewise. Those of earlier releases stand under the whole
/// of it.
pub(super) fn pending_keys(vault: &Vault, state: &Secret) -> Vec<String> {
    ticket_keys(vault, state.expose().split(STATE_DIVIDER).next().unwrap_or_default())
}

/// A [`Client`] as it is kept, without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KeptClient {
    pub(super) client_id: String,
    pub(super) method: AuthMethod,
    pub(super) origin: ClientOrigin,
}

/// Where the gateway's name at an authorization server comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ClientOrigin {
    /// The configuration.
    Configured,
    /// It is the address of the gateway's own metadata document.
    Document,
    /// A registration.
    Registered,
}

/// Which part of a client is secret, apart.
pub(super) fn split(client: Client, origin: ClientOrigin) -> (KeptClient, Option<Secret>) {
    let Client { client_id, client_secret, method } = client;
    (KeptClient { client_id, method, origin }, client_secret)
}

impl KeptClient {
    /// With its secret again.
    pub(super) fn with(&self, client_secret: Option<Secret>) -> Client {
        Client { client_id: self.client_id.clone(), client_secret, method: self.method }
    }
}

/// Texts that are sealed together; `Secret` is never serialised elsewhere.
#[derive(Deserialize)]
struct OpenedSecrets {
    texts: Vec<Option<Secret>>,
}

/// Seals several secrets as one text.
fn seal<const N: usize>(vault: &Vault, context: &str, secrets: [Option<&Secret>; N]) -> Result<Sealed, NoEntropy> {
    let texts: Vec<Option<&str>> = secrets.into_iter().map(|secret| secret.map(Secret::expose)).collect();
    vault.seal(context, &Secret::new(serde_json::json!({ "texts": texts }).to_string()))
}

/// Opens what [`seal`] has sealed.
fn open<const N: usize>(vault: &Vault, context: &str, sealed: &Sealed) -> Result<[Option<Secret>; N], OpenError> {
    let text = vault.open(context, sealed)?;
    let opened: OpenedSecrets = serde_json::from_str(text.expose()).map_err(|_| OpenError::Forged)?;
    opened.texts.try_into().map_err(|_| OpenError::Forged)
}

/// The secrets of a link.
#[derive(Clone, Debug)]
pub(super) struct LinkSecrets {
    pub(super) access: Secret,
    pub(super) refresh: Option<Secret>,
    pub(super) client: Option<Secret>,
}

/// An account at a partner that a user has linked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Link {
    /// The user's mark.
    pub(super) user: String,
    pub(super) partner: PartnerId,
    pub(super) provider: Provider,
    pub(super) client: KeptClient,
    /// What the partner challenged with, by which its authorization server was found.
    pub(super) challenge: Option<String>,
    /// The scopes that were granted, where they were told.
    pub(super) scope: Option<String>,
    /// When the user linked the account, milliseconds since the epoch.
    pub(super) since_ms: Timestamp,
    /// When the present token was obtained, likewise.
    pub(super) obtained_at_ms: Timestamp,
    /// When it is over, likewise; absent where nobody said.
    pub(super) expires_at_ms: Option<Timestamp>,
    /// From when on it is replaced before it is over, likewise.
    pub(super) ages_at_ms: Option<Timestamp>,
    /// Whether there is a refresh token.
    pub(super) renewable: bool,
    /// A process is replacing it until then at the latest, likewise; zero when none is.
    pub(super) renewing_until_ms: Timestamp,
    /// [`LinkSecrets`].
    pub(super) sealed: Sealed,
}

impl Record for Link {
    const KIND: Kind = Kind::Links;

    fn key(&self) -> String {
        self.owner().key()
    }
}

impl SealedRecord for Link {
    fn sealed(&mut self) -> Vec<(String, &mut Sealed)> {
        vec![(self.owner().context(), &mut self.sealed)]
    }
}

impl Link {
    pub(super) fn owner(&self) -> Owner {
        Owner { user: self.user.clone(), partner: self.partner.clone() }
    }

    pub(super) fn is_over(&self, now: Timestamp) -> bool {
        self.expires_at_ms.is_some_and(|until| now >= until)
    }

    pub(super) fn ages(&self, now: Timestamp) -> bool {
        self.ages_at_ms.is_some_and(|from| now >= from)
    }

    pub(super) fn seal(&mut self, vault: &Vault, secrets: &LinkSecrets) -> Result<(), NoEntropy> {
        let LinkSecrets { access, refresh, client } = secrets;
        self.renewable = refresh.is_some();
        self.sealed = seal(vault, &self.owner().context(), [Some(access), refresh.as_ref(), client.as_ref()])?;
        Ok(())
    }

    pub(super) fn open(&self, vault: &Vault) -> Result<LinkSecrets, OpenError> {
        let [access, refresh, client] = open(vault, &self.owner().context(), &self.sealed)?;
        Ok(LinkSecrets { access: access.ok_or(OpenError::Forged)?, refresh, client })
    }
}

/// The secrets of a link that a browser has begun.
pub(super) struct PendingSecrets {
    pub(super) state: Secret,
    pub(super) verifier: Secret,
    pub(super) client: Option<Secret>,
}

/// A link that a browser has begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PendingLink {
    /// Mark of the request's state.
    pub(super) key: String,
    /// The user's mark.
    pub(super) user: String,
    pub(super) partner: PartnerId,
    pub(super) provider: Provider,
    pub(super) client: KeptClient,
    pub(super) challenge: Option<String>,
    /// Recognises the browser that began.
    pub(super) browser: Mark,
    /// Milliseconds since the epoch.
    pub(super) expires_at_ms: Timestamp,
    /// [`PendingSecrets`].
    pub(super) sealed: Sealed,
    /// Whether the browser has come back. What is left then says for nobody that the ticket was used.
    #[serde(default)]
    pub(super) ended: bool,
}

impl Record for PendingLink {
    const KIND: Kind = Kind::PendingLinks;

    fn key(&self) -> String {
        self.key.clone()
    }
}

impl SealedRecord for PendingLink {
    fn sealed(&mut self) -> Vec<(String, &mut Sealed)> {
        vec![(pending_context(&self.key), &mut self.sealed)]
    }
}

fn pending_context(key: &str) -> String {
    format!("pending-link/{key}")
}

/// What the mark of a browser is made for that is asked whether to begin.
pub(super) fn confirmation_context(pending_key: &str) -> String {
    format!("link-confirmation/{pending_key}")
}

/// What a browser's mark is made for.
pub(super) fn browser_context(pending_key: &str) -> String {
    format!("link-browser/{pending_key}")
}

pub(super) fn seal_pending(vault: &Vault, key: &str, secrets: &PendingSecrets) -> Result<Sealed, NoEntropy> {
    let PendingSecrets { state, verifier, client } = secrets;
    seal(vault, &pending_context(key), [Some(state), Some(verifier), client.as_ref()])
}

impl PendingLink {
    /// The same when the browser has come back: nobody's, and without its secrets.
    pub(super) fn end(&self) -> Self {
        let (user, sealed) = (String::new(), Sealed::from_text(String::new()));
        Self { user, sealed, challenge: None, ended: true, ..self.clone() }
    }

    pub(super) fn open(&self, vault: &Vault) -> Result<PendingSecrets, OpenError> {
        let [state, verifier, client] = open(vault, &pending_context(&self.key), &self.sealed)?;
        let state = state.ok_or(OpenError::Forged)?;
        Ok(PendingSecrets { state, verifier: verifier.ok_or(OpenError::Forged)?, client })
    }
}

/// Whose users a registration is for: a server that several partners share knows the gateway as another client for each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ClientOf {
    pub(super) partner: PartnerId,
    pub(super) resource: String,
}

/// The gateway as it has registered itself at an authorization server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KnownClient {
    /// For which partner's users. Absent in registrations of earlier releases, which served all partners of an issuer; they
    /// are used no more.
    #[serde(default)]
    pub(super) of: Option<ClientOf>,
    pub(super) issuer: String,
    pub(super) redirect_uri: String,
    pub(super) client: KeptClient,
    /// Milliseconds since the epoch.
    pub(super) registered_at_ms: Timestamp,
    /// Its secret, where it has one.
    pub(super) sealed: Sealed,
}

impl Record for KnownClient {
    const KIND: Kind = Kind::LinkClients;

    fn key(&self) -> String {
        known_client_key(self.of.as_ref(), &self.issuer, &self.redirect_uri)
    }
}

/// A registration is one server's, for one partner's resource, and for one place to come back to.
pub(super) fn known_client_key(of: Option<&ClientOf>, issuer: &str, redirect_uri: &str) -> String {
    let text = match of {
        Some(ClientOf { partner, resource }) => format!("{partner}\n{resource}\n{issuer}\n{redirect_uri}"),
        None => format!("{issuer}\n{redirect_uri}"),
    };
    Digest::of(text.as_bytes()).to_string()
}

pub(super) fn seal_client(vault: &Vault, key: &str, secret: Option<&Secret>) -> Result<Sealed, NoEntropy> {
    seal(vault, &client_context(key), [secret])
}

fn client_context(key: &str) -> String {
    format!("link-client/{key}")
}

impl SealedRecord for KnownClient {
    fn sealed(&mut self) -> Vec<(String, &mut Sealed)> {
        vec![(client_context(&self.key()), &mut self.sealed)]
    }
}

impl KnownClient {
    pub(super) fn open(&self, vault: &Vault) -> Result<Client, OpenError> {
        let [secret] = open(vault, &client_context(&self.key()), &self.sealed)?;
        Ok(self.client.with(secret))
    }
}

/// Looks at everything that is kept of links.
///
/// # Errors
/// [`StoreError`] when the store fails; what is wrong with a record is not an error.
pub async fn check(
    store: &dyn Inspect,
    vault: Option<&Vault>,
    tell: check::Tell<'_>,
) -> Result<[CheckedPart; 3], StoreError> {
    Ok([
        check_sealed_records::<Link>(store, vault, tell).await?,
        check_sealed_records::<PendingLink>(store, vault, tell).await?,
        check_sealed_records::<KnownClient>(store, vault, tell).await?,
    ])
}

/// Seals what is kept of links anew, under the current master key.
///
/// # Errors
/// [`ResealStopped`]; it can be run again, and goes on.
pub async fn reseal(store: &dyn Store, vault: &Vault, tell: Tell<'_>) -> Result<Resealed, ResealStopped> {
    let mut done = reseal_all::<Link>(store, vault, tell).await?;
    done += reseal_all::<PendingLink>(store, vault, tell).await?;
    done += reseal_all::<KnownClient>(store, vault, tell).await?;
    Ok(done)
}
