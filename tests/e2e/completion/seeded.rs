//! Orders that wait for reports of a load: some of its reports find theirs, and entry and order change together or not at all.

use std::collections::{BTreeMap, BTreeSet};

use intent_gateway_domain::clock::{Clock as _, SystemClock};
use intent_gateway_domain::order::Order;
use intent_gateway_domain::store::{Change, Store as _, Versioned, all};
use intent_gateway_store::SqlStore;
use intent_gateway_testing::orders::booked;

/// Orders that are kept in one commit.
const AT_ONCE: usize = 200;
/// The intent that is reported.
const INTENT: &str = "auto.book_ac_service";

/// Keeps an order for each of these: what its partner calls it, and the partner.
pub(super) async fn seed(store: &SqlStore, orders: &[(String, &str)]) {
    let now = SystemClock.now();
    for orders in orders.chunks(AT_ONCE) {
        let mut change = Change::default();
        for (external_id, partner) in orders {
            let request = format!("request of {external_id}");
            change.put(&Versioned::new(booked(partner, INTENT, &request, &request, &[external_id], now)));
        }
        store.commit(change).await.expect("kept");
    }
}

/// The orders that there are, by what their partners call them. `receipts` has the receipt of each entry of the ledger by its
/// external identifier.
///
/// # Errors
/// Where an order is not as the ledger has it: closed by the entry of its report, or open where there is none.
pub(super) async fn check(store: &SqlStore, receipts: &BTreeMap<String, String>) -> Result<BTreeSet<String>, String> {
    let orders = all::<Order>(store, None).await.map_err(|error| format!("the orders: {error:?}"))?;
    let mut known = BTreeSet::new();
    for Order { identifiers, is_open, report, .. } in orders.into_iter().map(|kept| kept.value) {
        let external_id = identifiers.into_iter().next().expect("one was given to each");
        let closed_by = report.map(|report| report.receipt);
        if closed_by.as_ref() != receipts.get(&external_id) || is_open != closed_by.is_none() {
            return Err(format!("order {external_id}: open: {is_open}, closed by {closed_by:?}"));
        }
        known.insert(external_id);
    }
    Ok(known)
}
