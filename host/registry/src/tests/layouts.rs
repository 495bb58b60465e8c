//! Artifacts in a folder.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use intent_gateway_domain::digest::Digest;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{anonymous, by_tag, component, key, open, push, push_as, signed, signers, told};
use crate::{Options, Reference, Registry, RegistryError};

fn layout() -> (TempDir, Registry) {
    let folder = tempfile::tempdir().expect("a folder");
    let registry = at(folder.path());
    (folder, registry)
}

fn at(path: &Path) -> Registry {
    open(&format!("oci-layout:{}/contracts", path.display()), &anonymous())
}

fn json_of(folder: &TempDir, file: &str) -> Value {
    let content = std::fs::read(folder.path().join("contracts").join(file)).expect("the file is there");
    serde_json::from_slice(&content).expect("JSON")
}

fn blob(folder: &TempDir, digest: Digest) -> std::path::PathBuf {
    folder.path().join(format!("contracts/blobs/sha256/{digest}"))
}

fn code<T: std::fmt::Debug>(outcome: Result<T, RegistryError>) -> &'static str {
    outcome.expect_err("it is refused").code()
}

#[tokio::test]
async fn what_is_pushed_is_pulled() {
    let (folder, registry) = layout();
    let component = component("a");
    let (one, two) = (key(), key());
    let pushed = push(&registry, &component, None).await.expect("pushed");
    assert_eq!((pushed.component, pushed.signed, pushed.was_there), (Digest::of(&component), false, false));
    assert_eq!(pushed.tag.as_str(), "1.2.3");
    let pulled = registry.pull(&by_tag("1.2.3")).await.expect("pulled");
    assert_eq!((&pulled.file, pulled.manifest), (&component, pushed.manifest));
    // The signatures of both, whoever pushed last.
    for (file, was_there, count) in [
        (signed(&component, &[&one]), false, 1),
        (signed(&component, &[&one]), true, 1),
        (signed(&component, &[&two]), false, 2),
        (component.clone(), true, 2),
        (signed(&component, &[&one, &two]), true, 2),
    ] {
        let again = push(&registry, &file, None).await.expect("pushed");
        assert_eq!((again.manifest, again.was_there), (pushed.manifest, was_there));
        let pulled = registry.pull(&by_tag("1.2.3")).await.expect("pulled");
        assert_eq!((signers(&pulled.file), pulled.component), (count, pushed.component));
        let by_digest = registry.pull(&Reference::Digest(pushed.manifest)).await.expect("pulled");
        assert_eq!(by_digest, pulled);
    }
    assert_eq!(registry.resolve(&by_tag("1.2.3")).await.expect("resolved"), pushed.manifest);
    assert_eq!(json_of(&folder, "oci-layout"), json!({"imageLayoutVersion": "1.0.0"}));
    let index = json_of(&folder, "index.json");
    assert_eq!(index["manifests"].as_array().map(Vec::len), Some(3), "{index}");
    assert_eq!((&index["schemaVersion"], &index["mediaType"]), (&json!(2), &json!(crate::INDEX_TYPE)));
}

#[tokio::test]
async fn a_tag_moves_and_what_it_named_stays() {
    let (folder, registry) = layout();
    let first = push(&registry, &signed(&component("a"), &[&key()]), Some("stable")).await.expect("pushed");
    let second = push(&registry, &component("b"), Some("stable")).await.expect("pushed");
    push_as(&registry, &component("b"), "2.0.0+7", None).await.expect("pushed");
    assert_eq!(registry.resolve(&by_tag("stable")).await.expect("resolved"), second.manifest);
    let old = registry.pull(&Reference::Digest(first.manifest)).await.expect("pulled");
    assert_eq!(signers(&old.file), 1);
    let mut tags: Vec<String> = registry.tags().await.expect("tags").iter().map(ToString::to_string).collect();
    tags.sort();
    assert_eq!(tags, ["2.0.0_7", "stable"]);
    let index = json_of(&folder, "index.json");
    let named = index["manifests"].as_array().expect("a list").iter();
    let named: Vec<&str> = named.filter_map(|one| one["annotations"][crate::REF_NAME_ANNOTATION].as_str()).collect();
    assert_eq!(named.len(), 2);
}

