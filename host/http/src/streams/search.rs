//! A search that shows what it has while it waits for the rest.

use std::sync::Arc;

use axum::response::Response;
use bytes::Bytes;
use futures_util::StreamExt as _;
use intent_gateway_api::search::SearchAnswer;
use intent_gateway_routing::following::End;
use intent_gateway_routing::search::{SearchRequest, Snapshot};
use serde::Serialize;
use utoipa::ToSchema;

use super::body::EventBody;
use super::event::{self, Ending};
use super::respond;
use crate::App;
use crate::connections::Answering;
use crate::error::Refusal;
use crate::request_id::RequestId;

/// A whole answer, over those who have answered so far.
#[derive(Serialize, ToSchema)]
pub(super) struct SearchSnapshot<'a> {
    #[serde(flatten)]
    answer: SearchAnswer<'a>,
    /// Whether nothing is missing: no other snapshot follows.
    complete: bool,
    /// Identifiers of the partners that have not answered yet.
    awaited: Vec<&'a str>,
}

/// Searches, with a snapshot after each partner's answer.
pub(crate) async fn search(
    app: Arc<App>,
    request: SearchRequest<'_>,
    request_id: RequestId,
    reading: Option<Answering>,
) -> Result<Response, Refusal> {
    let place = app.streams.place()?;
    let snapshots = Arc::clone(&app.searcher).search_progressively(request, Arc::clone(&app.streams.timer)).await;
    let heartbeat = app.streams.heartbeat;
    let items = snapshots?.map(move |snapshot| match snapshot {
        Ok(snapshot) => write_snapshot(&snapshot),
        Err(failed) => {
            let refusal = Refusal::from(failed);
            let event = event::event("error", None, &refusal.body(request_id.as_str()), crate::wire::SMALL_BYTES);
            [event, event::end(None, Ending::Of(End::Failed))].concat().into()
        }
    });
    // It is over within the deadline of a search, so a shutdown waits for it as for any other.
    Ok(respond(EventBody::new(items.boxed(), heartbeat, reading, place)))
}

fn write_snapshot(snapshot: &Snapshot) -> Bytes {
    let answer = SearchAnswer::from(&snapshot.outcome);
    let capacity = answer.estimate_bytes();
    let awaited: Vec<&str> = snapshot.awaited.iter().map(|partner| partner.id.as_str()).collect();
    let complete = awaited.is_empty();
    let event = event::event("snapshot", None, &SearchSnapshot { answer, complete, awaited }, capacity);
    if complete { [event, event::end(None, Ending::Of(End::Complete))].concat().into() } else { event }
}
