//! Go-live checks over fakes: each requirement met, and missed by just that.

use std::sync::Arc;
use std::time::Duration;

use futures_executor::block_on;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::*;
use intent_gateway_domain::error::{CallFailure, ContractError, ContractFault};
use intent_gateway_domain::findings::Severity;
use intent_gateway_domain::golive::*;
use intent_gateway_domain::partner::{Partner, PriceRange};
use intent_gateway_domain::ports::Contract as _;
use intent_gateway_routing::golive::*;
use intent_gateway_testing::clock::TestClock;
use intent_gateway_testing::contract::{
    ScriptedContract, accept_any_request, candidates, ranked, refusal, tool, violation,
};
use intent_gateway_testing::directory::partner;
use intent_gateway_testing::partners::{RecordedCall, Reply, ScriptedPartners};
use serde_json::{Value, json};

const NOW_MS: u64 = 1_767_225_600_000;
const INTENT: &str = "test.find_things";
/// A latency target in milliseconds that no test misses, and one that no call can meet.
const EASY_MS: u32 = 600_000;
const IMPOSSIBLE_MS: u32 = 0;

fn declared(check: RequirementCheck, p95_ms: u32) -> Descriptor {
    let mut declared = intent_gateway_testing::contract::descriptor("1.2.3");
    declared.search.id_key = "id".to_owned();
    declared.search.max_options = 20;
    let latency = |p95_ms| LatencyTargets { p50_ms: 0, p95_ms, p99_ms: None };
    declared.tools = vec![
        Tool { latency: latency(p95_ms), ..tool("search_things", ToolRole::Search, 0, 0) },
        Tool { latency: latency(4_000), ..tool("book_thing", ToolRole::Create, 0, 0) },
    ];
    declared.vocabularies = vec![Vocabulary { name: "kind".into(), values: vec!["red".into(), "blue".into()] }];
    declared.go_live = vec![Requirement { code: "ASKED".into(), text: "It holds.".into(), check, valid_days: None }];
    declared
}

/// Ranks every option but those that `break` a rule; records what they `note`.
fn contract(declared: Descriptor) -> ScriptedContract {
    ScriptedContract::new(declared)
        .on_check_request(|context, _, arguments| {
            let request: Value = serde_json::from_str(arguments).expect("valid JSON");
            match request["mode"].as_str() {
                Some("refused") => Err(refusal("INVALID_REQUEST", [violation("", "BAD")])),
                Some("fault") => Err(ContractError::Fault(ContractFault::DeadlineExceeded(5))),
                _ => Ok(accept_any_request(context, arguments)),
            }
        })
        .on_evaluate(|_, _, payloads| Ok(evaluate(payloads)))
}

fn evaluate(payloads: &[Payload<'_>]) -> Evaluation {
    let mut evaluation = Evaluation::default();
    for candidate in candidates(payloads) {
        let option: Value = serde_json::from_str(candidate.json).expect("valid JSON");
        let (number, id) = (candidate.number, option["id"].as_str().expect("an identifier"));
        if let Some(code) = option["break"].as_str() {
            // By the one member that a test has put there for it, where it has.
            let at = if option.get("price").is_some() { "/price" } else { "" };
            let (strike, violations) = (option["strike"] == true, vec![violation(at, code)]);
            evaluation.dropped.push(DroppedOption { number, id: Some(id.to_owned()), strike, violations });
            continue;
        }
        if let Some(code) = option["note"].as_str() {
            evaluation.findings.push(OptionFinding { number, violation: violation("", code) });
        }
        evaluation.ranked.push(ranked(number, id, 0.5));
    }
    evaluation
}

/// The options that stand under `offer` in the request; a failure where it says so. `bid` comes back as
/// `sponsored_rank`: a request with a forbidden word would be refused before the partner sees it.
fn reply(call: &RecordedCall) -> Reply {
    assert_eq!((call.intent.as_str(), call.tool.as_str()), (INTENT, "search_things"));
    if call.arguments["mode"] == "down" {
        return Reply::Error(CallFailure::HttpStatus(500), "HTTP 500\nno such table: slots");
    }
    if call.arguments["mode"] == "html" {
        return Reply::Text("<html>Sorry</html>".to_owned());
    }
    let mut offer = call.arguments.get("offer").cloned().unwrap_or_else(|| json!([{"id": "only"}]));
    for option in offer.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        if let Some(bid) = option.remove("bid") {
            option.insert("sponsored_rank".to_owned(), bid);
        }
    }
    json!({"result_token": "t", "expires_at": "2027-01-01T00:00:00Z", "things": offer}).into()
}

