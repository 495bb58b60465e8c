//! The recorder of metrics, and how it is asked.
//!
//! It has no listener of its own: the gateway's server shows what it holds, under the gateway's limits.

use std::sync::OnceLock;
use std::time::Duration;

use anyhow::Context as _;
use intent_gateway_domain::clock::{Clock as _, SystemClock};
use intent_gateway_domain::telemetry::traffic::{SAMPLE_EVERY_MS, lately};
use intent_gateway_domain::telemetry::{self, BUCKETS_SECONDS, Exposition};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use metrics_process::Collector;
use metrics_util::MetricKindMask;

/// A series that was not touched for this long is gone, so that those of retired versions and of partners that have left
/// do not stay for ever. A day, for a counter that comes back begins at zero, and rare events should not.
const SERIES_IDLE: Duration = Duration::from_secs(24 * 60 * 60);
/// How often the samples that histograms hold are put into their buckets.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);
/// How often idle series are looked for when nobody asks, upkeeps: every ten minutes.
const UPKEEPS_PER_LOOK: u32 = 120;

/// Records sizes that nothing else reports, each time that somebody asks.
pub(crate) type Sizes = Box<dyn Fn() + Send + Sync>;

/// The recorder of this process.
pub(super) struct Metrics {
    handle: PrometheusHandle,
    process: Collector,
    sizes: OnceLock<Sizes>,
}

impl Metrics {
    /// Installs the recorder for the rest of the process.
    pub(super) fn install() -> anyhow::Result<Self> {
        let handle = builder(SERIES_IDLE)?.install_recorder().context("metrics could not be set up")?;
        let process = Collector::default();
        process.describe();
        telemetry::describe();
        Ok(Self { handle, process, sizes: OnceLock::new() })
    }

    /// Looks at some sizes from now on. Only the first ones are taken.
    pub(super) fn watch(&self, sizes: Sizes) {
        let _ = self.sizes.set(sizes);
    }

    /// Takes a sample of what went on, every so often, until dropped.
    pub(super) async fn sample() {
        let mut ticks = tokio::time::interval(Duration::from_millis(SAMPLE_EVERY_MS));
        // A sample that comes late is one of a longer time; none is made up for it.
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        ticks.tick().await;
        loop {
            ticks.tick().await;
            lately().sample(SystemClock.now());
        }
    }

    /// Until dropped.
    pub(super) async fn keep(&self) {
        let mut ticks = tokio::time::interval(UPKEEP_INTERVAL);
        for upkeep in (1..=UPKEEPS_PER_LOOK).cycle() {
            ticks.tick().await;
            self.handle.run_upkeep();
            if upkeep == UPKEEPS_PER_LOOK {
                // Idle series are dropped on the way.
                drop(self.handle.render());
            }
        }
    }
}

impl Exposition for Metrics {
    fn render(&self) -> String {
        self.process.collect();
        telemetry::build(env!("CARGO_PKG_VERSION"));
        if let Some(sizes) = self.sizes.get() {
            sizes();
        }
        self.handle.render()
    }
}

fn builder(idle: Duration) -> anyhow::Result<PrometheusBuilder> {
    let builder = PrometheusBuilder::new().set_buckets(&BUCKETS_SECONDS).context("there are no buckets")?;
    Ok(builder.idle_timeout(MetricKindMask::ALL, Some(idle)))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use intent_gateway_domain::telemetry::{METRICS, Metric};
    use metrics::Label;

    use super::*;

    const DOCS: &str = include_str!("../../../../docs/observability.md");

    #[test]
    fn the_documented_metrics_are_those_of_the_code() {
        let documented: Vec<(&str, Vec<&str>)> = DOCS
            .lines()
            .filter_map(|line| line.strip_prefix("| `intent_gateway_"))
            .map(|row| {
                let cells: Vec<&str> = row.split('|').map(str::trim).collect();
                let (name, labels) = (cells[0].trim_end_matches('`'), cells[2]);
                let labels = labels.split(", ").map(|label| label.trim_matches('`'));
                (name, labels.filter(|label| !label.is_empty()).collect())
            })
            .collect();
        let own: Vec<(&str, Vec<&str>)> = METRICS
            .iter()
            .map(|Metric { name, labels, .. }| (name.trim_start_matches("intent_gateway_"), labels.to_vec()))
            .collect();
        assert_eq!(documented, own);
    }

    #[test]
    fn a_series_that_nobody_touches_disappears() {
        const IDLE: Duration = Duration::from_millis(50);
        let recorder = builder(IDLE).expect("there are buckets").build_recorder();
        let handle = recorder.handle();
        metrics::with_local_recorder(&recorder, || {
            metrics::histogram!("left_seconds", vec![Label::new("partner", "gone")]).record(0.003);
            assert!(handle.render().contains("left_seconds_bucket{partner=\"gone\",le=\"0.005\"} 1"));
            // Another one is in use all the while, from when the first was last seen.
            let start = Instant::now();
            while start.elapsed() < 4 * IDLE {
                metrics::counter!("used_total").increment(1);
                let shown = handle.render();
                assert!(shown.contains("used_total"), "{shown}");
            }
        });
        assert!(!handle.render().contains("left_seconds_bucket"), "{}", handle.render());
    }
}
