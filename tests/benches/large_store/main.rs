//! A store of many gigabytes under traffic: backed up, brought up to date, backed up again, restored, and taken back to the release
//! before; how long each takes, and whether everything is kept that was acknowledged before.
//!
//! ```text
//! cargo bench --package intent-gateway-tests --bench large_store -- --gigabytes 10 --engine sqlite --from PROGRAM
//! ```
//!
//! `PROGRAM` is the gateway of an earlier release. Users search, book and report all the while, as in `cargo xtask chaos`; what they were told
//! is held against what the stores keep. Most of the store are copies of one order.

#![expect(clippy::print_stdout, reason = "a bench prints its results")]

mod fill;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use chaos::gateway::{Common, Gateway};
use chaos::known::{Known, compare};
use chaos::load::Load;
use chaos::plan::ON_SQLITE;
use chaos::record::{Attempt, Call, Outcome};
use chaos::stores;
use chaos::world::World;
use clap::{Parser, ValueEnum};

use crate::fill::{Place, fill, is_original};

/// How long there is traffic before anything else happens, and between two things.
const CALM: Duration = Duration::from_secs(15);
/// Longer than any run.
const FOREVER: Duration = Duration::from_secs(24 * 60 * 60);
const CONTRACT: &str = "target/contracts/auto-book-ac-service.wasm";

#[derive(Parser)]
struct Arguments {
    /// How large the store is made
    #[arg(long, default_value_t = 10.0)]
    gigabytes: f64,
    /// What it is kept by
    #[arg(long, value_enum, default_value = "sqlite")]
    engine: Engine,
    /// The gateway of an earlier release, which the store is filled for; today's without it
    #[arg(long, value_name = "PROGRAM")]
    from: Option<PathBuf>,
    /// Today's gateway
    #[arg(long, value_name = "PROGRAM", default_value = "target/release/intent-gateway")]
    program: PathBuf,
    /// Users that begin in a second; each makes two or three requests
    #[arg(long, default_value_t = 20.0)]
    rate: f64,
    /// Given by `cargo bench`
    #[arg(long, hide = true)]
    bench: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Engine {
    Sqlite,
    Postgres,
}

impl Engine {
    /// The gateways on it.
    fn gateways(self) -> &'static [usize] {
        match self {
            Self::Sqlite => &[ON_SQLITE],
            Self::Postgres => &[0, 1],
        }
    }
}

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build();
    match runtime.expect("a runtime").block_on(run(&Arguments::parse())) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Does everything once; whether nothing was lost.
async fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the bench lies in tests/")?;
    let program = root.join(&arguments.program);
    let from = arguments.from.as_ref().map_or_else(|| program.clone(), |from| root.join(from));
    let world = World::start(root, &from, Some(&program), &[]).await?;
    let run = Run { arguments, world: &world, root };
    let own = run.gateways();
    for other in world.gateways.iter().filter(|gateway| !own.iter().any(|one| one.number == gateway.number)) {
        other.stop()?;
    }
    run.make_large().await?;

    let load = run.begin();
    let users = tokio::spawn({
        let (load, rate) = (Arc::clone(&load), arguments.rate);
        async move { load.run(rate, FOREVER).await }
    });
    tokio::time::sleep(CALM).await;
    let calm = (0, load.now_ms());
    let (before, by_earlier) = (load.count_acknowledged(), world.folder.path().join("by-earlier.jsonl"));
    let backed_up = run.back_up("the earlier program", &load, &by_earlier).await?;
    tokio::time::sleep(CALM).await;
    let upgraded = run.upgrade(&load).await?;
    tokio::time::sleep(CALM).await;
    let (after, by_today) = (load.count_acknowledged(), world.folder.path().join("by-today.jsonl"));
    let again = run.back_up("today's", &load, &by_today).await?;
    tokio::time::sleep(CALM).await;
    load.end();
    users.await?;
    for gateway in &own {
        gateway.stop()?;
    }

    let (attempts, known) = load.take();
    for (when, span) in [("calm", calm), ("first backup", backed_up), ("upgrade", upgraded), ("second backup", again)] {
        show_answers(when, &attempts, span);
    }
    let all = (known.bookings.len(), known.reports.len());
    let mut holds = run.holds("the store, after all of it", &own[0].store, &known, all).await?;
    for command in [["store", "check"], ["ledger", "verify"], ["audit", "verify"]] {
        let begun = Instant::now();
        own[0].command(command)?;
        tell(&format!("`{}`", command.join(" ")), begun);
    }
    drop(attempts);

    // Only one more of this size has room beside it.
    for (backup, program, told, whose) in
        [(by_today, &program, after, "today's"), (by_earlier, &from, before, "the earlier program")]
    {
        let restored = run.restore(&backup, program, whose).await?;
        holds &= run
            .holds(
                &format!("restored by {whose}, of what was acknowledged before its backup"),
                &restored.store,
                &known,
                told,
            )
            .await?;
        std::fs::remove_dir_all(&restored.folder).context("the restored store cannot be removed")?;
    }
    Ok(holds)
}

