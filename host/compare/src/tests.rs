//! Whole comparisons over receipts that are made up, by contracts that are functions.

mod export;
mod shadow;

use std::sync::Arc;
use std::time::Duration;

use futures_executor::block_on;
use futures_util::future::BoxFuture;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{Axes, CallContext, DroppedOption, Evaluation, Payload, RankedOption, Violation};
use intent_gateway_domain::error::{ContractError, ContractFault};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::ports::{Contract, Journal as _, Workers};
use intent_gateway_domain::receipt::{Receipt, ReceiptCandidate, ReceiptDrop, ReceiptPayload, ReceiptScore, outcome};
use intent_gateway_testing::contract::{ScriptedContract, accept_any_request, candidates, descriptor, refusal};
use intent_gateway_testing::journal::MemoryJournal;
use proptest::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::report::{BaselineName, RuleChange};
use crate::{Baseline, Comparer, ComparisonReport, DifferenceBudget, KeptReceipts, Progress, RunError, run};

const INTENT: &str = "test.find_things";
const START: Timestamp = Timestamp::from_ms(1_767_225_600_000);

/// How a contract of these tests ranks: the cheapest first, what is too dear is taken out.
#[derive(Clone, Copy)]
struct Rules {
    dearest: f64,
    /// The dearest comes first instead.
    reversed: bool,
    /// Added to each score.
    bonus: f64,
    card: &'static str,
}

const RULES: Rules = Rules { dearest: 100.0, reversed: false, bonus: 0.0, card: "{}" };

