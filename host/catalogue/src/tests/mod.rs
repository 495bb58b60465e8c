//! Several gateways on one store in memory, in virtual time.

mod fleet;
mod rollout;
mod single;
mod takeover;
mod trust;
mod world;
