//! What cargo knows of a contract's crate.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::ToolchainError;
use crate::command::output;
use crate::compiler::active_cargo;

/// A crate that makes a contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    pub name: String,
    /// Its folder, absolute.
    pub folder: PathBuf,
    /// Name of the module it makes, without `.wasm`.
    pub module: String,
    /// cargo's target folder for it: of its workspace, or as `CARGO_TARGET_DIR` says.
    pub target_dir: PathBuf,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Described>,
    target_directory: PathBuf,
}

#[derive(Deserialize)]
struct Described {
    name: String,
    manifest_path: PathBuf,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    crate_types: Vec<String>,
}

impl Package {
    /// The crate whose `Cargo.toml` is in this folder.
    ///
    /// # Errors
    /// [`ToolchainError`] when there is none, or it has no library.
    pub fn of(folder: &Path) -> Result<Self, ToolchainError> {
        let no_crate = || ToolchainError::NoCrate(folder.to_owned());
        let folder = folder.canonicalize().map_err(|_| no_crate())?;
        let manifest = folder.join("Cargo.toml");
        if !manifest.is_file() {
            return Err(no_crate());
        }
        let mut cargo = active_cargo();
        cargo.current_dir(&folder).args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"]);
        let json = output(cargo.arg(&manifest))?;
        let metadata: Metadata =
            serde_json::from_str(&json).map_err(|cause| ToolchainError::Metadata { folder: folder.clone(), cause })?;
        let described = metadata.packages.into_iter().find(|package| package.manifest_path == manifest);
        let described = described.ok_or_else(|| ToolchainError::NoPackage(manifest))?;
        let is_module =
            |target: &&Target| target.crate_types.iter().any(|kind| matches!(kind.as_str(), "lib" | "rlib" | "cdylib"));
        let module = described.targets.iter().find(is_module).map(|target| target.name.replace('-', "_"));
        let module = module.ok_or_else(|| ToolchainError::NoModule(described.name.clone()))?;
        Ok(Self { name: described.name, folder, module, target_dir: metadata.target_directory })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(folder: &Path, text: &str) {
        std::fs::create_dir_all(folder.join("src")).expect("a folder");
        std::fs::write(folder.join("src/lib.rs"), "").expect("written");
        std::fs::write(folder.join("Cargo.toml"), text).expect("written");
    }

    #[test]
    fn a_crate_is_described() {
        let folder = tempfile::tempdir().expect("a folder");
        let package = "[workspace]\n[package]\nname = \"tea-house\"\nedition = \"2024\"\n";
        assert!(matches!(Package::of(folder.path()), Err(ToolchainError::NoCrate(_))));
        manifest(folder.path(), package);
        std::fs::rename(folder.path().join("src/lib.rs"), folder.path().join("src/main.rs")).expect("renamed");
        assert!(matches!(Package::of(folder.path()), Err(ToolchainError::NoModule(name)) if name == "tea-house"));
        manifest(folder.path(), &format!("{package}[lib]\ncrate-type = [\"cdylib\", \"rlib\"]\n"));
        assert_eq!(Package::of(folder.path()).expect("a crate that makes its module itself").module, "tea_house");
        manifest(folder.path(), package);
        let package = Package::of(folder.path()).expect("a contract's crate");
        assert_eq!((package.name.as_str(), package.module.as_str()), ("tea-house", "tea_house"));
        assert_eq!(package.folder, folder.path().canonicalize().expect("there"));
        manifest(folder.path(), "[workspace]\n");
        assert!(matches!(Package::of(folder.path()), Err(ToolchainError::NoPackage(_))));
    }
}
