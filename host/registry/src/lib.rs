//! Contracts in OCI registries and in OCI layouts on disk: pushed, found by tag or by version, and pulled with their signatures.
//!
//! | question | module |
//! |---|---|
//! | how an artifact is named | `name` |
//! | which of a repository's artifacts is followed | `selector` |
//! | what manifests and indexes may look like | `manifest` |
//! | how a contract becomes an artifact, and signatures another one | `artifact` |
//! | the steps of a push and of a pull, the same everywhere | `place` |
//! | the distribution specification: manifests, blobs, tags, referrers | `remote` |
//! | signing in at a registry, and at its server of tokens | `session` |
//! | TLS, redirects, and bounds on what is read | `transport` |
//! | which credentials those are | `credentials` |
//! | a folder in the place of a registry | `layout` |
//! | what is taken from a source that is followed | `source` |
//! | why it did not go well | `error` |
//!
//! What comes from a registry is data of strangers: each digest is compared here, and everything has a bound.
//!
//! Not here: whether whoever signed is trusted (`intent-gateway-signing`), which version may follow which, and when a source is looked at.

#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod artifact;
mod credentials;
mod error;
mod layout;
mod manifest;
mod name;
mod place;
mod remote;
mod selector;
mod session;
mod source;
mod transport;

#[cfg(test)]
mod tests;

pub use artifact::Contract;
pub use credentials::{CredentialError, CredentialFiles, Credentials};
pub use error::{BrokenRule, InvalidArtifact, RegistryError};
pub use manifest::{
    Descriptor, Document, EMPTY_TYPE, INDEX_TYPE, INTENT_ANNOTATION, Index, InvalidManifest, MANIFEST_MAX_BYTES,
    MANIFEST_TYPE, Manifest, REF_NAME_ANNOTATION, SIGNATURES_LAYER_MAX_BYTES, SIGNATURES_TYPE, VERSION_ANNOTATION,
    WASM_CONFIG_TYPE, WASM_TYPE,
};
pub use name::{ArtifactName, InvalidName, Location, Reference, Repository, Tag};
pub use place::{Options, Pulled, Pushed, Registry, TIMEOUT};
pub use selector::{Chosen, Selector};
pub use source::{Source, SourceFollower};
pub use transport::PlainHttp;
