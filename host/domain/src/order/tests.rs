use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::progress::AnsweredStep;
use super::turn::{OUT_OF_TURN, TOO_LATE, Turn, check};
use super::*;
use crate::contract::{
    KeptValue, Opening, OrderDeadline, OrderOutcome, OrderRefusal, OrderSource, OrderState, OrderStep, OrderWay,
};
use crate::datetime;
use crate::user::{Asker, Orchestrator, Pseudonym};
use crate::vault::Vault;

fn vault() -> Vault {
    crate::vault::tests::vault("master key", &[])
}

/// The start of a slot, and the time at which everything else happens.
const SLOT: &str = "2026-11-24T10:00:00+05:30";
const NOW: Timestamp = Timestamp::from_ms(1_763_900_000_000);

fn state(name: &str, closed: bool) -> OrderState {
    OrderState { name: name.to_owned(), meaning: String::new(), closed, milestones: Vec::new() }
}

fn kept(name: &str, source: OrderSource, at: &str, identifies: bool) -> KeptValue {
    KeptValue { name: name.to_owned(), source, pointer: at.to_owned(), identifies }
}

fn step(tool: &str, opening: Opening, states: &[&str], to: &str) -> OrderStep {
    OrderStep {
        tool: tool.to_owned(),
        opening,
        states: states.iter().map(|state| (*state).to_owned()).collect(),
        refusals: Vec::new(),
        deadlines: Vec::new(),
        keeps: Vec::new(),
        outcomes: vec![OrderOutcome { from: Vec::new(), pointer: None, values: Vec::new(), state: to.to_owned() }],
    }
}

/// Book, check, change and cancel.
fn way() -> OrderWay {
    let mut book = step("book", Opening::Always, &[], "booked");
    book.keeps = vec![
        kept("booking_id", OrderSource::Answer, "/booking_id", true),
        kept("start", OrderSource::Option, "/start", false),
        kept("note", OrderSource::Arguments, "/note", false),
    ];
    let mut verify = step("verify", Opening::First, &["checking", "checked"], "checked");
    let by_status = |value: &str, to: &str| OrderOutcome {
        from: Vec::new(),
        pointer: Some("/status".to_owned()),
        values: vec![value.to_owned()],
        state: to.to_owned(),
    };
    verify.outcomes = vec![by_status("yes", "checked"), by_status("later", "checking")];
    let mut inspect = step("inspect", Opening::First, &["checking", "checked"], "checking");
    inspect.outcomes[0].from = vec![PENDING.to_owned()];
    let mut cancel = step("cancel", Opening::Never, &["booked", "checked"], "cancelled");
    cancel.deadlines = vec![OrderDeadline {
        kept: "start".to_owned(),
        code: "THING_GONE".to_owned(),
        text: "It has begun.".to_owned(),
    }];
    cancel.refusals = vec![OrderRefusal {
        states: vec![NO_ORDER.to_owned(), "checking".to_owned()],
        code: "CHECK_FIRST".to_owned(),
        text: "Have it checked first.".to_owned(),
    }];
    let states = [("booked", false), ("checking", false), ("checked", false), ("cancelled", true)];
    OrderWay {
        states: states.map(|(name, closed)| state(name, closed)).into(),
        steps: vec![book, verify, inspect, cancel],
        amount: None,
        due_after: None,
        history: vec!["start".to_owned(), "note".to_owned(), "never_kept".to_owned()],
    }
}

fn asker(name: &str) -> Asker {
    let pseudonym = Pseudonym::parse(name).expect("sound");
    Asker::new(Orchestrator::new("issuer", "assistant"), Some(&pseudonym))
}

fn order() -> Order {
    let vault = vault();
    Order::open(
        Opened {
            id: OrderId::new(&vault, NOW).expect("entropy"),
            partner: PartnerId::parse("coolcar").expect("sound"),
            intent: IntentId::parse("test.find_things").expect("sound"),
            contract: Digest::of(b"contract"),
            owner: Owner::of(&vault, &asker("ann")),
            from: OrderedFrom {
                option_id: "o-1".to_owned(),
                receipt: Some("rank_1".to_owned()),
                number: 2,
                request_id: "search-1".to_owned(),
            },
            request_id: "booking-1".to_owned(),
            is_sole: false,
        },
        NOW,
    )
}

