//! One call of a tool that is no search: booking, following, cancelling, on behalf of a user.
//!
//! The way of a call: open the reference, pin the contract that ranked, check the arguments, bind them to what the
//! reference is about, call the one partner, scan the answer for forbidden fields, have the contract judge it. Each step
//! comes only after the one before, so nothing reaches a partner for an altered, foreign or expired reference.
//!
//! Not here: retries, pace, caches and idempotency ([`policy`](crate::policy)), and HTTP.

mod binding;
mod error;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::value::RawValue;

pub use error::CallError;

use crate::clock::Clock;
use crate::contract::{CallContext, CheckedResponse, Descriptor, Exchange, Tool, ToolRole, Violation};
use crate::digest::Digest;
use crate::error::{CallFailure, ContractError, chain};
use crate::findings::{Finding, Severity};
use crate::forbidden::ForbiddenFields;
use crate::id::{PartnerId, UserId};
use crate::limits::{PAYLOAD_MAX_DEPTH, TOOL_CALL_TIMEOUT};
use crate::partner::Partner;
use crate::ports::{Contract, Contracts, Evidence, Journal, PartnerCalls, PartnerDirectory, ToolCall};
use crate::reference::{BookingReference, OptionReference, Reference, ReferenceSealer, UserMark};
use crate::search::{PinnedContract, Searcher};

/// Calls tools over the ports.
pub struct Caller {
    /// The contracts.
    pub contracts: Arc<dyn Contracts>,
    /// Who may be called.
    pub directory: Arc<dyn PartnerDirectory>,
    /// How they are called.
    pub calls: Arc<dyn PartnerCalls>,
    /// Where findings go.
    pub journal: Arc<dyn Journal>,
    /// What was quoted.
    pub evidence: Arc<dyn Evidence>,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
    /// Opens and seals references.
    pub references: ReferenceSealer,
    /// A call as a whole (spec 1, Limits: 30 seconds).
    pub timeout: Duration,
}

/// What is to be called.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// The intent that the path names.
    pub intent: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// A reference to an option or to a booking.
    pub reference: &'a str,
    /// The tool's arguments, a JSON object.
    pub arguments: &'a str,
    /// For whom.
    pub user: Option<&'a UserId>,
    /// Used when the arguments bring no `request_id`.
    pub fallback_request_id: &'a str,
}

/// A call whose answer passed.
#[derive(Debug)]
pub struct Called {
    /// The request's identifier.
    pub request_id: String,
    /// The contract that judged.
    pub contract: PinnedContract,
    /// Who answered.
    pub partner: Arc<Partner>,
    /// The answer as the partner wrote it.
    pub payload: Box<RawValue>,
    /// Opaque; what later calls about it go by. Absent where the answer carries no identifier.
    pub reference: Option<String>,
    /// An advisory code of the intent's error table, for example `CANCELLATION_FEE_DUE`.
    pub advisory: Option<String>,
    /// Advice on the arguments.
    pub notes: Vec<Violation>,
    /// How long the partner took.
    pub elapsed: Duration,
}

/// What a reference binds a call to.
struct Bound {
    partner: String,
    /// The identifier that the arguments must name.
    identifier: String,
    /// The member that it stands in, where the tool takes that.
    member: Option<String>,
    /// Receipt and number of the option that was quoted.
    option: Option<(String, u32)>,
    user: Option<UserMark>,
    /// Whether it is about an option, and not about what was made of one.
    is_option: bool,
}

/// A call on its way, pinned.
struct Pinned<'a> {
    contract: Arc<dyn Contract>,
    context: CallContext,
    order: Order<'a>,
    partner: Arc<Partner>,
    bound: Bound,
}

