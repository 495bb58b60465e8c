//! A shape with every type and every bound that the derive knows, broken field by field.

use contract_sdk::common::{PartnerReference, Place, TtbsUserBand};
use contract_sdk::shape::{
    Amount, Date, DateTime, Described, False, HttpsUrl, Inr, LocaleTag, Nullable, Phone, RawJson, SemverText, Text,
    WebUrl, read_document,
};
use contract_sdk::testing::assert_shape;
use contract_sdk::{MAX_VIOLATIONS, Shape, UserBands, Vocabulary, docs, schema};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Everything.
#[derive(Shape)]
#[expect(dead_code, reason = "most fields are only read from JSON")]
struct Everything<'a> {
    /// Any text.
    any_text: Cow<'a, str>,
    /// A name.
    name: Text<'a>,
    /// A word of Rust.
    #[shape(rename = "type")]
    kind: Style,
    /// A key that a JSON Pointer escapes.
    #[shape(rename = "a/b~c")]
    odd_key: bool,
    /// A text of bounded length.
    #[shape(min_len = 80, max_len = 90)]
    description: Cow<'a, str>,
    /// A text of one length.
    #[shape(len = 4)]
    last4: Text<'a>,
    /// A text of one value.
    #[shape(equals = "INR")]
    currency: Text<'a>,
    /// A bounded integer.
    #[shape(min = -5, max = 5)]
    small: i64,
    /// One of three integers.
    #[shape(one_of = [0, 3, 5])]
    years: i64,
    /// A bounded number.
    #[shape(min = 0.5, max = 6)]
    hours: f64,
    /// Whole money.
    #[shape(min = 0)]
    total_inr: Inr,
    /// Exact money.
    amount_inr: Amount,
    /// Perhaps exact money.
    tips_inr: Option<Amount>,
    /// Exact money or null.
    fee_inr: Nullable<Amount>,
    /// Never true.
    ai_generated_photos: False,
    /// An instant.
    at: DateTime,
    /// A day.
    day: Date,
    /// A day or null.
    last_day: Nullable<Date>,
    /// A secure link.
    link: HttpsUrl<'a>,
    /// A link.
    photo: WebUrl<'a>,
    /// A phone.
    phone: Phone<'a>,
    /// A phone or null.
    help_desk: Nullable<Phone<'a>>,
    /// A language.
    locale: LocaleTag<'a>,
    /// A version.
    version: SemverText<'a>,
    /// Styles, at least one.
    #[shape(min_items = 1)]
    styles: Vec<Style>,
    /// A week.
    #[shape(items = 7)]
    week: Vec<Hours>,
    /// Grades, three at most.
    #[shape(max_items = 3, min = 1, max = 5)]
    grades: Vec<i64>,
    /// Perhaps a style or null.
    maybe: Option<Nullable<Style>>,
    /// A place or null.
    place: Nullable<Place>,
    /// Perhaps bands.
    bands: Option<TtbsUserBand<'a>>,
    /// Where it comes from.
    partner_reference: PartnerReference<'a>,
    /// A block that nobody reads.
    fare: RawJson<'a>,
}

/// Styles.
#[derive(Debug, Clone, Copy, PartialEq, Vocabulary)]
enum Style {
    Hatha,
    PowerYoga,
    #[value("hot_yoga_40c")]
    Hot,
}

/// Hours of a day.
#[derive(Shape)]
#[expect(dead_code, reason = "most fields are only read from JSON")]
struct Hours {
    /// Whether it is open.
    open: bool,
    /// Minutes since midnight.
    #[shape(min = 0, max = 1440)]
    from_minute: Option<i64>,
}

fn sound() -> Value {
    json!({
        "any_text": "", "name": "Asha", "type": "power_yoga", "a/b~c": true, "description": "x".repeat(85),
        "last4": "48é1", "currency": "INR", "small": -3, "years": 3, "hours": 2.5, "total_inr": 100,
        "amount_inr": 99.95, "tips_inr": 0, "fee_inr": 1.5, "ai_generated_photos": false,
        "at": "2026-05-04T10:00:00+05:30", "day": "2026-05-04", "last_day": "2027-05-03",
        "link": "https://partner.example/x", "photo": "http://partner.example/p.jpg", "phone": "+919800000000",
        "help_desk": "+911800000000", "locale": "en-IN", "version": "1.0.0", "styles": ["hatha", "hot_yoga_40c"],
        "week": vec![json!({"open": true, "from_minute": 360}); 7], "grades": [1, 5], "maybe": "hatha",
        "place": {"lat": 12.9, "lng": -77.6},
        "bands": {"time": "fast", "taste": "balanced", "budget": "ok", "safety": "good"},
        "partner_reference": {"source": "example", "deeplink": "https://partner.example/1"}, "fare": {"any": [1]},
    })
}

fn codes(json: &str) -> Vec<(String, String)> {
    let violations = read_document::<Everything>(json).err().unwrap_or_default();
    violations.into_iter().map(|found| (found.pointer, found.code)).collect()
}

#[test]
fn every_breakage_of_every_field() {
    let tried = assert_shape(&Everything::DESC, &sound(), |json| read_document::<Everything>(json).map(drop));
    assert!(tried > 450, "{tried}");
}

