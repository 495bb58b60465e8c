//! Partners' health in service, over real processes: three strikes, the breaker, what the platform team sees of it.
#![expect(clippy::print_stderr, reason = "the stores are for whoever asks with --nocapture")]

mod meddler;

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::{Value, json};

use self::meddler::{Meddler, Mischief};
use crate::harness::{Gateway, GatewayOptions, PartnerEntry, ac_contract, built, eventually, request, rust_partner};
use crate::onboarding::{Business, Platform, replica, stores};

/// A search that no other search is like.
async fn search(gateway: &Gateway, number: usize) -> Value {
    let mut body = request();
    body["ac_issue"]["user_description"] = format!("blows warm air, said {number} times").into();
    gateway.found(&body).await
}

async fn connection(gateway: &Gateway, business: &Business) -> Value {
    let path = format!("/api/v1/mcp-admin/{}", business.id);
    gateway.call("GET", &path, Some(gateway.admin_token()), None).await.body
}

async fn health(gateway: &Gateway, partner: &str) -> Value {
    gateway.admin_get(&format!("/partners/{partner}/health")).await
}

/// The audit log about a partner.
async fn entries(gateway: &Gateway, partner: &str) -> Vec<Value> {
    let page = gateway.admin_get(&format!("/audit?subject={partner}&limit=500")).await;
    page["entries"].as_array().expect("a list").clone()
}

fn count(entries: &[Value], action: &str) -> usize {
    entries.iter().filter(|entry| entry["action"] == action).count()
}

/// Incidents of forbidden fields that are held against a partner.
fn strikes(health: &Value) -> usize {
    let strikes = health["strikes"].as_array().expect("a list");
    let forbidden = strikes.iter().find(|held| held["code"] == "FORBIDDEN_FIELD");
    forbidden.and_then(|held| held["incidents"].as_array()).map_or(0, Vec::len)
}

#[tokio::test(flavor = "multi_thread")]
async fn three_searches_with_a_forbidden_field_suspend() {
    for (name, store) in stores() {
        eprintln!("on {name}");
        let platform = Platform::start(store.as_deref());
        let second = store.as_deref().map(|store| replica(&platform, store));
        struck_out(platform, second).await;
    }
}

