//! The two servers that bound what a gateway can do on this machine, each run as a process of its own by this same binary: one
//! that takes anything, and one that verifies and reads. Connections are served as `http::server` serves them.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{HeaderMap, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::money::Rate;
use intent_gateway_domain::secret::Secret;
use intent_gateway_ledger::completion::Report;
use intent_gateway_ledger::completion::intake::Acknowledgement;
use intent_gateway_ledger::completion::signature::{Keys, Presented, SIGNATURE_HEADER, TIMESTAMP_HEADER, VerifyingKey};
use tokio::net::TcpListener;

use crate::reports::{SIGNING_KEY, now_ms};

type Fault = Box<dyn std::error::Error + Send + Sync>;

/// As the gateway has it by default.
const HEADER_READ_TIMEOUT: Duration = Duration::from_secs(15);
/// Likewise.
const HEADER_MAX_BYTES: usize = 32 * 1024;

/// Serves on a free port, printing `listening on ADDRESS`, until the process is killed.
async fn serve<S, F>(service: S) -> Result<(), Fault>
where
    S: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Result<Response<Full<Bytes>>, Fault>> + Send + 'static,
{
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    println!("listening on http://{}", listener.local_addr()?);
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEADER_READ_TIMEOUT).max_buf_size(HEADER_MAX_BYTES);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let (builder, service) = (builder.clone(), service.clone());
        tokio::spawn(async move {
            // A client that goes away ends its connection; the next one is not concerned.
            let _ = builder.serve_connection(TokioIo::new(stream), service_fn(service)).await;
        });
    }
}

/// Takes every body and answers 202.
pub(crate) async fn bare() -> Result<(), Fault> {
    serve(|request| async move {
        request.into_body().collect().await?;
        let mut accepted = Response::new(Full::default());
        *accepted.status_mut() = StatusCode::ACCEPTED;
        Ok(accepted)
    })
    .await
}

/// Verifies and reads reports as the gateway does, keeps nothing, and answers what an acknowledgement says.
pub(crate) async fn verifying() -> Result<(), Fault> {
    let keys = Keys::new([VerifyingKey::new("bench", &Secret::new(SIGNING_KEY), Timestamp::EPOCH, None)]);
    serve(move |request| {
        let keys = keys.clone();
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            keys.verify(presented(&head.headers), &body, Timestamp::from_ms(now_ms()))?;
            let Report { external_id, status, amounts, .. } =
                Report::parse(&body).map_err(|refusal| refusal.code.clone())?;
            let commission_inr = Rate::DEFAULT.commission(amounts.amount);
            let acknowledgement =
                Acknowledgement { receipt_id: "rcpt_1".to_owned(), external_id, commission_inr, status, test: false };
            let mut response = Response::new(Full::from(serde_json::to_vec(&acknowledgement)?));
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            Ok(response)
        }
    })
    .await
}

fn presented(headers: &HeaderMap) -> Presented<'_> {
    let value = |name| headers.get(name).map(HeaderValue::as_bytes);
    Presented { timestamp: value(TIMESTAMP_HEADER), signature: value(SIGNATURE_HEADER) }
}
