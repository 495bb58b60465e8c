//! The way out to partners: one call of one tool, as the contract's policies, the partner's health and the user's sign-in
//! allow it.
//!
//! From the outside in: an answer that is kept is served again, and one call serves all who ask the same ([`cache`]); the
//! user's token goes with tools that want one, and is replaced once when the partner does not take it ([`sign_in`]); a call
//! that may not go out now is held back or told why ([`pace`], [`health`](crate::health)); one that failed is repeated as
//! its tool and error table say ([`retry`]). Every try is recorded against the partner's health.
//!
//! Not here: what the arguments and answers mean, and what is kept under a named key
//! (`calling`).
//!
//! [`cache`]: crate::policy::cache
//! [`pace`]: crate::policy::pace
//! [`retry`]: crate::policy::retry
//! [`sign_in`]: crate::policy::sign_in

pub mod health;
pub mod policy;
mod read_first;
#[cfg(test)]
mod tests;
mod tries;

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Either, select};

use crate::health::{Admission, Cause, Health};
use crate::policy::arguments::Arguments;
use crate::policy::cache::{AnswerCache, Fetched, Question, Source};
use crate::policy::pace::Pace;
use crate::policy::sign_in::SignIns;
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::contract::{CallContext, Descriptor, Tool, ToolRole};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::{CallFailure, INSUFFICIENT_SCOPE};
use intent_gateway_domain::id::{IntentId, PartnerId, UserId};
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{Contract, HealthLog, PartnerCalls, Timer, ToolCall, UserTokens};
use intent_gateway_domain::progress::Progress;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::trace::Trace;

/// How often one call is made again because of a token: the first without one, one with the user's, one with what has
/// replaced that.
const SIGN_INS_MAX: u32 = 2;
/// The code by which a partner refuses a call without a good token (spec 1, Errors).
const INVALID_AUTH: &str = "INVALID_AUTH";

/// Calls to partners.
pub struct Outbound {
    calls: Arc<dyn PartnerCalls>,
    clock: Arc<dyn Clock>,
    policies: Option<Policies>,
}

/// What stands between a caller and a partner.
pub struct Policies {
    /// Waits before retries.
    pub timer: Arc<dyn Timer>,
    /// Who is well.
    pub health: Arc<Health>,
    /// Who is told of changes in that.
    pub log: Arc<dyn HealthLog>,
    /// The users' tokens.
    pub tokens: Arc<dyn UserTokens>,
    /// Which tools want one.
    pub sign_ins: SignIns,
    /// Rates and back-off; absent where they are switched off.
    pub pace: Option<Pace>,
    /// Answers of read tools; absent where nothing is served again.
    pub cache: Option<AnswerCache<String>>,
}

/// What is sent to a tool: one text for all partners that are asked.
#[derive(Debug)]
pub struct Sent {
    /// The arguments, a JSON object.
    text: Box<str>,
    /// Their digest as a value, where they stand for one.
    digest: Option<Digest>,
}

impl Sent {
    /// Arguments that a contract has prepared for a tool.
    #[must_use]
    pub fn new(text: &str, tool: &Tool) -> Self {
        let is_kept = tool.cache_seconds.is_some_and(|seconds| seconds > 0);
        // What cannot be read as one value may mean different things to different partners: it is asked each time.
        let digest = is_kept.then(|| Arguments::read(text).ok().map(Arguments::digest)).flatten();
        Self { text: text.into(), digest }
    }
}

/// One call of one tool of one partner.
#[derive(Clone)]
pub struct Errand {
    /// The contract that the request is pinned to.
    pub contract: Arc<dyn Contract>,
    /// The request.
    pub context: CallContext,
    /// Who is called.
    pub partner: Arc<Partner>,
    /// Name of the tool; one of the contract's.
    pub tool: Arc<str>,
    /// What is sent.
    pub sent: Arc<Sent>,
    /// For whom.
    pub user: Option<UserId>,
    /// All tries and waits must be over within this time.
    pub within: Duration,
    /// Whether the call repeats one that was made before: no new wish of the user.
    pub again: bool,
    /// What it belongs to.
    pub trace: Option<Arc<Trace>>,
}

