//! The real listener on a free port: versions, bounds, timeouts and the drain.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use intent_gateway_http::auth::Role;
use intent_gateway_http::server::{Drained, Server, ServerConfig, Shedding, Shutdown};
use intent_gateway_http::{Limits, Rates};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::support::{Bounds, Gateway, LIMITS, RATES};

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(50);

fn config() -> ServerConfig {
    ServerConfig {
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        max_connections: 64,
        max_header_bytes: 16 * 1024,
        header_read_timeout: LONG,
        idle_timeout: LONG,
        drain_timeout: LONG,
        shedding: Some(Shedding { trusted_proxies: 0 }),
    }
}

/// A listener over fakes.
struct Running {
    gateway: Gateway,
    address: SocketAddr,
    announced: CancellationToken,
    shutdown: CancellationToken,
    server: JoinHandle<Drained>,
}

impl Running {
    async fn start(config: ServerConfig) -> Self {
        Self::with(config, LIMITS).await
    }

    async fn with(config: ServerConfig, bounds: impl Into<Bounds>) -> Self {
        Self::lingering(config, bounds, Duration::ZERO).await
    }

    /// One whose idle connections linger for so long when the shutdown begins.
    async fn lingering(config: ServerConfig, bounds: impl Into<Bounds>, idle_linger: Duration) -> Self {
        let gateway = Gateway::with(bounds).await;
        let (announced, shutdown) = (CancellationToken::new(), CancellationToken::new());
        let steps = Shutdown { announced: announced.clone(), begun: shutdown.clone(), idle_linger };
        let server = Server::bind(config, gateway.router.clone(), steps).await.expect("a free port");
        let address = server.local_addr();
        Self { gateway, address, announced, shutdown, server: tokio::spawn(server.run()) }
    }

    /// The shutdown begins without a word beforehand.
    fn shut_down(&self) {
        self.announced.cancel();
        self.shutdown.cancel();
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.expect("the listener is there")
    }

    /// From one of the machine's own addresses.
    async fn connect_from(&self, last_octet: u8) -> TcpStream {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind(SocketAddr::from(([127, 0, 0, last_octet], 0))).expect("an address of this machine");
        socket.connect(self.address).await.expect("the listener is there")
    }

    /// The head of a search, without its last line.
    fn search_head(&self) -> String {
        let token = self.gateway.token(Role::Orchestrator);
        format!(
            "POST /api/v1/intents/test.find_things/search HTTP/1.1\r\nhost: here\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\n"
        )
    }

    fn search(&self, body: &str) -> String {
        format!("{}content-length: {}\r\n\r\n{body}", self.search_head(), body.len())
    }
}

const HEALTH: &str = "GET /health HTTP/1.1\r\nhost: here\r\n\r\n";

async fn send(stream: &mut TcpStream, text: &str) {
    stream.write_all(text.as_bytes()).await.expect("written");
}

/// Everything up to the end of the connection.
async fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    // A connection that is cut off may end in a reset.
    let _ = stream.read_to_end(&mut bytes).await;
    String::from_utf8(bytes).expect("text")
}

/// One answer whose length is announced.
async fn answer(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    loop {
        let complete = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            length.is_some_and(|length| length.parse() == Ok(body.len()))
        });
        if complete {
            return text;
        }
        let mut chunk = [0_u8; 4096];
        let read = stream.read(&mut chunk).await.expect("an answer");
        assert_ne!(read, 0, "the connection ended after {text:?}");
        text.push_str(std::str::from_utf8(&chunk[..read]).expect("text"));
    }
}

#[tokio::test]
async fn speaks_http_1_with_keep_alive() {
    let running = Running::start(config()).await;
    let mut stream = running.connect().await;
    for _ in 0..3 {
        send(&mut stream, &running.search("{}")).await;
        let answer = answer(&mut stream).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains(r#""thing_id":"t1""#), "{answer}");
    }
}

#[tokio::test]
async fn speaks_http_2_with_prior_knowledge() {
    let running = Running::start(config()).await;
    let stream = TokioIo::new(running.connect().await);
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), stream).await.expect("a handshake");
    tokio::spawn(connection);
    let request = Request::get("http://here/health").body(Full::<Bytes>::default()).expect("a request");
    let response = sender.send_request(request).await.expect("an answer");
    assert_eq!(response.status(), 200);
    assert_eq!(response.version(), http::Version::HTTP_2);
    assert!(!response.into_body().collect().await.expect("a body").to_bytes().is_empty());
}

