//! The way of an order: the tables that declare it, and what the rules of a call or a report are told of it.
//!
//! The host keeps every order, calls no tool out of its turn, and hands over what is known ([`Subject`]). Nothing here acts.
//!
//! ```
//! use contract_sdk::bindings::{Milestone, Opening};
//! use contract_sdk::{KeptValue, OrderDeadline, OrderOutcome, OrderState, OrderStep, OrderWay, code};
//!
//! pub const ORDER: Option<OrderWay> = Some(OrderWay {
//!     states: &[
//!         OrderState::open("booked", "A table is kept for the user.", &[Milestone::Confirmed]),
//!         OrderState::closed("cancelled", "The table was given back."),
//!     ],
//!     steps: &[
//!         OrderStep {
//!             opening: Opening::Always,
//!             keeps: &[
//!                 KeptValue::answer("booking_id", "/booking_id").identifying(),
//!                 KeptValue::answer("starts_at", "/starts_at"),
//!             ],
//!             outcomes: &[OrderOutcome::always("booked")],
//!             ..OrderStep::of("book_table")
//!         },
//!         OrderStep {
//!             states: &["booked"],
//!             deadlines: &[OrderDeadline {
//!                 kept: "starts_at",
//!                 code: code::INVALID_REQUEST,
//!                 text: "A table is given back before its time.",
//!             }],
//!             outcomes: &[OrderOutcome::always("cancelled")],
//!             ..OrderStep::of("cancel_table")
//!         },
//!     ],
//!     amount: None,
//!     due_after: Some("starts_at"),
//!     history: &[],
//! });
//! ```

use crate::bindings::{self, AnsweredCall, Milestone, Opening, OrderSource};
use crate::shape::{Date, DateTime, read_number_member, read_text_member};
use std::borrow::Cow;

/// How orders of the intent go.
#[derive(Debug, Clone, Copy)]
pub struct OrderWay {
    pub states: &'static [OrderState],
    pub steps: &'static [OrderStep],
    /// Name of the kept value that says what the user pays in all, INR. None where the option's price says it.
    pub amount: Option<&'static str>,
    /// Name of the kept value after which a report is due. None where it is due as soon as the user has paid.
    pub due_after: Option<&'static str>,
    /// Names of kept values that [`Intent::scale`](crate::Intent::scale) is told of the user's past orders: attributes of what
    /// was taken, and none that identifies. Empty where the ranking goes by no history.
    pub history: &'static [&'static str],
}

/// A state that a tool leads to.
#[derive(Debug, Clone, Copy)]
pub struct OrderState {
    /// snake_case; none of `pending`, `failed`, `none`, nor a status of completion reports.
    pub name: &'static str,
    /// One sentence for people.
    pub meaning: &'static str,
    pub closed: bool,
    pub milestones: &'static [Milestone],
}

impl OrderState {
    /// A state from which tools may lead on.
    pub const fn open(name: &'static str, meaning: &'static str, milestones: &'static [Milestone]) -> Self {
        Self { name, meaning, closed: false, milestones }
    }

    /// A state in which the user has nothing, owes nothing, and nobody waits for a report.
    pub const fn closed(name: &'static str, meaning: &'static str) -> Self {
        Self { name, meaning, closed: true, milestones: &[] }
    }
}

/// What one tool does to an order.
#[derive(Debug, Clone, Copy)]
pub struct OrderStep {
    /// Name of the tool.
    pub tool: &'static str,
    pub opening: Opening,
    /// The states in which it may be called.
    pub states: &'static [&'static str],
    /// What it is refused with in others; `INVALID_REQUEST` where none fits.
    pub refusals: &'static [OrderRefusal],
    pub deadlines: &'static [OrderDeadline],
    /// What is kept once the answer passed.
    pub keeps: &'static [KeptValue],
    /// The first one that fits counts.
    pub outcomes: &'static [OrderOutcome],
}

impl OrderStep {
    /// A tool that opens nothing, may be called in no state and keeps nothing. To be filled in.
    pub const fn of(tool: &'static str) -> Self {
        Self { tool, opening: Opening::Never, states: &[], refusals: &[], deadlines: &[], keeps: &[], outcomes: &[] }
    }
}

