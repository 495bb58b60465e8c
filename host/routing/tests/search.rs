//! A whole search over ports that this test plays: what the domain does whatever contract and partners do.

#[path = "search/progressive.rs"]
mod progressive;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_executor::block_on;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::contract::*;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::endpoint::{Endpoint, Mappings};
use intent_gateway_domain::error::{CallFailure, ContractError, ContractFault, SearchError};
use intent_gateway_domain::findings::{Finding, Severity};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::partner::{Listing, Partner};
use intent_gateway_domain::ports::*;
use intent_gateway_domain::receipt::Receipt;
use intent_gateway_domain::secret::Secret;
use intent_gateway_outbound::Outbound;
use intent_gateway_routing::reference::{Reference, ReferenceSealer};
use intent_gateway_routing::replay::{Difference, ReplayError, replay};
use intent_gateway_routing::search::{NO_PARTNER_ANSWERED, PartnerStatus, SearchOutcome, Searcher};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

const NOW_MS: u64 = 1_767_225_600_000;

struct FixedClock;

impl Clock for FixedClock {
    fn now_ms(&self) -> u64 {
        NOW_MS
    }
}

/// Ranks by the option's own `rank`, drops those that say `drop`, notes those that say `note`.
struct ScriptedContract {
    descriptor: Descriptor,
    fault: Option<ContractFault>,
    seen: Mutex<Vec<String>>,
    /// What a later ranking is changed in; a real contract is a pure function.
    impurity: Mutex<Option<Impurity>>,
}

/// Ways in which a second ranking may differ from the first.
#[derive(Clone, Copy)]
enum Impurity {
    /// One unit in the last place of a total.
    Score,
    Drop,
    Card,
    Refusal,
}

fn descriptor() -> Descriptor {
    let raw = || RawValue::from_string("{}".to_owned()).expect("valid JSON");
    Descriptor {
        intent: IntentId::parse("test.find_things").expect("well formed"),
        version: "1.2.3".parse().expect("semver"),
        domain: "test".into(),
        agent: "TestAgent".into(),
        title: "Things".into(),
        summary: "Finds things.".into(),
        search: SearchShape {
            tool: "search_things".into(),
            options_key: "things".into(),
            id_key: "id".into(),
            max_options: 3,
            empty_code: Some("NO_THINGS".into()),
            gone_code: None,
        },
        tools: vec![Tool {
            name: "search_things".into(),
            role: ToolRole::Search,
            purpose: "Finds things.".into(),
            latency: LatencyTargets { p50_ms: 600, p95_ms: 1_500, p99_ms: None },
            rate_per_minute: 60,
            idempotency_key: None,
            retry: RetryPolicy { on_rate_limited: 0, on_server_error: 0 },
            cache_seconds: None,
            orders_tool: None,
            request_schema: raw(),
            response_schema: raw(),
        }],
        ranking: Ranking {
            weights: Axes::UNDECLARED,
            declared_share: 0.2,
            completeness_share: 0.1,
            signals: vec![],
            bands: vec![],
        },
        vocabularies: Vec::new(),
        forbidden_fields: vec![ForbiddenField {
            name: "padded".into(),
            breach: Breach::Present,
            reason: "not padded".into(),
        }],
        rules: Vec::new(),
        errors: Vec::new(),
        widget: Widget { widget_type: "generic_listings".into(), preferred: None, slots: vec![] },
        completion: Completion { statuses: vec![], charged_statuses: vec![], schema: raw() },
        data_lifetimes: Vec::new(),
        go_live: Vec::new(),
        cues: Vec::new(),
        pairs: Vec::new(),
        elsewhere: Vec::new(),
    }
}

fn violation(code: &str) -> Violation {
    Violation { pointer: "/x".into(), code: code.into(), message: "found".into() }
}

