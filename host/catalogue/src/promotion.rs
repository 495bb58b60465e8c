//! Takes rollouts from stage to stage: tells the others what this gateway has seen, looks at what all have, and goes on or back.
//! Whoever sees it first changes the entry; the others find it changed.

use std::sync::PoisonError;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::steps::{self, Proposal};
use intent_gateway_domain::store::{Change, Kind, Record, Store, StoreError, Versioned, load};
use intent_gateway_domain::versions::{ContractAdminError, ContractEvent, VersionAct, VersionEvent, WaitedFor, Whence};
use intent_gateway_rollout::{
    Course, Evidence, Guard, IntentRollouts, Missing, RolloutAct, RolloutDesk, RolloutEnd, RolloutError, RolloutId,
    RolloutOrder, RolloutStatus, StageVerdict, guards, judge,
};
use serde::{Deserialize, Serialize};

use crate::entry::{Doing, Entry};
use crate::following::change_of;
use crate::rollout::{Begun, Rollout};
use crate::service::Catalogue;
use crate::state::{self, Verdict, row_key};

/// How a gateway is called that has no lease: it is alone.
const ALONE: &str = "alone";

/// What a gateway has seen of a rollout: a record for each gateway and intent, written by that gateway.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SeenRollout {
    pub intent: IntentId,
    pub gateway: String,
    pub rollout: RolloutId,
    pub evidence: Evidence,
}

impl Record for SeenRollout {
    const KIND: Kind = Kind::RolloutEvidence;

    fn key(&self) -> String {
        row_key(&self.intent, &self.gateway)
    }
}

/// What this gateway has told of a rollout.
pub(crate) struct ToldEvidence {
    /// Of which account of it: another one begins with nothing.
    account: u64,
    /// What was told in the accounts before, of an earlier process for one. Read once: what is told afterwards comes on top of it.
    before: Evidence,
    /// Additions that were told.
    additions: u64,
    /// Revision of the record; none where it has to be read.
    revision: Option<u64>,
}

/// What all gateways together have seen of a rollout.
async fn evidence(store: &dyn Store, intent: &IntentId, rollout: RolloutId) -> Result<Evidence, StoreError> {
    let mut all = Evidence::default();
    for row in state::rows::<SeenRollout>(store, intent).await? {
        if row.value.rollout == rollout {
            all.merge(&row.value.evidence);
        }
    }
    Ok(all)
}

/// Tells the log what a rule has decided.
fn tell_of(events: &[ContractEvent]) {
    for ContractEvent { intent, version, event, .. } in events {
        let VersionEvent { act, why, .. } = event;
        match act {
            VersionAct::TakenBack => {
                tracing::error!(%intent, %version, why, "the candidate of a rollout is taken back")
            }
            VersionAct::StageBegun => tracing::info!(%intent, %version, why, "the next stage of a rollout begins"),
            _ => tracing::info!(%intent, %version, why, "a rollout has ended: its candidate is live"),
        }
    }
}

/// What becomes of a stage.
enum Next {
    Back(Vec<Guard>),
    On,
}

impl Catalogue {
    /// Tells what was seen, and judges what all have seen.
    pub(crate) async fn follow_rollouts(&self) -> Result<(), ContractAdminError> {
        let under_way: Vec<(IntentId, Rollout)> = {
            let view = self.view();
            let rollout = |entry: &Entry| Some((entry.intent.clone(), entry.rollout.clone()?));
            view.entries.values().filter_map(rollout).collect()
        };
        if under_way.is_empty() {
            return Ok(());
        }
        self.tell_evidence().await?;
        for (intent, rollout) in under_way {
            let seen = evidence(self.store(), &intent, rollout.id()).await?;
            self.note_course(&intent, &rollout, &seen, Course::note);
            let next = match judge(&rollout.policy, rollout.stage, &seen, rollout.ran_ms(self.setup.clock.now())) {
                StageVerdict::Broken(broken) => {
                    // What has broken it is the last thing that is known of it.
                    self.note_course(&intent, &rollout, &seen, Course::add);
                    Next::Back(broken)
                }
                StageVerdict::Passed if rollout.paused.is_none() => Next::On,
                StageVerdict::Passed | StageVerdict::Waits(_) => continue,
            };
            if matches!(next, Next::On) && !self.awaited_for(&intent, rollout.digest).await?.is_empty() {
                continue;
            }
            let events = steps::run(self.store(), || self.decide_next(&intent, &rollout, &next)).await?;
            tell_of(&events);
            self.apply().await?;
        }
        Ok(())
    }

