//! The image: an OCI archive of one layer with the gateway, the libraries that it needs of this machine, the roots of the web's
//! certificates and the contracts. It is made of files alone, so no daemon and no registry is needed; the same files give the
//! same image.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use super::archive::{Effort, Tar, digest_of};
use super::source::Source;
use crate::command::{output, step};

/// Whom the gateway runs as; nobody else is in the image.
const USER: u64 = 65_532;
const PASSWD: &str =
    "root:x:0:0:root:/root:/sbin/nologin\ngateway:x:65532:65532:intent-gateway:/var/lib/intent-gateway:/sbin/nologin\n";
const GROUP: &str = "root:x:0:\ngateway:x:65532:\n";
/// Names are looked up in files first, then by DNS.
const NSSWITCH: &str = "hosts: files dns\n";
/// The roots of certificates, where Debian's package has them.
const ROOTS: &str = "/etc/ssl/certs/ca-certificates.crt";

/// Folders that have to be there, with whose they are.
const FOLDERS: [(&str, u32, u64); 3] =
    [("var/lib/intent-gateway", 0o700, USER), ("etc/intent-gateway", 0o755, 0), ("tmp", 0o1777, 0)];
/// What of the tree goes into the image.
const TAKEN: [&str; 3] =
    ["usr/bin/intent-gateway", "usr/share/intent-gateway/contracts", "usr/share/doc/intent-gateway"];

/// Writes the image as an archive, which `podman load`, `docker load` and `skopeo copy oci-archive:` take.
pub(crate) fn write(source: &Source, tree: &Path, effort: Effort, out: &Path) -> anyhow::Result<()> {
    step("Image");
    let layer = layer(source, tree)?;
    let mut compressed = GzEncoder::new(Vec::new(), effort.compression());
    compressed.write_all(&layer).context("the layer cannot be compressed")?;
    let compressed = compressed.finish().context("the layer cannot be compressed")?;
    let created = jiff::Timestamp::from_second(i64::try_from(source.time)?)?.to_string();
    let config = config(source, &created, &digest_of(&layer));
    let config = config.to_string().into_bytes();
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": descriptor("application/vnd.oci.image.config.v1+json", &config),
        "layers": [descriptor("application/vnd.oci.image.layer.v1.tar+gzip", &compressed)],
        "annotations": annotations(source, &created),
    });
    let manifest = manifest.to_string().into_bytes();
    let mut named = descriptor("application/vnd.oci.image.manifest.v1+json", &manifest);
    named["annotations"] = json!({ "org.opencontainers.image.ref.name": format!("intent-gateway:{}", source.version) });
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [named],
    });

    let to = out.join(format!("{}-oci.tar", source.file_stem()));
    let file = File::create(&to).with_context(|| format!("cannot write {}", to.display()))?;
    let mut archive = Tar::new(BufWriter::new(file), source.time);
    archive.file("oci-layout", 0o644, json!({ "imageLayoutVersion": "1.0.0" }).to_string().as_bytes())?;
    archive.file("index.json", 0o644, index.to_string().as_bytes())?;
    archive.folder("blobs", 0o755, 0)?;
    archive.folder("blobs/sha256", 0o755, 0)?;
    for blob in [&config, &compressed, &manifest] {
        archive.file(&format!("blobs/sha256/{}", digest_of(blob)), 0o644, blob)?;
    }
    archive.finish()?.flush().with_context(|| format!("cannot write {}", to.display()))
}

fn descriptor(media_type: &str, bytes: &[u8]) -> Value {
    json!({ "mediaType": media_type, "digest": format!("sha256:{}", digest_of(bytes)), "size": bytes.len() })
}

fn annotations(source: &Source, created: &str) -> Value {
    json!({
        "org.opencontainers.image.title": "intent-gateway",
        "org.opencontainers.image.version": source.version,
        "org.opencontainers.image.revision": source.commit,
        "org.opencontainers.image.created": created,
        "org.opencontainers.image.licenses": "Apache-2.0",
    })
}

