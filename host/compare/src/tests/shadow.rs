//! What is compared of live traffic, and what is counted of it.

use futures_executor::LocalPool;
use futures_util::FutureExt as _;
use futures_util::task::LocalSpawnExt as _;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::ports::ContractAdmin;
use intent_gateway_domain::rates::Counted;
use intent_gateway_domain::share::Share;
use intent_gateway_rollout::{Evidence, Measure, RolloutId, Trial, Trials};
use intent_gateway_testing::catalogue::Catalogue;

use super::*;
use crate::{Shadow, ShadowedJournal, with_budget};

/// A catalogue that has one component.
struct Components(Option<bytes::Bytes>);

mod admin {
    use intent_gateway_domain::audit::Actor;
    use intent_gateway_domain::versions::*;

    use super::*;

    type Answer<'a, T> = BoxFuture<'a, Result<T, ContractAdminError>>;

    impl ContractAdmin for Components {
        fn component(&self, _: Digest) -> Answer<'_, Option<bytes::Bytes>> {
            std::future::ready(Ok(self.0.clone())).boxed()
        }

        fn versions(&self) -> Vec<LoadedVersion> {
            unreachable!("nobody asks")
        }

        fn load(&self, _: bytes::Bytes, _: LoadOrder) -> Answer<'_, Loaded> {
            unreachable!("nobody asks")
        }

        fn activate(&self, _: Digest, _: Actor, _: GoLive) -> Answer<'_, Activated> {
            unreachable!("nobody asks")
        }

        fn unload<'a>(&'a self, _: &'a str, _: Actor) -> Answer<'a, ()> {
            unreachable!("nobody asks")
        }

        fn withdraw<'a>(&'a self, _: &'a str, _: Actor) -> Answer<'a, ()> {
            unreachable!("nobody asks")
        }

        fn set_policy<'a>(&'a self, _: &'a str, _: ReleasePolicy, _: Actor) -> Answer<'a, ()> {
            unreachable!("nobody asks")
        }

        fn status<'a>(&'a self, _: Option<&'a str>) -> Answer<'a, Vec<IntentStatus>> {
            unreachable!("nobody asks")
        }

        fn failures(&self) -> Vec<LoadFailure> {
            unreachable!("nobody asks")
        }

        fn missing(&self) -> Vec<MissingVersion> {
            unreachable!("nobody asks")
        }
    }
}

struct World {
    trials: Arc<Trials>,
    shadow: Arc<Shadow>,
    live: Arc<dyn Contract>,
    candidate: Arc<dyn Contract>,
}

impl World {
    /// A candidate that is compared with 1.0.0 in such a share of the rankings.
    fn of(candidate: Arc<dyn Contract>, percent: f64, budget: Option<&str>) -> Self {
        let live = contract("1.0.0", RULES);
        let contracts = Arc::new(Catalogue::default());
        contracts.activate(live.clone());
        contracts.try_out(candidate.clone(), Share::default());
        // A component is nothing but its preamble here.
        let component =
            budget.map(|budget| with_budget(b"\0asm\x0d\0\x01\0", budget.as_bytes()).expect("a budget").into());
        let trials = Trials::new();
        let workers = Arc::new(Turns::default());
        let shadow =
            Shadow::new(trials.clone(), contracts, Arc::new(Components(component)), workers, Duration::from_secs(1));
        let world = Self { trials, shadow, live, candidate };
        world.try_out(percent);
        world
    }

    fn try_out(&self, percent: f64) {
        let id = RolloutId { digest: self.candidate.digest(), begun_at_ms: START };
        let intent = IntentId::parse(INTENT).expect("an intent");
        let (compared, slow) = (Share::of_percent(percent).expect("a share"), Duration::from_micros(500));
        self.trials.replace(vec![Trial::new(intent, id, self.live.digest(), 0, compared, slow)]);
    }

