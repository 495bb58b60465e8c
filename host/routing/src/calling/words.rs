//! What comes of a call before its answer: a partner's words about its work, scanned as answers are, and a call's turn among
//! those that follow an order.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::{Either, select};
use serde_json::value::RawValue;

use super::judging::first_breach;
use super::{CallError, Caller, Judged, Order, Pinned};
use crate::forbidden::ForbiddenFields;
use intent_gateway_domain::contract::ToolRole;
use intent_gateway_domain::findings::Severity;
use intent_gateway_domain::limits::PAYLOAD_MAX_DEPTH;
use intent_gateway_domain::progress::Listener;
use intent_gateway_outbound::policy::pace::track::{BETWEEN_CALLS_MS, TrackPermit};

/// The member that ties a word to its request; between partner and gateway alone.
const TOKEN: &str = "progressToken";

impl Caller {
    /// Whether an order may be followed: the tool is a track tool, and nothing stands against calling it.
    ///
    /// # Errors
    /// [`CallError`], as a call of the tool would give it before the partner is asked.
    pub async fn may_follow(&self, order: Order<'_>) -> Result<(), CallError> {
        let (call, expired) = self.prepare(order).await?;
        if call.tool()?.role != ToolRole::Track {
            return Err(CallError::UnknownTool(order.tool.to_owned()));
        }
        expired.map_or(Ok(()), Err)
    }

    /// Makes the call whose turn it is. One that somebody listens to may take long: it holds its turn until the next call
    /// may be made, so that whoever only asks is not kept waiting.
    pub(super) async fn in_turn(&self, call: &Pinned<'_>, permit: TrackPermit<Judged>) -> Result<Judged, CallError> {
        let mut permit = Some(permit);
        let mut made = pin!(self.make(call, false));
        let judged = if call.order.listener.is_some() {
            let next = self.memory.timer.wait(Duration::from_millis(BETWEEN_CALLS_MS));
            match select(made.as_mut(), next).await {
                Either::Left((judged, _)) => judged?,
                Either::Right(_) => {
                    permit = None;
                    made.await?
                }
            }
        } else {
            made.await?
        };
        if let Some(permit) = permit {
            permit.keep_answer(Arc::new(judged.clone()), judged.payload.get().len(), self.clock.now_ms());
        }
        Ok(judged)
    }
}

/// Hands a partner's words on, without those that hold what no answer may.
pub(super) fn scan<'a>(
    caller: &'a Caller,
    call: &'a Pinned<'a>,
    listener: Listener<'a>,
) -> impl Fn(&str) + Send + Sync + 'a {
    // One call is one incident, however often it says the same.
    let is_recorded = AtomicBool::new(false);
    move |params| {
        let fields = ForbiddenFields::new(&call.contract.descriptor().forbidden_fields);
        let structure = fields.inspect(params);
        if structure.depth > PAYLOAD_MAX_DEPTH {
            return;
        }
        if structure.suspicious
            && let Some(violation) = first_breach(&fields, params)
        {
            if !is_recorded.swap(true, Ordering::Relaxed) {
                caller.record(call, Severity::Strike, violation);
            }
            return;
        }
        if let Some(params) = without_token(params) {
            listener.hear(&params);
        }
    }
}

/// The parameters as the partner wrote them, but for the token. None where they are no object.
fn without_token(params: &str) -> Option<String> {
    let mut members: BTreeMap<&str, &RawValue> = serde_json::from_str(params).ok()?;
    members.remove(TOKEN);
    serde_json::to_string(&members).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_kept_back_and_numbers_keep_their_digits() {
        let params = r#"{"progressToken":7,"progress":0.10,"total":12345678901234567890123,"near":{"lat":1.0}}"#;
        let expected = r#"{"near":{"lat":1.0},"progress":0.10,"total":12345678901234567890123}"#;
        assert_eq!(without_token(params).as_deref(), Some(expected));
        for odd in ["[]", "1", ""] {
            assert_eq!(without_token(odd), None, "{odd}");
        }
    }
}
