//! What the tools are called with: the requests to search with, and arguments of each other tool. A contract's own examples show
//! both; a developer may give others.
//!
//! Examples are of 1 January 2026 (`wit/contract.wit`). Their dates are moved, all by the same number of days, so that what they ask for
//! lies ahead as it did then.

use std::collections::{BTreeMap, BTreeSet};

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::limits::DAY_MS;
use intent_gateway_domain::pointer::child;
use jiff::ToSpan as _;
use jiff::civil::Date;
use serde_json::{Map, Value};

/// The time of every example: 2026-01-01T00:00:00Z, milliseconds since the epoch.
const EXAMPLES_AT_MS: u64 = 1_767_225_600_000;
/// Characters of a date, `2026-01-01`.
const DATE_CHARS: usize = 10;
/// How deep an option is looked through for the values of an example, objects and arrays.
const DEPTH_MAX: usize = 16;

/// What a contract's example shows.
#[derive(Clone, Copy, Debug)]
pub enum Shown<'a> {
    /// Arguments of a tool that pass, JSON text.
    Arguments { tool: &'a str, arguments: &'a str },
    /// An option of a search, JSON text.
    Option(&'a str),
}

/// What the tools are called with.
#[derive(Clone, Debug, Default)]
pub struct Material {
    /// Requests to search with, JSON text.
    pub(crate) requests: Vec<String>,
    tools: BTreeMap<String, ToolMaterial>,
}

/// What one tool is called with.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToolMaterial {
    pub(crate) arguments: Map<String, Value>,
    /// Where in an option members of the arguments come from: a JSON Pointer each.
    pub(crate) origins: BTreeMap<String, String>,
}

impl Material {
    /// What the examples of a contract show, moved to the present. The first arguments that pass count.
    #[must_use]
    pub fn of_examples<'a>(search_tool: &str, examples: impl IntoIterator<Item = Shown<'a>>, now: Timestamp) -> Self {
        let days = count_days_since_examples(now);
        let mut material = Self::default();
        let mut options = Vec::new();
        for shown in examples {
            match shown {
                Shown::Option(option) => options.extend(serde_json::from_str::<Value>(option)),
                Shown::Arguments { tool, arguments } => {
                    let Ok(Value::Object(arguments)) = serde_json::from_str(arguments) else { continue };
                    if tool == search_tool && material.requests.is_empty() {
                        let mut request = Value::Object(arguments);
                        move_dates(&mut request, days);
                        material.requests.push(request.to_string());
                    } else if tool != search_tool {
                        let shown = || ToolMaterial { arguments, origins: BTreeMap::new() };
                        material.tools.entry(tool.to_owned()).or_insert_with(shown);
                    }
                }
            }
        }
        for ToolMaterial { arguments, origins } in material.tools.values_mut() {
            *origins = find_origins(arguments, &options);
            arguments.values_mut().for_each(|value| move_dates(value, days));
        }
        material
    }

    /// Searches with these in place of the contract's own request.
    pub fn search_with(&mut self, requests: Vec<String>) {
        self.requests = requests;
    }

    /// Calls a tool with these arguments in place of the contract's own. Identifiers are still filled in.
    pub fn call_with(&mut self, tool: &str, arguments: Map<String, Value>) {
        self.tools.entry(tool.to_owned()).or_default().arguments = arguments;
    }

    /// What a tool is called with, where something shows it.
    pub(crate) fn of_tool(&self, tool: &str) -> Option<&ToolMaterial> {
        self.tools.get(tool)
    }
}

/// For how many days the examples lie back, and one more, so that nothing of their first day is over.
fn count_days_since_examples(now: Timestamp) -> i64 {
    let days = now.as_ms().saturating_sub(EXAMPLES_AT_MS) / DAY_MS + 1;
    i64::try_from(days).unwrap_or_default()
}

