//! Orders: found by whatever anybody knows them by, what is overdue, and one order whole with what happened to it.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::{Path, RawQuery};
use axum::response::Response;
use axum::routing::get;
use http::StatusCode;
use intent_gateway_api::evidence::Finding;
use intent_gateway_api::name;
use intent_gateway_api::orders::{OrderHappening, OrderHistoryEvent, OrderList, OrderRecord, OrderSummary};
use intent_gateway_api::overdue::{OverdueAtPartnerBody, OverdueSummary};
use intent_gateway_domain::findings::{Severity, Source};
use intent_gateway_domain::money::Paise;
use serde_json::Value;

use crate::Console;
use crate::api::{segment, with_query};
use crate::failure::{Failed, Problem};
use crate::frame::{Frame, show, show_with};
use crate::view::{Chip, Ident, Moment, Tone};
use crate::visitor::{Fields, Team};

const PLACE: &str = "/console/orders";
const ORDERS_API: &str = "/api/v1/admin/orders";
/// Orders of a page.
const PAGE: &str = "50";

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new().route("/console/orders", get(list_orders)).route("/console/orders/{order}", get(show_order))
}

/// What is looked for, as the address says it.
struct Asked {
    known_as: String,
    partner: String,
    open: String,
    in_doubt: String,
    before: String,
}

impl Asked {
    fn of(query: Option<String>) -> Self {
        let fields = Fields::parse(query.unwrap_or_default().as_bytes());
        let text = |name: &str| fields.text(name).to_owned();
        Self {
            known_as: text("known_as"),
            partner: text("partner"),
            open: text("open"),
            in_doubt: text("in_doubt"),
            before: text("before"),
        }
    }

    /// Whether it names some orders, and not all.
    fn has_filter(&self) -> bool {
        [&self.known_as, &self.partner, &self.open, &self.in_doubt].into_iter().any(|text| !text.is_empty())
    }

    /// The page that begins there.
    fn page(&self, path: &str, before: &str, limit: &str) -> String {
        let Self { known_as, partner, open, in_doubt, before: _ } = self;
        let parts = [
            ("known_as", known_as.as_str()),
            ("partner", partner),
            ("open", open),
            ("in_doubt", in_doubt),
            ("before", before),
            ("limit", limit),
        ];
        with_query(path, &parts)
    }
}

#[derive(Template)]
#[template(path = "team/orders.html")]
struct OrdersPage {
    frame: Frame,
    asked: Asked,
    orders: Vec<OrderSummary>,
    /// Address of the next page.
    next: Option<String>,
    /// None where some orders are looked for, or the visitor's token does not open it.
    overdue: Option<Vec<OverdueAtPartnerBody>>,
    problem: Option<Problem>,
}

impl OrdersPage {
    /// The answer in one line.
    fn lead(&self) -> String {
        let shown = self.orders.len();
        match (self.asked.has_filter(), shown, self.next.is_some()) {
            _ if self.problem.is_some() => "Nothing was looked for.".to_owned(),
            (false, _, _) => "The orders at all partners, the newest first.".to_owned(),
            // A page may be empty and not the last.
            (true, 0, true) => "No order among those that were looked through. The next page goes on.".to_owned(),
            (true, 0, false) => "No order is found.".to_owned(),
            (true, 1, false) if self.asked.before.is_empty() => "One order is found.".to_owned(),
            (true, shown, false) if self.asked.before.is_empty() => format!("{shown} orders are found."),
            (true, shown, _) => format!("{shown} orders are on this page."),
        }
    }

    fn first(&self) -> String {
        self.asked.page(PLACE, "", "")
    }
}

/// How an order is.
fn order_chip(order: &OrderSummary) -> Chip {
    let tone = match order.state.as_str() {
        "failed" => Tone::Bad,
        _ if order.is_open => Tone::Moving,
        _ => Tone::Idle,
    };
    Chip::new(tone, order.state.as_str())
}

async fn list_orders(RawQuery(query): RawQuery, Team(visitor): Team) -> Result<Response, Failed> {
    let asked = Asked::of(query);
    let address = asked.page(ORDERS_API, &asked.before, PAGE);
    let found = visitor.api.get::<OrderList>(&address).await;
    let (found, problem) = match found {
        Ok(found) => (found, None),
        Err(error) if asked.has_filter() && error.is_refusal() => {
            (OrderList { orders: Vec::new(), next: None }, Some(Problem::from(&error)))
        }
        Err(error) => return Err(error.into()),
    };
    let overdue = if asked.has_filter() || !asked.before.is_empty() {
        None
    } else {
        visitor.api.get_if_allowed::<OverdueSummary>("/api/v1/admin/overdue-orders/summary").await?
    };
    let status = problem.as_ref().map_or(StatusCode::OK, |problem| problem.status);
    let page = OrdersPage {
        frame: visitor.frame(PLACE, "Orders").json(address),
        next: found.next.map(|next| asked.page(PLACE, &next, "")),
        asked,
        orders: found.orders,
        overdue: overdue.map(|overdue| overdue.partners),
        problem,
    };
    Ok(show_with(status, &page))
}

