//! The input of a search: what the platform sends to partners.

use crate::INTENT;
use contract_sdk::bindings::Need;
use contract_sdk::common::TtbsUserBand;
use contract_sdk::shape::{DateTime, Inr, Text};
use contract_sdk::{SearchRequest, Shape, UserBands, Vocabulary};

/// Arguments of the search tool. The doc comment of a field is what partners read of it.
#[derive(Debug, Shape)]
pub struct Request<'a> {
    /// Always {{intent}}.
    #[shape(equals = INTENT)]
    pub intent: Text<'a>,
    /// Identifier of the request; the platform fills it in.
    pub request_id: Option<Text<'a>>,
    /// City in which the user wants to be served.
    pub city: Text<'a>,
    /// What kind of service the user asks for.
    pub kind: Kind,
    /// When the user wants to be served.
    pub window: Option<Window>,
    /// The most that the user would pay, in INR.
    #[shape(min = 1)]
    pub max_price_inr: Option<Inr>,
    /// What the user cares for, per axis.
    pub ttbs_user_band: Option<TtbsUserBand<'a>>,
}

impl SearchRequest for Request<'_> {
    /// Where and when, for the gateway's choice of partners.
    fn need(&self) -> Need {
        Need {
            city: Some(self.city.to_string()),
            from_ms: self.window.and_then(|window| window.start.epoch_ms()),
            until_ms: self.window.and_then(|window| window.end.epoch_ms()),
            ..Need::default()
        }
    }

    fn bands(&self) -> UserBands<'_> {
        UserBands::of(&self.ttbs_user_band)
    }
}

/// When the user wants to be served.
#[derive(Debug, Clone, Copy, Shape)]
pub struct Window {
    /// Earliest start.
    pub start: DateTime,
    /// Latest start.
    pub end: DateTime,
}

/// Kinds of service. A vocabulary: changing it takes a new minor version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
#[vocabulary(name = "service_kind")]
pub enum Kind {
    Standard,
    Express,
}