    /// Compares all that waits; what was seen then.
    fn seen(&self) -> Evidence {
        self.run();
        self.trials.all()[0].seen().1
    }

    fn run(&self) {
        let (mut pool, shadow) = (LocalPool::new(), self.shadow.clone());
        pool.spawner().spawn_local(async move { shadow.run().await }).expect("the pool is there");
        pool.run_until_stalled();
    }

    fn take(&self, receipts: impl IntoIterator<Item = Receipt>) {
        receipts.into_iter().for_each(|receipt| self.shadow.take(&receipt));
    }
}

fn hits(evidence: &Evidence, measure: Measure) -> (u64, u64) {
    let Counted { of, hits } = evidence.counted(measure);
    (hits, of)
}

fn receipts(count: u64) -> impl Iterator<Item = Receipt> {
    (0..count).map(|number| receipt(number, [&[10.0, 40.0], &[20.0, 90.0]]))
}

#[test]
fn the_same_contract_differs_in_nothing() {
    let world = World::of(contract("1.1.0", RULES), 100.0, Some("{}"));
    world.take(receipts(30));
    let evidence = world.seen();
    assert_eq!((evidence.of_stage(0).compared, evidence.of_stage(0).left_out), (30, 0));
    for measure in Measure::ALL {
        assert_eq!(hits(&evidence, measure), (0, 30), "{measure:?}");
    }
}

#[test]
fn each_difference_counts_for_its_measure() {
    let script = |change: fn(&mut Evaluation)| -> Arc<dyn Contract> {
        scripted(
            "1.1.0",
            Box::new(move |_, payloads| {
                let mut evaluation = evaluate(RULES, payloads);
                change(&mut evaluation);
                Ok(evaluation)
            }),
        )
    };
    let failing =
        |fault: fn() -> ContractError| -> Arc<dyn Contract> { scripted("1.1.0", Box::new(move |_, _| Err(fault()))) };
    let cases: [(Arc<dyn Contract>, &[Measure]); 8] = [
        (failing(|| ContractFault::trap("unreachable").into()), &[Measure::Faults, Measure::OutsideBudget]),
        (failing(|| ContractFault::DeadlineExceeded(200).into()), &[Measure::DeadlineMisses, Measure::OutsideBudget]),
        (failing(|| refusal("NO", [])), &[Measure::Refused, Measure::OutsideBudget]),
        (
            script(|evaluation| evaluation.ranked.clear()),
            &[Measure::Empty, Measure::FirstChanged, Measure::Dropped, Measure::OutsideBudget],
        ),
        (
            script(|evaluation| evaluation.ranked.swap(0, 1)),
            &[Measure::FirstChanged, Measure::Reordered, Measure::OutsideBudget],
        ),
        (script(|evaluation| evaluation.ranked.swap(2, 3)), &[Measure::Reordered, Measure::OutsideBudget]),
        (script(|evaluation| drop(evaluation.ranked.pop())), &[Measure::Dropped, Measure::OutsideBudget]),
        (
            script(|evaluation| evaluation.ranked[0].card = RawValue::from_string("7".to_owned()).expect("JSON")),
            &[Measure::OutsideBudget],
        ),
    ];
    for (candidate, expected) in cases {
        let world = World::of(candidate, 100.0, Some("{}"));
        world.take(receipts(1));
        let evidence = world.seen();
        let hit: Vec<Measure> = Measure::ALL.into_iter().filter(|measure| hits(&evidence, *measure).0 == 1).collect();
        assert_eq!(hit, expected);
        assert!(hit.iter().all(|measure| evidence.examples(*measure) == ["rank_000"]));
    }
}

