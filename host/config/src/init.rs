//! Writes a configuration with keys of its own, to begin with.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::keys::new_key;

/// Mode of the file: it holds keys.
const FILE_MODE: u32 = 0o600;

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

/// Writes a new file that its owner alone can read.
///
/// # Errors
/// [`InitError`] when there is a file of that name, or it cannot be written; a file that was begun is removed.
pub fn init(path: &Path) -> Result<(), InitError> {
    let unwritten = |cause: io::Error| InitError::Unwritten { path: path.to_owned(), cause };
    let text = configuration().map_err(unwritten)?;
    let mut file = match OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(InitError::Exists(path.to_owned())),
        opened => opened.map_err(unwritten)?,
    };
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(|cause| {
        // What went wrong is what the caller has to know.
        let _ = std::fs::remove_file(path);
        unwritten(cause)
    })
}

fn configuration() -> io::Result<String> {
    Ok(format!(
        "# Every key and what it means: docs/configuration.md. To check: intent-gateway config check --config FILE\n\
         \n\
         # Loaded contracts and the store. Relative paths start at this file.\n\
         state_dir = \"state\"\n\
         \n\
         [server]\n\
         # Behind a proxy that speaks TLS. On any other address but a loopback one, set [mail] below, too.\n\
         listen = \"127.0.0.1:8080\"\n\
         \n\
         # Made for this file alone. Keep a copy of the master key apart from backups of the store: without it, what is sealed\n\
         # cannot be opened, nor the audit log and the ledger be checked.\n\
         [auth]\n\
         signing_key = \"{}\"\n\
         reference_key = \"{}\"\n\
         master_key = \"{}\"\n\
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
         # from = \"Intent Gateway <no-reply@gateway.example>\"\n",
        new_key()?,
        new_key()?,
        new_key()?
    ))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::{Overrides, load};

    #[test]
    fn a_configuration_is_made_once_with_keys_of_its_own_and_nobody_else_reads_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let (one, other) = (folder.path().join("one.toml"), folder.path().join("other.toml"));
        init(&one).expect("written");
        init(&other).expect("written");
        assert_eq!(std::fs::metadata(&one).expect("there").permissions().mode() & 0o777, 0o600);
        let config = |path: &Path| load(Some(path), &Overrides::default()).expect("it is a configuration");
        let (first, second) = (config(&one), config(&other));
        let keys = [&first, &second].map(|config| {
            let auth = &config.auth;
            [&auth.signing_key, &auth.reference_key, &auth.master_key]
                .map(|key| key.as_ref().expect("a key").expose().to_owned())
        });
        let distinct: std::collections::BTreeSet<&String> = keys.iter().flatten().collect();
        assert_eq!(distinct.len(), 6, "each key is another");
        let before = std::fs::read_to_string(&one).expect("read");
        assert!(matches!(init(&one), Err(InitError::Exists(path)) if path == one));
        assert_eq!(std::fs::read_to_string(&one).expect("read"), before);
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
