//! The trial balance: what each account holds, which in sum is nothing.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Account, Entry};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::money::Paise;

/// The accounts of one partner, debits above zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Balances {
    /// What the partner owes, paise.
    pub partner_receivable: Paise,
    /// What was earned, paise; a credit, so below zero.
    pub commission_revenue: Paise,
}

impl Balances {
    /// The sum of both; `None` where it does not fit.
    #[must_use]
    pub fn sum(&self) -> Option<Paise> {
        self.partner_receivable.checked_add(self.commission_revenue)
    }
}

/// A balance does not fit into 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("with entry {0} a balance exceeds what an account holds")]
pub struct Overflow(pub u64);

/// Balances by partner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct TrialBalance {
    partners: BTreeMap<PartnerId, Balances>,
}

impl TrialBalance {
    /// Over all of these entries.
    ///
    /// # Errors
    /// [`Overflow`] at the first balance that does not fit.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Result<Self, Overflow> {
        let mut trial = Self::default();
        entries.into_iter().try_for_each(|entry| trial.take(entry))?;
        Ok(trial)
    }

    /// Adds an entry, all of its legs or none.
    ///
    /// # Errors
    /// [`Overflow`] when a balance does not fit.
    pub fn take(&mut self, entry: &Entry) -> Result<(), Overflow> {
        let partner = &entry.posting.partner;
        let mut balances = self.partners.get(partner).copied().unwrap_or_default();
        for leg in &entry.posting.legs {
            let balance = match leg.account {
                Account::PartnerReceivable => &mut balances.partner_receivable,
                Account::CommissionRevenue => &mut balances.commission_revenue,
            };
            *balance = balance.checked_add(leg.amount).ok_or(Overflow(entry.number))?;
        }
        self.partners.insert(partner.clone(), balances);
        Ok(())
    }

    /// The balances of every partner that has an entry.
    pub fn partners(&self) -> impl Iterator<Item = (&PartnerId, &Balances)> {
        self.partners.iter()
    }

    /// Whether the accounts of each partner, and so all of them, sum to nothing.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.partners.values().all(|balances| balances.sum() == Some(Paise::ZERO))
    }
}

/// Out of balances that a store has summed, each partner's once.
impl FromIterator<(PartnerId, Balances)> for TrialBalance {
    fn from_iter<I: IntoIterator<Item = (PartnerId, Balances)>>(balances: I) -> Self {
        Self { partners: balances.into_iter().collect() }
    }
}
