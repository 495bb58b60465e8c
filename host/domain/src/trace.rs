//! What ties the work for one request together across processes: its identifier, and W3C Trace Context (the Recommendation
//! of 23 November 2021).
//!
//! The HTTP layer begins a [`Trace`] for every request, out of what the caller sent; whoever calls a partner sends
//! [`Outgoing`] along in headers. Where spans are exported, their identifiers go out, and otherwise ones of the gateway's
//! own, so that a partner can always join the trace. What exports spans is [installed](export_spans_by) once, by the
//! binary, as a logger is.
//!
//! Not here: HTTP headers as such, and how spans are exported.

use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::num::{NonZeroU64, NonZeroU128};
use std::sync::OnceLock;
use std::time::Duration;

/// Name of the header that names the trace and the caller's span.
pub const TRACEPARENT: &str = "traceparent";
/// Name of the header in which tracing systems keep what is their own.
pub const TRACESTATE: &str = "tracestate";
/// Longest `tracestate` that is passed on, characters: what W3C asks for at least (3.3.1.5). A longer one is left out.
pub(crate) const TRACESTATE_MAX_CHARS: usize = 512;
/// Most members of a `tracestate` (W3C, 3.3.1.1).
const TRACESTATE_MAX_MEMBERS: usize = 32;
/// Longest key of a member, characters (W3C, 3.3.1.3.1).
const KEY_MAX_CHARS: usize = 256;
/// Longest value of a member, characters (W3C, 3.3.1.3.2).
const VALUE_MAX_CHARS: usize = 256;
/// Characters of a `traceparent` of version 00.
const TRACEPARENT_CHARS: usize = 55;
/// The flag that says that the caller records the trace.
const SAMPLED: u8 = 0x01;

/// A span and its trace, as a `traceparent` tells them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanContext {
    pub trace_id: NonZeroU128,
    pub span_id: NonZeroU64,
    /// Whether the trace is recorded.
    pub is_sampled: bool,
}

impl SpanContext {
    /// A span of a trace that begins here and that nobody records.
    #[must_use]
    pub fn root() -> Self {
        let high = u128::from(random().get());
        let low = NonZeroU128::from(random());
        Self { trace_id: low | (high << 64), span_id: random(), is_sampled: false }
    }

    /// Another span of the same trace.
    #[must_use]
    pub(crate) fn new_sibling(self) -> Self {
        Self { span_id: random(), ..self }
    }

    /// Reads a `traceparent`. One of a later version is read as far as version 00 goes (W3C, 4.3).
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (head, rest) = text.split_at_checked(TRACEPARENT_CHARS)?;
        let mut parts = head.split('-');
        let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let fits = parts.next().is_none()
            && (version.len(), trace.len(), span.len(), flags.len()) == (2, 32, 16, 2)
            && head.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-'));
        let ends = if version == "00" { rest.is_empty() } else { rest.is_empty() || rest.starts_with('-') };
        if !fits || !ends || version == "ff" {
            return None;
        }
        Some(Self {
            trace_id: NonZeroU128::new(u128::from_str_radix(trace, 16).ok()?)?,
            span_id: NonZeroU64::new(u64::from_str_radix(span, 16).ok()?)?,
            is_sampled: u8::from_str_radix(flags, 16).ok()? & SAMPLED != 0,
        })
    }
}

/// As a `traceparent` of version 00.
impl fmt::Display for SpanContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = if self.is_sampled { SAMPLED } else { 0 };
        write!(f, "00-{:032x}-{:016x}-{flags:02x}", self.trace_id, self.span_id)
    }
}

/// The standard library seeds its hashers at random; that is as much chance as an identifier needs that is not a secret.
fn random() -> NonZeroU64 {
    let number = RandomState::new().build_hasher().finish();
    NonZeroU64::new(number).unwrap_or(NonZeroU64::MIN)
}

/// Where a call belongs. It goes out to partners in headers, never in arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The request, as the gateway's answer and log name it.
    pub request_id: String,
    /// The gateway's span for the request.
    pub span: SpanContext,
    /// What came as `tracestate`.
    pub tracestate: Option<String>,
}

