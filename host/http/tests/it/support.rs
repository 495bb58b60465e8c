//! Fakes of the domain's ports, and a client that holds every answer against the OpenAPI document.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use intent_gateway_domain::classify::CueIndex;
use intent_gateway_domain::clock::{Clock, Timestamp};
use intent_gateway_domain::contract::*;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::endpoint::{Endpoint, Mappings};
use intent_gateway_domain::error::{CallFailure, ContractError, ContractFault};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::money::Rate;
use intent_gateway_domain::partner::{Listing, Partner};
use intent_gateway_domain::ports::*;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::telemetry::Exposition;
use intent_gateway_domain::vault::Vault;
use intent_gateway_http::auth::{Role, Tokens};
use intent_gateway_http::streams::Streams;
use intent_gateway_http::{AppState, Limits, router};
use intent_gateway_ledger::bookkeeping::Bookkeeping;
use intent_gateway_ledger::completion::intake::Intake;
use intent_gateway_ledger::completion::keyring::KeyRing;
use intent_gateway_ledger::{Booked, Booking, DeskError, KnownOrder, OrderQuery, ReportDesk};
use intent_gateway_linking::LinkingSetup;
use intent_gateway_onboarding::{AccountNames, LivePartners, Ports, Services, Settings};
use intent_gateway_outbound::Outbound;
use intent_gateway_outbound::health::Health;
use intent_gateway_routing::calling::{Caller, KeyedWrites};
use intent_gateway_routing::following::Following;
use intent_gateway_routing::golive::{GoLiveRunner, SAMPLE_TIMEOUT};
use intent_gateway_routing::reference::ReferenceSealer;
use intent_gateway_routing::search::{OpenRankings, Searcher};
use intent_gateway_routing::selection::Directory;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::conform::differences;
use crate::evidence::MemoryEvidence;
use crate::keeping::{Counting, Kept, Letterbox, MemoryStore, Pages, Seen};
use crate::linking::{Granting, beside, linking};
use intent_gateway_testing::books::MemoryBooks;

pub(crate) const INTENT: &str = "test.find_things";
pub(crate) const NOW_MS: u64 = 1_800_000_000_000;
pub(crate) const KEY: &str = "0123456789abcdef0123456789abcdef";
pub(crate) const AUDIENCE: &str = "tests";

pub(crate) struct SetClock(pub(crate) AtomicU64);

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_ms(self.0.load(Ordering::Relaxed))
    }
}

pub(crate) fn raw(json: &Value) -> Box<RawValue> {
    RawValue::from_string(json.to_string()).expect("valid JSON")
}

fn violation(pointer: &str, code: &str) -> Violation {
    Violation { pointer: pointer.to_owned(), code: code.to_owned(), message: format!("{code} at {pointer}") }
}

