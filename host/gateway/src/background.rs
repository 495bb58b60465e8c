//! What the gateway does without being asked: it follows changes of who is routed and of signing keys, sends mail, probes
//! live partners once a day, watches the clock, checks and anchors the audit log and the ledger, checks all of the store once a day,
//! follows the catalogue of contracts and takes out those that keep failing, writes down what happens to partners' health, suspends
//! whoever is struck out, and forgets codes that are over, and evidence and orders that are old; it thins receipts where somebody asks
//! for that.
//!
//! Of several gateways that share a store, one does each [duty](crate::fleet); the rest each does for itself
//! (`docs/replicas.md` says which is which, and why). Here is what there is to do, and how often; `tasks` is how it goes on.

mod follow;
mod forget;
mod rounds;
mod tasks;

use std::sync::Arc;
use std::time::Duration;

use intent_gateway_catalogue::Catalogue;
use intent_gateway_compare::Shadow;
use intent_gateway_domain::accesses::Accesses;
use intent_gateway_domain::anchor::ChainName;
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::fleet::shared::SharedCounts;
use intent_gateway_domain::fleet::{Duty, Fleet};
use intent_gateway_domain::readiness::TaskBoard;
use intent_gateway_http::tls::ListenerTls;
use intent_gateway_ledger::completion::keyring::KeyRing;
use intent_gateway_linking::Linking;
use intent_gateway_onboarding::{Services, StrikeWatch};
use intent_gateway_outbound::health::Health;
use intent_gateway_outbound::policy::pace::Pace;
use intent_gateway_routing::calling::Caller;
use intent_gateway_sandbox::{ContractFolder, Sandbox};
use intent_gateway_store::SqlStore;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use self::follow::{Follower, follow};
use self::forget::{Sweeper, forget, forget_shared, sweep};
use self::rounds::{exchange_back_offs, look_after, probe, review_inflation, settle, tell_ends};
use self::tasks::{DutyWork, Tasks};
use crate::accesses;
use crate::certificate;
use crate::chains::{self, ChainGuard};
use crate::checks::{self, Runs, StoreGuard};
use crate::clocks::{self, Clocks};
use crate::contracts::{self, Sources};
use crate::disk::{self, DiskWatch, Thinner};
use crate::fleet::Membership;
use crate::health::{self, Changes, HealthJournal};
use crate::messages;
use crate::readiness::ReadinessWatch;

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
/// How often it is looked whether the date of a connection has come; the store is asked only then.
const ENDS_POLL: Duration = Duration::from_secs(2);
/// How often counts that gateways share are looked through for those that count no more.
const SHARED_COUNTS_POLL: Duration = Duration::from_secs(30);
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
