//! What the tests of the host share: fakes of the ports, builders and strategies, each written once.
//!
//! A fake keeps the promises of its port, and fails loudly on what a test did not expect. Nothing here is linked into the
//! product.

pub mod books;
pub mod catalogue;
pub mod clock;
pub mod contract;
pub mod descriptor;
pub mod desk;
pub mod directory;
pub mod draws;
pub mod entropy;
pub mod faults;
pub mod fleet;
pub mod health;
pub mod journal;
pub mod json;
pub mod linking;
pub mod mail;
pub mod orders;
pub mod partners;
pub mod probe;
pub mod readiness;
pub mod samples;
pub mod standings;
pub mod store;
pub mod telemetry;
pub mod users;
pub mod webhook;
