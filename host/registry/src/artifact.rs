//! A contract as an artifact: one layer that is the component, its configuration and its manifest, and beside it a manifest of its
//! signatures. The same contract gives the same bytes, so that it can be pushed twice and is there once.

use std::collections::BTreeMap;

use bytes::Bytes;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::limits::CONTRACT_MAX_BYTES;
use intent_gateway_signing::{Signatures, SignedComponent};
use semver::Version;
use serde::Serialize;
use wasmparser::{Encoding, Parser, Payload};

use crate::error::{InvalidArtifact, RegistryError};
use crate::manifest::{
    Descriptor, EMPTY_TYPE, INTENT_ANNOTATION, MANIFEST_TYPE, Manifest, SIGNATURES_TYPE, VERSION_ANNOTATION,
    WASM_CONFIG_TYPE, WASM_TYPE, as_u64,
};
use crate::name::SHA256;

const TITLE_ANNOTATION: &str = "org.opencontainers.image.title";
const OCI_VERSION_ANNOTATION: &str = "org.opencontainers.image.version";
const CREATED_ANNOTATION: &str = "org.opencontainers.image.created";
/// Where no time is given: the layout wants one, and `wkg` does not read a configuration without.
const NO_TIME: &str = "1970-01-01T00:00:00Z";
/// The content of an empty configuration.
const EMPTY: &[u8] = b"{}";

/// What is pushed.
#[derive(Clone, Debug)]
pub struct Contract<'a> {
    /// The component, with its signatures where it has any.
    pub file: &'a [u8],
    pub intent: &'a IntentId,
    pub version: &'a Version,
    /// RFC 3339; part of the manifest, so that the same contract at another time is another artifact. Best left out.
    pub created: Option<&'a str>,
}

/// A piece of content on its way.
pub(crate) struct Blob {
    pub(crate) descriptor: Descriptor,
    pub(crate) content: Bytes,
}

impl Blob {
    pub(crate) fn new(media_type: &str, content: Vec<u8>) -> Self {
        Self { descriptor: Descriptor::of(media_type, &content), content: content.into() }
    }
}

/// A manifest with what it is made of.
pub(crate) struct Artifact {
    pub(crate) blobs: Vec<Blob>,
    pub(crate) manifest: Blob,
}

/// An artifact with the signatures that came with it.
pub(crate) struct SignedArtifact {
    pub(crate) artifact: Artifact,
    pub(crate) component: Digest,
    pub(crate) signatures: Option<Signatures>,
}

impl SignedArtifact {
    /// Takes a file apart and makes its artifact.
    pub(crate) fn of(contract: &Contract<'_>) -> Result<Self, RegistryError> {
        let SignedComponent { component, digest, signatures } = SignedComponent::split(contract.file)?;
        if component.len() > CONTRACT_MAX_BYTES {
            return Err(RegistryError::TooLarge {
                what: "the component",
                limit: as_u64(CONTRACT_MAX_BYTES),
                unit: "bytes",
            });
        }
        if let Some(signatures) = &signatures {
            check_statement(signatures, digest)?;
            signatures.check_version(contract.intent, contract.version).map_err(InvalidArtifact::Version)?;
        }
        let config = Blob::new(WASM_CONFIG_TYPE, configuration(&component, digest, contract.created)?);
        let layer = Blob::new(WASM_TYPE, component);
        let manifest = Manifest {
            artifact_type: None,
            config: config.descriptor.clone(),
            layers: vec![layer.descriptor.clone()],
            subject: None,
            annotations: annotations(contract),
        };
        let manifest = Blob::new(MANIFEST_TYPE, manifest.to_json()?);
        let artifact = Artifact { blobs: vec![layer, config], manifest };
        Ok(Self { artifact, component: digest, signatures })
    }
}

