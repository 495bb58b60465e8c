//! How often a caller may ask: requests in a minute and in a day, of an orchestrator, of an account and of a single token; and the
//! header fields that say what is left (draft-ietf-httpapi-ratelimit-headers-10).
//!
//! Each gateway counts for itself, and gives its share of a quota, which is that of all gateways together: a caller has the whole of it
//! where its requests are spread evenly. Not here: who it is that asks, which [`crate::auth`] knows; how often somebody without a token may,
//! which [`crate::client`] counts; the rates of calls to partners.

use std::fmt::Write as _;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use intent_gateway_domain::clock::{Clock, Timestamp};
use intent_gateway_domain::expiring_map::{Expires, ExpiringMap};
use intent_gateway_domain::fleet::Fleet;

use crate::auth::{Caller, Role};
use crate::rates::LiveRates;

/// Callers of one quota that have a count of their own. Further ones share counts with others like them, so that nobody's count is
/// dropped for them.
const KEYS_MAX: usize = 64 * 1024;
/// Counts that those share.
const SHARED_COUNTS: u64 = 1_024;
const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const LIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// Requests that somebody may make; without a number, as many as they like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    pub per_minute: Option<NonZeroU32>,
    pub per_day: Option<NonZeroU32>,
}

/// The quotas of callers with a token. Admins have none: whoever has to look after a gateway gets in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quotas {
    /// Of an orchestrator: issuer and subject of its tokens.
    pub orchestrator: Quota,
    /// Of a partner's account, whoever acts for it with a partner's token.
    pub account: Quota,
    /// Of a single token of either.
    pub token: Quota,
}

/// What one quota says of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Remaining {
    /// The quota's name in the header fields.
    pub(crate) name: &'static str,
    /// Requests in a window.
    pub(crate) requests: u32,
    pub(crate) window: Duration,
    /// Requests that are left of it.
    pub(crate) left: u32,
    /// When it is whole again.
    pub(crate) whole_in: Duration,
}

/// What the quotas say that a request was counted in.
#[derive(Debug, Default)]
pub(crate) struct Counted(Vec<Remaining>);

impl Counted {
    pub(crate) fn add(&mut self, remaining: Remaining) {
        self.0.push(remaining);
    }

    /// The header fields; none where nothing was counted.
    pub(crate) fn fields(&self) -> Option<RateLimitFields> {
        let (mut policy, mut limit) = (String::new(), String::new());
        for (index, Remaining { name, requests, window, left, whole_in }) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            // Writing to a String cannot fail.
            let _ = write!(policy, "{comma}\"{name}\";q={requests};w={}", window.as_secs());
            let _ = write!(limit, "{comma}\"{name}\";r={left};t={}", whole_seconds(*whole_in));
        }
        let value = |text: String| HeaderValue::from_str(&text).ok().filter(|_| !self.0.is_empty());
        Some(RateLimitFields { policy: value(policy)?, limit: value(limit)? })
    }
}

/// Seconds, a part of one counted in full.
fn whole_seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

/// `RateLimit-Policy` and `RateLimit`, among an answer's extensions: a refusal is written out anew further out.
#[derive(Clone, Debug)]
pub(crate) struct RateLimitFields {
    policy: HeaderValue,
    limit: HeaderValue,
}

impl RateLimitFields {
    pub(crate) fn insert_into(self, headers: &mut HeaderMap) {
        headers.insert(POLICY, self.policy);
        headers.insert(LIMIT, self.limit);
    }
}

/// Counts callers against their quotas.
pub(crate) struct QuotaKeeper {
    rates: Arc<LiveRates>,
    /// Of a minute and of a day, as for the others.
    orchestrator: [Counter; 2],
    account: [Counter; 2],
    token: [Counter; 2],
    clock: Arc<dyn Clock>,
}

impl QuotaKeeper {
    pub(crate) fn new(rates: Arc<LiveRates>, clock: Arc<dyn Clock>, fleet: &Fleet) -> Self {
        let counters = |[of_minute, of_day]: [&'static str; 2]| {
            [Counter::new(of_minute, MINUTE, fleet), Counter::new(of_day, DAY, fleet)]
        };
        Self {
            rates,
            orchestrator: counters(["orchestrator-minute", "orchestrator-day"]),
            account: counters(["account-minute", "account-day"]),
            token: counters(["token-minute", "token-day"]),
            clock,
        }
    }

