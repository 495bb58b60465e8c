//! The scan for forbidden fields: over raw payloads, at any depth, whatever the contract does (spec 1, What the
//! service does, 7; the contracts' own lists come with their descriptors).
//!
//! Two steps. A structural pass over the bytes tells at the speed of a string search whether any key may be
//! forbidden (and does not have the one value that is permitted), and how deep the payload nests; nearly every
//! payload ends there. Only a suspicious payload is
//! walked exactly, with JSON Pointers. The first step may suspect too much, never too little.

use std::collections::BTreeMap;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use intent_gateway_domain::contract::{Breach, ForbiddenField, Violation};
use intent_gateway_domain::limits::BREACHES_REPORTED_MAX;
use intent_gateway_domain::pointer::child;

/// Code of every violation found here.
pub const FORBIDDEN_FIELD: &str = "FORBIDDEN_FIELD";

/// The platform's own list.
const PLATFORM_FIELDS: [(&str, Breach, &str); 11] = [
    ("paid_placement_score", Breach::Present, "placement is never paid for"),
    ("ad_bid", Breach::Present, "placement is never paid for"),
    ("sponsored_rank", Breach::Present, "placement is never paid for"),
    ("promotion_priority", Breach::Present, "placement is never paid for"),
    ("kickback_amount", Breach::Present, "answers are not shaped by commission"),
    ("referral_fee_kickback", Breach::Present, "answers are not shaped by commission"),
    ("_partner_revenue_share", Breach::Present, "answers are not shaped by commission"),
    ("artificial_urgency_text", Breach::UnlessEmpty, "no intent defines inventory data that could back it"),
    ("ai_generated_photo", Breach::UnlessFalse, "photos show what is real"),
    ("ai_generated_photos", Breach::UnlessFalse, "photos show what is real"),
    ("photo_ai_generated", Breach::UnlessFalse, "photos show what is real"),
];

/// One rule. A key may have two, the platform's and the contract's: a contract can add and never relax.
#[derive(Clone, Copy, Debug)]
struct Rule<'a> {
    name: &'a str,
    breach: Breach,
    reason: &'a str,
}

/// The platform's list together with one contract's.
#[derive(Clone, Debug)]
pub struct ForbiddenFields<'a> {
    rules: Vec<Rule<'a>>,
    /// Bit n: some name has n bytes (63 stands for 63 and more).
    lengths: u64,
}

/// What the structural pass saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Structure {
    /// Deepest nesting of objects and arrays.
    pub depth: usize,
    /// Whether some key may be forbidden.
    pub(crate) suspicious: bool,
}

/// Where the breaches of one payload are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Breaches {
    /// Outside the options; pointers into the payload.
    pub outside: Vec<Violation>,
    /// By position of the option; pointers into the option.
    pub options: BTreeMap<usize, Vec<Violation>>,
}

impl<'a> ForbiddenFields<'a> {
    /// The platform's fields and those that a contract adds. Cheap: nothing is copied.
    #[must_use]
    pub fn new(additional: &'a [ForbiddenField]) -> Self {
        let platform = PLATFORM_FIELDS.into_iter().map(|(name, breach, reason)| Rule { name, breach, reason });
        let contract =
            additional.iter().map(|field| Rule { name: &field.name, breach: field.breach, reason: &field.reason });
        let rules: Vec<Rule<'a>> = platform.chain(contract).collect();
        let lengths = rules.iter().fold(0, |bits, rule| bits | length_bit(rule.name.len()));
        Self { rules, lengths }
    }

    /// Whether a member may be forbidden: by its name, unless its value is just the one that the rule permits.
    fn suspects(&self, key: &[u8], value: &[u8]) -> bool {
        self.lengths & length_bit(key.len()) != 0
            && self.rules.iter().any(|rule| rule.name.as_bytes() == key && is_broken(rule.breach, Kind::seen(value)))
    }

