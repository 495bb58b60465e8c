//! Makes a document wrong in ways that happen: members dropped, doubled or of another type, numbers at and beyond
//! every edge, long and odd texts, deep nesting, a text cut short, a bit flipped.

use std::ops::Range;

use fastrand::Rng;
use intent_gateway_domain::limits::{PAYLOAD_MAX_DEPTH, REQUEST_BODY_MAX_BYTES};

use super::spans::{Kind, Place, Spans};

/// Changes made to one document at most.
const CHANGES_MAX: usize = 4;
/// Longest text that is put in, bytes.
const LONG_TEXT_BYTES: usize = 64 * 1024;

/// Numbers at the edges of what readers take.
const NUMBERS: [&str; 20] = [
    "0",
    "-0",
    "-1",
    "1",
    "0.5",
    "-0.0001",
    "1e-400",
    "1e400",
    "-1e400",
    "1E+2",
    "9007199254740993",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "18446744073709551616",
    "123456789012345678901234567890123456789012345678901234567890",
    "0.1000000000000000055511151231257827021181583404541015625",
    "3.0000000000000000000000000000000000000000000000000001",
];

/// Values of every other kind, some of which look like one that is asked for.
const OTHERS: [&str; 14] = [
    "null",
    "true",
    "false",
    "{}",
    "[]",
    "\"\"",
    "\" \"",
    "\"0\"",
    "\"true\"",
    "[null]",
    "[[]]",
    "{\"\":null}",
    "[{}]",
    "{\"a\":{\"a\":{}}}",
];

/// Texts that trip readers: escapes, halves of surrogate pairs, bidirectional marks, times that never were.
const TEXTS: [&str; 18] = [
    r#""\ud800""#,
    r#""\udfff\ud800""#,
    r#""\u0000""#,
    r#""\u""#,
    r#""\x""#,
    r#""\\\"\/\b\f\n\r\t""#,
    r#""🦀""#,
    r#""e\u0301\u0301\u0301""#,
    "\"\u{202e}olleh\"",
    "\"\u{feff}\"",
    r#""0000-00-00T00:00:00Z""#,
    r#""9999-12-31T23:59:60+23:59""#,
    r#""2026-02-30T25:61:61-99:99""#,
    r#""-262144-01-01T00:00:00Z""#,
    r#""https://""#,
    r#""https://[::1]:99999/%zz""#,
    r#""+000000000000000000000""#,
    r#""../../etc/passwd""#,
];

/// Changes a document in one to four places.
pub(super) fn document(text: &str, rng: &mut Rng) -> String {
    let mut mutated = text.to_owned();
    for _ in 0..rng.usize(1..=CHANGES_MAX) {
        let changed = once(&mutated, rng);
        // The gateway lets nothing larger or deeper through to a contract.
        if changed.len() <= REQUEST_BODY_MAX_BYTES && Spans::of(&changed).depth <= PAYLOAD_MAX_DEPTH {
            mutated = changed;
        }
    }
    mutated
}

/// Changes a plain text, an utterance or a name, in one place.
pub(super) fn plain(text: &str, rng: &mut Rng) -> String {
    match rng.u8(0..6) {
        0 => String::new(),
        1 => long(rng),
        2 => cut(text, rng),
        3 => flip(text, rng),
        4 => text.to_uppercase(),
        _ => {
            let at = boundary(text, rng);
            let odd = TEXTS[rng.usize(..TEXTS.len())].trim_matches('"');
            format!("{}{odd}{}", &text[..at], &text[at..])
        }
    }
}

fn once(text: &str, rng: &mut Rng) -> String {
    let spans = Spans::of(text);
    let Some(place) = rng.choice(&spans.places) else {
        return OTHERS[rng.usize(..OTHERS.len())].to_owned();
    };
    match rng.u8(0..16) {
        0 | 1 => taken_out(text, place),
        2 => double(text, place),
        3..=5 => replace(text, place.value.clone(), NUMBERS[rng.usize(..NUMBERS.len())]),
        6 | 7 => replace(text, place.value.clone(), OTHERS[rng.usize(..OTHERS.len())]),
        8 | 9 => replace(text, place.value.clone(), TEXTS[rng.usize(..TEXTS.len())]),
        10 => replace(text, place.value.clone(), &format!("\"{}\"", long(rng))),
        11 => nest(text, place, rng),
        12 => swap(text, place, rng.choice(&spans.places)),
        13 => crowd(text, place, rng),
        14 => cut(text, rng),
        _ => flip(text, rng),
    }
}

fn replace(text: &str, range: Range<usize>, with: &str) -> String {
    // A broken text may have ranges that part a character; it is left as it is then.
    match (text.get(..range.start), text.get(range.end..)) {
        (Some(before), Some(after)) => [before, with, after].concat(),
        _ => text.to_owned(),
    }
}

/// Without the member or entry, and without one of the commas around it.
fn taken_out(text: &str, place: &Place) -> String {
    if !place.nested {
        return replace(text, place.value.clone(), "");
    }
    let Range { mut start, mut end } = place.whole();
    let bytes = text.as_bytes();
    if bytes.get(end) == Some(&b',') {
        end += 1;
    } else if start > 0 && bytes[start - 1] == b',' {
        start -= 1;
    }
    replace(text, start..end, "")
}

