//! Takes a partner's search payload apart: the envelope, the options, and nothing of what they mean.
//!
//! A payload is an object with `result_token`, `expires_at` and the array of options under the key that the
//! contract names. A bare array is taken as the options alone. An answer without token and time commits to nothing: its
//! options can be booked for a while all the same, at the partner's word.

use std::ops::Range;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::scan::{Scanned, TooDeep, examine, outline};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::forbidden::ForbiddenFields;
use intent_gateway_domain::limits::{OPTIONS_READ_MAX, RESULT_TOKEN_MAX_BYTES, UNCOMMITTED_BOOKING_TIME};
use intent_gateway_domain::not_json;

/// A note: the partner gave no token, or no time for it, with its options.
const NO_COMMITMENT: &str = "NO_COMMITMENT";

/// What a booking needs of the search that found the option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookingToken {
    /// The partner's token.
    pub result_token: String,
    /// How long the options stay bookable, milliseconds since the epoch.
    pub expires_at: Timestamp,
}

/// A search payload in parts.
#[derive(Debug)]
pub struct SearchPayload {
    /// What the partner commits to; absent where it gave no token, or no time for it.
    pub token: Option<BookingToken>,
    /// When the options end by the partner's own word, token or not, milliseconds since the epoch.
    pub expires_at: Option<Timestamp>,
    /// The options as the partner wrote them, in its order.
    pub options: Vec<Box<RawValue>>,
    /// Options beyond [`OPTIONS_READ_MAX`], which are not read.
    pub unread: usize,
    /// What is wrong with the envelope without sinking the answer.
    pub notes: Vec<Violation>,
    /// Forbidden fields, and what a strict reader could not take.
    pub flaws: Scanned,
}

impl SearchPayload {
    /// Until when the options can be booked: as long as the partner commits to them, or for a while at its word.
    #[must_use]
    pub fn bookable_until(&self, now: Timestamp) -> Timestamp {
        if let Some(token) = &self.token {
            return token.expires_at;
        }
        let a_while = u64::try_from(UNCOMMITTED_BOOKING_TIME.as_millis()).unwrap_or(u64::MAX);
        let until = now.plus_ms(a_while);
        self.expires_at.map_or(until, |stated| stated.min(until))
    }
}

/// Why a payload cannot be used at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    /// It is no JSON; what it is instead, or what the parser says.
    #[error("{0}")]
    Syntax(String),
    /// It nests too deep.
    #[error(transparent)]
    TooDeep(#[from] TooDeep),
    /// It is JSON of another shape.
    #[error("{0}")]
    Shape(String),
}

/// Takes a payload apart and scans it.
///
/// # Errors
/// [`PayloadError`] when nothing of the payload can be used.
pub fn read(text: &str, options_key: &str, fields: &ForbiddenFields<'_>) -> Result<SearchPayload, PayloadError> {
    if let Some(outline) = outline(text, options_key, fields) {
        let envelope = Envelope {
            bare: outline.bare,
            result_token: outline.result_token.map(|range| &text[range]),
            expires_at: outline.expires_at.map(|range| &text[range]),
            options: outline.options.into_iter().map(|range| take_out(text, range)).collect(),
            unread: outline.unread,
        };
        return Ok(envelope.into_payload(Scanned::default()));
    }
    let envelope = read_strictly(text, options_key)?;
    let flaws = examine(text, Some(options_key), fields)?;
    Ok(envelope.into_payload(flaws))
}

/// An option out of a payload that has been gone through.
#[expect(unsafe_code, reason = "a check by serde_json as well would be half of the work on a payload")]
fn take_out(text: &str, range: Range<usize>) -> Box<RawValue> {
    let option = text[range].to_owned();
    // SAFETY: `outline` gives the place of a whole value of JSON without blanks around it. Tests and a fuzz target compare
    // what it takes with what serde_json takes.
    unsafe { RawValue::from_string_unchecked(option) }
}

/// The parts of a payload in which something may be wrong, and what is.
fn read_strictly<'de>(text: &'de str, options_key: &str) -> Result<Envelope<'de>, PayloadError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    EnvelopeSeed { options_key }
        .deserialize(&mut deserializer)
        .and_then(|envelope| deserializer.end().map(|()| envelope))
        .map_err(|error| PayloadError::Syntax(not_json::describe(not_json::kind(text), &error)))?
        .map_err(PayloadError::Shape)
}

#[derive(Default)]
struct Envelope<'de> {
    bare: bool,
    /// As they are written.
    result_token: Option<&'de str>,
    expires_at: Option<&'de str>,
    options: Vec<Box<RawValue>>,
    unread: usize,
}

