//! Several gateways: a version goes live when all that live have it ready.

use futures_executor::block_on;
use futures_util::FutureExt as _;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::ports::ContractAdmin as _;
use intent_gateway_domain::versions::{GoLive, VersionAct};

use super::world::{INTENT, LEASE_MS, Node, World, digest, failing, version};

fn ann() -> Actor {
    Actor::new("admin", "ann")
}

fn lives(nodes: &[&Node]) -> Vec<Option<Digest>> {
    nodes.iter().map(|node| node.live()).collect()
}

/// Asks for a version without waiting for the others: as if the caller had left.
fn ask(node: &Node, component: &str) {
    let origin = intent_gateway_domain::versions::Origin::Upload("ann".to_owned());
    let order = intent_gateway_domain::versions::LoadOrder {
        origin,
        by: ann(),
        activate: true,
        removal: intent_gateway_domain::succession::Removal::Refused,
    };
    let component = bytes::Bytes::copy_from_slice(component.as_bytes());
    assert!(node.catalogue.load(component, order).now_or_never().is_none(), "it waits for the others");
}

#[test]
fn a_version_goes_live_everywhere_once_the_last_gateway_has_it_ready() {
    let world = World::new();
    let (a, b, c) = (world.start("a"), world.start("b"), world.start("c"));
    let first = digest(&version("1.0.0"));
    ask(&a, &version("1.0.0"));
    assert_eq!(lives(&[&a, &b, &c]), [None; 3]);
    b.turn();
    assert_eq!(lives(&[&a, &b, &c]), [None; 3], "one has not even seen it");
    c.turn();
    assert_eq!(c.live(), Some(first), "the last one lets it go live");
    a.turn();
    b.turn();
    assert_eq!(lives(&[&a, &b, &c]), [Some(first); 3]);
    assert_eq!(*b.runtime.examined.lock().expect("held"), 1);
    let version = a.catalogue.versions().remove(0);
    let acts: Vec<_> = version.history.iter().map(|event| (event.act, event.by.subject.as_str())).collect();
    let by = "ann";
    assert_eq!(acts, [(VersionAct::Loaded, by), (VersionAct::AskedFor, by), (VersionAct::WentLive, by)]);
}

#[test]
fn a_gateway_that_cannot_make_it_ready_holds_it_up_until_somebody_decides() {
    let world = World::new();
    let (a, b) = (world.start("a"), world.start("b"));
    ask(&a, &version("1.0.0"));
    b.turn();
    a.turn();
    let first = digest(&version("1.0.0"));
    assert_eq!(lives(&[&a, &b]), [Some(first); 2]);
    b.runtime.break_for(&version("1.1.0"));
    ask(&a, &version("1.1.0"));
    b.turn();
    let second = digest(&version("1.1.0"));
    // Whoever asks now is told who holds it up, and why.
    let held_up = block_on(a.catalogue.activate(second, ann(), GoLive::WhenReady)).expect("it is asked for");
    assert!(!held_up.version.live);
    assert_eq!(held_up.waits_for.len(), 1);
    assert_eq!(held_up.waits_for[0].failure.as_ref().map(|failure| failure.code.as_str()), Some("COMPILE_FAILED"));
    let status = block_on(a.catalogue.status(Some(INTENT))).expect("it is read").remove(0);
    assert_eq!(status.live.as_ref().map(|live| live.digest), Some(first));
    assert_eq!(status.coming.as_ref().map(|coming| coming.name.digest), Some(second));
    let staged = |at: usize| status.gateways[at].staged.as_ref().map(|staged| staged.failure.is_none());
    assert_eq!((staged(0), staged(1)), (Some(true), Some(false)));

    // Withdrawn, nothing changes.
    block_on(a.catalogue.withdraw(INTENT, ann())).expect("it was asked for");
    a.turn();
    b.turn();
    assert_eq!(lives(&[&a, &b]), [Some(first); 2]);
    assert!(block_on(a.catalogue.withdraw(INTENT, ann())).is_err());

    // At once: the one that has it serves it, the other one goes on.
    let forced = block_on(a.catalogue.activate(second, ann(), GoLive::AtOnce)).expect("it goes live");
    assert!(forced.version.live && forced.waits_for.is_empty());
    b.turn();
    assert_eq!(lives(&[&a, &b]), [Some(second), Some(first)]);
    assert!(b.catalogue.missing()[0].ought_to_serve);
}

