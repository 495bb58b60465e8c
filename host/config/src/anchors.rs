//! `[anchors]`: how often the heads of the audit log and of the ledger are noted, where, and how often both are checked; and the
//! file that they are noted in.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use intent_gateway_domain::anchor::{Anchor, AnchorError, ChainName};
use intent_gateway_domain::chain::{ChainKeys, Proof};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::vault::Vault;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Config;
use crate::marker::put_aside;

/// Longest time between two anchors, minutes: a day.
const INTERVAL_MAX_MINUTES: u64 = 24 * 60;
/// Longest time between two checks, hours: a week.
const CHECK_MAX_HOURS: u64 = 7 * 24;
/// Largest file or log that anchors are read from, bytes. Anchors of ten years, one an hour, are a tenth of it.
const READ_MAX_BYTES: u64 = 1024 * 1024 * 1024;
/// Anchors of one chain that are held, at most.
const ANCHORS_MAX: usize = 1_000_000;
/// Mode of a file that is made.
const FILE_MODE: u32 = 0o600;

/// Anchors, and checks against them.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnchorsSection {
    /// How often heads are noted, where they have moved.
    pub(crate) interval_minutes: u64,
    /// How often both chains are checked from their first entry on.
    pub(crate) check_interval_hours: u64,
    /// Where they are noted besides the log.
    pub file: Option<PathBuf>,
}

/// Name of the file in the state folder where no other is configured.
const ANCHORS_FILE: &str = "anchors";

impl Default for AnchorsSection {
    fn default() -> Self {
        Self { interval_minutes: 60, check_interval_hours: 24, file: None }
    }
}

impl AnchorsSection {
    pub fn interval(&self) -> Duration {
        Duration::from_secs(self.interval_minutes * 60)
    }

    pub fn check_interval(&self) -> Duration {
        Duration::from_secs(self.check_interval_hours * 60 * 60)
    }

    /// The file that they are noted in: the configured one, else one in the state folder.
    pub fn file(&self, state_dir: &Path) -> PathBuf {
        self.file.clone().unwrap_or_else(|| state_dir.join(ANCHORS_FILE))
    }

    pub(crate) fn check(&self, problems: &mut Vec<String>) {
        for (key, value, most) in [
            ("interval_minutes", self.interval_minutes, INTERVAL_MAX_MINUTES),
            ("check_interval_hours", self.check_interval_hours, CHECK_MAX_HOURS),
        ] {
            if !(1..=most).contains(&value) {
                problems.push(format!("`anchors.{key}` is {value}; expected 1 to {most}"));
            }
        }
        if self.file.as_ref().is_some_and(|file| file.as_os_str().is_empty()) {
            problems.push("`anchors.file` is empty".to_owned());
        }
    }
}

/// Puts the anchors that lie in the state folder aside, for what a restored store has lost is not a fault of it; where they are then.
/// A file that is configured is left to whoever looks after it.
pub fn put_own_anchors_aside(config: &Config, now: Timestamp) -> anyhow::Result<Option<PathBuf>> {
    if config.anchors.file.is_some() {
        return Ok(None);
    }
    let path = config.anchors.file(&config.state_dir);
    put_aside(&path, now).with_context(|| format!("cannot put {} aside", path.display()))
}

/// The keys that anchors are under; none where there is no vault.
pub fn anchor_keys(vault: Option<&Vault>) -> ChainKeys {
    vault.map(|vault| vault.chain_keys("anchors")).unwrap_or_default()
}

/// Adds anchors to a file, which is made if need be; they are on the disk then.
pub fn append_anchors(path: &Path, anchors: &[Anchor]) -> Result<(), AnchorError> {
    let write = || {
        let mut file = OpenOptions::new().append(true).create(true).mode(FILE_MODE).open(path)?;
        let lines: String = anchors.iter().map(|anchor| format!("{anchor}\n")).collect();
        file.write_all(lines.as_bytes())?;
        file.sync_all()
    };
    write().map_err(|cause: io::Error| failed(format!("anchors cannot be written to {}", path.display()), cause))
}

