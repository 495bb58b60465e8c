//! How fast calls may follow each other, so that no user and no intent floods a partner.
//!
//! - A partner gets as many calls of a tool per minute as the contract states, all users together; where it states none,
//!   only the rates of each user hold.
//! - A user gets one search per second and one create per minute at each partner, and five details per second in all
//!   (spec 1, "Planned outbound rate targets"). A retry is not a new wish of the user and counts for the partner alone; what
//!   the partner refused came to nothing, and the user may sign in, or choose another option, at once.
//! - A partner that asked to slow down is left alone for a while ([`BACK_OFF_MS`]).
//! - A track tool is called at most once in five seconds per order ([`track`]).
//!
//! Nothing is queued: a call that does not fit is told how long to wait, and asks again or is answered with RATE_LIMITED.
//!
//! Where several gateways share a store, the rates hold over all of them ([`sharing`]): each has its part of a partner's rate, a
//! user's turn is taken in the store as well, and a partner that asked one gateway to slow down is left alone by all.

mod back_off;
pub mod sharing;
pub mod track;
mod window;

use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};

use self::back_off::BackOff;
use self::sharing::{SharedSlot, Sharing};
use self::window::{Limit, Slot, Window};
use super::key_of;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{Tool, ToolRole};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::expiring_map::{ExpiringMap, Full};
use intent_gateway_domain::fleet::Fleet;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::user::User;

/// Searches of one user at one partner per second.
pub(crate) const SEARCHES_PER_SECOND: u32 = 1;
/// Details shown to one user per second, over all partners.
pub(crate) const GETS_PER_SECOND: u32 = 5;
/// Creates of one user at one partner per minute, by each tool that creates.
pub(crate) const CREATES_PER_MINUTE: u32 = 1;
/// Tools of partners that are counted at a time.
pub(crate) const PARTNER_TOOLS_MAX: usize = 20_000;
/// Users, or users at a partner, that are counted at a time.
pub(crate) const USERS_MAX: usize = 100_000;
/// Partners that are left alone at a time.
pub(crate) const BACK_OFFS_MAX: usize = 20_000;

const SECOND_MS: u64 = 1_000;
const MINUTE_MS: u64 = 60_000;

/// A call that is about to be made.
#[derive(Clone, Copy, Debug)]
pub struct PacedCall<'a> {
    /// Who would be called.
    pub partner: &'a PartnerId,
    /// The intent: tools of one name in two intents are counted apart.
    pub intent: &'a str,
    pub tool: &'a Tool,
    /// For whom; absent where no user is named.
    pub user: Option<&'a User>,
    /// Whether it repeats a call that was admitted before.
    pub is_repeat: bool,
}

/// A call may not be made yet. It is not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldCall {
    /// Not before so many milliseconds have passed.
    pub wait_ms: u64,
    /// What holds it back.
    pub by: HeldBy,
}

/// What holds a call back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldBy {
    /// The partner asked to slow down.
    BackOff,
    /// The partner's rate for the tool.
    PartnerRate,
    /// The user's rate.
    UserRate,
    /// More partners and users are active than are counted.
    Crowded,
}

/// Where a call was counted against its user's rate.
#[derive(Debug)]
pub struct UserSlot {
    rate: Digest,
    slot: Slot,
    /// In the counts of all gateways, where they count together.
    shared: Option<SharedSlot>,
}

/// Where a call was counted.
#[derive(Debug)]
pub struct Admitted {
    /// Against the partner's rate, where it has one.
    partner: Option<(Digest, Slot)>,
    /// Against its user's, where it takes a turn of one.
    pub user: Option<UserSlot>,
}

/// The counts of one process, and what it shares with others.
pub struct Pace {
    counts: Mutex<Counts>,
    fleet: Fleet,
    sharing: Option<Sharing>,
}

#[derive(Debug)]
struct Counts {
    partner_tools: ExpiringMap<Digest, Window>,
    users: ExpiringMap<Digest, Window>,
    back_offs: ExpiringMap<Digest, BackOff>,
    /// Partners that have asked to slow down and of which the other gateways were not told yet.
    untold: BTreeSet<PartnerId>,
    calls_so_far: u64,
}

/// The counts of a gateway that is alone.
impl Default for Pace {
    fn default() -> Self {
        Self::new(Fleet::default(), None)
    }
}

impl fmt::Debug for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pace").field("fleet", &self.fleet).finish_non_exhaustive()
    }
}

impl Pace {
    /// The counts of one of several gateways, and where they count together.
    #[must_use]
    pub fn new(fleet: Fleet, sharing: Option<Sharing>) -> Self {
        let counts = Counts {
            partner_tools: ExpiringMap::new(PARTNER_TOOLS_MAX),
            users: ExpiringMap::new(USERS_MAX),
            back_offs: ExpiringMap::new(BACK_OFFS_MAX),
            untold: BTreeSet::new(),
            calls_so_far: 0,
        };
        Self { counts: Mutex::new(counts), fleet, sharing }
    }

    /// Admits a call by the counts of this process, and counts it.
    ///
    /// # Errors
    /// [`HeldCall`] where it may not be made yet.
    pub fn admit(&self, call: &PacedCall<'_>, now: Timestamp) -> Result<Admitted, HeldCall> {
        let partner = partner_rate(call, &self.fleet);
        let mut counts = self.counts();
        match counts.longest_wait(call, partner, now) {
            Some(held) => Err(held),
            None => Ok(counts.take(call, partner, now)),
        }
    }