async fn struck_out(platform: Platform, second: Option<Gateway>) {
    let server = rust_partner("oem", platform.gateway.folder.path());
    let meddler = Meddler::before(&server.url).await;
    let url = meddler.url.clone();
    let ready = platform.ready_at("ops@coolcar.example", server, &url).await;
    let business = &ready.business;
    platform.admin(&business.admin_path("switch-on"), json!({})).await;
    platform.routed(&[&business.id]).await;

    meddler.does(Mischief::Forbidden);
    let mut requests = BTreeSet::new();
    for number in 0..2 {
        let found = search(&platform.gateway, number).await;
        assert_eq!(found["options"], json!([]), "{found}");
        requests.insert(found["request_id"].as_str().expect("a text").to_owned());
    }
    eventually("two strikes", &platform.gateway, async || {
        (strikes(&health(&platform.gateway, &business.id).await) == 2).then_some(())
    })
    .await;
    assert_eq!(connection(&platform.gateway, business).await["state"], "live");
    for request in &requests {
        let told = platform.mails_saying(&business.email, request, 1).await;
        assert!(told[0].contains("FORBIDDEN_FIELD") && told[0].contains("field: /"), "{told:?}");
    }
    // The third is found by the other gateway, where there is one.
    let third = second.as_ref().unwrap_or(&platform.gateway);
    eventually("routed there", third, async || {
        let found = search(third, 2).await;
        let called = found["partners"].as_array().is_some_and(|partners| !partners.is_empty());
        called.then(|| requests.insert(found["request_id"].as_str().expect("a text").to_owned()))
    })
    .await;
    let suspended = eventually("suspended", &platform.gateway, async || {
        let connection = connection(&platform.gateway, business).await;
        (connection["state"] == "suspended").then_some(connection)
    })
    .await;
    let suspension = &suspended["suspension"];
    assert_eq!(suspension["by"]["role"], "gateway", "{suspension}");
    let reason = suspension["reason"].as_str().expect("a text");
    assert!(reason.contains("FORBIDDEN_FIELD") && requests.iter().all(|id| reason.contains(id)), "{reason}");
    let told = platform.mails_saying(&business.email, "What lifts it", 1).await;
    assert!(told[0].contains(reason), "the partner is told: {told:?}");
    assert!(requests.iter().all(|id| told[0].contains(&format!("request: {id}"))), "with what led to it: {told:?}");
    for request in &requests {
        let mails = platform.mails_saying(&business.email, request, 1).await;
        let strikes = mails.iter().filter(|mail| mail.contains("counts towards suspension")).count();
        assert!(strikes <= 1, "whichever gateway finds it: {mails:?}");
    }
    let gateways: Vec<&Gateway> = std::iter::once(&platform.gateway).chain(&second).collect();
    for gateway in &gateways {
        eventually("out of routing", gateway, async || {
            let found = gateway.found(&request()).await;
            (found["partners"] == json!([])).then_some(())
        })
        .await;
        eventually("three strikes", gateway, async || {
            (strikes(&health(gateway, &business.id).await) == 3).then_some(())
        })
        .await;
    }
    let log = entries(&platform.gateway, &business.id).await;
    let entry = log.iter().find(|entry| entry["action"] == "health.struck_out").expect("it is in the log");
    let incidents = entry["detail"]["incidents"].as_array().expect("a list");
    let ids: BTreeSet<String> = incidents.iter().map(|one| one["id"].as_str().expect("a text").to_owned()).collect();
    assert_eq!((ids, &entry["detail"]["code"]), (requests, &json!("FORBIDDEN_FIELD")));

    // A restart tells the strikes again, and suspends nobody anew.
    meddler.does(Mischief::None);
    let platform = platform.restart();
    assert_eq!(strikes(&health(&platform.gateway, &business.id).await), 3, "before anything else is asked");
    platform.admin(&business.admin_path("lift"), json!({"reason": "the field is gone"})).await;
    for gateway in std::iter::once(&platform.gateway).chain(&second) {
        eventually("pardoned", gateway, async || (strikes(&health(gateway, &business.id).await) == 0).then_some(()))
            .await;
    }
    let platform = platform.restart();
    assert_eq!(strikes(&health(&platform.gateway, &business.id).await), 0, "the pardon comes first");
    platform.back(&ready).await;
    platform.routed(&[&business.id]).await;
    let log = entries(&platform.gateway, &business.id).await;
    assert_eq!(["health.struck_out", "connection.suspended", "connection.lifted"].map(|it| count(&log, it)), [1; 3]);
    let verdict = platform.gateway.admin_get("/audit/verify").await;
    assert_eq!(verdict["ok"], true, "{verdict}");
}

