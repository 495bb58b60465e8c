//! Published signatures are verified, and what differs from them in one bit is not.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::crypto;
use serde_json::Value;

use super::*;
use crate::auth::test_keys::{Pair, Vector, member};

const ACCEPTED: [Algorithm; 5] =
    [Algorithm::HS256, Algorithm::RS256, Algorithm::PS256, Algorithm::ES256, Algorithm::EdDSA];
const OTHERS: [Algorithm; 7] = [
    Algorithm::HS384,
    Algorithm::HS512,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES384,
];

fn decoding(key: &Value) -> DecodingKey {
    match key["kty"].as_str().expect("a kind") {
        "oct" => DecodingKey::from_secret(&member(key, "k")),
        "RSA" => DecodingKey::from_rsa_raw_components(&member(key, "n"), &member(key, "e")),
        "EC" => DecodingKey::from_ec_der(&[&[4], member(key, "x").as_slice(), &member(key, "y")].concat()),
        "OKP" => DecodingKey::from_ed_der(&member(key, "x")),
        other => panic!("{other} is no kind of key"),
    }
}

/// A verifier, by way of the crate.
fn accepts(algorithm: Algorithm, key: &DecodingKey, message: &[u8], signature: &[u8]) -> bool {
    install();
    crypto::verify(&URL_SAFE_NO_PAD.encode(signature), message, key, algorithm).expect("a verifier")
}

fn signature_of(vector: &Vector) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(vector.parts().1).expect("base64")
}

#[test]
fn there_is_a_published_signature_of_every_algorithm() {
    let vectors = Vector::all();
    for algorithm in ACCEPTED {
        assert!(vectors.iter().any(|vector| vector.algorithm == algorithm), "{algorithm:?}");
    }
}

#[test]
fn published_signatures_are_verified() {
    for vector in Vector::all() {
        let (message, _) = vector.parts();
        let accepted = accepts(vector.algorithm, &decoding(&vector.key), message.as_bytes(), &signature_of(&vector));
        assert!(accepted, "{}", vector.source);
    }
}

#[test]
fn a_flipped_bit_is_refused_wherever_it_is() {
    for vector in Vector::all() {
        let (key, signature) = (decoding(&vector.key), signature_of(&vector));
        let message = vector.parts().0.as_bytes();
        let refused = |message: &[u8], signature: &[u8], what: &str| {
            assert!(!accepts(vector.algorithm, &key, message, signature), "{}: {what}", vector.source);
        };
        for bit in 0..signature.len() * 8 {
            refused(message, &flipped(&signature, bit), &format!("bit {bit} of the signature"));
        }
        for bit in 0..message.len() * 8 {
            refused(&flipped(message, bit), &signature, &format!("bit {bit} of the message"));
        }
        refused(message, &[], "no signature");
        refused(message, &signature[1..], "a shorter one");
        refused(message, &[signature.as_slice(), &[0]].concat(), "a longer one");
        refused(message, &[&[0], signature.as_slice()].concat(), "one with a zero before it");
        refused(message, &vec![0; signature.len()], "zeros");
    }
}

fn flipped(bytes: &[u8], bit: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[bit / 8] ^= 1 << (bit % 8);
    bytes
}

#[test]
fn signs_as_the_rfcs_do() {
    install();
    let mut signed = 0;
    for vector in Vector::all().into_iter().filter(|vector| vector.algorithm == Algorithm::HS256) {
        let (message, signature) = vector.parts();
        let key = EncodingKey::from_secret(&member(&vector.key, "k"));
        assert_eq!(crypto::sign(message.as_bytes(), &key, Algorithm::HS256).expect("signed"), signature);
        signed += 1;
    }
    assert_eq!(signed, 2);
}

#[test]
fn a_key_serves_its_own_algorithms_alone() {
    let keys: Vec<_> = Vector::all().iter().map(|vector| (vector.algorithm, decoding(&vector.key))).collect();
    for (_, key) in &keys {
        for algorithm in ACCEPTED {
            let made = verifier(&algorithm, key).map(|verifier| verifier.algorithm());
            match algorithm.family() == key.family() {
                true => assert_eq!(made.expect("a verifier"), algorithm),
                false => assert_eq!(*made.expect_err("refused").kind(), ErrorKind::InvalidKeyFormat, "{algorithm:?}"),
            }
        }
        for algorithm in OTHERS {
            let refused = verifier(&algorithm, key).map(|_| ()).expect_err("refused");
            assert_eq!(*refused.kind(), ErrorKind::UnsupportedAlgorithm, "{algorithm:?}");
        }
    }
}

#[test]
fn signs_for_nobody_else() {
    let keys = [EncodingKey::from_rsa_der(b"k"), EncodingKey::from_ec_der(b"k"), EncodingKey::from_ed_der(b"k")];
    for key in keys {
        for algorithm in ACCEPTED {
            assert!(signer(&algorithm, &key).is_err(), "{algorithm:?}");
        }
    }
    for algorithm in OTHERS.into_iter().chain(ACCEPTED).filter(|algorithm| *algorithm != Algorithm::HS256) {
        assert!(signer(&algorithm, &EncodingKey::from_secret(b"k")).is_err(), "{algorithm:?}");
    }
}

#[test]
fn keys_that_are_none_verify_nothing() {
    let signature = |pair: &Pair, algorithm| {
        let token = pair.sign(algorithm, "k", &serde_json::json!({}));
        let vector = Vector { source: String::new(), algorithm, key: Value::Null, token };
        (vector.parts().0.to_owned(), signature_of(&vector))
    };
    let [rsa, _] = Pair::shared_rsa();
    let (message, by_rsa) = signature(rsa, Algorithm::RS256);
    let (modulus, exponent) = (member(&rsa.jwk, "n"), member(&rsa.jwk, "e"));
    for (modulus, exponent) in [
        (&modulus[..], &[][..]),
        (&modulus[..], &[1]),
        (&modulus[..], &[2]),
        (&modulus[1..], &exponent[..]),
        (&[][..], &exponent[..]),
        (&[0; 256][..], &exponent[..]),
    ] {
        let key = DecodingKey::from_rsa_raw_components(modulus, exponent);
        assert!(!accepts(Algorithm::RS256, &key, message.as_bytes(), &by_rsa));
    }
    let (message, by_p256) = signature(&Pair::p256(), Algorithm::ES256);
    for point in [vec![], vec![4; 65], vec![0], [&[4][..], &[0; 64]].concat()] {
        let key = DecodingKey::from_ec_der(&point);
        assert!(!accepts(Algorithm::ES256, &key, message.as_bytes(), &by_p256), "{point:?}");
    }
    let (message, by_ed) = signature(&Pair::ed25519(), Algorithm::EdDSA);
    for point in [vec![], vec![0; 31], vec![0xff; 32], vec![0; 64]] {
        let key = DecodingKey::from_ed_der(&point);
        assert!(!accepts(Algorithm::EdDSA, &key, message.as_bytes(), &by_ed), "{point:?}");
    }
}
