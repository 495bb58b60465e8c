//! What a partner answers to a search, and the options that come of it.
//!
//! What a strict reader takes and has the shape of an answer is read, with the same options in the same order. An option
//! without a flaw can be read by a strict reader. A token and a time are what stands there.
//!
//! Input: the answer.

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::forbidden::ForbiddenFields;
use intent_gateway_domain::limits::{
    OPTIONS_READ_MAX, PAYLOAD_MAX_DEPTH, RESULT_TOKEN_MAX_BYTES, UNCOMMITTED_BOOKING_TIME,
};
use intent_gateway_routing::payload::{PayloadError, SearchPayload, read};
use serde::de::IgnoredAny;

use super::answer_scan::{OPTIONS_KEY, is_sound};
use crate::json::{Outline, Tree};

/// Reads one answer.
///
/// # Panics
/// Where a plain reading comes to something else.
pub(crate) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let fields = ForbiddenFields::new(&[]);
    let strict = Tree::read(text);
    let answer = match read(text, OPTIONS_KEY, &fields) {
        Ok(answer) => answer,
        Err(PayloadError::TooDeep(_)) => {
            assert!(Outline::of(text).depth > PAYLOAD_MAX_DEPTH);
            return;
        }
        Err(PayloadError::Syntax(_)) => {
            assert!(strict.is_none(), "a strict reader takes what was refused as no JSON");
            return;
        }
        Err(PayloadError::Shape(_)) => {
            assert!(!strict.is_some_and(|tree| has_shape(&tree)), "an answer was refused");
            return;
        }
    };
    assert!(serde_json::from_str::<IgnoredAny>(text).is_ok(), "what is no JSON was read");
    assert!(Outline::of(text).depth <= PAYLOAD_MAX_DEPTH, "what is too deep was read");
    assert!(answer.options.len() <= OPTIONS_READ_MAX, "more options than the bound");
    for (position, option) in answer.options.iter().enumerate() {
        let is_clean = !answer.flaws.options.contains_key(&position);
        let read = Tree::read(option.get());
        assert!(!is_clean || read.as_ref().is_some_and(is_sound), "no strict reader takes option {position}");
    }
    check_commitment(&answer);
    if let Some(tree) = strict {
        assert!(has_shape(&tree), "what has not the shape of an answer was read");
        compare(&answer, &tree);
    }
}

/// Whether it is an array, or an object that names the array of options and what it commits to once each.
fn has_shape(tree: &Tree) -> bool {
    let count = |name: &str| tree.members().iter().filter(|(key, _)| key == name).count();
    matches!(tree, Tree::Array(_))
        || matches!(tree.get(OPTIONS_KEY), Some(Tree::Array(_)))
            && count(OPTIONS_KEY) == 1
            && count("result_token") <= 1
            && count("expires_at") <= 1
}

/// Options, token and time are those of the tree.
fn compare(answer: &SearchPayload, tree: &Tree) {
    let options = tree.get(OPTIONS_KEY).unwrap_or(tree).items();
    assert_eq!(answer.options.len() + answer.unread, options.len(), "as many options");
    for (raw, option) in answer.options.iter().zip(options) {
        assert_eq!(Tree::read(raw.get()).as_ref(), Some(option), "the option as it was written");
    }
    if let Some(token) = &answer.token {
        assert_eq!(tree.get("result_token"), Some(&Tree::Text(token.result_token.clone())));
    }
    if answer.expires_at.is_some() {
        let is_datetime =
            matches!(tree.get("expires_at"), Some(Tree::Text(text)) if text.as_bytes().get(10) == Some(&b'T'));
        assert!(is_datetime, "a time that is not written there");
    }
}

/// For how long options can be booked: as the partner says, or for a while.
fn check_commitment(answer: &SearchPayload) {
    let now = Timestamp::from_ms(1_779_264_000_123);
    let a_while = u64::try_from(UNCOMMITTED_BOOKING_TIME.as_millis()).expect("minutes");
    match &answer.token {
        Some(token) => {
            assert!((1..=RESULT_TOKEN_MAX_BYTES).contains(&token.result_token.len()), "a token beyond its bounds");
            assert_eq!(Some(token.expires_at), answer.expires_at);
            assert_eq!(answer.bookable_until(now), token.expires_at);
        }
        None => assert!(answer.bookable_until(now) <= now.plus_ms(a_while), "bookable for longer than without a word"),
    }
    assert!(answer.token.is_some() || answer.options.is_empty() || !answer.notes.is_empty(), "nothing was said of it");
}
