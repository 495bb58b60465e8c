//! The bodies that this crate writes itself, borrowed from the domain's own values.
//!
//! The search answer is the hot path: options and cards are embedded as the raw text they arrived as, and the
//! whole is written once, into one buffer of about the right size.

use std::borrow::Cow;

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use intent_gateway_domain::contract::{self, Descriptor};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::partner::{Listing, Partner};
use intent_gateway_domain::ports::{Contract, LeftOut};
use intent_gateway_routing::search::{DroppedChoice, PartnerOutcome, PartnerStatus, RankedChoice, SearchOutcome};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::body::JSON;
use crate::error::{Code, Refusal};

/// What an answer takes around its options, bytes; an estimate, so that the buffer seldom grows.
const ANSWER_FRAME_BYTES: usize = 2 * 1024;
/// What an option takes around its own text, card and reference, bytes; likewise.
const OPTION_FRAME_BYTES: usize = 320;
/// A buffer for the small answers, bytes.
pub(crate) const SMALL_BYTES: usize = 1024;

/// Writes a body as JSON into a buffer of the capacity given.
pub(crate) fn json(status: StatusCode, body: &impl Serialize, capacity: usize) -> Result<Response, Refusal> {
    let mut bytes = Vec::with_capacity(capacity);
    serde_json::to_writer(&mut bytes, body)
        .map_err(|error| Refusal::new(Code::InternalError).internal(format!("an answer did not serialise: {error}")))?;
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
    Ok(response)
}

/// One breach of one rule at one place.
#[derive(Serialize, ToSchema)]
pub struct Violation<'a> {
    /// JSON Pointer (RFC 6901) into the document that was judged; the empty text is the whole of it.
    pointer: &'a str,
    /// Stable code in UPPER_SNAKE_CASE.
    code: &'a str,
    /// One sentence for a person.
    message: &'a str,
}

impl<'a> From<&'a contract::Violation> for Violation<'a> {
    fn from(violation: &'a contract::Violation) -> Self {
        Self { pointer: &violation.pointer, code: &violation.code, message: &violation.message }
    }
}

pub(crate) fn violations(violations: &[contract::Violation]) -> Vec<Violation<'_>> {
    violations.iter().map(Violation::from).collect()
}

/// One number for each TTBS axis, each 0 to 1.
#[derive(Serialize, ToSchema)]
pub struct Axes {
    /// Speed of fulfilment.
    time: f64,
    /// Quality and curation.
    taste: f64,
    /// Value for money.
    budget: f64,
    /// Trust and verification.
    safety: f64,
}

impl From<contract::Axes> for Axes {
    fn from(contract::Axes { time, taste, budget, safety }: contract::Axes) -> Self {
        Self { time, taste, budget, safety }
    }
}

/// The contract version that served a call.
#[derive(Serialize, ToSchema)]
pub struct ContractVersion {
    /// Semantic version.
    #[schema(example = "1.0.0")]
    pub(crate) version: String,
    /// SHA-256 of the component, 64 hexadecimal characters.
    #[schema(value_type = String)]
    pub(crate) digest: Digest,
}

/// The widget that shows the options.
#[derive(Serialize, ToSchema)]
pub struct WidgetChoice<'a> {
    /// Widget type to render today.
    widget_type: &'a str,
    /// The planned widget, to be used as soon as it exists.
    #[schema(required)]
    preferred: Option<&'a str>,
}

impl<'a> From<&'a contract::Widget> for WidgetChoice<'a> {
    fn from(widget: &'a contract::Widget) -> Self {
        Self { widget_type: &widget.widget_type, preferred: widget.preferred.as_deref() }
    }
}

