//! The platform team's reviews: a queue, a checklist, a decision with notes, a mail to the partner (spec 1,
//! Authentication 6 and States and transitions).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::documents::{Document, documents_of};
use super::keeper::RecordKeeper;
use super::live::LivePartners;
use super::records::{Account, Connection, Decision, Manifests, Review, ReviewStatus, ReviewSubject, Submission};
use super::text::bounded_text;
use super::{OnboardingError, results};
use crate::compliance::{self, CheckState, ChecklistItem, PrivacyCheck};
use crate::descriptors::Drift;
use crate::events::{EventData, Word};
use crate::manifest::{self, Flag};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::ports::PageFetch;
use intent_gateway_domain::probe::FetchedPage;
use intent_gateway_domain::steps::Proposal;
use intent_gateway_domain::store::{Change, List, Versioned, load, page};

/// A review is decided within this time, milliseconds (spec 1, Limits: 24 to 72 hours).
pub(crate) const REVIEW_DUE_MS: u64 = 72 * 60 * 60 * 1_000;

/// How long a look at a privacy policy is good for one who merely reads, milliseconds. A decision has it fetched anew.
const LOOK_FRESH_MS: u64 = 60 * 1_000;

/// Media types, besides text, in which a person can read a policy.
const DOCUMENT_TYPES: [&str; 2] = ["application/pdf", "application/xhtml+xml"];

/// Which way a review is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = VerdictName))]
#[serde(rename_all = "snake_case")]
pub enum ReviewVerdict {
    /// Accepted.
    Approve,
    /// Changes are needed.
    Reject,
}

/// A decision as the platform team gives it.
#[derive(Clone, Debug)]
pub struct DecisionOrder {
    /// Which way.
    pub verdict: ReviewVerdict,
    /// Told to the partner; a rejection says what to fix.
    pub notes: String,
    /// Codes of the checklist's items that a person has looked at and confirms.
    pub confirmed: BTreeSet<String>,
}

/// A review with all that is needed to decide it.
#[derive(Clone, Debug)]
pub struct ReviewView {
    /// The entry.
    pub review: Review,
    /// The business.
    pub account: Account,
    /// What was submitted, where the review is about a manifest that is still the latest.
    pub submission: Option<Submission>,
    /// The checklist as it stands now, or as it stood at the decision.
    pub checklist: Vec<ChecklistItem>,
    /// What the business has uploaded, to be read one by one.
    pub documents: Vec<Document>,
}

/// The platform team's reviews.
pub struct Reviews {
    pub(crate) keeper: RecordKeeper,
    /// Fetches privacy policies.
    pub(crate) pages: Arc<dyn PageFetch>,
    pub(crate) live: Arc<LivePartners>,
    /// Businesses whose privacy policy is being fetched for one who reads.
    pub(crate) looking: Mutex<BTreeSet<PartnerId>>,
}

impl Reviews {
    /// Reviews in the order in which they were opened.
    ///
    /// # Errors
    /// [`OnboardingError::Store`].
    pub async fn list(&self, list: List<'_>) -> Result<Vec<Review>, OnboardingError> {
        Ok(page::<Review>(&*self.keeper.store, list).await?.into_iter().map(|review| review.value).collect())
    }

    /// One review, with its checklist. While one of a manifest is open, the privacy policy is fetched anew.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`].
    pub async fn get(&self, id: &str) -> Result<ReviewView, OnboardingError> {
        let review = self.keeper.require::<Review>(id, "review").await?.value;
        if needs_policy(&review) {
            self.look_at_privacy_policy(&review).await?;
        }
        self.view(review).await
    }

    /// One review, with the privacy policy as it was seen last.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`].
    pub async fn get_as_seen(&self, id: &str) -> Result<ReviewView, OnboardingError> {
        let review = self.keeper.require::<Review>(id, "review").await?.value;
        self.view(review).await
    }