impl Envelope<'_> {
    fn into_payload(self, flaws: Scanned) -> SearchPayload {
        let (token, expires_at, notes) = self.commitment();
        SearchPayload { token, expires_at, options: self.options, unread: self.unread, notes, flaws }
    }

    /// The token with its time, the time alone, and what is wrong with either.
    fn commitment(&self) -> (Option<BookingToken>, Option<Timestamp>, Vec<Violation>) {
        let mut notes = Vec::new();
        if self.bare {
            self.note_no_commitment(&mut notes);
            return (None, None, notes);
        }
        let result_token = text_field(self.result_token, "/result_token", &mut notes).filter(|token| {
            let fits = (1..=RESULT_TOKEN_MAX_BYTES).contains(&token.len());
            if !fits {
                let message = format!("expected 1 to {RESULT_TOKEN_MAX_BYTES} bytes, found {}", token.len());
                notes.push(note("/result_token", "BAD_FORMAT", message));
            }
            fits
        });
        let expires_at = text_field(self.expires_at, "/expires_at", &mut notes).and_then(|text| {
            let instant = parse_instant(&text);
            if instant.is_none() {
                let message = "expected an ISO 8601 datetime with offset".to_owned();
                notes.push(note("/expires_at", "BAD_FORMAT", message));
            }
            instant
        });
        let token = result_token.zip(expires_at);
        if token.is_none() {
            self.note_no_commitment(&mut notes);
        }
        let token = token.map(|(result_token, expires_at)| BookingToken { result_token, expires_at });
        (token, expires_at, notes)
    }

    fn note_no_commitment(&self, notes: &mut Vec<Violation>) {
        if self.options.is_empty() {
            return;
        }
        let minutes = UNCOMMITTED_BOOKING_TIME.as_secs() / 60;
        let message = format!(
            "the answer commits to nothing: without `result_token` and `expires_at`, its options can be booked for \
             {minutes} minutes, and it may turn out then that they are gone"
        );
        notes.push(note("", NO_COMMITMENT, message));
    }
}

fn note(pointer: &str, code: &str, message: String) -> Violation {
    Violation { pointer: pointer.to_owned(), code: code.to_owned(), message }
}

fn text_field(raw: Option<&str>, pointer: &str, notes: &mut Vec<Violation>) -> Option<String> {
    let Some(raw) = raw else {
        notes.push(note(pointer, "REQUIRED", "is missing".to_owned()));
        return None;
    };
    let text = serde_json::from_str(raw).ok();
    if text.is_none() {
        notes.push(note(pointer, "WRONG_TYPE", "expected a string".to_owned()));
    }
    text
}

/// An ISO 8601 datetime with a `T` and an offset; none for other text and for
/// instants before 1970.
#[must_use]
pub(crate) fn parse_instant(text: &str) -> Option<Timestamp> {
    static PARSER: jiff::fmt::temporal::DateTimeParser = jiff::fmt::temporal::DateTimeParser::new();
    if text.as_bytes().get(10) != Some(&b'T') || text.contains('[') {
        return None;
    }
    let instant = PARSER.parse_timestamp(text).ok()?;
    u64::try_from(instant.as_millisecond()).ok().map(Timestamp::from_ms)
}

struct EnvelopeSeed<'a> {
    options_key: &'a str,
}

/// The outer error is broken JSON, the inner one JSON of another shape.
type Shaped<T> = Result<T, String>;

impl<'de> DeserializeSeed<'de> for EnvelopeSeed<'_> {
    type Value = Shaped<Envelope<'de>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for EnvelopeSeed<'_> {
    type Value = Shaped<Envelope<'de>>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "an object with `{}`, or an array", self.options_key)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<Self::Value, A::Error> {
        let (options, unread) = read_options(elements)?;
        Ok(Ok(Envelope { bare: true, options, unread, ..Envelope::default() }))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut envelope = Envelope::default();
        let mut options = None;
        let mut fault = None;
        while let Some(key) = entries.next_key::<std::borrow::Cow<'de, str>>()? {
            let repeated = match &*key {
                "result_token" => envelope.result_token.replace(next_raw(&mut entries)?).is_some(),
                "expires_at" => envelope.expires_at.replace(next_raw(&mut entries)?).is_some(),
                key if key == self.options_key => options.replace(entries.next_value_seed(OptionsSeed)?).is_some(),
                _ => {
                    entries.next_value::<IgnoredAny>()?;
                    false
                }
            };
            if repeated {
                fault = Some(format!("the key `{key}` appears twice"));
            }
        }
        if let Some(fault) = fault {
            return Ok(Err(fault));
        }
        match options {
            Some(Some((options, unread))) => Ok(Ok(Envelope { options, unread, ..envelope })),
            Some(None) => Ok(Err(format!("`{}` is not an array", self.options_key))),
            None => Ok(Err(format!("it has no array `{}`", self.options_key))),
        }
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Err(NEITHER.to_owned()))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Err(NEITHER.to_owned()))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Err(NEITHER.to_owned()))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Err(NEITHER.to_owned()))
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Err(NEITHER.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Err(NEITHER.to_owned()))
    }
}

