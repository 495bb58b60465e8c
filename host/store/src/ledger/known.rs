//! What is known of orders before their reports are judged: the way of every report, so a batch of them is one job of a
//! thread that reads, or two round trips. What was quoted is looked for in the receipts, for those alone of which nothing else
//! is known: the same job of the thread, or one more round trip.

use std::collections::HashMap;

use intent_gateway_ledger::{BATCH_MAX, KnownOrder, OrderQuery};

use super::row::{self, columns};
use super::{LAST_BOOKED, key, orders};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::evidence::keepable_name;
use crate::postgres::Postgres;
use crate::receipts::{Questions, QuotesOfDatabase, read_quoted_of_files, read_quoted_of_tables};
use crate::records::SqlStore;
use crate::sqlite::{Batch, OpenSegments};
use crate::value::{Column, Value};

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
        let (mut known, quoted) = match &self.engine {
            Engine::Sqlite(_) => {
                let look_up = move |segments: &mut OpenSegments| {
                    let (known, questions, quotes) = segments.on_database(|tx| {
                        let known = look_up_on_sqlite(tx, &asked)?;
                        let questions = questions_about_strangers(&known, &asked);
                        let quotes = QuotesOfDatabase::read(tx, &questions)?;
                        Ok((known, questions, quotes))
                    })?;
                    Ok((known, read_quoted_of_files(segments, &questions, quotes)?))
                };
                self.receipts.files()?.read(look_up).await?
            }
            Engine::Postgres(engine) => {
                let known = look_up_on_postgres(engine, &asked).await?;
                let questions = questions_about_strangers(&known, &asked);
                (known, read_quoted_of_tables(engine, questions).await?)
            }
        };
        for (known, quoted) in known.iter_mut().filter(|known| is_stranger(known)).zip(quoted) {
            known.quoted = quoted;
        }
        Ok(known)
    }
}

/// The others are judged by their order, or answered as they were.
fn is_stranger(known: &KnownOrder) -> bool {
    known.booked.is_none() && known.ordered.is_none()
}

fn questions_about_strangers(known: &[KnownOrder], asked: &[OrderQuery]) -> Questions {
    known.iter().zip(asked).filter(|(known, _)| is_stranger(known)).map(|(_, asked)| request(asked)).collect()
}

fn request(asked: &OrderQuery) -> Vec<Value> {
    let OrderQuery { order, request_id } = asked;
    vec![keepable_name(request_id).into(), order.intent.as_str().into(), order.partner.as_str().into()]
}

fn look_up_on_sqlite(tx: &Batch<'_>, asked: &[OrderQuery]) -> Result<Vec<KnownOrder>, EngineError> {
    let look_up = |asked: &OrderQuery| {
        let booked = tx.query(LAST_BOOKED, &key(&asked.order))?.first().map(row::entry).transpose()?;
        Ok(KnownOrder { booked, quoted: Vec::new(), ordered: orders::find_on_sqlite(tx, asked)? })
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
    let booked = engine.query_columns(LAST_BOOKED_OF_MANY, &orders).await?;
    let mut known: HashMap<u64, KnownOrder> = HashMap::new();
    for (place, order) in orders::find_on_postgres(engine, asked).await? {
        known.entry(place).or_default().ordered = Some(order);
    }
    for row in &booked {
        known.entry(row.number(row::WIDTH)?).or_default().booked = Some(row::entry(row)?);
    }
    // Places count from 1.
    Ok((1..).zip(asked).map(|(place, _)| known.remove(&place).unwrap_or_default()).collect())
}