/// What a call out of its turn is refused with.
#[derive(Debug, Clone, Copy)]
pub struct OrderRefusal {
    /// In these states; `none` where there is no order.
    pub states: &'static [&'static str],
    /// A code of the error table that is a failure.
    pub code: &'static str,
    /// One sentence for the caller: why, and what to do.
    pub text: &'static str,
}

/// Until when a tool may be called.
#[derive(Debug, Clone, Copy)]
pub struct OrderDeadline {
    /// Name of a kept value: a datetime before which the call is made, or a date that is not over in India.
    pub kept: &'static str,
    /// A code of the error table that is a failure.
    pub code: &'static str,
    /// One sentence for the caller.
    pub text: &'static str,
}

/// A value that an order keeps.
#[derive(Debug, Clone, Copy)]
pub struct KeptValue {
    /// snake_case.
    pub name: &'static str,
    pub source: OrderSource,
    /// JSON Pointer into that document.
    pub pointer: &'static str,
    pub identifies: bool,
}

impl KeptValue {
    /// Read from the partner's answer.
    pub const fn answer(name: &'static str, pointer: &'static str) -> Self {
        Self { name, source: OrderSource::Answer, pointer, identifies: false }
    }

    /// Read from the arguments of the call.
    pub const fn argument(name: &'static str, pointer: &'static str) -> Self {
        Self { name, source: OrderSource::Arguments, pointer, identifies: false }
    }

    /// Read from the option that was ordered.
    pub const fn option(name: &'static str, pointer: &'static str) -> Self {
        Self { name, source: OrderSource::Option, pointer, identifies: false }
    }

    /// The same value, as one by which the partner knows the order.
    #[must_use]
    pub const fn identifying(self) -> Self {
        Self { identifies: true, ..self }
    }
}

/// Where an answer leads to.
#[derive(Debug, Clone, Copy)]
pub struct OrderOutcome {
    /// States before the call, `pending` where it opened the order; empty: any.
    pub from: &'static [&'static str],
    /// JSON Pointer into the answer to a text, and the values of it that lead there. None: any answer does.
    pub answered: Option<(&'static str, &'static [&'static str])>,
    /// A declared state.
    pub state: &'static str,
}

impl OrderOutcome {
    /// Any answer leads to the state.
    pub const fn always(state: &'static str) -> Self {
        Self { from: &[], answered: None, state }
    }

    /// An answer with one of these texts at the pointer leads to the state.
    pub const fn where_answered(pointer: &'static str, values: &'static [&'static str], state: &'static str) -> Self {
        Self { from: &[], answered: Some((pointer, values)), state }
    }

    /// Only where the order was in one of these states before.
    #[must_use]
    pub const fn from(self, states: &'static [&'static str]) -> Self {
        Self { from: states, ..self }
    }
}

/// What a call or a completion report is about, as far as it is known. `T` is the option of the intent.
#[derive(Debug)]
pub struct Subject<'s, T> {
    /// The option concerned, as the search returned it; once there is an order, the one that was ordered.
    pub quoted: Option<&'s T>,
    /// The order, where there is one.
    pub order: Option<Order<'s>>,
    /// The host's time, milliseconds since the Unix epoch.
    pub now_ms: u64,
}

/// An order as the host keeps it. Nothing of it is the caller's word.
#[derive(Debug, Clone, Copy)]
pub struct Order<'s> {
    state: &'s str,
    kept: &'s str,
    answered: &'s [AnsweredCall],
}

impl<'s> Order<'s> {
    pub(crate) fn of(view: &'s bindings::OrderView) -> Self {
        Self { state: &view.state, kept: &view.kept, answered: &view.answered }
    }

    /// `pending`, `failed`, a declared state, or the status of a report.
    pub fn state(&self) -> &'s str {
        self.state
    }

    /// A kept text.
    pub fn text(&self, name: &str) -> Option<Cow<'s, str>> {
        read_text_member(self.kept, name)
    }

    /// A kept date.
    pub fn date(&self, name: &str) -> Option<Date> {
        Date::parse(&self.text(name)?)
    }

    /// A kept datetime.
    pub fn datetime(&self, name: &str) -> Option<DateTime> {
        DateTime::parse(&self.text(name)?)
    }

    /// A kept number.
    pub fn number(&self, name: &str) -> Option<f64> {
        read_number_member(self.kept, name)
    }

    /// When the partner first answered a call of the tool that passed, milliseconds since the Unix epoch.
    pub fn answered(&self, tool: &str) -> Option<u64> {
        self.answered.iter().find(|call| call.tool == tool).map(|call| call.at_ms)
    }
}

