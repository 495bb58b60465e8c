//! Whether a mapping fits the contract of its intent: its tools, the codes that it gives, the arguments that it takes from
//! and the members that its responses lack. What only an answer can show, a dry run shows (`routing::trial`).
//!
//! Everything here is a warning before the first call: the mapping is sound in itself, and is kept as it is.

use serde_json::Value;

use super::mapping::{ApiMapping, ErrorMap, ToolMapping};
use super::template::{Node, Template};
use crate::contract::{Descriptor, Violation};
use crate::json_schema::{Entries, Named, find, items, properties, required};
use crate::nearest::nearest;
use crate::platform_code::PlatformCode;
use crate::pointer::{child, steps};

/// A tool that the intent does not have.
const UNKNOWN_TOOL: &str = "UNKNOWN_TOOL";
/// A tool of the intent that nothing answers.
const TOOL_NOT_MAPPED: &str = "TOOL_NOT_MAPPED";
/// A code that is neither in the intent's error table nor the platform's.
const UNKNOWN_ERROR_CODE: &str = "UNKNOWN_ERROR_CODE";
/// A place that the tool's arguments do not have.
const UNKNOWN_ARGUMENT: &str = "UNKNOWN_ARGUMENT";
/// A member that the contract requires and the response does not give.
const MEMBER_MISSING: &str = "MEMBER_MISSING";
/// A member that the contract requires and the response may leave out.
const MEMBER_OPTIONAL: &str = "MEMBER_OPTIONAL";
/// The search gives no token, or no time for it.
const NO_COMMITMENT: &str = "NO_COMMITMENT";
/// Mismatches reported for one mapping.
const MISMATCHES_MAX: usize = 100;

/// What a mapping is compared with: of an intent's contract, as much as a mapping names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntentShape {
    search_tool: String,
    /// Key of the array of options.
    options_key: String,
    tools: Vec<ToolShape>,
    /// The codes of the error table.
    errors: Vec<String>,
}

/// One tool of an intent. The schemas are JSON text: most are never looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ToolShape {
    name: String,
    request_schema: String,
    response_schema: String,
}

impl From<&Descriptor> for IntentShape {
    fn from(descriptor: &Descriptor) -> Self {
        let tools = descriptor.tools.iter().map(|tool| ToolShape {
            name: tool.name.clone(),
            request_schema: tool.request_schema.get().to_owned(),
            response_schema: tool.response_schema.get().to_owned(),
        });
        Self {
            search_tool: descriptor.search.tool.clone(),
            options_key: descriptor.search.options_key.clone(),
            tools: tools.collect(),
            errors: descriptor.errors.iter().map(|row| row.code.clone()).collect(),
        }
    }
}

impl IntentShape {
    /// Reads what a gateway shows of an intent's live contract; `None` where it is something else.
    #[must_use]
    pub fn of_shown(contract: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let tool = |tool: &Value| {
            Some(ToolShape {
                name: text(&tool["name"])?,
                request_schema: tool["request_schema"].to_string(),
                response_schema: tool["response_schema"].to_string(),
            })
        };
        let errors = contract["errors"].as_array()?.iter().map(|row| text(&row["code"]));
        Some(Self {
            search_tool: text(&contract["search"]["tool"])?,
            options_key: text(&contract["search"]["options_key"])?,
            tools: contract["tools"].as_array()?.iter().map(tool).collect::<Option<_>>()?,
            errors: errors.collect::<Option<_>>()?,
        })
    }

    fn tool(&self, name: &str) -> Option<&ToolShape> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    fn tool_names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| tool.name.as_str())
    }
}

