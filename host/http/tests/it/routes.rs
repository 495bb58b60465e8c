//! What each route answers.

use std::time::Duration;

use http::{Method, StatusCode};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::ports::ContractAdmin as _;
use intent_gateway_domain::readiness::{Trouble, TroubleCode};
use intent_gateway_domain::succession::Removal;
use intent_gateway_domain::versions::{LoadOrder, Origin};
use intent_gateway_http::Limits;
use intent_gateway_http::auth::Role;
use serde_json::{Value, json};

use crate::support::{Ask, CROWDED_CITY, Gateway, INTENT, LIMITS, METRICS, NOW_MS, OPTION_TEXT, refused};

const SEARCH: &str = "/api/v1/intents/test.find_things/search";

async fn search(gateway: &Gateway, body: &Value) -> crate::support::Answer {
    gateway.call(Ask::json(SEARCH, body.to_string()).role(Role::Orchestrator)).await
}

#[tokio::test]
async fn a_search_answers_with_options_drops_and_partners() {
    let gateway = Gateway::new().await;
    let answer = search(&gateway, &json!({ "request_id": "r-1" })).await;
    assert_eq!(answer.status, StatusCode::OK);
    let json = answer.json();
    assert_eq!(json["request_id"], "r-1");
    assert_eq!(json["intent"], INTENT);
    assert_eq!(json["contract"]["version"], "1.2.3");
    assert_eq!(json["contract"]["digest"], Digest::of(b"the live component").to_string());
    assert_eq!(json["widget"], json!({ "widget_type": "generic_listings", "preferred": "thing_cards" }));
    assert_eq!(json["code"], Value::Null);
    assert_eq!(json["notes"][0]["code"], "UNKNOWN_BAND");

    assert_eq!(json["options"].as_array().map(Vec::len), Some(1));
    let option = &json["options"][0];
    assert_eq!((&option["partner"], &option["bookable"]), (&json!("good"), &json!(true)));
    assert_eq!(option["card"], json!({ "title": "One" }));
    assert_eq!(option["axes"], json!({ "time": 0.1, "taste": 0.2, "budget": 0.3, "safety": 0.4 }));
    assert!(answer.text().contains(OPTION_TEXT), "the option is passed on byte for byte");

    let dropped: Vec<_> = json["dropped"].as_array().expect("an array").iter().collect();
    let seen: Vec<_> = dropped.iter().map(|drop| (&drop["option_id"], &drop["strike"], &drop["position"])).collect();
    assert_eq!(seen, [(&json!("t3"), &json!(true), &json!(2)), (&json!("t2"), &json!(false), &json!(1))]);

    let partners = json["partners"].as_array().expect("an array");
    let seen: Vec<_> = partners.iter().map(|report| (&report["partner"], &report["status"], &report["code"])).collect();
    let expected = [
        (&json!("broken"), &json!("failed"), &json!("PARTNER_UNREACHABLE")),
        (&json!("faraway"), &json!("left_out"), &json!("OUTSIDE_SERVICE_AREA")),
        (&json!("good"), &json!("answered"), &Value::Null),
    ];
    assert_eq!(seen, expected);
    assert_eq!(partners[2]["options"], 3);
    assert!(!answer.text().contains("10.0.0.7"), "addresses stay inside");
    assert_eq!(json.get("left_out_more"), None, "all that were left out are named");
}

#[tokio::test]
async fn partners_that_are_left_out_beyond_those_named_are_counted() {
    let gateway = Gateway::new().await;
    let answer = search(&gateway, &json!({ "city": CROWDED_CITY })).await;
    assert_eq!(answer.status, StatusCode::OK);
    let json = answer.json();
    assert_eq!(json["left_out_more"], 9);
    let partners = json["partners"].as_array().expect("an array");
    assert_eq!(partners.len(), 3);
    let closed = json!("it is closed at the hour asked for");
    assert!(partners.iter().all(|report| report["code"] == "CLOSED_AT_HOUR" && report["message"] == closed));
}

