//! Contracts over their whole life, with the catalogue that says which serve: loading, swapping, going back, restarting, and the
//! watched folder.

mod missing;
mod place;
mod restarts;
#[path = "../support/running.rs"]
mod running;
#[path = "../support/mod.rs"]
mod support;
mod versions;
