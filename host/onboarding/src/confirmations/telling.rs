//! Tells partner and platform team of confirmations that end, and opens the reviews of them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::{Ending, Stage, mails};
use crate::OnboardingError;
use crate::connection::ConnectionState;
use crate::events::{EventData, Word};
use crate::golive_tests::GoLiveTests;
use crate::records::{Account, Connection, ReviewSubject};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::steps::Proposal;
use intent_gateway_domain::store::{Change, Pages, Versioned};

/// Partners that are told in one go; the others stay due.
pub(crate) const TOLD_MAX: usize = 100;

impl GoLiveTests {
    /// Tells partners and team of confirmations that end soon, have ended, or keep an intent from being routed; each stage
    /// once. Safe to run on several gateways at once: one of them tells each. At most [`TOLD_MAX`] partners are told.
    /// Returns how many were.
    ///
    /// # Errors
    /// [`OnboardingError::Store`] when the connections cannot be read.
    pub async fn tell_ending_confirmations(&self) -> Result<usize, OnboardingError> {
        let (mut told, mut live) = (0, Pages::<Connection>::of(Some(ConnectionState::Live.as_str())));
        while let Some(connections) = live.next(&*self.keeper.store).await? {
            for kept in connections {
                if kept.value.endings_due_at() > self.keeper.now() {
                    continue;
                }
                let account = &kept.value.account;
                match self.tell_endings(account).await {
                    Ok(mailed) => told += usize::from(mailed),
                    // One whose records cannot be read keeps nobody else from being told.
                    Err(error) => {
                        let error = chain(&error);
                        tracing::warn!(partner = %account, %error, "the end of a confirmation could not be told");
                    }
                }
                if told == TOLD_MAX {
                    return Ok(told);
                }
            }
        }
        Ok(told)
    }

    /// Whether anything was told.
    async fn tell_endings(&self, account: &PartnerId) -> Result<bool, OnboardingError> {
        let keeper = &self.keeper;
        keeper
            .step(async || {
                let mut kept = keeper.require::<Connection>(account.as_str(), "connection").await?;
                if kept.value.state != ConnectionState::Live {
                    return Ok(Proposal::nothing(false));
                }
                let mut endings = kept.value.take_endings(keeper.now());
                if endings.is_empty() {
                    return Ok(Proposal::nothing(false));
                }
                let mut change = Change::default();
                self.note_endings(account, &endings, &mut change);
                let intents: BTreeSet<IntentId> = endings.iter().map(|ending| ending.intent.clone()).collect();
                let listed = keeper.still_listed(account, intents.into_iter().collect()).await?;
                endings.retain(|ending| listed.contains(&ending.intent));
                if !endings.is_empty() {
                    self.review_endings(&mut kept.value, &endings, &mut change)?;
                    let owner = keeper.require::<Account>(account.as_str(), "account").await?.value;
                    let (subject, text) = mails::to_partner(&owner, &endings);
                    let event = EventData::confirmations(&endings);
                    keeper.tell(&owner, Word { subject, text, event }, &mut change)?;
                    if let Some(team) = &self.team_email {
                        let (subject, text) = mails::to_team(&owner, &endings);
                        change.mail.push(keeper.mail(team, &subject, text)?);
                    }
                }
                change.put(&kept);
                Ok(Proposal::new(change, !endings.is_empty()))
            })
            .await
    }

    fn note_endings(&self, account: &PartnerId, endings: &[Ending], change: &mut Change) {
        let mut by_action: BTreeMap<&str, Vec<_>> = BTreeMap::new();
        for Ending { intent, code, stage, valid_until, routed_until, .. } in endings {
            let action = match stage {
                Stage::Holds | Stage::FirstNotice | Stage::LastNotice => "connection.confirmations_ending",
                Stage::Ended => "connection.confirmations_ended",
                Stage::Unrouted => "connection.confirmations_lapsed",
            };
            let one =
                json!({"intent": intent, "code": code, "valid_until_ms": valid_until, "routed_until_ms": routed_until});
            by_action.entry(action).or_default().push(one);
        }
        for (action, confirmations) in by_action {
            let detail = json!({"confirmations": confirmations});
            change.audit.push(self.keeper.audit_entry(&Actor::gateway(), action, account, detail));
        }
    }

    /// Opens a review for each intent, of those confirmations of which there is none yet.
    fn review_endings(
        &self,
        connection: &mut Connection,
        endings: &[Ending],
        change: &mut Change,
    ) -> Result<(), OnboardingError> {
        for (intent, held) in &mut connection.confirmations {
            let mut items = BTreeMap::new();
            let mut due_at = None;
            for Ending { code, text, valid_until, .. } in endings.iter().filter(|ending| ending.intent == *intent) {
                if held.get(code).is_some_and(|held| held.review.is_none()) {
                    items.insert(code.clone(), text.clone());
                    due_at = Some(due_at.map_or(*valid_until, |due_at| (*valid_until).min(due_at)));
                }
            }
            let Some(due_at) = due_at else { continue };
            let codes: Vec<String> = items.keys().cloned().collect();
            let subject = ReviewSubject::Renewal { intent: intent.clone(), items };
            let mut review = self.keeper.open_review(&connection.account, subject)?;
            review.due_at_ms = review.due_at_ms.max(due_at);
            for code in codes {
                if let Some(held) = held.get_mut(&code) {
                    held.review = Some(review.id.clone());
                }
            }
            change.put(&Versioned::new(review));
        }
        Ok(())
    }
}
