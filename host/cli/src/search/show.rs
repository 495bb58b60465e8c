//! The answer to a search as a text for people.

use intent_gateway_domain::contract::{Axes, Violation};

use super::answer::{Answer, Choice, Drop, Participation, Partner};
use super::card::Card;
use crate::terminal::{Palette, Tone, count, fill, harmless, table, width};

/// Blanks before what belongs to an option.
const INDENT: &str = "    ";

/// The answer, with the first `top` of its options.
pub(super) fn answer(answer: &Answer, top: usize, palette: Palette) -> String {
    let Answer { options, dropped, partners, left_out_more, notes, .. } = answer;
    let mut sections = vec![head(answer, palette)];
    if !options.is_empty() {
        let shown = &options[..top.min(options.len())];
        let mut text = choices(shown, partners, palette);
        if shown.len() < options.len() {
            let (left, all) = (options.len() - shown.len(), options.len());
            text.push_str(&format!("\n\nand {left} more; --top {all} shows them"));
        }
        sections.push(text);
    }
    if !dropped.is_empty() {
        sections.push(drops(dropped));
    }
    sections.push(participants(partners, *left_out_more, palette));
    if !notes.is_empty() {
        let notes: Vec<String> = notes.iter().map(|note| format!("note: {}", violation(note))).collect();
        sections.push(notes.join("\n"));
    }
    sections.join("\n\n")
}

fn head(answer: &Answer, palette: Palette) -> String {
    let Answer { request_id, intent, contract, receipt, code, options, dropped, partners, .. } = answer;
    let outcome = match (options.len(), code) {
        (0, Some(code)) => palette.paint(Tone::Doubtful, &format!("no option [{}]", harmless(code))),
        (0, None) => palette.paint(Tone::Doubtful, "no option"),
        (found, _) => palette.paint(Tone::Good, &count(found, "option")),
    };
    let answered = partners.iter().filter(|partner| partner.status == Participation::Answered).count();
    let mut line = format!("{} {}: {outcome} of {}", harmless(intent), contract.version, count(answered, "partner"));
    if !dropped.is_empty() {
        line.push_str(&format!(", {} dropped", dropped.len()));
    }
    let receipt = receipt.as_ref().map(|receipt| format!(", receipt {}", harmless(receipt))).unwrap_or_default();
    format!("{line}\nrequest {}{receipt}", harmless(request_id))
}

/// A paragraph for each option. Titles, prices and scores stand in columns.
fn choices(options: &[Choice], partners: &[Partner], palette: Palette) -> String {
    let cards: Vec<Card> = options.iter().map(|option| Card::of(&option.card)).collect();
    let widest = |of: fn(&Card) -> &str| cards.iter().map(|card| width(of(card))).max().unwrap_or(0);
    let (title_width, price_width) = (widest(|card| &card.title), widest(|card| &card.price));
    let paragraph = |((rank, option), card): ((usize, &Choice), &Card)| {
        let Choice { reference, bookable, partner, total, axes, completeness, .. } = option;
        let Axes { time, taste, budget, safety } = axes;
        let title = palette.strong(&fill(&card.title, title_width));
        let price = format!("{}{}", " ".repeat(price_width - width(&card.price)), card.price);
        let name = partners.iter().find(|known| known.partner == *partner).map_or("", |known| &known.name);
        let mut lines =
            vec![format!("{rank:>2}. {title}  {price}  score {}", palette.paint(Tone::Good, &format!("{total:.3}")))];
        if !card.facts.is_empty() {
            lines.push(format!("{INDENT}{}", card.facts));
        }
        lines.push(format!(
            "{INDENT}time {time:.2}  taste {taste:.2}  budget {budget:.2}  safety {safety:.2}  complete {completeness:.2}"
        ));
        let booking = match bookable {
            true => String::new(),
            false => format!(", {}", palette.paint(Tone::Doubtful, "may be gone")),
        };
        lines.push(format!("{INDENT}{} ({}){booking}", harmless(name), harmless(partner)));
        lines.push(format!("{INDENT}{}", palette.faint(&format!("reference {}", harmless(reference)))));
        lines.join("\n")
    };
    (1..).zip(options).zip(&cards).map(paragraph).collect::<Vec<_>>().join("\n\n")
}

