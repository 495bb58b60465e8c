//! What a registry may do that does not do as it should. Each test breaks one thing.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use intent_gateway_domain::digest::Digest;
use serde_json::{Value, json};

use super::fake::{Content, Fake, Reply};
use super::{anonymous, by_tag, component, key, open, push, push_as, signed, signers, told};
use crate::{BrokenRule, Options, PlainHttp, Pushed, Reference, RegistryError};

/// A registry with one contract in it, signed once.
async fn with_contract() -> (Fake, Pushed) {
    let fake = Fake::start().await;
    let file = signed(&component("a"), &[&key()]);
    let pushed = push(&open(&fake.name(), &anonymous()), &file, None).await.expect("pushed");
    (fake, pushed)
}

async fn pull(fake: &Fake) -> Result<crate::Pulled, RegistryError> {
    open(&fake.name(), &anonymous()).pull(&by_tag("1.2.3")).await
}

async fn code(fake: &Fake) -> &'static str {
    pull(fake).await.expect_err("it is refused").code()
}

/// Changes the manifest under the tag, by its JSON.
fn change_manifest(fake: &Fake, change: impl FnOnce(&mut Value)) {
    let json = fake.content("manifests/1.2.3").expect("it is there");
    let mut manifest = serde_json::from_slice(&json).expect("JSON");
    change(&mut manifest);
    fake.put("manifests/1.2.3", manifest.to_string());
}

#[tokio::test]
async fn a_registry_with_a_list_of_referrers_needs_no_tag_for_it() {
    let (fake, pushed) = with_contract().await;
    let pulled = pull(&fake).await.expect("pulled");
    assert_eq!((signers(&pulled.file), pulled.manifest, pulled.component), (1, pushed.manifest, pushed.component));
    assert_eq!((pulled.intent.as_deref(), pulled.version.as_deref()), (Some("auto.fix"), Some("1.2.3")));
    let is_fall_back = |path: &str| path.contains("manifests/sha256-");
    assert!(!fake.seen().iter().any(|seen| is_fall_back(&seen.path)), "neither read nor written");
    // The tag is what moves last.
    let puts = fake.seen().into_iter().filter(|seen| seen.method == Method::PUT);
    let last = puts.last().expect("something was put");
    assert!(last.path.ends_with("manifests/1.2.3"), "{}", last.path);
    let again = push(&open(&fake.name(), &anonymous()), &component("a"), None).await.expect("pushed");
    assert!(again.was_there && !again.signed);
}

#[tokio::test]
async fn what_says_that_it_is_too_large_is_not_fetched() {
    let (fake, pushed) = with_contract().await;
    change_manifest(&fake, |manifest| manifest["layers"][0]["size"] = json!(64 * 1024 * 1024 + 1));
    let before = fake.seen().len();
    assert_eq!(code(&fake).await, "ARTIFACT_TOO_LARGE");
    assert!(!fake.seen()[before..].iter().any(|seen| seen.path.contains("/blobs/")), "nothing of it");
    let large = Reply::of(200, Content::Promised(256 * 1024 + 1));
    fake.answers_at(format!("manifests/sha256:{}", pushed.manifest), large.clone());
    let by_digest = open(&fake.name(), &anonymous()).pull(&Reference::Digest(pushed.manifest)).await;
    assert_eq!(by_digest.expect_err("too large").code(), "ARTIFACT_TOO_LARGE");
    fake.answers(|seen| seen.path.contains("/referrers/").then(|| Reply::new(200, vec![b' '; 256 * 1024 + 1])));
    let registry = open(&fake.name(), &anonymous());
    let referrers = registry.pull(&Reference::Digest(pushed.manifest)).await;
    assert_eq!(referrers.expect_err("too large").code(), "ARTIFACT_TOO_LARGE");
}

