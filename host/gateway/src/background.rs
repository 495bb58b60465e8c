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
use intent_gateway_domain::readiness::TaskBoard;
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
use intent_gateway_routing::calling::{Caller, forget_attempts};
use intent_gateway_routing::user_data::forget_orders;
use intent_gateway_sandbox::Sandbox;
use intent_gateway_store::SqlStore;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::accesses;
use crate::chains::{self, ChainGuard};
use crate::contract_events;
use crate::health::{self, Changes, HealthJournal};
use crate::readiness::{ReadinessWatch, TaskRounds};

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
/// How often the ends of calls are recorded that the store did not take.
const SETTLE_POLL: Duration = Duration::from_millis(250);
/// How long each task may go without a round that went well. Longer than a round takes where much is to be done.
const SECONDS_DUE: Duration = Duration::from_secs(60);
const ROUTING_DUE: Duration = Duration::from_secs(30);
const MAIL_DUE: Duration = Duration::from_secs(600);
const PROBES_DUE: Duration = Duration::from_secs(3_600);
const SWEEP_DUE: Duration = Duration::from_secs(1_800);
const HOURLY_DUE: Duration = Duration::from_secs(3 * 3_600);
/// What following a whole chain may take.
const CHECK_MAX: Duration = Duration::from_secs(3_600);
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
    /// Calls tools; the ends of its calls are recorded late here.
    pub(crate) caller: Arc<Caller>,
    pub(crate) readiness: Arc<ReadinessWatch>,
    /// Where the tasks tell of their rounds.
    pub(crate) board: Arc<TaskBoard>,
}

/// How long things are kept, milliseconds.
#[derive(Clone, Copy)]
pub(crate) struct Keep {
    /// Findings and receipts.
    pub(crate) evidence_ms: u64,
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
            caller,
            readiness,
            board,
        } = work;
        let mut tasks = Tasks { set: JoinSet::new(), stop: stop.clone(), board, clock: clock.clone() };
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
        tasks.spawn("routing", ROUTING_DUE, move |rounds| {
            follow(follower.clone(), seen.take().unwrap_or_default(), rounds)
        });
        let postman = onboarding.postman;
        tasks.spawn("mail", MAIL_DUE, move |rounds| deliver(postman.clone(), rounds));
        let probes = onboarding.probes;
        tasks.spawn("probes", PROBES_DUE, move |rounds| probe(probes.clone(), rounds));
        tasks.spawn("sweep", SWEEP_DUE, move |rounds| sweep(sweeper.clone(), rounds));
        let unreported = onboarding.unreported;
        tasks.spawn("unreported orders", HOURLY_DUE, move |rounds| look_after(unreported.clone(), rounds));
        let results = onboarding.results;
        tasks.spawn("delivered results", HOURLY_DUE, move |rounds| review_inflation(results.clone(), rounds));
        let chains_due = 2 * chains.interval + CHECK_MAX;
        let (audit, ledger) = (chains.clone(), chains);
        tasks.spawn("audit chain", chains_due, move |rounds| chains::guard(audit.clone(), ChainName::Audit, rounds));
        tasks.spawn("ledger chain", chains_due, move |rounds| chains::guard(ledger.clone(), ChainName::Ledger, rounds));
        let (evidence, log) = (store.clone(), store.clone());
        let (audit_log, times) = (store.clone(), clock.clone());
        tasks.spawn("evidence", HOURLY_DUE, move |rounds| forget(clock.clone(), evidence.clone(), keep, rounds));
        let (desk, journal) = (onboarding.strikes.clone(), health_journal.clone());
        tasks.spawn("strikes", SECONDS_DUE, move |rounds| {
            let watch = strikes.take().unwrap_or_default();
            health::follow_strikes(desk.clone(), store.clone(), health.clone(), watch, journal.clone(), rounds)
        });
        tasks.spawn("ends of calls", SECONDS_DUE, move |rounds| settle(caller.clone(), rounds));
        tasks.spawn("readiness", SECONDS_DUE, move |rounds| readiness.clone().keep_looking(rounds));
        // Not cut off when they are told to stop: they end by themselves, once what came before the end is written.
        let stopping = stop.clone();
        tasks.spawn_to_the_end("contract events", None, move |rounds| {
            contract_events::follow(sandbox.clone(), log.clone(), stopping.clone(), rounds)
        });
        let stopping = stop.clone();
        tasks.spawn_to_the_end("accesses", Some(SECONDS_DUE), move |rounds| {
            accesses::follow(accesses.clone(), audit_log.clone(), times.clone(), stopping.clone(), rounds)
        });
        let changes = Arc::new(Mutex::new(changes));
        let (desk, stopping) = (onboarding.strikes, stop.clone());
        tasks.spawn_to_the_end("health changes", None, move |rounds| {
            health::write(changes.clone(), health_journal.clone(), desk.clone(), stopping.clone(), rounds)
        });
        Self(tasks.set)
    }

    /// Waits until all have ended.
    pub(crate) async fn stop(mut self) {
        while self.0.join_next().await.is_some() {}
    }
}

