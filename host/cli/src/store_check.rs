//! `intent-gateway store check`: looks whether everything that the store holds is as it must be, and shows it. The work is the
//! check's own (`intent-gateway-check`).

use std::io::IsTerminal as _;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use intent_gateway_check::{CheckOrder, RECEIPTS_A_DAY_MAX, check_all, is_sound};
use intent_gateway_config::{Config, Keys};
use intent_gateway_domain::anchor::ChainName;
use intent_gateway_domain::check::CheckedPart;
use intent_gateway_domain::store::Store as _;
use intent_gateway_store::SqlStore;
use serde_json::json;

use crate::outcome::{CommandError, print_json};
use crate::store_command::CheckArgs;
use crate::terminal::{Palette, Tone, count, harmless, pairs, table};
use crate::{complain, print};

/// Time between two lines that say how far the check is.
const BETWEEN_LINES: Duration = Duration::from_secs(2);

/// Checks a store; an error where it is not sound.
pub(crate) async fn check(store: &SqlStore, config: &Config, arguments: &CheckArgs) -> anyhow::Result<()> {
    let CheckArgs { anchors, all, json, .. } = arguments;
    let changes = store.changes().await.context("the store cannot be read")?;
    let vault = Keys::find_vault(config)?;
    let (audit, ledger) = (anchors.read(config, ChainName::Audit)?, anchors.read(config, ChainName::Ledger)?);
    let receipts = (!all).then_some(RECEIPTS_A_DAY_MAX);
    let order = CheckOrder { vault: vault.as_ref(), audit: &audit, ledger: &ledger, receipts };
    let progress = Progress::start();
    let parts = check_all(store, order, &|part, seen| progress.tell(part, seen)).await;
    let parts = parts.context("the store cannot be read")?;
    let location = config.store.location(&config.state_dir)?.to_string();
    if *json {
        let sound = is_sound(&parts);
        let anchors = audit.len() + ledger.len();
        print_json(&json!({"store": location, "changes": changes, "anchors": anchors, "sound": sound, "parts": parts}))
            .map_err(CommandError::into_error)?;
    } else {
        let facts = [
            ("store", location),
            ("changes", changes.to_string()),
            ("anchors", (audit.len() + ledger.len()).to_string()),
        ];
        print(&show(&parts, &facts, Palette::of_stdout()));
    }
    if is_sound(&parts) { Ok(()) } else { Err(anyhow!("the store is not sound, or was not checked in whole")) }
}

/// Says how far it is, to whoever waits at a terminal.
struct Progress {
    last: Mutex<Option<Instant>>,
}

impl Progress {
    fn start() -> Self {
        Self { last: Mutex::new(std::io::stderr().is_terminal().then(Instant::now)) }
    }

    fn tell(&self, part: &str, seen: u64) {
        let Ok(mut last) = self.last.lock() else { return };
        if last.is_some_and(|last| last.elapsed() >= BETWEEN_LINES) {
            *last = Some(Instant::now());
            complain(&format!("{part}: {seen} looked at"));
        }
    }
}

fn show(parts: &[CheckedPart], facts: &[(&str, String)], palette: Palette) -> String {
    let rows: Vec<[String; 3]> =
        parts.iter().map(|part| [part.name.to_owned(), part.seen.to_string(), found(part)]).collect();
    let mut text = table(["part", "looked at", "found"], &rows);
    for part in parts {
        for problem in &part.problems {
            let of = if problem.of.is_empty() { String::new() } else { format!(" {}", harmless(&problem.of)) };
            let code = palette.paint(Tone::Bad, problem.code);
            text.push_str(&format!("\n{code}  {}{of}: {}", part.name, harmless(&problem.message)));
        }
        if part.problems_unlisted > 0 {
            text.push_str(&format!("\n{}: {} more", part.name, part.problems_unlisted));
        }
    }
    let problems: u64 = parts.iter().map(problems).sum();
    let verdict = match (problems, is_sound(parts)) {
        (_, true) => palette.paint(Tone::Good, "sound"),
        (0, false) => palette.paint(Tone::Bad, crate::audit::NOT_CHECKED),
        (problems, false) => {
            let problems = usize::try_from(problems).unwrap_or(usize::MAX);
            palette.paint(Tone::Bad, &format!("not sound: {}", count(problems, "problem")))
        }
    };
    format!("{text}\n\n{}\nverdict  {verdict}", pairs(facts))
}

fn problems(part: &CheckedPart) -> u64 {
    part.problems_unlisted.saturating_add(u64::try_from(part.problems.len()).unwrap_or(u64::MAX))
}

fn found(part: &CheckedPart) -> String {
    match (problems(part), part.unchecked) {
        (0, 0) => "sound".to_owned(),
        (0, unchecked) => format!("{unchecked} NOT CHECKED: no key at hand"),
        (problems, 0) => format!("{problems} NOT SOUND"),
        (problems, unchecked) => format!("{problems} NOT SOUND, {unchecked} NOT CHECKED"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_has_a_line_and_each_problem_one() {
        let mut orders = CheckedPart::new("orders");
        orders.seen = 2;
        let facts = [("store", "SQLite".to_owned())];
        let text = show(&[orders.clone()], &facts, Palette::PLAIN);
        assert!(text.contains("orders  2          sound") && text.ends_with("verdict  sound"), "{text}");
        orders.unchecked = 1;
        assert!(show(&[orders.clone()], &facts, Palette::PLAIN).ends_with(crate::audit::NOT_CHECKED));
        orders.add("NAME_MISSING", "ord_1\u{1b}", "it is not found by 1 of its names");
        let text = show(&[orders], &facts, Palette::PLAIN);
        assert!(text.contains("\nNAME_MISSING  orders ord_1\\u{1b}: it is not found by 1 of its names"), "{text}");
        assert!(text.ends_with("verdict  not sound: 1 problem"), "{text}");
    }
}
