//! What the gateway does without being asked: it follows changes of who is routed and of signing keys, sends mail, probes
//! live partners once a day, watches the clock, checks and anchors the audit log and the ledger, checks all of the store once a day,
//! follows the catalogue of contracts and takes out those that keep failing, writes down what happens to partners' health, suspends whoever is struck out, and forgets codes that are over,
//! and evidence and orders that are old; it thins receipts where somebody asks for that.
//!
//! Of several gateways that share a store, one does each [duty](crate::fleet); the rest each does for itself
//! (`docs/replicas.md` says which is which, and why).

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use intent_gateway_catalogue::Catalogue;
use intent_gateway_compare::Shadow;
use intent_gateway_domain::accesses::Accesses;
use intent_gateway_domain::anchor::ChainName;
use intent_gateway_domain::approval::forget_expired;
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::faults::KEPT_MAX_MS;
use intent_gateway_domain::fleet::shared::SharedCounts;
use intent_gateway_domain::fleet::{Duty, Fleet};
use intent_gateway_domain::ports::{Evidence as _, Faults as _};
use intent_gateway_domain::readiness::TaskBoard;
use intent_gateway_domain::signing_keys::SigningKeys as _;
use intent_gateway_domain::store::Store as _;
use intent_gateway_domain::supervise::restart_on_panic;
use intent_gateway_domain::web_session::forget_sessions;
use intent_gateway_http::tls::ListenerTls;
use intent_gateway_ledger::completion::keyring::KeyRing;
use intent_gateway_ledger::completion::test_reports::forget_test_reports;
use intent_gateway_linking::Linking;
use intent_gateway_onboarding::events::forget_events;
use intent_gateway_onboarding::{
    Accounts, DeliveredResults, GoLiveTests, LivePartners, LookedThrough, Probes, Services, StrikeDesk, StrikeWatch,
    UnreportedOrders,
};
use intent_gateway_outbound::health::Health;
use intent_gateway_outbound::policy::pace::Pace;
use intent_gateway_routing::calling::{Caller, forget_attempts};
use intent_gateway_routing::user_data::forget_orders;
use intent_gateway_sandbox::{ContractFolder, Sandbox};
use intent_gateway_store::SqlStore;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::accesses;
use crate::certificate;
use crate::chains::{self, ChainGuard};
use crate::checks::{self, Runs, StoreGuard};
use crate::clocks::{self, Clocks};
use crate::contracts::{self, Sources};
use crate::disk::{self, DiskWatch, Thinner};
use crate::fleet::{Duties, Membership};
use crate::health::{self, Changes, HealthJournal};
use crate::messages;
use crate::readiness::{ReadinessWatch, TaskRounds};

