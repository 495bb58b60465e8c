//! What moves on a page while it is open.
//!
//! The part of a page that moves has an address of its own, at which it comes as a stream of events: whole, as soon as the page is
//! open, and again whenever it is not what it was. For that the stream looks every so often, which is to ask the API what the page has
//! asked. Nothing is kept of it but what was sent last; a reader that takes nothing has nothing made for it.
//!
//! A look is a repeated read ([`Origin::again`]): it counts in no quota and stands in no log, for what opened the stream did. It does not
//! keep the session in use either. A stream ends with its session, after [`LASTS`], when looks keep failing, and when the gateway shuts
//! down; the page says that it is not live then, and asks anew.
//!
//! A form may be answered by a stream as well, which tells what comes of it ([`telling`]).
//!
//! [`Origin::again`]: intent_gateway_http::inside::Origin::again

mod places;
mod telling;

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::StatusCode;
use http::request::Parts;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::secret::Secret;
use intent_gateway_http::inside::{Page, Reading};
use tokio::time::Instant;

pub(crate) use self::places::StreamPlaces;
pub(crate) use self::telling::{SentToHear, tell};
use crate::Console;
use crate::api::ApiError;
use crate::failure::Failed;
use crate::session::Face;
use crate::visitor::{OfFace, Visitor};
use places::StreamPlace;

/// Streams of the team's pages at once.
pub(crate) const TEAM_STREAMS_MAX: usize = 64;
/// Of these, how many look at once: they take less than half of the places in which the API works for the team.
pub(crate) const TEAM_LOOKS_MAX: usize = 2;
/// Streams of partners' pages at once.
pub(crate) const PARTNER_STREAMS_MAX: usize = 256;
/// Of these, how many look at once.
pub(crate) const PARTNER_LOOKS_MAX: usize = 4;
/// How often a stream looks. What happens just after a look is seen at the next, and is to be shown within a second.
const LOOK_EVERY: Duration = Duration::from_millis(750);
/// How often a page hears something, so that it can tell a stream that is quiet from one that is broken.
const BEAT_EVERY: Duration = Duration::from_secs(5);
/// How long a stream lasts. The page asks for another one then, which is counted and noted as this one was.
const LASTS: Duration = Duration::from_secs(10 * 60);
/// How long one look may take.
const LOOK_TIMEOUT: Duration = Duration::from_secs(10);
/// Looks that may fail one after the other. What is shown is older than they are, and the page is to say so.
const FAILURES_MAX: u32 = 3;

/// A visitor whose page is open, and asks for what moves on it.
pub(crate) struct Follower<V> {
    of_face: V,
    console: Arc<Console>,
    held: Secret,
    reading: Reading,
}

impl<V: OfFace> FromRequestParts<Arc<Console>> for Follower<V> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, console: &Arc<Console>) -> Result<Self, Response> {
        let found = Visitor::unnoted(parts, console, V::FACE).await.map_err(Failed::into_response)?;
        // A script asks: it is told, and led nowhere.
        let (held, visitor) = found.ok_or_else(signed_out)?;
        Ok(Self { of_face: V::of(visitor), console: console.clone(), held, reading: Reading::of(parts) })
    }
}

fn signed_out() -> Response {
    let mut response = StatusCode::UNAUTHORIZED.into_response();
    response.extensions_mut().insert(Page);
    response
}

/// Makes the part of a page that moves, once.
type Making = Pin<Box<dyn Future<Output = Result<String, Failed>> + Send>>;

/// Sends the part of a page that moves, as often as it is another one.
pub(crate) async fn follow<V: OfFace>(
    follower: Follower<V>,
    make: impl Fn(Arc<Visitor>) -> Making + Send + Sync + 'static,
) -> Result<Response, Failed> {
    let Follower { of_face, console, held, reading } = follower;
    let visitor = of_face.into_visitor();
    let record = &visitor.session.record;
    let places = console.streams(V::FACE).clone();
    let place = places.take(&record.key, &record.who).ok_or(Failed::Busy)?;
    let now = Instant::now();
    let mut following = Following {
        console: console.clone(),
        places,
        face: V::FACE,
        held,
        visitor: Arc::new(visitor),
        make,
        sent: None,
        failures: 0,
        looks_at: now + LOOK_EVERY,
        beats_at: now + BEAT_EVERY,
        ends_at: now + LASTS,
        _place: place,
    };
    // What cannot begin is refused with a status.
    let first = following.look().await.map_err(tell_script)?.unwrap_or_default();
    let again = following.visitor.again();
    following.visitor = Arc::new(again);
    let first = stream::iter([event(None, &first)]);
    let rest = stream::unfold(Some(following), |following| async move { Some(following?.go_on().await) });
    Ok(console.inside.stream(reading, first.chain(rest).boxed()))
}

