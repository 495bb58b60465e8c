//! What is kept of a notice.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::store::{Kind, Record};

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
/// How long ahead changes are told that partners have to follow, milliseconds (spec 1, Versioning 2: 30 days).
pub const NOTICE_AHEAD_MS: u64 = 30 * DAY_MS;
/// How long ahead what partners' programs speak to (docs/policy-deprecation.md), milliseconds.
pub const INTERFACE_AHEAD_MS: u64 = 90 * DAY_MS;
/// How long before a notice takes effect partners are reminded of it.
const REMINDER_MS: u64 = 7 * DAY_MS;
/// Status of a notice of which somebody has still to be told something.
pub(crate) const OPEN: &str = "open";
/// And of one with nothing left to tell.
const TOLD: &str = "told";

/// What a notice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum NoticeKind {
    /// The schema of manifests.
    ManifestSchema,
    /// The contract of intents: what their requests, answers and tools are.
    Contract,
    /// The platform's HTTP interface, and how it calls partners' servers.
    Api,
    /// Events at webhooks, and completion reports.
    Webhooks,
    /// Something that asks nothing of a partner's programs: work on the platform, a change of terms.
    Other,
}

impl NoticeKind {
    /// How long ahead it is published, at least.
    #[must_use]
    pub fn ahead_ms(self) -> u64 {
        match self {
            Self::ManifestSchema | Self::Contract => NOTICE_AHEAD_MS,
            Self::Api | Self::Webhooks => INTERFACE_AHEAD_MS,
            Self::Other => 0,
        }
    }

    /// As it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ManifestSchema => "manifest_schema",
            Self::Contract => "contract",
            Self::Api => "api",
            Self::Webhooks => "webhooks",
            Self::Other => "other",
        }
    }
}

/// Where a notice stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum NoticeState {
    /// What it tells is still to page.
    Upcoming,
    /// What it tells has page.
    InEffect,
    /// It does not hold any more.
    Withdrawn,
}

/// What partners are told of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum NoticeStage {
    /// That it was published.
    Published,
    /// That it takes effect soon.
    Reminder,
    /// That it was withdrawn.
    Withdrawn,
}

impl NoticeStage {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Reminder => "reminder",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// How far partners have been told one stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Telling {
    pub stage: NoticeStage,
    /// From when on.
    pub due_at_ms: Timestamp,
    /// The last account that was gone through.
    pub after: Option<PartnerId>,
    /// Partners that were told.
    pub told: u64,
    /// When the last one was, or the rest was called off.
    pub ended_at_ms: Option<Timestamp>,
    /// Whether it was called off before everybody was told.
    pub cut_short: bool,
}

impl Telling {
    fn of(stage: NoticeStage, due_at: Timestamp) -> Self {
        Self { stage, due_at_ms: due_at, after: None, told: 0, ended_at_ms: None, cut_short: false }
    }
}

/// Who withdrew a notice, when and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Withdrawal {
    pub by: Actor,
    pub at_ms: Timestamp,
    pub reason: String,
}

/// A change that partners are told of ahead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// In the order in which notices take effect; the same for the same content.
    pub id: String,
    pub kind: NoticeKind,
    pub title: String,
    /// What changes, and what partners have to do.
    pub text: String,
    /// The version that what it is about has then.
    pub version: Option<String>,
    /// It concerns whoever offers one of these; everybody where there are none.
    pub intents: BTreeSet<IntentId>,
    pub takes_effect_at_ms: Timestamp,
    pub published_at_ms: Timestamp,
    pub published_by: Actor,
    pub withdrawn: Option<Withdrawal>,
    /// What partners are told, in the order of time.
    pub tellings: Vec<Telling>,
}

impl Notice {
    /// What is told of a notice that is published now.
    pub(crate) fn plan(now: Timestamp, takes_effect_at: Timestamp) -> Vec<Telling> {
        let reminder_at = takes_effect_at.minus_ms(REMINDER_MS);
        let mut tellings = vec![Telling::of(NoticeStage::Published, now)];
        // Whoever has just been told needs no reminder.
        if reminder_at > now.plus_ms(REMINDER_MS) {
            tellings.push(Telling::of(NoticeStage::Reminder, reminder_at));
        }
        tellings
    }

    /// Takes it back. What is not told yet is called off, and whoever was told of it is told so.
    pub(crate) fn withdraw(&mut self, withdrawal: Withdrawal) {
        let at = withdrawal.at_ms;
        self.tellings.retain(|telling| telling.due_at_ms <= at);
        for telling in &mut self.tellings {
            telling.cut_short = telling.ended_at_ms.is_none();
            telling.ended_at_ms.get_or_insert(at);
        }
        self.tellings.push(Telling::of(NoticeStage::Withdrawn, at));
        self.withdrawn = Some(withdrawal);
    }

    /// Whether only some were told that it was published, and which moment that belongs to.
    pub(crate) fn find_cut_publication(&self) -> Option<Timestamp> {
        let published = self.tellings.iter().find(|telling| telling.stage == NoticeStage::Published)?;
        published.cut_short.then_some(published.due_at_ms)
    }

    /// What is to be told now.
    pub(crate) fn due_telling(&self, now: Timestamp) -> Option<usize> {
        self.tellings.iter().position(|telling| telling.ended_at_ms.is_none() && telling.due_at_ms <= now)
    }

    /// Where it stands.
    #[must_use]
    pub fn state(&self, now: Timestamp) -> NoticeState {
        match &self.withdrawn {
            Some(_) => NoticeState::Withdrawn,
            None if self.takes_effect_at_ms <= now => NoticeState::InEffect,
            None => NoticeState::Upcoming,
        }
    }
}

impl Record for Notice {
    const KIND: Kind = Kind::Notices;

    fn key(&self) -> String {
        self.id.clone()
    }

    fn status(&self) -> Option<&'static str> {
        let is_open = self.tellings.iter().any(|telling| telling.ended_at_ms.is_none());
        Some(if is_open { OPEN } else { TOLD })
    }
}
