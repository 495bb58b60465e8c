//! Rollouts over several gateways: from stage to stage by what all have seen, or back.

use futures_executor::block_on;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::{ContractAdmin as _, ContractIntake as _};
use intent_gateway_domain::share::Share;
use intent_gateway_domain::store::load;
use intent_gateway_domain::versions::{GoLive, IntakeStanding, VersionAct};
use intent_gateway_rollout::{
    Evidence, Measure, RolloutAct, RolloutDesk as _, RolloutEnd, RolloutError, RolloutId, RolloutOrder, RolloutPolicy,
    RolloutStatus, Stage, Trial,
};

use super::world::{INTENT, Node, World, digest, failing, version};
use crate::Entry;

fn ann() -> Actor {
    Actor::new("admin", "ann")
}

/// Ten comparisons, then ten searches of a tenth, then ten of a half; a minute each.
fn policy() -> RolloutPolicy {
    let stage = |share_percent| Stage { share_percent, compare_percent: 100.0, decisions: 10, minutes: 1 };
    RolloutPolicy { stages: [0.0, 10.0, 50.0].map(stage).to_vec(), ..RolloutPolicy::default() }
}

/// Gateways that serve 1.0.0 and have 1.1.0 ready.
fn gateways(world: &World) -> [Node; 2] {
    let (a, b) = (world.start("a"), world.start("b"));
    a.load_as(&version("1.0.0"), false).expect("it is loaded");
    block_on(a.catalogue.activate(digest(&version("1.0.0")), ann(), GoLive::AtOnce)).expect("it is loaded");
    a.load_as(&version("1.1.0"), false).expect("it is loaded");
    b.turn();
    b.turn();
    [a, b]
}

fn candidate() -> Digest {
    digest(&version("1.1.0"))
}

fn begin(node: &Node) -> Result<RolloutStatus, RolloutError> {
    let order = RolloutOrder { digest: candidate(), policy: Some(policy()), why: "a new rule".to_owned(), by: ann() };
    block_on(node.catalogue.begin(order))
}

fn act(node: &Node, act: RolloutAct) -> Result<(), RolloutError> {
    block_on(node.catalogue.act(INTENT, act, "the test says so".to_owned(), ann()))
}

/// What a gateway sees: so many decisions of its stage, none of which is a hit.
fn see(node: &Node, decisions: u64) {
    add(node, |evidence, stage| {
        let count = evidence.at_stage(stage);
        count.compared += decisions;
        count.served += decisions;
    });
}

fn add(node: &Node, add: impl FnOnce(&mut Evidence, usize)) {
    let trials = node.trials.all();
    trials.first().expect("something is tried out").add(add);
}

fn share(node: &Node) -> Option<(Digest, Share)> {
    node.runtime.served.lock().expect("held").iter().find(|served| served.intent.as_str() == INTENT)?.candidate
}

fn of(percent: f64) -> Option<(Digest, Share)> {
    Some((candidate(), Share::of_percent(percent).expect("a share")))
}

fn entry(world: &World) -> Entry {
    block_on(load::<Entry>(&*world.store, INTENT)).expect("it is read").expect("there is one").value
}

fn acts(world: &World) -> Vec<VersionAct> {
    let entry = entry(world);
    entry.version(candidate()).expect("it is loaded").history.iter().map(|event| event.act).collect()
}