impl Caller {
    /// One that works beside a searcher: with the same contracts, partners and references.
    #[must_use]
    pub fn beside(searcher: &Searcher, evidence: Arc<dyn Evidence>) -> Self {
        let Searcher { contracts, directory, calls, journal, clock, references, timeout: _ } = searcher;
        Self {
            contracts: contracts.clone(),
            directory: directory.clone(),
            calls: calls.clone(),
            journal: journal.clone(),
            evidence,
            clock: clock.clone(),
            references: references.clone(),
            timeout: TOOL_CALL_TIMEOUT,
        }
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// [`CallError`]; for those that come before the call, the partner was not asked.
    pub async fn call(&self, order: Order<'_>) -> Result<Called, CallError> {
        let now_ms = self.clock.now_ms();
        let live =
            self.contracts.live(order.intent).ok_or_else(|| CallError::InvalidIntent(order.intent.to_owned()))?;
        let (bound, digest) = self.open(&order, now_ms, &*live)?;
        let contract = self.contracts.loaded(digest).unwrap_or(live);
        let tool = callable(contract.descriptor(), order.tool)?;
        let partner = self.partner(&bound.partner, order.intent)?;
        let mut context = CallContext { request_id: order.fallback_request_id.to_owned(), now_ms };
        let arguments = binding::bound(order.arguments, tool, &bound)?;
        let prepared = contract.check_request(&context, order.tool, &arguments).await.map_err(CallError::of_request)?;
        context.request_id = binding::request_id(prepared.arguments.get())?;
        let start = Instant::now();
        let call = ToolCall::new(order.intent, order.tool, prepared.arguments.get(), self.timeout);
        let answered = self.calls.call(&partner, call).await;
        let elapsed = start.elapsed();
        let call = Pinned { contract, context, order, partner, bound };
        let (payload, checked) = match answered {
            Ok(answer) => self.judge(&call, prepared.arguments.get(), answer.text).await?,
            Err(failure) => return Err(self.failed(&call, failure)),
        };
        for violation in checked.findings {
            self.record(&call, Severity::Note, violation);
        }
        let reference = checked.reference.map(|booking_id| self.booking(&call, booking_id, payload.get()));
        let Pinned { contract, context, partner, .. } = call;
        Ok(Called {
            request_id: context.request_id,
            contract: PinnedContract(contract),
            partner,
            payload,
            reference,
            advisory: checked.advisory,
            notes: prepared.notes,
            elapsed,
        })
    }

    /// Opens the reference, and says which contract it was made under.
    fn open(&self, order: &Order<'_>, now_ms: u64, live: &dyn Contract) -> Result<(Bound, Digest), CallError> {
        let opened = self.references.open(order.reference).map_err(|_| CallError::InvalidReference)?;
        let (bound, intent, contract) = match opened {
            Reference::Option(OptionReference {
                partner,
                intent,
                contract,
                option_id,
                number,
                receipt,
                user,
                expires_at_ms,
                ..
            }) => {
                let Some(expires_at_ms) = expires_at_ms else { return Err(CallError::NotBookable) };
                if expires_at_ms <= now_ms {
                    return Err(CallError::Expired(live.descriptor().search.gone_code.clone()));
                }
                let option = receipt.map(|receipt| (receipt, number));
                let member = live.descriptor().search.id_key.rsplit('/').next().map(str::to_owned);
                let bound = Bound { partner, identifier: option_id, member, option, user, is_option: true };
                (bound, intent, contract)
            }
            Reference::Booking(BookingReference { partner, intent, contract, booking_id, member, user, option }) => {
                let bound = Bound { partner, identifier: booking_id, member, option, user, is_option: false };
                (bound, intent, contract)
            }
        };
        // What is another intent's or another user's is as good as made up: nothing more is told.
        if intent != order.intent || bound.user != order.user.map(UserMark::of) {
            return Err(CallError::InvalidReference);
        }
        Ok((bound, contract))
    }

    /// The partner, if requests of the intent are still routed to it.
    fn partner(&self, id: &str, intent: &str) -> Result<Arc<Partner>, CallError> {
        let id = PartnerId::parse(id).map_err(|_| CallError::InvalidReference)?;
        self.directory
            .find(&id)
            .filter(|partner| partner.listing(intent).is_some())
            .ok_or_else(|| CallError::PartnerGone(id.clone()))
    }

    /// Scans an answer and has the contract judge it.
    async fn judge(
        &self,
        call: &Pinned<'_>,
        arguments: &str,
        text: String,
    ) -> Result<(Box<RawValue>, CheckedResponse), CallError> {
        let fields = ForbiddenFields::new(&call.contract.descriptor().forbidden_fields);
        let structure = fields.inspect(&text);
        if structure.depth > PAYLOAD_MAX_DEPTH {
            let message = format!("it nests {} levels deep; {PAYLOAD_MAX_DEPTH} are allowed", structure.depth);
            return Err(self.failed(call, CallFailure::Payload(message)));
        }
        let payload = RawValue::from_string(text)
            .map_err(|error| self.failed(call, CallFailure::Payload(format!("it is not valid JSON: {error}"))))?;
        if structure.suspicious
            && let Some(violation) = first_breach(&fields, payload.get())
        {
            let pointer = violation.pointer.clone();
            self.record(call, Severity::Strike, violation);
            return Err(CallError::Partner { code: None, failure: CallFailure::Forbidden(pointer) });
        }
        let quoted = self.quoted(call).await;
        let exchange = Exchange {
            tool: call.order.tool,
            arguments,
            payload: payload.get(),
            quoted: quoted.as_deref().map(RawValue::get),
        };
        match call.contract.check_response(&call.context, exchange).await {
            Ok(checked) => Ok((payload, checked)),
            Err(ContractError::Refused(refusal)) => {
                for violation in &refusal.violations {
                    self.record(call, Severity::Drop, violation.clone());
                }
                Err(CallError::Answer(refusal))
            }
            Err(ContractError::Fault(fault)) => Err(CallError::Contract(fault)),
        }
    }

    /// The option that the call is about, as the search returned it, where its receipt is still kept.
    async fn quoted(&self, call: &Pinned<'_>) -> Option<Box<RawValue>> {
        let (receipt, number) = call.bound.option.as_ref()?;
        match self.evidence.receipt(receipt).await {
            Ok(receipt) => {
                let payloads = receipt?.payloads.into_iter();
                let mut candidates = payloads.flat_map(|payload| payload.candidates);
                candidates.find(|candidate| candidate.number == *number).map(|candidate| candidate.json)
            }
            Err(error) => {
                tracing::warn!(error = %chain(&error), "an answer is judged without what was quoted");
                None
            }
        }
    }

    /// Notes a failure against the partner where it is the partner's fault, and says what the caller is told.
    fn failed(&self, call: &Pinned<'_>, failure: CallFailure) -> CallError {
        let descriptor = call.contract.descriptor();
        tracing::warn!(
            partner = %call.partner.id, intent = %descriptor.intent, tool = call.order.tool, code = failure.code(),
            error = %failure, "a call of a tool failed"
        );
        let at_fault = matches!(failure, CallFailure::Payload(_) | CallFailure::Protocol(_));
        let unlisted = match &failure {
            CallFailure::Platform { code, .. } => !error::is_known(descriptor, code),
            _ => false,
        };
        if at_fault || unlisted {
            let code = if unlisted { error::UNLISTED_CODE } else { failure.code() };
            let violation = Violation { pointer: String::new(), code: code.to_owned(), message: failure.to_string() };
            self.record(call, Severity::Drop, violation);
        }
        let code = error::told(descriptor, &failure);
        CallError::Partner { code, failure }
    }

    fn booking(&self, call: &Pinned<'_>, booking_id: String, payload: &str) -> String {
        self.references.seal_booking(&BookingReference {
            partner: call.partner.id.to_string(),
            intent: call.order.intent.to_owned(),
            contract: call.contract.digest(),
            member: binding::member_of(payload, &booking_id),
            booking_id,
            user: call.bound.user.clone(),
            option: call.bound.option.clone(),
        })
    }

    fn record(&self, call: &Pinned<'_>, severity: Severity, violation: Violation) {
        self.journal.record(Finding {
            at_ms: call.context.now_ms,
            partner: call.partner.id.clone(),
            intent: call.order.intent.to_owned(),
            request_id: call.context.request_id.clone(),
            option_id: call.bound.is_option.then(|| call.bound.identifier.clone()),
            external_id: (!call.bound.is_option).then(|| call.bound.identifier.clone()),
            severity,
            violation,
        });
    }
}

/// The tool, if it is one that is called by reference.
fn callable<'a>(descriptor: &'a Descriptor, name: &str) -> Result<&'a Tool, CallError> {
    descriptor
        .tool(name)
        .filter(|tool| tool.role != ToolRole::Search)
        .ok_or_else(|| CallError::UnknownTool(name.to_owned()))
}

fn first_breach(fields: &ForbiddenFields<'_>, payload: &str) -> Option<Violation> {
    // An answer has no options: whatever breaks the rule breaks the whole of it.
    let breaches = fields.breaches(payload, "").ok()?;
    breaches.outside.into_iter().chain(breaches.options.into_values().flatten()).next()
}
