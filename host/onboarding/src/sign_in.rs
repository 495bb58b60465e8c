//! Which authorization server a partner may send users to. The first that its server names holds, if that is before it first
//! goes live and no other partner's has something in common with it; otherwise what it names has to be what holds, or a person
//! looks at it.
//!
//! Not here: how an authorization server is found and judged (`partners`), and whose tokens go where (`linking`).

use std::collections::BTreeSet;
use std::iter;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::keeper::RecordKeeper;
use super::live::LivePartners;
use super::records::{Account, Connection, Review, ReviewStatus, ReviewSubject};
use super::reviews::ReviewVerdict;
use super::undo::MovedFrom;
use super::{OnboardingError, mail_texts};
use crate::events::{EventData, Word};
use crate::mail_texts::short;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::SignInServers;
use intent_gateway_domain::sign_in::SignInServer;
use intent_gateway_domain::steps::Proposal;
use intent_gateway_domain::store::{Change, Versioned, all, load};

/// Partners that one review names beside the one that it is of.
const SHARED_WITH_MAX: usize = 20;

/// What is known of a partner's sign-in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionSignIn {
    /// What holds.
    pub approved: Option<SignInServer>,
    /// What the partner's server names and nobody has approved. While there is such, nobody's token is used.
    pub named: Option<SignInServer>,
    /// The review of that.
    pub review: Option<String>,
}

impl ConnectionSignIn {
    /// What tokens may be used for.
    pub(crate) fn in_force(&self) -> Option<&SignInServer> {
        self.approved.as_ref().filter(|_| self.named.is_none())
    }

    /// What is named and was not judged yet.
    pub(super) fn noted(&self) -> Option<&SignInServer> {
        self.named.as_ref().filter(|_| self.review.is_none())
    }
}

/// Partners' authorization servers.
pub struct SignIns {
    pub(crate) keeper: RecordKeeper,
    pub(crate) live: Arc<LivePartners>,
}

impl SignInServers for SignIns {
    fn admit<'a>(&'a self, partner: &'a Partner, named: &'a SignInServer) -> BoxFuture<'a, bool> {
        async move {
            match self.judge(partner, named).await {
                Ok(admitted) => admitted,
                Err(error) => {
                    let error = chain(&error);
                    tracing::error!(partner = %partner.id, %error, "an authorization server could not be looked up");
                    false
                }
            }
        }
        .boxed()
    }
}

impl SignIns {
    async fn judge(&self, partner: &Partner, named: &SignInServer) -> Result<bool, OnboardingError> {
        if self.live.is_configured(&partner.id) {
            let admitted = partner.sign_in.as_ref().is_some_and(|approved| approved.admits(named));
            if !admitted {
                tracing::error!(
                    partner = %partner.id, issuer = named.issuer,
                    "the partner names an authorization server that its `sign_in` in the configuration does not"
                );
            }
            return Ok(admitted);
        }
        // In most cases nothing changes, and nothing is read.
        if partner.sign_in.as_ref().is_some_and(|approved| approved.admits(named)) {
            return Ok(true);
        }
        self.keeper
            .step(async || {
                let mut kept = self.keeper.require::<Connection>(partner.id.as_str(), "connection").await?;
                let mut change = Change::default();
                self.keeper.note_sign_in(&mut kept.value.sign_in, named, &mut change).await?;
                change.put(&kept);
                Ok(Proposal::new(change, ()))
            })
            .await?;
        let Connection { sign_in, .. } = self.keeper.judge_sign_in(&partner.id, &self.live).await?;
        self.live.apply_change().await;
        Ok(sign_in.in_force().is_some_and(|approved| approved.admits(named)))
    }
}

impl RecordKeeper {
    /// Notes what a partner's server names. Unless it is what holds, it waits: the step after this one
    /// [judges](Self::judge_sign_in) it. Two partners may name one server at the same moment, and a step conflicts with
    /// those of its own record alone. As each has noted it before it looks at the others, one of them at least sees the other.
    pub(super) async fn note_sign_in(
        &self,
        sign_in: &mut ConnectionSignIn,
        named: &SignInServer,
        change: &mut Change,
    ) -> Result<(), OnboardingError> {
        if sign_in.approved.as_ref().is_some_and(|approved| approved.admits(named)) {
            // Put back as it was: no reason to wait for anybody.
            sign_in.named = None;
            self.supersede(sign_in.review.take().as_deref(), change).await?;
            return Ok(());
        }
        if sign_in.named.as_ref() == Some(named) && self.is_waiting_or_rejected(sign_in).await? {
            return Ok(());
        }
        self.supersede(sign_in.review.take().as_deref(), change).await?;
        sign_in.named = Some(named.clone());
        Ok(())
    }

