//! A gateway that is alone.

use std::future::poll_fn;

use futures_executor::block_on;
use futures_util::FutureExt as _;
use futures_util::future::join;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::ports::{ContractAdmin as _, ContractIntake as _, Contracts as _, find_version};
use intent_gateway_domain::store::StoreTrouble;
use intent_gateway_domain::versions::{ContractAdminError, GoLive, IntakeStanding, ReleasePolicy, VersionAct};

use intent_gateway_testing::catalogue::Catalogue;
use intent_gateway_testing::contract::ScriptedContract;

use crate::CataloguedContracts;

use super::world::{INTENT, MAX_STALE_MS, World, code, digest, failing, version};

fn actions(world: &World) -> Vec<String> {
    world.store.log().into_iter().map(|entry| entry.action).collect()
}

#[test]
fn what_is_loaded_serves_at_once_and_after_a_restart() {
    let world = World::new();
    let node = world.start("a");
    let first = node.load(&version("1.0.0")).expect("it loads");
    assert!(first.version.live && !first.known && first.waits_for.is_empty());
    let second = node.load(&version("1.1.0")).expect("it loads");
    assert_eq!(node.live(), Some(second.version.digest));
    assert_eq!(actions(&world), ["contract.loaded", "contract.went_live", "contract.loaded", "contract.went_live"]);
    let again = node.load(&version("1.0.0")).expect("it is known");
    assert!(again.known && !again.version.live);

    // A gateway with an empty folder serves the same.
    let other = world.start("b");
    assert_eq!(other.live(), Some(second.version.digest));
    assert_eq!(other.catalogue.versions().len(), 2);
}

#[test]
fn a_change_that_the_store_does_not_take_changes_nothing() {
    let world = World::new();
    let node = world.start("a");
    let first = node.load(&version("1.0.0")).expect("it loads").version.digest;
    world.store.set_down(true);
    let refused = node.load(&version("1.1.0"));
    assert!(
        matches!(refused, Err(ContractAdminError::Store { trouble: StoreTrouble::Unavailable, .. })),
        "{refused:?}"
    );
    assert_eq!(node.live(), Some(first));
    world.store.set_down(false);
    node.turn();
    assert_eq!((node.live(), node.catalogue.versions().len()), (Some(first), 1));
    assert!(node.load(&version("1.1.0")).expect("it loads").version.live);
}

#[test]
fn a_failing_version_gives_way_while_the_store_is_down_and_stays_so_when_it_is_back() {
    let world = World::new();
    let node = world.start("a");
    let first = node.load(&version("1.0.0")).expect("it loads").version.digest;
    let second = node.load(&version("1.1.0")).expect("it loads").version.digest;
    world.store.set_down(true);
    block_on(node.catalogue.roll_back(failing(second)));
    assert_eq!(node.live(), Some(first));
    assert_eq!(node.catalogue.failures()[0].code, "TAKEN_OUT");
    world.store.set_down(false);
    node.turn();
    assert_eq!(node.live(), Some(first));
    assert_eq!(actions(&world)[4..], ["contract.left_service", "contract.went_live"]);
    assert_eq!(world.start("b").live(), Some(first), "the store knows");
    // Nothing is left to go back to.
    block_on(node.catalogue.roll_back(failing(first)));
    assert_eq!(node.live(), Some(first));
}

#[test]
fn a_failing_version_gives_way_while_the_store_does_not_answer() {
    let world = World::new();
    let node = world.start("a");
    let first = node.load(&version("1.0.0")).expect("it loads").version.digest;
    let second = node.load(&version("1.1.0")).expect("it loads").version.digest;
    world.store.hold_reads();
    let mut following = node.catalogue.turn().boxed();
    assert!((&mut following).now_or_never().is_none(), "it waits for the store");
    let mut rolling_back = node.catalogue.roll_back(failing(second)).boxed();
    assert!((&mut rolling_back).now_or_never().is_none(), "so does the record of it");
    assert_eq!(node.live(), Some(first));
    world.store.release_reads();
    block_on(rolling_back);
    block_on(following).expect("the store answers");
    assert_eq!(node.live(), Some(first));
}

#[test]
fn what_changes_while_a_set_is_published_serves_too() {
    let world = World::new();
    let node = world.start("a");
    node.load(&version("1.0.0")).expect("it loads");
    node.runtime.yields.store(true, std::sync::atomic::Ordering::Relaxed);
    node.catalogue.note_change();
    let loading = async { node.load_later(&version("1.1.0")).await.expect("it loads") };
    let ((), loaded) = block_on(join(node.catalogue.publish(), loading));
    assert!(loaded.version.live);
    assert_eq!(node.live(), Some(loaded.version.digest));
}