impl Errand {
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

/// What came back.
#[derive(Clone, Debug)]
pub struct Answered {
    /// The payload, JSON text as the partner wrote it.
    pub text: Arc<String>,
    /// Whether it came now or was kept.
    pub source: Source,
    /// Set where another tool than the one that was called has answered: the partner's orders were read after a failure, and
    /// the order was there.
    pub by: Option<Read>,
    question: Option<Question>,
}

/// The call by which an order was found that had landed.
#[derive(Clone, Debug)]
pub struct Read {
    /// Name of the tool that lists the partner's orders.
    pub tool: Arc<str>,
    /// What was sent to it.
    pub arguments: Box<str>,
}

/// What the tries of a call gave.
struct Reply {
    text: String,
    by: Option<Read>,
}

/// Whether a partner that was chosen for a search is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It is.
    Called,
    /// It is too slow for the intent at the moment.
    TooSlow,
    /// Its server is down.
    Down,
}

impl Outbound {
    /// Calls as the policies allow.
    #[must_use]
    pub fn new(calls: Arc<dyn PartnerCalls>, clock: Arc<dyn Clock>, policies: Policies) -> Self {
        Self { calls, clock, policies: Some(policies) }
    }

    /// Every call goes out at once and once: for looking at one partner on purpose.
    #[must_use]
    pub fn plain(calls: Arc<dyn PartnerCalls>, clock: Arc<dyn Clock>) -> Self {
        Self { calls, clock, policies: None }
    }

