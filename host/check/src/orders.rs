//! Whether the report that has closed an order is in the ledger.

use std::collections::HashMap;

use intent_gateway_domain::check::{CheckedPart, Inspect, Tell};
use intent_gateway_domain::order::Order;
use intent_gateway_domain::store::{Kind, StoreError};
use intent_gateway_ledger::{Books, ENTRIES_READ_MAX, Entry};

/// Orders read at once.
const PAGE: u32 = 500;

/// Looks for the entry of every order that a report has closed. It takes about 300 bytes for each of them. Orders are read before
/// the ledger: what is closed meanwhile is booked as well.
pub(crate) async fn check_reported(
    store: &dyn Inspect,
    books: &dyn Books,
    tell: Tell<'_>,
) -> Result<CheckedPart, StoreError> {
    let (mut part, mut after) = (CheckedPart::new("reported_orders"), None::<String>);
    let mut reported: HashMap<String, Order> = HashMap::new();
    loop {
        let page = store.whole(Kind::Orders, after.as_deref(), PAGE).await?;
        // One that cannot be read is told of with the orders.
        let orders = page.iter().filter_map(|document| serde_json::from_str::<Order>(&document.body).ok());
        for order in orders {
            if let Some(report) = &order.report {
                part.seen += 1;
                reported.insert(report.receipt.clone(), order);
            }
        }
        tell(part.name, part.seen);
        match page.into_iter().next_back() {
            Some(last) => after = Some(last.key),
            None => break,
        }
    }
    let mut number = 0;
    while !reported.is_empty() {
        let page = books.stored(number, ENTRIES_READ_MAX).await?;
        let Some(last) = page.last() else { break };
        number = last.number;
        for entry in page.iter().filter_map(|stored| stored.entry.as_ref()) {
            if let Some(order) = reported.remove(&entry.receipt_id()) {
                compare(&order, entry, &mut part);
            }
        }
    }
    for order in reported.values() {
        let of = order.id.as_str();
        part.add("ENTRY_OF_ORDER_MISSING", of, "a report has closed it, and the ledger has no entry for that report");
    }
    Ok(part)
}

fn compare(order: &Order, entry: &Entry, part: &mut CheckedPart) {
    let Some(report) = &order.report else { return };
    let posting = &entry.posting;
    let is_same =
        order.partner == posting.partner && order.intent == posting.intent && report.external_id == posting.external_id;
    if !is_same {
        let message =
            format!("entry {} was booked for another partner, intent or order of the partner's", entry.number);
        part.add("ENTRY_OF_ORDER_DIFFERS", order.id.as_str(), message);
    }
}