/// A tool is called, and answers.
fn answer(order: &mut Order, tool: &str, answer: &Value) -> bool {
    let way = way();
    let (option, arguments) = (json!({ "start": SLOT }).to_string(), json!({"note": "by the gate"}).to_string());
    let answer = answer.to_string();
    let call = AnsweredStep { option: Some(&option), arguments: &arguments, answer: &answer };
    order.begin(tool, "call-1", None, NOW);
    order.take_answer(&way, way.step(tool).expect("declared"), call, NOW.plus_ms(5))
}

fn booked() -> Order {
    let mut order = order();
    assert!(answer(&mut order, "book", &json!({"booking_id": "BK-1"})));
    order
}

fn may(tool: &str, order: Option<&Order>, now: Timestamp) -> Result<Turn, (String, String)> {
    let way = way();
    check(way.step(tool).expect("declared"), order, now)
        .map_err(|refusal| (refusal.code, refusal.violations[0].code.clone()))
}

fn refused(code: &str, violation: &str) -> Result<Turn, (String, String)> {
    Err((code.to_owned(), violation.to_owned()))
}

#[test]
fn an_answer_keeps_what_is_declared_and_leads_on() {
    let order = booked();
    assert_eq!((order.state.as_str(), order.is_open), ("booked", true));
    let expected = json!({"booking_id": "BK-1", "start": SLOT, "note": "by the gate"});
    assert_eq!(json!(order.kept), expected);
    assert_eq!(order.identifiers.iter().collect::<Vec<_>>(), ["BK-1"]);
    let tools: Vec<&str> = order.answered.iter().map(|call| call.tool.as_str()).collect();
    assert_eq!(tools, ["book"]);
    let view = order.view();
    assert_eq!((view.state.as_str(), view.opened_at), ("booked", NOW));
    assert_eq!(serde_json::from_str::<Value>(&view.kept).expect("JSON"), expected);
}

#[test]
fn the_same_answer_again_changes_nothing_and_another_is_taken() {
    let mut order = booked();
    let before = order.state.clone();
    assert!(!answer(&mut order, "book", &json!({"booking_id": "BK-1"})));
    assert_eq!(order.state, before);
    assert_eq!(order.answered.len(), 1);
    // A partner that gives it another identifier is known by both.
    assert!(answer(&mut order, "book", &json!({"booking_id": "BK-2"})));
    assert_eq!(order.identifiers.iter().collect::<Vec<_>>(), ["BK-1", "BK-2"]);
    assert_eq!(order.kept["booking_id"], "BK-2");
}

#[test]
fn which_call_was_the_last() {
    let mut order = order();
    assert!(!order.was_last_called("k-1"));
    order.begin("book", "r", Some("k-1"), NOW);
    order.take_doubt("book", "X", NOW);
    assert!(order.was_last_called("k-1") && !order.was_last_called("k-2"));
    order.begin("cancel", "r", None, NOW);
    assert!(!order.was_last_called("k-1"));
}

#[test]
fn outcomes_go_by_state_and_by_text() {
    let mut order = order();
    assert!(answer(&mut order, "inspect", &json!({})));
    assert_eq!(order.state, "checking");
    assert!(answer(&mut order, "verify", &json!({"status": "yes"})));
    assert_eq!(order.state, "checked");
    assert!(answer(&mut order, "inspect", &json!({})) || order.state == "checked");
    assert_eq!(order.state, "checked", "an inspection later on leads nowhere else");
    assert!(answer(&mut order, "verify", &json!({"status": "later"})));
    assert_eq!(order.state, "checking");
    answer(&mut order, "verify", &json!({"status": 1}));
    assert_eq!(order.state, "checking", "no outcome fits");
}

