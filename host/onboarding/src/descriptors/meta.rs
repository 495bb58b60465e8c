//! What a tool says to the platform in `_meta.platform`, with the defaults of the specification.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Expected;
use crate::manifest::{Currency, PLACE_MAX_CHARS, Pricing, SERVICE_AREA_MAX};
use intent_gateway_domain::availability::AVAILABILITY_MAX_CHARS;
use intent_gateway_domain::contract::{Axes, Descriptor};
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::place::WHOLE_COUNTRY;
use intent_gateway_domain::pointer::child;
use intent_gateway_domain::violations::{Violations, code, kind, longer_than, quote};

/// The price range is the wrong way round.
const MIN_ABOVE_MAX: &str = "MIN_ABOVE_MAX";
/// The widget is not the intent's.
const WIDGET_MISMATCH: &str = "WIDGET_MISMATCH";
/// The completion address is not the platform's for this partner.
pub const CALLBACK_MISMATCH: &str = "CALLBACK_MISMATCH";

/// What is read of `_meta.platform` (spec 1, `_meta.platform` fields read). A field that is absent or unreadable has
/// its default; the latter is reported.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlatformMeta {
    /// The intent that the tool serves.
    pub intent: IntentId,
    /// Namespace of the intent.
    pub domain: String,
    /// Floor and ceiling of one completed order; default 0 to 0 INR.
    pub pricing: Pricing,
    /// Cities and postal codes; default none.
    pub service_area: Vec<String>,
    /// The partner's own rating; default 0.5 each.
    pub ttbs_signals: Axes,
    /// Hours of operation; default always.
    pub availability: String,
    /// The widget that the tool names; default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub widget_type: Option<String>,
    /// The completion address that the tool names; default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_callback: Option<String>,
}

/// Reads the block of one tool.
pub(super) struct MetaReader<'a> {
    /// Pointer to the block.
    pub(super) at: String,
    /// How messages name the tool.
    pub(super) label: String,
    pub(super) block: &'a Map<String, Value>,
    pub(super) warnings: &'a mut Violations,
}

