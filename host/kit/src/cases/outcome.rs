//! What a call found, in a form in which it can be compared with what a case expects.

use std::fmt;

use intent_gateway_domain::contract::{Axes, CallContext, Candidate, Exchange, PastOrder, Payload, Violation};
use intent_gateway_domain::error::{ContractError, ContractFault};
use intent_gateway_domain::ports::Contract;

use super::document::{Documents, read_history};
use super::format::{Call, CaseFile, Found, Rule};

/// Everything that a call may find.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CallFindings {
    /// Code of the refusal itself; `None` where an option was dropped or nothing was refused.
    pub(super) code: Option<String>,
    pub(super) refused: Vec<Found>,
    pub(super) findings: Vec<Found>,
    pub(super) notes: Vec<Found>,
    pub(super) advisory: Option<String>,
    pub(super) strike: bool,
    /// Findings of a report that count towards suspension.
    pub(super) strikes: Vec<Found>,
    /// What is said of lateness, in minutes. `None` where a case does not ask, and where nothing was judged that
    /// could say it.
    pub(super) late_minutes: Option<Option<i32>>,
}

impl CallFindings {
    /// A refusal for one thing.
    pub(super) fn refused_for(pointer: &str, code: &str) -> Self {
        Self { refused: vec![(pointer.to_owned(), code.to_owned())], ..Self::default() }
    }

    /// Whether this is what was expected; order does not matter, and the refusal's own code and lateness only where
    /// they are given.
    pub(super) fn meets(&self, expected: &Self) -> bool {
        let same = |left: &[Found], right: &[Found]| {
            let sorted = |list: &[Found]| {
                let mut list = list.to_vec();
                list.sort();
                list
            };
            sorted(left) == sorted(right)
        };
        same(&self.refused, &expected.refused)
            && same(&self.findings, &expected.findings)
            && same(&self.notes, &expected.notes)
            && self.advisory == expected.advisory
            && self.strike == expected.strike
            && same(&self.strikes, &expected.strikes)
            && (expected.code.is_none() || self.code == expected.code)
            && (expected.late_minutes.is_none() || self.late_minutes == expected.late_minutes)
    }
}

impl From<&Rule> for CallFindings {
    fn from(rule: &Rule) -> Self {
        Self {
            code: rule.code.clone(),
            refused: rule.refused.clone(),
            findings: rule.findings.clone(),
            notes: rule.notes.clone(),
            advisory: rule.advisory.clone(),
            strike: rule.strike,
            strikes: rule.strikes.clone(),
            late_minutes: rule.late_minutes,
        }
    }
}

impl fmt::Display for CallFindings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        let mut list = |what: &str, found: &[Found]| {
            parts.extend(found.iter().map(|(pointer, code)| format!("{what} {code} at `{pointer}`")));
        };
        list("refused:", &self.refused);
        list("finding:", &self.findings);
        list("strike:", &self.strikes);
        list("note:", &self.notes);
        parts.extend(self.code.iter().map(|code| format!("refusal {code}")));
        parts.extend(self.advisory.iter().map(|code| format!("advisory {code}")));
        if self.strike {
            parts.push("a strike".to_owned());
        }
        if parts.is_empty() {
            parts.push("accepted, nothing found".to_owned());
        }
        parts.extend(self.late_minutes.map(|said| match said {
            Some(minutes) => format!("{minutes} minutes late"),
            None => "no lateness".to_owned(),
        }));
        f.write_str(&parts.join(", "))
    }
}

/// Calls the contract with the documents of one case.
///
/// # Errors
/// In words, when the contract failed, or refused what the case takes for granted.
pub(super) async fn call(
    contract: &dyn Contract,
    context: &CallContext,
    file: &CaseFile,
    documents: &Documents,
) -> Result<CallFindings, String> {
    let search = &contract.descriptor().search.tool;
    let tool = file.tool.as_deref().unwrap_or(search);
    let sample = documents.sample.to_string();
    let subject = documents.subject()?;
    let about = subject.about();
    let judged = match file.call {
        Call::CheckRequest => contract
            .check_request(context, tool, &sample, about)
            .await
            .map(|passed| CallFindings { notes: list_found(passed.notes), ..CallFindings::default() }),
        Call::Evaluate => {
            let history = read_history(&file.history)?;
            return evaluate(contract, context, (&documents.request.to_string(), &history), &sample).await;
        }
        Call::CheckResponse => {
            let arguments = documents.arguments.to_string();
            let exchange = Exchange { tool, arguments: &arguments, payload: &sample, about };
            contract.check_response(context, exchange).await.map(|passed| CallFindings {
                findings: list_found(passed.findings),
                advisory: passed.advisory,
                ..CallFindings::default()
            })
        }
        Call::CheckCompletion => contract.check_completion(context, &sample, about).await.map(|passed| CallFindings {
            findings: list_found(passed.findings),
            strikes: list_found(passed.strikes),
            late_minutes: Some(passed.late_minutes),
            ..CallFindings::default()
        }),
        Call::Classify => return Err("utterances have no document".to_owned()),
    };
    match judged {
        Ok(outcome) => Ok(outcome),
        Err(ContractError::Refused(refusal)) => Ok(CallFindings {
            code: Some(refusal.code),
            refused: list_found(refusal.violations),
            ..CallFindings::default()
        }),
        Err(ContractError::Fault(fault)) => Err(describe_fault(&fault)),
    }
}

async fn evaluate(
    contract: &dyn Contract,
    context: &CallContext,
    (request, history): (&str, &[PastOrder]),
    option: &str,
) -> Result<CallFindings, String> {
    let candidates = vec![Candidate { number: 0, json: option }];
    let payloads = [Payload { declared: Axes::UNDECLARED, candidates }];
    let evaluation = contract.evaluate(context, request, &payloads, history).await;
    let evaluation = evaluation.map_err(|error| refused_request(&error))?;
    let findings = list_found(evaluation.findings.into_iter().map(|finding| finding.violation));
    Ok(match evaluation.dropped.into_iter().next() {
        Some(dropped) => CallFindings {
            refused: list_found(dropped.violations),
            strike: dropped.strike,
            findings,
            ..CallFindings::default()
        },
        None => CallFindings { findings, ..CallFindings::default() },
    })
}

/// Why a search could not be evaluated at all.
pub(super) fn refused_request(error: &ContractError) -> String {
    match error {
        ContractError::Fault(fault) => describe_fault(fault),
        ContractError::Refused(refusal) => {
            let first = refusal.violations.first();
            let why = first.map_or(String::new(), |first| format!(": {} at `{}`", first.code, first.pointer));
            format!("the request itself was refused{why}")
        }
    }
}

pub(super) fn describe_fault(fault: &ContractFault) -> String {
    format!("the contract failed with {}: {}", fault.code(), fault.explain())
}

fn list_found(violations: impl IntoIterator<Item = Violation>) -> Vec<Found> {
    violations.into_iter().map(|violation| (violation.pointer, violation.code)).collect()
}
