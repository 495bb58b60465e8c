//! This gateway among those that share its store: takes its lease, renews it, gives it back, and does the duties that it holds
//! (the rules: [`domain::fleet`](intent_gateway_domain::fleet)).
//!
//! A duty's work is cut off when its lease ends, at the next step that it would take: a process that was frozen finds that
//! out before it goes on with anything, for the lease is looked at each time the work is polled.

use std::fs;
use std::io;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use intent_gateway_domain::error::chain;
use intent_gateway_domain::fleet::standing::MonotonicClock;
use intent_gateway_domain::fleet::{
    Duty, Fleet, Gateway, GatewayId, Granted, Leases, OwnLease, RENEWALS_PER_LEASE, Renewal,
};
use intent_gateway_domain::telemetry;
use intent_gateway_domain::vault::{Entropy, NoEntropy, Vault, hex, random};
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::readiness::TaskRounds;

/// The file in the state folder that says which gateway this is.
const ID_FILE: &str = "gateway-id";
/// Where Linux tells the machine's name.
const HOST_NAME_FILE: &str = "/proc/sys/kernel/hostname";
/// Longest name of a gateway that is made, characters.
const NAME_MAX_CHARS: usize = 200;

/// How often a gateway asks for its first lease, at most, and the pause between two tries.
const FIRST_TRIES_MAX: u32 = 10;
const BETWEEN_FIRST_TRIES: Duration = Duration::from_millis(500);

/// The clock of the machine that runs on while the process or the machine sleeps, and that nobody sets.
pub(crate) struct BootClock;

impl MonotonicClock for BootClock {
    fn elapsed_ms(&self) -> u64 {
        let time = clock_gettime(ClockId::Boottime);
        let part = |number: i64| u64::try_from(number).unwrap_or_default();
        part(time.tv_sec) * 1_000 + part(time.tv_nsec) / 1_000_000
    }
}

/// What this gateway calls itself, for people: its host and where it listens.
pub(crate) fn gateway_name(address: impl std::fmt::Display) -> String {
    let host = fs::read_to_string(HOST_NAME_FILE).unwrap_or_default();
    let host: String = host.trim().chars().filter(|letter| !letter.is_control()).take(NAME_MAX_CHARS).collect();
    if host.is_empty() { address.to_string() } else { format!("{host} {address}") }
}

/// Which gateway a state folder belongs to: the same after each start. One process has the folder at a time.
///
/// # Errors
/// When the folder cannot be written, or the machine gives no random bytes.
pub(crate) fn gateway_id(state_dir: &Path, entropy: &dyn Entropy) -> Result<GatewayId, io::Error> {
    let path = state_dir.join(ID_FILE);
    if let Ok(kept) = fs::read_to_string(&path)
        && let Ok(id) = GatewayId::parse(kept.trim())
    {
        return Ok(id);
    }
    let id = random_id(entropy).map_err(io::Error::other)?;
    fs::write(&path, format!("{id}\n"))?;
    Ok(id)
}

fn random_id(entropy: &dyn Entropy) -> Result<GatewayId, NoEntropy> {
    let bytes = random::<16>(entropy)?;
    // Hexadecimal digits are always an identifier.
    GatewayId::parse(&hex(&bytes)).map_err(|_| NoEntropy)
}

/// This gateway's leases.
pub(crate) struct Membership {
    leases: Arc<dyn Leases>,
    fleet: Fleet,
    /// Where random bytes come from.
    vault: Vault,
    gateway: Gateway,
    lease: Duration,
    renewed: watch::Sender<()>,
    /// Names of the others that lived last.
    others: Vec<String>,
    is_failing: bool,
}

/// The gateway, in the fleet's book.
pub(crate) struct Entry {
    pub(crate) id: GatewayId,
    pub(crate) name: String,
    pub(crate) lease: Duration,
}

impl Membership {
    /// Takes a lease.
    ///
    /// # Errors
    /// When the store does not give one.
    pub(crate) async fn begin(
        Entry { id, name, lease }: Entry,
        leases: Arc<dyn Leases>,
        fleet: Fleet,
        vault: Vault,
    ) -> anyhow::Result<Self> {
        let gateway =
            Gateway { id, run: random_id(vault.entropy())?, name, version: env!("CARGO_PKG_VERSION").to_owned() };
        let (renewed, _) = watch::channel(());
        let mut membership =
            Self { leases, fleet, vault, gateway, lease, renewed, others: Vec::new(), is_failing: false };
        let granted = membership.ask_until_granted().await?;
        let Gateway { id, name, .. } = &membership.gateway;
        tracing::info!(%id, name, gateways = granted.live.len(), "a lease was taken in the store");
        membership.tell(&granted);
        Ok(membership)
    }

    /// Asks for the first lease. Others may be changing theirs, and a machine that has much to do may be late: that is no reason
    /// not to start.
    async fn ask_until_granted(&self) -> anyhow::Result<Granted> {
        let mut tries = 1;
        loop {
            match self.ask(true).await {
                Err(error) if tries < FIRST_TRIES_MAX => {
                    tracing::warn!(%error, "the store gives no lease yet");
                    tries += 1;
                    sleep(BETWEEN_FIRST_TRIES).await;
                }
                asked => return asked,
            }
        }
    }

    /// Does what one gateway is to do, while this is the one.
    pub(crate) fn duties(&self) -> Duties {
        Duties { fleet: self.fleet.clone(), renewed: self.renewed.subscribe() }
    }

