//! Several gateways and a store in virtual time, under every fault that leases are for: processes that are frozen, killed and
//! started again, questions and answers that are late or lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::rules::LeaseBook;
use super::standing::MonotonicClock;
use super::{Duty, Fleet, Gateway, GatewayId, Granted, OwnLease, RENEWALS_PER_LEASE, Renewal};
use crate::clock::Timestamp;

const LEASE_MS: u64 = 10_000;
const TICK_MS: u64 = 100;
/// With faults, and after them.
const FAULTY_MS: u64 = 60_000;
const QUIET_MS: u64 = 3 * LEASE_MS;
const SEEDS: u64 = 2_000;
/// How soon after a holder has died or was frozen another has its duties: its lease, and the time between two renewals.
const TAKEN_OVER_MS: u64 = LEASE_MS + LEASE_MS / RENEWALS_PER_LEASE + TICK_MS;

/// Numbers that are the same for a seed (xorshift64*).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % bound
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }
}

#[derive(Default)]
struct Time(AtomicU64);

impl MonotonicClock for Time {
    fn elapsed_ms(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A question on its way, and its answer on its way back.
struct Question {
    asked_at_ms: u64,
    renewal: Renewal,
    reaches_at_ms: u64,
    answered_at_ms: u64,
    answer: Option<Granted>,
}

struct Process {
    number: usize,
    runs: u32,
    fleet: Fleet,
    has_lease: bool,
    asks_at_ms: u64,
    under_way: Option<Question>,
    frozen_until_ms: u64,
    dead_until_ms: u64,
}

impl Process {
    fn new(number: usize, time: &Arc<Time>) -> Self {
        let fleet = Fleet::new(time.clone());
        let asks_at_ms = number as u64 * 700;
        Self {
            number,
            runs: 1,
            fleet,
            has_lease: false,
            asks_at_ms,
            under_way: None,
            frozen_until_ms: 0,
            dead_until_ms: 0,
        }
    }

    fn renewal(&self) -> Renewal {
        let id = |text: String| GatewayId::parse(&text).expect("well formed");
        let gateway = Gateway {
            id: id(format!("g{}", self.number)),
            run: id(format!("g{}-{}", self.number, self.runs)),
            name: String::new(),
            version: String::new(),
        };
        Renewal { gateway, lease_ms: LEASE_MS, is_start: !self.has_lease, duties: Duty::ALL.to_vec() }
    }

    fn is_acting(&self, now_ms: u64) -> bool {
        now_ms >= self.frozen_until_ms && now_ms >= self.dead_until_ms
    }
}

struct World {
    dice: Dice,
    time: Arc<Time>,
    book: LeaseBook,
    processes: Vec<Process>,
    is_faulty: bool,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let time = Arc::new(Time::default());
        let count = 2 + dice.below(3) as usize;
        let processes = (0..count).map(|number| Process::new(number, &time)).collect();
        Self { dice, time, book: LeaseBook::default(), processes, is_faulty: true }
    }

    fn step(&mut self) {
        let Self { dice, time, book, processes, is_faulty } = self;
        let now_ms = time.0.fetch_add(TICK_MS, Ordering::Relaxed) + TICK_MS;
        for process in processes {
            // What is on its way arrives whatever has become of who sent it.
            if let Some(question) = &mut process.under_way
                && question.answer.is_none()
                && now_ms >= question.reaches_at_ms
            {
                // The store's clock is another one.
                let store_now = Timestamp::from_ms(1_700_000_000_000 + now_ms);
                question.answer = Some(book.renew(&question.renewal, store_now).expect("there is room"));
            }
            if now_ms < process.dead_until_ms || !process.is_acting(now_ms) {
                continue;
            }
            if *is_faulty && dice.one_in(400) {
                process.frozen_until_ms = now_ms + dice.below(3 * LEASE_MS);
                continue;
            }
            if *is_faulty && dice.one_in(600) {
                // Another process of the same gateway; nothing of this one is left but what is on its way to the store.
                process.dead_until_ms = now_ms + dice.below(2 * LEASE_MS);
                process.runs += 1;
                process.fleet = Fleet::new(time.clone());
                (process.has_lease, process.asks_at_ms) = (false, process.dead_until_ms);
                if let Some(lost) = process.under_way.take_if(|question| question.answer.is_none()) {
                    let store_now = Timestamp::from_ms(1_700_000_000_000 + now_ms);
                    book.renew(&lost.renewal, store_now).expect("there is room");
                }
                process.under_way = None;
                continue;
            }
            if let Some(question) = process.under_way.take_if(|question| now_ms >= question.answered_at_ms) {
                let Question { asked_at_ms, answer: Some(granted), .. } = question else { continue };
                process.fleet.note_granted(asked_at_ms, LEASE_MS, &granted);
                process.has_lease = granted.own != OwnLease::Replaced;
            }
            if process.under_way.is_none() && now_ms >= process.asks_at_ms {
                process.asks_at_ms = now_ms + LEASE_MS / RENEWALS_PER_LEASE;
                let late_ms = |dice: &mut Dice| if *is_faulty && dice.one_in(6) { dice.below(LEASE_MS) } else { 0 };
                let reaches_at_ms = now_ms + late_ms(dice);
                let answered_at_ms = reaches_at_ms + late_ms(dice);
                let renewal = process.renewal();
                let question = Question { asked_at_ms: now_ms, renewal, reaches_at_ms, answered_at_ms, answer: None };
                process.under_way = Some(question);
            }
        }
    }

    fn now_ms(&self) -> u64 {
        self.time.elapsed_ms()
    }

    /// Those that would go on with a duty at this moment.
    fn holders(&self, duty: Duty) -> Vec<usize> {
        let now_ms = self.now_ms();
        let holds = |process: &&Process| process.is_acting(now_ms) && process.fleet.holds(duty);
        self.processes.iter().filter(holds).map(|process| process.number).collect()
    }
}

#[test]
fn a_duty_is_never_two_processes_and_never_nobodys_for_long() {
    for seed in 1..=SEEDS {
        let mut world = World::new(seed);
        while world.now_ms() < FAULTY_MS {
            world.step();
            for duty in [Duty::Probes, Duty::Sweep] {
                let holders = world.holders(duty);
                assert!(holders.len() <= 1, "seed {seed}, {} ms: {duty} is held by {holders:?}", world.now_ms());
            }
        }
        world.is_faulty = false;
        for process in &mut world.processes {
            (process.frozen_until_ms, process.dead_until_ms) = (0, 0);
        }
        while world.now_ms() < FAULTY_MS + QUIET_MS {
            world.step();
            assert!(Duty::ALL.iter().all(|duty| world.holders(*duty).len() <= 1), "seed {seed}");
        }
        let count = u32::try_from(world.processes.len()).expect("a few");
        assert!(world.processes.iter().all(|process| process.fleet.live() == count), "seed {seed}: all live");
        assert!(Duty::ALL.iter().all(|duty| world.holders(*duty).len() == 1), "seed {seed}: each has a holder");
    }
}

#[test]
fn another_takes_over_in_time() {
    for seed in 1..=SEEDS {
        let mut world = World::new(seed);
        world.is_faulty = false;
        while world.now_ms() < QUIET_MS + world.dice.below(LEASE_MS) {
            world.step();
        }
        let holder = world.holders(Duty::Sweep)[0];
        world.processes[holder].frozen_until_ms = u64::MAX;
        let frozen_at_ms = world.now_ms();
        while world.holders(Duty::Sweep).is_empty() {
            world.step();
            assert!(world.now_ms() - frozen_at_ms <= TAKEN_OVER_MS, "seed {seed}");
        }
    }
}
