//! Shapes of single values, of arrays, and the two kinds of "perhaps".

use super::desc::{Kind, TextFormat, ValueDesc};
use super::read::{At, Described, Shape, wrong_type};
use crate::code;
use crate::json::{Number, Parser};
use crate::violations::{Quoted, Violations};
use std::borrow::Cow;

/// Integers beyond this are not told apart by 64-bit floats, so a float beyond it is not an exact integer.
const MAX_EXACT_FLOAT_INTEGER: f64 = 9_007_199_254_740_992.0;

/// Greatest amount in a report, in INR: no order comes near it, and its paise fit 64 bits with room for sums.
const MAX_AMOUNT_INR: i64 = 1_000_000_000_000;

impl Described for bool {
    const DESC: ValueDesc = ValueDesc::of(Kind::Boolean);
}

impl<'a> Shape<'a> for bool {
    #[inline]
    fn read(from: &mut Parser<'a>, at: &At<'_>, out: &mut Violations) -> Option<Self> {
        match from.peek() {
            b't' => {
                from.literal("true");
                Some(true)
            }
            b'f' => {
                from.literal("false");
                Some(false)
            }
            _ => wrong_type(from, at, out),
        }
    }
}

/// The boolean `false`, for members that may say nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct False;

impl Described for False {
    const DESC: ValueDesc = ValueDesc::of(Kind::False);
}

impl<'a> Shape<'a> for False {
    fn read(from: &mut Parser<'a>, at: &At<'_>, out: &mut Violations) -> Option<Self> {
        match from.peek() {
            b'f' => {
                from.literal("false");
                Some(Self)
            }
            b't' => {
                from.literal("true");
                out.push(at, code::UNEXPECTED_VALUE, "Found true; the value must be false.");
                None
            }
            _ => wrong_type(from, at, out),
        }
    }
}

impl Described for i64 {
    const DESC: ValueDesc = ValueDesc::of(Kind::Integer);
}

impl<'a> Shape<'a> for i64 {
    #[inline]
    fn read(from: &mut Parser<'a>, at: &At<'_>, out: &mut Violations) -> Option<Self> {
        if is_number(from) { integer(from, at, out) } else { wrong_type(from, at, out) }
    }
}

/// Money in whole INR, as options and bookings state it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Inr(pub i64);

impl Described for Inr {
    const DESC: ValueDesc = ValueDesc::of(Kind::Integer);
}

impl<'a> Shape<'a> for Inr {
    #[inline]
    fn read(from: &mut Parser<'a>, at: &At<'_>, out: &mut Violations) -> Option<Self> {
        i64::read(from, at, out).map(Self)
    }
}

#[inline]
fn is_number(from: &mut Parser<'_>) -> bool {
    matches!(from.peek(), b'-' | b'0'..=b'9')
}

/// Reads an integer by JSON Schema: a number without a fraction, however it is written.
#[inline(never)]
fn integer(from: &mut Parser<'_>, at: &At<'_>, out: &mut Violations) -> Option<i64> {
    let number = match from.number() {
        Number::Int(number) => number,
        Number::Float(number) => exact_integer(number, at, out)?,
    };
    if let Some(allowed) = at.bounds().one_of
        && !allowed.contains(&number)
    {
        out.push(at, code::NOT_IN_VOCABULARY, format_args!("Found {number}; expected one of {allowed:?}."));
        return None;
    }
    in_range(number as f64, at, out).then_some(number)
}

#[cold]
fn exact_integer(number: f64, at: &At<'_>, out: &mut Violations) -> Option<i64> {
    if number.is_finite() && number.fract() != 0.0 {
        out.push(at, code::WRONG_TYPE, format_args!("Found the number {number}; expected: integer."));
    } else if number.abs() <= MAX_EXACT_FLOAT_INTEGER {
        return Some(number as i64);
    } else {
        out.push(at, code::OUT_OF_RANGE, format_args!("Found {number:e}; integers of this size are not read."));
    }
    None
}

impl Described for f64 {
    const DESC: ValueDesc = ValueDesc::of(Kind::Number);
}

