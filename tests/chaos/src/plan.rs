//! Which fault happens when: a schedule that follows from a seed and nothing else.
//!
//! Kinds are dealt like cards: all of them once in a new order, then all of them again, so that none is left out of a run that
//! is long enough. Now and then two happen together, never both at one place. Between two faults there is calm, in which
//! everything has to recover.

use std::ops::RangeInclusive;

/// The gateways of a run. The first two share PostgreSQL, the third has SQLite.
pub const GATEWAYS: usize = 3;
/// The one with SQLite.
pub const ON_SQLITE: usize = 2;
/// Partners that have faults, at most: each kind has one of its own, so that the breakers stay apart.
pub const FAULTY_PARTNERS: usize = 3;
/// Calm before the first fault, milliseconds: connections are made, and what is normal is seen.
pub const WARM_UP_MS: u64 = 10_000;
/// How long a fault lasts, milliseconds.
const LASTS_MS: RangeInclusive<u64> = 2_000..=6_000;
/// Calm after it, milliseconds: longer than a recovery may take.
const CALM_MS: RangeInclusive<u64> = 8_000..=11_000;
/// One fault in so many has a second one beside it.
const TWO_IN: u32 = 4;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A gateway is killed (SIGKILL), and started again at the end.
    Kill,
    /// A gateway is told to stop (SIGTERM), and started again once it has.
    Roll,
    /// A gateway stands still (SIGSTOP).
    Freeze,
    /// PostgreSQL is stopped in good order, connections cut, and started again at the end.
    PostgresRestart,
    /// PostgreSQL is stopped as in a crash, and recovers at the end.
    PostgresCrash,
    /// All processes of PostgreSQL stand still.
    PostgresFrozen,
    /// Connections to PostgreSQL are cut again and again.
    PostgresCut,
    /// Everything that goes to and fro is late.
    PostgresSlow,
    /// Nothing can be written to the disk of the gateway with SQLite.
    DiskFull,
    /// Much more load than usual.
    Burst,
    /// The clock of a gateway is an hour behind.
    ClockBack,
    /// The clock of a gateway is an hour ahead.
    ClockAhead,
    /// A partner's answers are late.
    PartnerLate,
    /// A partner resets connections.
    PartnerReset,
    /// A partner resets connections within the answer.
    PartnerResetInBody,
    /// A partner takes requests and never answers.
    PartnerSilent,
    /// A partner sends half an answer and no more.
    PartnerHalf,
    /// A partner's answers trickle.
    PartnerTrickle,
    /// A partner asks to slow down.
    PartnerLimits,
    /// A partner asks to come back after a time.
    PartnerLimitsFor,
    /// A partner resets every other connection.
    PartnerFlaps,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 21] = [
        Self::Kill,
        Self::Roll,
        Self::Freeze,
        Self::PostgresRestart,
        Self::PostgresCrash,
        Self::PostgresFrozen,
        Self::PostgresCut,
        Self::PostgresSlow,
        Self::DiskFull,
        Self::Burst,
        Self::ClockBack,
        Self::ClockAhead,
        Self::PartnerLate,
        Self::PartnerReset,
        Self::PartnerResetInBody,
        Self::PartnerSilent,
        Self::PartnerHalf,
        Self::PartnerTrickle,
        Self::PartnerLimits,
        Self::PartnerLimitsFor,
        Self::PartnerFlaps,
    ];

    /// The name on the command line and in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Roll => "roll",
            Self::Freeze => "freeze",
            Self::PostgresRestart => "postgres-restart",
            Self::PostgresCrash => "postgres-crash",
            Self::PostgresFrozen => "postgres-frozen",
            Self::PostgresCut => "postgres-cut",
            Self::PostgresSlow => "postgres-slow",
            Self::DiskFull => "disk-full",
            Self::Burst => "burst",
            Self::ClockBack => "clock-back",
            Self::ClockAhead => "clock-ahead",
            Self::PartnerLate => "partner-late",
            Self::PartnerReset => "partner-reset",
            Self::PartnerResetInBody => "partner-reset-in-body",
            Self::PartnerSilent => "partner-silent",
            Self::PartnerHalf => "partner-half",
            Self::PartnerTrickle => "partner-trickle",
            Self::PartnerLimits => "partner-429",
            Self::PartnerLimitsFor => "partner-429-wait",
            Self::PartnerFlaps => "partner-flaps",
        }
    }

    /// What it does, for `--list`.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Kill => "a gateway is killed and started again",
            Self::Roll => "a gateway is stopped with SIGTERM and started again",
            Self::Freeze => "a gateway stands still (SIGSTOP)",
            Self::PostgresRestart => "PostgreSQL is stopped (fast) and started again",
            Self::PostgresCrash => "PostgreSQL is stopped (immediate) and recovers",
            Self::PostgresFrozen => "all processes of PostgreSQL stand still",
            Self::PostgresCut => "connections to PostgreSQL are cut again and again",
            Self::PostgresSlow => "what goes to PostgreSQL and back is late",
            Self::DiskFull => "nothing can be written by the gateway with SQLite (RLIMIT_FSIZE)",
            Self::Burst => "eight times the load",
            Self::ClockBack => "a gateway's clock is an hour behind (libfaketime)",
            Self::ClockAhead => "a gateway's clock is an hour ahead (libfaketime)",
            Self::PartnerLate => "a partner's answers are late",
            Self::PartnerReset => "a partner resets connections",
            Self::PartnerResetInBody => "a partner resets connections within the answer",
            Self::PartnerSilent => "a partner takes requests and never answers",
            Self::PartnerHalf => "a partner sends half of the answer and no more",
            Self::PartnerTrickle => "a partner's answers trickle",
            Self::PartnerLimits => "a partner answers 429",
            Self::PartnerLimitsFor => "a partner answers 429 with Retry-After",
            Self::PartnerFlaps => "a partner resets every other connection",
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Where it may happen.
    fn places(self) -> &'static [Place] {
        const EACH: [Place; GATEWAYS] = [Place::Gateway(0), Place::Gateway(1), Place::Gateway(2)];
        const FAULTY: [Place; FAULTY_PARTNERS] = [Place::Partner(0), Place::Partner(1), Place::Partner(2)];
        match self {
            Self::Kill | Self::Roll | Self::Freeze | Self::ClockBack | Self::ClockAhead => &EACH,
            Self::DiskFull => &[Place::Gateway(ON_SQLITE)],
            Self::PostgresRestart
            | Self::PostgresCrash
            | Self::PostgresFrozen
            | Self::PostgresCut
            | Self::PostgresSlow => &[Place::Postgres],
            Self::Burst => &[Place::Everywhere],
            _ => &FAULTY,
        }
    }

    /// Whether a partner has it.
    #[must_use]
    pub fn is_partners(self) -> bool {
        matches!(self.places(), [Place::Partner(_), ..])
    }

    /// Whether a gateway that starts meanwhile would have to wait for its end.
    fn stops_starts(self) -> bool {
        self == Self::DiskFull || self.places() == [Place::Postgres]
    }

    /// Whether a gateway is started at the end of it.
    fn starts(self) -> bool {
        matches!(self, Self::Kill | Self::Roll)
    }
}

