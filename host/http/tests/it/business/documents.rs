//! Documents for the review: uploaded by the partner, read by the platform team alone.

use http::{Method, StatusCode};
use intent_gateway_http::auth::Role;
use serde_json::{Value, json};

use super::{Partner, manifest, profile, team_get};
use crate::support::{Ask, Gateway, refused};

const PDF: &[u8] = b"%PDF-1.7 the shop licence";

impl Partner<'_> {
    async fn upload(&self, method: Method, path: &str, form: &str, body: &[u8]) -> crate::support::Answer {
        let ask = Ask::new(method, &self.path(path)).header("content-type", form);
        self.send(ask.body(body.to_vec())).await
    }

    async fn add(&self, form: &str, body: &[u8]) -> crate::support::Answer {
        self.upload(Method::POST, "accounts/*/documents?kind=shop&name=..%2Flicence.pdf", form, body).await
    }
}

#[tokio::test]
async fn a_document_goes_up_and_only_the_team_reads_it() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    let added = partner.add("application/pdf", PDF).await;
    assert_eq!(added.status, StatusCode::CREATED);
    let added = added.json();
    assert_eq!((&added["kind"], &added["file_name"]), (&json!("shop"), &json!("licence.pdf")));
    assert_eq!((&added["size_bytes"], &added["uploaded_at"]), (&json!(PDF.len()), &json!("2027-01-15T08:00:00Z")));
    let id = added["id"].as_str().expect("an identifier");
    assert_eq!(partner.get("accounts/*/documents").await.json()["documents"], json!([added]));

    let file = format!("/api/v1/admin/accounts/{}/documents/{id}", partner.id);
    assert_eq!(partner.send(Ask::get(&file)).await.refusal(), refused(403, "FORBIDDEN"), "not even its own");
    let read = gateway.call(Ask::get(&file).role(Role::Admin)).await;
    assert_eq!((read.status, &read.body[..]), (StatusCode::OK, PDF));
    for (name, value) in [
        ("content-type", "application/octet-stream"),
        ("content-disposition", "attachment; filename=\"licence.pdf\""),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
    ] {
        assert_eq!(read.headers[name], value, "{name}");
    }
    let log = team_get(&gateway, &format!("/api/v1/admin/audit?subject={}", partner.id)).await;
    let last = log["entries"].as_array().and_then(|entries| entries.last()).expect("entries");
    assert_eq!((&last["action"], &last["actor"]["subject"]), (&json!("document.read"), &json!("tester")));

    let replaced = partner
        .upload(Method::PUT, &format!("accounts/*/documents/{id}?kind=shop"), "image/jpeg", b"\xff\xd8\xff\xe0")
        .await;
    assert_eq!((&replaced.json()["id"], &replaced.json()["file_name"]), (&json!(id), &json!("shop.jpg")));
    let path = partner.path(&format!("accounts/*/documents/{id}"));
    let removed = partner.send(Ask::new(Method::DELETE, &path)).await;
    assert_eq!(removed.status, StatusCode::NO_CONTENT);
    for gone in [id, "doc_0", "a%00b", "x/y"] {
        let file = format!("/api/v1/admin/accounts/{}/documents/{gone}", partner.id);
        assert_eq!(
            gateway.call(Ask::get(&file).role(Role::Admin)).await.refusal(),
            refused(404, "NOT_FOUND"),
            "{gone}"
        );
    }
}

#[tokio::test]
async fn what_is_no_document_is_refused_and_other_bodies_stay_small() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    assert_eq!(partner.add("text/html", PDF).await.refusal(), refused(415, "UNSUPPORTED_MEDIA_TYPE"));
    let other = partner.add("image/png", PDF).await;
    assert_eq!(other.refusal(), refused(400, "INVALID_REQUEST"));
    assert_eq!(other.json()["error"]["violations"][0]["code"], "NOT_THAT_FORM");
    for query in ["", "?kind=passport", "?kind=shop&size=2"] {
        let path = format!("accounts/*/documents{query}");
        let answer = partner.upload(Method::POST, &path, "application/pdf", PDF).await;
        assert_eq!(answer.refusal(), refused(400, "INVALID_REQUEST"), "{query}");
    }
    let mut large = PDF.to_vec();
    large.resize(5 * 1024 * 1024, b' ');
    assert_eq!(partner.add("application/pdf", &large).await.status, StatusCode::CREATED);
    large.push(b' ');
    assert_eq!(partner.add("application/pdf", &large).await.refusal(), refused(413, "PAYLOAD_TOO_LARGE"));
    let wordy = json!({ "webhook_url": "x".repeat(256 * 1024) });
    let answer = partner.put("credentials/*/webhook", wordy).await;
    assert_eq!(answer.refusal(), refused(413, "PAYLOAD_TOO_LARGE"), "the room is for documents alone");
}

#[tokio::test]
async fn a_decision_keeps_documents_where_they_are_and_shows_them() {
    let gateway = Gateway::new().await;
    let partner = Partner::sign_up(&gateway).await;
    let added = partner.add("application/pdf", PDF).await.json();
    partner.put("accounts/*/profile", profile()).await;
    let sent = partner.post("manifest/*", manifest()).await.json();
    let review = team_get(&gateway, &format!("/api/v1/admin/reviews/{}", sent["review"].as_str().expect("one"))).await;
    assert_eq!(review["documents"], json!([added]));
    let shown = partner.get("accounts/*").await.json();
    let codes: Vec<&Value> = shown["checklist"].as_array().expect("items").iter().map(|item| &item["code"]).collect();
    assert_eq!(codes, ["LEGAL_ENTITY", "TAX_NUMBER", "PRIVACY_POLICY"]);
    assert_eq!(shown["checklist"][1]["documents"], json!(["tax_registration"]));
    let path = partner.path(&format!("accounts/*/documents/{}", added["id"].as_str().expect("text")));
    let refused_now = partner.send(Ask::new(Method::DELETE, &path)).await;
    assert_eq!(refused_now.refusal(), refused(409, "DOCUMENT_IN_USE"));
}
