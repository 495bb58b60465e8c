use intent_gateway_domain::contract::{Breach, ForbiddenField};
use intent_gateway_domain::forbidden::{ForbiddenFields, PLATFORM_FIELDS};
use intent_gateway_domain::limits::{
    ANSWER_NAME_MAX_CHARS, ANSWER_NUMBER_MAX_CHARS, ANSWER_TEXT_MAX_CHARS, FLAWS_REPORTED_MAX,
};
use intent_gateway_domain::unseen::is_unseen;
use proptest::prelude::*;
use serde_json::json;

use super::text::{json_in, may_be_json};
use super::*;

/// What is found in an answer with options under `slots`.
fn found(json: &str) -> Scanned {
    let padded = [ForbiddenField {
        name: "commission_padded_price".to_owned(),
        breach: Breach::Present,
        reason: "prices are not padded".to_owned(),
    }];
    let fields = ForbiddenFields::new(&padded);
    let scanned = walk(json, Some("slots"), &fields);
    // The quick pass never clears what the walk finds.
    assert!(!quick::is_harmless(json, &fields) || scanned == Scanned::default(), "{json}");
    scanned
}

fn is_suspect(json: &str) -> bool {
    !quick::is_harmless(json, &ForbiddenFields::new(&[]))
}

/// The codes found in the only option, with their pointers: forbidden fields, then the rest.
fn codes(option: &str) -> Vec<String> {
    let mut scanned = found(&format!(r#"{{"slots":[{option}]}}"#));
    assert_eq!(scanned.outside, Flaws::default(), "{option}");
    let flaws = scanned.options.remove(&0).unwrap_or_default();
    flaws.forbidden.iter().chain(&flaws.malformed).map(|flaw| format!("{} {}", flaw.code, flaw.pointer)).collect()
}

#[test]
fn the_one_permitted_value_is_no_suspicion() {
    for permitted in [
        r#"{"ai_generated_photos":false}"#,
        r#"{"a":[{"photo_ai_generated" : false , "b":1}]}"#,
        r#"{"artificial_urgency_text":null,"x":{"artificialUrgencyText":""}}"#,
    ] {
        assert!(!is_suspect(permitted), "{permitted}");
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
        assert!(is_suspect(suspect), "{suspect}");
    }
}

#[test]
fn every_platform_field_is_found_at_any_depth() {
    for (name, _, _) in PLATFORM_FIELDS {
        let json = format!(r#"{{"slots":[{{"a":1}},{{"b":[{{"{name}":"x"}}]}}]}}"#);
        let found = found(&json);
        assert_eq!(found.outside, Flaws::default());
        assert_eq!(found.options.keys().collect::<Vec<_>>(), [&1], "{name}");
        assert_eq!(found.options[&1].forbidden[0].pointer, format!("/b/0/{name}"));
    }
}

#[test]
fn conditional_fields_follow_their_value() {
    for (option, is_broken) in [
        (r#"{"ai_generated_photo":false}"#, false),
        (r#"{"ai_generated_photo":true}"#, true),
        (r#"{"ai_generated_photo":null}"#, true),
        (r#"{"ai_generated_photo":"false"}"#, true),
        (r#"{"ai_generated_photo":true,"ai_generated_photo":false}"#, true),
        (r#"{"artificial_urgency_text":""}"#, false),
        (r#"{"artificial_urgency_text":null}"#, false),
        (r#"{"artificial_urgency_text":"Only 2 left!"}"#, true),
        (r#"{"artificial_urgency_text":[]}"#, true),
        (r#"{"ad_bid":null}"#, true),
        (r#"{"commission_padded_price":0}"#, true),
    ] {
        assert_eq!(codes(option).iter().any(|code| code.starts_with("FORBIDDEN_FIELD")), is_broken, "{option}");
    }
}

#[test]
fn a_forbidden_name_is_found_in_every_disguise() {
    for name in [
        "AD_BID",
        "adBid",
        "ad-bid",
        "ad bid",
        "ad.bid",
        r"ad\u005fbid",
        r"ad\u0000_bid",
        r"ad_bid\u0000",
        "\u{430}d_bid",
        r"\u0430d_b\u0456d",
        "ad\u{200b}_bid",
        r"ad_\u200dbid",
        "\u{feff}ad_bid",
        "ａｄ＿ｂｉｄ",
        "ad_b\u{131}d",
        "ad_b1d",
    ] {
        let codes = codes(&format!(r#"{{"deep":[{{"{name}" : 1}}]}}"#));
        assert!(codes.iter().any(|code| code.starts_with("FORBIDDEN_FIELD /deep/0/")), "{name}: {codes:?}");
    }
    for name in ["bad_bid", "ad_bids", "ad", "load_bidirectional", "advertised_bid", "ids"] {
        assert_eq!(codes(&format!(r#"{{"{name}":1}}"#)), [] as [String; 0], "{name}");
        assert!(!is_suspect(&format!(r#"{{"{name}":1}}"#)), "{name}");
    }
}

#[test]
fn json_in_a_text_is_looked_into() {
    let once = json!({"ad_bid": 5}).to_string();
    let twice = json!([{"more": once}]).to_string();
    let thrice = json!({"more": twice}).to_string();
    let quoted = serde_json::Value::from(once.as_str()).to_string();
    for text in [
        &once,
        &twice,
        &thrice,
        &quoted,
        &format!(" \n{once}"),
        &format!("\u{feff}{once}"),
        &once.replace("ad_bid", "AdBid"),
    ] {
        assert_eq!(codes(&json!({"meta": text}).to_string()), ["FORBIDDEN_FIELD /meta"], "{text}");
    }
    for written in [r#""\u007b\"ad_bid\":1}""#, r#""\t[{\"ad_bid\":1}]""#, r#""\uFEFF{\"ad_bid\":1}""#] {
        assert_eq!(codes(&format!(r#"{{"meta":{written}}}"#)), ["FORBIDDEN_FIELD /meta"], "{written}");
    }
    let mut packed = once.clone();
    for _ in 0..6 {
        packed = json!({"more": packed}).to_string();
    }
    // However deep it nests, broken off, with something before, between and behind it; a name may be JSON, too.
    for text in [
        &packed,
        &format!("{}{once}{}", "[".repeat(100), "]".repeat(100)),
        &"[".repeat(200).replace("[[[", "[[{\"ad_bid\":1},["),
        r#"{"ad_bid":5,}"#,
        r#"{"ad_bid":5"#,
        r#"{}{"ad_bid":5}"#,
        "[1]\n{\"ad_bid\" : 5}",
        "\u{a0}{\"ad_bid\":5}",
        "\u{200b}\u{2003}\u{3000}\u{e0101}{\"ad_bid\":5}",
        "\u{1d173}\u{3164}\u{115f}\u{34f}\u{61c}{\"ad_bid\":5}",
        r#"{"{\"ad_bid\":5}":1}"#,
        r#"{"\u0061d_bid":5}"#,
    ] {
        let codes = codes(&json!({"meta": text}).to_string());
        assert_eq!(codes, ["FORBIDDEN_FIELD /meta"], "{text}");
    }
    let named = codes(&json!({"{\"ad_bid\":5}": 1}).to_string());
    assert!(named.iter().all(|code| code.starts_with("FORBIDDEN_FIELD /{")) && named.len() == 1, "{named:?}");
    for text in [
        "\"{ad_bid}\" is said",
        "{ad_bid}",
        "{ad_bid: 5}",
        "[sic] \"ad_bid\": 1",
        "say {\"ad_bid\":1}",
        "\"ad_bid\": 1",
        r#"{"ai_generated_photo": false, "artificial_urgency_text": ""}"#,
        r#"{"note": "ad_bid", "ad_bids": 1}"#,
    ] {
        assert_eq!(codes(&json!({"meta": text}).to_string()), [] as [String; 0], "{text}");
    }
}

#[test]
fn nothing_in_front_of_json_hides_it_from_the_first_step() {
    let in_front = ('\0'..=char::MAX).filter(|c| c.is_whitespace() || is_unseen(*c));
    for c in in_front {
        assert!(json_in(&format!("{c}{{\"a\":1}}")).is_some(), "{c:?}");
        let escaped: String = c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect();
        let mut forms = vec![escaped.to_uppercase().replace("\\U", "\\u"), escaped];
        // Within a string of JSON, a control is always escaped.
        forms.extend((c == ' ' || !c.is_ascii()).then(|| format!(" {c}[")));
        for written in forms {
            assert!(may_be_json(written.as_bytes()), "{c:?} as {written}");
        }
    }
}

#[test]
fn outside_the_options_is_told_apart() {
    let outside = |json: &str| found(json).outside.forbidden[0].pointer.clone();
    assert_eq!(outside(r#"{"slots":[],"meta":{"ad_bid":1}}"#), "/meta/ad_bid");
    assert_eq!(outside(r#"{"slots":{"ad_bid":1}}"#), "/slots/ad_bid");
    assert_eq!(found(r#"[{"ad_bid":1}]"#).options[&0].forbidden[0].pointer, "/ad_bid");
    let whole = scan(r#"[{"ad_bid":1}]"#, None, &ForbiddenFields::new(&[])).expect("flat");
    assert_eq!(whole.outside.forbidden[0].pointer, "/0/ad_bid", "an answer that is no search has no options");
}

#[test]
fn values_are_not_names() {
    assert_eq!(found(r#"[{"note":"ad_bid","text":"\"ad_bid\":1"}]"#), Scanned::default());
    assert!(!is_suspect(r#"[{"note":"ad_bid"}]"#));
}

#[test]
fn numbers_that_honest_partners_print_pass() {
    let exact = "0.1000000000000000055511151231257827021181583404541015625";
    for number in [
        "0",
        "-0",
        "2.50",
        "1e3",
        "1E-3",
        "19.076090000000001",
        exact,
        "9007199254740993",
        "-9223372036854775808",
        "18446744073709551616",
        "1.7976931348623157e308",
        "5e-324",
        "1e-400",
        &"9".repeat(ANSWER_NUMBER_MAX_CHARS),
    ] {
        assert_eq!(codes(&format!(r#"{{"n":{number}}}"#)), [] as [String; 0], "{number}");
        assert!(!is_suspect(&format!(r#"{{"n":{number}}}"#)), "{number}");
    }
}

#[test]
fn numbers_that_no_reader_holds_are_flaws() {
    let digits = "9".repeat(5_000);
    for (number, expected) in [
        ("1e400", "NUMBER_TOO_LARGE /n/0"),
        ("-1E+309", "NUMBER_TOO_LARGE /n/0"),
        ("1.8e308", "NUMBER_TOO_LARGE /n/0"),
        (digits.as_str(), "TOO_LONG /n/0"),
        (&digits[..=ANSWER_NUMBER_MAX_CHARS], "TOO_LONG /n/0"),
    ] {
        assert_eq!(codes(&format!(r#"{{"n":[{number}]}}"#)), [expected]);
    }
    assert_eq!(codes("1e400"), ["NUMBER_TOO_LARGE "], "an option may be anything");
}

#[test]
fn texts_that_no_reader_takes_are_flaws() {
    for (text, expected) in [
        (r"a\ud800b", "LONE_SURROGATE /t"),
        (r"\udc00\ud800", "LONE_SURROGATE /t"),
        (r"\ud83d\n", "LONE_SURROGATE /t"),
        (r"ring \u0007", "CONTROL_CHARACTER /t"),
        (r"a\bb", "CONTROL_CHARACTER /t"),
        (r"a\fb", "CONTROL_CHARACTER /t"),
        (r"\u0000", "CONTROL_CHARACTER /t"),
        (r"\u007f", "CONTROL_CHARACTER /t"),
        ("\u{7f}", "CONTROL_CHARACTER /t"),
        ("\u{85}", "CONTROL_CHARACTER /t"),
        (r"\u009B", "CONTROL_CHARACTER /t"),
        (r"\uffff", "NONCHARACTER /t"),
        ("\u{fdd0}", "NONCHARACTER /t"),
        (r"\ud83f\udffe", "NONCHARACTER /t"),
    ] {
        assert_eq!(codes(&format!(r#"{{"t":"{text}"}}"#)), [expected], "{text}");
        let named = codes(&format!(r#"{{"{text}":1}}"#));
        assert!(named.len() == 1 && named[0].starts_with(expected.trim_end_matches("/t")), "{text}: {named:?}");
    }
    for text in [r"two\r\nlines\t\\ \/ \u00e9", r"\ud83d\ude00", "😀 योग ₹", r"\u0939\u093f", "\u{feff}x"] {
        assert_eq!(codes(&format!(r#"{{"t":"{text}"}}"#)), [] as [String; 0], "{text}");
        assert!(!is_suspect(&format!(r#"{{"t":"{text}"}}"#)), "{text}");
    }
}

#[test]
fn lengths_are_bounded_in_characters() {
    let text = |length| format!(r#"{{"t":"{}"}}"#, "य".repeat(length));
    assert_eq!(codes(&text(ANSWER_TEXT_MAX_CHARS)), [] as [String; 0]);
    assert_eq!(codes(&text(ANSWER_TEXT_MAX_CHARS + 1)), ["TOO_LONG /t"]);
    let name = |length| codes(&format!(r#"{{"{}":1}}"#, "n".repeat(length)));
    assert_eq!(name(ANSWER_NAME_MAX_CHARS), [] as [String; 0]);
    assert!(name(ANSWER_NAME_MAX_CHARS + 1)[0].starts_with("TOO_LONG /n"));
}

#[test]
fn a_name_counts_once_in_its_object() {
    assert_eq!(codes(r#"{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}],"A":1}"#), [] as [String; 0]);
    assert_eq!(codes(r#"{"a":1,"b":2,"a":3}"#), ["DUPLICATE_MEMBER /a"]);
    assert_eq!(codes(r#"{"x":[{"a":{"b":1},"a":{"b":2}}]}"#), ["DUPLICATE_MEMBER /x/0/a"]);
    assert_eq!(codes(r#"{"a":1,"\u0061":2}"#), ["DUPLICATE_MEMBER /a"]);
    let many: Vec<String> = (0..1_000).map(|n| format!(r#""name_{n}":{n}"#)).collect();
    assert_eq!(codes(&format!("{{{}}}", many.join(","))), [] as [String; 0]);
    assert!(!is_suspect(&format!("{{{}}}", many[..60].join(","))));
    assert_eq!(codes(&format!(r#"{{{},"name_7":1}}"#, many.join(","))), ["DUPLICATE_MEMBER /name_7"]);
}

#[test]
fn each_option_has_its_own_flaws_and_few_of_them() {
    let scanned = found(r#"{"slots":[{"n":1e400},{"n":1},{"ad_bid":1,"n":1e400}],"outside":1e400}"#);
    assert_eq!(scanned.options.keys().collect::<Vec<_>>(), [&0, &2]);
    let (is_strike, flaws) = scanned.options[&0].verdict();
    assert_eq!((is_strike, flaws[0].code.as_str()), (false, "NUMBER_TOO_LARGE"));
    let (is_strike, flaws) = scanned.options[&2].verdict();
    assert_eq!((is_strike, flaws.len(), flaws[0].code.as_str()), (true, 1, "FORBIDDEN_FIELD"));
    assert_eq!(scanned.outside.malformed.len(), 1);

    let options = vec![vec![r#"{"n":1e400}"#; 2 * FLAWS_REPORTED_MAX].join(","); 2].join("],[");
    let scanned = found(&format!(r#"{{"slots":[[{options}]]}}"#));
    assert_eq!([0, 1].map(|position| scanned.options[&position].malformed.len()), [FLAWS_REPORTED_MAX, 1]);
}

#[test]
fn depth_ignores_brackets_in_strings() {
    assert_eq!(depth_of(r#"{"a":["[[[{{"]}"#), 2);
    assert_eq!(depth_of(&format!("{}{}", "[".repeat(90), "]".repeat(90))), 90);
}

pub(crate) fn json_value() -> impl Strategy<Value = serde_json::Value> {
    let name = prop_oneof!["[a-z\"\\\\]{0,4}", Just("ad_bid".to_owned()), Just("slots".to_owned())];
    let leaf = prop_oneof![
        any::<bool>().prop_map(Into::into),
        "[ -~]{0,8}".prop_map(Into::into),
        Just(serde_json::Value::Null),
        any::<i32>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::vec((name.clone(), inner), 0..4)
                .prop_map(|entries| serde_json::Value::Object(entries.into_iter().collect())),
        ]
    })
}

#[test]
fn what_is_no_json_is_never_let_through() {
    let broken = [
        "01",
        "-01",
        "-",
        "1.",
        ".5",
        "1.e5",
        "1e",
        "1e+",
        "+1",
        "0x1",
        "--1",
        "1.2.3",
        "tru",
        "nul",
        "falsey",
        "True",
        "\"\u{1}\"",
        "\"\n\"",
        "\"12345678\u{1f}\"",
        r#""\x""#,
        r#""\u12g4""#,
        r#""\u12""#,
        "\"a",
        r#""a\""#,
        "'a'",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1,,2]",
        "[1}",
        "[",
        "{",
        r#"{"a"}"#,
        r#"{"a":}"#,
        r#"{"a":1,}"#,
        r#"{,"a":1}"#,
        r#"{"a":1]"#,
        r#"{"a" 1}"#,
        r#"{"a":1 "b":2}"#,
        r#"{"a":1,"b"}"#,
        "{a:1}",
        "{1:1}",
        "1 1",
        "\u{b}1",
        "\u{a0}1",
        "",
        "}",
        "]",
        "[1]]",
        "{}}",
    ];
    for text in broken {
        for text in
            [text.to_owned(), format!(r#"{{"slots":[{text}]}}"#), format!(r#"{{"slots":[],"result_token":{text}}}"#)]
        {
            let is_json = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
            let fields = ForbiddenFields::new(&[]);
            assert!(
                is_json || !quick::is_harmless(&text, &fields) && outline(&text, "slots", &fields).is_none(),
                "{text}"
            );
        }
        assert!(serde_json::from_str::<serde::de::IgnoredAny>(text).is_err(), "{text} is JSON");
    }
}

/// JSON in some layout, now and then with a byte that was taken out, put in or doubled.
pub(crate) fn nearly_json(value: impl Strategy<Value = serde_json::Value>) -> impl Strategy<Value = String> {
    let edit = (
        any::<prop::sample::Index>(),
        prop_oneof![
            Just(""),
            Just("\\"),
            Just("0"),
            Just("e5"),
            Just(" "),
            Just("\t"),
            Just("\u{1}"),
            Just(","),
            Just("]"),
            Just("\u{7f}")
        ],
        0..2_usize,
    );
    (value, any::<bool>(), prop::option::of(edit)).prop_map(|(value, is_pretty, edit)| {
        let text = if is_pretty { format!("{value:#} ") } else { value.to_string() };
        let Some((at, put, taken)) = edit else { return text };
        let mut characters: Vec<String> = text.chars().map(String::from).collect();
        let at = at.index(characters.len());
        characters.splice(at..(at + taken).min(text.chars().count()), [put.to_owned()]);
        characters.concat()
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
        let scanned = found(&value.to_string());
        let all: Vec<&Flaws> = scanned.options.values().chain([&scanned.outside]).collect();
        prop_assert_eq!(all.iter().any(|flaws| !flaws.forbidden.is_empty()), holds(&value));
        prop_assert!(all.iter().all(|flaws| flaws.malformed.is_empty()));
    }

    #[test]
    fn what_the_quick_pass_lets_through_is_json_without_a_flaw(text in nearly_json(json_value())) {
        let fields = ForbiddenFields::new(&[]);
        if quick::is_harmless(&text, &fields) {
            prop_assert!(serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok(), "{text}");
            prop_assert_eq!(examine(&text, Some("slots"), &fields), Ok(Scanned::default()), "{}", text);
        }
    }

    #[test]
    fn nearly_nothing_without_a_flaw_is_walked(value in json_value()) {
        let text = value.to_string();
        // Names with escapes are; so are texts that begin as JSON does.
        let is_plain = !text.contains(['\\', '[', '{']) || !text.contains("\\") && !text.contains("\"[") && !text.contains("\"{") && !text.contains("\" ");
        prop_assert!(!is_plain || holds(&value) || quick::is_harmless(&text, &ForbiddenFields::new(&[])), "{text}");
    }

    #[test]
    fn no_text_stops_the_scan(text in "[\\[\\]{}\",:\\\\ua0-9eE.d ]{0,40}") {
        let fields = ForbiddenFields::new(&[]);
        let scanned = walk(&text, Some("slots"), &fields);
        prop_assert!(depth_of(&text) <= text.len() && scanned.options.len() <= text.len());
        let is_json = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
        prop_assert!(is_json || !quick::is_harmless(&text, &fields), "{text}");
    }
}
