//! Whether the ledger is sound.

use anyhow::{Context as _, anyhow};
use intent_gateway_api::ledger::VerifiedBody;
use intent_gateway_ledger::Books;
use intent_gateway_ledger::bookkeeping;

use super::arguments::VerifyArgs;
use crate::client::Gateway;
use crate::outcome::{CommandError, Verdict, fail, print_json};
use crate::print;
use crate::terminal::{Palette, Tone, count, pairs, table};

/// Where a gateway verifies.
const PATH: &str = "/api/v1/admin/ledger/verify";

/// Verifies what a store holds.
pub(super) async fn read(books: &dyn Books, arguments: &VerifyArgs) -> anyhow::Result<()> {
    let soundness = bookkeeping::verify(books, arguments.expect_head).await.context("the ledger cannot be read")?;
    match tell(&VerifiedBody::from(&soundness), arguments.json).map_err(CommandError::into_error)? {
        Verdict::Clean => Ok(()),
        Verdict::Found => Err(anyhow!("the ledger is not sound")),
    }
}

/// Has a gateway verify its own.
pub(super) fn ask(gateway: &Gateway, arguments: &VerifyArgs) -> Result<Verdict, CommandError> {
    let expected = arguments.expect_head.map(|mark| format!("?expect_head={mark}")).unwrap_or_default();
    let verified: VerifiedBody = gateway.get(&format!("{PATH}{expected}")).map_err(fail)?;
    tell(&verified, arguments.json)
}

fn tell(verified: &VerifiedBody, json: bool) -> Result<Verdict, CommandError> {
    if json {
        print_json(verified)?;
    } else {
        print(&show_verified(verified, Palette::of_stdout()));
    }
    Ok(Verdict::of(verified.sound))
}

fn show_verified(verified: &VerifiedBody, palette: Palette) -> String {
    let VerifiedBody { sound, entries, head, balanced, missing_head, faults, faults_unlisted } = verified;
    let mut rows = vec![
        ("entries", entries.to_string()),
        ("head", head.clone()),
        ("balance", if *balanced { "zero" } else { "not zero" }.to_owned()),
    ];
    rows.extend(missing_head.iter().map(|mark| ("missing", format!("{mark}: the end was cut off, or written anew"))));
    let mut text = pairs(&rows);
    if !faults.is_empty() {
        let rows: Vec<[String; 3]> =
            faults.iter().map(|fault| [fault.entry.to_string(), fault.code.clone(), fault.message.clone()]).collect();
        text.push_str(&format!("\n\n{}\n", table(["entry", "fault", "what"], &rows)));
    }
    if *faults_unlisted > 0 {
        text.push_str(&format!("and {faults_unlisted} more\n"));
    }
    let found = faults.len() + usize::from(missing_head.is_some());
    let verdict = match sound {
        true => palette.paint(Tone::Good, "sound"),
        false => palette.paint(Tone::Bad, &format!("not sound: {}", count(found, "fault"))),
    };
    text.push_str(&format!("\nverdict  {verdict}"));
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_wrong_is_told_line_by_line() {
        let sound = json!({
            "sound": true, "entries": 2, "head": "2:ab", "balanced": true, "missing_head": null, "faults": [],
            "faults_unlisted": 0,
        });
        let text = show_verified(&serde_json::from_value(sound).expect("reads"), Palette::PLAIN);
        assert_eq!(text, "entries  2\nhead     2:ab\nbalance  zero\nverdict  sound");
        let broken = json!({
            "sound": false, "entries": 2, "head": "2:ab", "balanced": false, "missing_head": "3:cd",
            "faults": [{"code": "ENTRY_CHANGED", "entry": 1, "message": "entry 1 was changed"}], "faults_unlisted": 7,
        });
        let text = show_verified(&serde_json::from_value(broken).expect("reads"), Palette::PLAIN);
        for part in [
            "balance  not zero",
            "missing  3:cd: the end",
            "\n1      ENTRY_CHANGED  entry 1 was changed\n",
            "and 7 more\n",
            "verdict  not sound: 2 faults",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }
}
