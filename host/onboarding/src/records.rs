//! What is kept of a partner on its way from sign-up to live traffic.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::sign_in::ConnectionSignIn;
use crate::compliance::{ChecklistItem, PrivacyCheck, Profile};
use crate::confirmations::Stage;
use crate::connection::ConnectionState;
use crate::delivered::Inflated;
use crate::descriptors::{ComparedTool, Drift, PinnedTools, ToolReport, compare_tools};
use crate::manifest::{Flag, Manifest, Status};
use crate::undo::{MovedFrom, Undoable};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{Axes, Violation};
use intent_gateway_domain::endpoint::Endpoint;
use intent_gateway_domain::golive::GoLiveReport;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::probe::ProbeRecord;
use intent_gateway_domain::sign_in::SignInServer;
use intent_gateway_domain::store::{Kind, Record};
use intent_gateway_domain::vault::Mark;

/// A business that has signed up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Account {
    /// Account and partner identifier in one, issued by the platform, never changed.
    pub id: PartnerId,
    /// Corporate e-mail address, normalised.
    pub email: String,
    /// Display name given at sign-up; the manifest's `businessName` replaces it in chat.
    pub business_name: String,
    /// Milliseconds since the epoch.
    pub created_at_ms: Timestamp,
    /// What the compliance review looks at, once given.
    pub profile: Option<Profile>,
    /// The last look at the privacy policy.
    pub privacy: Option<PrivacyCheck>,
    /// Counts the times that its sessions were ended: tokens of an earlier epoch are refused.
    #[serde(default)]
    pub epoch: u64,
    /// When that was last, milliseconds since the epoch of time.
    #[serde(default)]
    pub(crate) evicted_at_ms: Option<Timestamp>,
    /// The one token that the last end of its sessions spared.
    #[serde(default)]
    pub(crate) spared_token: Option<String>,
    /// What the owner can undo, the latest last; a bounded number of changes.
    #[serde(default)]
    pub(crate) undoable: Vec<Undoable>,
}

impl Account {
    /// A new account, of which nothing more is known.
    #[must_use]
    pub fn new(id: PartnerId, email: String, business_name: String, created_at_ms: Timestamp) -> Self {
        Self {
            id,
            email,
            business_name,
            created_at_ms,
            profile: None,
            privacy: None,
            epoch: 0,
            evicted_at_ms: None,
            spared_token: None,
            undoable: Vec::new(),
        }
    }
}

impl Record for Account {
    const KIND: Kind = Kind::Accounts;

    fn key(&self) -> String {
        self.id.to_string()
    }

    fn lookup(&self) -> Option<String> {
        Some(self.email.clone())
    }
}

/// What a code is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum CodePurpose {
    /// A new account under this name, unless the address has one by then.
    SignUp {
        /// Display name.
        business_name: String,
    },
    /// The account of the address.
    SignIn,
    /// Nothing: no account has the address. Kept so that strangers cannot tell.
    Nothing,
}

/// A six-digit code under way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EmailCode {
    /// The address that it was sent to.
    pub email: String,
    /// What it is for.
    pub purpose: CodePurpose,
    /// Recognises the code. `None` once it was used or tried too often; the record then only counts mails.
    pub mark: Option<Mark>,
    /// Milliseconds since the epoch.
    pub expires_at_ms: Timestamp,
    /// Tries left, wherever from.
    pub(crate) attempts_left: u8,
    /// The networks from which another code was entered, marked; one a try.
    #[serde(default)]
    pub(crate) tried_from: Vec<Mark>,
    /// When codes were sent to this address within the last hour, and since somebody entered one.
    pub(crate) sent_at_ms: Vec<Timestamp>,
    /// When codes were sent to new addresses that differ from this one by a tag alone, likewise: they come into the same mailbox.
    #[serde(default)]
    pub(crate) tagged_sent_at_ms: Vec<Timestamp>,
    /// The networks from which a right code was entered, marked, the last one last: whoever guesses elsewhere takes nothing from
    /// there.
    #[serde(default)]
    pub(crate) entered_from: Vec<Mark>,
}

impl Record for EmailCode {
    const KIND: Kind = Kind::EmailCodes;

    fn key(&self) -> String {
        self.email.clone()
    }
}

/// A secret that is recognised, not held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptSecret {
    /// Recognises it.
    pub mark: Mark,
    /// Milliseconds since the epoch.
    pub issued_at_ms: Timestamp,
    /// From then on it is refused; absent for the current one.
    pub not_after_ms: Option<Timestamp>,
}

/// Sandbox credentials (spec 1, Sandbox credentials).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credentials {
    pub account: PartnerId,
    /// `platform_sandbox_<24 hex>`.
    pub client_id: String,
    /// `cust_<12 hex>`.
    pub customer_id: String,
    /// The current secret first, then those that a rotation let live on.
    pub secrets: Vec<KeptSecret>,
}

