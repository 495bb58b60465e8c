//! The connections that are open: how many there may be, which of them are idle, and which gives way when a further client
//! wants in and all places are taken.
//!
//! An idle one gives way, of the network that has the most: whoever opens many connections and asks nothing on them shuts out
//! nobody. A connection on which a request is under way never does. Where none is idle, a further client gets one of the places
//! that are reserved for those who watch and run the gateway, and others are refused there at once.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Of the reserved places, those that one network may have: a hanging client leaves some to others.
const RESERVED_OF_ONE_NETWORK_MAX: usize = 24;
/// How long a place is waited for before a reserved one is looked for again: on a connection that was asked to give way, a
/// request may have come in that moment.
const GIVE_WAY_TIMEOUT: Duration = Duration::from_millis(100);

/// The places of a listener.
pub(crate) struct Connections {
    places: Arc<Semaphore>,
    /// Places beyond those.
    reserved: Arc<Semaphore>,
    open: Mutex<Open>,
    /// A connection has become idle.
    idle: Arc<Notify>,
}

#[derive(Default)]
struct Open {
    so_far: u64,
    /// Only networks that have a connection.
    by_network: HashMap<IpAddr, HashMap<u64, Handle>>,
    /// Reserved places that are taken, of those that have one.
    reserved: HashMap<IpAddr, usize>,
}

/// What is known of a connection from outside.
struct Handle {
    activity: Arc<Activity>,
    /// One in a reserved place gives no place of the others free.
    is_reserved: Arc<AtomicBool>,
    gives_way: CancellationToken,
}

/// A place among the connections, held until it is dropped.
pub(crate) struct Place {
    pub(crate) activity: Arc<Activity>,
    /// Somebody else wants in: the connection ends as soon as nothing is under way on it.
    pub(crate) gives_way: CancellationToken,
    of: Arc<Connections>,
    network: IpAddr,
    number: u64,
    /// Whether the permit is one of the reserved ones.
    is_reserved: Arc<AtomicBool>,
    permit: Mutex<OwnedSemaphorePermit>,
}

/// What was found for a connection.
struct Permit {
    is_reserved: bool,
    permit: OwnedSemaphorePermit,
}

impl Permit {
    fn regular(permit: OwnedSemaphorePermit) -> Self {
        Self { is_reserved: false, permit }
    }
}

impl Connections {
    pub(crate) fn new(max: usize, reserved: usize) -> Arc<Self> {
        let (max, reserved) = (max.min(Semaphore::MAX_PERMITS), reserved.min(Semaphore::MAX_PERMITS));
        let (places, reserved) = (Arc::new(Semaphore::new(max)), Arc::new(Semaphore::new(reserved)));
        Arc::new(Self { places, reserved, open: Mutex::default(), idle: Arc::new(Notify::new()) })
    }

    /// A place for a connection from a network. Where all are taken, an idle connection ends for it; where none is idle, it gets a
    /// reserved one, and where these are taken as well, this waits.
    pub(crate) async fn enter(self: &Arc<Self>, network: IpAddr) -> Place {
        let Permit { is_reserved, permit } = self.find_place(network).await;
        let is_reserved = Arc::new(AtomicBool::new(is_reserved));
        let (activity, gives_way) = (Arc::new(Activity::new(self.idle.clone())), CancellationToken::new());
        let mut open = self.open();
        let number = open.so_far;
        open.so_far += 1;
        let handle =
            Handle { activity: activity.clone(), is_reserved: is_reserved.clone(), gives_way: gives_way.clone() };
        open.by_network.entry(network).or_default().insert(number, handle);
        drop(open);
        Place { activity, gives_way, of: self.clone(), network, number, is_reserved, permit: Mutex::new(permit) }
    }

    async fn find_place(&self, network: IpAddr) -> Permit {
        let places = self.places.clone();
        if let Ok(free) = places.clone().try_acquire_owned() {
            return Permit::regular(free);
        }
        let freed = places.acquire_owned();
        tokio::pin!(freed);
        loop {
            let idle = self.idle.notified();
            tokio::pin!(idle);
            // From here on none that becomes idle is missed.
            idle.as_mut().enable();
            if !self.ask_one_to_give_way()
                && let Some(reserved) = self.reserve(network)
            {
                return reserved;
            }
            tokio::select! {
                freed = &mut freed => return Permit::regular(freed.expect("the semaphore is never closed")),
                () = idle => {}
                () = tokio::time::sleep(GIVE_WAY_TIMEOUT) => {
                    if let Some(reserved) = self.reserve(network) {
                        return reserved;
                    }
                }
            }
        }
    }

    /// A reserved place, where one is left for this network.
    fn reserve(&self, network: IpAddr) -> Option<Permit> {
        let mut open = self.open();
        let own = open.reserved.get(&network).copied().unwrap_or_default();
        if own >= RESERVED_OF_ONE_NETWORK_MAX {
            return None;
        }
        let permit = self.reserved.clone().try_acquire_owned().ok()?;
        open.reserved.insert(network, own + 1);
        Some(Permit { is_reserved: true, permit })
    }

