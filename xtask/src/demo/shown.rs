//! What the demo shows of the gateway's answers.

use std::time::Duration;

use serde_json::Value;

use crate::progress::show_time;
use crate::table::Side::{Left, Right};
use crate::table::Table;

/// Options that are shown of a ranking.
const SHOWN_MAX: usize = 10;
/// Digits of a digest that tell versions apart.
const DIGEST_CHARS: usize = 12;

pub(super) fn array<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or("-")
}

/// The texts of a list, one after the other.
pub(super) fn text_list(value: &Value) -> String {
    let texts = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    texts.collect::<Vec<_>>().join(", ")
}

/// An amount as people read it: `1,23,450` in groups as they are usual in India.
pub(super) fn show_inr(amount: &Value) -> String {
    let Some(amount) = amount.as_f64() else { return "-".to_owned() };
    let written = format!("{amount:.2}");
    let (whole, fraction) = written.split_once('.').unwrap_or((&written, ""));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        let left = digits.len() - index;
        if index > 0 && left >= 3 && left % 2 == 1 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let fraction = if fraction == "00" { String::new() } else { format!(".{fraction}") };
    format!("{sign}{grouped}{fraction}")
}

pub(super) fn show_partners(answer: &Value) {
    let mut table = Table::new([("partner", Left), ("", Left), ("options", Right), ("ms", Right), ("why", Left)]);
    for partner in array(answer, "partners") {
        let elapsed = partner["elapsed_ms"].as_u64().map_or_else(|| "-".to_owned(), |elapsed| elapsed.to_string());
        let why = partner["code"].as_str().map(|code| format!("{code}: {}", text(partner, "message")));
        table.row([
            text(partner, "partner").to_owned(),
            text(partner, "status").to_owned(),
            partner["options"].to_string(),
            elapsed,
            why.unwrap_or_default(),
        ]);
    }
    table.print();
}

pub(super) fn show_options(answer: &Value) {
    let digest = text(&answer["contract"], "digest").get(..DIGEST_CHARS).unwrap_or_default();
    println!("\n   ranked by contract {} ({digest}...)\n", text(&answer["contract"], "version"));
    let mut table = Table::new([
        ("#", Right),
        ("provider", Left),
        ("INR", Right),
        ("total", Right),
        ("time", Right),
        ("taste", Right),
        ("budget", Right),
        ("safety", Right),
        ("badge", Left),
    ]);
    let options = array(answer, "options");
    for (number, option) in (1..).zip(options.iter().take(SHOWN_MAX)) {
        let (card, axes) = (&option["card"], &option["axes"]);
        let axis = |name: &str| format!("{:.2}", axes[name].as_f64().unwrap_or(f64::NAN));
        table.row([
            number.to_string(),
            text(card, "header").to_owned(),
            show_inr(&card["price"]["amount_inr"]),
            format!("{:.3}", option["total"].as_f64().unwrap_or(f64::NAN)),
            axis("time"),
            axis("taste"),
            axis("budget"),
            axis("safety"),
            text(card, "badge").to_owned(),
        ]);
    }
    table.print();
    if options.len() > SHOWN_MAX {
        println!("   ... and {} more", options.len() - SHOWN_MAX);
    }
}

/// The first options of an intent, whatever its card holds.
pub(super) fn show_best(answer: &Value, count: usize) {
    let mut table = Table::new([("option", Left), ("total", Right)]);
    for option in array(answer, "options").iter().take(count) {
        let card = &option["card"];
        let shown = card["header"].as_str().unwrap_or_else(|| text(card, "class_name"));
        table.row([shown.to_owned(), format!("{:.3}", option["total"].as_f64().unwrap_or(f64::NAN))]);
    }
    table.print();
}

pub(super) fn show_dropped(answer: &Value) {
    let mut table = Table::new([
        ("partner", Left),
        ("option", Left),
        ("rule", Left),
        ("at", Left),
        ("strike", Left),
        ("why", Left),
    ]);
    for dropped in array(answer, "dropped") {
        let id = dropped["option_id"].as_str().map_or_else(|| format!("#{}", dropped["position"]), str::to_owned);
        for violation in array(dropped, "violations") {
            table.row([
                text(dropped, "partner").to_owned(),
                id.clone(),
                text(violation, "code").to_owned(),
                text(violation, "pointer").to_owned(),
                if dropped["strike"] == true { "yes" } else { "" }.to_owned(),
                text(violation, "message").to_owned(),
            ]);
        }
    }
    if !table.is_empty() {
        println!("\n   taken out, and why:\n");
        table.print();
    }
}

pub(super) fn show_movement(before: &Value, after: &Value) {
    let ids = |answer: &Value| -> Vec<String> {
        array(answer, "options").iter().map(|option| text(&option["option"], "slot_id").to_owned()).collect()
    };
    let (before, after) = (ids(before), ids(after));
    let moved = before.iter().zip(&after).filter(|(before, after)| before != after).count();
    println!("\n   {moved} of {} places are taken by another option than before", after.len());
}

pub(super) fn show_timings(timings: &[(&str, Duration)]) {
    let mut table = Table::new([("part", Left), ("time", Right)]);
    for (part, time) in timings {
        table.row([(*part).to_owned(), show_time(*time)]);
    }
    table.print();
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn amounts_are_grouped_as_in_india() {
        for (amount, shown) in [
            (json!(0), "0"),
            (json!(450), "450"),
            (json!(1450.5), "1,450.50"),
            (json!(99999), "99,999"),
            (json!(123450), "1,23,450"),
            (json!(-12345678), "-1,23,45,678"),
            (json!(null), "-"),
        ] {
            assert_eq!(show_inr(&amount), shown);
        }
    }
}