#[test]
fn a_version_is_not_told_to_be_live_before_it_serves() {
    let world = World::new();
    let node = world.start("a");
    let first = node.load(&version("1.0.0")).expect("it loads").version.digest;
    node.runtime.yields.store(true, std::sync::atomic::Ordering::Relaxed);
    let live = || {
        let told = node.catalogue.versions().into_iter().find(|version| version.live).map(|version| version.digest);
        (told, node.live())
    };
    let mut loading = node.load_later(&version("1.1.0")).boxed_local();
    let mut seen = vec![live()];
    let loaded = block_on(poll_fn(|context| {
        let polled = loading.poll_unpin(context);
        seen.push(live());
        polled
    }));
    let second = loaded.expect("it loads").version.digest;
    assert!(seen.iter().all(|(told, serving)| told == serving), "{seen:?}");
    assert_eq!(
        (seen.len() > 2, seen.first(), seen.last()),
        (true, Some(&(Some(first), Some(first))), Some(&(Some(second), Some(second))))
    );
}

#[test]
fn a_number_names_one_content_and_a_name_one_intent() {
    let world = World::new();
    let node = world.start("a");
    node.load(&format!("{INTENT} 1.0.0 test.other")).expect("it loads");
    assert_eq!(code(node.load(&version("1.0.0"))), "VERSION_REUSED");
    assert_eq!(code(node.load(&version("0.9.0"))), "VERSION_NOT_ABOVE");
    assert_eq!(code(node.load("test.other 1.0.0")), "ALIAS_TAKEN");
    assert_eq!(code(node.load("test.third 1.0.0 test.other")), "ALIAS_TAKEN");
    assert_eq!(code(node.load(&format!("test.third 1.0.0 {INTENT}"))), "ALIAS_TAKEN");
    assert_eq!(node.catalogue.failures().len(), 5);
    assert!(node.catalogue.view().ready.len() == 1, "what was refused is not held");
    // The alias is free when no version has it any more.
    for number in ["1.1.0", "1.2.0", "1.3.0"] {
        node.load(&version(number)).expect("it loads");
    }
    node.load("test.other 1.0.0").expect("no name means two");
}

#[test]
fn versions_beyond_the_bound_are_retired_and_found_until_they_are_forgotten() {
    let world = World::new();
    let node = world.start("a");
    for number in ["1.0.0", "1.1.0", "1.2.0", "1.3.0"] {
        node.load(&version(number)).expect("it loads");
    }
    let versions: Vec<_> = node.catalogue.versions().into_iter().map(|version| version.version).collect();
    assert_eq!(versions, ["1.1.0", "1.2.0", "1.3.0"]);
    // What it judged can be looked at again, at every gateway, and its number stays its own.
    let first = digest(&version("1.0.0"));
    for node in [&node, &world.start("b")] {
        let contracts = CataloguedContracts::new(Catalogue::of::<ScriptedContract>([]), node.catalogue.clone());
        let examined = || *node.runtime.examined.lock().expect("held");
        let before = examined();
        for _ in 0..2 {
            let found = block_on(find_version(&*contracts, first)).expect("it is retired");
            assert_eq!(found.descriptor().version.to_string(), "1.0.0");
        }
        assert_eq!(examined(), before + 1, "once for all who ask");
        assert!(block_on(find_version(&*contracts, digest("something else"))).is_none());
    }
    assert_eq!(code(node.load(&format!("{INTENT} 1.0.0 test.other"))), "VERSION_REUSED");
    let now = intent_gateway_domain::clock::Clock::now(&*world.clock);
    assert_eq!(block_on(node.catalogue.forget_retired(now)).expect("the store answers"), 0);
    assert_eq!(block_on(node.catalogue.forget_retired(now.plus_ms(1))).expect("the store answers"), 1);
    let contracts = CataloguedContracts::new(Catalogue::of::<ScriptedContract>([]), node.catalogue.clone());
    assert!(block_on(find_version(&*contracts, first)).is_none());
    assert!(block_on(crate::component::get(&*world.store, first)).is_err());
    assert!(block_on(crate::component::get(&*world.store, digest(&version("1.1.0")))).is_ok());
}

#[test]
fn what_is_out_of_service_is_missed_by_nobody_and_comes_back_by_an_act() {
    let world = World::new();
    let node = world.start("a");
    let loaded = node.load(&version("1.0.0")).expect("it loads").version.digest;
    let ann = || Actor::new("admin", "ann");
    block_on(node.catalogue.unload(INTENT, ann())).expect("it is taken out");
    assert_eq!(node.live(), None);
    assert!(node.catalogue.missing_intents().is_empty());
    assert!(matches!(block_on(node.catalogue.unload(INTENT, ann())), Err(ContractAdminError::Unknown(_))));
    assert_eq!(world.start("b").live(), None);
    // With the others gone again, nobody is waited for.
    let activated = block_on(node.catalogue.activate(loaded, ann(), GoLive::AtOnce)).expect("it goes live");
    assert!(activated.version.live && activated.waits_for.is_empty());
    let acts: Vec<_> = activated.version.history.iter().map(|event| event.act).collect();
    assert_eq!(acts, [VersionAct::Loaded, VersionAct::WentLive, VersionAct::LeftService, VersionAct::WentLive]);
}

