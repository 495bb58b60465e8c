//! The manifest of a business that has no server and is reached by phone (spec 1, Manifest: tier2). The platform writes it
//! from a short form, and says with it what that path cannot do.
//!
//! What is written is judged by the very checks that every manifest goes through ([`from_authoring`], [`submit`]); what
//! they find is told at the place in the form that it comes from. Nothing is submitted here.

use serde_json::{Map, Value, json};

use super::submission::refusal;
use super::{
    Accepted, BUSINESS_NAME_MAX_CHARS, DESCRIPTION_MAX_CHARS, Flag, INTENTS_MAX, Terms, completion_callback,
    from_authoring, submit,
};
use crate::compliance::is_phone;
use intent_gateway_domain::contract::{Axes, Refusal, Violation};
use intent_gateway_domain::pointer::child;
use intent_gateway_domain::violations::{Violations, code, kind, longer_than, quote};

/// Members of the form.
const MEMBERS: [&str; 6] = ["business_name", "legal_name", "phone", "service_area", "availability", "services"];
/// Members of one of its services.
const SERVICE_MEMBERS: [&str; 3] = ["intent", "pricing", "description"];

/// What stands in the place of a name that the form does not give; such a form is refused.
const MISSING: &str = "-";

/// What a business that is reached by phone goes without: a stable code and a sentence.
pub const PHONE_LIMITS: [(&str, &str); 6] = [
    (
        "NOT_SEARCHED",
        "No request of a user is routed to the business: without a server nobody asks it for options, and it is not ranked.",
    ),
    (
        "NO_CONNECTION",
        "There is no endpoint to probe, to test or to switch on. An approved manifest says what is offered, and no more.",
    ),
    (
        "BY_PHONE",
        "People of the platform call the number of the form. What is agreed there is seen by no contract: no rule of the \
         intent is checked, and no price is held.",
    ),
    ("NOT_FOLLOWED", "No order is followed, changed or cancelled through the gateway."),
    ("NEUTRAL_SIGNALS", "Each of the four signals is 0.5: nothing that was answered or reported bears out more."),
    (
        "UNTIL_A_SERVER",
        "With a server or an API of its own, the business submits a manifest of tier1 in the place of this one.",
    ),
];

/// A manifest that was written from a form.
#[derive(Clone, Debug, PartialEq)]
pub struct PhoneManifest {
    /// The authoring form: what is kept in a file, tier2 said in it.
    pub authoring: Value,
    /// What would be submitted, as a draft.
    pub submission: Value,
    /// What the checks at submit warn of; pointers into the submission.
    pub warnings: Vec<Violation>,
    /// What a reviewer would have to look at.
    pub flags: Vec<Flag>,
}

/// Writes the manifest of a form.
///
/// # Errors
/// Everything that is wrong, pointers into the form: `INVALID_INTENT` when the first of it is an intent that does not
/// exist, `INVALID_REQUEST` otherwise.
pub fn generate_by_phone(form: &Value, terms: &Terms<'_>) -> Result<PhoneManifest, Refusal> {
    let mut found = Violations::default();
    let Some(members) = form.as_object() else {
        found.push("", code::WRONG_TYPE, format!("the form must be an object, found {}", kind(form)));
        return Err(refusal(found));
    };
    let [name, legal_name] = ["business_name", "legal_name"].map(|member| text(members, member, &mut found));
    let phone = text(members, "phone", &mut found);
    if let Some(phone) = phone.filter(|phone| !is_phone(phone)) {
        found.push("/phone", code::BAD_FORMAT, format!("phone is no telephone number: {}", quote(phone)));
    }
    let entries = entries(members, phone.unwrap_or_default(), terms, &mut found);
    refuse_unknown(members, &MEMBERS, "", &mut found);
    let authoring = json!({
        "manifest_version": format!("v{}", super::authoring::MANIFEST_VERSION),
        "business": {
            // What is missing is told already; the rest is judged all the same.
            "name": name.unwrap_or(MISSING).trim(),
            "legal_name": legal_name.unwrap_or(MISSING).trim(),
            "tier": "tier2",
            "partner_id": terms.partner,
        },
        "intents": entries,
    });
    match judge(&authoring, terms) {
        Ok((submission, Accepted { warnings, flags, .. })) if found.is_empty() => {
            Ok(PhoneManifest { authoring, submission, warnings, flags })
        }
        Ok(_) => Err(refusal(found)),
        Err(Refusal { violations, .. }) => Err(refusal(merge(found, violations))),
    }
}

/// The checks of every manifest.
fn judge(authoring: &Value, terms: &Terms<'_>) -> Result<(Value, Accepted), Refusal> {
    let submission = from_authoring(authoring, Some(terms.partner))?;
    let accepted = submit(&submission, terms)?;
    Ok((submission, accepted))
}

fn entries(members: &Map<String, Value>, phone: &str, terms: &Terms<'_>, found: &mut Violations) -> Vec<Value> {
    let services = match members.get("services") {
        Some(Value::Array(services)) if !services.is_empty() => services,
        Some(Value::Array(_)) => {
            found.push("/services", code::TOO_FEW_ITEMS, "services must list at least one intent");
            return Vec::new();
        }
        Some(other) => {
            found.push("/services", code::WRONG_TYPE, format!("services must be an array, found {}", kind(other)));
            return Vec::new();
        }
        None => {
            found.push("/services", code::REQUIRED, "services is missing");
            return Vec::new();
        }
    };
    if services.len() > INTENTS_MAX {
        let message = format!("services has {} entries, more than {INTENTS_MAX}", services.len());
        found.push("/services", code::TOO_MANY_ITEMS, message);
    }
    let services = services.iter().take(INTENTS_MAX).enumerate();
    services.map(|(index, service)| entry(index, service, members, phone, terms, found)).collect()
}

