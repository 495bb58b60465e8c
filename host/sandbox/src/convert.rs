//! From the component's types to the domain's, and back. Values that break a promise of the interface are
//! found in `checks`; here is only what a type cannot hold: JSON text that is none.

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract as domain;
use intent_gateway_domain::error::ContractFault;
use intent_gateway_domain::plain_text;
use serde_json::value::RawValue;

use crate::bindings as wit;

/// Takes JSON text over as it is, if it is an object.
pub(crate) fn json_object(what: &str, text: String) -> Result<Box<RawValue>, ContractFault> {
    match RawValue::from_string(text) {
        Ok(raw) if raw.get().starts_with('{') => Ok(raw),
        Ok(_) => Err(ContractFault::InvalidOutput(format!("{what} is no JSON object"))),
        Err(_) => Err(ContractFault::InvalidOutput(format!("{what} is no JSON"))),
    }
}

pub(crate) fn context(context: &domain::CallContext) -> wit::Context<'_> {
    wit::Context { request_id: &context.request_id, now_ms: context.now.as_ms() }
}

/// The answered calls of the order that a call is about; [`subject`] and [`exchange`] borrow them.
pub(crate) fn answered(about: domain::About<'_>) -> Vec<wit::AnsweredCallParam<'_>> {
    let answered = about.order.map_or(&[][..], |order| order.answered.as_slice());
    answered.iter().map(|call| wit::AnsweredCallParam { tool: &call.tool, at_ms: call.at_ms.as_ms() }).collect()
}

/// What a call is about; `answered` is what [`answered`] made of it.
pub(crate) fn subject<'a>(
    about: domain::About<'a>,
    answered: &'a [wit::AnsweredCallParam<'a>],
) -> wit::SubjectParam<'a> {
    let order = about.order.map(|order| wit::OrderViewParam {
        state: &order.state,
        opened_at_ms: order.opened_at.as_ms(),
        kept: &order.kept,
        answered,
    });
    wit::SubjectParam { quoted: about.quoted, order }
}

/// A call and its answer; `answered` is what [`answered`] made of what it is about.
pub(crate) fn exchange<'a>(
    exchange: domain::Exchange<'a>,
    answered: &'a [wit::AnsweredCallParam<'a>],
) -> wit::ExchangeParam<'a> {
    wit::ExchangeParam {
        tool: exchange.tool,
        arguments: exchange.arguments,
        payload: exchange.payload,
        about: subject(exchange.about, answered),
    }
}

/// What an example is about, as the domain keeps it.
pub(crate) fn kept_subject(about: &wit::SubjectResult) -> domain::Subject {
    let order = about.order.as_ref().map(|order| domain::OrderView {
        state: order.state.clone(),
        opened_at: Timestamp::from_ms(order.opened_at_ms),
        kept: order.kept.clone(),
        answered: order
            .answered
            .iter()
            .map(|call| domain::AnsweredCall { tool: call.tool.clone(), at_ms: Timestamp::from_ms(call.at_ms) })
            .collect(),
    });
    domain::Subject { quoted: about.quoted.clone(), order }
}

/// The candidates of all payloads, in order; `payloads` cuts them up again.
pub(crate) fn candidates<'a>(payloads: &[domain::Payload<'a>]) -> Vec<wit::CandidateParam<'a>> {
    payloads
        .iter()
        .flat_map(|payload| &payload.candidates)
        .map(|candidate| wit::CandidateParam { number: candidate.number, json: candidate.json })
        .collect()
}

pub(crate) fn payloads<'a>(
    payloads: &[domain::Payload<'_>],
    mut candidates: &'a [wit::CandidateParam<'a>],
) -> Vec<wit::PayloadParam<'a>> {
    payloads
        .iter()
        .map(|payload| {
            let (own, rest) = candidates.split_at(payload.candidates.len());
            candidates = rest;
            let domain::Axes { time, taste, budget, safety } = payload.declared;
            wit::PayloadParam { declared: wit::Axes { time, taste, budget, safety }, candidates: own }
        })
        .collect()
}

