//! What [`text!`](crate::text) puts between its words: texts and numbers, as `format!` would write them.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Most decimals of `{:.1}` and the like.
const MAX_PLACES: u32 = 3;
const POWERS_OF_TEN: [u64; MAX_PLACES as usize + 1] = [1, 10, 100, 1000];
/// Below it, a number of thousandths has at most 15 digits. No two such decimals are one 64-bit float, so that one of
/// them which is the float is also the shortest.
const MAX_SHORT: f64 = 1e11;
/// Bits of a 64-bit float's mantissa that are written, and the exponent of a float whose mantissa is an integer.
const MANTISSA_BITS: u32 = 52;
const EXPONENT_OF_INTEGERS: i32 = 1075;

/// A value that `{}` of [`text!`](crate::text) takes. It writes what `Display` gives.
#[diagnostic::on_unimplemented(
    message = "`text!` does not write `{Self}`",
    note = "give it a text, a number or a time; what only `format!` writes, a card may hold too, for the text is the same"
)]
pub trait Piece {
    /// Appends the value.
    fn push_to(&self, text: &mut String);
}

/// A value that `{:.1}` of [`text!`](crate::text) takes.
#[diagnostic::on_unimplemented(message = "`text!` rounds no `{Self}`", note = "`{{:.1}}` is for `f64`")]
pub trait Decimals {
    /// Appends the value with so many decimals, 0 to 3.
    fn push_rounded_to(&self, places: u32, text: &mut String);
}

impl<T: Piece + ?Sized> Piece for &T {
    #[inline]
    fn push_to(&self, text: &mut String) {
        (**self).push_to(text);
    }
}

impl<T: Decimals> Decimals for &T {
    #[inline]
    fn push_rounded_to(&self, places: u32, text: &mut String) {
        (**self).push_rounded_to(places, text);
    }
}

impl Piece for str {
    #[inline]
    fn push_to(&self, text: &mut String) {
        text.push_str(self);
    }
}

impl Piece for String {
    #[inline]
    fn push_to(&self, text: &mut String) {
        text.push_str(self);
    }
}

impl Piece for Cow<'_, str> {
    #[inline]
    fn push_to(&self, text: &mut String) {
        text.push_str(self);
    }
}

impl Piece for char {
    #[inline]
    fn push_to(&self, text: &mut String) {
        text.push(*self);
    }
}

macro_rules! integers {
    ($($wide:ident: $($type:ty)+, $push:ident;)+) => {$($(
        impl Piece for $type {
            #[inline]
            fn push_to(&self, text: &mut String) {
                $push(*self as $wide, text);
            }
        }
    )+)+};
}

integers! {
    u64: u8 u16 u32 u64 usize, push_unsigned;
    i64: i8 i16 i32 i64 isize, push_signed;
}

fn push_signed(value: i64, text: &mut String) {
    if value < 0 {
        text.push('-');
    }
    push_unsigned(value.unsigned_abs(), text);
}

fn push_unsigned(value: u64, text: &mut String) {
    const GROUP: u64 = 10_000;
    if value >= GROUP {
        push_unsigned(value / GROUP, text);
        push_digits((value % GROUP) as u32, 4, text);
        return;
    }
    let value = value as u32;
    push_digits(value, 1 + u32::from(value > 9) + u32::from(value > 99) + u32::from(value > 999), text);
}

/// Appends so many digits, 0 to 4, with zeros in front.
#[inline]
pub(crate) fn push_digits(value: u32, count: u32, text: &mut String) {
    if count > 3 {
        push_digit(value / 1000, text);
    }
    if count > 2 {
        push_digit(value / 100, text);
    }
    if count > 1 {
        push_digit(value / 10, text);
    }
    if count > 0 {
        push_digit(value, text);
    }
}

/// Appends the last digit.
#[inline]
fn push_digit(value: u32, text: &mut String) {
    text.push(char::from(b'0' + (value % 10) as u8));
}

impl Piece for f64 {
    fn push_to(&self, text: &mut String) {
        if let Some(thousandths) = thousandths(*self) {
            push_thousandths(self.is_sign_negative(), thousandths, text);
        } else {
            // A text takes whatever is written into it.
            let _ = write!(text, "{self}");
        }
    }
}

/// A number without its sign in thousandths, where its shortest decimal form has no more than three decimals.
#[inline]
pub(super) fn thousandths(number: f64) -> Option<u64> {
    let number = number.abs();
    let scaled = (number * 1000.0).round_ties_even();
    (number < MAX_SHORT && scaled / 1000.0 == number).then_some(scaled as u64)
}

/// Appends thousandths as a number without needless decimals.
#[inline]
pub(super) fn push_thousandths(is_negative: bool, thousandths: u64, text: &mut String) {
    if is_negative {
        text.push('-');
    }
    push_unsigned(thousandths / 1000, text);
    let fraction = (thousandths % 1000) as u32;
    if fraction == 0 {
        return;
    }
    text.push('.');
    if fraction.is_multiple_of(100) {
        push_digits(fraction / 100, 1, text);
    } else if fraction.is_multiple_of(10) {
        push_digits(fraction / 10, 2, text);
    } else {
        push_digits(fraction, 3, text);
    }
}

