//! For how long a person's word holds that a go-live requirement is met, and what follows when it ends (spec 2, "Rules that
//! must hold": certificates of the current year, a directory of garages that is stale after 90 days and brings a warning,
//! then suspension).
//!
//! The contract states the days. Of a live intent, partner and platform team are told 30 and 7 days before the end, and a
//! review is opened. At the end both are warned, and the intent is routed for [`CONFIRMATION_GRACE_MS`] more. Then it is not
//! routed, until somebody has confirmed anew; the partner's other intents are.
//!
//! The grace begins with the warning and not with the end: nobody loses traffic without one, though the days were stated
//! after the confirmation was given, or no gateway ran when it ended. The dates are in the connection's record, and routing
//! is worked out from them as it is after a failed re-test ([`retests`](super::retests)).

mod mails;
mod telling;

#[cfg(test)]
pub(crate) use telling::TOLD_MAX;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::OnboardingError;
use super::keeper::RecordKeeper;
use super::records::{Connection, HeldConfirmation};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::Descriptor;
use intent_gateway_domain::golive::{Confirmation, GoLiveError, GoLiveReport, ItemState};
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::limits::{
    CONFIRMATION_FIRST_NOTICE_MS, CONFIRMATION_GRACE_MS, CONFIRMATION_LAST_NOTICE_MS, DAY_MS,
};
use intent_gateway_domain::ports::Contracts;
use intent_gateway_domain::store::Change;

/// How near the end of a confirmation is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stage {
    /// Far away, or there is none.
    #[default]
    Holds,
    /// The first notice is due.
    FirstNotice,
    /// The last one is.
    LastNotice,
    /// It has ended; the intent is routed all the same.
    Ended,
    /// It has ended, and the time that was given is over.
    Unrouted,
}

/// A confirmation that has come to a stage of which nobody was told yet.
#[derive(Clone, Debug)]
pub(crate) struct Ending {
    pub(crate) intent: IntentId,
    pub(crate) code: String,
    /// What must hold.
    pub(crate) text: String,
    pub(crate) stage: Stage,
    pub(crate) valid_until: Timestamp,
    /// Once it has ended.
    pub(crate) routed_until: Option<Timestamp>,
}

impl HeldConfirmation {
    /// One that was just given.
    pub(crate) fn new(at_ms: Timestamp, by: Option<Actor>, valid_days: Option<u32>) -> Self {
        Self { at_ms, by, valid_days, told: Stage::Holds, routed_until_ms: None, review: None }
    }

    /// When it ends; none where it holds for good.
    #[must_use]
    pub fn valid_until(&self) -> Option<Timestamp> {
        self.valid_days.map(|days| self.at_ms.plus_ms(u64::from(days) * DAY_MS))
    }

    pub(crate) fn stage(&self, now: Timestamp) -> Stage {
        let Some(end) = self.valid_until() else { return Stage::Holds };
        if self.routed_until_ms.is_some_and(|until| until <= now) {
            Stage::Unrouted
        } else if end <= now {
            Stage::Ended
        } else if end.minus_ms(CONFIRMATION_LAST_NOTICE_MS) <= now {
            Stage::LastNotice
        } else if end.minus_ms(CONFIRMATION_FIRST_NOTICE_MS) <= now {
            Stage::FirstNotice
        } else {
            Stage::Holds
        }
    }

    /// When it comes to a stage of which nobody was told yet, or did.
    fn due_at(&self) -> Timestamp {
        let Some(end) = self.valid_until() else { return Timestamp::MAX };
        match self.told {
            Stage::Holds => end.minus_ms(CONFIRMATION_FIRST_NOTICE_MS),
            Stage::FirstNotice => end.minus_ms(CONFIRMATION_LAST_NOTICE_MS),
            Stage::LastNotice => end,
            Stage::Ended => self.routed_until_ms.unwrap_or(Timestamp::MAX),
            Stage::Unrouted => Timestamp::MAX,
        }
    }

    /// Takes the days that the contract states now. Another end is told anew.
    fn set_days(&mut self, valid_days: Option<u32>) {
        if self.valid_days != valid_days {
            *self = Self { review: self.review.take(), ..Self::new(self.at_ms, self.by.take(), valid_days) };
        }
    }
}

impl Connection {
    /// Whether what people have confirmed of an intent lets it be routed.
    pub(crate) fn is_confirmed(&self, intent: &IntentId, now: Timestamp) -> bool {
        self.confirmations_of(intent).all(|(_, held)| held.stage(now) < Stage::Unrouted)
    }

