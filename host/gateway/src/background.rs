//! What the gateway does without being asked: it follows changes of who is routed and of signing keys, sends mail, probes
//! live partners once a day, checks and anchors the audit log and the ledger, writes down what happens to contracts and to partners' health, suspends whoever is struck out,
//! and forgets codes that are over, and evidence and orders that are old.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use intent_gateway_domain::accesses::Accesses;
use intent_gateway_domain::anchor::ChainName;
use intent_gateway_domain::approval::forget_expired;
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::faults::KEPT_MAX_MS;
use intent_gateway_domain::ports::{Evidence as _, Faults as _};
use intent_gateway_domain::signing_keys::SigningKeys as _;
use intent_gateway_domain::store::Store as _;
use intent_gateway_domain::supervise::restart_on_panic;
use intent_gateway_ledger::completion::keyring::KeyRing;
use intent_gateway_ledger::completion::test_reports::forget_test_reports;
use intent_gateway_linking::Linking;
use intent_gateway_onboarding::{
    Accounts, DeliveredResults, GoLiveTests, LivePartners, LookedThrough, Postman, Probes, Services, StrikeDesk,
    StrikeWatch, UnreportedOrders,
};
use intent_gateway_outbound::health::Health;
use intent_gateway_routing::calling::forget_attempts;
use intent_gateway_routing::user_data::forget_orders;
use intent_gateway_sandbox::Sandbox;
use intent_gateway_store::SqlStore;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::accesses;
use crate::chains::{self, ChainGuard};
use crate::contract_events;
use crate::disk::{self, DiskWatch};
use crate::health::{self, Changes, HealthJournal};

/// How often the store is asked for mail that is due.
const MAIL_POLL: Duration = Duration::from_millis(500);
/// How often live connections are looked through for probes that are due.
const PROBE_POLL: Duration = Duration::from_secs(60);
/// How often codes that are over are forgotten.
const SWEEP_POLL: Duration = Duration::from_secs(600);
/// How often evidence and orders that are too old are forgotten.
const EVIDENCE_POLL: Duration = Duration::from_secs(3_600);
/// How often open orders are looked through for those whose report has not come.
const UNREPORTED_POLL: Duration = Duration::from_secs(3_600);
/// How often what partners deliver is compared with what they declare.
const INFLATION_POLL: Duration = Duration::from_secs(3_600);
/// How long a change is waited for before the store is asked whether there was none: the signing keys must be known to be
/// the store's, well within [`STALE_AFTER_MS`](intent_gateway_ledger::completion::keyring::STALE_AFTER_MS).
const COMPARE_POLL: Duration = Duration::from_secs(2);
/// Pause after the store has failed.
const STORE_PAUSE: Duration = Duration::from_secs(1);

/// What there is to do, and what it is done with.
pub(crate) struct Work {
    pub(crate) onboarding: Services,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) store: Arc<SqlStore>,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) health: Arc<Health>,
    /// What completion reports are verified with.
    pub(crate) keys: Arc<KeyRing>,
    /// The last change of who is routed that was taken in.
    pub(crate) seen: u64,
    pub(crate) keep: Keep,
    /// The strikes that were read.
    pub(crate) strikes: StrikeWatch,
    pub(crate) health_journal: Arc<HealthJournal>,
    pub(crate) changes: Changes,
    pub(crate) linking: Linking,
    /// What waits to be written to the audit log.
    pub(crate) accesses: Arc<Accesses>,
    pub(crate) chains: ChainGuard,
    pub(crate) disks: DiskWatch,
}

/// How long things are kept, milliseconds, and how many.
#[derive(Clone, Copy)]
pub(crate) struct Keep {
    /// Findings and receipts.
    pub(crate) evidence_ms: u64,
    /// Findings, but for strikes, are kept up to this number.
    pub(crate) findings_max: u64,
    /// Closed orders, from their opening on.
    pub(crate) orders_ms: u64,
}

