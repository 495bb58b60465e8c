//! Orders whose time is over and that no completion report has closed.

use intent_gateway_domain::money::{Paise, inr};
use intent_gateway_domain::order::Order;
use intent_gateway_onboarding::OverdueAtPartner;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::time;

/// An order that waits for its report.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct OverdueOrder {
    /// The gateway's identifier.
    #[schema(example = "ord_019ab4c8f2000f1e2d3c4b5a6978")]
    pub order: String,
    /// The partner.
    pub partner: String,
    /// The intent.
    pub intent: String,
    /// A state that the contract declares.
    pub state: String,
    /// Everything that the partner has called it by: `external_id` of the report is one of these.
    pub identifiers: Vec<String>,
    /// Request identifier of the search.
    pub search_request_id: String,
    /// Request identifier of the call that opened it.
    pub request_id: String,
    /// When the report was due.
    pub due_at: String,
    /// What the user pays in all; null where that is not known.
    #[serde(with = "inr::option")]
    #[schema(required, value_type = Option<f64>)]
    pub amount_inr: Option<Paise>,
    /// The commission on that, at most what is due; null where that is not known.
    #[serde(with = "inr::option")]
    #[schema(required, value_type = Option<f64>)]
    pub at_stake_inr: Option<Paise>,
    /// When it was noted, and the partner reminded.
    pub reminded_at: String,
    /// When it became a finding; null before that.
    #[schema(required)]
    pub found_at: Option<String>,
}

/// Overdue orders of all partners.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct OverdueList {
    /// The one opened first at the head.
    pub orders: Vec<OverdueOrder>,
    /// Where the next page begins; null after the last.
    #[schema(required)]
    pub next: Option<String>,
}

/// Overdue orders of one partner.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct PartnerOverdue {
    /// The partner.
    pub partner: String,
    /// The one opened last at the head, at most 1,000.
    pub orders: Vec<OverdueOrder>,
}

/// What is overdue, partner by partner.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct OverdueSummary {
    /// The one with most at stake at the head.
    pub partners: Vec<OverdueAtPartnerBody>,
}

/// What is overdue at one partner.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = OverdueAtPartner)]
pub struct OverdueAtPartnerBody {
    /// The partner.
    pub partner: String,
    /// Orders whose report was due within the last 7 days.
    pub of_week: u64,
    /// Before that, and within the last 30 days.
    pub of_month: u64,
    /// Earlier than that.
    pub older: u64,
    /// When the oldest was due.
    pub oldest_due_at: String,
    /// The commission on all of them, at most.
    #[serde(with = "inr")]
    #[schema(value_type = f64)]
    pub at_stake_inr: Paise,
}

impl OverdueOrder {
    /// Of an order that is noted as overdue; none for any other.
    #[must_use]
    pub fn of(order: Order) -> Option<Self> {
        let noted = order.overdue?;
        Some(Self {
            order: order.id.to_string(),
            partner: order.partner.to_string(),
            intent: order.intent.to_string(),
            state: order.state,
            identifiers: order.identifiers.into_iter().collect(),
            search_request_id: order.from.request_id,
            request_id: order.request_id,
            due_at: time(noted.due_at_ms),
            amount_inr: noted.amount,
            at_stake_inr: noted.at_stake,
            reminded_at: time(noted.noted_at_ms),
            found_at: noted.found_at_ms.map(time),
        })
    }
}

impl From<OverdueAtPartner> for OverdueAtPartnerBody {
    fn from(at_partner: OverdueAtPartner) -> Self {
        Self {
            partner: at_partner.partner.to_string(),
            of_week: at_partner.of_week,
            of_month: at_partner.of_month,
            older: at_partner.older,
            oldest_due_at: time(at_partner.oldest_due_at),
            at_stake_inr: at_partner.at_stake,
        }
    }
}
