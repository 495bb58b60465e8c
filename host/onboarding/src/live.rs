//! Which partners requests are routed to: live connections, under their approved manifests.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::lock::Mutex;

use super::OnboardingError;
use super::records::{Connection, Manifests};
use crate::connection::ConnectionState;
use crate::manifest::{Entry, Manifest};
use intent_gateway_domain::endpoint::{ApiMapping, Endpoint, Mappings};
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::partner::{Listing, Partner};
use intent_gateway_domain::ports::PartnerIndex;
use intent_gateway_domain::store::{Store, all};

/// Who is routed: the partners of the configuration, which are always live, and those of the store.
pub struct LivePartners {
    store: Arc<dyn Store>,
    configured: Vec<Arc<Partner>>,
    directory: Arc<dyn PartnerIndex>,
    /// One refresh at a time: what was read earlier never replaces what was read later.
    refreshing: Mutex<()>,
}

impl LivePartners {
    /// Routes the partners of a configuration, with which the index was built; those of the store come with the first
    /// refresh.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, configured: Vec<Arc<Partner>>, directory: Arc<dyn PartnerIndex>) -> Self {
        Self { store, configured, directory, refreshing: Mutex::default() }
    }

    /// The index that searches choose from.
    #[must_use]
    pub fn directory(&self) -> Arc<dyn PartnerIndex> {
        self.directory.clone()
    }

    /// Whether a partner is one of the configuration.
    #[must_use]
    pub(crate) fn is_configured(&self, id: &PartnerId) -> bool {
        self.configured.iter().any(|partner| partner.id == *id)
    }

    /// Reads the store and puts a new index in place; the number of partners in it. Should the store hold a partner of
    /// the same identifier as the configuration, the configuration's counts.
    ///
    /// # Errors
    /// [`OnboardingError::Store`]; what was read last stays in force.
    pub async fn refresh(&self) -> Result<usize, OnboardingError> {
        let _refreshing = self.refreshing.lock().await;
        let mut partners = self.configured.clone();
        let kept = live_partners(&*self.store).await?.into_iter();
        partners.extend(kept.filter(|partner| !self.is_configured(&partner.id)).map(Arc::new));
        let count = partners.len();
        self.directory.replace(partners);
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

/// Reads the store for who is routed, sorted by identifier: partners whose connection is live, with those intents of their approved manifest
/// whose tools are as they were accepted and tested.
///
/// # Errors
/// [`OnboardingError::Store`].
pub(crate) async fn live_partners(store: &dyn Store) -> Result<Vec<Partner>, OnboardingError> {
    let connections = all::<Connection>(store, Some(ConnectionState::Live.as_str())).await?;
    if connections.is_empty() {
        return Ok(Vec::new());
    }
    let manifests = all::<Manifests>(store, None).await?.into_iter();
    let mut approved: HashMap<PartnerId, Manifest> =
        manifests.filter_map(|kept| Some((kept.value.account, kept.value.approved?.manifest))).collect();
    let partners = connections
        .into_iter()
        .filter_map(|kept| {
            let connection = kept.value;
            let manifest = approved.remove(&connection.account)?;
            let routable: Vec<&IntentId> = connection.routable(&manifest).collect();
            partner(&connection.account, &connection.endpoint, &manifest, |intent| routable.contains(&intent))
        })
        .collect();
    Ok(partners)
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
    })
}

fn listing(entry: &Entry) -> Listing {
    Listing {
        intent: entry.intent.clone(),
        service_area: entry.service_area.clone(),
        availability: entry.availability.clone().unwrap_or_default(),
        declared: entry.ttbs_signals,
    }
}

/// How the partner's API answers the tools, where it has no MCP server. A mapping that cannot be read was a warning at
/// submit, and fails the probe: without it, there are no tools.
pub(super) fn mappings(manifest: &Manifest) -> Mappings {
    let mapping = |entry: &Entry| {
        let mapping = ApiMapping::check(entry.api_mapping.as_ref()?).ok()?;
        Some((entry.intent.clone(), Arc::new(mapping)))
    };
    manifest.intents.iter().filter_map(mapping).collect()
}
