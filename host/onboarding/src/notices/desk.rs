//! What the platform team does with notices, and what partners see of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use semver::Version;
use serde_json::json;

use super::record::{Notice, NoticeKind, Withdrawal};
use crate::OnboardingError;
use crate::keeper::RecordKeeper;
use crate::manifest::MANIFEST_VERSION;
use crate::records::Manifests;
use crate::text::{bounded_text, rfc3339};
use intent_gateway_domain::alias;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{Refusal, Violation};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::ports::Contracts;
use intent_gateway_domain::steps::Proposal;
use intent_gateway_domain::store::{Change, List, Pages, Versioned, load, page};
use intent_gateway_domain::violations::code;

/// Characters of a title.
const TITLE_MAX_CHARS: usize = 120;
/// Characters of the text.
const TEXT_MAX_CHARS: usize = 4_096;
/// Characters of a version.
const VERSION_MAX_CHARS: usize = 64;
/// Intents that one notice may name.
const INTENTS_MAX: usize = 100;
/// How far ahead a notice may be.
const AHEAD_MAX_MS: u64 = 2 * 366 * 24 * 60 * 60 * 1_000;
/// Notices that a partner is shown at most: those that took effect last, and all that are to page.
const SHOWN_MAX: usize = 200;
/// Where a notice comes too late for what it is about.
const NOTICE_TOO_SHORT: &str = "NOTICE_TOO_SHORT";
/// It is not in the way any more.
const NOTICE_WITHDRAWN: &str = "NOTICE_WITHDRAWN";
/// What it tells has page.
const NOTICE_IN_EFFECT: &str = "NOTICE_IN_EFFECT";

/// A notice as the platform team writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticeDraft {
    /// What it is about.
    pub kind: NoticeKind,
    /// One line.
    pub title: String,
    /// What changes, and what partners have to do.
    pub text: String,
    /// The version that what it is about has then; a manifest schema's must be named.
    pub version: Option<String>,
    /// Whom it concerns: partners that offer one of these intents; all of them where there are none.
    pub intents: Vec<String>,
    /// When it takes effect.
    pub takes_effect_at: Timestamp,
}

/// Notices.
pub struct Notices {
    pub(crate) keeper: RecordKeeper,
    /// Which intents there are.
    pub(crate) contracts: Arc<dyn Contracts>,
}

impl Notices {
    /// Publishes a notice: from now on whom it concerns sees it, and is told. The same once more is the same notice.
    ///
    /// # Errors
    /// [`OnboardingError::Refused`] with everything that is wrong with it; `NOTICE_WITHDRAWN` where the same notice was withdrawn.
    pub async fn publish(&self, draft: NoticeDraft, by: &Actor) -> Result<Notice, OnboardingError> {
        let now = self.keeper.now();
        let intents = self.check(&draft, now)?;
        let NoticeDraft { kind, title, text, version, takes_effect_at, .. } = draft;
        let (title, text) = (title.trim().to_owned(), text.trim().to_owned());
        let content = json!([kind, title, text, version, intents]).to_string();
        let mark = Digest::of(content.as_bytes()).to_string();
        let notice = Notice {
            id: format!("ntc_{:012x}{}", takes_effect_at.as_ms(), &mark[..16]),
            kind,
            title,
            text,
            version,
            intents,
            takes_effect_at_ms: takes_effect_at,
            published_at_ms: now,
            published_by: by.clone(),
            withdrawn: None,
            tellings: Notice::plan(now, takes_effect_at),
        };
        self.keeper
            .step(async || {
                if let Some(kept) = self.keeper.find::<Notice>(&notice.id).await? {
                    return match kept.value.withdrawn {
                        None => Ok(Proposal::nothing(kept.value)),
                        Some(_) => {
                            let message = "this notice was withdrawn; another title, text or date makes another notice";
                            Err(OnboardingError::out_of_step(NOTICE_WITHDRAWN, message))
                        }
                    };
                }
                let mut change = Change::default();
                change.put(&Versioned::new(notice.clone()));
                let detail = json!({"kind": kind, "title": notice.title, "takes_effect_at_ms": takes_effect_at});
                change.audit.push(self.keeper.audit_of(by, "notice.published", &notice.id, detail));
                Ok(Proposal::new(change, notice.clone()))
            })
            .await
    }

    /// Withdraws a notice that has not taken effect yet. Whoever was told of it is told so. Withdrawing it again changes nothing.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`]; `NOTICE_IN_EFFECT`; [`OnboardingError::Refused`] for a reason that is missing or too long.
    pub async fn withdraw(&self, id: &str, reason: &str, by: &Actor) -> Result<Notice, OnboardingError> {
        let reason = bounded_text("/reason", reason)?;
        self.keeper
            .step(async || {
                let mut kept = self.keeper.require::<Notice>(id, "notice").await?;
                let now = self.keeper.now();
                if kept.value.withdrawn.is_some() {
                    return Ok(Proposal::nothing(kept.value));
                }
                if kept.value.takes_effect_at_ms <= now {
                    let message = format!("the notice took effect at {}", rfc3339(kept.value.takes_effect_at_ms));
                    return Err(OnboardingError::out_of_step(NOTICE_IN_EFFECT, message));
                }
                kept.value.withdraw(Withdrawal { by: by.clone(), at_ms: now, reason: reason.clone() });
                let mut change = Change::default();
                change.audit.push(self.keeper.audit_of(by, "notice.withdrawn", id, json!({"reason": reason})));
                change.put(&kept);
                Ok(Proposal::new(change, kept.value))
            })
            .await
    }

