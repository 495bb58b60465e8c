//! The probe of a REST API: its OpenAPI document is fetched, and every mapped operation is looked up in it.
//!
//! The document is read as plain JSON, for the few members that matter here mean the same in OpenAPI 3.0 and 3.1, and a
//! document with a mistake elsewhere still tells what a call needs to know. References are followed within the document
//! alone.

use std::collections::BTreeMap;

use http::Method;
use http::header::HeaderValue;
use intent_gateway_domain::endpoint::{RestTool, Template, ToolMapping};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::limits::PROBE_CALL_TIMEOUT;
use intent_gateway_domain::partner_error::{clean, protocol};
use intent_gateway_domain::probe::{PROBE_TEXT_MAX_CHARS, ProbeRequest, ServerInfo, Step};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::wrapped::{Operation, Problems, tools};
use super::{Fault, ProbeEnded, Probing, millis};
use crate::api::Api;
use crate::client::PartnerClient;

/// References followed one after the other.
const REFERENCES_MAX: usize = 8;
/// Parameters that one operation is looked through for.
const PARAMETERS_MAX: usize = 200;
/// Parts of the document that one operation refers to.
const REFERENCED_MAX: usize = 1_000;
/// Members of an OpenAPI document that are for people.
const TEXTS: [&str; 7] = ["description", "example", "examples", "externalDocs", "summary", "tags", "title"];
/// Members whose own members are names that the API gives.
const NAMING: [&str; 7] =
    ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions", "headers", "referenced"];
/// Headers of which OpenAPI says that a parameter of that name is not meant (3.1, Parameter Object).
const HEADERS_IGNORED: [&str; 3] = ["accept", "content-type", "authorization"];

impl PartnerClient {
    pub(super) async fn probe_rest(
        &self,
        openapi_url: &str,
        request: &ProbeRequest<'_>,
        probing: &mut Probing,
    ) -> Result<(), ProbeEnded> {
        let begun = Instant::now();
        let fetched = tokio::time::timeout(PROBE_CALL_TIMEOUT, self.document(openapi_url)).await;
        let document = match fetched {
            Ok(document) => document,
            Err(_) => Err(CallFailure::Timeout(millis(PROBE_CALL_TIMEOUT)).into()),
        };
        let document = probing.step(Step::Document, begun, document)?;
        let said = |pointer: &str| {
            let text = document.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
            clean(text).chars().take(PROBE_TEXT_MAX_CHARS).collect::<String>()
        };
        let server = ServerInfo { name: said("/info/title"), version: said("/info/version") };
        if server.name.trim().is_empty() {
            probing.note("`info.title` is empty; it should identify the company");
        }
        probing.record.server = Some(server);

        let begun = Instant::now();
        let mut problems = Problems::default();
        for (intent, name, mapping) in tools(request) {
            // A document may be large, and others wait for this thread.
            tokio::task::yield_now().await;
            let ToolMapping::Rest(tool) = mapping else {
                problems.push("API_MAPPING_INVALID", format!("{intent}, {name}: the mapping is none of a REST API"));
                continue;
            };
            let label = format!("{intent}, {name}");
            if let Some(operation) = compare(&document, &label, tool, probing, &mut problems) {
                probing.wrap_probe(request, intent, name, mapping, &operation);
            }
        }
        if request.mappings.is_empty() {
            problems.push("API_MAPPING_MISSING", "the manifest maps no tool to the API".to_owned());
        }
        let outcome = problems.outcome(probing);
        probing.step(Step::Mapping, begun, outcome)
    }

    /// Fetches the OpenAPI document. It goes without the partner's token: the document may be on another host.
    async fn document(&self, openapi_url: &str) -> Result<Value, Fault> {
        let api = Api {
            wire: self.wire(),
            policy: self.policy(),
            bearer: None::<HeaderValue>,
            carried: Vec::new(),
            error_text: None,
        };
        let uri = api.policy.endpoint(openapi_url)?;
        let answered = api.exchange(api.request(Method::GET, uri, "application/json", None)).await?;
        if !answered.is_success() {
            return Err(answered.status_failure().into());
        }
        let document = answered.body.filter(Value::is_object);
        let document = document.ok_or_else(|| protocol("the OpenAPI document is no JSON object"))?;
        let version = document.get("openapi").and_then(Value::as_str).unwrap_or_default();
        if !version.starts_with("3.") || !document.get("paths").is_some_and(Value::is_object) {
            let message = "the document is no OpenAPI document of version 3 with `paths`";
            return Err(Fault::new("API_DOCUMENT_INVALID", message));
        }
        Ok(document)
    }
}

