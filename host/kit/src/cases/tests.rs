//! The runner and the coverage over a contract that does little: an offer has a price, from 0 to 100.

use futures_util::FutureExt as _;
use intent_gateway_domain::contract::{
    About, CallContext, CheckedCompletion, CheckedResponse, Classification, Consequence, Descriptor, DroppedOption,
    Evaluation, Exchange, Judged, OptionFinding, OrderView, Payload, PointerElsewhere, PreparedRequest, Rule,
    Violation,
};
use intent_gateway_domain::error::{ContractError, ContractFault};
use intent_gateway_testing::contract::{ContractCall, ScriptedContract, candidates, ranked, refusal, violation};
use intent_gateway_testing::descriptor::small_descriptor;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::{CasesError, Report, Suite, gaps, run};

fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).unwrap()
}

fn descriptor() -> Descriptor {
    let option = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string", "pattern": "\\S"},
            "price": {"type": "number", "minimum": 0, "maximum": 100},
            "tags": {"type": "array", "items": {"type": "string", "enum": ["new", "used", "rare"]}},
        },
        "required": ["id", "price"],
    });
    let mut descriptor = small_descriptor();
    descriptor.tools.truncate(1);
    descriptor.tools[0].name = "search_offers".to_owned();
    descriptor.tools[0].request_schema = raw(&json!({"type": "object"}));
    descriptor.tools[0].response_schema = raw(&option);
    descriptor.search.tool = "search_offers".to_owned();
    descriptor.search.id_key = "id".to_owned();
    descriptor.completion.schema = raw(&json!({"type": "object"}));
    descriptor.rules = vec![Rule {
        code: "CHEAP".to_owned(),
        judged: Judged::Option,
        consequence: Consequence::Finding,
        text: "Offers cost more than 1.".to_owned(),
    }];
    descriptor
}

/// What is wrong with an offer.
fn judge(offer: &Value) -> Option<Violation> {
    match offer.get("price") {
        None => Some(violation("/price", "REQUIRED")),
        Some(price) => match price.as_f64() {
            None => Some(violation("/price", "WRONG_TYPE")),
            Some(price) if !(0.0..=100.0).contains(&price) => Some(violation("/price", "OUT_OF_RANGE")),
            Some(_) => None,
        },
    }
}

fn classify(said: &str) -> Classification {
    let elsewhere = said.contains("demand").then(|| PointerElsewhere {
        intent: "test.demand".to_owned(),
        score: 0.9,
        reason: String::new(),
    });
    let also = said.contains("bill").then(|| "test.bill".to_owned());
    let score = if said.contains("offer") { 0.9 } else { 0.1 };
    let (elsewhere, also) = (elsewhere.into_iter().collect(), also.into_iter().collect());
    Classification { score, evidence: Vec::new(), elsewhere, also }
}

/// Offers can be asked for from the first second of 2026 on.
fn check_request(context: &CallContext, arguments: &str) -> Result<PreparedRequest, ContractError> {
    let arguments: Value = serde_json::from_str(arguments).unwrap();
    if context.now.as_ms() < 1_767_225_600_000 {
        return Err(refusal("CLOSED", [violation("", "TOO_EARLY")]));
    }
    let notes = arguments.get("band").map(|_| violation("/band", "UNKNOWN_BAND")).into_iter().collect();
    Ok(PreparedRequest { arguments: raw(&arguments), need: Default::default(), notes })
}

