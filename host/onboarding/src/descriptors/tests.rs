//! One server that lists everything right, and each rule broken once.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::manifest::LiveIntent;
use intent_gateway_testing::contract::descriptor;

const CALLBACK: &str = "https://gateway.example/api/v1/cpc/mcp_provider/ptr_1";

fn contract() -> Descriptor {
    let mut contract = descriptor("1.0.0");
    let schema = |value: Value| serde_json::value::to_raw_value(&value).expect("serialises");
    contract.tools[0].request_schema = schema(json!({
        "type": "object", "required": ["intent", "city"],
        "properties": {"intent": {}, "city": {}, "budget": {}},
    }));
    let mut book = contract.tools[0].clone();
    book.name = "book_thing".to_owned();
    book.request_schema = schema(json!({}));
    contract.tools.push(book);
    contract
}

fn tool(name: &str) -> Value {
    json!({
        "name": name,
        "description": "Finds things near the user.",
        "inputSchema": {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {"intent": {"type": "string"}, "city": true, "budget": {}},
            "required": ["intent", "city"],
        },
        "_meta": {"platform": {
            "intent": "test.find_things",
            "domain": "test",
            "pricing": {"min": 10, "max": 20, "currency": "INR"},
            "service_area": ["Pune", "411001"],
            "ttbs_signals": {"time": 1, "taste": 0.25, "budget": 0, "safety": 0.5},
            "availability": "24x7",
            "widget_type": "generic_listings",
            "completion_callback": CALLBACK,
        }, "other": 1},
    })
}

fn tools() -> Vec<Value> {
    let mut book = tool("book_thing");
    book["inputSchema"]["required"] = json!([]);
    vec![tool("search_things"), book]
}

fn judged(tools: &[Value]) -> ToolReport {
    let contract = contract();
    let other =
        LiveIntent { intent: IntentId::parse("test.other").expect("well formed"), ..LiveIntent::from(&contract) };
    let catalogue: Catalogue = [LiveIntent::from(&contract), other].into_iter().collect();
    judge(tools, &Expected { listed: &[&contract], catalogue: &catalogue, completion_callback: CALLBACK })
}

/// The server's list with one member of its first tool replaced, or (with no value) removed.
fn with(pointer: &str, value: Option<Value>) -> Vec<Value> {
    let mut tools = tools();
    let (owner, member) = pointer.rsplit_once('/').expect("a pointer");
    let owner = tools[0].pointer_mut(owner).and_then(Value::as_object_mut).expect("the owner is an object");
    match value {
        Some(value) => drop(owner.insert(member.to_owned(), value)),
        None => drop(owner.remove(member).expect("the member is there")),
    }
    tools
}

fn missing(report: &ToolReport) -> Vec<String> {
    report.missing.values().flatten().cloned().collect()
}

#[test]
fn a_whole_set_is_accepted() {
    let report = judged(&tools());
    assert!(report.is_complete());
    assert_eq!((report.skipped.len(), report.ignored.len(), report.warnings.len()), (0, 0, 0), "{report:?}");
    let platform = &report.accepted[0].platform;
    assert_eq!(platform.service_area, ["Pune", "411001"]);
    assert_eq!(
        platform.ttbs_signals,
        intent_gateway_domain::contract::Axes { time: 1.0, taste: 0.25, budget: 0.0, safety: 0.5 }
    );
    assert_eq!((platform.availability.as_str(), platform.completion_callback.as_deref()), ("24x7", Some(CALLBACK)));
    let written = serde_json::to_value(&report).expect("serialises");
    assert_eq!(serde_json::from_value::<ToolReport>(written).expect("reads what it writes"), report);
}

