//! What is kept under the master key: sealed secrets that are needed again (webhook signing keys, users' tokens, mail
//! that carries a code), and marks of those that only have to be recognised (six-digit codes, `client_secret`). The keys of
//! [chains](crate::chain) are derived of it, too.
//!
//! A sealed text is bound to a context, for example the account and field that it belongs to: moved elsewhere in the
//! store it does not open.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::chain::ChainKeys;
use crate::secret::Secret;

/// Random bytes, a port: tests bring their own.
pub trait Entropy: Send + Sync {
    /// Fills a buffer with bytes that nobody can predict.
    ///
    /// # Errors
    /// [`NoEntropy`] when the machine gives none; nothing may be issued then.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoEntropy>;
}

/// The machine gives no random bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the machine gives no random bytes")]
pub struct NoEntropy;

/// So many random bytes.
///
/// # Errors
/// [`NoEntropy`] when the machine gives none.
pub fn random<const N: usize>(entropy: &dyn Entropy) -> Result<[u8; N], NoEntropy> {
    let mut bytes = [0; N];
    entropy.fill(&mut bytes)?;
    Ok(bytes)
}

/// Bytes as lower-case hexadecimal text.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    // Not by `format!`: dozens of digests are written for a booking.
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(DIGITS[usize::from(byte >> 4)]);
        text.push(DIGITS[usize::from(byte & 0xf)]);
    }
    text
}

/// A secret under the master key: its key's identifier, nonce and ciphertext as text.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sealed(String);

impl Sealed {
    /// As text, for a store.
    #[must_use]
    pub fn into_text(self) -> String {
        self.0
    }

    /// From the text of a store.
    #[must_use]
    pub fn from_text(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealed")
    }
}

/// What recognises a secret without holding it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mark(String);

impl Mark {
    /// One that was kept as text.
    #[must_use]
    pub fn from_kept(text: String) -> Self {
        Self(text)
    }

    /// As text, for a record that is kept under its mark.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mark")
    }
}

/// A sealed text could not be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// It was sealed under a master key that is not configured any more.
    #[error("it was sealed under a master key that is not configured")]
    UnknownKey,
    /// It was changed, or belongs elsewhere.
    #[error("it was changed, or belongs elsewhere")]
    Forged,
}

/// A sealed text could not be sealed anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResealError {
    /// It cannot be opened.
    #[error(transparent)]
    Unreadable(#[from] OpenError),
    /// The machine gives no random bytes.
    #[error(transparent)]
    NoEntropy(#[from] NoEntropy),
}

/// Bytes of a key's digest that make its identifier.
const KEY_ID_BYTES: usize = 8;
const NONCE_BYTES: usize = 24;

/// What a key is called: the beginning of a digest of it, which tells nothing of the key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KeyId([u8; KEY_ID_BYTES]);

impl KeyId {
    /// Of the bytes that make it.
    #[must_use]
    pub fn from_bytes(bytes: [u8; KEY_ID_BYTES]) -> Self {
        Self(bytes)
    }

    /// Reads it as it is shown.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let fits = text.len() == 2 * KEY_ID_BYTES && text.bytes().all(|digit| digit.is_ascii_hexdigit());
        let number = u64::from_str_radix(text, 16).ok().filter(|_| fits)?;
        Some(Self(number.to_be_bytes()))
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl Serialize for KeyId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for KeyId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("a key is named by 16 hexadecimal characters"))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}

struct MasterKey {
    id: KeyId,
    cipher: XChaCha20Poly1305,
    marks: [u8; 32],
    /// Of which each chain's own key is derived.
    chains: [u8; 32],
}

/// Seals, opens and marks under the master keys.
#[derive(Clone)]
pub struct Vault {
    /// The first seals and marks; all open and recognise.
    keys: Arc<[MasterKey]>,
    entropy: Arc<dyn Entropy>,
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Vault")
    }
}

impl Vault {
    /// A vault under a master key; those before it still open what they sealed.
    #[must_use]
    pub fn new(current: &Secret, previous: &[Secret], entropy: Arc<dyn Entropy>) -> Self {
        let key = |secret: &Secret| {
            let derive = |purpose: &str| derive(purpose, Sha256::digest(secret.expose()).into());
            let mut id = [0; KEY_ID_BYTES];
            id.copy_from_slice(&derive("identifier")[..KEY_ID_BYTES]);
            MasterKey {
                id: KeyId(id),
                cipher: XChaCha20Poly1305::new(&Key::from(derive("sealing"))),
                marks: derive("marks"),
                chains: derive("chains"),
            }
        };
        Self { keys: std::iter::once(current).chain(previous).map(key).collect(), entropy }
    }

    /// Where this vault's random bytes come from.
    #[must_use]
    pub fn entropy(&self) -> &dyn Entropy {
        &*self.entropy
    }