/// One that serves a city alone: whom people check is called all the same.
fn alpha() -> Arc<Partner> {
    let mut alpha = partner("alpha", &[INTENT]);
    alpha.listings[0].service_area = vec!["Pune".into()];
    Arc::new(alpha)
}

fn check_with(
    declared: Descriptor,
    requests: &[Value],
    confirmed: &[Confirmation],
) -> Result<GoLiveReport, GoLiveError> {
    let calls = Arc::new(ScriptedPartners::default());
    calls.reply_with("alpha", |call, _| reply(call));
    let runner = GoLiveRunner { calls, clock: TestClock::at(NOW_MS), timeout: Duration::from_secs(1) };
    let requests: Vec<String> = requests.iter().map(Value::to_string).collect();
    block_on(runner.run(alpha(), Arc::new(contract(declared)), &requests, confirmed))
}

fn check(check: RequirementCheck, requests: &[Value]) -> GoLiveReport {
    check_with(declared(check, EASY_MS), requests, &[]).expect("checked")
}

/// What happened to the one requirement.
fn outcome(of: RequirementCheck, requests: &[Value]) -> (ItemState, String) {
    let report = check(of, requests);
    assert_eq!(report.items.len(), 4);
    assert_eq!((report.items[3].code.as_str(), report.items[3].text.as_str()), ("ASKED", "It holds."));
    (report.items[3].state, report.items[3].detail.clone())
}

fn passed(detail: &str) -> (ItemState, String) {
    (ItemState::Passed, detail.to_owned())
}

fn failed(detail: &str) -> (ItemState, String) {
    (ItemState::Failed, detail.to_owned())
}

fn depth(minimums: &[(&str, &str, u32)], within: Option<(&str, u32)>) -> RequirementCheck {
    let minimum = |(counted, pointer, count): &(&str, &str, u32)| Minimum {
        counted: (*counted).to_owned(),
        pointer: (*pointer).to_owned(),
        count: *count,
    };
    RequirementCheck::AtLeast(Depth {
        minimums: minimums.iter().map(minimum).collect(),
        within: within.map(|(pointer, hours)| Window { pointer: pointer.to_owned(), hours }),
    })
}

#[test]
fn different_values_of_all_samples_are_counted() {
    let shops = || depth(&[("shops", "/shop/id", 3)], None);
    let sample = |shops: &[&str]| {
        let offer = shops.iter().enumerate().map(|(n, shop)| json!({"id": format!("{shop}{n}"), "shop": {"id": shop}}));
        json!({"offer": offer.collect::<Vec<_>>()})
    };
    assert_eq!(outcome(shops(), &[sample(&["a", "a", "b"]), sample(&["b", "c"])]), passed("3 of 3 shops seen"));
    assert_eq!(outcome(shops(), &[sample(&["a", "a", "b"]), sample(&["b"])]), failed("2 of 3 shops seen"));
    // What is absent, null, or of a dropped option counts for nothing.
    let lacking = json!({"offer": [
        {"id": "1", "shop": {"id": "a"}}, {"id": "2", "shop": {"id": "b"}}, {"id": "3"},
        {"id": "4", "shop": {"id": null}}, {"id": "5", "shop": {"id": "c"}, "break": "COLD"},
    ]});
    assert_eq!(outcome(shops(), &[lacking]), failed("2 of 3 shops seen"));
    // A text and a number are different values.
    let kinds = json!({"offer": [{"id": "1", "n": 1}, {"id": "2", "n": "1"}, {"id": "3", "n": 1}]});
    assert_eq!(outcome(depth(&[("kinds", "/n", 2)], None), &[kinds]), passed("2 of 2 kinds seen"));
}

