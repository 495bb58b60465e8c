//! Overdue orders as people look at them: one after the other, and by partner.

use std::collections::BTreeMap;

use super::UnreportedOrders;
use crate::OnboardingError;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::limits::DAY_MS;
use intent_gateway_domain::money::Paise;
use intent_gateway_domain::order::overdue::Overdue;
use intent_gateway_domain::order::{OVERDUE, Order, name};
use intent_gateway_domain::store::{List, Named, Pages, Versioned, named, page};

/// Overdue orders of one partner that are listed, at most.
pub const OVERDUE_LISTED_MAX: u32 = 1_000;
/// An order that has been due for no longer than so many days is counted as of this week.
const WEEK_DAYS: u64 = 7;
/// As of this month.
const MONTH_DAYS: u64 = 30;

/// What is overdue at one partner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverdueAtPartner {
    pub partner: PartnerId,
    /// Orders that were due within the last 7 days.
    pub of_week: u64,
    /// Before that, and within the last 30.
    pub of_month: u64,
    /// Earlier than that.
    pub older: u64,
    /// When the oldest was due, milliseconds since the epoch.
    pub oldest_due_at: Timestamp,
    /// The commission on all of them, at most.
    pub at_stake: Paise,
}

impl OverdueAtPartner {
    fn none(partner: PartnerId, oldest_due_at: Timestamp) -> Self {
        Self { partner, of_week: 0, of_month: 0, older: 0, oldest_due_at, at_stake: Paise::ZERO }
    }

    fn add(&mut self, overdue: &Overdue, now: Timestamp) {
        let age_ms = now.ms_since(overdue.due_at_ms);
        let counted = match age_ms {
            _ if age_ms <= WEEK_DAYS * DAY_MS => &mut self.of_week,
            _ if age_ms <= MONTH_DAYS * DAY_MS => &mut self.of_month,
            _ => &mut self.older,
        };
        *counted += 1;
        self.oldest_due_at = self.oldest_due_at.min(overdue.due_at_ms);
        let at_stake = overdue.at_stake.unwrap_or(Paise::ZERO);
        self.at_stake = self.at_stake.checked_add(at_stake).unwrap_or(self.at_stake);
    }
}

impl UnreportedOrders {
    /// Overdue orders of all partners, the one opened first at the head, behind the order of this identifier.
    ///
    /// # Errors
    /// [`OnboardingError::Store`].
    pub async fn list(&self, after: Option<&str>, limit: u32) -> Result<Vec<Order>, OnboardingError> {
        let orders = page::<Order>(&*self.keeper.store, List { status: Some(OVERDUE), after, limit }).await?;
        Ok(orders.into_iter().map(|kept| kept.value).collect())
    }

    /// Overdue orders of one partner, the one opened last at the head, at most [`OVERDUE_LISTED_MAX`].
    ///
    /// # Errors
    /// [`OnboardingError::Store`].
    pub async fn of_partner(&self, partner: &PartnerId) -> Result<Vec<Order>, OnboardingError> {
        let name = name::of_overdue(partner);
        let asked = Named { name: &name, before: None, limit: OVERDUE_LISTED_MAX };
        let orders = named::<Order>(&*self.keeper.store, asked).await?.into_iter().map(|kept| kept.value);
        Ok(orders.filter(Order::is_overdue).collect())
    }

    /// What is overdue, partner by partner, in order of what is at stake.
    ///
    /// # Errors
    /// [`OnboardingError::Store`].
    pub async fn by_partner(&self) -> Result<Vec<OverdueAtPartner>, OnboardingError> {
        let now = self.keeper.now();
        let mut partners: BTreeMap<PartnerId, OverdueAtPartner> = BTreeMap::new();
        let mut pages = Pages::<Order>::of(Some(OVERDUE));
        while let Some(orders) = pages.next(&*self.keeper.store).await? {
            for Versioned { value: Order { partner, overdue, .. }, .. } in orders {
                let Some(overdue) = overdue else { continue };
                let sums = partners.entry(partner.clone());
                let sums = sums.or_insert_with(|| OverdueAtPartner::none(partner, overdue.due_at_ms));
                sums.add(&overdue, now);
            }
        }
        let mut partners: Vec<OverdueAtPartner> = partners.into_values().collect();
        partners.sort_by_key(|at_partner| std::cmp::Reverse(at_partner.at_stake));
        Ok(partners)
    }
}