    /// Renews the lease, for ever.
    pub(crate) async fn keep(&mut self, rounds: TaskRounds) {
        let every = self.lease / u32::try_from(RENEWALS_PER_LEASE).unwrap_or(1);
        let mut is_start = false;
        loop {
            let next = Instant::now() + every;
            let asked = timeout(every, self.ask(is_start)).await;
            rounds.note(matches!(asked, Ok(Ok(_))));
            match asked {
                Ok(Ok(granted)) => is_start = self.note(&granted),
                Ok(Err(error)) => self.note_failure(&error.to_string()),
                Err(_elapsed) => self.note_failure("the store did not answer in time"),
            }
            for duty in Duty::ALL {
                telemetry::duty_held(duty, self.fleet.holds(duty));
            }
            sleep_until(next).await;
        }
    }

    /// Gives the leases back, for the process is about to end: others need not wait until they are over.
    pub(crate) async fn end(self) {
        self.fleet.end_duties();
        match timeout(self.lease, self.leases.give_back(&self.gateway.run)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(error = %chain(&error), "the lease could not be given back; it ends by itself")
            }
            Err(_elapsed) => tracing::warn!("the lease could not be given back in time; it ends by itself"),
        }
    }

    async fn ask(&self, is_start: bool) -> anyhow::Result<Granted> {
        let lease_ms = u64::try_from(self.lease.as_millis()).unwrap_or(u64::MAX);
        let renewal = Renewal { gateway: self.gateway.clone(), lease_ms, is_start, duties: Duty::ALL.to_vec() };
        let asked_at_ms = self.fleet.elapsed_ms();
        let granted = self.leases.renew(&renewal).await.map_err(|error| anyhow::anyhow!(chain(&error)))?;
        self.fleet.note_granted(asked_at_ms, lease_ms, &granted);
        if granted.own != OwnLease::Replaced {
            self.fleet.note_own(&self.gateway);
        }
        Ok(granted)
    }

    /// Takes note of an answer. Whether the next question is that of a process that starts.
    fn note(&mut self, granted: &Granted) -> bool {
        if std::mem::take(&mut self.is_failing) {
            tracing::info!("the lease can be renewed again");
        }
        self.tell(granted);
        match granted.own {
            OwnLease::Renewed => false,
            OwnLease::Begun => {
                tracing::warn!("the lease had ended before it was renewed: others have taken this gateway for dead");
                false
            }
            OwnLease::Replaced => {
                tracing::error!(
                    id = %self.gateway.id,
                    "another process serves as this gateway: the state folder was copied with its file `{ID_FILE}`. This \
                     process goes on under another identifier; remove the file from one of the folders"
                );
                match (random_id(self.vault.entropy()), random_id(self.vault.entropy())) {
                    (Ok(id), Ok(run)) => (self.gateway.id, self.gateway.run) = (id, run),
                    _ => tracing::error!("the machine gives no random bytes"),
                }
                true
            }
        }
    }

    fn tell(&mut self, granted: &Granted) {
        telemetry::gateways_live(self.fleet.live());
        let others = granted.live.iter().filter(|live| live.gateway.run != self.gateway.run);
        let others: Vec<String> = others.map(|live| live.gateway.name.clone()).collect();
        if others != self.others {
            tracing::info!(gateways = self.fleet.live(), ?others, "the gateways that share the store have changed");
            self.others = others;
        }
        self.renewed.send_replace(());
    }

    fn note_failure(&mut self, why: &str) {
        if !std::mem::replace(&mut self.is_failing, true) {
            tracing::warn!(why, "the lease could not be renewed; duties end with it");
        }
    }
}

/// Does what one gateway is to do for all, while this is the one.
#[derive(Clone)]
pub(crate) struct Duties {
    fleet: Fleet,
    renewed: watch::Receiver<()>,
}

impl Duties {
    /// Does rounds of a duty's work while it is this gateway's, so far apart, for ever. Whoever takes a duty over begins with
    /// a round.
    pub(crate) async fn do_rounds<F: Future<Output = ()>>(
        mut self,
        duty: Duty,
        every: Duration,
        rounds: TaskRounds,
        mut round: impl FnMut(TaskRounds) -> F,
    ) {
        loop {
            if !self.fleet.holds(duty) {
                rounds.note_rest();
                self.wait_for(duty).await;
            }
            rounds.note_turn();
            tracing::debug!(%duty, "a round of a duty begins");
            match self.while_held(duty, round(rounds.clone())).await {
                Some(()) => drop(self.while_held(duty, sleep(every)).await),
                None => tracing::info!(%duty, "a duty was cut off: its lease is over, and another gateway may have it"),
            }
        }
    }

    /// Waits until a duty is this gateway's.
    async fn wait_for(&mut self, duty: Duty) {
        while !self.fleet.holds(duty) {
            if self.renewed.changed().await.is_err() {
                // Nobody renews leases any more.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Works for as long as a duty is this gateway's; none where that ended first. The lease is looked at before each step.
    async fn while_held<T>(&self, duty: Duty, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        let guarded = std::future::poll_fn(|context| {
            if self.fleet.holds(duty) { work.as_mut().poll(context).map(Some) } else { Poll::Ready(None) }
        });
        tokio::select! {
            biased;
            () = self.wait_for_end(duty) => None,
            done = guarded => done,
        }
    }

    async fn wait_for_end(&self, duty: Duty) {
        loop {
            match self.fleet.left_ms(duty) {
                0 => return,
                left_ms => sleep(Duration::from_millis(left_ms)).await,
            }
        }
    }
}

#[cfg(test)]
mod tests;
