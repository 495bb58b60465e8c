//! Retention: closed orders are forgotten when they are old, whoever's they are.

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::order::{CLOSED, Order, OrderId, OrderedOption};
use intent_gateway_domain::steps;
use intent_gateway_domain::store::{Change, Pages, Store, StoreError, load};

/// Forgets closed orders to which nothing has happened since a time, with their options and names; how many there were. One that was
/// reported late stays as long after that: a second report of it is known by the first.
///
/// # Errors
/// [`StoreError`] when the store fails; what was forgotten until then stays so.
pub async fn forget_orders(store: &dyn Store, before: Timestamp) -> Result<u64, StoreError> {
    // Identifiers begin with the time of opening, and lists are in their order.
    let end = OrderId::before(before);
    let (mut forgotten, mut pages) = (0, Pages::<Order>::of(Some(CLOSED)));
    while let Some(orders) = pages.next(store).await? {
        for order in &orders {
            if order.value.id.as_str() >= end.as_str() {
                return Ok(forgotten);
            }
            if order.value.history.last().is_some_and(|latest| latest.at_ms >= before) {
                continue;
            }
            let mut change = Change::default();
            change.delete(order);
            if let Some(option) = load::<OrderedOption>(store, order.value.id.as_str()).await? {
                change.delete(&option);
            }
            // Unless another gateway was faster.
            forgotten += u64::from(steps::commit_unless_changed(store, change).await?);
        }
    }
    Ok(forgotten)
}

#[cfg(test)]
mod tests {
    use futures_executor::block_on;
    use intent_gateway_domain::digest::Digest;
    use intent_gateway_domain::id::{IntentId, PartnerId};
    use intent_gateway_domain::order::{ClosingReport, Opened, OrderedFrom, Owner};
    use intent_gateway_domain::store::{Kind, List, Versioned, all};
    use intent_gateway_testing::entropy::vault;
    use intent_gateway_testing::store::MemoryStore;
    use intent_gateway_testing::users::asker;
    use serde_json::value::RawValue;

    use super::*;

    /// Keeps an order that was opened at a time, with its option.
    fn keep(store: &MemoryStore, opened_at: u64, is_open: bool) {
        keep_with(store, opened_at, |order| order.is_open = is_open);
    }

    fn keep_with(store: &MemoryStore, opened_at: u64, change_it: impl FnOnce(&mut Order)) {
        let at = Timestamp::from_ms(opened_at);
        let opened = Opened {
            id: OrderId::new(&vault(), at).unwrap(),
            partner: PartnerId::parse("ptr_1").unwrap(),
            intent: IntentId::parse("test.find_things").unwrap(),
            contract: Digest::of(b"contract"),
            owner: Owner::of(&vault(), &asker("ann")),
            from: OrderedFrom {
                option_id: "o".to_owned(),
                receipt: None,
                number: 0,
                request_id: format!("r-{opened_at}"),
            },
            request_id: "r".to_owned(),
            is_sole: false,
        };
        let mut order = Order::open(opened, at);
        change_it(&mut order);
        let mut change = Change::default();
        change.put(&Versioned::new(OrderedOption { order: order.id.clone(), option: RawValue::NULL.to_owned() }));
        change.put(&Versioned::new(order));
        block_on(store.commit(change)).unwrap();
    }

    #[test]
    fn old_orders_that_are_closed_are_forgotten_with_all_that_is_theirs() {
        let store = MemoryStore::default();
        for (opened_at, is_open) in [(1_000, false), (1_001, true), (1_999, false), (2_000, false), (3_000, false)] {
            keep(&store, opened_at, is_open);
        }
        // Reported late.
        keep_with(&store, 1_002, |order| {
            order.close(ClosingReport {
                at_ms: Timestamp::from_ms(2_000),
                external_id: "BK-1".to_owned(),
                status: "completed".to_owned(),
                receipt: "rcpt_1".to_owned(),
            });
        });
        assert_eq!(block_on(forget_orders(&store, Timestamp::from_ms(2_000))).unwrap(), 2);
        let left = block_on(all::<Order>(&store, None)).unwrap();
        let left: Vec<u64> = left.iter().map(|order| order.value.opened_at_ms.as_ms()).collect();
        assert_eq!(left, [1_001, 1_002, 2_000, 3_000]);
        let list = List { status: None, after: None, limit: 9 };
        assert_eq!(block_on(store.list(Kind::OrderedOptions, list)).unwrap().len(), 4);
        assert_eq!(block_on(forget_orders(&store, Timestamp::from_ms(2_000))).unwrap(), 0);
    }
}
