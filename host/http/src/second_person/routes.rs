//! What waits for a second person: listed, shown, approved, refused.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::response::Response;
use axum::{Extension, Router};
use http::StatusCode;
use http::request::Parts;
use intent_gateway_api::approvals::{ApprovalBody, ApprovalDetail, ApprovalList, ApprovalStatus};
use intent_gateway_domain::approval::Approval;
use intent_gateway_domain::steps::commit_unless_changed;
use intent_gateway_domain::store::{self, Change, Versioned};
use intent_gateway_domain::trace::Trace;
use tower_service::Service as _;
use tracing::Instrument as _;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::internal;
use crate::App;
use crate::acting::Team;
use crate::auth::{Caller, Scope};
use crate::error::{Code, ErrorBody, Refusal};
use crate::request_id::RequestId;
use crate::{route_scopes, wire};

/// Whoever asked for it may not approve it.
const SECOND_PERSON_NEEDED: &str = "SECOND_PERSON_NEEDED";
/// Nothing of that name waits.
const APPROVAL_NOT_FOUND: &str = "APPROVAL_NOT_FOUND";
/// Longest identifier, characters.
const ID_MAX_CHARS: usize = 64;
/// About what an entry of the list takes, bytes.
const ENTRY_BYTES: usize = 512;

/// The routes that carry out what was approved: those of the gateway, within the layer that gives a request its identifier.
#[derive(Clone)]
pub(crate) struct Replay(pub(crate) Router);

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default()
        .routes(routes!(list_approvals))
        .routes(routes!(show_approval))
        .routes(routes!(approve))
        .routes(routes!(refuse))
}

/// Lists what waits for a second person, oldest first. Nothing begins to wait unless `auth.second_person` is set.
#[utoipa::path(
    get, path = "/api/v1/admin/approvals", tag = "admin",
    security(("bearer" = ["admin"])),
    responses((status = 200, description = "All that waits", body = ApprovalList))
)]
async fn list_approvals(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let waiting = app.second_person.waiting(app.searcher.clock.now()).await?;
    let approvals: Vec<_> =
        waiting.iter().map(|approval| ApprovalBody::new(approval, ApprovalStatus::Waiting)).collect();
    let bytes = approvals.len() * ENTRY_BYTES;
    wire::json(StatusCode::OK, &ApprovalList { approvals }, bytes)
}

/// Shows a request that waits with all that it says, to whoever has the scope that it names.
#[utoipa::path(
    get, path = "/api/v1/admin/approvals/{approval}", tag = "admin",
    params(("approval" = String, Path, description = "What waits")),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The request", body = ApprovalDetail),
        (status = 404, description = "`APPROVAL_NOT_FOUND`: it was decided, its time is over, or there was none", body = ErrorBody),
    )
)]
async fn show_approval(
    State(app): State<Arc<App>>,
    Path(approval): Path<String>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, Refusal> {
    let kept = find(&app, &approval, &caller).await?.value;
    let request = app.second_person.open(&kept)?;
    let detail = ApprovalDetail {
        query: request.query(),
        user: request.user(),
        body: request.body().to_owned(),
        approval: ApprovalBody::new(&kept, ApprovalStatus::Waiting),
    };
    wire::private(&detail, wire::SMALL_BYTES)
}

/// Approves what waits: it is carried out in the name of whoever asked, and answered as if that request had come now.
///
/// It takes somebody else than who asked, with the scope that the request names. When it is answered with a refusal of the
/// operation's own, nothing waits any more: it has to be asked for again.
#[utoipa::path(
    post, path = "/api/v1/admin/approvals/{approval}/approve", operation_id = "approve_request", tag = "admin",
    params(("approval" = String, Path, description = "What waits")),
    security(("bearer" = ["admin"])),
    responses(
        (status = "2XX", description = "The answer of the operation", body = Object),
        (status = 204, description = "Carried out, where the operation has no more to say"),
        (
            status = 403, description = "`SECOND_PERSON_NEEDED`: who asked for it cannot approve it; `SCOPE_..._NEEDED`: the token \
            lacks the scope that the request names", body = ErrorBody
        ),
        (
            status = 404, description = "`APPROVAL_NOT_FOUND`: it was decided, its time is over, or there was none. Any other code is \
            the operation's", body = ErrorBody
        ),
        (status = "4XX", description = "The operation's refusal", body = ErrorBody),
        (status = "5XX", description = "The operation's failure", body = ErrorBody),
    )
)]
async fn approve(
    State(app): State<Arc<App>>,
    Path(approval): Path<String>,
    Extension(Replay(mut router)): Extension<Replay>,
    Extension(caller): Extension<Caller>,
    Team(team): Team,
    parts: Parts,
) -> Result<Response, Refusal> {
    let kept = find(&app, &approval, &caller).await?;
    if kept.value.person.may_be(&caller.person()) {
        let message = "Somebody else than who asked for it has to approve it.";
        return Err(Refusal::new(Code::Forbidden).with_code(SECOND_PERSON_NEEDED).message(message));
    }
    let request = app.second_person.open(&kept.value)?.into_request(&kept.value, caller.name())?;
    let request = within(request, &parts);
    let mut change = Change::default();
    change.audit.push(kept.value.draft("approval.approved", team, app.searcher.clock.now()));
    take(&app, &kept, change).await?;
    // In a task of its own: whoever approves and leaves must not stop it half-way.
    let carried_out = tokio::spawn(router.call(request).in_current_span()).await;
    match carried_out.map_err(|error| internal(&error))? {
        Ok(response) => Ok(response),
        Err(never) => match never {},
    }
}

