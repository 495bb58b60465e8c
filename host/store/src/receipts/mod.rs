//! Receipts of rankings, in segments: a file each on SQLite, a partition each on PostgreSQL (`partitions`). Which segments there
//! are stands in the table `receipt_segments`; when one begins and when one is forgotten, `domain::growth` says.
//!
//! A receipt's number says in which segment it lies: those of one begin with the number of the segment, and a later segment has
//! the greater numbers. Receipts from before there were segments have smaller ones and lie in the tables of before, in the
//! main database: they are read and forgotten where they are.
//!
//! Making a segment and forgetting one go in steps that may be cut off at any point. A file or partition that was made and is
//! not in the table yet is nobody's; a segment that goes is marked so first, and whoever forgets next goes on with it.
//!
//! A segment may be written anew without some of its receipts (`thinning`). It keeps its number and lies in another file or
//! partition from then on, so these have numbers of their own, which the table tells.

mod changing;
mod check;
mod forgetting;
mod keeping;
mod partitions;
mod reading;
mod statements;
mod thinning;
mod transfer;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::growth::{ReceiptBounds, Segment};
use tokio::sync::Mutex;

use crate::engine::{Engine, Patience};
use crate::error::{EngineError, OpenError};
use crate::location::{Location, StorePlace};
use crate::packing::Packer;
use crate::sqlite::{Batch, SegmentFiles};
use crate::value::Row;

pub(crate) use changing::count_change;
pub use forgetting::SegmentSize;
pub(crate) use forgetting::give_way;
pub(crate) use keeping::ReceiptPage;
pub(crate) use reading::{Questions, QuotesOfDatabase, read_quoted_of_files, read_quoted_of_tables};
pub use thinning::Thinned;
pub(crate) use transfer::{Restoring, value_bytes};

/// Bits of a receipt's number that tell it from others of its segment.
const WITHIN_BITS: u32 = 40;
/// Kept as long as nobody says otherwise: what commands need that only look.
const UNBOUNDED: ReceiptBounds = ReceiptBounds { keep_ms: 90 * 24 * 60 * 60 * 1_000, max_bytes: u64::MAX };

/// Those that are read and written, oldest first.
const KEPT: &str = "SELECT number, begun_at_ms, payload_bytes, receipts, COALESCE(file, number), remaining, looked_at_ms, changes \
                    FROM receipt_segments WHERE state = 'kept' ORDER BY number";
/// Where the receipts of one lie.
const FILE: &str = "SELECT COALESCE(file, number) FROM receipt_segments WHERE number = $1 AND state = 'kept'";
/// The statement takes the next number of a segment, which none had before.
pub(crate) const NEXT_NUMBER: &str =
    "UPDATE counters SET value = value + 1 WHERE name = 'receipt_segments' RETURNING value";
pub(crate) const INSERT_SEGMENT: &str =
    "INSERT INTO receipt_segments (number, begun_at_ms, receipts, payload_bytes, state) VALUES ($1, $2, 0, 0, 'kept')";

/// A dictionary by which receipts of a segment are packed.
const INSERT_DICTIONARY: &str = "INSERT INTO receipt_dictionaries (number, bytes) VALUES ($1, $2)";

/// What a store has of its receipts besides the database.
pub(crate) struct Receipts {
    bounds: OnceLock<ReceiptBounds>,
    /// On SQLite.
    files: Option<SegmentFiles>,
    /// Held by whoever makes or forgets segments, so that one process does not meet itself.
    changing: Mutex<()>,
    /// Held by whoever keeps receipts: what it knows is true of the newest segment.
    packer: Arc<Mutex<Packer>>,
    /// Held by whoever writes segments anew, which may take long. A copy that is found under way while nobody holds it was given up.
    thinning: Mutex<()>,
}

impl Receipts {
    pub(crate) fn open(location: &Location, patience: Patience) -> Result<Self, OpenError> {
        let files = match location.place() {
            StorePlace::Sqlite(path) => Some(SegmentFiles::open(path, patience)?),
            StorePlace::Postgres(_) => None,
        };
        let packer = Arc::new(Mutex::new(Packer::new()));
        Ok(Self { bounds: OnceLock::new(), files, changing: Mutex::default(), packer, thinning: Mutex::default() })
    }

