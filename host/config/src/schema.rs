//! The configuration as a JSON Schema (draft 7, which editors of TOML know): each key with its type, its default and what it means.
//!
//! Types come from the sections themselves, what they mean from `docs/configuration.md`. Bounds are not in it: `config check` knows them.

use std::collections::BTreeMap;

use intent_gateway_http::auth::{Role, Scope};
use intent_gateway_linking::AuthMethod;
use intent_gateway_mail::MailConfig;
use intent_gateway_partners::PartnerClientConfig;
use intent_gateway_sandbox::SandboxConfig;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::secret_files::{EACH, SECRETS, SUFFIX};
use super::show::table;
use super::{
    AnchorsSection, AuthSection, Config, ConsoleSection, ContractsSection, EvidenceSection, FleetSection,
    LinkingSection, LogSection, OrdersSection, OutboundSection, PartnerEntry, PlatformSection, QuotasSection,
    SearchSection, ServerSection, StoreSection, StreamsSection, TelemetrySection,
};

const DOCS: &str = include_str!("../../../docs/configuration.md");

/// Describes a type.
type Describe = fn(&mut SchemaGenerator) -> Schema;

/// Every key that stands outside all others, with the type of what is below.
const TOP_LEVEL: [(&str, Describe); 22] = [
    ("state_dir", SchemaGenerator::subschema_for::<String>),
    ("server", SchemaGenerator::subschema_for::<ServerSection>),
    ("quotas", SchemaGenerator::subschema_for::<QuotasSection>),
    ("auth", SchemaGenerator::subschema_for::<AuthSection>),
    ("platform", SchemaGenerator::subschema_for::<PlatformSection>),
    ("store", SchemaGenerator::subschema_for::<StoreSection>),
    ("anchors", SchemaGenerator::subschema_for::<AnchorsSection>),
    ("fleet", SchemaGenerator::subschema_for::<FleetSection>),
    ("evidence", SchemaGenerator::subschema_for::<EvidenceSection>),
    ("orders", SchemaGenerator::subschema_for::<OrdersSection>),
    ("outbound", SchemaGenerator::subschema_for::<OutboundSection>),
    ("linking", SchemaGenerator::subschema_for::<LinkingSection>),
    ("mail", SchemaGenerator::subschema_for::<MailConfig>),
    ("contracts", SchemaGenerator::subschema_for::<ContractsSection>),
    ("search", SchemaGenerator::subschema_for::<SearchSection>),
    ("streams", SchemaGenerator::subschema_for::<StreamsSection>),
    ("console", SchemaGenerator::subschema_for::<ConsoleSection>),
    ("sandbox", SchemaGenerator::subschema_for::<SandboxConfig>),
    ("partner_client", SchemaGenerator::subschema_for::<PartnerClientConfig>),
    ("log", SchemaGenerator::subschema_for::<LogSection>),
    ("telemetry", SchemaGenerator::subschema_for::<TelemetrySection>),
    ("partners", SchemaGenerator::subschema_for::<Vec<PartnerEntry>>),
];

/// The schema of a configuration file.
///
/// # Errors
/// Where the defaults cannot be written, which is a defect.
pub fn make_schema() -> Result<Value, toml::ser::Error> {
    let mut settings = SchemaSettings::draft07();
    // Each section is written out where it is, since what a key means is told of that place.
    settings.inline_subschemas = true;
    let mut generator = settings.into_generator();
    let mut properties: Map<String, Value> =
        TOP_LEVEL.iter().map(|(key, of)| ((*key).to_owned(), of(&mut generator).to_value())).collect();
    properties.values_mut().for_each(simplify);
    let mut schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Configuration of intent-gateway",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    });
    for secret in &SECRETS {
        add_file(&mut schema, secret.path);
    }
    let defaults = serde_json::to_value(table(&Config::default())?).unwrap_or_default();
    for (key, meaning) in read_meanings() {
        let path: Vec<&str> = key.split('.').collect();
        let Some(property) = find(&mut schema, &path) else { continue };
        property.insert("description".to_owned(), meaning.into());
        let default = path.iter().try_fold(&defaults, |value, name| value.get(name));
        match default {
            Some(default) => property.insert("default".to_owned(), default.clone()),
            None => property.remove("default"),
        };
    }
    Ok(schema)
}

/// What each key means, as the documentation says: its unit, and the rest.
fn read_meanings() -> BTreeMap<&'static str, String> {
    let rows = DOCS.split("\n## Keys\n").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap_or_default();
    let rows = rows.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |"));
    rows.filter_map(|row| {
        let mut cells = row.splitn(4, '|').map(str::trim);
        let (key, _default, unit, meaning) = (cells.next()?, cells.next()?, cells.next()?, cells.next()?);
        let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
        Some((key.trim_end_matches('`'), format!("{meaning}{unit}")))
    })
    .collect()
}

/// The description of a setting, by the names that lead to it.
fn find<'a>(schema: &'a mut Value, path: &[&str]) -> Option<&'a mut Map<String, Value>> {
    path.iter().try_fold(schema, |schema, name| schema.get_mut("properties")?.get_mut(name))?.as_object_mut()
}

