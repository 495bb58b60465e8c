//! What holds of a signature, and everything that does not: altered, of another key, of another content, out of date, revoked.

use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::sections::SIGNATURES_SECTION;
use semver::Version;

use crate::{
    InvalidSignatures, PublicKey, Revocation, Revocations, Revoked, SignatureRefusal, Signatures, SignedComponent,
    SigningKey, Statement, TooManyRevocations, TrustPolicy, TrustedKey,
};

const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";
const NOW: Timestamp = Timestamp::from_ms(1_767_225_600_000);

fn key() -> (SigningKey, PublicKey) {
    let (key, _) = SigningKey::generate().expect("a key");
    let public = key.public().expect("a public half");
    (key, public)
}

fn statement(component: &[u8]) -> Statement {
    Statement {
        component: Digest::of(component),
        intent: IntentId::parse("auto.fix").expect("an intent"),
        version: Version::new(1, 2, 3),
        interface: "intent-gateway:contract@1.0.0".to_owned(),
    }
}

fn trusted(name: &str, key: PublicKey) -> TrustedKey {
    TrustedKey { name: name.to_owned(), key, intents: Vec::new(), from: None, until: None }
}

fn policy(keys: Vec<TrustedKey>) -> TrustPolicy {
    TrustPolicy { keys, requires_signature: true }
}

fn revoked(what: Revoked) -> Revocations {
    let mut revocations = Revocations::default();
    let revocation = Revocation { what, reason: "lost".to_owned(), at_ms: NOW, by: Actor::new("admin", "ann") };
    assert_eq!(revocations.add(revocation.clone()), Ok(true));
    assert_eq!(revocations.add(revocation), Ok(false), "once is enough");
    revocations
}

/// The names of those who are trusted, or the code of the refusal.
fn judge(policy: &TrustPolicy, digest: Digest, signatures: Option<&Signatures>) -> Result<Vec<String>, &'static str> {
    policy.judge(digest, signatures, NOW, &Revocations::default()).map_err(|refusal| refusal.code())
}

#[test]
fn a_component_is_signed_taken_apart_and_judged() {
    let (key, public) = key();
    let signatures = statement(COMPONENT).sign(&key, None).expect("signed");
    let signed =
        SignedComponent { component: COMPONENT.to_vec(), digest: Digest::of(COMPONENT), signatures: Some(signatures) };
    let file = signed.join().expect("a file");
    assert_ne!(file, COMPONENT);
    let apart = SignedComponent::split(&file).expect("it is read");
    assert_eq!(apart, signed);
    assert_eq!(SignedComponent::split(COMPONENT).expect("it is read").signatures, None);
    let policy = policy(vec![trusted("release", public)]);
    assert_eq!(judge(&policy, apart.digest, apart.signatures.as_ref()), Ok(vec!["release".to_owned()]));
    assert_eq!(judge(&policy, apart.digest, None), Err("SIGNATURE_MISSING"));
    let lenient = TrustPolicy { requires_signature: false, ..policy };
    assert_eq!(judge(&lenient, apart.digest, None), Ok(Vec::new()));
}

#[test]
fn keys_are_read_as_they_are_written_and_as_other_tools_write_them() {
    let (key, pem) = SigningKey::generate().expect("a key");
    let again = SigningKey::read(&pem).expect("it is read");
    let public = key.public().expect("a public half");
    assert_eq!(again.public(), Ok(public));
    assert_eq!(public.to_string().parse(), Ok(public));
    assert_eq!(public.id().to_string().parse(), Ok(public.id()));
    // RFC 8410, section 10.3: a key without its public half, as OpenSSL writes it.
    let foreign = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n";
    let foreign = SigningKey::read(foreign).expect("it is read");
    let public = foreign.public().expect("a public half");
    // Its public key is that of section 10.1.
    assert_eq!(public.to_string(), "ed25519:Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=");
    let signatures = statement(COMPONENT).sign(&foreign, None).expect("signed");
    assert_eq!(signatures.verify(&public), Some(true));
    for bad in ["", "ed25519:", "ed25519:AAAA", "rsa:GU9h4f3cHiVu3WzrYyfKLZtg1PLQbgBGFVQNFTANDVE=", "x"] {
        assert!(bad.parse::<PublicKey>().is_err(), "{bad}");
        assert!(SigningKey::read(bad).is_err(), "{bad}");
    }
}