    /// The structural pass. The text must be valid JSON; on other text the result means nothing.
    #[must_use]
    pub fn inspect(&self, json: &str) -> Structure {
        let bytes = json.as_bytes();
        let (mut at, mut depth, mut deepest, mut suspicious) = (0, 0_usize, 0, false);
        while let Some(&byte) = bytes.get(at) {
            at += 1;
            match byte {
                b'"' => {
                    let (end, escaped) = string_end(bytes, at);
                    if let Some(value) = value_after(bytes, end + 1)
                        && (escaped || self.suspects(&bytes[at..end.min(bytes.len())], value))
                    {
                        suspicious = true;
                    }
                    at = end + 1;
                }
                b'{' | b'[' => {
                    depth += 1;
                    deepest = deepest.max(depth);
                }
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        Structure { depth: deepest, suspicious }
    }

    /// The exact walk. `options_key` names the array of options of an object payload; of a bare array every
    /// element is an option.
    ///
    /// # Errors
    /// When the text cannot be walked as JSON, for example for a number beyond every range.
    pub fn breaches(&self, json: &str, options_key: &str) -> Result<Breaches, serde_json::Error> {
        let mut walk = Walk { fields: self, options_key, path: Vec::new(), found: Breaches::default(), count: 0 };
        let mut deserializer = serde_json::Deserializer::from_str(json);
        Value { walk: &mut walk }.deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(walk.found)
    }
}

fn length_bit(length: usize) -> u64 {
    1 << length.min(63)
}

/// Position of the quote that ends the string whose content starts at `from`, and whether it holds escapes.
fn string_end(bytes: &[u8], from: usize) -> (usize, bool) {
    let (mut at, mut escaped) = (from, false);
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        if bytes[at] == b'"' {
            return (at, escaped);
        }
        escaped = true;
        at += 2;
    }
    (bytes.len(), escaped)
}

/// What follows the text that ended before, if it is a member's name: the value, from its first byte on.
fn value_after(bytes: &[u8], at: usize) -> Option<&[u8]> {
    Some(trim_start(trim_start(bytes.get(at..)?).strip_prefix(b":")?))
}

/// Without the blanks of JSON in front.
fn trim_start(bytes: &[u8]) -> &[u8] {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    &bytes[bytes.iter().position(|byte| !blank(byte)).unwrap_or(bytes.len())..]
}

/// What a value is, as far as a conditional rule asks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    False,
    Null,
    EmptyString,
    Other,
}

impl Kind {
    /// By the first bytes of a value of valid JSON.
    fn seen(value: &[u8]) -> Self {
        if value.starts_with(b"false") {
            Self::False
        } else if value.starts_with(b"null") {
            Self::Null
        } else if value.starts_with(b"\"\"") {
            Self::EmptyString
        } else {
            Self::Other
        }
    }
}

fn is_broken(breach: Breach, kind: Kind) -> bool {
    match breach {
        Breach::Present => true,
        Breach::UnlessFalse => kind != Kind::False,
        Breach::UnlessEmpty => !matches!(kind, Kind::Null | Kind::EmptyString),
    }
}

enum Segment {
    Key(String),
    Index(usize),
}

struct Walk<'a> {
    fields: &'a ForbiddenFields<'a>,
    options_key: &'a str,
    path: Vec<Segment>,
    found: Breaches,
    count: usize,
}

impl Walk<'_> {
    /// Judges the value just read under `key`, which is still the last segment of the path.
    fn judge(&mut self, key: &str, kind: Kind) {
        let mut rules = self.fields.rules.iter();
        let Some(rule) = rules.find(|rule| rule.name == key && is_broken(rule.breach, kind)) else { return };
        let message = format!("`{}` must not appear in an answer: {}", rule.name, rule.reason);
        let (option, own) = self.locate();
        // The first breach of each option always counts; beyond the bound the rest would only repeat it.
        let listed = match option {
            Some(position) => self.found.options.entry(position).or_default(),
            None => &mut self.found.outside,
        };
        if listed.is_empty() || self.count < BREACHES_REPORTED_MAX {
            let pointer = pointer(&self.path[own..]);
            listed.push(Violation { pointer, code: FORBIDDEN_FIELD.to_owned(), message });
            self.count += 1;
        }
    }

    /// The option that the path leads into, and how many segments lead to it.
    fn locate(&self) -> (Option<usize>, usize) {
        match self.path.as_slice() {
            [Segment::Index(position), _, ..] => (Some(*position), 1),
            [Segment::Key(key), Segment::Index(position), _, ..] if key == self.options_key => (Some(*position), 2),
            _ => (None, 0),
        }
    }
}

