//! `cargo xtask layout`: lays a program's code out anew, by what a gateway under load runs (docs/benchmarks.md, "Layout of the code").
//!
//! BOLT makes a copy of the program that counts its branches, the copy serves searches, bookings and reports for a while, and BOLT
//! writes the program so that what is run together lies together. The counts are a file: the same program and the same file give the
//! same program again.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use serde_json::{Value, json};

use crate::command::{output, root, run, step};
use crate::gateway::{self, AC_SERVICE, DemoPartner, Gateway};
use crate::{demo, guests, tools};

/// The program, and where it looks for what it puts into copies that count.
const BOLT: &str = "llvm-bolt-19";
const RUNTIME: &str = "llvm-19/lib/libbolt_rt_instr.a";
/// Written by hand in assembly, with tables of its own.
const LEFT_ALONE: &str = "ring_core.*";
/// How long the copy serves.
const TRAINING: Duration = Duration::from_secs(20);
/// Users at once, and searches that each makes for one booking.
const USERS: usize = 8;
const SEARCHES_A_BOOKING: usize = 10;
/// Of so many bookings of a user, one is reported: signing starts a process.
const BOOKINGS_A_REPORT: usize = 4;
/// What a booking is answered with where the slot was taken meanwhile.
const CONFLICT: u16 = 409;
/// What is searched, with the package of the contract.
const INTENTS: [(&str, &str); 3] = [
    (AC_SERVICE, "auto-book-ac-service"),
    ("finance.buy_motor_insurance", "finance-buy-motor-insurance"),
    ("lifestyle.book_yoga_class", "lifestyle-book-yoga-class"),
];

#[derive(Args)]
pub(crate) struct LayoutArgs {
    /// The gateway, built optimised and linked with `--emit-relocs`
    #[arg(value_name = "PROGRAM")]
    program: PathBuf,
    /// Where the new one goes
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Lay it out by these counts of an earlier run, in place of serving
    #[arg(long, value_name = "FILE")]
    counts: Option<PathBuf>,
}

/// Lays out one program.
pub(crate) fn run_once(LayoutArgs { program, out, counts }: &LayoutArgs) -> anyhow::Result<()> {
    let work = root().join("target/layout");
    let counts = match counts {
        Some(counts) => counts.clone(),
        None => count(program, &work)?,
    };
    lay_out(program, &counts, out)?;
    eprintln!("   {} is laid out by {}", out.display(), counts.display());
    Ok(())
}

/// Has a copy of the program serve, and counts what it runs; where the counts are.
pub(crate) fn count(program: &Path, work: &Path) -> anyhow::Result<PathBuf> {
    tools::install_bolt()?;
    guests::build_all()?;
    gateway::build("debug")?;
    let folder = work.join("training");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    step("A copy of the gateway that counts its branches");
    let (copy, begin) = (work.join("counting"), work.join("counts"));
    let mut instrument = prepare_bolt(&work.join("instrument.log"));
    instrument.arg(program).arg("-o").arg(&copy).arg("-instrument").arg("--instrumentation-file-append-pid");
    instrument.arg(format!("-instrumentation-file={}", begin.display()));
    instrument.arg(format!("--runtime-instrumentation-lib={RUNTIME}"));
    finish(instrument, &work.join("instrument.log"))?;

    let partners = gateway::start_rust_partners(&folder)?;
    // The bounded process that compiles a contract may write no file, and the copy writes one when it ends: so the contracts are
    // compiled before.
    let plain = start(program, &folder, &partners)?;
    plain.server.stop()?;
    step("The copy serves");
    let counting = start(&copy, &folder, &partners)?;
    let process = counting.server.id();
    serve(&counting, &folder)?;
    counting.server.stop()?;
    for partner in partners {
        partner.server.stop()?;
    }
    let counts = work.join(format!("counts.{process}.fdata"));
    let bytes = std::fs::metadata(&counts).map_or(0, |of| of.len());
    ensure!(bytes > 0, "the copy has left no counts in {}", counts.display());
    Ok(counts)
}

/// Writes the program anew by these counts, without symbols of its own source.
pub(crate) fn lay_out(program: &Path, counts: &Path, out: &Path) -> anyhow::Result<()> {
    tools::install_bolt()?;
    step("Laying the code out");
    let log = out.with_extension("layout.log");
    let mut layout = prepare_bolt(&log);
    layout.arg(program).arg("-o").arg(out).arg("-data").arg(counts);
    layout.args(["-reorder-blocks=ext-tsp", "-reorder-functions=cdsort", "-split-functions", "-split-all-cold"]);
    layout.args(["-split-eh", "-icf=1", "--use-gnu-stack"]);
    finish(layout, &log)?;
    // What serves must still be the gateway.
    let [before, after] = [program, out].map(|program| output(Command::new(program).arg("--version")));
    ensure!(before? == after?, "the program that was laid out says something else of itself");
    Ok(())
}

fn prepare_bolt(log: &Path) -> Command {
    let mut command = Command::new(BOLT);
    command.arg(format!("--log-file={}", log.display())).arg(format!("--skip-funcs={LEFT_ALONE}"));
    command
}

