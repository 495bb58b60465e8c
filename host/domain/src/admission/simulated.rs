//! The queue before a simulated process, over virtual time: one processor with a run queue, requests that are worked on in steps,
//! a partner in the middle of each, and a generator that asks whether it is answered or not.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::*;

/// Runs of each property; each has a seed of its own, by which everything about it is drawn.
const SEEDS: u64 = 1_000;
/// What a refusal costs, as a share of a request.
const REFUSAL_SHARE: f64 = 1.0 / 30.0;

/// Pseudo-random numbers (xorshift64*), so that a seed says everything.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, least: f64, most: f64) -> f64 {
        least + self.share() * (most - least)
    }

    /// A time between two arrivals of a Poisson process.
    fn gap(&mut self, mean_s: f64) -> Duration {
        Duration::from_secs_f64(-mean_s * (1.0 - self.share()).ln())
    }
}

/// Who asks, how often, from when until when.
#[derive(Clone, Copy)]
struct Load {
    caller: u32,
    per_second: f64,
    from: Duration,
    until: Duration,
}

/// What a process is like.
#[derive(Clone, Copy)]
struct Process {
    /// Work of a request in all.
    work: Duration,
    /// Its steps, each of which goes through the run queue. The partner is called in the middle.
    steps: u32,
    /// How long the partner takes, at least and at most.
    partner: (Duration, Duration),
    random: u64,
}

impl Process {
    fn of(random: &mut Random) -> Self {
        Self {
            work: Duration::from_secs_f64(random.between(0.003, 0.008)),
            steps: random.between(2.0, 8.0) as u32,
            partner: (Duration::ZERO, Duration::from_secs_f64(random.between(0.0, 0.02))),
            random: (random.share() * 1e15) as u64,
        }
    }

    fn capacity(&self) -> f64 {
        1.0 / self.work.as_secs_f64()
    }
}

/// What became of a request.
struct Outcome {
    caller: u32,
    asked: Duration,
    /// How long until its answer; none where it was refused.
    took: Option<Duration>,
}

/// What stands in the run queue.
enum Task {
    Turn,
    Step { request: usize, left: u32 },
    Refuse,
}

/// Runs a process under a load until nothing is left to do.
fn simulate(process: Process, loads: &[Load]) -> Vec<Outcome> {
    let mut random = Random::new(process.random);
    let mut arrivals: Vec<(Duration, u32)> = Vec::new();
    for load in loads {
        let mut at = load.from + random.gap(1.0 / load.per_second);
        while at < load.until {
            arrivals.push((at, load.caller));
            at += random.gap(1.0 / load.per_second);
        }
    }
    arrivals.sort_unstable();
    let mut outcomes: Vec<Outcome> =
        arrivals.iter().map(|(asked, caller)| Outcome { caller: *caller, asked: *asked, took: None }).collect();

    let start = Instant::now();
    let mut queue: AdmissionQueue<u32, usize> = AdmissionQueue::new(1);
    let (mut run_queue, mut at_partner) = (VecDeque::from([Task::Turn]), BinaryHeap::new());
    let (mut now, mut next_arrival) = (Duration::ZERO, 0);
    let step = process.work / process.steps;
    let first = |request| Task::Step { request, left: process.steps };
    loop {
        // What has come in the meantime is found when the processor looks, as a runtime finds readable sockets.
        while arrivals.get(next_arrival).is_some_and(|(at, _)| *at <= now) {
            let request = next_arrival;
            next_arrival += 1;
            match queue.arrive(arrivals[request].1, Patience::Short, start + now, || request) {
                Arrival::Enters => run_queue.push_back(first(request)),
                Arrival::Waits => {}
                Arrival::Refused => run_queue.push_back(Task::Refuse),
            }
        }
        while let Some(Reverse((at, request, left))) = at_partner.peek().copied()
            && at <= now
        {
            at_partner.pop();
            run_queue.push_back(Task::Step { request, left });
        }
        let is_idle = run_queue.len() == 1 && queue.waiting() == 0;
        match run_queue.pop_front() {
            Some(Task::Turn) => {
                let turn = queue.turn(start + now, |_| false);
                run_queue.extend(turn.entered.into_iter().map(|(request, _)| first(request)));
                run_queue.extend(turn.refused.into_iter().map(|_| Task::Refuse));
                run_queue.push_back(Task::Turn);
                now += Duration::from_micros(1);
            }
            Some(Task::Step { request, left }) => {
                now += step;
                match left - 1 {
                    0 => outcomes[request].took = Some(now - outcomes[request].asked),
                    left if left == process.steps / 2 => {
                        let (least, most) = process.partner;
                        let wait = random.between(least.as_secs_f64(), most.as_secs_f64());
                        at_partner.push(Reverse((now + Duration::from_secs_f64(wait), request, left)));
                    }
                    left => run_queue.push_back(Task::Step { request, left }),
                }
            }
            Some(Task::Refuse) => now += process.work.mul_f64(REFUSAL_SHARE),
            None => unreachable!("the turn is always there"),
        }
        if is_idle {
            let arrival = arrivals.get(next_arrival).map(|(at, _)| *at);
            let answer = at_partner.peek().map(|Reverse((at, ..))| *at);
            match [arrival, answer].into_iter().flatten().min() {
                Some(next) => now = now.max(next),
                None => return outcomes,
            }
        }
    }
}

