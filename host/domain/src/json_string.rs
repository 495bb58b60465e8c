//! Strings of JSON, eight bytes at a time.

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGH_BITS: u64 = u64::from_ne_bytes([0x80; 8]);

/// The high bit of each byte that is a quote, a backslash or a control character. The lowest bit that is set is exact;
/// above it, a borrow of the subtraction may set more.
#[inline]
#[must_use]
pub fn special_bytes(word: u64) -> u64 {
    let zero_bytes = |word: u64| word.wrapping_sub(ONES) & !word & HIGH_BITS;
    let quotes = zero_bytes(word ^ (ONES * u64::from(b'"')));
    let backslashes = zero_bytes(word ^ (ONES * u64::from(b'\\')));
    let controls = word.wrapping_sub(ONES * 0x20) & !word & HIGH_BITS;
    quotes | backslashes | controls
}
