//! Probes of REST and GraphQL APIs: the mapping is held against what the API says of itself.

use std::sync::Arc;

use http::Method;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::endpoint::{Endpoint, Mappings};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::ports::PartnerProbe as _;
use intent_gateway_domain::probe::{ProbeRecord, ProbeRequest, Step};
use intent_gateway_domain::secret::Secret;
use intent_gateway_testing::catalogue::Catalogue;
use serde_json::{Value, json};

use crate::api::{INTENT, mappings};
use crate::harness::*;

async fn probe(endpoint: &Endpoint, mappings: &Mappings) -> ProbeRecord {
    let partner = PartnerId::parse("p").expect("an identifier");
    let bearer = Secret::new("t0ken");
    let request = ProbeRequest {
        partner: &partner,
        endpoint,
        mappings,
        contracts: &Catalogue::default(),
        bearer: Some(&bearer),
        now: Timestamp::from_ms(0),
    };
    client().probe(request).await
}

fn failure(record: &ProbeRecord) -> (Step, &str, &str) {
    let failure = record.failure.as_ref().unwrap_or_else(|| panic!("it passed: {record:?}"));
    (failure.step, failure.code.as_str(), failure.message.as_str())
}

/// An OpenAPI document with references, parameters of the path item, and a body.
fn document() -> Value {
    json!({
        "openapi": "3.0.3",
        "info": {"title": "Slots Ltd", "version": "7"},
        "paths": {
            "/other": {"get": {"operationId": "other"}},
            "/areas/{area}/slots": {
                "parameters": [{"$ref": "#/components/parameters/Area"}],
                "post": {
                    "operationId": "findSlots",
                    "summary": "Finds free slots.",
                    "parameters": [
                        {"name": "from", "in": "query", "required": true, "schema": {"type": "string"}},
                        {"name": "until", "in": "query"},
                        {"name": "X-Channel", "in": "header", "required": true},
                        {"name": "Authorization", "in": "header", "required": true},
                    ],
                    "requestBody": {"$ref": "#/components/requestBodies/Search"},
                },
            },
        },
        "components": {
            "parameters": {"Area": {"name": "area", "in": "path", "required": true}},
            "requestBodies": {"Search": {
                "required": true,
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Search"}}},
            }},
            "schemas": {"Search": {"type": "object", "required": ["car"], "properties": {"car": {}, "more": {}}}},
        },
    })
}

fn rest_tools() -> Value {
    json!({"find_slots": {
        "operation_id": "findSlots", "method": "POST", "path": "/areas/{area}/slots",
        "path_params": {"area": {"$arg": "/city"}},
        "query": {"from": {"$arg": "/window/from"}},
        "headers": {"x-channel": "platform"},
        "body": {"car": {"$arg": "/car", "default": "any"}},
        "response": {"$res": ""},
    }})
}

async fn rest(document: Value, tools: Value) -> (Server, ProbeRecord) {
    let server = Server::scripted(move |_| {
        let document = document.clone();
        async move { json_response(&document) }
    })
    .await;
    let root = server.url.replace("/mcp", "");
    let endpoint = Endpoint::Rest { openapi_url: format!("{root}/docs/openapi.json"), base_url: root };
    let record = probe(&endpoint, &mappings(tools, "rest")).await;
    (server, record)
}

#[tokio::test]
async fn a_mapped_rest_api_shows_its_tools() {
    let (server, record) = rest(document(), rest_tools()).await;
    assert!(record.passed(), "{record:?}");
    assert_eq!(record.server.as_ref().map(|server| server.name.as_str()), Some("Slots Ltd"));
    let steps: Vec<_> = record.steps.iter().map(|step| (step.step, step.passed)).collect();
    assert_eq!(steps, [(Step::Document, true), (Step::Mapping, true)]);
    let [tool] = &record.tools[..] else { panic!("one tool: {:?}", record.tools) };
    assert_eq!(tool["name"], "find_slots");
    assert_eq!(tool["description"], "Finds free slots.");
    assert_eq!(tool["inputSchema"]["properties"], json!({"city": {}, "window": {}}));
    assert_eq!(tool["inputSchema"]["required"], json!(["city", "window"]));
    assert_eq!(
        (&tool["_meta"]["platform"]["intent"], &tool["_meta"]["platform"]["domain"]),
        (&json!(INTENT), &json!("test"))
    );
    let state = server.state();
    let [seen] = &state.seen[..] else { panic!("the document alone is fetched: {:?}", state.seen) };
    assert_eq!((&seen.method, seen.path.as_str()), (&Method::GET, "/docs/openapi.json"));
    assert_eq!(seen.header("authorization"), None, "the document may be on another host");
}

