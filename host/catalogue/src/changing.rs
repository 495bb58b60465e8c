//! What the platform team changes: loads, activates, withdraws and unloads; and what a gateway changes of itself when a version keeps
//! failing.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{Either, select};
use futures_util::pin_mut;
use intent_gateway_domain::audit::{Actor, AuditDraft};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::Contract;
use intent_gateway_domain::steps::{self, Contended, Proposal};
use intent_gateway_domain::store::{Change, StoreError, Versioned, load};
use intent_gateway_domain::succession::{self, RemovedValue, SuccessionError, name_removed};
use intent_gateway_domain::versions::{
    Activated, ContractAdminError, Failing, GoLive, LoadFailure, LoadOrder, Loaded, NotExamined, Origin, ReleasePolicy,
    WaitedFor, Whence,
};
use serde_json::json;

use crate::component;
use crate::entry::{Doing, Entry, EntryVersion};
use crate::following::{add_to, change_of};
use crate::names::{self, NameError};
use crate::service::Catalogue;
use crate::state::{self, Verdict};
use crate::trust::Trusted;
use crate::view::TakenOut;

/// For how long whoever asks for a version to go live waits until every gateway has it ready. It goes on after that.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// How often it is looked whether a gateway that is waited for still lives.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// Code of the failure that is noted when a version is taken out.
const TAKEN_OUT: &str = "TAKEN_OUT";

/// A component that was examined and is held until it is in an entry, or refused.
struct Held<'a> {
    catalogue: &'a Catalogue,
    digest: Digest,
}

impl<'a> Held<'a> {
    fn take(catalogue: &'a Catalogue, digest: Digest) -> Self {
        catalogue.held().push(digest);
        Self { catalogue, digest }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let mut held = self.catalogue.held();
        if let Some(own) = held.iter().position(|digest| *digest == self.digest) {
            held.swap_remove(own);
        }
    }
}

/// What came of taking a component.
enum Taken {
    Known,
    New { removed: Vec<RemovedValue>, asks: bool },
}

/// Why a component was not taken.
enum NotTaken {
    Refused(SuccessionError),
    Failed(ContractAdminError),
}

impl From<StoreError> for NotTaken {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<Contended> for NotTaken {
    fn from(contended: Contended) -> Self {
        Self::Failed(contended.into())
    }
}

impl From<NameError> for NotTaken {
    fn from(error: NameError) -> Self {
        match error {
            NameError::Taken(error) => Self::Refused(error),
            NameError::Store(error) => error.into(),
        }
    }
}

impl Catalogue {
    pub(crate) async fn examine_component(
        &self,
        component: Bytes,
        origin: &Origin,
        by: &Actor,
    ) -> Result<Arc<dyn Contract>, ContractAdminError> {
        let Trusted { component, signatures, .. } =
            self.judge_file(&component).map_err(|refused| self.reject(*refused, origin.clone()))?;
        let examined = self.setup.runtime.examine(component, by).await.map_err(|reason| match reason {
            NotExamined::Refused(refused) => self.reject(*refused, origin.clone()),
            NotExamined::Overloaded => ContractAdminError::Overloaded,
            NotExamined::ShuttingDown => ContractAdminError::ShuttingDown,
        })?;
        let checked = self.check_signed(&*examined, signatures.as_ref());
        checked.map_err(|refused| self.reject(*refused, origin.clone()))?;
        Ok(examined)
    }

    pub(crate) async fn load_component(
        &self,
        component: Bytes,
        order: LoadOrder,
    ) -> Result<Loaded, ContractAdminError> {
        let contract = self.examine_component(component.clone(), &order.origin, &order.by).await?;
        self.take_examined(contract, component, order).await
    }

