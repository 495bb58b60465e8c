//! Reviews: what the platform team decides.

use std::collections::BTreeSet;

use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::sign_in::SignInServer;
pub use intent_gateway_onboarding::compliance::ChecklistItem;
use intent_gateway_onboarding::compliance::{PrivacyCheck, Profile};
use intent_gateway_onboarding::records::{Decision, Review, ReviewStatus, ReviewSubject};
use intent_gateway_onboarding::{DecisionOrder, ReviewVerdict, ReviewView};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::account::AccountSummary;
use crate::delivered::InflationBody;
use crate::documents::DocumentBody;
use crate::manifest::SubmissionBody;
use crate::read::{Body, Members};
use crate::time;

/// Decides a review.
#[derive(Debug, Serialize, ToSchema)]
pub struct DecisionRequest {
    /// `approve` or `reject`.
    pub decision: ReviewVerdict,
    /// Told to the partner; a rejection says what to fix.
    #[schema(max_length = 4096)]
    pub notes: Option<String>,
    /// Codes of the checklist's items that a person has looked into and confirms.
    #[schema(value_type = Option<Vec<String>>, max_items = 200)]
    pub confirmed: Vec<String>,
}

impl Body for DecisionRequest {
    fn read(members: &mut Members<'_>) -> Option<Self> {
        let decision = members.word("decision");
        let (notes, confirmed) = (members.optional_prose("notes"), members.texts("confirmed"));
        Some(Self { decision: decision?, notes, confirmed })
    }
}

impl From<DecisionRequest> for DecisionOrder {
    fn from(DecisionRequest { decision, notes, confirmed }: DecisionRequest) -> Self {
        let confirmed = confirmed.into_iter().collect();
        Self { verdict: decision, notes: notes.unwrap_or_default(), confirmed }
    }
}

/// Reviews in the order in which they were opened.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ReviewList {
    /// This page's.
    pub reviews: Vec<ReviewSummary>,
    /// What to ask the next page with, as `after`; null when this was the last.
    #[schema(required)]
    pub next: Option<String>,
}

/// An entry for the platform team.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ReviewSummary {
    /// Names the review.
    pub id: String,
    /// Whom it concerns.
    pub account_id: String,
    /// What it is about.
    pub subject: SubjectBody,
    /// Where it stands.
    pub status: ReviewStatus,
    /// When it was opened.
    pub opened_at: String,
    /// Decided by then.
    pub due_at: String,
    /// Once decided.
    #[schema(required)]
    pub decision: Option<DecisionBody>,
}

/// What a review is about.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct SubjectBody {
    /// `manifest`; `drift` of a live partner's tools; `inflation` of its declared signals; `sign_in`, of where its
    /// users sign in; or `renewal` of what people have confirmed of a live intent.
    pub kind: String,
    /// Of a manifest: which submission.
    #[schema(required)]
    pub number: Option<u32>,
    /// Of a drift: the intents that are out of service meanwhile. Of a renewal: the intent.
    #[schema(value_type = Option<Vec<String>>, required)]
    pub intents: Option<BTreeSet<IntentId>>,
    /// Of a sign-in: what is named, and what was.
    #[schema(required)]
    pub sign_in: Option<SignInBody>,
    /// Of an inflation: which signals claim more than was delivered.
    #[schema(required)]
    pub inflation: Option<InflationBody>,
}

impl From<Review> for ReviewSummary {
    fn from(Review { id, account, subject, status, opened_at_ms, due_at_ms, decision, .. }: Review) -> Self {
        Self {
            id,
            account_id: account.to_string(),
            subject: SubjectBody::from(subject),
            status,
            opened_at: time(opened_at_ms),
            due_at: time(due_at_ms),
            decision: decision.map(DecisionBody::from),
        }
    }
}

impl From<ReviewSubject> for SubjectBody {
    fn from(subject: ReviewSubject) -> Self {
        let of_kind =
            |kind: &str| Self { kind: kind.to_owned(), number: None, intents: None, sign_in: None, inflation: None };
        match subject {
            ReviewSubject::Manifest { number } => Self { number: Some(number), ..of_kind("manifest") },
            ReviewSubject::Drift { intents, .. } => Self { intents: Some(intents), ..of_kind("drift") },
            ReviewSubject::Inflation { intent, declared, inflated } => {
                let inflation = InflationBody { intent: intent.to_string(), declared, inflated };
                Self { inflation: Some(inflation), ..of_kind("inflation") }
            }
            ReviewSubject::SignIn { named, before, shared_with } => {
                let shared_with = shared_with.iter().map(PartnerId::to_string).collect();
                Self {
                    sign_in: Some(SignInBody { named: named.into(), before: before.map(Into::into), shared_with }),
                    ..of_kind("sign_in")
                }
            }
            ReviewSubject::Renewal { intent, .. } => {
                Self { intents: Some(BTreeSet::from([intent])), ..of_kind("renewal") }
            }
        }
    }
}

