//! What the platform team alone reads: accounts, reviews, the audit log.

use std::collections::BTreeSet;

use intent_gateway_domain::audit::AuditEntry;
use intent_gateway_domain::id::IntentId;
use intent_gateway_onboarding::ReviewView;
use intent_gateway_onboarding::compliance::{CheckState, ChecklistItem, PrivacyCheck, Profile};
use intent_gateway_onboarding::records::{Account, Decision, Review, ReviewStatus, ReviewSubject};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::account::ProfileBody;
use super::delivered::InflationBody;
use super::manifest::SubmissionBody;
use super::{ActorBody, time};

/// Decides a review.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the document's shape of a body that is read member by member")]
pub(crate) struct DecisionRequest {
    /// `approve` or `reject`.
    #[schema(value_type = VerdictName)]
    decision: String,
    /// Told to the partner; a rejection says what to fix.
    #[schema(max_length = 4096)]
    notes: Option<String>,
    /// Codes of the checklist's items that a person has looked into and confirms.
    #[schema(max_items = 200)]
    confirmed: Option<Vec<String>>,
}

/// Which way a review is decided.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "the document's shape of a body that is read member by member")]
pub(crate) enum VerdictName {
    /// Accepted.
    Approve,
    /// Changes are needed.
    Reject,
}

/// Accounts in order of their identifiers.
#[derive(Serialize, ToSchema)]
pub(crate) struct AccountList<'a> {
    /// This page's.
    pub(crate) accounts: Vec<AccountSummary<'a>>,
    /// What to ask the next page with, as `after`; null when this was the last.
    #[schema(required)]
    pub(crate) next: Option<String>,
}

/// An account in a list.
#[derive(Serialize, ToSchema)]
pub(crate) struct AccountSummary<'a> {
    /// The account.
    account_id: &'a str,
    /// The same.
    partner_id: &'a str,
    /// Its address.
    email: &'a str,
    /// Display name given at sign-up.
    business_name: &'a str,
    /// When it was opened.
    created_at: String,
    /// Whether it has given its profile.
    has_profile: bool,
}

impl<'a> From<&'a Account> for AccountSummary<'a> {
    fn from(account: &'a Account) -> Self {
        Self {
            account_id: account.id.as_str(),
            partner_id: account.id.as_str(),
            email: &account.email,
            business_name: &account.business_name,
            created_at: time(account.created_at_ms),
            has_profile: account.profile.is_some(),
        }
    }
}

/// Reviews in the order in which they were opened.
#[derive(Serialize, ToSchema)]
pub(crate) struct ReviewList<'a> {
    /// This page's.
    pub(crate) reviews: Vec<ReviewSummary<'a>>,
    /// What to ask the next page with, as `after`; null when this was the last.
    #[schema(required)]
    pub(crate) next: Option<String>,
}

/// An entry for the platform team.
#[derive(Serialize, ToSchema)]
pub(crate) struct ReviewSummary<'a> {
    /// Names the review.
    id: &'a str,
    /// Whom it concerns.
    account_id: &'a str,
    /// What it is about.
    subject: SubjectBody<'a>,
    /// Where it stands.
    #[schema(value_type = ReviewState)]
    status: ReviewStatus,
    /// When it was opened.
    opened_at: String,
    /// Decided by then.
    due_at: String,
    /// Once decided.
    #[schema(required)]
    decision: Option<DecisionBody<'a>>,
}

/// What a review is about.
#[derive(Serialize, ToSchema)]
pub(crate) struct SubjectBody<'a> {
    /// `manifest`; `drift` of a live partner's tools; or `inflation` of its declared signals.
    kind: &'static str,
    /// Of a manifest: which submission.
    #[schema(required)]
    number: Option<u32>,
    /// Of a drift: the intents that are out of service meanwhile.
    #[schema(value_type = Option<Vec<String>>, required)]
    intents: Option<&'a BTreeSet<IntentId>>,
    /// Of an inflation: which signals claim more than was delivered.
    #[schema(required)]
    inflation: Option<InflationBody<'a>>,
}

/// Where a review stands.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "the document's shape of the domain's own enumeration")]
pub(crate) enum ReviewState {
    /// To be decided.
    Open,
    /// Accepted.
    Approved,
    /// Changes are needed.
    Rejected,
    /// What it was about was replaced.
    Superseded,
}

impl<'a> From<&'a Review> for ReviewSummary<'a> {
    fn from(review: &'a Review) -> Self {
        let subject = match &review.subject {
            ReviewSubject::Manifest { number } => {
                SubjectBody { kind: "manifest", number: Some(*number), intents: None, inflation: None }
            }
            ReviewSubject::Drift { intents, .. } => {
                SubjectBody { kind: "drift", number: None, intents: Some(intents), inflation: None }
            }
            ReviewSubject::Inflation { intent, declared, inflated } => {
                let inflation = Some(InflationBody::new(intent, *declared, inflated));
                SubjectBody { kind: "inflation", number: None, intents: None, inflation }
            }
        };
        Self {
            id: &review.id,
            account_id: review.account.as_str(),
            subject,
            status: review.status,
            opened_at: time(review.opened_at_ms),
            due_at: time(review.due_at_ms),
            decision: review.decision.as_ref().map(DecisionBody::from),
        }
    }
}