/// How a search fared with a partner: the status, and the code where there is one.
fn outcome<'a>(found: &'a Value, partner: &str) -> (&'a str, &'a str) {
    let partners = found["partners"].as_array().expect("a list");
    let outcome = partners.iter().find(|outcome| outcome["partner"] == partner).expect("each is told");
    (outcome["status"].as_str().expect("a text"), outcome["code"].as_str().unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_partner_is_left_alone_and_tried_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = rust_partner("oem", folder.path());
    let meddler = Meddler::before(&server.url).await;
    let gateway = Gateway::start(&GatewayOptions {
        partners: vec![PartnerEntry::new("shaky", &meddler.url)],
        contracts: vec![ac_contract()],
        ..GatewayOptions::default()
    });
    assert_eq!(outcome(&search(&gateway, 0).await, "shaky").0, "answered");
    meddler.does(Mischief::Down);
    let mut searches = 0;
    eventually("open", &gateway, async || {
        searches += 1;
        let found = search(&gateway, searches).await;
        let outcome = outcome(&found, "shaky");
        assert!(["PARTNER_HTTP_ERROR", "PARTNER_DOWN"].contains(&outcome.1), "{found}");
        (outcome == ("left_out", "PARTNER_DOWN")).then_some(())
    })
    .await;
    let calls = meddler.calls();
    let view = health(&gateway, "shaky").await;
    assert_eq!(view["breaker"]["state"], "open", "{view}");
    assert!(view["breaker"]["until"].is_string() && view["breaker"]["consecutive"].as_u64() >= Some(5), "{view}");
    assert_eq!(outcome(&search(&gateway, 1_000).await, "shaky"), ("left_out", "PARTNER_DOWN"));
    assert_eq!(meddler.calls(), calls, "it is left alone");

    meddler.does(Mischief::None);
    eventually("closed", &gateway, async || {
        searches += 1;
        (outcome(&search(&gateway, searches).await, "shaky").0 == "answered").then_some(())
    })
    .await;
    assert_eq!(meddler.calls(), calls + 1, "one call was let through, to see");
    assert_eq!(health(&gateway, "shaky").await["breaker"]["state"], "closed");
    let log = eventually("in the log", &gateway, async || {
        let log = entries(&gateway, "shaky").await;
        (count(&log, "health.closed") == 1).then_some(log)
    })
    .await;
    let actions: Vec<&str> = log.iter().filter_map(|entry| entry["action"].as_str()).collect();
    assert_eq!(actions, ["health.opened", "health.half_opened", "health.closed"]);
    assert_eq!(log[0]["actor"]["role"], "gateway");
    assert!(log[0]["detail"]["consecutive"].as_u64() >= Some(5), "{}", log[0]);
    let text = gateway.log();
    assert!(text.contains("health.opened") && text.contains("health.closed"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_platform_team_sees_how_partners_fare() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = rust_partner("oem", folder.path());
    let gateway = Gateway::start(&GatewayOptions {
        partners: vec![PartnerEntry::new("oem", &server.url), PartnerEntry::new("other", "http://127.0.0.1:1/mcp")],
        contracts: vec![ac_contract()],
        ..GatewayOptions::default()
    });
    for number in 0..3 {
        search(&gateway, number).await;
    }
    let list = gateway.admin_get("/health").await;
    let partners = list["partners"].as_array().expect("a list");
    let names: Vec<&str> = partners.iter().filter_map(|partner| partner["partner"].as_str()).collect();
    assert_eq!((names, &list["next"]), (vec!["oem", "other"], &Value::Null));
    let tool = &partners[0]["intents"][0]["tools"][0];
    assert_eq!((&tool["tool"], &tool["calls"]), (&json!("search_ac_service_slots"), &json!(3)), "{tool}");
    assert!(tool["targets"]["p95_ms"].as_u64() > Some(0) && tool["p95_ms"].as_u64() < Some(30_000), "{tool}");
    assert!(partners[1]["breaker"]["failed"].as_u64() > Some(0), "{}", partners[1]);

    // What was seen by people alone is recorded, counts, and is told with the rest. One of the configuration stays.
    let cli = |arguments: &[&str]| {
        let mut command = Command::new(built("debug/intent-gateway"));
        command.arg("partner").args(arguments).args(["--gateway", &gateway.server.url]);
        let output = command.env("INTENT_GATEWAY_TOKEN", gateway.admin_token()).output().expect("runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    for order in ["BK-1", "BK-2", "BK-2", "BK-3"] {
        let strike = ["strike", "oem", "--intent", "auto.book_ac_service", "--code", "WARRANTY_DECLINED"];
        let told = cli(&[&strike[..], &["--order", order, "--reason", "asked to pay"]].concat());
        assert!(told.contains(order), "{told}");
    }
    let log = eventually("struck out", &gateway, async || {
        let log = entries(&gateway, "oem").await;
        (count(&log, "health.struck_out") == 1).then_some(log)
    })
    .await;
    assert_eq!(count(&log, "partner.strike_recorded"), 4);
    assert!(gateway.log().contains("only the configuration can take it out"));
    assert_eq!(outcome(&search(&gateway, 9).await, "oem").0, "answered");
    let shown = cli(&["health", "oem"]);
    for part in ["search_ac_service_slots", "WARRANTY_DECLINED", "BK-3", "in the pool", "closed"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let listed = cli(&["health"]);
    assert!(listed.contains("3 WARRANTY_DECLINED") && listed.contains("other"), "{listed}");
    let raw: Value = serde_json::from_str(&cli(&["health", "other", "--json"])).expect("JSON");
    assert_eq!(raw["partner"], "other");
}
