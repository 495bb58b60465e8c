//! The fields of an intent entry that are checked at submit (spec 1, Manifest, intent entry), and the version rule.

use std::cmp::Ordering;

use semver::Version;
use serde_json::{Map, Number, Value};

use intent_gateway_domain::place::{Place, WHOLE_COUNTRY};

use super::submission::{SubmissionFindings, Terms, unknown_members};
use super::{
    Currency, Entry, Flag, FlagCode, LiveIntent, PLACE_MAX_CHARS, Pricing, SERVICE_AREA_MAX, VERSION_MAX_CHARS,
};
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::money::compare_amounts;
use intent_gateway_domain::platform_code::INVALID_INTENT;
use intent_gateway_domain::pointer::child;
use intent_gateway_domain::violations::{code, kind, longer_than, quote};

/// The domain is not the namespace of the intent.
const DOMAIN_MISMATCH: &str = "DOMAIN_MISMATCH";
/// The price range is the wrong way round.
const MIN_ABOVE_MAX: &str = "MIN_ABOVE_MAX";
/// No currency was named; INR is assumed. A warning.
const CURRENCY_ASSUMED: &str = "CURRENCY_ASSUMED";
/// The version is above that of the live contract.
const VERSION_ABOVE_LIVE: &str = "VERSION_ABOVE_LIVE";
/// The version is below that of the live contract. A warning.
const VERSION_NOT_LIVE: &str = "VERSION_NOT_LIVE";
/// The entry names its intent by an alias. A warning.
const ALIAS_RESOLVED: &str = "ALIAS_RESOLVED";
/// An entry of the service area that reads like no place. A warning.
const PLACE_IMPLAUSIBLE: &str = "PLACE_IMPLAUSIBLE";
const PLACE_UNKNOWN: &str = "PLACE_UNKNOWN";
/// Members of an entry.
const MEMBERS: [&str; 11] = [
    "intent",
    "domain",
    "pricing",
    "service_area",
    "description",
    "ttbs_signals",
    "availability",
    "completion_callback",
    "widget_type",
    "intent_version",
    "api_mapping",
];

/// The check of one entry.
pub(super) struct EntryCheck<'a> {
    /// Pointer to the entry.
    pub(super) at: String,
    /// How messages name it: by its intent, or by its position where that cannot be read.
    pub(super) label: String,
    entry: &'a Value,
    pub(super) terms: &'a Terms<'a>,
    pub(super) live: Option<&'a LiveIntent>,
    pub(super) found: &'a mut SubmissionFindings,
    /// Readable as JSON and as nothing else.
    pub(super) unread: Map<String, Value>,
}

impl<'a> EntryCheck<'a> {
    pub(super) fn new(index: usize, entry: &'a Value, terms: &'a Terms<'a>, found: &'a mut SubmissionFindings) -> Self {
        let intent = entry.get("intent").and_then(Value::as_str).filter(|text| IntentId::parse(text).is_ok());
        Self {
            at: format!("/intents/{index}"),
            label: intent.map_or_else(|| format!("intents[{index}]"), str::to_owned),
            entry,
            terms,
            live: intent.and_then(|intent| terms.catalogue.live(intent)),
            found,
            unread: Map::new(),
        }
    }

    /// Reads the entry; `None` when it refuses the submission.
    pub(super) fn read(mut self) -> Option<Entry> {
        let Some(members) = self.entry.as_object() else {
            let message = format!("{}: the entry must be an object, found {}", self.label, kind(self.entry));
            self.found.refusals.push(self.at, code::WRONG_TYPE, message);
            return None;
        };
        let intent = self.intent(members);
        let domain = self.domain(members);
        let pricing = self.pricing(members);
        let service_area = self.service_area(members);
        let description = self.description(members);
        let ttbs_signals = self.ttbs_signals(members);
        let availability = self.availability(members);
        let completion_callback = self.completion_callback(members);
        let widget_type = self.widget_type(members);
        let intent_version = self.intent_version(members);
        let api_mapping = self.api_mapping(members);
        let unknown = unknown_members(members, &MEMBERS, &self.at, &self.label, &mut self.found.warnings);
        self.unread.extend(unknown);
        let intent = intent?;
        self.flag_inflation(&intent, ttbs_signals);
        let service_area = service_area?;
        if service_area.iter().any(|place| place == WHOLE_COUNTRY) {
            let message = format!("{intent}: claims the whole country ({WHOLE_COUNTRY}); verify that it serves it");
            self.found.flags.push(Flag { code: FlagCode::VerifyWholeCountry, intent: intent.clone(), message });
        }
        Some(Entry {
            intent,
            domain: domain?,
            pricing: pricing?,
            service_area,
            description,
            ttbs_signals,
            availability,
            completion_callback,
            widget_type,
            intent_version: intent_version?,
            api_mapping,
            unread: self.unread,
        })
    }

    /// Refuses the submission for a member.
    fn refuse(&mut self, member: &str, code: &str, message: impl std::fmt::Display) {
        let message = format!("{}: {message}", self.label);
        self.found.refusals.push(format!("{}/{member}", self.at), code, message);
    }

