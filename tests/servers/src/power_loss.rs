//! A power loss, simulated: [`watch`] a command, kill it with SIGKILL, [`roll_back`] what it had not synced.
//!
//! `kill -9` alone leaves the kernel's cache, so it finds no missing fsync. The shim that takes the notes is the package
//! `power-loss`; its head says what it sees and what it does not. Linux only, and only for the process that is started:
//! PostgreSQL's own processes write elsewhere and are not watched.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use power_loss_record::{ENDS_AT, IGNORED, MARKER, Record, SYNCS, WATCHED, link_name, notes_on};

/// What a disk writes at once.
const SECTOR_BYTES: usize = 512;

/// A power loss cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum PowerLossError {
    /// The shim does not build.
    #[error("the power-loss shim cannot be built: {0}")]
    Shim(String),
    /// A file cannot be read, written or removed.
    #[error("{}: cannot be {what}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// Why not.
        #[source]
        cause: io::Error,
    },
    /// The shim noted nothing: it was not loaded, or the process never touched the folder.
    #[error("{}: no process was watched here", .0.display())]
    NotWatched(PathBuf),
}

/// What a power loss undid.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Lost {
    /// Writes and truncations.
    pub changes: usize,
    /// Files that were made, removed or renamed.
    pub entries: usize,
}

fn failed(path: &Path, what: &'static str) -> impl FnOnce(io::Error) -> PowerLossError {
    move |cause| PowerLossError::File { path: path.to_owned(), what, cause }
}

/// Has a command run under the shim, which watches what it does below `folder`. The folder exists and is the command's
/// alone; the notes are kept beside it.
///
/// # Errors
/// [`PowerLossError`] when the shim does not build or the folder is not there.
pub fn watch(command: &mut Command, folder: &Path) -> Result<(), PowerLossError> {
    let folder = fs::canonicalize(folder).map_err(failed(folder, "found"))?;
    let notes = notes_on(&folder);
    fs::create_dir_all(&notes).map_err(failed(&notes, "made"))?;
    command.env("LD_PRELOAD", shim()?).env(WATCHED, folder);
    Ok(())
}

/// As [`watch`], on a disk where a sync settles nothing: a power loss undoes all that the command has done. So it is with
/// SQLite at `synchronous = OFF`, which syncs nothing at all; a test that notes no loss here would note none there.
///
/// # Errors
/// As [`watch`].
pub fn watch_ignoring_syncs(command: &mut Command, folder: &Path) -> Result<(), PowerLossError> {
    watch(command, folder)?;
    command.env(SYNCS, IGNORED);
    Ok(())
}

/// As [`watch`], and the process is killed at a sync, counted from 1 over those that would settle something: what it has written
/// by then and would have settled is lost, in every run alike. It ends by itself where it does not come so far.
///
/// # Errors
/// As [`watch`].
pub fn watch_until_sync(command: &mut Command, folder: &Path, number: u64) -> Result<(), PowerLossError> {
    watch(command, folder)?;
    command.env(ENDS_AT, number.to_string());
    Ok(())
}

/// The shim, built once.
fn shim() -> Result<&'static Path, PowerLossError> {
    static SHIM: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let built = SHIM.get_or_init(|| {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let arguments = ["build", "--quiet", "--locked", "--package", "power-loss", "--message-format", "json"];
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let built = Command::new(cargo).current_dir(root).args(arguments).output();
        artifact(&built.map_err(|error| error.to_string())?)
    });
    built.as_deref().map_err(|error| PowerLossError::Shim(error.clone()))
}

/// The path of the library in what Cargo printed.
fn artifact(built: &Output) -> Result<PathBuf, String> {
    let messages = built.stdout.split(|byte| *byte == b'\n');
    let mut libraries = messages.filter_map(|line| {
        let message: serde_json::Value = serde_json::from_slice(line).ok()?;
        let is_shim = message["target"]["name"] == "power_loss";
        message["filenames"][0].as_str().filter(|_| is_shim).map(PathBuf::from)
    });
    libraries.next_back().ok_or_else(|| String::from_utf8_lossy(&built.stderr).into_owned())
}

