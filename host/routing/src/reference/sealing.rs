//! How claims become the text of a reference, and a text claims again.
//!
//! What is sealed is JSON for bookings, and a shorter form for options: a search seals one for each option that it shows. There,
//! what all options of an answer have in common stands first, so that it is coded and hashed once for all of them.
//!
//! The cipher is XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha): a key of its own for the first sixteen bytes of each nonce, and
//! ChaCha20-Poly1305 (RFC 8439) under that key. The latter is ring's: the cipher of the `chacha20poly1305` crate, which gives the same
//! bytes, takes several times as long for texts as short as these.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20::{R20, hchacha};
use hmac::{Hmac, KeyInit as _, Mac as _};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::{AskerMark, OptionReference, Quote, REFERENCE_MAX_BYTES};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::vault::padded;

/// Nonce of the cipher, bytes.
pub(super) const NONCE_BYTES: usize = 24;
/// First byte of an option's claims in the short form. JSON begins with a brace. Another member needs another number.
const SHORT_FORM: u8 = 1;

/// What one key makes for references of one kind.
pub(super) struct KindKeys {
    pub(super) sealing: [u8; 32],
    /// Gives each reference a nonce of its own, the same for the same reference.
    nonces: Hmac<Sha256>,
    /// Under which references were signed before they were sealed.
    signed: Hmac<Sha256>,
}

/// What the options of one answer have in common, in the short form. The intent stands beside it, in the text, and is bound to it.
#[derive(Serialize, Deserialize)]
struct CommonClaims<'a> {
    partner: &'a str,
    contract: [u8; 32],
    request_id: &'a str,
    receipt: Option<&'a str>,
    asker: Option<AskerMark>,
    result_token: Option<&'a str>,
    /// Milliseconds since the epoch, as the next one.
    expires_at_ms: u64,
    answered_at_ms: Option<u64>,
}

/// What an option has to itself.
#[derive(Serialize, Deserialize)]
struct OwnClaims<'a> {
    option_id: &'a str,
    number: u32,
    #[serde(borrow)]
    quoted: Option<QuoteClaim<'a>>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
enum QuoteClaim<'a> {
    Whole(&'a str),
    TooLong,
}

/// Seals references to the options of one answer.
pub(crate) struct AnswerSealer<'k> {
    keys: &'k KindKeys,
    /// What the text begins with: the kind and the intent.
    head: String,
    intent_at: usize,
    /// The common claims.
    common: Vec<u8>,
    /// The state of the nonce's MAC after them.
    hashed: Hmac<Sha256>,
}

impl<'k> AnswerSealer<'k> {
    /// Of what an option's reference has in common with those of all other options of the answer.
    pub(super) fn new(keys: &'k KindKeys, prefix: &str, option: &OptionReference) -> Self {
        let claims = CommonClaims {
            partner: &option.partner,
            contract: *option.contract.as_bytes(),
            request_id: &option.request_id,
            receipt: option.receipt.as_deref(),
            asker: option.asker,
            result_token: option.result_token.as_deref(),
            expires_at_ms: option.expires_at_ms.as_ms(),
            answered_at_ms: option.answered_at_ms.map(Timestamp::as_ms),
        };
        let common = extend(vec![SHORT_FORM], &claims);
        let hashed = keys.nonces.clone().chain_update(&common);
        Self { keys, head: format!("{prefix}{}.", option.intent), intent_at: prefix.len(), common, hashed }
    }

    /// Seals the reference to one of the options. An option that is quoted and does not fit is left out.
    pub(crate) fn seal(&self, option_id: &str, number: u32, quoted: Option<&Quote>) -> String {
        let quoted = quoted.map(|quote| match quote {
            Quote::Whole(option) => QuoteClaim::Whole(option),
            Quote::TooLong => QuoteClaim::TooLong,
        });
        let start = NONCE_BYTES + self.common.len();
        let mut sealed = Vec::with_capacity(2 * start);
        sealed.extend([0; NONCE_BYTES]);
        sealed.extend(&self.common);
        let sealed = extend(sealed, &OwnClaims { option_id, number, quoted });
        let nonce = self.hashed.clone().chain_update(&sealed[start..]);
        let intent = &self.head[self.intent_at..self.head.len() - 1];
        let text = write(&self.head, self.keys.encrypt(intent, nonce, sealed));
        match quoted {
            Some(QuoteClaim::Whole(_)) if text.len() > REFERENCE_MAX_BYTES => {
                self.seal(option_id, number, Some(&Quote::TooLong))
            }
            _ => text,
        }
    }
}

/// Appends claims in the short form.
fn extend(text: Vec<u8>, claims: &impl Serialize) -> Vec<u8> {
    postcard::to_extend(claims, text).expect("texts and numbers always serialise")
}

fn write(head: &str, sealed: Vec<u8>) -> String {
    // Four characters for every three bytes.
    let mut text = String::with_capacity(head.len() + sealed.len() * 4 / 3 + 4);
    text.push_str(head);
    URL_SAFE_NO_PAD.encode_string(sealed, &mut text);
    text
}

