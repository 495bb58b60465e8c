//! A search that shows what it has while it waits for the rest: partners answer, and time passes, when the test says.

use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use futures_util::StreamExt as _;
use futures_util::task::noop_waker_ref;
use intent_gateway_routing::search::{Request, Snapshot, Snapshots};

use super::*;

/// Something that is waited for until the test lets it happen.
#[derive(Default)]
struct Gate(Mutex<(bool, Option<Waker>)>);

impl Gate {
    fn open(&self) {
        let mut state = self.0.lock().expect("not poisoned");
        state.0 = true;
        state.1.take().into_iter().for_each(Waker::wake);
    }

    async fn passed(&self) {
        poll_fn(|context| {
            let mut state = self.0.lock().expect("not poisoned");
            if state.0 {
                return Poll::Ready(());
            }
            state.1 = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// Partners that answer as those of a world, each once its gate is open.
struct Gated {
    world: Arc<World>,
    gates: BTreeMap<String, Gate>,
    /// Calls that have begun and not ended.
    under_way: AtomicUsize,
    /// The wait before the next snapshot.
    pauses: Mutex<Vec<Arc<Gate>>>,
}

struct UnderWay<'a>(&'a AtomicUsize);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl PartnerCalls for Gated {
    fn call<'a>(
        &'a self,
        partner: &'a Arc<Partner>,
        call: ToolCall<'a>,
    ) -> BoxFuture<'a, Result<ToolAnswer, CallFailure>> {
        async move {
            self.under_way.fetch_add(1, Ordering::Relaxed);
            let _under_way = UnderWay(&self.under_way);
            self.gates[partner.id.as_str()].passed().await;
            self.world.call(partner, call).await
        }
        .boxed()
    }
}

struct Pauses(Arc<Gated>);

impl Timer for Pauses {
    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        assert_eq!(time, Duration::from_millis(20));
        let gate = Arc::new(Gate::default());
        self.0.pauses.lock().expect("not poisoned").push(gate.clone());
        async move { gate.passed().await }.boxed()
    }
}

/// A search of such partners.
struct Progress {
    gated: Arc<Gated>,
    snapshots: Snapshots,
}

impl Progress {
    fn of(world: World) -> Self {
        let world = Arc::new(world);
        let gates = world.partners.iter().map(|partner| (partner.id.to_string(), Gate::default())).collect();
        let gated =
            Arc::new(Gated { world: world.clone(), gates, under_way: AtomicUsize::new(0), pauses: Mutex::default() });
        let searcher = Arc::new(searcher(&world, gated.clone()));
        let request = Request {
            intent: "test.find_things",
            body: "{}",
            user: None,
            fallback_request_id: "made-up".to_owned(),
            trace: None,
        };
        let snapshots = block_on(searcher.search_progressively(request, Arc::new(Pauses(gated.clone()))));
        Self { gated, snapshots: snapshots.expect("begun") }
    }

    fn world(&self) -> &World {
        &self.gated.world
    }

    fn answers(&self, partner: &str) {
        self.gated.gates[partner].open();
    }

    /// Lets the wait before the next snapshot pass.
    fn pause_passes(&self) {
        self.gated.pauses.lock().expect("not poisoned").pop().expect("a wait").open();
    }

    fn poll(&mut self) -> Poll<Option<Result<Snapshot, SearchError>>> {
        self.snapshots.poll_next_unpin(&mut Context::from_waker(noop_waker_ref()))
    }

    fn next(&mut self) -> Snapshot {
        match self.poll() {
            Poll::Ready(Some(Ok(snapshot))) => snapshot,
            other => panic!("expected a snapshot, found {other:?}"),
        }
    }
}

fn awaited(snapshot: &Snapshot) -> Vec<&str> {
    snapshot.awaited.iter().map(|partner| partner.id.as_str()).collect()
}

/// Three partners, of whom each breaks a rule.
fn three() -> World {
    world(&[
        ("anna", things(json!([{"id": "a1", "rank": 0.2}, {"id": "a2", "rank": 0.8, "note": true}]))),
        ("bela", things(json!([{"id": "b1", "rank": 0.9}, {"id": "b2", "sponsored_rank": 1}]))),
        ("cara", things(json!([{"id": "c1", "rank": 0.5}, {"id": "c2", "drop": true, "strike": true}]))),
    ])
}

/// What two answers have alike, times apart. References are sealed with what they are bound to, so they compare that too.
fn comparable(outcome: &SearchOutcome) -> String {
    let options: Vec<_> = outcome
        .options
        .iter()
        .map(|option| (&option.reference, option.bookable, &option.ranked, option.option.get()))
        .collect();
    let partners: Vec<_> = outcome.partners.iter().map(|partner| (&partner.partner.id, &partner.status)).collect();
    let SearchOutcome { request_id, receipt, code, dropped, notes, left_out_more, .. } = outcome;
    format!("{request_id:?} {receipt:?} {code:?} {options:?} {dropped:?} {partners:?} {notes:?} {left_out_more}")
}

