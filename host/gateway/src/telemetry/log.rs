//! The log: to standard error, for people or as JSON.

use std::io::{self, IsTerminal as _};

use intent_gateway_config::{LogFormat, LogSection, log_filter};
use intent_gateway_domain::telemetry::TRACE_TARGET;
use tracing_subscriber::filter::{FilterExt as _, ParseError, filter_fn};
use tracing_subscriber::{Layer, Registry, fmt};

/// Writes what passes the configured filter. The spans for tracing systems have fields of their own and stay out.
pub(super) fn layer(config: &LogSection) -> Result<Box<dyn Layer<Registry> + Send + Sync>, ParseError> {
    let passes = log_filter(&config.level)?.and(filter_fn(|metadata| metadata.target() != TRACE_TARGET));
    let lines = fmt::layer().with_writer(io::stderr);
    Ok(match config.format {
        LogFormat::Text => lines.with_ansi(io::stderr().is_terminal()).with_filter(passes).boxed(),
        LogFormat::Json => lines.json().flatten_event(true).with_filter(passes).boxed(),
    })
}
