//! The HTTP surface of the gateway: one file per audience, one shape of refusal, one server.
//!
//! hyper serves and axum's router is the service behind it. The domain is reached through its ports alone; no rule of
//! an intent, a contract or a partner is decided here. Not here, on purpose: TLS, which a proxy in front ends, and
//! any endpoint of MCP, which the platform does not offer.
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod admin;
pub mod auth;
mod body;
pub mod error;
mod openapi;
mod ops;
mod orchestrator;
pub mod request_id;
pub mod schema;
pub mod server;
pub mod wire;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use intent_gateway_core::ports::ContractAdmin;
use intent_gateway_core::search::Searcher;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use utoipa_axum::router::OpenApiRouter;

use crate::auth::{Guard, Role, Tokens};
use crate::error::{Code, Refusal};

/// Target of the one log line that each request leaves.
pub const ACCESS_LOG: &str = "intent_gateway_http::access";
/// Wait for an admin's call as a whole: a component in an interpreted language takes its time to compile.
const ADMIN_TIMEOUT: Duration = Duration::from_secs(600);
/// Admins' requests under way at once.
const ADMIN_IN_FLIGHT_MAX: usize = 32;

/// Bounds on the requests of orchestrators.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// A request as a whole, from its head to the answer's head.
    pub request_timeout: Duration,
    /// Its body alone.
    pub body_timeout: Duration,
    /// Requests under way at once; more are refused as `OVERLOADED`.
    pub max_in_flight: usize,
}

/// What the routes work on.
pub struct AppState {
    /// Runs searches; its ports serve the other routes as well.
    pub searcher: Arc<Searcher>,
    /// Contracts, for the platform team.
    pub admin: Arc<dyn ContractAdmin>,
    /// Bearer tokens.
    pub tokens: Arc<Tokens>,
    /// Bounds.
    pub limits: Limits,
    /// Cancelled when a shutdown begins.
    pub draining: CancellationToken,
}

/// The state as handlers see it.
pub(crate) struct App {
    pub(crate) searcher: Arc<Searcher>,
    pub(crate) admin: Arc<dyn ContractAdmin>,
    pub(crate) limits: Limits,
    pub(crate) draining: CancellationToken,
    pub(crate) uploads: Semaphore,
    pub(crate) openapi: Bytes,
}

/// All routes, behind their layers.
///
/// Around every route stands the request's identifier, span and refusal body; around those of an audience, besides,
/// [`admitted`]. A new handler cannot forget either.
pub fn router(state: AppState) -> Router {
    let audience = |routes: OpenApiRouter<Arc<App>>, required: Role, deadline: Duration, max_in_flight: usize| {
        let guard = Guard { tokens: state.tokens.clone(), required };
        let audience = Audience { guard, deadline, in_flight: Semaphore::new(max_in_flight) };
        routes.route_layer(from_fn_with_state(Arc::new(audience), admitted))
    };
    let Limits { request_timeout, max_in_flight, .. } = state.limits;
    let (routes, mut api) = OpenApiRouter::with_openapi(openapi::base())
        .merge(audience(orchestrator::routes(), Role::Orchestrator, request_timeout, max_in_flight))
        .merge(audience(admin::routes(), Role::Admin, ADMIN_TIMEOUT, ADMIN_IN_FLIGHT_MAX))
        .merge(ops::routes())
        .split_for_parts();
    openapi::complete(&mut api);
    let app = Arc::new(App {
        searcher: state.searcher,
        admin: state.admin,
        limits: state.limits,
        draining: state.draining,
        uploads: Semaphore::new(admin::CONCURRENT_UPLOADS_MAX),
        openapi: serde_json::to_vec(&api).expect("the document is made of strings and numbers").into(),
    });
    routes
        .fallback(|| async { Refusal::new(Code::NotFound) })
        .method_not_allowed_fallback(|| async { Refusal::new(Code::MethodNotAllowed) })
        .layer(axum::middleware::from_fn(request_id::layer))
        .with_state(app)
}

/// What the routes of one audience share.
struct Audience {
    guard: Guard,
    /// For a request as a whole.
    deadline: Duration,
    /// Each audience has its own, so that the platform team gets in when searches fill the gateway.
    in_flight: Semaphore,
}

/// Refuses at once when too many requests are under way, rather than letting all of them grow slow; then checks token
/// and role; then answers in time, whatever the handler does.
async fn admitted(State(audience): State<Arc<Audience>>, mut request: Request, next: Next) -> Response {
    let Ok(_slot) = audience.in_flight.try_acquire() else { return Refusal::new(Code::Overloaded).into_response() };
    match audience.guard.admit(request.headers()) {
        Ok(caller) => request.extensions_mut().insert(caller),
        Err(refusal) => return refusal.into_response(),
    };
    match tokio::time::timeout(audience.deadline, next.run(request)).await {
        Ok(response) => response,
        Err(_elapsed) => Refusal::new(Code::Timeout).into_response(),
    }
}
