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

/// Why a report whose signature holds may be refused for its signature all the same.
const OTHER_BYTES: &str = "if it is refused all the same, other bytes were sent than the file has (with curl: --data-binary, \
                           not -d), or under another key, or for another partner";

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
    let text = String::from_utf8_lossy(report);
    let unix = text.replace("\r\n", "\n");
    let windows = unix.replace('\n', "\r\n");
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
    } else if is(key, signed_ms, unix.as_bytes()) {
        "what was signed has line feeds where the report has carriage returns and line feeds"
    } else if is(key, signed_ms, windows.as_bytes()) {
        "what was signed has carriage returns and line feeds where the report has line feeds"
    } else if spellings(&text).iter().any(|spelling| is(key, signed_ms, spelling.as_bytes())) {
        "the same JSON was signed in another spelling; sign the bytes that are sent"
    } else {
        "it is not the HMAC-SHA256 of `<timestamp>.<report>` under this key, nor one of the usual mistakes; \
         compare key (its text, not decoded), timestamp and the bytes of the report"
    };
    format!("the signature is wrong: {found}")
}

/// The report as the usual libraries write it when they read it and write it again: without blanks, with a blank after
/// each colon and comma (Python), in lines with two or four blanks of indent; the members in their order and sorted; each
/// without and with a line break at its end. Empty where the report is no JSON.
fn spellings(report: &str) -> Vec<String> {
    let Ok(value) = serde_json::from_str::<serde_json::Value>(report) else { return Vec::new() };
    let orders = [compact(report), value.to_string()];
    let written = orders
        .iter()
        .flat_map(|order| [spaced(order, ": ", ", "), indented(order, "  "), indented(order, "    "), order.clone()]);
    written.flat_map(|text| [format!("{text}\n"), text]).collect()
}

/// Rewrites what stands outside of strings.
fn rewrite(json: &str, mut outside: impl FnMut(char, &mut String)) -> String {
    let (mut written, mut in_string, mut escaped) = (String::with_capacity(json.len()), false, false);
    for character in json.chars() {
        if !in_string && character != '"' {
            outside(character, &mut written);
            continue;
        }
        written.push(character);
        if escaped {
            escaped = false;
        } else if character == '"' {
            in_string = !in_string;
        } else {
            escaped = character == '\\';
        }
    }
    written
}

/// Sound JSON without the blanks between its parts; everything else as it is written.
fn compact(json: &str) -> String {
    rewrite(json, |character, written| {
        if !character.is_ascii_whitespace() {
            written.push(character);
        }
    })
}

/// Compact JSON with other separators.
fn spaced(compact: &str, colon: &str, comma: &str) -> String {
    rewrite(compact, |character, written| match character {
        ':' => written.push_str(colon),
        ',' => written.push_str(comma),
        other => written.push(other),
    })
}

/// Compact JSON in lines, as `JSON.stringify` and Python's `json` write it.
fn indented(compact: &str, indent: &str) -> String {
    let mut depth = 0_usize;
    rewrite(compact, |character, written| {
        match character {
            '{' | '[' => depth += 1,
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                written.truncate(written.trim_end().len());
                // An empty object or array stays on its line.
                if !written.ends_with(['{', '[']) {
                    break_line(written, indent, depth);
                }
            }
            _ => {}
        }
        written.push(character);
        match character {
            '{' | '[' | ',' => break_line(written, indent, depth),
            ':' => written.push(' '),
            _ => {}
        }
    })
}

fn break_line(written: &mut String, indent: &str, depth: usize) {
    written.push('\n');
    written.push_str(&indent.repeat(depth));
}

fn text(checked: &VerifyResult) -> String {
    let VerifyResult { holds, within_window: _, problem, note } = checked;
    let verdict = problem.as_deref().unwrap_or("the signature holds");
    let sent = holds.then_some(OTHER_BYTES);
    [Some(verdict), *note, sent].into_iter().flatten().collect::<Vec<_>>().join("\n")
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
            (sign("whsec_ab", NOW, &report.replace('\r', "").replace('\n', "\r\n\r\n")), "nor one of the usual"),
            (sign("whsec_ab", NOW, r#"{"a":2,"b":1}"#), "another spelling"),
            (sign("whsec_ab", NOW, r#"{"b":1,"a":2}"#), "another spelling"),
            (sign("whsec_ab", NOW, r#"{"b": 1, "a": 2}"#), "another spelling"),
            (sign("whsec_ab", NOW, "{\"a\": 2, \"b\": 1}\n"), "another spelling"),
            (sign("whsec_ab", NOW, "{\n  \"b\": 1,\n  \"a\": 2\n}"), "another spelling"),
            (sign("whsec_cd", NOW, report), "nor one of the usual mistakes"),
        ] {
            let checked = checked(&signature, report);
            assert!(!checked.holds && checked.within_window == Some(true), "{named}");
            assert!(checked.problem.as_deref().is_some_and(|problem| problem.contains(named)), "{named}: {checked:?}");
        }
        let unix = "{\"a\": 1}\n";
        let broken = checked(&sign("whsec_ab", NOW, "{\"a\": 1}\r\n"), unix);
        assert!(text(&broken).contains("carriage returns and line feeds where"), "{broken:?}");
        let ended = checked(&sign("whsec_ab", NOW, "{}\n"), "{}");
        assert!(text(&ended).contains("ends with a line break"), "{ended:?}");
    }

    #[test]
    fn spellings_are_those_of_the_usual_libraries() {
        let report = r#"{"b" : [1, {}, [ ]], "a":{"x":"y, \"z\": {"}}"#;
        let all = spellings(report);
        for expected in [
            r#"{"b":[1,{},[]],"a":{"x":"y, \"z\": {"}}"#,
            r#"{"b": [1, {}, []], "a": {"x": "y, \"z\": {"}}"#,
            r#"{"a":{"x":"y, \"z\": {"},"b":[1,{},[]]}"#,
            "{\n  \"b\": [\n    1,\n    {},\n    []\n  ],\n  \"a\": {\n    \"x\": \"y, \\\"z\\\": {\"\n  }\n}",
        ] {
            assert!(all.iter().any(|spelling| spelling == expected), "{expected}\n{all:#?}");
        }
        assert!(spellings("no JSON").is_empty());
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
