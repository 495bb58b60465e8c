//! What a feed is fed by: calls of a track tool.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::Subject;
use crate::calling::{CallError, CallOutcome, CallRequest, Caller};
use crate::pinned::PinnedFailure;
use intent_gateway_domain::progress::Listener;

/// Calls the tool that is followed.
pub trait Source: Send + Sync {
    /// Whether the tool would be called.
    fn check<'a>(&'a self, subject: &'a Subject) -> BoxFuture<'a, Result<(), PinnedFailure<CallError>>>;

    /// Calls it once, and tells of what comes before the answer.
    fn call<'a>(
        &'a self,
        subject: &'a Subject,
        listener: Listener<'a>,
    ) -> BoxFuture<'a, Result<CallOutcome, PinnedFailure<CallError>>>;
}

impl Subject {
    fn request(&self) -> CallRequest<'_> {
        CallRequest {
            intent: &self.intent,
            tool: &self.tool,
            reference: &self.reference,
            arguments: &self.arguments,
            asker: &self.asker,
            fallback_request_id: &self.fallback_request_id,
            trace: self.trace.as_ref(),
            listener: None,
        }
    }
}

impl Source for Caller {
    fn check<'a>(&'a self, subject: &'a Subject) -> BoxFuture<'a, Result<(), PinnedFailure<CallError>>> {
        self.may_follow(subject.request()).boxed()
    }

    fn call<'a>(
        &'a self,
        subject: &'a Subject,
        listener: Listener<'a>,
    ) -> BoxFuture<'a, Result<CallOutcome, PinnedFailure<CallError>>> {
        self.call(CallRequest { listener: Some(listener), ..subject.request() }).boxed()
    }
}