#[tokio::test]
async fn a_search_without_request_id_takes_the_one_of_the_http_request() {
    let gateway = Gateway::new().await;
    let ask = Ask::json(SEARCH, "{}").role(Role::Admin).header("x-request-id", "trip-7");
    let answer = gateway.call(ask).await;
    assert_eq!(answer.json()["request_id"], "trip-7");
    assert_eq!(answer.headers["x-request-id"], "trip-7");
}

#[tokio::test]
async fn a_contracts_refusal_keeps_its_code_status_and_violations() {
    let gateway = Gateway::new().await;
    let answer = search(&gateway, &json!({ "mode": "invalid" })).await;
    assert_eq!(answer.refusal(), refused(400, "INVALID_REQUEST"));
    let violations = &answer.json()["error"]["violations"];
    assert_eq!(violations.as_array().map(Vec::len), Some(2));
    assert_eq!(violations[1], json!({ "pointer": "/b/0", "code": "OUT_OF_RANGE", "message": "OUT_OF_RANGE at /b/0" }));

    let listed = search(&gateway, &json!({ "mode": "too_far" })).await;
    assert_eq!(listed.refusal(), refused(409, "TOO_FAR"));
    assert_eq!(listed.json()["error"]["message"], "Nothing is that near.");

    let advisory = search(&gateway, &json!({ "mode": "just_advice" })).await;
    assert_eq!(advisory.refusal(), refused(400, "JUST_ADVICE"), "a refusal is never a success");
}