    /// Takes an examined component into the catalogue, and makes it live if asked. The same content twice is one version, which
    /// stays as it is: what was taken out of service on purpose does not come back because somebody sent it again.
    pub(crate) async fn take_examined(
        &self,
        contract: Arc<dyn Contract>,
        file: Bytes,
        order: LoadOrder,
    ) -> Result<Loaded, ContractAdminError> {
        // Again: what was examined a while ago may be revoked by now.
        let trusted = self.judge_file(&file).map_err(|refused| self.reject(*refused, order.origin.clone()))?;
        let (descriptor, digest) = (contract.descriptor().clone(), contract.digest());
        let held = Held::take(self, digest);
        let now = self.setup.clock.now();
        // Before it is in the catalogue: nobody is to make it ready a second time.
        if !self.view().is_ready(digest) {
            self.note_ready(contract.clone(), now, 0);
        }
        let taken = steps::run(self.store(), || self.decide_load(&*contract, &trusted, &order)).await;
        if taken.is_err() {
            drop(held);
            self.forget_what_is_not_held();
        }
        let taken = taken.map_err(|reason| match reason {
            NotTaken::Failed(error) => error,
            NotTaken::Refused(error) => {
                let failure = LoadFailure {
                    at_ms: now,
                    origin: order.origin.clone(),
                    digest: Some(digest),
                    intent: Some(descriptor.intent.to_string()),
                    version: Some(descriptor.version.to_string()),
                    code: error.code().to_owned(),
                    message: error.to_string(),
                    removed: error.removed().to_vec(),
                };
                self.failures.note(failure.clone());
                ContractAdminError::Rejected(Box::new(failure))
            }
        })?;
        self.setup.runtime.keep(digest).await;
        self.apply().await?;
        let (known, removed, asks) = match taken {
            Taken::Known => (true, Vec::new(), false),
            Taken::New { removed, asks } => (false, removed, asks),
        };
        let waits_for = if asks { self.wait_until_live(&descriptor.intent, digest).await? } else { Vec::new() };
        let version = self.require(digest)?;
        if !known {
            let live = version.live;
            tracing::info!(intent = version.intent, version = version.version, %digest, live, "contract loaded");
        }
        if !removed.is_empty() {
            let gone = name_removed(&removed);
            tracing::warn!(intent = version.intent, removed = gone, "values of vocabularies are gone");
        }
        Ok(Loaded { version, known, removed, waits_for })
    }

    /// Lets go of what is in no entry and under no examination.
    fn forget_what_is_not_held(&self) {
        let held = self.held().clone();
        self.view().forget_others(&|digest| held.contains(&digest));
    }

    async fn decide_load(
        &self,
        contract: &dyn Contract,
        Trusted { component, signatures, signed_by }: &Trusted,
        order: &LoadOrder,
    ) -> Result<Proposal<Taken>, NotTaken> {
        let (descriptor, digest) = (contract.descriptor(), contract.digest());
        let intent = &descriptor.intent;
        let kept = load::<Entry>(self.store(), intent.as_str()).await?;
        let mut entry = kept.unwrap_or_else(|| Versioned::new(Entry::new(intent.clone())));
        if entry.value.version(digest).is_some() {
            let mut change = Change::default();
            // What the store has may be damaged.
            component::put(self.store(), &mut change, digest, component).await?;
            let doing = self.doing(Whence::of(&order.origin), order.by.clone());
            let signed = signatures
                .as_ref()
                .and_then(|signatures| entry.value.take_signatures(digest, signatures, signed_by.clone(), &doing));
            if let Some(event) = signed {
                add_to(&mut change, &entry, vec![event]);
            }
            let is_whole = change.writes.is_empty();
            return Ok(if is_whole { Proposal::nothing(Taken::Known) } else { Proposal::new(change, Taken::Known) });
        }
        if entry.value.numbered(&descriptor.version).is_some_and(|other| other != digest) {
            return Err(NotTaken::Refused(SuccessionError::VersionReused(descriptor.version.clone())));
        }
        let doing = self.doing(Whence::of(&order.origin), order.by.clone());
        let version = EntryVersion {
            digest,
            version: descriptor.version.clone(),
            component_bytes: component.len(),
            aliases: descriptor.aliases.clone(),
            origin: order.origin.clone(),
            loaded_at_ms: doing.at_ms,
            loaded_by: doing.by.clone(),
            signatures: signatures.clone(),
            signed_by: signed_by.clone(),
            history: Vec::new(),
        };
        let mut change = Change::default();
        names::claim(self.store(), &mut change, intent, &version).await?;
        let mut removed = Vec::new();
        if let Some(live) = self.live_contract(&entry.value).await {
            succession::check(live.descriptor(), descriptor, order.removal).map_err(NotTaken::Refused)?;
            removed = succession::removed_values(live.descriptor(), descriptor);
        }
        component::put(self.store(), &mut change, digest, component).await?;
        let mut events = vec![entry.value.add(version, removed.clone(), &doing)];
        let asks = order.activate && self.others().await?.is_some();
        if asks {
            events.extend(entry.value.ask_for(digest, &doing));
        } else if order.activate {
            events.extend(entry.value.serve(digest, &doing));
        }
        // Their components stay: what was judged under them may be looked at again.
        let evicted = entry.value.shrink(self.setup.versions_kept, doing.at_ms);
        names::release(self.store(), &mut change, &entry.value, &evicted).await?;
        for gone in entry.value.forget_retired(Timestamp::EPOCH) {
            component::remove(self.store(), &mut change, gone.digest).await?;
        }
        add_to(&mut change, &entry, events);
        Ok(Proposal::new(change, Taken::New { removed, asks }))
    }

