//! Receipts for authors of contracts, without the people whose rankings they are, one event each.

use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use bytes::Bytes;
use futures_util::StreamExt as _;
use intent_gateway_compare::{ExportError, ExportEvent, ExportOrder};
use intent_gateway_domain::accesses::Access;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::IntentId;
use intent_gateway_routing::following::End;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::EventBody;
use super::compare::{SINCE_MS, refuse_ended};
use super::event::{self, Ending};
use super::respond;
use crate::App;
use crate::acting::{QueryTime, Team};
use crate::connections::Answering;
use crate::error::{Code, ErrorBody, Refusal};
use crate::request_id::RequestId;
use crate::wire::SMALL_BYTES;

/// Receipts of one export, at most, and where nothing is said.
const LIMIT_MAX: u64 = 1_000_000;
const LIMIT: u64 = 10_000;
/// About what a receipt takes, bytes.
const RECEIPT_BYTES: usize = 16 * 1024;
/// Another export is under way.
const EXPORT_UNDER_WAY: &str = "EXPORT_UNDER_WAY";

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default().routes(routes!(export_receipts))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExportQuery {
    intent: IntentId,
    since_ms: Option<QueryTime>,
    limit: Option<u64>,
}

/// Exports receipts of an intent without the people whose rankings they are, for authors who compare versions elsewhere.
///
/// A text or number of the request that fewer than five users have given is replaced, also where options repeat it; the version that has
/// ranked ranks again, and what it does not rank any more is left out. The answer is a stream of events: `counted` while receipts are
/// looked through, `receipt` for each, the latest first, `summary` once, and `end`. Whoever goes away stops it. One runs at a time at
/// each gateway, on threads that give way to all others.
#[utoipa::path(
    post, path = "/api/v1/admin/receipts/export", tag = "admin",
    params(
        ("intent" = String, Query, description = "The intent", example = "auto.book_ac_service"),
        ("since_ms" = Option<u64>, Query, description = "Receipts from then on, milliseconds since the epoch; seven days when \
            absent"),
        ("limit" = Option<u64>, Query, description = "At most so many receipts, the latest; 1 to 1,000,000, 10,000 when absent"),
    ),
    security(("bearer" = ["admin"])),
    responses(
        (status = 200, description = "Events until the `end`; the data of `receipt` is described by `RankingReceipt`, that of \
            `summary` by `ExportSummary`", body = String, content_type = "text/event-stream"),
        (status = 400, description = "`INVALID_REQUEST`: a query parameter", body = ErrorBody),
        (status = 409, description = "`EXPORT_UNDER_WAY`: one runs at a time", body = ErrorBody),
    )
)]
async fn export_receipts(
    State(app): State<Arc<App>>,
    query: Result<Query<ExportQuery>, QueryRejection>,
    Team(team): Team,
    reading: Option<Extension<Answering>>,
    Extension(request_id): Extension<RequestId>,
) -> Result<Response, Refusal> {
    let now = app.searcher.clock.now();
    let Query(ExportQuery { intent, since_ms, limit }) = query.map_err(|_| invalid())?;
    let limit = limit.unwrap_or(LIMIT);
    if !(1..=LIMIT_MAX).contains(&limit) {
        return Err(invalid());
    }
    let since = since_ms.map_or(now.minus_ms(SINCE_MS), QueryTime::get);
    let events = app.exports.begin(ExportOrder { intent: intent.clone(), since, limit })?;
    let what = Some(format!("at most {limit} since {}", since.as_ms()));
    app.accesses.note(Access {
        at: now,
        actor: team,
        action: "receipts.exported",
        subject: intent.to_string(),
        what,
        names_all: false,
    });
    let items = events.map(move |told| say(told, &request_id)).boxed();
    let body = EventBody::new(items, app.streams.heartbeat, reading.map(|Extension(reading)| reading), None);
    Ok(respond(body.until(app.draining.clone())))
}

/// How far an export is before its first receipt.
#[derive(Serialize, ToSchema)]
#[schema(as = ExportCounted)]
pub(super) struct Counted {
    /// Receipts that were looked through.
    receipts: u64,
}

fn say(told: ExportEvent, request_id: &RequestId) -> Bytes {
    match told {
        ExportEvent::Counted(receipts) => event::event("counted", None, &Counted { receipts }, SMALL_BYTES),
        ExportEvent::Receipt(receipt) => event::event("receipt", None, &receipt, RECEIPT_BYTES),
        ExportEvent::Done(summary) => {
            let summary = event::event("summary", None, &summary, SMALL_BYTES);
            [summary, event::end(None, Ending::Of(End::Complete))].concat().into()
        }
        ExportEvent::Failed(error) => {
            tracing::error!(error = chain(&error), "an export came to no end");
            refuse_ended(&error, request_id)
        }
    }
}

fn invalid() -> Refusal {
    Refusal::new(Code::InvalidRequest).message(format!(
        "The query parameters are `intent`, `since_ms` and `limit` (1 to {LIMIT_MAX}); `intent` is required."
    ))
}

impl From<ExportError> for Refusal {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::UnderWay => Self::conflict(
                EXPORT_UNDER_WAY,
                "Another export is under way at this gateway; wait until it has ended.",
            ),
            ExportError::NoEntropy(_) => Self::new(Code::InternalError).internal(chain(&error)),
        }
    }
}