/// Refuses what waits. Whoever asked for it may take it back so.
#[utoipa::path(
    post, path = "/api/v1/admin/approvals/{approval}/refuse", operation_id = "refuse_request", tag = "admin",
    params(("approval" = String, Path, description = "What waits")),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "It will not be carried out", body = ApprovalBody),
        (status = 404, description = "`APPROVAL_NOT_FOUND`: it was decided, its time is over, or there was none", body = ErrorBody),
    )
)]
async fn refuse(
    State(app): State<Arc<App>>,
    Path(approval): Path<String>,
    Extension(caller): Extension<Caller>,
    Team(team): Team,
) -> Result<Response, Refusal> {
    let kept = find(&app, &approval, &caller).await?;
    let mut change = Change::default();
    change.audit.push(kept.value.draft("approval.refused", team, app.searcher.clock.now()));
    take(&app, &kept, change).await?;
    wire::json(StatusCode::OK, &ApprovalBody::new(&kept.value, ApprovalStatus::Refused), wire::SMALL_BYTES)
}

/// What waits under an identifier, for somebody with the scope that it names.
async fn find(app: &App, id: &str, caller: &Caller) -> Result<Versioned<Approval>, Refusal> {
    let fits = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !fits || !(1..=ID_MAX_CHARS).contains(&id.len()) {
        return Err(not_found());
    }
    let kept = store::load::<Approval>(&*app.store, id).await?;
    let kept = kept.filter(|kept| !kept.value.is_over(app.searcher.clock.now())).ok_or_else(not_found)?;
    route_scopes::require_scope(caller, Scope::parse(&kept.value.scope).unwrap_or(Scope::All))?;
    Ok(kept)
}

/// Takes away what waits, with what the audit log is told. Of two who decide at once, at whichever gateway, one finds nothing.
async fn take(app: &App, kept: &Versioned<Approval>, mut change: Change) -> Result<(), Refusal> {
    change.delete(kept);
    let taken = commit_unless_changed(&*app.store, change).await?;
    if taken { Ok(()) } else { Err(not_found()) }
}

fn not_found() -> Refusal {
    Refusal::new(Code::NotFound)
        .with_code(APPROVAL_NOT_FOUND)
        .message("Nothing of that name waits for a second person.")
}

/// A kept request as a part of the one that approves it: with its identifier and its trace.
fn within(mut request: Request, parts: &Parts) -> Request {
    if let Some(id) = parts.extensions.get::<RequestId>() {
        request.extensions_mut().insert(id.clone());
    }
    if let Some(trace) = parts.extensions.get::<Arc<Trace>>() {
        request.extensions_mut().insert(trace.clone());
    }
    request
}
