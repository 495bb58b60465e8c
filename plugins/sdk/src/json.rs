//! A pull parser over JSON text (RFC 8259).
//!
//! Shapes know what should come next, so they ask for it: a member of this name, a string, a number. That
//! is what makes reading cheap in a guest: no callbacks, no tree, strings borrowed from the text. The
//! parser never returns an error. Where the text is not JSON, it records the place and moves to the end, and the
//! reader of the document asks for it there ([`Parser::end`]).
//!
//! It accepts exactly what `serde_json` accepts (property tests compare the two), with one difference:
//! a number too large for a 64-bit float is infinite here and not an error, so that a shape can say where
//! it stands. Keys may occur twice; the reader of shapes judges that.

use std::borrow::Cow;
use std::fmt::{self, Display};

/// Arrays and objects inside each other; deeper text is refused, as `serde_json` does.
pub const MAX_DEPTH: u32 = 127;

/// Digits that a `u64` always holds.
const MAX_EXACT_DIGITS: usize = 19;
/// Up to here integers and powers of ten are exact in 64-bit floats, and so is one operation on them.
const MAX_EXACT_MANTISSA: u64 = 1 << 53;
const POWERS_OF_TEN: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// Why and where a text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Broken {
    /// Bytes before the place.
    pub offset: usize,
    /// What would have been right.
    pub expected: &'static str,
}

impl Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {} after {} bytes", self.expected, self.offset)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// Written without fraction and exponent, and within 64 bits.
    Int(i64),
    /// Any other; infinite if too large.
    Float(f64),
}

/// The parser; see the module.
#[derive(Debug)]
pub struct Parser<'a> {
    text: &'a str,
    /// Offset of the next byte.
    at: usize,
    depth: u32,
    broken: Option<Broken>,
}