    /// Adds what is known of a rollout now to its course.
    fn note_course(
        &self,
        intent: &IntentId,
        rollout: &Rollout,
        seen: &Evidence,
        note: impl FnOnce(&mut Course, Timestamp, usize, &Evidence),
    ) {
        let mut courses = self.courses.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(course) = courses.of(intent, rollout.id(), &rollout.policy) {
            note(course, self.setup.clock.now(), rollout.stage, seen);
        }
    }

    async fn decide_next(
        &self,
        intent: &IntentId,
        judged: &Rollout,
        next: &Next,
    ) -> Result<Proposal<Vec<ContractEvent>>, ContractAdminError> {
        let Some(mut entry) = load::<Entry>(self.store(), intent.as_str()).await? else {
            return Ok(Proposal::nothing(Vec::new()));
        };
        let is_same = |rollout: &Rollout| {
            rollout.id() == judged.id()
                && rollout.stage == judged.stage
                && rollout.paused.is_some() == judged.paused.is_some()
        };
        if !entry.value.rollout.as_ref().is_some_and(is_same) {
            return Ok(Proposal::nothing(Vec::new()));
        }
        let doing = self.by_rule();
        let events = match next {
            Next::On => {
                entry.value.advance_rollout("what was seen is enough, and no bound is broken".to_owned(), &doing)
            }
            Next::Back(broken) => {
                let why = broken.iter().map(Guard::explain).collect::<Vec<_>>().join("; ");
                let ended = entry.value.end_rollout(RolloutEnd::TakenBack, why, broken.clone(), &doing);
                ended.into_iter().collect()
            }
        };
        Ok(Proposal::new(change_of(&entry, events.clone()), events))
    }

    fn by_rule(&self) -> Doing {
        Doing { at_ms: self.setup.clock.now(), whence: Whence::Rollout, by: Actor::gateway() }
    }

    /// Gateways that live and do not have a version ready.
    async fn awaited_for(&self, intent: &IntentId, digest: Digest) -> Result<Vec<WaitedFor>, StoreError> {
        let rows = state::rows::<state::GatewayState>(self.store(), intent).await?;
        let live = self.setup.leases.live().await?;
        Ok(match state::judge(digest, rows.iter().map(|row| &row.value), &live) {
            Verdict::Ready => Vec::new(),
            Verdict::NotReady(gateways) => gateways,
        })
    }

    /// Writes what was seen here since the last time.
    async fn tell_evidence(&self) -> Result<(), StoreError> {
        let gateway = self.own().map_or_else(|| ALONE.to_owned(), |own| own.id.to_string());
        let mut told = self.told.lock().await;
        let trials = self.setup.trials.all();
        told.retain(|intent, told| {
            trials.iter().any(|trial| trial.intent == *intent && trial.account() == told.account)
        });
        for trial in trials {
            let key = row_key(&trial.intent, &gateway);
            if !told.contains_key(&trial.intent) {
                let kept = load::<SeenRollout>(self.store(), &key).await?;
                let of_this = kept.filter(|row| row.value.rollout == trial.id);
                let before = of_this.map(|row| row.value.evidence).unwrap_or_default();
                let new = ToldEvidence { account: trial.account(), before, additions: 0, revision: None };
                told.insert(trial.intent.clone(), new);
            }
            let Some(last) = told.get_mut(&trial.intent) else { continue };
            let (additions, own) = trial.seen();
            if last.additions == additions {
                continue;
            }
            let mut evidence = last.before.clone();
            evidence.merge(&own);
            let value =
                SeenRollout { intent: trial.intent.clone(), gateway: gateway.clone(), rollout: trial.id, evidence };
            // Whatever becomes of the commit: where nobody answers, it may hold.
            let revision = match last.revision.take() {
                Some(known) => known,
                None => load::<SeenRollout>(self.store(), &key).await?.map_or(0, |row| row.revision),
            };
            let mut change = Change::default();
            change.put(&Versioned { revision, value });
            // Where somebody has written or removed it, it is tried again the next time.
            if steps::commit_unless_changed(self.store(), change).await? {
                last.additions = additions;
                // At which revision a new record begins, the store says.
                last.revision = (revision > 0).then_some(revision + 1);
            }
        }
        Ok(())
    }