#[test]
fn a_tool_may_name_its_intent_by_an_alias() {
    let mut contract = contract();
    contract.aliases = vec![IntentId::parse("other.seek_things").expect("well formed")];
    let catalogue: Catalogue = [LiveIntent::from(&contract)].into_iter().collect();
    let expected = Expected { listed: &[&contract], catalogue: &catalogue, completion_callback: CALLBACK };
    for (domain, accepted) in [("other", 2), ("test", 2), ("elsewhere", 1)] {
        let mut tools = with("/_meta/platform/intent", Some(json!("other.seek_things")));
        tools[0]["_meta"]["platform"]["domain"] = json!(domain);
        let report = judge(&tools, &expected);
        assert_eq!(report.accepted.len(), accepted, "{domain}: {report:?}");
        assert!(report.accepted.iter().all(|tool| tool.pinned.intent == contract.intent));
    }
}

#[test]
fn what_is_not_for_the_platform_is_ignored() {
    for (pointer, value, reason) in [
        ("/_meta", None, IgnoredReason::NoPlatformBlock),
        ("/_meta", Some(json!(7)), IgnoredReason::NoPlatformBlock),
        ("/_meta/platform", None, IgnoredReason::NoPlatformBlock),
        ("/_meta/platform", Some(json!(null)), IgnoredReason::NoPlatformBlock),
        ("/_meta/platform/intent", Some(json!("test.find_thing")), IgnoredReason::UnknownIntent),
        ("/_meta/platform/intent", Some(json!("test.other")), IgnoredReason::IntentNotListed),
        ("/name", Some(json!("rate_things")), IgnoredReason::NotInContract),
    ] {
        let report = judged(&with(pointer, value.clone()));
        assert_eq!(report.ignored.iter().map(|tool| tool.reason).collect::<Vec<_>>(), [reason], "{pointer} {value:?}");
        assert_eq!(report.skipped, vec![], "{pointer}");
        assert_eq!(missing(&report), ["search_things"], "{pointer}");
    }
}

#[test]
fn a_bad_descriptor_is_skipped_with_the_reason() {
    let long = |length: usize| Some("x".repeat(length).into());
    let block = "/0/_meta/platform";
    let schema = "/0/inputSchema";
    for (changed, value, pointer, code) in [
        ("/_meta/platform", Some(json!("x")), block.to_owned(), "WRONG_TYPE"),
        ("/_meta/platform/intent", None, format!("{block}/intent"), "REQUIRED"),
        ("/_meta/platform/intent", Some(json!(1)), format!("{block}/intent"), "WRONG_TYPE"),
        ("/_meta/platform/intent", Some(json!("")), format!("{block}/intent"), "EMPTY"),
        ("/_meta/platform/domain", None, format!("{block}/domain"), "REQUIRED"),
        ("/_meta/platform/domain", Some(json!("Test")), format!("{block}/domain"), "DOMAIN_MISMATCH"),
        ("/name", None, "/0/name".to_owned(), "REQUIRED"),
        ("/name", Some(json!(1)), "/0/name".to_owned(), "WRONG_TYPE"),
        ("/name", Some(json!("search")), "/0/name".to_owned(), "NAME_FORM"),
        ("/name", Some(json!("searchThings")), "/0/name".to_owned(), "NAME_FORM"),
        ("/name", long(129), "/0/name".to_owned(), "TOO_LONG"),
        ("/description", None, "/0/description".to_owned(), "REQUIRED"),
        ("/description", Some(json!(" ")), "/0/description".to_owned(), "EMPTY"),
        ("/description", Some(json!(1)), "/0/description".to_owned(), "WRONG_TYPE"),
        ("/description", long(141), "/0/description".to_owned(), "TOO_LONG"),
        ("/inputSchema", None, schema.to_owned(), "REQUIRED"),
        ("/inputSchema", Some(json!(true)), schema.to_owned(), "WRONG_TYPE"),
        ("/inputSchema/type", None, format!("{schema}/type"), "UNEXPECTED_VALUE"),
        ("/inputSchema/type", Some(json!("array")), format!("{schema}/type"), "UNEXPECTED_VALUE"),
        (
            "/inputSchema/$schema",
            Some(json!("http://json-schema.org/draft-04/schema#")),
            format!("{schema}/$schema"),
            "SCHEMA_TOO_OLD",
        ),
        ("/inputSchema/$schema", Some(json!(7)), format!("{schema}/$schema"), "WRONG_TYPE"),
        ("/inputSchema/properties", Some(json!([])), format!("{schema}/properties"), "WRONG_TYPE"),
        ("/inputSchema/properties/city", Some(json!("string")), format!("{schema}/properties/city"), "WRONG_TYPE"),
        ("/inputSchema/properties/city", None, format!("{schema}/required/1"), "REQUIRED_UNDECLARED"),
        ("/inputSchema/required", Some(json!("city")), format!("{schema}/required"), "WRONG_TYPE"),
        ("/inputSchema/required", Some(json!(["intent", "city", 3])), format!("{schema}/required/2"), "WRONG_TYPE"),
        ("/inputSchema/required", Some(json!(["intent"])), format!("{schema}/required"), "REQUIRED_NOT_LISTED"),
        ("/inputSchema/required", None, format!("{schema}/required"), "REQUIRED_NOT_LISTED"),
    ] {
        let report = judged(&with(changed, value.clone()));
        assert_eq!(report.skipped.len(), 1, "{changed} {value:?}: {report:?}");
        let found = &report.skipped[0].violations[0];
        assert_eq!((found.pointer.as_str(), found.code.as_str()), (pointer.as_str(), code), "{changed} {value:?}");
        assert_eq!(missing(&report), ["search_things"], "{changed}");
        assert_eq!(report.accepted.len(), 1, "{changed}: the other tool is untouched");
    }
    let report = judged(&[json!("x"), tools()[1].clone()]);
    assert_eq!(report.skipped[0].violations[0].pointer, "/0");
}

