//! The whole way of an order: searched, booked at a real partner, reported, and closed.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Kept, Reporter, ac_report, finding, key_of, receipt, with};
use crate::calls::booking;
use crate::harness::{Gateway, GatewayOptions, PartnerEntry, ac_contract, request, rust_partner};

const TOOLS: &str = "/api/v1/intents/auto.book_ac_service/tools";

#[tokio::test(flavor = "multi_thread")]
async fn an_order_is_booked_reported_and_closed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let partner = rust_partner("oem", folder.path());
    let entry = PartnerEntry { signing_key: Some(key_of("oem")), ..PartnerEntry::new("oem", &partner.url) };
    let options = GatewayOptions { partners: vec![entry], contracts: vec![ac_contract()], ..GatewayOptions::default() };
    let gateway = Gateway::start(&options);
    let kept = Kept::of(gateway.folder.path(), None).await;
    let reporter = Reporter::new(&gateway.server.url, "oem", &key_of("oem"));
    let call = async |tool: &str, reference: &str, arguments: Value| {
        gateway.post(&format!("{TOOLS}/{tool}"), &json!({"reference": reference, "arguments": arguments})).await
    };

    // Booked at once after the search: its receipt need not be kept yet.
    let found = gateway.found(&request()).await;
    let options = found["options"].as_array().expect("a list");
    let option = options.iter().find(|option| option["bookable"] == true).expect("a bookable option");
    let reference = option["reference"].as_str().expect("a text");
    let booked = call("create_ac_service_booking", reference, booking("booking-1")).await;
    assert_eq!((booked.status, &booked.body["order"]["state"]), (200, &json!("booked")), "{}", booked.body);
    let order = &booked.body["order"]["id"];
    assert!(order.as_str().is_some_and(|order| order.starts_with("ord_")), "{order}");
    let again = call("create_ac_service_booking", reference, booking("booking-1")).await;
    assert_eq!(&again.body["order"]["id"], order, "a repeat is about the same order");

    // The report names the booking and the booking's own request, and says what was quoted.
    let payload = &booked.body["payload"];
    let price = &option["option"]["estimated_price"];
    let changes = [
        ("service_scope_performed", option["option"]["service_scope"]["code"].clone()),
        ("amount_inr", price["labour_inr"].clone()),
        ("gst_inr", json!(0)),
        ("tips_inr", json!(0)),
        ("pass_through_inr", json!(0)),
    ];
    let booking_id = payload["booking_id"].as_str().expect("a text");
    let report = with(ac_report(booking_id, "booking-1"), &changes);
    let first = receipt(&reporter.report(&report).await).to_owned();
    assert_eq!(kept.found("oem", booking_id).await, BTreeSet::new(), "it is what was ordered");
    assert_eq!(receipt(&reporter.report(&report).await), first, "it comes again");

    // Under the partner's other name for it, it is not charged again; and no tool goes on with it.
    let other_name = payload["partner_booking_reference"].as_str().expect("a text");
    let twice = reporter.report(&with(ac_report(other_name, "booking-1"), &changes)).await;
    assert_eq!((twice.status, &twice.body["error"]["code"]), (409, &json!("IDEMPOTENCY_CONFLICT")), "{}", twice.body);
    assert_eq!(kept.sound().await.len(), 1);
    let reference = booked.body["reference"].as_str().expect("a text");
    let late = json!({"request_id": "cancel-1", "reason_code": "changed_plans"});
    let refused = call("cancel_ac_service_booking", reference, late).await;
    assert_eq!((refused.status, &refused.body["error"]["violations"][0]["code"]), (400, &json!("OUT_OF_TURN")));

    // What nobody has booked here is found out.
    receipt(&reporter.report(&with(ac_report("BK-NOBODY", "booking-1"), &changes)).await);
    let not_seen = finding("/external_id", "ORDER_NOT_SEEN");
    assert!(kept.found("oem", "BK-NOBODY").await.contains(&not_seen));
}
