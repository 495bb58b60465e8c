//! Builds every guest and encodes it as a component.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use wit_component::ComponentEncoder;

use crate::command::{root, run, step};
use crate::toolchain::{GuestToolchain, TARGET};

/// A guest crate and the folder below `target/` that its component goes to.
#[derive(Clone, Copy)]
pub(crate) struct Guest {
    package: &'static str,
    folder: &'static str,
}

/// The contracts that ship; a gateway may watch this folder as it is.
pub(crate) const CONTRACTS: &str = "contracts";
/// A later version of a contract, for the demo and the swap tests.
pub(crate) const EXAMPLES: &str = "example-contracts";
/// Guests that are broken on purpose.
pub(crate) const HOSTILE: &str = "hostile-guests";

const GUESTS: [Guest; 3] = [
    Guest { package: "auto-book-ac-service", folder: CONTRACTS },
    Guest { package: "contract-safety-first", folder: EXAMPLES },
    Guest { package: "hostile-guest", folder: HOSTILE },
];

/// Builds all guests.
pub(crate) fn build_all() -> anyhow::Result<()> {
    let toolchain = GuestToolchain::find()?;
    step("Building contracts");
    let modules = root().join("target/guest");
    for guest in GUESTS {
        // One build each: a variant depends on its contract without the exports that the contract itself has, and
        // one build of both would give them to both.
        run(toolchain.build()?.args(["--locked", "--package", guest.package, "--target-dir"]).arg(&modules))?;
        let module = modules.join(TARGET).join("guest").join(guest.package.replace('-', "_")).with_extension("wasm");
        let component = component_path(guest.folder, guest.package);
        let size = encode(&module, &component)?;
        eprintln!("   {} ({} KB)", component.strip_prefix(root()).unwrap_or(&component).display(), size / 1024);
    }
    Ok(())
}

/// Where the component of a guest is.
pub(crate) fn component_path(folder: &str, package: &str) -> PathBuf {
    root().join("target").join(folder).join(package).with_extension("wasm")
}

/// Turns a core module into a component, unless it already is one.
fn encode(module: &Path, component: &Path) -> anyhow::Result<usize> {
    let bytes = std::fs::read(module).with_context(|| format!("cannot read {}", module.display()))?;
    let encoded = ComponentEncoder::default()
        .validate(true)
        .module(&bytes)
        .and_then(|encoder| encoder.encode())
        .with_context(|| format!("{} does not make a component", module.display()))?;
    // An unchanged component keeps its file, so that a gateway watching the folder sees no change.
    if std::fs::read(component).is_ok_and(|old| old == encoded) {
        return Ok(encoded.len());
    }
    let folder = component.parent().context("the component has a folder")?;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let partial = component.with_extension("partial");
    std::fs::write(&partial, &encoded).with_context(|| format!("cannot write {}", partial.display()))?;
    std::fs::rename(&partial, component).with_context(|| format!("cannot write {}", component.display()))?;
    Ok(encoded.len())
}
