//! Templates: JSON whose leaves may be taken from a tool's arguments or from an API's answer.
//!
//! | form | gives |
//! |---|---|
//! | any JSON without the members below | itself |
//! | `{"$arg": "/pointer"}` | that place of the tool's arguments |
//! | `{"$res": "/pointer"}` | that place of the API's answer |
//! | `{"$each": "/pointer", "item": template}` | an array: the template once for each item of the array at that place of the answer, or, within an `item`, of the item |
//! | `{"$item": "/pointer"}`, within an `item` | that place of the item |
//! | `{"$when": {"$arg": "/pointer"}, "then": template}` | the template, where that place (of `$arg`, `$res` or `$item`) holds anything; nothing otherwise |
//!
//! A leaf that is taken may say what holds where the place is empty: `"default": value`, or `"optional": true`, which
//! leaves the member out. `"values": {"theirs": "ours"}` translates a vocabulary. A place that is there and holds
//! `null` counts as empty where the leaf has a default or is optional.
//!
//! Nothing computes here: no arithmetic, no conditions, no loops but over arrays that the API sent.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::checker::Checker;
use crate::limits::{OPTIONS_READ_MAX, PAYLOAD_MAX_DEPTH};
use crate::pointer::child;

/// Deepest nesting of a template.
const TEMPLATE_MAX_DEPTH: usize = 32;
/// Items of one array that a template walks; no more options are read of a payload.
const ITEMS_MAX: usize = OPTIONS_READ_MAX;
/// Items of one answer that are reported as unmapped; the others are left out without a word.
const UNMAPPED_MAX: usize = 100;
/// Values that one rendering may produce, nested arrays included.
const RENDERED_VALUES_MAX: usize = 200_000;
/// Bytes that one rendering may produce, as JSON text: about the bound on a partner's answer. A place of the answer may
/// be copied into every item of an array, so the number of values alone bounds nothing.
const RENDERED_MAX_BYTES: usize = crate::limits::PARTNER_BODY_MAX_BYTES;

/// A checked template.
#[derive(Clone, Debug, PartialEq)]
pub struct Template(Node);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Literal(Value),
    Taken(SourceLeaf),
    Each { from: Source, pointer: String, item: Box<Node> },
    When { from: Source, pointer: String, then: Box<Node> },
    Object(Vec<(String, Node)>),
    Array(Vec<Node>),
}

/// A leaf that is taken from somewhere.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SourceLeaf {
    source: Source,
    pointer: String,
    otherwise: Otherwise,
    values: Option<BTreeMap<String, Value>>,
}

/// What holds where nothing is.
#[derive(Clone, Debug, PartialEq)]
enum Otherwise {
    Fail,
    Default(Value),
    LeaveOut,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Arguments,
    Answer,
    Item,
}

impl Source {
    const ALL: [Self; 3] = [Self::Arguments, Self::Answer, Self::Item];

    fn key(self) -> &'static str {
        match self {
            Self::Arguments => "$arg",
            Self::Answer => "$res",
            Self::Item => "$item",
        }
    }
}

/// What a template may take from.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The tool's arguments.
    pub arguments: &'a Value,
    /// The API's answer; null while there is none.
    pub answer: &'a Value,
}

/// An item of an API's answer of which nothing could be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmappedItem {
    /// Its place in the API's array, from 0.
    pub position: usize,
    /// What is wrong with it, in words.
    pub reason: String,
}

/// A template could not be filled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// A place that has to be there is not.
    #[error("{place} is missing")]
    Missing {
        /// Which, as the template names it.
        place: String,
    },
    /// A place whose items are wanted holds no array.
    #[error("{place} is no array")]
    NotAnArray {
        /// Which.
        place: String,
    },
    /// A value that has no translation.
    #[error("{place} holds a value that the mapping does not translate: {value}")]
    Untranslated {
        /// Which.
        place: String,
        /// The value, cut to a safe length.
        value: String,
    },
    /// More than a payload may hold.
    #[error("what the mapping makes of the answer is too large")]
    TooLarge,
}

impl SourceLeaf {
    /// Whether the member is left out where the place is empty.
    pub(super) fn may_be_left_out(&self) -> bool {
        self.otherwise == Otherwise::LeaveOut
    }
}

