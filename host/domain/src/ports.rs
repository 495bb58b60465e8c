//! The ports of the domain: what it needs of the crates around it.
//!
//! Every future is boxed, so that the implementations can be chosen at start and replaced in tests.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use semver::Version;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::audit::Actor;
use crate::clock::Timestamp;
use crate::contract::{
    About, CallContext, CheckedCompletion, CheckedResponse, Classification, Descriptor, Evaluation, Exchange, Need,
    PastOrder, Payload, PreparedRequest, SearchSample,
};
use crate::digest::Digest;
use crate::endpoint::{Endpoint, MappedPayload, UnmappedItem};
use crate::error::{CallFailure, ContractError, ContractFault, NotCalled};
use crate::error_text::ErrorText;
use crate::faults::{FaultNote, FaultQuery, KeptFault};
use crate::findings::{Finding, FindingQuery, FindingsAbout, KeptFinding, RuleCount};
use crate::growth::Shed;
use crate::health::HealthEvent;
use crate::id::{IntentId, PartnerId};
use crate::mail::{Mail, MailError};
use crate::partner::Partner;
use crate::probe::{FetchedPage, ProbeRecord, ProbeRequest};
use crate::progress::Progress;
use crate::receipt::{KeptReceipt, Receipt, ReceiptsBack};
use crate::secret::Secret;
use crate::share::Share;
use crate::sign_in::SignInServer;
use crate::store::StoreError;
use crate::trace::Trace;
use crate::user::User;
use crate::vault::Sealed;
use crate::versions::{
    Activated, CallCounts, ContractAdminError, GoLive, IntakeStanding, IntentStatus, LoadFailure, LoadOrder, Loaded,
    LoadedVersion, MissingVersion, NotExamined, Origin, RefusedComponent, ReleasePolicy, ServedIntent,
};

/// One version of a contract, pinned: it stays what it is however often the live version changes.
pub trait Contract: Send + Sync {
    /// What the contract declares.
    fn descriptor(&self) -> &Descriptor;

    /// Digest of the component's bytes.
    fn digest(&self) -> Digest;

    /// Judges an utterance.
    fn classify<'a>(
        &'a self,
        utterance: &'a str,
        locale: &'a str,
    ) -> BoxFuture<'a, Result<Classification, ContractFault>>;

    /// Judges the arguments of a tool, JSON text. A search is about nothing yet.
    fn check_request<'a>(
        &'a self,
        context: &'a CallContext,
        tool: &'a str,
        arguments: &'a str,
        about: About<'a>,
    ) -> BoxFuture<'a, Result<PreparedRequest, ContractError>>;

    /// Validates, filters, scores and ranks all options. `history` are the user's past orders, the one that was opened last
    /// first, at most [`PAST_ORDERS_MAX`](crate::limits::PAST_ORDERS_MAX).
    fn evaluate<'a>(
        &'a self,
        context: &'a CallContext,
        request: &'a str,
        payloads: &'a [Payload<'a>],
        history: &'a [PastOrder],
    ) -> BoxFuture<'a, Result<Evaluation, ContractError>>;

    /// Judges the answer of a tool that is not a search.
    fn check_response<'a>(
        &'a self,
        context: &'a CallContext,
        exchange: Exchange<'a>,
    ) -> BoxFuture<'a, Result<CheckedResponse, ContractError>>;

    /// Judges a completion report against what it is about.
    fn check_completion<'a>(
        &'a self,
        context: &'a CallContext,
        report: &'a str,
        about: About<'a>,
    ) -> BoxFuture<'a, Result<CheckedCompletion, ContractError>>;

    /// A search out of the contract's own examples; nothing where it shows none.
    fn sample(&self) -> BoxFuture<'_, Result<Option<SearchSample>, ContractFault>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// The same version for work that serves nobody: its calls take no place of those that serve, may take longer, and its faults
    /// count against nobody. None where there is no difference.
    fn beside_serving(&self) -> Option<Arc<dyn Contract>> {
        None
    }
}

