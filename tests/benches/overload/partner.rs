//! A partner that answers every search at once, with the same payload: a process of its own, run by this same binary.

use std::convert::Infallible;
use std::net::SocketAddr;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::net::TcpListener;

#[derive(Deserialize)]
struct Message<'a> {
    method: &'a str,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
}

const INITIALIZED: &[u8] = br#","result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"instant","version":"1"}}}"#;
const UNKNOWN: &[u8] = br#","error":{"code":-32601,"message":"no such method"}}"#;

/// Serves on a free port, printing `listening on ADDRESS`, until the process is killed.
pub(crate) async fn serve(payload: &str) -> std::io::Result<()> {
    let text = serde_json::to_string(payload)?;
    let found: Bytes = format!(",\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":{text}}}]}}}}").into();
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    println!("listening on http://{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let found = found.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| answer(request, found.clone()));
            let connection = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            // A client that goes away ends its connection; the next one is not concerned.
            let _ = connection.await;
        });
    }
}

async fn answer(request: Request<Incoming>, found: Bytes) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let message = serde_json::from_slice::<Message<'_>>(&body).ok();
    let Some(Message { method, id: Some(id) }) = message else {
        let mut accepted = Response::new(Full::default());
        *accepted.status_mut() = StatusCode::ACCEPTED;
        return Ok(accepted);
    };
    let tail: &[u8] = match method {
        "tools/call" => &found,
        "initialize" => INITIALIZED,
        _ => UNKNOWN,
    };
    let text = [format!("{{\"jsonrpc\":\"2.0\",\"id\":{id}").as_bytes(), tail].concat();
    let mut response = Response::new(Full::from(text));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}
