//! Puts the configuration together and says what is wrong with it, all at once.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::value::MapDeserializer;
use serde::de::{self, DeserializeOwned};
use serde_json::Value;
use serde_path_to_error::Segment;

use super::Config;
use super::environment::variables;
use super::layers::{Layers, Table};
use super::secret_files;

/// Keys that stand outside every section.
pub(crate) const TOP_LEVEL: [&str; 22] = [
    "state_dir",
    "server",
    "quotas",
    "auth",
    "platform",
    "store",
    "anchors",
    "fleet",
    "evidence",
    "orders",
    "outbound",
    "linking",
    "mail",
    "contracts",
    "search",
    "streams",
    "console",
    "sandbox",
    "partner_client",
    "log",
    "telemetry",
    "partners",
];

/// What flags set, by dotted key.
#[derive(Default)]
pub struct Overrides(Vec<(&'static str, serde_json::Result<Value>)>);

impl Overrides {
    pub fn set(&mut self, key: &'static str, value: impl Serialize) {
        self.0.push((key, serde_json::to_value(value)));
    }
}

/// The configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is not there or cannot be read.
    #[error("cannot read the configuration file {}: {error}", path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
    /// Its content is wrong.
    #[error("the configuration is not valid:{}", list(.0))]
    Invalid(Vec<String>),
}

fn list(problems: &[String]) -> String {
    problems.iter().map(|problem| format!("\n  - {problem}")).collect()
}

/// Loads and checks the configuration.
pub fn load(file: Option<&Path>, overrides: &Overrides) -> Result<Config, ConfigError> {
    load_under(std::env::vars_os(), file, overrides)
}

/// The same under an environment that is given.
pub(crate) fn load_under(
    environment: impl IntoIterator<Item = (OsString, OsString)>,
    file: Option<&Path>,
    overrides: &Overrides,
) -> Result<Config, ConfigError> {
    let mut layers = Layers::default();
    if let Some(path) = file {
        let text =
            std::fs::read_to_string(path).map_err(|error| ConfigError::Unreadable { path: path.to_owned(), error })?;
        layers.add_file(path, &text).map_err(ConfigError::Invalid)?;
    }
    for variable in variables(environment) {
        layers.add_variable(variable);
    }
    for (key, value) in &overrides.0 {
        let value = value.as_ref().map_err(|error| ConfigError::Invalid(vec![format!("`{key}`: {error}")]))?;
        layers.add_flag(key, value.clone());
    }
    read(&layers).map_err(ConfigError::Invalid)
}

fn read(layers: &Layers) -> Result<Config, Vec<String>> {
    let (mut given, mut problems) = (layers.merge(), Vec::new());
    let secret_files = secret_files::read(&mut given, layers, &mut problems);
    let unknown = given
        .keys()
        .filter(|key| !TOP_LEVEL.contains(&key.as_str()))
        .map(|key| say_unknown(layers, &[key], &TOP_LEVEL, "the configuration"));
    problems.extend(unknown);
    let mut sections = Sections { layers, given, problems: &mut problems };
    let defaults = Config::default();
    let config = Config {
        state_dir: sections.plain("state_dir").unwrap_or(defaults.state_dir),
        server: sections.table("server"),
        quotas: sections.table("quotas"),
        auth: sections.table("auth"),
        platform: sections.table("platform"),
        store: sections.table("store"),
        anchors: sections.table("anchors"),
        fleet: sections.table("fleet"),
        evidence: sections.table("evidence"),
        orders: sections.table("orders"),
        outbound: sections.table("outbound"),
        linking: sections.table("linking"),
        mail: sections.table("mail"),
        contracts: sections.table("contracts"),
        search: sections.table("search"),
        streams: sections.table("streams"),
        console: sections.table("console"),
        sandbox: sections.table("sandbox"),
        partner_client: sections.table("partner_client"),
        log: sections.table("log"),
        telemetry: sections.table("telemetry"),
        partners: sections.plain("partners").unwrap_or(defaults.partners),
        secret_files,
        origins: layers.origins(),
    };
    problems.extend(config.problems());
    if problems.is_empty() { Ok(config) } else { Err(problems) }
}

struct Sections<'a> {
    layers: &'a Layers,
    given: Table,
    problems: &'a mut Vec<String>,
}