impl Trace {
    /// Goes on with the trace that a caller's headers name, or begins one: what is malformed is as good as absent
    /// (W3C, 4.3).
    #[must_use]
    pub fn of_caller(request_id: &str, traceparent: Option<&str>, tracestate: Option<&str>) -> Self {
        let request_id = request_id.to_owned();
        match traceparent.and_then(SpanContext::parse) {
            Some(parent) => {
                let tracestate = tracestate.filter(|text| is_tracestate(text)).map(str::to_owned);
                Self { request_id, span: parent.new_sibling(), tracestate }
            }
            None => Self { request_id, span: SpanContext::root(), tracestate: None },
        }
    }

    /// What a call to a partner carries, under its own span: the exported one, or one that nobody exports.
    #[must_use]
    pub fn outgoing(&self, call: &tracing::Span) -> Outgoing<'_> {
        let span = export(call).unwrap_or_else(|| self.span.new_sibling());
        Outgoing { request_id: &self.request_id, traceparent: span.to_string(), tracestate: self.tracestate.as_deref() }
    }
}

/// What goes along with a call, as headers have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing<'a> {
    /// For `x-request-id`.
    pub request_id: &'a str,
    /// For [`TRACEPARENT`].
    pub traceparent: String,
    /// For [`TRACESTATE`].
    pub tracestate: Option<&'a str>,
}

/// Whether a `tracestate` keeps to the grammar (W3C, 3.3.1), names no key twice and is no longer than it may be.
fn is_tracestate(text: &str) -> bool {
    if text.len() > TRACESTATE_MAX_CHARS {
        return false;
    }
    let mut keys: Vec<&str> = Vec::new();
    for member in text.split(',').map(|member| member.trim_matches([' ', '\t'])).filter(|member| !member.is_empty()) {
        match member.split_once('=') {
            Some((key, value)) if is_key(key) && is_value(value) && !keys.contains(&key) => keys.push(key),
            _ => return false,
        }
    }
    (1..=TRACESTATE_MAX_MEMBERS).contains(&keys.len())
}

fn is_key(key: &str) -> bool {
    let name = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit())
            && part.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'*' | b'/'))
    };
    key.len() <= KEY_MAX_CHARS
        && match key.split_once('@') {
            Some((tenant, system)) => name(tenant) && name(system),
            None => name(key),
        }
}

fn is_value(value: &str) -> bool {
    (1..=VALUE_MAX_CHARS).contains(&value.len())
        && !value.ends_with(' ')
        && value.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b',' && byte != b'=')
}

/// What exports spans to a tracing system.
pub trait ExportSpans: Send + Sync {
    /// Makes a span, which was not entered yet, a child of one in another process.
    fn continue_from(&self, span: &tracing::Span, parent: &SpanContext);

    /// What a span is exported as; none where it is not.
    fn export(&self, span: &tracing::Span) -> Option<SpanContext>;

    /// Exports a span of the past, over now, as a child of the one that this is called in. Without such a one, nothing.
    fn end_span(&self, name: &'static str, attributes: &[(&'static str, &str)], took: Duration);
}

static EXPORT: OnceLock<Box<dyn ExportSpans>> = OnceLock::new();

/// Has spans exported from here on, in the whole process. Only the first one is taken; whether this was it.
pub fn export_spans_by(export: Box<dyn ExportSpans>) -> bool {
    EXPORT.set(export).is_ok()
}

/// Makes a span, which was not entered yet, a child of one in another process, where spans are exported.
pub fn continue_from(span: &tracing::Span, parent: &SpanContext) {
    if let Some(export) = EXPORT.get() {
        export.continue_from(span, parent);
    }
}

/// What a span is exported as; none where it is not.
#[must_use]
pub fn export(span: &tracing::Span) -> Option<SpanContext> {
    EXPORT.get().and_then(|export| export.export(span))
}

