//! Notices: what will change for partners.

use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::id::IntentId;
use intent_gateway_onboarding::notices::{Notice, NoticeDraft, Telling};
pub use intent_gateway_onboarding::notices::{NoticeKind, NoticeStage, NoticeState};
use serde::{Deserialize, Serialize, Serializer};
use utoipa::ToSchema;

use crate::read::{Body, Members};
use crate::time;

/// A change that partners are told of.
#[derive(Debug, Serialize, ToSchema)]
pub struct NoticeRequest {
    /// What changes.
    pub kind: NoticeKind,
    /// One line.
    #[schema(min_length = 1, max_length = 120, example = "Manifests have a member for holidays")]
    pub title: String,
    /// What changes, and what partners have to do.
    #[schema(min_length = 1, max_length = 4096)]
    pub text: String,
    /// The version that what changes has then. Of a manifest schema it is required, and greater than the one in force.
    #[schema(max_length = 64, example = "0.2.0")]
    pub version: Option<String>,
    /// Whom it concerns: partners that offer one of these intents, or have asked to; everybody where there are none. A notice about
    /// contracts names their intents.
    #[schema(value_type = Option<Vec<String>>, max_items = 100)]
    pub intents: Vec<String>,
    /// When it takes effect, RFC 3339: 30 days ahead or more, 90 for the kinds `api` and `webhooks`, at once for `other`.
    #[schema(value_type = String, example = "2027-03-01T00:00:00Z")]
    #[serde(serialize_with = "write_moment")]
    pub takes_effect_at: Timestamp,
}

fn write_moment<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&time(*at))
}

impl Body for NoticeRequest {
    const CLOSED: bool = true;

    fn read(members: &mut Members<'_>) -> Option<Self> {
        let (kind, title, text) = (members.word("kind"), members.text("title"), members.prose("text"));
        let (version, intents) = (members.optional_text("version"), members.texts("intents"));
        let takes_effect_at = members.moment("takes_effect_at");
        Some(Self { kind: kind?, title: title?, text: text?, version, intents, takes_effect_at: takes_effect_at? })
    }
}

impl From<NoticeRequest> for NoticeDraft {
    fn from(NoticeRequest { kind, title, text, version, intents, takes_effect_at }: NoticeRequest) -> Self {
        Self { kind, title, text, version, intents, takes_effect_at }
    }
}

/// Why a notice is withdrawn.
#[derive(Debug, Serialize, ToSchema)]
pub struct WithdrawNoticeRequest {
    /// Told to whoever was told of the notice.
    #[schema(min_length = 1, max_length = 500)]
    pub reason: String,
}

impl Body for WithdrawNoticeRequest {
    fn read(members: &mut Members<'_>) -> Option<Self> {
        Some(Self { reason: members.prose("reason")? })
    }
}

/// A notice, as partners see it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct PartnerNotice {
    #[schema(example = "ntc_019cdff1a8000123456789abcdef")]
    pub notice_id: String,
    pub kind: NoticeKind,
    pub title: String,
    /// What changes, and what is to be done.
    pub text: String,
    /// The version that what changes has then.
    #[schema(required)]
    pub version: Option<String>,
    /// The intents that it is about; empty where it is about all.
    #[schema(value_type = Vec<String>)]
    pub intents: Vec<IntentId>,
    pub takes_effect_at: String,
    pub published_at: String,
    pub state: NoticeState,
    /// When and why it was withdrawn.
    #[schema(required)]
    pub withdrawn: Option<NoticeWithdrawal>,
}

/// That a notice does not hold any more.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct NoticeWithdrawal {
    pub at: String,
    pub reason: String,
}

/// The notices that concern a partner, the one that takes effect last first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct PartnerNotices {
    pub notices: Vec<PartnerNotice>,
}

/// A notice, as the platform team sees it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct NoticeBody {
    #[serde(flatten)]
    pub notice: PartnerNotice,
    pub published_by: Actor,
    /// Who has withdrawn it.
    #[schema(required)]
    pub withdrawn_by: Option<Actor>,
    /// How far partners have been told.
    pub told: Vec<NoticeTelling>,
}

/// How far partners have been told one thing of a notice.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct NoticeTelling {
    pub stage: NoticeStage,
    /// From when on.
    pub due_at: String,
    /// How many partners were told so far.
    pub partners: u64,
    /// When the last one was, or telling was called off; null while it is due or still to come.
    #[schema(required)]
    pub ended_at: Option<String>,
}

/// A page of notices, in the order in which they take effect.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct NoticeList {
    pub notices: Vec<NoticeBody>,
    /// `after` of the next page; null on the last one.
    #[schema(required)]
    pub next: Option<String>,
}

impl PartnerNotice {
    /// A notice as it stands at a time.
    #[must_use]
    pub fn new(notice: Notice, now: Timestamp) -> Self {
        let state = notice.state(now);
        Self {
            notice_id: notice.id,
            kind: notice.kind,
            title: notice.title,
            text: notice.text,
            version: notice.version,
            intents: notice.intents.into_iter().collect(),
            takes_effect_at: time(notice.takes_effect_at_ms),
            published_at: time(notice.published_at_ms),
            state,
            withdrawn: notice
                .withdrawn
                .map(|withdrawn| NoticeWithdrawal { at: time(withdrawn.at_ms), reason: withdrawn.reason }),
        }
    }
}

impl NoticeBody {
    /// A notice as it stands at a time.
    #[must_use]
    pub fn new(notice: Notice, now: Timestamp) -> Self {
        Self {
            published_by: notice.published_by.clone(),
            withdrawn_by: notice.withdrawn.as_ref().map(|withdrawn| withdrawn.by.clone()),
            told: notice.tellings.iter().map(NoticeTelling::from).collect(),
            notice: PartnerNotice::new(notice, now),
        }
    }
}

impl From<&Telling> for NoticeTelling {
    fn from(telling: &Telling) -> Self {
        Self {
            stage: telling.stage,
            due_at: time(telling.due_at_ms),
            partners: telling.told,
            ended_at: telling.ended_at_ms.map(time),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::read;

    const GOOD: &str = r#"{"kind": "manifest_schema", "title": "Holidays", "text": "Add\nthem.", "version": "0.2.0",
        "intents": ["auto.book_ac_service"], "takes_effect_at": "2027-03-01T05:30:00+05:30"}"#;

    #[test]
    fn a_notice_is_read_with_all_that_it_says() {
        let NoticeRequest { kind, title, text, version, intents, takes_effect_at } =
            read::<NoticeRequest>(GOOD).expect("read");
        assert_eq!((kind, title.as_str(), text.as_str()), (NoticeKind::ManifestSchema, "Holidays", "Add\nthem."));
        assert_eq!((version.as_deref(), intents), (Some("0.2.0"), vec!["auto.book_ac_service".to_owned()]));
        assert_eq!(time(takes_effect_at), "2027-03-01T00:00:00Z");
    }

    #[test]
    fn what_is_wrong_with_a_notice_is_told_at_its_place() {
        for (from, to, at) in [
            ("manifest_schema", "weather", "/kind"),
            ("Holidays", "a\\u0007b", "/title"),
            ("2027-03-01T05:30:00+05:30", "tomorrow", "/takes_effect_at"),
            ("\"intents\": [", "\"intents\": [7,", "/intents/0"),
            ("\"version\"", "\"versions\"", "/versions"),
        ] {
            let bad = GOOD.replace(from, to);
            let found = read::<NoticeRequest>(&bad).expect_err(&bad);
            assert_eq!(found.iter().map(|one| one.pointer.as_str()).collect::<Vec<_>>(), [at], "{bad}");
        }
    }
}