impl Template {
    /// A template over the tool's arguments.
    pub(super) fn of_request(checker: &mut Checker, at: &str, value: &Value) -> Option<Self> {
        Reader { checker, answer: false }.node(at, value, 0, false).map(Self)
    }

    /// A template over the API's answer, and the arguments that led to it.
    pub(super) fn of_response(checker: &mut Checker, at: &str, value: &Value) -> Option<Self> {
        Reader { checker, answer: true }.node(at, value, 0, false).map(Self)
    }

    /// Fills the template in. `None`: the whole of it is left out.
    ///
    /// # Errors
    /// [`RenderError`] names the place that is missing or wrong.
    pub fn render(&self, scope: &Scope<'_>) -> Result<Option<Value>, RenderError> {
        Rendering::new(scope, None).node(&self.0, None)
    }

    /// The same, where an item of the API's own array that cannot be filled in costs that item alone.
    ///
    /// # Errors
    /// [`RenderError`] for what stands outside such arrays, and for what is too large.
    pub fn render_items(&self, scope: &Scope<'_>) -> Result<(Option<Value>, Vec<UnmappedItem>), RenderError> {
        let rendering = Rendering::new(scope, Some(RefCell::default()));
        let value = rendering.node(&self.0, None)?;
        Ok((value, rendering.unmapped.map(RefCell::into_inner).unwrap_or_default()))
    }

    /// The places of the arguments that have to be there, as JSON Pointers.
    #[must_use]
    pub fn required_arguments(&self) -> Vec<&str> {
        let mut found = Vec::new();
        collect(&self.0, true, &mut |source, pointer, required| {
            if source == Source::Arguments && required {
                found.push(pointer);
            }
        });
        found
    }

    /// All places of the arguments that are looked at, as JSON Pointers.
    #[must_use]
    pub fn arguments(&self) -> Vec<&str> {
        let mut found = Vec::new();
        collect(&self.0, true, &mut |source, pointer, _| {
            if source == Source::Arguments {
                found.push(pointer);
            }
        });
        found
    }

    /// Every place that is looked at, with the pointer to where the template says so; `at` is the template's own.
    #[must_use]
    pub(super) fn argument_places(&self, at: &str) -> Vec<ArgumentPlace<'_>> {
        let mut found = Vec::new();
        collect_places(&self.0, at, &mut found);
        found
    }

    /// What the template is made of.
    pub(super) fn root(&self) -> &Node {
        &self.0
    }

    /// The names of an object template's members.
    #[must_use]
    pub fn members(&self) -> Vec<&str> {
        match &self.0 {
            Node::Object(members) => members.iter().map(|(key, _)| key.as_str()).collect(),
            Node::Literal(Value::Object(members)) => members.keys().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }
}

/// A place of the arguments that a template takes from.
#[derive(Debug)]
pub(super) struct ArgumentPlace<'a> {
    /// Where the template says so.
    pub(super) at: String,
    /// What it names.
    pub(super) pointer: &'a str,
}

fn collect_places<'a>(node: &'a Node, at: &str, found: &mut Vec<ArgumentPlace<'a>>) {
    let mut note = |source: Source, pointer: &'a str, at: String| {
        if source == Source::Arguments {
            found.push(ArgumentPlace { at, pointer });
        }
    };
    match node {
        Node::Literal(_) => {}
        Node::Taken(taken) => note(taken.source, &taken.pointer, child(at, taken.source.key())),
        Node::Each { item, .. } => collect_places(item, &child(at, "item"), found),
        Node::When { from, pointer, then } => {
            note(*from, pointer, child(&child(at, "$when"), from.key()));
            collect_places(then, &child(at, "then"), found);
        }
        Node::Object(members) => members.iter().for_each(|(key, node)| collect_places(node, &child(at, key), found)),
        Node::Array(items) => {
            for (index, node) in items.iter().enumerate() {
                collect_places(node, &child(at, &index.to_string()), found);
            }
        }
    }
}