/// Work that goes on until the gateway stops, each under the name that log, metrics and readiness know it by.
struct Tasks {
    set: JoinSet<()>,
    stop: CancellationToken,
    board: Arc<TaskBoard>,
    clock: Arc<dyn Clock>,
}

impl Tasks {
    /// Begins work that is cut off when it is told to stop. It is late when it has not gone well for longer than `due`.
    fn spawn<F: Future<Output = ()> + Send + 'static>(
        &mut self,
        name: &'static str,
        due: Duration,
        mut begin: impl FnMut(TaskRounds) -> F + Send + 'static,
    ) {
        let (stop, rounds) = (self.stop.clone(), self.enter(name, Some(due)));
        self.set.spawn(async move {
            let ended = rounds.rounds.clone();
            let work = restart_on_panic(name, wait, move || begin(rounds.clone()));
            if stop.run_until_cancelled(work).await.is_some() {
                ended.note_end();
            }
        });
    }

    /// Begins work that ends by itself when it is told to stop.
    fn spawn_to_the_end<F: Future<Output = ()> + Send + 'static>(
        &mut self,
        name: &'static str,
        due: Option<Duration>,
        mut begin: impl FnMut(TaskRounds) -> F + Send + 'static,
    ) {
        let (stop, rounds) = (self.stop.clone(), self.enter(name, due));
        self.set.spawn(async move {
            let ended = rounds.rounds.clone();
            restart_on_panic(name, wait, move || begin(rounds.clone())).await;
            if !stop.is_cancelled() {
                ended.note_end();
            }
        });
    }

    fn enter(&self, name: &'static str, due: Option<Duration>) -> TaskRounds {
        let due_ms = due.map(|due| u64::try_from(due.as_millis()).unwrap_or(u64::MAX));
        let rounds = self.board.enter(name, due_ms, self.clock.now());
        TaskRounds { rounds, clock: self.clock.clone() }
    }
}

fn wait(time: Duration) -> BoxFuture<'static, ()> {
    Box::pin(tokio::time::sleep(time))
}

