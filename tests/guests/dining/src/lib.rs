//! The contract of `food.dine_in`, for the tests: tables of restaurants, found and booked.
//!
//! It is here for one rule that no shipped contract needs: `book_table` names `list_orders` as the tool by which is seen,
//! after a call that failed, whether the table was booked all the same (spec 1, Endpoints, rule 6). Everything else is as
//! small as a contract can be.

mod examples;

use contract_sdk::bindings::{Axes, Need, ToolRole};
use contract_sdk::lexicon::{Claim, Lexicon};
use contract_sdk::shape::{Inr, Text};
use contract_sdk::{
    About, AnswerRules, AxisSignals, CardJson, ErrorRow, Forbidden, ItemRules, PastOrder, Ranking, Search, SearchItem,
    SearchRequest, Shape, Signals, Slot, Span, Subject, Tool, ToolEntry, ToolPolicy, UserBands, Weights, WidgetTable,
    code,
};

pub const INTENT: &str = "food.dine_in";

const ONE: &Signals<1> = &Signals::new([("price", 1.0)]);

/// Arguments of the search.
#[derive(Debug, Shape)]
pub struct Request<'a> {
    /// Always food.dine_in.
    #[shape(equals = INTENT)]
    pub intent: Text<'a>,
    /// Identifier of the request; the platform fills it in.
    pub request_id: Option<Text<'a>>,
    /// City in which the user wants to eat.
    pub city: Text<'a>,
    /// How many eat.
    #[shape(min = 1, max = 20)]
    pub party_size: i64,
}

#[derive(Debug, Shape)]
pub struct Table<'a> {
    /// The partner's identifier of the table at its hour.
    pub table_id: Text<'a>,
    /// Name of the restaurant.
    pub restaurant: Text<'a>,
    /// What a person pays about, in INR.
    #[shape(min = 0)]
    pub price_inr: Inr,
    /// How many can sit at it.
    #[shape(min = 1, max = 20)]
    pub seats: i64,
}

const AMOUNT_MAX_INR: u32 = 1_000_000;

/// Members of a report beyond the common ones.
#[derive(Debug, Shape)]
pub struct Extra {
    /// How many have eaten.
    #[shape(min = 1, max = 20)]
    pub guests: i64,
}

/// A card; its keys are those of the widget.
#[derive(CardJson)]
pub struct Card<'i> {
    header: &'i str,
}

impl<'i> Card<'i> {
    fn of(table: &'i Table<'_>) -> Self {
        Self { header: &table.restaurant }
    }
}

const fn policy(name: &'static str, role: ToolRole, purpose: &'static str) -> ToolPolicy {
    ToolPolicy { name, role, purpose, p50_ms: 600, p95_ms: 1500, rate_per_minute: Some(600), ..ToolPolicy::PLAIN }
}

/// The tool that books.
pub struct BookTable;

#[derive(Debug, Shape)]
pub struct BookTableArguments<'a> {
    /// Identifier of the request, which the partner keeps with the order.
    pub request_id: Text<'a>,
    /// The table to book.
    pub table_id: Text<'a>,
    /// How many come.
    #[shape(min = 1, max = 20)]
    pub party_size: i64,
}

#[derive(Debug, Shape)]
pub struct TableBooking<'a> {
    /// The partner's identifier of the order.
    pub order_id: Text<'a>,
    /// The table that was booked.
    pub table_id: Text<'a>,
}

impl Tool for BookTable {
    type Intent = DineIn;
    type Arguments<'a> = BookTableArguments<'a>;
    type Answer<'a> = TableBooking<'a>;

    const POLICY: ToolPolicy = ToolPolicy {
        idempotency_key: Some("request_id"),
        orders_tool: Some(ListOrders::POLICY.name),
        ..policy("book_table", ToolRole::Create, "Books a table.")
    };

    fn answer_rules(
        arguments: &BookTableArguments<'_>,
        booking: &TableBooking<'_>,
        _: &Subject<'_, Table<'_>>,
        rules: &mut AnswerRules,
    ) {
        rules.refuse_other(&booking.table_id, &arguments.table_id, "/table_id", "the table that was asked for");
    }

    fn reference<'r>(booking: &'r TableBooking<'_>) -> Option<&'r str> {
        Some(&booking.order_id)
    }
}

/// The tool that reads the orders of a request.
pub struct ListOrders;

#[derive(Debug, Shape)]
pub struct ListOrdersArguments<'a> {
    /// Only orders that were made under this request.
    pub request_id: Text<'a>,
    /// Only orders of this table.
    pub table_id: Option<Text<'a>>,
}

#[derive(Debug, Shape)]
pub struct Orders<'a> {
    /// The orders, latest first; none where none was made.
    #[shape(max_items = 10)]
    pub orders: Vec<TableBooking<'a>>,
}

