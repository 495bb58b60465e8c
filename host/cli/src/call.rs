//! `intent-gateway call`: calls a tool by the reference of an option or of a booking.

use std::process::ExitCode;

use anyhow::{Context as _, anyhow};
use clap::Args;
use http::Method;
use intent_gateway_api::tool::ToolRequest;
use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::limits::REQUEST_BODY_MAX_BYTES;
use intent_gateway_domain::user::Pseudonym;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::ask::{AskArgs, tell};
use crate::client::JSON;
use crate::files;
use crate::outcome::{CommandError, Verdict, exit_code, fail, usage};
use crate::search::parse_user;
use crate::terminal::{Palette, Tone, harmless, pairs};
use crate::values::parse_intent;

/// Longest name of a tool, characters: it goes into a path.
const TOOL_MAX_CHARS: usize = 128;

#[derive(Args, Debug)]
pub(crate) struct CallArgs {
    /// The tool.
    #[arg(value_name = "TOOL", value_parser = parse_tool)]
    tool: String,
    /// The reference of an option (`opt_...`) or of an earlier answer (`bkg_...`).
    #[arg(value_name = "REFERENCE")]
    reference: String,
    /// The tool's arguments: JSON, a file of it, or `-` for standard input; what the reference is about is filled in.
    #[arg(long, value_name = "JSON|FILE|-", default_value = "{}")]
    arguments: String,
    /// The intent; without it, the one that the reference names.
    #[arg(long, value_name = "INTENT", value_parser = parse_intent)]
    intent: Option<IntentId>,
    /// The user of the search that gave the reference, where it named one.
    #[arg(long, value_name = "ID", value_parser = parse_user)]
    user: Option<Pseudonym>,
    #[command(flatten)]
    ask: AskArgs,
}

/// What is read of [`ToolAnswer`](intent_gateway_api::tool::ToolAnswer), which borrows from a call and is only written.
#[derive(Debug, Deserialize)]
struct Answer {
    request_id: String,
    intent: String,
    tool: String,
    partner: String,
    reference: Option<String>,
    advisory: Option<String>,
    /// A gateway from before there were orders names none.
    #[serde(default)]
    order: Option<Order>,
    payload: Value,
    notes: Vec<Violation>,
    elapsed_ms: u64,
}

/// The order that the call has opened or gone on with.
#[derive(Debug, Deserialize)]
struct Order {
    id: String,
    state: String,
}

fn parse_tool(text: &str) -> Result<String, String> {
    let fits = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if fits && (1..=TOOL_MAX_CHARS).contains(&text.len()) {
        Ok(text.to_owned())
    } else {
        Err("a tool's name is letters, digits and `_`".to_owned())
    }
}

/// Runs the command to its exit code.
pub(crate) fn run(arguments: &CallArgs) -> ExitCode {
    exit_code(call(arguments))
}

fn call(arguments: &CallArgs) -> Result<Verdict, CommandError> {
    let CallArgs { tool, reference, arguments, intent, user, ask } = arguments;
    let intent = intent.clone().or_else(|| intent_of(reference));
    let intent =
        intent.ok_or_else(|| usage(anyhow!("the reference does not tell its intent; name it with --intent")))?;
    let request = ToolRequest { reference: reference.clone(), arguments: read_arguments(arguments)? };
    let body = serde_json::to_vec(&request).context("the request is no JSON").map_err(fail)?;
    let gateway = ask.open()?.for_user(user.as_ref().map(|user| user.as_str().to_owned()));
    let answer = gateway.send_file(Method::POST, &format!("/api/v1/intents/{intent}/tools/{tool}"), JSON, &body);
    tell(answer, ask.json, |answer| show(answer, Palette::of_stdout()))?;
    Ok(Verdict::Clean)
}

/// The arguments as they are written: numbers keep their digits.
fn read_arguments(given: &str) -> Result<Box<RawValue>, CommandError> {
    let text = match given.trim_start().starts_with('{') {
        true => given.to_owned(),
        false => files::read_json(given.as_ref(), REQUEST_BODY_MAX_BYTES).map_err(usage)?,
    };
    RawValue::from_string(text).context("--arguments is no JSON").map_err(usage)
}

