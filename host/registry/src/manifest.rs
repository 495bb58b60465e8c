//! What registries and layouts describe artifacts by: manifests and indexes of the OCI image specification 1.1. Bytes in, types out;
//! no IO. Nothing read here was checked against its content yet.

use std::collections::BTreeMap;

use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::limits::CONTRACT_MAX_BYTES;
use serde::{Deserialize, Serialize};

use crate::name::{SHA256, parse_digest};

/// A manifest.
pub const MANIFEST_TYPE: &str = "application/vnd.oci.image.manifest.v1+json";
/// A list of manifests.
pub const INDEX_TYPE: &str = "application/vnd.oci.image.index.v1+json";
/// The configuration of a component (CNCF TAG Runtime, Wasm OCI artifact layout).
pub const WASM_CONFIG_TYPE: &str = "application/vnd.wasm.config.v0+json";
/// A component.
pub const WASM_TYPE: &str = "application/wasm";
/// Signatures of a component, as [`intent_gateway_signing::Signatures`] writes them.
pub const SIGNATURES_TYPE: &str = "application/vnd.intent-gateway.signatures.v1+json";
/// The configuration of what has none.
pub const EMPTY_TYPE: &str = "application/vnd.oci.empty.v1+json";
/// Annotation: the intent of a contract.
pub const INTENT_ANNOTATION: &str = "io.intent-gateway.intent";
/// Annotation: its version.
pub const VERSION_ANNOTATION: &str = "io.intent-gateway.version";
/// Annotation of a layout's index: the tag of an entry.
pub const REF_NAME_ANNOTATION: &str = "org.opencontainers.image.ref.name";

/// Largest manifest or index.
pub const MANIFEST_MAX_BYTES: usize = 256 * 1024;
/// Largest layer of signatures.
pub const SIGNATURES_LAYER_MAX_BYTES: usize = 64 * 1024;
/// Bytes of the media type of an artifact that an error shows.
const SHOWN_MAX_CHARS: usize = 200;

/// Bytes that are no manifest of a contract or of its signatures, or no index.
#[derive(Debug, thiserror::Error)]
pub enum InvalidManifest {
    #[error("{what} has more than {limit} bytes")]
    TooLarge { what: &'static str, limit: u64 },
    #[error("it is no JSON of a manifest or an index")]
    NotRead(#[from] serde_json::Error),
    #[error("its schema version is {0}, and not 2")]
    SchemaVersion(u64),
    #[error("its media type is `{0}`")]
    MediaType(String),
    /// Readers would differ on which of the two it is.
    #[error("it is a manifest and an index in one")]
    Ambiguous,
    #[error("it is a manifest without a configuration, or neither manifest nor index")]
    Incomplete,
    #[error("`{0}` is no digest in SHA-256")]
    Digest(String),
    #[error("it is a list of {0} manifests, and not the manifest of one component")]
    Index(usize),
    #[error("its configuration is of the media type `{0}`")]
    ConfigType(String),
    #[error("it is an artifact of the type `{0}`")]
    ArtifactType(String),
    #[error("it has {0} layers, and not one")]
    Layers(usize),
    #[error("its layer is of the media type `{0}`")]
    LayerType(String),
    #[error("it is about another artifact")]
    Subject,
}

/// What a manifest says of a piece of content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    pub media_type: String,
    pub digest: Digest,
    /// Bytes.
    pub size: u64,
    pub artifact_type: Option<String>,
    pub annotations: BTreeMap<String, String>,
}

/// The manifest of one artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    pub artifact_type: Option<String>,
    pub config: Descriptor,
    pub layers: Vec<Descriptor>,
    /// The artifact that it is about.
    pub subject: Option<Descriptor>,
    pub annotations: BTreeMap<String, String>,
}

/// A list of manifests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    pub manifests: Vec<Descriptor>,
    pub annotations: BTreeMap<String, String>,
}

/// Either.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Document {
    Manifest(Box<Manifest>),
    Index(Index),
}