/// A change of the operation shows in the descriptor, a change elsewhere does not.
#[tokio::test]
async fn drift_of_the_mapped_operation_can_be_seen() {
    let (_, before) = rest(document(), rest_tools()).await;
    let mut elsewhere = document();
    elsewhere["paths"]["/other"]["get"]["summary"] = json!("changed");
    elsewhere["info"]["version"] = json!("8");
    assert_eq!(rest(elsewhere, rest_tools()).await.1.tools, before.tools);
    let mut reworded = document();
    reworded["paths"]["/areas/{area}/slots"]["post"]["description"] = json!("In other words.");
    reworded["components"]["schemas"]["Search"]["title"] = json!("A search");
    assert_eq!(rest(reworded, rest_tools()).await.1.tools, before.tools);

    let changes = [
        ("/paths/~1areas~1{area}~1slots/post/parameters/1/schema", json!({"type": "integer"})),
        ("/paths/~1areas~1{area}~1slots/post/responses", json!({"200": {"content": {}}})),
        // Behind one reference, and behind two.
        ("/components/parameters/Area/schema", json!({"type": "string"})),
        ("/components/schemas/Search/properties", json!({"car": {"type": "string"}, "more": {}})),
        // A name that the API gives is not text for people.
        ("/components/schemas/Search/properties", json!({"car": {}, "more": {}, "description": {}})),
    ];
    for (at, value) in changes {
        let mut changed = document();
        let (parent, key) = at.rsplit_once('/').expect("a pointer");
        changed.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object").insert(key.to_owned(), value);
        let (_, record) = rest(changed, rest_tools()).await;
        assert!(record.passed(), "{at}: {record:?}");
        assert_ne!(record.tools[0]["inputSchema"], before.tools[0]["inputSchema"], "{at}");
    }
}

/// Changes one place of the document or of the mapping at a time.
#[tokio::test]
async fn each_disagreement_with_the_document_is_found() {
    let operation = "/paths/~1areas~1{area}~1slots/post";
    let parameters = format!("{operation}/parameters");
    let cases = [
        (format!("{operation}/operationId"), json!("renamed"), "API_OPERATION_MISSING", "no operation `findSlots`"),
        (format!("{parameters}/1/required"), json!(true), "API_MAPPING_INVALID", "query parameter `until`"),
        (format!("{parameters}/2/name"), json!("X-Other"), "API_MAPPING_INVALID", "header parameter `X-Other`"),
        (format!("{parameters}/2/in"), json!("cookie"), "API_MAPPING_INVALID", "cookie parameter `X-Channel`"),
        ("/components/parameters/Area/name".into(), json!("zone"), "API_MAPPING_INVALID", "path parameter `zone`"),
        ("/components/schemas/Search/required".into(), json!(["car", "more"]), "API_MAPPING_INVALID", "member `more`"),
        (
            "/components/requestBodies/Search/content".into(),
            json!({"text/xml": {}}),
            "API_MAPPING_INVALID",
            "no body of `application/json`",
        ),
    ];
    for (at, value, code, text) in cases {
        let mut changed = document();
        let (parent, key) = at.rsplit_once('/').expect("a pointer");
        changed.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object").insert(key.to_owned(), value);
        let (_, record) = rest(changed, rest_tools()).await;
        let (step, found, message) = failure(&record);
        assert_eq!((step, found), (Step::Mapping, code), "{at}: {message}");
        assert!(message.contains(text), "{at}: {message}");
        assert!(record.notes.iter().any(|note| note.contains(text)), "{at}: {:?}", record.notes);
    }
    for (at, value, text) in [
        ("/method", json!("PUT"), "the API's operation is POST /areas/{area}/slots"),
        ("/path", json!("/area/{area}/slots"), "the API's operation is POST /areas/{area}/slots"),
        ("/body", Value::Null, "requires a body"),
    ] {
        let mut tools = rest_tools();
        if value.is_null() {
            tools["find_slots"].as_object_mut().expect("a tool").remove("body");
        } else {
            tools["find_slots"][&at[1..]] = value;
        }
        let (_, record) = rest(document(), tools).await;
        assert!(failure(&record).2.contains(text), "{record:?}");
    }
}

