//! `intent-gateway receipt`: what was ranked for a request and how, and the same ranked anew, asked of a gateway.
//!
//! What a command prints for people leaves out the request's arguments and the options, which may be personal data and
//! are long besides; `--json` prints the gateway's own answer, byte for byte.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use intent_gateway_api::evidence::{RankingReceipts, RankingReplay};
use intent_gateway_api::intents::ContractVersion;
use intent_gateway_compare::{CodeCount, ExportSummary, ReceiptsHeading};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::Axes;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::limits::REQUEST_ID_MAX_CHARS;
use intent_gateway_domain::receipt::{ID_MAX_CHARS, Receipt, ReceiptDrop, ReceiptScore};
use intent_gateway_routing::replay::Difference;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::ask::{AskArgs, tell};
use crate::client::GatewayError;
use crate::outcome::{CommandError, Verdict, exit_code, usage};
use crate::terminal::{Palette, Tone, harmless, pairs, table};
use crate::values::{ms_before_now, parse_intent, parse_span};

/// Where a gateway has its receipts.
const RECEIPTS: &str = "/api/v1/admin/receipts";
/// What the identifiers of receipts begin with.
const ID_PREFIX: &str = "rank_";

/// Look into rankings: what was ranked, how it came out, and whether it still does.
#[derive(Debug, Subcommand)]
pub(crate) enum ReceiptCommand {
    /// List the receipts of a request, newest first.
    #[command(after_help = "A receipt is kept a moment after its search was answered.\n\n\
        Example:\n  intent-gateway receipt list --request-id 01890a5d-ac96-774b-bcce-b302099a8057")]
    List(ListArgs),
    /// Show how the options of a ranking came out.
    #[command(
        after_help = "The request's arguments and the options themselves are shown with --json alone: they may be \
        personal data.\n\n\
        Example:\n  intent-gateway receipt show rank_0f1e2d3c4b5a69788796a5b4"
    )]
    Show(ReceiptArgs),
    /// Rank anew what a receipt holds, by the very contract that ranked it or by another version, and compare.
    #[command(
        after_help = "Exit codes: 0 the outcome is the same to the bit, 1 it is not, or the replay could not be \
        made, for example because that contract is not loaded any more.\n\n\
        Example:\n  intent-gateway receipt replay rank_0f1e2d3c4b5a69788796a5b4\n  \
        intent-gateway receipt replay rank_0f1e2d3c4b5a69788796a5b4 --under 1.1.0"
    )]
    Replay(ReplayArgs),
    /// Write the receipts of an intent to a file, without the people whose rankings they are.
    #[command(
        after_help = "For authors of contracts, who compare versions with it where no gateway is: `plugin compare`. What of a \
        request fewer than five users have given is replaced, and receipts that are not ranked so any more are left out \
        (docs/compare.md).\n\n\
        Exit codes: 0 receipts were written, 1 there was none to write.\n\n\
        Example:\n  intent-gateway receipt export auto.book_ac_service --since 7d --out receipts.jsonl"
    )]
    Export(ExportArgs),
}