#[test]
fn options_are_counted_by_their_identifiers_within_a_window() {
    let slots = || depth(&[("slots", "", 3), ("shops", "/shop", 2)], Some(("/start", 24)));
    let slot = |id: &str, shop: &str, start: &str| json!({"id": id, "shop": shop, "start": start});
    let day = "2026-01-02T";
    let first = slot("1", "a", &format!("{day}09:00:00+05:30"));
    let second = slot("2", "a", &format!("{day}12:00:00+05:30"));
    let full = [first.clone(), second.clone(), slot("3", "b", "2026-01-03T08:59:59+05:30")];
    let seen = |slots: u32, shops: u32| format!("{slots} of 3 slots, {shops} of 2 shops seen in the best 24 hours");
    assert_eq!(outcome(slots(), &[json!({"offer": full})]), passed(&seen(3, 2)));
    // One second later the third slot begins another day.
    let late = slot("3", "b", "2026-01-03T09:00:00+05:30");
    let late = [first.clone(), second.clone(), late];
    // The better of the windows is the one that has both shops.
    assert_eq!(outcome(slots(), &[json!({"offer": late})]), failed(&seen(2, 2)));
    // The same slot in two answers is one slot.
    let twice = [json!({"offer": [first, second.clone()]}), json!({"offer": [second.clone()]})];
    assert_eq!(outcome(slots(), &twice), failed(&seen(2, 1)));
    // Nothing can be said of an option without an instant.
    let timeless = [json!({"offer": [slot("1", "a", "soon"), slot("2", "b", "2026-01-02T09:00:00"), second]})];
    assert_eq!(outcome(slots(), &timeless), failed(&seen(1, 1)));
}

#[test]
fn the_best_window_may_lie_anywhere() {
    let hours = |hours: &[u32]| {
        let slot = |hour: &u32| {
            let (day, hour) = (1 + hour / 24, hour % 24);
            json!({"id": format!("{day}-{hour}"), "start": format!("2026-01-{day:02}T{hour:02}:00:00Z")})
        };
        json!({"offer": hours.iter().map(slot).collect::<Vec<_>>()})
    };
    let five = || depth(&[("slots", "", 5)], Some(("/start", 3)));
    // Neither sorted nor at either end.
    let samples = [hours(&[0, 2, 100, 50]), hours(&[51, 49, 52, 10]), hours(&[99])];
    assert_eq!(outcome(five(), &samples), failed("3 of 5 slots seen in the best 3 hours"));
    let three = depth(&[("slots", "", 3)], Some(("/start", 3)));
    assert_eq!(outcome(three, &samples), passed("3 of 3 slots seen in the best 3 hours"));
}

#[test]
fn each_value_is_asked_for_and_found() {
    let kinds = || RequirementCheck::Covers(Coverage { pointer: "/want/kind".into(), vocabulary: "kind".into() });
    let want = |kind: &str| json!({"want": {"kind": kind}});
    assert_eq!(outcome(kinds(), &[want("red"), want("blue")]), passed("2 of 2 values found"));
    assert_eq!(
        outcome(kinds(), &[want("red"), json!({"want": "blue"})]),
        failed("1 of 2 values found; no sample asks for: blue")
    );
    let vain = json!({"want": {"kind": "blue"}, "offer": [{"id": "1", "break": "COLD"}]});
    assert_eq!(
        outcome(kinds(), &[want("red"), vain.clone()]),
        failed("1 of 2 values found; asked for without an option: blue")
    );
    // Found once is found.
    assert_eq!(outcome(kinds(), &[want("red"), vain, want("blue")]), passed("2 of 2 values found"));
}

fn handles(occasions: &[(&str, RequestTest)], unbroken: &[&str]) -> RequirementCheck {
    let occasion = |(pointer, test): &(&str, RequestTest)| Occasion {
        text: format!("a request by {pointer}"),
        pointer: (*pointer).to_owned(),
        test: test.clone(),
    };
    RequirementCheck::Handles(Handling {
        occasions: occasions.iter().map(occasion).collect(),
        unbroken: unbroken.iter().map(ToString::to_string).collect(),
    })
}

#[test]
fn occasions_are_told_by_their_values() {
    let asked = |test: RequestTest, value: Value| {
        let (state, detail) = outcome(handles(&[("/x", test)], &[]), &[json!({"x": value})]);
        if state == ItemState::Passed {
            assert_eq!(detail, "1 of 1 occasions found");
        } else {
            assert_eq!(detail, "no sample asks for: a request by /x");
        }
        state == ItemState::Passed
    };
    assert!(asked(RequestTest::Equals(json!("red")), json!("red")));
    assert!(!asked(RequestTest::Equals(json!("red")), json!("blue")));
    assert!(asked(RequestTest::Equals(json!(3)), json!(3.0)));
    assert!(!asked(RequestTest::Equals(json!(3)), json!("3")));
    assert!(asked(RequestTest::Equals(json!(null)), json!(null)));
    assert!(asked(RequestTest::Includes(json!("pain")), json!(["none", "pain"])));
    assert!(!asked(RequestTest::Includes(json!("pain")), json!(["none"])));
    assert!(!asked(RequestTest::Includes(json!("pain")), json!("pain")));
    assert!(asked(RequestTest::Above(90.0), json!(91)));
    assert!(!asked(RequestTest::Above(90.0), json!(90)));
    assert!(!asked(RequestTest::Above(90.0), json!("91")));
    let (state, _) = outcome(handles(&[("/y", RequestTest::Equals(json!(null)))], &[]), &[json!({"x": 1})]);
    assert_eq!(state, ItemState::Failed);
}

