//! Whether what is handed out can be installed and used: on a bare Debian, and as an image (`deploy/package/try.py`).

use std::path::PathBuf;
use std::process::Command;

use anyhow::Context as _;

use super::ReleaseArgs;
use crate::command::{root, run, step};
use crate::tools;

/// The bare Debian, made once.
const DEBIAN: &str = "target/test-tools/bare-debian.tar";
const FILES: &str = "target/trial-files";
/// Where a system says which release it is.
const RELEASE: &str = "/etc/os-release";

/// Packs a trial and uses it as whoever takes it would.
pub(crate) fn check() -> anyhow::Result<()> {
    if !tools::install_wished_mmdebstrap()? {
        return Ok(());
    }
    let debian = bare_debian()?;
    let files = root().join(FILES);
    if files.exists() {
        std::fs::remove_dir_all(&files).with_context(|| format!("cannot empty {}", files.display()))?;
    }
    super::run(&ReleaseArgs {
        out: files.clone(),
        trial: true,
        sign_with: None,
        twice: false,
        counts: None,
        verify: None,
    })?;
    step("Installing on a bare Debian, and serving from the image");
    run(Command::new("python3").current_dir(root()).arg("deploy/package/try.py").arg(&files).arg(debian))
}

/// An archive of a Debian of this machine's release with nothing but what every Debian has.
fn bare_debian() -> anyhow::Result<PathBuf> {
    let archive = root().join(DEBIAN);
    if archive.is_file() {
        return Ok(archive);
    }
    let release = std::fs::read_to_string(RELEASE).with_context(|| format!("cannot read {RELEASE}"))?;
    let name = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME=")).context("this is no Debian")?;
    eprintln!("   making a bare Debian ({name}) in {DEBIAN}");
    // Under another name until it is whole.
    let part = archive.with_extension("part.tar");
    let mut make = Command::new("mmdebstrap");
    make.args(["--quiet", "--variant=minbase", "--mode=root", "--include=ca-certificates", name]).arg(&part);
    run(&mut make)?;
    std::fs::rename(&part, &archive).with_context(|| format!("cannot make {DEBIAN}"))?;
    Ok(archive)
}
