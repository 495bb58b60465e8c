//! The outcome of a search: options, drops, and what each partner did.

use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;

use super::asking::PartnerAnswer;
use crate::pinned::PinnedContract;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{Descriptor, RankedOption, Violation};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{LeftOut, SignInLink};

/// The outcome of a search.
#[derive(Debug)]
pub struct SearchOutcome {
    /// The request's identifier: the caller's own, or the one given to it.
    pub request_id: String,
    /// The contract version that served the whole call.
    pub contract: PinnedContract,
    /// Identifier of the ranking's receipt; absent where no partner gave anything to rank.
    pub receipt: Option<String>,
    /// Whether the receipt is expected to be kept; it is not while the store is down.
    pub is_receipt_kept: bool,
    /// Set when there is no option: the intent's own code for "nothing matches", or [`NO_PARTNER_ANSWERED`].
    pub code: Option<String>,
    /// Best first.
    pub options: Vec<RankedChoice>,
    /// What was taken out.
    pub dropped: Vec<DroppedChoice>,
    /// What each partner did, sorted by identifier.
    pub partners: Vec<PartnerOutcome>,
    /// How many more partners list the intent and were left out.
    pub left_out_more: usize,
    /// Advice on the request.
    pub notes: Vec<Violation>,
}

/// Code of an empty answer when every partner that might have answered failed, or is not called at the moment.
pub const NO_PARTNER_ANSWERED: &str = "NO_PARTNER_ANSWERED";

/// One ranked option.
#[derive(Debug)]
pub struct RankedChoice {
    /// Signed; what to book by.
    pub reference: String,
    /// Whether the partner keeps it, as it was quoted, until that time. Where not, a booking may be tried until then, and
    /// the partner may answer that the option is gone.
    pub bookable: bool,
    /// Until when it can be booked.
    pub bookable_until: Timestamp,
    /// Who offers it.
    pub partner: Arc<Partner>,
    /// Its scores and card.
    pub ranked: RankedOption,
    /// The option as the partner wrote it.
    pub option: Box<RawValue>,
}

/// One option that was taken out.
#[derive(Clone, Debug)]
pub struct DroppedChoice {
    /// Who offered it.
    pub partner: Arc<Partner>,
    /// Its position in the partner's payload.
    pub position: usize,
    /// Its identifier, where one could be read.
    pub option_id: Option<String>,
    /// Counts towards suspension.
    pub strike: bool,
    /// Why; pointers into the option.
    pub violations: Vec<Violation>,
}

/// What one partner did in a search.
#[derive(Debug)]
pub struct PartnerOutcome {
    /// Who.
    pub partner: Arc<Partner>,
    /// What.
    pub status: PartnerStatus,
    /// How long its call took; absent when it was not called.
    pub elapsed: Option<Duration>,
    /// Where the user signs in, where the partner asks for it and linking is set up.
    pub link: Option<SignInLink>,
}

/// Ways in which a partner can take part in a search.
#[derive(Debug)]
pub enum PartnerStatus {
    /// It answered with this many options; envelope notes are advice to it.
    Answered {
        /// Options in its payload.
        options: usize,
        /// What is wrong with the envelope.
        notes: Vec<Violation>,
    },
    /// Its answer could not be had or used.
    Failed(CallFailure),
    /// It was not called.
    LeftOut(LeftOut),
}

/// Why there is no option.
pub(super) fn empty_code(descriptor: &Descriptor, partners: &[PartnerOutcome]) -> Option<String> {
    let missed = partners.iter().any(|outcome| match outcome.status {
        PartnerStatus::Failed(_) => true,
        PartnerStatus::LeftOut(reason) => reason.is_passing(),
        PartnerStatus::Answered { .. } => false,
    });
    let answered = partners.iter().any(|outcome| matches!(outcome.status, PartnerStatus::Answered { .. }));
    if missed && !answered {
        return Some(NO_PARTNER_ANSWERED.to_owned());
    }
    descriptor.search.empty_code.clone()
}

impl PartnerOutcome {
    pub(super) fn of(answer: &PartnerAnswer) -> Self {
        let PartnerAnswer { partner, result, link, elapsed, .. } = answer;
        let status = match result {
            Ok(payload) => PartnerStatus::Answered {
                options: payload.options.len() + payload.unread,
                notes: payload.notes.clone(),
            },
            Err(CallFailure::NotCalled { why, .. }) => PartnerStatus::LeftOut(LeftOut::from(*why)),
            Err(failure) => PartnerStatus::Failed(failure.clone()),
        };
        let elapsed = (!matches!(status, PartnerStatus::LeftOut(_))).then_some(*elapsed);
        Self { partner: partner.clone(), status, elapsed, link: link.clone() }
    }

    pub(super) fn left_out(partner: Arc<Partner>, reason: LeftOut) -> Self {
        Self { partner, status: PartnerStatus::LeftOut(reason), elapsed: None, link: None }
    }
}
