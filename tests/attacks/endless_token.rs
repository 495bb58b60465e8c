//! Somebody who once had the signing key, or an issuer that is careless, leaves a token that never ends, or not for years. It opens
//! nothing, and one that was good under a wider bound opens nothing under a narrower one.

use serde_json::{Value, json};

use crate::harness::{Gateway, GatewayOptions};
use crate::onboarding::{SIGNING_KEY, resigned};

const YEAR_S: u64 = 365 * 24 * 60 * 60;
const DAY_S: u64 = 24 * 60 * 60;

fn gateway(auth: &str) -> Gateway {
    let extra = format!("[auth]\nsigning_key = \"{SIGNING_KEY}\"\n{auth}");
    Gateway::start(&GatewayOptions { extra, ..GatewayOptions::default() })
}

/// The same token, with its end so many seconds behind its issue.
fn living(token: &str, seconds: u64) -> String {
    resigned(token, SIGNING_KEY, |claims| claims["exp"] = json!(claims["iat"].as_u64().expect("a time") + seconds))
}

async fn asked(gateway: &Gateway, token: &str) -> (u16, Value) {
    let answer = gateway.call("GET", "/api/v1/intents", Some(token), None).await;
    (answer.status, answer.body["error"]["code"].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_never_ends_or_not_for_years_opens_nothing() {
    let gateway = gateway("token_life_max_s = 2592000\n");
    let (good, refused) = ((200, Value::Null), (401, json!("TOKEN_LIFE_TOO_LONG")));
    for role in ["admin", "orchestrator"] {
        let token = gateway.token(&["--role", role]);
        assert_eq!(asked(&gateway, &living(&token, 30 * DAY_S)).await, good, "{role}: thirty days");
        let without =
            resigned(&token, SIGNING_KEY, |claims| drop(claims.as_object_mut().expect("claims").remove("exp")));
        let null = resigned(&token, SIGNING_KEY, |claims| claims["exp"] = Value::Null);
        let late = living(&token, 30 * DAY_S + 1);
        for (what, endless) in
            [("a second more", late), ("ten years", living(&token, 10 * YEAR_S)), ("no end", without), ("null", null)]
        {
            assert_eq!(asked(&gateway, &endless).await, refused, "{role}: {what}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bound_is_the_operators() {
    let gateway = gateway("token_life_max_s = 600\n");
    let token = gateway.token(&["--role", "admin"]);
    assert_eq!(asked(&gateway, &token).await, (200, Value::Null), "it is issued for no longer than that");
    assert_eq!(asked(&gateway, &living(&token, 600)).await, (200, Value::Null));
    assert_eq!(asked(&gateway, &living(&token, 601)).await, (401, json!("TOKEN_LIFE_TOO_LONG")));
}