#[test]
fn values_come_out_as_they_went_in() {
    let text = sound().to_string();
    let read: Everything = read_document(&text).unwrap();
    assert_eq!((read.kind, read.kind.value()), (Style::PowerYoga, "power_yoga"));
    assert_eq!((read.amount_inr.paise, read.fee_inr.0.unwrap().paise), (9995, 150));
    assert_eq!(read.fare.0, "{\"any\":[1]}");
    assert_eq!(read.last4.chars().count(), 4);
    assert_eq!(read.week.len(), 7);
    assert_eq!(read.week[0].from_minute, Some(360));
    assert_eq!(read.styles, [Style::Hatha, Style::Hot]);
    assert!(matches!(read.any_text, Cow::Borrowed("")));
    assert_eq!(UserBands::of(&read.bands).budget, Some("ok"));
}

#[test]
fn integers_follow_json_schema() {
    let with = |text: &str| sound().to_string().replace("\"small\":-3", &format!("\"small\":{text}"));
    for text in ["3.0", "3e0", "30e-1", "-0", "0.5e1"] {
        assert!(read_document::<Everything>(&with(text)).is_ok(), "{text}");
    }
    for (text, code) in [
        ("3.5", "WRONG_TYPE"),
        ("\"3\"", "WRONG_TYPE"),
        ("true", "WRONG_TYPE"),
        ("6", "OUT_OF_RANGE"),
        ("1e999", "OUT_OF_RANGE"),
        ("9223372036854775808", "OUT_OF_RANGE"),
    ] {
        assert_eq!(codes(&with(text)), [("/small".to_owned(), code.to_owned())], "{text}");
    }
    let infinite = sound().to_string().replace("\"hours\":2.5", "\"hours\":1e999");
    assert_eq!(codes(&infinite), [("/hours".to_owned(), "OUT_OF_RANGE".to_owned())]);
}

#[test]
fn unknown_keys_pass_and_declared_ones_may_be_written_with_escapes() {
    let mut more = sound();
    more["unknown"] = json!({"a": [1, {"b": null}]});
    let text = more.to_string().replace("\"name\"", "\"n\\u0061me\"");
    assert!(read_document::<Everything>(&text).is_ok());
    let twice = text.replacen('{', "{\"unknown\":1,\"unknown\":2,", 1);
    assert!(read_document::<Everything>(&twice).is_ok());
    let twice = text.replacen('{', "{\"name\":\"x\",", 1);
    assert_eq!(codes(&twice), [("/name".to_owned(), "DUPLICATE_KEY".to_owned())]);
}

#[test]
fn what_is_not_json_is_told_once() {
    for text in ["", "{", "{\"small\":\"x\",}", "nope", "{}x", &sound().to_string()[1..]] {
        assert_eq!(codes(text), [(String::new(), "INVALID_JSON".to_owned())], "{text}");
    }
    assert_eq!(codes("[]"), [(String::new(), "WRONG_TYPE".to_owned())]);
    assert!(codes(&"[".repeat(100_000)).contains(&(String::new(), "INVALID_JSON".to_owned())));
}

#[test]
fn violations_are_bounded() {
    let mut many = sound();
    many["grades"] = json!(vec![0; 500]);
    assert_eq!(codes(&many.to_string()).len(), MAX_VIOLATIONS);
}

#[test]
fn schemas_and_docs_tell_the_same() {
    let schema = schema::of(&Everything::DESC);
    let property = |name: &str| {
        let mut property = schema["properties"][name].clone();
        property.as_object_mut().unwrap().remove("description");
        property
    };
    for (name, expected) in [
        ("type", json!({"type": "string", "enum": ["hatha", "power_yoga", "hot_yoga_40c"]})),
        ("description", json!({"type": "string", "minLength": 80, "maxLength": 90})),
        ("last4", json!({"type": "string", "pattern": "\\S", "minLength": 4, "maxLength": 4})),
        ("currency", json!({"const": "INR"})),
        ("years", json!({"type": "integer", "enum": [0, 3, 5]})),
        ("hours", json!({"type": "number", "minimum": 0.5, "maximum": 6})),
        ("ai_generated_photos", json!({"const": false})),
        ("at", json!({"type": "string", "format": "date-time"})),
        ("last_day", json!({"type": ["string", "null"], "format": "date"})),
        ("grades", json!({"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 5}, "maxItems": 3})),
        ("maybe", json!({"type": ["string", "null"], "enum": ["hatha", "power_yoga", "hot_yoga_40c", null]})),
        ("fare", json!({})),
    ] {
        assert_eq!(property(name), expected, "{name}");
    }
    assert_eq!(
        (&schema["properties"]["week"]["minItems"], &schema["properties"]["week"]["maxItems"]),
        (&json!(7), &json!(7))
    );
    let required = schema["required"].as_array().unwrap();
    assert!(required.contains(&json!("last_day")) && !required.contains(&json!("maybe")));
    let rows = docs::rows(&Everything::DESC);
    let row = |pointer: &str| rows.iter().find(|row| row.pointer == pointer).unwrap();
    assert_eq!(row("/week/*/from_minute").bounds, "at least 0, at most 1440");
    assert_eq!(row("/last_day").kind, "ISO 8601 date or null");
    assert!(!row("/bands").required && row("/bands/time").doc.starts_with("How soon"));
}
