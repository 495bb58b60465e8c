//! What a search answers: options, drops, findings, references, codes.

use std::sync::Arc;

use futures_executor::block_on;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::CallContext;
use intent_gateway_domain::endpoint::UnmappedItem;
use intent_gateway_domain::error::{CallFailure, ContractFault, NotCalled};
use intent_gateway_domain::findings::Severity;
use intent_gateway_domain::ports::{Contract as _, LeftOut, ToolAnswer};
use intent_gateway_routing::reference::Reference;
use intent_gateway_routing::search::{NO_PARTNER_ANSWERED, PartnerStatus, SearchError};
use intent_gateway_testing::contract::{ContractCall, ScriptedContract, platform};
use intent_gateway_testing::directory::partner;
use serde_json::{Value, json};

use crate::support::{Deviation, INTENT, NOW_MS, World, ids, request, sealer, things};

#[test]
fn partners_are_merged_and_each_has_its_outcome() {
    let world = World::of(&[
        ("beta", things(json!([{"id": "b1", "rank": 0.5}]))),
        ("alpha", things(json!([{"id": "a1", "rank": 0.2}, {"id": "a2", "rank": 0.9}]))),
        ("slow", Err(CallFailure::Timeout(30_000))),
        ("odd", Ok(json!({"nothing": []}))),
    ]);
    world.directory.leave_out(partner("far", &[INTENT]), LeftOut::OutsideServiceArea);
    world.directory.leave_out_more(7);
    let outcome = world.search(&json!({"request_id": "own"})).expect("searched");
    assert_eq!(world.directory.selections()[0].2.as_ms(), NOW_MS);
    assert_eq!(outcome.request_id, "own");
    assert_eq!(outcome.left_out_more, 7);
    assert_eq!(ids(&outcome), ["a2", "b1", "a1"]);
    assert_eq!(outcome.options[1].option.get(), r#"{"id":"b1","rank":0.5}"#);
    assert_eq!(outcome.code, None);
    let statuses: Vec<_> = outcome
        .partners
        .iter()
        .map(|outcome| {
            let status = match &outcome.status {
                PartnerStatus::Answered { options, .. } => format!("{options} options"),
                PartnerStatus::Failed(failure) => failure.code().to_owned(),
                PartnerStatus::LeftOut(reason) => format!("{reason:?}"),
            };
            format!("{} {status}", outcome.partner.id)
        })
        .collect();
    assert_eq!(
        statuses,
        [
            "alpha 2 options",
            "beta 1 options",
            "far OutsideServiceArea",
            "odd PARTNER_PAYLOAD_INVALID",
            "slow PARTNER_TIMEOUT"
        ]
    );
}

#[test]
fn a_forbidden_field_in_an_option_drops_that_option_before_the_contract_sees_it() {
    let options = json!([{"id": "x", "deep": [{"ad_bid": 1}]}, {"id": "y"}, {"id": "z", "padded": 1}]);
    let world = World::of(&[("alpha", things(options))]);
    let outcome = world.search(&json!({})).expect("searched");
    assert_eq!(ids(&outcome), ["y"]);
    let dropped: Vec<_> = outcome
        .dropped
        .iter()
        .map(|d| (d.option_id.as_deref(), d.position, d.strike, d.violations[0].pointer.as_str()))
        .collect();
    assert_eq!(dropped, [(Some("x"), 0, true, "/deep/0/ad_bid"), (Some("z"), 2, true, "/padded")]);
    let seen = ContractCall::Evaluate {
        context: CallContext { request_id: "made-up".to_owned(), now: Timestamp::from_ms(NOW_MS) },
        request: r#"{"request_id":"made-up"}"#.to_owned(),
        options: vec![r#"{"id":"y"}"#.to_owned()],
        history: Vec::new(),
    };
    assert_eq!(world.evaluations(), [seen]);
    let findings = world.journal.findings_of("alpha");
    assert_eq!(findings.len(), 2);
    assert!(findings.iter().all(|f| f.severity == Severity::Strike && f.violation.code == "FORBIDDEN_FIELD"));
}

#[test]
fn an_option_that_repeats_one_that_was_withheld_is_dropped() {
    let options = json!([{"id": "x", "ad_bid": 1}, {"id": "x"}, {"id": "y"}]);
    let others = json!([{"id": "x"}]);
    let outcome =
        World::of(&[("alpha", things(options)), ("beta", things(others))]).search(&json!({})).expect("searched");
    let dropped: Vec<_> = outcome
        .dropped
        .iter()
        .map(|d| (d.option_id.as_deref(), d.position, d.strike, &*d.violations[0].pointer, &*d.violations[0].code))
        .collect();
    assert_eq!(
        dropped,
        [(Some("x"), 0, true, "/ad_bid", "FORBIDDEN_FIELD"), (Some("x"), 1, false, "/id", "DUPLICATE_OPTION")]
    );
    // The identifiers of another partner are its own.
    assert_eq!(ids(&outcome).len(), 2);
}

#[test]
fn a_request_that_holds_a_forbidden_field_reaches_no_partner() {
    let world = World::of(&[("alpha", things(json!([{"id": "x"}])))]);
    for (request, pointer) in [
        (json!({"note": "{\"ad_bid\": 1}"}), "/note"),
        (json!({"deep": [{"ad_bid": 1}]}), "/deep/0/ad_bid"),
        (json!({"padded": 1}), "/padded"),
    ] {
        let refused = world.search(&request);
        let Err(SearchError::Refused(refusal)) = refused else { panic!("{request}: {refused:?}") };
        let told: Vec<_> = refusal.violations.iter().map(|found| (&*found.pointer, &*found.code)).collect();
        assert_eq!((&*refusal.code, told), ("INVALID_REQUEST", vec![(pointer, "FORBIDDEN_FIELD")]));
    }
    assert_eq!((world.partners.calls().len(), world.journal.found()), (0, vec![]));
    assert_eq!(ids(&world.search(&json!({"note": "no ad_bid, please"})).expect("searched")), ["x"]);
}

#[test]
fn a_forbidden_field_outside_the_options_costs_the_whole_answer() {
    let cheat = Ok(json!({"things": [{"id": "x"}], "meta": {"sponsored_rank": 1}}));
    let world = World::of(&[("cheat", cheat), ("fair", things(json!([{"id": "y"}])))]);
    assert_eq!(ids(&world.search(&json!({})).expect("searched")), ["y"]);
    assert_eq!(world.journal.findings_of("cheat")[0].severity, Severity::Strike);
    assert_eq!(world.journal.findings_of("fair").len(), 0);
}

#[test]
fn options_beyond_the_bound_are_dropped() {
    let options: Vec<Value> = (0..5).map(|n| json!({"id": format!("o{n}"), "rank": f64::from(n)})).collect();
    let outcome = World::of(&[("alpha", things(options.into()))]).search(&json!({})).expect("searched");
    assert_eq!(ids(&outcome), ["o2", "o1", "o0"]);
    let dropped: Vec<_> =
        outcome.dropped.iter().map(|d| (d.option_id.as_deref(), d.violations[0].code.as_str())).collect();
    assert_eq!(dropped, [(Some("o3"), "TOO_MANY_OPTIONS"), (Some("o4"), "TOO_MANY_OPTIONS")]);
}

#[test]
fn drops_strikes_and_findings_of_the_contract_reach_the_right_partner() {
    let alpha = things(json!([{"id": "a", "drop": true, "strike": true}]));
    let beta = things(json!([{"id": "b", "note": true}, {"id": "c", "drop": true}]));
    let world = World::of(&[("alpha", alpha), ("beta", beta)]);
    assert_eq!(ids(&world.search(&json!({})).expect("searched")), ["b"]);
    let brief = |partner: &str| -> Vec<_> {
        world.journal.findings_of(partner).into_iter().map(|f| (f.severity, f.option_id.unwrap_or_default())).collect()
    };
    assert_eq!(brief("alpha"), [(Severity::Strike, "a".to_owned())]);
    assert_eq!(brief("beta"), [(Severity::Note, "b".to_owned()), (Severity::Drop, "c".to_owned())]);
}

#[test]
fn a_reference_carries_what_a_booking_needs() {
    let expired = Ok(json!({"result_token": "t", "expires_at": "2025-12-31T00:00:00Z", "things": [{"id": "old"}]}));
    let bare = Ok(json!([{"id": "bare"}]));
    let fresh = things(json!([{"id": "new", "rank": 1.0}]));
    let world = World::of(&[("alpha", expired), ("beta", bare), ("gamma", fresh)]);
    let outcome = world.search(&json!({})).expect("searched");
    for choice in &outcome.options {
        let opened = sealer().open(&choice.reference).expect("sealed by the same key");
        let Reference::Option(reference) = opened else { panic!("{opened:?}") };
        assert_eq!(reference.option_id, choice.ranked.id);
        assert_eq!(reference.partner, choice.partner.id.as_str());
        assert_eq!((reference.contract, &*reference.request_id), (outcome.contract.0.digest(), "made-up"));
        assert_eq!((reference.receipt.as_ref(), reference.number), (outcome.receipt.as_ref(), choice.ranked.number));
        assert!(reference.asker.is_some());
        assert_eq!(reference.result_token.is_some(), choice.ranked.id != "bare");
        let (minutes, bookable) = match &*choice.ranked.id {
            "new" => (10, true),
            "bare" => (15, false),
            _ => (0, false),
        };
        let until = reference.expires_at_ms;
        assert_eq!((until.ms_since(Timestamp::from_ms(NOW_MS)), until), (minutes * 60_000, choice.bookable_until));
        assert_eq!(choice.bookable, bookable);
    }
}

#[test]
fn what_commits_to_nothing_can_be_booked_and_is_noted_against_the_partner() {
    let world = World::of(&[("alpha", Ok(json!([{"id": "bare"}])))]);
    let searcher = world.searcher();
    let outcome = block_on(searcher.search_for(request())).expect("searched");
    assert_eq!(world.journal.found(), [(Severity::Note, "NO_COMMITMENT".to_owned())]);
    let PartnerStatus::Answered { notes, .. } = &outcome.partners[0].status else { panic!("{outcome:?}") };
    assert!(notes[0].message.contains("15 minutes"), "{}", notes[0].message);

    let caller = world.caller(&searcher);
    world.partners.reply("alpha", json!({}));
    world.book(&caller, &outcome.options[0].reference);
    let sent = &world.partners.calls()[1];
    assert_eq!(sent.arguments, json!({"id": "bare", "request_id": "made-up"}), "a token is in no tool's arguments");
}

#[test]
fn an_empty_answer_says_why() {
    let code = |answers: &[_]| World::of(answers).search(&json!({})).expect("searched").code;
    assert_eq!(code(&[("alpha", things(json!([])))]).as_deref(), Some("NO_THINGS"));
    assert_eq!(code(&[("alpha", Err(CallFailure::HttpStatus(500)))]).as_deref(), Some(NO_PARTNER_ANSWERED));
    assert_eq!(code(&[]).as_deref(), Some("NO_THINGS"));
}

#[test]
fn refusals_and_faults_are_told_apart() {
    let outcome = World::of(&[]).search(&json!({"bad": true}));
    assert!(matches!(outcome, Err(SearchError::Refused(refusal)) if refusal.violations[0].code == "BAD"));
    let outcome = World::of(&[]).search(&json!({"request_id": "x".repeat(201)}));
    assert!(matches!(outcome, Err(SearchError::Refused(refusal)) if refusal.violations[0].code == "TOO_LONG"));

    let failing = World::of(&[("alpha", things(json!([{"id": "x"}])))]);
    failing.deviate(Deviation::Fault(ContractFault::DeadlineExceeded(5)));
    let outcome = failing.search(&json!({}));
    assert!(matches!(outcome, Err(SearchError::Contract(ContractFault::DeadlineExceeded(5)))));

    let outcome = block_on(World::of(&[]).searcher().search("test.find_thing", "{}", "r".into()));
    let failed = outcome.expect_err("nobody knows it");
    assert!(failed.contract.is_none());
    assert!(matches!(failed.error, SearchError::InvalidIntent(intent) if intent == "test.find_thing"));
}

#[test]
fn what_comes_to_nothing_names_the_contract_that_judged_it() {
    let world = World::of(&[("alpha", things(json!([{"id": "x"}])))]);
    let mut newer = world.contract.descriptor().clone();
    newer.version = "2.0.0".parse().expect("semver");
    let (catalogue, newer) = (world.catalogue.clone(), Arc::new(ScriptedContract::new(newer)));
    world.partners.reply_with("alpha", move |_, _| {
        catalogue.activate(newer.clone());
        json!({"things": [{"id": "x"}]}).into()
    });
    world.deviate(Deviation::Refusal);
    let failed = block_on(world.searcher().search(INTENT, "{}", "r".into())).expect_err("refused");
    assert_eq!(failed.contract.expect("one").digest(), world.contract.digest());
    assert!(matches!(failed.error, SearchError::Refused(refusal) if refusal.code == "LATER"));
}

#[test]
fn an_error_without_a_known_code_is_the_partners_failure_and_noted_against_it() {
    let text_alone = CallFailure::UnknownCode { sent: None, message: "it broke".to_owned() };
    let answers = [
        ("listed", Err(platform("NO_THINGS"))),
        ("ours", Err(platform("PARTNER_MAINTENANCE"))),
        ("made_up", Err(platform("FULLY_BOOKED"))),
        ("text", Err(text_alone)),
    ];
    let world = World::of(&answers);
    let outcome = world.search(&json!({})).expect("searched");
    let told: Vec<_> = outcome
        .partners
        .iter()
        .map(|outcome| match &outcome.status {
            PartnerStatus::Failed(failure) => (outcome.partner.id.as_str(), failure.code()),
            status => panic!("{status:?}"),
        })
        .collect();
    let expected = [
        ("listed", "NO_THINGS"),
        ("made_up", "INTERNAL_ERROR"),
        ("ours", "PARTNER_MAINTENANCE"),
        ("text", "INTERNAL_ERROR"),
    ];
    assert_eq!(told, expected);
    let noted = world.journal.all_findings().into_iter().map(|f| (f.severity, f.violation));
    let (known, others): (Vec<_>, Vec<_>) = noted.partition(|(_, violation)| violation.code == "ERROR_TEXT_WITHHELD");
    assert!(known.len() == 2 && known.iter().all(|(severity, _)| *severity == Severity::Note), "{known:?}");
    let [(Severity::Note, unknown), (Severity::Note, codeless)] = &others[..] else { panic!("{others:?}") };
    assert_eq!((&*unknown.code, &*unknown.pointer), ("UNKNOWN_ERROR_CODE", "/error/data/platform_error_code"));
    assert!(unknown.message.contains("FULLY_BOOKED"), "it is told what it sent: {}", unknown.message);
    assert_eq!(&*codeless.code, "ERROR_WITHOUT_CODE");
    assert!(codeless.message.contains("it broke"), "{}", codeless.message);
}

#[test]
fn an_item_that_a_mapping_made_nothing_of_costs_that_option_alone() {
    let world = World::of(&[("alpha", things(json!([{"id": "a1"}])))]);
    let text = things(json!([{"id": "a1"}])).expect("an answer").to_string();
    let reason = "`/id` of an item of the API's answer is missing".to_owned();
    let unmapped = vec![UnmappedItem { position: 4, reason: reason.clone() }];
    world.partners.reply("alpha", ToolAnswer { text, unmapped });
    let outcome = world.search(&json!({})).expect("searched");
    assert_eq!(ids(&outcome), ["a1"]);
    let [dropped] = &outcome.dropped[..] else { panic!("{outcome:?}") };
    assert_eq!((dropped.position, dropped.strike, dropped.option_id.as_deref()), (4, false, None));
    assert_eq!((&*dropped.violations[0].code, &dropped.violations[0].message), ("ITEM_NOT_MAPPED", &reason));
    assert_eq!(world.journal.found(), [(Severity::Drop, "ITEM_NOT_MAPPED".to_owned())]);
}

#[test]
fn nobody_is_told_that_there_is_nothing_when_the_gateway_had_no_place_for_the_calls() {
    let busy = || Err(CallFailure::Busy);
    let crowded = || Err(CallFailure::NotCalled { why: NotCalled::Crowded, wait_ms: Some(700) });
    let down = || Err(CallFailure::Unreachable("refused".to_owned()));
    let none = || things(json!([]));
    let searched = |answers: &[(&str, _)]| World::of(answers).search(&json!({}));
    for (first, second, expected) in [(busy(), busy(), None), (down(), busy(), None), (crowded(), down(), Some(700))] {
        let failed = searched(&[("alpha", first), ("beta", second)]).expect_err("nobody was asked");
        assert!(matches!(failed, SearchError::Overloaded { wait_ms } if wait_ms == expected), "{failed:?}");
    }
    // Whoever has answered has said what there is, and the others stand beside it.
    let outcome = searched(&[("alpha", none()), ("beta", busy())]).expect("searched");
    assert!(matches!(outcome.partners[1].status, PartnerStatus::Failed(CallFailure::Busy)));
    // Partners that fail are their own reason.
    let outcome = searched(&[("alpha", down()), ("beta", down())]).expect("searched");
    assert_eq!(outcome.code.as_deref(), Some(NO_PARTNER_ANSWERED));
}

#[test]
fn nobody_is_served_where_it_has_been_unknown_for_too_long_which_contract_is_to_serve() {
    let world = World::of(&[("alpha", things(json!([{"id": "a1"}])))]);
    world.catalogue.set_stale(true);
    assert!(matches!(world.search(&json!({})), Err(SearchError::Stale)));
    assert!(world.partners.take_calls().is_empty(), "nobody was called");
    world.catalogue.set_stale(false);
    assert_eq!(ids(&world.search(&json!({})).expect("searched")), ["a1"]);
}
