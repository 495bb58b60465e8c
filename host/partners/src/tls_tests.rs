//! Partners over HTTPS, with certificates made for the test.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use http::{Request, Response, Version};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use intent_gateway_domain::endpoint::{Endpoint, Mappings};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{PartnerCalls as _, ToolCall};
use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::guard::tests::Fixed;
use crate::{PartnerClient, PartnerClientConfig};

const HOST: &str = "partner.example";
const CALL: Duration = Duration::from_secs(15);

/// Answers a tool call with the HTTP version that it came over.
async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let version = if request.version() == Version::HTTP_2 { "2" } else { "1.1" };
    let body = request.into_body().collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let result = match message["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "secure", "version": "1"},
        }),
        _ => json!({"content": [{"type": "text", "text": version}]}),
    };
    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string();
    let mut response = Response::new(Full::new(Bytes::from(answer)));
    response.headers_mut().insert("content-type", http::HeaderValue::from_static("application/json"));
    Ok(response)
}

struct Secure {
    port: u16,
    accepted: Arc<AtomicUsize>,
    certificate: CertificateDer<'static>,
}

async fn serve(protocol: &str) -> Secure {
    let CertifiedKey { cert, signing_key }: CertifiedKey<KeyPair> =
        generate_simple_self_signed([HOST.to_owned()]).expect("a certificate");
    let certificate = cert.der().clone();
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).expect("a key");
    let mut tls = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .expect("a pair");
    tls.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(tls));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let accepted = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&accepted);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counter.fetch_add(1, Ordering::SeqCst);
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                // A client that does not trust the certificate leaves during the handshake.
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let builder = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
                let service = hyper::service::service_fn(answer);
                let _ = builder.serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
    Secure { port, accepted, certificate }
}

fn client(trusted: Option<CertificateDer<'static>>, connect_timeout_ms: u64) -> PartnerClient {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(trusted);
    let config = PartnerClientConfig { allow_loopback_http: true, connect_timeout_ms, ..Default::default() };
    PartnerClient::with_roots(&config, Arc::new(Fixed(&["127.0.0.1"])), roots).expect("valid settings")
}

async fn call(client: &PartnerClient, host: &str, port: u16) -> Result<String, CallFailure> {
    let partner = Arc::new(Partner {
        id: PartnerId::parse("secure").expect("an identifier"),
        name: "secure".to_owned(),
        endpoint: Endpoint::mcp(format!("https://{host}:{port}/mcp")),
        mappings: Mappings::new(),
        listings: Vec::new(),
        token: None,
        sign_in: None,
    });
    let call = ToolCall::new("test.search", "search", "{}", CALL);
    client.call(&partner, call).await.map(|answer| answer.text)
}

#[tokio::test]
async fn the_http_version_is_negotiated() {
    let server = serve("h2").await;
    let http2 = client(Some(server.certificate.clone()), 3_000);
    assert_eq!(call(&http2, HOST, server.port).await.as_deref(), Ok("2"));
    let calls = join_all((0..10).map(|_| call(&http2, HOST, server.port))).await;
    assert!(calls.iter().all(Result::is_ok), "{calls:?}");
    assert_eq!(server.accepted.load(Ordering::SeqCst), 1, "HTTP/2 carries all calls over one connection");

    let server = serve("http/1.1").await;
    let http1 = client(Some(server.certificate.clone()), 3_000);
    assert_eq!(call(&http1, HOST, server.port).await.as_deref(), Ok("1.1"));
}

#[tokio::test]
async fn certificates_are_checked() {
    let server = serve("http/1.1").await;
    let untrusting = client(None, 3_000);
    assert!(matches!(call(&untrusting, HOST, server.port).await, Err(CallFailure::Unreachable(_))));
    let trusting = client(Some(server.certificate.clone()), 3_000);
    assert!(matches!(call(&trusting, "another.example", server.port).await, Err(CallFailure::Unreachable(_))));
    assert!(call(&trusting, HOST, server.port).await.is_ok());
}

#[tokio::test]
async fn a_handshake_that_is_never_answered_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let outcome = call(&client(None, 100), HOST, port).await;
    assert_eq!(outcome, Err(CallFailure::Unreachable("no connection within 100 ms".to_owned())));
}
