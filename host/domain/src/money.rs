//! Money in integer paise, and the rate of the commission. No float ever holds an amount.
//!
//! Not here: what is charged on what (that is `ledger`), and amounts in manifests, which are only
//! compared and stay JSON numbers.

use std::cmp::Ordering;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Number;
use serde_json::value::RawValue;

/// Paise of a rupee.
const PAISE_PER_INR: u128 = 100;
/// Decimals of an amount in INR.
const DECIMALS: i64 = 2;

/// The largest amount of an order that the ledger takes, whatever a contract states: 10^12 INR.
pub const AMOUNT_MAX: Paise = Paise::new(1_000_000_000_000 * 100);

/// An amount in paise (1/100 INR). Kept as an integer; shown in INR with two decimals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Paise(i64);

/// A text is not an amount in INR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAmount {
    /// It is not written as JSON writes a number.
    #[error("an amount is a JSON number")]
    NotANumber,
    /// It has a part of a paisa.
    #[error("an amount has at most two decimals")]
    TooFine,
    /// It does not fit.
    #[error("the amount is too large")]
    TooLarge,
}

impl Paise {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// So many paise.
    #[must_use]
    pub const fn new(paise: i64) -> Self {
        Self(paise)
    }

    /// The number of paise.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }

    /// The sum, unless it does not fit.
    #[must_use]
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(sum) => Some(Self(sum)),
            None => None,
        }
    }

    /// The difference, unless it does not fit.
    #[must_use]
    pub const fn checked_sub(self, other: Self) -> Option<Self> {
        match self.0.checked_sub(other.0) {
            Some(difference) => Some(Self(difference)),
            None => None,
        }
    }

    /// The same amount the other way, unless it does not fit.
    #[must_use]
    pub const fn checked_neg(self) -> Option<Self> {
        match self.0.checked_neg() {
            Some(negated) => Some(Self(negated)),
            None => None,
        }
    }

    /// Reads an amount in INR as JSON writes a number, exactly: `12.5`, `12.50` and `125e-1` are 1250 paise.
    ///
    /// # Errors
    /// [`InvalidAmount`]; decimals beyond the second are refused unless they are zeros.
    pub fn from_inr(number: &str) -> Result<Self, InvalidAmount> {
        i64::try_from(read_paise(number)?).map(Self).map_err(|_| InvalidAmount::TooLarge)
    }

    /// Serialises the amount as a JSON number in INR with two decimals.
    ///
    /// # Errors
    /// As the serialiser has it.
    pub fn serialize_inr<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        to_inr_json(self).serialize(serializer)
    }
}

/// A sum of amounts, paise. With 128 bits it fits whatever the ledger holds: 2^64 entries of any amount that there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Total(i128);

impl Total {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// The number of paise.
    #[must_use]
    pub const fn get(self) -> i128 {
        self.0
    }
}

impl From<Paise> for Total {
    fn from(amount: Paise) -> Self {
        Self(amount.0.into())
    }
}

impl Add for Total {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Neg for Total {
    type Output = Self;

    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl<A: Into<Self>> AddAssign<A> for Total {
    fn add_assign(&mut self, more: A) {
        *self = *self + more.into();
    }
}

impl Sum for Total {
    fn sum<I: Iterator<Item = Self>>(totals: I) -> Self {
        totals.fold(Self::ZERO, Self::add)
    }
}

/// What is written and read in INR.
pub trait InInr: fmt::Display + Sized {
    /// Reads it as JSON writes a number, exactly.
    ///
    /// # Errors
    /// [`InvalidAmount`], as [`Paise::from_inr`] has it.
    fn from_inr(number: &str) -> Result<Self, InvalidAmount>;
}

impl InInr for Paise {
    fn from_inr(number: &str) -> Result<Self, InvalidAmount> {
        Self::from_inr(number)
    }
}

impl InInr for Total {
    fn from_inr(number: &str) -> Result<Self, InvalidAmount> {
        read_paise(number).map(Self)
    }
}

/// The paise of an amount in INR.
fn read_paise(number: &str) -> Result<i128, InvalidAmount> {
    let decimal = Decimal::read(number).ok_or(InvalidAmount::NotANumber)?;
    if decimal.is_zero() {
        return Ok(0);
    }
    // The value is digits × 10^zeros paise; the last of the digits is not a zero.
    let zeros = decimal.exponent().saturating_add(DECIMALS);
    if zeros < 0 {
        return Err(InvalidAmount::TooFine);
    }
    let mut paise = 0_i128;
    let trailing = std::iter::repeat_n(0, usize::try_from(zeros).unwrap_or(usize::MAX));
    // Ends at the first digit that does not fit, so after forty steps at most.
    for digit in decimal.digits().chain(trailing) {
        let next = paise.checked_mul(10);
        let digit = i128::from(if decimal.negative { -digit } else { digit });
        paise = next.and_then(|next| next.checked_add(digit)).ok_or(InvalidAmount::TooLarge)?;
    }
    Ok(paise)
}

/// A JSON number in INR with two decimals, for answers whose fields are named `…_inr`.
fn to_inr_json(amount: &impl InInr) -> Box<RawValue> {
    RawValue::from_string(amount.to_string()).expect("digits, a point and digits are a JSON number")
}

/// For members named `…_inr` (`#[serde(with = "inr")]`): a JSON number in INR, exactly.
pub mod inr {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Serialize as _};

