//! What gateways had in their folders before there was a catalogue.

use futures_executor::block_on;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::ContractAdmin as _;
use intent_gateway_domain::versions::{
    LeftContracts, LeftIntent, LeftVersion, Origin, VersionAct, VersionEvent, Whence,
};

use super::world::{INTENT, Node, World, digest, failing, version};

fn left(live: Option<&str>, previous: &[&str], versions: &[&str]) -> LeftContracts {
    let of = |number: &&str| LeftVersion {
        digest: digest(&version(number)),
        component: Some(version(number).into()),
        origin: Origin::Folder("things.wasm".to_owned()),
        loaded_at_ms: Timestamp::from_ms(7),
        loaded_by: Actor::gateway(),
        history: vec![VersionEvent {
            why: None,
            at_ms: Timestamp::from_ms(7),
            act: VersionAct::Loaded,
            whence: Whence::Folder,
            by: Actor::gateway(),
        }],
    };
    let number = |number: &str| digest(&version(number));
    LeftContracts {
        intents: vec![LeftIntent {
            intent: IntentId::parse(INTENT).expect("an intent"),
            live: live.map(number),
            previous: previous.iter().map(|one| number(one)).collect(),
            versions: versions.iter().map(of).collect(),
        }],
    }
}

fn take_over(node: &Node, left: LeftContracts) {
    block_on(node.catalogue.take_over(left)).expect("the store answers");
    block_on(node.catalogue.start()).expect("the store answers");
}

#[test]
fn what_a_folder_holds_comes_with_its_history() {
    let world = World::new();
    let node = world.join("a");
    take_over(&node, left(Some("1.0.0"), &["1.1.0"], &["1.0.0", "1.1.0"]));
    assert_eq!(node.live(), Some(digest(&version("1.0.0"))));
    let first = node.catalogue.versions().remove(0);
    assert_eq!((first.loaded_at_ms.as_ms(), first.origin), (7, Origin::Folder("things.wasm".to_owned())));
    assert_eq!(first.history.iter().map(|event| event.whence).collect::<Vec<_>>(), [Whence::Folder, Whence::TakenOver]);
    // A roll-back knows where to go.
    block_on(node.catalogue.roll_back(failing(digest(&version("1.0.0")))));
    assert_eq!(node.live(), Some(digest(&version("1.1.0"))));
    // Once more changes nothing.
    take_over(&node, left(Some("1.0.0"), &["1.1.0"], &["1.0.0", "1.1.0"]));
    assert_eq!(node.live(), Some(digest(&version("1.1.0"))));
    assert_eq!(node.catalogue.versions().len(), 2);
}

#[test]
fn of_two_folders_that_differ_the_higher_version_serves() {
    let world = World::new();
    let (a, b, c) = (world.join("a"), world.join("b"), world.join("c"));
    take_over(&a, left(Some("1.1.0"), &[], &["1.1.0"]));
    take_over(&b, left(Some("1.2.0"), &["1.0.0"], &["1.0.0", "1.2.0"]));
    take_over(&c, left(Some("1.0.5"), &[], &["1.0.5"]));
    a.turn();
    b.turn();
    for node in [&a, &b, &c] {
        assert_eq!(node.live(), Some(digest(&version("1.2.0"))));
    }
}

#[test]
fn an_intent_that_was_out_of_service_stays_out() {
    let world = World::new();
    let node = world.join("a");
    take_over(&node, left(None, &["1.0.0"], &["1.0.0"]));
    assert_eq!((node.live(), node.catalogue.versions().len()), (None, 1));
    assert!(node.catalogue.missing_intents().is_empty());
}

#[test]
fn a_component_that_is_gone_is_left_out_and_the_rest_comes() {
    let world = World::new();
    let node = world.join("a");
    let mut left = left(Some("1.1.0"), &["1.0.0"], &["1.0.0", "1.1.0"]);
    left.intents[0].versions[1].component = None;
    take_over(&node, left);
    assert_eq!(node.live(), Some(digest(&version("1.0.0"))));
    assert_eq!(node.catalogue.versions().len(), 1);
}
