//! Connections to partners' servers, as the platform team runs them.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use intent_gateway_api::connection::{
    ConnectionBody, ConnectionCounts, ConnectionList, ProbeAnswer, ReasonRequest, SwitchedOn, TestReport, TestRequest,
};
use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::violations::code;
use intent_gateway_onboarding::connection::ConnectionState;
use intent_gateway_onboarding::records::ReviewStatus;
use intent_gateway_onboarding::{DecisionOrder, ReviewVerdict, TEXT_MAX_CHARS, TestOrder};

use super::intent;
use crate::App;
use crate::acting::{Acting, Page, PageQuery};
use crate::body::Json;
use crate::error::{Code, ErrorBody, Refusal};
use crate::naming::NamedIntent;
use crate::wire;

/// About what a connection takes, bytes.
const CONNECTION_BYTES: usize = 16 * 1024;

/// Lists the connections, in order of their accounts.
#[utoipa::path(
    get, path = "/api/v1/admin/connections", tag = "admin",
    params(
        ("status" = Option<ConnectionState>, Query, description = "Only those in this state"),
        ("after" = Option<String>, Query, description = "`next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Connections of a page, 1 to 500; 100 when absent"),
    ),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "A page of connections", body = ConnectionList),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody),
    )
)]
pub(super) async fn list_connections(
    State(app): State<Arc<App>>,
    query: Result<Query<PageQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let page = Page::of(query, &ConnectionState::ALL.map(ConnectionState::as_str))?;
    let connections = app.onboarding.connections.list(page.list()).await?;
    let next = page.next(connections.len(), connections.last().map(|connection| connection.account.to_string()));
    let bytes = connections.len() * CONNECTION_BYTES;
    let body = ConnectionList { connections: connections.into_iter().map(ConnectionBody::from).collect(), next };
    wire::json(StatusCode::OK, &body, bytes)
}

/// Counts the connections by state.
#[utoipa::path(
    get, path = "/api/v1/admin/connections/summary", tag = "admin",
    security(("bearer" = ["admin"])),
    responses((status = 200, description = "How many are in each state", body = ConnectionCounts))
)]
pub(super) async fn count_connections(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let counts = app.onboarding.connections.count().await?;
    let states = counts.into_iter().map(|(state, count)| (state.to_owned(), count)).collect();
    wire::json(StatusCode::OK, &ConnectionCounts { states }, wire::SMALL_BYTES)
}

/// Shows a partner's connection.
#[utoipa::path(
    get, path = "/api/v1/mcp-admin/{id}", tag = "admin",
    params(("id" = String, Path, description = "The partner")),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The connection", body = ConnectionBody),
        (status = 404, description = "`NOT_FOUND`: the partner has no connection", body = ErrorBody),
    )
)]
pub(super) async fn show_connection(State(app): State<Arc<App>>, acting: Acting) -> Result<Response, Refusal> {
    let connection = app.onboarding.connections.get(&acting.account).await?;
    wire::json(StatusCode::OK, &ConnectionBody::from(connection), CONNECTION_BYTES)
}

/// Probes a partner: `initialize`, then `tools/list`, and no call.
///
/// A failed probe is recorded and is an answer like any other: `ok` is false and `failure` says why.
#[utoipa::path(
    post, path = "/api/v1/mcp-admin/{id}/probe", operation_id = "probe_connection", tag = "admin",
    params(("id" = String, Path, description = "The partner")),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "What the probe came to", body = ProbeAnswer),
        (status = 404, description = "`NOT_FOUND`: the partner has no connection", body = ErrorBody),
        (status = 409, description = "`ENDPOINT_CHANGED`: probe again", body = ErrorBody),
    )
)]
pub(super) async fn probe(State(app): State<Arc<App>>, acting: Acting) -> Result<Response, Refusal> {
    let connection = app.onboarding.probes.run(&acting.account, &acting.actor).await?;
    wire::json(StatusCode::OK, &ProbeAnswer::from(connection), CONNECTION_BYTES)
}

/// Runs an intent's go-live requirements against a partner and records the report.
///
/// Without sample requests, it takes a person's confirmations into the last report: of what waited for them, and anew of what
/// ends. The connection's `confirmations` show until when each holds.
#[utoipa::path(
    post, path = "/api/v1/mcp-admin/{id}/test", operation_id = "test_connection", tag = "admin",
    params(("id" = String, Path, description = "The partner")),
    request_body = TestRequest,
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The report, which may say that something failed", body = TestReport),
        (status = 400, description = "`INVALID_REQUEST`, with every violation; `INVALID_INTENT`: there is no such intent", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: no connection, or the manifest does not list the intent", body = ErrorBody),
        (status = 409, description = "`NO_PROBE`, unless a test that was made is only confirmed; or `ENDPOINT_CHANGED` while it ran", body = ErrorBody),
        (status = 502, description = "`CONTRACT_*`: the contract itself failed", body = ErrorBody),
    )
)]
pub(super) async fn test(
    State(app): State<Arc<App>>,
    acting: Acting,
    Json(body): Json<TestRequest>,
) -> Result<Response, Refusal> {
    let intent = intent(&*app.searcher.contracts, &body.intent)?;
    let named = NamedIntent::of(&app, intent.to_string());
    let order = TestOrder {
        intent,
        requests: body.requests.iter().map(|request| named.document(&request.to_string()).into_owned()).collect(),
        confirmed: body.confirmed,
    };
    let report = app.onboarding.tests.run(&acting.account, &order, &acting.actor).await?;
    wire::json(StatusCode::OK, &TestReport::from(report), CONNECTION_BYTES)
}

