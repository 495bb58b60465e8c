//! Counts lines of the log that come again and again, in place of writing each.
//!
//! Under overload or in an outage every request would write the same warning: the disk would fill, and what differs would be
//! lost among what does not. Of each warning and error so many are written per interval; then a line says how many more there
//! were. Lines are the same where they come from the same place in the code and say the same, durations apart.

use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// Lines that are written of each in an interval.
const LINES_MAX: u32 = 10;
/// From the first of them.
const INTERVAL: Duration = Duration::from_secs(10);
/// Lines that are told apart in an interval. Those beyond are told apart by their place in the code alone.
const KINDS_MAX: usize = 512;
/// What is kept of a line, to name it by when it is told how often it came, bytes.
const TEXT_MAX_BYTES: usize = 256;
/// Fields that differ from one line to the next and say nothing about what happened.
const DURATIONS: [&str; 2] = ["elapsed_us", "elapsed_ms"];
/// Target of the lines that tell; they are never counted themselves.
const TARGET: &str = "intent_gateway::repeats";

/// What was written and what was not.
#[derive(Clone, Default)]
pub(super) struct Repeats(Arc<Mutex<HashMap<u64, Kind>>>);

/// Lines that are the same.
struct Kind {
    since: Instant,
    lines: u32,
    metadata: &'static Metadata<'static>,
    /// The line, cut; once one was left out.
    text: String,
}

/// A kind of which lines were left out.
struct LeftOut {
    lines: u32,
    metadata: &'static Metadata<'static>,
    text: String,
}

impl Repeats {
    /// Has a layer write no more than it is to.
    pub(super) fn around<L>(self, layer: L) -> Counted<L> {
        Counted { layer, repeats: self }
    }

    /// Says in the log what was left out of it, every interval.
    pub(super) async fn keep_telling(&self) {
        loop {
            tokio::time::sleep(INTERVAL).await;
            self.tell(Instant::now());
        }
    }

    /// Says what was left out so far.
    pub(super) fn tell_all(&self) {
        self.tell(Instant::now() + INTERVAL);
    }

    /// Says what was left out of all intervals that are over.
    fn tell(&self, now: Instant) {
        // The lock is free again when the log is written to, which looks in here.
        for LeftOut { lines, metadata, text } in self.take_left_out(now) {
            let (of, level) = (metadata.target(), metadata.level());
            tracing::warn!(target: TARGET, lines, of, %level, text, "the same was to be logged more often, and was not");
        }
    }

    fn take_left_out(&self, now: Instant) -> Vec<LeftOut> {
        let mut left_out = Vec::new();
        self.kinds().retain(|_, kind| {
            let is_over = now.saturating_duration_since(kind.since) >= INTERVAL;
            if is_over && kind.lines > LINES_MAX {
                let text = std::mem::take(&mut kind.text);
                left_out.push(LeftOut { lines: kind.lines - LINES_MAX, metadata: kind.metadata, text });
            }
            !is_over
        });
        left_out
    }

    /// Counts a line. Whether it is to be written.
    fn count(&self, event: &Event<'_>, now: Instant) -> bool {
        let mut kinds = self.kinds();
        let mut key = key(event, true);
        if kinds.len() >= KINDS_MAX && !kinds.contains_key(&key) {
            key = self::key(event, false);
        }
        let metadata = event.metadata();
        let kind = kinds.entry(key).or_insert_with(|| Kind { since: now, lines: 0, metadata, text: String::new() });
        kind.lines = kind.lines.saturating_add(1);
        if kind.lines == LINES_MAX + 1 {
            kind.text = text(event);
        }
        kind.lines <= LINES_MAX
    }

