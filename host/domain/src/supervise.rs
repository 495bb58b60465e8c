//! Work that goes on for as long as the process does: a panic in it is told and the work begun anew, for what stopped in
//! silence would be missed much later.
//!
//! Not here: spawning, and when to stop. Both are the owner's.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use crate::telemetry;

/// Pause before work that panicked is begun anew. Long enough that work which panics at once cannot take a processor.
pub(crate) const RESTART_PAUSE: Duration = Duration::from_secs(1);

/// Does work until it ends by itself. After a panic it is begun anew, a [`RESTART_PAUSE`] later; `wait` waits.
///
/// What the work shares with others is used again as the panic left it: it must hold after every step that may panic.
pub async fn restart_on_panic<F: Future<Output = ()>>(
    name: &'static str,
    wait: impl Fn(Duration) -> BoxFuture<'static, ()>,
    mut begin: impl FnMut() -> F,
) {
    loop {
        if catch(name, async { begin().await }).await.is_ok() {
            return;
        }
        wait(RESTART_PAUSE).await;
        tracing::warn!(task = name, "work in the background is begun anew");
    }
}

/// Does one piece of work; a panic in it is counted, logged and returned.
///
/// # Errors
/// [`Panicked`] with what the panic said.
pub async fn catch<T>(name: &'static str, work: impl Future<Output = T>) -> Result<T, Panicked> {
    AssertUnwindSafe(work).catch_unwind().await.map_err(|panic| {
        let panicked = Panicked(message(&*panic));
        telemetry::task_panicked(name);
        tracing::error!(task = name, panic = %panicked.0, "work in the background panicked");
        panicked
    })
}

/// Work panicked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a panic: {0}")]
pub struct Panicked(pub String);

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn work_that_panics_is_begun_anew_until_it_ends() {
        let (begun, waited) = (AtomicU32::new(0), AtomicU32::new(0));
        let wait = |time| {
            assert_eq!(time, RESTART_PAUSE);
            waited.fetch_add(1, Ordering::Relaxed);
            std::future::ready(()).boxed()
        };
        let work = restart_on_panic("test", wait, || async {
            assert!(begun.fetch_add(1, Ordering::Relaxed) >= 2, "not yet");
        });
        work.now_or_never().expect("nothing to wait for");
        assert_eq!((begun.into_inner(), waited.into_inner()), (3, 2));
    }

    #[test]
    fn what_a_panic_said_is_kept() {
        let panicked = |work: BoxFuture<'static, ()>| catch("test", work).now_or_never().expect("ready");
        assert_eq!(panicked(async { panic!("plain") }.boxed()), Err(Panicked("plain".to_owned())));
        assert_eq!(panicked(async { panic!("number {}", 7) }.boxed()), Err(Panicked("number 7".to_owned())));
        assert_eq!(panicked(async {}.boxed()), Ok(()));
    }
}
