//! What is on the disk, and what it takes to get it there.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// A page of SQLite.
const PAGE_BYTES: usize = 4096;
/// Writes of a measurement.
const WRITES: usize = 200;

/// Bytes of all files below a folder. Files that go away meanwhile do not count.
pub(crate) fn bytes_below(folder: &Path) -> u64 {
    let entries = folder.read_dir().into_iter().flatten().filter_map(Result::ok);
    let bytes = entries.filter_map(|entry| {
        let metadata = entry.metadata().ok()?;
        Some(if metadata.is_dir() { bytes_below(&entry.path()) } else { metadata.len() })
    });
    bytes.sum()
}

/// How long it takes to append a page to a file and have it on the disk, at the median: no commit is faster.
pub(crate) fn sync_time(folder: &Path) -> Duration {
    let mut file = File::create(folder.join("probe")).expect("writable");
    let mut times: Vec<Duration> = (0..WRITES)
        .map(|_| {
            let start = Instant::now();
            file.write_all(&[1; PAGE_BYTES]).and_then(|()| file.sync_data()).expect("the disk takes it");
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[WRITES / 2]
}