/// Visits every place that is looked at: whose it is, where, and whether it has to be there.
fn collect<'a>(node: &'a Node, always: bool, found: &mut impl FnMut(Source, &'a str, bool)) {
    match node {
        Node::Literal(_) => {}
        Node::Taken(taken) => found(taken.source, &taken.pointer, always && taken.otherwise == Otherwise::Fail),
        Node::Each { from, pointer, item } => {
            found(*from, pointer, always);
            collect(item, always, found);
        }
        Node::When { from, pointer, then } => {
            found(*from, pointer, false);
            collect(then, false, found);
        }
        Node::Object(members) => members.iter().for_each(|(_, node)| collect(node, always, found)),
        Node::Array(items) => items.iter().for_each(|node| collect(node, always, found)),
    }
}

struct Reader<'c> {
    checker: &'c mut Checker,
    /// Whether there is an answer to take from.
    answer: bool,
}

impl Reader<'_> {
    fn node(&mut self, at: &str, value: &Value, depth: usize, in_item: bool) -> Option<Node> {
        if !self.checker.count(at) {
            return None;
        }
        if depth > TEMPLATE_MAX_DEPTH {
            self.checker.wrong(at, "MAPPING_TOO_DEEP", format!("nested deeper than {TEMPLATE_MAX_DEPTH}"));
            return None;
        }
        match value {
            Value::Object(object) if object.keys().any(|key| key.starts_with('$')) => {
                self.marked(at, object, depth, in_item)
            }
            Value::Object(object) => {
                let member = |(key, value): (&String, &Value)| {
                    Some((key.clone(), self.node(&child(at, key), value, depth + 1, in_item)?))
                };
                // Every member is looked at, so that all that is wrong is reported at once.
                let members: Vec<_> = object.iter().map(member).collect();
                let members = members.into_iter().collect::<Option<Vec<_>>>()?;
                let plain = members.iter().all(|(_, node)| matches!(node, Node::Literal(_)));
                Some(if plain { Node::Literal(value.clone()) } else { Node::Object(members) })
            }
            Value::Array(array) => {
                let item = |(index, value): (usize, &Value)| {
                    self.node(&child(at, &index.to_string()), value, depth + 1, in_item)
                };
                let items: Vec<_> = array.iter().enumerate().map(item).collect();
                let items = items.into_iter().collect::<Option<Vec<_>>>()?;
                let plain = items.iter().all(|node| matches!(node, Node::Literal(_)));
                Some(if plain { Node::Literal(value.clone()) } else { Node::Array(items) })
            }
            plain => Some(Node::Literal(plain.clone())),
        }
    }

    /// An object with a member that starts with `$`.
    fn marked(&mut self, at: &str, object: &Map<String, Value>, depth: usize, in_item: bool) -> Option<Node> {
        if let Some(pointer) = object.get("$each") {
            return self.each(at, object, pointer, depth, in_item);
        }
        if let Some(place) = object.get("$when") {
            return self.when(at, object, place, depth, in_item);
        }
        let (source, pointer) = self.place(at, object, &["default", "optional", "values"], in_item)?;
        let otherwise = match (object.get("default"), object.get("optional")) {
            (None, None | Some(Value::Bool(false))) => Otherwise::Fail,
            (None, Some(Value::Bool(true))) => Otherwise::LeaveOut,
            (Some(default), None) => Otherwise::Default(default.clone()),
            _ => {
                let message = "give `default`, or `optional` as true or false, and not both";
                self.checker.wrong(at, "WRONG_VALUE", message);
                return None;
            }
        };
        let values = match object.get("values") {
            None => None,
            Some(values) => {
                let values = self.checker.object(&child(at, "values"), values)?;
                let counted = values.keys().all(|key| self.checker.count(&child(at, key)));
                Some(values.iter().take_while(|_| counted).map(|(key, value)| (key.clone(), value.clone())).collect())
            }
        };
        Some(Node::Taken(SourceLeaf { source, pointer, otherwise, values }))
    }

    /// Whose place, and where; `more` may stand beside it.
    fn place(
        &mut self,
        at: &str,
        object: &Map<String, Value>,
        more: &[&str],
        in_item: bool,
    ) -> Option<(Source, String)> {
        let Some(source) = Source::ALL.into_iter().find(|source| object.contains_key(source.key())) else {
            self.checker.wrong(at, "UNKNOWN_MARK", "expected `$arg`, `$res`, `$item`, `$each` or `$when`");
            return None;
        };
        self.checker.only(at, object, &[&[source.key()], more].concat());
        let allowed = match source {
            Source::Arguments => true,
            Source::Answer => self.answer,
            Source::Item => in_item,
        };
        if !allowed {
            self.checker.wrong(at, "MISPLACED", format!("there is nothing for `{}` to take from here", source.key()));
        }
        let pointer = self.checker.pointer(&child(at, source.key()), &object[source.key()])?;
        Some((source, pointer))
    }

    fn when(
        &mut self,
        at: &str,
        object: &Map<String, Value>,
        place: &Value,
        depth: usize,
        in_item: bool,
    ) -> Option<Node> {
        self.checker.only(at, object, &["$when", "then"]);
        let at_place = child(at, "$when");
        let place = self.checker.object(&at_place, place)?;
        let place = self.place(&at_place, place, &[], in_item);
        let Some(then) = object.get("then") else {
            self.checker.wrong(&child(at, "then"), "REQUIRED", "`then` is missing");
            return None;
        };
        let then = self.node(&child(at, "then"), then, depth + 1, in_item);
        let (from, pointer) = place?;
        Some(Node::When { from, pointer, then: Box::new(then?) })
    }

    fn each(
        &mut self,
        at: &str,
        object: &Map<String, Value>,
        pointer: &Value,
        depth: usize,
        in_item: bool,
    ) -> Option<Node> {
        self.checker.only(at, object, &["$each", "item"]);
        if !self.answer {
            self.checker.wrong(at, "MISPLACED", "`$each` walks an answer, and there is none here");
            return None;
        }
        let pointer = self.checker.pointer(&child(at, "$each"), pointer);
        let Some(item) = object.get("item") else {
            self.checker.wrong(&child(at, "item"), "REQUIRED", "`item` is missing");
            return None;
        };
        let item = self.node(&child(at, "item"), item, depth + 1, true);
        let from = if in_item { Source::Item } else { Source::Answer };
        Some(Node::Each { from, pointer: pointer?, item: Box::new(item?) })
    }
}