/// Puts every change of who is routed, and of signing keys, in force. While the store cannot be read, who was routed last
/// stays so; the keys grow stale, and completion reports are refused until they can be compared again.
async fn follow(follower: Follower, mut seen: u64, rounds: TaskRounds) {
    loop {
        let followed = follower.follow_once(&mut seen).await;
        rounds.note_result(&followed);
        if let Err(error) = followed {
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

async fn review_inflation(results: Arc<DeliveredResults>, rounds: TaskRounds) {
    loop {
        let reviewed = results.review_inflation().await;
        rounds.note_result(&reviewed);
        match reviewed {
            Ok(0) => {}
            Ok(raised) => tracing::warn!(raised, "declared signals are far from what was delivered; see the reviews"),
            Err(error) => tracing::error!(error = %chain(&error), "delivered results could not be compared"),
        }
        tokio::time::sleep(INFLATION_POLL).await;
    }
}

async fn forget(clock: Arc<dyn Clock>, store: Arc<SqlStore>, keep: Keep, rounds: TaskRounds) {
    loop {
        let evidence = store.forget(clock.now().minus_ms(keep.evidence_ms)).await;
        let faults = store.forget_faults(clock.now().minus_ms(keep.evidence_ms.min(KEPT_MAX_MS))).await;
        let orders = forget_orders(&*store, clock.now().minus_ms(keep.orders_ms)).await;
        rounds.note(evidence.is_ok() && faults.is_ok() && orders.is_ok());
        match evidence {
            Ok(0) => {}
            Ok(forgotten) => tracing::info!(forgotten, "findings and receipts that are too old were forgotten"),
            Err(error) => tracing::error!(error = %chain(&error), "old findings and receipts could not be forgotten"),
        }
        match faults {
            Ok(0) => {}
            Ok(forgotten) => tracing::info!(forgotten, "faults of contracts that are too old were forgotten"),
            Err(error) => tracing::error!(error = %chain(&error), "old faults of contracts could not be forgotten"),
        }
        match orders {
            Ok(0) => {}
            Ok(forgotten) => tracing::info!(forgotten, "closed orders that are too old were forgotten"),
            Err(error) => tracing::error!(error = %chain(&error), "old orders could not be forgotten"),
        }
        tokio::time::sleep(EVIDENCE_POLL).await;
    }
}

async fn deliver(postman: Arc<Postman>, rounds: TaskRounds) {
    loop {
        let delivered = postman.deliver().await;
        rounds.note_result(&delivered);
        match delivered {
            Ok(0) => tokio::time::sleep(MAIL_POLL).await,
            Ok(_) => {}
            Err(error) => {
                tracing::error!(error = %chain(&error), "mail could not be read from the store");
                tokio::time::sleep(STORE_PAUSE).await;
            }
        }
    }
}

async fn probe(probes: Arc<Probes>, rounds: TaskRounds) {
    loop {
        let probed = probes.run_due().await;
        rounds.note_result(&probed);
        match probed {
            Ok(0) => {}
            Ok(probed) => tracing::info!(probed, "live partners were probed"),
            Err(error) => tracing::error!(error = %chain(&error), "due probes could not be made"),
        }
        tokio::time::sleep(PROBE_POLL).await;
    }
}

async fn look_after(unreported: Arc<UnreportedOrders>, rounds: TaskRounds) {
    loop {
        let looked = unreported.look_through().await;
        rounds.note_result(&looked);
        match looked {
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

async fn sweep(sweeper: Sweeper, rounds: TaskRounds) {
    let Sweeper { accounts, store, clock, linking } = sweeper;
    loop {
        let swept = [
            ("codes that are over", told(accounts.forget_codes().await)),
            ("writes whose keys are free again", told(forget_attempts(&*store, clock.now()).await)),
            ("test reports whose time is over", told(forget_test_reports(&*store, clock.now()).await)),
            ("what waited too long for a second person", told(forget_expired(&*store, clock.now()).await)),
            ("links that nobody has ended", told(linking.forget_pending().await)),
        ];
        rounds.note(swept.iter().all(|(_, failed)| failed.is_none()));
        for (what, failed) in swept {
            if let Some(error) = failed {
                tracing::error!(error, what, "what is over could not be forgotten");
            }
        }
        tokio::time::sleep(SWEEP_POLL).await;
    }
}

/// How something failed, with its causes.
fn told<T, E: std::error::Error>(outcome: Result<T, E>) -> Option<String> {
    outcome.err().map(|error| chain(&error))
}

/// Records the ends of calls that the store did not take.
async fn settle(caller: Arc<Caller>, rounds: TaskRounds) {
    loop {
        tokio::time::sleep(SETTLE_POLL).await;
        caller.settle_waiting().await;
        rounds.note(caller.unsettled.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use intent_gateway_domain::clock::SystemClock;
    use intent_gateway_domain::readiness::TroubleCode;

    #[tokio::test(start_paused = true)]
    async fn a_task_that_panics_goes_on_and_ends_when_told_to() {
        let (stop, begun) = (CancellationToken::new(), Arc::new(AtomicU32::new(0)));
        let board = Arc::new(TaskBoard::default());
        let mut tasks =
            Tasks { set: JoinSet::new(), stop: stop.clone(), board: board.clone(), clock: Arc::new(SystemClock) };
        let (count, ends) = (begun.clone(), stop.clone());
        tasks.spawn("test", HOURLY_DUE, move |rounds| {
            let (number, ends) = (count.fetch_add(1, Ordering::Relaxed), ends.clone());
            async move {
                assert!(number >= 2, "try {number}");
                rounds.note(true);
                ends.cancel();
                std::future::pending().await
            }
        });
        Background(tasks.set).stop().await;
        assert_eq!(begun.load(Ordering::Relaxed), 3);
        assert!(board.troubles(SystemClock.now()).is_empty(), "it was told to stop");
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_ends_by_itself_is_missed() {
        let (stop, board) = (CancellationToken::new(), Arc::new(TaskBoard::default()));
        let mut tasks = Tasks { set: JoinSet::new(), stop, board: board.clone(), clock: Arc::new(SystemClock) };
        tasks.spawn("test", HOURLY_DUE, |_| std::future::ready(()));
        tasks.spawn_to_the_end("another", None, |_| std::future::ready(()));
        Background(tasks.set).stop().await;
        let troubles = board.troubles(SystemClock.now());
        let codes: Vec<_> = troubles.iter().map(|trouble| trouble.code).collect();
        assert_eq!(codes, [TroubleCode::TaskStopped; 2]);
    }
}
