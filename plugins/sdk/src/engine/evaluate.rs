//! `evaluate`: reads, filters, scores and ranks all options of a search.

use super::refusal;
use crate::bindings::{
    self, Axes, Candidate, Context, DroppedOption, Evaluation, Finding, Payload, RankedOption, Refusal, Violation,
};
use crate::card::CardJson as _;
use crate::code;
use crate::contract::{Contract, Intent, SearchItem, SearchRequest};
use crate::json::same_text;
use crate::order::PastOrder;
use crate::ranking::{Place, unit};
use crate::rules::ItemRules;
use crate::shape::{read_document, read_text_member};
use crate::violations::Violations;
use std::borrow::Cow;

/// Validates, filters, scores, ranks all options and maps their cards.
///
/// # Errors
/// `INVALID_REQUEST` when the request is not what `check-request` lets pass.
pub fn evaluate<C: Contract>(
    context: &Context,
    request: &str,
    payloads: &[Payload],
    history: &[bindings::PastOrder],
) -> Result<Evaluation, Refusal> {
    let request: <C::Intent as Intent>::Request<'_> =
        read_document(request).map_err(|violations| refusal(code::INVALID_REQUEST, violations))?;
    let mut sieve = Sieve::<C::Intent>::new(&request, payloads.iter().map(|payload| payload.candidates.len()).sum());
    for (index, payload) in payloads.iter().enumerate() {
        sieve.judge_payload(index, &payload.candidates);
    }
    let Sieve { passed, items, dropped, findings, .. } = sieve;
    let history: Vec<PastOrder<'_>> = history.iter().map(PastOrder::of).collect();
    let scale = C::Intent::scale(&items, &history);
    let ranked = rank::<C>(context, &request, payloads, (&passed, &items), &scale);
    Ok(Evaluation { ranked, dropped, findings })
}

/// An option that passed; its value stands at the same index of [`Sieve::items`].
struct Passed<'a> {
    number: u32,
    payload: usize,
    json: &'a str,
}

/// Sorts options into those that pass and those that are dropped.
struct Sieve<'r, 'q, 'a, I: Intent> {
    request: &'r I::Request<'q>,
    passed: Vec<Passed<'a>>,
    items: Vec<I::Item<'a>>,
    dropped: Vec<DroppedOption>,
    findings: Vec<Finding>,
}

impl<'r, 'q, 'a, I: Intent> Sieve<'r, 'q, 'a, I> {
    fn new(request: &'r I::Request<'q>, capacity: usize) -> Self {
        Self {
            request,
            passed: Vec::with_capacity(capacity),
            items: Vec::with_capacity(capacity),
            dropped: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Judges the options of one payload. The host has cut them to the search's greatest number.
    fn judge_payload(&mut self, payload: usize, candidates: &'a [Candidate]) {
        let (first_item, first_dropped) = (self.items.len(), self.dropped.len());
        for Candidate { number, json } in candidates {
            match read_document::<I::Item<'a>>(json) {
                Ok(item) => {
                    let id = item.id();
                    // A broken option, too, is the first of its identifier.
                    let is_known = self.items[first_item..].iter().any(|other| same_text(other.id(), id))
                        || self.dropped[first_dropped..]
                            .iter()
                            .any(|other| other.id.as_deref().is_some_and(|other| same_text(other, id)));
                    if is_known {
                        self.drop_duplicate(*number, item.id().to_owned());
                    } else {
                        self.apply_rules(Passed { number: *number, payload, json }, item);
                    }
                }
                Err(violations) => {
                    let id = read_text_member(json, I::SEARCH.id_key).map(Cow::into_owned);
                    self.dropped.push(DroppedOption { number: *number, id, strike: false, violations });
                }
            }
        }
    }

    fn drop_duplicate(&mut self, number: u32, id: String) {
        let mut violations = Violations::new();
        violations.add(
            I::SEARCH.id_pointer(),
            code::DUPLICATE_OPTION,
            "An earlier option of the same answer has this identifier.",
        );
        self.dropped.push(DroppedOption { number, id: Some(id), strike: false, violations: violations.into_list() });
    }

    fn apply_rules(&mut self, passed: Passed<'a>, item: I::Item<'a>) {
        let mut rules = ItemRules::new();
        I::item_rules(self.request, &item, &mut rules);
        let number = passed.number;
        if rules.drops.is_empty() {
            let findings = rules.findings.into_list().into_iter();
            self.findings.extend(findings.map(|violation: Violation| Finding { number, violation }));
            self.passed.push(passed);
            self.items.push(item);
        } else {
            let id = Some(item.id().to_owned());
            let violations = rules.drops.into_list();
            self.dropped.push(DroppedOption { number, id, strike: rules.strike, violations });
        }
    }
}

fn rank<'a, C: Contract>(
    context: &Context,
    request: &<C::Intent as Intent>::Request<'_>,
    payloads: &[Payload],
    (passed, items): (&[Passed<'a>], &[<C::Intent as Intent>::Item<'a>]),
    scale: &<C::Intent as Intent>::Scale,
) -> Vec<RankedOption> {
    let ranking = &C::RANKING;
    let weights = ranking.weights_for(&request.bands());
    let mut scored = Vec::with_capacity(items.len());
    for (option, item) in passed.iter().zip(items) {
        let rules = C::Intent::score(request, item, scale);
        let axes = ranking.blend(&rules, &payloads[option.payload].declared);
        let completeness = unit(item.completeness());
        let place = Place::new(ranking.total(&weights, &axes, completeness), option.json);
        scored.push(Scored { option, item, place, axes, completeness });
    }
    // References are sorted, and an answer is made once, in its place.
    let mut in_order: Vec<&Scored<'_, '_, C::Intent>> = scored.iter().collect();
    in_order.sort_by(|left, right| left.place.cmp(&right.place, &context.request_id));
    in_order.into_iter().map(Scored::answer).collect()
}

/// An option that passed, with what it is ranked by.
struct Scored<'s, 'a, I: Intent> {
    option: &'s Passed<'a>,
    item: &'s I::Item<'a>,
    place: Place<'a>,
    axes: Axes,
    completeness: f64,
}

impl<I: Intent> Scored<'_, '_, I> {
    fn answer(&self) -> RankedOption {
        RankedOption {
            number: self.option.number,
            id: self.item.id().to_owned(),
            total: self.place.total,
            axes: self.axes,
            completeness: self.completeness,
            card: I::card(self.item).to_json(),
        }
    }
}