impl<'a> Parser<'a> {
    /// Starts before the first byte.
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0, depth: 0, broken: None }
    }

    /// Ends the document: nothing but white space may follow.
    ///
    /// # Errors
    /// Where the text first was not JSON.
    pub fn end(mut self) -> Result<(), Broken> {
        self.peek();
        if self.at < self.text.len() {
            self.fail("the end of the document");
        }
        self.broken.map_or(Ok(()), Err)
    }

    /// The first byte of the next token; 0 at the end.
    #[inline]
    pub fn peek(&mut self) -> u8 {
        match self.byte() {
            byte if byte > b' ' => byte,
            _ => self.skip_blanks(),
        }
    }

    /// Opens the array or object whose bracket [`Self::peek`] has shown.
    #[inline]
    pub fn open(&mut self) {
        self.at += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.fail("less depth");
        }
    }

    /// Goes to the next entry or member; false behind the last, with the bracket `close` consumed.
    #[inline]
    pub fn more(&mut self, close: u8, first: bool) -> bool {
        let byte = self.peek();
        if byte == close {
            self.at += 1;
            self.depth -= 1;
            return false;
        }
        if byte == 0 || !(first || byte == b',') {
            self.fail(if first { "a value or a closing bracket" } else { "a comma or a closing bracket" });
            return false;
        }
        self.at += usize::from(!first);
        true
    }

    /// Takes the next key of an object, with the comma before it and its colon, if the key is this one, written without
    /// escapes. Otherwise nothing is taken, and [`Self::more`] goes on.
    ///
    /// `quoted` is the key with its quotes and its colon, a constant, so that text without blanks costs one comparison.
    #[inline(always)]
    pub fn take_key(&mut self, first: bool, quoted: &'static str) -> bool {
        let bytes = self.text.as_bytes();
        let from = self.at + usize::from(!first);
        let is_next = first || self.byte() == b',';
        match bytes.get(from..from + quoted.len()) {
            Some(found) if is_next && same(found, quoted.as_bytes()) => {
                self.at = from + quoted.len();
                true
            }
            // Of text without blanks it is known now that another key is next.
            _ => !(is_next && bytes.get(from) == Some(&b'"')) && self.take_spaced_key(first, quoted),
        }
    }

    /// [`Self::take_key`] where there are blanks.
    #[inline(never)]
    fn take_spaced_key(&mut self, first: bool, quoted: &'static str) -> bool {
        let start = self.at;
        if self.more_is_there(first) && self.peek() == b'"' {
            let key = &quoted.as_bytes()[..quoted.len() - 1];
            let until = self.at + key.len();
            if self.text.as_bytes().get(self.at..until).is_some_and(|found| same(found, key)) {
                self.at = until;
                self.colon();
                return true;
            }
        }
        self.at = start;
        false
    }

    /// Goes behind the comma, where there is one and one is needed.
    fn more_is_there(&mut self, first: bool) -> bool {
        let is_there = first || self.peek() == b',';
        self.at += usize::from(is_there && !first);
        is_there
    }

    /// Reads the next key and its colon.
    pub fn key(&mut self) -> Cow<'a, str> {
        if self.peek() != b'"' {
            self.fail("a key");
            return Cow::Borrowed("");
        }
        let key = self.string();
        self.colon();
        key
    }

    #[inline]
    fn colon(&mut self) {
        if self.peek() == b':' {
            self.at += 1;
        } else {
            self.fail("a colon");
        }
    }

    /// Reads the string whose quote [`Self::peek`] has shown.
    #[inline(never)]
    pub fn string(&mut self) -> Cow<'a, str> {
        let start = self.at + 1;
        self.at = start;
        if self.seek_special() == b'"' {
            let text = self.text.get(start..self.at).unwrap_or_default();
            self.at += 1;
            return Cow::Borrowed(text);
        }
        self.string_with_escapes(start)
    }

    /// Reads the number whose first byte [`Self::peek`] has shown.
    #[inline(never)]
    pub fn number(&mut self) -> Number {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let negative = self.byte() == b'-';
        if negative {
            self.at += 1;
        }
        let first_digit = self.at;
        let mut mantissa = self.digits(0);
        let whole = self.at - first_digit;
        if whole == 0 || (whole > 1 && bytes[first_digit] == b'0') {
            self.fail("a number without leading zeros");
            return Number::Int(0);
        }
        let mut digits = whole;
        let mut exponent = 0_i64;
        let mut is_integer = true;
        if self.byte() == b'.' {
            self.at += 1;
            let from = self.at;
            mantissa = self.digits(mantissa);
            let fraction = self.at - from;
            if fraction == 0 {
                self.fail("a digit after the decimal point");
                return Number::Int(0);
            }
            digits += fraction;
            exponent = -(fraction as i64);
            is_integer = false;
        }
        if matches!(self.byte(), b'e' | b'E') {
            self.at += 1;
            exponent = exponent.saturating_add(self.exponent());
            is_integer = false;
        }
        if is_integer
            && digits <= MAX_EXACT_DIGITS
            && let Ok(value) = i64::try_from(mantissa)
        {
            return Number::Int(if negative { -value } else { value });
        }
        Number::Float(self.float(start, negative, mantissa, digits, exponent))
    }

    /// The float nearest to the number that ends here.
    fn float(&self, start: usize, negative: bool, mantissa: u64, digits: usize, exponent: i64) -> f64 {
        let power = usize::try_from(exponent.unsigned_abs()).ok().and_then(|index| POWERS_OF_TEN.get(index));
        if let Some(power) = power
            && digits <= MAX_EXACT_DIGITS
            && mantissa <= MAX_EXACT_MANTISSA
        {
            let value = if exponent < 0 { mantissa as f64 / power } else { mantissa as f64 * power };
            return if negative { -value } else { value };
        }
        // Rare; the library's parser rounds right in every case, and JSON numbers are numbers to it.
        self.text.get(start..self.at).and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
    }

    /// Reads digits on; what a `u64` cannot hold wraps, so callers count the digits.
    #[inline]
    fn digits(&mut self, mut value: u64) -> u64 {
        for byte in self.text.as_bytes().get(self.at..).unwrap_or_default() {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            self.at += 1;
        }
        value
    }

    fn exponent(&mut self) -> i64 {
        let negative = self.byte() == b'-';
        if matches!(self.byte(), b'+' | b'-') {
            self.at += 1;
        }
        let mut value = 0_i64;
        let from = self.at;
        while let digit @ b'0'..=b'9' = self.byte() {
            value = value.saturating_mul(10).saturating_add(i64::from(digit - b'0'));
            self.at += 1;
        }
        if self.at == from {
            self.fail("a digit in the exponent");
        }
        if negative { -value } else { value }
    }

    /// Takes `true`, `false` or `null`.
    #[inline]
    pub fn literal(&mut self, word: &'static str) {
        let found = self.text.as_bytes().get(self.at..self.at + word.len());
        if found.is_some_and(|found| same(found, word.as_bytes())) {
            self.at += word.len();
        } else {
            self.fail(word);
        }
    }

    /// Skips a value and returns its text; nothing where it is not JSON.
    pub fn raw(&mut self) -> &'a str {
        self.peek();
        let start = self.at;
        self.skip();
        if self.broken.is_some() { "" } else { self.text.get(start..self.at).unwrap_or_default() }
    }

    /// Skips a value. It must be JSON all the same.
    pub fn skip(&mut self) {
        match self.peek() {
            b'"' => self.skip_string(),
            b'-' | b'0'..=b'9' => {
                self.number();
            }
            b't' => self.literal("true"),
            b'f' => self.literal("false"),
            b'n' => self.literal("null"),
            b'[' => {
                self.open();
                let mut first = true;
                while self.more(b']', first) {
                    self.skip();
                    first = false;
                }
            }
            b'{' => {
                self.open();
                let mut first = true;
                while self.more(b'}', first) {
                    if self.peek() == b'"' {
                        self.skip_string();
                        self.colon();
                    } else {
                        self.fail("a key");
                    }
                    self.skip();
                    first = false;
                }
            }
            _ => self.fail("a value"),
        }
    }

    fn skip_string(&mut self) {
        let start = self.at + 1;
        self.at = start;
        if self.seek_special() == b'"' {
            self.at += 1;
        } else {
            self.string_with_escapes(start);
        }
    }

    /// Records that the text is not JSON, unless that is known already, and goes to the end.
    #[cold]
    #[inline(never)]
    pub fn fail(&mut self, expected: &'static str) {
        if self.broken.is_none() {
            self.broken = Some(Broken { offset: self.at.min(self.text.len()), expected });
        }
        self.at = self.text.len();
    }

    #[inline]
    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    #[inline(never)]
    fn skip_blanks(&mut self) -> u8 {
        while matches!(self.byte(), b' ' | b'\n' | b'\t' | b'\r') {
            self.at += 1;
        }
        self.byte()
    }

    /// Goes to the next quote, backslash or control character of a string.
    #[inline]
    fn seek_special(&mut self) -> u8 {
        self.at = find_special(self.text.as_bytes(), self.at);
        self.byte()
    }

    /// Reads a string on from a place that is not its closing quote.
    #[cold]
    fn string_with_escapes(&mut self, start: usize) -> Cow<'a, str> {
        let mut value = String::new();
        let mut copied = start;
        loop {
            value.push_str(self.text.get(copied..self.at).unwrap_or_default());
            match self.byte() {
                b'"' => {
                    self.at += 1;
                    return Cow::Owned(value);
                }
                b'\\' => {
                    self.at += 1;
                    match self.escape() {
                        Some(letter) => value.push(letter),
                        None => self.fail("an escape"),
                    }
                }
                _ => self.fail("a character of a string or its closing quote"),
            }
            if self.broken.is_some() {
                return Cow::Borrowed("");
            }
            copied = self.at;
            self.seek_special();
        }
    }

    /// The character of the escape behind a backslash.
    fn escape(&mut self) -> Option<char> {
        let letter = match self.byte() {
            letter @ (b'"' | b'\\' | b'/') => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.at += 1;
                return self.unicode_escape();
            }
            _ => return None,
        };
        self.at += 1;
        Some(letter)
    }

    /// One `\uXXXX`, or two that make a surrogate pair; a lone surrogate is not a character.
    fn unicode_escape(&mut self) -> Option<char> {
        let unit = self.four_hex_digits()?;
        if !(0xd800..0xdc00).contains(&unit) {
            return char::from_u32(unit);
        }
        if !self.text.as_bytes().get(self.at..)?.starts_with(b"\\u") {
            return None;
        }
        self.at += 2;
        let low = self.four_hex_digits()?;
        if !(0xdc00..0xe000).contains(&low) {
            return None;
        }
        char::from_u32(0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00))
    }

    fn four_hex_digits(&mut self) -> Option<u32> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4)?;
        let mut unit = 0;
        for digit in digits {
            unit = unit * 16 + char::from(*digit).to_digit(16)?;
        }
        self.at += 4;
        Some(unit)
    }
}

