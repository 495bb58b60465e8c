//! What the commands work on: a report's bytes, and the key of the partner's webhook.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use intent_gateway_domain::secret::Secret;
use intent_gateway_ledger::completion::REPORT_MAX_BYTES;

use super::arguments::Subject;

/// Where the key is taken from. There is no flag for it: what stands on a command line, others on the machine can read.
const KEY_VARIABLE: &str = "INTENT_GATEWAY_WEBHOOK_KEY";
/// With what every key begins that a platform issues.
pub(super) const KEY_PREFIX: &str = "whsec_";
/// Largest file with a key, bytes. Keys are shorter.
const KEY_MAX_BYTES: usize = 4 * 1024;

/// The report or the key cannot be had.
#[derive(Debug, thiserror::Error)]
pub(super) enum InputError {
    /// It is not there, or not for this user to read.
    #[error("cannot read {}", .path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
    /// It is larger than what it should be can be.
    #[error("{} has more than {max_bytes} bytes", .path.display())]
    TooLarge { path: PathBuf, max_bytes: usize },
    /// No key was named.
    #[error("the webhook's signing key is needed: set {KEY_VARIABLE}, or name a file that holds it with --key-file")]
    NoKey,
    /// What should be a key is none.
    #[error("{0} holds no key: expected one text of ASCII without blanks")]
    BadKey(String),
}

/// The report, byte for byte.
pub(super) fn report(subject: &Subject) -> Result<Vec<u8>, InputError> {
    if subject.file.as_os_str() == "-" {
        return read_bounded(io::stdin().lock(), Path::new("standard input"), REPORT_MAX_BYTES);
    }
    file(&subject.file, REPORT_MAX_BYTES)
}

/// The key: the file's if one is named, else the environment's.
pub(super) fn key(subject: &Subject) -> Result<Secret, InputError> {
    let (text, place) = match &subject.key_file {
        Some(path) => {
            let place = path.display().to_string();
            let text = String::from_utf8(file(path, KEY_MAX_BYTES)?).map_err(|_| InputError::BadKey(place.clone()))?;
            // An editor ends a file with a line break, which is not the key's.
            (Secret::new(text.trim_end_matches(['\r', '\n'])), place)
        }
        None => {
            let set = std::env::var(KEY_VARIABLE).ok().filter(|text| !text.is_empty());
            (Secret::new(set.ok_or(InputError::NoKey)?), KEY_VARIABLE.to_owned())
        }
    };
    let sound = !text.expose().is_empty() && text.expose().bytes().all(|byte| byte.is_ascii_graphic());
    if sound { Ok(text) } else { Err(InputError::BadKey(place)) }
}

fn file(path: &Path, max_bytes: usize) -> Result<Vec<u8>, InputError> {
    let opened = std::fs::File::open(path);
    read_bounded(opened.map_err(|cause| InputError::Unreadable { path: path.to_owned(), cause })?, path, max_bytes)
}

fn read_bounded(source: impl Read, path: &Path, max_bytes: usize) -> Result<Vec<u8>, InputError> {
    let limit = u64::try_from(max_bytes).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    let read = source.take(limit).read_to_end(&mut bytes);
    read.map_err(|cause| InputError::Unreadable { path: path.to_owned(), cause })?;
    if bytes.len() > max_bytes {
        return Err(InputError::TooLarge { path: path.to_owned(), max_bytes });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(folder: &Path, content: &[u8]) -> Subject {
        let path = folder.join("f");
        std::fs::write(&path, content).expect("written");
        Subject { file: path.clone(), key_file: Some(path) }
    }

    #[test]
    fn a_report_is_read_as_it_is_up_to_its_bound() {
        let folder = tempfile::tempdir().expect("a folder");
        let odd = b"\xef\xbb\xbf{\xff}\r\n";
        assert_eq!(report(&subject(folder.path(), odd)).expect("read"), odd);
        let largest = vec![b' '; REPORT_MAX_BYTES];
        assert_eq!(report(&subject(folder.path(), &largest)).expect("read").len(), REPORT_MAX_BYTES);
        let larger = report(&subject(folder.path(), &[&largest[..], b" "].concat())).expect_err("refused");
        assert!(larger.to_string().ends_with("has more than 65536 bytes"), "{larger}");
        let gone = Subject { file: folder.path().join("gone"), key_file: None };
        assert!(matches!(report(&gone), Err(InputError::Unreadable { .. })));
    }

    #[test]
    fn a_key_is_one_text() {
        let folder = tempfile::tempdir().expect("a folder");
        for content in ["whsec_ab", "whsec_ab\n", "whsec_ab\r\n"] {
            let read = key(&subject(folder.path(), content.as_bytes())).expect(content);
            assert_eq!(read.expose(), "whsec_ab");
        }
        for content in ["", "\n", " whsec_ab", "whsec_ab\nwhsec_cd\n", "whsec_\u{e4}"] {
            let refused = key(&subject(folder.path(), content.as_bytes())).expect_err(content);
            assert!(matches!(refused, InputError::BadKey(_)), "{content:?}: {refused}");
            assert!(!refused.to_string().contains("whsec_"), "{refused}");
        }
        assert!(matches!(key(&subject(folder.path(), b"\xff")), Err(InputError::BadKey(_))));
    }
}