/// How a review was decided.
#[derive(Serialize, ToSchema)]
pub(crate) struct DecisionBody<'a> {
    /// By whom.
    by: ActorBody<'a>,
    /// When.
    at: String,
    /// What the partner was told.
    notes: &'a str,
}

impl<'a> From<&'a Decision> for DecisionBody<'a> {
    fn from(decision: &'a Decision) -> Self {
        Self { by: ActorBody::from(&decision.by), at: time(decision.at_ms), notes: &decision.notes }
    }
}

/// A review with all that is needed to decide it.
#[derive(Serialize, ToSchema)]
pub(crate) struct ReviewBody<'a> {
    #[serde(flatten)]
    review: ReviewSummary<'a>,
    /// The business.
    account: AccountSummary<'a>,
    /// What the business says of itself.
    #[schema(value_type = Option<ProfileBody>, required)]
    profile: Option<&'a Profile>,
    /// The last look at its privacy policy.
    #[schema(required)]
    privacy_policy: Option<PrivacyBody<'a>>,
    /// What was submitted, where the review is about a manifest that is still the latest.
    #[schema(required)]
    submission: Option<SubmissionBody<'a>>,
    /// As it stands now, or as it stood at the decision.
    checklist: Vec<ChecklistBody<'a>>,
}

impl<'a> From<&'a ReviewView> for ReviewBody<'a> {
    fn from(view: &'a ReviewView) -> Self {
        let ReviewView { review, account, submission, checklist } = view;
        Self {
            review: ReviewSummary::from(review),
            account: AccountSummary::from(account),
            profile: account.profile.as_ref(),
            privacy_policy: account.privacy.as_ref().map(PrivacyBody::from),
            submission: submission.as_ref().map(SubmissionBody::from),
            checklist: checklist.iter().map(ChecklistBody::from).collect(),
        }
    }
}

/// The last look at a privacy policy.
#[derive(Serialize, ToSchema)]
pub(crate) struct PrivacyBody<'a> {
    /// The address that was fetched.
    url: &'a str,
    /// When.
    checked_at: String,
    /// Whether a page was there.
    live: bool,
    /// What was there, or what went wrong.
    detail: &'a str,
}

impl<'a> From<&'a PrivacyCheck> for PrivacyBody<'a> {
    fn from(PrivacyCheck { url, checked_at_ms, live, detail }: &'a PrivacyCheck) -> Self {
        Self { url, checked_at: time(*checked_at_ms), live: *live, detail }
    }
}

/// One item of a review's checklist.
#[derive(Serialize, ToSchema)]
pub(crate) struct ChecklistBody<'a> {
    /// Stable code.
    code: &'a str,
    /// What must hold.
    text: &'a str,
    /// `passed`, `failed`, `by_hand` for a person to look into, or `confirmed` by one.
    #[schema(value_type = String, example = "by_hand")]
    state: CheckState,
    /// What was seen.
    detail: &'a str,
}

impl<'a> From<&'a ChecklistItem> for ChecklistBody<'a> {
    fn from(item: &'a ChecklistItem) -> Self {
        Self { code: &item.code, text: &item.text, state: item.state, detail: &item.detail }
    }
}

/// A part of the audit log, oldest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuditPage<'a> {
    /// This page's.
    pub(crate) entries: Vec<AuditEntryBody<'a>>,
    /// What to ask the next page with, as `after`; null when this was the last.
    #[schema(required)]
    pub(crate) next: Option<u64>,
}

/// Who did what to whom, and when.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuditEntryBody<'a> {
    /// Its place, from 1, without gaps.
    seq: u64,
    /// When.
    at: String,
    /// Who.
    actor: ActorBody<'a>,
    /// What.
    #[schema(example = "manifest.submitted")]
    action: &'a str,
    /// To whom: an account or another identifier.
    subject: &'a str,
    /// What is worth knowing besides.
    #[schema(value_type = Object)]
    detail: Option<&'a RawValue>,
    /// SHA-256 over this entry and the hash of the one before.
    hash: String,
}

impl<'a> From<&'a AuditEntry> for AuditEntryBody<'a> {
    fn from(entry: &'a AuditEntry) -> Self {
        Self {
            seq: entry.seq,
            at: time(entry.at_ms),
            actor: ActorBody::from(&entry.actor),
            action: &entry.action,
            subject: &entry.subject,
            // JSON text unless somebody changed it; the verification says so then.
            detail: serde_json::from_str(&entry.detail).ok(),
            hash: entry.hash.to_string(),
        }
    }
}

/// Whether the audit log is as it was written.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuditVerified {
    /// Whether every entry follows from the one before.
    pub(crate) ok: bool,
    /// Entries that hold, from the first on.
    pub(crate) entries: u64,
    /// Hash of the last of them. Kept elsewhere, it shows whether the end was cut off.
    pub(crate) head: String,
    /// What is wrong, where something is.
    #[schema(required)]
    pub(crate) problem: Option<String>,
}
