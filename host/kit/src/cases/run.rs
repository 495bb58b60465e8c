//! Tries every case on a contract.

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{Axes, CallContext, Payload};
use intent_gateway_domain::ports::Contract;
use serde::Serialize;
use serde_json::Value;

use super::Suite;
use super::document::{Documents, NO_INSTANT, change, read_history, read_instant, remove, set};
use super::format::{CaseFile, Order, Row, Rule};
use super::outcome::{CallFindings, call, describe_fault, refused_request};

/// What calls are told of the time unless a case says otherwise: 2026-01-01T00:00:00Z, as in a contract's examples.
const NOW_MS: u64 = 1_767_225_600_000;
/// The request identifier of every case.
const REQUEST_ID: &str = "case";
/// Every order is tried with its options turned round and under several request identifiers, which break ties: an
/// order that holds by chance does not hold each time.
const TURNS: [(bool, &str); 4] = [(false, REQUEST_ID), (true, REQUEST_ID), (false, "case-2"), (true, "case-3")];
/// The language of utterances.
const LOCALE: &str = "en-IN";
/// From this score on a contract claims an utterance.
const CLAIMED_FROM: f64 = 0.5;
/// Longest value that is shown in the name of a case, in characters.
const SHOWN_MAX_CHARS: usize = 60;

/// A case that did not come out as it should.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CaseFailure {
    /// The case file.
    pub file: String,
    /// Which case of it.
    pub case: String,
    /// What should have come out.
    pub expected: String,
    /// What came out.
    pub found: String,
}

/// The outcome of a suite.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Cases tried.
    pub cases: usize,
    /// Cases that failed, in the order of the files.
    pub failures: Vec<CaseFailure>,
}

/// Tries every case of a suite on a contract.
pub async fn run(contract: &dyn Contract, suite: &Suite) -> Report {
    let mut report = Report::default();
    for (name, file, documents) in &suite.files {
        let mut trial = Trial { contract, name, file, documents, report: &mut report };
        trial.all().await;
    }
    report
}

/// One file on its way.
struct Trial<'a> {
    contract: &'a dyn Contract,
    name: &'a str,
    file: &'a CaseFile,
    documents: &'a Documents,
    report: &'a mut Report,
}

