//! Which values of arguments many people have given: those say nothing about one of them.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

use intent_gateway_domain::receipt::MarkedReceipt;
use intent_gateway_domain::vault::Mark;
use serde_json::Value;

/// Users who must have given the same value at the same place before it is told.
pub const USERS_MIN: usize = 5;
/// Values that are counted. What comes beyond is told of nobody.
const VALUES_MAX: usize = 500_000;
/// Stands for the place in a list, which says nothing.
const ANY: &str = "*";

/// How many users have given which value where, as far as it matters.
#[derive(Default)]
pub(super) struct Commons {
    hasher: RandomState,
    seen: HashMap<u64, Users>,
}

/// Users who have given a value, until they are enough.
#[derive(Clone, Copy, Default)]
struct Users {
    known: [u64; USERS_MIN - 1],
    count: usize,
}

impl Users {
    fn add(&mut self, user: u64) {
        if self.count < USERS_MIN && !self.known[..self.count].contains(&user) {
            if let Some(free) = self.known.get_mut(self.count) {
                *free = user;
            }
            self.count += 1;
        }
    }
}

impl Commons {
    /// Counts what a receipt's user has asked for, and what of the past it has with it.
    pub(super) fn count(&mut self, marked: &MarkedReceipt) {
        // Searches without a user may all be one person's.
        let user = self.hasher.hash_one(marked.user.as_ref().map(Mark::as_str));
        let MarkedReceipt { receipt, .. } = marked;
        if let Ok(arguments) = serde_json::from_str(receipt.arguments.get()) {
            self.count_in(user, &Place::ARGUMENTS, &arguments);
        }
        for (name, value) in receipt.history.iter().flat_map(|past| &past.attributes) {
            self.count_in(user, &Place::HISTORY.member(name), value);
        }
    }

    fn count_in(&mut self, user: u64, place: &Place<'_>, value: &Value) {
        match value {
            Value::Object(members) => {
                members.iter().for_each(|(name, value)| self.count_in(user, &place.member(name), value));
            }
            Value::Array(items) => items.iter().for_each(|item| self.count_in(user, &place.member(ANY), item)),
            Value::String(_) | Value::Number(_) => {
                let key = self.key(place, value);
                if self.seen.len() < VALUES_MAX || self.seen.contains_key(&key) {
                    self.seen.entry(key).or_default().add(user);
                }
            }
            Value::Bool(_) | Value::Null => {}
        }
    }

    /// Whether so many users have given a value at a place that it says nothing about one.
    pub(super) fn has(&self, place: &Place<'_>, value: &Value) -> bool {
        self.seen.get(&self.key(place, value)).is_some_and(|users| users.count >= USERS_MIN)
    }

    fn key(&self, place: &Place<'_>, value: &Value) -> u64 {
        self.hasher.hash_one((place.path(), value.is_string(), value.to_string()))
    }
}

/// Where a value stands.
pub(super) struct Place<'a> {
    above: Option<&'a Place<'a>>,
    name: &'a str,
}

impl<'a> Place<'a> {
    pub(super) const ARGUMENTS: Place<'static> = Place { above: None, name: "arguments" };
    pub(super) const HISTORY: Place<'static> = Place { above: None, name: "history" };

    pub(super) fn member(&'a self, name: &'a str) -> Self {
        Self { above: Some(self), name }
    }

    pub(super) fn item(&'a self) -> Self {
        self.member(ANY)
    }

    /// The names down to here. Where names have slashes, two places may count as one.
    fn path(&self) -> String {
        self.above.map_or_else(|| self.name.to_owned(), |above| format!("{}/{}", above.path(), self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn common(users: impl IntoIterator<Item = u64>) -> bool {
        let mut commons = Commons::default();
        for user in users {
            commons.count_in(user, &Place::ARGUMENTS, &json!({"city": "Pune", "list": ["a", 7]}));
        }
        commons.has(&Place::ARGUMENTS.member("city"), &json!("Pune"))
    }

    #[test]
    fn a_value_is_common_once_enough_users_have_given_it() {
        assert!(!common(0..4));
        assert!(common(0..5));
        assert!(common(0..50));
        assert!(!common([1, 2, 3, 4, 4, 3, 2, 1, 4]), "the same users again");
    }

    #[test]
    fn places_and_kinds_are_apart() {
        let mut commons = Commons::default();
        for user in 0..5 {
            commons.count_in(user, &Place::ARGUMENTS, &json!({"a": "7", "b": [7, "x"], "c": {"a": true}}));
        }
        let root = Place::ARGUMENTS;
        assert!(commons.has(&root.member("a"), &json!("7")));
        assert!(!commons.has(&root.member("a"), &json!(7)), "a number is no text");
        assert!(!commons.has(&root.member("b"), &json!("7")), "another place");
        assert!(commons.has(&root.member("b").item(), &json!(7)));
        assert!(!commons.has(&Place::HISTORY.member("a"), &json!("7")), "in the past");
    }
}
