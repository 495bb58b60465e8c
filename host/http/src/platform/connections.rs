//! Connections to partners' servers, as the platform team runs them.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use intent_gateway_domain::contract::{self, Violation};
use intent_gateway_domain::golive::{Confirmation, SAMPLES_MAX};
use intent_gateway_domain::id::IntentId;
use intent_gateway_onboarding::connection::ConnectionState;
use intent_gateway_onboarding::records::ReviewStatus;
use intent_gateway_onboarding::{DecisionOrder, OnboardingError, TEXT_MAX_CHARS, TestOrder, Verdict};

use crate::App;
use crate::acting::{Acting, Page, PageQuery};
use crate::body::JsonText;
use crate::error::{ErrorBody, Refusal};
use crate::fields::Fields;
use crate::onboarding_wire::{
    ConnectionBody, ConnectionList, ConnectionStatus, ProbeAnswer, ReasonRequest, SwitchedOn, TestReport, TestRequest,
};
use crate::wire;

/// About what a connection takes, bytes.
const CONNECTION_BYTES: usize = 16 * 1024;

/// Lists the connections, in order of their accounts.
#[utoipa::path(
    get, path = "/api/v1/admin/connections", tag = "admin",
    params(
        ("status" = Option<ConnectionStatus>, Query, description = "Only those in this state"),
        ("after" = Option<String>, Query, description = "`next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Connections of a page, 1 to 500; 100 when absent"),
    ),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "A page of connections", body = ConnectionList<'static>),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody<'static>),
    )
)]
pub(super) async fn list_connections(
    State(app): State<Arc<App>>,
    query: Result<Query<PageQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let page = Page::of(query, &ConnectionState::ALL.map(ConnectionState::as_str))?;
    let connections = app.onboarding.connections.list(page.list()).await?;
    let next = page.next(connections.len(), connections.last().map(|connection| connection.account.to_string()));
    let body = ConnectionList { connections: connections.iter().map(ConnectionBody::from).collect(), next };
    wire::json(StatusCode::OK, &body, connections.len() * CONNECTION_BYTES)
}

/// Shows a partner's connection.
#[utoipa::path(
    get, path = "/api/v1/mcp-admin/{id}", tag = "admin",
    params(("id" = String, Path, description = "The partner")),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The connection", body = ConnectionBody<'static>),
        (status = 404, description = "`NOT_FOUND`: the partner has no connection", body = ErrorBody<'static>),
    )
)]
pub(super) async fn show_connection(State(app): State<Arc<App>>, acting: Acting) -> Result<Response, Refusal> {
    let connection = app.onboarding.connections.get(&acting.account).await?;
    wire::json(StatusCode::OK, &ConnectionBody::from(&connection), CONNECTION_BYTES)
}

/// Probes a partner: `initialize`, then `tools/list`, and no call.
///
/// A failed probe is recorded and is an answer like any other: `ok` is false and `failure` says why.
#[utoipa::path(
    post, path = "/api/v1/mcp-admin/{id}/probe", tag = "admin",
    params(("id" = String, Path, description = "The partner")),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "What the probe came to", body = ProbeAnswer<'static>),
        (status = 404, description = "`NOT_FOUND`: the partner has no connection", body = ErrorBody<'static>),
        (status = 409, description = "`ENDPOINT_CHANGED`: probe again", body = ErrorBody<'static>),
    )
)]
pub(super) async fn probe(State(app): State<Arc<App>>, acting: Acting) -> Result<Response, Refusal> {
    let connection = app.onboarding.probes.run(&acting.account, &acting.actor).await?;
    wire::json(StatusCode::OK, &ProbeAnswer::from(&connection), CONNECTION_BYTES)
}