impl Trial<'_> {
    async fn all(&mut self) {
        if self.file.sample.is_some() {
            self.documents(
                "the sample as it is".to_owned(),
                Ok(self.documents.clone()),
                None,
                &CallFindings::default(),
            )
            .await;
        }
        for (pointer, row) in &self.file.fields {
            self.row(pointer, row).await;
        }
        for rule in &self.file.rules {
            self.rule(rule).await;
        }
        for order in &self.file.orders {
            self.order(order).await;
        }
        self.utterances().await;
    }

    /// Tries the values of one place.
    async fn row(&mut self, pointer: &str, row: &Row) {
        let start = || {
            let mut documents = self.documents.clone();
            change(&mut documents.request, &row.request)?;
            change(&mut documents.sample, &row.also)?;
            Ok(documents)
        };
        let base: Result<Documents, String> = start();
        let with = |value: &Value| {
            let mut documents = base.clone()?;
            set(&mut documents.sample, pointer, value.clone())?;
            Ok(documents)
        };
        if let Some(absent) = &row.absent {
            let without = base.clone().and_then(|mut documents| {
                remove(&mut documents.sample, pointer)?;
                Ok(documents)
            });
            let expected = match absent.as_str() {
                "accepted" => CallFindings::default(),
                code => CallFindings::refused_for(pointer, code),
            };
            self.documents(format!("{pointer} absent"), without, None, &expected).await;
        }
        for value in &row.accepted {
            self.documents(case_name(pointer, value), with(value), None, &CallFindings::default()).await;
        }
        for (code, values) in &row.refused {
            let expected = CallFindings::refused_for(pointer, code);
            for value in values {
                self.documents(case_name(pointer, value), with(value), None, &expected).await;
            }
        }
    }

    async fn rule(&mut self, rule: &Rule) {
        let changed = || {
            let mut documents = self.documents.clone();
            change(&mut documents.sample, &rule.set)?;
            for pointer in &rule.remove {
                remove(&mut documents.sample, pointer)?;
            }
            change(&mut documents.request, &rule.request)?;
            change(&mut documents.arguments, &rule.arguments)?;
            if !rule.quoted.is_empty() {
                change(documents.quoted.as_mut().ok_or("the file names no `quoted`")?, &rule.quoted)?;
            }
            if !rule.order.is_empty() {
                change(documents.order.as_mut().ok_or("the file states no `order`")?, &rule.order)?;
            }
            Ok(documents)
        };
        let documents = changed();
        self.documents(rule.name.clone(), documents, rule.now.as_deref(), &CallFindings::from(rule)).await;
    }

    /// Tries one set of documents.
    async fn documents(
        &mut self,
        case: String,
        documents: Result<Documents, String>,
        now: Option<&str>,
        expected: &CallFindings,
    ) {
        let found = match (documents, context(now)) {
            (Ok(documents), Ok(context)) => call(self.contract, &context, self.file, &documents).await,
            (Err(problem), _) | (_, Err(problem)) => Err(problem),
        };
        let verdict = match found {
            Ok(found) if found.meets(expected) => None,
            Ok(mut found) => {
                // Who did not ask for lateness is not told of it either.
                found.late_minutes = expected.late_minutes.and(found.late_minutes);
                Some(found.to_string())
            }
            Err(problem) => Some(problem),
        };
        self.judge(case, expected, verdict);
    }

    async fn order(&mut self, order: &Order) {
        let expected = order.order.join(", ");
        let mut wrong = None;
        for (turned, request_id) in TURNS {
            match self.ranking(order, turned, request_id).await {
                Ok(found) if found == order.order => {}
                Ok(found) => wrong = wrong.or(Some(found.join(", "))),
                Err(problem) => wrong = wrong.or(Some(problem)),
            }
        }
        self.judge(order.name.clone(), expected, wrong);
    }

    /// The identifiers that come out, best first.
    async fn ranking(&self, order: &Order, turned: bool, request_id: &str) -> Result<Vec<String>, String> {
        let mut request = self.documents.request.clone();
        change(&mut request, &order.request)?;
        let id_pointer = self.contract.descriptor().search.id_pointer();
        let mut options = Vec::new();
        for (id, changes) in &order.options {
            let mut option = self.documents.sample.clone();
            change(&mut option, changes)?;
            set(&mut option, &id_pointer, Value::String(id.clone()))?;
            options.push(option.to_string());
        }
        if turned {
            options.reverse();
        }
        let payloads = Payload::numbered([(Axes::UNDECLARED, options.as_slice())]);
        let context = CallContext { request_id: request_id.to_owned(), now: Timestamp::from_ms(NOW_MS) };
        let history = read_history(order.history.as_ref().unwrap_or(&self.file.history))?;
        let evaluation = self.contract.evaluate(&context, &request.to_string(), &payloads, &history).await;
        let evaluation = evaluation.map_err(|error| refused_request(&error))?;
        Ok(evaluation.ranked.into_iter().map(|option| option.id).collect())
    }

    async fn utterances(&mut self) {
        let file = self.file;
        for utterance in &file.claimed {
            self.utterance(utterance, "claimed", |score, _, _| score >= CLAIMED_FROM).await;
        }
        for utterance in &file.not_claimed {
            self.utterance(utterance, "not claimed", |score, _, _| score < CLAIMED_FROM).await;
        }
        for (intent, utterances) in &file.elsewhere {
            for utterance in utterances {
                let expected = format!("not claimed, but sent to {intent}");
                let holds = |score, elsewhere: &[&str], _: &[&str]| {
                    score < CLAIMED_FROM && elsewhere.contains(&intent.as_str())
                };
                self.utterance(utterance, &expected, holds).await;
            }
        }
        for (intent, utterances) in &file.also {
            for utterance in utterances {
                let expected = format!("claimed, and {intent} proposed");
                let holds = |score, _: &[&str], also: &[&str]| score >= CLAIMED_FROM && also.contains(&intent.as_str());
                self.utterance(utterance, &expected, holds).await;
            }
        }
    }

    async fn utterance(&mut self, utterance: &str, expected: &str, holds: impl Fn(f64, &[&str], &[&str]) -> bool) {
        let found = match self.contract.classify(utterance, LOCALE).await {
            Ok(opinion) => {
                let elsewhere: Vec<&str> = opinion.elsewhere.iter().map(|other| other.intent.as_str()).collect();
                let also: Vec<&str> = opinion.also.iter().map(String::as_str).collect();
                let told = format!("score {:.2}, elsewhere {elsewhere:?}, also {also:?}", opinion.score);
                (!holds(opinion.score, &elsewhere, &also)).then_some(told)
            }
            Err(fault) => Some(describe_fault(&fault)),
        };
        self.judge(shorten(utterance), expected, found);
    }

    fn judge(&mut self, case: String, expected: impl ToString, wrong: Option<String>) {
        self.report.cases += 1;
        if let Some(found) = wrong {
            let (file, expected) = (self.name.to_owned(), expected.to_string());
            self.report.failures.push(CaseFailure { file, case, expected, found });
        }
    }
}

fn context(now: Option<&str>) -> Result<CallContext, String> {
    let now = match now {
        None => Timestamp::from_ms(NOW_MS),
        Some(text) => read_instant(text).ok_or_else(|| format!("`now` is `{text}`; {NO_INSTANT}"))?,
    };
    Ok(CallContext { request_id: REQUEST_ID.to_owned(), now })
}

fn case_name(pointer: &str, value: &Value) -> String {
    format!("{pointer} = {}", shorten(&value.to_string()))
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(SHOWN_MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
