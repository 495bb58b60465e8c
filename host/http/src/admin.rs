//! What the platform team does: loads, activates and unloads contracts, and looks at failures, partners and findings.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, Request, State};
use axum::response::{IntoResponse as _, Response};
use http::{StatusCode, Uri};
use intent_gateway_api::contracts::{
    ActivationOutcome, IntentStatus, IntentStatuses, LoadFailure, LoadFailures, LoadOutcome, LoadedVersion,
    LoadedVersions, MissingVersion, PolicyOrder, RemovedValues, WaitedFor,
};
use intent_gateway_api::evidence::{FindingsSummary, PartnerFindings};
use intent_gateway_api::partners::{PartnerEntry, PartnerList};
use intent_gateway_domain::accesses::Access;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::limits::CONTRACT_MAX_BYTES;
use intent_gateway_domain::pointer;
use intent_gateway_domain::succession::{Removal, RemovedValue};
use intent_gateway_domain::versions::{Activated, ContractAdminError, GoLive, LoadOrder, Loaded, Origin};
use intent_gateway_onboarding::{OnboardingError, ValueUse, find_value_use};
use serde::Deserialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::acting::Team;
use crate::auth::Caller;
use crate::body::{self, WASM};
use crate::error::{Code, ErrorBody, Refusal};
use crate::findings::{self, FindingsQuery};
use crate::wire;

/// Uploads that are held in memory at once; each may be as large as a component may be.
const UPLOADS_MAX: usize = 4;
/// Of these, uploads of one account, so that another finds room beside them.
const UPLOADS_OF_ONE_ACCOUNT_MAX: usize = 2;
/// Wait for the body of an upload.
const UPLOAD_BODY_TIMEOUT: Duration = Duration::from_secs(120);
/// Code of each value that a refused version would take out.
const VALUE_REMOVED: &str = "VALUE_REMOVED";

/// The uploads under way, by whose they are.
#[derive(Default)]
pub(crate) struct Uploads(Mutex<Vec<Actor>>);

/// A place among the uploads, given back on drop.
pub(crate) struct Place<'a> {
    uploads: &'a Uploads,
    account: Actor,
}

impl Uploads {
    /// A place; none where there are too many, of this account or of all.
    pub(crate) fn take_place(&self, account: &Actor) -> Option<Place<'_>> {
        let account = account.identity();
        let mut under_way = self.lock();
        let own = under_way.iter().filter(|other| **other == account).count();
        if under_way.len() >= UPLOADS_MAX || own >= UPLOADS_OF_ONE_ACCOUNT_MAX {
            return None;
        }
        under_way.push(account.clone());
        Some(Place { uploads: self, account })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Actor>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut under_way = self.uploads.lock();
        if let Some(own) = under_way.iter().position(|other| *other == self.account) {
            under_way.swap_remove(own);
        }
    }
}

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default()
        .routes(routes!(list_contracts, load_contract))
        .routes(routes!(activate_contract))
        .routes(routes!(list_failures))
        .routes(routes!(show_statuses))
        .routes(routes!(unload_intent))
        .routes(routes!(withdraw_coming))
        .routes(routes!(set_policy))
        .routes(routes!(list_partners))
        .routes(routes!(list_findings))
        .routes(routes!(summarize_findings))
}