#[test]
fn each_occasion_is_found_and_no_rule_broken() {
    let both = || {
        let red = ("/kind", RequestTest::Equals(json!("red")));
        handles(&[red, ("/lapse", RequestTest::Above(90.0))], &["COLD", "LATE"])
    };
    let (red, lapsed) = (json!({"kind": "red"}), json!({"lapse": 91}));
    assert_eq!(
        outcome(both(), &[red.clone(), lapsed.clone()]),
        passed("2 of 2 occasions found; options without a breach: 2")
    );
    assert_eq!(outcome(both(), std::slice::from_ref(&red)), failed("no sample asks for: a request by /lapse"));
    let vain = json!({"lapse": 91, "offer": []});
    assert_eq!(outcome(both(), &[red.clone(), vain]), failed("asked for without an option: a request by /lapse"));
    // Dropped or merely recorded, in whichever sample: a breach is a breach.
    for option in [json!({"id": "2", "break": "COLD"}), json!({"id": "2", "note": "COLD"})] {
        let broken = json!({"offer": [{"id": "1"}, option]});
        assert_eq!(outcome(both(), &[red.clone(), lapsed.clone(), broken]), failed("breaches of `COLD`: 1"));
    }
    let other = json!({"offer": [{"id": "1"}, {"id": "2", "break": "OTHER"}]});
    assert_eq!(outcome(both(), &[red, lapsed, other]).0, ItemState::Passed);
}

/// No breach is seen where nothing was looked at, or where all was dropped for its shape.
#[test]
fn rules_hold_only_where_an_option_has_passed() {
    let clear = || handles(&[], &["COLD"]);
    assert_eq!(outcome(clear(), &[json!({})]), passed("options without a breach: 1"));
    assert_eq!(outcome(clear(), &[json!({"offer": []})]), failed("no option has passed"));
    let shapeless = json!({"offer": [{"id": "1", "break": "REQUIRED"}]});
    assert_eq!(outcome(clear(), &[shapeless]), failed("no option has passed"));
}

#[test]
fn the_search_is_measured() {
    let latency = || RequirementCheck::WithinLatency("search_things".into());
    let samples = vec![json!({}); 5];
    let (state, detail) = outcome(latency(), &samples);
    assert_eq!(state, ItemState::Passed);
    assert!(detail.starts_with("p95 of 5 samples is ") && detail.ends_with("the target is 600000 ms"), "{detail}");
    let slow = check_with(declared(latency(), IMPOSSIBLE_MS), &samples, &[]).expect("checked");
    assert_eq!(slow.items[3].state, ItemState::Failed);
    assert_eq!(outcome(latency(), &samples[1..]), failed("4 of 5 samples that a percentile takes"));
}

#[test]
fn what_would_act_is_measured_by_people() {
    let latency = || RequirementCheck::WithinLatency("book_thing".into());
    let (state, detail) = outcome(latency(), &[json!({})]);
    assert_eq!(state, ItemState::ByHand);
    assert_eq!(detail, "`book_thing` is not called by this check; to be measured and confirmed: p95 at most 4000 ms");
    let confirmed = [Confirmation { code: "ASKED".into(), note: "p95 3100 ms of 40 test bookings".into() }];
    let report = check_with(declared(latency(), EASY_MS), &[json!({})], &confirmed).expect("checked");
    assert!(report.passed());
    assert_eq!(report.items[3].detail, "p95 3100 ms of 40 test bookings");
}

