//! The gateways that share a store, for the platform team.

use intent_gateway_domain::fleet::LiveGateway;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::time;

/// The gateways that live.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct GatewayList {
    /// By the time at which they started.
    pub gateways: Vec<GatewayBody>,
}

/// A gateway that shares the store and has a lease that goes on.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct GatewayBody {
    /// The same over its restarts.
    pub id: String,
    /// What people know it by: `fleet.name`, or its host and address.
    pub name: String,
    /// Version of the program.
    pub version: String,
    /// When it started, by the store's clock (ISO 8601).
    pub started_at: String,
    /// When it last renewed its lease, by the store's clock (ISO 8601).
    pub renewed_at: String,
    /// Until its lease ends unless it is renewed, milliseconds.
    pub left_ms: u64,
    /// The work that it does for all of them, by name.
    pub duties: Vec<String>,
}

impl From<LiveGateway> for GatewayBody {
    fn from(LiveGateway { gateway, started_at, renewed_at, left_ms, duties }: LiveGateway) -> Self {
        Self {
            id: gateway.id.to_string(),
            name: gateway.name,
            version: gateway.version,
            started_at: time(started_at),
            renewed_at: time(renewed_at),
            left_ms,
            duties,
        }
    }
}