    /// Fetches the privacy policy that an open review of a manifest is about, unless it was fetched within the last minute or is
    /// being fetched. It takes as long as the business lets it.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`], [`OnboardingError::Store`].
    pub async fn refresh_policy(&self, id: &str) -> Result<(), OnboardingError> {
        let review = self.keeper.require::<Review>(id, "review").await?.value;
        if !needs_policy(&review) {
            return Ok(());
        }
        let Some(_look) = Look::begin(&self.looking, &review.account) else { return Ok(()) };
        let account = self.keeper.require::<Account>(review.account.as_str(), "account").await?.value;
        let url = account.profile.map(|profile| profile.privacy_policy_url);
        let is_fresh = |seen: &PrivacyCheck| {
            Some(&seen.url) == url.as_ref() && self.keeper.now().ms_since(seen.checked_at_ms) < LOOK_FRESH_MS
        };
        if account.privacy.as_ref().is_some_and(is_fresh) {
            return Ok(());
        }
        self.look_at_privacy_policy(&review).await
    }

    async fn view(&self, review: Review) -> Result<ReviewView, OnboardingError> {
        let account = self.keeper.require::<Account>(review.account.as_str(), "account").await?.value;
        let manifests = load::<Manifests>(&*self.keeper.store, review.account.as_str()).await?;
        let submission = manifests
            .map(|kept| kept.value.latest)
            .filter(|latest| matches!(review.subject, ReviewSubject::Manifest { number } if number == latest.number));
        let checklist = match (&review.decision, &review.subject, &submission) {
            (Some(decision), ..) => decision.checklist.clone(),
            (None, ReviewSubject::Manifest { .. }, Some(submission)) => {
                checklist_of(&account, submission, self.keeper.now())
            }
            (None, ReviewSubject::Renewal { items, .. }, _) => items.iter().map(item_of_renewal).collect(),
            (None, ..) => Vec::new(),
        };
        let documents = documents_of(&self.keeper, &account.id).await?;
        Ok(ReviewView { review, account, submission, checklist, documents })
    }

    /// Fetches the privacy policy of the business under review and keeps its outcome.
    async fn look_at_privacy_policy(&self, review: &Review) -> Result<(), OnboardingError> {
        let key = review.account.as_str();
        let account = self.keeper.require::<Account>(key, "account").await?.value;
        let Some(url) = account.profile.map(|profile| profile.privacy_policy_url) else { return Ok(()) };
        let (live, detail) = describe_page(&self.pages.fetch(&url).await);
        let look = PrivacyCheck { url: url.clone(), checked_at_ms: self.keeper.now(), live, detail };
        self.keeper
            .step(async || {
                let mut kept = self.keeper.require::<Account>(key, "account").await?;
                let current = kept.value.profile.as_ref().map(|profile| &profile.privacy_policy_url);
                if current != Some(&url) {
                    return Ok(Proposal::nothing(()));
                }
                kept.value.privacy = Some(look.clone());
                let mut change = Change::default();
                change.put(&kept);
                Ok(Proposal::new(change, ()))
            })
            .await
    }

