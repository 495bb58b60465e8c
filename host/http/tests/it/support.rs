//! The surface over fakes of the domain's ports, and a client that holds every answer against the OpenAPI document.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use axum::Router;
use http::Method;
use http_body_util::BodyExt as _;
use intent_gateway_compare::{Comparisons, Exports};
use intent_gateway_domain::accesses::Accesses;
use intent_gateway_domain::anchor::NoAnchors;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::fair_slots::FairSlots;
use intent_gateway_domain::fleet::Fleet;
use intent_gateway_domain::money::Rate;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{Contracts, LeftOut, Selection};
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::sign_in::SignInServer;
use intent_gateway_http::auth::{Role, Scopes, TokenRules, Tokens};
use intent_gateway_http::streams::Streams;
use intent_gateway_http::{AppState, Limits, LiveRates, Quota, Quotas, Rates, Setting, SettingOrigin, router};
use intent_gateway_ledger::bookkeeping::Bookkeeping;
use intent_gateway_ledger::completion::REPORTS_IN_FLIGHT_MAX;
use intent_gateway_ledger::completion::intake::Intake;
use intent_gateway_ledger::completion::keyring::KeyRing;
use intent_gateway_ledger::completion::rate::ReportRate;
use intent_gateway_ledger::completion::test_reports::TestReports;
use intent_gateway_ledger::completion::unsigned::UnsignedReports;
use intent_gateway_linking::LinkingSetup;
use intent_gateway_onboarding::{AccountNames, LivePartners, Ports, Services, Settings};
use intent_gateway_outbound::Outbound;
use intent_gateway_outbound::health::Health;
use intent_gateway_routing::calling::{Caller, KeyedWrites};
use intent_gateway_routing::faults::FaultDesk;
use intent_gateway_routing::following::Following;
use intent_gateway_routing::golive::{GoLiveRunner, SAMPLE_TIMEOUT};
use intent_gateway_routing::reference::ReferenceSealer;
use intent_gateway_routing::search::{Searcher, ShownRankings};
use intent_gateway_routing::selection::Directory;
use intent_gateway_routing::user_data::UserRecords;
use intent_gateway_testing::books::MemoryBooks;
use intent_gateway_testing::catalogue::Catalogue;
use intent_gateway_testing::clock::TestClock;
use intent_gateway_testing::contract::ScriptedContract;
use intent_gateway_testing::desk::MemoryDesk;
use intent_gateway_testing::directory::GivenPartners;
use intent_gateway_testing::entropy::vault;
use intent_gateway_testing::faults::MemoryFaults;
use intent_gateway_testing::fleet::{MemoryLeases, steady};
use intent_gateway_testing::journal::MemoryJournal;
use intent_gateway_testing::linking::{ApprovedAlone, NoBackground};
use intent_gateway_testing::mail::Letterbox;
use intent_gateway_testing::partners::{Reply, ScriptedPartners};
use intent_gateway_testing::probe::{Pages, ProbedServer, shown_tool};
use intent_gateway_testing::readiness::GivenTroubles;
use intent_gateway_testing::store::MemoryStore;
use intent_gateway_testing::telemetry::FixedMetrics;
use intent_gateway_testing::webhook::ScriptedWebhook;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::admin::FakeAdmin;
use crate::comparison::{OnThisThread, ShowsNothing};
use crate::conform::differences;
use crate::contract::{Gate, contract, ordering};
use crate::linking::{Granting, linking};
use crate::rollouts::FakeRollouts;

pub(crate) use crate::ask::{Answer, Ask, refused};

pub(crate) const INTENT: &str = "test.find_things";
pub(crate) const NOW_MS: u64 = 1_800_000_000_000;
pub(crate) const KEY: &str = "0123456789abcdef0123456789abcdef";
pub(crate) const AUDIENCE: &str = "tests";

/// What `/metrics` shows.
pub(crate) const METRICS: &str = "# TYPE up gauge\nup 1\n";

/// Where everybody is closed, and more than an answer names.
pub(crate) const CROWDED_CITY: &str = "Crowded";

/// The option as its partner writes it: the order of keys and the white space must survive.
pub(crate) const OPTION_TEXT: &str = r#"{ "thing_id":"t1",  "name":"One", "big":12345678901234567890 }"#;

