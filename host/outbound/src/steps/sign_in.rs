//! The user's token goes with the tools that want one, and is replaced once when the partner does not take it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Either, select};

use super::{Next, Outcome, Outgoing, Step};
use crate::policy::sign_in::{SignInNeed, SignIns};
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::ports::{Timer, UserTokens};
use intent_gateway_domain::secret::Secret;

/// How often one call is made again because of a token: the first without one, one with the user's, one with what has
/// replaced that.
const SIGN_INS_MAX: u32 = 2;

/// Gives calls the user's token where it is wanted.
pub(crate) struct SignIn {
    pub(crate) tokens: Arc<dyn UserTokens>,
    pub(crate) sign_ins: SignIns,
    pub(crate) timer: Arc<dyn Timer>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) next: Next,
}

impl Step for SignIn {
    fn call<'a>(&'a self, outgoing: Outgoing<'a>) -> BoxFuture<'a, Outcome> {
        self.call_as_wanted(outgoing).boxed()
    }
}

impl SignIn {
    async fn call_as_wanted(&self, mut outgoing: Outgoing<'_>) -> Outcome {
        let call = outgoing.call.clone();
        let Some(user) = &call.user else { return self.next.call(outgoing).await };
        let token = || self.tokens.token(&call.partner, user);
        if self.sign_ins.is_wanted(&call.partner.id, &call.tool, self.clock.now()) {
            outgoing.token = self.in_time(&outgoing, token()).await?;
        }
        for _ in 0..SIGN_INS_MAX {
            let outcome = self.next.call(outgoing.clone()).await;
            let Err(failure) = &outcome else { return outcome };
            let next = match (SignInNeed::of(failure), &outgoing.token) {
                (SignInNeed::Other(_), Some(refused)) => {
                    self.in_time(&outgoing, self.tokens.replace_token(&call.partner, user, refused)).await?
                }
                (SignInNeed::Other(_), None) => {
                    self.sign_ins.learn(&call.partner.id, &call.tool, self.clock.now());
                    self.in_time(&outgoing, token()).await?
                }
                (SignInNeed::Wider(_) | SignInNeed::None, _) => None,
            };
            let Some(next) = next else { return outcome };
            outgoing.token = Some(next);
        }
        self.next.call(outgoing).await
    }

    /// Waits for a token, but no longer than the call has time: the authorization server may be slow.
    async fn in_time(
        &self,
        outgoing: &Outgoing<'_>,
        token: BoxFuture<'_, Result<Option<Secret>, CallFailure>>,
    ) -> Result<Option<Secret>, CallFailure> {
        let left = Duration::from_millis(outgoing.deadline.ms_since(self.clock.now()));
        match select(token, self.timer.wait(left)).await {
            Either::Left((token, _)) => token,
            Either::Right(_) => {
                Err(CallFailure::Timeout(u64::try_from(outgoing.call.within.as_millis()).unwrap_or(u64::MAX)))
            }
        }
    }
}
