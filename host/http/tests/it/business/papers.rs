//! What a partner hands in: credentials, webhook, manifest, profile.

use std::collections::BTreeSet;

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{Partner, manifest, post, profile};
use crate::support::{Ask, Gateway, INTENT, refused};

#[tokio::test]
async fn secrets_are_shown_once_and_credentials_give_tokens() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    assert_eq!(partner.get("credentials/*").await.refusal(), refused(404, "NOT_FOUND"));
    let issued = partner.post("credentials/*", json!({})).await.json();
    let secret = issued["client_secret"].as_str().expect("a secret").to_owned();
    let (client_id, customer_id) = (issued["client_id"].as_str(), issued["customer_id"].as_str());
    assert!(client_id.is_some_and(|id| id.starts_with("platform_sandbox_") && id.len() == 41));
    assert!(customer_id.is_some_and(|id| id.starts_with("cust_") && id.len() == 17));
    assert_eq!((&issued["webhook_url"], &issued["webhook_signing_key"]), (&Value::Null, &Value::Null));
    assert_eq!(partner.post("credentials/*", json!({})).await.refusal(), refused(409, "CREDENTIALS_EXIST"));
    let shown = partner.get("credentials/*").await;
    assert_eq!(shown.json()["client_secret"], "(redacted)");
    assert!(!shown.text().contains(&secret) && !partner.get("accounts/*").await.text().contains(&secret));

    let credentials = |secret: &str| json!({ "client_id": client_id, "client_secret": secret });
    let token = async |secret: &str| post(&gateway, "/api/v1/business/token", credentials(secret)).await;
    let entered = token(&secret).await;
    assert_eq!(entered.json()["expires_at"], "2027-01-15T09:00:00Z");
    let by_token = Partner {
        gateway: &gateway,
        id: partner.id.clone(),
        token: entered.json()["token"].as_str().expect("a token").to_owned(),
    };
    assert_eq!(by_token.get("accounts/*").await.status, StatusCode::OK);
    assert_eq!(token("sk_sandbox_nonsense").await.refusal(), refused(401, "INVALID_AUTH"));

    // Without a body and with one; the one before works for a day, or not at all.
    let rotated = partner.send(Ask::new(Method::POST, &partner.path("credentials/*/rotate"))).await.json();
    assert_eq!(rotated["client_secrets"][1]["works_until"], "2027-01-16T08:00:00Z");
    assert_eq!(token(&secret).await.status, StatusCode::OK);
    let at_once = partner.post("credentials/*/rotate", json!({ "at_once": true })).await.json();
    assert_eq!(token(&secret).await.refusal(), refused(401, "INVALID_AUTH"));
    assert_eq!(token(at_once["client_secret"].as_str().expect("a secret")).await.status, StatusCode::OK);
    let wrong = partner.post("credentials/*/rotate", json!({ "at_once": "yes" })).await;
    assert_eq!(wrong.refusal(), refused(400, "INVALID_REQUEST"));
}

#[tokio::test]
async fn the_webhook_brings_a_signing_key_once() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    let rotate = Ask::new(Method::POST, &partner.path("credentials/*/webhook/rotate"));
    assert_eq!(partner.send(rotate.clone()).await.refusal(), refused(404, "NOT_FOUND"));
    partner.post("credentials/*", json!({})).await;
    let plain = partner.put("credentials/*/webhook", json!({ "webhook_url": "http://coolcar.example" })).await;
    assert_eq!(plain.json()["error"]["violations"][0]["pointer"], "/webhook_url");
    let address = json!({ "webhook_url": "https://coolcar.example/hook" });
    let saved = partner.put("credentials/*/webhook", address.clone()).await.json();
    let key = saved["webhook_signing_key"].as_str().expect("a key").to_owned();
    assert!(key.starts_with("whsec_"));
    let same = partner.put("credentials/*/webhook", address).await.json();
    assert_eq!(same["webhook_signing_key"], "(redacted)", "nothing changed");
    let rotated = partner.send(rotate).await.json();
    assert_ne!(rotated["webhook_signing_key"], key.as_str());
    assert_eq!(rotated["webhook_signing_keys"].as_array().map(Vec::len), Some(2));
    let shown = partner.get("credentials/*").await;
    assert_eq!(shown.json()["webhook_url"], "https://coolcar.example/hook");
    assert_eq!(shown.json()["webhook_signing_key"], "(redacted)");
    assert!(!shown.text().contains(&key) && !shown.text().contains("whsec_"));
}

