//! Whose components are taken, what becomes of what is revoked, and what an attacker may put into the store.

use std::sync::Arc;

use futures_executor::block_on;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Clock as _;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::ports::{ContractAdmin as _, Contracts as _};
use intent_gateway_domain::sections;
use intent_gateway_domain::store::{Change, Store as _, Versioned, load};
use intent_gateway_domain::versions::{ContractAdminError, GoLive, VersionAct, Whence};
use intent_gateway_signing::{
    PublicKey, Revocation, RevocationDesk as _, Revocations, Revoked, SignedComponent, SigningKey, Statement,
    TrustPolicy, TrustedKey,
};
use intent_gateway_testing::catalogue::Catalogue as Serving;
use intent_gateway_testing::contract::PassiveContract;

use super::world::{FakeRuntime, INTENT, Node, World, code, version};
use crate::CataloguedContracts;
use crate::entry::Entry;
use crate::state::{GatewayState, row_key};

fn key() -> (SigningKey, PublicKey) {
    let (key, _) = SigningKey::generate().expect("a key");
    let public = key.public().expect("a public half");
    (key, public)
}

fn component(number: &str) -> Vec<u8> {
    sections::append(b"\0asm\x0d\0\x01\0", "words", version(number).as_bytes())
}

/// A version that is signed by keys, as its file is.
fn signed(number: &str, keys: &[&SigningKey]) -> Vec<u8> {
    signed_as(number, number, keys)
}

fn signed_as(number: &str, stated: &str, keys: &[&SigningKey]) -> Vec<u8> {
    let component = component(number);
    let digest = Digest::of(&component);
    let statement = Statement {
        component: digest,
        intent: intent_gateway_domain::id::IntentId::parse(INTENT).expect("an intent"),
        version: stated.parse().expect("semver"),
        interface: "intent-gateway:contract@1.0.0".to_owned(),
    };
    let sign = |before, key: &&SigningKey| Some(statement.sign(key, before).expect("signed"));
    let signatures = keys.iter().fold(None, sign);
    SignedComponent { component, digest, signatures }.join().expect("a file")
}

fn trusting(keys: &[(&str, PublicKey)]) -> TrustPolicy {
    let trusted = |(name, key): &(&str, PublicKey)| TrustedKey {
        name: (*name).to_owned(),
        key: *key,
        intents: Vec::new(),
        from: None,
        until: None,
    };
    TrustPolicy { keys: keys.iter().map(trusted).collect(), requires_signature: true }
}

fn start(world: &World, name: &str, trust: &TrustPolicy) -> Node {
    let node = world.join_trusting(name, Arc::default(), trust.clone());
    block_on(node.catalogue.start()).expect("the store answers");
    node
}

fn revoke(node: &Node, what: Revoked) -> Vec<String> {
    let outcome = block_on(node.catalogue.revoke(what, "lost".to_owned(), Actor::new("admin", "ann")));
    outcome.expect("revoked").versions.into_iter().map(|version| version.version).collect()
}

fn detail(json: &str) -> serde_json::Value {
    serde_json::from_str(json).expect("JSON")
}

fn digest(number: &str) -> Digest {
    Digest::of(&component(number))
}

#[test]
fn nothing_is_examined_that_nobody_trusted_has_signed() {
    let ((good, public), (other, _)) = (key(), key());
    let world = World::new();
    let node = start(&world, "a", &trusting(&[("release", public)]));
    let mut altered = signed("1.0.0", &[&good]);
    let place = altered.windows(5).position(|bytes| bytes == b"1.0.0").expect("its words");
    altered[place] = b'2';
    for (file, expected) in [
        (component("1.0.0"), "SIGNATURE_MISSING"),
        (signed("1.0.0", &[&other]), "SIGNER_UNKNOWN"),
        (altered, "SIGNATURE_INVALID"),
    ] {
        assert_eq!(code(node.load_file(file)), expected);
    }
    assert_eq!(*node.runtime.examined.lock().expect("held"), 0, "nothing was compiled");
    // Signed as another version than it turns out to be.
    assert_eq!(code(node.load_file(signed_as("1.0.0", "1.0.1", &[&good]))), "SIGNATURE_MISMATCH");
    let loaded = node.load_file(signed("1.0.0", &[&good])).expect("it is taken");
    assert_eq!((loaded.version.digest, &loaded.version.signed_by[..]), (digest("1.0.0"), &["release".to_owned()][..]));
    assert_eq!(node.live(), Some(digest("1.0.0")), "it is known by its content, without signatures");
    let log = world.store.log();
    let entry = log.iter().find(|entry| entry.action == "contract.loaded").expect("it is in the audit log");
    assert_eq!(detail(&entry.detail)["signed_by"], serde_json::json!(["release"]));
    // Its files are taken up by whoever comes later.
    let later = start(&world, "b", &trusting(&[("release", public)]));
    assert_eq!(later.live(), Some(digest("1.0.0")));
}

