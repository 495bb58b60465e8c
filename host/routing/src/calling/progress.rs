//! What a partner tells of its work before it answers, scanned as answers are.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::value::RawValue;

use super::Caller;
use super::judging::first_breach;
use super::prepare::PreparedCall;
use crate::forbidden::ForbiddenFields;
use intent_gateway_domain::findings::{Severity, excerpt};
use intent_gateway_domain::limits::PAYLOAD_MAX_DEPTH;
use intent_gateway_domain::progress::Listener;

/// The member that ties a message to its call; between partner and gateway alone.
const TOKEN: &str = "progressToken";

/// Hands a partner's words on, without those that hold what no answer may.
pub(super) fn scan<'a>(
    caller: &'a Caller,
    call: &'a PreparedCall<'a>,
    listener: Listener<'a>,
) -> impl Fn(&str) + Send + Sync + 'a {
    // One call is one incident, however often it says the same.
    let is_recorded = AtomicBool::new(false);
    move |params| {
        let fields = ForbiddenFields::new(&call.descriptor().forbidden_fields);
        let structure = fields.inspect(params);
        if structure.depth > PAYLOAD_MAX_DEPTH {
            return;
        }
        if structure.suspicious
            && let Some(violation) = first_breach(&fields, params)
        {
            if !is_recorded.swap(true, Ordering::Relaxed) {
                let sent = excerpt(params, &violation.pointer);
                caller.record(call, Severity::Strike, violation, sent);
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
