//! Orders looked at, over fakes.

use std::sync::Arc;

use futures_executor::block_on;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::AnsweredCall;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::money::Paise;
use intent_gateway_domain::order::{ClosingReport, FAILED, Order, OrderedOption, Owner, PENDING};
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::store::{Change, Store as _, Versioned, load};
use intent_gateway_domain::user::{Asker, Orchestrator, Pseudonym};
use intent_gateway_domain::vault::Vault;
use intent_gateway_testing::catalogue::Catalogue;
use intent_gateway_testing::clock::TestClock;
use intent_gateway_testing::contract::{ScriptedContract, descriptor};
use intent_gateway_testing::directory::{GivenPartners, partner};
use intent_gateway_testing::entropy::{Counting, vault};
use intent_gateway_testing::orders::{booked_by, with_orders};
use intent_gateway_testing::store::MemoryStore;
use intent_gateway_testing::users::{UNNAMED, asker, orchestrator};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{FeedError, LOOKED_THROUGH_MAX, OrderFilter, OrderView, Orders};
use crate::reference::{AskerMark, BookingReference, Reference, ReferenceSealer};

const INTENT: &str = "test.find_things";
const NOW: Timestamp = Timestamp::from_ms(1_767_225_600_000);
const ALL: OrderFilter<'static> = OrderFilter::ALL;

struct World {
    store: Arc<MemoryStore>,
    clock: Arc<TestClock>,
    directory: Arc<GivenPartners>,
    orders: Orders,
}

fn sealer() -> ReferenceSealer {
    ReferenceSealer::new(&Secret::new("references"))
}

/// The contract under which `booked_by` opens.
fn contract() -> Arc<ScriptedContract> {
    Arc::new(ScriptedContract::new(with_orders(descriptor("1.0.0"))).with_digest(Digest::of(b"1.0.0")))
}

impl World {
    fn new() -> Self {
        Self::of(contract())
    }

    fn of(contract: Arc<ScriptedContract>) -> Self {
        let (store, clock) = (Arc::new(MemoryStore::default()), TestClock::at(NOW.as_ms()));
        let directory = GivenPartners::of([partner("alpha", &[INTENT])]);
        let orders = Orders {
            store: store.clone(),
            vault: vault(),
            contracts: Catalogue::of([contract]),
            directory: directory.clone(),
            clock: clock.clone(),
            references: sealer(),
        };
        Self { store, clock, directory, orders }
    }

    fn keep(&self, order: &Order) {
        let known = block_on(load::<Order>(&*self.store, order.id.as_str())).expect("read");
        let mut change = Change::default();
        change.put(&Versioned { revision: known.map_or(0, |known| known.revision), value: order.clone() });
        block_on(self.store.commit(change)).expect("kept");
    }

    fn keep_option(&self, order: &Order, option: &Value) {
        let option = RawValue::from_string(option.to_string()).expect("JSON");
        let mut change = Change::default();
        change.put(&Versioned::new(OrderedOption { order: order.id.clone(), option }));
        block_on(self.store.commit(change)).expect("kept");
    }

    fn ids(&self, asker: &Asker, filter: OrderFilter<'_>) -> (Vec<String>, Option<String>) {
        let page = block_on(self.orders.list_of(asker, filter)).expect("read");
        (page.orders.iter().map(|order| order.id.to_string()).collect(), page.next)
    }

    fn view(&self, order: &Order) -> OrderView {
        block_on(self.orders.view(order.clone())).expect("read")
    }

    fn next_tools(&self, order: &Order) -> Vec<String> {
        let next = self.orders.next(&self.view(order), &asker("ann")).expect("it has orders");
        next.tools.into_iter().map(|step| step.tool).collect()
    }
}

/// Opened so many seconds ago.
fn order(of: &Asker, seconds_ago: u64) -> Order {
    let at = NOW.minus_ms(seconds_ago * 1_000);
    booked_by(of, "alpha", INTENT, ["search-1", "booking-1"], &["BK-1"], at)
}

fn ids(orders: &[&Order]) -> Vec<String> {
    orders.iter().map(|order| order.id.to_string()).collect()
}

