//! What a user took before, in a later ranking: booked, reported, searched again, replayed.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Reporter, ac_report, key_of, receipt, with};
use crate::calls::booking;
use crate::harness::{Answer, Gateway, GatewayOptions, PartnerEntry, ac_contract, eventually, request, rust_partner};

const INTENT: &str = "/api/v1/intents/auto.book_ac_service";
const GARAGE: &str = "multi_brand_garage";
const WORKSHOP: &str = "oem_authorised";

async fn post(gateway: &Gateway, user: Option<&str>, path: &str, body: &Value) -> Answer {
    let (path, token) = (format!("{INTENT}/{path}"), Some(gateway.orchestrator_token()));
    let answer = match user {
        Some(user) => gateway.call_for(user, "POST", &path, token, Some(body)).await,
        None => gateway.call("POST", &path, token, Some(body)).await,
    };
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer
}

/// The options of one more search, best first.
async fn found(gateway: &Gateway, user: Option<&str>, request_id: &str) -> Value {
    let mut body = request();
    body["request_id"] = request_id.into();
    post(gateway, user, "search", &body).await.body
}

/// The taste of each slot, and the kind of its provider.
fn tastes(found: &Value) -> BTreeMap<String, (String, f64)> {
    let taste = |option: &Value| {
        let slot = &option["option"];
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let taste = option["axes"]["taste"].as_f64().expect("a number");
        (text(&slot["slot_id"]), (text(&slot["provider"]["provider_type"]), taste))
    };
    found["options"].as_array().expect("a list").iter().map(taste).collect()
}

/// The receipt of a ranking, once it is kept, and whether it replays to the bit.
async fn kept(gateway: &Gateway, found: &Value) -> (Value, bool) {
    let path = format!("/api/v1/admin/receipts/{}", found["receipt"].as_str().expect("an identifier"));
    let kept = eventually("the receipt is not kept", gateway, async || {
        let answer = gateway.call("GET", &path, Some(gateway.admin_token()), None).await;
        (answer.status == 200).then_some(answer.body)
    });
    let kept = kept.await;
    let replayed = gateway.call("POST", &format!("{path}/replay"), Some(gateway.admin_token()), None).await;
    (kept, replayed.body["same"] == true)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_user_took_before_moves_the_ranking_and_replays() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let servers = ["oem", "garage"].map(|catalogue| rust_partner(catalogue, folder.path()));
    let entries = ["oem", "garage"].into_iter().zip(&servers);
    let partners = entries
        .map(|(id, server)| PartnerEntry { signing_key: Some(key_of(id)), ..PartnerEntry::new(id, &server.url) });
    let options =
        GatewayOptions { partners: partners.collect(), contracts: vec![ac_contract()], ..GatewayOptions::default() };
    let gateway = Gateway::start(&options);
    let ann = Some("ann");

    let first = found(&gateway, ann, "search-1").await;
    let before = tastes(&first);
    for kind in [GARAGE, WORKSHOP] {
        assert!(before.values().any(|(own, _)| own == kind), "{kind}: {before:?}");
    }
    let options = first["options"].as_array().expect("a list");
    let is_garages = |option: &&Value| option["option"]["provider"]["provider_type"] == GARAGE;
    let option = options.iter().filter(is_garages).find(|option| option["bookable"] == true).expect("a bookable one");
    let body = json!({"reference": option["reference"], "arguments": booking("booking-1")});
    let booked = post(&gateway, ann, "tools/create_ac_service_booking", &body).await.body;

    // An open order is not a history.
    let open = found(&gateway, ann, "search-2").await;
    assert_eq!(kept(&gateway, &open).await.0["history"], json!([]));

    let price = &option["option"]["estimated_price"];
    let changes = [
        ("service_scope_performed", option["option"]["service_scope"]["code"].clone()),
        ("amount_inr", price["labour_inr"].clone()),
        ("gst_inr", json!(0)),
        ("tips_inr", json!(0)),
        ("pass_through_inr", json!(0)),
    ];
    let booking_id = booked["payload"]["booking_id"].as_str().expect("a text");
    let reporter = Reporter::new(&gateway.server.url, "garage", &key_of("garage"));
    receipt(&reporter.report(&with(ac_report(booking_id, "booking-1"), &changes)).await);

    let second = found(&gateway, ann, "search-3").await;
    let after = tastes(&second);
    let mut moved = 0;
    for (slot, (kind, taste)) in &after {
        let Some((_, earlier)) = before.get(slot) else { continue };
        match kind.as_str() {
            GARAGE => assert!(taste > earlier, "{slot}: {earlier} {taste}"),
            _ => assert!(taste < earlier, "{slot} of {kind}: {earlier} {taste}"),
        }
        moved += 1;
    }
    assert!(moved > 2, "{before:?} {after:?}");
    let (ranking, is_same) = kept(&gateway, &second).await;
    assert!(is_same, "{ranking}");
    let [past] = &ranking["history"].as_array().expect("a list")[..] else { panic!("{}", ranking["history"]) };
    let attributes = json!({"provider_type": GARAGE});
    assert_eq!((&past["status"], &past["attributes"]), (&json!("completed"), &attributes));
    assert!(past["closed_at_ms"].is_u64() && past.as_object().is_some_and(|members| members.len() == 3), "{past}");
    assert!(!ranking.to_string().contains("\"ann\""));

    // Nobody else's ranking goes by it.
    for (user, request_id) in [(Some("bob"), "search-4"), (None, "search-5")] {
        let found = found(&gateway, user, request_id).await;
        for (slot, (_, taste)) in tastes(&found) {
            assert!(before.get(&slot).is_none_or(|(_, earlier)| *earlier == taste), "{slot}");
        }
        let (ranking, is_same) = kept(&gateway, &found).await;
        assert!(ranking["history"] == json!([]) && is_same, "{user:?}: {ranking}");
    }
}