/// Where something goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// One of the gateways, by its number.
    Gateway(usize),
    /// The database that two of them share.
    Postgres,
    /// One of the partners that have faults, by its number.
    Partner(usize),
    /// The load.
    Everywhere,
}

/// One fault of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    /// When it begins, milliseconds since the load began.
    pub at_ms: u64,
    /// How long it lasts, milliseconds.
    pub lasts_ms: u64,
    /// What goes wrong.
    pub kind: Kind,
    /// Where.
    pub place: Place,
}

impl Planned {
    /// When it ends, milliseconds since the load began.
    #[must_use]
    pub fn ends_ms(&self) -> u64 {
        self.at_ms + self.lasts_ms
    }
}

/// The schedule of a run of so many milliseconds, in the order of time. Each fault is over, and has calm after it, before
/// the run is.
#[must_use]
pub fn plan(seed: u64, run_ms: u64, kinds: &[Kind]) -> Vec<Planned> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut deck = Deck { kinds, left: Vec::new() };
    let mut planned = Vec::new();
    let mut at_ms = WARM_UP_MS;
    while let Some(kind) = deck.draw(&mut random, |_| true) {
        let place = random.choice(kind.places()).copied().unwrap_or(Place::Everywhere);
        let first = Planned { at_ms, lasts_ms: random.u64(LASTS_MS), kind, place };
        let mut ends_ms = first.ends_ms();
        let mut round = vec![first];
        if random.u32(0..TWO_IN) == 0
            && let Some(kind) = deck.draw(&mut random, |other| go_together(kind, other))
        {
            let places: Vec<Place> = kind.places().iter().copied().filter(|other| *other != place).collect();
            if let Some(place) = random.choice(&places) {
                let at_ms = at_ms + random.u64(0..=first.lasts_ms / 2);
                let second = Planned { at_ms, lasts_ms: random.u64(LASTS_MS), kind, place: *place };
                ends_ms = ends_ms.max(second.ends_ms());
                round.push(second);
            }
        }
        at_ms = ends_ms + random.u64(CALM_MS);
        if at_ms > run_ms {
            break;
        }
        planned.extend(round);
    }
    planned
}