/// The artifact of signatures of another artifact.
pub(crate) fn signatures_artifact(signatures: &Signatures, subject: &Descriptor) -> Result<Artifact, RegistryError> {
    let config = Blob::new(EMPTY_TYPE, EMPTY.to_vec());
    let layer = Blob::new(SIGNATURES_TYPE, signatures.to_json()?.into_bytes());
    let manifest = Manifest {
        artifact_type: Some(SIGNATURES_TYPE.to_owned()),
        config: config.descriptor.clone(),
        layers: vec![layer.descriptor.clone()],
        subject: Some(subject.clone()),
        annotations: BTreeMap::new(),
    };
    let mut manifest = Blob::new(MANIFEST_TYPE, manifest.to_json()?);
    // What lists it says so, so that nobody has to read it to know.
    manifest.descriptor.artifact_type = Some(SIGNATURES_TYPE.to_owned());
    Ok(Artifact { blobs: vec![config, layer], manifest })
}

/// Whether signatures say that they are of a component. Nothing is verified.
pub(crate) fn check_statement(signatures: &Signatures, component: Digest) -> Result<(), RegistryError> {
    if signatures.statement()?.component == component { Ok(()) } else { Err(InvalidArtifact::OtherComponent.into()) }
}

/// All signatures of some readings as one.
pub(crate) fn merge(known: Option<Signatures>, more: Signatures) -> Result<Signatures, RegistryError> {
    let Some(known) = known else { return Ok(more) };
    let merged = known.merged(&more);
    // Those of another statement are left out of a merger, and those beyond the number that a component may have.
    if has_all(&merged, &more) { Ok(merged) } else { Err(InvalidArtifact::SignaturesDiffer.into()) }
}

/// Whether some signatures are of all keys of others.
pub(crate) fn has_all(signatures: &Signatures, others: &Signatures) -> bool {
    others.keys().all(|key| signatures.keys().any(|known| known == key))
}

fn annotations(contract: &Contract<'_>) -> BTreeMap<String, String> {
    let (intent, version) = (contract.intent.to_string(), contract.version.to_string());
    let created = contract.created.map(|created| (CREATED_ANNOTATION, created.to_owned()));
    [
        (TITLE_ANNOTATION, intent.clone()),
        (OCI_VERSION_ANNOTATION, version.clone()),
        (INTENT_ANNOTATION, intent),
        (VERSION_ANNOTATION, version),
    ]
    .into_iter()
    .chain(created)
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

/// The configuration of a component (CNCF TAG Runtime, Wasm OCI artifact layout).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConfigJson<'a> {
    created: &'a str,
    architecture: &'static str,
    os: &'static str,
    layer_digests: [String; 1],
    component: ComponentJson,
}

#[derive(Default, Serialize)]
struct ComponentJson {
    exports: Vec<String>,
    imports: Vec<String>,
    /// The world that it is written against. A component does not say.
    target: Option<String>,
}

fn configuration(component: &[u8], digest: Digest, created: Option<&str>) -> Result<Vec<u8>, RegistryError> {
    let config = ConfigJson {
        created: created.unwrap_or(NO_TIME),
        architecture: "wasm",
        os: "wasip2",
        layer_digests: [format!("{SHA256}{digest}")],
        component: interfaces(component)?,
    };
    serde_json::to_vec(&config).map_err(|error| crate::manifest::InvalidManifest::from(error).into())
}

/// What the component imports and exports, by name, in its order. What is within it is not looked at.
fn interfaces(component: &[u8]) -> Result<ComponentJson, InvalidArtifact> {
    let bad = |error| InvalidArtifact::NoComponent(Some(error));
    let (mut found, mut depth, mut is_component) = (ComponentJson::default(), 0_usize, false);
    for payload in Parser::new(0).parse_all(component) {
        match payload.map_err(bad)? {
            Payload::Version { encoding, .. } if depth == 0 => is_component = encoding == Encoding::Component,
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(imports) if depth == 0 => {
                for import in imports {
                    found.imports.push(import.map_err(bad)?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(exports) if depth == 0 => {
                for export in exports {
                    found.exports.push(export.map_err(bad)?.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    if is_component { Ok(found) } else { Err(InvalidArtifact::NoComponent(None)) }
}
