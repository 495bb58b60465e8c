//! A closed-loop load: so many calls under way at once, each followed by the next.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use intent_gateway_tests::cpu;
use tokio::task::JoinSet;

/// How long a load runs, after a warm-up that does not count.
pub(crate) const TIME: Duration = Duration::from_secs(2);
const WARM_UP: Duration = Duration::from_millis(500);

/// Makes one call and checks its answer; panics where that is none.
pub(crate) trait Call: Send + Sync + 'static {
    /// No two calls have the same number.
    fn call(&self, number: u64) -> impl Future<Output = ()> + Send;
}

/// What a run showed.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    /// Calls, those of the warm-up among them.
    pub(crate) all_calls: u64,
    pub(crate) calls: u64,
    pub(crate) per_second: f64,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
    /// CPU time of the process for each call.
    pub(crate) cpu: Duration,
    /// Connections that the partner saw, those of the warm-up included.
    pub(crate) connections: u64,
}

/// Calls are numbered over all runs.
static NUMBER: AtomicU64 = AtomicU64::new(1);

/// Makes calls for a while; `process` is the one whose CPU time counts.
pub(crate) async fn run<C: Call>(call: Arc<C>, process: u32, in_flight: usize, time: Duration) -> Run {
    let warm_up = hammer(&call, in_flight, WARM_UP).await;
    let (cpu, start) = (cpu::time_of(process), Instant::now());
    let mut latencies = hammer(&call, in_flight, time).await;
    let (elapsed, cpu) = (start.elapsed(), cpu::time_of(process).saturating_sub(cpu));
    latencies.sort_unstable();
    let calls = latencies.len() as f64;
    let quantile = |share: f64| latencies[((calls - 1.0) * share) as usize];
    Run {
        all_calls: (warm_up.len() + latencies.len()) as u64,
        calls: latencies.len() as u64,
        per_second: calls / elapsed.as_secs_f64(),
        p50: quantile(0.5),
        p99: quantile(0.99),
        cpu: cpu.div_f64(calls),
        connections: 0,
    }
}

async fn hammer<C: Call>(call: &Arc<C>, in_flight: usize, time: Duration) -> Vec<Duration> {
    let end = Instant::now() + time;
    let mut clients = JoinSet::new();
    for _ in 0..in_flight {
        let call = Arc::clone(call);
        clients.spawn(async move {
            let mut latencies = Vec::new();
            while Instant::now() < end {
                let number = NUMBER.fetch_add(1, Ordering::Relaxed);
                let start = Instant::now();
                call.call(number).await;
                latencies.push(start.elapsed());
            }
            latencies
        });
    }
    clients.join_all().await.concat()
}