#[tokio::test]
async fn bodies_without_an_end_are_cut() {
    let (fake, pushed) = with_contract().await;
    let endless = Reply::of(200, Content::Endless);
    for end in [
        "manifests/1.2.3".to_owned(),
        format!("blobs/sha256:{}", pushed.component),
        format!("referrers/sha256:{}", pushed.manifest),
        "tags/list".to_owned(),
    ] {
        fake.answers_at(end.clone(), endless.clone());
        let registry = open(&fake.name(), &anonymous());
        let error = match &end[..] {
            "tags/list" => registry.tags().await.expect_err("it has no end"),
            _ => registry.pull(&by_tag("1.2.3")).await.expect_err("it has no end"),
        };
        // Of a blob it is known how long it is.
        let expected = if end.starts_with("blobs") { "ARTIFACT_ALTERED" } else { "ARTIFACT_TOO_LARGE" };
        assert_eq!(error.code(), expected, "{end}: {error}");
    }
    fake.answers_at("manifests/1.2.3", Reply::of(500, Content::Endless));
    assert_eq!(code(&fake).await, "REGISTRY_UNREACHABLE", "the body of an error, too");
}

#[tokio::test]
async fn a_registry_that_is_silent_is_left_after_a_while() {
    let (fake, pushed) = with_contract().await;
    for end in ["manifests/1.2.3".to_owned(), format!("blobs/sha256:{}", pushed.component)] {
        fake.answers_at(end, Reply::of(200, Content::Silent));
        let options = Options { timeout: Duration::from_millis(300), ..anonymous() };
        let error = open(&fake.name(), &options).pull(&by_tag("1.2.3")).await.expect_err("it is cut");
        assert!(matches!(error, RegistryError::TimedOut { .. }), "{error}");
        assert!(error.code() == "REGISTRY_UNREACHABLE" && error.is_worth_retrying());
    }
}

#[tokio::test]
async fn content_of_another_digest_or_size_is_altered() {
    let (fake, pushed) = with_contract().await;
    let blob = format!("blobs/sha256:{}", pushed.component);
    let good = fake.content(&blob).expect("it is there");
    let mut flipped = good.to_vec();
    flipped[20] ^= 1;
    for bad in [flipped, good[1..].to_vec(), [&good[..], b"\0"].concat(), Vec::new()] {
        fake.put(&blob, bad);
        let error = pull(&fake).await.expect_err("it was altered");
        assert!(matches!(error, RegistryError::Altered { what: "the component", .. }), "{error}");
        assert!(!error.is_worth_retrying());
    }
    fake.put(&blob, good.clone());
    pull(&fake).await.expect("as it was");
    // A manifest that lies about the size of the right content.
    for size in [good.len() - 1, good.len() + 1] {
        change_manifest(&fake, |manifest| manifest["layers"][0]["size"] = json!(size));
        assert_eq!(code(&fake).await, "ARTIFACT_ALTERED", "{size}");
    }
}

#[tokio::test]
async fn a_manifest_is_the_one_that_its_digest_names() {
    let (fake, pushed) = with_contract().await;
    let by_digest = Reference::Digest(pushed.manifest);
    let json = fake.content("manifests/1.2.3").expect("it is there");
    fake.put(&format!("manifests/sha256:{}", pushed.manifest), [&json[..], b" "].concat());
    let registry = open(&fake.name(), &anonymous());
    assert_eq!(registry.pull(&by_digest).await.expect_err("altered").code(), "ARTIFACT_ALTERED");
    assert_eq!(registry.resolve(&by_digest).await.expect_err("altered").code(), "ARTIFACT_ALTERED");
    // What the registry says of a tag's digest counts as well.
    let said = format!("sha256:{}", Digest::of(b"other"));
    let reply = Reply::new(200, json.clone()).with("docker-content-digest", said);
    fake.answers_at("manifests/1.2.3", reply);
    assert_eq!(code(&fake).await, "ARTIFACT_ALTERED");
    fake.answers_at("manifests/1.2.3", Reply::new(200, json.clone()).with("docker-content-digest", "sha512:abc"));
    assert_eq!(code(&fake).await, "REGISTRY_INVALID");
    let refused = registry.resolve(&by_tag("1.2.3")).await.expect_err("no digest");
    assert_eq!(refused.code(), "REGISTRY_INVALID");
    // One that says nothing of it is asked for the whole.
    fake.answers_at("manifests/1.2.3", Reply::new(200, json.clone()));
    assert_eq!(registry.resolve(&by_tag("1.2.3")).await.expect("resolved"), Digest::of(&json));
}

