//! The soak: searches and bookings while every kind of fault goes round among the partners.
//!
//! Three partners are well all the while. Nine others have a fault each, another one in each phase. How long the load
//! lasts: [`SHORT`] in every run, [`LONG`] in a soak, and `GATEWAY_SOAK_SECONDS` says anything else.

use std::collections::BTreeMap;
use std::time::Duration;

use chaos::footprint::Allowance;
use chaos::proxy::Fault;
use test_servers::soak;
use tokio::time::Instant;

use super::fleet::{Fleet, Rates};
use super::load::{Load, print};

/// How long the load lasts in every run: each partner has each fault for two seconds.
const SHORT: Duration = Duration::from_secs(18);
/// And in a soak: each partner has each fault for ten seconds, several times.
const LONG: Duration = Duration::from_secs(420);
/// Says something else, seconds.
const SOAK_SECONDS: &str = "GATEWAY_SOAK_SECONDS";
/// The load before anything is measured: pools fill and code is compiled.
const WARM_UP: Duration = Duration::from_secs(10);
/// A phase is no longer, so that a long soak has many.
const PHASE_MAX: Duration = Duration::from_secs(10);
/// Requests that must have met each fault, or it was not tried.
const MET_MIN: usize = 3;
/// What the gateway may hold more after the load than before it: pages that its allocator keeps, threads and files of work
/// that is nearly over, and the files that the store's readers open with their first statement: three readers of records and
/// three of receipts, two files each.
const ALLOWANCE: Allowance = Allowance { memory: 16 << 20, threads: 4, files: 12 + 4 };

const WELL: [&str; 3] = ["rust", "well-1", "well-2"];
const FAULTY: [&str; 9] =
    ["faulty-1", "faulty-2", "faulty-3", "faulty-4", "faulty-5", "faulty-6", "faulty-7", "faulty-8", "faulty-9"];
/// Every kind of fault. A trickled search misses its deadline, a trickled booking is merely slow.
const FAULTS: [Fault; 9] = [
    Fault::Delay(Duration::from_millis(400)),
    Fault::Reset,
    Fault::ResetMidBody,
    Fault::Silent,
    Fault::StallMidBody,
    Fault::Trickle(64, Duration::from_millis(40)),
    Fault::RateLimited(None),
    Fault::RateLimited(Some(2)),
    Fault::Flapping,
];

fn soak_time() -> Duration {
    match std::env::var(SOAK_SECONDS) {
        Ok(seconds) => Duration::from_secs(seconds.parse().expect("a number of seconds")),
        Err(_) => soak::choose(SHORT, LONG),
    }
}

/// Moves the faults on by one partner, phase by phase, until the time is over; the gateway's memory after each, bytes.
async fn rotate(fleet: &Fleet, time: Duration) -> Vec<u64> {
    let phase = (time / u32::try_from(FAULTS.len()).expect("few")).min(PHASE_MAX);
    let end = Instant::now() + time;
    let mut memory = Vec::new();
    for shift in 0.. {
        for (at, partner) in FAULTY.iter().enumerate() {
            fleet.proxy(partner).set(FAULTS[(at + shift) % FAULTS.len()]);
        }
        let next = Instant::now() + phase;
        tokio::time::sleep_until(next.min(end)).await;
        memory.push(fleet.footprint().memory);
        if next >= end {
            break;
        }
    }
    memory
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_of_every_kind_cost_nobody_else_anything() {
    let partners: Vec<&str> = WELL.into_iter().chain(FAULTY).collect();
    let fleet = Fleet::start(&partners, Rates::Off).await;
    let load = Load::prepare(&fleet, &WELL, "well-1", &FAULTY).await;

    tokio::join!(load.run(WARM_UP), rotate(&fleet, WARM_UP));
    let (before, left) = fleet.settled(|footprint| footprint.growth(footprint, ALLOWANCE)).await;
    assert_eq!(left, Vec::<String>::new(), "after the warm-up");

    let time = soak_time();
    let (tally, memory) = tokio::join!(load.run(time), rotate(&fleet, time));
    let (after, grown) = fleet.settled(|footprint| footprint.growth(&before, ALLOWANCE)).await;

    let mut met = BTreeMap::new();
    for (fault, times) in FAULTY.iter().flat_map(|partner| fleet.proxy(partner).met()) {
        *met.entry(fault).or_insert(0) += times;
    }
    let connections = WELL.map(|partner| fleet.proxy(partner).accepted());
    eprintln!("soak of {} s", time.as_secs());
    print(&tally.calls);
    eprintln!("  requests that met a fault: {met:?}");
    eprintln!("  connections ever made to the partners that were well: {connections:?}");
    let memory: Vec<u64> = memory.iter().map(|bytes| bytes >> 20).collect();
    eprintln!("  memory after each phase, MiB: {memory:?}");
    eprintln!("  before: {before}\n  after:  {after}");

    assert_eq!(tally.breaches, Vec::<String>::new(), "{}", fleet.gateway.log());
    assert_eq!(grown, Vec::<String>::new());
    for fault in FAULTS {
        assert!(met.get(&fault).is_some_and(|times| *times >= MET_MIN), "{fault:?} was not tried: {met:?}");
    }
    assert!(fleet.gateway.server.stop(), "a clean stop");
}
