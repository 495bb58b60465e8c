//! What the gateway does without being asked: it follows changes of who is routed, sends mail, probes live partners
//! once a day, and forgets codes that are over.

use std::sync::Arc;
use std::time::Duration;

use intent_gateway_core::error::chain;
use intent_gateway_core::onboarding::Onboarding;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// How often the store is asked for mail that is due.
const MAIL_POLL: Duration = Duration::from_millis(500);
/// How often live connections are looked through for probes that are due.
const PROBE_POLL: Duration = Duration::from_secs(60);
/// How often codes that are over are forgotten.
const SWEEP_POLL: Duration = Duration::from_secs(600);
/// Pause after the store has failed.
const STORE_PAUSE: Duration = Duration::from_secs(1);

/// The tasks; they end when told to, or when this is dropped.
pub(crate) struct Background(JoinSet<()>);

impl Background {
    pub(crate) fn start(onboarding: &Arc<Onboarding>, seen: u64, stop: &CancellationToken) -> Self {
        let mut tasks = JoinSet::new();
        let until = |stop: &CancellationToken, work: futures_util::future::BoxFuture<'static, ()>| {
            let stop = stop.clone();
            async move {
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = work => {}
                }
            }
        };
        tasks.spawn(until(stop, Box::pin(follow(onboarding.clone(), seen))));
        tasks.spawn(until(stop, Box::pin(deliver(onboarding.clone()))));
        tasks.spawn(until(stop, Box::pin(probe(onboarding.clone()))));
        tasks.spawn(until(stop, Box::pin(sweep(onboarding.clone()))));
        Self(tasks)
    }

    /// Waits until all have ended.
    pub(crate) async fn stopped(mut self) {
        while self.0.join_next().await.is_some() {}
    }
}

/// Puts every change of who is routed in force. While the store cannot be read, what was read last stays in force.
async fn follow(onboarding: Arc<Onboarding>, mut seen: u64) {
    loop {
        let now = onboarding.store.changed(seen).await;
        match onboarding.routing.refresh(&*onboarding.store).await {
            Ok(partners) => {
                tracing::debug!(partners, changes = now, "the partners were read anew");
                seen = now;
            }
            Err(error) => {
                let error = chain(&error);
                tracing::error!(%error, "the partners could not be read; those read last stay in force");
                tokio::time::sleep(STORE_PAUSE).await;
            }
        }
    }
}

async fn deliver(onboarding: Arc<Onboarding>) {
    loop {
        match onboarding.deliver_mail().await {
            Ok(0) => tokio::time::sleep(MAIL_POLL).await,
            Ok(_) => {}
            Err(error) => {
                tracing::error!(error = %chain(&error), "mail could not be read from the store");
                tokio::time::sleep(STORE_PAUSE).await;
            }
        }
    }
}

async fn probe(onboarding: Arc<Onboarding>) {
    loop {
        match onboarding.probe_due().await {
            Ok(0) => {}
            Ok(probed) => tracing::info!(probed, "live partners were probed"),
            Err(error) => tracing::error!(error = %chain(&error), "due probes could not be made"),
        }
        tokio::time::sleep(PROBE_POLL).await;
    }
}

async fn sweep(onboarding: Arc<Onboarding>) {
    loop {
        if let Err(error) = onboarding.forget_codes().await {
            tracing::error!(error = %chain(&error), "codes that are over could not be forgotten");
        }
        tokio::time::sleep(SWEEP_POLL).await;
    }
}
