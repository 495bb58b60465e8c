//! A clock of its own for a process: libfaketime sets the time of day off, and leaves spans of time as they are.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Set to `required` where tests must not go without.
const DEMAND: &str = "INTENT_GATEWAY_TEST_CLOCK";
/// Where Debian's package has it, a folder for each architecture.
const LIBRARIES: &str = "/usr/lib";
const LIBRARY: &str = "faketime/libfaketimeMT.so.1";

/// The library by which clocks can be set, where it is installed (Debian: `libfaketime`).
#[must_use]
pub fn find_library() -> Option<PathBuf> {
    let folders = std::fs::read_dir(LIBRARIES).ok()?.flatten();
    folders.map(|folder| folder.path().join(LIBRARY)).find(|path| path.exists())
}

/// Whether a run without the library must fail.
#[must_use]
pub fn is_demanded() -> bool {
    std::env::var_os(DEMAND).is_some_and(|demand| demand == "required")
}

/// The clock of processes that are started under it.
#[derive(Debug)]
pub struct OwnClock {
    library: PathBuf,
    /// Says by how much it is off.
    file: PathBuf,
}

impl OwnClock {
    /// One that is right, its file in a folder.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn make(library: PathBuf, folder: &Path) -> std::io::Result<Self> {
        let clock = Self { library, file: folder.join("clock") };
        clock.set(0)?;
        Ok(clock)
    }

    /// Sets it off by so many seconds. Processes read it again within a second.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn set(&self, off_seconds: i64) -> std::io::Result<()> {
        // In one step, for it is read at any time.
        let partial = self.file.with_extension("partial");
        std::fs::write(&partial, format!("{off_seconds:+}s\n"))?;
        std::fs::rename(partial, &self.file)
    }

    /// Has a process go by it.
    pub fn give_to(&self, command: &mut Command) {
        command.env("LD_PRELOAD", &self.library).env("FAKETIME_TIMESTAMP_FILE", &self.file);
        command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1").env("FAKETIME_CACHE_DURATION", "1");
    }
}
