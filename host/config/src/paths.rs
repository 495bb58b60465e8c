//! Paths of a configuration file are relative to that file, so that they mean the same from wherever a command is run.
//! Those of the environment and of flags are relative to the working directory, as a shell has it.

use std::path::Path;

use serde_json::Value;

use super::layers::Table;
use super::{secret_files, sources};

/// Every setting that is a path, section by section.
const PATHS: [&[&str]; 8] = [
    &["state_dir"],
    &["anchors", "file"],
    &["contracts", "dir"],
    &["mail", "outbox_file"],
    &["mail", "ca_file"],
    &["server", "tls_certificate"],
    &["server", "tls_key"],
    &["server", "tls_client_ca"],
];
/// The address of the store, which may hold one.
const STORE_URL: [&str; 2] = ["store", "url"];
/// The sources of contracts, each of which may hold some.
const SOURCES: [&str; 2] = ["contracts", "sources"];
/// What the path of a SQLite file stands after.
const SQLITE: &str = "sqlite://";
/// The one path that has a default.
const STATE_DIR: &str = "state_dir";
/// That default.
pub(crate) const STATE_DIR_DEFAULT: &str = "state";

/// Makes the paths that a file gives relative to the folder that the file is in.
pub(crate) fn rebase(given: &mut Table, folder: &Path) {
    for path in PATHS {
        if let Some(Value::String(text)) = find(given, path) {
            *text = join(folder, text);
        }
    }
    if let Some(url) = find(given, &STORE_URL) {
        rebase_store(url, folder);
    }
    if let Some(sources) = find(given, &SOURCES) {
        sources::rebase(sources, folder);
    }
    secret_files::rebase(given, folder);
}

/// Makes the path in the address of a SQLite file relative to the folder of the file that the address is in.
pub(crate) fn rebase_store(url: &mut Value, folder: &Path) {
    if let Value::String(url) = url
        && let Some(path) = url.strip_prefix(SQLITE).filter(|path| !path.is_empty())
    {
        *url = format!("{SQLITE}{}", join(folder, path));
    }
}

/// Puts the default of the state folder beside the file, where the file names none: one gateway, one folder, from
/// wherever it is started.
pub(crate) fn add_state_dir(given: &mut Table, folder: &Path) {
    let beside = || Value::String(folder.join(STATE_DIR_DEFAULT).to_string_lossy().into_owned());
    given.entry(STATE_DIR).or_insert_with(beside);
}

fn find<'a>(table: &'a mut Table, path: &[&str]) -> Option<&'a mut Value> {
    let (first, rest) = path.split_first()?;
    let value = table.get_mut(*first)?;
    match (rest, value) {
        ([], value) => Some(value),
        (rest, Value::Object(table)) => find(table, rest),
        _ => None,
    }
}

/// An absolute path stays as it is; an empty one is told as such.
pub(crate) fn join(folder: &Path, path: &str) -> String {
    if path.is_empty() { String::new() } else { folder.join(path).to_string_lossy().into_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_start_at_the_file() {
        let given = json!({"state_dir": "state", "contracts": {"dir": "../contracts"}, "store": {"url": "sqlite://g.db"},
            "mail": {"outbox_file": "/var/outbox", "ca_file": ""}, "log": {"level": "info"}, "server": 1});
        let Value::Object(mut given) = given else { unreachable!("an object") };
        rebase(&mut given, Path::new("/etc/gateway"));
        assert_eq!(
            Value::Object(given),
            json!({"state_dir": "/etc/gateway/state", "contracts": {"dir": "/etc/gateway/../contracts"},
                "store": {"url": "sqlite:///etc/gateway/g.db"},
                "mail": {"outbox_file": "/var/outbox", "ca_file": ""}, "log": {"level": "info"}, "server": 1})
        );
        let mut postgres = Table::from_iter([("store".to_owned(), json!({"url": "postgres://h/d"}))]);
        rebase(&mut postgres, Path::new("/etc"));
        assert_eq!(postgres["store"]["url"], "postgres://h/d");
    }

    #[test]
    fn the_state_folder_lies_beside_the_file_unless_it_is_named() {
        let (mut none, mut named) = (Table::new(), Table::from_iter([(STATE_DIR.to_owned(), json!("/srv"))]));
        for table in [&mut none, &mut named] {
            add_state_dir(table, Path::new("/etc"));
        }
        assert_eq!((&none[STATE_DIR], &named[STATE_DIR]), (&json!("/etc/state"), &json!("/srv")));
    }
}
