//! What moves on pages that are open.
#![expect(clippy::print_stderr, reason = "times are for whoever asks with --nocapture")]

use std::time::{Duration, Instant};

use serde_json::json;

use super::PAGES;
use super::browser::{Browser, Event, form_token};
use super::entry::sign_in;
use crate::harness::{Gateway, GatewayOptions, ac_contract, eventually};
use crate::onboarding::{Business, Page, Platform};

const OVERVIEW: &str = "/console/live/overview";
const HOME: &str = "/dashboard/live/home";
/// Streams that one session may have.
const OF_SESSION_MAX: usize = 4;
/// Something is to be on an open page within a second. The rest is for a machine that does much else meanwhile.
const SHOWN_WITHIN: Duration = Duration::from_millis(2_500);
/// The endpoint of a business. Nobody asks there.
const ENDPOINT: &str = "https://mcp.coolcar.example/mcp";

fn with_pages() -> Gateway {
    Gateway::start(&GatewayOptions {
        contracts: vec![ac_contract()],
        extra: PAGES.to_owned(),
        ..GatewayOptions::default()
    })
}

async fn register(platform: &Platform, business: &Business) {
    let endpoint = json!({"kind": "mcp", "url": ENDPOINT});
    let registered = platform.put(&business.path("connection"), &business.token, endpoint).await;
    assert_eq!(registered.status, 200, "{}", registered.body);
}

fn is_fragment((name, data): &Event) -> bool {
    name.is_empty() && !data.is_empty()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happens_is_on_open_pages_within_a_second() {
    let platform = Platform::start_with(None, PAGES);
    let business = platform.sign_up("asha@coolcar.example").await;
    let mut team = Browser::of_team(&platform.gateway, platform.gateway.admin_token()).await;
    let partner = sign_in(&platform, &business.email, 1).await;
    let mut overview = team.follow(OVERVIEW).await.expect("a stream");
    let mut connection = partner.follow("/dashboard/live/connection").await.expect("a stream");
    // What is there already comes first, and is what the page shows.
    let (_, first) = overview.until(is_fragment).await;
    assert!(team.page("/console").await.contains(&first), "{first}");
    let (_, first) = connection.until(is_fragment).await;
    assert!(first.contains("No endpoint is registered yet.") && !first.contains("form_token"), "{first}");

    let start = Instant::now();
    register(&platform, &business).await;
    let (_, shown) = connection.until(is_fragment).await;
    let took = start.elapsed();
    assert!(shown.contains("In the sandbox") && shown.contains(ENDPOINT), "{shown}");
    eprintln!("a partner's page shows its endpoint after {took:?}");
    assert!(took < SHOWN_WITHIN, "{took:?}");
    let (_, shown) = overview.until(is_fragment).await;
    assert!(shown.contains("<dt>sandbox</dt>"), "{shown}");

    let page = Page::start().await;
    platform.submit(&business, &page).await;
    let start = Instant::now();
    let (_, shown) = overview.until(is_fragment).await;
    let took = start.elapsed();
    assert!(shown.contains("One thing waits for the team."), "{shown}");
    eprintln!("the overview shows a review after {took:?}");
    assert!(took < SHOWN_WITHIN, "{took:?}");

    // Nothing is sent where nothing has happened, but a sign of life.
    let (name, data) = overview.next().await.expect("it goes on");
    assert_eq!((name.as_str(), data.as_str()), ("beat", ""));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_with_its_session_and_is_nobody_elses() {
    let platform = Platform::start_with(None, PAGES);
    let gateway = &platform.gateway;
    for path in [OVERVIEW, HOME, "/console/live/intents/auto.book_ac_service"] {
        assert_eq!(Browser::new(gateway).follow(path).await.err(), Some(401), "{path}");
    }
    let business = platform.sign_up("asha@coolcar.example").await;
    let partner = sign_in(&platform, &business.email, 1).await;
    assert_eq!(partner.follow(OVERVIEW).await.err(), Some(401), "a partner's session is none of the team");

    let mut team = Browser::of_team(gateway, gateway.admin_token()).await;
    assert_eq!(team.follow("/console/live/intents/auto.none").await.err(), Some(404));
    let watcher = gateway.token(&["--role", "admin", "--subject", "ravi", "--scope", "watch"]);
    let watcher = Browser::of_team(gateway, &watcher).await;
    assert_eq!(watcher.follow("/console/live/reviews").await.err(), Some(403), "as the page itself");
    let mut stream = team.follow(OVERVIEW).await.expect("a stream");
    stream.until(is_fragment).await;
    let token = form_token(&team.page("/console").await);
    let cookie = team.cookie.clone();
    assert_eq!(team.submit("/console/sign-out", &[("form_token", &token)]).await.status, 303);
    let (_, reason) = stream.until(|(name, _)| name == "end").await;
    assert_eq!(reason, "closed");
    assert_eq!(stream.next().await, None);
    team.cookie = cookie;
    assert_eq!(team.follow(OVERVIEW).await.err(), Some(401));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_has_so_many_streams_and_pages_go_on() {
    let gateway = with_pages();
    let mut team = Browser::of_team(&gateway, gateway.admin_token()).await;
    let mut open = Vec::new();
    for _ in 0..OF_SESSION_MAX {
        open.push(team.follow(OVERVIEW).await.expect("there is room"));
    }
    assert_eq!(team.follow(OVERVIEW).await.err(), Some(503));
    assert_eq!(team.get("/console").await.status, 200, "pages are made all the same");
    let other = Browser::of_team(&gateway, &gateway.token(&["--role", "admin", "--subject", "ravi"])).await;
    assert!(other.follow(OVERVIEW).await.is_ok(), "another session has its own");
    open.pop();
    eventually("a place stays taken", &gateway, async || team.follow(OVERVIEW).await.ok()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_waits_for_no_stream() {
    let gateway = with_pages();
    let team = Browser::of_team(&gateway, gateway.admin_token()).await;
    let mut stream = team.follow(OVERVIEW).await.expect("a stream");
    stream.until(is_fragment).await;
    let start = Instant::now();
    gateway.server.terminate();
    let (_, reason) = stream.until(|(name, _)| name == "end").await;
    assert!(reason.contains("shutdown"), "{reason}");
    assert_eq!(stream.next().await, None);
    drop(team);
    let Gateway { server, .. } = gateway;
    assert!(server.wait(), "a clean stop");
    eprintln!("stopped after {:?}", start.elapsed());
}

/// A page that stays open looks every second, and its visitor has asked once.
#[tokio::test(flavor = "multi_thread")]
async fn looking_again_counts_once() {
    let platform = Platform::start_with(None, &format!("{PAGES}\n[quotas]\naccount_per_minute = 500\n"));
    let gateway = &platform.gateway;
    let business = platform.sign_up("asha@coolcar.example").await;
    let partner = sign_in(&platform, &business.email, 1).await;
    let left = async || -> u32 {
        let path = format!("{}{}", gateway.server.url, business.path("accounts"));
        let answer = reqwest::Client::new().get(path).bearer_auth(&business.token).send().await.expect("an answer");
        let field = answer.headers()["ratelimit"].to_str().expect("text").to_owned();
        let left = field.split("r=").nth(1).and_then(|rest| rest.split(';').next()).map(str::parse);
        left.expect("a number").expect("a number")
    };
    let before = left().await;
    let mut stream = partner.follow(HOME).await.expect("a stream");
    // By then it has looked several times.
    stream.until(|(name, _)| name == "beat").await;
    // One for the stream, one for asking.
    assert_eq!(before - left().await, 2);
}
