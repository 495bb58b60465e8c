//! The one contract behind the surface: its descriptor has something in every list, and it does what the request's `mode`
//! says.

use std::sync::Arc;

use futures_util::FutureExt as _;
use intent_gateway_domain::contract::*;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::{ContractError, ContractFault};
use intent_gateway_domain::id::IntentId;
use intent_gateway_testing::contract::{ScriptedContract, candidates, ranked, refusal, row, violation};
use intent_gateway_testing::orders::with_orders;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::Notify;

/// Digest of its component.
pub(crate) fn digest() -> Digest {
    Digest::of(b"the live component")
}

fn raw(json: &Value) -> Box<RawValue> {
    RawValue::from_string(json.to_string()).expect("valid JSON")
}

/// A descriptor with something in every list, so that the whole of its shape is seen.
fn descriptor() -> Descriptor {
    let strings = |values: &[&str]| values.iter().map(ToString::to_string).collect::<Vec<_>>();
    let mut base = intent_gateway_testing::contract::descriptor("1.2.3");
    let search = base.tools.remove(0);
    let meaning = |meaning: &str, row: PlatformError| PlatformError { meaning: meaning.to_owned(), ..row };
    Descriptor {
        title: "Things".to_owned(),
        tools: vec![Tool {
            retry: RetryPolicy { on_rate_limited: 0, on_server_error: 1 },
            cache_seconds: Some(60),
            request_schema: raw(&json!({ "type": "object" })),
            response_schema: raw(&json!({ "type": "object" })),
            ..search
        }],
        ranking: Ranking {
            signals: vec![Signal { axis: Axis::Time, name: "soon".to_owned(), weight: 1.0 }],
            bands: vec![Band { axis: Axis::Budget, value: "low".to_owned(), factor: 2.0 }],
            ..base.ranking
        },
        vocabularies: vec![Vocabulary { name: "kind".to_owned(), values: strings(&["red", "blue"]) }],
        forbidden_fields: vec![ForbiddenField { breach: Breach::UnlessFalse, ..base.forbidden_fields.remove(0) }],
        errors: vec![
            meaning("Nothing is that near.", row("TOO_FAR", 409, Some((1, 2_000, Backoff::Fixed)))),
            meaning("No failure.", row("JUST_ADVICE", 200, None)),
        ],
        widget: Widget {
            preferred: Some("thing_cards".to_owned()),
            slots: vec![CardSlot { name: "title".to_owned(), source: "name".to_owned() }],
            ..base.widget
        },
        completion: Completion {
            statuses: strings(&["completed"]),
            charged_statuses: strings(&["completed"]),
            amount_max_inr: 1_000_000,
            ..base.completion
        },
        aliases: vec![IntentId::parse("other.seek_things").expect("well formed")],
        order: None,
        data_lifetimes: vec![DataLifetime { data: "certificates".to_owned(), seconds: 3_600 }],
        go_live: vec![
            Requirement {
                code: "TWO_SHELVES".to_owned(),
                text: "There are at least two shelves.".to_owned(),
                check: RequirementCheck::AtLeast(Depth {
                    minimums: vec![Minimum { counted: "shelves".to_owned(), pointer: "/shelf".to_owned(), count: 2 }],
                    within: None,
                }),
                valid_days: None,
            },
            Requirement {
                code: "LICENCE_SEEN".to_owned(),
                text: "The licence has been seen.".to_owned(),
                check: RequirementCheck::ByHand,
                valid_days: Some(365),
            },
        ],
        pairs: strings(&["test.find_boxes"]),
        elsewhere: strings(&["test.repair_things"]),
        ..base
    }
}

/// Holds requests of the mode `wait` until it is opened, and tells when one has arrived.
#[derive(Default)]
pub(crate) struct Gate {
    pub(crate) arrived: Notify,
    pub(crate) open: Notify,
}

