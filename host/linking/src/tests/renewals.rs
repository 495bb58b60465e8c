//! A token is over, refused, or replaced by somebody else meanwhile.

use futures_executor::block_on;
use intent_gateway_domain::ports::UserTokens as _;

use super::*;
use crate::LinkError;
use crate::LinkFailure;
use crate::records::{Link, Owner};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::store::{Change, Store as _, Versioned, all, load};
use intent_gateway_domain::user::{Orchestrator, Pseudonym, User};
use intent_gateway_domain::vault::Vault;
use intent_gateway_testing::entropy::Counting;
use intent_gateway_testing::users::orchestrator;

const HOUR_MS: u64 = 3_600_000;

impl World {
    fn refreshes(&self) -> usize {
        self.server.state().refreshes.len()
    }

    fn linked(&self, linking: &Linking) -> String {
        self.link(linking, "asha");
        self.token(linking, "asha").expect("told").expect("linked")
    }

    /// Waits until a renewal beside the calls has landed.
    fn landed(&self, linking: &Linking, before: &str) -> String {
        let refused = Secret::new(before);
        let next = block_on(linking.replace_token(&self.partner, &user("asha"), &refused));
        next.expect("told").expect("linked").expose().to_owned()
    }

    fn actions(&self) -> Vec<String> {
        self.store.log().into_iter().map(|entry| entry.action).collect()
    }
}

fn refused(code: &str) -> LinkFailure {
    LinkFailure::Refused { code: code.to_owned() }
}

#[test]
fn a_token_is_renewed_before_it_is_over_and_nobody_waits() {
    let world = World::new();
    let linking = world.linking();
    let first = world.linked(&linking);
    world.clock.advance(HOUR_MS - 60_001);
    assert_eq!(world.token(&linking, "asha"), Ok(Some(first.clone())));
    assert_eq!(world.refreshes(), 0);
    world.clock.advance(1);
    assert_eq!(world.token(&linking, "asha"), Ok(Some(first.clone())), "this call goes out with what still lasts");
    let second = world.landed(&linking, &first);
    assert_ne!(second, first);
    assert_eq!(world.token(&linking, "asha"), Ok(Some(second.clone())));
    // Rotation: the next one needs the refresh token that came with the second.
    world.clock.advance(HOUR_MS);
    let third = world.token(&linking, "asha").expect("told").expect("linked");
    assert!(third != second && world.refreshes() == 2);
}

#[test]
fn a_server_that_does_not_rotate_goes_on_with_its_token() {
    let world = World::new();
    world.server.state().rotates = false;
    let linking = world.linking();
    let mut seen = vec![world.linked(&linking)];
    for _ in 0..3 {
        world.clock.advance(HOUR_MS);
        seen.push(world.token(&linking, "asha").expect("told").expect("linked"));
    }
    seen.dedup();
    assert_eq!(seen.len(), 4);
}

#[test]
fn a_refused_token_is_replaced_once() {
    let world = World::new();
    let linking = world.linking();
    let first = world.linked(&linking);
    assert_eq!(world.replace_token(&linking, "asha", &first), None, "it was obtained just now");
    world.clock.advance(5_000);
    let second = world.replace_token(&linking, "asha", &first).expect("another one");
    assert_ne!(second, first);
    // Whoever comes later with the first gets the second, and no other is asked for.
    assert_eq!(world.replace_token(&linking, "asha", &first).as_deref(), Some(second.as_str()));
    assert_eq!(world.replace_token(&linking, "asha", &second), None);
    assert_eq!(world.refreshes(), 1);
    assert_eq!(world.replace_token(&linking, "ravi", &first), None);
}

#[test]
fn many_who_need_a_renewal_share_it() {
    let world = World::new();
    let linking = world.linking();
    let first = world.linked(&linking);
    world.clock.advance(HOUR_MS);
    let tokens: Vec<String> = std::thread::scope(|scope| {
        let ask = || world.token(&linking, "asha").expect("told").expect("linked");
        let askers: Vec<_> = (0..16).map(|_| scope.spawn(ask)).collect();
        askers.into_iter().map(|asker| asker.join().expect("told")).collect()
    });
    assert!(tokens.iter().all(|token| *token == tokens[0] && *token != first), "{tokens:?}");
    assert_eq!(world.refreshes(), 1);
}

