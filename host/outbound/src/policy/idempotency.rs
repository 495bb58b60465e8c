//! What a repeated write gets: under the same key, the same booking, once (spec 1, rule 4 for the partner-hosted
//! endpoint).
//!
//! A tool may name the argument that identifies a repeated call. Before such a call goes out, an [`Attempt`] is kept under
//! the argument's value; it holds the digest of all arguments, and later the answer. [`KeyedWrite::judge`] decides by it:
//!
//! | kept | same arguments | others |
//! |---|---|---|
//! | nothing, or older than a day | goes out | goes out |
//! | under way | wait | conflict |
//! | under way longer than a call can last: its process is gone | goes out again | conflict |
//! | its fate is unknown | goes out again | conflict |
//! | done | the same booking, with its current status | conflict |
//!
//! It goes out again under the same key, by which the partner knows it; so it does where it is done, for the partner alone
//! knows the current status, and what was answered first is kept for when the partner cannot be asked, or names another
//! booking. A call that certainly did nothing leaves nothing behind
//! ([`Effect::None`]): its key is free for better arguments. But a refusal of what goes out again tells nothing of the
//! call before, which may be why it was refused: that attempt stays.
//!
//! A key belongs to one partner, intent, tool, orchestrator and user. Not here: keeping the record. Its revision decides between two
//! processes that begin at once, as for any record.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::arguments::{Arguments, ArgumentsError};
use super::failure::FailureMeaning;
use super::key_of;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{Descriptor, Tool, ToolRole};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::limits::{CALL_SETTLED_MS, REQUEST_ID_MAX_CHARS};
use intent_gateway_domain::order::OrderId;
use intent_gateway_domain::reseal::SealedRecord;
use intent_gateway_domain::store::{Kind, Record};
use intent_gateway_domain::user::Asker;
use intent_gateway_domain::vault::Sealed;

/// How long an attempt is kept, milliseconds: 24 hours from its beginning.
pub const KEPT_MS: u64 = 24 * 60 * 60 * 1_000;
/// Characters of a key.
pub const KEY_MAX_CHARS: usize = REQUEST_ID_MAX_CHARS;

/// A write that names its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyedWrite {
    /// What the attempt is kept under.
    id: Digest,
    /// What one from before may be kept under that belongs to the same asker.
    former_id: Option<Digest>,
    partner: PartnerId,
    intent: String,
    tool: String,
    body: Digest,
}

/// A write whose key cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The arguments do not stand for one value, so nobody can say whether they are the same.
    #[error("the arguments cannot be compared with those of another call")]
    Arguments(#[from] ArgumentsError),
    /// The key is neither a text of 1 to [`KEY_MAX_CHARS`] characters nor a whole number.
    #[error("`{0}` is expected to be a text of 1 to {KEY_MAX_CHARS} characters, or a whole number")]
    Key(String),
}

/// What is kept of a write under its key.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// Its key as a record: a digest of partner, intent, tool, asker and the named key, none of which it gives away.
    pub id: Digest,
    /// Who was called.
    pub partner: PartnerId,
    pub intent: String,
    pub tool: String,
    /// Digest of the arguments as a value.
    pub body: Digest,
    /// When the first call began.
    pub(crate) began_at_ms: Timestamp,
    /// Whether a call before the latest one may have done it.
    pub(crate) may_have_landed: bool,
    /// The order that it opens or goes on with.
    #[serde(default)]
    pub order: Option<OrderId>,
    /// How far it has come.
    pub state: State,
}

/// How far a write has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// A call has been under way since this time.
    Pending(Timestamp),
    /// The last call ended without telling whether the partner did it.
    Unknown,
    /// The partner did it.
    Done(SealedAnswer),
}

/// What the partner answered, sealed: it is a user's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SealedAnswer(pub Sealed);

/// What a write gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling<'a> {
    /// It goes out, once the attempt is kept that [`KeyedWrite::begin`] gives.
    GoesOut {
        /// Whether one like it may have gone out before: the partner may know the key.
        again: bool,
    },
    /// The same is under way; it is over after so many milliseconds at the latest.
    UnderWay(u64),
    /// The same was done, with this answer then.
    Done(&'a SealedAnswer),
    /// The key was used with other arguments: IDEMPOTENCY_CONFLICT.
    Conflict,
}

/// What a failed call may have done at the partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Certainly nothing.
    None,
    /// Perhaps what it was made for.
    Possible,
}

impl Effect {
    /// Of a call that failed, under its intent's error table.
    #[must_use]
    pub fn of(failure: &CallFailure, descriptor: &Descriptor) -> Self {
        if FailureMeaning::of(failure, descriptor).may_have_landed { Self::Possible } else { Self::None }
    }
}

