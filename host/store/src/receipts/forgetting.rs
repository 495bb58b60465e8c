//! Receipts are forgotten, a segment at a time; those of the tables of before in small steps.

use std::time::{Duration, Instant};

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::growth::Segment;
use intent_gateway_domain::store::StoreError;

use super::{KnownSegment, files_of_kept, first_number, kept, partitions};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::records::SqlStore;
use crate::sqlite::OpenSegments;
use crate::value::{Row, Value};

/// Receipts of before that are forgotten in one transaction: their bodies are overwritten, and nobody else writes meanwhile.
const FORGOTTEN_AT_ONCE: u32 = 50;
/// Between two transactions that delete, at least: others who write have their turn, and the journal of the disk gets shorter.
const PAUSE_MIN: Duration = Duration::from_millis(5);

/// The same receipts as the next: nobody else writes in between.
const FORGET_PARTS: &str = "DELETE FROM receipt_parts WHERE receipt IN \
                            (SELECT number FROM receipts WHERE at_ms < $1 ORDER BY at_ms, number LIMIT $2)";
const FORGET_RECEIPTS: &str = "DELETE FROM receipts WHERE number IN \
                               (SELECT number FROM receipts WHERE at_ms < $1 ORDER BY at_ms, number LIMIT $2)";
const ANY_OLD: &str = "SELECT number FROM receipts WHERE at_ms < $1 ORDER BY at_ms LIMIT 1";
/// What the partitions take, indexes and large values included.
const SIZES: &str = "SELECT number, (COALESCE(pg_total_relation_size(to_regclass('segment_receipts_' || lies_in)), 0) \
                     + COALESCE(pg_total_relation_size(to_regclass('segment_receipt_parts_' || lies_in)), 0))::bigint \
                     FROM (SELECT number, COALESCE(file, number) AS lies_in FROM receipt_segments WHERE state = 'kept') AS kept \
                     ORDER BY number";
const LAST_OF_FILE: &str = "SELECT number, at_ms FROM receipts ORDER BY number DESC LIMIT 1";
const LAST_OF_TABLE: &str = "SELECT number, at_ms FROM segment_receipts WHERE number > $1 ORDER BY number DESC LIMIT 1";
const GOING: &str = "SELECT number, COALESCE(file, number) FROM receipt_segments WHERE state = 'going' ORDER BY number";
const GO: &str = "UPDATE receipt_segments SET state = 'going' WHERE number = $1 AND state = 'kept'";
/// Copies of segments that nobody goes on with.
const COPIES: &str = "SELECT number FROM receipt_segments WHERE state = 'copying'";
pub(super) const GIVE_COPY_UP: &str =
    "UPDATE receipt_segments SET state = 'going' WHERE number = $1 AND state = 'copying'";
const GONE: &str = "DELETE FROM receipt_segments WHERE number = $1 AND state = 'going'";

/// On PostgreSQL, where the dictionaries of all segments lie in one table: there are few of them.
const FORGET_DICTIONARIES: &str = "DELETE FROM receipt_dictionaries WHERE number > $1 AND number < $2";

/// A segment and what it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentSize {
    /// A later one has the greater.
    pub number: u64,
    /// Time of its first receipt.
    pub begun: Timestamp,
    /// Receipts that it was given.
    pub receipts: u64,
    /// Those of them that were left when it was written anew; none where it never was.
    pub left: Option<u64>,
    /// Bytes on the disk, indexes included.
    pub bytes: u64,
}

/// Pauses after a step that has kept others from writing, for as long as it took.
pub(crate) async fn give_way(begun: Instant) {
    tokio::time::sleep(begun.elapsed().max(PAUSE_MIN)).await;
}

impl SqlStore {
    /// Forgets the segments of receipts that hold nothing from `before` on, and the oldest while all together exceed the bounds;
    /// how many receipts were in them. It costs next to nothing, however much they hold.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails; asked again, it goes on.
    pub async fn forget_segments(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.forget_whole(before).await.map_err(EngineError::into_store)
    }

    pub(crate) async fn forget_whole(&self, before: Timestamp) -> Result<u64, EngineError> {
        let _changing = self.receipts.changing.lock().await;
        self.give_up_copies().await?;
        self.finish_going().await?;
        let segments = self.segment_sizes().await?;
        let bare: Vec<Segment> =
            segments.iter().map(|one| Segment { number: one.number, begun: one.begun, bytes: one.bytes }).collect();
        let Some(newest) = bare.last() else { return Ok(0) };
        let last = self.last_time(newest).await?;
        let count = self.receipts.bounds().forgotten(&bare, last, before);
        let mut forgotten = 0;
        for SegmentSize { number, receipts, left, .. } in segments.into_iter().take(count) {
            self.write_one(GO, number).await?;
            forgotten += left.unwrap_or(receipts);
        }
        self.finish_going().await?;
        Ok(forgotten)
    }

    /// Has copies go whose writer has died, or was cut off.
    async fn give_up_copies(&self) -> Result<(), EngineError> {
        // Held by whoever is writing one in this process. In another there is none but for a moment: this is one gateway's work.
        let Ok(_nobody_copies) = self.receipts.thinning.try_lock() else { return Ok(()) };
        for row in self.engine.query(COPIES, Vec::new()).await? {
            self.write_one(GIVE_COPY_UP, row.number(0)?).await?;
        }
        Ok(())
    }