/// Runs BOLT, whose many words are of interest where it fails.
fn finish(mut command: Command, log: &Path) -> anyhow::Result<()> {
    let done = command.output().with_context(|| format!("cannot run {BOLT}"))?;
    if !done.status.success() {
        bail!("{BOLT} failed; see {}\n{}", log.display(), String::from_utf8_lossy(&done.stderr));
    }
    Ok(())
}

/// Starts a gateway with all contracts live.
fn start(program: &Path, folder: &Path, partners: &[DemoPartner]) -> anyhow::Result<Gateway> {
    let gateway =
        Gateway::start_program(program, folder, partners, &[("INTENT_GATEWAY__SANDBOX__DEADLINE_MS", "2000")])?;
    for (intent, package) in INTENTS {
        gateway.ship(&guests::component_path(guests::CONTRACTS, package))?;
        gateway.wait_for(intent, |loaded| loaded.iter().any(|one| one["live"] == true && one["intent"] == intent))?;
    }
    Ok(gateway)
}

/// Users search, book and have their bookings reported, until the time is over.
fn serve(gateway: &Gateway, folder: &Path) -> anyhow::Result<()> {
    let (is_over, searches, first_failure) = (AtomicBool::new(false), AtomicUsize::new(0), std::sync::Mutex::new(None));
    let requests = INTENTS
        .map(|(intent, package)| Ok((intent, read_request(intent, package)?)))
        .into_iter()
        .collect::<anyhow::Result<Vec<(&str, Value)>>>()?;
    std::thread::scope(|scope| {
        for user in 0..USERS {
            let (is_over, searches, first_failure, requests) = (&is_over, &searches, &first_failure, &requests);
            scope.spawn(move || {
                for round in 0.. {
                    if is_over.load(Ordering::Relaxed) {
                        return;
                    }
                    if let Err(error) = act(gateway, folder, requests, user, round, searches) {
                        first_failure.lock().expect("no user panics").get_or_insert(error);
                        return;
                    }
                }
            });
        }
        std::thread::park_timeout(TRAINING);
        is_over.store(true, Ordering::Relaxed);
    });
    if let Some(error) = first_failure.into_inner().expect("no user panics") {
        return Err(error.context("a user's request failed"));
    }
    let searches = searches.into_inner();
    eprintln!("   {searches} searches");
    ensure!(searches > USERS * SEARCHES_A_BOOKING, "the copy has served too little to be learned from");
    Ok(())
}

fn read_request(intent: &str, package: &str) -> anyhow::Result<Value> {
    if intent == AC_SERVICE {
        return Ok(demo::request());
    }
    let path = root().join("plugins").join(package).join("samples/request.json");
    let text = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(serde_json::from_slice(&text)?)
}

/// A round of a user: searches, of which one leads to a booking.
fn act(
    gateway: &Gateway,
    folder: &Path,
    requests: &[(&str, Value)],
    user: usize,
    round: usize,
    searches: &AtomicUsize,
) -> anyhow::Result<()> {
    for number in 0..SEARCHES_A_BOOKING {
        let (intent, request) = &requests[number % requests.len()];
        let found = ask(gateway, &format!("/api/v1/intents/{intent}/search"), request)?;
        searches.fetch_add(1, Ordering::Relaxed);
        if number == 0 {
            book(gateway, folder, &found, user, round)?;
        }
    }
    ask(gateway, "/api/v1/classify", &json!({"utterance": "my car's AC blows warm air"}))?;
    Ok(())
}

/// Books the best option and has it reported, or cancels it. Somebody else may have been faster.
fn book(gateway: &Gateway, folder: &Path, found: &Value, user: usize, round: usize) -> anyhow::Result<()> {
    let best = &found["options"][0];
    let (status, booked) = demo::order::try_booking(gateway, best, &format!("layout-{user}-{round}"))?;
    if status == CONFLICT {
        return Ok(());
    }
    ensure!(status == 200, "the booking answered {status}: {booked}");
    if round.is_multiple_of(BOOKINGS_A_REPORT) {
        let report = demo::order::report(found, best, &booked["payload"]);
        let partner = booked["partner"].as_str().context("a booking has a partner")?;
        demo::order::send_report(gateway, partner, &report, &folder.join(format!("report-{user}.json")))?;
        return Ok(());
    }
    let arguments = json!({"request_id": format!("layout-cancel-{user}-{round}"), "reason_code": "changed_plans"});
    let cancel = json!({"reference": booked["reference"], "arguments": arguments});
    ask(gateway, &format!("/api/v1/intents/{AC_SERVICE}/tools/cancel_ac_service_booking"), &cancel).map(drop)
}

fn ask(gateway: &Gateway, path: &str, body: &Value) -> anyhow::Result<Value> {
    let (status, answer) = gateway.post(path, body)?;
    ensure!(status == 200, "{path} answered {status}: {answer}");
    Ok(answer)
}

/// Links so that BOLT can move code afterwards.
pub(crate) const LINK_FLAG: &str = "-Clink-arg=-Wl,--emit-relocs";

/// Drops what only debuggers read: BOLT does not keep the tables of lines right, and takes minutes over them.
pub(crate) fn drop_lines(program: &Path, to: &Path) -> anyhow::Result<()> {
    run(Command::new("objcopy").arg("--strip-debug").arg(program).arg(to))
}