#[test]
fn the_bounds_themselves_are_fine() {
    for (changed, value) in [
        ("/description", Some("x".repeat(140).into())),
        ("/inputSchema/$schema", None),
        ("/inputSchema/$schema", Some(json!("https://json-schema.org/draft/2020-12/schema"))),
    ] {
        let report = judged(&with(changed, value));
        assert!(report.is_complete() && report.warnings.is_empty(), "{changed}: {report:?}");
    }
}

#[test]
fn what_is_read_has_its_default_and_a_warning() {
    let block = "/0/_meta/platform";
    for (changed, value, pointer, code) in [
        ("/pricing", Some(json!("10")), format!("{block}/pricing"), "WRONG_TYPE"),
        ("/pricing", Some(json!({"min": -1})), format!("{block}/pricing/min"), "OUT_OF_RANGE"),
        ("/pricing", Some(json!({"min": "1"})), format!("{block}/pricing/min"), "OUT_OF_RANGE"),
        ("/pricing", Some(json!({"min": 3, "max": 2})), format!("{block}/pricing/min"), "MIN_ABOVE_MAX"),
        ("/pricing", Some(json!({"currency": "USD"})), format!("{block}/pricing/currency"), "UNEXPECTED_VALUE"),
        ("/service_area", Some(json!("Pune")), format!("{block}/service_area"), "WRONG_TYPE"),
        ("/service_area", Some(json!([1])), format!("{block}/service_area/0"), "BAD_FORMAT"),
        ("/service_area", Some(json!(vec![""; 1])), format!("{block}/service_area/0"), "BAD_FORMAT"),
        ("/ttbs_signals", Some(json!(1)), format!("{block}/ttbs_signals"), "WRONG_TYPE"),
        ("/ttbs_signals", Some(json!({"time": 2})), format!("{block}/ttbs_signals/time"), "OUT_OF_RANGE"),
        ("/availability", Some(json!(24)), format!("{block}/availability"), "WRONG_TYPE"),
        ("/widget_type", Some(json!("cards")), format!("{block}/widget_type"), "WIDGET_MISMATCH"),
        (
            "/completion_callback",
            Some(json!("https://x.example")),
            format!("{block}/completion_callback"),
            "CALLBACK_MISMATCH",
        ),
    ] {
        let report = judged(&with(&format!("/_meta/platform{changed}"), value.clone()));
        assert!(report.is_complete(), "{changed}");
        let warned: Vec<_> = report.warnings.iter().map(|w| (w.pointer.as_str(), w.code.as_str())).collect();
        assert_eq!(warned, [(pointer.as_str(), code)], "{changed} {value:?}");
        assert_defaults(&report.accepted[0].platform, changed);
    }
}

