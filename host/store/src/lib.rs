//! Keeps what the gateway knows: SQLite embedded, or PostgreSQL for several gateways at once.
//!
//! This crate is the only user of SQL. It implements the core's `Store` port once, in `records`, over what `engine`
//! makes of the two databases, and likewise the port `Books` in `ledger`, above which `desk` gathers reports into
//! batches (`batching`), and the port `Evidence` in `evidence`, above which `journal` gathers what searches show; receipts lie in
//! `receipts`, a segment of time each, and are packed by `packing`; `faults` takes and keeps faults of contracts; `fleet` keeps leases of gateways and what they count together; `chains` has the keys of
//! both chains and where they begin, `migrate` brings their tables up to date, `installation` says whose the database is, `watch`
//! tells when another process changed something, `check` looks whether it is sound, and `backup` and `restore` move everything from
//! any database to any other.
//!
//! Not here: what a record means and which change is allowed. The store takes every change whose expected revisions
//! hold, whole, and refuses every other, whole.
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod backup;
mod batching;
mod chains;
mod changes;
mod check;
mod compact;
mod desk;
mod engine;
mod error;
mod evidence;
mod faults;
mod feed;
mod fleet;
mod installation;
mod journal;
mod ledger;
mod location;
mod migrate;
mod packing;
mod postgres;
mod receipts;
mod records;
mod reseal;
mod restore;
mod retry;
mod size;
mod sqlite;
mod tables;
mod value;
mod watch;

pub use backup::{BackupReport, BackupScope};
pub use compact::{Compacted, compact};
pub use desk::{Desk, QUEUE_MAX};
pub use error::{BackupError, OpenError};
pub use faults::FaultJournal;
pub use fleet::counts::CallCounts;
pub use installation::TableVersions;
pub use journal::Journal;
pub use location::Location;
pub use receipts::{SegmentSize, Thinned};
pub use records::SqlStore;
pub use size::{StoreBytes, StoreSize};
