//! A small descriptor: tea, with each kind of tool and rule.

use intent_gateway_domain::contract::{
    Axes, Axis, Backoff, Band, Breach, CardSlot, Completion, Consequence, Coverage, DataLifetime, Depth, Descriptor,
    ErrorRetry, ForbiddenField, Handling, Judged, KeptValue, LatencyTargets, Milestone, Minimum, Occasion, Opening,
    OrderDeadline, OrderOutcome, OrderRefusal, OrderSource, OrderState, OrderStep, OrderWay, PlatformError, Ranking,
    RequestTest, Requirement, RequirementCheck, RetryPolicy, Rule, SearchShape, Signal, Tool, ToolRole, Vocabulary,
    Widget, Window,
};
use intent_gateway_domain::id::IntentId;
use serde_json::value::RawValue;
use serde_json::{Value, json};

fn raw(json: &Value) -> Box<RawValue> {
    RawValue::from_string(json.to_string()).expect("it is JSON")
}

fn tool(name: &str, role: ToolRole) -> Tool {
    Tool {
        name: name.to_owned(),
        role,
        purpose: "Deals with tea.".to_owned(),
        latency: LatencyTargets { p50_ms: 600, p95_ms: 1_500, p99_ms: Some(3_000) },
        rate_per_minute: Some(60),
        idempotency_key: Some("request_id".to_owned()),
        retry: RetryPolicy { on_rate_limited: 1, on_server_error: 2 },
        cache_seconds: Some(60),
        orders_tool: None,
        request_schema: raw(&json!({"type": "object", "required": ["leaf"], "properties": {
            "leaf": {"type": "string", "enum": ["green", "black"], "description": "The kind of tea."},
            "note": {"type": "string", "maxLength": 80, "description": "Anything else."},
        }})),
        response_schema: raw(&json!({"type": "object", "required": ["offer_id", "cups"], "properties": {
            "cups": {"type": "array", "minItems": 1, "description": "Cup by cup.", "items": {
                "type": "object", "required": ["ml"], "properties": {
                    "ml": {"type": "integer", "minimum": 100, "maximum": 500, "description": "Size | volume."},
                },
            }},
            "offer_id": {"type": "string", "minLength": 1, "description": "The partner's identifier."},
        }})),
    }
}

/// Tea is brewed once it is ordered, and nobody has to pay before it is served.
fn way() -> OrderWay {
    let kept = |name: &str, source, pointer: &str, identifies| KeptValue {
        name: name.to_owned(),
        source,
        pointer: pointer.to_owned(),
        identifies,
    };
    let outcome = OrderOutcome {
        from: vec!["pending".to_owned()],
        pointer: Some("/offer_id".to_owned()),
        values: vec!["o-1".to_owned()],
        state: "brewing".to_owned(),
    };
    let refusal = OrderRefusal {
        states: vec!["none".to_owned(), "brewing".to_owned()],
        code: "RATE_LIMITED".to_owned(),
        text: "The kettle is on.".to_owned(),
    };
    let deadline =
        OrderDeadline { kept: "price_inr".to_owned(), code: "RATE_LIMITED".to_owned(), text: "It is cold.".to_owned() };
    OrderWay {
        states: vec![OrderState {
            name: "brewing".to_owned(),
            meaning: "The tea is brewed.".to_owned(),
            closed: false,
            milestones: vec![Milestone::Confirmed, Milestone::TakenIn],
        }],
        steps: vec![OrderStep {
            tool: "order_tea".to_owned(),
            opening: Opening::First,
            states: vec!["brewing".to_owned()],
            refusals: vec![refusal],
            deadlines: vec![deadline],
            keeps: vec![
                kept("offer_id", OrderSource::Answer, "/offer_id", true),
                kept("price_inr", OrderSource::Option, "/price_inr", false),
            ],
            outcomes: vec![outcome],
        }],
        amount: Some("price_inr".to_owned()),
        due_after: None,
        history: vec!["price_inr".to_owned()],
    }
}