/// What serves an intent: the live version, and beside it the candidate of a rollout, where that has a share of the users.
pub struct Offer {
    /// The live version.
    pub live: Arc<dyn Contract>,
    /// The candidate, with its share.
    pub candidate: Option<(Arc<dyn Contract>, Share)>,
}

/// How a search ended for which a candidate was to rank.
#[derive(Clone, Copy, Debug)]
pub enum Served<'a> {
    /// The candidate has.
    ByCandidate,
    /// It has failed so, and the live version has ranked in its place.
    InItsPlace(&'a ContractFault),
    /// It has failed so, and nobody could rank in its place.
    NotAtAll(&'a ContractFault),
}

/// Hears of searches for which a candidate was to rank. Never waits.
pub trait RolloutWatch: Send + Sync {
    /// A search has ended.
    fn served(&self, intent: &IntentId, candidate: Digest, how: Served<'_>);
}

/// Threads for work that serves nobody.
pub trait Workers: Send + Sync {
    /// How many of them there are.
    fn count(&self) -> usize;

    /// Runs work on a thread of its own, to its end, whether anybody waits for it or not. It must not use what belongs to the
    /// runtime of the others: sockets, the store.
    fn run(&self, work: BoxFuture<'static, ()>) -> BoxFuture<'static, ()>;

    /// Processor time that the thread has used that asks.
    fn spent(&self) -> Duration;
}

/// The catalogue of intents. A snapshot is immutable; a new one replaces it whole.
pub trait Contracts: Send + Sync {
    /// The live version of an intent, by its name or by an alias. What is done with it goes under its own name, which is that
    /// of its descriptor (see [`alias`](crate::alias)).
    fn live(&self, intent: &str) -> Option<Arc<dyn Contract>>;

    /// What serves an intent, by its name or by an alias, the candidate of a rollout included.
    fn offer(&self, intent: &str) -> Option<Offer> {
        self.live(intent).map(|live| Offer { live, candidate: None })
    }

    /// A loaded version, live or not, by the digest of its component.
    fn find_loaded(&self, digest: Digest) -> Option<Arc<dyn Contract>>;

    /// A version that has left the catalogue's list and may still be needed by what was judged under it. It may have to be
    /// fetched and compiled. None where nothing is left of it, or nobody keeps such versions.
    fn find_retired(&self, _digest: Digest) -> BoxFuture<'_, Option<Arc<dyn Contract>>> {
        Box::pin(std::future::ready(None))
    }

    /// Whether a version is one that was revoked: it judges nothing any more.
    fn is_revoked(&self, _digest: Digest) -> bool {
        false
    }

    /// A revoked version, for whoever looks again at what it has judged, and says why. It serves nobody by that, and is held for
    /// nobody else. None where it is not revoked, or nothing is left of it.
    fn find_revoked(&self, _digest: Digest) -> BoxFuture<'_, Option<Arc<dyn Contract>>> {
        Box::pin(std::future::ready(None))
    }

    /// Whether what is live here may have been replaced or taken out elsewhere, for so long that nobody is to be served by it any
    /// more.
    fn is_stale(&self) -> bool {
        false
    }

    /// All live versions of one snapshot, sorted by intent.
    fn all(&self) -> Vec<Arc<dyn Contract>>;

    /// The live versions one of whose cues occurs in an utterance, sorted by intent
    /// (see [`CueIndex`](crate::classify::CueIndex)).
    fn select_by_cues(&self, utterance: &str) -> Vec<Arc<dyn Contract>>;
}

/// The version under which something was judged, wherever it is: loaded, or retired.
pub async fn find_version(contracts: &dyn Contracts, digest: Digest) -> Option<Arc<dyn Contract>> {
    match contracts.find_loaded(digest) {
        Some(loaded) => Some(loaded),
        None => contracts.find_retired(digest).await,
    }
}

/// What the platform team may do with contracts. Each change is kept for all gateways of the store when the call returns, with
/// who made it, and in force here; the others follow at once.
pub trait ContractAdmin: Send + Sync {
    /// Every version of the catalogue that is ready here, sorted by intent and version.
    fn versions(&self) -> Vec<LoadedVersion>;

    /// Loads a component and, if asked, makes it live once every gateway has it ready. A component that is known already stays
    /// as it is, live or not: what is known goes live by [`activate`](Self::activate) alone. Dropped while the component is
    /// examined, it changes nothing; once that is over, the change is made whether anybody waits for it or not.
    fn load(&self, component: bytes::Bytes, order: LoadOrder) -> BoxFuture<'_, Result<Loaded, ContractAdminError>>;

    /// Makes a loaded version live, once every gateway has it ready: a rollback, or a release of what was loaded before.
    fn activate(&self, digest: Digest, by: Actor, when: GoLive)
    -> BoxFuture<'_, Result<Activated, ContractAdminError>>;

    /// Takes an intent out of service; its versions stay loaded.
    fn unload<'a>(&'a self, intent: &'a str, by: Actor) -> BoxFuture<'a, Result<(), ContractAdminError>>;

    /// No longer wants the version that an intent waits for.
    fn withdraw<'a>(&'a self, intent: &'a str, by: Actor) -> BoxFuture<'a, Result<(), ContractAdminError>>;

    /// Says what new versions of an intent do that are found in a folder.
    fn set_policy<'a>(
        &'a self,
        intent: &'a str,
        policy: ReleasePolicy,
        by: Actor,
    ) -> BoxFuture<'a, Result<(), ContractAdminError>>;

    /// What is wanted of each intent, and what each gateway has of it; of one intent alone if given.
    fn status<'a>(&'a self, intent: Option<&'a str>) -> BoxFuture<'a, Result<Vec<IntentStatus>, ContractAdminError>>;

    /// A component of the catalogue, retired ones included; none where nothing is left of it.
    fn component(&self, digest: Digest) -> BoxFuture<'_, Result<Option<bytes::Bytes>, ContractAdminError>>;

    /// The names of the trusted keys that have signed a version of the catalogue, a retired one included.
    fn signers(&self, _digest: Digest) -> Vec<String> {
        Vec::new()
    }

    /// The latest failures of this gateway, newest first.
    fn failures(&self) -> Vec<LoadFailure>;

    /// What is in the catalogue and could not be made ready here, sorted by intent. Those that ought to serve are what this
    /// gateway lacks.
    fn missing(&self) -> Vec<MissingVersion>;
}