#[test]
fn what_cannot_be_kept_is_not() {
    let mut order = order();
    let long = "x".repeat(IDENTIFIER_MAX_CHARS + 1);
    answer(&mut order, "book", &json!({ "booking_id": long }));
    assert!(order.identifiers.is_empty(), "too long for an identifier");
    answer(&mut order, "book", &json!({ "booking_id": "x".repeat(3_000) }));
    assert_eq!(order.kept["booking_id"], long, "too long to be kept");
    answer(&mut order, "book", &json!({ "booking_id": null }));
    assert_eq!(order.kept["booking_id"], long, "null is no value");
    for number in 0..100 {
        answer(&mut order, "book", &json!({ "booking_id": format!("BK-{number}") }));
    }
    assert_eq!(order.identifiers.len(), IDENTIFIERS_MAX);
    assert_eq!(order.history.len(), HISTORY_MAX);
    let first = Happening::Called { tool: "book".to_owned(), request_id: "call-1".to_owned(), attempt: None };
    assert_eq!(order.history[0].what, first);
}

#[test]
fn a_call_that_did_nothing_ends_a_new_order_and_no_other() {
    let mut new = order();
    new.begin("book", "r", None, NOW);
    new.take_failure("book", "SLOT_GONE", NOW);
    assert_eq!((new.state.as_str(), new.is_open), (FAILED, false));
    // A refusal of what goes out again tells nothing of the call before.
    let mut again = order();
    again.begin("book", "r", None, NOW);
    again.take_doubt("book", "PARTNER_TIMEOUT", NOW);
    again.begin("book", "r", None, NOW);
    again.take_failure("book", "SLOT_GONE", NOW);
    assert_eq!((again.state.as_str(), again.is_open, again.is_in_doubt(NOW)), (PENDING, true, true));
    let mut order = booked();
    order.begin("cancel", "r", None, NOW);
    order.take_failure("cancel", "INTERNAL_ERROR", NOW);
    assert_eq!((order.state.as_str(), order.is_open), ("booked", true));
}

#[test]
fn an_order_is_in_doubt_once_nobody_can_answer_for_it() {
    let mut order = order();
    order.begin("book", "r", None, NOW);
    assert_eq!(order.under_way(NOW.plus_ms(1)), Some(CALL_SETTLED_MS - 1));
    assert!(!order.is_in_doubt(NOW.plus_ms(CALL_SETTLED_MS - 1)));
    assert!(order.is_in_doubt(NOW.plus_ms(CALL_SETTLED_MS)), "its process is gone");
    order.take_doubt("book", "PARTNER_TIMEOUT", NOW);
    assert!(order.is_in_doubt(NOW));
    assert!(answer(&mut order, "book", &json!({"booking_id": "BK-1"})));
    assert!(!order.is_in_doubt(NOW.plus_ms(CALL_SETTLED_MS * 2)));
}

#[test]
fn a_call_is_under_way_until_its_own_end() {
    let mut order = booked();
    order.begin("cancel", "r", None, NOW);
    // A repeat of the booking is answered meanwhile, and a report comes.
    order.take_doubt("book", "PARTNER_TIMEOUT", NOW);
    order.close(ClosingReport {
        at_ms: NOW,
        external_id: "BK-1".to_owned(),
        status: "completed".to_owned(),
        receipt: "rcpt_1".to_owned(),
    });
    assert!(order.under_way(NOW).is_some());
    order.take_failure("cancel", "SLOT_GONE", NOW);
    assert_eq!(order.under_way(NOW), None);
}

#[test]
fn a_sole_order_holds_its_option_while_it_is_open_and_not_in_doubt() {
    let mut order = order();
    assert_eq!(order.lookup(), None);
    order.is_sole = true;
    let held = order.lookup().expect("holds it");
    assert!(order.names().contains(&held));
    order.begin("book", "r", None, NOW);
    assert_eq!(order.lookup().as_ref(), Some(&held));
    let mut doubtful = order.clone();
    doubtful.give_up_waiting(NOW);
    assert_eq!((doubtful.lookup(), doubtful.is_in_doubt(NOW), doubtful.is_open), (None, true, true));
    assert!(answer(&mut order, "book", &json!({"booking_id": "BK-1"})));
    order.take_doubt("cancel", "PARTNER_TIMEOUT", NOW);
    assert_eq!(order.lookup(), Some(held), "what is doubted is a later call");
    assert!(answer(&mut order, "cancel", &json!({})));
    assert_eq!(order.lookup(), None, "it is closed");
}

