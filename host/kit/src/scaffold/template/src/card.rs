//! What the user sees of an offer.

use crate::option::Offer;
use contract_sdk::common::Price;
use contract_sdk::{CardJson, Slot, WidgetTable, text};

/// The widget and how its fields are filled.
pub const WIDGET: WidgetTable = WidgetTable {
    widget_type: "generic_listings",
    preferred: None,
    slots: &[
        Slot { name: "header", source: "provider.name" },
        Slot { name: "subline_1", source: "starts_at and provider.distance_km" },
        Slot { name: "price", source: "total_inr" },
        Slot { name: "pill", source: "warranty_days" },
    ],
};

/// A card; its keys are those of [`WIDGET`].
#[derive(CardJson)]
pub struct Card<'i> {
    header: &'i str,
    subline_1: String,
    price: Price,
    pill: String,
}

impl<'i> Card<'i> {
    pub(crate) fn of(offer: &'i Offer<'_>) -> Self {
        Self {
            header: &offer.provider.name,
            subline_1: text!("{} · {:.1} km", offer.starts_at, offer.provider.distance_km),
            price: offer.total_inr.into(),
            pill: text!("{}-day warranty", offer.warranty_days),
        }
    }
}
