//! Metrics for tests of what shows them.

use intent_gateway_domain::telemetry::Exposition;

/// Metrics that never change.
pub struct FixedMetrics(pub &'static str);

impl Exposition for FixedMetrics {
    fn render(&self) -> String {
        self.0.to_owned()
    }
}
