//! Headers and body of completion reports (spec 1, Authentication 3 and Completion report).
//!
//! A signature holds where a plain recomputation says that it does, and nowhere else.
//!
//! Input: how the headers are made; the length of the timestamp and of the signature; both; the body.

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::secret::Secret;
use intent_gateway_ledger::completion::signature::{Keys, Presented, SignatureError, Signer, VerifyingKey, WINDOW_MS};

const NOW: Timestamp = Timestamp::from_ms(1_779_264_000_123);
/// The first is valid, the second is over, the third not yet valid.
const KEYS: [&str; 3] = ["whsec_current", "whsec_over", "whsec_next"];

/// Verifies one report.
///
/// # Panics
/// Where the verdict is not that of the plain recomputation.
pub(crate) fn run(data: &[u8]) {
    let Some(given) = Given::read(data) else { return };
    let Given { timestamp, signature, body } = &given;
    let presented = Presented { timestamp: timestamp.as_deref(), signature: signature.as_deref() };
    let verified = keys().verify(presented, body, NOW);
    assert_eq!(verified.as_ref().map(|held| held.signed_at.as_ms()).map_err(|error| error.code()), expect(&given));
    if let Err(error @ (SignatureError::Missing(_) | SignatureError::Malformed(_) | SignatureError::Wrong)) = verified {
        assert_eq!(error.public_message(), "The signature is not accepted.", "a stranger learns nothing");
    }
    assert!(Keys::none().verify(presented, body, NOW).is_err(), "without a key nothing holds");
}

struct Given {
    timestamp: Option<Vec<u8>>,
    signature: Option<Vec<u8>>,
    body: Vec<u8>,
}

impl Given {
    fn read(data: &[u8]) -> Option<Self> {
        let [how, timestamp_length, signature_length, rest @ ..] = data else { return None };
        let (timestamp, rest) = rest.split_at_checked(usize::from(*timestamp_length))?;
        let (signature, body) = rest.split_at_checked(usize::from(*signature_length))?;
        // No engine guesses a MAC: one that is right is written in, and edited by what the input says.
        let signature = match how & 7 {
            0 => return Some(Self { timestamp: None, signature: Some(signature.to_vec()), body: body.to_vec() }),
            1 => return Some(Self { timestamp: Some(timestamp.to_vec()), signature: None, body: body.to_vec() }),
            2 => signature.to_vec(),
            signer => {
                let stated = std::str::from_utf8(timestamp).ok().and_then(|digits| digits.parse().ok())?;
                let mut written =
                    Signer::new(&Secret::new(KEYS[usize::from(signer) % 3])).sign(stated, body).into_bytes();
                if how & 8 != 0 {
                    written[7..].make_ascii_uppercase();
                }
                for edit in signature.chunks_exact(2) {
                    let length = written.len();
                    written[usize::from(edit[0]) % length] = edit[1];
                }
                written.extend(signature.chunks_exact(2).remainder());
                written
            }
        };
        Some(Self { timestamp: Some(timestamp.to_vec()), signature: Some(signature), body: body.to_vec() })
    }
}

fn keys() -> Keys {
    let key = |id: &str, from, until| VerifyingKey::new(id, &Secret::new(id), from, until);
    Keys::new([
        key(KEYS[0], Timestamp::EPOCH, None),
        key(KEYS[1], Timestamp::EPOCH, Some(NOW)),
        key(KEYS[2], NOW.plus_ms(1), None),
    ])
}

/// When it was signed, or the code of the refusal, by the words of the specification.
fn expect(given: &Given) -> Result<u64, &'static str> {
    let (Some(timestamp), Some(signature)) = (&given.timestamp, &given.signature) else {
        return Err("SIGNATURE_INVALID");
    };
    let digits = std::str::from_utf8(timestamp).ok().filter(|text| !text.is_empty());
    let digits = digits.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit())).ok_or("SIGNATURE_INVALID")?;
    let key = hmac_sha256(KEYS[0].as_bytes(), &[&timestamp[..], b".", &given.body].concat());
    let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    let is_right = signature.strip_prefix(b"sha256=").is_some_and(|mac| mac.to_ascii_lowercase() == hex.as_bytes());
    if !is_right {
        return Err("SIGNATURE_INVALID");
    }
    let stated: u64 = digits.parse().unwrap_or(u64::MAX);
    if stated.abs_diff(NOW.as_ms()) > WINDOW_MS { Err("TIMESTAMP_OUT_OF_WINDOW") } else { Ok(stated) }
}

/// RFC 2104, over the platform's digest.
fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; 32] {
    let sha256 = |parts: &[&[u8]]| *intent_gateway_domain::digest::Digest::of(&parts.concat()).as_bytes();
    let mut block = [0_u8; 64];
    block[..key.len()].copy_from_slice(key);
    sha256(&[&block.map(|byte| byte ^ 0x5c), &sha256(&[&block.map(|byte| byte ^ 0x36), message])])
}
