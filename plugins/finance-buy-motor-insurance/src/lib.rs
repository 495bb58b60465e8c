//! The contract of `finance.buy_motor_insurance`: buying a fresh motor policy (spec 2).
//!
//! One file per concern. Where to find what the spec says of:
//!
//! | spec 2 | here |
//! |---|---|
//! | input | [`request`], [`vehicle`] |
//! | policy types, addons, and which go together | [`cover`] |
//! | conditions between members of the input | `request_rules` |
//! | MotorQuote | [`quote`] |
//! | rules on quotes | `quote_rules` |
//! | the third-party tariff | [`tariff`] |
//! | the band of the insured value | [`insured_value`] |
//! | published premiums of addons | [`rate_cards`] |
//! | from a quote to its policy and back: states, turns, what is kept | [`order`] |
//! | confirm_quote_and_kyc, KYCResult | [`kyc`] |
//! | issue_policy, IssuedPolicy | [`issuance`] |
//! | schedule_inspection, InspectionResult | [`inspection`] |
//! | cancel_or_freelook, CancellationResult | [`cancellation`] |
//! | TTBS ranking | [`ranking`] |
//! | completion report | [`completion`] |
//! | classified in and out, pairs | [`classification`] |
//! | every rule in words, for partners | [`stated`] |
//! | go-live requirements | [`golive`] |
//! | widget | [`card`] |
//! | tools, errors, forbidden fields, lifetimes | [`tables`] |
//!
//! Nothing here reads JSON, sorts quotes or builds schemas: that is the SDK's.

pub mod cancellation;
pub mod card;
pub mod classification;
pub mod completion;
pub mod cover;
mod dates;
mod examples;
pub mod golive;
pub mod inspection;
pub mod insured_value;
pub mod issuance;
pub mod kyc;
pub mod order;
pub mod quote;
mod quote_rules;
pub mod ranking;
pub mod rate_cards;
pub mod request;
mod request_rules;
pub mod stated;
pub mod tables;
pub mod tariff;
pub mod vehicle;

pub const INTENT: &str = "finance.buy_motor_insurance";

contract_sdk::contract! {
    /// The contract.
    pub struct MotorInsurance;

    use tables::{ABOUT, SEARCH, TOOLS, ERRORS, FORBIDDEN, LIFETIMES};
    use order::ORDER;
    use request::MotorInsuranceRequest<'_> as Request;
    use request_rules::request_rules;
    use quote::MotorQuote<'_> as Item;
    use quote_rules::item_rules;
    use stated::RULES;
    use ranking::{RANKING, Pool as Scale, score};
    use card::{WIDGET, Card<'_>};
    use completion::{MotorInsuranceReport<'_> as ReportExtra, AMOUNT_MAX_INR, report_rules};
    use classification::LEXICON;
    use golive::GO_LIVE;
    use examples::examples;
}

#[cfg(feature = "component")]
contract_sdk::export!(MotorInsurance);
