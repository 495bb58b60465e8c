//! The ledger for people: statements in three forms, entries, corrections, balances, verification.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{Method, StatusCode};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::money::{Paise, Rate};
use intent_gateway_http::auth::Role;
use intent_gateway_ledger::completion::{Amounts, Report};
use intent_gateway_ledger::{Booking, Books as _, Entry, Judge, JudgedReport, genesis, post};
use serde_json::{Value, json};

use crate::business::Partner;
use crate::support::{Answer, Ask, Gateway, INTENT, NOW_MS, refused};

const LEDGER: &str = "/api/v1/admin/ledger";
const MONTH: &str = "2027-01";
/// What a spreadsheet would run, a page would run, and a table could be broken by.
const NASTY: &str = "=1+1,\"<script>alert(1)</script>\"";

async fn book(gateway: &Gateway, partner: &str, order: &str, paise: i64) -> u64 {
    let report = Report {
        intent: IntentId::parse(INTENT).expect("well formed"),
        external_id: order.to_owned(),
        request_id: "r-1".to_owned(),
        amounts: Amounts { amount: Paise::new(paise), ..Amounts::default() },
        closed_at: Timestamp::from_ms(NOW_MS - 60_000),
        status: "completed".to_owned(),
        content: Digest::of(format!("{order} {paise}").as_bytes()),
    };
    let judged_by = Judge { version: "1.2.3".parse().expect("semver"), stand_in: false };
    let verdict = JudgedReport { charged: true, judged_by, late_minutes: None, rate: Rate::DEFAULT };
    let partner = PartnerId::parse(partner).expect("well formed");
    let booking =
        Booking::new(post(&report, &partner, verdict, Timestamp::from_ms(NOW_MS)), Vec::new()).expect("sound");
    gateway.books.book(vec![booking]).await.expect("booked");
    gateway.books.entries_held().last().map_or(0, |entry| entry.number)
}

async fn team(gateway: &Gateway, path: &str) -> Answer {
    gateway.call(Ask::get(path).role(Role::Admin)).await
}

async fn order(gateway: &Gateway, path: &str, body: Value) -> Answer {
    gateway.call(Ask::json(&format!("{LEDGER}/entries/{path}"), body.to_string()).role(Role::Admin)).await
}

fn statement_of(partner: &str) -> String {
    format!("/api/v1/admin/partners/{partner}/statements/{MONTH}")
}

#[tokio::test]
async fn a_partner_reads_its_own_statements_and_no_others() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    let token = gateway.token_of(Role::Partner, &partner.id);
    let own = format!("/api/v1/business/tier1/accounts/{}/statements", partner.id);
    let ask = async |path: &str, token: &str| {
        gateway.call(Ask::get(path).header("authorization", &format!("Bearer {token}"))).await
    };
    let empty = ask(&own, &token).await;
    assert_eq!(empty.json(), json!({ "partner": partner.id, "months": [] }));

    book(&gateway, &partner.id, "BK-1", 149_950).await;
    book(&gateway, "other", "BK-1", 1_000).await;
    assert_eq!(ask(&own, &token).await.json()["months"], json!([MONTH]));
    let answer = ask(&format!("{own}/{MONTH}"), &token).await;
    assert_eq!(
        (answer.status, &answer.headers["cache-control"]),
        (StatusCode::OK, &"no-store".parse().expect("value"))
    );
    let statement = answer.json();
    let totals = json!({
        "charges": 1, "memoranda": 0, "reversals": 0, "charged_amount_inr": 1499.5, "commission_inr": 149.95
    });
    assert_eq!(statement["totals"], totals);
    assert!(
        answer.text().contains("\"commission_inr\":149.95,") || answer.text().contains("\"commission_inr\":149.95}")
    );
    assert!(answer.text().contains("\"amount_inr\":1499.50"), "two decimals always");
    assert_eq!((&statement["month"], &statement["partner"]), (&json!(MONTH), &json!(partner.id)));
    assert!(statement["business_name"].is_string());
    let line = &statement["lines"][0];
    assert_eq!((&line["posted_at"], &line["kind"]), (&json!("2027-01-15T08:00:00Z"), &json!("charge")));
    assert_eq!(statement["lines"].as_array().map(Vec::len), Some(1));

    let other = gateway.token_of(Role::Partner, "other");
    for path in [own.clone(), format!("{own}/{MONTH}"), format!("{own}/{MONTH}?format=csv")] {
        assert_eq!(ask(&path, &other).await.refusal(), refused(403, "FORBIDDEN"));
    }
    for path in [statement_of(&partner.id), format!("{LEDGER}/entries"), format!("{LEDGER}/trial-balance")] {
        assert_eq!(ask(&path, &token).await.refusal(), refused(403, "FORBIDDEN"));
    }
    for bad in ["2027-1", "2027-13", "now"] {
        assert_eq!(ask(&format!("{own}/{bad}"), &token).await.refusal(), refused(400, "INVALID_REQUEST"));
    }
    let quiet = ask(&format!("{own}/2026-12"), &token).await.json();
    assert_eq!((&quiet["lines"], &quiet["totals"]["charges"]), (&json!([]), &json!(0)));
}

