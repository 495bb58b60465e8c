//! Partners that report on many connections at once, until the gateway is gone, and what they know afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::Notify;

use super::{Reporter, ac_report, receipt};
use crate::harness::Server;

/// Connections on which reports are sent at once (issue: bench and crash test).
pub(super) const CONNECTIONS: usize = 64;
/// Every so often a client sends its report again.
const REPEAT_EVERY: usize = 8;
/// The gateway is ended within this time after enough was acknowledged, microseconds.
const END_WITHIN_US: u64 = 30_000;

/// What partners know of their reports.
#[derive(Default)]
pub(super) struct KnownOrder {
    /// Receipts by order.
    pub(super) acknowledged: BTreeMap<String, String>,
    /// Sent, and never answered: booked or not.
    pub(super) open: BTreeSet<String>,
    /// Orders to which a second answer was another one.
    pub(super) changed: BTreeSet<String>,
}

impl KnownOrder {
    pub(super) fn add(&mut self, other: Self) {
        let Self { acknowledged, open, changed } = other;
        self.acknowledged.extend(acknowledged);
        self.open.extend(open);
        self.changed.extend(changed);
    }

    /// Records an answer.
    fn take(&mut self, order: &str, receipt: &str) {
        if self.acknowledged.get(order).is_some_and(|before| before != receipt) {
            self.changed.insert(order.to_owned());
        }
        self.acknowledged.insert(order.to_owned(), receipt.to_owned());
        self.open.remove(order);
    }
}

/// What a client of a series calls the order that it reports at this place.
pub(super) fn external_id(series: &str, client: usize, at: usize) -> String {
    format!("{series}-{client}-{at}")
}

/// Which of so many partners reports an order: the same one whenever it is asked.
pub(super) fn reporter_of(order: &str, partners: usize) -> usize {
    order.bytes().map(usize::from).sum::<usize>() % partners
}

/// Clients and the gateway that they report to.
pub(super) struct Load<'a> {
    server: &'a Server,
    reporters: Vec<Reporter>,
    acknowledged: AtomicUsize,
    /// Acknowledgements to wait for before the end.
    wanted: usize,
    reached: Notify,
    /// Set before the end: from then on, an answer may be missing.
    ended: AtomicBool,
}

impl<'a> Load<'a> {
    /// With one client for each partner.
    pub(super) fn new(server: &'a Server, partners: &[(&str, &str)]) -> Self {
        let reporter = |(id, key): &(&str, &str)| Reporter::new(&server.url, id, key);
        Self {
            server,
            reporters: partners.iter().map(reporter).collect(),
            acknowledged: AtomicUsize::new(0),
            wanted: 0,
            reached: Notify::new(),
            ended: AtomicBool::new(false),
        }
    }

    /// The partner that reports an order: the same one whenever it is asked.
    fn reporter(&self, order: &str) -> &Reporter {
        &self.reporters[reporter_of(order, self.reporters.len())]
    }

    /// Reports an order until there is an answer; the receipt, or nothing when the gateway is gone.
    async fn report(&self, order: &str) -> Option<String> {
        let text = ac_report(order, &format!("request of {order}")).to_string();
        loop {
            match self.reporter(order).try_text(&text).await {
                // It is busy, and says that nothing was booked.
                Ok(answer) if answer.status == 503 => tokio::task::yield_now().await,
                Ok(answer) => {
                    if self.acknowledged.fetch_add(1, Ordering::Relaxed) + 1 >= self.wanted {
                        self.reached.notify_one();
                    }
                    return Some(receipt(&answer).to_owned());
                }
                // A timeout too: once in some 400 stops the client waits on though the gateway has ended and no socket is left. Whether the
                // gateway has ended is asked of its process.
                Err(error) => {
                    assert!(self.ended.load(Ordering::Acquire), "{order}: {error:?}");
                    return None;
                }
            }
        }
    }

    /// One client: an order after the other, some of them twice.
    async fn client(&self, series: &str, client: usize) -> KnownOrder {
        let mut known = KnownOrder::default();
        for at in 0_usize.. {
            let order = external_id(series, client, at);
            for _ in 0..if at % REPEAT_EVERY == 0 { 2 } else { 1 } {
                match self.report(&order).await {
                    Some(receipt) => known.take(&order, &receipt),
                    None if known.acknowledged.contains_key(&order) => return known,
                    None => {
                        known.open.insert(order);
                        return known;
                    }
                }
            }
        }
        known
    }

    /// Reports on all connections until, some time after so many acknowledgements, the gateway is ended.
    pub(super) async fn until(mut self, end: fn(&Server), series: &str, wanted: usize) -> KnownOrder {
        self.wanted = wanted;
        let load = &self;
        let end = async {
            load.reached.notified().await;
            tokio::time::sleep(random_moment()).await;
            load.ended.store(true, Ordering::Release);
            end(load.server);
        };
        let clients = join_all((0..CONNECTIONS).map(|client| load.client(series, client)));
        let (all, ()) = tokio::join!(clients, end);
        let mut known = KnownOrder::default();
        all.into_iter().for_each(|one| known.add(one));
        known
    }

    /// Reports orders again, of which some may be new to the gateway.
    pub(super) async fn again(&self, orders: impl IntoIterator<Item = String>, known: &mut KnownOrder) {
        let asked: Vec<String> = orders.into_iter().collect();
        for some in asked.chunks(CONNECTIONS) {
            let receipts = join_all(some.iter().map(|order| self.report(order))).await;
            for (order, receipt) in some.iter().zip(receipts) {
                known.take(order, &receipt.expect("nobody ends it"));
            }
        }
    }
}

/// Another one each time.
fn random_moment() -> Duration {
    Duration::from_micros(RandomState::new().hash_one("moment") % END_WITHIN_US)
}
