//! What a feed is fed by: calls of a track tool.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::{Subject, failure};
use crate::calling::{CallError, Called, Caller, Order};
use intent_gateway_domain::progress::Listener;

/// Calls the tool that is followed.
pub trait Source: Send + Sync {
    /// Whether the tool would be called.
    fn check<'a>(&'a self, subject: &'a Subject) -> BoxFuture<'a, Result<(), CallError>>;

    /// Calls it once, and tells of what comes before the answer.
    fn call<'a>(&'a self, subject: &'a Subject, listener: Listener<'a>) -> BoxFuture<'a, Result<Called, CallError>>;

    /// Whether the next call may be answered though this one failed.
    fn may_pass(&self, subject: &Subject, error: &CallError) -> bool;
}

impl Subject {
    fn order(&self) -> Order<'_> {
        Order {
            intent: &self.intent,
            tool: &self.tool,
            reference: &self.reference,
            arguments: &self.arguments,
            user: self.user.as_ref(),
            fallback_request_id: &self.fallback_request_id,
            trace: self.trace.as_ref(),
            listener: None,
        }
    }
}

impl Source for Caller {
    fn check<'a>(&'a self, subject: &'a Subject) -> BoxFuture<'a, Result<(), CallError>> {
        self.may_follow(subject.order()).boxed()
    }

    fn call<'a>(&'a self, subject: &'a Subject, listener: Listener<'a>) -> BoxFuture<'a, Result<Called, CallError>> {
        self.call(Order { listener: Some(listener), ..subject.order() }).boxed()
    }

    fn may_pass(&self, subject: &Subject, error: &CallError) -> bool {
        let contract = self.contracts.live(&subject.intent);
        failure::may_pass(error, contract.as_deref().map(|contract| contract.descriptor()))
    }
}
