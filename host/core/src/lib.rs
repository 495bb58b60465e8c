//! The domain of the intent gateway: what an intent, a contract, a partner and a search are, the rules that
//! hold whatever a contract says, and the ports through which the rest of the gateway is reached.
//!
//! Not here, on purpose: IO, an async runtime, wasmtime, rmcp, SQL, HTTP. A search is driven through the
//! traits in [`ports`]; the crates beside this one implement them and never import each other.

// What tests share with those of other crates names this one as they do.
#[cfg(test)]
extern crate self as intent_gateway_core;

pub mod audit;
pub mod availability;
pub mod bookkeeping;
pub mod calling;
pub mod classify;
pub mod clock;
pub mod completion;
pub mod compliance;
pub mod connection;
pub mod contract;
pub mod delivered;
pub mod descriptors;
pub mod digest;
pub mod endpoint;
pub mod error;
pub mod findings;
pub mod following;
pub mod forbidden;
pub mod golive;
pub mod health;
pub mod id;
pub mod ledger;
pub mod limits;
pub mod linking;
pub mod mail;
pub mod manifest;
pub mod money;
pub mod onboarding;
pub mod outbound;
pub mod partner;
pub mod payload;
pub mod place;
pub mod policy;
pub mod ports;
pub mod probe;
pub mod receipt;
pub mod reference;
pub mod search;
pub mod secret;
pub mod selection;
pub mod store;
pub mod succession;
pub mod telemetry;
pub mod trace;
pub mod vault;
mod violations;
