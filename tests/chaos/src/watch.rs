//! Looks at the gateways again and again while a run goes on: what they hold, and how far it is.

use std::collections::BTreeSet;
use std::io::{IsTerminal as _, Write as _, stderr};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::MissedTickBehavior;

use crate::flat::Look;
use crate::footprint::Footprint;
use crate::gateway::Gateway;
use crate::inject::Injector;
use crate::plan::GATEWAYS;

/// How often the bench looks at itself, and by how much it may be late.
const TICK: Duration = Duration::from_millis(100);
const LATE_MAX: Duration = Duration::from_millis(700);
/// How often is looked at gateways, ticks.
const LOOK_EVERY: usize = 10;
/// Without a terminal, how often a line is written, ticks.
const LINE_EVERY: usize = 600;

/// What was seen.
#[derive(Default)]
pub struct Seen {
    /// What each gateway held.
    pub looks: [Vec<Look>; GATEWAYS],
    /// When the bench itself stood still: from and to, milliseconds since the load began. Nothing that was under way then says
    /// anything of gateways.
    pub stalls: Vec<(u64, u64)>,
}

/// Looks until the run is over.
pub async fn watch(injector: &Arc<Injector>, run_ms: u64, until: impl Future<Output = ()>) -> Seen {
    let mut seen = Seen::default();
    let mut until = std::pin::pin!(until);
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let is_terminal = stderr().is_terminal();
    let mut before_ms = injector.load.now_ms();
    for tick in 0_usize.. {
        tokio::select! {
            () = &mut until => break,
            _ = ticks.tick() => {}
        }
        let now_ms = injector.load.now_ms();
        if now_ms > before_ms + u64::try_from((TICK + LATE_MAX).as_millis()).unwrap_or(u64::MAX) {
            seen.stalls.push((before_ms, now_ms));
        }
        before_ms = now_ms;
        if tick.is_multiple_of(LOOK_EVERY) {
            // A disk that is busy may keep whoever reads a folder, which is not a stall.
            let looking = Arc::clone(injector);
            let looks = tokio::task::spawn_blocking(move || look(&looking, now_ms)).await.unwrap_or_default();
            before_ms = injector.load.now_ms();
            looks.into_iter().for_each(|(gateway, look)| seen.looks[gateway].push(look));
        }
        let line_every = if is_terminal { LOOK_EVERY } else { LINE_EVERY };
        if tick % line_every == line_every - 1 {
            show(injector, run_ms, is_terminal);
        }
    }
    if is_terminal {
        let _ = write!(stderr(), "\r\x1b[K");
    }
    seen
}

/// What each gateway that runs holds at the moment.
fn look(injector: &Injector, at_ms: u64) -> Vec<(usize, Look)> {
    let look = |gateway: &Gateway| {
        let (process, up) = gateway.running()?;
        // One that ends at this moment holds nothing.
        let held = Footprint::of(process, &BTreeSet::new()).ok()?;
        let up_ms = u64::try_from(up.as_millis()).unwrap_or(u64::MAX);
        Some((gateway.number, Look { at_ms, up_ms, held, on_disk: gateway.files() }))
    };
    injector.world.gateways.iter().filter_map(look).collect()
}

/// One line of progress. That a terminal is gone is not a reason to stop.
fn show(injector: &Injector, run_ms: u64, is_terminal: bool) {
    let (requests, full) = injector.load.progress();
    let (now_s, run_s) = (injector.load.now_ms() / 1_000, run_ms / 1_000);
    let line = format!("{now_s} of {run_s} s, {requests} requests, {full} with 200, {}", injector.current());
    let _ = if is_terminal { write!(stderr(), "\r\x1b[K   {line:.76}") } else { writeln!(stderr(), "   {line}") };
    let _ = stderr().flush();
}