/// Lists every contract version that is ready at this gateway, live or not, and those that it could not make ready.
#[utoipa::path(
    get, path = "/api/v1/admin/contracts", tag = "admin",
    security(("bearer" = ["admin"])),
    responses((status = 200, description = "Loaded versions", body = LoadedVersions))
)]
async fn list_contracts(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let contracts = app.admin.versions().into_iter().map(LoadedVersion::from).collect();
    let missing = app.admin.missing().into_iter().map(MissingVersion::from).collect();
    wire::json(StatusCode::OK, &LoadedVersions { contracts, missing }, wire::SMALL_BYTES)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LoadQuery {
    #[serde(default = "yes")]
    activate: bool,
    #[serde(default)]
    allow_removed_values: bool,
}

/// Whether a request to load makes a version live although it takes values out.
pub(crate) fn forces(uri: &Uri) -> bool {
    let query = Query::<LoadQuery>::try_from_uri(uri);
    query.is_ok_and(|Query(LoadQuery { activate, allow_removed_values })| activate && allow_removed_values)
}

fn yes() -> bool {
    true
}

/// Loads a contract.
///
/// When the call returns 200 or 201 with `live` true, every later search is served by this version. Where several gateways share
/// the store, a new version goes live once all of them have it ready, which the call waits for, a minute at most; with `live` false
/// and `waits_for` it says for which of them it waits, and goes live by itself when they have it ready. When the call returns an
/// error, the version before it goes on serving. A component that was loaded before stays as it is, live or not:
/// `note` says how to make it live. A version that takes values out of vocabularies is refused with
/// `VOCABULARY_VALUES_REMOVED` unless `allow_removed_values` is true; either answer says which values go and who uses them.
#[utoipa::path(
    post, path = "/api/v1/admin/contracts", tag = "admin",
    params(
        ("activate" = Option<bool>, Query, description = "Make a new version live; true when absent"),
        ("allow_removed_values" = Option<bool>, Query, description = "Values of vocabularies may go; false when absent"),
    ),
    request_body(content = String, content_type = "application/wasm", description = "The component"),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "This very component was loaded before", body = LoadOutcome),
        (status = 201, description = "Loaded", body = LoadOutcome),
        (status = 422, description = "Not taken; the code and message say why", body = ErrorBody),
    )
)]
async fn load_contract(
    State(app): State<Arc<App>>,
    query: Result<Query<LoadQuery>, QueryRejection>,
    Extension(caller): Extension<Caller>,
    Team(team): Team,
    request: Request,
) -> Result<Response, Refusal> {
    let Query(LoadQuery { activate, allow_removed_values }) = query.map_err(|_| {
        Refusal::new(Code::InvalidRequest)
            .message("The query parameters are `activate` and `allow_removed_values`, each `true` or `false`.")
    })?;
    body::require_media_type(request.headers(), WASM)?;
    let _place = app.uploads.take_place(&team).ok_or(Code::Overloaded)?;
    let component = body::read(request.into_body(), CONTRACT_MAX_BYTES, UPLOAD_BODY_TIMEOUT).await?;
    let removal = if allow_removed_values { Removal::Allowed } else { Removal::Refused };
    let order = LoadOrder { origin: Origin::Upload(caller.name()), by: team.clone(), activate, removal };
    // A caller that leaves takes the examination with it, and never half of a change: that is the port's promise.
    let Loaded { version, known, removed, waits_for } = match app.admin.load(component, order).await {
        Ok(loaded) => loaded,
        Err(error) => {
            note_refused(&app, team.clone(), "load", &error);
            return Err(refuse_load(&app, error).await);
        }
    };
    let (digest, live) = (version.digest, version.live);
    tracing::info!(intent = version.intent, version = version.version, %digest, live, known, "contract uploaded");
    let removed_values = find_removed(&app, &version.intent, &removed).await;
    let note = (known && !live).then(|| {
        format!(
            "This very component was loaded before and is not live. Loading it again changes nothing; to make it live, \
             call POST /api/v1/admin/contracts/{digest}/activate."
        )
    });
    let waits_for = waits_for.into_iter().map(WaitedFor::from).collect();
    let outcome = LoadOutcome { version: LoadedVersion::from(version), known, note, removed_values, waits_for };
    let status = if known { StatusCode::OK } else { StatusCode::CREATED };
    wire::json(status, &outcome, wire::SMALL_BYTES)
}

/// Notes for the audit log that a contract was not loaded, made live or taken out as somebody asked.
fn note_refused(app: &App, by: Actor, asked: &str, error: &ContractAdminError) {
    let (intent, what) = match error {
        ContractAdminError::Rejected(failure) => {
            let digest = failure.digest.map(|digest| digest.to_string()).unwrap_or_default();
            (failure.intent.clone(), format!("{asked}: {} {digest}", failure.code))
        }
        ContractAdminError::Unknown(name) => (None, format!("{asked}: nothing is loaded as {name}")),
        ContractAdminError::Overloaded => (None, format!("{asked}: too many components are being examined")),
        ContractAdminError::ShuttingDown => (None, format!("{asked}: the gateway is shutting down")),
        ContractAdminError::Store { .. } => (None, format!("{asked}: the store failed")),
    };
    let subject = intent.unwrap_or_else(|| by.subject.clone());
    let at = app.searcher.clock.now();
    let what = Some(what);
    app.accesses.note(Access { at, actor: by, action: "contract.refused", subject, what, names_all: false });
}

