//! Calls partners' tools, through guarded addresses, within bounds: MCP over Streamable HTTP, or a REST or GraphQL API that
//! stands in for it.
//!
//! The way of a call: `client` admits it and finds the session, `session` writes the request and says what goes along in
//! headers, `exchange` posts it over `wire` and reads the answer from JSON or from an event stream (`sse`), and `answer`
//! takes the payload out of it, with `lift` to make that quick. `mirror` repeats arguments in headers for tools that want
//! it, `carried` adds which request and trace a call belongs to, and `challenge` reads what a partner says that wants a
//! sign-in. `oauth` speaks to the authorization server that it leads to. `guard` decides which addresses may be connected
//! to at all.
//!
//! A partner without an MCP server is called through `api`, which makes a request of the arguments and a payload of the
//! answer, as the mapping in its manifest says. `probe` looks at a partner without calling any tool; `page` fetches a page
//! to see whether it is live.
//!
//! This crate is the only user of rmcp, which opens sessions and ends them; `messenger` is its way to a partner. Not here:
//! which partners are called and what a payload means (the core), and retries of calls, which only an intent's own policy
//! may order.

mod answer;
mod api;
mod carried;
mod challenge;
mod client;
mod config;
mod connections;
mod exchange;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod guard;
mod lift;
mod messenger;
mod mirror;
mod oauth;
mod page;
mod probe;
mod session;
mod sse;
#[cfg(test)]
mod tls_tests;
mod webhook;
mod wire;

pub use client::PartnerClient;
pub use config::{PartnerClientConfig, PartnerClientError};
pub use guard::{ResolveHost, SystemResolver, is_public};