/// Exports a span of the past, over now, as a child of the one that this is called in.
pub(crate) fn end_span(name: &'static str, attributes: &[(&'static str, &str)], took: Duration) {
    if let Some(export) = EXPORT.get() {
        export.end_span(name, attributes, took);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GIVEN: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_traceparent_is_read_and_written_alike() {
        let span = SpanContext::parse(GIVEN).expect("sound");
        assert_eq!(span.trace_id.get(), 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736);
        assert_eq!((span.span_id.get(), span.is_sampled), (0x00f0_67aa_0ba9_02b7, true));
        assert_eq!(span.to_string(), GIVEN);
        // Flags that this version does not know are not passed on; a later version may say more.
        let later = "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-fe-more";
        assert_eq!(SpanContext::parse(later), Some(SpanContext { is_sampled: false, ..span }));
    }

    #[test]
    fn a_malformed_traceparent_is_none() {
        for bad in [
            "",
            "00",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01x",
            "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01x",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-600f067aa0ba902b7-01",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            " 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0é1",
        ] {
            assert_eq!(SpanContext::parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn a_trace_goes_on_under_a_span_of_its_own() {
        let trace = Trace::of_caller("r1", Some(GIVEN), Some("vendor=opaque, tenant@system=1"));
        let parent = SpanContext::parse(GIVEN).expect("sound");
        assert_eq!((trace.span.trace_id, trace.span.is_sampled), (parent.trace_id, true));
        assert_ne!(trace.span.span_id, parent.span_id);
        let outgoing = trace.outgoing(&tracing::Span::none());
        let sent = SpanContext::parse(&outgoing.traceparent).expect("sound");
        assert_eq!((sent.trace_id, sent.is_sampled), (parent.trace_id, true));
        assert!(![parent.span_id, trace.span.span_id].contains(&sent.span_id));
        assert_eq!((outgoing.request_id, outgoing.tracestate), ("r1", Some("vendor=opaque, tenant@system=1")));
    }

    #[test]
    fn a_trace_begins_where_none_can_be_read() {
        let one = Trace::of_caller("r1", Some("garbage"), Some("vendor=opaque"));
        let other = Trace::of_caller("r2", None, None);
        assert_ne!(one.span.trace_id, other.span.trace_id);
        assert!(!one.span.is_sampled);
        // What belongs to a trace that cannot be read belongs to none.
        assert_eq!(one.tracestate, None);
    }

    #[test]
    fn a_tracestate_that_breaks_the_grammar_is_left_out() {
        let members = |count: usize| (0..count).map(|number| format!("k{number}=v")).collect::<Vec<_>>().join(",");
        for good in ["a=1", "a=1,,b=2", "0a=x y", "a/b*_-=~", &members(32)] {
            assert!(is_tracestate(good), "{good}");
        }
        let long = format!("a={}", "x".repeat(257));
        for bad in ["", ",", "a", "a=", "A=1", "a=1=2", "a=\u{7f}", "a=é", "a=1,a=2", "@a=1", &members(33), &long] {
            assert!(!is_tracestate(bad), "{bad}");
        }
        let longest: String = (0..4).map(|number| format!("k{number}={},", "x".repeat(122))).collect();
        assert!(
            is_tracestate(&longest[..TRACESTATE_MAX_CHARS - 8]) && !is_tracestate(&format!("{longest}k9=xxxxxxxx"))
        );
    }

    proptest! {
        #[test]
        fn nothing_makes_reading_panic(text in ".{0,80}") {
            let _ = SpanContext::parse(&text);
            let _ = is_tracestate(&text);
        }

        #[test]
        fn what_is_written_is_read(trace in 1u128.., span in 1u64.., is_sampled: bool) {
            let context = SpanContext {
                trace_id: NonZeroU128::new(trace).expect("not zero"),
                span_id: NonZeroU64::new(span).expect("not zero"),
                is_sampled,
            };
            prop_assert_eq!(SpanContext::parse(&context.to_string()), Some(context));
        }
    }
}
