//! A power loss, simulated: loaded into a process with `LD_PRELOAD`, notes for each change of a file below one folder how
//! to undo it, and forgets that once the process has synced the file. After a SIGKILL, `test_servers::power_loss` undoes
//! what is left, which is the least that a disk may hold after a power loss.
//!
//! A file's content lasts from its own sync on; a file's name (made, removed, renamed) from the sync of its folder on, as
//! POSIX has it and stricter than most file systems are. Told so (`power_loss_record::SYNCS`), it takes no sync for one; told a
//! number (`ENDS_AT`), it kills the process itself at that sync, when what it would settle is written and can be lost.
//!
//! What it does not see: changes through memory maps, `copy_file_range`, `sendfile`, `fallocate`, `truncate` by path,
//! `*at` calls relative to an open folder, new folders, and programs without the C library. One process at a time, threads
//! as many as it likes; a fork that goes on without exec is not for it. Where it cannot take a note it aborts the process,
//! for a test must not pass because a note is missing.

#![cfg(all(target_os = "linux", target_pointer_width = "64"))]
#![expect(unsafe_code, reason = "the C library's own functions are replaced, under their names and signatures")]

mod notes;

use std::cell::Cell;
use std::ffi::{CStr, OsStr};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::OnceLock;

use libc::{c_char, c_int, c_long, c_void, iovec, mode_t, off64_t, size_t, ssize_t};
use notes::{Target, Watcher};

thread_local! {
    /// Whether this thread is within the shim, whose own calls go straight to the kernel.
    static WITHIN: Cell<bool> = const { Cell::new(false) };
}

/// Goes straight to the kernel: the result as the C library gives it, with `errno` set.
macro_rules! kernel {
    ($number:ident $(, $argument:expr)*) => {
        // SAFETY: the arguments are those that the program itself passed to the function of the same name.
        unsafe { libc::syscall(libc::$number $(, $argument)*) }
    };
}

/// Does something within the shim, unless this thread is there already or nothing is watched. Leaves `errno` alone.
fn within<T>(act: impl FnOnce(&Watcher) -> Option<T>) -> Option<T> {
    static WATCHER: OnceLock<Option<Watcher>> = OnceLock::new();
    if WITHIN.replace(true) {
        return None;
    }
    let before = io::Error::last_os_error().raw_os_error().unwrap_or(0);
    let done = WATCHER.get_or_init(Watcher::from_environment).as_ref().and_then(act);
    WITHIN.set(false);
    set_errno(before);
    done
}

fn set_errno(errno: i32) {
    // SAFETY: the C library's address of this thread's `errno` is valid for as long as the thread runs.
    unsafe { *libc::__errno_location() = errno }
}

/// The result of a call to the kernel that was made within the shim, and its `errno`.
type Outcome = (c_long, i32);

fn outcome(result: c_long) -> Outcome {
    (result, io::Error::last_os_error().raw_os_error().unwrap_or(0))
}

/// Gives the program a call's result, with the `errno` of that call.
fn answer((result, errno): Outcome) -> c_long {
    if result < 0 {
        set_errno(errno);
    }
    result
}

/// A note that cannot be taken would let a test pass that should fail.
fn noted<T>(result: io::Result<T>) -> T {
    result.unwrap_or_else(|error| {
        // The process ends here whether or not anybody reads why.
        let _ = writeln!(io::stderr(), "the power-loss shim cannot take notes: {error}");
        std::process::abort()
    })
}

/// What a descriptor is of, when it is a regular file or a folder that is watched.
fn target_of(watcher: &Watcher, descriptor: c_int) -> Option<Target> {
    // SAFETY: all zeros is a valid `stat`, and the kernel fills it.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a `stat` of this frame.
    let known = unsafe { libc::fstat(descriptor, &raw mut stat) } == 0;
    let kind = stat.st_mode & libc::S_IFMT;
    if known && (kind == libc::S_IFREG || kind == libc::S_IFDIR) { watcher.target_of(descriptor) } else { None }
}

/// A write of so many bytes; without an offset it goes to where the descriptor stands.
fn written(descriptor: c_int, offset: Option<off64_t>, bytes: u64, write: impl Fn() -> c_long) -> ssize_t {
    let noted = within(|watcher| {
        let target = target_of(watcher, descriptor)?;
        let span = |length: u64| {
            // SAFETY: asks for the flags and the position, and changes neither.
            let (flags, position) =
                unsafe { (libc::fcntl(descriptor, libc::F_GETFL), libc::lseek64(descriptor, 0, libc::SEEK_CUR)) };
            // Linux appends whatever the offset says.
            if flags & libc::O_APPEND != 0 {
                return (length, bytes);
            }
            (u64::try_from(offset.unwrap_or(position)).unwrap_or(0), bytes)
        };
        Some(noted(watcher.change(&target, span, || outcome(write()))))
    });
    noted.map_or_else(&write, answer) as ssize_t
}

fn truncated(descriptor: c_int, to: off64_t) -> c_int {
    let truncate = || kernel!(SYS_ftruncate, descriptor, to);
    let noted = within(|watcher| {
        let target = target_of(watcher, descriptor)?;
        let to = u64::try_from(to).unwrap_or(0);
        Some(noted(watcher.change(&target, |length| (to, length.saturating_sub(to)), || outcome(truncate()))))
    });
    noted.map_or_else(truncate, answer) as c_int
}

