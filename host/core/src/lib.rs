//! The domain of the intent gateway: what an intent, a contract, a partner and a search are, the rules that
//! hold whatever a contract says, and the ports through which the rest of the gateway is reached.
//!
//! Not here, on purpose: IO, an async runtime, wasmtime, rmcp, SQL, HTTP. A search is driven through the
//! traits in [`ports`]; the crates beside this one implement them and never import each other.

pub mod classify;
pub mod clock;
pub mod contract;
pub mod digest;
pub mod error;
pub mod findings;
pub mod forbidden;
pub mod id;
pub mod limits;
pub mod partner;
pub mod payload;
pub mod ports;
pub mod reference;
pub mod search;
pub mod secret;
pub mod succession;
