//! The policies of tool calls: how often a failed call is tried again, how fast calls may follow each other, which answers
//! are served again, and what a repeated write gets. All of it follows from a contract's descriptor and from spec 1,
//! "Rules for the partner-hosted endpoint" and "Limits".
//!
//! Everything here is a decision over a time that is passed in: [`retry`] and [`idempotency`] are pure, [`pace`] and
//! [`cache`] keep bounded state in memory. A wait is told to the caller, who does the waiting.
//!
//! Not here: the calls themselves, what is kept in the store, and how a refusal is worded. No intent or tool is named
//! here but the three that spec 1 names itself ([`retry::READ_FIRST_TOOLS`]).

pub mod arguments;
pub mod cache;
pub mod failure;
pub mod idempotency;
mod keyed;
pub mod pace;
pub mod retry;
pub mod sign_in;