/// A way whose bookings are reported after what they keep as `start`, or once they are paid.
fn reported_way(due_after: Option<&str>, paid: bool) -> OrderWay {
    let mut way = way();
    way.due_after = due_after.map(str::to_owned);
    if paid {
        way.states[0].milestones = vec![crate::contract::Milestone::Paid];
    }
    way
}

#[test]
fn a_report_is_due_when_delivery_ends_or_the_user_has_paid() {
    let slot = datetime::end_of(SLOT).expect("a datetime");
    let by_slot = reported_way(Some("start"), false);
    assert_eq!(booked().report_due_at(&by_slot), Some(slot));
    assert_eq!(order().report_due_at(&by_slot), None, "nobody knows whether there is anything to report");
    // Neither declared nor kept: once it is paid, if it ever is.
    for due_after in [None, Some("never_kept")] {
        assert_eq!(booked().report_due_at(&reported_way(due_after, false)), None);
        assert_eq!(booked().report_due_at(&reported_way(due_after, true)), Some(NOW.plus_ms(5)));
    }
    let mut cancelled = booked();
    answer(&mut cancelled, "cancel", &json!({}));
    assert_eq!(cancelled.report_due_at(&by_slot), None);
    let mut reported = booked();
    reported.close(ClosingReport {
        at_ms: NOW,
        external_id: "BK-1".to_owned(),
        status: "booked".to_owned(),
        receipt: "rcpt_1".to_owned(),
    });
    assert_eq!(reported.report_due_at(&by_slot), None);
}

#[test]
fn what_is_not_reported_is_noted_after_a_day_and_found_after_seven() {
    use super::overdue::{FOUND_AFTER_MS, REMINDED_AFTER_MS};
    let (mut order, due) = (booked(), NOW.plus_ms(60_000));
    let (reminded, found) = (due.plus_ms(REMINDED_AFTER_MS), due.plus_ms(FOUND_AFTER_MS));
    assert!(!order.is_newly_overdue(due, reminded.minus_ms(1)));
    assert!(order.is_newly_overdue(due, reminded));
    assert_eq!((order.status(), order.is_overdue()), (Some(OPEN), false));
    let noted = Overdue { due_at_ms: due, amount: None, at_stake: None, noted_at_ms: reminded, found_at_ms: None };
    order.overdue = Some(noted);
    assert!(!order.is_newly_overdue(due, found), "it was told once");
    assert!(order.is_newly_overdue(due.plus_ms(1), found), "its time has changed since");
    assert_eq!((order.status(), order.is_overdue()), (Some(OVERDUE), true));
    assert!(order.names().contains(&name::of_overdue(&order.partner)));
    assert!(!order.is_to_be_found(found.minus_ms(1)) && order.is_to_be_found(found));
    order.overdue.as_mut().expect("noted").found_at_ms = Some(found);
    assert!(!order.is_to_be_found(found));
    answer(&mut order, "cancel", &json!({}));
    assert_eq!((order.status(), order.is_overdue()), (Some(CLOSED), false));
}

#[test]
fn a_report_closes_an_order_in_whatever_state() {
    for mut order in [order(), booked()] {
        let report = ClosingReport {
            at_ms: NOW,
            external_id: "BK-7".to_owned(),
            status: "completed".to_owned(),
            receipt: "rcpt_1".to_owned(),
        };
        order.close(report.clone());
        assert_eq!((order.state.as_str(), order.is_open, order.report.as_ref()), ("completed", false, Some(&report)));
        assert!(order.identifiers.contains("BK-7"));
        // What a tool answers after that is kept, and leads nowhere.
        answer(&mut order, "cancel", &json!({}));
        assert_eq!((order.state.as_str(), order.is_open), ("completed", false));
        assert_eq!(may("cancel", Some(&order), NOW), refused("INVALID_REQUEST", OUT_OF_TURN));
    }
}