    /// Judges what was noted, if anything was: it is taken or becomes a review. The connection as it stands then.
    ///
    /// It is taken only where nothing held, no other partner's has anything in common with it, and the connection was never
    /// live: the platform team sees it among the notes of the probe before it switches the connection on.
    pub(super) async fn judge_sign_in(
        &self,
        account: &PartnerId,
        live: &LivePartners,
    ) -> Result<Connection, OnboardingError> {
        self.step(async || {
            // Read before the others are: what is noted here is kept by now, so that they see it.
            let mut kept = self.require::<Connection>(account.as_str(), "connection").await?;
            let Some(named) = kept.value.sign_in.noted().cloned() else { return Ok(Proposal::nothing(kept.value)) };
            let shared_with = self.others_with(account, &named, live).await?;
            let mut change = Change::default();
            let is_first = kept.value.sign_in.approved.is_none() && kept.value.first_live_at_ms.is_none();
            if is_first && shared_with.is_empty() {
                let detail = json!({"issuer": named.issuer, "resource": named.resource});
                kept.value.sign_in = ConnectionSignIn { approved: Some(named), named: None, review: None };
                change.audit.push(self.audit_entry(&Actor::gateway(), "connection.sign_in_taken", account, detail));
            } else {
                self.review_sign_in(&mut kept.value, named, shared_with, &mut change).await?;
            }
            change.put(&kept);
            Ok(Proposal::new(change, kept.value))
        })
        .await
    }

    /// Opens the review of what is named, and tells the partner.
    async fn review_sign_in(
        &self,
        connection: &mut Connection,
        named: SignInServer,
        shared_with: BTreeSet<PartnerId>,
        change: &mut Change,
    ) -> Result<(), OnboardingError> {
        let Connection { account, sign_in, .. } = connection;
        let before = sign_in.approved.clone();
        let subject = ReviewSubject::SignIn { named: named.clone(), before, shared_with: shared_with.clone() };
        let review = self.open_review(account, subject)?;
        sign_in.review = Some(review.id.clone());
        let detail = json!({
            "issuer": named.issuer, "resource": named.resource, "shared_with": shared_with, "review": review.id,
        });
        change.audit.push(self.audit_entry(&Actor::gateway(), "connection.sign_in_questioned", account, detail));
        let owner = self.require::<Account>(account.as_str(), "account").await?.value;
        let text = mail_texts::sign_in(&owner.business_name, &review.id, &named);
        let event = EventData::SignInQuestioned { review_id: review.id.clone(), issuer: short(&named.issuer) };
        self.tell(&owner, Word { subject: "Where your users sign in is under review", text, event }, change)?;
        change.put(&Versioned::new(review));
        Ok(())
    }

    /// Whether the review of what is named is still open, or was decided against it.
    async fn is_waiting_or_rejected(&self, sign_in: &ConnectionSignIn) -> Result<bool, OnboardingError> {
        let Some(id) = &sign_in.review else { return Ok(false) };
        let review = load::<Review>(&*self.store, id).await?;
        let status = review.map(|review| review.value.status);
        Ok(matches!(status, Some(ReviewStatus::Open | ReviewStatus::Rejected)))
    }

    /// Other partners whose sign-in has something in common with what is named. What a partner has moved away from counts: the
    /// move can be undone.
    async fn others_with(
        &self,
        account: &PartnerId,
        named: &SignInServer,
        live: &LivePartners,
    ) -> Result<BTreeSet<PartnerId>, OnboardingError> {
        let mut others: BTreeSet<PartnerId> = live.configured_with(named).into_iter().collect();
        for kept in all::<Connection>(&*self.store, None).await? {
            let Connection { account: other, sign_in, moved_from, .. } = kept.value;
            let sign_ins = iter::once(&sign_in).chain(moved_from.as_ref().map(MovedFrom::sign_in));
            let mut known = sign_ins.flat_map(|sign_in| [&sign_in.approved, &sign_in.named]).flatten();
            if other != *account && known.any(|known| known.overlaps(named)) {
                others.insert(other);
            }
        }
        Ok(others.into_iter().take(SHARED_WITH_MAX).collect())
    }

    /// An approval takes what was reviewed, which is what the server named last; a rejection leaves what holds, and nobody's
    /// token is used until the server names that again.
    pub(super) async fn decide_sign_in(
        &self,
        review: &Review,
        named: &SignInServer,
        verdict: ReviewVerdict,
        change: &mut Change,
    ) -> Result<(), OnboardingError> {
        if verdict == ReviewVerdict::Reject {
            return Ok(());
        }
        let mut kept = self.require::<Connection>(review.account.as_str(), "connection").await?;
        let sign_in = &mut kept.value.sign_in;
        if sign_in.review.as_deref() != Some(review.id.as_str()) || sign_in.named.as_ref() != Some(named) {
            let message = "the server names another authorization server than when the review was opened";
            return Err(OnboardingError::out_of_step("REVIEW_CLOSED", message));
        }
        *sign_in = ConnectionSignIn { approved: sign_in.named.take(), named: None, review: None };
        change.put(&kept);
        Ok(())
    }
}
