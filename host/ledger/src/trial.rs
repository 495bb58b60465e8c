//! The trial balance: what each account holds, which in sum is nothing.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Account, Entry};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::money::Total;

/// The accounts of one partner, debits above zero. Neither can overflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Balances {
    /// What the partner owes, paise.
    pub partner_receivable: Total,
    /// What was earned, paise; a credit, so below zero.
    pub commission_revenue: Total,
}

impl Balances {
    /// The sum of both.
    #[must_use]
    pub fn sum(&self) -> Total {
        self.partner_receivable + self.commission_revenue
    }
}

/// Balances by partner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct TrialBalance {
    partners: BTreeMap<PartnerId, Balances>,
}

impl TrialBalance {
    /// Over all of these entries.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut trial = Self::default();
        entries.into_iter().for_each(|entry| trial.take(entry));
        trial
    }

    /// Adds an entry.
    pub fn take(&mut self, entry: &Entry) {
        let balances = self.partners.entry(entry.posting.partner.clone()).or_default();
        for leg in &entry.posting.legs {
            match leg.account {
                Account::PartnerReceivable => balances.partner_receivable += leg.amount,
                Account::CommissionRevenue => balances.commission_revenue += leg.amount,
            }
        }
    }

    /// The balances of every partner that has an entry.
    pub fn partners(&self) -> impl Iterator<Item = (&PartnerId, &Balances)> {
        self.partners.iter()
    }

    /// Whether the accounts of each partner, and so all of them, sum to nothing.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.partners.values().all(|balances| balances.sum() == Total::ZERO)
    }
}

/// Out of balances that a store has summed, each partner's once.
impl FromIterator<(PartnerId, Balances)> for TrialBalance {
    fn from_iter<I: IntoIterator<Item = (PartnerId, Balances)>>(balances: I) -> Self {
        Self { partners: balances.into_iter().collect() }
    }
}
