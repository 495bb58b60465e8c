//! Bad input of every kind gets its status and its code, and changes nothing: not the ledger, not the findings, not the
//! audit log.

use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::vault::hex;
use intent_gateway_ledger::completion::REPORT_MAX_BYTES;
use intent_gateway_ledger::completion::signature::{SIGNATURE_HEADER, Signer, TIMESTAMP_HEADER, WINDOW_MS};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{Kept, Reporter, ac_report, endpoint, key_of, now_ms, receipt, refusal, reporter_entry, with};
use crate::harness::{Answer, Gateway, GatewayOptions, PartnerEntry, ac_contract};

/// What a timestamp at the edge of the window may age on its way, milliseconds.
const ON_ITS_WAY_MS: u64 = 30_000;
/// The largest body that is tried, bytes.
const TEN_MB: usize = 10 * 1024 * 1024;
/// Bytes of it that are sent at once.
const CHUNK_BYTES: usize = 16 * 1024;
/// How long a raw exchange may take.
const EXCHANGE_MAX: Duration = Duration::from_secs(30);

const FORGED: (u16, &str) = (401, "SIGNATURE_INVALID");
const LATE: (u16, &str) = (401, "TIMESTAMP_OUT_OF_WINDOW");
const INVALID: (u16, &str) = (400, "INVALID_REQUEST");

/// A gateway with two partners that report, and one that has no key.
struct Bench {
    gateway: Gateway,
    kept: Kept,
    client: reqwest::Client,
}

/// A request, as far as it is meant to be wrong.
#[derive(Clone)]
struct Ask {
    method: &'static str,
    partner: String,
    headers: Vec<(&'static str, Vec<u8>)>,
    body: Vec<u8>,
}

fn signer(partner: &str) -> Signer {
    Signer::new(&Secret::new(key_of(partner)))
}

/// Signed as it should be by a partner, with this time.
fn signed_at(partner: &str, timestamp_ms: u64, body: impl Into<Vec<u8>>) -> Ask {
    let body = body.into();
    let signature = signer(partner).sign(timestamp_ms, &body);
    let headers =
        vec![(TIMESTAMP_HEADER, timestamp_ms.to_string().into_bytes()), (SIGNATURE_HEADER, signature.into_bytes())];
    Ask { method: "POST", partner: partner.to_owned(), headers, body }
}

fn signed(body: impl Into<Vec<u8>>) -> Ask {
    signed_at("alpha", now_ms(), body)
}

impl Ask {
    fn header(mut self, name: &'static str, value: impl Into<Vec<u8>>) -> Self {
        self = self.without(name);
        self.headers.push((name, value.into()));
        self
    }

    fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(header, _)| *header != name);
        self
    }

    /// With a header there twice, both times with the right value.
    fn twice(mut self, name: &str) -> Self {
        let header = self.headers.iter().find(|(header, _)| *header == name).expect("it is there").clone();
        self.headers.push(header);
        self
    }

    fn body(self, body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), ..self }
    }

    fn to(self, partner: &str) -> Self {
        Self { partner: partner.to_owned(), ..self }
    }
}

