//! Every step of the platform team in every state of a connection: those that the states allow, and no others.

use serde_json::{Value, json};

use super::{Business, Platform, manifest};
use crate::calls::booking;
use crate::harness::request;
use crate::scripted::{Behaviour, Scripted};

const STEPS: [&str; 3] = ["switch-on", "suspend", "lift"];

impl Platform {
    /// Tries each of these steps; all must be refused with this status and code and change nothing.
    async fn refuses(&self, business: &Business, steps: &[&str], status: u16, code: &str) {
        for step in steps {
            let before = self.connection(business).await;
            let reason = json!({"reason": "because"});
            let answer = self.post(&business.admin_path(step), self.gateway.admin_token(), reason).await;
            let said = &answer.body["error"]["code"];
            assert_eq!((answer.status, said), (status, &json!(code)), "{step}: {}", answer.body);
            assert_eq!(self.connection(business).await, before, "{step} was refused and changed something");
        }
    }

    async fn connection(&self, business: &Business) -> Value {
        self.get(&business.path("connection"), &business.token).await.body["state"].clone()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_a_state_allows() {
    let platform = Platform::start(None);

    // Nothing is registered: there is nothing to take a step with.
    let nobody = platform.sign_up("ops@nothing.example").await;
    platform.refuses(&nobody, &["switch-on", "suspend", "lift", "probe", "accept-drift"], 404, "NOT_FOUND").await;

    // A probe that fails: the server is off, and every step but another probe is refused.
    let failing = platform.sign_up("ops@failing.example").await;
    let broken = Scripted::start(Behaviour::Status(500)).await;
    let endpoint = json!({"kind": "mcp", "url": broken.url});
    platform.put(&failing.path("connection"), &failing.token, endpoint).await;
    platform.refuses(&failing, &["suspend", "lift"], 409, "WRONG_STATE").await;
    platform.refuses(&failing, &["switch-on"], 409, "NOT_READY").await;
    platform.post(&failing.path("manifest"), &failing.token, manifest(true)).await;
    let probed = platform.admin(&failing.admin_path("probe"), json!({})).await;
    assert_eq!((&probed["ok"], &probed["connection"]["state"]), (&json!(false), &json!("probe_failed")), "{probed}");
    assert!(probed["failure"].is_object() || probed["failures"].is_array(), "the failure is told: {probed}");
    platform.refuses(&failing, &STEPS, 409, "WRONG_STATE").await;

    // Ready in the sandbox; live; suspended; back in the sandbox, where the way begins anew.
    let ready = platform.ready("ops@ready.example").await;
    let business = &ready.business;
    platform.refuses(business, &["suspend", "lift"], 409, "WRONG_STATE").await;
    platform.refuses(business, &["accept-drift"], 409, "NO_DRIFT").await;
    platform.admin(&business.admin_path("switch-on"), json!({})).await;
    platform.refuses(business, &["switch-on", "lift"], 409, "WRONG_STATE").await;
    platform.admin(&business.admin_path("suspend"), json!({"reason": "because"})).await;
    platform.refuses(business, &["switch-on", "suspend"], 409, "WRONG_STATE").await;
    let probed = platform.admin(&business.admin_path("probe"), json!({})).await;
    assert_eq!(probed["connection"]["state"], "suspended", "a probe lifts nothing");
    platform.admin(&business.admin_path("lift"), json!({"reason": "mended"})).await;
    platform.refuses(business, &["suspend", "lift"], 409, "WRONG_STATE").await;
    platform.refuses(business, &["switch-on"], 409, "NOT_READY").await;

    // A step wants its reason.
    for reason in [json!({}), json!({"reason": ""}), json!({"reason": 7}), json!({"reason": "x".repeat(501)})] {
        let path = business.admin_path("suspend");
        let answer = platform.post(&path, platform.gateway.admin_token(), reason.clone()).await;
        assert_eq!(answer.status, 400, "{reason}: {}", answer.body);
    }
}

const TOOLS: &str = "/api/v1/intents/auto.book_ac_service/tools";

impl Platform {
    /// Calls a tool by reference; the status, and the answer.
    async fn call_tool(&self, tool: &str, reference: &Value, arguments: Value) -> (u16, Value) {
        let body = json!({"reference": reference, "arguments": arguments});
        let answer = self.gateway.post(&format!("{TOOLS}/{tool}"), &body).await;
        (answer.status, answer.body)
    }
}

/// Whoever has booked gets out again, though nobody new is sent there.
#[tokio::test(flavor = "multi_thread")]
async fn a_booking_is_cancelled_at_a_partner_that_is_suspended() {
    let platform = Platform::start(None);
    let ready = platform.ready("ops@coolcar.example").await;
    let business = &ready.business;
    platform.admin(&business.admin_path("switch-on"), json!({})).await;
    platform.routed(&[&business.id]).await;
    let found = platform.gateway.found(&request()).await;
    let options = found["options"].as_array().expect("a list");
    let (status, booked) =
        platform.call_tool("create_ac_service_booking", &options[0]["reference"], booking("r1")).await;
    assert_eq!(status, 200, "{booked}");

    platform.admin(&business.admin_path("suspend"), json!({"reason": "because"})).await;
    platform.routed(&[]).await;
    let (status, refused) =
        platform.call_tool("create_ac_service_booking", &options[1]["reference"], booking("r2")).await;
    assert_eq!((status, &refused["error"]["code"]), (409, &json!("PARTNER_GONE")), "{refused}");
    let cancel = json!({"request_id": "r3", "reason_code": "changed_plans"});
    let (status, cancelled) = platform.call_tool("cancel_ac_service_booking", &booked["reference"], cancel).await;
    assert_eq!(status, 200, "{cancelled}");
    assert_eq!(cancelled["payload"]["booking_id"], booked["payload"]["booking_id"]);
}