#[test]
fn each_answer_gives_a_whole_ranking_and_the_last_is_the_plain_one() {
    let (plain, plain_world) = search(three(), json!({}));
    let plain = plain.expect("found");
    let mut progress = Progress::of(three());
    assert!(progress.poll().is_pending());

    progress.answers("cara");
    let first = progress.next();
    assert_eq!((ids(&first.outcome), awaited(&first)), (vec!["c1"], vec!["anna", "bela"]));
    assert!(progress.poll().is_pending());
    progress.answers("anna");
    progress.pause_passes();
    let second = progress.next();
    assert_eq!((ids(&second.outcome), awaited(&second)), (vec!["a2", "c1", "a1"], vec!["bela"]));
    assert!(progress.world().findings.lock().expect("not poisoned").is_empty(), "blame waits for the end");
    progress.answers("bela");
    let last = progress.next();
    assert_eq!((ids(&last.outcome), awaited(&last)), (vec!["b1", "a2", "c1", "a1"], vec![]));
    assert!(matches!(progress.poll(), Poll::Ready(None)));

    assert_eq!(comparable(&last.outcome), comparable(&plain));
    let found = |world: &World| format!("{:?}", world.findings.lock().expect("not poisoned"));
    assert_eq!(found(progress.world()), found(&plain_world));
    assert_eq!(found(&plain_world).matches("FORBIDDEN_FIELD").count(), 1);
    // Each ranking is kept, and is the one that its references are bound to.
    let receipts = progress.world().receipts.lock().expect("not poisoned").clone();
    let kept: Vec<&str> = receipts.iter().map(|receipt| receipt.id.as_str()).collect();
    let shown: Vec<_> = [&first, &second, &last].iter().map(|one| one.outcome.receipt.as_deref()).collect();
    assert_eq!(shown, kept.iter().map(|id| Some(*id)).collect::<Vec<_>>());
    let Ok(Reference::Option(reference)) = sealer().open(&first.outcome.options[0].reference) else {
        panic!("a reference to an option")
    };
    assert_eq!((reference.receipt.as_deref(), reference.option_id.as_str()), (Some(kept[0]), "c1"));
}

#[test]
fn answers_that_come_together_are_shown_together() {
    let mut progress = Progress::of(three());
    assert!(progress.poll().is_pending());
    progress.answers("cara");
    assert_eq!(awaited(&progress.next()), ["anna", "bela"]);
    progress.answers("anna");
    assert!(progress.poll().is_pending(), "it is too soon for another one");
    progress.answers("bela");
    assert_eq!(awaited(&progress.next()), [""; 0], "but not for the last one");
    let mut progress = Progress::of(three());
    progress.answers("cara");
    progress.answers("bela");
    assert_eq!(awaited(&progress.next()), ["anna"]);
}

#[test]
fn nobody_to_ask_and_nothing_found_are_answers_too() {
    let mut progress = Progress::of(world(&[]));
    let only = progress.next();
    assert_eq!(only.outcome.code.as_deref(), Some("NO_THINGS"));
    assert!(matches!(progress.poll(), Poll::Ready(None)));

    let failed = || Err(CallFailure::HttpStatus(500));
    let mut progress = Progress::of(world(&[("anna", failed()), ("bela", failed())]));
    progress.answers("anna");
    assert_eq!(progress.next().outcome.code, None, "there may still be options");
    progress.answers("bela");
    assert_eq!(progress.next().outcome.code.as_deref(), Some(NO_PARTNER_ANSWERED));
}

#[test]
fn whoever_leaves_takes_the_calls_along() {
    let mut progress = Progress::of(three());
    assert!(progress.poll().is_pending());
    assert_eq!(progress.gated.under_way.load(Ordering::Relaxed), 3);
    let Progress { gated, snapshots } = progress;
    drop(snapshots);
    assert_eq!(gated.under_way.load(Ordering::Relaxed), 0);
}

#[test]
fn a_contract_that_fails_ends_it_and_one_that_is_busy_is_asked_again() {
    let failing = |fault: ContractFault| {
        let mut world = three();
        world.contract = Arc::new(ScriptedContract {
            fault: Some(fault),
            descriptor: descriptor(),
            seen: Mutex::default(),
            impurity: Mutex::default(),
        });
        let mut progress = Progress::of(world);
        assert!(progress.poll().is_pending());
        progress.answers("anna");
        progress
    };
    let mut progress = failing(ContractFault::Trap("as told".to_owned()));
    assert!(matches!(progress.poll(), Poll::Ready(Some(Err(SearchError::Contract(ContractFault::Trap(_)))))));
    assert!(matches!(progress.poll(), Poll::Ready(None)));

    let mut progress = failing(ContractFault::Busy(1));
    assert!(progress.poll().is_pending(), "the next one may find room");
    progress.answers("bela");
    progress.answers("cara");
    assert!(matches!(progress.poll(), Poll::Ready(Some(Err(SearchError::Contract(ContractFault::Busy(1)))))));
    assert!(matches!(progress.poll(), Poll::Ready(None)));
}