#[tokio::test]
async fn a_manifest_is_refused_with_a_plain_message_and_every_violation() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    let mut wrong = manifest();
    wrong["intents"][0]["pricing"]["min"] = json!(1_000);
    wrong["intents"][0]["service_area"] = json!([]);
    let refusal = partner.post("manifest/*", wrong).await;
    assert_eq!(refusal.refusal(), refused(400, "INVALID_REQUEST"));
    let error = &refusal.json()["error"];
    let message = error["message"].as_str().expect("text");
    assert!(message.contains(INTENT) && message.contains("min"), "{message}");
    assert_eq!(error["violations"].as_array().map(Vec::len), Some(2));
    assert_eq!(partner.get("manifest/*").await.refusal(), refused(404, "NOT_FOUND"), "nothing changed");
    let mut unknown = manifest();
    unknown["intents"][0]["intent"] = json!("test.find_thing");
    assert_eq!(partner.post("manifest/*", unknown).await.refusal(), refused(400, "INVALID_INTENT"));
    for bad in [json!([]), json!("manifest"), json!(null), json!({})] {
        assert_eq!(partner.post("manifest/*", bad).await.refusal(), refused(400, "INVALID_REQUEST"));
    }

    let mut draft = manifest();
    draft["submitForReview"] = json!(false);
    draft["intents"][0]["availability"] = json!("whenever");
    let kept = partner.post("manifest/*", draft).await.json();
    assert_eq!((&kept["status"], &kept["number"], &kept["review"]), (&json!("draft"), &json!(1), &Value::Null));
    let warned = kept["warnings"].as_array().expect("warnings");
    assert!(warned.iter().any(|warning| warning["pointer"] == "/intents/0/availability"), "{warned:?}");
    let sent = partner.post("manifest/*", manifest()).await.json();
    assert_eq!((&sent["status"], &sent["number"]), (&json!("pending_review"), &json!(2)));
    let shown = partner.get("manifest/*").await.json();
    assert_eq!((&shown["latest"]["number"], &shown["approved"]), (&json!(2), &Value::Null));
    assert_eq!(shown["latest"]["manifest"]["businessName"], "CoolCar Service");
    assert_eq!(shown["review"], sent["review"]);
}

#[tokio::test]
async fn a_test_call_answers_with_a_stub() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    let call = async |wish: Value| partner.post("credentials/*/test-call", json!({ "user_intent": wish })).await;
    let answer = call(json!("I need a thing")).await.json();
    assert_eq!((&answer["ok"], &answer["intent"]), (&json!(true), &json!(INTENT)));
    let option = &answer["stub_response"]["options"][0];
    assert!(option["id"].is_string() && option["vehicle_kind"].is_string());
    assert!(option["fare"]["total_inr"].is_u64() && option["eta"]["pickup_minutes"].is_u64());
    assert!(answer["note"].as_str().is_some_and(|note| note.contains("form of a ride")), "{answer}");
    assert_eq!(answer["sample"], json!({ "tool": "search_things", "request": {}, "options": [{ "thing_id": "t1" }] }));
    assert_eq!(call(json!(INTENT)).await.json()["intent"], INTENT);
    let nobody = call(json!("good morning")).await.json();
    assert_eq!((&nobody["ok"], &nobody["intent"]), (&json!(false), &json!("")));
    assert_eq!((&nobody["stub_response"]["options"], &nobody["sample"]), (&json!([]), &Value::Null));
    assert_eq!(call(json!("test.find_thing")).await.refusal(), refused(400, "INVALID_INTENT"));
    for bad in [json!(""), json!(5), json!("x".repeat(2_001)), Value::Null] {
        assert_eq!(call(bad).await.refusal(), refused(400, "INVALID_REQUEST"));
    }
}

