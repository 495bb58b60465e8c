//! The answer to a search: the hot path. It borrows from the outcome, and options and cards are embedded as the raw text
//! that they came as.

use std::borrow::Cow;

use intent_gateway_domain::contract::{Axes, Violation};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::platform_code::PlatformCode;
use intent_gateway_domain::ports::LeftOut;
use intent_gateway_routing::search::{DroppedChoice, PartnerOutcome, PartnerStatus, RankedChoice, SearchOutcome};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::intents::{ContractVersion, WidgetChoice};
use crate::time;

/// The receipt, among what is not kept.
const RECEIPT: &str = "receipt";
/// What an answer takes around its options, bytes; an estimate, so that the buffer seldom grows.
const ANSWER_FRAME_BYTES: usize = 2 * 1024;
/// What an option takes around its own text, card and reference, bytes; likewise.
const OPTION_FRAME_BYTES: usize = 400;

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
    /// What of the search is not expected to be kept, because the gateway's store is down: `receipt`, so that the ranking can be
    /// neither replayed nor compared with what was booked. Options can be booked all the same. Absent when all is kept.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    not_kept: &'static [&'static str],
    /// What to show the cards with.
    widget: WidgetChoice<'a>,
    /// Why there is no option: `NO_PARTNER_ANSWERED`, or the intent's own code. Null when there are options, and where the intent has no
    /// code for that.
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
    notes: &'a [Violation],
}

/// One ranked option.
#[derive(Serialize, ToSchema)]
pub(crate) struct SearchOption<'a> {
    /// Signed; what to book by.
    reference: &'a str,
    /// Whether the partner keeps the option, as it was quoted, until `bookable_until`. Where not, a booking may be tried
    /// until then, and the partner may answer that the option is gone.
    bookable: bool,
    /// Until when it can be booked; a time that has passed where it no longer can.
    bookable_until: String,
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
    violations: &'a [Violation],
}

/// How a partner took part in a search.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Participation {
    /// It answered.
    Answered,
    /// Its answer could not be had or used.
    Failed,
    /// It was not called.
    LeftOut,
}

/// What one partner did in a search.
#[derive(Serialize, ToSchema)]
pub(crate) struct PartnerReport<'a> {
    /// Its identifier.
    partner: &'a str,
    /// Its display name.
    name: &'a str,
    /// How it took part.
    status: Participation,
    /// Options in its answer, before any was dropped.
    options: usize,
    /// What is wrong with its answer as a whole without sinking it.
    notes: &'a [Violation],
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
    /// The code that the page there shows, for the assistant to tell its user beforehand.
    #[schema(required)]
    link_code: Option<&'a str>,
}

impl<'a> From<&'a SearchOutcome> for SearchAnswer<'a> {
    fn from(outcome: &'a SearchOutcome) -> Self {
        let contract = &*outcome.contract.0;
        let descriptor = contract.descriptor();
        Self {
            request_id: &outcome.request_id,
            intent: descriptor.intent.as_str(),
            contract: ContractVersion::of(contract),
            receipt: outcome.receipt.as_deref(),
            not_kept: if outcome.is_receipt_kept { &[] } else { &[RECEIPT] },
            widget: WidgetChoice::from(&descriptor.widget),
            code: outcome.code.as_deref(),
            options: outcome.options.iter().map(SearchOption::from).collect(),
            dropped: outcome.dropped.iter().map(Dropped::from).collect(),
            partners: outcome.partners.iter().map(PartnerReport::from).collect(),
            left_out_more: outcome.left_out_more,
            notes: &outcome.notes,
        }
    }
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl SearchAnswer<'_> {
    /// About how long the answer is, bytes.
    pub fn estimate_bytes(&self) -> usize {
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
            bookable_until: time(choice.bookable_until),
            partner: choice.partner.id.as_str(),
            card: &choice.ranked.card,
            option: &choice.option,
            total: choice.ranked.total,
            axes: choice.ranked.axes,
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
            violations: &dropped.violations,
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
            notes: &[],
            code: None,
            message: None,
            elapsed_ms: elapsed,
            link_url: outcome.link.as_ref().map(|link| link.url.as_str()),
            link_code: outcome.link.as_ref().map(|link| link.code.as_str()),
        };
        match &outcome.status {
            PartnerStatus::Answered { options, notes } => Self { options: *options, notes, ..report },
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
        // What a partner wrote in an error, in a value or as a name reaches that partner and the platform team, nobody else.
        CallFailure::Payload(_) => "the payload is not valid".into(),
        CallFailure::Forbidden(_) => "the payload holds a forbidden field outside its options".into(),
        CallFailure::Platform { code, .. } => format!("the partner answered with the error {code}").into(),
        CallFailure::UnknownCode { .. } => "the partner answered with an error that has no known code".into(),
        CallFailure::Timeout(_)
        | CallFailure::Redirect(_)
        | CallFailure::HttpStatus(_)
        | CallFailure::Unauthorized
        | CallFailure::SignInRequired { .. }
        | CallFailure::RateLimited { .. }
        | CallFailure::BodyTooLarge(_)
        | CallFailure::Busy
        | CallFailure::NotCalled { .. } => failure.to_string().into(),
    }
}

/// Code and words for a partner that was not called.
pub fn left_out(reason: LeftOut) -> (&'static str, &'static str) {
    match reason {
        LeftOut::OutsideServiceArea => ("OUTSIDE_SERVICE_AREA", "it does not serve the place"),
        LeftOut::ClosedAtHour => ("CLOSED_AT_HOUR", "it is closed at the hour asked for"),
        LeftOut::FanOutLimit => ("FAN_OUT_LIMIT", "more partners would do than one search may call"),
        LeftOut::TooSlow => ("TOO_SLOW", "it has been too slow of late"),
        LeftOut::Down => ("PARTNER_DOWN", "its server is down"),
        LeftOut::BackedOff => ("BACKED_OFF", "it has asked to slow down"),
        LeftOut::RateLimited => {
            (PlatformCode::RateLimited.as_str(), "it is not called more often than its rate or the user's allows")
        }
    }
}
