//! The signature of a completion report: HMAC-SHA256 over `<timestamp>.<raw body>` (spec 1, Authentication 3).
//!
//! What is told of a refusal, and in which order things are looked at:
//!
//! 1. The two headers are there and well-formed, and one key that is valid now has signed timestamp and body. Otherwise
//!    `SIGNATURE_INVALID`, one code and one message for all of it, an unknown partner included ([`Keys::none`]): a
//!    stranger learns neither which partners there are nor how close a guess came.
//! 2. Only then the timestamp is compared with the clock. So `TIMESTAMP_OUT_OF_WINDOW` is told to nobody but the holder
//!    of a key, whose clock is wrong or whose report was held up.
//!
//! Whether a key is valid is judged by the time of receipt, never by the timestamp that the sender claims. A replay
//! within the window is harmless: the same report is booked once.
//!
//! Not here: where keys are kept, and HTTP. A header that is sent twice is for the edge to present as malformed.

use std::fmt;
use std::hint::black_box;
use std::sync::Arc;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::vault::hex;

/// The header with the time of signing: milliseconds since the epoch in decimal digits.
pub const TIMESTAMP_HEADER: &str = "x-platform-timestamp";
/// The header with the signature: `sha256=` and 64 hexadecimal digits in either case.
pub const SIGNATURE_HEADER: &str = "x-platform-signature";
/// How old, or how far ahead, a timestamp may be, milliseconds (spec 1, Limits). Exactly as much is still accepted.
pub const WINDOW_MS: u64 = 5 * 60 * 1_000;
/// Keys of one partner that are looked at; the store keeps no more valid at once.
pub const KEYS_MAX: usize = intent_gateway_domain::signing_keys::VALID_AT_ONCE_MAX;

const SIGNATURE_PREFIX: &str = "sha256=";
const MAC_BYTES: usize = 32;

type Keyed = Hmac<Sha256>;

fn start_mac(key: &Secret) -> Keyed {
    Keyed::new_from_slice(key.expose().as_bytes()).expect("HMAC takes keys of any length")
}

fn add_message(keyed: &Keyed, timestamp: &[u8], body: &[u8]) -> Keyed {
    keyed.clone().chain_update(timestamp).chain_update(b".").chain_update(body)
}

/// Signs reports as a partner does.
#[derive(Clone)]
pub struct Signer(Keyed);

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signer")
    }
}

impl Signer {
    /// With a `webhook_signing_key`, whose text as a whole is the key.
    ///
    /// # Panics
    /// Never: HMAC takes keys of any length.
    #[must_use]
    pub fn new(key: &Secret) -> Self {
        Self(start_mac(key))
    }

    /// The value of [`SIGNATURE_HEADER`] for a body that is sent with this time in [`TIMESTAMP_HEADER`].
    #[must_use]
    pub fn sign(&self, timestamp_ms: u64, body: &[u8]) -> String {
        let mac = add_message(&self.0, timestamp_ms.to_string().as_bytes(), body).finalize().into_bytes();
        format!("{SIGNATURE_PREFIX}{}", hex(&mac))
    }
}

/// One key of a partner, ready for use.
#[derive(Clone)]
pub struct VerifyingKey {
    /// Names the key; not secret.
    pub id: Arc<str>,
    /// Valid from.
    pub not_before: Timestamp,
    /// From then on it is refused; absent for the current one.
    pub not_after: Option<Timestamp>,
    keyed: Keyed,
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, not_before, not_after, keyed: _ } = self;
        write!(f, "VerifyingKey({id}, from {not_before:?}, until {not_after:?})")
    }
}

impl VerifyingKey {
    /// Prepares a key: its padding is hashed once, here.
    ///
    /// # Panics
    /// Never: HMAC takes keys of any length.
    #[must_use]
    pub fn new(id: &str, key: &Secret, not_before: Timestamp, not_after: Option<Timestamp>) -> Self {
        Self { id: id.into(), not_before, not_after, keyed: start_mac(key) }
    }

    fn is_valid(&self, now: Timestamp) -> bool {
        self.not_before <= now && self.not_after.is_none_or(|until| now < until)
    }
}

