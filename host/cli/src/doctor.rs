//! `intent-gateway doctor`: looks at everything that a gateway needs, and says what is wrong and what to do. The looks are
//! `intent-gateway-doctor`'s; here they are printed.

use std::io::IsTerminal as _;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use intent_gateway_config::Config;
use intent_gateway_doctor::{Area, Finding, Order, State, examine};
use serde_json::json;

use crate::arguments::FileArg;
use crate::outcome::{CommandError, Verdict, print_json};
use crate::terminal::{Palette, Tone, count, fill, harmless};
use crate::{complain, print};

/// Longest wait for one answer that may be asked for, seconds.
const WAIT_MAX_SECONDS: u64 = 300;

#[derive(Args, Debug)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) file: FileArg,
    /// Address of the gateway that runs; where the configuration has it listen if absent.
    #[arg(long, value_name = "URL")]
    gateway: Option<String>,
    /// Ask no partner, issuer, registry or mail server.
    #[arg(long)]
    offline: bool,
    /// Longest wait for one answer, seconds.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=WAIT_MAX_SECONDS))]
    wait: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Looks, and prints what was found; whether no problem was.
pub(crate) fn run(
    config: &Config,
    DoctorArgs { file: _, gateway, offline, wait, json }: &DoctorArgs,
) -> anyhow::Result<Verdict> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("no runtime")?;
    let order = Order { config, gateway: gateway.as_deref(), is_offline: *offline, wait: Duration::from_secs(*wait) };
    let is_watched = std::io::stderr().is_terminal();
    let tell = |area: Area| {
        if is_watched {
            complain(&format!("looking at: {}", area.as_str()));
        }
    };
    let findings = runtime.block_on(examine(order, &tell));
    // A name server or a disk may hold a thread for longer than anybody waits.
    runtime.shutdown_background();
    let problems = findings.iter().filter(|finding| finding.state == State::Problem).count();
    let warnings = findings.iter().filter(|finding| finding.state == State::Warning).count();
    if *json {
        print_json(&json!({"problems": problems, "warnings": warnings, "findings": findings}))
            .map_err(CommandError::into_error)?;
    } else {
        print(&show(&findings, problems, warnings, Palette::of_stdout()));
    }
    Ok(Verdict::of(problems == 0))
}

fn show(findings: &[Finding], problems: usize, warnings: usize, palette: Palette) -> String {
    let states = ["ok", "skipped", "warning", "problem"];
    let state_width = states.iter().map(|state| state.len()).max().unwrap_or_default() + 2;
    let area_width = Area::ALL.iter().map(|area| area.as_str().len()).max().unwrap_or_default() + 2;
    let mut lines = Vec::new();
    for Finding { area, state, code, about, message, advice } in findings {
        let (word, tone) = match state {
            State::Ok => (states[0], Some(Tone::Good)),
            State::Skipped => (states[1], None),
            State::Warning => (states[2], Some(Tone::Doubtful)),
            State::Problem => (states[3], Some(Tone::Bad)),
        };
        let padded = fill(word, state_width);
        let word = tone.map_or_else(|| padded.clone(), |tone| palette.paint(tone, &padded));
        let about = about.as_ref().map_or_else(String::new, |about| format!("{}: ", harmless(about)));
        let code = code.map_or_else(String::new, |code| format!(" [{code}]"));
        // The configuration's problems are told a line each.
        let message = message.lines().map(harmless).collect::<Vec<_>>().join(" ");
        lines.push(format!("{word}{}{about}{message}{code}", fill(area.as_str(), area_width)));
        lines.extend(advice.map(|advice| format!("{}{advice}", " ".repeat(state_width + area_width))));
    }
    let verdict = match (problems, warnings) {
        (0, 0) => palette.paint(Tone::Good, "nothing is wrong"),
        (0, _) => palette.paint(Tone::Doubtful, &format!("no problem, {}", count(warnings, "warning"))),
        _ => palette.paint(Tone::Bad, &format!("{}, {}", count(problems, "problem"), count(warnings, "warning"))),
    };
    lines.push(format!("\n{verdict}"));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(state: State, code: Option<&'static str>) -> Finding {
        Finding {
            area: Area::Partners,
            state,
            code,
            about: Some("ptr_1\u{1b}".to_owned()),
            message: "it says\u{7}\n  - no".to_owned(),
            advice: code.map(|_| "Do something."),
        }
    }

    #[test]
    fn each_finding_is_a_line_with_what_to_do_below() {
        let text = show(&[finding(State::Problem, Some("X")), finding(State::Ok, None)], 1, 0, Palette::PLAIN);
        let expected = "problem  partners       ptr_1\\u{1b}: it says\\u{7}   - no [X]\n                        Do something.\n\
            ok       partners       ptr_1\\u{1b}: it says\\u{7}   - no\n\n1 problem, 0 warnings";
        assert_eq!(text, expected);
    }

    #[test]
    fn the_verdict_tells_warnings_from_problems() {
        let verdict = |problems, warnings| show(&[], problems, warnings, Palette::PLAIN).trim().to_owned();
        assert_eq!(
            [verdict(0, 0), verdict(0, 1), verdict(2, 1)],
            ["nothing is wrong", "no problem, 1 warning", "2 problems, 1 warning"]
        );
    }
}