impl KeyedWrite {
    /// Reads the key of a call; none for tools that only read, that name no key, or a call that brings none.
    ///
    /// # Errors
    /// [`KeyError`] when there is a key that cannot be taken.
    pub fn read(
        partner: &PartnerId,
        intent: &str,
        tool: &Tool,
        arguments: &str,
        asker: &Asker,
    ) -> Result<Option<Self>, KeyError> {
        let reads = matches!(tool.role, ToolRole::Search | ToolRole::GetDetail | ToolRole::Track);
        let Some(name) = tool.idempotency_key.as_ref().filter(|_| !reads) else { return Ok(None) };
        let arguments = Arguments::read(arguments)?;
        let Some(value) = arguments.get(name) else { return Ok(None) };
        let key = key_text(value).ok_or_else(|| KeyError::Key(name.clone()))?;
        let id = |kind, of| key_of(&[partner.as_str(), intent, &tool.name, kind, of, &key]);
        let former_kind = if asker.user.is_some() { "user" } else { "anybody" };
        Ok(Some(Self {
            id: id("asker", asker.key()),
            former_id: asker.unassigned().map(|of| id(former_kind, of)),
            partner: partner.clone(),
            intent: intent.to_owned(),
            tool: tool.name.clone(),
            body: arguments.digest(),
        }))
    }

    /// What the attempt is kept under.
    #[must_use]
    pub fn id(&self) -> Digest {
        self.id
    }

    /// What an attempt from before may be kept under, where its user was named by a pseudonym alone.
    #[must_use]
    pub fn former_id(&self) -> Option<Digest> {
        self.former_id
    }

    /// Decides by what is kept under [`id`](Self::id).
    #[must_use]
    pub fn judge<'a>(&self, kept: Option<&'a Attempt>, now: Timestamp) -> Ruling<'a> {
        let Some(kept) = kept.filter(|kept| !kept.is_over(now)) else { return Ruling::GoesOut { again: false } };
        if kept.body != self.body {
            return Ruling::Conflict;
        }
        match &kept.state {
            State::Done(answer) => Ruling::Done(answer),
            State::Unknown => Ruling::GoesOut { again: true },
            State::Pending(since) => match pending_left_ms(*since, now) {
                0 => Ruling::GoesOut { again: true },
                left_ms => Ruling::UnderWay(left_ms),
            },
        }
    }

    /// The attempt to keep before the call goes out, in place of what was kept.
    #[must_use]
    pub fn begin(&self, kept: Option<&Attempt>, now: Timestamp) -> Attempt {
        let first = kept.filter(|kept| !kept.is_over(now) && kept.body == self.body);
        Attempt {
            id: self.id,
            partner: self.partner.clone(),
            intent: self.intent.clone(),
            tool: self.tool.clone(),
            body: self.body,
            began_at_ms: first.map_or(now, |first| first.began_at_ms),
            may_have_landed: first.is_some(),
            order: first.and_then(|first| first.order.clone()),
            state: State::Pending(now),
        }
    }
}

impl Record for Attempt {
    const KIND: Kind = Kind::Attempts;

    fn key(&self) -> String {
        self.id.to_string()
    }
}

impl SealedRecord for Attempt {
    fn sealed(&mut self) -> Vec<(String, &mut Sealed)> {
        let context = self.key();
        match &mut self.state {
            State::Done(SealedAnswer(sealed)) => vec![(context, sealed)],
            State::Pending(_) | State::Unknown => Vec::new(),
        }
    }
}

impl Attempt {
    /// Whether its time is over: it decides nothing any more and can be removed. One whose call is under way goes on.
    #[must_use]
    pub fn is_over(&self, now: Timestamp) -> bool {
        let under_way = matches!(self.state, State::Pending(since) if pending_left_ms(since, now) > 0);
        !under_way && now.ms_since(self.began_at_ms) >= KEPT_MS
    }

    /// The partner did it.
    #[must_use]
    pub fn succeed(self, answer: SealedAnswer) -> Self {
        Self { state: State::Done(answer), ..self }
    }

    /// The call failed. None where nothing can have come of it: the record is removed.
    #[must_use]
    pub fn fail(self, effect: Effect) -> Option<Self> {
        (self.may_have_landed || effect == Effect::Possible).then_some(Self { state: State::Unknown, ..self })
    }
}

impl fmt::Debug for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attempt")
            .field("partner", &self.partner)
            .field("tool", &self.tool)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

/// How long a call that began then may still be under way, milliseconds.
fn pending_left_ms(since: Timestamp, now: Timestamp) -> u64 {
    // The clock of the process that began it may be ahead, but nobody waits longer than a call can last.
    CALL_SETTLED_MS.saturating_sub(now.ms_since(since))
}

/// A text, or a whole number as text; the two cannot be mistaken for each other.
fn key_text(value: &serde_json::Value) -> Option<String> {
    match value {
        serde_json::Value::String(text) => {
            let fits = !text.is_empty() && text.chars().count() <= KEY_MAX_CHARS;
            fits.then(|| format!("\"{text}"))
        }
        serde_json::Value::Number(number) if number.is_i64() || number.is_u64() => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
