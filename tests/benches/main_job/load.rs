//! A closed-loop load over kept connections, with the latency of each call and the CPU time of a server.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use intent_gateway_tests::cpu;
use tokio::net::TcpStream;

/// How long a contract may take until it is live, and how often is looked.
const SERVED_MAX: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(20);

/// One kind of call, repeated.
pub(crate) struct Call {
    /// `host:port`.
    pub(crate) address: String,
    /// Paths with their bodies, called in turn.
    pub(crate) requests: Vec<(String, Bytes)>,
    /// Header names and values.
    pub(crate) headers: Vec<(&'static str, String)>,
    /// The processes whose CPU time counts, together.
    pub(crate) processes: Vec<u32>,
}

/// What a run showed.
pub(crate) struct Run {
    /// Calls, those of the warm-up among them.
    pub(crate) all_calls: u64,
    pub(crate) calls_per_second: f64,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
    /// CPU time of the processes for each call.
    pub(crate) cpu_per_call: Duration,
}

/// Calls for a while from this many clients, each on its own connection.
pub(crate) async fn run(call: &Call, clients: usize, time: Duration) -> Run {
    // Connections and code are warm before anything counts.
    let warm_up = hammer(call, clients, time / 4).await;
    let (cpu, start) = (cpu_time(call), Instant::now());
    let mut latencies = hammer(call, clients, time).await;
    let (elapsed, cpu) = (start.elapsed(), cpu_time(call).saturating_sub(cpu));
    latencies.sort_unstable();
    let calls = latencies.len();
    let quantile = |share: f64| latencies[((calls - 1) as f64 * share) as usize];
    Run {
        all_calls: (warm_up.len() + calls) as u64,
        calls_per_second: calls as f64 / elapsed.as_secs_f64(),
        p50: quantile(0.5),
        p99: quantile(0.99),
        cpu_per_call: cpu.div_f64(calls as f64),
    }
}

/// CPU time of all its processes so far.
fn cpu_time(call: &Call) -> Duration {
    call.processes.iter().map(|process| cpu::time_of(*process)).sum()
}

async fn hammer(call: &Call, clients: usize, time: Duration) -> Vec<Duration> {
    let end = Instant::now() + time;
    // Each begins at another request.
    let apart = call.requests.len().div_ceil(clients);
    let clients = (0..clients).map(|number| client(call, number * apart, end));
    futures_util::future::join_all(clients).await.into_iter().flatten().collect()
}

async fn client(call: &Call, first: usize, end: Instant) -> Vec<Duration> {
    let mut connection = Connection::open(call).await;
    let mut latencies = Vec::new();
    let mut requests = call.requests.iter().cycle().skip(first % call.requests.len());
    while Instant::now() < end {
        let start = Instant::now();
        let (status, body) = connection.post(requests.next().expect("they come again")).await;
        latencies.push(start.elapsed());
        assert!(status.is_success(), "{status}: {}", String::from_utf8_lossy(&body));
    }
    latencies
}

/// Waits until a call finds what it asks for: a server listens before each contract of its folder is live.
pub(crate) async fn until_served(call: &Call) {
    let mut connection = Connection::open(call).await;
    let end = Instant::now() + SERVED_MAX;
    while connection.post(&call.requests[0]).await.0 == StatusCode::NOT_FOUND {
        assert!(Instant::now() < end, "nothing is served at {}", call.requests[0].0);
        tokio::time::sleep(LOOK).await;
    }
}

/// A kept connection.
struct Connection<'c> {
    call: &'c Call,
    sender: SendRequest<Full<Bytes>>,
}

impl<'c> Connection<'c> {
    async fn open(call: &'c Call) -> Self {
        let stream = TcpStream::connect(&call.address).await.expect("the server listens");
        stream.set_nodelay(true).expect("a TCP socket");
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.expect("HTTP/1.1");
        tokio::spawn(connection);
        Self { call, sender }
    }

    async fn post(&mut self, (path, body): &(String, Bytes)) -> (StatusCode, Bytes) {
        let mut request = Request::post(path).header("host", &self.call.address);
        for (name, value) in &self.call.headers {
            request = request.header(*name, value);
        }
        let request = request.body(Full::new(body.clone())).expect("a valid request");
        self.sender.ready().await.expect("the connection is kept");
        let response = self.sender.send_request(request).await.expect("an answer");
        let status = response.status();
        (status, response.into_body().collect().await.expect("a whole answer").to_bytes())
    }
}
