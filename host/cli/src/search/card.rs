//! What a card says, whatever widget it is for: a title, a price, and the rest in its own order.

use serde_json::Value;

use super::answer::Members;
use crate::terminal::{group, harmless};

/// Names under which widgets have the title, the first that is there counts.
const TITLES: [&str; 4] = ["header", "title", "class_name", "name"];
/// Where every widget has the price.
const PRICE: &str = "price";
/// What the names of identifiers end with: they are for the next call, and no reading.
const IDENTIFIER: &str = "_id";
/// Names of members whose value says what it is: texts to be shown as they stand.
const BARE: [&str; 12] = [
    "badge",
    "badges",
    "dual_pill",
    "instant_badge",
    "instructor",
    "notice",
    "pill",
    "starts",
    "studio",
    "subhead",
    "subline",
    "subtitle",
];
/// Between two facts of a card.
const BETWEEN: &str = " · ";

/// A card to be read.
#[derive(Debug, PartialEq)]
pub(super) struct Card {
    pub(super) title: String,
    pub(super) price: String,
    /// Everything else that a person reads.
    pub(super) facts: String,
}

impl Card {
    pub(super) fn of(card: &Members) -> Self {
        let title = TITLES.into_iter().find(|name| card.get(name).is_some_and(Value::is_string));
        let titled = title.and_then(|name| card.get(name)).and_then(Value::as_str);
        let rest = card.0.iter().filter(|(name, _)| Some(name.as_str()) != title && *name != PRICE);
        let facts: Vec<String> = rest.filter_map(|(name, value)| fact(name, value)).collect();
        Self {
            title: harmless(titled.unwrap_or("(no title)")),
            price: card.get(PRICE).map_or_else(|| "no price".to_owned(), price),
            facts: harmless(&facts.join(BETWEEN)),
        }
    }
}

/// A price in rupees, or as it stands.
fn price(price: &Value) -> String {
    match price.get("amount_inr").and_then(Value::as_i64) {
        Some(amount) => format!("₹{}", group(amount)),
        None => harmless(&text(price).unwrap_or_else(|| price.to_string())),
    }
}

/// A member in words; none where there is nothing to read.
fn fact(name: &str, value: &Value) -> Option<String> {
    let text = text(value).filter(|text| !text.is_empty())?;
    if name.ends_with(IDENTIFIER) || text.starts_with("https://") || text.starts_with("http://") {
        return None;
    }
    // `subline_1`, `subline_2`: one name with numbers.
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit()).trim_end_matches('_');
    match BARE.contains(&stem) {
        true => Some(text),
        false => Some(format!("{} {text}", name.replace('_', " "))),
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null | Value::Object(_) => None,
        Value::Bool(value) => Some(if *value { "yes" } else { "no" }.to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(shorten_times(text)),
        Value::Array(values) => {
            let texts: Vec<String> = values.iter().filter_map(text).collect();
            Some(texts.join(BETWEEN))
        }
    }
}

/// A text whose ISO times are shortened to day and minute. Their offset is left out: a card's times are the place's own.
fn shorten_times(text: &str) -> String {
    let shorten = |word: &str| match is_time(word) {
        true => format!("{} {}", &word[..10], &word[11..16]),
        false => word.to_owned(),
    };
    text.split(' ').map(shorten).collect::<Vec<_>>().join(" ")
}

/// Whether a word is a time such as `2026-05-04T09:00:00+05:30`.
fn is_time(word: &str) -> bool {
    const FORM: &[u8] = b"dddd-dd-ddTdd:dd:dd";
    let fits = |(form, byte): (&u8, u8)| if *form == b'd' { byte.is_ascii_digit() } else { *form == byte };
    word.is_ascii() && word.len() > FORM.len() && FORM.iter().zip(word.bytes()).all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(text: &str) -> Card {
        Card::of(&serde_json::from_str(text).expect("an object"))
    }

    #[test]
    fn the_cards_of_different_widgets_are_read_alike() {
        let listing = card(
            r#"{"header": "Cool Breeze", "subline_1": "OEM authorised · 1.6 km",
            "subline_2": "2026-05-04T09:00:00+05:30 · 1.5 h", "price": {"amount_inr": 123245, "currency": "INR"},
            "pill": "45-day cooling warranty", "badge": null}"#,
        );
        assert_eq!(listing.title, "Cool Breeze");
        assert_eq!(listing.price, "₹1,23,245");
        assert_eq!(listing.facts, "OEM authorised · 1.6 km · 2026-05-04 09:00 · 1.5 h · 45-day cooling warranty");
        let comparison = card(
            r#"{"header": "Acme", "dual_pill": ["98 % of claims settled", "in 9 days"],
            "price": {"amount_inr": 500, "currency": "INR"}, "addon_count": 3, "wording_link": "https://a.example/w"}"#,
        );
        assert_eq!(comparison.facts, "98 % of claims settled · in 9 days · addon count 3");
        let class = card(
            r#"{"class_name": "Slow flow", "studio": "Om", "distance_km": 1.5, "class_id": "c1",
            "photo_url": "https://a.example/p", "price": {"amount_inr": 499}}"#,
        );
        assert_eq!((class.title.as_str(), class.facts.as_str()), ("Slow flow", "Om · distance km 1.5"));
    }

    #[test]
    fn a_card_of_an_unknown_form_is_shown_all_the_same() {
        let strange = card(r#"{"what": "x\u001b[2J", "price": "on request"}"#);
        assert_eq!(
            strange,
            Card {
                title: "(no title)".to_owned(),
                price: "on request".to_owned(),
                facts: "what x\\u{1b}[2J".to_owned()
            }
        );
        assert_eq!(card("{}").price, "no price");
        assert_eq!(
            shorten_times("at 2026-05-04T09:00:00Z and 2026-05-04T09:00:0é"),
            "at 2026-05-04 09:00 and 2026-05-04T09:00:0é"
        );
    }
}