/// An order of the user's, of this intent, that a completion report has closed. Which partner served it is not told.
#[derive(Debug, Clone, Copy)]
pub struct PastOrder<'h> {
    status: &'h str,
    closed_at_ms: u64,
    attributes: &'h str,
}

impl<'h> PastOrder<'h> {
    pub(crate) fn of(past: &'h bindings::PastOrder) -> Self {
        Self { status: &past.status, closed_at_ms: past.closed_at_ms, attributes: &past.attributes }
    }

    /// The status of its report.
    pub fn status(&self) -> &'h str {
        self.status
    }

    /// When the host booked the report, milliseconds since the Unix epoch.
    pub fn closed_at_ms(&self) -> u64 {
        self.closed_at_ms
    }

    /// A text among the values that [`OrderWay::history`] names.
    pub fn text(&self, name: &str) -> Option<Cow<'h, str>> {
        read_text_member(self.attributes, name)
    }

    /// A number among them.
    pub fn number(&self, name: &str) -> Option<f64> {
        read_number_member(self.attributes, name)
    }
}

/// The way in the types of the interface.
pub(crate) fn describe(way: &OrderWay) -> bindings::OrderWay {
    let state = |state: &OrderState| bindings::OrderState {
        name: state.name.to_owned(),
        meaning: state.meaning.to_owned(),
        closed: state.closed,
        milestones: state.milestones.to_vec(),
    };
    bindings::OrderWay {
        states: way.states.iter().map(state).collect(),
        steps: way.steps.iter().map(describe_step).collect(),
        amount: way.amount.map(str::to_owned),
        due_after: way.due_after.map(str::to_owned),
        history: owned(way.history),
    }
}

fn describe_step(step: &OrderStep) -> bindings::OrderStep {
    let refusal = |row: &OrderRefusal| bindings::OrderRefusal {
        states: owned(row.states),
        code: row.code.to_owned(),
        text: row.text.to_owned(),
    };
    let deadline = |row: &OrderDeadline| bindings::OrderDeadline {
        kept: row.kept.to_owned(),
        code: row.code.to_owned(),
        text: row.text.to_owned(),
    };
    let kept = |row: &KeptValue| bindings::KeptValue {
        name: row.name.to_owned(),
        source: row.source,
        pointer: row.pointer.to_owned(),
        identifies: row.identifies,
    };
    let outcome = |row: &OrderOutcome| bindings::OrderOutcome {
        from: owned(row.from),
        pointer: row.answered.map(|(pointer, _)| pointer.to_owned()),
        values: row.answered.map(|(_, values)| owned(values)).unwrap_or_default(),
        state: row.state.to_owned(),
    };
    bindings::OrderStep {
        tool: step.tool.to_owned(),
        opening: step.opening,
        states: owned(step.states),
        refusals: step.refusals.iter().map(refusal).collect(),
        deadlines: step.deadlines.iter().map(deadline).collect(),
        keeps: step.keeps.iter().map(kept).collect(),
        outcomes: step.outcomes.iter().map(outcome).collect(),
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn kept_values_are_read_by_their_type() {
        let kept = r#"{"id":"B\u002d1","total":12.5,"whole":7,"day":"2026-05-04","at":"2026-05-04T10:00:00+05:30"}"#;
        let view = example::order("booked", kept, &[("book_table", 7), ("move_table", 8), ("book_table", 9)]);
        let order = Order::of(&view);
        assert_eq!((order.state(), order.text("id").as_deref()), ("booked", Some("B-1")));
        assert_eq!([order.number("total"), order.number("whole"), order.number("id")], [Some(12.5), Some(7.0), None]);
        assert_eq!((order.date("day"), order.date("at")), (Date::parse("2026-05-04"), None));
        assert_eq!(order.datetime("at"), DateTime::parse("2026-05-04T10:00:00+05:30"));
        assert_eq!((order.text("total"), order.datetime("day"), order.text("other")), (None, None, None));
        assert_eq!([order.answered("book_table"), order.answered("other")], [Some(7), None]);
    }
}
