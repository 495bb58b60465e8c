//! Each rule of a way, broken by itself.

use super::*;

fn tool(name: &str, role: wit::ToolRole) -> wit::Tool {
    wit::Tool {
        name: name.to_owned(),
        role,
        purpose: "For tests.".to_owned(),
        latency: wit::LatencyTargets { p50_ms: 1, p95_ms: 2, p99_ms: None },
        rate_per_minute: None,
        idempotency_key: None,
        retry: wit::RetryPolicy { on_rate_limited: 0, on_server_error: 0 },
        cache_seconds: None,
        orders_tool: None,
        request_schema: "{}".to_owned(),
        response_schema: "{}".to_owned(),
    }
}

fn error(code: &str, http_status: u16) -> wit::PlatformError {
    wit::PlatformError { code: code.to_owned(), http_status, meaning: "For tests.".to_owned(), retry: None }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn kept(name: &str, pointer: &str) -> wit::KeptValue {
    let (name, pointer) = (name.to_owned(), pointer.to_owned());
    wit::KeptValue { name, source: wit::OrderSource::Answer, pointer, identifies: false }
}

/// A table at a restaurant: booked, perhaps moved, or given back until it starts.
fn sound() -> wit::OrderWay {
    let state = |name: &str, closed| wit::OrderState {
        name: name.to_owned(),
        meaning: "For tests.".to_owned(),
        closed,
        milestones: vec![wit::Milestone::Confirmed],
    };
    let outcome = |from: &[&str], values: &[&str], state: &str| wit::OrderOutcome {
        from: texts(from),
        pointer: (!values.is_empty()).then(|| "/status".to_owned()),
        values: texts(values),
        state: state.to_owned(),
    };
    let book = wit::OrderStep {
        tool: "book_table".to_owned(),
        opening: wit::Opening::Always,
        states: Vec::new(),
        refusals: Vec::new(),
        deadlines: Vec::new(),
        keeps: vec![
            kept("booking_id", "/booking_id"),
            kept("starts_at", "/starts_at"),
            kept("price_inr", "/price_inr"),
        ],
        outcomes: vec![outcome(&["pending"], &["held"], "held"), outcome(&[], &[], "booked")],
    };
    let cancel = wit::OrderStep {
        tool: "cancel_table".to_owned(),
        opening: wit::Opening::Never,
        states: texts(&["held", "booked"]),
        refusals: vec![wit::OrderRefusal {
            states: texts(&["none", "pending", "cancelled"]),
            code: "TOO_LATE".to_owned(),
            text: "For tests.".to_owned(),
        }],
        deadlines: vec![wit::OrderDeadline {
            kept: "starts_at".to_owned(),
            code: "TOO_LATE".to_owned(),
            text: "For tests.".to_owned(),
        }],
        keeps: Vec::new(),
        outcomes: vec![outcome(&["booked"], &[], "cancelled")],
    };
    wit::OrderWay {
        states: vec![state("held", false), state("booked", false), state("cancelled", true)],
        steps: vec![book, cancel],
        amount: Some("price_inr".to_owned()),
        due_after: Some("starts_at".to_owned()),
        history: texts(&["price_inr", "starts_at"]),
    }
}

/// What is found in the sound way after a change.
fn found(change: impl FnOnce(&mut wit::OrderWay)) -> Vec<String> {
    let mut way = sound();
    change(&mut way);
    let tools = [
        tool("search_tables", wit::ToolRole::Search),
        tool("book_table", wit::ToolRole::Create),
        tool("cancel_table", wit::ToolRole::Cancel),
    ];
    let errors = [error("TOO_LATE", 409), error("FEE_DUE", 200)];
    let statuses = texts(&["completed"]);
    let mut problems = Problems::default();
    checked(&way, &Names { tools: &tools, errors: &errors, statuses: &statuses }, &mut problems);
    problems.0
}

/// Expects just one problem, with these words in it.
#[track_caller]
fn assert_found(change: impl FnOnce(&mut wit::OrderWay), words: &str) {
    let found = found(change);
    assert!(matches!(&found[..], [only] if only.contains(words)), "{words}: {found:?}");
}

#[test]
fn a_sound_way_is_taken_over_as_it_is() {
    assert_eq!(found(|_| {}), [] as [String; 0]);
    let way = convert(&sound());
    assert_eq!(way.step("cancel_table").expect("a step").deadlines[0].kept, "starts_at");
    assert!(way.state("cancelled").expect("a state").closed);
    assert_eq!((way.amount.as_deref(), way.due_after.as_deref()), (Some("price_inr"), Some("starts_at")));
    assert_eq!(way.history, ["price_inr", "starts_at"]);
}

#[test]
fn states_have_names_of_their_own() {
    let renamed = |name: &'static str| {
        move |way: &mut wit::OrderWay| {
            way.states.push(wit::OrderState { name: name.to_owned(), ..way.states[0].clone() });
        }
    };
    assert_found(renamed("In-Kitchen"), "is not in snake_case");
    assert_found(renamed("booked"), "`booked` occurs twice");
    for name in ["pending", "failed", "none"] {
        assert_found(renamed(name), "is a word of the host's");
    }
    assert_found(renamed("completed"), "is a status of completion reports");
}

