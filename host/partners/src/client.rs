//! Calls to all partners: a gate, sessions that are opened once and shared, and one deadline around everything.

use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroU32;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use dashmap::DashMap;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use http::Uri;
use http::header::HeaderValue;
use intent_gateway_domain::clock::peers::PeerClocks;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::endpoint::Endpoint;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::fleet::Fleet;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::partner_error::protocol;
use intent_gateway_domain::ports::{PartnerCalls, ToolAnswer, ToolCall};
use intent_gateway_domain::probe::Lifecycle;
use intent_gateway_domain::progress::Progress;
use intent_gateway_domain::telemetry::PartnerCall;
use rustls::RootCertStore;
use serde_json::value::RawValue;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument as _;

use crate::api;
use crate::config::{PartnerClientConfig, PartnerClientError};
use crate::exchange::ExchangeFailure;
use crate::guard::{AddressPolicy, GuardedResolver, ResolveHost, SystemResolver};
use crate::session::Session;
use crate::wire::{Wire, bearer};

/// Sessions kept with one partner; beyond it the one that was idle longest goes.
const SESSIONS_PER_PARTNER_MAX: usize = 1_000;
/// How often a call is tried anew because its session was lost before the call was done.
const SESSION_RENEWALS_MAX: usize = 1;
/// A call whose progress is wanted, as a whole, however much the partner has to tell.
const PROGRESS_CALL_MAX: Duration = Duration::from_secs(600);
/// Calls of one partner that are listened to, under way at once.
const STREAMS_PER_PARTNER_MAX: usize = 1_024;
/// Longest pause between two looks for idle sessions.
const SWEEP_INTERVAL_MAX: Duration = Duration::from_secs(30);

/// Calls partners' tools over MCP.
pub struct PartnerClient {
    inner: Arc<Inner>,
    sweeper: JoinHandle<()>,
}

impl PartnerClient {
    /// Sets partner calls up. Must be called on a Tokio runtime, where idle sessions are looked after.
    ///
    /// # Errors
    /// [`PartnerClientError`] when a setting is out of range, or there is no runtime.
    pub fn new(config: &PartnerClientConfig) -> Result<Self, PartnerClientError> {
        Self::with_resolver(config, Arc::new(SystemResolver))
    }

    /// Like [`PartnerClient::new`], for one of several gateways: each has its part of the calls that may be under way at a partner.
    ///
    /// # Errors
    /// As [`PartnerClient::new`].
    pub fn of_fleet(config: &PartnerClientConfig, fleet: Fleet) -> Result<Self, PartnerClientError> {
        let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.into() };
        Self::build(config, Arc::new(SystemResolver), roots, fleet)
    }

    /// Like [`PartnerClient::new`], with another way to turn names into addresses.
    ///
    /// # Errors
    /// As [`PartnerClient::new`].
    pub fn with_resolver(
        config: &PartnerClientConfig,
        resolver: Arc<dyn ResolveHost>,
    ) -> Result<Self, PartnerClientError> {
        let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.into() };
        Self::with_roots(config, resolver, roots)
    }

    pub(crate) fn with_roots(
        config: &PartnerClientConfig,
        resolver: Arc<dyn ResolveHost>,
        roots: RootCertStore,
    ) -> Result<Self, PartnerClientError> {
        Self::build(config, resolver, roots, Fleet::default())
    }

    fn build(
        config: &PartnerClientConfig,
        resolver: Arc<dyn ResolveHost>,
        roots: RootCertStore,
        fleet: Fleet,
    ) -> Result<Self, PartnerClientError> {
        config.validate()?;
        let runtime = tokio::runtime::Handle::try_current().map_err(PartnerClientError::NoRuntime)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(PartnerClientError::Tls)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let policy = AddressPolicy { allow_loopback_http: config.allow_loopback_http };
        if policy.allow_loopback_http {
            tracing::warn!(
                "DEVELOPMENT SETTING: partners on loopback addresses and over plain HTTP are allowed \
                 (allow_loopback_http); never run like this in production"
            );
        }
        let wire = Wire::new(config, tls, GuardedResolver::new(resolver, policy));
        let inner = Arc::new(Inner { wire, policy, config: config.clone(), fleet, partners: DashMap::new() });
        let sweeper = runtime.spawn(sweep(
            Arc::downgrade(&inner),
            config.session_idle(),
            Duration::from_secs(config.pool_idle_secs),
        ));
        Ok(Self { inner, sweeper })
    }
}

