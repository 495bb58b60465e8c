//! The tools that a mapping makes of an API, described as an MCP server would have described them, so that one judge
//! judges all partners alike.

use std::collections::BTreeSet;

use intent_gateway_domain::canonical::canonical_json;
use intent_gateway_domain::contract::{Descriptor, Tool};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::endpoint::ToolMapping;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::probe::ProbeRequest;
use serde_json::{Map, Value, json};

use super::{Fault, Probing};

/// Characters of a description (spec 1, Tool descriptor).
const DESCRIPTION_MAX_CHARS: usize = 140;
/// Problems that a failure's message names; all of them are among the notes.
const PROBLEMS_NAMED_MAX: usize = 3;

/// What an API says of the operation that answers a tool.
pub(super) struct Operation {
    /// Its own summary, where it has one.
    pub(super) summary: Option<String>,
    /// What it looks like today; a later probe sees from it that the API has changed.
    pub(super) seen: Value,
}

/// All that keeps mapped tools from being called.
#[derive(Default)]
pub(super) struct Problems {
    first_code: Option<&'static str>,
    messages: Vec<String>,
}

impl Problems {
    pub(super) fn push(&mut self, code: &'static str, message: String) {
        self.first_code.get_or_insert(code);
        self.messages.push(message);
    }

    /// Notes all problems, and fails with the first one's code.
    pub(super) fn outcome(self, probing: &mut Probing) -> Result<(), Fault> {
        let Some(code) = self.first_code else { return Ok(()) };
        for message in &self.messages {
            probing.note(message);
        }
        let named: Vec<_> = self.messages.iter().take(PROBLEMS_NAMED_MAX).map(String::as_str).collect();
        let more = match self.messages.len() - named.len() {
            0 => String::new(),
            more => format!("; and {more} more, see the notes"),
        };
        Err(Fault::new(code, format!("{}{more}", named.join("; "))))
    }
}

/// Every mapped tool with its intent.
pub(super) fn tools<'a>(request: &ProbeRequest<'a>) -> impl Iterator<Item = (&'a IntentId, &'a str, &'a ToolMapping)> {
    let mappings = request.mappings;
    mappings
        .iter()
        .flat_map(|(intent, mapping)| mapping.tools().iter().map(move |(name, tool)| (intent, name.as_str(), tool)))
}

impl Probing {
    /// Records the tool that a mapping makes of an operation.
    pub(super) fn wrap_probe(
        &mut self,
        request: &ProbeRequest<'_>,
        intent: &IntentId,
        name: &str,
        mapping: &ToolMapping,
        operation: &Operation,
    ) {
        let contract = request.contracts.live(intent.as_str());
        let contract: Option<&Descriptor> = contract.as_ref().map(|contract| contract.descriptor());
        let tool = contract.and_then(|contract| contract.tools.iter().find(|tool| tool.name == name));
        let schema = tool.map(request_schema).unwrap_or_default();
        let expected = required_of(&schema);
        let used: BTreeSet<_> = mapping.arguments().into_iter().collect();
        // A member that always has the same value tells an API nothing.
        let tells = |name: &&String| schema["properties"][name.as_str()].get("const").is_none();
        for argument in expected.difference(&used).filter(tells) {
            self.note(format!("{intent}, {name}: the mapping makes no use of the argument `{argument}`"));
        }
        if let Some(contract) = contract {
            let codes: BTreeSet<_> = contract.errors.iter().map(|error| error.code.as_str()).collect();
            for code in mapping.errors().platform_codes().into_iter().filter(|code| !codes.contains(code)) {
                self.note(format!("{intent}, {name}: `{code}` is not in the intent's error table"));
            }
        }
        // The wrapper takes everything that the contract sends; what the mapping needs beyond that, it needs too.
        let required: BTreeSet<_> = expected.into_iter().chain(mapping.required_arguments()).collect();
        let properties: Map<String, Value> = required.iter().map(|name| (name.clone(), json!({}))).collect();
        let purpose = tool.map(|tool| tool.purpose.clone());
        let seen = Digest::of(canonical_json(&operation.seen).as_bytes());
        let description = operation.summary.clone().or(purpose).unwrap_or_else(|| format!("Answers {name}."));
        self.record.tools.push(json!({
            "name": name,
            "description": description.trim().chars().take(DESCRIPTION_MAX_CHARS).collect::<String>(),
            "inputSchema": {
                "type": "object",
                "properties": properties,
                "required": required,
                // What goes in and comes out is up to the operation, so a change of it has to count as one of the schema.
                "$comment": format!("stands for an operation of the API, SHA-256 {seen}"),
            },
            "_meta": {"platform": {"intent": intent, "domain": intent.domain()}},
        }));
    }
}

fn request_schema(tool: &Tool) -> Value {
    // The loader has checked that it is JSON.
    serde_json::from_str(tool.request_schema.get()).unwrap_or_default()
}

/// What a schema requires, at the top.
fn required_of(schema: &Value) -> BTreeSet<String> {
    let required = schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    required.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()
}
