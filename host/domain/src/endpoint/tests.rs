//! Each form of a mapping, and each way to get it wrong.

use serde_json::{Value, json};

use super::*;

#[test]
fn an_endpoint_is_stored_as_json() {
    let cases = [
        (Endpoint::mcp("https://p.example/mcp"), json!({"kind": "mcp", "url": "https://p.example/mcp"})),
        (
            Endpoint::Rest { base_url: "https://p.example".into(), openapi_url: "https://p.example/o.json".into() },
            json!({"kind": "rest", "base_url": "https://p.example", "openapi_url": "https://p.example/o.json"}),
        ),
        (
            Endpoint::Graphql { url: "https://p.example/graphql".into() },
            json!({"kind": "graphql", "url": "https://p.example/graphql"}),
        ),
    ];
    for (endpoint, stored) in cases {
        assert_eq!(serde_json::to_value(&endpoint).expect("JSON"), stored);
        assert_eq!(serde_json::from_value::<Endpoint>(stored).expect("an endpoint"), endpoint);
    }
    let stray = json!({"kind": "mcp", "url": "https://p.example/mcp", "token": "x"});
    assert!(serde_json::from_value::<Endpoint>(stray).is_err());
}

/// A mapping that has everything.
fn rest() -> Value {
    json!({"kind": "rest", "tools": {"search_slots": {
        "operation_id": "find",
        "method": "POST",
        "path": "/v1/areas/{area}/slots",
        "path_params": {"area": {"$arg": "/city"}},
        "query": {"from": {"$arg": "/window/from", "optional": true}},
        "headers": {"X-Channel": "platform"},
        "body": {"car": {"$arg": "/car"}, "kind": {"$arg": "/kind", "default": "any"}},
        "response": {"slots": {"$each": "/data", "item": {"id": {"$item": "/id"}}}, "token": {"$res": "/t"}},
        "errors": {
            "status": {"404": "NO_SLOTS"}, "code": "/error/code", "codes": {"TAKEN": "SLOT_GONE", "17": "CLOSED"},
            "message": "/error/text",
        },
    }}})
}

fn graphql() -> Value {
    json!({"kind": "graphql", "tools": {"search_slots": {
        "document": "query ($c: String!) { slots(city: $c) { id } }",
        "variables": {"c": {"$arg": "/city"}},
        "response": {"slots": {"$each": "/slots", "item": {"id": {"$item": "/id"}}}},
    }}})
}

