//! Takes completion reports: signature, reading, what is known of the order, the contract's judgement, the booking.
//!
//! A report is judged against the order that the gateway has seen opened: found by the identifier that the partner gave it, or
//! else by the request. Without one it is compared with what was shown for the request, and that is a finding.
//!
//! In this order, and each step only after the one before: nothing parses a body whose signature does not hold, a report
//! that was booked before is answered without judging it anew (another version might say otherwise), and what is
//! acknowledged is in the ledger. A report whose common members are wrong is shown to its contract too, so that its sender
//! is told everything at once; whatever the contract says, it is refused.
//!
//! A report about no order of the gateway's, by a partner that was never live, is a test: judged and answered like any other,
//! and not booked ([`test_reports`](super::test_reports)).
//!
//! A report that its partner's key has signed and that is refused all the same is a finding of the partner's, for each
//! thing that is wrong with it: whoever wrote the report need not be the one who reads the answer to it.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::keyring::{KeyRing, Stale};
use super::rate::ReportRate;
use super::signature::{Presented, SignatureError, VerifiedSignature};
use super::test_reports::{TakenTest, TestReport, TestReportError, TestReports};
use super::unsigned::UnsignedReports;
use super::{Arrival, Malformed, Report, ReportKey, refusal};
use crate::{
    Booked, Booking, DeskError, Entry, FoundBy, Judge, JudgedReport, KnownOrder, OrderQuery, Posting, ReportDesk,
    ReportedOrder, Unbookable, post,
};
use intent_gateway_domain::alias;
use intent_gateway_domain::clock::{Clock, Timestamp};
use intent_gateway_domain::contract::{About, CallContext, CheckedCompletion, Refusal, Violation};
use intent_gateway_domain::error::{ContractError, ContractFault};
use intent_gateway_domain::fair_slots::FairSlots;
use intent_gateway_domain::findings::{Finding, Severity, Source, excerpt};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::money::{Paise, Rate};
use intent_gateway_domain::ports::{Contract, Contracts, Journal, find_version};
use intent_gateway_domain::receipt::QuotedOptions;
use intent_gateway_domain::telemetry;
use intent_gateway_domain::violations::quote;
use serde_json::value::RawValue;

/// A finding: no ranking of the request that is kept has shown an option of the partner.
pub const REQUEST_NOT_ROUTED: &str = "REQUEST_NOT_ROUTED";
/// A finding: the gateway has seen no order opened that the report could be about.
pub const ORDER_NOT_SEEN: &str = "ORDER_NOT_SEEN";
/// A finding: the partner has never called the order so; it was found by the request.
pub const ORDER_IDENTIFIER_NEW: &str = "ORDER_IDENTIFIER_NEW";
/// A finding: the order was over before it was reported, cancelled for example.
pub const ORDER_NOT_OPEN: &str = "ORDER_NOT_OPEN";

/// What takes reports.
pub struct Intake {
    /// What signatures are verified with.
    pub keys: Arc<KeyRing>,
    /// The contracts that judge.
    pub contracts: Arc<dyn Contracts>,
    /// Where reports are looked up and booked.
    pub desk: Arc<dyn ReportDesk>,
    /// Where those go that are tests.
    pub tests: TestReports,
    /// Where what is wrong with refused reports goes, and what was found in tests; what was found in booked ones is kept with
    /// their entry.
    pub journal: Arc<dyn Journal>,
    /// Reports under way, shared fairly by partners. One is taken when the signature holds: nobody takes another's.
    pub in_flight: FairSlots<PartnerId>,
    /// How often a partner may report.
    pub reports: ReportRate,
    /// How often somebody else has reported under its name.
    pub unsigned: UnsignedReports,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The rate of the listing agreement, the same for every business (spec 1, Commission).
    pub rate: Rate,
}

/// The answer to a completion report that is in the ledger, or kept as a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ReportAcknowledgement))]
pub struct Acknowledgement {
    /// The receipt of the booking.
    #[cfg_attr(feature = "schema", schema(example = "rcpt_0f1e2d3c4b5a69788796a5b4"))]
    pub receipt_id: String,
    /// The partner's identifier of the order.
    pub external_id: String,
    /// The commission charged, in INR.
    #[serde(serialize_with = "Paise::serialize_inr")]
    #[cfg_attr(feature = "schema", schema(value_type = f64))]
    pub commission_inr: Paise,
    /// The reported status.
    pub status: String,
    /// The report is a test, because its sender was never live: it is not in the ledger, and costs nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "schema", schema(required = false))]
    pub test: bool,
}

