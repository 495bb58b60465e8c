//! The log: to standard error, for people or as JSON.

use std::io::{self, IsTerminal as _};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

use crate::config::{LogFormat, LogSection};

/// The filter of a list of directives.
pub(crate) fn filter(directives: &str) -> Result<EnvFilter, ParseError> {
    EnvFilter::builder().parse(directives)
}

/// Sets the log up for the rest of the process.
pub(crate) fn start(config: &LogSection) -> anyhow::Result<()> {
    let builder = tracing_subscriber::fmt().with_env_filter(filter(&config.level)?).with_writer(io::stderr);
    let started = match config.format {
        LogFormat::Text => builder.with_ansi(io::stderr().is_terminal()).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("the log could not be set up: {error}"))?;
    // A panic is a line of the log like any other, and no loose text between JSON.
    std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
    Ok(())
}
