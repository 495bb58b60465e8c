//! Segments are written anew without the receipts that go before their segment does (the rules: `domain::growth::thinning`).
//!
//! What stays is copied into a file or partition of its own, which takes the place of the one before in a single transaction; that
//! one goes then as any segment that is forgotten. So nothing is deleted row by row, and whoever reads finds either the one or the
//! other, whole. A copy that was begun and did not take a place is known by its row in the table, and goes in the same way.

use std::collections::HashSet;
use std::time::Instant;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::growth::thinning::{RankingFacts, ThinningRules};
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::order::name::of_anything;
use intent_gateway_domain::store::StoreError;

use super::forgetting::{GIVE_COPY_UP, give_way};
use super::{INSERT_DICTIONARY, KnownSegment, NEXT_NUMBER, first_number, kept, partitions};
use crate::engine::{Engine, Tx};
use crate::error::EngineError;
use crate::evidence::{read_bookable_until, receipt_columns};
use crate::records::SqlStore;
use crate::sqlite::{Batch, OpenSegments, Sqlite};
use crate::value::{Column, Row, Value};

/// Receipts that are looked at in one go.
const LOOKED_AT_ONCE: u32 = 200;
/// Receipts that are copied in one go. Who keeps receipts waits for so many on SQLite.
const COPIED_AT_ONCE: usize = 50;
/// Dictionaries that are copied in one go.
const DICTIONARIES_AT_ONCE: u32 = 8;
/// How often a copy tries to take its place, in the face of others who read and write.
const SWAP_TRIES: u32 = 10;

const PAGE_OF_FILE: &str = "SELECT number, id, request_id, intent, at_ms, body, \
                            (SELECT bytes FROM receipt_dictionaries AS known WHERE known.number = dictionary) FROM receipts WHERE number > $1 \
                            ORDER BY number LIMIT $2";
const PAGE_OF_TABLE: &str = "SELECT number, id, request_id, intent, at_ms, body, \
                            (SELECT bytes FROM receipt_dictionaries AS known WHERE known.number = dictionary) FROM segment_receipts WHERE number > $1 \
                             AND number < $3 ORDER BY number LIMIT $2";

/// What points to a receipt: an order, by the request or by the receipt, a finding, a fault of a contract. Entries of the ledger
/// are found with them, for of each either the order is known, or it was found that none is.
macro_rules! is_pointed_to {
    ($by_request:literal, $by_receipt:literal, $request:literal) => {
        concat!(
            "EXISTS (SELECT 1 FROM record_names WHERE kind = 'orders' AND name IN (",
            $by_request,
            ", ",
            $by_receipt,
            ")) OR EXISTS (SELECT 1 FROM findings WHERE request_id = ",
            $request,
            ") OR EXISTS (SELECT 1 FROM contract_faults WHERE request_id = ",
            $request,
            ")"
        )
    };
}
const POINTED_TO: &str = concat!("SELECT 1 WHERE ", is_pointed_to!("$1", "$2", "$3"));
const POINTED_TO_OF_MANY: &str = concat!(
    "SELECT place FROM UNNEST($1, $2, $3) WITH ORDINALITY AS asked (by_request, by_receipt, the_request, place) WHERE ",
    is_pointed_to!("by_request", "by_receipt", "the_request")
);

const NOTE_LOOK: &str = "UPDATE receipt_segments SET looked_at_ms = $2 WHERE number = $1";
const BEGIN_COPY: &str = "INSERT INTO receipt_segments (number, begun_at_ms, receipts, payload_bytes, state) \
                          VALUES ($1, 0, 0, 0, 'copying')";
const NO_COPY: &str = "DELETE FROM receipt_segments WHERE number = $1 AND state = 'copying'";
/// The row of the copy becomes that of what it replaces, which goes.
const REPLACE: &str = "UPDATE receipt_segments SET state = 'going', file = $2 WHERE number = $1 AND state = 'copying'";
const TAKE_PLACE: &str = "UPDATE receipt_segments SET file = $3, receipts = $4, remaining = $5, looked_at_ms = $6 \
                          WHERE number = $1 AND state = 'kept' AND COALESCE(file, number) = $2 AND changes = $7";

const RECEIPT: &str = concat!("SELECT ", receipt_columns::columns!(), " FROM receipts WHERE number = $1");
const PARTS: &str = concat!("SELECT ", receipt_columns::part_columns!(), " FROM receipt_parts WHERE receipt = $1");
const INSERT_RECEIPT: &str = concat!(
    "INSERT INTO receipts (",
    receipt_columns::columns!(),
    ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"
);
const INSERT_PART: &str = concat!(
    "INSERT INTO receipt_parts (",
    receipt_columns::part_columns!(),
    ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
);
/// From one on, so that a copy has those of its receipts; there are few.
const DICTIONARIES: &str = "SELECT number, bytes FROM receipt_dictionaries WHERE number > $1 ORDER BY number LIMIT $2";

