//! The option that a call is about, as the search returned it.
//!
//! A search is answered before its receipt is kept, so that nobody waits for the disk. Whoever books at once, at this gateway or
//! at another one of the fleet, therefore waits for the receipt, a moment at most. Where the gateway knew that it would not be
//! kept, the reference itself says what was quoted.

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

/// How soon after a search its receipt may still be on its way, milliseconds. A journal gathers for 20.
const ON_ITS_WAY_MS: u64 = 2_000;
/// How soon it is looked for again, milliseconds.
const LOOK_AGAIN_MS: u64 = 20;

/// What a reference says of how its option was found.
pub(super) struct FoundOption {
    pub(super) searched_at: Option<Timestamp>,
    pub(super) quoted: Option<Quote>,
}

impl FoundOption {
    pub(super) fn of(reference: &Reference) -> Self {
        Self { searched_at: reference.searched_at(), quoted: reference.quoted().cloned() }
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
        loop {
            if let Some(option) = self.open_rankings.option(receipt, partner, *number) {
                return Ok(Some(option));
            }
            let is_too_late = match self.evidence.option(receipt, partner, *number).await {
                Ok(Some(option)) => return Ok(Some(option)),
                Ok(None) => {
                    let now = self.clock.now();
                    found.searched_at.is_none_or(|searched_at| now.ms_since(searched_at) >= ON_ITS_WAY_MS)
                }
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
}
