//! The pages in a real browser (`tests/browser/walk.mjs`).
#![expect(clippy::print_stderr, reason = "what was looked at is for whoever asks with --nocapture")]

use std::path::PathBuf;
use std::process::Stdio;

use serde_json::json;
use test_servers::tools;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Command;

use super::PAGES;
use super::deliveries::refuse_reports;
use super::entry::CODE_MAIL;
use crate::calls::booking;
use crate::harness::{eventually, request, safety_first_contract};
use crate::onboarding::{Business, Page, Platform, code};

/// Set to `required` where tests must not go without a browser.
const DEMAND: &str = "INTENT_GATEWAY_TEST_BROWSER";

/// The program of the browser, where there is one.
pub(super) fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join("chromium")).find(|program| program.is_file());
    let is_demanded = std::env::var_os(DEMAND).is_some_and(|demand| demand == "required");
    assert!(found.is_some() || !is_demanded, "Chromium is not installed; on Debian: apt-get install chromium");
    found
}

/// Has the pages show something: a live partner, a ranking, an order, what was found in the partner's answer, reports that were refused.
/// The request of the ranking.
async fn fill(platform: &Platform, business: &Business) -> String {
    platform.admin(&business.admin_path("switch-on"), json!({})).await;
    platform.routed(&[&business.id]).await;
    let found = platform.gateway.found(&request()).await;
    let request_id = found["request_id"].as_str().expect("named");
    let mut options = found["options"].as_array().expect("a list").iter();
    let option = options.find(|option| option["bookable"] == true).expect("a bookable option");
    let body = json!({"reference": option["reference"], "arguments": booking(request_id)});
    let path = "/api/v1/intents/auto.book_ac_service/tools/create_ac_service_booking";
    let booked = platform.gateway.post(path, &body).await;
    assert_eq!(booked.status, 200, "{}", booked.body);
    let booking_id = booked.body["payload"]["booking_id"].as_str().expect("a text");
    refuse_reports(platform, business, booking_id, request_id).await;
    // No search waits for its receipt to be kept.
    eventually("there is no receipt", &platform.gateway, async || {
        let kept = platform.gateway.admin_get(&format!("/receipts?request_id={request_id}")).await;
        kept["receipts"].as_array().is_some_and(|receipts| !receipts.is_empty()).then_some(())
    })
    .await;
    request_id.to_owned()
}

/// Waits until there is a sample of what a partner was called for, which is taken every ten seconds.
pub(super) async fn sampled(platform: &Platform, partner: &str) {
    let gateway = &platform.gateway;
    eventually("no sample was taken", gateway, async || {
        let told = gateway.admin_get(&format!("/partners/{partner}/traffic")).await;
        told["tools"].as_array().is_some_and(|tools| tools.iter().any(|tool| tool["at"] != json!([]))).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_is_sound_in_a_browser() {
    let Some(chromium) = chromium() else {
        eprintln!("Chromium is not installed: the pages were not looked at");
        return;
    };
    let platform = Platform::start_with(None, PAGES);
    let ready = platform.ready("asha@coolcar.example").await;
    let request_id = fill(&platform, &ready.business).await;
    let privacy = Page::start().await;
    sampled(&platform, &ready.business.id).await;
    // Browsers keep a cookie for TLS without TLS for the name of their own machine alone.
    let address = platform.gateway.server.url.replace("127.0.0.1", "localhost");
    let mut walk = Command::new(tools::mcp_node().expect("cargo xtask test --only \"test tools\""))
        .arg(tools::browser_script("walk.mjs").expect("cargo xtask test --only \"test tools\""))
        .env("GATEWAY", address)
        .env("ADMIN_TOKEN", platform.gateway.admin_token())
        .env("CHROMIUM", chromium)
        .env("ORDER_REQUEST", request_id)
        .env("COMPONENT", safety_first_contract())
        .env("OTHER_VERSION", "1.0.1")
        .env("LIVE_VERSION", "1.0.0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("it starts");
    let mut input = walk.stdin.take().expect("piped");
    let mut lines = BufReader::new(walk.stdout.take().expect("piped")).lines();
    let mut faults = walk.stderr.take().expect("piped");
    let told = tokio::spawn(async move {
        let mut text = String::new();
        faults.read_to_string(&mut text).await.map(|_| text)
    });
    let mut done = Vec::new();
    while let Some(line) = lines.next_line().await.expect("text") {
        eprintln!("{line}");
        if let Some(address) = line.strip_prefix("CODE ") {
            // The first one has opened the account that is live.
            let nth = usize::from(address == ready.business.email);
            let code = code(&platform.mails_saying(address, CODE_MAIL, nth + 1).await[nth]);
            input.write_all(format!("{code}\n").as_bytes()).await.expect("it reads");
        } else if line == "REVIEW" {
            // While a page is open, somebody hands in a manifest.
            let business = platform.sign_up("lila@thirdcar.example").await;
            platform.submit(&business, &privacy).await;
        } else if let Some(what) = line.strip_prefix("DONE ") {
            done.push(what.to_owned());
        }
    }
    let ended = walk.wait().await.expect("it ends");
    let faults = told.await.expect("read").expect("text");
    assert!(ended.success() && faults.is_empty(), "{faults}");
    assert_eq!(done.last().map(String::as_str), Some("all"), "{done:?}");
    for what in ["review by itself", "end of a session", "copy", "version without scripts", "version with scripts"] {
        assert!(done.iter().any(|done| done == what), "{done:?}");
    }
    assert_eq!(done.iter().filter(|what| what.starts_with("walk ")).count(), 6, "{done:?}");
}