/// What thinning has come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thinned {
    /// Segments that were written anew.
    pub segments: u64,
    /// Receipts that have gone.
    pub receipts: u64,
}

/// By what a segment is thinned.
#[derive(Clone, Copy)]
struct Look<'a> {
    rules: &'a ThinningRules,
    now: Timestamp,
    /// When the segment ended: what it holds is no younger, whatever it says of its time.
    ended: Timestamp,
}

/// What becomes of a segment.
#[derive(PartialEq, Eq)]
struct Plan {
    /// Numbers of the receipts that stay.
    staying: Vec<u64>,
    receipts: u64,
    last: u64,
}

impl Plan {
    /// How many stay.
    fn kept(&self) -> u64 {
        u64::try_from(self.staying.len()).unwrap_or(u64::MAX)
    }
}

/// A copy that is to take the place of its segment.
struct Replacement<'a> {
    known: &'a KnownSegment,
    /// The number of the copy's file or partition.
    copy: u64,
    plan: &'a Plan,
    now: Timestamp,
    /// What PostgreSQL noted when the copy was whole: whoever reads what was there before is waited for. Empty on SQLite.
    moment: String,
}

impl SqlStore {
    /// Writes those segments anew of which receipts go by the rules, one after the other, the oldest first. One that cannot be
    /// written now, for somebody reads or changes it, is left for the next time.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails; what was thinned by then is.
    pub async fn thin_segments(&self, rules: &ThinningRules, now: Timestamp) -> Result<Thinned, StoreError> {
        self.thin(rules, now).await.map_err(EngineError::into_store)
    }

    async fn thin(&self, rules: &ThinningRules, now: Timestamp) -> Result<Thinned, EngineError> {
        let mut thinned = Thinned::default();
        if rules.is_empty() {
            return Ok(thinned);
        }
        let _copies = self.receipts.thinning.lock().await;
        let segments = kept(&self.engine).await?;
        // The last one is still written.
        for pair in segments.windows(2) {
            let [segment, next] = pair else { continue };
            let look = Look { rules, now, ended: next.segment.begun };
            if !rules.is_due(look.ended, segment.looked_at, now) {
                continue;
            }
            match self.thin_one(segment, look).await? {
                Some(0) => {}
                Some(receipts) => {
                    thinned.segments += 1;
                    thinned.receipts += receipts;
                }
                None => {
                    tracing::info!(
                        segment = segment.segment.number,
                        "a segment of receipts cannot be thinned yet: somebody reads or changes it"
                    );
                }
            }
        }
        Ok(thinned)
    }

    /// How many receipts of a segment have gone; none where that has to wait.
    async fn thin_one(&self, known: &KnownSegment, look: Look<'_>) -> Result<Option<u64>, EngineError> {
        let number = known.segment.number;
        let plan = self.plan(number, look).await?;
        let kept = plan.kept();
        if kept == plan.receipts {
            let mut tx = self.engine.write().await?;
            tx.execute(NOTE_LOOK, vec![Value::number(number)?, Value::time(look.now)?]).await?;
            tx.commit().await?;
            return Ok(Some(0));
        }
        let copy = self.begin_copy(number).await?;
        let is_done = self.fill_and_swap(known, copy, &plan, look).await;
        let _changing = self.receipts.changing.lock().await;
        if !matches!(is_done, Ok(true)) {
            self.write_one(GIVE_COPY_UP, copy).await?;
        }
        self.finish_going().await?;
        Ok(is_done?.then(|| plan.receipts - kept))
    }

    /// Fills a copy, and puts it in the place of its segment, unless something has happened to the segment meanwhile.
    async fn fill_and_swap(
        &self,
        known: &KnownSegment,
        copy: u64,
        plan: &Plan,
        look: Look<'_>,
    ) -> Result<bool, EngineError> {
        if let Engine::Sqlite(_) = &self.engine {
            self.copy_dictionaries(known.file, copy).await?;
        }
        for receipts in plan.staying.chunks(COPIED_AT_ONCE) {
            let begun = Instant::now();
            match &self.engine {
                Engine::Sqlite(_) => self.copy_between_files(known.file, copy, receipts).await?,
                Engine::Postgres(engine) => partitions::copy(engine, known.file, copy, receipts).await?,
            }
            give_way(begun).await;
        }
        // An order or a finding may have come meanwhile that points to a receipt which was to go.
        if self.plan(known.segment.number, look).await? != *plan {
            return Ok(false);
        }
        let moment = match &self.engine {
            Engine::Sqlite(_) => String::new(),
            Engine::Postgres(engine) => partitions::note_moment(engine).await?,
        };
        let replacement = Replacement { known, copy, plan, now: look.now, moment };
        for _ in 0..SWAP_TRIES {
            let begun = Instant::now();
            if self.swap(&replacement).await? {
                return Ok(true);
            }
            give_way(begun).await;
        }
        Ok(false)
    }