fn partner(id: &str) -> Partner {
    let mut partner = intent_gateway_testing::directory::partner(id, &[INTENT]);
    partner.sign_in = Some(SignInServer {
        issuer: crate::linking::SERVER.to_owned(),
        resource: None,
        origins: std::collections::BTreeSet::new(),
    });
    partner.token = Some(Secret::new("partner-token-never-shown"));
    partner.listings[0].availability = "24x7".to_owned();
    partner
}

/// Three partners, one of which serves another place.
fn near_and_far() -> Arc<GivenPartners> {
    let directory = GivenPartners::of([partner("broken"), partner("faraway"), partner("good")]);
    directory.select_with(|need, all| {
        if need.city.as_deref() == Some(CROWDED_CITY) {
            let left_out = all.iter().map(|partner| (partner.clone(), LeftOut::ClosedAtHour)).collect();
            return Selection { chosen: Vec::new(), left_out, left_out_more: 9 };
        }
        let (left_out, chosen) = all.iter().cloned().partition::<Vec<_>, _>(|partner| partner.id.as_str() == "faraway");
        let left_out = left_out.into_iter().map(|partner| (partner, LeftOut::OutsideServiceArea)).collect();
        Selection { chosen, left_out, left_out_more: 0 }
    });
    directory
}

/// What partners answer: one as it should, those that have signed up what the intent's requirements ask for, and nobody
/// else at all.
fn partners() -> Arc<ScriptedPartners> {
    let payload = |things: &str| {
        let token = r#""result_token":"tok","expires_at":"2099-01-01T00:00:00Z""#;
        Reply::Text(format!(r#"{{{token},"things":[{things}]}}"#))
    };
    let others = r#"{"thing_id":"t2","bad":true},{"thing_id":"t3","sponsored_rank":1}"#;
    let shelves = r#"{"thing_id":"a","name":"A","shelf":"top"},{"thing_id":"b","name":"B","shelf":"low"}"#;
    let signed_up = payload(shelves);
    let partners = ScriptedPartners::default();
    let good = payload(&format!("{OPTION_TEXT},{others}"));
    partners.reply_otherwise(move |call, _| match call.partner.as_str() {
        "good" if call.tool == "search_things" => good.clone(),
        "good" => Reply::Text(r#"{"booking_id":"BK-1"}"#.to_owned()),
        partner if partner.starts_with("ptr_") => signed_up.clone(),
        _ => CallFailure::Unreachable("connect to 10.0.0.7 refused".to_owned()).into(),
    });
    Arc::new(partners)
}

/// What onboarding keeps, sends and probes.
pub(crate) struct Kept {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) letters: Arc<Letterbox>,
    pub(crate) server: Arc<ProbedServer>,
    pub(crate) pages: Arc<Pages>,
}

/// The surface over fakes.
pub(crate) struct Gateway {
    pub(crate) router: Router,
    pub(crate) admin: Arc<FakeAdmin>,
    pub(crate) tokens: Arc<Tokens>,
    pub(crate) clock: Arc<TestClock>,
    /// What streams wait by, besides that of their heartbeat.
    pub(crate) stream_timer: Arc<TestClock>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) contracts: Arc<Catalogue>,
    /// What is wrong, as `/ready` shows it.
    pub(crate) troubles: Arc<GivenTroubles>,
    pub(crate) leaving: CancellationToken,
    pub(crate) draining: CancellationToken,
    /// What is noted for the audit log.
    pub(crate) accesses: Arc<Accesses>,
    pub(crate) onboarding: Services,
    pub(crate) kept: Kept,
    pub(crate) evidence: Arc<MemoryJournal>,
    pub(crate) faults: Arc<MemoryFaults>,
    pub(crate) health: Arc<Health>,
    pub(crate) books: Arc<MemoryBooks>,
    pub(crate) document: Value,
}

const NO_QUOTA: Quota = Quota { per_minute: None, per_day: None };
const NO_QUOTAS: Quotas = Quotas { orchestrator: NO_QUOTA, account: NO_QUOTA, token: NO_QUOTA };

pub(crate) const LIMITS: Limits = Limits {
    request_timeout: Duration::from_secs(30),
    body_timeout: Duration::from_secs(30),
    max_in_flight: 64,
    max_arriving: 64,
    trusted_proxies: 0,
};

pub(crate) const RATES: Rates = Rates { open_per_minute: NonZeroU32::new(1_000).expect("not zero"), quotas: NO_QUOTAS };

/// What callers may do, and how often.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    limits: Limits,
    rates: Rates,
}

