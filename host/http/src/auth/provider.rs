//! The signatures of tokens, over `ring`.
//!
//! `jsonwebtoken` reads and judges tokens and leaves the signatures to a provider. One of the two that it brings is
//! a second implementation of what TLS has linked already, RSA with a known leak of private keys (RUSTSEC-2023-0071)
//! among it; the other is a second library in C. This provider does what the gateway accepts and nothing else:
//! HS256, both ways, for its own tokens; RS256, PS256, ES256 and EdDSA, to verify those of outside issuers.
//!
//! Not here: which algorithm a token may have. A verifier is only made for a key of the algorithm's own kind, so
//! that no public key is ever used as a shared secret.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result, new_error};
use jsonwebtoken::signature::{Error as SignatureError, Signer, Verifier};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::hmac;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256, RsaParameters,
    RsaPublicKeyComponents, UnparsedPublicKey,
};

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: signer,
    verifier_factory: verifier,
    // They turn keys into JWKs, which nothing here does.
    key_utils: KeyUtils::new_unimplemented(),
};

/// Makes this the provider of the process. Whatever signs or verifies calls it first; it may be called any number of
/// times.
pub(super) fn install() {
    // Refused means that it was done before: there is nothing else in the process that would install another.
    let _ = PROVIDER.install_default();
}

fn signer(algorithm: &Algorithm, key: &EncodingKey) -> Result<Box<dyn JwtSigner>> {
    match (algorithm, key.family()) {
        (Algorithm::HS256, AlgorithmFamily::Hmac) => Ok(Box::new(Hs256::new(key.as_bytes()))),
        (Algorithm::HS256, _) => Err(new_error(ErrorKind::InvalidKeyFormat)),
        _ => Err(new_error(ErrorKind::UnsupportedAlgorithm)),
    }
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    use Algorithm::{ES256, EdDSA, HS256, PS256, RS256};
    use AlgorithmFamily::{Ec, Ed, Hmac, Rsa};
    use DecodingKeyKind::{RsaModulusExponent, SecretOrDer};
    let key = match (algorithm, key.family(), key.kind()) {
        (HS256, Hmac, SecretOrDer(secret)) => return Ok(Box::new(Hs256::new(secret))),
        (RS256, Rsa, RsaModulusExponent { n, e }) => PublicKey::rsa(&RSA_PKCS1_2048_8192_SHA256, n, e),
        (PS256, Rsa, RsaModulusExponent { n, e }) => PublicKey::rsa(&RSA_PSS_2048_8192_SHA256, n, e),
        (ES256, Ec, SecretOrDer(point)) => {
            PublicKey::Curve(UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point.clone()))
        }
        (EdDSA, Ed, SecretOrDer(point)) => PublicKey::Curve(UnparsedPublicKey::new(&ED25519, point.clone())),
        (HS256 | RS256 | PS256 | ES256 | EdDSA, ..) => return Err(new_error(ErrorKind::InvalidKeyFormat)),
        _ => return Err(new_error(ErrorKind::UnsupportedAlgorithm)),
    };
    Ok(Box::new(Asymmetric { algorithm: *algorithm, key }))
}

/// HMAC with SHA-256, the gateway's own.
struct Hs256(hmac::Key);

impl Hs256 {
    fn new(secret: &[u8]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }
}

impl Signer<Vec<u8>> for Hs256 {
    fn try_sign(&self, message: &[u8]) -> std::result::Result<Vec<u8>, SignatureError> {
        Ok(hmac::sign(&self.0, message).as_ref().to_vec())
    }
}

impl Verifier<Vec<u8>> for Hs256 {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), SignatureError> {
        hmac::verify(&self.0, message, signature).map_err(|_| SignatureError::new())
    }
}

impl JwtSigner for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

impl JwtVerifier for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

/// An outside issuer's key, for one algorithm.
struct Asymmetric {
    algorithm: Algorithm,
    key: PublicKey,
}

enum PublicKey {
    Rsa { padding: &'static RsaParameters, key: RsaPublicKeyComponents<Vec<u8>> },
    Curve(UnparsedPublicKey<Vec<u8>>),
}

impl PublicKey {
    fn rsa(padding: &'static RsaParameters, modulus: &[u8], exponent: &[u8]) -> Self {
        Self::Rsa { padding, key: RsaPublicKeyComponents { n: modulus.to_vec(), e: exponent.to_vec() } }
    }
}

impl Verifier<Vec<u8>> for Asymmetric {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), SignatureError> {
        let verified = match &self.key {
            PublicKey::Rsa { padding, key } => key.verify(padding, message, signature),
            PublicKey::Curve(key) => key.verify(message, signature),
        };
        // `ring` does not tell why on purpose.
        verified.map_err(|_| SignatureError::new())
    }
}

impl JwtVerifier for Asymmetric {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

#[cfg(test)]
mod tests;