impl ApiMapping {
    /// Compares the mapping with its intent's contract. Every mismatch that is found, at most a hundred, with pointers
    /// relative to the mapping.
    #[must_use]
    pub fn compare(&self, shape: &IntentShape) -> Vec<Violation> {
        let mut found = Mismatches::default();
        let mut meant = Vec::new();
        for (name, mapping) in self.tools() {
            let at = child("/tools", name);
            let Some(tool) = shape.tool(name) else {
                let unmapped = shape.tool_names().filter(|known| self.tool(known).is_none());
                let near = nearest(name, unmapped);
                meant.extend(near);
                found.push(&at, UNKNOWN_TOOL, format!("the intent has no tool `{name}`{}", did_you_mean(near)));
                continue;
            };
            compare_errors(mapping.errors(), &child(&at, "errors"), shape, &mut found);
            compare_arguments(mapping, tool, &at, &mut found);
            compare_response(mapping, tool, shape, &child(&at, "response"), &mut found);
        }
        for name in shape.tool_names().filter(|name| self.tool(name).is_none() && !meant.contains(name)) {
            found.push("/tools", TOOL_NOT_MAPPED, format!("the intent's tool `{name}` is not mapped"));
        }
        found.0
    }
}

#[derive(Default)]
struct Mismatches(Vec<Violation>);

impl Mismatches {
    fn push(&mut self, at: &str, code: &str, message: String) {
        if self.0.len() < MISMATCHES_MAX {
            self.0.push(Violation { pointer: at.to_owned(), code: code.to_owned(), message });
        }
    }
}

fn did_you_mean(near: Option<&str>) -> String {
    near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}

fn compare_errors(errors: &ErrorMap, at: &str, shape: &IntentShape, found: &mut Mismatches) {
    let known = || shape.errors.iter().map(String::as_str).chain(PlatformCode::ALL.map(PlatformCode::as_str));
    for (member, theirs, ours) in errors.translations() {
        if known().all(|code| code != ours) {
            let message = format!(
                "`{ours}` is neither in the intent's error table nor one of the platform's codes{}",
                did_you_mean(nearest(ours, known()))
            );
            found.push(&child(&child(at, member), &theirs), UNKNOWN_ERROR_CODE, message);
        }
    }
}

fn compare_arguments(mapping: &ToolMapping, tool: &ToolShape, at: &str, found: &mut Mismatches) {
    let Ok(schema) = serde_json::from_str::<Value>(&tool.request_schema) else { return };
    for (template_at, template) in mapping.located_templates(at) {
        for place in template.argument_places(&template_at) {
            let names: Vec<String> = steps(place.pointer).collect();
            let Named::Nowhere { step, known } = find(&schema, &names, Entries::ByIndex) else { continue };
            let meant = nearest(&names[step], known).map(|near| {
                let mut names = names.clone();
                near.clone_into(&mut names[step]);
                names.iter().fold(String::new(), |pointer, name| child(&pointer, name))
            });
            let message =
                format!("`{}` is no argument of `{}`{}", place.pointer, tool.name, did_you_mean(meant.as_deref()));
            found.push(&place.at, UNKNOWN_ARGUMENT, message);
        }
    }
}

fn compare_response(mapping: &ToolMapping, tool: &ToolShape, shape: &IntentShape, at: &str, found: &mut Mismatches) {
    let Ok(schema) = serde_json::from_str::<Value>(&tool.response_schema) else { return };
    let response = mapping.response();
    if tool.name == shape.search_tool {
        compare_search(response, &schema, shape, at, found);
    } else {
        compare_node(Part::of(response), &schema, &schema, at, found);
    }
}

/// A search's response is an envelope with the options; the schema is that of one option.
fn compare_search(response: &Template, schema: &Value, shape: &IntentShape, at: &str, found: &mut Mismatches) {
    let (key, part) = (shape.options_key.as_str(), Part::of(response));
    let (options, options_at) = match part.members() {
        Some(members) => {
            if let Some(missing) = ["result_token", "expires_at"].into_iter().find(|name| !members.has(name)) {
                let message =
                    format!("`{missing}` is missing: the answer commits to nothing for longer than 15 minutes");
                found.push(at, NO_COMMITMENT, message);
            }
            let Some(options) = members.get(key) else {
                let near = nearest(key, members.names());
                let message = match near {
                    Some(near) => format!("`{key}`, the array of options, is missing; is `{near}` meant for it?"),
                    None => format!("`{key}`, the array of options, is missing"),
                };
                return found.push(at, MEMBER_MISSING, message);
            };
            (options, child(at, key))
        }
        None if part.is_array() => {
            let message = "an array alone commits to nothing for longer than 15 minutes; give an object with \
                           `result_token`, `expires_at` and the options";
            found.push(at, NO_COMMITMENT, message.to_owned());
            (part, at.to_owned())
        }
        // Handed through: what it holds, an answer shows.
        None => return,
    };
    for (option, option_at) in options.items(&options_at) {
        compare_node(option, schema, schema, &option_at, found);
    }
}

