//! Shapes that more than one intent shares (spec 1 and 2).

use crate::ranking::UserBands;
use crate::shape::{Amount, DateTime, HttpsUrl, Inr, Text};
use crate::{CardJson, Shape};
use std::borrow::Cow;

/// A point on the map.
#[derive(Debug, Clone, Copy, PartialEq, Shape)]
pub struct Place {
    /// Latitude in degrees.
    pub lat: f64,
    /// Longitude in degrees.
    pub lng: f64,
}

/// The user's bands. Unknown values count as neutral and are noted ([`crate::code::UNKNOWN_BAND`]), so they are plain texts.
#[derive(Debug, Clone, Default, Shape)]
pub struct TtbsUserBand<'a> {
    /// How soon the user wants it, for example fast.
    pub time: Option<Cow<'a, str>>,
    /// How choosy the user is, for example balanced.
    pub taste: Option<Cow<'a, str>>,
    /// What the user means to spend, for example ok.
    pub budget: Option<Cow<'a, str>>,
    /// How careful the user is, for example good.
    pub safety: Option<Cow<'a, str>>,
}

impl<'r> UserBands<'r> {
    /// The bands of a request; none where it names none.
    pub fn of(band: &'r Option<TtbsUserBand<'_>>) -> Self {
        let Some(TtbsUserBand { time, taste, budget, safety }) = band else {
            return Self::default();
        };
        Self { time: time.as_deref(), taste: taste.as_deref(), budget: budget.as_deref(), safety: safety.as_deref() }
    }
}

/// What ties a request to the platform's session. Partners may not read more into it.
#[derive(Debug, Clone, Shape)]
pub struct SessionContext<'a> {
    /// Identifier of the platform's session.
    pub platform_session_id: Option<Cow<'a, str>>,
    /// Hash of the user's preferences. No ranking reads it: what a user took before comes from the platform's own orders.
    pub user_dna_hash: Option<Cow<'a, str>>,
}

/// What an option costs, as cards show it.
#[derive(Debug, Clone, Copy, CardJson)]
pub struct Price {
    amount_inr: i64,
    currency: &'static str,
}

impl From<Inr> for Price {
    fn from(Inr(amount_inr): Inr) -> Self {
        Self { amount_inr, currency: "INR" }
    }
}

/// Where an option comes from on the partner's side.
#[derive(Debug, Clone, Shape)]
pub struct PartnerReference<'a> {
    /// The partner's system that holds the option.
    pub source: Text<'a>,
    /// Link to the option at the partner.
    pub deeplink: HttpsUrl<'a>,
}

/// The members of every completion report (spec 1, "Completion report"). Amounts are in INR.
#[derive(Debug, Clone, Shape)]
pub struct CommonReport<'a> {
    /// The intent that the order was made under.
    pub intent: Text<'a>,
    /// The partner's order, booking or policy identifier.
    pub external_id: Text<'a>,
    /// The request that the order came from.
    pub request_id: Text<'a>,
    /// NET supplier revenue: the base of the commission.
    pub amount_inr: Amount,
    /// Tax; no commission is due on it.
    pub gst_inr: Amount,
    /// Tips collected for staff; no commission is due on them.
    pub tips_inr: Amount,
    /// Fees that the partner passes on to others; no commission is due on them.
    pub pass_through_inr: Amount,
    /// When the order closed.
    pub closed_at: DateTime,
    /// How the order ended.
    pub status: Text<'a>,
}
