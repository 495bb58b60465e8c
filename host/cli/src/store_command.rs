//! `intent-gateway store`: backs the records up, restores them, looks whether they are sound, writes the file anew. The work is
//! the store's.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use clap::{Args, Subcommand};
use intent_gateway_domain::clock::{Clock as _, SystemClock};
use intent_gateway_domain::order::{Order, OrderedOption};
use intent_gateway_domain::signing_keys::Webhook;
use intent_gateway_domain::store::{Pages, Record, Store as _};
use intent_gateway_ledger::completion::test_reports::TestReport;
use intent_gateway_onboarding::records::{Account, Connection, Credentials, EmailCode, Manifests, Review};
use intent_gateway_outbound::policy::idempotency::Attempt;
use intent_gateway_store::{BackupReport, BackupScope, Compacted, SegmentSize, SqlStore, StoreSize, compact};
use serde_json::json;

use crate::arguments::FileArg;
use crate::outcome::{CommandError, print_json};
use crate::receipt::show_time;
use crate::terminal::{pairs, table};
use crate::{complain, print};
use intent_gateway_config::{Config, Keys, open_store};

/// Back up, restore, check and compact the store: SQLite or PostgreSQL, as the configuration says.
#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Write everything that the store holds into a new file, while gateways go on serving.
    #[command(
        after_help = "The file can be restored into either engine. It holds no secret in plain, and what it holds \
        sealed can be opened with the same `auth.master_key` only: keep that, too, and elsewhere.\n\n\
        Example:\n  intent-gateway store backup \"backup-$(date +%F).jsonl\" --config gateway.toml"
    )]
    Backup(BackupArgs),
    /// Restore a backup into an empty store. Either all of it is there afterwards, or nothing is.
    #[command(after_help = "No gateway may serve on the store meanwhile.\n\n\
        Example:\n  intent-gateway store restore backup.jsonl --config gateway.toml")]
    Restore(TransferArgs),
    /// Tell what takes the room: table by table, and segment by segment of receipts.
    #[command(after_help = "Example:\n  intent-gateway store size --config gateway.toml")]
    Size(CheckArgs),
    /// Open the store, bring its tables up to date, read every record, and follow the audit log from its first entry.
    #[command(after_help = "Example:\n  intent-gateway store check --config gateway.toml")]
    Check(CheckArgs),
    /// Write SQLite's files anew, so that they hold no trace of what was deleted. Gateways that serve on them wait meanwhile.
    #[command(after_help = "Example:\n  intent-gateway store compact --config gateway.toml")]
    Compact(CheckArgs),
}

