//! Which partners requests are routed to: live connections, under their approved manifests. And which are known besides: what
//! was booked there can be followed and cancelled, though nothing new is routed to them.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use futures_util::future::BoxFuture;
use futures_util::lock::Mutex;
use serde_json::Value;

use super::OnboardingError;
use super::records::{Connection, Manifests};
use crate::connection::ConnectionState;
use crate::manifest::{Entry, Manifest};
use intent_gateway_domain::clock::{Clock, Timestamp};
use intent_gateway_domain::contract::Axes;
use intent_gateway_domain::endpoint::{ApiMapping, Endpoint, Mappings};
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::partner::{Listing, Partner, PriceRange};
use intent_gateway_domain::ports::{PartnerIndex, Standings};
use intent_gateway_domain::sign_in::SignInServer;
use intent_gateway_domain::store::{Store, StoreError, all, load};

/// Who is routed: the partners of the configuration, which are always live, and those of the store. It also knows who was ever live.
pub struct LivePartners {
    store: Arc<dyn Store>,
    configured: ArcSwap<Vec<Arc<Partner>>>,
    directory: Arc<dyn PartnerIndex>,
    clock: Arc<dyn Clock>,
    /// When the index has to be built anew although no record has changed, milliseconds since the epoch.
    due_at_ms: AtomicU64,
    /// One refresh at a time: what was read earlier never replaces what was read later.
    refreshing: Mutex<()>,
}

impl LivePartners {
    /// Routes the partners of a configuration, with which the index was built; those of the store come with the first
    /// refresh.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        configured: Vec<Arc<Partner>>,
        directory: Arc<dyn PartnerIndex>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let due_at_ms = AtomicU64::new(Timestamp::MAX.as_ms());
        let configured = ArcSwap::from_pointee(configured);
        Self { store, configured, directory, clock, due_at_ms, refreshing: Mutex::default() }
    }

    /// The configuration has these partners from now on. They are routed after the next refresh.
    pub fn replace_configured(&self, configured: Vec<Arc<Partner>>) {
        self.configured.store(Arc::new(configured));
    }

    /// Whether a time has come at which an intent ceases to be routed or the end of a confirmation is told, or had come and
    /// its partner was not told yet.
    /// It stays due until a [`refresh`](Self::refresh) finds it done: nothing is missed by a gateway that was down, or
    /// whose store was.
    #[must_use]
    pub fn is_due(&self) -> bool {
        self.clock.now().as_ms() >= self.due_at_ms.load(Ordering::Acquire)
    }

    /// The index that searches choose from.
    #[must_use]
    pub fn directory(&self) -> Arc<dyn PartnerIndex> {
        self.directory.clone()
    }

    /// Whether a partner is one of the configuration.
    #[must_use]
    pub(crate) fn is_configured(&self, id: &PartnerId) -> bool {
        self.configured.load().iter().any(|partner| partner.id == *id)
    }

    /// The partners of the configuration whose sign-in has something in common with what is named.
    pub(crate) fn configured_with(&self, named: &SignInServer) -> Vec<PartnerId> {
        let configured = self.configured.load();
        let with = configured.iter().filter(|partner| {
            partner.sign_in.as_ref().is_some_and(|known| {
                // The configuration names no endpoints: those of an issuer are mostly at its own host.
                known.overlaps(named) || named.origins.iter().any(|origin| known.issuer.starts_with(origin.as_str()))
            })
        });
        with.map(|partner| partner.id.clone()).collect()
    }

    /// Reads the store and puts a new index in place; the number of partners in it. Should the store hold a partner of
    /// the same identifier as the configuration, the configuration's counts.
    ///
    /// # Errors
    /// [`OnboardingError::Store`]; what was read last stays in force.
    pub async fn refresh(&self) -> Result<usize, OnboardingError> {
        let _refreshing = self.refreshing.lock().await;
        let StoredPartners { live, known, due_at } = stored_partners(&*self.store, self.clock.now()).await?;
        let configured = self.configured.load_full();
        let is_configured = |partner: &Partner| configured.iter().any(|one| one.id == partner.id);
        let [live, known] = [live, known].map(|kept| {
            let kept = kept.into_iter().filter(|partner| !is_configured(partner)).map(Arc::new);
            configured.iter().cloned().chain(kept).collect::<Vec<_>>()
        });
        let count = live.len();
        self.directory.replace(live, known);
        self.due_at_ms.store(due_at.as_ms(), Ordering::Release);
        Ok(count)
    }

    /// Has a change of who is routed in force before its caller is told. Other processes follow within a second; so does
    /// this one, should the store fail just now.
    pub(super) async fn apply_change(&self) {
        if let Err(error) = self.refresh().await {
            tracing::warn!(error = %chain(&error), "a change of who is routed is in force a moment later");
        }
    }
}

impl Standings for LivePartners {
    fn was_ever_live<'a>(&'a self, partner: &'a PartnerId) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            if self.is_configured(partner) {
                return Ok(true);
            }
            let connection = load::<Connection>(&*self.store, partner.as_str()).await?;
            Ok(connection.is_some_and(|connection| connection.value.first_live_at_ms.is_some()))
        })
    }
}