#[test]
fn every_alteration_is_refused() {
    let ((key, public), (other_key, other)) = (key(), key());
    let good = statement(COMPONENT).sign(&key, None).expect("signed");
    let policy = policy(vec![trusted("release", public)]);
    let digest = Digest::of(COMPONENT);
    assert!(judge(&policy, digest, Some(&good)).is_ok());
    // Another content under the same signature.
    assert_eq!(judge(&policy, Digest::of(b"altered"), Some(&good)), Err("SIGNATURE_INVALID"));
    // Each byte of what is written, changed by one: refused, or no signatures at all.
    let json = good.to_json().expect("JSON");
    for at in 0..json.len() {
        let mut altered = json.clone().into_bytes();
        altered[at] ^= 1;
        let Ok(altered) = Signatures::read(&altered) else { continue };
        if altered != good {
            assert!(judge(&policy, digest, Some(&altered)).is_err(), "byte {at}");
        }
    }
    // Whoever signs with another key and says that it is this one.
    let forged = statement(COMPONENT).sign(&other_key, None).expect("signed").to_json().expect("JSON");
    let forged = forged.replace(&other.id().to_string(), &public.id().to_string());
    let forged = Signatures::read(forged.as_bytes()).expect("it is read");
    assert_eq!(judge(&policy, digest, Some(&forged)), Err("SIGNATURE_INVALID"));
    let unknown = statement(COMPONENT).sign(&other_key, None).expect("signed");
    assert_eq!(judge(&policy, digest, Some(&unknown)), Err("SIGNER_UNKNOWN"));
    let lenient = TrustPolicy { requires_signature: false, ..policy };
    assert_eq!(judge(&lenient, digest, Some(&unknown)), Ok(Vec::new()), "as if it were not signed");
    assert_eq!(judge(&lenient, digest, Some(&forged)), Err("SIGNATURE_INVALID"), "a lie is one all the same");
}

#[test]
fn a_key_signs_its_intents_within_its_dates() {
    let (key, public) = key();
    let signatures = statement(COMPONENT).sign(&key, None).expect("signed");
    let digest = Digest::of(COMPONENT);
    let with = |intents: &[&str], from: Option<u64>, until: Option<u64>| {
        let intents = intents.iter().map(|text| text.parse().expect("a pattern")).collect();
        let at = |ms: Option<u64>| ms.map(|ms| Timestamp::from_ms(NOW.as_ms() + ms - 10));
        let key = TrustedKey { intents, from: at(from), until: at(until), ..trusted("release", public) };
        judge(&policy(vec![key]), digest, Some(&signatures)).map(|names| names.len())
    };
    for (intents, expected) in [
        (&["auto.fix"][..], Ok(1)),
        (&["auto.*"], Ok(1)),
        (&["home.*", "auto.fix"], Ok(1)),
        (&["autos.*"], Err("SIGNER_NOT_ALLOWED")),
        (&["auto.fixes"], Err("SIGNER_NOT_ALLOWED")),
    ] {
        assert_eq!(with(intents, None, None), expected, "{intents:?}");
    }
    assert_eq!(with(&[], Some(10), Some(11)), Ok(1), "from then on, and until before then");
    assert_eq!(with(&[], Some(11), None), Err("SIGNER_OUT_OF_DATE"));
    assert_eq!(with(&[], None, Some(10)), Err("SIGNER_OUT_OF_DATE"));
    for bad in ["*", "auto", "auto.", "auto.*.x", ".*", ""] {
        assert!(bad.parse::<crate::IntentPattern>().is_err(), "{bad}");
    }
}

