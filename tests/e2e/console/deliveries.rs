//! What a partner sees of its completion reports that were refused, and of those that somebody else has sent.

use serde_json::json;

use super::PAGES;
use super::entry::sign_in;
use super::journeys::between;
use crate::calls::booking;
use crate::completion::{Reporter, ac_report};
use crate::harness::{eventually, request};
use crate::onboarding::{Business, INTENT, Platform};

const ORDERS: &str = "/dashboard/orders";

/// Two deliveries that a partner has signed and that are refused, one about its order and one about none, and three that somebody else
/// has sent.
pub(super) async fn refuse_reports(platform: &Platform, business: &Business, booking_id: &str, request_id: &str) {
    let hook = json!({"webhook_url": "https://coolcar.example/hook"});
    let saved = platform.put(&format!("{}/webhook", business.path("credentials")), &business.token, hook).await;
    let key = saved.body["webhook_signing_key"].as_str().unwrap_or_else(|| panic!("{}", saved.body));
    let url = &platform.gateway.server.url;
    let reporter = Reporter::new(url, &business.id, key);
    for order in [booking_id, "BK-NOBODY"] {
        let mut report = ac_report(order, request_id);
        report["amount_inr"] = json!("<b>much");
        report["tips_inr"] = json!("little");
        let refused = reporter.report(&report).await;
        assert_eq!(refused.status, 400, "{}", refused.body);
    }
    let stranger = Reporter::new(url, &business.id, "whsk_not_the_key_of_this_partner");
    for _ in 0..3 {
        let refused = stranger.report(&ac_report("BK-STRANGER", request_id)).await;
        assert_eq!(refused.status, 401, "{}", refused.body);
    }
    // What names nobody counts for nobody.
    let nobody = Reporter::new(url, "ptr_nobody", key);
    assert_eq!(nobody.report(&ac_report("BK-1", request_id)).await.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partner_sees_each_delivery_that_was_refused() {
    let platform = Platform::start_with(None, PAGES);
    let gateway = &platform.gateway;
    let ready = platform.ready("asha@coolcar.example").await;
    let own = &ready.business;
    platform.admin(&own.admin_path("switch-on"), json!({})).await;
    platform.routed(&[&own.id]).await;
    let found = gateway.found(&request()).await;
    let request_id = found["request_id"].as_str().expect("named");
    let mut options = found["options"].as_array().expect("a list").iter();
    let option = options.find(|option| option["bookable"] == true).expect("a bookable option");
    let body = json!({"reference": option["reference"], "arguments": booking(request_id)});
    let booked = gateway.post(&format!("/api/v1/intents/{INTENT}/tools/create_ac_service_booking"), &body).await;
    let booking_id = booked.body["payload"]["booking_id"].as_str().unwrap_or_else(|| panic!("{}", booked.body));
    let mut partner = sign_in(&platform, &own.email, 1).await;
    let page = partner.page(ORDERS).await;
    assert!(page.contains("No report of yours was refused.") && !page.contains("not signed by you"), "{page}");

    refuse_reports(&platform, own, booking_id, request_id).await;
    let page = eventually("the findings are not kept", gateway, async || {
        Some(partner.page(ORDERS).await).filter(|page| page.contains("BK-NOBODY"))
    })
    .await;
    let told = between(&page, "Reports that were refused", "</section>");
    for part in [booking_id, "/tips_inr", "/amount_inr", "you sent", "&#60;b&#62;much", "SIGNATURE_INVALID"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(told.contains("3 came under your name at this gateway") && !page.contains("BK-STRANGER"), "{told}");
    assert_eq!(told.matches("<tr><td><time").count(), 2, "one row for each delivery: {told}");
    let summary = gateway.admin_get(&format!("/partners/{}/findings/summary", own.id)).await;
    assert_eq!(summary["unsigned_reports"]["count"], 3, "{summary}");

    // With its order stands what is about it.
    let order = booked.body["order"]["id"].as_str().expect("an order");
    let page = partner.page(&format!("{ORDERS}/{order}")).await;
    let told = between(&page, "Deliveries that were refused", "</section>");
    assert!(told.contains(booking_id) && told.contains("/amount_inr"), "{told}");

    // Nobody else sees them.
    let other = platform.ready("ravi@otherworkshop.example").await.business;
    let mut other = sign_in(&platform, &other.email, 1).await;
    let page = other.page(ORDERS).await;
    assert!(page.contains("No report of yours was refused.") && !page.contains(booking_id), "{page}");
}
