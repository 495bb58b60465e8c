//! Declared signals held against delivered results (spec 1, TTBS signal meaning): shown to the platform team, and
//! raised as a review where they are materially inflated.
//!
//! The rule is [`Delivered::inflation`]. Here is who is judged by it, and how often: of one partner and intent one
//! review is open at most, and once it was decided the same signals are let alone until enough new reports have come.
//! The manifests' record names the last review of each intent, so that of several gateways that find the same one
//! raises it.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::json;

use super::OnboardingError;
use super::keeper::RecordKeeper;
use super::live::LivePartners;
use super::records::{Manifests, Review, ReviewStatus, ReviewSubject};
use super::reviews::ReviewVerdict;
use crate::delivered::{DELIVERED_WINDOW_MS, Delivered, Inflated, Measure, REPORTS_MIN};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::contract::Axes;
use intent_gateway_domain::delivered::Deliveries;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::ports::Contracts;
use intent_gateway_domain::steps::Proposal;
use intent_gateway_domain::store::{Change, Versioned, load};

/// Reports since the decision until the same signals are looked at again: as many as a first look asks for.
pub(crate) const REPORTS_BETWEEN_REVIEWS: u64 = REPORTS_MIN;

/// What a partner delivers of an intent, beside what it declares.
#[derive(Clone, Debug)]
pub struct DeliveredComparison {
    /// Out of the reports of the last [`DELIVERED_WINDOW_MS`].
    pub delivered: Delivered,
    /// The signals of the manifest in force, or of the configuration; absent where the partner does not list the
    /// intent any more.
    pub declared: Option<Axes>,
    /// Those that are inflated.
    pub inflated: Vec<Inflated>,
    /// The last review of that.
    pub review: Option<String>,
}

/// What partners deliver, held against what they declare.
pub struct DeliveredResults {
    pub(crate) keeper: RecordKeeper,
    pub(crate) contracts: Arc<dyn Contracts>,
    pub(crate) live: Arc<LivePartners>,
    /// Tells what was reported.
    pub(crate) books: Arc<dyn Deliveries>,
}

impl DeliveredResults {
    /// What was delivered, beside what is declared, by partner and intent; of one partner alone if given.
    ///
    /// # Errors
    /// [`OnboardingError::Store`].
    pub async fn compare(&self, partner: Option<&PartnerId>) -> Result<Vec<DeliveredComparison>, OnboardingError> {
        let directory = self.live.directory().all();
        let configured = |partner: &PartnerId, intent: &IntentId| {
            let known = directory.iter().find(|known| known.id == *partner)?;
            known.listing(intent.as_str()).map(|listing| listing.declared)
        };
        let mut compared: Vec<DeliveredComparison> = Vec::new();
        let mut kept: Option<Manifests> = None;
        for delivered in self.sums(partner).await? {
            let Delivered { partner, intent, .. } = &delivered;
            // They come partner by partner.
            if compared.last().is_none_or(|last| last.delivered.partner != *partner) {
                kept = load::<Manifests>(&*self.keeper.store, partner.as_str()).await?.map(|kept| kept.value);
            }
            let declared = match kept.as_ref() {
                Some(manifests) => manifests.declared(intent),
                None => configured(partner, intent),
            };
            let inflated = declared.map(|declared| delivered.inflation(&declared)).unwrap_or_default();
            let review = kept.as_ref().and_then(|manifests| manifests.inflation_reviews.get(intent).cloned());
            compared.push(DeliveredComparison { delivered, declared, inflated, review });
        }
        Ok(compared)
    }

    /// Raises a review for every partner and intent whose declared signals are materially inflated, and supersedes
    /// those still open of signals that were replaced meanwhile. Safe to run on several gateways at once, and as
    /// often as one likes. Returns how many reviews were raised.
    ///
    /// # Errors
    /// [`OnboardingError::Store`].
    pub async fn review_inflation(&self) -> Result<usize, OnboardingError> {
        let mut raised = 0;
        for delivered in self.sums(None).await? {
            match self.review_one(&delivered).await {
                Ok(new) => raised += usize::from(new),
                // One whose records cannot be read, or never stay still, keeps nobody else from being judged.
                Err(error) => {
                    let (partner, intent, error) = (&delivered.partner, &delivered.intent, chain(&error));
                    tracing::warn!(%partner, %intent, %error, "declared signals could not be held against reports");
                }
            }
        }
        Ok(raised)
    }

