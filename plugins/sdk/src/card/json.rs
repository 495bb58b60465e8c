//! What a card holds, written as `serde_json` would write it.

use super::piece::{Piece, push_thousandths, thousandths};
use crate::json::find_special;
use std::borrow::Cow;

/// Bytes that most cards do not exceed.
const USUAL_BYTES: usize = 512;

/// A card, or what stands in one, as JSON. Derived for structs.
#[diagnostic::on_unimplemented(
    message = "no card holds a `{Self}`",
    note = "make a text of it with `contract_sdk::text!`, or derive `contract_sdk::CardJson` for a struct of the contract"
)]
pub trait CardJson {
    /// Appends the JSON of the value.
    fn push_json(&self, json: &mut String);

    /// The JSON of the value.
    fn to_json(&self) -> String {
        let mut json = String::with_capacity(USUAL_BYTES);
        self.push_json(&mut json);
        json.shrink_to_fit();
        json
    }
}

impl<T: CardJson + ?Sized> CardJson for &T {
    #[inline]
    fn push_json(&self, json: &mut String) {
        (**self).push_json(json);
    }
}

impl CardJson for str {
    #[inline(never)]
    fn push_json(&self, json: &mut String) {
        json.push('"');
        let plain = find_special(self.as_bytes(), 0);
        json.push_str(&self[..plain]);
        if plain < self.len() {
            push_escaped(&self[plain..], json);
        }
        json.push('"');
    }
}

/// Appends the inside of a string, with its quotes, backslashes and control characters escaped.
#[cold]
fn push_escaped(text: &str, json: &mut String) {
    for letter in text.chars() {
        match letter {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\u{8}' => json.push_str("\\b"),
            '\u{c}' => json.push_str("\\f"),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            '\0'..'\u{10}' => {
                json.push_str("\\u000");
                json.extend(char::from_digit(letter.into(), 16));
            }
            '\u{10}'..' ' => {
                json.push_str("\\u001");
                json.extend(char::from_digit(u32::from(letter) - 16, 16));
            }
            _ => json.push(letter),
        }
    }
}

impl CardJson for String {
    #[inline]
    fn push_json(&self, json: &mut String) {
        self.as_str().push_json(json);
    }
}

impl CardJson for Cow<'_, str> {
    #[inline]
    fn push_json(&self, json: &mut String) {
        (**self).push_json(json);
    }
}

impl CardJson for bool {
    #[inline]
    fn push_json(&self, json: &mut String) {
        json.push_str(if *self { "true" } else { "false" });
    }
}

macro_rules! integers {
    ($($type:ty)+) => {$(
        impl CardJson for $type {
            #[inline]
            fn push_json(&self, json: &mut String) {
                self.push_to(json);
            }
        }
    )+};
}

integers!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);

/// What is no number is null.
impl CardJson for f64 {
    fn push_json(&self, json: &mut String) {
        match thousandths(*self) {
            Some(thousandths) => {
                push_thousandths(self.is_sign_negative(), thousandths, json);
                if thousandths.is_multiple_of(1000) {
                    json.push_str(".0");
                }
            }
            None => json.push_str(&serde_json::Value::from(*self).to_string()),
        }
    }
}

/// Nothing is null.
impl<T: CardJson> CardJson for Option<T> {
    #[inline]
    fn push_json(&self, json: &mut String) {
        match self {
            Some(value) => value.push_json(json),
            None => json.push_str("null"),
        }
    }
}

impl<T: CardJson> CardJson for [T] {
    fn push_json(&self, json: &mut String) {
        json.push('[');
        for (index, value) in self.iter().enumerate() {
            if index > 0 {
                json.push(',');
            }
            value.push_json(json);
        }
        json.push(']');
    }
}

impl<T: CardJson> CardJson for Vec<T> {
    #[inline]
    fn push_json(&self, json: &mut String) {
        self.as_slice().push_json(json);
    }
}

impl<T: CardJson, const N: usize> CardJson for [T; N] {
    #[inline]
    fn push_json(&self, json: &mut String) {
        self.as_slice().push_json(json);
    }
}

#[cfg(test)]
mod tests {
    use super::super::piece::tests::any_number;
    use super::*;
    use crate::CardJson;
    use proptest::prelude::*;
    use serde::Serialize;

    /// Every kind of value that a card may hold, written both ways.
    #[derive(Debug, Serialize, CardJson)]
    struct Card<'t> {
        text: &'t str,
        r#type: String,
        #[serde(rename = "a \"name\" \\ of its own")]
        #[card(rename = "a \"name\" \\ of its own")]
        cow: Cow<'t, str>,
        flag: bool,
        number: f64,
        whole: i64,
        count: usize,
        small: Option<u8>,
        list: Vec<Inner<'t>>,
        pair: [Option<f64>; 2],
        nested: Inner<'t>,
        empty: Empty,
    }

    #[derive(Debug, Clone, Serialize, CardJson)]
    struct Inner<'t> {
        label: &'t str,
        amount: i32,
    }

    #[derive(Debug, Serialize, CardJson)]
    struct Empty {}

    /// Texts in which much has to be escaped, and texts in which little has.
    fn any_text() -> impl Strategy<Value = String> {
        let often = prop::collection::vec(
            prop_oneof![Just('"'), Just('\\'), (0_u8..0x20).prop_map(char::from), any::<char>()],
            0..40,
        );
        prop_oneof![any::<String>(), "[a-z é·\n\"]{0,60}", often.prop_map(String::from_iter)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn a_card_is_written_as_serde_json_does(
            (text, other) in (any_text(), any_text()),
            (number, second) in (any_number(), prop::option::of(any_number())),
            (whole, count, small) in (any::<i64>(), any::<usize>(), any::<Option<u8>>()),
            (flag, entries) in (any::<bool>(), 0_usize..3),
        ) {
            let nested = Inner { label: &other, amount: whole as i32 };
            let card = Card {
                text: &text,
                r#type: other.clone(),
                cow: Cow::Borrowed(&text),
                flag,
                number,
                whole,
                count,
                small,
                list: vec![nested.clone(); entries],
                pair: [Some(number), second],
                nested,
                empty: Empty {},
            };
            prop_assert_eq!(card.to_json(), serde_json::to_string(&card).unwrap());
        }
    }

    #[test]
    fn every_character_that_needs_it_is_escaped() {
        for letter in (0_u32..0x300).filter_map(char::from_u32) {
            let text = format!("before {letter} after");
            assert_eq!(text.to_json(), serde_json::to_string(&text).unwrap());
        }
    }
}
