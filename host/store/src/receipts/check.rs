//! Whether every receipt that is kept can be read, in every segment and in the tables of before, and parts of receipts belong to
//! theirs. What thinning has let go is no damage; what it left has to be there.

use intent_gateway_domain::check::{CheckedPart, Tell};
use intent_gateway_domain::store::StoreError;

use super::statements::{Place, Whole, put_together};
use super::{KnownSegment, first_number, kept};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::evidence::receipt;
use crate::records::SqlStore;
use crate::sqlite::OpenSegments;
use crate::value::Value;

/// Receipts read at once, with their parts.
const RECEIPTS: u32 = 20;
const COUNT_IN_FILE: &str = "SELECT COUNT(*) FROM receipts";
const COUNT_IN_TABLE: &str = "SELECT COUNT(*) FROM segment_receipts WHERE number > $1 AND number < $2";

impl SqlStore {
    /// Reads receipts with their parts: all, or about as many of the newest as are named.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails; that one cannot be read is no error.
    pub async fn check_receipts(&self, newest: Option<u64>, tell: Tell<'_>) -> Result<CheckedPart, StoreError> {
        let mut part = CheckedPart::new("receipts");
        let check = async {
            let segments = kept(&self.engine).await?;
            let mut places = vec![Place::Tables];
            if let Engine::Sqlite(_) = &self.engine {
                places.extend(segments.iter().map(|known| Place::Segment(known.segment.number)));
            }
            for place in places.into_iter().rev() {
                self.check_place(place, newest.unwrap_or(u64::MAX), &mut part, tell).await?;
            }
            for known in &segments {
                self.check_thinned(known, &mut part).await?;
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
            let next = |below: Option<i64>| below.map(|below| vec![Value::from(below), RECEIPTS.into()]);
            if let Some(values) = next(below) {
                let receipts = put_together(self.ask_at(place, |ask| ask.page, values).await?)?;
                for whole in &receipts {
                    part.seen += 1;
                    check_receipt(whole, part)?;
                }
                below = receipts.last().map(|whole| whole.header.integer(0)).transpose()?;
            }
            if let Some(values) = next(named_below) {
                let named = self.ask_at(place, |ask| ask.of_parts, values).await?;
                for row in &named {
                    if row.optional_text(1)?.is_none() {
                        part.add("RECEIPT_MISSING", row.number(0)?.to_string(), "parts of a receipt that is not there");
                    }
                }
                named_below = named.last().map(|row| row.integer(0)).transpose()?;
            }
            tell(part.name, part.seen);
        }
        Ok(())
    }

    /// Compares how many receipts a thinned segment holds with how many were left in it. Of others nobody knows: a number may have
    /// been given to none.
    async fn check_thinned(&self, known: &KnownSegment, part: &mut CheckedPart) -> Result<(), EngineError> {
        let (Some(left), number) = (known.left, known.segment.number) else { return Ok(()) };
        let rows = match &self.engine {
            Engine::Sqlite(_) => {
                let count = |segments: &mut OpenSegments, file| segments.ask(file, COUNT_IN_FILE);
                self.ask_segment(number, count).await?.unwrap_or_default()
            }
            Engine::Postgres(_) => {
                let bounds = [first_number(number), first_number(number + 1)].map(Value::number);
                let bounds = bounds.into_iter().collect::<Result<_, _>>()?;
                self.engine.query(COUNT_IN_TABLE, bounds).await?
            }
        };
        // A segment that was forgotten or written anew in between has nothing to be compared with.
        let again = kept(&self.engine).await?.into_iter().find(|again| again.segment.number == number);
        let found = rows.first().map_or(Ok(0), |row| row.number(0))?;
        if found < left && again.is_some_and(|again| again.file == known.file) {
            let what = format!("a segment holds {found} receipts, of {left} that thinning left");
            part.add("RECEIPT_MISSING", format!("segment {number}"), what);
        }
        Ok(())
    }
}

fn check_receipt(Whole { header, parts }: &Whole, part: &mut CheckedPart) -> Result<(), EngineError> {
    let id = header.text(1)?;
    if let Err(error) = receipt(header, parts) {
        part.add("ROW_UNREADABLE", id, error.to_string());
        return Ok(());
    }
    let of_receipt = (header.text(3)?, header.text(4)?, header.number(2)?);
    for repeated in parts {
        if (repeated.text(3)?, repeated.text(4)?, repeated.number(5)?) != of_receipt {
            part.add("COLUMN_DIFFERS", id.as_str(), "a part has another request, intent or time than its receipt");
        }
    }
    Ok(())
}