    /// Asks the connection to end that has been idle longest, of the network that has the most connections. Whether there is one.
    fn ask_one_to_give_way(&self) -> bool {
        let mut open = self.open();
        let mut first: Option<(usize, Instant, IpAddr, u64)> = None;
        for (network, connections) in &open.by_network {
            let most_so_far = first.is_none_or(|(count, ..)| connections.len() >= count);
            if !most_so_far {
                continue;
            }
            let regular = connections.iter().filter(|(_, handle)| !handle.is_reserved.load(Ordering::Relaxed));
            let idle = regular.filter_map(|(number, handle)| Some((handle.activity.idle_since()?, *number)));
            let Some((since, number)) = idle.min() else { continue };
            let is_first = first.is_none_or(|(count, before, ..)| connections.len() > count || since < before);
            if is_first {
                first = Some((connections.len(), since, *network, number));
            }
        }
        let Some((_, _, network, number)) = first else { return false };
        let handle = open.remove(network, number);
        drop(open);
        if let Some(handle) = handle {
            tracing::debug!(%network, "an idle connection gives way to a further one");
            handle.gives_way.cancel();
        }
        true
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        // Nothing panics while the lock is held, so a poisoned one still holds good entries.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn remove(&mut self, network: IpAddr, number: u64) -> Option<Handle> {
        let connections = self.by_network.get_mut(&network)?;
        let handle = connections.remove(&number);
        if connections.is_empty() {
            self.by_network.remove(&network);
        }
        handle
    }

    fn free_reserved(&mut self, network: IpAddr) {
        match self.reserved.get_mut(&network) {
            Some(own) if *own > 1 => *own -= 1,
            _ => {
                self.reserved.remove(&network);
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let is_reserved = self.is_reserved.load(Ordering::Relaxed);
        let mut open = self.of.open();
        open.remove(self.network, self.number);
        if is_reserved {
            open.free_reserved(self.network);
        }
    }
}

impl Place {
    /// Whether any request may be asked here. A reserved place becomes one of the others as soon as one of them is free.
    pub(crate) fn is_for_all(&self) -> bool {
        if !self.is_reserved.load(Ordering::Relaxed) {
            return true;
        }
        // Nothing panics while the lock is held.
        let mut permit = self.permit.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(free) = self.of.places.clone().try_acquire_owned() else { return false };
        *permit = free;
        // Requests of one connection over HTTP/2 may come here at once.
        if self.is_reserved.swap(false, Ordering::Relaxed) {
            self.of.open().free_reserved(self.network);
        }
        true
    }
}

/// When a connection was last of use.
pub(crate) struct Activity {
    of: Mutex<Use>,
    /// Told when nothing more is under way.
    idle: Arc<Notify>,
}

/// The state of an [`Activity`].
#[derive(Clone, Copy)]
pub(crate) struct Use {
    pub(crate) under_way: usize,
    /// Streams whose end has not come: the request itself is answered with their head.
    streams: usize,
    pub(crate) last: Instant,
    pub(crate) asked_before: bool,
    /// When the first byte came of a request that is not there yet. Over HTTP/2, bytes come beside requests too.
    pub(crate) head_since: Option<Instant>,
}

impl Activity {
    fn new(idle: Arc<Notify>) -> Self {
        let unused = Use { under_way: 0, streams: 0, last: Instant::now(), asked_before: false, head_since: None };
        Self { of: Mutex::new(unused), idle }
    }

    /// Counts a request until the guard is dropped.
    pub(crate) fn ask(self: &Arc<Self>) -> ActiveRequest {
        self.update(|usage| {
            usage.under_way += 1;
            usage.asked_before = true;
            usage.head_since = None;
        });
        ActiveRequest(self.clone())
    }

    /// Bytes have come. Those of a body come while its request is under way.
    pub(crate) fn receive(&self) {
        self.update(|usage| {
            if usage.under_way == 0 && usage.head_since.is_none() {
                usage.head_since = Some(Instant::now());
            }
        });
    }

    /// How it is used now.
    pub(crate) fn usage(&self) -> Use {
        self.update(|usage| *usage)
    }

    /// Since when nothing is under way.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        let usage = self.usage();
        usage.is_idle().then_some(usage.last)
    }

    /// Counts the end of something, and tells whoever waits for a place.
    fn end(&self, count: impl FnOnce(&mut Use)) {
        let is_idle = self.update(|usage| {
            count(usage);
            usage.last = Instant::now();
            usage.is_idle()
        });
        if is_idle {
            self.idle.notify_waiters();
        }
    }

    fn update<T>(&self, change: impl FnOnce(&mut Use) -> T) -> T {
        // Nothing panics while the lock is held, so a poisoned one still holds good numbers.
        change(&mut self.of.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Use {
    fn is_idle(self) -> bool {
        self.under_way == 0 && self.streams == 0
    }
}

/// The connection of a request, for an answer that takes long.
#[derive(Clone)]
pub(crate) struct Answering(pub(crate) Arc<Activity>);

impl Answering {
    /// Begins a stream.
    pub(crate) fn stream(self) -> OpenStream {
        self.0.update(|usage| usage.streams += 1);
        OpenStream(self.0)
    }
}

/// A stream that is being sent. Its connection gives way to no other, and is no idle one while the stream is read.
pub(crate) struct OpenStream(Arc<Activity>);

impl OpenStream {
    /// More of the stream was taken.
    pub(crate) fn goes_on(&self) {
        self.0.update(|usage| usage.last = Instant::now());
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.end(|usage| usage.streams -= 1);
    }
}

/// One request under way.
pub(crate) struct ActiveRequest(Arc<Activity>);

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        self.0.end(|usage| usage.under_way -= 1);
    }
}