impl Document {
    /// Reads a manifest or an index. Members that the specification has and nobody needs here are passed over, `urls` and `data`
    /// among them: content comes from where the manifest came.
    ///
    /// # Errors
    /// [`InvalidManifest`].
    pub fn read(json: &[u8]) -> Result<Self, InvalidManifest> {
        if json.len() > MANIFEST_MAX_BYTES {
            return Err(InvalidManifest::TooLarge { what: "the manifest", limit: as_u64(MANIFEST_MAX_BYTES) });
        }
        let wire: DocumentJson = serde_json::from_slice(json)?;
        if wire.schema_version != 2 {
            return Err(InvalidManifest::SchemaVersion(wire.schema_version));
        }
        // The media type may be left out; where it is there, it has to be of what the members make of it.
        let is_of = |expected: &str| match &wire.media_type {
            Some(found) if found != expected => Err(InvalidManifest::MediaType(cut(found))),
            _ => Ok(()),
        };
        match (wire.config, wire.layers, wire.manifests) {
            (None, None, Some(manifests)) => {
                is_of(INDEX_TYPE)?;
                let manifests = manifests.into_iter().map(Descriptor::try_from).collect::<Result<_, _>>()?;
                Ok(Self::Index(Index { manifests, annotations: wire.annotations.unwrap_or_default() }))
            }
            (Some(config), layers, None) => {
                is_of(MANIFEST_TYPE)?;
                let layers = layers.unwrap_or_default().into_iter().map(Descriptor::try_from);
                Ok(Self::Manifest(Box::new(Manifest {
                    artifact_type: wire.artifact_type,
                    config: config.try_into()?,
                    layers: layers.collect::<Result<_, _>>()?,
                    subject: wire.subject.map(Descriptor::try_from).transpose()?,
                    annotations: wire.annotations.unwrap_or_default(),
                })))
            }
            (_, _, Some(_)) => Err(InvalidManifest::Ambiguous),
            (None, _, None) => Err(InvalidManifest::Incomplete),
        }
    }
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// [`InvalidManifest`], also for an index.
    pub fn read(json: &[u8]) -> Result<Self, InvalidManifest> {
        match Document::read(json)? {
            Document::Manifest(manifest) => Ok(*manifest),
            Document::Index(index) => Err(InvalidManifest::Index(index.manifests.len())),
        }
    }

    /// As it is written, the same bytes each time.
    ///
    /// # Errors
    /// [`InvalidManifest::NotRead`], which does not happen.
    pub fn to_json(&self) -> Result<Vec<u8>, InvalidManifest> {
        Ok(serde_json::to_vec(&DocumentJson {
            schema_version: 2,
            media_type: Some(MANIFEST_TYPE.to_owned()),
            artifact_type: self.artifact_type.clone(),
            config: Some((&self.config).into()),
            layers: Some(self.layers.iter().map(DescriptorJson::from).collect()),
            manifests: None,
            subject: self.subject.as_ref().map(DescriptorJson::from),
            annotations: some(&self.annotations),
        })?)
    }

    /// The component of a contract's artifact. Its bounds are checked here, before anything of it is fetched.
    ///
    /// # Errors
    /// [`InvalidManifest`] where it is an artifact of something else.
    pub fn component(&self) -> Result<&Descriptor, InvalidManifest> {
        if self.config.media_type != WASM_CONFIG_TYPE {
            return Err(InvalidManifest::ConfigType(cut(&self.config.media_type)));
        }
        self.only_layer(WASM_TYPE, "the component", CONTRACT_MAX_BYTES)
    }

    /// The signatures of an artifact.
    ///
    /// # Errors
    /// [`InvalidManifest`] where it is an artifact of something else, or of signatures of another artifact.
    pub fn signatures_of(&self, artifact: Digest) -> Result<&Descriptor, InvalidManifest> {
        if self.artifact_type.as_deref() != Some(SIGNATURES_TYPE) {
            return Err(InvalidManifest::ArtifactType(cut(self.artifact_type.as_deref().unwrap_or_default())));
        }
        if self.subject.as_ref().map(|subject| subject.digest) != Some(artifact) {
            return Err(InvalidManifest::Subject);
        }
        self.only_layer(SIGNATURES_TYPE, "the signatures", SIGNATURES_LAYER_MAX_BYTES)
    }

