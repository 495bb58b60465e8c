//! Sees to it that nobody changes the audit log or the ledger behind the gateway's back: notes how far both are where the store's
//! owner cannot write ([anchors](intent_gateway_domain::anchor)), checks all of both once a day, and tells what is wrong.
//!
//! Of several gateways, each follows and anchors what comes, for its anchors are its own witness; one of them checks all of it once
//! a day besides, and each does when it starts.
//!
//! What comes is followed link by link before it is anchored, so that nothing is anchored that does not hold. What has once been
//! found wrong is told once by each process, and shown in the metrics until the process ends.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_config::{append_anchors, read_anchors};
use intent_gateway_domain::anchor::{Anchor, AnchorError, Anchors, ChainName, Head};
use intent_gateway_domain::audit::AuditWatch;
use intent_gateway_domain::chain::ChainKeys;
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::fleet::{Duty, Fleet};
use intent_gateway_domain::telemetry;
use intent_gateway_ledger::bookkeeping::LedgerWatch;
use intent_gateway_onboarding::TeamAlarm;
use intent_gateway_store::SqlStore;

use crate::readiness::TaskRounds;

/// Time until a chain without an entry is looked at again: its first entry is anchored soon, whatever the interval.
const EMPTY_POLL: Duration = Duration::from_secs(5);
/// Pause after the store, or the file of anchors, has failed.
const PAUSE: Duration = Duration::from_secs(60);

/// What was anchored: in the file, and by this process.
pub(crate) struct KeptAnchors {
    file: PathBuf,
    keys: ChainKeys,
    /// The latest of each chain that this process has noted.
    latest: Mutex<Vec<Anchor>>,
}

impl KeptAnchors {
    pub(crate) fn new(file: PathBuf, keys: ChainKeys) -> Self {
        Self { file, keys, latest: Mutex::default() }
    }

    fn latest(&self, chain: ChainName) -> Option<Anchor> {
        let latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        latest.iter().find(|anchor| anchor.chain == chain).copied()
    }

    /// Notes a head in the log and in the file.
    async fn note(&self, anchor: Anchor) -> Result<(), AnchorError> {
        tracing::info!(target: "intent_gateway::anchors", %anchor, "the end of a chain was anchored");
        let file = self.file.clone();
        in_background(move || append_anchors(&file, &[anchor])).await?;
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        latest.retain(|before| before.chain != anchor.chain);
        latest.push(anchor);
        Ok(())
    }
}

impl Anchors for KeptAnchors {
    fn read(&self, chain: ChainName) -> BoxFuture<'_, Result<Vec<Anchor>, AnchorError>> {
        async move {
            let (file, keys) = (self.file.clone(), self.keys.clone());
            let mut anchors = in_background(move || read_anchors(&file, chain, &keys)).await?;
            anchors.extend(self.latest(chain));
            Ok(anchors)
        }
        .boxed()
    }
}

async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, AnchorError> + Send + 'static,
) -> Result<T, AnchorError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| AnchorError {
        what: "the file of anchors was given up".to_owned(),
        cause: Some(error.into()),
    })?
}

/// What watches over both chains.
#[derive(Clone)]
pub(crate) struct ChainGuard {
    pub(crate) store: Arc<SqlStore>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) anchors: Arc<KeptAnchors>,
    pub(crate) alarm: Arc<TeamAlarm>,
    /// Time between two anchors.
    pub(crate) interval: Duration,
    /// Time between two checks of all entries.
    pub(crate) check_interval: Duration,
    /// Says whether it is this gateway that checks all entries.
    pub(crate) fleet: Fleet,
}

/// A chain under watch.
enum Watch {
    Audit(AuditWatch),
    Ledger(LedgerWatch),
}