#[test]
fn a_check_passes_once_people_have_confirmed_the_rest() {
    let mut report = check(RequirementCheck::ByHand, &[json!({})]);
    assert!(!report.passed());
    assert_eq!(report.items[3].state, ItemState::ByHand);
    let confirm = |code: &str, note: &str| Confirmation { code: code.to_owned(), note: note.to_owned() };
    let seen = confirm("ASKED", "seen on site");
    let unfit = [
        (vec![confirm("OTHER", "x")], ConfirmationError::Unknown("OTHER".into())),
        (vec![confirm(SAMPLES_ANSWERED, "x")], ConfirmationError::NotByHand(SAMPLES_ANSWERED.into())),
        (vec![seen.clone(), seen.clone()], ConfirmationError::Twice("ASKED".into())),
        (vec![confirm("ASKED", " ")], ConfirmationError::Note { code: "ASKED".into(), chars: 0 }),
        (vec![confirm("ASKED", &"x".repeat(501))], ConfirmationError::Note { code: "ASKED".into(), chars: 501 }),
    ];
    let before = report.clone();
    for (confirmations, error) in unfit {
        assert_eq!(report.confirm(&confirmations), Err(error.clone()));
        let at_once = check_with(declared(RequirementCheck::ByHand, EASY_MS), &[json!({})], &confirmations);
        assert_eq!(at_once, Err(GoLiveError::Confirmation(error)));
    }
    assert_eq!(report, before);
    report.confirm(std::slice::from_ref(&seen)).expect("it fits");
    assert!(report.passed());
    assert_eq!((report.items[3].state, report.items[3].detail.as_str()), (ItemState::Confirmed, "seen on site"));
    let at_once = check_with(declared(RequirementCheck::ByHand, EASY_MS), &[json!({})], &[seen]).expect("checked");
    // How long a sample took is no part of it.
    assert_eq!(at_once.items, report.items);
    assert!(at_once.passed());
}

/// What the gateway has seen to fail, nobody confirms away.
#[test]
fn a_failed_item_cannot_be_confirmed() {
    let mut report = check(depth(&[("shops", "/shop", 1)], None), &[json!({})]);
    assert_eq!(report.items[3].state, ItemState::Failed);
    let confirmation = Confirmation { code: "ASKED".into(), note: "seen on site".into() };
    assert_eq!(report.confirm(&[confirmation]), Err(ConfirmationError::NotByHand("ASKED".into())));
}

#[test]
fn every_sample_is_answered_without_forbidden_fields() {
    let covered = || RequirementCheck::WithinLatency("search_things".into());
    let mut samples = vec![json!({}); 5];
    let report = check(covered(), &samples);
    assert!(report.passed());
    assert_eq!(report.items[0].detail, "5 of 5 samples were answered");
    assert_eq!(report.items[1].detail, "none was found");

    samples[2] = json!({"mode": "down"});
    let report = check(covered(), &samples);
    let states: Vec<_> = report.items.iter().map(|item| (item.code.as_str(), item.state)).collect();
    let codes = [SAMPLES_ANSWERED, NO_FORBIDDEN_FIELDS, NO_STRIKES, "ASKED"];
    let expected = [ItemState::Failed, ItemState::Passed, ItemState::Passed, ItemState::Passed];
    assert_eq!(states, codes.into_iter().zip(expected).collect::<Vec<_>>());
    assert_eq!(report.items[0].detail, "4 of 5 samples were answered (sample 3: PARTNER_HTTP_ERROR)");
    assert_eq!(report.samples[2].failure.as_deref(), Some("PARTNER_HTTP_ERROR"));

    samples[2] = json!({"offer": [{"id": "1"}, {"id": "2", "bid": 1}]});
    let report = check(covered(), &samples);
    let states: Vec<_> = report.items.iter().map(|item| item.state).collect();
    assert_eq!(states, [ItemState::Passed, ItemState::Failed, ItemState::Failed, ItemState::Passed]);
    assert_eq!(report.items[1].detail, "1 found");
    assert_eq!((report.samples[2].options, report.samples[2].dropped), (1, 1));
}