/// The partners of the store, each list sorted by identifier.
#[derive(Debug)]
pub(crate) struct StoredPartners {
    /// Who is routed: partners whose connection is live, with those intents of their approved manifest whose tools are as
    /// they were accepted and tested.
    pub(crate) live: Vec<Partner>,
    /// Whose server is known, in whatever state its connection is: with every intent whose tools were once accepted.
    pub(crate) known: Vec<Partner>,
    /// When who is routed changes, or has to be told, without a change of a record.
    pub(crate) due_at: Timestamp,
}

/// Reads the store for partners, as they are at a time.
///
/// # Errors
/// [`OnboardingError::Store`].
pub(crate) async fn stored_partners(store: &dyn Store, now: Timestamp) -> Result<StoredPartners, OnboardingError> {
    let connections = all::<Connection>(store, None).await?;
    let live = connections.iter().filter(|kept| kept.value.state == ConnectionState::Live);
    let due_at = live.map(|kept| kept.value.due_at()).min().unwrap_or(Timestamp::MAX);
    let mut stored = StoredPartners { live: Vec::new(), known: Vec::new(), due_at };
    if connections.is_empty() {
        return Ok(stored);
    }
    let manifests = all::<Manifests>(store, None).await?.into_iter();
    let mut approved: HashMap<PartnerId, Manifest> =
        manifests.filter_map(|kept| Some((kept.value.account, kept.value.approved?.manifest))).collect();
    for connection in connections.into_iter().map(|kept| kept.value) {
        let manifest = approved.remove(&connection.account);
        if let Some(manifest) = manifest.as_ref().filter(|_| connection.state == ConnectionState::Live) {
            let routable: Vec<&IntentId> = connection.routable(manifest, now).collect();
            let chosen = |intent: &IntentId| routable.contains(&intent);
            let live = partner(&connection.account, &connection.endpoint, manifest, chosen);
            stored.live.extend(live.map(|live| with_sign_in(live, &connection)));
        }
        let known = known_partner(&connection, manifest.as_ref());
        stored.known.extend(known.map(|known| with_sign_in(known, &connection)));
    }
    Ok(stored)
}

/// A partner with every intent that its server was once accepted for; `None` where there is none, for example because it has
/// moved to a server that was not looked at yet.
fn known_partner(connection: &Connection, approved: Option<&Manifest>) -> Option<Partner> {
    let pinned = |intent: &IntentId| connection.pinned.as_ref().is_some_and(|pinned| pinned.holds(intent));
    let now = approved.and_then(|manifest| partner(&connection.account, &connection.endpoint, manifest, pinned));
    let mut known = now.unwrap_or_else(|| Partner {
        id: connection.account.clone(),
        name: connection.account.to_string(),
        endpoint: connection.endpoint.clone(),
        mappings: Mappings::new(),
        listings: Vec::new(),
        token: None,
        sign_in: None,
    });
    for (intent, mapping) in &connection.served {
        if known.listing(intent.as_str()).is_none() {
            known.listings.push(bare_listing(intent));
            known.mappings.extend(mapping_of(intent, mapping.as_ref()));
        }
    }
    (!known.listings.is_empty()).then_some(known)
}

/// The same, with where its users sign in.
fn with_sign_in(partner: Partner, connection: &Connection) -> Partner {
    Partner { sign_in: connection.sign_in.in_force().cloned(), ..partner }
}

/// A listing that no search looks at.
fn bare_listing(intent: &IntentId) -> Listing {
    Listing {
        intent: intent.clone(),
        service_area: Vec::new(),
        availability: String::new(),
        declared: Axes::UNDECLARED,
        prices: None,
    }
}

/// A partner with some of the intents of a manifest; `None` when none is left.
pub(super) fn partner(
    id: &PartnerId,
    endpoint: &Endpoint,
    manifest: &Manifest,
    chosen: impl Fn(&IntentId) -> bool,
) -> Option<Partner> {
    let listings: Vec<Listing> = manifest.intents.iter().filter(|entry| chosen(&entry.intent)).map(listing).collect();
    if listings.is_empty() {
        return None;
    }
    Some(Partner {
        id: id.clone(),
        name: manifest.business_name.clone(),
        endpoint: endpoint.clone(),
        mappings: mappings(manifest),
        listings,
        token: None,
        sign_in: None,
    })
}

fn listing(entry: &Entry) -> Listing {
    Listing {
        intent: entry.intent.clone(),
        service_area: entry.service_area.clone(),
        availability: entry.availability.clone().unwrap_or_default(),
        declared: entry.ttbs_signals,
        prices: Some(PriceRange { min: entry.pricing.min.clone(), max: entry.pricing.max.clone() }),
    }
}

/// How the partner's API answers the tools, where it has no MCP server. A mapping that cannot be read was a warning at
/// submit, and fails the probe: without it, there are no tools.
pub(super) fn mappings(manifest: &Manifest) -> Mappings {
    let mapping = |entry: &Entry| mapping_of(&entry.intent, entry.api_mapping.as_ref());
    manifest.intents.iter().filter_map(mapping).collect()
}

fn mapping_of(intent: &IntentId, mapping: Option<&Value>) -> Option<(IntentId, Arc<ApiMapping>)> {
    let mapping = ApiMapping::check(mapping?).ok()?;
    Some((intent.clone(), Arc::new(mapping)))
}
