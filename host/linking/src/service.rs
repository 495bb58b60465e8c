//! What the steps of linking share: their ports, their settings, and how a step is taken.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::cache::TokenCache;
use super::records::{ClientOrigin, Link, Owner};
use super::renewal::Renewals;
use super::ticket::Ticket;
use super::{Authorizer, Client, LinkError};
use intent_gateway_domain::audit::{Actor, AuditDraft};
use intent_gateway_domain::clock::{Clock, Timestamp};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::ports::{PartnerDirectory, SignInLink, SignInServers, Timer};
use intent_gateway_domain::steps::{self, Proposal};
use intent_gateway_domain::store::{Change, Store, StoreError, Versioned, load};
use intent_gateway_domain::user::User;
use intent_gateway_domain::vault::{NoEntropy, Vault, hex};

/// Where browsers come back to, below the base address; the tag of the server that was asked follows.
const CALLBACK_PATH: &str = "/link/callback/";
/// Where they all came back to before each server had an address of its own. Nothing is linked there any more.
const SHARED_CALLBACK_PATH: &str = "/link/callback";
/// What links for users' browsers begin with, below the base address.
const LINK_PATH: &str = "/link/";
/// Where the gateway describes itself as a client, below the base address; the name of a document follows.
const DOCUMENTS_PATH: &str = "/.well-known/oauth-client/";
/// What the name of a document ends with.
const DOCUMENT_SUFFIX: &str = ".json";
/// The one document for all servers from before each had its own. Links that were made under it renew their tokens by it.
const SHARED_DOCUMENT: &str = "intent-gateway.json";
/// Bytes of an issuer's digest in its tag: so many that nobody finds an issuer with the tag of another.
const TAG_BYTES: usize = 16;
/// What the tags of servers begin with that take metadata documents.
const DOCUMENT_TAG_PREFIX: &str = "document-";

/// Work that goes on when whoever began it has gone: between the answer of an authorization server and the store, a token
/// must not be lost.
pub trait Background: Send + Sync {
    /// Drives the work to its end.
    fn run(&self, work: BoxFuture<'static, ()>);
}

/// How linking is set up.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Public address of the gateway, as users' browsers reach it, without a slash at its end.
    pub base_url: String,
    /// What the gateway is called where users give their consent.
    pub client_name: String,
    /// Clients that were arranged with authorization servers by hand.
    pub clients: Vec<ArrangedClient>,
}

/// A client that was arranged with an authorization server by hand.
#[derive(Clone, Debug)]
pub struct ArrangedClient {
    /// For users of this partner, and of no other that names the same server.
    pub partner: PartnerId,
    /// The server.
    pub issuer: String,
    /// The gateway's name there.
    pub client: Client,
}

/// Names an authorization server in the address that browsers come back to from it, so that no two servers share one
/// (RFC 9700, 4.4.2).
///
/// A client that is named by its metadata document has an address of its own. Any server takes such a client, also one to
/// which a hostile server has sent the browser on; so no answer without `iss` is taken there.
pub(crate) fn redirect_tag(issuer: &str, origin: ClientOrigin) -> String {
    let digest = hex(&Digest::of(issuer.as_bytes()).as_bytes()[..TAG_BYTES]);
    match origin {
        ClientOrigin::Document => format!("{DOCUMENT_TAG_PREFIX}{digest}"),
        ClientOrigin::Configured | ClientOrigin::Registered => digest,
    }
}

/// Whether a text may be the tag of a server that takes metadata documents.
fn is_document_tag(text: &str) -> bool {
    let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let digest = text.strip_prefix(DOCUMENT_TAG_PREFIX);
    digest.is_some_and(|digest| digest.len() == 2 * TAG_BYTES && digest.bytes().all(is_hex))
}

impl Settings {
    /// Where browsers come back to from a server at which a client was arranged by hand, or registered: one address for
    /// each issuer.
    #[must_use]
    pub fn redirect_uri_at(&self, issuer: &str) -> String {
        self.redirect_uri(issuer, ClientOrigin::Registered)
    }

    /// Where browsers come back to from an issuer that knows the gateway in such a way.
    pub(crate) fn redirect_uri(&self, issuer: &str, origin: ClientOrigin) -> String {
        format!("{}{CALLBACK_PATH}{}", self.base_url, redirect_tag(issuer, origin))
    }

    /// Where browsers came back to before each server had an address of its own.
    pub(crate) fn shared_redirect_uri(&self) -> String {
        format!("{}{SHARED_CALLBACK_PATH}", self.base_url)
    }

    /// Whether browsers reach the gateway over HTTPS.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.base_url.starts_with("https://")
    }

    /// The address of the gateway's metadata as a client of an issuer, which is its name at servers that take such documents.
    /// They fetch it over HTTPS alone.
    #[must_use]
    pub(crate) fn document_url(&self, issuer: &str) -> Option<String> {
        let tag = redirect_tag(issuer, ClientOrigin::Document);
        self.is_https().then(|| format!("{}{DOCUMENTS_PATH}{tag}{DOCUMENT_SUFFIX}", self.base_url))
    }

    /// The gateway's metadata as a client (RFC 7591, 2; OAuth Client ID Metadata Document), under the name that an address
    /// ends with; none where it is not a document's.
    #[must_use]
    pub fn document(&self, name: &str) -> Option<Value> {
        let redirect_uri = match name.strip_suffix(DOCUMENT_SUFFIX) {
            _ if name == SHARED_DOCUMENT => self.shared_redirect_uri(),
            Some(tag) if is_document_tag(tag) => format!("{}{CALLBACK_PATH}{tag}", self.base_url),
            _ => return None,
        };
        Some(json!({
            "client_id": format!("{}{DOCUMENTS_PATH}{name}", self.base_url),
            "client_name": self.client_name,
            "client_uri": self.base_url,
            "redirect_uris": [redirect_uri],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "application_type": "web",
        }))
    }
}

