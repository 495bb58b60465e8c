//! What a small program has synced survives the power loss, and what it has not is gone.

#![cfg(target_os = "linux")]

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead as _, BufReader, Seek as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use test_servers::power_loss::{self, Lost, PowerLossError};

/// Set for the program that is killed: what it does in its folder.
const CHILD: &str = "POWER_LOSS_TEST";

/// Sectors that are written for a power loss that keeps some.
const SECTORS: usize = 64;
const SECTOR_BYTES: usize = 512;
/// How a process ends that aborts.
const SIGABRT: i32 = 6;
/// And one that is killed.
const SIGKILL: i32 = 9;

/// Not a test of itself: the program that is killed.
#[test]
fn child() {
    let Ok(deed) = std::env::var(CHILD) else { return };
    // Half of the paths are relative, so that both kinds are seen.
    let folder = if deed.len() % 2 == 0 { PathBuf::new() } else { std::env::current_dir().unwrap() };
    let file = |name: &str| OpenOptions::new().read(true).write(true).open(folder.join(name)).unwrap();
    let sync_folder = || File::open(folder.join(".")).unwrap().sync_all().unwrap();
    match deed.as_str() {
        "overwrite" => {
            let file = file("old");
            file.write_all_at(b"ONE", 0).unwrap();
            file.sync_data().unwrap();
            file.write_all_at(b"TWO", 4).unwrap();
            file.write_all_at(b"three and more", 8).unwrap();
            file.write_all_at(b"3", 8).unwrap();
        }
        "append" => {
            let mut file = OpenOptions::new().append(true).open(folder.join("old")).unwrap();
            file.write_all(b" kept").unwrap();
            file.sync_all().unwrap();
            file.write_all(b" lost").unwrap();
            file.rewind().unwrap();
            file.write_all(b" too").unwrap();
        }
        "truncate" => {
            let file = file("old");
            file.set_len(7).unwrap();
            file.sync_all().unwrap();
            file.set_len(3).unwrap();
            file.set_len(90).unwrap();
            File::create(folder.join("other")).unwrap();
        }
        "make" => {
            let made = |name| {
                let mut file = File::create(folder.join(name)).unwrap();
                file.write_all(b"content").unwrap();
                file.sync_all().unwrap();
            };
            made("kept");
            sync_folder();
            made("lost");
        }
        "remove" => {
            fs::remove_file(folder.join("other")).unwrap();
            sync_folder();
            file("old").write_all_at(b"XXX", 0).unwrap();
            fs::remove_file(folder.join("old")).unwrap();
        }
        "replace" => {
            fs::write(folder.join("new"), b"new").unwrap();
            file("new").sync_all().unwrap();
            fs::rename(folder.join("new"), folder.join("old")).unwrap();
            sync_folder();
            fs::write(folder.join("newer"), b"newer").unwrap();
            fs::rename(folder.join("newer"), folder.join("old")).unwrap();
        }
        "threads" => {
            // Two write and sync the same file side by side: what both have said to be synced is there.
            let write = |at: u64| {
                for byte in 0..200_u8 {
                    let file = file("old");
                    file.write_all_at(&[byte], at).unwrap();
                    file.sync_data().unwrap();
                }
            };
            std::thread::scope(|scope| {
                scope.spawn(|| write(0));
                scope.spawn(|| write(1));
            });
            file("old").write_all_at(b"lost", 2).unwrap();
        }
        "sectors" => {
            let file = file("old");
            file.write_all_at(&[b'-'; SECTORS * SECTOR_BYTES], 0).unwrap();
            file.sync_data().unwrap();
            file.write_all_at(&[b'+'; SECTORS * SECTOR_BYTES], 0).unwrap();
            File::create(folder.join("made")).unwrap();
        }
        _ => {}
    }
    writeln!(std::io::stdout(), "done").unwrap();
    loop {
        std::thread::park();
    }
}

/// How a program is put under the shim.
type Watch = fn(&mut Command, &Path) -> Result<(), PowerLossError>;

/// A program under the shim that has done its deed, and lives.
fn start(deed: &str, watched: &Path) -> (Child, bool) {
    start_under(power_loss::watch, deed, watched)
}

fn start_under(watch: Watch, deed: &str, watched: &Path) -> (Child, bool) {
    let mut command = program(deed, watched);
    watch(&mut command, watched).unwrap();
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let is_done = lines.map_while(Result::ok).any(|line| line.ends_with("done"));
    (child, is_done)
}

/// A program that does its deed in a folder, and says so.
fn program(deed: &str, watched: &Path) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.args(["--exact", "child", "--nocapture", "--test-threads", "1"]).env(CHILD, deed).current_dir(watched);
    command.stdin(Stdio::null()).stderr(Stdio::null());
    command
}

/// A folder to watch, with two files.
fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let watched = folder.path().join("watched");
    fs::create_dir(&watched).unwrap();
    fs::write(watched.join("old"), b"one two three").unwrap();
    fs::write(watched.join("other"), b"other").unwrap();
    (folder, watched)
}

/// Has the program do something to two files, kills it and cuts the power.
fn lose_power_after(deed: &str) -> (TempDir, Result<Lost, PowerLossError>) {
    lose_power(power_loss::watch, deed, power_loss::roll_back)
}

fn lose_power(
    watch: Watch,
    deed: &str,
    roll_back: impl FnOnce(&Path) -> Result<Lost, PowerLossError>,
) -> (TempDir, Result<Lost, PowerLossError>) {
    let (folder, watched) = folder();
    let (mut child, is_done) = start_under(watch, deed, &watched);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(is_done, "the program failed");
    let lost = roll_back(&watched);
    (folder, lost)
}

