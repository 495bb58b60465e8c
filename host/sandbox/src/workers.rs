//! Threads for work that serves nobody. In a gateway they give way to all others; a command has nothing else to do.

use std::time::Duration;

use futures_util::future::BoxFuture;
use intent_gateway_domain::ports::Workers;
use tokio::sync::oneshot;

use crate::engine::INSTANCES_BESIDE_SERVING;

/// The lowest priority that a thread can have (`setpriority`).
const LOWEST_PRIORITY: i32 = 19;
/// Of the processors, these many have one such thread in a gateway.
const PROCESSORS_A_THREAD: usize = 2;

/// Threads, one for each piece of work.
pub struct WorkerThreads {
    count: usize,
    gives_way: bool,
}

impl WorkerThreads {
    /// For a gateway: one for every two processors, and all others come first.
    #[must_use]
    pub fn beside_serving() -> Self {
        Self { count: at_most(processors() / PROCESSORS_A_THREAD), gives_way: true }
    }

    /// For a command: one for every processor.
    #[must_use]
    pub fn on_all_processors() -> Self {
        Self { count: at_most(processors()), gives_way: false }
    }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
}

/// No more than instances are kept for them.
fn at_most(count: usize) -> usize {
    count.clamp(1, INSTANCES_BESIDE_SERVING.into())
}

impl Workers for WorkerThreads {
    fn count(&self) -> usize {
        self.count
    }

    fn run(&self, work: BoxFuture<'static, ()>) -> BoxFuture<'static, ()> {
        let (done, ended) = oneshot::channel::<()>();
        let gives_way = self.gives_way;
        let on_thread = move || {
            if gives_way && let Err(error) = rustix::process::setpriority_process(None, LOWEST_PRIORITY) {
                tracing::warn!(%error, "a thread beside those that serve keeps their priority");
            }
            match tokio::runtime::Builder::new_current_thread().enable_time().build() {
                Ok(runtime) => runtime.block_on(work),
                Err(error) => tracing::error!(%error, "work beside serving cannot be begun"),
            }
            drop(done);
        };
        let begun = std::thread::Builder::new().name("beside-serving".to_owned()).spawn(on_thread);
        if let Err(error) = begun {
            tracing::error!(%error, "a thread beside those that serve cannot be started");
        }
        Box::pin(async move {
            // An end without a word is an end.
            let _ = ended.await;
        })
    }

    fn spent(&self) -> Duration {
        let spent = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::try_from(spent).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_runs_on_a_thread_that_gives_way_and_counts_its_own_time() {
        let workers = WorkerThreads::beside_serving();
        let (tell, told) = oneshot::channel();
        let own = std::thread::current().id();
        let work = async move {
            let clock = WorkerThreads::beside_serving();
            let before = clock.spent();
            let mut sum = 0_u64;
            while clock.spent() - before < Duration::from_millis(2) {
                sum = sum.wrapping_mul(31).wrapping_add(1);
            }
            std::hint::black_box(sum);
            let priority = rustix::process::getpriority_process(None).expect("it has one");
            let _ = tell.send((std::thread::current().id() != own, priority));
        };
        workers.run(Box::pin(work)).await;
        assert_eq!(told.await, Ok((true, LOWEST_PRIORITY)));
        assert_eq!(rustix::process::getpriority_process(None), Ok(0), "the others keep theirs");
    }
}