/// One row for each reason.
fn drops(dropped: &[Drop]) -> String {
    let rows: Vec<[String; 5]> = dropped
        .iter()
        .flat_map(|dropped| {
            let Drop { partner, position, option_id, strike, violations } = dropped;
            let option = option_id.clone().unwrap_or_else(|| format!("the option at {position}"));
            let strike = if *strike { "strike" } else { "" };
            violations.iter().map(move |Violation { pointer, code, message }| {
                [partner.clone(), option.clone(), code.clone(), strike.to_owned(), at(message, pointer)]
            })
        })
        .collect();
    table(["dropped", "option", "rule", "", "why"], &rows)
}

fn at(message: &str, pointer: &str) -> String {
    if pointer.is_empty() { message.to_owned() } else { format!("{message} (at {pointer})") }
}

fn violation(Violation { pointer, code, message }: &Violation) -> String {
    harmless(&format!("{} [{code}]", at(message, pointer)))
}

/// What every partner did: those that answered, then those that failed or were left out, and why.
fn participants(partners: &[Partner], left_out_more: usize, palette: Palette) -> String {
    if partners.is_empty() {
        return "no partner lists this intent".to_owned();
    }
    let mut ordered: Vec<&Partner> = partners.iter().collect();
    ordered.sort_by_key(|partner| match partner.status {
        Participation::Answered => 0,
        Participation::Failed => 1,
        Participation::LeftOut => 2,
    });
    let rows: Vec<[String; 5]> = ordered.iter().map(|partner| row(partner)).collect();
    let mut text = table(["partner", "name", "took part", "options", "ms, or why not"], &rows);
    if left_out_more > 0 {
        text.push_str(&format!("\nand {left_out_more} more were left out"));
    }
    for Partner { partner, notes, link_url, link_code, .. } in ordered {
        for note in notes {
            text.push_str(&format!("\n{}: {}", harmless(partner), violation(note)));
        }
        if let Some(url) = link_url {
            let sign_in = palette.paint(Tone::Doubtful, "wants the user to sign in");
            text.push_str(&format!("\n{} {sign_in}: {}", harmless(partner), harmless(url)));
            if let Some(code) = link_code {
                text.push_str(&format!(" (the page shows the code {})", harmless(code)));
            }
        }
    }
    text
}