/// A descriptor with something in every list, so that the whole of its shape is seen.
fn descriptor() -> Descriptor {
    let strings = |values: &[&str]| values.iter().map(ToString::to_string).collect::<Vec<_>>();
    Descriptor {
        intent: IntentId::parse(INTENT).expect("well formed"),
        version: "1.2.3".parse().expect("semver"),
        domain: "test".to_owned(),
        agent: "TestAgent".to_owned(),
        title: "Things".to_owned(),
        summary: "Finds things.".to_owned(),
        search: SearchShape {
            tool: "search_things".to_owned(),
            options_key: "things".to_owned(),
            id_key: "thing_id".to_owned(),
            max_options: 15,
            empty_code: Some("NO_THINGS".to_owned()),
            gone_code: None,
        },
        tools: vec![Tool {
            name: "search_things".to_owned(),
            role: ToolRole::Search,
            purpose: "Finds things.".to_owned(),
            latency: LatencyTargets { p50_ms: 600, p95_ms: 1_500, p99_ms: None },
            rate_per_minute: 60,
            idempotency_key: None,
            retry: RetryPolicy { on_rate_limited: 0, on_server_error: 1 },
            cache_seconds: Some(60),
            orders_tool: None,
            request_schema: raw(&json!({ "type": "object" })),
            response_schema: raw(&json!({ "type": "object" })),
        }],
        ranking: Ranking {
            weights: Axes { time: 0.25, taste: 0.25, budget: 0.25, safety: 0.25 },
            declared_share: 0.2,
            completeness_share: 0.1,
            signals: vec![Signal { axis: Axis::Time, name: "soon".to_owned(), weight: 1.0 }],
            bands: vec![Band { axis: Axis::Budget, value: "low".to_owned(), factor: 2.0 }],
        },
        vocabularies: vec![Vocabulary { name: "kind".to_owned(), values: strings(&["red", "blue"]) }],
        forbidden_fields: vec![ForbiddenField {
            name: "padded_price".to_owned(),
            breach: Breach::UnlessFalse,
            reason: "Prices are not padded.".to_owned(),
        }],
        rules: Vec::new(),
        errors: vec![
            PlatformError {
                code: "TOO_FAR".to_owned(),
                http_status: 409,
                meaning: "Nothing is that near.".to_owned(),
                retry: Some(ErrorRetry { times: 1, wait_ms: 2_000, backoff: Backoff::Fixed }),
            },
            PlatformError {
                code: "JUST_ADVICE".to_owned(),
                http_status: 200,
                meaning: "No failure.".to_owned(),
                retry: None,
            },
        ],
        widget: Widget {
            widget_type: "generic_listings".to_owned(),
            preferred: Some("thing_cards".to_owned()),
            slots: vec![CardSlot { name: "title".to_owned(), source: "name".to_owned() }],
        },
        completion: Completion {
            statuses: strings(&["completed"]),
            charged_statuses: strings(&["completed"]),
            schema: raw(&json!({})),
        },
        data_lifetimes: vec![DataLifetime { data: "certificates".to_owned(), seconds: 3_600 }],
        go_live: vec![Requirement {
            code: "TWO_SHELVES".to_owned(),
            text: "There are at least two shelves.".to_owned(),
            check: RequirementCheck::AtLeast(Depth {
                minimums: vec![Minimum { counted: "shelves".to_owned(), pointer: "/shelf".to_owned(), count: 2 }],
                within: None,
            }),
        }],
        cues: strings(&["thing"]),
        pairs: strings(&["test.find_boxes"]),
        elsewhere: strings(&["test.repair_things"]),
    }
}

/// A contract that does what the request's `mode` says.
pub(crate) struct FakeContract {
    descriptor: Descriptor,
    gate: Arc<Gate>,
}

/// Holds requests of the mode `wait` until it is opened, and tells when one has arrived.
#[derive(Default)]
pub(crate) struct Gate {
    pub(crate) arrived: Notify,
    pub(crate) open: Notify,
}

impl Contract for FakeContract {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn digest(&self) -> Digest {
        Digest::of(b"the live component")
    }

