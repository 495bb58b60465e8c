//! `intent-gateway serve`: puts the parts together, serves, and drains when told to stop.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use arc_swap::ArcSwap;
use intent_gateway_catalogue::{Catalogue, CatalogueSetup, CataloguedContracts};
use intent_gateway_compare::{Comparisons, Exports, Shadow, ShadowedJournal};
use intent_gateway_domain::accesses::Accesses;
use intent_gateway_domain::clock::peers::PeerClocks;
use intent_gateway_domain::clock::watch::WatchedClock;
use intent_gateway_domain::clock::{Clock, SystemClock};
use intent_gateway_domain::fair_slots::FairSlots;
use intent_gateway_domain::fleet::Fleet;
use intent_gateway_domain::ports::Contracts as _;
use intent_gateway_domain::readiness::TaskBoard;
use intent_gateway_domain::signing_keys::SigningKeys as _;
use intent_gateway_domain::store::Store as _;
use intent_gateway_domain::telemetry;
use intent_gateway_http::server::{BindError, Drained, IDLE_LINGER, ReservedAddress, Server, Shutdown};
use intent_gateway_http::streams::Streams;
use intent_gateway_http::{AppState, LiveRates, router, router_beside_pages};
use intent_gateway_ledger::bookkeeping::Bookkeeping;
use intent_gateway_ledger::completion::REPORTS_IN_FLIGHT_MAX;
use intent_gateway_ledger::completion::intake::Intake;
use intent_gateway_ledger::completion::keyring::KeyRing;
use intent_gateway_ledger::completion::rate::ReportRate;
use intent_gateway_ledger::completion::test_reports::TestReports;
use intent_gateway_ledger::completion::unsigned::UnsignedReports;
use intent_gateway_linking::Linking;
use intent_gateway_mail::mailer;
use intent_gateway_onboarding::{AccountNames, LivePartners, Ports, Services, StrikeWatch};
use intent_gateway_outbound::health::Health;
use intent_gateway_outbound::policy::cache::AnswerCache;
use intent_gateway_outbound::policy::pace::Pace;
use intent_gateway_outbound::policy::pace::sharing::Sharing;
use intent_gateway_outbound::policy::sign_in::SignIns;
use intent_gateway_outbound::{Outbound, Policies};
use intent_gateway_partners::PartnerClient;
use intent_gateway_registry::{Source, SourceFollower};
use intent_gateway_rollout::Trials;
use intent_gateway_routing::calling::{Caller, KeyedWrites};
use intent_gateway_routing::faults::FaultDesk;
use intent_gateway_routing::following::Following;
use intent_gateway_routing::golive::{GoLiveRunner, SAMPLE_TIMEOUT};
use intent_gateway_routing::reference::ReferenceSealer;
use intent_gateway_routing::search::{PastOrders, Rollouts, Searcher, ShownRankings};
use intent_gateway_routing::selection::Directory;
use intent_gateway_routing::user_data::UserRecords;
use intent_gateway_sandbox::{ContractFolder, Sandbox, WorkerThreads, put_left_contracts_aside, read_left_contracts};
use intent_gateway_store::{CallCounts, Desk, FaultJournal, Journal, SqlStore};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::background::{Background, ContractWork, Keep, SharedParts, Work};
use crate::chains::{ChainGuard, KeptAnchors};
use crate::checks::StoreGuard;
use crate::clocks::Clocks;
use crate::console::{self, Invitation, Pages};
use crate::contracts::Sources;
use crate::disk::{DiskWatch, Thinner};
use crate::fleet::{BootClock, Entry, Membership, gateway_id, gateway_name};
use crate::health::{Changes, HealthJournal};
use crate::issuer_keys;
use crate::linking::{LinkingPorts, LinkingTasks, linking};
use crate::open_files;
use crate::progress::CompileProgress;
use crate::readiness::{ReadinessWatch, TaskRounds};
use crate::reload::{Reload, Reloadable, configured_partners};
use crate::telemetry::{Sizes, Telemetry};
use crate::timer::RuntimeTimer;
use intent_gateway_cli::ServeOptions;
use intent_gateway_config::{Config, Keys, PartnerEntry, anchor_keys, check_writable, start_on_store};

