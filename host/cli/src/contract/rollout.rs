//! `intent-gateway contract promote` and `contract rollout`: a version that reaches everybody step by step.

use intent_gateway_api::rollouts::{EndedRollout, PromotionOrder, Rollout, RolloutOrder, RolloutPause, Rollouts};
use intent_gateway_rollout::{Guard, GuardVerdict, Missing, RolloutEnd, RolloutPolicy, StageCount};

use super::arguments::{PromoteArgs, RolloutArgs};
use super::show::{short, show_actor, show_time};
use super::{CONTRACTS, ask_versions};
use crate::ask::tell;
use crate::files;
use crate::outcome::{CommandError, Verdict, fail, usage};
use crate::terminal::{Palette, Tone, harmless, table};

/// Bytes of a policy as it is written.
const POLICY_MAX_BYTES: usize = 64 * 1024;
const MS_PER_MINUTE: u64 = 60_000;

/// Begins a rollout.
pub(super) fn promote(arguments: &PromoteArgs) -> Result<Verdict, CommandError> {
    let PromoteArgs { contract, why, policy, ask } = arguments;
    let policy = policy.as_deref().map(read_policy).transpose().map_err(usage)?;
    let gateway = ask.open()?;
    let digest = match contract.digest() {
        Some(digest) => digest,
        None => contract.find(&ask_versions(&gateway)?).map_err(usage)?.digest,
    };
    let order = serde_json::to_value(PromotionOrder { why: why.clone(), policy }).map_err(fail)?;
    let answer = gateway.post(&format!("{CONTRACTS}/{digest}/promote"), Some(&order));
    tell(answer, ask.json, |rollout: &Rollout| show_rollout(rollout, Palette::of_stdout()))?;
    Ok(Verdict::Clean)
}

fn read_policy(file: &std::path::Path) -> anyhow::Result<RolloutPolicy> {
    let text = files::read_bounded(file, POLICY_MAX_BYTES)?;
    let policy: RolloutPolicy = serde_json::from_slice(&text)
        .map_err(|error| anyhow::anyhow!("{} is no policy of a rollout: {error}", file.display()))?;
    policy.check().map_err(|error| anyhow::anyhow!("{}: {error}", file.display()))?;
    Ok(policy)
}

/// Shows a rollout, or does something with it.
pub(super) fn run(arguments: &RolloutArgs) -> Result<Verdict, CommandError> {
    let RolloutArgs { intent, act, why, ask } = arguments;
    let (gateway, path) = (ask.open()?, format!("/api/v1/admin/intents/{intent}/rollout"));
    let answer = match (act, why) {
        (Some(act), Some(why)) => {
            let order = serde_json::to_value(RolloutOrder { act: *act, why: why.clone() }).map_err(fail)?;
            gateway.post(&path, Some(&order))
        }
        _ => gateway.get(&path),
    };
    let told = tell(answer, ask.json, |rollouts: &Rollouts| show(rollouts, Palette::of_stdout()))?;
    let was_taken_back = |last: &EndedRollout| last.end == RolloutEnd::TakenBack;
    let is_bad = told.rollout.is_none() && told.last.as_ref().is_some_and(was_taken_back) && act.is_none();
    Ok(Verdict::of(!is_bad))
}

fn show(Rollouts { intent, rollout, last, course: _ }: &Rollouts, palette: Palette) -> String {
    let mut parts = Vec::new();
    match rollout {
        Some(rollout) => parts.push(show_rollout(rollout, palette)),
        None => parts.push(format!("no rollout of {} is under way", harmless(intent))),
    }
    parts.extend(last.as_ref().map(|last| show_ended(last, palette)));
    parts.join("\n\n")
}

