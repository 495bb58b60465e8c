//! The listener over TLS: what it shows, whom it lets in, and how its certificate is replaced.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use http_body_util::{BodyExt as _, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use intent_gateway_http::auth::Role;
use intent_gateway_http::server::{Server, ServerConfig, Shedding};
use intent_gateway_http::tls::{ListenerTls, TlsError, TlsFiles};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_util::sync::CancellationToken;

use crate::support::Gateway;

const NAME: &str = "gateway.example";
const LONG: Duration = Duration::from_secs(60);

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Authority {
    let mut params = CertificateParams::new(Vec::new()).expect("parameters");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority")
}

/// A certificate of an authority, and its key.
fn issue(by: &Issuer<'_, KeyPair>) -> (rcgen::Certificate, KeyPair) {
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec![NAME.to_owned()]).expect("parameters");
    (params.signed_by(&key, by).expect("signed"), key)
}

/// A folder with certificate and key of a listener.
struct Folder(TempDir);

impl Folder {
    fn new(by: &Authority) -> Self {
        let folder = Self(tempfile::tempdir().expect("a folder"));
        folder.renew(by);
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("writable");
    }

    /// Another certificate in the place of the one that is there.
    fn renew(&self, by: &Authority) {
        let (certificate, key) = issue(by);
        self.write("chain.pem", &certificate.pem());
        self.write("key.pem", &key.serialize_pem());
    }

    fn files(&self, client_ca: Option<&Authority>) -> TlsFiles {
        if let Some(authority) = client_ca {
            self.write("clients.pem", &authority.pem());
        }
        TlsFiles {
            certificate: self.path("chain.pem"),
            key: self.path("key.pem"),
            client_ca: client_ca.map(|_| self.path("clients.pem")),
        }
    }
}

/// A listener over fakes.
struct Running {
    gateway: Gateway,
    address: std::net::SocketAddr,
    tls: Arc<ListenerTls>,
    shutdown: CancellationToken,
}

impl Running {
    async fn start(files: TlsFiles, header_read_timeout: Duration) -> Self {
        let gateway = Gateway::new().await;
        let tls = Arc::new(ListenerTls::open(files).expect("usable files"));
        let shutdown = CancellationToken::new();
        let config = ServerConfig {
            listen: std::net::SocketAddr::from(([127, 0, 0, 1], 0)),
            max_connections: 8,
            max_header_bytes: 16 * 1024,
            header_read_timeout,
            idle_timeout: LONG,
            drain_timeout: LONG,
            shedding: Some(Shedding { trusted_proxies: 0 }),
        };
        let server = Server::bind(config, gateway.router.clone(), shutdown.clone()).await.expect("a free port");
        let server = server.over_tls(Some(tls.clone()));
        let address = server.local_addr();
        tokio::spawn(server.run());
        Self { gateway, address, tls, shutdown }
    }

    /// Connects as a client that trusts an authority, and may show a certificate.
    async fn connect(
        &self,
        trusted: &Authority,
        shown: Option<(rcgen::Certificate, KeyPair)>,
        protocol: &[u8],
    ) -> std::io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(trusted.der().clone()).expect("an authority");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder =
            ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("versions");
        let builder = builder.with_root_certificates(roots);
        let mut config = match shown {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
                builder.with_client_auth_cert(vec![certificate.der().clone()], key).expect("a pair")
            }
        };
        config.alpn_protocols = vec![protocol.to_vec()];
        let stream = TcpStream::connect(self.address).await?;
        let name = ServerName::try_from(NAME).expect("a name");
        TlsConnector::from(Arc::new(config)).connect(name, stream).await
    }

    /// Asks who serves which intents, with a token of a role; the status, and the code of a refusal.
    async fn ask(&self, stream: TlsStream<TcpStream>, role: Role) -> (u16, Option<String>) {
        let is_http_2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        let token = self.gateway.token(role);
        let uri = if is_http_2 { format!("https://{NAME}/api/v1/intents") } else { "/api/v1/intents".to_owned() };
        let request = Request::get(uri).header("authorization", format!("Bearer {token}")).header("host", NAME);
        let request = request.body(Empty::<bytes::Bytes>::new()).expect("a request");
        let io = TokioIo::new(stream);
        let answer = if is_http_2 {
            let (mut sender, connection) =
                hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await.expect("HTTP/2");
            tokio::spawn(connection);
            sender.send_request(request).await
        } else {
            let (mut sender, connection) = hyper::client::conn::http1::handshake(io).await.expect("HTTP/1.1");
            tokio::spawn(connection);
            sender.send_request(request).await
        };
        let answer = answer.expect("an answer");
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await.expect("a body").to_bytes();
        let body: Value = serde_json::from_slice(&body).expect("JSON");
        (status, body["error"]["code"].as_str().map(str::to_owned))
    }

    async fn shown(&self, trusted: &Authority) -> CertificateDer<'static> {
        let stream = self.connect(trusted, None, b"http/1.1").await.expect("trusted");
        stream.get_ref().1.peer_certificates().expect("shown")[0].clone().into_owned()
    }
}