    /// The requirements of an intent whose confirmation is near its end or past it.
    pub(crate) fn endings_of<'a>(
        &'a self,
        intent: &IntentId,
        now: Timestamp,
    ) -> impl Iterator<Item = (&'a str, &'a HeldConfirmation)> {
        self.confirmations_of(intent).filter(move |(_, held)| held.stage(now) > Stage::Holds)
    }

    /// Whether a confirmation of an intent has ended.
    pub(crate) fn has_ended(&self, intent: &IntentId, now: Timestamp) -> bool {
        self.confirmations_of(intent).any(|(_, held)| held.stage(now) >= Stage::Ended)
    }

    /// When the end of a confirmation has to be told next, or had.
    pub(crate) fn endings_due_at(&self) -> Timestamp {
        let held = self.confirmations.values().flat_map(BTreeMap::values);
        held.map(HeldConfirmation::due_at).min().unwrap_or(Timestamp::MAX)
    }

    fn confirmations_of<'a>(&'a self, intent: &IntentId) -> impl Iterator<Item = (&'a str, &'a HeldConfirmation)> {
        let held = self.confirmations.get(intent).into_iter().flatten();
        held.map(|(code, held)| (code.as_str(), held))
    }

    /// Keeps what a test has just confirmed. What it leaves open ends as it would have; what it asks no more is forgotten.
    pub(super) fn hold(
        &mut self,
        intent: &IntentId,
        report: &GoLiveReport,
        given: impl IntoIterator<Item = (String, HeldConfirmation)>,
    ) {
        let held = self.confirmations.entry(intent.clone()).or_default();
        held.retain(|code, _| report.items.iter().any(|item| item.code == *code));
        held.extend(given);
    }

    /// Confirms anew what a review was about; the rest of it was confirmed meanwhile.
    ///
    /// # Errors
    /// `REVIEW_CLOSED` when nothing is left of it.
    pub(super) fn renew(
        &mut self,
        intent: &IntentId,
        review: &str,
        note: &str,
        actor: &Actor,
        now: Timestamp,
    ) -> Result<(), OnboardingError> {
        let mut given = Vec::new();
        for (code, held) in self.confirmations.get_mut(intent).into_iter().flatten() {
            if held.review.as_deref() == Some(review) {
                *held = HeldConfirmation::new(now, Some(actor.clone()), held.valid_days);
                given.push(Confirmation { code: code.clone(), note: note.to_owned() });
            }
        }
        let report = self.tests.get(intent).filter(|_| !given.is_empty()).cloned();
        let gone = || OnboardingError::out_of_step("REVIEW_CLOSED", "all of it was confirmed or tested anew meanwhile");
        let mut report = report.ok_or_else(gone)?;
        report.confirm(&given).map_err(GoLiveError::from)?;
        self.keep_report(intent, report, false, now);
        Ok(())
    }

    /// Gives each confirmation the days that the contracts state now. One that an earlier release has kept without its time
    /// has that of its test.
    pub(super) fn date_confirmations(&mut self, contracts: &dyn Contracts) {
        for (intent, report) in &self.tests {
            let Some(contract) = contracts.live(intent.as_str()) else { continue };
            let confirmed = report.items.iter().filter(|item| item.state == ItemState::Confirmed);
            let held = self.confirmations.entry(intent.clone()).or_default();
            for item in confirmed {
                let undated = || HeldConfirmation::new(report.at_ms, None, None);
                let held = held.entry(item.code.clone()).or_insert_with(undated);
                held.set_days(contract.descriptor().valid_days(&item.code));
            }
        }
    }

    /// The reviews of confirmations that are there.
    pub(super) fn renewal_reviews(&self) -> BTreeSet<String> {
        let held = self.confirmations.values().flat_map(BTreeMap::values);
        held.filter_map(|held| held.review.clone()).collect()
    }

    /// What has come to a stage of which nobody was told yet, which is told from now on. The time that is given after an end
    /// begins here.
    fn take_endings(&mut self, now: Timestamp) -> Vec<Ending> {
        let mut endings = Vec::new();
        for (intent, held) in &mut self.confirmations {
            let items = self.tests.get(intent).map(|report| report.items.as_slice()).unwrap_or_default();
            for (code, held) in held {
                let (stage, end) = (held.stage(now), held.valid_until());
                let Some(valid_until) = end.filter(|_| stage > held.told) else { continue };
                held.told = stage;
                if stage == Stage::Ended {
                    held.routed_until_ms = Some(now.plus_ms(CONFIRMATION_GRACE_MS));
                }
                let text = items.iter().find(|item| item.code == *code).map(|item| item.text.clone());
                endings.push(Ending {
                    intent: intent.clone(),
                    code: code.clone(),
                    text: text.unwrap_or_default(),
                    stage,
                    valid_until,
                    routed_until: held.routed_until_ms,
                });
            }
        }
        endings
    }
}

/// The confirmations that a person gives with a test, as they are kept.
pub(super) fn begin_confirmations<'a>(
    confirmed: &'a [Confirmation],
    descriptor: &'a Descriptor,
    actor: &'a Actor,
    now: Timestamp,
) -> impl Iterator<Item = (String, HeldConfirmation)> + 'a {
    confirmed.iter().map(move |Confirmation { code, .. }| {
        (code.clone(), HeldConfirmation::new(now, Some(actor.clone()), descriptor.valid_days(code)))
    })
}

impl RecordKeeper {
    /// Closes the reviews of confirmations that were there before and are not any more.
    pub(super) async fn supersede_renewals(
        &self,
        before: &BTreeSet<String>,
        connection: &Connection,
        change: &mut Change,
    ) -> Result<(), OnboardingError> {
        for review in before.difference(&connection.renewal_reviews()) {
            self.supersede(Some(review), change).await?;
        }
        Ok(())
    }
}
