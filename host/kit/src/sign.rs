//! `plugin sign` and `plugin verify`: who has made a component.

use intent_gateway_describe::text::Page;
use intent_gateway_domain::ports::Contract as _;
use intent_gateway_sandbox::LoadError;
use intent_gateway_signing::{InvalidSignatures, KeyId, PublicKey, SignedComponent, SigningKey, Statement};
use serde::Serialize;

use crate::outline::Outline;
use crate::subject::Subject;

/// What the interface's package is called in the names of what a contract exports.
const INTERFACE: &str = "intent-gateway:contract";

/// A component could not be signed.
#[derive(Debug, thiserror::Error)]
pub enum SignError {
    /// It is no contract: nobody should answer for it.
    #[error("the component is no contract")]
    Load(#[from] LoadError),
    #[error(transparent)]
    Signatures(#[from] InvalidSignatures),
}

/// A signed component.
#[derive(Debug)]
pub struct SignedFile {
    pub bytes: Vec<u8>,
    pub statement: Statement,
    pub key: KeyId,
}

/// Who has signed a component, as far as some keys tell.
#[derive(Debug, Serialize)]
pub struct VerifyReport {
    /// What was signed; null where nobody has.
    pub statement: Option<Statement>,
    /// Whether it is about this very content.
    pub is_of_this_content: bool,
    pub signatures: Vec<VerifiedSignature>,
    /// Whether one of the keys that were named has signed this content, and no signature of theirs is false.
    pub passed: bool,
}

/// A signature.
#[derive(Debug, Serialize)]
pub struct VerifiedSignature {
    pub key: KeyId,
    /// Whether it is that key's; null where the key was not named.
    pub valid: Option<bool>,
}

/// Signs a component: what it says of itself, and that it is this content. Earlier signatures of the same stay.
///
/// # Errors
/// [`SignError`].
pub fn sign(subject: &Subject, key: &SigningKey) -> Result<SignedFile, SignError> {
    let SignedComponent { component, digest, signatures } = SignedComponent::split(&subject.bytes)?;
    let contract = subject.load()?;
    let descriptor = contract.descriptor();
    let statement = Statement {
        component: digest,
        intent: descriptor.intent.clone(),
        version: descriptor.version.clone(),
        interface: interface(&component),
    };
    let signatures = Some(statement.sign(key, signatures)?);
    let bytes = SignedComponent { component, digest, signatures }.join()?;
    let key = key.public().map_err(InvalidSignatures::from)?.id();
    Ok(SignedFile { bytes, statement, key })
}

/// Verifies the signatures of a file by some keys.
///
/// # Errors
/// [`InvalidSignatures`] where there are some that cannot be read.
pub fn verify(file: &[u8], keys: &[PublicKey]) -> Result<VerifyReport, InvalidSignatures> {
    let SignedComponent { digest, signatures, .. } = SignedComponent::split(file)?;
    let statement = signatures.as_ref().map(|signatures| signatures.statement()).transpose()?;
    let is_of_this_content = statement.as_ref().is_some_and(|statement| statement.component == digest);
    let verified: Vec<VerifiedSignature> = signatures
        .iter()
        .flat_map(|signatures| signatures.keys().map(move |id| (signatures, id)))
        .map(|(signatures, id)| VerifiedSignature {
            key: id,
            valid: keys.iter().find(|key| key.id() == id).and_then(|key| signatures.verify(key)),
        })
        .collect();
    let is_true = verified.iter().any(|one| one.valid == Some(true));
    let is_false = verified.iter().any(|one| one.valid == Some(false));
    let passed = is_of_this_content && is_true && !is_false;
    Ok(VerifyReport { statement, is_of_this_content, signatures: verified, passed })
}

/// The interface that a component is written against, by what it exports.
fn interface(component: &[u8]) -> String {
    let exports = Outline::of(component).unwrap_or_default().exports;
    let version =
        exports.iter().find_map(|name| name.strip_prefix(INTERFACE)?.split_once('@').map(|(_, version)| version));
    version.map_or_else(|| INTERFACE.to_owned(), |version| format!("{INTERFACE}@{version}"))
}

impl VerifyReport {
    /// For a person.
    #[must_use]
    pub fn text(&self) -> String {
        let mut page = Page::default();
        let Some(statement) = &self.statement else {
            page.line("✘ nobody has signed it");
            return page.finish();
        };
        let Statement { intent, version, interface, .. } = statement;
        page.heading(&format!("{intent} {version}, {interface}"));
        if !self.is_of_this_content {
            page.line("✘ the signatures are of another content: it was altered after it was signed");
        }
        for VerifiedSignature { key, valid } in &self.signatures {
            page.line(&match valid {
                Some(true) => format!("✔ signed by {key}"),
                Some(false) => format!("✘ the signature that is said to be of {key} is not"),
                None => format!("- signed by {key}, says the file; that key was not named"),
            });
        }
        page.finish()
    }
}

#[cfg(test)]
mod tests {
    use intent_gateway_domain::digest::Digest;

    use super::*;

    #[test]
    fn a_file_is_verified_by_the_keys_that_are_named() {
        let component = b"\0asm\x0d\0\x01\0".to_vec();
        let (key, _) = SigningKey::generate().expect("a key");
        let (other, _) = SigningKey::generate().expect("a key");
        let [public, other] = [key.public().expect("public"), other.public().expect("public")];
        let statement = Statement {
            component: Digest::of(&component),
            intent: intent_gateway_domain::id::IntentId::parse("test.things").expect("an intent"),
            version: "1.0.0".parse().expect("semver"),
            interface: interface(&component),
        };
        let signatures = Some(statement.sign(&key, None).expect("signed"));
        let digest = statement.component;
        let file = SignedComponent { component: component.clone(), digest, signatures }.join().expect("a file");
        let report = verify(&file, &[public]).expect("it is read");
        assert!(report.passed && report.text().contains("✔ signed by"), "{}", report.text());
        let unknown = verify(&file, &[other]).expect("it is read");
        assert!(!unknown.passed && unknown.text().contains("was not named"), "{}", unknown.text());
        let none = verify(&component, &[public]).expect("it is read");
        assert!(!none.passed && none.text().contains("nobody"), "{}", none.text());
        let mut altered = component;
        altered.extend_from_slice(&[1, 1, 0]);
        altered.extend_from_slice(&file[8..]);
        let altered = verify(&altered, &[public]).expect("it is read");
        assert!(!altered.passed && altered.text().contains("altered"), "{}", altered.text());
    }
}
