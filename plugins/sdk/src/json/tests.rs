//! The parser against `serde_json`.

use super::*;
use proptest::prelude::*;
use serde_json::{Map, Value};

fn value(from: &mut Parser<'_>) -> Value {
    match from.peek() {
        b'"' => Value::from(from.string()),
        b'-' | b'0'..=b'9' => match from.number() {
            Number::Int(number) => Value::from(number),
            Number::Float(number) => Value::from(number),
        },
        b'[' => {
            from.open();
            let mut list = Vec::new();
            while from.more(b']', list.is_empty()) {
                list.push(value(from));
            }
            Value::from(list)
        }
        b'{' => {
            from.open();
            let mut map = Map::new();
            let mut first = true;
            while from.more(b'}', first) {
                let key = from.key();
                map.insert(key.into_owned(), value(from));
                first = false;
            }
            Value::from(map)
        }
        b't' => {
            from.literal("true");
            Value::Bool(true)
        }
        b'f' => {
            from.literal("false");
            Value::Bool(false)
        }
        _ => {
            from.literal("null");
            Value::Null
        }
    }
}

fn parse(text: &str) -> Result<Value, Broken> {
    let mut parser = Parser::new(text);
    let value = value(&mut parser);
    parser.end().map(|()| value)
}

fn skips(text: &str) -> bool {
    let mut parser = Parser::new(text);
    parser.skip();
    parser.end().is_ok()
}

/// Floats that differ only because `serde_json` rounds some of them to a neighbour count as the same.
fn same_value(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => match (left.as_f64(), right.as_f64()) {
            (Some(left), Some(right)) => (left - right).abs() <= left.abs() * 1e-15,
            _ => false,
        },
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same_value(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|((key, left), (other, right))| key == other && same_value(left, right))
        }
        _ => left == right,
    }
}

fn agrees(text: &str) {
    match (serde_json::from_str::<Value>(text), parse(text)) {
        (Ok(expected), Ok(found)) => assert!(same_value(&expected, &found), "{text:?}: {found} for {expected}"),
        (Err(error), Ok(found)) => {
            assert!(error.to_string().contains("number out of range"), "{text:?}: accepted as {found}, but {error}");
        }
        (Ok(expected), Err(error)) => panic!("{text:?}: {error}, but it is {expected}"),
        (Err(_), Err(_)) => {}
    }
    assert_eq!(skips(text), parse(text).is_ok(), "{text:?}");
}

#[test]
fn corner_cases_agree_with_serde_json() {
    for text in [
        "",
        " ",
        "nul",
        "null",
        "nullx",
        "true false",
        "\u{feff}null",
        "[",
        "]",
        "[]",
        "[,]",
        "[1,]",
        "[1 2]",
        "[1,,2]",
        "{",
        "{}",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{\"a\":1 \"b\":2}",
        "{a:1}",
        "{\"a\":1}}",
        "{1:2}",
        "0",
        "-0",
        "-",
        "--1",
        "+1",
        "01",
        "-01",
        "1.",
        ".1",
        "1.e1",
        "1e",
        "1e+",
        "1E-2",
        "0e0",
        "0.0",
        "1e999",
        "-1e999",
        "1e-999",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "18446744073709551616",
        "123456789012345678901234567890",
        "0.1",
        "4.35",
        "2.5e-3",
        "9007199254740993",
        "9007199254740993.0",
        "1.7976931348623157e308",
        "5e-324",
        "0x10",
        "1_000",
        "NaN",
        "Infinity",
        "\"",
        "\"\\\"",
        "\"a\\\"b\\\\c\\/d\\b\\f\\n\\r\\t\"",
        "\"\\u00e9\\ud83d\\ude00\"",
        "\"\\ud83d\"",
        "\"\\ud83dx\"",
        "\"\\ude00\"",
        "\"\\ud83d\\u0041\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\x\"",
        "\"a\nb\"",
        "\"a\u{7f}b\"",
        "\"\u{0}\"",
        "\"12345678\\n12345678\"",
        "\"é日本\\u65e5😀\"",
        "'a'",
        "\t[ 1 ,\r\n2 ]\n",
        "[1]\u{c}",
        "[1]\u{a0}",
        "{\"a\":1,\"a\":2}",
        "[\"\\",
        "\"\\u",
        "\"\\ud83d\\u\"",
        "{\"a\" : [ { } ] }",
    ] {
        agrees(text);
    }
}

#[test]
fn depth_is_bounded_alike() {
    for depth in [1, 126, 127, 128, 129, 10_000] {
        agrees(&format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
        agrees(&format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth)));
    }
}

#[test]
fn numbers_are_rounded_right() {
    for text in ["4.35", "0.1", "123456.789", "9007199254740993.0", "3e22", "1.5e-22", "7.0e23", "0.30000000000000004"]
    {
        let mut parser = Parser::new(text);
        assert_eq!(parser.number(), Number::Float(text.parse().unwrap()), "{text}");
    }
}

#[test]
fn keys_are_taken_by_name() {
    let mut parser = Parser::new(" { \"ab\" : 1 , \"\\u0061b\" : 2 }");
    assert_eq!(parser.peek(), b'{');
    parser.open();
    assert!(!parser.take_key(true, "\"a\":") && !parser.take_key(true, "\"abc\":"));
    assert!(parser.take_key(true, "\"ab\":"));
    assert_eq!(parser.raw(), "1");
    assert!(!parser.take_key(false, "\"ab\":"));
    assert!(parser.more(b'}', false));
    assert_eq!(parser.key(), "ab");
    parser.skip();
    assert!(!parser.more(b'}', false));
    assert_eq!(parser.end(), Ok(()));
}

#[test]
fn texts_are_compared_as_the_library_does() {
    let text = b"abcdefghijklmnopqrstuvwxyz";
    for length in 0..text.len() {
        assert!(same(&text[..length], &text[..length]));
        assert!(!same(&text[..length], &text[..=length]));
        let (once, twice) = (&text[..length], [&text[..length]; 2].concat());
        assert_eq!(same(once, &twice), length == 0, "{length}");
        for place in 0..length {
            let mut other = text[..length].to_vec();
            other[place] ^= 1;
            assert!(!same(&text[..length], &other), "{length} {place}");
        }
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no infinity", |number| number.is_finite()).prop_map(Value::from),
        (-10_000_000_i64..10_000_000).prop_map(|cents| Value::from(cents as f64 / 100.0)),
        "\\PC{0,20}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map("\\PC{0,12}", inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_serde_json_writes_is_read_back(document in any_json()) {
        agrees(&document.to_string());
        agrees(&serde_json::to_string_pretty(&document).unwrap());
    }

    #[test]
    fn broken_text_is_refused_alike(document in any_json(), at in any::<prop::sample::Index>(), byte in "[ -~\\n]") {
        let text = document.to_string();
        let places: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
        let place = places[at.index(places.len())];
        agrees(&text[..place]);
        agrees(&format!("{}{byte}{}", &text[..place], &text[place..]));
        let behind = place + text[place..].chars().next().map_or(0, char::len_utf8);
        agrees(&format!("{}{byte}{}", &text[..place], &text[behind..]));
    }

    #[test]
    fn anything_at_all_is_judged_alike(text in "[\\[\\]{}:,\"\\\\ 0-9eE+.a-fntu-]{0,24}") {
        agrees(&text);
    }
}