#[derive(Args, Debug)]
pub(crate) struct ExportArgs {
    /// The intent.
    #[arg(value_name = "INTENT", value_parser = parse_intent)]
    intent: IntentId,
    /// How far to look back: `7d`, `12h`.
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = parse_span)]
    since: Duration,
    /// At most so many receipts, the latest.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    limit: u64,
    /// The file to write.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    common: AskArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// The request, as the search's answer names it.
    #[arg(long, value_name = "ID", value_parser = parse_request)]
    request_id: String,
    #[command(flatten)]
    common: AskArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ReceiptArgs {
    /// The receipt.
    #[arg(value_name = "RECEIPT", value_parser = parse_receipt)]
    receipt: String,
    #[command(flatten)]
    common: AskArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ReplayArgs {
    /// The receipt.
    #[arg(value_name = "RECEIPT", value_parser = parse_receipt)]
    receipt: String,
    /// Run the contract also if it is revoked, and say in the audit log why.
    #[arg(long, value_name = "TEXT")]
    revoked_because: Option<String>,
    /// By which version of the intent to rank, live or not: its number, or the digest of its component.
    #[arg(long, value_name = "VERSION")]
    under: Option<String>,
    #[command(flatten)]
    common: AskArgs,
}

/// A receipt's identifier goes into a path.
fn parse_receipt(text: &str) -> Result<String, String> {
    let fits = text.len() <= ID_MAX_CHARS && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if fits && text.starts_with(ID_PREFIX) {
        return Ok(text.to_owned());
    }
    Err(format!("a ranking's receipt begins with `{ID_PREFIX}`"))
}

fn parse_request(text: &str) -> Result<String, String> {
    if (1..=REQUEST_ID_MAX_CHARS).contains(&text.chars().count()) {
        return Ok(text.to_owned());
    }
    Err(format!("expected 1 to {REQUEST_ID_MAX_CHARS} characters"))
}

/// Runs a command to its exit code.
pub(crate) fn run(command: &ReceiptCommand) -> ExitCode {
    exit_code(match command {
        ReceiptCommand::List(arguments) => list(arguments),
        ReceiptCommand::Show(arguments) => show(arguments),
        ReceiptCommand::Replay(arguments) => replay(arguments),
        ReceiptCommand::Export(arguments) => export(arguments),
    })
}

fn list(arguments: &ListArgs) -> Result<Verdict, CommandError> {
    let ListArgs { request_id, common } = arguments;
    let request_id = utf8_percent_encode(request_id, NON_ALPHANUMERIC);
    let answer = common.open()?.get(&format!("{RECEIPTS}?request_id={request_id}"));
    tell(answer, common.json, |listed: &RankingReceipts| match listed.receipts.as_slice() {
        [] => "no receipt of this request is kept".to_owned(),
        receipts => receipts.iter().map(|receipt| harmless(receipt)).collect::<Vec<_>>().join("\n"),
    })?;
    Ok(Verdict::Clean)
}

fn show(arguments: &ReceiptArgs) -> Result<Verdict, CommandError> {
    let ReceiptArgs { receipt, common } = arguments;
    /// What is shown beside the receipt.
    #[derive(Deserialize)]
    struct Shown {
        #[serde(default)]
        signed_by: Vec<String>,
    }
    let answer: Result<Box<RawValue>, GatewayError> = common.open()?.get(&format!("{RECEIPTS}/{receipt}"));
    let signed_by = answer.as_ref().ok().and_then(|answer| serde_json::from_str::<Shown>(answer.get()).ok());
    let signed_by = signed_by.map(|shown| shown.signed_by).unwrap_or_default();
    tell(answer, common.json, |receipt: &Receipt| show_receipt(receipt, &signed_by))?;
    Ok(Verdict::Clean)
}

fn replay(arguments: &ReplayArgs) -> Result<Verdict, CommandError> {
    let ReplayArgs { receipt, revoked_because, under, common } = arguments;
    let mut path = format!("{RECEIPTS}/{receipt}/replay");
    for (name, value) in [("revoked_because", revoked_because), ("under", under)] {
        if let Some(value) = value {
            let joint = if path.contains('?') { '&' } else { '?' };
            path.push_str(&format!("{joint}{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC)));
        }
    }
    let answer = common.open()?.post(&path, None);
    let replayed = tell(answer, common.json, |replayed| show_replay(replayed, Palette::of_stdout()))?;
    Ok(Verdict::of(replayed.same))
}

/// Writes beside the file, and puts it in its place when all is there.
fn export(arguments: &ExportArgs) -> Result<Verdict, CommandError> {
    let ExportArgs { intent, since, limit, out, common } = arguments;
    let gateway = common.open()?;
    let since_ms = ms_before_now(*since);
    let path = format!("{RECEIPTS}/export?intent={intent}&since_ms={since_ms}&limit={limit}");
    let unwritable =
        |cause: std::io::Error| usage(anyhow::Error::new(cause).context(format!("cannot write {}", out.display())));
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(unwritable)?;
    let mut written =
        serde_json::to_writer(&mut file, &ReceiptsHeading::new(intent.clone())).map_err(std::io::Error::from);
    let summary = gateway.hear(&path, None, |event, data| match event {
        "receipt" if written.is_ok() => {
            written = write!(file, "\n{data}");
            None
        }
        "summary" => Some(gateway.parse_event::<Box<RawValue>>(&path, data)),
        "error" | "end" => Some(Err(GatewayError::refused_in_stream(data))),
        _ => None,
    });
    if summary.is_ok() {
        written = written.and_then(|()| writeln!(file)).and_then(|()| file.flush());
        written.map_err(unwritable)?;
        file.persist(out).map_err(|error| unwritable(error.error))?;
    }
    let summary = tell(summary, common.json, |summary| show_export(summary, out))?;
    Ok(Verdict::of(summary.receipts > 0))
}

fn show_export(summary: &ExportSummary, out: &Path) -> String {
    let ExportSummary { receipts, changed, left_out } = summary;
    let left: Vec<String> =
        left_out.iter().map(|CodeCount { code, count }| format!("{count} {}", harmless(code))).collect();
    let left = if left.is_empty() { "none".to_owned() } else { left.join(", ") };
    pairs(&[
        ("written", format!("{receipts} receipts, to {}", out.display())),
        ("ranked otherwise", format!("{changed}, for what was replaced had a part in it")),
        ("left out", left),
    ])
}

/// A receipt without what the user and the partners said.
fn show_receipt(receipt: &Receipt, signed_by: &[String]) -> String {
    let signed_by: Vec<String> = signed_by.iter().map(|name| harmless(name)).collect();
    let signed_by = if signed_by.is_empty() { "nobody who is trusted".to_owned() } else { signed_by.join(", ") };
    let head = pairs(&[
        ("receipt", receipt.id.clone()),
        ("request", receipt.request_id.clone()),
        ("at", show_time(receipt.at_ms)),
        ("contract", format!("{} {}", receipt.intent, receipt.version)),
        ("component", receipt.contract.to_string()),
        ("signed by", signed_by),
        ("outcome", receipt.outcome.to_string()),
    ]);
    let ranked: Vec<[String; 9]> =
        (1..).zip(&receipt.ranked).map(|(place, score)| row(receipt, place, score)).collect();
    let head_of_ranked = ["place", "option", "partner", "total", "time", "taste", "budget", "safety", "complete"];
    let mut sections = vec![head, table(head_of_ranked, &ranked)];
    if !receipt.history.is_empty() {
        let past = receipt.history.iter();
        let past = past.map(|past| [past.status.clone(), show_time(past.closed_at_ms), past.attributes_json()]);
        let past: Vec<[String; 3]> = past.collect();
        sections.push(table(["past order", "closed", "attributes"], &past));
    }
    if !receipt.dropped.is_empty() {
        let dropped: Vec<[String; 4]> = receipt
            .dropped
            .iter()
            .map(|ReceiptDrop { number, strike, codes }| {
                let strike = if *strike { "yes" } else { "no" };
                [format!("#{number}"), partner(receipt, *number), strike.to_owned(), codes.join(" ")]
            })
            .collect();
        sections.push(table(["dropped", "partner", "strike", "reasons"], &dropped));
    }
    sections.join("\n\n")
}

pub(crate) fn show_time(at: Timestamp) -> String {
    at.to_jiff().map_or_else(|| format!("{} ms", at.as_ms()), |at| at.to_string())
}

fn row(receipt: &Receipt, place: usize, score: &ReceiptScore) -> [String; 9] {
    let Axes { time, taste, budget, safety } = score.axes;
    let numbers = [score.total, time, taste, budget, safety, score.completeness].map(|number| format!("{number:.4}"));
    let [total, time, taste, budget, safety, completeness] = numbers;
    let partner = partner(receipt, score.number);
    [place.to_string(), score.id.clone(), partner, total, time, taste, budget, safety, completeness]
}

/// Who offered the option of a number.
fn partner(receipt: &Receipt, number: u32) -> String {
    let mut payloads = receipt.payloads.iter();
    let payload = payloads.find(|payload| payload.candidates.iter().any(|candidate| candidate.number == number));
    payload.map_or_else(|| "nobody".to_owned(), |payload| payload.partner.to_string())
}

fn show_replay(replayed: &RankingReplay, palette: Palette) -> String {
    let RankingReplay {
        receipt,
        intent,
        contract: ContractVersion { version, digest },
        same,
        expected,
        found,
        difference,
        under,
    } = replayed;
    let found = found.map_or_else(|| "refused".to_owned(), |found| found.to_string());
    let mut lines = vec![
        ("receipt", receipt.clone()),
        ("contract", format!("{intent} {version}")),
        ("component", digest.to_string()),
        ("expected", expected.to_string()),
        ("found", found),
    ];
    if let Some(under) = under {
        lines.insert(3, ("under", format!("{}, {}", under.contract.version, under.contract.digest)));
    }
    if let Some(difference) = difference {
        lines.push(("difference", show_difference(difference)));
    }
    let verdict =
        if *same { palette.paint(Tone::Good, "the same to the bit") } else { palette.paint(Tone::Bad, "not the same") };
    format!("{}\n\n{verdict}", pairs(&lines))
}

/// Where two outcomes part, in words.
fn show_difference(difference: &Difference) -> String {
    match difference {
        Difference::Request { code } => format!("the contract refuses the request now, with {code}"),
        Difference::Ranked { place, expected, found } => {
            let say = |score: &Option<ReceiptScore>| {
                score.as_ref().map_or_else(|| "nothing".to_owned(), |score| format!("{} at {}", score.id, score.total))
            };
            let at = place.saturating_add(1);
            format!("place {at} of the ranking: expected {}, found {}", say(expected), say(found))
        }
        Difference::Dropped { place, expected, found } => {
            let say = |dropped: &Option<ReceiptDrop>| {
                let text =
                    |ReceiptDrop { number, codes, .. }: &ReceiptDrop| format!("#{number} for {}", codes.join(" "));
                dropped.as_ref().map_or_else(|| "nothing".to_owned(), text)
            };
            let at = place.saturating_add(1);
            format!("place {at} of what was dropped: expected {}, found {}", say(expected), say(found))
        }
        Difference::Remainder => "in cards, findings, or the wording of reasons".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receipt() -> Receipt {
        let digest = "ab".repeat(32);
        let text = format!(
            r#"{{"id":"rank_1","at_ms":1763716800042,"request_id":"r-1","intent":"auto.fix","version":"1.2.3",
            "contract":"{digest}","arguments":{{"name":"Asha"}},"payloads":[
            {{"partner":"alpha","declared":{{"time":0.5,"taste":0.5,"budget":0.5,"safety":0.5}},
            "candidates":[{{"number":0,"json":{{"id":"a"}}}}]}},
            {{"partner":"beta","declared":{{"time":0.5,"taste":0.5,"budget":0.5,"safety":0.5}},
            "candidates":[{{"number":1,"json":{{"id":"b"}}}}]}}],
            "ranked":[{{"number":1,"id":"b\u001b[2J","total":0.87654321,
            "axes":{{"time":1.0,"taste":0.5,"budget":0.25,"safety":0.0}},"completeness":1.0}}],
            "dropped":[{{"number":0,"strike":true,"codes":["UNCERTIFIED","TOO_FAR"]}}],"outcome":"{digest}"}}"#
        );
        serde_json::from_str(&text).expect("a receipt")
    }

    #[test]
    fn a_receipt_is_told_without_what_was_said() {
        let text = show_receipt(&receipt(), &["release".to_owned()]);
        assert!(text.contains("signed by  release"), "{text}");
        assert!(!text.contains("Asha") && !text.contains('\u{1b}'), "{text}");
        assert!(text.contains("at         2025-11-21T09:20:00.042Z"), "{text}");
        let line = |start: &str| {
            let line = text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}: {text}"));
            line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(
            line("1 "),
            ["1", "b\\u{1b}[2J", "beta", "0.8765", "1.0000", "0.5000", "0.2500", "0.0000", "1.0000"]
        );
        assert_eq!(line("#0"), ["#0", "alpha", "yes", "UNCERTIFIED", "TOO_FAR"]);
        assert!(!show_receipt(&Receipt { dropped: Vec::new(), ..receipt() }, &[]).contains("dropped"));

        assert!(!text.contains("past order"), "from before any was told");
        let past = r#"{"status":"completed","closed_at_ms":1763716800042,"attributes":{"kind":"b\u001b[2J"}}"#;
        let history = vec![serde_json::from_str(past).expect("a past order")];
        let text = show_receipt(&Receipt { history, ..receipt() }, &[]);
        assert!(text.contains("completed   2025-11-21T09:20:00.042Z  {\"kind\":\"b\\u001b[2J\"}"), "{text}");
    }

    #[test]
    fn a_replay_is_told_with_its_difference() {
        let digest = "cd".repeat(32);
        let read = |same: bool, found: &str, difference: &str| {
            let text = format!(
                r#"{{"receipt":"rank_1","intent":"auto.fix","contract":{{"version":"1.2.3","digest":"{digest}"}},
                "same":{same},"expected":"{digest}","found":{found},"difference":{difference}}}"#
            );
            show_replay(&serde_json::from_str(&text).expect("a replay"), Palette::PLAIN)
        };
        let quoted = format!("\"{digest}\"");
        assert!(read(true, &quoted, "null").ends_with("\n\nthe same to the bit"));
        let refused = read(false, "null", r#"{"in":"request","code":"TOO_LATE"}"#);
        assert!(refused.contains("refused") && refused.contains("TOO_LATE") && refused.ends_with("not the same"));
        let ranked = r#"{"in":"ranked","place":1,"expected":{"number":1,"id":"b","total":0.5,
            "axes":{"time":1.0,"taste":0.5,"budget":0.25,"safety":0.0},"completeness":1.0},"found":null}"#;
        let ranked = read(false, &quoted, ranked);
        assert!(ranked.contains("place 2 of the ranking: expected b at 0.5, found nothing"), "{ranked}");
        let dropped =
            r#"{"in":"dropped","place":0,"expected":null,"found":{"number":4,"strike":false,"codes":["X","Y"]}}"#;
        let dropped = read(false, &quoted, dropped);
        assert!(dropped.contains("place 1 of what was dropped: expected nothing, found #4 for X Y"), "{dropped}");
        assert!(read(false, &quoted, r#"{"in":"remainder"}"#).contains("cards"));
    }

    #[test]
    fn what_goes_into_a_path_is_an_identifier() {
        assert!(parse_receipt("rank_0f1e2d3c4b5a69788796a5b4").is_ok());
        for bad in ["", "rcpt_1", "rank_1/../../x", "rank_1?x", "rank_%2e", &format!("rank_{}", "0".repeat(64))] {
            assert!(parse_receipt(bad).is_err(), "{bad}");
        }
        assert!(parse_request("any text & more").is_ok());
        assert!(parse_request("").is_err() && parse_request(&"x".repeat(201)).is_err());
    }
}
