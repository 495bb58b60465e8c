//! Tests of reading reports: what is accepted, what is refused and where, and when two reports are the same.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use intent_gateway_domain::money::Paise;
use intent_gateway_testing::json::{json_value, points_into, replace_somewhere};

fn report() -> Value {
    json!({
        "intent": "auto.book_ac_service",
        "external_id": "BK-1001",
        "request_id": "req-1",
        "amount_inr": 1499.5,
        "gst_inr": 269.91,
        "tips_inr": 0,
        "pass_through_inr": 0,
        "closed_at": "2026-01-01T15:40:00+05:30",
        "status": "completed",
        "service_scope_performed": "gas_top_up",
        "warranty_card_issued": true,
    })
}

fn parse(report: &Value) -> Result<Report, Refusal> {
    Report::parse(report.to_string().as_bytes())
}

/// Pointer and code of each violation.
fn refused(body: impl AsRef<[u8]>) -> Vec<(String, String)> {
    let refusal = Report::parse(body.as_ref()).expect_err("refused");
    assert_eq!(refusal.code, "INVALID_REQUEST");
    refusal.violations.into_iter().map(|violation| (violation.pointer, violation.code)).collect()
}

fn with(name: &str, value: Value) -> String {
    let mut report = report();
    report[name] = value;
    report.to_string()
}

/// The report with a member written just so.
fn written(name: &str, text: &str) -> String {
    with(name, json!("@")).replace("\"@\"", text)
}

fn one(pointer: &str, code: &str) -> Vec<(String, String)> {
    vec![(pointer.to_owned(), code.to_owned())]
}

#[test]
fn reads_the_common_members() {
    let read = parse(&report()).expect("sound");
    assert_eq!(read.intent.as_str(), "auto.book_ac_service");
    assert_eq!((&*read.external_id, &*read.request_id, &*read.status), ("BK-1001", "req-1", "completed"));
    let amounts = Amounts { amount: Paise::new(149_950), gst: Paise::new(26_991), ..Amounts::default() };
    assert_eq!(read.amounts, amounts);
    assert_eq!(read.closed_at, Timestamp::from_ms(1_767_262_200_000));
    let partner = PartnerId::parse("coolcar").expect("sound");
    let key = read.key(&partner);
    assert_eq!((key.partner, key.intent, &*key.external_id), (partner, read.intent, "BK-1001"));
}

#[test]
fn every_violation_at_once_and_in_order() {
    let body = r#"{"external_id": 7, "amount_inr": -1, "gst_inr": "18", "tips_inr": 0.001, "closed_at": "2026-01-01",
        "status": " ", "x": {"a": 1, "a": 2}}"#;
    let expected = [
        ("/intent", "REQUIRED"),
        ("/external_id", "WRONG_TYPE"),
        ("/request_id", "REQUIRED"),
        ("/amount_inr", "OUT_OF_RANGE"),
        ("/gst_inr", "WRONG_TYPE"),
        ("/tips_inr", "BAD_FORMAT"),
        ("/pass_through_inr", "REQUIRED"),
        ("/closed_at", "BAD_FORMAT"),
        ("/status", "EMPTY"),
        ("/x/a", "DUPLICATE_KEY"),
    ];
    assert_eq!(refused(body), expected.map(|(pointer, code)| (pointer.to_owned(), code.to_owned())));
}

#[test]
fn bodies_that_are_no_object() {
    for body in [&b"\xff{}"[..], b"", b"{", b"{} {}", b"nul", b"{\"\\ud800\": 1}"] {
        assert_eq!(refused(body), one("", "INVALID_JSON"), "{body:?}");
    }
    for body in ["[]", "1", "null", "\"{}\"", "true"] {
        assert_eq!(refused(body), one("", "WRONG_TYPE"), "{body}");
    }
}