impl PartnerClient {
    async fn within_time(&self, partner: &Partner, call: ToolCall<'_>) -> Result<ToolAnswer, CallFailure> {
        let deadline = Instant::now() + call.timeout;
        if let Some(progress) = call.progress {
            let told = wait_while_telling(progress, call.timeout, self.inner.call(partner, call, deadline));
            return Box::pin(told).await;
        }
        match tokio::time::timeout_at(deadline, self.inner.call(partner, call, deadline)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(timed_out(call.timeout)),
        }
    }

    /// The time that partners' servers show in their answers.
    #[must_use]
    pub fn clocks(&self) -> Arc<PeerClocks> {
        self.inner.wire.clocks.clone()
    }

    pub(crate) fn policy(&self) -> AddressPolicy {
        self.inner.policy
    }

    pub(crate) fn wire(&self) -> &Wire {
        &self.inner.wire
    }

    /// How a partner is opened that nothing is known of.
    pub(crate) fn first_opening(&self) -> Lifecycle {
        lifecycle(self.inner.config.discover_first)
    }
}

impl Drop for PartnerClient {
    fn drop(&mut self) {
        self.sweeper.abort();
    }
}

impl fmt::Debug for PartnerClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PartnerClient").field("config", &self.inner.config).finish_non_exhaustive()
    }
}

impl PartnerCalls for PartnerClient {
    fn call<'a>(
        &'a self,
        partner: &'a Arc<Partner>,
        call: ToolCall<'a>,
    ) -> BoxFuture<'a, Result<ToolAnswer, CallFailure>> {
        Box::pin(async move {
            let observed = PartnerCall::begin(call.intent, call.tool, &partner.id, call.trace);
            let span = observed.span().clone();
            let outcome = self.within_time(partner, call).instrument(span).await;
            observed.end(&outcome);
            outcome
        })
    }
}

fn timed_out(after: Duration) -> CallFailure {
    CallFailure::Timeout(u64::try_from(after.as_millis()).unwrap_or(u64::MAX))
}

/// Waits for a call as long as the partner is never silent for longer than `silence`, and not beyond [`PROGRESS_CALL_MAX`].
async fn wait_while_telling<T>(
    progress: &Progress<'_>,
    silence: Duration,
    call: impl Future<Output = Result<T, CallFailure>>,
) -> Result<T, CallFailure> {
    let began = Instant::now();
    let last_word = || progress.last_word().map_or(began, |at| began.max(Instant::from_std(at)));
    let mut call = pin!(call);
    let until = began + PROGRESS_CALL_MAX.max(silence);
    loop {
        let deadline = until.min(last_word() + silence);
        match tokio::time::timeout_at(deadline, call.as_mut()).await {
            Ok(outcome) => return outcome,
            Err(_) if deadline == until => return Err(timed_out(until - began)),
            Err(_) if last_word() + silence <= deadline => return Err(timed_out(silence)),
            Err(_) => {}
        }
    }
}

struct Inner {
    wire: Wire,
    policy: AddressPolicy,
    config: PartnerClientConfig,
    fleet: Fleet,
    partners: DashMap<PartnerId, Arc<Contact>>,
}

