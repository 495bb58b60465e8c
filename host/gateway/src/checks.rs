//! Looks once a day whether everything that the store holds is as it must be: the same check as `intent-gateway store check`. What
//! is wrong is told to the platform team once, and shown in the metrics until a later run is good.

use std::sync::Arc;
use std::time::Duration;

use intent_gateway_check::{CheckOrder, RECEIPTS_A_DAY_MAX, check_all};
use intent_gateway_domain::anchor::{Anchors as _, ChainName};
use intent_gateway_domain::check::CheckedPart;
use intent_gateway_domain::clock::{Clock, Timestamp};
use intent_gateway_domain::error::chain;
use intent_gateway_domain::fleet::{Duty, Fleet};
use intent_gateway_domain::telemetry;
use intent_gateway_domain::vault::Vault;
use intent_gateway_onboarding::TeamAlarm;
use intent_gateway_store::SqlStore;

use crate::chains::KeptAnchors;
use crate::readiness::TaskRounds;

/// Time from the start to the first run: what a start does comes first.
const AFTER_START: Duration = Duration::from_secs(600);
/// Pause after the store could not be reached.
const PAUSE: Duration = Duration::from_secs(300);
/// How often the metrics of the last run are shown again: a series that is not touched for a day is forgotten.
const SHOW_AGAIN: Duration = Duration::from_secs(3_600);

/// What checks the store.
#[derive(Clone)]
pub(crate) struct StoreGuard {
    pub(crate) store: Arc<SqlStore>,
    pub(crate) vault: Vault,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) anchors: Arc<KeptAnchors>,
    pub(crate) alarm: Arc<TeamAlarm>,
    /// Says whether this gateway checks for all.
    pub(crate) fleet: Fleet,
    /// Time between two runs.
    pub(crate) interval: Duration,
}

/// What the last runs have come to.
#[derive(Default)]
struct Runs {
    last_good: Option<Timestamp>,
    problems: u64,
    told: Option<String>,
}

/// Checks the store while that is this gateway's to do, for ever.
pub(crate) async fn guard(guard: StoreGuard, rounds: TaskRounds) {
    let mut runs = Runs::default();
    tokio::time::sleep(AFTER_START).await;
    loop {
        if !guard.fleet.holds(Duty::StoreCheck) {
            rounds.note_rest();
            tokio::time::sleep(PAUSE).await;
            continue;
        }
        rounds.note_turn();
        let run = guard.run().await;
        rounds.note_result(&run);
        match run {
            Ok(parts) => {
                guard.judge(&parts, &mut runs).await;
                guard.show_until_next(&runs).await;
            }
            Err(error) => {
                tracing::error!(error, "the store could not be checked");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
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
        runs.problems = u64::try_from(found.len()).unwrap_or(u64::MAX);
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

    async fn show_until_next(&self, runs: &Runs) {
        let next = tokio::time::Instant::now() + self.interval;
        loop {
            telemetry::store_checked(runs.last_good, runs.problems);
            let now = tokio::time::Instant::now();
            if now >= next {
                return;
            }
            tokio::time::sleep(SHOW_AGAIN.min(next - now)).await;
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

    #[test]
    fn what_only_one_of_two_runs_has_found_is_no_problem() {
        let confirmed = confirm(vec![part(&["ord_1", "ord_3"])], &[part(&["ord_1", "ord_2"])]);
        assert_eq!(list_problems(&confirmed), ["NAME_MISSING orders ord_1: it is not found by 1 of its names"]);
        assert!(list_problems(&confirm(vec![part(&["ord_3"])], &[part(&["ord_1"])])).is_empty());
    }
}
