//! A partner that answers every search at once, with the same payload, and takes every booking: a process of its own, run by this same
//! binary.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::net::TcpListener;

#[derive(Deserialize)]
struct Message<'a> {
    method: &'a str,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

/// What a booking is made of.
#[derive(Deserialize)]
struct Params {
    name: String,
    arguments: Arguments,
}

#[derive(Deserialize)]
struct Arguments {
    #[serde(default)]
    request_id: String,
    #[serde(default)]
    slot_id: String,
}

const CREATE_TOOL: &str = "create_ac_service_booking";

const INITIALIZED: &[u8] = br#","result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"instant","version":"1"}}}"#;
const UNKNOWN: &[u8] = br#","error":{"code":-32601,"message":"no such method"}}"#;

/// Serves on a free port, printing `listening on ADDRESS`, until the process is killed.
pub(crate) async fn serve(payload: &str, booking: &str) -> std::io::Result<()> {
    let found: Bytes = result_of(payload)?.into();
    let booking: Arc<Value> = Arc::new(serde_json::from_str(booking)?);
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    println!("listening on http://{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let (found, booking) = (found.clone(), Arc::clone(&booking));
        tokio::spawn(async move {
            let service = service_fn(move |request| answer(request, found.clone(), Arc::clone(&booking)));
            let connection = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            // A client that goes away ends its connection; the next one is not concerned.
            let _ = connection.await;
        });
    }
}

/// The rest of an answer with a payload.
fn result_of(payload: &str) -> serde_json::Result<String> {
    let text = serde_json::to_string(payload)?;
    Ok(format!(",\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":{text}}}]}}}}"))
}

/// The rest of an answer to a call: the same to every search, and to a booking one that has its names.
fn call(params: Option<&RawValue>, found: &Bytes, booking: &Value) -> Bytes {
    let params = params.and_then(|params| serde_json::from_str::<Params>(params.get()).ok());
    let Some(Params { arguments, .. }) = params.filter(|params| params.name == CREATE_TOOL) else {
        return found.clone();
    };
    let mut booking = booking.clone();
    booking["booking_id"] = format!("BK-{}", arguments.request_id).into();
    booking["slot_id"] = arguments.slot_id.into();
    result_of(&booking.to_string()).unwrap_or_default().into()
}

async fn answer(
    request: Request<Incoming>,
    found: Bytes,
    booking: Arc<Value>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let message = serde_json::from_slice::<Message<'_>>(&body).ok();
    let Some(Message { method, id: Some(id), params }) = message else {
        let mut accepted = Response::new(Full::default());
        *accepted.status_mut() = StatusCode::ACCEPTED;
        return Ok(accepted);
    };
    let tail = match method {
        "tools/call" => call(params, &found, &booking),
        "initialize" => Bytes::from_static(INITIALIZED),
        _ => Bytes::from_static(UNKNOWN),
    };
    let text = [format!("{{\"jsonrpc\":\"2.0\",\"id\":{id}").as_bytes(), &tail].concat();
    let mut response = Response::new(Full::from(text));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}