impl Tool for ListOrders {
    type Intent = DineIn;
    type Arguments<'a> = ListOrdersArguments<'a>;
    type Answer<'a> = Orders<'a>;

    const POLICY: ToolPolicy = policy("list_orders", ToolRole::GetDetail, "Lists the orders of a request.");

    fn answer_rules(
        arguments: &ListOrdersArguments<'_>,
        answer: &Orders<'_>,
        _: &Subject<'_, Table<'_>>,
        rules: &mut AnswerRules,
    ) {
        let asked = arguments.table_id.as_deref();
        rules.refuse_if(
            answer.orders.iter().any(|order| asked.is_some_and(|asked| *order.table_id != *asked)),
            code::UNEXPECTED_VALUE,
            "/orders",
            "Expected orders of the table that was asked for, and of no other.",
        );
    }

    fn reference<'r>(answer: &'r Orders<'_>) -> Option<&'r str> {
        answer.orders.first().map(|order| &*order.order_id)
    }
}

impl SearchRequest for Request<'_> {
    fn need(&self) -> Need {
        Need { city: Some(self.city.to_string()), ..Need::default() }
    }

    fn bands(&self) -> UserBands<'_> {
        UserBands::default()
    }
}

impl SearchItem for Table<'_> {
    fn id(&self) -> &str {
        &self.table_id
    }
}

const ABOUT: About = About {
    intent: INTENT,
    aliases: &[],
    version: "1.0.0",
    agent: "FoodAgent",
    title: "Tables",
    summary: "Finds and books tables of restaurants.",
};

const SEARCH: Search = Search {
    policy: policy("search_tables", ToolRole::Search, "Finds up to 15 tables."),
    options_key: "tables",
    id_key: "table_id",
    price_pointer: None,
    max_options: 15,
    empty_code: None,
    gone_code: Some("TABLE_GONE"),
};

const TOOLS: &[ToolEntry] = &[ToolEntry::of::<BookTable>(), ToolEntry::of::<ListOrders>()];

const RANKING: Ranking = Ranking::new(
    Weights::new(0.25, 0.25, 0.25, 0.25),
    AxisSignals { time: ONE.list(), taste: ONE.list(), budget: ONE.list(), safety: ONE.list() },
    &[],
);

const ERRORS: &[ErrorRow] = &[
    ErrorRow::INVALID_REQUEST,
    ErrorRow::INTERNAL_ERROR,
    ErrorRow::new("TABLE_GONE", 409, "The table has been taken."),
];

const FORBIDDEN: &[Forbidden] = &[];

const WIDGET: WidgetTable = WidgetTable {
    widget_type: "generic_listings",
    preferred: None,
    slots: &[Slot { name: "header", source: "restaurant" }],
};

const LEXICON: Lexicon = Lexicon {
    cues: &["table for"],
    claims: &[Claim { name: "wanted", weight: 0.8, all: &[&["table for"]] }],
    referrals: &[],
    pairs: &[],
};

fn item_rules(request: &Request<'_>, table: &Table<'_>, rules: &mut ItemRules) {
    rules.drop_if(
        table.seats < request.party_size,
        "TOO_SMALL",
        "/seats",
        format_args!("{} seats are fewer than {}.", table.seats, request.party_size),
    );
}

fn scale(pool: &[Table<'_>], _: &[PastOrder<'_>]) -> Span {
    Span::of(pool.iter().map(|table| table.price_inr.0 as f64))
}

fn score(_: &Request<'_>, table: &Table<'_>, prices: &Span) -> Axes {
    let cheap = prices.lower_is_better(table.price_inr.0 as f64);
    Axes { time: cheap, taste: cheap, budget: cheap, safety: cheap }
}

contract_sdk::contract! {
    /// The contract.
    pub struct DineIn;

    use {ABOUT, SEARCH, TOOLS, ERRORS, FORBIDDEN, LEXICON};
    use {Request<'_>, Table<'_> as Item, item_rules};
    use {RANKING, Span as Scale, scale, score};
    use {WIDGET, Card<'_>};
    use {Extra as ReportExtra, AMOUNT_MAX_INR};
    use examples::examples;
}

contract_sdk::export!(DineIn);

#[cfg(test)]
mod tests {
    use super::*;
    use contract_sdk::engine;
    use contract_sdk::testing::problems;

    #[test]
    fn the_contract_is_consistent() {
        assert_eq!(problems::<DineIn>(), Vec::<String>::new());
        let tools = engine::describe::<DineIn>().tools;
        let named: Vec<_> = tools.iter().map(|tool| (tool.name.as_str(), tool.orders_tool.as_deref())).collect();
        let expected = [("search_tables", None), ("book_table", Some("list_orders")), ("list_orders", None)];
        assert_eq!(named, expected);
    }
}
