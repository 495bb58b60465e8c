//! Whether the process is well.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The process is alive.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Health {
    /// Always `ok`.
    #[schema(example = "ok")]
    pub status: String,
    /// Version of the gateway.
    pub version: String,
    /// What the operator should look at, by code. `UNTRUSTED_PROXY`: requests came through a proxy, and `server.trusted_proxies` is
    /// 0, so that all clients share the limit on requests without a token.
    pub warnings: Vec<String>,
}

/// The process takes traffic.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Readiness {
    /// Always `ready`.
    #[schema(example = "ready")]
    pub status: String,
    /// Intents that are live.
    pub live_intents: usize,
}
