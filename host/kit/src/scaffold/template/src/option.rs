//! One offer of a partner. Every field is required.

use crate::request::Kind;
use contract_sdk::common::PartnerReference;
use contract_sdk::shape::{DateTime, Inr, Text};
use contract_sdk::{SearchItem, Shape};

#[derive(Debug, Shape)]
pub struct Offer<'a> {
    /// The partner's identifier of the offer.
    pub offer_id: Text<'a>,
    /// Who serves the user.
    pub provider: Provider<'a>,
    /// The kind of service.
    pub kind: Kind,
    /// When the service starts.
    pub starts_at: DateTime,
    /// What the user pays in all, in INR.
    #[shape(min = 0)]
    pub total_inr: Inr,
    /// Days within which the work is done again for free.
    #[shape(min = 0, max = 365)]
    pub warranty_days: i64,
    /// Where the offer comes from.
    pub partner_reference: PartnerReference<'a>,
}

impl SearchItem for Offer<'_> {
    fn id(&self) -> &str {
        &self.offer_id
    }
}

/// Who serves the user.
#[derive(Debug, Shape)]
pub struct Provider<'a> {
    /// Name shown to the user.
    pub name: Text<'a>,
    /// Distance from the user in km.
    #[shape(min = 0, max = 50)]
    pub distance_km: f64,
    /// Whether the partner has seen the provider's papers.
    pub verified: bool,
    /// Mean rating.
    #[shape(min = 0, max = 5)]
    pub rating: f64,
}