    async fn sums(&self, partner: Option<&PartnerId>) -> Result<Vec<Delivered>, OnboardingError> {
        let tallies = self.books.sum_delivered(partner, self.keeper.now().minus_ms(DELIVERED_WINDOW_MS)).await?;
        let charged = |intent: &IntentId| {
            let live = self.contracts.live(intent.as_str())?;
            Some(live.descriptor().completion.charged_statuses.clone())
        };
        Ok(Delivered::sum_up(tallies, charged))
    }

    /// Whether a review was raised.
    async fn review_one(&self, delivered: &Delivered) -> Result<bool, OnboardingError> {
        let Delivered { partner, intent, .. } = delivered;
        self.keeper
            .step(async || {
                // A partner of the configuration is the platform team's own entry: there is nobody to send it back to.
                let Some(mut kept) = load::<Manifests>(&*self.keeper.store, partner.as_str()).await? else {
                    return Ok(Proposal::nothing(false));
                };
                let declared = kept.value.declared(intent);
                let inflated = declared.map(|declared| delivered.inflation(&declared)).unwrap_or_default();
                let mut change = Change::default();
                match kept.value.inflation_reviews.get(intent) {
                    None if inflated.is_empty() => return Ok(Proposal::nothing(false)),
                    None => {}
                    Some(id) => {
                        let last = self.keeper.require::<Review>(id, "review").await?.value;
                        if !last.is_about(declared) {
                            self.keeper.supersede(Some(id), &mut change).await?;
                            kept.value.inflation_reviews.remove(intent);
                        } else if last.status == ReviewStatus::Open
                            || inflated.is_empty()
                            || self.decided_lately(delivered, &last).await?
                        {
                            return Ok(Proposal::nothing(false));
                        }
                    }
                }
                let raised = declared.filter(|_| !inflated.is_empty());
                if let Some(declared) = raised {
                    let subject = ReviewSubject::Inflation { intent: intent.clone(), declared, inflated };
                    let review = self.keeper.open_review(partner, subject)?;
                    let detail = json!({"intent": intent, "review": review.id});
                    change.audit.push(self.keeper.audit_entry(
                        &Actor::gateway(),
                        "manifest.signals_inflated",
                        partner,
                        detail,
                    ));
                    kept.value.inflation_reviews.insert(intent.clone(), review.id.clone());
                    change.put(&Versioned::new(review));
                }
                // Always written: of several that decide at once, one does not find the record as it was.
                change.put(&kept);
                Ok(Proposal::new(change, raised.is_some()))
            })
            .await
    }

    /// Whether too few reports have come since a review was decided to look at the same signals again.
    async fn decided_lately(&self, delivered: &Delivered, review: &Review) -> Result<bool, OnboardingError> {
        let Some(decision) = &review.decision else { return Ok(false) };
        let tallies = self.books.sum_delivered(Some(&delivered.partner), decision.at_ms).await?;
        let since: u64 =
            tallies.iter().filter(|tally| tally.intent == delivered.intent).map(|tally| tally.reports).sum();
        Ok(since < REPORTS_BETWEEN_REVIEWS)
    }
}

impl Manifests {
    /// The signals that are in force for an intent.
    fn declared(&self, intent: &IntentId) -> Option<Axes> {
        let entry = self.approved.as_ref()?.manifest.entry(intent.as_str())?;
        Some(entry.ttbs_signals)
    }
}

impl Review {
    /// Whether it is about these signals.
    fn is_about(&self, signals: Option<Axes>) -> bool {
        matches!(&self.subject, ReviewSubject::Inflation { declared, .. } if Some(*declared) == signals)
    }
}

/// What the partner is told: what it declares and what it delivered, and nothing of how either counts.
pub(super) fn outcome(intent: &IntentId, inflated: &[Inflated], verdict: ReviewVerdict) -> String {
    if verdict == ReviewVerdict::Approve {
        return format!("the signals that you declare for {intent} were compared with your reports, and stand.");
    }
    let mut text = format!("the signals that you declare for {intent} claim more than your completion reports show:\n");
    for Inflated { axis, declared, measure, delivered, reports, .. } in inflated {
        let axis = axis.as_str();
        let seen = match measure {
            Measure::CompletionRate => format!("{:.0} % of {reports} orders were completed", delivered * 100.0),
            Measure::MeanLateMinutes => {
                format!("over {reports} orders, the service began {delivered:.0} minutes late on average")
            }
        };
        // Writing into a String never fails.
        let _ = write!(text, "\n- {axis}: declared {declared}; {seen}");
    }
    text.push_str("\n\nPlease correct ttbs_signals in your manifest and submit it again.");
    text
}