#[test]
fn what_somebody_writes_into_the_store_runs_nowhere() {
    let (good, public) = key();
    let trust = trusting(&[("release", public)]);
    let world = World::new();
    let a = start(&world, "a", &trust);
    a.load_file(signed("1.0.0", &[&good])).expect("it is taken");
    a.leave();
    // With the right to write, another content is put in the place of the live one, with its component, under the same signatures.
    let mut entry = block_on(load::<Entry>(&*world.store, INTENT)).expect("it reads").expect("it is there");
    let forged = component("1.0.0-forged");
    entry.value.versions[0].digest = Digest::of(&forged);
    entry.value.live = Some(Digest::of(&forged));
    let mut change = Change::default();
    change.put(&entry);
    block_on(crate::component::put(&*world.store, &mut change, Digest::of(&forged), &forged)).expect("it reads");
    block_on(world.store.commit(change)).expect("it is written");
    let b = start(&world, "b", &trust);
    assert_eq!(b.live(), None);
    assert_eq!(*b.runtime.examined.lock().expect("held"), 0, "nothing was compiled");
    let missing = b.catalogue.missing();
    assert_eq!((missing.len(), missing[0].code.as_str()), (1, "SIGNATURE_INVALID"));
}

#[test]
fn a_revoked_component_gives_way_at_all_gateways_and_stays_out() {
    let (good, public) = key();
    let trust = trusting(&[("release", public)]);
    let world = World::new();
    let (a, b) = (start(&world, "a", &trust), start(&world, "b", &trust));
    for number in ["1.0.0", "1.1.0"] {
        // Alone, a version goes live at once.
        b.leave();
        a.load_file(signed(number, &[&good])).expect("it is taken");
        b.renew(true);
        b.turn();
    }
    assert_eq!((a.live(), b.live()), (Some(digest("1.1.0")), Some(digest("1.1.0"))));
    let contracts = CataloguedContracts::new(Serving::of(Vec::<Arc<PassiveContract>>::new()), a.catalogue.clone());
    assert_eq!(revoke(&a, Revoked::Component(digest("1.1.0"))), ["1.1.0"]);
    assert_eq!(a.live(), Some(digest("1.0.0")));
    b.turn();
    assert_eq!(b.live(), Some(digest("1.0.0")), "as soon as it has heard of it");
    let activated = block_on(a.catalogue.activate(digest("1.1.0"), Actor::new("admin", "ann"), GoLive::WhenReady));
    assert!(matches!(activated, Err(ContractAdminError::Rejected(failure)) if failure.code == "REVOKED"));
    assert_eq!(code(a.load_file(signed("1.1.0", &[&good]))), "REVOKED");
    assert!(block_on(contracts.find_retired(digest("1.1.0"))).is_none(), "nor for what was judged under it");
    assert!(contracts.is_revoked(digest("1.1.0")) && !contracts.is_revoked(digest("1.0.0")));
    let again = block_on(contracts.find_revoked(digest("1.1.0"))).expect("who says why may look at what it has judged");
    assert_eq!(again.digest(), digest("1.1.0"));
    assert!(block_on(contracts.find_retired(digest("1.1.0"))).is_none(), "and nobody else by that");
    assert!(block_on(contracts.find_revoked(digest("1.0.0"))).is_none(), "what is not revoked is found as ever");
    assert_eq!(a.live(), Some(digest("1.0.0")));
    let entry = block_on(load::<Entry>(&*world.store, INTENT)).expect("it reads").expect("it is there").value;
    assert_eq!(entry.live, Some(digest("1.0.0")), "it is so in the catalogue as well");
    let last = entry.version(digest("1.1.0")).and_then(|version| version.history.last()).expect("an event").clone();
    assert_eq!((last.act, last.whence), (VersionAct::LeftService, Whence::Revocation));
    let log = world.store.log();
    let revoked = log.iter().find(|entry| entry.action == "contract.revoked").expect("it is in the audit log");
    assert_eq!(
        (revoked.actor.subject.as_str(), &detail(&revoked.detail)["reason"]),
        ("ann", &serde_json::json!("lost"))
    );
    // A restart changes nothing.
    let later = start(&world, "c", &trust);
    assert_eq!(later.live(), Some(digest("1.0.0")));
}

