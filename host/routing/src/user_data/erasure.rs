//! Erasure, in steps that each hold by themselves: whatever cuts it off, the same again finds what is left, by the same marks.
//!
//! Rankings go before orders, for those from before there were marks are known by the orders alone. An order stays, without
//! the person: it may still be reported, and the ledger is compared with it.

use std::collections::BTreeSet;

use intent_gateway_domain::order::{Order, OrderId, Owner, name};
use intent_gateway_domain::ports::{Contract, find_version};
use intent_gateway_domain::steps::{self, Proposal};
use intent_gateway_domain::store::{Change, Kind, Named, Versioned, Write, load, named};
use intent_gateway_domain::user::User;
use intent_gateway_domain::user_data::{ERASED_AT_ONCE_MAX, ErasedEvidence, ranking_mark, ranking_marks};
use intent_gateway_domain::vault::Mark;

use super::{UserDataError, UserRecords};

/// Orders read at a time.
const ORDERS_PAGE: u32 = 50;

/// How much was erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErasedRecords {
    /// Orders that stay without the person.
    pub orders: u64,
    /// Rankings, and what was found in them.
    pub evidence: ErasedEvidence,
}

impl UserRecords {
    /// Erases what is kept of a user's orders and rankings.
    ///
    /// # Errors
    /// [`UserDataError`]; asked again, it goes on with what is left.
    pub async fn erase(&self, user: &User) -> Result<ErasedRecords, UserDataError> {
        // What waits to be kept would come back.
        self.settle_journal().await?;
        let marks = Owner::marks_of(&self.vault, user);
        for mark in &marks {
            self.look_through_orders(mark, &ranking_mark(&self.vault, user)).await?;
        }
        let mut erased = ErasedRecords::default();
        for mark in ranking_marks(&self.vault, user) {
            erased.evidence += self.erase_rankings(&mark).await?;
        }
        for mark in &marks {
            self.erase_orders(mark, &mut erased).await?;
        }
        Ok(erased)
    }

    /// Sees that no call is under way, and puts rankings under the user's mark that only the orders know as the user's.
    async fn look_through_orders(&self, owner: &Mark, ranking: &Mark) -> Result<(), UserDataError> {
        let mut before: Option<OrderId> = None;
        loop {
            let orders = self.orders_of(owner, before.as_ref(), ORDERS_PAGE).await?;
            let Some(last) = orders.last() else { return Ok(()) };
            before = Some(last.value.id.clone());
            for order in &orders {
                self.expect_at_rest(&order.value)?;
            }
            let receipts: Vec<String> = orders.into_iter().filter_map(|order| order.value.from.receipt).collect();
            self.rankings.mark_rankings(&receipts, ranking).await?;
        }
    }

    async fn erase_rankings(&self, mark: &Mark) -> Result<ErasedEvidence, UserDataError> {
        let mut erased = ErasedEvidence::default();
        // Ends: what is erased is under the mark no more.
        loop {
            let rankings = self.rankings.rankings_of(mark, None, ERASED_AT_ONCE_MAX).await?;
            if rankings.is_empty() {
                return Ok(erased);
            }
            erased += self.rankings.erase_rankings(&rankings).await?;
        }
    }

    async fn erase_orders(&self, owner: &Mark, erased: &mut ErasedRecords) -> Result<(), UserDataError> {
        // Ends likewise.
        loop {
            let orders = self.orders_of(owner, None, ORDERS_PAGE).await?;
            if orders.is_empty() {
                return Ok(());
            }
            for order in orders {
                erased.evidence += self.rankings.erase_found(&requests(&order.value)).await?;
                erased.orders += u64::from(self.erase_order(owner, &order.value.id).await?);
            }
        }
    }

    /// Takes the person out of an order. False where somebody else was faster.
    async fn erase_order(&self, owner: &Mark, id: &OrderId) -> Result<bool, UserDataError> {
        steps::run(&*self.store, async || {
            let kept = load::<Order>(&*self.store, id.as_str()).await?;
            let Some(order) = kept.filter(|order| order.value.owner.asker == *owner) else {
                return Ok(Proposal::nothing(false));
            };
            self.expect_at_rest(&order.value)?;
            let mut change = Change::default();
            for attempt in order.value.attempts() {
                if let Some(kept) = self.store.get(Kind::Attempts, attempt).await? {
                    change.writes.push(Write::Delete(Kind::Attempts, kept.key, kept.revision));
                }
            }
            // Kept anew, it has none of the names by which the user's orders are found.
            change.delete(&order);
            let mut order = order.value;
            let contract = find_version(&*self.contracts, order.contract).await;
            let way = contract.as_deref().map(Contract::descriptor).and_then(|descriptor| descriptor.order.as_ref());
            order.forget_person(&self.vault, way);
            change.put(&Versioned::new(order));
            Ok(Proposal::new(change, true))
        })
        .await
    }

    fn expect_at_rest(&self, order: &Order) -> Result<(), UserDataError> {
        order.under_way(self.clock.now()).map_or(Ok(()), |left_ms| Err(UserDataError::CallUnderWay(left_ms)))
    }

    pub(super) async fn orders_of(
        &self,
        owner: &Mark,
        before: Option<&OrderId>,
        limit: u32,
    ) -> Result<Vec<Versioned<Order>>, UserDataError> {
        let name = name::of_asker(owner);
        let asked = Named { name: &name, before: before.map(OrderId::as_str), limit };
        Ok(named(&*self.store, asked).await?)
    }
}

/// The requests under which something may have been found in an order's calls.
fn requests(order: &Order) -> Vec<String> {
    let all: BTreeSet<&str> = order.calls().into_iter().chain([order.from.request_id.as_str()]).collect();
    all.into_iter().map(str::to_owned).collect()
}