    /// The first bounds that are set count.
    pub(crate) fn set_bounds(&self, bounds: ReceiptBounds) {
        let _ = self.bounds.set(bounds);
    }

    pub(crate) fn bounds(&self) -> ReceiptBounds {
        self.bounds.get().copied().unwrap_or(UNBOUNDED)
    }

    /// The files, where the engine is SQLite.
    pub(crate) fn files(&self) -> Result<&SegmentFiles, EngineError> {
        self.files.as_ref().ok_or_else(|| EngineError::failed("receipts are not kept in files"))
    }

    pub(crate) async fn close(self) {
        if let Some(files) = self.files {
            files.close().await;
        }
    }
}

/// The number before the first of a segment.
pub(crate) fn first_number(segment: u64) -> u64 {
    segment << WITHIN_BITS
}

/// The segment of a receipt; 0 is that of the tables of before.
pub(crate) fn segment_of(number: u64) -> u64 {
    number >> WITHIN_BITS
}

/// A segment as the database knows it.
pub(crate) struct KnownSegment {
    /// Its bytes are those of its values, which PostgreSQL alone counts.
    pub(crate) segment: Segment,
    /// How many receipts it was given; 0 on SQLite as long as it was not written anew.
    pub(crate) receipts: u64,
    /// The number of the file or partition where it lies.
    pub(crate) file: u64,
    /// How many were left when it was written anew; none where it never was.
    pub(crate) left: Option<u64>,
    /// Up to when it was looked through for receipts that go.
    looked_at: Timestamp,
    /// How often its receipts were changed.
    changes: u64,
}

/// The segments that are kept, oldest first.
pub(crate) async fn kept(engine: &Engine) -> Result<Vec<KnownSegment>, EngineError> {
    engine.query(KEPT, Vec::new()).await?.iter().map(known).collect()
}

/// The files of [`files_of_kept`], for who reads the database already.
pub(crate) fn files_of_kept_by(tx: &Batch<'_>) -> Result<Vec<u64>, EngineError> {
    tx.query(KEPT, &[])?.iter().map(|row| Ok(known(row)?.file)).collect()
}

/// Where the receipts of the segments that are kept lie, oldest first.
pub(crate) async fn files_of_kept(engine: &Engine) -> Result<Vec<u64>, EngineError> {
    Ok(kept(engine).await?.into_iter().map(|known| known.file).collect())
}

fn known(row: &Row) -> Result<KnownSegment, EngineError> {
    let left = row.optional_integer(5)?.map(u64::try_from).transpose();
    Ok(KnownSegment {
        segment: Segment { number: row.number(0)?, begun: row.time(1)?, bytes: row.number(2)? },
        receipts: row.number(3)?,
        file: row.number(4)?,
        left: left.map_err(|_| EngineError::failed("a segment has less than no receipts"))?,
        looked_at: row.time(6)?,
        changes: row.number(7)?,
    })
}

/// A time for a column.
pub(crate) fn begun_value(begun: Timestamp) -> i64 {
    i64::try_from(begun.as_ms()).unwrap_or(i64::MAX)
}

/// Tells of files that the database does not know: it may have been put in the place of another.
pub(crate) async fn tell_of_strangers(engine: &Engine, receipts: &Receipts) -> Result<(), EngineError> {
    let Some(files) = &receipts.files else { return Ok(()) };
    let rows = engine.query("SELECT COALESCE(file, number) FROM receipt_segments", Vec::new()).await?;
    let known = rows.iter().map(|row| row.number(0)).collect::<Result<Vec<_>, _>>()?;
    let found = files.read(|segments| segments.found()).await?;
    let strangers = found.into_iter().filter(|number| !known.contains(number)).count();
    if strangers > 0 {
        let folder: Arc<Path> = files.folder().into();
        tracing::warn!(
            files = strangers,
            folder = %folder.display(),
            "there are files of receipts that the database does not know; they are not read, and can be removed if nobody needs them"
        );
    }
    Ok(())
}
