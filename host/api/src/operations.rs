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
    /// 0, so that all clients share the limit on requests without a token. `RECEIPTS_NOT_KEPT`, `FINDINGS_NOT_KEPT`: the disk of the
    /// store is nearly full, so that receipts of rankings, and findings of searches and calls, are not kept.
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