#[tokio::test]
async fn an_index_and_an_image_are_no_contract() {
    let (fake, pushed) = with_contract().await;
    let entry = json!({
        "mediaType": crate::MANIFEST_TYPE, "digest": format!("sha256:{}", pushed.manifest), "size": 1,
        "platform": {"os": "linux", "architecture": "amd64"},
    });
    fake.put("manifests/1.2.3", json!({"schemaVersion": 2, "manifests": [entry, entry]}).to_string());
    assert_eq!(code(&fake).await, "ARTIFACT_INVALID");
    fake.put("manifests/1.2.3", "no JSON");
    assert_eq!(code(&fake).await, "ARTIFACT_INVALID");
}

#[tokio::test]
async fn redirects_are_followed_where_they_are_safe() {
    let (fake, pushed) = with_contract().await;
    let storage = Fake::start().await;
    let path = format!("blobs/sha256:{}", pushed.component);
    storage.put(&path, fake.content(&path).expect("it is there"));
    let to = |target: String| Reply::new(307, "").with("location", target);
    let elsewhere = format!("http://127.0.0.1:{}/v2/team/contract/{path}", storage.port);
    fake.answers_at(path.clone(), to(elsewhere));
    pull(&fake).await.expect("to another port of this machine");
    for target in [
        // Plain HTTP, and not to this machine.
        "http://registry.example/x".to_owned(),
        "ftp://127.0.0.1/x".to_owned(),
        "http://".to_owned(),
        // To itself, again and again.
        format!("/v2/team/contract/{path}"),
    ] {
        fake.answers_at(path.clone(), to(target.clone()));
        let error = pull(&fake).await.expect_err("it is not followed");
        assert!(matches!(error, RegistryError::Protocol { what: BrokenRule::Redirect, .. }), "{target}: {error}");
        assert_eq!(error.code(), "REGISTRY_INVALID");
    }
    fake.answers_at(path, Reply::new(307, ""));
    assert_eq!(code(&fake).await, "REGISTRY_INVALID", "to nowhere");
}

#[tokio::test]
async fn credentials_are_not_sent_along_a_redirect() {
    let (fake, pushed) = with_contract().await;
    let storage = Fake::start().await;
    let path = format!("blobs/sha256:{}", pushed.component);
    storage.put(&path, fake.content(&path).expect("it is there"));
    let target = format!("http://127.0.0.1:{}/v2/team/contract/{path}", storage.port);
    fake.answers_at(path, Reply::new(307, "").with("location", target));
    let token = crate::Credentials::Token(intent_gateway_domain::secret::Secret::new("t0ken"));
    let options = Options { credentials: token, ..anonymous() };
    let pulled = open(&fake.name(), &options).pull(&by_tag("1.2.3")).await.expect("pulled");
    assert_eq!(signers(&pulled.file), 1);
    assert_eq!(storage.seen().len(), 1);
    assert_eq!(storage.seen()[0].authorization, None);
    assert!(fake.seen().last().is_some_and(|seen| seen.authorization.as_deref() == Some("Bearer t0ken")));
}

