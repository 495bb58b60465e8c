//! Fills a store that no gateway has open: copies of one business's records by statements, and orders by the store itself.

use std::path::Path;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::store::{Change, Store as _, Versioned};
use intent_gateway_store::{Location, SqlStore};
use intent_gateway_testing::orders::booked;
use rusqlite::{Connection, params};

use crate::world::INTENT;

/// Orders that are kept in one commit.
const AT_ONCE: u64 = 500;
/// Of so many orders, one is of the business that is looked at.
const OWN_EVERY: u64 = 10;

/// Copies all records of a business so often.
pub(crate) fn copy_business(file: &Path, account: &str, copies: u64) {
    let mut connection = Connection::open(file).expect("the store's file opens");
    connection.execute_batch("PRAGMA synchronous = OFF").expect("it is set");
    let write = connection.transaction().expect("it begins");
    let number = i64::try_from(copies).expect("it fits");
    for table in ["accounts", "manifests", "connections", "credentials", "webhooks"] {
        let sql = format!(
            "WITH RECURSIVE new (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM new WHERE n < ?2) \
             INSERT INTO {table} (key, revision, lookup, status, body) \
             SELECT REPLACE(key, ?1, printf('ptr_%016x', n)), revision, NULL, status, \
             REPLACE(REPLACE(body, ?1, printf('ptr_%016x', n)), '@coolcar.example', printf('@business%d.example', n)) \
             FROM {table} CROSS JOIN new WHERE key LIKE ?1 || '%'"
        );
        write.execute(&sql, params![account, number]).expect("it is copied");
    }
    let sql = "WITH RECURSIVE new (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM new WHERE n < ?2) \
               INSERT INTO reviews (key, revision, lookup, status, body) \
               SELECT printf('rev_%013d_%016x', 1800000000000 + n, n), revision, NULL, 'open', \
               REPLACE(REPLACE(REPLACE(body, key, printf('rev_%013d_%016x', 1800000000000 + n, n)), ?1, printf('ptr_%016x', n)), \
               '\"status\":\"approved\"', '\"status\":\"open\"') \
               FROM (SELECT * FROM reviews ORDER BY key LIMIT 1) CROSS JOIN new";
    write.execute(sql, params![account, number]).expect("they are copied");
    write.commit().expect("it is kept");
}

/// Copies what is known of the contract so often, each under another intent that is out of service.
pub(crate) fn copy_contract(file: &Path, copies: u64) {
    let connection = Connection::open(file).expect("the store's file opens");
    let sql = "WITH RECURSIVE new (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM new WHERE n < ?2) \
               INSERT INTO contracts (key, revision, lookup, status, body) \
               SELECT printf('bench.intent_%04d', n), revision, NULL, status, \
               json_set(body, '$.intent', printf('bench.intent_%04d', n), '$.live', NULL) \
               FROM contracts CROSS JOIN new WHERE key = ?1";
    let copies = i64::try_from(copies).expect("it fits");
    connection.execute(sql, params![INTENT, copies]).expect("they are copied");
}

/// Copies the receipt of the one ranking so often, into the file that it lies in.
pub(crate) fn copy_receipt(file: &Path, copies: u64) {
    let connection = Connection::open(file.with_file_name("gateway-receipts/00000001.db")).expect("the segment opens");
    let (first, last): (i64, i64) = connection
        .query_row("SELECT MIN(number), MAX(number) FROM receipts", [], |row| Ok((row.get(0)?, row.get(1)?)))
        .expect("there is a receipt");
    let copies = i64::try_from(copies).expect("it fits");
    let numbers = format!(
        "WITH RECURSIVE new (n) AS (SELECT {last} + 1 UNION ALL SELECT n + 1 FROM new WHERE n < {last} + {copies})"
    );
    let sql = format!(
        "PRAGMA synchronous = OFF; BEGIN; \
         {numbers} INSERT INTO receipts \
         (number, id, at_ms, request_id, intent, version, contract, outcome, body, user_mark, dictionary) \
         SELECT n, printf('rank_%024x', n), at_ms - n + {first}, 'r-' || n, intent, version, contract, outcome, body, user_mark, dictionary \
         FROM receipts CROSS JOIN new WHERE number = {first}; \
         {numbers} INSERT INTO receipt_parts \
         (receipt, place, partner, request_id, intent, at_ms, shown, quoted, body, dictionary) \
         SELECT n, place, partner, 'r-' || n, intent, at_ms - n + {first}, shown, quoted, body, dictionary \
         FROM receipt_parts CROSS JOIN new WHERE receipt = {first}; COMMIT; PRAGMA wal_checkpoint(TRUNCATE);"
    );
    connection.execute_batch(&sql).expect("they are copied");
}

/// Keeps so many orders, of the business that is looked at and of its copies.
pub(crate) async fn keep_orders(file: &Path, account: &str, copies: u64, orders: u64) {
    let store = SqlStore::open(&Location::file(file), None).await.expect("the store opens");
    let begun = 1_790_000_000_000;
    let numbers: Vec<u64> = (0..orders).collect();
    for numbers in numbers.chunks(usize::try_from(AT_ONCE).expect("it fits")) {
        let mut change = Change::default();
        for number in numbers {
            let copy = number % copies.max(1) + 1;
            let partner = if number % OWN_EVERY == 0 { account.to_owned() } else { format!("ptr_{copy:016x}") };
            let [search, request, identifier] = ["search", "request", "BK"].map(|what| format!("{what}-{number}"));
            let at = Timestamp::from_ms(begun + number * 1_000);
            change.put(&Versioned::new(booked(&partner, INTENT, &search, &request, &[&identifier], at)));
        }
        store.commit(change).await.expect("they are kept");
    }
    store.close().await;
}