    /// One notice.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`].
    pub async fn get(&self, id: &str) -> Result<Notice, OnboardingError> {
        Ok(self.keeper.require::<Notice>(id, "notice").await?.value)
    }

    /// Notices in the order in which they take effect.
    ///
    /// # Errors
    /// [`OnboardingError::Store`].
    pub async fn list(&self, list: List<'_>) -> Result<Vec<Notice>, OnboardingError> {
        Ok(page::<Notice>(&*self.keeper.store, list).await?.into_iter().map(|notice| notice.value).collect())
    }

    /// The notices that concern a partner, the one that takes effect last first.
    ///
    /// # Errors
    /// [`OnboardingError::Store`].
    pub async fn list_concerning(&self, partner: &PartnerId) -> Result<Vec<Notice>, OnboardingError> {
        let offered = read_offered(&self.keeper, partner).await?;
        let (mut found, mut notices) = (Vec::new(), Pages::<Notice>::of(None));
        while let Some(notices) = notices.next(&*self.keeper.store).await? {
            let concerned = notices.into_iter().map(|kept| kept.value).filter(|notice| concerns(notice, &offered));
            found.extend(concerned);
        }
        found.reverse();
        found.truncate(SHOWN_MAX);
        Ok(found)
    }

    /// The time by which notices stand where they stand.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.keeper.now()
    }

    /// Holds a draft against the rules; the intents by their own names.
    fn check(&self, draft: &NoticeDraft, now: Timestamp) -> Result<BTreeSet<IntentId>, OnboardingError> {
        let mut violations = Vec::new();
        let mut violate = |pointer: &str, code: &str, message: String| {
            violations.push(Violation { pointer: pointer.to_owned(), code: code.to_owned(), message });
        };
        for (pointer, text, most) in [("/title", &draft.title, TITLE_MAX_CHARS), ("/text", &draft.text, TEXT_MAX_CHARS)]
        {
            if text.trim().is_empty() || text.chars().count() > most {
                violate(pointer, code::OUT_OF_RANGE, format!("expected 1 to {most} characters"));
            }
        }
        let earliest = now.plus_ms(draft.kind.ahead_ms());
        if draft.takes_effect_at < earliest {
            let (kind, days) = (draft.kind.as_str(), draft.kind.ahead_ms() / (24 * 60 * 60 * 1_000));
            let message = match days {
                0 => format!("expected a time after now, {}", rfc3339(now)),
                days => format!(
                    "a notice of kind `{kind}` is published {days} days ahead: expected {} or later",
                    rfc3339(earliest)
                ),
            };
            violate("/takes_effect_at", NOTICE_TOO_SHORT, message);
        } else if draft.takes_effect_at > now.plus_ms(AHEAD_MAX_MS) {
            violate("/takes_effect_at", code::OUT_OF_RANGE, "expected a time within two years".to_owned());
        }
        self.check_version(draft, &mut violate);
        if draft.kind == NoticeKind::Contract && draft.intents.is_empty() {
            violate("/intents", code::REQUIRED, "a notice about contracts names their intents".to_owned());
        }
        if draft.intents.len() > INTENTS_MAX {
            violate("/intents", code::TOO_MANY_ITEMS, format!("expected at most {INTENTS_MAX} intents"));
        }
        let mut intents = BTreeSet::new();
        for (index, name) in draft.intents.iter().enumerate() {
            let known = IntentId::parse(name).ok().map(|name| alias::resolve(&*self.contracts, &name));
            match known.filter(|intent| self.contracts.live(intent.as_str()).is_some()) {
                Some(intent) => drop(intents.insert(intent)),
                None => violate(&format!("/intents/{index}"), "INVALID_INTENT", "there is no such intent".to_owned()),
            }
        }
        if violations.is_empty() {
            return Ok(intents);
        }
        Err(OnboardingError::Refused(Refusal::invalid_request(violations)))
    }

    fn check_version(&self, draft: &NoticeDraft, violate: &mut impl FnMut(&str, &str, String)) {
        match (&draft.version, draft.kind) {
            (None, NoticeKind::ManifestSchema) => {
                violate("/version", code::REQUIRED, "the version that the schema has then".to_owned());
            }
            (Some(version), NoticeKind::ManifestSchema) => match Version::parse(version) {
                Ok(version) if Version::parse(MANIFEST_VERSION).is_ok_and(|current| version > current) => {}
                Ok(_) => {
                    let message = format!("the schema has version {MANIFEST_VERSION} now; expected a later one");
                    violate("/version", code::OUT_OF_RANGE, message);
                }
                Err(_) => violate("/version", code::BAD_FORMAT, "expected a semantic version".to_owned()),
            },
            (Some(version), _) if version.trim().is_empty() || version.chars().count() > VERSION_MAX_CHARS => {
                violate("/version", code::OUT_OF_RANGE, format!("expected 1 to {VERSION_MAX_CHARS} characters"));
            }
            _ => {}
        }
    }
}

/// The intents that a partner offers or has asked to offer.
pub(super) async fn read_offered(
    keeper: &RecordKeeper,
    partner: &PartnerId,
) -> Result<BTreeSet<IntentId>, OnboardingError> {
    let Some(kept) = load::<Manifests>(&*keeper.store, partner.as_str()).await? else { return Ok(BTreeSet::new()) };
    let Manifests { latest, approved, .. } = kept.value;
    let submissions = std::iter::once(latest).chain(approved);
    Ok(submissions.flat_map(|submission| submission.manifest.intents).map(|entry| entry.intent).collect())
}

pub(super) fn concerns(notice: &Notice, offered: &BTreeSet<IntentId>) -> bool {
    notice.intents.is_empty() || !notice.intents.is_disjoint(offered)
}
