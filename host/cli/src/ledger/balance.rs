//! What each account holds.

use anyhow::{Context as _, anyhow};
use intent_gateway_api::ledger::TrialBalanceBody;
use intent_gateway_ledger::Books;

use super::arguments::BalanceArgs;
use crate::client::Gateway;
use crate::outcome::{CommandError, Verdict, fail, print_json};
use crate::print;
use crate::terminal::{Palette, Tone, table};

/// Where a gateway has it.
const PATH: &str = "/api/v1/admin/ledger/trial-balance";

/// Reads the balances of a store.
pub(super) async fn read(books: &dyn Books, arguments: &BalanceArgs) -> anyhow::Result<()> {
    let trial = books.trial_balance().await.context("the ledger cannot be read")?;
    match tell(&TrialBalanceBody::from(&trial), arguments.json).map_err(CommandError::into_error)? {
        Verdict::Clean => Ok(()),
        Verdict::Found => Err(anyhow!("the accounts do not balance")),
    }
}

/// Asks a gateway for its own.
pub(super) fn ask(gateway: &Gateway, arguments: &BalanceArgs) -> Result<Verdict, CommandError> {
    tell(&gateway.get(PATH).map_err(fail)?, arguments.json)
}

fn tell(balance: &TrialBalanceBody, json: bool) -> Result<Verdict, CommandError> {
    if json {
        print_json(balance)?;
    } else {
        print(&show_balance(balance, Palette::of_stdout()));
    }
    Ok(Verdict::of(balance.balanced))
}

fn show_balance(balance: &TrialBalanceBody, palette: Palette) -> String {
    let TrialBalanceBody { balanced, partner_receivable_inr, commission_revenue_inr, partners } = balance;
    let mut rows: Vec<[String; 3]> = partners
        .iter()
        .map(|of| [of.partner.clone(), of.partner_receivable_inr.to_string(), of.commission_revenue_inr.to_string()])
        .collect();
    rows.push(["all".to_owned(), partner_receivable_inr.to_string(), commission_revenue_inr.to_string()]);
    let verdict = match balanced {
        true => palette.paint(Tone::Good, "balanced"),
        false => palette.paint(Tone::Bad, "not balanced"),
    };
    format!("{}\nverdict  {verdict}", table(["partner", "owes, INR", "revenue, INR"], &rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_shown_as_they_are_written() {
        let text = r#"{"balanced":true,"partner_receivable_inr":100000000000000.10,"commission_revenue_inr":-200000000000000000000.00,
            "partners":[{"partner":"ptr_1","partner_receivable_inr":1.00,"commission_revenue_inr":-1.00}]}"#;
        let shown = show_balance(&serde_json::from_str(text).expect("reads"), Palette::PLAIN);
        assert!(shown.contains("\nptr_1    1.00 ") && shown.contains(" -1.00\n"), "{shown}");
        assert!(shown.contains("100000000000000.10") && shown.contains("-200000000000000000000.00"), "{shown}");
        assert!(shown.ends_with("verdict  balanced"), "{shown}");
    }
}