/// The answer to a search.
#[derive(Serialize, ToSchema)]
pub struct SearchAnswer<'a> {
    /// The `request_id` of the body, or the one given to the request where the body has none.
    request_id: &'a str,
    /// The intent.
    intent: &'a str,
    /// The contract version that checked the request, ranked the options and mapped the cards.
    contract: ContractVersion,
    /// Identifier of the ranking's receipt, to name to the platform team when a ranking is in doubt; null where no
    /// partner gave anything to rank.
    #[schema(required)]
    receipt: Option<&'a str>,
    /// What to show the cards with.
    widget: WidgetChoice<'a>,
    /// Why there is no option: the intent's own code, or `NO_PARTNER_ANSWERED`. Null when there are options.
    #[schema(required)]
    code: Option<&'a str>,
    /// Best first.
    options: Vec<SearchOption<'a>>,
    /// Options that were taken out, with every reason.
    dropped: Vec<Dropped<'a>>,
    /// What each partner did, sorted by identifier. Of those left out, the first 32.
    partners: Vec<PartnerReport<'a>>,
    /// How many more partners list the intent and were left out; absent when `partners` names all.
    #[serde(skip_serializing_if = "is_zero")]
    left_out_more: usize,
    /// Advice on the request that refuses nothing.
    notes: Vec<Violation<'a>>,
}

/// One ranked option.
#[derive(Serialize, ToSchema)]
pub struct SearchOption<'a> {
    /// Opaque; what to book by.
    reference: &'a str,
    /// Whether the partner committed to keep the option bookable, and still does.
    bookable: bool,
    /// Identifier of the partner that offers it.
    partner: &'a str,
    /// The card for the widget.
    #[schema(value_type = Object)]
    card: &'a RawValue,
    /// The option as the partner wrote it.
    #[schema(value_type = Object)]
    option: &'a RawValue,
    /// What the order follows, 0 to 1.
    total: f64,
    /// Scores by axis.
    axes: Axes,
    /// How much of what an option may say it says, 0 to 1.
    completeness: f64,
}

/// One option that was taken out.
#[derive(Serialize, ToSchema)]
pub struct Dropped<'a> {
    /// Identifier of the partner that offered it.
    partner: &'a str,
    /// Its position in the partner's answer, from 0.
    position: usize,
    /// Its own identifier, where one could be read.
    #[schema(required)]
    option_id: Option<&'a str>,
    /// Whether it counts towards the partner's suspension.
    strike: bool,
    /// Every reason; pointers are into the option.
    violations: Vec<Violation<'a>>,
}

/// How a partner took part in a search.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Participation {
    /// It answered.
    Answered,
    /// Its answer could not be had or used.
    Failed,
    /// It was not called.
    LeftOut,
}

/// What one partner did in a search.
#[derive(Serialize, ToSchema)]
pub struct PartnerReport<'a> {
    /// Its identifier.
    partner: &'a str,
    /// Its display name.
    name: &'a str,
    /// How it took part.
    status: Participation,
    /// Options in its answer, before any was dropped.
    options: usize,
    /// What is wrong with its answer as a whole without sinking it.
    notes: Vec<Violation<'a>>,
    /// Why it failed or was left out.
    #[schema(required)]
    code: Option<&'a str>,
    /// The same in words.
    #[schema(required)]
    message: Option<Cow<'a, str>>,
    /// How long its call took, milliseconds; null when it was not called.
    #[schema(required)]
    elapsed_ms: Option<u64>,
    /// Where the user signs in, where the partner asks for that: an address for the user's browser.
    #[schema(required)]
    link_url: Option<&'a str>,
}

impl<'a> From<&'a SearchOutcome> for SearchAnswer<'a> {
    fn from(outcome: &'a SearchOutcome) -> Self {
        let contract = &*outcome.contract;
        let descriptor = contract.descriptor();
        Self {
            request_id: &outcome.request_id,
            intent: descriptor.intent.as_str(),
            contract: ContractVersion { version: descriptor.version.to_string(), digest: contract.digest() },
            receipt: outcome.receipt.as_deref(),
            widget: WidgetChoice::from(&descriptor.widget),
            code: outcome.code.as_deref(),
            options: outcome.options.iter().map(SearchOption::from).collect(),
            dropped: outcome.dropped.iter().map(Dropped::from).collect(),
            partners: outcome.partners.iter().map(PartnerReport::from).collect(),
            left_out_more: outcome.left_out_more,
            notes: violations(&outcome.notes),
        }
    }
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl SearchAnswer<'_> {
    /// About how long the answer is, bytes.
    pub(crate) fn estimate_bytes(&self) -> usize {
        let options = self.options.iter().map(|option| {
            option.reference.len() + option.card.get().len() + option.option.get().len() + OPTION_FRAME_BYTES
        });
        let others = self.dropped.len() + self.partners.len();
        options.sum::<usize>() + others * OPTION_FRAME_BYTES + ANSWER_FRAME_BYTES
    }
}

