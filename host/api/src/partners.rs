//! The partners that requests are routed to.

use intent_gateway_domain::contract::Axes;
use intent_gateway_domain::partner::{Listing, Partner};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The partners that the gateway knows.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct PartnerList {
    /// Sorted by identifier.
    pub partners: Vec<PartnerEntry>,
}

/// One partner, as the gateway routes to it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct PartnerEntry {
    /// Its identifier.
    pub id: String,
    /// Its display name.
    pub name: String,
    /// Where it is called: the address of its MCP server or GraphQL API, the base address of its REST API.
    pub url: String,
    /// What it lists.
    pub listings: Vec<ListingEntry>,
}

/// One intent that a partner lists.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ListingEntry {
    /// The intent.
    pub intent: String,
    /// City names, postal codes, or `IN_ALL`.
    pub service_area: Vec<String>,
    /// Hours of operation in the partner's own words; empty is always.
    pub availability: String,
    /// The signals that it declares of itself.
    pub ttbs_signals: Axes,
}

impl From<&Partner> for PartnerEntry {
    fn from(partner: &Partner) -> Self {
        let listing = |listing: &Listing| ListingEntry {
            intent: listing.intent.to_string(),
            service_area: listing.service_area.clone(),
            availability: listing.availability.clone(),
            ttbs_signals: listing.declared,
        };
        Self {
            id: partner.id.to_string(),
            name: partner.name.clone(),
            url: partner.endpoint.url().to_owned(),
            listings: partner.listings.iter().map(listing).collect(),
        }
    }
}
