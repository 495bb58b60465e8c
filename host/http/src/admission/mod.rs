//! Sheds load where it enters: before a request is routed, before its token is verified and its body read, it is let in, waits
//! for a moment, or is refused.
//!
//! The rule is [`AdmissionQueue`]'s; here it is driven. There are two lanes, each with a queue of its own: one for traffic, and
//! one for [what traffic must not take](lanes). A task goes through the runtime's run queue as long as somebody waits and lets
//! the next ones in, of each lane: neither takes the turns of the other. Where fewer requests are under way than there are threads,
//! none waits for a processor, and the next one begins without any of that.
//!
//! A refusal is to cost a thirtieth of a search, so it leaves no span, no line of its own in the log and no verified token: it is
//! counted, and the log says every so often how many there were. Not here: bounds on what one caller may do
//! ([`crate::quota`]), and on what is under way ([`crate::audience`]).

mod callers;
mod lanes;

use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use futures_util::future::join;
use http::{Request, header};
use intent_gateway_domain::admission::{AdmissionQueue, Arrival, Patience, Turn};
use intent_gateway_domain::telemetry;
use tokio::sync::{Notify, oneshot};

use self::callers::KnownCallers;
pub(crate) use self::callers::UnknownToken;
pub(crate) use self::lanes::Lane;
use crate::client::{self, Peer};
use crate::error::{Code, Refusal};

/// How often the log says how many requests were refused here.
const TELL_INTERVAL: Duration = Duration::from_secs(10);

/// What stands before all requests of a listener.
pub(crate) struct Admission {
    lanes: Mutex<Lanes>,
    threads: usize,
    /// Requests that are worked on or wait, by lane.
    traffic: Arc<AtomicUsize>,
    reserved: Arc<AtomicUsize>,
    /// Somebody has come while the task rested.
    wake: Notify,
    callers: Arc<KnownCallers>,
    /// Seeded anew in each process, so that nobody can look for names that share a turn.
    hashes: RandomState,
    trusted_proxies: usize,
    /// Refused since the log said so.
    untold: AtomicU64,
}

/// A request that is worked on or waits.
pub(crate) struct UnderWay(Arc<AtomicUsize>);