    /// Decides a review. Approval needs every item of the checklist passed or confirmed; the privacy policy is fetched for
    /// it once more, whoever looked at it before.
    ///
    /// # Errors
    /// `REVIEW_CLOSED` when it is not open any more; [`OnboardingError::NotReady`] with every item that stands in the
    /// way of an approval; [`OnboardingError::Refused`] for notes that are missing or too long.
    pub async fn decide(&self, id: &str, order: &DecisionOrder, actor: &Actor) -> Result<ReviewView, OnboardingError> {
        let notes = match (order.verdict, order.notes.trim()) {
            (ReviewVerdict::Approve, "") => String::new(),
            (_, notes) => bounded_text("/notes", notes)?,
        };
        let review = self.keeper.require::<Review>(id, "review").await?.value;
        if order.verdict == ReviewVerdict::Approve && needs_policy(&review) {
            self.look_at_privacy_policy(&review).await?;
        }
        let decided = self
            .keeper
            .step(async || {
                let mut kept = self.keeper.require::<Review>(id, "review").await?;
                if kept.value.status != ReviewStatus::Open {
                    let message = format!("the review is {} already", kept.value.status.as_str());
                    return Err(OnboardingError::out_of_step("REVIEW_CLOSED", message));
                }
                let ReviewView { account, checklist, .. } = self.view(kept.value.clone()).await?;
                let checklist = confirm(checklist, &order.confirmed);
                if order.verdict == ReviewVerdict::Approve {
                    ready(&checklist)?;
                }
                let mut change = Change::default();
                match kept.value.subject.clone() {
                    ReviewSubject::Manifest { number } => {
                        self.decide_manifest(&kept.value, number, order.verdict, &notes, &mut change).await?;
                    }
                    ReviewSubject::Drift { drift, .. } => {
                        self.decide_drift(&kept.value, &drift, order.verdict, &mut change).await?;
                    }
                    ReviewSubject::SignIn { named, .. } => {
                        self.keeper.decide_sign_in(&kept.value, &named, order.verdict, &mut change).await?;
                    }
                    // Nothing changes of itself: what is in force stays so until the partner corrects it, or the team
                    // suspends the connection.
                    ReviewSubject::Inflation { .. } => {}
                    ReviewSubject::Renewal { intent, .. } => {
                        if order.verdict == ReviewVerdict::Approve {
                            self.renew(&kept.value, &intent, &notes, actor, &mut change).await?;
                        }
                    }
                }
                let (status, action) = match order.verdict {
                    ReviewVerdict::Approve => (ReviewStatus::Approved, "review.approved"),
                    ReviewVerdict::Reject => (ReviewStatus::Rejected, "review.rejected"),
                };
                kept.value.status = status;
                let by = actor.clone();
                kept.value.decision = Some(Decision { by, at_ms: self.keeper.now(), notes: notes.clone(), checklist });
                change.put(&kept);
                let detail = json!({"review": id, "notes": notes});
                change.audit.push(self.keeper.audit_entry(actor, action, &account.id, detail));
                let (subject, text) = outcome_mail(&kept.value, &account, order.verdict, &notes);
                let event = EventData::ReviewDecided {
                    review_id: id.to_owned(),
                    about: kept.value.subject.kind().to_owned(),
                    decision: status.as_str().to_owned(),
                    notes: notes.clone(),
                };
                self.keeper.tell(&account, Word { subject, text, event }, &mut change)?;
                Ok(Proposal::new(change, kept.value))
            })
            .await?;
        self.live.apply_change().await;
        self.view(decided).await
    }

    async fn decide_manifest(
        &self,
        review: &Review,
        number: u32,
        verdict: ReviewVerdict,
        notes: &str,
        change: &mut Change,
    ) -> Result<(), OnboardingError> {
        let mut kept = self.keeper.require::<Manifests>(review.account.as_str(), "manifest").await?;
        let decision = match verdict {
            ReviewVerdict::Approve => manifest::Decision::Accept,
            ReviewVerdict::Reject => manifest::Decision::Reject,
        };
        let latest = &mut kept.value.latest;
        let next = latest.status.decide(decision).ok().filter(|_| latest.number == number);
        let Some(next) = next else {
            return Err(OnboardingError::out_of_step(
                "REVIEW_CLOSED",
                "the manifest was replaced or decided meanwhile",
            ));
        };
        latest.status = next;
        latest.notes = Some(notes.to_owned());
        if verdict == ReviewVerdict::Approve {
            let documents = documents_of(&self.keeper, &review.account).await?;
            kept.value.latest.documents = documents.into_iter().map(|document| document.id).collect();
            let before = kept.value.approved.replace(kept.value.latest.clone());
            let connection = load::<Connection>(&*self.keeper.store, review.account.as_str()).await?;
            if let (Some(before), Some(mut connection)) = (before, connection) {
                connection.value.remember_served(&before.manifest);
                change.put(&connection);
            }
        }
        change.put(&kept);
        Ok(())
    }

