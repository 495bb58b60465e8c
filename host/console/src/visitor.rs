//! Who opens a page, and what a form brings. A page takes one of these, so that none can be made that is open to everybody by mistake.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::response::{IntoResponse as _, Response};
use http::request::Parts;
use http::{Method, StatusCode, header};
use http_body_util::{BodyExt as _, Limited};
use intent_gateway_domain::limits::CONTRACT_MAX_BYTES;
use intent_gateway_domain::secret::Secret;
use intent_gateway_http::inside::Origin;
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;
use url::form_urlencoded;

use crate::Console;
use crate::api::Api;
use crate::failure::Failed;
use crate::frame::{Frame, lead_to};
use crate::multipart::{self, FileForm, SentFile};
use crate::notices;
use crate::session::{Face, OpenSession, cookie_of, masked};

/// Bytes of a form: a manifest, with room for its encoding.
const FORM_MAX_BYTES: usize = 2 * 1024 * 1024;
/// How long a form may take to arrive.
const FORM_TIMEOUT: Duration = Duration::from_secs(15);
/// Fields of a form.
const FIELDS_MAX: usize = 1_000;
/// Bytes of the fields that stand beside a file.
const FIELDS_MAX_BYTES: usize = 64 * 1024;
/// In every form: shows that it comes from a page of the same session.
pub(crate) const FORM_TOKEN: &str = "form_token";

/// Somebody who is signed in.
pub(crate) struct Visitor {
    pub(crate) api: Api,
    pub(crate) session: OpenSession,
    /// What was done before this page, by its address.
    done: Option<String>,
}

/// A person of the platform team.
pub(crate) struct Team(pub(crate) Visitor);

/// A person of a partner.
pub(crate) struct Business(pub(crate) Visitor);

/// The visitors of one face.
pub(crate) trait OfFace: Sized + Send {
    const FACE: Face;

    fn of(visitor: Visitor) -> Self;
    fn visitor(&self) -> &Visitor;
    fn into_visitor(self) -> Visitor;
}

impl OfFace for Team {
    const FACE: Face = Face::Team;

    fn of(visitor: Visitor) -> Self {
        Self(visitor)
    }

    fn visitor(&self) -> &Visitor {
        &self.0
    }

    fn into_visitor(self) -> Visitor {
        self.0
    }
}

impl OfFace for Business {
    const FACE: Face = Face::Partner;

    fn of(visitor: Visitor) -> Self {
        Self(visitor)
    }

    fn visitor(&self) -> &Visitor {
        &self.0
    }

    fn into_visitor(self) -> Visitor {
        self.0
    }
}

impl Visitor {
    /// The frame of a page for this visitor.
    pub(crate) fn frame(&self, place: &'static str, title: impl Into<String>) -> Frame {
        Frame {
            face: self.session.record.face,
            title: title.into(),
            who: Some(self.session.record.who.clone()),
            place,
            form_token: self.session.shown_form_token.clone(),
            notice: self.done.as_deref().and_then(notices::find),
            json: None,
            live: None,
            has_plots: false,
        }
    }

    /// The same visitor, who looks again at what is open already.
    pub(crate) fn again(&self) -> Self {
        Self { api: self.api.again(), session: self.session.clone(), done: None }
    }

    /// A visitor whose page asks of its own accord, with what the browser holds: that is no use of the session.
    pub(crate) async fn unnoted(
        parts: &Parts,
        console: &Console,
        face: Face,
    ) -> Result<Option<(Secret, Self)>, Failed> {
        let Some(held) = cookie_of(&parts.headers, face) else { return Ok(None) };
        let Some(session) = console.sessions.look(face, &held).await? else { return Ok(None) };
        Ok(Some((held, Self::new(parts, console, session))))
    }

    async fn of_face(parts: &Parts, console: &Console, face: Face) -> Result<Self, Response> {
        let found = match cookie_of(&parts.headers, face) {
            Some(held) => {
                console.sessions.find(face, &held).await.map_err(|error| Failed::from(error).into_response())?
            }
            None => None,
        };
        let session = found.ok_or_else(|| ask_to_sign_in(parts, face))?;
        Ok(Self::new(parts, console, session))
    }

