//! Background work for tests in which whoever began some work sees it to its end.

use futures_util::future::BoxFuture;
use intent_gateway_linking::Background;

/// Drops what it is given: the work goes on in whoever waits for its outcome.
pub struct NoBackground;

impl Background for NoBackground {
    fn run(&self, _: BoxFuture<'static, ()>) {}
}