#[tokio::test]
async fn a_statement_comes_in_the_form_asked_for() {
    let gateway = Gateway::new().await;
    book(&gateway, "good", "BK-1", 10_000).await;
    let form = async |query: &str, accept: &str| {
        let path = format!("{}{query}", statement_of("good"));
        let answer = gateway.call(Ask::get(&path).role(Role::Admin).header("accept", accept)).await;
        let media_type = answer.headers.get("content-type").and_then(|value| value.to_str().ok());
        let (media_type, _) =
            media_type.expect("a media type").split_once(';').unwrap_or((media_type.expect("text"), ""));
        assert_eq!(answer.headers.get("vary").is_some(), answer.status == StatusCode::OK);
        media_type.to_owned()
    };
    assert_eq!(form("", "*/*").await, "application/json");
    assert_eq!(form("", "text/csv").await, "text/csv");
    assert_eq!(form("", "text/html,*/*;q=0.8").await, "text/html");
    assert_eq!(form("?format=csv", "text/html").await, "text/csv");
    for bad in ["?format=pdf", "?format=", "?form=csv", "?format=csv&format=html"] {
        let answer = team(&gateway, &format!("{}{bad}", statement_of("good"))).await;
        assert_eq!(answer.refusal(), refused(400, "INVALID_REQUEST"), "{bad}");
    }
    for unknown in ["nobody", "no%20name", "x".repeat(65).as_str()] {
        assert_eq!(team(&gateway, &statement_of(unknown)).await.refusal(), refused(404, "NOT_FOUND"), "{unknown}");
    }
}

#[tokio::test]
async fn csv_is_safe_to_open_in_a_spreadsheet() {
    let gateway = Gateway::new().await;
    book(&gateway, "good", NASTY, 10_000).await;
    let reversal = order(&gateway, "1/reversal", json!({ "reason": "paid back" })).await;
    assert_eq!(reversal.status, StatusCode::OK);
    let answer = team(&gateway, &format!("{}?format=csv", statement_of("good"))).await;
    let name = "attachment; filename=\"statement-good-2027-01.csv\"";
    assert_eq!(answer.headers["content-disposition"], name);
    assert_eq!(answer.headers["x-content-type-options"], "nosniff");
    let rows: Vec<&str> = answer.text().split("\r\n").collect();
    assert_eq!(rows.len(), 4, "{rows:?}");
    assert!(rows[0].starts_with("number,posted_at,") && rows[3].is_empty());
    let cell = "\"'=1+1,\"\"<script>alert(1)</script>\"\"\"";
    assert!(rows[1].contains(cell) && rows[1].ends_with(",charge,,100.00,10.00,10.00"), "{}", rows[1]);
    assert!(rows[2].ends_with(",reversal,1,100.00,10.00,-10.00"), "{}", rows[2]);
}

