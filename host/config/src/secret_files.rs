//! Secrets from files: every secret setting `NAME` can be given as `NAME_file`, the path of a file that holds it, instead. Files
//! are read here, before the sections are, so that no section knows of them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use intent_gateway_domain::digest::Digest;
use serde_json::Value;

use super::layers::{Layers, Table};
use super::paths;

/// Largest file that a secret, or a list of them, is read from, bytes.
const FILE_MAX_BYTES: u64 = 64 * 1024;
/// What the name of a secret setting is followed by where its file is named.
pub(crate) const SUFFIX: &str = "_file";
/// Stands for every entry of a list, in the path of a setting.
pub(crate) const EACH: &str = "*";
/// Rights that nobody needs who only serves: writing and running for the group, anything for others.
const MODE_TOO_WIDE: u32 = 0o037;

/// A setting that is a secret, or a list of secrets.
pub(crate) struct SecretSetting {
    /// Where it is, section by section.
    pub(crate) path: &'static [&'static str],
    /// A list: its file has one secret a line, and none is a list, too.
    is_list: bool,
}

const fn one(path: &'static [&'static str]) -> SecretSetting {
    SecretSetting { path, is_list: false }
}

const fn list(path: &'static [&'static str]) -> SecretSetting {
    SecretSetting { path, is_list: true }
}

/// Every setting that is a secret. A test holds what is redacted against it.
pub(crate) const SECRETS: [SecretSetting; 12] = [
    one(&["auth", "signing_key"]),
    list(&["auth", "previous_signing_keys"]),
    one(&["auth", "reference_key"]),
    list(&["auth", "previous_reference_keys"]),
    one(&["auth", "master_key"]),
    list(&["auth", "previous_master_keys"]),
    one(&["store", "url"]),
    one(&["linking", "clients", EACH, "client_secret"]),
    one(&["mail", "password"]),
    one(&["console", "sign_in_client_secret"]),
    one(&["partners", EACH, "token"]),
    one(&["partners", EACH, "webhook_signing_key"]),
];

/// The files that secrets were read from.
#[derive(Clone, Debug, Default)]
pub struct SecretFiles {
    /// The file of each setting that has one, by dotted name.
    pub(crate) paths: BTreeMap<String, PathBuf>,
    /// Digests of all secrets, wherever they were given, by dotted name: they tell whether one is another one.
    pub(crate) digests: BTreeMap<String, Digest>,
    /// What whoever runs the gateway should look at: files that others may read.
    pub warnings: Vec<String>,
}

impl SecretFiles {
    /// The file that a setting was read from, by its dotted name.
    pub fn path(&self, setting: &str) -> Option<&Path> {
        self.paths.get(setting).map(PathBuf::as_path)
    }
}

/// Makes the paths of secrets' files in a configuration file relative to the folder that it is in.
pub(crate) fn rebase(given: &mut Table, folder: &Path) {
    for setting in &SECRETS {
        each_table(given, setting.path, &mut Vec::new(), &mut |table, name, _| {
            if let Some(Value::String(path)) = table.get_mut(&file_key(name)) {
                *path = paths::join(folder, path);
            }
        });
    }
}

/// Puts the content of each file in place of its name. What is wrong is told with the setting and the path, never with content.
pub(crate) fn read(given: &mut Table, layers: &Layers, problems: &mut Vec<String>) -> SecretFiles {
    let mut files = SecretFiles::default();
    for setting in &SECRETS {
        each_table(given, setting.path, &mut Vec::new(), &mut |table, name, parents| {
            let key = file_key(name);
            let Some(named) = table.remove(&key) else { return };
            let path_to = |name: &str| parents.iter().cloned().chain([name.to_owned()]).collect::<Vec<_>>();
            let (own, of_file) = (path_to(name), path_to(&key));
            let (dotted, place) = (own.join("."), layers.place(&of_file));
            if table.contains_key(name) {
                let other = layers.place(&own);
                problems.push(format!("`{dotted}`{other} and `{dotted}{SUFFIX}`{place} are both given; leave one out"));
                return;
            }
            let content = match &named {
                Value::String(path) => read_file(Path::new(path), setting.is_list, &mut files.warnings, &dotted),
                _ => Err("expected the path of a file, as a text".to_owned()),
            };
            match content {
                Ok(mut value) => {
                    let path = PathBuf::from(named.as_str().unwrap_or_default());
                    if dotted == "store.url" {
                        paths::rebase_store(&mut value, path.parent().unwrap_or(Path::new("")));
                    }
                    table.insert(name.to_owned(), value);
                    files.paths.insert(dotted, path);
                }
                Err(why) => problems.push(format!("`{dotted}{SUFFIX}`{place}: {why}")),
            }
        });
        each_table(given, setting.path, &mut Vec::new(), &mut |table, name, parents| {
            let Some(value) = table.get(name) else { return };
            let path: Vec<&str> = parents.iter().map(String::as_str).chain([name]).collect();
            files.digests.insert(path.join("."), Digest::of(value.to_string().as_bytes()));
        });
    }
    files
}

