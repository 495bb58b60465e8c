//! The commission ledger: double entry, in paise, append-only.
//!
//! Every accepted completion report makes one entry. Where commission is due it is a *charge* with two legs, the
//! partner's receivable debited and the commission revenue credited; otherwise a *memorandum* without legs, so that the
//! ledger holds every report and one [chain](intent_gateway_domain::chain) covers them all. Nothing is ever changed: a correction is a
//! *reversal*, which repeats an entry with its legs negated, and a new entry for what is right.
//!
//! What always holds, and [`verify`] finds out from the stored entries alone:
//!
//! - Entries are numbered from 1 without gaps, and each holds a link to the one before, under a key that is not in the store.
//! - The legs of an entry sum to zero, and are those that its kind, its amount and its rate demand.
//! - Of all entries for one order (partner, intent, `external_id`) at most one stands, that is, is not reversed.
//! - A reversal refers to the entry that last booked its order, mirrors it, and no entry is reversed twice.
//! - The balances of all accounts sum to zero ([`TrialBalance`]).
//!
//! Not here: storing ([`Books`] is the port to a store, which adds entries under a lock on the last number and digest),
//! and what makes a report right ([`completion`](crate::completion)).

pub mod bookkeeping;
mod books;
pub mod completion;
mod csv;
mod entry;
mod month;
mod posting;
mod statement;
#[cfg(test)]
mod tests;
mod trial;
mod verify;

pub use books::{
    BATCH_MAX, Booked, Booking, Books, CorrectedEntries, DeskError, ENTRIES_READ_MAX, FINDINGS_MAX, FoundBy,
    KnownOrder, MONTHS_READ_MAX, OrderQuery, ReportDesk, ReportedOrder, StoredEntry, Unbookable,
};
pub use entry::{Account, Entry, EntryKind, Judge, Leg, Posting, chain, genesis, link};
pub use month::{InvalidMonth, Month};
pub(crate) use posting::CorrectionError;
pub use posting::{Correction, JudgedReport, REASON_MAX_CHARS, correct, post, reverse};
pub(crate) use statement::StatementError;
pub use statement::{Line, Statement, Totals, UnreportedLine};
pub use trial::{Balances, TrialBalance};
pub use verify::{Fault, Verification, Verifier, verify};