#[test]
fn a_renewal_goes_on_when_its_caller_has_left() {
    let world = World::new();
    let linking = world.linking();
    let first = world.linked(&linking);
    world.clock.advance(HOUR_MS);
    let (gate, reached) = (Arc::new(futures_util::lock::Mutex::new(())), Arc::new(Gate::default()));
    let closed = gate.try_lock().expect("nobody has it");
    let (held, seen) = (gate.clone(), reached.clone());
    let during = async move {
        seen.open();
        drop(held.lock().await);
    };
    world.server.state().during_refresh = Some(during.boxed());
    let name = user("asha");
    let mut call = linking.token(&world.partner, &name);
    // The caller waits, and leaves in the middle of the request to the authorization server.
    assert!((&mut call).now_or_never().is_none());
    reached.pass();
    drop(call);
    drop(closed);
    assert_ne!(world.landed(&linking, &first), first);
    assert_eq!(world.refreshes(), 1);
}

#[test]
fn a_token_that_lasts_outlives_its_servers_trouble() {
    let world = World::new();
    let linking = world.linking();
    let first = world.linked(&linking);
    world.clock.advance(HOUR_MS - 30_000);
    world.server.state().failures = vec![LinkFailure::Unreachable("down".to_owned())];
    assert_eq!(world.token(&linking, "asha"), Ok(Some(first.clone())));
    // The one who waits for it learns of the failure.
    let failed = block_on(linking.replace_token(&world.partner, &user("asha"), &Secret::new(first.as_str())));
    assert!(matches!(failed, Err(CallFailure::Unreachable(_))), "{failed:?}");
    // It is not tried again at once, whoever asks.
    world.clock.advance(999);
    assert_eq!(world.token(&linking, "asha"), Ok(Some(first.clone())));
    assert_eq!(world.refreshes(), 1);
    world.clock.advance(30_000);
    let next = world.token(&linking, "asha").expect("told").expect("linked");
    assert!(next != first && world.refreshes() == 2);

    // Over, and nobody to ask: the call is not made.
    world.clock.advance(HOUR_MS);
    world.server.state().failures = vec![refused("temporarily_unavailable")];
    assert!(matches!(world.token(&linking, "asha"), Err(CallFailure::Protocol(_))));
    world.clock.advance(5_000);
    assert!(world.token(&linking, "asha").expect("told").is_some());
}

#[test]
fn a_grant_that_is_over_ends_the_link() {
    for code in ["invalid_grant", "invalid_client", "invalid_scope"] {
        let world = World::new();
        let linking = world.linking();
        world.linked(&linking);
        world.clock.advance(HOUR_MS);
        world.server.state().failures = vec![refused(code)];
        assert_eq!(world.token(&linking, "asha"), Ok(None), "{code}");
        assert!(world.actions().contains(&"link.ended".to_owned()));
        assert!(block_on(linking.links(&user("asha"))).expect("listed").is_empty());
        // The user may link anew.
        world.linked(&linking);
        let registrations = if code == "invalid_client" { 2 } else { 1 };
        assert_eq!(world.server.state().registered.len(), registrations, "{code}");
    }
}

#[test]
fn a_token_without_another_lasts_to_its_end() {
    let world = World::new();
    let linking = world.linking();
    world.server.state().renews = false;
    let first = world.linked(&linking);
    assert!(!block_on(linking.links(&user("asha"))).expect("listed")[0].renewable);
    world.clock.advance(HOUR_MS - 1);
    assert_eq!(world.token(&linking, "asha"), Ok(Some(first.clone())));
    assert_eq!(world.replace_token(&linking, "asha", &first), None);
    world.clock.advance(1);
    assert_eq!(world.token(&linking, "asha"), Ok(None));
    assert_eq!(world.refreshes(), 0);
}

#[test]
fn a_short_token_that_is_refused_just_before_its_end_is_replaced() {
    let world = World::new();
    let linking = world.linking();
    world.server.state().expires_in = Some(4);
    let first = world.linked(&linking);
    world.clock.advance(1_999);
    assert_eq!(world.replace_token(&linking, "asha", &first), None, "it was obtained just now, and is not due");
    world.clock.advance(1);
    assert!(world.replace_token(&linking, "asha", &first).is_some());
}