impl Record for Credentials {
    const KIND: Kind = Kind::Credentials;

    fn key(&self) -> String {
        self.account.to_string()
    }

    fn lookup(&self) -> Option<String> {
        Some(self.client_id.clone())
    }
}

/// A manifest that passed the checks at submit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Submission {
    /// Counts the account's submissions, from 1.
    pub number: u32,
    /// Where it stands.
    pub status: Status,
    /// What was submitted.
    pub manifest: Manifest,
    /// What is wrong with the stored-and-reviewed fields.
    pub warnings: Vec<Violation>,
    /// What the reviewer must look at.
    pub flags: Vec<Flag>,
    /// Milliseconds since the epoch.
    pub submitted_at_ms: Timestamp,
    /// By whom.
    pub submitted_by: Actor,
    /// Notes of the decision.
    pub notes: Option<String>,
    /// The documents that were there when it was approved; the business keeps them there.
    #[serde(default)]
    pub documents: Vec<String>,
}

/// The manifests of an account: the latest replaces the one before; an approved one stays in force until another is
/// approved, so that a correction does not cost a live partner its traffic.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifests {
    pub account: PartnerId,
    pub latest: Submission,
    /// The one in force.
    pub approved: Option<Submission>,
    /// The review of the latest, where it was sent for one.
    pub review: Option<String>,
    /// The last review of what was declared against what was delivered, of each intent that had one.
    #[serde(default)]
    pub(crate) inflation_reviews: BTreeMap<IntentId, String>,
}

impl Record for Manifests {
    const KIND: Kind = Kind::Manifests;

    fn key(&self) -> String {
        self.account.to_string()
    }

    fn status(&self) -> Option<&'static str> {
        Some(self.latest.status.as_str())
    }
}

/// What a review is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum ReviewSubject {
    /// A submitted manifest, and with it the compliance of the business.
    Manifest {
        /// Which submission.
        number: u32,
    },
    /// Tools that a later probe found changed.
    Drift {
        /// The intents that are out of service meanwhile.
        intents: BTreeSet<IntentId>,
        /// What has changed of each: a decision is about just this. Empty where an earlier release opened the review.
        #[serde(default)]
        drift: BTreeMap<IntentId, Vec<Drift>>,
    },
    /// Declared signals that claim more than was delivered.
    Inflation {
        /// Of which intent.
        intent: IntentId,
        /// The signals of the manifest in force.
        declared: Axes,
        /// Those that are inflated, as it was when the review was opened; never empty.
        inflated: Vec<Inflated>,
    },
    /// An authorization server that another partner's has something in common with, or another one than before; after the
    /// connection was first live, also the first one.
    SignIn {
        /// What the partner's server names.
        named: SignInServer,
        /// What held until then.
        before: Option<SignInServer>,
        /// Partners of which the same, or a part of it, is known; at most 20.
        shared_with: BTreeSet<PartnerId>,
    },
    /// What people have confirmed of a live intent, and what ends soon or has ended.
    Renewal {
        /// Of which intent.
        intent: IntentId,
        /// Code of each requirement, and what must hold; never empty.
        items: BTreeMap<String, String>,
    },
}

/// Where a review stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ReviewState))]
#[serde(rename_all = "snake_case")]
pub enum ReviewStatus {
    /// To be decided.
    Open,
    /// Accepted.
    Approved,
    /// Changes are needed.
    Rejected,
    /// What it was about was replaced.
    Superseded,
}

impl ReviewStatus {
    /// As it is named on the wire and in the store.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Superseded => "superseded",
        }
    }
}

impl ReviewSubject {
    /// Its name in events.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Manifest { .. } => "manifest",
            Self::Drift { .. } => "drift",
            Self::Inflation { .. } => "inflation",
            Self::SignIn { .. } => "sign_in",
            Self::Renewal { .. } => "renewal",
        }
    }
}

/// How a review was decided.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Decision {
    /// By whom.
    pub by: Actor,
    /// Milliseconds since the epoch.
    pub at_ms: Timestamp,
    /// What the partner is told.
    pub notes: String,
    /// The checklist as it stood.
    pub checklist: Vec<ChecklistItem>,
}

/// An entry for the platform team.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Review {
    /// `rev_<16 hex>`, preceded by the time, so that keys sort by age.
    pub id: String,
    /// Whom it concerns.
    pub account: PartnerId,
    /// What it is about.
    pub subject: ReviewSubject,
    /// Where it stands.
    pub status: ReviewStatus,
    /// Milliseconds since the epoch.
    pub opened_at_ms: Timestamp,
    /// Decided by then (spec 1: 24 to 72 hours).
    pub due_at_ms: Timestamp,
    /// Once decided.
    pub decision: Option<Decision>,
}

impl Record for Review {
    const KIND: Kind = Kind::Reviews;

    fn key(&self) -> String {
        self.id.clone()
    }

    fn status(&self) -> Option<&'static str> {
        Some(self.status.as_str())
    }
}

