//! A run from its beginning to its verdicts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::gateway::Gateway;
use crate::inject::Injector;
use crate::known::{Booking, Breaches, Known, compare};
use crate::load::Load;
use crate::plan::{GATEWAYS, Kind, ON_SQLITE, plan};
use crate::stores;
use crate::verdict::{Summary, Verdict, flat, honest, recovers, rows};
use crate::watch::watch;
use crate::world::World;

/// Share of the users whose gateway has SQLite, percent.
const ON_SQLITE_PERCENT: u32 = 33;

/// What is run.
pub struct Options {
    pub seed: u64,
    /// How long the load lasts.
    pub time: Duration,
    pub users_per_second: f64,
    /// What may go wrong.
    pub kinds: Vec<Kind>,
    /// The project's folder.
    pub root: PathBuf,
    /// The gateway's program.
    pub program: PathBuf,
    /// The program that gateways start with, where that is an earlier one: each goes on with the other once it was rolled.
    pub from: Option<PathBuf>,
    /// Whether the folder of the run stays.
    pub keep: bool,
}

/// Runs everything once.
///
/// # Errors
/// Where something cannot be started or read. What breaks under faults is in the verdicts.
pub async fn run(options: Arc<Options>) -> anyhow::Result<Summary> {
    let (program, next) = match &options.from {
        Some(earlier) => (earlier, Some(options.program.as_path())),
        None => (&options.program, None),
    };
    let mut world = World::start(&options.root, program, next, &options.kinds).await?;
    world.folder.disable_cleanup(options.keep);
    let token = world.gateways[0].token()?;
    let (gateways, samples) = (Arc::clone(&world.gateways), Arc::clone(&world.samples));
    let load = Arc::new(Load::new(gateways, samples, token, options.seed, ON_SQLITE_PERCENT));
    let run_ms = u64::try_from(options.time.as_millis())?;
    let plan = plan(options.seed, run_ms, &options.kinds);
    let injector = Arc::new(Injector::new(world, Arc::clone(&load)));
    let users = load.run(options.users_per_second, options.time);
    let (done, is_done) = tokio::sync::oneshot::channel::<()>();
    let work = async {
        let (_, injected) = tokio::join!(users, injector.carry_out(&plan));
        drop(done);
        injected
    };
    // It ends by being dropped.
    let over = async { drop(is_done.await) };
    let ((injected, mut wrong), seen) = tokio::join!(work, watch(&injector, run_ms, over));

    let world = &injector.world;
    let left_behind = world.gateways.iter().filter(|gateway| gateway.is_left_behind());
    wrong.extend(left_behind.map(|gateway| format!("gateway {} was never rolled: take more time", gateway.number + 1)));
    wrong.extend(stop_all(&world.gateways).await);
    let (attempts, known) = load.take();
    let (is_flat, mut notes) = flat(&seen.looks, run_ms);
    let mut verdicts = compare_stores(world, &known, &mut notes).await?;
    verdicts.push(Verdict::new("a repeat is answered as the first was", known.bookings.len(), known.changed.clone()));
    let verified = [0, ON_SQLITE].iter().flat_map(|number| stores::verify(&world.gateways[*number]));
    verdicts.push(Verdict::new("ledger, audit log and store are sound", 6, verified.collect()));
    let (is_honest, gaps) = honest(&injected, &attempts, &seen.stalls);
    verdicts.push(is_honest);
    notes.extend(gaps);
    verdicts.push(recovers(&injected, &attempts));
    verdicts.push(is_flat);
    verdicts.push(Verdict::new("gateways start and stop as they are told", injected.len() + GATEWAYS, wrong));
    notes.push(tell(&known));
    if options.keep {
        notes.push(format!("the folder of the run: {}", world.folder.path().display()));
    }
    Ok(Summary {
        seed: options.seed,
        seconds: options.time.as_secs(),
        rate: options.users_per_second,
        requests: attempts.len(),
        rows: rows(&injected, &attempts),
        verdicts,
        notes,
    })
}

/// Stops all gateways, as they are told to; what went wrong.
async fn stop_all(gateways: &Arc<Vec<Gateway>>) -> Vec<String> {
    let mut wrong = Vec::new();
    for number in 0..GATEWAYS {
        let gateways = Arc::clone(gateways);
        match tokio::task::spawn_blocking(move || gateways[number].stop()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => wrong.push(format!("gateway {} at the end: {error:#}", number + 1)),
            Err(error) => wrong.push(error.to_string()),
        }
    }
    wrong
}

async fn compare_stores(world: &World, known: &Known, notes: &mut Vec<String>) -> anyhow::Result<Vec<Verdict>> {
    let booked_at: BTreeMap<_, _> = world.partners.iter().map(|partner| (partner.id, partner.booked())).collect();
    let (mut all, mut looked_at) = (Breaches::default(), 0);
    for (on_sqlite, url) in [(false, &world.postgres_url), (true, &world.gateways[ON_SQLITE].store)] {
        let kept = stores::read(url, |_| true).await?;
        looked_at += kept.orders.len() + kept.entries.len();
        let Breaches { lost, doubled, unasked, without_option } = compare(known, on_sqlite, &kept, &booked_at);
        all.without_option += without_option;
        all.lost.extend(lost);
        all.doubled.extend(doubled);
        all.unasked.extend(unasked);
    }
    notes.push(format!(
        "orders without their option, for the receipt of the search was lost or late: {}",
        all.without_option
    ));
    let acknowledged = known.bookings.len() + known.reports.len();
    Ok(vec![
        Verdict::new("what was acknowledged is kept as it was acknowledged", acknowledged, all.lost),
        Verdict::new("nothing is kept twice", looked_at, all.doubled),
        Verdict::new("nothing is kept that was refused or never asked for", looked_at, all.unasked),
    ])
}

fn tell(known: &Known) -> String {
    let nobody_knows = |list: &[(Booking, bool)]| list.iter().filter(|(_, may)| *may).count();
    format!(
        "{} bookings and {} reports acknowledged; never acknowledged: {} and {}, of which nobody knows: {} and {}; {} users \
         turned away by the bench itself",
        known.bookings.len(),
        known.reports.len(),
        known.unbooked.len(),
        known.unreported.len(),
        nobody_knows(&known.unbooked),
        nobody_knows(&known.unreported),
        known.turned_away
    )
}