#[tokio::test]
async fn a_refusal_is_explained_by_the_contract_that_refused_though_it_is_gone_by_then() {
    for accept in ["application/json", "text/event-stream"] {
        let gateway = Gateway::new().await;
        let ask = Ask::json(SEARCH, r#"{"mode":"wait_too_far"}"#).role(Role::Admin).header("accept", accept);
        let unload = async {
            gateway.gate.arrived.notified().await;
            gateway.admin.unload(INTENT, Actor::gateway()).await.expect("unloaded");
            gateway.gate.open.notify_one();
        };
        let (answer, ()) = tokio::join!(gateway.call(ask), unload);
        assert_eq!(answer.refusal(), refused(409, "TOO_FAR"), "{accept}");
        assert_eq!(answer.json()["error"]["message"], "Nothing is that near.");
    }
}

#[tokio::test]
async fn a_contracts_fault_tells_the_caller_a_code_and_no_detail() {
    let gateway = Gateway::new().await;
    let answer = search(&gateway, &json!({ "mode": "trap" })).await;
    assert_eq!(answer.refusal(), refused(502, "CONTRACT_TRAP"));
    assert!(!answer.text().contains("secret"));

    let answer = search(&gateway, &json!({ "mode": "busy" })).await;
    assert_eq!(answer.refusal(), refused(503, "OVERLOADED"));
    assert_eq!(answer.headers["retry-after"], "1");

    let answer = search(&gateway, &json!({ "mode": "panic" })).await;
    assert_eq!(answer.refusal(), refused(500, "INTERNAL_ERROR"));
    assert!(!answer.text().contains("on purpose"));
}

#[tokio::test]
async fn an_alias_means_the_intent_that_has_it() {
    let gateway = Gateway::new().await;
    let body = json!({ "request_id": "r-1", "intent": "other.seek_things" });
    let ask = Ask::json("/api/v1/intents/other.seek_things/search", body.to_string());
    let answer = gateway.call(ask.role(Role::Orchestrator)).await;
    assert_eq!((answer.status, &answer.json()["intent"]), (StatusCode::OK, &json!(INTENT)));
    assert_eq!(answer.json()["options"].as_array().map(Vec::len), Some(1), "its partners are asked");
    // What the contract was given, and partners were sent, names the intent itself.
    let receipt = gateway.evidence.only_receipt();
    assert!(receipt.arguments.get().contains(INTENT), "{}", receipt.arguments);
    assert!(!receipt.arguments.get().contains("other.seek_things"), "{}", receipt.arguments);

    let shown = gateway.call(Ask::get("/api/v1/intents/other.seek_things").role(Role::Partner)).await.json();
    assert_eq!((&shown["intent"], &shown["aliases"]), (&json!(INTENT), &json!(["other.seek_things"])));
    let listed = gateway.call(Ask::get("/api/v1/intents").role(Role::Partner)).await.json();
    assert_eq!(listed["intents"][0]["aliases"], json!(["other.seek_things"]));
    let unload = Ask::new(Method::DELETE, "/api/v1/admin/intents/other.seek_things").role(Role::Admin);
    assert_eq!(gateway.call(unload).await.status, StatusCode::NO_CONTENT);
    let gone = Ask::json("/api/v1/intents/other.seek_things/search", "{}").role(Role::Orchestrator);
    assert_eq!(gateway.call(gone).await.refusal(), refused(404, "INVALID_INTENT"));
}

#[tokio::test]
async fn an_unknown_intent_is_not_found() {
    let gateway = Gateway::new().await;
    let ask = Ask::json("/api/v1/intents/test.find_thing/search", "{}").role(Role::Orchestrator);
    assert_eq!(gateway.call(ask).await.refusal(), refused(404, "INVALID_INTENT"));
    let ask = Ask::get("/api/v1/intents/nonsense").role(Role::Orchestrator);
    assert_eq!(gateway.call(ask).await.refusal(), refused(404, "INVALID_INTENT"));
}

#[tokio::test]
async fn a_body_must_be_json_of_the_right_type_size_and_depth() {
    let gateway = Gateway::new().await;
    let send = async |ask: Ask| gateway.call(ask.role(Role::Orchestrator)).await;
    for bad in ["", "{", "{}{}", "nope", "{\"a\":1,}"] {
        let answer = send(Ask::json(SEARCH, bad)).await;
        assert_eq!(answer.refusal(), refused(400, "INVALID_REQUEST"), "{bad}");
        assert_eq!(answer.json()["error"]["violations"][0]["code"], "INVALID_JSON", "{bad}");
        assert_eq!(answer.json()["error"]["violations"][0]["pointer"], "", "{bad}");
    }
    let answer = send(Ask::json(SEARCH, "").body(&b"{\"a\":\"\xff\"}"[..])).await;
    assert_eq!(answer.json()["error"]["violations"][0]["code"], "INVALID_JSON");
    let answer = send(Ask::json(SEARCH, format!("{}{}", "[".repeat(65), "]".repeat(65)))).await;
    assert_eq!(answer.json()["error"]["violations"][0]["code"], "TOO_DEEP");
    let answer = send(Ask::json(SEARCH, format!("\"{}\"", "x".repeat(256 * 1024)))).await;
    assert_eq!(answer.refusal(), refused(413, "PAYLOAD_TOO_LARGE"));
    let answer = send(Ask::new(Method::POST, SEARCH).body("{}").header("content-type", "text/plain")).await;
    assert_eq!(answer.refusal(), refused(415, "UNSUPPORTED_MEDIA_TYPE"));
    let answer = send(Ask::new(Method::POST, SEARCH).body("{}")).await;
    assert_eq!(answer.refusal(), refused(415, "UNSUPPORTED_MEDIA_TYPE"));
}

#[tokio::test]
async fn lists_and_shows_intents() {
    let gateway = Gateway::new().await;
    let list = gateway.call(Ask::get("/api/v1/intents").role(Role::Orchestrator)).await.json();
    assert_eq!(list["intents"][0]["intent"], INTENT);
    assert_eq!(list["intents"][0]["request_schema"], json!({ "type": "object" }));
    let detail = gateway.call(Ask::get("/api/v1/intents/test.find_things").role(Role::Orchestrator)).await.json();
    assert_eq!(detail["errors"][0]["code"], "TOO_FAR");
    assert_eq!(detail["digest"], list["intents"][0]["digest"]);
}

#[tokio::test]
async fn classifies() {
    let gateway = Gateway::new().await;
    let send = async |body: Value| {
        gateway.call(Ask::json("/api/v1/classify", body.to_string()).role(Role::Orchestrator)).await
    };
    let answer = send(json!({ "utterance": "I want a Thing", "locale": "hi-IN" })).await.json();
    assert_eq!((&answer["decision"], &answer["intent"]), (&json!("intent"), &json!(INTENT)));
    assert_eq!(answer["elsewhere"][0]["reason"], "spoken in hi-IN");
    let answer = send(json!({ "utterance": "good morning" })).await.json();
    assert_eq!((&answer["decision"], &answer["intent"]), (&json!("none"), &Value::Null));

    let codes = async |body: Value| {
        let answer = send(body).await;
        assert_eq!(answer.refusal(), refused(400, "INVALID_REQUEST"));
        let violations = answer.json()["error"]["violations"].as_array().expect("violations").clone();
        let read = |name: &str, from: &Value| from[name].as_str().expect("text").to_owned();
        violations.iter().map(|from| (read("pointer", from), read("code", from))).collect::<Vec<_>>()
    };
    let found = |pointer: &str, code: &str| (pointer.to_owned(), code.to_owned());
    assert_eq!(codes(json!({})).await, [found("/utterance", "REQUIRED")]);
    assert_eq!(codes(json!([])).await, [found("", "WRONG_TYPE"), found("/utterance", "REQUIRED")]);
    assert_eq!(
        codes(json!({ "utterance": 3, "locale": "not a tag" })).await,
        [found("/utterance", "WRONG_TYPE"), found("/locale", "BAD_FORMAT")]
    );
    assert_eq!(codes(json!({ "utterance": " " })).await, [found("/utterance", "TOO_SHORT")]);
    assert_eq!(codes(json!({ "utterance": "x".repeat(2_001) })).await, [found("/utterance", "TOO_LONG")]);
    assert_eq!(codes(json!({ "utterance": "x", "locale": 1 })).await, [found("/locale", "WRONG_TYPE")]);
}

#[tokio::test]
async fn loads_activates_and_unloads_contracts() {
    let gateway = Gateway::new().await;
    let send = async |ask: Ask| gateway.call(ask.role(Role::Admin)).await;

    let answer = send(Ask::wasm("/api/v1/admin/contracts", b"new")).await;
    assert_eq!(answer.status, StatusCode::CREATED);
    assert_eq!(answer.json()["live"], true);
    assert_eq!(answer.json()["origin"], json!({ "kind": "upload", "name": "tester" }));
    assert_eq!((&answer.json()["known"], answer.json().get("note")), (&json!(false), None));
    // What is known stays as it is, whatever is asked for, and the answer says how it goes live.
    for query in ["", "?activate=true", "?activate=false"] {
        let answer = send(Ask::wasm(&format!("/api/v1/admin/contracts{query}"), b"known")).await;
        let told = answer.json();
        assert_eq!((answer.status, &told["live"], &told["known"]), (StatusCode::OK, &json!(false), &json!(true)));
        let activate = format!("POST /api/v1/admin/contracts/{}/activate", Digest::of(b"known"));
        assert!(told["note"].as_str().is_some_and(|note| note.contains(&activate)), "{told}");
    }
    let uploads: Vec<_> = gateway.admin.loads.lock().expect("loads").clone();
    let asked: Vec<_> = uploads.iter().map(|(bytes, order)| (*bytes, order.activate, order.removal)).collect();
    let refused_removal = |bytes, activate| (bytes, activate, Removal::Refused);
    let (new, known) = (refused_removal(3, true), refused_removal(5, true));
    assert_eq!(asked, [new, known, known, refused_removal(5, false)]);
    let tester = Actor { scope: Some("all".to_owned()), ..Actor::new("admin", "tester") };
    for (_, LoadOrder { origin, by, .. }) in &uploads {
        assert_eq!((origin, by), (&Origin::Upload("tester".to_owned()), &tester));
    }

    let answer = send(Ask::wasm("/api/v1/admin/contracts", b"bad")).await;
    assert_eq!(answer.refusal(), refused(422, "ABI_MISMATCH"));
    assert_eq!(answer.json()["error"]["message"], "it exports nothing of the interface");
    let answer = send(Ask::wasm("/api/v1/admin/contracts", b"full")).await;
    assert_eq!(answer.refusal(), refused(503, "STORE_UNAVAILABLE"));
    assert!(!answer.text().contains("secret"));
    let answer = send(Ask::wasm("/api/v1/admin/contracts?activate=maybe", b"new")).await;
    assert_eq!(answer.refusal(), refused(400, "INVALID_REQUEST"));
    let answer = send(Ask::json("/api/v1/admin/contracts", "{}")).await;
    assert_eq!(answer.refusal(), refused(415, "UNSUPPORTED_MEDIA_TYPE"));

    let activate = |digest: &str| Ask::new(Method::POST, &format!("/api/v1/admin/contracts/{digest}/activate"));
    let known = Digest::of(b"known").to_string();
    // One gateway cannot make it ready.
    let answer = send(activate(&known)).await;
    assert_eq!((answer.status, &answer.json()["live"]), (StatusCode::OK, &json!(false)));
    let failure = json!({ "code": "COMPILE_FAILED", "message": "no room" });
    assert_eq!(answer.json()["waits_for"], json!([{ "gateway": "gw-2", "failure": failure }]));
    let at_once =
        |value: &str| Ask::new(Method::POST, &format!("/api/v1/admin/contracts/{known}/activate?at_once={value}"));
    let answer = send(at_once("true")).await;
    assert_eq!((&answer.json()["live"], answer.json().get("waits_for")), (&json!(true), None));
    assert_eq!(send(at_once("maybe")).await.refusal(), refused(400, "INVALID_REQUEST"));
    assert_eq!(send(activate(&Digest::of(b"x").to_string())).await.refusal(), refused(404, "NOT_FOUND"));
    assert_eq!(send(activate("short")).await.refusal(), refused(404, "NOT_FOUND"));

    let status = send(Ask::get("/api/v1/admin/contracts/status?intent=test.find_things")).await.json();
    let live = json!({ "version": "1.1.0", "digest": Digest::of(b"live").to_string() });
    let by = json!({ "role": "gateway", "subject": "gateway" });
    let next = Digest::of(b"next").to_string();
    let gateways = json!([{
        "id": "gw-2", "name": "host",
        "serving": { "digest": live["digest"], "since_ms": 7, "took_ms": 3 },
        "staged": { "digest": next, "at_ms": 7, "took_ms": 9, "failure": failure },
    }]);
    let coming = json!({ "version": "1.1.0", "digest": next, "since_ms": 7, "by": by });
    let tried = Digest::of(b"tried").to_string();
    let rollout = json!({
        "version": "1.1.0", "digest": tried, "stage": 1, "stages": 3, "share_percent": 5.0, "is_paused": true,
    });
    let expected = json!({
        "intent": "test.find_things", "live": live, "coming": coming, "rollout": rollout, "policy": "auto",
        "gateways": gateways,
    });
    assert_eq!(status, json!({ "intents": [expected] }));
    let other = send(Ask::get("/api/v1/admin/contracts/status?intent=other.things")).await.json();
    assert_eq!(other, json!({ "intents": [] }));
    assert_eq!(
        send(Ask::get("/api/v1/admin/contracts/status?all=true")).await.refusal(),
        refused(400, "INVALID_REQUEST")
    );
    let withdraw = |intent: &str| Ask::new(Method::DELETE, &format!("/api/v1/admin/intents/{intent}/coming"));
    assert_eq!(send(withdraw("test.find_things")).await.status, StatusCode::NO_CONTENT);
    assert_eq!(send(withdraw("other.things")).await.refusal(), refused(404, "NOT_FOUND"));

    let answer = send(Ask::get("/api/v1/admin/contracts")).await.json();
    assert_eq!(answer["contracts"][0]["origin"], json!({ "kind": "folder", "name": "things.wasm" }));
    assert_eq!(answer["contracts"][1]["origin"], json!({ "kind": "kept" }));
    let gateway_itself = json!({ "role": "gateway", "subject": "gateway" });
    let event = json!({ "at_ms": NOW_MS, "act": "loaded", "whence": "folder", "by": gateway_itself });
    assert_eq!(answer["contracts"][0]["history"], json!([event]));
    let missing = &answer["missing"][0];
    assert_eq!((&missing["intent"], &missing["ought_to_serve"]), (&json!("test.gone"), &json!(true)));
    assert_eq!((&missing["code"], missing.get("serving")), (&json!("UNREADABLE"), None));
    let answer = send(Ask::get("/api/v1/admin/contracts/failures")).await.json();
    assert_eq!(answer["failures"][0]["code"], "ABI_MISMATCH");

    let unload = Ask::new(Method::DELETE, "/api/v1/admin/intents/test.find_things");
    assert_eq!(send(unload.clone()).await.status, StatusCode::NO_CONTENT);
    let actors: Vec<_> = gateway.admin.actors.lock().expect("actors").clone();
    assert_eq!(actors, vec![tester; 6], "activated twice and once in vain, withdrawn, in vain as well, unloaded");
    assert_eq!(send(unload).await.refusal(), refused(404, "INVALID_INTENT"));
    assert_eq!(gateway.call(Ask::get("/ready")).await.refusal(), refused(503, "NO_LIVE_CONTRACT"));
}

#[tokio::test]
async fn a_version_that_removes_values_is_taken_only_where_that_is_said() {
    let gateway = Gateway::new().await;
    // A request that holds the value in question.
    search(&gateway, &json!({ "request_id": "r-1", "kind": "pen" })).await;
    let send = async |query: &str| {
        let ask = Ask::wasm(&format!("/api/v1/admin/contracts{query}"), b"removing");
        gateway.call(ask.role(Role::Admin)).await
    };
    let answer = send("").await;
    assert_eq!(answer.refusal(), refused(422, "VOCABULARY_VALUES_REMOVED"));
    let violation = &answer.json()["error"]["violations"][0];
    assert_eq!(
        (&violation["pointer"], &violation["code"]),
        (&json!("/vocabularies/kind/pen"), &json!("VALUE_REMOVED"))
    );
    let told = violation["message"].as_str().expect("a sentence");
    assert!(told.contains("Of the latest 1 rankings, 1 asked for it."), "{told}");

    let answer = send("?allow_removed_values=true").await;
    assert_eq!(answer.status, StatusCode::CREATED);
    let removed = &answer.json()["removed_values"];
    assert_eq!((&removed["manifests_read"], &removed["rankings_read"]), (&json!(0), &json!(1)));
    let value = &removed["values"][0];
    assert_eq!((&value["vocabulary"], &value["value"], &value["requests"]), (&json!("kind"), &json!("pen"), &json!(1)));
    assert_eq!(send("?allow_removed_values=perhaps").await.refusal(), refused(400, "INVALID_REQUEST"));
}

#[tokio::test]
async fn shows_partners_and_findings_without_their_tokens() {
    let gateway = Gateway::new().await;
    search(&gateway, &json!({ "request_id": "r-9" })).await;
    let send = async |path: &str| gateway.call(Ask::get(path).role(Role::Admin)).await;
    let answer = send("/api/v1/admin/partners").await;
    assert_eq!(answer.json()["partners"][2]["url"], "https://good.example/mcp");
    assert!(!answer.text().contains("never-shown"));
    let findings = send("/api/v1/admin/partners/good/findings").await.json();
    let first = &findings["findings"][0];
    assert_eq!((&first["request_id"], &findings["partner"]), (&json!("r-9"), &json!("good")));
    assert_eq!(send("/api/v1/admin/partners/nobody/findings").await.refusal(), refused(404, "NOT_FOUND"));
}

#[tokio::test]
async fn health_and_readiness() {
    let gateway = Gateway::new().await;
    assert_eq!(gateway.call(Ask::get("/health")).await.json()["status"], "ok");
    assert_eq!(gateway.call(Ask::get("/ready")).await.json(), json!({ "status": "ready", "live_intents": 1 }));
    let trouble = |code, subject: Option<&str>| Trouble {
        code,
        subject: subject.map(str::to_owned),
        message: "in words".to_owned(),
    };
    gateway
        .troubles
        .set(vec![trouble(TroubleCode::StoreUnavailable, None), trouble(TroubleCode::TaskLate, Some("mail"))]);
    let answer = gateway.call(Ask::get("/ready")).await;
    assert_eq!(answer.status, StatusCode::OK, "searches are served all the same");
    let expected = json!([
        { "code": "STORE_UNAVAILABLE", "message": "in words" },
        { "code": "TASK_LATE", "subject": "mail", "message": "in words" },
    ]);
    assert_eq!((&answer.json()["status"], &answer.json()["troubles"]), (&json!("degraded"), &expected));
    gateway.leaving.cancel();
    assert_eq!(
        gateway.call(Ask::get("/ready")).await.refusal(),
        refused(503, "DRAINING"),
        "as soon as it is announced"
    );
    for path in ["/health", "/live"] {
        assert_eq!(gateway.call(Ask::get(path)).await.status, StatusCode::OK, "{path}");
    }
}

#[tokio::test]
async fn metrics_are_shown_to_admins() {
    let gateway = Gateway::new().await;
    let answer = gateway.call(Ask::get("/api/v1/admin/metrics").role(Role::Admin)).await;
    assert_eq!((answer.status, answer.text()), (StatusCode::OK, METRICS));
    assert_eq!(answer.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    assert_eq!(gateway.call(Ask::get("/metrics")).await.refusal(), refused(404, "NOT_FOUND"));
}

#[tokio::test]
async fn unknown_routes_and_methods_have_the_one_shape() {
    let gateway = Gateway::new().await;
    for path in ["/", "/api/v1", "/api/v2/intents", "/api/v1/intents/", "/health/x"] {
        assert_eq!(gateway.call(Ask::get(path)).await.refusal(), refused(404, "NOT_FOUND"), "{path}");
    }
    let answer = gateway.call(Ask::new(Method::PUT, "/api/v1/intents")).await;
    assert_eq!(answer.refusal(), refused(405, "METHOD_NOT_ALLOWED"));
    assert_eq!(answer.headers["allow"], "GET,HEAD");
    assert_eq!(answer.headers["content-type"], "application/json");
}

#[tokio::test]
async fn a_request_beyond_the_bound_is_refused_at_once() {
    let gateway = Gateway::with(Limits { max_in_flight: 1, ..LIMITS }).await;
    let waiting = json!({ "mode": "wait" });
    let first = search(&gateway, &waiting);
    let second = async {
        gateway.gate.arrived.notified().await;
        let answer = search(&gateway, &json!({})).await;
        assert_eq!(gateway.call(Ask::get("/health")).await.status, StatusCode::OK);
        let admin = gateway.call(Ask::get("/api/v1/admin/contracts").role(Role::Admin)).await;
        assert_eq!(admin.status, StatusCode::OK, "the platform team gets in all the same");
        gateway.gate.open.notify_one();
        answer
    };
    let (first, second) = tokio::join!(first, second);
    assert_eq!(first.status, StatusCode::OK);
    assert_eq!(second.refusal(), refused(503, "OVERLOADED"));
    assert_eq!(search(&gateway, &json!({})).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_request_that_takes_too_long_is_answered_in_time() {
    let gateway = Gateway::with(Limits { request_timeout: Duration::from_millis(20), ..LIMITS }).await;
    let answer = search(&gateway, &json!({ "mode": "forever" })).await;
    assert_eq!(answer.refusal(), refused(504, "TIMEOUT"));
}

#[tokio::test]
async fn a_gateway_that_has_not_heard_of_the_catalogue_for_too_long_serves_nobody() {
    let gateway = Gateway::new().await;
    gateway.admin.contracts.set_stale(true);
    let call = "/api/v1/intents/test.find_things/tools/book_thing";
    let body = json!({ "reference": "opt_x", "arguments": {} }).to_string();
    for ask in [
        Ask::json(SEARCH, "{}"),
        Ask::json("/api/v1/classify", json!({ "utterance": "a thing" }).to_string()),
        Ask::json(call, body),
    ] {
        let answer = gateway.call(ask.role(Role::Orchestrator)).await;
        assert_eq!(answer.refusal(), refused(503, "STORE_UNAVAILABLE"));
        assert!(answer.headers.contains_key("retry-after"));
    }
    assert_eq!(gateway.call(Ask::get("/ready")).await.refusal(), refused(503, "STORE_UNAVAILABLE"));
    gateway.admin.contracts.set_stale(false);
    assert_eq!(gateway.call(Ask::get("/ready")).await.status, StatusCode::OK);
}