#[tokio::test]
async fn pushes_at_once_lose_nothing() {
    let (folder, _) = layout();
    let component = component("a");
    let pushes = (0..8).map(|number| {
        let (registry, component) = (at(folder.path()), component.clone());
        tokio::spawn(async move {
            let file = signed(&component, &[&key()]);
            push(&registry, &file, Some(&format!("t{number}"))).await.expect("pushed")
        })
    });
    for pushed in pushes.collect::<Vec<_>>() {
        pushed.await.expect("no panic");
    }
    let registry = at(folder.path());
    assert_eq!(registry.tags().await.expect("tags").len(), 8);
    assert_eq!(signers(&registry.pull(&by_tag("t3")).await.expect("pulled").file), 8);
    let files = std::fs::read_dir(folder.path().join("contracts")).expect("a folder");
    let mut files: Vec<String> =
        files.map(|file| file.expect("a file").file_name().to_string_lossy().into_owned()).collect();
    files.sort();
    assert_eq!(files, ["blobs", "index.json", "oci-layout"], "nothing is left over");
}

#[tokio::test]
async fn a_lock_that_is_not_let_go_is_not_waited_for_without_end() {
    let (folder, registry) = layout();
    push(&registry, &component("a"), None).await.expect("pushed");
    let held = std::fs::File::open(folder.path().join("contracts")).expect("opened");
    held.lock().expect("locked");
    let options = Options { timeout: Duration::from_millis(200), ..anonymous() };
    let impatient = open(&format!("oci-layout:{}/contracts", folder.path().display()), &options);
    let error = push(&impatient, &component("b"), None).await.expect_err("it is locked");
    assert!(matches!(error, RegistryError::TimedOut { .. }), "{error}");
    registry.pull(&by_tag("1.2.3")).await.expect("readers do not wait");
    drop(held);
    push(&registry, &component("b"), None).await.expect("pushed");
}

#[tokio::test]
async fn altered_content_is_refused() {
    let (folder, registry) = layout();
    let pushed = push(&registry, &signed(&component("a"), &[&key()]), None).await.expect("pushed");
    let index = json_of(&folder, "index.json");
    let signatures = index["manifests"][1]["digest"].as_str().and_then(|text| text.strip_prefix("sha256:"));
    let signatures: Digest = signatures.expect("a digest").parse().expect("a digest");
    for digest in [pushed.component, pushed.manifest, signatures] {
        let path = blob(&folder, digest);
        let good = std::fs::read(&path).expect("it is there");
        let mut flipped = good.clone();
        flipped[good.len() / 2] ^= 1;
        for bad in [flipped, good[1..].to_vec(), [&good[..], b" "].concat()] {
            std::fs::write(&path, bad).expect("written");
            let error = registry.pull(&by_tag("1.2.3")).await.expect_err("it was altered");
            assert_eq!(error.code(), "ARTIFACT_ALTERED", "{error}");
        }
        std::fs::write(&path, &good).expect("written");
    }
    registry.pull(&by_tag("1.2.3")).await.expect("as it was");
    // A push mends what was damaged.
    std::fs::write(blob(&folder, pushed.component), b"").expect("written");
    push(&registry, &component("a"), Some("again")).await.expect("pushed");
    registry.pull(&by_tag("1.2.3")).await.expect("mended");
    std::fs::remove_file(blob(&folder, pushed.component)).expect("removed");
    assert_eq!(code(registry.pull(&by_tag("1.2.3")).await), "ARTIFACT_NOT_FOUND");
    std::fs::remove_file(blob(&folder, pushed.manifest)).expect("removed");
    assert_eq!(code(registry.pull(&by_tag("1.2.3")).await), "ARTIFACT_NOT_FOUND");
}

#[tokio::test]
async fn links_lead_nowhere() {
    let (outside, elsewhere) = layout();
    let pushed = push(&elsewhere, &component("a"), None).await.expect("pushed");
    let source = outside.path().join("contracts");
    for linked in ["index.json", "oci-layout", "blobs", "blobs/sha256", &format!("blobs/sha256/{}", pushed.component)] {
        let (folder, registry) = layout();
        push(&registry, &component("a"), None).await.expect("pushed");
        let path = folder.path().join("contracts").join(linked);
        if path.is_dir() {
            std::fs::remove_dir_all(&path).expect("removed");
        } else {
            std::fs::remove_file(&path).expect("removed");
        }
        symlink(source.join(linked), &path).expect("linked");
        let error = registry.pull(&by_tag("1.2.3")).await.expect_err("it is a link");
        assert!(error.code() == "ARTIFACT_INVALID" && told(&error).contains("Link"), "{linked}: {error}");
    }
    // The folder itself may be one: whoever named it meant it.
    let folder = tempfile::tempdir().expect("a folder");
    symlink(&source, folder.path().join("contracts")).expect("linked");
    at(folder.path()).pull(&by_tag("1.2.3")).await.expect("pulled");
    // A push replaces a link in the place of a file, and does not write through it.
    let before = std::fs::read(source.join("index.json")).expect("read");
    let (folder, registry) = layout();
    push(&registry, &component("a"), None).await.expect("pushed");
    let path = blob(&folder, Digest::of(&component("a")));
    std::fs::remove_file(&path).expect("removed");
    symlink(source.join("index.json"), &path).expect("linked");
    push(&registry, &component("a"), Some("again")).await.expect("pushed");
    assert_eq!(std::fs::read(source.join("index.json")).expect("read"), before);
    registry.pull(&by_tag("1.2.3")).await.expect("pulled");
}