    /// The contract that serves an intent by its entry; what serves here where that one cannot be had.
    async fn live_contract(&self, entry: &Entry) -> Option<Arc<dyn Contract>> {
        let live = entry.live?;
        // Another gateway may have made it live a moment ago.
        let is_news = {
            let view = self.view();
            !view.is_ready(live) && !view.failed.contains_key(&live)
        };
        if is_news {
            self.stage(&entry.intent, live).await;
        }
        let view = self.view();
        let found = view.ready.get(&live).or_else(|| view.ready.get(view.chosen.get(&entry.intent)?));
        found.map(|ready| ready.contract.clone())
    }

    fn doing(&self, whence: Whence, by: Actor) -> Doing {
        Doing { at_ms: self.setup.clock.now(), whence, by }
    }

    pub(crate) async fn activate_version(
        &self,
        digest: Digest,
        by: Actor,
        when: GoLive,
    ) -> Result<Activated, ContractAdminError> {
        self.apply().await?;
        let intent = self.view().entry_of(digest).map(|entry| entry.intent.clone());
        let intent = intent.ok_or_else(|| ContractAdminError::Unknown(digest.to_string()))?;
        self.require_trusted(digest)?;
        let asks = steps::run(self.store(), || self.decide_activation(&intent, digest, &by, when)).await?;
        self.apply().await?;
        let waits_for = if asks { self.wait_until_live(&intent, digest).await? } else { Vec::new() };
        Ok(Activated { version: self.require(digest)?, waits_for })
    }

    async fn decide_activation(
        &self,
        intent: &IntentId,
        digest: Digest,
        by: &Actor,
        when: GoLive,
    ) -> Result<Proposal<bool>, ContractAdminError> {
        let unknown = || ContractAdminError::Unknown(digest.to_string());
        let mut entry = load::<Entry>(self.store(), intent.as_str()).await?.ok_or_else(unknown)?;
        entry.value.version(digest).ok_or_else(unknown)?;
        let doing = self.doing(Whence::Activation, by.clone());
        if entry.value.is_live(digest) {
            // It serves, and is to go on: nothing is to take its place.
            let Some(event) = entry.value.withdraw(&doing) else { return Ok(Proposal::nothing(false)) };
            return Ok(Proposal::new(change_of(&entry, vec![event]), false));
        }
        let asks = when == GoLive::WhenReady && self.others().await?.is_some();
        let events = if asks {
            if entry.value.coming.as_ref().is_some_and(|coming| coming.digest == digest) && !self.has_failed(digest) {
                return Ok(Proposal::nothing(true));
            }
            entry.value.ask_for(digest, &doing)
        } else {
            if !self.view().is_ready(digest) && when == GoLive::WhenReady {
                return Err(unknown());
            }
            entry.value.serve(digest, &doing)
        };
        Ok(Proposal::new(change_of(&entry, events), asks))
    }

    fn has_failed(&self, digest: Digest) -> bool {
        self.view().failed.contains_key(&digest)
    }