impl Decimals for f64 {
    fn push_rounded_to(&self, places: u32, text: &mut String) {
        let Some(scaled) = scale(*self, places) else {
            let _ = write!(text, "{self:.*}", places as usize);
            return;
        };
        if self.is_sign_negative() {
            text.push('-');
        }
        let power = POWERS_OF_TEN[places as usize];
        push_unsigned(scaled / power, text);
        if places > 0 {
            text.push('.');
            push_digits((scaled % power) as u32, places, text);
        }
    }
}

/// The number without its sign times a power of ten, rounded, exactly: a half that is one goes to the even neighbour, as in
/// `format!`. `None` for numbers that are too great, and for what is no number.
#[inline]
fn scale(number: f64, places: u32) -> Option<u64> {
    let bits = number.abs().to_bits();
    let exponent = (bits >> MANTISSA_BITS) as i32;
    let below_point = u32::try_from(EXPONENT_OF_INTEGERS - exponent).ok().filter(|bits| *bits > 0)?;
    let power = *POWERS_OF_TEN.get(places as usize)?;
    if exponent == 0 || below_point >= u64::BITS {
        // Less than 2^-11, which is less than half of a thousandth.
        return Some(0);
    }
    let mantissa = (bits & ((1 << MANTISSA_BITS) - 1)) | 1 << MANTISSA_BITS;
    let product = mantissa * power;
    let whole = product >> below_point;
    let (rest, half) = (product & ((1 << below_point) - 1), 1 << (below_point - 1));
    Some(whole + u64::from(rest > half || (rest == half && whole % 2 == 1)))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::text;
    use proptest::prelude::*;

    /// Numbers of every size, and those that partners send.
    pub(crate) fn any_number() -> impl Strategy<Value = f64> {
        prop_oneof![
            any::<f64>(),
            any::<u64>().prop_map(f64::from_bits),
            (any::<i32>(), 0_i32..6).prop_map(|(digits, places)| f64::from(digits) / 10_f64.powi(places)),
            (-200_000_i64..200_000).prop_map(|halves| halves as f64 / 2000.0),
            (-100_000_i64..100_000, -4_i64..5).prop_map(|(tenths, steps)| {
                let near = tenths as f64 / 10.0 + 0.05;
                f64::from_bits(near.to_bits().wrapping_add_signed(steps))
            }),
            (-1e12..1e12_f64).prop_map(f64::round),
        ]
    }

    #[track_caller]
    fn agrees(number: f64) {
        assert_eq!(text!("{number}"), format!("{number}"));
        assert_eq!(text!("{:.0}", number), format!("{number:.0}"));
        assert_eq!(text!("{:.1}", number), format!("{number:.1}"));
        assert_eq!(text!("{:.2}", number), format!("{number:.2}"));
        assert_eq!(text!("{number:.3}"), format!("{number:.3}"));
    }

    #[test]
    fn numbers_at_the_edges_are_written_as_format_does() {
        for number in [
            0.0,
            0.5,
            1.5,
            2.5,
            0.05,
            0.15,
            0.25,
            0.35,
            0.45,
            9.95,
            99.95,
            999.949_999_999_999_9,
            0.0005,
            0.000_499_999_999_999_999_9,
            0.001,
            0.0009,
            1.001,
            1.0001,
            1e10,
            99_999_999_999.999,
            1e11,
            1e15,
            4_503_599_627_370_495.5,
            4_503_599_627_370_496.0,
            9_007_199_254_740_993.0,
            1e22,
            f64::MAX,
            f64::MIN_POSITIVE,
            5e-324,
            2_f64.powi(-10),
            2_f64.powi(-11),
            2_f64.powi(-12),
            f64::INFINITY,
            f64::NAN,
        ] {
            agrees(number);
            agrees(-number);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn numbers_are_written_as_format_does(number in any_number()) {
            agrees(number);
        }

        #[test]
        fn integers_are_written_as_format_does(number in any::<i64>(), shift in 0_u32..64) {
            let number = number >> shift;
            prop_assert_eq!(text!("{number}"), format!("{number}"));
            prop_assert_eq!(text!("{}", number as u64), format!("{}", number as u64));
            let (small, count) = (number as i8, number as usize);
            prop_assert_eq!(text!("{small}{count}"), format!("{small}{count}"));
        }

        #[test]
        fn texts_are_joined_as_format_does(one in any::<String>(), other in any::<char>()) {
            let cow = Cow::Borrowed(one.as_str());
            prop_assert_eq!(text!("{one} · {{{other}}} {}{cow}", &*one), format!("{one} · {{{other}}} {}{cow}", &*one));
        }
    }
}
