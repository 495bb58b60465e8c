//! The gateway's own keys by name: which there are, and a new one in place of the current one, which goes on as a former one.
//!
//! Not here: what is stored under a former master key, which `intent_gateway_domain::reseal` seals anew.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use intent_gateway_domain::secret::Secret;
use intent_gateway_http::auth::key_id;

use super::keys::{KeyError, Keys, MissingKey, SigningKeys, new_key};
use super::{AuthSection, Config};

/// Former keys of one name that are kept, at most: each is tried for whatever the current one does not open.
const FORMER_MAX: usize = 16;

/// A key of the gateway's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyName {
    /// Signs and verifies tokens.
    Signing,
    /// Seals references to options and bookings.
    Reference,
    /// Seals what is stored, marks, and links audit log and ledger.
    Master,
}

impl KeyName {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Signing, Self::Reference, Self::Master];

    /// As commands name it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Signing => "signing",
            Self::Reference => "reference",
            Self::Master => "master",
        }
    }

    /// The setting of the current key.
    fn setting(self) -> &'static str {
        match self {
            Self::Signing => "auth.signing_key",
            Self::Reference => "auth.reference_key",
            Self::Master => "auth.master_key",
        }
    }

    /// The setting of the former keys.
    fn former_setting(self) -> &'static str {
        match self {
            Self::Signing => "auth.previous_signing_keys",
            Self::Reference => "auth.previous_reference_keys",
            Self::Master => "auth.previous_master_keys",
        }
    }

    /// The same within its section.
    pub(crate) fn setting_name(self) -> &'static str {
        self.setting().trim_start_matches("auth.")
    }

    pub(crate) fn former_setting_name(self) -> &'static str {
        self.former_setting().trim_start_matches("auth.")
    }

    fn of(self, auth: &AuthSection) -> (Option<&Secret>, &[Secret]) {
        match self {
            Self::Signing => (auth.signing_key.as_ref(), &auth.previous_signing_keys),
            Self::Reference => (auth.reference_key.as_ref(), &auth.previous_reference_keys),
            Self::Master => (auth.master_key.as_ref(), &auth.previous_master_keys),
        }
    }
}

/// A key as it may be shown: never its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyView {
    pub name: KeyName,
    /// Tells keys apart: the beginning of a digest. For tokens it is their `kid`, for the master key what sealed texts begin with.
    pub id: String,
    /// Whether it is used for what is made now; a former key only verifies and opens.
    pub is_current: bool,
    /// Where it comes from, in words.
    pub source: String,
}

/// Every key that a gateway of this configuration would serve with.
///
/// # Errors
/// [`KeyError`] where a development key is needed and cannot be read, or is not there; none is made.
pub fn list_keys(config: &Config) -> Result<Vec<KeyView>, KeyError> {
    let signing = SigningKeys::of(config, MissingKey::Refuse)?;
    let source = |setting: &str| match config.secret_files.path(setting) {
        Some(path) => path.display().to_string(),
        None => format!("`{setting}`"),
    };
    let mut views = Vec::new();
    let mut add = |name: KeyName, ids: Vec<String>, sources: [String; 2]| {
        views.extend(ids.into_iter().enumerate().map(|(index, id)| KeyView {
            name,
            id,
            is_current: index == 0,
            source: sources[usize::from(index > 0)].clone(),
        }));
    };
    for name in KeyName::ALL {
        let (current, former) = name.of(&config.auth);
        let made = "the state folder, for development".to_owned();
        let first = if current.is_some() { source(name.setting()) } else { made };
        let sources = [first, source(name.former_setting())];
        match name {
            KeyName::Signing => add(name, signing.keys.iter().map(key_id).collect(), sources),
            KeyName::Reference if current.is_none() => {
                let ids = signing.keys.iter().map(|key| format!("of {}", key_id(key))).collect();
                add(name, ids, [(); 2].map(|()| "derived from the signing key".to_owned()));
            }
            KeyName::Reference => add(name, current.into_iter().chain(former).map(key_id).collect(), sources),
            KeyName::Master => {
                let ids = Keys::find_vault(config)?.map(|vault| vault.key_ids().map(|id| id.to_string()).collect());
                add(name, ids.unwrap_or_default(), sources);
            }
        }
    }
    Ok(views)
}

/// A key was not rotated. Where a file was written before, it holds the current key among the former ones, which changes nothing.
#[derive(Debug, thiserror::Error)]
pub enum RotateError {
    /// A command writes files alone.
    #[error(
        "`{}` and `{}` must both be read from files that this command can write: name them with `{}_file` and `{}_file`; the \
         second may be empty",
        .0.setting(), .0.former_setting(), .0.setting(), .0.former_setting()
    )]
    NotInFiles(KeyName),
    /// There is no room for another former one.
    #[error("{} has {FORMER_MAX} former keys already; remove lines that are needed no more", .0.display())]
    TooMany(PathBuf),
    /// A file cannot be written.
    #[error("cannot write {}: {cause}", path.display())]
    Unwritten { path: PathBuf, cause: io::Error },
}