#[tokio::test]
async fn the_page_runs_nothing_and_loads_nothing() {
    let gateway = Gateway::new().await;
    book(&gateway, "good", NASTY, 10_000_005).await;
    let reason = "<b>paid</b> back";
    order(&gateway, "1/reversal", json!({ "reason": reason })).await;
    let answer = team(&gateway, &format!("{}?format=html", statement_of("good"))).await;
    let page = answer.text();
    let style = page.split_once("<style>").and_then(|(_, rest)| rest.split_once("</style>")).expect("a style sheet").0;
    let hash = STANDARD.encode(Digest::of(style.as_bytes()).as_bytes());
    let policy = answer.headers["content-security-policy"].to_str().expect("text");
    assert!(policy.starts_with("default-src 'none'; ") && policy.contains(&format!("style-src 'sha256-{hash}'")));
    assert_eq!(answer.headers["referrer-policy"], "no-referrer");
    assert!(!page.contains("<script") && !page.contains("<b>") && !page.contains("://"), "{page}");
    assert!(page.contains("=1+1,") && page.contains("&#60;script&#62;"), "{page}");
    assert!(
        page.contains("<td class=\"amount\">100000.05</td>") && page.contains("<td class=\"amount\">-10000.01</td>")
    );
    assert!(page.contains("takes back 1: &#60;b&#62;paid"), "{page}");
    assert!(page.contains("2027-01-15 13:29</td><td>2027-01-15 13:30"), "Indian Standard Time");
    assert!(
        style.contains("thead { display: table-header-group; }"),
        "each printed page repeats the head of the table"
    );
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
}

#[tokio::test]
async fn a_long_statement_arrives_whole_in_every_form() {
    let gateway = Gateway::new().await;
    for n in 0..2_100 {
        book(&gateway, "good", &format!("BK-{n}"), 1_000).await;
    }
    let statement = team(&gateway, &statement_of("good")).await.json();
    let lines = statement["lines"].as_array().expect("lines");
    assert!(lines.iter().map(|line| line["number"].as_u64()).eq((1..=2_100).map(Some)));
    assert_eq!(statement["totals"]["commission_inr"], json!(2_100.0));
    let csv = team(&gateway, &format!("{}?format=csv", statement_of("good"))).await;
    assert_eq!((csv.text().lines().count(), csv.text().matches("number,").count()), (2_101, 1));
    let page = team(&gateway, &format!("{}?format=html", statement_of("good"))).await;
    assert_eq!((page.text().matches("<tr><td>").count(), page.text().matches("<thead>").count()), (2_100, 1));
}

#[tokio::test]
async fn entries_are_read_in_pages_and_one_by_one() {
    let gateway = Gateway::new().await;
    for n in 0..3 {
        book(&gateway, "good", &format!("BK-{n}"), 1_000).await;
    }
    let page = team(&gateway, &format!("{LEDGER}/entries?limit=2")).await.json();
    assert_eq!((page["entries"].as_array().map(Vec::len), &page["next"]), (Some(2), &json!(2)));
    let rest = team(&gateway, &format!("{LEDGER}/entries?after=2&limit=2")).await.json();
    assert_eq!((&rest["entries"][0]["number"], &rest["next"]), (&json!(3), &Value::Null));
    let entry = team(&gateway, &format!("{LEDGER}/entries/3")).await.json();
    assert_eq!((&entry["entry"], &entry["taken_back_by"]), (&rest["entries"][0], &Value::Null));
    let legs = json!([
        { "account": "partner_receivable", "amount_inr": 1.0 },
        { "account": "commission_revenue", "amount_inr": -1.0 },
    ]);
    assert_eq!((&entry["entry"]["legs"], &entry["entry"]["month"]), (&legs, &json!(MONTH)));
    let held: Entry = gateway.books.entries_held()[2].clone();
    let named = (&entry["entry"]["receipt_id"], &entry["entry"]["hash"]);
    assert_eq!(named, (&json!(held.receipt_id()), &json!(held.hash.to_string())));
    for bad in ["?limit=0", "?limit=501", "?after=-1", "?after=9223372036854775808", "?x=1"] {
        let answer = team(&gateway, &format!("{LEDGER}/entries{bad}")).await;
        assert_eq!(answer.refusal(), refused(400, "INVALID_REQUEST"), "{bad}");
    }
    for unknown in ["0", "4", "x", "18446744073709551615", "99999999999999999999"] {
        let answer = team(&gateway, &format!("{LEDGER}/entries/{unknown}")).await;
        assert_eq!(answer.refusal(), refused(404, "NOT_FOUND"), "{unknown}");
    }
}

