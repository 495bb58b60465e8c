//! The main job: one search, from the orchestrator's body to ranked options.
//!
//! The contract version is pinned once; partners are called in parallel under one deadline; every payload is
//! scanned before the contract sees it; the contract ranks options under numbers that say nothing of their
//! origin. One partner's trouble is that partner's outcome and nobody else's.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::clock::Clock;
use crate::contract::{
    Axes, CallContext, Descriptor, DroppedOption, Evaluation, Payload, RankedOption, Refusal, SearchShape, Violation,
};
use crate::digest::Digest;
use crate::error::{CallFailure, ContractError, ContractFault, SearchError};
use crate::findings::{Finding, Severity};
use crate::forbidden::ForbiddenFields;
use crate::id::UserId;
use crate::limits::{OPTION_ID_MAX_BYTES, REQUEST_ID_MAX_CHARS};
use crate::partner::Partner;
use crate::payload::{self, SearchPayload};
use crate::ports::{Contract, Contracts, Journal, LeftOut, PartnerCalls, PartnerDirectory, ToolCall};
use crate::receipt::{self, Receipt, ReceiptCandidate, ReceiptDrop, ReceiptPayload, ReceiptScore};
use crate::reference::{OptionReference, ReferenceSealer, UserMark};

/// Runs searches over the ports.
pub struct Searcher {
    /// The catalogue of intents.
    pub contracts: Arc<dyn Contracts>,
    /// Who may be called.
    pub directory: Arc<dyn PartnerDirectory>,
    /// How they are called.
    pub calls: Arc<dyn PartnerCalls>,
    /// Where findings and receipts go.
    pub journal: Arc<dyn Journal>,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
    /// Seals option references.
    pub references: ReferenceSealer,
    /// One deadline for all partners of a search.
    pub timeout: Duration,
}

/// What came of a search.
#[derive(Debug)]
pub struct SearchOutcome {
    /// The request's identifier: the caller's own, or the one given to it.
    pub request_id: String,
    /// The contract version that served the whole call.
    pub contract: PinnedContract,
    /// Identifier of the ranking's receipt; absent where no partner gave anything to rank.
    pub receipt: Option<String>,
    /// Set when there is no option: the intent's own code for "nothing matches", or [`NO_PARTNER_ANSWERED`].
    pub code: Option<String>,
    /// Best first.
    pub options: Vec<RankedChoice>,
    /// What was taken out.
    pub dropped: Vec<DroppedChoice>,
    /// What each partner did, sorted by identifier.
    pub partners: Vec<PartnerOutcome>,
    /// How many more partners list the intent and were left out.
    pub left_out_more: usize,
    /// Advice on the request.
    pub notes: Vec<Violation>,
}

/// Code of an empty answer when every partner that was called failed.
pub const NO_PARTNER_ANSWERED: &str = "NO_PARTNER_ANSWERED";

/// The contract version that a call was pinned to.
pub struct PinnedContract(pub Arc<dyn Contract>);

impl std::fmt::Debug for PinnedContract {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let descriptor = self.0.descriptor();
        write!(f, "{} {} ({})", descriptor.intent, descriptor.version, self.0.digest())
    }
}

/// One ranked option.
#[derive(Debug)]
pub struct RankedChoice {
    /// Opaque; what to book by.
    pub reference: String,
    /// Whether the partner committed to keep it bookable, and still does.
    pub bookable: bool,
    /// Who offers it.
    pub partner: Arc<Partner>,
    /// Its scores and card.
    pub ranked: RankedOption,
    /// The option as the partner wrote it.
    pub option: Box<RawValue>,
}

/// One option that was taken out.
#[derive(Debug)]
pub struct DroppedChoice {
    /// Who offered it.
    pub partner: Arc<Partner>,
    /// Its position in the partner's payload.
    pub position: usize,
    /// Its identifier, where one could be read.
    pub option_id: Option<String>,
    /// Counts towards suspension.
    pub strike: bool,
    /// Why; pointers into the option.
    pub violations: Vec<Violation>,
}

/// What one partner did in a search.
#[derive(Debug)]
pub struct PartnerOutcome {
    /// Who.
    pub partner: Arc<Partner>,
    /// What.
    pub status: PartnerStatus,
    /// How long its call took; absent when it was not called.
    pub elapsed: Option<Duration>,
}

