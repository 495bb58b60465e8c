//! Receipts without their persons, over contracts that are functions.

use futures_util::StreamExt as _;
use intent_gateway_domain::contract::Descriptor;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::vault::Vault;
use intent_gateway_testing::catalogue::Catalogue;
use intent_gateway_testing::entropy::{NoRandomness, vault};
use intent_gateway_testing::users::user;

use super::*;
use crate::{CodeCount, ExportError, ExportEvent, ExportOrder, ExportSummary, Exports, USERS_MIN};

/// Ranks as [`RULES`] say, and takes out what is offered for another city than that of the request.
fn of_city(version: &str) -> ScriptedContract {
    let schema = json!({"type": "object", "properties": {
        "city": {"type": "string"}, "name": {"type": "string"}, "km": {"type": "integer"}, "kind": {"enum": ["a", "b"]},
    }});
    let mut described: Descriptor = descriptor(version);
    let tool = described.search.tool.clone();
    let search = described.tools.iter_mut().find(|one| one.name == tool).expect("a search");
    search.request_schema = RawValue::from_string(schema.to_string()).expect("JSON");
    ScriptedContract::new(described)
        .on_check_request(|context, _, arguments| {
            let read: Value = serde_json::from_str(arguments).expect("JSON");
            if read["km"].as_u64() == Some(99_000) {
                return Err(refusal("TOO_FAR", []));
            }
            Ok(accept_any_request(context, arguments))
        })
        .on_evaluate(|_, arguments, payloads| {
            let read: Value = serde_json::from_str(arguments).expect("JSON");
            let mut evaluation = evaluate(RULES, payloads);
            let elsewhere: Vec<u32> = candidates(payloads)
                .filter(|option| {
                    let option: Value = serde_json::from_str(option.json).expect("JSON");
                    option["city"] != read["city"]
                })
                .map(|option| option.number)
                .collect();
            evaluation.ranked.retain(|ranked| !elsewhere.contains(&ranked.number));
            Ok(evaluation)
        })
}

/// A receipt of one user, whose options are said to be in the city that was asked for.
fn asked(number: u64, arguments: &Value, contract: &dyn Contract) -> Receipt {
    let mut receipt = receipt(number, [&[10.0, 20.0], &[30.0]]);
    for candidate in receipt.payloads.iter_mut().flat_map(|payload| &mut payload.candidates) {
        let mut option: Value = serde_json::from_str(candidate.json.get()).expect("JSON");
        option["city"] = arguments["city"].clone();
        option["for"] = json!(format!("Offer for {}!", arguments["name"].as_str().unwrap_or_default()));
        candidate.json = RawValue::from_string(option.to_string()).expect("JSON");
    }
    receipt.arguments = RawValue::from_string(arguments.to_string()).expect("JSON");
    receipt.bookable_until_ms = Some(START);
    let past = json!({"status": "completed", "closed_at_ms": START.as_ms(), "attributes": {"for": arguments["name"]}});
    receipt.history = vec![serde_json::from_value(past).expect("a past order")];
    receipt.contract = contract.digest();
    receipt.request_id = format!("request-of-{}", arguments["name"].as_str().unwrap_or_default());
    receipt
}

struct Kept {
    journal: Arc<MemoryJournal>,
    contract: Arc<ScriptedContract>,
}

impl Kept {
    fn new() -> Self {
        Self { journal: Arc::default(), contract: Arc::new(of_city("1.0.0")) }
    }

    fn keep(&self, number: u64, who: Option<&str>, arguments: &Value) {
        self.journal.keep(asked(number, arguments, &*self.contract), who.map(user).as_ref());
    }

    fn export(&self, limit: u64) -> (Vec<Receipt>, ExportSummary) {
        let catalogue = Catalogue::of([self.contract.clone()]);
        let exports = Exports::new(catalogue, self.journal.clone(), Arc::new(Turns::default()), vault());
        let order = ExportOrder { intent: IntentId::parse(INTENT).expect("an intent"), since: START, limit };
        let events: Vec<ExportEvent> = block_on(exports.begin(order).expect("it begins").collect());
        let mut receipts = Vec::new();
        let mut events = events.into_iter();
        for event in events.by_ref() {
            match event {
                ExportEvent::Counted(_) => assert!(receipts.is_empty(), "counting comes first"),
                ExportEvent::Receipt(receipt) => receipts.push(*receipt),
                ExportEvent::Done(summary) => {
                    assert!(events.next().is_none(), "nothing comes after the end");
                    return (receipts, summary);
                }
                ExportEvent::Failed(error) => panic!("{error}"),
            }
        }
        panic!("there was no end");
    }
}

