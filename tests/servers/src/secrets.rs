//! Looks for secrets where none may be: logs, databases with their journals, state folders, raw and as they stand on
//! disk.
//!
//! A secret may be there in disguise, so it is looked for as it is, in hexadecimal and in Base64, the last also as a part
//! of something longer. A short number, such as a code by mail, is looked for where it stands by itself: any longer number
//! may hold it by chance. What is encrypted, compressed or escaped otherwise is not found.

use std::fmt;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use memchr::memmem::Finder;

/// Shortest value that is looked for, bytes: a shorter one is found anywhere by chance.
const VALUE_MIN_BYTES: usize = 6;
/// A number shorter than this is met by chance: in times, in longer numbers, in the Base64 of either.
const NUMBER_MIN_BYTES: usize = 12;
/// Files that are read at most; more is a mistake in what was asked for.
const FILES_MAX: usize = 100_000;

/// Where a secret was found. It never shows the secret itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leak {
    /// The secret's name.
    pub name: String,
    /// How it is written there.
    pub form: &'static str,
    /// The file.
    pub file: PathBuf,
    /// Where in the file, bytes from its start.
    pub offset: usize,
}

impl fmt::Display for Leak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}) at byte {} of {}", self.name, self.form, self.offset, self.file.display())
    }
}

/// Panics if one of the known values, each with a name, is found in the places: files, or folders with all that is in
/// them. What lies at or below `except` is left out, for example an outbox whose mails must hold their codes.
///
/// # Panics
/// When a secret is found; and when the search would prove nothing: no file was read, no value was given, one is too
/// short, or a place cannot be read.
pub fn assert_absent(places: &[&Path], except: &[&Path], known: &[(&str, &str)]) {
    let leaks = find(places, except, known);
    let shown: String = leaks.iter().map(|leak| format!("\n  - {leak}")).collect();
    assert!(leaks.is_empty(), "secrets were found:{shown}");
}

/// The first place of each form of each known value in each file.
///
/// # Panics
/// As [`assert_absent`] does when the search would prove nothing.
#[must_use]
pub fn find(places: &[&Path], except: &[&Path], known: &[(&str, &str)]) -> Vec<Leak> {
    assert!(!known.is_empty(), "no secret is given to look for");
    let known: Vec<(&str, Vec<Disguise>)> = known.iter().map(|(name, value)| (*name, disguises(name, value))).collect();
    let mut files = Vec::new();
    for place in places {
        collect(place, except, &mut files);
    }
    assert!(!files.is_empty(), "there is no file in {places:?} to look into");
    let mut leaks = Vec::new();
    for file in files {
        let bytes = match std::fs::read(&file) {
            Ok(bytes) => bytes,
            // A database that runs removes files of its own; what is gone holds nothing.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => panic!("{} cannot be read: {error}", file.display()),
        };
        for (name, forms) in &known {
            for form in forms {
                if let Some(offset) = form.find(&bytes) {
                    leaks.push(Leak { name: (*name).to_owned(), form: form.name, file: file.clone(), offset });
                }
            }
        }
    }
    leaks
}

fn collect(place: &Path, except: &[&Path], files: &mut Vec<PathBuf>) {
    if except.iter().any(|except| place.starts_with(except)) {
        return;
    }
    let unreadable = |error| panic!("{} cannot be read: {error}", place.display());
    let kind = std::fs::symlink_metadata(place).unwrap_or_else(unreadable).file_type();
    if kind.is_dir() {
        for entry in std::fs::read_dir(place).unwrap_or_else(|error| panic!("{}: {error}", place.display())) {
            collect(&entry.unwrap_or_else(|error| panic!("{}: {error}", place.display())).path(), except, files);
        }
    } else if kind.is_file() {
        assert!(files.len() < FILES_MAX, "there are more than {FILES_MAX} files to look into");
        files.push(place.to_owned());
    }
}

/// A way in which a secret may be written.
struct Disguise {
    name: &'static str,
    finder: Finder<'static>,
    /// Whether a byte beside it may belong to it, so that it is something longer.
    belongs: fn(u8) -> bool,
}

impl Disguise {
    fn find(&self, bytes: &[u8]) -> Option<usize> {
        let length = self.finder.needle().len();
        let is_apart = |beside: Option<&u8>| beside.is_none_or(|byte| !(self.belongs)(*byte));
        self.finder.find_iter(bytes).find(|&start| {
            is_apart(start.checked_sub(1).and_then(|before| bytes.get(before))) && is_apart(bytes.get(start + length))
        })
    }
}

