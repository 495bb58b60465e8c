//! The port to partners' webhooks: one post of an event, and what was answered.

use futures_util::future::BoxFuture;

use crate::error::CallFailure;

/// What is posted to a partner's webhook, as Standard Webhooks has it.
#[derive(Clone, Copy, Debug)]
pub struct WebhookRequest<'a> {
    pub url: &'a str,
    /// `webhook-id`: the same at each try.
    pub id: &'a str,
    /// `webhook-timestamp`: seconds since the epoch.
    pub timestamp: u64,
    /// `webhook-signature`.
    pub signature: &'a str,
    /// JSON text.
    pub body: &'a str,
}

/// What a webhook has answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookAnswer {
    pub status: u16,
    /// The beginning of the body, as text: at most [`WEBHOOK_EXCERPT_MAX_CHARS`](crate::limits::WEBHOOK_EXCERPT_MAX_CHARS).
    pub excerpt: String,
}

/// Posts to partners' webhooks.
pub trait WebhookPost: Send + Sync {
    /// Posts once, to public addresses alone; follows no redirect. Never takes longer than
    /// [`WEBHOOK_TIMEOUT`](crate::limits::WEBHOOK_TIMEOUT).
    ///
    /// # Errors
    /// [`CallFailure`] where no whole answer came.
    fn post<'a>(&'a self, request: WebhookRequest<'a>) -> BoxFuture<'a, Result<WebhookAnswer, CallFailure>>;
}
