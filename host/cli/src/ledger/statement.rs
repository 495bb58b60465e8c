//! What a partner owes for a month.

use std::io::{self, Write as _};

use anyhow::{Context as _, anyhow};
use intent_gateway_api::ledger::{LineBody, MonthsBody, StatementBody, UnreportedBody};
use intent_gateway_api::name;
use intent_gateway_domain::store::load;
use intent_gateway_http::statements::Format;
use intent_gateway_ledger::Books;
use intent_gateway_ledger::bookkeeping::{self, Outline};
use intent_gateway_onboarding::records::Account;
use intent_gateway_store::SqlStore;

use super::arguments::{FormatArg, StatementArgs};
use crate::access::{self, GatewayArgs};
use crate::outcome::{CommandError, Verdict, fail, print_json, usage};
use crate::print;
use crate::terminal::{pairs, table};

/// Lines shown on a terminal.
const LINES_SHOWN_MAX: usize = 1_000;

/// Draws a statement up out of a store.
pub(super) async fn read(store: &SqlStore, arguments: &StatementArgs) -> anyhow::Result<()> {
    let StatementArgs { partner, month, format, .. } = arguments;
    let partner = partner.as_ref().context("a store has the statements of all partners; name one with --partner")?;
    let Some(month) = month else {
        let months = store.months_of(partner).await.context("the ledger cannot be read")?;
        let months = months.iter().map(ToString::to_string).collect();
        return tell_months(&MonthsBody { partner: partner.to_string(), months }, *format)
            .map_err(CommandError::into_error);
    };
    let account = load::<Account>(store, partner.as_str()).await.context("the store cannot be read")?;
    let drawn_up = bookkeeping::outline(store, partner, *month).await.context("the ledger cannot be read")?;
    let unreported = bookkeeping::unreported(store, partner, *month).await.context("the orders cannot be read")?;
    let business_name = account.map(|account| account.value.business_name);
    let outline = Outline { business_name, unreported, ..drawn_up };
    match form(*format) {
        Some(form) => write(store, &outline, form).await,
        None => {
            let lines = bookkeeping::lines(store, &outline, 0).await.context("the ledger cannot be read")?;
            let lines = lines.into_iter().map(LineBody::from).collect();
            print(&show_statement(&StatementBody { lines, ..StatementBody::head(&outline) }));
            Ok(())
        }
    }
}

/// The months that have statements: a list, or JSON.
fn tell_months(months: &MonthsBody, format: FormatArg) -> Result<(), CommandError> {
    match format {
        FormatArg::Json => return print_json(months),
        FormatArg::Text if months.months.is_empty() => print(&format!("{} has no statement yet", months.partner)),
        FormatArg::Text => print(&months.months.join("\n")),
        FormatArg::Csv | FormatArg::Html => {
            return Err(usage(anyhow!("name the month of the statement, for example 2026-05")));
        }
    }
    Ok(())
}

/// Writes a statement page by page, however long it is.
async fn write(books: &dyn Books, outline: &Outline, format: Format) -> anyhow::Result<()> {
    emit(&format.head(outline)?)?;
    let mut after = 0;
    loop {
        let page = bookkeeping::lines(books, outline, after).await.context("the ledger cannot be read")?;
        let Some(last) = page.last().map(|line| line.number) else { break };
        emit(&format.lines(outline, page, after == 0)?)?;
        after = last;
    }
    emit(format.end())?;
    if format == Format::Json { emit("\n") } else { Ok(()) }
}

/// Asks a gateway: a partner for its own statements, the platform team for anybody's.
pub(super) fn ask(gateway: &GatewayArgs, arguments: &StatementArgs) -> Result<Verdict, CommandError> {
    let StatementArgs { partner, month, format, .. } = arguments;
    let (gateway, token) = gateway.open()?;
    let route = match (access::account_of(&token), partner) {
        (Some(own), named) => format!("/api/v1/business/tier1/accounts/{}/statements", named.as_ref().unwrap_or(&own)),
        (None, Some(partner)) => format!("/api/v1/admin/partners/{partner}/statements"),
        (None, None) => return Err(usage(anyhow!("the token is no partner's; name the partner with --partner"))),
    };
    let Some(month) = month else {
        let months: MonthsBody = gateway.get(&route).map_err(fail)?;
        return tell_months(&months, *format).map(|()| Verdict::Clean);
    };
    let path = format!("{route}/{month}?format=");
    match form(*format) {
        Some(form) => {
            let text = gateway.get_text(&format!("{path}{}", form.name())).map_err(fail)?;
            emit(&text).map_err(fail)?;
        }
        None => print(&show_statement(&gateway.get(&format!("{path}json")).map_err(fail)?)),
    }
    Ok(Verdict::Clean)
}