/// One entry of the manifest. What is missing or wrong in the service is left for the checks to find.
fn entry(
    index: usize,
    service: &Value,
    form: &Map<String, Value>,
    phone: &str,
    terms: &Terms<'_>,
    found: &mut Violations,
) -> Value {
    let Some(members) = service.as_object() else {
        // The checks say that it is no object.
        return service.clone();
    };
    refuse_unknown(members, &SERVICE_MEMBERS, &format!("/services/{index}"), found);
    let mut entry = Map::new();
    let mut set = |member: &str, value: Option<Value>| {
        if let Some(value) = value {
            entry.insert(member.to_owned(), value);
        }
    };
    let intent = members.get("intent").and_then(Value::as_str);
    set("intent", members.get("intent").cloned());
    set("domain", intent.and_then(|intent| intent.split('.').next()).map(Value::from));
    let live = intent.and_then(|intent| terms.catalogue.live(intent));
    // Of an intent that does not exist, that alone is told.
    set("intent_version", Some(json!(live.map_or_else(|| "v1.0.0".to_owned(), |live| format!("v{}", live.version)))));
    set("widget_type", live.and_then(|live| live.widget_types.first()).map(|widget| json!(widget)));
    set("pricing", members.get("pricing").cloned());
    set("service_area", form.get("service_area").cloned());
    set("availability", form.get("availability").cloned());
    set("ttbs_signals", serde_json::to_value(Axes::UNDECLARED).ok());
    set("completion_callback", Some(json!(completion_callback(terms.base_url, terms.partner))));
    set("description", describe(index, members.get("description"), phone, found));
    Value::Object(entry)
}

/// The description, with the number to call: a manifest has no member for it, and the reviewer reads this one.
fn describe(index: usize, written: Option<&Value>, phone: &str, found: &mut Violations) -> Option<Value> {
    let at = format!("/services/{index}/description");
    let by_phone = format!("By phone: {phone}.");
    let text = match written {
        None => return Some(by_phone.into()),
        Some(Value::String(text)) => text.trim(),
        Some(other) => {
            found.push(at, code::WRONG_TYPE, format!("description must be a string, found {}", kind(other)));
            return None;
        }
    };
    let stop = if text.is_empty() || text.ends_with(['.', '!', '?']) { "" } else { "." };
    let whole = format!("{text}{stop} {by_phone}").trim_start().to_owned();
    if longer_than(&whole, DESCRIPTION_MAX_CHARS) {
        let message =
            format!("description is longer than {DESCRIPTION_MAX_CHARS} characters with the telephone number");
        found.push(at, code::TOO_LONG, message);
    }
    Some(whole.into())
}

/// A string member that must be there and say something.
fn text<'a>(members: &'a Map<String, Value>, member: &str, found: &mut Violations) -> Option<&'a str> {
    let at = child("", member);
    match members.get(member) {
        None => found.push(at, code::REQUIRED, format!("{member} is missing")),
        Some(Value::String(text)) if text.trim().is_empty() => {
            found.push(at, code::EMPTY, format!("{member} is empty"));
        }
        Some(Value::String(text)) if longer_than(text, BUSINESS_NAME_MAX_CHARS) => {
            found.push(at, code::TOO_LONG, format!("{member} is longer than {BUSINESS_NAME_MAX_CHARS} characters"));
        }
        Some(Value::String(text)) => return Some(text),
        Some(other) => {
            found.push(at, code::WRONG_TYPE, format!("{member} must be a string, found {}", kind(other)));
        }
    }
    None
}

fn refuse_unknown(members: &Map<String, Value>, known: &[&str], at: &str, found: &mut Violations) {
    for key in members.keys().filter(|key| !known.contains(&key.as_str())) {
        let message = format!("{} is unknown; expected one of: {}", quote(key), known.join(", "));
        found.push(child(at, key), code::UNKNOWN_MEMBER, message);
    }
}

/// What is wrong with the form, then what the checks found in what was written from it, at the form's own places and each
/// once: the places served stand in every entry, and once in the form.
fn merge(found: Violations, violations: Vec<Violation>) -> Violations {
    let mut all = found.into_vec();
    for violation in violations {
        let pointer = place_in_form(&violation.pointer);
        if !all.iter().any(|known| known.pointer == pointer) {
            all.push(Violation { pointer, ..violation });
        }
    }
    let mut merged = Violations::default();
    for Violation { pointer, code, message } in all {
        merged.push(pointer, &code, message);
    }
    merged
}

fn place_in_form(pointer: &str) -> String {
    let mut parts = pointer.split('/').skip(1);
    match (parts.next(), parts.next(), parts.next()) {
        (Some("business"), Some("name"), _) | (Some("businessName"), ..) => "/business_name".to_owned(),
        (Some("business"), Some(member), _) => format!("/{member}"),
        (Some("intents"), Some(_), Some("service_area")) => {
            let place = parts.next().map(|place| format!("/{place}")).unwrap_or_default();
            format!("/service_area{place}")
        }
        (Some("intents"), ..) => pointer.replacen("/intents", "/services", 1),
        _ => pointer.to_owned(),
    }
}
