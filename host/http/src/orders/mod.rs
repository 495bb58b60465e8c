//! Orders as those who may see them are shown them: one reading of the query for every audience, and the orchestrators' own
//! routes. What partners and the platform team are shown stands with their routes.

mod asked;

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use intent_gateway_api::orders::OrderList;
use intent_gateway_onboarding::OnboardingError;
use intent_gateway_routing::orders::{FeedError, OrderFilter, OrdersPage};
use serde::{Deserialize, Serialize};

use crate::App;
use crate::acting::size;
use crate::error::{Code, Refusal};
use crate::naming::NamedIntent;
use crate::wire;

pub(crate) use self::asked::routes;

/// About what an order takes in a list, bytes.
const SUMMARY_BYTES: usize = 640;
/// Longest name that is looked for, characters.
const NAME_MAX_CHARS: usize = 200;

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

/// A query that was read.
pub(crate) struct Chosen {
    before: Option<String>,
    limit: u32,
    intent: Option<String>,
    state: Option<String>,
    open: Option<bool>,
    in_doubt: Option<bool>,
}

impl Chosen {
    pub(crate) fn of(app: &App, query: Result<Query<OrdersQuery>, QueryRejection>) -> Result<Self, Refusal> {
        let Query(query) = query.map_err(|_| refused())?;
        let OrdersQuery { before, limit, intent, state, open, in_doubt } = query;
        let names = [&before, &intent, &state].into_iter().flatten();
        if names.into_iter().any(|name| name.chars().count() > NAME_MAX_CHARS || name.contains('\0')) {
            return Err(refused());
        }
        let intent = intent.map(|intent| NamedIntent::of(app, intent).name);
        Ok(Self { before, limit: size(limit)?, intent, state, open, in_doubt })
    }

    pub(crate) fn filter(&self) -> OrderFilter<'_> {
        OrderFilter {
            intent: self.intent.as_deref(),
            state: self.state.as_deref(),
            is_open: self.open,
            in_doubt: self.in_doubt,
            before: self.before.as_deref(),
            limit: self.limit,
        }
    }
}

fn refused() -> Refusal {
    Refusal::new(Code::InvalidRequest).message(
        "The query parameters are `before`, `limit`, `intent`, `state`, `open` and `in_doubt`, each at most once; the last two \
         are `true` or `false`.",
    )
}

/// A page of a list.
pub(crate) fn list(app: &App, page: OrdersPage) -> Result<Response, Refusal> {
    let bytes = wire::SMALL_BYTES + page.orders.len() * SUMMARY_BYTES;
    private(&OrderList::new(page, app.searcher.clock.now()), bytes)
}

/// An answer that no cache keeps: it is about one person.
pub(crate) fn private(body: &impl Serialize, capacity: usize) -> Result<Response, Refusal> {
    let mut response = wire::json(StatusCode::OK, body, capacity)?;
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
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
            FeedError::Store(error) => OnboardingError::from(error).into(),
            FeedError::NoEntropy(error) => Self::new(Code::InternalError).internal(error.to_string()),
        }
    }
}
