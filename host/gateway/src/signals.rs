//! The signals: two that end the process, by steps, and one that has the configuration read again.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Exit code when a second signal cuts the drain short, as a shell counts an interrupt.
const EXIT_INTERRUPTED: i32 = 130;

/// The steps of a shutdown, as the parts of the process hear of them.
#[derive(Clone)]
pub(crate) struct Drain {
    /// Cancelled when it is announced.
    pub(crate) leaving: CancellationToken,
    /// Cancelled when it begins.
    pub(crate) draining: CancellationToken,
    /// Cancelled when requests are served: before that there is nobody to tell.
    pub(crate) serving: CancellationToken,
    /// Told of each SIGHUP; one that comes before anybody listens is kept.
    pub(crate) hangup: Arc<Notify>,
}

/// The signals that end the process, and the one that does not.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
    /// Listened for, so that a file that has reached the process's limit is a write that fails, and not the end of the process.
    _file_too_large: Signal,
}

impl Signals {
    /// Listens from here on; before, a signal ends the process at once.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let listen = |kind| signal(kind).context("signals cannot be listened for");
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
            _file_too_large: listen(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?,
        })
    }

    /// The first signal announces the drain and, when whoever follows `/ready` has had time to go, begins it. The second ends the
    /// process.
    pub(crate) async fn watch(mut self, drain: Drain, announce: Duration) {
        self.next(&drain.hangup).await;
        drain.leaving.cancel();
        if drain.serving.is_cancelled() && !announce.is_zero() {
            let announce_ms = u64::try_from(announce.as_millis()).unwrap_or(u64::MAX);
            tracing::info!(
                announce_ms,
                "a shutdown is announced, and requests still taken; a second signal stops at once"
            );
            tokio::select! {
                () = tokio::time::sleep(announce) => {}
                () = self.next(&drain.hangup) => stop_at_once(),
            }
        }
        tracing::info!("draining; a second signal stops at once");
        drain.draining.cancel();
        self.next(&drain.hangup).await;
        stop_at_once()
    }

    /// The next signal that is to end the process; `hangup` is told of those that are not.
    async fn next(&mut self, hangup: &Notify) {
        loop {
            tokio::select! {
                _ = self.interrupt.recv() => return,
                _ = self.terminate.recv() => return,
                _ = self.hangup.recv() => hangup.notify_one(),
            }
        }
    }
}

fn stop_at_once() -> ! {
    tracing::warn!("stopped at once by a second signal");
    std::process::exit(EXIT_INTERRUPTED)
}