    fn new(parts: &Parts, console: &Console, session: OpenSession) -> Self {
        let query = parts.uri.query().unwrap_or_default();
        let done = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == notices::DONE);
        Self {
            api: Api::new(console.inside.clone(), Origin::of(parts), Some(session.token.clone())),
            session,
            done: done.map(|(_, value)| value.into_owned()),
        }
    }
}

/// Leads whoever is not signed in to where that is done, and from there back to where they wanted to go.
fn ask_to_sign_in(parts: &Parts, face: Face) -> Response {
    let wanted = parts.uri.path_and_query().filter(|_| parts.method == Method::GET);
    let home = face.home();
    let to = wanted
        .map(|wanted| form_urlencoded::Serializer::new(String::new()).append_pair("to", wanted.as_str()).finish());
    lead_to(&to.map_or_else(|| format!("{home}/sign-in"), |to| format!("{home}/sign-in?{to}")))
}

macro_rules! from_parts {
    ($visitor:ty) => {
        impl FromRequestParts<Arc<Console>> for $visitor {
            type Rejection = Response;

            async fn from_request_parts(parts: &mut Parts, console: &Arc<Console>) -> Result<Self, Response> {
                Visitor::of_face(parts, console, <Self as OfFace>::FACE).await.map(Self::of)
            }
        }
    };
}

from_parts!(Team);
from_parts!(Business);

/// What a form has brought.
#[derive(Debug, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    pub(crate) fn parse(body: &[u8]) -> Self {
        let pairs = form_urlencoded::parse(body).take(FIELDS_MAX);
        // Browsers write the ends of lines in two characters.
        Self(pairs.map(|(name, value)| (name.into_owned(), value.replace("\r\n", "\n"))).collect())
    }

    /// A field without the space around it; empty where it is not there.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value.trim())
    }

    /// The same, where it says something.
    pub(crate) fn find(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    /// All values of a field that may stand more than once.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// Whether a box is ticked.
    pub(crate) fn is_ticked(&self, name: &str) -> bool {
        self.0.iter().any(|(own, _)| own == name)
    }

    /// A field that is one of a few words.
    pub(crate) fn word<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_value(self.text(name).into()).ok()
    }
}

/// A form of a page of the same session.
pub(crate) struct Sent<V>(pub(crate) V, pub(crate) Fields);

impl<V: OfFace + FromRequestParts<Arc<Console>, Rejection = Response>> FromRequest<Arc<Console>> for Sent<V> {
    type Rejection = Response;

    async fn from_request(request: Request, console: &Arc<Console>) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let visitor = V::from_request_parts(&mut parts, console).await?;
        let fields = read_form(&parts, body).await.map_err(axum::response::IntoResponse::into_response)?;
        if is_of_session(visitor.visitor(), &fields) {
            Ok(Self(visitor, fields))
        } else {
            Err(Failed::ForeignForm.into_response())
        }
    }
}

/// Whether a form was written into a page of the visitor's own session.
fn is_of_session(visitor: &Visitor, fields: &Fields) -> bool {
    masked::matches(&visitor.session.form_token, fields.text(FORM_TOKEN))
}

/// A kind of file that forms bring, with its bounds.
pub(crate) trait FileKind: Send {
    /// Bytes of the largest one that the API takes.
    const MAX_BYTES: usize;
    /// How long a form with one may take to arrive.
    const TIMEOUT: Duration;

    /// The places in which such forms are read: what is held of files at once is bounded.
    fn places() -> &'static Semaphore;
}

/// A paper of a business: a scan, over a slow connection.
pub(crate) enum Paper {}

impl FileKind for Paper {
    const MAX_BYTES: usize = 5 * 1024 * 1024;
    const TIMEOUT: Duration = Duration::from_secs(20);

    fn places() -> &'static Semaphore {
        static PLACES: Semaphore = Semaphore::const_new(4);
        &PLACES
    }
}

/// A contract's component.
pub(crate) enum Component {}

impl FileKind for Component {
    const MAX_BYTES: usize = CONTRACT_MAX_BYTES;
    const TIMEOUT: Duration = Duration::from_secs(120);

    fn places() -> &'static Semaphore {
        static PLACES: Semaphore = Semaphore::const_new(2);
        &PLACES
    }
}

