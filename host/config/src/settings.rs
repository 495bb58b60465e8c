//! What is in force, setting by setting, and where each was given, for whoever runs the gateway. No secret is in it: of one is said
//! whether it is set.

use std::collections::BTreeMap;

use intent_gateway_http::{Setting, SettingOrigin};
use serde_json::{Map, Value};

use super::secret_files::{EACH, SECRETS, SUFFIX};
use super::show::table;
use super::{Config, REDACTED};

/// Settings that are told; partners and sources may be many.
const SETTINGS_MAX: usize = 5_000;
/// What is told of a secret.
pub(crate) const SET: &str = "set";
const NOT_SET: &str = "not set";

/// Where settings were given, by dotted name. What is not there has its default.
#[derive(Clone, Debug, Default)]
pub struct Origins(pub(crate) BTreeMap<String, SettingOrigin>);

impl Origins {
    /// Where a setting was given, or the file that its secret is in.
    fn find(&self, path: &str) -> SettingOrigin {
        let found = self.0.get(path).or_else(|| self.0.get(&format!("{path}{SUFFIX}")));
        found.cloned().unwrap_or_default()
    }
}

/// The configuration in force, by section and key; at most 5,000 settings.
///
/// # Errors
/// Where a value cannot be written, which is a defect.
pub fn settings(config: &Config) -> Result<Vec<Setting>, toml::ser::Error> {
    let mut found = Vec::new();
    each_setting(config, &mut |path, value| {
        if found.len() < SETTINGS_MAX {
            found.push(tell(path, value, &config.origins));
        }
    })?;
    Ok(found)
}

/// Calls with each setting in force, and with the names that lead to it. A secret is redacted, and null where it is not set.
pub(crate) fn each_setting(config: &Config, work: &mut dyn FnMut(&[String], &Value)) -> Result<(), toml::ser::Error> {
    let shown = table(config)?;
    // Whatever TOML holds, JSON holds as well.
    let mut shown = serde_json::to_value(shown).unwrap_or_default();
    for secret in &SECRETS {
        note_unset(&mut shown, secret.path);
    }
    flatten(&shown, &mut Vec::new(), work);
    Ok(())
}

/// A secret that nobody has set is no member of what is in force.
fn note_unset(value: &mut Value, path: &[&str]) {
    match (path, value) {
        ([name], Value::Object(members)) => {
            members.entry(*name).or_insert(Value::Null);
        }
        ([EACH, rest @ ..], Value::Array(items)) => items.iter_mut().for_each(|item| note_unset(item, rest)),
        ([name, rest @ ..], Value::Object(members)) => {
            if let Some(below) = members.get_mut(*name) {
                note_unset(below, rest);
            }
        }
        _ => {}
    }
}

/// Calls `tell` with each value that is no table, and with its path. A list of single values is one.
fn flatten(value: &Value, path: &mut Vec<String>, tell: &mut dyn FnMut(&[String], &Value)) {
    let mut go_into = |name: String, below: &Value, path: &mut Vec<String>| {
        path.push(name);
        flatten(below, path, tell);
        path.pop();
    };
    match value {
        Value::Object(members) if !members.is_empty() || path.is_empty() => {
            members.iter().for_each(|(name, below)| go_into(name.clone(), below, path));
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            items.iter().enumerate().for_each(|(place, below)| go_into(place.to_string(), below, path));
        }
        single => tell(path, single),
    }
}

/// A setting as it may be told.
pub(crate) fn tell(path: &[String], value: &Value, origins: &Origins) -> Setting {
    let (section, key) = match path {
        [key] => (String::new(), key.clone()),
        [section, key @ ..] => (section.clone(), key.join(".")),
        [] => Default::default(),
    };
    let secret = is_secret(path) || has_redacted(value);
    let value = match value {
        Value::Null => NOT_SET.into(),
        Value::Array(items) if secret && items.is_empty() => NOT_SET.into(),
        _ if secret => SET.into(),
        value => without_credentials(value),
    };
    Setting { section, key, value, secret, origin: origins.find(&path.join(".")) }
}

fn is_secret(path: &[String]) -> bool {
    SECRETS.iter().any(|secret| {
        let is_same = |(own, part): (&&str, &String)| *own == EACH || own == part;
        secret.path.len() == path.len() && secret.path.iter().zip(path).all(is_same)
    })
}

/// A secret that the table of secrets has not is redacted all the same.
fn has_redacted(value: &Value) -> bool {
    match value {
        Value::String(text) => text == REDACTED,
        Value::Array(items) => items.iter().any(has_redacted),
        _ => false,
    }
}

