//! The answers of one search on their way through the contract: their options numbered, so that nothing of their origin
//! shows, and put together again with it afterwards.
//!
//! Options are numbered in the order in which answers come, so a number stands for the same option in every ranking of a
//! search that ranks several times. Everything else follows the places of the partners among the chosen: a ranking does
//! not depend on who was quicker.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::value::RawValue;

use super::asking::PartnerAnswer;
use super::price::PriceRule;
use super::{DroppedChoice, SearchError};
use crate::scan::Flaws;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{
    Axes, Descriptor, DroppedOption, Evaluation, OptionFinding, RankedOption, SearchShape, Violation,
};
use intent_gateway_domain::endpoint::UnmappedItem;
use intent_gateway_domain::error::{CallFailure, NotCalled};
use intent_gateway_domain::limits::OPTION_ID_MAX_BYTES;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::pointer::find_in;
use intent_gateway_domain::receipt::{ReceiptCandidate, ReceiptPayload};

/// Which option of which answer a number stands for.
#[derive(Clone, Copy)]
struct Origin {
    place: usize,
    position: usize,
}

/// A finding on an option that stays.
pub(super) struct OptionNote {
    pub(super) partner: Arc<Partner>,
    /// Its position in the partner's payload.
    pub(super) position: usize,
    pub(super) option_id: Option<String>,
    pub(super) violation: Violation,
}

/// An option that the contract has ranked.
pub(super) struct RankedOrigin<'a> {
    pub(super) ranked: RankedOption,
    /// The place of the partner among the chosen.
    pub(super) place: usize,
    pub(super) answer: &'a PartnerAnswer,
    pub(super) option: &'a RawValue,
}

/// One partner's answer, sorted.
struct SortedAnswer {
    answer: PartnerAnswer,
    /// Number and position of each option that the contract may see.
    numbered: Vec<(u32, usize)>,
    /// The options that it may not.
    withheld: Vec<DroppedChoice>,
}

/// What has come of a search so far.
#[derive(Default)]
pub(super) struct GatheredAnswers {
    /// By the partner's place among the chosen.
    answers: BTreeMap<usize, SortedAnswer>,
    /// By number.
    origins: Vec<Origin>,
}

impl GatheredAnswers {
    /// Takes an answer: numbers what the contract may see, and withholds what it may not.
    pub(super) fn add(&mut self, place: usize, answer: PartnerAnswer, descriptor: &Descriptor) {
        let max_options = usize::try_from(descriptor.search.max_options).unwrap_or(usize::MAX);
        let (mut numbered, mut withheld) = (Vec::new(), Vec::new());
        let mut withheld_ids: Vec<String> = Vec::new();
        let payload = answer.result.as_ref().ok();
        if payload.is_some() {
            withheld.extend(answer.unmapped.iter().map(|item| drop_unmapped(&answer.partner, item)));
        }
        for (position, option) in payload.iter().flat_map(|payload| payload.options.iter().enumerate()) {
            let flaws = payload.and_then(|payload| payload.flaws.options.get(&position)).map(Flaws::verdict);
            let (strike, violations) = if position >= max_options {
                (false, vec![too_many(max_options)])
            } else if let Some((strike, violations)) = flaws {
                withheld_ids.extend(option_id(option, &descriptor.search));
                (strike, violations.to_vec())
            } else if is_one_of(&withheld_ids, option, &descriptor.search) {
                // The contract has not seen the first one, so it cannot tell.
                (false, vec![duplicate(&descriptor.search)])
            } else {
                numbered.extend(u32::try_from(self.origins.len()).ok().map(|number| (number, position)));
                self.origins.push(Origin { place, position });
                continue;
            };
            let (partner, option_id) = (answer.partner.clone(), option_id(option, &descriptor.search));
            withheld.push(DroppedChoice { partner, position, option_id, strike, violations });
        }
        self.answers.insert(place, SortedAnswer { answer, numbered, withheld });
    }

