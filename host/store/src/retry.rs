//! Writing for which nobody waits: tried again a few times, for most failures of a store pass.

use std::error::Error;
use std::time::Duration;

/// How often it is tried.
pub(crate) const TRIES: u32 = 4;
/// How long after a failure it is tried again.
const TRY_AGAIN: Duration = Duration::from_millis(500);

/// Writes, and tries again after failures; none when the last try failed, too. `what` names it in the log.
pub(crate) async fn write_again<T, E: Error + 'static, F: Future<Output = Result<T, E>>>(
    what: &'static str,
    write: impl Fn() -> F,
) -> Option<T> {
    for tried in 1..=TRIES {
        match write().await {
            Ok(written) => return Some(written),
            Err(error) => tracing::warn!(error = &error as &dyn Error, tried, what, "nothing was written"),
        }
        if tried < TRIES {
            tokio::time::sleep(TRY_AGAIN).await;
        }
    }
    None
}
