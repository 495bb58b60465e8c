//! Looks at what is kept beside the records: their names and feeds, what refers to what, counters, mail on its way. What a record
//! itself must be, the domain says ([`intent_gateway_domain::check`]).
//!
//! Everything is read in pages, for a statement has a time that it may take, and each page is of one moment: what a gateway writes
//! meanwhile is no contradiction.

use std::collections::HashMap;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::check::{CheckedPart, Inspect, Tell};
use intent_gateway_domain::store::{Document, Kind, StoreError};
use intent_gateway_domain::vault::{Sealed, Vault};

use crate::engine::Tx;
use crate::error::EngineError;
use crate::records::{PAGE_MAX, SqlStore};
use crate::tables;
use crate::value::{Row, Value};

/// Rows read at once.
const ROWS: u32 = 1_000;

const NAMES: &str = "SELECT key, name FROM record_names WHERE kind = $1 AND key >= $2 AND key <= $3";
const FEEDS: &str = "SELECT key, feed FROM record_changes WHERE kind = $1 AND key >= $2 AND key <= $3";
const MAIL: &str = "SELECT id, sealed FROM mail WHERE id > $1 ORDER BY id LIMIT $2";
const COUNTERS: &str = "SELECT name, value FROM counters ORDER BY name";
const LAST_CHANGE: &str = "SELECT COALESCE(MAX(number), 0) FROM record_changes";
/// The counters that every store has from its first start on.
const COUNTERS_NEEDED: [&str; 6] =
    ["changes", "contract_faults", "findings", "receipt_segments", "receipts", "record_changes"];

/// Rows of a table that must have one in another. The statement gives, after a key, each row's key and its counterpart's, which is
/// missing where there is none.
struct Reference {
    code: &'static str,
    message: &'static str,
    sql: &'static str,
}

macro_rules! belongs {
    ($one:literal, $other:literal, $code:literal, $message:literal) => {
        Reference {
            code: $code,
            message: $message,
            sql: concat!(
                "SELECT one.key, other.key FROM (SELECT DISTINCT key FROM ",
                $one,
                " AND key > $1 ORDER BY key LIMIT $2) AS one LEFT JOIN ",
                $other,
                " AS other ON other.key = one.key ORDER BY one.key"
            ),
        }
    };
}

/// Orders that are kept with what was quoted. The condition stands outside the page: PostgreSQL has no statistics of texts as long as
/// a body, holds what nearly every order meets for rare, and would look for a page of them in a way that reads them all.
const OPTIONS: &str = "SELECT one.key, CASE WHEN one.body LIKE '%,\"has_option\":true,%' THEN other.key ELSE one.key END \
                       FROM (SELECT key, body FROM orders WHERE key > $1 ORDER BY key LIMIT $2) AS one \
                       LEFT JOIN ordered_options AS other ON other.key = one.key ORDER BY one.key";

const REFERENCES: [Reference; 11] = [
    belongs!("credentials WHERE revision > 0", "accounts", "ACCOUNT_MISSING", "credentials of no account"),
    belongs!("webhooks WHERE revision > 0", "accounts", "ACCOUNT_MISSING", "webhooks of no account"),
    belongs!("manifests WHERE revision > 0", "accounts", "ACCOUNT_MISSING", "manifests of no account"),
    belongs!("connections WHERE revision > 0", "accounts", "ACCOUNT_MISSING", "connections of no account"),
    belongs!("documents WHERE revision > 0", "accounts", "ACCOUNT_MISSING", "documents of no account"),
    Reference { code: "OPTION_MISSING", message: "the option that was ordered is not there", sql: OPTIONS },
    belongs!("ordered_options WHERE revision > 0", "orders", "ORDER_MISSING", "an ordered option without its order"),
    belongs!("record_changes WHERE kind = 'orders'", "orders", "FEED_WITHOUT_RECORD", "a feed tells of no order"),
    belongs!(
        "record_changes WHERE kind = 'contracts'",
        "contracts",
        "FEED_WITHOUT_RECORD",
        "a feed tells of no contract"
    ),
    belongs!("record_names WHERE kind = 'orders'", "orders", "NAME_WITHOUT_RECORD", "names of no order"),
    belongs!(
        "record_names WHERE kind = 'test_reports'",
        "test_reports",
        "NAME_WITHOUT_RECORD",
        "names of no test report"
    ),
];

impl Inspect for SqlStore {
    fn whole<'a>(
        &'a self,
        kind: Kind,
        after: Option<&'a str>,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<Document>, StoreError>> {
        let read = async move {
            let mut tx = self.engine.read().await?;
            let read = read_whole(&mut tx, kind, after, limit).await;
            tx.rollback().await;
            read
        };
        read.map(|read| read.map_err(EngineError::into_store)).boxed()
    }
}