impl ScriptedContract {
    fn judge(&self, payloads: &[Payload<'_>]) -> Evaluation {
        let mut evaluation = Evaluation::default();
        for candidate in payloads.iter().flat_map(|payload| &payload.candidates) {
            self.seen.lock().expect("not poisoned").push(candidate.json.to_owned());
            let option: Value = serde_json::from_str(candidate.json).expect("valid JSON");
            let (number, id) = (candidate.number, option["id"].as_str().unwrap_or_default().to_owned());
            if option["drop"] == true {
                let strike = option["strike"] == true;
                let violations = vec![violation("SCRIPTED")];
                evaluation.dropped.push(DroppedOption { number, id: Some(id), strike, violations });
                continue;
            }
            if option["note"] == true {
                evaluation.findings.push(OptionFinding { number, violation: violation("NOTED") });
            }
            evaluation.ranked.push(RankedOption {
                number,
                id,
                total: option["rank"].as_f64().unwrap_or(0.0),
                axes: Axes::UNDECLARED,
                completeness: 1.0,
                card: to_raw_value(&json!({"header": option["id"]})).expect("valid JSON"),
            });
        }
        evaluation.ranked.sort_by(|a, b| b.total.total_cmp(&a.total));
        match *self.impurity.lock().expect("not poisoned") {
            Some(Impurity::Score) => evaluation.ranked[1].total = evaluation.ranked[1].total.next_up(),
            Some(Impurity::Drop) => evaluation.dropped.clear(),
            Some(Impurity::Card) => evaluation.ranked[0].card = to_raw_value("another").expect("valid JSON"),
            Some(Impurity::Refusal) | None => {}
        }
        evaluation
    }
}

impl Contract for ScriptedContract {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn digest(&self) -> Digest {
        Digest::of(b"scripted")
    }

    fn classify<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<Classification, ContractFault>> {
        unreachable!("a search classifies nothing")
    }

    fn check_request<'a>(
        &'a self,
        context: &'a CallContext,
        tool: &'a str,
        arguments: &'a str,
    ) -> BoxFuture<'a, Result<PreparedRequest, ContractError>> {
        assert_eq!(tool, "search_things");
        let mut request: Value = serde_json::from_str(arguments).expect("valid JSON");
        if request["bad"] == true {
            let refusal = Refusal { code: "INVALID_REQUEST".into(), violations: vec![violation("BAD")] };
            return async { Err(ContractError::Refused(refusal)) }.boxed();
        }
        if request.get("request_id").is_none() {
            request["request_id"] = context.request_id.clone().into();
        }
        let arguments = to_raw_value(&request).expect("valid JSON");
        async { Ok(PreparedRequest { arguments, need: Need::default(), notes: vec![] }) }.boxed()
    }

    fn evaluate<'a>(
        &'a self,
        context: &'a CallContext,
        request: &'a str,
        payloads: &'a [Payload<'a>],
    ) -> BoxFuture<'a, Result<Evaluation, ContractError>> {
        self.seen.lock().expect("not poisoned").push(format!("{} {} {request}", context.request_id, context.now_ms));
        let refuses = matches!(*self.impurity.lock().expect("not poisoned"), Some(Impurity::Refusal));
        let outcome = match &self.fault {
            Some(fault) => Err(ContractError::Fault(fault.clone())),
            None if refuses => Err(ContractError::Refused(Refusal { code: "LATER".into(), violations: vec![] })),
            None => Ok(self.judge(payloads)),
        };
        async { outcome }.boxed()
    }

    fn check_response<'a>(
        &'a self,
        _: &'a CallContext,
        _: Exchange<'a>,
    ) -> BoxFuture<'a, Result<CheckedResponse, ContractError>> {
        unreachable!("a search checks no other response")
    }

    fn check_completion<'a>(
        &'a self,
        _: &'a CallContext,
        _: &'a str,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<CheckedCompletion, ContractError>> {
        unreachable!("a search checks no completion")
    }
}

struct World {
    contract: Arc<ScriptedContract>,
    partners: Vec<Arc<Partner>>,
    left_out: Vec<(Arc<Partner>, LeftOut)>,
    left_out_more: usize,
    answers: BTreeMap<String, Result<String, CallFailure>>,
    findings: Mutex<Vec<Finding>>,
    receipts: Mutex<Vec<Receipt>>,
}