/// Reports the members that a schema requires and a part of a response lacks, at any depth.
fn compare_node(part: Part<'_>, schema: &Value, root: &Value, at: &str, found: &mut Mismatches) {
    if let Some(then) = part.then() {
        return compare_node(then, schema, root, &child(at, "then"), found);
    }
    let known = properties(schema, root);
    if let Some(members) = part.members() {
        for name in required(schema, root) {
            let Some(member) = members.get(name) else {
                let strange = members.names().filter(|given| known.iter().all(|(known, _)| known != given));
                let near = nearest(name, strange).map(|near| format!("; is `{near}` meant for it?"));
                let message = format!("the contract requires `{name}`{}", near.unwrap_or_default());
                found.push(at, MEMBER_MISSING, message);
                continue;
            };
            if member.may_be_left_out() {
                let message = format!("the contract requires `{name}`, and it is left out where the API has nothing");
                found.push(&child(at, name), MEMBER_OPTIONAL, message);
            }
        }
        for (name, schema) in known {
            if let Some(member) = members.get(name) {
                compare_node(member, schema, root, &child(at, name), found);
            }
        }
    }
    if let Some(items) = items(schema, root) {
        for (item, item_at) in part.items(at) {
            compare_node(item, items, root, &item_at, found);
        }
    }
}

/// A part of a response: a node of its template, or of a literal in it.
#[derive(Clone, Copy)]
enum Part<'a> {
    Node(&'a Node),
    Literal(&'a Value),
}

impl<'a> Part<'a> {
    fn of(template: &'a Template) -> Self {
        Self::of_node(template.root())
    }

    fn of_node(node: &'a Node) -> Self {
        match node {
            Node::Literal(value) => Self::Literal(value),
            node => Self::Node(node),
        }
    }

    fn members(self) -> Option<Members<'a>> {
        match self {
            Self::Node(Node::Object(members)) => {
                Some(Members(members.iter().map(|(name, node)| (name.as_str(), Self::of_node(node))).collect()))
            }
            Self::Literal(Value::Object(members)) => {
                Some(Members(members.iter().map(|(name, value)| (name.as_str(), Self::Literal(value))).collect()))
            }
            _ => None,
        }
    }

    fn is_array(self) -> bool {
        matches!(self, Self::Node(Node::Each { .. } | Node::Array(_)) | Self::Literal(Value::Array(_)))
    }

    /// The items of an array, each with its place; what is made of each item of the API's array is one.
    fn items(self, at: &str) -> Vec<(Self, String)> {
        let placed = |(index, part): (usize, Self)| (part, child(at, &index.to_string()));
        match self {
            Self::Node(Node::Each { item, .. }) => vec![(Self::of_node(item), child(at, "item"))],
            Self::Node(Node::Array(items)) => items.iter().map(Self::of_node).enumerate().map(placed).collect(),
            Self::Literal(Value::Array(items)) => items.iter().map(Self::Literal).enumerate().map(placed).collect(),
            _ => Vec::new(),
        }
    }

    /// What stands where a condition holds.
    fn then(self) -> Option<Self> {
        match self {
            Self::Node(Node::When { then, .. }) => Some(Self::of_node(then)),
            _ => None,
        }
    }

    fn may_be_left_out(self) -> bool {
        match self {
            Self::Node(Node::When { .. }) => true,
            Self::Node(Node::Taken(taken)) => taken.may_be_left_out(),
            _ => false,
        }
    }
}

/// The members of an object in a response.
struct Members<'a>(Vec<(&'a str, Part<'a>)>);

impl<'a> Members<'a> {
    fn get(&self, name: &str) -> Option<Part<'a>> {
        self.0.iter().find(|(given, _)| *given == name).map(|(_, part)| *part)
    }

    fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    fn names(&self) -> impl Iterator<Item = &'a str> {
        self.0.iter().map(|(name, _)| *name)
    }
}