/// All keys of one partner.
#[derive(Clone, Debug)]
pub struct Keys {
    keys: Arc<[VerifyingKey]>,
    /// What is worked with where no key is valid, so that this takes the time of a wrong signature.
    decoy: VerifyingKey,
}

/// The two headers as they came; `None` where one is missing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Presented<'a> {
    /// Value of [`TIMESTAMP_HEADER`].
    pub timestamp: Option<&'a [u8]>,
    /// Value of [`SIGNATURE_HEADER`].
    pub signature: Option<&'a [u8]>,
}

/// A signature that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedSignature {
    /// The key that signed.
    pub key: Arc<str>,
    /// When it says that it signed; within the window.
    pub signed_at: Timestamp,
}

/// Why a signature does not hold. For the log; callers get [`Self::code`] and [`Self::public_message`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// A header is missing.
    #[error("the header {0} is missing")]
    Missing(&'static str),
    /// A header is not written as it must be.
    #[error("the header {0} is malformed")]
    Malformed(&'static str),
    /// No key that is valid now has signed this; or the partner is unknown.
    #[error("no valid key has signed this")]
    Wrong,
    /// The signature is right, and too old or too far ahead.
    #[error("signed at {}, received at {}: more than {WINDOW_MS} ms apart", signed_at.as_ms(), now.as_ms())]
    OutOfWindow {
        /// When it says that it was signed.
        signed_at: Timestamp,
        /// When it came.
        now: Timestamp,
    },
}

impl SignatureError {
    /// The stable code. The HTTP status is 401 for both.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Missing(_) | Self::Malformed(_) | Self::Wrong => "SIGNATURE_INVALID",
            Self::OutOfWindow { .. } => "TIMESTAMP_OUT_OF_WINDOW",
        }
    }

    /// Whether nobody who has a key is known to have signed it.
    #[must_use]
    pub fn is_unsigned(self) -> bool {
        !matches!(self, Self::OutOfWindow { .. })
    }

    /// What a caller is told: the same for all that may come from somebody without the key. Whose signature is right but for
    /// its time learns the usual cause of that, too.
    #[must_use]
    pub fn public_message(self) -> &'static str {
        match self {
            Self::Missing(_) | Self::Malformed(_) | Self::Wrong => "The signature is not accepted.",
            Self::OutOfWindow { signed_at, now } if is_in_seconds(signed_at, now) => {
                "The timestamp is in seconds; it must be in milliseconds."
            }
            Self::OutOfWindow { .. } => "The timestamp is more than five minutes away from the platform's clock.",
        }
    }
}

/// Whether a time would be near the other one, had it been meant in seconds.
fn is_in_seconds(signed_at: Timestamp, now: Timestamp) -> bool {
    signed_at.as_ms().saturating_mul(1_000).abs_diff(now.as_ms()) <= WINDOW_MS
}

impl Keys {
    /// The keys of a partner, of which the first [`KEYS_MAX`] are used.
    ///
    /// # Panics
    /// Never: HMAC takes keys of any length.
    #[must_use]
    pub fn new(keys: impl IntoIterator<Item = VerifyingKey>) -> Self {
        let decoy = VerifyingKey::new("none", &Secret::new("no key"), Timestamp::EPOCH, Some(Timestamp::EPOCH));
        Self { keys: keys.into_iter().take(KEYS_MAX).collect(), decoy }
    }

    /// No key at all: for a partner that is unknown, or has saved no webhook. Refuses everything, as slowly as others do.
    ///
    /// # Panics
    /// Never: HMAC takes keys of any length.
    #[must_use]
    pub fn none() -> Self {
        Self::new([])
    }

