//! Tokens that end: by themselves, one alone, or with all that was granted.

use std::time::{Duration, Instant};

use super::browser::Consent;
use super::world::{Setting, World};

/// How long access tokens last where a test waits for their end, seconds.
const SHORT_SECONDS: u32 = 4;
/// How long such a test looks on.
const LOOK_MAX: Duration = Duration::from_secs(60);
/// Pause between two looks.
const LOOK: Duration = Duration::from_millis(100);

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_renewed_before_it_ends_and_no_call_fails() {
    let world = World::start(Setting { token_seconds: SHORT_SECONDS, ..Setting::default() }).await;
    world.link("asha", "asha").await;
    let option = world.option("asha").await;
    assert_eq!(world.subject("asha", &option, "first").await, "asha");
    let refused = world.partner.refused();
    let deadline = Instant::now() + LOOK_MAX;
    let mut calls = 0;
    // Three tokens after the first: each refresh token but the first came by rotation.
    while world.partner.tokens_of("asha").len() < 4 {
        assert!(Instant::now() < deadline, "{:?}\n{}", world.told("counts").await, world.gateway.log());
        assert_eq!(world.subject("asha", &option, &format!("r{calls}")).await, "asha");
        calls += 1;
        tokio::time::sleep(LOOK).await;
    }
    assert_eq!(world.partner.refused(), refused, "no token went out that was over");
    let counts = world.told("counts").await;
    assert!(counts["refreshes"].as_u64() >= Some(3), "{counts}");

    // Nobody calls until the token is over: the next call waits for another one.
    let over = Duration::from_secs(u64::from(SHORT_SECONDS) + 1);
    tokio::time::sleep(over).await;
    assert_eq!(world.subject("asha", &option, "late").await, "asha");
    assert_eq!(world.partner.refused(), refused);
    assert_eq!(world.audited().await, ["link_client.registered", "link.made"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_the_partner_refuses_is_replaced() {
    let world = World::start(Setting::default()).await;
    world.link("asha", "asha").await;
    let option = world.option("asha").await;
    assert_eq!(world.subject("asha", &option, "first").await, "asha");
    let first = world.partner.tokens_of("asha");
    world.tell("forget", &first[0]).await;
    // A token that was obtained just now is not replaced; a moment later it is.
    let deadline = Instant::now() + LOOK_MAX;
    let mut tries = 0;
    loop {
        let booked = world.book("asha", &option, &format!("r{tries}")).await;
        if booked.status == 200 {
            assert_eq!(booked.body["payload"]["echoed_subject"], "asha");
            break;
        }
        assert_eq!(booked.body["error"]["code"], "SIGN_IN_REQUIRED", "{}", booked.body);
        assert!(Instant::now() < deadline, "{}", world.gateway.log());
        tries += 1;
        tokio::time::sleep(LOOK).await;
    }
    assert_eq!(world.told("counts").await["refreshes"], 1);
    assert_eq!(world.links("asha").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_that_was_revoked_elsewhere_ends_the_link() {
    let world = World::start(Setting { token_seconds: SHORT_SECONDS, ..Setting::default() }).await;
    let mut browser = world.browser();
    let link = world.offer("asha").await;
    let location = browser.confirm(&link).await.leads_to();
    let request = reqwest::Url::parse(&location).expect("an address");
    let client_id = request.query_pairs().find(|(name, _)| name == "client_id").expect("a client").1.into_owned();
    let back = browser.authorize(&location, "asha", Consent::Grant).await;
    assert_eq!(browser.open(&back).await.status, 200);
    let option = world.option("asha").await;
    assert_eq!(world.subject("asha", &option, "first").await, "asha");

    // As a user would do at the partner's own site.
    let token = world.partner.tokens_of("asha").remove(0);
    world.post_to_server("/token/revocation", &format!("token={token}&client_id={client_id}")).await;
    let deadline = Instant::now() + LOOK_MAX;
    // The same write each time: what was refused for want of a sign-in was not done.
    while !world.links("asha").await.is_empty() {
        let refused = world.book("asha", &option, "r2").await;
        assert_eq!(refused.body["error"]["code"], "SIGN_IN_REQUIRED", "{}", refused.body);
        assert!(refused.body["error"]["link_url"].is_string(), "{}", refused.body);
        assert!(Instant::now() < deadline, "{}", world.gateway.log());
        tokio::time::sleep(LOOK).await;
    }
    assert_eq!(world.audited().await, ["link_client.registered", "link.made", "link.ended"]);
    world.link("asha", "asha").await;
    assert_eq!(world.subject("asha", &option, "r3").await, "asha");
}
