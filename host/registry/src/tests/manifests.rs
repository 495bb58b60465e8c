use std::collections::BTreeMap;

use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::limits::CONTRACT_MAX_BYTES;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{component, intent, key, signed, signed_as, version};
use crate::artifact::{SignedArtifact, signatures_artifact};
use crate::{
    Contract, Descriptor, Document, Index, InvalidManifest, MANIFEST_MAX_BYTES, Manifest, SIGNATURES_TYPE, WASM_TYPE,
};

fn artifact(file: &[u8], created: Option<&str>) -> Result<SignedArtifact, crate::RegistryError> {
    SignedArtifact::of(&Contract { file, intent: &intent(), version: &version("1.2.3"), created })
}

fn good() -> Value {
    let made = artifact(&component("a"), None).expect("an artifact");
    serde_json::from_slice(&made.artifact.manifest.content).expect("JSON")
}

fn good_signatures() -> (Value, Digest) {
    let made = artifact(&signed(&component("a"), &[&key()]), None).expect("an artifact");
    let signatures = made.signatures.expect("signed");
    let artifact = signatures_artifact(&signatures, &made.artifact.manifest.descriptor).expect("an artifact");
    let json = serde_json::from_slice(&artifact.manifest.content).expect("JSON");
    (json, made.artifact.manifest.descriptor.digest)
}

/// The name of the rule that a manifest breaks.
fn broken(json: &Value) -> String {
    let read = Manifest::read(json.to_string().as_bytes());
    rule(read.and_then(|manifest| manifest.component().cloned()))
}

fn rule<T>(read: Result<T, InvalidManifest>) -> String {
    match read {
        Ok(_) => String::new(),
        Err(error) => format!("{error:?}").split(['(', ' ']).next().unwrap_or_default().to_owned(),
    }
}

#[test]
fn an_artifact_is_as_the_wasm_layout_says_and_the_same_each_time() {
    let component = component("a");
    let made = artifact(&component, None).expect("an artifact");
    let [layer, config] = &made.artifact.blobs[..] else { panic!("two blobs") };
    assert_eq!(layer.content, component);
    let digest = Digest::of(&component);
    assert_eq!(
        serde_json::from_slice::<Value>(&config.content).expect("JSON"),
        json!({
            "created": "1970-01-01T00:00:00Z",
            "architecture": "wasm",
            "os": "wasip2",
            "layerDigests": [format!("sha256:{digest}")],
            "component": {
                "exports": ["gateway:contract/contract@1.0.0"],
                "imports": ["gateway:contract/host@1.0.0"],
                "target": null,
            },
        })
    );
    assert_eq!(
        good(),
        json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": {
                "mediaType": "application/vnd.wasm.config.v0+json",
                "digest": format!("sha256:{}", Digest::of(&config.content)),
                "size": config.content.len(),
            },
            "layers": [{
                "mediaType": "application/wasm",
                "digest": format!("sha256:{digest}"),
                "size": component.len(),
            }],
            "annotations": {
                "org.opencontainers.image.title": "auto.fix",
                "org.opencontainers.image.version": "1.2.3",
                "io.intent-gateway.intent": "auto.fix",
                "io.intent-gateway.version": "1.2.3",
            },
        })
    );
    let manifest = |file: &[u8], created| artifact(file, created).expect("an artifact").artifact.manifest.content;
    let plain = manifest(&component, None);
    assert_eq!(plain, manifest(&signed(&component, &[&key(), &key()]), None), "signatures are beside it");
    let dated = manifest(&component, Some("2026-01-02T03:04:05Z"));
    assert_ne!(plain, dated);
    let dated: Value = serde_json::from_slice(&dated).expect("JSON");
    assert_eq!(dated["annotations"]["org.opencontainers.image.created"], "2026-01-02T03:04:05Z");
}

#[test]
fn only_components_with_their_own_signatures_become_artifacts() {
    let component = component("a");
    let code = |file: &[u8]| artifact(file, None).err().map(|error| (error.code(), super::told(&error)));
    let module = wat::parse_str("(module)").expect("a module");
    for (what, file) in [
        ("NoComponent", module),
        ("NoComponent", Vec::new()),
        ("NoComponent", component[..component.len() - 1].to_vec()),
        ("Version", signed_as(&component, "1.2.4", "x@1.0.0", &[&key()])),
        ("OtherComponent", {
            let other = super::component("b");
            let section = &signed(&other, &[&key()])[other.len()..];
            [&component[..], section].concat()
        }),
    ] {
        let (code, told) = code(&file).unwrap_or_else(|| panic!("{what}"));
        assert_eq!(code, "ARTIFACT_INVALID", "{told}");
        assert!(told.contains(what), "{what}: {told}");
    }
    let large = [&component[..], &vec![0; CONTRACT_MAX_BYTES]].concat();
    assert_eq!(code(&large).expect("it is too large").0, "ARTIFACT_TOO_LARGE");
}

