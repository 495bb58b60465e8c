//! From an address to a link, what ends the way early, and the end of a link.

use futures_executor::block_on;
use intent_gateway_domain::ports::PartnerIndex as _;
use intent_gateway_domain::ports::UserTokens as _;

use super::*;
use crate::flow::CallbackFault;
use crate::records::{
    ClientOrigin, KeptClient, KnownClient, PendingLink, PendingSecrets, browser_context, known_client_key,
    pending_keys, seal_client, seal_pending,
};
use crate::{Client, LinkError, LinkFailure, Revocation};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::store::{Change, Store as _, Versioned, all};

fn finish(linking: &Linking, query: &str, browser: &Browser) -> LinkError {
    block_on(linking.finish(Some(browser.tag()), query, browser.jar())).expect_err("refused")
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
    let registered = world.state().registered.clone();
    assert_eq!(registered, [linking.settings().redirect_uri_at(server::ISSUER)], "one registration serves all");
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
        let begun = world.begin_at(&linking, &world.offer(&linking, name, Some(challenge))).expect("begun");
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
    let refused = world.begin_at(&linking, &world.offer(&linking, "asha", None)).map(drop).expect_err("another server");
    assert_eq!(refused.code().as_str(), "LINK_SERVER_NOT_APPROVED");
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
    let none = block_on(linking.finish(Some(browser.tag()), &query, |_| None));
    assert!(matches!(none, Err(LinkError::OtherBrowser)), "{none:?}");
    let other = block_on(linking.finish(Some(browser.tag()), &query, |_| Some(Secret::new("another"))));
    assert!(matches!(other, Err(LinkError::OtherBrowser)), "{other:?}");
    assert_nothing_kept(&world);
    let finished = block_on(linking.finish(Some(browser.tag()), &query, browser.jar())).expect("linked");
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
fn each_server_has_an_address_of_its_own_to_come_back_to() {
    let world = World::new();
    let linking = world.linking();
    let settings = linking.settings();
    let other = settings.redirect_uri_at("https://id.warmcar.example");
    let answer = |tag: Option<&str>| {
        let browser = world.begin(&linking, "asha");
        let query = world.server.consent(&browser.location, "asha");
        let first = block_on(linking.finish(tag, &query, browser.jar())).expect_err("refused");
        // It has ended what was under way, also for the right address.
        assert!(matches!(finish(&linking, &query, &browser), LinkError::NotUnderWay));
        first.code().as_str()
    };
    assert_eq!(answer(other.rsplit('/').next()), "LINK_WRONG_ISSUER");
    assert_eq!(answer(None), "LINK_OUTDATED");
    // A client that is named by a document has another address than one that was registered there.
    world.state().takes_documents = true;
    assert_eq!(answer(settings.redirect_uri_at(server::ISSUER).rsplit('/').next()), "LINK_WRONG_ISSUER");
    assert_nothing_kept(&world);
}

#[test]
fn a_registration_for_the_shared_address_is_forgotten_and_made_anew() {
    let world = World::new();
    let linking = world.linking();
    let redirect_uri = format!("{BASE_URL}/link/callback");
    let known = KnownClient {
        of: None,
        issuer: server::ISSUER.to_owned(),
        sealed: seal_client(&world.vault, &known_client_key(None, server::ISSUER, &redirect_uri), None)
            .expect("entropy"),
        redirect_uri,
        client: KeptClient {
            client_id: "client-of-before".to_owned(),
            method: crate::AuthMethod::None,
            origin: ClientOrigin::Registered,
        },
        registered_at_ms: START,
    };
    let mut change = Change::default();
    change.put(&Versioned::new(known));
    block_on(world.store.commit(change)).expect("kept");
    assert!(world.begin(&linking, "asha").location.contains("client_id=client-1"));
    let kept = block_on(all::<KnownClient>(&*world.store, None)).expect("listed");
    let names: Vec<&str> = kept.iter().map(|kept| kept.value.client.client_id.as_str()).collect();
    assert_eq!(names, ["client-1"]);
    let actions: Vec<String> = world.store.log().into_iter().map(|entry| entry.action).collect();
    assert_eq!(actions, ["link_client.registered", "link_client.forgotten"]);
}

#[test]
fn a_token_is_used_for_the_server_that_is_approved_and_for_no_other() {
    let world = World::new();
    let linking = world.linking();
    world.link(&linking, "asha");
    let token = |sign_in: Option<SignInServer>| {
        let partner = Partner { sign_in, ..world.partner.clone() };
        block_on(linking.token(&partner, &user("asha"))).expect("told").is_some()
    };
    let approved = world.partner.sign_in.clone().expect("approved");
    let pinned = |resource: &str, origins: &[&str]| {
        let origins = origins.iter().map(|&origin| origin.to_owned()).collect();
        Some(SignInServer { issuer: approved.issuer.clone(), resource: Some(resource.to_owned()), origins })
    };
    let resource = "https://mcp.coolcar.example/mcp";
    // From memory as from the store.
    for _ in 0..2 {
        assert!(token(Some(approved.clone())));
        assert!(token(pinned(resource, &[server::ISSUER])));
        assert!(!token(None), "nothing is approved, or something waits for a review");
        assert!(!token(Some(SignInServer { issuer: "https://id.warmcar.example".to_owned(), ..approved.clone() })));
        assert!(!token(pinned("https://mcp.coolcar.example/", &[server::ISSUER])));
        assert!(!token(pinned(resource, &["https://other.example"])));
    }
}

#[test]
fn each_partner_at_a_server_has_a_registration_of_its_own() {
    let mut world = World::new();
    let linking = world.linking();
    assert!(world.begin(&linking, "asha").location.contains("client_id=client-1"));
    world.partner = Partner { sign_in: world.partner.sign_in.clone(), ..partner("warmcar") };
    world.directory.replace(vec![Arc::new(world.partner.clone())], vec![Arc::new(world.partner.clone())]);
    assert!(world.begin(&linking, "asha").location.contains("client_id=client-2"));
}

#[test]
fn a_server_that_is_no_longer_approved_gets_no_code() {
    let world = World::new();
    let linking = world.linking();
    let browser = world.begin(&linking, "asha");
    let query = world.server.consent(&browser.location, "asha");
    let disputed = Arc::new(Partner { sign_in: None, ..world.partner.clone() });
    world.directory.replace(vec![disputed.clone()], vec![disputed]);
    assert_eq!(finish(&linking, &query, &browser).code().as_str(), "LINK_SERVER_NOT_APPROVED");
    assert_nothing_kept(&world);
}

#[test]
fn a_ticket_begins_one_link_and_only_with_consent() {
    let world = World::new();
    let linking = world.linking();
    let url = world.offer(&linking, "asha", None);
    let asked = block_on(linking.confirmation(ticket(&url))).expect("asked");
    let offered = linking.offer(&world.partner.id, &user("asha"), None).expect("an address").link;
    let other = block_on(linking.confirmation(ticket(&offered.url))).expect("asked");
    assert_eq!((asked.orchestrator.as_str(), asked.partner_name.as_str()), ("assistant", "The coolcar"));
    assert_eq!((asked.partner_host.as_str(), &other.code), ("mcp.coolcar.example", &offered.code));
    assert_ne!(asked.code, other.code);
    let begin = |token: &Secret, value: Option<&Secret>| {
        let jar = |name: &str| value.filter(|_| name == asked.cookie_name).cloned();
        block_on(linking.begin(ticket(&url), token, jar)).map(drop)
    };
    let own = Some(&asked.cookie_value);
    for (token, value) in [(&asked.token, None), (&asked.token, Some(&other.cookie_value)), (&other.token, own)] {
        assert!(matches!(begin(token, value), Err(LinkError::OtherBrowser)));
    }
    // Looking at it, and what was refused, use nothing up.
    begin(&asked.token, own).expect("begun");
    assert!(matches!(begin(&asked.token, own), Err(LinkError::UsedLink)));
    assert!(matches!(block_on(linking.confirmation(ticket(&url))), Err(LinkError::UsedLink)));

    // Nor is it good for another one when the browser has come back, nor in another process.
    let url = world.offer(&linking, "ravi", None);
    let browser = world.begin_at(&linking, &url).expect("begun");
    let query = world.server.consent(&browser.location, "ravi");
    block_on(linking.finish(Some(browser.tag()), &query, browser.jar())).expect("linked");
    assert!(matches!(world.begin_at(&world.linking(), &url), Err(LinkError::UsedLink)));
    let erased = block_on(linking.erase(&user("ravi"), &Actor::gateway())).expect("erased");
    assert_eq!(erased, 1, "what is left of a ticket is nobody's");
    assert!(matches!(world.begin_at(&linking, &url), Err(LinkError::UsedLink)));
}

#[test]
fn a_link_begun_under_an_earlier_release_ends_with_a_word_of_it() {
    let world = World::new();
    let linking = world.linking();
    let browser = world.begin(&linking, "asha");
    let query = world.server.consent(&browser.location, "asha");
    // Its state named no ticket, its record did not say whether it had ended, and it came back to where all did.
    let kept = block_on(all::<PendingLink>(&*world.store, None)).expect("listed").remove(0);
    let mut shape = serde_json::to_value(&kept.value).expect("serialises");
    shape.as_object_mut().expect("an object").remove("ended").expect("new in this release");
    let state = Secret::new("A".repeat(43));
    let key = pending_keys(&world.vault, &state).remove(0);
    let secrets = PendingSecrets { state, verifier: Secret::new("v"), client: None };
    shape["key"] = key.as_str().into();
    shape["browser"] = serde_json::to_value(world.vault.mark(&browser_context(&key), "b")).expect("serialises");
    shape["sealed"] = serde_json::to_value(seal_pending(&world.vault, &key, &secrets).expect("entropy")).expect("text");
    let older: PendingLink = serde_json::from_value(shape).expect("still readable");
    let mut change = Change::default();
    change.put(&Versioned::new(older));
    block_on(world.store.commit(change)).expect("kept");
    let query = query.replace(&query[query.find("state=").expect("a state")..], &format!("state={}", "A".repeat(43)));
    let jar = |_: &str| Some(Secret::new("b"));
    let finished = block_on(linking.finish(None, &query, jar)).map(drop).expect_err("refused");
    assert_eq!(finished.code().as_str(), "LINK_OUTDATED");
    let again = block_on(linking.finish(None, &query, jar)).map(drop).expect_err("over");
    assert_eq!(again.code().as_str(), "LINK_NOT_UNDER_WAY");
}

#[test]
fn times_are_kept() {
    let world = World::new();
    let linking = world.linking();
    let url = world.offer(&linking, "asha", None);
    let browser = world.begin(&linking, "asha");
    let query = world.server.consent(&browser.location, "asha");
    world.clock.advance(600_000);
    let late = world.begin_at(&linking, &url).map(drop).expect_err("too old");
    assert_eq!(late.code().as_str(), "LINK_EXPIRED");
    assert!(matches!(finish(&linking, &query, &browser), LinkError::NotUnderWay));
    assert_nothing_kept(&world);

    let invalid = world.begin_at(&linking, "x.y").map(drop).expect_err("never given out");
    assert_eq!(invalid.code().as_str(), "LINK_INVALID");

    let left = world.begin(&linking, "asha");
    assert_eq!(block_on(linking.forget_pending()).expect("swept"), 1, "that of the ticket that was used");
    assert_eq!(block_on(linking.forget_pending()).expect("swept"), 0);
    world.clock.hold_settled();
    world.clock.advance(600_000);
    assert_eq!(
        block_on(linking.forget_pending()).expect("swept"),
        0,
        "a clock that was just set forward forgets nothing"
    );
    world.clock.let_settled_go();
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
    let url = world.offer(&linking, "ravi", None);
    world.directory.replace(Vec::new(), Vec::new());
    assert!(matches!(world.begin_at(&linking, &url), Err(LinkError::PartnerGone)));
    assert!(matches!(finish(&linking, &query, &browser), LinkError::PartnerGone));
    assert_eq!(block_on(linking.links(&user("asha"))).expect("listed").len(), 1);
    assert!(block_on(linking.links(&user("ravi"))).expect("listed").is_empty());
}

#[test]
fn the_gateway_is_named_as_each_server_wants_it() {
    let world = World::new();
    world.state().takes_documents = true;
    let location = world.begin(&world.linking(), "asha").location;
    let document = "client_id=https%3A%2F%2Fgateway.example%2F.well-known%2Foauth-client%2Fdocument-";
    assert!(location.contains(document), "{location}");
    assert!(
        location.contains("redirect_uri=https%3A%2F%2Fgateway.example%2Flink%2Fcallback%2Fdocument-"),
        "{location}"
    );
    assert!(world.state().registered.is_empty());
    // Where answers do not name their issuer, nothing but a registration tells them from those of another server.
    world.state().names_issuer = false;
    assert!(world.begin(&world.linking_at("https://b.example"), "asha").location.contains("client_id=client-1"));
    world.state().names_issuer = true;
    // Nobody fetches a document from a gateway without HTTPS.
    let plain = world.linking_at("http://localhost:8080");
    let browser = world.begin(&plain, "asha");
    assert!(browser.location.contains("client_id=client-2"), "{}", browser.location);
    assert!(browser.cookie.0.starts_with("link-"), "{}", browser.cookie.0);

    world.state().takes_documents = false;
    // Another place to come back to is another registration; the same place is not.
    for _ in 0..2 {
        assert!(world.begin(&world.linking(), "asha").location.contains("client_id=client-3"));
    }
    world.clock.advance(30 * 24 * 60 * 60 * 1_000);
    assert!(world.begin(&world.linking(), "asha").location.contains("client_id=client-4"));
    world.clock.advance(30 * 24 * 60 * 60 * 1_000);
    world.state().registers = false;
    let url = world.offer(&world.linking(), "asha", None);
    assert!(matches!(world.begin_at(&world.linking(), &url), Err(LinkError::NoClient)));

    let mut linking = world.linking();
    let inner = Arc::get_mut(&mut linking.inner).expect("alone");
    let client = Client {
        client_id: "arranged".to_owned(),
        client_secret: Some(Secret::new("arranged-secret")),
        method: crate::AuthMethod::ClientSecretPost,
    };
    let arranged = |partner: &Partner| crate::ArrangedClient {
        partner: partner.id.clone(),
        issuer: server::ISSUER.to_owned(),
        client: client.clone(),
    };
    inner.parts.settings.clients = vec![arranged(&partner("warmcar"))];
    let url = world.offer(&linking, "asha", None);
    assert!(matches!(world.begin_at(&linking, &url), Err(LinkError::NoClient)), "it is another partner's");
    let inner = Arc::get_mut(&mut linking.inner).expect("alone");
    inner.parts.settings.clients = vec![arranged(&world.partner)];
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
    let actor = Actor::new("orchestrator", "assistant");
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