/// Whether two kinds may overlap. A gateway that cannot start for want of its store would only be waited for, and two faults
/// at the only place that either has are one.
fn go_together(one: Kind, other: Kind) -> bool {
    let starts_without_store = (one.starts() && other.stops_starts()) || (other.starts() && one.stops_starts());
    let elsewhere = other.places().len() > 1 || one.places() != other.places();
    one != other && !starts_without_store && elsewhere
}

/// Kinds, each of which comes once before any comes again.
struct Deck<'a> {
    kinds: &'a [Kind],
    left: Vec<Kind>,
}

impl Deck<'_> {
    /// The next one that fits; none where none of those that are left does.
    fn draw(&mut self, random: &mut fastrand::Rng, fits: impl Fn(Kind) -> bool) -> Option<Kind> {
        if self.left.is_empty() {
            self.left = self.kinds.to_vec();
            random.shuffle(&mut self.left);
        }
        let place = self.left.iter().rposition(|kind| fits(*kind))?;
        Some(self.left.remove(place))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    const HOUR_MS: u64 = 3_600_000;

    #[test]
    fn a_seed_has_one_plan_and_another_seed_another() {
        assert_eq!(plan(7, HOUR_MS, &Kind::ALL), plan(7, HOUR_MS, &Kind::ALL));
        assert_ne!(plan(7, HOUR_MS, &Kind::ALL), plan(8, HOUR_MS, &Kind::ALL));
        assert_eq!(plan(7, HOUR_MS, &[]), []);
        assert_eq!(plan(7, WARM_UP_MS, &Kind::ALL), [], "there is no time for any");
    }

    #[test]
    fn names_are_those_of_one_kind_each() {
        for kind in Kind::ALL {
            assert_eq!(Kind::of(kind.name()), Some(kind));
        }
        assert_eq!(Kind::of("no such fault"), None);
    }

    #[test]
    fn an_hour_has_every_kind_about_equally_often_and_some_together() {
        let planned = plan(1, HOUR_MS, &Kind::ALL);
        let mut times: BTreeMap<Kind, usize> = BTreeMap::new();
        planned.iter().for_each(|one| *times.entry(one.kind).or_default() += 1);
        assert_eq!(times.len(), Kind::ALL.len());
        let (least, most) = (times.values().min(), times.values().max());
        assert!(most.zip(least).is_some_and(|(most, least)| most - least <= 2), "{times:?}");
        let together = planned.windows(2).filter(|two| two[1].at_ms < two[0].ends_ms()).count();
        assert!(together > planned.len() / 10, "{together} of {}", planned.len());
    }

    proptest! {
        #[test]
        fn whatever_the_seed(seed: u64, run_ms in 0..HOUR_MS, chosen in prop::sample::subsequence(&Kind::ALL[..], 0..=21)) {
            let planned = plan(seed, run_ms, &chosen);
            let mut ends_ms = 0;
            for (number, one) in planned.iter().enumerate() {
                prop_assert!(chosen.contains(&one.kind) && one.kind.places().contains(&one.place));
                prop_assert!(LASTS_MS.contains(&one.lasts_ms));
                prop_assert!(one.at_ms >= WARM_UP_MS && one.ends_ms() + CALM_MS.start() <= run_ms);
                match number.checked_sub(1).map(|before| planned[before]) {
                    // Two together: elsewhere, and no third.
                    Some(before) if one.at_ms < ends_ms => {
                        prop_assert!(one.place != before.place && one.at_ms >= before.at_ms);
                        prop_assert!(!(one.kind.starts() && before.kind.stops_starts()));
                        prop_assert!(number < 2 || planned[number - 2].ends_ms() < before.at_ms);
                    }
                    Some(_) => prop_assert!(one.at_ms >= ends_ms + CALM_MS.start()),
                    None => {}
                }
                ends_ms = ends_ms.max(one.ends_ms());
            }
        }
    }
}