/// How often the store is asked for events that are due. The store is asked for one page, and most times finds nothing.
const EVENTS_POLL: Duration = Duration::from_millis(500);
/// How often it is looked whether statements are ready.
const STATEMENTS_POLL: Duration = Duration::from_secs(3_600);
/// How often it is looked whether partners have to be told of notices.
const NOTICES_POLL: Duration = Duration::from_secs(5);
/// How often live connections are looked through for probes that are due.
const PROBE_POLL: Duration = Duration::from_secs(60);
/// How often codes that are over are forgotten.
const SWEEP_POLL: Duration = Duration::from_secs(600);
/// How often it is looked whether receipts exceed their bounds.
const RECEIPTS_POLL: Duration = Duration::from_secs(60);
/// How often evidence and orders that are too old are forgotten, and receipts are thinned.
const EVIDENCE_POLL: Duration = Duration::from_secs(3_600);
/// How often open orders are looked through for those whose report has not come.
const UNREPORTED_POLL: Duration = Duration::from_secs(3_600);
/// How often what partners deliver is compared with what they declare.
const INFLATION_POLL: Duration = Duration::from_secs(3_600);
/// How long a change is waited for before the store is asked whether there was none: the signing keys must be known to be
/// the store's, well within [`STALE_AFTER_MS`](intent_gateway_ledger::completion::keyring::STALE_AFTER_MS).
const COMPARE_POLL: Duration = Duration::from_secs(2);
/// How often it is looked whether the date of a connection has come; the store is asked only then.
const ENDS_POLL: Duration = Duration::from_secs(2);
/// How often gateways tell each other of partners that want to be left alone: twice this, and the store's time, is well within the second in
/// which they must know.
const BACK_OFF_POLL: Duration = Duration::from_millis(250);
/// How often counts that gateways share are looked through for those that count no more.
const SHARED_COUNTS_POLL: Duration = Duration::from_secs(30);
/// How often the ends of calls are recorded that the store did not take.
const SETTLE_POLL: Duration = Duration::from_millis(250);
/// How long each task may go without a round that went well. Longer than a round takes where much is to be done.
const SECONDS_DUE: Duration = Duration::from_secs(60);
const ROUTING_DUE: Duration = Duration::from_secs(30);
/// Beyond the time between two looks: large contracts may come slowly.
const SOURCES_DUE: Duration = Duration::from_secs(600);
const MAIL_DUE: Duration = Duration::from_secs(600);
const PROBES_DUE: Duration = Duration::from_secs(3_600);
const SWEEP_DUE: Duration = Duration::from_secs(1_800);
const HOURLY_DUE: Duration = Duration::from_secs(3 * 3_600);
/// A segment is copied in pieces, with pauses, and there may be sixteen to begin with.
const THINNING_DUE: Duration = Duration::from_secs(24 * 3_600);
/// What following a whole chain may take.
const CHECK_MAX: Duration = Duration::from_secs(3_600);
/// Pause after the store has failed.
pub(crate) const STORE_PAUSE: Duration = Duration::from_secs(1);

/// What there is to do, and what it is done with.
pub(crate) struct Work {
    pub(crate) onboarding: Services,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) store: Arc<SqlStore>,
    pub(crate) contracts: ContractWork,
    pub(crate) health: Arc<Health>,
    /// What completion reports are verified with.
    pub(crate) keys: Arc<KeyRing>,
    /// What the listeners show, where they serve over TLS.
    pub(crate) tls: Option<Arc<ListenerTls>>,
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
    pub(crate) checks: StoreGuard,
    pub(crate) clocks: Clocks,
    pub(crate) disks: DiskWatch,
    pub(crate) thinner: Thinner,
    pub(crate) membership: Membership,
    pub(crate) sharing: SharedParts,
}

/// What there is to do about contracts.
pub(crate) struct ContractWork {
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) catalogue: Arc<Catalogue>,
    /// Absent where none is watched.
    pub(crate) folder: Option<ContractFolder>,
    /// Cancelled when the folder has been looked through, and where there is none.
    pub(crate) looked_through: CancellationToken,
    /// What is followed besides.
    pub(crate) sources: Sources,
    pub(crate) sources_poll: Duration,
    pub(crate) shadow: Arc<Shadow>,
}

