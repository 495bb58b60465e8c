//! The fields of an intent entry that are stored and left to the reviewer (spec 1, Manifest, intent entry): whatever
//! is wrong with them is a warning.

use serde_json::{Map, Value};

use super::entry::EntryCheck;
use super::submission::{completion_callback, unknown_members};
use intent_gateway_domain::availability::AVAILABILITY_MAX_CHARS;

use super::{DESCRIPTION_MAX_CHARS, Flag, FlagCode, URL_MAX_CHARS, WIDGET_TYPE_MAX_CHARS};
use intent_gateway_domain::availability::Availability;
use intent_gateway_domain::contract::Axes;
use intent_gateway_domain::endpoint::ApiMapping;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::pointer::child;
use intent_gateway_domain::violations::{code, kind, longer_than, quote};

/// The completion address is not the platform's for this partner.
const CALLBACK_MISMATCH: &str = "CALLBACK_MISMATCH";
/// The widget is not the intent's.
const WIDGET_MISMATCH: &str = "WIDGET_MISMATCH";
/// The hours cannot be read, so that they leave nobody out.
const AVAILABILITY_UNREAD: &str = "AVAILABILITY_UNREAD";
/// Declared signals of which this many are at the very top are inflated: nobody is the fastest, the finest and
/// the cheapest at once.
const TOP_SIGNALS_TOLERATED: usize = 2;
/// A mean from which signals count as inflated even without reaching the top.
const INFLATED_MEAN: f64 = 0.95;
/// The axes, as they are written.
const AXES: [&str; 4] = ["time", "taste", "budget", "safety"];

