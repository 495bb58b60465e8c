//! A partner as the gateway knows it when it routes a search.

use crate::contract::Axes;
use crate::endpoint::{Endpoint, Mappings};
use crate::id::{IntentId, PartnerId};
use crate::secret::Secret;

/// One intent that a partner lists.
#[derive(Clone, Debug)]
pub struct Listing {
    pub intent: IntentId,
    /// City names, six-digit postal codes, or `IN_ALL` (spec 1, Manifest).
    pub service_area: Vec<String>,
    /// Hours of operation in the partner's own words; empty is always (see [`availability`](crate::availability)).
    pub availability: String,
    /// The self-rated signals.
    pub declared: Axes,
}

/// A partner that may be called.
#[derive(Clone, Debug)]
pub struct Partner {
    /// Issued by the platform.
    pub id: PartnerId,
    /// Display name.
    pub name: String,
    /// Where it is called.
    pub endpoint: Endpoint,
    /// How its API answers the tools of each intent, where it has no MCP server.
    pub mappings: Mappings,
    /// What it lists.
    pub listings: Vec<Listing>,
    /// A bearer token sent with every call that carries none of the user's own; for partners in development.
    pub token: Option<Secret>,
}

impl Partner {
    /// The listing of an intent.
    #[must_use]
    pub fn listing(&self, intent: &str) -> Option<&Listing> {
        self.listings.iter().find(|listing| listing.intent.as_str() == intent)
    }
}
