//! The ranking knows options, not partners: renaming or reordering them changes nothing.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::harness::{Gateway, GatewayOptions, ac_contract, request};
use crate::scripted::{Behaviour, Scripted};
use crate::search::honest_slots;

const PARTNERS: usize = 3;
const CASES: u32 = 48;

/// Partners whose offers the test deals anew for each case.
struct Table {
    deals: Arc<Mutex<Vec<Vec<Value>>>>,
    gateway: Gateway,
    _partners: Vec<Scripted>,
}

impl Table {
    async fn new() -> Self {
        let deals = Arc::new(Mutex::new(vec![Vec::new(); PARTNERS]));
        let mut partners = Vec::new();
        for index in 0..PARTNERS {
            let deals = deals.clone();
            let behaviour = Behaviour::Computed(Arc::new(move |_| {
                let slots = deals.lock().expect("no test panics while dealing")[index].clone();
                json!({"result_token": "t", "expires_at": "2099-01-01T00:00:00Z", "slots": slots})
            }));
            partners.push(Scripted::start(behaviour).await);
        }
        let entries = partners.iter().enumerate().map(|(index, partner)| partner.entry(&format!("partner-{index}")));
        let gateway = Gateway::start(&GatewayOptions {
            partners: entries.collect(),
            contracts: vec![ac_contract()],
            ..GatewayOptions::default()
        });
        Self { deals, gateway, _partners: partners }
    }

    /// The ranked options, without who offered them, when slot `i` is dealt to partner `hands[i]` in this order.
    async fn ranking(&self, slots: &[Value], order: &[usize], hands: &[usize]) -> Vec<Value> {
        let mut deal = vec![Vec::new(); PARTNERS];
        for &slot in order {
            deal[hands[slot]].push(slots[slot].clone());
        }
        *self.deals.lock().expect("no test panics while dealing") = deal;
        let mut body = request();
        body["request_id"] = "fixed".into();
        let answer = self.gateway.found(&body).await;
        let options = answer["options"].as_array().expect("a list").iter();
        options.map(|option| json!([option["option"], option["total"], option["axes"], option["card"]])).collect()
    }
}

#[test]
fn partners_names_and_order_do_not_count() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let (table, slots) = runtime.block_on(async { (Table::new().await, honest_slots().await) });
    // Some slots alike in everything but their identifier: ties must not lean on the partner either.
    let mut slots: Vec<Value> = slots.into_iter().take(6).collect();
    for copy in 0..3 {
        let mut twin = slots[0].clone();
        twin["slot_id"] = format!("twin-{copy}").into();
        slots.push(twin);
    }
    let count = slots.len();
    let home: Vec<usize> = (0..count).map(|slot| slot % PARTNERS).collect();
    let in_order: Vec<usize> = (0..count).collect();
    let expected = runtime.block_on(table.ranking(&slots, &in_order, &home));
    assert_eq!(expected.len(), count);

    let deal = (Just(in_order).prop_shuffle(), prop::collection::vec(0..PARTNERS, count));
    TestRunner::new(Config { cases: CASES, failure_persistence: None, ..Config::default() })
        .run(&deal, |(order, hands)| {
            prop_assert_eq!(runtime.block_on(table.ranking(&slots, &order, &hands)), expected.clone());
            Ok(())
        })
        .expect("the ranking does not depend on the deal");
}
