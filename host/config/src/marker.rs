//! The marker in the state folder: which installation's gateway serves from it. One line, outside the store, so that it is still
//! there when the store is not. Beside it, what else shows that a gateway has served from here.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use intent_gateway_domain::anchor::Anchor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::installation::InstallationId;
use intent_gateway_sandbox::has_kept_contracts;

use crate::Config;

/// Name of the marker in the state folder.
const MARKER_FILE: &str = "installation";
const FILE_MODE: u32 = 0o600;
/// Bytes of a file of anchors that are looked at for a trace.
const TRACE_READ_MAX_BYTES: u64 = 64 * 1024;

/// The identity that the marker of a state folder names; none where there is no marker.
pub(crate) fn read_marker(state_dir: &Path) -> anyhow::Result<Option<InstallationId>> {
    let path = state_dir.join(MARKER_FILE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let id = text.trim().parse();
    id.map(Some).with_context(|| format!("{} is damaged: it holds the identity of the installation", path.display()))
}

/// Writes the marker; it is on the disk then.
pub(crate) fn write_marker(state_dir: &Path, id: &InstallationId) -> anyhow::Result<()> {
    let (path, draft) = (state_dir.join(MARKER_FILE), state_dir.join(format!("{MARKER_FILE}.partial")));
    let write = || -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(FILE_MODE).open(&draft)?;
        writeln!(file, "{id}")?;
        file.sync_all()?;
        fs::rename(&draft, &path)?;
        File::open(state_dir)?.sync_all()
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// Keeps a marker that does not hold any more under another name. Where there is none, nothing is done.
pub(crate) fn put_marker_aside(state_dir: &Path, now: Timestamp) -> anyhow::Result<()> {
    let path = state_dir.join(MARKER_FILE);
    put_aside(&path, now).map(drop).with_context(|| format!("cannot put {} aside", path.display()))
}

/// Gives a file another name, with the time; the name, or none where the file is not there.
pub(crate) fn put_aside(path: &Path, now: Timestamp) -> io::Result<Option<PathBuf>> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(format!(".before-{}", now.as_ms()));
    let aside = PathBuf::from(aside);
    match fs::rename(path, &aside) {
        Ok(()) => Ok(Some(aside)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// What shows, besides a marker, that a gateway has served on a store from here. Each as words.
pub(crate) fn find_traces(config: &Config) -> anyhow::Result<Vec<String>> {
    let mut traces = Vec::new();
    let anchors = config.anchors.file(&config.state_dir);
    if has_anchors(&anchors).with_context(|| format!("cannot read {}", anchors.display()))? {
        traces.push(format!("{} has anchors of its audit log or ledger", anchors.display()));
    }
    if has_kept_contracts(&config.state_dir) {
        traces.push(format!("{} has contracts that a gateway kept", config.state_dir.display()));
    }
    Ok(traces)
}

fn has_anchors(path: &Path) -> io::Result<bool> {
    let mut text = Vec::new();
    match File::open(path) {
        Ok(file) => io::Read::read_to_end(&mut io::Read::take(file, TRACE_READ_MAX_BYTES), &mut text)?,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let is_anchor = |line: &str| matches!(Anchor::find(line), Ok(Some(anchor)) if anchor.head.number > 0);
    Ok(String::from_utf8_lossy(&text).lines().any(is_anchor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_read_as_it_was_written_and_put_aside() {
        let folder = tempfile::tempdir().expect("a folder");
        let id: InstallationId = format!("ins_{}", "0a".repeat(16)).parse().expect("an identity");
        assert_eq!(read_marker(folder.path()).expect("none yet"), None);
        put_marker_aside(folder.path(), Timestamp::from_ms(1)).expect("there is none");
        write_marker(folder.path(), &id).expect("written");
        assert_eq!(read_marker(folder.path()).expect("read"), Some(id));
        put_marker_aside(folder.path(), Timestamp::from_ms(2)).expect("put aside");
        assert_eq!(read_marker(folder.path()).expect("none"), None);
        assert!(folder.path().join("installation.before-2").is_file());
        fs::write(folder.path().join(MARKER_FILE), "something else").expect("written");
        let damaged = read_marker(folder.path()).expect_err("refused");
        assert!(format!("{damaged:#}").contains("is damaged"), "{damaged:#}");
    }
}