    /// Counts a request of a caller, whose token has this signed part: first for the token, so that one that is used up takes nothing
    /// from its caller's other ones.
    ///
    /// # Errors
    /// The time after which the next one is let in.
    pub(crate) fn count(&self, caller: &Caller, token: &str, counted: &mut Counted) -> Result<(), Duration> {
        let Quotas { orchestrator, account, token: of_token } = self.rates.now().quotas;
        let (own, quota, name) = match caller.role {
            Role::Orchestrator => (&self.orchestrator, orchestrator, caller.name()),
            // An account is one, whichever issuer's token opens it.
            Role::Partner => (&self.account, account, caller.subject.clone()),
            Role::Admin => return Ok(()),
        };
        let now = self.clock.now();
        count_in(&self.token, of_token, token, now, counted)?;
        count_in(own, quota, &name, now, counted)
    }
}

/// Counts a request in those windows that are bounded.
fn count_in(
    [minute, day]: &[Counter; 2],
    Quota { per_minute, per_day }: Quota,
    name: &str,
    now: Timestamp,
    counted: &mut Counted,
) -> Result<(), Duration> {
    [(minute, per_minute), (day, per_day)]
        .into_iter()
        .filter_map(|(counter, requests)| Some((counter, requests?)))
        .try_for_each(|(counter, requests)| counter.count(name, requests, now, counted))
}

/// The counts of each caller in one kind of window. A window begins with a caller's first request and ends for that caller alone.
struct Counter {
    name: &'static str,
    window: Duration,
    fleet: Fleet,
    counts: Mutex<Counts>,
    /// Seeded anew in each process, so that nobody can look for names that share a count.
    hashes: RandomState,
}

struct Counts {
    own: ExpiringMap<u64, Window>,
    shared: ExpiringMap<u64, Window>,
}

/// What a caller has used.
struct Window {
    ends_at: Timestamp,
    used: u32,
}

impl Expires for Window {
    fn ends_at(&self) -> Timestamp {
        self.ends_at
    }
}

impl Counter {
    fn new(name: &'static str, window: Duration, fleet: &Fleet) -> Self {
        Self::with_room(name, window, fleet, KEYS_MAX)
    }

    fn with_room(name: &'static str, window: Duration, fleet: &Fleet, keys_max: usize) -> Self {
        // Numbers below the bound: the shared counts are never more.
        let shared = ExpiringMap::new(usize::try_from(SHARED_COUNTS).unwrap_or(usize::MAX));
        let counts = Mutex::new(Counts { own: ExpiringMap::new(keys_max), shared });
        Self { name, window, fleet: fleet.clone(), counts, hashes: RandomState::new() }
    }

    /// Counts a request of so many that all gateways together let in.
    fn count(
        &self,
        key: impl Hash,
        requests: NonZeroU32,
        now: Timestamp,
        counted: &mut Counted,
    ) -> Result<(), Duration> {
        let key = self.hashes.hash_one(key);
        let requests = self.fleet.share(requests).get();
        let window_ms = u64::try_from(self.window.as_millis()).unwrap_or(u64::MAX);
        let (is_in, left, whole_in) = {
            // Counts are whole after every step, so that those which a panic interrupted can be used.
            let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
            let Counts { own, shared } = &mut *counts;
            own.forget_ended(now);
            shared.forget_ended(now);
            let (map, key) = match own.room_for(&key, now) {
                Ok(()) => (own, key),
                Err(_full) => (shared, key % SHARED_COUNTS),
            };
            let new = || Window { ends_at: now.plus_ms(window_ms), used: 0 };
            map.change_or_insert(key, now, new, |window| {
                let is_in = window.used < requests;
                window.used += u32::from(is_in);
                let whole_in = window.ends_at.as_ms().saturating_sub(now.as_ms());
                // A share shrinks when a gateway comes, and a quota when it is set anew: more may be used than it is.
                (is_in, requests.saturating_sub(window.used), Duration::from_millis(whole_in))
            })
        };
        counted.add(Remaining { name: self.name, requests, window: self.window, left, whole_in });
        if is_in { Ok(()) } else { Err(whole_in) }
    }
}

