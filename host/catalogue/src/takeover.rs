//! What a gateway had in its state folder before there was a catalogue: taken into it at the first start.

use std::sync::Arc;

use bytes::Bytes;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::Contract;
use intent_gateway_domain::steps::{self, Proposal};
use intent_gateway_domain::store::{Change, Versioned, load};
use intent_gateway_domain::versions::{
    ContractAdminError, LeftContracts, LeftIntent, LeftVersion, NotExamined, Whence,
};

use crate::component;
use crate::entry::{Doing, Entry, EntryVersion};
use crate::following::add_to;
use crate::names;
use crate::service::Catalogue;
use crate::trust::Trusted;

/// A version that was examined, and is to be taken over.
struct Examined {
    contract: Arc<dyn Contract>,
    component: Bytes,
    left: LeftVersion,
}

impl Catalogue {
    /// Takes over what a state folder holds. An intent that the catalogue does not have comes as it was, history included. Of one
    /// that it has, versions that it lacks are added; the live one of the folder serves where its number is above that of the
    /// catalogue's, and is named otherwise.
    ///
    /// # Errors
    /// When the store fails: the folder is to be left as it is then.
    pub async fn take_over(&self, left: LeftContracts) -> Result<(), ContractAdminError> {
        let of = left.intents.iter().map(|intent| intent.versions.len()).sum();
        let mut number = 0;
        for LeftIntent { intent, live, previous, versions } in left.intents {
            let mut examined = Vec::with_capacity(versions.len());
            for version in versions {
                number += 1;
                self.setup.runtime.announce(format!("{intent}, {}", version.digest), number, of);
                examined.extend(self.examine_left(&intent, version).await?);
            }
            steps::run(self.store(), || self.decide_take_over(&intent, live, &previous, &examined)).await?;
            for Examined { contract, .. } in examined {
                self.setup.runtime.keep(contract.digest()).await;
                let now = self.setup.clock.now();
                self.note_ready(contract, now, 0);
            }
            tracing::info!(%intent, "contracts of the state folder were taken into the catalogue");
        }
        Ok(())
    }

    async fn examine_left(&self, intent: &IntentId, left: LeftVersion) -> Result<Option<Examined>, ContractAdminError> {
        let digest = left.digest;
        let component = match left.component.clone() {
            Some(component) => component,
            None => match self.setup.runtime.find_spare(digest).await {
                Some(component) => component,
                None => {
                    tracing::error!(%intent, %digest, "a kept contract is gone from the state folder, and is not taken over");
                    return Ok(None);
                }
            },
        };
        let Trusted { component, .. } = match self.judge_file(&component) {
            Ok(trusted) => trusted,
            Err(refused) => {
                self.note_refused(*refused, left.origin);
                return Ok(None);
            }
        };
        let contract = match self.setup.runtime.take_up(digest).await {
            Some(contract) => contract,
            None => match self.setup.runtime.examine(component.clone(), &Actor::gateway()).await {
                Ok(contract) => contract,
                Err(NotExamined::Refused(refused)) => {
                    self.note_refused(*refused, left.origin);
                    return Ok(None);
                }
                Err(NotExamined::Overloaded) => return Err(ContractAdminError::Overloaded),
                Err(NotExamined::ShuttingDown) => return Err(ContractAdminError::ShuttingDown),
            },
        };
        Ok(Some(Examined { contract, component, left }))
    }

    async fn decide_take_over(
        &self,
        intent: &IntentId,
        live: Option<Digest>,
        previous: &[Digest],
        examined: &[Examined],
    ) -> Result<Proposal<()>, ContractAdminError> {
        let kept = load::<Entry>(self.store(), intent.as_str()).await?;
        let is_new = kept.is_none();
        let mut entry = kept.unwrap_or_else(|| Versioned::new(Entry::new(intent.clone())));
        let doing = Doing { at_ms: self.setup.clock.now(), whence: Whence::TakenOver, by: Actor::gateway() };
        let (mut change, mut events) = (Change::default(), Vec::new());
        for Examined { contract, component, left } in examined {
            let descriptor = contract.descriptor();
            if entry.value.version(left.digest).is_some() {
                continue;
            }
            if let Some(other) = entry.value.numbered(&descriptor.version).filter(|other| *other != left.digest) {
                tracing::warn!(
                    %intent, version = %descriptor.version, folder = %left.digest, catalogue = %other,
                    "the state folder has another content under this number; that of the catalogue stays"
                );
                continue;
            }
            let version = EntryVersion {
                digest: left.digest,
                version: descriptor.version.clone(),
                component_bytes: component.len(),
                aliases: descriptor.aliases.clone(),
                origin: left.origin.clone(),
                loaded_at_ms: left.loaded_at_ms,
                loaded_by: left.loaded_by.clone(),
                signatures: None,
                signed_by: Vec::new(),
                history: left.history.clone(),
            };
            if let Err(error) = names::claim(self.store(), &mut change, intent, &version).await {
                match error {
                    names::NameError::Taken(error) => {
                        tracing::error!(%intent, error = chain(&error), "a kept contract is not taken over");
                        continue;
                    }
                    names::NameError::Store(error) => return Err(error.into()),
                }
            }
            component::put(self.store(), &mut change, left.digest, component).await?;
            events.push(entry.value.add(version, Vec::new(), &doing));
        }
        if is_new {
            entry.value.live = live.filter(|digest| entry.value.version(*digest).is_some());
            entry.value.previous =
                previous.iter().copied().filter(|digest| entry.value.version(*digest).is_some()).collect();
            if live.is_some() && entry.value.live.is_none() {
                entry.value.live = entry.value.last_good();
            }
        } else if let Some(live) = live.filter(|digest| !entry.value.is_live(*digest)) {
            let number = |digest: Option<Digest>| Some(entry.value.version(digest?)?.version.clone());
            let (folder, catalogue) = (number(Some(live)), number(entry.value.live));
            if folder > catalogue && catalogue.is_some() {
                events.extend(entry.value.serve(live, &doing));
            } else {
                tracing::warn!(
                    %intent, folder = %live, ?catalogue,
                    "the state folder had another version live; that of the catalogue serves"
                );
            }
        }
        if events.is_empty() {
            return Ok(Proposal::nothing(()));
        }
        add_to(&mut change, &entry, events);
        Ok(Proposal::new(change, ()))
    }
}