struct Rendering<'a> {
    scope: &'a Scope<'a>,
    /// Values and bytes that may still be produced.
    values: Cell<usize>,
    bytes: Cell<usize>,
    /// Items that could not be filled in; absent where one of them costs the whole.
    unmapped: Option<RefCell<Vec<UnmappedItem>>>,
}

impl<'a> Rendering<'a> {
    fn new(scope: &'a Scope<'a>, unmapped: Option<RefCell<Vec<UnmappedItem>>>) -> Self {
        let (values, bytes) = (Cell::new(RENDERED_VALUES_MAX), Cell::new(RENDERED_MAX_BYTES));
        Self { scope, values, bytes, unmapped }
    }

    fn node(&self, node: &Node, item: Option<&'a Value>) -> Result<Option<Value>, RenderError> {
        match node {
            Node::Literal(value) => self.copy(value).map(Some),
            Node::Taken(taken) => self.taken(taken, item),
            Node::Each { from, pointer, item: template } => {
                let place = || format!("`{pointer}` of {}", subject(*from));
                let found = self.source(*from, item).pointer(pointer);
                let found = found.ok_or_else(|| RenderError::Missing { place: place() })?;
                let items = found.as_array().ok_or_else(|| RenderError::NotAnArray { place: place() })?;
                if items.len() > ITEMS_MAX {
                    return Err(RenderError::TooLarge);
                }
                self.spend(1, 2)?;
                let is_outermost = item.is_none();
                let rendered = items.iter().enumerate().filter_map(|(position, item)| {
                    let rendered = self.node(template, Some(item));
                    let rendered = if is_outermost { self.pass_over(rendered, pointer, position) } else { rendered };
                    rendered.transpose()
                });
                rendered.collect::<Result<Vec<_>, _>>().map(|items| Some(Value::Array(items)))
            }
            Node::When { from, pointer, then } => match self.source(*from, item).pointer(pointer) {
                None | Some(Value::Null) => Ok(None),
                Some(_) => self.node(then, item),
            },
            Node::Object(members) => {
                self.spend(1, 2)?;
                let mut object = Map::new();
                for (key, node) in members {
                    if let Some(value) = self.node(node, item)? {
                        self.spend(0, key.len() + 4)?;
                        object.insert(key.clone(), value);
                    }
                }
                Ok(Some(Value::Object(object)))
            }
            Node::Array(items) => {
                self.spend(1, 2)?;
                let rendered = items.iter().filter_map(|node| self.node(node, item).transpose());
                rendered.collect::<Result<Vec<_>, _>>().map(|items| Some(Value::Array(items)))
            }
        }
    }

