//! Whether every receipt that is kept can be read, in every segment and in the tables of before, and parts of receipts belong to
//! theirs.

use intent_gateway_domain::check::{CheckedPart, Tell};
use intent_gateway_domain::store::StoreError;

use super::kept;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::evidence::{receipt, receipt_columns};
use crate::records::SqlStore;
use crate::sqlite::{Batch, OpenSegments};
use crate::value::{Row, Value};

/// Receipts read at once, with their parts.
const RECEIPTS: u32 = 20;

/// The questions, to the tables of a file and to PostgreSQL's views; from the newest receipt down.
struct Statements {
    page: &'static str,
    parts: &'static str,
    /// What a part repeats of its receipt.
    repeated: &'static str,
    /// Receipts of parts, and whether they are there.
    of_parts: &'static str,
}

macro_rules! statements {
    ($receipts:literal, $parts:literal) => {
        Statements {
            page: concat!(
                "SELECT ",
                receipt_columns::columns!(),
                " FROM ",
                $receipts,
                " WHERE number < $1 ORDER BY number DESC LIMIT $2"
            ),
            parts: concat!(
                "SELECT ",
                receipt_columns::part_columns!(),
                " FROM ",
                $parts,
                " WHERE receipt = $1 ORDER BY place"
            ),
            repeated: concat!("SELECT request_id, intent, at_ms FROM ", $parts, " WHERE receipt = $1 ORDER BY place"),
            of_parts: concat!(
                "SELECT part.receipt, one.id FROM (SELECT DISTINCT receipt FROM ",
                $parts,
                " WHERE receipt < $1 ORDER BY receipt DESC LIMIT $2) AS part LEFT JOIN ",
                $receipts,
                " AS one ON one.number = part.receipt ORDER BY part.receipt DESC"
            ),
        }
    };
}

const OF_FILE: Statements = statements!("receipts", "receipt_parts");
const OF_ALL: Statements = statements!("all_receipts", "all_receipt_parts");

/// Where receipts lie.
#[derive(Clone, Copy)]
enum Place {
    /// A file of SQLite.
    Segment(u64),
    /// The tables of before on SQLite; all of PostgreSQL.
    Tables,
}

/// A receipt with its parts, and what these repeat of it.
struct Whole {
    header: Row,
    parts: Vec<Row>,
    repeated: Vec<Row>,
}

/// Receipts, and receipts that parts name.
struct Page {
    receipts: Vec<Whole>,
    named: Vec<Row>,
}

impl SqlStore {
    /// Reads receipts with their parts: all, or about as many of the newest as are named.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails; that one cannot be read is no error.
    pub async fn check_receipts(&self, newest: Option<u64>, tell: Tell<'_>) -> Result<CheckedPart, StoreError> {
        let mut part = CheckedPart::new("receipts");
        let check = async {
            let mut places = vec![Place::Tables];
            if let Engine::Sqlite(_) = &self.engine {
                places.extend(kept(&self.engine).await?.iter().map(|known| Place::Segment(known.segment.number)));
            }
            for place in places.into_iter().rev() {
                self.check_place(place, newest.unwrap_or(u64::MAX), &mut part, tell).await?;
            }
            Ok::<_, EngineError>(())
        };
        check.await.map_err(EngineError::into_store)?;
        Ok(part)
    }

    async fn check_place(
        &self,
        place: Place,
        enough: u64,
        part: &mut CheckedPart,
        tell: Tell<'_>,
    ) -> Result<(), EngineError> {
        let (mut below, mut named_below) = (Some(i64::MAX), Some(i64::MAX));
        while part.seen < enough && (below.is_some() || named_below.is_some()) {
            let Page { receipts, named } = self.read_page(place, below, named_below).await?;
            for whole in &receipts {
                part.seen += 1;
                check_receipt(whole, part)?;
            }
            for row in &named {
                if row.optional_text(1)?.is_none() {
                    part.add("RECEIPT_MISSING", row.number(0)?.to_string(), "parts of a receipt that is not there");
                }
            }
            tell(part.name, part.seen);
            below = receipts.last().map(|whole| whole.header.integer(0)).transpose()?;
            named_below = named.last().map(|row| row.integer(0)).transpose()?;
        }
        Ok(())
    }

    /// Those below a number, where there are more.
    async fn read_page(&self, place: Place, below: Option<i64>, named_below: Option<i64>) -> Result<Page, EngineError> {
        let of_file = move |tx: &Batch<'_>| {
            let mut page = Page { receipts: Vec::new(), named: Vec::new() };
            if let Some(below) = below {
                for header in tx.query(OF_FILE.page, &[below.into(), RECEIPTS.into()])? {
                    let number = [header.integer(0)?.into()];
                    let (parts, repeated) = (tx.query(OF_FILE.parts, &number)?, tx.query(OF_FILE.repeated, &number)?);
                    page.receipts.push(Whole { header, parts, repeated });
                }
            }
            if let Some(below) = named_below {
                page.named = tx.query(OF_FILE.of_parts, &[below.into(), RECEIPTS.into()])?;
            }
            Ok(page)
        };
        match (place, &self.engine) {
            (Place::Segment(number), _) => {
                let read = move |segments: &mut OpenSegments| segments.on(number, of_file);
                let page = self.receipts.files()?.read(read).await?;
                // A file that is missing holds nothing: its segment was forgotten, or removed by hand.
                Ok(page.unwrap_or(Page { receipts: Vec::new(), named: Vec::new() }))
            }
            (Place::Tables, Engine::Sqlite(engine)) => engine.read_batch(of_file).await,
            (Place::Tables, Engine::Postgres(_)) => {
                let mut page = Page { receipts: Vec::new(), named: Vec::new() };
                let mut tx = self.engine.read().await?;
                if let Some(below) = below {
                    for header in tx.query(OF_ALL.page, vec![below.into(), RECEIPTS.into()]).await? {
                        let number = Value::from(header.integer(0)?);
                        let parts = tx.query(OF_ALL.parts, vec![number.clone()]).await?;
                        let repeated = tx.query(OF_ALL.repeated, vec![number]).await?;
                        page.receipts.push(Whole { header, parts, repeated });
                    }
                }
                if let Some(below) = named_below {
                    page.named = tx.query(OF_ALL.of_parts, vec![below.into(), RECEIPTS.into()]).await?;
                }
                tx.rollback().await;
                Ok(page)
            }
        }
    }
}

fn check_receipt(Whole { header, parts, repeated }: &Whole, part: &mut CheckedPart) -> Result<(), EngineError> {
    let id = header.text(1)?;
    if let Err(error) = receipt(header, parts) {
        part.add("ROW_UNREADABLE", id, error.to_string());
        return Ok(());
    }
    let of_receipt = (header.text(3)?, header.text(4)?, header.number(2)?);
    for repeated in repeated {
        if (repeated.text(0)?, repeated.text(1)?, repeated.number(2)?) != of_receipt {
            part.add("COLUMN_DIFFERS", id.as_str(), "a part has another request, intent or time than its receipt");
        }
    }
    Ok(())
}
