//! Manifests as they are kept.

use intent_gateway_onboarding::Submitted;
use intent_gateway_onboarding::manifest::{Flag, FlagCode, Manifest, Status};
use intent_gateway_onboarding::records::{Manifests, Submission};
use serde::Serialize;
use utoipa::ToSchema;

use super::{ActorBody, time};
use crate::wire::{Violation, violations};

/// A submission that passed the checks at submit.
#[derive(Serialize, ToSchema)]
pub(crate) struct SubmissionBody<'a> {
    /// Counts the account's submissions, from 1.
    number: u32,
    /// Where it stands.
    #[schema(value_type = ManifestStatus)]
    status: Status,
    /// What was submitted.
    #[schema(value_type = Object)]
    manifest: &'a Manifest,
    /// What is wrong with the fields that are reviewed; it refuses nothing by itself.
    warnings: Vec<Violation<'a>>,
    /// What the reviewer must look at.
    flags: Vec<FlagBody<'a>>,
    /// When it was submitted.
    submitted_at: String,
    /// By whom.
    submitted_by: ActorBody<'a>,
    /// Notes of the decision.
    #[schema(required)]
    notes: Option<&'a str>,
}

/// Where a manifest stands.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "the document's shape of the domain's own enumeration")]
pub(crate) enum ManifestStatus {
    /// Saved, not sent for review.
    Draft,
    /// Waits for the platform team.
    PendingReview,
    /// Accepted. This alone sends no traffic.
    Approved,
    /// Sent back with notes.
    Rejected,
}

/// Something that a reviewer must look at although no rule is broken.
#[derive(Serialize, ToSchema)]
pub(crate) struct FlagBody<'a> {
    /// What kind of thing.
    #[schema(value_type = String, example = "VERIFY_WHOLE_COUNTRY")]
    code: FlagCode,
    /// The intent concerned.
    intent: &'a str,
    /// One sentence for a person.
    message: &'a str,
}

impl<'a> From<&'a Flag> for FlagBody<'a> {
    fn from(flag: &'a Flag) -> Self {
        Self { code: flag.code, intent: flag.intent.as_str(), message: &flag.message }
    }
}

impl<'a> From<&'a Submission> for SubmissionBody<'a> {
    fn from(submission: &'a Submission) -> Self {
        Self {
            number: submission.number,
            status: submission.status,
            manifest: &submission.manifest,
            warnings: violations(&submission.warnings),
            flags: submission.flags.iter().map(FlagBody::from).collect(),
            submitted_at: time(submission.submitted_at_ms),
            submitted_by: ActorBody::from(&submission.submitted_by),
            notes: submission.notes.as_deref(),
        }
    }
}

/// What came of a submission.
#[derive(Serialize, ToSchema)]
pub(crate) struct SubmittedBody<'a> {
    #[serde(flatten)]
    submission: SubmissionBody<'a>,
    /// The review that waits for the platform team, where one does.
    #[schema(required)]
    review: Option<&'a str>,
}

impl<'a> From<&'a Submitted> for SubmittedBody<'a> {
    fn from(submitted: &'a Submitted) -> Self {
        let Submitted { submission, review } = submitted;
        Self { submission: SubmissionBody::from(submission), review: review.as_deref() }
    }
}

/// The manifests of an account.
#[derive(Serialize, ToSchema)]
pub(crate) struct ManifestsBody<'a> {
    /// The latest submission.
    latest: SubmissionBody<'a>,
    /// The one in force: an approved one stays so until another is approved.
    #[schema(required)]
    approved: Option<SubmissionBody<'a>>,
    /// The review of the latest, where it was sent for one.
    #[schema(required)]
    review: Option<&'a str>,
}

impl<'a> From<&'a Manifests> for ManifestsBody<'a> {
    fn from(manifests: &'a Manifests) -> Self {
        Self {
            latest: SubmissionBody::from(&manifests.latest),
            approved: manifests.approved.as_ref().map(SubmissionBody::from),
            review: manifests.review.as_deref(),
        }
    }
}