#[test]
fn an_order_is_its_askers_alone() {
    let world = World::new();
    let (ann, unnamed) = (order(&asker("ann"), 2), order(&UNNAMED, 1));
    world.keep(&ann);
    world.keep(&unnamed);
    assert_eq!(world.ids(&asker("ann"), ALL), (ids(&[&ann]), None));
    assert_eq!(world.ids(&UNNAMED, ALL), (ids(&[&unnamed]), None));
    let elsewhere =
        Asker::new(Orchestrator::new("test-issuer", "another"), Some(&Pseudonym::parse("ann").expect("sound")));
    for stranger in [asker("ben"), elsewhere, UNNAMED.clone()] {
        assert!(!world.ids(&stranger, ALL).0.contains(&ann.id.to_string()));
        assert_eq!(block_on(world.orders.find_of(&stranger, ann.id.as_str())).expect("read"), None);
    }
    assert_eq!(block_on(world.orders.find_of(&asker("ann"), ann.id.as_str())).expect("read"), Some(ann));
    let long = "x".repeat(65);
    for bad in ["", "ord_none", "ord_%00", "\0", "../x", &long] {
        assert_eq!(block_on(world.orders.find_of(&asker("ann"), bad)).expect("read"), None, "{bad}");
    }
}

#[test]
fn pages_go_on_where_the_one_before_ended() {
    let world = World::new();
    let orders: Vec<Order> = (0..7).map(|at| order(&asker("ann"), at)).collect();
    orders.iter().for_each(|order| world.keep(order));
    let (mut seen, mut before) = (Vec::new(), None);
    loop {
        let (page, next) = world.ids(&asker("ann"), OrderFilter { before: before.as_deref(), limit: 3, ..ALL });
        assert!(page.len() <= 3);
        seen.extend(page);
        let Some(next) = next else { break };
        before = Some(next);
    }
    assert_eq!(seen, orders.iter().map(|order| order.id.to_string()).collect::<Vec<_>>(), "newest first, each once");
}

#[test]
fn a_page_looks_through_so_many_and_says_where_to_go_on() {
    let world = World::new();
    let count = u64::from(LOOKED_THROUGH_MAX) + 5;
    for at in 0..count {
        let mut order = order(&asker("ann"), at);
        if at == count - 1 {
            order.state = "rare".to_owned();
        }
        world.keep(&order);
    }
    let rare = OrderFilter { state: Some("rare"), ..ALL };
    let (first, next) = world.ids(&asker("ann"), rare);
    assert_eq!(first.len(), 0);
    let (second, end) = world.ids(&asker("ann"), OrderFilter { before: next.as_deref(), ..rare });
    assert_eq!((second.len(), end), (1, None));
}

#[test]
fn filters_choose() {
    let world = World::new();
    let open = order(&asker("ann"), 1);
    let mut closed = order(&asker("ann"), 2);
    (closed.state, closed.is_open) = ("cancelled".to_owned(), false);
    let mut doubtful = order(&asker("ann"), 3);
    PENDING.clone_into(&mut doubtful.state);
    let mut other = order(&asker("ann"), 4);
    other.intent = intent_gateway_domain::id::IntentId::parse("test.other").expect("well formed");
    [&open, &closed, &doubtful, &other].into_iter().for_each(|order| world.keep(order));
    let of = |filter| world.ids(&asker("ann"), filter).0;
    assert_eq!(of(OrderFilter { is_open: Some(true), ..ALL }), ids(&[&open, &doubtful, &other]));
    assert_eq!(of(OrderFilter { is_open: Some(false), ..ALL }), ids(&[&closed]));
    assert_eq!(of(OrderFilter { state: Some("cancelled"), ..ALL }), ids(&[&closed]));
    assert_eq!(of(OrderFilter { in_doubt: Some(true), ..ALL }), ids(&[&doubtful]));
    assert_eq!(of(OrderFilter { in_doubt: Some(false), intent: Some(INTENT), ..ALL }), ids(&[&open, &closed]));
    assert_eq!(of(OrderFilter { intent: Some("test.other"), ..ALL }), ids(&[&other]));
}

