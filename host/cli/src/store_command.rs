//! `intent-gateway store`: backs the records up, restores them, looks whether they are sound, writes the file anew. The work is
//! the store's.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use clap::{Args, Subcommand};
use intent_gateway_domain::clock::{Clock as _, SystemClock};
use intent_gateway_domain::vault::Vault;
use intent_gateway_store::{BackupReport, BackupScope, Compacted, SqlStore, compact};
use serde_json::json;

use crate::arguments::FileArg;
use crate::audit::AnchorArgs;
use crate::outcome::{CommandError, print_json};
use crate::terminal::table;
use crate::{complain, print, store_check, store_size};
use intent_gateway_config::{Config, Keys, look_outside, open_store, open_to_restore, put_own_anchors_aside};

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
    Size(CompactArgs),
    /// Look whether everything that the store holds is as it must be: its file, the audit log and the ledger with their anchors, every
    /// record with its columns, names and feed, everything sealed, what refers to what, findings, receipts.
    #[command(
        after_help = "What each part compares stands in docs/ledger.md. Of the receipts, which may be many, the newest 100,000 are \
        read; with --all every one. Gateways may serve meanwhile, and do the same once a day.\n\n\
        Exit codes: 0 all is sound, 1 something is not, or could not be looked at.\n\n\
        Examples:\n  intent-gateway store check --config gateway.toml\n  \
        intent-gateway store check --all --json --config gateway.toml"
    )]
    Check(CheckArgs),
    /// Write SQLite's files anew, so that they hold no trace of what was deleted. Gateways that serve on them wait meanwhile.
    #[command(after_help = "Example:\n  intent-gateway store compact --config gateway.toml")]
    Compact(CompactArgs),
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
    pub(crate) config: FileArg,
    #[command(flatten)]
    pub(crate) anchors: AnchorArgs,
    /// Read every receipt.
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct CompactArgs {
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
            Self::Check(arguments) => &arguments.config,
            Self::Size(arguments) | Self::Compact(arguments) => &arguments.config,
        }
    }
}

/// Runs a command under a configuration.
pub(crate) fn run(config: &Config, command: &StoreCommand) -> anyhow::Result<()> {
    match command {
        StoreCommand::Backup(arguments) => with_store(config, async |store| back_up(store, arguments).await),
        StoreCommand::Restore(arguments) => {
            let open = async |vault: Option<&Vault>| open_to_restore(config, vault).await;
            with_opened(config, open, async |store| restore(store, config, arguments).await)
        }
        StoreCommand::Check(arguments) => {
            with_store(config, async |store| store_check::check(store, config, arguments).await)
        }
        StoreCommand::Size(arguments) => {
            with_store(config, async |store| store_size::show(store, arguments.json).await)
        }
        StoreCommand::Compact(arguments) => compact_file(config, arguments.json),
    }
}

/// Opens the store that there is, works on it, and closes it in good order.
pub(crate) fn with_store(
    config: &Config,
    work: impl AsyncFnOnce(&SqlStore) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    with_opened(config, async |vault: Option<&Vault>| open_store(config, vault).await, work)
}

fn with_opened(
    config: &Config,
    open: impl AsyncFnOnce(Option<&Vault>) -> anyhow::Result<Arc<SqlStore>>,
    work: impl AsyncFnOnce(&SqlStore) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("no runtime")?;
    runtime.block_on(async {
        let vault = Keys::find_vault(config)?;
        let store = open(vault.as_ref()).await?;
        let done = work(&store).await;
        if let Some(store) = Arc::into_inner(store) {
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
    let (outside, now) = (look_outside(config)?, SystemClock.now());
    let report = store.restore_expected(backup, &outside, now).await.context("nothing was restored")?;
    if let Some(anchors) = put_own_anchors_aside(config, now)? {
        complain(&format!("what was anchored before is in {} now; the gateway anchors anew", anchors.display()));
    }
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