impl From<Limits> for Bounds {
    fn from(limits: Limits) -> Self {
        Self { limits, rates: RATES }
    }
}

impl From<Rates> for Bounds {
    fn from(rates: Rates) -> Self {
        Self { limits: LIMITS, rates }
    }
}

impl Gateway {
    pub(crate) async fn new() -> Self {
        Self::with(LIMITS).await
    }

    pub(crate) async fn with(bounds: impl Into<Bounds>) -> Self {
        let gate = Arc::new(Gate::default());
        let contract = contract(&gate);
        Self::of(bounds.into(), gate, contract, TokenRules::default(), false).await
    }

    /// One whose contract has orders.
    pub(crate) async fn with_orders() -> Self {
        let gate = Arc::new(Gate::default());
        let contract = ordering(&gate);
        Self::of(LIMITS.into(), gate, contract, TokenRules::default(), false).await
    }

    /// One that asks more of tokens.
    pub(crate) async fn with_rules(rules: TokenRules) -> Self {
        let gate = Arc::new(Gate::default());
        let contract = contract(&gate);
        Self::of(LIMITS.into(), gate, contract, rules, false).await
    }

    /// One where what an admin cannot undo waits for a second person.
    pub(crate) async fn with_second_person() -> Self {
        let gate = Arc::new(Gate::default());
        let contract = contract(&gate);
        Self::of(LIMITS.into(), gate, contract, TokenRules::default(), true).await
    }