impl<'a> Shape<'a> for f64 {
    #[inline]
    fn read(from: &mut Parser<'a>, at: &At<'_>, out: &mut Violations) -> Option<Self> {
        if !is_number(from) {
            return wrong_type(from, at, out);
        }
        let number = match from.number() {
            Number::Int(number) => number as Self,
            Number::Float(number) => number,
        };
        in_range(number, at, out).then_some(number)
    }
}

#[inline]
fn in_range(number: f64, at: &At<'_>, out: &mut Violations) -> bool {
    let bounds = at.bounds();
    let sound =
        number.is_finite() && bounds.min.is_none_or(|min| number >= min) && bounds.max.is_none_or(|max| number <= max);
    if !sound {
        out_of_range(number, at, out);
    }
    sound
}

#[cold]
#[inline(never)]
fn out_of_range(number: f64, at: &At<'_>, out: &mut Violations) {
    let bounds = at.bounds();
    let expected = match (bounds.min, bounds.max) {
        (Some(min), Some(max)) => format!("between {min} and {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => String::from("a finite number"),
    };
    out.push(at, code::OUT_OF_RANGE, format_args!("Found {number}; expected {expected}."));
}

/// An amount of a completion report in paise (1/100 INR), read from the digits as they were written.
///
/// Such amounts end in the ledger, so no float ever holds them. An amount finer than a paisa is a violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount {
    pub paise: i64,
}

impl Described for Amount {
    const DESC: ValueDesc = ValueDesc::of(Kind::Amount);
}

impl<'a> Shape<'a> for Amount {
    fn read(from: &mut Parser<'a>, at: &At<'_>, out: &mut Violations) -> Option<Self> {
        if !is_number(from) {
            return wrong_type(from, at, out);
        }
        let text = from.raw();
        let (code, expected) = match paise(text) {
            Ok(paise) => return Some(Self { paise }),
            Err(PaiseError::Negative) => (code::OUT_OF_RANGE, "at least 0".to_owned()),
            Err(PaiseError::TooLarge) => (code::OUT_OF_RANGE, format!("at most {MAX_AMOUNT_INR}")),
            Err(PaiseError::TooFine) => (code::BAD_FORMAT, "at most two decimals".to_owned()),
        };
        out.push(at, code, format_args!("Found {}; expected {expected}.", Quoted(text)));
        None
    }
}

/// Why a JSON number is not an amount.
#[derive(Debug, PartialEq, Eq)]
enum PaiseError {
    Negative,
    TooLarge,
    TooFine,
}

/// The paise of a JSON number, exactly: `12.5` and `1.25e1` are 1250.
fn paise(number: &str) -> Result<i64, PaiseError> {
    let (negative, number) = match number.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, number),
    };
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).map(|digit| digit - b'0').collect();
    let Some(first) = digits.iter().position(|&digit| digit != 0) else {
        return Ok(0);
    };
    if negative {
        return Err(PaiseError::Negative);
    }
    let last = digits.iter().rposition(|&digit| digit != 0).map_or(0, |last| last + 1);
    // The decimal point of the paise stands after this many digits. An exponent too long to be read is
    // either far too large or far too small.
    let exponent =
        exponent.parse::<i64>().unwrap_or(if exponent.starts_with('-') { i64::MIN / 2 } else { i64::MAX / 2 });
    let point = (whole.len() as i64).saturating_add(exponent).saturating_add(2);
    if point < last as i64 {
        return Err(PaiseError::TooFine);
    }
    let mut value: i64 = 0;
    let limit = MAX_AMOUNT_INR * 100;
    let mut position = first as i64;
    while position < point {
        let digit = usize::try_from(position).ok().and_then(|index| digits.get(index)).copied().unwrap_or(0);
        value = value * 10 + i64::from(digit);
        if value > limit {
            return Err(PaiseError::TooLarge);
        }
        position += 1;
    }
    Ok(value)
}

impl Described for Cow<'_, str> {
    const DESC: ValueDesc = ValueDesc::of(Kind::Text(TextFormat::Any));
}

impl<'a> Shape<'a> for Cow<'a, str> {
    #[inline]
    fn read(from: &mut Parser<'a>, at: &At<'_>, out: &mut Violations) -> Option<Self> {
        if from.peek() == b'"' { text_within_bounds(from, at, out) } else { wrong_type(from, at, out) }
    }
}