/// Why a report was not taken. Nothing was booked.
#[derive(Debug, thiserror::Error)]
pub enum IntakeError {
    /// The signature does not hold, or the report is a replay.
    #[error("the signature is refused")]
    Signature(#[from] SignatureError),
    /// Too many reports are under way, or too many of this partner's.
    #[error("too many completion reports are under way")]
    TooMany,
    /// The partner has sent as many reports as it may; the next one is taken after this time.
    #[error("the partner reports too often")]
    TooOften(Duration),
    /// The keys must not be trusted at the moment.
    #[error("the signing keys cannot be trusted")]
    Stale(#[from] Stale),
    /// The report is malformed, or its contract refuses it.
    #[error("the report is refused with {}", .0.code)]
    Refused(Refusal),
    /// No contract of the report's intent is live.
    #[error("there is no intent `{0}`")]
    UnknownIntent(String),
    /// Other content was booked under the same key, and has this receipt.
    #[error("another report was booked under the same key, with receipt {0}")]
    Conflict(String),
    /// The contract failed.
    #[error("the contract failed")]
    Contract(#[from] ContractFault),
    /// The report could not be looked up or booked.
    #[error("the report could not be booked")]
    Desk(#[from] DeskError),
    /// A test could not be looked up or kept.
    #[error("the test report could not be kept")]
    Test(#[from] TestReportError),
    /// The ledger cannot keep what the report says.
    #[error("the report makes no booking")]
    Unbookable(#[from] Unbookable),
    /// The entry in the ledger is not sound.
    #[error("entry {0} of the ledger is not sound")]
    Unsound(u64),
}

impl IntakeError {
    /// As the metric says it.
    fn outcome(&self) -> &'static str {
        match self {
            Self::Signature(_) => "signature",
            Self::Refused(_) => "refused",
            Self::UnknownIntent(_) => "unknown_intent",
            Self::Conflict(_) => "conflict",
            Self::Stale(_)
            | Self::TooMany
            | Self::TooOften(_)
            | Self::Contract(_)
            | Self::Desk(_)
            | Self::Test(_)
            | Self::Unbookable(_)
            | Self::Unsound(_) => "failed",
        }
    }
}

/// A report as the wire brought it.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'a> {
    /// The partner that the path names.
    pub partner: &'a str,
    /// The two headers.
    pub presented: Presented<'a>,
    /// The body, byte for byte.
    pub body: &'a [u8],
}

/// What the contract said.
struct Judgement {
    verdict: JudgedReport,
    findings: Vec<(Severity, Violation)>,
}

impl Intake {
    /// Takes one report.
    ///
    /// # Errors
    /// [`IntakeError`]; nothing was booked then, except that after [`DeskError::Store`] it is not known. Sending the
    /// report again is always safe.
    pub async fn take(&self, delivery: Delivery<'_>) -> Result<Acknowledgement, IntakeError> {
        self.taken(delivery).await.inspect_err(|error| telemetry::completion_refused(error.outcome()))
    }

    async fn taken(&self, delivery: Delivery<'_>) -> Result<Acknowledgement, IntakeError> {
        let now = self.clock.now();
        let Delivery { partner, presented, body } = delivery;
        let verified = self.keys.with(partner, |keys| keys.verify(presented, body, now))?;
        // There are keys of nobody but partners, so this holds wherever a signature does.
        let partner = PartnerId::parse(partner).map_err(|_| SignatureError::Wrong)?;
        let taken = match verified {
            Ok(VerifiedSignature { .. }) => {
                self.reports.count(&partner, now).map_err(IntakeError::TooOften)?;
                let _slot = self.in_flight.try_take(&partner).ok_or(IntakeError::TooMany)?;
                self.take_signed(&partner, body, now).await
            }
            Err(error) => {
                if error.is_unsigned() {
                    self.unsigned.note(Some(partner.clone()).filter(|partner| self.keys.knows(partner)), now);
                }
                Err(error.into())
            }
        };
        taken.inspect_err(|error| refusal::record(&*self.journal, &self.reports, &partner, body, error, now))
    }

    /// Takes a report that its partner has signed.
    async fn take_signed(
        &self,
        partner: &PartnerId,
        body: &[u8],
        now: Timestamp,
    ) -> Result<Acknowledgement, IntakeError> {
        // Behind the signature the order's intent has one name, so that a report is the same by whichever it came.
        let rewritten = std::str::from_utf8(body).ok().map(|text| alias::rewrite_any(text, &*self.contracts));
        let body = rewritten.as_deref().map_or(body, str::as_bytes);
        let report = match Report::read(body) {
            Ok(report) => report,
            Err(malformed) => return Err(self.refuse(malformed, partner, body, now).await),
        };
        let asked = OrderQuery { order: report.key(partner), request_id: report.request_id.clone() };
        let KnownOrder { booked, quoted, ordered } = self.desk.look_up(asked).await?;
        if let Some(entry) = booked {
            return match Arrival::of(&report, Some(entry.posting.report)) {
                Arrival::First | Arrival::Repeat => {
                    telemetry::completion(entry.posting.intent.as_str(), "repeat");
                    acknowledge(&entry)
                }
                Arrival::Conflict => Err(IntakeError::Conflict(entry.receipt_id())),
            };
        }
        let is_test = ordered.is_none() && self.tests.is_test(partner).await?;
        if is_test && let Some(kept) = self.tests.find(&report.key(partner)).await? {
            return match kept.report == report.content {
                true => Ok(acknowledge_test(kept, "test_repeat")),
                false => Err(IntakeError::Conflict(kept.receipt_id())),
            };
        }
        // Report::parse has read it as UTF-8 before.
        let text = std::str::from_utf8(body).unwrap_or_default();
        let Judgement { verdict, findings } = match &ordered {
            Some(ordered) => self.judge_order(&report, text, ordered, now).await?,
            None => self.judge(&report, text, &quoted, now).await?,
        };
        let posting = post(&report, partner, verdict, now);
        let findings: Vec<Finding> =
            findings.into_iter().map(|found| finding(&report, partner, found, text, now)).collect();
        if is_test {
            return self.take_test(&posting, findings).await;
        }
        let mut booking = Booking::new(posting, findings)?;
        if let Some(ordered) = ordered {
            booking = booking.closing(ordered.order.id);
        }
        match self.desk.book(booking).await? {
            Booked::First(entry) => {
                telemetry::completion(entry.posting.intent.as_str(), "booked");
                telemetry::note_booked(entry.number);
                acknowledge(&entry)
            }
            Booked::Repeat(entry) => {
                telemetry::completion(entry.posting.intent.as_str(), "repeat");
                acknowledge(&entry)
            }
            Booked::Conflict(receipt) => Err(IntakeError::Conflict(receipt)),
        }
    }

    /// Keeps a report as a test. What was found is told to its sender, and held against nobody.
    async fn take_test(&self, posting: &Posting, findings: Vec<Finding>) -> Result<Acknowledgement, IntakeError> {
        match self.tests.take(posting).await? {
            TakenTest::First(report) => {
                for found in findings {
                    self.journal.record(Finding { severity: Severity::Note, ..found });
                }
                Ok(acknowledge_test(report, "test"))
            }
            TakenTest::Repeat(report) => Ok(acknowledge_test(report, "test_repeat")),
            TakenTest::Conflict(receipt) => Err(IntakeError::Conflict(receipt)),
        }
    }

    /// The refusal of a report whose common members are wrong, with what its contract finds wrong besides: the common ones
    /// first, and nothing twice. The contract is not asked where nobody can tell which it would be.
    async fn refuse(&self, malformed: Malformed, partner: &PartnerId, body: &[u8], now: Timestamp) -> IntakeError {
        let Malformed { mut refusal, intent, external_id, request_id, stated } = malformed;
        let (Some(intent), Ok(text)) = (intent, std::str::from_utf8(body)) else {
            return IntakeError::Refused(refusal);
        };
        let known = match (external_id, &request_id) {
            (Some(external_id), Some(request_id)) => {
                let order = ReportKey { partner: partner.clone(), intent: intent.clone(), external_id };
                let asked = OrderQuery { order, request_id: request_id.clone() };
                match self.desk.look_up(asked).await {
                    Ok(known) => known,
                    Err(error) => return error.into(),
                }
            }
            _ => KnownOrder::default(),
        };
        let of_order = match known.ordered {
            Some(ordered) => find_version(&*self.contracts, ordered.order.contract).await,
            None => None,
        };
        let judge = match of_order {
            Some(contract) => Some(contract),
            None => self.judge_of(&intent, &known.quoted).await.map(|(contract, _)| contract),
        };
        let Some(contract) = judge else { return IntakeError::Refused(refusal) };
        let context = CallContext { request_id: request_id.unwrap_or_default(), now };
        match contract.check_completion(&context, text, About::default()).await {
            Err(ContractError::Refused(Refusal { violations, .. })) => {
                for violation in violations {
                    let known =
                        |listed: &Violation| (&listed.pointer, &listed.code) == (&violation.pointer, &violation.code);
                    if !refusal.violations.iter().any(known) {
                        refusal.violations.push(violation);
                    }
                }
            }
            // Its fault is counted against the version. The report is refused either way.
            Ok(_) | Err(ContractError::Fault(_)) => {}
        }
        add_missing(&mut refusal, stated.breaches(&contract.descriptor().completion));
        IntakeError::Refused(refusal)
    }

    /// The contract that judges a report, and whether it stands in for the one that ranked.
    async fn judge_of(&self, intent: &IntentId, quoted: &[QuotedOptions]) -> Option<(Arc<dyn Contract>, bool)> {
        let mut routed = quoted.iter().find_map(|quoted| self.contracts.find_loaded(quoted.contract));
        if routed.is_none()
            && let Some(latest) = quoted.first()
        {
            routed = self.contracts.find_retired(latest.contract).await;
        }
        let stand_in = routed.is_none();
        Some((routed.or_else(|| self.contracts.live(intent.as_str()))?, stand_in))
    }

    /// Has the contract judge the report against the order that it is about: the version under which that was opened, or the
    /// live one in its stead.
    async fn judge_order(
        &self,
        report: &Report,
        text: &str,
        ordered: &ReportedOrder,
        now: Timestamp,
    ) -> Result<Judgement, IntakeError> {
        let ReportedOrder { order, option, found_by } = ordered;
        let opened_under = find_version(&*self.contracts, order.contract).await;
        let stand_in = opened_under.is_none();
        let contract = opened_under.or_else(|| self.contracts.live(report.intent.as_str()));
        let contract = contract.ok_or_else(|| IntakeError::UnknownIntent(report.intent.to_string()))?;
        let context = CallContext { request_id: report.request_id.clone(), now };
        let view = order.view();
        let about = About { quoted: option.as_deref().map(RawValue::get), order: Some(&view) };
        let checked = check(&*contract, &context, text, about).await;
        let checked = checked.map_err(|error| complete_refusal(error, report, &*contract))?;
        let mut findings = report.findings(now);
        if *found_by == FoundBy::Request {
            findings.push(identifier_new(&report.external_id));
        }
        if !order.is_open {
            findings.push(not_open(&order.state));
        }
        self.conclude(report, &*contract, checked, findings, stand_in)
    }

    /// What comes of a report that its contract takes.
    fn conclude(
        &self,
        report: &Report,
        contract: &dyn Contract,
        checked: CheckedCompletion,
        mut findings: Vec<Violation>,
        stand_in: bool,
    ) -> Result<Judgement, IntakeError> {
        report.confirm(&checked)?;
        report.check_amounts(&contract.descriptor().completion).map_err(IntakeError::Refused)?;
        let CheckedCompletion { charged, late_minutes, findings: found, strikes, .. } = checked;
        findings.extend(found);
        let noted = findings.into_iter().map(|violation| (Severity::Note, violation));
        let findings = noted.chain(strikes.into_iter().map(|violation| (Severity::Strike, violation))).collect();
        let judged_by = Judge { version: contract.descriptor().version.clone(), stand_in };
        Ok(Judgement { verdict: JudgedReport { charged, judged_by, late_minutes, rate: self.rate }, findings })
    }

    /// Has the contract judge the report: the version that ranked what was quoted, or the live one in its stead.
    async fn judge(
        &self,
        report: &Report,
        text: &str,
        quoted: &[QuotedOptions],
        now: Timestamp,
    ) -> Result<Judgement, IntakeError> {
        let judge = self.judge_of(&report.intent, quoted).await;
        let (contract, stand_in) = judge.ok_or_else(|| IntakeError::UnknownIntent(report.intent.to_string()))?;
        let context = CallContext { request_id: report.request_id.clone(), now };
        let checked = best_fit(&*contract, &context, text, quoted).await;
        let checked = checked.map_err(|error| complete_refusal(error, report, &*contract))?;
        let mut findings = report.findings(now);
        if contract.descriptor().order.is_some() {
            findings.push(not_seen());
        }
        if quoted.is_empty() {
            findings.push(not_routed());
        }
        self.conclude(report, &*contract, checked, findings, stand_in)
    }
}

/// Judges the report against each option that the partner has quoted for the request, for the report does not say which
/// of them was taken; the one that fits best counts, and of those that fit alike the one ranked first.
async fn best_fit(
    contract: &dyn Contract,
    context: &CallContext,
    report: &str,
    quoted: &[QuotedOptions],
) -> Result<CheckedCompletion, IntakeError> {
    let mut best: Option<CheckedCompletion> = None;
    for option in quoted.iter().flat_map(|quoted| &quoted.options) {
        let checked = check(contract, context, report, About::option(Some(option.get()))).await?;
        let fits = breaches(&checked) == 0;
        if best.as_ref().is_none_or(|best| breaches(&checked) < breaches(best)) {
            best = Some(checked);
        }
        if fits {
            break;
        }
    }
    match best {
        Some(best) => Ok(best),
        None => check(contract, context, report, About::default()).await,
    }
}

fn breaches(checked: &CheckedCompletion) -> usize {
    checked.findings.len() + checked.strikes.len()
}

async fn check(
    contract: &dyn Contract,
    context: &CallContext,
    report: &str,
    about: About<'_>,
) -> Result<CheckedCompletion, IntakeError> {
    contract.check_completion(context, report, about).await.map_err(|error| match error {
        ContractError::Refused(refusal) => IntakeError::Refused(refusal),
        ContractError::Fault(fault) => IntakeError::Contract(fault),
    })
}

/// A contract's refusal, with what its descriptor says of members that it has not come to: a contract need judge no values in a
/// report whose shape is broken.
fn complete_refusal(error: IntakeError, report: &Report, contract: &dyn Contract) -> IntakeError {
    let IntakeError::Refused(mut refusal) = error else { return error };
    add_missing(&mut refusal, report.read_stated().breaches(&contract.descriptor().completion));
    IntakeError::Refused(refusal)
}

/// Adds violations of members of which nothing is told yet.
fn add_missing(refusal: &mut Refusal, found: Vec<Violation>) {
    for violation in found {
        if refusal.violations.iter().all(|told| told.pointer != violation.pointer) {
            refusal.violations.push(violation);
        }
    }
}

fn not_routed() -> Violation {
    let message = "No ranking of this request that is kept has shown an option of the partner, so there is nothing to \
                   compare the report with. `request_id` is that of the search, or of the call that booked.";
    Violation { pointer: "/request_id".to_owned(), code: REQUEST_NOT_ROUTED.to_owned(), message: message.to_owned() }
}

fn not_seen() -> Violation {
    let message = "The gateway has seen no order opened that this report could be about, so it is compared with what was shown \
                   at best. Orders are made by the gateway's calls alone.";
    Violation { pointer: "/external_id".to_owned(), code: ORDER_NOT_SEEN.to_owned(), message: message.to_owned() }
}

fn identifier_new(external_id: &str) -> Violation {
    let message = format!(
        "No answer has called the order {}; it was found by `request_id`. `external_id` is the identifier that the answer to the \
         call gave.",
        quote(external_id)
    );
    Violation { pointer: "/external_id".to_owned(), code: ORDER_IDENTIFIER_NEW.to_owned(), message }
}

fn not_open(state: &str) -> Violation {
    let message = format!("The order was over before it was reported: it is `{state}`.");
    Violation { pointer: "/status".to_owned(), code: ORDER_NOT_OPEN.to_owned(), message }
}

/// Something found in a report that is booked; `text` is the report.
fn finding(
    report: &Report,
    partner: &PartnerId,
    (severity, violation): (Severity, Violation),
    text: &str,
    at_ms: Timestamp,
) -> Finding {
    Finding {
        at_ms,
        partner: partner.clone(),
        intent: report.intent.to_string(),
        request_id: report.request_id.clone(),
        source: Some(Source::Report),
        option_place: None,
        option_id: None,
        external_id: Some(report.external_id.clone()),
        severity,
        excerpt: excerpt(text, &violation.pointer),
        violation,
    }
}

fn acknowledge(entry: &Entry) -> Result<Acknowledgement, IntakeError> {
    let posting = &entry.posting;
    Ok(Acknowledgement {
        receipt_id: entry.receipt_id(),
        external_id: posting.external_id.clone(),
        commission_inr: posting.commission().ok_or(IntakeError::Unsound(entry.number))?,
        status: posting.status.clone(),
        test: false,
    })
}

/// The answer to a test; `outcome` is as the metric says it.
fn acknowledge_test(report: TestReport, outcome: &'static str) -> Acknowledgement {
    telemetry::completion(report.intent.as_str(), outcome);
    Acknowledgement {
        receipt_id: report.receipt_id(),
        external_id: report.external_id,
        commission_inr: Paise::ZERO,
        status: report.status,
        test: true,
    }
}
