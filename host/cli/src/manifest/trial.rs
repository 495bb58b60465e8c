//! Tries the mapping of a manifest on an answer of the API, and tells what would come of it.

use anyhow::{Context as _, anyhow};
use intent_gateway_api::trial::{TrialFailure, TrialResult, TriedOption, TriedRequestBody};
use intent_gateway_domain::contract::Violation;
use serde_json::{Value, json};

use super::arguments::TryArgs;
use super::check::{self, Problem};
use super::file::{ManifestFile, read_bounded};
use super::submit::account;
use crate::outcome::{CommandError, Verdict, fail, print_json, usage};
use crate::print;
use crate::terminal::{Palette, Tone, count, harmless};

pub(super) fn run(arguments: &TryArgs) -> Result<Verdict, CommandError> {
    let file = ManifestFile::read(&arguments.file).map_err(usage)?;
    let name = arguments.file.display().to_string();
    let Some(mapping) = file.mapping(&arguments.intent) else {
        return Err(usage(anyhow!("{name} has no `api_mapping` for {}", arguments.intent)));
    };
    let text = read_bounded(&arguments.arguments).map_err(usage)?;
    let tool_arguments: Value = serde_json::from_str(&text)
        .with_context(|| format!("{} holds no JSON", arguments.arguments.display()))
        .map_err(usage)?;
    let answer = read_bounded(&arguments.answer).map_err(usage)?;
    let (gateway, token) = arguments.gateway.open()?;
    let account = account(arguments.account.as_ref(), &token, &file)?;
    let body = json!({
        "intent": arguments.intent,
        "mapping": mapping,
        "tool": arguments.tool,
        "arguments": tool_arguments,
        // As it came: what is no JSON is named by the gateway.
        "answer": answer,
        "status": arguments.status,
    });
    let answered: Value = gateway
        .post(&format!("/api/v1/business/tier1/manifest/{account}/try"), Some(&body))
        .context("the mapping could not be tried")
        .map_err(usage)?;
    let result: TrialResult = serde_json::from_value(answered.clone())
        .context("tried, but the answer is not what was expected")
        .map_err(fail)?;
    let passed = result.passed;
    if arguments.json {
        print_json(&answered)?;
    } else {
        print(&show(&name, &file, &arguments.intent, result, Palette::of_stdout()));
    }
    Ok(Verdict::of(passed))
}

/// As a text for people.
fn show(name: &str, file: &ManifestFile, intent: &str, result: TrialResult, palette: Palette) -> String {
    let TrialResult { passed, request, failure, payload, options, refused, notes, mismatches } = result;
    let at = file.mapping_at(intent).unwrap_or_default();
    let mismatches = mismatches.into_iter().map(|mismatch| mismatch.within(&at)).collect();
    let mismatches = Problem::locate(file, mismatches);
    let mut lines = check::lines(name, &mismatches, Tone::Doubtful, "warning", palette);
    lines.extend(request.iter().flat_map(show_request));
    if let Some(TrialFailure { code, message }) = &failure {
        lines.push(format!("{}: {} [{}]", palette.paint(Tone::Bad, "fails"), harmless(message), harmless(code)));
    }
    if let Some(payload) = &payload {
        let text = serde_json::to_string_pretty(payload).unwrap_or_default();
        lines.push("payload:".to_owned());
        lines.extend(text.lines().map(|line| format!("  {}", harmless(line))));
    }
    lines.extend(options.iter().flat_map(|option| show_option(option, palette)));
    lines.extend(refused.iter().map(|one| violation(palette.paint(Tone::Bad, "refused"), one)));
    lines.extend(notes.iter().map(|one| violation(palette.paint(Tone::Doubtful, "note"), one)));
    let shown = options.iter().filter(|option| option.shown).count();
    let counted = if options.is_empty() {
        String::new()
    } else {
        format!(": {} of {} would be shown", shown, count(options.len(), "option"))
    };
    let verdict =
        if passed { palette.paint(Tone::Good, "would pass") } else { palette.paint(Tone::Bad, "would not pass") };
    lines.push(format!("the answer {verdict}{counted}"));
    lines.join("\n")
}