impl World {
    fn of(&self, partner: &str) -> Vec<Finding> {
        let findings = self.findings.lock().expect("not poisoned");
        findings.iter().filter(|finding| finding.partner.as_str() == partner).cloned().collect()
    }

    /// The one receipt of a search.
    fn receipt(&self) -> Receipt {
        let receipts = self.receipts.lock().expect("not poisoned");
        assert_eq!(receipts.len(), 1);
        receipts[0].clone()
    }
}

impl Contracts for World {
    fn live(&self, intent: &str) -> Option<Arc<dyn Contract>> {
        (intent == "test.find_things").then(|| self.contract.clone() as Arc<dyn Contract>)
    }

    fn loaded(&self, _: Digest) -> Option<Arc<dyn Contract>> {
        unreachable!("a search takes the live version")
    }

    fn all(&self) -> Vec<Arc<dyn Contract>> {
        vec![self.contract.clone()]
    }

    fn woken(&self, _: &str) -> Vec<Arc<dyn Contract>> {
        unreachable!("a search classifies nothing")
    }
}

impl PartnerDirectory for World {
    fn select(&self, _: &str, _: &Need, now_ms: u64) -> Selection {
        assert_eq!(now_ms, FixedClock.now_ms());
        Selection { chosen: self.partners.clone(), left_out: self.left_out.clone(), left_out_more: self.left_out_more }
    }

    fn all(&self) -> Vec<Arc<Partner>> {
        self.partners.clone()
    }
}

impl PartnerCalls for World {
    fn call<'a>(
        &'a self,
        partner: &'a Arc<Partner>,
        _: ToolCall<'a>,
    ) -> BoxFuture<'a, Result<ToolAnswer, CallFailure>> {
        let answer = self.answers[partner.id.as_str()].clone();
        async { answer.map(|text| ToolAnswer { text }) }.boxed()
    }
}

impl Journal for World {
    fn record(&self, finding: Finding) {
        self.findings.lock().expect("not poisoned").push(finding);
    }

    fn keep(&self, receipt: Receipt) {
        self.receipts.lock().expect("not poisoned").push(receipt);
    }
}

fn partner(id: &str) -> Arc<Partner> {
    let intent = IntentId::parse("test.find_things").expect("well formed");
    Arc::new(Partner {
        id: PartnerId::parse(id).expect("well formed"),
        name: id.to_uppercase(),
        endpoint: Endpoint::mcp("https://partner.example/mcp"),
        mappings: Mappings::new(),
        listings: vec![Listing {
            intent,
            service_area: vec!["IN_ALL".into()],
            availability: String::new(),
            declared: Axes::UNDECLARED,
        }],
        token: None,
    })
}

fn world(answers: &[(&str, Result<Value, CallFailure>)]) -> World {
    World {
        contract: Arc::new(ScriptedContract {
            descriptor: descriptor(),
            fault: None,
            seen: Mutex::default(),
            impurity: Mutex::default(),
        }),
        partners: answers.iter().map(|(id, _)| partner(id)).collect(),
        left_out: Vec::new(),
        left_out_more: 0,
        answers: answers
            .iter()
            .map(|(id, answer)| ((*id).to_owned(), answer.clone().map(|payload| payload.to_string())))
            .collect(),
        findings: Mutex::default(),
        receipts: Mutex::default(),
    }
}

fn things(options: Value) -> Result<Value, CallFailure> {
    Ok(json!({"result_token": "t", "expires_at": "2026-01-01T00:10:00Z", "things": options}))
}

fn sealer() -> ReferenceSealer {
    ReferenceSealer::new(&Secret::new("test key"))
}

fn searcher(world: &Arc<World>, calls: Arc<dyn PartnerCalls>) -> Searcher {
    Searcher {
        contracts: world.clone(),
        directory: world.clone(),
        outbound: Arc::new(Outbound::plain(calls, Arc::new(FixedClock))),
        journal: world.clone(),
        clock: Arc::new(FixedClock),
        references: sealer(),
        timeout: Duration::from_secs(1),
    }
}

fn search(world: World, body: Value) -> (Result<SearchOutcome, SearchError>, Arc<World>) {
    let world = Arc::new(world);
    let searcher = searcher(&world, world.clone());
    (block_on(searcher.search("test.find_things", &body.to_string(), "made-up".into())), world)
}

