//! Whether the log still is as it was written, from its entries and from what was anchored of it.

use super::AuditEntry;
use crate::anchor::{Anchor, AnchorCheck, AnchorFault, Head};
use crate::chain::{BrokenChain, ChainCheck, Links};
use crate::digest::Digest;
use crate::store::{Store, StoreError};

/// Entries read at once.
const READ_AT_ONCE: u32 = 1_000;

/// What is wrong with the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuditFault {
    /// The entries do not follow from each other.
    #[error(transparent)]
    Chain(#[from] BrokenChain),
    /// They are not those that were anchored.
    #[error(transparent)]
    Anchor(#[from] AnchorFault),
}

/// What a verification of the log has come to.
#[derive(Clone, Copy, Debug)]
pub struct AuditSoundness {
    /// Number and link of the last entry that holds.
    pub head: (u64, Digest),
    /// The links up to there.
    pub links: Links,
    /// Anchors that the entries were compared with.
    pub anchors: u64,
    /// What is wrong first. What comes after it was not looked at.
    pub fault: Option<AuditFault>,
}

impl AuditSoundness {
    /// Whether every entry was checked, and all is as it was written.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.fault.is_none() && self.links.unchecked == 0
    }
}

/// Follows the log from its first entry to its last, and compares it with anchors of it.
///
/// # Errors
/// [`StoreError`] when the log cannot be read; what is wrong with it is not an error.
pub async fn verify(store: &dyn Store, anchors: &[Anchor]) -> Result<AuditSoundness, StoreError> {
    let mut watch = AuditWatch::begin(store, anchors).await?;
    let fault = watch.advance(store).await?.or_else(|| watch.finish());
    let AuditWatch { holds, links, anchors, .. } = watch;
    Ok(AuditSoundness { head: (holds.number, holds.hash), links, anchors: anchors.compared(), fault })
}

/// Follows the log entry by entry, for as long as it grows.
#[derive(Clone, Debug)]
pub struct AuditWatch {
    chain: ChainCheck,
    anchors: AnchorCheck,
    /// The last entry that holds, and the links up to it.
    holds: Head,
    links: Links,
    fault: Option<AuditFault>,
}

impl AuditWatch {
    /// From before the first entry, with what is anchored.
    ///
    /// # Errors
    /// [`StoreError`] when the start of the log cannot be read.
    pub async fn begin(store: &dyn Store, anchors: &[Anchor]) -> Result<Self, StoreError> {
        let chain = store.audit_chain().await?;
        let fault = chain.check_start().err().map(AuditFault::from);
        let ((number, hash), links) = (chain.head(), chain.links());
        let holds = Head { number, hash, owed: None };
        Ok(Self { chain, anchors: AnchorCheck::new(anchors), holds, links, fault })
    }

    /// Takes what has come since; what is wrong first, now or before.
    ///
    /// # Errors
    /// [`StoreError`] when the log cannot be read; what was taken until then is not taken again.
    pub async fn advance(&mut self, store: &dyn Store) -> Result<Option<AuditFault>, StoreError> {
        while self.fault.is_none() {
            let page: Vec<AuditEntry> = store.audit(None, self.holds.number, READ_AT_ONCE).await?;
            if page.is_empty() {
                break;
            }
            self.fault = page.iter().try_for_each(|entry| self.take(entry)).err();
        }
        Ok(self.fault)
    }

    fn take(&mut self, entry: &AuditEntry) -> Result<(), AuditFault> {
        self.chain.take(entry)?;
        self.anchors.take(entry.seq, entry.hash, None)?;
        (self.holds.number, self.holds.hash) = self.chain.head();
        self.links = self.chain.links();
        Ok(())
    }

    /// What is wrong with the end: something is missing there.
    pub fn finish(&mut self) -> Option<AuditFault> {
        let end = self.chain.check_end().map_err(AuditFault::from);
        end.and_then(|()| self.anchors.finish().map_err(AuditFault::from)).err()
    }

    /// The last entry that holds.
    #[must_use]
    pub fn head(&self) -> Head {
        self.holds
    }
}
