//! Orders as those who may see them are shown them: one reading of the query for every audience, and the orchestrators' own
//! routes. What partners and the platform team are shown stands with their routes.

mod asked;

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::response::Response;
use intent_gateway_api::orders::OrderList;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_routing::orders::{FeedError, OrderFilter, OrdersPage};
use serde::Deserialize;

use crate::App;
use crate::acting::size;
use crate::error::{Code, Refusal};
use crate::naming::NamedIntent;
use crate::wire;

pub(crate) use self::asked::routes;

/// About what an order takes in a list, bytes.
const SUMMARY_BYTES: usize = 640;
/// About what an order takes beside its option and the schemas of its tools, bytes.
pub(crate) const ORDER_BYTES: usize = 16 * 1024;
/// Longest name that is looked for, characters.
const NAME_MAX_CHARS: usize = 256;

/// Which orders are asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OrdersQuery {
    before: Option<String>,
    limit: Option<u32>,
    intent: Option<String>,
    state: Option<String>,
    open: Option<bool>,
    in_doubt: Option<bool>,
}

/// Which orders the platform team asks for. As above, for a query is read flat.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchQuery {
    known_as: Option<String>,
    partner: Option<String>,
    before: Option<String>,
    limit: Option<u32>,
    intent: Option<String>,
    state: Option<String>,
    open: Option<bool>,
    in_doubt: Option<bool>,
}

/// A query that was read.
pub(crate) struct Chosen {
    /// What the order is known by.
    pub(crate) known_as: Option<String>,
    partner: Option<PartnerId>,
    before: Option<String>,
    limit: u32,
    intent: Option<String>,
    state: Option<String>,
    open: Option<bool>,
    in_doubt: Option<bool>,
}

impl Chosen {
    pub(crate) fn of(app: &App, query: Result<Query<OrdersQuery>, QueryRejection>) -> Result<Self, Refusal> {
        let Query(query) = query.map_err(|_| refused(""))?;
        let OrdersQuery { before, limit, intent, state, open, in_doubt } = query;
        if !fit([&before, &intent, &state]) {
            return Err(refused(""));
        }
        let intent = intent.map(|intent| NamedIntent::of(app, intent).name);
        Ok(Self { known_as: None, partner: None, before, limit: size(limit)?, intent, state, open, in_doubt })
    }

    pub(crate) fn of_search(app: &App, query: Result<Query<SearchQuery>, QueryRejection>) -> Result<Self, Refusal> {
        let refused = || refused("`known_as`, `partner`, ");
        let Query(query) = query.map_err(|_| refused())?;
        let SearchQuery { known_as, partner, before, limit, intent, state, open, in_doubt } = query;
        if !fit([&known_as]) {
            return Err(refused());
        }
        let partner = partner.map(|partner| PartnerId::parse(&partner)).transpose().map_err(|_| refused())?;
        let rest = Query(OrdersQuery { before, limit, intent, state, open, in_doubt });
        Ok(Self { known_as, partner, ..Self::of(app, Ok(rest))? })
    }

    pub(crate) fn filter(&self) -> OrderFilter<'_> {
        OrderFilter {
            partner: self.partner.as_ref(),
            intent: self.intent.as_deref(),
            state: self.state.as_deref(),
            is_open: self.open,
            in_doubt: self.in_doubt,
            before: self.before.as_deref(),
            limit: self.limit,
        }
    }
}

/// Whether these can be looked for.
fn fit<const N: usize>(names: [&Option<String>; N]) -> bool {
    let fits = |name: &String| name.chars().count() <= NAME_MAX_CHARS && !name.contains('\0');
    names.into_iter().flatten().all(fits)
}

fn refused(others: &str) -> Refusal {
    let message = format!(
        "The query parameters are {others}`before`, `limit`, `intent`, `state`, `open` and `in_doubt`, each at most once; the \
         last two are `true` or `false`."
    );
    Refusal::new(Code::InvalidRequest).message(message)
}

/// A page of a list.
pub(crate) fn list(app: &App, page: OrdersPage) -> Result<Response, Refusal> {
    let bytes = wire::SMALL_BYTES + page.orders.len() * SUMMARY_BYTES;
    wire::private(&OrderList::new(page, app.searcher.clock.now()), bytes)
}

pub(crate) fn no_order() -> Refusal {
    Refusal::new(Code::NotFound).message("There is no such order.")
}

impl From<FeedError> for Refusal {
    fn from(error: FeedError) -> Self {
        match error {
            FeedError::InvalidCursor => Self::new(Code::InvalidRequest).message(
                "The cursor is none that this orchestrator was given, or is too old; leave it out to begin anew.",
            ),
            FeedError::Store(error) => error.into(),
            FeedError::NoEntropy(error) => Self::new(Code::InternalError).internal(error.to_string()),
        }
    }
}
