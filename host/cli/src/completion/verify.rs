//! Tells whether a signature holds, and if not, which of the usual mistakes made it.
//!
//! A gateway never tells this: there, all that is wrong with a signature is one code. Here the key is the caller's own.

use intent_gateway_domain::clock::{Clock as _, SystemClock, Timestamp};
use intent_gateway_domain::secret::Secret;
use intent_gateway_ledger::completion::signature::{
    Keys, Presented, SIGNATURE_HEADER, SignatureError, Signer, VerifyingKey, WINDOW_MS, read_timestamp,
};
use serde::Serialize;

use super::arguments::VerifyArgs;
use super::input::{self, KEY_PREFIX};
use crate::outcome::{CommandError, Verdict, print_json, usage};
use crate::print;

/// What came out.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct VerifyResult {
    /// Whether the signature is right for the report, the timestamp and the key.
    holds: bool,
    /// Whether a gateway whose clock is this machine's would take the timestamp now; absent where it is malformed.
    within_window: Option<bool>,
    /// Why the signature does not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    /// Why the timestamp would not be taken now.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

pub(super) fn run(arguments: &VerifyArgs) -> Result<Verdict, CommandError> {
    let VerifyArgs { subject, timestamp, signature, json } = arguments;
    let key = input::key(subject).map_err(usage)?;
    let report = input::report(subject).map_err(usage)?;
    let checked = check(&key, timestamp, signature, &report, SystemClock.now());
    if *json {
        print_json(&checked)?;
    } else {
        print(&text(&checked));
    }
    Ok(Verdict::of(checked.holds))
}

/// Checks as a gateway does, but for the time of receipt: the one that the timestamp names, so that an old signature can
/// be looked at.
fn check(key: &Secret, timestamp: &str, signature: &str, report: &[u8], now: Timestamp) -> VerifyResult {
    let keys = Keys::new([VerifyingKey::new("own", key, Timestamp::EPOCH, None)]);
    let presented = Presented { timestamp: Some(timestamp.as_bytes()), signature: Some(signature.as_bytes()) };
    let signed_at = read_timestamp(timestamp.as_bytes());
    let verified = keys.verify(presented, report, signed_at.unwrap_or(now));
    let problem = verified.as_ref().err().map(|error| match (error, signed_at) {
        (SignatureError::Malformed(SIGNATURE_HEADER), _) => {
            "the signature is malformed: expected `sha256=` and 64 hexadecimal digits, not base64".to_owned()
        }
        (SignatureError::Wrong, Some(signed_at)) => wrong(key, signed_at.as_ms(), signature, report),
        _ => {
            "the timestamp is malformed: expected milliseconds since 1970 in decimal digits, without a point".to_owned()
        }
    });
    let sound = !matches!(verified, Err(SignatureError::Malformed(header)) if header != SIGNATURE_HEADER);
    let within_window = signed_at.filter(|_| sound).map(|signed| signed.ms_apart(now) <= WINDOW_MS);
    let note = signed_at.filter(|_| within_window == Some(false)).map(|signed| {
        if signed.as_ms().saturating_mul(1_000).abs_diff(now.as_ms()) <= WINDOW_MS {
            "the timestamp is in seconds: a gateway expects milliseconds, and would refuse it"
        } else {
            "the timestamp is more than five minutes from this machine's clock: a gateway would refuse it now"
        }
    });
    VerifyResult { holds: verified.is_ok(), within_window, problem, note }
}

/// The mistake that makes this signature, if it is one of the usual.
fn wrong(key: &Secret, signed_ms: u64, signature: &str, report: &[u8]) -> String {
    let is = |key: &Secret, signed_ms: u64, body: &[u8]| {
        Signer::new(key).sign(signed_ms, body).eq_ignore_ascii_case(signature)
    };
    let bare = key.expose().strip_prefix(KEY_PREFIX).map(Secret::new);
    let trimmed = report.trim_ascii_end();
    let broken = [trimmed, b"\n"].concat();
    let lines = String::from_utf8_lossy(report).replace("\r\n", "\n");
    let compact = serde_json::from_slice::<serde_json::Value>(report).map(|value| value.to_string()).ok();
    let found = if is(&Secret::new(format!("{}\n", key.expose())), signed_ms, report) {
        "the key was used with a line break at its end"
    } else if bare.is_some_and(|bare| is(&bare, signed_ms, report)) {
        "the key was used without its `whsec_`, which belongs to it"
    } else if is(key, signed_ms / 1_000, report) {
        "seconds were signed, and milliseconds sent as the timestamp"
    } else if is(key, signed_ms, trimmed) {
        "what was signed lacks the line break or the blanks at the end of the report"
    } else if is(key, signed_ms, &broken) {
        "what was signed ends with a line break, the report does not"
    } else if is(key, signed_ms, lines.as_bytes()) {
        "what was signed has line feeds where the report has carriage returns and line feeds"
    } else if compact.is_some_and(|compact| is(key, signed_ms, compact.as_bytes())) {
        "the same JSON was signed in another spelling; sign the bytes that are sent"
    } else {
        "it is not the HMAC-SHA256 of `<timestamp>.<report>` under this key, nor one of the usual mistakes; \
         compare key (its text, not decoded), timestamp and the bytes of the report"
    };
    format!("the signature is wrong: {found}")
}

