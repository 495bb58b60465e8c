//! Why the samples of a go-live test came out as they did: each rule that was broken and where, how often, and by what.

use intent_gateway_domain::findings::{Severity, cut};
use intent_gateway_domain::golive::{SampleError, SampleFinding, SampleResult};

use crate::terminal::{Palette, Tone, harmless};

/// Examples that are shown of each rule.
const EXAMPLES_MAX: usize = 3;
/// Characters of what was sent that an example shows; `--json` has more.
const SENT_SHOWN_MAX_CHARS: usize = 120;

/// One rule that was broken at one place of options, with the number of each sample and what was found in it. Where nothing
/// points at the place, the message alone tells one cause from another.
struct Reason<'a> {
    severity: Severity,
    code: &'a str,
    /// The pointer, with a `*` for each place in a list.
    pointer: String,
    message: &'a str,
    found: Vec<(usize, &'a SampleFinding)>,
}

/// All reasons, the gravest first, and how many more there are than a report lists.
pub(super) fn lines(samples: &[SampleResult], palette: Palette) -> Vec<String> {
    let mut lines = Vec::new();
    for reason in group(samples) {
        let Reason { severity, code, pointer, message, found } = &reason;
        let tone = match severity {
            Severity::Note => Tone::Doubtful,
            Severity::Drop | Severity::Strike => Tone::Bad,
        };
        let word = palette.paint(tone, severity.as_str());
        let at = if pointer.is_empty() { String::new() } else { format!(" at {}", harmless(pointer)) };
        let times = if found.len() == 1 { "once".to_owned() } else { format!("{} times", found.len()) };
        lines.push(format!("{word} {}{at}, {times}: {}", harmless(code), harmless(message)));
        lines.extend(found.iter().take(EXAMPLES_MAX).map(|(sample, finding)| example(*sample, finding)));
    }
    let more: usize = samples.iter().map(|sample| sample.found_more).sum();
    if more > 0 {
        lines.push(format!("{more} more were found that are not listed"));
    }
    lines
}

/// What a partner wrote in place of an answer.
pub(super) fn error(SampleError { message, sent, .. }: &SampleError) -> Vec<String> {
    let mut lines = vec![format!("  {}", harmless(message))];
    if let Some(sent) = sent {
        lines.push("  the partner wrote:".to_owned());
        lines.extend(sent.lines().map(|line| format!("    {}", harmless(line))));
    }
    lines
}

fn group(samples: &[SampleResult]) -> Vec<Reason<'_>> {
    let mut reasons: Vec<Reason<'_>> = Vec::new();
    for (number, sample) in (1..).zip(samples) {
        for finding in &sample.found {
            let SampleFinding { severity, violation, .. } = finding;
            let pointer = any_place(&violation.pointer);
            let known = reasons.iter_mut().find(|one| {
                one.severity == *severity
                    && one.code == violation.code
                    && one.pointer == pointer
                    && (!pointer.is_empty() || any_number(one.message) == any_number(&violation.message))
            });
            match known {
                Some(reason) => reason.found.push((number, finding)),
                None => {
                    let (code, message) = (violation.code.as_str(), violation.message.as_str());
                    reasons.push(Reason {
                        severity: *severity,
                        code,
                        pointer,
                        message,
                        found: vec![(number, finding)],
                    });
                }
            }
        }
    }
    reasons.sort_by_key(|reason| match reason.severity {
        Severity::Strike => 0,
        Severity::Drop => 1,
        Severity::Note => 2,
    });
    reasons
}

/// The same place of every entry of a list is one place.
fn any_place(pointer: &str) -> String {
    let is_place = |step: &str| !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit());
    pointer.split('/').map(|step| if is_place(step) { "*" } else { step }).collect::<Vec<_>>().join("/")
}

/// A message without its numbers: the third and the fifth item of a list may fail for one cause.
fn any_number(message: &str) -> String {
    message.chars().filter(|character| !character.is_ascii_digit()).collect()
}

