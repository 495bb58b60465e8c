//! What was never reported: orders whose time is over and that no completion report has closed. Their partners are reminded by
//! mail, after a while they are findings, and the platform team sees them listed. So a platform notices what it is not told.
//!
//! When a report is due, and how long is waited for it, [`order::overdue`](intent_gateway_domain::order::overdue) says. An order
//! whose contract is loaded nowhere any more is judged by the live one of its intent, and passed over where there is none.

mod listing;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;
use serde_json::value::RawValue;

pub use listing::{OVERDUE_LISTED_MAX, OverdueAtPartner};

use crate::OnboardingError;
use crate::events::{EventData, Word};
use crate::keeper::RecordKeeper;
use crate::mail_texts;
use crate::records::Account;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{Descriptor, Violation};
use intent_gateway_domain::error::chain;
use intent_gateway_domain::findings::{Finding, Severity, Source};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::money::{Paise, Rate};
use intent_gateway_domain::order::overdue::{ORDER_NOT_REPORTED, Overdue};
use intent_gateway_domain::order::{OPEN, OVERDUE, Order, OrderId, OrderedOption};
use intent_gateway_domain::pointer;
use intent_gateway_domain::ports::{Contract, Contracts, Journal};
use intent_gateway_domain::steps::Proposal;
use intent_gateway_domain::store::{Change, Pages, Versioned, load};
use intent_gateway_domain::telemetry;
use intent_gateway_domain::violations::quote;

/// Orders of one partner that are noted in one go, and told in one mail. The others stay due, and are told with the next look.
const NOTED_MAX: usize = 100;
/// Orders that one look notes in all.
const NEW_MAX: usize = 10_000;

/// Looks after what is not reported.
pub struct UnreportedOrders {
    pub(crate) keeper: RecordKeeper,
    /// The ways of orders.
    pub(crate) contracts: Arc<dyn Contracts>,
    /// Where findings go.
    pub(crate) journal: Arc<dyn Journal>,
    /// Of what the user pays, what is at stake.
    pub(crate) rate: Rate,
}

/// What one look has found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LookedThrough {
    /// Orders that are newly overdue; their partners were reminded.
    pub noted: usize,
    /// Orders that became findings.
    pub found: usize,
}

/// What is overdue at the end of a look.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    overdue: u64,
    at_stake: i64,
    in_doubt: u64,
}

impl UnreportedOrders {
    /// Looks through all open orders. Safe to run on several gateways at once: one of them notes each.
    ///
    /// # Errors
    /// [`OnboardingError::Store`] when the orders cannot be read.
    pub async fn look_through(&self) -> Result<LookedThrough, OnboardingError> {
        let mut looked = LookedThrough::default();
        let mut sums = Sums::default();
        let mut new: BTreeMap<PartnerId, Vec<OrderId>> = BTreeMap::new();
        let mut seen = 0;
        let mut open = Pages::<Order>::of(Some(OPEN));
        while let Some(orders) = open.next(&*self.keeper.store).await? {
            for Versioned { value: order, .. } in orders {
                sums.in_doubt += u64::from(order.is_in_doubt(self.keeper.now()));
                if seen < NEW_MAX && self.newly_due(&order).is_some() {
                    seen += 1;
                    new.entry(order.partner).or_default().push(order.id);
                }
            }
        }
        for (partner, orders) in new {
            for orders in orders.chunks(NOTED_MAX) {
                match self.note(&partner, orders).await {
                    Ok(noted) => looked.noted += noted,
                    // One whose records cannot be read keeps nobody else from being told.
                    Err(error) => {
                        let error = chain(&error);
                        tracing::warn!(%partner, %error, "a partner could not be reminded of its reports");
                    }
                }
            }
        }
        let mut overdue = Pages::<Order>::of(Some(OVERDUE));
        while let Some(orders) = overdue.next(&*self.keeper.store).await? {
            for order in orders {
                match self.follow_up(order.value).await {
                    Ok((overdue, is_found)) => {
                        looked.found += usize::from(is_found);
                        sums.overdue += u64::from(overdue.is_some());
                        sums.at_stake += overdue.and_then(|overdue| overdue.at_stake).map_or(0, Paise::get);
                    }
                    Err(error) => tracing::warn!(error = %chain(&error), "an overdue order could not be looked at"),
                }
            }
        }
        telemetry::orders_waiting(sums.overdue, sums.at_stake, sums.in_doubt);
        Ok(looked)
    }

    /// The contract that an order is judged by.
    fn contract_of(&self, order: &Order) -> Option<Arc<dyn Contract>> {
        self.contracts.find_loaded(order.contract).or_else(|| self.contracts.live(order.intent.as_str()))
    }

    /// Since when an order's report is due, with its contract.
    fn due(&self, order: &Order) -> Option<(Timestamp, Arc<dyn Contract>)> {
        let contract = self.contract_of(order)?;
        let due_at = order.report_due_at(contract.descriptor().order.as_ref()?)?;
        Some((due_at, contract))
    }

    fn newly_due(&self, order: &Order) -> Option<(Timestamp, Arc<dyn Contract>)> {
        self.due(order).filter(|(due_at, _)| order.is_newly_overdue(*due_at, self.keeper.now()))
    }

