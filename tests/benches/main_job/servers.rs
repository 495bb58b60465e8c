//! The two servers that a whole search is measured against, each run as a process of its own by this same
//! binary: a partner that answers at once, and a bare hyper proxy.

use std::net::SocketAddr;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::net::TcpListener;

type Fault = Box<dyn std::error::Error + Send + Sync>;

/// Serves on a free port, printing `listening on ADDRESS`, until the process is killed.
async fn serve<S, F>(service: S) -> Result<(), Fault>
where
    S: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Result<Response<Full<Bytes>>, Fault>> + Send + 'static,
{
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    println!("listening on http://{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let service = service.clone();
        tokio::spawn(async move {
            let connection =
                hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(service));
            // A client that goes away ends its connection; the next one is not concerned.
            let _ = connection.await;
        });
    }
}

/// A partner whose search answer is one payload, prepared once.
pub(crate) async fn partner(payload: &str) -> Result<(), Fault> {
    let text = serde_json::to_string(payload)?;
    let tail: Bytes = format!(",\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":{text}}}]}}}}").into();
    serve(move |request| {
        let tail = tail.clone();
        async move {
            let body = request.into_body().collect().await?.to_bytes();
            Ok(answer(&body, &tail)?)
        }
    })
    .await
}

#[derive(Deserialize)]
struct Message<'a> {
    method: &'a str,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
}

fn answer(body: &[u8], tail: &[u8]) -> Result<Response<Full<Bytes>>, serde_json::Error> {
    let message: Message<'_> = serde_json::from_slice(body)?;
    let Some(id) = message.id else {
        let mut accepted = Response::new(Full::default());
        *accepted.status_mut() = hyper::StatusCode::ACCEPTED;
        return Ok(accepted);
    };
    let mut text = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id}").into_bytes();
    match message.method {
        "tools/call" => text.extend_from_slice(tail),
        "initialize" => text.extend_from_slice(
            b",\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"instant\",\"version\":\"1\"}}}",
        ),
        _ => text.extend_from_slice(b",\"error\":{\"code\":-32601,\"message\":\"no such method\"}}"),
    }
    let mut response = Response::new(Full::from(text));
    response.headers_mut().insert("content-type", hyper::header::HeaderValue::from_static("application/json"));
    Ok(response)
}

/// A proxy that reads each request, sends it on to one address, and returns the answer whole.
pub(crate) async fn proxy(to: &str) -> Result<(), Fault> {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build(connector);
    let to: hyper::Uri = to.parse()?;
    serve(move |request| {
        let (client, to) = (client.clone(), to.clone());
        async move {
            let (mut head, body) = request.into_parts();
            head.uri = to;
            let body = Full::new(body.collect().await?.to_bytes());
            let (head, body) = client.request(Request::from_parts(head, body)).await?.into_parts();
            Ok(Response::from_parts(head, Full::new(body.collect().await?.to_bytes())))
        }
    })
    .await
}
