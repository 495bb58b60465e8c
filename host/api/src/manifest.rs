//! Manifests as they are kept.

use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::contract::Violation;
use intent_gateway_onboarding::Submitted;
use intent_gateway_onboarding::manifest::{Flag, Manifest, PHONE_LIMITS, PhoneManifest, Status};
use intent_gateway_onboarding::records::{Manifests, Submission};
use serde::{Deserialize, Serialize};
use serde_json::Value;
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

/// The outcome of a submission.
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

/// A manifest that was written for a business that is reached by phone. It is not submitted.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct PhoneManifestBody {
    /// Always `tier2`.
    #[schema(example = "tier2")]
    pub tier: String,
    /// The authoring form, to be kept in a file.
    #[schema(value_type = Object)]
    pub manifest: Value,
    /// The body with which it is submitted, as a draft.
    #[schema(value_type = Object)]
    pub submission: Value,
    /// What the checks at submit warn of; pointers into `submission`.
    pub warnings: Vec<Violation>,
    /// What a reviewer would have to look at.
    pub flags: Vec<Flag>,
    /// What a business without a server goes without.
    pub limits: Vec<PathLimit>,
}

/// Something that a path of onboarding cannot do.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct PathLimit {
    /// Stable code.
    #[schema(example = "NOT_SEARCHED")]
    pub code: String,
    /// One sentence or two for a person.
    pub text: String,
}

impl From<PhoneManifest> for PhoneManifestBody {
    fn from(PhoneManifest { authoring, submission, warnings, flags }: PhoneManifest) -> Self {
        let limit = |(code, text): (&str, &str)| PathLimit { code: code.to_owned(), text: text.to_owned() };
        let limits = PHONE_LIMITS.into_iter().map(limit).collect();
        Self { tier: "tier2".to_owned(), manifest: authoring, submission, warnings, flags, limits }
    }
}
