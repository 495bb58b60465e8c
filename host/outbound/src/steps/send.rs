//! The end of the way: the call goes out, and a partner's own error comes back under the contract's error table.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::{Outcome, Outgoing, Step};
use crate::PartnerAnswer;
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::ports::{PartnerCalls, ToolCall};

/// Sends each call once, with the time that it has left.
pub(crate) struct SendCall {
    pub(crate) calls: Arc<dyn PartnerCalls>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Step for SendCall {
    fn call<'a>(&'a self, Outgoing { call, token, deadline, progress, .. }: Outgoing<'a>) -> BoxFuture<'a, Outcome> {
        async move {
            let left = Duration::from_millis(deadline.ms_since(self.clock.now()));
            let intent = call.descriptor().intent.as_str();
            let tool_call = ToolCall {
                bearer: token.as_ref(),
                trace: call.trace.as_deref(),
                progress,
                ..ToolCall::new(intent, &call.tool, &call.arguments.text, left)
            };
            let answered = self.calls.call(&call.partner, tool_call).await;
            // Here and nowhere else: every step above, and every caller, sees a code that the contract knows.
            answered.map(PartnerAnswer::sent).map_err(|failure| failure.under(call.descriptor()))
        }
        .boxed()
    }
}