/// The form as it is sent; none for the table.
fn form(format: FormatArg) -> Option<Format> {
    match format {
        FormatArg::Text => None,
        FormatArg::Json => Some(Format::Json),
        FormatArg::Csv => Some(Format::Csv),
        FormatArg::Html => Some(Format::Html),
    }
}

/// Writes to standard output byte for byte. Who has read enough, as `head` does, may leave.
fn emit(text: &str) -> anyhow::Result<()> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        written => written.map_err(|error| anyhow!(error).context("the statement could not be written")),
    }
}

fn show_statement(statement: &StatementBody) -> String {
    let StatementBody { partner, business_name, month, totals, unreported, lines, rule: _ } = statement;
    let mut head: Vec<(&str, String)> = business_name.iter().map(|name| ("business", name.clone())).collect();
    head.extend([
        ("partner", partner.clone()),
        ("month", month.clone()),
        ("charges", totals.charges.to_string()),
        ("no commission", totals.memoranda.to_string()),
        ("taken back", totals.reversals.to_string()),
        ("charged, INR", totals.charged_amount_inr.to_string()),
        ("commission, INR", totals.commission_inr.to_string()),
    ]);
    let mut text = pairs(&head);
    if !unreported.is_empty() {
        let rows: Vec<[String; 4]> = unreported.iter().map(unreported_row).collect();
        let table = table(["due", "intent", "order", "commission at most"], &rows);
        text.push_str(&format!("\n\nnot reported, and in no total:\n{table}"));
    }
    if lines.is_empty() {
        return text;
    }
    let rows: Vec<[String; 8]> = lines.iter().take(LINES_SHOWN_MAX).map(row).collect();
    let names = ["entry", "closed", "intent", "order", "status", "kind", "amount", "commission"];
    text.push_str(&format!("\n\n{}", table(names, &rows)));
    let in_all = totals.charges + totals.memoranda + totals.reversals;
    let left = in_all.saturating_sub(rows.len() as u64);
    if left > 0 {
        text.push_str(&format!("\nand {left} more; --format csv writes all of them"));
    }
    text
}

fn unreported_row(order: &UnreportedBody) -> [String; 4] {
    [
        order.due_at.clone(),
        order.intent.clone(),
        order.external_id.clone().unwrap_or_else(|| order.order.clone()),
        order.at_stake_inr.map_or_else(|| "-".to_owned(), |at_stake| at_stake.to_string()),
    ]
}

fn row(line: &LineBody) -> [String; 8] {
    let kind = name(&line.kind);
    let kind = line.reverses.map_or_else(|| kind.clone(), |of| format!("{kind} of {of}"));
    [
        line.number.to_string(),
        line.closed_at.clone(),
        line.intent.clone(),
        line.external_id.clone(),
        line.status.clone(),
        kind,
        line.amount_inr.to_string(),
        line.commission_inr.to_string(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_shown_with_its_totals_and_says_what_it_leaves_out() {
        let text = r#"{"partner":"ptr_1","business_name":"Cool\u001b[2JCar","month":"2026-05","rule":"",
            "totals":{"charges":2000,"memoranda":0,"reversals":1,"charged_amount_inr":100000000000000.10,"commission_inr":1.00},
            "lines":[{"number":9,"posted_at":"","closed_at":"2026-05-20T00:00:00Z","intent":"auto.fix","external_id":"BK",
            "request_id":"r","status":"completed","kind":"reversal","reverses":7,"reason":"x","amount_inr":5.00,
            "rate_basis_points":1000,"commission_inr":-0.50}]}"#;
        let shown = show_statement(&serde_json::from_str(text).expect("reads"));
        for part in ["charged, INR     100000000000000.10\n", "reversal of 7", "-0.50\nand 2000 more; "] {
            assert!(shown.contains(part), "{part}\n{shown}");
        }
        assert!(!shown.contains('\u{1b}'));
    }
}