/// What a probe told, and what was made of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Probed {
    /// What was seen, in full.
    pub record: ProbeRecord,
    /// The tools, judged; absent when the probe did not get as far.
    pub tools: Option<ToolReport>,
    /// Whether every step succeeded and every listed intent has its tools.
    pub passed: bool,
    /// Why not, in words.
    pub failures: Vec<Violation>,
    /// By whom it was asked for.
    pub by: Actor,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspension {
    /// Told to the partner.
    pub reason: String,
    /// Milliseconds since the epoch.
    pub at_ms: Timestamp,
    /// By whom.
    pub by: Actor,
}

/// A repeated test that an intent of a live connection did not pass: the intent is routed for a time all the same, so that
/// its partner can mend what was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedRetest {
    /// When it was recorded, milliseconds since the epoch.
    pub at_ms: Timestamp,
    /// From then on the intent is not routed, until a test passes.
    pub routed_until_ms: Timestamp,
    /// Whether the end of that time was recorded and told to the partner.
    pub(crate) end_told: bool,
}

/// A person's word that a go-live requirement is met, and what happened to it since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldConfirmation {
    /// When it was given, milliseconds since the epoch.
    pub at_ms: Timestamp,
    /// By whom; absent where an earlier release has kept no more than the test's time.
    pub by: Option<Actor>,
    /// Days for which it holds, as the contract states them; absent where it holds for good.
    pub valid_days: Option<u32>,
    /// How much of its end was told.
    pub(crate) told: Stage,
    /// From then on the intent is not routed, until it is confirmed anew; set with the warning that it has ended.
    pub routed_until_ms: Option<Timestamp>,
    /// The review of whether it still holds, once there is one.
    pub(crate) review: Option<String>,
}

/// The connection to a partner's server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Connection {
    pub account: PartnerId,
    /// Where it is.
    pub endpoint: Endpoint,
    /// Where it stands.
    pub state: ConnectionState,
    /// Since when, milliseconds since the epoch.
    pub since_ms: Timestamp,
    /// When it first went live, milliseconds since the epoch; absent where it never did.
    #[serde(default)]
    pub first_live_at_ms: Option<Timestamp>,
    /// The last probe.
    pub probe: Option<Probed>,
    /// The tools as they were when they were last accepted.
    pub pinned: Option<PinnedTools>,
    /// Intents whose tools have changed since, with what changed; no request is routed to them.
    pub quarantine: BTreeMap<IntentId, Vec<Drift>>,
    /// The review of that.
    pub drift_review: Option<String>,
    /// The team's tests since the endpoint was registered, one an intent.
    pub tests: BTreeMap<IntentId, GoLiveReport>,
    /// The intents whose last test did not pass although one before it had, and they were routed.
    #[serde(default)]
    pub failed_retests: BTreeMap<IntentId, FailedRetest>,
    /// What people have confirmed of each intent, by the requirement's code. What an earlier release has confirmed gets in
    /// with the next probe.
    #[serde(default)]
    pub confirmations: BTreeMap<IntentId, BTreeMap<String, HeldConfirmation>>,
    /// Intents that were served at this endpoint under an approval that holds no more, each with its mapping of that time:
    /// what users have booked can still be followed and cancelled.
    #[serde(default)]
    pub(crate) served: BTreeMap<IntentId, Option<Value>>,
    /// Present while suspended.
    pub suspension: Option<Suspension>,
    /// When a suspension was last lifted, milliseconds since the epoch: what the partner did until then is not held
    /// against it again.
    #[serde(default)]
    pub(crate) pardoned_at_ms: Option<Timestamp>,
    /// The strikes that the partner was told of by mail, the latest last; a bounded number of them.
    #[serde(default)]
    pub(crate) told_strikes: Vec<ToldStrike>,
    /// Where the partner's users sign in.
    #[serde(default)]
    pub sign_in: ConnectionSignIn,
    /// The scheduled probe of a live connection, milliseconds since the epoch.
    pub next_probe_at_ms: Option<Timestamp>,
    /// As it was before its endpoint moved, for as long as that can be undone.
    #[serde(default)]
    pub(crate) moved_from: Option<MovedFrom>,
}

/// A strike that the partner was told of: one incident of one rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ToldStrike {
    pub(crate) code: String,
    /// The request or the order.
    pub(crate) incident: String,
}

impl Connection {
    /// Its tools, each as it was accepted beside what the last probe found; sorted by intent and name.
    #[must_use]
    pub fn compare_tools(&self) -> Vec<ComparedTool<'_>> {
        let found = self.probe.as_ref().and_then(|probe| probe.tools.as_ref());
        compare_tools(self.pinned.as_ref(), found)
    }
}

impl Record for Connection {
    const KIND: Kind = Kind::Connections;

    fn key(&self) -> String {
        self.account.to_string()
    }

    fn status(&self) -> Option<&'static str> {
        Some(self.state.as_str())
    }
}
