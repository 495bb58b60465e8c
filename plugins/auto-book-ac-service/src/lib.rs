//! The contract of `auto.book_ac_service`: booking the service of a car's air-conditioning (spec 2).
//!
//! One file per concern. Where to find what the spec says of:
//!
//! | spec 2 | here |
//! |---|---|
//! | input | [`request`] |
//! | AcServiceSlot | [`slot`] |
//! | create and cancel, their arguments and results | [`booking`] |
//! | from a booking to its end: states, turns, what is kept | [`order`] |
//! | conditional rules on options | [`rules`] |
//! | needless overhauls | `overhaul` |
//! | TTBS ranking | [`ranking`] |
//! | completion report | [`completion`] |
//! | classified in and out, pairs | [`classification`] |
//! | every rule in words, for partners | [`stated`] |
//! | go-live requirements | [`golive`] |
//! | widget | [`card`] |
//! | tools, errors, forbidden fields, lifetimes | [`tables`] |
//!
//! Nothing here reads JSON, sorts options or builds schemas: that is the SDK's.

pub mod booking;
pub mod card;
pub mod classification;
pub mod completion;
mod examples;
pub mod golive;
pub mod order;
mod overhaul;
pub mod ranking;
pub mod request;
pub mod rules;
pub mod slot;
pub mod stated;
pub mod tables;

pub const INTENT: &str = "auto.book_ac_service";

contract_sdk::contract! {
    /// The contract.
    pub struct AcService;

    use tables::{ABOUT, SEARCH, TOOLS, ERRORS, FORBIDDEN, LIFETIMES};
    use order::ORDER;
    use request::AcServiceRequest<'_> as Request;
    use slot::AcServiceSlot<'_> as Item;
    use rules::{request_rules, item_rules};
    use stated::RULES;
    use ranking::{RANKING, Pool as Scale, score};
    use card::{WIDGET, Card<'_>};
    use completion::{AcServiceReport as ReportExtra, AMOUNT_MAX_INR, report_rules};
    use classification::LEXICON;
    use golive::GO_LIVE;
    use examples::examples;
}

#[cfg(feature = "component")]
contract_sdk::export!(AcService);