impl Inner {
    async fn call(&self, partner: &Partner, call: ToolCall<'_>, deadline: Instant) -> Result<ToolAnswer, CallFailure> {
        let token = call.bearer.or(partner.token.as_ref());
        let bearer = token.map(bearer).transpose()?;
        let Endpoint::Mcp { url } = &partner.endpoint else {
            let contact = self.contact(&partner.id);
            let _permit = contact.gate_of(&call).enter(deadline).await?;
            return Box::pin(api::call(&self.wire, self.policy, partner, &call, bearer)).await;
        };
        let uri = self.policy.endpoint(url)?;
        let arguments: &RawValue = serde_json::from_str(call.arguments)
            .ok()
            .filter(|raw: &&RawValue| raw.get().starts_with('{'))
            .ok_or_else(|| CallFailure::Payload("the arguments of the call are no JSON object".to_owned()))?;
        let owner = token.map(|token| Digest::of(token.expose().as_bytes()));

        let contact = self.contact(&partner.id);
        let _permit = contact.gate_of(&call).enter(deadline).await?;
        let slot = contact.slot(owner, &uri);
        let mut renewals = 0;
        loop {
            let session = slot.session(&self.wire, bearer.as_ref()).await?;
            match session.call_tool(&call, arguments).await {
                Ok(text) => return Ok(ToolAnswer::of(text)),
                Err(ExchangeFailure::SessionLost | ExchangeFailure::ToolChanged) if renewals < SESSION_RENEWALS_MAX => {
                    tracing::debug!(partner = %partner.id, "what was known of the partner is over, it is opened anew");
                    slot.discard(&session);
                    renewals += 1;
                }
                Err(ExchangeFailure::SessionLost) => {
                    slot.discard(&session);
                    return Err(protocol("the partner ended a session that it had just issued"));
                }
                Err(ExchangeFailure::ToolChanged) => {
                    slot.discard(&session);
                    return Err(protocol("the partner refuses the headers that it asked for itself"));
                }
                Err(ExchangeFailure::Failed(failure)) => {
                    // A partner that broke off may have restarted, and forgotten its sessions.
                    if matches!(failure, CallFailure::Unreachable(_)) {
                        slot.discard(&session);
                    }
                    return Err(failure);
                }
            }
        }
    }

    fn contact(&self, partner: &PartnerId) -> Arc<Contact> {
        if let Some(contact) = self.partners.get(partner) {
            return Arc::clone(&contact);
        }
        let PartnerClientConfig { max_concurrent_calls_per_partner, max_waiting_calls_per_partner, .. } = self.config;
        let gate = Gate::new(max_concurrent_calls_per_partner, max_waiting_calls_per_partner, &self.fleet);
        let contact = self.partners.entry(partner.clone());
        let streams = Gate::new(STREAMS_PER_PARTNER_MAX, 0, &self.fleet);
        let discovers = Arc::new(AtomicBool::new(self.config.discover_first));
        Arc::clone(&contact.or_insert_with(|| Arc::new(Contact { gate, streams, discovers, slots: Mutex::default() })))
    }

    /// Ends the sessions that nobody has used for a while, and forgets partners without any.
    fn sweep(&self, idle: Duration) {
        self.partners.retain(|_, contact| {
            let mut slots = contact.slots();
            slots.retain(|_, slot| Arc::strong_count(slot) > 1 || slot.idle_since().elapsed() < idle);
            let in_use = !slots.is_empty();
            drop(slots);
            // The shard is locked, so nobody can take the contact up meanwhile.
            in_use || Arc::strong_count(contact) > 1
        });
    }
}

/// Ends sessions and closes connections that nobody has used for so long.
async fn sweep(inner: Weak<Inner>, idle: Duration, connection_idle: Duration) {
    let interval = idle.min(connection_idle).min(SWEEP_INTERVAL_MAX);
    loop {
        tokio::time::sleep(interval).await;
        match inner.upgrade() {
            Some(inner) => {
                inner.sweep(idle);
                inner.wire.sweep();
            }
            None => return,
        }
    }
}

/// What is kept about one partner.
struct Contact {
    gate: Gate,
    /// For calls that somebody listens to, which may take long: others do not wait behind them.
    streams: Gate,
    /// Whether the partner was last opened with a discovery. Each user's session is opened the same way, so that a
    /// partner which refuses one is asked once.
    discovers: Arc<AtomicBool>,
    /// Sessions by whose token they were opened with: a session is never used under another one, because what the
    /// partner keeps in it belongs to that user.
    slots: Mutex<HashMap<Option<Digest>, Arc<Slot>>>,
}