/// The way of components into the catalogue, for whoever finds them somewhere.
pub trait ContractIntake: Send + Sync {
    /// What is known of a component that is in the catalogue and ready here.
    fn find(&self, digest: Digest) -> Option<LoadedVersion>;

    /// The version that is wanted to serve an intent.
    fn live_version(&self, intent: &IntentId) -> Option<Version>;

    /// Whether a new version of an intent may go live because it was found.
    fn standing(&self, intent: &IntentId) -> IntakeStanding;

    /// Examines a component; what does not pass is among the failures then.
    fn examine<'a>(
        &'a self,
        component: bytes::Bytes,
        origin: &'a Origin,
        by: &'a Actor,
    ) -> BoxFuture<'a, Result<Arc<dyn Contract>, ContractAdminError>>;

    /// Takes an examined component, as [`ContractAdmin::load`] does.
    fn take(
        &self,
        contract: Arc<dyn Contract>,
        component: bytes::Bytes,
        order: LoadOrder,
    ) -> BoxFuture<'_, Result<Loaded, ContractAdminError>>;

    /// Notes a component that could not be read, for the list of failures.
    fn note_unreadable(&self, refused: RefusedComponent, origin: Origin);
}

/// Runs contracts: what the catalogue needs of whoever does.
pub trait ContractRuntime: Send + Sync {
    /// Examines a component from end to end, for an account: recognises and compiles it, compares it with the interface, runs its
    /// own examples. It does not serve by that. Dropped, it stops.
    fn examine<'a>(
        &'a self,
        component: bytes::Bytes,
        by: &'a Actor,
    ) -> BoxFuture<'a, Result<Arc<dyn Contract>, NotExamined>>;

    /// The same for a component whose compiled form is kept here; none where it is not, or cannot be used.
    fn take_up(&self, digest: Digest) -> BoxFuture<'_, Option<Arc<dyn Contract>>>;

    /// Keeps the compiled form of a version that somebody holds, so that it can be taken up after a restart. Where that fails,
    /// it is compiled again.
    fn keep(&self, digest: Digest) -> BoxFuture<'_, ()>;

    /// A component that lies where this gateway takes contracts from.
    fn find_spare(&self, digest: Digest) -> BoxFuture<'_, Option<bytes::Bytes>>;

    /// From here on exactly this is loaded, and serves. Versions that nobody holds are left out, and compiled forms of others
    /// are not kept any more.
    fn serve(&self, intents: Vec<ServedIntent>) -> BoxFuture<'_, ()>;

    /// Calls of a version.
    fn counts(&self, digest: Digest) -> CallCounts;

    /// Forgets past faults of a version: somebody decided that it serves (again).
    fn absolve(&self, digest: Digest);

    /// While the gateway starts: this version is taken up next, the `number`th of `of`.
    fn announce(&self, name: String, number: usize, of: usize);
}

