//! The changes of an orchestrator's orders, as they come.

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use intent_gateway_api::orders::OrderChange;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::user::Orchestrator;
use intent_gateway_routing::following::End;
use intent_gateway_routing::orders::ChangesPage;

use super::body::EventBody;
use super::event::{self, Ending};
use super::respond;
use super::turns::Turn;
use crate::App;
use crate::connections::Answering;
use crate::error::Refusal;

/// How often the store is asked for what has changed.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Orders that are read at once.
const PAGE: u32 = 100;
/// How long a stream lasts, milliseconds: it outlasts the token with which it was opened by no more than that.
const LASTS_MS: u64 = 60 * 60 * 1_000;
/// About what an event takes, bytes.
const EVENT_BYTES: usize = 512;

/// Tells of changes after a cursor, and then as they come.
pub(crate) async fn order_changes(
    app: Arc<App>,
    orchestrator: Orchestrator,
    after: Option<String>,
    reading: Option<Answering>,
) -> Result<Response, Refusal> {
    let turn = app.streams.order_feeds.enter(&orchestrator)?;
    let place = app.streams.place()?;
    // What cannot begin is refused with a status.
    let page = app.orders.changes(&orchestrator, after.as_deref(), PAGE).await?;
    let (heartbeat, draining) = (app.streams.heartbeat, app.draining.clone());
    let ends_at = app.searcher.clock.now().plus_ms(LASTS_MS);
    let telling = Telling { app, orchestrator, cursor: page.cursor.clone(), ends_at, _turn: turn };
    let items = stream::unfold(Some((telling, Some(page))), |state| async move {
        let (telling, page) = state?;
        Some(telling.go_on(page).await)
    });
    Ok(respond(EventBody::new(items.boxed(), heartbeat, reading, place).until(draining)))
}

/// Puts changes into words, for one reader.
struct Telling {
    app: Arc<App>,
    orchestrator: Orchestrator,
    /// After what the next changes come.
    cursor: String,
    ends_at: Timestamp,
    _turn: Turn,
}

impl Telling {
    /// The next events, and with what it goes on after them; `page` was read before.
    async fn go_on(mut self, mut page: Option<ChangesPage>) -> (Bytes, Option<(Self, Option<ChangesPage>)>) {
        loop {
            if let Some(page) = page.take().filter(|page| !page.orders.is_empty()) {
                let events = self.write(&page);
                self.cursor = page.cursor;
                return (events, Some((self, None)));
            }
            match self.look().await {
                Ok(read) if !read.orders.is_empty() => page = Some(read),
                Ok(_) if self.app.searcher.clock.now() >= self.ends_at => return (self.end(End::TimeLimit), None),
                Ok(_) => self.app.streams.timer.wait(LOOK_EVERY).await,
                Err(ending) => return (self.end(ending), None),
            }
        }
    }

    async fn look(&self) -> Result<ChangesPage, End> {
        let page = self.app.orders.changes(&self.orchestrator, Some(&self.cursor), PAGE).await;
        page.map_err(|error| {
            tracing::error!(error = &error as &dyn std::error::Error, "changes of orders cannot be told");
            End::Interrupted
        })
    }

    fn write(&self, page: &ChangesPage) -> Bytes {
        let now = self.app.searcher.clock.now();
        let mut events = Vec::with_capacity(page.orders.len() * EVENT_BYTES);
        for changed in &page.orders {
            let change = OrderChange::new(&changed.order, now);
            events.extend_from_slice(&event::event("order", Some(&changed.cursor), &change, EVENT_BYTES));
        }
        events.into()
    }

    fn end(&self, end: End) -> Bytes {
        event::end(Some(&self.cursor), Ending::Of(end))
    }
}
