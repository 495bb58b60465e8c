//! An order as everybody sees it on its way: the user's orchestrator, the partner, the platform team; over HTTP, as a stream, and
//! from the command line.

use std::process::Command;

use serde_json::{Value, json};

use super::{Reporter, ac_report, key_of, receipt, with};
use crate::calls::booking;
use crate::harness::{Gateway, GatewayOptions, PartnerEntry, ac_contract, built, request, rust_partner};
use crate::streams::reader::{Reader, Told};

const USER: &str = "user-17";
const SEARCH: &str = "/api/v1/intents/auto.book_ac_service/search";
const TOOLS: &str = "/api/v1/intents/auto.book_ac_service/tools";

/// A gateway with the tokens of those who ask.
struct Asked {
    gateway: Gateway,
    orchestrator: String,
    partner: String,
}

impl Asked {
    fn of(gateway: Gateway) -> Self {
        let orchestrator = gateway.token(&["--role", "orchestrator", "--subject", "assistant"]);
        let partner = gateway.token(&["--role", "partner", "--subject", "oem"]);
        Self { gateway, orchestrator, partner }
    }

    async fn post(&self, path: &str, body: &Value) -> Value {
        let answer = self.gateway.call_for(USER, "POST", path, Some(&self.orchestrator), Some(body)).await;
        assert_eq!(answer.status, 200, "{}\n{}", answer.body, self.gateway.log());
        answer.body
    }

    async fn get_for(&self, user: &str, path: &str) -> (u16, Value) {
        let answer = self.gateway.call_for(user, "GET", path, Some(&self.orchestrator), None).await;
        (answer.status, answer.body)
    }

    /// What a command prints with a token.
    fn run(&self, token: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(built("debug/intent-gateway"));
        let command = command.args(arguments).args(["--gateway", &self.gateway.server.url, "--token", token]);
        let output = command.output().expect("runs");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    }
}

