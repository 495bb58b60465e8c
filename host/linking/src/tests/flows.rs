//! From an address to a link, what ends the way early, and the end of a link.

use futures_executor::block_on;
use intent_gateway_domain::ports::{PartnerIndex as _, UserTokens as _};

use super::*;
use crate::flow::CallbackFault;
use crate::{Client, LinkError, LinkFailure, Revocation};
use intent_gateway_domain::audit::Actor;

fn finish(linking: &Linking, query: &str, browser: &Browser) -> LinkError {
    block_on(linking.finish(query, browser.jar())).expect_err("refused")
}

/// Nothing of a link is kept.
fn assert_nothing_kept(world: &World) {
    assert_eq!(world.token(&world.linking(), "asha"), Ok(None));
    assert!(world.store.log().iter().all(|entry| entry.action != "link.made"));
}

#[test]
fn a_user_links_an_account_and_gets_its_token() {
    let world = World::new();
    let linking = world.linking();
    assert_eq!(world.token(&linking, "asha"), Ok(None));
    world.link(&linking, "asha");
    world.link(&linking, "ravi");
    let tokens = ["asha", "ravi"].map(|name| world.token(&linking, name).expect("told").expect("linked"));
    assert!(tokens[0].ends_with("of-asha") && tokens[1].ends_with("of-ravi"), "{tokens:?}");
    assert_eq!(world.state().registered, ["https://gateway.example/link/callback"], "one registration serves all");
    // The same user has nothing at another partner.
    let other = partner("warmcar");
    assert!(block_on(linking.token(&other, &user("asha"))).expect("told").is_none());

    let views = block_on(linking.links(&user("asha"))).expect("listed");
    assert_eq!(views.len(), 1);
    assert_eq!((views[0].partner.as_str(), views[0].renewable), ("coolcar", true));
    assert_eq!((views[0].since_ms, views[0].expires_at_ms), (START, Some(START.plus_ms(3_600_000))));
    assert_eq!(views[0].scope.as_deref(), Some("book"));
    assert!(block_on(linking.links(&user("nobody"))).expect("listed").is_empty());
}

