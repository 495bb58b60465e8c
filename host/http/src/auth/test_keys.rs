//! Key pairs that the tests sign with, by `ring` itself: what signs here is not what verifies there.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, Header};
use ring::hmac;
use ring::rand::SystemRandom;
use ring::rsa::{KeyPair as RsaKeyPair, KeyPairComponents, PublicKeyComponents};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RSA_PKCS1_SHA512,
    RSA_PSS_SHA256, RsaEncoding,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A token that somebody else made, and the key that verifies it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Vector {
    pub(super) source: String,
    pub(super) algorithm: Algorithm,
    pub(super) key: Value,
    pub(super) token: String,
}

impl Vector {
    /// Every one of them.
    pub(super) fn all() -> Vec<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jws");
        let files = std::fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path());
        files.map(|file| serde_json::from_slice(&std::fs::read(file).expect("read")).expect("a vector")).collect()
    }

    /// The signing input and the signature.
    pub(super) fn parts(&self) -> (&str, &str) {
        self.token.rsplit_once('.').expect("a signature")
    }
}

/// What a member of a key stands for.
pub(super) fn member(key: &Value, name: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(key[name].as_str().expect("a member")).expect("base64")
}

/// A key pair: how it signs, and how a key set shows it.
#[derive(Clone)]
pub(super) struct Pair {
    signing: Signing,
    pub(super) jwk: Value,
}

#[derive(Clone)]
enum Signing {
    Secret(Vec<u8>),
    Rsa(Arc<RsaKeyPair>),
    P256(Arc<EcdsaKeyPair>),
    Ed25519(Arc<Ed25519KeyPair>),
}

impl Pair {
    pub(super) fn secret(secret: &[u8]) -> Self {
        Self { signing: Signing::Secret(secret.to_vec()), jwk: Value::Null }
    }

    /// A published key: `ring` makes none for RSA.
    fn rsa(source: &str) -> Self {
        let vector = Vector::all().into_iter().find(|vector| vector.source.starts_with(source)).expect("the vector");
        let part = |name| member(&vector.key, name);
        let components = KeyPairComponents {
            public_key: PublicKeyComponents { n: part("n"), e: part("e") },
            d: part("d"),
            p: part("p"),
            q: part("q"),
            dP: part("dp"),
            dQ: part("dq"),
            qInv: part("qi"),
        };
        let key = RsaKeyPair::from_components(&components).expect("a sound key");
        let jwk = json!({ "kty": "RSA", "n": vector.key["n"], "e": vector.key["e"] });
        Self { signing: Signing::Rsa(Arc::new(key)), jwk }
    }

    pub(super) fn p256() -> Self {
        let (algorithm, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
        let key = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).expect("a sound key");
        let (x, y) = key.public_key().as_ref()[1..].split_at(32);
        let (x, y) = (URL_SAFE_NO_PAD.encode(x), URL_SAFE_NO_PAD.encode(y));
        Self { signing: Signing::P256(Arc::new(key)), jwk: json!({ "kty": "EC", "crv": "P-256", "x": x, "y": y }) }
    }

    pub(super) fn ed25519() -> Self {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a key");
        let key = Ed25519KeyPair::from_pkcs8(document.as_ref()).expect("a sound key");
        let x = URL_SAFE_NO_PAD.encode(key.public_key());
        Self { signing: Signing::Ed25519(Arc::new(key)), jwk: json!({ "kty": "OKP", "crv": "Ed25519", "x": x }) }
    }

    pub(super) fn shared_rsa() -> &'static [Self; 2] {
        static PAIRS: OnceLock<[Pair; 2]> = OnceLock::new();
        PAIRS.get_or_init(|| [Self::rsa("RFC 7515, appendix A.2"), Self::rsa("RFC 7520, section 4.1")])
    }

    /// The public key as a set shows it, under a name.
    pub(super) fn shown_as(&self, kid: &str) -> Value {
        let mut jwk = self.jwk.clone();
        jwk["kid"] = kid.into();
        jwk["use"] = "sig".into();
        jwk
    }

    /// A token.
    pub(super) fn sign(&self, algorithm: Algorithm, kid: &str, claims: &impl Serialize) -> String {
        self.sign_under(&Header { kid: Some(kid.to_owned()), ..Header::new(algorithm) }, claims)
    }

    /// A token with this header, which says how it is signed.
    pub(super) fn sign_under(&self, header: &Header, claims: &impl Serialize) -> String {
        let part = |json: serde_json::Result<Vec<u8>>| URL_SAFE_NO_PAD.encode(json.expect("JSON"));
        let message = format!("{}.{}", part(serde_json::to_vec(header)), part(serde_json::to_vec(claims)));
        let signature = self.signature(header.alg, message.as_bytes());
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    fn signature(&self, algorithm: Algorithm, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match (&self.signing, algorithm) {
            (Signing::Secret(secret), _) => {
                let hash = match algorithm {
                    Algorithm::HS256 => hmac::HMAC_SHA256,
                    Algorithm::HS384 => hmac::HMAC_SHA384,
                    Algorithm::HS512 => hmac::HMAC_SHA512,
                    other => panic!("{other:?} takes no secret"),
                };
                hmac::sign(&hmac::Key::new(hash, secret), message).as_ref().to_vec()
            }
            (Signing::Rsa(key), _) => {
                let padding: &dyn RsaEncoding = match algorithm {
                    Algorithm::RS256 => &RSA_PKCS1_SHA256,
                    Algorithm::RS512 => &RSA_PKCS1_SHA512,
                    Algorithm::PS256 => &RSA_PSS_SHA256,
                    other => panic!("{other:?} is not tried with an RSA key"),
                };
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(padding, &random, message, &mut signature).expect("signed");
                signature
            }
            (Signing::P256(key), Algorithm::ES256) => key.sign(&random, message).expect("signed").as_ref().to_vec(),
            (Signing::Ed25519(key), Algorithm::EdDSA) => key.sign(message).as_ref().to_vec(),
            (_, other) => panic!("{other:?} is not this key's"),
        }
    }
}