fn file_key(name: &str) -> String {
    format!("{name}{SUFFIX}")
}

/// Calls with each table that may hold the last name of a path, that name, and the names that led there.
fn each_table(
    table: &mut Table,
    path: &[&str],
    led: &mut Vec<String>,
    work: &mut dyn FnMut(&mut Table, &str, &[String]),
) {
    match path {
        [] => {}
        [name] => work(table, name, led),
        [first, rest @ ..] => {
            let Some(value) = table.get_mut(*first) else { return };
            led.push((*first).to_owned());
            match (value, rest) {
                (Value::Object(inner), rest) => each_table(inner, rest, led, work),
                (Value::Array(entries), [EACH, rest @ ..]) => {
                    for (index, entry) in entries.iter_mut().enumerate() {
                        let Value::Object(inner) = entry else { continue };
                        led.push(index.to_string());
                        each_table(inner, rest, led, work);
                        led.pop();
                    }
                }
                _ => {}
            }
            led.pop();
        }
    }
}

fn read_file(path: &Path, is_list: bool, warnings: &mut Vec<String>, setting: &str) -> Result<Value, String> {
    let shown = path.display();
    let unreadable = |error: io::Error| format!("cannot read {shown}: {error}");
    // Before it is opened: opening a pipe would wait for whoever writes to it.
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(format!("{shown} is no file"));
    }
    let mut bytes = Vec::new();
    let opened = File::open(path).map_err(unreadable)?;
    opened.take(FILE_MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > FILE_MAX_BYTES {
        return Err(format!("{shown} is larger than {FILE_MAX_BYTES} bytes"));
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| format!("{shown} is no text in UTF-8"))?;
    let value = if is_list { read_lines(text) } else { read_one(text).map_err(|why| format!("{shown} {why}"))? };
    let mode = metadata.permissions().mode() & 0o777;
    if mode & MODE_TOO_WIDE != 0 {
        warnings.push(format!(
            "{shown}, which holds `{setting}`, has mode {mode:04o}, so others may read or change it; run `chmod 600` on it"
        ));
    }
    Ok(value)
}

fn read_one(text: &str) -> Result<Value, &'static str> {
    let text = text.strip_suffix('\n').map_or(text, |text| text.strip_suffix('\r').unwrap_or(text));
    match text {
        "" => Err("is empty"),
        text if text.contains(['\n', '\r']) => Err("has several lines; a secret is one"),
        text => Ok(text.into()),
    }
}