/// Ways in which a partner can take part in a search.
#[derive(Debug)]
pub enum PartnerStatus {
    /// It answered with this many options; envelope notes are advice to it.
    Answered {
        /// Options in its payload.
        options: usize,
        /// What is wrong with the envelope.
        notes: Vec<Violation>,
    },
    /// Its answer could not be had or used.
    Failed(CallFailure),
    /// It was not called.
    LeftOut(LeftOut),
}

/// What the references of one search are bound to, besides their options.
#[derive(Clone, Copy)]
struct Bound<'a> {
    contract: Digest,
    receipt: Option<&'a str>,
    user: Option<&'a UserMark>,
}

/// Which option of which answer a number stands for.
struct Origin {
    answer: usize,
    position: usize,
}

struct Answer {
    partner: Arc<Partner>,
    result: Result<SearchPayload, CallFailure>,
    elapsed: Duration,
}

impl Searcher {
    /// Runs one search for nobody in particular. `fallback_request_id` is used when the body brings none.
    ///
    /// # Errors
    /// As [`search_for`](Self::search_for).
    pub async fn search(
        &self,
        intent: &str,
        body: &str,
        fallback_request_id: String,
    ) -> Result<SearchOutcome, SearchError> {
        self.search_for(None, intent, body, fallback_request_id).await
    }

    /// Runs one search for a user, to whom the references of its options are bound.
    ///
    /// # Errors
    /// [`SearchError`] when there is no such intent, the request is refused, or the contract fails.
    pub async fn search_for(
        &self,
        user: Option<&UserId>,
        intent: &str,
        body: &str,
        fallback_request_id: String,
    ) -> Result<SearchOutcome, SearchError> {
        let contract = self.contracts.live(intent).ok_or_else(|| SearchError::InvalidIntent(intent.to_owned()))?;
        let descriptor = contract.descriptor();
        let mut context = CallContext { request_id: fallback_request_id, now_ms: self.clock.now_ms() };
        let prepared =
            contract.check_request(&context, &descriptor.search.tool, body).await.map_err(|error| match error {
                ContractError::Refused(refusal) => SearchError::Refused(refusal),
                ContractError::Fault(fault) => SearchError::Contract(fault),
            })?;
        context.request_id = request_id(prepared.arguments.get())?;

        let selection = self.directory.select(intent, &prepared.need, context.now_ms);
        let calls = selection.chosen.into_iter().map(|partner| self.ask(partner, descriptor, prepared.arguments.get()));
        let mut answers = join_all(calls).await;

        let mut search = Sorting::new(descriptor, &mut answers);
        let payloads = search.payloads();
        let evaluation = self.evaluate(&*contract, &context, prepared.arguments.get(), &payloads).await?;
        let receipt = self.receipt(&*contract, &context, prepared.arguments, payloads, &evaluation);
        let ranked = search.take_ranked(evaluation);
        let Sorting { dropped, findings, .. } = search;
        self.record(&context, descriptor, &findings, &dropped, &answers);

        let user = user.map(UserMark::of);
        let bound = Bound { contract: contract.digest(), receipt: receipt.as_deref(), user: user.as_ref() };
        let options = self.choices(descriptor, &context, ranked, &answers, bound);
        let mut partners: Vec<PartnerOutcome> = answers.into_iter().map(PartnerOutcome::of).collect();
        partners.extend(selection.left_out.into_iter().map(|(partner, reason)| PartnerOutcome {
            partner,
            status: PartnerStatus::LeftOut(reason),
            elapsed: None,
        }));
        partners.sort_by(|a, b| a.partner.id.cmp(&b.partner.id));
        let code = if options.is_empty() { empty_code(descriptor, &partners) } else { None };
        Ok(SearchOutcome {
            request_id: context.request_id,
            code,
            options,
            dropped,
            partners,
            left_out_more: selection.left_out_more,
            notes: prepared.notes,
            contract: PinnedContract(contract.clone()),
            receipt,
        })
    }

