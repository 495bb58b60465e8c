//! What is kept of a ranking, and its replay.

use futures_executor::block_on;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::{CallFailure, ContractFault};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::ports::{Contract as _, ReceiptFate};
use intent_gateway_domain::receipt::Receipt;
use intent_gateway_routing::reference::{Quote, Reference};
use intent_gateway_routing::replay::{Difference, ReplayError, replay};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use crate::support::{Deviation, NOW_MS, World, sealer, things};

/// Two partners of whose options two are ranked, one is dropped, one is noted, and one never reaches the contract.
fn ranking() -> World {
    World::of(&[
        ("beta", things(json!([{"id": "b1", "rank": 0.1_f64 + 0.2, "note": true}, {"id": "b2", "ad_bid": 1}]))),
        ("alpha", things(json!([{"id": "a1", "drop": true, "strike": true}, {"id": "a2", "rank": 0.9}]))),
        ("slow", Err(CallFailure::Timeout(30_000))),
    ])
}

#[test]
fn a_receipt_holds_what_was_ranked_and_what_came_of_it() {
    let world = ranking();
    let outcome = world.search(&json!({"city": "Pune"})).expect("searched");
    let receipt = world.journal.only_receipt();
    assert_eq!(outcome.receipt.as_deref(), Some(receipt.id.as_str()));
    assert_eq!((receipt.at_ms, receipt.request_id.as_str()), (Timestamp::from_ms(NOW_MS), "made-up"));
    assert_eq!((receipt.intent.as_str(), receipt.version.to_string().as_str()), ("test.find_things", "1.2.3"));
    assert_eq!(receipt.contract, world.contract.digest());
    let last = outcome.options.iter().map(|option| option.bookable_until).max();
    assert!(last > Some(receipt.at_ms) && receipt.bookable_until_ms == last, "{:?}", receipt.bookable_until_ms);
    assert_eq!(receipt.arguments.get(), r#"{"city":"Pune","request_id":"made-up"}"#);
    let payloads: Vec<_> = receipt
        .payloads
        .iter()
        .map(|payload| {
            let options =
                payload.candidates.iter().map(|candidate| (candidate.number, candidate.json.get().to_owned()));
            (payload.partner.as_str(), options.collect::<Vec<_>>())
        })
        .collect();
    // The partner that gave nothing and the option that no contract may see are not there.
    assert_eq!(
        payloads,
        [
            ("beta", vec![(0, r#"{"id":"b1","note":true,"rank":0.30000000000000004}"#.to_owned())]),
            (
                "alpha",
                vec![
                    (1, r#"{"drop":true,"id":"a1","strike":true}"#.to_owned()),
                    (2, r#"{"id":"a2","rank":0.9}"#.to_owned())
                ]
            )
        ]
    );
    let ranked: Vec<_> = receipt.ranked.iter().map(|score| (score.number, score.id.as_str(), score.total)).collect();
    assert_eq!(ranked, [(2, "a2", 0.9), (0, "b1", 0.1 + 0.2)]);
    assert_eq!(receipt.dropped.len(), 1);
    assert_eq!((receipt.dropped[0].number, receipt.dropped[0].strike), (1, true));
    assert_eq!(receipt.dropped[0].codes, ["SCRIPTED"]);
    let alpha = PartnerId::parse("alpha").expect("well formed");
    let shown: Vec<_> = receipt.shown(&alpha).map(RawValue::get).collect();
    assert_eq!(shown, [r#"{"id":"a2","rank":0.9}"#]);
}

#[test]
fn nothing_to_rank_leaves_no_receipt() {
    let cheat = things(json!([{"id": "x", "ad_bid": 1}]));
    for answers in [("alpha", things(json!([]))), ("alpha", Err(CallFailure::HttpStatus(500))), ("alpha", cheat)] {
        let world = World::of(&[answers]);
        assert_eq!(world.search(&json!({})).expect("searched").receipt, None);
        assert_eq!(world.journal.all_receipts().len(), 0);
    }
}

#[test]
fn a_receipt_that_was_kept_as_text_replays_to_the_same_outcome() {
    let world = ranking();
    world.search(&json!({"city": "Pune"})).expect("searched");
    let kept = serde_json::to_string(&world.journal.only_receipt()).expect("serialises");
    let receipt: Receipt = serde_json::from_str(&kept).expect("reads");
    assert_eq!(receipt.ranked, world.journal.only_receipt().ranked);
    let replayed = block_on(replay(&receipt, &*world.contract)).expect("replayed");
    assert!(replayed.same && replayed.difference.is_none(), "{replayed:?}");
    assert_eq!((replayed.expected, replayed.found), (receipt.outcome, Some(receipt.outcome)));
    let [first, again] = &world.evaluations()[..] else { panic!("two evaluations") };
    assert_eq!(first, again, "it sees the very same again");
}

#[test]
fn a_replay_says_where_the_outcomes_part() {
    let world = ranking();
    world.search(&json!({})).expect("searched");
    let receipt = world.journal.only_receipt();
    let difference = |deviation: Option<Deviation>, receipt: &Receipt| {
        world.deviate(deviation);
        let replayed = block_on(replay(receipt, &*world.contract)).expect("replayed");
        assert!(!replayed.same && replayed.found != Some(replayed.expected));
        replayed.difference.expect("told")
    };
    let scored = difference(Some(Deviation::Score), &receipt);
    let Difference::Ranked { place: 1, expected: Some(expected), found: Some(found) } = scored else {
        panic!("{scored:?}")
    };
    assert_eq!((expected.total.next_up(), expected.id), (found.total, found.id));
    let dropped = difference(Some(Deviation::Drop), &receipt);
    assert!(matches!(dropped, Difference::Dropped { place: 0, expected: Some(_), found: None }), "{dropped:?}");
    assert_eq!(difference(Some(Deviation::Card), &receipt), Difference::Remainder);
    assert_eq!(difference(Some(Deviation::Refusal), &receipt), Difference::Request { code: "LATER".into() });

    // The contract is as it was, and the receipt is not.
    let mut altered = receipt.clone();
    altered.payloads[0].candidates[0].json = to_raw_value(&json!({"id": "b1", "rank": 0.95})).expect("valid JSON");
    let altered = difference(None, &altered);
    assert!(matches!(altered, Difference::Ranked { place: 0, .. }), "{altered:?}");
}

#[test]
fn a_replay_is_by_the_component_that_ranked_and_no_other() {
    let world = ranking();
    world.search(&json!({})).expect("searched");
    let receipt = Receipt { contract: Digest::of(b"another"), ..world.journal.only_receipt() };
    let refused = block_on(replay(&receipt, &*world.contract));
    assert!(matches!(refused, Err(ReplayError::OtherContract { given, .. }) if given == world.contract.digest()));
    world.deviate(Deviation::Fault(ContractFault::DeadlineExceeded(5)));
    let failed = block_on(replay(&world.journal.only_receipt(), &*world.contract));
    assert!(matches!(failed, Err(ReplayError::Contract(ContractFault::DeadlineExceeded(5)))));
}

#[test]
fn references_hold_the_quote_where_the_receipt_comes_late_or_never() {
    let world = ranking();
    let references = |world: &World| {
        let outcome = world.search(&json!({"city": "Pune"})).expect("searched");
        let opened = outcome.options.iter().map(|option| match sealer().open(&option.reference) {
            Ok(Reference::Option(opened)) => (opened.quoted, option.option.get().to_owned()),
            other => panic!("no reference to an option: {other:?}"),
        });
        (outcome.is_receipt_kept, opened.collect::<Vec<_>>())
    };
    let (is_kept, options) = references(&world);
    assert!(is_kept && options.len() == 2 && options.iter().all(|(quoted, _)| quoted.is_none()));
    for (fate, is_told_as_kept) in [(ReceiptFate::KeptLate, true), (ReceiptFate::Doubtful, false)] {
        world.journal.set_fate(fate);
        let (is_kept, options) = references(&world);
        assert_eq!((is_kept, options.len()), (is_told_as_kept, 2), "it is served all the same");
        assert!(options.iter().all(|(quoted, option)| *quoted == Some(Quote::Whole(option.clone()))), "{options:?}");
    }
}