#[test]
fn a_revoked_key_takes_what_it_alone_has_signed_and_a_second_signature_saves_the_rest() {
    let ((old, old_public), (new, new_public)) = (key(), key());
    let trust = trusting(&[("old", old_public), ("new", new_public)]);
    let world = World::new();
    let node = start(&world, "a", &trust);
    for number in ["1.0.0", "1.1.0"] {
        node.load_file(signed(number, &[&old])).expect("it is taken");
    }
    // Before the key is revoked, the live version is signed by the next one.
    let again = node.load_file(signed("1.1.0", &[&old, &new])).expect("it is known");
    assert!(again.known);
    assert_eq!(again.version.signed_by, ["old", "new"]);
    assert_eq!(revoke(&node, Revoked::Key(old_public.id())), ["1.0.0"]);
    assert_eq!(node.live(), Some(digest("1.1.0")));
    assert_eq!(revoke(&node, Revoked::Key(new_public.id())), ["1.0.0", "1.1.0"]);
    assert_eq!(node.live(), None, "there is nothing left to serve");
    assert!(revoke(&node, Revoked::Key(new_public.id())).len() == 2, "once more changes nothing");
    let revocations = block_on(node.catalogue.revocations()).expect("they are read");
    assert_eq!(revocations.all.len(), 2);
}

#[test]
fn without_a_policy_signatures_are_looked_at_and_nobody_needs_any() {
    let (good, _) = key();
    let world = World::new();
    let node = world.join_with("a", Arc::<FakeRuntime>::default());
    block_on(node.catalogue.start()).expect("the store answers");
    assert!(node.load_file(component("1.0.0")).is_ok());
    let loaded = node.load_file(signed("1.1.0", &[&good])).expect("as if it were not signed");
    assert!(loaded.version.signed_by.is_empty());
}

#[test]
fn a_revocation_counts_before_anybody_has_changed_what_is_wanted() {
    let (good, public) = key();
    let trust = trusting(&[("release", public)]);
    let world = World::new();
    let node = start(&world, "a", &trust);
    for number in ["1.0.0", "1.1.0"] {
        node.load_file(signed(number, &[&good])).expect("it is taken");
    }
    world.clock.advance(60_000);
    // Whoever revoked died before the entry was changed.
    let mut revocations = Revocations::default();
    let added = revocations.add(Revocation {
        what: Revoked::Component(digest("1.1.0")),
        reason: "lost".to_owned(),
        at_ms: world.clock.now(),
        by: Actor::new("admin", "ann"),
    });
    assert_eq!(added, Ok(true));
    let mut change = Change::default();
    change.put(&Versioned::new(revocations));
    block_on(world.store.commit(change)).expect("it is written");
    world.clock.advance(7);
    node.turn();
    assert_eq!(node.live(), Some(digest("1.0.0")));
    let intent = intent_gateway_domain::id::IntentId::parse(INTENT).expect("an intent");
    let key = row_key(&intent, "a");
    let row = block_on(load::<GatewayState>(&*world.store, &key));
    let serving = row.expect("it reads").and_then(|row| row.value.serving).expect("it serves");
    assert_eq!(
        (serving.digest, serving.took_ms),
        (digest("1.0.0"), 7),
        "since the revocation, not since it was live before"
    );
    let missing = node.catalogue.missing();
    assert_eq!((missing.len(), missing[0].code.as_str(), missing[0].ought_to_serve), (1, "REVOKED", true));
}

#[test]
fn a_retired_version_that_is_revoked_judges_nothing_any_more() {
    let (good, public) = key();
    let world = World::new();
    let node = start(&world, "a", &trusting(&[("release", public)]));
    // Three versions are kept.
    for number in ["1.0.0", "1.1.0", "1.2.0", "1.3.0"] {
        node.load_file(signed(number, &[&good])).expect("it is taken");
    }
    let contracts = CataloguedContracts::new(Serving::of(Vec::<Arc<PassiveContract>>::new()), node.catalogue.clone());
    assert!(block_on(contracts.find_retired(digest("1.0.0"))).is_some(), "it is needed for what it has judged");
    for number in ["1.0.0", "1.3.0"] {
        assert_eq!(node.catalogue.signers(digest(number)), ["release"], "{number}");
    }
    assert!(node.catalogue.signers(digest("9.9.9")).is_empty());
    revoke(&node, Revoked::Component(digest("1.0.0")));
    assert!(block_on(contracts.find_retired(digest("1.0.0"))).is_none());
}