    /// Notes orders of a partner as overdue, and reminds it; how many they were.
    async fn note(&self, partner: &PartnerId, ids: &[OrderId]) -> Result<usize, OnboardingError> {
        let keeper = &self.keeper;
        keeper
            .step(async || {
                let (mut change, mut noted) = (Change::default(), Vec::new());
                for id in ids {
                    let Some(mut kept) = load::<Order>(&*keeper.store, id.as_str()).await? else { continue };
                    let Some((due_at, contract)) = self.newly_due(&kept.value) else { continue };
                    kept.value.overdue = Some(self.overdue(&kept.value, due_at, contract.descriptor()).await?);
                    change.put(&kept);
                    noted.push(kept.value);
                }
                if noted.is_empty() {
                    return Ok(Proposal::nothing(0));
                }
                let listed: Vec<&str> = noted.iter().map(|order| order.id.as_str()).collect();
                let detail = json!({ "orders": listed });
                change.audit.push(keeper.audit_entry(&Actor::gateway(), "orders.overdue", partner, detail));
                // Partners of the configuration have no account, and nobody to write to.
                if let Some(owner) = load::<Account>(&*keeper.store, partner.as_str()).await? {
                    let text = mail_texts::unreported(&owner.value.business_name, &noted);
                    let event = EventData::overdue(&noted);
                    let word = Word { subject: "Orders wait for your report", text, event };
                    keeper.tell(&owner.value, word, &mut change)?;
                }
                Ok(Proposal::new(change, noted.len()))
            })
            .await
    }

    /// What is noted of an order, with what is at stake.
    async fn overdue(
        &self,
        order: &Order,
        due_at: Timestamp,
        descriptor: &Descriptor,
    ) -> Result<Overdue, OnboardingError> {
        let ordered = load::<OrderedOption>(&*self.keeper.store, order.id.as_str()).await?;
        let amount = amount(order, descriptor, ordered.as_ref().map(|ordered| &*ordered.value.option));
        Ok(Overdue {
            due_at_ms: due_at,
            amount,
            at_stake: amount.map(|amount| self.rate.commission(amount)),
            noted_at_ms: self.keeper.now(),
            found_at_ms: None,
        })
    }

    /// Looks at an order that is noted already: its time may have changed, or it becomes a finding. What is noted of it then, and
    /// whether it was found now.
    async fn follow_up(&self, order: Order) -> Result<(Option<Overdue>, bool), OnboardingError> {
        let due = self.due(&order);
        let is_as_noted = |order: &Order| {
            let noted_due = order.overdue.as_ref().map(|noted| noted.due_at_ms);
            due.as_ref().is_none_or(|(due_at, _)| Some(*due_at) == noted_due)
        };
        if is_as_noted(&order) && !order.is_to_be_found(self.keeper.now()) {
            return Ok((order.overdue, false));
        }
        let id = order.id;
        let followed = self
            .keeper
            .step(async || {
                let Some(mut kept) = load::<Order>(&*self.keeper.store, id.as_str()).await? else {
                    return Ok(Proposal::nothing((None, None)));
                };
                if !kept.value.is_overdue() {
                    return Ok(Proposal::nothing((None, None)));
                }
                let mut change = Change::default();
                let mut found = None;
                if !is_as_noted(&kept.value) {
                    // Moved to another time: it is due anew, and told anew where that is over too.
                    kept.value.overdue = None;
                    change.put(&kept);
                } else if kept.value.is_to_be_found(self.keeper.now())
                    && let Some(noted) = &mut kept.value.overdue
                {
                    noted.found_at_ms = Some(self.keeper.now());
                    change.put(&kept);
                    found = Some(kept.value.clone());
                } else {
                    return Ok(Proposal::nothing((kept.value.overdue, None)));
                }
                Ok(Proposal::new(change, (kept.value.overdue, found)))
            })
            .await?;
        let (overdue, found) = followed;
        if let Some(order) = &found {
            self.journal.record(finding(order, self.keeper.now()));
        }
        Ok((overdue, found.is_some()))
    }
}

/// What the user pays in all: what the order keeps of it, or the price of the option.
fn amount(order: &Order, descriptor: &Descriptor, option: Option<&RawValue>) -> Option<Paise> {
    let declared = descriptor.order.as_ref().and_then(|way| way.amount.as_ref());
    let kept = declared.and_then(|name| Some(order.kept.get(name)?.as_number()?.to_string()));
    let number = kept.or_else(|| {
        let at = descriptor.search.price_pointer.as_ref()?;
        Some(pointer::find(option?.get(), at)?.get().to_owned())
    })?;
    Paise::from_inr(&number).ok().filter(|amount| *amount >= Paise::ZERO)
}

fn finding(order: &Order, now: Timestamp) -> Finding {
    let external_id = order.identifiers.first().cloned();
    let named = external_id.as_deref().unwrap_or(order.id.as_str());
    let message = format!(
        "The time of order {} has been over for seven days, and no completion report has come. Report it, whatever its outcome.",
        quote(named)
    );
    Finding {
        at_ms: now,
        partner: order.partner.clone(),
        intent: order.intent.to_string(),
        request_id: order.request_id.clone(),
        source: Some(Source::Report),
        option_place: None,
        option_id: None,
        external_id,
        severity: Severity::Note,
        violation: Violation { pointer: String::new(), code: ORDER_NOT_REPORTED.to_owned(), message },
        excerpt: None,
    }
}