impl Sections<'_> {
    /// A section with a default for every key. All its unknown keys and all its wrong values are told.
    fn table<T: DeserializeOwned + Default>(&mut self, section: &str) -> T {
        let Some(Value::Object(given)) = self.given.get(section) else {
            return self.plain(section).unwrap_or_default();
        };
        let mut table = given.clone();
        let told_before = self.problems.len();
        let known = keys::<T>();
        table.retain(|key, _| {
            let is_known = known.contains(&key.as_str());
            if !is_known {
                self.problems.push(say_unknown(self.layers, &[section, key], known, &format!("`{section}`")));
            }
            is_known
        });
        // A wrong value hides the next, so each is taken out once it is told.
        loop {
            match serde_path_to_error::deserialize(Value::Object(table.clone())) {
                Ok(value) if self.problems.len() == told_before => return value,
                Ok(_) => return T::default(),
                Err(error) => {
                    let key = names(error.path()).next();
                    self.problems.push(wrong(self.layers, section, &error));
                    if key.and_then(|key| table.remove(&key)).is_none() {
                        return T::default();
                    }
                }
            }
        }
    }

    /// A value, if it is given and right.
    fn plain<T: DeserializeOwned>(&mut self, key: &str) -> Option<T> {
        let value = self.given.get(key)?;
        match serde_path_to_error::deserialize(value) {
            Ok(value) => Some(value),
            Err(error) => {
                self.problems.push(wrong(self.layers, key, &error));
                None
            }
        }
    }
}

/// The keys of a section, as its type itself tells them when it is given one that it does not have.
pub(crate) fn keys<T: DeserializeOwned>() -> &'static [&'static str] {
    const NO_KEY: &str = "\0";
    let probe = MapDeserializer::<_, KnownKeys>::new(std::iter::once((NO_KEY, true)));
    T::deserialize(probe).err().map_or(&[], |KnownKeys(keys)| keys)
}

/// What an unknown key is refused with, down to the keys that would have been taken.
#[derive(Debug, thiserror::Error)]
#[error("the keys are {0:?}")]
struct KnownKeys(&'static [&'static str]);

impl de::Error for KnownKeys {
    fn custom<T: std::fmt::Display>(_message: T) -> Self {
        Self(&[])
    }

    fn unknown_field(_field: &str, expected: &'static [&'static str]) -> Self {
        Self(expected)
    }
}

fn say_unknown(layers: &Layers, path: &[&str], known: &[&str], whole: &str) -> String {
    let (key, path) = (path.join("."), path.iter().map(ToString::to_string).collect::<Vec<_>>());
    format!("unknown key `{key}`{}; {whole} has {}", layers.place(&path), known.join(", "))
}

/// An error of the reader in our words: which key, what is wrong, and where it was set. The reader's own path
/// starts below `section`.
fn wrong(layers: &Layers, section: &str, error: &serde_path_to_error::Error<serde_json::Error>) -> String {
    let path: Vec<String> = std::iter::once(section.to_owned()).chain(names(error.path())).collect();
    format!("`{}`{}: {}", path.join("."), layers.place(&path), error.inner())
}

/// The steps of a path that lead through tables and lists.
fn names(path: &serde_path_to_error::Path) -> impl Iterator<Item = String> {
    path.iter().filter_map(|segment| match segment {
        Segment::Map { key } => Some(key.clone()),
        Segment::Seq { index } => Some(index.to_string()),
        Segment::Enum { .. } | Segment::Unknown => None,
    })
}