/// Reads the text that comes next and judges it by the bounds beside its field.
#[inline]
pub(super) fn text_within_bounds<'a>(from: &mut Parser<'a>, at: &At<'_>, out: &mut Violations) -> Option<Cow<'a, str>> {
    let text = from.string();
    if at.bounds().bounds_text() && !text_is_bounded(&text, at, out) {
        return None;
    }
    Some(text)
}

fn text_is_bounded(text: &str, at: &At<'_>, out: &mut Violations) -> bool {
    let bounds = at.bounds();
    if let Some(expected) = bounds.equals
        && text != expected
    {
        out.push(at, code::UNEXPECTED_VALUE, format_args!("Found {}; expected {expected:?}.", Quoted(text)));
        return false;
    }
    let length = text.chars().count();
    let (code, expected) = if let Some(exact) = bounds.len.filter(|&exact| length != exact) {
        (code::WRONG_LENGTH, format!("exactly {exact}"))
    } else if let Some(min) = bounds.min_len.filter(|&min| length < min) {
        (if length == 0 { code::EMPTY } else { code::TOO_SHORT }, format!("at least {min}"))
    } else if let Some(max) = bounds.max_len.filter(|&max| length > max) {
        (code::TOO_LONG, format!("at most {max}"))
    } else {
        return true;
    };
    out.push(at, code, format_args!("Found {length} characters; expected {expected}."));
    false
}

impl<T: Described> Described for Option<T> {
    const DESC: ValueDesc = T::DESC;
    const OPTIONAL: bool = true;
}

/// May be absent; if it is there, it is judged, and `null` is of the wrong type.
impl<'a, T: Shape<'a>> Shape<'a> for Option<T> {
    fn absent() -> Option<Self> {
        Some(None)
    }

    #[inline]
    fn read(from: &mut Parser<'a>, at: &At<'_>, out: &mut Violations) -> Option<Self> {
        T::read(from, at, out).map(Some)
    }
}

/// Must be there, and may be `null`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Nullable<T>(pub Option<T>);

impl<T: Described> Described for Nullable<T> {
    const DESC: ValueDesc = ValueDesc { kind: T::DESC.kind, nullable: true };
}

impl<'a, T: Shape<'a>> Shape<'a> for Nullable<T> {
    #[inline]
    fn read(from: &mut Parser<'a>, at: &At<'_>, out: &mut Violations) -> Option<Self> {
        if from.peek() == b'n' {
            from.literal("null");
            return Some(Self(None));
        }
        T::read(from, at, out).map(|value| Self(Some(value)))
    }
}

/// As [`Nullable`], but that it is absent is not reported where it is read: a rule of the contract does, for the error
/// table has a code for it. In a document that is broken elsewhere, which no rule gets to see, it is reported as missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuledNullable<T> {
    Absent,
    Null,
    Value(T),
}

impl<T: Copy> RuledNullable<T> {
    /// What it says, if anything.
    pub fn value(self) -> Option<T> {
        match self {
            Self::Absent | Self::Null => None,
            Self::Value(value) => Some(value),
        }
    }
}

impl<T> RuledNullable<T> {
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

impl<T: Described> Described for RuledNullable<T> {
    const DESC: ValueDesc = ValueDesc { kind: T::DESC.kind, nullable: true };
    const ABSENCE_RULED: bool = true;
}

impl<'a, T: Shape<'a>> Shape<'a> for RuledNullable<T> {
    fn absent() -> Option<Self> {
        Some(Self::Absent)
    }

    #[inline]
    fn read(from: &mut Parser<'a>, at: &At<'_>, out: &mut Violations) -> Option<Self> {
        Nullable::read(from, at, out).map(|Nullable(value)| value.map_or(Self::Null, Self::Value))
    }
}

impl<T: Described> Described for Vec<T> {
    const DESC: ValueDesc = ValueDesc::of(Kind::Array(&T::DESC));
}