#[test]
fn who_dies_is_waited_for_until_its_lease_ends() {
    let world = World::new();
    let (a, _dead) = (world.start("a"), world.start("b"));
    ask(&a, &version("1.0.0"));
    world.clock.advance(LEASE_MS / 2);
    a.renew(false);
    a.turn();
    assert_eq!(a.live(), None);
    world.clock.advance(LEASE_MS);
    a.renew(true);
    a.turn();
    assert_eq!(a.live(), Some(digest(&version("1.0.0"))));
}

#[test]
fn who_leaves_is_not_waited_for_and_its_rows_are_forgotten() {
    let world = World::new();
    let (a, b) = (world.start("a"), world.start("b"));
    ask(&a, &version("1.0.0"));
    b.turn();
    a.turn();
    ask(&a, &version("1.1.0"));
    b.leave();
    a.turn();
    assert_eq!(a.live(), Some(digest(&version("1.1.0"))));
    let shown = || block_on(a.catalogue.status(None)).expect("it is read")[0].gateways.len();
    assert_eq!((shown(), block_on(a.catalogue.forget_dead()).expect("forgotten"), shown()), (1, 1, 1));
}

#[test]
fn who_starts_meanwhile_is_waited_for_too() {
    let world = World::new();
    let (a, b) = (world.start("a"), world.start("b"));
    ask(&a, &version("1.0.0"));
    let c = world.join("c");
    b.turn();
    a.turn();
    assert_eq!(a.live(), None, "one that lives has not said anything yet");
    block_on(c.catalogue.start()).expect("the store answers");
    c.turn();
    b.turn();
    a.turn();
    let first = digest(&version("1.0.0"));
    assert_eq!(lives(&[&a, &b, &c]), [Some(first); 3]);
}

#[test]
fn a_restarted_gateway_has_to_say_again_what_it_has_ready() {
    let world = World::new();
    let (a, b, c) = (world.start("a"), world.start("b"), world.start("c"));
    ask(&a, &version("1.0.0"));
    b.turn();
    // What the process before had ready, this one has not.
    world.clock.advance(1);
    let b = world.join("b");
    c.turn();
    assert_eq!(c.live(), None);
    block_on(b.catalogue.start()).expect("the store answers");
    b.turn();
    assert_eq!(b.live(), Some(digest(&version("1.0.0"))));
}

#[test]
fn a_roll_back_reaches_all_gateways() {
    let world = World::new();
    let (a, b) = (world.start("a"), world.start("b"));
    for number in ["1.0.0", "1.1.0"] {
        ask(&a, &version(number));
        b.turn();
        a.turn();
    }
    let [first, second] = ["1.0.0", "1.1.0"].map(|number| digest(&version(number)));
    assert_eq!(lives(&[&a, &b]), [Some(second); 2]);
    block_on(b.catalogue.roll_back(failing(second)));
    a.turn();
    assert_eq!(lives(&[&a, &b]), [Some(first); 2]);
    // Both saw it fail: it is gone once.
    block_on(a.catalogue.roll_back(failing(second)));
    assert_eq!(lives(&[&a, &b]), [Some(first); 2]);
}

#[test]
fn two_gateways_that_load_one_file_make_one_version() {
    let world = World::new();
    let (a, b) = (world.start("a"), world.start("b"));
    ask(&a, &version("1.0.0"));
    let same = b.load_as(&version("1.0.0"), true).expect("it is known");
    assert!(same.known);
    b.turn();
    a.turn();
    assert_eq!((b.catalogue.versions().len(), a.live()), (1, Some(digest(&version("1.0.0")))));
}

#[test]
fn a_later_wish_takes_the_place_of_one_that_waits() {
    let world = World::new();
    let (a, b) = (world.start("a"), world.start("b"));
    ask(&a, &version("1.0.0"));
    ask(&a, &version("1.1.0"));
    b.turn();
    b.turn();
    a.turn();
    let second = digest(&version("1.1.0"));
    assert_eq!(lives(&[&a, &b]), [Some(second); 2]);
    let acts: Vec<_> = a.catalogue.versions()[0].history.iter().map(|event| event.act).collect();
    assert_eq!(acts, [VersionAct::Loaded, VersionAct::AskedFor, VersionAct::Withdrawn]);
}
