//! Checks on a contract as a whole: what no type can hold together.

use crate::bindings::{Context, Example, ExampleCall, Expectation, Refusal, Violation};
use crate::contract::{Contract, Intent};
use crate::policy::ToolPolicy;
use crate::shape::{Described, FieldDesc, Kind, ValueDesc};
use crate::{code, engine, example};
use serde_json::Value;
use std::collections::BTreeSet;

/// Longest description of a tool in characters (spec 1, "Tool descriptor").
const MAX_PURPOSE_CHARS: usize = 140;

/// Everything that is inconsistent in a contract, in sentences; empty where all is well.
pub fn problems<C: Contract>() -> Vec<String> {
    let mut found = Vec::new();
    request::<C::Intent>(&mut found);
    tools::<C::Intent>(&mut found);
    tables::<C>(&mut found);
    found.extend(super::go_live::problems::<C::Intent>());
    examples::<C>(&mut found);
    found
}

fn fields(desc: &ValueDesc) -> impl Iterator<Item = &'static FieldDesc> {
    let parts = if let Kind::Object(parts) = desc.kind { parts } else { &[] };
    parts.iter().copied().flatten()
}

/// Whether a shape requires the member that a path of names, joined by `/`, leads to.
fn requires(desc: &ValueDesc, path: &str) -> bool {
    let (name, deeper) = path.split_once('/').map_or((path, None), |(name, deeper)| (name, Some(deeper)));
    fields(desc)
        .any(|field| field.name == name && field.required && deeper.is_none_or(|deeper| requires(&field.value, deeper)))
}

fn request<I: Intent>(found: &mut Vec<String>) {
    let request = <I::Request<'static> as Described>::DESC;
    if !fields(&request)
        .any(|field| field.name == "intent" && field.required && field.bounds.equals == Some(I::ABOUT.intent))
    {
        found.push(format!("The request declares no required `intent` that equals {:?}.", I::ABOUT.intent));
    }
    if !fields(&request).any(|field| field.name == "request_id") {
        found.push("The request declares no `request_id`, which the SDK fills in.".to_owned());
    }
    let item = <I::Item<'static> as Described>::DESC;
    if !requires(&item, I::SEARCH.id_key.trim_start_matches('/')) {
        found.push(format!("The option declares no required {:?}, which names it.", I::SEARCH.id_key));
    }
    if let Some(pointer) = I::SEARCH.price_pointer
        && !pointer.strip_prefix('/').is_some_and(|path| requires(&item, path))
    {
        found.push(format!("The option declares no required {pointer:?}, which is to be its price."));
    }
}

fn tools<I: Intent>(found: &mut Vec<String>) {
    let mut names = BTreeSet::new();
    let mut check = |policy: &ToolPolicy, arguments: &ValueDesc| {
        if !names.insert(policy.name) {
            found.push(format!("There are two tools {:?}.", policy.name));
        }
        found.extend(list_unstated(policy));
        if policy.purpose.chars().count() > MAX_PURPOSE_CHARS {
            found.push(format!("The purpose of {:?} has more than {MAX_PURPOSE_CHARS} characters.", policy.name));
        }
        if policy.idempotency_key.is_some_and(|key| !fields(arguments).any(|field| field.name == key)) {
            found.push(format!("The idempotency key of {:?} is none of its arguments.", policy.name));
        }
    };
    check(&I::SEARCH.policy, &<I::Request<'static> as Described>::DESC);
    for entry in I::TOOLS {
        check(&entry.policy, &entry.arguments);
    }
}

/// What a policy must state and still has from [`ToolPolicy::PLAIN`].
fn list_unstated(policy: &ToolPolicy) -> Option<String> {
    let ToolPolicy { name, purpose, p50_ms, p95_ms, rate_per_minute, .. } = *policy;
    let missing = [
        (name.is_empty(), "name"),
        (purpose.is_empty(), "purpose"),
        (p50_ms == 0, "p50_ms"),
        (p95_ms == 0, "p95_ms"),
        (rate_per_minute == Some(0), "rate_per_minute"),
    ];
    let missing: Vec<_> = missing.into_iter().filter_map(|(is, member)| is.then_some(member)).collect();
    (!missing.is_empty()).then(|| format!("The tool {name:?} does not state {}.", missing.join(", ")))
}

fn tables<C: Contract>(found: &mut Vec<String>) {
    let errors = <C::Intent as Intent>::ERRORS;
    let search = <C::Intent as Intent>::SEARCH;
    let needed = [Some(code::INVALID_REQUEST), Some(code::INTERNAL_ERROR), search.empty_code, search.gone_code];
    for code in needed.into_iter().flatten() {
        if errors.iter().filter(|row| row.code == code).count() != 1 {
            found.push(format!("The error table does not list {code} once."));
        }
    }
    for status in <C::Intent as Intent>::CHARGED {
        if !<C::Intent as Intent>::STATUSES.contains(status) {
            found.push(format!("The charged status {status:?} is none of the statuses."));
        }
    }
    let mut names = BTreeSet::new();
    for vocabulary in engine::vocabularies::<C::Intent>() {
        if !names.insert(vocabulary.name) {
            found.push(format!("Two vocabularies are named {:?}.", vocabulary.name));
        }
    }
    for cue in <C::Intent as Intent>::LEXICON.cues {
        if *cue != cue.to_lowercase() {
            found.push(format!("The cue {cue:?} is not in lower case."));
        }
    }
    for what in <C::Intent as Intent>::LEXICON.unheard() {
        found.push(format!("{what:?} can be said without a cue, so the contract would not be asked."));
    }
    let bands = C::RANKING.bands;
    for (index, band) in bands.iter().enumerate() {
        if bands[..index].iter().any(|other| other.axis == band.axis && other.value == band.value) {
            found.push(format!("The band {:?} of {:?} has two factors.", band.value, band.axis));
        }
    }
}

/// Runs the examples as the host does before it makes a version live.
fn examples<C: Contract>(found: &mut Vec<String>) {
    let examples = C::examples();
    let mut seen = BTreeSet::new();
    for example in &examples {
        if let Err(why) = run::<C>(example) {
            found.push(format!("The example {:?} does not hold: {why}", example.name));
        }
        seen.insert((function(&example.call), example.expect.accepted));
        if let ExampleCall::Evaluate(_) = example.call {
            cards::<C>(example, found);
        }
    }
    for function in ["classify", "check-request", "evaluate", "check-response", "check-completion"] {
        for (accepted, word) in [(true, "accepted"), (false, "refused")] {
            if !seen.contains(&(function, accepted)) {
                found.push(format!("No example of {function} is {word}."));
            }
        }
    }
}

fn function(call: &ExampleCall) -> &'static str {
    match call {
        ExampleCall::Classify(_) => "classify",
        ExampleCall::CheckRequest(_) => "check-request",
        ExampleCall::Evaluate(_) => "evaluate",
        ExampleCall::CheckResponse(_) => "check-response",
        ExampleCall::CheckCompletion(_) => "check-completion",
    }
}

