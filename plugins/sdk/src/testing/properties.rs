//! Properties that hold for every ranking, to be tried by a contract's property tests on options of its own making.
//!
//! Each returns what is wrong in words, so that it fits any test framework.

use crate::bindings::{Axes, Candidate, Context, Evaluation, Payload};
use crate::contract::{Contract, Intent};
use crate::engine;
use serde_json::Value;

/// Sums of floats may differ in their last digits.
const ROUNDING: f64 = 1e-12;

/// What the sources of all options declare of themselves: no two axes alike, so that one taken for another shows.
pub const DECLARED: Axes = Axes { time: 0.9, taste: 0.4, budget: 0.6, safety: 0.7 };

/// A way to make one signal of an option better and leave the others as they are, with its name.
pub type Improvement = (&'static str, fn(&mut Value));

/// Moves a number by a step, within bounds.
///
/// # Panics
/// When there is no number at the place.
pub fn shift(option: &mut Value, pointer: &str, step: f64, low: f64, high: f64) {
    let found = option.pointer(pointer).and_then(Value::as_f64);
    let value = found.map(|number| (number + step).clamp(low, high));
    match (option.pointer_mut(pointer), value) {
        (Some(place), Some(value)) if value.fract() == 0.0 => *place = Value::from(value as i64),
        (Some(place), Some(value)) => *place = Value::from(value),
        _ => panic!("the option has no number at {pointer}"),
    }
}

/// Evaluates the options of several payloads; they are numbered from 1 in their order.
///
/// # Panics
/// When the request is refused; it has to be a sound one.
pub fn evaluate<C: Contract>(request: &Value, payloads: &[Vec<Value>]) -> Evaluation {
    let mut numbers = 1_u32..;
    let payloads: Vec<Payload> = payloads
        .iter()
        .map(|options| Payload {
            declared: DECLARED,
            candidates: options
                .iter()
                .zip(numbers.by_ref())
                .map(|(option, number)| Candidate { number, json: option.to_string() })
                .collect(),
        })
        .collect();
    let context = Context { request_id: "r-1".to_owned(), now_ms: 0 };
    match engine::evaluate::<C>(&context, &request.to_string(), &payloads, &[]) {
        Ok(evaluation) => evaluation,
        Err(refusal) => panic!("the request is refused: {refusal:?}"),
    }
}

/// Identifiers of the ranked options, best first.
pub fn ids(evaluation: &Evaluation) -> Vec<String> {
    evaluation.ranked.iter().map(|option| option.id.clone()).collect()
}

/// Whoever was behind an option stays behind it when one of its signals gets better, and its total does not fall.
///
/// # Errors
/// Which improvement does otherwise. All options must pass the rules, before and after.
pub fn better_never_ranks_lower<C: Contract>(
    request: &Value,
    options: &[Value],
    which: usize,
    improvements: &[Improvement],
) -> Result<(), String> {
    let before = evaluate::<C>(request, &[options.to_vec()]);
    if before.ranked.len() != options.len() {
        return Err(format!("options are dropped: {:?}", before.dropped));
    }
    let id = id_of::<C>(&options[which]);
    let before_total = total(&before, &id)?;
    for (what, improve) in improvements {
        let mut better = options.to_vec();
        improve(&mut better[which]);
        let after = evaluate::<C>(request, &[better]);
        let after_total = total(&after, &id)?;
        if after_total < before_total - ROUNDING {
            return Err(format!("{what}: the total falls from {before_total} to {after_total}"));
        }
        for option in before.ranked.iter().filter(|option| option.id != id && option.total < before_total) {
            if total(&after, &option.id)? >= after_total + ROUNDING {
                return Err(format!("{what}: {} overtakes {id}", option.id));
            }
        }
    }
    Ok(())
}

/// The ranking is the same however the options are ordered and divided between sources that declare the same.
///
/// # Errors
/// How it differs.
pub fn order_and_grouping_do_not_matter<C: Contract>(
    request: &Value,
    options: &[Value],
    shuffle: u64,
    split: usize,
) -> Result<(), String> {
    let expected = evaluate::<C>(request, &[options.to_vec()]);
    let mut other = options.to_vec();
    let mut seed = shuffle;
    for index in (1..other.len()).rev() {
        // A linear congruential generator (Knuth's MMIX constants) is random enough to shuffle with.
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        other.swap(index, (seed >> 33) as usize % (index + 1));
    }
    let (left, right) = other.split_at(split.min(other.len()));
    let found = evaluate::<C>(request, &[right.to_vec(), Vec::new(), left.to_vec()]);
    if ids(&found) != ids(&expected) {
        return Err(format!("{:?} in one order, {:?} in another", ids(&expected), ids(&found)));
    }
    for (found, expected) in found.ranked.iter().zip(&expected.ranked) {
        if (found.total, &found.axes, &found.card) != (expected.total, &expected.axes, &expected.card) {
            return Err(format!("{found:?} in one order, {expected:?} in another"));
        }
    }
    Ok(())
}

/// Every score lies in 0..=1, the order follows the totals, and the same input gives the same output twice.
///
/// # Errors
/// What does not hold.
pub fn scores_are_shares_and_the_same_twice<C: Contract>(request: &Value, options: &[Value]) -> Result<(), String> {
    let first = evaluate::<C>(request, &[options.to_vec()]);
    for option in &first.ranked {
        let Axes { time, taste, budget, safety } = option.axes;
        let all = [option.total, option.completeness, time, taste, budget, safety];
        if !all.into_iter().all(|score| (0.0..=1.0).contains(&score)) {
            return Err(format!("a score of {} is no share: {all:?}", option.id));
        }
    }
    if !first.ranked.is_sorted_by(|left, right| left.total >= right.total) {
        return Err(format!("the order does not follow the totals: {:?}", ids(&first)));
    }
    let second = evaluate::<C>(request, &[options.to_vec()]);
    if first == second { Ok(()) } else { Err(format!("{first:?} at first, then {second:?}")) }
}

/// Options that differ in nothing but their identifiers are ordered by the request and not by their place.
///
/// # Errors
/// How the order depends on the place.
pub fn ties_do_not_follow_the_place<C: Contract>(request: &Value, option: &Value) -> Result<(), String> {
    let equal: Vec<Value> = ["a", "b", "c", "d"].map(|id| with_id::<C>(option, id)).to_vec();
    let forward = evaluate::<C>(request, std::slice::from_ref(&equal));
    let apart: Vec<Vec<Value>> = equal.iter().rev().map(|option| vec![option.clone()]).collect();
    let backward = evaluate::<C>(request, &apart);
    if forward.ranked.len() != equal.len() {
        return Err(format!("options are dropped: {:?}", forward.dropped));
    }
    if ids(&forward) == ids(&backward) { Ok(()) } else { Err(format!("{:?}, {:?}", ids(&forward), ids(&backward))) }
}

/// An option under another identifier.
///
/// # Panics
/// When the option has no identifier.
pub fn with_id<C: Contract>(option: &Value, id: &str) -> Value {
    let mut option = option.clone();
    match option.pointer_mut(&<C::Intent as Intent>::SEARCH.id_pointer()) {
        Some(place) => *place = Value::String(id.to_owned()),
        None => panic!("the option has no {}", <C::Intent as Intent>::SEARCH.id_pointer()),
    }
    option
}

fn id_of<C: Contract>(option: &Value) -> String {
    let id = option.pointer(&<C::Intent as Intent>::SEARCH.id_pointer()).and_then(Value::as_str);
    id.unwrap_or_default().to_owned()
}

fn total(evaluation: &Evaluation, id: &str) -> Result<f64, String> {
    let option = evaluation.ranked.iter().find(|option| option.id == id);
    option.map(|option| option.total).ok_or_else(|| format!("{id} is dropped: {:?}", evaluation.dropped))
}
