//! Where an account stands and what is next: what a partner sees first.

use intent_gateway_domain::signing_keys::Webhook;

use super::documents::documents_of;
use super::next::{NextStep, next_steps};
use super::records::{Account, Connection, Credentials, Manifests, Review};
use super::reviews::checklist_of;
use super::{Accounts, OnboardingError};
use crate::compliance::WantedItem;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::store::load;

/// An account with all that belongs to it.
#[derive(Clone, Debug)]
pub struct Overview {
    pub account: Account,
    /// Its credentials, without a secret.
    pub credentials: Option<Credentials>,
    /// Its webhook, without a key.
    pub webhook: Option<Webhook>,
    pub manifests: Option<Manifests>,
    pub connection: Option<Connection>,
    /// The review of changed tools, where there was one.
    pub(crate) drift_review: Option<Review>,
    /// The checklist of the latest submission, as the partner sees it: as it stands now, or as it stood at the decision.
    pub checklist: Vec<WantedItem>,
    /// What is left to do until requests are routed, in order.
    pub next: Vec<NextStep>,
}

impl Accounts {
    /// Everything about an account, and what is next.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`].
    pub async fn overview(&self, account: &PartnerId) -> Result<Overview, OnboardingError> {
        let key = account.as_str();
        let store = &*self.keeper.store;
        let mut overview = Overview {
            account: self.get(account).await?,
            credentials: load(store, key).await?.map(|kept| kept.value),
            webhook: load(store, key).await?.map(|kept| kept.value),
            manifests: load(store, key).await?.map(|kept| kept.value),
            connection: load(store, key).await?.map(|kept| kept.value),
            drift_review: None,
            checklist: Vec::new(),
            next: Vec::new(),
        };
        if let Some(review) = overview.connection.as_ref().and_then(|connection| connection.drift_review.as_deref()) {
            overview.drift_review = load(store, review).await?.map(|kept| kept.value);
        }
        overview.checklist = self.checklist(&overview).await?;
        overview.next = next_steps(&overview, self.keeper.now());
        Ok(overview)
    }

    async fn checklist(&self, overview: &Overview) -> Result<Vec<WantedItem>, OnboardingError> {
        let Some(manifests) = &overview.manifests else { return Ok(Vec::new()) };
        let review: Option<Review> = match &manifests.review {
            Some(review) => load(&*self.keeper.store, review).await?.map(|kept| kept.value),
            None => None,
        };
        let items = match review.and_then(|review| review.decision) {
            Some(decision) => decision.checklist,
            None => checklist_of(&overview.account, &manifests.latest, self.keeper.now()),
        };
        let documents = documents_of(&self.keeper, &overview.account.id).await?;
        let uploaded: Vec<_> = documents.iter().map(|document| document.kind).collect();
        Ok(items.iter().map(|item| WantedItem::of(item, &uploaded)).collect())
    }
}
