//! How work goes on: begun anew after a panic, watched for rounds that go well, ended when the gateway stops.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::fleet::Duty;
use intent_gateway_domain::readiness::TaskBoard;
use intent_gateway_domain::supervise::restart_on_panic;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::fleet::Duties;
use crate::readiness::TaskRounds;

/// Work that one gateway does for all.
pub(super) struct DutyWork {
    pub(super) duty: Duty,
    /// Time between two rounds.
    pub(super) every: Duration,
    /// It is late when it has not gone well for longer than this, where it is done.
    pub(super) due: Duration,
}

/// Work that goes on until the gateway stops, each under the name that log, metrics and readiness know it by.
pub(super) struct Tasks {
    pub(super) set: JoinSet<()>,
    pub(super) stop: CancellationToken,
    pub(super) board: Arc<TaskBoard>,
    pub(super) clock: Arc<dyn Clock>,
}

impl Tasks {
    /// Begins work that is cut off when it is told to stop. It is late when it has not gone well for longer than `due`.
    pub(super) fn spawn<F: Future<Output = ()> + Send + 'static>(
        &mut self,
        name: &'static str,
        due: Duration,
        mut begin: impl FnMut(TaskRounds) -> F + Send + 'static,
    ) {
        let (stop, rounds) = (self.stop.clone(), self.enter(name, Some(due)));
        self.set.spawn(async move {
            let ended = rounds.rounds.clone();
            let work = restart_on_panic(name, wait, move || begin(rounds.clone()));
            if stop.run_until_cancelled(work).await.is_some() {
                ended.note_end();
            }
        });
    }

    /// Begins work that ends by itself when it is told to stop.
    pub(super) fn spawn_to_the_end<F: Future<Output = ()> + Send + 'static>(
        &mut self,
        name: &'static str,
        due: Option<Duration>,
        mut begin: impl FnMut(TaskRounds) -> F + Send + 'static,
    ) {
        let (stop, rounds) = (self.stop.clone(), self.enter(name, due));
        self.set.spawn(async move {
            let ended = rounds.rounds.clone();
            restart_on_panic(name, wait, move || begin(rounds.clone())).await;
            if !stop.is_cancelled() {
                ended.note_end();
            }
        });
    }

    /// Work that one gateway does for all, in rounds.
    pub(super) fn spawn_duty<F: Future<Output = ()> + Send + 'static>(
        &mut self,
        name: &'static str,
        duties: &Duties,
        DutyWork { duty, every, due }: DutyWork,
        round: impl FnMut(TaskRounds) -> F + Clone + Send + 'static,
    ) {
        let duties = duties.clone();
        self.spawn(name, due, move |rounds| duties.clone().do_rounds(duty, every, rounds, round.clone()));
    }

    fn enter(&self, name: &'static str, due: Option<Duration>) -> TaskRounds {
        let due_ms = due.map(|due| u64::try_from(due.as_millis()).unwrap_or(u64::MAX));
        let rounds = self.board.enter(name, due_ms, self.clock.now());
        TaskRounds { rounds, clock: self.clock.clone() }
    }
}

fn wait(time: Duration) -> BoxFuture<'static, ()> {
    Box::pin(tokio::time::sleep(time))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use intent_gateway_domain::clock::SystemClock;
    use intent_gateway_domain::readiness::TroubleCode;

    use super::*;

    const DUE: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn a_task_that_panics_goes_on_and_ends_when_told_to() {
        let (stop, begun) = (CancellationToken::new(), Arc::new(AtomicU32::new(0)));
        let board = Arc::new(TaskBoard::default());
        let mut tasks =
            Tasks { set: JoinSet::new(), stop: stop.clone(), board: board.clone(), clock: Arc::new(SystemClock) };
        let (count, ends) = (begun.clone(), stop.clone());
        tasks.spawn("test", DUE, move |rounds| {
            let (number, ends) = (count.fetch_add(1, Ordering::Relaxed), ends.clone());
            async move {
                assert!(number >= 2, "try {number}");
                rounds.note(true);
                ends.cancel();
                std::future::pending().await
            }
        });
        while tasks.set.join_next().await.is_some() {}
        assert_eq!(begun.load(Ordering::Relaxed), 3);
        assert!(board.troubles(SystemClock.now()).is_empty(), "it was told to stop");
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_ends_by_itself_is_missed() {
        let (stop, board) = (CancellationToken::new(), Arc::new(TaskBoard::default()));
        let mut tasks = Tasks { set: JoinSet::new(), stop, board: board.clone(), clock: Arc::new(SystemClock) };
        tasks.spawn("test", DUE, |_| std::future::ready(()));
        tasks.spawn_to_the_end("another", None, |_| std::future::ready(()));
        while tasks.set.join_next().await.is_some() {}
        let troubles = board.troubles(SystemClock.now());
        let codes: Vec<_> = troubles.iter().map(|trouble| trouble.code).collect();
        assert_eq!(codes, [TroubleCode::TaskStopped; 2]);
    }
}
