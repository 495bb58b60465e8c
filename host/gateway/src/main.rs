//! The binary: wiring and shutdown; nothing else. The commands are in `intent-gateway-cli`, the configuration in
//! `intent-gateway-config`.
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod background;
mod contract_events;
mod health;
mod issuer_keys;
mod linking;
mod progress;
mod serve;
mod telemetry;
mod timer;

use std::process::ExitCode;

fn main() -> ExitCode {
    intent_gateway_cli::run(serve::run)
}