#[test]
fn what_cannot_be_made_ready_is_missing_and_the_one_before_serves() {
    let world = World::new();
    let node = world.start("a");
    let first = node.load(&version("1.0.0")).expect("it loads").version.digest;
    let second = node.load(&version("1.1.0")).expect("it loads").version.digest;
    let other = world.join("b");
    other.runtime.break_for(&version("1.1.0"));
    block_on(other.catalogue.start()).expect("the store answers");
    assert_eq!(other.live(), Some(first), "the rest serves");
    let missing = other.catalogue.missing();
    assert_eq!((missing.len(), missing[0].digest, missing[0].ought_to_serve), (1, second, true));
    assert_eq!(missing[0].serving.as_deref(), Some("1.0.0"));
    // Handed in again, it is missing no more.
    other.runtime.mend();
    assert!(other.load(&version("1.1.0")).expect("it is known").known);
    assert_eq!((other.live(), other.catalogue.missing().len()), (Some(second), 0));
}

#[test]
fn a_component_that_is_gone_from_the_store_is_taken_from_the_folder() {
    let world = World::new();
    let node = world.start("a");
    let loaded = node.load(&version("1.0.0")).expect("it loads").version.digest;
    let mut change = intent_gateway_domain::store::Change::default();
    block_on(crate::component::remove(&*world.store, &mut change, loaded)).expect("it is read");
    block_on(intent_gateway_domain::store::Store::commit(&*world.store, change)).expect("it is removed");
    let without = world.start("b");
    assert_eq!(without.live(), None);
    assert_eq!(without.catalogue.missing_intents().into_iter().collect::<Vec<_>>(), [INTENT]);
    let with = world.join("c");
    with.runtime.spare.lock().expect("held").insert(loaded, version("1.0.0").into());
    block_on(with.catalogue.start()).expect("the store answers");
    assert_eq!(with.live(), Some(loaded));
    // Handed in again, the store has it, too.
    node.load(&version("1.0.0")).expect("it is known");
    assert_eq!(world.start("d").live(), Some(loaded));
}

#[test]
fn who_is_cut_off_serves_for_so_long_and_no_longer() {
    let world = World::new();
    let node = world.start("a");
    let loaded = node.load(&version("1.0.0")).expect("it loads").version.digest;
    let contracts = CataloguedContracts::new(Catalogue::of::<ScriptedContract>([]), node.catalogue.clone());
    world.store.set_down(true);
    world.clock.advance(MAX_STALE_MS);
    assert!(block_on(node.catalogue.turn()).is_err());
    assert!(!contracts.is_stale());
    world.clock.advance(1);
    assert!(contracts.is_stale());
    // What served is still there: a report or a replay may ask for it.
    assert_eq!(node.live(), Some(loaded));
    world.store.set_down(false);
    node.turn();
    assert!(!contracts.is_stale());
}

#[test]
fn versions_of_an_intent_whose_policy_is_manual_wait_for_somebody() {
    let world = World::new();
    let node = world.start("a");
    let intent = intent_gateway_domain::id::IntentId::parse(INTENT).expect("an intent");
    let by = || Actor::new("admin", "ann");
    let set = |policy| block_on(node.catalogue.set_policy(INTENT, policy, by()));
    assert!(matches!(set(ReleasePolicy::Manual), Err(ContractAdminError::Unknown(_))), "nothing is known of it");
    node.load(&version("1.0.0")).expect("loaded");
    assert_eq!(node.catalogue.standing(&intent), IntakeStanding::Open);
    set(ReleasePolicy::Manual).expect("set");
    assert_eq!(node.catalogue.standing(&intent), IntakeStanding::ByHand);
    set(ReleasePolicy::Manual).expect("once more changes nothing");
    let noted: Vec<_> = world.store.log().into_iter().filter(|entry| entry.action == "contract.policy").collect();
    assert_eq!((noted.len(), noted[0].actor.subject.as_str()), (1, "ann"));
    assert_eq!(noted[0].detail, r#"{"before":"auto","policy":"manual"}"#);
    let status = block_on(node.catalogue.status(Some(INTENT))).expect("it is told").remove(0);
    assert_eq!(status.policy, ReleasePolicy::Manual);
    set(ReleasePolicy::Auto).expect("set");
    assert_eq!(world.start("b").catalogue.standing(&intent), IntakeStanding::Open);
}
