//! The contract of `lifestyle.book_yoga_class`: booking a class at a yoga studio (spec 3).
//!
//! One file per concern. Where to find what the spec says of:
//!
//! | spec 3 | here |
//! |---|---|
//! | input | [`request`], its rules [`rules`], the version [`version`] |
//! | controlled vocabularies | [`vocabulary`] |
//! | YogaClassOption | [`option`], its `yoga_studio` [`studio`] |
//! | hard filters of taste and safety | `judge` |
//! | TTBS weights and signals | [`ranking`], taste `taste` |
//! | disclosed conditions | [`conditions`] |
//! | rules that must hold | `findings`, and where a filter says the same, `judge` |
//! | provider tools | [`booking`] |
//! | from a booking to its end: states, turns, what is kept | [`order`] |
//! | completion report, its statuses | [`completion`] |
//! | classified in and out, pairs | [`classification`] |
//! | every rule in words, for partners | [`stated`] |
//! | go-live requirements | [`golive`] |
//! | widget | [`card`] |
//! | tools' policies, errors, forbidden fields | [`tables`] |
//!
//! The intent inherits from the gym session and salon intents, whose documents are not shown. What they alone
//! define passes as it comes and counts in completeness. Nothing here reads JSON, sorts options or builds schemas:
//! that is the SDK's.

pub mod booking;
pub mod card;
pub mod classification;
pub mod completion;
pub mod conditions;
mod examples;
mod findings;
pub mod golive;
mod judge;
pub mod option;
pub mod order;
pub mod ranking;
pub mod request;
pub mod rules;
pub mod stated;
pub mod studio;
pub mod tables;
mod taste;
pub mod version;
pub mod vocabulary;

pub const INTENT: &str = "lifestyle.book_yoga_class";

contract_sdk::contract! {
    /// The contract.
    pub struct YogaClass;

    use tables::{ABOUT, SEARCH, TOOLS, ERRORS, FORBIDDEN};
    use order::ORDER;
    use request::YogaClassRequest<'_> as Request;
    use rules::request_rules;
    use option::Offer<'_> as Item;
    use judge::item_rules;
    use stated::RULES;
    use ranking::{RANKING, Pool as Scale, score};
    use card::{WIDGET, Card<'_>};
    use completion::{YogaClassReport<'_> as ReportExtra, STATUSES, CHARGED, AMOUNT_MAX_INR, report_rules};
    use classification::LEXICON;
    use golive::GO_LIVE;
    use examples::examples;
}

#[cfg(feature = "component")]
contract_sdk::export!(YogaClass);