fn evaluate(payloads: &[Payload<'_>]) -> Evaluation {
    let mut evaluation = Evaluation::default();
    for candidate in candidates(payloads) {
        let offer: Value = serde_json::from_str(candidate.json).unwrap();
        let number = candidate.number;
        if let Some(violation) = judge(&offer) {
            let strike = violation.code == "OUT_OF_RANGE" && offer["price"] == json!(-99);
            evaluation.dropped.push(DroppedOption { number, id: None, strike, violations: vec![violation] });
            continue;
        }
        if offer["price"] == json!(1) {
            evaluation.findings.push(OptionFinding { number, violation: violation("/price", "CHEAP") });
        }
        let total = 1.0 - offer["price"].as_f64().unwrap() / 100.0;
        evaluation.ranked.push(ranked(number, offer["id"].as_str().unwrap(), total));
    }
    evaluation.ranked.sort_by(|left, right| right.total.total_cmp(&left.total));
    evaluation
}

fn check_response(exchange: Exchange<'_>) -> CheckedResponse {
    let advisory = (exchange.arguments != exchange.payload).then(|| "ODD".to_owned());
    let differs = exchange.about.quoted.is_some_and(|quoted| quoted != exchange.payload);
    let findings = differs.then(|| violation("", "OTHER_OFFER")).into_iter().collect();
    CheckedResponse { reference: None, advisory, findings }
}

fn check_completion(report: &str, about: About<'_>) -> Result<CheckedCompletion, ContractError> {
    let report: Value = serde_json::from_str(report).unwrap();
    match report.get("minutes") {
        None => Err(ContractFault::trap("unreachable").into()),
        Some(Value::Bool(_)) => Err(refusal("INVALID_REQUEST", [violation("/minutes", "WRONG_TYPE")])),
        // Minutes are told against a quote alone, and many are a finding.
        Some(minutes) => Ok(CheckedCompletion {
            external_id: "b-1".to_owned(),
            request_id: "r-1".to_owned(),
            status: "completed".to_owned(),
            amount_paise: 0,
            charged: true,
            late_minutes: about.quoted.and(minutes.as_i64()).and_then(|minutes| minutes.try_into().ok()),
            findings: if *minutes == json!(99) { vec![violation("/minutes", "LATE")] } else { Vec::new() },
            strikes: strikes(about.order),
        }),
    }
}

/// One where the order kept something else than an offer, and one where a call was answered before it was opened.
fn strikes(order: Option<&OrderView>) -> Vec<Violation> {
    let Some(order) = order else { return Vec::new() };
    let other = (order.kept != r#"{"id":"a"}"#).then(|| violation("", "OTHER_ORDER"));
    let early = order.answered.iter().any(|call| call.at_ms < order.opened_at);
    other.into_iter().chain(early.then(|| violation("", "TOO_EARLY"))).collect()
}

fn contract() -> ScriptedContract {
    ScriptedContract::new(descriptor())
        .on_classify(|said, _| Ok(classify(said)))
        .on_check_request(|context, _, arguments| check_request(context, arguments))
        .on_evaluate(|_, _, payloads| Ok(evaluate(payloads)))
        .on_check_response(|_, exchange| Ok(check_response(exchange)))
        .on_check_completion(|_, report, about| check_completion(report, about))
}

/// A folder with one case file and a sample of each kind.
fn suite(file: &Value) -> Result<Suite, CasesError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("cases")).unwrap();
    std::fs::write(folder.path().join("offers.json"), r#"{"offers": [{"id": "a", "price": 50}]}"#).unwrap();
    std::fs::write(folder.path().join("report.json"), r#"{"minutes": 0}"#).unwrap();
    std::fs::write(folder.path().join("cases/one.json"), file.to_string()).unwrap();
    Suite::read(&folder.path().join("cases"))
}

fn tried(file: &Value) -> Report {
    run(&contract(), &suite(file).unwrap()).now_or_never().unwrap()
}

fn offers(cases: Value) -> Value {
    let mut file = json!({
        "about": "offers", "call": "evaluate", "sample": "../offers.json#/offers/0", "request": "../offers.json",
    });
    file.as_object_mut().unwrap().extend(cases.as_object().unwrap().clone());
    file
}

/// One case, whether it passes.
fn passes(case: Value) -> bool {
    let report = tried(&offers(case));
    assert_eq!(report.cases, 2, "the sample and the case");
    report.failures.is_empty()
}

#[test]
fn values_of_a_place() {
    let row = |row: Value| passes(json!({"fields": {"/price": row}}));
    assert!(row(json!({"absent": "REQUIRED"})));
    assert!(!row(json!({"absent": "accepted"})));
    assert!(!row(json!({"absent": "WRONG_TYPE"})));
    assert!(row(json!({"accepted": [100]})));
    assert!(!row(json!({"accepted": [101]})));
    assert!(row(json!({"OUT_OF_RANGE": [101]})));
    assert!(!row(json!({"OUT_OF_RANGE": [100]})));
    assert!(!row(json!({"WRONG_TYPE": [101]})));
    // A finding that no case names fails it.
    assert!(!row(json!({"accepted": [1]})));
    // Strikes have to be named, which only a rule can.
    assert!(!row(json!({"OUT_OF_RANGE": [-99]})));
}

#[test]
fn rules_name_all_that_is_found() {
    let rule = |mut rule: Value| {
        rule["name"] = json!("rule");
        passes(json!({ "rules": [rule] }))
    };
    assert!(rule(json!({"set": {"/price": 1}, "findings": [["/price", "CHEAP"]]})));
    assert!(!rule(json!({"set": {"/price": 2}, "findings": [["/price", "CHEAP"]]})));
    assert!(!rule(json!({"set": {"/price": 1}, "accepted": true})));
    assert!(rule(json!({"remove": ["/price"], "refused": [["/price", "REQUIRED"]]})));
    assert!(rule(json!({"set": {"/price": -99}, "refused": [["/price", "OUT_OF_RANGE"]], "strike": true})));
    assert!(!rule(json!({"set": {"/price": -98}, "refused": [["/price", "OUT_OF_RANGE"]], "strike": true})));
    assert!(!rule(json!({"set": {"/no/where": 1}, "accepted": true})));
}

#[test]
fn orders_are_exact() {
    let order = |order: Value| {
        let options = json!({"dear": {"/price": 90}, "cheap": {"/price": 10}, "broken": {"/price": 200}});
        passes(json!({"orders": [{"name": "order", "options": options, "order": order}]}))
    };
    assert!(order(json!(["cheap", "dear"])));
    assert!(!order(json!(["dear", "cheap"])));
    assert!(!order(json!(["cheap"])));
    assert!(!order(json!(["cheap", "dear", "broken"])));
    // A tie has no order, whichever it falls into by chance.
    let tie =
        |order: Value| passes(json!({"orders": [{"name": "tie", "options": {"a": {}, "b": {}}, "order": order}]}));
    assert!(!tie(json!(["a", "b"])) && !tie(json!(["b", "a"])));
}

#[test]
fn requests_answers_and_faults() {
    let request = json!({"about": "x", "call": "check-request", "sample": "../offers.json", "rules": [
        {"name": "note", "set": {"/band": 1}, "notes": [["/band", "UNKNOWN_BAND"]]},
        {"name": "early", "now": "2025-12-31T23:59:59+00:00", "refused": [["", "TOO_EARLY"]], "code": "CLOSED"},
    ]});
    assert_eq!(tried(&request), Report { cases: 3, failures: Vec::new() });
    let mut wrong = request;
    wrong["rules"][1]["code"] = json!("OTHER");
    wrong["rules"][0]["now"] = json!("yesterday");
    assert_eq!(tried(&wrong).failures.len(), 2);

    let answer = json!({
        "about": "x", "call": "check-response", "tool": "search_offers", "sample": "../offers.json",
        "arguments": "../offers.json", "quoted": "../offers.json",
        "rules": [
            {"name": "advice", "arguments": {"/x": 1}, "advisory": "ODD"},
            {"name": "another", "quoted": {"/x": 1}, "findings": [["", "OTHER_OFFER"]]},
        ],
    });
    assert_eq!(tried(&answer), Report { cases: 3, failures: Vec::new() });

    let report = json!({"about": "x", "call": "check-completion", "sample": "../offers.json",
        "fields": {"/x": {"accepted": [1]}}});
    let failures = tried(&report).failures;
    assert_eq!(failures.len(), 2);
    assert!(failures[0].found.contains("CONTRACT_TRAP"), "{failures:?}");
}

#[test]
fn lateness_of_a_report() {
    // The sample, which is not a report with minutes, traps; what is asked here is the rule alone.
    let wrong = |mut rule: Value, quoted: Option<&str>| -> Option<(String, String)> {
        rule["name"] = json!("rule");
        let mut file = json!({"about": "x", "call": "check-completion", "sample": "../offers.json", "rules": [rule]});
        if let Some(quoted) = quoted {
            file["quoted"] = json!(quoted);
        }
        let failures = tried(&file).failures.into_iter().filter(|failure| failure.case == "rule");
        failures.map(|failure| (failure.expected, failure.found)).next()
    };
    let quoted = Some("../offers.json");
    let told = |expected: &str, found: &str| Some((expected.to_owned(), found.to_owned()));
    let twelve = |late: Value| json!({"set": {"/minutes": 12}, "accepted": true, "late_minutes": late});
    assert_eq!(wrong(twelve(json!(12)), quoted), None);
    assert_eq!(wrong(twelve(json!(null)), None), None);
    let accepted = |lateness: &str| format!("accepted, nothing found, {lateness}");
    let (late, early, unsaid) = (accepted("12 minutes late"), accepted("-12 minutes late"), accepted("no lateness"));
    assert_eq!(wrong(twelve(json!(-12)), quoted), told(&early, &late));
    assert_eq!(wrong(twelve(json!(null)), quoted), told(&unsaid, &late));
    assert_eq!(wrong(twelve(json!(12)), None), told(&late, &unsaid));
    // Whoever does not ask gets no answer, right or wrong.
    assert_eq!(wrong(json!({"set": {"/minutes": 12}, "accepted": true}), quoted), None);
    let many = json!({"set": {"/minutes": 99}, "accepted": true});
    assert_eq!(wrong(many, quoted), told("accepted, nothing found", "finding: LATE at `/minutes`"));
    let both = json!({"set": {"/minutes": 99}, "findings": [["/minutes", "LATE"]], "late_minutes": 99});
    assert_eq!(wrong(both, quoted), None);
    // A refusal tells none.
    let refused = told(&late, "refused: WRONG_TYPE at `/minutes`, refusal INVALID_REQUEST");
    let rule = json!({"set": {"/minutes": true}, "accepted": true, "late_minutes": 12});
    assert_eq!(wrong(rule, quoted), refused);
}

#[test]
fn orders_that_calls_are_about() {
    let file = |rule: Value| {
        json!({
            "about": "x", "call": "check-completion", "sample": "../report.json",
            "order": {
                "state": "booked", "opened_at": "2026-01-01T05:30:00+05:30", "kept": {"id": "a"},
                "answered": [{"tool": "book_offer", "at": "2026-01-01T00:00:00Z"}],
            },
            "rules": [rule],
        })
    };
    let found = |mut rule: Value| -> Option<String> {
        rule["name"] = json!("rule");
        let mut wrong = tried(&file(rule)).failures.into_iter();
        wrong.find(|failure| failure.case == "rule").map(|failure| failure.found)
    };
    assert_eq!(found(json!({"set": {"/minutes": 1}, "accepted": true})), None);
    let other = json!({"set": {"/minutes": 1}, "order": {"/kept/id": "b"}, "strikes": [["", "OTHER_ORDER"]]});
    assert_eq!(found(other.clone()), None);
    let mut unexpected = other;
    unexpected["strikes"] = json!([["", "TOO_EARLY"]]);
    assert_eq!(found(unexpected).as_deref(), Some("strike: OTHER_ORDER at ``"));
    let early = json!({"/answered/0/at": "2025-12-31T23:59:59Z"});
    assert_eq!(found(json!({"set": {"/minutes": 1}, "order": early, "strikes": [["", "TOO_EARLY"]]})), None);
    for (broken, told) in [
        (json!({"/opened_at": "noon"}), "the order was opened at `noon`, expected an ISO 8601 datetime"),
        (json!({"/answered/0/at": "noon"}), "`book_offer` was answered at `noon`, expected"),
        (json!({"/state": 1}), "the order is not of the format: "),
        (json!({"/typo": 1}), "the order is not of the format: unknown field `typo`"),
    ] {
        let found = found(json!({"set": {"/minutes": 1}, "order": broken, "accepted": true})).expect("it is told");
        assert!(found.starts_with(told), "{found}");
    }
    let orderless = json!({"about": "x", "call": "check-request", "sample": "../offers.json", "rules": [
        {"name": "rule", "order": {"/state": "booked"}, "accepted": true}]});
    assert_eq!(tried(&orderless).failures[0].found, "the file states no `order`");
}

#[test]
fn utterances() {
    let said = |key: &str, utterances: Value| {
        tried(&json!({"about": "x", "call": "classify", key: utterances})).failures.is_empty()
    };
    assert!(said("claimed", json!(["an offer"])) && !said("claimed", json!(["nothing"])));
    assert!(said("not_claimed", json!(["nothing"])) && !said("not_claimed", json!(["an offer"])));
    assert!(said("elsewhere", json!({"test.demand": ["a demand"]})));
    assert!(!said("elsewhere", json!({"test.demand": ["an offer on demand"]})));
    assert!(!said("elsewhere", json!({"test.other": ["a demand"]})));
    assert!(said("also", json!({"test.bill": ["an offer and a bill"]})));
    assert!(!said("also", json!({"test.bill": ["an offer"]})));
}

#[test]
fn past_orders_are_the_files_or_the_cases_own() {
    let past =
        |status: &str| json!({"status": status, "closed_at": "2026-01-01T05:30:00+05:30", "attributes": {"leaf": 1}});
    let ranking = |name: &str, more: Value| {
        let mut ranking = json!({"name": name, "options": {"cheap": {}}, "order": ["cheap"]});
        ranking.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ranking
    };
    let told = |file: Value| {
        let contract = contract();
        let report = run(&contract, &suite(&file).unwrap()).now_or_never().unwrap();
        let calls = contract.calls().into_iter().map(|call| match call {
            ContractCall::Evaluate { history, .. } => json!(history),
            other => panic!("{other:?}"),
        });
        let mut told: Vec<_> = calls.collect();
        told.dedup();
        (report.failures.len(), told)
    };
    let rankings = [ranking("the file's", json!({})), ranking("its own", json!({"history": [past("other")]}))];
    let as_told =
        |status: &str| json!([{"status": status, "closed_at_ms": 1_767_225_600_000_u64, "attributes": {"leaf": 1}}]);
    let file = offers(json!({"history": [past("completed")], "orders": rankings}));
    assert_eq!(told(file), (0, vec![as_told("completed"), as_told("other")]));
    let soon = json!({"history": [{"status": "completed", "closed_at": "soon"}]});
    assert_eq!(told(offers(json!({"orders": [ranking("no instant", soon)]}))), (1, vec![json!([])]));
}

#[test]
fn files_that_make_no_sense_are_refused() {
    for file in [
        json!({"call": "evaluate"}),
        json!({"about": "x", "call": "evaluate", "rules": []}),
        offers(json!({})),
        offers(json!({"fields": {"/price": {}}})),
        offers(json!({"fields": {"/price": {"acepted": [1]}}})),
        offers(json!({"rules": [{"name": "x"}]})),
        offers(json!({"rules": [{"name": "x", "accepted": true, "findings": [["", "X"]]}]})),
        offers(json!({"rules": [{"name": "x", "accepted": true, "typo": 1}]})),
        offers(json!({"rules": [{"name": "x", "accepted": true, "late_minutes": 1}]})),
        offers(json!({"rules": [{"name": "x", "accepted": true, "late_minutes": null}]})),
        json!({"about": "x", "call": "check-completion", "sample": "../offers.json", "rules": [
            {"name": "x", "refused": [["", "X"]], "late_minutes": 1}]}),
        json!({"about": "x", "call": "check-completion", "sample": "../offers.json", "rules": [
            {"name": "x", "accepted": true, "late_minutes": 1.5}]}),
        json!({"about": "x", "call": "check-completion", "sample": "../offers.json", "rules": [
            {"name": "x", "late_minutes": 1}]}),
        json!({"about": "x", "call": "check-completion", "sample": "../offers.json", "rules": [
            {"name": "x", "refused": [["", "X"]], "strikes": [["", "Y"]]}]}),
        json!({"about": "x", "call": "check-request", "sample": "../offers.json", "rules": [
            {"name": "x", "strikes": [["", "Y"]]}]}),
        json!({"about": "x", "call": "evaluate", "sample": "../offers.json", "request": "../offers.json",
            "order": {}, "rules": [{"name": "x", "accepted": true}]}),
        offers(json!({"history": [{"closed_at": "2026-01-01T00:00:00Z"}], "fields": {"/price": {"accepted": [1]}}})),
        json!({"about": "x", "call": "check-request", "sample": "../offers.json", "history": [
            {"status": "completed", "closed_at": "2026-01-01T00:00:00Z"}], "rules": [{"name": "x", "accepted": true}]}),
        json!({"about": "x", "call": "classify"}),
        json!({"about": "x", "call": "check-request", "sample": "../offers.json", "orders": [
            {"name": "x", "options": {}, "order": []}]}),
        json!({"about": "x", "call": "check-request", "sample": "../offers.json#/none", "rules": [
            {"name": "x", "accepted": true}]}),
        json!({"about": "x", "call": "check-request", "sample": "../none.json", "rules": [
            {"name": "x", "accepted": true}]}),
    ] {
        assert!(suite(&file).is_err(), "{file}");
    }
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(Suite::read(folder.path()), Err(CasesError::None(_))));
}

#[test]
fn coverage_names_what_no_case_breaks() {
    let missing = |cases: Value| -> Vec<String> {
        let suite = suite(&offers(cases)).unwrap();
        let gaps = gaps(&descriptor(), &suite).into_iter().filter(|gap| !gap.document.starts_with("rules"));
        gaps.map(|gap| format!("{}: {}", gap.place, gap.missing)).collect()
    };
    let id = json!({"absent": "REQUIRED", "WRONG_TYPE": [1], "EMPTY": [""]});
    let whole = json!({"absent": "REQUIRED", "WRONG_TYPE": ["x"], "OUT_OF_RANGE": [-1, 101]});
    let tags = json!({"absent": "accepted", "WRONG_TYPE": ["new"], "accepted": [["new"], ["rare", "used"]]});
    let tag = json!({"WRONG_TYPE": [1], "NOT_IN_VOCABULARY": ["old"]});
    let with_tags = |fields: Value| {
        let mut fields = fields;
        fields["/tags"] = tags.clone();
        fields["/tags/0"] = tag.clone();
        json!({"fields": fields})
    };
    assert_eq!(missing(with_tags(json!({"/id": id, "/price": whole}))), Vec::<String>::new());
    let mut one_less = with_tags(json!({"/id": id, "/price": whole}));
    one_less["fields"]["/tags"]["accepted"] = json!([["new"]]);
    assert_eq!(missing(one_less), ["/tags/*: accepted: used, rare"]);
    assert_eq!(
        missing(with_tags(json!({"/id": {"absent": "accepted"}, "/price": {"OUT_OF_RANGE": [101]}}))),
        [
            "/id: absent, refused as REQUIRED",
            "/id: a value of a wrong type",
            "/id: an empty text",
            "/price: absent, refused as REQUIRED",
            "/price: a value of a wrong type",
            "/price: a number under 0",
        ]
    );
    // Rules count for the place that they are refused at.
    let rules = json!([
        {"name": "low", "set": {"/price": -1}, "refused": [["/price", "OUT_OF_RANGE"]]},
        {"name": "gone", "remove": ["/price"], "refused": [["/price", "REQUIRED"]]},
    ]);
    let mut fields = with_tags(json!({"/id": id}));
    fields["rules"] = rules;
    let left = missing(fields);
    assert_eq!(left, ["/price: a value of a wrong type", "/price: a number over 100"]);
}

#[test]
fn rules_are_stated_and_broken() {
    let missing = |cases: Value| -> Vec<String> {
        let suite = suite(&offers(cases)).unwrap();
        let gaps = gaps(&descriptor(), &suite).into_iter().filter(|gap| gap.document.starts_with("rules"));
        gaps.map(|gap| format!("{} {}: {}", gap.document, gap.place, gap.missing)).collect()
    };
    let cheap = json!({"name": "cheap", "set": {"/price": 1}, "findings": [["/price", "CHEAP"]]});
    assert_eq!(missing(json!({"rules": [cheap]})), Vec::<String>::new());
    let untried = "rules on the option CHEAP: a case that breaks it (finding)";
    let shape = json!({"name": "gone", "remove": ["/price"], "refused": [["/price", "REQUIRED"]]});
    assert_eq!(missing(json!({"rules": [shape]})), [untried]);
    // Another outcome is another rule.
    let dropped = json!({"name": "cheap", "set": {"/price": 1}, "refused": [["/price", "CHEAP"]]});
    assert_eq!(
        missing(json!({"rules": [dropped]})),
        [untried, "rules on the option CHEAP: stated as a rule (dropped)"]
    );
    let strike = json!({"name": "odd", "set": {"/price": -99}, "refused": [["/price", "ODD"]], "strike": true});
    let unstated = "rules on the option ODD: stated as a rule (strike)";
    assert_eq!(missing(json!({"rules": [cheap, strike]})), [unstated]);
    assert_eq!(missing(json!({"rules": [cheap], "fields": {"/price": {"ODD": [-1]}}})).len(), 1);
}