#[cfg(test)]
mod tests {
    use intent_gateway_testing::clock::TestClock;
    use intent_gateway_testing::fleet::{fleet_of, set_live};

    use super::*;
    use crate::rates::Rates;

    fn number(requests: u32) -> Option<NonZeroU32> {
        NonZeroU32::new(requests)
    }

    fn caller(role: Role, subject: &str, issuer: Option<&str>) -> Caller {
        let issuer = issuer.map(Into::into);
        Caller { subject: subject.to_owned(), role, issuer, session: None, scopes: None, token_life: MINUTE }
    }

    struct World {
        keeper: QuotaKeeper,
        clock: Arc<TestClock>,
        fleet: Fleet,
    }

    impl World {
        fn new(quotas: &Quotas) -> Self {
            let clock = TestClock::at(1_000_000);
            let fleet = fleet_of(1, clock.clone(), 10_000, &[]);
            let rates = Arc::new(LiveRates::new(Rates { open_per_minute: NonZeroU32::MIN, quotas: *quotas }));
            Self { keeper: QuotaKeeper::new(rates, clock.clone(), &fleet), clock, fleet }
        }

        /// The seconds that a request has to wait, and what the fields say.
        fn ask(&self, caller: &Caller, token: &str) -> (Option<u64>, String) {
            let mut counted = Counted::default();
            let wait = self.keeper.count(caller, token, &mut counted).err().map(whole_seconds);
            let mut headers = HeaderMap::new();
            let Some(fields) = counted.fields() else { return (wait, String::new()) };
            fields.insert_into(&mut headers);
            let text = |name: HeaderName| headers[name].to_str().expect("text").to_owned();
            (wait, format!("{} | {}", text(POLICY), text(LIMIT)))
        }

        fn waits(&self, caller: &Caller, token: &str) -> Option<u64> {
            self.ask(caller, token).0
        }
    }

    #[test]
    fn a_quota_is_one_callers_and_whole_again_when_its_window_ends() {
        let quota = Quota { per_minute: number(2), per_day: None };
        let world = World::new(&Quotas { orchestrator: quota, ..Quotas::default() });
        let (one, other) = (caller(Role::Orchestrator, "a", None), caller(Role::Orchestrator, "b", None));
        let fields =
            |left, time| format!("\"orchestrator-minute\";q=2;w=60 | \"orchestrator-minute\";r={left};t={time}");
        assert_eq!(world.ask(&one, "t1"), (None, fields(1, 60)));
        world.clock.advance(20_500);
        assert_eq!(world.ask(&one, "t2"), (None, fields(0, 40)), "another token is no other orchestrator");
        assert_eq!(world.ask(&one, "t2"), (Some(40), fields(0, 40)));
        assert_eq!(world.ask(&other, "t3"), (None, fields(1, 60)));
        let elsewhere = caller(Role::Orchestrator, "a", Some("https://id.example"));
        assert_eq!(world.waits(&elsewhere, "t4"), None, "the same name at another issuer is another one");
        world.clock.advance(39_500);
        assert_eq!(world.ask(&one, "t1"), (None, fields(1, 60)));
    }

    #[test]
    fn each_kind_of_caller_has_its_own_quotas_and_admins_have_none() {
        let of = |requests| Quota { per_minute: number(requests), per_day: None };
        let world = World::new(&Quotas { orchestrator: of(3), account: of(1), token: Quota::default() });
        let account = caller(Role::Partner, "ptr_a", None);
        assert_eq!(world.waits(&account, "t"), None);
        assert_eq!(
            world.waits(&caller(Role::Partner, "ptr_a", Some("https://id.example")), "u"),
            Some(60),
            "one account"
        );
        assert_eq!(world.waits(&caller(Role::Partner, "ptr_b", None), "v"), None);
        assert_eq!(world.waits(&caller(Role::Orchestrator, "ptr_a", None), "w"), None, "no account");
        for _ in 0..9 {
            assert_eq!(world.ask(&caller(Role::Admin, "ptr_a", None), "x"), (None, String::new()));
        }
    }

