//! Whose components are taken, and what becomes of those that are not trusted any more.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::audit::{Actor, AuditDraft};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::Contract;
use intent_gateway_domain::sections::{self, SIGNATURES_SECTION};
use intent_gateway_domain::steps::{self, Proposal};
use intent_gateway_domain::store::{Change, StoreError, StoreTrouble, Versioned, load};
use intent_gateway_domain::versions::{ContractAdminError, Origin, RefusedComponent, Whence};
use intent_gateway_signing::{
    Revocation, RevocationDesk, RevocationOutcome, Revocations, Revoked, RevokedVersion, SignatureRefusal, Signatures,
    SignedComponent,
};
use serde_json::json;

use crate::entry::{Doing, Entry};
use crate::following::change_of;
use crate::service::Catalogue;

/// A component that may be examined.
pub(crate) struct Trusted {
    pub(crate) component: Bytes,
    pub(crate) signatures: Option<Signatures>,
    /// Names of the trusted keys that have signed it.
    pub(crate) signed_by: Vec<String>,
}

fn refused(digest: Option<Digest>, refusal: &SignatureRefusal) -> Box<RefusedComponent> {
    let (code, message) = (refusal.code().to_owned(), chain(refusal));
    Box::new(RefusedComponent { digest, identity: None, code, message })
}

impl Catalogue {
    /// Takes the signatures off a file and judges them, before anything of it is compiled.
    pub(crate) fn judge_file(&self, file: &Bytes) -> Result<Trusted, Box<RefusedComponent>> {
        let revocations = self.view().revocations.clone();
        let trust = &self.setup.trust;
        // Where nothing hangs on it, a large file is neither copied nor hashed.
        let is_signed = sections::find(file, SIGNATURES_SECTION).is_some();
        if !is_signed && !trust.requires_signature && revocations.all.is_empty() {
            return Ok(Trusted { component: file.clone(), signatures: None, signed_by: Vec::new() });
        }
        let split = SignedComponent::split(file);
        let SignedComponent { component, digest, signatures } =
            split.map_err(|error| refused(None, &SignatureRefusal::Unreadable(error)))?;
        let judged = trust.judge(digest, signatures.as_ref(), self.setup.clock.now(), &revocations);
        let signed_by = judged.map_err(|refusal| refused(Some(digest), &refusal))?;
        Ok(Trusted { component: component.into(), signatures, signed_by })
    }

    /// Whether the version that a component turned out to be is the one that was signed.
    pub(crate) fn check_signed(
        &self,
        contract: &dyn Contract,
        signatures: Option<&Signatures>,
    ) -> Result<(), Box<RefusedComponent>> {
        let Some(signatures) = signatures else { return Ok(()) };
        let descriptor = contract.descriptor();
        let checked = signatures.check_version(&descriptor.intent, &descriptor.version);
        checked.map_err(|refusal| {
            let mut refused = refused(Some(contract.digest()), &refusal);
            refused.identity = Some((descriptor.intent.to_string(), descriptor.version.to_string()));
            refused
        })
    }

    /// Whether a version of the catalogue may run here, whoever has put it there.
    pub(crate) fn judge_kept(&self, digest: Digest) -> Result<(), Box<RefusedComponent>> {
        self.view().judge(&self.setup.trust, digest).map_err(|refusal| refused(Some(digest), &refusal))
    }

    /// Whether a version has been revoked since it was taken.
    pub(crate) fn is_revoked(&self, digest: Digest) -> bool {
        self.view().is_revoked(&self.setup.trust, digest)
    }

    /// Reads what is revoked; what is not trusted any more serves nobody from here on.
    pub(crate) async fn read_revocations(&self) -> Result<(), StoreError> {
        let kept = load::<Revocations>(self.store(), Revocations::KEY).await?;
        let kept = kept.map(|kept| kept.value).unwrap_or_default();
        let now = self.setup.clock.now();
        let mut view = self.view();
        if *view.revocations == kept {
            return Ok(());
        }
        view.revocations = Arc::new(kept);
        view.withhold_untrusted(&self.setup.trust, now);
        self.note_change();
        Ok(())
    }