fn rest_tool(mapping: &ApiMapping) -> &RestTool {
    match mapping.tool("search_slots") {
        Some(ToolMapping::Rest(tool)) => tool,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_sound_mapping_is_read() {
    let mapping = ApiMapping::check(&rest()).expect("a sound mapping");
    let tool = rest_tool(&mapping);
    assert_eq!((tool.method, tool.path.as_str()), (Method::Post, "/v1/areas/{area}/slots"));
    assert_eq!(tool.headers[0].0, "x-channel");
    let mapped = mapping.tool("search_slots").expect("the tool");
    assert_eq!(mapped.arguments(), ["car", "city", "kind", "window"]);
    assert_eq!(mapped.required_arguments(), ["car", "city"]);
    assert_eq!(mapped.errors().platform_codes(), ["NO_SLOTS", "CLOSED", "SLOT_GONE"]);
    assert!(mapping.tool("other").is_none());
    assert!(ApiMapping::check(&graphql()).is_ok());
}

/// Breaks one thing of a sound mapping at a time.
#[test]
fn each_mistake_is_reported_where_it_is() {
    let tool = "/tools/search_slots";
    let deep = (0..40).fold(json!(1), |inner, _| json!({"a": inner}));
    let cases = [
        ("/kind", json!("soap"), "/kind", "WRONG_VALUE"),
        ("/more", json!(1), "/more", "UNKNOWN_MEMBER"),
        ("/tools", json!({}), "/tools", "WRONG_SIZE"),
        ("/tools", json!([]), "/tools", "WRONG_TYPE"),
        ("/tools/Search", json!({}), "/tools/Search", "WRONG_NAME"),
        ("/tools/search_slots", json!(5), "/tools/search_slots", "WRONG_TYPE"),
        ("{}/operation_id", Value::Null, "{}/operation_id", "WRONG_VALUE"),
        ("{}/operation_id", json!(" "), "{}/operation_id", "WRONG_VALUE"),
        ("{}/method", json!("post"), "{}/method", "WRONG_VALUE"),
        ("{}/method", json!("GET"), "{}/body", "MISPLACED"),
        ("{}/path", json!("v1/slots"), "{}/path", "WRONG_PATH"),
        ("{}/path", json!("//evil.example/{area}"), "{}/path", "WRONG_PATH"),
        ("{}/path", json!("/v1/../{area}"), "{}/path", "WRONG_PATH"),
        ("{}/path", json!("/v1/{area}?x=1"), "{}/path", "WRONG_PATH"),
        ("{}/path", json!("/v1/{area}#x"), "{}/path", "WRONG_PATH"),
        ("{}/path", json!("/v1/{area"), "{}/path", "WRONG_PATH"),
        ("{}/path", json!("/v1/area}"), "{}/path", "WRONG_PATH"),
        ("{}/path", json!("/v1/{}"), "{}/path", "WRONG_PATH"),
        ("{}/path", json!("/v1/{area}/{more}"), "{}/path_params", "REQUIRED"),
        ("{}/path", json!("/v1"), "{}/path_params/area", "UNKNOWN_MEMBER"),
        ("{}/query", json!([]), "{}/query", "WRONG_TYPE"),
        ("{}/query/$x", json!(1), "{}/query/$x", "WRONG_NAME"),
        ("{}/headers/Authorization", json!("Bearer x"), "{}/headers/Authorization", "HEADER_REFUSED"),
        ("{}/headers/X-API-Key", json!("x"), "{}/headers/X-API-Key", "HEADER_REFUSED"),
        ("{}/headers/Host", json!("x"), "{}/headers/Host", "HEADER_REFUSED"),
        ("{}/headers/x-channel", json!("x"), "{}/headers/x-channel", "DUPLICATE"),
        ("{}/headers/a b", json!("x"), "{}/headers/a b", "WRONG_NAME"),
        ("{}/body", json!({"a": {"$res": "/x"}}), "{}/body/a", "MISPLACED"),
        ("{}/body", json!({"a": {"$item": "/x"}}), "{}/body/a", "MISPLACED"),
        ("{}/body", json!({"$each": "/x", "item": 1}), "{}/body", "MISPLACED"),
        ("{}/body", json!({"$arg": "x"}), "{}/body/$arg", "WRONG_POINTER"),
        ("{}/body", json!({"$arg": "/x~2"}), "{}/body/$arg", "WRONG_POINTER"),
        ("{}/body", json!({"$arg": 5}), "{}/body/$arg", "WRONG_POINTER"),
        ("{}/body", json!({"$arg": "/x", "fallback": 1}), "{}/body/fallback", "UNKNOWN_MEMBER"),
        ("{}/body", json!({"$arg": "/x", "default": 1, "optional": true}), "{}/body", "WRONG_VALUE"),
        ("{}/body", json!({"$arg": "/x", "optional": "yes"}), "{}/body", "WRONG_VALUE"),
        ("{}/body", json!({"$arg": "/x", "values": []}), "{}/body/values", "WRONG_TYPE"),
        ("{}/body", json!({"$env": "HOME"}), "{}/body", "UNKNOWN_MARK"),
        ("{}/body", json!({"$when": {"$arg": "/x"}}), "{}/body/then", "REQUIRED"),
        ("{}/body", json!({"$when": "/x", "then": 1}), "{}/body/$when", "WRONG_TYPE"),
        ("{}/body", json!({"$when": {"$res": "/x"}, "then": 1}), "{}/body/$when", "MISPLACED"),
        ("{}/response", json!({"a": {"$item": "/x"}}), "{}/response/a", "MISPLACED"),
        ("{}/response", json!({"$each": "/x"}), "{}/response/item", "REQUIRED"),
        ("{}/response", json!({"$each": "/x", "item": 1, "max": 2}), "{}/response/max", "UNKNOWN_MEMBER"),
        (
            "{}/response",
            deep,
            "{}/response/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a",
            "MAPPING_TOO_DEEP",
        ),
        ("{}/errors/status/200", json!("OK"), "{}/errors/status/200", "WRONG_NAME"),
        ("{}/errors/status/4xx", json!("NO"), "{}/errors/status/4xx", "WRONG_NAME"),
        ("{}/errors/codes/X", json!("gone"), "{}/errors/codes/X", "WRONG_CODE"),
        ("{}/errors/code", json!("error"), "{}/errors/code", "WRONG_POINTER"),
        ("{}/errors/retry", json!(true), "{}/errors/retry", "UNKNOWN_MEMBER"),
        ("{}/document", json!("{ a }"), "{}/document", "UNKNOWN_MEMBER"),
    ];
    for (at, value, pointer, code) in cases {
        let (at, pointer) = (at.replace("{}", tool), pointer.replacen("{}", tool, 1));
        let mut mapping = rest();
        let (parent, key) = at.rsplit_once('/').expect("a pointer");
        let parent = mapping.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object");
        parent.insert(key.to_owned(), value);
        let found = ApiMapping::check(&mapping).expect_err(&at);
        assert!(found.iter().any(|one| one.pointer == pointer && one.code == code), "{at}: {found:?}");
    }
    for member in ["operation_id", "method", "path", "response"] {
        let mut mapping = rest();
        mapping.pointer_mut(tool).and_then(Value::as_object_mut).expect("the tool").remove(member);
        let found = ApiMapping::check(&mapping).expect_err(member);
        assert!(
            found.iter().any(|one| one.pointer == format!("{tool}/{member}") && one.code == "REQUIRED"),
            "{found:?}"
        );
    }
    for (at, value, code) in [
        ("document", json!(""), "WRONG_VALUE"),
        ("document", json!("x".repeat(20_000)), "WRONG_VALUE"),
        ("variables", json!([]), "WRONG_TYPE"),
        ("variables", json!({"$arg": "/x"}), "MISPLACED"),
        ("path", json!("/x"), "UNKNOWN_MEMBER"),
    ] {
        let mut mapping = graphql();
        mapping["tools"]["search_slots"][at] = value;
        let found = ApiMapping::check(&mapping).expect_err(at);
        let pointer = format!("{tool}/{at}");
        assert!(found.iter().any(|one| one.pointer == pointer && one.code == code), "{at}: {found:?}");
    }
    let mut mapping = rest();
    mapping["tools"]["search_slots"]["response"] = json!(vec![0; 10_001]);
    let found = ApiMapping::check(&mapping).expect_err("too much");
    assert_eq!(found.iter().map(|one| one.code.as_str()).collect::<Vec<_>>(), ["MAPPING_TOO_LARGE"]);
    for none in [json!(null), json!([]), json!("rest"), json!({})] {
        assert!(ApiMapping::check(&none).is_err(), "{none}");
    }
}

#[test]
fn all_mistakes_are_reported_at_once_and_bounded() {
    let mut mapping = rest();
    mapping["tools"]["search_slots"]["method"] = json!("x");
    mapping["tools"]["search_slots"]["body"] = json!([{"$x": 1}, {"$arg": 1}]);
    mapping["tools"]["search_slots"]["errors"]["codes"] = json!({"A": 1, "B": 2});
    assert_eq!(ApiMapping::check(&mapping).expect_err("mistakes").len(), 5);
    mapping["tools"]["search_slots"]["response"] = json!(vec![json!({"$x": 1}); 1_000]);
    assert_eq!(ApiMapping::check(&mapping).expect_err("mistakes").len(), 100);
}

/// What a response template gives for an answer.
fn rendered(response: Value, answer: &Value) -> Result<Option<Value>, RenderError> {
    let mut mapping = rest();
    mapping["tools"]["search_slots"]["response"] = response;
    let mapping = ApiMapping::check(&mapping).expect("a sound mapping");
    let arguments = json!({"city": "Pune", "none": null});
    rest_tool(&mapping).response.render(&Scope { arguments: &arguments, answer })
}

#[test]
fn templates_are_filled_in() {
    let answer = json!({
        "a": {"b/c": [10, 20], "n": null, "kind": "X", "code": 7, "on": true},
        "rows": [{"id": 1, "tags": ["p", "q"], "deep": [{"x": 1}, {"x": 2}]}, {"id": 2, "tags": [], "deep": []}],
    });
    let cases = [
        (json!({"k": [1, "two", null, {"x": 2.5}]}), json!({"k": [1, "two", null, {"x": 2.5}]})),
        (json!({"$res": ""}), answer.clone()),
        (json!({"$res": "/a/b~1c/1"}), json!(20)),
        (json!({"x": {"$res": "/a/n"}}), json!({"x": null})),
        (json!({"x": {"$res": "/a/n", "default": 5}}), json!({"x": 5})),
        (json!({"x": {"$res": "/none", "default": {"y": []}}}), json!({"x": {"y": []}})),
        (json!({"x": {"$res": "/none", "optional": true}, "z": 1}), json!({"z": 1})),
        (json!([{"$res": "/none", "optional": true}, 1]), json!([1])),
        (json!({"city": {"$arg": "/city"}}), json!({"city": "Pune"})),
        (json!({"$res": "/a/kind", "values": {"X": "ex"}}), json!("ex")),
        (json!({"$res": "/a/code", "values": {"7": {"any": "thing"}}}), json!({"any": "thing"})),
        (json!({"$res": "/a/on", "values": {"true": "yes"}}), json!("yes")),
        (json!({"$res": "/none", "values": {"X": 1}, "default": "as it is"}), json!("as it is")),
        (json!({"$when": {"$res": "/a/kind"}, "then": {"k": {"$res": "/a/kind"}}}), json!({"k": "X"})),
        (json!({"a": {"$when": {"$res": "/a/n"}, "then": 1}, "b": {"$when": {"$arg": "/none"}, "then": 1}}), json!({})),
        (
            json!({"$each": "/rows", "item": {"id": {"$item": "/id"}, "first": {"$item": "/tags/0", "optional": true}}}),
            json!([{"id": 1, "first": "p"}, {"id": 2}]),
        ),
        (
            json!({"$each": "/rows", "item": {
                "$each": "/deep", "item": [{"$item": "/x"}, {"$res": "/a/kind"}, {"$arg": "/city"}],
            }}),
            json!([[[1, "X", "Pune"], [2, "X", "Pune"]], []]),
        ),
        (json!({"$each": "/rows", "item": {"$when": {"$item": "/tags/0"}, "then": {"$item": "/id"}}}), json!([1])),
    ];
    for (template, expected) in cases {
        assert_eq!(rendered(template.clone(), &answer), Ok(Some(expected)), "{template}");
    }
    assert_eq!(rendered(json!({"$res": "/none", "optional": true}), &answer), Ok(None));
}

#[test]
fn what_cannot_be_filled_in_is_named() {
    let answer = json!({"a": {"kind": "X", "list": {"x": 1}}, "rows": [{}, {"id": 1}]});
    let cases = [
        (json!({"x": {"$res": "/a/b"}}), "`/a/b` of the API's answer is missing"),
        (json!({"x": {"$arg": "/b"}}), "`/b` of the arguments is missing"),
        (json!({"$each": "/rows", "item": {"$item": "/id"}}), "`/id` of an item of the API's answer is missing"),
        (json!({"$each": "/none", "item": 1}), "`/none` of the API's answer is missing"),
        (json!({"$each": "/a/list", "item": 1}), "`/a/list` of the API's answer is no array"),
        (
            json!({"$res": "/a/kind", "values": {"Y": 1}}),
            "`/a/kind` of the API's answer holds a value that the mapping does not translate: X",
        ),
        (
            json!({"$res": "/a", "values": {"Y": 1}}),
            "`/a` of the API's answer holds a value that the mapping does not translate: (an object)",
        ),
    ];
    for (template, expected) in cases {
        let error = rendered(template.clone(), &answer).expect_err("it cannot be filled in");
        assert_eq!(error.to_string(), expected, "{template}");
    }
}

#[test]
fn one_bad_item_costs_that_item_where_that_is_wanted() {
    let response = json!({
        "slots": {"$each": "/rows", "item": {"id": {"$item": "/id"}, "kind": {"$item": "/kind", "values": {"A": "a"}}}},
        "token": {"$res": "/t"},
    });
    let answer = json!({"t": "x", "rows": [{"id": 1, "kind": "A"}, {"kind": "A"}, {"id": 3, "kind": "B"}, {"id": 4, "kind": "A"}]});
    let mut mapping = rest();
    mapping["tools"]["search_slots"]["response"] = response;
    let mapping = ApiMapping::check(&mapping).expect("a sound mapping");
    let (arguments, response) = (json!({}), &rest_tool(&mapping).response);
    let scope = Scope { arguments: &arguments, answer: &answer };
    let (rendered, unmapped) = response.render_items(&scope).expect("two items are sound");
    let slots = json!([{"id": 1, "kind": "a"}, {"id": 4, "kind": "a"}]);
    assert_eq!(rendered, Some(json!({"slots": slots, "token": "x"})));
    let told: Vec<_> = unmapped.iter().map(|item| (item.position, item.reason.as_str())).collect();
    assert_eq!(
        told,
        [
            (1, "item 1 of `/rows` in the API's answer: `/id` of an item of the API's answer is missing"),
            (
                2,
                "item 2 of `/rows` in the API's answer: `/kind` of an item of the API's answer holds a value that the \
                 mapping does not translate: B"
            ),
        ]
    );
    assert!(response.render(&scope).is_err(), "elsewhere it costs the whole");

    // A missing member beside the items costs the whole answer, and so does a list that is too long.
    let no_token = json!({"rows": [{"id": 1, "kind": "A"}]});
    assert!(response.render_items(&Scope { arguments: &arguments, answer: &no_token }).is_err());
    let many = json!({"t": "x", "rows": vec![json!({}); 1_001]});
    assert_eq!(
        response.render_items(&Scope { arguments: &arguments, answer: &many }).err(),
        Some(RenderError::TooLarge)
    );
    let all_bad = json!({"t": "x", "rows": vec![json!({}); 1_000]});
    let (_, unmapped) = response.render_items(&Scope { arguments: &arguments, answer: &all_bad }).expect("rendered");
    assert_eq!(unmapped.len(), 100, "as many as are reported");
}

/// Arrays in arrays multiply, and a large value may be copied into each item: both have an end.
#[test]
fn what_a_template_produces_is_bounded() {
    let row = json!({"in": vec![0; 900]});
    let wide = json!({"rows": vec![row; 900]});
    let nested = json!({"$each": "/rows", "item": {"$each": "/in", "item": {"$item": ""}}});
    assert_eq!(rendered(nested, &wide), Err(RenderError::TooLarge));

    let heavy = json!({"rows": vec![0; 900], "text": "x".repeat(100_000)});
    let copied = json!({"$each": "/rows", "item": {"$res": "/text"}});
    assert_eq!(rendered(copied, &heavy), Err(RenderError::TooLarge));

    let many = json!({"rows": vec![0; 1_001]});
    assert_eq!(rendered(json!({"$each": "/rows", "item": 1}), &many), Err(RenderError::TooLarge));
    let just = json!({"rows": vec![0; 1_000]});
    assert!(rendered(json!({"$each": "/rows", "item": 1}), &just).is_ok());
}

#[test]
fn errors_are_translated_by_code_and_then_by_status() {
    let mapping = ApiMapping::check(&rest()).expect("a sound mapping");
    let errors = &rest_tool(&mapping).errors;
    let body = |code: Value| json!({"error": {"code": code, "text": "why"}});
    assert_eq!(errors.platform_code(404, &body(json!("TAKEN"))), Some("SLOT_GONE"));
    assert_eq!(errors.platform_code(404, &body(json!(17))), Some("CLOSED"));
    assert_eq!(errors.platform_code(404, &body(json!("OTHER"))), Some("NO_SLOTS"));
    assert_eq!(errors.platform_code(404, &Value::Null), Some("NO_SLOTS"));
    assert_eq!(errors.platform_code(500, &body(json!("OTHER"))), None);
    assert_eq!(errors.by_own_code(&body(json!(null))), None);
    assert_eq!(errors.message(&body(json!("X"))), Some("why"));
    assert_eq!(errors.message(&json!([])), None);
}