    pub(super) fn warn(&mut self, member: &str, code: &str, message: impl std::fmt::Display) {
        let message = format!("{}: {message}", self.label);
        self.found.warnings.push(format!("{}/{member}", self.at), code, message);
    }

    /// A string member that must be there.
    fn required_text(&mut self, members: &'a Map<String, Value>, member: &str) -> Option<&'a str> {
        match members.get(member) {
            None => self.refuse(member, code::REQUIRED, format_args!("{member} is missing")),
            Some(Value::String(text)) => return Some(text),
            Some(other) => {
                self.refuse(member, code::WRONG_TYPE, format_args!("{member} must be a string, found {}", kind(other)));
            }
        }
        None
    }

    fn intent(&mut self, members: &'a Map<String, Value>) -> Option<IntentId> {
        let written = self.required_text(members, "intent")?;
        if let Some(live) = self.live {
            if live.intent.as_str() != written {
                let message = format_args!("another name of {}, under which the entry is kept", live.intent);
                self.warn("intent", ALIAS_RESOLVED, message);
            }
            return Some(live.intent.clone());
        }
        let shown = quote(written);
        match self.terms.catalogue.resolve(written) {
            Some(meant) => {
                self.refuse(
                    "intent",
                    INVALID_INTENT,
                    format_args!("there is no intent {shown}; did you mean {meant}?"),
                );
            }
            None => self.refuse(
                "intent",
                INVALID_INTENT,
                format_args!("there is no intent {shown}; GET /api/v1/intents lists those that there are"),
            ),
        }
        None
    }

    fn domain(&mut self, members: &'a Map<String, Value>) -> Option<String> {
        let written = self.required_text(members, "domain")?;
        let namespace = IntentId::parse(&self.label).ok().map(|intent| intent.domain().to_owned());
        // An entry under an alias may give the namespace of either name; that of the intent is kept.
        if let Some(live) = self.live.filter(|live| live.intent.domain() == written) {
            return Some(live.intent.domain().to_owned());
        }
        if let Some(namespace) = namespace.filter(|namespace| namespace != written) {
            let shown = quote(written);
            self.refuse(
                "domain",
                DOMAIN_MISMATCH,
                format_args!("domain must be {namespace}, the namespace of the intent, found {shown}"),
            );
            return None;
        }
        Some(self.live.map_or(written, |live| live.intent.domain()).to_owned())
    }

    fn pricing(&mut self, members: &Map<String, Value>) -> Option<Pricing> {
        let pricing = match members.get("pricing") {
            None => {
                self.refuse("pricing", code::REQUIRED, "pricing is missing");
                return None;
            }
            Some(Value::Object(pricing)) => pricing,
            Some(other) => {
                let message =
                    format_args!("pricing must be an object with min, max and currency, found {}", kind(other));
                self.refuse("pricing", code::WRONG_TYPE, message);
                return None;
            }
        };
        let min = self.price(pricing, "min");
        let max = self.price(pricing, "max");
        let currency = self.currency(pricing);
        let at = child(&self.at, "pricing");
        let label = format!("{}: pricing", self.label);
        let unknown = unknown_members(pricing, &["min", "max", "currency"], &at, &label, &mut self.found.warnings);
        if !unknown.is_empty() {
            self.unread.insert("pricing".to_owned(), Value::Object(unknown));
        }
        let (min, max) = (min?, max?);
        if compare_amounts(min, max).is_gt() {
            let message = format_args!("pricing.min ({min}) exceeds pricing.max ({max})");
            self.refuse("pricing/min", MIN_ABOVE_MAX, message);
            return None;
        }
        Some(Pricing { min: min.clone(), max: max.clone(), currency: currency? })
    }

    fn price<'p>(&mut self, pricing: &'p Map<String, Value>, bound: &str) -> Option<&'p Number> {
        let member = format!("pricing/{bound}");
        match pricing.get(bound) {
            None => self.refuse(&member, code::REQUIRED, format_args!("pricing.{bound} is missing")),
            Some(Value::Number(number)) if compare_amounts(number, &Number::from(0)).is_lt() => {
                self.refuse(&member, code::OUT_OF_RANGE, format_args!("pricing.{bound} ({number}) is below 0"));
            }
            Some(Value::Number(number)) => return Some(number),
            Some(other) => {
                let message = format_args!("pricing.{bound} must be a number, found {}", kind(other));
                self.refuse(&member, code::WRONG_TYPE, message);
            }
        }
        None
    }

    fn currency(&mut self, pricing: &Map<String, Value>) -> Option<Currency> {
        let member = "pricing/currency";
        match pricing.get("currency") {
            None => {
                self.warn(member, CURRENCY_ASSUMED, "pricing.currency is missing; INR is assumed");
                Some(Currency::Inr)
            }
            Some(Value::String(currency)) if currency == "INR" => Some(Currency::Inr),
            Some(Value::String(other)) => {
                let message = format_args!("pricing.currency must be INR, found {}", quote(other));
                self.refuse(member, code::UNEXPECTED_VALUE, message);
                None
            }
            Some(other) => {
                let message = format_args!("pricing.currency must be the string INR, found {}", kind(other));
                self.refuse(member, code::WRONG_TYPE, message);
                None
            }
        }
    }

    fn service_area(&mut self, members: &Map<String, Value>) -> Option<Vec<String>> {
        let member = "service_area";
        let places = match members.get(member) {
            None => {
                self.refuse(member, code::REQUIRED, "service_area is missing");
                return None;
            }
            Some(Value::Array(places)) => places,
            Some(other) => {
                let message = format_args!("service_area must be an array of strings, found {}", kind(other));
                self.refuse(member, code::WRONG_TYPE, message);
                return None;
            }
        };
        if places.is_empty() {
            self.refuse(member, code::TOO_FEW_ITEMS, "service_area must name at least one place");
            return None;
        }
        if places.len() > SERVICE_AREA_MAX {
            let message = format_args!("service_area has {} entries, more than {SERVICE_AREA_MAX}", places.len());
            self.refuse(member, code::TOO_MANY_ITEMS, message);
            return None;
        }
        // Collected without stopping at the first `None`: each bad entry is reported.
        let read: Vec<_> = places.iter().enumerate().map(|(index, place)| self.place(index, place)).collect();
        read.into_iter().collect()
    }

    fn place(&mut self, index: usize, place: &Value) -> Option<String> {
        let member = format!("service_area/{index}");
        let name = format!("service_area[{index}]");
        let Value::String(written) = place else {
            self.refuse(&member, code::WRONG_TYPE, format_args!("{name} must be a string, found {}", kind(place)));
            return None;
        };
        let place = written.trim();
        if place.is_empty() {
            self.refuse(&member, code::EMPTY, format_args!("{name} is empty"));
            return None;
        }
        if longer_than(place, PLACE_MAX_CHARS) {
            let message = format_args!("{name} is longer than {PLACE_MAX_CHARS} characters");
            self.refuse(&member, code::TOO_LONG, message);
            return None;
        }
        if !is_plausible_place(place) {
            let message = format_args!(
                "{name} is neither {WHOLE_COUNTRY} nor a six-digit postal code nor an English city name: {}",
                quote(place)
            );
            self.warn(&member, PLACE_IMPLAUSIBLE, message);
        } else if place != WHOLE_COUNTRY && !Place::parse(place).is_some_and(|place| place.is_known()) {
            let message = format_args!(
                "{name} is no city or postal code that the gateway knows: {}; only requests that name it in the same way \
                 reach you, so check its spelling, or list the city or the codes around it",
                quote(place)
            );
            self.warn(&member, PLACE_UNKNOWN, message);
        }
        Some(place.to_owned())
    }

    /// The version, `Some(None)` where it cannot be read; `None` when it refuses the submission.
    fn intent_version(&mut self, members: &'a Map<String, Value>) -> Option<Option<String>> {
        let member = "intent_version";
        let Some(written) = self.optional_text(members, member, VERSION_MAX_CHARS, "the live version is assumed")
        else {
            return Some(None);
        };
        let Some(version) = parse_version(written) else {
            self.unread.insert(member.to_owned(), written.into());
            let message = format_args!("intent_version is no semantic version: {}", quote(written));
            self.warn(member, code::BAD_FORMAT, message);
            return Some(None);
        };
        if let Some(live) = self.live {
            match version.cmp_precedence(&live.version) {
                Ordering::Greater => {
                    let message = format_args!("intent_version {version} is above the live version {}", live.version);
                    self.refuse(member, VERSION_ABOVE_LIVE, message);
                    return None;
                }
                Ordering::Less => {
                    let message = format_args!("intent_version {version} is not the live version {}", live.version);
                    self.warn(member, VERSION_NOT_LIVE, message);
                }
                Ordering::Equal => {}
            }
        }
        Some(Some(version.to_string()))
    }
}

/// Reads a semantic version, with or without a leading `v`.
pub(super) fn parse_version(written: &str) -> Option<Version> {
    Version::parse(written.strip_prefix('v').unwrap_or(written)).ok()
}

/// Whether a text reads like a place: the whole country, a postal code, or a name in English letters. Which
/// cities there are is not asked: a reviewer knows better than any list.
fn is_plausible_place(place: &str) -> bool {
    if place == WHOLE_COUNTRY {
        return true;
    }
    if place.contains(|c: char| c.is_ascii_digit()) {
        // Often written with a gap after the third digit; no code starts with 0.
        let digits: Vec<u8> = place.bytes().filter(|byte| *byte != b' ').collect();
        let gap = place.len() == 6 || (place.len() == 7 && place.as_bytes().get(3) == Some(&b' '));
        return gap && digits.len() == 6 && digits.iter().all(u8::is_ascii_digit) && digits[0] != b'0';
    }
    let letters = place.chars().filter(char::is_ascii_alphabetic).count();
    letters >= 2 && place.chars().all(|c| c.is_ascii_alphabetic() || matches!(c, ' ' | '-' | '\'' | '.' | '(' | ')'))
}
