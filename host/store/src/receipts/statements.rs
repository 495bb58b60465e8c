//! The questions to receipts, for whoever reads them and whoever checks them: once to the tables of a file, and once to
//! PostgreSQL's views. Parameters appear in their order.

use crate::engine::Engine;
use crate::error::EngineError;
use crate::evidence::receipt_columns::{self, COUNT};
use crate::records::SqlStore;
use crate::sqlite::{Batch, OpenSegments};
use crate::value::{Row, Value};

/// Columns of a receipt and its dictionary, in rows that hold those of a part after them.
const RECEIPT_COLUMNS: usize = COUNT + 1;
/// The first column of a part, which no part is without.
const PARTNER: usize = RECEIPT_COLUMNS;

pub(super) struct Statements {
    /// A receipt and its parts.
    pub(super) receipt: &'static str,
    /// Receipts and their parts, from one down.
    pub(super) page: &'static str,
    /// The same with the parts of an intent's receipts alone.
    pub(super) of_intent: &'static str,
    /// Receipts of parts, and whether they are there.
    pub(super) of_parts: &'static str,
    pub(super) shown: &'static str,
    pub(super) of_request: &'static str,
    pub(super) recent: &'static str,
    pub(super) of_user: &'static str,
}

/// Receipts with their parts, in one row for each part, or one without a part.
macro_rules! whole {
    ($receipts:literal, $parts:literal, $which:literal, $of:literal, $order:literal) => {
        concat!(
            "SELECT one.*, (SELECT bytes FROM receipt_dictionaries AS known WHERE known.number = one.dictionary), \
             part.partner, COALESCE(part.quoted, ''), COALESCE(part.body, ''), part.request_id, part.intent, part.at_ms, \
             (SELECT bytes FROM receipt_dictionaries AS known WHERE known.number = part.dictionary) FROM (SELECT ",
            receipt_columns::columns!(),
            " FROM ",
            $receipts,
            " WHERE ",
            $which,
            ") AS one LEFT JOIN ",
            $parts,
            " AS part ON part.receipt = one.number",
            $of,
            " ORDER BY ",
            $order,
            "part.place"
        )
    };
}

macro_rules! statements {
    ($receipts:literal, $parts:literal) => {
        Statements {
            receipt: whole!($receipts, $parts, "id = $1", "", ""),
            page: whole!($receipts, $parts, "number < $1 ORDER BY number DESC LIMIT $2", "", "one.number DESC, "),
            of_intent: whole!(
                $receipts,
                $parts,
                "number < $1 ORDER BY number DESC LIMIT $2",
                " AND part.intent = $3",
                "one.number DESC, "
            ),
            of_parts: concat!(
                "SELECT part.receipt, one.id FROM (SELECT DISTINCT receipt FROM ",
                $parts,
                " WHERE receipt < $1 ORDER BY receipt DESC LIMIT $2) AS part LEFT JOIN ",
                $receipts,
                " AS one ON one.number = part.receipt ORDER BY part.receipt DESC"
            ),
            // Of the one partner's shown options alone: every call of a tool asks it.
            shown: concat!(
                "SELECT quoted, (SELECT bytes FROM receipt_dictionaries AS known WHERE known.number = dictionary) FROM ",
                $parts,
                " WHERE receipt = (SELECT number FROM ",
                $receipts,
                " WHERE id = $1) AND partner = $2"
            ),
            of_request: concat!(
                "SELECT id, at_ms, number FROM ",
                $receipts,
                " WHERE request_id = $1 ORDER BY at_ms DESC, number DESC LIMIT $2"
            ),
            // By their numbers, which is how they lie: an index for what is asked when values are removed would cost every
            // search.
            recent: concat!("SELECT id, intent FROM ", $receipts, " ORDER BY number DESC LIMIT $1"),
            of_user: concat!(
                "SELECT number, id, request_id FROM ",
                $receipts,
                " WHERE user_mark = $1 AND number < $2 ORDER BY number DESC LIMIT $3"
            ),
        }
    };
}

pub(super) const OF_FILE: Statements = statements!("receipts", "receipt_parts");
pub(super) const OF_ALL: Statements = statements!("all_receipts", "all_receipt_parts");

/// A receipt with its parts.
pub(super) struct Whole {
    pub(super) header: Row,
    /// Partner, quoted options and body of each, what it repeats of its receipt (request, intent and time), and its dictionary.
    pub(super) parts: Vec<Row>,
}

/// Puts rows of receipts and parts together, each receipt with its parts.
pub(super) fn put_together(rows: Vec<Row>) -> Result<Vec<Whole>, EngineError> {
    let mut receipts: Vec<Whole> = Vec::new();
    for row in rows {
        let (number, has_part) = (row.integer(0)?, row.optional_text(PARTNER)?.is_some());
        let mut header = row.into_values();
        let part = Row(header.split_off(RECEIPT_COLUMNS));
        let parts = has_part.then_some(part);
        match receipts.last_mut() {
            Some(last) if last.header.integer(0)? == number => last.parts.extend(parts),
            _ => receipts.push(Whole { header: Row(header), parts: parts.into_iter().collect() }),
        }
    }
    Ok(receipts)
}

/// Where receipts lie.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// A segment on SQLite.
    Segment(u64),
    /// The tables of before on SQLite; all of PostgreSQL.
    Tables,
}

impl SqlStore {
    /// Asks one of the questions at a place.
    pub(super) async fn ask_at(
        &self,
        place: Place,
        which: impl Fn(&Statements) -> &'static str,
        values: Vec<Value>,
    ) -> Result<Vec<Row>, EngineError> {
        match (place, &self.engine) {
            (Place::Segment(segment), _) => {
                let sql = which(&OF_FILE);
                let ask =
                    move |segments: &mut OpenSegments, file| segments.on(file, |tx: &Batch<'_>| tx.query(sql, &values));
                // A file that is missing holds nothing: its segment was forgotten, or removed by hand.
                Ok(self.ask_segment(segment, ask).await?.unwrap_or_default())
            }
            (Place::Tables, Engine::Sqlite(_)) => self.engine.query(which(&OF_FILE), values).await,
            (Place::Tables, Engine::Postgres(_)) => self.engine.query(which(&OF_ALL), values).await,
        }
    }
}
