//! The policies of tool calls: how often a failed call is tried again, how fast calls may follow each other, which answers
//! are served again, and what a repeated write gets. All of it follows from a contract's descriptor and from spec 1,
//! "Rules for the partner-hosted endpoint" and "Limits".
//!
//! Everything here is a decision over a time that is passed in: [`retry`] and [`idempotency`] are pure, [`pace`] and
//! [`cache`] keep bounded state in memory. A wait is told to the caller, who does the waiting.
//!
//! Not here: the calls themselves, what is kept in the store, and how a refusal is worded. No intent or tool is named
//! here but the three that spec 1 names itself ([`retry::READ_FIRST_TOOLS`]).

pub mod arguments;
pub mod cache;
pub mod failure;
pub mod idempotency;
pub mod pace;
pub mod retry;
pub mod sign_in;

use intent_gateway_domain::digest::Digest;

/// One key of several names, which cannot be mistaken for another one's, and of one size however long they are.
fn key_of(names: &[&str]) -> Digest {
    let mut text = String::with_capacity(names.iter().map(|name| name.len() + 8).sum());
    for name in names {
        text.push_str(&name.len().to_string());
        text.push(':');
        text.push_str(name);
    }
    Digest::of(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::key_of;

    #[test]
    fn names_keep_apart() {
        assert_ne!(key_of(&["ab", "c"]), key_of(&["a", "bc"]));
        assert_ne!(key_of(&["1:a"]), key_of(&["a"]));
        assert_eq!(key_of(&["a", "b"]), key_of(&["a", "b"]));
    }
}