/// What was found of each sample, as a partner has to know it to mend it.
#[test]
fn a_report_says_which_rule_dropped_which_option_and_by_what() {
    let offer = json!([
        {"id": "1", "price": 1.5, "break": "TOO_CHEAP"},
        {"id": "2"},
        {"id": "3", "note": "ODD"},
        {"id": "4", "bid": {"rupees": 12}},
        {"id": "5", "price": "x".repeat(400), "break": "NO_NUMBER"},
    ]);
    let report = check(RequirementCheck::ByHand, &[json!({}), json!({"offer": offer})]);
    assert_eq!((report.samples[0].found.len(), report.samples[0].found_more), (0, 0));
    let sample = &report.samples[1];
    assert_eq!((sample.options, sample.dropped, sample.found_more), (2, 3, 0));
    let found: Vec<_> = sample
        .found
        .iter()
        .map(|one| (one.option, one.option_id.as_deref(), one.severity, one.violation.code.as_str()))
        .collect();
    let expected = [
        (Some(3), Some("4"), Severity::Strike, "FORBIDDEN_FIELD"),
        (Some(0), Some("1"), Severity::Drop, "TOO_CHEAP"),
        (Some(4), Some("5"), Severity::Drop, "NO_NUMBER"),
        (Some(2), Some("3"), Severity::Note, "ODD"),
    ];
    assert_eq!(found, expected, "the gravest first");
    assert_eq!(sample.found[0].violation.pointer, "/sponsored_rank");
    assert_eq!(sample.found[0].excerpt.as_deref(), Some(r#"{"rupees":12}"#), "what is forbidden is the partner's own");
    assert_eq!(sample.found[1].excerpt.as_deref(), Some("1.5"));
    let long = sample.found[2].excerpt.as_deref().expect("shown");
    assert_eq!((long.chars().count(), long.ends_with('…')), (200, true));
    assert_eq!(sample.found[3].excerpt, None, "a finding on the whole option has no excerpt of it");
}

/// A partner learns of a price outside its manifest's range before users do; it does not fail the check.
#[test]
fn a_price_outside_the_range_is_shown() {
    let mut partner = partner("alpha", &[INTENT]);
    partner.listings[0].prices = Some(PriceRange { min: 100.into(), max: 900.into() });
    let calls = Arc::new(ScriptedPartners::default());
    calls.reply_with("alpha", |call, _| reply(call));
    let runner = GoLiveRunner { calls, clock: TestClock::at(NOW_MS), timeout: Duration::from_secs(1) };
    let request = json!({"offer": [{"id": "1", "price_inr": 99}, {"id": "2", "price_inr": 100}]}).to_string();
    let contract = Arc::new(contract(declared(depth(&[("options", "", 1)], None), EASY_MS)));
    let report = block_on(runner.run(Arc::new(partner), contract, &[request], &[])).expect("checked");
    let found: Vec<_> = report.samples[0].found.iter().map(|one| (one.option, &*one.violation.code)).collect();
    assert_eq!(found, [(Some(0), "PRICE_OUT_OF_RANGE")]);
    assert_eq!(report.samples[0].found[0].excerpt.as_deref(), Some("99"));
    assert!(report.passed());
}

#[test]
fn what_is_listed_of_a_sample_is_bounded_and_no_rule_is_lost_by_it() {
    let mut offer: Vec<Value> = (0..19).map(|n| json!({"id": n.to_string(), "price": n, "break": "SAME"})).collect();
    offer.push(json!({"id": "last", "price": 1, "break": "OTHER"}));
    let samples = vec![json!({"offer": offer}); SAMPLES_MAX];
    let report = check(RequirementCheck::ByHand, &samples);
    let first = &report.samples[0];
    assert_eq!((first.found.len(), first.found_more), (20, 0));
    let codes: Vec<_> = first.found.iter().take(2).map(|one| one.violation.code.as_str()).collect();
    assert_eq!(codes, ["SAME", "OTHER"], "what repeats a rule comes last");
    let listed: usize = report.samples.iter().map(|sample| sample.found.len()).sum();
    let more: usize = report.samples.iter().map(|sample| sample.found_more).sum();
    assert_eq!((listed, listed + more), (FOUND_MAX_PER_REPORT, 20 * SAMPLES_MAX));
}

/// Three requests of users would suspend such a partner.
#[test]
fn what_would_be_a_strike_fails_the_check() {
    let of = |offer: Value| check(depth(&[("options", "", 1)], None), &[json!({"offer": offer})]);
    let report = of(json!([{"id": "1"}, {"id": "2", "break": "WRONG_GAS", "strike": true}]));
    let states: Vec<_> = report.items.iter().map(|item| item.state).collect();
    assert_eq!(states, [ItemState::Passed, ItemState::Passed, ItemState::Failed, ItemState::Passed]);
    assert_eq!((report.items[2].code.as_str(), report.items[2].detail.as_str()), (NO_STRIKES, "WRONG_GAS: 1"));
    assert!(!report.passed());
    let report = of(json!([{"id": "1"}, {"id": "2", "break": "WRONG_GAS"}]));
    assert!(report.passed(), "what is merely dropped does not fail it");
    // Nobody confirms it away.
    let refused = check_with(
        declared(RequirementCheck::ByHand, EASY_MS),
        &[json!({})],
        &[Confirmation { code: NO_STRIKES.into(), note: "fine".into() }],
    );
    let expected = GoLiveError::Confirmation(ConfirmationError::NotByHand(NO_STRIKES.into()));
    assert_eq!(refused, Err(expected));
}

#[test]
fn a_partners_own_error_is_shown_whole_and_an_unreadable_answer_by_its_beginning() {
    let report = check(RequirementCheck::ByHand, &[json!({"mode": "down"}), json!({"mode": "html"}), json!({})]);
    let down = report.samples[0].error.as_ref().expect("told");
    assert_eq!((down.code.as_str(), down.message.as_str()), ("PARTNER_HTTP_ERROR", "answered with HTTP status 500"));
    assert_eq!(down.sent.as_deref(), Some("HTTP 500\nno such table: slots"), "what the partner wrote");
    let html = &report.samples[1];
    assert_eq!(html.error.as_ref().map(|error| error.code.as_str()), Some("PARTNER_PAYLOAD_INVALID"));
    assert_eq!(html.error.as_ref().and_then(|error| error.sent.as_deref()), None, "that was of the sample before");
    assert_eq!(html.found[0].excerpt.as_deref(), Some("<html>Sorry</html>"));
    assert_eq!(report.samples[2].error, None);
}

#[test]
fn a_report_of_an_earlier_release_is_read() {
    let mut kept = serde_json::to_value(check(RequirementCheck::ByHand, &[json!({})])).expect("JSON");
    let sample = kept["samples"][0].as_object_mut().expect("a sample");
    for added in ["error", "found", "found_more"] {
        sample.remove(added).expect("it is kept");
    }
    let read: GoLiveReport = serde_json::from_value(kept).expect("readable");
    assert_eq!((read.samples[0].options, &read.samples[0].found), (1, &Vec::new()));
}

#[test]
fn a_report_says_who_was_checked_by_what() {
    let report = check(RequirementCheck::ByHand, &[json!({}), json!({"offer": []})]);
    assert_eq!((report.partner.as_str(), report.intent.as_str()), ("alpha", INTENT));
    let digest = contract(declared(RequirementCheck::ByHand, EASY_MS)).digest();
    assert_eq!((report.contract_version.as_str(), report.contract_digest), ("1.2.3", digest));
    assert_eq!(report.at_ms, Timestamp::from_ms(NOW_MS));
    let samples: Vec<_> = report.samples.iter().map(|one| (one.request_id.as_str(), one.options)).collect();
    assert_eq!(samples, [("go-live-1767225600000-1", 1), ("go-live-1767225600000-2", 0)]);
    let text = serde_json::to_string(&report).expect("it is kept as JSON");
    assert_eq!(serde_json::from_str::<GoLiveReport>(&text).expect("it is read back"), report);
}

#[test]
fn unfit_samples_are_named() {
    let run = |requests: &[Value]| check_with(declared(RequirementCheck::ByHand, EASY_MS), requests, &[]);
    assert_eq!(run(&[]), Err(GoLiveError::SampleCount(0)));
    assert_eq!(run(&vec![json!({}); SAMPLES_MAX + 1]), Err(GoLiveError::SampleCount(51)));
    assert!(run(&vec![json!({}); SAMPLES_MAX]).is_ok());
    let large = json!({"x": "y".repeat(256 * 1024)});
    assert!(matches!(run(&[json!({}), large]), Err(GoLiveError::SampleTooLarge { sample: 2, bytes: 262_152 })));
    let refused = run(&[json!({}), json!({"mode": "refused"})]);
    let Err(GoLiveError::SampleRefused { sample: 2, refusal }) = refused else { panic!("{refused:?}") };
    assert_eq!((refusal.code.as_str(), refusal.violations[0].code.as_str()), ("INVALID_REQUEST", "BAD"));
    let fault = ContractFault::DeadlineExceeded(5);
    assert_eq!(run(&[json!({"mode": "fault"})]), Err(GoLiveError::Contract { sample: 1, fault }));
}
