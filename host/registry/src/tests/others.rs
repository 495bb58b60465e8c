//! Against a client that nobody here wrote: `skopeo` copies what we have pushed, and we pull what it has copied.
#![expect(clippy::print_stderr, reason = "a test that had no registry says so")]

use std::path::Path;
use std::process::Command;

use test_servers::registry::{Registry as Server, find_skopeo};

use super::{anonymous, by_tag, component, key, open, push, signed, signers};

fn copy(skopeo: &Path, from: &str, to: &str) {
    let plain = ["--insecure-policy", "copy", "--src-tls-verify=false", "--dest-tls-verify=false"];
    let copied = Command::new(skopeo).args(plain).args([from, to]).output().expect("it runs");
    assert!(copied.status.success(), "{from} to {to}: {}", String::from_utf8_lossy(&copied.stderr));
}

#[tokio::test]
async fn another_client_reads_and_writes_the_same() {
    let start = || (Server::start().expect("it starts"), find_skopeo().expect("it is there where it must be"));
    let (Some(server), Some(skopeo)) = tokio::task::spawn_blocking(start).await.expect("no panic") else {
        eprintln!("docker-registry or skopeo is not installed: reading and being read by others was not tested");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().display();
    let repository = format!("oci://{}/team/auto.fix", server.address());
    let registry = open(&repository, &anonymous());
    let file = signed(&component("a"), &[&key()]);
    let pushed = push(&registry, &file, None).await.expect("pushed");

    // From a registry into a layout, which it makes.
    let theirs = format!("docker://{}/team", server.address());
    let (from, to) = (format!("{theirs}/auto.fix:1.2.3"), format!("oci:{folder}/theirs:1.2.3"));
    let copier = skopeo.clone();
    tokio::task::spawn_blocking(move || copy(&copier, &from, &to)).await.expect("copied");
    let layout = open(&format!("oci-layout:{folder}/theirs"), &anonymous());
    let pulled = layout.pull(&by_tag("1.2.3")).await.expect("pulled");
    // It copies the artifact, and not what refers to it.
    assert_eq!((pulled.manifest, &pulled.file), (pushed.manifest, &component("a")));
    push(&layout, &file, None).await.expect("a layout of others is written to as well");
    assert_eq!(signers(&layout.pull(&by_tag("1.2.3")).await.expect("pulled").file), 1);

    // From a layout, which we make, into a registry.
    let ours = open(&format!("oci-layout:{folder}/ours"), &anonymous());
    push(&ours, &signed(&component("b"), &[&key()]), Some("b")).await.expect("pushed");
    let (from, to) = (format!("oci:{folder}/ours:b"), format!("{theirs}/copied:b"));
    tokio::task::spawn_blocking(move || copy(&skopeo, &from, &to)).await.expect("copied");
    let copied = open(&format!("oci://{}/team/copied", server.address()), &anonymous());
    assert_eq!(copied.pull(&by_tag("b")).await.expect("pulled").file, component("b"));
}
