//! The option that a call is about, as the search returned it.
//!
//! A search is answered before its receipt is kept, so that nobody waits for the disk. Whoever books at once, at this gateway or
//! at another one of the fleet, therefore waits for the receipt, a moment at most.

use std::time::Duration;

use serde_json::value::RawValue;

use super::Caller;
use super::binding::Binding;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::order::{Order, OrderedOption};
use intent_gateway_domain::store::load;

/// How soon after a search its receipt may still be on its way, milliseconds. A journal gathers for 20.
const ON_ITS_WAY_MS: u64 = 2_000;
/// How soon it is looked for again, milliseconds.
const LOOK_AGAIN_MS: u64 = 20;

impl Caller {
    /// The option that was ordered, or that the reference stands for, where it is still known.
    pub(super) async fn quoted_option(
        &self,
        binding: &Binding,
        partner: &PartnerId,
        order: Option<&Order>,
        searched_at: Option<Timestamp>,
    ) -> Option<Box<RawValue>> {
        if let Some(order) = order {
            match load::<OrderedOption>(&*self.memory.store, order.id.as_str()).await {
                Ok(Some(ordered)) => return Some(ordered.value.option),
                Ok(None) => {}
                Err(error) => tracing::warn!(error = %chain(&error), "the option of an order cannot be read"),
            }
        }
        let (receipt, number) = binding.option.as_ref()?;
        loop {
            if let Some(option) = self.open_rankings.option(receipt, partner, *number) {
                return Some(option);
            }
            match self.evidence.option(receipt, partner, *number).await {
                Ok(Some(option)) => return Some(option),
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(error = %chain(&error), "an answer is judged without what was quoted");
                    return None;
                }
            }
            let now = self.clock.now();
            if searched_at.is_none_or(|searched_at| now.ms_since(searched_at) >= ON_ITS_WAY_MS) {
                return None;
            }
            self.memory.timer.wait(Duration::from_millis(LOOK_AGAIN_MS)).await;
        }
    }
}