/// Makes a new key; the current one goes to the former ones. First the former ones are written, then the current one: whatever
/// happens between the two, no key is lost.
///
/// # Errors
/// [`RotateError`].
pub fn rotate_key(config: &Config, name: KeyName) -> Result<(), RotateError> {
    let path_of = |setting| config.secret_files.path(setting).ok_or(RotateError::NotInFiles(name));
    let (path, former_path) = (path_of(name.setting())?, path_of(name.former_setting())?);
    let (Some(current), former) = name.of(&config.auth) else { return Err(RotateError::NotInFiles(name)) };
    let mut kept = vec![current.expose()];
    // After a rotation that was interrupted, it stands there already.
    kept.extend(former.iter().map(Secret::expose).filter(|key| *key != current.expose()));
    if kept.len() > FORMER_MAX {
        return Err(RotateError::TooMany(former_path.to_owned()));
    }
    let key = new_key().map_err(|cause| RotateError::Unwritten { path: path.to_owned(), cause })?;
    for (path, content) in [(former_path, kept.join("\n")), (path, key)] {
        replace(path, &content).map_err(|cause| RotateError::Unwritten { path: path.to_owned(), cause })?;
    }
    Ok(())
}

/// Puts another file in the place of one, with its rights: whoever reads it sees the one or the other in whole.
fn replace(path: &Path, content: &str) -> io::Result<()> {
    // The file itself, not a link to it.
    let path = fs::canonicalize(path)?;
    let metadata = fs::metadata(&path)?;
    let draft = path.with_extension(format!("draft-{}", std::process::id()));
    let write = || {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
        file.write_all(format!("{content}\n").as_bytes())?;
        let made = file.metadata()?;
        if (made.uid(), made.gid()) != (metadata.uid(), metadata.gid()) {
            chown(&draft, Some(metadata.uid()), Some(metadata.gid()))?;
        }
        file.set_permissions(fs::Permissions::from_mode(metadata.permissions().mode()))?;
        file.sync_all()?;
        fs::rename(&draft, &path)?;
        path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    };
    write().inspect_err(|_| {
        // What went wrong is what the caller has to know.
        let _ = fs::remove_file(&draft);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Overrides, load};

    const TEXT: &str = "[auth]\nsigning_key_file = \"signing\"\nprevious_signing_keys_file = \"signing-before\"\n\
        master_key_file = \"master\"\nprevious_master_keys_file = \"master-before\"\n";

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let key = |letter: &str| letter.repeat(32);
        for (name, content) in [
            ("g.toml", TEXT.to_owned()),
            ("signing", key("s")),
            ("signing-before", String::new()),
            ("master", key("m")),
            ("master-before", key("o")),
        ] {
            fs::write(folder.path().join(name), content).expect("written");
            fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(0o640)).expect("changed");
        }
        folder
    }

    fn config(folder: &Path) -> Config {
        load(Some(&folder.join("g.toml")), &Overrides::default()).expect("valid")
    }

    fn ids(config: &Config, name: KeyName) -> Vec<(String, bool)> {
        let views = list_keys(config).expect("listed").into_iter().filter(|view| view.name == name);
        views.map(|view| (view.id, view.is_current)).collect()
    }

    #[test]
    fn a_new_key_comes_first_and_the_former_one_goes_on() {
        let folder = folder();
        let before = config(folder.path());
        for (name, former) in [(KeyName::Signing, 0), (KeyName::Master, 1)] {
            let was = ids(&before, name);
            assert_eq!(was.len(), former + 1);
            rotate_key(&before, name).expect("rotated");
            let now = ids(&config(folder.path()), name);
            assert_eq!(now.len(), former + 2, "{now:?}");
            assert!(now[0].1 && !was.iter().any(|(id, _)| *id == now[0].0), "{now:?}");
            assert_eq!((&now[1].0, now[1].1), (&was[0].0, false));
        }
        let after = config(folder.path());
        let sealed = {
            let vault = Keys::of(&before).expect("keys").vault();
            vault.seal("context", &Secret::new("text")).expect("entropy")
        };
        assert_eq!(Keys::of(&after).expect("keys").vault().open("context", &sealed).expect("opens").expose(), "text");
        let mode = |name: &str| fs::metadata(folder.path().join(name)).expect("there").permissions().mode() & 0o777;
        assert_eq!((mode("signing"), mode("signing-before")), (0o640, 0o640), "rights stay");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 5, "no draft stays behind");
        let references = list_keys(&after).expect("listed").into_iter().filter(|view| view.name == KeyName::Reference);
        assert_eq!(references.count(), 2, "what was derived of the former signing key still opens");
    }

    #[test]
    fn a_rotation_that_was_interrupted_is_made_again() {
        let folder = folder();
        // As if it had stopped between the two files.
        fs::write(folder.path().join("master-before"), format!("{}\n{}\n", "m".repeat(32), "o".repeat(32)))
            .expect("written");
        rotate_key(&config(folder.path()), KeyName::Master).expect("rotated");
        assert_eq!(ids(&config(folder.path()), KeyName::Master).len(), 3, "no key twice");
    }

    #[test]
    fn only_keys_in_files_are_rotated_and_only_so_many_are_kept() {
        let folder = folder();
        let refused = rotate_key(&config(folder.path()), KeyName::Reference).expect_err("it is derived");
        assert!(refused.to_string().contains("`auth.previous_reference_keys_file`"), "{refused}");
        let full: Vec<String> = (0..FORMER_MAX).map(|number| format!("{number:032}")).collect();
        fs::write(folder.path().join("signing-before"), full.join("\n")).expect("written");
        let refused = rotate_key(&config(folder.path()), KeyName::Signing).expect_err("too many");
        assert!(matches!(refused, RotateError::TooMany(_)), "{refused}");
        assert_eq!(fs::read_to_string(folder.path().join("signing")).expect("read"), "s".repeat(32), "as it was");
    }
}