    /// Which of the partners chosen for a search are called, in their order.
    pub fn admit<'a>(&self, intent: &IntentId, partners: impl Iterator<Item = &'a PartnerId>) -> Vec<Turn> {
        let Some(policies) = &self.policies else { return partners.map(|_| Turn::Called).collect() };
        let admitted = policies.health.admit(intent, partners, self.clock.now_ms());
        for event in admitted.events {
            policies.log.changed(event);
        }
        let turn = |admission| match admission {
            Admission::Go | Admission::Probe(_) => Turn::Called,
            Admission::LeftOut(Cause::Slow) => Turn::TooSlow,
            Admission::LeftOut(Cause::Broken) => Turn::Down,
        };
        admitted.admissions.into_iter().map(turn).collect()
    }

    /// Makes a call. Dropped before it has ended, the partner's call is dropped with it, unless others wait for the same.
    ///
    /// # Errors
    /// [`CallFailure`]: the last one, after the retries that the contract grants.
    pub async fn call(
        self: &Arc<Self>,
        errand: &Errand,
        progress: Option<&Progress<'_>>,
    ) -> Result<Answered, CallFailure> {
        let Some(policies) = &self.policies else {
            let text = self.send(errand, errand.within, None, progress).await?;
            return Ok(Answered { text: Arc::new(text), source: Source::Called, by: None, question: None });
        };
        let started_ms = self.clock.now_ms();
        let wanted = policies.sign_ins.wanted(&errand.partner.id, &errand.tool, started_ms);
        let mut token = match errand.user.as_ref().filter(|_| wanted) {
            Some(user) => {
                self.in_time(policies, errand, started_ms, policies.tokens.token(&errand.partner, user)).await?
            }
            None => None,
        };
        let mut sign_ins = 0;
        loop {
            let outcome = self.ask(policies, errand, token.as_ref(), started_ms, progress).await;
            let Err(failure) = &outcome else { return outcome };
            let Some(user) = errand.user.as_ref().filter(|_| sign_ins < SIGN_INS_MAX) else { return outcome };
            let next = match (sign_in(failure), &token) {
                (SignIn::Wanted(_), Some(refused)) => {
                    let replaced = policies.tokens.replaced(&errand.partner, user, refused);
                    self.in_time(policies, errand, started_ms, replaced).await?
                }
                (SignIn::Wanted(_), None) => {
                    policies.sign_ins.learn(&errand.partner.id, &errand.tool, self.clock.now_ms());
                    self.in_time(policies, errand, started_ms, policies.tokens.token(&errand.partner, user)).await?
                }
                (SignIn::Wider(_) | SignIn::None, _) => None,
            };
            let Some(next) = next else { return outcome };
            token = Some(next);
            sign_ins += 1;
        }
    }

    /// Whoever has read an answer says when its own time ends, milliseconds since the epoch: it is not served after that.
    pub fn ends(&self, answered: &Answered, ends_ms: u64) {
        let cache = self.policies.as_ref().and_then(|policies| policies.cache.as_ref());
        if let (Some(cache), Some(question)) = (cache, answered.question) {
            cache.end_by(question, ends_ms);
        }
    }

    /// Where a user signs in at a partner that has asked for it.
    #[must_use]
    pub fn link(&self, partner: &PartnerId, user: Option<&UserId>, failure: &CallFailure) -> Option<String> {
        let challenge = match sign_in(failure) {
            SignIn::Wanted(challenge) => challenge,
            SignIn::Wider(challenge) => Some(challenge),
            SignIn::None => return None,
        };
        self.policies.as_ref()?.tokens.link(partner, user?, challenge)
    }

    /// Waits for a token, but no longer than the errand has time: the authorization server may be slow.
    async fn in_time(
        &self,
        policies: &Policies,
        errand: &Errand,
        started_ms: u64,
        token: BoxFuture<'_, Result<Option<Secret>, CallFailure>>,
    ) -> Result<Option<Secret>, CallFailure> {
        let spent = Duration::from_millis(self.clock.now_ms().saturating_sub(started_ms));
        match select(token, policies.timer.wait(errand.within.saturating_sub(spent))).await {
            Either::Left((token, _)) => token,
            Either::Right(_) => Err(CallFailure::Timeout(u64::try_from(errand.within.as_millis()).unwrap_or(u64::MAX))),
        }
    }

    /// Serves a kept answer, joins a call under way, or makes one. A call that others may join carries either nobody's token
    /// or that of the one user who is part of the question, so nobody is answered with what another user's token showed.
    async fn ask(
        self: &Arc<Self>,
        policies: &Policies,
        errand: &Errand,
        token: Option<&Secret>,
        started_ms: u64,
        progress: Option<&Progress<'_>>,
    ) -> Result<Answered, CallFailure> {
        let question = match (&policies.cache, errand.sent.digest) {
            (Some(_), Some(digest)) => {
                let signed_in = token.and(errand.user.as_ref());
                let intent = errand.descriptor().intent.as_str();
                Question::of(&errand.partner.id, intent, errand.tool()?, digest, signed_in)
            }
            _ => None,
        };
        let (Some(cache), Some(question)) = (&policies.cache, question) else {
            let Reply { text, by } = self.tries(policies, errand, token, started_ms, progress).await?;
            return Ok(Answered { text: Arc::new(text), source: Source::Called, by, question: None });
        };
        let (this, owned, token) = (Arc::clone(self), errand.clone(), token.cloned());
        let call = move || {
            async move {
                let Some(policies) = &this.policies else { return Err(CallFailure::Busy) };
                let Reply { text, .. } = this.tries(policies, &owned, token.as_ref(), started_ms, None).await?;
                Ok(Fetched { bytes: text.len(), answer: text })
            }
            .boxed()
        };
        let (text, source) = cache.get(question, call).await?;
        Ok(Answered { text, source, by: None, question: Some(question) })
    }

    /// Sends one call.
    async fn send(
        &self,
        errand: &Errand,
        timeout: Duration,
        bearer: Option<&Secret>,
        progress: Option<&Progress<'_>>,
    ) -> Result<String, CallFailure> {
        let intent = errand.descriptor().intent.as_str();
        let call = ToolCall {
            bearer,
            trace: errand.trace.as_deref(),
            progress,
            ..ToolCall::new(intent, &errand.tool, &errand.sent.text, timeout)
        };
        self.calls.call(&errand.partner, call).await.map(|answer| answer.text)
    }
}

/// What a failure says of the user's sign-in, with the partner's challenge.
#[derive(Clone, Copy)]
enum SignIn<'a> {
    None,
    /// One is wanted, or another than was shown.
    Wanted(Option<&'a str>),
    /// The token is good, and grants too little: no other one will do but that of a wider grant.
    Wider(&'a str),
}

fn sign_in(failure: &CallFailure) -> SignIn<'_> {
    match failure {
        CallFailure::SignInRequired { challenge } if challenge.contains(INSUFFICIENT_SCOPE) => SignIn::Wider(challenge),
        CallFailure::SignInRequired { challenge } => SignIn::Wanted(Some(challenge)),
        CallFailure::Unauthorized => SignIn::Wanted(None),
        CallFailure::Platform { code, .. } if code == INVALID_AUTH => SignIn::Wanted(None),
        _ => SignIn::None,
    }
}

/// Whether a call of this tool is a search, for whose partners [`Outbound::admit`] has spoken already.
fn is_search(tool: &Tool) -> bool {
    tool.role == ToolRole::Search
}