/// Exit code when a second signal cuts the drain short, as a shell counts an interrupt.
const EXIT_INTERRUPTED: i32 = 130;

/// Serves until a signal.
pub(crate) fn run(config: Config, options: ServeOptions) -> anyhow::Result<()> {
    let telemetry = Telemetry::start(&config.log, &config.telemetry)?;
    config.secret_files.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
    open_files::raise_limit();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("no runtime")?;
    let served = runtime.block_on(serve(config, options, &telemetry));
    telemetry.stop();
    served
}

async fn serve(config: Config, options: ServeOptions, telemetry: &Telemetry) -> anyhow::Result<()> {
    let (leaving, draining) = (CancellationToken::new(), CancellationToken::new());
    let signals = Signals::new()?;
    // Before anything is compiled or opened: of two gateways that are started at one address, the second says so at once.
    let address = ReservedAddress::take(config.server.listener())?;
    let scrape_address = Telemetry::reserve(&config)?;
    let pages_address = console::reserve(&config)?;
    check_writable(&config)?;
    // From here on, for what was kept may have to be compiled again, which takes seconds: a signal ends that at once.
    let drain = Drain {
        leaving: leaving.clone(),
        draining: draining.clone(),
        serving: CancellationToken::new(),
        hangup: Arc::default(),
    };
    tokio::spawn(signals.watch(drain.clone(), config.server.drain_announce()));
    let keys = Keys::of(&config)?;
    warn_of_development_keys(&keys);
    // Before the sandbox keeps its first contract: what it has kept tells a store that was lost from one that is new.
    let (vault, watched) = (keys.vault(), Arc::new(WatchedClock::new(Arc::new(SystemClock))));
    let opening = start_on_store(&config, &vault, options.first_start, watched.now());
    let Some(opened) = draining.run_until_cancelled(opening).await else {
        tracing::info!("stopped before it served");
        return Ok(());
    };
    let base = Base { keys, store: opened?, clock: watched.clone() };
    let compiling = CompileProgress::start();
    let fleet = Fleet::new(Arc::new(BootClock));
    let starting = start_contracts(&config, &compiling, &base, &fleet, address.local_addr(), &draining);
    let Contracts { sandbox, catalogue, trials, membership } = match draining.run_until_cancelled(starting).await {
        Some(Ok(started)) => started,
        not_started => {
            compiling.end();
            tracing::info!("stopped before it served");
            return not_started.map_or(Ok(()), |failed| failed.map(|_| ()));
        }
    };
    let looked_through = CancellationToken::new();
    let folder = open_folder(&config, &sandbox, &catalogue, &looked_through)?;
    let sources = open_sources(&config, &catalogue)?;
    let compiling = tokio::spawn({
        let draining = draining.clone();
        async move {
            draining.run_until_cancelled(looked_through.cancelled()).await;
            compiling.end();
        }
    });
    let contracts = (&sandbox, &catalogue, &trials);
    let running = parts(&config, telemetry, base, contracts, &drain, &fleet)?;
    let RunningParts { state, onboarding, clock, keys, store, desk, journal, faults, health, linking, .. } = running;
    let (readiness, board, caller) = (running.readiness, running.board, state.caller.clone());
    let (linking_tasks, accesses, anchors) = (running.linking_tasks, running.accesses, running.anchors);
    let (counts, pace) = (running.counts, running.pace);
    let peer_clocks = running.peer_clocks;
    // Before the first request: who was live before a restart is live after it, and may report.
    let seen = store.changes().await.context("the store cannot be read")?;
    onboarding.live.refresh().await.context("the partners cannot be read")?;
    keys.refresh().await.context("the signing keys cannot be read")?;
    let mut strikes = StrikeWatch::default();
    let recalled = onboarding.strikes.recall(&*store, &*health.of, &mut strikes).await;
    recalled.context("the strikes against partners cannot be read")?;
    let idle_linger = IDLE_LINGER.min(config.server.drain_announce());
    let pages = Pages::prepare(&config, &vault, store.clone(), clock.clone(), state.tokens.clone())?;
    let invitation = pages.as_ref().map(Invitation::from);
    let reloadable = Reloadable {
        level: telemetry.level(),
        partners: onboarding.live.clone(),
        report_keys: keys.clone(),
        issuers: state.issuers.clone(),
        tokens: state.tokens.clone(),
        rates: state.rates.clone(),
        intake: state.intake.clone(),
        settings: state.settings.clone(),
        clock: clock.clone(),
    };
    let shutdown = Shutdown { announced: leaving, begun: draining, idle_linger };
    let Servers { server, pages } = listen(state, pages, (address, pages_address), shutdown)?;
    drain.serving.cancel();
    let stop = CancellationToken::new();
    let watchers = telemetry.serve(scrape_address, &stop)?;
    let keep = Keep {
        evidence_ms: config.evidence.keep_ms(),
        findings_max: config.evidence.findings_max,
        orders_ms: config.orders.keep_ms(),
    };
    let disks = DiskWatch {
        state: config.state_dir.clone(),
        store: config.store.location(&config.state_dir)?.folder().map(Path::to_owned),
        thresholds: config.evidence.thresholds(),
        journal: journal.clone(),
    };
    let thinner = Thinner {
        store: store.clone(),
        clock: clock.clone(),
        journal: journal.clone(),
        rules: Arc::new(config.evidence.thinning()),
    };
    let HealthParts { of, journal: health_journal, changes } = health;
    let checks = StoreGuard {
        store: store.clone(),
        vault,
        clock: clock.clone(),
        anchors: anchors.clone(),
        alarm: onboarding.alarm.clone(),
        interval: config.anchors.check_interval(),
    };
    let chains = ChainGuard {
        store: store.clone(),
        clock: clock.clone(),
        anchors,
        alarm: onboarding.alarm.clone(),
        interval: config.anchors.interval(),
        check_interval: config.anchors.check_interval(),
        fleet: fleet.clone(),
    };
    let work = Work {
        disks,
        thinner,
        chains,
        checks,
        clocks: Clocks { own: watched, store: store.clone(), partners: peer_clocks },
        onboarding,
        clock,
        store,
        contracts: ContractWork {
            sandbox: sandbox.clone(),
            catalogue,
            folder,
            sources,
            sources_poll: config.contracts.sources_poll(),
            shadow: running.shadow,
        },
        health: of,
        keys,
        seen,
        keep,
        strikes,
        health_journal,
        changes,
        linking,
        accesses,
        caller: caller.clone(),
        readiness,
        board,
        membership,
        sharing: SharedParts { fleet, counts: counts.clone(), pace },
    };
    let background = Background::start(work, &stop);
    let reload = Reload { read: options.read_again, config, parts: reloadable };
    tokio::spawn(reload.keep(drain.hangup.clone(), stop.clone()));
    intent_gateway_cli::print(&format!("listening on http://{}", server.local_addr()));
    if let Some(invitation) = invitation {
        invitation.tell(pages.as_ref().map_or(server.local_addr(), Server::local_addr));
    }
    tracing::info!(address = %server.local_addr(), version = env!("CARGO_PKG_VERSION"), "serving");

    let pages = async {
        match pages {
            Some(pages) => pages.run().await,
            None => Drained::Clean,
        }
    };
    let (drained, _) = tokio::join!(server.run(), pages);
    stop.cancel();
    let membership = background.stop().await;
    // Once more for those whose last try failed.
    caller.settle_waiting().await;
    // Whoever is still owed an answer was cut off; what was taken is written all the same.
    linking_tasks.close().await;
    desk.close().await;
    journal.close().await;
    faults.close().await;
    counts.close().await;
    // Last: until here this gateway counts among those that work.
    if let Some(membership) = membership {
        membership.end().await;
    }
    drop(watchers);
    // Only now: requests under way needed contracts until the last of them was answered.
    sandbox.stop().await;
    // It has ended with the sandbox at the latest, and only says so.
    let _ = compiling.await;
    match drained {
        Drained::Clean => tracing::info!("stopped; every request under way was answered"),
        Drained::Cut(connections) => {
            tracing::warn!(connections, "stopped; connections were cut off at `server.drain_timeout_ms`");
        }
    }
    Ok(())
}

