//! `[platform]` and `[store]`: what the platform is called from outside, and where its records are.

use std::path::Path;

use intent_gateway_core::onboarding::Settings;
use intent_gateway_core::secret::Secret;
use intent_gateway_store::Location;
use serde::{Deserialize, Serialize};

/// Name of the SQLite file in the state folder.
const STORE_FILE: &str = "gateway.db";
/// Longest time between two scheduled probes, hours: a month.
const REPROBE_MAX_HOURS: u64 = 31 * 24;
const MS_PER_HOUR: u64 = 60 * 60 * 1_000;

/// The platform as partners see it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PlatformSection {
    /// Public address of the gateway; partners' completion addresses begin with it.
    pub(crate) base_url: String,
    /// Time between two scheduled probes of a live partner.
    pub(crate) reprobe_interval_hours: u64,
}

impl Default for PlatformSection {
    fn default() -> Self {
        Self { base_url: "http://localhost:8080".to_owned(), reprobe_interval_hours: 24 }
    }
}

impl PlatformSection {
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            base_url: self.base_url.trim_end_matches('/').to_owned(),
            reprobe_interval_ms: self.reprobe_interval_hours * MS_PER_HOUR,
        }
    }

    pub(super) fn check(&self, problems: &mut Vec<String>) {
        let uri = self.base_url.parse::<http::Uri>().ok();
        let fits = |uri: &http::Uri| {
            matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some() && uri.query().is_none()
        };
        if !uri.as_ref().is_some_and(fits) {
            problems.push(format!("`platform.base_url` is `{}`; expected `https://host`", self.base_url));
        }
        if !(1..=REPROBE_MAX_HOURS).contains(&self.reprobe_interval_hours) {
            problems.push(format!(
                "`platform.reprobe_interval_hours` is {}; expected 1 to {REPROBE_MAX_HOURS}",
                self.reprobe_interval_hours
            ));
        }
    }
}

/// Where records are kept.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct StoreSection {
    /// `sqlite://PATH` or `postgres://...`; by default a SQLite file in the state folder.
    #[serde(serialize_with = "super::redacted")]
    pub(crate) url: Option<Secret>,
}

impl StoreSection {
    /// Where the records are. The address was checked when the configuration was loaded.
    pub(crate) fn location(&self, state_dir: &Path) -> Result<Location, intent_gateway_store::OpenError> {
        match &self.url {
            Some(url) => Location::parse(url.expose()),
            None => Ok(Location::file(state_dir.join(STORE_FILE))),
        }
    }

    /// Whether several processes may share the records.
    pub(super) fn is_shared(&self) -> bool {
        self.url.as_ref().is_some_and(|url| url.expose().starts_with("postgres"))
    }

    pub(super) fn check(&self, problems: &mut Vec<String>) {
        if let Some(Err(error)) = self.url.as_ref().map(|url| Location::parse(url.expose())) {
            problems.push(format!("`store.url` cannot be used: {error}"));
        }
    }
}