/// The refusal of a load; where values of vocabularies would go, with who uses each.
async fn refuse_load(app: &App, error: ContractAdminError) -> Refusal {
    let removed = match &error {
        ContractAdminError::Rejected(failure) => {
            find_removed(app, failure.intent.as_deref().unwrap_or_default(), &failure.removed).await
        }
        ContractAdminError::Overloaded
        | ContractAdminError::ShuttingDown
        | ContractAdminError::Unknown(_)
        | ContractAdminError::Store { .. } => None,
    };
    let refusal = Refusal::from(error);
    let Some(RemovedValues { values, rankings_read, .. }) = removed else { return refusal };
    let violation = |value: &intent_gateway_api::contracts::RemovedValue| Violation {
        pointer: pointer::child(&pointer::child("/vocabularies", &value.vocabulary), &value.value),
        code: VALUE_REMOVED.to_owned(),
        message: value.describe(rankings_read),
    };
    refusal.violations(values.iter().map(violation).collect())
}

/// Who uses the values that a version takes out; none where it takes out none. While the store fails nothing was read, which
/// the answer says: the load itself has been decided by now.
async fn find_removed(app: &App, intent: &str, removed: &[RemovedValue]) -> Option<RemovedValues> {
    let intent = IntentId::parse(intent).ok().filter(|_| !removed.is_empty())?;
    let found = find_value_use(&*app.store, &*app.evidence, &intent, removed).await;
    let found = found.unwrap_or_else(|error| {
        tracing::error!(error = %chain(&error), "who uses the values that go could not be read");
        ValueUse::unread(removed)
    });
    Some(found.into())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ActivateQuery {
    #[serde(default)]
    at_once: bool,
}

/// Makes a loaded version live: a release, or a rollback.
///
/// Where several gateways share the store, it goes live once all of them have it ready, which the call waits for, a minute at most;
/// `waits_for` says for which of them it still waits. With `at_once` it waits for nobody: a gateway that does not have it ready
/// goes on with the version before until it has.
#[utoipa::path(
    post, path = "/api/v1/admin/contracts/{digest}/activate", tag = "admin",
    params(
        ("digest" = String, Path, description = "SHA-256 of the component, 64 hexadecimal characters"),
        ("at_once" = Option<bool>, Query, description = "Wait for no gateway; false when absent"),
    ),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "Live, or waiting for gateways", body = ActivationOutcome),
        (status = 404, description = "`NOT_FOUND`: nothing of that digest is loaded", body = ErrorBody),
        (status = 422, description = "Not taken; the code and message say why", body = ErrorBody),
    )
)]
async fn activate_contract(
    State(app): State<Arc<App>>,
    Path(digest): Path<String>,
    query: Result<Query<ActivateQuery>, QueryRejection>,
    Team(team): Team,
) -> Result<Response, Refusal> {
    let Query(ActivateQuery { at_once }) = query.map_err(|_| {
        Refusal::new(Code::InvalidRequest).message("The query parameter is `at_once`, `true` or `false`.")
    })?;
    let digest: Digest =
        digest.parse().map_err(|error| Refusal::new(Code::NotFound).message(format!("No such contract: {error}.")))?;
    let when = if at_once { GoLive::AtOnce } else { GoLive::WhenReady };
    let activated = app.admin.activate(digest, team.clone(), when).await;
    let Activated { version, waits_for } =
        activated.inspect_err(|error| note_refused(&app, team, "activate", error))?;
    let live = version.live;
    tracing::info!(intent = version.intent, version = version.version, %digest, live, "contract activated");
    let waits_for = waits_for.into_iter().map(WaitedFor::from).collect();
    let outcome = ActivationOutcome { version: LoadedVersion::from(version), waits_for };
    wire::json(StatusCode::OK, &outcome, wire::SMALL_BYTES)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StatusQuery {
    intent: Option<String>,
}

/// Shows what is to serve each intent, and what each gateway that shares the store has ready and serves.
#[utoipa::path(
    get, path = "/api/v1/admin/contracts/status", tag = "admin",
    params(("intent" = Option<String>, Query, description = "Only this intent")),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "Wanted and observed, by intent", body = IntentStatuses),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody),
    )
)]
async fn show_statuses(
    State(app): State<Arc<App>>,
    query: Result<Query<StatusQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let Query(StatusQuery { intent }) =
        query.map_err(|_| Refusal::new(Code::InvalidRequest).message("The query parameter is `intent`."))?;
    let statuses = app.admin.status(intent.as_deref()).await?;
    let intents = statuses.into_iter().map(IntentStatus::from).collect();
    wire::json(StatusCode::OK, &IntentStatuses { intents }, wire::SMALL_BYTES)
}