    use super::{Deserializer, InInr, RawValue, Serializer, to_inr_json};

    /// # Errors
    /// As the serialiser has it.
    pub fn serialize<A: InInr, S: Serializer>(amount: &A, serializer: S) -> Result<S::Ok, S::Error> {
        to_inr_json(amount).serialize(serializer)
    }

    /// # Errors
    /// Where the number is not an amount.
    pub fn deserialize<'de, A: InInr, D: Deserializer<'de>>(deserializer: D) -> Result<A, D::Error> {
        let number = Box::<RawValue>::deserialize(deserializer)?;
        A::from_inr(number.get()).map_err(D::Error::custom)
    }

    /// The same for an amount that may be null.
    pub mod option {
        use serde::de::Error as _;
        use serde::{Deserialize as _, Serialize as _};

        use super::{Deserializer, InInr, RawValue, Serializer, to_inr_json};

        /// # Errors
        /// As the serialiser has it.
        pub fn serialize<A: InInr, S: Serializer>(amount: &Option<A>, serializer: S) -> Result<S::Ok, S::Error> {
            amount.as_ref().map(to_inr_json).serialize(serializer)
        }

        /// # Errors
        /// Where the number is not an amount.
        pub fn deserialize<'de, A: InInr, D: Deserializer<'de>>(deserializer: D) -> Result<Option<A>, D::Error> {
            let number = Option::<Box<RawValue>>::deserialize(deserializer)?;
            number.map(|number| A::from_inr(number.get()).map_err(D::Error::custom)).transpose()
        }
    }
}

/// Orders two amounts of the same unit that stay JSON numbers, by their value: exactly where both are integers, as floats
/// otherwise. Numbers that are written differently and are the same are equal.
#[must_use]
pub fn compare_amounts(left: &Number, right: &Number) -> Ordering {
    if let (Some(left), Some(right)) = (left.as_i128(), right.as_i128()) {
        return left.cmp(&right);
    }
    // JSON has neither NaN nor infinities, and -0 equals 0.
    left.as_f64().partial_cmp(&right.as_f64()).unwrap_or(Ordering::Equal)
}

/// In INR with two decimals, for example `-1234.05`.
impl fmt::Display for Paise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Total::from(*self).fmt(f)
    }
}

/// In INR with two decimals, for example `-1234.05`.
impl fmt::Display for Total {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let paise = self.0.unsigned_abs();
        write!(f, "{sign}{}.{:02}", paise / PAISE_PER_INR, paise % PAISE_PER_INR)
    }
}

/// A sum, `None` where it does not fit.
impl Sum<Paise> for Option<Paise> {
    fn sum<I: Iterator<Item = Paise>>(mut amounts: I) -> Self {
        amounts.try_fold(Paise::ZERO, Paise::checked_add)
    }
}

/// The parts of a JSON number as they are written, without any rounding.
#[derive(Clone, Copy, Debug)]
pub struct Decimal<'a> {
    /// Whether it is below zero, or a zero written so.
    pub negative: bool,
    whole: &'a str,
    fraction: &'a str,
    exponent: i64,
}

