//! Tries a partner's server as the gateway will meet it: every tool of an intent, its errors, its keys, its times. For a partner's
//! developer, on the own machine, before anybody signs up (docs/conformance.md).
//!
//! | question | module |
//! |---|---|
//! | what is found, and what is said of it | [`report`] |
//! | what the tools are called with | [`material`], [`arguments`] |
//! | one call, and whether its answer or refusal is one | [`talk`] |
//! | the session and the list of tools | `server` |
//! | searches, as the go-live test makes them and beyond | `search` |
//! | the tools after a search, along the way of an order | `orders` |
//!
//! The judgement is the product's own: the probe, the go-live test, the scan for forbidden fields, the contract, the turns of an
//! order. Here is only what is tried, in which order, and what must come of it. Nothing is kept, and no gateway is asked.

pub mod arguments;
pub mod material;
mod orders;
pub mod report;
mod search;
mod server;
pub mod talk;

use std::sync::Arc;

use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::contract::Axes;
use intent_gateway_domain::endpoint::{Endpoint, Mappings};
use intent_gateway_domain::error::ContractFault;
use intent_gateway_domain::golive::GoLiveError;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::partner::{Listing, Partner};
use intent_gateway_domain::ports::{Contract, PartnerCalls, PartnerProbe};
use intent_gateway_domain::secret::Secret;

use self::material::Material;
use self::report::{Check, Code, Report};
use self::talk::Talk;

/// What the server is called in logs; it has no account yet.
const PARTNER: &str = "conformance";

/// The server, and what it is tried with.
pub struct Subject {
    /// How it is called.
    pub calls: Arc<dyn PartnerCalls>,
    /// How its tools are listed.
    pub probe: Arc<dyn PartnerProbe>,
    pub clock: Arc<dyn Clock>,
    /// Where its MCP server is.
    pub endpoint: Endpoint,
    /// A token that goes with every call, where the tools want one.
    pub token: Option<Secret>,
    /// The intent's contract.
    pub contract: Arc<dyn Contract>,
    /// What the tools are called with.
    pub material: Material,
    /// Whether tools may be called that make, change and cancel orders.
    pub places_orders: bool,
}

/// A server could not be tried. That it does something wrong is a finding, not an error.
#[derive(Debug, thiserror::Error)]
pub enum ConformanceError {
    /// The requests to search with are not the contract's.
    #[error("the requests to search with cannot be used")]
    Requests(#[from] GoLiveError),
    /// The contract failed.
    #[error("the contract failed")]
    Contract(#[from] ContractFault),
}

/// Tries the server; `tell` is told of each check as it ends.
///
/// # Errors
/// [`ConformanceError`] where what it is tried with is at fault.
pub async fn examine<'a>(subject: &Subject, tell: &'a (dyn Fn(&Check) + Sync)) -> Result<Report<'a>, ConformanceError> {
    let descriptor = subject.contract.descriptor();
    let partner = Arc::new(Partner {
        id: PartnerId::parse(PARTNER).expect("letters"),
        name: PARTNER.to_owned(),
        endpoint: subject.endpoint.clone(),
        mappings: Mappings::default(),
        listings: vec![Listing {
            intent: descriptor.intent.clone(),
            service_area: vec!["IN_ALL".to_owned()],
            availability: String::new(),
            declared: Axes::UNDECLARED,
            prices: None,
        }],
        token: subject.token.clone(),
        sign_in: None,
    });
    let mut report = Report::new(subject, tell);
    server::examine(subject, &partner, &mut report).await;
    // Without a session, or without the tools, everything else would only say so once more.
    if report.has_failed(Code::SessionOpened) || report.has_failed(Code::ToolsComplete) {
        return Ok(report);
    }
    let talk = Talk::new(subject, partner);
    server::try_unknown_tool(&talk, &mut report).await;
    let options = search::examine(subject, &talk, &mut report).await?;
    orders::examine(subject, &talk, &options, &mut report).await?;
    talk.note_latencies(&mut report);
    Ok(report)
}

#[cfg(test)]
mod tests;