/// What gateways count together.
#[derive(Clone)]
pub(crate) struct SharedParts {
    pub(crate) fleet: Fleet,
    pub(crate) counts: Arc<dyn SharedCounts>,
    /// Rates and back-offs; absent where they are switched off.
    pub(crate) pace: Option<Arc<Pace>>,
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
pub(crate) struct Background {
    tasks: JoinSet<()>,
    /// Kept until all of them have ended, for some hold duties by it.
    membership: Arc<Mutex<Membership>>,
}

impl Background {
    pub(crate) fn start(work: Work, stop: &CancellationToken) -> Self {
        let Work {
            onboarding,
            clock,
            store,
            contracts,
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
            membership,
            sharing,
            checks,
            clocks,
            disks,
            thinner,
            tls,
        } = work;
        let duties = membership.duties();
        let membership = Arc::new(Mutex::new(membership));
        let mut tasks = Tasks { set: JoinSet::new(), stop: stop.clone(), board, clock: clock.clone() };
        let follower = Follower {
            store: store.clone(),
            keys,
            live: onboarding.live.clone(),
            strikes: onboarding.strikes.clone(),
            health: health.clone(),
        };
        let counts = sharing.counts.clone();
        let sweeper = Sweeper {
            accounts: onboarding.accounts,
            store: store.clone(),
            clock: clock.clone(),
            linking,
            counts,
            catalogue: contracts.catalogue.clone(),
        };
        // First: without it no duty begins.
        let kept = membership.clone();
        tasks.spawn("lease", SECONDS_DUE, move |rounds| {
            let kept = kept.clone();
            async move { kept.lock().await.keep(rounds).await }
        });
        if let Some(tls) = tls {
            tasks.spawn("certificate", SECONDS_DUE * 2, move |rounds| certificate::follow(tls.clone(), rounds));
        }
        // After a panic everything is read once more: what was told before is not told twice.
        let (mut seen, mut strikes) = (Some(seen), Some(strikes));
        tasks.spawn("routing", ROUTING_DUE, move |rounds| {
            follow(follower.clone(), seen.take().unwrap_or_default(), rounds)
        });
        let ContractWork { sandbox, catalogue, folder, looked_through, sources, sources_poll, shadow } = contracts;
        let (followed, kept_contracts) = (catalogue.clone(), catalogue.clone());
        tasks.spawn("contracts", ROUTING_DUE, move |rounds| contracts::follow(followed.clone(), rounds));
        tasks.spawn_to_the_end("failing contracts", None, {
            let stopping = stop.clone();
            move |_| {
                let taking = contracts::take_out_failing(sandbox.clone(), catalogue.clone());
                let stopping = stopping.clone();
                async move {
                    // It ends when it is told to alone.
                    let _ = stopping.run_until_cancelled(taking).await;
                }
            }
        });
        tasks.spawn_to_the_end("comparisons", None, {
            let stopping = stop.clone();
            move |_| {
                let (shadow, stopping) = (shadow.clone(), stopping.clone());
                async move {
                    // It ends when it is told to alone.
                    let _ = stopping.run_until_cancelled(shadow.run()).await;
                }
            }
        });
        if folder.is_some() {
            let (stopping, mut folder) = (stop.clone(), folder);
            tasks.spawn_to_the_end("contract folder", None, move |_| {
                contracts::watch_folder(folder.take(), stopping.clone())
            });
        }
        let work = DutyWork { duty: Duty::ContractSources, every: sources_poll, due: sources_poll + SOURCES_DUE };
        tasks.spawn_duty("contract sources", &duties, work, move |rounds| {
            contracts::look_at_sources(sources.clone(), looked_through.clone(), rounds)
        });
        let postman = onboarding.postman;
        tasks.spawn("mail", MAIL_DUE, move |rounds| messages::send_mail(postman.clone(), rounds));
        let (courier, turns) = (onboarding.courier, Arc::new(Mutex::new(JoinSet::new())));
        let work = DutyWork { duty: Duty::Events, every: EVENTS_POLL, due: MAIL_DUE };
        tasks.spawn_duty("events", &duties, work, move |rounds| {
            messages::send_events(courier.clone(), turns.clone(), rounds)
        });
        let notices = onboarding.notices;
        let work = DutyWork { duty: Duty::Notices, every: NOTICES_POLL, due: HOURLY_DUE };
        tasks.spawn_duty("notices", &duties, work, move |rounds| messages::tell_of_notices(notices.clone(), rounds));
        let statements = onboarding.statements;
        let work = DutyWork { duty: Duty::Statements, every: STATEMENTS_POLL, due: HOURLY_DUE };
        tasks.spawn_duty("statements", &duties, work, move |rounds| {
            messages::tell_of_statements(statements.clone(), rounds)
        });
        let (live, tests) = (onboarding.live, onboarding.tests);
        let work = DutyWork { duty: Duty::ConnectionEnds, every: ENDS_POLL, due: ROUTING_DUE };
        tasks
            .spawn_duty("connection ends", &duties, work, move |rounds| tell_ends(live.clone(), tests.clone(), rounds));
        let probes = onboarding.probes;
        let work = DutyWork { duty: Duty::Probes, every: PROBE_POLL, due: PROBES_DUE };
        tasks.spawn_duty("probes", &duties, work, move |rounds| probe(probes.clone(), rounds));
        let work = DutyWork { duty: Duty::Sweep, every: SWEEP_POLL, due: SWEEP_DUE };
        tasks.spawn_duty("sweep", &duties, work, move |rounds| sweep(sweeper.clone(), rounds));
        let unreported = onboarding.unreported;
        let work = DutyWork { duty: Duty::UnreportedOrders, every: UNREPORTED_POLL, due: HOURLY_DUE };
        tasks.spawn_duty("unreported orders", &duties, work, move |rounds| look_after(unreported.clone(), rounds));
        let results = onboarding.results;
        let work = DutyWork { duty: Duty::DeliveredResults, every: INFLATION_POLL, due: HOURLY_DUE };
        tasks.spawn_duty("delivered results", &duties, work, move |rounds| review_inflation(results.clone(), rounds));
        let (exchanged, times) = (sharing.clone(), clock.clone());
        tasks.spawn("partner back-offs", SECONDS_DUE, move |rounds| {
            exchange_back_offs(exchanged.clone(), times.clone(), rounds)
        });
        let SharedParts { fleet, counts, .. } = sharing;
        let work = DutyWork { duty: Duty::SharedCounts, every: SHARED_COUNTS_POLL, due: SWEEP_DUE };
        tasks.spawn_duty("shared counts", &duties, work, move |rounds| {
            forget_shared(fleet.clone(), counts.clone(), rounds)
        });
        let chains_due = 2 * chains.interval + CHECK_MAX;
        let (audit, ledger) = (chains.clone(), chains);
        tasks.spawn("audit chain", chains_due, move |rounds| chains::guard(audit.clone(), ChainName::Audit, rounds));
        tasks.spawn("ledger chain", chains_due, move |rounds| chains::guard(ledger.clone(), ChainName::Ledger, rounds));
        tasks.spawn("clock", SECONDS_DUE, move |rounds| clocks::watch(clocks.clone(), rounds));
        let check_due = 2 * checks.interval + CHECK_MAX;
        let runs = Arc::new(Mutex::new(Runs::new()));
        let work = DutyWork { duty: Duty::StoreCheck, every: checks::LOOK_EVERY, due: check_due };
        tasks
            .spawn_duty("store check", &duties, work, move |rounds| checks::look(checks.clone(), runs.clone(), rounds));
        let evidence = store.clone();
        let (audit_log, times) = (store.clone(), clock.clone());
        tasks.spawn("disks", SECONDS_DUE, move |rounds| disk::watch(disks.clone(), rounds));
        let measured = store.clone();
        tasks.spawn("store size", SWEEP_DUE, move |rounds| disk::measure(measured.clone(), rounds));
        // One duty in three tasks: the copies that thinning makes may take long, and the bounds hold meanwhile.
        let (receipts, time) = (store.clone(), clock.clone());
        let work = DutyWork { duty: Duty::Evidence, every: RECEIPTS_POLL, due: SWEEP_DUE };
        tasks.spawn_duty("receipts", &duties, work, move |rounds| {
            disk::bound(receipts.clone(), time.clone(), keep.evidence_ms, rounds)
        });
        let work = DutyWork { duty: Duty::Evidence, every: EVIDENCE_POLL, due: THINNING_DUE };
        tasks.spawn_duty("thinning", &duties, work, move |rounds| thinner.clone().thin(rounds));
        let work = DutyWork { duty: Duty::Evidence, every: EVIDENCE_POLL, due: HOURLY_DUE };
        let retired = kept_contracts.clone();
        tasks.spawn_duty("evidence", &duties, work, move |rounds| {
            forget(clock.clone(), evidence.clone(), retired.clone(), keep, rounds)
        });
        let (desk, journal) = (onboarding.strikes.clone(), health_journal.clone());
        tasks.spawn("strikes", SECONDS_DUE, move |rounds| {
            let watch = strikes.take().unwrap_or_default();
            health::follow_strikes(desk.clone(), store.clone(), health.clone(), watch, journal.clone(), rounds)
        });
        tasks.spawn("ends of calls", SECONDS_DUE, move |rounds| settle(caller.clone(), rounds));
        tasks.spawn("readiness", SECONDS_DUE, move |rounds| readiness.clone().keep_looking(rounds));
        // Not cut off when they are told to stop: they end by themselves, once what came before the end is written.
        let stopping = stop.clone();
        tasks.spawn_to_the_end("accesses", Some(SECONDS_DUE), move |rounds| {
            accesses::follow(accesses.clone(), audit_log.clone(), times.clone(), stopping.clone(), rounds)
        });
        let changes = Arc::new(Mutex::new(changes));
        let (desk, stopping) = (onboarding.strikes, stop.clone());
        tasks.spawn_to_the_end("health changes", None, move |rounds| {
            health::write(changes.clone(), health_journal.clone(), desk.clone(), stopping.clone(), rounds)
        });
        Self { tasks: tasks.set, membership }
    }

