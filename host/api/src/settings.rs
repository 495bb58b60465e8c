//! The configuration as a gateway runs it, for the platform team. No secret is in it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// The settings of one gateway.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct SettingList {
    /// By section and key; at most 5,000.
    pub settings: Vec<SettingBody>,
}

/// A setting in force.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SettingBody {
    /// Its section; empty for what stands outside every section.
    #[schema(example = "server")]
    pub section: String,
    /// Its name in the section; of an entry of a list, the number from 0 and the name.
    #[schema(example = "listen")]
    pub key: String,
    /// Its value. Of a secret `set` or `not set`; of an address, without the name, the password and the query in it.
    pub value: Value,
    /// Whether it is a secret.
    pub secret: bool,
    /// Where it was given.
    pub origin: SettingOrigin,
}

/// Where a setting was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SettingOrigin {
    /// `default`, `file`, `environment` or `flag`.
    #[schema(example = "file")]
    pub kind: String,
    /// The file with line and column, or the variable; null for the others.
    #[schema(required)]
    pub place: Option<String>,
}

impl SettingOrigin {
    #[must_use]
    pub fn new(kind: &str, place: Option<String>) -> Self {
        Self { kind: kind.to_owned(), place }
    }
}

impl Default for SettingOrigin {
    /// Nobody has given it.
    fn default() -> Self {
        Self::new("default", None)
    }
}
