//! Fills segments and the tables of before with rows as large as those of a search of one partner, past the store: by itself it
//! would take hours.

use std::path::PathBuf;

use rusqlite::Connection;

/// Bytes of a receipt's own body, of what was quoted, and of the rest of the partner's answer, packed with dictionaries: those of
/// the main job's searches, whose partner sends the same again and again. Whole numbers of 16.
const BODY_BYTES: u64 = 448;
const QUOTED_BYTES: u64 = 32;
const REST_BYTES: u64 = 32;
/// Numbers of a segment begin with its own, so many bits further up.
const WITHIN_BITS: u32 = 40;

/// Where to fill.
pub(crate) enum Filling {
    /// The database file.
    Sqlite(PathBuf),
    /// The database's address.
    Postgres(String),
}

impl Filling {
    /// Puts so many receipts into each of the segments, behind the one that is there, and so many into the tables of before.
    pub(crate) async fn fill(&self, segments: &[u64], in_each: u64, before: u64) {
        match self {
            Self::Sqlite(file) => {
                for segment in segments {
                    let name = format!("gateway-receipts/{segment:08}.db");
                    fill_file(&file.with_file_name(name), (segment << WITHIN_BITS) + 2, in_each);
                }
                fill_file(file, 1, before);
            }
            Self::Postgres(url) => {
                let (client, connection) =
                    tokio_postgres::connect(url, tokio_postgres::NoTls).await.expect("a connection");
                let driver = tokio::spawn(connection);
                for segment in segments {
                    let sql = on_postgres("segment_", (segment << WITHIN_BITS) + 2, in_each);
                    client.batch_execute(&sql).await.expect("it is filled");
                    let count =
                        format!("UPDATE receipt_segments SET receipts = {} WHERE number = {segment}", in_each + 1);
                    client.batch_execute(&count).await.expect("it is counted");
                }
                client.batch_execute(&on_postgres("", 1, before)).await.expect("it is filled");
                client.batch_execute("CHECKPOINT").await.expect("it is written");
                drop(client);
                driver.await.expect("it ends").expect("it ends well");
            }
        }
    }
}

fn fill_file(file: &std::path::Path, first: u64, count: u64) {
    let connection = Connection::open(file).expect("the file opens");
    let last = first + count;
    let numbers =
        format!("WITH RECURSIVE new (n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM new WHERE n + 1 < {last})");
    let sql = format!(
        "PRAGMA synchronous = OFF; BEGIN; \
         {numbers} INSERT INTO receipts (number, id, at_ms, request_id, intent, version, contract, outcome, body) \
         SELECT n, 'rank_' || n, 0, 'r-' || n, 'auto.book_ac_service', '1.0.0', 'c', 'o', randomblob({BODY_BYTES}) FROM new; \
         {numbers} INSERT INTO receipt_parts (receipt, place, partner, request_id, intent, at_ms, shown, quoted, body) \
         SELECT n, 0, 'bench-partner', 'r-' || n, 'auto.book_ac_service', 0, 1, randomblob({QUOTED_BYTES}), \
         randomblob({REST_BYTES}) FROM new; COMMIT; PRAGMA wal_checkpoint(TRUNCATE);"
    );
    connection.execute_batch(&sql).expect("it is filled");
}

fn on_postgres(prefix: &str, first: u64, count: u64) -> String {
    let last = first + count - 1;
    // 32 bytes of chance at a time: large values are not compressed anyway.
    let noise = |bytes: u64| format!("decode(repeat(md5(n::text), {}), 'hex')", bytes / 16);
    format!(
        "SET synchronous_commit = off; \
         INSERT INTO {prefix}receipts (number, id, at_ms, request_id, intent, version, contract, outcome, body) \
         SELECT n, 'rank_' || n, 0, 'r-' || n, 'auto.book_ac_service', '1.0.0', 'c', 'o', {} \
         FROM generate_series({first}, {last}) AS new (n); \
         INSERT INTO {prefix}receipt_parts (receipt, place, partner, request_id, intent, at_ms, shown, quoted, body) \
         SELECT n, 0, 'bench-partner', 'r-' || n, 'auto.book_ac_service', 0, 1, {}, {} \
         FROM generate_series({first}, {last}) AS new (n);",
        noise(BODY_BYTES),
        noise(QUOTED_BYTES),
        noise(REST_BYTES)
    )
}
