//! The functions of the interface, for any contract.
//!
//! [`crate::export!`] puts them behind the component's exports; tests and benches call them natively.

mod describe;
mod evaluate;
mod judge;

pub use describe::{describe, vocabularies};
pub use evaluate::evaluate;
pub use judge::{check_completion, check_request, check_response};

use crate::bindings::{Classification, Example, Refusal, Violation};
use crate::contract::{Contract, Intent};

/// Judges an utterance. Lexicons are not per language, so the locale is not looked at.
pub fn classify<C: Contract>(utterance: &str, _locale: &str) -> Classification {
    <C::Intent as Intent>::LEXICON.classify(utterance)
}

/// Cases that must hold before the version goes live.
pub fn examples<C: Contract>() -> Vec<Example> {
    C::examples()
}

pub(crate) fn refusal(code: &str, violations: Vec<Violation>) -> Refusal {
    Refusal { code: code.to_owned(), violations }
}
