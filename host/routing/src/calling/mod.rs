//! One call of a tool that is no search: booking, following, cancelling, on behalf of a user.
//!
//! The way of a call: open the reference, pin the contract that ranked, check the arguments, bind them to what the
//! reference is about, call the one partner, scan the answer for forbidden fields, have the contract judge it. Each step
//! comes only after the one before, so nothing reaches a partner for an altered, foreign or expired reference.
//!
//! A write that names its key is made once ([`once`]); an order is followed at the pace that its partner bears
//! ([`Tracker`]). Retries, rates, health and the user's token are the business of [`outbound`](intent_gateway_outbound).
//!
//! Not here: HTTP.

mod binding;
mod error;
mod judging;
mod once;
#[cfg(test)]
mod tests;
mod words;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::value::RawValue;

pub use error::CallError;
pub use once::forget_attempts;

use self::words::scan;
use crate::reference::{BookingReference, OptionReference, Reference, ReferenceSealer, UserMark};
use crate::search::{PinnedContract, Searcher};
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::contract::{CallContext, Descriptor, PreparedRequest, Tool, ToolRole, Violation};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::{CallFailure, NotCalled};
use intent_gateway_domain::findings::Severity;
use intent_gateway_domain::id::{PartnerId, UserId};
use intent_gateway_domain::limits::TOOL_CALL_TIMEOUT;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{Contract, Contracts, Evidence, Journal, PartnerDirectory, Timer};
use intent_gateway_domain::progress::{Listener, Progress};
use intent_gateway_domain::store::Store;
use intent_gateway_domain::telemetry::{self, Stage};
use intent_gateway_domain::trace::Trace;
use intent_gateway_domain::vault::Vault;
use intent_gateway_outbound::policy::idempotency::KeyedWrite;
use intent_gateway_outbound::policy::pace::track::{ASK_AGAIN_MS, TrackDecision, Tracker};
use intent_gateway_outbound::{Outbound, OutboundCall, PreparedArguments};

/// Calls tools over the ports.
pub struct Caller {
    /// The contracts.
    pub contracts: Arc<dyn Contracts>,
    /// Who may be called.
    pub directory: Arc<dyn PartnerDirectory>,
    /// How they are called.
    pub outbound: Arc<Outbound>,
    /// Where findings go.
    pub journal: Arc<dyn Journal>,
    /// What was quoted.
    pub evidence: Arc<dyn Evidence>,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
    /// Opens and seals references.
    pub references: ReferenceSealer,
    /// What is kept of writes under their keys.
    pub memory: Memory,
    /// The answers of those who follow orders.
    pub tracker: Tracker<Judged>,
    /// A call as a whole (spec 1, Limits: 30 seconds).
    pub timeout: Duration,
}

/// Where writes are kept under their keys, and how it is waited for one that is under way.
#[derive(Clone)]
pub struct Memory {
    /// Keeps them.
    pub store: Arc<dyn Store>,
    /// Seals what partners answered.
    pub vault: Vault,
    /// Waits.
    pub timer: Arc<dyn Timer>,
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
    /// What the call belongs to.
    pub trace: Option<&'a Arc<Trace>>,
    /// Who hears what the partner tells before its answer.
    pub listener: Option<Listener<'a>>,
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
    /// The tool that answered, where it is another than the one that was called: after a failure, the partner's orders were
    /// read, and the order was there.
    pub by: Option<Arc<str>>,
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

/// A reference that was opened.
struct Opened {
    bound: Bound,
    /// The contract that it was made under.
    contract: Digest,
    /// Set when the option's time is over.
    expired: Option<CallError>,
}

/// A call on its way, pinned.
struct Pinned<'a> {
    contract: Arc<dyn Contract>,
    context: CallContext,
    order: Order<'a>,
    partner: Arc<Partner>,
    bound: Bound,
    arguments: Box<RawValue>,
    notes: Vec<Violation>,
    /// The whole of it is over by then, milliseconds since the epoch.
    deadline_ms: u64,
}

impl Pinned<'_> {
    fn tool(&self) -> Result<&Tool, CallError> {
        callable(self.contract.descriptor(), self.order.tool)
    }
}

/// An answer that passed the scan and the contract.
#[derive(Clone, Debug)]
pub struct Judged {
    payload: Box<RawValue>,
    /// The identifier of what the answer is about, where it has one.
    booking: Option<String>,
    advisory: Option<String>,
    /// The tool that answered, where it is another than the one that was called.
    by: Option<Arc<str>>,
    elapsed: Duration,
}

