//! Partners' health: how long they take, who is out of a pool or behind an open breaker, and the strikes against them.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::StatusCode;
use intent_gateway_domain::contract::{self, Violation};
use intent_gateway_domain::health::StrikeCounter as _;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_onboarding::{OnboardingError, StrikeOrder, TEXT_MAX_CHARS};
use intent_gateway_outbound::health::PartnerView;

use crate::App;
use crate::acting::{Page, PageQuery, Team};
use crate::admin::is_known;
use crate::body::JsonText;
use crate::error::{Code, ErrorBody, Refusal};
use crate::fields::Fields;
use crate::onboarding_wire::{HealthBody, HealthList, StrikeRequest, StrikeTaken};
use crate::wire;

/// About what a partner takes, bytes: three tools of one intent.
const PARTNER_BYTES: usize = 1_536;
/// Characters of the code of a rule.
const CODE_MAX_CHARS: usize = 64;
/// Characters of an order's identifier.
const ORDER_MAX_CHARS: usize = 200;

/// Shows how partners fare in service.
#[utoipa::path(
    get, path = "/api/v1/admin/health", tag = "admin",
    params(
        ("after" = Option<String>, Query, description = "`next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Partners of a page, 1 to 500; 100 when absent"),
    ),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "A page of partners' health", body = HealthList<'static>),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody<'static>),
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
    let partners: Vec<_> = views.iter().map(|view| HealthBody::new(view, routed.contains(&view.partner))).collect();
    let next = page.next(partners.len(), views.last().map(|view| view.partner.to_string()));
    let bytes = partners.len() * PARTNER_BYTES;
    wire::json(StatusCode::OK, &HealthList { partners, next }, bytes)
}

/// Shows how one partner fares in service.
#[utoipa::path(
    get, path = "/api/v1/admin/partners/{partner}/health", tag = "admin",
    params(("partner" = String, Path, description = "Partner identifier")),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The partner's health", body = HealthBody<'static>),
        (status = 404, description = "`NOT_FOUND`: no such partner", body = ErrorBody<'static>),
    )
)]
pub(super) async fn show_health(State(app): State<Arc<App>>, Path(partner): Path<String>) -> Result<Response, Refusal> {
    let id = known(&app, &partner).await?;
    let view = view(&app, &id);
    let routed = app.searcher.directory.find(&id).is_some();
    wire::json(StatusCode::OK, &HealthBody::new(&view, routed), PARTNER_BYTES)
}

/// Takes down a strike that no answer and no report shows, such as a warranty re-service that was declined.
///
/// It counts as those that the gateway finds itself: three incidents of one code within 90 days suspend the partner.
#[utoipa::path(
    post, path = "/api/v1/admin/partners/{partner}/strikes", tag = "admin",
    params(("partner" = String, Path, description = "Partner identifier")),
    request_body = StrikeRequest,
    security(("bearer" = ["admin"])),
    responses(
        (status = 202, description = "Taken down; it counts within moments", body = StrikeTaken<'static>),
        (status = 400, description = "`INVALID_REQUEST`, with every violation; `INVALID_INTENT` for what is no intent's name", body = ErrorBody<'static>),
        (status = 404, description = "`NOT_FOUND`: no such partner", body = ErrorBody<'static>),
    )
)]
pub(super) async fn strike(
    State(app): State<Arc<App>>,
    Path(partner): Path<String>,
    Team(actor): Team,
    JsonText(body): JsonText,
) -> Result<Response, Refusal> {
    let order = read_strike(&body)?;
    let id = known(&app, &partner).await?;
    let finding = app.onboarding.record_strike(&id, &order, &actor).await?;
    app.searcher.journal.record(finding);
    let taken = StrikeTaken { partner: id.as_str(), code: &order.code, external_id: &order.external_id };
    wire::json(StatusCode::ACCEPTED, &taken, wire::SMALL_BYTES)
}

fn read_strike(body: &str) -> Result<StrikeOrder, Refusal> {
    let mut fields = Fields::of(body);
    let [name, code, external_id] = ["intent", "code", "external_id"].map(|name| fields.text(name));
    let reason = fields.prose("reason");
    let is_code = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    if code.is_empty() || code.len() > CODE_MAX_CHARS || !code.chars().all(is_code) {
        fields.breach("/code", "WRONG_FORMAT", "expected a code in UPPER_SNAKE_CASE".to_owned());
    }
    for (pointer, text, max) in [("/external_id", &external_id, ORDER_MAX_CHARS), ("/reason", &reason, TEXT_MAX_CHARS)]
    {
        if text.trim().is_empty() || text.chars().count() > max {
            fields.breach(pointer, "OUT_OF_RANGE", format!("expected 1 to {max} characters"));
        }
    }
    fields.finish()?;
    let intent = IntentId::parse(&name).map_err(|error| {
        let code = "INVALID_INTENT".to_owned();
        let (pointer, message) = ("/intent".to_owned(), error.to_string());
        let violations = vec![Violation { pointer, code: code.clone(), message }];
        OnboardingError::Refused(contract::Refusal { code, violations })
    })?;
    Ok(StrikeOrder { intent, code, external_id, reason })
}

/// The identifier of a partner that there is.
async fn known(app: &App, partner: &str) -> Result<PartnerId, Refusal> {
    match PartnerId::parse(partner) {
        Ok(id) if is_known(app, partner).await? => Ok(id),
        _ => Err(Refusal::new(Code::NotFound).message("There is no such partner.")),
    }
}

/// A partner's health; that of one which nothing is known of is well.
fn view(app: &App, id: &PartnerId) -> PartnerView {
    let now_ms = app.onboarding.clock.now_ms();
    app.health.view_of(id, now_ms).unwrap_or_else(|| PartnerView::unheard(id, now_ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strikes_are_read() {
        let good = r#"{"intent":"auto.fix","code":"WARRANTY_DECLINED","external_id":"BK-1","reason":"told\nby phone"}"#;
        let order = read_strike(good).expect("read");
        assert_eq!((order.intent.as_str(), order.code.as_str()), ("auto.fix", "WARRANTY_DECLINED"));
        assert_eq!((order.external_id.as_str(), order.reason.as_str()), ("BK-1", "told\nby phone"));
        let long = good.replace("BK-1", &"B".repeat(201));
        for bad in [
            "{}",
            &good.replace("auto.fix", "fix"),
            &good.replace("WARRANTY_DECLINED", "warranty declined"),
            &good.replace("BK-1", " "),
            &good.replace("told\\nby phone", ""),
            &long,
        ] {
            assert!(read_strike(bad).is_err(), "{bad}");
        }
    }
}