/// The listeners.
struct Servers {
    server: Server,
    /// Of the pages, where they have an address of their own.
    pages: Option<Server>,
}

/// Opens the listeners.
fn listen(
    state: AppState,
    pages: Option<Pages>,
    (address, pages_address): (ReservedAddress, Option<ReservedAddress>),
    shutdown: Shutdown,
) -> Result<Servers, BindError> {
    let Some(Pages { parts, .. }) = pages else {
        return Ok(Servers { server: address.listen(router(state), shutdown)?, pages: None });
    };
    let (api, pages) = router_beside_pages(state, |inside| intent_gateway_console::router(parts, inside));
    match pages_address {
        None => Ok(Servers { server: address.listen(api.merge(pages), shutdown)?, pages: None }),
        Some(pages_address) => Ok(Servers {
            server: address.listen(api, shutdown.clone())?,
            pages: Some(pages_address.listen(pages, shutdown)?),
        }),
    }
}

/// What runs contracts, what says which, and this gateway's place among those that it says it to.
struct Contracts {
    sandbox: Arc<Sandbox>,
    catalogue: Arc<Catalogue>,
    trials: Arc<Trials>,
    membership: Membership,
}

/// Starts what runs contracts, and makes ready what the catalogue has. When the drain begins, nothing more is loaded: whoever waits
/// for that is told so.
async fn start_contracts(
    config: &Config,
    compiling: &CompileProgress,
    Base { keys, store, clock }: &Base,
    fleet: &Fleet,
    address: SocketAddr,
    draining: &CancellationToken,
) -> anyhow::Result<Contracts> {
    let (state_dir, folder) = (config.state_dir.clone(), config.contracts.dir.clone());
    let (compiler, shown) = (intent_gateway_cli::compiler(), compiling.listener());
    let sandbox = Sandbox::start_with(config.sandbox.clone(), compiler, state_dir, folder, draining.clone(), shown)
        .context("the sandbox did not start")?;
    // Before the catalogue is read: from here on no version goes live that is not ready here. And before anything is done that
    // others may be doing, and a user's call is counted.
    let vault = keys.vault();
    let entry = Entry {
        id: gateway_id(&config.state_dir, vault.entropy()).context("the state folder cannot be written")?,
        name: config.fleet.name.clone().unwrap_or_else(|| gateway_name(address)),
        lease: config.fleet.lease(),
    };
    let membership = Membership::begin(entry, store.clone(), fleet.clone(), vault).await;
    let mut membership = membership.context("the store gives this gateway no lease")?;
    let trials = Trials::new();
    let catalogue = Catalogue::new(CatalogueSetup {
        store: store.clone(),
        leases: store.clone(),
        fleet: fleet.clone(),
        runtime: sandbox.clone(),
        clock: clock.clone(),
        timer: Arc::new(RuntimeTimer),
        trust: config.contracts.trust(),
        trials: trials.clone(),
        versions_kept: config.sandbox.versions_kept_per_intent,
        max_stale_ms: config.contracts.max_stale_ms(),
    });
    let starting = async {
        let (state_dir, now) = (config.state_dir.clone(), clock.now());
        let left = tokio::task::spawn_blocking(move || read_left_contracts(&state_dir, now)).await??;
        if let Some(left) = left {
            catalogue.take_over(left).await.context("the contracts of the state folder could not be taken over")?;
            let state_dir = config.state_dir.clone();
            tokio::task::spawn_blocking(move || put_left_contracts_aside(&state_dir)).await??;
        }
        catalogue.start().await.context("the contracts cannot be read")
    };
    // It takes seconds where much is to be compiled, and the lease is to be renewed meanwhile.
    tokio::select! {
        started = starting => started?,
        () = membership.keep(TaskRounds::untold(clock.clone())) => {}
    }
    Ok(Contracts { sandbox, catalogue, trials, membership })
}

