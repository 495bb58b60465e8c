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

use crate::bindings::Refusal;
use crate::code;
use crate::violations::Violations;
use std::fmt::Display;

/// What is refused, and under which code it goes out together.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    list: Violations,
    /// The first broken rule that has a code of the error table.
    named: Option<&'static str>,
    /// Whether a rule without one is broken too.
    plain: bool,
}

impl Refusals {
    #[inline]
    fn refuse(&mut self, broken: bool, code: &'static str, pointer: impl Display, message: impl Display) {
        self.plain |= broken;
        self.list.add_if(broken, pointer, code, message);
    }

    #[inline]
    fn refuse_as(&mut self, broken: bool, code: &'static str, pointer: impl Display, message: impl Display) {
        if broken {
            self.named.get_or_insert(code);
        }
        self.list.add_if(broken, pointer, code, message);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The refusal, under the code that a rule named if all broken rules did, or else under the usual one.
    pub(crate) fn into_refusal(self, usual: &'static str) -> Refusal {
        let code = self.named.filter(|_| !self.plain).unwrap_or(usual);
        Refusal { code: code.to_owned(), violations: self.list.into_list() }
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
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the option out of the answer.
    #[inline]
    pub fn drop_if(&mut self, broken: bool, code: &'static str, pointer: impl Display, message: impl Display) {
        self.drops.add_if(broken, pointer, code, message);
    }

    /// Takes the option out, and counts towards the partner's suspension.
    #[inline]
    pub fn strike_if(&mut self, broken: bool, code: &'static str, pointer: impl Display, message: impl Display) {
        self.strike |= broken;
        self.drops.add_if(broken, pointer, code, message);
    }

    /// Records a finding against the partner; the option stays.
    #[inline]
    pub fn finding_if(&mut self, broken: bool, code: &'static str, pointer: impl Display, message: impl Display) {
        self.findings.add_if(broken, pointer, code, message);
    }
}

/// What the rules said of the arguments of a tool.
#[derive(Debug, Default)]
pub struct RequestRules {
    pub(crate) refusals: Refusals,
    pub(crate) notes: Violations,
}

impl RequestRules {
    pub fn new() -> Self {
        Self::default()
    }

    /// Refuses the request.
    #[inline]
    pub fn refuse_if(&mut self, broken: bool, code: &'static str, pointer: impl Display, message: impl Display) {
        self.refusals.refuse(broken, code, pointer, message);
    }

    /// Refuses the request under a code that the intent's error table has for just this. The refusal carries the
    /// first such code, unless [`RequestRules::refuse_if`] refuses too: then it is `INVALID_REQUEST`.
    #[inline]
    pub fn refuse_as(&mut self, broken: bool, code: &'static str, pointer: impl Display, message: impl Display) {
        self.refusals.refuse_as(broken, code, pointer, message);
    }

    /// Says something to the sender; refuses nothing.
    #[inline]
    pub fn note_if(&mut self, holds: bool, code: &'static str, pointer: impl Display, message: impl Display) {
        self.notes.add_if(holds, pointer, code, message);
    }
}

/// What the rules said of the answer of a tool that is not a search.
#[derive(Debug, Default)]
pub struct AnswerRules {
    pub(crate) refusals: Refusals,
    pub(crate) findings: Violations,
    pub(crate) advisory: Option<&'static str>,
}

impl AnswerRules {
    pub fn new() -> Self {
        Self::default()
    }

    /// Refuses the answer: a partner failure.
    #[inline]
    pub fn refuse_if(&mut self, broken: bool, code: &'static str, pointer: impl Display, message: impl Display) {
        self.refusals.refuse(broken, code, pointer, message);
    }

    /// Refuses an answer that is about something else than the call was: expected is `what`, with this identifier.
    #[inline]
    pub fn refuse_other(&mut self, found: &str, expected: &str, pointer: &'static str, what: &'static str) {
        let message = format_args!("Expected {what}, {expected:?}.");
        self.refuse_if(found != expected, code::UNEXPECTED_VALUE, pointer, message);
    }

    /// Refuses the answer under a code that the intent's error table has for just this. The refusal carries the
    /// first such code, unless [`AnswerRules::refuse_if`] refuses too: then it is `INTERNAL_ERROR`.
    #[inline]
    pub fn refuse_as(&mut self, broken: bool, code: &'static str, pointer: impl Display, message: impl Display) {
        self.refusals.refuse_as(broken, code, pointer, message);
    }

    /// Records a finding against the partner; the answer stands.
    #[inline]
    pub fn finding_if(&mut self, broken: bool, code: &'static str, pointer: impl Display, message: impl Display) {
        self.findings.add_if(broken, pointer, code, message);
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
    pub(crate) refusals: Refusals,
    pub(crate) findings: Violations,
    pub(crate) strikes: Violations,
    pub(crate) late_minutes: Option<i32>,
}

impl ReportRules {
    pub fn new() -> Self {
        Self::default()
    }

    /// Refuses the report.
    #[inline]
    pub fn refuse_if(&mut self, broken: bool, code: &'static str, pointer: impl Display, message: impl Display) {
        self.refusals.refuse(broken, code, pointer, message);
    }

    /// Marks the report for review; it is accepted and posted.
    #[inline]
    pub fn finding_if(&mut self, broken: bool, code: &'static str, pointer: impl Display, message: impl Display) {
        self.findings.add_if(broken, pointer, code, message);
    }

    /// Marks the report for review, and counts towards the partner's suspension; it is accepted and posted.
    #[inline]
    pub fn strike_if(&mut self, broken: bool, code: &'static str, pointer: impl Display, message: impl Display) {
        self.strikes.add_if(broken, pointer, code, message);
    }

    /// Says by how many minutes the service began later than was quoted; below zero, by how many it began earlier.
    /// It breaks no rule: the platform keeps the mean for each partner. To be called only where the report
    /// tells, by itself or against the quote; without a call, the report counts for nothing in that mean.
    ///
    /// What the interface cannot carry counts as the most, or the least, that it can; a second call replaces the
    /// first.
    #[inline]
    pub fn late_by_minutes(&mut self, minutes: i64) {
        let carried = minutes.clamp(i64::from(i32::MIN), i64::from(i32::MAX));
        self.late_minutes = Some(carried as i32);
    }

    /// What was said of lateness, for unit tests of rules.
    pub fn late_minutes(&self) -> Option<i32> {
        self.late_minutes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_goes_out_under_the_first_named_code_unless_a_plain_rule_is_broken() {
        type Break = fn(&mut RequestRules);
        let first: Break = |rules| rules.refuse_as(true, "FIRST", "", "");
        let second: Break = |rules| rules.refuse_as(true, "SECOND", "", "");
        let plain: Break = |rules| rules.refuse_if(true, "PLAIN", "", "");
        let holds: Break = |rules| rules.refuse_as(false, "NEVER", "", "");
        let refused = |broken: &[Break]| {
            let mut rules = RequestRules::new();
            broken.iter().for_each(|rule| rule(&mut rules));
            let refusal = rules.refusals.into_refusal("USUAL");
            (refusal.code, refusal.violations.len())
        };
        assert_eq!(refused(&[holds, first, second]), ("FIRST".to_owned(), 2));
        assert_eq!(refused(&[holds, plain]), ("USUAL".to_owned(), 1));
        assert_eq!(refused(&[first, second, plain]), ("USUAL".to_owned(), 3));
        assert_eq!(refused(&[plain, first]), ("USUAL".to_owned(), 2));
    }

    #[test]
    fn lateness_is_said_once_and_fits_the_interface() {
        let said = |minutes: &[i64]| {
            let mut rules = ReportRules::new();
            minutes.iter().for_each(|minutes| rules.late_by_minutes(*minutes));
            rules.late_minutes()
        };
        assert_eq!([said(&[]), said(&[0]), said(&[-7])], [None, Some(0), Some(-7)]);
        assert_eq!(said(&[5, 12]), Some(12));
        assert_eq!([said(&[i64::MAX]), said(&[i64::MIN])], [Some(i32::MAX), Some(i32::MIN)]);
        let (most, least) = (i64::from(i32::MAX), i64::from(i32::MIN));
        assert_eq!([said(&[most]), said(&[most + 1])], [Some(i32::MAX); 2]);
        assert_eq!([said(&[least]), said(&[least - 1])], [Some(i32::MIN); 2]);
    }

    #[test]
    fn an_answer_about_something_else_is_refused() {
        let mut rules = AnswerRules::new();
        rules.refuse_other("a", "a", "/id", "the slot that was asked for");
        assert!(rules.refusals.is_empty());
        rules.refuse_other("b", "a", "/id", "the slot that was asked for");
        let Refusal { code, violations } = rules.refusals.into_refusal("USUAL");
        let found = &violations[0];
        assert_eq!((code.as_str(), violations.len()), ("USUAL", 1));
        assert_eq!((found.pointer.as_str(), found.code.as_str()), ("/id", "UNEXPECTED_VALUE"));
        assert_eq!(found.message, "Expected the slot that was asked for, \"a\".");
    }

    #[test]
    fn rules_that_hold_leave_nothing() {
        let mut rules = AnswerRules::new();
        rules.refuse_if(false, "A", "", "");
        rules.refuse_as(false, "B", "", "");
        rules.finding_if(false, "C", "", "");
        rules.advise_if(false, "D");
        assert!(rules.refusals.is_empty() && rules.findings.is_empty() && rules.advisory.is_none());
    }
}
