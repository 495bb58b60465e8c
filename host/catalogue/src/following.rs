//! Follows the catalogue: reads what has changed, makes ready what is not yet, lets it serve, and says so to the other gateways.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::pin_mut;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::Contract;
use intent_gateway_domain::steps::{self, Proposal};
use intent_gateway_domain::store::{Change, Changed, StoreError, Versioned, changed, load};
use intent_gateway_domain::telemetry;
use intent_gateway_domain::versions::{
    ContractAdminError, ContractEvent, NotExamined, Origin, RefusedComponent, StageFailure, VersionAct,
};
use intent_gateway_signing::{Revocations, Revoked};

use crate::component::{self, NoComponent};
use crate::entry::{Entry, FEED};
use crate::service::Catalogue;
use crate::state::{self, GatewayState, Serving, Staged, Verdict};
use crate::view::{Failed, Ready};

/// Entries read at once.
const PAGE: u32 = 200;
/// Rows written in one change.
const ROWS_AT_ONCE: usize = 100;
/// Versions that are made ready at once: each takes a processor.
const STAGED_AT_ONCE: usize = 2;
/// How often it is looked whether a gateway that a version waits for still lives, and whether the store is back.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// How often the catalogue is compared where nobody has announced a change.
const COMPARE: Duration = Duration::from_secs(5);

/// The store does not have a component, or not as it was.
const COMPONENT_UNREADABLE: &str = "COMPONENT_UNREADABLE";

/// What came of making a version ready.
enum StageOutcome {
    Ready(Arc<dyn Contract>),
    Failed(RefusedComponent),
    /// Nobody can say yet: the store is down, or there is too much to do.
    NotYet,
}

impl Catalogue {
    /// Reads the catalogue and makes ready what it has, so that this gateway serves what the others do. What cannot be made
    /// ready is told, and the rest serves.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn start(&self) -> Result<(), ContractAdminError> {
        self.read_changes().await?;
        let waiting = self.view().to_stage();
        let of = waiting.len();
        for ((intent, digest), number) in waiting.into_iter().zip(1..) {
            self.setup.runtime.announce(format!("{intent}, {digest}"), number, of);
            self.stage(&intent, digest).await;
        }
        self.apply().await?;
        self.has_started.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Follows the catalogue for as long as it is polled. `told` hears of each round whether the store could be read.
    pub async fn follow(&self, told: impl Fn(bool)) {
        let mut under_way = BTreeSet::new();
        let mut staging = FuturesUnordered::new();
        let (mut seen, mut is_failing) = (0, false);
        loop {
            let round = self.follow_once().await;
            told(round.is_ok());
            match round {
                Ok(()) if std::mem::take(&mut is_failing) => {
                    tracing::info!("the catalogue of contracts can be read again")
                }
                Ok(()) => {}
                Err(error) => {
                    if !std::mem::replace(&mut is_failing, true) {
                        tracing::error!(
                            error = chain(&error),
                            "the catalogue of contracts cannot be read; what served serves on"
                        );
                    }
                }
            }
            let waiting = self.view().to_stage();
            for (intent, digest) in waiting {
                if staging.len() < STAGED_AT_ONCE && under_way.insert(digest) {
                    staging.push(async move {
                        self.stage(&intent, digest).await;
                        digest
                    });
                }
            }
            let hurries = is_failing || self.is_waiting() || !self.view().to_stage().is_empty();
            let pause = self.setup.timer.wait(if hurries { LOOK_AGAIN } else { COMPARE });
            let change = self.setup.store.wait_for_change(seen);
            pin_mut!(pause, change);
            let either = select(pause, change);
            if staging.is_empty() {
                if let Either::Right((count, _)) = either.await {
                    seen = count;
                }
            } else {
                match select(either, staging.next()).await {
                    Either::Left((Either::Right((count, _)), _)) => seen = count,
                    Either::Right((Some(done), _)) => {
                        under_way.remove(&done);
                    }
                    Either::Left(_) | Either::Right((None, _)) => {}
                }
            }
        }
    }

