//! What an entry knows of a rollout: its stage, since when, and how it ends. Each function makes the next state of the entry and
//! says what has happened; when that is, is decided elsewhere.

use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::share::Share;
use intent_gateway_domain::versions::{ContractEvent, VersionAct};
use intent_gateway_rollout::{EndedRollout, Guard, RolloutEnd, RolloutId, RolloutPause, RolloutPolicy, Stage, Trial};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::entry::{Doing, Entry};

/// A rollout that is under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rollout {
    /// The candidate.
    pub digest: Digest,
    /// The version that was live when it began, and is.
    pub baseline: Digest,
    pub policy: RolloutPolicy,
    /// Its place among the stages of the policy, from 0.
    pub stage: usize,
    pub begun_at_ms: Timestamp,
    /// When the stage began.
    pub stage_at_ms: Timestamp,
    /// How long the stage ran until it was paused last, milliseconds, and since when it runs again.
    pub ran_ms: u64,
    pub running_since_ms: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<RolloutPause>,
    /// Who has begun it, and why.
    pub by: Actor,
    pub why: String,
}

impl Rollout {
    pub(crate) fn id(&self) -> RolloutId {
        RolloutId { digest: self.digest, begun_at_ms: self.begun_at_ms }
    }

    pub(crate) fn stage(&self) -> Option<&Stage> {
        self.policy.stages.get(self.stage)
    }

    /// Whom the candidate serves.
    pub(crate) fn share(&self) -> Share {
        self.stage().map(Stage::share).unwrap_or_default()
    }

    /// How long the stage has run, milliseconds, pauses not counted.
    pub(crate) fn ran_ms(&self, now: Timestamp) -> u64 {
        let running = if self.paused.is_some() { 0 } else { now.ms_since(self.running_since_ms) };
        self.ran_ms.saturating_add(running)
    }

    pub(crate) fn to_trial(&self, intent: &IntentId) -> Trial {
        let compared = self.stage().map(Stage::compared).unwrap_or_default();
        Trial::new(intent.clone(), self.id(), self.baseline, self.stage, compared, self.policy.bounds.slow())
    }
}

/// Who has begun a rollout, how, and why.
pub(crate) struct Begun {
    pub(crate) digest: Digest,
    pub(crate) baseline: Digest,
    pub(crate) policy: RolloutPolicy,
    pub(crate) why: String,
}

impl Entry {
    /// Begins a rollout in its first stage.
    pub(crate) fn begin_rollout(&mut self, begun: Begun, doing: &Doing) -> ContractEvent {
        let Begun { digest, baseline, policy, why } = begun;
        let at_ms = doing.at_ms;
        let detail =
            json!({ "policy": policy, "share_percent": policy.stages.first().map(|stage| stage.share_percent) });
        self.rollout = Some(Rollout {
            digest,
            baseline,
            policy,
            stage: 0,
            begun_at_ms: at_ms,
            stage_at_ms: at_ms,
            ran_ms: 0,
            running_since_ms: at_ms,
            paused: None,
            by: doing.by.clone(),
            why: why.clone(),
        });
        self.note_rollout(digest, VersionAct::RolloutBegun, why, detail, doing)
    }

    /// The next stage begins; after the last one the candidate is live.
    pub(crate) fn advance_rollout(&mut self, why: String, doing: &Doing) -> Vec<ContractEvent> {
        let Some(rollout) = &mut self.rollout else { return Vec::new() };
        let digest = rollout.digest;
        rollout.stage += 1;
        let Some(stage) = rollout.policy.stages.get(rollout.stage).copied() else {
            return self.finish_rollout(why, doing);
        };
        rollout.stage_at_ms = doing.at_ms;
        rollout.running_since_ms = doing.at_ms;
        rollout.ran_ms = 0;
        rollout.paused = None;
        let detail = json!({ "stage": rollout.stage, "share_percent": stage.share_percent });
        vec![self.note_rollout(digest, VersionAct::StageBegun, why, detail, doing)]
    }

    /// The candidate is live.
    pub(crate) fn finish_rollout(&mut self, why: String, doing: &Doing) -> Vec<ContractEvent> {
        let Some(digest) = self.rollout.as_ref().map(|rollout| rollout.digest) else { return Vec::new() };
        let events = self.serve(digest, doing);
        if let Some(ended) = &mut self.last_rollout {
            ended.why = why;
        }
        events
    }

    /// It stays in its stage until it is resumed. Nothing where it is paused already.
    pub(crate) fn pause_rollout(&mut self, why: String, doing: &Doing) -> Option<ContractEvent> {
        let rollout = self.rollout.as_mut().filter(|rollout| rollout.paused.is_none())?;
        rollout.ran_ms = rollout.ran_ms(doing.at_ms);
        rollout.paused = Some(RolloutPause { at_ms: doing.at_ms, by: doing.by.clone(), why: why.clone() });
        let (digest, detail) = (rollout.digest, json!({ "stage": rollout.stage }));
        Some(self.note_rollout(digest, VersionAct::RolloutPaused, why, detail, doing))
    }

    /// Nothing where it is not paused.
    pub(crate) fn resume_rollout(&mut self, why: String, doing: &Doing) -> Option<ContractEvent> {
        let rollout = self.rollout.as_mut().filter(|rollout| rollout.paused.is_some())?;
        rollout.paused = None;
        rollout.running_since_ms = doing.at_ms;
        let (digest, detail) = (rollout.digest, json!({ "stage": rollout.stage }));
        Some(self.note_rollout(digest, VersionAct::RolloutResumed, why, detail, doing))
    }

    /// Ends a rollout, and says so of the candidate where it is not live by that.
    pub(crate) fn end_rollout(
        &mut self,
        end: RolloutEnd,
        why: String,
        broken: Vec<Guard>,
        doing: &Doing,
    ) -> Option<ContractEvent> {
        let Rollout { digest, stage, begun_at_ms, .. } = self.rollout.take()?;
        let candidate = self.version(digest)?.name();
        let detail = json!({ "stage": stage, "end": end, "broken": broken });
        self.last_rollout = Some(EndedRollout {
            candidate,
            begun_at_ms,
            ended_at_ms: doing.at_ms,
            stage,
            end,
            why: why.clone(),
            broken,
            by: doing.by.clone(),
        });
        (end != RolloutEnd::Live).then(|| self.note_rollout(digest, VersionAct::TakenBack, why, detail, doing))
    }

    /// The end of a rollout because something is to serve from now on, or nothing.
    pub(crate) fn conclude_rollout(&mut self, served: Option<Digest>, doing: &Doing) -> Option<ContractEvent> {
        let rollout = self.rollout.as_ref()?;
        if served == Some(rollout.digest) {
            return self.end_rollout(RolloutEnd::Live, "it was made live".to_owned(), Vec::new(), doing);
        }
        let why = match served.and_then(|digest| self.version(digest)) {
            Some(version) => format!("version {} is live", version.version),
            None => "the intent is out of service".to_owned(),
        };
        self.end_rollout(RolloutEnd::Overtaken, why, Vec::new(), doing)
    }

    fn note_rollout(
        &mut self,
        digest: Digest,
        act: VersionAct,
        why: String,
        detail: serde_json::Value,
        doing: &Doing,
    ) -> ContractEvent {
        let live = self.live_name();
        let mut event = self.note_why(digest, act, doing, live, Some(why));
        event.detail = detail;
        event
    }
}