/// Undoes what the process that was watched had not synced, the least that a disk may hold after a power loss, and
/// forgets the notes. For after the process was killed and waited for.
///
/// # Errors
/// [`PowerLossError`] when nothing was watched, or a file cannot be put back.
pub fn roll_back(folder: &Path) -> Result<Lost, PowerLossError> {
    undo(folder, None)
}

/// As [`roll_back`], with part of what was not synced on the disk all the same, for a disk writes in the order that it
/// likes: of each file, the sectors that the seed picks. Names stay as they are.
///
/// # Errors
/// As [`roll_back`].
pub fn roll_back_in_part(folder: &Path, seed: u64) -> Result<Lost, PowerLossError> {
    undo(folder, Some(seed))
}

fn undo(folder: &Path, survives: Option<u64>) -> Result<Lost, PowerLossError> {
    let folder = fs::canonicalize(folder).map_err(failed(folder, "found"))?;
    let notes = notes_on(&folder);
    if !notes.join(MARKER).exists() {
        return Err(PowerLossError::NotWatched(folder));
    }
    let mut lost = Lost::default();
    for (inode, records) in records_by_inode(&notes)? {
        let link = notes.join(link_name(inode));
        let (mut data, mut entries) = (Vec::new(), Vec::new());
        for record in records.into_iter().rev() {
            match record {
                Record::Data { length, offset, bytes } => data.push((length, offset, bytes)),
                Record::Entry { path, inode } => entries.push((path, inode)),
            }
        }
        if !data.is_empty() {
            put_back(&link, &data, survives).map_err(failed(&link, "put back"))?;
            lost.changes += data.len();
        }
        if survives.is_none() {
            for (path, inode) in &entries {
                name_back(path, inode.map(|inode| notes.join(link_name(inode))))
                    .map_err(failed(path, "named as before"))?;
            }
            lost.entries += entries.len();
        }
    }
    fs::remove_dir_all(&notes).map_err(failed(&notes, "removed"))?;
    Ok(lost)
}

/// The notes that are left on each file and folder, oldest first.
fn records_by_inode(notes: &Path) -> Result<BTreeMap<u64, Vec<Record>>, PowerLossError> {
    let mut logs = Vec::new();
    for entry in fs::read_dir(notes).map_err(failed(notes, "listed"))? {
        let entry = entry.map_err(failed(notes, "listed"))?;
        if let Some((inode, generation)) = entry.file_name().to_str().and_then(power_loss_record::parse_log_name) {
            logs.push((inode, generation, entry.path()));
        }
    }
    logs.sort_unstable();
    let mut records: BTreeMap<u64, Vec<Record>> = BTreeMap::new();
    for (inode, _, path) in logs {
        let encoded = fs::read(&path).map_err(failed(&path, "read"))?;
        let mut rest = encoded.as_slice();
        records.entry(inode).or_default().extend(std::iter::from_fn(|| Record::decode(&mut rest)));
    }
    Ok(records)
}

/// Puts back lengths and bytes, latest change first, and then what survives.
fn put_back(path: &Path, data: &[(u64, u64, Vec<u8>)], survives: Option<u64>) -> io::Result<()> {
    let changed = fs::read(path)?;
    let file = OpenOptions::new().write(true).open(path)?;
    for (length, offset, bytes) in data {
        file.write_all_at(bytes, *offset)?;
        file.set_len(*length)?;
    }
    let Some(seed) = survives else { return Ok(()) };
    let before = fs::read(path)?;
    let mut state = scrambled(seed);
    for (offset, sector) in (0..).step_by(SECTOR_BYTES).zip(changed.chunks(SECTOR_BYTES)) {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let survives = scrambled(state) & 1 == 1;
        if survives && before.get(offset..offset + sector.len()) != Some(sector) {
            file.write_all_at(sector, offset as u64)?;
        }
    }
    Ok(())
}

/// A figure that looks random (the generator is SplitMix64).
fn scrambled(seed: u64) -> u64 {
    let mixed = (seed ^ seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

fn name_back(path: &Path, link: Option<PathBuf>) -> io::Result<()> {
    // Folders are not watched.
    if fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        fs::remove_file(path)?;
    }
    link.map_or(Ok(()), |link| fs::hard_link(link, path))
}