/// No longer wants the version that an intent waits for. What serves goes on.
#[utoipa::path(
    delete, path = "/api/v1/admin/intents/{intent}/coming", tag = "admin",
    params(("intent" = String, Path, description = "Intent identifier", example = "auto.book_ac_service")),
    security(("bearer" = ["admin"])),
    responses(
        (status = 204, description = "Nothing is to take the place of what serves"),
        (status = 404, description = "`NOT_FOUND`: the intent waits for no version", body = ErrorBody),
    )
)]
async fn withdraw_coming(
    State(app): State<Arc<App>>,
    Path(intent): Path<String>,
    Team(team): Team,
) -> Result<Response, Refusal> {
    let withdrawn = app.admin.withdraw(&intent, team.clone()).await;
    withdrawn.map_err(|error| {
        note_refused(&app, team, "withdraw", &error);
        match error {
            ContractAdminError::Unknown(_) => {
                Refusal::new(Code::NotFound).message("There is no such intent, or it waits for no version.")
            }
            error => error.into(),
        }
    })?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Says what new versions of an intent do that are found in a gateway's contract folder: go live, or wait for somebody.
#[utoipa::path(
    put, path = "/api/v1/admin/intents/{intent}/policy", tag = "admin",
    params(("intent" = String, Path, description = "Intent identifier", example = "auto.book_ac_service")),
    request_body = PolicyOrder,
    security(("bearer" = ["admin"])),
    responses(
        (status = 204, description = "It counts from now on, at all gateways of the store"),
        (status = 400, description = "`INVALID_REQUEST`: the policy is `auto` or `manual`", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: no contract of the intent was ever loaded", body = ErrorBody),
    )
)]
async fn set_policy(
    State(app): State<Arc<App>>,
    Path(intent): Path<String>,
    Team(team): Team,
    body::Json(order): body::Json<PolicyOrder>,
) -> Result<Response, Refusal> {
    app.admin.set_policy(&intent, order.policy.into(), team).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Takes an intent out of service. Its versions stay loaded and can be activated again.
#[utoipa::path(
    delete, path = "/api/v1/admin/intents/{intent}", tag = "admin",
    params(("intent" = String, Path, description = "Intent identifier", example = "auto.book_ac_service")),
    security(("bearer" = ["admin"])),
    responses(
        (status = 204, description = "Out of service"),
        (status = 404, description = "`INVALID_INTENT`: no live intent of that name", body = ErrorBody),
    )
)]
async fn unload_intent(
    State(app): State<Arc<App>>,
    Path(intent): Path<String>,
    Team(team): Team,
) -> Result<Response, Refusal> {
    // One that ought to be live and is missing here can be given up, too.
    let live = app.searcher.contracts.live(&intent);
    let intent = live.map_or(intent, |live| live.descriptor().intent.to_string());
    let unloaded = app.admin.unload(&intent, team.clone()).await;
    unloaded.map_err(|error| {
        note_refused(&app, team, "unload", &error);
        match error {
            ContractAdminError::Unknown(_) => Code::InvalidIntent.into(),
            error => Refusal::from(error),
        }
    })?;
    tracing::info!(intent, "intent unloaded");
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Lists the latest failures to load or to go on serving.
#[utoipa::path(
    get, path = "/api/v1/admin/contracts/failures", tag = "admin",
    security(("bearer" = ["admin"])),
    responses((status = 200, description = "Newest first", body = LoadFailures))
)]
async fn list_failures(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let failures = app.admin.failures().into_iter().map(LoadFailure::from).collect();
    wire::json(StatusCode::OK, &LoadFailures { failures }, wire::SMALL_BYTES)
}

