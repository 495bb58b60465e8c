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

use crate::forbidden::ForbiddenFields;
use crate::payload::{self, SearchPayload};
use crate::pinned::{Failed, PinnedContract};
use crate::reference::{OptionReference, ReferenceSealer, UserMark};
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::contract::{
    CallContext, Descriptor, Evaluation, Payload, PreparedRequest, RankedOption, Refusal, Violation,
};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::{CallFailure, ContractFault};
use intent_gateway_domain::findings::{Finding, Severity};
use intent_gateway_domain::id::{IntentId, UserId};
use intent_gateway_domain::limits::REQUEST_ID_MAX_CHARS;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{Contract, Contracts, Journal, LeftOut, PartnerDirectory, Selection};
use intent_gateway_domain::receipt::{self, Receipt, ReceiptDrop, ReceiptPayload, ReceiptScore};
use intent_gateway_domain::telemetry::{self, ForLog, Stage};
use intent_gateway_domain::trace::Trace;
use intent_gateway_outbound::{Errand, Outbound, Sent, Turn};

mod error;
mod progressive;
mod sorting;

pub use self::error::SearchError;
pub use self::progressive::{Snapshot, Snapshots};
use self::sorting::{OptionNote, Origin, Sorting};

/// Runs searches over the ports.
pub struct Searcher {
    /// The catalogue of intents.
    pub contracts: Arc<dyn Contracts>,
    /// Who may be called.
    pub directory: Arc<dyn PartnerDirectory>,
    /// How they are called.
    pub outbound: Arc<Outbound>,
    /// Where findings and receipts go.
    pub journal: Arc<dyn Journal>,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
    /// Seals option references.
    pub references: ReferenceSealer,
    /// One deadline for all partners of a search.
    pub timeout: Duration,
}

/// What is searched, and for whom.
#[derive(Clone, Debug)]
pub struct SearchRequest<'a> {
    /// The intent.
    pub intent: &'a str,
    /// The orchestrator's body, JSON text.
    pub body: &'a str,
    /// The user, to whom the references of the options are bound.
    pub user: Option<&'a UserId>,
    /// Used when the body brings no `request_id`.
    pub fallback_request_id: String,
    /// What the calls to partners belong to.
    pub trace: Option<Arc<Trace>>,
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

/// Code of an empty answer when every partner that might have answered failed, or is not called at the moment.
pub const NO_PARTNER_ANSWERED: &str = "NO_PARTNER_ANSWERED";

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
    /// Where the user signs in, where the partner asks for it and linking is set up.
    pub link: Option<String>,
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

/// A search on its way, pinned.
struct Prepared {
    contract: PinnedContract,
    context: CallContext,
    arguments: Box<RawValue>,
    notes: Vec<Violation>,
    left_out: Vec<(Arc<Partner>, LeftOut)>,
    left_out_more: usize,
    sent: Arc<Sent>,
    tool: Arc<str>,
    user: Option<UserId>,
    trace: Option<Arc<Trace>>,
}

impl Prepared {
    fn descriptor(&self) -> &Descriptor {
        self.contract.descriptor()
    }
}