fn show_request(request: &TriedRequestBody) -> Vec<String> {
    let TriedRequestBody { method, target, headers, body } = request;
    let mut lines = vec![format!("request: {} {}", harmless(method), harmless(target))];
    let header = |(name, value): (&String, &Value)| {
        format!("  {}: {}", harmless(name), harmless(value.as_str().unwrap_or_default()))
    };
    lines.extend(headers.iter().map(header));
    lines.extend(body.iter().map(|body| format!("  {}", harmless(&body.to_string()))));
    lines
}

fn show_option(option: &TriedOption, palette: Palette) -> Vec<String> {
    let TriedOption { option_id, position, shown, strike, violations } = option;
    let name = match (option_id, position) {
        (Some(id), _) => format!("option {}", harmless(id)),
        (None, Some(position)) => format!("item {position}"),
        (None, None) => "option".to_owned(),
    };
    let verdict = match (shown, strike) {
        (true, _) => palette.paint(Tone::Good, "shown"),
        (false, false) => palette.paint(Tone::Bad, "dropped"),
        (false, true) => palette.paint(Tone::Bad, "dropped, and a strike"),
    };
    let mut lines = vec![format!("{name}: {verdict}")];
    lines.extend(violations.iter().map(|one| violation(String::new(), one)));
    lines
}

fn violation(word: String, Violation { pointer, code, message }: &Violation) -> String {
    let word = if word.is_empty() { "  ".to_owned() } else { format!("{word}: ") };
    let at = if pointer.is_empty() { String::new() } else { format!(" at {}", harmless(pointer)) };
    format!("{word}{} [{}{at}]", harmless(message), harmless(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_each_option_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("m.yaml");
        let text =
            "business: {}\nintents:\n  - intent: auto.fix\n    api_mapping:\n      kind: rest\n      tools: {}\n";
        std::fs::write(&path, text).expect("written");
        let file = ManifestFile::read(&path).expect("YAML");
        let one = |pointer: &str, code: &str, message: &str| Violation {
            pointer: pointer.to_owned(),
            code: code.to_owned(),
            message: message.to_owned(),
        };
        let option = |id: Option<&str>, position, shown, violations| TriedOption {
            option_id: id.map(str::to_owned),
            position,
            shown,
            strike: false,
            violations,
        };
        let request = TriedRequestBody {
            method: "GET".to_owned(),
            target: "/v1/offers?car=x".to_owned(),
            headers: [("x-channel".to_owned(), json!("platform"))].into_iter().collect(),
            body: None,
        };
        let result = TrialResult {
            passed: true,
            request: Some(request),
            failure: None,
            payload: Some(json!({"slots": []})),
            options: vec![
                option(Some("S-1"), None, true, vec![one("/price", "PRICE_SUM", "the parts do not add up")]),
                option(None, Some(3), false, vec![one("", "ITEM_NOT_MAPPED", "`/id` is missing")]),
            ],
            refused: vec![],
            notes: vec![one("", "NO_COMMITMENT", "the answer commits to nothing")],
            mismatches: vec![one("/tools", "TOOL_NOT_MAPPED", "the tool `book` is not mapped")],
        };
        let expected = [
            "m.yaml:6: warning: the tool `book` is not mapped [TOOL_NOT_MAPPED at /intents/0/api_mapping/tools]",
            "request: GET /v1/offers?car=x",
            "  x-channel: platform",
            "payload:",
            "  {",
            "    \"slots\": []",
            "  }",
            "option S-1: shown",
            "  the parts do not add up [PRICE_SUM at /price]",
            "item 3: dropped",
            "  `/id` is missing [ITEM_NOT_MAPPED]",
            "note: the answer commits to nothing [NO_COMMITMENT]",
            "the answer would pass: 1 of 2 options would be shown",
        ];
        assert_eq!(show("m.yaml", &file, "auto.fix", result, Palette::PLAIN).lines().collect::<Vec<_>>(), expected);
    }
}
