//! What the interface promises of a result and a type cannot hold. A result that breaks a promise is the
//! contract's fault and never reaches a caller: the host acts on these values.

use intent_gateway_domain::contract::{
    CheckedCompletion, CheckedResponse, Classification, Descriptor, Evaluation, Payload, PreparedRequest, Refusal,
    Violation,
};
use intent_gateway_domain::error::ContractFault;

use crate::instance::shorten;

/// Violations and findings in one result.
const VIOLATIONS_MAX: usize = 10_000;
/// How far outside 0..=1 a score may lie: the rounding of a weighted sum. It is clamped then.
const SCORE_TOLERANCE: f64 = 1e-9;
/// HTTP status that marks an advisory in the error table.
const ADVISORY_STATUS: u16 = 200;

type Checked = Result<(), ContractFault>;

fn broken(what: impl AsRef<str>) -> ContractFault {
    ContractFault::InvalidOutput(shorten(what.as_ref()))
}

fn score(what: &str, value: &mut f64) -> Checked {
    // A NaN fails the comparison and is refused with the rest.
    if *value >= -SCORE_TOLERANCE && *value <= 1.0 + SCORE_TOLERANCE {
        *value = value.clamp(0.0, 1.0);
        Ok(())
    } else {
        Err(broken(format!("{what} is {value}, outside 0..=1")))
    }
}

fn stable_code(code: &str) -> Checked {
    let fits = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    if !code.is_empty() && code.bytes().all(fits) {
        Ok(())
    } else {
        Err(broken(format!("the code `{code}` is not in UPPER_SNAKE_CASE")))
    }
}

/// Checks each violation's code and pointer.
fn each_violation<'a>(violations: impl Iterator<Item = &'a Violation>) -> Checked {
    for (count, violation) in violations.enumerate() {
        if count >= VIOLATIONS_MAX {
            return Err(broken(format!("more than {VIOLATIONS_MAX} violations")));
        }
        stable_code(&violation.code)?;
        if !(violation.pointer.is_empty() || violation.pointer.starts_with('/')) {
            return Err(broken(format!("`{}` is no JSON Pointer", violation.pointer)));
        }
    }
    Ok(())
}

pub(crate) fn refusal(refusal: &Refusal) -> Checked {
    stable_code(&refusal.code)?;
    if refusal.violations.is_empty() {
        return Err(broken("a refusal without violations"));
    }
    each_violation(refusal.violations.iter())
}

pub(crate) fn classification(classification: &mut Classification, descriptor: &Descriptor) -> Checked {
    score("the score of a classification", &mut classification.score)?;
    for pointer in &mut classification.elsewhere {
        score("the score of a pointer elsewhere", &mut pointer.score)?;
    }
    match classification.also.iter().find(|intent| !descriptor.pairs.contains(intent)) {
        Some(intent) => Err(broken(format!("`also` names `{intent}`, which is not among the pairs"))),
        None => Ok(()),
    }
}

pub(crate) fn check_prepared(prepared: &PreparedRequest) -> Checked {
    each_violation(prepared.notes.iter())
}

pub(crate) fn evaluation(evaluation: &mut Evaluation, payloads: &[Payload<'_>]) -> Checked {
    let given = sort(payloads.iter().flat_map(|payload| &payload.candidates).map(|candidate| candidate.number));
    let ranked = evaluation.ranked.iter().map(|option| option.number);
    let answered = sort(ranked.chain(evaluation.dropped.iter().map(|option| option.number)));
    if given != answered {
        return Err(broken("the ranked and dropped options are not the ones that were given, each once"));
    }
    for finding in &evaluation.findings {
        if given.binary_search(&finding.number).is_err() {
            return Err(broken(format!("a finding on option {}, which was not given", finding.number)));
        }
    }
    for option in &mut evaluation.ranked {
        score("a total", &mut option.total)?;
        score("completeness", &mut option.completeness)?;
        let axes = &mut option.axes;
        for value in [&mut axes.time, &mut axes.taste, &mut axes.budget, &mut axes.safety] {
            score("an axis score", value)?;
        }
    }
    if !evaluation.ranked.is_sorted_by(|better, worse| better.total >= worse.total) {
        return Err(broken("the ranked options are not in the order of their totals"));
    }
    if evaluation.dropped.iter().any(|option| option.violations.is_empty()) {
        return Err(broken("an option was dropped without a violation"));
    }
    let dropped = evaluation.dropped.iter().flat_map(|option| &option.violations);
    each_violation(dropped.chain(evaluation.findings.iter().map(|finding| &finding.violation)))
}

fn sort(numbers: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut numbers: Vec<_> = numbers.collect();
    numbers.sort_unstable();
    numbers
}

pub(crate) fn response(response: &CheckedResponse, descriptor: &Descriptor) -> Checked {
    if let Some(code) = &response.advisory {
        let listed = descriptor.error(code).is_some_and(|error| error.http_status == ADVISORY_STATUS);
        if !listed {
            return Err(broken(format!("`{code}` is no advisory of the error table")));
        }
    }
    each_violation(response.findings.iter())
}

pub(crate) fn completion(completion: &CheckedCompletion, descriptor: &Descriptor) -> Checked {
    let rules = &descriptor.completion;
    if !rules.statuses.contains(&completion.status) {
        return Err(broken(format!("the status `{}` is not listed", completion.status)));
    }
    if completion.charged && !rules.charged_statuses.contains(&completion.status) {
        return Err(broken(format!("commission on the status `{}`, which is not charged", completion.status)));
    }
    if completion.amount_paise < 0 {
        return Err(broken("a negative amount"));
    }
    if completion.external_id.is_empty() {
        return Err(broken("an empty external identifier"));
    }
    each_violation(completion.findings.iter().chain(&completion.strikes))
}