async fn read_whole(tx: &mut Tx, kind: Kind, after: Option<&str>, limit: u32) -> Result<Vec<Document>, EngineError> {
    let values = vec![after.unwrap_or_default().into(), limit.min(PAGE_MAX).into()];
    let rows = tx.query(tables::of(kind).page, values).await?;
    let mut documents = rows.iter().map(tables::document).collect::<Result<Vec<_>, _>>()?;
    let (Some(first), Some(last)) = (documents.first(), documents.last()) else { return Ok(documents) };
    let range = || vec![kind.name().into(), first.key.as_str().into(), last.key.as_str().into()];
    let (names_range, feeds_range) = (range(), range());
    let mut names: HashMap<String, Vec<String>> = HashMap::new();
    if kind.has_names() {
        for row in &tx.query(NAMES, names_range).await? {
            names.entry(row.text(0)?).or_default().push(row.text(1)?);
        }
    }
    let mut feeds: HashMap<String, String> = HashMap::new();
    if kind.has_feed() {
        for row in &tx.query(FEEDS, feeds_range).await? {
            feeds.insert(row.text(0)?, row.text(1)?);
        }
    }
    for document in &mut documents {
        document.names = names.remove(&document.key).unwrap_or_default();
        document.feed = feeds.remove(&document.key);
    }
    Ok(documents)
}

impl SqlStore {
    /// Looks whether what refers to something finds it: records their accounts, orders their options, names and feeds their
    /// records.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails.
    pub async fn check_references(&self, tell: Tell<'_>) -> Result<CheckedPart, StoreError> {
        let mut part = CheckedPart::new("references");
        for Reference { code, message, sql } in &REFERENCES {
            let look = |row: &Row, part: &mut CheckedPart| {
                if row.optional_text(1)?.is_none() {
                    part.add(code, row.text(0)?, *message);
                }
                Ok(())
            };
            self.check_rows(sql, "".into(), &|row| row.text(0).map(Value::from), look, &mut part, tell).await?;
        }
        Ok(part)
    }

    /// Looks whether the counters are there, and ahead of what they have counted.
    ///
    /// # Errors
    /// As [`check_references`](Self::check_references).
    pub async fn check_counters(&self) -> Result<CheckedPart, StoreError> {
        let check = async {
            let mut part = CheckedPart::new("counters");
            let mut tx = self.engine.read().await?;
            let counters = tx.query(COUNTERS, Vec::new()).await?;
            let last = tx.query(LAST_CHANGE, Vec::new()).await?;
            tx.rollback().await;
            let mut values = HashMap::new();
            for row in &counters {
                part.seen += 1;
                values.insert(row.text(0)?, row.integer(1)?);
            }
            for name in COUNTERS_NEEDED.iter().filter(|name| !values.contains_key(**name)) {
                part.add("COUNTER_MISSING", *name, "the counter is not there, and what it counts cannot be kept");
            }
            let last = last.first().map(|row| row.integer(0)).transpose()?.unwrap_or_default();
            if values.get("record_changes").is_some_and(|counted| *counted < last) {
                part.add("COUNTER_BEHIND", "record_changes", "feeds hold later numbers than it has counted");
            }
            Ok::<_, EngineError>(part)
        };
        check.await.map_err(EngineError::into_store)
    }

    /// Looks whether mail on its way can be opened; `context` says what a mail of an identifier is sealed for.
    ///
    /// # Errors
    /// As [`check_references`](Self::check_references).
    pub async fn check_mail(
        &self,
        vault: Option<&Vault>,
        context: fn(&str) -> String,
        tell: Tell<'_>,
    ) -> Result<CheckedPart, StoreError> {
        let mut part = CheckedPart::new("mail");
        let look = |row: &Row, part: &mut CheckedPart| {
            let (id, sealed) = (row.text(0)?, Sealed::from_text(row.text(1)?));
            part.open(vault, &id, &context(&id), &sealed);
            Ok(())
        };
        self.check_rows(MAIL, "".into(), &|row| row.text(0).map(Value::from), look, &mut part, tell).await?;
        Ok(part)
    }

    /// Looks at the rows of a statement that takes the key to go on after and a limit, page by page.
    pub(crate) async fn check_rows(
        &self,
        sql: &'static str,
        first: Value,
        key: &(dyn Fn(&Row) -> Result<Value, EngineError> + Send + Sync),
        mut look: impl FnMut(&Row, &mut CheckedPart) -> Result<(), EngineError>,
        part: &mut CheckedPart,
        tell: Tell<'_>,
    ) -> Result<(), StoreError> {
        let mut after = first;
        loop {
            let rows = self.engine.query(sql, vec![after, ROWS.into()]).await.map_err(EngineError::into_store)?;
            for row in &rows {
                part.seen += 1;
                look(row, part).map_err(EngineError::into_store)?;
            }
            tell(part.name, part.seen);
            match rows.last() {
                Some(last) if rows.len() == ROWS as usize => after = key(last).map_err(EngineError::into_store)?,
                _ => return Ok(()),
            }
        }
    }
}
