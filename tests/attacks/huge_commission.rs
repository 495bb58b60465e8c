//! A partner, whose key is in order, reports amounts that no order of its intent costs, until the sums of the ledger would fit
//! nowhere.

use serde_json::{Value, json};

use crate::completion::{Reporter, ac_report, key_of, reporter_entry};
use crate::harness::{Gateway, GatewayOptions, ac_contract};

#[tokio::test(flavor = "multi_thread")]
async fn an_amount_that_no_order_costs_is_not_booked() {
    let options = GatewayOptions {
        partners: vec![reporter_entry("coolcar")],
        contracts: vec![ac_contract()],
        ..GatewayOptions::default()
    };
    let gateway = Gateway::start(&options);
    let reporter = Reporter::new(&gateway.server.url, "coolcar", &key_of("coolcar"));
    let send = async |order: &str, amount: Value| {
        let mut report = ac_report(order, "r-1");
        report["amount_inr"] = amount;
        reporter.report(&report).await
    };
    let refused = send("BK-1", json!(100_000_000_000_u64)).await;
    let violation = &refused.body["error"]["violations"][0];
    assert_eq!(
        (refused.status, &violation["pointer"], &violation["code"]),
        (400, &json!("/amount_inr"), &json!("OUT_OF_RANGE")),
        "{}",
        refused.body
    );
    assert_eq!(gateway.admin_get("/ledger/trial-balance").await["partners"], json!([]));
    // Up to what the contract states it is booked.
    assert_eq!(send("BK-2", json!(10_000_000)).await.status, 200);
    assert_eq!(gateway.admin_get("/ledger/trial-balance").await["partner_receivable_inr"], json!(1_000_000.0));
}
