//! Bodies of completion reports (spec 1, Completion report).
//!
//! A report that is read holds what a plain reading finds in it. Written in another way, it is the same report; with another
//! value, another one.
//!
//! Input: the body.

use std::fmt::Write as _;

use intent_gateway_domain::limits::PAYLOAD_MAX_DEPTH;
use intent_gateway_domain::money::AMOUNT_MAX;
use intent_gateway_ledger::completion::Report;

use crate::json::{Outline, Tree};

/// Reads one body.
///
/// # Panics
/// Where the report is not what the body says.
pub(crate) fn run(data: &[u8]) {
    let report = match Report::parse(data) {
        Ok(report) => report,
        Err(refusal) => {
            assert!(!refusal.violations.is_empty(), "refused without a reason");
            return;
        }
    };
    let text = std::str::from_utf8(data).expect("a report is text");
    assert!(Outline::of(text).depth <= PAYLOAD_MAX_DEPTH, "a report beyond the depth");
    // A number beyond a float is held by its digits, where no strict reader follows.
    let Some(tree) = Tree::read(text) else { return };
    assert!(tree.has_no_repeats(), "two members of a name");
    let is_text = |name: &str, read: &str| matches!(tree.get(name), Some(Tree::Text(text)) if text == read);
    assert!(is_text("intent", report.intent.as_str()));
    assert!(is_text("external_id", &report.external_id) && !report.external_id.trim().is_empty());
    assert!(is_text("request_id", &report.request_id) && !report.request_id.trim().is_empty());
    assert!(is_text("status", &report.status) && !report.status.contains(char::is_control));
    let amounts = &report.amounts;
    for (name, paise) in [
        ("amount_inr", amounts.amount),
        ("gst_inr", amounts.gst),
        ("tips_inr", amounts.tips),
        ("pass_through_inr", amounts.pass_through),
    ] {
        assert!(paise.get() >= 0 && paise <= AMOUNT_MAX, "{name} beyond its bounds");
        let Some(Tree::Number(rupees)) = tree.get(name) else { panic!("{name} is no number") };
        #[expect(clippy::cast_precision_loss, reason = "to within a paisa")]
        let difference = (rupees * 100.0 - paise.get() as f64).abs();
        assert!(difference < 1.0, "{name}: {rupees} rupees were read as {paise:?}");
    }
    rewrite(text, &tree, &report);
}

/// The members the other way round, with blanks, and every text in escapes; then with one member more.
fn rewrite(text: &str, tree: &Tree, report: &Report) {
    // Numbers are compared by their digits, which a float does not keep.
    if !tree.all(&mut |value| !matches!(value, Tree::Number(number) if number.fract() != 0.0 || number.abs() > 1e15)) {
        return;
    }
    let mut rewritten = String::new();
    write(&mut rewritten, tree);
    let again = Report::parse(rewritten.as_bytes()).unwrap_or_else(|refusal| panic!("{rewritten}: {refusal:?}"));
    let is_exact = !text.contains(['e', 'E', '.', '-']);
    assert!(!is_exact || again == *report, "the same, written otherwise: {rewritten}");
    let more = rewritten.replacen('{', "{\"one more member\": 0,", 1);
    let more = Report::parse(more.as_bytes());
    assert!(
        tree.get("one more member").is_some() || more.is_ok_and(|more| more.content != report.content),
        "another report"
    );
}

fn write(out: &mut String, tree: &Tree) {
    match tree {
        Tree::Null => out.push_str("null"),
        Tree::Bool(value) => drop(write!(out, "{value}")),
        Tree::Number(number) => drop(write!(out, "{number}")),
        Tree::Text(text) => write_text(out, text),
        Tree::Array(items) => {
            out.push_str("[ ");
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { " ,\n" } else { "" });
                write(out, item);
            }
            out.push(']');
        }
        Tree::Object(members) => {
            out.push('{');
            for (index, (name, value)) in members.iter().rev().enumerate() {
                out.push_str(if index > 0 { " ,\t" } else { "" });
                write_text(out, name);
                out.push_str(" : ");
                write(out, value);
            }
            out.push_str("\r\n}");
        }
    }
}

fn write_text(out: &mut String, text: &str) {
    out.push('"');
    for unit in text.encode_utf16() {
        let _ = write!(out, "\\u{unit:04X}");
    }
    out.push('"');
}
