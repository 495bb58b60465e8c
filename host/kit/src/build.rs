//! `plugin build`: a contract's crate to a component in a file.

use std::path::{Path, PathBuf};

use contract_toolchain::{Build, Compiler, Package, ToolchainError};
use intent_gateway_compare::{InvalidBudget, with_budget};

/// Below cargo's target folder: what is built for WebAssembly. Apart from what is built natively, so that neither
/// waits for the other.
const MODULES: &str = "guest";
/// Below cargo's target folder: the components.
const COMPONENTS: &str = "contracts";

/// What a version changes, as its author says: beside the crate's `Cargo.toml`.
pub const DIFFERENCES: &str = "differences.json";

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

/// A component could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// There is no crate, no compiler, or the crate does not build.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// The difference budget beside the crate cannot be read.
    #[error("cannot read {}", .0.display())]
    Unreadable(PathBuf, #[source] std::io::Error),
    /// It is none.
    #[error("{} is no difference budget", .0.display())]
    NoBudget(PathBuf, #[source] InvalidBudget),
}

/// Builds the crate in `folder`; without `out`, to `contracts/<package>.wasm` in cargo's target folder. The difference budget that
/// lies beside the crate goes into the component.
///
/// # Errors
/// [`BuildError`].
pub fn run(folder: &Path, out: Option<&Path>, progress: &dyn Fn(&str)) -> Result<Built, BuildError> {
    let package = Package::of(folder)?;
    let compiler = Compiler::find(&package.folder, progress)?;
    progress(&format!("Building {}", package.name));
    let target_dir = package.target_dir.join(MODULES);
    let module = compiler.build(Build { package: &package, target_dir: &target_dir, locked: false })?;
    let component = put_budget(contract_toolchain::encode(&module)?, &package.folder.join(DIFFERENCES))?;
    let path = out.map_or_else(|| component_path(&package), Path::to_owned);
    let changed = contract_toolchain::store(&component, &path)?;
    Ok(Built { path, component_bytes: component.len(), changed })
}

/// The component with the difference budget of a file in it, where there is one.
fn put_budget(component: Vec<u8>, file: &Path) -> Result<Vec<u8>, BuildError> {
    let json = match std::fs::read(file) {
        Ok(json) => json,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(component),
        Err(error) => return Err(BuildError::Unreadable(file.to_owned(), error)),
    };
    with_budget(&component, &json).map_err(|error| BuildError::NoBudget(file.to_owned(), error))
}

#[cfg(test)]
mod tests {
    use intent_gateway_compare::read_budget;

    use super::*;

    #[test]
    fn the_budget_beside_a_crate_goes_into_its_component() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(DIFFERENCES);
        let component = b"\0asm\x0d\0\x01\0".to_vec();
        assert_eq!(put_budget(component.clone(), &file).expect("there is none"), component);
        std::fs::write(&file, r#"{"drops": ["TOO_DEAR"]}"#).expect("written");
        let with = put_budget(component.clone(), &file).expect("a budget");
        assert_eq!(read_budget(&with).expect("it is read").expect("there is one").drops, ["TOO_DEAR"]);
        std::fs::write(&file, r#"{"drop": []}"#).expect("written");
        assert!(matches!(put_budget(component, &file), Err(BuildError::NoBudget(..))));
    }
}
