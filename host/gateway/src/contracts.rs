//! What a gateway does about contracts without being asked: it follows the catalogue, takes out versions that keep failing, and
//! watches its folder.

use std::sync::Arc;

use intent_gateway_catalogue::Catalogue;
use intent_gateway_sandbox::{ContractFolder, Sandbox};
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

/// Watches the contract folder until told to stop. After a panic there is none to go on with, which readiness tells.
pub(crate) async fn watch_folder(folder: Option<ContractFolder>, stopping: CancellationToken) {
    if let Some(folder) = folder {
        folder.run(stopping).await;
    }
}