#[tokio::test]
async fn what_is_odd_and_harmless_is_noted() {
    let mut changed = document();
    changed["paths"]["/areas/{area}/slots"]["post"]["deprecated"] = json!(true);
    changed["info"]["title"] = json!("");
    let mut tools = rest_tools();
    tools["find_slots"]["query"]["strange"] = json!(1);
    let (_, record) = rest(changed, tools).await;
    assert!(record.passed(), "{record:?}");
    for text in ["deprecated", "info.title", "no query parameter `strange`"] {
        assert!(record.notes.iter().any(|note| note.contains(text)), "{text}: {:?}", record.notes);
    }
}

#[tokio::test]
async fn a_document_that_is_none_fails() {
    for (document, code) in [
        (json!({"swagger": "2.0", "paths": {}}), "API_DOCUMENT_INVALID"),
        (json!({"openapi": "3.1.0"}), "API_DOCUMENT_INVALID"),
        (json!({"openapi": 3, "paths": {}}), "API_DOCUMENT_INVALID"),
        (json!([]), "PARTNER_PROTOCOL_ERROR"),
    ] {
        let (_, record) = rest(document.clone(), rest_tools()).await;
        assert_eq!((failure(&record).0, failure(&record).1), (Step::Document, code), "{document}");
    }
    let server = Server::scripted(|_| async { status(404) }).await;
    let endpoint = Endpoint::Rest { base_url: server.url.clone(), openapi_url: server.url.clone() };
    let record = probe(&endpoint, &mappings(rest_tools(), "rest")).await;
    assert_eq!((failure(&record).0, failure(&record).1), (Step::Document, "PARTNER_HTTP_ERROR"));
    // References that lead in a circle, or out of the document, end the search for what is behind them.
    let mut circle = document();
    circle["components"]["requestBodies"]["Search"] = json!({"$ref": "#/components/requestBodies/Search"});
    circle["components"]["parameters"]["Area"] = json!({"$ref": "https://elsewhere.example/x"});
    assert!(rest(circle, rest_tools()).await.1.steps.len() == 2);
}

#[tokio::test]
async fn an_api_without_mapping_fails() {
    let server = Server::scripted(|_| async { json_response(&document()) }).await;
    let endpoint = Endpoint::Rest { base_url: server.url.clone(), openapi_url: server.url.clone() };
    let record = probe(&endpoint, &Mappings::new()).await;
    assert_eq!((failure(&record).0, failure(&record).1), (Step::Mapping, "API_MAPPING_MISSING"));
    // A mapping of the other kind.
    let graphql = mappings(graphql_tools(), "graphql");
    assert_eq!(failure(&probe(&endpoint, &graphql).await).1, "API_MAPPING_INVALID");
}

fn graphql_tools() -> Value {
    json!({"find_slots": {
        "document": "query Find($city: String!, $n: Int = 3) { __typename slots(city: $city, first: $n) { id } }",
        "variables": {"city": {"$arg": "/city"}},
        "response": {"$res": ""},
    }})
}