fn ids(outcome: &SearchOutcome) -> Vec<&str> {
    outcome.options.iter().map(|choice| choice.ranked.id.as_str()).collect()
}

#[test]
fn partners_are_merged_and_each_has_its_outcome() {
    let mut world = world(&[
        ("beta", things(json!([{"id": "b1", "rank": 0.5}]))),
        ("alpha", things(json!([{"id": "a1", "rank": 0.2}, {"id": "a2", "rank": 0.9}]))),
        ("slow", Err(CallFailure::Timeout(30_000))),
        ("odd", Ok(json!({"nothing": []}))),
    ]);
    world.left_out.push((partner("far"), LeftOut::OutsideServiceArea));
    world.left_out_more = 7;
    let (outcome, _) = search(world, json!({"request_id": "own"}));
    let outcome = outcome.expect("searched");
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
    let (outcome, world) = search(world(&[("alpha", things(options))]), json!({}));
    let outcome = outcome.expect("searched");
    assert_eq!(ids(&outcome), ["y"]);
    let dropped: Vec<_> = outcome
        .dropped
        .iter()
        .map(|d| (d.option_id.as_deref(), d.position, d.strike, d.violations[0].pointer.as_str()))
        .collect();
    assert_eq!(dropped, [(Some("x"), 0, true, "/deep/0/ad_bid"), (Some("z"), 2, true, "/padded")]);
    let context = format!(r#"made-up {NOW_MS} {{"request_id":"made-up"}}"#);
    assert_eq!(*world.contract.seen.lock().expect("not poisoned"), [context.as_str(), r#"{"id":"y"}"#]);
    let findings = world.of("alpha");
    assert_eq!(findings.len(), 2);
    assert!(findings.iter().all(|f| f.severity == Severity::Strike && f.violation.code == "FORBIDDEN_FIELD"));
}

#[test]
fn a_forbidden_field_outside_the_options_costs_the_whole_answer() {
    let cheat = Ok(json!({"things": [{"id": "x"}], "meta": {"sponsored_rank": 1}}));
    let (outcome, world) = search(world(&[("cheat", cheat), ("fair", things(json!([{"id": "y"}])))]), json!({}));
    assert_eq!(ids(&outcome.expect("searched")), ["y"]);
    assert_eq!(world.of("cheat")[0].severity, Severity::Strike);
    assert_eq!(world.of("fair").len(), 0);
}

#[test]
fn options_beyond_the_bound_are_dropped() {
    let options: Vec<Value> = (0..5).map(|n| json!({"id": format!("o{n}"), "rank": f64::from(n)})).collect();
    let (outcome, _) = search(world(&[("alpha", things(options.into()))]), json!({}));
    let outcome = outcome.expect("searched");
    assert_eq!(ids(&outcome), ["o2", "o1", "o0"]);
    let dropped: Vec<_> =
        outcome.dropped.iter().map(|d| (d.option_id.as_deref(), d.violations[0].code.as_str())).collect();
    assert_eq!(dropped, [(Some("o3"), "TOO_MANY_OPTIONS"), (Some("o4"), "TOO_MANY_OPTIONS")]);
}

#[test]
fn drops_strikes_and_findings_of_the_contract_reach_the_right_partner() {
    let alpha = things(json!([{"id": "a", "drop": true, "strike": true}]));
    let beta = things(json!([{"id": "b", "note": true}, {"id": "c", "drop": true}]));
    let (outcome, world) = search(world(&[("alpha", alpha), ("beta", beta)]), json!({}));
    assert_eq!(ids(&outcome.expect("searched")), ["b"]);
    let brief = |partner: &str| -> Vec<_> {
        world.of(partner).into_iter().map(|f| (f.severity, f.option_id.unwrap_or_default())).collect()
    };
    assert_eq!(brief("alpha"), [(Severity::Strike, "a".to_owned())]);
    assert_eq!(brief("beta"), [(Severity::Note, "b".to_owned()), (Severity::Drop, "c".to_owned())]);
}

#[test]
fn a_reference_carries_what_a_booking_needs() {
    let expired = Ok(json!({"result_token": "t", "expires_at": "2025-12-31T00:00:00Z", "things": [{"id": "old"}]}));
    let bare = Ok(json!([{"id": "bare"}]));
    let fresh = things(json!([{"id": "new", "rank": 1.0}]));
    let (outcome, world) = search(world(&[("alpha", expired), ("beta", bare), ("gamma", fresh)]), json!({}));
    let outcome = outcome.expect("searched");
    for choice in &outcome.options {
        let opened = sealer().open(&choice.reference).expect("sealed by the same key");
        let Reference::Option(reference) = opened else { panic!("{opened:?}") };
        assert_eq!(reference.option_id, choice.ranked.id);
        assert_eq!(reference.partner, choice.partner.id.as_str());
        assert_eq!((reference.contract, &*reference.request_id), (outcome.contract.0.digest(), "made-up"));
        assert_eq!((reference.receipt.as_ref(), reference.number), (outcome.receipt.as_ref(), choice.ranked.number));
        assert_eq!(reference.user, None);
        assert_eq!(choice.bookable, choice.ranked.id == "new");
        assert_eq!(reference.result_token.is_some(), choice.ranked.id != "bare");
    }
    assert_eq!(world.findings.lock().expect("not poisoned").len(), 0);
}

#[test]
fn an_empty_answer_says_why() {
    let (outcome, _) = search(world(&[("alpha", things(json!([])))]), json!({}));
    assert_eq!(outcome.expect("searched").code.as_deref(), Some("NO_THINGS"));
    let (outcome, _) = search(world(&[("alpha", Err(CallFailure::HttpStatus(500)))]), json!({}));
    assert_eq!(outcome.expect("searched").code.as_deref(), Some(NO_PARTNER_ANSWERED));
    let (outcome, _) = search(world(&[]), json!({}));
    assert_eq!(outcome.expect("searched").code.as_deref(), Some("NO_THINGS"));
}

#[test]
fn refusals_and_faults_are_told_apart() {
    let (outcome, _) = search(world(&[]), json!({"bad": true}));
    assert!(matches!(outcome, Err(SearchError::Refused(refusal)) if refusal.violations[0].code == "BAD"));
    let (outcome, _) = search(world(&[]), json!({"request_id": "x".repeat(201)}));
    assert!(matches!(outcome, Err(SearchError::Refused(refusal)) if refusal.violations[0].code == "TOO_LONG"));

    let mut failing = world(&[("alpha", things(json!([{"id": "x"}])))]);
    failing.contract = Arc::new(ScriptedContract {
        descriptor: descriptor(),
        fault: Some(ContractFault::DeadlineExceeded(5)),
        seen: Mutex::default(),
        impurity: Mutex::default(),
    });
    let (outcome, _) = search(failing, json!({}));
    assert!(matches!(outcome, Err(SearchError::Contract(ContractFault::DeadlineExceeded(5)))));

    let world = Arc::new(world(&[]));
    let searcher = Searcher {
        contracts: world.clone(),
        directory: world.clone(),
        outbound: Arc::new(Outbound::plain(world.clone(), Arc::new(FixedClock))),
        journal: world,
        clock: Arc::new(FixedClock),
        references: sealer(),
        timeout: Duration::from_secs(1),
    };
    let outcome = block_on(searcher.search("test.find_thing", "{}", "r".into()));
    assert!(matches!(outcome, Err(SearchError::InvalidIntent(intent)) if intent == "test.find_thing"));
}

/// Two partners of whose options two are ranked, one is dropped, one is noted, and one never reaches the contract.
fn ranking() -> World {
    world(&[
        ("beta", things(json!([{"id": "b1", "rank": 0.1_f64 + 0.2, "note": true}, {"id": "b2", "ad_bid": 1}]))),
        ("alpha", things(json!([{"id": "a1", "drop": true, "strike": true}, {"id": "a2", "rank": 0.9}]))),
        ("slow", Err(CallFailure::Timeout(30_000))),
    ])
}

#[test]
fn a_receipt_holds_what_was_ranked_and_what_came_of_it() {
    let (outcome, world) = search(ranking(), json!({"city": "Pune"}));
    let outcome = outcome.expect("searched");
    let receipt = world.receipt();
    assert_eq!(outcome.receipt.as_deref(), Some(receipt.id.as_str()));
    assert_eq!((receipt.at_ms, receipt.request_id.as_str()), (NOW_MS, "made-up"));
    assert_eq!((receipt.intent.as_str(), receipt.version.to_string().as_str()), ("test.find_things", "1.2.3"));
    assert_eq!(receipt.contract, world.contract.digest());
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
        let (outcome, world) = search(world(&[answers]), json!({}));
        assert_eq!(outcome.expect("searched").receipt, None);
        assert_eq!(world.receipts.lock().expect("not poisoned").len(), 0);
    }
}

#[test]
fn a_receipt_that_was_kept_as_text_replays_to_the_same_outcome() {
    let (_, world) = search(ranking(), json!({"city": "Pune"}));
    let kept = serde_json::to_string(&world.receipt()).expect("serialises");
    let receipt: Receipt = serde_json::from_str(&kept).expect("reads");
    assert_eq!(receipt.ranked, world.receipt().ranked);
    let first = std::mem::take(&mut *world.contract.seen.lock().expect("not poisoned"));
    let replayed = block_on(replay(&receipt, &*world.contract)).expect("replayed");
    assert!(replayed.same && replayed.difference.is_none(), "{replayed:?}");
    assert_eq!((replayed.expected, replayed.found), (receipt.outcome, Some(receipt.outcome)));
    assert_eq!(*world.contract.seen.lock().expect("not poisoned"), first, "it sees the very same again");
}

#[test]
fn a_replay_says_where_the_outcomes_part() {
    let (_, world) = search(ranking(), json!({}));
    let receipt = world.receipt();
    let difference = |impurity: Option<Impurity>, receipt: &Receipt| {
        *world.contract.impurity.lock().expect("not poisoned") = impurity;
        let replayed = block_on(replay(receipt, &*world.contract)).expect("replayed");
        assert!(!replayed.same && replayed.found != Some(replayed.expected));
        replayed.difference.expect("told")
    };
    let scored = difference(Some(Impurity::Score), &receipt);
    let Difference::Ranked { place: 1, expected: Some(expected), found: Some(found) } = scored else {
        panic!("{scored:?}")
    };
    assert_eq!((expected.total.next_up(), expected.id), (found.total, found.id));
    let dropped = difference(Some(Impurity::Drop), &receipt);
    assert!(matches!(dropped, Difference::Dropped { place: 0, expected: Some(_), found: None }), "{dropped:?}");
    assert_eq!(difference(Some(Impurity::Card), &receipt), Difference::Remainder);
    assert_eq!(difference(Some(Impurity::Refusal), &receipt), Difference::Request { code: "LATER".into() });

    // The contract is as it was, and the receipt is not.
    let mut altered = receipt.clone();
    altered.payloads[0].candidates[0].json = to_raw_value(&json!({"id": "b1", "rank": 0.95})).expect("valid JSON");
    let altered = difference(None, &altered);
    assert!(matches!(altered, Difference::Ranked { place: 0, .. }), "{altered:?}");
}

#[test]
fn a_replay_is_by_the_component_that_ranked_and_no_other() {
    let (_, world) = search(ranking(), json!({}));
    let receipt = Receipt { contract: Digest::of(b"another"), ..world.receipt() };
    let refused = block_on(replay(&receipt, &*world.contract));
    assert!(matches!(refused, Err(ReplayError::OtherContract { given, .. }) if given == world.contract.digest()));
    let failing = ScriptedContract {
        descriptor: descriptor(),
        fault: Some(ContractFault::DeadlineExceeded(5)),
        seen: Mutex::default(),
        impurity: Mutex::default(),
    };
    let failed = block_on(replay(&world.receipt(), &failing));
    assert!(matches!(failed, Err(ReplayError::Contract(ContractFault::DeadlineExceeded(5)))));
}