/// The tasks; they end when told to, or when this is dropped.
pub(crate) struct Background(JoinSet<()>);

impl Background {
    pub(crate) fn start(work: Work, stop: &CancellationToken) -> Self {
        let Work {
            onboarding,
            clock,
            store,
            sandbox,
            health,
            keys,
            seen,
            keep,
            strikes,
            health_journal,
            changes,
            linking,
            accesses,
            chains,
            disks,
        } = work;
        let mut tasks = Tasks { set: JoinSet::new(), stop: stop.clone() };
        let follower = Follower {
            store: store.clone(),
            clock: clock.clone(),
            keys,
            live: onboarding.live,
            tests: onboarding.tests,
            strikes: onboarding.strikes.clone(),
            health: health.clone(),
        };
        let sweeper = Sweeper { accounts: onboarding.accounts, store: store.clone(), clock: clock.clone(), linking };
        // After a panic everything is read once more: what was told before is not told twice.
        let (mut seen, mut strikes) = (Some(seen), Some(strikes));
        tasks.spawn("routing", move || follow(follower.clone(), seen.take().unwrap_or_default()));
        let postman = onboarding.postman;
        tasks.spawn("mail", move || deliver(postman.clone()));
        let probes = onboarding.probes;
        tasks.spawn("probes", move || probe(probes.clone()));
        tasks.spawn("sweep", move || sweep(sweeper.clone()));
        let unreported = onboarding.unreported;
        tasks.spawn("unreported orders", move || look_after(unreported.clone()));
        let results = onboarding.results;
        tasks.spawn("delivered results", move || review_inflation(results.clone()));
        let (audit, ledger) = (chains.clone(), chains);
        tasks.spawn("audit chain", move || chains::guard(audit.clone(), ChainName::Audit));
        tasks.spawn("ledger chain", move || chains::guard(ledger.clone(), ChainName::Ledger));
        let (evidence, log) = (store.clone(), store.clone());
        let (audit_log, times) = (store.clone(), clock.clone());
        tasks.spawn("disks", move || disk::watch(disks.clone()));
        let (receipts, time) = (store.clone(), clock.clone());
        tasks.spawn("receipts", move || disk::bound(receipts.clone(), time.clone(), keep.evidence_ms));
        tasks.spawn("evidence", move || forget(clock.clone(), evidence.clone(), keep));
        let (desk, journal) = (onboarding.strikes.clone(), health_journal.clone());
        tasks.spawn("strikes", move || {
            let watch = strikes.take().unwrap_or_default();
            health::follow_strikes(desk.clone(), store.clone(), health.clone(), watch, journal.clone())
        });
        // Not cut off when they are told to stop: they end by themselves, once what came before the end is written.
        let stopping = stop.clone();
        tasks.set.spawn(restart_on_panic("contract events", wait, move || {
            contract_events::follow(sandbox.clone(), log.clone(), stopping.clone())
        }));
        let stopping = stop.clone();
        tasks.set.spawn(restart_on_panic("accesses", wait, move || {
            accesses::follow(accesses.clone(), audit_log.clone(), times.clone(), stopping.clone())
        }));
        let changes = Arc::new(Mutex::new(changes));
        let (desk, stopping) = (onboarding.strikes, stop.clone());
        tasks.set.spawn(restart_on_panic("health changes", wait, move || {
            health::write(changes.clone(), health_journal.clone(), desk.clone(), stopping.clone())
        }));
        Self(tasks.set)
    }

    /// Waits until all have ended.
    pub(crate) async fn stop(mut self) {
        while self.0.join_next().await.is_some() {}
    }
}

/// Work that goes on until the gateway stops, each under the name that log and metrics know it by.
struct Tasks {
    set: JoinSet<()>,
    stop: CancellationToken,
}

