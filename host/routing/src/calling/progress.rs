//! What a partner tells of its work before it answers, scanned as answers are.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::value::RawValue;

use super::Caller;
use super::judging::first_breach;
use super::prepare::PreparedCall;
use crate::forbidden::ForbiddenFields;
use intent_gateway_domain::findings::Severity;
use intent_gateway_domain::limits::PAYLOAD_MAX_DEPTH;
use intent_gateway_domain::ports::Progress;

/// The member that ties a message to its call; between partner and gateway alone.
const TOKEN: &str = "progressToken";

/// Hands a partner's messages on, without those that hold what no answer may.
pub(super) struct ScannedProgress<'a> {
    caller: &'a Caller,
    call: &'a PreparedCall<'a>,
    listener: &'a dyn Progress,
    /// Whether a breach was noted: one call is one incident, however often it says the same.
    has_struck: AtomicBool,
}

impl<'a> ScannedProgress<'a> {
    pub(super) fn new(caller: &'a Caller, call: &'a PreparedCall<'a>, listener: &'a dyn Progress) -> Self {
        Self { caller, call, listener, has_struck: AtomicBool::new(false) }
    }
}

impl fmt::Debug for ScannedProgress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScannedProgress").field("tool", &self.call.request.tool).finish_non_exhaustive()
    }
}

impl Progress for ScannedProgress<'_> {
    fn came(&self, params: &str) {
        let fields = ForbiddenFields::new(&self.call.descriptor().forbidden_fields);
        let structure = fields.inspect(params);
        if structure.depth > PAYLOAD_MAX_DEPTH {
            return;
        }
        if structure.suspicious
            && let Some(violation) = first_breach(&fields, params)
        {
            if !self.has_struck.swap(true, Ordering::Relaxed) {
                self.caller.record(self.call, Severity::Strike, violation);
            }
            return;
        }
        if let Some(params) = without_token(params) {
            self.listener.came(&params);
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