#[test]
fn a_candidate_goes_from_stage_to_stage_by_what_all_gateways_have_seen() {
    let world = World::new();
    let [a, b] = gateways(&world);
    let status = begin(&a).expect("it begins");
    assert_eq!((status.stage, status.missing.decisions, status.missing.ms), (0, 10, 60_000));
    assert_eq!(status.baseline.digest, digest(&version("1.0.0")));
    // No gateway serves anybody by it, and both try it out.
    b.turn();
    assert_eq!([share(&a), share(&b)], [None; 2]);
    see(&a, 6);
    see(&b, 4);
    a.turn();
    b.turn();
    a.turn();
    assert_eq!(entry(&world).rollout.expect("it goes on").stage, 0, "its minute is not over");
    world.clock.advance(60_000);
    a.turn();
    b.turn();
    assert_eq!([share(&a), share(&b)], [of(10.0); 2]);
    let course = a.catalogue.course(INTENT).expect("it is looked at");
    let stages: Vec<_> = course.samples.iter().map(|sample| sample.stage).collect();
    assert_eq!(
        (stages.first(), course.id),
        (Some(&0), RolloutId { digest: candidate(), begun_at_ms: status.begun_at_ms })
    );
    // What was seen in the stage before is none of this one's.
    world.clock.advance(60_000);
    a.turn();
    assert_eq!(share(&a), of(10.0));
    see(&b, 10);
    b.turn();
    a.turn();
    assert_eq!([share(&a), share(&b)], [of(50.0); 2]);
    see(&a, 10);
    world.clock.advance(60_000);
    a.turn();
    b.turn();
    assert_eq!([a.live(), b.live()], [Some(candidate()); 2]);
    assert_eq!([share(&a), share(&b)], [None; 2]);
    let entry = entry(&world);
    let ended = entry.last_rollout.expect("it has ended");
    assert_eq!((ended.end, ended.stage), (RolloutEnd::Live, 3));
    assert!(entry.rollout.is_none() && a.trials.all().is_empty());
    let expected = [VersionAct::Loaded, VersionAct::RolloutBegun, VersionAct::StageBegun, VersionAct::StageBegun];
    assert_eq!(acts(&world), [&expected[..], &[VersionAct::WentLive]].concat());
}

#[test]
fn a_broken_bound_takes_it_back_at_all_gateways_with_the_reason_and_examples() {
    let world = World::new();
    let [a, b] = gateways(&world);
    begin(&a).expect("it begins");
    act(&a, RolloutAct::Advance).expect("it goes on");
    b.turn();
    assert_eq!(share(&b), of(10.0));
    // Neither has seen enough alone.
    for node in [&a, &b] {
        add(node, |evidence, _| (0..30).for_each(|at| evidence.note(Measure::Dropped, at % 3 == 0, Some("rank_1"))));
    }
    a.turn();
    assert_eq!(share(&a), of(10.0));
    b.turn();
    a.turn();
    assert_eq!(([share(&a), share(&b)], a.live()), ([None; 2], Some(digest(&version("1.0.0")))));
    let ended = entry(&world).last_rollout.expect("it has ended");
    assert_eq!((ended.end, ended.stage, ended.by), (RolloutEnd::TakenBack, 1, Actor::gateway()));
    assert!(ended.why.starts_with("dropped: 20 of 60, so at least 0.1"), "{}", ended.why);
    assert_eq!((ended.broken.len(), ended.broken[0].receipts.len()), (1, 5));
    let told = world.store.log();
    let last = told.last().expect("there is one");
    assert_eq!((last.action.as_str(), last.subject.as_str()), ("contract.taken_back", INTENT));
    let detail: serde_json::Value = serde_json::from_str(&last.detail).expect("JSON");
    assert_eq!(detail["rollout"]["broken"][0]["receipts"][0], "rank_1");
}

#[test]
fn what_is_paused_stays_where_it_is_and_its_bounds_hold() {
    let world = World::new();
    let [a, b] = gateways(&world);
    begin(&a).expect("it begins");
    act(&b, RolloutAct::Pause).expect("it is under way");
    act(&b, RolloutAct::Pause).expect("it is paused already");
    a.turn();
    see(&a, 10);
    world.clock.advance(300_000);
    a.turn();
    assert_eq!(entry(&world).rollout.expect("it goes on").stage, 0);
    let status = block_on(a.catalogue.rollout(INTENT)).expect("it is read").current;
    let status = status.expect("it is under way");
    assert_eq!((status.missing.decisions, status.missing.ms), (0, 60_000), "a pause is no time");
    assert_eq!(status.paused.expect("it is paused").by, ann());
    act(&b, RolloutAct::Resume).expect("it is under way");
    world.clock.advance(60_000);
    // Also where nothing is lacking any more.
    act(&b, RolloutAct::Pause).expect("it is under way");
    a.turn();
    assert_eq!(entry(&world).rollout.expect("it goes on").stage, 0);
    act(&b, RolloutAct::Resume).expect("it is under way");
    a.turn();
    assert_eq!(entry(&world).rollout.expect("it goes on").stage, 1);
    act(&a, RolloutAct::Pause).expect("it is under way");
    add(&a, |evidence, _| (0..20).for_each(|_| evidence.note(Measure::Empty, true, None)));
    a.turn();
    assert_eq!(entry(&world).last_rollout.expect("it has ended").end, RolloutEnd::TakenBack);
}

