//! Two gateways on one PostgreSQL: a rotated refresh token at one never breaks the other.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_servers::postgres::Postgres;
use test_servers::soak;

use super::world::{CREATE, INTENT, PARTNER, Setting, World};
use crate::calls::booking;
use crate::harness::Gateway;

/// How long access tokens last, seconds: so short that both gateways want to renew them again and again.
const TOKEN_SECONDS: u32 = 4;
/// How long both are called: in every run, and in a soak.
const CALLED_FOR: [Duration; 2] = [Duration::from_secs(10), Duration::from_secs(60)];
/// Who calls at once at each of them.
const CALLERS: usize = 4;

#[tokio::test(flavor = "multi_thread")]
async fn two_gateways_renew_one_users_token_in_turn() {
    let server = Postgres::shared().unwrap_or_else(|error| panic!("{error}"));
    let Some(server) = server else {
        eprintln!("PostgreSQL is not installed: replicas were not tested");
        return;
    };
    let store = server.database().expect("a database");
    let setting = Setting { token_seconds: TOKEN_SECONDS, store: Some(&store), ..Setting::default() };
    let world = World::start(setting).await;
    let second = world.replica();
    world.link("asha", "subject-of-asha").await;
    // What the first has given out, the second takes: they share a signing key.
    let option = world.option("asha").await;
    let [short, long] = CALLED_FOR;
    let called_for = soak::choose(short, long);
    let begun = Instant::now();
    let caller = async |gateway: &Gateway, number: usize| {
        let mut calls = 0;
        while begun.elapsed() < called_for {
            let body = json!({"reference": option, "arguments": booking(&format!("r{number}-{calls}"))});
            let booked = ask(gateway, "POST", &format!("{INTENT}/tools/{CREATE}"), Some(&body)).await;
            assert_eq!(booked["payload"]["echoed_subject"], "subject-of-asha", "{booked}\n{}", gateway.log());
            calls += 1;
        }
        calls
    };
    let gateways = [&world.gateway, &second];
    let callers = (0..2 * CALLERS).map(|number| caller(gateways[number % 2], number));
    let calls: usize = futures_util::future::join_all(callers).await.into_iter().sum();
    let counts = world.told("counts").await;
    let tokens = world.partner.tokens_of("subject-of-asha").len();
    eprintln!("{calls} calls at two gateways, {} renewals, {tokens} tokens at the partner", counts["refreshes"]);
    let renewals = counts["refreshes"].as_u64().expect("a number");
    let half_lives = called_for.as_secs() * 2 / u64::from(TOKEN_SECONDS);
    let expected = half_lives * 2 / 5..=half_lives + 2;
    assert!(expected.contains(&renewals), "one renewal for each half life of a token: {renewals}");
    assert_eq!(world.audited().await, ["link_client.registered", "link.made"], "no grant has ended");

    // What is unlinked at one is unlinked at the other, within the time that a token is held in memory.
    ask(&world.gateway, "DELETE", &format!("/api/v1/links/{PARTNER}"), None).await;
    let listed = ask(&second, "GET", "/api/v1/links", None).await;
    assert_eq!(listed["links"], json!([]));
    let body = json!({"reference": option, "arguments": booking("after")});
    let refused = ask(&second, "POST", &format!("{INTENT}/tools/{CREATE}"), Some(&body)).await;
    assert_eq!(refused["error"]["code"], "SIGN_IN_REQUIRED", "{refused}");
}

async fn ask(gateway: &Gateway, method: &str, path: &str, body: Option<&Value>) -> Value {
    gateway.call_for("asha", method, path, Some(gateway.orchestrator_token()), body).await.body
}