impl MetaReader<'_> {
    pub(super) fn read(mut self, contract: &Descriptor, expected: &Expected<'_>) -> PlatformMeta {
        PlatformMeta {
            intent: contract.intent.clone(),
            domain: contract.intent.domain().to_owned(),
            pricing: self.pricing(),
            service_area: self.service_area(),
            ttbs_signals: self.ttbs_signals(),
            availability: self.availability(),
            widget_type: self.widget_type(contract),
            completion_callback: self.completion_callback(expected.completion_callback),
        }
    }

    fn warn(&mut self, member: &str, code: &str, message: impl std::fmt::Display) {
        let at = member.split('/').fold(self.at.clone(), |at, segment| child(&at, segment));
        self.warnings.push(at, code, format!("{}: _meta.platform.{}{message}", self.label, member.replace('/', ".")));
    }

    fn object(&mut self, member: &str) -> Option<Map<String, Value>> {
        match self.block.get(member)? {
            Value::Object(members) => Some(members.clone()),
            other => {
                self.warn(member, code::WRONG_TYPE, format_args!(" must be an object, found {}", kind(other)));
                None
            }
        }
    }

    fn text(&mut self, member: &str) -> Option<String> {
        match self.block.get(member)? {
            Value::String(text) => Some(text.clone()),
            other => {
                self.warn(member, code::WRONG_TYPE, format_args!(" must be a string, found {}", kind(other)));
                None
            }
        }
    }

    fn pricing(&mut self) -> Pricing {
        let default = Pricing { min: 0.into(), max: 0.into(), currency: Currency::Inr };
        let Some(members) = self.object("pricing") else { return default };
        let mut bound = |name: &str| match members.get(name) {
            None => Some(0.into()),
            Some(Value::Number(number)) if number.as_f64().is_some_and(|value| value >= 0.0) => Some(number.clone()),
            Some(other) => {
                let message = format_args!(" must be a number from 0, found {}", show(other));
                self.warn(&format!("pricing/{name}"), code::OUT_OF_RANGE, message);
                None
            }
        };
        let (Some(min), Some(max)) = (bound("min"), bound("max")) else { return default };
        if min.as_f64() > max.as_f64() {
            self.warn("pricing/min", MIN_ABOVE_MAX, format_args!(" ({min}) exceeds pricing.max ({max})"));
            return default;
        }
        match members.get("currency") {
            None => {}
            Some(Value::String(currency)) if currency == "INR" => {}
            Some(other) => {
                let message = format_args!(" must be INR, found {}", show(other));
                self.warn("pricing/currency", code::UNEXPECTED_VALUE, message);
            }
        }
        Pricing { min, max, currency: Currency::Inr }
    }

    fn service_area(&mut self) -> Vec<String> {
        let places = match self.block.get("service_area") {
            None => return Vec::new(),
            Some(Value::Array(places)) => places,
            Some(other) => {
                let message = format_args!(" must be an array of strings, found {}", kind(other));
                self.warn("service_area", code::WRONG_TYPE, message);
                return Vec::new();
            }
        };
        if places.len() > SERVICE_AREA_MAX {
            let message = format_args!(" has {} entries, more than {SERVICE_AREA_MAX}", places.len());
            self.warn("service_area", code::TOO_MANY_ITEMS, message);
        }
        let mut read = Vec::new();
        for (index, place) in places.iter().enumerate().take(SERVICE_AREA_MAX) {
            match place.as_str().map(str::trim) {
                Some(name) if !name.is_empty() && !longer_than(name, PLACE_MAX_CHARS) => read.push(name.to_owned()),
                _ => {
                    let message = format_args!(" is no place name or postal code, nor {WHOLE_COUNTRY}");
                    self.warn(&format!("service_area/{index}"), code::BAD_FORMAT, message);
                }
            }
        }
        read
    }

    fn ttbs_signals(&mut self) -> Axes {
        let Some(signals) = self.object("ttbs_signals") else { return Axes::UNDECLARED };
        let [time, taste, budget, safety] = ["time", "taste", "budget", "safety"].map(|axis| {
            let Some(value) = signals.get(axis) else { return 0.5 };
            let signal = value.as_f64().filter(|signal| (0.0..=1.0).contains(signal));
            if signal.is_none() {
                let message = format_args!(" must be a number from 0 to 1, found {}", show(value));
                self.warn(&format!("ttbs_signals/{axis}"), code::OUT_OF_RANGE, message);
            }
            signal.unwrap_or(0.5)
        });
        Axes { time, taste, budget, safety }
    }

    fn availability(&mut self) -> String {
        let Some(text) = self.text("availability") else { return String::new() };
        if longer_than(&text, AVAILABILITY_MAX_CHARS) {
            let message = format_args!(" is longer than {AVAILABILITY_MAX_CHARS} characters");
            self.warn("availability", code::TOO_LONG, message);
            return String::new();
        }
        text
    }

    fn widget_type(&mut self, contract: &Descriptor) -> Option<String> {
        let named = self.text("widget_type")?;
        let widget = &contract.widget;
        if named != widget.widget_type && widget.preferred.as_ref() != Some(&named) {
            let message = format_args!(" must be {}, found {}", widget.widget_type, quote(&named));
            self.warn("widget_type", WIDGET_MISMATCH, message);
            return None;
        }
        Some(named)
    }

    fn completion_callback(&mut self, expected: &str) -> Option<String> {
        let named = self.text("completion_callback")?;
        if named != expected {
            let message = format_args!(" must be {expected}, found {}", quote(&named));
            self.warn("completion_callback", CALLBACK_MISMATCH, message);
            return None;
        }
        Some(named)
    }
}

/// A value for a message: short ones as they are, others by their type.
fn show(value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => quote(text),
        other => kind(other).to_owned(),
    }
}
