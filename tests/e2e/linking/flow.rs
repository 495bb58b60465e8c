//! The whole way of one user: refused, linked, served, unlinked; and what is left of it.

use serde_json::{Value, json};
use test_servers::secrets;

use super::world::{CANCEL, HTTPS, PARTNER, Setting, World};

/// A user's pseudonym that is found wherever it stands.
const ASHA: &str = "pseudonym-of-asha-7391";

#[tokio::test(flavor = "multi_thread")]
async fn a_user_links_books_cancels_and_unlinks() {
    let world = World::start(Setting::default()).await;
    let option = world.option(ASHA).await;
    assert_eq!(world.partner.tokens(), Vec::<String>::new(), "a search that is open to everybody brings no token");

    let refused = world.book(ASHA, &option, "r1").await;
    assert_eq!((refused.status, &refused.body["error"]["code"]), (401, &json!("SIGN_IN_REQUIRED")), "{}", refused.body);
    let link = refused.body["error"]["link_url"].as_str().unwrap_or_else(|| panic!("{}", refused.body)).to_owned();
    assert!(link.starts_with(world.named), "{link}");
    assert!(!link.contains(ASHA));
    let code = refused.body["error"]["link_code"].as_str().unwrap_or_else(|| panic!("{}", refused.body)).to_owned();
    assert!(world.browser().open(&link).await.text.contains(&code), "the page shows what the assistant has told");

    let mut browser = world.browser();
    let page = browser.link(&link, "asha").await;
    assert_eq!(page.status, 200, "{}\n{}", page.text, world.gateway.log());
    assert!(page.text.contains("Your account at coolcar is linked"), "{}", page.text);
    let policy = page.headers["content-security-policy"].to_str().expect("text");
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert_eq!(page.headers["referrer-policy"], "no-referrer");
    assert_eq!(page.headers["cache-control"], "no-store");
    assert!(!browser.has_cookie("link-"), "its cookie is of no more use");

    let booked = world.book(ASHA, &option, "r1").await;
    assert_eq!(booked.status, 200, "{}\n{}", booked.body, world.gateway.log());
    assert_eq!(booked.body["payload"]["echoed_subject"], "asha");
    let links = world.links(ASHA).await;
    assert_eq!(links.len(), 1);
    assert_eq!((&links[0]["partner"], &links[0]["scope"]), (&json!(PARTNER), &json!("book")), "{links:?}");
    assert_eq!(links[0]["renewable"], true);
    assert!(world.links("somebody-else").await.is_empty());

    // The link is in the store, not in the process.
    let world = world.restarted();
    let reference = booked.body["reference"].as_str().expect("a text");
    let cancel = json!({"request_id": "r2", "reason_code": "changed_plans"});
    let cancelled = world.call(CANCEL, ASHA, reference, cancel).await;
    assert_eq!(cancelled.body["payload"]["echoed_subject"], "asha", "{}\n{}", cancelled.body, world.gateway.log());

    let path = format!("/api/v1/links/{PARTNER}");
    let removed = world.ask("DELETE", &path, ASHA, None).await;
    assert_eq!((removed.status, &removed.body), (200, &json!({"partner": PARTNER, "revocation": "done"})));
    let tokens = world.partner.tokens_of("asha");
    assert_eq!(tokens.len(), 1, "{tokens:?}");
    let form = format!("token={}&client_id=partner&client_secret=the-secret-of-the-partner-itself", tokens[0]);
    let told = world.post_to_server("/token/introspection", &form).await;
    assert_eq!(serde_json::from_str::<Value>(&told).expect("JSON"), json!({"active": false}));
    assert!(world.links(ASHA).await.is_empty());
    let refused = world.book(ASHA, &option, "r3").await;
    assert_eq!(refused.body["error"]["code"], "SIGN_IN_REQUIRED", "{}", refused.body);
    assert_eq!(world.ask("DELETE", &path, ASHA, None).await.status, 404);
    assert_eq!(world.audited().await, ["link_client.registered", "link.made", "link.removed"]);
    assert_eq!(world.told("counts").await["registrations"], 1);
    assert_no_secret(&world).await;
}

/// No token, code or ticket, and no user's name, is in the log, the database or the state folder.
async fn assert_no_secret(world: &World) {
    let told = world.told("secrets").await;
    let issued: Vec<&str> = told.as_array().expect("a list").iter().map(|one| one.as_str().expect("a text")).collect();
    assert!(issued.len() >= 3, "a code, an access token and a refresh token: {issued:?}");
    let ticket = world.offer(ASHA).await;
    let ticket = ticket.rsplit('/').next().expect("a last part");
    world.browser().confirm(&format!("{}/link/{ticket}", world.named)).await;
    let mut known: Vec<(&str, &str)> = issued.iter().map(|secret| ("a token or code", *secret)).collect();
    known.extend([("the user", ASHA), ("the ticket", ticket)]);
    let folder = world.gateway.folder.path();
    let log = world.gateway.log();
    assert!(!log.contains(ASHA), "the log names the user:\n{log}");
    secrets::assert_absent(&[&folder.join("gateway.log"), &folder.join("state")], &[], &known);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_with_https_is_known_by_its_document() {
    let world = World::start(Setting { named: HTTPS, documents: true, ..Setting::default() }).await;
    let mut browser = world.browser();
    let begun = browser.confirm(&world.offer(ASHA).await).await;
    let cookie = begun.headers["set-cookie"].to_str().expect("text");
    assert!(cookie.starts_with("__Host-link-"), "{cookie}");
    for attribute in ["Path=/", "Max-Age=600", "HttpOnly", "SameSite=Lax", "Secure"] {
        assert!(cookie.split("; ").any(|given| given == attribute), "{attribute}: {cookie}");
    }
    let sent: Vec<(String, String)> =
        reqwest::Url::parse(&begun.leads_to()).expect("an address").query_pairs().into_owned().collect();
    let sent = |name: &str| sent.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str());
    let client_id = sent("client_id").expect("a client");
    let path = client_id.strip_prefix(HTTPS).expect("the gateway's own address");
    let document = world.gateway.call("GET", path, None, None).await;
    assert_eq!(document.body["client_id"], json!(client_id), "{}", document.body);
    assert_eq!(document.body["redirect_uris"][0].as_str(), sent("redirect_uri"), "{}", document.body);
    assert_eq!(sent("code_challenge_method"), Some("S256"));
    assert_eq!(sent("resource"), Some(world.partner.url.as_str()));

    world.link(ASHA, "asha").await;
    let option = world.option(ASHA).await;
    assert_eq!(world.subject(ASHA, &option, "r1").await, "asha");
    let counts = world.told("counts").await;
    assert!(counts["documents"].as_u64() >= Some(1) && counts["registrations"] == 0, "{counts}");
}
