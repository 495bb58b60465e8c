//! Somebody who knows an address asks for codes to it, under other names of its mailbox as well, and enters wrong ones, to keep its owner
//! out or to fill the mailbox.

use std::net::IpAddr;

use serde_json::{Value, json};

use crate::harness::{Answer, Gateway};
use crate::onboarding::{Platform, code};

const OWNER: &str = "owner@coolcar.example";

async fn post(gateway: &Gateway, path: &str, body: Value) -> Answer {
    gateway.call("POST", &format!("/api/v1/business/{path}"), None, Some(&body)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn asking_for_codes_locks_nobody_out() {
    let platform = Platform::start(None);
    let gateway = &platform.gateway;
    platform.sign_up(OWNER).await;
    for _ in 0..12 {
        let asked = post(gateway, "sign-in", json!({"email": OWNER})).await;
        assert_eq!(asked.status, 202, "{}", asked.body);
    }
    // The owner asks in the middle of it, and enters by the code that stands last in the mailbox: five after the first.
    let asked = post(gateway, "sign-in", json!({"email": OWNER})).await;
    assert_eq!(asked.status, 202, "{}", asked.body);
    let last = code(&platform.mail(OWNER, 5).await);
    let entered = post(gateway, "sign-up/verify", json!({"email": OWNER, "code": last})).await;
    assert_eq!(entered.status, 200, "{}", entered.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn other_names_of_a_mailbox_bring_no_more_codes_into_it() {
    let platform = Platform::start(None);
    let gateway = &platform.gateway;
    for number in 0..12 {
        let body = json!({"email": format!("Owner+{number}@CoolCar.example"), "business_name": "CoolCar"});
        let asked = post(gateway, "sign-up", body).await;
        assert_eq!(asked.status, 202, "answered alike: {}", asked.body);
    }
    // The owner is kept out by none of it.
    platform.sign_up(OWNER).await;
    let mails = platform.recipients().iter().filter(|to| to.starts_with("owner")).count();
    assert_eq!(mails, 5, "as many as one address gets at once: {:?}", platform.recipients());
}

/// Asks from another address of this machine, perhaps as a proxy does.
async fn post_from(address: [u8; 4], gateway: &Gateway, path: &str, body: &Value, forwarded: Option<&str>) -> u16 {
    let client = reqwest::Client::builder().local_address(IpAddr::from(address)).build().expect("a client");
    let mut request = client.post(format!("{}/api/v1/business/{path}", gateway.server.url)).json(body);
    if let Some(forwarded) = forwarded {
        request = request.header("x-forwarded-for", forwarded);
    }
    request.send().await.expect("the gateway answers").status().as_u16()
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_codes_from_elsewhere_cost_the_owner_none() {
    let platform = Platform::start(None);
    let gateway = &platform.gateway;
    let asked = post(gateway, "sign-up", json!({"email": OWNER, "business_name": "CoolCar"})).await;
    assert_eq!(asked.status, 202, "{}", asked.body);
    let right = code(&platform.mail(OWNER, 0).await);
    let enter = async |code: &str| {
        let body = json!({"email": OWNER, "code": code});
        post_from([127, 0, 0, 2], gateway, "sign-up/verify", &body, None).await
    };
    for _ in 0..5 {
        assert_eq!(enter("no code").await, 401);
    }
    assert_eq!(enter(&right).await, 401, "no try is left there");
    let entered = post(gateway, "sign-up/verify", json!({"email": OWNER, "code": right})).await;
    assert_eq!(entered.status, 200, "{}", entered.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn guesses_from_many_networks_keep_nobody_out_who_was_here() {
    let platform = Platform::start(None);
    let gateway = &platform.gateway;
    platform.sign_up(OWNER).await;
    let enter = async |network: u8, code: &str| {
        let body = json!({"email": OWNER, "code": code});
        post_from([127, 0, 0, network], gateway, "sign-up/verify", &body, None).await
    };
    let ask =
        async |network: u8| post_from([127, 0, 0, network], gateway, "sign-in", &json!({"email": OWNER}), None).await;
    // Two networks use up one code after the other, until the next one has to wait for its turn.
    for _ in 0..5 {
        assert_eq!(ask(2).await, 202);
        for network in [2, 3] {
            for _ in 0..5 {
                assert_eq!(enter(network, "no code").await, 401);
            }
        }
    }
    assert_eq!((ask(2).await, ask(4).await), (429, 429), "whoever is not known waits");
    assert_eq!(ask(1).await, 202, "the owner, who has entered from here, does not");
    let last = code(&platform.mail(OWNER, 5).await);
    assert_eq!((enter(4, &last).await, enter(1, &last).await), (401, 200));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_that_makes_all_clients_one_is_told_of() {
    let platform = Platform::start(None);
    let gateway = &platform.gateway;
    for client in ["198.51.100.7", "198.51.100.8", "198.51.100.9"] {
        let body = json!({"email": OWNER});
        assert_eq!(post_from([127, 0, 0, 1], gateway, "sign-in", &body, Some(client)).await, 202);
    }
    let health = gateway.call("GET", "/health", None, None).await.body;
    assert_eq!(health["warnings"], json!(["UNTRUSTED_PROXY"]), "{health}");
    let log = gateway.log();
    let told = log.lines().filter(|line| line.contains("trusted_proxies")).count();
    assert_eq!(told, 1, "once, and not for each request: {log}");
}
