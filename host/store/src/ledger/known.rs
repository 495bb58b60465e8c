//! What is known of orders before their reports are judged: the way of every report, so a batch of them is one job of a
//! thread that reads, or one round trip.

use std::collections::HashMap;

use intent_gateway_domain::receipt::{QuotedOptions, RANKINGS_OF_REQUEST_MAX};
use intent_gateway_ledger::{BATCH_MAX, KnownOrder, OrderQuery};

use super::row::{self, columns};
use super::{LAST_BOOKED, key, orders};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::evidence::{self, keepable_name};
use crate::postgres::Postgres;
use crate::records::SqlStore;
use crate::sqlite::Batch;
use crate::value::{Column, Row, Value};

/// The statements below say it as a figure.
const _: () = assert!(RANKINGS_OF_REQUEST_MAX == 3);

/// What a partner has quoted in the latest rankings of a request. The order of the tables is the order of the search.
const QUOTED: &str = "SELECT id, part.at_ms, version, contract, quoted FROM receipt_parts AS part \
                      CROSS JOIN receipts AS ranking WHERE part.request_id = $1 AND part.intent = $2 AND partner = $3 \
                      AND shown > 0 AND ranking.number = receipt ORDER BY part.at_ms DESC, receipt DESC LIMIT 3";
/// The same for many at once.
const QUOTED_OF_MANY: &str = "SELECT place, id, part.at_ms, version, contract, quoted FROM UNNEST($1, $2, $3) \
                              WITH ORDINALITY AS wanted (the_request, the_intent, the_partner, place) \
                              CROSS JOIN LATERAL (SELECT receipt, at_ms, quoted FROM receipt_parts \
                              WHERE request_id = the_request AND intent = the_intent AND partner = the_partner \
                              AND shown > 0 ORDER BY at_ms DESC, receipt DESC LIMIT 3) AS part \
                              JOIN receipts ON number = receipt ORDER BY place, part.at_ms DESC, receipt DESC";
/// What was last booked for many orders, whether or not it stands.
const LAST_BOOKED_OF_MANY: &str = concat!(
    "SELECT ",
    columns!(),
    ", place FROM UNNEST($1, $2, $3) WITH ORDINALITY AS wanted (the_partner, the_intent, the_external_id, place) \
     CROSS JOIN LATERAL (SELECT ",
    columns!(),
    " FROM ledger WHERE partner = the_partner AND intent = the_intent AND external_id = the_external_id \
     AND kind < 2 ORDER BY turn DESC LIMIT 1) AS booked"
);

impl SqlStore {
    pub(super) async fn look_up_batch(&self, asked: Vec<OrderQuery>) -> Result<Vec<KnownOrder>, EngineError> {
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        if asked.len() > BATCH_MAX {
            return Err(EngineError::failed("a batch asks for too many orders"));
        }
        match &self.engine {
            Engine::Sqlite(engine) => engine.read_batch(move |tx| look_up_on_sqlite(tx, &asked)).await,
            Engine::Postgres(engine) => look_up_on_postgres(engine, &asked).await,
        }
    }
}

fn request(asked: &OrderQuery) -> Vec<Value> {
    let OrderQuery { order, request_id } = asked;
    vec![keepable_name(request_id).into(), order.intent.as_str().into(), order.partner.as_str().into()]
}

/// What was quoted, out of its row from a column on. No report, and none of its batch, waits for ever because a receipt is
/// damaged: it counts as not kept.
fn quoted_of(row: &Row, from: usize) -> Option<QuotedOptions> {
    let quoted = evidence::read_quoted(row, from);
    if let Err(error) = &quoted {
        tracing::error!(error = error as &dyn std::error::Error, "what a partner has quoted cannot be read");
    }
    quoted.ok()
}

fn look_up_on_sqlite(tx: &Batch<'_>, asked: &[OrderQuery]) -> Result<Vec<KnownOrder>, EngineError> {
    let look_up = |asked: &OrderQuery| {
        let booked = tx.query(LAST_BOOKED, &key(&asked.order))?.first().map(row::entry).transpose()?;
        let quoted = tx.query(QUOTED, &request(asked))?;
        let quoted = quoted.iter().filter_map(|row| quoted_of(row, 0)).collect();
        Ok(KnownOrder { booked, quoted, ordered: orders::find_on_sqlite(tx, asked)? })
    };
    asked.iter().map(look_up).collect()
}

async fn look_up_on_postgres(engine: &Postgres, asked: &[OrderQuery]) -> Result<Vec<KnownOrder>, EngineError> {
    // No order that is booked holds a NUL character, and no batch may fail for one that is not.
    let order = |asked: &OrderQuery| {
        let values = key(&asked.order);
        if values.iter().any(|value| value.check().is_err()) { vec!["".into(), "".into(), "".into()] } else { values }
    };
    let orders = Column::of_rows(asked.iter().map(order).collect())?;
    let requests = Column::of_rows(asked.iter().map(request).collect())?;
    let (booked, quoted) =
        engine.query_columns_of_two((LAST_BOOKED_OF_MANY, &orders), (QUOTED_OF_MANY, &requests)).await?;
    let mut known: HashMap<u64, KnownOrder> = HashMap::new();
    for (place, order) in orders::find_on_postgres(engine, asked).await? {
        known.entry(place).or_default().ordered = Some(order);
    }
    for row in &booked {
        known.entry(row.number(row::WIDTH)?).or_default().booked = Some(row::entry(row)?);
    }
    for row in &quoted {
        known.entry(row.number(0)?).or_default().quoted.extend(quoted_of(row, 1));
    }
    // Places count from 1.
    Ok((1..).zip(asked).map(|(place, _)| known.remove(&place).unwrap_or_default()).collect())
}
