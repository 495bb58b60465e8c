//! `[telemetry]`: who may look at the metrics, and where traces go.

use std::net::SocketAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ServerSection;

/// Metrics and traces.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct TelemetrySection {
    /// Listens for scrapers, which show no token.
    pub metrics_address: Option<SocketAddr>,
    /// A collector that takes OTLP over HTTP; without it no span is made.
    pub otlp_endpoint: Option<String>,
    /// Share of the traces that begin here which are recorded.
    pub trace_sampling_ratio: f64,
    /// What the process is called in traces.
    pub service_name: String,
}

impl Default for TelemetrySection {
    fn default() -> Self {
        Self {
            metrics_address: None,
            otlp_endpoint: None,
            trace_sampling_ratio: 1.0,
            service_name: "intent-gateway".to_owned(),
        }
    }
}

impl TelemetrySection {
    pub(crate) fn check(&self, server: &ServerSection, problems: &mut Vec<String>) {
        if self.metrics_address.is_some_and(|address| address.port() != 0 && address == server.listen) {
            problems.push(
                "`telemetry.metrics_address` is `server.listen`; metrics need an address of their own".to_owned(),
            );
        }
        let fits = |uri: &http::Uri| {
            matches!(uri.scheme_str(), Some("http" | "https"))
                && uri.query().is_none()
                && uri.authority().is_some_and(|authority| !authority.as_str().contains('@'))
        };
        if let Some(endpoint) = self.otlp_endpoint.as_ref()
            && !endpoint.parse::<http::Uri>().is_ok_and(|uri| fits(&uri))
        {
            problems.push(
                "`telemetry.otlp_endpoint` is no address of a collector; expected `http://host:4318` or \
                 `https://host`, without a user"
                    .to_owned(),
            );
        }
        if !(0.0..=1.0).contains(&self.trace_sampling_ratio) {
            problems
                .push(format!("`telemetry.trace_sampling_ratio` is {}; expected 0 to 1", self.trace_sampling_ratio));
        }
        if self.service_name.trim().is_empty() {
            problems.push("`telemetry.service_name` is empty".to_owned());
        }
    }
}
