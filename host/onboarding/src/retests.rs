//! A repeated test that a live intent does not pass takes nobody out in silence: the intent is routed for
//! [`RETEST_GRACE_MS`] more, the partner is told what was found and until when, and told again when the time is over.
//!
//! The end is a date in the connection's record, and routing is worked out from that date whenever an index is built
//! ([`LivePartners`](super::LivePartners)). No timer is kept: each gateway asks again and again whether a date has come, so
//! none is missed by one that was down.
//!
//! Not here: the first tests of an intent, before which it is not routed at all.

use serde_json::json;

use super::golive_tests::GoLiveTests;
use super::keeper::RecordKeeper;
use super::mail_texts::{self, of_state};
use super::records::{Account, Connection, FailedRetest, Manifests};
use super::{OnboardingError, text};
use crate::connection::ConnectionState;
use crate::events::{EventData, Word};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::golive::{GoLiveReport, ItemState};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::limits::RETEST_GRACE_MS;
use intent_gateway_domain::steps::Proposal;
use intent_gateway_domain::store::{Change, all, load};

impl FailedRetest {
    /// Whether the intent is routed all the same.
    #[must_use]
    pub fn is_tolerated(&self, now: Timestamp) -> bool {
        now < self.routed_until_ms
    }
}

impl Connection {
    /// Whether an intent's tests let it be routed: the last one passed, or it is one that was repeated and there is still
    /// time to mend what it found.
    pub(crate) fn is_tested(&self, intent: &IntentId, now: Timestamp) -> bool {
        self.tests.get(intent).is_some_and(GoLiveReport::passed)
            || self.failed_retests.get(intent).is_some_and(|failed| failed.is_tolerated(now))
    }

    /// When the next time to mend something is over, or the end of a confirmation has to be told; or when it was and the
    /// partner was not told yet.
    pub(crate) fn due_at(&self) -> Timestamp {
        let untold = self.failed_retests.values().filter(|failed| !failed.end_told);
        let untold = untold.map(|failed| failed.routed_until_ms).min().unwrap_or(Timestamp::MAX);
        untold.min(self.endings_due_at())
    }

    /// Keeps a report. Returns the time that is given where a routed intent has just failed: a further failure gives no
    /// more of it.
    pub(super) fn keep_report(
        &mut self,
        intent: &IntentId,
        report: GoLiveReport,
        routed: bool,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let passed = report.passed();
        let before = self.tests.insert(intent.clone(), report);
        if passed {
            self.failed_retests.remove(intent);
            return None;
        }
        if !routed || !before.is_some_and(|before| before.passed()) {
            return None;
        }
        let routed_until_ms = now.plus_ms(RETEST_GRACE_MS);
        let failed = FailedRetest { at_ms: now, routed_until_ms, end_told: false };
        self.failed_retests.insert(intent.clone(), failed);
        Some(routed_until_ms)
    }

    /// The intents whose time is over and whose partner was not told yet.
    fn ended(&self, now: Timestamp) -> Vec<IntentId> {
        let over = |(_, failed): &(&IntentId, &FailedRetest)| !failed.end_told && !failed.is_tolerated(now);
        self.failed_retests.iter().filter(over).map(|(intent, _)| intent.clone()).collect()
    }
}

impl GoLiveTests {
    /// Keeps a report within a change. Of a test that fails, the change also tells the partner: of a live intent until when it
    /// is routed, of another one unless it was told just that after the test before.
    pub(super) async fn take_report(
        &self,
        connection: &mut Connection,
        intent: &IntentId,
        report: GoLiveReport,
        actor: &Actor,
        change: &mut Change,
    ) -> Result<(), OnboardingError> {
        let (keeper, account, now) = (&self.keeper, connection.account.clone(), self.keeper.now());
        let routed = connection.state == ConnectionState::Live && keeper.is_routable(connection, intent, now).await?;
        let told = connection.tests.get(intent).map(failed_items);
        let until = connection.keep_report(intent, report.clone(), routed, now);
        let failed = failed_items(&report);
        if until.is_none() && (routed || failed.is_empty() || told.as_ref() == Some(&failed)) {
            return Ok(());
        }
        let owner = keeper.require::<Account>(account.as_str(), "account").await?.value;
        let Some(until) = until else {
            let text = mail_texts::failed_test(&owner.business_name, intent, &report);
            let event = EventData::test_failed(intent, &report, None);
            return keeper.tell(
                &owner,
                Word { subject: "A test of your connection did not pass", text, event },
                change,
            );
        };
        let text = mail_texts::failed_retest(&owner.business_name, intent, &report, &text::date_and_time(until));
        let event = EventData::test_failed(intent, &report, Some(text::rfc3339(until)));
        keeper.tell(&owner, Word { subject: "A test of your live connection did not pass", text, event }, change)?;
        let codes = |state| of_state(&report, state).map(|item| item.code.as_str()).collect::<Vec<_>>();
        let detail = json!({
            "intent": intent,
            "failed": codes(ItemState::Failed),
            "by_hand": codes(ItemState::ByHand),
            "routed_until_ms": until,
        });
        change.audit.push(keeper.audit_entry(actor, "connection.retest_failed", &account, detail));
        Ok(())
    }

