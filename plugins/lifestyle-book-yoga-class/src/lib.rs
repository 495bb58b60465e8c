//! The contract of `lifestyle.book_yoga_class`: booking a class at a yoga studio (spec 3).
//!
//! One file per concern. Where to find what the spec says of:
//!
//! | spec 3 | here |
//! |---|---|
//! | input | [`request`], its rules [`rules`] |
//! | controlled vocabularies | [`vocabulary`] |
//! | YogaClassOption | [`option`], its `yoga_studio` [`studio`] |
//! | hard filters of taste and safety | `judge` |
//! | TTBS weights and signals | [`ranking`], taste `taste` |
//! | rules that must hold | `findings`, and where a filter says the same, `judge` |
//! | provider tools | [`booking`] |
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
mod examples;
mod findings;
pub mod golive;
mod judge;
pub mod option;
pub mod ranking;
pub mod request;
pub mod rules;
pub mod stated;
pub mod studio;
pub mod tables;
mod taste;
pub mod vocabulary;

use contract_sdk::bindings::{Axes, Example, Need};
use contract_sdk::lexicon::Lexicon;
use contract_sdk::{
    About, ErrorRow, Forbidden, Intent, ItemRules, Ranking, Report, ReportRules, RequestRules, Requirement, RuleRow,
    Search, ToolEntry, UserBands, WidgetTable,
};

/// The intent's name.
pub const INTENT: &str = "lifestyle.book_yoga_class";

/// The contract.
pub struct YogaClass;

impl Intent for YogaClass {
    type Request<'a> = request::YogaClassRequest<'a>;
    type Item<'a> = option::Offer<'a>;
    type ReportExtra<'a> = completion::YogaClassReport<'a>;
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
    const STATUSES: &'static [&'static str] = completion::STATUSES;
    const CHARGED: &'static [&'static str] = completion::CHARGED;
    const LEXICON: Lexicon = classification::LEXICON;

    fn request_rules(request: &Self::Request<'_>, rules: &mut RequestRules) {
        rules::request_rules(request, rules);
    }

    fn need(request: &Self::Request<'_>) -> Need {
        request.need()
    }

    fn bands<'r>(request: &'r Self::Request<'_>) -> UserBands<'r> {
        request.bands()
    }

    fn item_id<'i>(item: &'i Self::Item<'_>) -> &'i str {
        item.id()
    }

    fn item_rules(request: &Self::Request<'_>, item: &Self::Item<'_>, rules: &mut ItemRules) {
        judge::item_rules(request, item, rules);
    }

    fn scale(_: &Self::Request<'_>, pool: &[Self::Item<'_>]) -> Self::Scale {
        ranking::Pool::of(pool)
    }

    fn score(request: &Self::Request<'_>, item: &Self::Item<'_>, scale: &Self::Scale) -> Axes {
        ranking::score(request, item, scale)
    }

    fn completeness(item: &Self::Item<'_>) -> f64 {
        item.option.completeness()
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
contract_sdk::export!(YogaClass);
