//! The log: to standard error, for people or as JSON.

use std::io::{self, IsTerminal as _, Write};

use intent_gateway_config::{LogFormat, LogSection, log_filter};
use intent_gateway_domain::plain_text;
use intent_gateway_domain::telemetry::TRACE_TARGET;
use tracing_subscriber::filter::{FilterExt as _, ParseError, filter_fn};
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt, reload};

use super::repeats::Repeats;

/// Begins a sequence that colours a terminal.
const ESCAPE: char = '\u{1b}';

/// The log's level, which can be set anew.
#[derive(Clone)]
pub(crate) struct LogLevel(reload::Handle<EnvFilter, Registry>);

impl LogLevel {
    /// Lets pass what these directives say, from now on.
    ///
    /// # Errors
    /// Which directive cannot be read.
    pub(crate) fn set(&self, directives: &str) -> anyhow::Result<()> {
        Ok(self.0.reload(log_filter(directives)?)?)
    }
}

/// What writes the log, and what sets its level.
type LogLayer = (Box<dyn Layer<Registry> + Send + Sync>, LogLevel);

/// Writes what passes the configured filter. The spans for tracing systems have fields of their own and stay out.
pub(super) fn layer(config: &LogSection, repeats: Repeats) -> Result<LogLayer, ParseError> {
    let is_for_the_log = filter_fn(|metadata| metadata.target() != TRACE_TARGET);
    let (level, handle) = reload::Layer::new(log_filter(&config.level)?);
    let passes = level.and(is_for_the_log);
    let layer = match config.format {
        LogFormat::Text => repeats.around(text(io::stderr, io::stderr().is_terminal())).with_filter(passes).boxed(),
        LogFormat::Json => {
            let lines = fmt::layer().with_writer(io::stderr).json().flatten_event(true);
            repeats.around(lines).with_filter(passes).boxed()
        }
    };
    Ok((layer, LogLevel(handle)))
}

/// For people. JSON needs no more than this: it has a line's end within a text escaped.
fn text<W: Write>(to: impl Fn() -> W + Send + Sync + 'static, coloured: bool) -> impl Layer<Registry> + Send + Sync {
    fmt::layer().with_writer(move || OneLine { to: to(), coloured }).with_ansi(coloured)
}

/// Writes each event as one line, whatever the texts in it hold: what others wrote must not pass for an event of ours.
struct OneLine<W> {
    to: W,
    coloured: bool,
}

impl<W: Write> Write for OneLine<W> {
    /// Takes a whole event with the end of its line, as the layer hands it over.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let line = text.strip_suffix('\n').unwrap_or(&text);
        let escaped = match self.coloured {
            true => escape_but_colours(line),
            false => plain_text::escape(line).into_owned(),
        };
        self.to.write_all(format!("{escaped}\n").as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// The colours are the layer's, or do nothing but colour.
fn escape_but_colours(line: &str) -> String {
    let mut pieces = line.split(ESCAPE);
    let mut escaped = pieces.next().map(plain_text::escape).unwrap_or_default().into_owned();
    for piece in pieces {
        let parameters = piece.strip_prefix('[').and_then(|rest| rest.split_once('m'));
        let is_colour = parameters.is_some_and(|(codes, _)| codes.chars().all(|c| c.is_ascii_digit() || c == ';'));
        if is_colour {
            escaped.push(ESCAPE);
        } else {
            escaped.extend(ESCAPE.escape_default());
        }
        escaped.push_str(&plain_text::escape(piece));
    }
    escaped
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    /// A log that is kept.
    #[derive(Clone, Default)]
    pub(in crate::telemetry) struct Written(Arc<Mutex<Vec<u8>>>);

    impl Written {
        pub(in crate::telemetry) fn text(&self) -> String {
            String::from_utf8(self.0.lock().expect("not poisoned").clone()).expect("UTF-8")
        }
    }

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("not poisoned").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What is written of one event with this text in it.
    fn logged(version: &str, coloured: bool) -> String {
        let written = Written::default();
        let to = written.clone();
        let subscriber = Registry::default().with(text(move || to.clone(), coloured));
        tracing::subscriber::with_default(
            subscriber,
            || tracing::warn!(version = %version, "a contract was refused: {version}"),
        );
        written.text()
    }

    #[test]
    fn a_text_in_an_event_makes_no_line_of_its_own() {
        for coloured in [false, true] {
            let line = logged("1.0\n2026-01-01T00:00:00Z  INFO forged\r\u{202e}\u{1b}[2J", coloured);
            assert_eq!((line.lines().count(), line.matches('\r').count()), (1, 0), "{line:?}");
            assert!(line.contains(r"1.0\n2026-01-01T00:00:00Z") && line.contains(r"\r\u{202e}"), "{line:?}");
            assert!(!line.contains("\u{1b}[2J"), "{line:?}");
            assert_eq!(line.contains(ESCAPE), coloured, "{line:?}");
        }
    }
}