fn show_rollout(rollout: &Rollout, palette: Palette) -> String {
    let Rollout {
        candidate,
        baseline,
        stage,
        stage_at_ms,
        by,
        why,
        paused,
        missing,
        seen,
        guards,
        waits_for,
        policy,
        ..
    } = rollout;
    let share = policy.stages.get(*stage).map_or(0.0, |stage| stage.share_percent);
    let whom = if share > 0.0 { format!("{share} % of the users") } else { "nobody yet, beside serving".to_owned() };
    let mut lines = vec![
        format!(
            "{} ({}) beside {}, by {}: {}",
            candidate.version,
            short(candidate.digest),
            baseline.version,
            show_actor(by),
            harmless(why)
        ),
        format!("stage {} of {}: {whom}, since {}", stage + 1, policy.stages.len(), show_time(*stage_at_ms)),
    ];
    if let Some(RolloutPause { at_ms, by, why }) = paused {
        let told = format!("paused at {} by {}: {}", show_time(*at_ms), show_actor(by), harmless(why));
        lines.push(palette.paint(Tone::Doubtful, &told));
    }
    lines.push(show_missing(*missing));
    let StageCount { compared, left_out, served, fell_back } = seen.get(*stage).copied().unwrap_or_default();
    lines.push(format!(
        "seen in it: {compared} compared, {left_out} left out; {served} served, {fell_back} served by the live version in its place"
    ));
    for waited in waits_for {
        let why = waited.failure.as_ref().map_or("not ready yet", |failure| failure.code.as_str());
        lines.push(
            palette
                .paint(Tone::Doubtful, &format!("waits for gateway {}: {}", harmless(&waited.gateway), harmless(why))),
        );
    }
    lines.push(String::new());
    lines.push(show_guards(guards, palette));
    lines.join("\n")
}

fn show_missing(Missing { decisions, ms }: Missing) -> String {
    match (decisions, ms) {
        (0, 0) => "it lacks nothing".to_owned(),
        (decisions, 0) => format!("it lacks {decisions} decisions"),
        (0, ms) => format!("it lacks {} min", ms.div_ceil(MS_PER_MINUTE)),
        (decisions, ms) => format!("it lacks {decisions} decisions and {} min", ms.div_ceil(MS_PER_MINUTE)),
    }
}

fn show_guards(guards: &[Guard], palette: Palette) -> String {
    let rows: Vec<[String; 6]> = guards.iter().map(|guard| show_guard(guard, palette)).collect();
    table(["bound", "allowed", "seen", "at least", "at most", "verdict"], &rows)
}

fn show_guard(guard: &Guard, palette: Palette) -> [String; 6] {
    let percent = |rate: f64| format!("{:.2} %", rate * 100.0);
    let verdict = match guard.verdict {
        GuardVerdict::Holds => palette.paint(Tone::Good, "holds"),
        GuardVerdict::Unknown => "unknown".to_owned(),
        GuardVerdict::Broken => palette.paint(Tone::Bad, "broken"),
    };
    [
        guard.measure.as_str().to_owned(),
        percent(guard.bound),
        format!("{} of {}", guard.hits, guard.of),
        percent(guard.at_least),
        percent(guard.at_most),
        verdict,
    ]
}

fn show_ended(ended: &EndedRollout, palette: Palette) -> String {
    let EndedRollout { candidate, ended_at_ms, stage, end, why, broken, by, .. } = ended;
    let end = match end {
        RolloutEnd::Live => palette.paint(Tone::Good, "went live"),
        RolloutEnd::TakenBack => palette.paint(Tone::Bad, "was taken back"),
        RolloutEnd::Aborted => palette.paint(Tone::Doubtful, "was aborted"),
        RolloutEnd::Overtaken => palette.paint(Tone::Doubtful, "was overtaken"),
    };
    let mut lines = vec![format!(
        "the last one: {} {end} at {}, in stage {}, by {}: {}",
        candidate.version,
        show_time(*ended_at_ms),
        stage + 1,
        show_actor(by),
        harmless(why)
    )];
    let examples = |guard: &Guard| format!("  {}: {}", guard.measure.as_str(), guard.receipts.join(", "));
    lines.extend(broken.iter().filter(|guard| !guard.receipts.is_empty()).map(examples));
    lines.join("\n")
}