/// Why a partner that lists the intent is not called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum LeftOut {
    /// It does not serve the place.
    OutsideServiceArea,
    /// It is closed at the hour that counts.
    ClosedAtHour,
    /// More partners would do than one search may call.
    FanOutLimit,
    /// It has been too slow for the intent of late.
    TooSlow,
    /// Its server is down.
    Down,
    /// It has asked to slow down.
    BackedOff,
    /// A rate is used up: the contract's for the tool, or the user's own.
    RateLimited,
}

impl LeftOut {
    /// Whether the partner might have answered, and may do so again in a while.
    #[must_use]
    pub fn is_passing(self) -> bool {
        matches!(self, Self::TooSlow | Self::Down | Self::BackedOff | Self::RateLimited)
    }
}

impl From<NotCalled> for LeftOut {
    fn from(why: NotCalled) -> Self {
        match why {
            NotCalled::BackOff => Self::BackedOff,
            NotCalled::PartnerRate | NotCalled::UserRate | NotCalled::Crowded => Self::RateLimited,
            NotCalled::Down => Self::Down,
        }
    }
}

/// Who is called for a search, and who is not.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// To be called.
    pub chosen: Vec<Arc<Partner>>,
    /// Not called, with the reason: at most [`LEFT_OUT_REPORTED_MAX`](crate::limits::LEFT_OUT_REPORTED_MAX).
    pub left_out: Vec<(Arc<Partner>, LeftOut)>,
    /// How many more list the intent and are not called.
    pub left_out_more: usize,
}

/// The partners that the gateway knows.
pub trait PartnerDirectory: Send + Sync {
    /// The live partners that list the intent, serve the place and are open at the hour that counts; see
    /// `selection`.
    fn select(&self, intent: &str, need: &Need, now: Timestamp) -> Selection;

    /// A partner by its identifier.
    fn find(&self, id: &PartnerId) -> Option<Arc<Partner>> {
        self.all().into_iter().find(|partner| partner.id == *id)
    }

    /// A partner whose server is known, whether requests are routed to it or not, with every intent that was accepted of it.
    /// For what users have booked there already: nothing new is asked of a partner that is not routed.
    fn find_known(&self, id: &PartnerId) -> Option<Arc<Partner>> {
        self.find(id)
    }

    /// All partners, sorted by identifier.
    fn all(&self) -> Vec<Arc<Partner>>;
}

/// One tool call to one partner.
#[derive(Clone, Copy, Debug)]
pub struct ToolCall<'a> {
    /// The intent that the call serves: intents of one shape share the names of their tools.
    pub intent: &'a str,
    pub tool: &'a str,
    /// The arguments, a JSON object.
    pub arguments: &'a str,
    /// The user's own token, where there is one.
    pub bearer: Option<&'a Secret>,
    /// Everything, connecting included, must be over within this time.
    pub timeout: Duration,
    /// The request that it belongs to, where it serves one.
    pub trace: Option<&'a Trace>,
    /// Where the partner's words before its answer go; each of them begins the time anew that it may be silent.
    pub progress: Option<&'a Progress<'a>>,
    /// Where its words go that it sends in place of an answer: for that partner and the platform team alone.
    pub error_text: Option<&'a ErrorText>,
}