/// What linking works with.
pub struct LinkingSetup {
    /// Where links are kept.
    pub store: Arc<dyn Store>,
    /// Seals tokens, marks users.
    pub vault: Vault,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Waits for another process.
    pub timer: Arc<dyn Timer>,
    /// Who is served.
    pub directory: Arc<dyn PartnerDirectory>,
    /// Says which of them partners may send users to.
    pub sign_in_servers: Arc<dyn SignInServers>,
    /// Speaks to authorization servers.
    pub authorizer: Arc<dyn Authorizer>,
    /// Where work goes on.
    pub background: Arc<dyn Background>,
    /// How it is set up.
    pub settings: Settings,
}

pub(super) struct LinkingState {
    pub(super) parts: LinkingSetup,
    pub(super) cache: TokenCache,
    pub(super) renewals: Renewals,
}

/// Account linking. Clones share everything.
#[derive(Clone)]
pub struct Linking {
    pub(super) inner: Arc<LinkingState>,
}

/// An address for a user's browser.
#[derive(Clone, Debug)]
pub struct LinkOffer {
    /// The address, and the code that the page there shows. Whoever has it can link an account of theirs for the user, so it
    /// is for that user alone.
    pub link: SignInLink,
    /// Good until then, milliseconds since the epoch.
    pub expires_at_ms: Timestamp,
}

impl Linking {
    /// Linking over its ports.
    #[must_use]
    pub fn new(parts: LinkingSetup) -> Self {
        Self { inner: Arc::new(LinkingState { parts, cache: TokenCache::default(), renewals: Renewals::default() }) }
    }

    /// How it is set up.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.parts().settings
    }

    pub(super) fn parts(&self) -> &LinkingSetup {
        &self.inner.parts
    }

    pub(super) fn now(&self) -> Timestamp {
        self.parts().clock.now()
    }

    /// An address where the user links an account at a partner.
    ///
    /// # Errors
    /// [`NoEntropy`] when the machine gives no random bytes.
    pub fn offer(&self, partner: &PartnerId, user: &User, challenge: Option<&str>) -> Result<LinkOffer, NoEntropy> {
        let LinkingSetup { vault, settings, .. } = self.parts();
        let ticket = Ticket::new(vault, partner, user, challenge, self.now())?;
        let url = format!("{}{LINK_PATH}{}", settings.base_url, ticket.seal(vault)?);
        Ok(LinkOffer { link: SignInLink { url, code: ticket.code() }, expires_at_ms: ticket.expires_at_ms })
    }

    /// The link that is kept for the first of the owners that has one.
    pub(super) async fn find_link(&self, owners: &[Owner]) -> Result<Option<Versioned<Link>>, StoreError> {
        for owner in owners {
            if let Some(link) = load::<Link>(&*self.parts().store, &owner.key()).await? {
                return Ok(Some(link));
            }
        }
        Ok(None)
    }

    /// Takes a step: reads, decides, commits, and decides anew when somebody else was faster.
    pub(super) async fn step<T, F>(&self, decide: impl FnMut() -> F) -> Result<T, LinkError>
    where
        F: Future<Output = Result<Proposal<T>, LinkError>>,
    {
        steps::run(&*self.parts().store, decide).await
    }

    /// Commits a change that is not worth deciding anew; false when somebody else was faster.
    pub(super) async fn commit_unless_changed(&self, change: Change) -> Result<bool, StoreError> {
        steps::commit_unless_changed(&*self.parts().store, change).await
    }

    /// An entry of the audit log about a link. The user stands there as a mark.
    /// Not whose link it is: the log keeps what it has, and a user may be erased.
    pub(super) fn entry(&self, actor: &Actor, action: &str, link: &Link, reason: Option<&str>) -> AuditDraft {
        let mut detail = json!({
            "issuer": link.provider.issuer,
            "scope": link.scope,
        });
        if let Some(reason) = reason {
            detail["reason"] = reason.into();
        }
        AuditDraft {
            at_ms: self.now(),
            actor: actor.clone(),
            action: action.to_owned(),
            subject: link.partner.to_string(),
            detail,
        }
    }

    /// Drives work to its end, also when whoever waits for it goes.
    ///
    /// # Panics
    /// Never: the result is there when the work has ended, and is taken once.
    pub(super) async fn to_its_end<T: Send + 'static>(&self, work: BoxFuture<'static, T>) -> T {
        let place = Arc::new(Mutex::new(None));
        let filled = place.clone();
        let work = async move {
            let done = work.await;
            *filled.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
        };
        let work = work.boxed().shared();
        self.parts().background.run(work.clone().boxed());
        work.await;
        place.lock().unwrap_or_else(PoisonError::into_inner).take().expect("the work has ended")
    }
}

/// A server or store that gives nothing, as the user's browser is told it.
pub(super) fn server(failure: super::LinkFailure) -> LinkError {
    LinkError::Server(failure)
}
