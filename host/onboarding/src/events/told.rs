//! Which events there are, and what each tells. Texts that others have named are cut.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::confirmations::Ending;
use crate::descriptors::Drift;
use crate::mail_texts::{StrikeNotice, of_state, short};
use crate::notices::{Notice, NoticeKind, NoticeStage};
use crate::records::Connection;
use crate::text::rfc3339;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::golive::{GoLiveReport, ItemState};
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::order::Order;

/// Items of one list, at most.
const LISTED_MAX: usize = 100;

/// What an event tells: its type, and the members of its `data`. Times are RFC 3339 in UTC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "type", content = "data")]
pub enum EventData {
    /// The platform team has decided a review.
    #[serde(rename = "review.decided")]
    ReviewDecided {
        review_id: String,
        /// `manifest`, `drift`, `inflation`, `sign_in` or `renewal`.
        about: String,
        /// `approved` or `rejected`.
        decision: String,
        /// What the team says to it; may be empty.
        notes: String,
    },
    /// The connection is in another state.
    #[serde(rename = "connection.changed")]
    ConnectionChanged {
        /// `sandbox`, `probe_failed`, `live` or `suspended`.
        state: String,
        /// The intents that are routed now.
        #[cfg_attr(feature = "schema", schema(value_type = Vec<String>))]
        intents: Vec<IntentId>,
        /// Why, where a person gave a reason.
        #[cfg_attr(feature = "schema", schema(required))]
        reason: Option<String>,
    },
    /// A probe of the server failed.
    #[serde(rename = "probe.failed")]
    ProbeFailed { failures: Vec<EventFailure> },
    /// A test of an intent did not pass.
    #[serde(rename = "test.failed")]
    TestFailed {
        #[cfg_attr(feature = "schema", schema(value_type = String))]
        intent: IntentId,
        failures: Vec<EventFailure>,
        /// Until when requests of it are routed all the same, where they are now.
        #[cfg_attr(feature = "schema", schema(required))]
        routed_until: Option<String>,
    },
    /// The tools of some intents have changed since they were accepted; these intents are out of service until the review is decided.
    #[serde(rename = "tools.drifted")]
    ToolsDrifted { review_id: String, changes: Vec<EventTool> },
    /// Something that was sent breaks a rule that counts towards suspension.
    #[serde(rename = "strike.recorded")]
    StrikeRecorded {
        strikes: Vec<EventStrike>,
        /// How many more there are that are not told one by one.
        more: usize,
    },
    /// The connection was suspended; nothing is routed to it.
    #[serde(rename = "connection.suspended")]
    ConnectionSuspended { reason: String },
    /// Requests of these intents are not routed any more: the time after a failed test is over.
    #[serde(rename = "routing.ended")]
    RoutingEnded {
        #[cfg_attr(feature = "schema", schema(value_type = Vec<String>))]
        intents: Vec<IntentId>,
    },
    /// What a person has confirmed of the connection ends soon, or has ended.
    #[serde(rename = "confirmation.ending")]
    ConfirmationEnding { confirmations: Vec<EventConfirmation> },
    /// Where users sign in is looked at by the platform team.
    #[serde(rename = "sign_in.questioned")]
    SignInQuestioned { review_id: String, issuer: String },
    /// The time of these orders is over, and no completion report has closed them.
    #[serde(rename = "order.overdue")]
    OrderOverdue { orders: Vec<EventOrder> },
    /// The statement of a month is ready.
    #[serde(rename = "statement.ready")]
    StatementReady {
        /// By Indian Standard Time, as `2026-05`.
        month: String,
    },
    /// A secret that was replaced ends.
    #[serde(rename = "key.expiring")]
    KeyExpiring {
        /// `client_secret`, `webhook_signing_key` or `webhook_event_secret`.
        key: String,
        expires_at: String,
    },
    /// A secret or an address of the account was changed; the mail about it says how to undo it.
    #[serde(rename = "account.changed")]
    AccountChanged {
        /// `client_secret`, `webhook`, `endpoint` or `webhook_event_secret`.
        what: String,
    },
    /// Something will change.
    #[serde(rename = "notice.published")]
    NoticePublished(EventNotice),
    /// Something will change within a week.
    #[serde(rename = "notice.reminder")]
    NoticeReminder(EventNotice),
    /// Something that was announced will not change.
    #[serde(rename = "notice.withdrawn")]
    NoticeWithdrawn { notice_id: String, title: String, reason: String },
    /// The partner has asked for an event to try its webhook.
    #[serde(rename = "webhook.test")]
    WebhookTest {},
}

/// What failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EventFailure {
    pub code: String,
    pub message: String,
}

/// A tool that is not as it was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EventTool {
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub intent: IntentId,
    pub tool: String,
    /// `added`, `removed`, `schema_changed`, `description_changed` or `terms_changed`.
    pub change: String,
}

/// A strike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EventStrike {
    /// The rule.
    pub code: String,
    pub message: String,
    pub intent: String,
    pub request_id: String,
    #[cfg_attr(feature = "schema", schema(required))]
    pub option_id: Option<String>,
    /// The partner's name of the order, where it is about one.
    #[cfg_attr(feature = "schema", schema(required))]
    pub external_id: Option<String>,
    /// The member that breaks the rule, as a JSON pointer.
    pub pointer: String,
    /// Which incident of its rule it is; three suspend.
    pub incidents: usize,
}