    fn classify<'a>(
        &'a self,
        utterance: &'a str,
        locale: &'a str,
    ) -> BoxFuture<'a, Result<Classification, ContractFault>> {
        let elsewhere = PointerElsewhere {
            intent: "test.repair_things".to_owned(),
            score: 0.3,
            reason: format!("spoken in {locale}"),
        };
        let evidence = vec![utterance.to_owned()];
        let opinion = Classification { score: 0.9, evidence, elsewhere: vec![elsewhere], also: Vec::new() };
        std::future::ready(Ok(opinion)).boxed()
    }

    fn check_request<'a>(
        &'a self,
        context: &'a CallContext,
        _tool: &'a str,
        arguments: &'a str,
    ) -> BoxFuture<'a, Result<PreparedRequest, ContractError>> {
        async move {
            let mut request: Value = serde_json::from_str(arguments).expect("the surface lets only JSON pass");
            let refused = |code: &str| {
                let violations = vec![violation("/a", "REQUIRED"), violation("/b/0", "OUT_OF_RANGE")];
                Err(ContractError::Refused(Refusal { code: code.to_owned(), violations }))
            };
            match request["mode"].as_str().unwrap_or_default() {
                "invalid" => return refused("INVALID_REQUEST"),
                "too_far" => return refused("TOO_FAR"),
                "just_advice" => return refused("JUST_ADVICE"),
                "trap" => return Err(ContractFault::Trap("secret detail".to_owned()).into()),
                "busy" => return Err(ContractFault::Busy(50).into()),
                "panic" => panic!("a handler of the tests panics on purpose"),
                mode @ ("wait" | "wait_too_far") => {
                    self.gate.arrived.notify_one();
                    self.gate.open.notified().await;
                    if mode == "wait_too_far" {
                        return refused("TOO_FAR");
                    }
                }
                "forever" => {
                    self.gate.arrived.notify_one();
                    std::future::pending::<()>().await;
                }
                _ => {}
            }
            if request.get("request_id").is_none() {
                request["request_id"] = context.request_id.clone().into();
            }
            Ok(PreparedRequest {
                arguments: raw(&request),
                need: Need { city: request["city"].as_str().map(str::to_owned), ..Need::default() },
                notes: vec![violation("/band", "UNKNOWN_BAND")],
            })
        }
        .boxed()
    }

    fn evaluate<'a>(
        &'a self,
        _context: &'a CallContext,
        _request: &'a str,
        payloads: &'a [Payload<'a>],
    ) -> BoxFuture<'a, Result<Evaluation, ContractError>> {
        async move {
            let mut evaluation = Evaluation::default();
            for candidate in payloads.iter().flat_map(|payload| &payload.candidates) {
                let option: Value = serde_json::from_str(candidate.json).expect("an option");
                let id = option["thing_id"].as_str().unwrap_or_default().to_owned();
                if option["bad"] == true {
                    evaluation.dropped.push(DroppedOption {
                        number: candidate.number,
                        id: Some(id),
                        strike: false,
                        violations: vec![violation("/bad", "BAD")],
                    });
                    continue;
                }
                evaluation.ranked.push(RankedOption {
                    number: candidate.number,
                    id,
                    total: 0.75,
                    axes: Axes { time: 0.1, taste: 0.2, budget: 0.3, safety: 0.4 },
                    completeness: 1.0,
                    card: raw(&json!({ "title": option["name"] })),
                });
            }
            Ok(evaluation)
        }
        .boxed()
    }

    fn check_response<'a>(
        &'a self,
        _context: &'a CallContext,
        _exchange: Exchange<'a>,
    ) -> BoxFuture<'a, Result<CheckedResponse, ContractError>> {
        unreachable!("no route calls it")
    }

    fn check_completion<'a>(
        &'a self,
        _context: &'a CallContext,
        _report: &'a str,
        _quoted: Option<&'a str>,
    ) -> BoxFuture<'a, Result<CheckedCompletion, ContractError>> {
        unreachable!("no route calls it")
    }
}

/// The catalogue: one intent, or none.
pub(crate) struct FakeContracts(Mutex<Vec<Arc<dyn Contract>>>);

impl Contracts for FakeContracts {
    fn live(&self, intent: &str) -> Option<Arc<dyn Contract>> {
        let contracts = self.0.lock().expect("no test panics in it");
        contracts.iter().find(|contract| contract.descriptor().intent.as_str() == intent).cloned()
    }

    fn find_loaded(&self, digest: Digest) -> Option<Arc<dyn Contract>> {
        self.all().into_iter().find(|contract| contract.digest() == digest)
    }

    fn all(&self) -> Vec<Arc<dyn Contract>> {
        self.0.lock().expect("no test panics in it").clone()
    }

    fn select_by_cues(&self, utterance: &str) -> Vec<Arc<dyn Contract>> {
        let contracts = self.all();
        let index = CueIndex::build(contracts.iter().map(|contract| contract.descriptor().cues.as_slice()));
        index.select_by_cues(utterance).into_iter().map(|number| Arc::clone(&contracts[number])).collect()
    }
}

/// Takes any component but one of the text `bad`, and remembers what it was asked.
pub(crate) struct FakeAdmin {
    contracts: Arc<FakeContracts>,
    pub(crate) loads: Mutex<Vec<(usize, Origin, bool)>>,
}

fn version_of(digest: Digest, live: bool, origin: Origin) -> LoadedVersion {
    LoadedVersion {
        intent: INTENT.to_owned(),
        version: "1.2.3".to_owned(),
        digest,
        live,
        origin,
        loaded_at_ms: NOW_MS,
        component_bytes: 3,
        calls: 7,
        faults: 0,
    }
}

fn failure() -> LoadFailure {
    LoadFailure {
        at_ms: NOW_MS,
        origin: Origin::Kept,
        digest: None,
        intent: None,
        version: None,
        code: "ABI_MISMATCH".to_owned(),
        message: "it exports nothing of the interface".to_owned(),
    }
}

impl ContractAdmin for FakeAdmin {
    fn versions(&self) -> Vec<LoadedVersion> {
        let folder = Origin::Folder("things.wasm".to_owned());
        vec![
            version_of(Digest::of(b"the live component"), true, folder),
            version_of(Digest::of(b"known"), false, Origin::Kept),
        ]
    }

