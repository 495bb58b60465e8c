//! A GraphQL schema as its API tells it, and the walk of an operation through it.

use std::collections::{BTreeMap, BTreeSet};

use graphql_parser::query::{Definition, Document, Field, FragmentDefinition, Selection, SelectionSet, TypeCondition};
use serde_json::{Value, json};

use super::Probing;
use super::wrapped::Problems;
use intent_gateway_domain::partner_error::clean;

/// Asks for what an operation is compared with; texts for people are left out.
pub(super) const INTROSPECTION: &str = "query Schema { __schema { queryType { name } mutationType { name } \
    types { kind name fields(includeDeprecated: true) { name isDeprecated type { ...Type } args { ...Input } } \
    inputFields { ...Input } enumValues(includeDeprecated: true) { name } } } } \
    fragment Input on __InputValue { name defaultValue type { ...Type } } \
    fragment Type on __Type { kind name ofType { kind name ofType { kind name ofType { kind name \
    ofType { kind name ofType { kind name } } } } } }";
/// Types wrapped around a named one that are looked through: as many as are asked for.
const WRAPPERS_MAX: usize = 5;
/// Fields of one operation that are looked up; the document's own bound is far lower, but fragments may be used often.
const FIELDS_MAX: usize = 2_000;

/// A schema, by the names of its types.
pub(super) struct Schema<'a> {
    roots: &'a Value,
    types: BTreeMap<&'a str, &'a Value>,
}

impl<'a> Schema<'a> {
    /// Reads `__schema`.
    pub(super) fn new(schema: &'a Value) -> Self {
        let types = schema["types"].as_array().into_iter().flatten();
        let types = types.filter_map(|known| Some((known["name"].as_str()?, known))).collect();
        Self { roots: schema, types }
    }

    /// Walks an operation from `root` (`queryType` or `mutationType`) and reports every field that does not exist, and
    /// every argument that is required and not given. Returns what was met on the way, to be compared by a later probe.
    pub(super) fn walk<'d, 't>(
        &self,
        root: &str,
        fields: &'d SelectionSet<'t, String>,
        document: &'d Document<'t, String>,
        label: &str,
        probing: &mut Probing,
        problems: &mut Problems,
    ) -> Value {
        let fragments = document.definitions.iter().filter_map(|definition| match definition {
            Definition::Fragment(fragment) => Some((fragment.name.as_str(), fragment)),
            Definition::Operation(_) => None,
        });
        let mut walk = Walk {
            schema: self,
            fragments: fragments.collect(),
            entered: BTreeSet::new(),
            met: BTreeMap::new(),
            left: FIELDS_MAX,
            label,
            probing,
            problems,
        };
        let root = self.roots[root]["name"].as_str().unwrap_or_default();
        walk.fields(root, fields);
        json!(walk.met)
    }
}

struct Walk<'w, 'a, 'd, 't> {
    schema: &'w Schema<'a>,
    fragments: BTreeMap<&'d str, &'d FragmentDefinition<'t, String>>,
    /// Fragments that were walked already: they may name each other in a circle.
    entered: BTreeSet<&'d str>,
    met: BTreeMap<String, &'a Value>,
    left: usize,
    label: &'w str,
    probing: &'w mut Probing,
    problems: &'w mut Problems,
}

impl<'a, 'd, 't> Walk<'_, 'a, 'd, 't> {
    // As deep as the document nests, which its parser bounds, times its fragments, each of which is entered once.
    fn fields(&mut self, parent: &str, fields: &'d SelectionSet<'t, String>) {
        for selection in &fields.items {
            let Some(left) = self.left.checked_sub(1) else { return };
            self.left = left;
            match selection {
                Selection::Field(field) => self.field(parent, field),
                Selection::InlineFragment(fragment) => {
                    let on = fragment.type_condition.as_ref().map(|TypeCondition::On(name)| name.as_str());
                    self.fields(on.unwrap_or(parent), &fragment.selection_set);
                }
                Selection::FragmentSpread(spread) => {
                    let Some(fragment) = self.fragments.get(spread.fragment_name.as_str()).copied() else { continue };
                    let TypeCondition::On(on) = &fragment.type_condition;
                    if self.entered.insert(&fragment.name) {
                        self.fields(on, &fragment.selection_set);
                    }
                }
            }
        }
    }

    fn field(&mut self, parent: &str, field: &'d Field<'t, String>) {
        if field.name.starts_with("__") {
            return;
        }
        let label = self.label;
        let known = self.schema.types.get(parent).and_then(|known| known["fields"].as_array());
        let Some(theirs) = known.into_iter().flatten().find(|known| known["name"] == field.name.as_str()) else {
            let message = format!("{label}: the API's type `{}` has no field `{}`", clean(parent), field.name);
            return self.problems.push("API_OPERATION_MISSING", message);
        };
        if theirs["isDeprecated"] == Value::Bool(true) {
            self.probing.note(format!("{label}: the field `{}` is deprecated", field.name));
        }
        for argument in theirs["args"].as_array().into_iter().flatten() {
            let name = argument["name"].as_str().unwrap_or_default();
            let needed = argument["type"]["kind"] == "NON_NULL" && argument["defaultValue"].is_null();
            if needed && !field.arguments.iter().any(|(given, _)| given == name) {
                let message = format!("{label}: `{}` requires the argument `{}`", field.name, clean(name));
                self.problems.push("API_MAPPING_INVALID", message);
            }
            self.meet_input(&argument["type"]);
        }
        self.met.insert(format!("{parent}.{}", field.name), theirs);
        let result = name_of(&theirs["type"]);
        if field.selection_set.items.is_empty() {
            self.meet_input(&theirs["type"]);
        } else {
            self.fields(result, &field.selection_set);
        }
    }

    /// Remembers an input type with all that it holds, or the values of an enumeration.
    fn meet_input(&mut self, reference: &'a Value) {
        let mut open = vec![name_of(reference)];
        while let Some(name) = open.pop() {
            let Some((name, known)) = self.schema.types.get_key_value(name) else { continue };
            if known["kind"] == "SCALAR" || self.met.insert((*name).to_owned(), known).is_some() {
                continue;
            }
            open.extend(known["inputFields"].as_array().into_iter().flatten().map(|input| name_of(&input["type"])));
        }
    }
}

/// The named type behind lists and non-nulls.
fn name_of(reference: &Value) -> &str {
    let mut reference = reference;
    for _ in 0..WRAPPERS_MAX {
        match reference.get("ofType") {
            Some(inner) if inner.is_object() => reference = inner,
            _ => break,
        }
    }
    reference["name"].as_str().unwrap_or_default()
}