/// The watched folder, where there is one.
fn open_folder(
    config: &Config,
    sandbox: &Sandbox,
    catalogue: &Arc<Catalogue>,
    looked_through: &CancellationToken,
) -> anyhow::Result<Option<ContractFolder>> {
    let Some(path) = config.contracts.dir.clone() else {
        sandbox.progress().end();
        looked_through.cancel();
        return Ok(None);
    };
    Ok(Some(ContractFolder::open(path, catalogue.clone(), sandbox.progress(), looked_through.clone())?))
}

/// What is followed beside the folder.
fn open_sources(config: &Config, catalogue: &Arc<Catalogue>) -> anyhow::Result<Sources> {
    let sources = config.contracts.sources().map_err(anyhow::Error::msg)?;
    let follow = |source: Source| {
        let name = source.name.to_string();
        SourceFollower::new(source, catalogue.clone()).with_context(|| format!("the source {name} cannot be followed"))
    };
    let followed = sources.into_iter().map(follow).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(Arc::new(tokio::sync::Mutex::new(followed)))
}

/// The parts that serve, and those that work beside them.
struct RunningParts {
    state: AppState,
    onboarding: Services,
    clock: Arc<dyn Clock>,
    keys: Arc<KeyRing>,
    store: Arc<SqlStore>,
    desk: Arc<Desk>,
    journal: Arc<Journal>,
    faults: Arc<FaultJournal>,
    health: HealthParts,
    linking: Linking,
    linking_tasks: LinkingTasks,
    accesses: Arc<Accesses>,
    anchors: Arc<KeptAnchors>,
    readiness: Arc<ReadinessWatch>,
    board: Arc<TaskBoard>,
    counts: Arc<CallCounts>,
    pace: Option<Arc<Pace>>,
    peer_clocks: Arc<PeerClocks>,
    shadow: Arc<Shadow>,
}

