//! Whether the ledger is sound.

use anyhow::{Context as _, anyhow};
use intent_gateway_api::ledger::VerifiedBody;
use intent_gateway_config::Config;
use intent_gateway_domain::anchor::ChainName;
use intent_gateway_ledger::Books;
use intent_gateway_ledger::bookkeeping;

use super::arguments::VerifyArgs;
use crate::audit::{NOT_CHECKED, show_anchors, show_links};
use crate::client::Gateway;
use crate::outcome::{CommandError, Verdict, fail, print_json};
use crate::print;
use crate::terminal::{Palette, Tone, count, pairs, table};

/// Where a gateway verifies.
const PATH: &str = "/api/v1/admin/ledger/verify";

/// Verifies what a store holds.
pub(super) async fn read(books: &dyn Books, config: &Config, arguments: &VerifyArgs) -> anyhow::Result<()> {
    let anchors = arguments.anchors.read(config, ChainName::Ledger)?;
    let soundness = bookkeeping::verify(books, &anchors, arguments.expect_head).await;
    let soundness = soundness.context("the ledger cannot be read")?;
    match tell(&VerifiedBody::from(&soundness), arguments.json).map_err(CommandError::into_error)? {
        Verdict::Clean => Ok(()),
        Verdict::Found if soundness.found.faults.is_empty() && soundness.missing.is_none() => {
            Err(anyhow!("the ledger was not checked in whole"))
        }
        Verdict::Found => Err(anyhow!("the ledger is not sound")),
    }
}

/// Has a gateway verify its own.
pub(super) fn ask(gateway: &Gateway, arguments: &VerifyArgs) -> Result<Verdict, CommandError> {
    arguments.anchors.refuse()?;
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
    let VerifiedBody { sound, entries, head, links, balanced, missing_head, faults, faults_unlisted } = verified;
    let mut rows = vec![
        ("entries", entries.to_string()),
        ("head", head.clone()),
        ("links", show_links(links)),
        ("anchors", show_anchors(links)),
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
        false if found == 0 && *balanced => palette.paint(Tone::Bad, NOT_CHECKED),
        false => palette.paint(Tone::Bad, &format!("not sound: {}", count(found, "fault"))),
    };
    text.push_str(&format!("\nverdict  {verdict}"));
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn links(unchecked: u64, anchors: u64) -> serde_json::Value {
        json!({"without_key": 0, "under_key": 2, "unchecked": unchecked, "anchors": anchors})
    }

    #[test]
    fn what_is_wrong_is_told_line_by_line() {
        let sound = json!({
            "sound": true, "entries": 2, "head": "2:ab", "links": links(0, 1), "balanced": true, "missing_head": null, "faults": [],
            "faults_unlisted": 0,
        });
        let text = show_verified(&serde_json::from_value(sound).expect("reads"), Palette::PLAIN);
        assert_eq!(
            text,
            "entries  2\nhead     2:ab\nlinks    2 under a key\nanchors  1 compared\nbalance  zero\nverdict  sound"
        );
        let unchecked = json!({
            "sound": false, "entries": 3, "head": "3:ab", "links": links(1, 0), "balanced": true, "missing_head": null,
            "faults": [], "faults_unlisted": 0,
        });
        let text = show_verified(&serde_json::from_value(unchecked).expect("reads"), Palette::PLAIN);
        assert!(
            text.contains("links    2 under a key, 1 NOT CHECKED: its key is not at hand\nanchors  none\n"),
            "{text}"
        );
        assert!(text.ends_with(&format!("verdict  {NOT_CHECKED}")), "{text}");
        let broken = json!({
            "sound": false, "entries": 2, "head": "2:ab", "links": links(0, 0), "balanced": false, "missing_head": "3:cd",
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