/// Lists the partners.
#[utoipa::path(
    get, path = "/api/v1/admin/partners", tag = "admin",
    security(("bearer" = ["admin"])),
    responses((status = 200, description = "Every partner that the gateway knows", body = PartnerList))
)]
async fn list_partners(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let partners = app.searcher.directory.all();
    let partners = partners.iter().map(|partner| PartnerEntry::from(&**partner)).collect();
    wire::json(StatusCode::OK, &PartnerList { partners }, wire::SMALL_BYTES)
}

/// Lists what was found in a partner's answers and completion reports.
#[utoipa::path(
    get, path = "/api/v1/admin/partners/{partner}/findings", tag = "admin",
    params(
        ("partner" = String, Path, description = "Partner identifier"),
        ("before" = Option<u64>, Query, description = "`next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Findings of a page, 1 to 500; 100 when absent"),
        ("severity" = Option<String>, Query, description = "`note`, `drop` or `strike`"),
        ("source" = Option<String>, Query, description = "`search`, `call`, `report` or `team`"),
        ("intent" = Option<String>, Query, description = "Only those of one intent"),
        ("code" = Option<String>, Query, description = "Only those of one rule"),
    ),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "A page of findings, newest first", body = PartnerFindings),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: no such partner", body = ErrorBody),
    )
)]
async fn list_findings(
    State(app): State<Arc<App>>,
    Path(partner): Path<String>,
    query: Result<Query<FindingsQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    findings::page(&app, &require_known(&app, &partner).await?, query).await
}

/// Counts a partner's findings of the last 30 days by rule and day, and shows its strikes and how long its tools take
/// beside their targets.
#[utoipa::path(
    get, path = "/api/v1/admin/partners/{partner}/findings/summary", tag = "admin",
    params(("partner" = String, Path, description = "Partner identifier")),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The counts, strikes and latencies", body = FindingsSummary),
        (status = 404, description = "`NOT_FOUND`: no such partner", body = ErrorBody),
    )
)]
async fn summarize_findings(State(app): State<Arc<App>>, Path(partner): Path<String>) -> Result<Response, Refusal> {
    findings::summary(&app, &require_known(&app, &partner).await?).await
}

/// The identifier of a partner that there is.
pub(crate) async fn require_known(app: &App, partner: &str) -> Result<PartnerId, Refusal> {
    match PartnerId::parse(partner) {
        Ok(id) if is_known(app, partner).await? => Ok(id),
        _ => Err(Refusal::new(Code::NotFound).message("There is no such partner.")),
    }
}

/// Whether there is such a partner: routed to now, or signed up at any time.
pub(crate) async fn is_known(app: &App, partner: &str) -> Result<bool, Refusal> {
    let Ok(id) = PartnerId::parse(partner) else { return Ok(false) };
    if app.searcher.directory.all().iter().any(|routed| routed.id == id) {
        return Ok(true);
    }
    match app.onboarding.accounts.get(&id).await {
        Ok(_) => Ok(true),
        Err(OnboardingError::NotFound(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_account_leaves_room_for_the_uploads_of_another() {
        let [ann, bob, cid] = ["ann", "bob", "cid"].map(|name| Actor::new("admin", name));
        let uploads = Uploads::default();
        let of_ann: Vec<_> = (0..UPLOADS_OF_ONE_ACCOUNT_MAX).filter_map(|_| uploads.take_place(&ann)).collect();
        assert_eq!(of_ann.len(), UPLOADS_OF_ONE_ACCOUNT_MAX);
        let ann_elsewhere = Actor { from: Some("192.0.2.1".to_owned()), scope: Some("ship".to_owned()), ..ann.clone() };
        assert!([&ann, &ann_elsewhere].iter().all(|ann| uploads.take_place(ann).is_none()));
        let of_bob: Vec<_> = (0..UPLOADS_OF_ONE_ACCOUNT_MAX).filter_map(|_| uploads.take_place(&bob)).collect();
        assert_eq!(of_ann.len() + of_bob.len(), UPLOADS_MAX);
        assert!(uploads.take_place(&cid).is_none(), "there is no room at all");
        drop(of_ann);
        assert!(uploads.take_place(&cid).is_some());
        assert!(uploads.take_place(&ann).is_some());
    }
}