    fn kinds(&self) -> MutexGuard<'_, HashMap<u64, Kind>> {
        // Nothing panics while the lock is held, so a poisoned one still holds good counts.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A layer that is handed those events alone that are to be written. It is no filter of [`tracing_subscriber`]: one that judges
/// events by their fields leaves traces of its verdict for the next event (tracing-subscriber 0.3, `FilterState`).
pub(super) struct Counted<L> {
    layer: L,
    repeats: Repeats,
}

impl<S: Subscriber, L: Layer<S>> Layer<S> for Counted<L> {
    fn on_layer(&mut self, subscriber: &mut S) {
        self.layer.on_layer(subscriber);
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        self.layer.on_new_span(attributes, id, context);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        self.layer.on_record(id, values, context);
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let metadata = event.metadata();
        let is_counted = *metadata.level() <= Level::WARN && metadata.target() != TARGET;
        if !is_counted || self.repeats.count(event, Instant::now()) {
            self.layer.on_event(event, context);
        }
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        self.layer.on_enter(id, context);
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        self.layer.on_exit(id, context);
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        self.layer.on_close(id, context);
    }
}

/// What a line is told apart by: its place in the code and, `in_full`, what it says.
fn key(event: &Event<'_>, in_full: bool) -> u64 {
    struct Fields(DefaultHasher);

    impl Visit for Fields {
        fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
            if !DURATIONS.contains(&field.name()) {
                field.name().hash(&mut self.0);
                // A hasher takes all that is written.
                let _ = write!(HashedText(&mut self.0), "{value:?}");
            }
        }
    }

    let mut fields = Fields(DefaultHasher::new());
    event.metadata().callsite().hash(&mut fields.0);
    if in_full {
        event.record(&mut fields);
    }
    fields.0.finish()
}

/// Hashes what is written, without a text of its own.
struct HashedText<'a>(&'a mut DefaultHasher);

impl fmt::Write for HashedText<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

/// A line in short: its message and its fields.
fn text(event: &Event<'_>) -> String {
    struct Text(String);

    impl Visit for Text {
        fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
            if DURATIONS.contains(&field.name()) || self.0.len() >= TEXT_MAX_BYTES {
                return;
            }
            let space = if self.0.is_empty() { "" } else { " " };
            // A string takes all that is written.
            let _ = match field.name() {
                "message" => write!(self.0, "{space}{value:?}"),
                name => write!(self.0, "{space}{name}={value:?}"),
            };
        }
    }

    let mut text = Text(String::new());
    event.record(&mut text);
    let Text(mut text) = text;
    text.truncate(text.floor_char_boundary(TEXT_MAX_BYTES));
    text
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::filter::LevelFilter;
    use tracing_subscriber::layer::SubscriberExt as _;
    use tracing_subscriber::{Registry, fmt};

    use super::*;
    use crate::telemetry::log::tests::Written;

    /// What is logged while `work` runs.
    fn logged(repeats: &Repeats, work: impl FnOnce()) -> Vec<String> {
        let written = Written::default();
        let to = written.clone();
        let layer = repeats.clone().around(fmt::layer().with_ansi(false).with_writer(move || to.clone()));
        // Behind a filter, as in the gateway.
        let layer = layer.with_filter(LevelFilter::INFO);
        tracing::subscriber::with_default(Registry::default().with(layer), work);
        written.text().lines().map(str::to_owned).collect()
    }

    fn warn(partner: &str, elapsed_us: u64) {
        tracing::warn!(partner, elapsed_us, "a partner's answer is missing");
    }

    #[test]
    fn what_is_the_same_is_written_a_few_times_and_then_counted() {
        let repeats = Repeats::default();
        let lines = logged(&repeats, || {
            (0..1_000).for_each(|n| warn("one", n));
            warn("other", 1);
            (0..20).for_each(|n| tracing::info!(n, "as ever"));
        });
        let count = |text: &str| lines.iter().filter(|line| line.contains(text)).count();
        assert_eq!((count("partner=\"one\""), count("partner=\"other\""), count("as ever")), (10, 1, 20));

        assert!(logged(&repeats, || repeats.tell(Instant::now())).is_empty(), "the interval is not over");
        let told = logged(&repeats, || repeats.tell(Instant::now() + INTERVAL));
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("lines=990") && told[0].contains("a partner's answer is missing"), "{told:?}");
        assert_eq!(logged(&repeats, || warn("one", 1)).len(), 1, "another interval has begun");
    }

    #[test]
    fn kinds_are_bounded_however_much_lines_differ() {
        let repeats = Repeats::default();
        let lines = logged(&repeats, || (0..5_000).for_each(|n| warn(&format!("partner-{n}"), 1)));
        assert_eq!(lines.len(), KINDS_MAX + 10);
        assert!(repeats.kinds().len() <= KINDS_MAX + 1);
        let told = logged(&repeats, || repeats.tell(Instant::now() + INTERVAL));
        assert!(told.len() == 1 && told[0].contains(&format!("lines={}", 5_000 - KINDS_MAX - 10)), "{told:?}");
    }
}
