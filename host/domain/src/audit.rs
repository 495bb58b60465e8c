//! The audit log: who did what to whom, and when. Append-only, and a [chain](crate::chain).

mod verify;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::verify::{AuditFault, AuditSoundness, AuditWatch, verify};
use crate::chain::{ChainCheck, ChainKeys, ChainStart, Link, LinkHasher, Linked};
use crate::clock::Timestamp;
use crate::digest::Digest;
use crate::vault::KeyId;

/// Who acted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    /// What an admin's token opened, as its `scope` says it; kept like `from`.
    #[serde(skip)]
    pub scope: Option<String>,
    /// The second person who has approved it, where one had to; kept like `from`.
    #[serde(skip)]
    pub approved_by: Option<String>,
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
        Self { role: role.into(), subject: subject.into(), from: None, scope: None, approved_by: None }
    }

    /// The same wherever it asks from and whatever its token opens, to share something out by account.
    #[must_use]
    pub fn identity(&self) -> Self {
        Self::new(self.role.as_str(), self.subject.as_str())
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
    /// The link of this entry to the one before.
    pub hash: Digest,
    /// Under which key the link is; `None` where it is a plain digest, from before there were keys.
    pub key: Option<KeyId>,
}

/// The digest before the first entry.
#[must_use]
pub fn genesis() -> Digest {
    Digest::of(b"intent-gateway audit log")
}

/// Gives a draft its place after the entry with the link `previous`.
#[must_use]
pub fn link(draft: AuditDraft, seq: u64, previous: Digest, keys: &ChainKeys) -> AuditEntry {
    let AuditDraft { at_ms, mut actor, action, subject, mut detail } = draft;
    let (from, scope, approved_by) = (actor.from.take(), actor.scope.take(), actor.approved_by.take());
    if let Value::Object(members) = &mut detail {
        let known = [("from", from), ("scope", scope), ("approved_by", approved_by)];
        let known = known.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into())));
        members.extend(known);
    }
    let detail = detail.to_string();
    let mut entry = AuditEntry { seq, at_ms, actor, action, subject, detail, hash: previous, key: None };
    Link { hash: entry.hash, key: entry.key } = keys.link(previous, |hasher| entry.feed(hasher));
    entry
}

impl Linked for AuditEntry {
    fn number(&self) -> u64 {
        self.seq
    }

    fn link(&self) -> Link {
        Link { hash: self.hash, key: self.key }
    }

    /// Every text is preceded by its length, so that no two entries read alike.
    fn feed(&self, hasher: &mut LinkHasher) {
        let Self { seq, at_ms, actor, action, subject, detail, hash: _, key: _ } = self;
        hasher.update(seq.to_be_bytes());
        hasher.update(at_ms.as_ms().to_be_bytes());
        for text in [&actor.role, &actor.subject, action, subject, detail] {
            hasher.update(u64::try_from(text.len()).unwrap_or(u64::MAX).to_be_bytes());
            hasher.update(text);
        }
    }
}

/// The log from before its first entry on, under these keys and from this start.
#[must_use]
pub fn chain(keys: ChainKeys, start: Option<ChainStart>) -> ChainCheck {
    ChainCheck::new(genesis(), keys, start)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::chain::BrokenChain;

    fn keys() -> ChainKeys {
        crate::vault::tests::vault("first", &[]).chain_keys("audit")
    }

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
                let entry = link(draft, seq, previous, &keys());
                previous = entry.hash;
                entry
            })
            .collect()
    }

    fn follow(log: &[AuditEntry]) -> Result<(u64, Digest), BrokenChain> {
        let mut check = chain(keys(), None);
        log.iter().try_for_each(|entry| check.take(entry))?;
        Ok(check.head())
    }

    #[test]
    fn a_log_as_written_holds() {
        let log = log();
        assert_eq!(follow(&log), Ok((4, log[3].hash)));
        assert_eq!(follow(&[]), Ok((0, genesis())));
    }

    /// As every gateway before has written it: an entry and its digest, made by hand.
    #[test]
    fn the_digest_of_an_entry_without_a_key_stays_what_it_was() {
        let draft = AuditDraft {
            at_ms: Timestamp::from_ms(1_001),
            actor: Actor::gateway(),
            action: "connection.probed".to_owned(),
            subject: "ptr_1".to_owned(),
            detail: json!({"n": 1}),
        };
        let entry = link(draft, 1, genesis(), &ChainKeys::default());
        let mut bytes = genesis().as_bytes().to_vec();
        bytes.extend(1_u64.to_be_bytes());
        bytes.extend(1_001_u64.to_be_bytes());
        for text in ["gateway", "gateway", "connection.probed", "ptr_1", "{\"n\":1}"] {
            bytes.extend((text.len() as u64).to_be_bytes());
            bytes.extend(text.as_bytes());
        }
        assert_eq!((entry.hash, entry.key), (Digest::of(&bytes), None));
    }

    #[test]
    fn an_entry_says_from_where_and_under_which_scope() {
        let actor =
            Actor { from: Some("192.0.2.1".to_owned()), scope: Some("ship".to_owned()), ..Actor::new("admin", "asha") };
        let draft = |actor| AuditDraft {
            at_ms: Timestamp::from_ms(1_001),
            actor,
            action: "review.decided".to_owned(),
            subject: "ptr_1".to_owned(),
            detail: json!({"n": 1}),
        };
        let entry = link(draft(actor), 1, genesis(), &keys());
        assert_eq!(entry.detail, r#"{"from":"192.0.2.1","n":1,"scope":"ship"}"#);
        assert_eq!(entry.actor, Actor::new("admin", "asha"), "the entry's detail has both");
        assert_eq!(link(draft(Actor::gateway()), 1, genesis(), &keys()).detail, r#"{"n":1}"#);
        let approved = Actor { approved_by: Some("ravi".to_owned()), ..Actor::new("admin", "asha") };
        let entry = link(draft(approved), 1, genesis(), &keys());
        assert_eq!(
            (entry.detail.as_str(), entry.actor),
            (r#"{"approved_by":"ravi","n":1}"#, Actor::new("admin", "asha"))
        );
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
        let forged = keys().link(rehashed[0].hash, |hasher| rehashed[1].feed(hasher));
        rehashed[1].hash = forged.hash;
        assert_eq!(follow(&rehashed), Err(BrokenChain::Changed(3)));
        let mut cut = log();
        cut.remove(1);
        assert_eq!(follow(&cut), Err(BrokenChain::Gap { expected: 2, found: 3 }));
    }
}
