//! The steps of a call's way out, each over the next one. All of them are listed once, in [`with_policies`].

mod health;
mod pace;
mod read_first;
mod record;
mod retry;
mod send;
mod serve_kept;
mod sign_in;

use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;

use self::health::AskHealth;
pub(crate) use self::health::{Everybody, HealthGate, SearchAdmission};
use self::pace::{GiveTurnBack, KeepPace};
use self::record::RecordHealth;
use self::retry::RetryFailed;
use self::send::SendCall;
use self::serve_kept::ServeKept;
use self::sign_in::SignIn;
use crate::policy::pace::UserSlot;
use crate::{OutboundCall, PartnerAnswer, Policies};
use intent_gateway_domain::clock::{Clock, Timestamp};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::ports::PartnerCalls;
use intent_gateway_domain::progress::Progress;
use intent_gateway_domain::secret::Secret;

/// What comes of a step.
pub(crate) type Outcome = Result<PartnerAnswer, CallFailure>;

/// One step of the way.
pub(crate) trait Step: Send + Sync {
    /// Passes a call on as the step allows it, and its outcome back. Dropped, it drops the call.
    fn call<'a>(&'a self, outgoing: Outgoing<'a>) -> BoxFuture<'a, Outcome>;
}

/// The step below another one.
pub(crate) type Next = Arc<dyn Step>;

/// A call on its way, with what the steps above have added to it.
#[derive(Clone)]
pub(crate) struct Outgoing<'a> {
    pub(crate) call: Arc<OutboundCall>,
    /// The user's token, where one goes with it.
    pub(crate) token: Option<Secret>,
    /// All tries and waits are over by then.
    pub(crate) deadline: Timestamp,
    /// Whether it repeats a call that was made before: no new wish of the user.
    pub(crate) is_repeat: bool,
    /// Takes the slot that the call has in its user's rate.
    pub(crate) user_slot: TakenSlot,
    /// Where the partner's words before the answer go.
    pub(crate) progress: Option<&'a Progress<'a>>,
}

/// The slot that a call has taken in its user's rate, if it has: one for all its tries.
pub(crate) type TakenSlot = Arc<Mutex<Option<UserSlot>>>;

impl Outgoing<'_> {
    /// The same, of whose progress nobody hears.
    fn unheard(self) -> Outgoing<'static> {
        let Self { call, token, deadline, is_repeat, user_slot, progress: _ } = self;
        Outgoing { call, token, deadline, is_repeat, user_slot, progress: None }
    }
}

/// The way of calls that contracts and users want: every step, outermost first, with the reason for its place.
pub(crate) fn with_policies(
    calls: Arc<dyn PartnerCalls>,
    clock: Arc<dyn Clock>,
    gate: &Arc<HealthGate>,
    policies: Policies,
) -> Next {
    let Policies { timer, tokens, sign_ins, pace, cache, .. } = policies;
    Way::default()
        // Outermost: what a token shows is one user's, so everything below has to know whose token goes with the call. A
        // call that is made again with another token passes all of it again.
        .then(|next| SignIn { tokens, sign_ins, timer: timer.clone(), clock: clock.clone(), next })
        // Above all that limits calls: what is served again, or by somebody else's call, costs the partner nothing.
        .then_with(cache, |cache, next| ServeKept { cache, next })
        // Above retries: the user has one turn for all tries of a call, and only the last failure says that nothing came of
        // it.
        .then_with(pace.clone(), |pace, next| GiveTurnBack { pace, timer: timer.clone(), next })
        // Above health and pace: every try asks them anew, and so does the look at the partner's orders before a write is
        // repeated.
        .then(|next| RetryFailed { timer: timer.clone(), clock: clock.clone(), next })
        // Above pace: a call that a broken server does not get takes no place in a rate.
        .then(|next| AskHealth { gate: gate.clone(), next })
        // Below everything that may still keep a call back: what a rate counts has gone out.
        .then_with(pace, |pace, next| KeepPace { pace, timer: timer.clone(), clock: clock.clone(), next })
        // Innermost: how long a partner takes includes no wait of the gateway's own.
        .then(|next| RecordHealth { gate: gate.clone(), next })
        .send_by(SendCall { calls, clock: clock.clone() })
}

/// The way of a call that is made on purpose to see one partner: at once and once.
pub(crate) fn plain(calls: Arc<dyn PartnerCalls>, clock: Arc<dyn Clock>) -> Next {
    Way::default().send_by(SendCall { calls, clock })
}

/// Steps in the order in which a call passes them.
#[derive(Default)]
struct Way<'a>(Vec<Box<dyn FnOnce(Next) -> Next + 'a>>);

impl<'a> Way<'a> {
    /// The next step.
    fn then<S: Step + 'static>(mut self, over: impl FnOnce(Next) -> S + 'a) -> Self {
        self.0.push(Box::new(|next| Arc::new(over(next))));
        self
    }

    /// The next step, where what it stands on is switched on.
    fn then_with<P: 'a, S: Step + 'static>(self, part: Option<P>, over: impl FnOnce(P, Next) -> S + 'a) -> Self {
        match part {
            Some(part) => self.then(|next| over(part, next)),
            None => self,
        }
    }

    /// The end of the way.
    fn send_by(self, send: SendCall) -> Next {
        let send: Next = Arc::new(send);
        self.0.into_iter().rev().fold(send, |next, over| over(next))
    }
}