#[test]
fn an_order_is_past_once_a_report_has_closed_it() {
    let vault = vault();
    let mut order = booked();
    let past = |user: &str, order: &Order| {
        let mark = Owner::marks(&vault, &asker(user)).remove(0);
        order.names().contains(&name::of_past(&mark, &order.intent))
    };
    assert!(order.past(&way()).is_none() && !past("ann", &order));
    answer(&mut order, "cancel", &json!({}));
    assert!(!order.is_open && order.past(&way()).is_none() && !past("ann", &order), "closed without a report");
    order.close(ClosingReport {
        at_ms: NOW.plus_ms(7),
        external_id: "BK-1".to_owned(),
        status: "no_show".to_owned(),
        receipt: "rcpt_1".to_owned(),
    });
    assert!(past("ann", &order) && !past("bob", &order));
    let told = order.past(&way()).expect("it is past");
    assert_eq!((told.status.as_str(), told.closed_at_ms), ("no_show", NOW.plus_ms(7)));
    assert_eq!(json!(told.attributes), json!({"start": SLOT, "note": "by the gate"}), "what is declared and kept");
}

#[test]
fn whose_turn_it_is() {
    let (new, booked) = (order(), booked());
    assert_eq!(may("book", None, NOW), Ok(Turn::Opens));
    assert_eq!(may("verify", None, NOW), Ok(Turn::Opens));
    assert_eq!(may("cancel", None, NOW), refused("CHECK_FIRST", OUT_OF_TURN));
    assert_eq!(may("cancel", Some(&booked), NOW), Ok(Turn::GoesOn));
    for (tool, order) in [("cancel", &new), ("verify", &new), ("verify", &booked), ("book", &booked)] {
        assert_eq!(may(tool, Some(order), NOW), refused("INVALID_REQUEST", OUT_OF_TURN), "{tool} {}", order.state);
    }
    let mut checking = order();
    answer(&mut checking, "verify", &json!({"status": "later"}));
    assert_eq!(may("cancel", Some(&checking), NOW), refused("CHECK_FIRST", OUT_OF_TURN));
    assert_eq!(may("verify", Some(&checking), NOW), Ok(Turn::GoesOn));
}

#[test]
fn deadlines_are_instants_or_whole_days_in_india() {
    let at = |text: &str| datetime::end_of(text).expect("a time");
    let mut order = booked();
    assert_eq!(may("cancel", Some(&order), at(SLOT).minus_ms(1)), Ok(Turn::GoesOn));
    assert_eq!(may("cancel", Some(&order), at(SLOT)), refused("THING_GONE", TOO_LATE));
    order.kept.insert("start".to_owned(), json!("2026-11-24"));
    let midnight = at("2026-11-25T00:00:00+05:30");
    assert_eq!(may("cancel", Some(&order), midnight.minus_ms(1)), Ok(Turn::GoesOn));
    assert_eq!(may("cancel", Some(&order), midnight), refused("THING_GONE", TOO_LATE));
    for unreadable in [json!("soon"), json!(17), json!(null)] {
        order.kept.insert("start".to_owned(), unreadable);
        assert_eq!(may("cancel", Some(&order), midnight), Ok(Turn::GoesOn));
    }
}

#[test]
fn an_order_is_found_by_all_its_names_and_holds_none_of_its_user() {
    let vault = vault();
    let order = booked();
    let names = order.names();
    let (partner, intent) = (&order.partner, &order.intent);
    let asker_mark = Owner::marks(&vault, &asker("ann")).remove(0);
    for expected in [
        name::of_asker(&asker_mark),
        name::of_orchestrator(&order.owner.orchestrator),
        name::of_partner(partner),
        name::of_option(&asker_mark, partner, &order.from),
        name::of_identifier(partner, intent, "BK-1"),
        name::of_request(partner, intent, "search-1"),
        name::of_request(partner, intent, "booking-1"),
        name::of_anything("BK-1"),
        name::of_anything("search-1"),
        name::of_anything("booking-1"),
        name::of_anything(order.from.receipt.as_ref().expect("shown")),
    ] {
        assert!(names.contains(&expected), "{expected}");
    }
    let stranger = Owner::marks(&vault, &asker("bob")).remove(0);
    assert!(!names.contains(&name::of_asker(&stranger)));
    let kept = serde_json::to_string(&order).expect("JSON");
    assert!(!kept.contains("ann") && !kept.contains("assistant"), "{kept}");
    assert_eq!(serde_json::from_str::<Order>(&kept).expect("reads"), order);
}

