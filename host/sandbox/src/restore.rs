//! Takes up at a start what was kept: as it was kept, and what is damaged or gone anew from the watched folder, if that has it. What
//! cannot be taken up is noted as missing, and the rest serves.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::versions::{ContractAdminError, LoadFailure};

use crate::failure::LoadError;
use crate::history::Provenance;
use crate::library::{KeptIntent, KeptVersion};
use crate::loading::Rejected;
use crate::missing::Missing;
use crate::registry::{Intent, Snapshot, Version};
use crate::sandbox::{NotPrepared, SandboxState};
use crate::watch::SpareComponents;

impl SandboxState {
    /// Takes up what was kept of an intent, as it was kept: no succession rule applies, for it was taken once. Its versions
    /// follow the `number`th of `of` that are looked at.
    pub(crate) async fn restore(
        self: &Arc<Self>,
        name: &str,
        kept: KeptIntent,
        spare: &Arc<SpareComponents>,
        number: &mut usize,
        of: usize,
    ) {
        let Ok(id) = IntentId::parse(name) else {
            tracing::warn!(intent = name, "the kept list names no intent; skipped");
            return;
        };
        let mut intent = Intent::default();
        for (place, version) in kept.versions.into_iter().enumerate() {
            *number += 1;
            let KeptVersion { digest, provenance, history } = version.clone();
            self.progress.look_at(format!("{id}, {digest}"), *number, of);
            match self.restore_version(digest, provenance, spare).await {
                Ok(version) => {
                    intent.versions.push(version);
                    intent.histories.restore(digest, history);
                }
                Err(reason) => {
                    if let ContractAdminError::Rejected(failure) = self.refuse(reason) {
                        let LoadFailure { code, message, .. } = *failure;
                        let ought_to_serve = kept.live == Some(digest);
                        tracing::error!(intent = %id, %digest, ought_to_serve, code, "a kept contract is missing");
                        intent.missing.push(Missing { kept: version, place, ought_to_serve, code, message });
                    }
                }
            }
        }
        intent.previous = kept.previous;
        if let Some(live) = kept.live {
            intent.live = intent.version(live).cloned();
            if intent.live.is_none() {
                // What served cannot any more, for example after an update of the gateway: better the one before than none.
                intent.live = intent.last_good();
            }
        }
        let mut next = Snapshot::clone(&self.snapshot());
        next.intents.insert(id, intent);
        self.publish(next);
    }

    async fn restore_version(
        self: &Arc<Self>,
        digest: Digest,
        provenance: Provenance,
        spare: &Arc<SpareComponents>,
    ) -> Result<Arc<Version>, NotPrepared> {
        let origin = provenance.origin.clone();
        let (inner, spare) = (Arc::clone(self), Arc::clone(spare));
        let read = tokio::task::spawn_blocking(move || inner.read_kept_component(digest, &spare)).await;
        let bytes = read.map_err(io::Error::other).flatten().map_err(|error| {
            Box::new(Rejected {
                error: LoadError::Unreadable(error),
                origin: origin.clone(),
                digest: Some(digest),
                identity: None,
            })
        })?;
        let prepared = self.prepare(Bytes::from(bytes), origin, &Actor::gateway()).await?;
        if let Some(compiled) = prepared.to_cache.clone() {
            let inner = Arc::clone(self);
            // A failure to cache is logged where it happens, and a panic there costs a later compilation at most.
            let _ = tokio::task::spawn_blocking(move || inner.cache_compiled(digest, &compiled)).await;
        }
        Ok(self.version(&prepared, provenance))
    }

    /// Reads a kept component; one that is damaged or gone is taken anew from the watched folder, if that has it. Blocks.
    fn read_kept_component(&self, digest: Digest, spare: &SpareComponents) -> io::Result<Vec<u8>> {
        let damage = match self.library.component(digest) {
            Ok(bytes) => return Ok(bytes),
            Err(damage) => damage,
        };
        let Some((path, bytes)) = spare.find(digest) else { return Err(damage) };
        tracing::warn!(%digest, %damage, path = %path.display(), "a kept contract was taken anew from the watched folder");
        if let Err(error) = self.library.store(digest, &bytes) {
            tracing::warn!(%digest, %error, "it could not be kept, and is taken from there again at the next start");
        }
        Ok(bytes.to_vec())
    }
}
