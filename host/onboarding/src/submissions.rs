//! Submitting a manifest (spec 1, Manifest; States and transitions).

use std::sync::Arc;

use serde_json::{Value, json};

use super::OnboardingError;
use super::keeper::RecordKeeper;
use super::records::{Account, Manifests, ReviewSubject, Submission};
use crate::manifest::{self, PhoneManifest, Status, Terms};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::ports::Contracts;
use intent_gateway_domain::steps::Proposal;
use intent_gateway_domain::store::{Change, Versioned, load};

/// The outcome of a submission.
#[derive(Clone, Debug)]
pub struct Submitted {
    /// The submission as it is kept.
    pub submission: Submission,
    /// The review that waits for the platform team, where one does.
    pub review: Option<String>,
}

/// Manifests that partners submit.
pub struct Submissions {
    pub(crate) keeper: RecordKeeper,
    pub(crate) contracts: Arc<dyn Contracts>,
    /// `{base_url}` of the platform, without a slash at its end.
    pub(crate) base_url: String,
}

impl Submissions {
    /// Checks a manifest and keeps it; the one before is replaced. An approved one stays in force until the platform
    /// team has decided.
    ///
    /// # Errors
    /// [`OnboardingError::Refused`] with every violation of the checks at submit; nothing changes then.
    pub async fn submit(&self, account: &PartnerId, body: &Value, actor: &Actor) -> Result<Submitted, OnboardingError> {
        self.keeper.require::<Account>(account.as_str(), "account").await?;
        let catalogue = manifest::Catalogue::of(&*self.contracts);
        let terms = Terms { catalogue: &catalogue, partner: account, base_url: &self.base_url };
        let accepted = manifest::submit(body, &terms).map_err(OnboardingError::Refused)?;
        self.keeper
            .step(async || {
                let kept = load::<Manifests>(&*self.keeper.store, account.as_str()).await?;
                let before = kept.as_ref().map(|kept| &kept.value.latest);
                let status = manifest::next_on_submit(before.map(|it| it.status), accepted.submit_for_review);
                let submission = Submission {
                    number: before.map_or(1, |before| before.number + 1),
                    status,
                    manifest: accepted.manifest.clone(),
                    warnings: accepted.warnings.clone(),
                    flags: accepted.flags.clone(),
                    submitted_at_ms: self.keeper.now(),
                    submitted_by: actor.clone(),
                    notes: None,
                    documents: Vec::new(),
                };
                let revision = kept.as_ref().map_or(0, |kept| kept.revision);
                let (approved, open, inflation_reviews) = kept
                    .map(|Versioned { value, .. }| (value.approved, value.review, value.inflation_reviews))
                    .unwrap_or_default();
                let mut change = Change::default();
                self.keeper.supersede(open.as_deref(), &mut change).await?;
                let mut review = None;
                if status == Status::PendingReview {
                    let opened =
                        self.keeper.open_review(account, ReviewSubject::Manifest { number: submission.number })?;
                    review = Some(opened.id.clone());
                    change.put(&Versioned::new(opened));
                }
                let detail = json!({"number": submission.number, "status": status, "review": review});
                change.audit.push(self.keeper.audit_entry(actor, "manifest.submitted", account, detail));
                let latest = submission.clone();
                let (account, review_id) = (account.clone(), review.clone());
                let value = Manifests { account, latest, approved, review: review_id, inflation_reviews };
                change.put(&Versioned { revision, value });
                Ok(Proposal::new(change, Submitted { submission, review }))
            })
            .await
    }

    /// Writes the manifest of a business that is reached by phone from a short form. Nothing is kept.
    ///
    /// # Errors
    /// [`OnboardingError::Refused`] with everything that is wrong with the form.
    pub async fn generate_by_phone(&self, account: &PartnerId, form: &Value) -> Result<PhoneManifest, OnboardingError> {
        self.keeper.require::<Account>(account.as_str(), "account").await?;
        let catalogue = manifest::Catalogue::of(&*self.contracts);
        let terms = Terms { catalogue: &catalogue, partner: account, base_url: &self.base_url };
        manifest::generate_by_phone(form, &terms).map_err(OnboardingError::Refused)
    }

    /// The manifests of an account.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`] when none was submitted.
    pub async fn get(&self, account: &PartnerId) -> Result<Manifests, OnboardingError> {
        Ok(self.keeper.require::<Manifests>(account.as_str(), "manifest").await?.value)
    }
}
