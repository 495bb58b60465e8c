//! An export, page by page: the orders first, from the newest on, then the rankings likewise.

use std::fmt;
use std::str::FromStr;

use intent_gateway_domain::order::{Order, OrderId, OrderedOption, Owner};
use intent_gateway_domain::receipt::{KeptReceipt, Receipt};
use intent_gateway_domain::store::load;
use intent_gateway_domain::user::User;
use intent_gateway_domain::user_data::{ranking_mark, ranking_marks};
use serde_json::value::RawValue;

use super::{UserDataError, UserRecords};

/// Orders of a page.
const ORDERS_PAGE: u32 = 20;
/// Rankings of a page: one holds every option that was shown.
const RANKINGS_PAGE: u32 = 5;

/// Where a page begins. The marks of a user are gone through one after the other, the current one first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportCursor {
    /// Orders under the mark at this place, before this one.
    Orders(usize, Option<OrderId>),
    /// Rankings under the mark at this place, below this number.
    Rankings(usize, Option<u64>),
}

/// The text is not a place in an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is no place in an export")]
pub struct InvalidCursor;

/// An order with the option that was ordered.
#[derive(Debug)]
pub struct ExportedOrder {
    pub order: Order,
    /// As the search returned it; none where it is not kept any more.
    pub option: Option<Box<RawValue>>,
}

/// A page of an export.
#[derive(Debug)]
pub struct ExportPage {
    pub orders: Vec<ExportedOrder>,
    pub rankings: Vec<Receipt>,
    /// Where the next page begins; none after the last.
    pub next: Option<ExportCursor>,
}

impl UserRecords {
    /// A page of what is kept of a user's orders and rankings. It may be empty though others follow.
    ///
    /// # Errors
    /// [`UserDataError::Store`].
    pub async fn export(&self, user: &User, at: Option<ExportCursor>) -> Result<ExportPage, UserDataError> {
        match at.unwrap_or(ExportCursor::Orders(0, None)) {
            ExportCursor::Orders(place, before) => self.export_orders(user, place, before).await,
            ExportCursor::Rankings(place, before) => self.export_rankings(user, place, before).await,
        }
    }

    async fn export_orders(
        &self,
        user: &User,
        place: usize,
        before: Option<OrderId>,
    ) -> Result<ExportPage, UserDataError> {
        let rankings = || Some(ExportCursor::Rankings(0, None));
        let Some(mark) = Owner::marks_of(&self.vault, user).into_iter().nth(place) else {
            return Ok(ExportPage { orders: Vec::new(), rankings: Vec::new(), next: rankings() });
        };
        let found = self.orders_of(&mark, before.as_ref(), ORDERS_PAGE).await?;
        let next = found.get(ORDERS_PAGE as usize - 1).map(|last| last.value.id.clone());
        let next = next.map_or(ExportCursor::Orders(place + 1, None), |last| ExportCursor::Orders(place, Some(last)));
        // The pages of rankings then have those that only the orders know as the user's.
        let receipts: Vec<String> = found.iter().filter_map(|order| order.value.from.receipt.clone()).collect();
        self.rankings.mark_rankings(&receipts, &ranking_mark(&self.vault, user)).await?;
        let mut orders = Vec::with_capacity(found.len());
        for order in found {
            let option = load::<OrderedOption>(&*self.store, order.value.id.as_str()).await?;
            orders.push(ExportedOrder { order: order.value, option: option.map(|option| option.value.option) });
        }
        Ok(ExportPage { orders, rankings: Vec::new(), next: Some(next) })
    }

    async fn export_rankings(
        &self,
        user: &User,
        place: usize,
        before: Option<u64>,
    ) -> Result<ExportPage, UserDataError> {
        if place == 0 && before.is_none() {
            self.settle_journal().await?;
        }
        let Some(mark) = ranking_marks(&self.vault, user).into_iter().nth(place) else {
            return Ok(ExportPage { orders: Vec::new(), rankings: Vec::new(), next: None });
        };
        let found = self.rankings.rankings_of(&mark, before, RANKINGS_PAGE).await?;
        let next = found.get(RANKINGS_PAGE as usize - 1).map(|last| last.number);
        let next = match next {
            Some(last) => Some(ExportCursor::Rankings(place, Some(last))),
            None => {
                (place + 1 < ranking_marks(&self.vault, user).len()).then_some(ExportCursor::Rankings(place + 1, None))
            }
        };
        let mut rankings = Vec::with_capacity(found.len());
        for ranking in found {
            rankings.extend(self.evidence.receipt(&ranking.id).await?.and_then(KeptReceipt::whole));
        }
        Ok(ExportPage { orders: Vec::new(), rankings, next })
    }
}

impl fmt::Display for ExportCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Orders(place, before) => {
                write!(f, "orders-{place}-{}", before.as_ref().map_or("", OrderId::as_str))
            }
            Self::Rankings(place, before) => {
                write!(f, "receipts-{place}-{}", before.map_or_else(String::new, |number| number.to_string()))
            }
        }
    }
}

impl FromStr for ExportCursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        let mut parts = text.splitn(3, '-');
        let (Some(kind), Some(place), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(InvalidCursor);
        };
        let place = place.parse::<u8>().map_err(|_| InvalidCursor)?.into();
        let key = Some(key).filter(|key| !key.is_empty());
        match kind {
            "orders" => Ok(Self::Orders(place, key.map(OrderId::parse).transpose().map_err(|_| InvalidCursor)?)),
            "receipts" => Ok(Self::Rankings(place, key.map(str::parse).transpose().map_err(|_| InvalidCursor)?)),
            _ => Err(InvalidCursor),
        }
    }
}
