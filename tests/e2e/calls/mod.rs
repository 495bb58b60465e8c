//! Calls of tools by reference: a booking from search to cancellation, what never reaches a partner, and the policies.

mod policies;

use serde_json::{Value, json};

use crate::harness::{Answer, Gateway, GatewayOptions, PartnerEntry, ac_contract, request, rust_partner};

const INTENT: &str = "/api/v1/intents/auto.book_ac_service/tools";
const CREATE: &str = "create_ac_service_booking";
const CANCEL: &str = "cancel_ac_service_booking";

pub(crate) async fn call(gateway: &Gateway, tool: &str, reference: &str, arguments: Value) -> Answer {
    gateway.post(&format!("{INTENT}/{tool}"), &json!({"reference": reference, "arguments": arguments})).await
}

/// Arguments of a booking, without the slot.
pub(crate) fn booking(request_id: &str) -> Value {
    let request = request();
    json!({
        "request_id": request_id,
        "vehicle": request["vehicle"],
        "ac_issue": request["ac_issue"],
        "contact_phone": "+919876543210",
    })
}

fn with(mut arguments: Value, name: &str, value: &str) -> Value {
    arguments[name] = value.into();
    arguments
}

#[tokio::test(flavor = "multi_thread")]
async fn a_booking_is_made_and_cancelled_by_reference() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let partner = rust_partner("oem", folder.path());
    let gateway = Gateway::start(&GatewayOptions {
        partners: vec![PartnerEntry::new("oem", &partner.url)],
        contracts: vec![ac_contract()],
        ..GatewayOptions::default()
    });
    let found = gateway.found(&request()).await;
    let options = found["options"].as_array().expect("a list");
    let option = options.iter().find(|option| option["bookable"] == true).expect("a bookable option");
    let (reference, slot) = (option["reference"].as_str().expect("a text"), &option["option"]["slot_id"]);

    // What is refused reaches no partner, so the slot is still there afterwards.
    let altered = reference.replacen("auto.book_ac_service.", "auto.book_ac_service.A", 1);
    for (tool, reference, arguments, status, code) in [
        (CREATE, altered.as_str(), booking("r1"), 400, "INVALID_REFERENCE"),
        (CREATE, "", booking("r1"), 400, "INVALID_REFERENCE"),
        (CREATE, reference, with(booking("r1"), "slot_id", "another"), 400, "INVALID_REQUEST"),
        (CREATE, reference, json!({"request_id": "r1"}), 400, "INVALID_REQUEST"),
        (CREATE, reference, json!([]), 400, "INVALID_REQUEST"),
        ("search_ac_service_slots", reference, request(), 404, "NOT_FOUND"),
        ("no_such_tool", reference, booking("r1"), 404, "NOT_FOUND"),
    ] {
        let answer = call(&gateway, tool, reference, arguments).await;
        assert_eq!((answer.status, answer.body["error"]["code"].as_str()), (status, Some(code)), "{}", answer.body);
    }

    let booked = call(&gateway, CREATE, reference, booking("r1")).await;
    assert_eq!(booked.status, 200, "{}", booked.body);
    assert_eq!((&booked.body["payload"]["slot_id"], &booked.body["partner"]), (slot, &json!("oem")));
    assert_eq!((&booked.body["request_id"], &booked.body["tool"]), (&json!("r1"), &json!(CREATE)));
    assert_eq!(booked.body["contract"], found["contract"]);

    // The partner's own refusal keeps its code and the status of the intent's table.
    let taken = call(&gateway, CREATE, reference, booking("r2")).await;
    assert_eq!((taken.status, taken.body["error"]["code"].as_str()), (409, Some("SLOT_GONE")), "{}", taken.body);

    let (reference, booking_id) =
        (booked.body["reference"].as_str().expect("a text"), &booked.body["payload"]["booking_id"]);
    let cancel = json!({"request_id": "r3", "reason_code": "changed_plans"});
    let other = with(cancel.clone(), "booking_id", "another");
    let refused = call(&gateway, CANCEL, reference, other).await;
    assert_eq!(refused.body["error"]["violations"][0]["code"], "NOT_THE_REFERENCE", "{}", refused.body);
    assert_eq!(refused.body["error"]["violations"][0]["pointer"], "/booking_id");
    let cancelled = call(&gateway, CANCEL, reference, cancel).await;
    assert_eq!(cancelled.status, 200, "{}", cancelled.body);
    assert_eq!(&cancelled.body["payload"]["booking_id"], booking_id);
}
