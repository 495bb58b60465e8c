//! Which partners requests are routed to: live connections, under their approved manifests.

use std::collections::HashMap;
use std::sync::Arc;

use super::OnboardingError;
use super::records::{Connection, Manifests};
use crate::connection::ConnectionState;
use crate::endpoint::{ApiMapping, Endpoint, Mappings};
use crate::id::{IntentId, PartnerId};
use crate::manifest::{Entry, Manifest};
use crate::partner::{Listing, Partner};
use crate::store::{Store, all};

/// The partners that requests are routed to.
#[derive(Debug)]
pub struct RoutedPartners {
    /// Sorted by identifier.
    pub partners: Vec<Partner>,
}

/// Reads the store for who is routed: partners whose connection is live, with those intents of their approved manifest
/// whose tools are as they were accepted and tested.
///
/// # Errors
/// [`OnboardingError::Store`].
pub async fn routed(store: &dyn Store) -> Result<RoutedPartners, OnboardingError> {
    let connections = all::<Connection>(store, Some(ConnectionState::Live.as_str())).await?;
    if connections.is_empty() {
        return Ok(RoutedPartners { partners: Vec::new() });
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
    Ok(RoutedPartners { partners })
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