#[tokio::test]
async fn an_entry_is_taken_back_with_a_reason_and_only_once() {
    let gateway = Gateway::new().await;
    book(&gateway, "good", "BK-1", 149_950).await;
    for (body, code) in [
        (json!({}), "REQUIRED"),
        (json!({ "reason": "" }), "BAD_FORMAT"),
        (json!({ "reason": "x".repeat(501) }), "BAD_FORMAT"),
        (json!({ "reason": 7 }), "WRONG_TYPE"),
    ] {
        let answer = order(&gateway, "1/reversal", body).await;
        assert_eq!(answer.refusal(), refused(400, "INVALID_REQUEST"));
        let violation = &answer.json()["error"]["violations"][0];
        assert_eq!((&violation["pointer"], &violation["code"]), (&json!("/reason"), &json!(code)));
    }
    let why = json!({ "reason": "paid back" });
    let reversal = order(&gateway, "1/reversal", why.clone()).await.json();
    let told = (&reversal["number"], &reversal["kind"], &reversal["reverses"], &reversal["reason"]);
    assert_eq!(told, (&json!(2), &json!("reversal"), &json!(1), &json!("paid back")));

    let again = order(&gateway, "1/reversal", why.clone()).await;
    assert_eq!(again.refusal(), refused(409, "ENTRY_TAKEN_BACK"));
    assert_eq!(again.json()["error"]["message"], "Entry 1 was taken back by entry 2.");
    assert_eq!(order(&gateway, "2/reversal", why.clone()).await.refusal(), refused(409, "ENTRY_IS_REVERSAL"));
    assert_eq!(order(&gateway, "3/reversal", why).await.refusal(), refused(404, "NOT_FOUND"));
    assert_eq!(team(&gateway, &format!("{LEDGER}/entries/1")).await.json()["taken_back_by"], json!(2));

    let log = team(&gateway, "/api/v1/admin/audit?subject=good").await.json();
    assert_eq!(log["entries"].as_array().map(Vec::len), Some(1));
    let entry = &log["entries"][0];
    assert_eq!((&entry["action"], &entry["actor"]["role"]), (&json!("ledger.reversal_ordered"), &json!("admin")));
    assert_eq!(entry["detail"], json!({ "entry": 1, "reason": "paid back", "scope": "all" }));
}

