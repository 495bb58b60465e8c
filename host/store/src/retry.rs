//! Writing for which nobody waits: tried again a few times, for most failures of a store pass.

use std::error::Error;
use std::time::Duration;

/// How often it is tried.
pub(crate) const TRIES: u32 = 4;
/// How long after a failure it is tried again.
const TRY_AGAIN: Duration = Duration::from_millis(500);

/// Writes, and tries again after failures; none when the last try failed, too. Failures of which `waits` says so do not count as
/// tries. `what` names it in the log.
pub(crate) async fn write_again<T, E: Error + 'static, F: Future<Output = Result<T, E>>>(
    what: &'static str,
    write: impl Fn() -> F,
    waits: impl Fn(&E) -> bool,
) -> Option<T> {
    let (mut tried, mut is_told) = (0, false);
    loop {
        let error = match write().await {
            Ok(written) => return Some(written),
            Err(error) => error,
        };
        let is_passing = waits(&error);
        tried += u32::from(!is_passing);
        // Once for an outage, which may be long.
        if !is_passing || !is_told {
            tracing::warn!(error = &error as &dyn Error, tried, what, "nothing was written");
        }
        is_told |= is_passing;
        if tried >= TRIES {
            return None;
        }
        tokio::time::sleep(TRY_AGAIN).await;
    }
}