fn context() -> Context {
    Context { request_id: example::REQUEST_ID.to_owned(), now_ms: example::NOW_MS }
}

/// Whether an example holds.
///
/// # Errors
/// A sentence that says what came out instead.
pub fn run<C: Contract>(example: &Example) -> Result<(), String> {
    let context = context();
    let list = |violations: &[Violation]| violations.iter().map(|found| found.code.clone()).collect::<Vec<_>>();
    let refused = |refusal: Refusal| (false, list(&refusal.violations), Vec::new());
    let (accepted, codes, order) = match &example.call {
        ExampleCall::Classify(utterance) => (engine::classify::<C>(utterance, "en-IN").score >= 0.5, vec![], vec![]),
        ExampleCall::CheckRequest(call) => {
            engine::check_request::<C>(&context, &call.tool, call.arguments.clone(), &call.about)
                .map_or_else(refused, |passed| (true, list(&passed.notes), vec![]))
        }
        ExampleCall::Evaluate(call) => engine::evaluate::<C>(&context, &call.request, &call.payloads, &call.history)
            .map_or_else(refused, |passed| {
                let mut codes: Vec<_> = passed.dropped.iter().flat_map(|dropped| list(&dropped.violations)).collect();
                codes.extend(passed.findings.iter().map(|finding| finding.violation.code.clone()));
                (true, codes, passed.ranked.into_iter().map(|option| option.id).collect())
            }),
        ExampleCall::CheckResponse(call) => engine::check_response::<C>(&context, call)
            .map_or_else(refused, |passed| (true, list(&passed.findings), vec![])),
        ExampleCall::CheckCompletion(call) => engine::check_completion::<C>(&context, &call.report, &call.about)
            .map_or_else(refused, |passed| (true, list(&[passed.findings, passed.strikes].concat()), vec![])),
    };
    let Expectation { accepted: expected, codes: wanted, order: wanted_order } = &example.expect;
    if accepted != *expected {
        return Err(format!("accepted is {accepted}, with {codes:?}"));
    }
    if let Some(missing) = wanted.iter().find(|code| !codes.contains(code)) {
        return Err(format!("{missing} is not among {codes:?}"));
    }
    if !wanted_order.is_empty() && *wanted_order != order {
        return Err(format!("the order is {order:?}"));
    }
    Ok(())
}

/// Cards have the keys of the widget, all of them and no other.
fn cards<C: Contract>(example: &Example, found: &mut Vec<String>) {
    let ExampleCall::Evaluate(call) = &example.call else {
        return;
    };
    let Ok(evaluation) = engine::evaluate::<C>(&context(), &call.request, &call.payloads, &call.history) else {
        return;
    };
    let slots: BTreeSet<&str> = <C::Intent as Intent>::WIDGET.slots.iter().map(|slot| slot.name).collect();
    for option in evaluation.ranked {
        let card: Value = serde_json::from_str(&option.card).unwrap_or_default();
        let keys: BTreeSet<&str> = card.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
        if keys != slots {
            found.push(format!("The card of {:?} has the keys {keys:?}, the widget {slots:?}.", option.id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::list_unstated;
    use crate::policy::ToolPolicy;

    #[test]
    fn a_policy_states_what_every_tool_has() {
        let stated =
            ToolPolicy { name: "a", purpose: "b", p50_ms: 1, p95_ms: 2, rate_per_minute: Some(3), ..ToolPolicy::PLAIN };
        assert_eq!(list_unstated(&stated), None);
        assert_eq!(
            list_unstated(&ToolPolicy { p95_ms: 0, rate_per_minute: Some(0), ..stated }),
            Some("The tool \"a\" does not state p95_ms, rate_per_minute.".to_owned())
        );
        assert!(list_unstated(&ToolPolicy::PLAIN).is_some_and(|told| told.contains("name, purpose, p50_ms")));
    }
}
