//! The card of a quote, for the comparison listings widget until the intent has its own (spec 2, "Widgets").

use crate::quote::MotorQuote;
use contract_sdk::common::Price;
use contract_sdk::{CardJson, Slot, WidgetTable, text};

/// The widget and how its fields are filled.
pub const WIDGET: WidgetTable = WidgetTable {
    widget_type: "comparison_listings",
    preferred: Some("MotorInsuranceWidget"),
    slots: &[
        Slot { name: "header", source: "insurer.name" },
        Slot { name: "subhead", source: "insurer.product_name" },
        Slot {
            name: "dual_pill",
            source: "insurer.claim_settlement_ratio_pct and insurer.motor_claim_settlement_days_avg",
        },
        Slot { name: "price", source: "premium_breakdown.total_payable_inr" },
        Slot { name: "pill", source: "idv_inr" },
        Slot { name: "badge", source: "long_term_tp_years; null where it is 0" },
        Slot { name: "addon_count", source: "number of addons_included" },
        Slot { name: "cashless_garages_in_city", source: "cashless_garage_count_in_city" },
        Slot { name: "instant_badge", source: "instant_issuance_possible; null where it is false" },
        Slot { name: "wording_link", source: "policy_wording_url" },
    ],
};

/// A card; its keys are those of [`WIDGET`].
#[derive(CardJson)]
pub struct Card<'i> {
    header: &'i str,
    subhead: &'i str,
    dual_pill: [String; 2],
    price: Price,
    pill: String,
    badge: Option<String>,
    addon_count: usize,
    cashless_garages_in_city: i64,
    instant_badge: Option<&'static str>,
    wording_link: &'i str,
}

impl<'i> Card<'i> {
    pub(crate) fn of(quote: &'i MotorQuote<'_>) -> Self {
        let insurer = &quote.insurer;
        let years = quote.long_term_tp_years;
        Self {
            header: &insurer.name,
            subhead: &insurer.product_name,
            dual_pill: [
                text!("{} % of claims settled", insurer.claim_settlement_ratio_pct),
                text!("in {} days", insurer.motor_claim_settlement_days_avg),
            ],
            price: quote.premium_breakdown.total_payable_inr.into(),
            pill: text!("IDV {} INR", quote.idv_inr.0),
            badge: (years > 0).then(|| text!("{years}-year third-party cover")),
            addon_count: quote.addons_included.len(),
            cashless_garages_in_city: quote.cashless_garage_count_in_city,
            instant_badge: quote.instant_issuance_possible.then_some("Instant issuance"),
            wording_link: &quote.policy_wording_url,
        }
    }
}
