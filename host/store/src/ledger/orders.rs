//! The orders that reports are about: looked up before a report is judged, and closed with its entry.

use std::collections::HashMap;

use intent_gateway_domain::order::{Order, OrderId, OrderedOption, name};
use intent_gateway_domain::store::{Kind, Record as _};
use intent_gateway_ledger::{FoundBy, OrderQuery, ReportedOrder};
use serde::de::DeserializeOwned;

use super::batch::ClosedOrder;
use crate::error::EngineError;
use crate::feed;
use crate::postgres::{Postgres, PostgresTx};
use crate::sqlite::Batch;
use crate::tables;
use crate::value::{Column, Row, Value};

/// The newest order of a name. Here and below, names are asked alone and with a limit, so that they are looked up by name
/// whatever PostgreSQL has counted: where it holds a name for frequent, it would rather walk the newest orders of all.
const OF_NAME: &str = "SELECT kept.body, option.body FROM (SELECT key FROM record_names \
                       WHERE kind = 'orders' AND name = $1 ORDER BY key DESC LIMIT 1) AS names \
                       JOIN orders AS kept ON kept.key = names.key \
                       LEFT JOIN ordered_options AS option ON option.key = names.key";
/// The newest one that is open, among the newest hundred: whoever has closed any number of orders of one request costs no more.
const OPEN_OF_NAME: &str = "SELECT kept.body, option.body FROM (SELECT key FROM record_names \
                            WHERE kind = 'orders' AND name = $1 ORDER BY key DESC LIMIT 100) AS names \
                            JOIN orders AS kept ON kept.key = names.key \
                            LEFT JOIN ordered_options AS option ON option.key = names.key \
                            WHERE kept.status <> 'closed' ORDER BY names.key DESC LIMIT 1";
/// The same for many names.
const OF_MANY_NAMES: &str = "SELECT kept.body, option.body, place FROM UNNEST($1) WITH ORDINALITY AS wanted (the_name, place) \
                             CROSS JOIN LATERAL (SELECT key FROM record_names \
                             WHERE kind = 'orders' AND name = the_name ORDER BY key DESC LIMIT 1) AS names \
                             JOIN orders AS kept ON kept.key = names.key \
                             LEFT JOIN ordered_options AS option ON option.key = names.key";
const OPEN_OF_MANY_NAMES: &str = "SELECT found.body, option.body, place FROM UNNEST($1) \
                                  WITH ORDINALITY AS wanted (the_name, place) \
                                  CROSS JOIN LATERAL (SELECT kept.key, kept.body FROM (SELECT key FROM record_names \
                                  WHERE kind = 'orders' AND name = the_name ORDER BY key DESC LIMIT 100) AS names \
                                  JOIN orders AS kept ON kept.key = names.key WHERE kept.status <> 'closed' \
                                  ORDER BY names.key DESC LIMIT 1) \
                                  AS found LEFT JOIN ordered_options AS option ON option.key = found.key";
const OF_MANY_KEYS: &str = "SELECT kept.key, revision, lookup, status, body FROM UNNEST($1) AS wanted (the_key) \
                            JOIN orders AS kept ON kept.key = the_key";
/// The revision is read and written under the lock of all writers.
const CLOSE: &str = "UPDATE orders SET revision = revision + 1, lookup = NULL, status = $1, body = $2 WHERE key = $3";
const CLOSE_MANY: &str = "UPDATE orders SET revision = revision + 1, lookup = NULL, status = the_status, body = the_body \
                          FROM UNNEST($1, $2, $3) AS closing (the_status, the_body, the_key) WHERE key = the_key";

/// The order of a row of its table.
pub(super) fn read(row: &Row) -> Result<Order, EngineError> {
    parse(&row.text(4)?)
}

fn parse<T: DeserializeOwned>(body: &str) -> Result<T, EngineError> {
    serde_json::from_str(body).map_err(|error| EngineError::because("an order cannot be read", error))
}

/// An order out of the row of a look-up. One that cannot be read counts as not kept: no report waits for ever for it.
fn reported(row: &Row, found_by: FoundBy) -> Option<Box<ReportedOrder>> {
    let read = || {
        let option = row.optional_text(1)?.map(|option| parse::<OrderedOption>(&option)).transpose()?;
        let option = option.map(|ordered| ordered.option);
        Ok::<_, EngineError>(ReportedOrder { order: parse(&row.text(0)?)?, option, found_by })
    };
    let read = read();
    if let Err(error) = &read {
        tracing::error!(error = error as &dyn std::error::Error, "the order of a report cannot be read");
    }
    read.ok().map(Box::new)
}

