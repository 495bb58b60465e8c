//! The contract author's kit: everything behind `intent-gateway plugin`, as functions that return what they found.
//!
//! | command | module |
//! |---|---|
//! | `plugin new` | [`scaffold`] |
//! | `plugin build` | [`build`] |
//! | `plugin check` | [`check`], with [`fuzz`] |
//! | `plugin test` | [`cases`] |
//! | `plugin bench` | [`bench`] |
//! | `plugin inspect` | [`inspect`] |
//! | `plugin docs` | [`docs`] |
//! | `plugin replay` | [`replay`] |
//! | `plugin sign`, `plugin verify` | [`sign`] |
//! | `plugin compare` | [`compare`] |
//!
//! Contracts run in the gateway's own sandbox under its limits, so that what holds here holds there. Nothing here
//! prints, parses a command line or opens a connection: that is the binary's. Nothing that serves needs it: it is
//! behind the feature `author` of the binary.

pub mod bench;
pub mod build;
mod call;
pub mod cases;
pub mod check;
pub mod compare;
pub mod docs;
pub mod fuzz;
pub mod inspect;
pub mod outline;
pub mod replay;
pub mod scaffold;
mod schema;
pub mod sign;
pub mod subject;
mod tables;
mod way;