/// Reads on until the order is told in a state; nothing else is told meanwhile.
async fn told(reader: &mut Reader, order: &str, state: &str) -> Told {
    loop {
        let told = reader.expect("order").await;
        assert_eq!(told.data["order"], order);
        if told.data["state"] == state {
            return told;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_is_shown_to_all_whom_it_concerns() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let partner = rust_partner("oem", folder.path());
    let entry = PartnerEntry { signing_key: Some(key_of("oem")), ..PartnerEntry::new("oem", &partner.url) };
    let options = GatewayOptions { partners: vec![entry], contracts: vec![ac_contract()], ..GatewayOptions::default() };
    let asked = Asked::of(Gateway::start(&options));
    let mut reader = Reader::changes(&asked.gateway, &asked.orchestrator, None).await;

    let found = asked.post(SEARCH, &request()).await;
    let shown = found["options"].as_array().expect("a list");
    let option = shown.iter().find(|option| option["bookable"] == true).expect("a bookable option");
    let call = json!({"reference": option["reference"], "arguments": booking("booking-1")});
    let booked = asked.post(&format!("{TOOLS}/create_ac_service_booking"), &call).await;
    let order = booked["order"]["id"].as_str().expect("an order").to_owned();
    let booking_id = booked["payload"]["booking_id"].as_str().expect("a text").to_owned();
    let event = told(&mut reader, &order, "booked").await;
    assert_eq!(
        (&event.data["request_id"], &event.data["search_request_id"]),
        (&json!("booking-1"), &found["request_id"])
    );

    // The user's orchestrator: the list, the order, and what may be done next.
    let (_, list) = asked.get_for(USER, "/api/v1/orders?open=true").await;
    assert_eq!((&list["orders"][0]["id"], &list["orders"][0]["state"]), (&json!(order), &json!("booked")));
    assert_eq!(asked.get_for("user-18", "/api/v1/orders").await.1["orders"], json!([]));
    let path = format!("/api/v1/orders/{order}");
    assert_eq!(asked.get_for("user-18", &path).await.0, 404);
    let (_, detail) = asked.get_for(USER, &path).await;
    assert_eq!(detail["option"], option["option"], "as it was shown");
    assert_eq!((&detail["partner_name"], &detail["ranking_receipt"]), (&json!("oem"), &found["receipt"]));
    assert_eq!(detail["quoted_inr"].as_f64(), booked["payload"]["total_estimate_inr"].as_f64());
    let next = &detail["next"]["tools"][0];
    assert_eq!(next["tool"], "cancel_ac_service_booking");
    assert!(next["until"].is_string() && next["request_schema"]["properties"]["reason_code"].is_object(), "{next}");
    let told_so = asked.run(&asked.orchestrator, &["order", "show", &order, "--user", USER]);
    assert!(told_so.contains("cancel_ac_service_booking") && told_so.contains("reference  bkg_"), "{told_so}");
    let listed = asked.run(&asked.orchestrator, &["order", "list", "--user", USER, "--open"]);
    assert!(listed.contains(&order) && listed.contains(&booking_id), "{listed}");

    let cancel = json!({"request_id": "cancel-1", "reason_code": "changed_plans"});
    let call = json!({"reference": detail["next"]["reference"], "arguments": cancel});
    let cancelled = asked.post(&format!("{TOOLS}/cancel_ac_service_booking"), &call).await;
    assert_eq!(cancelled["order"], json!({"id": order, "state": "cancelled"}));
    let seen = told(&mut reader, &order, "cancelled").await;
    assert_eq!(seen.data["is_open"], false);
    drop(reader);

    // The partner: its own order, by its own name, without the person; and reports it all the same.
    let path = format!("/api/v1/business/tier1/accounts/oem/orders/{booking_id}");
    let own = asked.gateway.call("GET", &path, Some(&asked.partner), None).await;
    assert_eq!((own.status, &own.body["state"]), (200, &json!("cancelled")), "{}", own.body);
    assert!(own.body["expected"]["statuses"].as_array().is_some_and(|statuses| statuses.contains(&json!("completed"))));
    assert!(!own.body.to_string().contains("9876543210"), "{}", own.body);
    let orders = asked.run(&asked.partner, &["partner", "orders", "--order", &booking_id]);
    assert!(orders.contains("report it as") && orders.contains("cancelled (over)"), "{orders}");
    let price = &option["option"]["estimated_price"];
    let changes = [
        ("service_scope_performed", option["option"]["service_scope"]["code"].clone()),
        ("amount_inr", price["labour_inr"].clone()),
        ("gst_inr", json!(0)),
        ("tips_inr", json!(0)),
        ("pass_through_inr", json!(0)),
    ];
    let reporter = Reporter::new(&asked.gateway.server.url, "oem", &key_of("oem"));
    let acknowledged = reporter.report(&with(ac_report(&booking_id, "booking-1"), &changes)).await;
    let entry = receipt(&acknowledged).to_owned();

    // A cursor outlives the process: what happened meanwhile is told by the next one.
    let asked = Asked::of(asked.gateway.restart());
    let mut reader = Reader::changes(&asked.gateway, &asked.orchestrator, Some(&seen)).await;
    told(&mut reader, &order, "completed").await;
    let changed = asked.run(&asked.orchestrator, &["order", "events"]);
    assert!(changed.contains("completed (over)") && changed.contains("from here on: --after "), "{changed}");

    // The platform team: found by the partner's name for it, with its entry and what is odd about it.
    let listed = asked.gateway.admin_get(&format!("/orders?known_as={entry}")).await;
    assert_eq!(listed["orders"][0]["id"], json!(order));
    let record = asked.gateway.admin_get(&format!("/orders/{order}")).await;
    assert_eq!((&record["ledger_receipt"], &record["ranking_receipt"]), (&json!(entry), &found["receipt"]));
    let findings = record["findings"].as_array().expect("a list");
    assert!(findings.iter().any(|finding| finding["violation"]["code"] == "ORDER_NOT_OPEN"), "{record}");
    let whole = asked.run(asked.gateway.admin_token(), &["order", "show", &booking_id]);
    assert!(whole.contains("ORDER_NOT_OPEN") && whole.contains(&entry), "{whole}");
    assert!(!whole.contains("slot_id"), "what was said is shown with --json alone: {whole}");
}