/// Checks and anchors one chain, for ever.
pub(crate) async fn guard(guard: ChainGuard, chain: ChainName, rounds: TaskRounds) {
    let mut told = None;
    loop {
        match guard.watch_for_a_while(chain, &mut told, &rounds).await {
            Ok(()) => {}
            Err(error) => {
                tracing::error!(%chain, %error, "a chain could not be checked or anchored");
                telemetry::chain_checked(chain, false);
                rounds.note(false);
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

impl ChainGuard {
    /// Checks all of a chain, and from then on what comes, until it is time for all of it again.
    async fn watch_for_a_while(
        &self,
        chain: ChainName,
        told: &mut Option<String>,
        rounds: &TaskRounds,
    ) -> Result<(), String> {
        let mut next_check = tokio::time::Instant::now() + self.check_interval;
        let mut watch = self.begin(chain).await?;
        let mut fault = self.advance(&mut watch).await?.or_else(|| watch.finish());
        loop {
            telemetry::chain_checked(chain, fault.is_none());
            match &fault {
                Some(fault) => self.tell(chain, fault, told).await,
                None => self.anchor(chain, watch.head()).await?,
            }
            rounds.note(true);
            let now = tokio::time::Instant::now();
            if now >= next_check {
                if self.fleet.holds(check_duty(chain)) {
                    return Ok(());
                }
                // Another gateway does.
                next_check = now + self.check_interval;
            }
            let interval = if watch.head().number == 0 { self.interval.min(EMPTY_POLL) } else { self.interval };
            tokio::time::sleep(interval.min(next_check - now)).await;
            if fault.is_none() {
                fault = self.advance(&mut watch).await?;
            }
        }
    }

    async fn begin(&self, chain: ChainName) -> Result<Watch, String> {
        let anchors = self.anchors.read(chain).await.map_err(|error| self::chain(&error))?;
        let begun = match chain {
            ChainName::Audit => AuditWatch::begin(&*self.store, &anchors).await.map(Watch::Audit),
            ChainName::Ledger => LedgerWatch::begin(&*self.store, &anchors).await.map(Watch::Ledger),
        };
        begun.map_err(|error| self::chain(&error))
    }

    /// Takes what has come; what is wrong.
    async fn advance(&self, watch: &mut Watch) -> Result<Option<String>, String> {
        let found = match watch {
            Watch::Audit(watch) => watch.advance(&*self.store).await.map(|fault| fault.map(|fault| fault.to_string())),
            Watch::Ledger(watch) => watch.advance(&*self.store).await.map(|fault| fault.map(|fault| fault.to_string())),
        };
        found.map_err(|error| chain(&error))
    }

    /// Anchors the end of a chain, if it has moved since.
    async fn anchor(&self, chain: ChainName, head: Head) -> Result<(), String> {
        let is_known = self.anchors.latest(chain).is_some_and(|latest| latest.head == head);
        if head.number == 0 || is_known {
            return Ok(());
        }
        let anchor = Anchor::new(&self.anchors.keys, chain, self.clock.now(), head);
        self.anchors.note(anchor).await.map_err(|error| self::chain(&error))
    }

    /// Tells what is wrong, to the log each time and to the platform team once.
    async fn tell(&self, chain: ChainName, fault: &str, told: &mut Option<String>) {
        tracing::error!(%chain, fault, "A CHAIN IS NOT AS IT WAS WRITTEN: somebody has changed the store");
        if told.as_deref() == Some(fault) {
            return;
        }
        match self.alarm.tell_broken_chain(chain, fault).await {
            Ok(()) => *told = Some(fault.to_owned()),
            Err(error) => tracing::error!(error = %self::chain(&error), "the platform team could not be told"),
        }
    }
}

/// The duty of whoever checks all of a chain.
fn check_duty(chain: ChainName) -> Duty {
    match chain {
        ChainName::Audit => Duty::AuditCheck,
        ChainName::Ledger => Duty::LedgerCheck,
    }
}

impl Watch {
    /// What is missing at the end.
    fn finish(&mut self) -> Option<String> {
        match self {
            Self::Audit(watch) => watch.finish().map(|fault| fault.to_string()),
            Self::Ledger(watch) => watch.finish().map(|fault| fault.to_string()),
        }
    }

    fn head(&self) -> Head {
        match self {
            Self::Audit(watch) => watch.head(),
            Self::Ledger(watch) => watch.head(),
        }
    }
}