#[test]
fn a_wider_grant_asks_for_what_was_granted_before_as_well() {
    let world = World::new();
    let linking = world.linking();
    world.state().scope = "read";
    world.link(&linking, "asha");
    let scope = |name: &str, challenge: &str| {
        let url = linking.link(&world.partner.id, &user(name), Some(challenge)).expect("an address");
        let begun = block_on(linking.begin(ticket(&url))).expect("begun");
        let location = url::Url::parse(&begun.location).expect("an address");
        let mut pairs = location.query_pairs();
        pairs.find(|(name, _)| name == "scope").expect("asked for").1.into_owned()
    };
    let wider = r#"Bearer error="insufficient_scope", scope="book""#;
    world.state().scope = "book";
    assert_eq!(scope("asha", wider), "read book");
    assert_eq!(scope("ravi", wider), "book", "who has granted nothing");
    assert_eq!(scope("asha", r#"Bearer scope="book""#), "book", "a link that is over is made anew");
    world.state().issuer = "https://other.example".to_owned();
    assert_eq!(scope("asha", wider), "book", "another server knows nothing of it");
}

#[test]
fn no_name_and_no_secret_is_kept_in_plain() {
    let world = World::new();
    let linking = world.linking();
    let begun = world.begin(&linking, "asha@pseudonym");
    assert!(!begun.location.contains("asha"));
    world.link(&linking, "asha@pseudonym");
    let kept = world.store.everything();
    for secret in ["asha", "access-", "refresh-", "client-secret", begun.cookie.1.expose()] {
        assert!(!kept.contains(secret), "{secret} is kept: {kept}");
    }
    assert!(kept.contains("client-1"), "the search would find what is there");
    let actions: Vec<String> = world.store.log().into_iter().map(|entry| entry.action).collect();
    assert_eq!(actions, ["link_client.registered", "link.made"]);
}

#[test]
fn only_the_browser_that_began_ends_it_and_only_once() {
    let world = World::new();
    let linking = world.linking();
    let browser = world.begin(&linking, "asha");
    assert!(browser.cookie.0.starts_with("__Host-link-"), "{}", browser.cookie.0);
    let query = world.server.consent(&browser.location, "asha");
    let none = block_on(linking.finish(&query, |_| None));
    assert!(matches!(none, Err(LinkError::OtherBrowser)), "{none:?}");
    let other = block_on(linking.finish(&query, |_| Some(Secret::new("another"))));
    assert!(matches!(other, Err(LinkError::OtherBrowser)), "{other:?}");
    assert_nothing_kept(&world);
    let finished = block_on(linking.finish(&query, browser.jar())).expect("linked");
    assert_eq!((finished.partner_name.as_str(), finished.cookie_name), ("The coolcar", browser.cookie.0.clone()));
    assert!(matches!(finish(&linking, &query, &browser), LinkError::NotUnderWay));
    assert!(world.token(&linking, "asha").expect("told").is_some());
}

#[test]
fn a_wrong_answer_links_nothing_and_ends_the_way() {
    let world = World::new();
    let linking = world.linking();
    let browser = world.begin(&linking, "asha");
    let query = world.server.consent(&browser.location, "asha");
    let with_state = query.replace("state=", "state=x");
    assert!(matches!(finish(&linking, &with_state, &browser), LinkError::NotUnderWay));
    assert!(matches!(finish(&linking, "code=1", &browser), LinkError::Callback(CallbackFault::Malformed)));
    // Neither has used up the request; what names another issuer has.
    let mixed_up = query.replace("coolcar", "warmcar");
    assert!(matches!(finish(&linking, &mixed_up, &browser), LinkError::Callback(CallbackFault::Issuer)));
    assert!(matches!(finish(&linking, &query, &browser), LinkError::NotUnderWay));

    let browser = world.begin(&linking, "asha");
    let state = world.server.consent(&browser.location, "asha");
    let state = state.split('&').find(|pair| pair.starts_with("state=")).expect("a state");
    let denied = format!("{state}&error=access_denied&iss=https%3A%2F%2Fid.coolcar.example");
    let error = finish(&linking, &denied, &browser);
    assert_eq!(error.code().as_str(), "LINK_DENIED");

    let browser = world.begin(&linking, "asha");
    let query = world.server.consent(&browser.location, "asha");
    world.state().failures.push(LinkFailure::Refused { code: "invalid_grant".to_owned() });
    assert_eq!(finish(&linking, &query, &browser).code().as_str(), "LINK_REFUSED");
    assert_nothing_kept(&world);
}

#[test]
fn times_are_kept() {
    let world = World::new();
    let linking = world.linking();
    let url = linking.link(&world.partner.id, &user("asha"), None).expect("an address");
    let browser = world.begin(&linking, "asha");
    let query = world.server.consent(&browser.location, "asha");
    world.clock.advance(600_000);
    let late = block_on(linking.begin(ticket(&url))).expect_err("too old");
    assert_eq!(late.code().as_str(), "LINK_EXPIRED");
    assert!(matches!(finish(&linking, &query, &browser), LinkError::NotUnderWay));
    assert_nothing_kept(&world);

    let invalid = block_on(linking.begin("x.y")).expect_err("never given out");
    assert_eq!(invalid.code().as_str(), "LINK_INVALID");

    let left = world.begin(&linking, "asha");
    assert_eq!(block_on(linking.forget_pending()).expect("swept"), 0);
    world.clock.advance(600_000);
    assert_eq!(block_on(linking.forget_pending()).expect("swept"), 1);
    let query = world.server.consent(&left.location, "asha");
    assert!(matches!(finish(&linking, &query, &left), LinkError::NotUnderWay));
}

#[test]
fn a_partner_that_is_not_served_is_not_linked_and_its_links_rest() {
    let world = World::new();
    let linking = world.linking();
    world.link(&linking, "asha");
    let browser = world.begin(&linking, "ravi");
    let query = world.server.consent(&browser.location, "ravi");
    let url = linking.link(&world.partner.id, &user("ravi"), None).expect("an address");
    world.directory.replace(Vec::new(), Vec::new());
    assert!(matches!(block_on(linking.begin(ticket(&url))), Err(LinkError::PartnerGone)));
    assert!(matches!(finish(&linking, &query, &browser), LinkError::PartnerGone));
    assert_eq!(block_on(linking.links(&user("asha"))).expect("listed").len(), 1);
    assert!(block_on(linking.links(&user("ravi"))).expect("listed").is_empty());
}

#[test]
fn the_gateway_is_named_as_each_server_wants_it() {
    let world = World::new();
    world.state().takes_documents = true;
    let location = world.begin(&world.linking(), "asha").location;
    let document = "client_id=https%3A%2F%2Fgateway.example%2F.well-known%2Foauth-client%2Fintent-gateway.json";
    assert!(location.contains(document), "{location}");
    assert!(world.state().registered.is_empty());
    // Nobody fetches a document from a gateway without HTTPS.
    let plain = world.linking_at("http://localhost:8080");
    let browser = world.begin(&plain, "asha");
    assert!(browser.location.contains("client_id=client-1"), "{}", browser.location);
    assert!(browser.cookie.0.starts_with("link-"), "{}", browser.cookie.0);

    world.state().takes_documents = false;
    // Another place to come back to is another registration; the same place is not.
    for _ in 0..2 {
        assert!(world.begin(&world.linking(), "asha").location.contains("client_id=client-2"));
    }
    world.clock.advance(30 * 24 * 60 * 60 * 1_000);
    assert!(world.begin(&world.linking(), "asha").location.contains("client_id=client-3"));
    world.clock.advance(30 * 24 * 60 * 60 * 1_000);
    world.state().registers = false;
    let url = world.linking().link(&world.partner.id, &user("asha"), None).expect("an address");
    assert!(matches!(block_on(world.linking().begin(ticket(&url))), Err(LinkError::NoClient)));

    let mut linking = world.linking();
    let inner = Arc::get_mut(&mut linking.inner).expect("alone");
    let client = Client {
        client_id: "arranged".to_owned(),
        client_secret: Some(Secret::new("arranged-secret")),
        method: crate::AuthMethod::ClientSecretPost,
    };
    inner.parts.settings.clients = vec![(server::ISSUER.to_owned(), client)];
    assert!(world.begin(&linking, "asha").location.contains("client_id=arranged"));
    world.link(&linking, "asha");
    assert!(world.token(&linking, "asha").expect("told").is_some());
    assert!(!world.store.everything().contains("arranged-secret"));
}

#[test]
fn a_registration_that_is_gone_is_made_anew() {
    let world = World::new();
    let linking = world.linking();
    let browser = world.begin(&linking, "asha");
    let query = world.server.consent(&browser.location, "asha");
    world.state().failures.push(LinkFailure::Refused { code: "invalid_client".to_owned() });
    assert_eq!(finish(&linking, &query, &browser).code().as_str(), "LINK_REFUSED");
    world.link(&linking, "asha");
    assert_eq!(world.state().registered.len(), 2);
}

#[test]
fn unlinking_forgets_always_and_revokes_where_it_can() {
    let world = World::new();
    let linking = world.linking();
    let actor = Actor { role: "orchestrator".to_owned(), subject: "assistant".to_owned() };
    let unlink = |name: &str| block_on(linking.unlink(&world.partner.id, &user(name), &actor));
    assert!(matches!(unlink("asha"), Err(LinkError::NotLinked)));
    for name in ["asha", "ravi"] {
        world.link(&linking, name);
        world.token(&linking, name).expect("told").expect("linked");
    }
    assert_eq!(unlink("asha").expect("unlinked"), Revocation::Done);
    assert_eq!(world.token(&linking, "asha"), Ok(None), "not even from memory");
    let revoked = world.state().revoked.clone();
    assert!(revoked.len() == 2 && revoked.iter().all(|token| token.ends_with("of-asha")), "{revoked:?}");
    assert!(world.token(&linking, "ravi").expect("told").is_some());

    world.state().failures.push(LinkFailure::Unreachable("down".to_owned()));
    assert_eq!(unlink("ravi").expect("unlinked"), Revocation::Failed);
    assert_eq!(world.token(&linking, "ravi"), Ok(None));
    world.state().revokes = false;
    world.link(&linking, "ravi");
    assert_eq!(unlink("ravi").expect("unlinked"), Revocation::Unsupported);
    let removed: Vec<_> = world.store.log().into_iter().filter(|entry| entry.action == "link.removed").collect();
    assert_eq!(removed.len(), 3);
    assert!(removed.iter().all(|entry| entry.actor == actor && entry.subject == "coolcar"));
}

impl World {
    fn state(&self) -> std::sync::MutexGuard<'_, server::State> {
        self.server.state()
    }
}
