//! One call of a tool that is not a search: booking, following, cancelling, on behalf of a user.
//!
//! The way of a call: open the reference, pin the contract that ranked, check the arguments, bind them to what the
//! reference is about, call the one partner, scan the answer for forbidden fields, have the contract judge it. Each step
//! comes only after the one before, so nothing reaches a partner for an altered, foreign or expired reference.
//!
//! A write that names its key is made once ([`once`]); an order is followed at the pace that its partner bears
//! ([`Tracker`]). Retries, rates, health and the user's token are the business of [`outbound`](intent_gateway_outbound).
//!
//! Not here: HTTP.

mod attempt;
mod beginning;
mod binding;
mod error;
mod judging;
mod once;
mod ordering;
mod prepare;
mod progress;
mod quoted;
mod settling;
#[cfg(test)]
mod tests;
mod time;
mod unsettled;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::value::RawValue;

pub use error::CallError;
pub use once::forget_attempts;
pub use ordering::OrderStanding;
pub(crate) use ordering::known_identifiers;
pub(crate) use prepare::outlasts_routing;
pub use unsettled::Unsettled;

use self::prepare::PreparedCall;
use self::time::CallTime;
use crate::pinned::{PinnedContract, PinnedFailure};
use crate::reference::{AskerMark, BookingReference, Reference, ReferenceSealer};
use crate::search::{Searcher, ShownRankings};
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::contract::{ToolRole, Violation};
use intent_gateway_domain::limits::TOOL_CALL_TIMEOUT;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{Contracts, Evidence, Journal, PartnerDirectory, Timer};
use intent_gateway_domain::progress::Listener;
use intent_gateway_domain::store::{Store, StoreTrouble};
use intent_gateway_domain::telemetry::{self, Stage};
use intent_gateway_domain::trace::Trace;
use intent_gateway_domain::user::Asker;
use intent_gateway_domain::vault::Vault;
use intent_gateway_outbound::Outbound;
use intent_gateway_outbound::policy::idempotency::KeyedWrite;
use intent_gateway_outbound::policy::pace::track::Tracker;

/// How often a call is prepared whose order others keep changing.
const PREPARATIONS_MAX: u32 = 8;
/// When such a call is tried again, milliseconds.
const OVERTAKEN_WAIT_MS: u64 = 1_000;

/// Calls tools over the ports.
pub struct Caller {
    pub contracts: Arc<dyn Contracts>,
    /// Who may be called.
    pub directory: Arc<dyn PartnerDirectory>,
    /// How they are called.
    pub outbound: Arc<Outbound>,
    /// Where findings go.
    pub journal: Arc<dyn Journal>,
    /// What was quoted.
    pub evidence: Arc<dyn Evidence>,
    /// The same of what searches have shown lately.
    pub shown_rankings: ShownRankings,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
    /// Opens and seals references.
    pub references: ReferenceSealer,
    /// What is kept of writes under their keys.
    pub memory: KeyedWrites,
    /// The answers of those who follow orders.
    pub tracker: Tracker<JudgedAnswer>,
    /// Ends of calls that the store did not take yet.
    pub unsettled: Unsettled,
    /// A call as a whole (spec 1, Limits: 30 seconds).
    pub timeout: Duration,
}

/// Where writes are kept under their keys, and how it is waited for one that is under way.
#[derive(Clone)]
pub struct KeyedWrites {
    /// Keeps them.
    pub store: Arc<dyn Store>,
    /// Seals what partners answered.
    pub vault: Vault,
    /// Waits.
    pub timer: Arc<dyn Timer>,
}

/// What is to be called.
#[derive(Clone, Copy, Debug)]
pub struct CallRequest<'a> {
    /// The intent that the path names.
    pub intent: &'a str,
    pub tool: &'a str,
    /// A reference to an option or to a booking.
    pub reference: &'a str,
    /// The tool's arguments, a JSON object.
    pub arguments: &'a str,
    /// Who asks, and for whom.
    pub asker: &'a Asker,
    /// Used when the arguments bring no `request_id`.
    pub fallback_request_id: &'a str,
    /// What the call belongs to.
    pub trace: Option<&'a Arc<Trace>>,
    /// Who hears what the partner tells before its answer.
    pub listener: Option<Listener<'a>>,
}