fn names(asked: &OrderQuery) -> [String; 2] {
    let OrderQuery { order, request_id } = asked;
    let identifier = name::of_identifier(&order.partner, &order.intent, &order.external_id);
    [identifier, name::of_request(&order.partner, &order.intent, request_id)]
}

/// The order that a report is about: by the partner's own identifier, else by its request.
pub(super) fn find_on_sqlite(tx: &Batch<'_>, asked: &OrderQuery) -> Result<Option<Box<ReportedOrder>>, EngineError> {
    let [identifier, request] = names(asked);
    let ways = [(OF_NAME, identifier, FoundBy::Identifier), (OPEN_OF_NAME, request, FoundBy::Request)];
    for (sql, name, found_by) in ways {
        if let Some(row) = tx.query(sql, &[name.into()])?.first() {
            return Ok(reported(row, found_by));
        }
    }
    Ok(None)
}

/// The same for many reports, by their places from 1 on.
pub(super) async fn find_on_postgres(
    engine: &Postgres,
    asked: &[OrderQuery],
) -> Result<HashMap<u64, Box<ReportedOrder>>, EngineError> {
    let names: Vec<[String; 2]> = asked.iter().map(names).collect();
    let column = |which: usize| Column::of_rows(names.iter().map(|names| vec![names[which].as_str().into()]).collect());
    let (identifiers, requests) = (column(0)?, column(1)?);
    let (by_identifier, by_request) =
        engine.query_columns_of_two((OF_MANY_NAMES, &identifiers), (OPEN_OF_MANY_NAMES, &requests)).await?;
    let mut found = HashMap::new();
    for (rows, found_by) in [(by_request, FoundBy::Request), (by_identifier, FoundBy::Identifier)] {
        for row in &rows {
            if let Some(order) = reported(row, found_by) {
                found.insert(row.number(2)?, order);
            }
        }
    }
    Ok(found)
}

/// Keeps an order that a report has closed.
pub(super) fn close_on_sqlite(tx: &Batch<'_>, ClosedOrder { order, names }: &ClosedOrder) -> Result<(), EngineError> {
    tx.execute(CLOSE, &closing(order)?)?;
    tx.execute(tables::ADD_NAMES_ON_SQLITE, &tables::values_of_names(Kind::Orders, order.id.as_str(), names)?)?;
    match order.feed() {
        Some(name) => feed::tell_on_sqlite(tx, Kind::Orders, order.id.as_str(), &name),
        None => Ok(()),
    }
}

/// How far the orders are that reports are to close.
pub(super) async fn to_close_on_postgres(
    tx: &mut PostgresTx,
    ids: impl Iterator<Item = &OrderId>,
) -> Result<HashMap<OrderId, Order>, EngineError> {
    let keys: Vec<Vec<Value>> = ids.map(|id| vec![id.as_str().into()]).collect();
    if keys.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = tx.query_columns(OF_MANY_KEYS, &Column::of_rows(keys)?).await?;
    let order = |row: &Row| read(row).map(|order| (order.id.clone(), order));
    rows.iter().map(order).collect()
}

/// Keeps orders that reports have closed.
pub(super) async fn close_on_postgres(tx: &mut PostgresTx, closed: &[ClosedOrder]) -> Result<(), EngineError> {
    if closed.is_empty() {
        return Ok(());
    }
    let (mut rows, mut named) = (Vec::with_capacity(closed.len()), Vec::new());
    for ClosedOrder { order, names } in closed {
        rows.push(closing(order)?);
        named.extend(tables::rows_of_names(Kind::Orders, order.id.as_str(), names.clone())?);
    }
    tx.query_columns(CLOSE_MANY, &Column::of_rows(rows)?).await?;
    if !named.is_empty() {
        tx.query_columns(tables::ADD_NAMES_ON_POSTGRES, &Column::of_rows(named)?).await?;
    }
    let told = |closed: &ClosedOrder| Some((closed.order.id.as_str().to_owned(), closed.order.feed()?));
    feed::tell_on_postgres(tx, Kind::Orders, closed.iter().filter_map(told).collect()).await
}

/// What is written of a closed order: status, body, key.
fn closing(order: &Order) -> Result<Vec<Value>, EngineError> {
    let body = serde_json::to_string(order).map_err(|error| EngineError::because("an order cannot be kept", error))?;
    Ok(vec![order.status().unwrap_or_default().into(), body.into(), order.id.as_str().into()])
}