/// A confirmation that ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EventConfirmation {
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub intent: IntentId,
    /// Of the requirement.
    pub code: String,
    pub valid_until: String,
    /// Until when requests are routed, once it has ended.
    #[cfg_attr(feature = "schema", schema(required))]
    pub routed_until: Option<String>,
}

/// An order that waits for its report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EventOrder {
    pub order_id: String,
    /// The partner's name of it, where it gave one.
    #[cfg_attr(feature = "schema", schema(required))]
    pub external_id: Option<String>,
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub intent: IntentId,
    /// Since when a report is waited for.
    #[cfg_attr(feature = "schema", schema(required))]
    pub due_at: Option<String>,
}

/// A change that is told ahead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EventNotice {
    pub notice_id: String,
    pub kind: NoticeKind,
    pub title: String,
    /// What changes, and what is to be done.
    pub text: String,
    /// The version that what it is about has then.
    #[cfg_attr(feature = "schema", schema(required))]
    pub version: Option<String>,
    /// The intents that it is about; empty where it is about all.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<String>))]
    pub intents: Vec<IntentId>,
    pub takes_effect_at: String,
}

impl EventData {
    /// That a connection is in the state that it has now.
    pub(crate) fn connection_changed(
        connection: &Connection,
        intents: impl Iterator<Item = IntentId>,
        reason: Option<String>,
    ) -> Self {
        let state = connection.state.as_str().to_owned();
        Self::ConnectionChanged { state, intents: intents.collect(), reason }
    }

    /// That a secret which was replaced ends.
    pub(crate) fn key_expiring(key: &str, until: Timestamp) -> Self {
        Self::KeyExpiring { key: key.to_owned(), expires_at: rfc3339(until) }
    }

    pub(crate) fn probe_failed(failures: &[Violation]) -> Self {
        let told = |failure: &Violation| EventFailure { code: short(&failure.code), message: short(&failure.message) };
        Self::ProbeFailed { failures: failures.iter().take(LISTED_MAX).map(told).collect() }
    }

    pub(crate) fn test_failed(intent: &IntentId, report: &GoLiveReport, routed_until: Option<String>) -> Self {
        let failed = of_state(report, ItemState::Failed).take(LISTED_MAX);
        let failures =
            failed.map(|item| EventFailure { code: item.code.clone(), message: short(&item.detail) }).collect();
        Self::TestFailed { intent: intent.clone(), failures, routed_until }
    }

    pub(crate) fn tools_drifted(review: &str, drift: &BTreeMap<IntentId, Vec<Drift>>) -> Self {
        let told = |Drift { intent, tool, kind, .. }: &Drift| EventTool {
            intent: intent.clone(),
            tool: short(tool),
            change: kind.as_str().to_owned(),
        };
        let changes = drift.values().flatten().take(LISTED_MAX).map(told).collect();
        Self::ToolsDrifted { review_id: review.to_owned(), changes }
    }

    pub(crate) fn strikes(told: &[StrikeNotice<'_>], more: usize) -> Self {
        let strike = |StrikeNotice { finding, incidents }: &StrikeNotice<'_>| EventStrike {
            code: short(&finding.violation.code),
            message: short(&finding.violation.message),
            intent: finding.intent.clone(),
            request_id: short(&finding.request_id),
            option_id: finding.option_id.as_deref().map(short),
            external_id: finding.external_id.as_deref().map(short),
            pointer: short(&finding.violation.pointer),
            incidents: *incidents,
        };
        Self::StrikeRecorded { strikes: told.iter().map(strike).collect(), more }
    }

    pub(crate) fn confirmations(endings: &[Ending]) -> Self {
        let told = |ending: &Ending| EventConfirmation {
            intent: ending.intent.clone(),
            code: ending.code.clone(),
            valid_until: rfc3339(ending.valid_until),
            routed_until: ending.routed_until.map(rfc3339),
        };
        Self::ConfirmationEnding { confirmations: endings.iter().take(LISTED_MAX).map(told).collect() }
    }

    pub(crate) fn notice(notice: &Notice, stage: NoticeStage) -> Self {
        let told = || EventNotice {
            notice_id: notice.id.clone(),
            kind: notice.kind,
            title: notice.title.clone(),
            text: notice.text.clone(),
            version: notice.version.clone(),
            intents: notice.intents.iter().cloned().collect(),
            takes_effect_at: rfc3339(notice.takes_effect_at_ms),
        };
        match stage {
            NoticeStage::Published => Self::NoticePublished(told()),
            NoticeStage::Reminder => Self::NoticeReminder(told()),
            NoticeStage::Withdrawn => Self::NoticeWithdrawn {
                notice_id: notice.id.clone(),
                title: notice.title.clone(),
                reason: notice.withdrawn.as_ref().map(|withdrawn| withdrawn.reason.clone()).unwrap_or_default(),
            },
        }
    }

    pub(crate) fn overdue(orders: &[Order]) -> Self {
        let told = |order: &Order| EventOrder {
            order_id: order.id.to_string(),
            external_id: order.identifiers.first().map(|named| short(named)),
            intent: order.intent.clone(),
            due_at: order.overdue.as_ref().map(|noted| rfc3339(noted.due_at_ms)),
        };
        Self::OrderOverdue { orders: orders.iter().take(LISTED_MAX).map(told).collect() }
    }
}
