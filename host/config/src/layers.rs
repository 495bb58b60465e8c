//! Where settings come from: a file, the environment, flags, each laid over the one before; and the place in them
//! that a message is about.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::Path;

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use intent_gateway_http::SettingOrigin;

use super::environment::Variable;
use super::paths;
use super::settings::Origins;

/// Settings by name.
pub(crate) type Table = Map<String, Value>;

/// One source of settings.
#[derive(Debug)]
struct Layer {
    source: Source,
    table: Table,
}

#[derive(Debug)]
enum Source {
    /// A file, and where in it each key begins.
    File {
        name: String,
        positions: BTreeMap<Vec<String>, Position>,
    },
    /// A variable of the environment.
    Variable(String),
    Flags,
}

/// A place in a text, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Position {
    line: usize,
    column: usize,
}

impl Position {
    fn of(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Self { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// All sources, the last of which counts most.
#[derive(Debug, Default)]
pub(crate) struct Layers(Vec<Layer>);

impl Layers {
    /// Lays a file in TOML over what is there. Its paths start at the folder that it is in.
    ///
    /// # Errors
    /// Every place at which it is no TOML.
    pub(crate) fn add_file(&mut self, path: &Path, text: &str) -> Result<(), Vec<String>> {
        let (name, folder) = (path.display().to_string(), path.parent().unwrap_or(Path::new("")));
        let (document, errors) = DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            let told = |error: &toml::de::Error| {
                let position = Position::of(text, error.span().map_or(0, |span| span.start));
                format!("{} ({name}:{position})", error.message().replace('\n', "; "))
            };
            return Err(errors.iter().map(told).collect());
        }
        let mut reader = FileReader { text, path: Vec::new(), positions: BTreeMap::new() };
        let mut table = reader.table(document.get_ref());
        paths::rebase(&mut table, folder);
        paths::add_state_dir(&mut table, folder);
        let source = Source::File { name, positions: reader.positions };
        self.0.push(Layer { source, table });
        Ok(())
    }

    /// Lays a variable over what is there.
    pub(crate) fn add_variable(&mut self, Variable { name, path, value }: Variable) {
        self.0.push(Layer { source: Source::Variable(name), table: nest(path.iter().map(String::as_str), value) });
    }

    /// Lays what a flag set over what is there, by dotted key.
    pub(crate) fn add_flag(&mut self, key: &str, value: Value) {
        self.0.push(Layer { source: Source::Flags, table: nest(key.split('.'), value) });
    }

    /// What counts: tables are merged key by key, and of anything else the last is taken.
    pub(crate) fn merge(&self) -> Table {
        let mut merged = Table::new();
        for layer in &self.0 {
            merge(&mut merged, &layer.table);
        }
        merged
    }

    /// Where the value at a path was given, in brackets and with a space before it; empty when it was not.
    pub(crate) fn place(&self, path: &[String]) -> String {
        let paths = (1..=path.len()).rev().map(|length| &path[..length]);
        let place = paths.flat_map(|path| self.0.iter().rev().filter_map(move |layer| layer.place(path))).next();
        place.map(|place| format!(" ({place})")).unwrap_or_default()
    }
}

impl Layers {
    /// Where each value that counts was given.
    pub(crate) fn origins(&self) -> Origins {
        let mut found = BTreeMap::new();
        for layer in &self.0 {
            for (name, value) in &layer.table {
                layer.note_origins(&mut vec![name.clone()], value, &mut found);
            }
        }
        Origins(found)
    }
}

impl Layer {
    fn note_origins(&self, path: &mut Vec<String>, value: &Value, found: &mut BTreeMap<String, SettingOrigin>) {
        let dotted = path.join(".");
        if !value.is_object() {
            // A list takes the place of the one below as a whole.
            let within = format!("{dotted}.");
            found.retain(|name, _| !name.starts_with(&within));
            found.insert(dotted, self.origin_of(path));
        }
        let below: Vec<(String, &Value)> = match value {
            Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), value)).collect(),
            Value::Array(items) => items.iter().enumerate().map(|(place, item)| (place.to_string(), item)).collect(),
            _ => Vec::new(),
        };
        for (name, value) in below {
            path.push(name);
            self.note_origins(path, value, found);
            path.pop();
        }
    }

    fn origin_of(&self, path: &[String]) -> SettingOrigin {
        match &self.source {
            Source::File { name, positions } => {
                let place = positions.get(path).map_or_else(|| name.clone(), |position| format!("{name}:{position}"));
                SettingOrigin::new("file", Some(place))
            }
            Source::Variable(name) => SettingOrigin::new("environment", Some(name.clone())),
            Source::Flags => SettingOrigin::new("flag", None),
        }
    }

    /// Where the value at exactly this path is given, if it is given here.
    fn place(&self, path: &[String]) -> Option<String> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.table.get(first)?, |value, part| match value {
            Value::Object(table) => table.get(part),
            Value::Array(values) => values.get(part.parse::<usize>().ok()?),
            _ => None,
        })?;
        Some(match &self.source {
            Source::File { name, positions } => match positions.get(path) {
                Some(position) => format!("{name}:{position}"),
                None => name.clone(),
            },
            Source::Variable(name) => format!("`{name}`"),
            Source::Flags => "command line".to_owned(),
        })
    }
}