/// How the gateway is started in it: as `deploy/docker/Dockerfile` says as well.
fn config(source: &Source, created: &str, layer_digest: &str) -> Value {
    json!({
        "created": created,
        "architecture": if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" },
        "os": "linux",
        "config": {
            "User": format!("{USER}:{USER}"),
            "WorkingDir": "/var/lib/intent-gateway",
            "Entrypoint": ["/usr/bin/intent-gateway"],
            "Cmd": ["serve"],
            "Env": [
                "PATH=/usr/bin",
                "INTENT_GATEWAY__STATE_DIR=/var/lib/intent-gateway",
                "INTENT_GATEWAY__SERVER__LISTEN=0.0.0.0:8080",
                "INTENT_GATEWAY__CONTRACTS__DIR=/usr/share/intent-gateway/contracts",
                "INTENT_GATEWAY__LOG__FORMAT=json",
            ],
            "ExposedPorts": { "8080/tcp": {} },
            "Volumes": { "/var/lib/intent-gateway": {} },
            "StopSignal": "SIGTERM",
            // Not of OCI, and taken by Docker and Podman. Whether the process turns, not whether it is ready: a gateway that drains
            // or whose store is down is not to be started anew.
            "Healthcheck": {
                "Test": ["CMD", "/usr/bin/intent-gateway", "gateway", "health", "--live"],
                "Interval": 10_000_000_000_u64, "Timeout": 3_000_000_000_u64, "StartPeriod": 60_000_000_000_u64, "Retries": 3,
            },
            "Labels": annotations(source, created),
        },
        "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{layer_digest}")] },
        "history": [{ "created": created, "created_by": "cargo xtask release" }],
    })
}

/// The files of the image as one archive.
fn layer(source: &Source, tree: &Path) -> anyhow::Result<Vec<u8>> {
    let mut layer = Tar::new(Vec::new(), source.time);
    let mut made = BTreeSet::new();
    let mut parents = |layer: &mut Tar<Vec<u8>>, path: &str| -> anyhow::Result<()> {
        for (at, _) in path.match_indices('/') {
            if made.insert(path[..at].to_owned()) {
                layer.folder(&path[..at], 0o755, 0)?;
            }
        }
        Ok(())
    };
    for (name, mode, owner) in FOLDERS {
        parents(&mut layer, name)?;
        layer.folder(name, mode, owner)?;
    }
    for (name, text) in [("etc/passwd", PASSWD), ("etc/group", GROUP), ("etc/nsswitch.conf", NSSWITCH)] {
        layer.file(name, 0o644, text.as_bytes())?;
    }
    let roots = std::fs::read(ROOTS).with_context(|| format!("cannot read {ROOTS} (Debian: ca-certificates)"))?;
    parents(&mut layer, &ROOTS[1..])?;
    layer.file(&ROOTS[1..], 0o644, &roots)?;
    for library in libraries(&tree.join("usr/bin/intent-gateway"))? {
        let bytes = std::fs::read(&library).with_context(|| format!("cannot read {}", library.display()))?;
        let name = library.display().to_string();
        let name = name.trim_start_matches('/');
        parents(&mut layer, name)?;
        layer.file(name, 0o755, &bytes)?;
    }
    for name in TAKEN {
        let path = tree.join(name);
        parents(&mut layer, name)?;
        if path.is_dir() {
            layer.folder(name, 0o755, 0)?;
            layer.add(&path, name)?;
        } else {
            let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            layer.file(name, 0o755, &bytes)?;
        }
    }
    layer.finish()
}

/// The libraries that a program needs, its loader among them.
fn libraries(program: &Path) -> anyhow::Result<BTreeSet<PathBuf>> {
    let listed = output(Command::new("ldd").arg(program))?;
    // `libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x…)`, and the loader by its path alone.
    let found: BTreeSet<PathBuf> =
        listed.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from).collect();
    ensure!(found.iter().any(|path| path.ends_with("libc.so.6")), "ldd finds no C library: {listed}");
    ensure!(!listed.contains("not found"), "a library is missing: {listed}");
    Ok(found)
}
