//! The section `server`: where the gateway listens, whether over TLS, and the bounds on requests.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use intent_gateway_http::TRUSTED_PROXIES_MAX;
use intent_gateway_http::server::{HEADER_MIN_BYTES, ServerConfig, Shedding};
use intent_gateway_http::tls::TlsFiles;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{COUNT_MAX, QuotasSection, WAIT_MAX_MS};

/// Largest head of a request that may be set, bytes.
const HEADER_MAX_BYTES: usize = 1024 * 1024;
/// Requests a minute of one client to the routes that take no token: a person signs up, and mistypes a code or two.
const OPEN_REQUESTS_PER_MINUTE: NonZeroU32 = NonZeroU32::new(30).expect("30 is not zero");

/// The listener and the bounds on requests.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerSection {
    pub listen: SocketAddr,
    pub max_connections: usize,
    pub max_in_flight: usize,
    pub max_header_bytes: usize,
    pub(crate) header_read_timeout_ms: u64,
    pub(crate) body_timeout_ms: u64,
    pub(crate) request_timeout_ms: u64,
    pub(crate) idle_timeout_ms: u64,
    pub drain_announce_ms: u64,
    pub drain_timeout_ms: u64,
    pub(crate) open_requests_per_minute: NonZeroU32,
    pub trusted_proxies: usize,
    /// Serves over TLS, with this certificate.
    tls_certificate: Option<PathBuf>,
    /// And this key.
    tls_key: Option<PathBuf>,
    /// Authorities of the certificates that orchestrators show.
    tls_client_ca: Option<PathBuf>,
}

impl Default for ServerSection {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            max_connections: 4_096,
            max_in_flight: 1_024,
            max_header_bytes: 32 * 1024,
            header_read_timeout_ms: 15_000,
            body_timeout_ms: 15_000,
            request_timeout_ms: 40_000,
            idle_timeout_ms: 75_000,
            // A proxy that asks every two seconds and wants three answers has gone by then.
            drain_announce_ms: 8_000,
            drain_timeout_ms: 45_000,
            open_requests_per_minute: OPEN_REQUESTS_PER_MINUTE,
            trusted_proxies: 0,
            tls_certificate: None,
            tls_key: None,
            tls_client_ca: None,
        }
    }
}

impl ServerSection {
    /// The listener of pages that have an address of their own.
    pub fn listener_at(&self, listen: SocketAddr) -> ServerConfig {
        ServerConfig { listen, ..self.listener() }
    }

    pub fn listener(&self) -> ServerConfig {
        ServerConfig {
            listen: self.listen,
            max_connections: self.max_connections,
            max_header_bytes: self.max_header_bytes,
            header_read_timeout: Duration::from_millis(self.header_read_timeout_ms),
            idle_timeout: Duration::from_millis(self.idle_timeout_ms),
            drain_timeout: Duration::from_millis(self.drain_timeout_ms),
            shedding: Some(Shedding { trusted_proxies: self.trusted_proxies }),
        }
    }

    /// Where certificate and key are, where it serves over TLS.
    pub fn tls(&self) -> Option<TlsFiles> {
        let (certificate, key) = (self.tls_certificate.clone()?, self.tls_key.clone()?);
        Some(TlsFiles { certificate, key, client_ca: self.tls_client_ca.clone() })
    }

    /// For how long a shutdown is announced before the listener closes.
    pub fn drain_announce(&self) -> Duration {
        Duration::from_millis(self.drain_announce_ms)
    }

    /// How often callers may ask.
    pub fn rates(&self, quotas: &QuotasSection) -> intent_gateway_http::Rates {
        intent_gateway_http::Rates { open_per_minute: self.open_requests_per_minute, quotas: quotas.quotas() }
    }

    pub fn limits(&self) -> intent_gateway_http::Limits {
        intent_gateway_http::Limits {
            request_timeout: Duration::from_millis(self.request_timeout_ms),
            body_timeout: Duration::from_millis(self.body_timeout_ms),
            max_in_flight: self.max_in_flight,
            max_arriving: self.max_connections,
            trusted_proxies: self.trusted_proxies,
        }
    }

    pub(crate) fn check(&self, problems: &mut Vec<String>) {
        let mut within = |key: &str, value: u64, least: u64, most: u64| {
            if !(least..=most).contains(&value) {
                problems.push(format!("`server.{key}` is {value}; expected {least} to {most}"));
            }
        };
        let wide = |value: usize| u64::try_from(value).unwrap_or(u64::MAX);
        within("max_connections", wide(self.max_connections), 1, wide(COUNT_MAX));
        within("max_in_flight", wide(self.max_in_flight), 1, wide(COUNT_MAX));
        within("trusted_proxies", wide(self.trusted_proxies), 0, wide(TRUSTED_PROXIES_MAX));
        within("max_header_bytes", wide(self.max_header_bytes), wide(HEADER_MIN_BYTES), wide(HEADER_MAX_BYTES));
        for (key, value) in [
            ("header_read_timeout_ms", self.header_read_timeout_ms),
            ("body_timeout_ms", self.body_timeout_ms),
            ("request_timeout_ms", self.request_timeout_ms),
            ("idle_timeout_ms", self.idle_timeout_ms),
        ] {
            within(key, value, 1, WAIT_MAX_MS);
        }
        within("drain_announce_ms", self.drain_announce_ms, 0, WAIT_MAX_MS);
        within("drain_timeout_ms", self.drain_timeout_ms, 0, WAIT_MAX_MS);
        if self.tls_certificate.is_some() != self.tls_key.is_some() {
            problems.push(
                "`server.tls_certificate` and `server.tls_key` belong together; one of them is missing".to_owned(),
            );
        }
        if self.tls_client_ca.is_some() && self.tls_certificate.is_none() {
            problems.push(
                "`server.tls_client_ca` is for a listener over TLS; set `server.tls_certificate` and `server.tls_key`"
                    .to_owned(),
            );
        }
    }
}
