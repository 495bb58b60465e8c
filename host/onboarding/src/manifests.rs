//! Submitting a manifest (spec 1, Manifest; States and transitions).

use serde_json::{Value, json};

use super::records::{Account, Manifests, Review, ReviewStatus, ReviewSubject, Submission};
use super::reviews::REVIEW_DUE_MS;
use super::{Onboarding, OnboardingError};
use crate::manifest::{self, Status, Terms};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::steps::Proposal;
use intent_gateway_domain::store::{Change, Versioned, load};

/// What came of a submission.
#[derive(Clone, Debug)]
pub struct Submitted {
    /// The submission as it is kept.
    pub submission: Submission,
    /// The review that waits for the platform team, where one does.
    pub review: Option<String>,
}

impl Onboarding {
    /// Checks a manifest and keeps it; the one before is replaced. An approved one stays in force until the platform
    /// team has decided.
    ///
    /// # Errors
    /// [`OnboardingError::Refused`] with every violation of the checks at submit; nothing changes then.
    pub async fn submit_manifest(
        &self,
        account: &PartnerId,
        body: &Value,
        actor: &Actor,
    ) -> Result<Submitted, OnboardingError> {
        self.existing::<Account>(account.as_str(), "account").await?;
        let catalogue = manifest::Catalogue::of(&*self.contracts);
        let terms = Terms { catalogue: &catalogue, partner: account, base_url: &self.settings.base_url };
        let accepted = manifest::submit(body, &terms).map_err(OnboardingError::Refused)?;
        self.step(async || {
            let kept = load::<Manifests>(&*self.store, account.as_str()).await?;
            let before = kept.as_ref().map(|kept| &kept.value.latest);
            let status = manifest::next_on_submit(before.map(|it| it.status), accepted.submit_for_review);
            let submission = Submission {
                number: before.map_or(1, |before| before.number + 1),
                status,
                manifest: accepted.manifest.clone(),
                warnings: accepted.warnings.clone(),
                flags: accepted.flags.clone(),
                submitted_at_ms: self.now(),
                submitted_by: actor.clone(),
                notes: None,
            };
            let revision = kept.as_ref().map_or(0, |kept| kept.revision);
            let (approved, open, inflation_reviews) = kept
                .map(|Versioned { value, .. }| (value.approved, value.review, value.inflation_reviews))
                .unwrap_or_default();
            let mut change = Change::default();
            self.supersede(open.as_deref(), &mut change).await?;
            let mut review = None;
            if status == Status::PendingReview {
                let opened = self.open_review(account, ReviewSubject::Manifest { number: submission.number })?;
                review = Some(opened.id.clone());
                change.put(&Versioned::new(opened));
            }
            let detail = json!({"number": submission.number, "status": status, "review": review});
            change.audit.push(self.record(actor, "manifest.submitted", account, detail));
            let latest = submission.clone();
            let (account, review_id) = (account.clone(), review.clone());
            let value = Manifests { account, latest, approved, review: review_id, inflation_reviews };
            change.put(&Versioned { revision, value });
            Ok(Proposal::new(change, Submitted { submission, review }))
        })
        .await
    }

    /// The manifests of an account.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`] when none was submitted.
    pub async fn manifests(&self, account: &PartnerId) -> Result<Manifests, OnboardingError> {
        Ok(self.existing::<Manifests>(account.as_str(), "manifest").await?.value)
    }

    pub(super) fn open_review(&self, account: &PartnerId, subject: ReviewSubject) -> Result<Review, OnboardingError> {
        let now = self.now();
        Ok(Review {
            // The time first, so that the queue is in the order in which it came.
            id: self.new_id(&format!("rev_{now:013}_"))?,
            account: account.clone(),
            subject,
            status: ReviewStatus::Open,
            opened_at_ms: now,
            due_at_ms: now + REVIEW_DUE_MS,
            decision: None,
        })
    }

    /// A review of what was replaced has nothing to decide any more.
    pub(super) async fn supersede(&self, review: Option<&str>, change: &mut Change) -> Result<(), OnboardingError> {
        let Some(id) = review else { return Ok(()) };
        let mut review = self.existing::<Review>(id, "review").await?;
        if review.value.status == ReviewStatus::Open {
            review.value.status = ReviewStatus::Superseded;
            change.put(&review);
        }
        Ok(())
    }
}
