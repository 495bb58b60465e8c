//! Settings of partner calls. Bounds that nobody should need to move are constants where they are used.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

/// Longest time that any setting may name, seconds: a day.
const SECONDS_MAX: u64 = 86_400;
/// Longest wait for a connection, milliseconds: no tool call may take longer as a whole (spec 1, Limits).
const CONNECT_TIMEOUT_MAX_MS: u64 = 30_000;
/// Most calls to one partner that may be under way or wait.
const CALLS_MAX: usize = 10_000;

/// Settings of partner calls.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PartnerClientConfig {
    /// Wait for name resolution, TCP and TLS together, milliseconds.
    pub connect_timeout_ms: u64,
    /// Calls to one partner under way at once; also the most connections that one partner gets.
    pub max_concurrent_calls_per_partner: usize,
    /// Calls to one partner that may wait for their turn; further ones fail at once.
    pub max_waiting_calls_per_partner: usize,
    /// Permits partners on loopback addresses, over plain HTTP too. For development only.
    pub allow_loopback_http: bool,
    /// How long an unused connection is kept, seconds.
    pub pool_idle_secs: u64,
    /// How long an unused MCP session is kept, seconds.
    pub session_idle_secs: u64,
    /// How a partner is opened that was not called before: with `server/discover`, as MCP has it since revision
    /// 2026-07-28, instead of with `initialize` (spec 1, Endpoints). What a partner refuses, the other way is tried.
    pub discover_first: bool,
}

impl Default for PartnerClientConfig {
    fn default() -> Self {
        Self {
            connect_timeout_ms: 3_000,
            max_concurrent_calls_per_partner: 64,
            max_waiting_calls_per_partner: 256,
            allow_loopback_http: false,
            pool_idle_secs: 60,
            session_idle_secs: 600,
            discover_first: false,
        }
    }
}

/// Partner calls could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum PartnerClientError {
    /// A setting is out of its range.
    #[error("`{field}` must lie in {min}..={max}")]
    Setting {
        /// Name of the setting.
        field: &'static str,
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// TLS could not be set up.
    #[error("TLS could not be set up")]
    Tls(#[source] rustls::Error),
    /// There is no Tokio runtime to run sessions on.
    #[error("partner calls need a Tokio runtime")]
    NoRuntime(#[source] tokio::runtime::TryCurrentError),
}

impl PartnerClientConfig {
    /// Checks every setting.
    ///
    /// # Errors
    /// [`PartnerClientError::Setting`] for the first setting out of its range.
    pub fn validate(&self) -> Result<(), PartnerClientError> {
        let calls_max = CALLS_MAX as u64;
        let ranges = [
            ("connect_timeout_ms", self.connect_timeout_ms, 1, CONNECT_TIMEOUT_MAX_MS),
            ("max_concurrent_calls_per_partner", self.max_concurrent_calls_per_partner as u64, 1, calls_max),
            ("max_waiting_calls_per_partner", self.max_waiting_calls_per_partner as u64, 0, calls_max),
            ("pool_idle_secs", self.pool_idle_secs, 1, SECONDS_MAX),
            ("session_idle_secs", self.session_idle_secs, 1, SECONDS_MAX),
        ];
        for (field, value, min, max) in ranges {
            if !(min..=max).contains(&value) {
                return Err(PartnerClientError::Setting { field, min, max });
            }
        }
        Ok(())
    }

    pub(crate) fn connect_timeout(&self) -> Duration {
        Duration::from_millis(self.connect_timeout_ms)
    }

    pub(crate) fn session_idle(&self) -> Duration {
        Duration::from_secs(self.session_idle_secs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid_and_closed() {
        let config = PartnerClientConfig::default();
        assert!(config.validate().is_ok());
        assert!(!config.allow_loopback_http);
    }

    #[test]
    fn settings_out_of_range_are_named() {
        let config = PartnerClientConfig { max_concurrent_calls_per_partner: 0, ..Default::default() };
        let error = config.validate().expect_err("zero calls");
        assert_eq!(error.to_string(), "`max_concurrent_calls_per_partner` must lie in 1..=10000");
        assert!(PartnerClientConfig { connect_timeout_ms: 0, ..Default::default() }.validate().is_err());
        assert!(PartnerClientConfig { session_idle_secs: u64::MAX, ..Default::default() }.validate().is_err());
    }

    #[test]
    fn unknown_settings_are_refused() {
        let config: Result<PartnerClientConfig, _> = serde_json::from_str(r#"{"allow_loopback": true}"#);
        assert!(config.is_err());
        let config: PartnerClientConfig =
            serde_json::from_str(r#"{"allow_loopback_http": true}"#).expect("one setting");
        assert_eq!(config, PartnerClientConfig { allow_loopback_http: true, ..Default::default() });
    }
}
