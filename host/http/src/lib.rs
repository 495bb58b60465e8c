//! The HTTP surface of the gateway: one file per audience, one shape of refusal, one server.
//!
//! hyper serves and axum's router is the service behind it. The domain is reached through its ports alone; no rule of
//! an intent, a contract or a partner is decided here. Not here, on purpose: TLS, which a proxy in front ends, and
//! any endpoint of MCP, which the platform does not offer.
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod acting;
mod admin;
mod admission;
mod audience;
pub mod auth;
mod body;
mod business;
mod change_budget;
mod client;
mod connections;
mod drain;
pub mod error;
mod findings;
pub mod inside;
mod linking;
mod metrics;
mod naming;
mod noted_bytes;
mod openapi;
mod ops;
mod orchestrator;
mod orders;
mod platform;
mod quota;
mod rates;
mod read_log;
mod reports;
pub mod request_id;
pub mod route_scopes;
mod second_person;
pub mod server;
pub mod statements;
pub mod streams;
pub mod tls;
mod tools;
mod traffic;
mod user_data;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use axum::middleware::from_fn_with_state;
use axum::{Extension, Router};
use bytes::Bytes;
use intent_gateway_compare::{Comparisons, Exports};
use intent_gateway_domain::accesses::Accesses;
use intent_gateway_domain::anchor::Anchors;
use intent_gateway_domain::fair_slots::FairSlots;
use intent_gateway_domain::fleet::{Fleet, Leases};
use intent_gateway_domain::ports::{ContractAdmin, Evidence};
use intent_gateway_domain::readiness::Readiness;
use intent_gateway_domain::store::Store;
use intent_gateway_domain::telemetry::Exposition;
use intent_gateway_domain::user::Orchestrator;
use intent_gateway_domain::vault::Vault;
use intent_gateway_ledger::bookkeeping::Bookkeeping;
use intent_gateway_ledger::completion::intake::Intake;
use intent_gateway_linking::Linking;
use intent_gateway_onboarding::Services;
use intent_gateway_outbound::health::Health;
use intent_gateway_rollout::RolloutDesk;
use intent_gateway_routing::calling::Caller;
use intent_gateway_routing::faults::FaultDesk;
use intent_gateway_routing::orders::Orders;
use intent_gateway_routing::search::Searcher;
use intent_gateway_routing::user_data::UserRecords;
use intent_gateway_signing::RevocationDesk;
use tokio::sync::{Mutex, Semaphore};
use tokio_util::sync::CancellationToken;
use utoipa_axum::router::OpenApiRouter;

use crate::audience::{Audience, Entry};
use crate::auth::issuers::Issuers;
use crate::auth::{Access, Role, TokenRules, Tokens};
use crate::change_budget::ChangeBudget;
pub use intent_gateway_api::settings::{SettingBody as Setting, SettingOrigin};

pub use crate::client::TRUSTED_PROXIES_MAX;
use crate::client::{ClientLimit, Clients, ProxyWatch};
use crate::error::{Code, Refusal};
use crate::inside::Inside;
pub use crate::metrics::scrape_router;
use crate::quota::QuotaKeeper;
pub use crate::quota::{Quota, Quotas};
pub use crate::rates::{LiveRates, Rates};
use crate::read_log::ReadLog;
use crate::second_person::{Replay, SecondPerson};
use crate::streams::Streams;

/// Target of the one log line that each request leaves.
pub(crate) const ACCESS_LOG: &str = "intent_gateway_http::access";
/// Wait for an admin's call as a whole: a component in an interpreted language takes its time to compile.
const ADMIN_TIMEOUT: Duration = Duration::from_secs(600);
/// Admins' requests that may be arriving at once: places of their own, which no traffic takes.
const ADMIN_ARRIVING_MAX: usize = 64;
/// Admins' requests under way at once.
const ADMIN_IN_FLIGHT_MAX: usize = 32;
/// Partners' requests under way at once.
const PARTNERS_IN_FLIGHT_MAX: usize = 128;
/// Requests without a token under way at once.
const OPEN_IN_FLIGHT_MAX: usize = 32;
/// Users' browsers under way at once; each may wait for a partner's authorization server.
const BROWSERS_IN_FLIGHT_MAX: usize = 256;