impl<'a> ToolCall<'a> {
    /// A call for nobody in particular.
    #[must_use]
    pub fn new(intent: &'a str, tool: &'a str, arguments: &'a str, timeout: Duration) -> Self {
        Self { intent, tool, arguments, bearer: None, timeout, trace: None, progress: None, error_text: None }
    }
}

/// A partner's answer: the text content of the tool result, not yet looked into.
#[derive(Clone, Debug)]
pub struct ToolAnswer {
    /// JSON text, as the partner wrote it.
    pub text: String,
    /// Items of a wrapped API's answer of which its mapping could make nothing. Where they are options, they cost nothing
    /// but themselves; of any other answer they are the whole.
    pub unmapped: Vec<UnmappedItem>,
}

impl ToolAnswer {
    /// What a partner wrote itself.
    #[must_use]
    pub fn of(text: String) -> Self {
        Self { text, unmapped: Vec::new() }
    }
}

/// What a mapping made of a wrapped API's answer.
impl From<MappedPayload> for ToolAnswer {
    fn from(MappedPayload { payload, unmapped }: MappedPayload) -> Self {
        Self { text: payload.to_string(), unmapped }
    }
}

/// Calls partners' tools.
pub trait PartnerCalls: Send + Sync {
    /// Calls one tool. Never takes longer than the call's timeout.
    fn call<'a>(
        &'a self,
        partner: &'a Arc<Partner>,
        call: ToolCall<'a>,
    ) -> BoxFuture<'a, Result<ToolAnswer, CallFailure>>;
}

/// Waits. A port, so that tests run in virtual time.
pub trait Timer: Send + Sync {
    /// Is ready when so much time has passed.
    fn wait(&self, time: Duration) -> BoxFuture<'static, ()>;
}

/// Is told when a partner's health changes.
pub trait HealthLog: Send + Sync {
    /// Takes the change. Never waits.
    fn note_change(&self, event: HealthEvent);
}

/// Looks at a partner without calling any of its tools.
pub trait PartnerProbe: Send + Sync {
    /// Whether an endpoint is one that the gateway may call at all, as far as that shows without asking anybody:
    /// HTTPS, and no address that is not public.
    ///
    /// # Errors
    /// [`CallFailure::AddressRefused`] with the reason.
    fn admits(&self, endpoint: &Endpoint) -> Result<(), CallFailure>;

    /// Probes a partner over a connection of its own. A failed probe is a record too.
    fn probe<'a>(&'a self, request: ProbeRequest<'a>) -> BoxFuture<'a, ProbeRecord>;
}

/// Fetches pages to see whether they are live.
pub trait PageFetch: Send + Sync {
    /// Fetches one page over HTTPS, from public addresses alone, redirects included.
    fn fetch<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<FetchedPage, CallFailure>>;
}

/// Records what searches show of partners, and what was ranked.
///
/// It is kept a moment later, for no search waits for the disk: a crash may cost the last moment's. Findings of completion
/// reports do not go this way: they are kept together with the entry in the ledger (see
/// `Booking`).
pub trait Journal: Send + Sync {
    /// Records a finding. Never waits; when more come than can be kept, some are counted and lost.
    fn record(&self, finding: Finding);

    /// Records a receipt, likewise, under a mark of the user who asked. Who hands it in may hold it as well.
    fn keep_shared(&self, receipt: Arc<Receipt>, user: Option<&User>);

    /// The same for a receipt that nobody else holds.
    fn keep(&self, receipt: Receipt, user: Option<&User>) {
        self.keep_shared(Arc::new(receipt), user);
    }

    /// What becomes of a receipt that is recorded now.
    fn receipt_fate(&self) -> ReceiptFate {
        ReceiptFate::KeptSoon
    }

    /// Whether, within this long before now, receipts came late or the store took none: what was recorded before may still
    /// be on its way.
    fn was_late_within(&self, _span: Duration) -> bool {
        false
    }

    /// What is not kept at the moment, since the disk is nearly full.
    fn is_shedding(&self) -> Shed {
        Shed::Nothing
    }

