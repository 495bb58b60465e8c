//! `intent-gateway store size`: what takes the room of a store, by table and by segment of receipts.

use std::collections::BTreeMap;

use anyhow::Context as _;
use intent_gateway_store::{SegmentSize, SqlStore, StoreSize};
use serde_json::json;

use crate::outcome::{CommandError, print_json};
use crate::print;
use crate::receipt::show_time;
use crate::terminal::{pairs, table};

/// What takes the room.
pub(crate) async fn show(store: &SqlStore, json: bool) -> anyhow::Result<()> {
    let StoreSize { tables, unused, segments } = store.size().await.context("the size of the store is not known")?;
    let database = tables.iter().map(|(_, bytes)| bytes).sum::<u64>() + unused;
    let receipts: u64 = segments.iter().map(|segment| segment.bytes).sum();
    if json {
        let tables: BTreeMap<&str, u64> = tables.iter().map(|(table, bytes)| (table.as_str(), *bytes)).collect();
        let segments: Vec<_> = segments
            .iter()
            .map(|SegmentSize { number, begun, receipts, left, bytes }| {
                json!({"number": number, "begun_at_ms": begun, "receipts": receipts, "left": left, "bytes": bytes})
            })
            .collect();
        let told = json!({
            "database_bytes": database, "receipts_bytes": receipts, "unused_bytes": unused, "tables": tables,
            "segments": segments,
        });
        return print_json(&told).map_err(CommandError::into_error);
    }
    let rows: Vec<[String; 2]> = tables.iter().map(|(name, bytes)| [name.clone(), show_bytes(*bytes)]).collect();
    print(&table(["table", "takes"], &rows));
    if !segments.is_empty() {
        let row = |SegmentSize { number, begun, receipts, left, bytes }: &SegmentSize| {
            let left = left.unwrap_or(*receipts);
            [number.to_string(), show_time(*begun), receipts.to_string(), left.to_string(), show_bytes(*bytes)]
        };
        let rows: Vec<[String; 5]> = segments.iter().map(row).collect();
        print(&table(["segment", "from", "receipts", "left", "takes"], &rows));
    }
    print(&pairs(&[
        ("database", show_bytes(database)),
        ("of it unused", show_bytes(unused)),
        ("receipts", show_bytes(receipts)),
    ]));
    Ok(())
}

/// Bytes as a person reads them, in units of 1024.
fn show_bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let (mut unit, mut tenths) = (0, bytes.saturating_mul(10) / 1024);
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_in_the_unit_that_fits() {
        let shown = [0, 1023, 1024, 1536, 1024 * 1024 - 1, 1024 * 1024, 21_474_836_480, u64::MAX].map(show_bytes);
        let told = ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "1023.9 KiB", "1.0 MiB", "20.0 GiB", "1677721.5 TiB"];
        assert_eq!(shown, told.map(str::to_owned));
    }
}