fn evaluate(rules: Rules, payloads: &[Payload<'_>]) -> Evaluation {
    let mut evaluation = Evaluation::default();
    for candidate in candidates(payloads) {
        let option: Value = serde_json::from_str(candidate.json).expect("JSON");
        let price = option["price"].as_f64().expect("a price");
        let id = option["id"].as_str().expect("an identifier").to_owned();
        if price > rules.dearest {
            let violation =
                Violation { pointer: "/price".to_owned(), code: "TOO_DEAR".to_owned(), message: "too dear".to_owned() };
            let number = candidate.number;
            evaluation.dropped.push(DroppedOption { number, id: Some(id), strike: false, violations: vec![violation] });
            continue;
        }
        let share = price / 1_000.0;
        let total = if rules.reversed { share } else { 1.0 - share } + rules.bonus;
        let axes = Axes { time: 0.5, taste: 0.5, budget: total, safety: 0.5 };
        let card = RawValue::from_string(rules.card.to_owned()).expect("JSON");
        evaluation.ranked.push(RankedOption { number: candidate.number, id, total, axes, completeness: 1.0, card });
    }
    evaluation.ranked.sort_by(|a, b| b.total.total_cmp(&a.total).then(a.number.cmp(&b.number)));
    evaluation
}

type Script = Box<dyn Fn(&CallContext, &[Payload<'_>]) -> Result<Evaluation, ContractError> + Send + Sync>;

fn scripted(version: &str, script: Script) -> Arc<dyn Contract> {
    let contract = ScriptedContract::new(descriptor(version))
        .on_check_request(|context, _, arguments| Ok(accept_any_request(context, arguments)))
        .on_evaluate(move |context, _, payloads| script(context, payloads));
    Arc::new(contract)
}

fn contract(version: &str, rules: Rules) -> Arc<dyn Contract> {
    scripted(version, Box::new(move |_, payloads| Ok(evaluate(rules, payloads))))
}

/// A receipt of two partners whose options cost so much, as version 1.0.0 has ranked it.
fn receipt(number: u64, prices: [&[f64]; 2]) -> Receipt {
    let mut numbers = 0_u32..;
    let payloads: Vec<ReceiptPayload> = ["alpha", "beta"]
        .into_iter()
        .zip(prices)
        .map(|(partner, prices)| ReceiptPayload {
            partner: PartnerId::parse(partner).expect("an identifier"),
            declared: Axes { time: 0.5, taste: 0.5, budget: 0.5, safety: 0.5 },
            candidates: prices
                .iter()
                .zip(numbers.by_ref())
                .map(|(price, number)| {
                    let json = json!({"id": format!("{partner}-{number}"), "price": price});
                    ReceiptCandidate { number, json: RawValue::from_string(json.to_string()).expect("JSON") }
                })
                .collect(),
        })
        .collect();
    let evaluation = evaluate(RULES, &payloads.iter().map(ReceiptPayload::for_contract).collect::<Vec<_>>());
    let version = contract("1.0.0", RULES);
    Receipt {
        id: format!("rank_{number:03}"),
        at_ms: START.plus_ms(number),
        request_id: format!("r-{number}"),
        intent: IntentId::parse(INTENT).expect("an intent"),
        version: version.descriptor().version.clone(),
        contract: version.digest(),
        arguments: RawValue::from_string("{}".to_owned()).expect("JSON"),
        payloads,
        history: Vec::new(),
        ranked: evaluation.ranked.iter().map(ReceiptScore::from).collect(),
        dropped: evaluation.dropped.iter().map(ReceiptDrop::from).collect(),
        bookable_until_ms: None,
        outcome: outcome(&evaluation),
    }
}

/// Three workers that take turns on one thread; each look at the time is a microsecond later.
#[derive(Default)]
struct Turns(std::sync::atomic::AtomicU64);

impl Workers for Turns {
    fn count(&self) -> usize {
        3
    }

    fn run(&self, work: BoxFuture<'static, ()>) -> BoxFuture<'static, ()> {
        work
    }

    fn spent(&self) -> Duration {
        Duration::from_micros(self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
    }
}

fn compare_with(
    receipts: Vec<Receipt>,
    candidate: Arc<dyn Contract>,
    baseline: Baseline,
    budget: Option<DifferenceBudget>,
) -> ComparisonReport {
    let journal = Arc::new(MemoryJournal::default());
    receipts.into_iter().for_each(|receipt| journal.keep(receipt, None));
    let comparer = Arc::new(Comparer::new(candidate, baseline, budget, Duration::from_millis(200)));
    let source = KeptReceipts::since(journal, comparer.intent().clone(), START, u64::MAX);
    let progress = Arc::new(Progress::default());
    let tally = block_on(run(comparer.clone(), Arc::new(source), Arc::new(Turns::default()), progress.clone()));
    let report = comparer.report(&tally.expect("receipts are read"));
    assert_eq!(progress.receipts(), report.receipts + report.not_comparable.iter().map(|one| one.count).sum::<u64>());
    assert_eq!(progress.different(), report.different);
    report
}

fn compare(receipts: Vec<Receipt>, candidate: Arc<dyn Contract>) -> ComparisonReport {
    compare_with(receipts, candidate, Baseline::Version(contract("1.0.0", RULES)), None)
}

fn some_receipts() -> Vec<Receipt> {
    vec![receipt(1, [&[10.0, 90.0], &[50.0, 120.0]]), receipt(2, [&[20.0], &[30.0]]), receipt(3, [&[95.0], &[200.0]])]
}

#[test]
fn a_version_that_takes_more_out_is_told_by_rule_place_and_partner() {
    let report = compare(some_receipts(), contract("1.1.0", Rules { dearest: 60.0, ..RULES }));
    assert_eq!((report.receipts, report.options, report.same, report.different), (3, 8, 1, 2));
    let rule = RuleChange { code: "TOO_DEAR".to_owned(), newly_dropped: 2, newly_kept: 0, other_reasons: 0 };
    assert_eq!(report.rules, [rule]);
    assert_eq!((report.first_changed, report.reordered, report.newly_empty, report.only_wording), (1, 0, 1, 0));
    assert!(report.scores.is_empty(), "scores stay");
    assert_eq!((report.overlap_of_three.count, report.overlap_of_three.min), (3, 0.0));
    assert_eq!(report.worst.len(), 2);
    let worst = &report.worst[0];
    assert_eq!((worst.receipt.as_str(), worst.rank_biased_overlap), ("rank_003", 0.0));
    let row = &worst.options[0];
    assert_eq!((row.partner.as_str(), row.option.as_str()), ("alpha", "alpha-0"));
    assert_eq!(
        (row.place_before, row.place_after, &row.codes_after[..]),
        (Some(1), None, &["TOO_DEAR".to_owned()][..])
    );
    // Of 6 first places alpha had 4, of 4 it has 2.
    let alpha = report.partners.iter().find(|share| share.partner == "alpha").expect("it is there");
    assert_eq!((alpha.places_before, alpha.places_after), (4, 2));
    assert!((alpha.share_before - 4.0 / 6.0).abs() < 1e-12 && (alpha.share_after - 0.5).abs() < 1e-12);
    assert_eq!((report.first_at_ms, report.last_at_ms), (Some(START.plus_ms(1)), Some(START.plus_ms(3))));
    assert_eq!(report.candidate_times.calls, 3);
    assert_eq!(report.baseline_times, None, "it has ranked them itself");
}

#[test]
fn a_version_that_keeps_more_or_turns_the_order_is_told() {
    let report = compare(some_receipts(), contract("1.1.0", Rules { dearest: 150.0, ..RULES }));
    assert_eq!((report.rules[0].newly_kept, report.rules[0].newly_dropped, report.first_changed), (1, 0, 0));
    let report = compare(some_receipts(), contract("1.1.0", Rules { reversed: true, ..RULES }));
    assert_eq!((report.same, report.different, report.first_changed, report.reordered), (0, 3, 2, 2));
    assert!((report.kendall_tau_b.mean + 1.0).abs() < 1e-12, "{:?}", report.kendall_tau_b);
    let scores: Vec<&str> = report.scores.iter().map(|shift| shift.score.as_str()).collect();
    assert_eq!(scores, ["total", "budget"]);
}

#[test]
fn scores_that_shift_and_cards_that_change_are_told_apart() {
    let report = compare(some_receipts(), contract("1.1.0", Rules { bonus: -0.25, ..RULES }));
    assert_eq!((report.different, report.first_changed, report.reordered), (3, 0, 0));
    let shift = &report.scores[0].shift;
    assert_eq!((shift.count, shift.min, shift.max), (6, -0.25, -0.25));
    let report = compare(some_receipts(), contract("1.1.0", Rules { card: r#"{"title": "new"}"#, ..RULES }));
    assert_eq!((report.different, report.only_wording, report.worst.len()), (3, 3, 0));
}

#[test]
fn a_candidate_that_refuses_or_fails_is_told_by_code() {
    let refuses = |context: &CallContext, payloads: &[Payload<'_>]| match context.request_id.as_str() {
        "r-1" => Err(refusal("NO_MORE", [])),
        "r-2" => Err(ContractFault::DeadlineExceeded(200).into()),
        _ => Ok(evaluate(RULES, payloads)),
    };
    let report = compare(some_receipts(), scripted("1.1.0", Box::new(refuses)));
    assert_eq!((report.refused[0].code.as_str(), report.failed[0].code.as_str()), ("NO_MORE", "CONTRACT_DEADLINE"));
    assert_eq!((report.same, report.different), (1, 2));
}

#[test]
fn what_the_baseline_does_not_rank_any_more_is_not_compared() {
    // It was ranked by another version than the one that it is compared with.
    let refuses: Script = Box::new(|context, payloads| match context.request_id.as_str() {
        "r-2" => Err(refusal("NO_MORE", [])),
        _ => Ok(evaluate(RULES, payloads)),
    });
    let baseline = Baseline::Version(scripted("0.9.0", refuses));
    let report = compare_with(some_receipts(), contract("1.1.0", Rules { dearest: 60.0, ..RULES }), baseline, None);
    assert_eq!((report.receipts, report.not_comparable[0].code.as_str()), (2, "NO_MORE"));
    assert_eq!(report.baseline_times.map(|times| times.calls), Some(2));
    let shown = compare_with(some_receipts(), contract("1.1.0", RULES), Baseline::Shown, None);
    assert_eq!((shown.same, shown.baseline), (3, BaselineName::Shown));
}

#[test]
fn requests_that_a_candidate_takes_otherwise_are_told() {
    let with_check = |version: &str, refuses: bool| -> Arc<dyn Contract> {
        let contract = ScriptedContract::new(descriptor(version))
            .on_check_request(move |context, _, arguments| {
                if refuses && context.request_id == "r-1" {
                    return Err(refusal("INVALID_REQUEST", []));
                }
                let arguments = if refuses { r#"{"more": 1}"# } else { arguments };
                Ok(accept_any_request(context, arguments))
            })
            .on_evaluate(|_, _, payloads| Ok(evaluate(RULES, payloads)));
        Arc::new(contract)
    };
    let report = compare(some_receipts(), with_check("1.1.0", true));
    assert_eq!((report.requests_refused[0].count, report.requests_changed, report.different), (1, 2, 3));
    // Whoever makes something else of what was passed before, and always did, differs in nothing.
    let baseline = Baseline::Version(with_check("1.0.0", true));
    let report = compare_with(some_receipts(), with_check("1.1.0", true), baseline, None);
    assert_eq!((report.requests_refused.len(), report.requests_changed, report.different), (0, 0, 0));
}

#[test]
fn what_an_author_has_announced_is_within_the_budget_and_all_else_is_named() {
    let budget = |json: Value| Some(DifferenceBudget::read(json.to_string().as_bytes()).expect("a budget"));
    let stricter = || contract("1.1.0", Rules { dearest: 60.0, ..RULES });
    let against = || Baseline::Version(contract("1.0.0", RULES));
    let report = compare_with(some_receipts(), stricter(), against(), budget(json!({"drops": ["TOO_DEAR"]})));
    let found = report.budget.expect("it was declared");
    assert!(found.holds && found.outside.is_empty(), "{found:?}");
    let report = compare_with(some_receipts(), stricter(), against(), budget(json!({"order": true, "cards": true})));
    let found = report.budget.expect("it was declared");
    assert!(!found.holds);
    assert_eq!((found.outside[0].what.as_str(), found.outside[0].count), ("drops TOO_DEAR", 2));
    let mut named = found.outside[0].receipts.clone();
    named.sort_unstable();
    assert_eq!(named, ["rank_001", "rank_003"]);
    let turned = contract("1.1.0", Rules { reversed: true, ..RULES });
    let report = compare_with(some_receipts(), turned, against(), budget(json!({"scores": ["total"]})));
    let what: Vec<String> = report.budget.expect("one").outside.into_iter().map(|outside| outside.what).collect();
    assert_eq!(what, ["scores budget", "order"]);
    let worded = contract("1.1.0", Rules { card: r#"{"title": "new"}"#, ..RULES });
    let report = compare_with(some_receipts(), worded, against(), budget(json!({})));
    assert_eq!(report.budget.expect("one").outside[0].what, "cards");
    let looser = contract("1.1.0", Rules { dearest: 150.0, ..RULES });
    let report = compare_with(some_receipts(), looser, against(), budget(json!({"drops": ["TOO_DEAR"]})));
    assert_eq!(report.budget.expect("one").outside[0].what, "keeps TOO_DEAR");
}

#[test]
fn only_so_many_examples_are_kept_and_they_are_the_worst() {
    let receipts =
        (0..40).map(|at| receipt(at, [&[f64::from(u32::try_from(at).expect("small")) + 30.0, 10.0], &[5.0]]));
    let report = compare(receipts.collect(), contract("1.1.0", Rules { dearest: 8.0, ..RULES }));
    assert_eq!((report.different, report.worst.len()), (40, 10));
    assert!(report.worst.is_sorted_by(|a, b| a.rank_biased_overlap <= b.rank_biased_overlap));
}

proptest! {
    #[test]
    fn a_version_against_itself_differs_in_nothing(
        all in proptest::collection::vec((proptest::collection::vec(0.0_f64..300.0, 0..6), proptest::collection::vec(0.0_f64..300.0, 0..6)), 0..12),
    ) {
        let receipts: Vec<Receipt> = (1..).zip(&all).map(|(number, (alpha, beta))| receipt(number, [alpha, beta])).collect();
        let count = receipts.len() as u64;
        let report = compare_with(receipts, contract("1.0.0", RULES), Baseline::Version(contract("1.0.0", RULES)), Some(DifferenceBudget::default()));
        prop_assert_eq!((report.receipts, report.same, report.different), (count, count, 0));
        prop_assert!(report.budget.is_some_and(|budget| budget.holds));
        prop_assert!(report.rules.is_empty() && report.scores.is_empty() && report.worst.is_empty());
        prop_assert!(report.partners.iter().all(|share| share.places_before == share.places_after));
    }
}

/// Of three workers one dies before it has done anything.
struct OneDies(Turns);

impl Workers for OneDies {
    fn count(&self) -> usize {
        3
    }

    fn run(&self, work: BoxFuture<'static, ()>) -> BoxFuture<'static, ()> {
        match self.spent().as_micros() {
            1 => Box::pin(std::future::ready(())),
            _ => work,
        }
    }

    fn spent(&self) -> Duration {
        self.0.spent()
    }
}

#[test]
fn what_a_lost_worker_had_compared_is_not_passed_over() {
    let journal = Arc::new(MemoryJournal::default());
    some_receipts().into_iter().for_each(|receipt| journal.keep(receipt, None));
    let comparer = Arc::new(Comparer::new(contract("1.1.0", RULES), Baseline::Shown, None, Duration::from_millis(200)));
    let source = Arc::new(KeptReceipts::since(journal, comparer.intent().clone(), START, u64::MAX));
    let ended = block_on(run(comparer, source, Arc::new(OneDies(Turns::default())), Arc::default()));
    assert!(matches!(ended, Err(RunError::WorkersLost(1))));
}
