//! A closed-loop load over kept connections that costs little itself: requests are ready as bytes, and of an answer no
//! more is read than where it ends.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use futures_util::future::join_all;
use intent_gateway_tests::cpu;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::reports::Pool;

/// Room for an answer; every one of the bench is far shorter.
const ANSWER_MAX_BYTES: usize = 8 * 1024;

/// Whom to load, and how.
pub(crate) struct Load<'a> {
    /// `host:port`.
    pub(crate) address: &'a str,
    /// The process whose CPU time counts.
    pub(crate) process: u32,
    pub(crate) connections: usize,
    pub(crate) pool: &'a Pool,
    /// How many of its requests are sent, at most.
    pub(crate) requests: usize,
    /// Whether the requests may be sent again once all were: not to whoever keeps them.
    pub(crate) repeat: bool,
    /// What does not count: connections and code get warm.
    pub(crate) warm_up: Duration,
    pub(crate) time: Duration,
}

/// What a run showed.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    pub(crate) per_second: f64,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
    /// CPU time of the server for each report.
    pub(crate) cpu: Duration,
    /// CPU time of the load generator for each report.
    pub(crate) own_cpu: Duration,
    /// Reports that were acknowledged, those of the warm-up included.
    pub(crate) acknowledged: u64,
}

/// What the connections share; all of them run on one thread.
struct Shared<'a> {
    load: &'a Load<'a>,
    next: Cell<usize>,
    acknowledged: Cell<u64>,
    counting: Cell<bool>,
    latencies: RefCell<Vec<Duration>>,
    exhausted: Notify,
    end: Instant,
}

/// Loads a server once.
pub(crate) async fn run(load: &Load<'_>) -> Run {
    let end = Instant::now() + load.warm_up + load.time;
    let shared = Shared {
        load,
        next: Cell::new(0),
        acknowledged: Cell::new(0),
        counting: Cell::new(false),
        latencies: RefCell::default(),
        exhausted: Notify::new(),
        end,
    };
    let clients = join_all((0..load.connections).map(|_| client(&shared)));
    let ((elapsed, cpu, own_cpu), _) = tokio::join!(measure(&shared), clients);
    let mut latencies = shared.latencies.into_inner();
    assert!(!latencies.is_empty(), "no report was acknowledged after the warm-up: are there too few?");
    latencies.sort_unstable();
    let reports = latencies.len() as f64;
    let quantile = |share: f64| latencies[((reports - 1.0) * share) as usize];
    Run {
        per_second: reports / elapsed.as_secs_f64(),
        p50: quantile(0.5),
        p99: quantile(0.99),
        cpu: cpu.div_f64(reports),
        own_cpu: own_cpu.div_f64(reports),
        acknowledged: shared.acknowledged.get(),
    }
}

/// Lets latencies count from the end of the warm-up until the end, or until all reports are sent; the time that this took, and
/// the CPU time of server and load generator in it.
async fn measure(shared: &Shared<'_>) -> (Duration, Duration, Duration) {
    let used = || (cpu::time_of(shared.load.process), cpu::time_of(std::process::id()));
    tokio::time::sleep(shared.load.warm_up).await;
    let (start, before) = (Instant::now(), used());
    shared.counting.set(true);
    tokio::select! {
        () = tokio::time::sleep_until(shared.end) => {}
        () = shared.exhausted.notified() => {}
    }
    shared.counting.set(false);
    let (elapsed, after) = (start.elapsed(), used());
    (elapsed, after.0.saturating_sub(before.0), after.1.saturating_sub(before.1))
}

/// Sends report after report over one connection.
async fn client(shared: &Shared<'_>) {
    let mut stream = TcpStream::connect(shared.load.address).await.expect("the server listens");
    stream.set_nodelay(true).expect("a TCP socket");
    let mut answer = vec![0; ANSWER_MAX_BYTES];
    while Instant::now() < shared.end {
        let Some(request) = shared.next_request() else { return };
        let start = Instant::now();
        stream.write_all(request).await.expect("the connection is kept");
        read_answer(&mut stream, &mut answer).await;
        if shared.counting.get() {
            shared.latencies.borrow_mut().push(start.elapsed());
        }
        shared.acknowledged.set(shared.acknowledged.get() + 1);
    }
}

impl Shared<'_> {
    fn next_request(&self) -> Option<&[u8]> {
        let (place, pool) = (self.next.get(), self.load.pool);
        self.next.set(place + 1);
        if place >= self.load.requests && !self.load.repeat {
            self.exhausted.notify_one();
            return None;
        }
        Some(pool.get(place % pool.len()))
    }
}

/// Reads one answer to its end, which must be a success.
async fn read_answer(stream: &mut TcpStream, answer: &mut [u8]) {
    let mut length = 0;
    loop {
        let read = stream.read(&mut answer[length..]).await.expect("the connection is kept");
        assert!(read > 0, "the server closed the connection after {:?}", String::from_utf8_lossy(&answer[..length]));
        length += read;
        let Some(head) = answer[..length].windows(4).position(|bytes| bytes == b"\r\n\r\n") else { continue };
        if length < head + 4 + content_length(&answer[..head]) {
            continue;
        }
        assert!(answer.starts_with(b"HTTP/1.1 2"), "refused: {}", String::from_utf8_lossy(&answer[..length]));
        return;
    }
}

fn content_length(head: &[u8]) -> usize {
    const NAME: &[u8] = b"\r\ncontent-length:";
    let place = head.windows(NAME.len()).position(|bytes| bytes.eq_ignore_ascii_case(NAME));
    let value = &head[place.expect("the answer tells its length") + NAME.len()..];
    let value = value.split(|byte| *byte == b'\r').next().and_then(|value| std::str::from_utf8(value).ok());
    value.and_then(|value| value.trim().parse().ok()).expect("a number")
}
