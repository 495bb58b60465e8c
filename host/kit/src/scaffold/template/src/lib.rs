//! The contract of `{{intent}}`.
//!
//! One file per concern:
//!
//! | what | where |
//! |---|---|
//! | input | [`request`] |
//! | one offer | [`option`] |
//! | booking: arguments and result | [`booking`] |
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
pub mod ranking;
pub mod request;
pub mod rules;
pub mod tables;

use contract_sdk::bindings::{Axes, Example, Need};
use contract_sdk::lexicon::Lexicon;
use contract_sdk::{
    About, ErrorRow, Forbidden, Intent, ItemRules, Ranking, Report, ReportRules, RequestRules, Requirement, RuleRow,
    Search, ToolEntry, UserBands, WidgetTable,
};

/// The intent's name.
pub const INTENT: &str = "{{intent}}";

/// The contract.
pub struct {{type}};

impl Intent for {{type}} {
    type Request<'a> = request::Request<'a>;
    type Item<'a> = option::Offer<'a>;
    type ReportExtra<'a> = completion::Extra;
    type Card<'i> = card::Card<'i>;
    type Scale = ranking::Pool;

    const ABOUT: About = tables::ABOUT;
    const SEARCH: Search = tables::SEARCH;
    const TOOLS: &'static [ToolEntry] = tables::TOOLS;
    const RANKING: Ranking = ranking::RANKING;
    const ERRORS: &'static [ErrorRow] = tables::ERRORS;
    const FORBIDDEN: &'static [Forbidden] = tables::FORBIDDEN;
    const RULES: &'static [RuleRow] = rules::RULES;
    const GO_LIVE: &'static [Requirement] = tables::GO_LIVE;
    const WIDGET: WidgetTable = card::WIDGET;
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
        &item.offer_id
    }

    fn item_rules(request: &Self::Request<'_>, item: &Self::Item<'_>, rules: &mut ItemRules) {
        rules::item_rules(request, item, rules);
    }

    fn scale(_: &Self::Request<'_>, pool: &[Self::Item<'_>]) -> Self::Scale {
        ranking::Pool::of(pool)
    }

    fn score(_: &Self::Request<'_>, item: &Self::Item<'_>, scale: &Self::Scale) -> Axes {
        ranking::score(item, scale)
    }

    fn card<'i>(item: &'i Self::Item<'_>) -> Self::Card<'i> {
        card::Card::of(item)
    }

    fn report_rules(
        report: &Report<'_, Self::ReportExtra<'_>>,
        quoted: Option<&Self::Item<'_>>,
        rules: &mut ReportRules,
    ) {
        completion::report_rules(&report.extra, quoted, rules);
    }

    fn examples() -> Vec<Example> {
        examples::all()
    }
}

contract_sdk::export!({{type}});
