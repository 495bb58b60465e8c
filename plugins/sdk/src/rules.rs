//! Cross-field rules, written so that a line of code reads like the sentence of the spec it enforces.
//!
//! A rule is judged only on documents whose shape is sound, so it deals with values, never with missing
//! members. Each line names what the rule is about (a stable code and a pointer), and what follows: the
//! option is dropped, the document refused, or a finding recorded. Messages are given as
//! `format_args!`, which is formatted only when the rule is broken.
//!
//! ```
//! # use contract_sdk::ItemRules;
//! # let (doorstep, scope_goes_to_the_door, scope) = (true, false, "compressor_service");
//! # let mut rules = ItemRules::new();
//! rules.drop_if(
//!     doorstep && !scope_goes_to_the_door,
//!     "DOORSTEP_SCOPE",
//!     "/logistics/doorstep_supported",
//!     format_args!("{scope} is done at a workshop; doorstep_supported must be false."),
//! );
//! ```

use crate::bindings::Violation;
use crate::code;
use crate::violations::Violations;
use std::fmt::Display;

/// Under which code a refusal goes out.
#[derive(Debug, Default)]
struct NamedRefusal {
    /// The first broken rule that has a code of the error table.
    first: Option<&'static str>,
    /// Whether a rule without one is broken too.
    plain: bool,
}

impl NamedRefusal {
    fn or(&self, usual: &'static str) -> &'static str {
        self.first.filter(|_| !self.plain).unwrap_or(usual)
    }
}

/// What the rules said of one option of a search.
#[derive(Debug, Default)]
pub struct ItemRules {
    pub(crate) drops: Violations,
    pub(crate) strike: bool,
    pub(crate) findings: Violations,
}

impl ItemRules {
    /// No rule broken so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the option out of the answer.
    #[inline]
    pub fn drop_if(&mut self, broken: bool, code: &'static str, pointer: impl Display, message: impl Display) {
        if broken {
            self.drops.add(pointer, code, message);
        }
    }

    /// Takes the option out, and counts towards the partner's suspension.
    #[inline]
    pub fn strike_if(&mut self, broken: bool, code: &'static str, pointer: impl Display, message: impl Display) {
        if broken {
            self.strike = true;
            self.drops.add(pointer, code, message);
        }
    }

    /// Records a finding against the partner; the option stays.
    #[inline]
    pub fn finding_if(&mut self, broken: bool, code: &'static str, pointer: impl Display, message: impl Display) {
        if broken {
            self.findings.add(pointer, code, message);
        }
    }

    /// Codes of the drops so far, for unit tests of rules.
    pub fn dropped_for(self) -> Vec<String> {
        codes(self.drops)
    }
}

/// What the rules said of the arguments of a tool.
#[derive(Debug, Default)]
pub struct RequestRules {
    pub(crate) refusals: Violations,
    pub(crate) notes: Violations,
    named: NamedRefusal,
}

impl RequestRules {
    /// No rule broken so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// Refuses the request.
    #[inline]
    pub fn refuse_if(&mut self, broken: bool, code: &'static str, pointer: impl Display, message: impl Display) {
        if broken {
            self.named.plain = true;
            self.refusals.add(pointer, code, message);
        }
    }

    /// Refuses the request under a code that the intent's error table has for just this. The refusal carries the
    /// first such code, unless [`RequestRules::refuse_if`] refuses too: then it is `INVALID_REQUEST`.
    #[inline]
    pub fn refuse_as(&mut self, broken: bool, code: &'static str, pointer: impl Display, message: impl Display) {
        if broken {
            self.named.first.get_or_insert(code);
            self.refusals.add(pointer, code, message);
        }
    }

    /// The code of the refusal.
    pub(crate) fn code(&self) -> &'static str {
        self.named.or(code::INVALID_REQUEST)
    }

    /// Says something to the sender; refuses nothing.
    #[inline]
    pub fn note_if(&mut self, holds: bool, code: &'static str, pointer: impl Display, message: impl Display) {
        if holds {
            self.notes.add(pointer, code, message);
        }
    }
}

/// What the rules said of the answer of a tool that is no search.
#[derive(Debug, Default)]
pub struct AnswerRules {
    pub(crate) refusals: Violations,
    pub(crate) findings: Violations,
    pub(crate) advisory: Option<&'static str>,
    named: NamedRefusal,
}

impl AnswerRules {
    /// No rule broken so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// Refuses the answer: a partner failure.
    #[inline]
    pub fn refuse_if(&mut self, broken: bool, code: &'static str, pointer: impl Display, message: impl Display) {
        if broken {
            self.named.plain = true;
            self.refusals.add(pointer, code, message);
        }
    }

    /// Refuses the answer under a code that the intent's error table has for just this. The refusal carries the
    /// first such code, unless [`AnswerRules::refuse_if`] refuses too: then it is `INTERNAL_ERROR`.
    #[inline]
    pub fn refuse_as(&mut self, broken: bool, code: &'static str, pointer: impl Display, message: impl Display) {
        if broken {
            self.named.first.get_or_insert(code);
            self.refusals.add(pointer, code, message);
        }
    }

    /// The code of the refusal.
    pub(crate) fn code(&self) -> &'static str {
        self.named.or(code::INTERNAL_ERROR)
    }

    /// Records a finding against the partner; the answer stands.
    #[inline]
    pub fn finding_if(&mut self, broken: bool, code: &'static str, pointer: impl Display, message: impl Display) {
        if broken {
            self.findings.add(pointer, code, message);
        }
    }

    /// Passes an advisory code of the error table on with the answer. The first that holds is passed on.
    #[inline]
    pub fn advise_if(&mut self, holds: bool, code: &'static str) {
        if holds && self.advisory.is_none() {
            self.advisory = Some(code);
        }
    }
}

/// What the rules said of a completion report.
#[derive(Debug, Default)]
pub struct ReportRules {
    pub(crate) refusals: Violations,
    pub(crate) findings: Violations,
}

impl ReportRules {
    /// No rule broken so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// Refuses the report.
    #[inline]
    pub fn refuse_if(&mut self, broken: bool, code: &'static str, pointer: impl Display, message: impl Display) {
        if broken {
            self.refusals.add(pointer, code, message);
        }
    }

    /// Marks the report for review; it is accepted and posted.
    #[inline]
    pub fn finding_if(&mut self, broken: bool, code: &'static str, pointer: impl Display, message: impl Display) {
        if broken {
            self.findings.add(pointer, code, message);
        }
    }
}

fn codes(violations: Violations) -> Vec<String> {
    violations.into_list().into_iter().map(|Violation { code, .. }| code).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_goes_out_under_the_first_named_code_unless_a_plain_rule_is_broken() {
        let mut rules = RequestRules::new();
        rules.refuse_as(false, "NEVER", "", "");
        assert_eq!(rules.code(), code::INVALID_REQUEST);
        rules.refuse_as(true, "FIRST", "", "");
        rules.refuse_as(true, "SECOND", "", "");
        assert_eq!(rules.code(), "FIRST");
        rules.refuse_if(true, "PLAIN", "", "");
        assert_eq!((rules.code(), rules.refusals.into_list().len()), (code::INVALID_REQUEST, 3));

        let mut rules = AnswerRules::new();
        assert_eq!(rules.code(), code::INTERNAL_ERROR);
        rules.refuse_as(true, "FIRST", "", "");
        assert_eq!(rules.code(), "FIRST");
        rules.refuse_if(true, "PLAIN", "", "");
        assert_eq!(rules.code(), code::INTERNAL_ERROR);
    }
}
