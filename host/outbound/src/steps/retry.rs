//! A call that failed is made again as its tool and the error table say.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::read_first::{Orders, read_orders};
use super::{Next, Outcome, Outgoing, Step};
use crate::policy::retry::{Plan, Retry};
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::ports::Timer;
use intent_gateway_domain::telemetry;

/// Makes the tries of a call; a write that must not be made twice only after a look at the partner's orders.
pub(crate) struct RetryFailed {
    pub(crate) timer: Arc<dyn Timer>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) next: Next,
}

impl Step for RetryFailed {
    fn call<'a>(&'a self, outgoing: Outgoing<'a>) -> BoxFuture<'a, Outcome> {
        self.try_until_done(outgoing).boxed()
    }
}

impl RetryFailed {
    async fn try_until_done(&self, outgoing: Outgoing<'_>) -> Outcome {
        let call = outgoing.call.clone();
        let mut plan = Plan::new(call.descriptor(), call.tool()?, outgoing.deadline);
        let mut failure = match self.next.call(outgoing.clone()).await {
            Err(failure) => failure,
            answered => return answered,
        };
        let again = Outgoing { is_repeat: true, ..outgoing };
        loop {
            match plan.next(&failure, self.clock.now()) {
                Retry::After(wait_ms) => {
                    tracing::debug!(
                        partner = %call.partner.id, tool = %call.tool, outcome = telemetry::failure(&failure), wait_ms,
                        "a call is tried again"
                    );
                    self.timer.wait(Duration::from_millis(wait_ms)).await;
                }
                Retry::ReadFirst(wait_ms) => {
                    self.timer.wait(Duration::from_millis(wait_ms)).await;
                    match read_orders(&again, &*self.next).await? {
                        Orders::Landed(answer) => return Ok(answer),
                        Orders::None => {}
                        Orders::Unclear => return Err(failure),
                    }
                }
                Retry::GiveUp => return Err(failure),
            }
            failure = match self.next.call(again.clone()).await {
                // A retry that may not go out leaves the failure before it standing.
                Err(CallFailure::NotCalled { .. }) => return Err(failure),
                Err(failure) => failure,
                answered => return answered,
            };
        }
    }
}
