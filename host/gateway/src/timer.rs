//! Waiting, on the runtime's clock.

use std::time::Duration;

use futures_util::future::BoxFuture;
use intent_gateway_domain::ports::Timer;

/// The runtime's timer.
pub(crate) struct RuntimeTimer;

impl Timer for RuntimeTimer {
    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }
}