/// Renders a JSON Pointer (RFC 6901).
fn pointer(path: &[Segment]) -> String {
    let mut text = String::new();
    for segment in path {
        text = match segment {
            Segment::Key(key) => child(&text, key),
            Segment::Index(index) => format!("{text}/{index}"),
        };
    }
    text
}

struct Value<'w, 'a> {
    walk: &'w mut Walk<'a>,
}

impl<'de> DeserializeSeed<'de> for Value<'_, '_> {
    type Value = Kind;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Kind, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_, '_> {
    type Value = Kind;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Kind, E> {
        Ok(if value { Kind::Other } else { Kind::False })
    }

    fn visit_unit<E>(self) -> Result<Kind, E> {
        Ok(Kind::Null)
    }

    fn visit_str<E>(self, value: &str) -> Result<Kind, E> {
        Ok(if value.is_empty() { Kind::EmptyString } else { Kind::Other })
    }

    fn visit_i64<E>(self, _: i64) -> Result<Kind, E> {
        Ok(Kind::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Kind, E> {
        Ok(Kind::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Kind, E> {
        Ok(Kind::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Kind, A::Error> {
        for index in 0.. {
            self.walk.path.push(Segment::Index(index));
            let element = elements.next_element_seed(Value { walk: &mut *self.walk })?;
            self.walk.path.pop();
            if element.is_none() {
                break;
            }
        }
        Ok(Kind::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Kind, A::Error> {
        while let Some(key) = entries.next_key::<String>()? {
            self.walk.path.push(Segment::Key(key.clone()));
            let kind = entries.next_value_seed(Value { walk: &mut *self.walk })?;
            self.walk.judge(&key, kind);
            self.walk.path.pop();
        }
        Ok(Kind::Other)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(json: &str) -> Breaches {
        let padded = [ForbiddenField {
            name: "commission_padded_price".to_owned(),
            breach: Breach::Present,
            reason: "prices are not padded".to_owned(),
        }];
        let fields = ForbiddenFields::new(&padded);
        let breaches = fields.breaches(json, "slots").expect("valid JSON");
        let any = !breaches.outside.is_empty() || !breaches.options.is_empty();
        // The fast pass never clears what the walk finds.
        assert!(fields.inspect(json).suspicious || !any, "{json}");
        breaches
    }

    #[test]
    fn the_one_permitted_value_is_no_suspicion() {
        let suspicious = |json: &str| ForbiddenFields::new(&[]).inspect(json).suspicious;
        for permitted in [
            r#"{"ai_generated_photos":false}"#,
            r#"{"a":[{"photo_ai_generated" : false , "b":1}]}"#,
            r#"{"artificial_urgency_text":null,"x":{"artificial_urgency_text":""}}"#,
        ] {
            assert!(!suspicious(permitted), "{permitted}");
        }
        for suspect in [
            r#"{"ai_generated_photos":true}"#,
            r#"{"ai_generated_photos":"false"}"#,
            r#"{"ai_generated_photos":null}"#,
            r#"{"ai_generated_photos":false,"ai_generated_photos":0}"#,
            r#"{"artificial_urgency_text":false}"#,
            r#"{"artificial_urgency_text":" "}"#,
            r#"{"ad_bid":false}"#,
            r#"{"\u0061d_bid":false}"#,
        ] {
            assert!(suspicious(suspect), "{suspect}");
        }
    }

    #[test]
    fn every_platform_field_is_found_at_any_depth() {
        for (name, _, _) in PLATFORM_FIELDS {
            let json = format!(r#"{{"slots":[{{"a":1}},{{"b":[{{"{name}":"x"}}]}}]}}"#);
            let found = found(&json);
            assert!(found.outside.is_empty());
            assert_eq!(found.options.keys().collect::<Vec<_>>(), [&1], "{name}");
            assert_eq!(found.options[&1][0].pointer, format!("/b/0/{name}"));
        }
    }

    #[test]
    fn conditional_fields_follow_their_value() {
        for (json, broken) in [
            (r#"{"slots":[{"ai_generated_photo":false}]}"#, false),
            (r#"{"slots":[{"ai_generated_photo":true}]}"#, true),
            (r#"{"slots":[{"ai_generated_photo":null}]}"#, true),
            (r#"{"slots":[{"ai_generated_photo":"false"}]}"#, true),
            (r#"{"slots":[{"ai_generated_photo":true,"ai_generated_photo":false}]}"#, true),
            (r#"{"slots":[{"artificial_urgency_text":""}]}"#, false),
            (r#"{"slots":[{"artificial_urgency_text":null}]}"#, false),
            (r#"{"slots":[{"artificial_urgency_text":"Only 2 left!"}]}"#, true),
            (r#"{"slots":[{"artificial_urgency_text":[]}]}"#, true),
            (r#"{"slots":[{"ad_bid":null}]}"#, true),
        ] {
            assert_eq!(!found(json).options.is_empty(), broken, "{json}");
        }
    }

    #[test]
    fn a_contract_adds_fields_and_relaxes_none() {
        assert!(!found(r#"{"slots":[{"commission_padded_price":0}]}"#).options.is_empty());
        let relaxed =
            [ForbiddenField { name: "ad_bid".to_owned(), breach: Breach::UnlessEmpty, reason: String::new() }];
        let relaxed = ForbiddenFields::new(&relaxed);
        assert!(!relaxed.breaches(r#"[{"ad_bid":""}]"#, "slots").expect("valid JSON").options.is_empty());
    }

    #[test]
    fn outside_the_options_is_told_apart() {
        assert_eq!(found(r#"{"slots":[],"meta":{"ad_bid":1}}"#).outside[0].pointer, "/meta/ad_bid");
        assert_eq!(found(r#"{"slots":{"ad_bid":1}}"#).outside[0].pointer, "/slots/ad_bid");
        assert_eq!(found(r#"[{"ad_bid":1}]"#).options[&0][0].pointer, "/ad_bid");
    }

    #[test]
    fn escaped_keys_do_not_hide() {
        assert_eq!(found(r#"[{"ad\u005fbid":1}]"#).options.len(), 1);
        assert_eq!(found(r#"[{"ad_bid" : 1}]"#).options.len(), 1);
    }

    #[test]
    fn values_are_not_keys() {
        let found = found(r#"[{"note":"ad_bid","text":"\"ad_bid\":1"}]"#);
        assert_eq!(found, Breaches::default());
        assert!(!ForbiddenFields::new(&[]).inspect(r#"[{"note":"ad_bid"}]"#).suspicious);
    }

    #[test]
    fn depth_ignores_brackets_in_strings() {
        assert_eq!(ForbiddenFields::new(&[]).inspect(r#"{"a":["[[[{{"]}"#).depth, 2);
        assert_eq!(ForbiddenFields::new(&[]).inspect(&format!("{}{}", "[".repeat(90), "]".repeat(90))).depth, 90);
    }

    fn json_value() -> impl Strategy<Value = serde_json::Value> {
        let key = prop_oneof!["[a-z\"\\\\]{0,4}", Just("ad_bid".to_owned()), Just("slots".to_owned())];
        let leaf = prop_oneof![
            any::<bool>().prop_map(Into::into),
            "[ -~]{0,8}".prop_map(Into::into),
            Just(serde_json::Value::Null),
            any::<i32>().prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 40, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                prop::collection::vec((key.clone(), inner), 0..4)
                    .prop_map(|entries| serde_json::Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    fn holds(value: &serde_json::Value) -> bool {
        match value {
            serde_json::Value::Array(elements) => elements.iter().any(holds),
            serde_json::Value::Object(entries) => entries.iter().any(|(key, value)| key == "ad_bid" || holds(value)),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn the_walk_agrees_with_a_plain_search(value in json_value()) {
            let breaches = found(&value.to_string());
            let any = !breaches.outside.is_empty() || !breaches.options.is_empty();
            prop_assert_eq!(any, holds(&value));
        }
    }
}