/// Partners' health, and where changes in it go.
struct HealthParts {
    of: Arc<Health>,
    journal: Arc<HealthJournal>,
    changes: Changes,
}

/// What all parts stand on.
struct Base {
    keys: Keys,
    store: Arc<SqlStore>,
    clock: Arc<dyn Clock>,
}

/// The parts, each behind its port.
fn parts(
    config: &Config,
    telemetry: &Telemetry,
    Base { keys, store, clock }: Base,
    (sandbox, catalogue, trials): (&Arc<Sandbox>, &Arc<Catalogue>, &Arc<Trials>),
    drain: &Drain,
    fleet: &Fleet,
) -> anyhow::Result<RunningParts> {
    let contracts = CataloguedContracts::new(sandbox.clone(), catalogue.clone());
    store.bound_receipts(config.evidence.bounds());
    let anchors_file = config.anchors.file(&config.state_dir);
    let anchors = Arc::new(KeptAnchors::new(anchors_file, anchor_keys(Some(&keys.vault()))));
    let partners = PartnerClient::of_fleet(&config.partner_client, fleet.clone());
    let partners = Arc::new(partners.context("partner calls could not be set up")?);
    let peer_clocks = partners.clocks();
    let configured = configured_partners(config);
    let directory = Arc::new(Directory::new(configured.clone()));
    let signing_keys = config.partners.iter().filter_map(PartnerEntry::signing_key);
    let ring = Arc::new(KeyRing::new(store.clone(), keys.vault(), Arc::new(BootClock), signing_keys));
    let (desk, journal) = (Arc::new(Desk::open(store.clone())), Arc::new(Journal::open(store.clone(), keys.vault())));
    let faults = Arc::new(FaultJournal::open(store.clone(), keys.vault(), clock.clone()));
    sandbox.note_faults_in(faults.clone());
    let onboarding = Ports {
        store: store.clone(),
        vault: keys.vault(),
        clock: clock.clone(),
        contracts: contracts.clone(),
        probe: partners.clone(),
        golive: Arc::new(GoLiveRunner { calls: partners.clone(), clock: clock.clone(), timeout: SAMPLE_TIMEOUT }),
        pages: partners.clone(),
        mailer: mailer(&config.mail, &config.state_dir, clock.clone()).context("mail could not be set up")?,
        webhooks: partners.clone(),
        live: Arc::new(LivePartners::new(store.clone(), configured, directory.clone(), clock.clone())),
        keys: ring.clone(),
        books: store.clone(),
        journal: journal.clone(),
        settings: config.platform.settings(),
    }
    .services();
    let linking_tasks = LinkingTasks::default();
    let shared = LinkingPorts {
        store: store.clone(),
        vault: keys.vault(),
        directory: directory.clone(),
        sign_in_servers: onboarding.sign_ins.clone(),
    };
    let linking = linking(config, shared, &partners, &clock, &linking_tasks);
    let (health_journal, changes) = HealthJournal::new();
    let health = HealthParts { of: Arc::new(Health::new(clock.now().as_ms())), journal: health_journal, changes };
    let counts = Arc::new(CallCounts::open(store.clone()));
    let sharing = Sharing::new(counts.clone(), keys.vault());
    let pace = config.outbound.rate_limits.then(|| Arc::new(Pace::new(fleet.clone(), Some(sharing))));
    let shadow = Shadow::new(
        trials.clone(),
        contracts.clone(),
        catalogue.clone(),
        Arc::new(WorkerThreads::beside_serving()),
        config.sandbox.deadline(),
    );
    let searcher = Searcher {
        contracts: contracts.clone(),
        directory: directory.clone(),
        outbound: Arc::new(Outbound::new(
            partners,
            clock.clone(),
            policies(config, &health, &linking, &clock, pace.clone()),
        )),
        journal: Arc::new(ShadowedJournal { journal: journal.clone(), shadow: shadow.clone() }),
        clock: clock.clone(),
        references: ReferenceSealer::new(&keys.reference).with_previous(&keys.previous_references),
        timeout: config.search.timeout(),
        shown_rankings: ShownRankings::new(config.search.shown_max_bytes),
        past_orders: Some(PastOrders { store: store.clone(), vault: keys.vault(), timer: Arc::new(RuntimeTimer) }),
        rollouts: Some(Rollouts { vault: keys.vault(), watch: trials.clone() }),
    };
    let memory = KeyedWrites { store: store.clone(), vault: keys.vault(), timer: Arc::new(RuntimeTimer) };
    let caller = Arc::new(Caller::beside(&searcher, store.clone(), memory));
    telemetry.watch(sizes(sandbox, &desk, &journal, &caller));
    let board = Arc::new(TaskBoard::default());
    let readiness =
        ReadinessWatch::new(store.clone(), journal.clone(), catalogue.clone(), board.clone(), clock.clone());
    let readiness = Arc::new(readiness);
    let accesses = Arc::new(Accesses::default());
    let state = AppState {
        streams: streams(config, &caller, &clock),
        caller,
        searcher: Arc::new(searcher),
        admin: catalogue.clone(),
        onboarding: onboarding.clone(),
        store: store.clone(),
        linking: linking.clone(),
        intake: Arc::new(Intake {
            keys: ring.clone(),
            contracts: contracts.clone(),
            desk: desk.clone(),
            tests: TestReports { store: store.clone(), standings: onboarding.live.clone() },
            journal: journal.clone(),
            in_flight: FairSlots::new(REPORTS_IN_FLIGHT_MAX),
            reports: ReportRate::new(config.quotas.reports_per_minute, fleet.clone()),
            unsigned: UnsignedReports::default(),
            clock: clock.clone(),
            rate: config.platform.rate(),
        }),
        bookkeeping: Arc::new(bookkeeping(&store, contracts.clone(), &clock)),
        anchors: anchors.clone(),
        health: health.of.clone(),
        evidence: store.clone(),
        revocations: catalogue.clone(),
        rollouts: catalogue.clone(),
        comparisons: Arc::new(Comparisons::new(
            contracts.clone(),
            catalogue.clone(),
            catalogue.clone(),
            store.clone(),
            Arc::new(WorkerThreads::beside_serving()),
            config.sandbox.deadline(),
        )),
        exports: Arc::new(Exports::new(
            contracts.clone(),
            store.clone(),
            Arc::new(WorkerThreads::beside_serving()),
            keys.vault(),
        )),
        faults: Arc::new(fault_desk(&store, &keys, &clock)),
        user_records: Arc::new(UserRecords {
            store: store.clone(),
            evidence: store.clone(),
            rankings: store.clone(),
            journal: journal.clone(),
            contracts: contracts.clone(),
            vault: keys.vault(),
            clock: clock.clone(),
        }),
        issuers: Arc::new(issuer_keys::issuers(config, &clock)?),
        token_rules: config.auth.token_rules(),
        second_person: config.auth.second_person,
        vault: keys.vault(),
        unassigned_users_of: config.auth.unassigned_users_of(),
        tokens: Arc::new(keys.tokens(&config.auth.audience, clock.clone())?),
        metrics: telemetry.exposition(),
        limits: config.server.limits(),
        rates: Arc::new(LiveRates::new(config.server.rates(&config.quotas))),
        readiness: readiness.clone(),
        leaving: drain.leaving.clone(),
        draining: drain.draining.clone(),
        accesses: accesses.clone(),
        fleet: fleet.clone(),
        leases: store.clone(),
        settings: Arc::new(ArcSwap::from_pointee(intent_gateway_config::settings(config)?)),
    };
    Ok(RunningParts {
        accesses,
        state,
        onboarding,
        clock,
        keys: ring,
        store,
        desk,
        journal,
        faults,
        health,
        linking,
        linking_tasks,
        anchors,
        readiness,
        board,
        counts,
        pace,
        peer_clocks,
        shadow,
    })
}