/// What is asked, what for, and what comes of it.
struct Row {
    what: String,
    ask: Ask,
    expected: (u16, &'static str),
    /// Pointer and code of a violation that must be told.
    violation: Option<(String, &'static str)>,
}

fn row(what: impl Into<String>, ask: Ask, expected: (u16, &'static str)) -> Row {
    Row { what: what.into(), ask, expected, violation: None }
}

impl Bench {
    async fn start() -> Self {
        let keyless = PartnerEntry::new("keyless", "http://127.0.0.1:9/mcp");
        let gateway = Gateway::start(&GatewayOptions {
            partners: vec![reporter_entry("alpha"), reporter_entry("beta"), keyless],
            contracts: vec![ac_contract()],
            ..GatewayOptions::default()
        });
        let kept = Kept::of(gateway.folder.path(), None).await;
        // A connection that the gateway has given up for a bad request must not be taken for the next one.
        let client = reqwest::Client::builder().pool_max_idle_per_host(0).build().expect("a client");
        Self { gateway, kept, client }
    }

    async fn send(&self, ask: &Ask) -> Answer {
        let url = endpoint(&self.gateway.server.url, &ask.partner);
        let mut request = self.client.request(ask.method.parse().expect("a method"), url).body(ask.body.clone());
        for (name, value) in &ask.headers {
            request = request.header(*name, value.as_slice());
        }
        let response = request.send().await.expect("the gateway answers");
        let status = response.status().as_u16();
        let body = response.bytes().await.expect("a whole answer");
        Answer { status, body: serde_json::from_slice(&body).expect("JSON") }
    }

    /// Refused as the row says, and nothing is changed.
    async fn refuse(&self, Row { what, ask, expected, violation }: Row) {
        let before = self.kept.state(&["alpha", "beta", "keyless"]).await;
        let answer = self.send(&ask).await;
        assert_eq!(refusal(&answer), expected, "{what}: {}", answer.body);
        if let Some((pointer, code)) = violation {
            let told = answer.body["error"]["violations"].as_array().unwrap_or_else(|| panic!("{what}: none is told"));
            let is_told = told.iter().any(|one| one["pointer"] == pointer.as_str() && one["code"] == code);
            assert!(is_told, "{what}: {told:?}");
        }
        assert_eq!(self.kept.state(&["alpha", "beta", "keyless"]).await, before, "{what}");
    }
}

fn report() -> Value {
    ac_report("BK/7", "r-7")
}

/// Headers that are missing, doubled or malformed, and signatures that do not hold.
fn forged() -> Vec<Row> {
    let body = report().to_string();
    let sound = || signed(body.clone());
    let now = now_ms();
    let right = signer("alpha").sign(now, body.as_bytes());
    let mut rows = vec![
        row("no timestamp", sound().without(TIMESTAMP_HEADER), FORGED),
        row("no signature", sound().without(SIGNATURE_HEADER), FORGED),
        row("neither header", sound().without(TIMESTAMP_HEADER).without(SIGNATURE_HEADER), FORGED),
        row("the timestamp twice", sound().twice(TIMESTAMP_HEADER), FORGED),
        row("the signature twice", sound().twice(SIGNATURE_HEADER), FORGED),
        row("another partner's key", sound().to("beta"), FORGED),
        row("a partner without a key", sound().to("keyless"), FORGED),
        row("an unknown partner", sound().to("nobody"), FORGED),
        row("a partner whose name is no text", sound().to("%ff"), FORGED),
        row("a partner whose name has a slash", sound().to("alpha%2Fx"), FORGED),
        row("a partner with a very long name", sound().to(&"a".repeat(4_000)), FORGED),
        row("an altered body", sound().body(body.replace("1450.5", "1450.4")), FORGED),
        row("a body with a line break more", sound().body(format!("{body}\n")), FORGED),
        row("no body", sound().body(""), FORGED),
        row("an altered timestamp", sound().header(TIMESTAMP_HEADER, (now_ms() + 1).to_string()), FORGED),
        // Whoever does not hold the key learns nothing of the window.
        row("stale, and not signed", sound().header(TIMESTAMP_HEADER, "1000000000000"), FORGED),
    ];
    let other_key = Signer::new(&Secret::new(key_of("alpha") + "x")).sign(now, body.as_bytes());
    let bare = right.trim_start_matches("sha256=");
    let signatures = [
        "",
        "sha256=",
        bare,
        &right[..right.len() - 1],
        &format!("{right}0"),
        &format!("sha512={bare}"),
        &format!("SHA256={bare}"),
        &format!("sha256={}", "g".repeat(64)),
        &format!("sha256={}", "0".repeat(64)),
        &format!("{right}, {right}"),
        &other_key,
    ]
    .map(str::to_owned);
    for signature in signatures {
        let ask = signed_at("alpha", now, body.clone()).header(SIGNATURE_HEADER, signature.clone());
        rows.push(row(format!("the signature {signature:?}"), ask, FORGED));
    }
    let timestamps = ["", "now", "-1", "+1", &format!("+{now}"), &format!("{now}.0"), "1.7e12"];
    for timestamp in timestamps.map(str::to_owned).into_iter().chain(["９".repeat(13)]) {
        rows.push(row(format!("the timestamp {timestamp:?}"), signed_by_hand("alpha", &timestamp, &body), FORGED));
    }
    rows
}

/// Signed with the very text that is sent as timestamp, so that nothing but that is wrong.
fn signed_by_hand(partner: &str, timestamp: &str, body: &str) -> Ask {
    let text = [timestamp.as_bytes(), b".", body.as_bytes()].concat();
    let ask = signed_at(partner, now_ms(), body.to_owned()).header(TIMESTAMP_HEADER, timestamp.to_owned());
    ask.header(SIGNATURE_HEADER, hmac(&key_of(partner), &text))
}

/// The signature of any text: the signer of the core signs well-formed timestamps alone.
fn hmac(key: &str, text: &[u8]) -> String {
    let keyed = Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("HMAC takes keys of any length");
    format!("sha256={}", hex(&keyed.chain_update(text).finalize().into_bytes()))
}

/// Signed as they should be, and too far from the gateway's clock.
fn late() -> Vec<Row> {
    let body = report().to_string();
    let at = |timestamp_ms| signed_at("alpha", timestamp_ms, body.clone());
    vec![
        row("a moment older than the window", at(now_ms() - WINDOW_MS - 1), LATE),
        row("from the future", at(now_ms() + WINDOW_MS + ON_ITS_WAY_MS), LATE),
        row("in seconds", at(now_ms() / 1_000), LATE),
        row("in microseconds", at(now_ms() * 1_000), LATE),
        row("in nanoseconds", at(now_ms() * 1_000_000), LATE),
        row("in forty digits", signed_by_hand("alpha", &"9".repeat(40), &body), LATE),
        row("in the year 5138", at(99_999_999_999_999), LATE),
        row("at the beginning of time", at(0), LATE),
    ]
}

/// What is wrong with one member of a report.
fn wrong_members() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut add = |member: &str, value: Option<&str>, code: &'static str| {
        let mut wrong = report();
        match value {
            Some(_) => wrong[member] = "here".into(),
            None => drop(wrong.as_object_mut().expect("an object").remove(member)),
        }
        let text = wrong.to_string().replace("\"here\"", value.unwrap_or_default());
        let what = format!("{member}: {}", value.unwrap_or("missing"));
        let violation = Some((format!("/{member}"), code));
        rows.push(Row { violation, ..row(what, signed(text), INVALID) });
    };
    let texts = ["intent", "external_id", "request_id", "closed_at", "status", "service_scope_performed"];
    let amounts = ["amount_inr", "gst_inr", "tips_inr", "pass_through_inr"];
    for member in texts.into_iter().chain(amounts).chain(["warranty_card_issued"]) {
        add(member, None, "REQUIRED");
        add(member, Some("null"), "WRONG_TYPE");
        add(member, Some("{}"), "WRONG_TYPE");
    }
    for member in texts {
        add(member, Some("7"), "WRONG_TYPE");
    }
    for member in ["intent", "external_id", "request_id", "status"] {
        add(member, Some("\" \""), "EMPTY");
        add(member, Some("\"a\\u0000b\""), "CONTROL_CHARACTER");
    }
    for member in amounts {
        add(member, Some("\"100\""), "WRONG_TYPE");
        add(member, Some("-0.01"), "OUT_OF_RANGE");
        add(member, Some("-1e3"), "OUT_OF_RANGE");
        add(member, Some("1e13"), "OUT_OF_RANGE");
        add(member, Some("10000000.01"), "OUT_OF_RANGE");
        add(member, Some("10.005"), "BAD_FORMAT");
        add(member, Some("1e-3"), "BAD_FORMAT");
    }
    let long = format!("\"{}\"", "a".repeat(201));
    add("external_id", Some(&long), "TOO_LONG");
    add("intent", Some("\"Auto.Book AC\""), "BAD_FORMAT");
    add("closed_at", Some("\"yesterday\""), "BAD_FORMAT");
    add("closed_at", Some("\"2026-05-04T16:10:00\""), "BAD_FORMAT");
    add("closed_at", Some("\"2026-02-30T16:10:00Z\""), "BAD_FORMAT");
    add("status", Some("\"Completed\""), "NOT_IN_VOCABULARY");
    add("status", Some("\"cancelled\""), "NOT_IN_VOCABULARY");
    add("service_scope_performed", Some("\"wash\""), "NOT_IN_VOCABULARY");
    add("warranty_card_issued", Some("\"true\""), "WRONG_TYPE");
    rows
}

/// Bodies that are not reports, however well they are signed.
fn no_reports() -> Vec<Row> {
    let text = report().to_string();
    let twice = |member: &str, value: &str| text.replacen('{', &format!("{{\"{member}\":{value},"), 1);
    let nested = |depth: usize| text.replacen('{', &format!("{{\"x\":{}{},", "[".repeat(depth), "]".repeat(depth)), 1);
    let mut bodies = vec![
        ("nothing", Vec::new(), "", "INVALID_JSON"),
        ("no JSON", b"amount=100".to_vec(), "", "INVALID_JSON"),
        ("half a report", text[..text.len() / 2].into(), "", "INVALID_JSON"),
        ("two reports", format!("{text}{text}").into_bytes(), "", "INVALID_JSON"),
        ("a byte order mark", format!("\u{feff}{text}").into_bytes(), "", "INVALID_JSON"),
        ("an array", format!("[{text}]").into_bytes(), "", "WRONG_TYPE"),
        ("a string", b"\"report\"".to_vec(), "", "WRONG_TYPE"),
        ("null", b"null".to_vec(), "", "WRONG_TYPE"),
        ("a member twice", twice("amount_inr", "1").into_bytes(), "/amount_inr", "DUPLICATE_KEY"),
        ("a member twice, once escaped", twice("\\u0061mount_inr", "1").into_bytes(), "/amount_inr", "DUPLICATE_KEY"),
        ("a member twice, deep", twice("x", r#"{"a":1,"a":2}"#).into_bytes(), "/x/a", "DUPLICATE_KEY"),
        ("half a surrogate pair", twice("x", r#""\ud800""#).into_bytes(), "/x", "INVALID_JSON"),
    ];
    let too_deep = format!("/x{}", "/0".repeat(63));
    bodies.push(("deep", nested(64).into_bytes(), &too_deep, "TOO_DEEP"));
    bodies.push(("as deep as a body allows", nested(30_000).into_bytes(), &too_deep, "TOO_DEEP"));
    for (what, at) in [("invalid UTF-8 in a text", "BK/7"), ("invalid UTF-8 at the end", "}")] {
        let at = text.rfind(at).expect("it is there");
        let body = [&text.as_bytes()[..at], b"\xff\xfe", &text.as_bytes()[at..]].concat();
        bodies.push((what, body, "", "INVALID_JSON"));
    }
    let rows = bodies.into_iter().map(|(what, body, pointer, code)| Row {
        violation: Some((pointer.to_owned(), code)),
        ..row(what, signed(body), INVALID)
    });
    let other_intent = with(report(), &[("intent", json!("auto.book_car_wash"))]).to_string();
    rows.chain([row("an unknown intent", signed(other_intent), (400, "INVALID_INTENT"))]).collect()
}

/// Other than as the route takes it.
fn no_posts() -> Vec<Row> {
    let body = report().to_string();
    let too_large = format!("{body}{}", " ".repeat(REPORT_MAX_BYTES));
    let methods = ["GET", "PUT", "PATCH", "DELETE"]
        .map(|method| row(method, Ask { method, ..signed(body.clone()) }, (405, "METHOD_NOT_ALLOWED")));
    let mut rows = vec![
        row("a byte more than a body may have", signed(&too_large[..=REPORT_MAX_BYTES]), (413, "PAYLOAD_TOO_LARGE")),
        row("no partner", signed(body.clone()).to(""), (404, "NOT_FOUND")),
        row("a longer path", signed(body).to("alpha/reports"), (404, "NOT_FOUND")),
    ];
    rows.extend(methods);
    rows
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_input_gets_its_code_and_changes_nothing() {
    let bench = Bench::start().await;
    let partner = Reporter::new(&bench.gateway.server.url, "alpha", &key_of("alpha"));
    // Something is there that could be changed.
    let booked = partner.report(&ac_report("BK/1", "r-1")).await;
    receipt(&booked);
    let mut count = 0;
    for row in [forged(), late(), wrong_members(), no_reports(), no_posts()].into_iter().flatten() {
        bench.refuse(row).await;
        count += 1;
    }
    let other = with(ac_report("BK/1", "r-1"), &[("amount_inr", json!(1))]).to_string();
    bench.refuse(row("other content under the same key", signed(other), (409, "IDEMPOTENCY_CONFLICT"))).await;
    eprintln!("{count} kinds of bad input");
    // What was refused in so many forms is taken as soon as it is right.
    receipt(&bench.send(&signed(report().to_string())).await);
    assert_eq!(bench.kept.sound().await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_sent_again_to_the_byte_is_booked_once() {
    let bench = Bench::start().await;
    let asks = [
        // As old and as far ahead as the window has it. The one ahead can only come nearer on its way.
        ("at once", signed_at("alpha", now_ms(), ac_report("BK/1", "r-1").to_string())),
        ("late", signed_at("alpha", now_ms() - WINDOW_MS + ON_ITS_WAY_MS, ac_report("BK/2", "r-1").to_string())),
        ("ahead", signed_at("alpha", now_ms() + WINDOW_MS, ac_report("BK/3", "r-1").to_string())),
        ("as large as may be", signed(padded(&ac_report("BK/4", "r-1"), REPORT_MAX_BYTES))),
        ("upper case", {
            let ask = signed(ac_report("BK/5", "r-1").to_string());
            let signature = String::from_utf8(ask.headers[1].1.clone()).expect("ASCII");
            let upper = signature.to_uppercase().replace("SHA256", "sha256");
            ask.header(SIGNATURE_HEADER, upper)
        }),
    ];
    for (number, (what, ask)) in asks.iter().enumerate() {
        let first = bench.send(ask).await;
        receipt(&first);
        let after_first = bench.kept.state(&["alpha"]).await;
        assert_eq!(after_first.ledger.0, number as u64 + 1, "{what}");
        for _ in 0..3 {
            assert_eq!(bench.send(ask).await.body, first.body, "{what}");
        }
        assert_eq!(bench.kept.state(&["alpha"]).await, after_first, "{what}");
    }
}

/// A report with blanks at its end, to so many bytes.
fn padded(report: &Value, bytes: usize) -> String {
    let text = report.to_string();
    let blanks = " ".repeat(bytes - text.len());
    text + &blanks
}

/// Sends raw bytes, and whatever comes after them for as long as it is taken; status and code of the answer.
async fn exchange(gateway: &Gateway, head: String, chunk: Vec<u8>, chunks: usize) -> (u16, String) {
    let address = gateway.server.url.trim_start_matches("http://");
    let (mut answers, mut sent) = TcpStream::connect(address).await.expect("it listens").into_split();
    // The gateway need not read what it refuses, so this may fail at any point.
    let writing = tokio::spawn(async move {
        sent.write_all(head.as_bytes()).await?;
        for _ in 0..chunks {
            sent.write_all(&chunk).await?;
        }
        sent.flush().await.map(|()| sent)
    });
    let mut answer = Vec::new();
    let is_whole = |answer: &[u8]| answer.ends_with(b"}");
    let reading = async {
        let mut buffer = vec![0; CHUNK_BYTES];
        while !is_whole(&answer) {
            match answers.read(&mut buffer).await {
                Ok(0) | Err(_) => break,
                Ok(read) => answer.extend_from_slice(&buffer[..read]),
            }
        }
    };
    tokio::time::timeout(EXCHANGE_MAX, reading).await.expect("an answer in time");
    writing.abort();
    let text = String::from_utf8(answer).expect("UTF-8");
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let body: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("no JSON: {body}"));
    (status, body["error"]["code"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_megabytes_are_refused_before_they_are_read() {
    let bench = Bench::start().await;
    let before = bench.kept.state(&["alpha"]).await;
    let body = padded(&report(), TEN_MB);
    let now = now_ms();
    let head = |length: &str| {
        let signature = signer("alpha").sign(now, body.as_bytes());
        format!(
            "POST /api/v1/cpc/mcp_provider/alpha HTTP/1.1\r\nhost: gateway\r\ncontent-type: application/json\r\n\
             {TIMESTAMP_HEADER}: {now}\r\n{SIGNATURE_HEADER}: {signature}\r\n{length}\r\n\r\n"
        )
    };
    let resident = bench.gateway.server.resident_bytes();
    // Announced: not one byte of it is waited for.
    let announced = exchange(&bench.gateway, head(&format!("content-length: {TEN_MB}")), Vec::new(), 0).await;
    assert_eq!(announced, (413, "PAYLOAD_TOO_LARGE".to_owned()));
    // Not announced: cut off at the bound.
    let chunk = format!("{CHUNK_BYTES:x}\r\n{}\r\n", " ".repeat(CHUNK_BYTES)).into_bytes();
    let chunked = exchange(&bench.gateway, head("transfer-encoding: chunked"), chunk, TEN_MB / CHUNK_BYTES).await;
    assert_eq!(chunked, (413, "PAYLOAD_TOO_LARGE".to_owned()));
    let grown = bench.gateway.server.resident_bytes().saturating_sub(resident);
    assert!(grown < TEN_MB as u64, "grown by {grown} bytes");
    assert_eq!(bench.kept.state(&["alpha"]).await, before);
}