    async fn of(
        Bounds { limits, rates }: Bounds,
        gate: Arc<Gate>,
        contract: ScriptedContract,
        token_rules: TokenRules,
        second_person: bool,
    ) -> Self {
        let clock = TestClock::at(NOW_MS);
        // No route waits for a time here.
        let timer = TestClock::jumping_at(NOW_MS);
        // Streams of changes wait for it, until a test moves it.
        let stream_timer = TestClock::at(NOW_MS);
        let contracts = Catalogue::of([Arc::new(contract)]);
        let catalogue = contracts.clone();
        let admin = FakeAdmin::of(contracts.clone());
        let calls = partners();
        let tokens = Arc::new(Tokens::new(&[Secret::new(KEY)], AUDIENCE, clock.clone()).expect("a usable key"));
        let (leaving, draining) = (CancellationToken::new(), CancellationToken::new());
        let troubles = Arc::new(GivenTroubles::default());
        let accesses = Arc::new(Accesses::default());
        let kept = Kept {
            store: Arc::new(MemoryStore::default()),
            letters: Arc::new(Letterbox::default()),
            server: ProbedServer::showing([shown_tool("Finds things near a place.")]),
            pages: Arc::default(),
        };
        let vault = vault();
        let ring = Arc::new(KeyRing::new(kept.store.clone(), vault.clone(), steady(clock.clone()), []));
        let (books, evidence) = (Arc::new(MemoryBooks::default()), Arc::new(MemoryJournal::default()));
        let directory = Arc::new(Directory::new(Vec::new()));
        let onboarding = Ports {
            store: kept.store.clone(),
            vault: vault.clone(),
            clock: clock.clone(),
            contracts: contracts.clone(),
            probe: kept.server.clone(),
            golive: Arc::new(GoLiveRunner { calls: calls.clone(), clock: clock.clone(), timeout: SAMPLE_TIMEOUT }),
            pages: kept.pages.clone(),
            mailer: kept.letters.clone(),
            webhooks: Arc::new(ScriptedWebhook::default()),
            live: Arc::new(LivePartners::new(kept.store.clone(), Vec::new(), directory, clock.clone())),
            keys: ring.clone(),
            books: books.clone(),
            journal: evidence.clone(),
            settings: Settings {
                base_url: "https://gateway.example".to_owned(),
                reprobe_interval_ms: 86_400_000,
                rate: Rate::default(),
                team_email: None,
            },
        }
        .services();
        let health = Arc::new(Health::new(1));
        let intake = Intake {
            keys: ring.clone(),
            contracts: contracts.clone(),
            desk: MemoryDesk::closed(),
            tests: TestReports { store: kept.store.clone(), standings: onboarding.live.clone() },
            journal: evidence.clone(),
            in_flight: FairSlots::new(REPORTS_IN_FLIGHT_MAX),
            reports: ReportRate::default(),
            unsigned: UnsignedReports::default(),
            clock: clock.clone(),
            rate: Rate::default(),
        };
        let bookkeeping = Bookkeeping {
            books: books.clone(),
            store: kept.store.clone(),
            names: Arc::new(AccountNames(kept.store.clone())),
            contracts: contracts.clone(),
            clock: clock.clone(),
        };
        let linking = linking(|settings| LinkingSetup {
            store: kept.store.clone(),
            vault: vault.clone(),
            clock: clock.clone(),
            timer: timer.clone(),
            directory: GivenPartners::of([partner("broken"), partner("good")]),
            sign_in_servers: Arc::new(ApprovedAlone),
            authorizer: Arc::new(Granting),
            background: Arc::new(NoBackground),
            settings,
        });
        let contracts_of_all: Arc<dyn Contracts> = contracts.clone();
        let searcher = Searcher {
            contracts,
            directory: near_and_far(),
            outbound: Arc::new(Outbound::plain(calls, clock.clone())),
            journal: evidence.clone(),
            clock: clock.clone(),
            references: ReferenceSealer::new(&Secret::new("references")),
            timeout: Duration::from_secs(5),
            shown_rankings: ShownRankings::new(1024 * 1024),
            past_orders: None,
            rollouts: None,
        };
        let faults = Arc::new(MemoryFaults::default());
        let fault_desk =
            FaultDesk { faults: faults.clone(), store: kept.store.clone(), vault: vault.clone(), clock: clock.clone() };
        let user_records = UserRecords {
            store: kept.store.clone(),
            evidence: evidence.clone(),
            rankings: evidence.clone(),
            journal: evidence.clone(),
            contracts: searcher.contracts.clone(),
            vault: vault.clone(),
            clock: clock.clone(),
        };
        let memory = KeyedWrites { store: kept.store.clone(), vault: vault.clone(), timer: timer.clone() };
        let caller = Arc::new(Caller::beside(&searcher, evidence.clone(), memory));
        let streams = Streams {
            following: Following::new(caller.clone(), clock.clone(), timer),
            timer: stream_timer.clone(),
            heartbeat: Duration::from_secs(15),
            max_open: NonZeroU32::MIN,
        };
        let router = router(AppState {
            caller,
            streams,
            searcher: Arc::new(searcher),
            admin: admin.clone(),
            revocations: admin.clone(),
            rollouts: Arc::new(FakeRollouts),
            exports: Arc::new(Exports::new(
                contracts_of_all.clone(),
                evidence.clone(),
                Arc::new(OnThisThread),
                vault.clone(),
            )),
            comparisons: Arc::new(Comparisons::new(
                contracts_of_all,
                admin.clone(),
                Arc::new(ShowsNothing),
                evidence.clone(),
                Arc::new(OnThisThread),
                Duration::from_millis(200),
            )),
            tokens: tokens.clone(),
            onboarding: onboarding.clone(),
            store: kept.store.clone(),
            linking,
            intake: Arc::new(intake),
            bookkeeping: Arc::new(bookkeeping),
            anchors: Arc::new(NoAnchors),
            health: health.clone(),
            evidence: evidence.clone(),
            faults: Arc::new(fault_desk),
            user_records: Arc::new(user_records),
            issuers: Arc::default(),
            token_rules,
            second_person,
            vault: vault.clone(),
            unassigned_users_of: None,
            metrics: Arc::new(FixedMetrics(METRICS)),
            limits,
            rates: Arc::new(LiveRates::new(rates)),
            readiness: troubles.clone(),
            leaving: leaving.clone(),
            draining: draining.clone(),
            accesses: accesses.clone(),
            fleet: Fleet::default(),
            leases: MemoryLeases::new(clock.clone()),
            settings: Arc::new(ArcSwap::from_pointee(vec![Setting {
                section: "server".to_owned(),
                key: "listen".to_owned(),
                value: "127.0.0.1:8080".into(),
                secret: false,
                origin: SettingOrigin::default(),
            }])),
        });
        let mut gateway = Self {
            router,
            admin,
            tokens,
            clock,
            stream_timer,
            gate,
            contracts: catalogue,
            troubles,
            leaving,
            draining,
            accesses,
            onboarding,
            kept,
            evidence,
            faults,
            health,
            books,
            document: Value::Null,
        };
        gateway.document = gateway.call(Ask::get("/openapi.json")).await.json();
        gateway
    }

