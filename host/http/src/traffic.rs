//! What went on lately at this gateway: at intents, and at the tools of a partner, for the platform team and for the partner itself.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::StatusCode;
use intent_gateway_api::traffic::{PartnerTraffic, TrafficBody};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::telemetry::traffic::{SAMPLES_KEPT, lately};
use intent_gateway_outbound::health::PartnerView;
use serde::Deserialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::acting::Acting;
use crate::acting::no_account;
use crate::admin::{is_known, require_known};
use crate::error::{Code, ErrorBody, Refusal};
use crate::wire;

/// About what a sample takes, bytes.
const SAMPLE_BYTES: usize = 64;

pub(crate) fn team_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default().routes(routes!(show_traffic)).routes(routes!(show_partner_traffic))
}

pub(crate) fn business_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default().routes(routes!(show_own_traffic))
}

/// What may be asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TrafficQuery {
    intent: Option<String>,
}

/// Shows what went on at intents in the last hour, every ten seconds: searches by outcome and, of one intent, how long each stage took.
///
/// It is of the gateway that answers, and since its start at most.
#[utoipa::path(
    get, path = "/api/v1/admin/traffic", tag = "admin",
    params(("intent" = Option<String>, Query, description = "Only this one, with its stages")),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The samples", body = TrafficBody),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter; `INVALID_INTENT` for what is no intent's name", body = ErrorBody),
    )
)]
async fn show_traffic(
    State(app): State<Arc<App>>,
    query: Result<Query<TrafficQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let Query(TrafficQuery { intent }) = query
        .map_err(|_| Refusal::new(Code::InvalidRequest).message("The query parameter is `intent`, at most once."))?;
    let intent = intent.map(|name| crate::platform::intent(&*app.searcher.contracts, &name)).transpose()?;
    let samples = lately().intents(intent.as_ref().map(|intent| intent.as_str()));
    let bytes = wire::SMALL_BYTES + samples.len() * SAMPLES_KEPT * SAMPLE_BYTES;
    wire::json(StatusCode::OK, &TrafficBody::new(samples, intent.is_some()), bytes)
}

/// Shows how the tools of a partner did in the last hour, every ten seconds: calls, failures and times, beside the targets.
///
/// It is of the gateway that answers, and since its start at most.
#[utoipa::path(
    get, path = "/api/v1/admin/partners/{partner}/traffic", tag = "admin",
    params(("partner" = String, Path, description = "Partner identifier")),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The samples", body = PartnerTraffic),
        (status = 404, description = "`NOT_FOUND`: no such partner", body = ErrorBody),
    )
)]
async fn show_partner_traffic(State(app): State<Arc<App>>, Path(partner): Path<String>) -> Result<Response, Refusal> {
    let partner = require_known(&app, &partner).await?;
    answer(&app, &partner)
}

/// Shows how the partner's tools did in the last hour, every ten seconds: calls, failures and times, beside the targets.
///
/// It is of the gateway that answers, and since its start at most.
#[utoipa::path(
    get, path = "/api/v1/business/tier1/accounts/{account_id}/traffic", tag = "business",
    params(("account_id" = String, Path, description = "The account")),
    security(("bearer" = ["partner"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The samples", body = PartnerTraffic),
        (status = 404, description = "`NOT_FOUND`: no such account", body = ErrorBody),
    )
)]
async fn show_own_traffic(State(app): State<Arc<App>>, acting: Acting) -> Result<Response, Refusal> {
    if !is_known(&app, acting.account.as_str()).await? {
        return Err(no_account());
    }
    answer(&app, &acting.account)
}

fn answer(app: &App, partner: &PartnerId) -> Result<Response, Refusal> {
    let tools = lately().tools_of(partner.as_str());
    let now = app.searcher.clock.now();
    let view = app.health.view_of(partner, now).unwrap_or_else(|| PartnerView::unheard(partner, now));
    let targets = |intent: &str, tool: &str| {
        let known = view.intents.iter().filter(|one| one.intent.as_str() == intent);
        known.flat_map(|one| &one.tools).find(|one| one.tool == tool).map(|one| one.targets)
    };
    let bytes = wire::SMALL_BYTES + tools.len() * SAMPLES_KEPT * SAMPLE_BYTES;
    wire::json(StatusCode::OK, &PartnerTraffic::new(partner.as_str(), &tools, targets), bytes)
}
