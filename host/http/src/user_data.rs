//! What is kept of one user, for the orchestrator that names the user: shown whole, or erased.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use intent_gateway_api::links::LinkBody;
use intent_gateway_api::user_data::{UserData, UserErased};
use intent_gateway_domain::audit::AuditDraft;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::store::Change;
use intent_gateway_routing::user_data::{ExportCursor, UserDataError};
use serde::Deserialize;
use tokio::sync::SemaphorePermit;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::acting::{AskingUser, Team};
use crate::error::{Code, ErrorBody, Refusal};
use crate::wire;

/// Exports and erasures under way at once: each reads or writes much.
pub(crate) const AT_ONCE_MAX: usize = 4;
/// About what a page takes, bytes.
const PAGE_BYTES: usize = 64 * 1024;

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default().routes(routes!(export_user, erase_user))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExportQuery {
    after: Option<String>,
}

/// Shows a page of what the gateway keeps of a user: accounts linked at partners, orders, and searches with what was shown.
#[utoipa::path(
    get, path = "/api/v1/user-data", tag = "orchestrator",
    params(
        ("x-user-id" = String, Header, description = "The user, by a pseudonym of the orchestrator's own"),
        ("after" = Option<String>, Query, description = "`next` of the page before"),
    ),
    security(("bearer" = ["orchestrator"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "A page; the last one has no `next`", body = UserData),
        (status = 400, description = "`INVALID_REQUEST`: the header or a query parameter", body = ErrorBody),
    )
)]
async fn export_user(
    State(app): State<Arc<App>>,
    query: Result<Query<ExportQuery>, QueryRejection>,
    AskingUser(user): AskingUser,
) -> Result<Response, Refusal> {
    let refuse = || Refusal::new(Code::InvalidRequest).message("The query parameter is `after`, `next` of an answer.");
    let Query(ExportQuery { after }) = query.map_err(|_| refuse())?;
    let after = after.map(|after| after.parse::<ExportCursor>()).transpose().map_err(|_| refuse())?;
    let _turn = turn(&app)?;
    let links = if after.is_none() { app.linking.links(&user).await? } else { Vec::new() };
    let page = app.user_records.export(&user, after).await?;
    wire::private(&UserData::new(page, links.into_iter().map(LinkBody::from).collect()), PAGE_BYTES)
}

/// Erases a user: links are ended, receipts and what was found in them emptied, orders kept without the person.
///
/// It is answered when all is done. After any other answer, send the same again: it goes on with what is left.
#[utoipa::path(
    delete, path = "/api/v1/user-data", tag = "orchestrator",
    params(("x-user-id" = String, Header, description = "The user, by a pseudonym of the orchestrator's own")),
    security(("bearer" = ["orchestrator"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "What this request has erased; nothing is left", body = UserErased),
        (status = 400, description = "`INVALID_REQUEST`: the header", body = ErrorBody),
        (
            status = 409, description = "`CALL_UNDER_WAY`: a call of one of the user's orders is under way; come again after \
            `retry-after`", body = ErrorBody
        ),
    )
)]
async fn erase_user(
    State(app): State<Arc<App>>,
    AskingUser(user): AskingUser,
    Team(actor): Team,
) -> Result<Response, Refusal> {
    let _turn = turn(&app)?;
    let links = app.linking.erase(&user, &actor).await?;
    let erased = UserErased::new(app.user_records.erase(&user).await?, links);
    let mut change = Change::default();
    change.audit.push(AuditDraft {
        at_ms: app.user_records.clock.now(),
        subject: actor.subject.clone(),
        actor,
        action: "user.erased".to_owned(),
        detail: serde_json::to_value(&erased).unwrap_or_default(),
    });
    app.store.commit(change).await.map_err(UserDataError::from)?;
    wire::json(StatusCode::OK, &erased, wire::SMALL_BYTES)
}

fn turn(app: &App) -> Result<SemaphorePermit<'_>, Refusal> {
    app.user_data.try_acquire().map_err(|_| Refusal::new(Code::Overloaded))
}

impl From<UserDataError> for Refusal {
    fn from(error: UserDataError) -> Self {
        let detail = chain(&error);
        match error {
            UserDataError::CallUnderWay(left_ms) => {
                Self::conflict("CALL_UNDER_WAY", "A call of one of the user's orders is under way.")
                    .retry_after(Duration::from_millis(left_ms))
            }
            UserDataError::Contended(_) => Self::new(Code::Overloaded).internal(detail),
            UserDataError::Store(error) => error.into(),
        }
    }
}