    fn only_layer(&self, media_type: &str, what: &'static str, max: usize) -> Result<&Descriptor, InvalidManifest> {
        let [layer] = &self.layers[..] else { return Err(InvalidManifest::Layers(self.layers.len())) };
        if layer.media_type != media_type {
            return Err(InvalidManifest::LayerType(cut(&layer.media_type)));
        }
        if layer.size > as_u64(max) {
            return Err(InvalidManifest::TooLarge { what, limit: as_u64(max) });
        }
        Ok(layer)
    }
}

impl Index {
    /// Reads an index.
    ///
    /// # Errors
    /// [`InvalidManifest`], also for a manifest.
    pub fn read(json: &[u8]) -> Result<Self, InvalidManifest> {
        match Document::read(json)? {
            Document::Index(index) => Ok(index),
            Document::Manifest(_) => Err(InvalidManifest::MediaType(MANIFEST_TYPE.to_owned())),
        }
    }

    /// As it is written.
    ///
    /// # Errors
    /// [`InvalidManifest::TooLarge`] where it has more entries than could be read again.
    pub fn to_json(&self) -> Result<Vec<u8>, InvalidManifest> {
        let json = serde_json::to_vec(&DocumentJson {
            schema_version: 2,
            media_type: Some(INDEX_TYPE.to_owned()),
            artifact_type: None,
            config: None,
            layers: None,
            manifests: Some(self.manifests.iter().map(DescriptorJson::from).collect()),
            subject: None,
            annotations: some(&self.annotations),
        })?;
        if json.len() > MANIFEST_MAX_BYTES {
            return Err(InvalidManifest::TooLarge { what: "the index", limit: as_u64(MANIFEST_MAX_BYTES) });
        }
        Ok(json)
    }
}

impl Descriptor {
    /// Describes some bytes.
    #[must_use]
    pub fn of(media_type: &str, content: &[u8]) -> Self {
        Self {
            media_type: media_type.to_owned(),
            digest: Digest::of(content),
            size: as_u64(content.len()),
            artifact_type: None,
            annotations: BTreeMap::new(),
        }
    }

    /// Whether some bytes are what it describes.
    #[must_use]
    pub fn is_of(&self, content: &[u8]) -> bool {
        self.size == as_u64(content.len()) && self.digest == Digest::of(content)
    }
}

/// A manifest or an index, as it travels. The order of the members is the order in which they are written.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DocumentJson {
    schema_version: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    media_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<DescriptorJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    layers: Option<Vec<DescriptorJson>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    manifests: Option<Vec<DescriptorJson>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<DescriptorJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<BTreeMap<String, String>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DescriptorJson {
    media_type: String,
    digest: String,
    size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<BTreeMap<String, String>>,
}

impl TryFrom<DescriptorJson> for Descriptor {
    type Error = InvalidManifest;

    fn try_from(wire: DescriptorJson) -> Result<Self, InvalidManifest> {
        Ok(Self {
            digest: parse_digest(&wire.digest).map_err(|_| InvalidManifest::Digest(cut(&wire.digest)))?,
            media_type: wire.media_type,
            size: wire.size,
            artifact_type: wire.artifact_type,
            annotations: wire.annotations.unwrap_or_default(),
        })
    }
}

impl From<&Descriptor> for DescriptorJson {
    fn from(descriptor: &Descriptor) -> Self {
        Self {
            media_type: descriptor.media_type.clone(),
            digest: format!("{SHA256}{}", descriptor.digest),
            size: descriptor.size,
            artifact_type: descriptor.artifact_type.clone(),
            annotations: some(&descriptor.annotations),
        }
    }
}

fn some(annotations: &BTreeMap<String, String>) -> Option<BTreeMap<String, String>> {
    (!annotations.is_empty()).then(|| annotations.clone())
}

pub(crate) fn as_u64(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// As much of a text that is not ours as an error shows.
fn cut(text: &str) -> String {
    text.chars().take(SHOWN_MAX_CHARS).collect()
}
