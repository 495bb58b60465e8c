//! Partners' health: who is too slow or too broken to be called, and who has broken the rules too often (spec 1, Latency
//! targets, Forbidden fields; spec 2, Rules that must hold).
//!
//! [`Health`] is asked before each call and told after it; every change comes back as a [`HealthEvent`] with the numbers
//! that decided it.
//!
//! | module | judges |
//! |---|---|
//! | [`latency`] | how long each tool takes, against the contract's targets |
//! | [`pool`] | who leaves an intent's pool for slowness, and when it returns |
//! | [`breaker`] | whose server is down |
//! | [`strikes`] | who is to be suspended |
//!
//! What always holds:
//!
//! - Slowness never empties a pool. The last partner that serves an intent stays, and the slowest of the last two leaves;
//!   where nevertheless all partners of *one* search are out, as in a town that one partner serves, the least slow of
//!   them is called.
//! - Slowness concerns searches. A booking goes to the partner whose option the user has chosen, or to nobody; the breaker
//!   alone stands before it.
//! - Memory is bounded by the number of partners, of which [`PARTNERS_MAX`] are followed at most.
//!
//! Each process judges by the calls of its own, and begins anew after a restart; strikes, which count over months, are
//! told again out of the findings that were kept. Time comes in as an argument.
//!
//! Not here: calling, suspending, writing to the audit log. And nothing of it enters a ranking.

pub mod breaker;
pub mod latency;
mod observed;
mod partner;
pub mod pool;
#[cfg(test)]
mod simulation;
pub mod strikes;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use dashmap::DashMap;
use dashmap::mapref::one::RefMut;
use serde::Serialize;

pub use observed::{Observation, Outcome};
pub use partner::{IntentView, PartnerView};

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::health::{HealthChange, HealthEvent, ReturnReason, Slowness, StrikeCounter};
use intent_gateway_domain::id::{IntentId, PartnerId};
use partner::{PartnerHealth, Standing};

/// Partners followed. More are called as if they were well, until others have been idle for long enough.
pub(crate) const PARTNERS_MAX: usize = 10_000;
/// Least time after which a call to a partner that is down is worth while, milliseconds.
const SHUT_MIN_MS: u64 = 1_000;
/// How often idle partners are looked for once there are that many, milliseconds.
const SWEEP_EVERY_MS: u64 = 60 * 1_000;

/// Why a partner is not called, or only to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// It is out of the intent's pool.
    Slow,
    /// Its breaker is not closed.
    Broken,
}

/// What is said to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It may go.
    Go,
    /// It may go, to see whether the partner is well again; its outcome has to be recorded.
    Probe(Cause),
    /// It may not.
    LeftOut(Cause),
}

/// What is said to a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Admitted {
    /// One for each partner, in the order in which they were given.
    pub admissions: Vec<Admission>,
    /// What changed by asking.
    pub events: Vec<HealthEvent>,
}

/// The health of all partners. Cheap to ask: one lock of one partner for some hundred nanoseconds.
#[derive(Debug)]
pub struct Health {
    partners: DashMap<PartnerId, PartnerHealth>,
    /// One partner leaves a pool at a time, so that the last two do not leave together.
    leaving: Mutex<()>,
    next_sweep_ms: AtomicU64,
    seed: u64,
}

