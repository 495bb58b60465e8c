//! A search that shows what it has while it waits for the rest: partners answer, and time passes, when the test says.

use std::sync::Arc;
use std::task::{Context, Poll};

use futures_executor::block_on;
use futures_util::StreamExt as _;
use futures_util::task::noop_waker_ref;
use intent_gateway_domain::contract::RankedOption;
use intent_gateway_domain::error::{CallFailure, ContractFault};
use intent_gateway_domain::ports::PartnerDirectory as _;
use intent_gateway_routing::reference::{OptionReference, Reference};
use intent_gateway_routing::replay::replay;
use intent_gateway_routing::search::{
    NO_PARTNER_ANSWERED, RANKINGS_MAX, RankedChoice, SearchError, SearchOutcome, Searcher, Snapshot, Snapshots,
};
use serde_json::json;
use serde_json::value::RawValue;

use crate::support::{Deviation, NOW_MS, World, ids, request, sealer, things};
use intent_gateway_domain::clock::{Clock as _, Timestamp};

/// A search whose partners are all held back until the test releases them.
struct Progress {
    world: World,
    searcher: Arc<Searcher>,
    snapshots: Snapshots,
}

impl Progress {
    fn of(world: World) -> Self {
        let partners = world.directory.all();
        partners.iter().for_each(|partner| world.partners.hold(partner.id.as_str()));
        let searcher = Arc::new(world.searcher());
        let snapshots = block_on(searcher.clone().search_progressively(request(), world.clock.clone()));
        Self { snapshots: snapshots.expect("begun"), world, searcher }
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

/// What two answers have alike, times and numbers apart. References are looked into: they differ in the receipt and the time.
fn comparable(outcome: &SearchOutcome) -> String {
    let option = |option: &RankedChoice| {
        let RankedOption { number, id, total, axes, completeness, card } = &option.ranked;
        let reference = opened(&option.reference);
        assert_eq!((reference.number, reference.receipt.as_ref()), (*number, outcome.receipt.as_ref()));
        let reference = OptionReference { number: 0, receipt: None, answered_at_ms: None, ..reference };
        let ranked = (id, total, axes, completeness, card.get());
        format!("{reference:?} {} {ranked:?} {}", option.bookable, option.option.get())
    };
    let options: Vec<_> = outcome.options.iter().map(option).collect();
    let partners: Vec<_> = outcome.partners.iter().map(|partner| (&partner.partner.id, &partner.status)).collect();
    let SearchOutcome { request_id, code, dropped, notes, left_out_more, .. } = outcome;
    format!("{request_id:?} {code:?} {options:?} {dropped:?} {partners:?} {notes:?} {left_out_more}")
}

fn opened(reference: &str) -> OptionReference {
    let Ok(Reference::Option(option)) = sealer().open(reference) else { panic!("a reference to an option") };
    option
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
    // The receipt is kept at the end: until then, references hold the options themselves.
    let hold_quotes = |snapshot: &Snapshot| {
        let quoted = snapshot.outcome.options.iter().map(|choice| opened(&choice.reference).quoted.is_some());
        quoted.collect::<Vec<_>>()
    };
    assert_eq!([&first, &second, &last].map(hold_quotes), [vec![true], vec![true; 3], vec![false; 4]]);
    let (began, shown) = (Timestamp::from_ms(NOW_MS), opened(&last.outcome.options[0].reference).answered_at_ms);
    assert_eq!(shown, Some(began.plus_ms(20)), "the time of the answer, after which bookings wait for the receipt");
    // One receipt stands behind all of them.
    let receipt = progress.world.journal.only_receipt();
    for choice in [&first, &second, &last].into_iter().flat_map(|snapshot| &snapshot.outcome.options) {
        let reference = opened(&choice.reference);
        assert_eq!(reference.receipt.as_deref(), Some(receipt.id.as_str()));
        let quoted = receipt.shown_option(&choice.partner.id, reference.number).map(RawValue::get);
        assert_eq!(quoted, Some(choice.option.get()));
    }
    let replayed = block_on(replay(&receipt, &*progress.world.contract)).expect("replayed");
    assert!(replayed.same, "it is the receipt of the last ranking: {replayed:?}");
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
    let Progress { world, snapshots, .. } = progress;
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
    let mut progress = failing(ContractFault::trap("as told"));
    assert!(matches!(progress.poll(), Poll::Ready(Some(Err(SearchError::Contract(ContractFault::Trap { .. }))))));
    assert!(matches!(progress.poll(), Poll::Ready(None)));

    let mut progress = failing(ContractFault::Busy(1));
    assert!(progress.poll().is_pending(), "the next one may find room");
    progress.answers("bela");
    progress.answers("cara");
    assert!(matches!(progress.poll(), Poll::Ready(Some(Err(SearchError::Contract(ContractFault::Busy(1)))))));
    assert!(matches!(progress.poll(), Poll::Ready(None)));
}

#[test]
fn a_stream_ends_with_the_truth_when_the_gateway_had_no_place_for_the_calls() {
    let down = || Err(CallFailure::Unreachable("refused".to_owned()));
    let mut progress = Progress::of(World::of(&[("anna", down()), ("bela", Err(CallFailure::Busy))]));
    progress.answers("anna");
    progress.answers("bela");
    let overloaded = |polled| matches!(polled, Poll::Ready(Some(Err(SearchError::Overloaded { wait_ms: None }))));
    assert!(overloaded(progress.poll()));
    assert!(matches!(progress.poll(), Poll::Ready(None)));
}

/// A search of so many partners that answer one after another, so far apart.
fn one_by_one(partners: usize, apart_ms: u64) -> (Progress, Vec<Snapshot>) {
    let names: Vec<String> = (0..partners).map(|number| format!("partner-{number:02}")).collect();
    let offer = |name: &str| things(json!([{"id": name, "rank": 0.5}]));
    let answers: Vec<_> = names.iter().map(|name| (name.as_str(), offer(name))).collect();
    let mut progress = Progress::of(World::of(&answers));
    let mut snapshots = Vec::new();
    for name in &names {
        progress.answers(name);
        let until_ms = progress.world.clock.now().as_ms() + apart_ms;
        loop {
            match progress.poll() {
                Poll::Ready(Some(snapshot)) => snapshots.push(snapshot.expect("ranked")),
                Poll::Ready(None) => return (progress, snapshots),
                Poll::Pending if progress.world.clock.advance_to_next_wait(until_ms) => {}
                Poll::Pending => break,
            }
        }
        progress.world.clock.set(until_ms);
    }
    panic!("all have answered, and it is not over")
}

#[test]
fn a_search_is_ranked_a_few_times_and_leaves_one_receipt_however_many_partners_answer() {
    for (partners, apart_ms, expected) in
        [(1, 500, 1), (10, 0, 2), (10, 25, 5), (10, 500, 8), (50, 0, 2), (50, 5, 6), (50, 25, 8), (50, 500, 18)]
    {
        let (progress, snapshots) = one_by_one(partners, apart_ms);
        let evaluations = progress.world.contract.evaluations();
        let receipts = progress.world.journal.all_receipts().len();
        assert_eq!((evaluations, receipts), (expected, 1), "{partners} partners, {apart_ms} ms apart");
        assert!(evaluations <= RANKINGS_MAX);
        assert_eq!(snapshots.len(), evaluations);
        assert_eq!(snapshots.last().expect("one").outcome.options.len(), partners);
    }
}

#[test]
fn an_answer_without_options_changes_no_ranking() {
    let offer = || things(json!([{"id": "a1"}]));
    let progress =
        Progress::of(World::of(&[("anna", offer()), ("bela", things(json!([]))), ("cara", Err(CallFailure::Busy))]));
    let Progress { world, mut snapshots, .. } = progress;
    let mut receipts = Vec::new();
    for partner in ["anna", "bela", "cara"] {
        world.partners.release(partner);
        world.clock.advance(1_000);
        let snapshot = block_on(snapshots.next()).expect("one").expect("ranked");
        assert_eq!(ids(&snapshot.outcome), ["a1"]);
        receipts.push(snapshot.outcome.receipt);
    }
    assert_eq!(world.contract.evaluations(), 1);
    assert_eq!(receipts, vec![Some(world.journal.only_receipt().id); 3]);
}

#[test]
fn an_option_of_an_early_snapshot_is_booked_as_it_was_shown() {
    let options = json!([{"id": "b1", "price": 10}, {"id": "b2", "price": 20}]);
    let mut progress = Progress::of(World::of(&[("anna", things(json!([{"id": "a1"}]))), ("bela", things(options))]));
    let caller = progress.world.caller(&progress.searcher);
    progress.answers("bela");
    let early = progress.next();
    let book = || {
        for choice in &early.outcome.options {
            assert_eq!(progress.world.book(&caller, &choice.reference).as_deref(), Some(choice.option.get()));
        }
    };
    // While the search goes on, nothing is kept of it.
    assert!(progress.world.journal.all_receipts().is_empty());
    book();
    progress.world.partners.release("anna");
    assert!(matches!(block_on(progress.snapshots.next()), Some(Ok(last)) if last.awaited.is_empty()));
    progress.world.journal.only_receipt();
    book();
}

#[test]
fn whoever_leaves_early_is_held_to_what_was_shown() {
    let mut progress = Progress::of(three());
    progress.answers("anna");
    let early = progress.next();
    let Progress { world, snapshots, .. } = progress;
    drop(snapshots);
    let receipt = world.journal.only_receipt();
    assert_eq!(early.outcome.receipt.as_deref(), Some(receipt.id.as_str()));
    let anna = early.outcome.options[0].partner.id.clone();
    assert_eq!(receipt.shown(&anna).count(), early.outcome.options.len());
}

/// A report of an order that was booked out of an early snapshot is compared with what that one showed.
#[test]
fn what_only_an_early_snapshot_showed_counts_as_shown() {
    let lonely = things(json!([{"id": "a1", "drops_in_company": true}]));
    let mut progress = Progress::of(World::of(&[("anna", lonely), ("bela", things(json!([{"id": "b1"}])))]));
    progress.answers("anna");
    let early = progress.next();
    assert_eq!(ids(&early.outcome), ["a1"]);
    progress.answers("bela");
    let last = progress.next();
    assert_eq!((ids(&last.outcome), last.outcome.dropped.len()), (vec!["b1"], 1));
    let receipt = progress.world.journal.only_receipt();
    let shown: Vec<_> = receipt.shown(&early.outcome.options[0].partner.id).map(RawValue::get).collect();
    assert_eq!(shown, [early.outcome.options[0].option.get()]);
    let replayed = block_on(replay(&receipt, &*progress.world.contract)).expect("replayed");
    assert!(replayed.same, "{replayed:?}");
}
