//! A configuration that is read again while a gateway serves: what of it takes effect then, and how two of them differ.

use std::collections::{BTreeMap, BTreeSet};

use intent_gateway_domain::digest::Digest;
use serde_json::Value;

use super::Config;
use super::secret_files::SUFFIX;
use super::settings::{Origins, SET, each_setting, tell};

/// Settings that take effect when the configuration is read again, with all that is below them.
const RELOADABLE: [&str; 5] = ["log.level", "partners", "auth.issuers", "quotas", "server.open_requests_per_minute"];
/// Settings that do where references to options have a key of their own: otherwise theirs is made of it.
const SIGNING_KEYS: [&str; 2] = ["auth.signing_key", "auth.previous_signing_keys"];
/// What is said of an entry of a list that is not there.
const ABSENT: &str = "absent";
const PRESENT: &str = "present";

/// A setting that two configurations have differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Dotted name. A partner goes by its identifier, an issuer by its name.
    pub setting: String,
    /// What it was, JSON text; of a secret, whether it was set.
    pub before: String,
    /// What it is.
    pub after: String,
}

impl Config {
    /// This configuration with what takes effect of another one while a gateway serves: the level of the log, partners, issuers, rates,
    /// and the keys that tokens are signed with.
    #[must_use]
    pub fn reload(&self, read: &Self) -> Self {
        let mut next = self.clone();
        next.log.level.clone_from(&read.log.level);
        next.partners.clone_from(&read.partners);
        next.auth.issuers.clone_from(&read.auth.issuers);
        next.quotas = read.quotas;
        next.server.open_requests_per_minute = read.server.open_requests_per_minute;
        let mut taken = RELOADABLE.to_vec();
        if self.auth.reference_key.is_some() && read.auth.reference_key.is_some() {
            next.auth.signing_key.clone_from(&read.auth.signing_key);
            next.auth.previous_signing_keys.clone_from(&read.auth.previous_signing_keys);
            taken.extend(SIGNING_KEYS);
        }
        let Origins(origins) = &mut next.origins;
        replace_below(origins, &read.origins.0, &taken);
        replace_below(&mut next.secret_files.paths, &read.secret_files.paths, &taken);
        replace_below(&mut next.secret_files.digests, &read.secret_files.digests, &taken);
        next.secret_files.warnings.clone_from(&read.secret_files.warnings);
        next
    }
}

/// Takes over what another map has of some settings and of all that is below them.
fn replace_below<T: Clone>(own: &mut BTreeMap<String, T>, other: &BTreeMap<String, T>, settings: &[&str]) {
    let is_taken = |name: &str| {
        settings.iter().any(|setting| {
            let rest = name.strip_prefix(setting);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.') || rest == SUFFIX)
        })
    };
    own.retain(|name, _| !is_taken(name));
    own.extend(other.iter().filter(|(name, _)| is_taken(name)).map(|(name, value)| (name.clone(), value.clone())));
}

/// How two configurations differ, by the names of the settings. Of secrets it is told that they differ, and never how.
///
/// # Errors
/// Where a value cannot be written, which is a defect.
pub fn find_differences(before: &Config, after: &Config) -> Result<Vec<Difference>, toml::ser::Error> {
    let [before, after] = [Flat::of(before)?, Flat::of(after)?];
    let mut found = BTreeMap::new();
    for name in before.values.keys().chain(after.values.keys()).collect::<BTreeSet<_>>() {
        let [was, is] = [before.values.get(name), after.values.get(name)];
        if was == is {
            continue;
        }
        let entry = was.or(is).and_then(|value| value.entry.clone());
        let difference = match entry.map(|entry| (before.has(&entry), after.has(&entry), entry)) {
            Some((was_there, is_there, entry)) if was_there != is_there => {
                let told = |there| if there { PRESENT } else { ABSENT }.to_owned();
                Difference { setting: entry, before: told(was_there), after: told(is_there) }
            }
            _ => {
                let told =
                    |value: Option<&FlatValue>| value.map_or_else(|| ABSENT.to_owned(), |value| value.shown.clone());
                let (before, mut after) = (told(was), told(is));
                // Another secret looks like the one before.
                if before == after {
                    after = "changed".to_owned();
                }
                Difference { setting: name.clone(), before, after }
            }
        };
        found.insert(difference.setting.clone(), difference);
    }
    Ok(found.into_values().collect())
}

/// Every setting of a configuration by its dotted name.
struct Flat {
    values: BTreeMap<String, FlatValue>,
    /// The partners and issuers that there are.
    entries: BTreeSet<String>,
}

#[derive(PartialEq)]
struct FlatValue {
    value: Value,
    /// Of a secret, whose value is not here.
    digest: Option<Digest>,
    /// As it may be told.
    shown: String,
    /// The partner or issuer that it belongs to.
    entry: Option<String>,
}