impl Caller {
    /// One that works beside a searcher: with the same contracts, partners and references.
    #[must_use]
    pub fn beside(searcher: &Searcher, evidence: Arc<dyn Evidence>, memory: Memory) -> Self {
        let Searcher { contracts, directory, outbound, journal, clock, references, timeout: _ } = searcher;
        Self {
            contracts: contracts.clone(),
            directory: directory.clone(),
            outbound: outbound.clone(),
            journal: journal.clone(),
            evidence,
            clock: clock.clone(),
            references: references.clone(),
            memory,
            tracker: Tracker::default(),
            timeout: TOOL_CALL_TIMEOUT,
        }
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// [`CallError`]; for those that come before the call, the partner was not asked.
    pub async fn call(&self, order: Order<'_>) -> Result<Called, CallError> {
        let (intent, tool) = (order.intent, order.tool);
        let outcome = self.called(order).await;
        self.count(intent, tool, &outcome);
        outcome
    }

    async fn called(&self, order: Order<'_>) -> Result<Called, CallError> {
        let (call, expired) = self.prepare(order).await?;
        let tool = call.tool()?;
        let write = KeyedWrite::read(&call.partner.id, order.intent, tool, call.arguments.get(), order.user)
            .map_err(|error| error::of_key(&error, tool))?;
        let judged = match (write, expired) {
            (Some(write), expired) => self.make_once(&call, &write, expired).await?,
            (None, Some(expired)) => return Err(expired),
            (None, None) if tool.role == ToolRole::Track => self.track(&call).await?,
            (None, None) => self.make(&call, false).await?,
        };
        let start = Instant::now();
        let reference =
            judged.booking.as_ref().map(|booking| self.booking(&call, booking.clone(), judged.payload.get()));
        telemetry::stage(Stage::Respond, call.contract.descriptor(), start.elapsed());
        let Pinned { contract, context, partner, notes, .. } = call;
        let Judged { payload, advisory, by, elapsed, .. } = judged;
        Ok(Called {
            request_id: context.request_id,
            contract: PinnedContract(contract),
            partner,
            payload,
            reference,
            advisory,
            by,
            notes,
            elapsed,
        })
    }

    /// Counts a call by what came of it. One of a tool or an intent that nobody knows is nobody's.
    fn count(&self, intent: &str, tool: &str, outcome: &Result<Called, CallError>) {
        let Some(contract) = self.contracts.live(intent) else { return };
        let descriptor = contract.descriptor();
        let Some(tool) = descriptor.tool(tool) else { return };
        let outcome = match outcome {
            Ok(_) => telemetry::Outcome::Ok,
            Err(CallError::Partner { .. } | CallError::Answer(_) | CallError::Contract(_) | CallError::Store(_)) => {
                telemetry::Outcome::Failed
            }
            Err(_) => telemetry::Outcome::Refused,
        };
        telemetry::tool_call(descriptor, &tool.name, outcome);
    }

    /// Everything that comes before a call. An option whose time is over comes back as such beside the call: what was
    /// booked of it in time may still be asked for under its key.
    async fn prepare<'a>(&self, order: Order<'a>) -> Result<(Pinned<'a>, Option<CallError>), CallError> {
        let start = Instant::now();
        let now_ms = self.clock.now_ms();
        let live =
            self.contracts.live(order.intent).ok_or_else(|| CallError::InvalidIntent(order.intent.to_owned()))?;
        let Opened { bound, contract, expired } = self.open(&order, now_ms, &*live)?;
        let contract = self.contracts.loaded(contract).unwrap_or(live);
        let tool = callable(contract.descriptor(), order.tool)?;
        let expired = match expired {
            Some(expired) if tool.idempotency_key.is_none() => return Err(expired),
            expired => expired,
        };
        let partner = self.partner(&bound.partner, order.intent)?;
        let mut context = CallContext { request_id: order.fallback_request_id.to_owned(), now_ms };
        let checked = self.check(&*contract, &context, order.tool, tool, order.arguments, &bound).await;
        // Arguments for an option that cannot be had are not worth complaining of.
        let prepared = match (checked, &expired) {
            (Err(_), Some(expired)) => return Err(expired.clone()),
            (checked, _) => checked?,
        };
        if let Some(request_id) = binding::request_id(prepared.arguments.get())? {
            context.request_id = request_id;
        }
        telemetry::stage(Stage::Check, contract.descriptor(), start.elapsed());
        let within_ms = u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX);
        let PreparedRequest { arguments, notes, .. } = prepared;
        let deadline_ms = now_ms.saturating_add(within_ms);
        Ok((Pinned { contract, context, order, partner, bound, arguments, notes, deadline_ms }, expired))
    }

    async fn check(
        &self,
        contract: &dyn Contract,
        context: &CallContext,
        name: &str,
        tool: &Tool,
        arguments: &str,
        bound: &Bound,
    ) -> Result<PreparedRequest, CallError> {
        let arguments = binding::bound(arguments, tool, bound)?;
        contract.check_request(context, name, &arguments).await.map_err(CallError::of_request)
    }

    /// Calls the partner, and has its answer judged.
    async fn make(&self, call: &Pinned<'_>, again: bool) -> Result<Judged, CallError> {
        let left_ms = call.deadline_ms.saturating_sub(self.clock.now_ms());
        let outbound_call = OutboundCall {
            contract: call.contract.clone(),
            context: call.context.clone(),
            partner: call.partner.clone(),
            tool: Arc::from(call.order.tool),
            arguments: Arc::new(PreparedArguments::new(call.arguments.get(), call.tool()?)),
            user: call.order.user.cloned(),
            within: Duration::from_millis(left_ms),
            is_repeat: again,
            trace: call.order.trace.cloned(),
        };
        let start = Instant::now();
        let hear = call.order.listener.map(|listener| scan(self, call, listener));
        let progress = hear.as_ref().map(|hear| Progress::new(Listener::new(hear)));
        let answered = self.outbound.call(outbound_call, progress.as_ref()).await;
        let elapsed = start.elapsed();
        telemetry::partner_stage(Stage::Call, call.contract.descriptor(), &call.partner.id, elapsed);
        let (payload, checked, by) = match answered {
            Ok(answered) => {
                let text = Arc::try_unwrap(answered.text).unwrap_or_else(|shared| shared.as_str().to_owned());
                let (payload, checked) = self.judge(call, text, answered.found_by.as_ref()).await?;
                (payload, checked, answered.found_by.map(|by| by.tool))
            }
            Err(failure) => return Err(self.failed(call, failure)),
        };
        for violation in checked.findings {
            self.record(call, Severity::Note, violation);
        }
        Ok(Judged { payload, booking: checked.reference, advisory: checked.advisory, by, elapsed })
    }

    /// Calls a track tool at the pace that an order bears; in between, the last answer is served.
    async fn track(&self, call: &Pinned<'_>) -> Result<Judged, CallError> {
        // Two tools that follow one order answer different things.
        let order = format!("{} {}", call.order.tool, call.bound.identifier);
        loop {
            let now_ms = self.clock.now_ms();
            match self.tracker.ask(&call.partner.id, &order, call.order.user, now_ms) {
                TrackDecision::Serve(judged) => return Ok(Judged::clone(&judged)),
                TrackDecision::Call(permit) => {
                    return self.in_turn(call, permit).await;
                }
                TrackDecision::Wait(wait_ms)
                    if wait_ms > ASK_AGAIN_MS || now_ms.saturating_add(wait_ms) > call.deadline_ms =>
                {
                    let failure = CallFailure::NotCalled { why: NotCalled::PartnerRate, wait_ms: Some(wait_ms) };
                    return Err(CallError::Partner { code: None, failure, link: None });
                }
                TrackDecision::Wait(wait_ms) => self.memory.timer.wait(Duration::from_millis(wait_ms)).await,
            }
        }
    }

    /// Opens the reference.
    fn open(&self, order: &Order<'_>, now_ms: u64, live: &dyn Contract) -> Result<Opened, CallError> {
        let opened = self.references.open(order.reference).map_err(|_| CallError::InvalidReference)?;
        let (bound, intent, contract, expired) = match opened {
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
                let expired = match expires_at_ms {
                    None => Some(CallError::NotBookable),
                    Some(expires_at_ms) if expires_at_ms <= now_ms => {
                        Some(CallError::Expired(live.descriptor().search.gone_code.clone()))
                    }
                    Some(_) => None,
                };
                let option = receipt.map(|receipt| (receipt, number));
                let member = live.descriptor().search.id_key.rsplit('/').next().map(str::to_owned);
                let bound = Bound { partner, identifier: option_id, member, option, user, is_option: true };
                (bound, intent, contract, expired)
            }
            Reference::Booking(BookingReference { partner, intent, contract, booking_id, member, user, option }) => {
                let bound = Bound { partner, identifier: booking_id, member, option, user, is_option: false };
                (bound, intent, contract, None)
            }
        };
        // What is another intent's or another user's is as good as made up: nothing more is told.
        if intent != order.intent || bound.user != order.user.map(UserMark::of) {
            return Err(CallError::InvalidReference);
        }
        match expired {
            Some(CallError::NotBookable) => Err(CallError::NotBookable),
            expired => Ok(Opened { bound, contract, expired }),
        }
    }

    /// The partner, if requests of the intent are still routed to it.
    fn partner(&self, id: &str, intent: &str) -> Result<Arc<Partner>, CallError> {
        let id = PartnerId::parse(id).map_err(|_| CallError::InvalidReference)?;
        self.directory
            .find(&id)
            .filter(|partner| partner.listing(intent).is_some())
            .ok_or_else(|| CallError::PartnerGone(id.clone()))
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
}

/// The tool, if it is one that is called by reference.
fn callable<'a>(descriptor: &'a Descriptor, name: &str) -> Result<&'a Tool, CallError> {
    descriptor
        .tool(name)
        .filter(|tool| tool.role != ToolRole::Search)
        .ok_or_else(|| CallError::UnknownTool(name.to_owned()))
}
