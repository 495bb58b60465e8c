//! One sample of a check: what was asked, what passed, and what was found in the partner's answer.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::search::{PartnerStatus, SearchOutcome};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::error_text::ErrorText;
use intent_gateway_domain::findings::{Finding, Severity, cut};
use intent_gateway_domain::golive::{
    FOUND_MAX_PER_REPORT, FOUND_MAX_PER_SAMPLE, FOUND_TEXT_MAX_CHARS, SampleError, SampleFinding, SampleResult,
};
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{Journal, PartnerCalls, ToolAnswer, ToolCall};
use intent_gateway_domain::receipt::Receipt;
use intent_gateway_domain::user::User;

/// What one sample search showed.
pub(super) struct Sample {
    /// The request as it was given.
    pub(super) request: Value,
    /// The options that passed, each with its identifier.
    pub(super) options: Vec<(String, Value)>,
    dropped: usize,
    /// How often each code was recorded.
    pub(super) breaches: BTreeMap<String, usize>,
    /// How often each rule was broken in a way that would be a strike.
    pub(super) strikes: BTreeMap<String, usize>,
    found: Vec<SampleFinding>,
    pub(super) elapsed: Duration,
    error: Option<SampleError>,
}

impl Sample {
    /// Of a search that was made with a request; `found` is what it recorded, and `sent` what the partner wrote in place of
    /// an answer.
    pub(super) fn of(request: &str, outcome: &SearchOutcome, found: Vec<Finding>, sent: Option<String>) -> Self {
        // The contract took the request and the host the options, so all of them are JSON.
        let parse = |json: &str| serde_json::from_str(json).unwrap_or(Value::Null);
        let options = outcome.options.iter().map(|one| (one.ranked.id.clone(), parse(one.option.get())));
        let partner = outcome.partners.first();
        let error = partner.and_then(|partner| match &partner.status {
            PartnerStatus::Failed(failure) => {
                Some(SampleError { code: failure.code().to_owned(), message: failure.to_string(), sent })
            }
            PartnerStatus::Answered { .. } | PartnerStatus::LeftOut(_) => None,
        });
        let (mut breaches, mut strikes) = (BTreeMap::new(), BTreeMap::new());
        for Finding { severity, violation, .. } in &found {
            *breaches.entry(violation.code.clone()).or_default() += 1;
            if *severity == Severity::Strike {
                *strikes.entry(violation.code.clone()).or_default() += 1;
            }
        }
        Self {
            request: parse(request),
            options: options.collect(),
            dropped: outcome.dropped.len(),
            breaches,
            strikes,
            found: found.into_iter().map(list_finding).collect(),
            elapsed: partner.and_then(|partner| partner.elapsed).unwrap_or_default(),
            error,
        }
    }

    /// As it stands in the report, of which so many findings are listed already.
    pub(super) fn result(mut self, request_id: String, listed: usize) -> SampleResult {
        let limit = FOUND_MAX_PER_SAMPLE.min(FOUND_MAX_PER_REPORT.saturating_sub(listed));
        sort_by_weight(&mut self.found);
        let found_more = self.found.len().saturating_sub(limit);
        self.found.truncate(limit);
        SampleResult {
            request_id,
            options: self.options.len(),
            dropped: self.dropped,
            elapsed_ms: u64::try_from(self.elapsed.as_millis()).unwrap_or(u64::MAX),
            failure: self.error.as_ref().map(|error| error.code.clone()),
            error: self.error,
            found: self.found,
            found_more,
        }
    }
}

fn list_finding(finding: Finding) -> SampleFinding {
    let Finding { option_place, option_id, severity, mut violation, excerpt, .. } = finding;
    for text in [&mut violation.pointer, &mut violation.code, &mut violation.message] {
        *text = cut(text, FOUND_TEXT_MAX_CHARS);
    }
    SampleFinding { option: option_place, option_id, severity, violation, excerpt }
}

/// The gravest first, and what breaks a rule at a place for the first time before what repeats it, so that a bound costs
/// repetitions and not rules.
fn sort_by_weight(found: &mut [SampleFinding]) {
    let mut seen = HashSet::new();
    let mut first = |one: &SampleFinding| seen.insert((one.violation.code.clone(), one.violation.pointer.clone()));
    found.sort_by_cached_key(|one| {
        let gravity = match one.severity {
            Severity::Note => 0,
            Severity::Drop => 1,
            Severity::Strike => 2,
        };
        (Reverse(gravity), !first(one), one.option)
    });
}

/// Keeps for the report what a search records, instead of recording it.
#[derive(Default)]
pub(super) struct Found(Mutex<Vec<Finding>>);

impl Found {
    /// What was found since it was last taken.
    pub(super) fn take(&self) -> Vec<Finding> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Journal for Found {
    fn record(&self, finding: Finding) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(finding);
    }

    fn keep_shared(&self, _: Arc<Receipt>, _: Option<&User>) {}
}

/// Calls that listen to what the partner writes in place of an answer.
pub(super) struct ListeningCalls {
    pub(super) calls: Arc<dyn PartnerCalls>,
    pub(super) sent: ErrorText,
}

impl PartnerCalls for ListeningCalls {
    fn call<'a>(
        &'a self,
        partner: &'a Arc<Partner>,
        call: ToolCall<'a>,
    ) -> BoxFuture<'a, Result<ToolAnswer, CallFailure>> {
        self.calls.call(partner, ToolCall { error_text: Some(&self.sent), ..call })
    }
}
