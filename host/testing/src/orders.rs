//! Orders, without the calls that make them.

use std::sync::LazyLock;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{
    Descriptor, KeptValue, Milestone, Opening, OrderDeadline, OrderOutcome, OrderSource, OrderState, OrderStep,
    OrderWay, Tool, ToolRole,
};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::order::{Opened, Order, OrderId, OrderedFrom, Owner};
use intent_gateway_domain::user::Asker;
use intent_gateway_domain::vault::Vault;
use serde_json::value::RawValue;

use crate::entropy::vault;
use crate::users::asker;

/// One for all of them, so that no identifier comes twice.
static VAULT: LazyLock<Vault> = LazyLock::new(vault);

/// An order of one user that its partner knows by these identifiers: found under `search`, made under `request`.
///
/// # Panics
/// When partner or intent are none.
#[must_use]
pub fn booked(partner: &str, intent: &str, search: &str, request: &str, identifiers: &[&str], at: Timestamp) -> Order {
    booked_by(&asker("ann"), partner, intent, [search, request], identifiers, at)
}

/// The same of an asker: found under the first request, made under the second.
///
/// # Panics
/// As [`booked`].
#[must_use]
pub fn booked_by(
    asker: &Asker,
    partner: &str,
    intent: &str,
    [search, request]: [&str; 2],
    identifiers: &[&str],
    at: Timestamp,
) -> Order {
    let vault = &*VAULT;
    let opened = Opened {
        id: OrderId::new(vault, at).expect("entropy"),
        partner: PartnerId::parse(partner).expect("well formed"),
        intent: IntentId::parse(intent).expect("well formed"),
        contract: Digest::of(b"1.0.0"),
        owner: Owner::of(vault, asker),
        from: OrderedFrom {
            option_id: "option-1".to_owned(),
            receipt: Some("rank_1".to_owned()),
            number: 0,
            request_id: search.to_owned(),
        },
        request_id: request.to_owned(),
        is_sole: false,
    };
    let mut order = Order::open(opened, at);
    "booked".clone_into(&mut order.state);
    order.identifiers = identifiers.iter().map(|identifier| (*identifier).to_owned()).collect();
    order
}

/// A descriptor with orders, out of one without: `book_thing` opens them, `change_thing` goes on with them, `cancel_thing` ends
/// them before their `start`, and `track_thing` is not a step of them.
///
/// # Panics
/// When it has no tool to go by.
#[must_use]
pub fn with_orders(mut descriptor: Descriptor) -> Descriptor {
    let search = descriptor.tools[0].clone();
    let tool = |name: &str, role, schema: &str| Tool {
        name: name.to_owned(),
        role,
        purpose: format!("{name}."),
        request_schema: RawValue::from_string(schema.to_owned()).expect("JSON"),
        ..search.clone()
    };
    let of_booking = r#"{"properties":{"booking_id":{}}}"#;
    let book = tool("book_thing", ToolRole::Create, r#"{"properties":{"thing_id":{},"request_id":{}}}"#);
    descriptor.tools.extend([
        Tool { idempotency_key: Some("request_id".to_owned()), ..book },
        tool("change_thing", ToolRole::Modify, of_booking),
        tool("cancel_thing", ToolRole::Cancel, of_booking),
        tool("track_thing", ToolRole::Track, of_booking),
    ]);
    descriptor.completion.statuses = ["completed", "no_show"].map(str::to_owned).into();
    descriptor.order = Some(OrderWay {
        states: vec![state("booked", false, &[Milestone::Confirmed]), state("cancelled", true, &[])],
        steps: steps(),
        amount: Some("total_inr".to_owned()),
        due_after: None,
        history: Vec::new(),
    });
    descriptor
}

fn state(name: &str, closed: bool, milestones: &[Milestone]) -> OrderState {
    OrderState { name: name.to_owned(), meaning: format!("It is {name}."), closed, milestones: milestones.to_vec() }
}

fn steps() -> Vec<OrderStep> {
    let kept = |name: &str, source, at: &str, identifies| KeptValue {
        name: name.to_owned(),
        source,
        pointer: at.to_owned(),
        identifies,
    };
    let step = |tool: &str, opening, states: &[&str], to: &str| OrderStep {
        tool: tool.to_owned(),
        opening,
        states: states.iter().map(|state| (*state).to_owned()).collect(),
        refusals: Vec::new(),
        deadlines: Vec::new(),
        keeps: Vec::new(),
        outcomes: vec![OrderOutcome { from: Vec::new(), pointer: None, values: Vec::new(), state: to.to_owned() }],
    };
    let mut book = step("book_thing", Opening::Always, &[], "booked");
    book.keeps = vec![
        kept("booking_id", OrderSource::Answer, "/booking_id", true),
        kept("start", OrderSource::Answer, "/start", false),
        kept("total_inr", OrderSource::Answer, "/total_inr", false),
        kept("colour", OrderSource::Option, "/colour", false),
        kept("note", OrderSource::Arguments, "/note", false),
    ];
    let mut change = step("change_thing", Opening::Never, &["booked"], "booked");
    // What a user may say, too, is not the partner's own word.
    change.keeps = vec![
        kept("colour_wish", OrderSource::Answer, "/colour", false),
        kept("note", OrderSource::Answer, "/note", false),
    ];
    let mut cancel = step("cancel_thing", Opening::Never, &["booked"], "cancelled");
    let (kept, code, text) = ("start".to_owned(), "INVALID_REQUEST".to_owned(), "It has begun.".to_owned());
    cancel.deadlines = vec![OrderDeadline { kept, code, text }];
    vec![book, change, cancel]
}