    /// An approval takes the tools as they were reviewed, which is as the last probe saw them, and lifts the quarantine; a
    /// rejection leaves it.
    async fn decide_drift(
        &self,
        review: &Review,
        drift: &BTreeMap<IntentId, Vec<Drift>>,
        verdict: ReviewVerdict,
        change: &mut Change,
    ) -> Result<(), OnboardingError> {
        if verdict == ReviewVerdict::Reject {
            return Ok(());
        }
        let mut kept: Versioned<Connection> = self.keeper.require(review.account.as_str(), "connection").await?;
        let connection = &mut kept.value;
        if connection.drift_review.as_deref() != Some(review.id.as_str()) || connection.quarantine != *drift {
            let message =
                "the tools are not as they were when the review was opened; probe again and decide what follows";
            return Err(OnboardingError::out_of_step("REVIEW_CLOSED", message));
        }
        connection.accept_drift()?;
        change.put(&kept);
        Ok(())
    }

    /// Confirms anew what the review is about. What is not confirmed ends when it would have.
    async fn renew(
        &self,
        review: &Review,
        intent: &IntentId,
        notes: &str,
        actor: &Actor,
        change: &mut Change,
    ) -> Result<(), OnboardingError> {
        let mut kept: Versioned<Connection> = self.keeper.require(review.account.as_str(), "connection").await?;
        let note = if notes.is_empty() { format!("confirmed in review {}", review.id) } else { notes.to_owned() };
        kept.value.renew(intent, &review.id, &note, actor, self.keeper.now())?;
        change.put(&kept);
        Ok(())
    }
}

impl RecordKeeper {
    pub(super) fn open_review(&self, account: &PartnerId, subject: ReviewSubject) -> Result<Review, OnboardingError> {
        let now = self.now();
        Ok(Review {
            // The time first, so that the queue is in the order in which it came.
            id: self.new_id(&format!("rev_{:013}_", now.as_ms()))?,
            account: account.clone(),
            subject,
            status: ReviewStatus::Open,
            opened_at_ms: now,
            due_at_ms: now.plus_ms(REVIEW_DUE_MS),
            decision: None,
        })
    }

    /// A review of what was replaced has nothing to decide any more.
    pub(super) async fn supersede(&self, review: Option<&str>, change: &mut Change) -> Result<(), OnboardingError> {
        let Some(id) = review else { return Ok(()) };
        let mut review = self.require::<Review>(id, "review").await?;
        if review.value.status == ReviewStatus::Open {
            review.value.status = ReviewStatus::Superseded;
            change.put(&review);
        }
        Ok(())
    }
}

/// Whether the privacy policy matters for a review.
fn needs_policy(review: &Review) -> bool {
    review.status == ReviewStatus::Open && matches!(review.subject, ReviewSubject::Manifest { .. })
}

/// A privacy policy that is being fetched, for as long as it is.
struct Look<'a> {
    all: &'a Mutex<BTreeSet<PartnerId>>,
    account: &'a PartnerId,
}

impl<'a> Look<'a> {
    /// None while another one is under way.
    fn begin(all: &'a Mutex<BTreeSet<PartnerId>>, account: &'a PartnerId) -> Option<Self> {
        let is_first = all.lock().unwrap_or_else(PoisonError::into_inner).insert(account.clone());
        is_first.then_some(Self { all, account })
    }
}

impl Drop for Look<'_> {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).remove(self.account);
    }
}

/// The checklist of a submission as it stands at a time: what the business must show, then what was flagged at submit.
pub(super) fn checklist_of(account: &Account, submission: &Submission, now: Timestamp) -> Vec<ChecklistItem> {
    let domains = submission.manifest.intents.iter().map(|entry| entry.domain.as_str());
    let mut items = match &account.profile {
        Some(profile) => compliance::checklist(profile, domains, account.privacy.as_ref(), now),
        None => vec![ChecklistItem {
            code: "PROFILE".to_owned(),
            text: "Legal entity, tax number, licences and privacy policy.".to_owned(),
            state: CheckState::Failed,
            detail: "the business has given no profile yet".to_owned(),
        }],
    };
    items.extend(submission.flags.iter().map(item_of_flag));
    items
}

/// Whether a page was there, in words.
fn describe_page(fetched: &Result<FetchedPage, CallFailure>) -> (bool, String) {
    match fetched {
        Ok(FetchedPage { url, status, content_type, bytes }) => {
            let kind = content_type.as_deref().unwrap_or("of no media type");
            let readable =
                kind.starts_with("text/") || DOCUMENT_TYPES.iter().any(|readable| kind.starts_with(readable));
            let live = (200..300).contains(status) && *bytes > 0 && readable;
            (live, format!("{url} answered with status {status}, {bytes} bytes, {kind}"))
        }
        Err(failure) => (false, failure.to_string()),
    }
}