/// Says that a secret may be named by its file as well.
fn add_file(schema: &mut Value, path: &[&str]) {
    match path {
        [] => {}
        [name] => {
            let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
            let description = format!("File that holds `{name}`, in place of it.");
            properties.insert(format!("{name}{SUFFIX}"), json!({"type": "string", "description": description}));
        }
        [EACH, rest @ ..] => {
            if let Some(items) = schema.get_mut("items") {
                add_file(items, rest);
            }
        }
        [name, rest @ ..] => {
            if let Some(below) = schema.get_mut("properties").and_then(|properties| properties.get_mut(name)) {
                add_file(below, rest);
            }
        }
    }
}

/// TOML has no null: what may be left out is just left out. Formats of numbers are Rust's own.
fn simplify(schema: &mut Value) {
    let Value::Object(members) = schema else { return };
    members.remove("format");
    if let Some(Value::Array(types)) = members.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            members.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(choices)) = members.get_mut("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(one)] = choices.as_slice() {
            let one = one.clone();
            members.remove("anyOf");
            members.extend(one);
        }
    }
    if members.get("default").is_some_and(Value::is_null) {
        members.remove("default");
    }
    // Names of properties are no words of the schema.
    if let Some(Value::Object(properties)) = members.get_mut("properties") {
        properties.values_mut().for_each(simplify);
    }
    for below in ["items", "additionalProperties"] {
        members.get_mut(below).map(simplify).unwrap_or_default();
    }
    for choices in ["anyOf", "oneOf"] {
        members.get_mut(choices).and_then(Value::as_array_mut).into_iter().flatten().for_each(simplify);
    }
}

/// A text that is one of some names.
fn one_of<T: Serialize>(values: &[T]) -> Value {
    json!({"type": "string", "enum": values})
}

fn map_of(values: Value) -> Schema {
    schemars::json_schema!({"type": "object", "additionalProperties": values})
}

pub(crate) fn role(_: &mut SchemaGenerator) -> Schema {
    Schema::try_from(one_of(&Role::ALL)).unwrap_or_default()
}

pub(crate) fn roles(_: &mut SchemaGenerator) -> Schema {
    map_of(one_of(&Role::ALL))
}

pub(crate) fn scopes(_: &mut SchemaGenerator) -> Schema {
    map_of(one_of(&Scope::EVERY))
}

pub(crate) fn auth_method(_: &mut SchemaGenerator) -> Schema {
    Schema::try_from(one_of(&AuthMethod::ALL)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_there_with_what_it_means_and_its_default() {
        let mut schema = make_schema().expect("written");
        let meanings = read_meanings();
        for key in crate::tests::every_key() {
            let path: Vec<&str> = key.split('.').collect();
            let property = find(&mut schema, &path).unwrap_or_else(|| panic!("{key} is not in the schema"));
            assert!(["type", "oneOf"].iter().any(|word| property.contains_key(*word)), "{key}: {property:?}");
            let description = property["description"].as_str().expect("a text");
            assert_eq!(Some(description), meanings.get(key.as_str()).map(String::as_str), "{key}");
        }
        let of = |schema: &Value, pointer: &str| schema.pointer(pointer).cloned().unwrap_or_default();
        assert_eq!(of(&schema, "/properties/server/properties/max_in_flight/default"), 1024);
        assert_eq!(of(&schema, "/properties/server/properties/max_in_flight/type"), "integer");
        assert_eq!(of(&schema, "/properties/quotas/properties/token_per_day/type"), "integer", "no null in TOML");
        assert_eq!(of(&schema, "/properties/auth/properties/signing_key_file/type"), "string");
        assert_eq!(of(&schema, "/properties/partners/items/properties/token_file/type"), "string");
        assert_eq!(of(&schema, "/properties/auth/properties/issuers/items/properties/role/enum/0"), "partner");
        assert!(!schema.to_string().contains("\"null\""));
    }

    #[test]
    fn it_has_the_keys_that_are_read_and_no_others() {
        let names: Vec<&str> = TOP_LEVEL.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, crate::load::TOP_LEVEL);
        let schema = make_schema().expect("written");
        for (name, section) in schema["properties"].as_object().expect("an object") {
            if section["type"] == "object" {
                assert_eq!(section["additionalProperties"], false, "{name} takes whatever is given");
            }
        }
    }

    /// What ships is what the schema says, and what is wrong is not.
    #[test]
    fn configurations_that_ship_keep_to_it() {
        let schema = jsonschema::validator_for(&make_schema().expect("written")).expect("a schema");
        let value = |text: &str| serde_json::to_value(text.parse::<toml::Table>().expect("TOML")).expect("JSON");
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        for file in [
            "examples/gateway.toml",
            "deploy/systemd/gateway.toml",
            "deploy/compose/gateway.toml",
            "deploy/package/example.toml",
        ] {
            let text = std::fs::read_to_string(format!("{root}/{file}")).expect("readable");
            let wrong: Vec<String> = schema.iter_errors(&value(&text)).map(|error| error.to_string()).collect();
            assert!(wrong.is_empty(), "{file}: {wrong:?}");
        }
        for wrong in [
            "unknown = 1",
            "[server]\nmax_in_flight = \"many\"",
            "[server]\nunknown = 1",
            "[log]\nformat = \"xml\"",
            "[[partners]]\nid = \"a\"",
            "[[auth.issuers]]\nissuer = \"a\"\njwks_url = \"b\"\naudience = \"c\"\nrole = \"king\"",
            "[mail]\ntls = \"sometimes\"",
        ] {
            assert!(!schema.is_valid(&value(wrong)), "{wrong}");
        }
    }
}