impl<'a> From<&'a RankedChoice> for SearchOption<'a> {
    fn from(choice: &'a RankedChoice) -> Self {
        Self {
            reference: &choice.reference,
            bookable: choice.bookable,
            partner: choice.partner.id.as_str(),
            card: &choice.ranked.card,
            option: &choice.option,
            total: choice.ranked.total,
            axes: choice.ranked.axes.into(),
            completeness: choice.ranked.completeness,
        }
    }
}

impl<'a> From<&'a DroppedChoice> for Dropped<'a> {
    fn from(dropped: &'a DroppedChoice) -> Self {
        Self {
            partner: dropped.partner.id.as_str(),
            position: dropped.position,
            option_id: dropped.option_id.as_deref(),
            strike: dropped.strike,
            violations: violations(&dropped.violations),
        }
    }
}

impl<'a> From<&'a PartnerOutcome> for PartnerReport<'a> {
    fn from(outcome: &'a PartnerOutcome) -> Self {
        let elapsed = outcome.elapsed.map(|elapsed| u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX));
        let report = Self {
            partner: outcome.partner.id.as_str(),
            name: &outcome.partner.name,
            status: Participation::Answered,
            options: 0,
            notes: Vec::new(),
            code: None,
            message: None,
            elapsed_ms: elapsed,
            link_url: outcome.link.as_deref(),
        };
        match &outcome.status {
            PartnerStatus::Answered { options, notes } => {
                Self { options: *options, notes: violations(notes), ..report }
            }
            PartnerStatus::Failed(failure) => Self {
                status: Participation::Failed,
                code: Some(failure.code()),
                message: Some(public_message(failure)),
                ..report
            },
            PartnerStatus::LeftOut(reason) => {
                let (code, message) = left_out(*reason);
                Self { status: Participation::LeftOut, code: Some(code), message: Some(message.into()), ..report }
            }
        }
    }
}

/// A failure in words that tell nothing of the gateway's network; the log has the rest.
fn public_message(failure: &CallFailure) -> Cow<'_, str> {
    match failure {
        CallFailure::Unreachable(_) => "not reachable".into(),
        CallFailure::AddressRefused(_) => "its address is not one that the gateway may call".into(),
        CallFailure::Protocol(_) => "the answer breaks the protocol".into(),
        CallFailure::Timeout(_)
        | CallFailure::Redirect(_)
        | CallFailure::HttpStatus(_)
        | CallFailure::Unauthorized
        | CallFailure::SignInRequired { .. }
        | CallFailure::RateLimited { .. }
        | CallFailure::BodyTooLarge(_)
        | CallFailure::Platform { .. }
        | CallFailure::Payload(_)
        | CallFailure::Forbidden(_)
        | CallFailure::Busy
        | CallFailure::NotCalled { .. } => failure.to_string().into(),
    }
}

/// Code and words for a partner that was not called.
pub(crate) fn left_out(reason: LeftOut) -> (&'static str, &'static str) {
    match reason {
        LeftOut::OutsideServiceArea => ("OUTSIDE_SERVICE_AREA", "it does not serve the place"),
        LeftOut::ClosedAtHour => ("CLOSED_AT_HOUR", "it is closed at the hour asked for"),
        LeftOut::FanOutLimit => ("FAN_OUT_LIMIT", "more partners would do than one search may call"),
        LeftOut::TooSlow => ("TOO_SLOW", "it has been too slow of late"),
        LeftOut::Down => ("PARTNER_DOWN", "its server is down"),
        LeftOut::BackedOff => ("BACKED_OFF", "it has asked to slow down"),
        LeftOut::RateLimited => ("RATE_LIMITED", "it is not called more often than its rate or the user's allows"),
    }
}

