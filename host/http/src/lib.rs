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
/// Around every route, from the outside: the request's identifier, span and refusal body; then for `/api`, the bound
/// on requests under way, the deadline, and the check of token and role.
pub fn router(state: AppState) -> Router {
    let in_flight = Arc::new(Semaphore::new(state.limits.max_in_flight));
    let audience = |routes: OpenApiRouter<Arc<App>>, required: Role, deadline: Duration| {
        let guard = Guard { tokens: state.tokens.clone(), required };
        routes
            .route_layer(from_fn_with_state(guard, auth::layer))
            .route_layer(from_fn_with_state(deadline, within))
            .route_layer(from_fn_with_state(in_flight.clone(), bounded))
    };
    let (routes, mut api) = OpenApiRouter::with_openapi(openapi::base())
        .merge(audience(orchestrator::routes(), Role::Orchestrator, state.limits.request_timeout))
        .merge(audience(admin::routes(), Role::Admin, ADMIN_TIMEOUT))
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

/// Refuses a request at once when too many are under way, rather than letting all of them grow slow.
async fn bounded(State(in_flight): State<Arc<Semaphore>>, request: Request, next: Next) -> Response {
    match in_flight.try_acquire() {
        Ok(_slot) => next.run(request).await,
        Err(_) => Refusal::new(Code::Overloaded).into_response(),
    }
}

/// Answers in time, whatever the handler does.
async fn within(State(deadline): State<Duration>, request: Request, next: Next) -> Response {
    match tokio::time::timeout(deadline, next.run(request)).await {
        Ok(response) => response,
        Err(_elapsed) => Refusal::new(Code::Timeout).into_response(),
    }
}
