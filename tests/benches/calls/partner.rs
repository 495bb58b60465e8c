//! A partner that costs as little as possible: hyper, and an answer for each tool that was prepared once. It is a process of
//! its own, run by this same binary.
//!
//! Below `/hang` it is another partner, whose tools never answer.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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

use crate::exchange;
use crate::subject::SUBJECTS;

type Fault = Box<dyn std::error::Error + Send + Sync>;

/// Path of the partner whose tools never answer.
pub(crate) const HANG: &str = "/hang";
/// Tells how many connections were accepted.
const ACCEPTED: &str = "/accepted";

struct Partner {
    /// What follows the identifier in an answer, by tool.
    tails: HashMap<&'static str, Bytes>,
    accepted: AtomicU64,
}

/// Serves on a free port, printing `listening on ADDRESS`, until the process is killed.
pub(crate) async fn serve() -> Result<(), Fault> {
    let of_contracts =
        SUBJECTS.iter().flat_map(|subject| [(subject.search_tool, subject.found()), (subject.tool, subject.answer())]);
    let of_sizes = exchange::ANSWERS.map(|(tool, bytes)| (tool, exchange::payload(bytes)));
    let mut tails = HashMap::new();
    for (tool, payload) in of_contracts.chain(of_sizes) {
        let text = serde_json::to_string(&payload)?;
        let tail = format!(",\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":{text}}}]}}}}");
        tails.insert(tool, tail.into());
    }
    let partner = Arc::new(Partner { tails, accepted: AtomicU64::new(0) });
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    println!("listening on http://{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        partner.accepted.fetch_add(1, Ordering::Relaxed);
        let partner = Arc::clone(&partner);
        tokio::spawn(async move {
            let service = service_fn(move |request| answer(Arc::clone(&partner), request));
            let connection = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            // A client that goes away ends its connection; the next one is not concerned.
            let _ = connection.await;
        });
    }
}

/// Connections that a partner has accepted so far, but for those of this question.
pub(crate) fn accepted(address: &str) -> u64 {
    static ASKED: AtomicU64 = AtomicU64::new(0);
    let mut stream = std::net::TcpStream::connect(address).expect("the partner listens");
    let own = ASKED.fetch_add(1, Ordering::Relaxed) + 1;
    write!(stream, "GET {ACCEPTED} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").expect("it takes it");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let number = answer.rsplit("\r\n").next().and_then(|body| body.parse::<u64>().ok());
    number.unwrap_or_else(|| panic!("no number: {answer}")) - own
}

#[derive(Deserialize)]
struct Message<'a> {
    method: &'a str,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    params: Option<Params<'a>>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(default)]
    name: &'a str,
}

async fn answer(partner: Arc<Partner>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Fault> {
    let path = request.uri().path().to_owned();
    if path == ACCEPTED {
        return Ok(Response::new(Full::from(partner.accepted.load(Ordering::Relaxed).to_string())));
    }
    let body = request.into_body().collect().await?.to_bytes();
    let message: Message<'_> = serde_json::from_slice(&body)?;
    let Some(id) = message.id else {
        let mut accepted = Response::new(Full::default());
        *accepted.status_mut() = StatusCode::ACCEPTED;
        return Ok(accepted);
    };
    let mut text = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id}").into_bytes();
    let tail = message.params.and_then(|params| partner.tails.get(params.name));
    match (message.method, tail) {
        ("tools/call", _) if path.starts_with(HANG) => std::future::pending().await,
        ("tools/call", Some(tail)) => text.extend_from_slice(tail),
        ("initialize", _) => text.extend_from_slice(
            b",\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"instant\",\"version\":\"1\"}}}",
        ),
        _ => text.extend_from_slice(b",\"error\":{\"code\":-32601,\"message\":\"no such method\"}}"),
    }
    let mut response = Response::new(Full::from(text));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}