    /// Seals a text for a context.
    ///
    /// # Errors
    /// [`NoEntropy`] when the machine gives no random bytes.
    ///
    /// # Panics
    /// Never: the cipher takes texts of any length that fits in memory.
    pub fn seal(&self, context: &str, text: &Secret) -> Result<Sealed, NoEntropy> {
        self.seal_bytes(context, text.expose().as_bytes())
    }

    /// Seals a file for a context.
    ///
    /// # Errors
    /// [`NoEntropy`] when the machine gives no random bytes.
    ///
    /// # Panics
    /// Never: the cipher takes files of any length that fits in memory.
    pub fn seal_bytes(&self, context: &str, bytes: &[u8]) -> Result<Sealed, NoEntropy> {
        let MasterKey { id, cipher, .. } = &self.keys[0];
        let nonce: [u8; NONCE_BYTES] = random(&*self.entropy)?;
        let payload = Payload { msg: bytes, aad: context.as_bytes() };
        let sealed = cipher.encrypt(&XNonce::from(nonce), payload).expect("memory holds it");
        let body = URL_SAFE_NO_PAD.encode([&nonce[..], &sealed].concat());
        Ok(Sealed(format!("{id}.{body}")))
    }

    /// Opens a text that was sealed for this context.
    ///
    /// # Errors
    /// [`OpenError`] when its key is not configured, or it is not what was sealed for this context.
    pub fn open(&self, context: &str, sealed: &Sealed) -> Result<Secret, OpenError> {
        String::from_utf8(self.open_bytes(context, sealed)?).map(Secret::new).map_err(|_| OpenError::Forged)
    }

    /// Opens a file that was sealed for this context.
    ///
    /// # Errors
    /// [`OpenError`] when its key is not configured, or it is not what was sealed for this context.
    pub fn open_bytes(&self, context: &str, sealed: &Sealed) -> Result<Vec<u8>, OpenError> {
        let (id, body) = sealed.0.split_once('.').ok_or(OpenError::Forged)?;
        let id = KeyId::parse(id).ok_or(OpenError::UnknownKey)?;
        let key = self.keys.iter().find(|key| key.id == id).ok_or(OpenError::UnknownKey)?;
        let body = URL_SAFE_NO_PAD.decode(body).map_err(|_| OpenError::Forged)?;
        let (nonce, sealed) = body.split_first_chunk::<NONCE_BYTES>().ok_or(OpenError::Forged)?;
        let payload = Payload { msg: sealed, aad: context.as_bytes() };
        key.cipher.decrypt(&XNonce::from(*nonce), payload).map_err(|_| OpenError::Forged)
    }

    /// The same under the current master key; none where it is under that already, or there is nothing in it.
    ///
    /// # Errors
    /// [`ResealError`] when it cannot be opened, or the machine gives no random bytes.
    pub fn reseal(&self, context: &str, sealed: &Sealed) -> Result<Option<Sealed>, ResealError> {
        let id = sealed.0.split_once('.').and_then(|(id, _)| KeyId::parse(id));
        if sealed.0.is_empty() || id == Some(self.keys[0].id) {
            return Ok(None);
        }
        let bytes = zeroize::Zeroizing::new(self.open_bytes(context, sealed)?);
        Ok(Some(self.seal_bytes(context, &bytes)?))
    }

    /// What the master keys are called, the current one first.
    pub fn key_ids(&self) -> impl Iterator<Item = KeyId> {
        self.keys.iter().map(|key| key.id)
    }

    /// The keys of a chain: each master key makes one, of this chain's own.
    #[must_use]
    pub fn chain_keys(&self, chain: &str) -> ChainKeys {
        ChainKeys::new(self.keys.iter().map(|key| (key.id, derive(chain, key.chains))))
    }

    /// What recognises a secret in a context.
    #[must_use]
    pub fn mark(&self, context: &str, secret: &str) -> Mark {
        Mark(mark(&self.keys[0], context, secret))
    }

    /// The marks of a secret in a context under every master key, the current one first: what was kept under its mark before
    /// a rotation is found by one of them.
    #[must_use]
    pub fn marks(&self, context: &str, secret: &str) -> Vec<Mark> {
        self.keys.iter().map(|key| Mark(mark(key, context, secret))).collect()
    }

    /// Whether a presented text is the secret that was marked, in constant time.
    #[must_use]
    pub fn recognises(&self, context: &str, kept: &Mark, presented: &str) -> bool {
        self.keys.iter().any(|key| mark(key, context, presented).as_bytes().ct_eq(kept.0.as_bytes()).into())
    }
}

/// A key for one purpose, of another.
fn derive(purpose: &str, key: [u8; 32]) -> [u8; 32] {
    let mac = <Hmac<Sha256> as hmac::KeyInit>::new(&padded(key));
    mac.chain_update(purpose).finalize().into_bytes().into()
}

fn mark(key: &MasterKey, context: &str, secret: &str) -> String {
    let length = u64::try_from(context.len()).unwrap_or(u64::MAX).to_be_bytes();
    let mac = <Hmac<Sha256> as hmac::KeyInit>::new(&padded(key.marks));
    hex(&mac.chain_update(length).chain_update(context).chain_update(secret).finalize().into_bytes())
}

