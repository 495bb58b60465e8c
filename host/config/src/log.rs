//! `[log]`: what is logged, and how lines look.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The log.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogSection {
    /// Directives of tracing's filter.
    pub level: String,
    pub format: LogFormat,
}

impl Default for LogSection {
    fn default() -> Self {
        // rmcp tells each new session at length at `info`.
        Self { level: "info,rmcp=warn".to_owned(), format: LogFormat::Text }
    }
}

impl LogSection {
    pub(crate) fn check(&self, problems: &mut Vec<String>) {
        if let Err(error) = log_filter(&self.level) {
            problems.push(format!("`log.level` is no list of log directives: {error}"));
        }
    }
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people; coloured on a terminal.
    Text,
    /// One object a line.
    Json,
}

/// The filter of a list of log directives.
///
/// # Errors
/// [`ParseError`](tracing_subscriber::filter::ParseError) with the directive that cannot be read.
pub fn log_filter(directives: &str) -> Result<tracing_subscriber::EnvFilter, tracing_subscriber::filter::ParseError> {
    tracing_subscriber::EnvFilter::builder().parse(directives)
}