    /// Waits until all have ended; the leases of what they did, to be given back.
    pub(crate) async fn stop(mut self) -> Option<Membership> {
        while self.tasks.join_next().await.is_some() {}
        Arc::into_inner(self.membership).map(Mutex::into_inner)
    }
}

/// Work that one gateway does for all.
struct DutyWork {
    duty: Duty,
    /// Time between two rounds.
    every: Duration,
    /// It is late when it has not gone well for longer than this, where it is done.
    due: Duration,
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

    /// Work that one gateway does for all, in rounds.
    fn spawn_duty<F: Future<Output = ()> + Send + 'static>(
        &mut self,
        name: &'static str,
        duties: &Duties,
        DutyWork { duty, every, due }: DutyWork,
        round: impl FnMut(TaskRounds) -> F + Clone + Send + 'static,
    ) {
        let duties = duties.clone();
        self.spawn(name, due, move |rounds| duties.clone().do_rounds(duty, every, rounds, round.clone()));
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
    keys: Arc<KeyRing>,
    live: Arc<LivePartners>,
    strikes: Arc<StrikeDesk>,
    health: Arc<Health>,
}

impl Follower {
    async fn follow_once(&self, seen: &mut u64) -> Result<(), String> {
        let Self { store, keys, live, strikes, health } = self;
        let now = match tokio::time::timeout(COMPARE_POLL, store.wait_for_change(*seen)).await {
            Ok(now) => now,
            Err(_elapsed) => {
                let asked_at_ms = keys.elapsed_ms();
                let now = store.changes().await.map_err(|error| chain(&error))?;
                if now == *seen {
                    keys.note_compared(asked_at_ms);
                    // What a date in a record ends is no change of the record.
                    if live.is_due() {
                        live.refresh().await.map_err(|error| chain(&error))?;
                    }
                    return Ok(());
                }
                now
            }
        };
        keys.refresh().await.map_err(|error| chain(&error))?;
        let partners = live.refresh().await.map_err(|error| chain(&error))?;
        strikes.settle(&**health).await.map_err(|error| chain(&error))?;
        tracing::debug!(partners, changes = now, "the partners and their keys were read anew");
        *seen = now;
        Ok(())
    }
}

/// Tells what the dates of connections have ended, or end soon: the time after a failed test, what people have confirmed.
async fn tell_ends(live: Arc<LivePartners>, tests: Arc<GoLiveTests>, rounds: TaskRounds) {
    if !live.is_due() {
        return rounds.note(true);
    }
    let (retests, confirmations) = (tests.tell_ended_retests().await, tests.tell_ending_confirmations().await);
    rounds.note(retests.is_ok() && confirmations.is_ok());
    if let Err(error) = retests {
        tracing::error!(error = %chain(&error), "partners could not be told that the time after a failed test is over");
    }
    match confirmations {
        Ok(0) => {}
        Ok(told) => tracing::info!(told, "partners were told of confirmations that end"),
        Err(error) => tracing::error!(error = %chain(&error), "partners could not be told of confirmations that end"),
    }
}

async fn review_inflation(results: Arc<DeliveredResults>, rounds: TaskRounds) {
    let reviewed = results.review_inflation().await;
    rounds.note_result(&reviewed);
    match reviewed {
        Ok(0) => {}
        Ok(raised) => tracing::warn!(raised, "declared signals are far from what was delivered; see the reviews"),
        Err(error) => tracing::error!(error = %chain(&error), "delivered results could not be compared"),
    }
}

async fn forget(
    clock: Arc<dyn Clock>,
    store: Arc<SqlStore>,
    catalogue: Arc<Catalogue>,
    keep: Keep,
    rounds: TaskRounds,
) {
    let evidence = store.forget(clock.settled().minus_ms(keep.evidence_ms)).await;
    let excess = store.forget_excess_findings(keep.findings_max).await;
    let faults = store.forget_faults(clock.settled().minus_ms(keep.evidence_ms.min(KEPT_MAX_MS))).await;
    let orders = forget_orders(&*store, clock.settled().minus_ms(keep.orders_ms)).await;
    // What a receipt or an order was judged by stays as long as they do.
    let keep_contracts_ms = keep.evidence_ms.max(keep.orders_ms);
    let retired = catalogue.forget_retired(clock.settled().minus_ms(keep_contracts_ms)).await;
    rounds.note(evidence.is_ok() && excess.is_ok() && faults.is_ok() && orders.is_ok() && retired.is_ok());
    match retired {
        Ok(0) => {}
        Ok(forgotten) => tracing::info!(forgotten, "versions of contracts that nothing needs were forgotten"),
        Err(error) => tracing::error!(error = %chain(&error), "retired versions of contracts could not be forgotten"),
    }
    match evidence {
        Ok(0) => {}
        Ok(forgotten) => tracing::info!(forgotten, "findings and receipts that are too old were forgotten"),
        Err(error) => tracing::error!(error = %chain(&error), "old findings and receipts could not be forgotten"),
    }
    match excess {
        Ok(0) => {}
        Ok(forgotten) => tracing::info!(forgotten, "the oldest findings were forgotten: there were too many"),
        Err(error) => tracing::error!(error = %chain(&error), "findings beyond their number could not be forgotten"),
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
}

/// Forgets counts that count no more. Who is alone makes none; what is left of before goes with the [`sweep`].
async fn forget_shared(fleet: Fleet, counts: Arc<dyn SharedCounts>, rounds: TaskRounds) {
    if !fleet.shares_counts() {
        rounds.note(true);
        return;
    }
    let forgotten = counts.forget_ended().await;
    rounds.note_result(&forgotten);
    if let Err(error) = forgotten {
        tracing::error!(error = %chain(&error), "counts that are over could not be forgotten");
    }
}

/// Tells the other gateways of partners that have asked this one to slow down, and hears of theirs.
async fn exchange_back_offs(sharing: SharedParts, clock: Arc<dyn Clock>, rounds: TaskRounds) {
    let SharedParts { fleet, counts, pace } = sharing;
    let mut is_failing = false;
    loop {
        tokio::time::sleep(BACK_OFF_POLL).await;
        let Some(pace) = pace.as_ref().filter(|_| fleet.shares_counts()) else {
            rounds.note(true);
            continue;
        };
        let untold = pace.take_untold(clock.now());
        if !untold.is_empty()
            && let Err(error) = counts.tell_back_offs(&untold).await
        {
            pace.put_back_untold(untold);
            rounds.note(false);
            if !std::mem::replace(&mut is_failing, true) {
                tracing::warn!(error = %chain(&error), "the other gateways are not told which partners want to be left alone");
            }
            continue;
        }
        let heard = counts.back_offs().await;
        rounds.note_result(&heard);
        match heard {
            Ok(heard) => {
                let now = clock.now();
                heard.iter().for_each(|back_off| pace.hear_back_off(back_off, now));
                is_failing = false;
            }
            Err(error) => {
                if !std::mem::replace(&mut is_failing, true) {
                    tracing::warn!(error = %chain(&error), "it is not known which partners have asked other gateways to slow down");
                }
            }
        }
    }
}

async fn probe(probes: Arc<Probes>, rounds: TaskRounds) {
    let probed = probes.run_due().await;
    rounds.note_result(&probed);
    match probed {
        Ok(0) => {}
        Ok(probed) => tracing::info!(probed, "live partners were probed"),
        Err(error) => tracing::error!(error = %chain(&error), "due probes could not be made"),
    }
}

async fn look_after(unreported: Arc<UnreportedOrders>, rounds: TaskRounds) {
    let looked = unreported.look_through().await;
    rounds.note_result(&looked);
    match looked {
        Ok(LookedThrough { noted: 0, found: 0 }) => {}
        Ok(LookedThrough { noted, found }) => tracing::info!(noted, found, "orders were not reported in time"),
        Err(error) => tracing::error!(error = %chain(&error), "open orders could not be looked through"),
    }
}

/// What forgets what is over.
#[derive(Clone)]
struct Sweeper {
    accounts: Arc<Accounts>,
    store: Arc<SqlStore>,
    clock: Arc<dyn Clock>,
    linking: Linking,
    counts: Arc<dyn SharedCounts>,
    catalogue: Arc<Catalogue>,
}

async fn sweep(sweeper: Sweeper, rounds: TaskRounds) {
    let Sweeper { accounts, store, clock, linking, counts, catalogue } = sweeper;
    let swept = [
        ("codes that are over", told(accounts.forget_codes().await)),
        ("writes whose keys are free again", told(forget_attempts(&*store, clock.settled()).await)),
        ("test reports whose time is over", told(forget_test_reports(&*store, clock.settled()).await)),
        ("what waited too long for a second person", told(forget_expired(&*store, clock.settled()).await)),
        ("sessions of pages that are over", told(forget_sessions(&*store, clock.settled()).await)),
        ("what partners were told long ago", told(forget_events(&*store, clock.settled()).await)),
        ("links that nobody has ended", told(linking.forget_pending().await)),
        ("counts that are over", told(counts.forget_ended().await)),
        ("contracts of gateways that have gone", told(catalogue.forget_dead().await)),
        ("what was seen of rollouts that are over", told(catalogue.forget_evidence().await)),
    ];
    rounds.note(swept.iter().all(|(_, failed)| failed.is_none()));
    for (what, failed) in swept {
        if let Some(error) = failed {
            tracing::error!(error, what, "what is over could not be forgotten");
        }
    }
}

/// How something failed, with its causes.
fn told<T, E: std::error::Error>(outcome: Result<T, E>) -> Option<String> {
    outcome.err().map(|error| chain(&error))
}

/// Records ends of calls that the store did not take, and forgets rankings that were held for their time.
async fn settle(caller: Arc<Caller>, rounds: TaskRounds) {
    loop {
        tokio::time::sleep(SETTLE_POLL).await;
        caller.settle_waiting().await;
        caller.shown_rankings.forget_old(caller.clock.now());
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
        while tasks.set.join_next().await.is_some() {}
        assert_eq!(begun.load(Ordering::Relaxed), 3);
        assert!(board.troubles(SystemClock.now()).is_empty(), "it was told to stop");
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_ends_by_itself_is_missed() {
        let (stop, board) = (CancellationToken::new(), Arc::new(TaskBoard::default()));
        let mut tasks = Tasks { set: JoinSet::new(), stop, board: board.clone(), clock: Arc::new(SystemClock) };
        tasks.spawn("test", HOURLY_DUE, |_| std::future::ready(()));
        tasks.spawn_to_the_end("another", None, |_| std::future::ready(()));
        while tasks.set.join_next().await.is_some() {}
        let troubles = board.troubles(SystemClock.now());
        let codes: Vec<_> = troubles.iter().map(|trouble| trouble.code).collect();
        assert_eq!(codes, [TroubleCode::TaskStopped; 2]);
    }
}
