//! How often callers may ask: what can be set anew while the gateway serves.

use std::num::NonZeroU32;
use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::quota::Quotas;

/// How often callers may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// Requests a minute that one client may send to the routes that take no token.
    pub open_per_minute: NonZeroU32,
    /// Requests of callers with a token.
    pub quotas: Quotas,
}

/// The rates in force. What was counted before they were replaced counts on, but for clients without a token, who begin anew.
#[derive(Debug)]
pub struct LiveRates(ArcSwap<Rates>);

impl LiveRates {
    #[must_use]
    pub fn new(rates: Rates) -> Self {
        Self(ArcSwap::from_pointee(rates))
    }

    /// These are in force from now on.
    pub fn replace(&self, rates: Rates) {
        self.0.store(Arc::new(rates));
    }

    /// The rates of this moment.
    pub(crate) fn now(&self) -> Rates {
        **self.0.load()
    }
}
