//! Makes a store large: copies of one order, with its option and the names under which it is found, by statements.

use std::path::Path;

use anyhow::{Context as _, ensure};
use rusqlite::Connection;
use tokio_postgres::NoTls;

/// Copies that are made in one transaction.
const AT_ONCE: u64 = 20_000;
/// What names of copies begin with, and no other order's.
const PREFIX: &str = "ord_00000000";

/// A store that no gateway has open.
pub(crate) enum Place<'a> {
    Sqlite(&'a Path),
    Postgres(&'a str),
}

/// Whether an order was booked by a user, and not copied from another.
pub(crate) fn is_original(order: &str) -> bool {
    !order.starts_with(PREFIX)
}

/// Copies an open order until the store has so many bytes; how many there are, and how large it is then.
pub(crate) async fn fill(place: &Place<'_>, bytes: u64) -> anyhow::Result<(u64, u64)> {
    let mut copies = 0;
    match place {
        Place::Sqlite(file) => {
            let connection = Connection::open(file).context("the store's file")?;
            connection.execute_batch("PRAGMA synchronous = OFF")?;
            let size = || {
                connection.query_row(
                    "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
                    [],
                    |row| row.get::<_, i64>(0),
                )
            };
            let order: String = connection.query_row(TEMPLATE, [], |row| row.get(0)).context("no order is open")?;
            while size()?.unsigned_abs() < bytes {
                let source = format!(
                    "(WITH RECURSIVE new (n) AS (SELECT {copies} + 1 UNION ALL SELECT n + 1 FROM new WHERE n < {copies} + {AT_ONCE}) \
                     SELECT n, 'ord_' || printf('%028x', n) AS name FROM new)"
                );
                connection.execute_batch(&copy(&source, &order))?;
                copies += AT_ONCE;
            }
            connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
            Ok((copies, size()?.unsigned_abs()))
        }
        Place::Postgres(url) => {
            let (client, connection) = tokio_postgres::connect(url, NoTls).await.context("the store")?;
            let connection = tokio::spawn(connection);
            let order: String = client.query_one(TEMPLATE, &[]).await.context("no order is open")?.get(0);
            let size = async || -> anyhow::Result<u64> {
                let row = client.query_one("SELECT pg_database_size(current_database())", &[]).await?;
                Ok(row.get::<_, i64>(0).unsigned_abs())
            };
            while size().await? < bytes {
                let source = format!(
                    "(SELECT n, 'ord_' || LPAD(TO_HEX(n), 28, '0') AS name FROM generate_series({copies} + 1, {copies} + {AT_ONCE}) AS new (n))"
                );
                client.batch_execute(&copy(&source, &order)).await?;
                copies += AT_ONCE;
            }
            client.batch_execute("ANALYZE; CHECKPOINT").await?;
            let size = size().await?;
            drop(client);
            ensure!(connection.await?.is_ok(), "the connection to the store broke");
            Ok((copies, size))
        }
    }
}

/// The order that is copied.
const TEMPLATE: &str = "SELECT key FROM orders WHERE status = 'open' ORDER BY key LIMIT 1";

/// Statements that copy an order under each name of a source.
fn copy(source: &str, order: &str) -> String {
    let record = |table: &str| {
        format!(
            "INSERT INTO {table} (key, revision, lookup, status, body) \
             SELECT copy.name, revision, NULL, status, REPLACE(body, key, copy.name) FROM {table} CROSS JOIN {source} AS copy \
             WHERE key = '{order}';"
        )
    };
    let (orders, options) = (record("orders"), record("ordered_options"));
    // The names stay: a body says which, and those of partner and orchestrator lead to many orders in any large store.
    let beside = |table: &str, columns: &str, values: &str| {
        format!(
            "INSERT INTO {table} (kind, key, {columns}) SELECT kind, copy.name, {values} \
             FROM {table} CROSS JOIN {source} AS copy WHERE kind = 'orders' AND key = '{order}';"
        )
    };
    let names = beside("record_names", "name", "record_names.name");
    let changes = beside("record_changes", "feed, number", "feed, number");
    format!("BEGIN; {orders} {options} {names} {changes} COMMIT;")
}