fn example(sample: usize, SampleFinding { option, option_id, violation, excerpt, .. }: &SampleFinding) -> String {
    // People count from one.
    let option = match (option, option_id) {
        (Some(place), Some(id)) => format!(", option {} ({})", u64::from(*place) + 1, harmless(id)),
        (Some(place), None) => format!(", option {}", u64::from(*place) + 1),
        (None, _) => String::new(),
    };
    let at = if any_place(&violation.pointer) == violation.pointer {
        String::new()
    } else {
        format!(", {}", harmless(&violation.pointer))
    };
    let sent = match excerpt {
        Some(sent) => format!("sent {}", harmless(&cut(sent, SENT_SHOWN_MAX_CHARS))),
        None if violation.pointer.is_empty() => "as a whole".to_owned(),
        None => "nothing was sent there".to_owned(),
    };
    format!("  sample {sample}{option}{at}: {sent}")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn found(option: u32, severity: &str, code: &str, pointer: &str, sent: Option<&str>) -> Value {
        json!({"option": option, "option_id": format!("s-{option}"), "severity": severity, "excerpt": sent,
            "violation": {"pointer": pointer, "code": code, "message": "it must hold"}})
    }

    fn samples(found: &[Vec<Value>]) -> Vec<SampleResult> {
        let sample = |found: &Vec<Value>| {
            let sample = json!({"request_id": "r", "options": 1, "dropped": 1, "elapsed_ms": 5, "failure": null,
                "error": null, "found": found, "found_more": 2});
            serde_json::from_value(sample).expect("a sample")
        };
        found.iter().map(sample).collect()
    }

    #[test]
    fn a_rule_is_told_once_with_its_count_and_first_examples() {
        let price = |option: u32, place: u32| {
            found(option, "drop", "WRONG_TYPE", &format!("/slots/{place}/price"), Some("\"12\u{1b}\""))
        };
        let first = vec![found(0, "note", "ODD", "", None), price(1, 0), price(1, 7)];
        let second = vec![price(0, 1), price(2, 0), found(3, "strike", "FORBIDDEN_FIELD", "/ad_bid", None)];
        let lines = lines(&samples(&[first, second]), Palette::PLAIN);
        let expected = [
            "strike FORBIDDEN_FIELD at /ad_bid, once: it must hold",
            "  sample 2, option 4 (s-3): nothing was sent there",
            "drop WRONG_TYPE at /slots/*/price, 4 times: it must hold",
            "  sample 1, option 2 (s-1), /slots/0/price: sent \"12 \"",
            "  sample 1, option 2 (s-1), /slots/7/price: sent \"12 \"",
            "  sample 2, option 1 (s-0), /slots/1/price: sent \"12 \"",
            "note ODD, once: it must hold",
            "  sample 1, option 1 (s-0): as a whole",
            "4 more were found that are not listed",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn causes_that_only_the_message_tells_apart_are_told_apart() {
        let item = |message: &str| {
            let violation = json!({"pointer": "", "code": "ITEM_NOT_MAPPED", "message": message});
            json!({"option": null, "option_id": null, "severity": "drop", "excerpt": null, "violation": violation})
        };
        let found = vec![item("item 1: no price"), item("item 2: no style"), item("item 13: no price")];
        let expected = [
            "drop ITEM_NOT_MAPPED, 2 times: item 1: no price",
            "  sample 1: as a whole",
            "  sample 1: as a whole",
            "drop ITEM_NOT_MAPPED, once: item 2: no style",
            "  sample 1: as a whole",
        ];
        assert_eq!(lines(&samples(&[found]), Palette::PLAIN)[..5], expected);
    }

    #[test]
    fn what_a_partner_wrote_is_shown_line_by_line() {
        let told = SampleError {
            code: "PARTNER_HTTP_ERROR".to_owned(),
            message: "answered with HTTP status 500".to_owned(),
            sent: Some("HTTP 500\nno \u{1b}[2Jtable".to_owned()),
        };
        let expected =
            ["  answered with HTTP status 500", "  the partner wrote:", "    HTTP 500", "    no \\u{1b}[2Jtable"];
        assert_eq!(error(&told), expected);
    }
}