fn text(checked: &VerifyResult) -> String {
    let VerifyResult { holds: _, within_window: _, problem, note } = checked;
    let verdict = problem.as_deref().unwrap_or("the signature holds");
    note.map_or_else(|| verdict.to_owned(), |note| format!("{verdict}\n{note}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_779_264_000_123;

    fn key() -> Secret {
        Secret::new("whsec_ab")
    }

    fn checked(signature: &str, report: &str) -> VerifyResult {
        check(&key(), &NOW.to_string(), signature, report.as_bytes(), Timestamp::from_ms(NOW))
    }

    #[test]
    fn a_right_one_holds_whenever_it_is_looked_at() {
        let signature = Signer::new(&key()).sign(NOW, b"{}");
        for (now, within) in [(NOW, true), (NOW + WINDOW_MS, true), (NOW + WINDOW_MS + 1, false), (0, false)] {
            let checked = check(&key(), &NOW.to_string(), &signature, b"{}", Timestamp::from_ms(now));
            assert_eq!((checked.holds, checked.within_window, &checked.problem), (true, Some(within), &None));
            assert_eq!(text(&checked).contains("five minutes"), !within, "{}", text(&checked));
        }
        let seconds = Signer::new(&key()).sign(NOW / 1_000, b"{}");
        let checked = check(&key(), &(NOW / 1_000).to_string(), &seconds, b"{}", Timestamp::from_ms(NOW));
        assert_eq!(text(&checked).lines().next(), Some("the signature holds"));
        assert!(text(&checked).contains("is in seconds"), "{checked:?}");
    }

    #[test]
    fn usual_mistakes_are_named() {
        let report = "{\"b\": 1,\r\n\"a\": 2}\r\n";
        let sign = |key: &str, ms: u64, body: &str| Signer::new(&Secret::new(key)).sign(ms, body.as_bytes());
        for (signature, named) in [
            (sign("whsec_ab\n", NOW, report), "a line break at its end"),
            (sign("ab", NOW, report), "without its `whsec_`"),
            (sign("whsec_ab", NOW / 1_000, report), "seconds were signed"),
            (sign("whsec_ab", NOW, report.trim_end()), "lacks the line break"),
            (sign("whsec_ab", NOW, &report.replace('\r', "")), "line feeds where"),
            (sign("whsec_ab", NOW, r#"{"a":2,"b":1}"#), "another spelling"),
            (sign("whsec_cd", NOW, report), "nor one of the usual mistakes"),
        ] {
            let checked = checked(&signature, report);
            assert!(!checked.holds && checked.within_window == Some(true), "{named}");
            assert!(checked.problem.as_deref().is_some_and(|problem| problem.contains(named)), "{named}: {checked:?}");
        }
        let ended = checked(&sign("whsec_ab", NOW, "{}\n"), "{}");
        assert!(text(&ended).contains("ends with a line break"), "{ended:?}");
    }

    #[test]
    fn what_is_malformed_is_told_apart() {
        let right = Signer::new(&key()).sign(NOW, b"{}");
        for signature in ["", &right[7..], "sha256=3q2+7w=="] {
            let checked = checked(signature, "{}");
            assert!(text(&checked).starts_with("the signature is malformed"), "{signature}");
            assert_eq!(checked.within_window, Some(true));
        }
        for timestamp in ["", "+1779264000123", "1779264000.123"] {
            let checked = check(&key(), timestamp, &right, b"{}", Timestamp::from_ms(NOW));
            assert!(text(&checked).starts_with("the timestamp is malformed"), "{timestamp}");
            assert_eq!((checked.holds, checked.within_window), (false, None), "{timestamp}");
        }
        // A time all the same, but another text than the one that was signed.
        for (timestamp, within_window) in [("01779264000123", true), ("9999999999999999", false)] {
            let checked = check(&key(), timestamp, &right, b"{}", Timestamp::from_ms(NOW));
            assert!(!text(&checked).contains("malformed"), "{timestamp}: {}", text(&checked));
            assert_eq!((checked.holds, checked.within_window), (false, Some(within_window)), "{timestamp}");
        }
    }
}