#[test]
fn orders_are_found_after_the_master_key_has_changed() {
    let mut world = World::new();
    let before = order(&asker("ann"), 2);
    world.keep(&before);
    let first = block_on(world.orders.changes(&orchestrator(), None, 10)).expect("read");
    let keys = [Secret::new("n".repeat(32)), Secret::new("m".repeat(32))];
    let rotated = Vault::new(&keys[0], &keys[1..], Arc::new(Counting::default()));
    let mut after = order(&asker("ann"), 1);
    after.owner = Owner::of(&rotated, &asker("ann"));
    world.keep(&after);
    world.orders.vault = rotated;
    assert_eq!(world.ids(&asker("ann"), ALL).0, ids(&[&after, &before]));
    assert!(block_on(world.orders.find_of(&asker("ann"), before.id.as_str())).expect("read").is_some());
    // A cursor from before is good, and both feeds are one.
    let page = block_on(world.orders.changes(&orchestrator(), Some(&first.cursor), 10)).expect("read");
    assert_eq!(page.orders.iter().map(|changed| changed.order.id.clone()).collect::<Vec<_>>(), [after.id.clone()]);
    let all = block_on(world.orders.changes(&orchestrator(), None, 10)).expect("read");
    assert_eq!(all.orders.len(), 2);
}

#[test]
fn changes_are_told_to_their_orchestrator_from_its_cursor_on() {
    let world = World::new();
    let of =
        |cursor: Option<&str>, limit| block_on(world.orders.changes(&orchestrator(), cursor, limit)).expect("read");
    let empty = of(None, 2);
    assert!(empty.orders.is_empty() && !empty.is_full);
    let mut orders = [order(&asker("ann"), 3), order(&asker("ben"), 2), order(&UNNAMED, 1)];
    orders.iter().for_each(|order| world.keep(order));
    let first = of(Some(&empty.cursor), 2);
    assert_eq!(first.orders.iter().map(|changed| &changed.order).collect::<Vec<_>>(), [&orders[0], &orders[1]]);
    assert!(first.is_full);
    let second = of(Some(&first.cursor), 2);
    assert_eq!((second.orders.len(), second.is_full), (1, false));
    assert_eq!(of(Some(&first.orders[0].cursor), 10).orders.len(), 2, "each event has a cursor");
    orders[0].state = "cancelled".to_owned();
    world.keep(&orders[0]);
    let changed = of(Some(&second.cursor), 10);
    assert_eq!(changed.orders.iter().map(|changed| &changed.order).collect::<Vec<_>>(), [&orders[0]]);
    // Another orchestrator has none of them, and may not use a cursor of this one.
    let other = Orchestrator::new("test-issuer", "another");
    assert!(block_on(world.orders.changes(&other, None, 10)).expect("read").orders.is_empty());
    let long = "x".repeat(300);
    for (whose, bad) in
        [(&other, second.cursor.as_str()), (&orchestrator(), ""), (&orchestrator(), "7"), (&orchestrator(), &*long)]
    {
        let refused = block_on(world.orders.changes(whose, Some(bad), 10));
        assert!(matches!(refused, Err(FeedError::InvalidCursor)), "{bad}");
    }
    world.store.break_engine("no disk");
    assert!(matches!(block_on(world.orders.changes(&orchestrator(), None, 10)), Err(FeedError::Store(_))));
}

#[test]
fn next_holds_the_tools_that_have_their_turn() {
    let world = World::new();
    let mut order = order(&asker("ann"), 1);
    assert_eq!(world.next_tools(&order), ["change_thing", "cancel_thing", "track_thing"]);
    order.kept.insert("start".to_owned(), json!("2026-01-01T10:00:00+05:30"));
    let next = world.orders.next(&world.view(&order), &asker("ann")).expect("it has orders");
    let until: Vec<_> = next.tools.iter().map(|step| step.until.map(|until| until.ms_since(NOW))).collect();
    assert_eq!(until, [None, Some(4 * 3_600_000 + 1_800_000), None]);
    world.clock.advance(5 * 3_600_000);
    assert_eq!(world.next_tools(&order), ["change_thing", "track_thing"], "its time is over");
    (order.state, order.is_open) = ("completed".to_owned(), false);
    assert_eq!(world.next_tools(&order), ["track_thing"]);
    PENDING.clone_into(&mut order.state);
    (order.is_open, order.identifiers) = (true, std::collections::BTreeSet::new());
    assert!(world.next_tools(&order).is_empty(), "nothing to follow yet");
}

