//! The Debian packages, made by `cargo-deb` from the tree. What is in which stands in `host/gateway/Cargo.toml`
//! (`package.metadata.deb`).

use std::path::Path;

use anyhow::Context as _;

use super::archive::Effort;
use super::source::Source;
use crate::command::{own_command, root, run, step};
use crate::tools::RustProgram;

/// The version that the metadata is written for.
const VERSION: &str = "3.8.0";
/// The packages: the gateway, and what authors of contracts take besides.
const VARIANTS: [Option<&str>; 2] = [None, Some("author")];
/// Where the metadata says that the tree is.
const TREE: &str = "target/package-tree";

/// Makes the packages.
pub(crate) fn pack(source: &Source, tree: &Path, effort: Effort, out: &Path) -> anyhow::Result<()> {
    let program = RustProgram::new("cargo-deb", VERSION).install()?;
    step("Debian packages");
    let link = root().join(TREE);
    if link.is_symlink() {
        std::fs::remove_file(&link).with_context(|| format!("cannot remove {}", link.display()))?;
    }
    std::os::unix::fs::symlink(tree, &link).with_context(|| format!("cannot make {}", link.display()))?;
    for variant in VARIANTS {
        let mut pack = own_command(&program);
        pack.current_dir(root())
            .args(["--package", "intent-gateway", "--no-build", "--no-strip", "--compress-system", "--output"])
            .arg(out);
        if let Effort::Little = effort {
            pack.args(["--compress-type", "gz", "--fast"]);
        }
        pack.args(variant.map(|name| ["--variant", name]).into_iter().flatten());
        run(pack.env("SOURCE_DATE_EPOCH", source.time.to_string()))?;
    }
    Ok(())
}
