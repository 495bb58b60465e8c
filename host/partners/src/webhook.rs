//! Posts an event to a partner's webhook: once, to addresses that are judged like any of a partner, without redirects.

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Full};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::limits::{WEBHOOK_ANSWER_MAX_BYTES, WEBHOOK_EXCERPT_MAX_CHARS, WEBHOOK_TIMEOUT};
use intent_gateway_domain::partner_error::{clean, protocol};
use intent_gateway_domain::webhook_post::{WebhookAnswer, WebhookPost, WebhookRequest};

use crate::client::PartnerClient;
use crate::connections::ReceivedBody;
use crate::exchange::broken;

impl WebhookPost for PartnerClient {
    fn post<'a>(&'a self, request: WebhookRequest<'a>) -> BoxFuture<'a, Result<WebhookAnswer, CallFailure>> {
        Box::pin(async move {
            match tokio::time::timeout(WEBHOOK_TIMEOUT, self.post_event(request)).await {
                Ok(outcome) => outcome,
                Err(_) => Err(CallFailure::Timeout(u64::try_from(WEBHOOK_TIMEOUT.as_millis()).unwrap_or(u64::MAX))),
            }
        })
    }
}

impl PartnerClient {
    async fn post_event(&self, event: WebhookRequest<'_>) -> Result<WebhookAnswer, CallFailure> {
        let WebhookRequest { url, id, timestamp, signature, body } = event;
        let mut request = Request::new(Full::new(Bytes::copy_from_slice(body.as_bytes())));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.policy().endpoint(url)?;
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        let timestamp = timestamp.to_string();
        for (name, value) in [("webhook-id", id), ("webhook-timestamp", &timestamp), ("webhook-signature", signature)] {
            headers.insert(name, HeaderValue::from_str(value).map_err(|_| protocol("a header that cannot be sent"))?);
        }
        read(self.wire().exchange(request).await?).await
    }
}

async fn read(response: Response<ReceivedBody>) -> Result<WebhookAnswer, CallFailure> {
    let status = response.status().as_u16();
    let mut body = response.into_body();
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| broken(&error))?;
        bytes.extend_from_slice(frame.data_ref().map_or(&[][..], |data| &data[..]));
        // A webhook's status is its answer; the text is for whoever looks for an error.
        if bytes.len() >= WEBHOOK_ANSWER_MAX_BYTES {
            bytes.truncate(WEBHOOK_ANSWER_MAX_BYTES);
            break;
        }
    }
    let excerpt = clean(&String::from_utf8_lossy(&bytes)).chars().take(WEBHOOK_EXCERPT_MAX_CHARS).collect();
    Ok(WebhookAnswer { status, excerpt })
}
