//! The section of the partners' page on the way of an order: which tool is called when, and what is kept.

use intent_gateway_domain::contract::{
    Descriptor, KeptValue, Milestone, Opening, OrderOutcome, OrderSource, OrderStep, OrderWay,
};

use super::{Markdown, quote_names};

/// Writes the section; nothing for an intent that orders nothing.
pub(super) fn section(page: &mut Markdown, descriptor: &Descriptor) {
    let Some(way) = &descriptor.order else { return };
    page.heading(2, "The way of an order");
    page.paragraph(
        "From the call that opens it to its completion report the platform keeps an order, and it calls no tool out of its \
         turn: what the last table names is refused before you are called. A call that is repeated under its key is made \
         again in any state.",
    );
    let states = way.states.iter().map(|state| {
        let milestones: Vec<_> = state.milestones.iter().copied().map(milestone).collect();
        let closed = if state.closed { "yes" } else { "no" };
        [format!("`{}`", state.name), state.meaning.clone(), milestones.join(", "), closed.to_owned()]
    });
    page.table(["State", "Meaning", "The order is", "Closed"], &states.collect::<Vec<_>>());
    page.table(["Tool", "Called", "Until", "Leads to"], &way.steps.iter().map(step).collect::<Vec<_>>());
    let kept = way.steps.iter().flat_map(|step| step.keeps.iter().map(|kept| kept_row(step, kept)));
    page.table(["Kept", "From", "You know the order by it"], &kept.collect::<Vec<_>>());
    if way.steps.iter().any(|step| step.keeps.iter().any(|kept| kept.identifies)) {
        page.paragraph(
            "A completion report is matched with its order by what you know it by. Where the arguments of a later tool have a \
             member of that name, the platform fills it in.",
        );
    }
    if !way.history.is_empty() {
        page.paragraph(&format!(
            "Once a completion report has closed an order, the ranking of the user's later searches is told of it: the status \
             of the report, when it came, and {}. It is not told that the order was yours.",
            quote_names(&way.history)
        ));
    }
    money(page, way);
    let refused = way.steps.iter().flat_map(refusals);
    page.table(["Tool", "Refused", "Code", "Why"], &refused.collect::<Vec<_>>());
}

#[must_use]
pub fn milestone(milestone: Milestone) -> &'static str {
    match milestone {
        Milestone::Confirmed => "confirmed",
        Milestone::Verified => "verified",
        Milestone::Paid => "paid",
        Milestone::TakenIn => "taken in",
    }
}

fn step(step: &OrderStep) -> [String; 4] {
    let until = step.deadlines.iter().map(|deadline| format!("`{}`", deadline.kept)).collect::<Vec<_>>();
    let until = if until.is_empty() { "any time".to_owned() } else { until.join(", ") };
    let outcomes = step.outcomes.iter().map(outcome).collect::<Vec<_>>();
    let leads_to = if outcomes.is_empty() { "the same state".to_owned() } else { outcomes.join("; ") };
    [format!("`{}`", step.tool), say_when_called(step), until, leads_to]
}

/// When a tool is called.
#[must_use]
pub fn say_when_called(step: &OrderStep) -> String {
    let within = (!step.states.is_empty()).then(|| format!("in {}", quote_names(&step.states)));
    let opens = match step.opening {
        Opening::Never => None,
        Opening::Always => Some("to open an order".to_owned()),
        Opening::First => Some("to open an order, where none of the same option is open".to_owned()),
    };
    opens.into_iter().chain(within).collect::<Vec<_>>().join("; ")
}

fn outcome(outcome: &OrderOutcome) -> String {
    let from = (!outcome.from.is_empty()).then(|| format!(" from {}", quote_names(&outcome.from)));
    let where_answered =
        outcome.pointer.as_ref().map(|pointer| format!(" where `{pointer}` is {}", quote_names(&outcome.values)));
    format!("`{}`{}{}", outcome.state, from.unwrap_or_default(), where_answered.unwrap_or_default())
}

fn kept_row(step: &OrderStep, kept: &KeptValue) -> [String; 3] {
    let document = match kept.source {
        OrderSource::Option => "the option that was ordered".to_owned(),
        OrderSource::Arguments => format!("the arguments of `{}`", step.tool),
        OrderSource::Answer => format!("the answer of `{}`", step.tool),
    };
    let identifies = if kept.identifies { "yes" } else { "no" };
    [format!("`{}`", kept.name), format!("`{}` of {document}", kept.pointer), identifies.to_owned()]
}

fn money(page: &mut Markdown, way: &OrderWay) {
    let amount = match &way.amount {
        Some(kept) => format!("What the user pays in all is `{kept}`, in INR."),
        None => "What the user pays in all is the price of the option.".to_owned(),
    };
    let due = match &way.due_after {
        Some(kept) => format!("A completion report is due after `{kept}`."),
        None => "A completion report is due as soon as the user has paid.".to_owned(),
    };
    page.paragraph(&format!("{amount} {due}"));
}

fn refusals(step: &OrderStep) -> Vec<[String; 4]> {
    let row =
        |when: String, code: &str, why: &str| [format!("`{}`", step.tool), when, format!("`{code}`"), why.to_owned()];
    let states = step.refusals.iter().map(|refusal| {
        let when = refusal.states.iter().map(|state| match state.as_str() {
            "none" => "without an order".to_owned(),
            state => format!("in `{state}`"),
        });
        row(when.collect::<Vec<_>>().join(", "), &refusal.code, &refusal.text)
    });
    let deadlines =
        step.deadlines.iter().map(|deadline| row(format!("after `{}`", deadline.kept), &deadline.code, &deadline.text));
    let others = (!step.states.is_empty())
        .then(|| row("in any other state".to_owned(), "INVALID_REQUEST", "It is not the tool's turn."));
    states.chain(deadlines).chain(others).collect()
}
