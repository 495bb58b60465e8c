//! Looks once a day whether everything that the store holds is as it must be: the same check as `intent-gateway store check`. What
//! is wrong is told to the platform team once, and shown in the metrics until a later run is good.

use std::sync::Arc;
use std::time::Duration;

use intent_gateway_check::{CheckOrder, RECEIPTS_A_DAY_MAX, check_all};
use intent_gateway_domain::anchor::{Anchors as _, ChainName};
use intent_gateway_domain::check::CheckedPart;
use intent_gateway_domain::clock::{Clock, Timestamp};
use intent_gateway_domain::error::chain;
use intent_gateway_domain::telemetry;
use intent_gateway_domain::vault::Vault;
use intent_gateway_onboarding::TeamAlarm;
use intent_gateway_store::SqlStore;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::chains::KeptAnchors;
use crate::readiness::TaskRounds;

/// Time from the start to the first run: what a start does comes first.
const AFTER_START: Duration = Duration::from_secs(600);
/// How often it is looked whether a run is due, and the metrics of the last one are shown again: a series that is not touched for a
/// day is forgotten. A run that failed is made again then.
pub(crate) const LOOK_EVERY: Duration = Duration::from_secs(300);

/// What checks the store.
#[derive(Clone)]
pub(crate) struct StoreGuard {
    pub(crate) store: Arc<SqlStore>,
    pub(crate) vault: Vault,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) anchors: Arc<KeptAnchors>,
    pub(crate) alarm: Arc<TeamAlarm>,
    /// Time between two runs.
    pub(crate) interval: Duration,
}

/// What the last runs have come to, and when the next is due.
pub(crate) struct Runs {
    next: Instant,
    last_good: Option<Timestamp>,
    /// None before the first run.
    problems: Option<u64>,
    told: Option<String>,
}

impl Runs {
    /// Of a gateway that starts.
    pub(crate) fn new() -> Self {
        Self { next: Instant::now() + AFTER_START, last_good: None, problems: None, told: None }
    }

    fn is_due(&self) -> bool {
        Instant::now() >= self.next
    }

    /// The next run is so much later. One that failed is due as before.
    fn wait(&mut self, interval: Duration) {
        self.next = Instant::now() + interval;
    }

    /// Shows what the last run has come to, again and again; nothing before the first.
    fn show(&self) {
        if let Some(problems) = self.problems {
            telemetry::store_checked(self.last_good, problems);
        }
    }
}

/// Checks the store if that is due, and shows what the last run has come to.
pub(crate) async fn look(guard: StoreGuard, runs: Arc<Mutex<Runs>>, rounds: TaskRounds) {
    let mut runs = runs.lock().await;
    if runs.is_due() {
        let run = guard.run().await;
        rounds.note_result(&run);
        match run {
            Ok(parts) => {
                guard.judge(&parts, &mut runs).await;
                runs.wait(guard.interval);
            }
            Err(error) => tracing::error!(error, "the store could not be checked"),
        }
    }
    runs.show();
}

impl StoreGuard {
    /// Checks all; where something is found, once more: what is written while parts are read one after the other may look wrong.
    async fn run(&self) -> Result<Vec<CheckedPart>, String> {
        let parts = self.check().await?;
        if parts.iter().all(|part| part.problems.is_empty()) {
            return Ok(parts);
        }
        Ok(confirm(self.check().await?, &parts))
    }

    async fn check(&self) -> Result<Vec<CheckedPart>, String> {
        let read = async |name| self.anchors.read(name).await.map_err(|error| chain(&error));
        let (audit, ledger) = (read(ChainName::Audit).await?, read(ChainName::Ledger).await?);
        let order =
            CheckOrder { vault: Some(&self.vault), audit: &audit, ledger: &ledger, receipts: Some(RECEIPTS_A_DAY_MAX) };
        check_all(&self.store, order, &|_, _| {}).await.map_err(|error| chain(&error))
    }

    /// Notes what a run has come to, and tells of what is new.
    async fn judge(&self, parts: &[CheckedPart], runs: &mut Runs) {
        let found = list_problems(parts);
        runs.problems = Some(u64::try_from(found.len()).unwrap_or(u64::MAX));
        if found.is_empty() {
            tracing::info!(parts = parts.len(), "the store was checked and is sound");
            (runs.last_good, runs.told) = (Some(self.clock.now()), None);
            return;
        }
        let text = found.join("\n");
        tracing::error!(problems = found.len(), "THE STORE IS NOT SOUND:\n{text}");
        if runs.told.as_ref() != Some(&text) {
            match self.alarm.tell_unsound_store(&found).await {
                Ok(()) => runs.told = Some(text),
                Err(error) => tracing::error!(error = %chain(&error), "the platform team could not be told"),
            }
        }
    }
}

/// What two runs have found alike.
fn confirm(mut again: Vec<CheckedPart>, before: &[CheckedPart]) -> Vec<CheckedPart> {
    for part in &mut again {
        let before = before.iter().find(|before| before.name == part.name);
        part.problems.retain(|problem| before.is_some_and(|before| before.problems.contains(problem)));
    }
    again
}

/// Each problem as a line; of a part, those that are listed.
fn list_problems(parts: &[CheckedPart]) -> Vec<String> {
    let lines = |part: &CheckedPart| {
        let name = part.name;
        let line = |problem: &intent_gateway_domain::check::Problem| {
            format!("{} {name} {}: {}", problem.code, problem.of, problem.message)
        };
        part.problems.iter().map(line).collect::<Vec<_>>()
    };
    parts.iter().flat_map(lines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(problems: &[&str]) -> CheckedPart {
        let mut part = CheckedPart::new("orders");
        problems.iter().for_each(|of| part.add("NAME_MISSING", *of, "it is not found by 1 of its names"));
        part
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_is_due_after_the_start_and_then_at_its_interval() {
        let mut runs = Runs::new();
        assert!(!runs.is_due());
        tokio::time::advance(AFTER_START).await;
        assert!(runs.is_due());
        tokio::time::advance(LOOK_EVERY).await;
        assert!(runs.is_due(), "one that failed is made again at the next look");
        let interval = Duration::from_secs(24 * 3_600);
        runs.wait(interval);
        tokio::time::advance(interval - LOOK_EVERY).await;
        assert!(!runs.is_due());
        tokio::time::advance(LOOK_EVERY).await;
        assert!(runs.is_due());
    }

    #[tokio::test]
    async fn what_the_last_run_has_come_to_is_shown_at_each_look() {
        let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
        let (handle, mut runs) = (recorder.handle(), Runs::new());
        metrics::with_local_recorder(&recorder, || {
            runs.show();
            assert!(!handle.render().contains("store_check"), "nothing is known before the first run");
            (runs.problems, runs.last_good) = (Some(2), Some(Timestamp::from_ms(7_000)));
            runs.show();
            let shown = handle.render();
            assert!(shown.contains("intent_gateway_store_check_problems 2"), "{shown}");
            assert!(shown.contains("intent_gateway_store_check_last_good_timestamp_seconds 7"), "{shown}");
        });
    }

    #[test]
    fn what_only_one_of_two_runs_has_found_is_no_problem() {
        let confirmed = confirm(vec![part(&["ord_1", "ord_3"])], &[part(&["ord_1", "ord_2"])]);
        assert_eq!(list_problems(&confirmed), ["NAME_MISSING orders ord_1: it is not found by 1 of its names"]);
        assert!(list_problems(&confirm(vec![part(&["ord_3"])], &[part(&["ord_1"])])).is_empty());
    }
}