/// The intent that a reference names. Whether the reference is genuine is the gateway's business; here it only saves
/// typing.
fn intent_of(reference: &str) -> Option<IntentId> {
    let (_, named) = reference.split_once('_')?;
    let (intent, _) = named.rsplit_once('.')?;
    IntentId::parse(intent).ok()
}

fn show(answer: &Answer, palette: Palette) -> String {
    let Answer { request_id, intent, tool, partner, reference, advisory, order, payload, notes, elapsed_ms } = answer;
    let mut rows = vec![
        ("tool", format!("{tool} of {intent}")),
        ("partner", partner.clone()),
        ("request", request_id.clone()),
        ("took", format!("{elapsed_ms} ms")),
    ];
    rows.extend(order.iter().map(|order| ("order", format!("{} ({})", order.id, order.state))));
    rows.extend(reference.iter().map(|reference| ("reference", reference.clone())));
    let mut text = pairs(&rows);
    if let Some(advisory) = advisory {
        text.push_str(&format!("\nadvice: {}", palette.paint(Tone::Doubtful, &harmless(advisory))));
    }
    for Violation { pointer, code, message } in notes {
        text.push_str(&format!("\nnote: {} [{} at {}]", harmless(message), harmless(code), harmless(pointer)));
    }
    let payload = serde_json::to_string_pretty(payload).unwrap_or_default();
    let payload: Vec<String> = payload.lines().map(harmless).collect();
    format!("{text}\n\n{}", payload.join("\n"))
}

#[cfg(test)]
mod tests {
    use intent_gateway_domain::secret::Secret;
    use intent_gateway_routing::reference::{OptionReference, ReferenceSealer};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_reference_tells_its_intent() {
        let option: OptionReference = serde_json::from_value(json!({
            "p": "coolcar", "i": "auto.fix", "c": "ab".repeat(32), "q": "r-1", "o": "slot", "n": 0, "e": 0}))
        .expect("a reference");
        let sealed = ReferenceSealer::new(&Secret::new("k".repeat(32))).seal(&option);
        assert_eq!(intent_of(&sealed).map(|intent| intent.to_string()), Some("auto.fix".to_owned()));
        for strange in ["", "opt_", "opt_a.b", "opt_A.b.x", "opt_eyJpIjoiYS5iIn0.x"] {
            assert_eq!(intent_of(strange), None, "{strange}");
        }
    }

    #[test]
    fn an_answer_is_told_with_what_the_next_call_needs() {
        let answer = json!({"request_id": "r-1", "intent": "auto.fix", "tool": "book", "partner": "coolcar",
            "contract": {"version": "1.0.0", "digest": "ab".repeat(32)}, "reference": "bkg_x", "advisory": "FEE_DUE",
            "order": {"id": "ord_1", "state": "booked"}, "payload": {"booking_id": "b\u{1b}1"}, "notes": [], "elapsed_ms": 12});
        let text = show(&serde_json::from_value(answer).expect("reads"), Palette::PLAIN);
        for part in [
            "book of auto.fix",
            "order      ord_1 (booked)",
            "reference  bkg_x",
            "advice: FEE_DUE",
            "\"booking_id\": \"b\\u001b1\"",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn arguments_stand_on_the_command_line_or_in_a_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.json");
        std::fs::write(&path, "{\"amount\": 1.50}").expect("written");
        let read = |given: &str| read_arguments(given).map(|read| read.get().to_owned()).map_err(|_| ());
        assert_eq!(read(" {\"a\": 1}"), Ok("{\"a\": 1}".to_owned()));
        assert_eq!(read(path.to_str().expect("plain")), Ok("{\"amount\": 1.50}".to_owned()));
        assert_eq!((read("{"), read("none.json")), (Err(()), Err(())));
        assert!(parse_tool("book_table").is_ok() && parse_tool("../x").is_err() && parse_tool("").is_err());
    }
}