/// The anchors of a chain in a file: one that anchors were added to, or a log. Of a file that is not there yet, none.
///
/// # Errors
/// [`AnchorError`] when the file cannot be read, or where a line has an anchor that none of the keys has made. Without keys all are
/// taken for what they are.
pub fn read_anchors(path: &Path, chain: ChainName, keys: &ChainKeys) -> Result<Vec<Anchor>, AnchorError> {
    match File::open(path) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(cause) => Err(failed(format!("the anchors in {} cannot be read", path.display()), cause)),
        Ok(file) if file.metadata().is_ok_and(|metadata| metadata.len() > READ_MAX_BYTES) => {
            let what = format!("{} is larger than {READ_MAX_BYTES} bytes; name a part of it", path.display());
            Err(AnchorError { what, cause: None })
        }
        Ok(file) => find_anchors(file, &path.display().to_string(), chain, keys),
    }
}

fn find_anchors(text: impl Read, name: &str, chain: ChainName, keys: &ChainKeys) -> Result<Vec<Anchor>, AnchorError> {
    let mut found = Vec::new();
    for (number, line) in (1_u64..).zip(BufReader::new(text).split(b'\n')) {
        let line = line.map_err(|cause| failed(format!("the anchors in {name} cannot be read"), cause))?;
        let refuse = |why: &str| AnchorError { what: format!("line {number} of {name}: {why}"), cause: None };
        let anchor = Anchor::find(&String::from_utf8_lossy(&line)).map_err(|error| refuse(&error.to_string()))?;
        let Some(anchor) = anchor.filter(|anchor| anchor.chain == chain) else { continue };
        match anchor.prove(keys) {
            Proof::Broken => return Err(refuse("the anchor was changed, or is another gateway's")),
            Proof::NoKey if !keys.is_empty() => return Err(refuse("the anchor is under a key that is not configured")),
            Proof::NoKey | Proof::Holds if found.len() < ANCHORS_MAX => found.push(anchor),
            Proof::NoKey | Proof::Holds => {
                return Err(refuse("there are too many anchors; keep the file and begin a new one"));
            }
        }
    }
    Ok(found)
}

fn failed(what: String, cause: io::Error) -> AnchorError {
    AnchorError { what, cause: Some(cause.into()) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use intent_gateway_domain::anchor::Head;
    use intent_gateway_domain::digest::Digest;
    use intent_gateway_domain::secret::Secret;
    use intent_gateway_domain::vault::{Entropy, NoEntropy};

    use super::*;

    struct NoRandomness;

    impl Entropy for NoRandomness {
        fn fill(&self, _: &mut [u8]) -> Result<(), NoEntropy> {
            Err(NoEntropy)
        }
    }

    fn keys(key: &str, previous: &[&str]) -> ChainKeys {
        let previous: Vec<Secret> = previous.iter().map(|key| Secret::new(*key)).collect();
        anchor_keys(Some(&Vault::new(&Secret::new(key), &previous, Arc::new(NoRandomness))))
    }

    fn anchor(chain: ChainName, number: u64) -> Anchor {
        let head = Head { number, hash: Digest::of(b"x"), owed: None };
        Anchor::new(&keys("first", &[]), chain, Timestamp::from_ms(1), head)
    }

    #[test]
    fn anchors_are_added_and_read_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("anchors");
        assert_eq!(read_anchors(&path, ChainName::Audit, &keys("first", &[])).expect("none yet"), []);
        let written = [anchor(ChainName::Audit, 1), anchor(ChainName::Ledger, 2)];
        append_anchors(&path, &written).expect("written");
        append_anchors(&path, &[anchor(ChainName::Audit, 3)]).expect("written");
        for keys in [keys("first", &[]), keys("second", &["first"]), ChainKeys::default()] {
            let read = read_anchors(&path, ChainName::Audit, &keys).expect("read");
            assert_eq!(read, [anchor(ChainName::Audit, 1), anchor(ChainName::Audit, 3)]);
        }
        let refused = |keys: &ChainKeys| read_anchors(&path, ChainName::Ledger, keys).expect_err("refused").to_string();
        assert!(refused(&keys("second", &[])).contains("line 2"), "{}", refused(&keys("second", &[])));
        let text = std::fs::read_to_string(&path).expect("read").replace("ledger:1:2:", "ledger:1:1:");
        std::fs::write(&path, text).expect("written");
        assert!(refused(&keys("first", &[])).contains("was changed"), "{}", refused(&keys("first", &[])));
    }
}