fn disguises(name: &str, value: &str) -> Vec<Disguise> {
    assert!(value.len() >= VALUE_MIN_BYTES, "`{name}` is shorter than {VALUE_MIN_BYTES} bytes");
    let is_short_number = value.len() < NUMBER_MIN_BYTES && value.bytes().all(|byte| byte.is_ascii_digit());
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    let mut forms = vec![("plain", value.to_owned()), ("hex", hex.to_uppercase()), ("hex", hex)];
    // Inside something longer, the secret starts at one of three places of a group of three bytes.
    for before in 0..if is_short_number { 1 } else { 3 } {
        let mut bytes = vec![0; before];
        bytes.extend_from_slice(value.as_bytes());
        // Characters that hold bits of what stands before or after the secret differ from case to case.
        let first = (before * 8).div_ceil(6);
        let last = bytes.len() * 8 / 6;
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            forms.push(("Base64", engine.encode(&bytes)[first..last].to_owned()));
        }
    }
    forms.sort();
    forms.dedup();
    let disguise = |(name, text): (&'static str, String)| {
        let belongs: fn(u8) -> bool = match name {
            _ if !is_short_number => |_| false,
            // A fraction of a second is a number, too.
            "plain" => |byte| byte.is_ascii_digit() || byte == b'.',
            "hex" => |byte| byte.is_ascii_hexdigit(),
            _ => |byte| byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte),
        };
        Disguise { name, finder: Finder::new(&text).into_owned(), belongs }
    };
    forms.into_iter().map(disguise).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "s3cr3t?>~";

    fn forms_in(content: &[u8]) -> Vec<&'static str> {
        forms_of(SECRET, content)
    }

    fn forms_of(secret: &str, content: &[u8]) -> Vec<&'static str> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("deep")).unwrap();
        std::fs::write(folder.path().join("deep/file.wal"), content).unwrap();
        find(&[folder.path()], &[], &[("the key", secret)]).into_iter().map(|leak| leak.form).collect()
    }

    #[test]
    fn a_secret_is_found_in_every_disguise() {
        assert_eq!(forms_in(b"\x00\xff nothing of the kind s3cr3t"), Vec::<&str>::new());
        assert_eq!(forms_in(b"\x00\xff\x00s3cr3t?>~\x00"), ["plain"]);
        assert_eq!(forms_in(b"7333637233743f3e7e"), ["hex"]);
        assert_eq!(forms_in(b"7333637233743F3E7E"), ["hex"]);
        for before in ["", "a", "ab", "abc", "user:", "a longer text"] {
            for after in ["", "!", "!!", "!!!"] {
                let text = format!("{before}{SECRET}{after}");
                assert_eq!(forms_in(STANDARD_NO_PAD.encode(&text).as_bytes()), ["Base64"], "{text}");
                assert_eq!(forms_in(URL_SAFE_NO_PAD.encode(&text).as_bytes()), ["Base64"], "{text}");
            }
        }
    }

    #[test]
    fn a_short_number_is_found_where_it_stands_by_itself() {
        for content in ["code 626567", "\"626567\"", "code=626567Z", "x626567", "626567\n1626567"] {
            assert_eq!(forms_of("626567", content.as_bytes()), ["plain"], "{content}");
        }
        assert_eq!(forms_of("626567", b"1626567 626567"), ["plain"], "the first is another number");
        for content in ["1626567", "6265670", "2026-11-29T04:47:37.626567Z", "nothing"] {
            assert_eq!(forms_of("626567", content.as_bytes()), Vec::<&str>::new(), "{content}");
        }
        let alone = STANDARD_NO_PAD.encode("626567");
        assert_eq!(forms_of("626567", format!("\"{alone}\"").as_bytes()), ["Base64"]);
        assert_eq!(forms_of("626567", STANDARD_NO_PAD.encode("at 1626567000").as_bytes()), Vec::<&str>::new());
        assert_eq!(
            forms_of("626567", format!("{}aa", STANDARD_NO_PAD.encode("626567")).as_bytes()),
            Vec::<&str>::new()
        );
        assert_eq!(forms_of("626567", b"\"363236353637\""), ["hex"]);
        assert_eq!(forms_of("626567", b"00363236353637"), Vec::<&str>::new());
    }

    #[test]
    fn the_report_names_and_never_shows() {
        let folder = tempfile::tempdir().unwrap();
        let (log, outbox) = (folder.path().join("log"), folder.path().join("outbox"));
        std::fs::write(&log, format!("key={SECRET}")).unwrap();
        std::fs::write(&outbox, SECRET).unwrap();
        let known = [("the key", SECRET)];
        let leaks = find(&[folder.path()], &[&outbox], &known);
        assert_eq!(leaks.len(), 1);
        assert_eq!(leaks[0].to_string(), format!("the key (plain) at byte 4 of {}", log.display()));
        let panic = std::panic::catch_unwind(|| assert_absent(&[&log], &[], &known)).unwrap_err();
        let told = panic.downcast_ref::<String>().unwrap();
        assert!(told.contains("the key") && !told.contains(SECRET), "{told}");
    }

    #[test]
    fn a_search_that_proves_nothing_fails() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "x").unwrap();
        let gone = folder.path().join("gone");
        type Search<'a> = (&'a Path, &'a [&'a Path], &'a [(&'a str, &'a str)]);
        let searches: [Search<'_>; 4] = [
            (&file, &[], &[]),
            (&file, &[], &[("short", "12345")]),
            (&gone, &[], &[("key", SECRET)]),
            (&file, &[&file], &[("key", SECRET)]),
        ];
        for (place, except, known) in searches {
            assert!(
                std::panic::catch_unwind(|| assert_absent(&[place], except, known)).is_err(),
                "{place:?} {known:?}"
            );
        }
    }
}