#[tokio::test]
async fn a_profile_is_checked() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    let mut wrong = profile();
    wrong["gstin"] = json!("27AAPFU0939F1ZX");
    let refusal = partner.put("accounts/*/profile", wrong).await;
    assert_eq!(refusal.json()["error"]["violations"][0]["pointer"], "/gstin");
    for (member, value, pointer) in [
        ("legal_name", json!(4), "/legal_name"),
        ("legal_entity_type", json!("guild"), "/legal_entity_type"),
        ("licences", json!([{ "kind": "fssai", "number": 7 }]), "/licences/0/number"),
        ("grievance_officer", json!({ "name": "A", "email": "a@b.example" }), "/grievance_officer"),
    ] {
        let mut wrong = profile();
        wrong[member] = value;
        let refusal = partner.put("accounts/*/profile", wrong).await.json();
        assert_eq!(refusal["error"]["violations"][0]["pointer"], pointer, "{refusal}");
    }
    for bad in [json!({}), json!([]), json!({ "legal_name": 4 })] {
        assert_eq!(partner.put("accounts/*/profile", bad).await.refusal(), refused(400, "INVALID_REQUEST"));
    }
    // What cannot be read and what has the wrong form, at every depth, at once and each in its place.
    let all_wrong = json!({
        "legal_name": " ",
        "legal_entity_type": "guild",
        "gstin": "27AAPFU0939F1ZX",
        "licences": [
            { "kind": "passport", "number": "12", "valid_until": "soon" },
            { "kind": "fssai", "number": "1", "valid_until": "31-03-2027" },
            7,
            { "kind": "shop", "number": "x" },
        ],
        "privacy_policy_url": "https://localhost/",
        "grievance_officer": { "name": "", "email": "rao", "phone": 5 },
        "pan": "AAPFU0939F",
    });
    let refusal = partner.put("accounts/*/profile", all_wrong).await.json();
    let found = refusal["error"]["violations"].as_array().expect("violations").clone();
    let places: BTreeSet<&str> = found.iter().map(|one| one["pointer"].as_str().expect("text")).collect();
    assert_eq!(
        places.into_iter().collect::<Vec<_>>(),
        [
            "/grievance_officer/email",
            "/grievance_officer/name",
            "/grievance_officer/phone",
            "/gstin",
            "/legal_entity_type",
            "/legal_name",
            "/licences/0/kind",
            "/licences/0/valid_until",
            "/licences/1/number",
            "/licences/1/valid_until",
            "/licences/2",
            "/licences/3/number",
            "/pan",
            "/privacy_policy_url",
        ]
    );
    let message = |pointer: &str| found.iter().find(|one| one["pointer"] == pointer).expect("found")["message"].clone();
    let forms = "legal_entity_type is one of `private_limited`, `llp`, `partnership`, `proprietorship`, `individual`";
    assert_eq!(message("/legal_entity_type"), format!("{forms}; found \"guild\""));
    // An address whose form is right, and that may not be called, beside something else that is wrong.
    let closed = json!({ "privacy_policy_url": "http://127.0.0.1/privacy" });
    let refusal = partner.put("accounts/*/profile", closed).await.json();
    let last = refusal["error"]["violations"].as_array().and_then(|found| found.last()).expect("violations").clone();
    assert_eq!((&last["pointer"], &last["code"]), (&json!("/privacy_policy_url"), &json!("INVALID_URL")));
    let kept = partner.put("accounts/*/profile", profile()).await.json();
    assert_eq!(kept["profile"]["gstin"], "27AAPFU0939F1ZV");
}