/// What was flagged at submit, for a person to look at.
fn item_of_flag(flag: &Flag) -> ChecklistItem {
    ChecklistItem {
        // Two intents may have the same flag, and each is confirmed for itself.
        code: format!("{}:{}", flag.code.as_str(), flag.intent),
        text: flag.message.clone(),
        state: CheckState::ByHand,
        detail: "look into it and confirm it".to_owned(),
    }
}

/// What was confirmed once, for a person to look at again.
fn item_of_renewal((code, text): (&String, &String)) -> ChecklistItem {
    ChecklistItem {
        code: code.clone(),
        text: text.clone(),
        state: CheckState::ByHand,
        detail: "look at it again and confirm it".to_owned(),
    }
}

/// The checklist with what a person has looked at and confirms. Whether the privacy policy is there, the machine sees for
/// itself at this very moment, and nobody's word stands for it.
fn confirm(mut checklist: Vec<ChecklistItem>, codes: &BTreeSet<String>) -> Vec<ChecklistItem> {
    let by_people = checklist.iter_mut().filter(|item| item.code != compliance::PRIVACY_POLICY);
    for item in by_people {
        if item.state == CheckState::ByHand && codes.contains(item.code.as_str()) {
            item.state = CheckState::Confirmed;
        }
    }
    checklist
}

fn ready(checklist: &[ChecklistItem]) -> Result<(), OnboardingError> {
    let missing: Vec<Violation> = checklist
        .iter()
        .filter_map(|item| {
            let message = match item.state {
                CheckState::Passed | CheckState::Confirmed => return None,
                CheckState::Failed => format!("{}: {}", item.text, item.detail),
                CheckState::ByHand if item.code == compliance::PRIVACY_POLICY => {
                    format!("{}: {}; decide again", item.text, item.detail)
                }
                CheckState::ByHand => format!("{}: to be confirmed by a person (list it under `confirmed`)", item.text),
            };
            Some(Violation { pointer: String::new(), code: item.code.to_string(), message })
        })
        .collect();
    if missing.is_empty() { Ok(()) } else { Err(OnboardingError::NotReady(missing)) }
}

fn outcome_mail(review: &Review, account: &Account, verdict: ReviewVerdict, notes: &str) -> (&'static str, String) {
    let what = match &review.subject {
        ReviewSubject::Manifest { number } => outcome(&format!("submission {number} of your manifest"), verdict),
        ReviewSubject::Drift { .. } => outcome("the change of your tools", verdict),
        ReviewSubject::SignIn { named, .. } => {
            outcome(&format!("where your users sign in, {},", named.issuer), verdict)
        }
        ReviewSubject::Inflation { intent, inflated, .. } => results::outcome(intent, inflated, verdict),
        ReviewSubject::Renewal { intent, items } => {
            let codes = items.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            match verdict {
                ReviewVerdict::Approve => {
                    format!("what was confirmed of {intent} was looked at again and holds: {codes}.")
                }
                ReviewVerdict::Reject => format!(
                    "what was confirmed of {intent} was looked at again and not confirmed: {codes}. It ends on the dates \
                     that `intent-gateway partner status` shows, unless it is confirmed by then."
                ),
            }
        }
    };
    let subject = match verdict {
        ReviewVerdict::Approve => "Your review is done: approved",
        ReviewVerdict::Reject => "Your review is done: changes needed",
    };
    let notes = if notes.is_empty() { String::new() } else { format!("\n\nNotes:\n{notes}") };
    (subject, format!("Hello {},\n\n{what}{notes}\n", account.business_name))
}

fn outcome(what: &str, verdict: ReviewVerdict) -> String {
    match verdict {
        ReviewVerdict::Approve => format!(
            "{what} is approved. Approval alone sends no traffic: `intent-gateway partner status` tells what is left to do."
        ),
        ReviewVerdict::Reject => format!("{what} was sent back."),
    }
}