    /// Which receipts of a segment stay.
    async fn plan(&self, segment: u64, look: Look<'_>) -> Result<Plan, EngineError> {
        let mut plan = Plan { staying: Vec::new(), receipts: 0, last: first_number(segment) };
        loop {
            let begun = Instant::now();
            let after = Value::number(plan.last)?;
            let rows = match &self.engine {
                Engine::Sqlite(_) => {
                    let page = move |tx: &Batch<'_>| tx.query(PAGE_OF_FILE, &[after.clone(), LOOKED_AT_ONCE.into()]);
                    let ask = move |segments: &mut OpenSegments, file| segments.on(file, &page);
                    self.ask_segment(segment, ask).await?.unwrap_or_default()
                }
                Engine::Postgres(engine) => {
                    let end = Value::number(first_number(segment + 1))?;
                    engine.query(PAGE_OF_TABLE, vec![after, LOOKED_AT_ONCE.into(), end]).await?
                }
            };
            let Some(last) = rows.last() else { return Ok(plan) };
            plan.last = last.number(0)?;
            let pointed_to = self.pointed_to(&rows).await?;
            for (row, is_pointed_to) in rows.iter().zip(pointed_to) {
                plan.receipts += 1;
                if stays(row, is_pointed_to, look)? {
                    plan.staying.push(row.number(0)?);
                }
            }
            give_way(begun).await;
        }
    }

    /// Whether something points to each of some receipts.
    async fn pointed_to(&self, receipts: &[Row]) -> Result<Vec<bool>, EngineError> {
        let question = |row: &Row| {
            let (id, request_id) = (row.text(1)?, row.text(2)?);
            Ok(vec![of_anything(&request_id).into(), of_anything(&id).into(), request_id.into()])
        };
        let questions: Vec<Vec<Value>> = receipts.iter().map(question).collect::<Result<_, EngineError>>()?;
        match &self.engine {
            Engine::Sqlite(engine) => {
                let ask = move |tx: &Batch<'_>| {
                    let is_pointed_to = |question: &Vec<Value>| Ok(!tx.query(POINTED_TO, question)?.is_empty());
                    questions.iter().map(is_pointed_to).collect()
                };
                engine.read_batch(ask).await
            }
            Engine::Postgres(engine) => {
                let rows = engine.query_columns(POINTED_TO_OF_MANY, &Column::of_rows(questions)?).await?;
                let places = rows.iter().map(|row| row.number(0)).collect::<Result<HashSet<_>, _>>()?;
                // Places count from 1.
                Ok((1..).zip(receipts).map(|(place, _)| places.contains(&place)).collect())
            }
        }
    }

    /// Begins a copy of a segment; the number of its file or partition. It is noted before it is made, so that none is left that
    /// nobody knows.
    async fn begin_copy(&self, segment: u64) -> Result<u64, EngineError> {
        match &self.engine {
            Engine::Sqlite(engine) => loop {
                let copy = note_copy(engine).await?;
                if self.receipts.files()?.write(move |segments| segments.make(copy)).await? {
                    return Ok(copy);
                }
                // There is a file of that name which is nobody's: it is left alone.
                self.write_one(NO_COPY, copy).await?;
            },
            Engine::Postgres(engine) => {
                let mut tx = engine.write_beside().await?;
                let rows = tx.query(NEXT_NUMBER, Vec::new()).await?;
                let copy =
                    rows.first().ok_or_else(|| EngineError::failed("the counter of segments is gone"))?.number(0)?;
                tx.execute(BEGIN_COPY, vec![Value::number(copy)?]).await?;
                partitions::make_copy(&mut tx, copy, segment).await?;
                tx.commit().await?;
                Ok(copy)
            }
        }
    }

    /// Copies all dictionaries of a file: which of them the receipts need that stay is not known before these are looked at.
    async fn copy_dictionaries(&self, from: u64, to: u64) -> Result<(), EngineError> {
        let gone = || EngineError::failed("a file of receipts is gone");
        let files = self.receipts.files()?;
        let mut last = Value::from(0_u32);
        loop {
            let after = [last.clone(), DICTIONARIES_AT_ONCE.into()];
            let read = move |tx: &Batch<'_>| tx.query(DICTIONARIES, &after);
            let rows = files.read(move |segments| segments.on(from, read)).await?.ok_or_else(gone)?;
            let Some(row) = rows.last() else { return Ok(()) };
            last = Value::number(row.number(0)?)?;
            let write =
                move |tx: &Batch<'_>| rows.iter().try_for_each(|row| tx.execute(INSERT_DICTIONARY, &row.0).map(drop));
            files.write(move |segments| segments.on(to, write)).await?.ok_or_else(gone)?;
        }
    }

    async fn copy_between_files(&self, from: u64, to: u64, receipts: &[u64]) -> Result<(), EngineError> {
        let gone = || EngineError::failed("a file of receipts is gone");
        let numbers = receipts.iter().map(|number| Value::number(*number)).collect::<Result<Vec<_>, _>>()?;
        let read = move |tx: &Batch<'_>| {
            let (mut headers, mut parts) = (Vec::new(), Vec::new());
            for number in &numbers {
                headers.extend(tx.query(RECEIPT, [number])?);
                parts.extend(tx.query(PARTS, [number])?);
            }
            Ok((headers, parts))
        };
        let files = self.receipts.files()?;
        let (headers, parts) = files.read(move |segments| segments.on(from, read)).await?.ok_or_else(gone)?;
        let write = move |tx: &Batch<'_>| {
            headers.iter().try_for_each(|row| tx.execute(INSERT_RECEIPT, &row.0).map(drop))?;
            parts.iter().try_for_each(|row| tx.execute(INSERT_PART, &row.0).map(drop))
        };
        files.write(move |segments| segments.on(to, write)).await?.ok_or_else(gone)
    }

    /// Puts a copy in the place of its segment; false where somebody stands in the way, or the segment is not what was copied.
    async fn swap(&self, replacement: &Replacement<'_>) -> Result<bool, EngineError> {
        let mut tx = match &self.engine {
            Engine::Sqlite(_) => self.engine.write().await?,
            // Who books reports has nothing to do with it, and waits for nothing.
            Engine::Postgres(engine) => Tx::from(engine.write_beside().await?),
        };
        match swap_in(&mut tx, replacement).await {
            Ok(true) => tx.commit().await.map(|()| true),
            // Others hold locks, for longer than it is waited for them.
            Ok(false) | Err(EngineError::Unavailable { .. }) => {
                tx.rollback().await;
                Ok(false)
            }
            Err(error) => {
                tx.rollback().await;
                Err(error)
            }
        }
    }
}