/// Where a partner's users sign in, or are to sign in.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct SignInBody {
    /// What the partner's server names.
    pub named: SignInServerBody,
    /// What held until then; null where nothing did.
    #[schema(required)]
    pub before: Option<SignInServerBody>,
    /// Partners that have issuer, resource or a host in common with it; at most 20.
    pub shared_with: Vec<String>,
}

/// An authorization server.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct SignInServerBody {
    /// Its issuer.
    pub issuer: String,
    /// For which resource it gives tokens.
    #[schema(required)]
    pub resource: Option<String>,
    /// Where it and its endpoints are.
    pub origins: Vec<String>,
}

impl From<SignInServer> for SignInServerBody {
    fn from(SignInServer { issuer, resource, origins }: SignInServer) -> Self {
        Self { issuer, resource, origins: origins.into_iter().collect() }
    }
}

/// How a review was decided.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct DecisionBody {
    /// By whom.
    pub by: Actor,
    /// When.
    pub at: String,
    /// What the partner was told.
    pub notes: String,
}

impl From<Decision> for DecisionBody {
    fn from(Decision { by, at_ms, notes, .. }: Decision) -> Self {
        Self { by, at: time(at_ms), notes }
    }
}

/// A review with all that is needed to decide it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ReviewBody {
    #[serde(flatten)]
    pub review: ReviewSummary,
    /// The business.
    pub account: AccountSummary,
    /// What the business says of itself.
    #[schema(required)]
    pub profile: Option<Profile>,
    /// The last look at its privacy policy.
    #[schema(required)]
    pub privacy_policy: Option<PrivacyBody>,
    /// What was submitted, where the review is about a manifest that is still the latest.
    #[schema(required)]
    pub submission: Option<SubmissionBody>,
    /// As it stands now, or as it stood at the decision.
    pub checklist: Vec<ChecklistItem>,
    /// What the business has uploaded; read one by one.
    pub documents: Vec<DocumentBody>,
}

impl From<ReviewView> for ReviewBody {
    fn from(ReviewView { review, account, submission, checklist, documents }: ReviewView) -> Self {
        Self {
            review: ReviewSummary::from(review),
            account: AccountSummary::from(&account),
            profile: account.profile,
            privacy_policy: account.privacy.map(PrivacyBody::from),
            submission: submission.map(SubmissionBody::from),
            checklist,
            documents: documents.into_iter().map(DocumentBody::from).collect(),
        }
    }
}

/// The last look at a privacy policy.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PrivacyBody {
    /// The address that was fetched.
    pub url: String,
    /// When.
    pub checked_at: String,
    /// Whether a page was there.
    pub live: bool,
    /// What was there, or what went wrong.
    pub detail: String,
}

impl From<PrivacyCheck> for PrivacyBody {
    fn from(PrivacyCheck { url, checked_at_ms, live, detail }: PrivacyCheck) -> Self {
        Self { url, checked_at: time(checked_at_ms), live, detail }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::read;

    #[test]
    fn decisions_are_read() {
        let order: DecisionOrder =
            read::<DecisionRequest>(r#"{"decision":"approve","confirmed":["A","B","A"]}"#).expect("read").into();
        assert_eq!((order.verdict, order.notes.as_str(), order.confirmed.len()), (ReviewVerdict::Approve, "", 2));
        let order: DecisionOrder =
            read::<DecisionRequest>(r#"{"decision":"reject","notes":"Mend\nthis."}"#).expect("read").into();
        assert_eq!((order.verdict, order.notes.as_str()), (ReviewVerdict::Reject, "Mend\nthis."));
        for bad in ["{}", r#"{"decision":""}"#, r#"{"decision":"Approve"}"#, r#"{"decision":true}"#, "[]"] {
            assert!(read::<DecisionRequest>(bad).is_err(), "{bad}");
        }
    }
}