#[tokio::test]
async fn http_1_and_2_are_served_over_tls_and_nothing_else_is() {
    let authority = authority();
    let folder = Folder::new(&authority);
    let running = Running::start(folder.files(None), LONG).await;
    for protocol in [&b"h2"[..], b"http/1.1"] {
        let stream = running.connect(&authority, None, protocol).await.expect("trusted");
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(protocol));
        assert_eq!(running.ask(stream, Role::Orchestrator).await, (200, None), "without authorities nobody shows one");
    }
    assert!(running.connect(&self::authority(), None, b"h2").await.is_err(), "another authority");
    // In the clear, nothing is answered.
    let mut plain = TcpStream::connect(running.address).await.expect("connected");
    plain.write_all(b"GET /health HTTP/1.1\r\nhost: gateway.example\r\n\r\n").await.expect("sent");
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(b"HTTP/"), "{answer:?}");
    running.shutdown.cancel();
}

#[tokio::test]
async fn orchestrators_show_a_certificate_where_authorities_are_named() {
    let (own, clients) = (authority(), authority());
    let folder = Folder::new(&own);
    let running = Running::start(folder.files(Some(&clients)), LONG).await;
    let bare = async || running.connect(&own, None, b"http/1.1").await.expect("trusted");
    assert_eq!(
        running.ask(bare().await, Role::Orchestrator).await,
        (403, Some("CLIENT_CERTIFICATE_NEEDED".to_owned()))
    );
    assert_eq!(running.ask(bare().await, Role::Admin).await, (200, None), "the team comes without");
    let shown = running.connect(&own, Some(issue(&clients)), b"h2").await.expect("trusted");
    assert_eq!(running.ask(shown, Role::Orchestrator).await, (200, None));
    // A certificate of somebody else is worse than none. TLS 1.3 tells it with the first read.
    let stream = running.connect(&own, Some(issue(&self::authority())), b"http/1.1").await;
    let refused = match stream {
        Err(_) => true,
        Ok(mut stream) => {
            let _ = stream.write_all(b"GET /health HTTP/1.1\r\nhost: gateway.example\r\n\r\n").await;
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).await.is_err() && answer.is_empty()
        }
    };
    assert!(refused);
    running.shutdown.cancel();
}

#[tokio::test]
async fn a_certificate_is_replaced_while_connections_are_open() {
    let authority = authority();
    let folder = Folder::new(&authority);
    let running = Running::start(folder.files(None), LONG).await;
    let before = running.shown(&authority).await;
    assert!(!running.tls.read_again().expect("as before"), "nothing changed");
    let open = running.connect(&authority, None, b"http/1.1").await.expect("trusted");
    folder.renew(&authority);
    assert_eq!(running.shown(&authority).await, before, "until it is read");
    assert!(running.tls.read_again().expect("usable"));
    let after = running.shown(&authority).await;
    assert_ne!(after, before);
    assert_eq!(running.ask(open, Role::Orchestrator).await, (200, None), "what was open goes on");

    // Half a renewal serves nobody: the one before is shown.
    let (_, other_key) = issue(&authority);
    folder.write("key.pem", &other_key.serialize_pem());
    assert!(matches!(running.tls.read_again(), Err(TlsError::Pair(_))));
    assert_eq!(running.shown(&authority).await, after);
    running.shutdown.cancel();
}

#[tokio::test]
async fn whoever_does_not_get_as_far_as_tls_is_let_go() {
    let authority = authority();
    let folder = Folder::new(&authority);
    let running = Running::start(folder.files(None), Duration::from_millis(50)).await;
    let mut silent = TcpStream::connect(running.address).await.expect("connected");
    let mut answer = Vec::new();
    silent.read_to_end(&mut answer).await.expect("closed");
    assert!(answer.is_empty());
    running.shutdown.cancel();
}

#[test]
fn files_that_cannot_be_used_are_told_apart() {
    let authority = authority();
    let folder = Folder::new(&authority);
    let open = |files: TlsFiles| ListenerTls::open(files).map(drop).expect_err("unusable").to_string();
    let with = |name: &str, text: &str| {
        let folder = Folder::new(&authority);
        let files = folder.files(Some(&authority));
        folder.write(name, text);
        open(files)
    };
    let missing = TlsFiles { key: Path::new("/nowhere/key.pem").to_owned(), ..folder.files(None) };
    assert!(open(missing).contains("/nowhere/key.pem cannot be read"));
    for (name, what) in [("chain.pem", "certificate"), ("key.pem", "key"), ("clients.pem", "certificate")] {
        assert!(with(name, "nothing").contains(&format!("{name} holds no {what} in PEM")), "{name}");
    }
    let huge = with("chain.pem", &"x".repeat(1024 * 1024 + 1));
    assert!(huge.contains("cannot be read"), "{huge}");
}

#[test]
fn the_end_of_the_certificate_that_is_shown_is_known() {
    let by = authority();
    let folder = Folder::new(&by);
    let renew_until = |year| {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(vec![NAME.to_owned()]).expect("parameters");
        params.not_after = rcgen::date_time_ymd(year, 3, 1);
        folder.write("chain.pem", &params.signed_by(&key, &by).expect("signed").pem());
        folder.write("key.pem", &key.serialize_pem());
    };
    renew_until(2030);
    let tls = ListenerTls::open(folder.files(None)).expect("it can be used");
    // 2030-03-01T00:00:00Z and 2051-03-01T00:00:00Z, which certificates write in two ways.
    assert_eq!(tls.ends_at().as_ms(), 1_898_553_600_000);
    renew_until(2051);
    assert_eq!(tls.read_again().ok(), Some(true));
    assert_eq!(tls.ends_at().as_ms(), 2_561_241_600_000);
}