async fn swap_in(
    tx: &mut Tx,
    Replacement { known, copy, plan, now, moment }: &Replacement<'_>,
) -> Result<bool, EngineError> {
    let (segment, copy) = (known.segment.number, *copy);
    let given = match (&*tx, known.left) {
        (Tx::Sqlite(_), None) => plan.last - first_number(segment),
        _ => known.receipts,
    };
    let place = [segment, known.file, copy, given, plan.kept(), now.as_ms(), known.changes].map(Value::number);
    let place = place.into_iter().collect::<Result<_, _>>()?;
    if tx.execute(REPLACE, vec![Value::number(copy)?, Value::number(known.file)?]).await? == 0
        || tx.execute(TAKE_PLACE, place).await? == 0
    {
        return Ok(false);
    }
    match tx {
        Tx::Sqlite(_) => Ok(true),
        Tx::Postgres(tx) => partitions::swap(tx, segment, [known.file, copy], moment).await,
    }
}

/// Notes that a copy is begun; its number, which no file had before.
async fn note_copy(engine: &Sqlite) -> Result<u64, EngineError> {
    let note = |tx: &Batch<'_>| {
        let rows = tx.query(NEXT_NUMBER, &[] as &[Value])?;
        let copy = rows.first().ok_or_else(|| EngineError::failed("the counter of segments is gone"))?.number(0)?;
        tx.execute(BEGIN_COPY, &[Value::number(copy)?])?;
        Ok(copy)
    };
    engine.batch(note).await
}

/// Whether a receipt stays. What cannot be read does, for the check tells of it, and so does one that was erased: it takes no room,
/// has nothing to be read, and says that it was erased.
fn stays(row: &Row, is_pointed_to: bool, look: Look<'_>) -> Result<bool, EngineError> {
    let (body, request_id, kept) = (row.bytes(5)?, row.text(2)?, row.time(4)?.min(look.ended));
    let is_bookable = match read_bookable_until(body, row.bytes_if_any(6)?) {
        Ok(until) => until.is_none_or(|until| until > look.now),
        Err(_) => return Ok(true),
    };
    let intent = IntentId::parse(&row.text(3)?).ok();
    Ok(look.rules.keeps(&RankingFacts {
        intent: intent.as_ref(),
        request_id: &request_id,
        age_ms: look.now.ms_since(kept),
        is_pointed_to,
        is_bookable,
    }))
}
