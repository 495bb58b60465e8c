//! Asks gateways, and says how each request ended.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use hyper::{Request, StatusCode};
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use intent_gateway_domain::clock::{Clock as _, SystemClock};
use intent_gateway_ledger::completion::signature::{SIGNATURE_HEADER, Signer, TIMESTAMP_HEADER};
use serde_json::Value;

use crate::record::Outcome;

/// How long a request may take: longer than any deadline of a gateway.
const ANSWER_MAX: Duration = Duration::from_secs(50);
/// How long an unused connection is kept: what a burst has opened is not to be counted long after it.
const IDLE_MAX: Duration = Duration::from_secs(5);
/// How long a connection may take to be made.
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// Asks gateways over kept connections.
pub struct Client {
    http: HttpClient<HttpConnector, Full<Bytes>>,
}

/// What came.
pub struct Answer {
    pub outcome: Outcome,
    /// The body of a success.
    pub body: Value,
    /// When to come again, where a refusal says so.
    pub retry_after: Option<Duration>,
}

impl Answer {
    /// One that never came.
    #[must_use]
    pub fn without(outcome: Outcome) -> Self {
        Self { outcome, body: Value::Null, retry_after: None }
    }
}

impl Default for Client {
    fn default() -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(CONNECT_MAX));
        let mut builder = HttpClient::builder(TokioExecutor::new());
        builder.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE_MAX);
        Self { http: builder.build(connector) }
    }
}

impl Client {
    /// Posts as the orchestrator, for a user.
    pub async fn post(&self, url: &str, token: &str, user: &str, body: &Value) -> Answer {
        let request = Request::post(url)
            .header(AUTHORIZATION, format!("Bearer {token}"))
            .header("x-user-id", user)
            .header(CONTENT_TYPE, "application/json")
            .body(Full::from(body.to_string()));
        self.send(request).await
    }

    /// Signs a report now and posts it.
    pub async fn report(&self, url: &str, signer: &Signer, body: &str) -> Answer {
        let now = SystemClock.now().as_ms();
        let request = Request::post(url)
            .header(TIMESTAMP_HEADER, now.to_string())
            .header(SIGNATURE_HEADER, signer.sign(now, body.as_bytes()))
            .header(CONTENT_TYPE, "application/json")
            .body(Full::from(body.to_owned()));
        self.send(request).await
    }

    async fn send(&self, request: hyper::http::Result<Request<Full<Bytes>>>) -> Answer {
        // An address that is none leads nowhere.
        let Ok(request) = request else { return Answer::without(Outcome::NoConnection) };
        let whole = async {
            let response = match self.http.request(request).await {
                Ok(response) => response,
                Err(error) if error.is_connect() => return Answer::without(Outcome::NoConnection),
                Err(_) => return Answer::without(Outcome::Broken),
            };
            let (head, body) = response.into_parts();
            let Ok(body) = body.collect().await else { return Answer::without(Outcome::Broken) };
            let body: Value = serde_json::from_slice(&body.to_bytes()).unwrap_or_default();
            if head.status == StatusCode::OK {
                return Answer { outcome: Outcome::Full, body, retry_after: None };
            }
            let code = body["error"]["code"].as_str().unwrap_or("without a code").to_owned();
            let seconds = head.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
            let outcome = Outcome::Refused(head.status.as_u16(), code);
            Answer { outcome, body: Value::Null, retry_after: seconds.map(Duration::from_secs) }
        };
        tokio::time::timeout(ANSWER_MAX, whole).await.unwrap_or_else(|_| Answer::without(Outcome::TimedOut))
    }
}
