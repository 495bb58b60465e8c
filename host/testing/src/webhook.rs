//! A webhook that takes what is posted, or answers as it is told.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use futures_util::future::BoxFuture;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::webhook_post::{WebhookAnswer, WebhookPost, WebhookRequest};

/// What was posted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posted {
    pub url: String,
    pub id: String,
    pub timestamp: u64,
    pub signature: String,
    pub body: String,
}

/// Takes every post with 204, but where an answer was laid in.
#[derive(Debug, Default)]
pub struct ScriptedWebhook {
    answers: Mutex<VecDeque<Option<u16>>>,
    is_broken: AtomicBool,
    posted: Mutex<Vec<Posted>>,
}

impl ScriptedWebhook {
    /// The next posts are answered so, one each; no answer comes to a `None`.
    pub fn answer(&self, answers: impl IntoIterator<Item = Option<u16>>) {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).extend(answers);
    }

    /// From here on posts are answered with 500, or taken again.
    pub fn set_broken(&self, is_broken: bool) {
        self.is_broken.store(is_broken, Ordering::Relaxed);
    }

    /// What was posted since the last call.
    pub fn take_posted(&self) -> Vec<Posted> {
        std::mem::take(&mut self.posted.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl WebhookPost for ScriptedWebhook {
    fn post<'a>(&'a self, request: WebhookRequest<'a>) -> BoxFuture<'a, Result<WebhookAnswer, CallFailure>> {
        let WebhookRequest { url, id, timestamp, signature, body } = request;
        let [url, id, signature, body] = [url, id, signature, body].map(str::to_owned);
        let posted = Posted { url, id, timestamp, signature, body };
        self.posted.lock().unwrap_or_else(PoisonError::into_inner).push(posted);
        let answer = self.answers.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let otherwise = if self.is_broken.load(Ordering::Relaxed) { 500 } else { 204 };
        let answered = match answer.unwrap_or(Some(otherwise)) {
            Some(status) => Ok(WebhookAnswer { status, excerpt: String::new() }),
            None => Err(CallFailure::Timeout(10_000)),
        };
        Box::pin(std::future::ready(answered))
    }
}
