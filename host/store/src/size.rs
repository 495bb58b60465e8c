//! What takes the room of a store.

use intent_gateway_domain::store::StoreError;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::receipts::SegmentSize;
use crate::records::SqlStore;
use crate::value::Row;

/// Each page of the file is looked at. What belongs to no table is the list of tables itself.
const TABLES_ON_SQLITE: &str = "SELECT COALESCE(entry.tbl_name, 'sqlite_schema'), SUM(page.pgsize) FROM dbstat AS page \
                                LEFT JOIN sqlite_schema AS entry ON entry.name = page.name WHERE page.aggregate = TRUE \
                                GROUP BY 1 ORDER BY 2 DESC, 1";
const UNUSED_ON_SQLITE: &str = "SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size";
const BYTES_ON_SQLITE: &str = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
/// Without the partitions of receipts, which are told segment by segment.
const TABLES_ON_POSTGRES: &str = "SELECT relname::text, pg_total_relation_size(pg_class.oid)::bigint FROM pg_class \
                                  JOIN pg_namespace ON pg_namespace.oid = relnamespace \
                                  WHERE nspname = current_schema() AND relkind = 'r' AND NOT relispartition \
                                  ORDER BY 2 DESC, 1";
const BYTES_ON_POSTGRES: &str = "SELECT pg_database_size(current_database())";

/// What takes the room of a store, bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreSize {
    /// Each table with its indexes, the largest first.
    pub tables: Vec<(String, u64)>,
    /// What the file keeps free for what comes: `store compact` gives it back. 0 on PostgreSQL, which tells it of no table.
    pub unused: u64,
    /// The segments of receipts, oldest first.
    pub segments: Vec<SegmentSize>,
}

/// The same in sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreBytes {
    /// The database without the segments of receipts.
    pub database: u64,
    /// These.
    pub receipts: u64,
}

impl SqlStore {
    /// What takes the room, table by table. On SQLite the whole file is read for it.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails.
    pub async fn size(&self) -> Result<StoreSize, StoreError> {
        let segments = self.segments().await?;
        let tables = async {
            let (tables, unused) = match &self.engine {
                Engine::Sqlite(engine) => (
                    engine.query(TABLES_ON_SQLITE, Vec::new()).await?,
                    engine.query(UNUSED_ON_SQLITE, Vec::new()).await?,
                ),
                Engine::Postgres(engine) => (engine.query(TABLES_ON_POSTGRES, Vec::new()).await?, Vec::new()),
            };
            let tables =
                tables.iter().map(|row| Ok((row.text(0)?, row.number(1)?))).collect::<Result<_, EngineError>>();
            Ok((tables?, only(&unused)?))
        };
        let (tables, unused) = tables.await.map_err(EngineError::into_store)?;
        Ok(StoreSize { tables, unused, segments })
    }

    /// What takes the room, in sum. Whoever asks now and then does not keep room that others have given back.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails.
    pub async fn bytes(&self) -> Result<StoreBytes, StoreError> {
        self.close_forgotten().await.map_err(EngineError::into_store)?;
        let receipts = self.segments().await?.iter().map(|segment| segment.bytes).sum();
        let (sql, counts_receipts) = match &self.engine {
            Engine::Sqlite(_) => (BYTES_ON_SQLITE, false),
            Engine::Postgres(_) => (BYTES_ON_POSTGRES, true),
        };
        let all = async { only(&self.engine.query(sql, Vec::new()).await?) };
        let all: u64 = all.await.map_err(EngineError::into_store)?;
        Ok(StoreBytes { database: if counts_receipts { all.saturating_sub(receipts) } else { all }, receipts })
    }
}

/// The only number of an answer; 0 where there is none.
fn only(rows: &[Row]) -> Result<u64, EngineError> {
    rows.first().map_or(Ok(0), |row| row.number(0))
}
