//! What a partner tells of its work before it answers, scanned as answers are.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::value::RawValue;

use super::Caller;
use super::prepare::PreparedCall;
use crate::scan;
use intent_gateway_domain::findings::Severity;
use intent_gateway_domain::forbidden::ForbiddenFields;
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
        let Ok(scanned) = scan::scan(params, None, &fields) else { return };
        let (is_strike, violations) = scanned.outside.verdict();
        if !violations.is_empty() {
            if !is_recorded.swap(true, Ordering::Relaxed) {
                let severity = if is_strike { Severity::Strike } else { Severity::Drop };
                caller.record_all(call, severity, violations, params);
            }
            return;
        }
        if let Some(params) = without_token(params) {
            listener.hear(&params);
        }
    }
}

/// The parameters as the partner wrote them, but for the token. None where they are not an object.
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