#[test]
fn steps_are_tools_that_are_no_search_each_once() {
    let another = |name: &'static str| {
        move |way: &mut wit::OrderWay| {
            way.steps.push(wit::OrderStep { tool: name.to_owned(), ..way.steps[1].clone() });
        }
    };
    assert_found(another("search_tables"), "is no tool, or the search");
    assert_found(another("move_table"), "is no tool, or the search");
    assert_found(another("cancel_table"), "`cancel_table` occurs twice");
}

#[test]
fn every_state_that_a_step_names_is_declared() {
    assert_found(|way| way.steps[1].states.push("eaten".to_owned()), "names the state `eaten`");
    assert_found(|way| way.steps[1].states.push("pending".to_owned()), "names the state `pending`");
    assert_found(|way| way.steps[1].refusals[0].states.push("eaten".to_owned()), "names the state `eaten`");
    assert_found(|way| way.steps[1].outcomes[0].from.push("none".to_owned()), "names the state `none`");
    assert_found(|way| way.steps[1].outcomes[0].state = "pending".to_owned(), "names the state `pending`");
}

#[test]
fn no_step_leads_on_from_a_closed_state() {
    assert_found(|way| way.steps[1].states.push("cancelled".to_owned()), "`cancelled`, which is closed");
}

#[test]
fn a_refusal_has_states_and_a_code_that_is_a_failure() {
    assert_found(|way| way.steps[1].refusals[0].states.clear(), "names no state");
    for code in ["FEE_DUE", "UNHEARD_OF"] {
        assert_found(|way| way.steps[1].refusals[0].code = code.to_owned(), "is no failure of the error table");
        assert_found(|way| way.steps[1].deadlines[0].code = code.to_owned(), "is no failure of the error table");
    }
}

#[test]
fn what_is_read_is_named_and_found_by_a_pointer() {
    assert_found(|way| way.steps[0].keeps[0].name = "bookingId".to_owned(), "is not in snake_case");
    assert_found(|way| way.steps[0].keeps[0].name = "starts_at".to_owned(), "`starts_at` occurs twice");
    assert_found(|way| way.steps[0].keeps[0].pointer = "booking_id".to_owned(), "starts with /");
    assert_found(|way| way.steps[0].outcomes[0].pointer = Some(String::new()), "starts with /");
    assert_found(|way| way.steps[0].outcomes[0].values.clear(), "a pointer without values");
    assert_found(|way| way.steps[0].outcomes[1].values.push("held".to_owned()), "values without a pointer");
}

#[test]
fn what_is_used_later_is_kept_by_some_step() {
    assert_found(|way| way.steps[1].deadlines[0].kept = "ends_at".to_owned(), "keeps `ends_at`");
    assert_found(|way| way.amount = Some("total_inr".to_owned()), "keeps `total_inr`");
    assert_found(|way| way.due_after = Some("ends_at".to_owned()), "keeps `ends_at`");
}

#[test]
fn history_names_attributes_that_are_kept_each_once() {
    assert_found(|way| way.history.push("garage".to_owned()), "keeps `garage`, which its history names");
    assert_found(|way| way.history.push("price_inr".to_owned()), "`price_inr` occurs twice");
    assert_found(
        |way| way.steps[0].keeps[2].identifies = true,
        "names `price_inr`, by which the partner knows an order",
    );
    // It identifies where any of the steps that keep it says so.
    let elsewhere = |way: &mut wit::OrderWay| {
        way.steps[1].keeps.push(wit::KeptValue { identifies: true, ..kept("starts_at", "/starts_at") });
    };
    assert_found(elsewhere, "names `starts_at`, by which");
}

#[test]
fn an_order_can_be_opened_and_leads_somewhere() {
    assert_found(|way| way.steps[0].opening = wit::Opening::Never, "no step of `order` opens an order");
    let nowhere = |way: &mut wit::OrderWay| {
        way.steps[0].outcomes.pop();
        way.steps[0].outcomes[0].from = texts(&["held"]);
    };
    assert_found(nowhere, "no outcome of it leads on from `pending`");
}
