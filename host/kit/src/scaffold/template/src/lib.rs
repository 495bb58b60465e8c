//! The contract of `{{intent}}`.
//!
//! One file per concern:
//!
//! | what | where |
//! |---|---|
//! | input | [`request`] |
//! | one offer | [`option`] |
//! | booking: arguments and result | [`booking`] |
//! | from a booking to its end: states, turns, what is kept | [`order`] |
//! | rules | [`rules`] |
//! | ranking | [`ranking`] |
//! | card | [`card`] |
//! | classification | [`classification`] |
//! | completion report | [`completion`] |
//! | tools, errors, forbidden fields, go-live requirements | [`tables`] |
//!
//! Nothing here reads JSON, sorts offers or builds schemas: that is the SDK's.

pub mod booking;
pub mod card;
pub mod classification;
pub mod completion;
mod examples;
pub mod option;
pub mod order;
pub mod ranking;
pub mod request;
pub mod rules;
pub mod tables;

pub const INTENT: &str = "{{intent}}";

contract_sdk::contract! {
    /// The contract.
    pub struct {{type}};

    use tables::{ABOUT, SEARCH, TOOLS, ERRORS, FORBIDDEN, GO_LIVE};
    use order::ORDER;
    use request::Request<'_>;
    use option::Offer<'_> as Item;
    use rules::{RULES, request_rules, item_rules};
    use ranking::{RANKING, Pool as Scale, score};
    use card::{WIDGET, Card<'_>};
    use completion::{Extra as ReportExtra, AMOUNT_MAX_INR, report_rules};
    use classification::LEXICON;
    use examples::examples;
}

contract_sdk::export!({{type}});
