//! Partners' health: how long they take, who is out of a pool or behind an open breaker, and the strikes against them.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::StatusCode;
use intent_gateway_api::health::{HealthBody, HealthList, StrikeRequest, StrikeTaken};
use intent_gateway_domain::health::StrikeCounter as _;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_onboarding::StrikeOrder;
use intent_gateway_outbound::health::PartnerView;

use crate::App;
use crate::acting::{Page, PageQuery, Team};
use crate::admin::require_known;
use crate::body::Json;
use crate::error::{ErrorBody, Refusal};
use crate::wire;

/// About what a partner takes, bytes: three tools of one intent.
const PARTNER_BYTES: usize = 1_536;

/// Shows how partners fare in service.
#[utoipa::path(
    get, path = "/api/v1/admin/health", tag = "admin",
    params(
        ("after" = Option<String>, Query, description = "`next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Partners of a page, 1 to 500; 100 when absent"),
    ),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "A page of partners' health", body = HealthList),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody),
    )
)]
pub(super) async fn list_health(
    State(app): State<Arc<App>>,
    query: Result<Query<PageQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let page = Page::of(query, &[])?;
    let routed: HashSet<PartnerId> = app.searcher.directory.all().iter().map(|partner| partner.id.clone()).collect();
    let mut known: BTreeSet<PartnerId> = app.health.struck().into_iter().collect();
    known.extend(routed.iter().cloned());
    let after = page.after.as_deref();
    let chosen = known.iter().filter(|id| after.is_none_or(|after| id.as_str() > after)).take(page.limit as usize);
    let views: Vec<PartnerView> = chosen.map(|id| view(&app, id)).collect();
    let next = page.next(views.len(), views.last().map(|view| view.partner.to_string()));
    let body = |view: PartnerView| {
        let routed = routed.contains(&view.partner);
        HealthBody::new(view, routed)
    };
    let partners: Vec<HealthBody> = views.into_iter().map(body).collect();
    let bytes = partners.len() * PARTNER_BYTES;
    wire::json(StatusCode::OK, &HealthList { partners, next }, bytes)
}

/// Shows how one partner fares in service.
#[utoipa::path(
    get, path = "/api/v1/admin/partners/{partner}/health", tag = "admin",
    params(("partner" = String, Path, description = "Partner identifier")),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The partner's health", body = HealthBody),
        (status = 404, description = "`NOT_FOUND`: no such partner", body = ErrorBody),
    )
)]
pub(super) async fn show_health(State(app): State<Arc<App>>, Path(partner): Path<String>) -> Result<Response, Refusal> {
    let id = require_known(&app, &partner).await?;
    let view = view(&app, &id);
    let routed = app.searcher.directory.find(&id).is_some();
    wire::json(StatusCode::OK, &HealthBody::new(view, routed), PARTNER_BYTES)
}

/// Records a strike that no answer and no report shows, such as a warranty re-service that was declined.
///
/// It counts as those that the gateway finds itself: three incidents of one code within 90 days suspend the partner.
#[utoipa::path(
    post, path = "/api/v1/admin/partners/{partner}/strikes", operation_id = "record_strike", tag = "admin",
    params(("partner" = String, Path, description = "Partner identifier")),
    request_body = StrikeRequest,
    security(("bearer" = ["admin"])),
    responses(
        (status = 202, description = "Recorded; it counts within moments", body = StrikeTaken),
        (status = 400, description = "`INVALID_REQUEST`, with every violation; `INVALID_INTENT` for what is no intent's name", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: no such partner", body = ErrorBody),
    )
)]
pub(super) async fn strike(
    State(app): State<Arc<App>>,
    Path(partner): Path<String>,
    Team(actor): Team,
    Json(StrikeRequest { intent, code, external_id, reason }): Json<StrikeRequest>,
) -> Result<Response, Refusal> {
    let order = StrikeOrder { intent: super::intent(&*app.searcher.contracts, &intent)?, code, external_id, reason };
    let id = require_known(&app, &partner).await?;
    let finding = app.onboarding.strikes.record_strike(&id, &order, &actor).await?;
    app.searcher.journal.record(finding);
    let taken = StrikeTaken { partner: id.to_string(), code: order.code, external_id: order.external_id };
    wire::json(StatusCode::ACCEPTED, &taken, wire::SMALL_BYTES)
}

/// A partner's health; that of one which nothing is known of is well.
fn view(app: &App, id: &PartnerId) -> PartnerView {
    let now = app.searcher.clock.now();
    app.health.view_of(id, now).unwrap_or_else(|| PartnerView::unheard(id, now))
}
