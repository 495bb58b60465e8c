//! Tells when the counter of watched changes moved: at once for a change of this process, on PostgreSQL's announcement or
//! at the next look for one of another.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use intent_gateway_domain::supervise::restart_on_panic;
use tokio::sync::{Notify, watch};
use tokio_util::task::AbortOnDropHandle;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::tables;

/// How often the counter is looked at. Twice within the second in which a change of another process is in force.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How long after a broken connection a new one is tried.
const LISTEN_AGAIN: Duration = Duration::from_secs(1);

/// Watches for as long as it lives.
pub(crate) struct Watch {
    counter: watch::Sender<u64>,
    tasks: Vec<AbortOnDropHandle<()>>,
}

impl Watch {
    /// Starts to watch from the counter's present state.
    pub(crate) async fn start(engine: Engine) -> Result<Self, EngineError> {
        let (counter, _) = watch::channel(tables::changes(&engine).await?);
        let announced = Arc::new(Notify::new());
        let mut tasks = Vec::new();
        if let Engine::Postgres(postgres) = &engine {
            let (postgres, announced) = (postgres.clone(), Arc::clone(&announced));
            tasks.push(spawn("store announcements", move || listen(postgres.listener(), Arc::clone(&announced))));
        }
        let of_look = counter.clone();
        tasks.push(spawn("store changes", move || look(engine.clone(), of_look.clone(), Arc::clone(&announced))));
        Ok(Self { counter, tasks })
    }

    /// Takes note of a change of this process.
    pub(crate) fn moved_to(&self, count: u64) {
        advance(&self.counter, count);
    }

    /// Waits until the counter is another than `seen`.
    pub(crate) async fn moved_from(&self, seen: u64) -> u64 {
        match self.counter.subscribe().wait_for(|count| *count != seen).await {
            Ok(count) => *count,
            // The sender is part of `self`, so it is not gone.
            Err(_) => seen,
        }
    }

    /// Stops, and waits until the tasks have let go of the engine.
    pub(crate) async fn stop(self) {
        for task in self.tasks {
            task.abort();
            // Cancelled is how it is meant to end.
            let _ = task.await;
        }
    }
}

/// The counter only grows; what was looked up before a change of our own came through is old news.
fn advance(counter: &watch::Sender<u64>, count: u64) {
    counter.send_if_modified(|known| {
        let newer = count > *known;
        *known = count.max(*known);
        newer
    });
}

/// Work that goes on until the watch is dropped.
fn spawn<F: Future<Output = ()> + Send + 'static>(
    name: &'static str,
    begin: impl FnMut() -> F + Send + 'static,
) -> AbortOnDropHandle<()> {
    let wait = |time| tokio::time::sleep(time).boxed();
    AbortOnDropHandle::new(tokio::spawn(restart_on_panic(name, wait, begin)))
}

async fn look(engine: Engine, counter: watch::Sender<u64>, announced: Arc<Notify>) {
    let mut reachable = true;
    loop {
        // Either wakes; that the time is over is the usual case.
        let _ = tokio::time::timeout(LOOK_EVERY, announced.notified()).await;
        match tables::changes(&engine).await {
            Ok(count) => {
                advance(&counter, count);
                if !reachable {
                    tracing::info!("the store can be reached again");
                }
                reachable = true;
            }
            Err(error) => {
                if reachable {
                    tracing::error!(error = &error as &dyn std::error::Error, "the store cannot be reached");
                }
                reachable = false;
            }
        }
    }
}

async fn listen(mut listener: crate::postgres::Listener, announced: Arc<Notify>) {
    loop {
        match listener.announcement().await {
            Ok(()) => announced.notify_one(),
            // That the server cannot be reached is logged by whoever looks.
            Err(error) => {
                tracing::debug!(%error, "announcements cannot be heard");
                tokio::time::sleep(LISTEN_AGAIN).await;
            }
        }
    }
}
