//! The check of a whole submission.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::entry::EntryCheck;
use super::{Accepted, BUSINESS_NAME_MAX_CHARS, Catalogue, Entry, Flag, INTENTS_MAX, Manifest};
use intent_gateway_domain::contract::Refusal;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::platform_code::INVALID_INTENT;
use intent_gateway_domain::pointer::child;
use intent_gateway_domain::violations::{Violations, code, kind, longer_than, quote};

/// The same intent in two entries.
const DUPLICATE_INTENT: &str = "DUPLICATE_INTENT";
/// Members of a submission.
const MEMBERS: [&str; 3] = ["businessName", "intents", "submitForReview"];

/// What a submission is compared with.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// The live contracts.
    pub catalogue: &'a Catalogue,
    /// Who submits.
    pub partner: &'a PartnerId,
    /// Public address of the platform, with or without a slash at its end.
    pub base_url: &'a str,
}

/// The address to which a partner posts its completion reports (spec 1, Endpoints).
#[must_use]
pub fn completion_callback(base_url: &str, partner: &PartnerId) -> String {
    format!("{}/api/v1/cpc/mcp_provider/{partner}", base_url.trim_end_matches('/'))
}

/// What the checks of one submission have found.
#[derive(Debug, Default)]
pub(super) struct SubmissionFindings {
    /// Each of them refuses the submission.
    pub(super) refusals: Violations,
    /// None of them does.
    pub(super) warnings: Violations,
    /// For the reviewer.
    pub(super) flags: Vec<Flag>,
}

/// Checks a submission.
///
/// # Errors
/// Every breach of what is checked at submit, in document order. The code is `INVALID_INTENT` when the first of them is
/// an intent that does not exist, `INVALID_REQUEST` otherwise.
pub fn submit(body: &Value, terms: &Terms<'_>) -> Result<Accepted, Refusal> {
    let mut found = SubmissionFindings::default();
    let Some(members) = body.as_object() else {
        found.refusals.push("", code::WRONG_TYPE, format!("the manifest must be an object, found {}", kind(body)));
        return Err(refusal(found.refusals));
    };
    let business_name = business_name(members, &mut found);
    let intents = intents(members, terms, &mut found);
    let submit_for_review = submit_for_review(members, &mut found.refusals);
    let unread = unknown_members(members, &MEMBERS, "", "manifest", &mut found.warnings);
    match (business_name, intents, submit_for_review) {
        (Some(business_name), Some(intents), Some(submit_for_review)) if found.refusals.is_empty() => Ok(Accepted {
            manifest: Manifest { business_name, intents, unread },
            submit_for_review,
            warnings: found.warnings.into_vec(),
            flags: found.flags,
        }),
        _ => Err(refusal(found.refusals)),
    }
}

/// The code is that of the first breach, for its message is what a caller reads first.
pub(super) fn refusal(violations: Violations) -> Refusal {
    let violations = violations.into_vec();
    let unknown_intent = violations.first().is_some_and(|violation| violation.code == INVALID_INTENT);
    let refusal = Refusal::invalid_request(violations);
    if unknown_intent { Refusal { code: INVALID_INTENT.to_owned(), ..refusal } } else { refusal }
}

fn business_name(members: &Map<String, Value>, found: &mut SubmissionFindings) -> Option<String> {
    let at = "/businessName";
    match members.get("businessName") {
        None => found.refusals.push(at, code::REQUIRED, "businessName is missing"),
        Some(Value::String(name)) if name.trim().is_empty() => {
            found.refusals.push(at, code::EMPTY, "businessName is empty");
        }
        Some(Value::String(name)) if longer_than(name, BUSINESS_NAME_MAX_CHARS) => {
            let message = format!("businessName is longer than {BUSINESS_NAME_MAX_CHARS} characters");
            found.refusals.push(at, code::TOO_LONG, message);
        }
        Some(Value::String(name)) => {
            if name.trim().contains(char::is_control) {
                found.warnings.push(at, code::CONTROL_CHARACTER, "businessName holds control characters");
            }
            return Some(name.trim().to_owned());
        }
        Some(other) => {
            let message = format!("businessName must be a string, found {}", kind(other));
            found.refusals.push(at, code::WRONG_TYPE, message);
        }
    }
    None
}

fn submit_for_review(members: &Map<String, Value>, refusals: &mut Violations) -> Option<bool> {
    match members.get("submitForReview") {
        None => Some(false),
        Some(Value::Bool(submit)) => Some(*submit),
        Some(other) => {
            let message = format!("submitForReview must be a boolean, found {}", kind(other));
            refusals.push("/submitForReview", code::WRONG_TYPE, message);
            None
        }
    }
}

fn intents(members: &Map<String, Value>, terms: &Terms<'_>, found: &mut SubmissionFindings) -> Option<Vec<Entry>> {
    let at = "/intents";
    let entries = match members.get("intents") {
        None => {
            found.refusals.push(at, code::REQUIRED, "intents is missing");
            return None;
        }
        Some(Value::Array(entries)) => entries,
        Some(other) => {
            let message = format!("intents must be an array, found {}", kind(other));
            found.refusals.push(at, code::WRONG_TYPE, message);
            return None;
        }
    };
    if entries.is_empty() {
        found.refusals.push(at, code::TOO_FEW_ITEMS, "intents must list at least one intent");
    }
    if entries.len() > INTENTS_MAX {
        let message = format!("intents has {} entries, more than {INTENTS_MAX}", entries.len());
        found.refusals.push(at, code::TOO_MANY_ITEMS, message);
    }
    let mut first_at: BTreeMap<&str, usize> = BTreeMap::new();
    let mut read = Vec::new();
    for (index, entry) in entries.iter().enumerate().take(INTENTS_MAX) {
        let entry_read = EntryCheck::new(index, entry, terms, found).read();
        if let Some(intent) = entry.get("intent").and_then(Value::as_str) {
            // By two names it is still listed twice.
            let intent = terms.catalogue.live(intent).map_or(intent, |live| live.intent.as_str());
            match first_at.get(intent) {
                Some(first) => {
                    let shown = entry_read.as_ref().map_or_else(|| quote(intent), |entry| entry.intent.to_string());
                    let message = format!("{shown}: listed twice, in intents[{first}] and intents[{index}]");
                    found.refusals.push(format!("{at}/{index}/intent"), DUPLICATE_INTENT, message);
                }
                None => {
                    first_at.insert(intent, index);
                }
            }
        }
        read.extend(entry_read);
    }
    Some(read)
}

/// Warns of members that mean nothing here, and hands them over as they came.
pub(super) fn unknown_members(
    members: &Map<String, Value>,
    known: &[&str],
    at: &str,
    owner: &str,
    warnings: &mut Violations,
) -> Map<String, Value> {
    let unknown = members.iter().filter(|(key, _)| !known.contains(&key.as_str()));
    unknown
        .map(|(key, value)| {
            let message = format!("{owner}: {} is no member of a manifest and is not read", quote(key));
            warnings.push(child(at, key), code::UNKNOWN_MEMBER, message);
            (key.clone(), value.clone())
        })
        .collect()
}
