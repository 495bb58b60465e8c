//! Each way in which a sound mapping may miss its intent's contract.

use serde_json::{Value, json};

use super::*;

fn shape() -> IntentShape {
    let option = json!({
        "type": "object",
        "properties": {
            "slot_id": {"type": "string"},
            "provider": {"$ref": "#/$defs/provider"},
            "includes": {"type": "array", "items": {"type": "object", "properties": {"code": {}}, "required": ["code"]}},
        },
        "required": ["slot_id", "provider"],
        "$defs": {"provider": {"properties": {"name": {"type": "string"}}, "required": ["name"]}},
    });
    let request = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "vehicle": {"type": ["object", "null"], "properties": {"make": {"type": "string"}}},
            "stops": {"type": "array", "items": {"properties": {"at": {}}}},
            "context": {},
        },
    });
    let booking = json!({
        "allOf": [{"properties": {"booking_id": {}}, "required": ["booking_id"]}, {"required": ["total"]}],
        "properties": {"total": {}},
    });
    let tool = |name: &str, request: &Value, response: &Value| json!({"name": name, "request_schema": request, "response_schema": response});
    let contract = json!({
        "search": {"tool": "search_slots", "options_key": "slots"},
        "tools": [tool("search_slots", &request, &option), tool("book_slot", &json!({}), &booking)],
        "errors": [{"code": "NO_SLOTS"}, {"code": "SLOT_GONE"}],
    });
    IntentShape::of_shown(&contract).expect("a contract")
}

/// A mapping that fits.
fn fitting() -> Value {
    let option = json!({
        "slot_id": {"$item": "/id"},
        "provider": {"name": {"$item": "/title"}},
        "includes": {"$each": "/steps", "item": {"code": {"$item": "/c"}}},
    });
    json!({"kind": "rest", "tools": {
        "search_slots": {
            "operation_id": "find", "method": "POST", "path": "/{city}",
            "path_params": {"city": {"$arg": "/city"}},
            "query": {"make": {"$arg": "/vehicle/make", "optional": true}, "at": {"$arg": "/stops/0/at", "default": ""}},
            "body": {"any": {"$arg": "/context/whatever/there/is", "default": 1}},
            "response": {
                "result_token": {"$res": "/t"}, "expires_at": {"$res": "/until"},
                "slots": {"$each": "/rows", "item": option},
            },
            "errors": {"status": {"404": "NO_SLOTS", "503": "PARTNER_MAINTENANCE"}},
        },
        "book_slot": {
            "operation_id": "book", "method": "POST", "path": "/b",
            "response": {"booking_id": {"$res": "/id"}, "total": 5},
        },
    }})
}

/// What is told of the mapping once a place of it is something else; `None` takes the place away.
fn told(at: &str, value: Option<Value>) -> Vec<String> {
    let mut mapping = fitting();
    let (parent, key) = at.rsplit_once('/').expect("a pointer");
    let parent = mapping.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object");
    match value {
        Some(value) => drop(parent.insert(key.to_owned(), value)),
        None => drop(parent.remove(key)),
    }
    let mapping = ApiMapping::check(&mapping).expect("sound in itself");
    mapping.compare(&shape()).into_iter().map(|one| format!("{} {}: {}", one.pointer, one.code, one.message)).collect()
}

#[test]
fn a_mapping_that_fits_is_not_spoken_of() {
    let mapping = ApiMapping::check(&fitting()).expect("sound");
    assert_eq!(mapping.compare(&shape()), []);
}

#[test]
fn tools_are_those_of_the_intent() {
    let tool = fitting()["tools"]["book_slot"].clone();
    assert_eq!(
        told("/tools/book_slots", Some(tool.clone())),
        ["/tools/book_slots UNKNOWN_TOOL: the intent has no tool `book_slots`"],
        "the one that it may be meant for is mapped"
    );
    assert_eq!(told("/tools/book_slot", None), ["/tools TOOL_NOT_MAPPED: the intent's tool `book_slot` is not mapped"]);
    let mut misspelt = fitting();
    let tools = misspelt["tools"].as_object_mut().expect("an object");
    tools.remove("book_slot");
    tools.insert("book_slt".to_owned(), tool);
    let found = ApiMapping::check(&misspelt).expect("sound").compare(&shape());
    let [one] = &found[..] else { panic!("{found:?}") };
    assert_eq!(one.message, "the intent has no tool `book_slt`; did you mean `book_slot`?");
}

