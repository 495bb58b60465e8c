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
pub mod issuance;
pub mod kyc;
pub mod quote;
mod quote_rules;
pub mod ranking;
pub mod request;
mod request_rules;
pub mod stated;
pub mod tables;
pub mod tariff;
pub mod vehicle;

use contract_sdk::bindings::{Axes, Example, Need};
use contract_sdk::lexicon::Lexicon;
use contract_sdk::{
    About, ErrorRow, Forbidden, Intent, ItemRules, Lifetime, Ranking, Report, ReportRules, RequestRules, Requirement,
    RuleRow, Search, ToolEntry, UserBands, WidgetTable,
};

/// The intent's name.
pub const INTENT: &str = "finance.buy_motor_insurance";

/// The contract.
pub struct MotorInsurance;

impl Intent for MotorInsurance {
    type Request<'a> = request::MotorInsuranceRequest<'a>;
    type Item<'a> = quote::MotorQuote<'a>;
    type ReportExtra<'a> = completion::MotorInsuranceReport<'a>;
    type Card<'i> = card::Card<'i>;
    type Scale = ranking::Pool;

    const ABOUT: About = tables::ABOUT;
    const SEARCH: Search = tables::SEARCH;
    const TOOLS: &'static [ToolEntry] = tables::TOOLS;
    const RANKING: Ranking = ranking::RANKING;
    const ERRORS: &'static [ErrorRow] = tables::ERRORS;
    const FORBIDDEN: &'static [Forbidden] = tables::FORBIDDEN;
    const RULES: &'static [RuleRow] = stated::RULES;
    const GO_LIVE: &'static [Requirement] = golive::GO_LIVE;
    const WIDGET: WidgetTable = card::WIDGET;
    const LIFETIMES: &'static [Lifetime] = tables::LIFETIMES;
    const LEXICON: Lexicon = classification::LEXICON;

    fn request_rules(request: &Self::Request<'_>, rules: &mut RequestRules) {
        request_rules::check(request, rules);
    }

    fn need(request: &Self::Request<'_>) -> Need {
        request.need()
    }

    fn bands<'r>(request: &'r Self::Request<'_>) -> UserBands<'r> {
        request.bands()
    }

    fn item_id<'i>(item: &'i Self::Item<'_>) -> &'i str {
        &item.quote_id
    }

    fn item_rules(request: &Self::Request<'_>, item: &Self::Item<'_>, rules: &mut ItemRules) {
        quote_rules::check(request, item, rules);
    }

    fn scale(_: &Self::Request<'_>, pool: &[Self::Item<'_>]) -> Self::Scale {
        ranking::Pool::of(pool)
    }

    fn score(request: &Self::Request<'_>, item: &Self::Item<'_>, scale: &Self::Scale) -> Axes {
        ranking::score(request, item, scale)
    }

    fn card<'i>(item: &'i Self::Item<'_>) -> Self::Card<'i> {
        card::Card::of(item)
    }

    fn report_rules(
        report: &Report<'_, Self::ReportExtra<'_>>,
        quoted: Option<&Self::Item<'_>>,
        rules: &mut ReportRules,
    ) {
        completion::report_rules(report, quoted, rules);
    }

    fn examples() -> Vec<Example> {
        examples::all()
    }
}

#[cfg(feature = "component")]
contract_sdk::export!(MotorInsurance);