/// Bounds on requests.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// A request as a whole, from its head to the answer's head.
    pub request_timeout: Duration,
    /// Its body alone.
    pub body_timeout: Duration,
    /// Requests under way at once; more are refused as `OVERLOADED`. One caller gets four fifths of them at most.
    pub max_in_flight: usize,
    /// Requests that may be arriving at once, likewise, of one client four fifths at most.
    pub max_arriving: usize,
    /// Proxies in front whose `X-Forwarded-For` is believed; with none, the header is not read.
    pub trusted_proxies: usize,
}

/// What the routes work on.
pub struct AppState {
    /// Runs searches; its ports serve the other routes as well.
    pub searcher: Arc<Searcher>,
    /// Calls tools by reference.
    pub caller: Arc<Caller>,
    /// Contracts, for the platform team.
    pub admin: Arc<dyn ContractAdmin>,
    /// Partners on their way to live traffic.
    pub onboarding: Services,
    /// What is kept: the audit log is read from it.
    pub store: Arc<dyn Store>,
    /// The accounts that users link at partners.
    pub linking: Linking,
    /// Takes completion reports.
    pub intake: Arc<Intake>,
    /// The ledger, for people.
    pub bookkeeping: Arc<Bookkeeping>,
    /// What audit log and ledger are compared with.
    pub anchors: Arc<dyn Anchors>,
    /// How partners fare in service.
    pub health: Arc<Health>,
    /// What is kept of findings and rankings.
    pub evidence: Arc<dyn Evidence>,
    /// Versions of contracts against each other.
    pub comparisons: Arc<Comparisons>,
    pub exports: Arc<Exports>,
    /// What of contracts is revoked.
    pub revocations: Arc<dyn RevocationDesk>,
    /// Versions that reach everybody step by step.
    pub rollouts: Arc<dyn RolloutDesk>,
    /// What is kept of faults of contracts.
    pub faults: Arc<FaultDesk>,
    /// What is kept of one user.
    pub user_records: Arc<UserRecords>,
    /// The gateway's own bearer tokens.
    pub tokens: Arc<Tokens>,
    /// Whose tokens are accepted besides.
    pub issuers: Arc<Issuers>,
    /// What is asked of all tokens.
    pub token_rules: TokenRules,
    /// Whether what an admin cannot undo waits for a second person.
    pub second_person: bool,
    /// Seals what waits.
    pub vault: Vault,
    /// The orchestrator to whose users belongs what was kept under a pseudonym alone.
    pub unassigned_users_of: Option<Orchestrator>,
    /// What was counted.
    pub metrics: Arc<dyn Exposition>,
    /// Answers that come in pieces.
    pub streams: Streams,
    /// Bounds.
    pub limits: Limits,
    /// How often callers may ask, as of now.
    pub rates: Arc<LiveRates>,
    /// Knows what is not as it should be.
    pub readiness: Arc<dyn Readiness>,
    /// Cancelled when a shutdown is announced.
    pub leaving: CancellationToken,
    /// Cancelled when a shutdown begins.
    pub draining: CancellationToken,
    /// Takes what happens often, for the audit log.
    pub accesses: Arc<Accesses>,
    /// The gateways that share the store, as this one knows them.
    pub fleet: Fleet,
    /// The same as the store knows them.
    pub leases: Arc<dyn Leases>,
    /// The configuration in force, without secrets.
    pub settings: Arc<ArcSwap<Vec<Setting>>>,
}