/// A form of a page of the same session that brings a file.
pub(crate) struct SentWithFile<V, K> {
    pub(crate) visitor: V,
    pub(crate) fields: Fields,
    /// None where no file was chosen.
    pub(crate) file: Option<SentFile>,
    pub(crate) kind: PhantomData<K>,
}

impl<V, K> FromRequest<Arc<Console>> for SentWithFile<V, K>
where
    V: OfFace + FromRequestParts<Arc<Console>, Rejection = Response>,
    K: FileKind,
{
    type Rejection = Response;

    async fn from_request(request: Request, console: &Arc<Console>) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let visitor = V::from_request_parts(&mut parts, console).await?;
        let (fields, file) = read_file_form::<K>(&parts, body).await.map_err(Failed::into_response)?;
        if is_of_session(visitor.visitor(), &fields) {
            Ok(Self { visitor, fields, file, kind: PhantomData })
        } else {
            Err(Failed::ForeignForm.into_response())
        }
    }
}

/// The fields of a form, and the first file that it brings.
async fn read_file_form<K: FileKind>(parts: &Parts, body: Body) -> Result<(Fields, Option<SentFile>), Failed> {
    let media_type = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let boundary = multer::parse_boundary(media_type);
    let boundary = boundary.map_err(|_no_such_form| Failed::Form(StatusCode::UNSUPPORTED_MEDIA_TYPE))?;
    // Held until the file is read.
    let _place = K::places().try_acquire().map_err(|_none_is_free| Failed::Busy)?;
    let read = tokio::time::timeout(K::TIMEOUT, Limited::new(body, K::MAX_BYTES + FIELDS_MAX_BYTES).collect()).await;
    let read = read.map_err(|_elapsed| Failed::Form(StatusCode::REQUEST_TIMEOUT))?;
    let body = read.map_err(|_too_long| Failed::Form(StatusCode::PAYLOAD_TOO_LARGE))?.to_bytes();
    let FileForm { fields, file } =
        multipart::parse(boundary, body).await.ok_or(Failed::Form(StatusCode::BAD_REQUEST))?;
    Ok((Fields(fields), file))
}

/// A form of a page for whoever is not signed in yet.
pub(crate) struct Strange(pub(crate) Fields);

impl FromRequest<Arc<Console>> for Strange {
    type Rejection = Response;

    async fn from_request(request: Request, _console: &Arc<Console>) -> Result<Self, Response> {
        let (parts, body) = request.into_parts();
        read_form(&parts, body).await.map(Self).map_err(axum::response::IntoResponse::into_response)
    }
}

async fn read_form(parts: &Parts, body: Body) -> Result<Fields, Failed> {
    let media_type = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if media_type.split(';').next().map(str::trim) != Some("application/x-www-form-urlencoded") {
        return Err(Failed::Form(StatusCode::UNSUPPORTED_MEDIA_TYPE));
    }
    let read = tokio::time::timeout(FORM_TIMEOUT, Limited::new(body, FORM_MAX_BYTES).collect()).await;
    let read = read.map_err(|_elapsed| Failed::Form(StatusCode::REQUEST_TIMEOUT))?;
    let body: Bytes = read.map_err(|_too_long| Failed::Form(StatusCode::PAYLOAD_TOO_LARGE))?.to_bytes();
    Ok(Fields::parse(&body))
}

/// What a form says of a secret.
pub(crate) fn secret(fields: &Fields, name: &str) -> Secret {
    Secret::new(fields.text(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_as_browsers_send_them() {
        let fields = Fields::parse(b"reason=+too+slow%0D%0Aagain+&confirmed=A&confirmed=B&decision=approve&empty=");
        assert_eq!(fields.text("reason"), "too slow\nagain");
        assert_eq!(fields.all("confirmed").collect::<Vec<_>>(), ["A", "B"]);
        assert_eq!((fields.find("empty"), fields.find("absent")), (None, None));
        assert!(fields.is_ticked("empty") && !fields.is_ticked("absent"));
        assert_eq!(Fields::parse("a=1&".repeat(2_000).as_bytes()).all("a").count(), FIELDS_MAX);
    }
}
