//! The way out to partners: one call of one tool, as the contract's policies, the partner's health and the user's sign-in
//! allow it.
//!
//! A call passes steps, of which each is a type of its own over the next one; `steps` lists them in their order, each with
//! the reason for its place. What they decide is in [`policy`], which makes no calls, and in [`health`].
//!
//! Not here: what the arguments and answers mean, what is kept under a named key (`calling`), and how a call is sent.

pub mod health;
pub mod policy;
mod steps;
#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::health::Health;
use crate::policy::arguments::Arguments;
use crate::policy::cache::{AnswerCache, Question, Source};
use crate::policy::pace::Pace;
use crate::policy::sign_in::{SignInNeed, SignIns};
use crate::steps::{Everybody, HealthGate, Next, Outgoing, SearchAdmission, TakenSlot};
use intent_gateway_domain::clock::{Clock, Timestamp};
use intent_gateway_domain::contract::{CallContext, Descriptor, Tool};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::limits::TOOL_CALL_TIMEOUT;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{
    Contract, HealthLog, LeftOut, PartnerCalls, SignInLink, Timer, ToolAnswer, Unlinked, UserTokens,
};
use intent_gateway_domain::progress::Progress;
use intent_gateway_domain::trace::Trace;
use intent_gateway_domain::user::User;

/// Calls to partners.
pub struct Outbound {
    way: Next,
    searches: Arc<dyn SearchAdmission>,
    tokens: Arc<dyn UserTokens>,
    clock: Arc<dyn Clock>,
}

/// What stands between a caller and a partner.
pub struct Policies {
    /// Waits before retries.
    pub timer: Arc<dyn Timer>,
    /// Who is well.
    pub health: Arc<Health>,
    /// Who is told of changes in that.
    pub log: Arc<dyn HealthLog>,
    pub tokens: Arc<dyn UserTokens>,
    /// Which tools want one.
    pub sign_ins: SignIns,
    /// Rates and back-off; absent where they are switched off.
    pub pace: Option<Arc<Pace>>,
    /// Answers of read tools; absent where nothing is served again.
    pub cache: Option<AnswerCache<ToolAnswer>>,
}

/// The arguments that a contract has prepared for a tool: one text for all partners that are asked.
#[derive(Debug)]
pub struct PreparedArguments {
    /// A JSON object.
    text: Box<str>,
    /// Whether answers to it may be served again.
    is_kept: bool,
    /// Its digest as a value, worked out for whoever asks first.
    digest: OnceLock<Option<Digest>>,
}

impl PreparedArguments {
    /// Arguments that a contract has prepared for a tool.
    #[must_use]
    pub fn new(text: &str, tool: &Tool) -> Self {
        let is_kept = tool.cache_seconds.is_some_and(|seconds| seconds > 0);
        Self { text: text.into(), is_kept, digest: OnceLock::new() }
    }

    /// Arguments that nobody is served an earlier answer to.
    fn of_this_time(text: Box<str>) -> Self {
        Self { text, is_kept: false, digest: OnceLock::new() }
    }

    /// Its digest as a value, where it stands for one and answers to it may be served again. What cannot be read as one value may
    /// mean different things to different partners: it is asked each time.
    fn digest(&self) -> Option<Digest> {
        if !self.is_kept {
            return None;
        }
        *self.digest.get_or_init(|| Arguments::read(&self.text).ok().map(Arguments::digest))
    }
}

/// One call of one tool of one partner.
#[derive(Clone)]
pub struct OutboundCall {
    /// The contract that the request is pinned to.
    pub contract: Arc<dyn Contract>,
    /// The request.
    pub context: CallContext,
    /// Who is called.
    pub partner: Arc<Partner>,
    /// Name of the tool; one of the contract's.
    pub tool: Arc<str>,
    /// What is sent.
    pub arguments: Arc<PreparedArguments>,
    /// For whom.
    pub user: Option<User>,
    /// All tries and waits must be over within this time, at most [`TOOL_CALL_TIMEOUT`].
    pub within: Duration,
    /// Whether the call repeats one that was made before: no new wish of the user.
    pub is_repeat: bool,
    /// What it belongs to.
    pub trace: Option<Arc<Trace>>,
}

impl OutboundCall {
    fn descriptor(&self) -> &Descriptor {
        self.contract.descriptor()
    }