/// The state as handlers see it.
pub(crate) struct App {
    pub(crate) searcher: Arc<Searcher>,
    pub(crate) caller: Arc<Caller>,
    /// What the caller has placed.
    pub(crate) orders: Orders,
    pub(crate) admin: Arc<dyn ContractAdmin>,
    pub(crate) onboarding: Services,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) linking: Linking,
    pub(crate) intake: Arc<Intake>,
    pub(crate) bookkeeping: Arc<Bookkeeping>,
    pub(crate) anchors: Arc<dyn Anchors>,
    pub(crate) health: Arc<Health>,
    pub(crate) evidence: Arc<dyn Evidence>,
    pub(crate) comparisons: Arc<Comparisons>,
    pub(crate) exports: Arc<Exports>,
    pub(crate) revocations: Arc<dyn RevocationDesk>,
    pub(crate) rollouts: Arc<dyn RolloutDesk>,
    pub(crate) faults: Arc<FaultDesk>,
    pub(crate) user_records: Arc<UserRecords>,
    pub(crate) tokens: Arc<Tokens>,
    pub(crate) second_person: Arc<SecondPerson>,
    pub(crate) unassigned_users_of: Option<Orchestrator>,
    pub(crate) metrics: metrics::Shown,
    pub(crate) streams: streams::Open,
    pub(crate) limits: Limits,
    pub(crate) readiness: Arc<dyn Readiness>,
    pub(crate) leaving: CancellationToken,
    pub(crate) draining: CancellationToken,
    /// Whether a proxy stands in front that nobody told of.
    pub(crate) proxies: Arc<ProxyWatch>,
    pub(crate) accesses: Arc<Accesses>,
    pub(crate) leases: Arc<dyn Leases>,
    pub(crate) settings: Arc<ArcSwap<Vec<Setting>>>,
    pub(crate) uploads: admin::Uploads,
    /// Taken by whoever uploads a document.
    pub(crate) documents: Semaphore,
    /// Taken while the ledger is verified.
    pub(crate) verification: Semaphore,
    /// Taken while a user is exported or erased.
    pub(crate) user_data: Semaphore,
    pub(crate) openapi: Bytes,
}

/// All routes, behind their layers.
///
/// Around every route stands the request's identifier, span and refusal body; around those of an audience, besides,
/// [`admit`]. A new handler cannot forget either.
pub fn router(state: AppState) -> Router {
    router_beside_pages(state, |_| Router::new()).0
}

