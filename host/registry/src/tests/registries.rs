//! Against a registry that nobody here wrote: Debian's `docker-registry`, without a list of referrers.
#![expect(clippy::print_stderr, reason = "a test that had no registry says so")]

use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::secret::Secret;
use serde_json::Value;
use test_servers::registry::{PASSWORD, Registry as Server, USER};

use super::{anonymous, by_tag, component, key, open, push, push_as, signed, signers};
use crate::{Credentials, Options, Reference, Registry, RegistryError, Selector};

const REPOSITORY: &str = "team/auto.fix";

async fn start(has_password: bool) -> Option<Server> {
    let start = move || if has_password { Server::start_with_password() } else { Server::start() };
    let started = tokio::task::spawn_blocking(start).await.expect("no panic").expect("it starts");
    if started.is_none() {
        eprintln!("docker-registry is not installed: this was not tested");
    }
    started
}

fn at(server: &Server, options: &Options) -> Registry {
    open(&format!("oci://{}/{REPOSITORY}", server.address()), options)
}

fn code<T: std::fmt::Debug>(outcome: Result<T, RegistryError>) -> &'static str {
    outcome.expect_err("it is refused").code()
}

#[tokio::test]
async fn what_is_pushed_is_pulled_with_the_signatures_of_all() {
    let Some(server) = start(false).await else { return };
    let registry = at(&server, &anonymous());
    let component = component("a");
    assert_eq!(code(registry.resolve(&by_tag("1.2.3")).await), "ARTIFACT_NOT_FOUND", "nothing is there");
    assert_eq!(code(registry.tags().await), "ARTIFACT_NOT_FOUND");
    let (one, two) = (key(), key());
    let first = push(&registry, &component, None).await.expect("pushed");
    assert_eq!((first.was_there, first.signed, first.component), (false, false, Digest::of(&component)));
    assert_eq!(registry.pull(&by_tag("1.2.3")).await.expect("pulled").file, component);
    for (file, was_there, count) in [
        (signed(&component, &[&one]), false, 1),
        (signed(&component, &[&one]), true, 1),
        (signed(&component, &[&two]), false, 2),
        (component.clone(), true, 2),
    ] {
        let pushed = push(&registry, &file, None).await.expect("pushed");
        assert_eq!((pushed.manifest, pushed.was_there), (first.manifest, was_there));
        let pulled = registry.pull(&by_tag("1.2.3")).await.expect("pulled");
        assert_eq!((signers(&pulled.file), pulled.component), (count, first.component));
        assert_eq!((pulled.intent.as_deref(), pulled.version.as_deref()), (Some("auto.fix"), Some("1.2.3")));
        assert_eq!(registry.pull(&Reference::Digest(first.manifest)).await.expect("pulled"), pulled);
    }
    // The tag that stands for a list of referrers, as others look for it.
    let fall_back = by_tag(&format!("sha256-{}", first.manifest));
    let index = registry.resolve(&fall_back).await.expect("it is there");
    let index = std::fs::read(server.blob(&index.to_string())).expect("the registry's file");
    let index: Value = serde_json::from_slice(&index).expect("JSON");
    let types: Vec<&Value> =
        index["manifests"].as_array().expect("a list").iter().map(|one| &one["artifactType"]).collect();
    assert_eq!(types, [crate::SIGNATURES_TYPE, crate::SIGNATURES_TYPE]);
    assert_eq!(code(registry.pull(&fall_back).await), "ARTIFACT_INVALID", "it is no contract");
}

#[tokio::test]
async fn a_source_follows_the_highest_version_and_a_tag_that_moves() {
    let Some(server) = start(false).await else { return };
    let registry = at(&server, &anonymous());
    for (mark, version) in [("a", "1.2.3"), ("b", "1.10.0"), ("c", "2.0.0-rc.1"), ("d", "1.10.0+5")] {
        push_as(&registry, &component(mark), version, None).await.expect("pushed");
    }
    let signed_one = signed(&component("a"), &[&key()]);
    let old = push(&registry, &signed_one, Some("stable")).await.expect("pushed");
    let mut tags = registry.tags().await.expect("tags");
    tags.sort();
    let texts: Vec<String> = tags.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["1.10.0", "1.10.0_5", "1.2.3", "2.0.0-rc.1", "stable"]);
    let range = Selector::Range("^1".parse().expect("a range"));
    assert_eq!(range.choose(&tags).expect("one fits").tag.as_str(), "1.10.0_5");
    let new = push_as(&registry, &component("b"), "1.10.0", Some("stable")).await.expect("pushed");
    assert_eq!(registry.resolve(&by_tag("stable")).await.expect("resolved"), new.manifest);
    assert_ne!(new.manifest, old.manifest);
    let pulled = registry.pull(&Reference::Digest(old.manifest)).await.expect("it is there by its digest");
    assert_eq!(signers(&pulled.file), 1);
}

#[tokio::test]
async fn a_byte_that_was_changed_on_the_registrys_disk_is_noticed() {
    let Some(server) = start(false).await else { return };
    let registry = at(&server, &anonymous());
    let pushed = push(&registry, &signed(&component("a"), &[&key()]), None).await.expect("pushed");
    for digest in [pushed.component, pushed.manifest] {
        let path = server.blob(&digest.to_string());
        let good = std::fs::read(&path).expect("the registry's file");
        let mut bad = good.clone();
        let at = good.len() - 10;
        bad[at] ^= 1;
        std::fs::write(&path, bad).expect("written");
        let error = registry.pull(&by_tag("1.2.3")).await.expect_err("it was altered");
        // The registry itself may notice a manifest that is no JSON any more.
        assert!(matches!(error.code(), "ARTIFACT_ALTERED" | "REGISTRY_UNREACHABLE"), "{error}");
        std::fs::write(&path, good).expect("written");
    }
    registry.pull(&by_tag("1.2.3")).await.expect("as it was");
}

#[tokio::test]
async fn only_the_right_password_lets_in() {
    let Some(server) = start(true).await else { return };
    let with = |password: &str| Options {
        credentials: Credentials::Password { user: USER.to_owned(), password: Secret::new(password) },
        ..anonymous()
    };
    let file = component("a");
    for options in [anonymous(), with("wrong"), with("")] {
        assert_eq!(code(push(&at(&server, &options), &file, None).await), "REGISTRY_REFUSED");
        assert_eq!(code(at(&server, &options).resolve(&by_tag("1.2.3")).await), "REGISTRY_REFUSED");
    }
    let registry = at(&server, &with(PASSWORD));
    push(&registry, &signed(&file, &[&key()]), None).await.expect("pushed");
    assert_eq!(registry.tags().await.expect("tags").len(), 1);
    assert_eq!(signers(&registry.pull(&by_tag("1.2.3")).await.expect("pulled").file), 1);
    assert_eq!(code(at(&server, &anonymous()).tags().await), "REGISTRY_REFUSED");
}