#[tokio::test]
async fn each_status_has_its_code() {
    let (fake, _) = with_contract().await;
    for (status, expected, again) in [
        (401, "REGISTRY_REFUSED", false),
        (403, "REGISTRY_REFUSED", false),
        (404, "ARTIFACT_NOT_FOUND", false),
        (429, "REGISTRY_UNREACHABLE", true),
        (500, "REGISTRY_UNREACHABLE", true),
        (503, "REGISTRY_UNREACHABLE", true),
        (204, "REGISTRY_INVALID", false),
        (418, "REGISTRY_INVALID", false),
    ] {
        let body = r#"{"errors":[{"code":"DENIED","message":"Bearer s3cret"}]}"#;
        fake.answers_at("manifests/1.2.3", Reply::new(status, if status == 204 { "" } else { body }));
        let error = pull(&fake).await.expect_err("it is refused");
        assert_eq!((error.code(), error.is_worth_retrying()), (expected, again), "{status}");
        assert!(!told(&error).contains("s3cret"), "{error:?}");
        let resolved = open(&fake.name(), &anonymous()).resolve(&by_tag("1.2.3")).await.expect_err("refused");
        assert_eq!(resolved.code(), expected, "{status}");
    }
    fake.answers_at("manifests/1.2.3", Reply::new(403, r#"{"errors":[{"code":"DENIED"}]}"#));
    assert!(pull(&fake).await.expect_err("refused").to_string().contains("403 Forbidden (DENIED)"));
    // Nobody listens there.
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port").local_addr().expect("an address");
    let error = open(&format!("oci://{closed}/a"), &anonymous()).pull(&by_tag("x")).await.expect_err("nobody");
    assert!(error.code() == "REGISTRY_UNREACHABLE" && error.is_worth_retrying(), "{error}");
    assert!(std::error::Error::source(&error).is_some());
}

#[tokio::test]
async fn tags_come_in_pages_and_not_without_end() {
    let (fake, _) = with_contract().await;
    let list = |tags: &[String]| json!({"name": "team/contract", "tags": tags}).to_string();
    fake.answers(move |seen| {
        if !seen.path.ends_with("tags/list") {
            return None;
        }
        let next = |query: &str| format!("</v2/team/contract/tags/list?{query}>; rel=\"next\"");
        let digest = Digest::of(b"x");
        Some(match &seen.query[..] {
            "n=1000" => Reply::new(200, list(&["1.0.0".to_owned(), "bad tag".to_owned()])).with("link", next("last=a")),
            "last=a" => Reply::new(200, list(&["2.0.0".to_owned(), format!("sha256-{digest}")])),
            other => Reply::new(500, other.to_owned()),
        })
    });
    let tags = open(&fake.name(), &anonymous()).tags().await.expect("tags");
    assert_eq!(tags.iter().map(ToString::to_string).collect::<Vec<_>>(), ["1.0.0", "2.0.0"]);
    let same = "</v2/team/contract/tags/list?n=1000>; rel=next";
    let many: Vec<String> = (0..10_001).map(|number| format!("1.0.{number}")).collect();
    for (reply, expected) in [
        (Reply::new(200, r#"{"name":"a","tags":null}"#), ""),
        (Reply::new(200, list(&many[1..])), ""),
        (Reply::new(200, list(&many)), "ARTIFACT_TOO_LARGE"),
        (Reply::new(200, list(&[])).with("link", same), "ARTIFACT_TOO_LARGE"),
        (Reply::new(200, "[]"), "REGISTRY_INVALID"),
        (Reply::new(200, list(&[])).with("link", "<http://registry.example/x>; rel=next"), "REGISTRY_INVALID"),
        (Reply::new(404, "{}"), "ARTIFACT_NOT_FOUND"),
    ] {
        fake.answers_at("tags/list", reply);
        let found = open(&fake.name(), &anonymous()).tags().await;
        assert_eq!(found.err().map_or("", |error| error.code()), expected);
    }
}

/// The manifest and the layer of the one signature.
fn signature_manifest(fake: &Fake, artifact: Digest) -> (String, Value) {
    let path = fake.seen().into_iter().find(|seen| {
        seen.method == Method::PUT && String::from_utf8_lossy(&seen.body).contains(&format!("{artifact}"))
    });
    let body = path.expect("it was put").body;
    (format!("sha256:{}", Digest::of(&body)), serde_json::from_slice(&body).expect("JSON"))
}

#[tokio::test]
async fn signatures_are_verified_as_content_and_belong_to_the_artifact() {
    let (fake, pushed) = with_contract().await;
    let (digest, manifest) = signature_manifest(&fake, pushed.manifest);
    let listed = |digests: &[String]| {
        let entry = |digest: &String| json!({"mediaType": crate::MANIFEST_TYPE, "digest": digest, "size": 1, "artifactType": crate::SIGNATURES_TYPE});
        json!({"schemaVersion": 2, "manifests": digests.iter().map(entry).collect::<Vec<_>>()}).to_string()
    };
    let referrers = format!("referrers/sha256:{}", pushed.manifest);
    let layer = format!("blobs/{}", manifest["layers"][0]["digest"].as_str().expect("text"));
    let good = fake.content(&layer).expect("it is there");
    // Altered, gone, and of another artifact.
    let mut bad = good.to_vec();
    bad[10] ^= 1;
    fake.put(&layer, bad);
    assert_eq!(code(&fake).await, "ARTIFACT_ALTERED");
    fake.put(&layer, good);
    fake.answers_at(referrers.clone(), Reply::new(200, listed(&[format!("sha256:{}", Digest::of(b"gone"))])));
    assert_eq!(code(&fake).await, "ARTIFACT_NOT_FOUND");
    let mut other = manifest.clone();
    other["subject"]["digest"] = json!(format!("sha256:{}", Digest::of(b"other")));
    let text = other.to_string();
    let other_digest = format!("sha256:{}", Digest::of(text.as_bytes()));
    fake.put(&format!("manifests/{other_digest}"), text);
    fake.answers_at(referrers.clone(), Reply::new(200, listed(&[other_digest])));
    assert_eq!(code(&fake).await, "ARTIFACT_INVALID");
    // What is listed twice is one, and others' referrers are passed over.
    let other = format!("sha256:{}", Digest::of(b"gone"));
    let sbom = json!({"mediaType": crate::MANIFEST_TYPE, "digest": other, "size": 1, "artifactType": "text/spdx"});
    let mut twice: Value = serde_json::from_str(&listed(&[digest.clone(), digest.clone()])).expect("JSON");
    twice["manifests"].as_array_mut().expect("a list").push(sbom);
    fake.answers_at(referrers.clone(), Reply::new(200, twice.to_string()));
    assert_eq!(signers(&pull(&fake).await.expect("pulled").file), 1);
    fake.answers_at(referrers, Reply::new(200, listed(&vec![digest; 33])));
    assert_eq!(code(&fake).await, "ARTIFACT_TOO_LARGE");
}

#[tokio::test]
async fn what_cannot_be_read_as_one_statement_is_not_pushed() {
    let (fake, pushed) = with_contract().await;
    let registry = open(&fake.name(), &anonymous());
    let other = super::signed_as(&component("a"), "1.2.3", "gateway:contract@9.0.0", &[&key()]);
    let error = push(&registry, &other, None).await.expect_err("another statement");
    assert!(error.code() == "ARTIFACT_INVALID" && told(&error).contains("SignaturesDiffer"), "{error}");
    let keys: Vec<_> = (0..8).map(|_| key()).collect();
    let error = push(&registry, &signed(&component("a"), &keys.iter().collect::<Vec<_>>()), None).await;
    assert!(told(&error.expect_err("nine of them")).contains("SignaturesDiffer"));
    assert_eq!(pull(&fake).await.expect("as before").manifest, pushed.manifest);
}

#[tokio::test]
async fn an_upload_goes_to_the_registry_alone_and_moves_no_tag_when_it_fails() {
    let fake = Fake::start().await;
    let registry = open(&fake.name(), &anonymous());
    for (reply, expected) in [
        (Reply::new(202, "").with("location", "https://storage.example/upload"), "REGISTRY_INVALID"),
        (Reply::new(202, "").with("location", "http://["), "REGISTRY_INVALID"),
        (Reply::new(307, "").with("location", "/elsewhere"), "REGISTRY_INVALID"),
        (Reply::new(202, ""), "REGISTRY_INVALID"),
        (Reply::new(403, ""), "REGISTRY_REFUSED"),
        (Reply::new(503, ""), "REGISTRY_UNREACHABLE"),
    ] {
        fake.answers(move |seen| (seen.method == Method::POST).then(|| reply.clone()));
        let error = push(&registry, &component("a"), None).await.expect_err("it fails");
        assert_eq!(error.code(), expected, "{error}");
    }
    fake.answers(|seen| (seen.method == Method::PUT && seen.path.contains("sha256")).then(|| Reply::new(500, "")));
    assert_eq!(push(&registry, &component("a"), None).await.expect_err("it fails").code(), "REGISTRY_UNREACHABLE");
    assert_eq!(fake.content("manifests/1.2.3"), None);
}

/// A registry without a list of referrers, where somebody else always writes the list of signatures last.
#[tokio::test]
async fn a_list_of_signatures_that_others_overwrite_is_told() {
    let fake = Fake::start().await;
    let empty: Bytes = json!({"schemaVersion": 2, "manifests": []}).to_string().into();
    fake.answers(move |seen| {
        if seen.path.contains("/referrers/") {
            return Some(Reply::new(404, "404 page not found\n"));
        }
        match seen.method {
            _ if !seen.path.contains("manifests/sha256-") => None,
            Method::PUT => Some(Reply::new(201, "")),
            _ => Some(Reply::new(200, empty.clone())),
        }
    });
    // This one does not say that it has listed anything.
    let file = signed(&component("a"), &[&key()]);
    let inner = fake.clone();
    let registry = open(&inner.name(), &anonymous());
    fake.hide_subject();
    let error = push_as(&registry, &file, "1.2.3", None).await.expect_err("it is lost");
    assert!(matches!(error, RegistryError::Protocol { what: BrokenRule::Overwritten, .. }), "{error}");
    assert!(error.is_worth_retrying());
    assert_eq!(fake.content("manifests/1.2.3"), None, "the tag has not moved");
}

#[test]
fn what_is_protected_depends_on_the_registry() {
    let protected = |registry: &str, plain: PlainHttp, address: &str| {
        let name = super::name(registry);
        let crate::Location::Repository(repository) = name.location() else { panic!("it is in a registry") };
        let transport = crate::transport::Transport::new(repository, plain, None).expect("TLS");
        transport.is_protected(&address.parse().expect("an address"))
    };
    let (here, there) = ("oci://localhost:5000/a", "oci://registry.example/a");
    for (registry, plain, address, expected) in [
        (there, PlainHttp::Loopback, "https://elsewhere.example/x", true),
        (there, PlainHttp::Loopback, "http://registry.example/x", false),
        // A registry elsewhere has nothing to look for on this machine.
        (there, PlainHttp::Loopback, "http://127.0.0.1/x", false),
        (here, PlainHttp::Loopback, "http://127.0.0.1/x", true),
        (here, PlainHttp::Loopback, "http://[::1]:80/x", true),
        (here, PlainHttp::Loopback, "http://registry.example/x", false),
        (here, PlainHttp::Never, "http://127.0.0.1/x", false),
        (there, PlainHttp::Insecure, "http://registry.example/x", true),
        (there, PlainHttp::Insecure, "file:///x", false),
    ] {
        assert_eq!(protected(registry, plain, address), expected, "{registry} {plain:?} {address}");
    }
}

#[tokio::test]
async fn plain_http_is_for_this_machine_alone() {
    let fake = Fake::start().await;
    let options = Options { plain_http: PlainHttp::Never, ..anonymous() };
    let error = open(&fake.name(), &options).tags().await.expect_err("it speaks no TLS");
    assert_eq!(error.code(), "REGISTRY_UNREACHABLE");
    assert!(fake.seen().is_empty());
}
