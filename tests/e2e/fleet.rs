//! Several gateways on one store: who lives, who does what one is to do, and rates that hold over all of them, also while gateways
//! die, are frozen and wake up.
#![expect(clippy::print_stderr, reason = "the stores and the figures are for whoever asks with --nocapture")]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use intent_gateway_domain::fleet::Duty;
use serde_json::{Value, json};
use tempfile::TempDir;
use test_servers::postgres::Postgres;

use crate::calls::booking;
use crate::harness::{Answer, Gateway, GatewayOptions, PartnerEntry, ac_contract, eventually, request, rust_partner};
use crate::onboarding::settings;
use crate::scripted::{Behaviour, Scripted};

/// A port at which no mail server is.
pub(crate) const NO_SMTP: u16 = 9;
pub(crate) const LEASE: Duration = Duration::from_secs(2);
/// How soon after a gateway has died another has its duties: its lease, the time between two renewals, and a busy machine.
const TAKEN_OVER: Duration = Duration::from_secs(8);
/// Within this time the others know that a partner wants to be left alone: a second, and a busy machine.
const HEARD_WITHIN: Duration = Duration::from_secs(3);
/// For so long the partner wants to be left alone: longer than a search waits, and than a test on a busy machine takes.
const LEFT_ALONE_SECONDS: u32 = 60;
/// How often two calls are tried that are to be counted together. Where a busy machine keeps the store from answering in time,
/// each gateway counts alone and says so, which tells nothing.
const ATTEMPTS: usize = 5;
const TOOLS: &str = "/api/v1/intents/auto.book_ac_service/tools";
const CREATE: &str = "create_ac_service_booking";

/// A store for several gateways.
pub(crate) struct SharedStore {
    pub(crate) engine: &'static str,
    pub(crate) url: String,
    _folder: Option<TempDir>,
}

pub(crate) fn postgres() -> Option<SharedStore> {
    let server = Postgres::shared().unwrap_or_else(|error| panic!("{error}"));
    if server.is_none() {
        eprintln!("PostgreSQL is not installed: several gateways were not tested on it");
    }
    server.map(|server| SharedStore {
        engine: "PostgreSQL",
        url: server.database().expect("a database"),
        _folder: None,
    })
}

pub(crate) fn sqlite() -> SharedStore {
    let folder = tempfile::tempdir().expect("a temporary folder");
    SharedStore {
        engine: "SQLite",
        url: format!("sqlite://{}", folder.path().join("shared.db").display()),
        _folder: Some(folder),
    }
}

impl SharedStore {
    /// A gateway with a folder of its own, that keeps to the rates.
    fn gateway(&self, partner: &PartnerEntry) -> Gateway {
        let lease_ms = LEASE.as_millis();
        Gateway::start(&GatewayOptions {
            partners: vec![partner.clone()],
            contracts: vec![ac_contract()],
            extra: format!(
                "[outbound]\nrate_limits = true\nsearch_cache = false\n[fleet]\nlease_ms = {lease_ms}\n{}",
                settings(Some(&self.url), NO_SMTP)
            ),
            ..GatewayOptions::default()
        })
    }

    fn gateways<const N: usize>(&self, partner: &PartnerEntry) -> [Gateway; N] {
        std::array::from_fn(|_| self.gateway(partner))
    }
}

/// The gateways that one of them sees.
async fn listed(gateway: &Gateway) -> Vec<Value> {
    gateway.admin_get("/gateways").await["gateways"].as_array().expect("a list").clone()
}

/// Waits until each of them counts so many.
pub(crate) async fn all_know(gateways: &[&Gateway], count: usize) {
    let live = format!("intent_gateway_gateways_live {count}");
    for gateway in gateways {
        eventually(&format!("it does not count {count} gateways"), gateway, async || {
            metrics(gateway).await.contains(&live).then_some(())
        })
        .await;
    }
}

pub(crate) async fn metrics(gateway: &Gateway) -> String {
    let answer = gateway.call("GET", "/api/v1/admin/metrics", Some(gateway.admin_token()), None).await;
    answer.body.as_str().expect("a text").to_owned()
}

/// How many duties a gateway says that it has.
async fn duties_held(gateway: &Gateway) -> usize {
    metrics(gateway)
        .await
        .lines()
        .filter(|line| line.starts_with("intent_gateway_duty_held{") && line.ends_with(" 1"))
        .count()
}

/// How many calls of users a gateway has counted alone.
async fn unshared_calls(gateway: &Gateway) -> u64 {
    let told = metrics(gateway).await;
    let count = told.lines().find_map(|line| line.strip_prefix("intent_gateway_unshared_calls_total "));
    count.map_or(0, |count| count.parse().expect("a count"))
}

async fn unshared_by_all(gateways: &[Gateway]) -> u64 {
    join_all(gateways.iter().map(unshared_calls)).await.iter().sum()
}