#[tokio::test]
async fn a_head_that_does_not_come_costs_the_connection() {
    let running = Running::start(ServerConfig { header_read_timeout: SHORT, ..config() }).await;
    for start in ["", "PRI * HT", "GET /health HTTP/1.1\r\nhost: he"] {
        let mut stream = running.connect().await;
        send(&mut stream, start).await;
        assert_eq!(rest(&mut stream).await, "", "after {start:?}");
    }
    let mut asked_before = running.connect().await;
    send(&mut asked_before, HEALTH).await;
    answer(&mut asked_before).await;
    send(&mut asked_before, "GET /health HTTP/1.1\r\nhost: he").await;
    assert_eq!(rest(&mut asked_before).await, "");
}

#[tokio::test]
async fn an_idle_connection_outlives_the_time_of_a_head() {
    let running = Running::start(ServerConfig { header_read_timeout: SHORT, ..config() }).await;
    let mut idle = running.connect().await;
    send(&mut idle, HEALTH).await;
    answer(&mut idle).await;
    // Two others live through that time one after the other meanwhile.
    for _ in 0..2 {
        assert_eq!(rest(&mut running.connect().await).await, "");
    }
    send(&mut idle, HEALTH).await;
    assert!(answer(&mut idle).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn an_idle_http_2_connection_is_closed() {
    let running = Running::start(ServerConfig { idle_timeout: SHORT, ..config() }).await;
    let stream = TokioIo::new(running.connect().await);
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake::<_, _, Full<Bytes>>(TokioExecutor::new(), stream)
            .await
            .expect("a handshake");
    let connection = tokio::spawn(connection);
    let request = Request::get("http://here/health").body(Full::default()).expect("a request");
    assert_eq!(sender.send_request(request).await.expect("an answer").status(), 200);
    // The sender is kept: the client would have kept the connection open.
    let _ = connection.await.expect("no panic");
    assert!(sender.is_closed());
}

#[tokio::test]
async fn a_request_under_way_keeps_its_connection_beyond_the_idle_time() {
    let running = Running::start(ServerConfig { idle_timeout: SHORT, ..config() }).await;
    let mut waiting = running.connect().await;
    send(&mut waiting, &running.search(r#"{"mode":"wait"}"#)).await;
    running.gateway.gate.arrived.notified().await;
    // Another connection lives through its whole idle time meanwhile.
    let mut idle = running.connect().await;
    send(&mut idle, HEALTH).await;
    assert!(rest(&mut idle).await.starts_with("HTTP/1.1 200"));
    running.gateway.gate.open.notify_one();
    assert!(answer(&mut waiting).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn clients_are_told_apart_by_their_address() {
    let running = Running::with(config(), Rates { open_per_minute: NonZeroU32::MIN, ..RATES }).await;
    let ask = async |from: [u8; 4], forwarded: &str| {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind(SocketAddr::from((from, 0))).expect("an address of the machine");
        let mut stream = socket.connect(running.address).await.expect("the listener is there");
        let body = r#"{"email":"asha@coolcar.example"}"#;
        let head = "POST /api/v1/business/sign-in HTTP/1.1\r\nhost: here\r\ncontent-type: application/json\r\n";
        let length = body.len();
        send(&mut stream, &format!("{head}x-forwarded-for: {forwarded}\r\ncontent-length: {length}\r\n\r\n{body}"))
            .await;
        answer(&mut stream).await[9..12].to_owned()
    };
    assert_eq!(ask([127, 0, 0, 1], "192.0.2.1").await, "202");
    assert_eq!(ask([127, 0, 0, 1], "192.0.2.2").await, "429", "no proxy is trusted here");
    assert_eq!(ask([127, 0, 0, 2], "192.0.2.1").await, "202");
}

#[tokio::test]
async fn large_bodies_are_refused() {
    let running = Running::start(config()).await;
    let mut announced = running.connect().await;
    send(&mut announced, &format!("{}content-length: 99999999\r\n\r\n", running.search_head())).await;
    let refused = answer(&mut announced).await;
    assert!(refused.starts_with("HTTP/1.1 413") && refused.contains("PAYLOAD_TOO_LARGE"), "{refused}");

    let mut chunked = running.connect().await;
    let body = "x".repeat(300 * 1024);
    let head = running.search_head();
    send(&mut chunked, &format!("{head}transfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len()))
        .await;
    assert!(answer(&mut chunked).await.starts_with("HTTP/1.1 413"));
}

#[tokio::test]
async fn a_slow_body_is_refused_in_time() {
    let running = Running::with(config(), Limits { body_timeout: SHORT, ..LIMITS }).await;
    let mut stream = running.connect().await;
    send(&mut stream, &format!("{}content-length: 100\r\n\r\n{{\"a\"", running.search_head())).await;
    let refused = answer(&mut stream).await;
    assert!(refused.starts_with("HTTP/1.1 408") && refused.contains("REQUEST_TIMEOUT"), "{refused}");
}

#[tokio::test]
async fn large_heads_are_refused() {
    let running = Running::start(config()).await;
    let large = format!("x-filler: {}\r\n", "x".repeat(17 * 1024));
    let many: String = (0..101).map(|n| format!("x-{n}: y\r\n")).collect();
    for headers in [large, many] {
        let mut stream = running.connect().await;
        send(&mut stream, &format!("GET /health HTTP/1.1\r\n{headers}\r\n")).await;
        assert!(rest(&mut stream).await.starts_with("HTTP/1.1 431"));
    }
}

/// The answer to one request on a connection of its own.
async fn ask(running: &Running, request: &str) -> String {
    let mut stream = running.connect().await;
    send(&mut stream, request).await;
    answer(&mut stream).await
}

#[tokio::test]
async fn when_all_connections_are_in_use_those_who_watch_and_run_the_gateway_are_served() {
    let running = Running::start(ServerConfig { max_connections: 1, ..config() }).await;
    let mut first = running.connect().await;
    send(&mut first, &running.search(r#"{"mode":"wait"}"#)).await;
    running.gateway.gate.arrived.notified().await;

    for path in ["/health", "/ready"] {
        let answer = ask(&running, &format!("GET {path} HTTP/1.1\r\nhost: here\r\n\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    }
    let token = running.gateway.token(Role::Admin);
    let list = format!("GET /api/v1/admin/contracts HTTP/1.1\r\nhost: here\r\nauthorization: Bearer {token}\r\n\r\n");
    let answered = ask(&running, &list).await;
    assert!(answered.starts_with("HTTP/1.1 200"), "{answered}");

    // Others are told so at once.
    let mut second = running.connect().await;
    let request = running.search("{}").replace("host: here\r\n", "host: here\r\nx-request-id: trip-7\r\n");
    send(&mut second, &request).await;
    let refused = rest(&mut second).await;
    assert!(refused.starts_with("HTTP/1.1 503"), "{refused}");
    for part in ["retry-after: 1\r\n", "connection: close\r\n", "x-request-id: trip-7\r\n", "OVERLOADED", r#""trip-7""#]
    {
        assert!(refused.contains(part), "{part} in {refused}");
    }

    // A reserved connection is like any other once there is room.
    let mut third = running.connect().await;
    send(&mut third, HEALTH).await;
    assert!(answer(&mut third).await.starts_with("HTTP/1.1 200"));
    running.gateway.gate.open.notify_one();
    assert!(answer(&mut first).await.starts_with("HTTP/1.1 200"));
    drop(first);
    loop {
        send(&mut third, &running.search("{}")).await;
        let answered = answer(&mut third).await;
        if answered.starts_with("HTTP/1.1 200") {
            break;
        }
        // The gateway had not noticed yet that the first one has gone.
        third = running.connect().await;
    }
}

#[tokio::test]
async fn one_network_leaves_some_of_the_reserved_connections_to_others() {
    let running = Running::start(ServerConfig { max_connections: 1, ..config() }).await;
    let mut busy = running.connect().await;
    send(&mut busy, &running.search(r#"{"mode":"wait"}"#)).await;
    running.gateway.gate.arrived.notified().await;
    let mut hanging = Vec::new();
    for _ in 0..24 {
        let mut stream = running.connect_from(2).await;
        send(&mut stream, "GET /health HTTP/1.1\r\nhost: he").await;
        hanging.push(stream);
    }
    let mut other = running.connect_from(3).await;
    send(&mut other, HEALTH).await;
    assert!(answer(&mut other).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn whoever_is_refused_before_its_body_has_come_gets_the_answer_whole() {
    const BODY_BYTES: usize = 8 * 1024 * 1024;
    let running = Running::start(config()).await;
    let body = "x".repeat(BODY_BYTES);
    for _ in 0..3 {
        let mut stream = running.connect().await;
        send(&mut stream, &format!("{}content-length: {BODY_BYTES}\r\n\r\n", running.search_head())).await;
        // More than the kernel takes on both sides: the gateway has to read on.
        send(&mut stream, &body).await;
        let refused = answer(&mut stream).await;
        assert!(refused.starts_with("HTTP/1.1 413"), "{refused}");
        // And the connection can be used again.
        send(&mut stream, HEALTH).await;
        assert!(answer(&mut stream).await.starts_with("HTTP/1.1 200"));
    }
}

#[tokio::test]
async fn idle_connections_of_one_address_give_way_before_those_of_others() {
    let running = Running::start(ServerConfig { max_connections: 4, ..config() }).await;
    // The one that has been idle longest, alone at its address.
    let mut alone = running.connect_from(2).await;
    send(&mut alone, HEALTH).await;
    answer(&mut alone).await;
    let mut many = Vec::new();
    for _ in 0..3 {
        let mut stream = running.connect_from(1).await;
        send(&mut stream, HEALTH).await;
        answer(&mut stream).await;
        many.push(stream);
    }
    let mut newcomer = running.connect_from(3).await;
    send(&mut newcomer, HEALTH).await;
    answer(&mut newcomer).await;
    let mut gone = many.remove(0);
    assert_eq!(rest(&mut gone).await, "", "the one that was idle longest of those that are many");
    for stream in many.iter_mut().chain([&mut alone, &mut newcomer]) {
        send(stream, HEALTH).await;
        assert!(answer(stream).await.starts_with("HTTP/1.1 200"));
    }
}

#[tokio::test]
async fn a_request_names_its_host_once() {
    let running = Running::start(config()).await;
    for hosts in ["", "host: here\r\nhost: there\r\n"] {
        let mut stream = running.connect().await;
        send(&mut stream, &format!("GET /health HTTP/1.1\r\n{hosts}connection: close\r\n\r\n")).await;
        assert!(rest(&mut stream).await.starts_with("HTTP/1.1 400"), "{hosts:?}");
    }
}

#[tokio::test]
async fn a_shutdown_finishes_what_is_under_way() {
    let running = Running::start(config()).await;
    let mut idle = running.connect().await;
    send(&mut idle, HEALTH).await;
    answer(&mut idle).await;
    let mut busy = running.connect().await;
    send(&mut busy, &running.search(r#"{"mode":"wait"}"#)).await;
    running.gateway.gate.arrived.notified().await;

    running.shut_down();
    assert_eq!(rest(&mut idle).await, "", "an idle connection ends at once");
    assert!(TcpStream::connect(running.address).await.is_err(), "nobody new gets in");
    running.gateway.gate.open.notify_one();
    let finished = rest(&mut busy).await;
    assert!(finished.starts_with("HTTP/1.1 200") && finished.contains("connection: close"), "{finished}");
    assert_eq!(running.server.await.expect("no panic"), Drained::Clean);
}

#[tokio::test]
async fn a_shutdown_does_not_wait_for_ever() {
    let running = Running::start(ServerConfig { drain_timeout: SHORT, ..config() }).await;
    let mut stream = running.connect().await;
    send(&mut stream, &running.search(r#"{"mode":"forever"}"#)).await;
    running.gateway.gate.arrived.notified().await;
    running.shut_down();
    assert_eq!(running.server.await.expect("no panic"), Drained::Cut(1));
    assert_eq!(rest(&mut stream).await, "");
}

#[tokio::test]
async fn an_announced_shutdown_takes_requests_and_asks_clients_to_leave() {
    let running = Running::start(config()).await;
    let (mut kept, mut unused) = (running.connect().await, running.connect().await);
    send(&mut kept, HEALTH).await;
    assert!(!answer(&mut kept).await.contains("connection: close"));
    let stream = TokioIo::new(running.connect().await);
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), stream).await.expect("a handshake");
    let connection = tokio::spawn(connection);
    let search = || {
        let token = running.gateway.token(Role::Orchestrator);
        Request::post("http://here/api/v1/intents/test.find_things/search")
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", "application/json")
            .body(Full::<Bytes>::from(r#"{"mode":"wait"}"#))
            .expect("a request")
    };
    let waiting = tokio::spawn(sender.send_request(search()));
    running.gateway.gate.arrived.notified().await;

    running.announced.cancel();
    // Idle ones stay: a request may be on its way.
    for stream in [&mut kept, &mut unused] {
        send(stream, HEALTH).await;
        let last = rest(stream).await;
        assert!(last.starts_with("HTTP/1.1 200") && last.contains("connection: close"), "{last}");
    }
    let mut new = running.connect().await;
    send(&mut new, HEALTH).await;
    assert!(rest(&mut new).await.contains("connection: close"), "new ones are taken");
    // HTTP/2 is told by GOAWAY: what is under way is answered, and the connection ends.
    running.gateway.gate.open.notify_one();
    let answered = waiting.await.expect("no panic").expect("an answer");
    assert_eq!(answered.status(), 200);
    drop(answered.into_body().collect().await.expect("a body"));
    connection.await.expect("no panic").expect("it ends in good order");
    assert!(sender.is_closed());

    running.shutdown.cancel();
    assert_eq!(running.server.await.expect("no panic"), Drained::Clean);
}

#[tokio::test]
async fn a_request_that_comes_just_as_the_listener_closes_is_answered() {
    let running = Running::lingering(config(), LIMITS, LONG).await;
    let mut kept = running.connect().await;
    send(&mut kept, HEALTH).await;
    answer(&mut kept).await;
    running.shut_down();
    // Connected before the listener closed, and perhaps not yet taken out of the kernel's queue.
    send(&mut kept, HEALTH).await;
    let last = rest(&mut kept).await;
    assert!(last.starts_with("HTTP/1.1 200") && last.contains("connection: close"), "{last}");
    assert_eq!(running.server.await.expect("no panic"), Drained::Clean);

    // Whoever asks nothing more costs the shutdown that time at most.
    let running = Running::lingering(config(), LIMITS, SHORT).await;
    let mut idle = running.connect().await;
    send(&mut idle, HEALTH).await;
    answer(&mut idle).await;
    running.shut_down();
    assert_eq!(rest(&mut idle).await, "");
    assert_eq!(running.server.await.expect("no panic"), Drained::Clean);
}

#[tokio::test]
async fn whoever_is_connected_when_the_listener_closes_is_answered() {
    // More than the runtime gives out at once, and none that it has been told of: nothing here waits before the shutdown.
    const WAITING: usize = 300;
    let running = Running::lingering(ServerConfig { max_connections: WAITING, ..config() }, LIMITS, LONG).await;
    let connect = |_| {
        let stream = std::net::TcpStream::connect(running.address).expect("the listener is there");
        stream.set_nonblocking(true).expect("a socket of this process");
        TcpStream::from_std(stream).expect("a runtime")
    };
    let mut waiting: Vec<TcpStream> = (0..WAITING).map(connect).collect();
    running.shut_down();
    for stream in &mut waiting {
        send(stream, HEALTH).await;
        let last = rest(stream).await;
        assert!(last.starts_with("HTTP/1.1 200"), "{last}");
    }
    assert_eq!(running.server.await.expect("no panic"), Drained::Clean);
}
