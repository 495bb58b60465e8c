//! Files of components with their signatures (docs/signing.md).
//!
//! A file comes apart and together again; and whatever is done to one that a trusted key has signed, what is trusted of it is the very
//! content that was signed.
//!
//! Input: whether the rest is a file, or what is signed and how its file is edited; the length of what is signed; it; edits, each of
//! a place (two bytes) and a byte.

use std::sync::LazyLock;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::IntentId;
use intent_gateway_signing::{Revocations, SignedComponent, SigningKey, Statement, TrustPolicy, TrustedKey};
use semver::Version;

const HEADER: &[u8] = b"\0asm\x0d\0\x01\0";
/// The example of RFC 8410, section 10.3.
const KEY: &str = "-----BEGIN PRIVATE KEY-----\n\
                   MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n\
                   -----END PRIVATE KEY-----\n";

static SIGNER: LazyLock<SigningKey> = LazyLock::new(|| SigningKey::read(KEY).expect("a key"));

/// Takes one file apart.
///
/// # Panics
/// Where it does not come together again, or something is trusted that was not signed.
pub(crate) fn run(data: &[u8]) {
    let Some((how, rest)) = data.split_first() else { return };
    if how & 1 == 0 {
        come_apart(rest);
    } else if let Some((length, rest)) = rest.split_first()
        && let Some((content, edits)) = rest.split_at_checked(usize::from(*length))
    {
        edit(content, edits);
    }
}

fn come_apart(file: &[u8]) {
    let Ok(apart) = SignedComponent::split(file) else { return };
    assert_eq!(apart.digest, Digest::of(&apart.component));
    if apart.signatures.is_none() {
        assert_eq!(apart.component, file, "nothing is taken out");
    }
    let Ok(together) = apart.join() else { panic!("what was read is written") };
    let again = SignedComponent::split(&together).expect("it is read again");
    // What follows a section that cannot be read is no section.
    if apart.signatures.is_some() && again.signatures.is_some() {
        assert_eq!(again, apart);
    }
    let trusted = policy().judge(apart.digest, apart.signatures.as_ref(), Timestamp::EPOCH, &Revocations::default());
    assert!(trusted.is_err(), "nobody guesses a signature");
}

fn edit(content: &[u8], edits: &[u8]) {
    let component = [HEADER, content].concat();
    let digest = Digest::of(&component);
    let statement = Statement {
        component: digest,
        intent: IntentId::parse("test.things").expect("an intent"),
        version: Version::new(1, 0, 0),
        interface: "intent-gateway:contract@1.0.0".to_owned(),
    };
    let signatures = Some(statement.sign(&SIGNER, None).expect("signed"));
    let mut file = SignedComponent { component, digest, signatures }.join().expect("written");
    for change in edits.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % file.len();
        file[at] = change[2];
    }
    let Ok(apart) = SignedComponent::split(&file) else { return };
    let judged = policy().judge(apart.digest, apart.signatures.as_ref(), Timestamp::EPOCH, &Revocations::default());
    if judged.is_ok() {
        assert_eq!(apart.digest, digest, "what is trusted is what was signed");
        let stated = apart.signatures.expect("it is signed").statement().expect("it is read");
        assert_eq!(stated, statement);
    }
}

fn policy() -> TrustPolicy {
    let key = SIGNER.public().expect("a public half");
    let key = TrustedKey { name: "release".to_owned(), key, intents: Vec::new(), from: None, until: None };
    TrustPolicy { keys: vec![key], requires_signature: true }
}
