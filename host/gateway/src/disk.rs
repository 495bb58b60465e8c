//! Watches the room on the disks, and says what is not kept while it is short; forgets and thins receipts. What is not kept, and
//! which receipts go, `domain::growth` says.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::growth::thinning::ThinningRules;
use intent_gateway_domain::growth::{DiskThresholds, Shed};
use intent_gateway_domain::ports::Journal as _;
use intent_gateway_domain::telemetry;
use intent_gateway_store::{Journal, SqlStore, Thinned};

use crate::readiness::TaskRounds;

/// How often it is looked how much is free: a disk of which less than a threshold is left must not fill up in between.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// How often it is looked what the store takes.
const MEASURE_EVERY: Duration = Duration::from_secs(60);

/// What is watched.
#[derive(Clone)]
pub(crate) struct DiskWatch {
    pub(crate) state: PathBuf,
    /// The folder of the database file; none where the database is a server, whose disk nobody sees from here.
    pub(crate) store: Option<PathBuf>,
    pub(crate) thresholds: DiskThresholds,
    pub(crate) journal: Arc<Journal>,
}

/// Looks at the disks for as long as it is let.
pub(crate) async fn watch(disks: DiskWatch, rounds: TaskRounds) {
    loop {
        disks.look();
        rounds.note(true);
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Measures what the store takes, for as long as it is let.
pub(crate) async fn measure(store: Arc<SqlStore>, rounds: TaskRounds) {
    loop {
        let bytes = store.bytes().await;
        rounds.note_result(&bytes);
        match bytes {
            Ok(bytes) => telemetry::store_bytes(bytes.database, bytes.receipts),
            Err(error) => tracing::error!(error = %chain(&error), "the size of the store is not known"),
        }
        tokio::time::sleep(MEASURE_EVERY).await;
    }
}

/// Forgets receipts that exceed their bounds.
pub(crate) async fn bound(store: Arc<SqlStore>, clock: Arc<dyn Clock>, keep_ms: u64, rounds: TaskRounds) {
    let forgotten = store.forget_segments(clock.settled().minus_ms(keep_ms)).await;
    rounds.note_result(&forgotten);
    match forgotten {
        Ok(0) => {}
        Ok(receipts) => tracing::info!(receipts, "receipts that were too old or too many were forgotten"),
        Err(error) => tracing::error!(error = %chain(&error), "receipts could not be forgotten"),
    }
}

/// Writes segments of receipts anew of which some go before the rest.
#[derive(Clone)]
pub(crate) struct Thinner {
    pub(crate) store: Arc<SqlStore>,
    pub(crate) clock: Arc<dyn Clock>,
    /// Says whether there is room for a copy.
    pub(crate) journal: Arc<Journal>,
    pub(crate) rules: Arc<ThinningRules>,
}

impl Thinner {
    /// Thins what is due.
    pub(crate) async fn thin(self, rounds: TaskRounds) {
        // A segment and its copy are both there for a while.
        if self.journal.is_shedding() > Shed::Nothing {
            rounds.note(true);
            return;
        }
        let thinned = self.store.thin_segments(&self.rules, self.clock.settled()).await;
        rounds.note_result(&thinned);
        match thinned {
            Ok(Thinned { segments: 0, .. }) => {}
            Ok(Thinned { segments, receipts }) => {
                telemetry::receipts_thinned(receipts);
                tracing::info!(segments, receipts, "receipts that go before their segments were left out of them");
            }
            Err(error) => tracing::error!(error = %chain(&error), "segments of receipts could not be thinned"),
        }
    }
}

impl DiskWatch {
    fn look(&self) {
        look_at("state", &self.state);
        let Some(free) = self.store.as_deref().and_then(|store| look_at("store", store)) else { return };
        let before = self.journal.is_shedding();
        let shed = self.thresholds.judge(before, free);
        if shed != before {
            self.journal.shed(shed);
            tell(shed, free);
        }
    }
}

/// Bytes that are free where a folder is; none where nobody can tell.
fn look_at(place: &'static str, folder: &Path) -> Option<u64> {
    match rustix::fs::statvfs(folder) {
        Ok(disk) => {
            let free = disk.f_bavail.saturating_mul(disk.f_frsize);
            telemetry::disk_free(place, free);
            Some(free)
        }
        Err(error) => {
            tracing::debug!(%error, place, "it is not known how much is free");
            None
        }
    }
}

/// Once for each change, for it would be told every few seconds otherwise.
fn tell(shed: Shed, free_bytes: u64) {
    match shed {
        Shed::Nothing => tracing::info!(free_bytes, "there is room on the disk again: all is kept"),
        Shed::Receipts => {
            tracing::warn!(free_bytes, "the disk of the store is nearly full: receipts of rankings are not kept");
        }
        Shed::ReceiptsAndFindings => tracing::error!(
            free_bytes,
            "the disk of the store is all but full: neither receipts nor findings of searches and calls are kept"
        ),
    }
}

#[cfg(test)]
mod tests {
    use intent_gateway_store::Location;
    use intent_gateway_testing::entropy::vault;

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn what_is_shed_follows_what_is_free() {
        let folder = tempfile::tempdir().expect("a folder");
        let location = Location::file(folder.path().join("gateway.db"));
        let store = Arc::new(SqlStore::open(&location, Some(&vault())).await.expect("it opens"));
        let journal = Arc::new(Journal::open(store, vault()));
        let look = |thresholds, store: Option<PathBuf>| {
            DiskWatch { state: folder.path().to_owned(), store, thresholds, journal: journal.clone() }.look();
            journal.is_shedding()
        };
        let here = || location.folder().map(Path::to_owned);
        let all = DiskThresholds { receipts: u64::MAX, findings: u64::MAX };
        assert_eq!(look(all, None), Shed::Nothing, "nobody knows the disk of a server");
        assert_eq!(look(all, here()), Shed::ReceiptsAndFindings);
        assert_eq!(look(DiskThresholds { findings: 0, ..all }, here()), Shed::Receipts);
        assert_eq!(look(DiskThresholds { receipts: 0, findings: 0 }, here()), Shed::Nothing);
        assert_eq!(
            look(all, Some(folder.path().join("missing"))),
            Shed::Nothing,
            "what cannot be measured changes nothing"
        );
        journal.close().await;
    }
}
