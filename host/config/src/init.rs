//! Writes a configuration with keys of its own, to begin with. The keys are in files, so that a command can rotate them.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::keys::new_key;
use crate::rotation::KeyName;

/// Modes of what is made: the files hold keys.
const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;
/// What the folder of the keys ends with in place of the file's extension.
const KEYS_EXTENSION: &str = "keys";

/// The configuration cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// There is a file of that name; it is as it was.
    #[error("{} is there already; it stays as it is", .0.display())]
    Exists(PathBuf),
    /// It cannot be written.
    #[error("cannot write {}: {cause}", path.display())]
    Unwritten { path: PathBuf, cause: io::Error },
}

/// Writes a new file, and a folder with its keys beside it: `gateway.keys` for `gateway.toml`. The owner alone can read them.
///
/// # Errors
/// [`InitError`] when there is a file or a folder of that name, or it cannot be written; what was begun is removed.
pub fn init(path: &Path) -> Result<(), InitError> {
    let keys = path.with_extension(KEYS_EXTENSION);
    let folder = keys.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    create(path, &configuration(&folder))?;
    let written = make_keys(&keys);
    if written.is_err() {
        // What went wrong is what the caller has to know.
        let _ = std::fs::remove_file(path);
    }
    written
}

/// Makes a folder with a file for each key, and an empty one for those that a rotation will replace.
fn make_keys(folder: &Path) -> Result<(), InitError> {
    DirBuilder::new().mode(FOLDER_MODE).create(folder).map_err(|cause| fault(folder, cause))?;
    let written = KeyName::ALL.into_iter().try_for_each(|name| {
        let key = new_key().map_err(|cause| fault(folder, cause))?;
        create(&folder.join(name.as_str()), &format!("{key}\n"))?;
        create(&folder.join(former_file(name)), "")
    });
    if written.is_err() {
        let _ = std::fs::remove_dir_all(folder);
    }
    written
}

fn former_file(name: KeyName) -> String {
    format!("{}-former", name.as_str())
}

fn fault(path: &Path, cause: io::Error) -> InitError {
    match cause.kind() {
        io::ErrorKind::AlreadyExists => InitError::Exists(path.to_owned()),
        _ => InitError::Unwritten { path: path.to_owned(), cause },
    }
}

fn create(path: &Path, text: &str) -> Result<(), InitError> {
    let opened = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path);
    let mut file = opened.map_err(|cause| fault(path, cause))?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(|cause| {
        let _ = std::fs::remove_file(path);
        fault(path, cause)
    })
}

fn configuration(folder: &str) -> String {
    let setting = |name: KeyName| {
        let (key, former) = (name.setting_name(), name.former_setting_name());
        format!("{key}_file = \"{folder}/{}\"\n{former}_file = \"{folder}/{}\"\n", name.as_str(), former_file(name))
    };
    let keys: String = KeyName::ALL.into_iter().map(setting).collect();
    format!(
        "# Every key and what it means: docs/configuration.md. To check: intent-gateway config check --config FILE\n\
         \n\
         # Loaded contracts and the store. Relative paths start at this file.\n\
         state_dir = \"state\"\n\
         \n\
         [server]\n\
         # Behind a proxy that speaks TLS. On any other address but a loopback one, set [mail] below, too.\n\
         listen = \"127.0.0.1:8080\"\n\
         \n\
         # Made for this file alone; `intent-gateway keys rotate` replaces them. Keep a copy of the master key apart from backups of the\n\
         # store: without it, what is sealed cannot be opened, nor the audit log and the ledger be checked.\n\
         [auth]\n\
         {keys}\
         \n\
         [platform]\n\
         # The public address.\n\
         base_url = \"http://localhost:8080\"\n\
         # Where the platform team is told by mail what it must look at.\n\
         # team_email = \"partners@gateway.example\"\n\
         \n\
         # Where the ends of the audit log and of the ledger are noted besides the log: where the store's owner cannot write.\n\
         # [anchors]\n\
         # file = \"/var/lib/anchors/gateway.anchors\"\n\
         \n\
         # Without this, mail goes to a file in the state folder.\n\
         # [mail]\n\
         # mode = \"smtp\"\n\
         # host = \"smtp.gateway.example\"\n\
         # from = \"Intent Gateway <no-reply@gateway.example>\"\n"
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::{Config, Overrides, load};

    #[test]
    fn a_configuration_is_made_once_with_keys_of_its_own_and_nobody_else_reads_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let (one, other) = (folder.path().join("one.toml"), folder.path().join("other.toml"));
        init(&one).expect("written");
        init(&other).expect("written");
        let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
        let keys = folder.path().join("one.keys");
        assert_eq!((mode(&one), mode(&keys), mode(&keys.join("master"))), (0o600, 0o700, 0o600));
        let config = |path: &Path| load(Some(path), &Overrides::default()).expect("it is a configuration");
        let (first, second) = (config(&one), config(&other));
        let keys_of = |config: &Config| {
            let auth = &config.auth;
            [&auth.signing_key, &auth.reference_key, &auth.master_key]
                .map(|key| key.as_ref().expect("a key").expose().to_owned())
        };
        let keys = [&first, &second].map(keys_of);
        let distinct: std::collections::BTreeSet<&String> = keys.iter().flatten().collect();
        assert_eq!(distinct.len(), 6, "each key is another");
        assert_eq!(first.secret_files.warnings, Vec::<String>::new());
        for name in KeyName::ALL {
            crate::rotate_key(&first, name).expect("a command can rotate it");
        }
        let rotated = config(&one).auth;
        assert_eq!(rotated.previous_master_keys[0].expose(), keys_of(&first)[2]);
        let before = std::fs::read_to_string(&one).expect("read");
        assert!(matches!(init(&one), Err(InitError::Exists(path)) if path == one));
        assert_eq!(std::fs::read_to_string(&one).expect("read"), before);
        std::fs::remove_file(&one).expect("removed");
        let folder_stays = folder.path().join("one.keys");
        assert!(matches!(init(&one), Err(InitError::Exists(path)) if path == folder_stays));
        assert!(
            !one.exists() && folder_stays.join("master").exists(),
            "keys that are there stay, and nothing is left half done"
        );
        // What is commented out is right, too: with it, it may be served to others.
        let text =
            before.replace("# [", "[").replace("# mode", "mode").replace("# host", "host").replace("# from", "from");
        let text = text
            .replace("# team_email", "team_email")
            .replace("# file", "file")
            .replace("127.0.0.1:8080", "0.0.0.0:80");
        std::fs::write(&other, text).expect("written");
        config(&other).check_exposure().expect("nothing is for development");
    }
}