/// A call whose answer passed.
#[derive(Debug)]
pub struct CallOutcome {
    /// The request's identifier.
    pub request_id: String,
    /// The contract that judged.
    pub contract: PinnedContract,
    /// Who answered.
    pub partner: Arc<Partner>,
    /// The answer as the partner wrote it.
    pub payload: Box<RawValue>,
    /// Signed; what later calls about it go by. Absent where the answer carries no identifier.
    pub reference: Option<String>,
    /// An advisory code of the intent's error table, for example `CANCELLATION_FEE_DUE`.
    pub advisory: Option<String>,
    /// The tool that answered, where it is another than the one that was called: after a failure, the partner's orders were
    /// read, and the order was there.
    pub by: Option<Arc<str>>,
    /// The order that the call has opened or gone on with, where its intent has orders.
    pub order: Option<OrderStanding>,
    /// Advice on the arguments.
    pub notes: Vec<Violation>,
    /// How long the partner took.
    pub elapsed: Duration,
}

/// An answer that passed the scan and the contract.
#[derive(Clone, Debug)]
pub struct JudgedAnswer {
    payload: Box<RawValue>,
    /// The identifier of what the answer is about, where it has one.
    booking: Option<String>,
    advisory: Option<String>,
    /// The tool that answered, where it is another than the one that was called.
    by: Option<Arc<str>>,
    /// The order, once it is settled.
    order: Option<OrderStanding>,
    elapsed: Duration,
}