    /// Is ready when all that was recorded before is kept, or lost: true. False where the store has taken nothing for as long as
    /// somebody waits for an answer.
    fn settle(&self) -> BoxFuture<'_, bool> {
        Box::pin(std::future::ready(true))
    }
}

/// What is expected to become of a receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiptFate {
    /// It is kept within moments.
    KeptSoon,
    /// It is kept, but may come later than a booking waits for it: more comes than the store takes at once.
    KeptLate,
    /// It may never be kept: the store takes nothing, or is short of room.
    Doubtful,
}

/// What is kept of findings and rankings.
pub trait Evidence: Send + Sync {
    /// The findings against a partner that are asked for, newest first.
    fn findings<'a>(&'a self, query: FindingQuery<'a>) -> BoxFuture<'a, Result<Vec<KeptFinding>, StoreError>>;

    /// The findings about an order, newest first, among the latest
    /// [`LOOKED_THROUGH_MAX`](crate::findings::LOOKED_THROUGH_MAX) against its partner.
    fn findings_about<'a>(&'a self, about: FindingsAbout<'a>) -> BoxFuture<'a, Result<Vec<KeptFinding>, StoreError>>;

    /// How often a partner has broken each rule on each day since a time, the latest day first; at most
    /// [`COUNTS_MAX`](crate::findings::COUNTS_MAX) rows.
    fn counts<'a>(
        &'a self,
        partner: &'a PartnerId,
        since: Timestamp,
    ) -> BoxFuture<'a, Result<Vec<RuleCount>, StoreError>>;

    /// The findings that are strikes, against all partners, in order of their number: those with a number above `after`
    /// that were found at `since` or later, at most `limit`. Of two, the one kept first has the lower number and is
    /// seen first, whichever process has kept it: whoever remembers the last number misses none.
    fn strikes(&self, after: u64, since: Timestamp, limit: u32) -> BoxFuture<'_, Result<Vec<KeptFinding>, StoreError>>;

    /// A receipt by its identifier, or that it is erased.
    fn receipt<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<KeptReceipt>, StoreError>>;

    /// One option as a partner gave it to a ranking; none where it is not kept (any more), or was not shown.
    fn option<'a>(
        &'a self,
        receipt: &'a str,
        partner: &'a PartnerId,
        number: u32,
    ) -> BoxFuture<'a, Result<Option<Box<RawValue>>, StoreError>> {
        Box::pin(async move {
            let receipt = self.receipt(receipt).await?.and_then(KeptReceipt::whole);
            Ok(receipt.and_then(|receipt| receipt.shown_option(partner, number).map(ToOwned::to_owned)))
        })
    }

    /// Identifiers of an intent's latest receipts, newest first, at most `limit`. Looked for among the latest
    /// [`RECEIPTS_LOOKED_THROUGH_MAX`](crate::receipt::RECEIPTS_LOOKED_THROUGH_MAX) of all intents.
    fn recent_receipts<'a>(
        &'a self,
        intent: &'a IntentId,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<String>, StoreError>>;

    /// Identifiers of the receipts of a request, newest first, at most `limit`.
    fn receipts_of<'a>(&'a self, request_id: &'a str, limit: u32) -> BoxFuture<'a, Result<Vec<String>, StoreError>>;

    /// An intent's receipts since a time, from `before` back, the one that was kept last first: a page of a few, or of none though
    /// others follow. Erased ones are left out, and so are those that cannot be read, which the log tells.
    fn receipts_back<'a>(
        &'a self,
        intent: &'a IntentId,
        since: Timestamp,
        before: Option<u64>,
    ) -> BoxFuture<'a, Result<ReceiptsBack, StoreError>>;

    /// Forgets findings and receipts from before a time; how many there were.
    fn forget(&self, before: Timestamp) -> BoxFuture<'_, Result<u64, StoreError>>;
}

/// Records faults of contracts.
pub trait FaultLog: Send + Sync {
    /// Records a fault. Never waits; of a burst the first of each kind is kept, and the others are counted
    /// (see [`BURST_MS`](crate::faults::BURST_MS)).
    fn note(&self, fault: FaultNote<'_>);
}

/// A fault with its input, where that is kept.
pub type SealedFault = (KeptFault, Option<Sealed>);

/// What is kept of faults of contracts.
pub trait Faults: Send + Sync {
    /// The faults that are asked for, newest first.
    fn faults<'a>(&'a self, query: FaultQuery<'a>) -> BoxFuture<'a, Result<Vec<KeptFault>, StoreError>>;