fn synced(descriptor: c_int, sync: impl Fn() -> c_long) -> c_int {
    let begun = within(|watcher| noted(watcher.begin_sync(&target_of(watcher, descriptor)?)));
    if begun.as_ref().is_some_and(|begun| begun.is_the_end) {
        // SAFETY: a signal to this process itself, which ends it before anything else is done.
        unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
    }
    let result = sync();
    if let Some(begun) = begun
        && result == 0
    {
        within(|watcher| {
            noted(watcher.end_sync(&begun));
            Some(())
        });
    }
    result as c_int
}

/// An open that may create or empty a file.
fn opened(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    let open = || kernel!(SYS_openat, folder, path, flags, mode);
    let changes = flags & (libc::O_CREAT | libc::O_TRUNC) != 0 && flags & libc::O_TMPFILE != libc::O_TMPFILE;
    let noted = within(|watcher| {
        let path = watcher.resolve(path_at(folder, path).filter(|_| changes)?)?;
        Some(noted(watcher.open(&path, flags & libc::O_TRUNC != 0, || outcome(open()))))
    });
    noted.map_or_else(open, answer) as c_int
}

/// A change of the entries at these paths.
fn entries_changed(paths: &[(c_int, *const c_char)], change: impl Fn() -> c_long) -> c_int {
    let noted = within(|watcher| {
        let resolve = |(folder, path): &(c_int, *const c_char)| watcher.resolve(path_at(*folder, *path)?);
        let paths: Vec<_> = paths.iter().filter_map(resolve).collect();
        if paths.is_empty() {
            return None;
        }
        Some(noted(watcher.change_entries(&paths, || outcome(change()))))
    });
    noted.map_or_else(&change, answer) as c_int
}

/// A path that the program passed, unless it counts from an open folder.
fn path_at<'a>(folder: c_int, path: *const c_char) -> Option<&'a Path> {
    if path.is_null() {
        return None;
    }
    // SAFETY: the program passed it as a C string, which lives until the call returns; it is used no longer.
    let path = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes()));
    (folder == libc::AT_FDCWD || path.is_absolute()).then_some(path)
}

/// How many bytes a vectored write is of.
fn vector_bytes(vector: *const iovec, count: c_int) -> u64 {
    let count = usize::try_from(count).unwrap_or(0);
    if vector.is_null() || count == 0 {
        return 0;
    }
    // SAFETY: the program says that there are so many.
    unsafe { std::slice::from_raw_parts(vector, count) }.iter().map(|part| part.iov_len as u64).sum()
}

/// Defines functions of the C library under their names.
macro_rules! replace {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty $body:block)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name($($argument: $type),*) -> $result $body
        )*
    };
}

replace! {
    write(descriptor: c_int, bytes: *const c_void, count: size_t) -> ssize_t {
        written(descriptor, None, count as u64, || kernel!(SYS_write, descriptor, bytes, count))
    }
    pwrite(descriptor: c_int, bytes: *const c_void, count: size_t, at: off64_t) -> ssize_t {
        pwrite64(descriptor, bytes, count, at)
    }
    pwrite64(descriptor: c_int, bytes: *const c_void, count: size_t, at: off64_t) -> ssize_t {
        written(descriptor, Some(at), count as u64, || kernel!(SYS_pwrite64, descriptor, bytes, count, at))
    }
    writev(descriptor: c_int, vector: *const iovec, count: c_int) -> ssize_t {
        written(descriptor, None, vector_bytes(vector, count), || kernel!(SYS_writev, descriptor, vector, count))
    }
    ftruncate(descriptor: c_int, to: off64_t) -> c_int {
        truncated(descriptor, to)
    }
    ftruncate64(descriptor: c_int, to: off64_t) -> c_int {
        truncated(descriptor, to)
    }
    fsync(descriptor: c_int) -> c_int {
        synced(descriptor, || kernel!(SYS_fsync, descriptor))
    }
    fdatasync(descriptor: c_int) -> c_int {
        synced(descriptor, || kernel!(SYS_fdatasync, descriptor))
    }
    // The mode is passed in the same register whether or not the function is variadic, and means nothing without O_CREAT.
    open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
        opened(libc::AT_FDCWD, path, flags, mode)
    }
    open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
        opened(libc::AT_FDCWD, path, flags, mode)
    }
    openat(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
        opened(folder, path, flags, mode)
    }
    openat64(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
        opened(folder, path, flags, mode)
    }
    unlink(path: *const c_char) -> c_int {
        unlinkat(libc::AT_FDCWD, path, 0)
    }
    unlinkat(folder: c_int, path: *const c_char, flags: c_int) -> c_int {
        // Folders are not watched.
        let entries = [(folder, path)];
        let entries = if flags & libc::AT_REMOVEDIR == 0 { &entries[..] } else { &[] };
        entries_changed(entries, || kernel!(SYS_unlinkat, folder, path, flags))
    }
    rename(from: *const c_char, to: *const c_char) -> c_int {
        renameat2(libc::AT_FDCWD, from, libc::AT_FDCWD, to, 0)
    }
    renameat(from_folder: c_int, from: *const c_char, to_folder: c_int, to: *const c_char) -> c_int {
        renameat2(from_folder, from, to_folder, to, 0)
    }
    renameat2(from_folder: c_int, from: *const c_char, to_folder: c_int, to: *const c_char, flags: u32) -> c_int {
        let rename = || kernel!(SYS_renameat2, from_folder, from, to_folder, to, flags);
        entries_changed(&[(from_folder, from), (to_folder, to)], rename)
    }
}
