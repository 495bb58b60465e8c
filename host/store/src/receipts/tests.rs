//! What happens between two steps that nobody outside can come between.

use std::ops::ControlFlow;
use std::sync::Arc;

use intent_gateway_testing::entropy::vault;
use serde_json::json;

use super::keeping::ReceiptPage;
use super::*;
use crate::evidence::{ReceiptRows, receipt_rows};
use crate::records::SqlStore;
use crate::sqlite::Batch;
use crate::value::Value;

/// A receipt of which nothing is looked at but its identifier and its time.
fn receipt(id: &str, at_ms: u64) -> ReceiptRows {
    let contract = "0".repeat(64);
    let receipt = json!({
        "id": id, "at_ms": at_ms, "request_id": "r", "intent": "auto.fix", "version": "1.0.0", "contract": contract,
        "arguments": {}, "payloads": [], "ranked": [], "dropped": [], "outcome": contract,
    });
    receipt_rows(&serde_json::from_value(receipt).expect("a receipt"), None).expect("it can be kept")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_segment_that_gets_another_file_while_others_are_read_is_read_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = folder.path().join("gateway.db");
    let store = SqlStore::open(&Location::file(&database), Some(&vault())).await.expect("it opens");
    store.bound_receipts(ReceiptBounds { keep_ms: 160, max_bytes: u64::MAX });
    for page in [receipt("rank_1", 1_000), receipt("rank_2", 1_010)] {
        store.keep_receipts(Arc::new(ReceiptPage(vec![page]))).await.expect("kept");
    }
    let (old, new) = (store.receipts.files().expect("files").path(1), store.receipts.files().expect("files").path(7));
    let ask = move |tx: &Batch<'_>, found: &mut Vec<String>| {
        let rows = tx.query("SELECT id FROM receipts", &[] as &[Value])?;
        found.extend(rows.iter().map(|row| row.text(0)).collect::<Result<Vec<_>, _>>()?);
        // The newest is asked first. Before the next has its turn, it is somewhere else.
        if old.exists() {
            let main = rusqlite::Connection::open(&database).expect("it opens");
            let segment = rusqlite::Connection::open(&old).expect("it opens");
            segment.execute("VACUUM INTO ?1", [new.to_str()]).expect("copied");
            let form = rusqlite::Connection::open(&new).expect("it opens");
            form.pragma_update(None, "user_version", 2).expect("it takes");
            main.execute("UPDATE receipt_segments SET file = 7 WHERE number = 1", []).expect("noted");
            std::fs::remove_file(&old).expect("removed");
        }
        Ok(ControlFlow::Continue(()))
    };
    let found: Vec<String> = store.ask_files(ask).await.expect("it reads");
    assert_eq!(found, ["rank_2", "rank_1"], "each once");
}