    /// Tells the partners whose time to mend a failed test is over. Safe to run on several gateways at once: one of them
    /// tells each. Returns how many partners were told.
    ///
    /// # Errors
    /// [`OnboardingError::Store`] when the connections cannot be read.
    pub async fn tell_ended_retests(&self) -> Result<usize, OnboardingError> {
        let mut told = 0;
        for kept in all::<Connection>(&*self.keeper.store, Some(ConnectionState::Live.as_str())).await? {
            let account = kept.value.account;
            if kept.value.failed_retests.is_empty() {
                continue;
            }
            match self.tell_ended(&account).await {
                Ok(mailed) => told += usize::from(mailed),
                // One whose records cannot be read keeps nobody else from being told.
                Err(error) => {
                    let error = chain(&error);
                    tracing::warn!(partner = %account, %error, "the end of a failed test's time could not be told");
                }
            }
        }
        Ok(told)
    }

    /// Whether anything was told.
    async fn tell_ended(&self, account: &PartnerId) -> Result<bool, OnboardingError> {
        let keeper = &self.keeper;
        keeper
            .step(async || {
                let mut kept = keeper.require::<Connection>(account.as_str(), "connection").await?;
                let ended = kept.value.ended(keeper.now());
                if ended.is_empty() || kept.value.state != ConnectionState::Live {
                    return Ok(Proposal::nothing(false));
                }
                for intent in &ended {
                    if let Some(failed) = kept.value.failed_retests.get_mut(intent) {
                        failed.end_told = true;
                    }
                }
                let mut change = Change::default();
                change.put(&kept);
                let detail = json!({"intents": ended});
                let gateway = Actor::gateway();
                change.audit.push(keeper.audit_entry(&gateway, "connection.retest_time_over", account, detail));
                let listed = keeper.still_listed(account, ended).await?;
                if !listed.is_empty() {
                    let owner = keeper.require::<Account>(account.as_str(), "account").await?.value;
                    let subject = "Requests are not routed to you any more";
                    let text = ended_mail(&owner, &listed);
                    let event = EventData::RoutingEnded { intents: listed.clone() };
                    keeper.tell(&owner, Word { subject, text, event }, &mut change)?;
                }
                Ok(Proposal::new(change, !listed.is_empty()))
            })
            .await
    }
}

impl RecordKeeper {
    /// Those of some intents that the manifest in force lists. Of the others there is nothing to tell: the partner has dropped
    /// them itself.
    pub(super) async fn still_listed(
        &self,
        account: &PartnerId,
        mut intents: Vec<IntentId>,
    ) -> Result<Vec<IntentId>, OnboardingError> {
        let manifests = load::<Manifests>(&*self.store, account.as_str()).await?;
        let approved = manifests.and_then(|kept| kept.value.approved);
        intents.retain(|intent| {
            approved.as_ref().is_some_and(|approved| approved.manifest.entry(intent.as_str()).is_some())
        });
        Ok(intents)
    }

    /// Whether an intent is among those that requests are routed to, were the connection live.
    async fn is_routable(
        &self,
        connection: &Connection,
        intent: &IntentId,
        now: Timestamp,
    ) -> Result<bool, OnboardingError> {
        let manifests = load::<Manifests>(&*self.store, connection.account.as_str()).await?;
        let approved = manifests.and_then(|kept| kept.value.approved);
        Ok(approved.is_some_and(|approved| connection.routable(&approved.manifest, now).any(|routed| routed == intent)))
    }
}

/// What failed of a test, code and detail.
fn failed_items(report: &GoLiveReport) -> Vec<(String, String)> {
    of_state(report, ItemState::Failed).map(|item| (item.code.clone(), item.detail.clone())).collect()
}

fn ended_mail(owner: &Account, ended: &[IntentId]) -> String {
    let intents = ended.iter().map(|intent| format!("- {intent}\n")).collect::<String>();
    format!(
        "Hello {},\n\nthe time to mend a test that did not pass is over. Requests of these intents are not routed to you any \
         more:\n\n{intents}\nMend what failed and ask the platform team to test again: once the test passes, requests are \
         routed again. `intent-gateway partner status` shows the report.\n",
        owner.business_name
    )
}
