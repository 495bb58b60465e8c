//! Sets account linking up, and carries its work on when whoever began it has gone.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::ports::SignInServers;
use intent_gateway_domain::vault::Vault;
use intent_gateway_linking::{ArrangedClient, Background, Linking, LinkingSetup};
use intent_gateway_partners::PartnerClient;
use intent_gateway_routing::selection::Directory;
use intent_gateway_store::SqlStore;
use tokio_util::task::TaskTracker;

use crate::timer::RuntimeTimer;
use intent_gateway_config::Config;

/// How long work under way is waited for at shutdown: a token that was granted and not kept would be lost.
const CLOSE_MAX: Duration = Duration::from_secs(45);

/// Work that is carried on.
#[derive(Clone, Default)]
pub(crate) struct LinkingTasks(TaskTracker);

impl Background for LinkingTasks {
    fn run(&self, work: BoxFuture<'static, ()>) {
        self.0.spawn(work);
    }
}

impl LinkingTasks {
    /// Waits until all of it has ended.
    pub(crate) async fn close(self) {
        self.0.close();
        if tokio::time::timeout(CLOSE_MAX, self.0.wait()).await.is_err() {
            tracing::warn!(left = self.0.len(), "renewals of users' tokens were cut off");
        }
    }
}

/// What linking shares with the other parts.
pub(crate) struct LinkingPorts {
    pub(crate) store: Arc<SqlStore>,
    pub(crate) vault: Vault,
    pub(crate) directory: Arc<Directory>,
    pub(crate) sign_in_servers: Arc<dyn SignInServers>,
}

/// Linking over the gateway's parts.
pub(crate) fn linking(
    config: &Config,
    ports: LinkingPorts,
    partners: &Arc<PartnerClient>,
    clock: &Arc<dyn Clock>,
    tasks: &LinkingTasks,
) -> Linking {
    let LinkingPorts { store, vault, directory, sign_in_servers } = ports;
    let settings = config.linking.settings(&config.platform);
    if !settings.is_https() {
        tracing::warn!(
            base_url = settings.base_url,
            "users link accounts over plain HTTP; set `linking.base_url` to an HTTPS address in production"
        );
    }
    for ArrangedClient { partner, issuer, .. } in &settings.clients {
        let redirect_uri = settings.redirect_uri_at(issuer);
        tracing::info!(%partner, issuer, redirect_uri, "a client was arranged by hand: this is its redirect URI");
    }
    Linking::new(LinkingSetup {
        store,
        vault,
        clock: clock.clone(),
        timer: Arc::new(RuntimeTimer),
        directory,
        sign_in_servers,
        authorizer: partners.clone(),
        background: Arc::new(tasks.clone()),
        settings,
    })
}
