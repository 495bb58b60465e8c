//! A gateway under more load than it can bear: how much it still does, how soon what it accepts is answered, what a refusal costs,
//! and how soon it is over.
//!
//! The load is open: requests are sent when they are due, whether those before were answered or not, and the time of each counts
//! from when it was due. The gateway has one processor and the generator, with the partner, another. Capacity is measured in
//! the same run: the best goodput over a ramp of offered loads, an answer counting as good when it holds options.
//!
//! `cargo xtask bench` builds what this starts. With a path as argument, that gateway is measured in place of the optimised one. `hour MINUTES`
//! behind it measures a long time at half of the capacity, and a minute at twice it, in place of the short surge.

#![expect(clippy::print_stdout, reason = "a bench prints its results")]

mod errand;
mod gateway;
mod generator;
mod hour;
mod measures;
mod partner;

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use intent_gateway_tests::cpu;

use crate::gateway::{CALLERS, Gateway};
use crate::generator::{Generator, Phase};
use crate::measures::{Measured, Step, quantile};

/// The processors: the gateway's, and that of all that loads it.
const GATEWAY_CPU: usize = 0;
const GENERATOR_CPU: usize = 1;

/// Asks for a long time at half of the capacity.
const HOUR: &str = "hour";
/// First argument of this binary once it runs on its processor.
const PINNED: &str = "pinned";

/// Loads of the ramp, searches per second; it ends once the gateway does clearly less than it is asked for.
const RAMP_FROM: f64 = 200.0;
const RAMP_FACTOR: f64 = 1.2;
const RAMP_STEP: Duration = Duration::from_secs(3);
/// Share of the offered load below which the ramp has shown enough.
const SATURATED: f64 = 0.75;
/// Times the capacity.
const SURGE: f64 = 4.0;
const SURGE_TIME: Duration = Duration::from_secs(10);
const CALM: f64 = 0.5;
const CALM_TIME: Duration = Duration::from_secs(5);
/// What each caller but the first asks for, as a share of the capacity; the first asks for all the rest.
const MODEST: f64 = 0.08;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [mode, payload, booking] = arguments.as_slice()
        && mode == "serve-partner"
    {
        runtime().block_on(partner::serve(payload, booking)).expect("the partner serves");
        return;
    }
    if arguments.first().is_none_or(|first| first != PINNED) {
        // Only the command fails here: whatever is started becomes this process.
        let own = std::env::current_exe().expect("this binary");
        let failed = on_cpu(GENERATOR_CPU, &own).arg(PINNED).args(arguments).exec();
        panic!("taskset cannot be run: {failed}");
    }
    let mut words = arguments.iter().skip(1).filter(|argument| !argument.starts_with('-')).peekable();
    let program = words.next_if(|word| *word != HOUR).map(PathBuf::from);
    let program = program.unwrap_or_else(|| root().join("target/release/intent-gateway"));
    match (words.next(), words.next()) {
        (None, _) => runtime().block_on(measure(&program)),
        (Some(_), minutes) => {
            let minutes = minutes.map_or(60.0, |minutes| minutes.parse().expect("minutes are a number"));
            runtime().block_on(hour::measure(&program, Duration::from_secs_f64(minutes * 60.0)));
        }
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// A command that runs on one processor, with all that it starts.
fn on_cpu(cpu: usize, program: &Path) -> Command {
    let mut command = Command::new("taskset");
    command.args(["--cpu-list", &cpu.to_string()]).arg(program);
    command
}

/// The project's root folder.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the root folder").to_owned()
}

/// One line of the table.
fn line(what: &str, figure: &str, remark: &str) {
    println!("{what:<58} {figure:>16}   {remark}");
}

fn verdict(holds: bool) -> &'static str {
    if holds { "met" } else { "MISSED" }
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

/// What each caller asks for, of so many searches a second in all.
fn shares(per_second: f64, capacity: f64) -> Vec<f64> {
    let modest = (capacity * MODEST).min(per_second * MODEST);
    let mut shares = vec![modest; CALLERS];
    shares[0] = per_second - modest * (CALLERS - 1) as f64;
    shares
}