#[test]
fn texts_are_bounded_and_plain() {
    let texts =
        [("external_id", EXTERNAL_ID_MAX_CHARS), ("request_id", REQUEST_ID_MAX_CHARS), ("status", STATUS_MAX_CHARS)];
    for (name, max_chars) in texts {
        let pointer = format!("/{name}");
        assert!(Report::parse(with(name, json!("ü".repeat(max_chars))).as_bytes()).is_ok(), "{name}");
        let wrong = [
            (json!("ü".repeat(max_chars + 1)), "TOO_LONG"),
            (json!(""), "EMPTY"),
            (json!("\u{a0}"), "EMPTY"),
            (json!("a\u{0}b"), "CONTROL_CHARACTER"),
            (json!("a\nb"), "CONTROL_CHARACTER"),
            (json!(["a"]), "WRONG_TYPE"),
            (Value::Null, "WRONG_TYPE"),
        ];
        for (value, code) in wrong {
            assert_eq!(refused(with(name, value.clone())), one(&pointer, code), "{name}: {value}");
        }
    }
    assert_eq!(refused(with("intent", json!("auto"))), one("/intent", "BAD_FORMAT"));
    assert_eq!(refused(written("status", r#""\udc00""#)), one("/status", "INVALID_JSON"));
    assert_eq!(refused(written("notes", r#"["\ud83d"]"#)), one("/notes/0", "INVALID_JSON"));
}

#[test]
fn amounts_are_read_from_their_digits() {
    let exact =
        [("1.4995e3", 149_950), ("-0", 0), ("-0.00", 0), ("1000000000000.00", 100_000_000_000_000), ("0.29", 29)];
    for (text, paise) in exact {
        let read = Report::parse(written("amount_inr", text).as_bytes()).expect(text);
        assert_eq!(read.amounts.amount, Paise::new(paise), "{text}");
    }
    let wrong = [
        ("-0.01", "OUT_OF_RANGE"),
        ("-1e-9", "OUT_OF_RANGE"),
        ("-1e99", "OUT_OF_RANGE"),
        ("1000000000000.01", "OUT_OF_RANGE"),
        ("1e999999", "OUT_OF_RANGE"),
        ("0.005", "BAD_FORMAT"),
        ("\"1\"", "WRONG_TYPE"),
        ("null", "WRONG_TYPE"),
        ("{\"inr\": 1}", "WRONG_TYPE"),
    ];
    for name in amounts::MEMBERS {
        for (text, code) in wrong {
            assert_eq!(refused(written(name, text)), one(&format!("/{name}"), code), "{name}: {text}");
        }
    }
}

#[test]
fn no_amount_is_beyond_what_the_intent_states() {
    let statuses = vec!["completed".to_owned()];
    let schema = serde_json::value::RawValue::from_string("{}".to_owned()).expect("JSON");
    let stated = Completion { charged_statuses: statuses.clone(), statuses, amount_max_inr: 10_000, schema };
    for member in amounts::MEMBERS {
        let check =
            |digits: &str| Report::parse(written(member, digits).as_bytes()).expect("it reads").check_amounts(&stated);
        assert_eq!(check("10000.00"), Ok(()), "{member}");
        let refusal = check("10000.01").expect_err("it is beyond");
        let found: Vec<_> = refusal.violations.into_iter().map(|found| (found.pointer, found.code)).collect();
        assert_eq!((refusal.code.as_str(), found), ("INVALID_REQUEST", one(&format!("/{member}"), "OUT_OF_RANGE")));
    }
}

#[test]
fn closing_times_carry_t_and_offset() {
    let same = 1_767_262_200_000;
    let sound = [
        ("2026-01-01T15:40:00+05:30", same),
        ("2026-01-01T15:40+0530", same),
        ("2026-01-01T10:10:00Z", same),
        ("2026-01-01T00:10:00-10:00", same),
        ("2026-01-01T10:10:00.1239Z", same + 123),
        ("2026-01-01T10:10:00,5Z", same + 500),
        ("2024-02-29T00:00:00Z", 1_709_164_800_000),
        ("1970-01-01T05:30:00+05:30", 0),
    ];
    for (text, ms) in sound {
        assert_eq!(
            Report::parse(with("closed_at", json!(text)).as_bytes()).map(|read| read.closed_at),
            Ok(Timestamp::from_ms(ms)),
            "{text}"
        );
    }
    let wrong = [
        "2026-01-01",
        "2026-01-01T15:40:00",
        "2026-01-01 15:40:00Z",
        "2026-01-01t15:40:00Z",
        "2026-01-01T15:40:00z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T15:60:00Z",
        "2026-12-31T23:59:60Z",
        "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "26-01-01T00:00:00Z",
        "2026-01-01T15:40:00.Z",
        "2026-01-01T15:40:00.1234567890Z",
        "2026-01-01T15:40:00+5:30",
        "2026-01-01T15:40:00+24:00",
        "2026-01-01T15:40:00+05:60",
        "2026-01-01T15:40:00+05",
        "2026-01-01T15:40:00Z ",
        "2026-01-01T15:40:00+05:30[Asia/Kolkata]",
        "+026-01-01T15:40:00Z",
        "2026-0١-01T15:40:00Z",
        "now",
    ];
    for text in wrong {
        assert_eq!(refused(with("closed_at", json!(text))), one("/closed_at", "BAD_FORMAT"), "{text}");
    }
    assert_eq!(refused(with("closed_at", json!("1969-12-31T23:59:59Z"))), one("/closed_at", "OUT_OF_RANGE"));
    assert_eq!(refused(with("closed_at", json!("9".repeat(41)))), one("/closed_at", "TOO_LONG"));
}

#[test]
fn a_closing_time_ahead_is_a_finding() {
    let read = parse(&report()).expect("sound");
    assert_eq!(read.findings(read.closed_at.minus_ms(CLOSED_AHEAD_MAX_MS)), []);
    let findings = read.findings(read.closed_at.minus_ms(CLOSED_AHEAD_MAX_MS + 1));
    assert_eq!((&*findings[0].pointer, &*findings[0].code, findings.len()), ("/closed_at", CLOSED_IN_FUTURE, 1));
}

#[test]
fn names_that_occur_twice_are_refused_at_any_depth() {
    let doubled = report().to_string().replacen('{', r#"{"amount_inr": 1, "#, 1);
    assert_eq!(refused(doubled), one("/amount_inr", "DUPLICATE_KEY"));
    // Escapes spell the same name.
    assert_eq!(refused(written("x", r#"[0, {"a/b": 1, "a\u002fb": 1}]"#)), one("/x/1/a~1b", "DUPLICATE_KEY"));
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(Report::parse(written("x", &nested(63)).as_bytes()).is_ok());
    assert_eq!(refused(written("x", &nested(64)))[0].1, "TOO_DEEP");
    assert_eq!(refused(written("x", &nested(10_000)))[0].1, "TOO_DEEP");
}

#[test]
fn the_same_value_is_a_repeat_and_any_other_a_conflict() {
    let first = parse(&report()).expect("sound");
    assert_eq!(Arrival::of(&first, None), Arrival::First);
    let same = "\n{\"status\":\"comp\\u006ceted\", \"warranty_card_issued\":true,\"service_scope_performed\":\"gas_top_up\",
        \"closed_at\":\"2026-01-01T15:40:00+05:30\",\"pass_through_inr\":0e7,\"tips_inr\":-0.0,\"gst_inr\":26991e-2,
        \"amount_inr\":1499.50,\"request_id\":\"req-1\",\"external_id\":\"BK-1001\",\"intent\":\"auto.book_ac_service\"}\r\n";
    let same = Report::parse(same.as_bytes()).expect("sound");
    assert_eq!(Arrival::of(&same, Some(first.content)), Arrival::Repeat);
    let others = [
        written("amount_inr", "1499.51"),
        written("status", "\"Completed\""),
        // The same instant in another text is another value.
        written("closed_at", "\"2026-01-01T10:10:00Z\""),
        written("warranty_card_issued", "\"true\""),
        written("notes", "null"),
        // Beyond what a float tells apart.
        written("notes", "9007199254740993"),
        written("notes", "9007199254740992"),
        written("notes", "0.1"),
        written("notes", "1"),
        written("notes", "10"),
        written("notes", "0.10000000000000000001"),
        written("notes", "-0.1"),
        written("notes", "[[],1]"),
        written("notes", "[[1]]"),
        written("notes", r#"["1"]"#),
        written("notes", r#"{"1":[]}"#),
        written("notes", r#"["a,1\"b"]"#),
        written("notes", r#"["a","b"]"#),
    ];
    let mut kept = vec![first.content];
    for other in others {
        let other = Report::parse(other.as_bytes()).expect("sound");
        assert!(kept.iter().all(|kept| Arrival::of(&other, Some(*kept)) == Arrival::Conflict), "{other:?}");
        kept.push(other.content);
    }
}

#[test]
fn a_contract_that_read_something_else_is_at_fault() {
    let read = parse(&report()).expect("sound");
    let checked = CheckedCompletion {
        external_id: "BK-1001".to_owned(),
        request_id: "req-1".to_owned(),
        status: "completed".to_owned(),
        amount_paise: 149_950,
        charged: true,
        late_minutes: None,
        findings: Vec::new(),
        strikes: Vec::new(),
    };
    assert_eq!(read.confirm(&checked), Ok(()));
    let others: [fn(&mut CheckedCompletion); 4] = [
        |checked| checked.external_id.push('x'),
        |checked| checked.request_id.push('x'),
        |checked| checked.status.push('x'),
        |checked| checked.amount_paise -= 1,
    ];
    for change in others {
        let mut checked = checked.clone();
        change(&mut checked);
        assert!(matches!(read.confirm(&checked), Err(ContractFault::InvalidOutput(_))));
    }
}

/// Writes a value in another way: blanks, the last member first, numbers with a zero more.
fn rewritten(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members.iter().rev().map(|(name, value)| format!(" {} : {}", json!(name), rewritten(value)));
            format!("{{{} }}", members.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => format!("[ {}\t]", items.iter().map(rewritten).collect::<Vec<_>>().join(" ,")),
        Value::Number(number) if !number.to_string().contains('e') => {
            let text = number.to_string();
            if text.contains('.') { format!("{text}0") } else { format!("{text}.0e0") }
        }
        other => other.to_string(),
    }
}

proptest! {
    #[test]
    fn any_document_is_read_or_refused_where_it_is_wrong(value in json_value(), at: prop::sample::Index) {
        let mut document = report();
        replace_somewhere(&mut document, at, value);
        if let Err(refusal) = parse(&document) {
            prop_assert!(!refusal.violations.is_empty());
            for violation in refusal.violations {
                prop_assert!(points_into(&document, &violation.pointer), "{}", violation.pointer);
            }
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        prop_assert!(Report::parse(&bytes).is_err());
    }

    #[test]
    fn the_content_is_that_of_the_value(one in json_value(), other in json_value()) {
        let read = |text: String| Report::parse(written("x", &text).as_bytes()).map(|read| read.content);
        let content = read(one.to_string());
        prop_assert!(content.is_ok());
        prop_assert_eq!(&read(rewritten(&one)), &content);
        let same = intent_gateway_domain::canonical::canonical_json(&one) == intent_gateway_domain::canonical::canonical_json(&other);
        prop_assert_eq!(read(other.to_string()) == content, same);
    }
}