    fn load(
        &self,
        component: Bytes,
        origin: Origin,
        activate: bool,
    ) -> BoxFuture<'_, Result<LoadedVersion, ContractAdminError>> {
        self.loads.lock().expect("no test panics in it").push((component.len(), origin.clone(), activate));
        let result = match &component[..] {
            b"bad" => Err(ContractAdminError::Rejected(Box::new(failure()))),
            b"full" => Err(ContractAdminError::Storage("/secret/path: no space left".to_owned())),
            bytes => Ok(version_of(Digest::of(bytes), activate, origin)),
        };
        std::future::ready(result).boxed()
    }

    fn activate(&self, digest: Digest) -> BoxFuture<'_, Result<LoadedVersion, ContractAdminError>> {
        let known = self.versions().into_iter().find(|version| version.digest == digest);
        let result = known.ok_or_else(|| ContractAdminError::Unknown(digest.to_string()));
        std::future::ready(result.map(|version| LoadedVersion { live: true, ..version })).boxed()
    }

    fn unload<'a>(&'a self, _intent: &'a str) -> BoxFuture<'a, Result<(), ContractAdminError>> {
        self.contracts.0.lock().expect("no test panics in it").clear();
        std::future::ready(Ok(())).boxed()
    }

    fn failures(&self) -> Vec<LoadFailure> {
        vec![failure()]
    }
}

/// Where everybody is closed, and more than an answer names.
pub(crate) const CROWDED_CITY: &str = "Crowded";

struct FakeDirectory(Vec<Arc<Partner>>);

impl PartnerDirectory for FakeDirectory {
    fn select(&self, _intent: &str, need: &Need, _now: Timestamp) -> Selection {
        if need.city.as_deref() == Some(CROWDED_CITY) {
            let left_out = self.0.iter().map(|partner| (partner.clone(), LeftOut::ClosedAtHour)).collect();
            return Selection { chosen: Vec::new(), left_out, left_out_more: 9 };
        }
        let (left_out, chosen) =
            self.0.iter().cloned().partition::<Vec<_>, _>(|partner| partner.id.as_str() == "faraway");
        let left_out = left_out.into_iter().map(|partner| (partner, LeftOut::OutsideServiceArea)).collect();
        Selection { chosen, left_out, left_out_more: 0 }
    }

    fn all(&self) -> Vec<Arc<Partner>> {
        self.0.clone()
    }
}

/// What [`FixedMetrics`] shows.
pub(crate) const METRICS: &str = "# TYPE up gauge\nup 1\n";

/// Metrics that never change.
struct FixedMetrics;

impl Exposition for FixedMetrics {
    fn render(&self) -> String {
        METRICS.to_owned()
    }
}

struct FakeCalls;

/// The option as its partner writes it: the order of keys and the white space must survive.
pub(crate) const OPTION_TEXT: &str = r#"{ "thing_id":"t1",  "name":"One", "big":12345678901234567890 }"#;

/// No route waits for a time here.
struct NoTimer;