/// The files that are left, with their content.
fn left(folder: &TempDir) -> Vec<(String, String)> {
    let mut left: Vec<_> = fs::read_dir(folder.path().join("watched"))
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap())
        })
        .collect();
    left.sort();
    left
}

#[test]
fn what_was_synced_is_there_and_the_rest_is_gone() {
    let original = ("old", "one two three");
    let other = ("other", "other");
    for (deed, expected, changes, entries) in [
        ("overwrite", &[("old", "ONE two three"), other][..], 3, 0),
        ("append", &[("old", "one two three kept"), other], 2, 0),
        ("truncate", &[("old", "one two"), other], 3, 0),
        ("make", &[("kept", "content"), original, other], 0, 1),
        ("remove", &[original], 1, 1),
        ("replace", &[("old", "new"), other], 1, 3),
    ] {
        let (folder, lost) = lose_power_after(deed);
        let left = left(&folder);
        let left: Vec<(&str, &str)> = left.iter().map(|(name, content)| (name.as_str(), content.as_str())).collect();
        assert_eq!(left, expected, "{deed}");
        assert_eq!(lost.unwrap(), Lost { changes, entries }, "{deed}");
    }
}

#[test]
fn the_power_goes_at_the_sync_that_was_named() {
    let original = [("old", "one two three"), ("other", "other")];
    let kept = [("kept", "content"), original[0], original[1]];
    // The file's own sync, that of its folder, and that of the second file.
    for (number, expected, changes, entries) in [(1, &original[..], 1, 1), (2, &original, 0, 1), (3, &kept, 1, 1)] {
        let (folder, watched) = folder();
        let mut command = program("make", &watched);
        power_loss::watch_until_sync(&mut command, &watched, number).unwrap();
        let status = command.stdout(Stdio::null()).status().unwrap();
        assert_eq!(status.signal(), Some(SIGKILL), "{number}");
        assert_eq!(power_loss::roll_back(&watched).unwrap(), Lost { changes, entries }, "{number}");
        let left = left(&folder);
        let left: Vec<(&str, &str)> = left.iter().map(|(name, content)| (name.as_str(), content.as_str())).collect();
        assert_eq!(left, expected, "{number}");
    }
}

#[test]
fn on_a_disk_that_ignores_syncs_everything_is_gone() {
    for (deed, changes, entries) in [("overwrite", 4, 0), ("make", 2, 2), ("remove", 1, 2)] {
        let (folder, lost) = lose_power(power_loss::watch_ignoring_syncs, deed, power_loss::roll_back);
        let original = [("old", "one two three"), ("other", "other")].map(|(name, text)| (name.into(), text.into()));
        assert_eq!(left(&folder), original, "{deed}");
        assert_eq!(lost.unwrap(), Lost { changes, entries }, "{deed}");
    }
}

#[test]
fn threads_that_sync_the_same_file_lose_nothing_of_it() {
    let (folder, lost) = lose_power_after("threads");
    assert_eq!(fs::read(folder.path().join("watched/old")).unwrap(), b"\xc7\xc7e two three");
    assert_eq!(lost.unwrap(), Lost { changes: 1, entries: 0 });
}

#[test]
fn a_disk_that_writes_in_an_order_of_its_own_keeps_some_sectors_and_not_others() {
    let kept = |seed| {
        let in_part = |folder: &Path| power_loss::roll_back_in_part(folder, seed);
        let (folder, lost) = lose_power(power_loss::watch, "sectors", in_part);
        assert_eq!(lost.unwrap(), Lost { changes: 1, entries: 0 });
        assert!(folder.path().join("watched/made").exists());
        let content = fs::read(folder.path().join("watched/old")).unwrap();
        let sectors = content.chunks(SECTOR_BYTES);
        let whole = |sector: &[u8]| sector.iter().all(|byte| byte == &sector[0]);
        assert!(sectors.clone().all(|sector| sector.len() == SECTOR_BYTES && whole(sector)));
        sectors.map(|sector| sector[0] == b'+').collect::<Vec<_>>()
    };
    let (first, second) = (kept(0), kept(1));
    for kept in [&first, &second] {
        let count = kept.iter().filter(|kept| **kept).count();
        assert!((SECTORS / 4..=SECTORS * 3 / 4).contains(&count), "{count} of {SECTORS}");
    }
    assert_ne!(first, second);
}

#[test]
fn a_program_that_was_not_watched_is_told_from_one_that_lost_nothing() {
    let (_folder, lost) = lose_power_after("nothing");
    assert!(matches!(lost, Err(PowerLossError::NotWatched(_))), "{lost:?}");
}

#[test]
fn a_second_process_is_refused_and_one_after_another_is_not() {
    let (_folder, watched) = folder();
    let (mut first, is_done) = start("overwrite", &watched);
    assert!(is_done);
    let (mut second, is_done) = start("overwrite", &watched);
    assert!(!is_done);
    assert_eq!(second.wait().unwrap().signal(), Some(SIGABRT));
    first.kill().unwrap();
    first.wait().unwrap();
    // The notes of the first are still good, and the second sync settles them.
    let (mut third, is_done) = start("append", &watched);
    assert!(is_done);
    third.kill().unwrap();
    third.wait().unwrap();
    assert_eq!(power_loss::roll_back(&watched).unwrap(), Lost { changes: 2, entries: 0 });
    assert_eq!(fs::read_to_string(watched.join("old")).unwrap(), "ONE TWO 3hree and more kept");
}