    async fn begin_rollout(&self, order: RolloutOrder) -> Result<RolloutStatus, RolloutError> {
        let policy = order.policy.unwrap_or_default();
        policy.check()?;
        self.apply().await?;
        let unknown = || ContractAdminError::Unknown(order.digest.to_string());
        let intent = self.view().entry_of(order.digest).map(|entry| entry.intent.clone()).ok_or_else(unknown)?;
        self.require_trusted(order.digest)?;
        if !self.view().is_ready(order.digest) {
            return Err(unknown().into());
        }
        let doing = Doing { at_ms: self.setup.clock.now(), whence: Whence::Rollout, by: order.by };
        steps::run(self.store(), || async {
            let mut entry = load::<Entry>(self.store(), intent.as_str()).await?.ok_or_else(unknown)?;
            let version = entry.value.version(order.digest).ok_or_else(unknown)?.version.clone();
            let Some(baseline) = entry.value.live else { return Err(RolloutError::NothingLive(intent.clone())) };
            if baseline == order.digest {
                return Err(RolloutError::Live(version));
            }
            let on_its_way = entry.value.coming.as_ref().map(|coming| coming.digest);
            let on_its_way = on_its_way.or(entry.value.rollout.as_ref().map(|rollout| rollout.digest));
            if let Some(other) = on_its_way {
                let other = entry.value.version(other).map_or(version, |other| other.version.clone());
                return Err(RolloutError::UnderWay(other));
            }
            let begun = Begun { digest: order.digest, baseline, policy: policy.clone(), why: order.why.clone() };
            let event = entry.value.begin_rollout(begun, &doing);
            Ok(Proposal::new(change_of(&entry, vec![event]), ()))
        })
        .await?;
        self.apply().await?;
        // It says at once what this gateway has ready.
        self.report().await?;
        let status = self.read_rollout(intent.as_str()).await?.current;
        // Where it has ended meanwhile, it was never under way for whoever asked.
        status.ok_or_else(|| RolloutError::None(intent.to_string()))
    }

    async fn act_on_rollout(&self, intent: &str, act: RolloutAct, why: String, by: Actor) -> Result<(), RolloutError> {
        let doing = Doing { at_ms: self.setup.clock.now(), whence: Whence::Rollout, by };
        let none = || RolloutError::None(intent.to_owned());
        steps::run(self.store(), || async {
            let kept = load::<Entry>(self.store(), intent).await?;
            let mut entry = kept.filter(|entry| entry.value.rollout.is_some()).ok_or_else(none)?;
            let of = &mut entry.value;
            let events: Vec<ContractEvent> = match act {
                RolloutAct::Pause => of.pause_rollout(why.clone(), &doing).into_iter().collect(),
                RolloutAct::Resume => of.resume_rollout(why.clone(), &doing).into_iter().collect(),
                RolloutAct::Abort => {
                    of.end_rollout(RolloutEnd::Aborted, why.clone(), Vec::new(), &doing).into_iter().collect()
                }
                RolloutAct::Advance => of.advance_rollout(why.clone(), &doing),
                RolloutAct::Finish => of.finish_rollout(why.clone(), &doing),
            };
            // Paused or resumed already.
            if events.is_empty() {
                return Ok::<_, RolloutError>(Proposal::nothing(()));
            }
            Ok(Proposal::new(change_of(&entry, events), ()))
        })
        .await?;
        self.apply().await?;
        Ok(())
    }

    async fn read_rollout(&self, intent: &str) -> Result<IntentRollouts, RolloutError> {
        self.read_rollout_of(intent).await.map_err(|error| match error {
            ContractAdminError::Unknown(intent) => RolloutError::None(intent),
            error => error.into(),
        })
    }