fn schema() -> Value {
    let scalar = |name: &str| json!({"kind": "SCALAR", "name": name, "ofType": null});
    let wrapped = |kind: &str, inner: Value| json!({"kind": kind, "name": null, "ofType": inner});
    let named = |kind: &str, name: &str| json!({"kind": kind, "name": name, "ofType": null});
    let input = |name: &str, of: Value| json!({"name": name, "defaultValue": null, "type": of});
    let field =
        |name: &str, of: Value, args: Value| json!({"name": name, "isDeprecated": false, "type": of, "args": args});
    let slots = wrapped("NON_NULL", wrapped("LIST", wrapped("NON_NULL", named("OBJECT", "Slot"))));
    let mut book = field("book", named("OBJECT", "Slot"), json!([input("id", wrapped("NON_NULL", scalar("ID")))]));
    book["isDeprecated"] = json!(true);
    json!({
        "queryType": {"name": "Query"},
        "mutationType": {"name": "Mutation"},
        "types": [
            {"kind": "OBJECT", "name": "Query", "fields": [field("slots", slots, json!([
                input("city", wrapped("NON_NULL", scalar("String"))), input("first", scalar("Int")),
                input("filter", named("INPUT_OBJECT", "Filter")),
            ]))]},
            {"kind": "OBJECT", "name": "Mutation", "fields": [book]},
            {"kind": "OBJECT", "name": "Slot", "fields": [
                field("id", wrapped("NON_NULL", scalar("ID")), json!([])),
                field("kind", named("ENUM", "Kind"), json!([])),
                field("other", scalar("String"), json!([])),
                field("next", named("OBJECT", "Slot"), json!([])),
            ]},
            {"kind": "INPUT_OBJECT", "name": "Filter", "inputFields": [
                input("kind", named("ENUM", "Kind")), input("not", named("INPUT_OBJECT", "Filter")),
            ]},
            {"kind": "ENUM", "name": "Kind", "enumValues": [{"name": "A"}, {"name": "B"}]},
            {"kind": "SCALAR", "name": "ID"}, {"kind": "SCALAR", "name": "Int"}, {"kind": "SCALAR", "name": "String"},
        ],
    })
}

/// Answers as a GraphQL API of this schema; none where it keeps it to itself.
async fn graphql(schema: Option<Value>, tools: Value) -> (Server, ProbeRecord) {
    let schema = Arc::new(schema);
    let server = Server::scripted(move |seen| {
        let schema = Arc::clone(&schema);
        async move {
            match (seen.message["query"].as_str(), &*schema) {
                (Some("{ __typename }"), _) => json_response(&json!({"data": {"__typename": "Query"}})),
                (Some(query), Some(schema)) if query.contains("__schema") => {
                    json_response(&json!({"data": {"__schema": schema}}))
                }
                _ => json_response(&json!({"errors": [{"message": "introspection is off"}]})),
            }
        }
    })
    .await;
    let record = probe(&Endpoint::Graphql { url: server.url.clone() }, &mappings(tools, "graphql")).await;
    (server, record)
}

#[tokio::test]
async fn a_mapped_graphql_api_shows_its_tools() {
    let (server, record) = graphql(Some(schema()), graphql_tools()).await;
    assert!(record.passed(), "{record:?}");
    let steps: Vec<_> = record.steps.iter().map(|step| (step.step, step.passed)).collect();
    assert_eq!(steps, [(Step::Typename, true), (Step::Introspection, true), (Step::Mapping, true)]);
    assert_eq!(record.tools.len(), 1);
    assert_eq!(record.tools[0]["inputSchema"]["required"], json!(["city"]));
    assert!(record.notes.is_empty(), "{:?}", record.notes);
    assert_eq!(server.state().seen.len(), 2, "nothing that is mapped is called");
    assert!(server.state().seen.iter().all(|seen| seen.header("authorization") == Some("Bearer t0ken")));

    let (_, silent) = graphql(None, graphql_tools()).await;
    assert!(silent.passed(), "{silent:?}");
    assert!(silent.notes.iter().any(|note| note.contains("does not tell its schema")), "{:?}", silent.notes);
}

/// What the operation meets on its way through the schema counts, and nothing else of it.
#[tokio::test]
async fn drift_of_the_mapped_fields_can_be_seen() {
    let mut tools = graphql_tools();
    tools["find_slots"]["document"] = json!("query ($city: String!) { slots(city: $city) { id kind } }");
    let (_, before) = graphql(Some(schema()), tools.clone()).await;
    let comment = |record: &ProbeRecord| record.tools[0]["inputSchema"]["$comment"].clone();
    for (at, value, seen) in [
        ("/types/2/fields/2/type", json!({"kind": "SCALAR", "name": "Int"}), false),
        ("/types/1/fields", json!([]), false),
        ("/types/2/fields/0/type", json!({"kind": "SCALAR", "name": "Int"}), true),
        ("/types/0/fields/0/args/1/type/name", json!("String"), true),
        // The values of an enumeration that comes back, and what an argument holds.
        ("/types/4/enumValues", json!([{"name": "A"}]), true),
        ("/types/3/inputFields", json!([]), true),
    ] {
        let mut changed = schema();
        *changed.pointer_mut(at).expect(at) = value;
        let (_, record) = graphql(Some(changed), tools.clone()).await;
        assert!(record.passed(), "{at}: {record:?}");
        assert_eq!(comment(&record) != comment(&before), seen, "{at}");
    }
}

