//! The gateway's parts, put together by this program as the gateway puts them together, so that one of them can be
//! spoilt: a desk that answers before it has booked. The gateway itself has no such setting, and needs none.
//!
//! This program starts itself for it, so that the process can be killed.

use std::io::Write as _;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use intent_gateway_catalogue::{Catalogue, CatalogueSetup};
use intent_gateway_domain::anchor::NoAnchors;
use intent_gateway_domain::chain::ChainKeys;
use intent_gateway_domain::clock::SystemClock;
use intent_gateway_domain::fair_slots::FairSlots;
use intent_gateway_domain::fleet::Fleet;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::money::Rate;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::signing_keys::SigningKeys as _;
use intent_gateway_domain::vault::Vault;
use intent_gateway_http::auth::{TokenRules, Tokens};
use intent_gateway_http::server::{Server, ServerConfig, Shedding};
use intent_gateway_http::streams::Streams;
use intent_gateway_http::{AppState, Limits, LiveRates, Quotas, Rates, router};
use intent_gateway_ledger::bookkeeping::Bookkeeping;
use intent_gateway_ledger::completion::REPORTS_IN_FLIGHT_MAX;
use intent_gateway_ledger::completion::intake::Intake;
use intent_gateway_ledger::completion::keyring::KeyRing;
use intent_gateway_ledger::completion::rate::ReportRate;
use intent_gateway_ledger::completion::test_reports::TestReports;
use intent_gateway_ledger::completion::unsigned::UnsignedReports;
use intent_gateway_ledger::{Booked, Booking, DeskError, KnownOrder, OrderQuery, ReportDesk, genesis, link};
use intent_gateway_linking::{Linking, LinkingSetup};
use intent_gateway_mail::{MailConfig, mailer};
use intent_gateway_onboarding::{AccountNames, LivePartners, Ports, Settings};
use intent_gateway_outbound::Outbound;
use intent_gateway_outbound::health::Health;
use intent_gateway_partners::{PartnerClient, PartnerClientConfig};
use intent_gateway_routing::calling::{Caller, KeyedWrites};
use intent_gateway_routing::faults::FaultDesk;
use intent_gateway_routing::following::Following;
use intent_gateway_routing::golive::{GoLiveRunner, SAMPLE_TIMEOUT};
use intent_gateway_routing::reference::ReferenceSealer;
use intent_gateway_routing::search::{Searcher, ShownRankings};
use intent_gateway_routing::selection::Directory;
use intent_gateway_routing::user_data::UserRecords;
use intent_gateway_sandbox::{ContractFolder, Sandbox, SandboxConfig};
use intent_gateway_store::{Desk, Journal, Location, SqlStore};
use intent_gateway_testing::clock::TestClock;
use intent_gateway_testing::fleet::steady;
use intent_gateway_testing::linking::{ApprovedAlone, NoBackground};
use intent_gateway_testing::readiness::GivenTroubles;
use intent_gateway_testing::standings::GivenStandings;
use intent_gateway_testing::telemetry::FixedMetrics;
use tokio_util::sync::CancellationToken;

use super::crash::REPORTERS;
use super::{key_of, load::CONNECTIONS};
use crate::harness::vault_of;
use crate::onboarding::SIGNING_KEY;

/// Set for the process that serves: how, on which store, and in which folder.
const CHILD: &str = "INTENT_GATEWAY_TEST_PARTS";
/// What stands there for a desk that answers before it has booked, and for the real one.
const EARLY: &str = "early";
const SOUND: &str = "sound";
/// How often the signing keys are compared with the store.
const COMPARE_POLL: Duration = Duration::from_secs(2);

/// The command that serves on a store, in a folder with the contracts.
pub(super) fn command(is_early: bool, store: &str, folder: &Path) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.args(["--exact", "completion::serving::child", "--nocapture", "--test-threads", "1"]);
    let way = if is_early { EARLY } else { SOUND };
    command.env(CHILD, format!("{way} {store} {}", folder.display()));
    command
}

/// Not a test of itself: the process that serves.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child() {
    let Ok(told) = std::env::var(CHILD) else { return };
    let mut told = told.splitn(3, ' ');
    let mut next = || told.next().expect("a way, a store and a folder");
    let (way, store, folder) = (next(), next(), Path::new(next()));
    let location = Location::parse(store).expect("an address");
    let store = SqlStore::open(&location, Some(&vault_of(folder))).await.expect("it opens");
    store.begin_chains().await.expect("the chains begin");
    let store = Arc::new(store);
    let contracts = serving_contracts(&store, folder).await;
    let (state, ring) = state(way == EARLY, (store, vault_of(folder)), contracts, folder, Vec::new()).await;
    let server = bind(state).await;
    // On a line of its own: the test's name stands before it without an end.
    writeln!(std::io::stdout(), "\nlistening on http://{}", server.local_addr()).expect("the parent listens");
    let compare = async {
        let mut ticks = tokio::time::interval(COMPARE_POLL);
        loop {
            ticks.tick().await;
            ring.refresh().await.expect("the store is read");
        }
    };
    tokio::join!(server.run(), compare);
}