impl Contact {
    fn gate_of(&self, call: &ToolCall<'_>) -> &Gate {
        if call.progress.is_some() { &self.streams } else { &self.gate }
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<Option<Digest>, Arc<Slot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The place of a session. A partner that has moved gets a new one.
    fn slot(&self, owner: Option<Digest>, uri: &Uri) -> Arc<Slot> {
        let mut slots = self.slots();
        if let Some(slot) = slots.get(&owner).filter(|slot| slot.uri == *uri) {
            slot.touch();
            return Arc::clone(slot);
        }
        if slots.len() >= SESSIONS_PER_PARTNER_MAX
            && let Some(oldest) = slots.iter().min_by_key(|(_, slot)| slot.idle_since()).map(|(owner, _)| *owner)
        {
            slots.remove(&oldest);
        }
        let slot = Arc::new(Slot::new(uri.clone(), Arc::clone(&self.discovers)));
        slots.insert(owner, Arc::clone(&slot));
        slot
    }
}

/// Bounds the calls to one partner that are under way, and those that wait. There are places for what all gateways together may
/// have under way, and a call takes as many of them as there are gateways.
struct Gate {
    permits: Semaphore,
    calls_max: NonZeroU32,
    fleet: Fleet,
    waiting: AtomicUsize,
    waiting_max: usize,
}

impl Gate {
    fn new(calls_max: usize, waiting_max: usize, fleet: &Fleet) -> Self {
        let calls_max = u32::try_from(calls_max).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN);
        let permits =
            Semaphore::new(usize::try_from(calls_max.get()).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS));
        Self { permits, calls_max, fleet: fleet.clone(), waiting: AtomicUsize::new(0), waiting_max }
    }

    /// Places of one call. So many calls as are this gateway's share have room.
    fn places(&self) -> u32 {
        self.calls_max.get() / self.fleet.share(self.calls_max).get()
    }

    async fn enter(&self, deadline: Instant) -> Result<SemaphorePermit<'_>, CallFailure> {
        struct Waiting<'a>(&'a AtomicUsize);
        impl Drop for Waiting<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }

        let places = self.places();
        if let Ok(permit) = self.permits.try_acquire_many(places) {
            return Ok(permit);
        }
        let before = self.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&self.waiting);
        if before >= self.waiting_max {
            return Err(CallFailure::Busy);
        }
        match tokio::time::timeout_at(deadline, self.permits.acquire_many(places)).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(CallFailure::Busy),
        }
    }
}

fn lifecycle(discovers: bool) -> Lifecycle {
    if discovers { Lifecycle::Discover } else { Lifecycle::Initialize }
}

type Opening = BoxFuture<'static, Result<Arc<Session>, CallFailure>>;

/// The place of one session: none yet, being opened, or ready.
struct Slot {
    uri: Uri,
    /// [`Contact::discovers`].
    discovers: Arc<AtomicBool>,
    state: Mutex<SlotState>,
}

struct SlotState {
    stage: Stage,
    last_used: Instant,
}

enum Stage {
    Empty,
    /// All callers that need the session wait for the same opening and get the same outcome, a failure as well. It
    /// lives as long as one of them waits.
    Opening(WeakShared<Opening>),
    Ready(Arc<Session>),
}

impl Slot {
    fn new(uri: Uri, discovers: Arc<AtomicBool>) -> Self {
        Self { uri, discovers, state: Mutex::new(SlotState { stage: Stage::Empty, last_used: Instant::now() }) }
    }

