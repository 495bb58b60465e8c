//! Following an order: the answers of its track tool, as they change.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use bytes::Bytes;
use futures_util::StreamExt as _;
use http::HeaderMap;
use intent_gateway_api::tool::{ToolAnswer, ToolRequest};
use intent_gateway_routing::calling::CallError;
use intent_gateway_routing::following::{Delivery, End, Event, EventId, FollowError, Subject};
use intent_gateway_routing::pinned::PinnedFailure;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::EventBody;
use super::event::{self, Ending};
use super::{LAST_EVENT_ID, respond};
use crate::App;
use crate::acting::Asking;
use crate::body::Json;
use crate::connections::Answering;
use crate::error::{Code, ErrorBody, Refusal};
use crate::naming::NamedIntent;
use crate::request_id::RequestId;

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default().routes(routes!(follow_tool))
}

/// Data of an event, with how many events before it were not sent.
#[derive(Serialize)]
struct EventData<T> {
    #[serde(flatten)]
    data: T,
    #[serde(skip_serializing_if = "is_zero")]
    missed: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What the partner told of its work.
#[derive(Serialize, ToSchema)]
#[schema(as = FollowProgress)]
pub(super) struct Progress<'a> {
    /// Those of its `notifications/progress`, without the token.
    #[schema(value_type = Object)]
    params: &'a RawValue,
}

/// Follows an order: the answers of a track tool, as they change, and what the partner tells of its work meanwhile.
///
/// The body is that of the call of the tool. The answer is a stream of server-sent events: `update` holds the tool's answer, as
/// the call gives it, whenever it is another than the one before; `progress` what a partner that streams has told, under
/// `params`; `error` the body of a refusal, after which the tool is called again; `end` says why nothing follows, and
/// whether it is worth asking again. A partner that does not stream is called every five seconds at most; all who
/// follow an order for one user share these calls.
///
/// Whoever comes back after a cut names the last event that it has seen with `Last-Event-ID` and gets what it has missed, or the
/// newest answer where that is no longer kept. A reader that is too slow gets the newest answer as well; `missed`
/// in it counts what it has not been sent. Between events, a comment shows every while that the stream is alive.
#[utoipa::path(
    post, path = "/api/v1/intents/{intent}/tools/{tool}/stream", tag = "orchestrator",
    params(
        ("intent" = String, Path, description = "Intent identifier", example = "mobility.book_ride"),
        ("tool" = String, Path, description = "Name of a track tool", example = "track_ride"),
        ("x-user-id" = Option<String>, Header, description = "The user, by a pseudonym of the orchestrator's own"),
        ("last-event-id" = Option<String>, Header, description = "The `id` of the last event that was seen; one that is not \
            known any more is ignored"),
    ),
    request_body = ToolRequest,
    security(("bearer" = ["orchestrator"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "Events until the `end`", body = String, content_type = "text/event-stream"),
        (
            status = "4XX",
            description = "As the call of the tool is refused before the partner is called; `NOT_FOUND` where the tool is no \
                track tool",
            body = ErrorBody
        ),
        (status = "5XX", description = "Likewise; `OVERLOADED`: too many streams are open", body = ErrorBody),
    )
)]
async fn follow_tool(
    State(app): State<Arc<App>>,
    Path((intent, tool)): Path<(String, String)>,
    reading: Option<Extension<Answering>>,
    headers: HeaderMap,
    Asking { asker, request_id, trace }: Asking,
    Json(request): Json<ToolRequest>,
) -> Result<Response, Refusal> {
    let place = app.streams.place()?;
    let named = NamedIntent::of(&app, intent);
    let subject = Subject {
        asker,
        reference: request.reference,
        arguments: named.raw_document(&request.arguments),
        fallback_request_id: request_id.as_str().to_owned(),
        trace: Some(trace),
        intent: named.name.clone(),
        tool: tool.clone(),
    };
    let joined = app.streams.following.follow(subject, last_seen(&headers)).await;
    let joined = joined.map_err(|error| match error {
        FollowError::Full => Refusal::new(Code::Overloaded),
        FollowError::Refused(failed) => match *failed {
            PinnedFailure { error: CallError::UnknownTool(tool), .. } => {
                Refusal::new(Code::NotFound).message(format!("The intent has no track tool `{tool}`."))
            }
            failed => failed.into(),
        },
    })?;
    if let Some(driver) = joined.driver {
        let draining = app.draining.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = driver => {}
                () = draining.cancelled() => {}
            }
        });
    }
    let (heartbeat, draining) = (app.streams.heartbeat, app.draining.clone());
    let telling = Telling { app, intent: named.name, tool, request_id };
    let items = joined.follower.map(move |delivery| telling.written(&delivery)).boxed();
    let reading = reading.map(|Extension(reading)| reading);
    Ok(respond(EventBody::new(items, heartbeat, reading, place).until(draining)))
}

/// The event that a reader has seen last. What is no identifier, or another's, is as good as none: the reader then begins
/// with the newest answer.
fn last_seen(headers: &HeaderMap) -> Option<EventId> {
    headers.get(LAST_EVENT_ID)?.to_str().ok()?.parse().ok()
}

/// Puts events into words, for one reader.
struct Telling {
    app: Arc<App>,
    intent: String,
    tool: String,
    request_id: RequestId,
}

impl Telling {
    fn written(&self, delivery: &Delivery) -> Bytes {
        let Delivery { id, missed, event } = delivery;
        let missed = *missed;
        match event {
            Event::Progress(params) => {
                let data = EventData { data: Progress { params }, missed };
                event::event("progress", Some(id), &data, params.get().len())
            }
            Event::Update(outcome) => {
                let answer = ToolAnswer::of(&self.intent, &self.tool, outcome);
                let capacity = answer.estimate_bytes();
                event::event("update", Some(id), &EventData { data: answer, missed }, capacity)
            }
            Event::Failed(failed) => {
                let refusal = Refusal::from(PinnedFailure::clone(failed));
                let data = EventData { data: refusal.body(self.request_id.as_str()), missed };
                event::event("error", Some(id), &data, crate::wire::SMALL_BYTES)
            }
            // Its work is broken off by a shutdown, and by nothing else in the ordinary course.
            Event::End(End::Interrupted) if self.app.draining.is_cancelled() => event::end(None, Ending::Shutdown),
            Event::End(end) => event::end(Some(id), Ending::Of(*end)),
        }
    }
}