/// Past orders; `attributes` are those of each, as text.
pub(crate) fn past_orders<'a>(
    history: &'a [domain::PastOrder],
    attributes: &'a [String],
) -> Vec<wit::PastOrderParam<'a>> {
    let past = history.iter().zip(attributes).map(|(past, attributes)| wit::PastOrderParam {
        status: &past.status,
        closed_at_ms: past.closed_at_ms.as_ms(),
        attributes,
    });
    past.collect()
}

/// The past orders of an example, as the domain keeps them.
///
/// # Errors
/// Attributes that are no JSON object.
pub(crate) fn kept_history(history: &[wit::PastOrderResult]) -> Result<Vec<domain::PastOrder>, serde_json::Error> {
    let past = history.iter().map(|past| {
        Ok(domain::PastOrder {
            status: past.status.clone(),
            closed_at_ms: Timestamp::from_ms(past.closed_at_ms),
            attributes: serde_json::from_str(&past.attributes)?,
        })
    });
    past.collect()
}

pub(crate) fn axes(axes: wit::Axes) -> domain::Axes {
    domain::Axes { time: axes.time, taste: axes.taste, budget: axes.budget, safety: axes.safety }
}

pub(crate) fn violation(violation: wit::Violation) -> domain::Violation {
    domain::Violation { pointer: violation.pointer, code: violation.code, message: violation.message }
}

pub(crate) fn violations(violations: Vec<wit::Violation>) -> Vec<domain::Violation> {
    violations.into_iter().map(violation).collect()
}

pub(crate) fn refusal(refusal: wit::Refusal) -> domain::Refusal {
    domain::Refusal { code: refusal.code, violations: violations(refusal.violations) }
}

pub(crate) fn classification(classification: wit::Classification) -> domain::Classification {
    let elsewhere = classification.elsewhere.into_iter().map(|pointer| domain::PointerElsewhere {
        intent: pointer.intent,
        score: pointer.score,
        reason: pointer.reason,
    });
    domain::Classification {
        score: classification.score,
        evidence: classification.evidence,
        elsewhere: elsewhere.collect(),
        also: classification.also,
    }
}

pub(crate) fn check_prepared(prepared: wit::PreparedRequest) -> Result<domain::PreparedRequest, ContractFault> {
    let wit::Need { city, postal_code, from_ms, until_ms } = prepared.need;
    Ok(domain::PreparedRequest {
        arguments: json_object("`arguments`", prepared.arguments)?,
        need: domain::Need { city, postal_code, from_ms, until_ms },
        notes: violations(prepared.notes),
    })
}

pub(crate) fn evaluation(evaluation: wit::Evaluation) -> Result<domain::Evaluation, ContractFault> {
    let ranked = evaluation.ranked.into_iter().map(|option| {
        Ok(domain::RankedOption {
            number: option.number,
            id: option.id,
            total: option.total,
            axes: axes(option.axes),
            completeness: option.completeness,
            card: plain_text::card(json_object("a card", option.card)?),
        })
    });
    let dropped = evaluation.dropped.into_iter().map(|option| domain::DroppedOption {
        number: option.number,
        id: option.id,
        strike: option.strike,
        violations: violations(option.violations),
    });
    let findings = evaluation
        .findings
        .into_iter()
        .map(|finding| domain::OptionFinding { number: finding.number, violation: violation(finding.violation) });
    Ok(domain::Evaluation {
        ranked: ranked.collect::<Result<_, _>>()?,
        dropped: dropped.collect(),
        findings: findings.collect(),
    })
}

pub(crate) fn response(response: wit::CheckedResponse) -> domain::CheckedResponse {
    domain::CheckedResponse {
        reference: response.reference,
        advisory: response.advisory,
        findings: violations(response.findings),
    }
}

pub(crate) fn completion(completion: wit::CheckedCompletion) -> domain::CheckedCompletion {
    domain::CheckedCompletion {
        external_id: completion.external_id,
        request_id: completion.request_id,
        status: completion.status,
        amount_paise: completion.amount_paise,
        charged: completion.charged,
        late_minutes: completion.late_minutes,
        findings: violations(completion.findings),
        strikes: violations(completion.strikes),
    }
}