/// Keys that a configuration for production would set.
fn warn_of_development_keys(keys: &Keys) {
    for path in &keys.development {
        tracing::warn!(
            path = %path.display(),
            "DEVELOPMENT KEY: tokens or secrets are under a key kept in the state folder; set `auth.signing_key` and \
             `auth.master_key` in production"
        );
    }
}

/// What stands between a call and its partner.
fn policies(
    config: &Config,
    health: &HealthParts,
    linking: &Linking,
    clock: &Arc<dyn Clock>,
    pace: Option<Arc<Pace>>,
) -> Policies {
    Policies {
        timer: Arc::new(RuntimeTimer),
        health: health.of.clone(),
        log: health.journal.clone(),
        tokens: Arc::new(linking.clone()),
        sign_ins: SignIns::default(),
        pace,
        cache: config.outbound.search_cache.then(|| AnswerCache::new(clock.clone())),
    }
}

/// Statements, corrections and the check of the ledger.
fn bookkeeping(store: &Arc<SqlStore>, contracts: Arc<CataloguedContracts>, clock: &Arc<dyn Clock>) -> Bookkeeping {
    Bookkeeping {
        books: store.clone(),
        store: store.clone(),
        names: Arc::new(AccountNames(store.clone())),
        contracts,
        clock: clock.clone(),
    }
}