#[test]
fn codes_are_the_intents_or_the_platforms() {
    let errors = json!({"code": "/e", "codes": {"FULL": "SLOTS_GONE"}, "status": {"404": "NOTHING_HERE"}});
    let found = told("/tools/book_slot/errors", Some(errors));
    let at = "/tools/book_slot/errors";
    let known = "is neither in the intent's error table nor one of the platform's codes";
    assert_eq!(
        found,
        [
            format!("{at}/status/404 UNKNOWN_ERROR_CODE: `NOTHING_HERE` {known}"),
            format!("{at}/codes/FULL UNKNOWN_ERROR_CODE: `SLOTS_GONE` {known}; did you mean `SLOT_GONE`?"),
        ]
    );
}

#[test]
fn arguments_are_those_of_the_tool() {
    let place = "/tools/search_slots/query/make";
    let take = |pointer: &str| told(place, Some(json!({"$arg": pointer, "optional": true})));
    let lacks = |pointer: &str, meant: &str| {
        vec![format!("{place}/$arg UNKNOWN_ARGUMENT: `{pointer}` is no argument of `search_slots`{meant}")]
    };
    assert_eq!(take("/vehicle/maker"), lacks("/vehicle/maker", "; did you mean `/vehicle/make`?"));
    assert_eq!(take("/vehicle/make/name"), lacks("/vehicle/make/name", ""));
    assert_eq!(take("/colour"), lacks("/colour", ""));
    assert_eq!(take("/stops/at"), lacks("/stops/at", ""));
    for known in ["", "/vehicle", "/stops/3", "/stops/3/at", "/context/x"] {
        assert_eq!(take(known), [] as [String; 0], "{known}");
    }
    let within = json!({"x": [{"$when": {"$arg": "/citty"}, "then": {"$arg": "/citty"}}]});
    let found = told("/tools/search_slots/body", Some(within));
    let at = "/tools/search_slots/body/x/0";
    assert!(found[0].starts_with(&format!("{at}/$when/$arg UNKNOWN_ARGUMENT")), "{found:?}");
    assert!(found[1].starts_with(&format!("{at}/then/$arg UNKNOWN_ARGUMENT")), "{found:?}");
}

#[test]
fn responses_hold_what_the_contract_requires() {
    let response = "/tools/search_slots/response";
    let item = format!("{response}/slots/item");
    assert_eq!(
        told(&format!("{item}/slot_id"), None),
        [format!("{item} MEMBER_MISSING: the contract requires `slot_id`")]
    );
    let mut renamed = fitting().pointer(&item).expect("there").clone();
    renamed["slotid"] = renamed.as_object_mut().expect("an object").remove("slot_id").expect("there");
    assert_eq!(
        told(&item, Some(renamed)),
        [format!("{item} MEMBER_MISSING: the contract requires `slot_id`; is `slotid` meant for it?")]
    );
    assert_eq!(
        told(&format!("{item}/provider"), Some(json!({}))),
        [format!("{item}/provider MEMBER_MISSING: the contract requires `name`")]
    );
    assert_eq!(
        told(&format!("{item}/provider/name"), Some(json!({"$item": "/n", "optional": true}))),
        [format!(
            "{item}/provider/name MEMBER_OPTIONAL: the contract requires `name`, and it is left out where the API has nothing"
        )]
    );
    assert_eq!(
        told(&format!("{item}/includes/item"), Some(json!({"kode": 1}))),
        [format!("{item}/includes/item MEMBER_MISSING: the contract requires `code`; is `kode` meant for it?")]
    );
    // Handed through: only an answer shows what it holds.
    assert_eq!(told(&item, Some(json!({"$item": ""}))), [] as [String; 0]);
    assert_eq!(told(response, Some(json!({"$res": ""}))), [] as [String; 0]);
    assert_eq!(
        told("/tools/book_slot/response", Some(json!({"booking_id": 1}))),
        ["/tools/book_slot/response MEMBER_MISSING: the contract requires `total`"]
    );
}

#[test]
fn a_search_is_an_envelope_with_the_options() {
    let response = "/tools/search_slots/response";
    let slots = fitting().pointer(&format!("{response}/slots")).expect("there").clone();
    let codes = |value: Value| -> Vec<String> {
        let codes = told(response, Some(value)).into_iter();
        codes.map(|line| line.split([' ', ':']).nth(1).expect("a code").to_owned()).collect()
    };
    assert_eq!(codes(slots.clone()), ["NO_COMMITMENT"]);
    assert_eq!(codes(json!({"slots": slots, "result_token": "t"})), ["NO_COMMITMENT"]);
    assert_eq!(codes(json!({"slot": slots, "result_token": "t", "expires_at": "x"})), ["MEMBER_MISSING"]);
}

#[test]
fn what_is_shown_as_something_else_is_no_contract() {
    for odd in [json!(null), json!({}), json!({"search": {"tool": 1}, "tools": [], "errors": []})] {
        assert_eq!(IntentShape::of_shown(&odd), None, "{odd}");
    }
}