#[test]
fn what_few_have_given_is_replaced_and_the_ranking_holds() {
    let kept = Kept::new();
    let names = ["Asha Rao", "Binod Sen", "Chitra Das", "Dev Anand", "Esha Pal"];
    for (number, name) in (1..).zip(names) {
        let arguments = json!({"city": "Pune", "name": name, "km": 48_213 + number, "kind": "a", "more": name});
        kept.keep(number, Some(&format!("user-{number}")), &arguments);
    }
    // Of a city that one user has named, however often.
    for number in 6..16 {
        kept.keep(number, Some("Fatima"), &json!({"city": "Nashik", "name": "Fatima Khan", "kind": "b"}));
    }
    let (receipts, summary) = kept.export(u64::MAX);
    assert_eq!(summary, ExportSummary { receipts: 15, changed: 0, left_out: vec![] });
    let all = serde_json::to_string(&receipts).expect("JSON");
    for gone in names.into_iter().chain(["Fatima", "Nashik", "48213", "48214", "more"]) {
        assert!(!all.contains(gone), "{gone} is still there: {all}");
    }
    let of_pune = receipts.iter().filter(|receipt| receipt.arguments.get().contains("Pune"));
    assert_eq!(of_pune.count(), USERS_MIN, "many have named it");
    for receipt in &receipts {
        let arguments: Value = serde_json::from_str(receipt.arguments.get()).expect("JSON");
        let option: Value = serde_json::from_str(receipt.payloads[0].candidates[0].json.get()).expect("JSON");
        assert_eq!(option["city"], arguments["city"]);
        assert_eq!(option["for"], json!(format!("Offer for {}!", arguments["name"].as_str().expect("a name"))));
        assert!(arguments["km"].is_null() || arguments["km"] == json!(48_000));
        assert_eq!(receipt.ranked.len(), 3);
        let judged = block_on(crate::Judged::anew(receipt, &*kept.contract));
        assert_eq!(judged, crate::Judged::of_receipt(receipt), "it can be ranked again");
        assert_eq!(receipt.bookable_until_ms, None);
    }
    let mut ids: Vec<&str> = receipts.iter().map(|receipt| receipt.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 15, "each has a name of its own");
}

#[test]
fn searches_without_a_user_count_as_one() {
    let kept = Kept::new();
    for number in 0..20 {
        kept.keep(number, None, &json!({"city": "Pune", "name": "Asha Rao"}));
    }
    let (receipts, _) = kept.export(u64::MAX);
    assert!(receipts.iter().all(|receipt| !receipt.arguments.get().contains("Pune")));
}

#[test]
fn what_cannot_be_ranked_again_is_left_out_by_its_code() {
    let kept = Kept::new();
    kept.keep(1, Some("a"), &json!({"city": "Pune", "name": "Asha Rao", "km": 98_765}));
    kept.keep(2, Some("b"), &json!({"city": "Pune", "name": "Binod Sen", "km": 5}));
    let mut of_another = asked(3, &json!({"city": "Pune", "name": "x"}), &*kept.contract);
    of_another.contract = intent_gateway_domain::digest::Digest::of(b"gone");
    kept.journal.keep(of_another, None);
    let (receipts, summary) = kept.export(u64::MAX);
    assert_eq!(receipts.len(), 1);
    let left = |code: &str| CodeCount { code: code.to_owned(), count: 1 };
    assert_eq!(summary.left_out, [left("CONTRACT_GONE"), left("TOO_FAR")]);
    assert_eq!(kept.export(1).1, ExportSummary { receipts: 0, changed: 0, left_out: vec![left("CONTRACT_GONE")] });
}

#[test]
fn one_export_at_a_time_and_none_without_a_key() {
    let kept = Kept::new();
    let exports = |vault| {
        let catalogue = Catalogue::of([kept.contract.clone()]);
        Exports::new(catalogue, kept.journal.clone(), Arc::new(Turns::default()), vault)
    };
    let order = || ExportOrder { intent: IntentId::parse(INTENT).expect("an intent"), since: START, limit: 1 };
    let ready = exports(vault());
    let first = ready.begin(order()).expect("it begins");
    assert!(matches!(ready.begin(order()), Err(ExportError::UnderWay)));
    drop(first);
    assert!(ready.begin(order()).is_ok(), "whoever goes away gives the turn back");
    let without = exports(Vault::new(&Secret::new("m".repeat(32)), &[], Arc::new(NoRandomness)));
    assert!(matches!(without.begin(order()), Err(ExportError::NoEntropy(_))));
    assert!(matches!(without.begin(order()), Err(ExportError::NoEntropy(_))), "the turn was given back");
}