/// An address may hold a name with a password, or a key in its query: neither is told.
fn without_credentials(value: &Value) -> Value {
    match value {
        Value::String(text) => hide_credentials(text).into(),
        Value::Array(items) => items.iter().map(without_credentials).collect(),
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| (name.clone(), without_credentials(value)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

fn hide_credentials(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host =
        authority.rsplit_once('@').map_or_else(|| authority.to_owned(), |(_, host)| format!("{REDACTED}@{host}"));
    let path = path.find(['?', '#']).map_or_else(|| path.to_owned(), |at| format!("{}?{REDACTED}", &path[..at]));
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::fs;

    use super::*;
    use crate::load::{Overrides, load_under};

    /// As long as keys have to be, and nowhere in what is told.
    const PLANTED: &str = "planted-planted-planted-planted-planted-planted";

    /// A configuration in which each secret is set, and addresses hold some besides.
    fn text() -> String {
        format!(
            r#"
            [auth]
            signing_key = "{PLANTED}1"
            previous_signing_keys = ["{PLANTED}2"]
            reference_key = "{PLANTED}3"
            previous_reference_keys = ["{PLANTED}4"]
            master_key = "{PLANTED}5"
            previous_master_keys = ["{PLANTED}6"]
            [store]
            url = "postgres://gateway:{PLANTED}7@db.example/gateway"
            [mail]
            user = "u"
            password = "{PLANTED}8"
            [console]
            sign_in_issuer = "https://id.example"
            sign_in_client_id = "console"
            sign_in_client_secret = "{PLANTED}9"
            [[linking.clients]]
            partner = "a"
            issuer = "https://id.example"
            client_id = "gateway"
            client_secret = "{PLANTED}10"
            [[partners]]
            id = "a"
            name = "A"
            url = "https://a.example/mcp?token={PLANTED}"
            token = "{PLANTED}11"
            webhook_signing_key = "{PLANTED}12"
            listings = [{{ intent = "auto.fix", service_area = ["IN_ALL"] }}]
        "#
        )
    }

    fn load_text(text: &str, environment: &[(&str, &str)]) -> Config {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("gateway.toml");
        fs::write(&path, text).expect("written");
        let environment = environment.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let mut overrides = Overrides::default();
        overrides.set("log.level", "debug");
        load_under(environment, Some(&path), &overrides).expect("valid")
    }

    #[test]
    fn no_secret_is_told() {
        let config = load_text(&text(), &[]);
        let found = settings(&config).expect("told");
        let written = serde_json::to_string(&found).expect("JSON");
        assert!(!written.contains("planted"), "{written}");
        let secrets: Vec<_> = found.iter().filter(|setting| setting.secret).collect();
        assert_eq!(secrets.len(), SECRETS.len());
        assert!(secrets.iter().all(|setting| setting.value == SET && setting.origin.kind == "file"), "{secrets:?}");
        let of = |section: &str, key: &str| {
            found
                .iter()
                .find(|one| one.section == section && one.key == key)
                .unwrap_or_else(|| panic!("{section}.{key}"))
        };
        assert_eq!(of("partners", "0.url").value, "https://a.example/mcp?(redacted)");
    }

    #[test]
    fn what_is_not_set_is_told_as_that() {
        let found = settings(&Config::default()).expect("told");
        let secrets: Vec<_> = found.iter().filter(|setting| setting.secret).collect();
        // Those of partners and of linking are of an entry each.
        assert_eq!(secrets.len(), SECRETS.iter().filter(|secret| !secret.path.contains(&EACH)).count());
        assert!(
            secrets.iter().all(|setting| setting.value == NOT_SET && setting.origin.kind == "default"),
            "{secrets:?}"
        );
    }

    #[test]
    fn origins_are_of_the_layer_that_counts() {
        let config =
            load_text(&text(), &[("INTENT_GATEWAY__AUTH__AUDIENCE", "here"), ("INTENT_GATEWAY__MAIL__USER", "v")]);
        let found = settings(&config).expect("told");
        let origin = |section: &str, key: &str| {
            let setting = found.iter().find(|one| one.section == section && one.key == key).expect("told");
            (setting.value.clone(), setting.origin.kind.clone(), setting.origin.place.clone().unwrap_or_default())
        };
        assert_eq!(origin("log", "level"), ("debug".into(), "flag".to_owned(), String::new()));
        let by_variable = origin("mail", "user");
        assert_eq!(by_variable, ("v".into(), "environment".to_owned(), "INTENT_GATEWAY__MAIL__USER".to_owned()));
        let (value, kind, place) = origin("partners", "0.id");
        assert_eq!((value, kind.as_str()), ("a".into(), "file"));
        assert!(place.contains("gateway.toml:"), "{place}");
        assert_eq!(origin("server", "listen").1, "default");
        assert_eq!(origin("auth", "audience").1, "environment");
    }

    #[test]
    fn addresses_lose_what_opens_them() {
        for (given, told) in [
            ("https://a.example/mcp", "https://a.example/mcp"),
            ("https://a@b@c.example", "https://(redacted)@c.example"),
            ("https://c.example#x", "https://c.example?(redacted)"),
            ("no address: a@b?c", "no address: a@b?c"),
        ] {
            assert_eq!(hide_credentials(given), told);
        }
    }
}