#[tokio::test]
async fn a_business_that_is_reached_by_phone_gets_a_manifest_and_its_limits() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    let path = format!("/api/v1/business/tier2/manifest/{}", partner.id);
    let write = async |form: Value| partner.send(Ask::json(&path, form.to_string())).await;
    let form = json!({
        "business_name": "Asha's Things",
        "legal_name": "Asha Rao",
        "phone": "+91 80 4000-1234",
        "service_area": ["Bengaluru"],
        "services": [{ "intent": INTENT, "pricing": { "min": 100, "max": 900, "currency": "INR" } }],
    });
    let written = write(form.clone()).await.json();
    assert_eq!((&written["tier"], &written["manifest"]["business"]["tier"]), (&json!("tier2"), &json!("tier2")));
    let limits = written["limits"].as_array().expect("limits");
    assert!(limits.iter().any(|limit| limit["code"] == "NOT_SEARCHED"), "{written}");
    assert_eq!(partner.get("manifest/*").await.refusal(), refused(404, "NOT_FOUND"), "nothing was submitted");
    assert_eq!(partner.post("manifest/*", written["submission"].clone()).await.json()["status"], "draft");

    let mut wrong = form;
    wrong["phone"] = json!("later");
    wrong["services"][0]["intent"] = json!("test.find_thing");
    let refusal = write(wrong).await.json();
    let found = refusal["error"]["violations"].as_array().expect("violations");
    let places: Vec<&Value> = found.iter().map(|one| &one["pointer"]).collect();
    assert_eq!(places, ["/phone", "/services/0/intent"]);
    assert_eq!(write(json!([])).await.refusal(), refused(400, "INVALID_REQUEST"));
}

#[tokio::test]
async fn a_mapping_is_tried_on_a_pasted_answer() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    let tool = json!({
        "operation_id": "find", "method": "GET", "path": "/v1/things", "query": {"place": {"$arg": "/city", "default": "Pune"}},
        "response": {"things": {"$each": "/rows", "item": {"thing_id": {"$item": "/id"}}}},
    });
    let body = json!({
        "intent": INTENT, "mapping": {"kind": "rest", "tools": {"search_things": tool}}, "tool": "search_things",
        "arguments": {}, "answer": {"rows": [{"id": "one"}, {}]},
    });
    let tried = partner.post("manifest/*/try", body.clone()).await;
    assert_eq!(tried.status, StatusCode::OK, "{}", tried.text());
    let tried = tried.json();
    assert_eq!(tried["request"]["target"], "/v1/things?place=Pune");
    assert_eq!(tried["payload"]["things"][0]["thing_id"], "one");
    let unmapped = tried["options"].as_array().expect("a list").iter().find(|option| option["position"] == 1);
    assert_eq!(unmapped.expect("dropped")["violations"][0]["code"], "ITEM_NOT_MAPPED");

    let with = |at: &str, value: Value| {
        let mut body = body.clone();
        body[at] = value;
        body
    };
    let pasted = partner.post("manifest/*/try", with("answer", json!("<html>"))).await.json();
    assert_eq!(pasted["passed"], false);
    let said = pasted["failure"]["message"].as_str().expect("a text");
    assert!(said.ends_with("it is HTML, expected JSON"), "{said}");

    let unknown = partner.post("manifest/*/try", with("intent", json!("test.other"))).await;
    assert_eq!(unknown.refusal(), refused(400, "INVALID_INTENT"));
    let broken = partner.post("manifest/*/try", with("mapping", json!({"kind": "soap"}))).await;
    assert_eq!(broken.json()["error"]["violations"][0]["pointer"], "/mapping/kind");
    let no_tool = partner.post("manifest/*/try", with("tool", json!("fly"))).await;
    assert_eq!(no_tool.json()["error"]["violations"][0]["pointer"], "/tool");
}
