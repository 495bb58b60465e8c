//! A second person for what cannot be undone: such a request of an admin is kept, and carried out when somebody else approves.
//!
//! It is carried out by the same routes that it was sent to, in the name and with the scopes of whoever asked. Whoever approves
//! needs the scope of the operation, too. Which operations wait is one [`table`].

mod kept;
mod routes;
mod table;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{MatchedPath, RawPathParams, Request};
use axum::response::Response;
use http::StatusCode;
use http::request::Parts;
use intent_gateway_api::approvals::{ApprovalBody, ApprovalStatus};
use intent_gateway_domain::approval::{APPROVALS_MAX, APPROVALS_OF_ONE_MAX, Approval, Person, forget_expired};
use intent_gateway_domain::clock::{Clock, Timestamp};
use intent_gateway_domain::limits::REQUEST_BODY_MAX_BYTES;
use intent_gateway_domain::ports::ContractAdmin;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::store::{self, Change, Store, Versioned};
use intent_gateway_domain::vault::{Sealed, Vault};
use intent_gateway_onboarding::OnboardingError;
use tokio::sync::Mutex;
use uuid::Uuid;

use self::kept::KeptRequest;
pub(crate) use self::routes::{Replay, routes};
use self::table::Asked;
pub(crate) use self::table::{Operation, When, find};
use crate::auth::{Caller, Role, Scope};
use crate::body;
use crate::client::Network;
use crate::error::{Code, Refusal};
use crate::{route_scopes, wire};

/// Largest body that is kept, bytes. None of the operations takes a larger one.
const KEPT_BODY_MAX_BYTES: usize = 64 * 1024;
/// Longest path with its query that is kept, bytes.
const KEPT_TARGET_MAX_BYTES: usize = 1024;
/// Wait for the body of a request; but for one of a strange media type, it is there already.
const BODY_TIMEOUT: Duration = Duration::from_secs(5);
/// As many requests wait as may.
const TOO_MANY_APPROVALS: &str = "TOO_MANY_APPROVALS";

/// Marks a request that is carried out after it was approved. It cannot come from outside: nothing of a request's head becomes one.
#[derive(Clone)]
pub(crate) struct Approved {
    /// Who has asked for it.
    pub(crate) caller: Caller,
    /// Who has approved it, as the audit log names callers.
    pub(crate) by: String,
}

/// What becomes of a request.
pub(crate) enum Fate {
    /// It goes on.
    GoesOn(Request),
    /// It waits, and is answered so.
    Waits(Response),
}

/// Keeps what cannot be undone until a second person approves.
pub(crate) struct SecondPerson {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) vault: Vault,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) contracts: Arc<dyn ContractAdmin>,
    /// Taken while a request is counted and kept, so that no more than may wait do.
    pub(crate) keeping: Mutex<()>,
}

impl SecondPerson {
    /// Keeps a request of an admin that cannot be undone; lets any other go on.
    pub(crate) async fn hold(&self, request: Request, params: Option<&RawPathParams>) -> Result<Fate, Refusal> {
        let extensions = request.extensions();
        let caller = extensions.get::<Caller>().filter(|caller| caller.role == Role::Admin).cloned();
        let route = extensions.get::<MatchedPath>().map(|route| route.as_str().to_owned());
        let is_approved = extensions.get::<Approved>().is_some();
        let (Some(caller), Some(route), false) = (caller, route, is_approved) else {
            return Ok(Fate::GoesOn(request));
        };
        let Some(operation) = find(&route, request.method()) else { return Ok(Fate::GoesOn(request)) };
        if !operation.reads_body() {
            let asked = Asked { uri: request.uri(), params, body: &[] };
            if !operation.waits(&asked, &self.contracts.versions())? {
                return Ok(Fate::GoesOn(request));
            }
        }
        let (head, body) = request.into_parts();
        let body = body::read(body, REQUEST_BODY_MAX_BYTES, BODY_TIMEOUT).await?;
        if operation.reads_body() && !operation.waits(&Asked { uri: &head.uri, params, body: &body }, &[])? {
            return Ok(Fate::GoesOn(Request::from_parts(head, Body::from(body))));
        }
        let approval = self.keep(&caller, &head, &body, operation).await?;
        let answer = ApprovalBody::new(&approval, ApprovalStatus::Waiting);
        Ok(Fate::Waits(wire::json(StatusCode::ACCEPTED, &answer, wire::SMALL_BYTES)?))
    }

    async fn keep(
        &self,
        caller: &Caller,
        head: &Parts,
        body: &[u8],
        operation: &Operation,
    ) -> Result<Approval, Refusal> {
        if body.len() > KEPT_BODY_MAX_BYTES {
            let message = format!("The body of what waits for a second person may have {KEPT_BODY_MAX_BYTES} bytes.");
            return Err(Refusal::new(Code::PayloadTooLarge).message(message));
        }
        let kept = KeptRequest::of(caller, head, body)?;
        let text = serde_json::to_string(&kept).map_err(|error| internal(&error))?;
        let scope = route_scopes::find(operation.route, &operation.method).unwrap_or(Scope::All);
        let _keeping = self.keeping.lock().await;
        let now = self.clock.now();
        let person = caller.person();
        self.require_room(&person, now).await?;
        let by = caller.actor(head.extensions.get::<Network>());
        let mut approval = Approval {
            id: format!("apr_{}", Uuid::now_v7().simple()),
            asked_at_ms: now,
            by: by.identity(),
            person,
            what: operation.what.to_owned(),
            scope: scope.as_str().to_owned(),
            method: head.method.to_string(),
            path: head.uri.path().to_owned(),
            sealed: Sealed::from_text(String::new()),
        };
        let sealed = self.vault.seal(&approval.context(), &Secret::new(text));
        approval.sealed = sealed.map_err(OnboardingError::from)?;
        let mut change = Change::default();
        change.put(&Versioned::new(approval.clone()));
        change.audit.push(approval.draft("approval.requested", by, now));
        self.store.commit(change).await?;
        Ok(approval)
    }

    async fn require_room(&self, person: &Person, now: Timestamp) -> Result<(), Refusal> {
        forget_expired(&*self.store, now).await?;
        let waiting = self.waiting(now).await?;
        let own = waiting.iter().filter(|approval| approval.person == *person).count();
        let message = if waiting.len() >= APPROVALS_MAX {
            format!("{APPROVALS_MAX} requests wait for a second person; some have to be decided first.")
        } else if own >= APPROVALS_OF_ONE_MAX {
            format!("{APPROVALS_OF_ONE_MAX} requests of yours wait for a second person; some have to be decided first.")
        } else {
            return Ok(());
        };
        Err(Refusal::conflict(TOO_MANY_APPROVALS, message))
    }

    /// All that waits, oldest first.
    async fn waiting(&self, now: Timestamp) -> Result<Vec<Approval>, Refusal> {
        let kept = store::all::<Approval>(&*self.store, None).await?;
        Ok(kept.into_iter().map(|kept| kept.value).filter(|approval| !approval.is_over(now)).collect())
    }

    /// The request as it was kept.
    fn open(&self, approval: &Approval) -> Result<KeptRequest, Refusal> {
        let text = self.vault.open(&approval.context(), &approval.sealed).map_err(OnboardingError::from)?;
        serde_json::from_str(text.expose()).map_err(|error| internal(&error))
    }
}

fn internal(error: &dyn std::fmt::Display) -> Refusal {
    Refusal::new(Code::InternalError).internal(format!("a request that waits for a second person: {error}"))
}
