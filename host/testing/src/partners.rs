//! Partners that answer as a test says, and remember how they were called.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::future::{pending, poll_fn};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Poll, Waker};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{PartnerCalls, ToolAnswer, ToolCall};
use intent_gateway_domain::progress::Progress;
use serde_json::Value;

/// One call as a partner saw it.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedCall {
    pub partner: String,
    pub intent: String,
    pub tool: String,
    pub arguments: Value,
    /// The user's own token, where one came with it.
    pub bearer: Option<String>,
    /// When the caller would have given up.
    pub timeout: Duration,
}

/// What comes of a call.
#[derive(Clone, Debug)]
pub enum Reply {
    Text(String),
    /// An answer with all that belongs to it.
    Answer(ToolAnswer),
    /// The call fails.
    Failure(CallFailure),
    /// The call fails, and this is what the partner wrote in place of an answer.
    Error(CallFailure, &'static str),
    /// Nothing, ever.
    Silence,
}

impl From<Value> for Reply {
    fn from(payload: Value) -> Self {
        Self::Text(payload.to_string())
    }
}

impl From<ToolAnswer> for Reply {
    fn from(answer: ToolAnswer) -> Self {
        Self::Answer(answer)
    }
}

impl From<CallFailure> for Reply {
    fn from(failure: CallFailure) -> Self {
        Self::Failure(failure)
    }
}

impl From<Result<Value, CallFailure>> for Reply {
    fn from(result: Result<Value, CallFailure>) -> Self {
        result.map_or_else(Self::Failure, Self::from)
    }
}

type Script = Arc<dyn Fn(&RecordedCall, Option<&Progress<'_>>) -> Reply + Send + Sync>;

/// Partners by a script each. A call that the test has not scripted panics.
#[derive(Default)]
pub struct ScriptedPartners(Mutex<State>);

#[derive(Default)]
struct State {
    scripts: BTreeMap<String, Script>,
    /// What partners do that have no script of their own.
    otherwise: Option<Script>,
    calls: Vec<RecordedCall>,
    under_way: usize,
    /// Whose answers are held back.
    held: BTreeSet<String>,
    wakers: Vec<Waker>,
}

impl State {
    fn script_of(&self, partner: &str) -> Option<Script> {
        self.scripts.get(partner).or(self.otherwise.as_ref()).cloned()
    }
}

impl ScriptedPartners {
    /// From here on, a partner replies like this to every call.
    pub fn reply(&self, partner: &str, reply: impl Into<Reply>) {
        self.reply_in_turn(partner, [reply]);
    }

    /// From here on, a partner replies with each of these in turn, and then with the last one again and again.
    pub fn reply_in_turn<R: Into<Reply>>(&self, partner: &str, replies: impl IntoIterator<Item = R>) {
        let replies: Mutex<VecDeque<Reply>> = Mutex::new(replies.into_iter().map(Into::into).collect());
        self.reply_with(partner, move |_, _| {
            let mut replies = replies.lock().expect("no test panics in it");
            let next = if replies.len() > 1 { replies.pop_front() } else { replies.front().cloned() };
            next.expect("at least one reply")
        });
    }

    /// From here on, a partner does this at every call; what the listener gets is told before the reply.
    pub fn reply_with(
        &self,
        partner: &str,
        script: impl Fn(&RecordedCall, Option<&Progress<'_>>) -> Reply + Send + Sync + 'static,
    ) {
        self.state().scripts.insert(partner.to_owned(), Arc::new(script));
    }

    /// From here on, partners without a script of their own do this at every call.
    pub fn reply_otherwise(
        &self,
        script: impl Fn(&RecordedCall, Option<&Progress<'_>>) -> Reply + Send + Sync + 'static,
    ) {
        self.state().otherwise = Some(Arc::new(script));
    }

    /// From here on, calls of a partner wait until it is released.
    pub fn hold(&self, partner: &str) {
        self.state().held.insert(partner.to_owned());
    }

    /// Lets the calls of a partner go on.
    ///
    /// # Panics
    /// When it was not held.
    pub fn release(&self, partner: &str) {
        let mut state = self.state();
        assert!(state.held.remove(partner), "the partner `{partner}` is not held");
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// All calls that have begun, in their order.
    pub fn calls(&self) -> Vec<RecordedCall> {
        self.state().calls.clone()
    }

    /// All calls since they were last taken.
    pub fn take_calls(&self) -> Vec<RecordedCall> {
        std::mem::take(&mut self.state().calls)
    }

    /// How many calls have begun and neither ended nor been dropped.
    pub fn under_way(&self) -> usize {
        self.state().under_way
    }

    async fn pass(&self, partner: &str) {
        poll_fn(|context| {
            let mut state = self.state();
            if !state.held.contains(partner) {
                return Poll::Ready(());
            }
            state.wakers.push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("no test panics in it")
    }
}

struct UnderWay<'a>(&'a ScriptedPartners);

impl<'a> UnderWay<'a> {
    fn begin(partners: &'a ScriptedPartners, call: RecordedCall) -> Self {
        let mut state = partners.state();
        state.calls.push(call);
        state.under_way += 1;
        Self(partners)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.state().under_way -= 1;
    }
}

impl PartnerCalls for ScriptedPartners {
    fn call<'a>(
        &'a self,
        partner: &'a Arc<Partner>,
        call: ToolCall<'a>,
    ) -> BoxFuture<'a, Result<ToolAnswer, CallFailure>> {
        async move {
            let recorded = RecordedCall {
                partner: partner.id.to_string(),
                intent: call.intent.to_owned(),
                tool: call.tool.to_owned(),
                arguments: serde_json::from_str(call.arguments).expect("arguments are JSON"),
                bearer: call.bearer.map(|token| token.expose().to_owned()),
                timeout: call.timeout,
            };
            let _under_way = UnderWay::begin(self, recorded.clone());
            self.pass(&recorded.partner).await;
            // The script may change the scripts, so it runs without the lock.
            let script = self.state().script_of(&recorded.partner);
            let Some(script) = script else {
                panic!("the test expects no call of `{}` at `{}`", recorded.tool, recorded.partner)
            };
            match script(&recorded, call.progress) {
                Reply::Text(text) => Ok(ToolAnswer::of(text)),
                Reply::Answer(answer) => Ok(answer),
                Reply::Failure(failure) => Err(failure),
                Reply::Error(failure, sent) => {
                    if let Some(error_text) = call.error_text {
                        error_text.note(sent);
                    }
                    Err(failure)
                }
                Reply::Silence => pending().await,
            }
        }
        .boxed()
    }
}

/// Remembers what a partner told of its work.
#[derive(Default)]
pub struct RecordedProgress(Mutex<Vec<String>>);

impl RecordedProgress {
    /// For a listener to call.
    pub fn hear(&self, params: &str) {
        self.0.lock().expect("no test panics in it").push(params.to_owned());
    }

    pub fn messages(&self) -> Vec<String> {
        self.0.lock().expect("no test panics in it").clone()
    }
}

impl fmt::Debug for RecordedProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RecordedProgress").field(&self.messages()).finish()
    }
}