fn merge(below: &mut Table, above: &Table) {
    for (key, value) in above {
        match (below.get_mut(key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => merge(below, above),
            _ => {
                below.insert(key.clone(), value.clone());
            }
        }
    }
}

/// A table that holds nothing but this value, at this path.
fn nest<'a>(path: impl DoubleEndedIterator<Item = &'a str>, value: Value) -> Table {
    let nested = path.rev().fold(value, |value, key| Table::from_iter([(key.to_owned(), value)]).into());
    match nested {
        Value::Object(table) => table,
        _ => Table::new(),
    }
}

/// Turns a parsed file into values, and notes where each of them begins.
struct FileReader<'a> {
    text: &'a str,
    path: Vec<String>,
    positions: BTreeMap<Vec<String>, Position>,
}

impl FileReader<'_> {
    fn table(&mut self, table: &DeTable<'_>) -> Table {
        let member = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
            let name: &std::borrow::Cow<'_, str> = key.get_ref();
            (name.clone().into_owned(), self.member(name, key.span(), value))
        };
        table.iter().map(member).collect()
    }

    fn member(&mut self, name: &str, at: Range<usize>, value: &Spanned<DeValue<'_>>) -> Value {
        self.path.push(name.to_owned());
        self.positions.insert(self.path.clone(), Position::of(self.text, at.start));
        let value = self.value(value.get_ref());
        self.path.pop();
        value
    }

    fn value(&mut self, value: &DeValue<'_>) -> Value {
        match value {
            DeValue::String(text) => text.as_ref().into(),
            DeValue::Boolean(value) => (*value).into(),
            DeValue::Integer(number) => {
                let (digits, radix) = (number.as_str(), number.radix());
                let signed = i64::from_str_radix(digits, radix).map(Number::from);
                let number = signed.or_else(|_| u64::from_str_radix(digits, radix).map(Number::from));
                // One that no setting can have is told as the text that it is.
                number.map_or_else(|_| digits.into(), Value::Number)
            }
            DeValue::Float(number) => {
                let text = number.as_str();
                text.parse().ok().and_then(Number::from_f64).map_or_else(|| text.into(), Value::Number)
            }
            DeValue::Datetime(time) => time.to_string().into(),
            DeValue::Array(values) => {
                let value = |(index, value): (usize, &Spanned<_>)| self.member(&index.to_string(), value.span(), value);
                values.iter().enumerate().map(value).collect()
            }
            DeValue::Table(table) => self.table(table).into(),
        }
    }
}
