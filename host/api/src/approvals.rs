//! What waits for a second person of the platform team.

use intent_gateway_domain::approval::Approval;
use intent_gateway_domain::audit::Actor;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::time;

/// All that waits, oldest first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ApprovalList {
    pub approvals: Vec<ApprovalBody>,
}

/// A request that is carried out once a second person approves it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ApprovalBody {
    #[schema(example = "apr_01890a5dac96774bbcceb302099a8057")]
    pub id: String,
    pub status: ApprovalStatus,
    /// What approving does.
    #[schema(example = "takes an intent out of service")]
    pub what: String,
    pub method: String,
    #[schema(example = "/api/v1/admin/intents/auto.book_ac_service")]
    pub path: String,
    /// Who asked; somebody else has to approve.
    pub by: Actor,
    /// The scope that deciding takes.
    #[schema(example = "ship")]
    pub scope: String,
    pub asked_at: String,
    /// Forgotten from then on.
    pub expires_at: String,
}

/// Where a request stands. One that was approved is answered as the operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalStatus {
    /// Nothing of it was done.
    Waiting,
    /// Nothing of it will be done.
    Refused,
}

impl ApprovalBody {
    #[must_use]
    pub fn new(approval: &Approval, status: ApprovalStatus) -> Self {
        Self {
            id: approval.id.clone(),
            status,
            what: approval.what.clone(),
            method: approval.method.clone(),
            path: approval.path.clone(),
            by: approval.by.clone(),
            scope: approval.scope.clone(),
            asked_at: time(approval.asked_at_ms),
            expires_at: time(approval.expires_at()),
        }
    }
}

/// A request that waits, with all that it says.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ApprovalDetail {
    pub approval: ApprovalBody,
    /// The query of its address.
    #[schema(required)]
    pub query: Option<String>,
    /// The user whom it names in `x-user-id`.
    #[schema(required)]
    pub user: Option<String>,
    /// Its body, as it was sent; empty where it has none.
    pub body: String,
}
