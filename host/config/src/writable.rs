//! Whether a gateway can write where it has to, before it begins: a disk that is full or read-only is told in words, with the
//! path and what to do, and not as whatever fails first.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::Config;

/// What is written to try a folder, bytes: about what the first records of an empty store take.
const TRIED_BYTES: usize = 256 * 1024;

/// A file or folder cannot be written to.
#[derive(Debug, thiserror::Error)]
#[error("{what} {} cannot be written to: {reason}. {advice}", path.display())]
pub struct NotWritable {
    what: What,
    path: PathBuf,
    reason: &'static str,
    advice: String,
    #[source]
    cause: io::Error,
}

/// What is written there.
#[derive(Clone, Copy, Debug)]
enum What {
    StateFolder,
    Store,
    Anchors,
}

impl What {
    /// The key that says where it is.
    fn key(self) -> &'static str {
        match self {
            Self::StateFolder => "state_dir",
            Self::Store => "store.url",
            Self::Anchors => "anchors.file",
        }
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::StateFolder => "the state folder",
            Self::Store => "the database",
            Self::Anchors => "the file of anchors",
        })
    }
}

/// Tries every place that a gateway writes to. What is missing of a path is made, as the gateway would.
///
/// # Errors
/// [`NotWritable`] for the first that cannot be written to.
pub fn check_writable(config: &Config) -> Result<(), NotWritable> {
    try_folder(&config.state_dir).map_err(|cause| explain(What::StateFolder, &config.state_dir, cause))?;
    // An address that is not understood is told when the store is opened.
    let database = config.store.location(&config.state_dir).ok();
    let files = [
        (What::Store, database.as_ref().and_then(|location| location.path())),
        (What::Anchors, config.anchors.file.as_deref()),
    ];
    for (what, path) in files {
        let Some(path) = path else { continue };
        try_file(path).map_err(|cause| explain(what, path, cause))?;
    }
    Ok(())
}

/// The file, where there is one, opens for writing, and its folder takes another one.
fn try_file(path: &Path) -> io::Result<()> {
    match OpenOptions::new().append(true).open(path) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    try_folder(folder.unwrap_or(Path::new(".")))
}

fn try_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let path = folder.join(format!(".writable-{}", std::process::id()));
    let written = File::create(&path).and_then(|mut file| {
        file.write_all(&vec![0; TRIED_BYTES])?;
        file.sync_all()
    });
    // It may not even be there.
    let removed = fs::remove_file(&path);
    written.and(removed)
}

fn explain(what: What, path: &Path, cause: io::Error) -> NotWritable {
    let elsewhere = format!("or set `{}` to a place on another disk", what.key());
    let (reason, advice) = match cause.kind() {
        ErrorKind::StorageFull => ("the disk is full", format!("Free space there, {elsewhere}.")),
        ErrorKind::QuotaExceeded => ("the quota of its disk is used up", format!("Free space there, {elsewhere}.")),
        ErrorKind::ReadOnlyFilesystem => {
            ("its file system is read-only", format!("Mount it for writing, {elsewhere}."))
        }
        ErrorKind::PermissionDenied => {
            ("this process may not", format!("Give it to the user that the gateway runs as, {elsewhere}."))
        }
        ErrorKind::FileTooLarge => (
            "its file would be larger than this process may make one",
            "Raise the limit on the size of files (`ulimit -f`, `LimitFSIZE=`).".to_owned(),
        ),
        _ => ("writing there fails", format!("See to its disk, {elsewhere}.")),
    };
    NotWritable { what, path: path.to_owned(), reason, advice, cause }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_names_the_path_and_what_to_do() {
        let told = |kind: ErrorKind| explain(What::Anchors, Path::new("/anchors/a"), kind.into()).to_string();
        let full = "the file of anchors /anchors/a cannot be written to: the disk is full. Free space there, or set \
                    `anchors.file` to a place on another disk.";
        assert_eq!(told(ErrorKind::StorageFull), full);
        assert!(told(ErrorKind::ReadOnlyFilesystem).contains("read-only. Mount it for writing"));
        assert!(told(ErrorKind::Other).contains("/anchors/a"));
    }

    #[test]
    fn a_folder_is_tried_and_left_as_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path().join("a/state");
        try_folder(&state).expect("made and writable");
        assert_eq!(fs::read_dir(&state).expect("made").count(), 0);
        let file = folder.path().join("file");
        fs::write(&file, "x").expect("written");
        try_file(&file).expect("writable");
        assert_eq!(fs::read(&file).expect("there"), b"x");
        assert!(try_folder(&file).is_err(), "a file is no folder");
    }
}