impl<'a> EntryCheck<'a> {
    /// A string member that may be absent; `absent` says what then holds. Anything else than a string of at most so
    /// many characters is kept unread.
    pub(super) fn optional_text(
        &mut self,
        members: &'a Map<String, Value>,
        member: &str,
        max_chars: usize,
        absent: &str,
    ) -> Option<&'a str> {
        let value = members.get(member);
        match value {
            None => self.warn(member, code::REQUIRED, format_args!("{member} is missing; {absent}")),
            Some(Value::String(text)) if !longer_than(text, max_chars) => return Some(text),
            Some(Value::String(_)) => {
                self.warn(member, code::TOO_LONG, format_args!("{member} is longer than {max_chars} characters"));
            }
            Some(other) => {
                self.warn(member, code::WRONG_TYPE, format_args!("{member} must be a string, found {}", kind(other)));
            }
        }
        if let Some(value) = value {
            self.unread.insert(member.to_owned(), value.clone());
        }
        None
    }

    pub(super) fn description(&mut self, members: &'a Map<String, Value>) -> Option<String> {
        let text = self.optional_text(members, "description", DESCRIPTION_MAX_CHARS, "a reviewer may ask for it")?;
        if text.trim().is_empty() {
            self.warn("description", code::EMPTY, "description is empty");
        }
        Some(text.to_owned())
    }

    /// The declared signals; 0.5 for each that is absent or unreadable.
    pub(super) fn ttbs_signals(&mut self, members: &Map<String, Value>) -> Axes {
        let member = "ttbs_signals";
        let signals = match members.get(member) {
            None => {
                self.warn(member, code::REQUIRED, "ttbs_signals is missing; each axis counts as 0.5");
                return Axes::UNDECLARED;
            }
            Some(Value::Object(signals)) => signals,
            Some(other) => {
                self.unread.insert(member.to_owned(), other.clone());
                let message =
                    format_args!("ttbs_signals must be an object with {}, found {}", AXES.join(", "), kind(other));
                self.warn(member, code::WRONG_TYPE, message);
                return Axes::UNDECLARED;
            }
        };
        let (at, label) = (child(&self.at, member), format!("{}: ttbs_signals", self.label));
        unknown_members(signals, &AXES, &at, &label, &mut self.found.warnings);
        let read = AXES.map(|axis| self.signal(signals.get(axis), axis));
        if read.contains(&None) || signals.len() > AXES.len() {
            self.unread.insert(member.to_owned(), Value::Object(signals.clone()));
        }
        let [time, taste, budget, safety] = read.map(|signal| signal.unwrap_or(0.5));
        Axes { time, taste, budget, safety }
    }

    fn signal(&mut self, value: Option<&Value>, axis: &str) -> Option<f64> {
        let member = format!("ttbs_signals/{axis}");
        match value {
            None => {
                self.warn(&member, code::REQUIRED, format_args!("ttbs_signals.{axis} is missing; it counts as 0.5"))
            }
            Some(Value::Number(number)) => {
                let signal = number.as_f64().filter(|signal| (0.0..=1.0).contains(signal));
                if signal.is_none() {
                    let message = format_args!("ttbs_signals.{axis} ({number}) is not between 0 and 1");
                    self.warn(&member, code::OUT_OF_RANGE, message);
                }
                return signal;
            }
            Some(other) => {
                let message = format_args!("ttbs_signals.{axis} must be a number, found {}", kind(other));
                self.warn(&member, code::WRONG_TYPE, message);
            }
        }
        None
    }

    /// Signals that are too good throughout are flagged (spec 1, TTBS signal meaning).
    pub(super) fn flag_inflation(&mut self, intent: &IntentId, signals: Axes) {
        let values = signals.values();
        let top = values.iter().filter(|signal| **signal >= 1.0).count();
        let mean = values.iter().sum::<f64>() / 4.0;
        if top > TOP_SIGNALS_TOLERATED || mean >= INFLATED_MEAN {
            let message = format!("{intent}: the declared signals look inflated ({top} at 1.0, mean {mean:.2})");
            self.found.flags.push(Flag { code: FlagCode::InflatedSignals, intent: intent.clone(), message });
        }
    }

    pub(super) fn availability(&mut self, members: &'a Map<String, Value>) -> Option<String> {
        // Absent or empty means always available (spec 1, `_meta.platform`), so that nothing is missing.
        members.get("availability")?;
        let text = self.optional_text(members, "availability", AVAILABILITY_MAX_CHARS, "")?;
        if let Err(unread) = Availability::parse(text) {
            self.warn(
                "availability",
                AVAILABILITY_UNREAD,
                format_args!("availability {} cannot be read: {unread}", quote(text)),
            );
        }
        Some(text.to_owned())
    }

    pub(super) fn completion_callback(&mut self, members: &'a Map<String, Value>) -> Option<String> {
        let member = "completion_callback";
        let expected = completion_callback(self.terms.base_url, self.terms.partner);
        let written = self.optional_text(members, member, URL_MAX_CHARS, "reports go to the platform's address")?;
        if written != expected {
            let message = format_args!("completion_callback must be {expected}, found {}", quote(written));
            self.warn(member, CALLBACK_MISMATCH, message);
        }
        Some(written.to_owned())
    }

    pub(super) fn widget_type(&mut self, members: &'a Map<String, Value>) -> Option<String> {
        let member = "widget_type";
        let written = self.optional_text(members, member, WIDGET_TYPE_MAX_CHARS, "the intent's widget is used")?;
        if let Some(live) = self.live.filter(|live| live.widget_types.iter().all(|widget| widget != written)) {
            let expected = live.widget_types.join(" or ");
            let message = format_args!("widget_type must be {expected}, found {}", quote(written));
            self.warn(member, WIDGET_MISMATCH, message);
        }
        Some(written.to_owned())
    }

    /// How an API answers the tools (path B).
    pub(super) fn api_mapping(&mut self, members: &Map<String, Value>) -> Option<Value> {
        let member = "api_mapping";
        let mapping = members.get(member)?;
        if !mapping.is_object() {
            self.unread.insert(member.to_owned(), mapping.clone());
            self.warn(member, code::WRONG_TYPE, format_args!("api_mapping must be an object, found {}", kind(mapping)));
            return None;
        }
        // What can be seen without the API; the probe compares the mapping with what the API says of itself.
        let shape = self.live.and_then(|live| live.shape.as_ref());
        let found = match ApiMapping::check(mapping) {
            Ok(mapping) => shape.map(|shape| mapping.compare(shape)).unwrap_or_default(),
            Err(violations) => violations,
        };
        for violation in found {
            let message = format_args!("api_mapping{}: {}", violation.pointer, violation.message);
            self.warn(&format!("{member}{}", violation.pointer), &violation.code, message);
        }
        Some(mapping.clone())
    }
}