impl Tasks {
    fn spawn<F: Future<Output = ()> + Send + 'static>(
        &mut self,
        name: &'static str,
        begin: impl FnMut() -> F + Send + 'static,
    ) {
        let stop = self.stop.clone();
        self.set.spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = restart_on_panic(name, wait, begin) => {}
            }
        });
    }
}

fn wait(time: Duration) -> BoxFuture<'static, ()> {
    Box::pin(tokio::time::sleep(time))
}

/// Puts every change of who is routed, and of signing keys, in force. While the store cannot be read, who was routed last
/// stays so; the keys grow stale, and completion reports are refused until they can be compared again.
async fn follow(follower: Follower, mut seen: u64) {
    loop {
        if let Err(error) = follower.follow_once(&mut seen).await {
            tracing::error!(%error, "the store could not be read; who was routed last stays so");
            tokio::time::sleep(STORE_PAUSE).await;
        }
    }
}

/// What follows the store.
#[derive(Clone)]
struct Follower {
    store: Arc<SqlStore>,
    clock: Arc<dyn Clock>,
    keys: Arc<KeyRing>,
    live: Arc<LivePartners>,
    tests: Arc<GoLiveTests>,
    strikes: Arc<StrikeDesk>,
    health: Arc<Health>,
}

impl Follower {
    async fn follow_once(&self, seen: &mut u64) -> Result<(), String> {
        let Self { store, clock, keys, live, tests, strikes, health } = self;
        let now = match tokio::time::timeout(COMPARE_POLL, store.wait_for_change(*seen)).await {
            Ok(now) => now,
            Err(_elapsed) => {
                let asked_at = clock.now();
                let now = store.changes().await.map_err(|error| chain(&error))?;
                if now == *seen {
                    keys.note_compared(asked_at);
                    // What a date in a record ends is no change of the record.
                    if live.is_due() {
                        live.refresh().await.map_err(|error| chain(&error))?;
                        tell_ends(tests).await?;
                    }
                    return Ok(());
                }
                now
            }
        };
        keys.refresh(clock.now()).await.map_err(|error| chain(&error))?;
        let partners = live.refresh().await.map_err(|error| chain(&error))?;
        if live.is_due() {
            tell_ends(tests).await?;
        }
        strikes.settle(&**health).await.map_err(|error| chain(&error))?;
        tracing::debug!(partners, changes = now, "the partners and their keys were read anew");
        *seen = now;
        Ok(())
    }
}

/// Tells what the dates of connections have ended, or end soon: the time after a failed test, what people have confirmed.
async fn tell_ends(tests: &GoLiveTests) -> Result<(), String> {
    tests.tell_ended_retests().await.map_err(|error| chain(&error))?;
    match tests.tell_ending_confirmations().await.map_err(|error| chain(&error))? {
        0 => {}
        told => tracing::info!(told, "partners were told of confirmations that end"),
    }
    Ok(())
}

async fn review_inflation(results: Arc<DeliveredResults>) {
    loop {
        match results.review_inflation().await {
            Ok(0) => {}
            Ok(raised) => tracing::warn!(raised, "declared signals are far from what was delivered; see the reviews"),
            Err(error) => tracing::error!(error = %chain(&error), "delivered results could not be compared"),
        }
        tokio::time::sleep(INFLATION_POLL).await;
    }
}