#[derive(Args, Debug)]
pub(crate) struct TransferArgs {
    /// The backup.
    #[arg(value_name = "FILE")]
    backup: PathBuf,
    #[command(flatten)]
    config: FileArg,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct BackupArgs {
    #[command(flatten)]
    transfer: TransferArgs,
    /// Leave receipts of rankings out, which are most of a store. A report whose order the gateway has not seen is then compared
    /// with nothing after a restore, and no ranking can be replayed.
    #[arg(long)]
    without_receipts: bool,
}

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    config: FileArg,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl StoreCommand {
    /// Where the configuration is.
    pub(crate) fn file(&self) -> &FileArg {
        match self {
            Self::Backup(arguments) => &arguments.transfer.config,
            Self::Restore(arguments) => &arguments.config,
            Self::Size(arguments) | Self::Check(arguments) | Self::Compact(arguments) => &arguments.config,
        }
    }
}

/// Runs a command under a configuration.
pub(crate) fn run(config: &Config, command: &StoreCommand) -> anyhow::Result<()> {
    match command {
        StoreCommand::Backup(arguments) => with_store(config, async |store| back_up(store, arguments).await),
        StoreCommand::Restore(arguments) => {
            with_any_store(config, async |store| restore(store, config, arguments).await)
        }
        StoreCommand::Size(arguments) => with_store(config, async |store| size(store, arguments.json).await),
        StoreCommand::Check(arguments) => with_store(config, async |store| check(store, config, arguments.json).await),
        StoreCommand::Compact(arguments) => compact_file(config, arguments.json),
    }
}

/// Opens a store that has been used before, works on it, and closes it in good order.
pub(crate) fn with_store(
    config: &Config,
    work: impl AsyncFnOnce(&SqlStore) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    // Opening makes what is missing, and an empty store that has just been made is as sound as can be.
    let folder = &config.state_dir;
    ensure!(
        config.store.url.is_some() || folder.is_dir(),
        "there is no store yet: the state folder {} is missing",
        folder.display()
    );
    with_any_store(config, work)
}

fn with_any_store(config: &Config, work: impl AsyncFnOnce(&SqlStore) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("no runtime")?;
    runtime.block_on(async {
        let vault = Keys::find_vault(config)?;
        let store = open_store(config, vault.as_ref()).await?;
        let done = work(&store).await;
        if let Some(store) = std::sync::Arc::into_inner(store) {
            store.close().await;
        }
        done
    })
}

async fn back_up(store: &SqlStore, arguments: &BackupArgs) -> anyhow::Result<()> {
    let BackupArgs { transfer: TransferArgs { backup, json, .. }, without_receipts } = arguments;
    let begun = Instant::now();
    let scope = if *without_receipts { BackupScope::WithoutReceipts } else { BackupScope::Everything };
    let report = store.backup_in(scope, backup, SystemClock.now()).await.context("nothing was backed up")?;
    tell(&report, *json, &format!("{} backed up in {:.1} s", backup.display(), begun.elapsed().as_secs_f64()))
}

async fn restore(
    store: &SqlStore,
    config: &Config,
    TransferArgs { backup, json, .. }: &TransferArgs,
) -> anyhow::Result<()> {
    let report = store.restore(backup, SystemClock.now()).await.context("nothing was restored")?;
    if Keys::find_vault(config)?.is_none() {
        complain("the links of the audit log and of the ledger were not checked: that needs `auth.master_key`");
    }
    tell(&report, *json, &format!("{} restored", backup.display()))
}

/// Tells what went through, table by table.
fn tell(report: &BackupReport, json: bool, done: &str) -> anyhow::Result<()> {
    if json {
        let told = json!({"rows": report.rows, "sha256": report.digest, "receipts": report.has_receipts});
        return print_json(&told).map_err(CommandError::into_error);
    }
    if !report.has_receipts {
        complain("receipts of rankings are not in this backup: it was made without them");
    }
    let rows: Vec<[String; 2]> = report.rows.iter().map(|(table, rows)| [table.clone(), rows.to_string()]).collect();
    print(&format!("{}\nsha256  {}\n{done}", table(["table", "rows"], &rows), report.digest));
    Ok(())
}

/// What takes the room.
async fn size(store: &SqlStore, json: bool) -> anyhow::Result<()> {
    let StoreSize { tables, unused, segments } = store.size().await.context("the size of the store is not known")?;
    let database = tables.iter().map(|(_, bytes)| bytes).sum::<u64>() + unused;
    let receipts: u64 = segments.iter().map(|segment| segment.bytes).sum();
    if json {
        let tables: BTreeMap<&str, u64> = tables.iter().map(|(table, bytes)| (table.as_str(), *bytes)).collect();
        let segments: Vec<_> = segments
            .iter()
            .map(|SegmentSize { number, begun, receipts, bytes }| {
                json!({"number": number, "begun_at_ms": begun, "receipts": receipts, "bytes": bytes})
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
        let row = |SegmentSize { number, begun, receipts, bytes }: &SegmentSize| {
            [number.to_string(), show_time(*begun), receipts.to_string(), show_bytes(*bytes)]
        };
        let rows: Vec<[String; 4]> = segments.iter().map(row).collect();
        print(&table(["segment", "from", "receipts", "takes"], &rows));
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

async fn check(store: &SqlStore, config: &Config, json: bool) -> anyhow::Result<()> {
    let changes = store.changes().await.context("the store cannot be read")?;
    let records = [
        readable::<Account>(store).await?,
        readable::<EmailCode>(store).await?,
        readable::<Credentials>(store).await?,
        readable::<Webhook>(store).await?,
        readable::<Manifests>(store).await?,
        readable::<Review>(store).await?,
        readable::<Connection>(store).await?,
        readable::<Attempt>(store).await?,
        readable::<Order>(store).await?,
        readable::<OrderedOption>(store).await?,
        readable::<TestReport>(store).await?,
    ];
    store.check_file().await.context("the store is not sound")?;
    let (entries, head) = store.verify_audit().await.context("the store is not sound")?;
    let location = config.store.location(&config.state_dir)?;
    if json {
        let records: BTreeMap<&str, usize> = records.into_iter().collect();
        let log = json!({"entries": entries, "head": head});
        return print_json(
            &json!({"store": location.to_string(), "changes": changes, "records": records, "audit": log}),
        )
        .map_err(CommandError::into_error);
    }
    let rows = records.map(|(kind, read)| [kind.to_owned(), read.to_string()]);
    print(&table(["records", "read"], &rows));
    print(&pairs(&[
        ("store", location.to_string()),
        ("changes", changes.to_string()),
        ("audit log", format!("{entries} long, ends with {head}")),
        ("verdict", "sound".to_owned()),
    ]));
    Ok(())
}

/// Writes the files anew. The store is not opened for that: nothing of the tables has to be known.
fn compact_file(config: &Config, json: bool) -> anyhow::Result<()> {
    let location = config.store.location(&config.state_dir)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build().context("no runtime")?;
    let compacted = runtime.block_on(compact(&location)).context("not all files were written anew")?;
    let Compacted { before, after, is_log_empty } =
        compacted.context("the store is on PostgreSQL: let its operator run `VACUUM FULL`")?;
    ensure!(is_log_empty, "the files were written anew, but a log is not empty: a gateway was reading. Run it again");
    if json {
        return print_json(&json!({"bytes_before": before, "bytes_after": after})).map_err(CommandError::into_error);
    }
    print(&format!("{location}: {before} bytes before, {after} now; nothing is left of what was deleted"));
    Ok(())
}

/// Reads every record of a kind, page by page, and counts them.
async fn readable<R: Record>(store: &SqlStore) -> anyhow::Result<(&'static str, usize)> {
    let kind = R::KIND.name();
    let (mut read, mut pages) = (0_usize, Pages::<R>::of(None));
    while let Some(records) = pages.next(store).await.with_context(|| format!("after {read} {kind}"))? {
        read += records.len();
    }
    Ok((kind, read))
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