#[test]
fn each_rule_of_a_manifest_refuses_alone() {
    assert_eq!(broken(&good()), "");
    let with = |pointer: &str, value: Value| {
        let mut manifest = good();
        *manifest.pointer_mut(pointer).expect("it is there") = value;
        manifest
    };
    let and = |member: &str, value: Value| {
        let mut manifest = good();
        manifest[member] = value;
        manifest
    };
    let without = |member: &str| {
        let mut manifest = good();
        manifest.as_object_mut().expect("an object").remove(member);
        manifest
    };
    assert_eq!(broken(&without("mediaType")), "", "the type may be left out");
    assert_eq!(broken(&without("annotations")), "");
    assert_eq!(broken(&and("unknown", json!([1]))), "");
    let layer = good()["layers"][0].clone();
    let extra = json!({"mediaType": "text/plain", "digest": layer["digest"], "size": 1});
    let sha512 = format!("sha512:{}", "a".repeat(128));
    let upper = layer["digest"].as_str().expect("text").to_uppercase().replace("SHA", "sha");
    for (expected, manifest) in [
        ("SchemaVersion", with("/schemaVersion", json!(1))),
        ("NotRead", without("schemaVersion")),
        ("NotRead", with("/schemaVersion", json!("2"))),
        ("MediaType", with("/mediaType", json!("application/vnd.oci.image.index.v1+json"))),
        ("MediaType", with("/mediaType", json!("application/vnd.docker.distribution.manifest.v2+json"))),
        ("Ambiguous", and("manifests", json!([]))),
        ("Incomplete", without("config")),
        ("ConfigType", with("/config/mediaType", json!("application/vnd.oci.image.config.v1+json"))),
        ("Layers", without("layers")),
        ("Layers", with("/layers", json!([]))),
        ("Layers", with("/layers", json!([layer, layer]))),
        ("Layers", with("/layers", json!([layer, extra]))),
        ("LayerType", with("/layers/0/mediaType", json!("application/vnd.oci.image.layer.v1.tar+gzip"))),
        ("Digest", with("/layers/0/digest", json!(sha512))),
        ("Digest", with("/config/digest", json!(sha512))),
        ("Digest", with("/layers/0/digest", json!(upper))),
        ("Digest", with("/layers/0/digest", json!("sha256:../../etc/passwd"))),
        ("NotRead", with("/layers/0/size", json!(-1))),
        ("NotRead", with("/layers/0/size", json!(1.5))),
        ("TooLarge", with("/layers/0/size", json!(CONTRACT_MAX_BYTES + 1))),
        ("NotRead", with("/annotations/io.intent-gateway.intent", json!(1))),
        ("TooLarge", and("unknown", json!("x".repeat(MANIFEST_MAX_BYTES)))),
        ("Index", json!({"schemaVersion": 2, "manifests": [layer]})),
        ("NotRead", json!([])),
        ("NotRead", json!(null)),
    ] {
        assert_eq!(broken(&manifest), expected, "{}", manifest.to_string().chars().take(500).collect::<String>());
    }
    assert_eq!(broken(&with("/layers/0/size", json!(CONTRACT_MAX_BYTES))), "", "as large as it may be");
    let twice = good().to_string().replacen('{', r#"{"schemaVersion":2,"#, 1);
    assert_eq!(rule(Manifest::read(twice.as_bytes())), "NotRead", "a member that is there twice");
    assert_eq!(rule(Manifest::read(&[0xff])), "NotRead");
}

#[test]
fn each_rule_of_a_manifest_of_signatures_refuses_alone() {
    let (good, subject) = good_signatures();
    let broken = |json: &Value, of: Digest| {
        let manifest = Manifest::read(json.to_string().as_bytes()).expect("a manifest");
        rule(manifest.signatures_of(of).cloned())
    };
    assert_eq!(broken(&good, subject), "");
    assert_eq!(broken(&good, Digest::of(b"other")), "Subject");
    let with = |pointer: &str, value: Value| {
        let mut manifest = good.clone();
        *manifest.pointer_mut(pointer).expect("it is there") = value;
        manifest
    };
    for (expected, manifest) in [
        ("ArtifactType", with("/artifactType", json!("application/vnd.example.sbom"))),
        ("ArtifactType", with("/artifactType", Value::Null)),
        ("Subject", with("/subject", Value::Null)),
        ("LayerType", with("/layers/0/mediaType", json!(WASM_TYPE))),
        ("Layers", with("/layers", json!([]))),
        ("TooLarge", with("/layers/0/size", json!(64 * 1024 + 1))),
    ] {
        assert_eq!(broken(&manifest, subject), expected);
    }
    assert_eq!(good["config"]["mediaType"], "application/vnd.oci.empty.v1+json");
    assert_eq!(good["config"]["digest"], format!("sha256:{}", Digest::of(b"{}")));
    assert_eq!(good["artifactType"], SIGNATURES_TYPE);
}

#[test]
fn an_index_is_read_again_while_it_is_not_too_long() {
    let entry = Descriptor::of(WASM_TYPE, b"x");
    let mut index = Index { manifests: vec![entry.clone(); 1_000], ..Index::default() };
    assert_eq!(Index::read(&index.to_json().expect("JSON")).expect("an index"), index);
    index.manifests = vec![entry; 3_000];
    assert_eq!(rule(index.to_json()), "TooLarge");
    assert_eq!(rule(Index::read(good().to_string().as_bytes())), "MediaType");
}

fn descriptors() -> impl Strategy<Value = Descriptor> {
    let annotations = proptest::collection::btree_map("[a-z.]{1,12}", "\\PC{0,12}", 0..3);
    let artifact_type = proptest::option::of("[a-z/+.]{1,20}");
    ("[a-z/+.]{1,20}", any::<[u8; 8]>(), any::<u64>(), artifact_type, annotations).prop_map(
        |(media_type, seed, size, artifact_type, annotations)| Descriptor {
            media_type,
            digest: Digest::of(&seed),
            size,
            artifact_type,
            annotations,
        },
    )
}

/// Replaces one value somewhere in a document.
fn mutate(value: &mut Value, mut at: usize, with: &Value) {
    let count = match value {
        Value::Object(members) => members.len(),
        Value::Array(items) => items.len(),
        _ => 0,
    };
    if count == 0 || at % (count + 1) == count {
        *value = with.clone();
        return;
    }
    let place = at % (count + 1);
    at /= count + 1;
    match value {
        Value::Object(members) => members.values_mut().nth(place).into_iter().for_each(|one| mutate(one, at, with)),
        Value::Array(items) => mutate(&mut items[place], at, with),
        _ => {}
    }
}

proptest! {
    #[test]
    fn manifests_are_read_as_they_are_written(
        artifact_type in proptest::option::of("[a-z/+.]{1,20}"),
        config in descriptors(),
        layers in proptest::collection::vec(descriptors(), 0..4),
        subject in proptest::option::of(descriptors()),
    ) {
        let annotations = BTreeMap::from([("a".to_owned(), "b".to_owned())]);
        let manifest = Manifest { artifact_type, config, layers, subject, annotations };
        let json = manifest.to_json().expect("JSON");
        let read = Manifest::read(&json).expect("a manifest");
        prop_assert_eq!(&read, &manifest);
        prop_assert_eq!(read.to_json().expect("JSON"), json);
    }

    /// Whatever is changed in a good one is taken or refused, and what is taken is written and read again.
    #[test]
    fn hostile_manifests_are_refused_with_an_error(
        at in any::<usize>(),
        again in any::<usize>(),
        values in proptest::sample::subsequence(
            vec![json!(null), json!(-1), json!(1e300), json!("sha256:"), json!([]), json!({}), json!([[[[]]]]), json!("\u{0}")],
            2,
        ),
    ) {
        for mut document in [good(), good_signatures().0, json!({"schemaVersion": 2, "manifests": [good()["config"]]})] {
            mutate(&mut document, at, &values[0]);
            mutate(&mut document, again, &values[1]);
            if let Ok(Document::Manifest(manifest)) = Document::read(document.to_string().as_bytes()) {
                let _ = (manifest.component(), manifest.signatures_of(Digest::of(b"")));
                prop_assert_eq!(Manifest::read(&manifest.to_json().expect("JSON")).expect("a manifest"), *manifest);
            }
        }
    }

    #[test]
    fn no_bytes_are_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in any::<proptest::sample::Index>(), byte in any::<u8>()) {
        let _ = Document::read(&bytes);
        let mut json = good().to_string().into_bytes();
        let at = cut.index(json.len());
        json[at] = byte;
        let _ = Document::read(&json);
        let _ = Document::read(&json[..at]);
    }
}