impl Health {
    /// Of nobody yet. The seed decides by how much waits are shortened.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { partners: DashMap::new(), leaving: Mutex::new(()), next_sweep_ms: AtomicU64::new(0), seed }
    }

    /// Which of the partners chosen for a search are called. Whoever is new is well.
    pub fn admit<'a>(
        &self,
        intent: &IntentId,
        partners: impl IntoIterator<Item = &'a PartnerId>,
        now: Timestamp,
    ) -> Admitted {
        let mut admitted = Admitted::default();
        let mut changes = Vec::new();
        let mut least_slow: Option<(usize, Slowness)> = None;
        for id in partners {
            let admission = self.partners.get_mut(id).map_or(Admission::Go, |mut partner| {
                let admission = partner.admit_search(intent, now, &mut changes);
                if admission == Admission::LeftOut(Cause::Slow)
                    && let Standing::Out(slowness) = partner.standing(intent, now)
                    && least_slow.as_ref().is_none_or(|(_, least)| slowness.is_less_than(least))
                {
                    least_slow = Some((admitted.admissions.len(), slowness));
                }
                admission
            });
            admitted.admissions.push(admission);
            admitted.events.extend(describe_changes(&mut changes, id, now));
        }
        let is_served = |admission: &Admission| matches!(admission, Admission::Go | Admission::Probe(Cause::Slow));
        if let Some((place, _)) = least_slow.filter(|_| !admitted.admissions.iter().any(is_served)) {
            admitted.admissions[place] = Admission::Go;
        }
        admitted
    }

    /// Whether a partner is called for an order of its own: only the breaker is asked.
    pub fn admit_call(&self, partner: &PartnerId, now: Timestamp) -> (Admission, Option<HealthEvent>) {
        let mut changes = Vec::new();
        let known = self.partners.get_mut(partner);
        let admission = known.map_or(Admission::Go, |mut known| known.admit_call(now, &mut changes));
        let event = describe_changes(&mut changes, partner, now).next();
        (admission, event)
    }

    /// How long a partner whose breaker is not closed is called by nobody, milliseconds. While one call tries it out, nobody
    /// knows, and a second is told.
    pub fn shut_for_ms(&self, partner: &PartnerId, now: Timestamp) -> u64 {
        let until = self.partners.get(partner).and_then(|known| known.view(partner, now).breaker.until);
        until.map_or(0, |until| until.ms_since(now)).max(SHUT_MIN_MS)
    }

    /// Takes a call that ended; returns what it changed, mostly nothing.
    pub fn record(&self, seen: &Observation<'_>, now: Timestamp) -> Vec<HealthEvent> {
        let mut changes = Vec::new();
        let Some(mut partner) = self.follow(seen.partner, now) else { return Vec::new() };
        let due = partner.record(seen, now, &mut changes);
        // Released before others are looked at: they may be behind the same lock.
        drop(partner);
        let mut events: Vec<HealthEvent> = describe_changes(&mut changes, seen.partner, now).collect();
        if let Some(slowness) = due {
            self.leave(seen.partner, seen.intent, slowness, now, &mut events);
        }
        events
    }

    /// Everything, sorted by partner.
    #[must_use]
    pub fn view(&self, now: Timestamp) -> Vec<PartnerView> {
        let mut views: Vec<PartnerView> = self.partners.iter().map(|it| it.value().view(it.key(), now)).collect();
        views.sort_by(|a, b| a.partner.cmp(&b.partner));
        views
    }

    /// One partner's health, where anything is known of it.
    #[must_use]
    pub fn view_of(&self, partner: &PartnerId, now: Timestamp) -> Option<PartnerView> {
        self.partners.get(partner).map(|known| known.view(partner, now))
    }

    /// A partner's health, new where there was none; absent where there are too many.
    fn follow(&self, partner: &PartnerId, now: Timestamp) -> Option<RefMut<'_, PartnerId, PartnerHealth>> {
        if let Some(known) = self.partners.get_mut(partner) {
            return Some(known);
        }
        if self.partners.len() >= PARTNERS_MAX && !self.sweep(now) {
            return None;
        }
        Some(self.partners.entry(partner.clone()).or_insert_with(|| PartnerHealth::new(self.seed_of(partner))))
    }

    fn seed_of(&self, partner: &PartnerId) -> u64 {
        partner.as_str().bytes().fold(self.seed, |seed, byte| breaker::spread(seed ^ u64::from(byte)))
    }

    /// Forgets idle partners, at most once in a while; says whether there is room.
    fn sweep(&self, now: Timestamp) -> bool {
        let due_ms = self.next_sweep_ms.load(Ordering::Relaxed);
        let next_ms = now.plus_ms(SWEEP_EVERY_MS).as_ms();
        let swap = self.next_sweep_ms.compare_exchange(due_ms, next_ms, Ordering::Relaxed, Ordering::Relaxed);
        if now.as_ms() < due_ms || swap.is_err() {
            return false;
        }
        self.partners.retain(|_, partner| !partner.is_idle(now));
        let has_room = self.partners.len() < PARTNERS_MAX;
        if !has_room {
            tracing::warn!(
                partners = PARTNERS_MAX,
                "more partners than can be followed: the health of some is not judged"
            );
        }
        has_room
    }

    /// Takes a partner out of an intent's pool, unless nobody else would be left in it.
    fn leave(
        &self,
        partner: &PartnerId,
        intent: &IntentId,
        slowness: Slowness,
        now: Timestamp,
        events: &mut Vec<HealthEvent>,
    ) {
        let _one_at_a_time = self.leaving.lock().unwrap_or_else(PoisonError::into_inner);
        let (another_serves, least_slow) = self.others(partner, intent, now);
        let spare = least_slow.filter(|(_, least)| !another_serves && least.is_less_than(&slowness));
        let Some(mut known) = self.partners.get_mut(partner) else { return };
        let Some(pool) = known.pool(intent).filter(|pool| pool.is_due(now)) else { return };
        let intent = intent.clone();
        let change = if another_serves || spare.is_some() {
            pool.eject(slowness.clone(), now);
            HealthChange::Ejected { intent: intent.clone(), slowness }
        } else {
            pool.hold(now);
            HealthChange::HeldBack { intent: intent.clone(), slowness }
        };
        drop(known);
        let back = spare.and_then(|(spare, _)| {
            let mut spared = self.partners.get_mut(&spare)?;
            let by = spared.pool(&intent)?.come_back(ReturnReason::LeastSlow, now)?;
            Some((spare, HealthChange::Returned { intent, by }))
        });
        let both = [back, Some((partner.clone(), change))];
        let event = |(partner, change)| HealthEvent { at_ms: now, partner, change };
        events.extend(both.into_iter().flatten().map(event));
    }

    /// Whether any other partner serves the intent and, where none does, the least slow of those that are out; of equals
    /// the first by name, for the map has no order that two runs share.
    fn others(&self, partner: &PartnerId, intent: &IntentId, now: Timestamp) -> (bool, Option<(PartnerId, Slowness)>) {
        let mut out: Vec<(PartnerId, Slowness)> = Vec::new();
        for other in self.partners.iter().filter(|other| other.key() != partner) {
            match other.standing(intent, now) {
                Standing::Serves => return (true, None),
                Standing::Out(slowness) => out.push((other.key().clone(), slowness)),
                Standing::Elsewhere => {}
            }
        }
        out.sort_by(|a, b| a.0.cmp(&b.0));
        let least_slow = out.into_iter().reduce(|least, next| if next.1.is_less_than(&least.1) { next } else { least });
        (false, least_slow)
    }
}