impl Caller {
    /// One that works beside a searcher: with the same contracts, partners and references.
    #[must_use]
    pub fn beside(searcher: &Searcher, evidence: Arc<dyn Evidence>, memory: KeyedWrites) -> Self {
        let Searcher {
            contracts,
            directory,
            outbound,
            journal,
            clock,
            references,
            shown_rankings,
            timeout: _,
            past_orders: _,
            rollouts: _,
        } = searcher;
        Self {
            contracts: contracts.clone(),
            directory: directory.clone(),
            outbound: outbound.clone(),
            journal: journal.clone(),
            evidence,
            shown_rankings: shown_rankings.clone(),
            clock: clock.clone(),
            references: references.clone(),
            memory,
            tracker: Tracker::default(),
            unsettled: Unsettled::default(),
            timeout: TOOL_CALL_TIMEOUT,
        }
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// [`CallError`]; for those that come before the call, the partner was not asked.
    pub async fn call(&self, request: CallRequest<'_>) -> Result<CallOutcome, PinnedFailure<CallError>> {
        self.require_fresh()?;
        let (contract, reference) = self.pin(&request).await.ok_or_else(|| invalid_intent(&request))?;
        let outcome = self.run(contract.clone(), reference, request).await;
        count(&contract, request.tool, outcome.as_ref());
        outcome.map_err(|error| PinnedFailure { contract: Some(contract), error })
    }

    /// Whether it is known which contracts are to serve.
    fn require_fresh(&self) -> Result<(), PinnedFailure<CallError>> {
        if !self.contracts.is_stale() {
            return Ok(());
        }
        let what = "it has not been known for too long which contract is to serve".to_owned();
        let trouble = StoreTrouble::Unavailable;
        Err(PinnedFailure::without_contract(CallError::Store { trouble, answered: false, what }))
    }

    /// Whether an order may be followed: the tool is a track tool, and nothing stands against calling it.
    ///
    /// # Errors
    /// [`CallError`], as a call of the tool would give it before the partner is asked.
    pub(crate) async fn may_follow(&self, request: CallRequest<'_>) -> Result<(), PinnedFailure<CallError>> {
        self.require_fresh()?;
        let (contract, reference) = self.pin(&request).await.ok_or_else(|| invalid_intent(&request))?;
        let time = CallTime::begin(self.clock.now(), self.timeout);
        let checked = match self.prepare(contract.clone(), reference, request, &time).await {
            Ok(call) => check_followable(call),
            Err(error) => Err(error),
        };
        checked.map_err(|error| PinnedFailure { contract: Some(contract), error })
    }

    async fn run(
        &self,
        contract: PinnedContract,
        reference: Option<Reference>,
        request: CallRequest<'_>,
    ) -> Result<CallOutcome, CallError> {
        let time = CallTime::begin(self.clock.now(), self.timeout);
        let mut call = self.prepare(contract.clone(), reference.clone(), request, &time).await?;
        let mut preparations = 1;
        let answer = loop {
            if let Some(answer) = self.carry(&call).await? {
                break answer;
            }
            preparations += 1;
            if preparations > PREPARATIONS_MAX {
                return Err(CallError::UnderWay { wait_ms: OVERTAKEN_WAIT_MS });
            }
            call = self.prepare(contract.clone(), reference.clone(), request, &time).await?;
        };
        let start = Instant::now();
        let reference = self.refer_to(&call, &answer);
        telemetry::stage(Stage::Respond, call.descriptor(), start.elapsed());
        let PreparedCall { contract, context, partner, notes, .. } = call;
        let JudgedAnswer { payload, advisory, by, order, elapsed, .. } = answer;
        let request_id = context.request_id;
        Ok(CallOutcome { request_id, contract, partner, payload, reference, advisory, by, order, notes, elapsed })
    }

    /// Makes a prepared call, by whatever way its tool goes. None where another call of its order has overtaken it: it is
    /// prepared anew then.
    async fn carry(&self, call: &PreparedCall<'_>) -> Result<Option<JudgedAnswer>, CallError> {
        let (tool, request) = (call.tool()?, &call.request);
        let keyed = KeyedWrite::read(&call.partner.id, request.intent, tool, call.arguments.get(), request.asker)
            .map_err(|error| error::of_key(&error, tool))?;
        match (keyed, &call.expired) {
            (Some(keyed), _) => self.call_once(call, &keyed).await,
            (None, Some(expired)) => Err(expired.clone()),
            (None, None) if tool.role == ToolRole::Track => self.track(call).await.map(Some),
            (None, None) if call.part.is_step() => self.call_in_order(call).await,
            (None, None) => self.make(call, false).await.map(Some),
        }
    }

    /// A reference to what a call has made, or to its order. An answer that names nothing is about what the call was about.
    fn refer_to(&self, call: &PreparedCall<'_>, answer: &JudgedAnswer) -> Option<String> {
        let order = answer.order.as_ref().map(|order| order.id.clone());
        let (booking_id, member) = match (&answer.booking, &order) {
            (Some(booking), _) => (booking.clone(), binding::member_of(answer.payload.get(), booking)),
            (None, Some(_)) => (call.binding.identifier.clone(), call.binding.member.clone()),
            (None, None) => return None,
        };
        Some(self.references.seal_booking(&BookingReference {
            partner: call.partner.id.to_string(),
            intent: call.request.intent.to_owned(),
            contract: call.contract.digest(),
            member,
            booking_id,
            asker: Some(AskerMark::of(call.request.asker)),
            option: call.binding.option.clone(),
            order,
        }))
    }
}

fn invalid_intent(request: &CallRequest<'_>) -> PinnedFailure<CallError> {
    PinnedFailure::without_contract(CallError::InvalidIntent(request.intent.to_owned()))
}

fn check_followable(call: PreparedCall<'_>) -> Result<(), CallError> {
    if call.tool()?.role != ToolRole::Track {
        return Err(CallError::UnknownTool(call.request.tool.to_owned()));
    }
    call.expired.map_or(Ok(()), Err)
}

/// Counts a call by its outcome. One of a tool that the contract does not have is not counted.
fn count(contract: &PinnedContract, tool: &str, outcome: Result<&CallOutcome, &CallError>) {
    let Some(tool) = contract.descriptor().tool(tool) else { return };
    let outcome = match outcome {
        Ok(_) => telemetry::Outcome::Ok,
        Err(CallError::Partner { .. } | CallError::Answer(_) | CallError::Contract(_) | CallError::Store { .. }) => {
            telemetry::Outcome::Failed
        }
        Err(_) => telemetry::Outcome::Refused,
    };
    telemetry::tool_call(contract.descriptor(), &tool.name, outcome);
}