/// A stream under way.
struct Following<M> {
    console: Arc<Console>,
    places: Arc<StreamPlaces>,
    face: Face,
    held: Secret,
    visitor: Arc<Visitor>,
    make: M,
    /// What was sent last.
    sent: Option<Digest>,
    /// Looks that have failed since the last that has not.
    failures: u32,
    looks_at: Instant,
    beats_at: Instant,
    ends_at: Instant,
    _place: StreamPlace,
}

impl<M: Fn(Arc<Visitor>) -> Making> Following<M> {
    /// What is sent next, and with what it goes on.
    async fn go_on(mut self) -> (Bytes, Option<Self>) {
        loop {
            tokio::time::sleep_until(self.looks_at).await;
            // Counted from here: a look that takes long does not make them more frequent.
            let now = Instant::now();
            self.looks_at = now + LOOK_EVERY;
            if now >= self.ends_at {
                return (end("time_limit"), None);
            }
            match self.look().await {
                Ok(Some(changed)) => {
                    self.failures = 0;
                    return (event(None, &changed), Some(self));
                }
                Ok(None) => self.failures = 0,
                Err(failed) if is_final(&failed) => return (end("closed"), None),
                Err(failed) => {
                    self.failures += 1;
                    if self.failures >= FAILURES_MAX {
                        let error = intent_gateway_domain::error::chain(&failed);
                        tracing::debug!(error, "a page is not live any more");
                        return (end("interrupted"), None);
                    }
                }
            }
            if self.failures == 0 && Instant::now() >= self.beats_at {
                self.beats_at = Instant::now() + BEAT_EVERY;
                return (event(Some("beat"), ""), Some(self));
            }
        }
    }

    /// Looks once; what it sees, where that is not what was sent last.
    async fn look(&mut self) -> Result<Option<String>, Failed> {
        let turn = self.places.look().await.ok_or(Failed::Busy)?;
        if !self.console.sessions.goes_on(self.face, &self.held).await? {
            return Err(Failed::SignedOut);
        }
        let made = tokio::time::timeout(LOOK_TIMEOUT, (self.make)(self.visitor.clone())).await;
        drop(turn);
        let made = made.map_err(|_elapsed| Failed::Late)??;
        let digest = Digest::of(made.as_bytes());
        if self.sent == Some(digest) {
            return Ok(None);
        }
        self.sent = Some(digest);
        Ok(Some(made))
    }
}

/// Whoever is signed out is led to where one signs in; a script is told so.
fn tell_script(failed: Failed) -> Failed {
    match failed {
        Failed::Api(error) if error.is_signed_out() => Failed::SignedOut,
        failed => failed,
    }
}

/// Whether it will not be better at the next look.
fn is_final(failed: &Failed) -> bool {
    match failed {
        Failed::SignedOut | Failed::NoPage => true,
        Failed::Api(error @ ApiError::Refused { .. }) => {
            error.is_signed_out() || error.is_not_found() || error.is_forbidden()
        }
        _ => false,
    }
}

fn end(reason: &str) -> Bytes {
    event(Some("end"), reason)
}

/// One event. Text may have any ends of lines in it; each line of it is a line of data, so that no text is read as a field.
fn event(name: Option<&str>, data: &str) -> Bytes {
    let mut text = String::with_capacity(data.len() + data.len() / 16 + 64);
    if let Some(name) = name {
        text.push_str("event: ");
        text.push_str(name);
        text.push('\n');
    }
    for line in data.split(['\n', '\r']) {
        text.push_str("data: ");
        text.push_str(line);
        text.push('\n');
    }
    text.push('\n');
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_read_as_a_field() {
        let hostile = "a\rdata: b\r\nevent: end\n\nid: 7";
        assert_eq!(event(None, hostile), "data: a\ndata: data: b\ndata: \ndata: event: end\ndata: \ndata: id: 7\n\n");
        assert_eq!(event(Some("beat"), ""), "event: beat\ndata: \n\n");
    }

    #[test]
    fn what_will_not_get_better_ends_a_stream() {
        assert!(is_final(&Failed::SignedOut) && is_final(&Failed::NoPage));
        assert!(!is_final(&Failed::Busy) && !is_final(&Failed::Late));
    }
}