/// The field that was broken has its default.
fn assert_defaults(platform: &PlatformMeta, changed: &str) {
    let written = serde_json::to_value(platform).expect("serialises");
    let default = match changed {
        "/pricing" => json!({"min": 0, "max": 0, "currency": "INR"}),
        "/service_area" => json!([]),
        "/ttbs_signals" => json!({"time": 0.5, "taste": 0.5, "budget": 0.5, "safety": 0.5}),
        "/availability" => json!(""),
        _ => Value::Null,
    };
    assert_eq!(written.pointer(changed).cloned().unwrap_or_default(), default, "{changed}");
}

#[test]
fn a_block_of_two_fields_has_every_default() {
    let block = json!({"intent": "test.find_things", "domain": "test"});
    let report = judged(&with("/_meta/platform", Some(block)));
    assert!(report.is_complete() && report.warnings.is_empty());
    for member in
        ["/pricing", "/service_area", "/ttbs_signals", "/availability", "/widget_type", "/completion_callback"]
    {
        assert_defaults(&report.accepted[0].platform, member);
    }
}

#[test]
fn doubtful_schemas_and_descriptions_warn() {
    for (changed, value, code) in [
        ("/inputSchema/$schema", json!("https://example.com/my-dialect"), "NOT_IN_VOCABULARY"),
        ("/inputSchema/required", json!(["intent", "city", "budget"]), "REQUIRES_MORE"),
        ("/description", json!("Finds things. Ranks them."), "MORE_THAN_ONE_SENTENCE"),
    ] {
        let report = judged(&with(changed, Some(value)));
        assert_eq!(report.warnings.iter().map(|w| w.code.as_str()).collect::<Vec<_>>(), [code]);
        assert!(report.is_complete());
    }
    let mut tools = with("/inputSchema/additionalProperties", Some(json!(false)));
    tools[0]["inputSchema"]["properties"].as_object_mut().expect("an object").remove("budget");
    assert_eq!(judged(&tools).warnings[0].code, "REFUSES_PROPERTY");
}

#[test]
fn the_second_of_a_name_is_reported() {
    let mut tools = tools();
    tools.push(tool("search_things"));
    let report = judged(&tools);
    assert!(report.is_complete());
    assert_eq!((report.skipped[0].position, report.skipped[0].violations[0].code.as_str()), (2, "DUPLICATE_TOOL"));
}

#[test]
fn a_flood_of_tools_is_cut() {
    let mut flood = vec![json!({"name": "x"}); TOOLS_MAX];
    flood.extend(tools());
    let report = judged(&flood);
    assert_eq!((report.ignored.len(), report.skipped.len()), (TOOLS_MAX, 1));
    assert_eq!(missing(&report), ["search_things", "book_thing"]);
}

#[test]
fn a_flood_of_breaches_is_cut() {
    let names: Vec<Value> = (0..1_000).map(|number| json!(format!("undeclared_{number}"))).collect();
    let report = judged(&with("/inputSchema/required", Some(names.into())));
    let violations = &report.skipped[0].violations;
    assert_eq!(violations.len(), TOOL_VIOLATIONS_MAX + 1);
    assert_eq!(violations[TOOL_VIOLATIONS_MAX].code, "MORE_VIOLATIONS");
}

