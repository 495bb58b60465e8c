//! Looks at everything that a gateway of a configuration needs, and says what is wrong and what to do (docs/doctor.md).
//!
//! | question | module |
//! |---|---|
//! | what can be found, how bad it is, and what to do about it | `finding` |
//! | the configuration, the keys, files and disks | `here` |
//! | the store, its clock, its contracts | `store` |
//! | partners, issuers of tokens, registries, mail | `outside` |
//! | the gateway that runs | `gateway` |
//!
//! A look waits a bounded time and changes nothing but what a gateway changes itself when it looks whether its store takes writes.
//! None of them sends mail, calls a tool or brings a store to another version.
//!
//! Not here: how it is printed, and whether what the store holds is as it must be (`intent-gateway-check`).
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod finding;
mod gateway;
mod here;
mod outside;
mod store;

use std::time::Duration;

use intent_gateway_config::{Config, Keys};
use intent_gateway_domain::clock::{Clock as _, SystemClock};
use intent_gateway_domain::vault::Vault;

pub use self::finding::{Area, Code, Finding, State};

/// What is to be looked at.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    pub config: &'a Config,
    /// Address of the gateway that runs; where the configuration has it listen if absent.
    pub gateway: Option<&'a str>,
    /// Asks nobody but the store and the gateway.
    pub is_offline: bool,
    /// How long one look may wait for an answer.
    pub wait: Duration,
}

/// Looks at everything, one area after the other; `tell` hears of each that begins. It must be called on a Tokio runtime.
///
/// What is found comes in the order of [`Area::ALL`]. Nothing that is wrong is an error.
pub async fn examine(order: Order<'_>, tell: &(dyn Fn(Area) + Sync)) -> Vec<Finding> {
    let config = order.config;
    let (mut found, mut store) = (Vec::new(), None);
    for area in Area::ALL {
        tell(area);
        found.extend(match area {
            Area::Configuration => here::check_configuration(config),
            Area::Keys => {
                let certificate = here::check_certificate(config, SystemClock.now());
                here::check_keys(config).into_iter().chain(certificate).collect()
            }
            Area::Places => here::check_places(config),
            Area::Disk => here::check_disks(config),
            Area::Store => {
                let findings;
                (store, findings) = store::open(order, find_vault(config).as_ref()).await;
                findings
            }
            Area::Clock => store::check_clock(order, store.as_deref()).await,
            Area::Contracts => store::check_contracts(order, store.as_deref()).await,
            Area::Partners => outside::ask_partners(order, store.as_deref()).await,
            Area::Issuers => outside::ask_issuers(order).await,
            Area::Registry => outside::ask_sources(order).await,
            Area::Mail => outside::ask_mail_server(order).await,
            Area::Gateway => gateway::ask(order).await,
        });
    }
    found
}

/// What seals the store; none where there is no key, which the look at the keys tells.
fn find_vault(config: &Config) -> Option<Vault> {
    Keys::find_vault(config).ok().flatten()
}