impl StrikeCounter for Health {
    fn strike(&self, partner: &PartnerId, code: &str, incident: &str, at: Timestamp) -> Option<HealthEvent> {
        let strikes = self.follow(partner, at)?.strikes.strike(code, incident, at)?;
        Some(HealthEvent { at_ms: at, partner: partner.clone(), change: HealthChange::StruckOut(strikes) })
    }

    fn pardon(&self, partner: &PartnerId, until: Timestamp) {
        if let Some(mut known) = self.follow(partner, until) {
            known.strikes.pardon(until);
        }
    }

    fn forget_calls(&self, is_routed: &dyn Fn(&PartnerId) -> bool) {
        self.partners.retain(|id, partner| {
            let stays = is_routed(id);
            if !stays {
                partner.forget_calls(self.seed_of(id));
            }
            stays || !partner.strikes.is_blank()
        });
    }

    fn struck(&self) -> Vec<PartnerId> {
        let struck = self.partners.iter().filter(|partner| partner.strikes.holds_any());
        struck.map(|partner| partner.key().clone()).collect()
    }
}

/// The changes of one partner as events.
fn describe_changes(
    changes: &mut Vec<HealthChange>,
    partner: &PartnerId,
    now: Timestamp,
) -> impl Iterator<Item = HealthEvent> {
    changes.drain(..).map(move |change| HealthEvent { at_ms: now, partner: partner.clone(), change })
}
