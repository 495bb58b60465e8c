//! Tests, in one binary: names and manifests alone, layouts on disk, a real registry, and a faked one for what a real one does not do.

mod certificates;
mod credentials;
mod fake;
mod faults;
mod layouts;
mod manifests;
mod names;
mod others;
mod registries;
mod selectors;
mod signing_in;

use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::IntentId;
use intent_gateway_signing::{SignedComponent, SigningKey, Statement};
use semver::Version;

use crate::{ArtifactName, Contract, Credentials, Options, Reference, Registry, RegistryError, Tag};

/// A component that says which one it is.
fn component(mark: &str) -> Vec<u8> {
    let text = format!(
        r#"(component
            (import "gateway:contract/host@1.0.0" (instance $host))
            (core module (memory 1))
            (export "gateway:contract/contract@1.0.0" (instance $host))
            (@custom "mark" "{mark}"))"#
    );
    wat::parse_str(text).expect("a component")
}

fn intent() -> IntentId {
    IntentId::parse("auto.fix").expect("an intent")
}

fn version(text: &str) -> Version {
    text.parse().expect("a version")
}

fn tag(text: &str) -> Tag {
    text.parse().expect("a tag")
}

fn by_tag(text: &str) -> Reference {
    Reference::Tag(tag(text))
}

fn key() -> SigningKey {
    SigningKey::generate().expect("randomness").0
}

/// A file, signed by some keys as version 1.2.3.
fn signed(component: &[u8], keys: &[&SigningKey]) -> Vec<u8> {
    signed_as(component, "1.2.3", "gateway:contract@1.0.0", keys)
}

fn signed_as(component: &[u8], signed_version: &str, interface: &str, keys: &[&SigningKey]) -> Vec<u8> {
    let statement = Statement {
        component: Digest::of(component),
        intent: intent(),
        version: version(signed_version),
        interface: interface.to_owned(),
    };
    let signatures = keys.iter().fold(None, |before, key| Some(statement.sign(key, before).expect("signed")));
    let whole = SignedComponent { component: component.to_vec(), digest: Digest::of(component), signatures };
    whole.join().expect("joined")
}

/// How many keys have signed a file.
fn signers(file: &[u8]) -> usize {
    SignedComponent::split(file).expect("a file").signatures.map_or(0, |signatures| signatures.keys().count())
}

fn anonymous() -> Options {
    Options { credentials: Credentials::Anonymous, ..Options::default() }
}

fn name(text: &str) -> ArtifactName {
    text.parse().expect("a name")
}

fn open(text: &str, options: &Options) -> Registry {
    Registry::open(&name(text), options).expect("it is opened")
}

/// Pushes a file as version 1.2.3 of the intent.
async fn push(registry: &Registry, file: &[u8], under: Option<&str>) -> Result<crate::Pushed, RegistryError> {
    push_as(registry, file, "1.2.3", under).await
}

async fn push_as(
    registry: &Registry,
    file: &[u8],
    of: &str,
    under: Option<&str>,
) -> Result<crate::Pushed, RegistryError> {
    let (intent, version) = (intent(), version(of));
    let contract = Contract { file, intent: &intent, version: &version, created: None };
    registry.push(&contract, under.map(tag).as_ref()).await
}

/// An error with all its causes, as a log shows it.
fn told(error: &dyn std::error::Error) -> String {
    let mut text = format!("{error} / {error:?}");
    let mut cause = error.source();
    while let Some(next) = cause {
        text += &format!(" / {next} / {next:?}");
        cause = next.source();
    }
    text
}

#[test]
fn a_registry_can_be_shared_among_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Registry>();
}