    /// Asks one partner and takes its answer apart.
    async fn ask(&self, partner: Arc<Partner>, descriptor: &Descriptor, arguments: &str) -> Answer {
        let start = Instant::now();
        let (intent, tool) = (descriptor.intent.as_str(), &descriptor.search.tool);
        let call = ToolCall::new(intent, tool, arguments, self.timeout);
        let result = match self.calls.call(&partner, call).await {
            Ok(answer) => open_payload(&answer.text, descriptor),
            Err(failure) => Err(failure),
        };
        if let Err(failure) = &result {
            tracing::warn!(
                partner = %partner.id, intent = %descriptor.intent, code = failure.code(), error = %failure,
                "a partner's answer is missing from a search"
            );
        }
        Answer { partner, result, elapsed: start.elapsed() }
    }

    async fn evaluate(
        &self,
        contract: &dyn Contract,
        context: &CallContext,
        request: &str,
        payloads: &[ReceiptPayload],
    ) -> Result<Evaluation, SearchError> {
        if payloads.is_empty() {
            return Ok(Evaluation::default());
        }
        let payloads: Vec<Payload<'_>> = payloads.iter().map(ReceiptPayload::for_contract).collect();
        contract.evaluate(context, request, &payloads).await.map_err(|error| match error {
            ContractError::Refused(refusal) => SearchError::Refused(refusal),
            ContractError::Fault(fault) => SearchError::Contract(fault),
        })
    }

    /// Takes down what was ranked and how. Nothing is where nobody gave anything to rank.
    fn receipt(
        &self,
        contract: &dyn Contract,
        context: &CallContext,
        arguments: Box<RawValue>,
        payloads: Vec<ReceiptPayload>,
        evaluation: &Evaluation,
    ) -> Option<String> {
        if payloads.is_empty() {
            return None;
        }
        let (descriptor, outcome) = (contract.descriptor(), receipt::outcome(evaluation));
        let receipt = Receipt {
            id: receipt::identifier(context, contract.digest(), outcome),
            at_ms: context.now_ms,
            request_id: context.request_id.clone(),
            intent: descriptor.intent.clone(),
            version: descriptor.version.clone(),
            contract: contract.digest(),
            arguments,
            payloads,
            ranked: evaluation.ranked.iter().map(ReceiptScore::from).collect(),
            dropped: evaluation.dropped.iter().map(ReceiptDrop::from).collect(),
            outcome,
        };
        let id = receipt.id.clone();
        self.journal.keep(receipt);
        Some(id)
    }

    fn choices(
        &self,
        descriptor: &Descriptor,
        context: &CallContext,
        ranked: Vec<(RankedOption, Origin, Box<RawValue>)>,
        answers: &[Answer],
        bound: Bound<'_>,
    ) -> Vec<RankedChoice> {
        let Bound { contract, receipt, user } = bound;
        ranked
            .into_iter()
            .map(|(ranked, origin, option)| {
                let answer = &answers[origin.answer];
                let token = answer.result.as_ref().ok().and_then(|payload| payload.token.as_ref());
                let reference = self.references.seal(&OptionReference {
                    partner: answer.partner.id.as_str().to_owned(),
                    intent: descriptor.intent.as_str().to_owned(),
                    contract,
                    request_id: context.request_id.clone(),
                    option_id: ranked.id.clone(),
                    number: ranked.number,
                    receipt: receipt.map(str::to_owned),
                    user: user.cloned(),
                    result_token: token.map(|token| token.result_token.clone()),
                    expires_at_ms: token.map(|token| token.expires_at_ms),
                });
                RankedChoice {
                    reference,
                    bookable: token.is_some_and(|token| token.expires_at_ms > context.now_ms),
                    partner: answer.partner.clone(),
                    ranked,
                    option,
                }
            })
            .collect()
    }