    /// Waits until a version that was asked for is live, for as long as somebody waits for an answer; who is waited for then.
    async fn wait_until_live(&self, intent: &IntentId, digest: Digest) -> Result<Vec<WaitedFor>, ContractAdminError> {
        let over = self.setup.timer.wait(WAIT_MAX);
        pin_mut!(over);
        let mut over = Some(over);
        loop {
            let seen = self.setup.store.changes().await?;
            self.apply().await?;
            self.report().await?;
            let is_asked_for = {
                let view = self.view();
                let coming = view.entries.get(intent).and_then(|entry| entry.coming.as_ref());
                coming.is_some_and(|coming| coming.digest == digest)
            };
            if !is_asked_for {
                return Ok(Vec::new());
            }
            let waited_for = match self.flip(intent).await? {
                Verdict::Ready => return Ok(Vec::new()),
                Verdict::NotReady(gateways) => gateways,
            };
            let has_failed = waited_for.iter().any(|gateway| gateway.failure.is_some());
            let Some(end) = over.take().filter(|_| !has_failed) else { return Ok(waited_for) };
            let next = select(self.setup.store.wait_for_change(seen), self.setup.timer.wait(LOOK_AGAIN));
            match select(end, next).await {
                Either::Left(_) => return Ok(waited_for),
                Either::Right((_, end)) => over = Some(end),
            }
        }
    }

    pub(crate) async fn unload_intent(&self, intent: &str, by: Actor) -> Result<(), ContractAdminError> {
        let doing = self.doing(Whence::Unloading, by);
        steps::run(self.store(), || self.decide_end(intent, |entry| entry.take_out(&doing))).await?;
        self.apply().await?;
        tracing::info!(intent, "intent taken out of service");
        Ok(())
    }

    pub(crate) async fn withdraw_coming(&self, intent: &str, by: Actor) -> Result<(), ContractAdminError> {
        let doing = self.doing(Whence::Withdrawal, by);
        let withdraw = |entry: &mut Entry| entry.withdraw(&doing).into_iter().collect();
        steps::run(self.store(), || self.decide_end(intent, withdraw)).await?;
        self.apply().await?;
        Ok(())
    }

    pub(crate) async fn set_release_policy(
        &self,
        intent: &str,
        policy: ReleasePolicy,
        by: Actor,
    ) -> Result<(), ContractAdminError> {
        steps::run(self.store(), || self.decide_policy(intent, policy, &by)).await?;
        self.apply().await?;
        Ok(())
    }

    async fn decide_policy(
        &self,
        intent: &str,
        policy: ReleasePolicy,
        by: &Actor,
    ) -> Result<Proposal<()>, ContractAdminError> {
        let unknown = || ContractAdminError::Unknown(intent.to_owned());
        let mut entry = load::<Entry>(self.store(), intent).await?.ok_or_else(unknown)?;
        let before = std::mem::replace(&mut entry.value.policy, policy);
        if before == policy {
            return Ok(Proposal::nothing(()));
        }
        let mut change = change_of(&entry, Vec::new());
        change.audit.push(AuditDraft {
            at_ms: self.setup.clock.now(),
            actor: by.clone(),
            action: "contract.policy".to_owned(),
            subject: intent.to_owned(),
            detail: json!({ "policy": policy, "before": before }),
        });
        Ok(Proposal::new(change, ()))
    }

    /// Ends what an entry has, if it has it.
    async fn decide_end(
        &self,
        intent: &str,
        end: impl Fn(&mut Entry) -> Vec<intent_gateway_domain::versions::ContractEvent>,
    ) -> Result<Proposal<()>, ContractAdminError> {
        let unknown = || ContractAdminError::Unknown(intent.to_owned());
        let mut entry = load::<Entry>(self.store(), intent).await?.ok_or_else(unknown)?;
        let events = end(&mut entry.value);
        if events.is_empty() {
            return Err(unknown());
        }
        Ok(Proposal::new(change_of(&entry, events), ()))
    }

