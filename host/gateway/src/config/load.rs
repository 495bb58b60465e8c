//! Puts the configuration together and says what is wrong with it, all at once.

use std::fmt;
use std::path::{Path, PathBuf};

use figment::Figment;
use figment::error::{Error, Kind};
use figment::providers::{Env, Format as _, Serialized, Toml};
use figment::value::Value;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Config;

/// Prefix of environment variables; sections are set off by two underscores.
const ENV_PREFIX: &str = "INTENT_GATEWAY__";
/// Keys that stand outside every section.
const TOP_LEVEL: [&str; 17] = [
    "state_dir",
    "server",
    "auth",
    "platform",
    "store",
    "evidence",
    "outbound",
    "linking",
    "mail",
    "contracts",
    "search",
    "streams",
    "sandbox",
    "partner_client",
    "log",
    "telemetry",
    "partners",
];

/// What flags set, by dotted key.
#[derive(Default)]
pub(crate) struct Overrides(Vec<(&'static str, Result<Value, Error>)>);

impl Overrides {
    pub(crate) fn set(&mut self, key: &'static str, value: impl Serialize) {
        self.0.push((key, Value::serialize(value)));
    }
}

/// The configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
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
pub(crate) fn load(file: Option<&Path>, overrides: &Overrides) -> Result<Config, ConfigError> {
    let mut figment = Figment::new();
    if let Some(path) = file {
        let text =
            std::fs::read_to_string(path).map_err(|error| ConfigError::Unreadable { path: path.to_owned(), error })?;
        // Read here, so that a file which is not there is an error and not an empty one.
        figment = figment.merge(Named { name: path.display().to_string(), toml: Toml::string(&text) });
    }
    figment = figment.merge(Env::prefixed(ENV_PREFIX).split("__"));
    for (key, value) in &overrides.0 {
        let value = value.as_ref().map_err(|error| ConfigError::Invalid(vec![error.to_string()]))?;
        figment = figment.merge(Serialized::default(key, value));
    }
    read(&figment).map_err(ConfigError::Invalid)
}

fn read(figment: &Figment) -> Result<Config, Vec<String>> {
    let given: figment::value::Dict = figment.extract().map_err(|errors| told(figment, None, errors))?;
    let mut problems: Vec<String> = given
        .keys()
        .filter(|key| !TOP_LEVEL.contains(&key.as_str()))
        .map(|key| unknown(figment, key, &TOP_LEVEL, "the configuration"))
        .collect();
    let mut sections = Sections { figment, given: &given, problems: &mut problems };
    let defaults = Config::default();
    let config = Config {
        state_dir: sections.plain("state_dir").unwrap_or(defaults.state_dir),
        server: sections.table("server"),
        auth: sections.table("auth"),
        platform: sections.table("platform"),
        store: sections.table("store"),
        evidence: sections.table("evidence"),
        outbound: sections.table("outbound"),
        linking: sections.table("linking"),
        mail: sections.table("mail"),
        contracts: sections.table("contracts"),
        search: sections.table("search"),
        streams: sections.table("streams"),
        sandbox: sections.table("sandbox"),
        partner_client: sections.table("partner_client"),
        log: sections.table("log"),
        telemetry: sections.table("telemetry"),
        partners: sections.plain("partners").unwrap_or(defaults.partners),
    };
    problems.extend(config.problems());
    if problems.is_empty() { Ok(config) } else { Err(problems) }
}

struct Sections<'a> {
    figment: &'a Figment,
    given: &'a figment::value::Dict,
    problems: &'a mut Vec<String>,
}

impl Sections<'_> {
    /// A section with a default for every key. All its unknown keys are told, or else its first wrong value.
    fn table<T: DeserializeOwned + Default>(&mut self, section: &str) -> T {
        let known = keys::<T>();
        let mut unknown_keys = Vec::new();
        if let Some(table) = self.given.get(section).and_then(Value::as_dict) {
            let unknown = table.keys().filter(|key| !known.contains(&key.as_str()));
            unknown_keys = unknown.map(|key| format!("{section}.{key}")).collect();
        }
        for key in &unknown_keys {
            self.problems.push(unknown(self.figment, key, known, &format!("`{section}`")));
        }
        if unknown_keys.is_empty() { self.plain(section).unwrap_or_default() } else { T::default() }
    }

    /// A value, if it is given and right.
    fn plain<T: DeserializeOwned>(&mut self, key: &str) -> Option<T> {
        match self.given.get(key)?.deserialize() {
            Ok(value) => Some(value),
            Err(errors) => {
                self.problems.extend(told(self.figment, Some(key), errors));
                None
            }
        }
    }
}

/// The keys of a section, as its type itself tells them when it is given one that it does not have.
pub(super) fn keys<T: DeserializeOwned>() -> &'static [&'static str] {
    const NO_KEY: &str = "\0";
    let probe = Figment::from(Serialized::default(NO_KEY, true)).extract::<T>();
    match probe.err().map(|error| error.kind) {
        Some(Kind::UnknownField(_, keys)) => keys,
        _ => &[],
    }
}

fn unknown(figment: &Figment, key: &str, known: &[&str], whole: &str) -> String {
    let place = figment.find_metadata(key).map(|metadata| Place(&metadata.name).to_string()).unwrap_or_default();
    format!("unknown key `{key}`{place}; {whole} has {}", known.join(", "))
}

/// Where a value came from.
struct Place<'a>(&'a str);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " ({})", self.0.trim_end_matches(" environment variable(s)"))
    }
}

/// An error of the reader in our words: which key, what is wrong, and where it was set. The reader's own path
/// starts below `section`.
fn told(figment: &Figment, section: Option<&str>, errors: Error) -> Vec<String> {
    errors
        .into_iter()
        .map(|error| {
            let path = section.into_iter().chain(error.path.iter().map(String::as_str));
            let key = path.collect::<Vec<_>>().join(".");
            let metadata = error.metadata.as_ref().or_else(|| figment.find_metadata(&key));
            let place = metadata.map(|metadata| Place(&metadata.name).to_string()).unwrap_or_default();
            if key.is_empty() { format!("{}{place}", error.kind) } else { format!("`{key}`{place}: {}", error.kind) }
        })
        .collect()
}

/// TOML that is told by the name of its file.
struct Named<P> {
    name: String,
    toml: P,
}

impl<P: figment::Provider> figment::Provider for Named<P> {
    fn metadata(&self) -> figment::Metadata {
        figment::Metadata::named(self.name.clone())
    }

    fn data(&self) -> Result<figment::value::Map<figment::Profile, figment::value::Dict>, Error> {
        self.toml.data()
    }
}