    /// A round, and what there is to make ready: as [`follow`](Self::follow) does it.
    #[cfg(test)]
    pub(crate) async fn turn(&self) -> Result<(), ContractAdminError> {
        self.follow_once().await?;
        let waiting = self.view().to_stage();
        for (intent, digest) in waiting {
            self.stage(&intent, digest).await;
        }
        self.follow_once().await
    }

    /// Whether a version waits for gateways, a roll-back for the store, or a rollout for what is seen of it.
    fn is_waiting(&self) -> bool {
        let view = self.view();
        !view.taken_out.is_empty()
            || view.entries.values().any(|entry| entry.coming.is_some() || entry.rollout.is_some())
    }

    async fn follow_once(&self) -> Result<(), ContractAdminError> {
        self.apply().await?;
        self.record_roll_backs().await?;
        self.report().await?;
        self.flip_what_is_ready().await?;
        self.follow_rollouts().await
    }

    /// Reads what has changed, and lets it serve as far as it is ready here.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(crate) async fn apply(&self) -> Result<(), StoreError> {
        self.read_changes().await?;
        self.publish().await;
        Ok(())
    }

    async fn read_changes(&self) -> Result<(), StoreError> {
        let asked_at_ms = self.setup.fleet.elapsed_ms();
        loop {
            let after = self.view().seen;
            let page = changed::<Entry>(self.store(), Changed { feeds: &[FEED], after, limit: PAGE }).await?;
            let is_last = page.len() < PAGE as usize;
            if !page.is_empty() {
                let mut view = self.view();
                for (number, entry) in page {
                    // Whoever asks for a version anew wants it to be tried anew.
                    if let Some(coming) = &entry.coming
                        && view.failed.get(&coming.digest).is_some_and(|failed| failed.at_ms < coming.since_ms)
                    {
                        view.failed.remove(&coming.digest);
                    }
                    view.insert(number, entry);
                }
                self.note_change();
            }
            if is_last {
                self.read_revocations().await?;
                self.read_at_ms.store(asked_at_ms, Ordering::Relaxed);
                return Ok(());
            }
        }
    }

    /// Lets serve what is wanted and ready. It asks nothing of the store, so it waits for no read of it.
    pub(crate) async fn publish(&self) {
        let _publishing = self.publishing.lock().await;
        // Before what is known is looked at: what changes meanwhile is left to the next one.
        let changes = self.changes();
        if changes == self.published.load(Ordering::Acquire) {
            return;
        }
        let (before, after, to_serve, tried_out) = {
            let mut view = self.view();
            let before = view.served.clone();
            view.decide();
            let held = self.held().clone();
            view.forget_others(&|digest| held.contains(&digest));
            (before, view.chosen.clone(), view.to_serve(), view.tried_out())
        };
        for (intent, digest) in &after {
            if before.get(intent) != Some(digest) {
                self.setup.runtime.absolve(*digest);
            }
        }
        self.setup.trials.replace(tried_out);
        self.setup.runtime.serve(to_serve).await;
        self.view().served.clone_from(&after);
        // Last: whoever is dropped before leaves it to the next one.
        self.published.store(changes, Ordering::Release);
        let now = self.setup.clock.now();
        let begins = |(intent, digest): &(&IntentId, &Digest)| before.get(*intent) != Some(*digest);
        for (intent, digest) in after.iter().filter(begins) {
            tracing::info!(%intent, %digest, "a contract serves here from now on");
            let view = self.view();
            let wanted = view.entries.get(intent).and_then(|entry| wanted_since(entry, &view.revocations, *digest));
            drop(view);
            // What served before this gateway started did not begin to serve just now.
            if let Some(wanted) = wanted.filter(|_| self.has_started.load(Ordering::Relaxed)) {
                telemetry::contract_served(Duration::from_millis(now.ms_since(wanted)));
            }
        }
        for intent in before.keys().filter(|intent| !after.contains_key(*intent)) {
            tracing::info!(%intent, "the intent is out of service here");
        }
    }

    /// Makes a version ready, and notes whether it is.
    pub(crate) async fn stage(&self, intent: &IntentId, digest: Digest) {
        let begun_at = self.setup.clock.now();
        let outcome = self.obtain(digest).await;
        let at_ms = self.setup.clock.now();
        let took_ms = at_ms.ms_since(begun_at);
        if !matches!(outcome, StageOutcome::NotYet) {
            telemetry::contract_staged(matches!(outcome, StageOutcome::Ready(_)), Duration::from_millis(took_ms));
        }
        match outcome {
            StageOutcome::Ready(contract) => {
                self.setup.runtime.keep(digest).await;
                tracing::info!(%intent, %digest, took_ms, "a contract is ready");
                self.note_ready(contract, at_ms, took_ms);
            }
            StageOutcome::Failed(refused) => {
                let ought_to_serve = self.view().entries.get(intent).is_some_and(|entry| entry.is_live(digest));
                tracing::error!(%intent, %digest, ought_to_serve, code = refused.code, "a contract cannot be made ready");
                let failure = StageFailure { code: refused.code.clone(), message: refused.message.clone() };
                let origin = self.view().entry_of(digest).and_then(|entry| Some(entry.version(digest)?.origin.clone()));
                self.note_refused(refused, origin.unwrap_or(Origin::Kept));
                let mut view = self.view();
                view.failed.insert(digest, Failed { failure, at_ms, took_ms });
                self.note_change();
            }
            StageOutcome::NotYet => {}
        }
    }

    pub(crate) fn note_ready(&self, contract: Arc<dyn Contract>, at_ms: Timestamp, took_ms: u64) {
        let digest = contract.digest();
        let mut view = self.view();
        view.failed.remove(&digest);
        view.ready.insert(digest, Ready { contract, at_ms, took_ms });
        self.note_change();
    }

    /// A retired version, made ready for whoever asks; none where it is none, or cannot be had.
    pub(crate) async fn fetch_retired(&self, digest: Digest) -> Option<Arc<dyn Contract>> {
        let is_retired = {
            let view = self.view();
            view.entries.values().any(|entry| entry.retired.iter().any(|version| version.digest == digest))
        };
        if !is_retired {
            return None;
        }
        match self.obtain(digest).await {
            StageOutcome::Ready(contract) => {
                self.setup.runtime.keep(digest).await;
                tracing::info!(%digest, "a retired contract was made ready: something that it judged is looked at again");
                Some(contract)
            }
            StageOutcome::Failed(refused) => {
                tracing::warn!(%digest, code = refused.code, "a retired contract cannot be made ready: {}", refused.message);
                None
            }
            StageOutcome::NotYet => None,
        }
    }

    /// A version that is revoked, made ready for whoever asks and for nobody else; none where it is not revoked, or cannot be had.
    pub(crate) async fn fetch_revoked(&self, digest: Digest) -> Option<Arc<dyn Contract>> {
        if !self.is_revoked(digest) {
            return None;
        }
        match self.obtain_untrusted(digest).await {
            StageOutcome::Ready(contract) => {
                tracing::warn!(%digest, "a revoked contract was made ready: somebody looks again at what it has judged");
                Some(contract)
            }
            StageOutcome::Failed(refused) => {
                tracing::warn!(%digest, code = refused.code, "a revoked contract cannot be made ready: {}", refused.message);
                None
            }
            StageOutcome::NotYet => None,
        }
    }

    /// Takes a version from where it is had: compiled here, else the store, else where this gateway takes contracts from.
    async fn obtain(&self, digest: Digest) -> StageOutcome {
        // Who may write to the store may put anything there.
        match self.judge_kept(digest) {
            Ok(()) => self.obtain_untrusted(digest).await,
            Err(refused) => StageOutcome::Failed(*refused),
        }
    }

    /// The same, whoever has made it.
    async fn obtain_untrusted(&self, digest: Digest) -> StageOutcome {
        let runtime = &self.setup.runtime;
        if let Some(contract) = runtime.take_up(digest).await {
            return StageOutcome::Ready(contract);
        }
        let component = match component::get(self.store(), digest).await {
            Ok(component) => component,
            Err(NoComponent::Store(error)) => {
                tracing::warn!(%digest, error = chain(&error), "a component cannot be read yet");
                return StageOutcome::NotYet;
            }
            Err(reason @ (NoComponent::Missing | NoComponent::Damaged)) => match runtime.find_spare(digest).await {
                Some(component) => {
                    tracing::warn!(%digest, %reason, "a component was taken anew from the watched folder");
                    component
                }
                None => {
                    let code = COMPONENT_UNREADABLE.to_owned();
                    let (digest, message) = (Some(digest), reason.to_string());
                    return StageOutcome::Failed(RefusedComponent { digest, identity: None, code, message });
                }
            },
        };
        match runtime.examine(component, &Actor::gateway()).await {
            Ok(contract) => StageOutcome::Ready(contract),
            Err(NotExamined::Refused(refused)) => StageOutcome::Failed(*refused),
            Err(NotExamined::Overloaded | NotExamined::ShuttingDown) => StageOutcome::NotYet,
        }
    }

    /// Writes what this gateway has into its rows, where that is news.
    pub(crate) async fn report(&self) -> Result<(), StoreError> {
        let Some(own) = self.own() else { return Ok(()) };
        let mut rows = self.rows.lock().await;
        let now = self.setup.clock.now();
        let news: Vec<GatewayState> = {
            let view = self.view();
            let next = |entry: &Entry| {
                let last = rows.get(&entry.intent).map(|row| &row.value);
                let last = last.filter(|last| last.run == own.run.as_str() && last.gateway == own.id.as_str());
                let asked_for = entry.coming.as_ref().map(|coming| coming.digest);
                let asked_for = asked_for.or(entry.rollout.as_ref().map(|rollout| rollout.digest));
                let staged = asked_for.map_or_else(
                    || last.and_then(|last| last.staged.clone()),
                    |digest| staged_now(&view.ready, &view.failed, digest),
                );
                let served = view.served.get(&entry.intent).copied();
                let serving = served.map(|digest| match last.and_then(|last| last.serving.clone()) {
                    Some(serving) if serving.digest == digest => serving,
                    _ => {
                        let wanted = wanted_since(entry, &view.revocations, digest).unwrap_or(now);
                        Serving { digest, since_ms: now, took_ms: now.ms_since(wanted) }
                    }
                });
                let (gateway, run) = (own.id.to_string(), own.run.to_string());
                let row = GatewayState { intent: entry.intent.clone(), gateway, run, staged, serving };
                (last != Some(&row)).then_some(row)
            };
            view.entries.values().filter_map(next).collect()
        };
        for batch in news.chunks(ROWS_AT_ONCE) {
            let mut change = Change::default();
            let mut written = Vec::with_capacity(batch.len());
            for value in batch {
                // What an earlier process of this gateway has left is written over.
                let revision = match rows
                    .get(&value.intent)
                    .filter(|row| row.revision > 0 && row.value.gateway == value.gateway)
                {
                    Some(row) => row.revision,
                    None => load::<GatewayState>(self.store(), &state::row_key(&value.intent, &value.gateway))
                        .await?
                        .map_or(0, |row| row.revision),
                };
                let row = Versioned { revision, value: value.clone() };
                change.put(&row);
                written.push(row);
            }
            if steps::commit_unless_changed(self.store(), change).await? {
                for row in written {
                    // At which revision a new record begins, the store says.
                    let revision = if row.revision == 0 { 0 } else { row.revision + 1 };
                    rows.insert(row.value.intent.clone(), Versioned { revision, value: row.value });
                }
            } else {
                // Somebody has removed or written them: they are read anew the next time.
                batch.iter().for_each(|row| drop(rows.remove(&row.intent)));
            }
        }
        Ok(())
    }

    /// Lets versions go live that every gateway has ready.
    async fn flip_what_is_ready(&self) -> Result<(), ContractAdminError> {
        let waiting: Vec<IntentId> = {
            let view = self.view();
            let waits = |entry: &&Entry| entry.coming.as_ref().is_some_and(|coming| view.is_ready(coming.digest));
            view.entries.values().filter(waits).map(|entry| entry.intent.clone()).collect()
        };
        for intent in waiting {
            self.flip(&intent).await?;
        }
        Ok(())
    }

    /// Lets the coming version of an intent go live if every gateway that lives has it ready; what is waited for otherwise.
    pub(crate) async fn flip(&self, intent: &IntentId) -> Result<Verdict, ContractAdminError> {
        let verdict = steps::run(self.store(), || self.decide_flip(intent)).await?;
        if verdict == Verdict::Ready {
            self.apply().await?;
        }
        Ok(verdict)
    }

    async fn decide_flip(&self, intent: &IntentId) -> Result<Proposal<Verdict>, ContractAdminError> {
        let Some(mut entry) = load::<Entry>(self.store(), intent.as_str()).await? else {
            return Ok(Proposal::nothing(Verdict::Ready));
        };
        let Some(coming) = entry.value.coming.clone() else { return Ok(Proposal::nothing(Verdict::Ready)) };
        if !self.view().is_ready(coming.digest) {
            // Also where nobody has a lease at the moment: who lets it go live can run it.
            return Ok(Proposal::nothing(Verdict::NotReady(Vec::new())));
        }
        let rows = state::rows::<GatewayState>(self.store(), intent).await?;
        let live = self.setup.leases.live().await?;
        let verdict = state::judge(coming.digest, rows.iter().map(|row| &row.value), &live);
        if verdict != Verdict::Ready {
            return Ok(Proposal::nothing(verdict));
        }
        let events = entry.value.serve(coming.digest, &coming.doing(self.setup.clock.now()));
        Ok(Proposal::new(change_of(&entry, events), verdict))
    }
}