    /// Removes what is left of segments that go, whoever has begun it. For who holds `changing`.
    pub(super) async fn finish_going(&self) -> Result<(), EngineError> {
        self.close_forgotten().await?;
        for row in self.engine.query(GOING, Vec::new()).await? {
            let (number, file) = (row.number(0)?, row.number(1)?);
            let is_gone = match &self.engine {
                Engine::Sqlite(_) => {
                    self.receipts.files()?.remove_slowly(file).await?;
                    true
                }
                Engine::Postgres(engine) => {
                    let is_gone = partitions::remove(engine, file).await?;
                    if is_gone {
                        self.forget_dictionaries(number).await?;
                    }
                    is_gone
                }
            };
            if is_gone {
                self.write_one(GONE, number).await?;
            } else {
                tracing::info!(segment = number, "a segment of receipts cannot be dropped yet: somebody reads it");
            }
        }
        Ok(())
    }

    /// Forgets the dictionaries of a segment. A copy that goes has the number of none.
    async fn forget_dictionaries(&self, segment: u64) -> Result<(), EngineError> {
        let bounds = [first_number(segment), first_number(segment + 1)].map(Value::number);
        let mut tx = self.engine.write().await?;
        tx.execute(FORGET_DICTIONARIES, bounds.into_iter().collect::<Result<_, _>>()?).await?;
        tx.commit().await
    }

    /// Closes the files of segments that are gone, for they take their room until nobody has them open. Another process may have
    /// removed some.
    pub(crate) async fn close_forgotten(&self) -> Result<(), EngineError> {
        if let Engine::Sqlite(_) = self.engine {
            self.receipts.files()?.keep_open(&files_of_kept(&self.engine).await?).await?;
        }
        Ok(())
    }

    /// A statement about one segment, in a transaction of its own.
    pub(super) async fn write_one(&self, sql: &'static str, number: u64) -> Result<(), EngineError> {
        let mut tx = self.engine.write().await?;
        tx.execute(sql, vec![Value::number(number)?]).await?;
        tx.commit().await
    }

    /// The segments of receipts, oldest first, and what each takes.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails.
    pub async fn segments(&self) -> Result<Vec<SegmentSize>, StoreError> {
        self.segment_sizes().await.map_err(EngineError::into_store)
    }

    async fn segment_sizes(&self) -> Result<Vec<SegmentSize>, EngineError> {
        let known = kept(&self.engine).await?;
        let sized = |KnownSegment { segment, left, .. }: KnownSegment, receipts, bytes| SegmentSize {
            number: segment.number,
            begun: segment.begun,
            receipts,
            left,
            bytes,
        };
        match &self.engine {
            Engine::Sqlite(_) => {
                let files = self.receipts.files()?.clone();
                let mut sizes = Vec::with_capacity(known.len());
                for known in known {
                    let (first, file) = (first_number(known.segment.number), known.file);
                    let receipts = match known.left {
                        // The last of them may be gone.
                        Some(_) => known.receipts,
                        None => {
                            let last = files.read(move |segments| segments.ask(file, LAST_OF_FILE)).await?;
                            let last = last.unwrap_or_default().first().map(|row| row.number(0)).transpose()?;
                            last.map_or(0, |last| last - first)
                        }
                    };
                    sizes.push(sized(known, receipts, files.bytes(file)));
                }
                Ok(sizes)
            }
            Engine::Postgres(_) => {
                let rows = self.engine.query(SIZES, Vec::new()).await?;
                let bytes = |number: u64| {
                    let of = |row: &&Row| row.number(0).is_ok_and(|found| found == number);
                    rows.iter().find(of).map_or(Ok(0), |row| row.number(1))
                };
                let size = |known: KnownSegment| {
                    let (receipts, bytes) = (known.receipts, bytes(known.segment.number)?);
                    Ok(sized(known, receipts, bytes))
                };
                known.into_iter().map(size).collect()
            }
        }
    }

    /// The time of the receipt that was kept last.
    async fn last_time(&self, newest: &Segment) -> Result<Timestamp, EngineError> {
        let number = newest.number;
        let rows = match &self.engine {
            Engine::Sqlite(_) => {
                let ask = |segments: &mut OpenSegments, file| segments.ask(file, LAST_OF_FILE);
                self.ask_segment(number, ask).await?.unwrap_or_default()
            }
            Engine::Postgres(_) => self.engine.query(LAST_OF_TABLE, vec![Value::number(first_number(number))?]).await?,
        };
        rows.first().map_or(Ok(newest.begun), |row| row.time(1))
    }

    /// Forgets receipts of before there were segments; how many there were.
    pub(crate) async fn forget_receipts_of_before(&self, before: Timestamp) -> Result<u64, EngineError> {
        let mut forgotten = 0;
        let time = || Value::from(super::begun_value(before));
        // Most times there is none, and nobody has to wait for the lock to learn that.
        while !self.engine.query(ANY_OLD, vec![time()]).await?.is_empty() {
            let begun = Instant::now();
            let values = || vec![time(), FORGOTTEN_AT_ONCE.into()];
            let mut tx = self.engine.write().await?;
            tx.execute(FORGET_PARTS, values()).await?;
            forgotten += tx.execute(FORGET_RECEIPTS, values()).await?;
            tx.commit().await?;
            give_way(begun).await;
        }
        Ok(forgotten)
    }
}