#[test]
fn later_orders_have_greater_identifiers() {
    let vault = vault();
    let id = |ms| OrderId::new(&vault, NOW.plus_ms(ms)).expect("entropy");
    assert!(id(0) < id(1) && id(1) < id(1_000_000));
    assert_ne!(id(0), id(0));
    assert_eq!(id(0).as_str().len(), 4 + 12 + 16);
}

proptest! {
    /// Whatever is called and answered, an order is in a state of its own, a declared one, or that of its report; a closed one
    /// stays closed; and no tool has its turn where its step does not allow it.
    #[test]
    fn no_walk_leaves_the_declared_states(walk in prop::collection::vec((0..5_usize, 0..3_usize), 0..40)) {
        let (tools, way) = (["book", "verify", "inspect", "cancel"], way());
        let mut orders: BTreeMap<usize, Order> = BTreeMap::new();
        for (which, how) in walk {
            if which == 4 {
                let report = ClosingReport {
                    at_ms: NOW, external_id: "BK-1".to_owned(), status: "completed".to_owned(), receipt: "r".to_owned(),
                };
                orders.entry(0).or_insert_with(order).close(report);
                continue;
            }
            let step = way.step(tools[which]).expect("declared");
            let known = orders.get(&0);
            let turn = check(step, known, NOW);
            match (&turn, known) {
                (Ok(Turn::Opens), known) => prop_assert!(known.is_none()),
                (Ok(Turn::GoesOn), Some(known)) => prop_assert!(known.is_open && step.states.contains(&known.state)),
                (Ok(Turn::GoesOn), None) => prop_assert!(false),
                (Err(_), _) => continue,
            }
            let order = orders.entry(0).or_insert_with(order);
            let was_open = order.is_open;
            match how {
                0 => { answer(order, tools[which], &json!({"booking_id": "BK-1", "status": "yes"})); }
                1 => { order.begin(tools[which], "r", None, NOW); order.take_failure(tools[which], "X", NOW); }
                _ => { order.begin(tools[which], "r", None, NOW); order.take_doubt(tools[which], "X", NOW); }
            }
            let known = way.state(&order.state);
            let own = [PENDING, FAILED, "completed"].contains(&order.state.as_str());
            prop_assert!(known.is_some() || own, "{}", order.state);
            prop_assert!(was_open || !order.is_open);
            if let Some(known) = known {
                prop_assert_eq!(order.is_open, !known.closed);
            }
        }
    }
}

#[test]
fn an_order_goes_on_without_its_person() {
    let (way, vault) = (way(), vault());
    let book = way.step("book").expect("declared");
    let call = AnsweredStep {
        option: Some(r#"{"start": "later"}"#),
        arguments: r#"{"note": "ring at Asha's"}"#,
        answer: r#"{"booking_id": "B-1"}"#,
    };
    let mut order = order();
    order.begin("book", "r-2", Some("kept under"), NOW);
    assert!(order.take_answer(&way, book, call, NOW));
    assert_eq!(order.attempts().collect::<Vec<_>>(), ["kept under"]);
    let (owner, mut unknown) = (order.owner.clone(), order.clone());
    order.forget_person(&vault, Some(&way));
    let names = |order: &Order| order.kept.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&order), ["booking_id", "start"]);
    assert!(order.owner.asker != owner.asker && order.owner.orchestrator == owner.orchestrator);
    assert!(!order.names().contains(&name::of_asker(&owner.asker)));
    assert_eq!(order.attempts().count(), 0);
    // A call that comes by an old reference brings nothing of the person back.
    order.take_answer(&way, book, call, NOW);
    assert_eq!(names(&order), ["booking_id", "start"]);
    unknown.forget_person(&vault, None);
    assert_eq!(names(&unknown), ["booking_id"], "no contract says where the others are from");
    let text = serde_json::to_string(&order).expect("JSON");
    assert_eq!(serde_json::from_str::<Order>(&text).expect("it reads"), order);
}