proptest! {
    /// Whatever a server lists: each tool has one verdict, whose breaches point at something that is there.
    #[test]
    fn every_tool_has_a_verdict(at in any::<prop::sample::Index>(), value in intent_gateway_testing::json::json_value()) {
        let mut tools = Value::Array(tools());
        intent_gateway_testing::json::replace_somewhere(&mut tools, at, value);
        let listed = tools.as_array().cloned().unwrap_or_default();
        let report = judged(&listed);
        prop_assert_eq!(report.accepted.len() + report.skipped.len() + report.ignored.len(), listed.len());
        prop_assert_eq!(report.is_complete(), report.accepted.len() == 2);
        let breaches = report.skipped.iter().flat_map(|tool| &tool.violations).chain(&report.warnings);
        for breach in breaches {
            prop_assert!(intent_gateway_testing::json::points_into(&tools, &breach.pointer), "{breach:?}");
        }
    }
}

#[test]
fn each_tool_stands_against_what_was_accepted_of_it() {
    let pinned = judged(&tools()).pin();
    let standing = |accepted: Option<&PinnedTools>, found: Option<&ToolReport>| -> Vec<(String, ToolStanding)> {
        compare_tools(accepted, found).into_iter().map(|tool| (tool.tool.to_owned(), tool.standing)).collect()
    };
    let all = |of: ToolStanding| -> Vec<(String, ToolStanding)> {
        pinned.tools().iter().map(|tool| (tool.tool.clone(), of)).collect()
    };
    let same = judged(&tools());
    assert_eq!(standing(Some(&pinned), Some(&same)), all(ToolStanding::AsAccepted));
    assert_eq!(standing(None, Some(&same)), all(ToolStanding::New));
    assert_eq!(standing(Some(&pinned), None), all(ToolStanding::NotSeen));
    assert_eq!(standing(None, None), []);
    let found = judged(&with("/description", Some(json!("Other.")))[..1]);
    let compared = compare_tools(Some(&pinned), Some(&found));
    let changed: Vec<_> = compared.iter().filter(|tool| tool.standing == ToolStanding::Changed).collect();
    let [changed] = changed.as_slice() else { panic!("{compared:?}") };
    assert_eq!(changed.changes, [DriftKind::DescriptionChanged]);
    assert!(changed.accepted.is_some() && changed.found.is_some() && changed.accepted != changed.found);
    let gone: Vec<_> = compared.iter().filter(|tool| tool.standing == ToolStanding::Gone).collect();
    assert!(gone.len() == pinned.tools().len() - 1 && gone.iter().all(|tool| tool.found.is_none()), "{gone:?}");
}

#[test]
fn drift_is_told_by_its_kind() {
    let pinned = judged(&tools()).pin();
    assert_eq!(
        pinned.tools().iter().map(|tool| tool.tool.as_str()).collect::<Vec<_>>(),
        ["book_thing", "search_things"]
    );
    let drift = |tools: &[Value]| -> Vec<(String, DriftKind)> {
        let drift = pinned.drift(&judged(tools).pin());
        drift.into_iter().map(|drift| (drift.tool, drift.kind)).collect()
    };
    let search = |kind: DriftKind| vec![("search_things".to_owned(), kind)];
    // The same in another order of members and tools, and with numbers written otherwise.
    let mut same = tools();
    same.reverse();
    same[1]["_meta"]["platform"]["pricing"] = json!({"max": 20.0, "currency": "INR", "min": 10});
    assert_eq!(drift(&same), vec![]);
    let schema = with("/inputSchema/properties/city", Some(json!({"type": "string"})));
    assert_eq!(drift(&schema), search(DriftKind::SchemaChanged));
    assert_eq!(drift(&with("/outputSchema", Some(json!({})))), search(DriftKind::SchemaChanged));
    assert_eq!(drift(&with("/description", Some(json!("Other.")))), search(DriftKind::DescriptionChanged));
    assert_eq!(drift(&with("/title", Some(json!("Other")))), search(DriftKind::DescriptionChanged));
    let terms = with("/_meta/platform/pricing", Some(json!({"min": 11, "max": 20, "currency": "INR"})));
    assert_eq!(drift(&terms), search(DriftKind::TermsChanged));
    assert_eq!(drift(&tools()[1..]), search(DriftKind::Removed));
    assert_eq!(drift(&with("/description", Some(json!("")))), search(DriftKind::Removed));
    let fewer = judged(&tools()[1..]).pin();
    assert_eq!(fewer.drift(&pinned)[0].kind, DriftKind::Added);
    let mut both = with("/description", Some(json!("Other.")));
    both[0]["inputSchema"]["properties"]["city"] = json!({"type": "string"});
    assert_eq!(drift(&both).len(), 2);
    let mut terms_and_words = with("/_meta/platform/pricing", Some(json!({"min": 11, "max": 20, "currency": "INR"})));
    terms_and_words[0]["description"] = json!("Other.");
    let kinds: Vec<DriftKind> = drift(&terms_and_words).into_iter().map(|(_, kind)| kind).collect();
    assert_eq!(kinds, [DriftKind::DescriptionChanged, DriftKind::TermsChanged]);
    let written = serde_json::to_string(&pinned).expect("serialises");
    assert_eq!(serde_json::from_str::<PinnedTools>(&written).expect("reads what it writes"), pinned);
}

