//! Makes a store large: copies of one order, with its option and the names under which it is found, by statements.

use std::path::Path;

use anyhow::{Context as _, ensure};
use intent_gateway_domain::order::Order;
use intent_gateway_domain::store::Record as _;
use rusqlite::{Connection, params};
use tokio_postgres::NoTls;

/// Copies that are made in one transaction.
const AT_ONCE: u64 = 10_000;
/// What names of copies begin with, and no other order's.
const PREFIX: &str = "ord_00000000";

/// The order that is copied.
const TEMPLATE: &str = "SELECT orders.key, revision, status, body, feed, number, \
                        (SELECT body FROM ordered_options AS option WHERE option.key = orders.key) \
                        FROM orders JOIN record_changes ON kind = 'orders' AND record_changes.key = orders.key \
                        WHERE status = 'open' ORDER BY orders.key LIMIT 1";

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
    match place {
        Place::Sqlite(file) => fill_sqlite(file, bytes),
        Place::Postgres(url) => fill_postgres(url, bytes).await,
    }
}

fn fill_sqlite(file: &Path, bytes: u64) -> anyhow::Result<(u64, u64)> {
    let mut connection = Connection::open(file).context("the store's file")?;
    connection.execute_batch("PRAGMA synchronous = OFF")?;
    let template = connection
        .query_row(TEMPLATE, [], |row| {
            Ok(Template {
                key: row.get(0)?,
                revision: row.get(1)?,
                status: row.get(2)?,
                body: row.get(3)?,
                feed: row.get(4)?,
                number: row.get(5)?,
                option: row.get(6)?,
            })
        })
        .context("no order is open")?;
    let size = |connection: &Connection| {
        connection
            .query_row("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()", [], |row| {
                row.get::<_, i64>(0)
            })
            .map(i64::unsigned_abs)
    };
    let mut copies = 0;
    while size(&connection)? < bytes {
        let new = template.copy(copies)?;
        let transaction = connection.transaction()?;
        {
            let mut order = transaction.prepare_cached(
                "INSERT INTO orders (key, revision, lookup, status, body) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?;
            let mut option = transaction.prepare_cached(
                "INSERT INTO ordered_options (key, revision, lookup, status, body) VALUES (?1, 1, NULL, NULL, ?2)",
            )?;
            let mut change = transaction
                .prepare_cached("INSERT INTO record_changes (kind, key, feed, number) VALUES ('orders', ?1, ?2, ?3)")?;
            let mut name =
                transaction.prepare_cached("INSERT INTO record_names (kind, key, name) VALUES ('orders', ?1, ?2)")?;
            for at in 0..new.keys.len() {
                let key = &new.keys[at];
                order.execute(params![key, template.revision, new.lookups[at], template.status, new.orders[at]])?;
                option.execute(params![key, new.options[at]])?;
                change.execute(params![key, template.feed, template.number])?;
            }
            for (key, of) in new.named.iter().zip(&new.names) {
                name.execute(params![key, of])?;
            }
        }
        transaction.commit()?;
        copies += AT_ONCE;
    }
    connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
    Ok((copies, size(&connection)?))
}

async fn fill_postgres(url: &str, bytes: u64) -> anyhow::Result<(u64, u64)> {
    let (mut client, connection) = tokio_postgres::connect(url, NoTls).await.context("the store")?;
    let connection = tokio::spawn(connection);
    let row = client.query_one(TEMPLATE, &[]).await.context("no order is open")?;
    let template = Template {
        key: row.get(0),
        revision: row.get(1),
        status: row.get(2),
        body: row.get(3),
        feed: row.get(4),
        number: row.get(5),
        option: row.get(6),
    };
    let size = async |client: &tokio_postgres::Client| -> anyhow::Result<u64> {
        let row = client.query_one("SELECT pg_database_size(current_database())", &[]).await?;
        Ok(row.get::<_, i64>(0).unsigned_abs())
    };
    let mut copies = 0;
    while size(&client).await? < bytes {
        let new = template.copy(copies)?;
        let transaction = client.transaction().await?;
        transaction
            .execute(
                "INSERT INTO orders (key, revision, lookup, status, body) \
                 SELECT key, $1, lookup, $2, body FROM UNNEST($3::TEXT[], $4::TEXT[], $5::TEXT[]) AS new (key, lookup, body)",
                &[&template.revision, &template.status, &new.keys, &new.lookups, &new.orders],
            )
            .await?;
        transaction
            .execute(
                "INSERT INTO ordered_options (key, revision, body) \
                 SELECT key, 1, body FROM UNNEST($1::TEXT[], $2::TEXT[]) AS new (key, body)",
                &[&new.keys, &new.options],
            )
            .await?;
        transaction
            .execute(
                "INSERT INTO record_changes (kind, key, feed, number) SELECT 'orders', key, $1, $2 FROM UNNEST($3::TEXT[]) AS new (key)",
                &[&template.feed, &template.number, &new.keys],
            )
            .await?;
        transaction
            .execute(
                "INSERT INTO record_names (kind, key, name) \
                 SELECT 'orders', key, name FROM UNNEST($1::TEXT[], $2::TEXT[]) AS new (key, name)",
                &[&new.named, &new.names],
            )
            .await?;
        transaction.commit().await?;
        copies += AT_ONCE;
    }
    client.batch_execute("ANALYZE; CHECKPOINT").await?;
    let size = size(&client).await?;
    drop(client);
    ensure!(connection.await?.is_ok(), "the connection to the store broke");
    Ok((copies, size))
}

/// The rows of an order.
struct Template {
    key: String,
    revision: i64,
    status: String,
    body: String,
    feed: String,
    number: i64,
    option: String,
}

/// Rows of copies, column by column.
#[derive(Default)]
struct Copies {
    keys: Vec<String>,
    lookups: Vec<Option<String>>,
    orders: Vec<String>,
    options: Vec<String>,
    /// The key of each name.
    named: Vec<String>,
    names: Vec<String>,
}

impl Template {
    /// The next copies after so many. Each is an order of its own requests, with identifiers of its own: a store in which a
    /// million orders are found by one name is like no other, and PostgreSQL plans by how frequent names are.
    fn copy(&self, after: u64) -> anyhow::Result<Copies> {
        let original: Order = serde_json::from_str(&self.body).context("the order cannot be read")?;
        let own = original.identifiers.iter().chain([&original.request_id, &original.from.request_id]);
        let own: Vec<String> = own.map(|text| format!("\"{text}\"")).collect();
        let mut copies = Copies::default();
        for number in after + 1..=after + AT_ONCE {
            let key = format!("ord_{number:028x}");
            let mut body = self.body.replace(&self.key, &key);
            for text in &own {
                body = body.replace(text, &format!("\"{number} {}", &text[1..]));
            }
            let order: Order = serde_json::from_str(&body).context("a copy cannot be read")?;
            ensure!(order.identifiers.is_disjoint(&original.identifiers), "the copy has the identifiers of the first");
            let names = order.names();
            copies.named.extend(names.iter().map(|_| key.clone()));
            copies.names.extend(names);
            copies.lookups.push(order.lookup());
            copies.orders.push(body);
            copies.options.push(self.option.replace(&self.key, &key));
            copies.keys.push(key);
        }
        Ok(copies)
    }
}
