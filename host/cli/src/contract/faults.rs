//! `intent-gateway contract failures INTENT`: the calls in which the contracts of an intent failed, and one of them in a file.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use intent_gateway_api::faults::{ContractFault, ContractFaultFile, ContractFaults};
use intent_gateway_domain::id::IntentId;
use serde_json::json;
use serde_json::value::RawValue;

use super::show::{short, show_time};
use crate::ask::{AskArgs, refuse, tell};
use crate::outcome::{CommandError, Verdict, fail, print_json, usage};
use crate::print;
use crate::terminal::{Palette, Tone, count, harmless, table};

/// A fault with its input is for whoever fetched it, and for nobody else on the machine.
const FILE_MODE: u32 = 0o600;
/// Characters of a message in a table; `--json` and the file have all of it.
const MESSAGE_SHOWN_CHARS: usize = 160;

/// Lists the faults of an intent.
pub(super) fn list(ask: &AskArgs, intent: &IntentId, before: Option<u64>, limit: u32) -> Result<Verdict, CommandError> {
    let before = before.map(|before| format!("&before={before}")).unwrap_or_default();
    let answer = ask.open()?.get(&format!("{}?limit={limit}{before}", path(intent)));
    tell(answer, ask.json, |page| show(page, Palette::of_stdout()))?;
    Ok(Verdict::Clean)
}

/// Writes a fault to a file, with the call that led to it.
pub(super) fn save(
    ask: &AskArgs,
    intent: &IntentId,
    number: u64,
    output: Option<&Path>,
) -> Result<Verdict, CommandError> {
    let answer: Result<Box<RawValue>, _> = ask.open()?.get(&format!("{}/{number}", path(intent)));
    let answer = answer.or_else(|error| refuse(error, ask.json))?;
    let ContractFaultFile { fault, input } = serde_json::from_str(answer.get())
        .context("the gateway answered something else than expected; is it of this version?")
        .map_err(fail)?;
    let output = output.map_or_else(|| PathBuf::from(format!("fault-{number}.json")), Path::to_owned);
    // Nothing that is there is written over.
    let file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(&output);
    let written = file.and_then(|mut file| writeln!(file, "{answer}"));
    written.with_context(|| format!("cannot write {}", output.display())).map_err(usage)?;
    if ask.json {
        print_json(&json!({"file": output, "has_input": input.is_some()}))?;
    } else {
        print(&tell_saved(&output, &fault, input.is_some()));
    }
    Ok(Verdict::Clean)
}

fn path(intent: &IntentId) -> String {
    format!("/api/v1/admin/intents/{intent}/faults")
}

fn tell_saved(output: &Path, fault: &ContractFault, has_input: bool) -> String {
    let (file, size) = (output.display(), fault.input_bytes);
    if has_input {
        format!("{file}: the fault and its input; `intent-gateway plugin replay {file}` makes the call again")
    } else {
        format!("{file}: the fault alone; its input of {size} bytes was too large to be kept")
    }
}

fn show(page: &ContractFaults, palette: Palette) -> String {
    let ContractFaults { intent, faults, next } = page;
    if faults.is_empty() {
        return format!("no call of {} failed that is kept", harmless(intent));
    }
    let rows: Vec<[String; 8]> = faults.iter().map(row).collect();
    let mut text = table(["fault", "at", "contract", "call", "code", "times", "place", "message"], &rows);
    let others: u64 = faults.iter().map(|fault| fault.others).sum();
    if others > 0 {
        let others = count(usize::try_from(others).unwrap_or(usize::MAX), "fault");
        let note = format!("{others} of yet other kinds came within the same minutes and are not kept");
        text.push_str(&format!("\n{}", palette.paint(Tone::Doubtful, &note)));
    }
    if let Some(next) = next {
        text.push_str(&format!("\nmore: --before {next}"));
    }
    text
}

fn row(fault: &ContractFault) -> [String; 8] {
    let ContractFault { number, at_ms, version, digest, function, code, times, place, message, fault, .. } = fault;
    let message = message.as_ref().unwrap_or(fault);
    let lines: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    [
        number.to_string(),
        show_time(*at_ms),
        format!("{version} ({})", short(*digest)),
        function.as_str().to_owned(),
        code.clone(),
        times.to_string(),
        place.clone().unwrap_or_else(|| "-".to_owned()),
        cut(&lines.join(" | ")),
    ]
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MESSAGE_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn fault(changes: &[(&str, Value)]) -> Value {
        let mut fault = json!({
            "number": 17, "at_ms": 1_763_716_800_042_u64, "last_at_ms": 1_763_716_800_042_u64, "times": 3, "others": 0,
            "intent": "auto.fix", "version": "1.2.3", "digest": "ab".repeat(32), "function": "check-request",
            "request_id": "r-1", "code": "CONTRACT_TRAP", "fault": "the contract trapped: unreachable",
            "message": "no tea\n  is left\u{1b}[2J", "place": "src/tea.rs:7:9", "input_bytes": 80, "has_input": true
        });
        for (name, value) in changes {
            fault[*name] = value.clone();
        }
        fault
    }

    fn table(faults: &[Value], next: Option<u64>) -> String {
        let page = json!({"intent": "auto.fix", "faults": faults, "next": next});
        show(&serde_json::from_value(page).expect("a page"), Palette::PLAIN)
    }

    fn words(line: &str) -> String {
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_fault_is_told_with_what_the_contract_said_and_where() {
        let silent = fault(&[
            ("message", Value::Null),
            ("place", Value::Null),
            ("code", json!("CONTRACT_DEADLINE")),
            ("fault", json!("the contract ran past its deadline of 200 ms")),
            ("others", json!(4)),
        ]);
        let text = table(&[fault(&[]), silent], Some(16));
        let lines: Vec<String> = text.lines().map(words).collect();
        assert_eq!(
            lines,
            [
                "fault at contract call code times place message",
                "17 2025-11-21T09:20:00Z 1.2.3 (abababababab) check-request CONTRACT_TRAP 3 src/tea.rs:7:9 no tea | is \
                 left\\u{1b}[2J",
                "17 2025-11-21T09:20:00Z 1.2.3 (abababababab) check-request CONTRACT_DEADLINE 3 - the contract ran past \
                 its deadline of 200 ms",
                "4 faults of yet other kinds came within the same minutes and are not kept",
                "more: --before 16",
            ]
        );
        let long = table(&[fault(&[("message", json!("☂".repeat(2_000)))])], None);
        assert!(long.ends_with(&format!(" {}…", "☂".repeat(MESSAGE_SHOWN_CHARS))), "{long}");
        assert_eq!(table(&[], None), "no call of auto.fix failed that is kept");
    }

    #[test]
    fn a_file_says_what_can_be_done_with_it() {
        let fault: ContractFault = serde_json::from_value(fault(&[])).expect("a fault");
        let path = Path::new("fault-17.json");
        assert!(tell_saved(path, &fault, true).contains("`intent-gateway plugin replay fault-17.json`"));
        assert!(tell_saved(path, &fault, false).contains("its input of 80 bytes was too large"));
    }
}