fn row(partner: &Partner) -> [String; 5] {
    let Partner { partner, name, status, options, code, message, elapsed_ms, .. } = partner;
    let reason = || match (message, code) {
        (Some(message), Some(code)) => format!("{message} [{code}]"),
        (Some(reason), None) | (None, Some(reason)) => reason.clone(),
        (None, None) => "no reason given".to_owned(),
    };
    let elapsed = elapsed_ms.map(|elapsed| elapsed.to_string()).unwrap_or_default();
    let (status, options, last) = match status {
        Participation::Answered => ("answered", options.to_string(), elapsed),
        Participation::Failed => ("failed", "-".to_owned(), format!("{elapsed} {}", reason()).trim_start().to_owned()),
        Participation::LeftOut => ("left out", "-".to_owned(), reason()),
    };
    [partner.clone(), name.clone(), status.to_owned(), options, last]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(top: usize) -> String {
        let axes = json!({"time": 0.9, "taste": 0.5, "budget": 0.25, "safety": 1.0});
        let option = |title: &str, price: i64, bookable: bool| {
            json!({"reference": format!("opt_{price}"), "bookable": bookable, "partner": "coolcar",
                "card": {"header": title, "pill": "45-day warranty", "price": {"amount_inr": price, "currency": "INR"}},
                "option": {}, "total": 0.8125, "axes": axes, "completeness": 1.0})
        };
        let partner = |id: &str, status: &str, code: Option<&str>, message: Option<&str>| {
            json!({"partner": id, "name": id.to_uppercase(), "status": status, "options": 2, "notes": [], "code": code,
                "message": message, "elapsed_ms": (status != "left_out").then_some(41), "link_url": null})
        };
        let answer = json!({
            "request_id": "r-1", "intent": "auto.fix", "contract": {"version": "1.2.0", "digest": "ab".repeat(32)},
            "receipt": "rank_1", "widget": {"widget_type": "generic_listings", "preferred": null}, "code": null,
            "options": [option("वातानुकूलन", 900, true), option("Cool Breeze Auto AC", 123_245, false)],
            "dropped": [{"partner": "shiny", "position": 3, "option_id": null, "strike": true, "violations": [
                {"pointer": "/sponsored", "code": "FORBIDDEN_FIELD", "message": "is forbidden"}]}],
            "partners": [partner("far", "left_out", Some("OUTSIDE_SERVICE_AREA"), Some("it does not serve the place")),
                partner("broken", "failed", Some("PARTNER_TIMEOUT"), Some("no answer within 30 s")),
                partner("coolcar", "answered", None, None)],
            "left_out_more": 7,
            "notes": [{"pointer": "/band", "code": "UNKNOWN_BAND", "message": "counts as neutral"}],
        });
        super::answer(&serde_json::from_value(answer).expect("an answer"), top, Palette::PLAIN)
    }

    #[test]
    fn options_are_drawn_with_all_that_a_choice_needs() {
        let text = shown(5);
        assert!(
            text.starts_with("auto.fix 1.2.0: 2 options of 1 partner, 1 dropped\nrequest r-1, receipt rank_1\n\n"),
            "{text}"
        );
        let lines: Vec<&str> = text.lines().collect();
        let first = lines.iter().position(|line| line.starts_with(" 1. ")).expect("a first option");
        let second = lines.iter().position(|line| line.starts_with(" 2. ")).expect("a second one");
        assert!(lines[first].ends_with("     ₹900  score 0.812"), "{text}");
        assert!(lines[second].ends_with("Cool Breeze Auto AC  ₹1,23,245  score 0.812"), "{text}");
        assert_eq!(width(lines[first]), width(lines[second]), "{text}");
        assert_eq!(
            lines[first + 1..first + 5],
            [
                "    45-day warranty",
                "    time 0.90  taste 0.50  budget 0.25  safety 1.00  complete 1.00",
                "    COOLCAR (coolcar)",
                "    reference opt_900",
            ]
        );
        assert_eq!(lines[second + 3], "    COOLCAR (coolcar), may be gone");
        assert!(!text.contains("--top"), "{text}");
        let text = shown(1);
        assert!(text.contains("\n\nand 1 more; --top 2 shows them\n\n") && !text.contains("Cool Breeze"), "{text}");
    }

    #[test]
    fn what_is_not_there_is_told_with_its_reason() {
        let text = shown(5);
        let words: Vec<String> =
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        for line in [
            "shiny the option at 3 FORBIDDEN_FIELD strike is forbidden (at /sponsored)",
            "coolcar COOLCAR answered 2 41",
            "broken BROKEN failed - 41 no answer within 30 s [PARTNER_TIMEOUT]",
            "far FAR left out - it does not serve the place [OUTSIDE_SERVICE_AREA]",
            "and 7 more were left out",
            "note: counts as neutral (at /band) [UNKNOWN_BAND]",
        ] {
            assert!(words.iter().any(|found| found == line), "{line}: {text}");
        }
        let place = |start: &str| words.iter().position(|line| line.starts_with(start)).expect("there");
        assert!(place("coolcar COOLCAR") < place("broken") && place("broken") < place("far"), "{text}");
    }
}