    /// The tool's declaration.
    fn tool(&self) -> Result<&Tool, CallFailure> {
        self.descriptor()
            .tool(&self.tool)
            .ok_or_else(|| CallFailure::Payload(format!("the contract has no tool `{}`", self.tool)))
    }
}

/// What a partner answered.
#[derive(Clone, Debug)]
pub struct PartnerAnswer {
    /// The payload, as the partner wrote it.
    pub answer: Arc<ToolAnswer>,
    /// Whether it came now or was kept.
    pub source: Source,
    /// Set where another tool than the one that was called has answered: the partner's orders were read after a failure, and
    /// the order was there.
    pub found_by: Option<OrderLookup>,
    kept: Option<KeptAnswer>,
}

/// Where an answer is kept.
#[derive(Clone, Debug)]
struct KeptAnswer {
    cache: AnswerCache<ToolAnswer>,
    question: Question,
}

/// The call by which an order was found that had landed.
#[derive(Clone, Debug)]
pub struct OrderLookup {
    /// Name of the tool that lists the partner's orders.
    pub tool: Arc<str>,
    /// What was sent to it.
    pub arguments: Box<str>,
}

impl PartnerAnswer {
    /// One that a partner gave to this very call.
    fn sent(answer: ToolAnswer) -> Self {
        Self { answer: Arc::new(answer), source: Source::Called, found_by: None, kept: None }
    }

    /// Whoever has read the answer says when its own time ends: it is not served after that.
    pub fn end_by(&self, ends_at: Timestamp) {
        if let Some(KeptAnswer { cache, question }) = &self.kept {
            cache.end_by(*question, ends_at);
        }
    }
}

impl Outbound {
    /// Calls as the policies allow.
    #[must_use]
    pub fn new(calls: Arc<dyn PartnerCalls>, clock: Arc<dyn Clock>, policies: Policies) -> Self {
        let Policies { health, log, tokens, .. } = &policies;
        let gate = Arc::new(HealthGate { health: health.clone(), log: log.clone(), clock: clock.clone() });
        let tokens = tokens.clone();
        let way = steps::with_policies(calls, clock.clone(), &gate, policies);
        Self { way, searches: gate, tokens, clock }
    }

    /// Every call goes out at once and once: for looking at one partner on purpose.
    #[must_use]
    pub fn plain(calls: Arc<dyn PartnerCalls>, clock: Arc<dyn Clock>) -> Self {
        let way = steps::plain(calls, clock.clone());
        Self { way, searches: Arc::new(Everybody), tokens: Arc::new(Unlinked), clock }
    }

    /// Which of the partners chosen for a search are called, in their order, and why the others are not.
    pub fn admit_search<'a>(
        &self,
        intent: &IntentId,
        mut partners: impl Iterator<Item = &'a PartnerId>,
    ) -> Vec<Result<(), LeftOut>> {
        self.searches.admit_search(intent, &mut partners)
    }

    /// Makes a call. Dropped before it has ended, the partner's call is dropped with it, unless others wait for the same.
    ///
    /// # Errors
    /// [`CallFailure`]: the last one, after the retries that the contract grants.
    pub async fn call(
        &self,
        call: OutboundCall,
        progress: Option<&Progress<'_>>,
    ) -> Result<PartnerAnswer, CallFailure> {
        let within_ms = u64::try_from(call.within.min(TOOL_CALL_TIMEOUT).as_millis()).unwrap_or(u64::MAX);
        let outgoing = Outgoing {
            token: None,
            deadline: self.clock.now().plus_ms(within_ms),
            is_repeat: call.is_repeat,
            user_slot: TakenSlot::default(),
            progress,
            call: Arc::new(call),
        };
        self.way.call(outgoing).await
    }

    /// Where a user signs in at a partner that has asked for it.
    #[must_use]
    pub fn sign_in_link(&self, partner: &PartnerId, user: Option<&User>, failure: &CallFailure) -> Option<SignInLink> {
        let challenge = match SignInNeed::of(failure) {
            SignInNeed::Other(challenge) => challenge,
            SignInNeed::Wider(challenge) => Some(challenge),
            SignInNeed::None => return None,
        };
        self.tokens.link(partner, user?, challenge)
    }
}