/// HMAC's own padding of a short key to its block.
pub fn padded(key: [u8; 32]) -> hmac::digest::Key<Hmac<Sha256>> {
    let mut block = hmac::digest::Key::<Hmac<Sha256>>::default();
    block[..32].copy_from_slice(&key);
    block
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::atomic::{AtomicU8, Ordering};

    use super::*;
    use crate::chain::Proof;

    /// Never the same bytes twice in a test. That of `testing` is for another build of this crate than the one under test.
    #[derive(Default)]
    struct Counting(AtomicU8);

    impl Entropy for Counting {
        fn fill(&self, bytes: &mut [u8]) -> Result<(), NoEntropy> {
            bytes.fill(self.0.fetch_add(1, Ordering::Relaxed));
            Ok(())
        }
    }

    pub(crate) fn vault(current: &str, previous: &[&str]) -> Vault {
        let previous: Vec<Secret> = previous.iter().map(|key| Secret::new(*key)).collect();
        Vault::new(&Secret::new(current), &previous, Arc::new(Counting::default()))
    }

    #[test]
    fn opens_what_it_sealed_and_nothing_else() {
        let ours = vault("first", &[]);
        let sealed = ours.seal("webhook/ptr_1", &Secret::new("whsec")).expect("entropy");
        assert_eq!(ours.open("webhook/ptr_1", &sealed).expect("opens").expose(), "whsec");
        assert_eq!(ours.open("webhook/ptr_2", &sealed).err(), Some(OpenError::Forged));
        assert_eq!(vault("second", &[]).open("webhook/ptr_1", &sealed).err(), Some(OpenError::UnknownKey));
        let rotated = vault("second", &["first"]);
        assert_eq!(rotated.open("webhook/ptr_1", &sealed).expect("opens").expose(), "whsec");
        let text = sealed.clone().into_text();
        for at in text.find('.').expect("a dot") + 1..text.len() {
            let mut forged = text.clone().into_bytes();
            forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
            let forged = Sealed::from_text(String::from_utf8(forged).expect("ASCII"));
            // The last character of the encoding may differ in bits that carry nothing.
            let opened = ours.open("webhook/ptr_1", &forged);
            assert!(at == text.len() - 1 || opened.err() == Some(OpenError::Forged), "{at}");
        }
        let again = ours.seal("webhook/ptr_1", &Secret::new("whsec")).expect("entropy");
        assert_ne!(again, sealed, "a nonce is used once");
        assert!(!format!("{sealed:?} {ours:?}").contains("whsec"));
    }

    #[test]
    fn each_chain_has_keys_of_its_own_and_those_before_a_rotation_check_what_they_made() {
        let fed = |hasher: &mut crate::chain::LinkHasher| hasher.update("entry");
        let previous = crate::digest::Digest::of(b"before");
        let link = vault("first", &[]).chain_keys("ledger").link(previous, fed);
        let prove = |vault: Vault, chain: &str| vault.chain_keys(chain).prove(link, previous, fed);
        assert_eq!(prove(vault("first", &[]), "ledger"), Proof::Holds);
        assert_eq!(prove(vault("first", &[]), "audit"), Proof::Broken, "another chain's key has the same name");
        assert_eq!(prove(vault("second", &["first"]), "ledger"), Proof::Holds);
        assert_eq!(prove(vault("second", &[]), "ledger"), Proof::NoKey);
        assert_ne!(vault("second", &["first"]).chain_keys("ledger").link(previous, fed).key, link.key);
    }

    #[test]
    fn files_are_sealed_like_texts() {
        let ours = vault("first", &[]);
        let file = b"%PDF-1.7\xff\x00";
        let sealed = ours.seal_bytes("document/a", file).expect("entropy");
        assert_eq!(ours.open_bytes("document/a", &sealed).expect("opens"), file);
        assert_eq!(ours.open_bytes("document/b", &sealed).err(), Some(OpenError::Forged));
        assert_eq!(ours.open("document/a", &sealed).err(), Some(OpenError::Forged), "it is no text");
    }

    #[test]
    fn recognises_a_secret_in_its_context_alone() {
        let ours = vault("first", &[]);
        let mark = ours.mark("code/a@b.example", "123456");
        assert!(ours.recognises("code/a@b.example", &mark, "123456"));
        assert!(!ours.recognises("code/a@b.example", &mark, "123457"));
        assert!(!ours.recognises("code/c@b.example", &mark, "123456"));
        assert!(!ours.recognises("code/a@b.example1", &mark, "23456"));
        assert!(vault("second", &["first"]).recognises("code/a@b.example", &mark, "123456"));
        assert!(!vault("second", &[]).recognises("code/a@b.example", &mark, "123456"));
        let rotated = vault("second", &["first"]);
        assert_eq!(rotated.marks("code/a@b.example", "123456"), [rotated.mark("code/a@b.example", "123456"), mark]);
    }
}
