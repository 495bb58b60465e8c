//! What runs contracts, keeps them and changes them.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use semver::Version;

use crate::audit::Actor;
use crate::contract::{
    About, CallContext, CheckedCompletion, CheckedResponse, Classification, Descriptor, Evaluation, Exchange,
    PastOrder, Payload, PreparedRequest, SearchSample,
};
use crate::digest::Digest;
use crate::error::{ContractError, ContractFault};
use crate::id::IntentId;
use crate::share::Share;
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
