//! What comes of a form, told piece by piece while it happens. It ends with what it tells of, with its session, and with the page that
//! hears it.

use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::response::Response;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use intent_gateway_domain::secret::Secret;
use intent_gateway_http::inside::Reading;

use super::{StreamPlace, end, event, signed_out};
use crate::Console;
use crate::failure::Failed;
use crate::session::{Face, cookie_of};
use crate::visitor::{Fields, OfFace, Sent, Visitor};

/// A form of a page of the same session, whose answer is heard as a stream.
pub(crate) struct SentToHear<V> {
    pub(crate) of_face: V,
    pub(crate) fields: Fields,
    pub(crate) hearing: Hearing,
}

/// Who hears a stream.
pub(crate) struct Hearing {
    pub(crate) console: Arc<Console>,
    face: Face,
    held: Secret,
    reading: Reading,
}

impl<V: OfFace + FromRequestParts<Arc<Console>, Rejection = Response>> FromRequest<Arc<Console>> for SentToHear<V> {
    type Rejection = Response;

    async fn from_request(request: Request, console: &Arc<Console>) -> Result<Self, Response> {
        let (parts, body) = request.into_parts();
        let held = cookie_of(&parts.headers, V::FACE).ok_or_else(signed_out)?;
        let hearing = Hearing { console: console.clone(), face: V::FACE, held, reading: Reading::of(&parts) };
        let Sent(of_face, fields) = Sent::from_request(Request::from_parts(parts, body), console).await?;
        Ok(Self { of_face, fields, hearing })
    }
}

/// A stream under way.
struct Telling {
    console: Arc<Console>,
    face: Face,
    held: Secret,
    pieces: BoxStream<'static, String>,
    _place: StreamPlace,
}

/// Sends the pieces, each in the place of the one before.
pub(crate) fn tell(
    hearing: Hearing,
    visitor: &Visitor,
    pieces: BoxStream<'static, String>,
) -> Result<Response, Failed> {
    let Hearing { console, face, held, reading } = hearing;
    let record = &visitor.session.record;
    let place = console.streams(face).take(&record.key, &record.who).ok_or(Failed::Busy)?;
    let telling = Telling { console: console.clone(), face, held, pieces, _place: place };
    let events = stream::unfold(Some(telling), |telling| async move {
        let mut telling = telling?;
        let Some(piece) = telling.pieces.next().await else { return Some((end("complete"), None)) };
        // Whoever is signed out meanwhile is told no more. While the store does not answer, nobody knows.
        let goes_on = telling.console.sessions.goes_on(telling.face, &telling.held).await;
        if !goes_on.unwrap_or(true) {
            return Some((end("closed"), None));
        }
        Some((event(None, &piece), Some(telling)))
    });
    Ok(console.inside.stream(reading, events.boxed()))
}
