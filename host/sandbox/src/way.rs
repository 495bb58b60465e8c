//! The way of an order: from the component's declaration to the domain's, with every rule that it must keep.
//!
//! Not here: what the host makes of an order on its way.

use std::collections::HashSet;

use intent_gateway_domain::contract as domain;
use intent_gateway_domain::contract::{OrderOutcome, OrderStep, OrderWay};

use crate::bindings as wit;
use crate::descriptor::Problems;

/// States that the host gives to orders itself.
const PENDING: &str = "pending";
const FAILED: &str = "failed";
/// What a refusal calls it that there is no order.
const NONE: &str = "none";
/// From this HTTP status on a code is a failure.
const FAILURE_STATUS: u16 = 400;

/// What a way is held against.
pub(crate) struct Names<'a> {
    tools: &'a [wit::Tool],
    errors: &'a [wit::PlatformError],
    statuses: &'a [String],
}

impl<'a> Names<'a> {
    pub(crate) fn of(descriptor: &'a wit::Descriptor) -> Self {
        Self { tools: &descriptor.tools, errors: &descriptor.errors, statuses: &descriptor.completion.statuses }
    }
}

/// Converts and checks the way of an order.
pub(crate) fn checked(way: &wit::OrderWay, names: &Names<'_>, problems: &mut Problems) -> OrderWay {
    let way = convert(way);
    states(&way, names, problems);
    tools(&way, names, problems);
    for step in &way.steps {
        check_step(step, &way, names, problems);
    }
    kept_names(&way, problems);
    history(&way, problems);
    problems.unless(way.steps.iter().any(opens), || "no step of `order` opens an order".to_owned());
    way
}

fn opens(step: &OrderStep) -> bool {
    step.opening != domain::Opening::Never
}

fn is_snake_case(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.starts_with(|first: char| first.is_ascii_lowercase()) && name.bytes().all(fits)
}

fn states(way: &OrderWay, names: &Names<'_>, problems: &mut Problems) {
    problems.unique("state of an order", way.states.iter().map(|state| &state.name));
    for state in &way.states {
        let name = &state.name;
        problems.unless(is_snake_case(name), || format!("the state `{name}` of an order is not in snake_case"));
        problems.unless(![PENDING, FAILED, NONE].contains(&name.as_str()), || {
            format!("`{name}` is a word of the host's and no state that `order` can declare")
        });
        problems.unless(!names.statuses.contains(name), || {
            format!("the state `{name}` of an order is a status of completion reports as well")
        });
    }
}

fn tools(way: &OrderWay, names: &Names<'_>, problems: &mut Problems) {
    problems.unique("step of an order", way.steps.iter().map(|step| &step.tool));
    for step in &way.steps {
        let known = names.tools.iter().any(|tool| tool.name == step.tool && tool.role != wit::ToolRole::Search);
        problems.unless(known, || format!("the step `{}` of an order is no tool, or the search", step.tool));
    }
}

fn check_step(step: &OrderStep, way: &OrderWay, names: &Names<'_>, problems: &mut Problems) {
    let tool = &step.tool;
    for state in &step.states {
        problems.unless(way.state(state).is_none_or(|state| !state.closed), || {
            format!("the step `{tool}` leads on from `{state}`, which is closed")
        });
    }
    let mut declared = |state: &str, besides: &[&str]| {
        problems.unless(way.state(state).is_some() || besides.contains(&state), || {
            format!("the step `{tool}` names the state `{state}`, which is not declared")
        });
    };
    step.states.iter().for_each(|state| declared(state, &[]));
    step.refusals.iter().flat_map(|refusal| &refusal.states).for_each(|state| declared(state, &[NONE, PENDING]));
    for outcome in &step.outcomes {
        outcome.from.iter().for_each(|state| declared(state, &[PENDING]));
        declared(&outcome.state, &[]);
    }
    for refusal in &step.refusals {
        problems.unless(!refusal.states.is_empty(), || format!("a refusal of the step `{tool}` names no state"));
    }
    let codes = step.refusals.iter().map(|refusal| &refusal.code);
    for code in codes.chain(step.deadlines.iter().map(|deadline| &deadline.code)) {
        let fails = |error: &wit::PlatformError| error.code == *code && error.http_status >= FAILURE_STATUS;
        problems.unless(names.errors.iter().any(fails), || {
            format!("the step `{tool}` refuses with `{code}`, which is no failure of the error table")
        });
    }
    check_documents(step, problems);
    let from_pending = |outcome: &OrderOutcome| outcome.from.is_empty() || outcome.from.iter().any(|s| s == PENDING);
    problems.unless(!opens(step) || step.outcomes.iter().any(from_pending), || {
        format!("the step `{tool}` opens orders, and no outcome of it leads on from `{PENDING}`")
    });
}