/// The same, and pages that ask it as their visitors; `pages` makes their routes. Both may be served at one address, or each at its
/// own.
///
/// Around pages stands what is around every route; who may see which one they decide themselves, by what the API answers.
pub fn router_beside_pages(state: AppState, pages: impl FnOnce(Inside) -> Router) -> (Router, Router) {
    let sessions = state.onboarding.sessions.clone();
    let (heartbeat, draining) = (state.streams.heartbeat, state.draining.clone());
    let access = Access { tokens: state.tokens.clone(), issuers: state.issuers, sessions, rules: state.token_rules };
    let access = Arc::new(access);
    let Limits { request_timeout, max_in_flight, trusted_proxies, .. } = state.limits;
    let arriving = Arc::new(FairSlots::new(state.limits.max_arriving));
    let admins_arriving = Arc::new(FairSlots::new(ADMIN_ARRIVING_MAX));
    let bearer = |required: Role| Entry::Bearer { access: access.clone(), required };
    let known = Entry::Known { access: access.clone() };
    let clients = Clients { trusted_proxies, proxies: Arc::default() };
    let proxies = clients.proxies.clone();
    let reads = ReadLog::new(state.accesses.clone(), state.searcher.clock.clone());
    let fleet = state.fleet;
    let quotas = Arc::new(QuotaKeeper::new(state.rates.clone(), state.searcher.clock.clone(), &fleet));
    let changes = Arc::new(ChangeBudget::new(state.searcher.clock.clone(), fleet.clone()));
    let second_person = Arc::new(SecondPerson {
        store: state.store.clone(),
        vault: state.vault,
        clock: state.searcher.clock.clone(),
        contracts: state.admin.clone(),
        keeping: Mutex::default(),
    });
    let holding = state.second_person.then(|| second_person.clone());
    let anyone = || Entry::Anyone { limit: ClientLimit::new(state.rates.clone(), fleet.clone()) };
    let audience = |routes: OpenApiRouter<Arc<App>>, entry: Entry, deadline: Duration, max_in_flight: Option<usize>| {
        let no_store = match entry {
            Entry::Anyone { .. } | Entry::Signed | Entry::Bearer { required: Role::Partner, .. } => true,
            Entry::Known { .. } | Entry::Bearer { required: Role::Orchestrator | Role::Admin, .. } => false,
        };
        let awaited = entry.awaits(state.limits.body_timeout);
        let in_flight = max_in_flight.map(FairSlots::new);
        let arriving = match entry {
            Entry::Bearer { required: Role::Admin, .. } => admins_arriving.clone(),
            _ => arriving.clone(),
        };
        let (clients, reads) = (clients.clone(), reads.clone());
        let (quotas, changes, second_person) = (quotas.clone(), changes.clone(), holding.clone());
        let audience = Audience {
            entry,
            deadline,
            arriving,
            awaited,
            in_flight,
            no_store,
            clients,
            reads,
            quotas,
            changes,
            second_person,
        };
        routes.route_layer(from_fn_with_state(Arc::new(audience), audience::admit))
    };
    let browsers = audience(linking::browser_routes(), anyone(), request_timeout, Some(BROWSERS_IN_FLIGHT_MAX));
    let team = admin::routes()
        .merge(streams::team_routes())
        .merge(metrics::routes())
        .merge(platform::routes())
        .merge(traffic::team_routes())
        .merge(second_person::routes());
    let (routes, mut api) = OpenApiRouter::with_openapi(openapi::base())
        .merge(audience(orchestrator::catalogue_routes(), known, request_timeout, Some(max_in_flight)))
        .merge(audience(
            orchestrator::routes()
                .merge(tools::routes())
                .merge(orders::routes())
                .merge(streams::routes())
                .merge(linking::routes())
                .merge(user_data::routes()),
            bearer(Role::Orchestrator),
            request_timeout,
            Some(max_in_flight),
        ))
        .merge(audience(business::open_routes(), anyone(), request_timeout, Some(OPEN_IN_FLIGHT_MAX)))
        .merge(audience(
            business::routes().merge(traffic::business_routes()),
            bearer(Role::Partner),
            request_timeout,
            Some(PARTNERS_IN_FLIGHT_MAX),
        ))
        // The intake counts them by who has signed them.
        .merge(audience(reports::routes(), Entry::Signed, request_timeout, None))
        .merge(audience(team, bearer(Role::Admin), ADMIN_TIMEOUT, Some(ADMIN_IN_FLIGHT_MAX)))
        .merge(browsers.route_layer(axum::middleware::from_fn(linking::in_pages)))
        .merge(linking::document_routes())
        .merge(ops::routes())
        .split_for_parts();
    openapi::complete(&mut api);
    let app = Arc::new(App {
        searcher: state.searcher,
        orders: Orders::beside(&state.caller),
        caller: state.caller,
        admin: state.admin,
        onboarding: state.onboarding,
        store: state.store,
        linking: state.linking,
        intake: state.intake,
        bookkeeping: state.bookkeeping,
        anchors: state.anchors,
        health: state.health,
        evidence: state.evidence,
        comparisons: state.comparisons,
        exports: state.exports,
        revocations: state.revocations,
        rollouts: state.rollouts,
        faults: state.faults,
        user_records: state.user_records,
        tokens: state.tokens,
        second_person,
        unassigned_users_of: state.unassigned_users_of,
        metrics: metrics::Shown::new(state.metrics),
        streams: state.streams.into(),
        limits: state.limits,
        readiness: state.readiness,
        leaving: state.leaving,
        draining: state.draining,
        proxies,
        accesses: state.accesses,
        leases: state.leases,
        settings: state.settings,
        uploads: admin::Uploads::default(),
        documents: Semaphore::new(business::CONCURRENT_UPLOADS_MAX),
        verification: Semaphore::new(platform::VERIFICATIONS_MAX),
        user_data: Semaphore::new(user_data::AT_ONCE_MAX),
        openapi: serde_json::to_vec(&api).expect("the document is made of strings and numbers").into(),
    });
    let routes = routes
        .fallback(|| async { Refusal::new(Code::NotFound) })
        .method_not_allowed_fallback(|| async { Refusal::new(Code::MethodNotAllowed) })
        .with_state(app);
    // What was approved goes through the same routes, as a part of the request that approves it.
    let routes = routes.clone().layer(Extension(Replay(routes)));
    let in_requests = || axum::middleware::from_fn(request_id::layer);
    let routes = routes.layer(in_requests());
    let pages = pages(Inside::new(routes.clone(), access, clients, heartbeat, draining));
    (routes, pages.layer(in_requests()))
}
