//! What a package holds, and where: laid out as a tree of files that archives, packages and the image are made from.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use super::build::{AUTHOR, GATEWAY, PARTNER, Programs};
use super::papers::Papers;
use crate::command::{root, run, step};
use crate::guests;

const PROGRAM: u32 = 0o755;
const FILE: u32 = 0o644;

/// Files of the repository, by their place in the tree.
const FILES: [(&str, &str, u32); 11] = [
    ("deploy/package/intent-gateway-example", "usr/bin/intent-gateway-example", PROGRAM),
    ("deploy/package/example.toml", "usr/share/intent-gateway/example.toml", FILE),
    ("deploy/package/README.Debian", "usr/share/doc/intent-gateway/README.Debian", FILE),
    ("deploy/systemd/intent-gateway.service", "usr/lib/systemd/system/intent-gateway.service", FILE),
    ("deploy/systemd/intent-gateway.sysusers", "usr/lib/sysusers.d/intent-gateway.conf", FILE),
    ("deploy/systemd/gateway.toml", "etc/intent-gateway/gateway.toml", FILE),
    ("deploy/systemd/commands.env", "etc/intent-gateway/commands.env", FILE),
    ("examples/gateway.toml", "usr/share/doc/intent-gateway/gateway.toml", FILE),
    ("docs/openapi.json", "usr/share/doc/intent-gateway/openapi.json", FILE),
    ("CHANGELOG.md", "usr/share/doc/intent-gateway/CHANGELOG.md", FILE),
    ("LICENSE", "usr/share/doc/intent-gateway/LICENSE", FILE),
];

/// Where shells look for completions.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/intent-gateway"),
    ("zsh", "usr/share/zsh/vendor-completions/_intent-gateway"),
    ("fish", "usr/share/fish/vendor_completions.d/intent-gateway.fish"),
];

/// Lays the tree out anew, and says where it is.
pub(crate) fn lay_out(programs: &Programs, papers: Option<&Papers>, work: &Path) -> anyhow::Result<PathBuf> {
    step("Laying out the files");
    let tree = work.join("tree");
    if tree.exists() {
        std::fs::remove_dir_all(&tree).with_context(|| format!("cannot empty {}", tree.display()))?;
    }
    for name in [GATEWAY, AUTHOR, PARTNER] {
        place(&programs.path(name), &tree.join("usr/bin").join(name), PROGRAM)?;
    }
    for (from, to, mode) in FILES {
        place(&root().join(from), &tree.join(to), mode)?;
    }
    for contract in guests::list_shipped()? {
        let name = contract.file_name().context("a component has a name")?;
        place(&contract, &tree.join("usr/share/intent-gateway/contracts").join(name), FILE)?;
    }
    if let Some(Papers { licences, bill }) = papers {
        place(licences, &tree.join("usr/share/doc/intent-gateway/THIRD-PARTY-LICENSES.html"), FILE)?;
        place(bill, &tree.join("usr/share/doc/intent-gateway/sbom.cdx.json"), FILE)?;
    }
    let gateway = programs.path(GATEWAY);
    run(Command::new(&gateway)
        .arg("man-pages")
        .arg(tree.join("usr/share/man/man1"))
        .stdout(std::process::Stdio::null()))?;
    for (shell, to) in COMPLETIONS {
        let output = Command::new(&gateway).args(["shell-completions", shell]).output().context("the gateway runs")?;
        write(&tree.join(to), &output.stdout, FILE)?;
    }
    Ok(tree)
}

fn place(from: &Path, to: &Path, mode: u32) -> anyhow::Result<()> {
    let bytes = std::fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
    write(to, &bytes, mode)
}

fn write(to: &Path, bytes: &[u8], mode: u32) -> anyhow::Result<()> {
    let failed = || format!("cannot write {}", to.display());
    let folder = to.parent().context("every file of the tree lies in a folder")?;
    std::fs::create_dir_all(folder).with_context(failed)?;
    std::fs::write(to, bytes).with_context(failed)?;
    std::fs::set_permissions(to, std::fs::Permissions::from_mode(mode)).with_context(failed)
}