    /// Verifies a report's signature, received `now`, over its body as it came.
    ///
    /// # Errors
    /// [`SignatureError`], in the order told at the head of this module.
    pub fn verify(
        &self,
        presented: Presented<'_>,
        body: &[u8],
        now: Timestamp,
    ) -> Result<VerifiedSignature, SignatureError> {
        let timestamp = presented.timestamp.ok_or(SignatureError::Missing(TIMESTAMP_HEADER))?;
        let signature = presented.signature.ok_or(SignatureError::Missing(SIGNATURE_HEADER))?;
        let signed_at = read_timestamp(timestamp).ok_or(SignatureError::Malformed(TIMESTAMP_HEADER))?;
        let mac = read_signature(signature).ok_or(SignatureError::Malformed(SIGNATURE_HEADER))?;
        // `verify_slice` compares in constant time.
        let holds = |key: &VerifyingKey| add_message(&key.keyed, timestamp, body).verify_slice(&mac).is_ok();
        let mut valid = self.keys.iter().filter(|key| key.is_valid(now)).peekable();
        if valid.peek().is_none() {
            black_box(holds(&self.decoy));
        }
        let key = valid.find(|key| holds(key)).ok_or(SignatureError::Wrong)?;
        if signed_at.ms_apart(now) > WINDOW_MS {
            return Err(SignatureError::OutOfWindow { signed_at, now });
        }
        Ok(VerifiedSignature { key: Arc::clone(&key.id), signed_at })
    }
}

/// Reads the value of [`TIMESTAMP_HEADER`]: decimal digits, however many. What is beyond all clocks reads as
/// [`Timestamp::MAX`]. `None` for anything else.
#[must_use]
pub fn read_timestamp(value: &[u8]) -> Option<Timestamp> {
    let is_decimal = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let digits = std::str::from_utf8(value).ok().filter(|_| is_decimal)?;
    // Of digits alone, only too many are refused.
    Some(digits.parse().map_or(Timestamp::MAX, Timestamp::from_ms))
}

