//! The binary: wiring and shutdown; nothing else. The commands are in `intent-gateway-cli`, the configuration in
//! `intent-gateway-config`.
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod accesses;
mod background;
mod certificate;
mod chains;
mod checks;
mod clocks;
mod console;
mod contracts;
mod disk;
mod fleet;
mod health;
mod issuer_client;
mod issuer_keys;
mod linking;
mod messages;
mod open_files;
mod parts;
mod progress;
mod readiness;
mod reload;
mod serve;
mod signals;
mod telemetry;
mod timer;

use std::process::ExitCode;

/// What a search allocates on one thread is freed on another, by the journal. The C library's allocator takes a lock
/// then, and under load threads waited for it (`docs/benchmarks.md`).
#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// What this program was built with, for `--version`.
const FEATURES: &[&str] = &[
    #[cfg(feature = "author")]
    "author",
    #[cfg(feature = "jemalloc")]
    "jemalloc",
];

fn main() -> ExitCode {
    intent_gateway_cli::run(FEATURES, serve::run)
}