/// Compares one tool with the operation that it names.
fn compare(
    document: &Value,
    label: &str,
    tool: &RestTool,
    probing: &mut Probing,
    problems: &mut Problems,
) -> Option<Operation> {
    const INVALID: &str = "API_MAPPING_INVALID";
    let Some(found) = find(document, &tool.operation_id) else {
        let message = format!("{label}: the API has no operation `{}`", tool.operation_id);
        problems.push("API_OPERATION_MISSING", message);
        return None;
    };
    if found.path != tool.path || !found.method.eq_ignore_ascii_case(tool.method.as_str()) {
        let theirs = format!("{} {}", found.method.to_ascii_uppercase(), found.path);
        let message =
            format!("{label}: the API's operation is {theirs}, the mapping's {} {}", tool.method.as_str(), tool.path);
        problems.push(INVALID, message);
        return None;
    }
    if found.operation.get("deprecated") == Some(&Value::Bool(true)) {
        probing.note(format!("{label}: the operation is deprecated"));
    }
    let parameters = found.parameters(document);
    for parameter in &parameters {
        let (Some(name), Some(place)) = (parameter["name"].as_str(), parameter["in"].as_str()) else { continue };
        let given = match place {
            "path" => tool.path_params.iter().any(|(given, _)| given == name),
            "query" => tool.query.iter().any(|(given, _)| given == name),
            "header" => {
                let ignored = HEADERS_IGNORED.iter().any(|ignored| name.eq_ignore_ascii_case(ignored));
                ignored || tool.headers.iter().any(|(given, _)| name.eq_ignore_ascii_case(given))
            }
            _ => false,
        };
        if parameter["required"] == Value::Bool(true) && !given {
            problems.push(INVALID, format!("{label}: the required {place} parameter `{name}` is not mapped"));
        }
    }
    for (name, _) in &tool.query {
        if !parameters.iter().any(|parameter| parameter["in"] == "query" && parameter["name"] == name.as_str()) {
            probing.note(format!("{label}: the API knows no query parameter `{name}`"));
        }
    }
    let body = found.operation.get("requestBody").and_then(|body| resolve(document, body));
    compare_body(document, label, body, tool.body.as_ref(), probing, problems);
    let mut seen = json!({"operation": found.operation, "parameters": parameters});
    let referenced = collect_referenced(document, &seen);
    seen["referenced"] = json!(referenced);
    let seen = essence(&seen, false);
    let summary = found.operation.get("summary").and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    Some(Operation { summary: summary.map(clean), seen })
}

fn compare_body(
    document: &Value,
    label: &str,
    theirs: Option<&Value>,
    ours: Option<&Template>,
    probing: &mut Probing,
    problems: &mut Problems,
) {
    const INVALID: &str = "API_MAPPING_INVALID";
    let (theirs, ours) = match (theirs, ours) {
        (None, None) => return,
        (None, Some(_)) => return probing.note(format!("{label}: the API's operation takes no body")),
        (Some(theirs), None) => {
            if theirs["required"] == Value::Bool(true) {
                problems.push(INVALID, format!("{label}: the operation requires a body, and none is mapped"));
            }
            return;
        }
        (Some(theirs), Some(ours)) => (theirs, ours),
    };
    let Some(schema) = theirs.pointer("/content/application~1json/schema") else {
        return problems.push(INVALID, format!("{label}: the operation takes no body of `application/json`"));
    };
    let Some(schema) = resolve(document, schema) else { return };
    let members = ours.members();
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !members.contains(&name) {
            problems.push(INVALID, format!("{label}: the body's required member `{}` is not mapped", clean(name)));
        }
    }
}

/// An operation of a document.
struct FoundOperation<'a> {
    path: &'a str,
    method: &'a str,
    operation: &'a Value,
    /// What holds for all operations of the path.
    item: &'a Value,
}

fn find<'a>(document: &'a Value, operation_id: &str) -> Option<FoundOperation<'a>> {
    const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];
    let items = document.get("paths")?.as_object()?;
    items.iter().find_map(|(path, item)| {
        METHODS.into_iter().find_map(|method| {
            let operation = item.get(method)?;
            (operation.get("operationId")?.as_str()? == operation_id).then_some(FoundOperation {
                path,
                method,
                operation,
                item,
            })
        })
    })
}

impl<'a> FoundOperation<'a> {
    /// Its parameters; those of the operation come before those of the path, which they override.
    fn parameters(&self, document: &'a Value) -> Vec<&'a Value> {
        let mut parameters: Vec<&Value> = Vec::new();
        for list in [self.operation, self.item].into_iter().filter_map(|place| place.get("parameters")?.as_array()) {
            for parameter in list.iter().take(PARAMETERS_MAX).filter_map(|parameter| resolve(document, parameter)) {
                let same = |other: &&Value| other["name"] == parameter["name"] && other["in"] == parameter["in"];
                if !parameters.iter().any(same) {
                    parameters.push(parameter);
                }
            }
        }
        parameters
    }
}

/// Follows references within the document.
fn resolve<'a>(document: &'a Value, value: &'a Value) -> Option<&'a Value> {
    let mut value = value;
    for _ in 0..REFERENCES_MAX {
        match value.get("$ref").and_then(Value::as_str) {
            None => return Some(value),
            Some(reference) => value = document.pointer(reference.strip_prefix('#')?)?,
        }
    }
    None
}

/// Everything that a part of the document refers to within the document, directly or not, by reference.
fn collect_referenced(document: &Value, part: &Value) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    let mut open = references(part);
    while let Some(reference) = open.pop() {
        if found.len() >= REFERENCED_MAX || found.contains_key(&reference) {
            continue;
        }
        if let Some(value) = reference.strip_prefix('#').and_then(|pointer| document.pointer(pointer)) {
            open.extend(references(value));
            found.insert(reference, value.clone());
        }
    }
    found
}

/// The references in a value, at any depth.
fn references(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => {
                found.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
                open.extend(members.values());
            }
            _ => {}
        }
    }
    found
}

/// A part of the document without its texts for people: a new wording is no other operation. Where members are names
/// that the API gives, as under `properties`, all of them stay.
// As deep as the document nests, which its parser bounds (serde_json: 128).
fn essence(value: &Value, names: bool) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| essence(item, false)).collect(),
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, _)| names || !TEXTS.contains(&name.as_str()));
            let kept =
                kept.map(|(name, value)| (name.clone(), essence(value, !names && NAMING.contains(&name.as_str()))));
            Value::Object(kept.collect())
        }
        scalar => scalar.clone(),
    }
}