/// The live intents.
#[derive(Serialize, ToSchema)]
pub struct IntentList<'a> {
    /// Sorted by intent.
    pub(crate) intents: Vec<IntentSummary<'a>>,
}

/// One live intent.
#[derive(Serialize, ToSchema)]
pub struct IntentSummary<'a> {
    /// `<domain>.<name>`.
    #[schema(example = "auto.book_ac_service")]
    intent: &'a str,
    /// Semantic version of the live contract.
    version: String,
    /// SHA-256 of its component.
    #[schema(value_type = String)]
    digest: Digest,
    /// Namespace of the intent.
    domain: &'a str,
    /// Primary agent.
    agent: &'a str,
    /// A few words.
    title: &'a str,
    /// One or two sentences: what the user gets.
    summary: &'a str,
    /// Domain weights; they sum to 1.
    weights: Axes,
    /// What to show the cards with.
    widget: WidgetChoice<'a>,
    /// Intents that are proposed together with this one.
    pairs: &'a [String],
    /// Most options that one partner may offer.
    max_options: u32,
    /// JSON Schema (2020-12) of a search's body; null when the contract names no such tool.
    #[schema(value_type = Option<Object>, required)]
    request_schema: Option<&'a RawValue>,
}

impl<'a> From<&'a dyn Contract> for IntentSummary<'a> {
    fn from(contract: &'a dyn Contract) -> Self {
        let descriptor: &Descriptor = contract.descriptor();
        let search = descriptor.tool(&descriptor.search.tool);
        Self {
            intent: descriptor.intent.as_str(),
            version: descriptor.version.to_string(),
            digest: contract.digest(),
            domain: &descriptor.domain,
            agent: &descriptor.agent,
            title: &descriptor.title,
            summary: &descriptor.summary,
            weights: descriptor.ranking.weights.into(),
            widget: WidgetChoice::from(&descriptor.widget),
            pairs: &descriptor.pairs,
            max_options: descriptor.search.max_options,
            request_schema: search.map(|tool| &*tool.request_schema),
        }
    }
}

/// One intent in full.
#[derive(Serialize, ToSchema)]
pub struct IntentDetail<'a> {
    /// SHA-256 of the live component.
    #[schema(value_type = String)]
    pub(crate) digest: Digest,
    /// Everything that the contract declares.
    #[serde(flatten)]
    #[schema(value_type = crate::schema::Descriptor)]
    pub(crate) descriptor: &'a Descriptor,
}

/// The partners that the gateway knows.
#[derive(Serialize, ToSchema)]
pub struct PartnerList<'a> {
    /// Sorted by identifier.
    pub(crate) partners: Vec<PartnerEntry<'a>>,
}

/// One partner, as the gateway routes to it.
#[derive(Serialize, ToSchema)]
pub struct PartnerEntry<'a> {
    /// Its identifier.
    id: &'a str,
    /// Its display name.
    name: &'a str,
    /// Where it is called: the address of its MCP server or GraphQL API, the base address of its REST API.
    url: &'a str,
    /// What it lists.
    listings: Vec<ListingEntry<'a>>,
}

/// One intent that a partner lists.
#[derive(Serialize, ToSchema)]
pub struct ListingEntry<'a> {
    /// The intent.
    intent: &'a str,
    /// City names, postal codes, or `IN_ALL`.
    service_area: &'a [String],
    /// Hours of operation in the partner's own words; empty is always.
    availability: &'a str,
    /// The signals that it declares of itself.
    ttbs_signals: Axes,
}

impl<'a> From<&'a Partner> for PartnerEntry<'a> {
    fn from(partner: &'a Partner) -> Self {
        let listing = |listing: &'a Listing| ListingEntry {
            intent: listing.intent.as_str(),
            service_area: &listing.service_area,
            availability: &listing.availability,
            ttbs_signals: listing.declared.into(),
        };
        Self {
            id: partner.id.as_str(),
            name: &partner.name,
            url: partner.endpoint.url(),
            listings: partner.listings.iter().map(listing).collect(),
        }
    }
}
