//! What a gateway does about contracts without being asked: it follows the catalogue, takes out versions that keep failing, and
//! watches its folder.

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream;
use intent_gateway_catalogue::Catalogue;
use intent_gateway_registry::SourceFollower;
use intent_gateway_sandbox::{ContractFolder, Sandbox};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::readiness::TaskRounds;

/// Follows the catalogue, for ever.
pub(crate) async fn follow(catalogue: Arc<Catalogue>, rounds: TaskRounds) {
    catalogue.follow(|went_well| rounds.note(went_well)).await;
}

/// Takes out each version that keeps failing, for ever.
pub(crate) async fn take_out_failing(sandbox: Arc<Sandbox>, catalogue: Arc<Catalogue>) {
    loop {
        let failing = sandbox.next_failing().await;
        catalogue.roll_back(failing).await;
    }
}

/// Sources that are looked at beside one another: none waits long for one that does not answer.
const LOOKS_AT_ONCE: usize = 8;

/// Sources of contracts, which one gateway looks at for all.
pub(crate) type Sources = Arc<Mutex<Vec<SourceFollower>>>;

/// Looks at each source once, and the first time only when the folder has been looked through: whether what a source offers is
/// older than what is there can be told only then.
pub(crate) async fn look_at_sources(sources: Sources, looked_through: CancellationToken, rounds: TaskRounds) {
    looked_through.cancelled().await;
    // One that does not answer is told where it is found out; the others are looked at all the same.
    let mut sources = sources.lock().await;
    let looks = stream::iter(sources.iter_mut()).for_each_concurrent(LOOKS_AT_ONCE, |source| async {
        let _ = source.look().await;
    });
    looks.await;
    rounds.note(true);
}

/// Watches the contract folder until told to stop. After a panic there is none to go on with, which readiness tells.
pub(crate) async fn watch_folder(folder: Option<ContractFolder>, stopping: CancellationToken) {
    if let Some(folder) = folder {
        folder.run(stopping).await;
    }
}
