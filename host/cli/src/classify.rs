//! `intent-gateway classify`: which intent an utterance is, and which words say so.

use std::process::ExitCode;

use clap::Args;
use serde::Deserialize;
use serde_json::json;

use crate::ask::{AskArgs, tell};
use crate::outcome::{CommandError, Verdict, exit_code};
use crate::terminal::{Palette, Tone, harmless, table};

#[derive(Args, Debug)]
pub(crate) struct ClassifyArgs {
    /// What the user said.
    #[arg(value_name = "TEXT")]
    utterance: String,
    /// Language tag of the utterance; without it, `en-IN`.
    #[arg(long, value_name = "TAG")]
    locale: Option<String>,
    #[command(flatten)]
    ask: AskArgs,
}

/// What is read of [`Classified`](intent_gateway_domain::classify::Classified), which is only written.
#[derive(Debug, Deserialize)]
struct Classified {
    decision: Decision,
    intent: Option<String>,
    candidates: Vec<Claim>,
    elsewhere: Vec<Elsewhere>,
    also: Vec<String>,
    failed: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Decision {
    Intent,
    Elsewhere,
    None,
}

#[derive(Debug, Deserialize)]
struct Claim {
    intent: String,
    version: String,
    score: f64,
    evidence: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Elsewhere {
    intent: String,
    score: f64,
    reason: String,
    live: bool,
}

/// Runs the command to its exit code.
pub(crate) fn run(arguments: &ClassifyArgs) -> ExitCode {
    exit_code(classify(arguments))
}

fn classify(arguments: &ClassifyArgs) -> Result<Verdict, CommandError> {
    let ClassifyArgs { utterance, locale, ask } = arguments;
    let mut body = json!({"utterance": utterance});
    if let (Some(locale), Some(members)) = (locale, body.as_object_mut()) {
        members.insert("locale".to_owned(), json!(locale));
    }
    let answer = ask.open()?.post("/api/v1/classify", Some(&body));
    tell(answer, ask.json, |classified| show(classified, Palette::of_stdout()))?;
    Ok(Verdict::Clean)
}

fn show(classified: &Classified, palette: Palette) -> String {
    let Classified { decision, intent, candidates, elsewhere, also, failed } = classified;
    let mut lines = vec![match (decision, intent) {
        (Decision::Intent, Some(intent)) => palette.paint(Tone::Good, &harmless(intent)),
        (Decision::Elsewhere, _) => palette.paint(Tone::Doubtful, "no contract claims it, but one names whose it is"),
        _ => palette.paint(Tone::Doubtful, "nothing that any live contract knows"),
    }];
    if !candidates.is_empty() {
        let row = |Claim { intent, version, score, evidence }: &Claim| {
            [intent.clone(), version.clone(), format!("{score:.2}"), evidence.join(", ")]
        };
        let rows: Vec<[String; 4]> = candidates.iter().map(row).collect();
        lines.push(format!("\n{}", table(["claimed by", "version", "score", "for the words"], &rows)));
    }
    if !elsewhere.is_empty() {
        let row = |Elsewhere { intent, score, reason, live }: &Elsewhere| {
            let live = if *live { "live" } else { "not served here" };
            [intent.clone(), format!("{score:.2}"), live.to_owned(), reason.clone()]
        };
        let rows: Vec<[String; 4]> = elsewhere.iter().map(row).collect();
        lines.push(format!("\n{}", table(["left to", "score", "", "because"], &rows)));
    }
    if !also.is_empty() {
        lines.push(format!("\nasked for besides: {}", harmless(&also.join(", "))));
    }
    if !failed.is_empty() {
        lines.push(format!("\n{}: {}", palette.paint(Tone::Bad, "no opinion from"), harmless(&failed.join(", "))));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(classified: serde_json::Value) -> Vec<String> {
        let text = show(&serde_json::from_value(classified).expect("reads"), Palette::PLAIN);
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn the_decision_comes_first_and_then_what_it_rests_on() {
        let lines = shown(json!({"decision": "intent", "intent": "auto.fix", "candidates": [
            {"intent": "auto.fix", "version": "1.0.0", "score": 0.91, "evidence": ["warm air", "ac"]}],
            "elsewhere": [{"intent": "home.fix", "score": 0.6, "reason": "a house", "live": false}],
            "also": ["auto.wash"], "failed": ["auto.broken"]}));
        assert_eq!(lines[0], "auto.fix");
        for line in [
            "auto.fix 1.0.0 0.91 warm air, ac",
            "home.fix 0.60 not served here a house",
            "asked for besides: auto.wash",
            "no opinion from: auto.broken",
        ] {
            assert!(lines.iter().any(|found| found == line), "{line}: {lines:#?}");
        }
        let none =
            json!({"decision": "none", "intent": null, "candidates": [], "elsewhere": [], "also": [], "failed": []});
        assert_eq!(shown(none), ["nothing that any live contract knows"]);
    }
}