#[test]
fn what_is_revoked_is_not_trusted_and_a_second_key_keeps_a_version() {
    let ((old, old_public), (new, new_public)) = (key(), key());
    let once = statement(COMPONENT).sign(&old, None).expect("signed");
    let twice = statement(COMPONENT).sign(&new, Some(once.clone())).expect("signed");
    let policy = policy(vec![trusted("old", old_public), trusted("new", new_public)]);
    let digest = Digest::of(COMPONENT);
    assert_eq!(judge(&policy, digest, Some(&twice)), Ok(vec!["old".to_owned(), "new".to_owned()]));
    let lost = revoked(Revoked::Key(old_public.id()));
    let code = |signatures: &Signatures, revocations: &Revocations| {
        policy.judge(digest, Some(signatures), NOW, revocations).map_err(|refusal| refusal.code())
    };
    assert_eq!(code(&once, &lost), Err("REVOKED"));
    assert_eq!(code(&twice, &lost), Ok(vec!["new".to_owned()]));
    let content = revoked(Revoked::Component(digest));
    assert_eq!(code(&twice, &content), Err("REVOKED"));
    let refusal = policy.judge(digest, Some(&once), NOW, &lost).expect_err("it is revoked");
    assert!(refusal.to_string().contains("lost"), "{refusal}");
    // A key that was revoked here is so whether it is in the configuration or not.
    let nobody = TrustPolicy::default();
    assert!(matches!(nobody.judge(digest, Some(&once), NOW, &lost), Err(SignatureRefusal::KeyRevoked { .. })));
    assert_eq!(once.merged(&twice), twice);
}

#[test]
fn only_so_many_revocations_are_kept_and_one_too_many_is_told() {
    let mut revocations = Revocations::default();
    let revocation = |number: u32| Revocation {
        what: Revoked::Component(Digest::of(&number.to_be_bytes())),
        reason: "lost".to_owned(),
        at_ms: NOW,
        by: Actor::new("admin", "ann"),
    };
    assert!((0..1_000).all(|number| revocations.add(revocation(number)) == Ok(true)));
    assert_eq!(revocations.add(revocation(1_000)), Err(TooManyRevocations));
    assert_eq!(revocations.add(revocation(999)), Ok(false));
    assert_eq!(revocations.all.len(), 1_000);
}

#[test]
fn a_signature_is_of_one_version() {
    let (key, _) = key();
    let signatures = statement(COMPONENT).sign(&key, None).expect("signed");
    let intent = IntentId::parse("auto.fix").expect("an intent");
    assert!(signatures.check_version(&intent, &Version::new(1, 2, 3)).is_ok());
    let refusal = signatures.check_version(&intent, &Version::new(1, 2, 4)).expect_err("another version");
    assert_eq!(refusal.code(), "SIGNATURE_MISMATCH");
    let other = Statement { version: Version::new(2, 0, 0), ..statement(COMPONENT) };
    assert!(matches!(other.sign(&key, Some(signatures)), Err(InvalidSignatures::OtherStatement)));
}

#[test]
fn signatures_that_are_none_are_an_error() {
    use intent_gateway_domain::sections::append;
    let (key, _) = key();
    let good = statement(COMPONENT).sign(&key, None).expect("signed").to_json().expect("JSON");
    let doubled = good.replacen("\"signatures\":[", "\"signatures\":[{\"key\":\"0011223344556677\",\"signature\":\"\"},{\"key\":\"0011223344556677\",\"signature\":\"\"},", 1);
    let empty = good.replacen(&good[good.find("\"signatures\":").expect("there")..], "\"signatures\":[]}", 1);
    for bad in ["", "[]", "{}", &doubled, &empty, &good.replace("\"statement\":\"{", "\"statement\":\"[")] {
        let file = append(COMPONENT, SIGNATURES_SECTION, bad.as_bytes());
        assert!(SignedComponent::split(&file).is_err(), "{bad}");
    }
    let twice = append(&append(COMPONENT, SIGNATURES_SECTION, good.as_bytes()), SIGNATURES_SECTION, good.as_bytes());
    assert!(matches!(SignedComponent::split(&twice), Err(InvalidSignatures::Several)));
}
