//! The options of one search on their way through the contract: numbered, so that nothing of their origin shows, and put
//! together again with it afterwards.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::{Answer, DroppedChoice};
use intent_gateway_domain::contract::{
    Axes, Descriptor, DroppedOption, Evaluation, RankedOption, SearchShape, Violation,
};
use intent_gateway_domain::limits::OPTION_ID_MAX_BYTES;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::receipt::{ReceiptCandidate, ReceiptPayload};

/// Which option of which answer a number stands for.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    pub(super) answer: usize,
    pub(super) position: usize,
}

/// A note against an option that stays.
pub(super) struct OptionNote {
    pub(super) partner: Arc<Partner>,
    pub(super) option_id: Option<String>,
    pub(super) violation: Violation,
}

/// The options of one search on their way through the contract: numbered, dropped, noted.
pub(super) struct Sorting<'a> {
    answers: &'a [Answer],
    /// By number.
    origins: Vec<Origin>,
    pub(super) dropped: Vec<DroppedChoice>,
    pub(super) findings: Vec<OptionNote>,
    intent: &'a str,
}

impl<'a> Sorting<'a> {
    /// Numbers what the contract may see; drops what it may not.
    pub(super) fn new(descriptor: &'a Descriptor, answers: &'a [Answer]) -> Self {
        let max_options = usize::try_from(descriptor.search.max_options).unwrap_or(usize::MAX);
        let mut sorting = Self {
            answers,
            origins: Vec::new(),
            dropped: Vec::new(),
            findings: Vec::new(),
            intent: descriptor.intent.as_str(),
        };
        for (index, answer) in answers.iter().enumerate() {
            let Ok(payload) = &answer.result else { continue };
            for (position, option) in payload.options.iter().enumerate() {
                let (strike, violations) = if position >= max_options {
                    (false, vec![too_many(max_options)])
                } else if let Some(violations) = payload.breaches.options.get(&position) {
                    (true, violations.clone())
                } else {
                    sorting.origins.push(Origin { answer: index, position });
                    continue;
                };
                sorting.dropped.push(DroppedChoice {
                    partner: answer.partner.clone(),
                    position,
                    option_id: option_id(option, &descriptor.search),
                    strike,
                    violations,
                });
            }
        }
        sorting
    }

    fn option(&self, origin: &Origin) -> Option<&'a RawValue> {
        let payload = self.answers[origin.answer].result.as_ref().ok()?;
        payload.options.get(origin.position).map(|option| &**option)
    }

    /// What the contract gets and the receipt keeps: per answer, the declared signals and the options under their numbers.
    pub(super) fn payloads(&self) -> Vec<ReceiptPayload> {
        let mut payloads: Vec<(usize, ReceiptPayload)> = Vec::new();
        for (number, origin) in (0_u32..).zip(&self.origins) {
            let Some(option) = self.option(origin) else { continue };
            let candidate = ReceiptCandidate { number, json: option.to_owned() };
            match payloads.last_mut() {
                Some((answer, payload)) if *answer == origin.answer => payload.candidates.push(candidate),
                _ => {
                    let partner = &self.answers[origin.answer].partner;
                    let declared = partner.listing(self.intent).map_or(Axes::UNDECLARED, |listing| listing.declared);
                    let (partner, candidates) = (partner.id.clone(), vec![candidate]);
                    payloads.push((origin.answer, ReceiptPayload { partner, declared, candidates }));
                }
            }
        }
        payloads.into_iter().map(|(_, payload)| payload).collect()
    }

    /// Turns the contract's numbers back into options; its drops and findings join the host's.
    pub(super) fn take_ranked(&mut self, evaluation: Evaluation) -> Vec<(RankedOption, Origin, Box<RawValue>)> {
        let origin = |number: u32| usize::try_from(number).ok().and_then(|number| self.origins.get(number));
        for DroppedOption { number, id, strike, violations } in evaluation.dropped {
            let Some(origin) = origin(number) else { continue };
            self.dropped.push(DroppedChoice {
                partner: self.answers[origin.answer].partner.clone(),
                position: origin.position,
                option_id: id.filter(|id| id.len() <= OPTION_ID_MAX_BYTES),
                strike,
                violations,
            });
        }
        for finding in evaluation.findings {
            let Some(origin) = origin(finding.number) else { continue };
            let id = evaluation.ranked.iter().find(|ranked| ranked.number == finding.number);
            self.findings.push(OptionNote {
                partner: self.answers[origin.answer].partner.clone(),
                option_id: id.map(|ranked| ranked.id.clone()),
                violation: finding.violation,
            });
        }
        let ranked = evaluation.ranked.into_iter().filter_map(|ranked| {
            let origin = *origin(ranked.number)?;
            let option = self.option(&origin)?.to_owned();
            Some((ranked, origin, option))
        });
        ranked.collect()
    }
}

fn too_many(max_options: usize) -> Violation {
    Violation {
        pointer: String::new(),
        code: "TOO_MANY_OPTIONS".to_owned(),
        message: format!("an answer may hold {max_options} options; this one lies beyond"),
    }
}

/// The identifier of an option that the contract never sees.
fn option_id(option: &RawValue, shape: &SearchShape) -> Option<String> {
    let option: serde_json::Value = serde_json::from_str(option.get()).ok()?;
    let id = option.pointer(&shape.id_pointer())?;
    id.as_str().filter(|id| id.len() <= OPTION_ID_MAX_BYTES).map(str::to_owned)
}