    /// A fault by its number, with its input where that is kept.
    fn fault(&self, number: u64) -> BoxFuture<'_, Result<Option<SealedFault>, StoreError>>;

    /// Forgets faults from before a time; how many there were.
    fn forget_faults(&self, before: Timestamp) -> BoxFuture<'_, Result<u64, StoreError>>;
}

/// Sends mail.
pub trait Mailer: Send + Sync {
    /// Hands one mail over. Success means that the next server has taken it, or that it is in the outbox; whether
    /// it is ever read, nobody can tell.
    fn send<'a>(&'a self, mail: &'a Mail) -> BoxFuture<'a, Result<(), MailError>>;
}

/// Where a user signs in at a partner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInLink {
    /// An address for this user's browser alone, good for a short while.
    pub url: String,
    /// What the page there shows as well: a user who sees another one, or was told none, was sent somebody else's link.
    pub code: String,
}

/// The tokens that users have obtained at partners. One user's token is never given out for another user or partner.
pub trait UserTokens: Send + Sync {
    /// The user's token at a partner, refreshed where its time is nearly over. None where the user has not linked the
    /// account there, or has to do so anew.
    ///
    /// # Errors
    /// When nobody can say: the store or the authorization server cannot be reached. The call is then not made.
    fn token<'a>(&'a self, partner: &'a Partner, user: &'a User) -> BoxFuture<'a, Result<Option<Secret>, CallFailure>>;

    /// The partner did not accept a token that was given out: the one that has replaced it, by refreshing if need be.
    ///
    /// # Errors
    /// As [`token`](Self::token).
    fn replace_token<'a>(
        &'a self,
        partner: &'a Partner,
        user: &'a User,
        refused: &'a Secret,
    ) -> BoxFuture<'a, Result<Option<Secret>, CallFailure>>;

    /// Where the user links the account. None where linking is not set up here.
    fn link(&self, partner: &PartnerId, user: &User, challenge: Option<&str>) -> Option<SignInLink>;
}

/// Which authorization servers partners may send users to.
pub trait SignInServers: Send + Sync {
    /// A partner's server has named an authorization server: whether users may be sent there. Where nobody can say, they may
    /// not.
    fn admit<'a>(&'a self, partner: &'a Partner, named: &'a SignInServer) -> BoxFuture<'a, bool>;
}

/// Nobody has linked anything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unlinked;

impl UserTokens for Unlinked {
    fn token<'a>(&'a self, _: &'a Partner, _: &'a User) -> BoxFuture<'a, Result<Option<Secret>, CallFailure>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    fn replace_token<'a>(
        &'a self,
        _: &'a Partner,
        _: &'a User,
        _: &'a Secret,
    ) -> BoxFuture<'a, Result<Option<Secret>, CallFailure>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    fn link(&self, _: &PartnerId, _: &User, _: Option<&str>) -> Option<SignInLink> {
        None
    }
}

/// A directory whose partners are replaced as a whole, when it is decided anew who is routed.
pub trait PartnerIndex: PartnerDirectory {
    /// From here on these are the live partners, and those whose server is known. A search under way keeps whom it has
    /// chosen.
    fn replace(&self, live: Vec<Arc<Partner>>, known: Vec<Arc<Partner>>);
}

/// Who is, or was, a partner that users were routed to.
pub trait Standings: Send + Sync {
    /// Whether a partner was ever live: it is configured, or its connection was once switched on.
    fn was_ever_live<'a>(&'a self, partner: &'a PartnerId) -> BoxFuture<'a, Result<bool, StoreError>>;
}

/// The names under which partners have signed up.
pub trait BusinessNames: Send + Sync {
    /// The business name of a partner; none where it has no account.
    fn business_name<'a>(&'a self, partner: &'a PartnerId) -> BoxFuture<'a, Result<Option<String>, StoreError>>;
}