    pub(crate) fn token(&self, role: Role) -> String {
        self.token_of(role, "tester")
    }

    pub(crate) fn token_of(&self, role: Role, subject: &str) -> String {
        self.tokens.issue(role, subject, Duration::from_secs(60)).expect("issued")
    }

    /// The token of an admin with these scopes alone.
    pub(crate) fn scoped_token(&self, scopes: &Scopes) -> String {
        self.tokens.issue_scoped("tester", Duration::from_secs(60), scopes).expect("issued")
    }

    /// Sends a request and holds the answer against the document.
    pub(crate) async fn call(&self, ask: Ask) -> Answer {
        let (method, path) = (ask.method.clone(), ask.path.clone());
        let answer = self.send(ask).await;
        assert!(answer.headers.contains_key("x-request-id"), "{method} {path}");
        self.hold_against_document(&method, &path, &answer);
        answer
    }

    /// Sends a request that the document does not speak of.
    pub(crate) async fn send(&self, ask: Ask) -> Answer {
        let response = self.router.clone().oneshot(ask.request(self)).await.expect("never fails");
        let (parts, body) = response.into_parts();
        let body = body.collect().await.expect("a body").to_bytes();
        Answer { status: parts.status, headers: parts.headers, body }
    }

    fn hold_against_document(&self, method: &Method, path: &str, answer: &Answer) {
        if self.document.is_null() {
            return;
        }
        let error = &self.document["components"]["schemas"]["ErrorBody"];
        let documented = self.operation(method, path).map(|operation| {
            let status = answer.status.as_str();
            let responses = &operation["responses"];
            let found = responses.get(status).or_else(|| responses.get(format!("{}XX", &status[..1])));
            found.cloned().unwrap_or_else(|| panic!("{method} {path}: {status}"))
        });
        // What a user's browser opens is refused in pages; that they are documented is seen below.
        let is_page =
            answer.headers.get("content-type").is_some_and(|value| value.as_bytes().starts_with(b"text/html"));
        if !is_page && (answer.status.is_client_error() || answer.status.is_server_error()) {
            assert_eq!(differences(&self.document, error, &answer.json()), Vec::<String>::new());
        }
        let Some(mut response) = documented else { return };
        if let Some(reference) = response.get("$ref").and_then(Value::as_str) {
            response = self.document.pointer(&reference[1..]).expect("the response").clone();
        }
        let media_type = answer.headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
        let media_type = media_type.split(';').next().unwrap_or_default();
        if !matches!(media_type, "" | "application/json") {
            let content = response["content"].as_object().expect("content");
            assert!(content.contains_key(media_type), "{method} {path} is not documented to answer {media_type}");
        } else if let Some(schema) = response.pointer("/content/application~1json/schema") {
            let found = differences(&self.document, schema, &answer.json());
            assert_eq!(found, Vec::<String>::new(), "{method} {path}: {}", answer.json());
        } else {
            assert!(answer.body.is_empty(), "{method} {path} has a body that the document does not know");
        }
    }

    /// The document's operation for a path, where there is one.
    fn operation(&self, method: &Method, path: &str) -> Option<&Value> {
        let segments: Vec<_> = path.split('?').next().unwrap_or_default().split('/').collect();
        let paths = self.document["paths"].as_object().expect("paths");
        let fits = |template: &str| {
            let parts: Vec<_> = template.split('/').collect();
            parts.len() == segments.len()
                && parts.iter().zip(&segments).all(|(part, segment)| part == segment || part.starts_with('{'))
        };
        let exact = paths.iter().find(|(template, _)| *template == path);
        let (_, item) = exact.or_else(|| paths.iter().find(|(template, _)| fits(template)))?;
        item.get(method.as_str().to_lowercase())
    }
}