    /// Puts the last good version in the place of one that keeps failing: here at once, and on all gateways as soon as the store
    /// has taken it.
    pub async fn roll_back(&self, failing: Failing) {
        let Failing { digest: failing, calls, in_a_row } = failing;
        let told = format!("{} of {} calls failed, the last {in_a_row} in a row", calls.hits, calls.of);
        if let Err(error) = self.take_back_failing(failing, &told).await {
            tracing::error!(error = chain(&error), digest = %failing, "a candidate keeps failing, and its rollout goes on until the store answers");
        }
        let found = {
            let view = self.view();
            let entry = view.entry_of(failing).filter(|entry| view.chosen.get(&entry.intent) == Some(&failing));
            entry.map(|entry| {
                let ready =
                    |digest: &Digest| *digest != failing && entry.version(*digest).is_some() && view.is_ready(*digest);
                let good = entry.previous.iter().rev().copied().find(ready);
                (
                    entry.intent.clone(),
                    entry.version(failing).cloned(),
                    good.and_then(|good| entry.version(good).cloned()),
                )
            })
        };
        let Some((intent, Some(failed), good)) = found else { return };
        let Some(good) = good else {
            tracing::error!(
                %intent,
                version = %failed.version,
                digest = %failing,
                "the live contract keeps failing, and there is no version to go back to"
            );
            return;
        };
        {
            let mut view = self.view();
            view.taken_out.insert(intent.clone(), TakenOut { failing, good: good.digest });
            self.note_change();
        }
        // A gateway that cannot reach its store must still stop a failing version.
        self.publish().await;
        self.failures.note(LoadFailure {
            at_ms: self.setup.clock.now(),
            origin: failed.origin.clone(),
            digest: Some(failing),
            message: format!(
                "{told}; version {} serves again, and `intent-gateway contract failures {intent}` shows the calls",
                good.version
            ),
            intent: Some(intent.to_string()),
            version: Some(failed.version.to_string()),
            code: TAKEN_OUT.to_owned(),
            removed: Vec::new(),
        });
        if let Err(error) = self.record_roll_backs().await {
            tracing::error!(
                error = chain(&error),
                "the roll-back is not in the catalogue yet; the other gateways serve the failing version until it is"
            );
        }
    }

    /// Records roll-backs that have happened here and are not in the catalogue yet.
    pub(crate) async fn record_roll_backs(&self) -> Result<(), ContractAdminError> {
        let waiting: Vec<(IntentId, TakenOut)> =
            self.view().taken_out.iter().map(|(intent, out)| (intent.clone(), *out)).collect();
        for (intent, TakenOut { failing, .. }) in waiting {
            steps::run(self.store(), || self.decide_roll_back(&intent, failing)).await?;
            self.apply().await?;
        }
        Ok(())
    }

    async fn decide_roll_back(&self, intent: &IntentId, failing: Digest) -> Result<Proposal<()>, ContractAdminError> {
        let Some(mut entry) = load::<Entry>(self.store(), intent.as_str()).await? else {
            return Ok(Proposal::nothing(()));
        };
        let doing = self.doing(Whence::RollBack, Actor::gateway());
        Ok(match entry.value.roll_back(failing, &doing) {
            Some((_, events)) => Proposal::new(change_of(&entry, events), ()),
            None => Proposal::nothing(()),
        })
    }

    /// Forgets versions, with their components, that were retired before a time.
    ///
    /// # Errors
    /// [`ContractAdminError`] when the store fails; what was forgotten until then stays so.
    pub async fn forget_retired(&self, before: Timestamp) -> Result<u64, ContractAdminError> {
        self.apply().await?;
        let intents: Vec<IntentId> = {
            let view = self.view();
            let has_some = |entry: &&Entry| !entry.retired.is_empty();
            view.entries.values().filter(has_some).map(|entry| entry.intent.clone()).collect()
        };
        let mut forgotten = 0;
        for intent in intents {
            forgotten += steps::run(self.store(), || self.decide_forgetting(&intent, before)).await?;
        }
        Ok(forgotten)
    }

    async fn decide_forgetting(
        &self,
        intent: &IntentId,
        before: Timestamp,
    ) -> Result<Proposal<u64>, ContractAdminError> {
        let Some(mut entry) = load::<Entry>(self.store(), intent.as_str()).await? else {
            return Ok(Proposal::nothing(0));
        };
        let over = entry.value.forget_retired(before);
        if over.is_empty() {
            return Ok(Proposal::nothing(0));
        }
        let mut change = change_of(&entry, Vec::new());
        for gone in &over {
            component::remove(self.store(), &mut change, gone.digest).await?;
        }
        Ok(Proposal::new(change, u64::try_from(over.len()).unwrap_or(u64::MAX)))
    }

    /// Removes rows of gateways that live no more.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn forget_dead(&self) -> Result<u64, StoreError> {
        let live = self.setup.leases.live().await?;
        let lives = |row: &state::GatewayState| live.iter().any(|one| row.is_of(one));
        steps::forget_all::<state::GatewayState>(self.store(), |row| !lives(row)).await
    }
}
