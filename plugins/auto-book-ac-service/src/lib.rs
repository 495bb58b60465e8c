//! The contract of `auto.book_ac_service`: booking the service of a car's air-conditioning (spec 2).
//!
//! One file per concern. Where to find what the spec says of:
//!
//! | spec 2 | here |
//! |---|---|
//! | input | [`request`] |
//! | AcServiceSlot | [`slot`] |
//! | create and cancel, their arguments and results | [`booking`] |
//! | conditional rules on options | [`rules`] |
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
pub mod ranking;
pub mod request;
pub mod rules;
pub mod slot;
pub mod stated;
pub mod tables;

use contract_sdk::bindings::{Axes, Example, Need};
use contract_sdk::lexicon::Lexicon;
use contract_sdk::{
    About, ErrorRow, Forbidden, Intent, ItemRules, Lifetime, Ranking, Report, ReportRules, RequestRules, Requirement,
    RuleRow, Search, ToolEntry, UserBands, WidgetTable,
};

/// The intent's name.
pub const INTENT: &str = "auto.book_ac_service";

/// The contract.
pub struct AcService;

impl Intent for AcService {
    type Request<'a> = request::AcServiceRequest<'a>;
    type Item<'a> = slot::AcServiceSlot<'a>;
    type ReportExtra<'a> = completion::AcServiceReport;
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
        rules::request_rules(request, rules);
    }

    fn need(request: &Self::Request<'_>) -> Need {
        request.need()
    }

    fn bands<'r>(request: &'r Self::Request<'_>) -> UserBands<'r> {
        request.bands()
    }

    fn item_id<'i>(item: &'i Self::Item<'_>) -> &'i str {
        &item.slot_id
    }

    fn item_rules(request: &Self::Request<'_>, item: &Self::Item<'_>, rules: &mut ItemRules) {
        rules::item_rules(request, item, rules);
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
        completion::report_rules(&report.extra, quoted, rules);
    }

    fn examples() -> Vec<Example> {
        examples::all()
    }
}

#[cfg(feature = "component")]
contract_sdk::export!(AcService);
