//! A file of exported receipts: a line that says so, and then a receipt on each line.

use intent_gateway_domain::id::IntentId;
use serde::{Deserialize, Serialize};

/// What the first line says.
const FORMAT: &str = "intent-gateway-receipts/1";

/// The first line of a file of receipts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReceiptsHeading {
    format: String,
    intent: IntentId,
}

impl ReceiptsHeading {
    #[must_use]
    pub fn new(intent: IntentId) -> Self {
        Self { format: FORMAT.to_owned(), intent }
    }

    /// Whose receipts follow this line; none where it is another line.
    #[must_use]
    pub fn read(line: &[u8]) -> Option<IntentId> {
        let Self { format, intent } = serde_json::from_slice(line).ok()?;
        (format == FORMAT).then_some(intent)
    }
}
