//! Help for the native tests of contracts: calls and what is expected of them, breaking every field, and checking a
//! contract as a whole.
//!
//! Not part of a component.

mod breakage;
mod calls;
mod contract;
mod go_live;
pub mod properties;

pub use breakage::{Accepted, Breakage, list_accepted, list_breakages};
pub use calls::{
    Pairs, assert_drops, assert_finds, assert_passes, assert_refused, assert_strikes, check_completion,
    check_completion_about, check_request, check_request_about, check_response, context, evaluate, evaluate_after,
    expected, pairs,
};
pub use contract::{problems, run};

use crate::bindings::Violation;
use crate::docs;
use crate::lexicon::Lexicon;
use crate::shape::ValueDesc;
use serde_json::Value;

/// Checks that a shape refuses every breakage of a sound document with exactly one violation at the
/// broken place, and accepts the document with every value moved to the edge of its bounds.
///
/// The document must hold every declared member, the optional ones too. `read` is
/// `|json| read_document::<MyShape>(json).map(drop)`. Returns the number of documents tried.
///
/// # Panics
/// When the shape does otherwise; this is an assertion.
pub fn assert_shape(desc: &ValueDesc, sound: &Value, read: impl Fn(&str) -> Result<(), Vec<Violation>>) -> usize {
    if let Err(violations) = read(&sound.to_string()) {
        panic!("the document to start from is not sound: {violations:?}");
    }
    let edges = list_accepted(desc, sound);
    for Accepted { pointer, what, document } in &edges {
        if let Err(violations) = read(document) {
            panic!("{pointer}: {what} is refused: {violations:?}");
        }
    }
    let breakages = list_breakages(desc, sound);
    for Breakage { pointer, what, code, document } in &breakages {
        let Err(violations) = read(document) else {
            panic!("{pointer}: {what} is accepted");
        };
        let found: Vec<_> = violations.iter().map(|found| (found.pointer.as_str(), found.code.as_str())).collect();
        assert_eq!(found, [(pointer.as_str(), *code)], "{pointer}: {what}: {violations:?}");
    }
    edges.len() + breakages.len()
}

/// [`assert_shape`] of a shape, named without its lifetime.
#[macro_export]
macro_rules! assert_shape {
    ($shape:ident, $sound:expr) => {
        $crate::testing::assert_shape(&<$shape as $crate::shape::Described>::DESC, $sound, |json| {
            $crate::shape::read_document::<$shape>(json).map(drop)
        })
    };
}

/// Checks that a shape has exactly these bounds, each as the partners' page tells it. To be written out from the spec:
/// cases that are made from the declarations cannot miss a wrong bound.
///
/// # Panics
/// When the shape does otherwise; this is an assertion.
#[track_caller]
pub fn assert_bounds(desc: &ValueDesc, bounds: &[(&str, &str)]) {
    let rows = docs::rows(desc).into_iter().filter(|row| !row.bounds.is_empty());
    assert_eq!(rows.map(|row| (row.pointer, row.bounds)).collect::<Pairs>(), expected(bounds));
}

/// Checks that a lexicon claims all of the utterances.
///
/// # Panics
/// When the lexicon does otherwise; this is an assertion.
pub fn assert_claimed(lexicon: &Lexicon, utterances: &[&str]) {
    for utterance in utterances {
        let found = lexicon.classify(utterance);
        assert!(found.score >= 0.5, "{utterance}: {found:?}");
    }
}

/// Checks that a lexicon claims none of the utterances, and sends each to this intent, or to none.
///
/// # Panics
/// When the lexicon does otherwise; this is an assertion.
pub fn assert_sent(lexicon: &Lexicon, utterances: &[(&str, Option<&str>)]) {
    for (utterance, intent) in utterances {
        let found = lexicon.classify(utterance);
        assert!(found.score < 0.5, "{utterance}: {found:?}");
        assert_eq!(found.elsewhere.first().map(|other| other.intent.as_str()), *intent, "{utterance}");
    }
}