#[test]
fn no_stage_begins_before_every_gateway_has_it_ready() {
    let world = World::new();
    let [a, b] = gateways(&world);
    begin(&a).expect("it begins");
    let c = world.join("c");
    b.turn();
    see(&a, 10);
    world.clock.advance(60_000);
    // Its lease is as long as the others'.
    [&a, &b, &c].iter().for_each(|node| node.renew(false));
    a.turn();
    let status = block_on(a.catalogue.rollout(INTENT)).expect("it is read").current;
    let waits_for = status.expect("it is under way").waits_for;
    assert_eq!(waits_for.iter().map(|waited| waited.gateway.as_str()).collect::<Vec<_>>(), ["c"]);
    a.turn();
    assert_eq!((share(&a), entry(&world).rollout.expect("it goes on").stage), (None, 0));
    block_on(c.catalogue.start()).expect("the store answers");
    c.turn();
    a.turn();
    c.turn();
    assert_eq!([share(&a), share(&c)], [of(10.0); 2]);
}

#[test]
fn a_gateway_that_cannot_run_it_serves_nobody_by_it() {
    let world = World::new();
    let [a, _] = gateways(&world);
    let c = world.join("c");
    c.runtime.break_for(&version("1.1.0"));
    block_on(c.catalogue.start()).expect("the store answers");
    begin(&a).expect("it begins");
    act(&a, RolloutAct::Advance).expect("it is under way");
    c.turn();
    assert_eq!((share(&a), share(&c), c.trials.all().len()), (of(10.0), None, 0));
}

#[test]
fn what_was_seen_of_one_rollout_is_nothing_of_the_next() {
    let world = World::new();
    let [a, b] = gateways(&world);
    begin(&a).expect("it begins");
    b.turn();
    see(&a, 5);
    see(&b, 5);
    a.turn();
    b.turn();
    act(&a, RolloutAct::Abort).expect("it is under way");
    world.clock.advance(1);
    assert_eq!(begin(&a).expect("it begins again").seen[0].compared, 0);
}

#[test]
fn somebody_may_end_it_either_way() {
    let world = World::new();
    let [a, b] = gateways(&world);
    begin(&a).expect("it begins");
    assert!(matches!(begin(&b), Err(RolloutError::UnderWay(_))));
    // Nothing goes live meanwhile because it was found in a folder.
    let intent = IntentId::parse(INTENT).expect("an intent");
    b.turn();
    assert_eq!([&a, &b].map(|node| node.catalogue.standing(&intent)), [IntakeStanding::Changing; 2]);
    act(&b, RolloutAct::Abort).expect("it is under way");
    assert_eq!(acts(&world).last(), Some(&VersionAct::TakenBack));
    assert!(matches!(act(&a, RolloutAct::Abort), Err(RolloutError::None(_))));
    begin(&a).expect("it begins again");
    act(&b, RolloutAct::Finish).expect("it is under way");
    a.turn();
    assert_eq!((a.live(), b.live()), (Some(candidate()), Some(candidate())));
    let ended = entry(&world).last_rollout.expect("it has ended");
    assert_eq!((ended.end, ended.why.as_str(), ended.by), (RolloutEnd::Live, "the test says so", ann()));
    assert!(matches!(begin(&a), Err(RolloutError::Live(_))));
    block_on(a.catalogue.unload(INTENT, ann())).expect("it serves");
    assert!(matches!(begin(&a), Err(RolloutError::NothingLive(_))));
}

