use futures_executor::block_on;
use serde_json::json;
use serde_json::value::RawValue;

use super::world::{INTENT, START, World};
use crate::LookedThrough;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::limits::DAY_MS;
use intent_gateway_domain::money::Paise;
use intent_gateway_domain::order::overdue::{FOUND_AFTER_MS, ORDER_NOT_REPORTED, REMINDED_AFTER_MS};
use intent_gateway_domain::order::{Order, OrderedOption, PENDING};
use intent_gateway_domain::store::{Change, Store as _, Versioned, load};
use intent_gateway_testing::orders::booked;

/// When the orders of these tests are delivered: an hour after the start.
const END: &str = "2026-01-01T06:30:00+05:30";
const END_MS: u64 = 3_600_000;

impl World {
    fn order(&self, partner: &PartnerId, external_id: &str, change: impl FnOnce(&mut Order)) -> Order {
        let mut order = booked(partner.as_str(), INTENT, "req-0", external_id, &[external_id], START);
        order.kept.insert("ends".to_owned(), json!(END));
        change(&mut order);
        let mut kept = Change::default();
        kept.put(&Versioned::new(order.clone()));
        block_on(self.store.commit(kept)).expect("kept");
        order
    }

    fn kept(&self, order: &Order) -> Versioned<Order> {
        block_on(load::<Order>(&*self.store, order.id.as_str())).expect("readable").expect("kept")
    }

    fn look_after(&self) -> LookedThrough {
        block_on(self.onboarding.unreported.look_through()).expect("looked through")
    }

    fn at(&self, after_start_ms: u64) {
        self.outside.clock.set(START.as_ms() + after_start_ms);
    }
}

#[test]
fn a_partner_is_reminded_once_and_then_it_is_a_finding() {
    let world = World::new();
    let account = world.account();
    let order = world.order(&account, "BK-1", |order| {
        order.kept.insert("total".to_owned(), json!(1499.5));
    });
    world.at(END_MS + REMINDED_AFTER_MS - 1);
    assert_eq!(world.look_after(), LookedThrough::default());
    world.mails();
    world.at(END_MS + REMINDED_AFTER_MS);
    assert_eq!(world.look_after(), LookedThrough { noted: 1, found: 0 });
    let mails = world.mails();
    let [mail] = &mails[..] else { panic!("one mail") };
    assert!(mail.text.contains("BK-1") && mail.text.contains(INTENT), "{}", mail.text);
    let noted = world.kept(&order).value.overdue.expect("noted");
    assert_eq!((noted.amount, noted.at_stake), (Some(Paise::new(149_950)), Some(Paise::new(14_995))));
    assert_eq!(world.actions().iter().filter(|action| *action == "orders.overdue").count(), 1);
    // Once.
    world.at(END_MS + FOUND_AFTER_MS - 1);
    assert_eq!(world.look_after(), LookedThrough::default());
    assert_eq!(world.journal.found(), []);
    world.at(END_MS + FOUND_AFTER_MS);
    assert_eq!(world.look_after(), LookedThrough { noted: 0, found: 1 });
    assert_eq!(world.look_after(), LookedThrough::default());
    let found = world.journal.all_findings();
    let [finding] = &found[..] else { panic!("one finding") };
    assert_eq!((finding.violation.code.as_str(), finding.external_id.as_deref()), (ORDER_NOT_REPORTED, Some("BK-1")));
    assert_eq!((&finding.partner, world.mails().len()), (&account, 0), "it is told by mail once");
}

#[test]
fn one_mail_tells_of_all_orders_of_a_partner_and_none_of_others() {
    let world = World::new();
    let account = world.account();
    let configured = PartnerId::parse("configured").expect("sound");
    for number in 0..3 {
        world.order(&account, &format!("BK-{number}"), |_| {});
    }
    world.order(&configured, "OTHER", |_| {});
    world.mails();
    world.at(END_MS + REMINDED_AFTER_MS);
    assert_eq!(world.look_after().noted, 4);
    let mails = world.mails();
    let [mail] = &mails[..] else { panic!("one mail, for the other has no account") };
    assert!((0..3).all(|number| mail.text.contains(&format!("BK-{number}"))), "{}", mail.text);
    assert!(!mail.text.contains("OTHER"));
}

#[test]
fn what_is_closed_in_doubt_or_unknown_is_not_waited_for() {
    let world = World::new();
    let account = world.account();
    world.order(&account, "BK-1", |order| order.is_open = false);
    world.order(&account, "BK-2", |order| PENDING.clone_into(&mut order.state));
    world.order(&account, "BK-3", |order| {
        order.intent = intent_gateway_domain::id::IntentId::parse("test.unknown").expect("sound");
    });
    world.order(&account, "BK-4", |order| order.kept.clear());
    world.at(30 * DAY_MS);
    assert_eq!(world.look_after(), LookedThrough::default());
}

#[test]
fn an_order_that_moves_is_due_anew_and_one_that_closes_is_overdue_no_more() {
    let world = World::new();
    let account = world.account();
    let (moved, closed) = (world.order(&account, "BK-1", |_| {}), world.order(&account, "BK-2", |_| {}));
    world.at(END_MS + REMINDED_AFTER_MS);
    assert_eq!(world.look_after().noted, 2);
    let mut change = Change::default();
    let mut kept = world.kept(&moved);
    kept.value.kept.insert("ends".to_owned(), json!("2026-01-20T00:00:00+05:30"));
    change.put(&kept);
    let mut kept = world.kept(&closed);
    kept.value.is_open = false;
    change.put(&kept);
    block_on(world.store.commit(change)).expect("kept");
    world.at(END_MS + FOUND_AFTER_MS);
    assert_eq!(world.look_after(), LookedThrough::default());
    assert_eq!(world.kept(&moved).value.overdue, None);
    world.at(30 * DAY_MS);
    assert_eq!(world.look_after(), LookedThrough { noted: 1, found: 1 }, "in one look: noted, and long due");
}

#[test]
fn the_price_of_the_option_counts_where_the_order_keeps_no_amount() {
    let world = World::new();
    let account = world.account();
    let order = world.order(&account, "BK-1", |_| {});
    let option = RawValue::from_string(json!({"price_inr": 20}).to_string()).expect("JSON");
    let mut change = Change::default();
    change.put(&Versioned::new(OrderedOption { order: order.id.clone(), option }));
    block_on(world.store.commit(change)).expect("kept");
    world.at(END_MS + REMINDED_AFTER_MS);
    world.look_after();
    assert_eq!(world.kept(&order).value.overdue.and_then(|noted| noted.at_stake), Some(Paise::new(200)));
}