    /// Leaves an item out that could not be filled in, and notes it, where that is wanted.
    fn pass_over(
        &self,
        rendered: Result<Option<Value>, RenderError>,
        pointer: &str,
        position: usize,
    ) -> Result<Option<Value>, RenderError> {
        let Some(unmapped) = &self.unmapped else { return rendered };
        match rendered {
            Err(error) if error != RenderError::TooLarge => {
                let mut unmapped = unmapped.borrow_mut();
                if unmapped.len() < UNMAPPED_MAX {
                    let reason = format!("item {position} of `{pointer}` in the API's answer: {error}");
                    unmapped.push(UnmappedItem { position, reason });
                }
                Ok(None)
            }
            rendered => rendered,
        }
    }

    fn source(&self, source: Source, item: Option<&'a Value>) -> &'a Value {
        match source {
            Source::Arguments => self.scope.arguments,
            Source::Answer => self.scope.answer,
            Source::Item => item.unwrap_or(&Value::Null),
        }
    }

    fn taken(&self, taken: &SourceLeaf, item: Option<&'a Value>) -> Result<Option<Value>, RenderError> {
        let place = || format!("`{}` of {}", taken.pointer, subject(taken.source));
        let found = self.source(taken.source, item).pointer(&taken.pointer);
        let found = match (found, &taken.otherwise) {
            (Some(Value::Null) | None, Otherwise::LeaveOut) => return Ok(None),
            (Some(Value::Null) | None, Otherwise::Default(default)) => return self.copy(default).map(Some),
            (None, Otherwise::Fail) => return Err(RenderError::Missing { place: place() }),
            (Some(found), _) => found,
        };
        let Some(values) = &taken.values else { return self.copy(found).map(Some) };
        let theirs = match found {
            Value::String(text) => text.clone(),
            other => shown(other),
        };
        match values.get(&theirs) {
            Some(ours) => self.copy(ours).map(Some),
            None => Err(RenderError::Untranslated { place: place(), value: theirs.chars().take(60).collect() }),
        }
    }

    /// Copies a value as far as there is room for it.
    fn copy(&self, value: &Value) -> Result<Value, RenderError> {
        self.weigh(value, 0)?;
        Ok(value.clone())
    }

    fn weigh(&self, value: &Value, depth: usize) -> Result<(), RenderError> {
        if depth > PAYLOAD_MAX_DEPTH {
            return Err(RenderError::TooLarge);
        }
        match value {
            Value::Array(items) => {
                self.spend(1, 2 + items.len())?;
                items.iter().try_for_each(|item| self.weigh(item, depth + 1))
            }
            Value::Object(members) => {
                self.spend(1, 2)?;
                members.iter().try_for_each(|(key, value)| {
                    self.spend(0, key.len() + 4)?;
                    self.weigh(value, depth + 1)
                })
            }
            Value::String(text) => self.spend(1, text.len() + 2),
            Value::Null | Value::Bool(_) | Value::Number(_) => self.spend(1, 8),
        }
    }

    fn spend(&self, values: usize, bytes: usize) -> Result<(), RenderError> {
        let left = |budget: &Cell<usize>, spent| budget.get().checked_sub(spent).ok_or(RenderError::TooLarge);
        self.values.set(left(&self.values, values)?);
        self.bytes.set(left(&self.bytes, bytes)?);
        Ok(())
    }
}

fn subject(source: Source) -> &'static str {
    match source {
        Source::Arguments => "the arguments",
        Source::Answer => "the API's answer",
        Source::Item => "an item of the API's answer",
    }
}

/// A scalar as it is written in JSON; of anything larger only its kind.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "(an array)".to_owned(),
        Value::Object(_) => "(an object)".to_owned(),
        scalar => scalar.to_string(),
    }
}
