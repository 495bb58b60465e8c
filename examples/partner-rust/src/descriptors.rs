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

    /// Where the platform takes completion reports; the partner's identifier follows (spec 1, Endpoints).
    const COMPLETION_PATH: &str = "/api/v1/cpc/mcp_provider/";

    fn of_every_catalogue() -> impl Iterator<Item = Tool> {
        ["oem", "garage", "doorstep", "specialist", "neighbourhood", "dishonest"].into_iter().flat_map(|name| {
            let catalogue = Catalogue::load(name).expect("a shipped catalogue");
            tools(&catalogue.platform).expect("descriptors")
        })
    }

    #[test]
    fn every_tool_is_named_and_described_as_the_platform_asks() {
        for tool in of_every_catalogue() {
            let words: Vec<&str> = tool.name.split('_').collect();
            let is_word = |word: &&str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase());
            assert!(words.len() >= 2 && words.iter().all(is_word), "{}", tool.name);
            let description = tool.description.as_ref().expect("a description");
            assert!(description.chars().count() <= 140, "{description}");
            assert_eq!((description.find('.'), description.contains('\n')), (Some(description.len() - 1), false));

            let schema = &tool.input_schema;
            assert_eq!(schema["type"], "object");
            let required = schema["required"].as_array().expect("required properties");
            let properties = schema["properties"].as_object().expect("properties");
            assert!(!required.is_empty());
            assert!(
                required.iter().all(|name| properties.contains_key(name.as_str().expect("a name"))),
                "{}",
                tool.name
            );
        }
    }

    #[test]
    fn every_tool_carries_what_the_platform_reads() {
        let mut roles = Vec::new();
        for tool in of_every_catalogue() {
            let platform = &tool.meta.as_ref().expect("_meta").0["platform"];
            assert_eq!((&platform["intent"], &platform["domain"]), (&Value::from(INTENT), &Value::from("auto")));
            assert_eq!(platform["widget_type"], "AcServiceWidget");
            assert_eq!(platform["intent_version"], "v1.0.0");
            let pricing = &platform["pricing"];
            assert_eq!(pricing["currency"], "INR");
            let (min, max) = (pricing["min"].as_f64().expect("a number"), pricing["max"].as_f64().expect("a number"));
            assert!(0.0 <= min && min <= max, "{pricing}");
            let area = platform["service_area"].as_array().expect("places");
            assert!(!area.is_empty() && area.iter().all(Value::is_string), "{area:?}");
            let signals = platform["ttbs_signals"].as_object().expect("signals");
            let axes = ["time", "taste", "budget", "safety"];
            assert!(signals.len() == axes.len() && axes.iter().all(|axis| signals.contains_key(*axis)), "{signals:?}");
            assert!(signals.values().all(|signal| signal.as_f64().is_some_and(|value| (0.0..=1.0).contains(&value))));
            assert!(platform["availability"].as_str().is_some_and(|hours| !hours.is_empty()));
            let callback = platform["completion_callback"].as_str().expect("an address");
            assert!(callback.starts_with("https://") && callback.contains(COMPLETION_PATH), "{callback}");
            roles.push(platform["tool_role"].as_str().expect("a role").to_owned());
        }
        assert!(roles.chunks(3).all(|three| three == ["search", "create", "cancel"]), "{roles:?}");
    }
}
