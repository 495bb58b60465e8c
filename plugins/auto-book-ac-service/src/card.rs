//! The card of a slot, for the generic listings widget until the intent has its own (spec 2, "Widgets").

use crate::slot::AcServiceSlot;
use contract_sdk::common::Price;
use contract_sdk::{CardJson, Slot, WidgetTable, text};

/// The widget and how its fields are filled.
pub const WIDGET: WidgetTable = WidgetTable {
    widget_type: "generic_listings",
    preferred: Some("AcServiceWidget"),
    slots: &[
        Slot { name: "header", source: "provider.name" },
        Slot { name: "subline_1", source: "provider.provider_type and provider.distance_from_user_km" },
        Slot { name: "subline_2", source: "slot_window.start and slot_window.typical_duration_hours" },
        Slot { name: "price", source: "estimated_price.total_estimate_inr" },
        Slot { name: "pill", source: "warranty.cooling_performance_warranty_days" },
        Slot { name: "badge", source: "provider.refrigerant_handling_certified; null where it is false" },
    ],
};

/// A card; its keys are those of [`WIDGET`].
#[derive(CardJson)]
pub struct Card<'i> {
    header: &'i str,
    subline_1: String,
    subline_2: String,
    price: Price,
    pill: String,
    badge: Option<&'static str>,
}

impl<'i> Card<'i> {
    pub(crate) fn of(slot: &'i AcServiceSlot<'_>) -> Self {
        let provider = &slot.provider;
        let window = &slot.slot_window;
        Self {
            header: &provider.name,
            subline_1: text!("{} · {:.1} km", provider.provider_type.label(), provider.distance_from_user_km),
            subline_2: text!("{} · {} h", window.start, window.typical_duration_hours),
            price: slot.estimated_price.total_estimate_inr.into(),
            pill: text!("{}-day cooling warranty", slot.warranty.cooling_performance_warranty_days),
            badge: provider.refrigerant_handling_certified.then_some("Certified"),
        }
    }
}
