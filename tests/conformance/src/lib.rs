//! A partner for as long as a test needs it: what the partner client asks for, with nothing behind it.
//!
//! Not here: any MCP.

pub mod sign_in;

use std::sync::Arc;
use std::time::SystemTime;

use anyhow::Context as _;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::endpoint::{Endpoint, Mappings};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{Contract, Contracts, PartnerProbe as _};
use intent_gateway_domain::probe::{ProbeRecord, ProbeRequest};
use intent_gateway_partners::PartnerClient;

/// No contract: a probe of an MCP server asks for none. Written out here, for a program must not depend on what tests share.
struct NoContracts;

impl Contracts for NoContracts {
    fn live(&self, _: &str) -> Option<Arc<dyn Contract>> {
        None
    }

    fn all(&self) -> Vec<Arc<dyn Contract>> {
        Vec::new()
    }

    fn select_by_cues(&self, _: &str) -> Vec<Arc<dyn Contract>> {
        Vec::new()
    }

    fn find_loaded(&self, _: Digest) -> Option<Arc<dyn Contract>> {
        None
    }
}

/// A partner whose MCP server is at `url`.
///
/// # Errors
/// None in practice: the identifier is a good one.
pub fn partner(url: &str) -> anyhow::Result<Arc<Partner>> {
    Ok(Arc::new(Partner {
        id: PartnerId::parse("conformance").context("an identifier")?,
        name: "the conformance suite".to_owned(),
        endpoint: Endpoint::mcp(url),
        mappings: Mappings::new(),
        listings: Vec::new(),
        token: None,
        sign_in: None,
    }))
}

/// Probes a partner. A failed probe is a record too.
///
/// # Errors
/// When the machine's clock stands before 1970.
pub async fn probe(client: &PartnerClient, partner: &Partner) -> anyhow::Result<ProbeRecord> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    let request = ProbeRequest {
        partner: &partner.id,
        endpoint: &partner.endpoint,
        mappings: &partner.mappings,
        contracts: &NoContracts,
        bearer: None,
        now: Timestamp::from_ms(u64::try_from(now.as_millis())?),
    };
    Ok(client.probe(request).await)
}
