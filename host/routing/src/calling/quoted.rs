//! The option that a call is about, as the search returned it.
//!
//! What this gateway has shown lately it holds in memory. A search is answered before its receipt is kept, so that nobody waits for
//! the disk. Whoever books at once at another gateway of the fleet therefore waits for the receipt, a moment at most. Where the gateway knew that it would come late
//! or never, the reference itself says what was quoted.

use std::time::Duration;

use serde_json::value::RawValue;

use super::binding::Binding;
use super::{CallError, Caller};
use crate::reference::{Quote, Reference};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::order::{Order, OrderedOption};
use intent_gateway_domain::store::load;

/// How long after its answer the receipt of a search may still be on its way, milliseconds; likewise after the store was late. A
/// journal gathers for 20.
const ON_ITS_WAY_MS: u64 = 2_000;
/// How soon it is looked for again, milliseconds.
const LOOK_AGAIN_MS: u64 = 20;

/// What a reference says of how its option was found.
pub(super) struct FoundOption {
    pub(super) answered_at: Option<Timestamp>,
    pub(super) quoted: Option<Quote>,
}

impl FoundOption {
    pub(super) fn of(reference: &Reference) -> Self {
        Self { answered_at: reference.answered_at(), quoted: reference.quoted().cloned() }
    }
}

impl Caller {
    /// The option that was ordered, or that the reference stands for, where it is still known.
    ///
    /// # Errors
    /// [`CallError::OptionNotKept`] where it was known beforehand that nobody would know it.
    pub(super) async fn quoted_option(
        &self,
        binding: &Binding,
        partner: &PartnerId,
        order: Option<&Order>,
        found: &FoundOption,
    ) -> Result<Option<Box<RawValue>>, CallError> {
        if let Some(order) = order {
            match load::<OrderedOption>(&*self.memory.store, order.id.as_str()).await {
                Ok(Some(ordered)) => return Ok(Some(ordered.value.option)),
                Ok(None) => {}
                Err(error) => tracing::warn!(error = %chain(&error), "the option of an order cannot be read"),
            }
        }
        if let Some(Quote::Whole(text)) = &found.quoted {
            // What was sealed here was JSON.
            return RawValue::from_string(text.clone()).map(Some).map_err(|error| CallError::defect(&error));
        }
        let Some((receipt, number)) = binding.option.as_ref() else { return Ok(None) };
        let began = self.clock.now();
        loop {
            if let Some(option) = self.shown_rankings.option(receipt, partner, *number) {
                return Ok(Some(option));
            }
            let is_too_late = match self.evidence.option(receipt, partner, *number).await {
                Ok(Some(option)) => return Ok(Some(option)),
                Ok(None) => !self.may_be_on_its_way(found, began),
                Err(error) => {
                    tracing::warn!(error = %chain(&error), "an answer is judged without what was quoted");
                    true
                }
            };
            if is_too_late {
                // Nobody could say any more whether what is booked is what was shown.
                let is_lost = found.quoted.is_some() && order.is_none();
                return if is_lost { Err(CallError::OptionNotKept) } else { Ok(None) };
            }
            self.memory.timer.wait(Duration::from_millis(LOOK_AGAIN_MS)).await;
        }
    }

    /// Whether a receipt that is not there may still come. `began` is when it was first looked for: after an outage all gateways
    /// write what they hold, so one that has seen it waits for the others.
    fn may_be_on_its_way(&self, found: &FoundOption, began: Timestamp) -> bool {
        let now = self.clock.now();
        let is_within = |since: Timestamp| now.ms_since(since) < ON_ITS_WAY_MS;
        found.answered_at.is_some_and(is_within)
            || (is_within(began) && self.journal.was_late_within(Duration::from_millis(ON_ITS_WAY_MS)))
    }
}