/// Switches a connection on: from then on, users' requests are routed to it.
#[utoipa::path(
    post, path = "/api/v1/mcp-admin/{id}/switch-on", operation_id = "switch_on_connection", tag = "admin",
    params(("id" = String, Path, description = "The partner")),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "Live", body = SwitchedOn),
        (status = 404, description = "`NOT_FOUND`: the partner has no connection", body = ErrorBody),
        (status = 409, description = "`NOT_READY`, with everything that is missing; `WRONG_STATE` unless in the sandbox", body = ErrorBody),
    )
)]
pub(super) async fn switch_on(State(app): State<Arc<App>>, acting: Acting) -> Result<Response, Refusal> {
    let switched = app.onboarding.connections.switch_on(&acting.account, &acting.actor).await?;
    wire::json(StatusCode::OK, &SwitchedOn::from(switched), CONNECTION_BYTES)
}

/// Takes a live connection out; the partner is told the reason by e-mail.
#[utoipa::path(
    post, path = "/api/v1/mcp-admin/{id}/suspend", operation_id = "suspend_connection", tag = "admin",
    params(("id" = String, Path, description = "The partner")),
    request_body = ReasonRequest,
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "Suspended", body = ConnectionBody),
        (status = 404, description = "`NOT_FOUND`: the partner has no connection", body = ErrorBody),
        (status = 409, description = "`WRONG_STATE`: it is not live", body = ErrorBody),
    )
)]
pub(super) async fn suspend(
    State(app): State<Arc<App>>,
    acting: Acting,
    Json(body): Json<ReasonRequest>,
) -> Result<Response, Refusal> {
    let connection = app.onboarding.connections.suspend(&acting.account, &check_reason(body)?, &acting.actor).await?;
    wire::json(StatusCode::OK, &ConnectionBody::from(connection), CONNECTION_BYTES)
}

/// Lifts a suspension: back to the sandbox, through probe, test and approval again.
#[utoipa::path(
    post, path = "/api/v1/mcp-admin/{id}/lift", operation_id = "lift_suspension", tag = "admin",
    params(("id" = String, Path, description = "The partner")),
    request_body = ReasonRequest,
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "Back in the sandbox", body = ConnectionBody),
        (status = 404, description = "`NOT_FOUND`: the partner has no connection", body = ErrorBody),
        (status = 409, description = "`WRONG_STATE`: it is not suspended", body = ErrorBody),
    )
)]
pub(super) async fn lift(
    State(app): State<Arc<App>>,
    acting: Acting,
    Json(body): Json<ReasonRequest>,
) -> Result<Response, Refusal> {
    let connection = app.onboarding.connections.lift(&acting.account, &check_reason(body)?, &acting.actor).await?;
    wire::json(StatusCode::OK, &ConnectionBody::from(connection), CONNECTION_BYTES)
}

/// Takes a live partner's changed tools as they are: approves the review of its drift that is open.
#[utoipa::path(
    post, path = "/api/v1/mcp-admin/{id}/accept-drift", tag = "admin",
    params(("id" = String, Path, description = "The partner")),
    request_body = ReasonRequest,
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The connection; its quarantine is over", body = ConnectionBody),
        (status = 404, description = "`NOT_FOUND`: the partner has no connection", body = ErrorBody),
        (status = 409, description = "`NO_DRIFT`: no review of its tools is open; or `NO_PROBE`", body = ErrorBody),
    )
)]
pub(super) async fn accept_drift(
    State(app): State<Arc<App>>,
    acting: Acting,
    Json(body): Json<ReasonRequest>,
) -> Result<Response, Refusal> {
    let reason = check_reason(body)?;
    let open = match app.onboarding.connections.get(&acting.account).await?.drift_review {
        Some(id) => {
            Some(app.onboarding.reviews.get(&id).await?.review).filter(|review| review.status == ReviewStatus::Open)
        }
        None => None,
    };
    let Some(review) = open else {
        return Err(Refusal::conflict("NO_DRIFT", "No review of changed tools is open for this partner."));
    };
    let order = DecisionOrder { verdict: ReviewVerdict::Approve, notes: reason, confirmed: Default::default() };
    app.onboarding.reviews.decide(&review.id, &order, &acting.actor).await?;
    let connection = app.onboarding.connections.get(&acting.account).await?;
    wire::json(StatusCode::OK, &ConnectionBody::from(connection), CONNECTION_BYTES)
}

/// A reason as partners are told it.
fn check_reason(ReasonRequest { reason }: ReasonRequest) -> Result<String, Refusal> {
    if !reason.trim().is_empty() && reason.chars().count() <= TEXT_MAX_CHARS {
        return Ok(reason);
    }
    let message = format!("expected 1 to {TEXT_MAX_CHARS} characters");
    let violation = Violation { pointer: "/reason".to_owned(), code: code::OUT_OF_RANGE.to_owned(), message };
    Err(Refusal::new(Code::InvalidRequest).violations(vec![violation]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_bounded() {
        let read = |reason: &str| check_reason(ReasonRequest { reason: reason.to_owned() });
        assert_eq!(read("fields\nforbidden").expect("fits"), "fields\nforbidden");
        for bad in ["", " ", &"x".repeat(501)] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