/// The faults of contracts, for the platform team.
fn fault_desk(store: &Arc<SqlStore>, keys: &Keys, clock: &Arc<dyn Clock>) -> FaultDesk {
    FaultDesk { faults: store.clone(), store: store.clone(), vault: keys.vault(), clock: clock.clone() }
}

/// What answers that come in pieces work on.
fn streams(config: &Config, caller: &Arc<Caller>, clock: &Arc<dyn Clock>) -> Streams {
    let timer = Arc::new(RuntimeTimer);
    Streams {
        following: Following::new(caller.clone(), clock.clone(), timer.clone()),
        timer,
        heartbeat: config.streams.heartbeat(),
        max_open: config.streams.max_open,
    }
}

/// What is looked at whenever somebody asks for the metrics.
fn sizes(sandbox: &Arc<Sandbox>, desk: &Arc<Desk>, journal: &Arc<Journal>, caller: &Arc<Caller>) -> Sizes {
    let (sandbox, desk, journal, caller) = (sandbox.clone(), desk.clone(), journal.clone(), caller.clone());
    Box::new(move || {
        telemetry::live_intents(sandbox.all().len());
        for (queue, length) in desk.waiting() {
            telemetry::queue_length(queue, length);
        }
        telemetry::queue_length("journal", journal.waiting());
        telemetry::queue_length("ends of calls", caller.unsettled.len());
        telemetry::journal_lost(journal.lost());
        let (receipts, findings) = journal.not_kept();
        telemetry::journal_not_kept(receipts, findings);
    })
}

