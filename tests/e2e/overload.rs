//! More searches at once than a gateway can bear: what it does, it does well, and it says honestly what it does not do.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use serde_json::json;

use crate::harness::{Gateway, GatewayOptions, ac_contract, request};
use crate::scripted::Scripted;
use crate::search::honest_slots;

/// Each asks again as soon as it is answered: many times what may wait without being refused.
const CLIENTS: usize = 400;
const SEARCHES_OF_EACH: usize = 8;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_much_is_refused_and_nobody_is_told_that_there_is_nothing() {
    let partner = Scripted::with_slots(json!(honest_slots().await)).await;
    let gateway = Gateway::start(&GatewayOptions {
        partners: vec![partner.entry("scripted")],
        contracts: vec![ac_contract()],
        ..GatewayOptions::default()
    });
    let body = request();
    let client = async || {
        let mut told = Vec::new();
        for _ in 0..SEARCHES_OF_EACH {
            let answer = gateway.search(&body).await;
            let code = answer.body["error"]["code"].as_str().unwrap_or_default().to_owned();
            let options = answer.body["options"].as_array().map_or(0, Vec::len);
            told.push((answer.status, code, options > 0));
        }
        told
    };
    let watch = async {
        let mut served = Vec::new();
        for _ in 0..10 {
            served.push(gateway.call("GET", "/ready", None, None).await.status);
            served.push(gateway.call("GET", "/api/v1/admin/contracts", Some(gateway.admin_token()), None).await.status);
        }
        served
    };
    let (told, served) = tokio::join!(join_all((0..CLIENTS).map(|_| client())), watch);
    let mut counts: BTreeMap<(u16, String, bool), usize> = BTreeMap::new();
    told.into_iter().flatten().for_each(|answer| *counts.entry(answer).or_default() += 1);

    let found = counts.remove(&(200, String::new(), true)).unwrap_or_default();
    let refused = counts.remove(&(503, "OVERLOADED".to_owned(), false)).unwrap_or_default();
    assert!(counts.is_empty(), "there is no third answer: {counts:?}");
    assert!(found > 0 && refused > 0, "{found} found, {refused} refused");
    assert!(served.iter().all(|status| *status == 200), "{served:?}");

    // The refused ones are counted, and have no line each.
    let metrics = gateway.admin_get("/metrics").await;
    let shed = metrics.as_str().expect("a text").lines().find_map(|line| {
        line.strip_prefix("intent_gateway_requests_shed_total{lane=\"traffic\"} ")?.parse::<usize>().ok()
    });
    assert!(shed.is_some_and(|shed| shed > 0 && shed <= refused), "{shed:?} of {refused}");
    assert!(gateway.log().len() < 64 * 1024, "{} bytes of log", gateway.log().len());
    // And it is over with the load.
    gateway.found(&body).await;
}
