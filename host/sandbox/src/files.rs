//! Writing files so that a crash leaves the old content or the new, never a part.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Mode of the files that are written: the gateway's own.
const FILE_MODE: u32 = 0o600;
/// Mode of the folders that are created.
const FOLDER_MODE: u32 = 0o700;

/// Creates a folder and those above it, for the gateway alone.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)
}

/// Replaces a file's content with the parts, one after the other; when it returns, the content survives a power cut.
pub(crate) fn replace(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let (folder, partial) = beside(path)?;
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(FILE_MODE).open(&partial)?;
    for part in parts {
        file.write_all(part)?;
    }
    file.sync_all()?;
    fs::rename(&partial, path)?;
    sync_folder(folder)
}

/// Puts what was renamed in a folder on the disk.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// The folder of a file, and the name under which it is written before it takes its place.
fn beside(path: &Path) -> io::Result<(&Path, std::path::PathBuf)> {
    let invalid = || io::Error::new(io::ErrorKind::InvalidInput, "the path has no folder and name");
    let folder = path.parent().ok_or_else(invalid)?;
    let mut name = path.file_name().ok_or_else(invalid)?.to_owned();
    name.push(".partial");
    Ok((folder, folder.join(name)))
}

/// Removes a file, if it is there.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
