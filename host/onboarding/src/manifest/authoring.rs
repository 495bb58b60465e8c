//! The authoring form of a manifest: what a partner keeps in a YAML file (spec 1, Manifest).
//!
//! It says more than a submission does: the version of the manifest's own schema and a `business` block. This
//! module checks what it adds and turns the rest into a submission. Reading YAML is the command line's business.

use serde_json::{Map, Value, json};

use super::entry::parse_version;
use super::submission::refusal;
use super::{BUSINESS_NAME_MAX_CHARS, VERSION_MAX_CHARS};
use intent_gateway_domain::contract::Refusal;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::pointer::child;
use intent_gateway_domain::violations::{Violations, code, kind, longer_than, quote};

/// The one version of the manifest's schema (spec 1, Versioning).
pub(crate) const MANIFEST_VERSION: &str = "0.1.0";
/// The manifest belongs to another partner.
const PARTNER_MISMATCH: &str = "PARTNER_MISMATCH";
/// The manifest is written to a schema that this platform does not know.
const MANIFEST_VERSION_UNSUPPORTED: &str = "MANIFEST_VERSION_UNSUPPORTED";
/// Members of the form.
const MEMBERS: [&str; 4] = ["manifest_version", "business", "intents", "submitForReview"];
/// Members of its `business` block.
const BUSINESS_MEMBERS: [&str; 4] = ["name", "legal_name", "tier", "partner_id"];
/// The paths by which a manifest comes to be: the API, and the phone, for which the platform writes it.
const TIERS: [&str; 2] = ["tier1", "tier2"];

/// Turns the authoring form into a submission. `account` is who submits, where that is known.
///
/// The intents are handed over as they are, for [`submit`](super::submit) to judge; only that each names its
/// `intent_version` is asked here, for a submission may leave it out.
///
/// # Errors
/// Every breach of what the form adds, code `INVALID_REQUEST`.
pub fn from_authoring(form: &Value, account: Option<&PartnerId>) -> Result<Value, Refusal> {
    let mut found = Violations::default();
    let Some(members) = form.as_object() else {
        found.push("", code::WRONG_TYPE, format!("the manifest must be a mapping, found {}", kind(form)));
        return Err(refusal(found));
    };
    manifest_version(members, &mut found);
    let name = business(members, account, &mut found);
    entries_name_versions(members, &mut found);
    refuse_unknown(members, &MEMBERS, "", &mut found);
    let mut submission = Map::new();
    if let Some(name) = name {
        submission.insert("businessName".to_owned(), json!(name));
    }
    for member in ["intents", "submitForReview"] {
        if let Some(value) = members.get(member) {
            submission.insert(member.to_owned(), value.clone());
        }
    }
    if found.is_empty() { Ok(Value::Object(submission)) } else { Err(refusal(found)) }
}

fn manifest_version(members: &Map<String, Value>, found: &mut Violations) {
    let at = "/manifest_version";
    let Some(written) = text(members, "", "manifest_version", VERSION_MAX_CHARS, found) else { return };
    match parse_version(written) {
        None => {
            let message = format!("manifest_version is no semantic version: {}", quote(written));
            found.push(at, code::BAD_FORMAT, message);
        }
        Some(version) if version.to_string() != MANIFEST_VERSION => {
            let message = format!("manifest_version {version} is not supported; the current one is {MANIFEST_VERSION}");
            found.push(at, MANIFEST_VERSION_UNSUPPORTED, message);
        }
        Some(_) => {}
    }
}