impl<'a, T: Shape<'a>> Shape<'a> for Vec<T> {
    fn read(from: &mut Parser<'a>, at: &At<'_>, out: &mut Violations) -> Option<Self> {
        if from.peek() != b'[' {
            return wrong_type(from, at, out);
        }
        from.open();
        let mut list = Self::new();
        let mut count = 0;
        while from.more(b']', count == 0) {
            list.extend(T::read(from, &at.entry(count), out));
            count += 1;
        }
        (count_within_bounds(count, at, out) && list.len() == count).then_some(list)
    }
}

#[inline]
fn count_within_bounds(count: usize, at: &At<'_>, out: &mut Violations) -> bool {
    let bounds = at.bounds();
    let (code, expected) = if let Some(exact) = bounds.items.filter(|&exact| count != exact) {
        (code::WRONG_LENGTH, format!("exactly {exact}"))
    } else if let Some(min) = bounds.min_items.filter(|&min| count < min) {
        (code::TOO_FEW_ITEMS, format!("at least {min}"))
    } else if let Some(max) = bounds.max_items.filter(|&max| count > max) {
        (code::TOO_MANY_ITEMS, format!("at most {max}"))
    } else {
        return true;
    };
    out.push(at, code, format_args!("Found {count} entries; expected {expected}."));
    false
}

/// Any JSON value, kept as the text it came as. For blocks whose shape the intent leaves open.
#[derive(Debug, Clone, Copy)]
pub struct RawJson<'a>(pub &'a str);

impl Described for RawJson<'_> {
    const DESC: ValueDesc = ValueDesc { kind: Kind::Any, nullable: true };
}

impl<'a> Shape<'a> for RawJson<'a> {
    fn read(from: &mut Parser<'a>, _: &At<'_>, _: &mut Violations) -> Option<Self> {
        Some(Self(from.raw()))
    }
}

/// Any JSON object, kept as the text it came as. For blocks that must be there and whose members the intent leaves open.
#[derive(Debug, Clone, Copy)]
pub struct RawObject<'a>(pub &'a str);

impl Described for RawObject<'_> {
    const DESC: ValueDesc = ValueDesc::of(Kind::Object(&[]));
}

impl<'a> Shape<'a> for RawObject<'a> {
    fn read(from: &mut Parser<'a>, at: &At<'_>, out: &mut Violations) -> Option<Self> {
        if from.peek() != b'{' {
            return wrong_type(from, at, out);
        }
        Some(Self(from.raw()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::read_document;

    #[test]
    fn an_amount_that_breaks_off_is_no_json() {
        for text in ["10.\"x\"", "-", "1e", "010", "10.,\"a\":1"] {
            let violations = read_document::<Amount>(text).unwrap_err();
            let codes: Vec<_> = violations.iter().map(|found| found.code.as_str()).collect();
            assert_eq!(codes, [code::INVALID_JSON], "{text}");
        }
    }

    #[test]
    fn amounts_are_read_from_their_digits() {
        for (text, expected) in [
            ("0", Ok(0)),
            ("-0", Ok(0)),
            ("-0.00", Ok(0)),
            ("12", Ok(1200)),
            ("12.5", Ok(1250)),
            ("12.50", Ok(1250)),
            ("12.500", Ok(1250)),
            ("1.25e1", Ok(1250)),
            ("125e-1", Ok(1250)),
            ("125000E-4", Ok(1250)),
            ("0.29", Ok(29)),
            ("1.15", Ok(115)),
            ("4503599627.37", Ok(450_359_962_737)),
            ("0.005", Err(PaiseError::TooFine)),
            ("10.000000000000000001", Err(PaiseError::TooFine)),
            ("1e-3", Err(PaiseError::TooFine)),
            ("1e-99999999999999999999", Err(PaiseError::TooFine)),
            ("1e99999999999999999999", Err(PaiseError::TooLarge)),
            ("0e99999999999999999999", Ok(0)),
            ("1e12", Ok(100_000_000_000_000)),
            ("1000000000000.01", Err(PaiseError::TooLarge)),
            ("-1", Err(PaiseError::Negative)),
            ("-0.01", Err(PaiseError::Negative)),
        ] {
            assert_eq!(paise(text), expected, "{text}");
        }
    }
}