const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn answered(outcomes: &[Outcome], from: Duration, until: Duration) -> impl Iterator<Item = &Outcome> {
    let ended = move |outcome: &Outcome| outcome.took.map(|took| outcome.asked + took);
    outcomes.iter().filter(move |outcome| ended(outcome).is_some_and(|at| (from..until).contains(&at)))
}

fn p99(outcomes: impl Iterator<Item = Duration>) -> Duration {
    let mut took: Vec<Duration> = outcomes.collect();
    took.sort_unstable();
    took[(took.len() - 1) * 99 / 100]
}

/// Half the capacity for a second, `times` the capacity for two, half of it for three.
fn surge(process: &Process, times: f64) -> [Load; 3] {
    let load = |times: f64, from, until| Load { caller: 0, per_second: process.capacity() * times, from, until };
    [load(0.5, s(0), s(1)), load(times, s(1), s(3)), load(0.5, s(3), s(6))]
}

#[test]
fn under_any_surge_the_process_does_what_it_can_and_recovers() {
    for seed in 0..SEEDS {
        let mut random = Random::new(seed);
        let (process, times) = (Process::of(&mut random), random.between(1.2, 6.0));
        let outcomes = simulate(process, &surge(&process, times));
        // What refusals cost is gone; the rest is put to use.
        let left = 1.0 - (times - 1.0) * REFUSAL_SHARE;
        for tenth in 12..30 {
            let window = Duration::from_millis(100);
            let done = answered(&outcomes, window * tenth, window * (tenth + 1)).count() as f64;
            let share = done / (process.capacity() * 0.1);
            assert!(share > 0.6 * left, "seed {seed}: {share:.2} of the capacity at {tenth} tenths, {times:.1} times");
        }
        let done = answered(&outcomes, s(1) + STANDING_AFTER, s(3)).count() as f64;
        let share = done / (process.capacity() * 1.9);
        assert!(share > 0.93 * left, "seed {seed}: {share:.2} of the capacity over the surge of {times:.1} times");
        // Steps of several requests are interleaved, and each may wait behind some of the others.
        let worst = STANDING_AFTER + process.work * 2 * u32::try_from(WAITING_SHORT).expect("few");
        let took = p99(answered(&outcomes, s(1), s(3)).filter_map(|outcome| outcome.took));
        assert!(took < worst, "seed {seed}: {took:?} at {times:.1} times");
        let late = outcomes.iter().filter(|outcome| outcome.asked >= s(3) + Duration::from_millis(1_500));
        assert!(late.clone().all(|outcome| outcome.took.is_some()), "seed {seed}: refused after the surge");
        let took = p99(late.filter_map(|outcome| outcome.took));
        assert!(took < process.partner.1 + process.work * 20, "seed {seed}: {took:?} after the surge");
    }
}

#[test]
fn at_four_times_the_capacity_what_is_accepted_is_hardly_slower_than_at_the_capacity() {
    for seed in 0..SEEDS {
        let process = Process::of(&mut Random::new(seed));
        let load = |times: f64| [Load { caller: 0, per_second: process.capacity() * times, from: s(0), until: s(3) }];
        let best = simulate(process, &load(1.0));
        let most = simulate(process, &load(4.0));
        let took = |outcomes: &[Outcome]| p99(answered(outcomes, s(0), s(3)).filter_map(|outcome| outcome.took));
        let (best, most) = (took(&best), took(&most));
        assert!(most < best * 2 + STANDING_AFTER, "seed {seed}: {most:?} against {best:?}");
    }
}

#[test]
fn a_slow_partner_alone_has_nobody_refused() {
    for seed in 0..SEEDS {
        let mut random = Random::new(seed);
        let slowest = random.between(0.1, 30.0);
        let partner = (Duration::from_secs_f64(slowest / 2.0), Duration::from_secs_f64(slowest));
        let process = Process { partner, ..Process::of(&mut random) };
        let load = Load { caller: 0, per_second: process.capacity() * 0.7, from: s(0), until: s(4) };
        let outcomes = simulate(process, &[load]);
        assert!(outcomes.iter().all(|outcome| outcome.took.is_some()), "seed {seed}: a partner of {slowest:.1} s");
    }
}

#[test]
fn whoever_asks_little_is_served_beside_whoever_asks_much() {
    for seed in 0..SEEDS {
        let mut random = Random::new(seed);
        let (process, modest) = (Process::of(&mut random), random.between(0.02, 0.12));
        let of = |caller, times: f64| {
            let per_second = process.capacity() * times;
            Load { caller, per_second, from: s(0), until: s(4) }
        };
        let loads = [of(0, random.between(2.0, 5.0)), of(1, modest), of(2, modest), of(3, modest)];
        let outcomes = simulate(process, &loads);
        let (refused, asked) = (1..=3).fold((0, 0), |(refused, asked), caller| {
            let own = outcomes.iter().filter(|outcome| outcome.caller == caller);
            (refused + own.clone().filter(|outcome| outcome.took.is_none()).count(), asked + own.count())
        });
        let all_refused = outcomes.iter().filter(|outcome| outcome.took.is_none()).count();
        let share = |refused: usize, asked: usize| refused as f64 / asked as f64;
        let (little, all) = (share(refused, asked), share(all_refused, outcomes.len()));
        assert!(little < all / 8.0, "seed {seed}: {little:.3} refused of those who ask little, {all:.3} of all");
    }
}