    #[test]
    fn another_quota_counts_on_where_the_former_one_was() {
        let of =
            |requests| Quotas { token: Quota { per_minute: number(requests), per_day: None }, ..Quotas::default() };
        let world = World::new(&of(2));
        let one = caller(Role::Orchestrator, "a", None);
        assert_eq!((world.waits(&one, "t"), world.waits(&one, "t"), world.waits(&one, "t")), (None, None, Some(60)));
        let replace = |quotas| world.keeper.rates.replace(Rates { open_per_minute: NonZeroU32::MIN, quotas });
        replace(of(3));
        assert_eq!((world.waits(&one, "t"), world.waits(&one, "t")), (None, Some(60)), "two of the three were used");
        replace(of(1));
        assert_eq!(world.waits(&one, "t"), Some(60));
        replace(Quotas::default());
        assert_eq!(world.ask(&one, "t"), (None, String::new()), "there is none any more");
    }

    #[test]
    fn a_gateway_gives_its_share_of_a_quota() {
        let quota = Quota { per_minute: number(9), per_day: None };
        let world = World::new(&Quotas { orchestrator: quota, ..Quotas::default() });
        let one = caller(Role::Orchestrator, "a", None);
        let fields = |requests, left| {
            format!("\"orchestrator-minute\";q={requests};w=60 | \"orchestrator-minute\";r={left};t=60")
        };
        assert_eq!([world.ask(&one, "t").1, world.ask(&one, "t").1], [fields(9, 8), fields(9, 7)]);
        set_live(&world.fleet, 4, 10_000, &[]);
        assert_eq!(world.ask(&one, "t"), (Some(60), fields(2, 0)), "what was used counts");
        set_live(&world.fleet, 2, 10_000, &[]);
        assert_eq!(world.ask(&one, "t"), (None, fields(4, 1)));
        set_live(&world.fleet, 20, 10_000, &[]);
        world.clock.advance(60_000);
        assert_eq!([world.waits(&one, "t"), world.waits(&one, "t")], [None, Some(60)], "never less than one");
    }

    #[test]
    fn a_token_that_is_used_up_takes_nothing_from_its_callers_others() {
        let quotas = Quotas {
            orchestrator: Quota { per_minute: None, per_day: number(3) },
            token: Quota { per_minute: number(2), per_day: None },
            ..Quotas::default()
        };
        let world = World::new(&quotas);
        let one = caller(Role::Orchestrator, "a", None);
        let waits: Vec<_> = (0..9).map(|_| world.waits(&one, "leaked")).collect();
        assert_eq!(waits[..3], [None, None, Some(60)]);
        let (wait, fields) = world.ask(&one, "good");
        assert_eq!(wait, None, "the third of the day, for refused ones do not count");
        assert_eq!(
            fields,
            "\"token-minute\";q=2;w=60, \"orchestrator-day\";q=3;w=86400 | \"token-minute\";r=1;t=60, \"orchestrator-day\";r=0;t=86400"
        );
        assert_eq!(world.waits(&one, "good"), Some(86_400));
        world.clock.advance(61_000);
        assert_eq!(world.waits(&one, "good"), Some(86_339), "a minute does not begin another day");
    }

    #[test]
    fn memory_is_bounded_and_nobodys_count_goes_for_others() {
        let counter = Counter::with_room("q", MINUTE, &Fleet::default(), 10);
        let now = Timestamp::from_ms(5_000);
        let count = |key: &str, now| counter.count(key, NonZeroU32::MIN, now, &mut Counted::default());
        assert_eq!(count("first", now), Ok(()));
        let refused = (0..20_000).filter(|key| count(&format!("flood-{key}"), now).is_err()).count();
        assert!(refused > 0, "those that have no room share what there is");
        {
            let counts = counter.counts.lock().expect("whole");
            assert!(counts.own.len() <= 10 && counts.shared.len() as u64 <= SHARED_COUNTS);
        }
        assert_eq!(count("first", now), Err(MINUTE), "its count is not forgotten");
        let later = now.plus_ms(60_000);
        assert_eq!(count("first", later), Ok(()));
    }
}