/// The server in front of the parts, on a port of its own.
pub(crate) async fn bind(state: AppState) -> Server {
    let listener = ServerConfig {
        listen: (Ipv4Addr::LOCALHOST, 0).into(),
        max_connections: 2 * CONNECTIONS,
        max_header_bytes: 16 * 1024,
        header_read_timeout: Duration::from_secs(10),
        idle_timeout: Duration::from_secs(60),
        drain_timeout: Duration::from_secs(5),
        shedding: Some(Shedding { trusted_proxies: 0 }),
    };
    Server::bind(listener, router(state), CancellationToken::new()).await.expect("a free port")
}

/// A sandbox with what lies in the contract folder.
pub(crate) async fn serving_contracts(store: &Arc<SqlStore>, folder: &Path) -> (Arc<Sandbox>, Arc<Catalogue>) {
    let sandbox = Sandbox::start(SandboxConfig::default(), folder.join("state"), CancellationToken::new());
    let sandbox = sandbox.expect("it starts");
    let catalogue = Catalogue::new(CatalogueSetup {
        store: store.clone(),
        leases: store.clone(),
        fleet: Fleet::default(),
        runtime: sandbox.clone(),
        clock: Arc::new(SystemClock),
        // Nobody waits: it is alone.
        timer: TestClock::at(0),
        trust: intent_gateway_signing::TrustPolicy::default(),
        trials: intent_gateway_rollout::Trials::new(),
        versions_kept: SandboxConfig::default().versions_kept_per_intent,
        max_stale_ms: u64::MAX,
    });
    catalogue.start().await.expect("the store answers");
    let looked_through = CancellationToken::new();
    let contracts = folder.join("contracts");
    let watched = ContractFolder::open(contracts, catalogue.clone(), sandbox.progress(), looked_through.clone());
    tokio::spawn(watched.expect("it can be watched").run(CancellationToken::new()));
    looked_through.cancelled().await;
    (sandbox, catalogue)
}

