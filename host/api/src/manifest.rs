//! Manifests as they are kept.

use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::contract::Violation;
use intent_gateway_onboarding::Submitted;
use intent_gateway_onboarding::manifest::{Flag, Manifest, Status};
use intent_gateway_onboarding::records::{Manifests, Submission};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::time;

/// A submission that passed the checks at submit.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct SubmissionBody {
    /// Counts the account's submissions, from 1.
    pub number: u32,
    /// Where it stands.
    pub status: Status,
    /// What was submitted.
    #[schema(value_type = Object)]
    pub manifest: Manifest,
    /// What is wrong with the fields that are reviewed; it refuses nothing by itself.
    pub warnings: Vec<Violation>,
    /// What the reviewer must look at.
    pub flags: Vec<Flag>,
    /// When it was submitted.
    pub submitted_at: String,
    /// By whom.
    pub submitted_by: Actor,
    /// Notes of the decision.
    #[schema(required)]
    pub notes: Option<String>,
}

impl From<Submission> for SubmissionBody {
    fn from(submission: Submission) -> Self {
        let Submission { number, status, manifest, warnings, flags, submitted_at_ms, submitted_by, notes, .. } =
            submission;
        let submitted_at = time(submitted_at_ms);
        Self { number, status, manifest, warnings, flags, submitted_at, submitted_by, notes }
    }
}

/// What came of a submission.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct SubmittedBody {
    #[serde(flatten)]
    pub submission: SubmissionBody,
    /// The review that waits for the platform team, where one does.
    #[schema(required)]
    pub review: Option<String>,
}

impl From<Submitted> for SubmittedBody {
    fn from(Submitted { submission, review }: Submitted) -> Self {
        Self { submission: SubmissionBody::from(submission), review }
    }
}

/// The manifests of an account.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ManifestsBody {
    /// The latest submission.
    pub latest: SubmissionBody,
    /// The one in force: an approved one stays so until another is approved.
    #[schema(required)]
    pub approved: Option<SubmissionBody>,
    /// The review of the latest, where it was sent for one.
    #[schema(required)]
    pub review: Option<String>,
}

impl From<Manifests> for ManifestsBody {
    fn from(Manifests { latest, approved, review, .. }: Manifests) -> Self {
        Self { latest: SubmissionBody::from(latest), approved: approved.map(SubmissionBody::from), review }
    }
}