struct Run<'a> {
    arguments: &'a Arguments,
    world: &'a World,
    root: &'a Path,
}

impl Run<'_> {
    fn gateways(&self) -> Vec<&Gateway> {
        self.arguments.engine.gateways().iter().map(|number| &self.world.gateways[*number]).collect()
    }

    /// Users of this engine's gateways.
    fn begin(&self) -> Arc<Load> {
        let World { gateways, samples, .. } = self.world;
        let token = self.gateways()[0].token().expect("the gateway issues a token");
        let on_sqlite = if self.arguments.engine == Engine::Sqlite { 100 } else { 0 };
        Arc::new(Load::new(Arc::clone(gateways), Arc::clone(samples), token, 1, on_sqlite))
    }

    /// Copies what a few users have left until the store is as large as it should be, and starts the gateways again.
    async fn make_large(&self) -> anyhow::Result<()> {
        let load = self.begin();
        load.run(self.arguments.rate, Duration::from_secs(5)).await;
        for gateway in self.gateways() {
            gateway.stop()?;
        }
        let begun = Instant::now();
        let bytes = (self.arguments.gigabytes * 1e9) as u64;
        let file = self.gateways()[0].folder.join("state/gateway.db");
        let place = match self.arguments.engine {
            Engine::Sqlite => Place::Sqlite(&file),
            Engine::Postgres => Place::Postgres(&self.world.postgres_url),
        };
        let (orders, bytes) = fill(&place, bytes).await?;
        tell(&format!("filled with {orders} orders, {:.1} GB", bytes as f64 / 1e9), begun);
        for gateway in self.gateways() {
            let begun = Instant::now();
            gateway.start()?;
            tell("start of the earlier program, until it serves", begun);
        }
        Ok(())
    }

    /// Writes a backup while users go on; from when to when.
    async fn back_up(&self, whose: &str, load: &Load, to: &Path) -> anyhow::Result<(u64, u64)> {
        let (begun, from_ms) = (Instant::now(), load.now_ms());
        let gateways = Arc::clone(&self.world.gateways);
        let (number, to_file) = (self.arguments.engine.gateways()[0], to.to_owned());
        tokio::task::spawn_blocking(move || {
            gateways[number].command(["store", "backup", &to_file.display().to_string()])
        })
        .await??;
        let bytes = std::fs::metadata(to).context("the backup is not there")?.len();
        tell(&format!("backup by {whose}, {:.1} GB", bytes as f64 / 1e9), begun);
        Ok((from_ms, load.now_ms()))
    }

    /// Goes on with today's program at each gateway, one after the other; from when to when.
    async fn upgrade(&self, load: &Load) -> anyhow::Result<(u64, u64)> {
        let from_ms = load.now_ms();
        for number in self.arguments.engine.gateways().iter().copied() {
            let gateways = Arc::clone(&self.world.gateways);
            tokio::task::spawn_blocking(move || {
                let begun = Instant::now();
                gateways[number].stop()?;
                tell("stop of the earlier program", begun);
                let begun = Instant::now();
                gateways[number].start_next()?;
                tell("start of today's, until it serves", begun);
                anyhow::Ok(())
            })
            .await??;
        }
        Ok((from_ms, load.now_ms()))
    }

    /// Restores a backup into a store of its own, and starts and stops a gateway on it.
    async fn restore(&self, backup: &Path, program: &Path, whose: &str) -> anyhow::Result<Gateway> {
        let World { partners, folder, postgres, .. } = self.world;
        let store = match self.arguments.engine {
            Engine::Sqlite => None,
            Engine::Postgres => Some(postgres.database()?),
        };
        let own = folder.path().join("restored");
        let contract = self.root.join(CONTRACT);
        let common = Common { program, next: None, contract: &contract, partners, clock: None };
        let number = self.arguments.engine.gateways()[0];
        let gateway = Gateway::prepare(number, own, store, &common)?;
        let backup = backup.display().to_string();
        tokio::task::spawn_blocking(move || {
            let begun = Instant::now();
            gateway.command(["store", "restore", &backup])?;
            tell("restore", begun);
            Ok(gateway)
        })
        .await?
        .and_then(|gateway: Gateway| {
            let begun = Instant::now();
            gateway.start()?;
            tell(&format!("start of {whose} on it, until it serves"), begun);
            gateway.stop()?;
            Ok(gateway)
        })
    }

    /// Whether a store has everything of the first so many bookings and reports that were acknowledged.
    async fn holds(
        &self,
        what: &str,
        store: &str,
        known: &Known,
        (bookings, reports): (usize, usize),
    ) -> anyhow::Result<bool> {
        let kept = stores::read(store, is_original).await?;
        ensure!(!kept.orders.is_empty(), "the store has no orders");
        let known = Known {
            bookings: known.bookings[..bookings].to_vec(),
            reports: known.reports[..reports].to_vec(),
            ..Known::default()
        };
        let booked_at: BTreeMap<_, _> =
            self.world.partners.iter().map(|partner| (partner.id, partner.booked())).collect();
        let breaches = compare(&known, self.arguments.engine == Engine::Sqlite, &kept, &booked_at);
        let (lost, doubled) = (breaches.lost.len(), breaches.doubled.len());
        println!("{what}: {bookings} bookings and {reports} reports, {lost} lost, {doubled} kept twice");
        breaches.lost.iter().chain(&breaches.doubled).take(5).for_each(|breach| println!("    {breach}"));
        Ok(lost + doubled == 0)
    }
}