/// The member or entry a second time, behind itself.
fn double(text: &str, place: &Place) -> String {
    let whole = place.whole();
    let Some(again) = text.get(whole.clone()) else { return text.to_owned() };
    replace(text, whole.end..whole.end, &format!(",{again}"))
}

/// The value inside so many arrays or objects.
fn nest(text: &str, place: &Place, rng: &mut Rng) -> String {
    let times = rng.usize(1..=PAYLOAD_MAX_DEPTH);
    let (open, close) = if rng.bool() { ("[", "]") } else { ("{\"x\":", "}") };
    let Some(value) = text.get(place.value.clone()) else { return text.to_owned() };
    let deep = [&open.repeat(times), value, &close.repeat(times)].concat();
    replace(text, place.value.clone(), &deep)
}

/// The value of another place instead of its own.
fn swap(text: &str, place: &Place, other: Option<&Place>) -> String {
    match other.and_then(|other| text.get(other.value.clone())) {
        Some(value) => replace(text, place.value.clone(), value),
        None => text.to_owned(),
    }
}

/// Many entries in an array, many members in an object; any other value in an array of its like.
fn crowd(text: &str, place: &Place, rng: &mut Rng) -> String {
    let Some(value) = text.get(place.value.clone()) else { return text.to_owned() };
    let times = rng.usize(2..=1_000);
    let crowd = match place.kind {
        Kind::Object => {
            let members: Vec<String> = (0..times).map(|number| format!("\"k{number}\":{number}")).collect();
            format!("{{{}}}", members.join(","))
        }
        Kind::Array | Kind::Text | Kind::Plain => format!("[{}]", vec![value; times].join(",")),
    };
    replace(text, place.value.clone(), &crowd)
}

fn long(rng: &mut Rng) -> String {
    let unit = ["a", "ß", "🦀", "\\u0041", " ", "0"][rng.usize(..6)];
    unit.repeat(rng.usize(1..=LONG_TEXT_BYTES) / unit.len())
}

fn boundary(text: &str, rng: &mut Rng) -> usize {
    let mut at = rng.usize(..=text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn cut(text: &str, rng: &mut Rng) -> String {
    text[..boundary(text, rng)].to_owned()
}

/// One bit of one ASCII character flipped; the text stays UTF-8, as the interface guarantees.
fn flip(text: &str, rng: &mut Rng) -> String {
    let at = boundary(text, rng);
    match text[at..].chars().next() {
        Some(letter) if letter.is_ascii() => {
            let other = char::from(letter as u8 ^ (1 << rng.u8(0..7)));
            replace(text, at..at + 1, &other.to_string())
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"a":{"b":[1,2.5,"drei",null]},"c":true,"täxt":"ö"}"#;

    #[test]
    fn the_same_seed_gives_the_same_documents() {
        let documents = |seed| {
            let mut rng = Rng::with_seed(seed);
            (0..200).map(|_| document(TEXT, &mut rng)).collect::<Vec<_>>()
        };
        assert_eq!(documents(7), documents(7));
        assert_ne!(documents(7), documents(8));
    }

    #[test]
    fn documents_differ_and_stay_within_what_the_gateway_lets_through() {
        let mut rng = Rng::with_seed(1);
        let all: Vec<String> = (0..2_000).map(|_| document(TEXT, &mut rng)).collect();
        let still_json = all.iter().filter(|text| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()).count();
        // Most of the rules of a contract lie behind its parser.
        assert!((800..1_900).contains(&still_json), "{still_json} of {} are JSON", all.len());
        for kind in ["1e400", r"\ud800", "[[[[[[[", r#""c":true,"c":true"#] {
            assert!(all.iter().any(|text| text.contains(kind)), "never {kind}");
        }
        assert!(all.iter().any(|text| text.len() > LONG_TEXT_BYTES / 2));
        assert!(all.iter().all(|text| text.len() <= REQUEST_BODY_MAX_BYTES));
        assert!(all.iter().all(|text| Spans::of(text).depth <= PAYLOAD_MAX_DEPTH));
        let different: std::collections::BTreeSet<&String> = all.iter().collect();
        assert!(different.len() > 1_000, "{}", different.len());
    }

    #[test]
    fn single_changes() {
        let spans = Spans::of(TEXT);
        let place = |text: &str| spans.places.iter().find(|place| &TEXT[place.value.clone()] == text).expect("there");
        assert!(taken_out(TEXT, place("true")).ends_with(r#"]},"täxt":"ö"}"#));
        assert!(taken_out(TEXT, place("null")).contains(r#""drei"]"#));
        assert!(double(TEXT, place("1")).contains("[1,1,2.5"));
        assert!(double(TEXT, place("true")).contains(r#""c":true,"c":true"#));
        assert!(swap(TEXT, place("true"), Some(place("2.5"))).contains(r#""c":2.5"#));
    }

    #[test]
    fn plain_texts_change_too() {
        let mut rng = Rng::with_seed(1);
        let all: Vec<String> = (0..100).map(|_| plain("my car's AC", &mut rng)).collect();
        assert!(all.iter().filter(|text| *text != "my car's AC").count() > 80);
        let _ = plain("", &mut rng);
    }
}