/// Moves every date and datetime of a document by so many days; the time of day and the offset stay.
fn move_dates(value: &mut Value, days: i64) {
    match value {
        Value::Object(members) => members.values_mut().for_each(|member| move_dates(member, days)),
        Value::Array(elements) => elements.iter_mut().for_each(|element| move_dates(element, days)),
        Value::String(text) => {
            if let Some(moved) = move_date(text, days) {
                *text = moved;
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn move_date(text: &str, days: i64) -> Option<String> {
    let (date, time) = text.split_at_checked(DATE_CHARS)?;
    if !(time.is_empty() || time.starts_with('T')) {
        return None;
    }
    let moved = date.parse::<Date>().ok()?.checked_add(days.days()).ok()?;
    Some(format!("{moved}{time}"))
}

/// Where in an option the texts of an example's arguments stand. A class and its teacher may stand at several places each: those count
/// that stand together.
fn find_origins(arguments: &Map<String, Value>, options: &[Value]) -> BTreeMap<String, String> {
    let texts: Vec<(&String, &str)> =
        arguments.iter().filter_map(|(member, value)| Some((member, value.as_str()?))).collect();
    let places_in = |option: &Value| -> BTreeMap<String, Vec<String>> {
        let mut found = BTreeMap::new();
        for (member, text) in &texts {
            let mut places = Vec::new();
            find_text(option, text, "", 0, &mut places);
            if !places.is_empty() {
                found.insert((*member).clone(), places);
            }
        }
        found
    };
    let best = options.iter().map(places_in).max_by_key(BTreeMap::len).unwrap_or_default();
    let together = |place: &str| {
        let beside = place.rsplit_once('/').map_or("", |(parent, _)| parent);
        let prefix = format!("{beside}/");
        best.values().filter(|places| places.iter().any(|other| other.starts_with(&prefix))).count()
    };
    let choose = |places: &Vec<String>| -> Option<String> {
        // Of those that are alike, the first.
        places.iter().rev().max_by_key(|place| together(place)).cloned()
    };
    best.iter().filter_map(|(member, places)| Some((member.clone(), choose(places)?))).collect()
}

/// The pointers at which a text stands.
fn find_text(value: &Value, text: &str, at: &str, depth: usize, places: &mut Vec<String>) {
    if depth > DEPTH_MAX {
        return;
    }
    match value {
        Value::String(found) if found == text => places.push(at.to_owned()),
        Value::Object(members) => {
            for (name, member) in members {
                find_text(member, text, &child(at, name), depth + 1, places);
            }
        }
        Value::Array(elements) => {
            for (place, element) in elements.iter().enumerate() {
                find_text(element, text, &format!("{at}/{place}"), depth + 1, places);
            }
        }
        _ => {}
    }
}

/// The members that a schema requires.
pub(crate) fn read_required(schema: &str) -> BTreeSet<String> {
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    let names = schema["required"].as_array().into_iter().flatten();
    names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

/// The members that a schema knows.
pub(crate) fn read_properties(schema: &str) -> BTreeSet<String> {
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    schema["properties"].as_object().into_iter().flat_map(Map::keys).cloned().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// 2026-03-01T12:00:00Z: 59 and a half days after the examples.
    const NOW: Timestamp = Timestamp::from_ms(EXAMPLES_AT_MS + 59 * DAY_MS + DAY_MS / 2);

    #[test]
    fn dates_move_and_times_of_day_stay() {
        let mut request = json!({
            "from": "2026-01-02T07:00:00+05:30", "until": ["2026-01-03"], "not": "2026-01-02 07:00",
            "version": "1.0.0", "number": 20_260_102, "text": "2026-13-45", "née": "é2026-01-",
        });
        move_dates(&mut request, count_days_since_examples(NOW));
        let expected = json!({
            "from": "2026-03-03T07:00:00+05:30", "until": ["2026-03-04"], "not": "2026-01-02 07:00",
            "version": "1.0.0", "number": 20_260_102, "text": "2026-13-45", "née": "é2026-01-",
        });
        assert_eq!(request, expected);
    }

    #[test]
    fn members_come_from_where_they_stand_together_in_an_option() {
        let option = json!({
            "studio": {"id": "s-1"},
            "classes": [{"class_id": "c-1"}],
            "slots": [{"class_id": "c-1", "teacher": "i-1"}],
            "teachers": [{"id": "i-1"}],
        });
        let arguments = json!({"studio_id": "s-1", "class_id": "c-1", "teacher_id": "i-1", "note": "", "seats": 2});
        let Value::Object(arguments) = arguments else { panic!("an object") };
        let origins = find_origins(&arguments, &[json!({"class_id": "c-1"}), option]);
        let expected =
            [("class_id", "/slots/0/class_id"), ("studio_id", "/studio/id"), ("teacher_id", "/slots/0/teacher")];
        assert_eq!(origins, expected.map(|(member, place)| (member.to_owned(), place.to_owned())).into());
    }

    #[test]
    fn the_first_example_that_passes_counts_and_a_developers_word_before_it() {
        let shown = [
            Shown::Arguments { tool: "search", arguments: r#"{"on": "2026-01-01"}"# },
            Shown::Arguments { tool: "search", arguments: r#"{"on": "2026-01-09"}"# },
            Shown::Arguments { tool: "book", arguments: r#"{"slot_id": "s-1"}"# },
            Shown::Arguments { tool: "book", arguments: r#"{"slot_id": "s-2"}"# },
            Shown::Option(r#"{"slot_id": "s-1"}"#),
        ];
        let mut material = Material::of_examples("search", shown, NOW);
        assert_eq!(material.requests, [r#"{"on":"2026-03-02"}"#]);
        let ToolMaterial { arguments, origins } = material.of_tool("book").expect("it is shown");
        assert_eq!(arguments["slot_id"], "s-1");
        assert_eq!(origins.get("slot_id").map(String::as_str), Some("/slot_id"));
        material.call_with("book", Map::from_iter([("seats".to_owned(), json!(2))]));
        assert_eq!(material.of_tool("book").map(|book| book.arguments.len()), Some(1));
        assert!(material.of_tool("cancel").is_none());
    }
}
