//! Whether the process is well.

use intent_gateway_domain::readiness::Trouble;
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

/// The process turns.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Liveness {
    /// Always `live`.
    #[schema(example = "live")]
    pub status: String,
}

/// The process takes traffic.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Readiness {
    /// `ready`; `degraded` where something is not as it should be, and requests are taken all the same.
    #[schema(example = "ready")]
    pub status: String,
    /// Intents that are live.
    pub live_intents: usize,
    /// What is not as it should be; absent where all is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub troubles: Vec<ReadyTrouble>,
}

/// Something that is not as it should be.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ReadyTrouble {
    /// Its kind: `STORE_UNAVAILABLE`, `JOURNAL_LOSING`, `TASK_FAILING`, `TASK_LATE`, `TASK_STOPPED` or `INTENT_MISSING`.
    #[schema(example = "STORE_UNAVAILABLE")]
    pub code: String,
    /// What it concerns: a task, an intent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The same in words.
    pub message: String,
}

impl From<Trouble> for ReadyTrouble {
    fn from(trouble: Trouble) -> Self {
        let Trouble { code, subject, message } = trouble;
        Self { code: code.as_str().to_owned(), subject, message }
    }
}