#[test]
fn what_takes_too_long_is_slow() {
    let world = World::of(contract("1.1.0", RULES), 100.0, None);
    world.take(receipts(1));
    assert_eq!(hits(&world.seen(), Measure::Slow), (0, 1));
    // By these workers' clock a look is a microsecond.
    let slow = scripted("1.1.0", Box::new(|_, payloads| Ok(evaluate(RULES, payloads))));
    let world = World::of(slow, 100.0, None);
    let id = RolloutId { digest: world.candidate.digest(), begun_at_ms: START };
    let all = Share::of_percent(100.0).expect("a share");
    let intent = IntentId::parse(INTENT).expect("an intent");
    world.trials.replace(vec![Trial::new(intent, id, world.live.digest(), 0, all, Duration::ZERO)]);
    world.take(receipts(1));
    let evidence = world.seen();
    assert_eq!((hits(&evidence, Measure::Slow), hits(&evidence, Measure::OutsideBudget)), ((1, 1), (0, 0)));
}

#[test]
fn what_the_candidate_has_ranked_is_compared_with_the_live_version_as_well() {
    let world = World::of(contract("1.1.0", Rules { reversed: true, ..RULES }), 100.0, None);
    let by_candidate = receipts(3).map(|receipt| {
        let payloads: Vec<_> = receipt.payloads.iter().map(ReceiptPayload::for_contract).collect();
        let evaluation = evaluate(Rules { reversed: true, ..RULES }, &payloads);
        let ranked = evaluation.ranked.iter().map(ReceiptScore::from).collect();
        let (contract, outcome) = (world.candidate.digest(), outcome(&evaluation));
        Receipt { contract, ranked, outcome, ..receipt.clone() }
    });
    world.take(by_candidate);
    // What another version has ranked is not.
    world.take(receipts(2).map(|receipt| Receipt { contract: Digest::of(b"another"), ..receipt }));
    let evidence = world.seen();
    assert_eq!((hits(&evidence, Measure::FirstChanged), hits(&evidence, Measure::Slow)), ((3, 3), (0, 0)));
}

#[test]
fn a_share_is_compared_and_what_is_too_much_is_left_out() {
    let world = World::of(contract("1.1.0", RULES), 25.0, None);
    (0..400).for_each(|number| {
        world.take([Receipt { id: format!("rank_{number}"), ..receipt(1, [&[10.0], &[20.0]]) }]);
        world.seen();
    });
    let compared = world.seen().of_stage(0).compared;
    assert!((70..130).contains(&compared), "{compared}");
    let world = World::of(contract("1.1.0", RULES), 100.0, None);
    world.take(receipts(100));
    let count = world.seen().of_stage(0);
    assert_eq!((count.compared, count.left_out), (64, 36));
    // Of what is large, less waits.
    let world = World::of(contract("1.1.0", RULES), 100.0, None);
    let padding = "x".repeat(3 * 1024 * 1024);
    let large = |number| {
        let mut receipt = receipt(number, [&[10.0], &[20.0]]);
        let json = json!({"id": "alpha-0", "price": 10.0, "padding": padding});
        receipt.payloads[0].candidates[0].json = RawValue::from_string(json.to_string()).expect("JSON");
        receipt
    };
    world.take((0..3).map(large));
    let count = world.seen().of_stage(0);
    assert_eq!((count.compared, count.left_out), (2, 1));
    world.take([large(3)]);
    assert_eq!(world.seen().of_stage(0).compared, 3, "there is room again");
    // Nothing is taken where nothing is tried out.
    world.take(receipts(1));
    world.trials.replace(Vec::new());
    world.take(receipts(1));
    world.run();
}

#[test]
fn a_journal_keeps_what_it_shows() {
    let world = World::of(contract("1.1.0", RULES), 100.0, None);
    let memory = Arc::new(MemoryJournal::default());
    let journal = ShadowedJournal { journal: memory.clone(), shadow: world.shadow.clone() };
    journal.keep(receipt(1, [&[10.0], &[20.0]]), None);
    assert_eq!(memory.only_receipt().id, "rank_001");
    assert_eq!(world.seen().of_stage(0).compared, 1);
}