fn code(answer: &Answer) -> (u16, Option<&str>) {
    (answer.status, answer.body["error"]["code"].as_str())
}

async fn search(gateway: &Gateway, user: Option<&str>) -> Value {
    let (path, token) = ("/api/v1/intents/auto.book_ac_service/search", Some(gateway.orchestrator_token()));
    let answer = match user {
        Some(user) => gateway.call_for(user, "POST", path, token, Some(&request())).await,
        None => gateway.call("POST", path, token, Some(&request())).await,
    };
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.body
}

async fn book(gateway: &Gateway, user: &str, option: &Value, key: &str) -> Answer {
    let body = json!({"reference": option["reference"], "arguments": booking(key)});
    let token = Some(gateway.orchestrator_token());
    gateway.call_for(user, "POST", &format!("{TOOLS}/{CREATE}"), token, Some(&body)).await
}

/// What a user gets who books two options at once, one at each gateway.
async fn book_at_once(gateways: &[Gateway; 2], user: &str) -> Vec<Answer> {
    let found = search(&gateways[0], Some(user)).await;
    let options = found["options"].as_array().expect("a list");
    let options: Vec<&Value> = options.iter().filter(|option| option["bookable"] == true).take(2).collect();
    assert_eq!(options.len(), 2, "{found}");
    let both = [0, 1].map(|at| {
        let (gateway, option) = (&gateways[at], options[at]);
        async move { book(gateway, user, option, &format!("{user}-{at}")).await }
    });
    join_all(both).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_creates_once_a_minute_and_searches_once_a_second_over_two_gateways() {
    for store in postgres().into_iter().chain([sqlite()]) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let partner = rust_partner("oem", folder.path());
        let gateways: [Gateway; 2] = store.gateways(&PartnerEntry::new("oem", &partner.url));
        all_know(&[&gateways[0], &gateways[1]], 2).await;
        // One after the other, for what one user books is gone for the next.
        for name in ["ann", "bob"] {
            let mut answers = Vec::new();
            for attempt in 0..ATTEMPTS {
                let before = unshared_by_all(&gateways).await;
                answers = book_at_once(&gateways, &format!("{name}-{attempt}")).await;
                if unshared_by_all(&gateways).await == before {
                    break;
                }
            }
            let mut codes: Vec<_> = answers.iter().map(code).collect();
            codes.sort_unstable();
            assert_eq!(codes, [(200, None), (429, Some("RATE_LIMITED"))], "{}: {answers:?}", store.engine);
        }

        // Each gateway searches for one user, again and again, for some seconds.
        let begun = Instant::now();
        let answered = join_all(gateways.iter().map(|gateway| async move {
            let mut answered = 0;
            while begun.elapsed() < Duration::from_secs(4) {
                let found = search(gateway, Some("cleo")).await;
                answered += u64::from(found["partners"][0]["status"] == "answered");
            }
            answered
        }))
        .await;
        // A store that a busy machine keeps from answering in time counts nothing, and the gateway says how often.
        let unshared = unshared_by_all(&gateways).await;
        let (sum, most) = (answered.iter().sum::<u64>(), begun.elapsed().as_secs() + 1);
        eprintln!(
            "{}: {answered:?} searches of one user in {:?}, {unshared} calls not counted together",
            store.engine,
            begun.elapsed()
        );
        assert!(sum <= most + unshared && sum >= 3, "{}: {answered:?} in {:?}", store.engine, begun.elapsed());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_is_killed_leaves_its_duties_and_its_share_to_the_others() {
    let Some(store) = postgres() else { return };
    let slots = crate::search::honest_slots().await;
    let partner = Scripted::with_slots(json!(slots)).await;
    let entry = partner.entry("scripted");
    let first = store.gateway(&entry);
    let others: [Gateway; 2] = store.gateways(&entry);
    all_know(&[&first, &others[0], &others[1]], 3).await;
    let list = listed(&others[1]).await;
    assert_eq!(list.len(), 3);
    assert_eq!(list[0]["duties"].as_array().map(Vec::len), Some(Duty::ALL.len()), "the first has all: {list:?}");
    assert!(list[1]["name"].as_str().is_some_and(|name| name.contains("127.0.0.1:")), "{list:?}");
    assert_eq!([duties_held(&first).await, duties_held(&others[0]).await], [Duty::ALL.len(), 0]);
    // A third of what the contract allows, which is 60 a minute.
    let answered = async |gateway: &Gateway, tries: usize| {
        let mut count = 0;
        for _ in 0..tries {
            count += usize::from(search(gateway, None).await["partners"][0]["status"] == "answered");
        }
        count
    };
    assert_eq!(answered(&others[0], 22).await, 20);

    first.server.kill();
    let killed = Instant::now();
    all_know(&[&others[0], &others[1]], 2).await;
    let list = eventually("nobody takes the duties over", &others[0], async || {
        let list = listed(&others[0]).await;
        list.iter().any(|one| one["duties"].as_array().map(Vec::len) == Some(Duty::ALL.len())).then_some(list)
    })
    .await;
    assert!(killed.elapsed() < TAKEN_OVER, "{:?}", killed.elapsed());
    eprintln!("the duties were taken over {:?} after the kill, with a lease of {LEASE:?}", killed.elapsed());
    assert_eq!(list.len(), 2);
    assert_eq!(answered(&others[0], 12).await, 10, "half of what the contract allows is now its share");

    // Started again on its folder, it is the same gateway, and takes nothing from whoever has taken over.
    let first = first.revive();
    all_know(&[&first, &others[0]], 3).await;
    assert_eq!(duties_held(&first).await, 0);
    // One that stops gives back at once what it has: nobody waits for its lease.
    let holder = if duties_held(&others[0]).await > 0 { 0 } else { 1 };
    let [one, other] = others;
    let (holder, other) = if holder == 0 { (one, other) } else { (other, one) };
    holder.stop();
    all_know(&[&first, &other], 2).await;
    eventually("nobody takes the duties over", &other, async || {
        (duties_held(&first).await + duties_held(&other).await == Duty::ALL.len()).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_was_frozen_does_not_go_on_with_what_another_has_taken_over() {
    let Some(store) = postgres() else { return };
    let partner = Scripted::start(Behaviour::Status(500)).await;
    let [frozen, other]: [Gateway; 2] = store.gateways(&partner.entry("scripted"));
    all_know(&[&frozen, &other], 2).await;
    assert_eq!([duties_held(&frozen).await, duties_held(&other).await], [Duty::ALL.len(), 0]);
    frozen.server.freeze();
    all_know(&[&other], 1).await;
    eventually("the duties are not taken over", &other, async || {
        (duties_held(&other).await == Duty::ALL.len()).then_some(())
    })
    .await;
    frozen.server.wake();
    eventually("it does not notice that its lease has ended", &frozen, async || {
        frozen.log().contains("the lease had ended before it was renewed").then_some(())
    })
    .await;
    all_know(&[&frozen, &other], 2).await;
    eventually("it goes on with what another has taken over", &frozen, async || {
        (duties_held(&frozen).await == 0).then_some(())
    })
    .await;
    assert_eq!(duties_held(&other).await, Duty::ALL.len());
    let list = listed(&frozen).await;
    let of = |gateway: &Gateway| {
        let port = gateway.server.url.rsplit(':').next().expect("a port").to_owned();
        list.iter().find(|one| one["name"].as_str().is_some_and(|name| name.ends_with(&port))).expect("it is there")
    };
    assert_eq!(of(&frozen)["duties"], json!([]), "{list:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partner_that_asks_one_gateway_to_slow_down_is_left_alone_by_the_other() {
    let Some(store) = postgres() else { return };
    let partner = Scripted::start(Behaviour::SlowDown(LEFT_ALONE_SECONDS)).await;
    let [one, other]: [Gateway; 2] = store.gateways(&partner.entry("scripted"));
    all_know(&[&one, &other], 2).await;
    // It asks for longer than a search lasts, so it is called once.
    let found = search(&one, None).await;
    let told = Instant::now();
    assert_eq!(partner.calls(), 1, "{found}");
    // The time that is promised, and no event: whoever asks the other one earlier may have it call the partner.
    tokio::time::sleep_until((told + HEARD_WITHIN).into()).await;
    let found = search(&other, None).await;
    assert_eq!(found["partners"][0]["code"], "BACKED_OFF", "{found}");
    assert_eq!(partner.calls(), 1, "it was not called again");
}

/// Times from a change of the catalogue until it served, of all gateways together: how many took so many milliseconds at most.
#[derive(Default)]
pub(crate) struct FlipTimes(BTreeMap<u64, u64>);

impl FlipTimes {
    /// Adds what a gateway has counted since it was started.
    pub(crate) async fn add(&mut self, gateway: &Gateway) {
        let told = metrics(gateway).await;
        for line in told.lines() {
            let Some(line) = line.strip_prefix("intent_gateway_contract_flip_seconds_bucket") else { continue };
            let bound = line.split("le=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a bound");
            let seconds: f64 = bound.parse().expect("a number");
            let count: u64 = line.rsplit(' ').next().and_then(|count| count.parse().ok()).expect("a count");
            *self.0.entry((seconds * 1_000.0).round() as u64).or_default() += count;
        }
    }

    /// How many there were.
    pub(crate) fn count(&self) -> u64 {
        self.0.values().copied().max().unwrap_or_default()
    }

    pub(crate) fn print(&self) {
        eprintln!("flips: {}", self.count());
        for (bound, count) in self.0.iter().filter(|(bound, _)| **bound < u64::MAX) {
            eprintln!("  within {bound} ms: {count}");
        }
    }
}