/// What is read out of the documents of a call.
fn check_documents(step: &OrderStep, problems: &mut Problems) {
    let tool = &step.tool;
    problems.unique(&format!("value kept by the step `{tool}`"), step.keeps.iter().map(|kept| &kept.name));
    for kept in &step.keeps {
        problems.unless(is_snake_case(&kept.name), || {
            format!("the name `{}` of a value that the step `{tool}` keeps is not in snake_case", kept.name)
        });
    }
    let kept = step.keeps.iter().map(|kept| &kept.pointer);
    for pointer in kept.chain(step.outcomes.iter().filter_map(|outcome| outcome.pointer.as_ref())) {
        problems.unless(pointer.starts_with('/'), || {
            format!("the step `{tool}` reads `{pointer}`; expected a JSON Pointer, which starts with /")
        });
    }
    for outcome in &step.outcomes {
        problems.unless(outcome.pointer.is_some() != outcome.values.is_empty(), || {
            format!("an outcome of the step `{tool}` has values without a pointer, or a pointer without values")
        });
    }
}

fn kept_names(way: &OrderWay, problems: &mut Problems) {
    let kept: HashSet<&str> = way.steps.iter().flat_map(|step| &step.keeps).map(|kept| kept.name.as_str()).collect();
    let deadlines = way.steps.iter().flat_map(|step| &step.deadlines).map(|deadline| &deadline.kept);
    for name in deadlines.chain(&way.amount).chain(&way.due_after) {
        problems.unless(kept.contains(name.as_str()), || format!("no step of `order` keeps `{name}`"));
    }
}

/// What later searches are told of an order: each value once, and none by which somebody could tell which order it was.
fn history(way: &OrderWay, problems: &mut Problems) {
    problems.unique("value of the history of `order`", way.history.iter());
    for name in &way.history {
        let mut kept = way.steps.iter().flat_map(|step| &step.keeps).filter(|kept| kept.name == *name).peekable();
        problems
            .unless(kept.peek().is_some(), || format!("no step of `order` keeps `{name}`, which its history names"));
        problems.unless(!kept.any(|kept| kept.identifies), || {
            format!("the history of `order` names `{name}`, by which the partner knows an order")
        });
    }
}

fn convert(way: &wit::OrderWay) -> OrderWay {
    OrderWay {
        states: way.states.iter().map(state).collect(),
        steps: way.steps.iter().map(step).collect(),
        amount: way.amount.clone(),
        due_after: way.due_after.clone(),
        history: way.history.clone(),
    }
}

fn state(state: &wit::OrderState) -> domain::OrderState {
    let milestone = |milestone: &wit::Milestone| match milestone {
        wit::Milestone::Confirmed => domain::Milestone::Confirmed,
        wit::Milestone::Verified => domain::Milestone::Verified,
        wit::Milestone::Paid => domain::Milestone::Paid,
        wit::Milestone::TakenIn => domain::Milestone::TakenIn,
    };
    domain::OrderState {
        name: state.name.clone(),
        meaning: state.meaning.clone(),
        closed: state.closed,
        milestones: state.milestones.iter().map(milestone).collect(),
    }
}

fn step(step: &wit::OrderStep) -> OrderStep {
    let refusal = |refusal: &wit::OrderRefusal| domain::OrderRefusal {
        states: refusal.states.clone(),
        code: refusal.code.clone(),
        text: refusal.text.clone(),
    };
    let deadline = |deadline: &wit::OrderDeadline| domain::OrderDeadline {
        kept: deadline.kept.clone(),
        code: deadline.code.clone(),
        text: deadline.text.clone(),
    };
    let outcome = |outcome: &wit::OrderOutcome| OrderOutcome {
        from: outcome.from.clone(),
        pointer: outcome.pointer.clone(),
        values: outcome.values.clone(),
        state: outcome.state.clone(),
    };
    OrderStep {
        tool: step.tool.clone(),
        opening: match step.opening {
            wit::Opening::Never => domain::Opening::Never,
            wit::Opening::Always => domain::Opening::Always,
            wit::Opening::First => domain::Opening::First,
        },
        states: step.states.clone(),
        refusals: step.refusals.iter().map(refusal).collect(),
        deadlines: step.deadlines.iter().map(deadline).collect(),
        keeps: step.keeps.iter().map(kept_value).collect(),
        outcomes: step.outcomes.iter().map(outcome).collect(),
    }
}

fn kept_value(kept: &wit::KeptValue) -> domain::KeptValue {
    domain::KeptValue {
        name: kept.name.clone(),
        source: match kept.source {
            wit::OrderSource::Option => domain::OrderSource::Option,
            wit::OrderSource::Arguments => domain::OrderSource::Arguments,
            wit::OrderSource::Answer => domain::OrderSource::Answer,
        },
        pointer: kept.pointer.clone(),
        identifies: kept.identifies,
    }
}

#[cfg(test)]
#[path = "way_tests.rs"]
mod tests;