/// A descriptor of `food.order_tea`, with something of everything.
#[must_use]
pub fn small_descriptor() -> Descriptor {
    Descriptor {
        intent: IntentId::parse("food.order_tea").expect("well formed"),
        version: semver::Version::new(1, 2, 0),
        domain: "food".to_owned(),
        agent: "FoodAgent".to_owned(),
        title: "Tea".to_owned(),
        summary: "Orders a pot of tea.".to_owned(),
        search: SearchShape {
            tool: "search_tea".to_owned(),
            options_key: "offers".to_owned(),
            id_key: "offer_id".to_owned(),
            price_pointer: Some("/price_inr".to_owned()),
            max_options: 15,
            empty_code: Some("NO_TEA".to_owned()),
            gone_code: None,
        },
        tools: vec![tool("search_tea", ToolRole::Search), tool("order_tea", ToolRole::Create)],
        ranking: Ranking {
            weights: Axes { time: 0.4, taste: 0.3, budget: 0.2, safety: 0.1 },
            declared_share: 0.2,
            completeness_share: 0.1,
            signals: vec![Signal { axis: Axis::Time, name: "minutes".to_owned(), weight: 1.0 }],
            bands: vec![Band { axis: Axis::Time, value: "fast".to_owned(), factor: 1.5 }],
        },
        vocabularies: vec![Vocabulary {
            name: "leaf".to_owned(),
            values: vec!["green".to_owned(), "black".to_owned()],
        }],
        forbidden_fields: vec![ForbiddenField {
            name: "padded_price".to_owned(),
            breach: Breach::UnlessFalse,
            reason: "Prices are not padded.".to_owned(),
        }],
        rules: vec![Rule {
            code: "COLD".to_owned(),
            judged: Judged::Option,
            consequence: Consequence::Dropped,
            text: "Tea is served hot.".to_owned(),
        }],
        errors: vec![
            PlatformError {
                code: "NO_TEA".to_owned(),
                http_status: 200,
                meaning: "Nothing matches.".to_owned(),
                retry: None,
            },
            PlatformError {
                code: "RATE_LIMITED".to_owned(),
                http_status: 429,
                meaning: "Too many calls.".to_owned(),
                retry: Some(ErrorRetry { times: 1, wait_ms: 2_000, backoff: Backoff::Fixed }),
            },
        ],
        widget: Widget {
            widget_type: "generic_listings".to_owned(),
            preferred: Some("TeaWidget".to_owned()),
            slots: vec![CardSlot { name: "header".to_owned(), source: "offer_id".to_owned() }],
        },
        completion: Completion {
            statuses: vec!["completed".to_owned(), "cancelled".to_owned()],
            charged_statuses: vec!["completed".to_owned()],
            amount_max_inr: 10_000,
            schema: raw(&json!({"type": "object", "required": ["status"], "properties": {
                "status": {"type": "string", "description": "How the order ended."},
            }})),
        },
        aliases: Vec::new(),
        order: Some(way()),
        data_lifetimes: vec![DataLifetime { data: "menus".to_owned(), seconds: 3_600 }],
        go_live: go_live(),
        cues: vec!["tea".to_owned()],
        pairs: vec!["food.order_cake".to_owned()],
        elsewhere: Vec::new(),
    }
}

/// One requirement for each way of checking one.
fn go_live() -> Vec<Requirement> {
    let requirement = |code: &str, text: &str, check| Requirement {
        code: code.to_owned(),
        text: text.to_owned(),
        check,
        valid_days: None,
    };
    let depth = Depth {
        minimums: vec![Minimum { counted: "offers".to_owned(), pointer: String::new(), count: 4 }],
        within: Some(Window { pointer: "/brewed_at".to_owned(), hours: 12 }),
    };
    let green = Occasion {
        text: "green tea".to_owned(),
        pointer: "/leaf".to_owned(),
        test: RequestTest::Equals(json!("green")),
    };
    let handling = Handling { occasions: vec![green], unbroken: vec!["COLD".to_owned()] };
    let coverage = Coverage { pointer: "/leaf".to_owned(), vocabulary: "leaf".to_owned() };
    vec![
        requirement("OFFERS", "There are at least 4 offers in half a day.", RequirementCheck::AtLeast(depth)),
        requirement("LEAVES", "Every leaf can be had.", RequirementCheck::Covers(coverage)),
        requirement("HOT_GREEN_TEA", "Green tea is served hot.", RequirementCheck::Handles(handling)),
        requirement("SEARCH_LATENCY", "Searches are quick.", RequirementCheck::WithinLatency("search_tea".to_owned())),
        requirement("ORDER_LATENCY", "Orders are quick.", RequirementCheck::WithinLatency("order_tea".to_owned())),
        Requirement {
            valid_days: Some(180),
            ..requirement("KITCHEN_SEEN", "The kitchen has been looked at.", RequirementCheck::ByHand)
        },
    ]
}