impl KindKeys {
    /// The keyed states are made once; each use copies them.
    pub(super) fn of(kind: &str, key: &Secret) -> Self {
        use sha2::Digest as _;
        let derive = |purpose: &str| -> [u8; 32] {
            let labelled = Sha256::new().chain_update(kind).chain_update(purpose).chain_update(b"\0");
            labelled.chain_update(key.expose()).finalize().into()
        };
        // Derived keys have the fixed length that the MAC takes without failing.
        let keyed = |purpose: &str| Hmac::<Sha256>::new(&padded(derive(purpose)));
        Self { sealing: derive("-sealing"), nonces: keyed("-nonce"), signed: keyed("") }
    }

    /// Seals claims as JSON.
    pub(super) fn seal(&self, prefix: &str, intent: &str, reference: &impl Serialize) -> String {
        let mut sealed = vec![0; NONCE_BYTES];
        serde_json::to_writer(&mut sealed, reference).expect("a struct of strings and numbers always serialises");
        write(&format!("{prefix}{intent}."), self.encrypt_anew(intent, sealed))
    }

    /// Encrypts what stands behind the room for the nonce, of which nothing has been hashed.
    pub(super) fn encrypt_anew(&self, intent: &str, sealed: Vec<u8>) -> Vec<u8> {
        let nonce = self.nonces.clone().chain_update(&sealed[NONCE_BYTES..]);
        self.encrypt(intent, nonce, sealed)
    }

    /// Encrypts what stands behind the room for the nonce. The nonce is a MAC of it: no two references share one, and no random
    /// bytes are needed.
    fn encrypt(&self, intent: &str, nonce: Hmac<Sha256>, mut sealed: Vec<u8>) -> Vec<u8> {
        let nonce = nonce.finalize().into_bytes();
        let nonce: [u8; NONCE_BYTES] = std::array::from_fn(|at| nonce[at]);
        let (room, claims) = sealed.split_at_mut(NONCE_BYTES);
        room.copy_from_slice(&nonce);
        let (key, nonce) = self.cipher(&nonce);
        let tag = key.seal_in_place_separate_tag(nonce, Aad::from(intent), claims);
        sealed.extend(tag.expect("it is far shorter than the cipher's bound").as_ref());
        sealed
    }

    /// The claims that were sealed, if they were under this key.
    pub(super) fn decrypt(&self, intent: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_BYTES>()?;
        let (key, nonce) = self.cipher(nonce);
        let mut claims = sealed.to_vec();
        let length = key.open_in_place(nonce, Aad::from(intent), &mut claims).ok()?.len();
        claims.truncate(length);
        Some(claims)
    }

    /// The key of one nonce, and what is left of the nonce for it.
    fn cipher(&self, nonce: &[u8; NONCE_BYTES]) -> (LessSafeKey, Nonce) {
        let (first, rest): (&[u8; 16], &[u8; 8]) =
            nonce.split_first_chunk().and_then(|(first, rest)| Some((first, rest.first_chunk()?))).expect("24 bytes");
        let key = hchacha::<R20>(&self.sealing.into(), &(*first).into());
        let key = UnboundKey::new(&CHACHA20_POLY1305, &key).expect("a key has 32 bytes");
        let mut short = [0; 12];
        short[4..].copy_from_slice(rest);
        (LessSafeKey::new(key), Nonce::assume_unique_for_key(short))
    }

    /// Opens claims in JSON.
    pub(super) fn open<T: DeserializeOwned>(&self, intent: &str, sealed: &[u8]) -> Option<T> {
        serde_json::from_slice(&self.decrypt(intent, sealed)?).ok()
    }

    /// Opens claims of an option, in the short form or, as they were before, in JSON.
    pub(super) fn open_option(&self, intent: &str, sealed: &[u8]) -> Option<OptionReference> {
        let claims = self.decrypt(intent, sealed)?;
        match claims.split_first()? {
            (&SHORT_FORM, claims) => read_option(intent, claims),
            _ => serde_json::from_slice(&claims).ok(),
        }
    }

    /// Opens what was signed and readable: the claims, and a MAC of their text.
    pub(super) fn open_signed<T: DeserializeOwned>(&self, claims: &str, mac: &[u8]) -> Option<T> {
        self.signed.clone().chain_update(claims).verify_slice(mac).ok()?;
        let claims = URL_SAFE_NO_PAD.decode(claims).ok()?;
        serde_json::from_slice(&claims).ok()
    }
}

fn read_option(intent: &str, claims: &[u8]) -> Option<OptionReference> {
    let (common, own) = postcard::take_from_bytes::<CommonClaims<'_>>(claims).ok()?;
    let (own, rest) = postcard::take_from_bytes::<OwnClaims<'_>>(own).ok()?;
    rest.is_empty().then(|| OptionReference {
        partner: common.partner.to_owned(),
        intent: intent.to_owned(),
        contract: Digest::from_bytes(common.contract),
        request_id: common.request_id.to_owned(),
        option_id: own.option_id.to_owned(),
        number: own.number,
        receipt: common.receipt.map(str::to_owned),
        asker: common.asker,
        result_token: common.result_token.map(str::to_owned),
        expires_at_ms: Timestamp::from_ms(common.expires_at_ms),
        answered_at_ms: common.answered_at_ms.map(Timestamp::from_ms),
        quoted: own.quoted.map(|quote| match quote {
            QuoteClaim::Whole(option) => Quote::Whole(option.to_owned()),
            QuoteClaim::TooLong => Quote::TooLong,
        }),
    })
}
