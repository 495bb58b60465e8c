//! Other names of an intent: `auto.buy_new_insurance` means `finance.buy_motor_insurance` (spec 2).
//!
//! A contract declares them, the catalogue resolves them ([`Contracts::live`]), and whoever takes a name from outside puts the
//! intent's own in its place before anything else is done with it. So contracts, partners, records, keys of orders and
//! answers know one name of an intent; an alias is a word at the door.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::contract::Descriptor;
use crate::id::IntentId;
use crate::ports::Contracts;
use crate::succession::SuccessionError;

/// The member of a document that names its intent.
const INTENT: &str = "intent";

/// The intent that a name means: the one whose alias it is, or the one of that name, live or not.
#[must_use]
pub fn resolve(contracts: &dyn Contracts, name: &IntentId) -> IntentId {
    contracts.live(name.as_str()).map_or_else(|| name.clone(), |contract| contract.descriptor().intent.clone())
}

/// The text of a document whose member `intent` is an alias, with the intent's own name there and every other byte as it
/// came. Any other text is given back as it is, JSON or not: what it says is for others to judge.
#[must_use]
pub fn rewrite<'a>(document: &'a str, descriptor: &Descriptor) -> Cow<'a, str> {
    if descriptor.aliases.is_empty() {
        return Cow::Borrowed(document);
    }
    let Ok(Members(named)) = serde_json::from_str(document) else { return Cow::Borrowed(document) };
    let is_alias = |value: &RawValue| {
        text(value).is_some_and(|text| descriptor.aliases.iter().any(|alias| alias.as_str() == text))
    };
    let mut rewritten = String::with_capacity(document.len());
    let mut rest = document;
    for value in named.into_iter().filter(|value| is_alias(value)) {
        // Borrowed from the document, so it lies in it, behind the one before.
        let Some(at) = offset(rest, value.get()) else { continue };
        rewritten.push_str(&rest[..at]);
        rewritten.push('"');
        rewritten.push_str(descriptor.intent.as_str());
        rewritten.push('"');
        rest = &rest[at + value.get().len()..];
    }
    rewritten.push_str(rest);
    Cow::Owned(rewritten)
}

/// The text of a document that may name any live intent by an alias, with the intent's own name there.
#[must_use]
pub fn rewrite_any<'a>(document: &'a str, contracts: &dyn Contracts) -> Cow<'a, str> {
    let Ok(Members(named)) = serde_json::from_str(document) else { return Cow::Borrowed(document) };
    match named.iter().find_map(|value| contracts.live(&text(value)?)) {
        Some(contract) => rewrite(document, contract.descriptor()),
        None => Cow::Borrowed(document),
    }
}

/// The text that a value is, if it is one.
fn text(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

/// Where a part of a text begins in it.
fn offset(text: &str, part: &str) -> Option<usize> {
    let at = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    text.get(at..).filter(|rest| rest.starts_with(part)).map(|_| at)
}

/// Whether a contract may stand beside the others that are loaded: no name may mean two of them.
///
/// # Errors
/// [`SuccessionError::AliasTaken`] for the first name that would.
pub fn check<'a>(next: &Descriptor, others: impl IntoIterator<Item = &'a Descriptor>) -> Result<(), SuccessionError> {
    for other in others.into_iter().filter(|other| other.intent != next.intent) {
        let own = std::iter::once(&next.intent).chain(&next.aliases);
        let theirs = |name: &&IntentId| **name == other.intent || other.aliases.contains(name);
        // Two intents differ, so one of the two sides is an alias.
        if let Some(name) = own.into_iter().find(theirs) {
            let (name, intent) = (name.clone(), other.intent.clone());
            return Err(SuccessionError::AliasTaken { name, intent, version: other.version.clone() });
        }
    }
    Ok(())
}

/// The values of an object's members named `intent`, in their order.
struct Members<'a>(Vec<&'a RawValue>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Intents;

        impl<'de> serde::de::Visitor<'de> for Intents {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut found = Vec::new();
                while let Some((name, value)) = map.next_entry::<Cow<'de, str>, &'de RawValue>()? {
                    found.extend((name == INTENT).then_some(value));
                }
                Ok(Members(found))
            }
        }

        deserializer.deserialize_map(Intents)
    }
}