/// The next value of an object, as it is written.
fn next_raw<'de, A: MapAccess<'de>>(entries: &mut A) -> Result<&'de str, A::Error> {
    entries.next_value::<&RawValue>().map(RawValue::get)
}

const NEITHER: &str = "it is neither an object nor an array";

fn read_options<'de, A: SeqAccess<'de>>(mut elements: A) -> Result<(Vec<Box<RawValue>>, usize), A::Error> {
    let mut options = Vec::new();
    while options.len() < OPTIONS_READ_MAX {
        match elements.next_element()? {
            Some(option) => options.push(option),
            None => return Ok((options, 0)),
        }
    }
    let mut unread = 0;
    while elements.next_element::<IgnoredAny>()?.is_some() {
        unread += 1;
    }
    Ok((options, unread))
}

/// Reads the array of options; `None` when the value is not an array.
struct OptionsSeed;

impl<'de> DeserializeSeed<'de> for OptionsSeed {
    type Value = Option<(Vec<Box<RawValue>>, usize)>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for OptionsSeed {
    type Value = Option<(Vec<Box<RawValue>>, usize)>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an array of options")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<Self::Value, A::Error> {
        read_options(elements).map(Some)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use intent_gateway_domain::limits::PAYLOAD_MAX_DEPTH;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::scan::tests::{json_value, nearly_json};

    fn payload(text: &str) -> Result<SearchPayload, PayloadError> {
        read(text, "slots", &ForbiddenFields::new(&[]))
    }

    fn note_codes(text: &str) -> Vec<String> {
        let payload = payload(text).expect("usable");
        assert_eq!(payload.token, None);
        payload.notes.into_iter().map(|note| format!("{} {}", note.pointer, note.code)).collect()
    }

    #[test]
    fn a_whole_payload() {
        let text = r#"{"result_token":"t","expires_at":"2026-01-01T05:30:00+05:30","slots":[{"a":1}, 2],"x":{}}"#;
        let payload = payload(text).expect("usable");
        let token = BookingToken { result_token: "t".to_owned(), expires_at: Timestamp::from_ms(1_767_225_600_000) };
        assert_eq!(payload.token, Some(token));
        assert_eq!(payload.options.iter().map(|option| option.get()).collect::<Vec<_>>(), [r#"{"a":1}"#, "2"]);
        assert!(payload.notes.is_empty());
    }

    #[test]
    fn a_bare_array_commits_to_nothing_and_is_told_so() {
        assert_eq!(note_codes("[{}]"), [" NO_COMMITMENT"]);
        assert_eq!(payload("[{}]").expect("usable").options.len(), 1);
        assert_eq!(note_codes("[]"), [] as [String; 0], "nothing is offered");
        assert_eq!(
            note_codes(r#"{"slots":[{}]}"#),
            ["/result_token REQUIRED", "/expires_at REQUIRED", " NO_COMMITMENT"]
        );
    }

    #[test]
    fn what_is_not_committed_to_can_be_booked_for_a_quarter_of_an_hour() {
        let now = Timestamp::from_ms(1_767_225_600_000);
        let minutes = |text: &str| payload(text).expect("usable").bookable_until(now).ms_since(now) / 60_000;
        assert_eq!(minutes("[{}]"), 15);
        assert_eq!(minutes(r#"{"slots":[{}]}"#), 15);
        assert_eq!(minutes(r#"{"slots":[{}],"result_token":"t"}"#), 15);
        // The partner's own word, where it gives one: shorter without a token, any with it.
        assert_eq!(minutes(r#"{"slots":[{}],"expires_at":"2026-01-01T00:05:00Z"}"#), 5);
        assert_eq!(minutes(r#"{"slots":[{}],"expires_at":"2026-01-01T01:00:00Z"}"#), 15);
        assert_eq!(minutes(r#"{"slots":[{}],"expires_at":"2026-01-01T01:00:00Z","result_token":"t"}"#), 60);
        assert_eq!(minutes(r#"{"slots":[{}],"expires_at":"2025-12-31T00:00:00Z"}"#), 0);
    }

    #[test]
    fn an_incomplete_envelope_is_noted() {
        assert_eq!(note_codes(r#"{"slots":[]}"#), ["/result_token REQUIRED", "/expires_at REQUIRED"]);
        let wrong = r#"{"slots":[],"result_token":5,"expires_at":"tomorrow"}"#;
        assert_eq!(note_codes(wrong), ["/result_token WRONG_TYPE", "/expires_at BAD_FORMAT"]);
        let no_offset = r#"{"slots":[],"result_token":"","expires_at":"2026-01-01T05:30:00"}"#;
        assert_eq!(note_codes(no_offset), ["/result_token BAD_FORMAT", "/expires_at BAD_FORMAT"]);
    }

    #[test]
    fn other_shapes_are_refused() {
        for text in ["3", "true", "null", "\"x\"", "1.5", "-1", "{}", r#"{"slots":{}}"#, r#"{"slots":1}"#] {
            assert!(matches!(payload(text), Err(PayloadError::Shape(_))), "{text}");
        }
        assert!(matches!(payload(r#"{"slots":[],"slots":[]}"#), Err(PayloadError::Shape(_))));
        for text in ["", "{", "[1,]", "[] x", r#"{"slots":[{"a":}]}"#] {
            assert!(matches!(payload(text), Err(PayloadError::Syntax(_))), "{text}");
        }
    }

    #[test]
    fn what_is_no_json_is_named() {
        let said = |text: &str| payload(text).expect_err("no JSON").to_string();
        assert_eq!(said("<!doctype html><title>Down</title>"), "it is HTML, expected JSON");
        assert_eq!(said("slots:\n  - slot_id: 1\n"), "it is YAML, expected JSON");
        assert!(said("{").starts_with("it is not valid JSON: EOF"), "{}", said("{"));
    }

    #[test]
    fn deep_nesting_is_refused() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(payload(&nested(PAYLOAD_MAX_DEPTH)).is_ok());
        assert_eq!(
            payload(&nested(65)).map_err(|e| e.to_string()).err(),
            Some("it nests 65 levels deep; 64 are allowed".to_owned())
        );
        // Far beyond any stack: neither the parser nor the scan recurses.
        assert_eq!(payload(&nested(1_000_000)).err(), Some(PayloadError::TooDeep(TooDeep { depth: 1_000_000 })));
    }

    #[test]
    fn options_beyond_the_bound_are_counted_not_read() {
        let text = format!("[{}0]", "0,".repeat(OPTIONS_READ_MAX + 4));
        let payload = payload(&text).expect("usable");
        assert_eq!((payload.options.len(), payload.unread), (OPTIONS_READ_MAX, 5));
    }

    fn any_payload() -> impl Strategy<Value = serde_json::Value> {
        let options = || prop::collection::vec(json_value(), 0..4);
        let whole = (options(), json_value(), prop_oneof![Just("expires_at"), Just("result_token"), Just("other")]);
        let whole = whole.prop_map(|(slots, value, name)| json!({"result_token": "t", "slots": slots, name: value}));
        prop_oneof![whole, options().prop_map(Into::into), json_value()]
    }

    proptest! {
        #[test]
        fn the_quick_reading_is_the_strict_one(text in nearly_json(any_payload())) {
            let fields = ForbiddenFields::new(&[]);
            if outline(&text, "slots", &fields).is_some() {
                let quick = read(&text, "slots", &fields).expect("an outline is a payload");
                let strict = read_strictly(&text, "slots").expect("it is one in any case");
                let flaws = examine(&text, Some("slots"), &fields).expect("nor too deep");
                prop_assert_eq!(format!("{quick:?}"), format!("{:?}", strict.into_payload(flaws)));
            }
        }

        #[test]
        fn a_payload_without_a_flaw_is_read_quickly(options in prop::collection::vec("[a-z0-9 ]{0,20}", 0..9)) {
            let slots: Vec<serde_json::Value> = options.iter().map(|text| json!({"id": text, "price": {"inr": 1.5}})).collect();
            let text = json!({"result_token": "t", "expires_at": "2026-01-01T00:00:00Z", "slots": slots}).to_string();
            let fields = ForbiddenFields::new(&[]);
            let outline = outline(&text, "slots", &fields).expect("nothing is wrong");
            prop_assert_eq!(outline.options.len(), options.len());
        }
    }
}