#[test]
fn a_server_that_moved_is_found_and_another_issuer_gets_nothing() {
    let world = World::new();
    let linking = world.linking();
    world.linked(&linking);
    world.clock.advance(HOUR_MS);
    let moved = "https://id.coolcar.example/v2/token".to_owned();
    world.server.state().token_endpoint = moved.clone();
    world.server.state().failures = vec![LinkFailure::Unreachable("gone".to_owned())];
    assert!(world.token(&linking, "asha").expect("told").is_some());
    world.clock.advance(HOUR_MS);
    assert!(world.token(&linking, "asha").expect("told").is_some());
    let asked: Vec<String> = world.server.state().refreshes.iter().map(|(_, endpoint)| endpoint.clone()).collect();
    assert_eq!(asked, ["https://id.coolcar.example/token", moved.as_str(), moved.as_str()]);

    world.clock.advance(HOUR_MS);
    world.server.state().issuer = "https://id.warmcar.example".to_owned();
    world.server.state().token_endpoint = "https://id.warmcar.example/token".to_owned();
    world.server.state().failures = vec![LinkFailure::Unreachable("gone".to_owned())];
    assert!(world.token(&linking, "asha").is_err());
    let asked = world.server.state().refreshes.last().expect("asked").1.clone();
    assert_eq!(asked, moved, "no refresh token goes to another issuer");
}

#[test]
fn a_token_goes_to_no_other_address() {
    let world = World::new();
    let linking = world.linking();
    world.linked(&linking);
    let mut moved = partner("coolcar");
    moved.endpoint = Endpoint::mcp("https://mcp.elsewhere.example/mcp");
    for linking in [&linking, &world.linking()] {
        assert!(block_on(linking.token(&moved, &user("asha"))).expect("told").is_none());
        assert!(block_on(linking.replace_token(&moved, &user("asha"), &Secret::new("x"))).expect("told").is_none());
    }
}

#[test]
fn two_processes_never_use_one_refresh_token_twice() {
    let world = World::new();
    let (one, other) = (world.linking(), world.linking());
    let first = world.linked(&one);
    assert_eq!(world.token(&other, "asha"), Ok(Some(first.clone())));
    world.clock.advance(HOUR_MS);
    let gate = Arc::new(Gate::default());
    let held = gate.clone();
    world.server.state().during_refresh = Some(async move { held.pass() }.boxed());
    let [got, also] = std::thread::scope(|scope| {
        let one = scope.spawn(|| world.token(&one, "asha").expect("told").expect("linked"));
        gate.awaited_by(1);
        // The other process sees that the link is being renewed, and waits for it.
        let other = scope.spawn(|| world.token(&other, "asha").expect("told").expect("linked"));
        world.gate.awaited_by(1);
        gate.open();
        let got = one.join().expect("told");
        world.gate.open();
        [got, other.join().expect("told")]
    });
    assert!(got == also && got != first, "{got} {also}");
    assert_eq!(world.refreshes(), 1);
    assert!(!world.actions().contains(&"link.ended".to_owned()));
}

#[test]
fn what_another_process_has_replaced_is_read_anew() {
    let world = World::new();
    let (one, other) = (world.linking(), world.linking());
    let first = world.linked(&one);
    assert_eq!(world.token(&other, "asha"), Ok(Some(first.clone())));
    world.clock.advance(HOUR_MS - 30_000);
    world.token(&one, "asha").expect("told");
    let second = world.landed(&one, &first);
    // The other one has the first in memory no longer, or has it refused.
    assert_eq!(world.replace_token(&other, "asha", &first).as_deref(), Some(second.as_str()));
    assert_eq!(world.refreshes(), 1);
}

#[test]
fn who_unlinks_during_a_renewal_leaves_nothing_behind() {
    let world = World::new();
    let linking = world.linking();
    world.linked(&linking);
    world.clock.advance(HOUR_MS);
    let (also, id) = (linking.clone(), world.partner.id.clone());
    let during = async move {
        // It grants all the same, as a server does that revokes only what it is shown.
        let unlinked = also.unlink(&id, &user("asha"), &Actor::gateway()).await;
        assert!(unlinked.is_ok());
    };
    world.server.state().during_refresh = Some(during.boxed());
    world.server.state().forgets = false;
    assert_eq!(world.token(&linking, "asha"), Ok(None));
    assert!(block_on(linking.links(&user("asha"))).expect("listed").is_empty());
    let revoked = world.server.state().revoked.clone();
    assert_eq!(revoked.len(), 4, "both tokens that were kept, and both that came too late: {revoked:?}");
    assert_ne!(revoked[0], revoked[2]);
}

