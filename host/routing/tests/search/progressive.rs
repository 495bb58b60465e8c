//! A search that shows what it has while it waits for the rest: partners answer, and time passes, when the test says.

use std::sync::Arc;
use std::task::{Context, Poll};

use futures_executor::block_on;
use futures_util::StreamExt as _;
use futures_util::task::noop_waker_ref;
use intent_gateway_domain::error::{CallFailure, ContractFault};
use intent_gateway_domain::ports::PartnerDirectory as _;
use intent_gateway_routing::reference::Reference;
use intent_gateway_routing::search::{
    NO_PARTNER_ANSWERED, SearchError, SearchOutcome, SearchRequest, Snapshot, Snapshots,
};
use serde_json::json;

use crate::support::{Deviation, INTENT, World, ids, sealer, things};

/// A search whose partners are all held back until the test releases them.
struct Progress {
    world: World,
    snapshots: Snapshots,
}

impl Progress {
    fn of(world: World) -> Self {
        let partners = world.directory.all();
        partners.iter().for_each(|partner| world.partners.hold(partner.id.as_str()));
        let request = SearchRequest {
            intent: INTENT,
            body: "{}",
            user: None,
            fallback_request_id: "made-up".to_owned(),
            trace: None,
        };
        let searcher = Arc::new(world.searcher());
        let snapshots = block_on(searcher.search_progressively(request, world.clock.clone()));
        Self { snapshots: snapshots.expect("begun"), world }
    }

    fn answers(&self, partner: &str) {
        self.world.partners.release(partner);
    }

    /// Lets the wait before the next snapshot pass.
    fn pause_passes(&self) {
        assert_eq!(self.world.clock.waits_ms(), [20]);
        self.world.clock.advance(20);
    }

    fn poll(&mut self) -> Poll<Option<Result<Snapshot, SearchError>>> {
        let polled = self.snapshots.poll_next_unpin(&mut Context::from_waker(noop_waker_ref()));
        polled.map(|next| next.map(|snapshot| snapshot.map_err(|failed| failed.error)))
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
    World::of(&[
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
    let plain_world = three();
    let plain = plain_world.search(&json!({})).expect("found");
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
    assert!(progress.world.journal.all_findings().is_empty(), "blame waits for the end");
    progress.answers("bela");
    let last = progress.next();
    assert_eq!((ids(&last.outcome), awaited(&last)), (vec!["b1", "a2", "c1", "a1"], vec![]));
    assert!(matches!(progress.poll(), Poll::Ready(None)));

    assert_eq!(comparable(&last.outcome), comparable(&plain));
    let found = |world: &World| format!("{:?}", world.journal.all_findings());
    assert_eq!(found(&progress.world), found(&plain_world));
    assert_eq!(found(&plain_world).matches("FORBIDDEN_FIELD").count(), 1);
    // Each ranking is kept, and is the one that its references are bound to.
    let receipts = progress.world.journal.all_receipts();
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
    let mut progress = Progress::of(World::of(&[]));
    let only = progress.next();
    assert_eq!(only.outcome.code.as_deref(), Some("NO_THINGS"));
    assert!(matches!(progress.poll(), Poll::Ready(None)));

    let failed = || Err(CallFailure::HttpStatus(500));
    let mut progress = Progress::of(World::of(&[("anna", failed()), ("bela", failed())]));
    progress.answers("anna");
    assert_eq!(progress.next().outcome.code, None, "there may still be options");
    progress.answers("bela");
    assert_eq!(progress.next().outcome.code.as_deref(), Some(NO_PARTNER_ANSWERED));
}

#[test]
fn whoever_leaves_takes_the_calls_along() {
    let mut progress = Progress::of(three());
    assert!(progress.poll().is_pending());
    let Progress { world, snapshots } = progress;
    assert_eq!(world.partners.under_way(), 3);
    drop(snapshots);
    assert_eq!(world.partners.under_way(), 0);
}

#[test]
fn a_contract_that_fails_ends_it_and_one_that_is_busy_is_asked_again() {
    let failing = |fault: ContractFault| {
        let world = three();
        world.deviate(Deviation::Fault(fault));
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
