//! `plugin build`: a contract's crate to a component in a file.

use std::path::{Path, PathBuf};

use contract_toolchain::{Build, Compiler, Package, ToolchainError};

/// Below cargo's target folder: what is built for WebAssembly. Apart from what is built natively, so that neither
/// waits for the other.
const MODULES: &str = "guest";
/// Below cargo's target folder: the components.
const COMPONENTS: &str = "contracts";

/// A component that was built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// Where it is.
    pub path: PathBuf,
    /// Its size.
    pub component_bytes: usize,
    /// Whether the file is another than before.
    pub changed: bool,
}

/// Where the component of a crate is written unless another place is named.
#[must_use]
pub fn component_path(package: &Package) -> PathBuf {
    package.target_dir.join(COMPONENTS).join(&package.name).with_extension("wasm")
}

/// Builds the crate in `folder`; without `out`, to `contracts/<package>.wasm` in cargo's target folder.
///
/// # Errors
/// [`ToolchainError`] when there is no crate, no compiler, or the crate does not build.
pub fn run(folder: &Path, out: Option<&Path>, progress: &dyn Fn(&str)) -> Result<Built, ToolchainError> {
    let package = Package::of(folder)?;
    let compiler = Compiler::find(&package.folder, progress)?;
    progress(&format!("Building {}", package.name));
    let target_dir = package.target_dir.join(MODULES);
    let module = compiler.build(Build { package: &package, target_dir: &target_dir, locked: false })?;
    let component = contract_toolchain::encode(&module)?;
    let path = out.map_or_else(|| component_path(&package), Path::to_owned);
    let changed = contract_toolchain::store(&component, &path)?;
    Ok(Built { path, component_bytes: component.len(), changed })
}
