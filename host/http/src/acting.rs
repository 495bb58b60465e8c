//! For which account a request acts, who acts, and which part of a list it asks for.

use std::num::TryFromIntError;
use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequestParts, Query, RawPathParams};
use http::request::Parts;
use http::{HeaderMap, HeaderName};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::trace::Trace;
use intent_gateway_domain::user::{Asker, Orchestrator, Pseudonym, User};
use intent_gateway_onboarding::{Requester, Session};
use serde::Deserialize;

use crate::App;
use crate::audience::ACCOUNT;
use crate::auth::{Caller, ISSUER};
use crate::client::Network;
use crate::error::{Code, Refusal};
use crate::request_id::RequestId;
use crate::second_person::Approved;

/// Records of one page where the caller names no number.
const PAGE_DEFAULT: u32 = 100;
/// Most records of one page.
const PAGE_MAX: u32 = 500;
/// Name of the path parameter that holds the account in the platform team's routes.
const ID: &str = "id";
/// Longest key that a page may begin after, characters.
const KEY_MAX_CHARS: usize = 200;

/// An account and whoever acts for it: its partner, or an admin in its stead, whom the records then name.
pub(crate) struct Acting {
    /// The account that the path names. It may not exist.
    pub(crate) account: PartnerId,
    /// The caller, for the records.
    pub(crate) actor: Actor,
    session: Option<Session>,
}

impl Acting {
    /// The caller, with the sign-in that its token comes of.
    pub(crate) fn requester(&self) -> Requester {
        Requester { actor: self.actor.clone(), session: self.session.clone() }
    }
}

impl FromRequestParts<Arc<App>> for Acting {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refusal> {
        let params = RawPathParams::from_request_parts(parts, app).await;
        let params = params.map_err(|error| Refusal::new(Code::NotFound).internal(error.to_string()))?;
        let named = params.iter().find(|(name, _)| [ACCOUNT, ID].contains(name));
        let account = named.and_then(|(_, account)| PartnerId::parse(account).ok());
        let account = account.ok_or_else(no_account)?;
        let Caller { session, .. } = layered(parts)?;
        Ok(Self { account, actor: actor(parts)?, session })
    }
}

/// The platform team's member who acts on something else than an account.
pub(crate) struct Team(pub(crate) Actor);

impl FromRequestParts<Arc<App>> for Team {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _app: &Arc<App>) -> Result<Self, Refusal> {
        actor(parts).map(Self)
    }
}

/// Names the user for whom something is asked: the orchestrator's own pseudonym.
pub(crate) const USER: HeaderName = HeaderName::from_static("x-user-id");

/// The orchestrator that asks, and the user whom it names. An admin may ask in its own name.
pub(crate) struct Asking {
    pub(crate) asker: Asker,
    /// What the request is called, and what it belongs to.
    pub(crate) request_id: RequestId,
    pub(crate) trace: Arc<Trace>,
}

impl FromRequestParts<Arc<App>> for Asking {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refusal> {
        let Caller { subject, issuer, .. } = layered::<Caller>(parts)?;
        let issuer = issuer.unwrap_or_else(|| ISSUER.into());
        let orchestrator = Orchestrator::new(issuer, subject.as_str());
        let heir = app.unassigned_users_of.as_ref().filter(|heir| heir.is(&orchestrator));
        let orchestrator = heir.cloned().unwrap_or(orchestrator);
        let asker = Asker::new(orchestrator, pseudonym(&parts.headers)?.as_ref());
        Ok(Self { asker, request_id: layered(parts)?, trace: layered(parts)? })
    }
}

/// The user for whom something is asked; nothing there is anybody else's.
pub(crate) struct AskingUser(pub(crate) User);

impl FromRequestParts<Arc<App>> for AskingUser {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refusal> {
        let Asking { asker, .. } = Asking::from_request_parts(parts, app).await?;
        let user = asker.user;
        user.map(Self).ok_or_else(|| Refusal::new(Code::InvalidRequest).message("`x-user-id` must name the user."))
    }
}

/// The pseudonym that the header names.
fn pseudonym(headers: &HeaderMap) -> Result<Option<Pseudonym>, Refusal> {
    let mut values = headers.get_all(USER).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let text = value.to_str().ok().filter(|_| values.next().is_none());
    text.and_then(|text| Pseudonym::parse(text).ok()).map(Some).ok_or_else(|| {
        Refusal::new(Code::InvalidRequest)
            .message("`x-user-id` must stand once, with 1 to 128 visible ASCII characters.")
    })
}

