//! Account linking against npm's `oidc-provider`: the gateway as a client, users in their browsers, and a partner that takes
//! the authorization server's tokens and nothing else.
#![expect(clippy::print_stderr, reason = "the figures are for whoever asks with --nocapture")]

pub(crate) mod browser;
mod crowd;
mod flow;
pub(crate) mod partner;
mod replicas;
mod times;
pub(crate) mod world;
mod wrong_ways;