fn read_signature(value: &[u8]) -> Option<[u8; MAC_BYTES]> {
    let digits = value.strip_prefix(SIGNATURE_PREFIX.as_bytes())?;
    if digits.len() != 2 * MAC_BYTES {
        return None;
    }
    let nibble = |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
    let mut mac = [0; MAC_BYTES];
    for (byte, pair) in mac.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
    }
    Some(mac)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Key, timestamp, body, signature: made with Python's `hmac` and checked with `openssl dgst -hmac`. The same are
    /// published in docs/completion-reports.md.
    const VECTORS: [(&str, u64, &str, &str); 4] = [
        (
            "whsec_0000000000000000000000000000000000000000000000000000000000000000",
            1_767_225_600_000,
            r#"{"intent":"auto.book_ac_service","external_id":"BK-1001"}"#,
            "sha256=d4c173b37f33f304e84872849e10e923ecc36294df2e9fc92ddd6e2e73a2f217",
        ),
        (
            "whsec_3f9a5c1e8b7d2046a1c3e5f7092b4d6f8193a5b7c9dbedf00112233445566778",
            1_779_264_000_123,
            r#"{"external_id":"POL/2026/000042","notes":"नमस्ते ₹ 1,500"}"#,
            "sha256=118746c0ca421fc8f6b1932996c35ff43cdacf46ffcd315b62fc49efa266ef61",
        ),
        (
            "whsec_3f9a5c1e8b7d2046a1c3e5f7092b4d6f8193a5b7c9dbedf00112233445566778",
            1_779_264_000_123,
            "{ \"external_id\" : \"POL/2026/000042\" }\r\n",
            "sha256=d179fb0b7d160a1b727faa4c73c85a38110cdd28dad84a6708554933dabfc099",
        ),
        ("Jefe", 1_767_225_600_000, "", "sha256=6838a60e1f39c990efe4405372fe2cfc7f0b3efda29445ced7a64ee0b9fc0b63"),
    ];

    const NOW: Timestamp = Timestamp::from_ms(NOW_MS);
    const NOW_MS: u64 = 1_779_264_000_123;

    fn key(id: &str, not_before: Timestamp, not_after: Option<Timestamp>) -> VerifyingKey {
        VerifyingKey::new(id, &Secret::new(format!("whsec_{id}")), not_before, not_after)
    }

    fn signer(id: &str) -> Signer {
        Signer::new(&Secret::new(format!("whsec_{id}")))
    }

    fn verify(keys: &Keys, timestamp: &str, signature: &str, body: &[u8]) -> Result<VerifiedSignature, SignatureError> {
        let (timestamp, signature) = (Some(timestamp.as_bytes()), Some(signature.as_bytes()));
        keys.verify(Presented { timestamp, signature }, body, NOW)
    }

    #[test]
    fn published_vectors() {
        let page = include_str!("../../../../docs/completion-reports.md");
        for (secret, timestamp_ms, body, signature) in VECTORS {
            let secret = Secret::new(secret);
            assert_eq!(Signer::new(&secret).sign(timestamp_ms, body.as_bytes()), signature);
            let keys = Keys::new([VerifyingKey::new("k", &secret, Timestamp::EPOCH, None)]);
            for signature in [signature.to_owned(), signature.to_uppercase().replace("SHA256", "sha256")] {
                let timestamp = timestamp_ms.to_string();
                let presented =
                    Presented { timestamp: Some(timestamp.as_bytes()), signature: Some(signature.as_bytes()) };
                assert!(
                    keys.verify(presented, body.as_bytes(), Timestamp::from_ms(timestamp_ms)).is_ok(),
                    "{signature}"
                );
            }
            let (key, body) = (secret.expose(), body.trim_end());
            for published in [key, &timestamp_ms.to_string(), body, signature] {
                assert!(page.contains(published), "{published}");
            }
        }
    }

    #[test]
    fn each_valid_key_of_a_rotation_signs() {
        let keys = Keys::new([
            key("current", NOW.minus_ms(10), None),
            key("previous", Timestamp::EPOCH, Some(NOW.plus_ms(1))),
            key("over", Timestamp::EPOCH, Some(NOW)),
            key("next", NOW.plus_ms(1), None),
        ]);
        let by = |id: &str| verify(&keys, &NOW_MS.to_string(), &signer(id).sign(NOW_MS, b"{}"), b"{}");
        for id in ["current", "previous"] {
            assert_eq!(by(id), Ok(VerifiedSignature { key: id.into(), signed_at: NOW }));
        }
        for id in ["over", "next", "foreign"] {
            assert_eq!(by(id), Err(SignatureError::Wrong), "{id}");
        }
        let signature = signer("current").sign(NOW_MS, b"{}");
        assert_eq!(verify(&Keys::none(), &NOW_MS.to_string(), &signature, b"{}"), Err(SignatureError::Wrong));
        // Not even what the decoy would sign.
        let decoy = Signer::new(&Secret::new("no key")).sign(NOW_MS, b"{}");
        assert_eq!(verify(&Keys::none(), &NOW_MS.to_string(), &decoy, b"{}"), Err(SignatureError::Wrong));
    }

    #[test]
    fn five_minutes_either_way() {
        let keys = Keys::new([key("k", Timestamp::EPOCH, None)]);
        let at = |ms: u64| verify(&keys, &ms.to_string(), &signer("k").sign(ms, b"{}"), b"{}");
        for near in [NOW_MS - WINDOW_MS, NOW_MS - 1, NOW_MS, NOW_MS + WINDOW_MS] {
            assert_eq!(at(near).map(|verified| verified.signed_at.as_ms()), Ok(near));
        }
        for far in [0, NOW_MS - WINDOW_MS - 1, NOW_MS + WINDOW_MS + 1, 999_999_999_999_999] {
            let refused = at(far);
            assert_eq!(refused, Err(SignatureError::OutOfWindow { signed_at: Timestamp::from_ms(far), now: NOW }));
            assert_eq!(refused.map_err(SignatureError::code), Err("TIMESTAMP_OUT_OF_WINDOW"));
        }
        let told = |ms: u64| at(ms).expect_err("out of the window").public_message();
        assert!(told(NOW_MS / 1_000).contains("in seconds"));
        assert!(!told(NOW_MS - WINDOW_MS - 1).contains("in seconds"));
        // That it is stale is not told to who cannot sign.
        let stale = (NOW_MS - WINDOW_MS - 1).to_string();
        let foreign = signer("foreign").sign(NOW_MS - WINDOW_MS - 1, b"{}");
        assert_eq!(verify(&keys, &stale, &foreign, b"{}"), Err(SignatureError::Wrong));
    }

    #[test]
    fn a_decimal_integer_is_a_time_however_it_is_written() {
        let keys = Keys::new([key("k", Timestamp::EPOCH, None)]);
        let judge = |timestamp: &str| {
            let mac = add_message(&start_mac(&Secret::new("whsec_k")), timestamp.as_bytes(), b"{}").finalize();
            let signature = format!("{SIGNATURE_PREFIX}{}", hex(&mac.into_bytes()));
            verify(&keys, timestamp, &signature, b"{}").map(|verified| verified.signed_at)
        };
        assert_eq!(judge("00001779264000123"), Ok(NOW));
        let long = "9".repeat(400);
        for (text, signed_at) in [
            ("0", Timestamp::EPOCH),
            ("1779264000", Timestamp::from_ms(1_779_264_000)),
            ("17792640001230000", Timestamp::from_ms(17_792_640_001_230_000)),
            (&long, Timestamp::MAX),
        ] {
            assert_eq!(judge(text), Err(SignatureError::OutOfWindow { signed_at, now: NOW }), "{text}");
        }
    }

    #[test]
    fn headers_are_strict_and_told_alike() {
        let keys = Keys::new([key("k", Timestamp::EPOCH, None)]);
        let (now, right) = (NOW_MS.to_string(), signer("k").sign(NOW_MS, b"{}"));
        let mut refusals = Vec::new();
        for timestamp in ["", " 1", "+1", "-1", "1.0", "0x1", "1779264000123 ", "1e3", "٣"] {
            let refused = verify(&keys, timestamp, &right, b"{}").expect_err(timestamp);
            assert_eq!(refused, SignatureError::Malformed(TIMESTAMP_HEADER), "{timestamp}");
            refusals.push(refused);
        }
        let digits = &right["sha256=".len()..];
        let long = format!("sha256={digits}0");
        let wrong_form = ["", digits, "sha256=", &format!("SHA256={digits}"), &format!("sha1={digits}"), &long];
        let not_hex = right.replace('a', "g");
        for signature in wrong_form.into_iter().chain([&right[..right.len() - 1], &not_hex]) {
            let refused = verify(&keys, &now, signature, b"{}").expect_err(signature);
            assert_eq!(refused, SignatureError::Malformed(SIGNATURE_HEADER), "{signature}");
            refusals.push(refused);
        }
        let missing = |timestamp, signature| keys.verify(Presented { timestamp, signature }, b"{}", NOW);
        refusals.push(missing(None, Some(right.as_bytes())).expect_err("no timestamp"));
        refusals.push(missing(Some(now.as_bytes()), None).expect_err("no signature"));
        refusals.push(missing(None, None).expect_err("nothing"));
        refusals.push(verify(&Keys::none(), &now, &right, b"{}").expect_err("unknown"));
        for refused in refusals {
            assert_eq!(
                (refused.code(), refused.public_message()),
                ("SIGNATURE_INVALID", "The signature is not accepted.")
            );
        }
    }

    #[test]
    fn keys_are_not_printed() {
        let keys = Keys::new([key("k", Timestamp::EPOCH, None)]);
        assert!(!format!("{keys:?} {:?}", signer("k")).contains("whsec"));
    }

    proptest! {
        #[test]
        fn any_change_is_refused(body: Vec<u8>, at: prop::sample::Index, flip in 1..=255_u8) {
            let keys = Keys::new([key("k", Timestamp::EPOCH, None)]);
            let signature = signer("k").sign(NOW_MS, &body);
            prop_assert!(verify(&keys, &NOW_MS.to_string(), &signature, &body).is_ok());
            prop_assert_eq!(
                verify(&keys, &(NOW_MS + 1).to_string(), &signature, &body),
                Err(SignatureError::Wrong)
            );
            let mut changed = body.clone();
            if changed.is_empty() { changed.push(flip) } else { let at = at.index(changed.len()); changed[at] ^= flip }
            prop_assert_eq!(verify(&keys, &NOW_MS.to_string(), &signature, &changed), Err(SignatureError::Wrong));
        }
    }
}
