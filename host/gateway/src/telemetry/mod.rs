//! What operators see of the running process: the log, the metrics and the traces.
//!
//! The other crates log and trace through `tracing` and count through `metrics`; here it is decided where that goes, once
//! for the process. What is counted and under which names is in `domain::telemetry`. Not here: what is kept of rankings and
//! of who did what, which is the store's.

pub(crate) mod log;
mod metrics;
mod repeats;
mod spans;

use std::sync::Arc;
use std::time::Duration;

use intent_gateway_domain::telemetry::Exposition;
use intent_gateway_http::scrape_router;
use intent_gateway_http::server::{BindError, ReservedAddress, ServerConfig};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer, Registry};

pub(crate) use self::log::LogLevel;
use self::metrics::Metrics;
pub(crate) use self::metrics::Sizes;
use self::repeats::Repeats;
use self::spans::Export;
use intent_gateway_config::{Config, LogSection, TelemetrySection};

/// Connections of scrapers at once.
const SCRAPERS_MAX: usize = 32;
/// A scrape under way at shutdown gets this long.
const SCRAPE_DRAIN: Duration = Duration::from_secs(1);

/// Log, metrics and traces of this process.
pub(crate) struct Telemetry {
    metrics: Arc<Metrics>,
    export: Option<Export>,
    repeats: Repeats,
    level: LogLevel,
}

impl Telemetry {
    /// Sets everything up for the rest of the process.
    pub(crate) fn start(log: &LogSection, config: &TelemetrySection) -> anyhow::Result<Self> {
        let metrics = Arc::new(Metrics::install()?);
        let export = Export::start(config)?;
        let repeats = Repeats::default();
        let (lines, level) = log::layer(log, repeats.clone())?;
        let mut layers: Vec<Box<dyn Layer<Registry> + Send + Sync>> = vec![lines];
        layers.extend(export.as_ref().map(Export::layer));
        let started = tracing_subscriber::registry().with(layers).try_init();
        started.map_err(|error| anyhow::anyhow!("the log could not be set up: {error}"))?;
        // A panic is a line of the log like any other, and no loose text between JSON.
        std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
        if let Some(export) = &export {
            export.take_over();
        }
        Ok(Self { metrics, export, repeats, level })
    }

    /// What sets the log's level.
    pub(crate) fn level(&self) -> LogLevel {
        self.level.clone()
    }

    /// What is counted, for those who ask over HTTP.
    pub(crate) fn exposition(&self) -> Arc<dyn Exposition> {
        self.metrics.clone()
    }

    /// Looks at some sizes whenever somebody asks.
    pub(crate) fn watch(&self, sizes: Sizes) {
        self.metrics.watch(sizes);
    }

    /// Takes the address for scrapers, where one is set.
    ///
    /// # Errors
    /// When it cannot be had.
    pub(crate) fn reserve(config: &Config) -> Result<Option<ReservedAddress>, BindError> {
        let Some(listen) = config.telemetry.metrics_address else { return Ok(None) };
        let listener = ServerConfig {
            listen,
            max_connections: SCRAPERS_MAX,
            drain_timeout: SCRAPE_DRAIN,
            shedding: None,
            ..config.server.listener()
        };
        ReservedAddress::take(listener).map(Some)
    }

    /// Keeps what the recorder holds small, says what was left out of the log, and answers scrapers at their address, where there is one, until `stop` is cancelled
    /// or what this returns is dropped.
    ///
    /// # Errors
    /// When the address cannot be listened on.
    pub(crate) fn serve(
        &self,
        address: Option<ReservedAddress>,
        stop: &CancellationToken,
    ) -> Result<JoinSet<()>, BindError> {
        let mut tasks = JoinSet::new();
        let (metrics, repeats, stopped) = (self.metrics.clone(), self.repeats.clone(), stop.clone());
        tasks.spawn(async move {
            tokio::select! {
                () = stopped.cancelled() => {}
                () = metrics.keep() => {}
                () = Metrics::sample() => {}
                () = repeats.keep_telling() => {}
            }
        });
        let Some(address) = address else { return Ok(tasks) };
        let server = address.listen(scrape_router(self.exposition()), stop.clone())?;
        tracing::info!(address = %server.local_addr(), "metrics are shown to whoever asks here");
        tasks.spawn(async move {
            server.run().await;
        });
        Ok(tasks)
    }

    /// Says what was left out of the log, and sends the spans that wait, for a bounded time.
    pub(crate) fn stop(&self) {
        self.repeats.tell_all();
        if let Some(export) = &self.export {
            export.stop();
        }
    }
}