/// Whether two texts are the same. Part of `#[derive(Vocabulary)]`.
#[doc(hidden)]
#[inline(always)]
pub fn same_text(left: &str, right: &str) -> bool {
    same(left.as_bytes(), right.as_bytes())
}

/// Whether two texts are the same, eight bytes at a time: in a guest the library compares one byte at a time.
#[inline]
fn same(left: &[u8], right: &[u8]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    if let (Some(left_end), Some(right_end)) = (left.last_chunk::<8>(), right.last_chunk::<8>()) {
        let mut words = left.chunks_exact(8).zip(right.chunks_exact(8));
        return left_end == right_end && words.all(|(left, right)| left.first_chunk::<8>() == right.first_chunk::<8>());
    }
    if let (Some(left_end), Some(right_end)) = (left.last_chunk::<4>(), right.last_chunk::<4>()) {
        return left_end == right_end && left.first_chunk::<4>() == right.first_chunk::<4>();
    }
    left.iter().zip(right).all(|(left, right)| left == right)
}

/// The place of the next quote, backslash or control character, or the end; many bytes at a time.
#[inline]
pub(crate) fn find_special(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    #[cfg(target_feature = "simd128")]
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<16>) {
        match special_of_16(chunk) {
            0 => at += 16,
            found => return at + found.trailing_zeros() as usize,
        }
    }
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        match special_of_8(*chunk) {
            0 => at += 8,
            found => return at + (found.trailing_zeros() / 8) as usize,
        }
    }
    while let Some(byte) = bytes.get(at)
        && !(*byte == b'"' || *byte == b'\\' || *byte < b' ')
    {
        at += 1;
    }
    at
}