    async fn read_rollout_of(&self, intent: &str) -> Result<IntentRollouts, ContractAdminError> {
        self.apply().await?;
        let entry = self.view().entries.get(intent).cloned();
        let entry = entry.ok_or_else(|| ContractAdminError::Unknown(intent.to_owned()))?;
        let last = entry.last_rollout.clone();
        let name = |digest| entry.version(digest).map(crate::entry::EntryVersion::name);
        let Some(rollout) = entry.rollout.clone() else { return Ok(IntentRollouts { current: None, last }) };
        let (Some(candidate), Some(baseline)) = (name(rollout.digest), name(rollout.baseline)) else {
            return Ok(IntentRollouts { current: None, last });
        };
        self.tell_evidence().await?;
        let seen = evidence(self.store(), &entry.intent, rollout.id()).await?;
        let now = self.setup.clock.now();
        let missing = match judge(&rollout.policy, rollout.stage, &seen, rollout.ran_ms(now)) {
            StageVerdict::Waits(missing) => missing,
            StageVerdict::Broken(_) | StageVerdict::Passed => Missing { decisions: 0, ms: 0 },
        };
        let waits_for = self.awaited_for(&entry.intent, rollout.digest).await?;
        let status = RolloutStatus {
            intent: entry.intent,
            candidate,
            baseline,
            begun_at_ms: rollout.begun_at_ms,
            guards: guards(&rollout.policy, &seen),
            seen: (0..=rollout.stage).map(|stage| seen.of_stage(stage)).collect(),
            stage: rollout.stage,
            stage_at_ms: rollout.stage_at_ms,
            policy: rollout.policy,
            paused: rollout.paused,
            by: rollout.by,
            why: rollout.why,
            missing,
            waits_for,
        };
        Ok(IntentRollouts { current: Some(status), last })
    }

    /// Ends the rollout of a candidate that keeps failing, in whatever it is called for; nothing where it is the candidate of none.
    pub(crate) async fn take_back_failing(&self, failing: Digest, why: &str) -> Result<(), ContractAdminError> {
        let of_rollout = |entry: &&Entry| entry.rollout.as_ref().is_some_and(|rollout| rollout.digest == failing);
        let Some(intent) = self.view().entries.values().find(of_rollout).map(|entry| entry.intent.clone()) else {
            return Ok(());
        };
        let doing = self.by_rule();
        let events = steps::run(self.store(), || async {
            let kept = load::<Entry>(self.store(), intent.as_str()).await?;
            let Some(mut entry) = kept.filter(|entry| of_rollout(&&entry.value)) else {
                return Ok::<_, ContractAdminError>(Proposal::nothing(Vec::new()));
            };
            let ended = entry.value.end_rollout(RolloutEnd::TakenBack, why.to_owned(), Vec::new(), &doing);
            let ended: Vec<ContractEvent> = ended.into_iter().collect();
            Ok(Proposal::new(change_of(&entry, ended.clone()), ended))
        })
        .await?;
        tell_of(&events);
        self.apply().await?;
        Ok(())
    }

    /// Removes what was seen of rollouts that are over.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn forget_evidence(&self) -> Result<u64, StoreError> {
        self.apply().await?;
        let under_way: Vec<RolloutId> =
            self.view().entries.values().filter_map(|entry| Some(entry.rollout.as_ref()?.id())).collect();
        steps::forget_all::<SeenRollout>(self.store(), |row| !under_way.contains(&row.rollout)).await
    }
}

impl RolloutDesk for Catalogue {
    fn course(&self, intent: &str) -> Option<Course> {
        self.courses.lock().unwrap_or_else(PoisonError::into_inner).find(intent).cloned()
    }

    fn begin(&self, order: RolloutOrder) -> BoxFuture<'_, Result<RolloutStatus, RolloutError>> {
        self.begin_rollout(order).boxed()
    }

    fn act<'a>(
        &'a self,
        intent: &'a str,
        act: RolloutAct,
        why: String,
        by: Actor,
    ) -> BoxFuture<'a, Result<(), RolloutError>> {
        self.act_on_rollout(intent, act, why, by).boxed()
    }

    fn rollout<'a>(&'a self, intent: &'a str) -> BoxFuture<'a, Result<IntentRollouts, RolloutError>> {
        self.read_rollout(intent).boxed()
    }
}