impl Flat {
    fn of(config: &Config) -> Result<Self, toml::ser::Error> {
        let partners: Vec<String> = config.partners.iter().map(|partner| partner.id().to_string()).collect();
        let issuers: Vec<String> = config.auth.issuers.iter().map(|issuer| issuer.config().issuer).collect();
        let mut flat = Self { values: BTreeMap::new(), entries: BTreeSet::new() };
        each_setting(config, &mut |path, value| {
            // A section or a list without anything is told by what comes into it.
            if matches!(value, Value::Object(members) if members.is_empty())
                || matches!(value, Value::Array(items) if items.is_empty())
            {
                return;
            }
            let entry = match path {
                [list, place, ..] if list == "partners" => name_entry(list, place, &partners),
                [section, list, place, ..] if section == "auth" && list == "issuers" => {
                    name_entry("auth.issuers", place, &issuers)
                }
                _ => None,
            };
            let dotted = path.join(".");
            let name = match &entry {
                Some((entry, place)) => {
                    let below = dotted.split_once(&format!(".{place}.")).map_or("", |(_, below)| below);
                    format!("{entry}.{below}")
                }
                None => dotted.clone(),
            };
            let entry = entry.map(|(entry, _)| entry);
            flat.entries.extend(entry.clone());
            let setting = tell(path, value, &config.origins);
            let digest = config.secret_files.digests.get(&dotted).copied();
            let shown = if setting.secret && setting.value == SET { SET.to_owned() } else { setting.value.to_string() };
            flat.values.insert(name, FlatValue { value: value.clone(), digest, shown, entry });
        })?;
        Ok(flat)
    }

    fn has(&self, entry: &str) -> bool {
        self.entries.contains(entry)
    }
}

/// The name of an entry of a list, and its place as text.
fn name_entry<'a>(list: &str, place: &'a str, names: &[String]) -> Option<(String, &'a str)> {
    let name = names.get(place.parse::<usize>().ok()?)?;
    Some((format!("{list}.{name}"), place))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::load::{Overrides, load_under};

    const KEY: &str = "0123456789abcdef0123456789abcdef";

    fn partner(id: &str, url: &str, token: &str) -> String {
        format!(
            "[[partners]]\nid = \"{id}\"\nname = \"{id}\"\nurl = \"https://{url}\"\ntoken = \"{token}\"\n\
             listings = [{{ intent = \"auto.fix\", service_area = [\"IN_ALL\"] }}]\n"
        )
    }

    fn load(text: &str) -> Config {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("gateway.toml");
        // Each is in a folder of its own.
        fs::write(&path, format!("state_dir = \"/state\"\n{text}")).expect("written");
        load_under([], Some(&path), &Overrides::default()).expect("valid")
    }

    fn told(before: &Config, after: &Config) -> Vec<String> {
        let line = |Difference { setting, before, after }| format!("{setting}: {before} -> {after}");
        find_differences(before, after).expect("told").into_iter().map(line).collect()
    }

    #[test]
    fn differences_go_by_name_and_secrets_are_not_told() {
        let before = load(&format!(
            "[log]\nlevel = \"info\"\n{}{}{}",
            partner("a", "a.example/mcp?k=1", "one"),
            partner("b", "b.example", "one"),
            partner("gone", "c.example", "one"),
        ));
        // Partners in another order are no difference.
        let after = load(&format!(
            "[log]\nlevel = \"debug\"\n{}{}{}",
            partner("new", "n.example", "one"),
            partner("b", "other.example", "two"),
            partner("a", "a.example/mcp?k=2", "one"),
        ));
        assert_eq!(
            told(&before, &after),
            [
                "log.level: \"info\" -> \"debug\"",
                "partners.a.url: \"https://a.example/mcp?(redacted)\" -> changed",
                "partners.b.token: set -> changed",
                "partners.b.url: \"https://b.example\" -> \"https://other.example\"",
                "partners.gone: present -> absent",
                "partners.new: absent -> present",
            ]
        );
        assert!(told(&after, &after).is_empty());
    }

    #[test]
    fn what_cannot_take_effect_stays_as_it_was() {
        let before = load(&format!("[auth]\nsigning_key = \"{KEY}\"\n"));
        let read = load(&format!(
            "[auth]\nsigning_key = \"x{KEY}\"\n[server]\nmax_in_flight = 7\nopen_requests_per_minute = 9\n[quotas]\ntoken_per_day = 5\n\
             [[auth.issuers]]\nissuer = \"https://id.example\"\njwks_url = \"https://id.example/k\"\naudience = \"g\"\nrole = \"admin\"\n{}",
            partner("a", "a.example", "one")
        ));
        let next = before.reload(&read);
        assert_eq!(
            told(&before, &next),
            [
                "auth.issuers.https://id.example: absent -> present",
                "partners.a: absent -> present",
                "quotas.token_per_day: absent -> 5",
                "server.open_requests_per_minute: 30 -> 9",
            ]
        );
        assert_eq!(told(&next, &read), ["auth.signing_key: set -> changed", "server.max_in_flight: 1024 -> 7"]);
        let settings = crate::settings(&next).expect("told");
        let origin = |key: &str| settings.iter().find(|one| one.key == key).map(|one| one.origin.kind.clone());
        assert_eq!(origin("open_requests_per_minute").as_deref(), Some("file"));
        assert_eq!(origin("max_in_flight").as_deref(), Some("default"));
    }

    #[test]
    fn signing_keys_take_effect_where_references_have_a_key_of_their_own() {
        let text = |signing: &str| format!("[auth]\nsigning_key = \"{signing}\"\nreference_key = \"{KEY}\"\n");
        let (before, read) = (load(&text(KEY)), load(&text(&format!("x{KEY}"))));
        let next = before.reload(&read);
        assert_eq!(told(&before, &next), ["auth.signing_key: set -> changed"]);
        assert!(told(&next, &read).is_empty());
    }
}