    /// Hands everything that the platform team should know of to the port.
    fn record(
        &self,
        context: &CallContext,
        descriptor: &Descriptor,
        findings: &[OptionNote],
        dropped: &[DroppedChoice],
        answers: &[Answer],
    ) {
        let record = |partner: &Partner, option_id: Option<&String>, severity: Severity, violation: &Violation| {
            self.journal.record(Finding {
                at_ms: context.now_ms,
                partner: partner.id.clone(),
                intent: descriptor.intent.as_str().to_owned(),
                request_id: context.request_id.clone(),
                option_id: option_id.cloned(),
                external_id: None,
                severity,
                violation: violation.clone(),
            });
        };
        for note in findings {
            record(&note.partner, note.option_id.as_ref(), Severity::Note, &note.violation);
        }
        for choice in dropped {
            let severity = if choice.strike { Severity::Strike } else { Severity::Drop };
            for violation in &choice.violations {
                record(&choice.partner, choice.option_id.as_ref(), severity, violation);
            }
        }
        for answer in answers {
            match &answer.result {
                Ok(payload) => {
                    for note in &payload.notes {
                        record(&answer.partner, None, Severity::Note, note);
                    }
                }
                Err(failure @ (CallFailure::Forbidden(_) | CallFailure::Payload(_) | CallFailure::Protocol(_))) => {
                    let severity =
                        if matches!(failure, CallFailure::Forbidden(_)) { Severity::Strike } else { Severity::Drop };
                    let violation = Violation {
                        pointer: String::new(),
                        code: failure.code().to_owned(),
                        message: failure.to_string(),
                    };
                    record(&answer.partner, None, severity, &violation);
                }
                Err(_) => {}
            }
        }
    }
}

/// The request identifier of prepared arguments.
fn request_id(arguments: &str) -> Result<String, SearchError> {
    #[derive(Deserialize)]
    struct Arguments {
        request_id: String,
    }
    let arguments: Arguments = serde_json::from_str(arguments).map_err(|_| {
        SearchError::Contract(ContractFault::InvalidOutput("prepared arguments without a `request_id`".to_owned()))
    })?;
    if arguments.request_id.chars().count() > REQUEST_ID_MAX_CHARS {
        let violation = Violation {
            pointer: "/request_id".to_owned(),
            code: "TOO_LONG".to_owned(),
            message: format!("expected at most {REQUEST_ID_MAX_CHARS} characters"),
        };
        let violations = vec![violation];
        return Err(SearchError::Refused(Refusal { code: "INVALID_REQUEST".to_owned(), violations }));
    }
    Ok(arguments.request_id)
}

fn open_payload(text: &str, descriptor: &Descriptor) -> Result<SearchPayload, CallFailure> {
    let fields = ForbiddenFields::new(&descriptor.forbidden_fields);
    let payload = payload::read(text, &descriptor.search.options_key, &fields)
        .map_err(|error| CallFailure::Payload(error.to_string()))?;
    match payload.breaches.outside.first() {
        Some(violation) => Err(CallFailure::Forbidden(violation.pointer.clone())),
        None => Ok(payload),
    }
}

fn empty_code(descriptor: &Descriptor, partners: &[PartnerOutcome]) -> Option<String> {
    let failed = partners.iter().any(|outcome| matches!(outcome.status, PartnerStatus::Failed(_)));
    let answered = partners.iter().any(|outcome| matches!(outcome.status, PartnerStatus::Answered { .. }));
    if failed && !answered {
        return Some(NO_PARTNER_ANSWERED.to_owned());
    }
    descriptor.search.empty_code.clone()
}

impl PartnerOutcome {
    fn of(answer: Answer) -> Self {
        let status = match answer.result {
            Ok(payload) => {
                PartnerStatus::Answered { options: payload.options.len() + payload.unread, notes: payload.notes }
            }
            Err(failure) => PartnerStatus::Failed(failure),
        };
        Self { partner: answer.partner, status, elapsed: Some(answer.elapsed) }
    }
}

/// A note against an option that stays.
struct OptionNote {
    partner: Arc<Partner>,
    option_id: Option<String>,
    violation: Violation,
}

/// The options of one search on their way through the contract: numbered, dropped, noted.
struct Sorting<'a> {
    answers: &'a [Answer],
    /// By number.
    origins: Vec<Origin>,
    dropped: Vec<DroppedChoice>,
    findings: Vec<OptionNote>,
    intent: &'a str,
}

impl<'a> Sorting<'a> {
    /// Numbers what the contract may see; drops what it may not.
    fn new(descriptor: &'a Descriptor, answers: &'a mut [Answer]) -> Self {
        let answers: &'a [Answer] = answers;
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
    fn payloads(&self) -> Vec<ReceiptPayload> {
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
    fn take_ranked(&mut self, evaluation: Evaluation) -> Vec<(RankedOption, Origin, Box<RawValue>)> {
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
            let Origin { answer, position } = *origin(ranked.number)?;
            let origin = Origin { answer, position };
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