/// Runs an intent's go-live requirements against a partner and records the report.
#[utoipa::path(
    post, path = "/api/v1/mcp-admin/{id}/test", tag = "admin",
    params(("id" = String, Path, description = "The partner")),
    request_body = TestRequest,
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The report, which may say that something failed", body = TestReport<'static>),
        (status = 400, description = "`INVALID_REQUEST`, with every violation; `INVALID_INTENT` for what is no intent's name", body = ErrorBody<'static>),
        (status = 404, description = "`NOT_FOUND`: no connection, or the manifest does not list the intent", body = ErrorBody<'static>),
        (status = 409, description = "`NO_PROBE`, or `ENDPOINT_CHANGED` while it ran", body = ErrorBody<'static>),
        (status = 502, description = "`CONTRACT_*`: the contract itself failed", body = ErrorBody<'static>),
    )
)]
pub(super) async fn test(
    State(app): State<Arc<App>>,
    acting: Acting,
    JsonText(body): JsonText,
) -> Result<Response, Refusal> {
    let order = read_test(&body)?;
    let report = app.onboarding.tests.run(&acting.account, &order, &acting.actor).await?;
    wire::json(StatusCode::OK, &TestReport::from(&report), CONNECTION_BYTES)
}

fn read_test(body: &str) -> Result<TestOrder, Refusal> {
    let mut fields = Fields::of(body);
    let name = fields.text("intent");
    let samples = fields.items("requests");
    let confirmed = fields.items("confirmed");
    if samples.len() > SAMPLES_MAX {
        fields.breach("/requests", "TOO_MANY_ITEMS", format!("expected at most {SAMPLES_MAX} items"));
    }
    for (index, _) in samples.iter().enumerate().filter(|(_, sample)| !sample.is_object()) {
        fields.breach(&format!("/requests/{index}"), "WRONG_TYPE", "expected an object".to_owned());
    }
    let mut confirmations = Vec::with_capacity(confirmed.len());
    for (index, item) in confirmed.into_iter().enumerate() {
        match serde_json::from_value::<Confirmation>(item) {
            Ok(confirmation) => confirmations.push(confirmation),
            Err(error) => fields.breach(&format!("/confirmed/{index}"), "WRONG_TYPE", error.to_string()),
        }
    }
    fields.finish()?;
    let intent = IntentId::parse(&name).map_err(|error| {
        let code = "INVALID_INTENT".to_owned();
        let (pointer, message) = ("/intent".to_owned(), error.to_string());
        let violations = vec![Violation { pointer, code: code.clone(), message }];
        OnboardingError::Refused(contract::Refusal { code, violations })
    })?;
    let requests = samples.iter().map(ToString::to_string).collect();
    Ok(TestOrder { intent, requests, confirmed: confirmations })
}

/// Switches a connection on: from then on, users' requests are routed to it.
#[utoipa::path(
    post, path = "/api/v1/mcp-admin/{id}/switch-on", tag = "admin",
    params(("id" = String, Path, description = "The partner")),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "Live", body = SwitchedOn<'static>),
        (status = 404, description = "`NOT_FOUND`: the partner has no connection", body = ErrorBody<'static>),
        (status = 409, description = "`NOT_READY`, with everything that is missing; `WRONG_STATE` unless in the sandbox", body = ErrorBody<'static>),
    )
)]
pub(super) async fn switch_on(State(app): State<Arc<App>>, acting: Acting) -> Result<Response, Refusal> {
    let switched = app.onboarding.connections.switch_on(&acting.account, &acting.actor).await?;
    wire::json(StatusCode::OK, &SwitchedOn::from(&switched), CONNECTION_BYTES)
}

/// Takes a live connection out; the partner is told the reason by e-mail.
#[utoipa::path(
    post, path = "/api/v1/mcp-admin/{id}/suspend", tag = "admin",
    params(("id" = String, Path, description = "The partner")),
    request_body = ReasonRequest,
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "Suspended", body = ConnectionBody<'static>),
        (status = 404, description = "`NOT_FOUND`: the partner has no connection", body = ErrorBody<'static>),
        (status = 409, description = "`WRONG_STATE`: it is not live", body = ErrorBody<'static>),
    )
)]
pub(super) async fn suspend(
    State(app): State<Arc<App>>,
    acting: Acting,
    JsonText(body): JsonText,
) -> Result<Response, Refusal> {
    let connection = app.onboarding.connections.suspend(&acting.account, &read_reason(&body)?, &acting.actor).await?;
    wire::json(StatusCode::OK, &ConnectionBody::from(&connection), CONNECTION_BYTES)
}