fn tell(what: &str, since: Instant) {
    println!("{what:<60} {:>9.1} s", since.elapsed().as_secs_f64());
}

/// How long those took that were answered as they should within a span, and the longest time without one.
fn show_answers(when: &str, attempts: &[Attempt], (from_ms, to_ms): (u64, u64)) {
    let within: Vec<&Attempt> =
        attempts.iter().filter(|attempt| (from_ms..to_ms).contains(&attempt.began_ms)).collect();
    let full: Vec<&&Attempt> = within.iter().filter(|attempt| attempt.outcome == Outcome::Full).collect();
    let mut ended: Vec<u64> = full.iter().map(|attempt| attempt.ended_ms.min(to_ms)).collect();
    ended.extend([from_ms, to_ms]);
    ended.sort_unstable();
    let gap = ended.windows(2).map(|two| two[1] - two[0]).max().unwrap_or_default();
    println!(
        "{when}, {:.0} s: {} requests, {} as they should, longest time without one {gap} ms",
        (to_ms - from_ms) as f64 / 1e3,
        within.len(),
        full.len()
    );
    for call in [Call::Search, Call::Book, Call::Report] {
        let mut took: Vec<u64> = full
            .iter()
            .filter(|attempt| attempt.call == call)
            .map(|attempt| attempt.ended_ms - attempt.began_ms)
            .collect();
        took.sort_unstable();
        if let Some(longest) = took.last() {
            let at = |percent: usize| took[(took.len() - 1) * percent / 100];
            println!("    {call}: p50 {} ms, p99 {} ms, longest {longest} ms", at(50), at(99));
        }
    }
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    for attempt in within.iter().filter(|attempt| attempt.outcome != Outcome::Full) {
        *refused.entry(format!("{} of a {}", attempt.outcome, attempt.call)).or_default() += 1;
    }
    refused.iter().for_each(|(what, times)| println!("    {times} × {what}"));
}
