//! Samples, and changes to them.

use std::path::Path;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{AnsweredCall, OrderView, PastOrder, Subject};
use intent_gateway_domain::pointer::unescape;
use serde::Deserialize;
use serde_json::Value;

use super::format::{AnsweredSample, CaseFile, Changes, OrderSample, PastSample};
use super::{CasesError, read_json};

/// The documents that the cases of one file start from; `null` where the file names none.
#[derive(Clone, Debug, Default)]
pub(super) struct Documents {
    pub(super) sample: Value,
    pub(super) request: Value,
    pub(super) arguments: Value,
    pub(super) quoted: Option<Value>,
    pub(super) order: Option<Value>,
}

impl Documents {
    /// Reads the samples that a case file names, relative to its folder.
    pub(super) fn read(folder: &Path, file: &CaseFile) -> Result<Self, CasesError> {
        let read = |reference: &Option<String>| match reference {
            Some(reference) => read_sample(folder, reference).map(Some),
            None => Ok(None),
        };
        Ok(Self {
            sample: read(&file.sample)?.unwrap_or_default(),
            request: read(&file.request)?.unwrap_or_default(),
            arguments: read(&file.arguments)?.unwrap_or_default(),
            quoted: read(&file.quoted)?,
            order: file.order.clone(),
        })
    }
}

impl Documents {
    /// What the calls of the file are about.
    ///
    /// # Errors
    /// In words, when the order is not of the format.
    pub(super) fn subject(&self) -> Result<Subject, String> {
        let order = self.order.as_ref().map(read_order).transpose()?;
        Ok(Subject { quoted: self.quoted.as_ref().map(Value::to_string), order })
    }
}

fn read_order(order: &Value) -> Result<OrderView, String> {
    let sample = OrderSample::deserialize(order).map_err(|error| format!("the order is not of the format: {error}"))?;
    let answered = sample.answered.into_iter().map(|AnsweredSample { tool, at }| {
        let at_ms = read_instant(&at).ok_or_else(|| format!("`{tool}` was answered at `{at}`, {NO_INSTANT}"))?;
        Ok(AnsweredCall { tool, at_ms })
    });
    Ok(OrderView {
        state: sample.state,
        opened_at: read_instant(&sample.opened_at)
            .ok_or_else(|| format!("the order was opened at `{}`, {NO_INSTANT}", sample.opened_at))?,
        kept: Value::Object(sample.kept).to_string(),
        answered: answered.collect::<Result<_, String>>()?,
    })
}

/// The past orders that a case states.
///
/// # Errors
/// In words, when one was closed at no instant.
pub(super) fn read_history(history: &[PastSample]) -> Result<Vec<PastOrder>, String> {
    let past = history.iter().map(|PastSample { status, closed_at, attributes }| {
        let closed = read_instant(closed_at);
        let closed_at_ms = closed.ok_or_else(|| format!("a past order was closed at `{closed_at}`, {NO_INSTANT}"))?;
        Ok(PastOrder { status: status.clone(), closed_at_ms, attributes: attributes.clone() })
    });
    past.collect()
}

/// What is told of a text that should be an instant.
pub(super) const NO_INSTANT: &str = "expected an ISO 8601 datetime with offset";

/// An ISO 8601 datetime with an offset, not before 1970.
pub(super) fn read_instant(text: &str) -> Option<Timestamp> {
    let instant: jiff::Timestamp = text.parse().ok()?;
    u64::try_from(instant.as_millisecond()).ok().map(Timestamp::from_ms)
}

/// A sample by its file name, or a part of one: `payload.json#/slots/0`.
fn read_sample(folder: &Path, reference: &str) -> Result<Value, CasesError> {
    let (file, part) = reference.split_once('#').unwrap_or((reference, ""));
    let path = folder.join(file);
    let whole: Value = read_json(&path)?;
    let found = whole.pointer(part).cloned();
    found.ok_or_else(|| CasesError::Senseless { path, problem: format!("it has no `{part}`") })
}

/// Makes all changes.
///
/// # Errors
/// The first change whose place does not exist.
pub(super) fn change(document: &mut Value, changes: &Changes) -> Result<(), String> {
    for (pointer, value) in changes {
        if value.get("$remove").is_some_and(|marked| *marked == Value::Bool(true)) {
            remove(document, pointer)?;
        } else {
            set(document, pointer, value.clone())?;
        }
    }
    Ok(())
}

/// Sets the value at a place. The last step may be new: a member, or the entry behind an array's last.
pub(super) fn set(document: &mut Value, pointer: &str, value: Value) -> Result<(), String> {
    if let Some(place) = document.pointer_mut(pointer) {
        *place = value;
        return Ok(());
    }
    let (parent, key) = parent(document, pointer)?;
    match parent {
        Value::Object(members) => {
            members.insert(key, value);
            Ok(())
        }
        Value::Array(entries) if key.parse() == Ok(entries.len()) => {
            entries.push(value);
            Ok(())
        }
        _ => Err(no_place(pointer)),
    }
}

/// Takes a place out.
pub(super) fn remove(document: &mut Value, pointer: &str) -> Result<(), String> {
    let (parent, key) = parent(document, pointer)?;
    let removed = match parent {
        Value::Object(members) => members.remove(&key).is_some(),
        Value::Array(entries) => {
            let index = key.parse().ok().filter(|index: &usize| *index < entries.len());
            index.map(|index| entries.remove(index)).is_some()
        }
        _ => false,
    };
    if removed { Ok(()) } else { Err(no_place(pointer)) }
}

/// The value that holds a place, and the place's own name.
fn parent<'d>(document: &'d mut Value, pointer: &str) -> Result<(&'d mut Value, String), String> {
    let (above, key) = pointer.rsplit_once('/').ok_or_else(|| no_place(pointer))?;
    let parent = document.pointer_mut(above).ok_or_else(|| no_place(pointer))?;
    Ok((parent, unescape(key)))
}

fn no_place(pointer: &str) -> String {
    format!("the document has no place `{pointer}`")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn changes(value: Value) -> Changes {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn places_are_set_added_and_removed() {
        let mut document = json!({"a": {"b/c": 1}, "list": [1, 2], "gone": true});
        let wanted = json!({"/a/b~1c": 2, "/a/new": null, "/list/2": 3, "/gone": {"$remove": true}, "/list/0": 0});
        change(&mut document, &changes(wanted)).unwrap();
        assert_eq!(document, json!({"a": {"b/c": 2, "new": null}, "list": [0, 2, 3]}));
    }

    #[test]
    fn a_place_that_cannot_be_is_an_error() {
        for wanted in [
            json!({"/no/where": 1}),
            json!({"/list/5": 1}),
            json!({"/text/x": 1}),
            json!({"/gone": {"$remove": true}}),
            json!({"": {"$remove": true}}),
        ] {
            let mut document = json!({"list": [1], "text": "x"});
            assert!(change(&mut document, &changes(wanted.clone())).is_err(), "{wanted}");
        }
    }
}