impl UnderWay {
    /// Counts one, and says how many there were before.
    fn begin(count: &Arc<AtomicUsize>) -> (Self, usize) {
        let before = count.fetch_add(1, Ordering::Relaxed);
        (Self(Arc::clone(count)), before)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Tells a request that waited whether it is let in.
type Waiting = oneshot::Sender<bool>;

struct Lanes {
    traffic: AdmissionQueue<u64, Waiting>,
    reserved: AdmissionQueue<u64, Waiting>,
    /// Whether the task waits to be woken.
    rests: bool,
}

impl Lanes {
    fn of(&mut self, lane: Lane) -> &mut AdmissionQueue<u64, Waiting> {
        match lane {
            Lane::Traffic => &mut self.traffic,
            Lane::Reserved => &mut self.reserved,
        }
    }
}

impl Admission {
    /// For a runtime with so many threads.
    pub(crate) fn new(threads: usize, trusted_proxies: usize) -> Arc<Self> {
        let lanes =
            Lanes { traffic: AdmissionQueue::new(threads), reserved: AdmissionQueue::new(threads), rests: true };
        Arc::new(Self {
            lanes: Mutex::new(lanes),
            threads,
            traffic: Arc::default(),
            reserved: Arc::default(),
            wake: Notify::new(),
            callers: Arc::default(),
            hashes: RandomState::new(),
            trusted_proxies,
            untold: AtomicU64::new(0),
        })
    }

    /// Waits until the request may be worked on; it is under way as long as what this gives is kept. Dropped, it takes the request
    /// out again.
    ///
    /// # Errors
    /// `OVERLOADED`.
    pub(crate) async fn admit<B>(&self, request: &mut Request<B>, peer: IpAddr) -> Result<UnderWay, Refusal> {
        let lane = Lane::of(request.uri().path());
        let caller = self.caller(request, peer);
        let count = match lane {
            Lane::Traffic => &self.traffic,
            Lane::Reserved => &self.reserved,
        };
        let (under_way, before) = UnderWay::begin(count);
        if before < self.threads || self.enter(lane, caller, lanes::patience(request.uri().path())).await {
            return Ok(under_way);
        }
        self.count_refusal(lane);
        Err(Code::Overloaded.into())
    }

    /// Counts a request that is refused because the gateway is full.
    pub(crate) fn count_refusal(&self, lane: Lane) {
        telemetry::request_shed(lane.name());
        self.untold.fetch_add(1, Ordering::Relaxed);
    }

    async fn enter(&self, lane: Lane, caller: u64, patience: Patience) -> bool {
        let mut answer = None;
        let (arrival, rested) = {
            let mut lanes = self.lanes();
            let arrival = lanes.of(lane).arrive(caller, patience, Instant::now(), || {
                let (sender, receiver) = oneshot::channel();
                answer = Some(receiver);
                sender
            });
            (arrival, std::mem::take(&mut lanes.rests))
        };
        if rested {
            self.wake.notify_one();
        }
        match (arrival, answer) {
            (Arrival::Enters, _) => true,
            // The task lives as long as the listener; without it, nobody is kept waiting.
            (Arrival::Waits, Some(answer)) => answer.await.unwrap_or(true),
            (Arrival::Waits | Arrival::Refused, _) => false,
        }
    }

    /// Who asks, as far as that can be told without work: the caller whose token was verified before, else the client's network.
    /// A token that is not known may be anything, and buys nobody a turn of its own.
    fn caller<B>(&self, request: &mut Request<B>, peer: IpAddr) -> u64 {
        let network = || {
            let network = client::network(request.headers(), Peer(peer), self.trusted_proxies);
            self.hashes.hash_one(network)
        };
        let Some(token) = request.headers().get(header::AUTHORIZATION) else { return network() };
        let token = self.hashes.hash_one(token);
        if let Some(caller) = self.callers.find(token) {
            return caller;
        }
        let network = network();
        request.extensions_mut().insert(UnknownToken::new(self.callers.clone(), token));
        network
    }

    /// Lets requests in, as long as this is polled, and says in the log every so often how many were refused.
    pub(crate) async fn run(&self) {
        join(self.drive(), self.report()).await;
    }

    async fn drive(&self) {
        loop {
            self.wake.notified().await;
            loop {
                go_through_run_queue().await;
                if self.turn(Instant::now()) {
                    break;
                }
            }
        }
    }

    async fn report(&self) {
        loop {
            tokio::time::sleep(TELL_INTERVAL).await;
            let refused = self.untold.swap(0, Ordering::Relaxed);
            if refused > 0 {
                tracing::warn!(refused, "more was asked than the gateway can do: requests were refused as OVERLOADED");
            }
        }
    }

    /// Decides on those that wait. Whether nobody waits any more.
    fn turn(&self, now: Instant) -> bool {
        let (turns, rests) = {
            let mut lanes = self.lanes();
            let turns = [lanes.reserved.turn(now, Waiting::is_closed), lanes.traffic.turn(now, Waiting::is_closed)];
            lanes.rests = lanes.reserved.waiting() == 0 && lanes.traffic.waiting() == 0;
            (turns, lanes.rests)
        };
        for Turn { entered, refused } in turns {
            for (request, waited) in entered {
                telemetry::admission_wait(waited);
                // Whoever has gone in this moment leaves its turn unused.
                let _ = request.send(true);
            }
            for request in refused {
                let _ = request.send(false);
            }
        }
        rests
    }

    fn lanes(&self) -> MutexGuard<'_, Lanes> {
        // Nothing panics while the lock is held, so a poisoned one still holds good queues.
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Goes to the end of the run queue, and is there again when all that stood in it was worked on once. An idle thread may take it
/// over, as any other task.
async fn go_through_run_queue() {
    let mut stood_in_line = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut stood_in_line, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn request(path: &str, token: Option<&str>) -> Request<()> {
        let mut request = Request::get(path);
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        request.body(()).expect("a request")
    }

    /// Takes the threads that there are, and then all turns: nobody drives the queue.
    async fn fill(admission: &Admission) -> [UnderWay; 2] {
        let admit = async || admission.admit(&mut request("/api/v1/classify", None), PEER).await;
        [admit().await.expect("nobody else works"), admit().await.expect("there is a turn")]
    }

    #[tokio::test]
    async fn traffic_waits_for_its_turn_and_what_is_reserved_does_not_wait_with_it() {
        for path in ["/ready", "/api/v1/admin/contracts"] {
            let admission = Admission::new(1, 0);
            let _full = fill(&admission).await;
            let (mut traffic, mut reserved) = (request("/api/v1/classify", None), request(path, None));
            let mut waits = std::pin::pin!(admission.admit(&mut traffic, PEER));
            assert!(futures_util::poll!(waits.as_mut()).is_pending());
            let mut admitted = std::pin::pin!(admission.admit(&mut reserved, PEER));
            assert!(futures_util::poll!(admitted.as_mut()).is_ready(), "{path}");
            assert!(admission.turn(Instant::now()), "nobody waits any more");
            assert!(futures_util::poll!(waits.as_mut()).is_ready());
        }
    }

    #[tokio::test]
    async fn who_is_driven_is_let_in() {
        let admission = Admission::new(1, 0);
        let driver = tokio::spawn({
            let admission = admission.clone();
            async move { admission.run().await }
        });
        for _ in 0..100 {
            let all = (0..32).map(async |_| admission.admit(&mut request("/api/v1/classify", None), PEER).await);
            assert!(futures_util::future::join_all(all).await.iter().all(Result::is_ok));
        }
        driver.abort();
    }

    #[tokio::test]
    async fn nobody_waits_where_nobody_else_is_worked_on() {
        let admission = Admission::new(2, 0);
        // No turn is taken: nobody would give the next ones.
        for _ in 0..10 {
            let admit = async || admission.admit(&mut request("/api/v1/classify", None), PEER).await;
            let (one, other) = tokio::join!(admit(), admit());
            assert!(one.is_ok() && other.is_ok());
        }
        assert!(admission.turn(Instant::now()));
        let _full = [fill(&admission).await, fill(&admission).await];
        let mut third = request("/api/v1/classify", None);
        assert!(futures_util::poll!(std::pin::pin!(admission.admit(&mut third, PEER))).is_pending());
    }

    #[tokio::test]
    async fn whoever_leaves_takes_nobodys_turn() {
        let admission = Admission::new(1, 0);
        let _full = fill(&admission).await;
        {
            let mut gone = request("/api/v1/classify", None);
            let mut waits = std::pin::pin!(admission.admit(&mut gone, PEER));
            assert!(futures_util::poll!(waits.as_mut()).is_pending());
        }
        let mut stays = request("/api/v1/classify", None);
        let mut waits = std::pin::pin!(admission.admit(&mut stays, PEER));
        assert!(futures_util::poll!(waits.as_mut()).is_pending());
        admission.turn(Instant::now());
        assert!(futures_util::poll!(waits.as_mut()).is_ready());
    }

    #[test]
    fn a_caller_is_known_by_its_verified_tokens_and_else_by_its_network() {
        let admission = Admission::new(1, 0);
        let other = IpAddr::from([192, 0, 2, 1]);
        let caller = |token, peer| admission.caller(&mut request("/", token), peer);
        assert_eq!(caller(Some("a"), PEER), caller(None, PEER), "nobody has verified it");
        assert_ne!(caller(Some("a"), PEER), caller(Some("a"), other));
        for token in ["a", "b"] {
            let mut verified = request("/", Some(token));
            admission.caller(&mut verified, PEER);
            verified.extensions().get::<UnknownToken>().expect("is noted").belongs_to("asha");
        }
        assert_eq!(caller(Some("a"), PEER), caller(Some("b"), other), "two tokens of one caller");
        assert_ne!(caller(Some("a"), PEER), caller(None, PEER));
        assert_ne!(caller(Some("a"), PEER), caller(Some("c"), PEER));
    }
}