/// Checks the `business` block and hands over the display name.
fn business<'a>(
    members: &'a Map<String, Value>,
    account: Option<&PartnerId>,
    found: &mut Violations,
) -> Option<&'a str> {
    let business = match members.get("business") {
        None => {
            found.push("/business", code::REQUIRED, "business is missing");
            return None;
        }
        Some(Value::Object(business)) => business,
        Some(other) => {
            found.push("/business", code::WRONG_TYPE, format!("business must be a mapping, found {}", kind(other)));
            return None;
        }
    };
    let name = text(business, "/business", "name", BUSINESS_NAME_MAX_CHARS, found);
    text(business, "/business", "legal_name", BUSINESS_NAME_MAX_CHARS, found);
    if let Some(tier) = text(business, "/business", "tier", BUSINESS_NAME_MAX_CHARS, found)
        && !TIERS.contains(&tier)
    {
        let message = format!("business.tier must be {}, found {}", TIERS.join(" or "), quote(tier));
        found.push("/business/tier", code::NOT_IN_VOCABULARY, message);
    }
    if business.contains_key("partner_id")
        && let Some(partner) = text(business, "/business", "partner_id", BUSINESS_NAME_MAX_CHARS, found)
    {
        partner_id(partner, account, found);
    }
    refuse_unknown(business, &BUSINESS_MEMBERS, "/business", found);
    name
}

/// The identifier is issued by the platform and never changes; a file without one is not yet anybody's.
fn partner_id(written: &str, account: Option<&PartnerId>, found: &mut Violations) {
    let at = "/business/partner_id";
    if PartnerId::parse(written).is_err() {
        let message = format!("business.partner_id is no partner identifier: {}", quote(written));
        found.push(at, code::BAD_FORMAT, message);
    } else if let Some(account) = account.filter(|account| account.as_str() != written) {
        let message = format!("business.partner_id is {written}, but the manifest is submitted for {account}");
        found.push(at, PARTNER_MISMATCH, message);
    }
}

fn entries_name_versions(members: &Map<String, Value>, found: &mut Violations) {
    let entries = members.get("intents").and_then(Value::as_array).into_iter().flatten().enumerate();
    for (index, entry) in entries {
        let at = format!("/intents/{index}/intent_version");
        let Some(entry) = entry.as_object() else { continue };
        let intent = entry.get("intent").and_then(Value::as_str);
        let label = intent.map_or_else(|| format!("intents[{index}]"), |intent| quote(intent).replace('"', ""));
        match entry.get("intent_version") {
            None => found.push(at, code::REQUIRED, format!("{label}: intent_version is missing")),
            Some(Value::String(written))
                if longer_than(written, VERSION_MAX_CHARS) || parse_version(written).is_none() =>
            {
                let message = format!("{label}: intent_version is no semantic version: {}", quote(written));
                found.push(at, code::BAD_FORMAT, message);
            }
            Some(Value::String(_)) => {}
            Some(other) => {
                let message =
                    format!("{label}: intent_version must be a string (put it in quotes), found {}", kind(other));
                found.push(at, code::WRONG_TYPE, message);
            }
        }
    }
}

/// A string member that must be there and say something.
fn text<'a>(
    members: &'a Map<String, Value>,
    at: &str,
    member: &str,
    max_chars: usize,
    found: &mut Violations,
) -> Option<&'a str> {
    let name = if at.is_empty() { member.to_owned() } else { format!("{}.{member}", &at[1..]) };
    let at = child(at, member);
    match members.get(member) {
        None => found.push(at, code::REQUIRED, format!("{name} is missing")),
        Some(Value::String(text)) if text.trim().is_empty() => found.push(at, code::EMPTY, format!("{name} is empty")),
        Some(Value::String(text)) if longer_than(text, max_chars) => {
            found.push(at, code::TOO_LONG, format!("{name} is longer than {max_chars} characters"));
        }
        Some(Value::String(text)) => return Some(text),
        Some(other) => {
            let message = format!("{name} must be a string (put it in quotes), found {}", kind(other));
            found.push(at, code::WRONG_TYPE, message);
        }
    }
    None
}

/// In a file that a person writes, an unknown member is a slip of the pen that is better found at once.
fn refuse_unknown(members: &Map<String, Value>, known: &[&str], at: &str, found: &mut Violations) {
    for key in members.keys().filter(|key| !known.contains(&key.as_str())) {
        let message = format!("{} is unknown; expected one of: {}", quote(key), known.join(", "));
        found.push(child(at, key), code::UNKNOWN_MEMBER, message);
    }
}