async fn measure(program: &Path) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let gateway = Gateway::start(program, folder.path()).await;
    println!(
        "Overload: searches of one intent at one partner that answers at once, 15 options; open loop, {CALLERS} callers"
    );
    let mut generator = Generator::new(gateway.address(), gateway.errands(None), gateway.probes());
    let best = find_best(&mut generator, &gateway).await;
    let capacity = best.measured.goodput();
    let best_p99 = best.measured.p99();
    line("best goodput over the ramp", &format!("{capacity:.0} /s"), &format!("at {:.0} /s offered", best.offered));
    let cpu_of_good = best.cpu.div_f64(best.measured.good(Step::Search) as f64);

    let calm = generator.run(Phase { per_second: shares(capacity * CALM, capacity), time: CALM_TIME }).await;
    let (cpu, log) = (cpu::time_of(gateway.process()), gateway.log_bytes());
    let surge = generator.run(Phase { per_second: shares(capacity * SURGE, capacity), time: SURGE_TIME }).await;
    let (cpu, log) = (cpu::time_of(gateway.process()).saturating_sub(cpu), gateway.log_bytes() - log);
    let after = generator.run(Phase { per_second: shares(capacity * CALM, capacity), time: CALM_TIME }).await;

    let share = surge.goodput() / capacity;
    line(
        &format!("goodput at {SURGE} times the capacity"),
        &format!("{:.0} /s", surge.goodput()),
        &format!("{:.0} % of the best, aim 90 %: {}", share * 100.0, verdict(share >= 0.9)),
    );
    println!("    answers: {}", surge.statuses(Step::Search));
    let ratio = surge.p99().as_secs_f64() / best_p99.as_secs_f64();
    line(
        "p99 of what was accepted, from when it was due",
        &ms(surge.p99()),
        &format!("the best's {}: {ratio:.2} times, aim 2: {}", ms(best_p99), verdict(ratio <= 2.0)),
    );
    line("p50 of what was accepted", &ms(surge.p50()), &format!("the best's {}", ms(best.measured.p50())));
    line("p50 and p99 of refusals", &ms(surge.refused(0.5)), &ms(surge.refused(0.99)));
    let refused = surge.searches() - surge.good(Step::Search);
    let cpu_of_refusal =
        cpu.saturating_sub(cpu_of_good.mul_f64(surge.good(Step::Search) as f64)).div_f64(refused.max(1) as f64);
    line(
        "gateway CPU of a refusal",
        &format!("{:.1} us", cpu_of_refusal.as_secs_f64() * 1e6),
        &format!("of a search {:.0} us", cpu_of_good.as_secs_f64() * 1e6),
    );
    line("log written during the surge", &format!("{log} bytes"), &format!("{refused} refused"));
    show_shares(&surge);
    let recovery = after.recovery(best_p99 * 2);
    line(
        "recovery after the surge",
        &ms(recovery),
        &format!("aim 2 s: {}", verdict(recovery <= Duration::from_secs(2))),
    );
    for (probe, name) in gateway::PROBES.into_iter().enumerate() {
        line(
            &format!("{name}, p50 and worst: before, during the surge"),
            &format!("{} / {}", ms(quantile(&calm.probes[probe], 0.5)), ms(quantile(&calm.probes[probe], 1.0))),
            &format!("{} / {}", ms(quantile(&surge.probes[probe], 0.5)), ms(quantile(&surge.probes[probe], 1.0))),
        );
    }
    line("generator behind its schedule during the surge, p99", &ms(surge.lag(0.99)), "");
}

/// The load at which the most searches were answered.
struct Best {
    offered: f64,
    measured: Measured,
    /// Of the gateway, for all of it.
    cpu: Duration,
}

/// How much each caller was served of what it asked for.
fn show_shares(measured: &Measured) {
    for (caller, share) in measured.served_shares().into_iter().enumerate() {
        let who = if caller == 0 { "the greedy caller".to_owned() } else { format!("modest caller {caller}") };
        line(&format!("  served of {who}"), &format!("{:.1} %", share * 100.0), "");
    }
}

async fn find_best(generator: &mut Generator, gateway: &Gateway) -> Best {
    // Connections and code are warm before anything counts.
    generator.run(Phase { per_second: shares(RAMP_FROM, f64::INFINITY), time: RAMP_STEP }).await;
    let mut best: Option<Best> = None;
    let mut offered = RAMP_FROM;
    loop {
        let cpu = cpu::time_of(gateway.process());
        let measured = generator.run(Phase { per_second: shares(offered, f64::INFINITY), time: RAMP_STEP }).await;
        let cpu = cpu::time_of(gateway.process()).saturating_sub(cpu);
        let goodput = measured.goodput();
        println!(
            "    {offered:.0} /s offered: {goodput:.0} /s good, p50 {}, p99 {}; {}",
            ms(measured.p50()),
            ms(measured.p99()),
            measured.statuses(Step::Search)
        );
        let is_saturated = goodput < offered * SATURATED;
        if best.as_ref().is_none_or(|best| goodput > best.measured.goodput()) {
            best = Some(Best { offered, measured, cpu });
        }
        if is_saturated {
            return best.expect("there was a first one");
        }
        offered *= RAMP_FACTOR;
    }
}