/// The steps of a shutdown, as the parts of the process hear of them.
#[derive(Clone)]
struct Drain {
    /// Cancelled when it is announced.
    leaving: CancellationToken,
    /// Cancelled when it begins.
    draining: CancellationToken,
    /// Cancelled when requests are served: before that there is nobody to tell.
    serving: CancellationToken,
    /// Told of each SIGHUP; one that comes before anybody listens is kept.
    hangup: Arc<Notify>,
}

/// The signals that end the process, and the one that does not.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
    /// Listened for, so that a file that has reached the process's limit is a write that fails, and not the end of the process.
    _file_too_large: Signal,
}

impl Signals {
    /// Listens from here on; before, a signal ends the process at once.
    fn new() -> anyhow::Result<Self> {
        let listen = |kind| signal(kind).context("signals cannot be listened for");
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
            _file_too_large: listen(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?,
        })
    }

    /// The first signal announces the drain and, when whoever follows `/ready` has had time to go, begins it. The second ends the
    /// process.
    async fn watch(mut self, drain: Drain, announce: Duration) {
        self.next(&drain.hangup).await;
        drain.leaving.cancel();
        if drain.serving.is_cancelled() && !announce.is_zero() {
            let announce_ms = u64::try_from(announce.as_millis()).unwrap_or(u64::MAX);
            tracing::info!(
                announce_ms,
                "a shutdown is announced, and requests still taken; a second signal stops at once"
            );
            tokio::select! {
                () = tokio::time::sleep(announce) => {}
                () = self.next(&drain.hangup) => stop_at_once(),
            }
        }
        tracing::info!("draining; a second signal stops at once");
        drain.draining.cancel();
        self.next(&drain.hangup).await;
        stop_at_once()
    }

    /// The next signal that is to end the process; `hangup` is told of those that are not.
    async fn next(&mut self, hangup: &Notify) {
        loop {
            tokio::select! {
                _ = self.interrupt.recv() => return,
                _ = self.terminate.recv() => return,
                _ = self.hangup.recv() => hangup.notify_one(),
            }
        }
    }
}

fn stop_at_once() -> ! {
    tracing::warn!("stopped at once by a second signal");
    std::process::exit(EXIT_INTERRUPTED)
}