async fn forget(clock: Arc<dyn Clock>, store: Arc<SqlStore>, keep: Keep) {
    loop {
        match store.forget(clock.now().minus_ms(keep.evidence_ms)).await {
            Ok(0) => {}
            Ok(forgotten) => tracing::info!(forgotten, "findings and receipts that are too old were forgotten"),
            Err(error) => tracing::error!(error = %chain(&error), "old findings and receipts could not be forgotten"),
        }
        match store.forget_excess_findings(keep.findings_max).await {
            Ok(0) => {}
            Ok(forgotten) => tracing::info!(forgotten, "the oldest findings were forgotten: there were too many"),
            Err(error) => {
                tracing::error!(error = %chain(&error), "findings beyond their number could not be forgotten")
            }
        }
        match store.forget_faults(clock.now().minus_ms(keep.evidence_ms.min(KEPT_MAX_MS))).await {
            Ok(0) => {}
            Ok(forgotten) => tracing::info!(forgotten, "faults of contracts that are too old were forgotten"),
            Err(error) => tracing::error!(error = %chain(&error), "old faults of contracts could not be forgotten"),
        }
        match forget_orders(&*store, clock.now().minus_ms(keep.orders_ms)).await {
            Ok(0) => {}
            Ok(forgotten) => tracing::info!(forgotten, "closed orders that are too old were forgotten"),
            Err(error) => tracing::error!(error = %chain(&error), "old orders could not be forgotten"),
        }
        tokio::time::sleep(EVIDENCE_POLL).await;
    }
}

async fn deliver(postman: Arc<Postman>) {
    loop {
        match postman.deliver().await {
            Ok(0) => tokio::time::sleep(MAIL_POLL).await,
            Ok(_) => {}
            Err(error) => {
                tracing::error!(error = %chain(&error), "mail could not be read from the store");
                tokio::time::sleep(STORE_PAUSE).await;
            }
        }
    }
}

async fn probe(probes: Arc<Probes>) {
    loop {
        match probes.run_due().await {
            Ok(0) => {}
            Ok(probed) => tracing::info!(probed, "live partners were probed"),
            Err(error) => tracing::error!(error = %chain(&error), "due probes could not be made"),
        }
        tokio::time::sleep(PROBE_POLL).await;
    }
}

async fn look_after(unreported: Arc<UnreportedOrders>) {
    loop {
        match unreported.look_through().await {
            Ok(LookedThrough { noted: 0, found: 0 }) => {}
            Ok(LookedThrough { noted, found }) => tracing::info!(noted, found, "orders were not reported in time"),
            Err(error) => tracing::error!(error = %chain(&error), "open orders could not be looked through"),
        }
        tokio::time::sleep(UNREPORTED_POLL).await;
    }
}

/// What forgets what is over.
#[derive(Clone)]
struct Sweeper {
    accounts: Arc<Accounts>,
    store: Arc<SqlStore>,
    clock: Arc<dyn Clock>,
    linking: Linking,
}

async fn sweep(sweeper: Sweeper) {
    let Sweeper { accounts, store, clock, linking } = sweeper;
    loop {
        if let Err(error) = accounts.forget_codes().await {
            tracing::error!(error = %chain(&error), "codes that are over could not be forgotten");
        }
        if let Err(error) = forget_attempts(&*store, clock.now()).await {
            tracing::error!(error = %chain(&error), "writes whose keys are free again could not be forgotten");
        }
        if let Err(error) = forget_test_reports(&*store, clock.now()).await {
            tracing::error!(error = %chain(&error), "test reports whose time is over could not be forgotten");
        }
        if let Err(error) = forget_expired(&*store, clock.now()).await {
            tracing::error!(error = %chain(&error), "what waited too long for a second person could not be forgotten");
        }
        if let Err(error) = linking.forget_pending().await {
            tracing::error!(error = %chain(&error), "links that nobody has ended could not be forgotten");
        }
        tokio::time::sleep(SWEEP_POLL).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_task_that_panics_goes_on_and_ends_when_told_to() {
        let (stop, begun) = (CancellationToken::new(), Arc::new(AtomicU32::new(0)));
        let mut tasks = Tasks { set: JoinSet::new(), stop: stop.clone() };
        let (count, ends) = (begun.clone(), stop.clone());
        tasks.spawn("test", move || {
            let (number, ends) = (count.fetch_add(1, Ordering::Relaxed), ends.clone());
            async move {
                assert!(number >= 2, "try {number}");
                ends.cancel();
                std::future::pending().await
            }
        });
        Background(tasks.set).stop().await;
        assert_eq!(begun.load(Ordering::Relaxed), 3);
    }
}