/// The parts, each behind its port.
pub(crate) async fn state(
    is_early: bool,
    (store, vault): (Arc<SqlStore>, Vault),
    (sandbox, catalogue): (Arc<Sandbox>, Arc<Catalogue>),
    folder: &Path,
    listed: Vec<Arc<Partner>>,
) -> (AppState, Arc<KeyRing>) {
    let clock = Arc::new(SystemClock);
    // Nothing here waits for a time.
    let timer = TestClock::jumping_at(0);
    let client = PartnerClientConfig { allow_loopback_http: true, ..PartnerClientConfig::default() };
    let partners = Arc::new(PartnerClient::new(&client).expect("it is set up"));
    let keys = REPORTERS.map(|id| (PartnerId::parse(id).expect("well formed"), Secret::new(key_of(id))));
    let directory = Arc::new(Directory::new(listed));
    let ring = Arc::new(KeyRing::new(store.clone(), vault.clone(), steady(clock.clone()), keys));
    let journal = Arc::new(Journal::open(store.clone(), vault.clone()));
    let onboarding = Ports {
        store: store.clone(),
        vault: vault.clone(),
        clock: clock.clone(),
        contracts: sandbox.clone(),
        probe: partners.clone(),
        golive: Arc::new(GoLiveRunner { calls: partners.clone(), clock: clock.clone(), timeout: SAMPLE_TIMEOUT }),
        pages: partners.clone(),
        mailer: mailer(&MailConfig::default(), &folder.join("state"), clock.clone()).expect("an outbox"),
        webhooks: partners.clone(),
        live: Arc::new(LivePartners::new(store.clone(), Vec::new(), directory.clone(), clock.clone())),
        keys: ring.clone(),
        books: store.clone(),
        journal: journal.clone(),
        settings: Settings {
            base_url: "https://gateway.example".to_owned(),
            reprobe_interval_ms: u64::MAX,
            rate: Rate::default(),
            team_email: None,
        },
    }
    .services();
    ring.refresh().await.expect("the store is read");
    let desk = Arc::new(Desk::open(store.clone()));
    let desk: Arc<dyn ReportDesk> = if is_early { Arc::new(EarlyDesk(desk)) } else { desk };
    let searcher = Searcher {
        contracts: sandbox.clone(),
        directory: directory.clone(),
        outbound: Arc::new(Outbound::plain(partners.clone(), clock.clone())),
        journal,
        clock: clock.clone(),
        references: ReferenceSealer::new(&Secret::new(SIGNING_KEY)),
        timeout: Duration::from_secs(5),
        shown_rankings: ShownRankings::new(1024 * 1024),
        past_orders: None,
        rollouts: None,
    };
    let intake = Intake {
        keys: ring.clone(),
        contracts: sandbox.clone(),
        desk,
        tests: TestReports { store: store.clone(), standings: Arc::new(GivenStandings::default()) },
        journal: searcher.journal.clone(),
        in_flight: FairSlots::new(REPORTS_IN_FLIGHT_MAX),
        reports: ReportRate::default(),
        unsigned: UnsignedReports::default(),
        clock: clock.clone(),
        rate: Rate::default(),
    };
    let bookkeeping = Bookkeeping {
        books: store.clone(),
        store: store.clone(),
        names: Arc::new(AccountNames(store.clone())),
        contracts: sandbox.clone(),
        clock: clock.clone(),
    };
    let memory = KeyedWrites { store: store.clone(), vault: vault.clone(), timer: timer.clone() };
    let faults = FaultDesk { faults: store.clone(), store: store.clone(), vault: vault.clone(), clock: clock.clone() };
    let user_records = UserRecords {
        store: store.clone(),
        evidence: store.clone(),
        rankings: store.clone(),
        journal: searcher.journal.clone(),
        contracts: sandbox.clone(),
        vault: vault.clone(),
        clock: clock.clone(),
    };
    let linking = Linking::new(LinkingSetup {
        store: store.clone(),
        vault: vault.clone(),
        clock: clock.clone(),
        timer: timer.clone(),
        directory: directory.clone(),
        sign_in_servers: Arc::new(ApprovedAlone),
        authorizer: partners,
        background: Arc::new(NoBackground),
        settings: intent_gateway_linking::Settings {
            base_url: "https://gateway.example".to_owned(),
            client_name: "Gateway".to_owned(),
            clients: Vec::new(),
        },
    });
    let caller = Arc::new(Caller::beside(&searcher, store.clone(), memory));
    let state = AppState {
        second_person: false,
        vault: vault.clone(),
        store: store.clone(),
        bookkeeping: Arc::new(bookkeeping),
        anchors: Arc::new(NoAnchors),
        streams: Streams {
            following: Following::new(caller.clone(), clock.clone(), timer.clone()),
            timer: timer.clone(),
            heartbeat: Duration::from_secs(15),
            max_open: std::num::NonZeroU32::MIN,
        },
        linking,
        caller,
        searcher: Arc::new(searcher),
        revocations: catalogue.clone(),
        rollouts: catalogue.clone(),
        exports: Arc::new(intent_gateway_compare::Exports::new(
            sandbox.clone(),
            store.clone(),
            Arc::new(intent_gateway_sandbox::WorkerThreads::beside_serving()),
            vault.clone(),
        )),
        comparisons: Arc::new(intent_gateway_compare::Comparisons::new(
            sandbox.clone(),
            catalogue.clone(),
            catalogue.clone(),
            store.clone(),
            Arc::new(intent_gateway_sandbox::WorkerThreads::beside_serving()),
            Duration::from_secs(1),
        )),
        admin: catalogue,
        onboarding,
        intake: Arc::new(intake),
        health: Arc::new(Health::new(0)),
        evidence: store.clone(),
        fleet: Fleet::default(),
        leases: store,
        settings: Arc::default(),
        faults: Arc::new(faults),
        user_records: Arc::new(user_records),
        issuers: Arc::default(),
        token_rules: TokenRules::default(),
        unassigned_users_of: None,
        metrics: Arc::new(FixedMetrics("")),
        tokens: Arc::new(Tokens::new(&[Secret::new(SIGNING_KEY)], "tests", clock).expect("a usable key")),
        limits: Limits {
            request_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(10),
            max_in_flight: 2 * CONNECTIONS,
            max_arriving: 2 * CONNECTIONS,
            trusted_proxies: 0,
        },
        rates: Arc::new(LiveRates::new(Rates {
            open_per_minute: std::num::NonZeroU32::MIN,
            quotas: Quotas::default(),
        })),
        readiness: Arc::new(GivenTroubles::default()),
        leaving: CancellationToken::new(),
        draining: CancellationToken::new(),
        accesses: Arc::default(),
    };
    (state, ring)
}

/// Answers before it has booked: the fault that the test looks for.
struct EarlyDesk(Arc<Desk>);

impl ReportDesk for EarlyDesk {
    fn look_up(&self, asked: OrderQuery) -> BoxFuture<'_, Result<KnownOrder, DeskError>> {
        self.0.look_up(asked)
    }

    fn book(&self, booking: Booking) -> BoxFuture<'_, Result<Booked, DeskError>> {
        let promised = link(booking.posting().clone(), 1, genesis(), &ChainKeys::default());
        let desk = Arc::clone(&self.0);
        tokio::spawn(async move { desk.book(booking).await });
        ready(Ok(Booked::First(promised))).boxed()
    }
}