    /// How many partners have answered.
    pub(super) fn len(&self) -> usize {
        self.answers.len()
    }

    /// How many options the contract may see.
    pub(super) fn options(&self) -> usize {
        self.origins.len()
    }

    /// Refuses a search that nobody has answered where the gateway itself had no place for a call: to say that there is nothing
    /// would be an answer of partners that were never asked.
    ///
    /// # Errors
    /// [`SearchError::Overloaded`].
    pub(super) fn require_place(&self) -> Result<(), SearchError> {
        let failures: Option<Vec<&CallFailure>> = self.answers().map(|answer| answer.result.as_ref().err()).collect();
        let waits = failures.unwrap_or_default().into_iter().filter_map(|failure| match failure {
            CallFailure::Busy => Some(None),
            CallFailure::NotCalled { why: NotCalled::Crowded, wait_ms } => Some(*wait_ms),
            _ => None,
        });
        match waits.min_by_key(|wait_ms| wait_ms.unwrap_or_default()) {
            Some(wait_ms) => Err(SearchError::Overloaded { wait_ms }),
            None => Ok(()),
        }
    }

    /// Every answer, by place.
    pub(super) fn answers(&self) -> impl Iterator<Item = &PartnerAnswer> {
        self.answers.values().map(|sorted| &sorted.answer)
    }

    /// What the contract gets and the receipt keeps: per answer, the declared signals and the options under their numbers.
    pub(super) fn payloads(&self, intent: &str) -> Vec<ReceiptPayload> {
        let payload = |SortedAnswer { answer, numbered, .. }: &SortedAnswer| {
            let options = &answer.result.as_ref().ok()?.options;
            let candidate = |(number, position): &(u32, usize)| {
                options.get(*position).map(|json| ReceiptCandidate { number: *number, json: json.clone() })
            };
            let candidates: Vec<_> = numbered.iter().filter_map(candidate).collect();
            let declared = answer.partner.listing(intent).map_or(Axes::UNDECLARED, |listing| listing.declared);
            let partner = answer.partner.id.clone();
            (!candidates.is_empty()).then_some(ReceiptPayload { partner, declared, candidates })
        };
        self.answers.values().filter_map(payload).collect()
    }