#[test]
fn only_what_is_otherwise_unchanged_is_a_rewording() {
    let pinned = judged(&tools()).pin();
    let split = |tools: &[Value]| split_rewordings(pinned.drift(&judged(tools).pin()));
    let (reworded, changed) = split(&with("/description", Some(json!("Other."))));
    assert_eq!((reworded.len(), changed.len()), (1, 0));
    let mut schema = with("/description", Some(json!("Other.")));
    schema[0]["inputSchema"]["properties"]["city"] = json!({"type": "string"});
    let mut terms = with("/description", Some(json!("Other.")));
    terms[0]["_meta"]["platform"]["pricing"] = json!({"min": 11, "max": 20, "currency": "INR"});
    for tools in [schema, terms] {
        let (reworded, changed) = split(&tools);
        assert_eq!((reworded.len(), changed.len()), (0, 2), "{changed:?}");
    }
    // What an earlier release has pinned does not say whether the terms are others.
    let mut older = serde_json::to_value(&pinned).expect("serialises");
    for tool in older.as_array_mut().expect("a list") {
        tool.as_object_mut().expect("an object").remove("terms_digest").expect("it is kept");
    }
    let mut older: PinnedTools = serde_json::from_value(older).expect("readable");
    let words = judged(&with("/description", Some(json!("Other.")))).pin();
    assert_eq!(split_rewordings(older.drift(&words)).0, []);
    // Once a probe has seen them unchanged, it is known.
    older.refresh(&pinned);
    assert_eq!(split_rewordings(older.drift(&words)).0.len(), 1);
}

#[test]
fn a_second_change_of_the_same_kind_is_another_drift() {
    let pinned = judged(&tools()).pin();
    let described = |text: &str| pinned.drift(&judged(&with("/description", Some(json!(text)))).pin());
    assert_eq!(described("Other."), described("Other."));
    assert_ne!(described("Other."), described("Another."));
    assert_eq!(pinned.drift(&PinnedTools::default())[0].now, None);
}

#[test]
fn accepting_takes_the_tools_of_those_intents_alone() {
    let old = judged(&tools()).pin();
    let new = judged(&with("/description", Some(json!("Other.")))[..1]).pin();
    let intent = IntentId::parse("test.find_things").expect("well formed");
    let mut pinned = old.clone();
    pinned.accept(&new, &BTreeSet::new());
    assert_eq!(pinned, old);
    pinned.accept(&new, &[intent.clone()].into());
    assert_eq!(pinned, new);
    assert!(pinned.holds(&intent) && !PinnedTools::default().holds(&intent));
    assert_eq!(old.intents().collect::<BTreeSet<_>>(), [&intent].into());
    pinned.accept(&PinnedTools::default(), &[intent.clone()].into());
    assert!(!pinned.holds(&intent));
    pinned.accept(&old, &[intent].into());
    assert_eq!(pinned, old);
}