#[tokio::test]
async fn a_correction_books_the_right_amount_and_status() {
    let gateway = Gateway::new().await;
    book(&gateway, "good", "BK-1", 149_950).await;
    let why = |more: Value| {
        let mut body = json!({ "reason": "mistyped" });
        body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        body
    };
    for (more, pointer, code) in [
        (json!({}), "", "UNCHANGED"),
        (json!({ "amount_inr": 1499.5, "status": "completed" }), "", "UNCHANGED"),
        (json!({ "amount_inr": "12" }), "/amount_inr", "WRONG_TYPE"),
        (json!({ "amount_inr": 12.345 }), "/amount_inr", "BAD_FORMAT"),
        (json!({ "amount_inr": -1 }), "/amount_inr", "OUT_OF_RANGE"),
        (json!({ "amount_inr": 1e13 }), "/amount_inr", "OUT_OF_RANGE"),
        (json!({ "amount_inr": 1e30 }), "/amount_inr", "OUT_OF_RANGE"),
        (json!({ "status": "done" }), "/status", "NOT_IN_VOCABULARY"),
        (json!({ "status": 1 }), "/status", "WRONG_TYPE"),
    ] {
        let answer = order(&gateway, "1/correction", why(more.clone())).await;
        assert_eq!(answer.refusal(), refused(400, "INVALID_REQUEST"), "{more}");
        let violation = &answer.json()["error"]["violations"][0];
        assert_eq!((&violation["pointer"], &violation["code"]), (&json!(pointer), &json!(code)), "{more}");
    }
    let post = |body: &'static str| Ask::json(&format!("{LEDGER}/entries/1/correction"), body).role(Role::Admin);
    let twice = gateway.call(post(r#"{"reason":"x","amount_inr":1,"amount_inr":2}"#)).await;
    assert_eq!(twice.json()["error"]["violations"][0]["code"], "DUPLICATE_KEY");

    // More digits than a float would bring through.
    let corrected = gateway.call(post(r#"{"reason":"mistyped","amount_inr":999999999999.99}"#)).await;
    assert_eq!(corrected.status, StatusCode::OK, "{}", corrected.text());
    assert!(corrected.text().contains("\"amount_inr\":999999999999.99"), "{}", corrected.text());
    let body = corrected.json();
    assert_eq!((&body["reversal"]["reverses"], &body["replacement"]["number"]), (&json!(1), &json!(3)));
    assert_eq!(body["replacement"]["report"], body["reversal"]["report"], "the same report is still a repeat");
    let again = order(&gateway, "1/correction", why(json!({ "amount_inr": 1 }))).await;
    assert_eq!(again.refusal(), refused(409, "ENTRY_TAKEN_BACK"));
    gateway.call(Ask::new(Method::DELETE, &format!("/api/v1/admin/intents/{INTENT}")).role(Role::Admin)).await;
    let gone = order(&gateway, "3/correction", why(json!({ "status": "cancelled" }))).await;
    assert_eq!(gone.refusal(), refused(400, "INVALID_INTENT"));
}

#[tokio::test]
async fn the_balances_sum_to_zero_and_the_verification_tells_what_does_not_hold() {
    let gateway = Gateway::new().await;
    book(&gateway, "good", "BK-1", 149_950).await;
    book(&gateway, "other", "BK-1", 5).await;
    let balance = team(&gateway, &format!("{LEDGER}/trial-balance")).await;
    let other = json!({ "partner": "other", "partner_receivable_inr": 0.01, "commission_revenue_inr": -0.01 });
    assert_eq!(balance.json()["partners"][1], other);
    assert_eq!(
        (&balance.json()["balanced"], &balance.json()["partner_receivable_inr"]),
        (&json!(true), &json!(149.96))
    );

    let verify = async |query: &str| team(&gateway, &format!("{LEDGER}/verify{query}")).await;
    let sound = verify("").await.json();
    assert_eq!((&sound["sound"], &sound["entries"], &sound["faults"]), (&json!(true), &json!(2), &json!([])));
    let head = sound["head"].as_str().expect("text").to_owned();
    assert_eq!(verify(&format!("?expect_head={head}")).await.json()["sound"], true);
    for bad in ["?expect_head=2", "?expect_head=", "?head=1"] {
        assert_eq!(verify(bad).await.refusal(), refused(400, "INVALID_REQUEST"), "{bad}");
    }

    let last = gateway.books.entries_held().pop().expect("an entry");
    let cut = verify(&format!("?expect_head={head}")).await.json();
    assert_eq!((&cut["sound"], &cut["missing_head"], &cut["faults"]), (&json!(false), &json!(head), &json!([])));
    gateway.books.entries_held().push(last);
    gateway.books.entries_held()[0].posting.amount = Paise::new(1);
    let changed = verify("").await.json();
    assert_eq!(changed["sound"], false);
    let faults: Vec<_> = changed["faults"].as_array().expect("faults").iter().map(|fault| &fault["code"]).collect();
    assert_eq!(faults, ["ENTRY_CHANGED", "WRONG_LEGS"]);
    assert_eq!(changed["faults"][0]["entry"], 1);
    gateway.books.entries_held().clear();
    assert_eq!(verify("").await.json()["head"], format!("0:{}", genesis()));
}

#[tokio::test]
async fn a_store_that_fails_is_the_gateways_fault() {
    let gateway = Gateway::new().await;
    book(&gateway, "good", "BK-1", 1_000).await;
    gateway.kept.store.break_engine("cannot write /secret/gateway.db");
    let answer = order(&gateway, "1/reversal", json!({ "reason": "paid back" })).await;
    assert_eq!(answer.refusal(), refused(500, "INTERNAL_ERROR"));
    assert!(!answer.text().contains("secret"));
    assert_eq!(gateway.books.entries_held().len(), 1, "what is not in the audit log is not done");
}