/// What the layers around the route have found out.
fn layered<T: Clone + Send + Sync + 'static>(parts: &Parts) -> Result<T, Refusal> {
    let found = parts.extensions.get::<T>().cloned();
    found.ok_or_else(|| Refusal::new(Code::InternalError).internal("a route without its layers"))
}

/// The caller as the audit log names it.
fn actor(parts: &Parts) -> Result<Actor, Refusal> {
    let caller: Caller = layered(parts)?;
    let approved_by = parts.extensions.get::<Approved>().map(|approved| approved.by.clone());
    Ok(Actor { approved_by, ..caller.actor(parts.extensions.get::<Network>()) })
}

pub(crate) fn no_account() -> Refusal {
    Refusal::new(Code::NotFound).message("There is no such account.")
}

/// Which part of a list is asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PageQuery {
    /// Only records with this status.
    pub(crate) status: Option<String>,
    after: Option<String>,
    limit: Option<u32>,
}

/// A part of a list.
pub(crate) struct Page {
    /// Only records with this status; it is one of those that there are.
    pub(crate) status: Option<&'static str>,
    /// Only records behind this key.
    pub(crate) after: Option<String>,
    /// At most so many.
    pub(crate) limit: u32,
}

impl Page {
    /// Reads a query; `statuses` are those that the list knows.
    pub(crate) fn of(
        query: Result<Query<PageQuery>, QueryRejection>,
        statuses: &[&'static str],
    ) -> Result<Self, Refusal> {
        let Query(PageQuery { status, after, limit }) = query.map_err(|_| {
            let status = if statuses.is_empty() { "" } else { "`status`, " };
            let message = format!("The query parameters are {status}`after`, and `limit`, 1 to {PAGE_MAX}.");
            Refusal::new(Code::InvalidRequest).message(message)
        })?;
        let status = match status {
            None => None,
            Some(given) => Some(*statuses.iter().find(|status| **status == given).ok_or_else(|| {
                let known = if statuses.is_empty() { "none".to_owned() } else { statuses.join(", ") };
                Refusal::new(Code::InvalidRequest).message(format!("The values of `status` are: {known}."))
            })?),
        };
        Ok(Self { status, after: after.map(key).transpose()?, limit: size(limit)? })
    }

    /// The page as the store takes it.
    pub(crate) fn list(&self) -> intent_gateway_domain::store::List<'_> {
        intent_gateway_domain::store::List { status: self.status, after: self.after.as_deref(), limit: self.limit }
    }

    /// What to ask the next page with, given the last key of this one; none when it was the last.
    pub(crate) fn next(&self, found: usize, last: Option<String>) -> Option<String> {
        last.filter(|_| found >= self.limit as usize)
    }
}

/// The number of a record that a page begins behind. The store keeps numbers as signed ones.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "u64")]
pub(crate) struct RecordNumber(u64);

impl RecordNumber {
    pub(crate) fn get(self) -> u64 {
        self.0
    }
}

impl TryFrom<u64> for RecordNumber {
    type Error = TryFromIntError;

    fn try_from(number: u64) -> Result<Self, TryFromIntError> {
        i64::try_from(number).map(|_| Self(number))
    }
}

/// A time in a query, in milliseconds since the epoch: a signed number of 64 bits that is not negative, as the document of the API says.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "u64")]
pub(crate) struct QueryTime(u64);

impl QueryTime {
    pub(crate) fn get(self) -> Timestamp {
        Timestamp::from_ms(self.0)
    }
}

impl TryFrom<u64> for QueryTime {
    type Error = TryFromIntError;

    fn try_from(ms: u64) -> Result<Self, TryFromIntError> {
        i64::try_from(ms).map(|_| Self(ms))
    }
}

/// What to ask the next page of numbered records with; none when this was the last.
pub(crate) fn next_number<T>(found: &[T], limit: u32, number: impl Fn(&T) -> u64) -> Option<u64> {
    found.last().filter(|_| found.len() >= limit as usize).map(number)
}

/// The size of a page.
pub(crate) fn size(limit: Option<u32>) -> Result<u32, Refusal> {
    let limit = limit.unwrap_or(PAGE_DEFAULT);
    if (1..=PAGE_MAX).contains(&limit) {
        return Ok(limit);
    }
    Err(Refusal::new(Code::InvalidRequest).message(format!("`limit` is 1 to {PAGE_MAX}.")))
}

/// A key as keys are written; no other can be behind anything.
fn key(given: String) -> Result<String, Refusal> {
    let fits = given.bytes().all(|byte| byte.is_ascii_graphic()) && given.len() <= KEY_MAX_CHARS;
    if fits { Ok(given) } else { Err(Refusal::new(Code::InvalidRequest).message("`after` is no `next` of an answer.")) }
}