    /// A call that was admitted is not made: nobody has had it.
    pub(crate) fn take_back(&self, Admitted { partner, user }: Admitted) {
        if let Some((tool, slot)) = partner {
            self.counts().partner_tools.change(&tool, |window| window.give_back(slot));
        }
        if let Some(user) = user {
            self.give_back(user);
        }
    }

    /// Counts a call against its user's rate no longer. What it has taken of the counts of all gateways is the caller's to give
    /// back.
    fn give_back(&self, UserSlot { rate, slot, shared }: UserSlot) -> Option<SharedSlot> {
        self.counts().users.change(&rate, |window| window.give_back(slot));
        shared
    }

    /// A call that began at `started` met with RATE_LIMITED.
    pub(crate) fn note_rate_limit(
        &self,
        partner: &PartnerId,
        started: Timestamp,
        retry_after_ms: Option<u64>,
        now: Timestamp,
    ) {
        let key = key_of(&[partner.as_str()]);
        let mut counts = self.counts();
        // Without room the call's own retries and the partner's rate still hold.
        if counts.back_offs.room_for(&key, now).is_ok() {
            let note = |back_off: &mut BackOff| back_off.note_rate_limit(started, retry_after_ms, now);
            counts.back_offs.change_or_insert(key, now, BackOff::default, note);
            if self.sharing.is_some() && self.fleet.shares_counts() && counts.untold.len() < BACK_OFFS_MAX {
                counts.untold.insert(partner.clone());
            }
        }
    }

    /// A call that began at `started` was answered with anything else.
    pub(crate) fn note_answer(&self, partner: &PartnerId, started: Timestamp) {
        self.counts().back_offs.change(&key_of(&[partner.as_str()]), |back_off| back_off.note_answer(started));
    }

    /// Counts are whole after every step, so one that a panic interrupted can be used.
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn left_alone_ms(&self, partner: &PartnerId, now: Timestamp) -> Option<u64> {
        let wait_ms = self.back_offs.get(&key_of(&[partner.as_str()]), now)?.wait_ms(now);
        (wait_ms > 0).then_some(wait_ms)
    }

    /// What holds the call back for the longest.
    fn longest_wait(&mut self, call: &PacedCall<'_>, partner: Option<PartnerRate>, now: Timestamp) -> Option<HeldCall> {
        let left_alone_ms = self.left_alone_ms(call.partner, now);
        let back_off = left_alone_ms.map(|wait_ms| HeldCall { wait_ms, by: HeldBy::BackOff });
        let partner =
            partner.and_then(|(tool, limit)| wait(&mut self.partner_tools, &tool, limit, HeldBy::PartnerRate, now));
        let user = user_rate(call).and_then(|(user, limit)| wait(&mut self.users, &user, limit, HeldBy::UserRate, now));
        [back_off, partner, user].into_iter().flatten().max_by_key(|held| held.wait_ms)
    }

    fn take(&mut self, call: &PacedCall<'_>, partner: Option<PartnerRate>, now: Timestamp) -> Admitted {
        self.calls_so_far += 1;
        let number = self.calls_so_far;
        let partner = partner.map(|(tool, limit)| {
            let take = |window: &mut Window| window.take(limit, now, number);
            (tool, self.partner_tools.change_or_insert(tool, now, Window::default, take))
        });
        let user = user_rate(call).map(|(rate, limit)| {
            let take = |window: &mut Window| window.take(limit, now, number);
            let slot = self.users.change_or_insert(rate, now, Window::default, take);
            UserSlot { rate, slot, shared: None }
        });
        Admitted { partner, user }
    }
}

fn wait(
    windows: &mut ExpiringMap<Digest, Window>,
    key: &Digest,
    limit: Limit,
    by: HeldBy,
    now: Timestamp,
) -> Option<HeldCall> {
    if let Err(Full { until }) = windows.room_for(key, now) {
        return Some(HeldCall { wait_ms: until.ms_since(now).max(1), by: HeldBy::Crowded });
    }
    let wait_ms = windows.change(key, |window| window.wait_ms(limit, now))?;
    (wait_ms > 0).then_some(HeldCall { wait_ms, by })
}

/// A partner's rate of a tool: which, and how much of it is this gateway's.
type PartnerRate = (Digest, Limit);

/// What the partner must bear of all users of this gateway together, where the intent states it.
fn partner_rate(call: &PacedCall<'_>, fleet: &Fleet) -> Option<PartnerRate> {
    let calls = fleet.share(NonZeroU32::new(call.tool.rate_per_minute?).unwrap_or(NonZeroU32::MIN)).get();
    Some((key_of(&[call.partner.as_str(), call.intent, &call.tool.name]), Limit { calls, per_ms: MINUTE_MS }))
}

/// The limit of the user for tools of this role, where there is one.
fn user_rate(call: &PacedCall<'_>) -> Option<(Digest, Limit)> {
    let user = call.user.filter(|_| !call.is_repeat)?.key();
    let partner = call.partner.as_str();
    match call.tool.role {
        ToolRole::Search => {
            Some((key_of(&["search", user, partner]), Limit { calls: SEARCHES_PER_SECOND, per_ms: SECOND_MS }))
        }
        ToolRole::Create => {
            // Each tool by itself: a policy is confirmed, inspected and issued by three of them, one after the other.
            let key = key_of(&["create", user, partner, call.intent, &call.tool.name]);
            Some((key, Limit { calls: CREATES_PER_MINUTE, per_ms: MINUTE_MS }))
        }
        ToolRole::GetDetail => Some((key_of(&["get", user]), Limit { calls: GETS_PER_SECOND, per_ms: SECOND_MS })),
        ToolRole::Modify | ToolRole::Cancel | ToolRole::Track | ToolRole::Rate | ToolRole::Utility => None,
    }
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
