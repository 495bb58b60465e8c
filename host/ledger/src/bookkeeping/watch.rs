//! Follows the ledger entry by entry, for as long as it grows: its links and its sum, against what is anchored of them. It takes
//! next to no memory, for what orders have to do with each other is not looked at: [`verify`](super::verify) does that.

use crate::{Books, ENTRIES_READ_MAX, Fault, StoredEntry};
use intent_gateway_domain::anchor::{Anchor, AnchorCheck, Head};
use intent_gateway_domain::chain::ChainCheck;
use intent_gateway_domain::money::Paise;
use intent_gateway_domain::store::StoreError;

/// How far the ledger was followed, and what was wrong first.
#[derive(Clone, Debug)]
pub struct LedgerWatch {
    chain: ChainCheck,
    anchors: AnchorCheck,
    /// The last entry that holds.
    holds: Head,
    fault: Option<Fault>,
}

impl LedgerWatch {
    /// From before the first entry, with what is anchored.
    ///
    /// # Errors
    /// [`StoreError`] when the start of the ledger cannot be read.
    pub async fn begin(books: &dyn Books, anchors: &[Anchor]) -> Result<Self, StoreError> {
        let chain = books.chain().await?;
        let fault = chain.check_start().err().map(Fault::from);
        let (number, hash) = chain.head();
        let holds = Head { number, hash, owed: Some(Paise::ZERO) };
        Ok(Self { chain, anchors: AnchorCheck::new(anchors), holds, fault })
    }

    /// Takes what has come since; what is wrong first, now or before.
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be read; what was taken until then is not taken again.
    pub async fn advance(&mut self, books: &dyn Books) -> Result<Option<Fault>, StoreError> {
        while self.fault.is_none() {
            let page = books.stored(self.holds.number, ENTRIES_READ_MAX).await?;
            if page.is_empty() {
                break;
            }
            self.fault = page.iter().try_for_each(|stored| self.take(stored)).err();
        }
        Ok(self.fault)
    }

    fn take(&mut self, stored: &StoredEntry) -> Result<(), Fault> {
        let entry = stored.entry.as_ref().ok_or(Fault::Unreadable(stored.number))?;
        let owed = self.holds.owed.and_then(|owed| owed.checked_add(entry.posting.commission()?));
        self.chain.take(entry)?;
        self.anchors.take(entry.number, entry.hash, owed)?;
        if !stored.is_as_written {
            return Err(Fault::OtherValues(entry.number));
        }
        self.holds = Head { number: entry.number, hash: entry.hash, owed };
        Ok(())
    }

    /// What is wrong with the end: something is missing there.
    pub fn finish(&mut self) -> Option<Fault> {
        let end = self.chain.check_end().map_err(Fault::from);
        end.and_then(|()| self.anchors.finish().map_err(Fault::from)).err()
    }

    /// The last entry that holds.
    #[must_use]
    pub fn head(&self) -> Head {
        self.holds
    }
}
