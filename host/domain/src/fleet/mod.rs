//! The gateways that share a store: which of them live, and which one does the work that only one is to do.
//!
//! Each gateway takes a *lease* in the store when it starts, renews it several times before it ends, and gives it back when
//! it stops. A gateway lives as long as its lease. A *duty* is work in the background that one gateway does for all of them:
//! it is a lease under a name, held by one gateway at a time. What a renewal means is decided in [`rules`], on what the
//! store keeps and by the store's clock; what a gateway may conclude from it by its own clock is in [`standing`].
//!
//! What a lease can promise: a holder that measures time at the rate at which the store does stops before its lease ends in
//! the store, however long it was frozen and however late an answer came. What it cannot: take back a statement that is at the store already.
//! So each step of a duty has to do no harm when it is done twice (`docs/replicas.md` lists them).
//!
//! Here as well are the counts that gateways share ([`shared`]). Not here: when leases are renewed, and the work itself.

pub mod rules;
pub mod shared;
pub mod standing;

use std::fmt;

use futures_util::future::BoxFuture;

use crate::clock::Timestamp;
use crate::store::StoreError;

pub use self::standing::Fleet;

/// Gateways that one store may have leases of, at most. A lease of the dead goes as soon as it has ended.
pub const GATEWAYS_MAX: usize = 256;
/// Duties that one store may have leases of, at most.
pub const DUTIES_MAX: usize = 64;
/// Of its lease's length, the part after which a gateway renews it: one in so many.
pub const RENEWALS_PER_LEASE: u64 = 4;
/// Of its lease's length, the part before its end at which a holder stops: one in so many. It is for what is on its way to
/// the store then.
pub const MARGIN_PER_LEASE: u64 = 10;

/// Names one gateway: the same over its restarts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GatewayId(String);

/// Bytes of an identifier, at most.
const ID_MAX_BYTES: usize = 64;

/// The text names no gateway, or no run of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an identifier of a gateway has 1 to 64 letters, digits, `-` and `_`")]
pub struct InvalidGatewayId;

impl GatewayId {
    /// Reads an identifier.
    ///
    /// # Errors
    /// [`InvalidGatewayId`].
    pub fn parse(text: &str) -> Result<Self, InvalidGatewayId> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let is_one = (1..=ID_MAX_BYTES).contains(&text.len()) && text.bytes().all(fits);
        if is_one { Ok(Self(text.to_owned())) } else { Err(InvalidGatewayId) }
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for GatewayId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for GatewayId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A process that serves as a gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gateway {
    pub id: GatewayId,
    /// This process of it: another one after each start.
    pub run: GatewayId,
    /// For people: host and address, as a rule.
    pub name: String,
    /// Version of the program.
    pub version: String,
}

/// Work that one gateway does for all that share a store, by the name of its lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Duty {
    /// Scheduled probes of live partners.
    Probes,
    /// Forgets what is over within minutes or a day: codes, attempts, test reports, approvals, pending links.
    Sweep,
    /// Looks for orders whose report is overdue.
    UnreportedOrders,
    /// Compares what partners deliver with what they declare.
    DeliveredResults,
    /// Forgets evidence, faults and orders that are too old.
    Evidence,
    /// Checks all entries of the audit log again and again.
    AuditCheck,
    /// Checks all entries of the ledger again and again.
    LedgerCheck,
    /// Checks everything in the store once a day.
    StoreCheck,
    /// Forgets counts that gateways share and that are over.
    SharedCounts,
    /// Looks at sources of contracts.
    ContractSources,
    /// Tells partners what the dates of their connections have ended.
    ConnectionEnds,
    /// Sends events to partners' webhooks.
    Events,
    /// Tells partners of statements that are ready.
    Statements,
    /// Tells partners of notices.
    Notices,
}

impl Duty {
    pub const ALL: [Self; 14] = [
        Self::Probes,
        Self::Sweep,
        Self::UnreportedOrders,
        Self::DeliveredResults,
        Self::Evidence,
        Self::AuditCheck,
        Self::LedgerCheck,
        Self::StoreCheck,
        Self::SharedCounts,
        Self::ContractSources,
        Self::ConnectionEnds,
        Self::Events,
        Self::Statements,
        Self::Notices,
    ];

    /// Its name, in the store, the log and the metrics. One that was released never gets another meaning.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Probes => "probes",
            Self::Sweep => "sweep",
            Self::UnreportedOrders => "unreported-orders",
            Self::DeliveredResults => "delivered-results",
            Self::Evidence => "evidence",
            Self::AuditCheck => "audit-check",
            Self::LedgerCheck => "ledger-check",
            Self::StoreCheck => "store-check",
            Self::SharedCounts => "shared-counts",
            Self::ContractSources => "contract-sources",
            Self::ConnectionEnds => "connection-ends",
            Self::Events => "events",
            Self::Statements => "statements",
            Self::Notices => "notices",
        }
    }
}

impl fmt::Display for Duty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a gateway asks for again and again: its own lease, and that of each duty which it can do and nobody else holds.
#[derive(Clone, Debug)]
pub struct Renewal {
    pub gateway: Gateway,
    /// How long the leases last, milliseconds.
    pub lease_ms: u64,
    /// Whether the process has just started: it takes the place of an earlier process of the same gateway.
    pub is_start: bool,
    pub duties: Vec<Duty>,
}

/// A gateway that lives, with the store's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveGateway {
    pub gateway: Gateway,
    pub started_at: Timestamp,
    pub renewed_at: Timestamp,
    /// Until its lease ends, milliseconds.
    pub left_ms: u64,
    /// Names of the duties that it holds, sorted. A gateway of another version may hold some that this one does not know.
    pub duties: Vec<String>,
}

/// What came of a renewal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Granted {
    pub own: OwnLease,
    /// All that live, by the time at which they started.
    pub live: Vec<LiveGateway>,
    /// The duties that this gateway holds from now on, for as long as its own lease.
    pub duties: Vec<Duty>,
}

/// What a gateway learns of its own lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnLease {
    /// It goes on.
    Renewed,
    /// It is a new one: the process has just started, or the one before had ended, and the gateway was held for dead.
    Begun,
    /// Another process has started as this gateway. This one is none any more.
    Replaced,
}

/// Keeps the leases; one step each, whichever gateways ask at the same time.
pub trait Leases: Send + Sync {
    /// Renews the leases of a gateway, and gives it those of duties that nobody holds.
    fn renew<'a>(&'a self, renewal: &'a Renewal) -> BoxFuture<'a, Result<Granted, StoreError>>;

    /// Ends all leases of a process. Without any, nothing happens.
    fn give_back<'a>(&'a self, run: &'a GatewayId) -> BoxFuture<'a, Result<(), StoreError>>;

    /// All gateways that live, by the time at which they started.
    fn live(&self) -> BoxFuture<'_, Result<Vec<LiveGateway>, StoreError>>;
}

#[cfg(test)]
mod simulation;
