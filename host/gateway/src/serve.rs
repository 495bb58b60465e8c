//! `intent-gateway serve`: puts the parts together, serves, and drains when told to stop.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use intent_gateway_catalogue::{Catalogue, CatalogueSetup};
use intent_gateway_cli::ServeOptions;
use intent_gateway_config::{Config, Keys, check_writable, start_on_store};
use intent_gateway_domain::clock::watch::WatchedClock;
use intent_gateway_domain::clock::{Clock as _, SystemClock};
use intent_gateway_domain::fleet::Fleet;
use intent_gateway_domain::signing_keys::SigningKeys as _;
use intent_gateway_domain::store::Store as _;
use intent_gateway_http::server::{BindError, Drained, IDLE_LINGER, ReservedAddress, Server, Shutdown};
use intent_gateway_http::tls::ListenerTls;
use intent_gateway_http::{AppState, router, router_beside_pages};
use intent_gateway_onboarding::StrikeWatch;
use intent_gateway_registry::{Source, SourceFollower};
use intent_gateway_rollout::Trials;
use intent_gateway_sandbox::{ContractFolder, Sandbox, put_left_contracts_aside, read_left_contracts};
use tokio_util::sync::CancellationToken;

use crate::background::{Background, ContractWork, Keep, SharedParts, Work};
use crate::chains::ChainGuard;
use crate::checks::StoreGuard;
use crate::clocks::Clocks;
use crate::console::{Invitation, Pages};
use crate::contracts::Sources;
use crate::disk::{DiskWatch, Thinner};
use crate::fleet::{BootClock, Entry, Membership, gateway_id, gateway_name};
use crate::parts::{Base, HealthParts, RunningParts, parts};
use crate::progress::CompileProgress;
use crate::readiness::TaskRounds;
use crate::reload::{Reload, Reloadable};
use crate::signals::{Drain, Signals};
use crate::telemetry::Telemetry;
use crate::timer::RuntimeTimer;
use crate::{certificate, console, open_files};

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
    let tls = certificate::open(&config)?;
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
        let (draining, looked_through) = (draining.clone(), looked_through.clone());
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
        tls: tls.clone(),
    };
    let shutdown = Shutdown { announced: leaving, begun: draining, idle_linger };
    let Servers { server, pages } = listen(state, pages, (address, pages_address), tls.as_ref(), shutdown)?;
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
            looked_through,
            sources,
            sources_poll: config.contracts.sources_poll(),
            shadow: running.shadow,
        },
        health: of,
        keys,
        tls,
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
    intent_gateway_cli::print(&format!("listening on {}", server.url()));
    if let Some(invitation) = invitation {
        invitation.tell(&pages.as_ref().unwrap_or(&server).url());
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
    tls: Option<&Arc<ListenerTls>>,
    shutdown: Shutdown,
) -> Result<Servers, BindError> {
    let open = |address: ReservedAddress, router, shutdown: Shutdown| {
        Ok(address.listen(router, shutdown)?.over_tls(tls.cloned()))
    };
    let Some(Pages { parts, .. }) = pages else {
        return Ok(Servers { server: open(address, router(state), shutdown)?, pages: None });
    };
    let (api, pages) = router_beside_pages(state, |inside| intent_gateway_console::router(parts, inside));
    match pages_address {
        None => Ok(Servers { server: open(address, api.merge(pages), shutdown)?, pages: None }),
        Some(pages_address) => Ok(Servers {
            server: open(address, api, shutdown.clone())?,
            pages: Some(open(pages_address, pages, shutdown)?),
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