#[test]
fn what_else_goes_live_overtakes_it() {
    let world = World::new();
    let [a, b] = gateways(&world);
    a.load_as(&version("1.2.0"), false).expect("it is loaded");
    begin(&a).expect("it begins");
    act(&a, RolloutAct::Advance).expect("it is under way");
    block_on(a.catalogue.activate(digest(&version("1.2.0")), ann(), GoLive::AtOnce)).expect("it is loaded");
    b.turn();
    assert_eq!([share(&a), share(&b)], [None; 2]);
    let ended = entry(&world).last_rollout.expect("it has ended");
    assert_eq!((ended.end, ended.why.as_str()), (RolloutEnd::Overtaken, "version 1.2.0 is live"));
    begin(&a).expect("it begins again");
    block_on(a.catalogue.unload(INTENT, ann())).expect("it serves");
    assert_eq!(entry(&world).last_rollout.expect("it has ended").why, "the intent is out of service");
}

#[test]
fn a_candidate_that_keeps_failing_is_taken_back_at_once() {
    let world = World::new();
    let [a, _] = gateways(&world);
    begin(&a).expect("it begins");
    act(&a, RolloutAct::Advance).expect("it is under way");
    block_on(a.catalogue.roll_back(failing(candidate())));
    assert_eq!((share(&a), a.live()), (None, Some(digest(&version("1.0.0")))));
    let ended = entry(&world).last_rollout.expect("it has ended");
    assert_eq!((ended.end, ended.why.as_str()), (RolloutEnd::TakenBack, "5 of 5 calls failed, the last 5 in a row"));
}

#[test]
fn what_is_told_while_the_store_loses_answers_counts_once() {
    let world = World::new();
    let [a, b] = gateways(&world);
    begin(&a).expect("it begins");
    let compared = || {
        let status = block_on(b.catalogue.rollout(INTENT)).expect("it is read").current;
        status.expect("it is under way").seen[0].compared
    };
    see(&a, 3);
    a.turn();
    assert_eq!(compared(), 3);
    see(&a, 2);
    world.store.lose_answers(true);
    assert!(block_on(a.catalogue.turn()).is_err());
    world.store.lose_answers(false);
    a.turn();
    see(&a, 1);
    a.turn();
    assert_eq!(compared(), 6);
    // Somebody else was faster.
    see(&a, 1);
    world.store.conflict_next(1);
    a.turn();
    a.turn();
    assert_eq!(compared(), 7);
    // A gateway that has left a rollout and is back goes on from what it has told.
    a.trials.replace(Vec::new());
    see_again(&a);
    a.turn();
    assert_eq!(compared(), 8);
}

/// The gateway takes part anew, and sees one thing more.
fn see_again(node: &Node) {
    let id = RolloutId { digest: candidate(), begun_at_ms: entry_of(node).begun_at_ms };
    let intent = IntentId::parse(INTENT).expect("an intent");
    let trial = Trial::new(intent, id, digest(&version("1.0.0")), 0, Share::default(), Default::default());
    node.trials.replace(vec![trial]);
    see(node, 1);
}

fn entry_of(node: &Node) -> RolloutStatus {
    block_on(node.catalogue.rollout(INTENT)).expect("it is read").current.expect("it is under way")
}

#[test]
fn what_a_gateway_has_seen_is_there_after_its_restart() {
    let world = World::new();
    let [a, b] = gateways(&world);
    begin(&a).expect("it begins");
    see(&a, 6);
    a.turn();
    see(&a, 1);
    a.turn();
    a.leave();
    let again = world.start("a");
    see(&again, 3);
    again.turn();
    b.turn();
    let status = block_on(b.catalogue.rollout(INTENT)).expect("it is read").current;
    assert_eq!(status.expect("it is under way").seen[0].compared, 10);
    // What is over is forgotten.
    assert_eq!(block_on(b.catalogue.forget_evidence()).expect("forgotten"), 0);
    act(&b, RolloutAct::Abort).expect("it is under way");
    assert_eq!(block_on(b.catalogue.forget_evidence()).expect("forgotten"), 1);
}