#[tokio::test]
async fn a_folder_that_is_no_layout_is_left_alone() {
    let (folder, registry) = layout();
    let path = folder.path().join("contracts");
    assert_eq!(code(registry.pull(&by_tag("1.2.3")).await), "ARTIFACT_NOT_FOUND", "there is none");
    std::fs::create_dir(&path).expect("created");
    assert_eq!(code(registry.tags().await), "ARTIFACT_NOT_FOUND", "it is empty");
    std::fs::write(path.join("notes.txt"), "mine").expect("written");
    assert_eq!(code(registry.pull(&by_tag("1.2.3")).await), "ARTIFACT_INVALID");
    assert_eq!(code(push(&registry, &component("a"), None).await), "ARTIFACT_INVALID");
    assert_eq!(std::fs::read_dir(&path).expect("a folder").count(), 1);
    std::fs::write(path.join("oci-layout"), r#"{"imageLayoutVersion":"2.0.0"}"#).expect("written");
    assert_eq!(code(push(&registry, &component("a"), None).await), "ARTIFACT_INVALID");
    std::fs::remove_dir_all(&path).expect("removed");
    std::fs::write(&path, "a file").expect("written");
    assert_eq!(code(registry.pull(&by_tag("1.2.3")).await), "ARTIFACT_INVALID");
    assert_eq!(code(push(&registry, &component("a"), None).await), "ARTIFACT_INVALID");
}

#[tokio::test]
async fn an_index_of_strangers_is_read_within_bounds() {
    let (folder, registry) = layout();
    let pushed = push(&registry, &signed(&component("a"), &[&key()]), None).await.expect("pushed");
    let index = json_of(&folder, "index.json");
    let write = |index: &Value| {
        std::fs::write(folder.path().join("contracts/index.json"), index.to_string()).expect("written");
    };
    // Tools leave out of what type a manifest is, and write whole names where a tag belongs.
    let mut foreign = index.clone();
    foreign["manifests"][1].as_object_mut().expect("an object").remove("artifactType");
    foreign["manifests"].as_array_mut().expect("a list").push(json!({
        "mediaType": crate::MANIFEST_TYPE, "digest": format!("sha256:{}", Digest::of(b"gone")), "size": 1,
        "annotations": {crate::REF_NAME_ANNOTATION: "docker.io/library/x:1"},
    }));
    write(&foreign);
    assert_eq!(signers(&registry.pull(&by_tag("1.2.3")).await.expect("pulled").file), 1);
    assert_eq!(registry.tags().await.expect("tags").len(), 1);
    let mut many = index.clone();
    let signature = index["manifests"][1].clone();
    many["manifests"].as_array_mut().expect("a list").extend(vec![signature; 33]);
    write(&many);
    assert_eq!(code(registry.pull(&by_tag("1.2.3")).await), "ARTIFACT_TOO_LARGE");
    let mut scanned = index.clone();
    let gone =
        json!({"mediaType": crate::MANIFEST_TYPE, "digest": format!("sha256:{}", Digest::of(b"gone")), "size": 1});
    scanned["manifests"].as_array_mut().expect("a list").extend(vec![gone; 1_001]);
    write(&scanned);
    assert_eq!(code(registry.pull(&by_tag("1.2.3")).await), "ARTIFACT_TOO_LARGE");
    let mut long = index;
    long["annotations"] = json!({"x": "x".repeat(256 * 1024)});
    write(&long);
    assert_eq!(code(registry.pull(&by_tag("1.2.3")).await), "ARTIFACT_TOO_LARGE");
    assert_eq!(code(push(&registry, &component("b"), None).await), "ARTIFACT_TOO_LARGE");
    write(&json!("no index"));
    assert_eq!(code(registry.resolve(&by_tag("1.2.3")).await), "ARTIFACT_INVALID");
    assert_eq!(registry.resolve(&Reference::Digest(pushed.manifest)).await.expect("resolved"), pushed.manifest);
}