#[derive(Template)]
#[template(path = "team/order.html")]
struct OrderPage {
    frame: Frame,
    record: OrderRecord,
    /// The option as it was shown, written for people.
    option: Option<String>,
}

impl OrderPage {
    fn order(&self) -> &OrderSummary {
        &self.record.body.order
    }

    /// The answer in one line.
    fn lead(&self) -> String {
        let order = self.order();
        let partner = self.record.body.partner_name.as_ref().unwrap_or(&order.partner);
        let how = match (&self.record.body.report, order.is_open) {
            (Some(report), _) => format!("A report has closed it: {}.", report.status),
            (None, true) => "It is open.".to_owned(),
            (None, false) => "It is closed, and no report has come.".to_owned(),
        };
        format!("An order of {} at {partner}. {how}", order.intent)
    }
}

/// What an event is, in a state and a word.
fn event_chip(event: &OrderHistoryEvent) -> Chip {
    let (tone, word) = match event.what {
        OrderHappening::Called => (Tone::Moving, "called"),
        OrderHappening::Answered => (Tone::Good, "answered"),
        OrderHappening::Failed => (Tone::Bad, "failed"),
        OrderHappening::Unknown => (Tone::Care, "nobody knows"),
        OrderHappening::Reported => (Tone::Good, "reported"),
    };
    Chip::new(tone, word)
}

/// The same in a sentence.
fn tell(event: &OrderHistoryEvent) -> String {
    let tool = event.tool.as_deref().unwrap_or("the tool");
    let state = event.state.as_deref().unwrap_or("not said");
    let code = event.code.as_deref().unwrap_or("not said");
    match event.what {
        OrderHappening::Called => format!("{tool} was called."),
        OrderHappening::Answered => format!("The answer of {tool} passed. State: {state}."),
        OrderHappening::Failed => format!("{tool} certainly did nothing. Code: {code}."),
        OrderHappening::Unknown => format!("Nobody knows whether the partner did {tool}. Code: {code}."),
        OrderHappening::Reported => format!("A completion report closed it. Status: {state}."),
    }
}

/// How grave a finding is.
fn severity_chip(finding: &Finding) -> Chip {
    let tone = match finding.severity {
        Severity::Note => Tone::Idle,
        Severity::Drop => Tone::Care,
        Severity::Strike => Tone::Bad,
    };
    Chip::new(tone, finding.severity.as_str())
}

fn found_at(finding: &Finding) -> Moment {
    Moment::of(finding.at_ms)
}

fn source_of(finding: &Finding) -> &'static str {
    finding.source.map_or("", Source::as_str)
}

/// A kept value; texts stand without quotation marks.
fn kept_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn amount_text(amount: &Option<Paise>) -> String {
    amount.map_or_else(|| "not known".to_owned(), |amount| format!("{amount} INR"))
}

async fn show_order(Path(order): Path<String>, Team(visitor): Team) -> Result<Response, Failed> {
    let address = format!("{ORDERS_API}/{}", segment(&order));
    let record = visitor.api.get::<OrderRecord>(&address).await?;
    let option = record.option.as_ref().map(|option| {
        let value = serde_json::from_str::<Value>(option.get());
        value.map_or_else(|_too_deep| option.get().to_owned(), |value| format!("{value:#}"))
    });
    Ok(show(&OrderPage { frame: visitor.frame(PLACE, "Order").json(address), record, option }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_says_what_is_looked_for() {
        let asked = Asked::of(Some("known_as=+a%26b+&open=true&before=x&partner=".to_owned()));
        assert!(asked.has_filter());
        assert_eq!(asked.page("/p", &asked.before, "50"), "/p?known_as=a%26b&open=true&before=x&limit=50");
        assert_eq!(asked.page("/p", "", ""), "/p?known_as=a%26b&open=true");
        assert!(!Asked::of(None).has_filter());
        assert!(!Asked::of(Some("before=x".to_owned())).has_filter());
    }
}