/// Lifts a suspension: back to the sandbox, through probe, test and approval again.
#[utoipa::path(
    post, path = "/api/v1/mcp-admin/{id}/lift", tag = "admin",
    params(("id" = String, Path, description = "The partner")),
    request_body = ReasonRequest,
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "Back in the sandbox", body = ConnectionBody<'static>),
        (status = 404, description = "`NOT_FOUND`: the partner has no connection", body = ErrorBody<'static>),
        (status = 409, description = "`WRONG_STATE`: it is not suspended", body = ErrorBody<'static>),
    )
)]
pub(super) async fn lift(
    State(app): State<Arc<App>>,
    acting: Acting,
    JsonText(body): JsonText,
) -> Result<Response, Refusal> {
    let connection = app.onboarding.connections.lift(&acting.account, &read_reason(&body)?, &acting.actor).await?;
    wire::json(StatusCode::OK, &ConnectionBody::from(&connection), CONNECTION_BYTES)
}

/// Takes a live partner's changed tools as they are: approves the review of its drift that is open.
#[utoipa::path(
    post, path = "/api/v1/mcp-admin/{id}/accept-drift", tag = "admin",
    params(("id" = String, Path, description = "The partner")),
    request_body = ReasonRequest,
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The connection; its quarantine is over", body = ConnectionBody<'static>),
        (status = 404, description = "`NOT_FOUND`: the partner has no connection", body = ErrorBody<'static>),
        (status = 409, description = "`NO_DRIFT`: no review of its tools is open; or `NO_PROBE`", body = ErrorBody<'static>),
    )
)]
pub(super) async fn accept_drift(
    State(app): State<Arc<App>>,
    acting: Acting,
    JsonText(body): JsonText,
) -> Result<Response, Refusal> {
    let reason = read_reason(&body)?;
    let open = match app.onboarding.connections.get(&acting.account).await?.drift_review {
        Some(id) => {
            Some(app.onboarding.reviews.get(&id).await?.review).filter(|review| review.status == ReviewStatus::Open)
        }
        None => None,
    };
    let Some(review) = open else {
        return Err(Refusal::conflict("NO_DRIFT", "No review of changed tools is open for this partner."));
    };
    let order = DecisionOrder { verdict: Verdict::Approve, notes: reason, confirmed: Default::default() };
    app.onboarding.reviews.decide(&review.id, &order, &acting.actor).await?;
    let connection = app.onboarding.connections.get(&acting.account).await?;
    wire::json(StatusCode::OK, &ConnectionBody::from(&connection), CONNECTION_BYTES)
}

fn read_reason(body: &str) -> Result<String, Refusal> {
    let mut fields = Fields::of(body);
    let reason = fields.prose("reason");
    if reason.trim().is_empty() || reason.chars().count() > TEXT_MAX_CHARS {
        fields.breach("/reason", "OUT_OF_RANGE", format!("expected 1 to {TEXT_MAX_CHARS} characters"));
    }
    fields.finish().map(|()| reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_read() {
        let order = read_test(
            r#"{"intent":"auto.fix","requests":[{"b":1.50,"a":2}],"confirmed":[{"code":"X","note":"seen"}]}"#,
        )
        .expect("read");
        assert_eq!((order.intent.as_str(), order.requests.len(), order.confirmed.len()), ("auto.fix", 1, 1));
        assert!(read_test(r#"{"intent":"auto.fix"}"#).expect("read").requests.is_empty());
        let many = format!(r#"{{"intent":"auto.fix","requests":[{}{{}}]}}"#, "{},".repeat(50));
        for bad in [
            "{}",
            "[]",
            r#"{"intent":"fix"}"#,
            r#"{"intent":"auto.fix","requests":["{}"]}"#,
            r#"{"intent":"auto.fix","requests":{}}"#,
            r#"{"intent":"auto.fix","confirmed":[{"code":"X"}]}"#,
            &many,
        ] {
            assert!(read_test(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn reasons_are_bounded() {
        assert_eq!(read_reason(r#"{"reason":"fields\nforbidden"}"#).expect("read"), "fields\nforbidden");
        for bad in ["{}", r#"{"reason":" "}"#, r#"{"reason":5}"#, &format!(r#"{{"reason":"{}"}}"#, "x".repeat(501))] {
            assert!(read_reason(bad).is_err(), "{bad}");
        }
    }
}