/// The high bits of those bytes that are a quote, a backslash or a control character.
///
/// Bytes behind such a one may be marked too, so only the lowest mark counts.
#[inline]
fn special_of_8(chunk: [u8; 8]) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let word = u64::from_le_bytes(chunk);
    let control = word.wrapping_sub(ONES * b' ' as u64) & !word;
    let quote = word ^ (ONES * b'"' as u64);
    let backslash = word ^ (ONES * b'\\' as u64);
    let quote = quote.wrapping_sub(ONES) & !quote;
    let backslash = backslash.wrapping_sub(ONES) & !backslash;
    (control | quote | backslash) & HIGHS
}

/// One bit for each byte that is a quote, a backslash or a control character.
#[cfg(target_feature = "simd128")]
#[inline]
fn special_of_16(chunk: &[u8; 16]) -> u16 {
    use core::arch::wasm32::{u8x16_bitmask, u8x16_eq, u8x16_lt, u8x16_splat, u64x2, v128_or};
    let (low, high) = (chunk.first_chunk::<8>(), chunk.last_chunk::<8>());
    let half = |half: Option<&[u8; 8]>| half.map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let bytes = u64x2(half(low), half(high));
    let quotes = v128_or(u8x16_eq(bytes, u8x16_splat(b'"')), u8x16_eq(bytes, u8x16_splat(b'\\')));
    u8x16_bitmask(v128_or(quotes, u8x16_lt(bytes, u8x16_splat(b' '))))
}

#[cfg(test)]
mod tests;