fn read_lines(text: &str) -> Value {
    text.lines().filter(|line| !line.is_empty()).map(Value::from).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::load::{ConfigError, load_under};
    use crate::{Config, Overrides};

    /// A folder with a configuration and files beside it, each with its mode.
    struct World(tempfile::TempDir);

    impl World {
        fn new(files: &[(&str, &str, u32)]) -> Self {
            let world = Self(tempfile::tempdir().expect("a folder"));
            for (name, content, mode) in files {
                fs::write(world.path(name), content).expect("written");
                fs::set_permissions(world.path(name), fs::Permissions::from_mode(*mode)).expect("changed");
            }
            world
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn load(&self, text: &str, variables: &[(&str, &str)]) -> Result<Config, Vec<String>> {
            fs::write(self.path("g.toml"), text).expect("written");
            let variables = variables.iter().map(|(name, value)| (name.into(), value.into()));
            load_under(variables, Some(&self.path("g.toml")), &Overrides::default()).map_err(|error| match error {
                ConfigError::Invalid(problems) => problems,
                other => panic!("{other}"),
            })
        }
    }

    const KEY: &str = "0123456789abcdef0123456789abcdef";
    const OTHER: &str = "fedcba9876543210fedcba9876543210";

    #[test]
    fn every_secret_can_come_from_a_file() {
        let lines = format!("{KEY}\n\n{OTHER}\r\n");
        let world = World::new(&[
            ("key", &format!("{KEY}\n"), 0o600),
            ("keys", &lines, 0o640),
            ("none", "", 0o400),
            ("url", "sqlite://of-url.db\r\n", 0o600),
        ]);
        let text = r#"
            [auth]
            signing_key_file = "key"
            previous_signing_keys_file = "keys"
            reference_key_file = "key"
            previous_reference_keys_file = "keys"
            master_key_file = "key"
            previous_master_keys_file = "keys"
            [store]
            url_file = "url"
            [mail]
            user = "u"
            password_file = "key"
            [console]
            sign_in_issuer = "https://id.example"
            sign_in_client_id = "console"
            sign_in_client_secret_file = "key"
            [[linking.clients]]
            partner = "a"
            issuer = "https://id.example"
            client_id = "gateway"
            client_secret_file = "key"
            [[partners]]
            id = "a"
            name = "A"
            url = "https://a.example/mcp"
            token_file = "key"
            webhook_signing_key_file = "key"
            listings = [{ intent = "auto.fix", service_area = ["IN_ALL"] }]
        "#;
        let config = world.load(text, &[]).expect("valid");
        assert_eq!(config.auth.signing_key.as_ref().expect("a key").expose(), KEY);
        let previous: Vec<_> = config.auth.previous_master_keys.iter().map(|key| key.expose()).collect();
        assert_eq!(previous, [KEY, OTHER]);
        assert_eq!(config.mail.password.as_ref().expect("a password").expose(), KEY);
        let url = config.store.url.as_ref().expect("an address").expose();
        assert_eq!(url, format!("sqlite://{}", world.path("of-url.db").display()), "its path starts at the file");
        assert_eq!(config.secret_files.path("auth.master_key"), Some(world.path("key").as_path()));
        assert_eq!(config.secret_files.warnings, Vec::<String>::new());

        // What is redacted when it is shown is what a file can hold, no less and no more.
        let shown = crate::show(&config).expect("shown");
        assert!(!shown.contains(KEY));
        let table: toml::Table = shown.parse().expect("TOML");
        let mut redacted = BTreeSet::new();
        find_redacted(&table.into(), "", &mut redacted);
        let settings = SECRETS.iter().map(|setting| setting.path.join("."));
        assert_eq!(redacted, settings.collect());

        let text = "[auth]\nmaster_key_file = \"key\"\nprevious_master_keys_file = \"none\"\n";
        assert!(world.load(text, &[]).expect("valid").auth.previous_master_keys.is_empty(), "a list may be empty");
    }

    fn find_redacted(value: &toml::Value, path: &str, found: &mut BTreeSet<String>) {
        match value {
            toml::Value::Table(table) => table.iter().for_each(|(name, value)| {
                find_redacted(value, format!("{path}.{name}").trim_start_matches('.'), found);
            }),
            toml::Value::Array(values) => values.iter().for_each(|value| match value {
                toml::Value::Table(_) => find_redacted(value, &format!("{path}.{EACH}"), found),
                value => find_redacted(value, path, found),
            }),
            toml::Value::String(text) if text == crate::REDACTED => {
                found.insert(path.to_owned());
            }
            _ => {}
        }
    }

    #[test]
    fn a_variable_names_a_file_as_it_gives_a_value() {
        let world = World::new(&[("key", KEY, 0o600)]);
        let path = world.path("key").display().to_string();
        let config = world.load("", &[("INTENT_GATEWAY__AUTH__MASTER_KEY_FILE", &path)]).expect("valid");
        assert_eq!(config.auth.master_key.expect("a key").expose(), KEY);
        let missing = [("INTENT_GATEWAY__AUTH__MASTER_KEY_FILE", "/nowhere/key")];
        let problems = world.load("", &missing).expect_err("refused");
        assert_eq!(problems.len(), 1, "{problems:?}");
        let expected = "`auth.master_key_file` (`INTENT_GATEWAY__AUTH__MASTER_KEY_FILE`): cannot read /nowhere/key: ";
        assert!(problems[0].starts_with(expected), "{problems:?}");
    }

    #[test]
    fn exactly_one_of_value_and_file_is_given() {
        let world = World::new(&[("key", KEY, 0o600)]);
        let both = format!("[auth]\nsigning_key_file = \"key\"\nsigning_key = \"{OTHER}\"\n");
        let problems = world.load(&both, &[]).expect_err("refused");
        let file = world.path("g.toml").display().to_string();
        assert_eq!(
            problems,
            [format!(
                "`auth.signing_key` ({file}:3:1) and `auth.signing_key_file` ({file}:2:1) are both given; leave one out"
            )]
        );
        let variable = [("INTENT_GATEWAY__AUTH__SIGNING_KEY", OTHER)];
        let problems = world.load("[auth]\nsigning_key_file = \"key\"\n", &variable).expect_err("refused");
        assert!(problems.len() == 1 && problems[0].contains("are both given"), "{problems:?}");
    }

    #[test]
    fn a_file_that_cannot_be_used_is_told_without_its_content() {
        let large = "hunter2".repeat(10_000);
        let world = World::new(&[
            ("empty", "", 0o600),
            ("newline", "\n", 0o600),
            ("large", &large, 0o600),
            ("lines", "hunter2\nhunter2\n", 0o600),
            ("short", "hunter2\n", 0o600),
        ]);
        fs::write(world.path("binary"), b"hunter2\xff").expect("written");
        fs::create_dir(world.path("folder")).expect("a folder");
        for (name, expected) in [
            ("missing", "cannot read "),
            ("empty", "is empty"),
            ("newline", "is empty"),
            ("large", "is larger than 65536 bytes"),
            ("lines", "has several lines"),
            ("binary", "is no text in UTF-8"),
            ("folder", "is no file"),
            ("short", "`auth.master_key` has 7 bytes"),
        ] {
            let problems = world.load(&format!("[auth]\nmaster_key_file = \"{name}\"\n"), &[]).expect_err(name);
            let [told] = problems.as_slice() else { panic!("{name}: {problems:?}") };
            assert!(told.contains(expected) && !told.contains("hunter2"), "{name}: {told}");
            let path = world.path(name).display().to_string();
            assert!(
                name == "short" || (told.starts_with("`auth.master_key_file` (") && told.contains(&path)),
                "{told}"
            );
        }
        let problems = world.load("[auth]\nmaster_key_file = 5\n", &[]).expect_err("refused");
        assert!(problems.len() == 1 && problems[0].contains("expected the path of a file"), "{problems:?}");
        let problems = world.load("[auth]\naudience_file = \"short\"\n", &[]).expect_err("refused");
        assert!(problems.len() == 1 && problems[0].starts_with("unknown key `auth.audience_file`"), "{problems:?}");
    }

    #[test]
    fn a_file_that_others_may_read_is_warned_of() {
        for (mode, warned) in [
            (0o600, false),
            (0o400, false),
            (0o640, false),
            (0o440, false),
            (0o644, true),
            (0o660, true),
            (0o604, true),
        ] {
            let world = World::new(&[("key", KEY, mode)]);
            let warnings = world.load("[auth]\nmaster_key_file = \"key\"\n", &[]).expect("valid").secret_files.warnings;
            assert_eq!(!warnings.is_empty(), warned, "{mode:o}: {warnings:?}");
            for told in warnings {
                assert!(told.contains(&format!("{mode:04o}")) && told.contains("`auth.master_key`"), "{told}");
                assert!(!told.contains(KEY), "{told}");
            }
        }
    }
}