/// The contract, with a gate for the requests that wait.
pub(crate) fn contract(gate: &Arc<Gate>) -> ScriptedContract {
    of(descriptor(), gate)
}

/// The same with orders.
pub(crate) fn ordering(gate: &Arc<Gate>) -> ScriptedContract {
    of(with_orders(descriptor()), gate).with_digest(Digest::of(b"1.0.0")).on_check_response(|_, exchange| {
        let payload: Value = serde_json::from_str(exchange.payload).expect("JSON");
        let reference = payload["booking_id"].as_str().map(str::to_owned);
        Ok(CheckedResponse { reference, advisory: None, findings: Vec::new() })
    })
}

fn of(descriptor: Descriptor, gate: &Arc<Gate>) -> ScriptedContract {
    let gate = gate.clone();
    ScriptedContract::new(descriptor)
        .with_digest(digest())
        .with_sample(SearchSample { request: "{}".to_owned(), options: vec![r#"{"thing_id":"t1"}"#.to_owned()] })
        .on_classify(|utterance, locale| Ok(classify(utterance, locale)))
        .on_check_request_later(move |context, _, arguments| check_request(gate.clone(), context, arguments).boxed())
        .on_evaluate(|_, _, payloads| Ok(evaluate(payloads)))
}

fn classify(utterance: &str, locale: &str) -> Classification {
    let elsewhere =
        PointerElsewhere { intent: "test.repair_things".to_owned(), score: 0.3, reason: format!("spoken in {locale}") };
    let evidence = vec![utterance.to_owned()];
    Classification { score: 0.9, evidence, elsewhere: vec![elsewhere], also: Vec::new() }
}

async fn check_request(
    gate: Arc<Gate>,
    context: &CallContext,
    arguments: &str,
) -> Result<PreparedRequest, ContractError> {
    let mut request: Value = serde_json::from_str(arguments).expect("the surface lets only JSON pass");
    let refused = |code: &str| Err(refusal(code, [violation("/a", "REQUIRED"), violation("/b/0", "OUT_OF_RANGE")]));
    match request["mode"].as_str().unwrap_or_default() {
        "invalid" => return refused("INVALID_REQUEST"),
        "too_far" => return refused("TOO_FAR"),
        "just_advice" => return refused("JUST_ADVICE"),
        "trap" => return Err(ContractFault::trap("secret detail").into()),
        "busy" => return Err(ContractFault::Busy(50).into()),
        "panic" => panic!("a handler of the tests panics on purpose"),
        mode @ ("wait" | "wait_too_far") => {
            gate.arrived.notify_one();
            gate.open.notified().await;
            if mode == "wait_too_far" {
                return refused("TOO_FAR");
            }
        }
        "forever" => {
            gate.arrived.notify_one();
            std::future::pending::<()>().await;
        }
        _ => {}
    }
    if request.get("request_id").is_none() {
        request["request_id"] = context.request_id.clone().into();
    }
    Ok(PreparedRequest {
        arguments: raw(&request),
        need: Need { city: request["city"].as_str().map(str::to_owned), ..Need::default() },
        notes: vec![violation("/band", "UNKNOWN_BAND")],
    })
}

fn evaluate(payloads: &[Payload<'_>]) -> Evaluation {
    let mut evaluation = Evaluation::default();
    for candidate in candidates(payloads) {
        let option: Value = serde_json::from_str(candidate.json).expect("an option");
        let id = option["thing_id"].as_str().unwrap_or_default();
        if option["bad"] == true {
            evaluation.dropped.push(DroppedOption {
                number: candidate.number,
                id: Some(id.to_owned()),
                strike: false,
                violations: vec![violation("/bad", "BAD")],
            });
            continue;
        }
        evaluation.ranked.push(RankedOption {
            axes: Axes { time: 0.1, taste: 0.2, budget: 0.3, safety: 0.4 },
            card: raw(&json!({ "title": option["name"] })),
            ..ranked(candidate.number, id, 0.75)
        });
    }
    evaluation
}