/// What came of asking one partner.
struct Answer {
    partner: Arc<Partner>,
    result: Result<SearchPayload, CallFailure>,
    /// Where the user signs in, where the partner asked for it.
    link: Option<String>,
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
    ) -> Result<SearchOutcome, Failed<SearchError>> {
        self.search_for(SearchRequest { intent, body, user: None, fallback_request_id, trace: None }).await
    }

    /// Runs one search.
    ///
    /// # Errors
    /// [`SearchError`] when there is no such intent, the request is refused, or the contract fails.
    pub async fn search_for(&self, request: SearchRequest<'_>) -> Result<SearchOutcome, Failed<SearchError>> {
        let contract = self.pin(request.intent)?;
        let outcome = self.run(&contract, request).await;
        count(&contract, outcome.as_ref());
        outcome.map_err(|error| Failed { contract: Some(contract), error })
    }

    /// Takes the live version of an intent, which serves the search to its end.
    fn pin(&self, intent: &str) -> Result<PinnedContract, Failed<SearchError>> {
        let unknown = || Failed::without_contract(SearchError::InvalidIntent(intent.to_owned()));
        self.contracts.live(intent).map(PinnedContract).ok_or_else(unknown)
    }

    async fn run(&self, contract: &PinnedContract, request: SearchRequest<'_>) -> Result<SearchOutcome, SearchError> {
        let (prepared, chosen) = self.prepare(contract, request).await?;
        let answers = join_all(chosen.into_iter().map(|partner| self.ask(&prepared, partner))).await;
        self.rank(&prepared, &answers, true).await
    }

    /// Checks the request and chooses whom to ask.
    async fn prepare(
        &self,
        contract: &PinnedContract,
        request: SearchRequest<'_>,
    ) -> Result<(Prepared, Vec<Arc<Partner>>), SearchError> {
        let SearchRequest { intent, body, user, fallback_request_id, trace } = request;
        let descriptor = contract.descriptor();
        let start = Instant::now();
        let mut context = CallContext { request_id: fallback_request_id, now_ms: self.clock.now_ms() };
        let PreparedRequest { arguments, need, notes } =
            contract.check_request(&context, &descriptor.search.tool, body).await?;
        context.request_id = request_id(arguments.get())?;
        let checked = Instant::now();
        telemetry::stage(Stage::Check, descriptor, checked - start);

        let Selection { chosen, mut left_out, left_out_more } = self.directory.select(intent, &need, context.now_ms);
        let chosen = self.well(&descriptor.intent, chosen, &mut left_out);
        telemetry::stage(Stage::Select, descriptor, checked.elapsed());
        let tool = descriptor.tool(&descriptor.search.tool).ok_or_else(|| {
            SearchError::Contract(ContractFault::InvalidOutput("a descriptor without its search tool".to_owned()))
        })?;
        let (sent, tool) = (Arc::new(Sent::new(arguments.get(), tool)), Arc::from(tool.name.as_str()));
        let user = user.cloned();
        let prepared = Prepared {
            context,
            arguments,
            notes,
            left_out,
            left_out_more,
            sent,
            tool,
            user,
            trace,
            contract: contract.clone(),
        };
        Ok((prepared, chosen))
    }

    /// Those of the chosen partners whose health allows a call; the others are left out.
    fn well(
        &self,
        intent: &IntentId,
        chosen: Vec<Arc<Partner>>,
        left_out: &mut Vec<(Arc<Partner>, LeftOut)>,
    ) -> Vec<Arc<Partner>> {
        let turns = self.outbound.admit(intent, chosen.iter().map(|partner| &partner.id));
        let mut called = Vec::with_capacity(chosen.len());
        for (partner, turn) in chosen.into_iter().zip(turns) {
            match turn {
                Turn::Called => called.push(partner),
                Turn::TooSlow => left_out.push((partner, LeftOut::TooSlow)),
                Turn::Down => left_out.push((partner, LeftOut::Down)),
            }
        }
        called
    }

    /// Asks one partner and takes its answer apart.
    async fn ask(&self, search: &Prepared, partner: Arc<Partner>) -> Answer {
        let start = Instant::now();
        let errand = Errand {
            contract: search.contract.0.clone(),
            context: search.context.clone(),
            partner: partner.clone(),
            tool: search.tool.clone(),
            sent: search.sent.clone(),
            user: search.user.clone(),
            within: self.timeout,
            again: false,
            trace: search.trace.clone(),
        };
        let answered = self.outbound.call(&errand, None).await;
        let called = Instant::now();
        telemetry::partner_stage(Stage::Call, search.descriptor(), &partner.id, called - start);
        let result = match answered {
            Ok(answered) => {
                let answer = open_payload(&answered.text, search.descriptor());
                telemetry::partner_stage(Stage::Scan, search.descriptor(), &partner.id, called.elapsed());
                if let Some(token) = answer.as_ref().ok().and_then(|payload| payload.token.as_ref()) {
                    self.outbound.ends(&answered, token.expires_at_ms);
                }
                answer
            }
            Err(failure) => Err(failure),
        };
        let link = result.as_ref().err().and_then(|failure| {
            tracing::warn!(
                partner = %partner.id, intent = %search.descriptor().intent, outcome = telemetry::failure(failure),
                error = %ForLog(failure),
                "a partner's answer is missing from a search"
            );
            self.outbound.link(&partner.id, search.user.as_ref(), failure)
        });
        Answer { partner, result, link, elapsed: start.elapsed() }
    }

    /// Has the contract rank what has come, and keeps the receipt; findings are taken down once, when all has come.
    async fn rank(&self, search: &Prepared, answers: &[Answer], is_all: bool) -> Result<SearchOutcome, SearchError> {
        let (descriptor, context) = (search.descriptor(), &search.context);
        let start = Instant::now();
        let mut sorting = Sorting::new(descriptor, answers);
        let payloads = sorting.payloads();
        let evaluation = self.evaluate(&*search.contract, context, search.arguments.get(), &payloads).await?;
        let evaluated = Instant::now();
        telemetry::stage(Stage::Evaluate, descriptor, evaluated - start);
        let receipt = self.receipt(search, payloads, &evaluation);
        let ranked = sorting.take_ranked(evaluation);
        let Sorting { dropped, findings, .. } = sorting;
        if is_all {
            self.record(context, descriptor, &findings, &dropped, answers);
        }

        let user = search.user.as_ref().map(UserMark::of);
        let bound = Bound { contract: search.contract.digest(), receipt: receipt.as_deref(), user: user.as_ref() };
        let options = self.choices(descriptor, context, ranked, answers, bound);
        let mut partners: Vec<PartnerOutcome> = answers.iter().map(PartnerOutcome::of).collect();
        partners.extend(search.left_out.iter().map(|(partner, reason)| PartnerOutcome {
            partner: partner.clone(),
            status: PartnerStatus::LeftOut(*reason),
            elapsed: None,
            link: None,
        }));
        partners.sort_by(|a, b| a.partner.id.cmp(&b.partner.id));
        let code = if options.is_empty() && is_all { empty_code(descriptor, &partners) } else { None };
        telemetry::stage(Stage::Respond, descriptor, evaluated.elapsed());
        Ok(SearchOutcome {
            request_id: context.request_id.clone(),
            code,
            options,
            dropped,
            partners,
            left_out_more: search.left_out_more,
            notes: search.notes.clone(),
            contract: search.contract.clone(),
            receipt,
        })
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
        Ok(contract.evaluate(context, request, &payloads).await?)
    }

    /// Takes down what was ranked and how. Nothing is where nobody gave anything to rank.
    fn receipt(&self, search: &Prepared, payloads: Vec<ReceiptPayload>, evaluation: &Evaluation) -> Option<String> {
        if payloads.is_empty() {
            return None;
        }
        let Prepared { contract, context, arguments, .. } = search;
        let (descriptor, outcome) = (contract.descriptor(), receipt::outcome(evaluation));
        let receipt = Receipt {
            id: receipt::identifier(context, contract.digest(), outcome),
            at_ms: context.now_ms,
            request_id: context.request_id.clone(),
            intent: descriptor.intent.clone(),
            version: descriptor.version.clone(),
            contract: contract.digest(),
            arguments: arguments.clone(),
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

/// Counts a search by what came of it.
fn count(contract: &PinnedContract, outcome: Result<&SearchOutcome, &SearchError>) {
    let outcome = match outcome {
        Ok(outcome) if outcome.options.is_empty() => telemetry::Outcome::Empty,
        Ok(_) => telemetry::Outcome::Ok,
        Err(SearchError::InvalidIntent(_) | SearchError::Refused(_)) => telemetry::Outcome::Refused,
        Err(SearchError::Contract(_)) => telemetry::Outcome::Failed,
    };
    telemetry::search(contract.descriptor(), outcome);
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
    let missed = partners.iter().any(|outcome| match outcome.status {
        PartnerStatus::Failed(_) => true,
        PartnerStatus::LeftOut(reason) => reason.is_passing(),
        PartnerStatus::Answered { .. } => false,
    });
    let answered = partners.iter().any(|outcome| matches!(outcome.status, PartnerStatus::Answered { .. }));
    if missed && !answered {
        return Some(NO_PARTNER_ANSWERED.to_owned());
    }
    descriptor.search.empty_code.clone()
}

impl PartnerOutcome {
    fn of(answer: &Answer) -> Self {
        let Answer { partner, result, link, elapsed } = answer;
        let status = match result {
            Ok(payload) => PartnerStatus::Answered {
                options: payload.options.len() + payload.unread,
                notes: payload.notes.clone(),
            },
            Err(CallFailure::NotCalled { why, .. }) => PartnerStatus::LeftOut(LeftOut::from(*why)),
            Err(failure) => PartnerStatus::Failed(failure.clone()),
        };
        let elapsed = (!matches!(status, PartnerStatus::LeftOut(_))).then_some(*elapsed);
        Self { partner: partner.clone(), status, elapsed, link: link.clone() }
    }
}
