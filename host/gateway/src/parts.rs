//! Puts the parts together that serve, each behind its port, and those that work beside them.

use std::sync::Arc;

use anyhow::Context as _;
use arc_swap::ArcSwap;
use intent_gateway_catalogue::{Catalogue, CataloguedContracts};
use intent_gateway_compare::{Comparisons, Exports, Shadow, ShadowedJournal};
use intent_gateway_config::{Config, Keys, PartnerEntry, anchor_keys};
use intent_gateway_domain::accesses::Accesses;
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::clock::peers::PeerClocks;
use intent_gateway_domain::fair_slots::FairSlots;
use intent_gateway_domain::fleet::Fleet;
use intent_gateway_domain::ports::Contracts as _;
use intent_gateway_domain::readiness::TaskBoard;
use intent_gateway_domain::telemetry;
use intent_gateway_http::streams::Streams;
use intent_gateway_http::{AppState, LiveRates};
use intent_gateway_ledger::bookkeeping::Bookkeeping;
use intent_gateway_ledger::completion::REPORTS_IN_FLIGHT_MAX;
use intent_gateway_ledger::completion::intake::Intake;
use intent_gateway_ledger::completion::keyring::KeyRing;
use intent_gateway_ledger::completion::rate::ReportRate;
use intent_gateway_ledger::completion::test_reports::TestReports;
use intent_gateway_ledger::completion::unsigned::UnsignedReports;
use intent_gateway_linking::Linking;
use intent_gateway_mail::mailer;
use intent_gateway_onboarding::{AccountNames, LivePartners, Ports, Services};
use intent_gateway_outbound::health::Health;
use intent_gateway_outbound::policy::cache::AnswerCache;
use intent_gateway_outbound::policy::pace::Pace;
use intent_gateway_outbound::policy::pace::sharing::Sharing;
use intent_gateway_outbound::policy::sign_in::SignIns;
use intent_gateway_outbound::{Outbound, Policies};
use intent_gateway_partners::PartnerClient;
use intent_gateway_rollout::Trials;
use intent_gateway_routing::calling::{Caller, KeyedWrites};
use intent_gateway_routing::faults::FaultDesk;
use intent_gateway_routing::following::Following;
use intent_gateway_routing::golive::{GoLiveRunner, SAMPLE_TIMEOUT};
use intent_gateway_routing::reference::ReferenceSealer;
use intent_gateway_routing::search::{PastOrders, Rollouts, Searcher, ShownRankings};
use intent_gateway_routing::selection::Directory;
use intent_gateway_routing::user_data::UserRecords;
use intent_gateway_sandbox::{Sandbox, WorkerThreads};
use intent_gateway_store::{CallCounts, Desk, FaultJournal, Journal, SqlStore};

use crate::chains::KeptAnchors;
use crate::fleet::BootClock;
use crate::health::{Changes, HealthJournal};
use crate::issuer_keys;
use crate::linking::{LinkingPorts, LinkingTasks, linking};
use crate::readiness::ReadinessWatch;
use crate::reload::read_configured_partners;
use crate::signals::Drain;
use crate::telemetry::{Sizes, Telemetry};
use crate::timer::RuntimeTimer;

/// The parts that serve, and those that work beside them.
pub(crate) struct RunningParts {
    pub(crate) state: AppState,
    pub(crate) onboarding: Services,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) keys: Arc<KeyRing>,
    pub(crate) store: Arc<SqlStore>,
    pub(crate) desk: Arc<Desk>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) faults: Arc<FaultJournal>,
    pub(crate) health: HealthParts,
    pub(crate) linking: Linking,
    pub(crate) linking_tasks: LinkingTasks,
    pub(crate) accesses: Arc<Accesses>,
    pub(crate) anchors: Arc<KeptAnchors>,
    pub(crate) readiness: Arc<ReadinessWatch>,
    pub(crate) board: Arc<TaskBoard>,
    pub(crate) counts: Arc<CallCounts>,
    pub(crate) pace: Option<Arc<Pace>>,
    pub(crate) peer_clocks: Arc<PeerClocks>,
    pub(crate) shadow: Arc<Shadow>,
}

/// Partners' health, and where changes in it go.
pub(crate) struct HealthParts {
    pub(crate) of: Arc<Health>,
    pub(crate) journal: Arc<HealthJournal>,
    pub(crate) changes: Changes,
}

/// What all parts stand on.
pub(crate) struct Base {
    pub(crate) keys: Keys,
    pub(crate) store: Arc<SqlStore>,
    pub(crate) clock: Arc<dyn Clock>,
}

/// The parts, each behind its port.
pub(crate) fn parts(
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
    let configured = read_configured_partners(config);
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
