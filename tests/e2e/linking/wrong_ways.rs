//! What ends a link before it is made: each is a page with a code, and leaves nothing behind.

use super::browser::{Browser, Consent, Page};
use super::world::{Setting, World};

async fn assert_refused(world: &World, page: &Page, status: u16, code: &str) {
    assert_eq!(page.status, status, "{}\n{}", page.text, world.gateway.log());
    assert!(page.text.contains(&format!("Code {code}, request ")), "{}", page.text);
    assert!(page.headers["content-type"].to_str().expect("text").starts_with("text/html"));
    assert!(page.headers.contains_key("content-security-policy"));
}

async fn assert_nothing_linked(world: &World, user: &str) {
    assert!(world.links(user).await.is_empty());
    let option = world.option(user).await;
    let refused = world.book(user, &option, "r1").await;
    assert_eq!(refused.body["error"]["code"], "SIGN_IN_REQUIRED", "{}", refused.body);
    assert!(world.audited().await.iter().all(|action| action != "link.made"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_granted_or_not_asked_for_links_nothing() {
    let world = World::start(Setting::default()).await;
    let user = "asha";

    let (mut browser, back) = world.coming_back(user, Consent::Deny).await;
    assert!(back.contains("error=access_denied"), "{back}");
    let page = browser.open(&back).await;
    assert_refused(&world, &page, 403, "LINK_DENIED").await;

    // Another browser, with the very address: it has no cookie.
    let (mut browser, back) = world.coming_back(user, Consent::Grant).await;
    let foreign: &mut Browser = &mut world.browser();
    let page = foreign.open(&back).await;
    assert_refused(&world, &page, 403, "LINK_OTHER_BROWSER").await;
    // A browser that has begun a link of its own.
    let (mut other, _) = world.coming_back("ravi", Consent::Grant).await;
    let page = other.open(&back).await;
    assert_refused(&world, &page, 403, "LINK_OTHER_BROWSER").await;

    let page = browser.open(&back.replace("state=", "state=x")).await;
    assert_refused(&world, &page, 400, "LINK_NOT_UNDER_WAY").await;
    let page = browser.open(&format!("{back}&state=twice")).await;
    assert_refused(&world, &page, 400, "LINK_CALLBACK_INVALID").await;
    // The answer of another issuer is not taken, and ends what was under way.
    let page = browser.open(&back.replace("&iss=", "&iss=x")).await;
    assert_refused(&world, &page, 400, "LINK_WRONG_ISSUER").await;
    let page = browser.open(&back).await;
    assert_refused(&world, &page, 400, "LINK_NOT_UNDER_WAY").await;
    // Nor is one that does not say whose it is, for this server names itself.
    let (mut browser, back) = world.coming_back(user, Consent::Grant).await;
    let (unnamed, _) = back.split_once("&iss=").expect("the issuer comes last");
    let page = browser.open(unnamed).await;
    assert_refused(&world, &page, 400, "LINK_WRONG_ISSUER").await;
    // A code that was not issued.
    let (mut browser, back) = world.coming_back(user, Consent::Grant).await;
    let page = browser.open(&back.replace("code=", "code=x")).await;
    assert_refused(&world, &page, 502, "LINK_REFUSED").await;

    for (path, code) in [("/link/x.y", "LINK_INVALID"), ("/link/callback", "LINK_CALLBACK_INVALID")] {
        let page = browser.open(&format!("{}{path}", world.named)).await;
        assert_refused(&world, &page, 400, code).await;
    }
    assert_nothing_linked(&world, user).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_callback_is_taken_once() {
    let world = World::start(Setting::default()).await;
    let (mut browser, back) = world.coming_back("asha", Consent::Grant).await;
    assert!(browser.has_cookie("link-"));
    let page = browser.open(&back).await;
    assert_eq!(page.status, 200, "{}", page.text);
    let page = browser.open(&back).await;
    assert_refused(&world, &page, 400, "LINK_NOT_UNDER_WAY").await;
    // The link stands all the same.
    let option = world.option("asha").await;
    assert_eq!(world.subject("asha", &option, "r1").await, "asha-at-partner");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_down_is_told_to_the_user() {
    let world = World::start(Setting::default()).await;
    let link = world.offer("asha").await;
    let (mut browser, back) = world.coming_back("ravi", Consent::Grant).await;
    world.provider.kill();
    let page = world.browser().confirm(&link).await;
    assert_refused(&world, &page, 502, "LINK_SERVER_UNREACHABLE").await;
    let page = browser.open(&back).await;
    assert_refused(&world, &page, 502, "LINK_SERVER_UNREACHABLE").await;
    assert_nothing_linked(&world, "ravi").await;
}