#[tokio::test]
async fn each_disagreement_with_the_schema_is_found() {
    let document = |text: &str| {
        let mut tools = graphql_tools();
        tools["find_slots"]["document"] = json!(text);
        tools
    };
    let cases = [
        ("query ($city: String!) { slots(city: $city", "API_MAPPING_INVALID", "does not parse"),
        ("query A { slots } query B { slots }", "API_MAPPING_INVALID", "one operation"),
        ("fragment F on Query { slots }", "API_MAPPING_INVALID", "one operation"),
        ("subscription ($city: String!) { slots(city: $city) { id } }", "API_MAPPING_INVALID", "a subscription"),
        (
            "query ($city: String!) { places(city: $city) { id } }",
            "API_OPERATION_MISSING",
            "type `Query` has no field `places`",
        ),
        (
            "mutation ($city: String!) { slots(city: $city) { id } }",
            "API_OPERATION_MISSING",
            "type `Mutation` has no field `slots`",
        ),
        ("query ($city: String!) { slots(first: 1) { id } }", "API_MAPPING_INVALID", "requires the argument `city`"),
        (
            "query ($city: String!) { slots(city: $city) { id next { price } } }",
            "API_OPERATION_MISSING",
            "type `Slot` has no field `price`",
        ),
        (
            "query ($city: String!) { ...R } fragment R on Query { slots(city: $city) { ... on Slot { cost } ...S } } \
             fragment S on Slot { id next { ...S } }",
            "API_OPERATION_MISSING",
            "type `Slot` has no field `cost`",
        ),
        ("query { slots(city: \"Pune\") { id } }", "API_MAPPING_INVALID", "no variable `$city`"),
        ("query ($city: String!, $n: Int!) { slots(city: $city, first: $n) { id } }", "API_MAPPING_INVALID", "`$n`"),
    ];
    for (text, code, message) in cases {
        let (_, record) = graphql(Some(schema()), document(text)).await;
        let (step, found, said) = failure(&record);
        assert_eq!((step, found), (Step::Mapping, code), "{text}: {said}");
        assert!(said.contains(message), "{text}: {said}");
    }
    let deep = format!("{}{}", "{ a ".repeat(3_000), "}".repeat(3_000));
    let (_, record) = graphql(Some(schema()), document(&deep)).await;
    assert_eq!(failure(&record).1, "API_MAPPING_INVALID", "nesting without end does not overflow the stack");
    let (_, record) = graphql(Some(schema()), document("mutation ($city: ID!) { book(id: $city) { id } }")).await;
    assert!(record.notes.iter().any(|note| note.contains("deprecated")), "{record:?}");
}

#[tokio::test]
async fn a_graphql_api_that_does_not_answer_fails() {
    type Script = fn() -> http::Response<Body>;
    let cases: [(Script, &str); 5] = [
        (|| status(404), "PARTNER_HTTP_ERROR"),
        (|| status(401), "INVALID_AUTH"),
        (|| json_response(&json!({"errors": [{"message": "no"}]})), "PARTNER_PROTOCOL_ERROR"),
        (|| json_response(&json!({"data": {}})), "PARTNER_PROTOCOL_ERROR"),
        (|| raw_json("<html>"), "PARTNER_PROTOCOL_ERROR"),
    ];
    for (script, code) in cases {
        let server = Server::scripted(move |_| async move { script() }).await;
        let endpoint = Endpoint::Graphql { url: server.url.clone() };
        let record = probe(&endpoint, &mappings(graphql_tools(), "graphql")).await;
        assert_eq!((failure(&record).0, failure(&record).1), (Step::Typename, code));
    }
}