    fn state(&self) -> MutexGuard<'_, SlotState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn touch(&self) {
        self.state().last_used = Instant::now();
    }

    fn idle_since(&self) -> Instant {
        self.state().last_used
    }

    /// The session, opened if need be.
    async fn session(self: &Arc<Self>, wire: &Wire, bearer: Option<&HeaderValue>) -> Result<Arc<Session>, CallFailure> {
        let opening = {
            let mut state = self.state();
            let under_way = match &state.stage {
                Stage::Ready(session) if !session.is_closed() => return Ok(Arc::clone(session)),
                Stage::Opening(opening) => opening.upgrade(),
                Stage::Ready(_) | Stage::Empty => None,
            };
            under_way.unwrap_or_else(|| {
                let opening = self.open(wire.clone(), bearer.cloned());
                state.stage = opening.downgrade().map_or(Stage::Empty, Stage::Opening);
                opening
            })
        };
        opening.await
    }

    fn open(self: &Arc<Self>, wire: Wire, bearer: Option<HeaderValue>) -> Shared<Opening> {
        let slot = Arc::clone(self);
        let opening: Opening = Box::pin(async move {
            let first = lifecycle(slot.discovers.load(Ordering::Relaxed));
            // On a task of its own: rmcp keeps the span that it is opened in as long as the session lasts, and that would be
            // the span of one call, which would then never end.
            let opening = tokio::spawn(Session::open(wire, slot.uri.clone(), bearer, first));
            let opened = AbortOnDropHandle::new(opening).await;
            let outcome = opened.unwrap_or_else(|_| Err(protocol("the session could not be opened"))).map(Arc::new);
            if let Ok(session) = &outcome {
                slot.discovers.store(session.lifecycle() == Lifecycle::Discover, Ordering::Relaxed);
            }
            let mut state = slot.state();
            state.last_used = Instant::now();
            state.stage = outcome.as_ref().map_or(Stage::Empty, |session| Stage::Ready(Arc::clone(session)));
            outcome
        });
        opening.shared()
    }

    /// Gives a session up, unless another one has taken its place already. Calls under way keep it until they end.
    fn discard(&self, lost: &Arc<Session>) {
        let mut state = self.state();
        if matches!(&state.stage, Stage::Ready(session) if Arc::ptr_eq(session, lost)) {
            state.stage = Stage::Empty;
        }
    }
}

#[cfg(test)]
mod tests {
    use intent_gateway_domain::progress::Listener;
    use intent_gateway_testing::clock::TestClock;
    use intent_gateway_testing::fleet::fleet_of;

    use super::*;

    /// It is written for every call, so that what few calls need has to lie outside of it.
    #[tokio::test]
    async fn the_future_of_a_call_is_small() {
        let client = PartnerClient::new(&PartnerClientConfig::default()).expect("sound settings");
        let partner = Arc::new(intent_gateway_testing::directory::partner("alpha", &["test.search"]));
        let call = client.call(&partner, ToolCall::new("test.search", "search", "{}", Duration::from_secs(1)));
        assert!(size_of_val(&*call) <= 8 * 1024, "{} bytes", size_of_val(&*call));
    }

    #[tokio::test(start_paused = true)]
    async fn a_gateway_has_its_part_of_a_partners_places() {
        for (live, share) in [(1, 10), (3, 3), (4, 2), (30, 1)] {
            let fleet = fleet_of(live, TestClock::at(0), 10_000, &[]);
            let gate = Gate::new(10, 1, &fleet);
            let mut held = Vec::new();
            for _ in 0..share {
                held.push(gate.enter(Instant::now()).await.expect("there is room"));
            }
            assert_eq!(gate.enter(Instant::now()).await.err(), Some(CallFailure::Busy), "{live}");
            held.pop();
            assert!(gate.enter(Instant::now()).await.is_ok(), "{live}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn no_call_goes_on_for_ever_however_much_it_tells() {
        let progress = Progress::new(Listener::new(&|_| ()));
        let endless = async {
            loop {
                tokio::time::sleep(Duration::from_secs(29)).await;
                progress.tell("{}", Instant::now().into_std());
            }
        };
        let start = Instant::now();
        let outcome = wait_while_telling::<()>(&progress, Duration::from_secs(30), endless).await;
        assert_eq!(outcome, Err(CallFailure::Timeout(600_000)));
        assert_eq!(start.elapsed(), PROGRESS_CALL_MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_counted_from_the_last_word() {
        let progress = Progress::new(Listener::new(&|_| ()));
        let one_word = async {
            tokio::time::sleep(Duration::from_secs(20)).await;
            progress.tell("{}", Instant::now().into_std());
            std::future::pending::<Result<(), CallFailure>>().await
        };
        let start = Instant::now();
        let outcome = wait_while_telling(&progress, Duration::from_secs(30), one_word).await;
        assert_eq!(outcome, Err(CallFailure::Timeout(30_000)));
        assert_eq!(start.elapsed(), Duration::from_secs(50));
    }
}
