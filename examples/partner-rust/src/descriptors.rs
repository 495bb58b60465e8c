//! What `tools/list` answers: the intent's three tools with this business's terms in
//! `_meta.platform` (spec 1, tool descriptor).
//!
//! Names, descriptions and input schemas come from `examples/catalogues/contract/tools.json`, the
//! same for every example partner.

use std::sync::Arc;

use rmcp::model::{JsonObject, MetaObject, Tool};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::catalogue::PlatformTerms;

/// The one intent that this partner serves.
pub(crate) const INTENT: &str = "auto.book_ac_service";

const TOOLS: &str = include_str!("../../catalogues/contract/tools.json");

#[derive(Debug, Deserialize)]
struct ToolFile {
    intent: String,
    domain: String,
    intent_version: String,
    widget_type: String,
    tools: Vec<ToolEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolEntry {
    name: String,
    description: String,
    #[serde(rename = "tool_role")]
    role: String,
    input_schema: JsonObject,
}

/// The descriptors of one business.
pub(crate) fn tools(terms: &PlatformTerms) -> Result<Vec<Tool>, serde_json::Error> {
    let file: ToolFile = serde_json::from_str(TOOLS)?;
    let mut shared: Map<String, Value> = match serde_json::to_value(terms)? {
        Value::Object(terms) => terms,
        _ => Map::new(),
    };
    for (key, value) in [
        ("intent", file.intent),
        ("domain", file.domain),
        ("intent_version", file.intent_version),
        ("widget_type", file.widget_type),
    ] {
        shared.insert(key.into(), value.into());
    }
    let descriptor = |entry: ToolEntry| {
        let mut platform = shared.clone();
        platform.insert("tool_role".into(), entry.role.into());
        let mut meta = JsonObject::new();
        meta.insert("platform".into(), Value::Object(platform));
        Tool::new(entry.name, entry.description, Arc::new(entry.input_schema)).with_meta(MetaObject(meta))
    };
    Ok(file.tools.into_iter().map(descriptor).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;

    #[test]
    fn every_tool_carries_what_the_platform_reads() {
        let terms = Catalogue::load("doorstep").expect("built in").platform;
        let tools = tools(&terms).expect("descriptors");
        let roles: Vec<String> = tools
            .iter()
            .map(|tool| {
                assert!(tool.description.as_ref().is_some_and(|d| d.chars().count() <= 140));
                let platform = &tool.meta.as_ref().expect("_meta").0["platform"];
                assert_eq!(platform["intent"], INTENT);
                for key in [
                    "domain",
                    "pricing",
                    "service_area",
                    "ttbs_signals",
                    "availability",
                    "widget_type",
                    "completion_callback",
                    "intent_version",
                ] {
                    assert!(platform.get(key).is_some(), "{key}");
                }
                platform["tool_role"].as_str().expect("a role").to_owned()
            })
            .collect();
        assert_eq!(roles, ["search", "create", "cancel"]);
    }
}
