//! Reports as a text for people: those that were tests, and those that have not come.

use intent_gateway_api::ledger::{TestReportBody, TestReportsBody};
use intent_gateway_api::overdue::{OverdueOrder, PartnerOverdue};

use crate::terminal::{Palette, harmless, table};

/// The reports of a business that was never live.
pub(super) fn test_reports(TestReportsBody { partner, kept_days, reports }: &TestReportsBody, _: Palette) -> String {
    if reports.is_empty() {
        return format!("{} has no test reports; each is kept for {kept_days} days", harmless(partner));
    }
    let row = |report: &TestReportBody| {
        [
            report.receipt_id.clone(),
            report.taken_at.clone(),
            report.intent.clone(),
            report.external_id.clone(),
            report.status.clone(),
            report.amount_inr.to_string(),
            if report.would_be_charged { "yes" } else { "no" }.to_owned(),
        ]
    };
    let rows: Vec<[String; 7]> = reports.iter().map(row).collect();
    table(["receipt", "taken", "intent", "order", "status", "amount INR", "would be charged"], &rows)
}

/// The orders of a partner that wait for its report.
pub(super) fn overdue(PartnerOverdue { partner, orders }: &PartnerOverdue, _: Palette) -> String {
    if orders.is_empty() {
        return format!("no order of {} waits for a report", harmless(partner));
    }
    overdue_table(orders)
}

/// One line an order.
pub(crate) fn overdue_table(orders: &[OverdueOrder]) -> String {
    let row = |order: &OverdueOrder| {
        let at_stake = order.at_stake_inr.map_or_else(|| "-".to_owned(), |at_stake| at_stake.to_string());
        let named = order.identifiers.first().unwrap_or(&order.order).clone();
        let found = order.found_at.clone().unwrap_or_else(|| "-".to_owned());
        [order.due_at.clone(), order.partner.clone(), order.intent.clone(), named, order.state.clone(), at_stake, found]
    };
    let rows: Vec<[String; 7]> = orders.iter().map(row).collect();
    table(["due", "partner", "intent", "order", "state", "commission at most", "finding since"], &rows)
}