#[test]
fn tools_that_the_partner_is_not_called_for_any_more_are_left_out() {
    let world = World::new();
    let order = order(&asker("ann"), 1);
    world.directory.stop_routing("alpha");
    assert_eq!(world.next_tools(&order), ["cancel_thing", "track_thing"]);
    let gone = World::new();
    gone.directory.remove("alpha");
    assert!(gone.next_tools(&order).is_empty());
    assert!(gone.view(&order).partner.is_none());
}

#[test]
fn the_reference_is_to_the_order_as_its_partner_calls_it() {
    let world = World::new();
    let mut order = order(&asker("ann"), 1);
    let opened = |order: &Order| {
        let next = world.orders.next(&world.view(order), &asker("ann")).expect("it has orders");
        let Ok(Reference::Booking(booking)) = sealer().open(&next.reference) else { panic!("a booking") };
        booking
    };
    let expected = BookingReference {
        partner: "alpha".to_owned(),
        intent: INTENT.to_owned(),
        contract: Digest::of(b"1.0.0"),
        booking_id: "option-1".to_owned(),
        member: Some("thing_id".to_owned()),
        asker: Some(AskerMark::of(&asker("ann"))),
        option: Some(("rank_1".to_owned(), 0)),
        order: Some(order.id.clone()),
    };
    assert_eq!(opened(&order), expected, "by its option as long as nothing else is known");
    order.kept.insert("booking_id".to_owned(), json!("BK-1"));
    order.answered = vec![AnsweredCall { tool: "book_thing".to_owned(), at_ms: NOW }];
    let (booking_id, member) = ("BK-1".to_owned(), Some("booking_id".to_owned()));
    assert_eq!(opened(&order), BookingReference { booking_id, member, ..expected });
}

#[test]
fn a_view_says_what_the_contract_says() {
    let world = World::new();
    let mut order = order(&asker("ann"), 1);
    world.keep_option(&order, &json!({"thing_id": "option-1", "price_inr": 499.5}));
    let view = world.view(&order);
    assert_eq!((view.meaning(), view.milestones().len()), (Some("It is booked."), 1));
    assert_eq!(view.quoted_amount(), Some(Paise::new(49_950)), "the option's price");
    assert_eq!(view.partner.as_ref().map(|partner| partner.name.as_str()), Some("Partner alpha"));
    order.kept.insert("total_inr".to_owned(), json!(520));
    assert_eq!(world.view(&order).quoted_amount(), Some(Paise::new(52_000)), "what was confirmed comes first");
    for (state, said) in [(PENDING, "no answer yet"), (FAILED, "certainly did nothing")] {
        state.clone_into(&mut order.state);
        assert!(world.view(&order).meaning().is_some_and(|meaning| meaning.contains(said)), "{state}");
    }
    let (external_id, status, receipt) = ("BK-1".to_owned(), "no_show".to_owned(), "rcpt_1".to_owned());
    order.close(ClosingReport { at_ms: NOW, external_id, status, receipt });
    assert!(world.view(&order).meaning().is_some_and(|meaning| meaning.contains("reported")));
    "unheard_of".clone_into(&mut order.state);
    order.report = None;
    assert_eq!(world.view(&order).meaning(), None);
}

#[test]
fn a_partner_is_shown_what_it_has_said_itself() {
    let world = World::new();
    let mut order = order(&asker("ann"), 1);
    let kept = [("booking_id", "BK-1"), ("colour", "red"), ("note", "ring twice"), ("unheard_of", "x")];
    order.kept = kept.map(|(name, value)| (name.to_owned(), json!(value))).into();
    let shown = |world: &World| world.view(&order).kept_of_partner().into_keys().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(shown(&world), ["booking_id", "colour"]);
    // The live contract may tell things apart in another way.
    let other = ScriptedContract::new(with_orders(descriptor("2.0.0"))).with_digest(Digest::of(b"2.0.0"));
    let world = World::of(Arc::new(other));
    assert!(shown(&world).is_empty());
    assert_eq!(world.view(&order).meaning(), Some("It is booked."), "for the meaning it stands in");
}
