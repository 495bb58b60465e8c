//! Manifests, indexes and names of OCI registries (docs/registry.md).
//!
//! What is read is what stands there; it is written and read again as it was; and nothing is named for fetching that is larger than
//! its bound. A name means one thing, and no part of it leads elsewhere in an address.
//!
//! Input: whether the rest is a name (odd) or a document; it.

use intent_gateway_domain::limits::CONTRACT_MAX_BYTES;
use intent_gateway_registry::{
    ArtifactName, Descriptor, Document, Location, MANIFEST_MAX_BYTES, Manifest, Reference, SIGNATURES_LAYER_MAX_BYTES,
    WASM_TYPE,
};
use serde_json::Value;

/// Reads one document or name.
///
/// # Panics
/// Where it is read as something that does not stand there.
pub(crate) fn run(data: &[u8]) {
    let Some((how, rest)) = data.split_first() else { return };
    if how & 1 == 0 {
        read_document(rest);
    } else if let Ok(text) = std::str::from_utf8(rest) {
        read_name(text);
    }
}

fn read_document(json: &[u8]) {
    let Ok(document) = Document::read(json) else { return };
    assert!(json.len() <= MANIFEST_MAX_BYTES);
    // The reader passes over members that nobody needs, in which a strict one may find an error.
    let Ok(plain) = serde_json::from_slice::<Value>(json) else { return };
    match &document {
        Document::Manifest(manifest) => {
            check_descriptor(&manifest.config, &plain["config"]);
            check_list(&manifest.layers, &plain["layers"]);
            if let Some(subject) = &manifest.subject {
                check_descriptor(subject, &plain["subject"]);
                check_signatures(manifest, subject);
            }
            check_component(manifest);
            let written = manifest.to_json().expect("it is written");
            // What was left out is written out, so that a document at the very bound may come to be beyond it.
            if written.len() <= MANIFEST_MAX_BYTES {
                assert_eq!(Document::read(&written).expect("it is read again"), document);
            }
        }
        Document::Index(index) => {
            check_list(&index.manifests, &plain["manifests"]);
            if let Ok(written) = index.to_json() {
                assert_eq!(Document::read(&written).expect("it is read again"), document);
            }
        }
    }
}

fn check_list(read: &[Descriptor], plain: &Value) {
    let plain = plain.as_array().map(Vec::as_slice).unwrap_or_default();
    assert_eq!(read.len(), plain.len());
    for (read, plain) in read.iter().zip(plain) {
        check_descriptor(read, plain);
    }
}

fn check_descriptor(read: &Descriptor, plain: &Value) {
    let digest = format!("sha256:{}", read.digest);
    assert_eq!(plain["digest"].as_str(), Some(digest.as_str()), "one text for each digest");
    assert_eq!(plain["size"].as_u64(), Some(read.size));
    assert_eq!(plain["mediaType"].as_str(), Some(read.media_type.as_str()));
    assert_eq!(plain["artifactType"].as_str(), read.artifact_type.as_deref());
}

fn check_component(manifest: &Manifest) {
    let Ok(component) = manifest.component() else { return };
    assert!(usize::try_from(component.size).is_ok_and(|size| size <= CONTRACT_MAX_BYTES));
    assert_eq!(component.media_type, WASM_TYPE);
    assert_eq!(manifest.layers.len(), 1);
}

fn check_signatures(manifest: &Manifest, subject: &Descriptor) {
    let Ok(signatures) = manifest.signatures_of(subject.digest) else { return };
    assert!(usize::try_from(signatures.size).is_ok_and(|size| size <= SIGNATURES_LAYER_MAX_BYTES));
    assert!(manifest.component().is_err(), "signatures are no component");
}

fn read_name(text: &str) {
    let Ok(name) = text.parse::<ArtifactName>() else { return };
    assert_eq!(name.to_string(), text, "one text for each name");
    if let Location::Repository(repository) = name.location() {
        let address: http::Uri =
            format!("https://{}/v2/{}/manifests/x", repository.host(), repository.path()).parse().expect("an address");
        let authority = address.authority().expect("it has a host");
        assert_eq!(authority.as_str(), repository.host());
        assert_eq!(address.path(), format!("/v2/{}/manifests/x", repository.path()));
        assert!(address.query().is_none());
        let parts: Vec<&str> = repository.path().split('/').collect();
        assert!(!parts.iter().any(|part| matches!(*part, "" | "." | "..")));
    }
    match name.reference() {
        Some(Reference::Tag(tag)) => {
            assert!(!tag.as_str().contains(['/', '?', '#', '%', '@', ':']));
            if let Some(version) = tag.version() {
                let own = Reference::Tag(version.to_string().replace('+', "_").parse().expect("its own tag"));
                assert_eq!(name.with(own).location(), name.location());
            }
        }
        Some(Reference::Digest(digest)) => assert!(text.ends_with(&format!("@sha256:{digest}"))),
        None => {}
    }
}
