//! An attacker has a victim open the attacker's link, so that the victim's account is linked for the attacker.

use crate::linking::world::{PARTNER, Setting, World};

#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_was_sent_on_begins_nothing_by_itself_and_says_whose_it_is() {
    let world = World::start(Setting::default()).await;
    let body = serde_json::json!({"partner": PARTNER});
    let offered = world.ask("POST", "/api/v1/links", "attacker", Some(&body)).await;
    let (link, code) = (offered.body["link_url"].as_str(), offered.body["link_code"].as_str());
    let (link, code) = (link.expect("a text"), code.expect("a text"));

    let mut victim = world.browser();
    let asked = victim.open(link).await;
    assert_eq!(asked.status, 200, "no browser is sent anywhere unasked: {asked:?}");
    assert!(!asked.headers.contains_key("location"));
    assert!(asked.text.contains(code) && asked.text.contains(PARTNER), "{}", asked.text);
    for by_itself in ["http-equiv", "<script", "autofocus"] {
        assert!(!asked.text.contains(by_itself), "{by_itself}: {}", asked.text);
    }
    let policy = asked.headers["content-security-policy"].to_str().expect("text");
    assert!(policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'self'"), "{policy}");
    assert_eq!(asked.headers["cache-control"], "no-store");

    // The attacker says yes in the victim's place: the token is of the attacker's browser, and comes without its cookie.
    let mut attacker = world.browser();
    let own = attacker.open(link).await;
    let token = own.text.split("value=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a token");
    let forged = victim.post(link, &format!("token={token}")).await;
    assert_eq!(forged.status, 403, "{forged:?}");
    assert!(forged.text.contains("Code LINK_OTHER_BROWSER"), "{}", forged.text);
    assert!(world.links("attacker").await.is_empty());

    // Once used, it is good for nobody.
    assert_eq!(attacker.confirm(link).await.status, 200);
    let late = victim.open(link).await;
    assert!(late.status == 410 && late.text.contains("Code LINK_USED"), "{late:?}");
}
