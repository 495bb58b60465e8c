//! Who the partners are, and how they are called.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::Serialize;

use crate::clock::Timestamp;
use crate::contract::Need;
use crate::endpoint::{Endpoint, MappedPayload, UnmappedItem};
use crate::error::{CallFailure, NotCalled};
use crate::error_text::ErrorText;
use crate::health::HealthEvent;
use crate::id::PartnerId;
use crate::partner::Partner;
use crate::probe::{FetchedPage, ProbeRecord, ProbeRequest};
use crate::progress::Progress;
use crate::secret::Secret;
use crate::store::StoreError;
use crate::trace::Trace;

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