impl<'a> Decimal<'a> {
    /// Takes a number apart; `None` when it is not written as JSON writes one (RFC 8259, 6).
    pub fn read(number: &'a str) -> Option<Self> {
        let (negative, unsigned) = number.strip_prefix('-').map_or((false, number), |rest| (true, rest));
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (unsigned, None),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((whole, fraction)) if is_digits(fraction) => (whole, fraction),
            Some(_) => return None,
            None => (mantissa, ""),
        };
        if !is_digits(whole) || (whole.len() > 1 && whole.starts_with('0')) {
            return None;
        }
        let exponent = exponent.map_or(Some(0), read_exponent)?;
        Some(Self { negative, whole, fraction, exponent })
    }

    /// Whether it is 0, however written.
    pub fn is_zero(&self) -> bool {
        self.digits().next().is_none()
    }

    /// The digits from the first that is not zero to the last that is not; none for 0.
    pub fn digits(&self) -> impl Iterator<Item = i64> {
        let (whole, fraction) = match self.fraction.trim_end_matches('0') {
            "" => (self.whole.trim_end_matches('0'), ""),
            fraction => (self.whole, fraction),
        };
        whole.bytes().chain(fraction.bytes()).map(|digit| i64::from(digit - b'0')).skip_while(|digit| *digit == 0)
    }

    /// The power of ten that the digits, read as a whole number, are multiplied by. Beyond 64 bits it is cut.
    pub fn exponent(&self) -> i64 {
        let length = |text: &str| i64::try_from(text.len()).unwrap_or(i64::MAX);
        let fraction = self.fraction.trim_end_matches('0');
        if fraction.is_empty() {
            let zeros = self.whole.len() - self.whole.trim_end_matches('0').len();
            return self.exponent.saturating_add(i64::try_from(zeros).unwrap_or(i64::MAX));
        }
        self.exponent.saturating_sub(length(fraction))
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// An exponent with its sign. One beyond 64 bits is cut: no amount has one, and no two that matter are confused.
fn read_exponent(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if !is_digits(digits) {
        return None;
    }
    let size = digits.parse::<i64>().unwrap_or(i64::MAX);
    Some(if negative { -size } else { size })
}

/// Basis points of a whole.
const BASIS_POINTS: i128 = 10_000;

/// A rate of commission in basis points (1/100 of a per cent), from none to the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u16", into = "u16")]
pub struct Rate(u16);

/// More than the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a rate is at most 10000 basis points (100 %), found {0}")]
pub struct InvalidRate(pub u16);

impl Rate {
    /// What the onboarding guide states: 10 % (spec 1, Commission). A listing agreement may say otherwise.
    pub const DEFAULT: Self = Self(1_000);

    /// So many basis points.
    ///
    /// # Errors
    /// [`InvalidRate`] above 10 000.
    pub const fn from_basis_points(basis_points: u16) -> Result<Self, InvalidRate> {
        if basis_points as i128 > BASIS_POINTS { Err(InvalidRate(basis_points)) } else { Ok(Self(basis_points)) }
    }

    #[must_use]
    pub const fn basis_points(self) -> u16 {
        self.0
    }

    /// The commission on an amount, rounded half up to the paisa: of 5 paise at 10 %, 1; of 4, none.
    ///
    /// # Panics
    /// Never: a commission is no larger than its amount.
    #[must_use]
    pub fn commission(self, amount: Paise) -> Paise {
        // Half a divisor on top, then down to the integer below: halves go up.
        let scaled = i128::from(amount.0) * i128::from(self.0) + BASIS_POINTS / 2;
        Paise(i64::try_from(scaled.div_euclid(BASIS_POINTS)).expect("a rate is at most the whole"))
    }
}

impl Default for Rate {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl TryFrom<u16> for Rate {
    type Error = InvalidRate;

    fn try_from(basis_points: u16) -> Result<Self, InvalidRate> {
        Self::from_basis_points(basis_points)
    }
}

impl From<Rate> for u16 {
    fn from(rate: Rate) -> Self {
        rate.0
    }
}

/// In per cent, for example `10 %` or `7.25 %`.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, hundredths) = (self.0 / 100, self.0 % 100);
        match (hundredths, hundredths % 10) {
            (0, _) => write!(f, "{whole} %"),
            (_, 0) => write!(f, "{whole}.{} %", hundredths / 10),
            _ => write!(f, "{whole}.{hundredths:02} %"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_inr_exactly() {
        let cases = [
            ("0", 0),
            ("-0.00e5", 0),
            ("0e999999999999999999999", 0),
            ("1", 100),
            ("12.5", 1_250),
            ("12.50000", 1_250),
            ("1.25e1", 1_250),
            ("1250E-2", 1_250),
            ("12500e-3", 1_250),
            ("0.01", 1),
            ("0.1e+1", 100),
            ("100", 10_000),
            ("-19.99", -1_999),
            ("90071992547409.93", 9_007_199_254_740_993),
            ("92233720368547758.07", i64::MAX),
            ("-92233720368547758.08", i64::MIN),
        ];
        for (text, paise) in cases {
            assert_eq!(Paise::from_inr(text), Ok(Paise(paise)), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_amount() {
        for text in ["", "-", "+1", "01", "1.", ".5", "1e", "1e+", "1e1.0", "0x1", "1_0", " 1", "1 ", "NaN", "١", "--1"]
        {
            assert_eq!(Paise::from_inr(text), Err(InvalidAmount::NotANumber), "{text}");
        }
        for text in ["0.001", "12.345", "1e-3", "1e-99999999999999999999", "100.0000000000000000000000001"] {
            assert_eq!(Paise::from_inr(text), Err(InvalidAmount::TooFine), "{text}");
        }
        for text in ["92233720368547758.08", "-92233720368547758.09", "1e17", "1e99999999999999999999"] {
            assert_eq!(Paise::from_inr(text), Err(InvalidAmount::TooLarge), "{text}");
        }
        let long = format!("1{}", "0".repeat(100_000));
        assert_eq!(Paise::from_inr(&long), Err(InvalidAmount::TooLarge));
        assert_eq!(Paise::from_inr(&format!("{long}e-100000")), Ok(Paise(100)));
    }

    #[test]
    fn is_an_integer_when_kept_and_inr_when_shown() {
        assert_eq!(serde_json::to_string(&Paise(-1_999)).ok().as_deref(), Some("-1999"));
        assert_eq!(serde_json::from_str::<Paise>("1999").ok(), Some(Paise(1_999)));
        assert!(serde_json::from_str::<Paise>("19.99").is_err());
        assert_eq!(to_inr_json(&Paise(5)).get(), "0.05");
        assert_eq!([Paise(-5), Paise(123_456)].map(|paise| paise.to_string()), ["-0.05", "1234.56"]);
        assert_eq!(Paise(i64::MIN).to_string(), "-92233720368547758.08");
    }

    #[test]
    fn arithmetic_does_not_wrap() {
        let largest = Paise(i64::MAX);
        assert_eq!(largest.checked_add(Paise(1)), None);
        assert_eq!(Paise(i64::MIN).checked_sub(Paise(1)), None);
        assert_eq!(Paise(i64::MIN).checked_neg(), None);
        assert_eq!([largest, Paise(1), Paise(-1)].into_iter().sum::<Option<Paise>>(), None);
        assert_eq!([largest, Paise(-1), Paise(1)].into_iter().sum::<Option<Paise>>(), Some(largest));
    }

    #[test]
    fn a_total_takes_what_an_amount_cannot() {
        let mut total = Total::ZERO;
        for _ in 0..3 {
            total += Paise(i64::MAX);
        }
        assert_eq!(total.to_string(), "276701161105643274.21");
        let read: Total = inr::deserialize(&*to_inr_json(&total)).expect("it reads what it writes");
        assert_eq!((read, [read, Total(-1)].into_iter().sum::<Total>().get()), (total, total.get() - 1));
        assert_eq!(Total::from_inr(&"9".repeat(40)), Err(InvalidAmount::TooLarge));
    }

    #[test]
    fn halves_go_up() {
        let of = |paise| Rate::DEFAULT.commission(Paise(paise)).get();
        assert_eq!([0, 4, 5, 14, 15, 149_950, i64::MAX].map(of), [0, 0, 1, 1, 2, 14_995, 922_337_203_685_477_581]);
        // Half up, not away from zero.
        assert_eq!([-4, -5, -6, -15].map(of), [0, 0, -1, -1]);
    }

    #[test]
    fn rates() {
        assert_eq!(Rate::from_basis_points(10_001), Err(InvalidRate(10_001)));
        let shown = [0, 5, 725, 750, 1_000, 10_000].map(|points| Rate(points).to_string());
        assert_eq!(shown, ["0 %", "0.05 %", "7.25 %", "7.5 %", "10 %", "100 %"]);
        assert_eq!(serde_json::from_str::<Rate>("1250").ok(), Some(Rate(1_250)));
        assert!(serde_json::from_str::<Rate>("10001").is_err());
    }

    proptest! {
        #[test]
        fn reads_what_it_writes(paise: i64, zeros in 0..5_usize, shift in -30..30_i64) {
            let text = Paise(paise).to_string();
            prop_assert_eq!(Paise::from_inr(&text), Ok(Paise(paise)));
            prop_assert_eq!(Paise::from_inr(&(text + &"0".repeat(zeros))), Ok(Paise(paise)));
            // The digits alone, with the point moved about by the exponent.
            let digits = if shift < 0 { format!("{paise}e-2") } else {
                format!("{paise}{}e-{}", "0".repeat(usize::try_from(shift).unwrap_or(0)), shift + 2)
            };
            prop_assert_eq!(Paise::from_inr(&digits), Ok(Paise(paise)));
        }

        #[test]
        fn the_commission_is_the_nearest_paisa(paise: i64, points in 0..=10_000_u16) {
            let commission = i128::from(Rate(points).commission(Paise(paise)).get());
            // commission - 1/2 <= exact < commission + 1/2, in twice ten-thousandths so that no fraction is left.
            let exact = 2 * i128::from(paise) * i128::from(points);
            prop_assert!((2 * commission - 1) * BASIS_POINTS <= exact && exact < (2 * commission + 1) * BASIS_POINTS);
            prop_assert!(paise < 0 || (0..=i128::from(paise)).contains(&commission));
        }

        #[test]
        fn any_text_is_an_amount_or_an_error(text in "[-+0-9.eE]{0,12}") {
            let is_json = serde_json::from_str::<Box<RawValue>>(&text).is_ok();
            prop_assert_eq!(Paise::from_inr(&text) != Err(InvalidAmount::NotANumber), is_json, "{}", text);
        }
    }
}