/// A change of an entry, with what the audit log is told of it.
pub(crate) fn change_of(entry: &Versioned<Entry>, events: Vec<ContractEvent>) -> Change {
    let mut change = Change::default();
    add_to(&mut change, entry, events);
    change
}

/// Adds that to a change.
pub(crate) fn add_to(change: &mut Change, entry: &Versioned<Entry>, events: Vec<ContractEvent>) {
    change.put(entry);
    change.audit.extend(events.iter().map(ContractEvent::to_draft));
}

fn staged_now(ready: &HashMap<Digest, Ready>, failed: &HashMap<Digest, Failed>, digest: Digest) -> Option<Staged> {
    let of_ready =
        |Ready { at_ms, took_ms, .. }: &Ready| Staged { digest, at_ms: *at_ms, took_ms: *took_ms, failure: None };
    let of_failed = |Failed { failure, at_ms, took_ms }: &Failed| Staged {
        digest,
        at_ms: *at_ms,
        took_ms: *took_ms,
        failure: Some(failure.clone()),
    };
    ready.get(&digest).map(of_ready).or_else(|| failed.get(&digest).map(of_failed))
}

/// Since when a version is to serve: it went live, or the live one was revoked and it is the one before. None where it stands in for
/// a version that cannot serve here.
fn wanted_since(entry: &Entry, revocations: &Revocations, digest: Digest) -> Option<Timestamp> {
    let live = entry.live?;
    if live != digest {
        return revocations.find(Revoked::Component(live)).map(|revocation| revocation.at_ms);
    }
    let event = entry.version(digest)?.history.iter().rev().find(|event| event.act == VersionAct::WentLive)?;
    Some(event.at_ms)
}
