//! The audit log: who did what to whom, and when. Append-only, and each entry holds the digest of the one before, so
//! that neither a change nor a removal in the middle goes unseen.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::clock::Timestamp;
use crate::digest::Digest;

/// Who acted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ActorBody))]
pub struct Actor {
    /// `partner`, `admin`, or `gateway` for what it does of itself.
    pub role: String,
    /// The account, or the name of the token's bearer.
    pub subject: String,
    /// The network that it was asked from, for the audit log alone: an entry has it in its detail. It is in no record and in
    /// no answer.
    #[serde(skip)]
    pub from: Option<String>,
}

impl Actor {
    /// The gateway itself, for what no caller asked for.
    #[must_use]
    pub fn gateway() -> Self {
        Self::new("gateway", "gateway")
    }

    /// Somebody of whom it is not known from where.
    #[must_use]
    pub fn new(role: impl Into<String>, subject: impl Into<String>) -> Self {
        Self { role: role.into(), subject: subject.into(), from: None }
    }
}

/// An entry before it has its place in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditDraft {
    /// When.
    pub at_ms: Timestamp,
    /// Who.
    pub actor: Actor,
    /// What: `noun.verb`, for example `manifest.submitted`.
    pub action: String,
    /// The account concerned, or another identifier.
    pub subject: String,
    /// What is worth knowing besides; never a secret.
    pub detail: Value,
}

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditEntry {
    /// Its place, from 1, without gaps.
    pub seq: u64,
    /// When.
    pub at_ms: Timestamp,
    /// Who.
    pub actor: Actor,
    /// What.
    pub action: String,
    /// To whom.
    pub subject: String,
    /// JSON text, as it was hashed.
    pub detail: String,
    /// Digest of this entry and of the one before.
    pub hash: Digest,
}

/// The digest before the first entry.
#[must_use]
pub fn genesis() -> Digest {
    Digest::of(b"intent-gateway audit log")
}

/// Gives a draft its place after the entry with the digest `previous`.
#[must_use]
pub fn link(draft: AuditDraft, seq: u64, previous: Digest) -> AuditEntry {
    let AuditDraft { at_ms, mut actor, action, subject, mut detail } = draft;
    if let (Some(from), Value::Object(members)) = (actor.from.take(), &mut detail) {
        members.insert("from".to_owned(), from.into());
    }
    let detail = detail.to_string();
    let mut entry = AuditEntry { seq, at_ms, actor, action, subject, detail, hash: previous };
    entry.hash = digest(&entry, previous);
    entry
}

/// The digest that an entry must have after the entry with the digest `previous`. Every field is preceded by its
/// length, so that no two entries read alike.
fn digest(entry: &AuditEntry, previous: Digest) -> Digest {
    let AuditEntry { seq, at_ms, actor, action, subject, detail, hash: _ } = entry;
    let mut hasher = Sha256::new();
    hasher.update(previous.as_bytes());
    hasher.update(seq.to_be_bytes());
    hasher.update(at_ms.as_ms().to_be_bytes());
    for text in [&actor.role, &actor.subject, action, subject, detail] {
        hasher.update(u64::try_from(text.len()).unwrap_or(u64::MAX).to_be_bytes());
        hasher.update(text);
    }
    Digest::from_bytes(hasher.finalize().into())
}

/// What is wrong with the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BrokenChain {
    /// An entry is missing, or stands at another place.
    #[error("entry {expected} is missing; {found} stands in its place")]
    Gap {
        /// The sequence number due.
        expected: u64,
        /// The one found.
        found: u64,
    },
    /// An entry was changed, or the one before it.
    #[error("entry {0} or the one before it was changed")]
    Changed(u64),
}

/// Follows the chain from the first entry on.
#[derive(Clone, Copy, Debug)]
pub struct ChainCheck {
    seq: u64,
    hash: Digest,
}

impl Default for ChainCheck {
    fn default() -> Self {
        Self { seq: 0, hash: genesis() }
    }
}

impl ChainCheck {
    /// Takes the next entry.
    ///
    /// # Errors
    /// [`BrokenChain`] when it does not follow from the one before.
    pub fn take(&mut self, entry: &AuditEntry) -> Result<(), BrokenChain> {
        let expected = self.seq + 1;
        if entry.seq != expected {
            return Err(BrokenChain::Gap { expected, found: entry.seq });
        }
        if digest(entry, self.hash) != entry.hash {
            return Err(BrokenChain::Changed(entry.seq));
        }
        *self = Self { seq: entry.seq, hash: entry.hash };
        Ok(())
    }

    /// The number of entries taken, and the digest of the last: kept elsewhere, it shows whether the end was cut off.
    #[must_use]
    pub fn head(&self) -> (u64, Digest) {
        (self.seq, self.hash)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn log() -> Vec<AuditEntry> {
        let mut previous = genesis();
        (1..=4)
            .map(|seq| {
                let draft = AuditDraft {
                    at_ms: Timestamp::from_ms(1_000 + seq),
                    actor: Actor::gateway(),
                    action: "connection.probed".to_owned(),
                    subject: format!("ptr_{seq}"),
                    detail: json!({"n": seq}),
                };
                let entry = link(draft, seq, previous);
                previous = entry.hash;
                entry
            })
            .collect()
    }

    fn follow(log: &[AuditEntry]) -> Result<(u64, Digest), BrokenChain> {
        let mut check = ChainCheck::default();
        log.iter().try_for_each(|entry| check.take(entry))?;
        Ok(check.head())
    }

    #[test]
    fn a_log_as_written_holds() {
        let log = log();
        assert_eq!(follow(&log), Ok((4, log[3].hash)));
        assert_eq!(follow(&[]), Ok((0, genesis())));
    }

    #[test]
    fn every_change_is_seen() {
        type Forgery = (&'static str, fn(&mut AuditEntry));
        let forgeries: [Forgery; 7] = [
            ("at_ms", |entry| entry.at_ms = entry.at_ms.plus_ms(1)),
            ("role", |entry| entry.actor.role.push('x')),
            ("subject of the actor", |entry| entry.actor.subject.clear()),
            ("action", |entry| entry.action.push('x')),
            ("subject", |entry| entry.subject.push('x')),
            ("detail", |entry| entry.detail.push(' ')),
            ("moved between fields", |entry| {
                let last = entry.action.pop().expect("not empty");
                entry.subject.insert(0, last);
            }),
        ];
        for (what, forge) in forgeries {
            let mut log = log();
            forge(&mut log[1]);
            assert_eq!(follow(&log), Err(BrokenChain::Changed(2)), "{what}");
        }
        let mut rehashed = log();
        rehashed[1].detail = "{}".to_owned();
        rehashed[1].hash = digest(&rehashed[1], rehashed[0].hash);
        assert_eq!(follow(&rehashed), Err(BrokenChain::Changed(3)));
        let mut cut = log();
        cut.remove(1);
        assert_eq!(follow(&cut), Err(BrokenChain::Gap { expected: 2, found: 3 }));
    }
}
