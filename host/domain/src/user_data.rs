//! What is kept of one user's rankings: how it is found again, and how it is erased.
//!
//! A ranking names nobody. A keyed mark says whose it is, one for each master key when it is looked for.
//!
//! Not here: a user's orders ([`crate::order`]) and linked accounts (`linking`).

use futures_util::future::BoxFuture;

use crate::store::StoreError;
use crate::user::User;
use crate::vault::{Mark, Vault};

/// What the marks of rankings are made for.
const RANKING: &str = "ranking-user";
/// Receipts that are erased in one transaction, at most: their bodies are overwritten, and nobody else writes meanwhile.
pub const ERASED_AT_ONCE_MAX: u32 = 20;

/// The mark under which a ranking for this user is kept.
#[must_use]
pub fn ranking_mark(vault: &Vault, user: &User) -> Mark {
    vault.mark(RANKING, user.key())
}

/// The marks under which this user's rankings may be kept, one for each master key, the current one first.
#[must_use]
pub fn ranking_marks(vault: &Vault, user: &User) -> Vec<Mark> {
    vault.marks(RANKING, user.key())
}

/// A receipt of one of a user's rankings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserRanking {
    /// One that was kept later has the greater.
    pub number: u64,
    /// The receipt.
    pub id: String,
    /// The search's request identifier.
    pub request_id: String,
}

/// How much was erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErasedEvidence {
    /// Receipts of rankings. Of each a row stays that says so.
    pub receipts: u64,
    /// Findings that have lost their excerpt and message.
    pub findings: u64,
    /// Faults of contracts that have lost their input and message.
    pub faults: u64,
}

impl std::ops::AddAssign for ErasedEvidence {
    fn add_assign(&mut self, other: Self) {
        self.receipts += other.receipts;
        self.findings += other.findings;
        self.faults += other.faults;
    }
}

/// What is kept of users' rankings.
pub trait UserEvidence: Send + Sync {
    /// The receipts under a mark, from the greatest number down: those below `before`, at most `limit`.
    fn rankings_of<'a>(
        &'a self,
        mark: &'a Mark,
        before: Option<u64>,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<UserRanking>, StoreError>>;

    /// Puts receipts under a mark that are under none, so that they are found by it. Those from before there were marks are
    /// known by the user's orders alone.
    fn mark_rankings<'a>(&'a self, receipts: &'a [String], mark: &'a Mark) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Erases rankings, at most [`ERASED_AT_ONCE_MAX`], and what was found in them, in one transaction.
    fn erase_rankings<'a>(&'a self, rankings: &'a [UserRanking]) -> BoxFuture<'a, Result<ErasedEvidence, StoreError>>;

    /// Erases what was found under requests: excerpts and messages of findings, inputs and messages of faults.
    fn erase_found<'a>(&'a self, requests: &'a [String]) -> BoxFuture<'a, Result<ErasedEvidence, StoreError>>;
}
