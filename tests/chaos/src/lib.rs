//! The fault bench: three gateways under load, faults injected from a seed, and what must hold all the same.
//!
//! What decides is pure, and tested as such: which fault happens when ([`plan`]), which answer is honest when ([`honesty`]), how
//! soon everything is as before ([`recovery`]), whether what gateways hold stays as it is ([`flat`]), and whether stores keep what
//! callers know ([`known`]). The rest does it: [`world`] starts everything, [`load`] asks, [`inject`] harms, [`run`] goes from one
//! end to the other. docs/chaos.md says how to use it.
//!
//! [`proxy`] and [`footprint`] serve the end-to-end tests as well.

pub mod client;
pub mod database;
pub mod flat;
pub mod footprint;
pub mod gateway;
pub mod honesty;
pub mod inject;
pub mod known;
pub mod load;
pub mod partners;
pub mod plan;
pub mod proxy;
pub mod record;
pub mod recovery;
pub mod run;
pub mod stores;
pub mod verdict;
pub mod watch;
pub mod world;