    /// Until when the last of the options can be booked; none where there are none.
    pub(super) fn bookable_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.answers().filter_map(|answer| answer.result.as_ref().ok()).map(|payload| payload.bookable_until(now)).max()
    }

    /// The options that were ranked, best first, with where they come from.
    pub(super) fn ranked(&self, ranked: Vec<RankedOption>) -> impl Iterator<Item = RankedOrigin<'_>> {
        ranked.into_iter().filter_map(|ranked| {
            let Origin { place, position } = self.origin(ranked.number)?;
            let answer = &self.answers.get(&place)?.answer;
            let option = answer.result.as_ref().ok()?.options.get(position)?;
            Some(RankedOrigin { ranked, place, answer, option })
        })
    }

    /// The options that were taken out: first those that the contract may not see, then those that it has dropped.
    pub(super) fn dropped(&self, dropped: Vec<DroppedOption>) -> Vec<DroppedChoice> {
        let withheld = self.answers.values().flat_map(|sorted| &sorted.withheld).cloned();
        let by_contract = dropped.into_iter().filter_map(|DroppedOption { number, id, strike, violations }| {
            let (answer, position) = self.find(number)?;
            let option_id = id.filter(|id| id.len() <= OPTION_ID_MAX_BYTES);
            Some(DroppedChoice { partner: answer.partner.clone(), position, option_id, strike, violations })
        });
        withheld.chain(by_contract).collect()
    }

    /// The findings on options that stay: the contract's, then those on prices.
    pub(super) fn notes(&self, evaluation: &Evaluation, descriptor: &Descriptor) -> Vec<OptionNote> {
        let by_contract = evaluation.findings.iter().filter_map(|OptionFinding { number, violation }| {
            let ranked = evaluation.ranked.iter().find(|ranked| ranked.number == *number);
            self.note(*number, ranked.map(|ranked| ranked.id.clone()), violation.clone())
        });
        let rules = self.price_rules(descriptor);
        let on_prices = evaluation.ranked.iter().filter_map(|ranked| {
            let Origin { place, position } = self.origin(ranked.number)?;
            let rule = rules.get(&place)?;
            let violation =
                rule.judge(self.answers.get(&place)?.answer.result.as_ref().ok()?.options.get(position)?)?;
            self.note(ranked.number, Some(ranked.id.clone()), violation)
        });
        by_contract.chain(on_prices).collect()
    }

    /// What the prices of each answer are compared with, by place.
    fn price_rules<'a>(&'a self, descriptor: &'a Descriptor) -> BTreeMap<usize, PriceRule<'a>> {
        let Some(pointer) = descriptor.search.price_pointer.as_deref() else { return BTreeMap::new() };
        let rule = |(place, sorted): (&usize, &'a SortedAnswer)| {
            let listing = sorted.answer.partner.listing(descriptor.intent.as_str())?;
            PriceRule::of(pointer, listing).map(|rule| (*place, rule))
        };
        self.answers.iter().filter_map(rule).collect()
    }

    fn note(&self, number: u32, option_id: Option<String>, violation: Violation) -> Option<OptionNote> {
        let (answer, position) = self.find(number)?;
        Some(OptionNote { partner: answer.partner.clone(), position, option_id, violation })
    }

    /// An option as its partner wrote it.
    pub(super) fn option(&self, partner: &Arc<Partner>, position: usize) -> Option<&RawValue> {
        let answer = self.answers().find(|answer| Arc::ptr_eq(&answer.partner, partner))?;
        answer.result.as_ref().ok()?.options.get(position).map(|option| &**option)
    }

    /// The answer that a number's option stands in, and its position there.
    fn find(&self, number: u32) -> Option<(&PartnerAnswer, usize)> {
        let Origin { place, position } = self.origin(number)?;
        self.answers.get(&place).map(|sorted| (&sorted.answer, position))
    }

    fn origin(&self, number: u32) -> Option<Origin> {
        self.origins.get(usize::try_from(number).ok()?).copied()
    }
}

/// An item of a wrapped API's answer that became no option; its position is the one in the API's own array.
fn drop_unmapped(partner: &Arc<Partner>, UnmappedItem { position, reason }: &UnmappedItem) -> DroppedChoice {
    let violation = Violation { pointer: String::new(), code: "ITEM_NOT_MAPPED".to_owned(), message: reason.clone() };
    DroppedChoice {
        partner: partner.clone(),
        position: *position,
        option_id: None,
        strike: false,
        violations: vec![violation],
    }
}

fn too_many(max_options: usize) -> Violation {
    Violation {
        pointer: String::new(),
        code: "TOO_MANY_OPTIONS".to_owned(),
        message: format!("an answer may hold {max_options} options; this one lies beyond"),
    }
}

/// Whether an option has one of these identifiers.
fn is_one_of(ids: &[String], option: &RawValue, shape: &SearchShape) -> bool {
    !ids.is_empty() && option_id(option, shape).is_some_and(|id| ids.contains(&id))
}

fn duplicate(shape: &SearchShape) -> Violation {
    Violation {
        pointer: shape.id_pointer(),
        code: "DUPLICATE_OPTION".to_owned(),
        message: "an earlier option of the same answer has this identifier".to_owned(),
    }
}

/// The identifier of an option that the contract never sees.
fn option_id(option: &RawValue, shape: &SearchShape) -> Option<String> {
    let id: String = serde_json::from_str(find_in(option, &shape.id_pointer())?.get()).ok()?;
    (id.len() <= OPTION_ID_MAX_BYTES).then_some(id)
}
