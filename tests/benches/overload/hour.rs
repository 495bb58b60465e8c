//! A long time at half of the capacity, then a minute at twice it: how long requests take, what the gateway holds and keeps meanwhile, who is
//! refused, how soon it is over, and whether everything that was acknowledged is kept.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use chaos::footprint::Footprint;
use intent_gateway_tests::cpu;
use rusqlite::Connection;

use crate::gateway::Gateway;
use crate::generator::{Generator, Phase};
use crate::measures::{Measured, Step, quantile};
use crate::{CALM, find_best, line, ms, shares, show_shares, verdict};

/// Of so many users one books, and the partner reports it.
const BOOKS_ONE_IN: usize = 10;
/// Times the capacity, and for how long.
const SURGE: f64 = 2.0;
const SURGE_TIME: Duration = Duration::from_secs(60);
/// How long it is looked at afterwards.
const AFTER: Duration = Duration::from_secs(20);
/// Within what time it is to be over.
const RECOVERY_MAX: Duration = Duration::from_secs(5);
/// How often is looked at what the gateway holds.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// What the gateway held at one time.
struct Look {
    at: Duration,
    held: Footprint,
    disk_bytes: u64,
}

pub(crate) async fn measure(program: &Path, time: Duration) {
    // On a real disk: /tmp may be memory.
    let folder = tempfile::tempdir_in(crate::root().join("target")).expect("a temporary folder");
    let gateway = Gateway::start(program, folder.path()).await;
    let state = gateway.state.clone();
    println!(
        "An hour: open loop; users search one intent at one partner that answers at once, 15 options; one in {BOOKS_ONE_IN} books, and each booking is reported"
    );
    let mut generator = Generator::new(gateway.address(), gateway.errands(Some(BOOKS_ONE_IN)), gateway.probes());
    let best = find_best(&mut generator, &gateway).await;
    let capacity = best.measured.goodput();
    line(
        "best goodput over the ramp",
        &format!("{capacity:.0} searches/s"),
        &format!("at {:.0} /s offered", best.offered),
    );

    let (stop, stopped) = channel::<()>();
    let (process, watched) = (gateway.process(), state.clone());
    let watch = std::thread::spawn(move || watch(process, &watched, &stopped));
    let used = cpu::time_of(process);
    let calm = generator.run(Phase { per_second: shares(capacity * CALM, capacity), time }).await;
    let used = cpu::time_of(process).saturating_sub(used);
    drop(stop);
    let looks = watch.join().expect("it has looked");
    println!("at {:.0} searches a second for {:.0} minutes:", capacity * CALM, time.as_secs_f64() / 60.0);
    show_times(&calm);
    line(
        "CPU of the gateway",
        &format!("{:.0} %", used.as_secs_f64() / time.as_secs_f64() * 100.0),
        "of one processor",
    );
    line("generator behind its schedule, p99 and p99.9", &ms(calm.lag(0.99)), &ms(calm.lag(0.999)));
    show_looks(&looks, time);

    let best_p99 = best.measured.p99();
    let surge = generator.run(Phase { per_second: shares(capacity * SURGE, capacity), time: SURGE_TIME }).await;
    let after = generator.run(Phase { per_second: shares(capacity * CALM, capacity), time: AFTER }).await;
    println!("at {SURGE} times the capacity for {:.0} s:", SURGE_TIME.as_secs_f64());
    let share = surge.goodput() / capacity;
    line("goodput", &format!("{:.0} searches/s", surge.goodput()), &format!("{:.0} % of the best", share * 100.0));
    show_times(&surge);
    line("p50 and p99 of refusals", &ms(surge.refused(0.5)), &ms(surge.refused(0.99)));
    show_shares(&surge);
    let recovery = after.recovery(best_p99 * 2);
    line("recovery afterwards", &ms(recovery), &format!("aim 5 s: {}", verdict(recovery <= RECOVERY_MAX)));
    let held = Footprint::of(process, &BTreeSet::new()).expect("it runs");
    line("held afterwards", &held.to_string(), "");

    gateway.stop();
    let kept = count_kept(&state);
    println!("kept, of what was acknowledged since the start (receipts of searches, orders, entries of the ledger):");
    for ((step, acknowledged), kept) in Step::ALL.into_iter().zip(generator.acknowledged).zip(kept) {
        let holds = usize::try_from(kept).is_ok_and(|kept| kept >= acknowledged);
        line(&format!("  {}", step.name()), &kept.to_string(), &format!("of {acknowledged}: {}", verdict(holds)));
    }
}

fn show_times(measured: &Measured) {
    for step in Step::ALL {
        let times = measured.times(step);
        let [p50, p99, p999, worst] = [0.5, 0.99, 0.999, 1.0].map(|share| ms(quantile(&times, share)));
        line(
            &format!("  {}: p50, p99", step.name()),
            &format!("{p50}, {p99}"),
            &format!("p99.9 {p999}, worst {worst}; {}", measured.statuses(step)),
        );
    }
}

/// Looks at the gateway until it is told to stop.
fn watch(process: u32, state: &Path, stopped: &Receiver<()>) -> Vec<Look> {
    let begun = Instant::now();
    let mut looks = Vec::new();
    loop {
        let held = Footprint::of(process, &BTreeSet::new()).expect("the gateway runs");
        looks.push(Look { at: begun.elapsed(), held, disk_bytes: size_of(state) });
        if stopped.recv_timeout(LOOK_EVERY) != Err(RecvTimeoutError::Timeout) {
            return looks;
        }
    }
}

fn show_looks(looks: &[Look], time: Duration) {
    for quarter in 0..=4 {
        let at = time * quarter / 4;
        let Some(Look { at, held, disk_bytes }) = looks.iter().rev().find(|look| look.at <= at) else { continue };
        let minute = at.as_secs_f64() / 60.0;
        line(
            &format!("  after {minute:.0} minutes"),
            &held.to_string(),
            &format!("{} MB on disk", disk_bytes / 1_000_000),
        );
    }
    let most = looks.iter().map(|look| look.held.memory).max().unwrap_or_default();
    line("  most memory", &format!("{} MiB", most >> 20), "");
}

/// Bytes of all files below a folder.
fn size_of(folder: &Path) -> u64 {
    // What goes meanwhile is not counted.
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |path: PathBuf| match path.is_dir() {
        true => size_of(&path),
        false => std::fs::metadata(&path).map_or(0, |of| of.len()),
    };
    entries.map(|entry| size(entry.path())).sum()
}

/// Receipts of searches, orders and entries of the ledger, past the gateway.
fn count_kept(state: &Path) -> [i64; 3] {
    let count = |file: &Path, table: &str| {
        let connection = Connection::open(file).expect("the store's file opens");
        connection.query_row(&format!("SELECT COUNT(*) FROM {table}"), [], |row| row.get::<_, i64>(0)).expect("counted")
    };
    let segments = std::fs::read_dir(state.join("gateway-receipts")).expect("receipts are kept");
    let segments = segments.map(|entry| entry.expect("an entry").path());
    let segments = segments.filter(|path| path.extension().is_some_and(|extension| extension == "db"));
    let store = state.join("gateway.db");
    [segments.map(|file| count(&file, "receipts")).sum(), count(&store, "orders"), count(&store, "ledger")]
}
