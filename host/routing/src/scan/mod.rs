//! The scan of a partner's answer, whatever the contract does: for forbidden fields (spec 1, What the service does, 7; the
//! contracts' own lists come with their descriptors), and for what a strict reader of I-JSON (RFC 7493) could not take. An
//! answer is embedded as its partner wrote it, so that one number out of all range would make it unreadable as a whole.
//!
//! Two steps. A quick pass over the bytes ([`quick`]) tells whether an answer is JSON in which nothing can be wrong, and where the
//! parts of a search payload are; nearly every answer ends there. Only another one is walked exactly ([`walk`]), with JSON
//! Pointers. The first step may suspect too much, never too little.
//!
//! What passes: every number that a 64-bit float holds, an integer above 2^53 among them. RFC 7493 (2.2) only warns that
//! others may read such a one less exactly; honest partners have identifiers like that, and the amounts, counts and durations
//! of an intent have bounds of their own in its contract.

mod names;
mod quick;
#[cfg(test)]
pub(crate) mod tests;
mod text;
mod walk;

use std::collections::BTreeMap;

use intent_gateway_domain::contract::{Descriptor, Refusal, Violation};
use intent_gateway_domain::forbidden::ForbiddenFields;
use intent_gateway_domain::limits::PAYLOAD_MAX_DEPTH;

pub(crate) use quick::outline;
use text::string_end;
use walk::walk;

/// A number that no 64-bit float holds.
const NUMBER_TOO_LARGE: &str = "NUMBER_TOO_LARGE";
/// A text, a name or a number is longer than any may be.
const TOO_LONG: &str = intent_gateway_domain::violations::code::TOO_LONG;
/// A text holds a control character other than a tab or the end of a line.
const CONTROL_CHARACTER: &str = intent_gateway_domain::violations::code::CONTROL_CHARACTER;
/// A text holds one half of a surrogate pair.
const LONE_SURROGATE: &str = "LONE_SURROGATE";
/// A text holds a code point that is reserved never to be a character.
const NONCHARACTER: &str = "NONCHARACTER";
/// Two members of an object have one name, so that readers disagree on which counts.
const DUPLICATE_MEMBER: &str = "DUPLICATE_MEMBER";

/// What is wrong at one place of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flaws {
    /// Forbidden fields: each is a strike.
    pub forbidden: Vec<Violation>,
    /// What a strict reader could not take.
    pub malformed: Vec<Violation>,
}

impl Flaws {
    /// What is held against the partner, and whether it is a strike: forbidden fields where there are any.
    #[must_use]
    pub fn verdict(&self) -> (bool, &[Violation]) {
        if self.forbidden.is_empty() { (false, &self.malformed) } else { (true, &self.forbidden) }
    }
}

/// What is wrong with one answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    /// Outside the options; pointers into the payload.
    pub outside: Flaws,
    /// By position of the option; pointers into the option.
    pub options: BTreeMap<usize, Flaws>,
}

/// The answer nests too deep to be looked through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it nests {depth} levels deep; {PAYLOAD_MAX_DEPTH} are allowed")]
pub struct TooDeep {
    /// Levels of objects and arrays.
    pub depth: usize,
}

/// Finds every flaw of an answer, a text that is valid JSON. `options_key` names the array of options of an object; of a bare
/// array every element is one. Without it, the answer has no options.
///
/// # Errors
/// [`TooDeep`] beyond [`PAYLOAD_MAX_DEPTH`].
pub fn scan(json: &str, options_key: Option<&str>, fields: &ForbiddenFields<'_>) -> Result<Scanned, TooDeep> {
    if quick::is_harmless(json, fields) { Ok(Scanned::default()) } else { examine(json, options_key, fields) }
}

/// Refuses arguments that hold a forbidden field, as a member or in JSON within a text. A partner that repeats what it was sent
/// would be struck for the caller's words.
///
/// # Errors
/// `INVALID_REQUEST` with each such field.
pub(crate) fn refuse_forbidden(arguments: &str, descriptor: &Descriptor) -> Result<(), Refusal> {
    let fields = ForbiddenFields::new(&descriptor.forbidden_fields);
    // An answer that nests too deep is no strike, so arguments that do need no refusal here.
    let found = scan(arguments, None, &fields).map(|scanned| scanned.outside.forbidden).unwrap_or_default();
    if found.is_empty() {
        return Ok(());
    }
    let told = found.into_iter().map(|violation| {
        let message = format!("a partner may repeat it, and {}", violation.message);
        Violation { message, ..violation }
    });
    Err(Refusal::invalid_request(told.collect()))
}

/// As [`scan`], for an answer of which something may be wrong.
///
/// # Errors
/// [`TooDeep`] beyond [`PAYLOAD_MAX_DEPTH`].
pub(crate) fn examine(json: &str, options_key: Option<&str>, fields: &ForbiddenFields<'_>) -> Result<Scanned, TooDeep> {
    let depth = depth_of(json);
    if depth > PAYLOAD_MAX_DEPTH {
        return Err(TooDeep { depth });
    }
    Ok(walk(json, options_key, fields))
}

/// Deepest nesting of objects and arrays.
fn depth_of(json: &str) -> usize {
    let bytes = json.as_bytes();
    let (mut at, mut depth, mut deepest) = (0, 0_usize, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => at = string_end(bytes, at + 1),
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    deepest
}