impl Timer for NoTimer {
    fn wait(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

impl PartnerCalls for FakeCalls {
    fn call<'a>(
        &'a self,
        partner: &'a Arc<Partner>,
        _call: ToolCall<'a>,
    ) -> BoxFuture<'a, Result<ToolAnswer, CallFailure>> {
        let result = match partner.id.as_str() {
            // A business that has signed up offers what the intent's requirements ask for.
            id if id.starts_with("ptr_") => {
                let things = r#"[{"thing_id":"a","name":"A","shelf":"top"},{"thing_id":"b","name":"B","shelf":"low"}]"#;
                let token = r#""result_token":"tok","expires_at":"2099-01-01T00:00:00Z""#;
                Ok(ToolAnswer { text: format!(r#"{{{token},"things":{things}}}"#) })
            }
            "good" => {
                let others = r#"{"thing_id":"t2","bad":true},{"thing_id":"t3","sponsored_rank":1}"#;
                let token = r#""result_token":"tok","expires_at":"2099-01-01T00:00:00Z""#;
                Ok(ToolAnswer { text: format!(r#"{{{token},"things":[{OPTION_TEXT},{others}]}}"#) })
            }
            _ => Err(CallFailure::Unreachable("connect to 10.0.0.7 refused".to_owned())),
        };
        std::future::ready(result).boxed()
    }
}

/// Where no report arrives.
struct ClosedDesk;

impl ReportDesk for ClosedDesk {
    fn look_up(&self, _asked: OrderQuery) -> BoxFuture<'_, Result<KnownOrder, DeskError>> {
        std::future::ready(Err(DeskError::Closed)).boxed()
    }

    fn book(&self, _booking: Booking) -> BoxFuture<'_, Result<Booked, DeskError>> {
        std::future::ready(Err(DeskError::Closed)).boxed()
    }
}

fn partner(id: &str) -> Arc<Partner> {
    Arc::new(Partner {
        id: PartnerId::parse(id).expect("well formed"),
        name: format!("Partner {id}"),
        endpoint: Endpoint::mcp(format!("https://{id}.example/mcp")),
        mappings: Mappings::new(),
        listings: vec![Listing {
            intent: IntentId::parse(INTENT).expect("well formed"),
            service_area: vec!["IN_ALL".to_owned()],
            availability: "24x7".to_owned(),
            declared: Axes::UNDECLARED,
        }],
        token: Some(Secret::new("partner-token-never-shown")),
    })
}

/// The surface over fakes.
pub(crate) struct Gateway {
    pub(crate) router: Router,
    pub(crate) admin: Arc<FakeAdmin>,
    pub(crate) tokens: Arc<Tokens>,
    pub(crate) clock: Arc<SetClock>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) draining: CancellationToken,
    pub(crate) onboarding: Services,
    pub(crate) kept: Kept,
    pub(crate) evidence: Arc<MemoryEvidence>,
    pub(crate) health: Arc<Health>,
    pub(crate) books: Arc<MemoryBooks>,
    pub(crate) document: Value,
}

pub(crate) const LIMITS: Limits = Limits {
    request_timeout: Duration::from_secs(30),
    body_timeout: Duration::from_secs(30),
    max_in_flight: 64,
    open_per_minute: NonZeroU32::new(1_000).expect("not zero"),
    trusted_proxies: 0,
};

impl Gateway {
    pub(crate) async fn new() -> Self {
        Self::with(LIMITS).await
    }

    pub(crate) async fn with(limits: Limits) -> Self {
        let clock = Arc::new(SetClock(AtomicU64::new(NOW_MS)));
        let gate = Arc::new(Gate::default());
        let contract: Arc<dyn Contract> = Arc::new(FakeContract { descriptor: descriptor(), gate: gate.clone() });
        let contracts = Arc::new(FakeContracts(Mutex::new(vec![contract])));
        let admin = Arc::new(FakeAdmin { contracts: contracts.clone(), loads: Mutex::default() });
        let tokens = Arc::new(Tokens::new(&[Secret::new(KEY)], AUDIENCE, clock.clone()).expect("a usable key"));
        let draining = CancellationToken::new();
        let kept = Kept {
            store: Arc::new(MemoryStore::default()),
            letters: Arc::new(Letterbox::default()),
            seen: Arc::new(Seen::default()),
        };
        let vault = Vault::new(&Secret::new("m".repeat(32)), &[], Arc::new(Counting::default()));
        let ring = Arc::new(KeyRing::new(kept.store.clone(), vault.clone(), []));
        let books = Arc::new(MemoryBooks::default());
        let directory = Arc::new(Directory::new(Vec::new()));
        let onboarding = Ports {
            store: kept.store.clone(),
            vault: vault.clone(),
            clock: clock.clone(),
            contracts: contracts.clone(),
            probe: kept.seen.clone(),
            golive: Arc::new(GoLiveRunner {
                calls: Arc::new(FakeCalls),
                clock: clock.clone(),
                timeout: SAMPLE_TIMEOUT,
            }),
            pages: Arc::new(Pages),
            mailer: kept.letters.clone(),
            live: Arc::new(LivePartners::new(kept.store.clone(), Vec::new(), directory)),
            keys: ring.clone(),
            books: books.clone(),
            settings: Settings { base_url: "https://gateway.example".to_owned(), reprobe_interval_ms: 86_400_000 },
        }
        .services();
        let evidence = Arc::new(MemoryEvidence::default());
        let health = Arc::new(Health::new(1));
        let intake = Intake {
            keys: ring.clone(),
            contracts: contracts.clone(),
            desk: Arc::new(ClosedDesk),
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
            timer: beside(),
            directory: Arc::new(FakeDirectory(vec![partner("broken"), partner("good")])),
            authorizer: Arc::new(Granting),
            background: beside(),
            settings,
        });
        let searcher = Searcher {
            contracts,
            directory: Arc::new(FakeDirectory(vec![partner("broken"), partner("faraway"), partner("good")])),
            outbound: Arc::new(Outbound::plain(Arc::new(FakeCalls), clock.clone())),
            journal: evidence.clone(),
            clock: clock.clone(),
            references: ReferenceSealer::new(&Secret::new("references")),
            timeout: Duration::from_secs(5),
            open_rankings: OpenRankings::default(),
        };
        let memory = KeyedWrites { store: kept.store.clone(), vault, timer: Arc::new(NoTimer) };
        let caller = Arc::new(Caller::beside(&searcher, evidence.clone(), memory));
        let streams = Streams {
            following: Following::new(caller.clone(), clock.clone(), Arc::new(NoTimer)),
            timer: Arc::new(NoTimer),
            heartbeat: Duration::from_secs(15),
            max_open: NonZeroU32::MIN,
        };
        let router = router(AppState {
            caller,
            streams,
            searcher: Arc::new(searcher),
            admin: admin.clone(),
            tokens: tokens.clone(),
            onboarding: onboarding.clone(),
            store: kept.store.clone(),
            linking,
            intake: Arc::new(intake),
            bookkeeping: Arc::new(bookkeeping),
            health: health.clone(),
            evidence: evidence.clone(),
            issuers: Arc::default(),
            metrics: Arc::new(FixedMetrics),
            limits,
            draining: draining.clone(),
        });
        let mut gateway = Self {
            router,
            admin,
            tokens,
            clock,
            gate,
            draining,
            onboarding,
            kept,
            evidence,
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

    /// Sends a request and holds the answer against the document.
    pub(crate) async fn call(&self, ask: Ask) -> Answer {
        let (method, path) = (ask.method.clone(), ask.path.clone());
        let response = self.router.clone().oneshot(ask.request(self)).await.expect("never fails");
        let (parts, body) = response.into_parts();
        let body = body.collect().await.expect("a body").to_bytes();
        let answer = Answer { status: parts.status, headers: parts.headers, body };
        assert!(answer.headers.contains_key("x-request-id"), "{method} {path}");
        self.hold_against_document(&method, &path, &answer);
        answer
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

/// A request to be.
#[derive(Clone)]
pub(crate) struct Ask {
    pub(crate) method: Method,
    pub(crate) path: String,
    role: Option<Role>,
    headers: HeaderMap,
    body: Bytes,
}

impl Ask {
    pub(crate) fn new(method: Method, path: &str) -> Self {
        Self { method, path: path.to_owned(), role: None, headers: HeaderMap::new(), body: Bytes::new() }
    }

    pub(crate) fn get(path: &str) -> Self {
        Self::new(Method::GET, path)
    }

    /// A POST of JSON text.
    pub(crate) fn json(path: &str, body: impl Into<String>) -> Self {
        Self::new(Method::POST, path).header("content-type", "application/json").body(body.into().into_bytes())
    }

    /// A POST of a component.
    pub(crate) fn wasm(path: &str, body: &'static [u8]) -> Self {
        Self::new(Method::POST, path).header("content-type", "application/wasm").body(body)
    }

    pub(crate) fn role(mut self, role: Role) -> Self {
        self.role = Some(role);
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.append(name, value.parse().expect("a header value"));
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    fn request(self, gateway: &Gateway) -> Request<Body> {
        let mut request = Request::new(Body::from(self.body));
        *request.method_mut() = self.method;
        *request.uri_mut() = self.path.parse().expect("a path");
        *request.headers_mut() = self.headers;
        if let Some(role) = self.role {
            let value = format!("Bearer {}", gateway.token(role));
            request.headers_mut().insert("authorization", value.parse().expect("a header value"));
        }
        request
    }
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {:?}", self.body))
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("UTF-8")
    }

    /// Status and code of a refusal.
    pub(crate) fn refusal(&self) -> (u16, String) {
        let json = self.json();
        let code = json["error"]["code"].as_str().unwrap_or_else(|| panic!("no refusal: {json}"));
        (self.status.as_u16(), code.to_owned())
    }
}

/// A refusal as [`Answer::refusal`] gives it.
pub(crate) fn refused(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}