/// Puts the link of a user where it was kept while users were told apart by their pseudonyms alone.
fn keep_as_before(world: &World, name: &str) {
    let owner = &Owner::all(&world.vault, &world.partner.id, &user(name))[0];
    let linked = block_on(load::<Link>(&*world.store, &owner.key())).expect("read").expect("linked");
    let secrets = linked.value.open(&world.vault).expect("opens");
    let mark = world.vault.mark("linked-user", name).as_str().to_owned();
    let mut before = Link { user: mark, ..linked.value.clone() };
    before.seal(&world.vault, &secrets).expect("entropy");
    let mut change = Change::default();
    change.delete(&linked);
    change.put(&Versioned::new(before));
    block_on(world.store.commit(change)).expect("kept");
}

#[test]
fn links_of_pseudonyms_alone_belong_to_one_orchestrators_users() {
    let world = World::new();
    let first = world.linked(&world.linking());
    keep_as_before(&world, "asha");
    let name = Pseudonym::parse("asha").expect("sound");
    let heir = User::new(&orchestrator().with_unassigned(), &name);
    let stranger = User::new(&Orchestrator::new("test-issuer", "another"), &name);
    let linking = world.linking();
    let token = |user: &User| block_on(linking.token(&world.partner, user)).expect("told");
    for nobody in [&stranger, &user("asha")] {
        assert!(token(nobody).is_none());
        assert!(block_on(linking.links(nobody)).expect("listed").is_empty());
        let actor = Actor::new("orchestrator", "x");
        let unlinked = block_on(linking.unlink(&world.partner.id, nobody, &actor));
        assert!(matches!(unlinked, Err(LinkError::NotLinked)), "{unlinked:?}");
    }
    assert_eq!(token(&heir).expect("linked").expose(), first);
    assert_eq!(block_on(linking.links(&heir)).expect("listed").len(), 1);
    // With its next token it moves to its owner.
    world.clock.advance(HOUR_MS);
    let second = token(&heir).expect("renewed").expose().to_owned();
    assert_ne!(second, first);
    assert_eq!(world.token(&world.linking(), "asha"), Ok(Some(second)), "without the setting");
}

#[test]
fn links_outlive_a_rotation_of_the_master_key() {
    let mut world = World::new();
    let first = world.linked(&world.linking());
    let (old, new) = (Secret::new("m".repeat(32)), Secret::new("n".repeat(32)));
    let entropy = Arc::new(Counting::default());
    world.vault = Vault::new(&new, &[old], entropy.clone());
    let linking = world.linking();
    assert_eq!(world.token(&linking, "asha"), Ok(Some(first.clone())));
    world.clock.advance(HOUR_MS);
    let second = world.token(&linking, "asha").expect("told").expect("linked");
    assert_ne!(second, first);
    // It has moved under the new key, which is enough from then on.
    world.vault = Vault::new(&new, &[], entropy);
    assert_eq!(world.token(&world.linking(), "asha"), Ok(Some(second)));
    assert_eq!(block_on(world.linking().links(&user("asha"))).expect("listed").len(), 1);
}

#[test]
fn what_is_kept_of_links_is_sealed_anew_under_the_current_master_key() {
    let mut world = World::new();
    let token = world.linked(&world.linking());
    let (old, new) = (Secret::new("m".repeat(32)), Secret::new("n".repeat(32)));
    let entropy = Arc::new(Counting::default());
    world.vault = Vault::new(&new, std::slice::from_ref(&old), entropy.clone());
    let done = block_on(crate::reseal(&*world.store, &world.vault, &|_, _| {})).expect("done");
    assert!(done.resealed >= 1 && done.unreadable == 0, "{done:?}");
    // The former key still recognises whose the link is, and opens nothing of it.
    assert_eq!(world.token(&world.linking(), "asha"), Ok(Some(token)));
    let kept: Vec<Versioned<Link>> = block_on(all(&*world.store, None)).expect("read");
    assert!(kept[0].value.open(&Vault::new(&old, &[], entropy.clone())).is_err());
    assert!(kept[0].value.open(&Vault::new(&new, &[], entropy)).is_ok());
    assert_eq!(block_on(crate::reseal(&*world.store, &world.vault, &|_, _| {})).expect("done").resealed, 0);
}