    async fn revoke_for_good(
        &self,
        what: Revoked,
        reason: String,
        by: Actor,
    ) -> Result<RevocationOutcome, ContractAdminError> {
        let revocation = Revocation { what, reason, at_ms: self.setup.clock.now(), by: by.clone() };
        let is_new = steps::run(self.store(), || self.decide_revocation(&revocation)).await?;
        self.apply().await?;
        let affected: Vec<(IntentId, RevokedVersion)> = {
            let view = self.view();
            let of_entry = |entry: &Entry| {
                let is_revoked = |digest| view.is_revoked(&self.setup.trust, digest);
                let revoked = entry.versions.iter().filter(|version| is_revoked(version.digest));
                let told = revoked.map(|version| RevokedVersion {
                    intent: entry.intent.to_string(),
                    version: version.version.to_string(),
                    digest: version.digest,
                    was_live: entry.is_live(version.digest),
                });
                told.map(|told| (entry.intent.clone(), told)).collect::<Vec<_>>()
            };
            view.entries.values().flat_map(of_entry).collect()
        };
        let mut intents: Vec<&IntentId> = affected.iter().map(|(intent, _)| intent).collect();
        intents.dedup();
        for intent in intents {
            let doing = Doing { at_ms: self.setup.clock.now(), whence: Whence::Revocation, by: by.clone() };
            steps::run(self.store(), || self.decide_giving_way(intent, &doing)).await?;
        }
        self.apply().await?;
        tracing::warn!(?what, versions = affected.len(), "a key or a component is revoked");
        Ok(RevocationOutcome { revocation, is_new, versions: affected.into_iter().map(|(_, told)| told).collect() })
    }

    async fn decide_revocation(&self, revocation: &Revocation) -> Result<Proposal<bool>, ContractAdminError> {
        let kept = load::<Revocations>(self.store(), Revocations::KEY).await?;
        let mut kept = kept.unwrap_or_else(|| Versioned::new(Revocations::default()));
        match kept.value.add(revocation.clone()) {
            Ok(true) => {}
            Ok(false) => return Ok(Proposal::nothing(false)),
            Err(error) => {
                let message = error.to_string();
                return Err(ContractAdminError::Store { trouble: StoreTrouble::Defect, message });
            }
        }
        let mut change = Change::default();
        change.put(&kept);
        let subject = match revocation.what {
            Revoked::Component(digest) => digest.to_string(),
            Revoked::Key(key) => key.to_string(),
        };
        change.audit.push(AuditDraft {
            at_ms: revocation.at_ms,
            actor: revocation.by.clone(),
            action: "contract.revoked".to_owned(),
            subject,
            detail: json!({ "what": revocation.what, "reason": revocation.reason }),
        });
        Ok(Proposal::new(change, true))
    }

    async fn decide_giving_way(&self, intent: &IntentId, doing: &Doing) -> Result<Proposal<()>, ContractAdminError> {
        let Some(mut entry) = load::<Entry>(self.store(), intent.as_str()).await? else {
            return Ok(Proposal::nothing(()));
        };
        let before = entry.value.clone();
        let events = entry.value.revoke(|digest| self.is_revoked(digest), doing);
        if entry.value == before {
            return Ok(Proposal::nothing(()));
        }
        Ok(Proposal::new(change_of(&entry, events), ()))
    }

    /// Refuses to make a version serve that is not trusted.
    pub(crate) fn require_trusted(&self, digest: Digest) -> Result<(), ContractAdminError> {
        let origin = || {
            let view = self.view();
            view.entry_of(digest).and_then(|entry| Some(entry.version(digest)?.origin.clone())).unwrap_or(Origin::Kept)
        };
        self.judge_kept(digest).map_err(|refused| {
            let origin = origin();
            self.reject(*refused, origin)
        })
    }
}

impl RevocationDesk for Catalogue {
    fn revoke(
        &self,
        what: Revoked,
        reason: String,
        by: Actor,
    ) -> BoxFuture<'_, Result<RevocationOutcome, ContractAdminError>> {
        self.revoke_for_good(what, reason, by).boxed()
    }

    fn revocations(&self) -> BoxFuture<'_, Result<Revocations, ContractAdminError>> {
        async move {
            let kept = load::<Revocations>(self.store(), Revocations::KEY).await?;
            Ok(kept.map(|kept| kept.value).unwrap_or_default())
        }
        .boxed()
    }
}
